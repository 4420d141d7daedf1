"""Operators of a model: JSON objects to the descriptors of `directml`.

Uses `values` and the descriptors; used by `model`. A new operator needs nothing here, unless one of
its fields is of a new kind.
"""

from __future__ import annotations

from collections.abc import Callable

from remapnd.directml.dxdispatch.values import UINT64_MAX, Value, describe
from remapnd.directml.enums import (
    AxisDirection,
    InterpolationMode,
    OperatorType,
    TensorDataType,
    TensorFlags,
    TensorType,
)
from remapnd.directml.operators import OPERATOR_DESCS, FieldKind, OperatorDesc, Size2D
from remapnd.directml.tensor import BufferTensorDesc
from remapnd.errors import word


def _read_tensor(value: Value) -> BufferTensorDesc:
    """Read a tensor; its fields may stand in a ``Desc`` of their own."""
    kind = value.find("Type")
    if kind is not None and kind.enumerator(TensorType) is not TensorType.BUFFER:
        raise kind.error("be DML_TENSOR_TYPE_BUFFER")
    fields = value.find("Desc", "desc") or value
    strides = fields.find("Strides")
    flags = fields.find("Flags")
    count = fields.find("DimensionCount")
    total = fields.find("TotalTensorSizeInBytes")
    alignment = fields.find("GuaranteedBaseOffsetAlignment")
    return BufferTensorDesc(
        DataType=fields.member("DataType").enumerator(TensorDataType),
        Sizes=fields.member("Sizes").integers(),
        Strides=None if strides is None else strides.integers() or None,
        Flags=TensorFlags.NONE if flags is None else flags.flags(TensorFlags),
        DimensionCount=None if count is None else count.integer(),
        TotalTensorSizeInBytes=0 if total is None else total.integer(0, UINT64_MAX),
        GuaranteedBaseOffsetAlignment=0 if alignment is None else alignment.integer(),
    )


def _read_mode(value: Value) -> InterpolationMode:
    """Read an interpolation mode."""
    return value.enumerator(InterpolationMode)


def _read_direction(value: Value) -> AxisDirection:
    """Read a rounding direction."""
    return value.enumerator(AxisDirection)


def _read_bool(value: Value) -> bool:
    """Read true, false, 1 or 0."""
    return bool(value.integer(0, 1)) if type(value.content) is int else value.boolean()


def _read_size(value: Value) -> Size2D:
    """Read a width and a height."""
    return Size2D(value.member("Width").integer(), value.member("Height").integer())


_READERS: dict[FieldKind, Callable[[Value], object]] = {
    FieldKind.INPUT: _read_tensor,
    FieldKind.INDICES: _read_tensor,
    FieldKind.OUTPUT: _read_tensor,
    FieldKind.UINT: Value.integer,
    FieldKind.COUNT: Value.integer,
    FieldKind.FLOATS: Value.reals,
    FieldKind.INTERPOLATION_MODE: _read_mode,
    FieldKind.AXIS_DIRECTION: _read_direction,
    FieldKind.BOOL: _read_bool,
    FieldKind.SIZE_2D: _read_size,
}

_OTHER_KINDS = ("hlsl", "onnx", "dmlserializedgraph")


def read_operator(value: Value) -> OperatorDesc:
    """Read the descriptor of a dispatchable: fields of ``desc`` or ``Desc``, or of the dispatchable itself.

    Parameters
    ----------
    value : the dispatchable

    Returns
    -------
    descriptor of the operator that ``type`` names; its values are not checked against the operator's rules

    Raises
    ------
    ModelError
        The operator is not in this runtime, or a field is missing or of a wrong JSON type.
    """
    desc_class = _desc_class(value.member("type"))
    desc = value.find("desc", "Desc") or value
    kinds = desc_class.field_kinds().items()
    return desc_class(**{name: _READERS[kind](desc.member(name)) for name, kind in kinds})


def _desc_class(value: Value) -> type[OperatorDesc]:
    """Find the operator that a ``type`` names."""
    name = value.text()
    if name.lower() in _OTHER_KINDS:
        raise value.error(
            "be an operator: HLSL shaders, ONNX models and serialized graphs are not in this runtime"
        )
    try:
        return OPERATOR_DESCS[OperatorType.parse(name)]
    except (KeyError, ValueError):
        known = [kind.name for kind in OPERATOR_DESCS]
        stem = name.removeprefix(OperatorType.prefix())
        meant = word(stem, known).removeprefix(repr(stem))
        rule = f"be one of {', '.join(known)}, as others are not in this runtime"
        raise value.error(rule, describe(name) + meant) from None
