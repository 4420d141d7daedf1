"""Bytes to descriptors: follows the pointers of a DML_OPERATOR_DESC as far as the structs say, no further.

Uses `structs`, `image`, `operators`, `violation`; used by `native`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Protocol

from remapnd.directml import read
from remapnd.directml.abi.image import COUNT_RULE, POINTER_CODES, VALUE_CODES, check_address, check_arch
from remapnd.directml.abi.structs import (
    ENUMS,
    STRUCTS,
    Arch,
    Field,
    Kind,
    Struct,
    operator_struct,
)
from remapnd.directml.enums import OperatorType, TensorType
from remapnd.directml.operators import OPERATOR_DESCS, OperatorDesc, Size2D
from remapnd.directml.tensor import TENSOR_DIMENSION_COUNT_MAX1, BufferTensorDesc, calc_buffer_tensor_size
from remapnd.directml.violation import DirectMLError, Violation
from remapnd.errors import must


class Address(int):
    """A pointer; shown in hexadecimal."""

    def __repr__(self) -> str:
        return hex(self)


class Memory(Protocol):
    """Memory that pointers lead into."""

    def fault(self, address: int, size: int) -> str | None:
        """Return the rule that reading `size` bytes there would break; None if they can be read."""

    def read(self, address: int, size: int) -> bytes:
        """Copy `size` bytes; only after `fault` had nothing to say."""


class BufferMemory:
    """The bytes of a buffer, at addresses from `base` on."""

    def __init__(self, buffer: memoryview, base: int) -> None:
        self._buffer, self._base = buffer, base

    def fault(self, address: int, size: int) -> str | None:
        """Return the rule that reading would break."""
        end = self._base + len(self._buffer)
        if self._base <= address <= end - size:
            return None
        return f"must point to {size} bytes inside the buffer, [{self._base:#x}, {end:#x})"

    def read(self, address: int, size: int) -> bytes:
        """Copy bytes."""
        at = address - self._base
        return bytes(self._buffer[at : at + size])


def read_descriptor(memory: Memory, arch: Arch, order: str, address: int) -> OperatorDesc:
    """Read the DML_OPERATOR_DESC at `address`, whose own bytes are known to be readable."""
    reader = _Reader(memory, arch, order)
    desc = reader.descriptor(address)
    if reader.violations or desc is None:
        raise DirectMLError(reader.violations)
    return desc


class _Reader:
    """Follows pointers; what it finds is None where there is a violation."""

    def __init__(self, memory: Memory, arch: Arch, order: str) -> None:
        self._memory, self._arch, self._order = memory, arch, order
        self._operator: OperatorType | None = None
        self.violations: list[Violation] = []

    def descriptor(self, address: int) -> OperatorDesc | None:
        """Read a DML_OPERATOR_DESC."""
        raw = self._raw(STRUCTS["DML_OPERATOR_DESC"], address)
        operator = read.parsed(OperatorType.parse, raw["Type"])
        if operator is None or operator not in OPERATOR_DESCS:
            known = ", ".join(f"{kind.name} {kind.value}" for kind in sorted(OPERATOR_DESCS))
            self._report("Type", f"must be one of {known}", raw["Type"])
            return None
        self._operator = operator
        kind = operator_struct(operator)
        inner = self._follow(kind, raw["Desc"], "Desc")
        if inner is None:
            return None
        values = self._values(kind, inner, "")
        # A missing value goes with a violation, so that nobody sees this descriptor.
        return OPERATOR_DESCS[operator](**values)

    def _report(self, path: str, rule: str, value: object) -> None:
        self.violations.append(Violation(self._operator, path, rule, value))

    def _bytes(self, address: int, size: int, path: str) -> bytes | None:
        """Copy what a pointer points at."""
        fault = "must not be null" if address == 0 else self._memory.fault(address, size)
        if fault:
            self._report(path, fault, Address(address))
            return None
        return self._memory.read(address, size)

    def _follow(self, kind: Struct, address: int, path: str) -> dict[str, Any] | None:
        """Read the struct that a pointer points at."""
        data = self._bytes(address, kind.layout(self._arch).size, path)
        return None if data is None else self._unpack(kind, data, 0)

    def _raw(self, kind: Struct, address: int) -> dict[str, Any]:
        """Read a struct that is known to be readable."""
        return self._unpack(kind, self._memory.read(address, kind.layout(self._arch).size), 0)

    def _unpack(self, kind: Struct, data: bytes, start: int) -> dict[str, Any]:
        """Split a struct into numbers, addresses and, for structs in it, more of these dictionaries."""
        found: dict[str, Any] = {}
        for field in kind.fields:
            at = start + kind.layout(self._arch).offsets[field.name]
            if field.kind is Kind.STRUCT:
                found[field.name] = self._unpack(STRUCTS[field.type], data, at)
            else:
                pointer = field.kind is Kind.POINTER
                code = POINTER_CODES[self._arch] if pointer else VALUE_CODES[field.kind]
                (found[field.name],) = struct.unpack_from(self._order + code, data, at)
        return found

    def _values(self, kind: Struct, raw: Mapping[str, Any], prefix: str) -> dict[str, Any]:
        """Turn the raw fields of a struct into those of a descriptor."""
        counts: dict[str, int | None] = {}
        for name in kind.counts:
            counts[name] = raw[name] if 1 <= raw[name] <= TENSOR_DIMENSION_COUNT_MAX1 else None
            if counts[name] is None:
                self._report(f"{prefix}{name}", COUNT_RULE, raw[name])
        return {
            field.name: self._value(field, raw[field.name], f"{prefix}{field.name}", counts)
            for field in kind.fields
        }

    def _value(self, field: Field, raw: Any, path: str, counts: Mapping[str, int | None]) -> Any:
        """Turn one raw field into that of a descriptor."""
        if field.kind is Kind.POINTER:
            if field.count is None:
                return self._tensor(raw, path)
            if raw == 0 and field.optional:
                return None
            return self._array(field, raw, path, counts[field.count])
        if field.kind is Kind.ENUM:
            parsed = read.parsed(ENUMS[field.type].parse, raw)
            if parsed is None:
                self._report(path, f"must be one of {', '.join(ENUMS[field.type].__members__)}", raw)
            return parsed
        if field.kind is Kind.STRUCT:
            return Size2D(**raw)
        return bool(raw) if field.kind is Kind.BOOL else raw

    def _array(self, field: Field, address: int, path: str, count: int | None) -> tuple[Any, ...] | None:
        """Read an array of UINT or FLOAT."""
        data = None if count is None else self._bytes(address, 4 * count, path)
        if data is None:
            return None
        code = VALUE_CODES[Kind.UINT if field.type == "UINT" else Kind.FLOAT]
        return struct.unpack(f"{self._order}{count}{code}", data)

    def _tensor(self, address: int, path: str) -> BufferTensorDesc | None:
        """Read a DML_TENSOR_DESC and the DML_BUFFER_TENSOR_DESC that it points at."""
        raw = self._follow(STRUCTS["DML_TENSOR_DESC"], address, path)
        if raw is None:
            return None
        if raw["Type"] != TensorType.BUFFER:
            self._report(f"{path}.Type", f"must be BUFFER {TensorType.BUFFER.value}", raw["Type"])
            return None
        kind = STRUCTS["DML_BUFFER_TENSOR_DESC"]
        inner = self._follow(kind, raw["Desc"], f"{path}.Desc")
        if inner is None:
            return None
        before = len(self.violations)
        desc = BufferTensorDesc(**self._values(kind, inner, f"{path}."))
        # 0 asks `BufferTensorDesc` for the calculated size, but a struct for none.
        if len(self.violations) == before and desc.TotalTensorSizeInBytes == 0 and all(desc.Sizes):
            least = calc_buffer_tensor_size(desc.DataType, desc.Sizes, desc.Strides)
            if least:
                self._report(f"{path}.TotalTensorSizeInBytes", f"must be at least {least}", 0)
        return desc


def read_bytes(buffer: Any, arch: Arch = "x64", base: int = 0, address: int | None = None) -> OperatorDesc:
    """Read a descriptor out of little-endian bytes: those of `pack_bytes`, or what a process had in memory.

    Parameters
    ----------
    buffer : bytes-like, C-contiguous
    arch : "x64" or "x86"
        Pointers of 8 or 4 bytes.
    base : int
        The address of the first byte of `buffer`. A pointer is followed only if all that it points at lies in
        `buffer`.
    address : int, or None for `base`
        Where the DML_OPERATOR_DESC is.

    Returns
    -------
    descriptor of the operator that `Type` names; the rules of the operator are those of `check`

    Raises
    ------
    DirectMLError
        The operator type is not in this runtime, a pointer is null or leads outside, a count is not in
        [1, 8], or an enumeration has no such value; all violations are listed.
    TypeError, ValueError
        `buffer` is not bytes-like or scattered; `arch` is neither; `base` or `address` is no such number;
        `address` leads outside.
    """
    op = "abi.read_bytes"
    check_arch(op, arch)
    try:
        view = memoryview(buffer)
    except TypeError:
        raise TypeError(must(op, "buffer", "be bytes-like", type(buffer).__name__)) from None
    if not view.c_contiguous:
        raise ValueError(must(op, "buffer", "be C-contiguous", f"strides {view.strides} bytes"))
    check_address(op, "base", base, arch)
    root = base if address is None else address
    check_address(op, "address", root, arch)
    memory = BufferMemory(view.cast("B"), int(base))
    fault = memory.fault(int(root), STRUCTS["DML_OPERATOR_DESC"].layout(arch).size)
    if fault:
        raise ValueError(must(op, "address", fault.removeprefix("must "), hex(root)))
    return read_descriptor(memory, arch, "<", int(root))
