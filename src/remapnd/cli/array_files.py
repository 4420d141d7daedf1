"""Arrays from .npy and .npz files, mapped where that can be, and results written to them part by part.

Used by `cli.resize`.
"""

from __future__ import annotations

import mmap
import warnings
import zipfile
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

__all__ = ["DEFAULT_KEY", "SUFFIXES", "load", "release", "write_array", "write_parts"]

SUFFIXES: Final = (".npy", ".npz")
DEFAULT_KEY: Final = "arr_0"  # what NumPy names an array that got no name

_MAGIC: Final = {".npy": b"\x93NUMPY", ".npz": b"PK"}


def load(path: str, kind: str, key: str | None) -> tuple[npt.NDArray[Any], str]:
    """Map the array of an .npy file, or read one of an .npz file.

    Parameters
    ----------
    path : str
    kind : ".npy" or ".npz"
    key : str or None
        Name of the array in an .npz file; may be None if there is only one.

    Returns
    -------
    (ndarray, str)
        The array and its name.

    Raises
    ------
    OSError
        The file cannot be opened.
    ValueError
        It is damaged, no file of this kind, holds Python objects, or has no array of that name.
    """
    with open(path, "rb") as file:
        if not file.read(6).startswith(_MAGIC[kind]):  # np.load would take it for a pickle
            raise ValueError(f"this is no {kind} file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy evaluates a damaged header, too
            return _from_npz(path, key) if kind == ".npz" else (_mapped(path), DEFAULT_KEY)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # NumPy's header parser lets many kinds out, all meaning the same
        raise ValueError(str(error)) from None


def _mapped(path: str) -> npt.NDArray[Any]:
    """Map an .npy file."""
    try:
        return np.asanyarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (ArithmeticError, TypeError, ValueError):  # an empty array cannot be mapped; of a damaged
        return np.asanyarray(np.load(path, allow_pickle=False))  # file the reader has more to say


def release(array: npt.NDArray[Any]) -> None:
    """Give the pages of a mapped file back, which count as memory of this process once they are read.

    They stay in the cache of the system, and are there again when they are read again.
    """
    map = array.base
    if isinstance(map, mmap.mmap) and hasattr(map, "madvise"):  # not on Windows
        map.madvise(mmap.MADV_DONTNEED)


def _from_npz(path: str, key: str | None) -> tuple[npt.NDArray[Any], str]:
    """Read an array of an .npz file."""
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
        names = ", ".join(archive.files)
        if key is None and len(archive.files) == 1:
            key = archive.files[0]
        if key is None:
            raise ValueError(f"--key must say which array is meant, one of: {names or 'there is none'}")
        if key not in archive.files:
            raise ValueError(f"--key must be one of {names or 'none'}, got {key!r}")
        array = archive[key]
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{key} is no array")
        return array, key


def write_array(file: BinaryIO, kind: str, key: str, array: npt.NDArray[Any]) -> None:
    """Write a file that holds one array; .npz compressed."""
    if kind == ".npy":
        np.lib.format.write_array(file, array, allow_pickle=False)
        return
    with zipfile.ZipFile(file, "w") as archive:
        member = zipfile.ZipInfo(f"{key}.npy")  # of a fixed date, so that equal results are equal files
        member.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(member, "w", force_zip64=True) as part:
            np.lib.format.write_array(part, array, allow_pickle=False)


def write_parts(
    file: BinaryIO,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    parts: Iterable[npt.NDArray[Any]],
    done: Callable[[int], object],
) -> None:
    """Write an .npy file from consecutive parts of a C-contiguous array; `done` is told of the bytes written.

    Not into a mapped file: that ends the process where the disk is full.
    """
    descr = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    for part in parts:
        file.write(part.reshape(-1).view(np.uint8).data)
        done(part.nbytes)
