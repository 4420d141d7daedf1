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
    AXIS_DIRECTION = auto()
    BOOL = auto()
    SIZE_2D = auto()


_INPUT, _INDICES, _OUTPUT, _UINT, _COUNT, _FLOATS, _INTERPOLATION_MODE, _AXIS_DIRECTION, _BOOL, _SIZE_2D = (
    {"kind": kind} for kind in FieldKind
)

TENSOR_KINDS = (FieldKind.INPUT, FieldKind.INDICES, FieldKind.OUTPUT)
"""The kinds of fields that hold a tensor, in the order of binding."""


@dataclass(frozen=True)
class Size2D:
    """DML_SIZE_2D.

    Parameters
    ----------
    Width, Height : int
    """

    Width: int
    Height: int


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
class GatherOperatorDesc(OperatorDesc):
    """DML_GATHER_OPERATOR_DESC: slices along an axis, ``output[o, k, i] = input[o, indices[k], i]``.

    Parameters
    ----------
    InputTensor : BufferTensorDesc, Sizes (*outer, n, *inner), N dimensions
    IndicesTensor : BufferTensorDesc, N dimensions, values in [-n, n)
        The last `IndexDimensions` of them are real, all before are 1. Negative indices count from the end of
        the axis; they need a signed type, which exists from feature level 3_0.
    OutputTensor : BufferTensorDesc, Sizes (*outer, *k, *inner), N dimensions, DataType of InputTensor
        Leading ones are dropped or put in front to make them N. [doc defect] Example 3 of the page says 2
        IndexDimensions for sizes that only 1 gives.
    Axis : int, in [0, N)
    IndexDimensions : int, in [0, N]
        With 0 there is one index and the axis disappears. [contested] The page says [0, N), and its own
        example 1 has N; the policy `index_dimensions_max` decides.
    """

    Type: ClassVar[OperatorType] = OperatorType.GATHER
    InputTensor: BufferTensorDesc = field(metadata=_INPUT)
    IndicesTensor: BufferTensorDesc = field(metadata=_INDICES)
    OutputTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    Axis: int = field(metadata=_UINT)
    IndexDimensions: int = field(metadata=_UINT)


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
class ScatterOperatorDesc(OperatorDesc):
    """DML_SCATTER_OPERATOR_DESC, also named SCATTER_ELEMENTS: the input with some elements replaced.

    ``output[c, with c[Axis] replaced by indices[c]] = updates[c]``, all else as in the input.

    Parameters
    ----------
    InputTensor : BufferTensorDesc, Sizes (*outer, n, *inner)
        [doc defect] Example 2 of the page declares {2,3} for the 3 by 3 elements that it prints.
    IndicesTensor : BufferTensorDesc, Sizes (*outer, m, *inner), values in [-n, n)
        Off the axis its sizes are those of the input, or smaller (the policy `off_axis`). Negative indices
        count from the end of the axis; they need a signed type, which exists from feature level 3_0.
    UpdatesTensor : BufferTensorDesc, Sizes of IndicesTensor, DataType of InputTensor
    OutputTensor : BufferTensorDesc, Sizes and DataType of InputTensor
    Axis : int, in [0, DimensionCount)

    Notes
    -----
    Several updates of one place: the last in row-major order stays. [contested] The page calls them invalid,
    an older one promised the last; its example 1 has one and shows the last. The policy `scatter_duplicates`
    can make them an error.
    """

    Type: ClassVar[OperatorType] = OperatorType.SCATTER
    InputTensor: BufferTensorDesc = field(metadata=_INPUT)
    IndicesTensor: BufferTensorDesc = field(metadata=_INDICES)
    UpdatesTensor: BufferTensorDesc = field(metadata=_INPUT)
    OutputTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    Axis: int = field(metadata=_UINT)


