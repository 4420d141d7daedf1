"""The operators that exporters put around a Resize or a gather, mostly to compute its sizes: plain NumPy.

Used by `operators`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from remapnd import checks
from remapnd.errors import must
from remapnd.onnx.nodes import Array, Node

Function = Callable[..., Array]


def elementwise(function: Callable[..., Any]) -> Callable[[Node, str], Function]:
    """Make the operator that applies a NumPy function to arrays broadcast together, of one dtype."""

    def prepare(node: Node, rules: str) -> Function:
        def run(*arrays: Array) -> Array:
            dtypes = {array.dtype for array in arrays}
            if len(dtypes) > 1:
                listed = ", ".join(map(str, sorted(dtypes, key=str)))
                raise TypeError(must(node.label, "inputs", "have one dtype", listed))
            try:
                np.broadcast_shapes(*(array.shape for array in arrays))
            except ValueError:
                shapes = " and ".join(str(array.shape) for array in arrays)
                raise ValueError(must(node.label, "inputs", "be broadcastable", shapes)) from None
            with np.errstate(all="ignore"):  # infinities and NaN are results
                result: Array = np.asarray(functools.reduce(function, arrays))
            return result.astype(arrays[0].dtype, copy=False)

        return run

    return prepare


def unary(function: Callable[[Array], Any]) -> Callable[[Node, str], Function]:
    """Make the operator that applies a NumPy function to one array."""
    return lambda node, rules: lambda x: np.asarray(function(x))


def divide(node: Node, rules: str) -> Function:
    """Div: integers towards zero, and not by zero."""
    run = elementwise(_divided)(node, rules)

    def checked(a: Array, b: Array) -> Array:
        if b.dtype.kind in "iu" and not np.all(b):
            raise ValueError(must(node.label, "B", "hold no zero where it holds integers", 0))
        return run(a, b)

    return checked


def _divided(a: Array, b: Array) -> Array:
    """Divide arrays."""
    if a.dtype.kind not in "iu":
        return np.asarray(np.divide(a, b))
    quotient = np.floor_divide(a, b)
    return np.asarray(quotient + ((quotient < 0) & (quotient * b != a)).astype(a.dtype))


def constant(node: Node, rules: str) -> Function:
    """Constant: exactly one attribute has the value."""
    if len(node.attributes) != 1:
        given = ", ".join(sorted(node.attributes)) or "none"
        raise ValueError(must(node.label, "value", "be given by exactly one attribute", given))
    ((name, value),) = node.attributes.items()
    dtypes = {"value_float": "float32", "value_int": "int64", "value_string": "object"}
    dtype = dtypes.get(name.removesuffix("s"))
    if name != "value" and dtype is None:
        raise ValueError(must(node.label, name, "be a dense tensor", "a sparse one"))
    array = np.array(value, dtype) if dtype else value
    return lambda: array


def constant_of_shape(node: Node, rules: str) -> Function:
    """ConstantOfShape: float zeros if no value is given."""
    value = node.attributes.get("value")
    if value is None:
        value = np.zeros(1, np.float32)
    if value.size != 1:
        raise ValueError(must(node.label, "value", "have one element", value.size))

    def run(shape: Array) -> Array:
        sizes = _integers(node, "input", shape)
        if any(size < 0 for size in sizes):
            raise ValueError(must(node.label, "input", "hold sizes of at least 0", sizes))
        checks.result_shape(node.label, "input", sizes, value.dtype)
        return np.full(sizes, value.reshape(()), value.dtype)

    return run


def shape(node: Node, rules: str) -> Function:
    """Shape: from opset 15 a slice of it."""
    part = slice(node.attributes.get("start", 0), node.attributes.get("end"))
    return lambda data: np.array(data.shape[part], np.int64)


def cast(node: Node, rules: str) -> Function:
    """Cast between booleans, integers and floats of 16 bits and more."""
    to = node.attributes["to"]
    try:
        # Opsets up to 5 give the type by name.
        code = onnx.TensorProto.DataType.Value(to.upper()) if isinstance(to, str) else to
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(code))
    except (KeyError, TypeError, ValueError):
        raise ValueError(must(node.label, "to", "be a type of tensors", to)) from None
    if not _is_plain(dtype):
        raise ValueError(must(node.label, "to", _CASTS, onnx.TensorProto.DataType.Name(code)))

    def run(x: Array) -> Array:
        if not _is_plain(x.dtype):
            raise TypeError(must(node.label, "input", _CASTS, x.dtype))
        with np.errstate(invalid="ignore", over="ignore"):
            return x.astype(dtype)

    return run


_CASTS = "be a boolean, an integer of 8 bits or more or a float of 16 bits or more"


def _is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy casts a dtype as ONNX does; smaller floats saturate there."""
    return (dtype.kind in "biuf" and dtype.isbuiltin == 1) or dtype.name == "bfloat16"


def concat(node: Node, rules: str) -> Function:
    """Concat along an axis."""
    axis = node.attributes.get("axis", 1)

    def run(*arrays: Array) -> Array:
        try:
            result: Array = np.concatenate(arrays, axis)
        except ValueError as error:
            shapes = ", ".join(str(array.shape) for array in arrays)
            rule = f"have equal sizes but for axis {axis}"
            raise ValueError(must(node.label, "inputs", rule, f"{shapes} ({error})")) from None
        return result

    return run


