"""Resampling of labels: for each output the label whose weights, those of linear interpolation, sum highest.

Weights are integers over a common denominator, so sums are exact in float64 where that is small enough, and
else in doubt only where two are nearly equal; then integers of Python decide. Used by `plans.resample`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core
from ..filter_taps import Table
from ..taps import LinearTable
from . import exact
from .passes import TYPES, check_count, linear_axes, on_native

_EXACT: Final = 1 << 53
_UNIT: Final = 2.0**-53


class Majority:
    """The label of the largest weight, along the axes of `tables`, none of them the identity."""

    def __init__(self, dtype: np.dtype[Any], tables: Mapping[int, Table]) -> None:
        self._dtype, self.tables = dtype, tables
        self._denominator = math.prod(table.largest_denominator or 0 for table in tables.values())
        # Errors of a factor, also of 1 - w, are at most two roundings; then there are products and sums.
        roundings = 5 * len(tables) + 2 ** len(tables) + 4
        self._bound = 0.0 if self._denominator <= _EXACT else 4 * roundings * _UNIT
        axes = linear_axes(tables) if self._bound else _whole_axes(tables)
        self._run = _core.Majority(TYPES["uint8" if dtype == np.bool_ else dtype.name], axes)

    @classmethod
    def prepared(
        cls, op: str, dtype: np.dtype[Any], tables_for: Callable[[DTypeLike], Mapping[int, Table]]
    ) -> Majority | None:
        """Make it of the tables with weights of float64; None without any."""
        tables = tables_for(np.float64)
        check_count(op, tables, "mode 'majority'")
        return cls(dtype, tables) if tables else None

    def with_tables(self, tables: Mapping[int, Table]) -> Majority:
        """Return the same with parts of the tables."""
        return Majority(self._dtype, tables)

    def short_way(self, data_shape: Sequence[int], output_shape: Sequence[int]) -> None:
        """There is none."""

    def __call__(self, data: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the result to `out`."""
        if self._dtype == np.bool_:
            data, out = data.view(np.uint8), out.view(np.uint8)
        on_native(self._fill, data, out)

    def _fill(self, data: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the result to an aligned native array."""
        positions = self._run(data, out, self._bound)
        if positions.size:
            exact.fill_labels(data, out, positions, self.tables)

    def explain(self) -> list[str]:
        """Return a line about the sums."""
        how = "exactly" if not self._bound else "in float64, again exactly where two are nearly equal"
        return [f"the label whose corners weigh most, the lowest of equal ones; sums are taken {how}"]


def _whole_axes(tables: Mapping[int, Table]) -> list[_core.Axis]:
    """Return axes whose weights are numerators."""
    return [
        _core.Axis(
            axis,
            table.n_in,
            table.first,
            table.second,
            table.numerators().astype(np.float64),
            table.denominator,
        )
        for axis, table in tables.items()
        if isinstance(table, LinearTable)
    ]
