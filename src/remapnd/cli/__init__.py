"""The command line: ``remapnd SUB-COMMAND``, one file per sub-command.

Every module in `_COMMANDS` has ``add_parser(subparsers)``, which adds a parser of that name, and
``run(args)``, which returns the exit status.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from remapnd._version import __version__
from remapnd.cli import bench, check, config, explain, levels, lint, resize, run, selftest, struct
from remapnd.cli.console import complain, flush
from remapnd.cli.options import unknown_option
from remapnd.command_line import INTERRUPTED
from remapnd.config import apply_environment
from remapnd.errors import word

_COMMANDS = {
    "run": run,
    "check": check,
    "levels": levels,
    "struct": struct,
    "lint": lint,
    "resize": resize,
    "explain": explain,
    "bench": bench,
    "selftest": selftest,
    "config": config,
}
# Options whose values may begin with a minus sign, which argparse takes for that of an option.
_SIGNED = ("--axes", "--roi", "--rows", "--cubic-coefficient", "--extrapolation-value")
_ENDED_BY = ("SIGTERM", "SIGHUP")  # signals that end a process without a chance to remove what it began
_PIPE_CLOSED = 141  # 128 + SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, without the name of the program; None for that of the process

    Returns
    -------
    int
        The exit status: 0 if all went well, 1 or 2 if not, 130 after Ctrl-C, 143 after SIGTERM, 129 after
        SIGHUP, 141 if nobody reads the output any more.

    Raises
    ------
    SystemExit
        After help or version (status 0) and after a wrong option (status 2), by `argparse`.
    """
    parser = argparse.ArgumentParser(
        prog="remapnd",
        description="Exact, fast N-D gather, scatter and resampling, and models of other systems, anywhere.",
    )
    parser.add_argument("--version", action="version", version=f"remapnd {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="SUB-COMMAND")
    for module in _COMMANDS.values():
        module.add_parser(subparsers)
    arguments = _joined(sys.argv[1:] if argv is None else argv)
    if arguments and arguments[0] in subparsers.choices:
        command = subparsers.choices[arguments[0]]
        complaint = unknown_option(command, arguments[1:])
        if complaint:
            command.error(complaint)
    elif arguments and not arguments[0].startswith("-"):
        known = tuple(subparsers.choices)
        parser.error(
            f"argument SUB-COMMAND: must be one of {', '.join(known)}, got {word(arguments[0], known)}"
        )
    args, unknown = parser.parse_known_args(arguments)
    if unknown:  # parse_args would show the usage of the whole, not that of the sub-command
        subparsers.choices[args.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        try:
            with _ended_by_signals():
                status: int = _COMMANDS[args.command].run(args) if _environment_obeyed() else 1
        except KeyboardInterrupt:
            complain("remapnd: interrupted")
            status = INTERRUPTED
        except _Ended as ended:
            with suppress(OSError):  # of SIGHUP, that there is no terminal any more
                complain("remapnd: ended by a signal")
            status = 128 + ended.number  # as shells report it
        except MemoryError as error:
            complain("remapnd: out of memory" + (f" ({error})" if str(error) else ""))
            status = 1
        flush()
    except BrokenPipeError:
        _discard_output()
        return _PIPE_CLOSED
    except OSError as error:  # the sub-commands let none out, so it is from printing
        _discard_output()
        complain(f"remapnd: the output cannot be written ({error.strerror})")
        return 1
    return status


class _Ended(BaseException):
    """A signal that ends the process, once what was begun is removed."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Raise `_Ended` on signals that would end the process at once, and leave a half-written file."""

    def end(number: int, _: object) -> None:
        for one in taken:  # a second one would interrupt the removing
            signal.signal(one, signal.SIG_IGN)
        raise _Ended(number)

    here = threading.current_thread() is threading.main_thread()  # others may set no handlers
    known = [getattr(signal, name) for name in _ENDED_BY if here and hasattr(signal, name)]
    taken = [number for number in known if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _joined(argv: Sequence[str]) -> list[str]:
    """Write ``--axes -2,-1`` as ``--axes=-2,-1``."""
    joined: list[str] = []
    for argument in argv:
        if joined and joined[-1] in _SIGNED and re.match(r"-(\d|\.|:|inf|nan)", argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _environment_obeyed() -> bool:
    """Obey the environment variables and say in one line each what is wrong with them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            apply_environment()
        except RuntimeError as error:
            complain(f"remapnd: error: {error}")
            return False
    for warning in caught:
        complain(f"remapnd: warning: {warning.message}")
    return True


def _discard_output() -> None:
    """Send the rest to nowhere: the interpreter flushes once more at exit, which must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
