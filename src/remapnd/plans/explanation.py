"""What a plan of a resampling says about itself: positions, taps and weights in fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from ..coordinates import AxisMap
from ..errors import decimal, shown
from ..filter_taps import FilterTable, Table
from ..filters import Filter

_OUTPUTS: Final = 3  # whose taps are shown
_TAPS: Final = 10
_LONGEST: Final = 15  # characters of a fraction


def axis_lines(axis: int, n_in: int, n_out: int, map: AxisMap, table: Table | None) -> list[str]:
    """Lines about one axis; `table` is None where none is used."""
    line = f"axis {axis}: {n_in} -> {n_out}, x = {shown(map.start)} + X * {shown(map.step)}"
    if table is None:
        return [line]
    if not isinstance(table, FilterTable):
        return [f"{line}, weights are multiples of 1/{shown(table.denominator)}"]
    lines = [line, f"    {_filter(table.filter)}, up to {table.widest} taps"]
    for output in range(min(n_out, _OUTPUTS)):
        indices, numerators, denominators = table.exact(np.array([output]))
        count, start = int(table.count[output]), int(indices[0, 0])
        weights = [
            _weight(Fraction(int(v), int(denominators[0]))) for v in numerators[0, : min(count, _TAPS)]
        ]
        more = ", ..." if count > _TAPS else ""
        lines.append(
            f"    X = {output}: samples {start} to {start + count - 1}, weights {', '.join(weights)}{more}"
        )
    return lines


def _weight(weight: Fraction) -> str:
    """Text of a weight: the fraction, or decimals if it is too long to read."""
    text = shown(weight)
    return text if len(text) <= _LONGEST else f"{float(weight):.6g}"


def _filter(filter: Filter) -> str:
    """Words for a filter."""
    name = filter.kernel
    if name == "cubic":
        name += f" (coefficient {shown(filter.coefficient)})"
    outside = {"clamp": "taken from the edge samples", "drop": "dropped and the rest renormalised"}
    return f"{name} stretched by {shown(filter.stretch)}, taps outside are {outside[filter.outside]}"


def describe(positions: Sequence[Fraction], rules: Mapping[str, Sequence[int]]) -> str:
    """Table of positions: the exact fraction, its decimal value, and the nearest sample by each rule."""
    rows = [["X", "x", "", *rules]]
    for output, x in enumerate(positions):
        rows.append([str(output), shown(x), decimal(x), *(str(index[output]) for index in rules.values())])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows
    )
