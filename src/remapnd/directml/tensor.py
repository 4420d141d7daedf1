"""Buffer tensors: their description, their size in bytes, and what can be read of a description.

Uses `enums`, `read`; used by `operators`, `inspection` and `layout`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

from remapnd.directml import read
from remapnd.directml.enums import TensorDataType, TensorFlags

TENSOR_DIMENSION_COUNT_MAX = 5
"""DML_TENSOR_DIMENSION_COUNT_MAX, the limit below feature level 3_0."""
TENSOR_DIMENSION_COUNT_MAX1 = 8
"""DML_TENSOR_DIMENSION_COUNT_MAX1, the limit from feature level 3_0."""


@dataclass(frozen=True)
class BufferTensorDesc:
    """DML_BUFFER_TENSOR_DESC: how a tensor lies in a buffer.

    Making one checks nothing, so that a description can be checked as a whole (`check`).

    Parameters
    ----------
    DataType : TensorDataType, or its name or number
    Sizes : sequence of int, shape (n,), each in [1, 2**32 - 1]
        Outermost dimension first; data of a lower rank carries leading ones.
    Strides : sequence of int, shape (n,), each in [0, 2**32 - 1], in elements; or None for packed row-major
        0 repeats a dimension of an input; the stride of a dimension of size 1 does not matter.
    Flags : TensorFlags, or a name, a number or a sequence of names
    TotalTensorSizeInBytes : int, or None or 0 to calculate it
    GuaranteedBaseOffsetAlignment : int, bytes; 0 or a power of two, at least the size of an element
    DimensionCount : int, or None for the length of `Sizes`

    Notes
    -----
    Source: DML_BUFFER_TENSOR_DESC.
    """

    DataType: TensorDataType | str | int
    Sizes: Sequence[int]
    Strides: Sequence[int] | None = None
    Flags: TensorFlags | str | int | Sequence[str] = TensorFlags.NONE
    TotalTensorSizeInBytes: int | None = None
    GuaranteedBaseOffsetAlignment: int = 0
    DimensionCount: int | None = None

    @classmethod
    def of(cls, array: npt.NDArray[Any], dimension_count: int | None = None) -> BufferTensorDesc:
        """Describe a packed tensor with the shape and dtype of `array`.

        Parameters
        ----------
        array : ndarray, shape (*s,)
        dimension_count : int, at least ``array.ndim``; None for ``max(array.ndim, 1)``
            Leading ones are put in front up to this count.

        Returns
        -------
        BufferTensorDesc

        Raises
        ------
        TypeError, ValueError
            DirectML has no such data type; `dimension_count` is smaller than ``array.ndim``.
        """
        least = max(array.ndim, 1)
        count = least if dimension_count is None else dimension_count
        if count < least:
            raise ValueError(f"BufferTensorDesc.of: `dimension_count` must be at least {least}, got {count}")
        return cls(TensorDataType.from_dtype(array.dtype), (1,) * (count - array.ndim) + array.shape)


def packed_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the row-major strides of `sizes`, in elements: the product of all later sizes."""
    return tuple(math.prod(sizes[d + 1 :]) for d in range(len(sizes)))


def element_extent(sizes: Sequence[int], strides: Sequence[int] | None) -> int:
    """Return how many elements lie between the first and the last address, both included."""
    if strides is None:
        return math.prod(sizes)
    return sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) + 1


