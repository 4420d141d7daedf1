"""The libraries that are compared: how each is found, and held to a number of threads.

A peer that is not installed, or that does not start, is absent; that is never an error.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = [
    "LIBRARIES",
    "AbsentError",
    "Library",
    "find",
    "limited_to",
    "load",
    "threads_in_use",
    "usable_cpus",
]


def _nothing(module: Any, threads: int) -> None:
    """Leave a library as it is: it has no threads, or reads the environment."""


def _torch(module: Any, threads: int) -> None:
    """Give each operator so many threads."""
    module.set_num_threads(threads)


@dataclass(frozen=True)
class Library:
    """A library of the comparison.

    Attributes
    ----------
    modules : modules that have to be there; the first is the library, and has ``__version__``
    set_threads : called with that module and the number of threads, after import
    slow : whether its calls or its compilation take so long that ``--quick`` leaves it out
    """

    modules: tuple[str, ...]
    set_threads: Callable[[Any, int], None] = _nothing
    slow: bool = False


# The order is that of the reports.
LIBRARIES = {
    "remapnd": Library(("remapnd",), lambda module, threads: module.set_num_threads(threads)),
    "numpy": Library(("numpy",)),
    "torch": Library(("torch",), _torch),
    "onnxruntime": Library(("onnxruntime", "onnx")),
    "cv2": Library(("cv2",), lambda module, threads: module.setNumThreads(threads)),
    "jax": Library(("jax",), lambda module, threads: module.config.update("jax_enable_x64", True), slow=True),
    "volresample": Library(("volresample",), lambda module, threads: module.set_num_threads(threads)),
    "kornia_rs": Library(("kornia_rs", "kornia_rs.imgproc")),
    "pillow": Library(("PIL", "PIL.Image")),
    "scipy": Library(("scipy", "scipy.ndimage"), slow=True),
    "skimage": Library(("skimage", "skimage.transform"), slow=True),
}

# What the libraries ask for the number of threads when they are imported.
_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
_threads = 1


class AbsentError(Exception):
    """A library is not here; the text says why."""


@functools.cache
def load(module: str) -> Any:
    """Import a module once.

    Raises
    ------
    AbsentError
        It is not installed, or fails when it is imported.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise AbsentError(str(error)) from None
    except Exception as error:  # a broken installation may raise anything
        raise AbsentError(f"{type(error).__name__}: {error}") from None


def find(names: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Import libraries and set their threads.

    Returns
    -------
    found : dict of name to version
    absent : dict of name to reason
    """
    found, absent = {}, {}
    for name in names:
        library = LIBRARIES[name]
        try:
            module, *_ = [load(module) for module in library.modules]
        except AbsentError as reason:
            absent[name] = str(reason)
            continue
        library.set_threads(module, threads_in_use())
        found[name] = str(module.__version__)
    return found, absent


def threads_in_use() -> int:
    """Return the number of threads that `limited_to` allows now."""
    return _threads


def usable_cpus() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def limited_to(threads: int) -> Iterator[None]:
    """Hold everything that is imported and started inside to a number of threads.

    Where the system has it, the process is bound to as many processors: no library can use more then, and
    JAX, which has no option for it, makes its pool of that size.
    """
    global _threads  # noqa: PLW0603
    before = _threads, {name: os.environ.get(name) for name in (*_VARIABLES, "JAX_PLATFORMS")}
    bound = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else None
    _threads = threads
    os.environ.update({name: str(threads) for name in _VARIABLES}, JAX_PLATFORMS="cpu")
    if bound is not None:
        os.sched_setaffinity(0, sorted(bound)[-threads:])
    try:
        yield
    finally:
        if bound is not None:
            os.sched_setaffinity(0, bound)
        _threads, variables = before
        for name, value in variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
