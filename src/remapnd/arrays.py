"""Arrays in and out: NumPy, DLPack and `__array__` in; the kind that came in out; `out=`.

No array library but NumPy is imported: others are met through their own objects.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import checks
from .errors import must

# Device types of DLPack whose memory the CPU can read: CPU, CUDA host, ROCm host, CUDA managed.
_CPU_DEVICES = frozenset({1, 3, 11, 13})
_DEVICE_NAMES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI", 15: "WebGPU"}

_WHOLE = 2**53  # up to here every integer is a float64

# Steps that np.shares_memory may take before an overlap counts as one (some milliseconds).
_OVERLAP_WORK: Any = 100_000  # any int, though NumPy's stubs know only -1 and 0

# What to give in the place of a masked array that is read, or written.
_FILLED, DATA = "`.filled(value)`, or `.data` to ignore it", "its `.data`"


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype, with its byte order where that is not the native one."""
    return str(dtype) if dtype.isnative else dtype.str


def as_array(x: object, op: str, name: str) -> npt.NDArray[Any]:
    """Return `x` as a NumPy array of a dtype that can be moved as bytes; a view where `x` has memory."""
    a = x if type(x) is np.ndarray else _import(x, op, name)
    if a.dtype.hasobject:
        checks.movable_dtype(op, name, a.dtype)
    return a


def as_indices(x: object, op: str) -> npt.NDArray[Any]:
    """Return `x` as an integer array in native byte order (a copy for the other byte order); [] is int64."""
    a = x if type(x) is np.ndarray else _import(x, op, "indices")
    kind = a.dtype.kind
    if kind not in "iu":
        if kind == "f" and a.size == 0 and isinstance(x, (list, tuple)):
            return a.astype(np.int64)
        checks.index_dtype(op, a.dtype)
    return a if a.dtype.isnative else a.astype(a.dtype.newbyteorder("="))


def as_coordinates(x: object, op: str, name: str) -> npt.NDArray[Any]:
    """Return `x` as an array, integers as the equal float64: what a list of whole numbers stands for."""
    a = as_array(x, op, name)
    if a.dtype.kind not in "iu":
        return a
    inexact = (a > _WHOLE) | (a < -_WHOLE) if a.dtype.itemsize == 8 else np.False_
    if inexact.any():
        at = tuple(int(k) for k in np.argwhere(inexact)[0])
        rule = f"have integers of at most {_WHOLE} in magnitude (larger ones need not be a float64)"
        raise ValueError(must(op, name, rule, int(a[at]), at))
    return a.astype(np.float64)


def _import(x: object, op: str, name: str) -> npt.NDArray[Any]:
    """Return anything array-like as an exact np.ndarray."""
    refuse_masked(x, op, name)
    if isinstance(x, (np.ndarray, np.generic)) or not hasattr(x, "__dlpack__"):
        try:
            a = np.asarray(x)
        except ValueError as error:  # a ragged list
            raise ValueError(must(op, name, "be an array", f"{type(x).__name__}: {error}")) from None
        if a.ndim == 0 and a.dtype.kind in "OUS" and not isinstance(x, (np.ndarray, np.generic)):
            raise TypeError(must(op, name, "be an array", _kind(x)))
        return a
    check_device(x, op, name)
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        if not hasattr(x, "__array__"):
            raise TypeError(
                must(op, name, "be readable by DLPack or __array__", f"{type(x).__name__}: {error}")
            ) from None
    try:
        return np.asarray(x)
    except (RuntimeError, TypeError, ValueError) as error:
        raise TypeError(
            must(op, name, "be readable by DLPack or __array__", f"{type(x).__name__}: {error}")
        ) from None


def _kind(x: object) -> str:
    """Name what is no array; of a text, such as the name of a file, also its begin."""
    return f"str {x[:40]!r}" if isinstance(x, str) else type(x).__name__


