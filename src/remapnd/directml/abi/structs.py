"""The structs of directml.h that describe these operators: one table, and the layouts that follow from it.

Uses `enums`; used by every other file of `abi`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from remapnd.directml import enums
from remapnd.directml.enums import DMLEnum, DMLFlag, OperatorType
from remapnd.errors import must

Arch: TypeAlias = Literal["x64", "x86"]
ARCHS: tuple[Arch, ...] = ("x64", "x86")
POINTER_SIZE: Mapping[Arch, int] = {"x64": 8, "x86": 4}

ENUMS: Mapping[str, type[DMLEnum] | type[DMLFlag]] = {
    "DML_OPERATOR_TYPE": enums.OperatorType,
    "DML_TENSOR_TYPE": enums.TensorType,
    "DML_TENSOR_DATA_TYPE": enums.TensorDataType,
    "DML_TENSOR_FLAGS": enums.TensorFlags,
    "DML_INTERPOLATION_MODE": enums.InterpolationMode,
    "DML_AXIS_DIRECTION": enums.AxisDirection,
}
"""The enumerations that fields of the structs have."""


class Kind(Enum):
    """What a field of a struct holds."""

    UINT = auto()
    UINT64 = auto()
    FLOAT = auto()
    BOOL = auto()
    ENUM = auto()
    STRUCT = auto()  # by value
    POINTER = auto()


@dataclass(frozen=True)
class Field:
    """A field of a struct.

    Parameters
    ----------
    name : str
    kind : Kind
    type : str
        The type as directml.h names it; of a pointer what it points at.
    count : str or None
        The field that says how many elements are pointed at.
    optional : bool
        Whether the pointer may be null.
    """

    name: str
    kind: Kind
    type: str
    count: str | None = None
    optional: bool = False

    @property
    def c_type(self) -> str:
        """The type in C, such as ``"const FLOAT *"``."""
        if self.kind is not Kind.POINTER:
            return self.type
        return f"{self.type} *" if self.mutable else f"const {self.type} *"

    @property
    def mutable(self) -> bool:
        """Whether what is pointed at may be written."""
        return self.type == _RESOURCE


class Layout(NamedTuple):
    """Where the fields of a struct lie, in bytes."""

    size: int
    alignment: int
    offsets: Mapping[str, int]
    sizes: Mapping[str, int]


@dataclass(frozen=True, eq=False)  # hashing all fields would cost more than laying them out
class Struct:
    """A struct of directml.h.

    Parameters
    ----------
    name : str
    fields : tuple of Field, in order
    """

    name: str
    fields: tuple[Field, ...]

    def layout(self, arch: Arch) -> Layout:
        """Lay the fields out by the rules of C, with 64-bit integers aligned to 8 bytes everywhere.

        Parameters
        ----------
        arch : "x64" or "x86"

        Returns
        -------
        Layout

        Raises
        ------
        ValueError
            `arch` is neither.

        Notes
        -----
        Compilers for Windows align a UINT64 to 8 bytes on x86 too; those for i386 on System V use 4.
        """
        if arch not in ARCHS:
            raise ValueError(must("Struct.layout", "arch", f"be one of {', '.join(ARCHS)}", arch))
        return _layout(self, arch)

    def flat(self) -> Struct:
        """Return the struct with the fields of structs held by value in their place, as ``Outer_Inner``.

        The layout stays, as none of these structs is aligned more strictly than its first field.
        """
        fields: list[Field] = []
        for field in self.fields:
            if field.kind is Kind.STRUCT:
                inner = STRUCTS[field.type].flat().fields
                fields += [replace(member, name=f"{field.name}_{member.name}") for member in inner]
            else:
                fields.append(field)
        return Struct(self.name, tuple(fields))

    @property
    def counts(self) -> tuple[str, ...]:
        """Names of the fields that count the elements of arrays."""
        return tuple(dict.fromkeys(field.count for field in self.fields if field.count))


_RESOURCE = "ID3D12Resource"
_VALUE_SIZES = {Kind.UINT: 4, Kind.UINT64: 8, Kind.FLOAT: 4, Kind.BOOL: 4, Kind.ENUM: 4}


@functools.lru_cache(maxsize=256)
def _layout(struct: Struct, arch: Arch) -> Layout:
    """Lay out a struct, as `Struct.layout` documents."""
    offsets: dict[str, int] = {}
    sizes: dict[str, int] = {}
    end, largest = 0, 1
    for field in struct.fields:
        if field.kind is Kind.STRUCT:
            inner = STRUCTS[field.type].layout(arch)
            size, alignment = inner.size, inner.alignment
        else:
            size = alignment = POINTER_SIZE[arch] if field.kind is Kind.POINTER else _VALUE_SIZES[field.kind]
        offsets[field.name] = round_up(end, alignment)
        sizes[field.name] = size
        end = offsets[field.name] + size
        largest = max(largest, alignment)
    return Layout(round_up(end, largest), largest, MappingProxyType(offsets), MappingProxyType(sizes))


def round_up(number: int, multiple: int) -> int:
    """Return the least multiple that is no less than `number`."""
    return -(-number // multiple) * multiple


def _values(kind: Kind, *names: str) -> tuple[Field, ...]:
    """Return fields of a plain type."""
    return tuple(Field(name, kind, kind.name) for name in names)


def _uints(*names: str) -> tuple[Field, ...]:
    return _values(Kind.UINT, *names)


def _tensors(*names: str) -> tuple[Field, ...]:
    return tuple(Field(f"{name}Tensor", Kind.POINTER, "DML_TENSOR_DESC") for name in names)


def _floats(count: str, *names: str) -> tuple[Field, ...]:
    return tuple(Field(name, Kind.POINTER, "FLOAT", count=count) for name in names)


def _enum(name: str, kind: str) -> Field:
    return Field(name, Kind.ENUM, kind)


_MODE = _enum("InterpolationMode", "DML_INTERPOLATION_MODE")
_DIRECTION = _enum("RoundingDirection", "DML_AXIS_DIRECTION")
_MAP = (
    *_uints("DimensionCount"),
    *_floats("DimensionCount", "Scales", "InputPixelOffsets", "OutputPixelOffsets"),
)
_GATHERED = _tensors("Input", "Indices", "Output")
_SCATTERED = _tensors("Input", "Indices", "Updates", "Output")
_RESAMPLED = _tensors("Input", "Output")
_DIFFERENTIATED = _tensors("InputGradient", "OutputGradient")
_ND = _uints("InputDimensionCount", "IndicesDimensionCount")

_TABLE: Mapping[str, tuple[Field, ...]] = {
    "SIZE_2D": _uints("Width", "Height"),
    "SCALE_BIAS": _values(Kind.FLOAT, "Scale", "Bias"),
    "BUFFER_TENSOR_DESC": (
        _enum("DataType", "DML_TENSOR_DATA_TYPE"),
        _enum("Flags", "DML_TENSOR_FLAGS"),
        *_uints("DimensionCount"),
        Field("Sizes", Kind.POINTER, "UINT", count="DimensionCount"),
        Field("Strides", Kind.POINTER, "UINT", count="DimensionCount", optional=True),
        *_values(Kind.UINT64, "TotalTensorSizeInBytes"),
        *_uints("GuaranteedBaseOffsetAlignment"),
    ),
    "TENSOR_DESC": (_enum("Type", "DML_TENSOR_TYPE"), Field("Desc", Kind.POINTER, "void")),
    "UPSAMPLE_2D_OPERATOR_DESC": (
        *_RESAMPLED,
        Field("ScaleSize", Kind.STRUCT, "DML_SIZE_2D"),
        _MODE,
    ),
    "GATHER_OPERATOR_DESC": (*_GATHERED, *_uints("Axis", "IndexDimensions")),
    "SCATTER_ELEMENTS_OPERATOR_DESC": (*_SCATTERED, *_uints("Axis")),
    "SCATTER_OPERATOR_DESC": (*_SCATTERED, *_uints("Axis")),
    "RESAMPLE_OPERATOR_DESC": (*_RESAMPLED, _MODE, *_uints("ScaleCount"), *_floats("ScaleCount", "Scales")),
    "GATHER_ELEMENTS_OPERATOR_DESC": (*_GATHERED, *_uints("Axis")),
    "GATHER_ND_OPERATOR_DESC": (*_GATHERED, *_ND),
    "SCATTER_ND_OPERATOR_DESC": (*_SCATTERED, *_ND),
    "RESAMPLE1_OPERATOR_DESC": (*_RESAMPLED, _MODE, *_MAP),
    "RESAMPLE_GRAD_OPERATOR_DESC": (*_DIFFERENTIATED, _MODE, *_MAP),
    "GATHER_ND1_OPERATOR_DESC": (*_GATHERED, *_ND, *_uints("BatchDimensionCount")),
    "RESAMPLE2_OPERATOR_DESC": (*_RESAMPLED, _MODE, _DIRECTION, *_MAP),
    "RESAMPLE_GRAD1_OPERATOR_DESC": (*_DIFFERENTIATED, _MODE, _DIRECTION, *_MAP),
    "RESAMPLE3_OPERATOR_DESC": (*_RESAMPLED, _MODE, _DIRECTION, *_MAP, *_values(Kind.BOOL, "Antialiased")),
    "OPERATOR_DESC": (_enum("Type", "DML_OPERATOR_TYPE"), Field("Desc", Kind.POINTER, "void")),
    "BUFFER_BINDING": (
        Field("Buffer", Kind.POINTER, _RESOURCE, optional=True),
        *_values(Kind.UINT64, "Offset", "SizeInBytes"),
    ),
    "BINDING_PROPERTIES": (
        *_uints("RequiredDescriptorCount"),
        *_values(Kind.UINT64, "TemporaryResourceSize", "PersistentResourceSize"),
    ),
}

STRUCTS: Mapping[str, Struct] = {
    f"DML_{name}": Struct(f"DML_{name}", fields) for name, fields in _TABLE.items()
}
"""Every struct by its name; a struct stands after those that it holds or points at."""


def operator_struct(operator: OperatorType) -> Struct:
    """Return the struct that `Desc` of a DML_OPERATOR_DESC of this type points at."""
    return STRUCTS[f"DML_{operator.name}_OPERATOR_DESC"]


def find_struct(name: str) -> Struct:
    """Find a struct by its name, in upper or lower case, with or without ``DML_`` and ``_OPERATOR_DESC``.

    Parameters
    ----------
    name : str
        Such as ``"DML_GATHER_ND_OPERATOR_DESC"``, ``"gather_nd"`` or ``"buffer_tensor_desc"``.

    Returns
    -------
    Struct

    Raises
    ------
    ValueError
        There is no such struct.
    """
    stem = name.upper().removeprefix("DML_")
    for wanted in (f"DML_{stem}", f"DML_{stem}_OPERATOR_DESC"):
        if wanted in STRUCTS:
            return STRUCTS[wanted]
    raise ValueError(must("find_struct", "name", f"be one of {', '.join(STRUCTS)}", repr(name)))
