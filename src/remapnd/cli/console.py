"""Lines to the terminal, whatever characters its encoding has.

Used by the sub-commands.
"""

from __future__ import annotations

import sys
from typing import TextIO


def say(line: str) -> None:
    """Print a line of output."""
    _write(sys.stdout, line)


def complain(line: str) -> None:
    """Print a line to the standard error stream, after all output so far."""
    sys.stdout.flush()
    _write(sys.stderr, line)


def _write(stream: TextIO, line: str) -> None:
    """Escape what the encoding of `stream` lacks: names in models and files may hold any character."""
    encoding = stream.encoding or "utf-8"
    stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