def transpose(node: Node, rules: str) -> Function:
    """Transpose: axes reversed if no permutation is given."""

    def run(data: Array) -> Array:
        permutation = node.attributes.get("perm")
        if permutation is not None and sorted(permutation) != list(range(data.ndim)):
            rule = f"be a permutation of the {data.ndim} axes"
            raise ValueError(must(node.label, "perm", rule, permutation))
        return np.ascontiguousarray(data.transpose(permutation))

    return run


def reshape(node: Node, rules: str) -> Function:
    """Reshape: 0 keeps a size unless `allowzero`, one -1 takes what is left."""
    keep_zero = bool(node.attributes.get("allowzero", 0))

    def run(data: Array, shape: Array | None = None) -> Array:
        asked = node.attributes["shape"] if shape is None else _integers(node, "shape", shape)
        sizes = list(asked)
        for k, size in enumerate(sizes):
            if size == 0 and not keep_zero:
                if k >= data.ndim:
                    rule = f"have a 0 only for one of the {data.ndim} axes of the input"
                    raise ValueError(must(node.label, "shape", rule, tuple(asked)))
                sizes[k] = data.shape[k]
        fits = sizes.count(-1) < 2 and min(sizes, default=0) >= -1
        if fits and -1 in sizes:
            known = math.prod(size for size in sizes if size != -1)
            fits = data.size % known == 0 if known else False
            sizes[sizes.index(-1)] = data.size // known if known else -1
        if not fits or math.prod(sizes) != data.size:
            rule = f"fit the {data.size} elements of shape {data.shape}"
            raise ValueError(must(node.label, "shape", rule, tuple(asked)))
        checks.result_shape(node.label, "shape", tuple(sizes), data.dtype)
        return data.reshape(sizes)

    return run


def squeeze(node: Node, rules: str) -> Function:
    """Squeeze: axes by attribute, from opset 13 by input; all of size 1 if none are given."""

    def run(data: Array, axes: Array | None = None) -> Array:
        listed = node.attributes.get("axes") if axes is None else _integers(node, "axes", axes)
        if listed is None:
            listed = [axis for axis, size in enumerate(data.shape) if size == 1]
        squeezed = checks.axes(node.label, list(listed), data.ndim)
        for axis in squeezed:
            if data.shape[axis] != 1:
                rule = f"name axes of size 1 of shape {data.shape}"
                raise ValueError(must(node.label, "axes", rule, tuple(listed)))
        return np.squeeze(data, squeezed)

    return run


def unsqueeze(node: Node, rules: str) -> Function:
    """Unsqueeze: positions of the new axes in the result, by attribute, from opset 13 by input."""

    def run(data: Array, axes: Array | None = None) -> Array:
        listed = node.attributes["axes"] if axes is None else _integers(node, "axes", axes)
        return np.expand_dims(data, checks.axes(node.label, list(listed), data.ndim + len(listed)))

    return run


def slice_by_attributes(node: Node, rules: str) -> Function:
    """Slice of opsets 1 to 9."""
    starts, ends = node.attributes["starts"], node.attributes["ends"]
    axes = node.attributes.get("axes", list(range(len(starts))))
    return lambda data: _sliced(node, data, (starts, ends, axes, [1] * len(starts)))


def slice_by_inputs(node: Node, rules: str) -> Function:
    """Slice from opset 10 on."""

    def run(data: Array, starts: Array, ends: Array, axes: Array | None = None, steps: Any = None) -> Array:
        first = _integers(node, "starts", starts)
        along = tuple(range(len(first))) if axes is None else _integers(node, "axes", axes)
        by = (1,) * len(first) if steps is None else _integers(node, "steps", steps)
        return _sliced(node, data, (first, _integers(node, "ends", ends), along, by))

    return run


def _integers(node: Node, name: str, array: Array) -> tuple[int, ...]:
    """Return a list given as an input."""
    if array.ndim != 1:
        raise ValueError(must(node.label, name, "be a list, with one axis", f"shape {array.shape}"))
    return tuple(array.tolist())


def _sliced(node: Node, data: Array, lists: tuple[Sequence[int], ...]) -> Array:
    """Slice by starts, ends, axes and steps.

    With a negative step a start below -n is 0, and an end below -n is before 0.
    """
    if len({len(one) for one in lists}) > 1:
        lengths = tuple(len(one) for one in lists)
        raise ValueError(must(node.label, "starts", "be as many as ends, axes and steps", lengths))
    parts = [slice(None)] * data.ndim
    starts, ends, axes, steps = lists
    positive = checks.axes(node.label, list(axes), data.ndim)
    for axis, start, end, step in zip(positive, starts, ends, steps, strict=True):
        if step == 0:
            raise ValueError(must(node.label, "steps", "not be 0", 0))
        n = data.shape[axis]
        if step < 0:
            parts[axis] = slice(max(start, -n), None if end < -n else end, step)
        else:
            parts[axis] = slice(start, end, step)
    return data[tuple(parts)]
