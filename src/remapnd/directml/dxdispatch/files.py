"""Files of a model: data read for resources, and files written whole or not at all.

Used by `resources` and `execute`.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt


def read_npy(path: Path) -> npt.NDArray[np.generic]:
    """Read a .npy file of numbers in C order as a flat array in native byte order.

    Raises
    ------
    ValueError
        The file is not one; the message is a rule, such as "be a .npy file in C order".
    """
    try:
        array = np.load(path, allow_pickle=False)
    except Exception as error:  # NumPy's header parser lets many kinds out, all meaning the same
        reason = " ".join(str(error).split())
        raise ValueError(f"be a whole .npy file of numbers ({reason})") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise ValueError("be a .npy file, not an archive of several")
    if array.dtype.kind not in "biuf" or array.itemsize > 8:
        raise ValueError(f"hold integers or floating-point numbers of up to 8 bytes, not {array.dtype}")
    if not array.flags.c_contiguous:
        raise ValueError("be a .npy file in C order, not Fortran order")
    flat = array.reshape(-1)
    flat = flat.view(np.uint8) if flat.dtype.kind == "b" else flat
    return flat.astype(flat.dtype.newbyteorder("="), copy=False)


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `target` that takes its place at the end, and vanishes on failure.

    Parent directories are made; a link is followed.

    Raises
    ------
    OSError
        `target` cannot be written, or is there and no regular file.
    """
    target = Path(os.path.realpath(target))
    if target.exists() and not target.is_file():
        raise FileExistsError(f"{target} is there and is no regular file")
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:64]}.", dir=target.parent)
    try:
        with open(descriptor, "wb") as file:
            yield file
        os.chmod(name, _mode_for(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _mode_for(target: Path) -> int:
    """Give the mode of the file that is replaced, or that of a new file (mkstemp makes private ones)."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
