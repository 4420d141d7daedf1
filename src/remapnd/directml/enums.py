"""The enumerations of directml.h that this family of operators uses, with their values and spellings.

Used by every other file of `directml`; imports NumPy alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, IntEnum, IntFlag
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from remapnd.errors import word

_E = TypeVar("_E", bound="DMLEnum")
_F = TypeVar("_F", bound="DMLFlag")


def _code(kind: type[Enum], value: object, name: str = "") -> int:
    """Return the integer that `value` is, or say what it should have been."""
    foreign = isinstance(value, Enum) and not isinstance(value, kind)
    if foreign or isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        got = f"{type(value).__name__} {value!s}" if foreign else type(value).__name__
        name = name or f"{kind.__name__}: `value`"
        raise TypeError(f"{name} must be a {kind.__name__}, its name or its number, got {got}")
    return int(value)


def _unknown(kind: type[Enum], value: object) -> ValueError:
    got = word(value, kind.__members__)
    return ValueError(f"{kind.__name__}: `value` must be one of {', '.join(kind.__members__)}, got {got}")


class DMLEnum(IntEnum):
    """An enumeration of directml.h; `str` gives the name without the prefix."""

    def __str__(self) -> str:
        return self.name

    @classmethod
    def prefix(cls) -> str:
        """Return what directml.h writes before each name, such as ``"DML_TENSOR_DATA_TYPE_"``."""
        return _PREFIXES[cls.__name__]

    @property
    def full_name(self) -> str:
        """The constant as directml.h spells it, such as ``"DML_TENSOR_DATA_TYPE_FLOAT32"``."""
        return self.prefix() + self.name

    @classmethod
    def parse(cls: type[_E], value: object) -> _E:
        """Find a member by itself, its name (with or without prefix, case-sensitive) or its number.

        Parameters
        ----------
        value : member, str or int

        Returns
        -------
        member of this enumeration

        Raises
        ------
        TypeError
            `value` is of another type, or of another enumeration.
        ValueError
            There is no such name or number.
        """
        if isinstance(value, str):
            member = cls.__members__.get(value.removeprefix(cls.prefix()))
            if member is None:
                raise _unknown(cls, value)
            return member
        code = _code(cls, value)
        if code not in cls._value2member_map_:
            raise _unknown(cls, code)
        return cls(code)


class DMLFlag(IntFlag):
    """A set of flags of directml.h; `str` gives the names joined by ``|``."""

    def __str__(self) -> str:
        names = [flag.name or "" for flag in type(self).__members__.values() if flag and flag in self]
        return "|".join(names) or "NONE"

    @classmethod
    def prefix(cls) -> str:
        """Return what directml.h writes before each name, such as ``"DML_TENSOR_FLAG_"``."""
        return _PREFIXES[cls.__name__]

    @classmethod
    def parse(cls: type[_F], value: object) -> _F:
        """Find flags by themselves, a name (with or without prefix), a number, or a sequence of those.

        Parameters
        ----------
        value : member, str, int, or sequence of them (joined by "or")

        Returns
        -------
        member of this enumeration

        Raises
        ------
        TypeError
            `value` is of another type, or of another enumeration.
        ValueError
            There is no such name, or a bit that no flag has.
        """
        if isinstance(value, str):
            member = cls.__members__.get(value.removeprefix(cls.prefix()))
            if member is None:
                raise _unknown(cls, value)
            return member
        if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
            flags = cls(0)
            for item in value:
                flags |= cls.parse(item if isinstance(item, str) else _code(cls, item))
            return flags
        code = _code(cls, value)
        if code & ~sum(cls.__members__.values()):
            raise _unknown(cls, code)
        return cls(code)


class OperatorType(DMLEnum):
    """DML_OPERATOR_TYPE: the operators of this family.

    `SCATTER` and `SCATTER_ELEMENTS` are one value, as in the header.
    """

    UPSAMPLE_2D = 66
    GATHER = 67
    SCATTER_ELEMENTS = 94
    SCATTER = 94
    RESAMPLE = 96
    GATHER_ELEMENTS = 107
    GATHER_ND = 108
    SCATTER_ND = 109
    RESAMPLE1 = 116
    RESAMPLE_GRAD = 134
    GATHER_ND1 = 140
    RESAMPLE2 = 161
    RESAMPLE_GRAD1 = 162
    RESAMPLE3 = 175


class TensorType(DMLEnum):
    """DML_TENSOR_TYPE."""

    INVALID = 0
    BUFFER = 1


class TensorDataType(DMLEnum):
    """DML_TENSOR_DATA_TYPE."""

    UNKNOWN = 0
    FLOAT32 = 1
    FLOAT16 = 2
    UINT32 = 3
    UINT16 = 4
    UINT8 = 5
    INT32 = 6
    INT16 = 7
    INT8 = 8
    FLOAT64 = 9
    UINT64 = 10
    INT64 = 11
    UINT4 = 12
    INT4 = 13

    @property
    def bits(self) -> int:
        """Bits of one element; 0 for UNKNOWN."""
        return int("".join(filter(str.isdigit, self.name)) or 0)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The NumPy dtype of one element; ValueError for UNKNOWN and the 4-bit types, which have none."""
        if self.bits < 8:
            raise ValueError(f"TensorDataType: `dtype` must be taken of a type of 8 bits or more, got {self}")
        return np.dtype(self.name.lower())

    @classmethod
    def from_dtype(cls, dtype: npt.DTypeLike) -> TensorDataType:
        """Find the data type of a NumPy dtype of any byte order.

        Raises
        ------
        TypeError
            DirectML has no such data type (bool, complex, strings, ...).
        """
        wanted = np.dtype(dtype)
        member = cls.__members__.get(wanted.name.upper())
        if member is None:
            raise TypeError(
                f"TensorDataType: `dtype` must be int8..64, uint8..64 or float16..64, got {wanted}"
            )
        return member


