"""The command line: ``remapnd SUB-COMMAND``, one file per sub-command.

Every module in `_COMMANDS` has ``add_parser(subparsers)``, which adds a parser of that name, and
``run(args)``, which returns the exit status.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from remapnd._version import __version__
from remapnd.cli import check, config, resize, run, selftest
from remapnd.cli.console import complain

_COMMANDS = {"run": run, "check": check, "resize": resize, "selftest": selftest, "config": config}
_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_PIPE_CLOSED = 141  # 128 + SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, without the name of the program; None for that of the process

    Returns
    -------
    int
        The exit status: 0 if all went well, 1 or 2 if not, 130 after Ctrl-C, 141 if nobody reads the output
        any more.

    Raises
    ------
    SystemExit
        After help or version (status 0) and after a wrong option (status 2), by `argparse`.
    """
    parser = argparse.ArgumentParser(
        prog="remapnd",
        description="Exact, fast N-D gather and resampling, and the models of other systems on any CPU.",
    )
    parser.add_argument("--version", action="version", version=f"remapnd {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="SUB-COMMAND")
    for module in _COMMANDS.values():
        module.add_parser(subparsers)
    args = parser.parse_args(argv)
    try:
        try:
            status: int = _COMMANDS[args.command].run(args)
        except KeyboardInterrupt:
            complain("remapnd: interrupted")
            status = _INTERRUPTED
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return _PIPE_CLOSED
    except OSError as error:  # the sub-commands let none out, so it is from printing
        _discard_output()
        complain(f"remapnd: the output cannot be written ({error.strerror})")
        return 1
    return status


def _discard_output() -> None:
    """Send the rest to nowhere: the interpreter flushes once more at exit, which must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
