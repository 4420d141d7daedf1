"""Descriptors to bytes: a DML_OPERATOR_DESC and all that it points at, in one piece of memory.

Uses `structs`, `operators`, `tensor`, `read`, `violation`; used by `native`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from remapnd.directml import read
from remapnd.directml.abi.structs import (
    ENUMS,
    POINTER_SIZE,
    STRUCTS,
    Arch,
    Field,
    Kind,
    Struct,
    operator_struct,
    round_up,
)
from remapnd.directml.enums import TensorType
from remapnd.directml.operators import OPERATOR_DESCS, OperatorDesc, Size2D
from remapnd.directml.tensor import (
    TENSOR_DIMENSION_COUNT_MAX1,
    BufferTensorDesc,
    calc_buffer_tensor_size,
    read_tensor,
)
from remapnd.directml.violation import DirectMLError, Violation
from remapnd.errors import must

ALIGNMENT = 8
"""Bytes that the address of an image must be a multiple of."""

VALUE_CODES: Mapping[Kind, str] = {
    Kind.UINT: "I",
    Kind.UINT64: "Q",
    Kind.FLOAT: "f",
    Kind.BOOL: "i",
    Kind.ENUM: "I",
}
"""The codes of `struct` for fields that are no pointers."""
POINTER_CODES: Mapping[Arch, str] = {"x64": "Q", "x86": "I"}
COUNT_RULE = f"must lie in [1, {TENSOR_DIMENSION_COUNT_MAX1}]"


class Image:
    """The structs of one descriptor, with pointers that wait for an address.

    Parameters
    ----------
    desc : OperatorDesc
    arch : "x64" or "x86"
    order : "<" or "="
        Byte order as in `struct`.

    Raises
    ------
    DirectMLError
        Fields hold what the structs cannot.
    """

    def __init__(self, desc: OperatorDesc, arch: Arch, order: str) -> None:
        self._desc, self._arch, self._order = desc, arch, order
        self._data = bytearray()
        self._pointers: list[tuple[int, int]] = []  # where each stands, what it points at
        self._violations: list[Violation] = []
        root, at = STRUCTS["DML_OPERATOR_DESC"], self._reserve(STRUCTS["DML_OPERATOR_DESC"])
        inner = operator_struct(desc.Type)
        values = {field.name: getattr(desc, field.name) for field in inner.fields}
        self._put_values(root, at, {"Type": desc.Type, "Desc": self._place(inner, values, "")})
        if self._violations:
            raise DirectMLError(self._violations)

    def __len__(self) -> int:
        return len(self._data)

    def at(self, base: int) -> bytes:
        """Return the bytes as they are at the address `base`."""
        code = self._order + POINTER_CODES[self._arch]
        data = bytearray(self._data)
        for at, target in self._pointers:
            struct.pack_into(code, data, at, base + target)
        return bytes(data)

    def _report(self, path: str, rule: str, value: object) -> None:
        self._violations.append(Violation(self._desc.Type, path, rule, value))

    def _reserve_bytes(self, size: int, alignment: int) -> int:
        """Append zeros and return where they start."""
        at = round_up(len(self._data), alignment)
        self._data += bytes(at + size - len(self._data))
        return at

    def _reserve(self, kind: Struct) -> int:
        layout = kind.layout(self._arch)
        return self._reserve_bytes(layout.size, layout.alignment)

    def _put_values(self, kind: Struct, at: int, values: Mapping[str, Any]) -> None:
        """Fill a struct with values of C, pointers being places in the image; None leaves zeros."""
        offsets = kind.layout(self._arch).offsets
        for field in kind.fields:
            value, place = values[field.name], at + offsets[field.name]
            if value is None:
                continue
            if field.kind is Kind.POINTER:
                self._pointers.append((place, value))
            elif field.kind is Kind.STRUCT:
                self._put_values(STRUCTS[field.type], place, value)
            else:
                struct.pack_into(self._order + VALUE_CODES[field.kind], self._data, place, value)

    def _place(self, kind: Struct, values: Mapping[str, object], prefix: str) -> int:
        """Append a struct and what it points at; return where it starts."""
        at = self._reserve(kind)
        counts = {name: self._count(kind, name, values, prefix) for name in kind.counts}
        self._put_values(
            kind,
            at,
            {
                field.name: counts[field.name]
                if field.name in counts
                else self._value(field, values[field.name], f"{prefix}{field.name}", counts)
                for field in kind.fields
            },
        )
        return at

    def _count(self, kind: Struct, name: str, values: Mapping[str, object], prefix: str) -> int | None:
        """Read a count: None stands for the length of the first array."""
        given = values[name]
        arrays = [read.sequence(values[field.name]) for field in kind.fields if field.count == name]
        if given is None:
            count = next((len(array) for array in arrays if array is not None), None)
        else:
            count = read.uint(given)
            if count is None:
                self._report(f"{prefix}{name}", f"must be an integer in [0, {read.UINT_MAX}]", given)
        if count is not None and not 1 <= count <= TENSOR_DIMENSION_COUNT_MAX1:
            self._report(f"{prefix}{name}", COUNT_RULE, count)
            return None
        return count

    def _value(self, field: Field, value: object, path: str, counts: Mapping[str, int | None]) -> object:
        """Return what C holds for a field, or None after a report."""
        if field.kind is Kind.POINTER:
            if field.count is None:
                return self._tensor(value, path)
            if value is None and field.optional:
                return None
            return self._array(field, value, path, counts[field.count])
        if field.kind is Kind.STRUCT:
            return self._size(value, path)
        found: int | None
        if field.kind is Kind.ENUM:
            parse: Callable[[object], int] = ENUMS[field.type].parse
            found = read.parsed(parse, value)
            rule = f"must be one of {', '.join(ENUMS[field.type].__members__)}"
        elif field.kind is Kind.BOOL:
            found = read.boolean(value)
            rule = "must be False or True"
        else:
            largest = read.UINT64_MAX if field.kind is Kind.UINT64 else read.UINT_MAX
            found = read.uint(value, largest)
            rule = f"must be an integer in [0, {largest}]"
        if found is None:
            self._report(path, rule, value)
        return found

    def _size(self, value: object, path: str) -> dict[str, object] | None:
        """Read a DML_SIZE_2D."""
        if not isinstance(value, Size2D):
            self._report(path, "must be a Size2D", value)
            return None
        return {
            field.name: self._value(field, getattr(value, field.name), f"{path}.{field.name}", {})
            for field in STRUCTS["DML_SIZE_2D"].fields
        }

    def _array(self, field: Field, value: object, path: str, count: int | None) -> int | None:
        """Append an array of UINT or FLOAT; return where it starts."""
        items = read.sequence(value)
        if items is None:
            self._report(path, "must be a sequence of numbers", value)
            return None
        if count is None:
            return None
        if len(items) != count:
            self._report(path, f"must have as many values as {field.count} = {count}", value)
            return None
        whole = field.type == "UINT"
        rule = f"must be an integer in [0, {read.UINT_MAX}]" if whole else "must be a number"
        numbers = [read.uint(item) if whole else read.number(item) for item in items]
        for d, number in enumerate(numbers):
            if number is None:
                self._report(f"{path}[{d}]", rule, items[d])
        if None in numbers:
            return None
        at = self._reserve_bytes(4 * count, 4)
        code = VALUE_CODES[Kind.UINT if whole else Kind.FLOAT]
        struct.pack_into(f"{self._order}{count}{code}", self._data, at, *numbers)
        return at

    def _tensor(self, desc: object, path: str) -> int | None:
        """Append a DML_TENSOR_DESC; return where it starts."""
        if not isinstance(desc, BufferTensorDesc):
            self._report(path, "must be a BufferTensorDesc", desc)
            return None
        facts = read_tensor(desc)
        for problem in facts.problems:
            self._report(f"{path}.{problem.field}", problem.rule, problem.value)
        if facts.problems or facts.data_type is None or facts.sizes is None:
            return None
        kind, at = STRUCTS["DML_TENSOR_DESC"], self._reserve(STRUCTS["DML_TENSOR_DESC"])
        strides = None if desc.Strides is None else facts.strides
        values = {
            "DataType": facts.data_type,
            "Flags": facts.flags,
            "DimensionCount": facts.dimension_count,
            "Sizes": facts.sizes,
            "Strides": strides,
            "TotalTensorSizeInBytes": desc.TotalTensorSizeInBytes
            or calc_buffer_tensor_size(facts.data_type, facts.sizes, strides),
            "GuaranteedBaseOffsetAlignment": desc.GuaranteedBaseOffsetAlignment,
        }
        inner = self._place(STRUCTS["DML_BUFFER_TENSOR_DESC"], values, f"{path}.")
        self._put_values(kind, at, {"Type": TensorType.BUFFER, "Desc": inner})
        return at


def check_desc(op: str, desc: object) -> None:
    """Require an operator descriptor."""
    if not isinstance(desc, tuple(OPERATOR_DESCS.values())):
        got = f"{type(desc).__name__} {read.shown(desc)}"
        raise TypeError(must(op, "desc", "be an operator descriptor", got))


def pack_bytes(desc: OperatorDesc, arch: Arch = "x64", base: int = 0) -> bytes:
    """Write a descriptor as the structs of directml.h, little-endian, in one piece.

    Parameters
    ----------
    desc : OperatorDesc
    arch : "x64" or "x86"
        Pointers of 8 or 4 bytes.
    base : int, a multiple of 8
        The address at which the bytes will stand; pointers are absolute. With 0 they are offsets.

    Returns
    -------
    bytes
        A DML_OPERATOR_DESC, and behind it all that it points at. TotalTensorSizeInBytes is always written,
        and calculated where the descriptor leaves it out.

    Raises
    ------
    DirectMLError
        A tensor is invalid by itself, arrays and counts do not fit together, or a field holds what its type
        does not; all violations are listed. The rules of operators and feature levels are those of `check`.
    TypeError, ValueError
        `desc` is no operator descriptor; `arch` is neither; `base` is no such number or too near to the end
        of the address space.

    Notes
    -----
    Source: the field order of directml.h; 64-bit integers are aligned to 8 bytes, as on Windows.
    """
    op = "abi.pack_bytes"
    check_desc(op, desc)
    check_arch(op, arch)
    check_address(op, "base", base, arch)
    if base % ALIGNMENT:
        raise ValueError(must(op, "base", f"be a multiple of {ALIGNMENT}", hex(base)))
    image = Image(desc, arch, "<")
    end = 1 << 8 * POINTER_SIZE[arch]
    if base + len(image) > end:
        rule = f"be at most {(end - len(image)) // ALIGNMENT * ALIGNMENT:#x} for {len(image)} bytes on {arch}"
        raise ValueError(must(op, "base", rule, hex(base)))
    return image.at(base)


def check_arch(op: str, arch: object) -> None:
    """Require a known architecture."""
    if arch not in POINTER_SIZE:
        raise ValueError(must(op, "arch", f"be one of {', '.join(POINTER_SIZE)}", repr(arch)))


def check_address(op: str, parameter: str, address: object, arch: Arch) -> None:
    """Require an address that a pointer can hold."""
    if isinstance(address, bool) or not isinstance(address, (int, np.integer)):
        raise TypeError(must(op, parameter, "be an int", type(address).__name__))
    end = 1 << 8 * POINTER_SIZE[arch]
    if not 0 <= address < end:
        raise ValueError(must(op, parameter, f"lie in [0, {end:#x}) on {arch}", hex(address)))
