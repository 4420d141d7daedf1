"""Weighted sums along axes by tables of any taps, and their transposes: kernel calls in float64.

For what `plans.resample` does not do: tables that are no function of the exact position, and transposes of
these. Uses `taps`, `filter_taps`, `plans.arithmetic` and the compiled core; used by `directml`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numpy.typing import DTypeLike

from .. import _core
from ..filter_taps import FilterTable
from ..taps import LinearTable, axis_order
from .arithmetic import INTEGER_RULES
from .passes import TYPES, WORKING

Shape = tuple[int, ...]

_TIE: Final = 2.0**-40  # an integer's sum this near to a tie or a whole number is on it
_PIECE: Final = 256  # most taps of one sum of a transpose; longer ones are sums of such sums


@dataclass(frozen=True, eq=False)
class TapTable:
    """Taps and weights along one axis of n_in samples.

    ``output[X] = sum over k of weight[k, X] * data[index[k, X]]``

    Attributes
    ----------
    n_in : int
    index : int64, shape (k, m), values in [0, n_in)
    weight : float64, shape (k, m)
        A tap of weight zero is none. The weights of an output add up to 1, up to rounding.
    """

    n_in: int
    index: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]

    @classmethod
    def of_nearest(cls, index: npt.NDArray[np.int64], n_in: int) -> TapTable:
        """Make the table that picks the samples `index`."""
        return cls(n_in, index[None], np.ones((1, index.size)))

    @classmethod
    def of_linear(cls, table: LinearTable) -> TapTable:
        """Make the table of linear interpolation; the weight of the first tap is rounded once more."""
        weight = np.abs(table.weight.astype(np.float64))
        return cls(table.n_in, np.stack([table.first, table.second]), np.stack([1 - weight, weight]))

    @classmethod
    def of_filter(cls, table: FilterTable) -> TapTable:
        """Make the table of a filter."""
        index = table.start + np.arange(table.widest)[:, None]
        return cls(table.n_in, np.minimum(index, table.n_in - 1), table.fine.T.copy())

    @property
    def n_out(self) -> int:
        """Number of outputs."""
        return int(self.index.shape[1])

    @property
    def is_identity(self) -> bool:
        """Whether every output is the sample of the same index."""
        same = self.n_out == self.n_in and np.array_equal(self.index[0], np.arange(self.n_in))
        return bool(same and (self.weight[0] == 1).all() and not self.weight[1:].any())

    def after(self, first: TapTable) -> TapTable:
        """Return the table of this one applied to what `first` gives; weights are products, rounded."""
        index = first.index[:, self.index].reshape(-1, self.n_out)
        weight = (first.weight[:, self.index] * self.weight).reshape(-1, self.n_out)
        return TapTable(first.n_in, index, weight)


@dataclass(frozen=True, eq=False)
class _Windows:
    """Rows of consecutive columns with weights, as `_core.FilterAxis` takes them."""

    n_in: int
    start: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]

    @classmethod
    def of(
        cls,
        rows: npt.NDArray[np.int64],
        columns: npt.NDArray[np.int64],
        weights: npt.NDArray[np.float64],
        shape: tuple[int, int],
    ) -> _Windows:
        """Gather the entries of a sparse matrix of `shape`; several of one place add up in their order."""
        count_rows, n_in = shape
        start, end = np.full(count_rows, n_in), np.zeros(count_rows, np.int64)
        np.minimum.at(start, rows, columns)
        np.maximum.at(end, rows, columns + 1)
        count = np.maximum(end - start, 0)
        start[count == 0] = 0
        dense = np.zeros((count_rows, max(int(count.max(initial=0)), 1)))
        np.add.at(dense, (rows, columns - start[rows]), weights)
        return cls(n_in, start, count, dense)

    def axis(self, number: int, *, based: bool) -> _core.FilterAxis:
        """Return the axis as the core takes it, with base taps or as plain sums."""
        base = np.argmax(self.weights, axis=1) if based else None
        return _core.FilterAxis(number, self.n_in, self.start, self.count, self.weights, base, None)


class _Passes:
    """Kernel calls one after another, each along axes of its own; intermediate values are float64."""

    def __init__(
        self,
        shape: Sequence[int],
        dtype: DTypeLike,
        stages: Iterable[Mapping[int, _Windows]],
        *,
        based: bool,
        integer_rule: str = "half_up",
    ) -> None:
        given = [stage for stage in stages if stage]
        integers = np.dtype(dtype).kind in "iu" and len(given) <= 1
        self._dtype = np.dtype(dtype if integers else np.float64)
        self._rounding = _core.Rounding(INTEGER_RULES[integer_rule], _TIE)
        self._calls: list[tuple[_core.Linear, Shape]] = []
        before = tuple(shape)
        for stage in given:
            axes = sorted(stage)
            lengths = {axis: len(stage[axis].start) for axis in axes}
            order = axis_order(axes, [before[axis] for axis in axes], list(lengths.values()))
            tables = [stage[axis].axis(axis, based=based) for axis in axes]
            positions = [axes.index(axis) for axis in order]
            run = _core.Linear(TYPES[self._dtype.name], WORKING["float64"], False, tables, positions)
            before = tuple(lengths.get(axis, n) for axis, n in enumerate(before))
            self._calls.append((run, before))

    def __call__(self, data: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
        """Write the sums of `data` to `out`, rounded once to its dtype."""
        if not self._calls:
            np.copyto(out, data)
            return
        with np.errstate(invalid="ignore", over="ignore"):
            values = np.require(data, self._dtype, "A")
            for run, shape in self._calls[:-1]:
                sums = np.empty(shape, np.float64)
                run(values, sums, self._rounding, 0.0)
                values = sums
            run, shape = self._calls[-1]
            fits = out.dtype == self._dtype and out.flags.aligned
            target = out if fits else np.empty(shape, self._dtype)
            run(values, target, self._rounding, 0.0)
            if target is not out:
                out[...] = target


class SeparablePlan:
    """Prepared weighted sums along axes of an array.

    Parameters
    ----------
    data_shape : tuple of int
    dtype : dtype of native byte order, of numbers
    tables : mapping of axis to TapTable
    integer_rule : str
        How sums of integers are rounded, as in `resample`; those within 2**-40 of a tie or a whole number
        are taken to be on it.

    Notes
    -----
    A sum is ``x[c] + sum of weight[k] * (x[k] - x[c])`` in ascending order of samples, c the tap of the
    largest weight, so that equal samples give that sample; where that is not finite, the sum of weight times
    sample. Between axes values are float64.
    """

    def __init__(
        self,
        data_shape: Sequence[int],
        dtype: DTypeLike,
        tables: Mapping[int, TapTable],
        integer_rule: str = "half_up",
    ) -> None:
        stage = {}
        for axis, table in tables.items():
            if not table.is_identity:
                taps, outputs = np.nonzero(table.weight)
                entries = outputs, table.index[taps, outputs], table.weight[taps, outputs]
                stage[axis] = _Windows.of(*entries, (table.n_out, table.n_in))
        self._passes = _Passes(data_shape, dtype, [stage], based=True, integer_rule=integer_rule)

    def __call__(self, data: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
        """Write the sums of `data` to `out`, of the same dtype."""
        self._passes(data, out)


class TransposedPlan:
    """The transpose of a `SeparablePlan`: from the gradient of the sums to that of the data.

    Parameters
    ----------
    gradient_shape : tuple of int
    dtype : dtype of floats of native byte order
    tables : mapping of axis to TapTable
        Those of the sums.

    Notes
    -----
    Each value is the sum of weight times gradient over the outputs that have the sample as a tap, in
    ascending order; of more than 256 of them in pieces of 256, whose sums are added in their order.
    Between axes values are float64. The bits are the same for any number of threads.
    """

    def __init__(
        self, gradient_shape: Sequence[int], dtype: DTypeLike, tables: Mapping[int, TapTable]
    ) -> None:
        stages: list[dict[int, _Windows]] = []
        for axis, table in tables.items():
            if not table.is_identity:
                for depth, windows in enumerate(_transposed(table)):
                    stages += [{}] * (depth == len(stages))
                    stages[depth] = {**stages[depth], axis: windows}
        self._passes = _Passes(gradient_shape, dtype, stages, based=False)

    def __call__(self, gradient: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
        """Write the gradient of the data to `out`, of the same dtype."""
        self._passes(gradient, out)


def _transposed(table: TapTable) -> list[_Windows]:
    """Return the passes that a transpose takes: sums of at most `_PIECE` outputs, then sums of these."""
    outputs, taps = np.nonzero(table.weight.T)
    samples, weights = table.index[taps, outputs], table.weight[taps, outputs]
    passes = []
    columns, n_columns = outputs, table.n_out
    while True:
        first, last = np.full(table.n_in, n_columns), np.zeros(table.n_in, np.int64)
        np.minimum.at(first, samples, columns)
        np.maximum.at(last, samples, columns)
        pieces = np.maximum(-(-(last + 1 - first) // _PIECE), 1)
        begin = np.cumsum(pieces) - pieces
        rows = begin[samples] + (columns - first[samples]) // _PIECE
        passes.append(_Windows.of(rows, columns, weights, (int(pieces.sum()), n_columns)))
        if math.prod(pieces.shape) == pieces.sum():
            return passes
        columns, n_columns = np.arange(pieces.sum()), int(pieces.sum())
        samples, weights = np.repeat(np.arange(table.n_in), pieces), np.ones(columns.size)
