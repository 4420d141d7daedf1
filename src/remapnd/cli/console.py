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
    flush()
    _write(sys.stderr, line)


def fail(command: str, error: object) -> None:
    """Complain of what stops a sub-command, on one line."""
    complain(f"remapnd {command}: error: {' '.join(str(error).splitlines())}")


def flush() -> None:
    """Write all output so far."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _write(stream: TextIO | None, line: str) -> None:
    """Escape what the encoding of `stream` lacks: names in models and files may hold any character."""
    if stream is None:  # closed before the program began
        return
    encoding = stream.encoding or "utf-8"
    stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
