"""Whether WebNN has an operator for a node, by its rules for building graphs.

Used by `lint`.

Source: the Web Neural Network API, methods gather, gatherElements, gatherND, scatterElements, scatterND and
resample2d of MLGraphBuilder.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from remapnd.onnx.facts import Tensor
from remapnd.onnx.mapping import Values
from remapnd.onnx.nodes import Node
from remapnd.onnx.resize import ResizeNode


class WebNN(NamedTuple):
    """The method that takes a node, or why none does."""

    method: str | None
    reason: str = ""


_METHODS: Final[Mapping[str, str]] = {
    "Gather": "gather",
    "GatherElements": "gatherElements",
    "GatherND": "gatherND",
    "Scatter": "scatterElements",
    "ScatterElements": "scatterElements",
    "ScatterND": "scatterND",
}
_DATA_TYPES: Final = (
    *("float", "float16", "int64", "int32", "int8"),
    *("uint64", "uint32", "uint8"),
)
_RESAMPLED: Final = ("float", "float16", "int8", "uint8")


def webnn(node: Node, values: Values) -> WebNN:
    """Say which method of MLGraphBuilder takes a node.

    Parameters
    ----------
    node : Node
        Of this family of operators.
    values : Values

    Returns
    -------
    WebNN
    """
    return (_resample2d if node.op in ("Resize", "Upsample") else _indexed)(node, values)


def _indexed(node: Node, values: Values) -> WebNN:
    """Gathers and scatters: no reduction, no batch dimensions."""
    method = _METHODS[node.op]
    data, indices = values.inputs[0], values.inputs[1]
    reduction = node.attributes.get("reduction", "none")
    if reduction != "none":
        return WebNN(None, f"{method} has no reduction, here {reduction!r}")
    batch = node.attributes.get("batch_dims", 0)
    if batch:
        return WebNN(None, f"gatherND has no batch dimensions, here {batch}")
    if data is not None and data.type is not None and data.type not in _DATA_TYPES:
        return WebNN(None, f"WebNN has no data type for tensor({data.type})")
    if method in ("gatherElements", "scatterElements") and data is not None and indices is not None:
        axis = _off_axis(node, data, indices)
        if axis is not None:
            return WebNN(None, f"{method} needs indices of the size of the data along axis {axis}")
    return WebNN(method)


def _off_axis(node: Node, data: Tensor, indices: Tensor) -> int | None:
    """Return an axis along which indices and data differ, other than that of the operator."""
    if data.shape is None or indices.shape is None or len(data.shape) != len(indices.shape):
        return None
    own = node.attributes["axis"] % max(len(data.shape), 1)
    for axis, (n, m) in enumerate(zip(data.shape, indices.shape, strict=True)):
        if axis != own and isinstance(n, int) and isinstance(m, int) and n != m:
            return axis
    return None


def _resample2d(node: Node, values: Values) -> WebNN:
    """Resize and Upsample: two axes of four, half pixels, no filter, the scale that the sizes give."""
    resize = ResizeNode(node, "onnxruntime")
    data = values.inputs[0]
    if resize.mode == "cubic":
        return WebNN(None, "resample2d has no cubic interpolation")
    if resize.antialias:
        return WebNN(None, "resample2d does not antialias")
    if data is not None and data.type is not None and data.type not in _RESAMPLED:
        return WebNN(None, f"resample2d takes no tensor({data.type})")
    if data is None or data.shape is None:
        return WebNN("resample2d", "the shape is not known")
    if len(data.shape) != 4:
        return WebNN(None, f"resample2d takes tensors of 4 dimensions, here {len(data.shape)}")
    constants = (*values.constants, None, None, None)
    roi, scales, sizes = (None, constants[1], None) if node.since < 11 else constants[1:4]
    if node.since < 9 and resize.scales is not None:
        scales = resize.as_scales()
    if scales is None and sizes is None:
        return WebNN(None, "resample2d needs scales or sizes when the graph is built")
    known = tuple(size if isinstance(size, int) else 8 for size in data.shape)
    geometry = [axis for axis in resize.geometry(known, roi, scales, sizes) if axis.scale != 1]
    if len(geometry) > 2:
        return WebNN(None, f"resample2d changes 2 axes, here {len(geometry)}")
    integral = all(axis.scale.denominator == 1 for axis in geometry)
    if _is_half_pixel(node, resize, integral):
        for axis in geometry:
            static = isinstance(data.shape[axis.axis], int)
            if static and axis.scale != Fraction(axis.n_out, axis.n_in):
                return WebNN(
                    None,
                    f"resample2d samples with output size / input size = {axis.n_out}/{axis.n_in}, not "
                    f"{float(axis.scale):g}, along axis {axis.axis}",
                )
        return WebNN("resample2d")
    rule = resize.coordinates if resize.mode == "linear" else f"{resize.coordinates}/{resize.nearest_mode}"
    return WebNN(None, f"resample2d samples at half pixels, ties down, here {rule}")


def _is_half_pixel(node: Node, resize: ResizeNode, integral: bool) -> bool:
    """Whether positions are those of resample2d; nearest by a whole factor reads the same samples."""
    if resize.mode == "nearest" and integral:
        rounds = resize.nearest_mode.startswith("round_")
        return (resize.coordinates == "half_pixel" and rounds) or (
            resize.coordinates == "asymmetric" and resize.nearest_mode == "floor"
        )
    if resize.coordinates != "half_pixel":
        return False
    return resize.mode == "linear" or resize.nearest_mode == "round_prefer_floor"
