"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from typing import BinaryIO

__all__ = ["replacing"]


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new binary file that takes the place of `path` if the block ends without an exception.

    Until then, and after an exception, what stood at `path` is as it was, and nothing is left behind. A
    symbolic link is followed, so that it goes on pointing where it did. A file that is replaced keeps its
    mode.

    Parameters
    ----------
    path : path
        Its directory must exist. It may name a regular file or nothing.

    Yields
    ------
    BinaryIO
        In the directory of `path`, so that the last step is a rename.

    Raises
    ------
    OSError
        The file cannot be written; `filename` of the exception is `path`.
    """
    target = os.path.realpath(path)
    existed = os.path.lexists(target)
    if existed:
        _check_replaceable(target, os.fspath(path))
    temporary = os.path.join(os.path.dirname(target), f".remapnd-{secrets.token_hex(8)}.tmp")
    try:
        # Not tempfile: its files can be read by their owner alone, and would stay so.
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if existed:
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except OSError as error:
        _remove(temporary)
        if error.filename in (temporary, None) and error.errno is not None:
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise
    except BaseException:
        _remove(temporary)
        raise


def _check_replaceable(target: str, path: str) -> None:
    """Raise unless `target` is a regular file that may be written."""
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not os.path.isfile(target):  # a rename would put a file where a device or a pipe was
        raise OSError(errno.EINVAL, "Not a regular file", path)
    if not os.access(target, os.W_OK):  # a rename asks the directory alone
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def _remove(path: str) -> None:
    """Remove a file that may not exist."""
    with contextlib.suppress(OSError):
        os.unlink(path)
