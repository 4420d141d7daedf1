"""One function per rule about arguments; the wording of every error is here.

Errors read ``op: `parameter` must <rule>, got <value>``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remapnd.coordinates import as_fraction


def choice(op: str, name: str, value: Any, allowed: Sequence[str]) -> None:
    """`value` is one of the words in `allowed`."""
    if not (isinstance(value, str) and value in allowed):
        raise ValueError(f"{op}: `{name}` must be one of {', '.join(map(repr, allowed))}, got {value!r}")


def integer(op: str, name: str, value: Any) -> int:
    """`value` is an integer (and no bool)."""
    if not isinstance(value, (bool, np.bool_)):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise TypeError(f"{op}: `{name}` must be an integer, got {value!r}")


# Resample.


def _one_each(op: str, name: str, value: Any, count: int) -> list[Any]:
    """A single value serves every axis; a sequence has one for each."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return [value] * count
    if len(value) != count:
        raise ValueError(f"{op}: `{name}` must have one value for each of {count} axes, got {len(value)}")
    return list(value)


def axes(op: str, value: Any, rank: int) -> tuple[int, ...]:
    """Axis numbers in [-rank, rank), each axis once; None for all of them."""
    if value is None:
        return tuple(range(rank))
    listed = [integer(op, "axes", v) for v in (value if isinstance(value, Sequence) else (value,))]
    for axis in listed:
        if not -rank <= axis < rank:
            raise ValueError(f"{op}: `axes` must lie in [{-rank}, {rank}), got {axis}")
    positive = tuple(axis % rank for axis in listed)
    if len(set(positive)) != len(positive):
        raise ValueError(f"{op}: `axes` must name each axis once, got {tuple(listed)}")
    return positive


def numbers(op: str, name: str, value: Any, count: int) -> list[Fraction]:
    """Finite real numbers, one for each of `count` axes."""
    return [as_fraction(v, op=op, parameter=name) for v in _one_each(op, name, value, count)]


def scales(op: str, value: Any, count: int) -> list[Fraction]:
    """Finite real numbers > 0, one for each of `count` axes."""
    exact = numbers(op, "scales", value, count)
    for given, scale in zip(_one_each(op, "scales", value, count), exact, strict=True):
        if scale <= 0:
            raise ValueError(f"{op}: `scales` must be > 0, got {given}")
    return exact


def lengths(op: str, name: str, value: Any, n_ins: Sequence[int]) -> list[int]:
    """Output lengths for axes of lengths `n_ins`: at least 1, and 0 where the input has none."""
    n_outs = [integer(op, name, v) for v in _one_each(op, name, value, len(n_ins))]
    for n_in, n_out in zip(n_ins, n_outs, strict=True):
        if n_out < 0:
            raise ValueError(f"{op}: `{name}` must be at least 0, got {n_out}")
        if (n_in == 0) != (n_out == 0):
            raise ValueError(f"{op}: `{name}` must be 0 where the length of the axis is 0 and only there, "
                             f"got {n_out} for length {n_in}")  # fmt: skip
    return n_outs


def scaled_lengths(op: str, n_ins: Sequence[int], exact_scales: Sequence[Fraction]) -> list[int]:
    """Output lengths ``floor(length * scale)``, which must not be 0 unless the length is."""
    n_outs = []
    for n_in, scale in zip(n_ins, exact_scales, strict=True):
        n_out = math.floor(n_in * scale)
        if n_in and not n_out:
            raise ValueError(f"{op}: `scales` must be at least 1/{n_in} for an axis of length {n_in}, "
                             f"got {float(scale)!r} (give `shape` for an output of length 1)")  # fmt: skip
        n_outs.append(n_out)
    return n_outs


def arithmetic_dtype(op: str, dtype: np.dtype[Any], allowed: Sequence[str]) -> None:
    """`data` is of a dtype that can be interpolated."""
    if dtype.name not in allowed:
        raise TypeError(f"{op}: `data` must have one of the dtypes {', '.join(allowed)} for mode 'linear', "
                        f"got {dtype} (mode 'nearest' takes every fixed-size dtype)")  # fmt: skip


def fixed_size_dtype(op: str, name: str, dtype: np.dtype[Any]) -> None:
    """The dtype has items of a fixed size and no Python objects."""
    if dtype.hasobject or dtype.itemsize == 0:
        raise TypeError(f"{op}: `{name}` must have a dtype of fixed size, got {dtype}")


def planned(op: str, name: str, array: NDArray[Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """`array` is what its plan was made for."""
    if array.dtype != dtype:
        raise TypeError(f"{op}: `{name}` must have the dtype {dtype} of the plan, got {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{op}: `{name}` must have the shape {shape} of the plan, got {array.shape}")
