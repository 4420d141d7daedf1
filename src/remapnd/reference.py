"""The executable specification: every operator in a few lines of NumPy and Python, with no thought of speed.

What these functions return defines the numbers of the package; the tests hold the compiled kernels to it, bit
by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from . import taps
from .coordinates import AxisMap

__all__ = [
    "INTEGER_RULES",
    "gather",
    "gather_elements",
    "gather_nd",
    "resample",
    "rounded",
    "take_along_axis",
]

# Gather.


def _place(v: int, n: int, bounds: str) -> int | None:
    """Return where in [0, n) the index `v` is; None where the item is to be filled."""
    if bounds == "wrap" and n > 0:
        return v % n
    if -n <= v < 0:
        return v + n
    if 0 <= v < n:
        return v
    if bounds == "clip" and n > 0:
        return 0 if v < 0 else n - 1
    if bounds == "fill":
        return None
    raise IndexError(f"index {v} is out of range for size {n} under {bounds}")


def _item(fill_value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return what fills; the int 0 is zero bytes in every dtype."""
    zero = type(fill_value) is int and fill_value == 0
    return np.zeros((), dtype) if zero else np.array(fill_value, dtype)


def gather(
    data: NDArray[Any], indices: NDArray[Any], *, axis: int = 0, bounds: str = "raise", fill_value: Any = 0
) -> NDArray[Any]:
    """``out[*o, *k, *i] = data[*o, indices[*k], *i]``; the public function says more."""
    axis %= data.ndim
    out = np.zeros(data.shape[:axis] + indices.shape + data.shape[axis + 1 :], data.dtype)
    outer: tuple[Any, ...] = (slice(None),) * axis
    for k in np.ndindex(indices.shape):
        i = _place(int(indices[k]), data.shape[axis], bounds)
        out[(*outer, *k, ...)] = _item(fill_value, data.dtype) if i is None else data[(*outer, i, ...)]
    return out


def gather_elements(
    data: NDArray[Any], indices: NDArray[Any], *, axis: int = 0, bounds: str = "raise", fill_value: Any = 0
) -> NDArray[Any]:
    """``out[*o, k, *i] = data[*o, indices[*o, k, *i], *i]``; the public function says more."""
    axis %= data.ndim
    out = np.zeros(indices.shape, data.dtype)
    for k in np.ndindex(indices.shape):
        i = _place(int(indices[k]), data.shape[axis], bounds)
        out[(*k, ...)] = (
            _item(fill_value, data.dtype) if i is None else data[(*k[:axis], i, *k[axis + 1 :], ...)]
        )
    return out


def take_along_axis(
    data: NDArray[Any], indices: NDArray[Any], *, axis: int = -1, bounds: str = "raise", fill_value: Any = 0
) -> NDArray[Any]:
    """`gather_elements` after broadcasting off the axis; the public function says more."""
    axis %= data.ndim
    shape = np.broadcast_shapes(
        (*data.shape[:axis], 1, *data.shape[axis + 1 :]),
        (*indices.shape[:axis], 1, *indices.shape[axis + 1 :]),
    )
    wide = [np.broadcast_to(a, (*shape[:axis], a.shape[axis], *shape[axis + 1 :])) for a in (data, indices)]
    for v in indices.flat:  # each index counts, used or not
        _place(int(v), data.shape[axis], bounds)
    return gather_elements(wide[0], wide[1], axis=axis, bounds=bounds, fill_value=fill_value)


def gather_nd(
    data: NDArray[Any],
    indices: NDArray[Any],
    *,
    batch_dims: int = 0,
    bounds: str = "raise",
    fill_value: Any = 0,
) -> NDArray[Any]:
    """``out[*b, *k, *i] = data[*b, *indices[*b, *k, :], *i]``; the public function says more."""
    b, t = batch_dims, indices.shape[-1]
    out = np.zeros(indices.shape[:-1] + data.shape[b + t :], data.dtype)
    for k in np.ndindex(indices.shape[:-1]):
        places = [_place(int(v), n, bounds) for v, n in zip(indices[k], data.shape[b : b + t], strict=True)]
        out[(*k, ...)] = _item(fill_value, data.dtype) if None in places else data[(*k[:b], *places, ...)]
    return out


# Resample.

INTEGER_RULES: Final = ("half_up", "half_even", "truncate")


