"""Resampling that mixes samples: its arithmetic, the order of its axes, and the call of the compiled core.

Uses `plans.arithmetic` and `plans.exact` for integers; used by `plans.resample`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core, taps
from ..filter_taps import FilterTable, Table, filter_table
from ..filters import Filter
from . import arithmetic, exact
from .arithmetic import FLOAT64_INTEGERS, INTEGER_RULES, Arithmetic
from .passes import PAIRS, TYPES, WORKING, check_count, core_axis, on_native


class Mixing:
    """Passes along the axes of `tables`, none of them the identity.

    Attributes
    ----------
    tables : by axis, ascending
    passes : axes in the order of application
    arithmetic
        Of integers of 64 bits, chosen for each call.
    """

    def __init__(
        self,
        dtype: np.dtype[Any],
        rule: str,
        tables: Mapping[int, Table],
        passes: Sequence[int],
        arithmetic: Arithmetic,
    ) -> None:
        self._dtype, self._rule = dtype, rule
        self.tables, self.passes, self.arithmetic = tables, tuple(passes), arithmetic
        self._by_range = dtype.kind in "iu" and dtype.itemsize == 8
        looks_twice = dtype.kind in "iu" and arithmetic.working == "float32"
        axes = [core_axis(axis, table, arithmetic.working, looks_twice) for axis, table in tables.items()]
        order = [list(tables).index(axis) for axis in passes]
        number = TYPES[PAIRS.get(dtype.name, dtype.name)]
        self._run = _core.Linear(number, WORKING[arithmetic.working], dtype.kind == "c", axes, order)

    @classmethod
    def prepared(
        cls,
        op: str,
        dtype: np.dtype[Any],
        rule: str,
        tables_for: Callable[[DTypeLike], Mapping[int, Table]],
    ) -> Mixing | None:
        """Choose order and arithmetic, for tables with weights of a type; None without any."""
        narrow = arithmetic.is_narrow(dtype)
        tables = tables_for(np.float32 if narrow else np.float64)
        if not tables:
            return None
        check_count(op, tables, "computing")
        axes = list(tables)
        lengths = ([t.n_in for t in tables.values()], [t.n_out for t in tables.values()])
        passes = taps.axis_order(axes, *lengths)
        chosen = Arithmetic("float32" if narrow else "float64", _core.Rounding(INTEGER_RULES[rule]))
        if dtype.kind in "iu" and dtype.itemsize <= 4:
            ordered = [tables[axis] for axis in passes]
            chosen = arithmetic.of_integers(dtype, rule, ordered, 1 << 8 * dtype.itemsize)
        if narrow and chosen.working == "float64":
            tables = tables_for(np.float64)
        if chosen.fine_bound:
            tables = {axis: _with_fine_weights(table) for axis, table in tables.items()}
        if chosen.working in ("uint16", "uint32") and len(axes) == 2:
            # The result does not depend on the order, and the horizontal pass can read integers as they lie.
            passes = axes[1], axes[0]
        return cls(dtype, rule, tables, passes, chosen)

    def with_tables(self, tables: Mapping[int, Table]) -> Mixing:
        """Return the same with parts of the tables: bounds of the whole hold there."""
        return Mixing(self._dtype, self._rule, tables, self.passes, self.arithmetic)

    def short_way(
        self, data_shape: Sequence[int], output_shape: Sequence[int]
    ) -> _core.PreparedResample | None:
        """Return the call for plain arrays, if no result is ever in doubt."""
        if self._by_range or self.arithmetic.bound or not self._dtype.isnative:
            return None
        rounding = self.arithmetic.rounding
        return _core.PreparedResample(self._run, rounding, self._dtype, list(data_shape), list(output_shape))

    def __call__(self, data: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the result to `out`."""
        on_native(self._fill, data, out)

    def _fill(self, data: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the result to an aligned native array."""
        chosen = self._arithmetic_for(data) if self._by_range else self.arithmetic
        if chosen is None:
            positions = np.arange(out.size)
        else:
            positions = self._run(data, out, chosen.rounding, chosen.bound, chosen.fine_bound, chosen.ties)
        if positions.size:
            exact.fill(data, out, positions, self.tables, self._rule)

    def _arithmetic_for(self, data: NDArray[Any]) -> Arithmetic | None:
        """Arithmetic for 64-bit integers by the range of their values; None if that is too wide."""
        used = self._used(data)
        low, high = int(used.min()), int(used.max())
        if max(-low, high) < FLOAT64_INTEGERS:
            return self._within(2 * max(-low, high, 1))
        base = low - low % 2  # even, so that half_even sees the parity of the whole
        if high - base < FLOAT64_INTEGERS:
            # Which way truncation goes is known by the sign of all results.
            beyond = arithmetic.overshoot(list(self.tables.values())) * (high - base + 1)
            if self._rule != "truncate" or beyond < (low if low > 0 else -high) or beyond <= 0:
                return self._within(max(high - base, 1), base)
        return None

    def _within(self, magnitude: int, base: int = 0) -> Arithmetic:
        """Arithmetic for integers that differ from each other, and from `base`, by less than `magnitude`."""
        ordered = [self.tables[axis] for axis in self.passes]
        return arithmetic.of_integers(self._dtype, self._rule, ordered, magnitude, base)

    def _used(self, data: NDArray[Any]) -> NDArray[Any]:
        """View the part of `data` that the taps span, each repeated sample once."""
        spans = {axis: slice(*table.span) for axis, table in self.tables.items()}
        once = slice(0, 1)
        used: NDArray[Any] = data[
            tuple(
                spans.get(axis, slice(None)) if stride else once for axis, stride in enumerate(data.strides)
            )
        ]
        return used

    def explain(self) -> list[str]:
        """Return lines about arithmetic and order."""
        lines = [f"computed in {self.arithmetic.working}, along axes {self.passes} in this order"]
        if self._dtype.kind in "iu":
            lines.append(f"rounded once, exactly, by {self._rule}")
        return lines


def _with_fine_weights(table: Table) -> FilterTable:
    """Table of a filter for an axis of a plan that looks twice at what is in doubt."""
    if isinstance(table, FilterTable):
        return table
    return filter_table(table.axis_map, table.n_in, table.n_out, Filter("triangle"), table.weight.dtype)
