"""SynetGatherElements of the Simd library, on checked memory.

Uses `gather` (`take_along_axis`). Names, argument order and enum values are Simd's
(``SimdSynet.hpp``, ``SimdLib.h``), so that a C++ program can be carried over line by line.
"""

# ruff: noqa: N802, N803, PLR0917 - names and order are Simd's.
from __future__ import annotations

import enum
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .arrays import DATA, refuse_masked
from .errors import shown
from .gather import take_along_axis

__all__ = [
    "SimdFalse",
    "SimdTensorData8i",
    "SimdTensorData8u",
    "SimdTensorData16b",
    "SimdTensorData16f",
    "SimdTensorData32f",
    "SimdTensorData32i",
    "SimdTensorData64i",
    "SimdTensorData64u",
    "SimdTensorDataBool",
    "SimdTensorDataType",
    "SimdTensorDataUnknown",
    "SimdTrue",
    "SynetGatherElements",
]


def __dir__() -> list[str]:
    """List what is public."""
    return __all__


class SimdTensorDataType(enum.IntEnum):
    """Element types of Simd's tensors, with the values of ``SimdLib.h``."""

    SimdTensorDataUnknown = -1
    SimdTensorData32f = 0
    SimdTensorData32i = 1
    SimdTensorData8i = 2
    SimdTensorData8u = 3
    SimdTensorData64i = 4
    SimdTensorData64u = 5
    SimdTensorDataBool = 6
    SimdTensorData16b = 7
    SimdTensorData16f = 8


SimdTensorDataUnknown = SimdTensorDataType.SimdTensorDataUnknown
SimdTensorData32f = SimdTensorDataType.SimdTensorData32f
SimdTensorData32i = SimdTensorDataType.SimdTensorData32i
SimdTensorData8i = SimdTensorDataType.SimdTensorData8i
SimdTensorData8u = SimdTensorDataType.SimdTensorData8u
SimdTensorData64i = SimdTensorDataType.SimdTensorData64i
SimdTensorData64u = SimdTensorDataType.SimdTensorData64u
SimdTensorDataBool = SimdTensorDataType.SimdTensorDataBool
SimdTensorData16b = SimdTensorDataType.SimdTensorData16b
SimdTensorData16f = SimdTensorDataType.SimdTensorData16f
SimdFalse = False
SimdTrue = True

# What Simd's Init accepts. NumPy has no bfloat16: 16b is handed out as its bits.
_DATA_DTYPES: dict[int, np.dtype[Any]] = {
    SimdTensorData32f: np.dtype(np.float32),
    SimdTensorData16b: np.dtype(np.uint16),
    SimdTensorData8u: np.dtype(np.uint8),
}
_INDEX_DTYPES: dict[int, np.dtype[Any]] = {
    SimdTensorData32i: np.dtype(np.int32),
    SimdTensorData64i: np.dtype(np.int64),
}
_MAX_BYTES = 2**63 - 1
_MAX_COUNT = 2**64 - 1  # of size_t
_OP = "SynetGatherElements"

_Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class _Context:
    """What Init was told; compared as a whole to see whether a new Init changes anything."""

    data_type: int
    index_type: int
    index_const: bool
    index_users: int
    outer: tuple[int, ...]
    src_count: int
    inner: int
    idx_count: int

    @property
    def rows(self) -> int:
        return math.prod(self.outer)

    @property
    def src_shape(self) -> tuple[int, int, int]:
        return self.rows, self.src_count, self.inner

    @property
    def idx_shape(self) -> tuple[int, int, int]:
        return self.rows, self.idx_count, self.inner


@dataclass(frozen=True)
class _ConstantIndex:
    """A private copy of constant indices: one block of them, and how often it repeats."""

    block: _Array  # shape (rows / batch, idx_count, inner)
    batch: int
    repeated_axes: int

    def explain(self, context: _Context) -> list[str]:
        """Say what was found."""
        size = self.block.size
        if size == 0:
            return ["indices: constant, set; there are none"]
        negative = int(np.count_nonzero(self.block < 0))
        count_back = f"{negative} of {size} negative, counted from the end" if negative else "none negative"
        found = [f"indices: constant, set; values in [{self.block.min()}, {self.block.max()}], {count_back}"]
        if self.batch > 1:
            repeated = list(context.outer[: self.repeated_axes])
            found.append(
                f"repeats: the indices are the same all over outer{repeated}, so one block of "
                f"{self.block.nbytes} bytes is held and used {self.batch} times"
            )
        else:
            found.append(f"repeats: none over the leading dimensions; {self.block.nbytes} bytes are held")
        return found


