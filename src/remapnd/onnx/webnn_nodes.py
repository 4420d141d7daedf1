"""Whether WebNN has an operator for a node, by its rules for building graphs.

Uses `webnn.builder` where shapes are known; used by `lint`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final, NamedTuple

from remapnd.onnx.mapping import Values
from remapnd.onnx.nodes import Node
from remapnd.onnx.resize import Axis, ResizeNode
from remapnd.webnn import OperandDescriptor, builder


class WebNN(NamedTuple):
    """The method of MLGraphBuilder that takes a node, or why none does; or what is not known."""

    method: str | None
    reason: str = ""


class _Method(NamedTuple):
    """A method, and the function that checks a call of it."""

    name: str
    check: Callable[..., Any]


_METHODS: Final[Mapping[str, _Method]] = {
    "Gather": _Method("gather", builder.gather),
    "GatherElements": _Method("gatherElements", builder.gather_elements),
    "GatherND": _Method("gatherND", builder.gather_nd),
    "Scatter": _Method("scatterElements", builder.scatter_elements),
    "ScatterElements": _Method("scatterElements", builder.scatter_elements),
    "ScatterND": _Method("scatterND", builder.scatter_nd),
}
_DATA_TYPES: Final[Mapping[str, str]] = {
    "float": "float32",
    **{name: name for name in ("float16", "int64", "int32", "int8", "uint64", "uint32", "uint8")},
}
_RESAMPLED: Final = ("float", "float16", "int8", "uint8")
_NOT_KNOWN: Final = "sizes are not known, so its rules about them are not checked"
_EXAMPLE: Final = 8  # length of an axis that is not known


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
    if node.op in ("Resize", "Upsample"):
        return _resample2d(node, values)
    return _indexed(node, values) if node.op in _METHODS else WebNN(None, f"WebNN has no {node.op}")


def _indexed(node: Node, values: Values) -> WebNN:
    """Gathers and scatters: no reduction, no batch dimensions."""
    method = _METHODS[node.op]
    reduction = node.attributes.get("reduction", "none")
    if reduction != "none":
        return WebNN(None, f"{method.name} has no reduction, here {reduction!r}")
    batch = node.attributes.get("batch_dims", 0)
    if batch:
        return WebNN(None, f"gatherND has no batch dimensions, here {batch}")
    options = {}
    data = values.inputs[0]
    if "axis" in node.attributes and data is not None and data.rank:
        options["axis"] = node.attributes["axis"] % data.rank  # WebNN does not count from the end
    return _checked(method, values, options)


def _checked(method: _Method, values: Values, options: Mapping[str, Any], operands: int = 3) -> WebNN:
    """Let WebNN's rules for a call decide, as far as types and shapes are known."""
    described = []
    for tensor in values.inputs[:operands]:
        if tensor is None or tensor.type is None:
            return WebNN(method.name, _NOT_KNOWN)
        if tensor.type not in _DATA_TYPES:
            return WebNN(None, f"WebNN has no data type for tensor({tensor.type})")
        if tensor.static_shape is None:
            return WebNN(method.name, _NOT_KNOWN)
        try:
            described.append(OperandDescriptor(_DATA_TYPES[tensor.type], tensor.static_shape))
        except ValueError as error:
            return WebNN(None, f"an operand's {str(error).partition(': ')[2].replace('`', '')}")
    try:
        method.check(*described, **options)
    except (TypeError, ValueError) as error:
        return WebNN(None, f"{method.name}: {str(error).partition(': ')[2]}")
    return WebNN(method.name)


def _resample2d(node: Node, values: Values) -> WebNN:
    """Resize and Upsample: two axes of four, half pixels, no filter, the scale that the sizes give."""
    resize = ResizeNode(node, "onnxruntime")
    data = values.inputs[0]
    if resize.mode == "cubic":
        return WebNN(None, "resample2d has no cubic interpolation")
    if resize.antialias:
        return WebNN(None, "resample2d does not antialias")
    if data is None or data.type is None or data.shape is None:
        return WebNN("resample2d", _NOT_KNOWN)
    if data.type not in _RESAMPLED:
        return WebNN(None, f"resample2d takes no tensor({data.type})")
    if len(data.shape) != 4:
        return WebNN(None, f"resample2d takes tensors of 4 dimensions, here {len(data.shape)}")
    roi, scales, sizes = resize.named(*values.constants[1:])
    if scales is None and sizes is None:
        return WebNN(None, "resample2d needs scales or sizes when the graph is built")
    shape = tuple(size if isinstance(size, int) else _EXAMPLE for size in data.shape)
    changed = [axis for axis in resize.geometry(shape, roi, scales, sizes) if axis.scale != 1]
    if len(changed) > 2:
        return WebNN(None, f"resample2d changes 2 axes, here {len(changed)}")
    if not _is_half_pixel(resize, changed):
        rule = (
            resize.coordinates if resize.mode == "linear" else f"{resize.coordinates}/{resize.nearest_mode}"
        )
        return WebNN(None, f"resample2d samples at half pixels, ties down, here {rule}")
    for axis in changed:
        if isinstance(data.shape[axis.axis], int) and axis.scale != Fraction(axis.n_out, axis.n_in):
            ratio = f"output size / input size = {axis.n_out}/{axis.n_in}"
            text = f"resample2d samples with {ratio}, not {float(axis.scale):g}, along axis {axis.axis}"
            return WebNN(None, text)
    axes = [axis.axis for axis in changed]
    axes += [axis for axis in (2, 3, 1) if axis not in axes][: 2 - len(axes)]
    lengths = {axis.axis: axis.n_out for axis in changed}
    options = {"axes": axes, "sizes": [lengths.get(axis, shape[axis]) for axis in axes]}
    return _checked(_Method("resample2d", builder.resample2d), values, options, operands=1)


def _is_half_pixel(resize: ResizeNode, changed: list[Axis]) -> bool:
    """Whether positions are those of resample2d; nearest by a whole factor reads the same samples."""
    if resize.mode == "linear":
        return resize.coordinates == "half_pixel"
    rule = (resize.coordinates, resize.nearest_mode)
    if all(axis.scale.denominator == 1 for axis in changed) and rule in (
        ("half_pixel", "round_prefer_ceil"),
        ("asymmetric", "floor"),
    ):
        return True
    return rule == ("half_pixel", "round_prefer_floor")
