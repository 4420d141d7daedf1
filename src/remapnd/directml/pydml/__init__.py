"""PyDirectML's names for this family of operators: a script for it runs by changing its import.

``from remapnd.directml import pydml as dml`` in the place of ``import pydirectml as dml``. What PyDirectML
has beyond gather and up_sample_2d, and these operators do not need, is not here. Functions that it lacks have
names made like its own. Data travel in the type of their tensor, not as float32 (see `Binding`).

Uses `tensors`, `graph`, `functions`.

Examples
--------
>>> import numpy as np
>>> from remapnd.directml import pydml as dml
>>> device = dml.Device()
>>> builder = dml.GraphBuilder(device)
>>> data = dml.input_tensor(builder, 0, dml.TensorDesc(dml.TensorDataType.FLOAT32, [3, 2]))
>>> indices = dml.input_tensor(builder, 1, dml.TensorDesc(dml.TensorDataType.UINT32, [1, 2]))
>>> rows = dml.gather(data, indices, axis=0, index_dimensions=1)
>>> model = builder.build(dml.ExecutionFlags.NONE, [rows])
>>> bindings = [dml.Binding(data, [[1, 2], [3, 4], [5, 6]]), dml.Binding(indices, [2, 0])]
>>> np.array(device.compute(model, bindings, [rows])[0])
array([[5., 6.],
       [1., 2.]], dtype=float32)
"""

from __future__ import annotations

from typing import Any

from remapnd.directml.enums import (
    AxisDirection,
    ExecutionFlags,
    InterpolationMode,
    OperatorType,
    TensorDataType,
    TensorFlags,
)
from remapnd.directml.pydml.functions import (
    gather,
    gather_elements,
    gather_nd,
    input_tensor,
    resample,
    resample_grad,
    scatter_elements,
    scatter_nd,
    up_sample_2d,
)
from remapnd.directml.pydml.graph import Binding, Device, Expression, GraphBuilder, Model
from remapnd.directml.pydml.tensors import Size2D, TensorData, TensorDesc, TensorPolicy

__all__ = [
    "AxisDirection",
    "Binding",
    "Device",
    "ExecutionFlags",
    "Expression",
    "GraphBuilder",
    "InterpolationMode",
    "Model",
    "OperatorType",
    "Size2D",
    "TensorData",
    "TensorDataType",
    "TensorDesc",
    "TensorFlags",
    "TensorPolicy",
    "gather",
    "gather_elements",
    "gather_nd",
    "input_tensor",
    "resample",
    "resample_grad",
    "scatter_elements",
    "scatter_nd",
    "up_sample_2d",
]

# PyDirectML exports the members of its enumerations; of equal names the last one stays.
_EXPORTED = (TensorDataType, TensorFlags, InterpolationMode, ExecutionFlags, OperatorType)


def __dir__() -> list[str]:
    """List what is public, members of enumerations included."""
    return [*__all__, *{name for kind in _EXPORTED for name in kind.__members__}]


def __getattr__(name: str) -> Any:
    """Find a member of an enumeration by its name alone, as ``dml.FLOAT32``."""
    for kind in reversed(_EXPORTED):
        if name in kind.__members__:
            return kind[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}: it is not in this runtime")