class SynetGatherElements:
    """Gather along one dimension as Simd's ``SynetGatherElements`` does (ONNX GatherElements).

    ``dst[b, c, i] = src[b, idx[b, c, i], i]`` for b in [0, product of `outer`), c in [0, `idxCount`), i in
    [0, `inner`). A negative index counts from the end of the gathered dimension, once.

    Where Simd reads memory that it was not given, or misreads it, this class does not:

    * an index outside [-`srcCount`, `srcCount`) raises IndexError; `dst` may be partly written by then;
    * a buffer of another size than the shapes ask for raises ValueError;
    * zero counts are fine and move nothing; shapes too large to address raise ValueError in `Init`;
    * `srcCount` may exceed the range of the index type;
    * `SetIndex` copies the indices, so that changing the array afterwards changes nothing;
    * `Init` takes every one of its arguments into account, not the shape alone.

    An object may be shared between threads as long as none of them calls `Init`, `SetIndex` or `Clear`.

    Notes
    -----
    Source: the class reference of ``Simd::SynetGatherElements`` and the C functions that it wraps,
    ``SimdSynetGatherElementsInit`` and its companions (Simd 7.0.160).

    Examples
    --------
    >>> import numpy as np
    >>> from remapnd.simd import SimdTensorData32f, SimdTensorData32i, SynetGatherElements
    >>> gather = SynetGatherElements()
    >>> gather.Init(SimdTensorData32f, SimdTensorData32i, False, 1, (2,), 4, 1, 3)
    >>> gather.Enable()
    True
    >>> src = np.arange(8, dtype=np.float32)
    >>> gather.Forward(src, np.array([0, 2, 1, 3, 1, 0], np.int32)).ravel()
    array([0., 2., 1., 7., 5., 4.], dtype=float32)
    """

    def __init__(self) -> None:
        self._context: _Context | None = None
        self._constant: _ConstantIndex | None = None

    def __repr__(self) -> str:
        """Return the arguments of `Init` in its order."""
        c = self._context
        if c is None:
            return "<SynetGatherElements without a context>"
        types = f"{SimdTensorDataType(c.data_type).name}, {SimdTensorDataType(c.index_type).name}"
        return (
            f"<SynetGatherElements({types}, {c.index_const}, {c.index_users}, {c.outer}, "
            f"{c.src_count}, {c.inner}, {c.idx_count})>"
        )

    def Init(
        self,
        dataType: int,
        indexType: int,
        indexConst: bool,
        indexUsers: int,
        outer: Sequence[int],
        srcCount: int,
        inner: int,
        idxCount: int,
    ) -> None:
        """Make the context, or make it anew.

        If the arguments equal those of the present context, nothing happens and constant indices stay set; if
        any of them differs, the context is new and has no constant indices. As in Simd, a type that is not
        supported is no error: there is no context afterwards, and `Enable` says False.

        Parameters
        ----------
        dataType : SimdTensorDataType or int
            ``SimdTensorData32f``, ``SimdTensorData16b`` or ``SimdTensorData8u``. Only its width matters: bits
            are moved, so float16 may go as 16b and int32 as 32f.
        indexType : SimdTensorDataType or int
            ``SimdTensorData32i`` or ``SimdTensorData64i``.
        indexConst : bool
            Whether the indices are set once by `SetIndex`.
        indexUsers : int, >= 0
            How many consumers share the constant indices. A hint; it changes no result.
        outer : sequence of int, each >= 0
            The dimensions before the gathered one; may be empty.
        srcCount, inner, idxCount : int, >= 0
            The length of the gathered dimension in `src`; the product of the dimensions behind it; the length
            of the gathered dimension in `idx` and `dst`.

        Raises
        ------
        TypeError
            An argument is no integer (`outer`: no sequence of integers; `indexConst`: no bool).
        ValueError
            A count is negative or no size_t, or a tensor would take more than 2**63 - 1 bytes. The object is
            unchanged.
        """
        data_type = _integer("dataType", dataType)
        index_type = _integer("indexType", indexType)
        if not isinstance(indexConst, (bool, np.bool_, int, np.integer)) or indexConst not in (0, 1):
            raise TypeError(f"{_OP}.Init: `indexConst` must be a bool, got {shown(indexConst, repr)}")
        axes = getattr(outer, "ndim", 1)  # of an array or a memoryview
        if isinstance(outer, (str, bytes)) or not isinstance(outer, (Sequence, np.ndarray)) or axes != 1:
            raise TypeError(f"{_OP}.Init: `outer` must be a sequence of integers, got {type(outer).__name__}")
        context = _Context(
            data_type,
            index_type,
            bool(indexConst),
            _count("indexUsers", indexUsers),
            tuple(_count(f"outer[{i}]", n) for i, n in enumerate(outer)),
            _count("srcCount", srcCount),
            _count("inner", inner),
            _count("idxCount", idxCount),
        )
        if data_type not in _DATA_DTYPES or index_type not in _INDEX_DTYPES:
            self.Clear()
            return
        _check_bytes("src", (*context.outer, context.src_count, context.inner), _DATA_DTYPES[data_type])
        result = (*context.outer, context.idx_count, context.inner)
        _check_bytes("dst", result, _DATA_DTYPES[data_type])
        _check_bytes("idx", result, _INDEX_DTYPES[index_type])
        if context != self._context:
            self._context = context
            self._constant = None

    def Enable(self) -> bool:
        """Return whether there is a context, so that `Forward` may be called."""
        return self._context is not None

    def Clear(self) -> None:
        """Drop the context and the constant indices."""
        self._context = None
        self._constant = None

    def InternalBufferSize(self) -> int:
        """Return how many bytes of constant indices are held; 0 without any."""
        return 0 if self._constant is None else self._constant.block.nbytes

    def SetIndex(self, idx: object) -> None:
        """Copy and analyse constant indices; no effect if `Init` was called with `indexConst` False.

        The analysis finds the range of the indices and, as Simd does, the leading dimensions of `outer` over
        which they repeat: then one block is held and broadcast. `explain` says what was found.

        Parameters
        ----------
        idx : ndarray or C-contiguous buffer, shape (*outer, idxCount, inner) or any of that many bytes
            Items of `indexType`, or raw bytes.

        Raises
        ------
        TypeError
            `idx` is no buffer, or has items of another type.
        ValueError
            `idx` has another size or is not C-contiguous.
        IndexError
            An index is outside [-srcCount, srcCount). Indices set before stay set.
        RuntimeError
            There is no context.
        """
        context = self._require_context("SetIndex")
        if not context.index_const:
            return
        indices = _view("SetIndex", "idx", idx, context.idx_shape, index=_INDEX_DTYPES[context.index_type])
        _check_range("SetIndex", indices, context)
        repeated_axes = _repeated_axes(indices, context.outer) if indices.size else 0
        batch = math.prod(context.outer[:repeated_axes])
        self._constant = _ConstantIndex(indices[: context.rows // batch].copy(), batch, repeated_axes)

    def Forward(self, src: object, idx: object = None, dst: object = None) -> object:
        """Gather `src` by `idx` into `dst`.

        Parameters
        ----------
        src : ndarray or C-contiguous buffer, shape (*outer, srcCount, inner) or any of that many bytes
            Items as wide as `dataType`, or raw bytes.
        idx : ndarray or C-contiguous buffer, shape (*outer, idxCount, inner) or any of that size, or None
            Items of `indexType`, or raw bytes. None takes the indices given to `SetIndex`. Where those are
            set and `idx` is given as well, it must equal them; None spares that comparison.
        dst : writable ndarray or C-contiguous buffer, shape (*outer, idxCount, inner), or None
            Must not overlap `src` or `idx`. None makes a new array.

        Returns
        -------
        `dst`, or a new ndarray of shape (*outer, idxCount, inner). Its dtype is that of `src` if that is an
        ndarray of items as wide as `dataType`, else float32 for 32f, uint16 (the bits) for 16b, uint8 for 8u.

        Raises
        ------
        TypeError
            An argument is no buffer, or has items of another width or type.
        ValueError
            An argument has another size, is not C-contiguous or overlaps `dst`; `dst` is read-only; `idx`
            differs from the constant indices; there are neither `idx` nor constant indices.
        IndexError
            An index is outside [-srcCount, srcCount). `dst` may be partly written.
        RuntimeError
            There is no context.
        """
        context = self._require_context("Forward")
        dtype = _DATA_DTYPES[context.data_type]
        source = _view("Forward", "src", src, context.src_shape, dtype.itemsize)
        indices = self._indices(context, idx)
        if dst is None:
            if isinstance(src, np.ndarray) and src.dtype.itemsize == dtype.itemsize:
                dtype = src.dtype
            dst = np.empty((*context.outer, context.idx_count, context.inner), dtype)
        target = _view("Forward", "dst", dst, context.idx_shape, dtype.itemsize, writable=True)
        for name, other in (("src", source), ("idx", indices)):
            if np.may_share_memory(target, other):  # exact, as all of them are contiguous
                raise ValueError(f"{_OP}.Forward: `dst` must not overlap `{name}`, got memory of both")
        batch = context.rows // len(indices) if len(indices) else 1
        try:
            take_along_axis(
                source.reshape(batch, len(indices), *source.shape[1:]),
                indices[np.newaxis],
                axis=2,
                out=target.reshape(batch, *indices.shape),
            )
        except IndexError:
            _check_range("Forward", indices, context)  # raises, unless another thread changed `idx` meanwhile
            raise
        return dst

    def explain(self) -> str:
        """Say in words what `Forward` does and what `SetIndex` found."""
        context = self._context
        if context is None:
            return f"{_OP}: no context; Init was not called, or with types that are not supported."
        item, index = _DATA_DTYPES[context.data_type].itemsize, _INDEX_DTYPES[context.index_type]
        result = (*context.outer, context.idx_count, context.inner)
        lines = [
            f"{_OP}: dst[b, c, i] = src[b, idx[b, c, i], i]",
            f"src {(*context.outer, context.src_count, context.inner)}, idx and dst {result}; "
            f"items of {item} byte{'s' if item > 1 else ''} are moved as they are, indices are {index}",
        ]
        constant = self._constant
        if not context.index_const:
            lines.append("indices: given to each Forward, range checked while they are used")
        elif constant is None:
            lines.append("indices: constant, not set yet; until SetIndex each Forward needs them")
        else:
            lines += constant.explain(context)
        return "\n".join(lines)

    def _require_context(self, method: str) -> _Context:
        """Return the context, or raise."""
        if self._context is None:
            raise RuntimeError(
                f"{_OP}.{method}: a context must exist, got none: call Init with dataType 32f, 16b or 8u and "
                "indexType 32i or 64i first (Enable() says whether it worked)"
            )
        return self._context

    def _indices(self, context: _Context, idx: object) -> _Array:
        """Return the indices that Forward uses: of all rows, or of the rows of the block that repeats."""
        constant = self._constant
        if idx is None:
            if constant is None:
                unless = "unless SetIndex was called" if context.index_const else "as indexConst is False"
                raise ValueError(f"{_OP}.Forward: `idx` must be given {unless}, got None")
            return constant.block
        indices = _view("Forward", "idx", idx, context.idx_shape, index=_INDEX_DTYPES[context.index_type])
        if constant is None:
            return indices
        equal = indices.reshape(constant.batch, *constant.block.shape) == constant.block
        if not equal.all():
            flat = int(np.argmin(equal))
            where = _position(flat, context)
            got, held = indices.reshape(-1)[flat], constant.block.reshape(-1)[flat % constant.block.size]
            raise ValueError(
                f"{_OP}.Forward: `idx` must equal the indices given to SetIndex ({held} at {where}), "
                f"got {got} at {where}"
            )
        return constant.block


def _integer(name: str, value: object) -> int:
    """Return an argument of Init as an int."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{_OP}.Init: `{name}` must be an integer, got {value}")
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{_OP}.Init: `{name}` must be an integer, got {value!r}") from None


def _count(name: str, value: object) -> int:
    """Return an argument of Init as an int that is not negative."""
    n = _integer(name, value)
    if n < 0:
        raise ValueError(f"{_OP}.Init: `{name}` must be at least 0, got {shown(n)}")
    if n > _MAX_COUNT:
        raise ValueError(f"{_OP}.Init: `{name}` must be at most {_MAX_COUNT}, got {shown(n)}")
    return n


def _check_bytes(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise if an array of `shape` cannot be addressed; NumPy leaves zeros out of that product, so do we."""
    n = math.prod(size or 1 for size in shape) * dtype.itemsize
    if n > _MAX_BYTES:
        raise ValueError(f"{_OP}.Init: `{name}` must take at most {_MAX_BYTES} bytes, got {n} for {shape}")


def _view(
    method: str,
    name: str,
    buffer: object,
    shape: tuple[int, int, int],
    width: int = 0,
    *,
    index: np.dtype[Any] | None = None,
    writable: bool = False,
) -> _Array:
    """Return a checked buffer as an array of `shape`: unsigned items of `width` bytes, or dtype `index`."""
    op = f"{_OP}.{method}"
    dtype = index or np.dtype(f"u{width}")
    if writable:
        refuse_masked(buffer, op, name, DATA)
    else:
        refuse_masked(buffer, op, name)
    try:
        array = np.asarray(buffer if isinstance(buffer, np.ndarray) else memoryview(buffer))  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"{op}: `{name}` must be an ndarray or a buffer, got {type(buffer).__name__}"
        ) from None
    raw = array.dtype in (np.dtype(np.uint8), np.dtype("S1"))
    if index is None:
        if array.dtype.hasobject or (array.itemsize != dtype.itemsize and not raw):
            raise TypeError(
                f"{op}: `{name}` must have items of {width} bytes, or raw bytes, got {array.dtype}"
            )
    elif array.dtype != index and not raw:
        raise TypeError(f"{op}: `{name}` must have items of {index}, or raw bytes, got {array.dtype}")
    nbytes = math.prod(shape) * dtype.itemsize
    if array.nbytes != nbytes:
        raise ValueError(f"{op}: `{name}` must have {nbytes} bytes for {shape}, got {array.nbytes}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{op}: `{name}` must be C-contiguous, got strides {array.strides}")
    if writable and not array.flags.writeable:
        raise ValueError(f"{op}: `{name}` must be writable, got a read-only {type(buffer).__name__}")
    return array.reshape(-1).view(dtype).reshape(shape)


def _check_range(method: str, indices: _Array, context: _Context) -> None:
    """Raise for the first index outside [-src_count, src_count)."""
    n = context.src_count
    if indices.size == 0 or (indices.min() >= -n and indices.max() < n):
        return
    flat = int(np.argmax((indices < -n) | (indices >= n)))
    got, where = indices.reshape(-1)[flat], _position(flat, context)
    raise IndexError(f"{_OP}.{method}: `idx` must lie in [{-n}, {n}), got {got} at {where}")


def _position(flat: int, context: _Context) -> tuple[int, ...]:
    """Return where item number `flat` of `idx` stands in (*outer, idxCount, inner)."""
    shape = (*context.outer, context.idx_count, context.inner)
    return tuple(int(i) for i in np.unravel_index(flat, shape))


def _repeated_axes(indices: _Array, outer: tuple[int, ...]) -> int:
    """Return over how many leading axes of `outer` (those of length 1 included) the indices repeat."""
    block = indices.reshape(-1)
    for axis, n in enumerate(outer):
        parts = block.reshape(n, -1)
        if not (parts[1:] == parts[0]).all():
            return axis
        block = parts[0]
    return len(outer)