class TensorFlags(DMLFlag):
    """DML_TENSOR_FLAGS."""

    NONE = 0
    OWNED_BY_DML = 1


class InterpolationMode(DMLEnum):
    """DML_INTERPOLATION_MODE."""

    NEAREST_NEIGHBOR = 0
    LINEAR = 1


class AxisDirection(DMLEnum):
    """DML_AXIS_DIRECTION; a struct of zeros therefore says INCREASING, which rounds up."""

    INCREASING = 0
    DECREASING = 1


class BindingType(DMLEnum):
    """DML_BINDING_TYPE."""

    NONE = 0
    BUFFER = 1
    BUFFER_ARRAY = 2


class ExecutionFlags(DMLFlag):
    """DML_EXECUTION_FLAGS."""

    NONE = 0
    ALLOW_HALF_PRECISION_COMPUTATION = 1
    DISABLE_META_COMMANDS = 2
    DESCRIPTORS_VOLATILE = 4


class CreateDeviceFlags(DMLFlag):
    """DML_CREATE_DEVICE_FLAGS."""

    NONE = 0
    DEBUG = 1


class Feature(DMLEnum):
    """DML_FEATURE: what `Device.check_feature_support` can be asked."""

    TENSOR_DATA_TYPE_SUPPORT = 0
    FEATURE_LEVELS = 1


class FeatureLevel(DMLEnum):
    """DML_FEATURE_LEVEL: `str` gives ``"3_0"``, the number of x_y is 0xXY00."""

    LEVEL_1_0 = 0x1000
    LEVEL_2_0 = 0x2000
    LEVEL_2_1 = 0x2100
    LEVEL_3_0 = 0x3000
    LEVEL_3_1 = 0x3100
    LEVEL_4_0 = 0x4000
    LEVEL_4_1 = 0x4100
    LEVEL_5_0 = 0x5000
    LEVEL_5_1 = 0x5100
    LEVEL_5_2 = 0x5200
    LEVEL_6_0 = 0x6000
    LEVEL_6_1 = 0x6100
    LEVEL_6_2 = 0x6200
    LEVEL_6_3 = 0x6300
    LEVEL_6_4 = 0x6400

    def __str__(self) -> str:
        return self.name.removeprefix("LEVEL_")

    @classmethod
    def parse(cls, value: object, *, name: str = "FeatureLevel: `value`") -> FeatureLevel:
        """Find a level by itself, its number, or ``"3_0"``, ``"3.0"`` or ``"DML_FEATURE_LEVEL_3_0"``.

        Parameters
        ----------
        value : FeatureLevel, int or str
        name : str
            The operator and parameter that an error tells of.

        Raises
        ------
        TypeError
            `value` is of another type; a float is one, as 3.10 would be 3.1.
        ValueError
            There is no such level.
        """
        if not isinstance(value, str):
            code = _code(cls, value, name)
            if code in cls._value2member_map_:
                return cls(code)
        else:
            digits = value.removeprefix("DML_FEATURE_").removeprefix("LEVEL_").replace(".", "_")
            if f"LEVEL_{digits}" in cls.__members__:
                return cls[f"LEVEL_{digits}"]
        shown = repr(value) if isinstance(value, str) else hex(code)
        raise ValueError(f"{name} must be one of {', '.join(map(str, cls))}, got {shown}")


FeatureLevelLike: TypeAlias = FeatureLevel | str | int

_PREFIXES = {
    "OperatorType": "DML_OPERATOR_",
    "TensorType": "DML_TENSOR_TYPE_",
    "TensorDataType": "DML_TENSOR_DATA_TYPE_",
    "TensorFlags": "DML_TENSOR_FLAG_",
    "InterpolationMode": "DML_INTERPOLATION_MODE_",
    "AxisDirection": "DML_AXIS_DIRECTION_",
    "BindingType": "DML_BINDING_TYPE_",
    "ExecutionFlags": "DML_EXECUTION_FLAG_",
    "CreateDeviceFlags": "DML_CREATE_DEVICE_FLAG_",
    "Feature": "DML_FEATURE_",
    "FeatureLevel": "DML_FEATURE_",
}