def resample(
    data: NDArray[Any],
    maps: Sequence[AxisMap],
    n_outs: Sequence[int],
    axes: Sequence[int],
    *,
    mode: str = "linear",
    nearest_rule: str = "half_up",
    integer_rule: str = "half_up",
) -> NDArray[Any]:
    """Resample `data` along `axes`.

    Parameters
    ----------
    data : ndarray of any rank
        Nearest takes every dtype; linear integers of 8 to 64 bits, float16, bfloat16, float32, float64,
        complex64 and complex128.
    maps, n_outs : one AxisMap, one output length for each of `axes`
    axes : sequence of int in [0, data.ndim), ascending
    mode : "linear" or "nearest"
    nearest_rule : one of `taps.NEAREST_RULES`
    integer_rule : "half_up", "half_even" or "truncate"
        How linear rounds the exact rational result on integers: ``floor(v + 1/2)``, to nearest with ties to
        even, or towards zero.

    Returns
    -------
    ndarray of the dtype of `data`; always a new array

    Raises
    ------
    TypeError, ValueError
        `mode` is linear and the dtype of `data` is another; an option is unknown or a length out of range.

    Notes
    -----
    Linear on floats works in float32 for float16, bfloat16 and float32, in float64 for float64; complex
    numbers are two floats. Axis by axis in the order of `taps.axis_order`, ``a + (b - a) * w``, or where
    that is not finite ``(1 - w) * a + w * b``, without the term whose weight is zero; then NaN is made the
    positive quiet NaN without payload, and the result is rounded once to the dtype of `data`. Axes whose
    table is the identity are left out.
    """
    if mode == "nearest":
        for map, n_out, axis in zip(maps, n_outs, axes, strict=True):
            data = np.take(data, taps.nearest_table(map, data.shape[axis], n_out, nearest_rule), axis)
        return data.copy()
    if mode != "linear":
        raise ValueError(f"resample: `mode` must be linear or nearest, got {mode!r}")
    if data.dtype.kind == "c":
        real, imag = (resample(part, maps, n_outs, axes) for part in (data.real, data.imag))
        result = np.empty(real.shape, data.dtype)
        result.real, result.imag = real, imag
        return result
    working = _working_dtype(data.dtype)
    tables = {
        axis: taps.linear_table(map, data.shape[axis], n_out, working)
        for map, n_out, axis in zip(maps, n_outs, axes, strict=True)
    }
    resampled = [axis for axis in axes if not tables[axis].is_identity]
    if not resampled:
        return data.copy()
    if data.dtype.kind in "iu":
        return _linear_integers(data, {axis: tables[axis] for axis in resampled}, integer_rule)
    before, after = zip(*((tables[axis].n_in, len(tables[axis].first)) for axis in resampled), strict=True)
    values = data.astype(working)
    for axis in taps.axis_order(resampled, before, after):
        values = _linear_floats(values, axis, tables[axis])
    values[np.isnan(values)] = np.nan
    with np.errstate(all="ignore"):
        return values.astype(data.dtype)


def _working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Type of the weights of linear; for integers, whose weights are exact, either serves."""
    if (dtype.kind == "f" and dtype.itemsize in (2, 4)) or dtype.name == "bfloat16":
        return np.dtype(np.float32)
    if (dtype.kind == "f" and dtype.itemsize == 8) or dtype.kind in "iu":
        return np.dtype(np.float64)
    raise TypeError(
        f"resample: `data` must be of integers, float16, bfloat16, float32, float64 or complex for linear, "
        f"got {dtype}"
    )


def _linear_floats(values: NDArray[Any], axis: int, table: taps.LinearTable) -> NDArray[Any]:
    """Interpolate along one axis in the type of `values`."""
    a, b = np.take(values, table.first, axis), np.take(values, table.second, axis)
    w = _along(table.weight, axis, values.ndim)
    with np.errstate(all="ignore"):
        result = a + (b - a) * w
        by_products = np.where(w == 0, a, np.where(w == 1, b, (1 - w) * a + w * b))
    return np.where(np.isfinite(result), result, by_products)


def _linear_integers(data: NDArray[Any], tables: dict[int, taps.LinearTable], rule: str) -> NDArray[Any]:
    """Interpolate along all axes in Python integers, over a common denominator, and round once."""
    if rule not in INTEGER_RULES:
        raise ValueError(f"resample: `integer_rule` must be one of {', '.join(INTEGER_RULES)}, got {rule!r}")
    values, denominator = data.astype(object), 1
    for axis, table in tables.items():
        numerators = _along(table.numerators().astype(object), axis, data.ndim)
        a, b = np.take(values, table.first, axis), np.take(values, table.second, axis)
        values = (table.denominator - numerators) * a + numerators * b
        denominator *= table.denominator
    round_one = np.frompyfunc(lambda numerator: rounded(numerator, denominator, rule), 1, 1)
    return np.asarray(round_one(values)).astype(data.dtype)


def rounded(numerator: int, denominator: int, rule: str) -> int:
    """Round a ratio of integers to an integer; exact."""
    floor, rest = divmod(numerator, denominator)
    if rule == "truncate":
        return floor + (numerator < 0 and rest > 0)
    above = 2 * rest > denominator or (2 * rest == denominator and (rule == "half_up" or floor % 2 == 1))
    return floor + above


def _along(vector: NDArray[Any], axis: int, rank: int) -> NDArray[Any]:
    """Give a vector the rank of an array, along one of its axes."""
    return vector.reshape([-1 if k == axis else 1 for k in range(rank)])
