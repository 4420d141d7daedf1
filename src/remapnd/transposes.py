"""Transposed tables along one axis: for each input sample, the output samples that it takes part in.

Used by `plans.adjoint`, which hands them to the compiled core, and by `reference`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .coordinates import Int64Array
from .errors import must
from .filter_taps import MOST_WEIGHTS, FilterTable, Table
from .taps import Weights


@dataclass(frozen=True, eq=False)
class TransposedTable:
    """Output samples of an axis, and their weights, for each of its n input samples; read-only arrays.

    Input sample k gets the sum of ``weights[k, t] * gradient[start[k] + t]`` over t in [0, count[k]).

    Attributes
    ----------
    start, count : int64, shape (n,)
        The run from the first to the last output sample that has k as a tap of a weight that is not zero;
        ``0 <= start``, ``start + count <= n_out``. Where there is none both are 0.
    weights : float32 or float64, shape (n, K)
        The weights of the table, as rounded there; zero behind `count`, and for outputs of the run that do
        not have the tap.
    n_out : int
        Length of the axis of the gradient.
    """

    start: Int64Array
    count: Int64Array
    weights: Weights
    n_out: int


def transposed(table: Table, begin: int, end: int, *, op: str = "transposed") -> TransposedTable:
    """Transpose a table; only its output samples begin .. end - 1 count.

    Of linear interpolation the weights are w and ``1 - w``, rounded to the type of w.

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
    widest = int(count.max(initial=1))
    if table.n_in * widest > MOST_WEIGHTS:
        rule = f"let outputs share samples such that a gradient takes at most {MOST_WEIGHTS} weights"
        raise ValueError(must(op, "shape", rule, f"{table.n_in} samples of up to {widest} weights"))
    rows = np.zeros((table.n_in, widest), weights.dtype)
    rows[indices, outputs - start[indices]] = weights
    for part in (start, count, rows):
        part.flags.writeable = False
    return TransposedTable(start, count, rows, table.n_out)


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
