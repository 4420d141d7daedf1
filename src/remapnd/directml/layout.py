"""Buffers seen as the tensors that descriptions say lie in them.

Uses `tensor`, `read`; used by `run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from remapnd.directml import read
from remapnd.directml.tensor import (
    BufferTensorDesc,
    calc_buffer_tensor_size,
    element_extent,
    packed_strides,
    read_tensor,
)

_MINIMUM_ALIGNMENT = 16


@dataclass(frozen=True)
class TensorLayout:
    """Where the elements of a tensor lie in a buffer; made by `of`.

    Parameters
    ----------
    dtype : dtype
    sizes : tuple of int, shape (n,)
    strides : tuple of int, shape (n,), in bytes
        0 for a dimension of size 1, in which nothing moves.
    packed : bool
        Whether the elements lie in row-major order without gaps.
    least_bytes : int
        What a buffer must have: TotalTensorSizeInBytes if that is given, and at least all from the first to
        the last element.
    total_bytes : int
        What a new buffer has, and a binding must have: `least_bytes`, and at least the calculated size, a
        multiple of 4.
    alignment : int
        What the offset of a binding is a multiple of: 16 (DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT), or
        GuaranteedBaseOffsetAlignment if that is more.
    """

    dtype: np.dtype[Any]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    packed: bool
    least_bytes: int
    total_bytes: int
    alignment: int

    @classmethod
    def of(cls, desc: BufferTensorDesc) -> TensorLayout:
        """Read a description.

        Raises
        ------
        ValueError
            `desc` is invalid by itself, or has a data type that NumPy does not have; all faults are listed.
        """
        facts = read_tensor(desc)
        if facts.problems or facts.data_type is None or facts.sizes is None or facts.strides is None:
            faults = "; ".join(f"`{p.field}` {p.rule}, got {read.shown(p.value)}" for p in facts.problems)
            raise ValueError(
                f"TensorLayout: `desc` must be valid, but {faults or 'has more than 8 dimensions'}"
            )
        dtype, sizes, strides = facts.data_type.dtype, facts.sizes, facts.strides
        moving = list(zip(sizes, strides, packed_strides(sizes), strict=True))
        least = max(element_extent(sizes, strides) * dtype.itemsize, facts.total_bytes or 0)
        return cls(
            dtype,
            sizes,
            tuple(s * dtype.itemsize if n > 1 else 0 for n, s, _ in moving),
            all(n == 1 or s == p for n, s, p in moving),
            least,
            max(least, calc_buffer_tensor_size(facts.data_type, sizes, strides)),
            max(_MINIMUM_ALIGNMENT, facts.alignment or 0),
        )

    def binding_fault(self, name: str, offset: int, size: int) -> tuple[str, str] | None:
        """Return what a binding of tensor `name` must do, and what this one does; None if that is right."""
        if offset % self.alignment:
            return f"begin at a multiple of {self.alignment} bytes", f"byte {offset}"
        if size < self.total_bytes:
            return f"give {name} at least {self.total_bytes} bytes", f"{max(size, 0)} bytes"
        return None

    def view(self, name: str, buffer: Any, *, writable: bool = False) -> npt.NDArray[Any]:
        """View a buffer as this tensor. No copy is made, and no element lies outside the buffer.

        Parameters
        ----------
        name : str
            What to call the buffer in errors.
        buffer : ndarray or bytes-like
            An array of the tensor's dtype and (up to leading ones) of its shape is the tensor itself, if the
            layout is packed, and may have any strides. All else is memory: an array in C order, of the
            tensor's dtype or of uint8, or any object with the buffer protocol.
        writable : bool
            Whether the view will be written.

        Returns
        -------
        ndarray, shape `sizes`, dtype `dtype`; a view

        Raises
        ------
        TypeError
            `buffer` is neither; or an array of another dtype.
        ValueError
            `buffer` is shorter than `least_bytes`, read-only, scattered in memory, or an array of several
            dimensions that are not those of the packed tensor.
        """
        if isinstance(buffer, np.ndarray):
            plain = self.packed and buffer.shape == self.sizes and buffer.dtype == self.dtype
            if plain and (buffer.flags.writeable or not writable):
                return buffer
            if buffer.dtype not in (self.dtype, np.uint8):
                raise TypeError(
                    f"{name} must be an array of {self.dtype} or of bytes (uint8), got {buffer.dtype}"
                )
            if writable and not buffer.flags.writeable:
                raise _read_only(name, "array")
            rest = _without_leading_ones(self.sizes)
            if self.packed and buffer.dtype == self.dtype and _without_leading_ones(buffer.shape) == rest:
                # Indexing, unlike reshape, never copies.
                return buffer[(0,) * (buffer.ndim - len(rest)) + (...,)][
                    (None,) * (len(self.sizes) - len(rest))
                ]
            if self.packed and buffer.ndim > 1:
                shape = f"the shape {self.sizes} (leading ones aside)"
                raise ValueError(f"{name} must have one dimension or {shape}, got {buffer.shape}")
        memory = flat_memory(name, buffer, writable=writable)
        if memory.nbytes < self.least_bytes:
            raise ValueError(f"{name} must be at least {self.least_bytes} bytes long, got {memory.nbytes}")
        return np.ndarray(self.sizes, self.dtype, buffer=memory, strides=self.strides)


def flat_memory(name: str, buffer: Any, *, writable: bool = False) -> memoryview:
    """Return the bytes of an array or bytes-like object as they lie; errors as in `TensorLayout.view`."""
    if isinstance(buffer, np.ndarray):
        contiguous, strides, read_only = buffer.flags.c_contiguous, buffer.strides, not buffer.flags.writeable
        kind = "array"
    else:
        try:
            given = memoryview(buffer)
        except TypeError:
            got = type(buffer).__name__
            raise TypeError(f"{name} must be an array or a bytes-like object, got {got}") from None
        contiguous, strides, read_only = given.c_contiguous, given.strides or (), given.readonly
        kind = type(buffer).__name__
    if not contiguous:
        raise ValueError(f"{name} must be C-contiguous to serve as a buffer, got strides {strides} bytes")
    if writable and read_only:
        raise _read_only(name, kind)
    if isinstance(buffer, np.ndarray):
        return buffer.reshape(-1).view(np.uint8).data
    return given.cast("B") if given.nbytes else memoryview(bytearray())


def _read_only(name: str, kind: str) -> ValueError:
    return ValueError(f"{name} must be writable, got a read-only {kind}")


def _without_leading_ones(shape: Sequence[int]) -> tuple[int, ...]:
    """Drop the ones in front."""
    rest = tuple(shape)
    while rest and rest[0] == 1:
        rest = rest[1:]
    return rest
