"""Threads, instruction-set levels, environment variables and `show_config`.

Uses `_core`; `__init__`, or the command line, calls `apply_environment` once.
"""

from __future__ import annotations

import contextlib
import operator
import os
import platform
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TypedDict

import numpy as np

from . import _core
from ._version import __version__
from .errors import shown, word

__all__ = [
    "Config",
    "apply_environment",
    "get_config",
    "get_num_threads",
    "num_threads",
    "set_num_threads",
    "show_config",
]

_MAX_THREADS = 1024  # as csrc/pool.cpp


class Config(TypedDict):
    """What `get_config` returns."""

    version: str
    level: str
    levels_usable: list[str]
    levels_built: list[str]
    num_threads: int
    numpy: str
    python: str
    machine: str


def get_config() -> Config:
    """Return what `show_config` prints.

    Returns
    -------
    dict
        ``version``; ``level``, the instruction-set level in use; ``levels_usable``, those that this processor
        has, and ``levels_built``, those in this build, both in ascending order; ``num_threads``, what a call
        from this thread would use; ``numpy``, ``python``, ``machine``: versions and architecture.
    """
    return {
        "version": __version__,
        "level": _core.level(),
        "levels_usable": _core.levels_usable(),
        "levels_built": _core.levels_built(),
        "num_threads": _core.get_num_threads(),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }


def show_config() -> None:
    """Print version, instruction-set levels, threads and environment; worth adding to a bug report."""
    config = get_config()
    rows = {
        "remapnd": config["version"],
        "level": config["level"],
        "levels usable": " ".join(config["levels_usable"]),
        "levels built": " ".join(config["levels_built"]),
        "threads": str(config["num_threads"]),
        "NumPy": config["numpy"],
        "Python": config["python"],
        "machine": config["machine"],
    }
    for name in ("REMAPND_ISA", "REMAPND_NUM_THREADS"):
        if name in os.environ:
            rows[name] = os.environ[name]
    width = max(map(len, rows))
    for name, value in rows.items():
        print(f"{name:<{width}}  {value}")


def set_num_threads(n: int, /) -> None:
    """Set how many threads a call may use, in the whole process.

    Results do not depend on it. Calls that move little use one thread whatever was set.

    Parameters
    ----------
    n : int, in [1, 1024]
        The calling thread is one of them.

    Raises
    ------
    TypeError
        `n` is no integer.
    ValueError
        `n` is out of range.

    See Also
    --------
    num_threads : the same for one thread and a while.

    Notes
    -----
    Before the first call of this function the number is that of the environment variable
    ``REMAPND_NUM_THREADS``, else of the processors that the process may run on, or as many as its control
    groups (a container's limit) give it time for.
    """
    _core.set_num_threads(_thread_count("set_num_threads", n))


def get_num_threads() -> int:
    """Return how many threads a call from this thread may use."""
    return _core.get_num_threads()


def num_threads(n: int, /) -> AbstractContextManager[None]:
    """Return a context manager within which calls from this thread may use `n` threads.

    Other Python threads are not affected; the number before is restored at the end.

    Parameters
    ----------
    n : int, in [1, 1024]
        The calling thread is one of them.

    Raises
    ------
    TypeError
        `n` is no integer.
    ValueError
        `n` is out of range.

    Examples
    --------
    >>> import remapnd
    >>> with remapnd.num_threads(1):
    ...     remapnd.get_num_threads()
    1
    """
    return _threads_here(_thread_count("num_threads", n))


@contextlib.contextmanager
def _threads_here(n: int) -> Iterator[None]:
    """Set the number of this thread and restore the one before."""
    before = _core.get_num_threads_here()
    _core.set_num_threads_here(n)
    try:
        yield
    finally:
        _core.set_num_threads_here(before)


def _thread_count(op: str, n: object) -> int:
    """Return a checked number of threads."""
    try:
        if isinstance(n, bool):
            raise TypeError
        count = operator.index(n)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{op}: `n` must be an integer, got {n!r}") from None
    if not 1 <= count <= _MAX_THREADS:
        raise ValueError(f"{op}: `n` must lie in [1, {_MAX_THREADS}], got {shown(count)}")
    return count


def apply_environment(environment: Mapping[str, str] | None = None) -> None:
    """Obey ``REMAPND_ISA`` and look at ``REMAPND_NUM_THREADS``; empty values count as unset.

    Parameters
    ----------
    environment : mapping of str to str, optional
        By default the environment of the process.

    Raises
    ------
    RuntimeError
        ``REMAPND_ISA`` names no level that can be used here: going on with another one would hide that a
        test or a comparison does not run what it claims to.

    Warns
    -----
    RuntimeWarning
        ``REMAPND_NUM_THREADS`` is no positive integer; the number of processors is used. It points at the
        line that imports the package.
    """
    if environment is None:
        environment = os.environ
    level = environment.get("REMAPND_ISA", "")
    if level and not _core.use_level(level):
        usable, built = ", ".join(_core.levels_usable()), ", ".join(_core.levels_built())
        got = word(level, _core.levels_usable())
        raise RuntimeError(
            f"REMAPND_ISA must be one of {usable} on this processor (built: {built}), got {got}"
        )
    threads = environment.get("REMAPND_NUM_THREADS", "")
    # The core reads the variable as strtol does, which takes "4x" as 4 and "x" as unset.
    if threads and not (threads.isascii() and threads.strip().isdigit() and threads.strip().strip("0")):
        processors = _core.usable_processors()
        _core.set_num_threads(processors)
        warnings.warn(
            f"REMAPND_NUM_THREADS must be an integer of at least 1, got {threads!r}; using {processors}",
            RuntimeWarning,
            stacklevel=3,  # this function, `__init__`, the import
        )
