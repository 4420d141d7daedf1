"""Tables of filters along one axis: consecutive taps of each output sample, their weights rounded once.

Used by the resample plan, which hands tables to the compiled core, and by `reference`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import taps
from .coordinates import AxisMap, Int64Array
from .errors import must, shown
from .filter_weights import LIMIT, Axis, parts_of, rounded
from .filters import ExactRow, Filter
from .taps import ExactTaps, Weights

MOST_WEIGHTS: Final = 1 << 28


@dataclass(frozen=True, eq=False)
class FilterTable:
    """Taps and weights of a filter along one axis of n_in samples; read-only arrays.

    Output sample X is the sum of ``weights[X, t] * data[start[X] + t]`` over t in [0, count[X]).

    Attributes
    ----------
    start, count : int64, shape (m,)
        Taps are consecutive samples; ``count >= 1`` and ``0 <= start``, ``start + count <= n_in``. The first
        and the last tap have a weight that is not zero.
    weights : float32 or float64, shape (m, K)
        The exact weights, which add up to 1, each rounded once, to nearest even; zero behind `count`.
    base : int64, shape (m,), values in [0, count)
        The first tap of the largest of `weights`.
    fine : float64, shape (m, K)
        The exact weights rounded once to float64; `weights` itself where that is of this type.
    largest_denominator : int or None
        Bound of the denominators of the exact weights of an output sample; None where it is not below 2**62.
    n_in : int
        Length of the axis that the taps index.
    axis_map, filter
        What the table was made from.
    whole : (int, int, int) or None
        Of a part of a table: its first output sample and its first input sample in the axis that `axis_map`
        is for, and the length of that axis.
    """

    start: Int64Array
    count: Int64Array
    weights: Weights
    base: Int64Array
    fine: NDArray[np.float64]
    largest_denominator: int | None
    n_in: int
    axis_map: AxisMap
    filter: Filter
    whole: tuple[int, int, int] | None = None
    _rows: dict[int, ExactRow] = field(default_factory=dict, repr=False)

    @property
    def n_out(self) -> int:
        """Number of output samples."""
        return len(self.start)

    @property
    def widest(self) -> int:
        """Most taps of an output sample, K."""
        return int(self.weights.shape[1])

    @cached_property
    def is_identity(self) -> bool:
        """Whether every output sample is the input sample of the same index."""
        m = self.n_out
        return self.n_in == m and bool(
            np.all(self.count == 1) and np.array_equal(self.start, np.arange(m, dtype=np.int64))
        )

    @cached_property
    def span(self) -> tuple[int, int]:
        """First tap of all, and one behind the last."""
        return int(self.start.min()), int((self.start + self.count).max())

    @cached_property
    def gain(self) -> float:
        """Bound of the sums of magnitudes of the weights of an output sample: how much errors can grow."""
        return float(np.abs(self.fine).sum(axis=1).max()) * (1 + 2.0**-20)

    @cached_property
    def spread(self) -> float:
        """Bound of the same sums without the weight of `base`."""
        others = np.abs(self.fine)
        np.put_along_axis(others, self.base[:, None], 0, axis=1)
        return float(others.sum(axis=1).max()) * (1 + 2.0**-20)

    def part(self, begin: int, end: int, low: int, high: int) -> FilterTable:
        """Return the table of output samples begin .. end - 1 of an axis of the samples low .. high - 1.

        Their taps must lie there. Bounds of the whole table are kept.
        """
        before, below, length = self.whole or (0, 0, self.n_in)
        start = self.start[begin:end] - low
        start.flags.writeable = False
        whole = (before + begin, below + low, length)
        return FilterTable(
            start,
            self.count[begin:end],
            self.weights[begin:end],
            self.base[begin:end],
            self.fine[begin:end],
            self.largest_denominator,
            high - low,
            self.axis_map,
            self.filter,
            whole,
        )

    def exact(self, outputs: Int64Array) -> ExactTaps:
        """Taps and exact weights of output samples; arrays of int64, or of int objects if too large."""
        before, below, length = self.whole or (0, 0, self.n_in)
        rows = []
        for output in outputs.tolist():
            if output not in self._rows:
                self._rows[output] = self.filter.weights_at(self.axis_map.at(before + output), length)
            rows.append(self._rows[output])
        widest = max((len(numerators) for _, numerators, _ in rows), default=1)
        denominators = [denominator for _, _, denominator in rows]
        # Negative weights make single numerators larger than their sum.
        largest = max((abs(v) for _, numerators, d in rows for v in (*numerators, d)), default=1)
        kind: DTypeLike = np.int64 if largest < LIMIT else object
        padded = [numerators + [0] * (widest - len(numerators)) for _, numerators, _ in rows]
        starts = np.array([start - below for start, _, _ in rows], np.int64)
        return ExactTaps(
            np.minimum(starts[:, None] + np.arange(widest), self.n_in - 1),
            np.array(padded, kind).reshape(len(rows), widest),
            np.array(denominators, kind),
        )


Table: TypeAlias = taps.LinearTable | FilterTable


def filter_table(
    map: AxisMap, n_in: int, n_out: int, filter: Filter, dtype: DTypeLike, *, op: str = "filter_table"
) -> FilterTable:
    """Make the table of a filter along one axis.

    Parameters
    ----------
    map : AxisMap
        Position of each output sample.
    n_in, n_out : int, >= 0
        Lengths of the axis before and after; n_in is at least 1 unless n_out is 0.
    filter : Filter
    dtype : float32 or float64
        Type of the weights: the working type of the data.
    op : str
        Name used in error messages.

    Raises
    ------
    TypeError, ValueError
        `dtype` is another; a length is out of range; the table would have more than 2**28 weights.
    """
    dtype = taps.weight_dtype("filter_table", dtype)
    n_in, n_out = taps.lengths("filter_table", n_in, n_out)
    taps_before = math.ceil(2 * filter.reach) + 1
    widest = min(taps_before, n_in) if filter.outside == "drop" else taps_before
    if n_out * widest > MOST_WEIGHTS and n_in > 1:
        rule = f"take at most {MOST_WEIGHTS} weights along an axis"
        raise ValueError(must(op, "mode", rule, f"{n_out} samples of up to {shown(widest)} weights"))
    if n_in <= 1:
        start, count, fine, weights = rounded([(0, [1], 1)] * n_out, 1, dtype)
        denominator: int | None = 1
    else:
        rising = map if map.step >= 0 else map.reversed(n_out)
        axis = Axis(rising, n_in, n_out, filter, dtype, min(taps_before, n_in))
        (start, count, fine, weights), denominator = parts_of(axis)
        if rising is not map:
            start, count, fine, weights = start[::-1], count[::-1], fine[::-1], weights[::-1]
    width = int(count.max(initial=1))
    fine = np.ascontiguousarray(fine[:, :width])
    weights = np.ascontiguousarray(weights[:, :width]) if dtype != np.float64 else fine
    start, count = np.ascontiguousarray(start), np.ascontiguousarray(count)
    base = np.argmax(weights, axis=1)
    for part in (start, count, weights, base, fine):
        part.flags.writeable = False
    return FilterTable(start, count, weights, base, fine, denominator, n_in, map, filter)


def axis_table(
    map: AxisMap, n_in: int, n_out: int, filter: Filter | None, dtype: DTypeLike, *, op: str = "axis_table"
) -> Table:
    """Table of one axis: of plain linear interpolation, or of a filter."""
    if filter is None:
        return taps.linear_table(map, n_in, n_out, dtype)
    return filter_table(map, n_in, n_out, filter, dtype, op=op)
