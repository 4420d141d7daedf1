"""Resampling that moves samples: nearest.

Used by `plans.resample`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..filter_taps import Table
from ..taps import LinearTable
from .passes import linear_axes


class Picking:
    """One sample for each output, along the axes of `tables`, none of them the identity."""

    def __init__(self, dtype: np.dtype[Any], rule: str, tables: Mapping[int, Table]) -> None:
        self._dtype, self._rule = dtype, rule
        self.tables = tables
        self._run = _core.Nearest(linear_axes(tables))

    @classmethod
    def prepared(
        cls, dtype: np.dtype[Any], rule: str, tables_for: Callable[[str], Mapping[int, LinearTable]]
    ) -> Picking | None:
        """Make it of the tables by a rule; None without any."""
        tables = tables_for(rule)
        return cls(dtype, rule, tables) if tables else None

    def with_tables(self, tables: Mapping[int, Table]) -> Picking:
        """Return the same with parts of the tables."""
        return Picking(self._dtype, self._rule, tables)

    def short_way(
        self, data_shape: Sequence[int], output_shape: Sequence[int]
    ) -> _core.PreparedResample | None:
        """Return the call for plain arrays."""
        unused = _core.Rounding(0)
        return _core.PreparedResample(self._run, unused, self._dtype, list(data_shape), list(output_shape))

    def __call__(self, data: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the result to `out`."""
        self._run(data, out)

    def explain(self) -> list[str]:
        """Return a line about what is moved."""
        return [f"nearest index by {self._rule}; moves {self._dtype.itemsize} bytes per item"]
