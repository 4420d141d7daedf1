"""ONNX models of gathers, scatters and resizes on any CPU: run them, see what other runtimes do.

Needs the extra ``remapnd[onnx]``.

Examples
--------
>>> import numpy as np
>>> import onnx.parser
>>> from remapnd import onnx as ronnx
>>> model = onnx.parser.parse_model('''<ir_version: 9, opset_import: ["" : 19]>
...     g (float[1,1,1,4] x) => (float[1,1,1,8] y) <float[4] s = {1, 1, 1, 2}> {
...         y = Resize<mode="linear">(x, , s)
...     }''')
>>> (y,) = ronnx.prepare(model).run([np.array([[[[0, 1, 2, 3]]]], np.float32)])
>>> y[0, 0, 0]
array([0.  , 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3.  ], dtype=float32)
"""

try:
    import onnx as _onnx  # noqa: F401
except ImportError as error:
    raise ImportError(
        "remapnd.onnx: the package onnx must be installed, as `python -m pip install 'remapnd[onnx]'` does",
        name=error.name,
    ) from error

from remapnd.onnx.backend import Backend, BackendRep
from remapnd.onnx.reference import reference_ops

prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
is_compatible = Backend.is_compatible

__all__ = [
    "Backend",
    "BackendRep",
    "is_compatible",
    "prepare",
    "reference_ops",
    "run_model",
    "run_node",
    "supports_device",
]


def __dir__() -> list[str]:
    """List what is public."""
    return __all__
