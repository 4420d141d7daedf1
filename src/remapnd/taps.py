"""Per-axis tables: which input samples make an output sample, and with what weight.

A table is made from an exact map (`coordinates.AxisMap`) and the two lengths. Used by the resample plan,
which hands tables to the compiled core, and by `reference`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import coordinates
from .coordinates import LIMB_BITS, LIMB_MASK, AxisMap, Int64Array

NEAREST_RULES: Final = ("half_up", "half_down", "floor", "ceil")

Weights: TypeAlias = NDArray[np.floating[Any]]

# Of the two weight types: bits of the significand, exponent of the smallest positive number.
_FORMATS: Final = {np.dtype(np.float32): (24, -149), np.dtype(np.float64): (53, -1074)}


class ExactTaps(NamedTuple):
    """Taps of some output samples, one row each.

    Input sample ``indices[i, t]`` has the weight ``numerators[i, t] / denominators[i]``, exactly; the weights
    of a row add up to 1. Integers are int64, or int objects where some are too large.
    """

    indices: Int64Array
    numerators: NDArray[Any]
    denominators: NDArray[Any]


@dataclass(frozen=True, eq=False)
class LinearTable:
    """Taps and weights of linear interpolation along one axis of n_in samples; read-only arrays.

    Output sample X is ``(1 - w) * data[first[X]] + w * data[second[X]]`` with w the exact weight.

    Attributes
    ----------
    first, second : int64, shape (m,), values in [0, n_in)
        ``floor(x)`` and ``floor(x) + 1``, clamped. `second` equals `first` where the exact weight is zero or
        the two taps clamp to the same sample.
    weight : float32 or float64, shape (m,), values in [0, 1]
        Weight of `second`: the exact fraction of x, rounded once, to nearest even. ``-0.0`` exactly where
        `second` equals `first`. A fraction too near to 0 or 1 for the type is stored as the ``+0.0`` or
        ``1.0`` that it rounds to, with the two taps that it has.
    denominator : int
        The smallest D such that all exact weights are multiples of 1 / D. A Python integer of any size.
    n_in : int
        Length of the axis that the taps index.
    axis_map : AxisMap
        The exact positions that the table was made from.
    interior : (int, int)
        Begin and end of the run of output samples with ``0 <= x < n_in - 1``; the others repeat an edge
        sample. Positions fall instead of rising along the run if the step of the map is negative.
    """

    first: Int64Array
    second: Int64Array
    weight: Weights
    denominator: int
    n_in: int
    axis_map: AxisMap
    interior: tuple[int, int]

    def numerators(self) -> NDArray[Any]:
        """Return the exact weights times `denominator`, shape (m,): int64, or int objects if too large."""
        return self._numerators

    @cached_property
    def is_identity(self) -> bool:
        """Whether every output sample is the input sample of the same index."""
        m = len(self.first)
        return self.n_in == m and bool(
            np.array_equal(self.second, self.first) and np.array_equal(self.first, np.arange(m))
        )

    @property
    def n_out(self) -> int:
        """Number of output samples."""
        return len(self.first)

    @property
    def widest(self) -> int:
        """Most taps of an output sample."""
        return 2

    @property
    def largest_denominator(self) -> int:
        """Bound of the denominators of the exact weights of an output sample: `denominator`."""
        return self.denominator

    @property
    def gain(self) -> float:
        """Sum of the magnitudes of the weights of an output sample."""
        return 1.0

    @cached_property
    def span(self) -> tuple[int, int]:
        """First tap of all, and one behind the last."""
        return int(self.first.min()), int(self.second.max()) + 1

    def part(self, begin: int, end: int, low: int, high: int) -> LinearTable:
        """Return the table of output samples begin .. end - 1 of an axis of the samples low .. high - 1.

        Their taps must lie there. Positions count from `low`; bounds of the whole table are kept.
        """
        first, second = self.first[begin:end] - low, self.second[begin:end] - low
        for part in (first, second):
            part.flags.writeable = False
        interior = tuple(min(max(place, begin), end) - begin for place in self.interior)
        map = AxisMap(self.axis_map.at(begin) - low, self.axis_map.step)
        weight = self.weight[begin:end]
        return LinearTable(
            first, second, weight, self.denominator, high - low, map, (interior[0], interior[1])
        )

    def exact(self, outputs: Int64Array) -> ExactTaps:
        """Return taps and exact weights of output samples."""
        second = self._numerators[outputs]
        return ExactTaps(
            np.stack([self.first[outputs], self.second[outputs]], axis=1),
            np.stack([self.denominator - second, second], axis=1),
            np.full(len(outputs), self.denominator, second.dtype),
        )

    @cached_property
    def _numerators(self) -> NDArray[Any]:
        """Numerators, made on first use: only exact integer arithmetic needs them."""
        begin, end = self.interior
        a, b, d = self.axis_map.integers()
        unit = d // self.denominator
        result: NDArray[Any] = np.zeros(len(self.first), np.int64 if self.denominator < 1 << 63 else object)
        if d <= 1 << LIMB_BITS:
            result[begin:end] = coordinates.exact_remainders(self.axis_map, begin, end)[1] // unit
        else:
            result[begin:end] = [(a * output + b) % d // unit for output in range(begin, end)]
        result.flags.writeable = False
        return result


def linear_table(map: AxisMap, n_in: int, n_out: int, dtype: DTypeLike) -> LinearTable:
    """Make the table of linear interpolation along one axis.

    Parameters
    ----------
    map : AxisMap
        Position of each output sample.
    n_in, n_out : int, >= 0
        Lengths of the axis before and after; n_in is at least 1 unless n_out is 0.
    dtype : float32 or float64
        Type of the weights: the working type of the data.

    Raises
    ------
    TypeError, ValueError
        `dtype` is another; a length is out of range.
    """
    dtype = weight_dtype("linear_table", dtype)
    n_in, n_out = lengths("linear_table", n_in, n_out)
    first = np.zeros(n_out, np.int64)
    second = np.zeros(n_out, np.int64)
    weight = np.full(n_out, -0.0, dtype)
    rising = map if map.step >= 0 else map.reversed(n_out)
    begin, end = rising.span(0, n_in - 1, n_out) if n_out else (0, 0)
    first[end:] = second[end:] = n_in - 1
    if begin < end:
        first[begin:end], weight[begin:end] = _floors_and_weights(rising, begin, end, dtype)
        np.add(first[begin:end], ~np.signbit(weight[begin:end]), out=second[begin:end])
    if rising is not map:
        first, second, weight = first[::-1].copy(), second[::-1].copy(), weight[::-1].copy()
        begin, end = n_out - end, n_out - begin
    for part in (first, second, weight):
        part.flags.writeable = False
    return LinearTable(first, second, weight, _denominator(map, begin, end), n_in, map, (begin, end))


def nearest_table(map: AxisMap, n_in: int, n_out: int, rule: str) -> Int64Array:
    """Make the table of nearest neighbours along one axis.

    Parameters
    ----------
    map : AxisMap
        Position x of each output sample.
    n_in, n_out : int, >= 0
        Lengths of the axis before and after; n_in is at least 1 unless n_out is 0.
    rule : one of `NEAREST_RULES`
        "half_up" ``floor(x + 1/2)``, "half_down" ``ceil(x - 1/2)``, "floor" or "ceil" of x; exact, ties
        included.

    Returns
    -------
    int64, shape (n_out,), values in [0, n_in) : the rule's index, clamped. Read-only.

    Raises
    ------
    ValueError
        `rule` is unknown; a length is out of range.
    """
    if rule not in NEAREST_RULES:
        raise ValueError(f"nearest_table: `rule` must be one of {', '.join(NEAREST_RULES)}, got {rule!r}")
    n_in, n_out = lengths("nearest_table", n_in, n_out)
    if rule == "half_up":
        index = _clamped_floors(map.shifted(Fraction(1, 2)), n_in, n_out)
    elif rule == "floor":
        index = _clamped_floors(map, n_in, n_out)
    else:
        # ceil is the floor seen from the other end: ceil(x) = n - 1 - floor(n - 1 - x).
        upward = map.shifted(Fraction(-1, 2)) if rule == "half_down" else map
        index = n_in - 1 - _clamped_floors(upward.mirrored(n_in), n_in, n_out)
    index.flags.writeable = False
    return index


def pick_table(index: Int64Array, n_in: int, map: AxisMap) -> LinearTable:
    """Return a table with one tap for each output sample, ``data[index[X]]``."""
    weight = np.full(len(index), -0.0)
    weight.flags.writeable = False
    return LinearTable(index, index, weight, 1, n_in, map, (0, 0))


def axis_order(axes: Sequence[int], n_ins: Sequence[int], n_outs: Sequence[int]) -> tuple[int, ...]:
    """Order in which linear interpolation is applied along several axes.

    Parameters
    ----------
    axes : ascending axis numbers, without those whose table is the identity
    n_ins, n_outs : lengths before and after, one for each of `axes`

    Returns
    -------
    tuple of int
        `axes` from the outermost to the innermost, except that the innermost goes before the last of the
        others when that one enlarges: fewer values then pass through the costlier horizontal pass.
    """
    order = list(axes)
    enlarges = [n_out > n_in for _, n_in, n_out in zip(order, n_ins, n_outs, strict=True)]
    if len(order) >= 2 and enlarges[-2]:
        order[-2:] = order[-1], order[-2]
    return tuple(order)


def round_ratio(numerator: int, denominator: int, dtype: DTypeLike) -> float:
    """Round the exact ratio of two integers, >= 0 and > 0, once to a float32 or float64; to nearest even.

    A zero is returned as ``-0.0`` if the ratio is zero, and as ``+0.0`` if it is too small for the type.
    """
    if numerator == 0:
        return -0.0
    bits, smallest = _FORMATS[np.dtype(dtype)]
    exponent = (
        numerator.bit_length() - denominator.bit_length()
    )  # the ratio is at least 2**(exponent - 1) and
    if numerator << max(-exponent, 0) >= denominator << max(exponent, 0):
        exponent += 1  # now less than 2**exponent
    unit = max(exponent - bits, smallest)
    quotient, rest = divmod(numerator << max(-unit, 0), denominator << max(unit, 0))
    twice = 2 * rest - (denominator << max(unit, 0))
    if twice > 0 or (twice == 0 and quotient % 2 == 1):
        quotient += 1
    return math.ldexp(quotient, unit)


def weight_dtype(op: str, dtype: DTypeLike) -> np.dtype[Any]:
    """Return a type of weights as a dtype, if it is one."""
    dtype = np.dtype(dtype)
    if dtype not in _FORMATS:
        raise TypeError(f"{op}: `dtype` must be float32 or float64, got {dtype}")
    return dtype


def lengths(op: str, n_in: int, n_out: int) -> tuple[int, int]:
    """Both lengths as Python integers, which do not overflow, if they can be those of an axis."""
    n_in, n_out = operator.index(n_in), operator.index(n_out)
    if n_out < 0:
        raise ValueError(f"{op}: `n_out` must be at least 0, got {n_out}")
    least = min(n_out, 1)
    if n_in < least:
        raise ValueError(f"{op}: `n_in` must be at least {least} where `n_out` is {n_out}, got {n_in}")
    return n_in, n_out


def _denominator(map: AxisMap, begin: int, end: int) -> int:
    """Smallest common denominator of the fractions of the output samples begin .. end - 1."""
    a, b, d = map.integers()
    if end - begin == 1:
        return d // math.gcd(a * begin + b, d)
    # Numerators are a * X + b modulo d: what divides two neighbours and d divides a, b and d, and that is
    # only 1.
    return d if end > begin else 1


def _clamped_floors(map: AxisMap, n_in: int, n_out: int) -> Int64Array:
    """Exact floors of all positions, clamped to [0, n_in)."""
    if map.step < 0:
        return _clamped_floors(map.reversed(n_out), n_in, n_out)[::-1].copy()
    index = np.zeros(n_out, np.int64)
    begin, end = map.span(0, n_in, n_out)
    index[end:] = n_in - 1
    if begin < end:
        index[begin:end] = coordinates.floors(map, begin, end)
    return index


def _floors_and_weights(
    map: AxisMap, begin: int, end: int, dtype: np.dtype[Any]
) -> tuple[Int64Array, Weights]:
    """Floors of positions and their fractions, rounded once; a fraction of exactly zero is -0.0."""
    a, b, d = map.integers()
    if d <= 1 << 53:
        floor, remainder = coordinates.exact_remainders(map, begin, end)
        return floor, _rounded_quotients(remainder, d, dtype)
    floor, high, low = coordinates.binary_fractions(map, begin, end)
    weight, doubtful = _rounded_limbs(high, low, coordinates.is_binary(map), dtype)
    # Some 2 microseconds each; they are few unless the map keeps within 2**-62 of whole numbers or of ties.
    for k in np.flatnonzero(doubtful).tolist():
        weight[k] = round_ratio((a * (begin + k) + b) % d, d, dtype)
    return floor, weight


def _rounded_quotients(remainder: Int64Array, d: int, dtype: np.dtype[Any]) -> Weights:
    """Quotients remainder / d, 0 <= remainder < d <= 2**53, rounded once."""
    quotient: NDArray[np.float64] = remainder / np.float64(d)
    np.negative(quotient, out=quotient, where=remainder == 0)
    if dtype == np.float64:
        return quotient
    # Rounding again, to float32, errs only where the first rounding hit the middle between two float32
    # numbers, which has 25 significant bits. There the products below have at most 53 bits and the
    # differences are exact: their sign tells on which side of the middle the exact quotient lies.
    middle = np.flatnonzero((quotient.view(np.int64) & 0x1FFFFFFF) == 0x10000000)
    q = quotient[middle]
    upper, lower = d >> 27 << 27, d & 0x7FFFFFF
    error = (remainder[middle] - q * upper) - q * lower
    quotient[middle] = np.nextafter(q, q + np.sign(error))
    return quotient.astype(np.float32)


def _rounded_limbs(
    high: Int64Array, low: Int64Array, exact: bool, dtype: np.dtype[Any]
) -> tuple[Weights, NDArray[np.bool_]]:
    """Fractions of `coordinates.binary_fractions` rounded once, and where that is not certain."""
    # The leading 60 bits or more become one integer, whose last bit is set if any bit behind them is (more
    # than the two bits beyond the significand that rounding to nearest looks at); its conversion is the one
    # rounding.
    shift = np.maximum(LIMB_BITS - np.frexp(high.astype(np.float64))[1], 0).astype(np.int64)
    behind = LIMB_MASK >> shift
    rest = low & behind
    leading = (high << shift) | (low >> (LIMB_BITS - shift)) | (rest != 0)
    weight: Weights = np.ldexp(leading.astype(dtype), (-LIMB_BITS - shift).astype(np.int32))
    doubtful = high == 0
    if not exact:
        doubtful |= (rest == 0) | (rest >= behind - 1)
    return weight, doubtful
