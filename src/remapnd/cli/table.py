"""Tables for a terminal: columns as wide as what is in them.

Used by the sub-commands.
"""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, its columns aligned to the left and two spaces apart."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]


def shortened(text: str, width: int) -> str:
    """Return a text, its middle left out if it is longer than `width`."""
    if len(text) <= width:
        return text
    kept = width - 3
    return text[: kept - kept // 2] + "..." + text[len(text) - kept // 2 :]
