"""Whether this process is the command line, and what Ctrl-C does to it before `cli` is there to answer.

Used by `__init__`, before anything that takes time is imported.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType

INTERRUPTED = 128 + 2  # SIGINT, as shells report it


def runs_command_line() -> bool:
    """Tell whether this process was started as ``remapnd`` or ``python -m remapnd``.

    The command line applies the environment itself: it has one line for what is wrong, where an exception on
    import would print a traceback.
    """
    arguments: list[str] = getattr(sys, "argv", None) or [""]
    if arguments[0] == "-m":  # so it is while Python looks for the module that -m names
        started = "".join(sys.orig_argv[-len(arguments) :][:1]).removeprefix("-m")
    else:
        started = os.path.splitext(os.path.basename(arguments[0]))[0]
    return started == "remapnd"


def quiet_interrupt(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Serve as `sys.excepthook`: one line for Ctrl-C, as it may come while modules are imported."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    if sys.stderr is not None:
        sys.stderr.write("remapnd: interrupted\n")
    raise SystemExit(INTERRUPTED)