@dataclass(frozen=True)
class ScatterNDOperatorDesc(OperatorDesc):
    """DML_SCATTER_ND_OPERATOR_DESC: the input with ``output[indices[j], tail] = updates[j, tail]``.

    Parameters
    ----------
    InputTensor : BufferTensorDesc, N dimensions
        The last `InputDimensionCount` = I of them are real, all before are 1.
    IndicesTensor : BufferTensorDesc, N dimensions
        As in `GatherNDOperatorDesc`. [doc defect] The example of the page prints FLOAT32 for it.
    UpdatesTensor : BufferTensorDesc, N dimensions, DataType of InputTensor
        The K - 1 dimensions of indices in front of the tuples, then the last I - T of the input; leading ones
        up to N. [contested] The page writes the last T of the input.
    OutputTensor : BufferTensorDesc, Sizes and DataType of InputTensor
    InputDimensionCount, IndicesDimensionCount : int, in [1, N]
        [contested] The page says [1, N), that of GATHER_ND [1, N].

    Notes
    -----
    Several updates of one place: as in `ScatterOperatorDesc`.
    """

    Type: ClassVar[OperatorType] = OperatorType.SCATTER_ND
    InputTensor: BufferTensorDesc = field(metadata=_INPUT)
    IndicesTensor: BufferTensorDesc = field(metadata=_INDICES)
    UpdatesTensor: BufferTensorDesc = field(metadata=_INPUT)
    OutputTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    InputDimensionCount: int = field(metadata=_UINT)
    IndicesDimensionCount: int = field(metadata=_UINT)


@dataclass(frozen=True)
class Upsample2DOperatorDesc(OperatorDesc):
    """DML_UPSAMPLE_2D_OPERATOR_DESC: the last two dimensions enlarged by whole numbers.

    Parameters
    ----------
    InputTensor : BufferTensorDesc, Sizes (*outer, h, w)
    OutputTensor : BufferTensorDesc, Sizes (*outer, h * Height, w * Width), DataType of InputTensor
    ScaleSize : Size2D
    InterpolationMode : InterpolationMode, or its name or number

    Notes
    -----
    [inf] The page gives no formula; this is RESAMPLE with these scales: ``x = (X + 0.5) / s - 0.5``. Nearest
    is then ``floor(X / s)``: no tie can occur.
    """

    Type: ClassVar[OperatorType] = OperatorType.UPSAMPLE_2D
    InputTensor: BufferTensorDesc = field(metadata=_INPUT)
    OutputTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    ScaleSize: Size2D = field(metadata=_SIZE_2D)
    InterpolationMode: enums.InterpolationMode | str | int = field(metadata=_INTERPOLATION_MODE)


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


@dataclass(frozen=True)
class Resample2OperatorDesc(OperatorDesc):
    """DML_RESAMPLE2_OPERATOR_DESC: RESAMPLE1 whose nearest neighbour is below or above the position.

    Parameters
    ----------
    InputTensor, OutputTensor, InterpolationMode
        As in `ResampleOperatorDesc`.
    RoundingDirection : AxisDirection, or its name or number
        NEAREST_NEIGHBOR takes ``ceil(x)`` for INCREASING and ``floor(x)`` for DECREASING; LINEAR does not
        look at it. INCREASING is 0: a struct of zeros rounds up.
    DimensionCount, Scales, InputPixelOffsets, OutputPixelOffsets
        As in `Resample1OperatorDesc`.

    Notes
    -----
    There is no half-pixel shift in the rounding. DECREASING with InputPixelOffsets less 0.5 is RESAMPLE1.
    [contested] The page says so of the OutputPixelOffsets, which gives ``floor(x + 0.5 / Scale)``.
    """

    Type: ClassVar[OperatorType] = OperatorType.RESAMPLE2
    InputTensor: BufferTensorDesc = field(metadata=_INPUT)
    OutputTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    InterpolationMode: enums.InterpolationMode | str | int = field(metadata=_INTERPOLATION_MODE)
    RoundingDirection: enums.AxisDirection | str | int = field(metadata=_AXIS_DIRECTION)
    DimensionCount: int | None = field(metadata=_COUNT)
    Scales: Sequence[float] = field(metadata=_FLOATS)
    InputPixelOffsets: Sequence[float] = field(metadata=_FLOATS)
    OutputPixelOffsets: Sequence[float] = field(metadata=_FLOATS)


