"""Drawings of a resampled axis in letters: where samples are, and which inputs feed which outputs.

Used by `cli.explain`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

__all__ = ["Row", "draw"]

_WIDEST: Final = 6  # columns of a sample
_NARROWEST: Final = 3  # from there on all inputs are drawn
_LEAST: Final = 8  # columns of a drawing
_ROUNDING: Final = Fraction(1, 2)
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
    """Return lines of at most `width` letters; where inputs share a column the largest weight is drawn."""
    weighted = [row for row in rows if row.weights]
    if not weighted:
        return []
    names = [f"X = {row.output}" for row in rows]
    left = max(map(len, (*names, "outputs"))) + 2
    room = max(width - left, _LEAST)
    low = min(row.start for row in weighted)
    high = max(row.start + len(row.weights) for row in weighted)
    if n_in * _NARROWEST <= room:
        low, high = 0, n_in
    before = min(max(math.ceil(low - min(row.position for row in rows)), 0), _MARGIN)
    behind = min(max(math.ceil(max(row.position for row in rows) - high + 1), 0), _MARGIN)
    span = high - low + before + behind
    cell = Fraction(min(room // span, max(_WIDEST, len(str(high)) + 1))) or Fraction(room, span)
    scale = _Scale(low - before, cell, math.ceil(span * cell))
    bars = _BARS if _encodes(encoding, _BARS) else _DIGITS
    most = max(abs(weight) for row in weighted for weight in row.weights)
    lines = ["outputs".ljust(left) + scale.labels([(row.position, str(row.output)) for row in rows])]
    lines.append("inputs".ljust(left) + scale.labels(scale.ruler(low, high)))
    columns = [scale.column(k) for k in range(low, high)] if cell >= 1 else list(range(scale.width))
    for name, row in zip(names, rows, strict=True):
        letters = [" "] * scale.width
        for column in columns:
            letters[column] = "."
        for column, weight in sorted(_largest(row, scale).items()):
            bar = _bar(weight, most, bars) * (max(math.floor(cell) - 2, 1) if weight else 1)
            begin = column - (len(bar) - 1) // 2
            letters[begin : begin + len(bar)] = bar
        lines.append((name.ljust(left) + "".join(letters)).rstrip())
    return lines


class _Scale(NamedTuple):
    """Columns of positions."""

    low: int
    cell: Fraction  # columns of a sample
    width: int

    def column(self, position: Fraction | int) -> int:
        """Column of a position; of those beyond the drawing the nearest."""
        place = math.floor((position - self.low) * self.cell + (self.cell - 1) / 2 + _ROUNDING)
        return min(max(place, 0), self.width - 1)

    def ruler(self, low: int, high: int) -> list[tuple[Fraction | int, str]]:
        """Return labels of the inputs `low` to `high - 1`, as many as have room."""
        steps = (digit * 10**power for power in itertools.count() for digit in (1, 2, 5))
        step = next(step for step in steps if step * self.cell > len(str(high)))
        return [(k, str(k)) for k in range(-(-low // step) * step, high, step)]

    def labels(self, places: Sequence[tuple[Fraction | int, str]]) -> str:
        """Line with labels at positions; a tick where there is no room for one."""
        letters = [" "] * (self.width + max((len(label) for _, label in places), default=0))
        for position, label in places:
            column = self.column(position)
            begin = max(column - (len(label) - 1) // 2, 0)
            end = begin + len(label)
            if all(c == " " for c in letters[max(begin - 1, 0) : end + 1]):
                letters[begin:end] = label
            elif letters[column] == " ":
                letters[column] = "'"
        return "".join(letters).rstrip()


def _largest(row: Row, scale: _Scale) -> dict[int, Fraction]:
    """Weight of the largest magnitude in each column."""
    found: dict[int, Fraction] = {}
    for tap, weight in enumerate(row.weights):
        column = scale.column(row.start + tap)
        if abs(weight) >= abs(found.get(column, Fraction(0))):
            found[column] = weight
    return found


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