def calc_buffer_tensor_size(
    data_type: TensorDataType | str | int, sizes: Sequence[int], strides: Sequence[int] | None = None
) -> int:
    """Calculate the smallest legal TotalTensorSizeInBytes, as DMLCalcBufferTensorSize does.

    Parameters
    ----------
    data_type : TensorDataType, or its name or number
    sizes : sequence of int, shape (n,)
    strides : sequence of int, shape (n,), in elements; or None for packed

    Returns
    -------
    int
        Bytes from the first to the last element, rounded up to a multiple of 4; 0 for UNKNOWN.

    Raises
    ------
    TypeError, ValueError
        `data_type` is none; `strides` and `sizes` differ in length.

    Notes
    -----
    Source: DMLCalcBufferTensorSize as documented, and its 4-bit form in DirectMLX. [code] DirectMLX adds
    strided extents in 32 bits, so that they wrap around; the sum here is exact.
    """
    bits = TensorDataType.parse(data_type).bits
    if strides is not None and len(strides) != len(sizes):
        raise ValueError(
            f"calc_buffer_tensor_size: `strides` must have as many elements as `sizes` = {len(sizes)}, "
            f"got {len(strides)}"
        )
    return -(element_extent(sizes, strides) * bits // -32) * 4


class Problem(NamedTuple):
    """What is wrong with one field: its path within the tensor, the rule, the value found."""

    field: str
    rule: str
    value: object


class TensorFacts(NamedTuple):
    """What can be read of a BufferTensorDesc; None where a field holds nothing usable."""

    data_type: TensorDataType | None
    sizes: tuple[int, ...] | None
    strides: tuple[int, ...] | None  # packed strides when the field is None
    flags: TensorFlags | None
    dimension_count: int | None
    total_bytes: int | None
    alignment: int | None
    problems: list[Problem]


NO_FACTS = TensorFacts(None, None, None, None, None, None, None, [])


def _read_array(name: str, value: object, least: int, problems: list[Problem]) -> tuple[int, ...] | None:
    """Read Sizes or Strides: every element that is no UINT of at least `least` is a problem."""
    items = read.sequence(value)
    if items is None:
        problems.append(Problem(name, "must be a sequence of integers", value))
        return None
    numbers = [read.uint(item) for item in items]
    for d, number in enumerate(numbers):
        if number is None or number < least:
            problems.append(
                Problem(f"{name}[{d}]", f"must be an integer in [{least}, {read.UINT_MAX}]", items[d])
            )
    found = tuple(number for number in numbers if number is not None and number >= least)
    return found if len(found) == len(items) else None


def read_tensor(desc: BufferTensorDesc) -> TensorFacts:
    """Read a description whatever its fields hold, and list all that is wrong with it by itself.

    Notes
    -----
    Source: the field rules of DML_BUFFER_TENSOR_DESC. TotalTensorSizeInBytes may be any number from the
    calculated size upwards: the documentation asks for no multiple of 4, only its helper rounds up to one.
    """
    problems: list[Problem] = []
    data_type = read.parsed(TensorDataType.parse, desc.DataType)
    if data_type is None:
        problems.append(Problem("DataType", "must be a DML_TENSOR_DATA_TYPE", desc.DataType))
    flags = read.parsed(TensorFlags.parse, desc.Flags)
    if flags is None:
        problems.append(Problem("Flags", "must be a DML_TENSOR_FLAGS", desc.Flags))

    sizes = _read_array("Sizes", desc.Sizes, 1, problems)
    items = read.sequence(desc.Sizes)
    count = None if items is None else len(items)
    if desc.DimensionCount is not None:
        given = read.uint(desc.DimensionCount)
        if given is None or (count is not None and given != count):
            rule = "must be an integer" if count is None else f"must equal the number of Sizes = {count}"
            problems.append(Problem("DimensionCount", rule, desc.DimensionCount))
        count = given if given is not None else count

    strides = None if desc.Strides is None else _read_array("Strides", desc.Strides, 0, problems)
    given_strides = read.sequence(desc.Strides)
    if items is not None and given_strides is not None and len(given_strides) != len(items):
        rule = f"must have as many elements as Sizes = {len(items)}"
        problems.append(Problem("Strides", rule, desc.Strides))
        strides = None

    extent = None
    if sizes is not None and len(sizes) <= TENSOR_DIMENSION_COUNT_MAX1:
        if math.prod(sizes) > read.UINT_MAX:
            problems.append(Problem("Sizes", f"must have a product of at most {read.UINT_MAX}", sizes))
        elif desc.Strides is None:
            strides = packed_strides(sizes)
            extent = math.prod(sizes)
        elif strides is not None:
            extent = element_extent(sizes, strides)
            if extent > read.UINT_MAX:
                rule = f"must keep all elements within {read.UINT_MAX} elements of the first"
                problems.append(Problem("Strides", rule, strides))

    element_bytes = None if data_type is None else -(data_type.bits // -8)
    given_total = desc.TotalTensorSizeInBytes
    total = 0 if given_total is None else read.uint(given_total, read.UINT64_MAX)
    if total is None:
        problems.append(
            Problem("TotalTensorSizeInBytes", f"must be an integer in [0, {read.UINT64_MAX}]", given_total)
        )
    elif total and extent is not None and data_type is not None and sizes is not None:
        least = calc_buffer_tensor_size(data_type, sizes, strides)
        if total < least:
            problems.append(Problem("TotalTensorSizeInBytes", f"must be at least {least}, or 0", total))

    alignment = read.uint(desc.GuaranteedBaseOffsetAlignment)
    if alignment is None or alignment & (alignment - 1) or 0 < alignment < (element_bytes or 1):
        rule = f"must be 0 or a power of two, at least {element_bytes or 1}"
        problems.append(Problem("GuaranteedBaseOffsetAlignment", rule, desc.GuaranteedBaseOffsetAlignment))
    return TensorFacts(data_type, sizes, strides, flags, count, total, alignment, problems)
