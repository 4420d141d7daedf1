"""A bar that shows how far a long work is, where somebody looks at it.

Used by the sub-commands.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], object]]:
    """Show a bar of `total` bytes on the standard error stream, if that is a terminal and tqdm is installed.

    Yields
    ------
    callable
        To be called with the number of bytes done since the last call.
    """
    bar = None
    if sys.stderr is not None and sys.stderr.isatty():
        with suppress(ModuleNotFoundError):
            bar = import_module("tqdm").tqdm(desc=label, total=total, unit="B", unit_scale=True, leave=False)
    if bar is None:
        yield lambda _: None
        return
    with bar:
        yield bar.update
