"""Transposed tables along one axis: for each input sample, the output samples that it takes part in.

Used by `plans.adjoint`, which hands them to the compiled core, and by `reference`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .coordinates import Int64Array
from .errors import must
from .filter_taps import MOST_WEIGHTS, FilterTable, Table
from .taps import Weights

_LONG: Final = 8  # times as many outputs at an edge as elsewhere: it has a table of its own


@dataclass(frozen=True, eq=False)
class TransposedTable:
    """Output samples of an axis, and their weights, for each of some input samples; read-only arrays.

    Input sample ``first + k`` gets the sum of ``weights[k, t] * gradient[start[k] + t]`` over t in
    [0, count[k]).

    Attributes
    ----------
    first : int
        The first of the n consecutive input samples that this is for.
    start, count : int64, shape (n,)
        The run from the first to the last output sample that has the sample as a tap of a weight that is not
        zero; ``0 <= start``, ``start + count <= n_out``. Where there is none both are 0.
    weights : float32 or float64, shape (n, K)
        The weights of the table, as rounded there; zero behind `count`, and for outputs of the run that do
        not have the tap.
    n_out : int
        Length of the axis of the gradient.
    """

    first: int
    start: Int64Array
    count: Int64Array
    weights: Weights
    n_out: int

    @property
    def samples(self) -> slice:
        """The input samples that this is for."""
        return slice(self.first, self.first + len(self.start))


def transposed(table: Table, begin: int, end: int, *, op: str = "transposed") -> list[TransposedTable]:
    """Transpose a table; only its output samples begin .. end - 1 count.

    Of linear interpolation the weights are w and ``1 - w``, rounded to the type of w. An edge that far more
    outputs share than any other sample, as those beyond it do, is a table of its own.

    Raises
    ------
    ValueError
        There would be more than 2**28 weights: too many outputs share a sample.
    """
    outputs, indices, weights = _entries(table, begin, end)
    start = np.full(table.n_in, table.n_out)
    stop = np.zeros(table.n_in, np.int64)
    np.minimum.at(start, indices, outputs)
    np.maximum.at(stop, indices, outputs + 1)
    count = np.maximum(stop - start, 0)
    start[count == 0] = 0
    tables = []
    for low, high in pairwise(_cuts(count)):
        widest = int(count[low:high].max(initial=1))
        if (high - low) * widest > MOST_WEIGHTS:
            rule = f"let outputs share samples such that a gradient takes at most {MOST_WEIGHTS} weights"
            raise ValueError(must(op, "shape", rule, f"{high - low} samples of up to {widest} weights"))
        rows = np.zeros((high - low, widest), weights.dtype)
        here = (indices >= low) & (indices < high)
        rows[indices[here] - low, outputs[here] - start[indices[here]]] = weights[here]
        parts = start[low:high].copy(), count[low:high].copy(), rows
        for part in parts:
            part.flags.writeable = False
        tables.append(TransposedTable(low, *parts, table.n_out))
    return tables


def _cuts(count: Int64Array) -> list[int]:
    """Return where the samples are cut into tables: behind a long first one, before a long last one."""
    n = len(count)
    few = _LONG * int(count[1:-1].max(initial=_LONG))
    return sorted({0, n, *([1] if n and count[0] > few else []), *([n - 1] if n and count[-1] > few else [])})


def _entries(table: Table, begin: int, end: int) -> tuple[Int64Array, Int64Array, Weights]:
    """Output sample, input sample and weight of all taps whose weight is not zero, of some outputs."""
    outputs = np.arange(begin, end)
    weights: Weights
    used: NDArray[np.bool_]
    if isinstance(table, FilterTable):
        k = np.arange(table.widest)
        indices = table.start[begin:end, None] + k
        weights = table.weights[begin:end]
        used = (k < table.count[begin:end, None]) & (weights != 0)
    else:
        first, second, w = (part[begin:end] for part in (table.first, table.second, table.weight))
        indices = np.stack([first, second], axis=1)
        one = first == second
        weights = np.stack([np.where(one, 1, 1 - w).astype(w.dtype), np.where(one, 0, w)], axis=1)
        used = weights != 0
    return np.broadcast_to(outputs[:, None], used.shape)[used], indices[used], weights[used]
