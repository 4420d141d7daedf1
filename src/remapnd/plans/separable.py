"""Weighted sums along axes by tables of any number of taps, and their transposes, both in float64.

For what `plans.resample` has no kernel for: gradients of resampling, and filters that are no function of the
exact position. Uses `taps` and `plans.scatter`; used by `directml`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..taps import LinearTable
from .scatter import ScatterNDPlan

Shape = tuple[int, ...]
Float64Array = npt.NDArray[np.float64]


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
    weight: Float64Array

    @property
    def is_identity(self) -> bool:
        """Whether every output is the sample of the same index."""
        same = self.index.shape[1] == self.n_in and np.array_equal(self.index[0], np.arange(self.n_in))
        return bool(same and (self.weight[0] == 1).all() and not self.weight[1:].any())

    @classmethod
    def of_nearest(cls, index: npt.NDArray[np.int64], n_in: int) -> TapTable:
        """Make the table that picks the samples `index`."""
        return cls(n_in, index[None], np.ones((1, index.size)))

    @classmethod
    def of_linear(cls, table: LinearTable) -> TapTable:
        """Make the table of linear interpolation; the weight of the first tap is rounded once more."""
        weight = np.abs(table.weight.astype(np.float64))
        return cls(table.n_in, np.stack([table.first, table.second]), np.stack([1 - weight, weight]))


class SeparablePlan:
    """Prepared weighted sums along axes of an array, one pass after another.

    Parameters
    ----------
    data_shape : tuple of int
    passes : sequence of (axis, TapTable)
        In the order in which they are applied; an axis may occur more than once.

    Attributes
    ----------
    data_shape, output_shape : tuple of int
    """

    def __init__(self, data_shape: Sequence[int], passes: Sequence[tuple[int, TapTable]]) -> None:
        self.data_shape: Shape = tuple(data_shape)
        self._passes = [(axis, table) for axis, table in passes if not table.is_identity]
        shape = list(self.data_shape)
        for axis, table in self._passes:
            shape[axis] = table.index.shape[1]
        self.output_shape: Shape = tuple(shape)

    def __call__(self, data: npt.NDArray[Any]) -> Float64Array:
        """Return the sums for `data`, shape `output_shape`.

        Each is ``x[c] + sum of weight[k] * (x[k] - x[c])`` in ascending order of k, c the tap of the largest
        weight, so that equal samples give that sample; where that is not finite, the sum of weight times
        sample.
        """
        values: Float64Array = data.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            for axis, table in self._passes:
                values = np.moveaxis(_summed(np.moveaxis(values, axis, 0), table), 0, axis)
        return values

    def vjp(self, gradient: npt.NDArray[Any]) -> Float64Array:
        """Return the gradient of data, shape `data_shape`, for that of the sums.

        The passes are undone from the last to the first. Each adds up, in place of a sample, first what taps
        of k = 0 give, in ascending order of the outputs, then k = 1 and so on: the bits are the same for any
        number of threads.
        """
        values: Float64Array = gradient.astype(np.float64)
        for (axis, _), scatters in zip(reversed(self._passes), reversed(self._scatters), strict=True):
            moved = np.moveaxis(values, axis, 0)
            sums = np.zeros(scatters[0].plan.data_shape)
            for part in scatters:
                updates = moved[part.outputs] * part.weight.reshape(-1, *[1] * (moved.ndim - 1))
                part.plan(sums, part.index, updates, out=sums)
            values = np.moveaxis(sums, 0, axis)
        return values

    @cached_property
    def _scatters(self) -> list[list[_Scatter]]:
        """For each pass one scatter for each of its taps."""
        shape = list(self.data_shape)
        result = []
        for axis, table in self._passes:
            rest = shape[:axis] + shape[axis + 1 :]
            result.append([_scatter(table, k, (table.n_in, *rest)) for k in range(len(table.index))])
            shape[axis] = table.index.shape[1]
        return result


@dataclass(frozen=True)
class _Scatter:
    """The transpose of the taps of one k: the outputs that have one, where it is, its weight."""

    plan: ScatterNDPlan
    outputs: npt.NDArray[np.int64]
    index: npt.NDArray[np.int64]
    weight: Float64Array


def _scatter(table: TapTable, k: int, shape: Shape) -> _Scatter:
    """Prepare the transpose of the taps of one k."""
    outputs = np.flatnonzero(table.weight[k])
    index = np.ascontiguousarray(table.index[k, outputs, None])
    plan = ScatterNDPlan(shape, np.dtype(np.float64), index.shape, index.dtype, reduction="add")
    return _Scatter(plan, outputs, index, table.weight[k, outputs])


def _summed(data: Float64Array, table: TapTable) -> Float64Array:
    """Sum along the first axis."""
    column = (-1, *[1] * (data.ndim - 1))
    outputs = np.arange(table.index.shape[1])
    largest = np.argmax(table.weight, axis=0)
    base = data[table.index[largest, outputs]]
    result: Float64Array = base.copy()
    for k, (index, weight) in enumerate(zip(table.index, table.weight, strict=True)):
        moving = np.flatnonzero((weight != 0) & (largest != k))
        result[moving] += weight[moving].reshape(column) * (data[index[moving]] - base[moving])
    rows = np.flatnonzero(~np.isfinite(result).all(axis=tuple(range(1, result.ndim))))
    if rows.size:
        plain = np.zeros((rows.size, *result.shape[1:]))
        for index, weight in zip(table.index[:, rows], table.weight[:, rows], strict=True):
            used = np.flatnonzero(weight)
            plain[used] += weight[used].reshape(column) * data[index[used]]
        result[rows] = np.where(np.isfinite(result[rows]), result[rows], plain)
    return result