@dataclass(frozen=True)
class Resample3OperatorDesc(OperatorDesc):
    """DML_RESAMPLE3_OPERATOR_DESC: RESAMPLE2 that may smooth where it reduces.

    Parameters
    ----------
    InputTensor, OutputTensor, InterpolationMode, RoundingDirection
        As in `Resample2OperatorDesc`.
    DimensionCount, Scales, InputPixelOffsets, OutputPixelOffsets
        As in `Resample1OperatorDesc`.
    Antialiased : bool
        Whether LINEAR stretches its filter along dimensions with ``1 / Scale > 2``. [unk] That the condition
        is one of each dimension, and the weights: see the policy `aa_filter`.
    """

    Type: ClassVar[OperatorType] = OperatorType.RESAMPLE3
    InputTensor: BufferTensorDesc = field(metadata=_INPUT)
    OutputTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    InterpolationMode: enums.InterpolationMode | str | int = field(metadata=_INTERPOLATION_MODE)
    RoundingDirection: enums.AxisDirection | str | int = field(metadata=_AXIS_DIRECTION)
    DimensionCount: int | None = field(metadata=_COUNT)
    Scales: Sequence[float] = field(metadata=_FLOATS)
    InputPixelOffsets: Sequence[float] = field(metadata=_FLOATS)
    OutputPixelOffsets: Sequence[float] = field(metadata=_FLOATS)
    Antialiased: bool | int = field(metadata=_BOOL)


@dataclass(frozen=True)
class ResampleGradOperatorDesc(OperatorDesc):
    """DML_RESAMPLE_GRAD_OPERATOR_DESC: the transpose of RESAMPLE1, sums of weighted gradients.

    Parameters
    ----------
    InputGradientTensor : BufferTensorDesc, Sizes of the output of RESAMPLE1
    OutputGradientTensor : BufferTensorDesc, Sizes of its input, DataType of InputGradientTensor
    InterpolationMode, DimensionCount, Scales, InputPixelOffsets, OutputPixelOffsets
        Those of RESAMPLE1, forwards. [contested] TensorFlow's plugin passes the two offsets exchanged; the
        policy `grad_offsets` decides.

    Notes
    -----
    ``output_gradient[i] = sum over X of W(X, i) * input_gradient[X]``, W the weights of RESAMPLE1: taps
    beyond the edge add up on the edge. Sums are taken in float64 in a fixed order and rounded once.
    [contested] The example of the page has ties that go down: the policy `nearest_ties`.
    """

    Type: ClassVar[OperatorType] = OperatorType.RESAMPLE_GRAD
    InputGradientTensor: BufferTensorDesc = field(metadata=_INPUT)
    OutputGradientTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    InterpolationMode: enums.InterpolationMode | str | int = field(metadata=_INTERPOLATION_MODE)
    DimensionCount: int | None = field(metadata=_COUNT)
    Scales: Sequence[float] = field(metadata=_FLOATS)
    InputPixelOffsets: Sequence[float] = field(metadata=_FLOATS)
    OutputPixelOffsets: Sequence[float] = field(metadata=_FLOATS)


@dataclass(frozen=True)
class ResampleGrad1OperatorDesc(OperatorDesc):
    """DML_RESAMPLE_GRAD1_OPERATOR_DESC: the transpose of RESAMPLE2.

    Parameters
    ----------
    InputGradientTensor, OutputGradientTensor
        As in `ResampleGradOperatorDesc`.
    InterpolationMode, RoundingDirection, DimensionCount, Scales, InputPixelOffsets, OutputPixelOffsets
        Those of RESAMPLE2, forwards; the policy `grad_offsets` holds here too.
    """

    Type: ClassVar[OperatorType] = OperatorType.RESAMPLE_GRAD1
    InputGradientTensor: BufferTensorDesc = field(metadata=_INPUT)
    OutputGradientTensor: BufferTensorDesc = field(metadata=_OUTPUT)
    InterpolationMode: enums.InterpolationMode | str | int = field(metadata=_INTERPOLATION_MODE)
    RoundingDirection: enums.AxisDirection | str | int = field(metadata=_AXIS_DIRECTION)
    DimensionCount: int | None = field(metadata=_COUNT)
    Scales: Sequence[float] = field(metadata=_FLOATS)
    InputPixelOffsets: Sequence[float] = field(metadata=_FLOATS)
    OutputPixelOffsets: Sequence[float] = field(metadata=_FLOATS)


OPERATOR_DESCS: Mapping[OperatorType, type[OperatorDesc]] = {
    desc.Type: desc
    for desc in (
        GatherOperatorDesc,
        GatherElementsOperatorDesc,
        GatherNDOperatorDesc,
        GatherND1OperatorDesc,
        ScatterOperatorDesc,
        ScatterNDOperatorDesc,
        Upsample2DOperatorDesc,
        ResampleOperatorDesc,
        Resample1OperatorDesc,
        Resample2OperatorDesc,
        Resample3OperatorDesc,
        ResampleGradOperatorDesc,
        ResampleGrad1OperatorDesc,
    )
}
"""The descriptor of each operator."""
