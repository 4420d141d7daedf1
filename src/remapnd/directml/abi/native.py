"""The structs as ctypes of this process: descriptors to pointers that C can follow, and back.

Uses `structs`, `image`, `reading`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from remapnd.directml.abi.image import ALIGNMENT, Image, check_address, check_desc
from remapnd.directml.abi.reading import read_descriptor
from remapnd.directml.abi.structs import POINTER_SIZE, STRUCTS, Arch, Field, Kind, Struct
from remapnd.directml.operators import OperatorDesc
from remapnd.errors import must

NATIVE_ARCH: Arch = "x64" if ctypes.sizeof(ctypes.c_void_p) == 8 else "x86"
"""The architecture whose layouts are those of this process: that with pointers of its size."""

# Windows maps nothing in the first 64 KiB, and Linux by default neither; no system gives a process addresses
# of more than 56 bits.  What lies outside is memory that was never set, or no pointer at all.
_PROCESS_MEMORY = range(0x10000, min(1 << 56, 1 << 8 * POINTER_SIZE[NATIVE_ARCH]))

_VALUES: Mapping[Kind, Any] = {
    Kind.UINT: ctypes.c_uint32,
    Kind.UINT64: ctypes.c_uint64,
    Kind.FLOAT: ctypes.c_float,
    Kind.BOOL: ctypes.c_int32,
    Kind.ENUM: ctypes.c_int32,
}
_ELEMENTS: Mapping[str, Any] = {"UINT": ctypes.c_uint32, "FLOAT": ctypes.c_float}


def _field_type(field: Field, made: Mapping[str, type[ctypes.Structure]]) -> Any:
    """Return the ctypes type of a field."""
    if field.kind is Kind.STRUCT:
        return made[field.type]
    if field.kind is not Kind.POINTER:
        return _VALUES[field.kind]
    target = made.get(field.type) or _ELEMENTS.get(field.type)
    return ctypes.c_void_p if target is None else ctypes.POINTER(target)


def _structure(kind: Struct, made: Mapping[str, type[ctypes.Structure]]) -> type[ctypes.Structure]:
    """Make the ctypes structure of a struct, padded where this platform aligns 64-bit integers to 4 bytes."""
    layout = kind.layout(NATIVE_ARCH)
    fields: list[tuple[str, Any]] = []
    end = 0

    def pad(place: int, alignment: int) -> None:
        gap = place - -(-end // alignment) * alignment
        if gap:
            fields.append((f"_padding{len(fields)}", ctypes.c_uint8 * gap))

    for field in kind.fields:
        kind_of_field = _field_type(field, made)
        pad(layout.offsets[field.name], ctypes.alignment(kind_of_field))
        fields.append((field.name, kind_of_field))
        end = layout.offsets[field.name] + layout.sizes[field.name]
    pad(layout.size, max(ctypes.alignment(kind_of_field) for _, kind_of_field in fields))
    return type(kind.name, (ctypes.Structure,), {"_fields_": fields, "__doc__": f"{kind.name}."})


def _structures() -> Mapping[str, type[ctypes.Structure]]:
    """Make all structures."""
    made: dict[str, type[ctypes.Structure]] = {}
    for name, kind in STRUCTS.items():
        made[name] = _structure(kind, made)
    return MappingProxyType(made)


STRUCTURES = _structures()
"""The ctypes structure of every struct, by its name in directml.h."""


class Packed:
    """A descriptor in memory, for C to read; made by `pack`.

    The memory lives as long as this object or any copy of `pointer`. An instance can be an argument of a
    ctypes function.

    Attributes
    ----------
    pointer : ctypes pointer to a DML_OPERATOR_DESC
    address : int
        Where that is.
    as_bytes : bytes
        All that the descriptor is made of, a copy. ``read_bytes(packed.as_bytes, NATIVE_ARCH,
        packed.address)`` reads it on a little-endian machine.
    """

    def __init__(self, image: Image) -> None:
        self._memory = (ctypes.c_uint64 * -(-len(image) // ALIGNMENT))()
        self._size = len(image)
        self.address: int = ctypes.addressof(self._memory)
        ctypes.memmove(self.address, image.at(self.address), self._size)
        # from_buffer, unlike a cast, ties the life of the memory to the pointer.
        self.pointer: Any = ctypes.pointer(STRUCTURES["DML_OPERATOR_DESC"].from_buffer(self._memory))
        self._as_parameter_ = self.pointer

    @property
    def as_bytes(self) -> bytes:
        """A copy of all bytes."""
        return ctypes.string_at(self.address, self._size)

    def __repr__(self) -> str:
        return f"<Packed DML_OPERATOR_DESC at {self.address:#x}, {self._size} bytes>"


def pack(desc: OperatorDesc) -> Packed:
    """Write a descriptor as the structs of directml.h, with pointers of this process.

    Parameters
    ----------
    desc : OperatorDesc

    Returns
    -------
    Packed
        Its `pointer` can be given to any function that takes a ``const DML_OPERATOR_DESC *``.

    Raises
    ------
    DirectMLError
        As for `pack_bytes`.
    TypeError
        `desc` is no operator descriptor.

    Examples
    --------
    >>> from remapnd.directml import BufferTensorDesc, GatherElementsOperatorDesc, abi
    >>> data, indices = BufferTensorDesc("FLOAT32", (2, 3)), BufferTensorDesc("INT64", (2, 1))
    >>> desc = GatherElementsOperatorDesc(data, indices, BufferTensorDesc("FLOAT32", (2, 1)), Axis=1)
    >>> packed = abi.pack(desc)
    >>> packed.pointer.contents.Type
    107
    >>> abi.read(packed.address).Axis
    1
    """
    check_desc("abi.pack", desc)
    return Packed(Image(desc, NATIVE_ARCH, "="))


class _ProcessMemory:
    """The memory of this process. It cannot be known which of it may be read, only which never may."""

    def fault(self, address: int, size: int) -> str | None:
        """Return the rule that reading would break."""
        first, last = _PROCESS_MEMORY.start, _PROCESS_MEMORY.stop - size
        return None if first <= address <= last else f"must lie in [{first:#x}, {last:#x}]"

    def read(self, address: int, size: int) -> bytes:
        """Copy bytes."""
        return ctypes.string_at(address, size)


def read(pointer: Any) -> OperatorDesc:
    """Read the descriptor that a ``const DML_OPERATOR_DESC *`` of this process points at.

    Parameters
    ----------
    pointer : int, ctypes pointer, ctypes.c_void_p, DML_OPERATOR_DESC of `STRUCTURES`, or Packed

    Returns
    -------
    descriptor of the operator that `Type` names
        A copy: it does not refer to the memory read. `check` and `run` take it.

    Raises
    ------
    DirectMLError
        As for `read_bytes`; pointers that are null, or lead where no process has memory, are violations.
    TypeError, ValueError
        `pointer` is none; it is null or leads where no process has memory.

    Warnings
    --------
    Whoever calls this vouches for the pointers, as any caller of C does: one that is not null but dangles
    makes the process crash. Bytes of unknown origin are for `read_bytes`, which follows nothing outside its
    buffer.
    """
    op = "abi.read"
    if isinstance(pointer, Packed):
        address = pointer.address
    elif isinstance(pointer, STRUCTURES["DML_OPERATOR_DESC"]):
        address = ctypes.addressof(pointer)
    elif isinstance(pointer, (ctypes._Pointer, ctypes.c_void_p)):
        address = ctypes.cast(pointer, ctypes.c_void_p).value or 0
    elif isinstance(pointer, (int, np.integer)) and not isinstance(pointer, bool):
        address = int(pointer)
        check_address(op, "pointer", address, NATIVE_ARCH)
    else:
        rule = "be an address, a ctypes pointer, a DML_OPERATOR_DESC or a Packed"
        raise TypeError(must(op, "pointer", rule, type(pointer).__name__))
    memory = _ProcessMemory()
    size = STRUCTS["DML_OPERATOR_DESC"].layout(NATIVE_ARCH).size
    fault = memory.fault(address, size) if address else "must not be null"
    if fault:
        raise ValueError(must(op, "pointer", fault.removeprefix("must "), hex(address)))
    return read_descriptor(memory, NATIVE_ARCH, "=", address)
