"""Drawings of a resampled axis in letters: where samples are, and which inputs feed which outputs.

Used by `cli.explain`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

__all__ = ["Row", "draw"]

_WIDEST: Final = 6  # columns of a sample
_NARROWEST: Final = 3  # from there on all inputs are drawn
_LEAST: Final = 8  # columns of a drawing
_BARS: Final = "▁▂▃▄▅▆▇█"
_DIGITS: Final = "123456789"  # where the encoding has no bars
_MARGIN: Final = 2  # samples beyond the edges, where outputs may lie


class Row(NamedTuple):
    """An output sample: its position, its first tap, the weights of this and the next ones; none if none."""

    output: int
    position: Fraction
    start: int
    weights: list[Fraction]


def draw(rows: Sequence[Row], n_in: int, width: int, encoding: str) -> list[str]:
    """Return lines of at most `width` letters; inputs that do not fit are left out, the last ones first."""
    weighted = [row for row in rows if row.weights]
    if not weighted:
        return []
    names = [f"X = {row.output}" for row in rows]
    left = max(map(len, (*names, "outputs"))) + 2
    low = min(row.start for row in weighted)
    high = max(row.start + len(row.weights) for row in weighted)
    if n_in * _NARROWEST <= max(width - left, _LEAST):
        low, high = 0, n_in
    before = min(max(math.ceil(low - min(row.position for row in rows)), 0), _MARGIN)
    behind = min(max(math.ceil(max(row.position for row in rows) - high + 1), 0), _MARGIN)
    room = max(width - left, _LEAST)
    cell = min(max(room // (high - low + before + behind), 1), max(_WIDEST, len(str(high)) + 1))
    high = min(high, low + max(room // cell - before - behind, 1))
    scale = _Scale(low - before, cell, (high - low + before + behind) * cell)
    bars = _BARS if _encodes(encoding, _BARS) else _DIGITS
    most = max(abs(weight) for row in weighted for weight in row.weights)
    places = [(row.position, str(row.output)) for row in rows]
    lines = ["outputs".ljust(left) + scale.labels(places)]
    lines.append("inputs".ljust(left) + scale.labels([(Fraction(k), str(k)) for k in range(low, high)]))
    for name, row in zip(names, rows, strict=True):
        letters = [" "] * scale.width
        for sample in range(low, high):
            tap = sample - row.start
            weight = row.weights[tap] if 0 <= tap < len(row.weights) else Fraction(0)
            bar = _bar(weight, most, bars) * (max(cell - 2, 1) if weight else 1)
            begin = scale.column(Fraction(sample)) - (len(bar) - 1) // 2
            letters[begin : begin + len(bar)] = bar
        lines.append((name.ljust(left) + "".join(letters)).rstrip())
    return lines


class _Scale(NamedTuple):
    """Columns of positions."""

    low: int
    cell: int
    width: int

    def column(self, position: Fraction) -> int:
        """Column of a position; of those beyond the drawing the nearest."""
        place = math.floor((position - self.low) * self.cell + Fraction(1, 2)) + (self.cell - 1) // 2
        return min(max(place, 0), self.width - 1)

    def labels(self, places: Sequence[tuple[Fraction, str]]) -> str:
        """Line with labels at positions; a tick where there is no room for one."""
        letters = [" "] * (self.width + 1)
        for position, label in places:
            column = self.column(position)
            begin = max(column - (len(label) - 1) // 2, 0)
            end = begin + len(label)
            if end <= self.width and all(c == " " for c in letters[max(begin - 1, 0) : end + 1]):
                letters[begin:end] = label
            elif letters[column] == " ":
                letters[column] = "'"
        return "".join(letters).rstrip()


def _bar(weight: Fraction, most: Fraction, bars: str) -> str:
    """Letter for a weight: a bar as high as it is large; for a negative one a minus sign."""
    if weight <= 0:
        return "-" if weight else "."
    return bars[max(math.ceil(weight / most * len(bars)) - 1, 0)]


def _encodes(encoding: str, text: str) -> bool:
    """Whether an encoding has all letters of a text."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
