"""Weights of a filter for many output samples at once, each the exact one rounded once.

They are computed in 64-bit integers or, where the positions have long denominators, in pairs of floats with a
bound of the error; the few whose rounding that leaves open are computed again one by one, in integers of any
length (`Filter.weights_at`). Used by `filter_taps`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import coordinates, taps
from .coordinates import LIMB_BITS, AxisMap, Int64Array
from .double_double import DoubleDouble, where
from .filters import ExactRow, Filter
from .taps import Weights

LIMIT: Final = 1 << 62  # integers below it are computed with in int64

_AT_ONCE: Final = 1 << 16  # weights computed together: what fits in the second-level cache
_PAIR_ERROR: Final = 2.0**-90  # of a kernel value in pairs: its operations err by 2**-100 each
_SUM_ERROR: Final = 2.0**-92  # of a sum and a division in pairs, by the sum of magnitudes

# Start, count, weights in float64 and in the type of the table, for some output samples.
Parts: TypeAlias = "tuple[Int64Array, Int64Array, NDArray[np.float64], Weights]"


@dataclass(frozen=True)
class Axis:
    """What a table is made for: positions that do not fall, on an axis of at least two samples."""

    map: AxisMap
    n_in: int
    n_out: int
    filter: Filter
    dtype: np.dtype[Any]
    width: int  # most taps of an output sample


def parts_of(axis: Axis) -> tuple[Parts, int | None]:
    """Parts of the table of an axis; a bound of the denominators of its weights if it is below `LIMIT`."""
    map, n_in, n_out, filter = axis.map, axis.n_in, axis.n_out, axis.filter
    reach = filter.reach
    far = math.ceil(reach) + 1
    if filter.outside == "drop":
        far, reach = 1, min(reach, Fraction(n_in + 2))  # from there on all samples are taps
    begin, end = map.span(-far, n_in - 1 + far, n_out)
    lowest = coordinates.floors(map.shifted(-reach), begin, end) + 1
    if filter.kernel == "box":
        highest = coordinates.floors(map.shifted(reach), begin, end)
    else:
        opposite = AxisMap(-map.start - reach, -map.step)
        highest = -coordinates.floors(opposite, begin, end) - 1
    # Samples whose taps all lie within the axis repeat with the fractions of their positions.
    a, _, d = map.integers()
    period = min(d // math.gcd(a, d), n_out)
    first = int(np.searchsorted(lowest, 0))
    behind = max(int(np.searchsorted(highest, n_in - 1, "right")), first)
    repeated = max(behind - first - period, 0)
    row = np.arange(end - begin)
    row[first:behind] = first + np.arange(behind - first) % period
    row[behind:] -= repeated
    outputs = np.concatenate([np.arange(behind - repeated), np.arange(behind, end - begin)])
    # All samples beyond an end have the same taps.
    edge: ExactRow = (0, [1], 1)
    beyond = [
        filter.weights_at(map.at(0), n_in) if begin else edge,
        filter.weights_at(map.at(n_out - 1), n_in) if end < n_out else edge,
    ]
    chunks = [rounded(beyond, axis.width, axis.dtype)]
    chunks[0][0][:] += far  # the origin of these is -far
    denominators: list[int | None] = [denominator for _, _, denominator in beyond]
    block = _Block(axis, begin, lowest, highest)
    rows_at_once = max(_AT_ONCE // (int(np.max(highest - lowest, initial=0)) + 1), 1)
    for chunk in np.array_split(outputs, -(-len(outputs) // rows_at_once)) if len(outputs) else ():
        with np.errstate(all="ignore"):  # a coefficient may be of any size: what is not finite is in doubt
            parts, denominator = block.parts(chunk)
        parts[0][:] -= lowest[chunk]
        chunks.append(parts)
        denominators.append(denominator)
    row = np.concatenate([np.zeros(begin, np.int64), row + 2, np.ones(n_out - end, np.int64)])
    origin = np.concatenate([np.full(begin, -far), lowest, np.full(n_out - end, -far)])
    start, count, fine, weights = (
        np.take(np.concatenate(part), row, axis=0) for part in zip(*chunks, strict=True)
    )
    known = [v for v in denominators if v is not None]
    largest = max(known) if len(known) == len(denominators) and max(known) < LIMIT else None
    return (start + origin, count, fine, weights), largest


def rounded(rows: list[ExactRow], width: int, dtype: np.dtype[Any]) -> Parts:
    """Parts of a table from exact rows."""
    start = np.array([first for first, _, _ in rows], np.int64)
    count = np.array([len(numerators) for _, numerators, _ in rows], np.int64)
    fine, weights = np.zeros((len(rows), width)), np.zeros((len(rows), width), dtype)
    for row, (_, numerators, denominator) in enumerate(rows):
        for part in (fine, weights):
            magnitudes = [taps.round_ratio(abs(v), denominator, part.dtype) for v in numerators]
            signs = [-1 if v < 0 else 1 for v in numerators]
            part[row, : len(numerators)] = np.abs(magnitudes) * signs
    return start, count, fine, weights


class _Block:
    """Weights of some output samples at once; `lowest` and `highest` tap of each of them from `begin` on."""

    def __init__(self, axis: Axis, begin: int, lowest: Int64Array, highest: Int64Array) -> None:
        self.axis, self.begin, self.lowest, self.highest = axis, begin, lowest, highest
        map, filter = axis.map, axis.filter
        end = begin + len(lowest)
        d = map.integers()[2]
        common = math.lcm(d, filter.stretch.denominator)
        self.one, self.r = common, int(filter.stretch * common)
        widest = int(np.max(highest - lowest, initial=0)) + 1
        self.in_integers = (
            filter.kernel != "lanczos3"
            and max(filter.largest(2 * self.r) * widest, self.one * (widest + 2)) < LIMIT
        )
        if self.in_integers:
            self.floor, remainder = coordinates.exact_remainders(map, begin, end)
            self.fraction: Any = remainder * (common // d)
        else:
            self.floor, high, low = coordinates.binary_fractions(map, begin, end)
            self.fraction = DoubleDouble.of_limbs(high, low, LIMB_BITS)

    def parts(self, rows: Int64Array) -> tuple[Parts, int | None]:
        """Parts of the table for some of the samples, and a bound of their denominators if it is known."""
        dtype, width = self.axis.dtype, self.axis.width
        values, errors = self._values(rows)
        values, there, start = self._within(values, rows)
        total = _row_sums(values)
        lost = _high(total) == 0
        denominator = None
        if isinstance(values, DoubleDouble):
            pairs, sums = values, total
        else:
            pairs, sums = DoubleDouble.of_integers(values), DoubleDouble.of_integers(total)
            divisors = np.gcd(np.gcd.reduce(values, axis=1, keepdims=True), total)
            denominator = int(np.max(np.abs(total) // np.maximum(divisors, 1), initial=1))
        quotients = pairs / sums
        magnitudes = np.abs(quotients.high)
        error = magnitudes * (np.abs(pairs.high).sum(axis=1, keepdims=True) / np.abs(sums.high)) * _SUM_ERROR
        if errors:
            error += (1 + magnitudes * values.high.shape[1]) / np.abs(sums.high) * errors * there
        low, high = (quotients.high + (quotients.low + by) for by in (-error, error))
        weights = low.astype(dtype)
        doubtful = (low != high) | (high.astype(dtype) != weights)
        if dtype == np.float32:
            # Rounding again is right unless the first rounding hit the middle between two float32 numbers, or
            # these are further apart than normal ones.
            doubtful |= (low.view(np.int64) & 0x1FFFFFFF) == 0x10000000
            doubtful |= (low != 0) & (np.abs(low) < np.finfo(np.float32).tiny)
        fine = low + 0.0
        if fine.shape[1] < width:
            padding = ((0, 0), (0, width - fine.shape[1]))
            fine, weights = np.pad(fine, padding), np.pad(weights, padding)
        again = np.flatnonzero((doubtful | lost).any(axis=1))
        fine[again], weights[again] = 1, 1  # any, but not zero
        start, count, fine, weights = _trimmed(start, fine, weights + dtype.type(0))
        if len(again):
            outputs = (self.begin + rows[again]).tolist()
            exact = [
                self.axis.filter.weights_at(self.axis.map.at(output), self.axis.n_in) for output in outputs
            ]
            start[again], count[again], fine[again], weights[again] = rounded(exact, self.axis.width, dtype)
        return (start, count, fine, weights), denominator

    def _values(self, rows: Int64Array) -> tuple[Any, float]:
        """Kernel at the taps of some samples, zero behind the last; and its error: 0 for integers."""
        filter = self.axis.filter
        lowest, floor = self.lowest[rows, None], self.floor[rows, None]
        column = np.arange(int((self.highest[rows] - lowest[:, 0]).max(initial=0)) + 1)
        there = column <= self.highest[rows, None] - lowest
        offset = lowest - floor + column
        fraction = self.fraction[rows, None]
        if self.in_integers:
            distance = np.minimum(np.abs(offset * self.one - fraction), int(filter.reach * self.one))
            return np.where(there, filter.integers(distance, self.r), 0), 0.0
        inverse = DoubleDouble.of_fraction(1 / filter.stretch)
        distance = abs(fraction - offset.astype(np.float64)) * inverse
        values, doubtful = filter.pairs(distance)
        for row, tap in np.argwhere(doubtful & there).tolist():
            exact = (
                abs(int(lowest[row, 0]) + tap - self.axis.map.at(self.begin + int(rows[row])))
                / filter.stretch
            )
            values.set((row, tap), filter.integers(np.array([exact.numerator]), exact.denominator)[0])
        if filter.kernel == "lanczos3":
            return values.masked(there), 0.0
        return values.masked(there), _PAIR_ERROR * (1 + float(abs(filter.coefficient)))

    def _within(self, values: Any, rows: Int64Array) -> tuple[Any, NDArray[np.bool_], Int64Array]:
        """Values at the taps within the axis, where there are any, and the first of these taps."""
        lowest, highest = self.lowest[rows, None], self.highest[rows, None]
        last = self.axis.n_in - 1
        start, end = np.clip(lowest, 0, last), np.clip(highest, 0, last)
        tap = lowest + np.arange(_high(values).shape[1])
        sample = start + np.arange(int((end - start).max(initial=0)) + 1)
        place = sample - lowest
        there = (sample <= end) & (place >= 0) & (sample <= highest)
        within = _masked(_taken(values, np.clip(place, 0, tap.shape[1] - 1)), there)
        if self.axis.filter.outside == "clamp" and (np.any(lowest < 0) or np.any(highest > last)):
            before, behind = _row_sums(_masked(values, tap <= 0)), _row_sums(_masked(values, tap >= last))
            within = where((sample == 0) & (sample <= end), before, within)
            within = where((sample == last) & (sample <= end), behind, within)
        return within, sample <= end, start[:, 0]


def _trimmed(start: Int64Array, fine: NDArray[np.float64], weights: Weights) -> Parts:
    """Parts of a table without the zeros at the ends of its rows."""
    there = fine != 0
    first = np.argmax(there, axis=1)
    width = there.shape[1]
    count = width - np.argmax(there[:, ::-1], axis=1) - first
    column = first[:, None] + np.arange(width)
    inside = np.arange(width) < count[:, None]
    column = np.minimum(column, width - 1)
    fine, weights = (np.where(inside, np.take_along_axis(part, column, 1), 0) for part in (fine, weights))
    return start + first, count, fine, weights


# Arrays of NumPy and pairs alike.


def _high(values: Any) -> NDArray[Any]:
    """Return integers, or the leading parts of pairs."""
    high: NDArray[Any] = values.high if isinstance(values, DoubleDouble) else values
    return high


def _row_sums(values: Any) -> Any:
    """Return sums along the last axis, kept with length 1."""
    return values.sum_of_rows() if isinstance(values, DoubleDouble) else values.sum(axis=1, keepdims=True)


def _masked(values: Any, mask: NDArray[np.bool_]) -> Any:
    """Return values where the mask is true, zero elsewhere."""
    return values.masked(mask) if isinstance(values, DoubleDouble) else np.where(mask, values, 0)


def _taken(values: Any, columns: Int64Array) -> Any:
    """Return values of each row at columns of it."""
    if isinstance(values, DoubleDouble):
        return DoubleDouble(*(np.take_along_axis(part, columns, 1) for part in (values.high, values.low)))
    return np.take_along_axis(values, columns, 1)
