"""Tables for people: aligned columns, wrapped to the terminal; colours where the output is one.

Used by the sub-commands.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

from remapnd.cli.console import say

_BOLD, _RED, _GREEN, _PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[0m"
_GAP = 2
_NARROWEST = 20


def is_terminal() -> bool:
    """Whether the output goes to a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def bold(text: str) -> str:
    """Return text in bold letters, where there are colours."""
    return _coloured(_BOLD, text)


def good(text: str) -> str:
    """Return text in green, where there are colours."""
    return _coloured(_GREEN, text)


def bad(text: str) -> str:
    """Return text in red, where there are colours."""
    return _coloured(_RED, text)


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], indent: int = 2) -> None:
    """Print columns under their heads; those of the widest column are wrapped to the terminal."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    limit = shutil.get_terminal_size().columns if is_terminal() else sys.maxsize
    spare = limit - indent - sum(widths) - _GAP * (len(widths) - 1)
    if spare < 0:
        widest = widths.index(max(widths))
        widths[widest] = max(widths[widest] + spare, _NARROWEST)
    for number, row in enumerate((heads, *rows)):
        cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
        for line in range(max(map(len, cells))):
            parts = [cell[line] if line < len(cell) else "" for cell in cells]
            text = (" " * _GAP).join(part.ljust(width) for part, width in zip(parts, widths, strict=True))
            text = " " * indent + text.rstrip()
            say(text if number else bold(text))


def _coloured(code: str, text: str) -> str:
    """Put colour codes around text; NO_COLOR and TERM=dumb are obeyed."""
    if not is_terminal() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"{code}{text}{_PLAIN}"