def refuse_masked(x: object, op: str, name: str, instead: str = _FILLED) -> None:
    """Refuse a masked array, or a list of some: masks would be lost, and what is masked used."""
    masked = sys.modules.get("numpy.ma")
    if masked is None:
        return
    parts: Iterable[object] = (x,)
    if isinstance(x, (list, tuple)) and x and not isinstance(x[0], (int, float, complex)):
        parts = x  # those of numbers, which may be long, have no arrays in them
    for part in parts:
        if isinstance(part, masked.MaskedArray):
            rule = f"not be a masked array, whose mask would be lost (give {instead})"
            raise TypeError(must(op, name, rule, type(part).__name__))


def check_device(x: object, op: str, name: str) -> None:
    """Refuse an array in memory that the CPU cannot read."""
    if not hasattr(x, "__dlpack_device__"):
        return
    device = int(x.__dlpack_device__()[0])
    if device not in _CPU_DEVICES:
        kind = _DEVICE_NAMES.get(device, "unknown")
        raise TypeError(must(op, name, "be in CPU memory", f"DLPack device type {device} ({kind})"))


def like(x: object, result: npt.NDArray[Any]) -> Any:
    """Return `result` as the kind of array that `x` is, without a copy; NumPy where that kind cannot."""
    if isinstance(x, (np.ndarray, np.generic)) or not hasattr(x, "__dlpack__"):
        return result
    if hasattr(x, "__array_namespace__"):
        namespace = x.__array_namespace__()
    else:
        namespace = sys.modules.get(type(x).__module__.partition(".")[0])
    from_dlpack = getattr(namespace, "from_dlpack", None)
    if from_dlpack is None:
        return result
    try:
        return from_dlpack(result)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return result


def empty(op: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return a new array for a result."""
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError):
        raise ValueError(must(op, "out", "fit in memory", checks.result_size(shape, dtype))) from None


def check_out(
    op: str, out: object, shape: tuple[int, ...], dtype: np.dtype[Any], inputs: Iterable[npt.NDArray[Any]]
) -> npt.NDArray[Any]:
    """Return the writable NumPy view of `out` after checking that the result can be written there."""
    a = out if type(out) is np.ndarray else _view_of_out(op, out)
    if a.dtype != dtype:
        raise TypeError(must(op, "out", f"have dtype {dtype_name(dtype)}", dtype_name(a.dtype)))
    if a.shape != shape:
        raise ValueError(must(op, "out", f"have shape {shape}", a.shape))
    if not a.flags.writeable:
        raise ValueError(must(op, "out", "be writable", "a read-only array"))
    if not a.flags.c_contiguous and _overlaps_itself(a):
        raise ValueError(
            must(op, "out", "have an address of its own for each element", f"strides {a.strides}")
        )
    for x in inputs:
        if _overlap(a, x):
            raise ValueError(must(op, "out", "not overlap an input", "an array that does"))
    return a


def _view_of_out(op: str, out: object) -> npt.NDArray[Any]:
    """Return the plain NumPy view of an array of another library or a subclass."""
    refuse_masked(out, op, "out", DATA)
    if isinstance(out, np.ndarray):
        return np.asarray(out)
    if not hasattr(out, "__dlpack__"):
        raise TypeError(must(op, "out", "be an array that can be written", type(out).__name__))
    a = _import(out, op, "out")
    if not a.flags.writeable and hasattr(out, "__array__"):
        # Older DLPack cannot say that its memory may be written; __array__ can, if it is the same memory.
        same = np.asarray(out)
        if np.may_share_memory(a, same):
            return same
    return a


def _overlaps_itself(a: npt.NDArray[Any]) -> bool:
    """Whether two elements may share an address; no, if each stride exceeds what smaller ones reach."""
    if a.size == 0:
        return False
    reach = a.itemsize
    for stride, n in sorted((abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach += stride * (n - 1)
    return False


def _overlap(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Whether two arrays share an element; True where that is too hard to tell."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=_OVERLAP_WORK)
    except Exception as error:
        if type(error).__name__ != "TooHardError":  # it has lived in different modules
            raise
        return True
