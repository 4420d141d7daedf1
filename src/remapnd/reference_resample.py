"""The executable specification of resampling, forwards and its gradient; part of `reference`."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from . import filters, taps
from .coordinates import AxisMap, Number, as_fraction
from .filter_taps import FilterTable, Table, axis_table
from .transposes import TransposedTable, transposed

__all__ = ["INTEGER_RULES", "resample", "resample_gradient", "rounded"]

_MODES: Final = ("nearest", "majority", *filters.FILTER_MODES)
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
        Nearest takes every dtype; majority integers and bool; the others integers of 8 to 64 bits, float16,
        bfloat16, float32, float64, complex64 and complex128.
    maps, n_outs : one AxisMap, one output length for each of `axes`
    axes : sequence of int in [0, data.ndim), ascending
    mode : "nearest", "majority" or one of `filters.FILTER_MODES`
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
    if mode not in _MODES:
        modes = ", ".join(_MODES)
        raise ValueError(f"resample: `mode` must be one of {modes}, got {mode!r}")
    if mode == "nearest":
        result = data.copy()
        for map, n_out, axis in zip(maps, n_outs, axes, strict=True):
            result = np.take(result, taps.nearest_table(map, data.shape[axis], n_out, nearest_rule), axis)
    elif mode == "majority":
        result = _elected(data, maps, n_outs, axes)
    else:
        options = filters.FilterOptions(mode, antialias, as_fraction(cubic_coefficient), exclude_outside)
        working = _working_dtype(data.real.dtype)
        lengths = [(data.shape[axis], n_out) for axis, n_out in zip(axes, n_outs, strict=True)]
        by_axis = zip(axes, _filter_tables(maps, lengths, scales, options, working), strict=True)
        result = _mixed(data, {k: t for k, t in by_axis if not t.is_identity}, working, integer_rule)
    if extrapolation_value is not None:
        for map, n_out, axis in zip(maps, n_outs, axes, strict=True):
            outside = [not 0 <= x <= data.shape[axis] - 1 for x in map.positions(n_out)]
            np.moveaxis(result, axis, 0)[np.array(outside, bool)] = extrapolation_value
    return result


def _elected(
    data: NDArray[Any], maps: Sequence[AxisMap], n_outs: Sequence[int], axes: Sequence[int]
) -> NDArray[Any]:
    """Choose the label with the largest sum of linear weights for each output, the lowest of equal ones."""
    rows: list[list[dict[int, Fraction]]] = [[{k: Fraction(1)} for k in range(n)] for n in data.shape]
    for axis, map, n_out in zip(axes, maps, n_outs, strict=True):
        last = data.shape[axis] - 1
        rows[axis] = []
        for x in map.positions(n_out):
            inside = min(max(x, Fraction(0)), Fraction(last))
            floor = min(math.floor(inside), max(last - 1, 0))
            weights = {floor: 1 - (inside - floor), floor + 1: inside - floor}
            rows[axis].append({k: w for k, w in weights.items() if w})
    result = np.empty([len(row) for row in rows], data.dtype)
    for place in np.ndindex(result.shape):
        sums: dict[int, Fraction] = {}
        for corner in itertools.product(*(rows[axis][k].items() for axis, k in enumerate(place))):
            label = int(data[tuple(k for k, _ in corner)])
            sums[label] = sums.get(label, Fraction(0)) + math.prod((w for _, w in corner), start=Fraction(1))
        result[place] = min(sums, key=lambda label: (-sums[label], label))
    return result


def resample_gradient(
    gradient: NDArray[Any],
    data_shape: Sequence[int],
    maps: Sequence[AxisMap],
    axes: Sequence[int],
    *,
    mode: str = "linear",
    nearest_rule: str = "half_up",
    antialias: str | None = None,
    cubic_coefficient: Number = -0.75,
    exclude_outside: bool = False,
    scales: Sequence[Fraction] | None = None,
    extrapolates: bool = False,
) -> NDArray[Any]:
    """Gradient of data of `data_shape` for the gradient of `resample` with the same arguments.

    Parameters
    ----------
    gradient : ndarray of floats or complex numbers, shape of the result of `resample`
    extrapolates : bool
        Whether output samples with a position outside [0, n - 1] along any axis got a value of their own:
        they contribute nothing.

    Returns
    -------
    ndarray, shape `data_shape`, dtype of `gradient`; always a new array

    Notes
    -----
    Axis by axis, by `transposes.transposed` of the tables of `resample`, in the order of `taps.axis_order`
    for the lengths of the gradient and of the data; axes whose table is the identity are left out, unless an
    output along them contributes nothing. A sum is ``(w0 * g0 + w1 * g1) + ...`` in ascending order, 0
    without terms; where it is not finite, the same without the terms whose weight is zero. NaN and rounding
    are those of `resample`.
    """
    working = _working_dtype(gradient.real.dtype)
    lengths = [(data_shape[axis], gradient.shape[axis]) for axis in axes]
    if mode == "nearest":
        tables: list[Table] = [
            taps.pick_table(taps.nearest_table(map, n_in, n_out, nearest_rule), n_in, map)
            for map, (n_in, n_out) in zip(maps, lengths, strict=True)
        ]
    else:
        options = filters.FilterOptions(mode, antialias, as_fraction(cubic_coefficient), exclude_outside)
        tables = _filter_tables(maps, lengths, scales, options, working)
    turned = {}
    for axis, map, table in zip(axes, maps, tables, strict=True):
        inside = [0 <= x <= table.n_in - 1 for x in map.positions(table.n_out)] if extrapolates else [True]
        if not table.is_identity or not all(inside):
            counted = np.flatnonzero(inside) if extrapolates else range(table.n_out)
            begin, end = (int(counted[0]), int(counted[-1]) + 1) if len(counted) else (0, 0)
            turned[axis] = transposed(table, begin, end)
    if not turned:
        return gradient.copy()
    if gradient.dtype.kind == "c":
        real, imag = (_summed(part, turned, working) for part in (gradient.real, gradient.imag))
        result = np.empty(real.shape, gradient.dtype)
        result.real, result.imag = real, imag
        return result
    return _summed(gradient, turned, working)


def _summed(
    gradient: NDArray[Any], tables: dict[int, list[TransposedTable]], working: np.dtype[Any]
) -> NDArray[Any]:
    """Sum floats along all axes."""
    values = gradient.astype(working)
    lengths = zip(*((parts[0].n_out, parts[-1].samples.stop) for parts in tables.values()), strict=True)
    for axis in taps.axis_order(list(tables), *lengths):
        outputs = np.moveaxis(values, axis, 0)
        results = [_summed_along(outputs, part, working) for part in tables[axis]]
        values = np.moveaxis(np.concatenate(results), 0, axis)
    values[np.isnan(values)] = np.nan
    with np.errstate(all="ignore"):
        return values.astype(gradient.dtype)


def _summed_along(outputs: NDArray[Any], table: TransposedTable, working: np.dtype[Any]) -> NDArray[Any]:
    """Sum floats along the first axis."""
    result = np.zeros((len(table.start), *outputs.shape[1:]), working)
    for sample, (start, count) in enumerate(zip(table.start, table.count, strict=True)):
        g, w = outputs[start : start + count], table.weights[sample].astype(working)
        if count == 0:
            continue
        with np.errstate(all="ignore"):
            fast = reduce(operator.add, [w[k] * g[k] for k in range(count)])
            careful = reduce(operator.add, [w[k] * g[k] for k in range(count) if w[k] != 0])
        result[sample] = np.where(np.isfinite(fast), fast, careful)
    return result


def _filter_tables(
    maps: Sequence[AxisMap],
    lengths: Sequence[tuple[int, int]],
    scales: Sequence[Fraction] | None,
    options: filters.FilterOptions,
    working: np.dtype[Any],
) -> list[Table]:
    """Table of each axis; without scales by those of the maps."""
    if scales is None:
        scales = [1 / abs(map.step) if map.step else Fraction(1) for map in maps]
    return [
        axis_table(map, n_in, n_out, filters.choose(options, scale), working)
        for map, (n_in, n_out), scale in zip(maps, lengths, scales, strict=True)
    ]


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
