"""The rules that WebNN's ``MLGraphBuilder`` checks when a graph is built, without data.

Each function has the arguments of the builder's method of that name, with descriptors for operands; it
returns the descriptor of the output, or raises: TypeError for a data type, ValueError for a shape or an
option (WebNN throws a TypeError for all of these).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from .. import checks
from ..coordinates import as_fraction
from ..errors import must, shown
from .descriptor import MAX_DIMENSION, OperandDescriptor, result

__all__ = ["gather", "gather_elements", "gather_nd", "resample2d", "scatter_elements", "scatter_nd"]

InterpolationMode: TypeAlias = Literal["nearest-neighbor", "linear"]
Scales: TypeAlias = Sequence[float | Fraction]

_INDEX_TYPES = ("int32", "uint32", "int64")
_RESAMPLED_TYPES = ("float32", "float16", "uint8", "int8")


def gather(input: OperandDescriptor, indices: OperandDescriptor, *, axis: int = 0) -> OperandDescriptor:
    """Check ``gather``.

    Parameters
    ----------
    input : OperandDescriptor, shape (*outer, n, *inner)
    indices : OperandDescriptor, shape (*k,); "int32", "uint32" or "int64"
    axis : int, default 0, in [0, rank of `input`)

    Returns
    -------
    OperandDescriptor, shape (*outer, *k, *inner)

    Raises
    ------
    TypeError, ValueError
        A rule is broken.

    Examples
    --------
    >>> gather(OperandDescriptor("float16", (4, 2)), OperandDescriptor("int32", (3,)), axis=1)
    OperandDescriptor(data_type='float16', shape=(4, 3))
    """
    op = "gather"
    _descriptors(op, input=input, indices=indices)
    _index_type(op, indices)
    a = _axis(op, axis, input.rank)
    return result(op, input.data_type, (*input.shape[:a], *indices.shape, *input.shape[a + 1 :]))


def gather_elements(
    input: OperandDescriptor, indices: OperandDescriptor, *, axis: int = 0
) -> OperandDescriptor:
    """Check ``gatherElements``.

    Parameters
    ----------
    input : OperandDescriptor, shape (*outer, n, *inner)
    indices : OperandDescriptor, shape (*outer, m, *inner); "int32", "uint32" or "int64"
    axis : int, default 0, in [0, rank of `input`)

    Returns
    -------
    OperandDescriptor, shape of `indices`

    Raises
    ------
    TypeError, ValueError
        A rule is broken.

    Notes
    -----
    Off `axis` the shapes must be equal. The text of WebNN gives the output the shape of `input`; its tests,
    and every implementation, that of `indices`.
    """
    op = "gather_elements"
    _descriptors(op, input=input, indices=indices)
    _index_type(op, indices)
    _elements(op, input, indices, axis)
    return result(op, input.data_type, indices.shape)


def gather_nd(input: OperandDescriptor, indices: OperandDescriptor) -> OperandDescriptor:
    """Check ``gatherND``.

    Parameters
    ----------
    input : OperandDescriptor, shape (*indexed, *inner), rank of at least 1
    indices : OperandDescriptor, shape (*k, len(indexed)); "int32", "uint32" or "int64"

    Returns
    -------
    OperandDescriptor, shape (*k, *inner)

    Raises
    ------
    TypeError, ValueError
        A rule is broken.
    """
    op = "gather_nd"
    _descriptors(op, input=input, indices=indices)
    _index_type(op, indices)
    return result(op, input.data_type, _tuples(op, input, indices))


def scatter_elements(
    input: OperandDescriptor, indices: OperandDescriptor, updates: OperandDescriptor, *, axis: int = 0
) -> OperandDescriptor:
    """Check ``scatterElements``.

    Parameters
    ----------
    input : OperandDescriptor, shape (*outer, n, *inner)
    indices : OperandDescriptor, shape (*outer, m, *inner); "int32", "uint32" or "int64"
    updates : OperandDescriptor, shape of `indices`, data type of `input`
    axis : int, default 0, in [0, rank of `input`)

    Returns
    -------
    OperandDescriptor, that of `input`

    Raises
    ------
    TypeError, ValueError
        A rule is broken.
    """
    op = "scatter_elements"
    _descriptors(op, input=input, indices=indices, updates=updates)
    _index_type(op, indices)
    _same_type(op, input, updates)
    _elements(op, input, indices, axis)
    if updates.shape != indices.shape:
        raise ValueError(must(op, "updates", f"have shape {indices.shape}, that of `indices`", updates.shape))
    return input


def scatter_nd(
    input: OperandDescriptor, indices: OperandDescriptor, updates: OperandDescriptor
) -> OperandDescriptor:
    """Check ``scatterND``.

    Parameters
    ----------
    input : OperandDescriptor, shape (*indexed, *inner), rank of at least 1
    indices : OperandDescriptor, shape (*k, len(indexed)); "int32", "uint32" or "int64"
    updates : OperandDescriptor, shape (*k, *inner), data type of `input`

    Returns
    -------
    OperandDescriptor, that of `input`

    Raises
    ------
    TypeError, ValueError
        A rule is broken.
    """
    op = "scatter_nd"
    _descriptors(op, input=input, indices=indices, updates=updates)
    _index_type(op, indices)
    _same_type(op, input, updates)
    shape = _tuples(op, input, indices)
    if updates.shape != shape:
        rule = f"have shape {shape}, which follows from `input` and `indices`"
        raise ValueError(must(op, "updates", rule, updates.shape))
    return input


def resample2d(
    input: OperandDescriptor,
    *,
    mode: InterpolationMode = "nearest-neighbor",
    scales: Scales | None = None,
    sizes: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
) -> OperandDescriptor:
    """Check ``resample2d``.

    Parameters
    ----------
    input : OperandDescriptor of rank 4; "float32", "float16", "uint8" or "int8"
    mode : {"nearest-neighbor", "linear"}, default "nearest-neighbor"
    scales : two numbers > 0, default 1.0 and 1.0
        One for each of `axes`; rounded to float32, as WebNN takes them.
    sizes : two integers from 1 to 2**31 - 1, optional
        Output sizes, one for each of `axes`; `scales` are then checked and ignored.
    axes : two different integers in [0, 4), default 2 and 3

    Returns
    -------
    OperandDescriptor, shape of `input` but for `axes`: `sizes`, or ``floor(size * scale)``, exactly

    Raises
    ------
    TypeError, ValueError
        A rule is broken.
    """
    op = "resample2d"
    _descriptors(op, input=input)
    if input.data_type not in _RESAMPLED_TYPES:
        rule = f"have one of the data types {', '.join(_RESAMPLED_TYPES)}"
        raise TypeError(must(op, "input", rule, input.data_type))
    if input.rank != 4:
        raise ValueError(must(op, "input", "have 4 dimensions", input.shape))
    checks.choice(op, "mode", mode, ("nearest-neighbor", "linear"))
    factors = float32_scales(scales)
    wanted = None if sizes is None else _integers(op, "sizes", sizes)
    if wanted is not None and any(not 1 <= n <= MAX_DIMENSION for n in wanted):
        raise ValueError(must(op, "sizes", f"lie in [1, {MAX_DIMENSION}]", wanted))
    shape = list(input.shape)
    for k, a in enumerate(resampled_axes(axes)):
        n = wanted[k] if wanted is not None else math.floor(shape[a] * factors[k])
        if not 1 <= n <= MAX_DIMENSION:
            rule = f"give sizes from 1 to {MAX_DIMENSION}"
            got = f"{float(factors[k]):.9g} for {shape[a]}, which gives {n}"
            raise ValueError(must(op, "scales", rule, got))
        shape[a] = n
    return result(op, input.data_type, tuple(shape))


def float32_scales(scales: Scales | None) -> tuple[Fraction, ...]:
    """Return the scales of resample2d as WebNN takes them: rounded to float32."""
    op = "resample2d"
    if scales is None:
        return Fraction(1), Fraction(1)
    rounded = []
    for scale in _pair(op, "scales", scales):
        exact = as_fraction(scale, op=op, parameter="scales")
        with np.errstate(over="ignore"):
            single = np.float32(float(exact) if exact < 2**128 else np.inf)
        if not (np.isfinite(single) and single > 0):
            raise ValueError(must(op, "scales", "be > 0 and finite in float32", shown(scale)))
        rounded.append(Fraction(float(single)))
    return tuple(rounded)


def resampled_axes(axes: Sequence[int] | None) -> tuple[int, ...]:
    """Return the axes of resample2d."""
    op = "resample2d"
    if axes is None:
        return 2, 3
    listed = _integers(op, "axes", axes)
    if any(not 0 <= a < 4 for a in listed) or listed[0] == listed[1]:
        raise ValueError(must(op, "axes", "be two different integers in [0, 4)", listed))
    return listed


def _descriptors(op: str, **operands: object) -> None:
    """Refuse what is no descriptor, such as the array that the function outside of `builder` takes."""
    for name, operand in operands.items():
        if not isinstance(operand, OperandDescriptor):
            rule = f"be an OperandDescriptor (webnn.{op} takes arrays)"
            raise TypeError(must(op, name, rule, type(operand).__name__))


def _pair(op: str, name: str, value: Sequence[Any]) -> list[Any]:
    """Return a sequence of two."""
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        raise TypeError(must(op, name, "be a sequence of 2 numbers", repr(value)))
    if len(listed) != 2:
        raise ValueError(must(op, name, "have 2 values, one for each of `axes`", listed))
    return list(listed)


def _integers(op: str, name: str, value: Sequence[int]) -> tuple[int, ...]:
    """Return two integers."""
    return tuple(checks.integer(op, name, v) for v in _pair(op, name, value))


def _axis(op: str, axis: object, rank: int) -> int:
    """Return an axis, which WebNN does not count from the end."""
    if rank == 0:
        raise ValueError(must(op, "input", "have at least 1 dimension", "shape ()"))
    a = checks.integer(op, "axis", axis)
    if not 0 <= a < rank:
        raise ValueError(must(op, "axis", f"lie in [0, {rank})", a))
    return a


def _index_type(op: str, indices: OperandDescriptor) -> None:
    """Refuse indices of another type."""
    if indices.data_type not in _INDEX_TYPES:
        rule = f"have one of the data types {', '.join(_INDEX_TYPES)}"
        raise TypeError(must(op, "indices", rule, indices.data_type))


def _same_type(op: str, input: OperandDescriptor, updates: OperandDescriptor) -> None:
    """Refuse updates of another type."""
    if updates.data_type != input.data_type:
        rule = f"have the data type {input.data_type} of `input`"
        raise TypeError(must(op, "updates", rule, updates.data_type))


def _elements(op: str, input: OperandDescriptor, indices: OperandDescriptor, axis: object) -> None:
    """Refuse indices that do not fit elements along an axis."""
    a = _axis(op, axis, input.rank)
    if indices.rank != input.rank:
        raise ValueError(must(op, "indices", f"have {input.rank} dimensions, as `input` has", indices.shape))
    for d, (n, m) in enumerate(zip(input.shape, indices.shape, strict=True)):
        if d != a and n != m:
            raise ValueError(must(op, "indices", f"have size {n} on axis {d}, as `input`", m))


def _tuples(op: str, input: OperandDescriptor, indices: OperandDescriptor) -> tuple[int, ...]:
    """Return the shape of what index tuples choose."""
    for name, operand in (("input", input), ("indices", indices)):
        if operand.rank == 0:
            raise ValueError(must(op, name, "have at least 1 dimension", "shape ()"))
    t = indices.shape[-1]
    if t > input.rank:
        rule = f"have a last dimension of at most {input.rank}, the rank of `input`"
        raise ValueError(must(op, "indices", rule, t))
    return (*indices.shape[:-1], *input.shape[t:])
