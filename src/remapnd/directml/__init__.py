"""DirectML's operators on any CPU: describe them with the names of directml.h, check them, run them.

Examples
--------
>>> import numpy as np
>>> from remapnd import directml as dml
>>> desc = dml.GatherNDOperatorDesc(
...     InputTensor=dml.BufferTensorDesc("FLOAT32", (2, 2)),
...     IndicesTensor=dml.BufferTensorDesc("UINT32", (2, 1)),
...     OutputTensor=dml.BufferTensorDesc("FLOAT32", (2, 2)),
...     InputDimensionCount=2,
...     IndicesDimensionCount=2,
... )
>>> dml.check(desc, "3_0")
[]
>>> print(*dml.check(desc, "2_1")[:1])
GATHER_ND: `InputTensor.DimensionCount` must be 4 at feature level 2_1, got 2 (accepted from 3_0)
>>> dml.run(desc, [np.array([[0, 1], [2, 3]], np.float32), np.array([[1], [0]], np.uint32)])
array([[2., 3.],
       [0., 1.]], dtype=float32)
"""

from remapnd.directml.binding import BindingProperties, BufferBinding, DeviceOperator, OperatorInitializer
from remapnd.directml.check import check, supported_levels
from remapnd.directml.device import (
    BindingTable,
    CommandRecorder,
    Device,
    DeviceRemovedError,
    Operator,
)
from remapnd.directml.enums import (
    AxisDirection,
    BindingType,
    CreateDeviceFlags,
    ExecutionFlags,
    Feature,
    FeatureLevel,
    InterpolationMode,
    OperatorType,
    TensorDataType,
    TensorFlags,
    TensorType,
)
from remapnd.directml.layout import TensorLayout
from remapnd.directml.operators import (
    OPERATOR_DESCS,
    FieldKind,
    GatherElementsOperatorDesc,
    GatherND1OperatorDesc,
    GatherNDOperatorDesc,
    GatherOperatorDesc,
    OperatorDesc,
    Resample1OperatorDesc,
    Resample2OperatorDesc,
    Resample3OperatorDesc,
    ResampleGrad1OperatorDesc,
    ResampleGradOperatorDesc,
    ResampleOperatorDesc,
    ScatterNDOperatorDesc,
    ScatterOperatorDesc,
    Size2D,
    Upsample2DOperatorDesc,
)
from remapnd.directml.policy import Policy
from remapnd.directml.run import BoundOperator, CompiledOperator, run
from remapnd.directml.support import SUPPORT, SupportRow, introduced, support
from remapnd.directml.tensor import BufferTensorDesc, calc_buffer_tensor_size
from remapnd.directml.violation import DirectMLError, Violation

__all__ = [
    "OPERATOR_DESCS",
    "SUPPORT",
    "AxisDirection",
    "BindingProperties",
    "BindingTable",
    "BindingType",
    "BoundOperator",
    "BufferBinding",
    "BufferTensorDesc",
    "CommandRecorder",
    "CompiledOperator",
    "CreateDeviceFlags",
    "Device",
    "DeviceOperator",
    "DeviceRemovedError",
    "DirectMLError",
    "ExecutionFlags",
    "Feature",
    "FeatureLevel",
    "FieldKind",
    "GatherElementsOperatorDesc",
    "GatherND1OperatorDesc",
    "GatherNDOperatorDesc",
    "GatherOperatorDesc",
    "InterpolationMode",
    "Operator",
    "OperatorDesc",
    "OperatorInitializer",
    "OperatorType",
    "Policy",
    "Resample1OperatorDesc",
    "Resample2OperatorDesc",
    "Resample3OperatorDesc",
    "ResampleGrad1OperatorDesc",
    "ResampleGradOperatorDesc",
    "ResampleOperatorDesc",
    "ScatterNDOperatorDesc",
    "ScatterOperatorDesc",
    "Size2D",
    "SupportRow",
    "TensorDataType",
    "TensorFlags",
    "TensorLayout",
    "TensorType",
    "Upsample2DOperatorDesc",
    "Violation",
    "calc_buffer_tensor_size",
    "check",
    "introduced",
    "run",
    "support",
    "supported_levels",
]


def __dir__() -> list[str]:
    """List what is public."""
    return __all__
