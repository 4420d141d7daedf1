"""The executable specification: every operator in a few lines of NumPy and Python, with no thought of speed.

What these functions return defines the numbers of the package; the tests hold the compiled kernels to it, bit
by bit.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from . import filters, taps
from .coordinates import AxisMap, Number, as_fraction
from .filter_taps import FilterTable, Table, axis_table
from .reference_sample import affine_grid, crop_and_resize, grid_sample, roi_align, tensor_scatter

__all__ = [
    "INTEGER_RULES",
    "affine_grid",
    "crop_and_resize",
    "gather",
    "gather_elements",
    "gather_nd",
    "grid_sample",
    "resample",
    "roi_align",
    "rounded",
    "take_along_axis",
    "tensor_scatter",
]

# Gather.


def _place(v: int, n: int, bounds: str) -> int | None:
    """Return where in [0, n) the index `v` is; None where the item is to be filled or dropped."""
    if bounds == "wrap" and n > 0:
        return v % n
    if -n <= v < 0:
        return v + n
    if 0 <= v < n:
        return v
    if bounds == "clip" and n > 0:
        return 0 if v < 0 else n - 1
    if bounds in ("fill", "drop"):
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


# Scatter.


def _joined(a: NDArray[Any], b: NDArray[Any], reduction: str) -> NDArray[Any]:
    """Return the old values `a` reduced with the updates `b`, item by item, in their dtype."""
    if reduction == "none":
        return b
    if a.dtype == np.bool_:
        return np.asarray(a & b if reduction in ("mul", "min") else a | b)
    if a.dtype.kind == "c":
        joined = np.empty(a.shape, a.dtype)
        with np.errstate(all="ignore"):
            if reduction == "add":
                joined.real, joined.imag = a.real + b.real, a.imag + b.imag
            else:
                joined.real = a.real * b.real - a.imag * b.imag
                joined.imag = a.real * b.imag + a.imag * b.real
        joined.real[np.isnan(joined.real)] = np.nan
        joined.imag[np.isnan(joined.imag)] = np.nan
        return joined
    with np.errstate(all="ignore"):
        if reduction in ("add", "mul"):
            joined = np.asarray(a + b if reduction == "add" else a * b)
        else:
            first = a < b if reduction == "min" else a > b
            if a.dtype.kind not in "iu":  # of equal values only zeros differ, in the sign
                first |= (a == b) & (np.signbit(a) == (reduction == "min"))
            joined = np.asarray(np.where(first, a, b))
            if a.dtype.kind not in "iu":
                joined[np.isnan(a) | np.isnan(b)] = np.nan
    if a.dtype.kind not in "iu":
        joined[np.isnan(joined)] = np.nan
    return joined


def _scatter(data: NDArray[Any], steps: Any, reduction: str) -> NDArray[Any]:
    """Join the values of `data` with pairs of a place (None: dropped) and updates, one after the other."""
    out = data.astype(data.dtype.newbyteorder("=")) if reduction != "none" else data.copy()
    for place, updates in steps:
        if place is not None:
            out[place] = _joined(np.asarray(out[place]), updates.astype(out.dtype), reduction)
    return out.astype(data.dtype)


def scatter_elements(
    data: NDArray[Any],
    indices: NDArray[Any],
    updates: NDArray[Any],
    *,
    axis: int = 0,
    reduction: str = "none",
    bounds: str = "raise",
) -> NDArray[Any]:
    """``out[*o, indices[*o, k, *i], *i] = updates[*o, k, *i]``; the public function says more."""
    axis %= data.ndim

    def steps() -> Iterator[tuple[Any, NDArray[Any]]]:
        for k in np.ndindex(indices.shape):
            i = _place(int(indices[k]), data.shape[axis], bounds)
            yield None if i is None else (*k[:axis], i, *k[axis + 1 :], ...), updates[(*k, ...)]

    return _scatter(data, steps(), reduction)


def put_along_axis(
    data: NDArray[Any],
    indices: NDArray[Any],
    values: NDArray[Any],
    *,
    axis: int = -1,
    reduction: str = "none",
    bounds: str = "raise",
) -> NDArray[Any]:
    """`scatter_elements` after broadcasting off the axis; the public function says more."""
    axis %= data.ndim
    shape = np.broadcast_shapes(
        (*data.shape[:axis], 1, *data.shape[axis + 1 :]),
        (*indices.shape[:axis], 1, *indices.shape[axis + 1 :]),
    )
    shape = (*shape[:axis], indices.shape[axis], *shape[axis + 1 :])
    wide_indices, wide_values = np.broadcast_to(indices, shape), np.broadcast_to(values, shape)

    def steps() -> Iterator[tuple[Any, NDArray[Any]]]:
        for v in indices.flat:  # each index counts, used or not
            _place(int(v), data.shape[axis], bounds)
        for k in np.ndindex(shape):
            i = _place(int(wide_indices[k]), data.shape[axis], bounds)
            place = [c if n > 1 else 0 for c, n in zip(k, data.shape, strict=True)]
            yield None if i is None else (*place[:axis], i, *place[axis + 1 :], ...), wide_values[(*k, ...)]

    return _scatter(data, steps(), reduction)


def scatter_nd(
    data: NDArray[Any],
    indices: NDArray[Any],
    updates: NDArray[Any],
    *,
    reduction: str = "none",
    bounds: str = "raise",
) -> NDArray[Any]:
    """``out[*indices[*k, :], *i] = updates[*k, *i]``; the public function says more."""

    def steps() -> Iterator[tuple[Any, NDArray[Any]]]:
        for k in np.ndindex(indices.shape[:-1]):
            tuple_and_sizes = zip(indices[k], data.shape[: indices.shape[-1]], strict=True)
            places = [_place(int(v), n, bounds) for v, n in tuple_and_sizes]
            yield None if None in places else (*places, ...), updates[(*k, ...)]

    return _scatter(data, steps(), reduction)


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
    antialias: str | None = None,
    cubic_coefficient: Number = -0.75,
    exclude_outside: bool = False,
    integer_rule: str = "half_up",
    scales: Sequence[Fraction] | None = None,
    extrapolation_value: Any = None,
) -> NDArray[Any]:
    """Resample `data` along `axes`.

    Parameters
    ----------
    data : ndarray of any rank
        Nearest takes every dtype; the others integers of 8 to 64 bits, float16, bfloat16, float32, float64,
        complex64 and complex128.
    maps, n_outs : one AxisMap, one output length for each of `axes`
    axes : sequence of int in [0, data.ndim), ascending
    mode : "nearest" or one of `filters.FILTER_MODES`
    nearest_rule : one of `taps.NEAREST_RULES`
    antialias : None or one of `filters.ANTIALIAS`
    cubic_coefficient, exclude_outside
        As in the public function.
    integer_rule : "half_up", "half_even" or "truncate"
        How the exact rational result on integers is rounded: ``floor(v + 1/2)``, to nearest with ties to
        even, or towards zero; what lies outside the range of the dtype becomes the nearest of its ends.
    scales : one for each of `axes`, optional
        The scales that decide how far filters are stretched; by default ``1 / abs(step)`` of the maps.
    extrapolation_value : scalar, optional
        Value of the output samples with a position outside [0, n - 1] along any axis.

    Returns
    -------
    ndarray of the dtype of `data`; always a new array

    Raises
    ------
    TypeError, ValueError
        `mode` mixes and the dtype of `data` is another; an option is unknown or a length out of range.

    Notes
    -----
    Floats are computed in float32 for float16, bfloat16 and float32, in float64 for float64; complex numbers
    are two floats. Axis by axis in the order of `taps.axis_order`; axes whose table is the identity are left
    out.

    * Two taps (linear): ``a + (b - a) * w``, or where that is not finite ``(1 - w) * a + w * b``, without the
      term whose weight is zero.
    * Filters: ``x[c] + ((w0 * (x0 - x[c]) + w1 * (x1 - x[c])) + ...)`` in ascending order, c the first tap of
      the largest weight and its own term left out; or where that is not finite ``(w0 * x0 + w1 * x1) + ...``,
      without the terms whose weight is zero.

    Then NaN is made the positive quiet NaN without payload, and the result is rounded once to the dtype.
    """
    if mode not in ("nearest", *filters.FILTER_MODES):
        modes = ", ".join(("nearest", *filters.FILTER_MODES))
        raise ValueError(f"resample: `mode` must be one of {modes}, got {mode!r}")
    if mode == "nearest":
        result = data.copy()
        for map, n_out, axis in zip(maps, n_outs, axes, strict=True):
            result = np.take(result, taps.nearest_table(map, data.shape[axis], n_out, nearest_rule), axis)
    else:
        options = filters.FilterOptions(mode, antialias, as_fraction(cubic_coefficient), exclude_outside)
        if scales is None:
            scales = [1 / abs(map.step) if map.step else Fraction(1) for map in maps]
        working = _working_dtype(data.real.dtype)
        tables = {
            axis: axis_table(map, data.shape[axis], n_out, filters.choose(options, scale), working)
            for map, n_out, scale, axis in zip(maps, n_outs, scales, axes, strict=True)
        }
        result = _mixed(data, {k: t for k, t in tables.items() if not t.is_identity}, working, integer_rule)
    if extrapolation_value is not None:
        for map, n_out, axis in zip(maps, n_outs, axes, strict=True):
            outside = [not 0 <= x <= data.shape[axis] - 1 for x in map.positions(n_out)]
            np.moveaxis(result, axis, 0)[np.array(outside, bool)] = extrapolation_value
    return result


def _mixed(
    data: NDArray[Any], tables: dict[int, Table], working: np.dtype[Any], integer_rule: str
) -> NDArray[Any]:
    """Resample by tables of the axes that are not the identity."""
    if not tables:
        return data.copy()
    if data.dtype.kind in "iu":
        return _integers(data, tables, integer_rule)
    if data.dtype.kind == "c":
        real, imag = (_floats(part, tables, working) for part in (data.real, data.imag))
        result = np.empty(real.shape, data.dtype)
        result.real, result.imag = real, imag
        return result
    return _floats(data, tables, working)


def _working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Type of the weights; for integers, whose weights are exact, either serves."""
    if (dtype.kind == "f" and dtype.itemsize in (2, 4)) or dtype.name == "bfloat16":
        return np.dtype(np.float32)
    if (dtype.kind == "f" and dtype.itemsize == 8) or dtype.kind in "iu":
        return np.dtype(np.float64)
    raise TypeError(
        f"resample: `data` must be of integers, float16, bfloat16, float32, float64 or complex, got {dtype}"
    )


