"""The operator descriptors: one frozen dataclass for each DML_*_OPERATOR_DESC, with the names of its fields.

Uses `enums`, `tensor`; used by `inspection`, `rules` and `run`. Making a descriptor checks nothing; `check`
does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum, auto
from typing import ClassVar

from remapnd.directml import enums
from remapnd.directml.enums import OperatorType
from remapnd.directml.tensor import BufferTensorDesc


class FieldKind(Enum):
    """What a field of a descriptor holds; readers of descriptors need know nothing else of it."""

    INPUT = auto()
    INDICES = auto()
    OUTPUT = auto()
    UINT = auto()
    COUNT = auto()  # the length of the FLOATS fields, which None leaves to them
    FLOATS = auto()
    INTERPOLATION_MODE = auto()


_INPUT, _INDICES, _OUTPUT, _UINT, _COUNT, _FLOATS, _INTERPOLATION_MODE = (
    {"kind": kind} for kind in FieldKind
)


class OperatorDesc:
    """Base of all descriptors."""

    Type: ClassVar[OperatorType]

    @classmethod
    def field_kinds(cls) -> dict[str, FieldKind]:
        """Return the kind of every field, in the order of the struct, which is also the order of binding."""
        return {f.name: f.metadata["kind"] for f in fields(cls)}  # type: ignore[arg-type]

    @classmethod
    def tensor_names(cls, *kinds: FieldKind) -> list[str]:
        """Return the names of the fields of these kinds, in the order of the struct."""
        return [name for name, kind in cls.field_kinds().items() if kind in kinds]


@dataclass(frozen=True)
class GatherElementsOperatorDesc(OperatorDesc):
    """DML_GATHER_ELEMENTS_OPERATOR_DESC: ``output[c] = input[c, with c[Axis] replaced by indices[c]]``.

    Parameters
    ----------
    InputTensor : BufferTensorDesc, Sizes (*outer, n, *inner)
    IndicesTensor : BufferTensorDesc, Sizes (*outer, m, *inner), values in [-n, n)
    OutputTensor : BufferTensorDesc, Sizes of IndicesTensor, DataType of InputTensor
        [doc defect] The example of the page prints UINT32 for FLOAT32 input; the page's own constraint is
        used.
    Axis : int, in [0, DimensionCount)

    Notes
    -----
    Negative indices count from the end of the axis; they need a signed type, which exists from feature level
    3_0.
    """

    Type: ClassVar[OperatorType] = OperatorType.GATHER_ELEMENTS
    InputTensor: BufferTensorDesc = field(metadata=_INPUT)
    IndicesTensor: BufferTensorDesc = field(metadata=_INDICES)
    OutputTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    Axis: int = field(metadata=_UINT)


@dataclass(frozen=True)
class GatherNDOperatorDesc(OperatorDesc):
    """DML_GATHER_ND_OPERATOR_DESC: ``output[j, tail] = input[indices[j], tail]``.

    Parameters
    ----------
    InputTensor : BufferTensorDesc, N dimensions
        The last `InputDimensionCount` = I of them are real, all before are 1.
    IndicesTensor : BufferTensorDesc, N dimensions
        The last `IndicesDimensionCount` = K of them are real, all before are 1. The very last is the length T
        of an index tuple, in [1, I]. Negative indices count from the end of their dimension; they need a
        signed type, which exists from feature level 3_0.
    OutputTensor : BufferTensorDesc, N dimensions, DataType of InputTensor
        The K - 1 dimensions of indices in front of the tuples, then the last I - T of the input; leading ones
        up to N. [contested] The page writes the last T of the input, which its own example {3,4,5,6,7} with T
        = 3, giving {1,1,2,6,7}, contradicts.
    InputDimensionCount, IndicesDimensionCount : int, in [1, N]
    """

    Type: ClassVar[OperatorType] = OperatorType.GATHER_ND
    InputTensor: BufferTensorDesc = field(metadata=_INPUT)
    IndicesTensor: BufferTensorDesc = field(metadata=_INDICES)
    OutputTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    InputDimensionCount: int = field(metadata=_UINT)
    IndicesDimensionCount: int = field(metadata=_UINT)


@dataclass(frozen=True)
class GatherND1OperatorDesc(OperatorDesc):
    """DML_GATHER_ND1_OPERATOR_DESC: GATHER_ND with leading dimensions that input and indices share.

    Parameters
    ----------
    InputTensor, IndicesTensor, OutputTensor, InputDimensionCount, IndicesDimensionCount
        As in `GatherNDOperatorDesc`; with B batch dimensions T lies in [1, I - B] and the output ends in the
        last I - B - T dimensions of the input.
    BatchDimensionCount : int, in [0, min(InputDimensionCount, IndicesDimensionCount))
        The first B real dimensions of input and indices must be equal. [inf] The page does not say so, but
        nothing else is defined.
    """

    Type: ClassVar[OperatorType] = OperatorType.GATHER_ND1
    InputTensor: BufferTensorDesc = field(metadata=_INPUT)
    IndicesTensor: BufferTensorDesc = field(metadata=_INDICES)
    OutputTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    InputDimensionCount: int = field(metadata=_UINT)
    IndicesDimensionCount: int = field(metadata=_UINT)
    BatchDimensionCount: int = field(metadata=_UINT)


@dataclass(frozen=True)
class ResampleOperatorDesc(OperatorDesc):
    """DML_RESAMPLE_OPERATOR_DESC: resampling between pixel centres.

    Parameters
    ----------
    InputTensor : BufferTensorDesc, N dimensions
    OutputTensor : BufferTensorDesc, N dimensions of any sizes, DataType of InputTensor
    InterpolationMode : InterpolationMode, or its name or number
    ScaleCount : int, equal to N; or None
    Scales : sequence of float, shape (N,)
        Each is rounded to float32 and must then be finite and above 0. [inf] The page sets no bound. It need
        not be the ratio of the sizes: a larger result is cropped, a smaller one continued with the values at
        the edge.

    Notes
    -----
    Equal to RESAMPLE1 with all InputPixelOffsets 0.5 and OutputPixelOffsets -0.5. [doc]
    """

    Type: ClassVar[OperatorType] = OperatorType.RESAMPLE
    InputTensor: BufferTensorDesc = field(metadata=_INPUT)
    OutputTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    InterpolationMode: enums.InterpolationMode | str | int = field(metadata=_INTERPOLATION_MODE)
    ScaleCount: int | None = field(metadata=_COUNT)
    Scales: Sequence[float] = field(metadata=_FLOATS)


@dataclass(frozen=True)
class Resample1OperatorDesc(OperatorDesc):
    """DML_RESAMPLE1_OPERATOR_DESC: ``X = (x + InputPixelOffset) * Scale + OutputPixelOffset``.

    Parameters
    ----------
    InputTensor, OutputTensor, InterpolationMode
        As in `ResampleOperatorDesc`.
    DimensionCount : int, equal to N; or None
    Scales : sequence of float, shape (N,)
        As in `ResampleOperatorDesc`.
    InputPixelOffsets, OutputPixelOffsets : sequence of float, shape (N,)
        Each is rounded to float32 and must then be finite.
    """

    Type: ClassVar[OperatorType] = OperatorType.RESAMPLE1
    InputTensor: BufferTensorDesc = field(metadata=_INPUT)
    OutputTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    InterpolationMode: enums.InterpolationMode | str | int = field(metadata=_INTERPOLATION_MODE)
    DimensionCount: int | None = field(metadata=_COUNT)
    Scales: Sequence[float] = field(metadata=_FLOATS)
    InputPixelOffsets: Sequence[float] = field(metadata=_FLOATS)
    OutputPixelOffsets: Sequence[float] = field(metadata=_FLOATS)


OPERATOR_DESCS: Mapping[OperatorType, type[OperatorDesc]] = {
    desc.Type: desc
    for desc in (
        GatherElementsOperatorDesc,
        GatherNDOperatorDesc,
        GatherND1OperatorDesc,
        ResampleOperatorDesc,
        Resample1OperatorDesc,
    )
}
"""The descriptor of each operator."""