def _floats(data: NDArray[Any], tables: dict[int, Table], working: np.dtype[Any]) -> NDArray[Any]:
    """Resample floats along all axes."""
    values = data.astype(working)
    lengths = zip(*((table.n_in, table.n_out) for table in tables.values()), strict=True)
    for axis in taps.axis_order(list(tables), *lengths):
        table = tables[axis]
        if isinstance(table, FilterTable):
            values = _filtered(values, axis, table)
        else:
            values = _interpolated(values, axis, table)
    values[np.isnan(values)] = np.nan
    with np.errstate(all="ignore"):
        return values.astype(data.dtype)


def _interpolated(values: NDArray[Any], axis: int, table: taps.LinearTable) -> NDArray[Any]:
    """Interpolate along one axis in the type of `values`."""
    a, b = np.take(values, table.first, axis), np.take(values, table.second, axis)
    w = _along(table.weight, axis, values.ndim)
    with np.errstate(all="ignore"):
        result = a + (b - a) * w
        by_products = np.where(w == 0, a, np.where(w == 1, b, (1 - w) * a + w * b))
    return np.where(np.isfinite(result), result, by_products)


def _filtered(values: NDArray[Any], axis: int, table: FilterTable) -> NDArray[Any]:
    """Filter along one axis in the type of `values`."""
    samples = np.moveaxis(values, axis, 0)
    result = np.empty((table.n_out, *samples.shape[1:]), values.dtype)
    for output in range(table.n_out):
        start, count, base = (int(part[output]) for part in (table.start, table.count, table.base))
        x, w = samples[start : start + count], table.weights[output]
        with np.errstate(all="ignore"):
            differences = [w[k] * (x[k] - x[base]) for k in range(count) if k != base]
            fast = x[base] + reduce(operator.add, differences) if differences else x[base]
            by_products = reduce(operator.add, [w[k] * x[k] for k in range(count) if w[k] != 0])
        result[output] = np.where(np.isfinite(fast), fast, by_products)
    return np.moveaxis(result, 0, axis)


def _integers(data: NDArray[Any], tables: dict[int, Table], rule: str) -> NDArray[Any]:
    """Resample along all axes in Python integers, over a denominator for each output sample; round once."""
    if rule not in INTEGER_RULES:
        raise ValueError(f"resample: `integer_rule` must be one of {', '.join(INTEGER_RULES)}, got {rule!r}")
    values: NDArray[Any] = data.astype(object)
    denominator: Any = 1
    for axis, table in tables.items():
        indices, numerators, denominators = table.exact(np.arange(table.n_out))
        terms = (
            _along(numerators[:, k].astype(object), axis, data.ndim) * np.take(values, indices[:, k], axis)
            for k in range(indices.shape[1])
        )
        values = reduce(operator.add, terms)
        denominator = denominator * _along(denominators.astype(object), axis, data.ndim)
    limits = np.iinfo(data.dtype)
    round_one = np.frompyfunc(lambda v, d: min(max(rounded(v, d, rule), limits.min), limits.max), 2, 1)
    return np.asarray(round_one(values, denominator)).astype(data.dtype)


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
