"""Every rule of `check` by its text, and that nothing a field can hold makes it raise."""

import math
import pickle
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remapnd.directml import (
    OPERATOR_DESCS,
    BufferTensorDesc,
    DirectMLError,
    FeatureLevel,
    GatherElementsOperatorDesc,
    GatherND1OperatorDesc,
    GatherNDOperatorDesc,
    GatherOperatorDesc,
    OperatorDesc,
    OperatorType,
    Policy,
    Resample1OperatorDesc,
    Resample3OperatorDesc,
    ResampleGradOperatorDesc,
    ResampleOperatorDesc,
    ScatterNDOperatorDesc,
    ScatterOperatorDesc,
    Size2D,
    TensorDataType,
    Upsample2DOperatorDesc,
    Violation,
    check,
    supported_levels,
)


def tensor(sizes, data_type="FLOAT32", **fields):
    return BufferTensorDesc(data_type, sizes, **fields)


def elements(data=(2, 3), indices=(2, 2), output=(2, 2), axis=1):
    return GatherElementsOperatorDesc(tensor(data), tensor(indices, "INT64"), tensor(output), axis)


def gather_nd(data, indices, output, *counts):
    kind = GatherNDOperatorDesc if len(counts) == 2 else GatherND1OperatorDesc
    return kind(tensor(data), tensor(indices, "INT64"), tensor(output), *counts)


def resample(scales=(1, 2), count=2, mode="LINEAR", data=(2, 2), output=(2, 4)):
    return ResampleOperatorDesc(tensor(data), tensor(output), mode, count, scales)


def resample1(scales=(1, 2), count=2, inputs=(0.5, 0.5), outputs=(-0.5, -0.5), mode=1):
    return Resample1OperatorDesc(tensor((2, 2)), tensor((2, 4)), mode, count, scales, inputs, outputs)


def gather(data=(1, 3, 3), indices=(1, 1, 2), output=(3, 1, 2), axis=2, count=2):
    return GatherOperatorDesc(tensor(data), tensor(indices, "INT64"), tensor(output), axis, count)


def scatter(data=(2, 3), indices=(2, 2), updates=(2, 2), output=(2, 3), axis=1):
    return ScatterOperatorDesc(tensor(data), tensor(indices, "INT64"), tensor(updates), tensor(output), axis)


def scatter_nd(data, indices, updates, output, *counts):
    return ScatterNDOperatorDesc(
        tensor(data), tensor(indices, "INT64"), tensor(updates), tensor(output), *counts
    )


def upsample(data=(1, 1, 2, 3), output=(1, 1, 4, 9), scale=Size2D(Width=3, Height=2), mode="LINEAR"):  # noqa: B008
    return Upsample2DOperatorDesc(tensor(data), tensor(output), scale, mode)


def resample3(direction="INCREASING", antialiased=True, **fields):
    plain = resample1(**fields)
    tensors = plain.InputTensor, plain.OutputTensor, plain.InterpolationMode
    floats = plain.Scales, plain.InputPixelOffsets, plain.OutputPixelOffsets
    return Resample3OperatorDesc(*tensors, direction, plain.DimensionCount, *floats, antialiased)


def texts(desc, *args):
    return [str(v) for v in check(desc, *args)]


VALID = [
    elements(),
    elements(indices=(1, 7), output=(1, 7)),
    gather_nd((1, 2, 2, 2), (1, 1, 2, 2), (1, 1, 2, 2), 3, 2),
    gather_nd((3, 4, 5, 6, 7, 1)[:5], (1, 1, 1, 2, 3), (1, 1, 2, 6, 7), 5, 3),
    gather_nd((1, 3, 2, 2), (1, 3, 2, 2), (1, 1, 3, 2), 3, 3, 1),
    gather_nd((2, 2), (2, 2), (1, 1, 2)[1:], 2, 2),
    gather_nd((2, 2), (1, 2), (1, 1), 2, 1),
    gather_nd((2, 2), (2, 2), (2, 1)[::-1], 2, 2, 0),
    resample(),
    resample(count=None),
    resample(scales=np.array([1, 2.5], np.float16)),
    resample(scales=(Fraction(1, 3), 3.4028235e38)),
    resample(mode=0),
    resample1(),
    resample1(count=None, inputs=[0, -1e9], outputs=range(2)),
    gather(),
    gather((1, 3, 2), (1, 2, 2), (2, 2, 2), 1, 2),
    gather((3, 2), (1, 4), (4, 2), 0, 1),
    gather((3, 2), (1, 1), (1, 2), 0, 0),
    gather((1, 3), (2, 2), (2, 2), 1, 2),
    gather((4,), (5,), (5,), 0, 1),
    scatter(),
    scatter(indices=(1, 7), updates=(1, 7)),
    scatter_nd((1, 8), (4, 1), (1, 4), (1, 8), 1, 2),
    scatter_nd((3, 4, 5, 6, 7), (1, 1, 1, 2, 3), (1, 1, 2, 6, 7), (3, 4, 5, 6, 7), 5, 3),
    upsample(),
    upsample((1, 1, 1, 2, 3), (1, 1, 1, 4, 9)),
    resample3(),
    resample3(direction=1, antialiased=0),
    resample3(direction="DML_AXIS_DIRECTION_DECREASING", antialiased=np.bool_(True)),
    ResampleGradOperatorDesc(tensor((2, 4)), tensor((2, 2)), 0, 2, (1, 2), (0.5, 0.5), (-0.5, -0.5)),
]


@pytest.mark.parametrize("desc", VALID, ids=repr)
def test_valid_descriptors(desc):
    assert check(desc) == []
    assert check(desc, FeatureLevel.LEVEL_6_4, Policy()) == []


def with_input(**changes):
    return replace(elements(), InputTensor=replace(tensor((2, 3)), **changes))


def counted(count):
    """Describe a gather whose tensors have `count` dimensions."""
    return elements((1,) * count, (1,) * count, (1,) * count, 0)


@pytest.mark.parametrize(
    ("desc", "field", "text"),
    [
        (counted(9), "InputTensor.DimensionCount", "must lie in [1, 8] at feature level 6_4, got 9"),
        (counted(0), "OutputTensor.DimensionCount", "must lie in [1, 8] at feature level 6_4, got 0"),
        (
            replace(elements(), IndicesTensor=tensor((2, 2), "UINT4")),
            "IndicesTensor.DataType",
            "must be one of INT64, INT32, UINT64, UINT32 at feature level 6_4, got UINT4",
        ),
        (
            replace(elements(), InputTensor=tensor((2, 3), "UNKNOWN")),
            "InputTensor.DataType",
            "must be one of FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16, "
            "UINT8 at feature level 6_4, got UNKNOWN",
        ),
    ],
)
def test_counts_and_types(desc, field, text):
    assert f"GATHER_ELEMENTS: `{field}` {text}" in texts(desc)


def with_output(sizes=(2, 2), **changes):
    return replace(elements(output=sizes), OutputTensor=replace(tensor(sizes), **changes))


TENSOR_RULES = [
    (with_input(DataType="FLOAT33"), "InputTensor.DataType", "must be a DML_TENSOR_DATA_TYPE, got 'FLOAT33'"),
    (with_input(DataType=None), "InputTensor.DataType", "must be a DML_TENSOR_DATA_TYPE, got None"),
    (with_input(Flags="OWNED"), "InputTensor.Flags", "must be a DML_TENSOR_FLAGS, got 'OWNED'"),
    (with_input(Flags=2), "InputTensor.Flags", "must be a DML_TENSOR_FLAGS, got 2"),
    (with_input(Sizes=5), "InputTensor.Sizes", "must be a sequence of integers, got 5"),
    (with_input(Sizes="23"), "InputTensor.Sizes", "must be a sequence of integers, got '23'"),
    (with_input(Sizes=(2, 0)), "InputTensor.Sizes[1]", "must be an integer in [1, 4294967295], got 0"),
    (with_input(Sizes=(-2, 3)), "InputTensor.Sizes[0]", "must be an integer in [1, 4294967295], got -2"),
    (with_input(Sizes=(2, 3.0)), "InputTensor.Sizes[1]", "must be an integer in [1, 4294967295], got 3.0"),
    (with_input(Sizes=(True, 3)), "InputTensor.Sizes[0]", "must be an integer in [1, 4294967295], got True"),
    (
        with_input(Sizes=(2, 2**32)),
        "InputTensor.Sizes[1]",
        "must be an integer in [1, 4294967295], got 4294967296",
    ),
    (
        with_input(Sizes=(2, 2**31)),
        "InputTensor.Sizes",
        "must have a product of at most 4294967295, got (2, 2147483648)",
    ),
    (with_input(DimensionCount=3), "InputTensor.DimensionCount", "must equal the number of Sizes = 2, got 3"),
    (with_input(DimensionCount=1), "InputTensor.DimensionCount", "must equal the number of Sizes = 2, got 1"),
    (
        with_input(DimensionCount="2"),
        "InputTensor.DimensionCount",
        "must equal the number of Sizes = 2, got '2'",
    ),
    (
        with_input(Sizes=None, DimensionCount=()),
        "InputTensor.DimensionCount",
        "must be an integer, got ()",
    ),
    (with_input(Strides=1), "InputTensor.Strides", "must be a sequence of integers, got 1"),
    (with_input(Strides=(1,)), "InputTensor.Strides", "must have as many elements as Sizes = 2, got (1,)"),
    (with_input(Strides=()), "InputTensor.Strides", "must have as many elements as Sizes = 2, got ()"),
    (with_input(Strides=(-3, 1)), "InputTensor.Strides[0]", "must be an integer in [0, 4294967295], got -3"),
    (
        with_input(Strides=(2**32 - 1, 1)),
        "InputTensor.Strides",
        "must keep all elements within 4294967295 elements of the first, got (4294967295, 1)",
    ),
    (
        with_input(TotalTensorSizeInBytes=23),
        "InputTensor.TotalTensorSizeInBytes",
        "must be at least 24, or 0, got 23",
    ),
    (
        with_input(Strides=(8, 2), TotalTensorSizeInBytes=51),
        "InputTensor.TotalTensorSizeInBytes",
        "must be at least 52, or 0, got 51",
    ),
    (
        with_input(TotalTensorSizeInBytes=-4),
        "InputTensor.TotalTensorSizeInBytes",
        "must be an integer in [0, 18446744073709551615], got -4",
    ),
    (
        with_input(GuaranteedBaseOffsetAlignment=12),
        "InputTensor.GuaranteedBaseOffsetAlignment",
        "must be 0 or a power of two, at least 4, got 12",
    ),
    (
        with_input(GuaranteedBaseOffsetAlignment=2),
        "InputTensor.GuaranteedBaseOffsetAlignment",
        "must be 0 or a power of two, at least 4, got 2",
    ),
    (
        with_input(GuaranteedBaseOffsetAlignment=None),
        "InputTensor.GuaranteedBaseOffsetAlignment",
        "must be 0 or a power of two, at least 4, got None",
    ),
    (with_output(Flags="OWNED_BY_DML"), "OutputTensor.Flags", "must be NONE for an output, got OWNED_BY_DML"),
    (
        with_output(Strides=(0, 1)),
        "OutputTensor.Strides",
        "must give each element of Sizes (2, 2) its own address (output_overlap is 'reject'), got (0, 1)",
    ),
    (
        with_output(Strides=(1, 1)),
        "OutputTensor.Strides",
        "must give each element of Sizes (2, 2) its own address (output_overlap is 'reject'), got (1, 1)",
    ),
    (
        with_output(DataType="INT32"),
        "OutputTensor.DataType",
        "must equal InputTensor.DataType = FLOAT32, got INT32",
    ),
    (replace(elements(), InputTensor=None), "InputTensor", "must be a BufferTensorDesc, got None"),
    (replace(elements(), IndicesTensor=(2, 2)), "IndicesTensor", "must be a BufferTensorDesc, got (2, 2)"),
]


@pytest.mark.parametrize(("desc", "field", "text"), TENSOR_RULES)
def test_tensor_rules(desc, field, text):
    assert f"GATHER_ELEMENTS: `{field}` {text}" in texts(desc)


@pytest.mark.parametrize(
    "desc",
    [
        with_input(Flags=["OWNED_BY_DML"]),
        with_input(TotalTensorSizeInBytes=25),
        with_input(TotalTensorSizeInBytes=0),
        with_input(DimensionCount=2),
        with_input(GuaranteedBaseOffsetAlignment=16),
        with_input(Strides=(0, 0)),
        with_input(Strides=np.array([5, 1], np.uint32)),
        with_input(Sizes=[2, np.int8(3)]),
        with_output(Strides=(1, 2)),
        with_output(sizes=(2, 2), Strides=(7, 3)),
    ],
)
def test_tensor_rules_let_pass(desc):
    assert check(desc) == []


OPERATOR_RULES = [
    (elements(axis=2), ["`Axis` must lie in [0, 2), got 2"]),
    (elements(axis=-1), ["`Axis` must be an integer in [0, 4294967295], got -1"]),
    (elements(axis=None), ["`Axis` must be an integer in [0, 4294967295], got None"]),
    (
        elements(indices=(3, 2), output=(3, 2)),
        ["`IndicesTensor.Sizes[0]` must be at most InputTensor.Sizes[0] = 2, got 3"],
    ),
    (elements(output=(2, 3)), ["`OutputTensor.Sizes` must equal IndicesTensor.Sizes = (2, 2), got (2, 3)"]),
    (
        elements(indices=(1, 2, 2), output=(2, 2)),
        [
            "`IndicesTensor.DimensionCount` must equal InputTensor.DimensionCount = 2, got 3",
            "`OutputTensor.Sizes` must equal IndicesTensor.Sizes = (1, 2, 2), got (2, 2)",
        ],
    ),
    (
        gather_nd((2, 2), (2, 1), (2, 2), 0, 3),
        [
            "`InputDimensionCount` must lie in [1, 2], got 0",
            "`IndicesDimensionCount` must lie in [1, 2], got 3",
        ],
    ),
    (
        gather_nd((2, 2, 2), (2, 1, 1), (1, 1, 2), 2, 2),
        [
            "`InputTensor.Sizes[0]` must be 1, as InputDimensionCount = 2 makes the dimensions before 1 "
            "padding, got 2",
            "`IndicesTensor.Sizes[0]` must be 1, as IndicesDimensionCount = 2 makes the dimensions before 1 "
            "padding, got 2",
        ],
    ),
    (
        gather_nd((1, 2, 2), (1, 2, 3), (1, 1, 2), 2, 2),
        [
            "`IndicesTensor.Sizes[2]` must be at most InputDimensionCount = 2, as the length of an index "
            "tuple, got 3"
        ],
    ),
    (
        gather_nd((3, 2, 2), (3, 2, 3), (1, 3, 2), 3, 3, 1),
        [
            "`IndicesTensor.Sizes[2]` must be at most InputDimensionCount - BatchDimensionCount = 2, as the "
            "length of an index tuple, got 3"
        ],
    ),
    (
        gather_nd((3, 2, 2), (3, 2, 2), (1, 3, 2), 3, 3, 3),
        [
            "`BatchDimensionCount` must be less than min(InputDimensionCount, IndicesDimensionCount) = 3, "
            "got 3"
        ],
    ),
    (
        gather_nd((1, 3, 2, 2), (1, 4, 2, 2), (1, 1, 4, 2), 3, 3, 1),
        ["`IndicesTensor.Sizes[1]` must equal InputTensor.Sizes[1] = 3, a batch dimension, got 4"],
    ),
    # The literal formula of the page, with the last T dimensions of the input, is not accepted.
    (
        gather_nd((3, 4, 5, 6, 7), (1, 1, 1, 2, 3), (1, 2, 5, 6, 7), 5, 3),
        ["`OutputTensor.Sizes` must be (1, 1, 2, 6, 7), got (1, 2, 5, 6, 7)"],
    ),
    (
        gather_nd((2, 3), (4, 1), (1, 1), 2, 2),
        ["`OutputTensor.Sizes` must be (4, 3), got (1, 1)"],
    ),
    (
        gather_nd((2, 3, 4), (4, 5, 1), (1, 1, 1), 3, 3),
        ["`OutputTensor.DimensionCount` must be at least 4 to hold the sizes (4, 5, 3, 4), got 3"],
    ),
    (resample(mode="CUBIC"), ["`InterpolationMode` must be one of NEAREST_NEIGHBOR, LINEAR, got 'CUBIC'"]),
    (resample(mode=2), ["`InterpolationMode` must be one of NEAREST_NEIGHBOR, LINEAR, got 2"]),
    (
        resample(count=3),
        [
            "`ScaleCount` must equal InputTensor.DimensionCount = 2, got 3",
            "`Scales` must have as many values as ScaleCount = 3, got (1, 2)",
        ],
    ),
    (
        resample(count=None, scales=[1.0]),
        ["`Scales` must have as many values as InputTensor.DimensionCount = 2, got [1.0]"],
    ),
    (resample(count=-1), ["`ScaleCount` must be an integer in [0, 4294967295], got -1"]),
    (resample(scales=3.0), ["`Scales` must be a sequence of numbers, got 3.0"]),
    (resample(scales=("1", 2)), ["`Scales[0]` must be a number, got '1'"]),
    (
        resample(scales=(0, math.nan)),
        [
            "`Scales[0]` must be above 0 and finite as a float32, got 0",
            "`Scales[1]` must be above 0 and finite as a float32, got nan",
        ],
    ),
    # Finite and positive before they are stored in a FLOAT, not after.
    (
        resample(scales=(1e-60, 10**400)),
        [
            "`Scales[0]` must be above 0 and finite as a float32, got 1e-60",
            f"`Scales[1]` must be above 0 and finite as a float32, got 1{'0' * 76}...",
        ],
    ),
    (
        resample1(count=1, inputs=(math.inf, 0), outputs=(0,)),
        [
            "`DimensionCount` must equal InputTensor.DimensionCount = 2, got 1",
            "`Scales` must have as many values as DimensionCount = 1, got (1, 2)",
            "`InputPixelOffsets` must have as many values as DimensionCount = 1, got (inf, 0)",
            "`InputPixelOffsets[0]` must be finite as a float32, got inf",
        ],
    ),
    (
        resample1(outputs=[-math.inf, Fraction(-(10**400), 3)]),
        [
            "`OutputPixelOffsets[0]` must be finite as a float32, got -inf",
            f"`OutputPixelOffsets[1]` must be finite as a float32, got Fraction(-1{'0' * 66}...",
        ],
    ),
    (gather(axis=3), ["`Axis` must lie in [0, 3), got 3"]),
    (gather(count=4), ["`IndexDimensions` must lie in [0, 3], got 4"]),
    (gather(count=None), ["`IndexDimensions` must be an integer in [0, 4294967295], got None"]),
    (
        gather(indices=(1, 2, 2), count=1, output=(1, 3, 2)),
        [
            "`IndicesTensor.Sizes[1]` must be 1, as IndexDimensions = 1 makes the dimensions before 2 "
            "padding, got 2"
        ],
    ),
    (gather(output=(1, 3, 2)), ["`OutputTensor.Sizes` must be (3, 1, 2), got (1, 3, 2)"]),
    (
        gather((2, 3), (2, 2), (2, 2), 1, 2),
        ["`OutputTensor.DimensionCount` must be at least 3 to hold the sizes (2, 2, 2), got 2"],
    ),
    (gather((3, 2), (1, 1), (2, 1), 0, 0), ["`OutputTensor.Sizes` must be (1, 2), got (2, 1)"]),
    # Example 3 of the page of GATHER as it is printed.
    (
        gather((3, 2), (1, 2), (3, 2), 1, 2),
        ["`OutputTensor.DimensionCount` must be at least 3 to hold the sizes (3, 1, 2), got 2"],
    ),
    (scatter(axis=2), ["`Axis` must lie in [0, 2), got 2"]),
    (
        scatter(indices=(3, 2), updates=(3, 2)),
        ["`IndicesTensor.Sizes[0]` must be at most InputTensor.Sizes[0] = 2, got 3"],
    ),
    (
        scatter(updates=(2, 1), output=(2, 2)),
        [
            "`UpdatesTensor.Sizes` must equal IndicesTensor.Sizes = (2, 2), got (2, 1)",
            "`OutputTensor.Sizes` must equal InputTensor.Sizes = (2, 3), got (2, 2)",
        ],
    ),
    (
        replace(scatter(), UpdatesTensor=tensor((2, 2), "FLOAT16")),
        ["`UpdatesTensor.DataType` must equal InputTensor.DataType = FLOAT32, got FLOAT16"],
    ),
    (
        replace(scatter(), UpdatesTensor=tensor((1, 2, 2))),
        [
            "`UpdatesTensor.DimensionCount` must equal InputTensor.DimensionCount = 2, got 3",
            "`UpdatesTensor.Sizes` must equal IndicesTensor.Sizes = (2, 2), got (1, 2, 2)",
        ],
    ),
    # The literal formula of the page, with the last T dimensions of the input, is not accepted.
    (
        scatter_nd((3, 4, 5, 6, 7), (1, 1, 1, 2, 3), (1, 2, 5, 6, 7), (3, 4, 5, 6, 7), 5, 3),
        ["`UpdatesTensor.Sizes` must be (1, 1, 2, 6, 7), got (1, 2, 5, 6, 7)"],
    ),
    (
        scatter_nd((2, 2), (1, 3), (1, 2), (2, 1), 2, 2),
        [
            "`IndicesTensor.Sizes[1]` must be at most InputDimensionCount = 2, as the length of an index "
            "tuple, got 3",
            "`OutputTensor.Sizes` must equal InputTensor.Sizes = (2, 2), got (2, 1)",
        ],
    ),
    (
        scatter_nd((2, 2), (1, 1), (1, 2), (2, 2), 3, 0),
        [
            "`InputDimensionCount` must lie in [1, 2], got 3",
            "`IndicesDimensionCount` must lie in [1, 2], got 0",
        ],
    ),
    (
        upsample(output=(1, 1, 4, 8)),
        ["`OutputTensor.Sizes` must be (1, 1, 4, 9), as ScaleSize says, got (1, 1, 4, 8)"],
    ),
    (
        upsample(scale=Size2D(Width=0, Height=2**31)),
        [
            "`ScaleSize.Height` must lie in [1, 2147483647], for InputTensor.Sizes[2] = 2, got 2147483648",
            "`ScaleSize.Width` must lie in [1, 1431655765], for InputTensor.Sizes[3] = 3, got 0",
        ],
    ),
    (
        upsample(scale=Size2D(Width="2", Height=-1)),
        [
            "`ScaleSize.Width` must be an integer in [0, 4294967295], got '2'",
            "`ScaleSize.Height` must be an integer in [0, 4294967295], got -1",
        ],
    ),
    (upsample(scale=(2, 2)), ["`ScaleSize` must be a Size2D, got (2, 2)"]),
    (
        upsample((2, 3), (4, 9)),
        [
            "`InputTensor.DimensionCount` must lie in [4, 5] at feature level 6_4, got 2",
            "`OutputTensor.DimensionCount` must lie in [4, 5] at feature level 6_4, got 2",
        ],
    ),
    (upsample(mode=3), ["`InterpolationMode` must be one of NEAREST_NEIGHBOR, LINEAR, got 3"]),
    (resample3(direction=2), ["`RoundingDirection` must be one of INCREASING, DECREASING, got 2"]),
    (resample3(direction="UP"), ["`RoundingDirection` must be one of INCREASING, DECREASING, got 'UP'"]),
    (resample3(antialiased=2), ["`Antialiased` must be False or True, got 2"]),
    (resample3(antialiased="yes"), ["`Antialiased` must be False or True, got 'yes'"]),
    (
        resample3(scales=(math.nan, -1), outputs=(math.inf, 0)),
        [
            "`Scales[0]` must be above 0 and finite as a float32, got nan",
            "`Scales[1]` must be above 0 and finite as a float32, got -1",
            "`OutputPixelOffsets[0]` must be finite as a float32, got inf",
        ],
    ),
    (
        ResampleGradOperatorDesc(tensor((2,)), tensor((2, 2)), 0, 1, (1,), (0,), (0,)),
        [
            "`OutputGradientTensor.DimensionCount` must equal InputGradientTensor.DimensionCount = 1, got 2",
        ],
    ),
]


@pytest.mark.parametrize(("desc", "expected"), OPERATOR_RULES)
def test_operator_rules(desc, expected):
    assert texts(desc) == [f"{desc.Type}: {text}" for text in expected]


def test_every_violation_at_once():
    data = tensor((2, 3), "FLOAT64", Strides=(1, 1), TotalTensorSizeInBytes=1)
    indices = tensor((2, 0), "INT8")
    output = tensor((2, 2), "FLOAT16", Strides=(0, 0), Flags=1)
    found = check(GatherElementsOperatorDesc(data, indices, output, 7), "3_0")
    assert [v.field for v in found] == [
        "InputTensor.TotalTensorSizeInBytes",
        "IndicesTensor.Sizes[1]",
        "InputTensor.DataType",
        "IndicesTensor.DataType",
        "OutputTensor.DataType",
        "OutputTensor.Flags",
        "OutputTensor.Strides",
        "Axis",
    ]


def test_text_of_a_violation():
    desc = replace(VALID[2], IndicesTensor=tensor((1, 1, 2, 2), "INT64"))
    (violation,) = check(desc, "2_1")
    assert violation == Violation(
        OperatorType.GATHER_ND,
        "IndicesTensor.DataType",
        "must be UINT32 at feature level 2_1",
        TensorDataType.INT64,
        FeatureLevel.LEVEL_3_0,
    )
    assert (
        str(violation)
        == "GATHER_ND: `IndicesTensor.DataType` must be UINT32 at feature level 2_1, got INT64 "
        "(accepted from 3_0)"
    )
    assert supported_levels(desc) == [level for level in FeatureLevel if level >= 0x3000]


def test_error_lists_all_and_pickles():
    error = DirectMLError(check(elements(axis=9, output=(1, 1))))
    assert str(error).split("\n") == [
        "GATHER_ELEMENTS: `Axis` must lie in [0, 2), got 9",
        "GATHER_ELEMENTS: `OutputTensor.Sizes` must equal IndicesTensor.Sizes = (2, 2), got (1, 1)",
    ]
    copy = pickle.loads(pickle.dumps(error))
    assert copy.violations == error.violations
    assert str(copy) == str(error)


def test_off_axis_policy():
    desc = elements(indices=(1, 2), output=(1, 2))
    assert check(desc, policy=Policy(off_axis="lenient")) == []
    assert texts(desc, "6_4", Policy(off_axis="strict")) == [
        "GATHER_ELEMENTS: `IndicesTensor.Sizes[0]` must equal InputTensor.Sizes[0] = 2 "
        "(off_axis is 'strict'), got 1"
    ]
    assert supported_levels(desc, Policy(off_axis="strict")) == []
    assert check(elements(), policy=Policy(off_axis="strict")) == []


def test_output_overlap_policy():
    desc = with_output(Strides=(1, 1))
    assert check(desc, policy=Policy(output_overlap="allow")) == []
    assert [v.field for v in check(desc, policy=Policy(output_overlap="reject"))] == ["OutputTensor.Strides"]


def test_arguments_of_check():
    with pytest.raises(TypeError, match=r"check: `desc` must be an operator descriptor, got str 'GATHER'"):
        check("GATHER")
    with pytest.raises(TypeError, match=r"check: `desc` must be an operator descriptor, got OperatorDesc <"):
        check(OperatorDesc())
    with pytest.raises(ValueError, match=r"FeatureLevel: `value` must be one of 1_0, .*, got '3'"):
        check(elements(), "3")


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.integers(),
    st.sampled_from([2**31, 2**32 - 1, 2**32, 2**63, 2**64, 10**5000, -(10**5000)]),
    st.floats(),
    st.fractions(),
    st.complex_numbers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.sampled_from(["FLOAT32", "UINT32", "INT64", "OWNED_BY_DML", "LINEAR", *FeatureLevel, *OperatorType]),
    st.sampled_from(
        [np.float64("nan"), np.int8(-1), np.uint64(2**64 - 1), np.zeros(3), np.array(2), np.ones((2, 2))]
    ),
    st.builds(Unprintable),
    st.builds(object),
    st.builds(Size2D, st.integers(-1, 3), st.integers() | st.none()),
)
garbage = st.one_of(
    scalars, st.lists(scalars, max_size=10), st.tuples(scalars, scalars), st.dictionaries(st.text(), scalars)
)
sensible = st.one_of(
    st.integers(0, 9),
    st.lists(st.integers(0, 4), max_size=9),
    st.lists(st.integers(1, 2), min_size=4, max_size=4),
)
tensors = st.builds(BufferTensorDesc, *[st.one_of(garbage, sensible) for _ in fields(BufferTensorDesc)])
near_tensors = st.builds(
    BufferTensorDesc,
    st.sampled_from(["FLOAT32", "INT64"]),
    st.lists(st.integers(1, 3), min_size=1, max_size=5),
    st.one_of(st.none(), st.lists(st.integers(0, 9), min_size=1, max_size=5)),
)


@given(st.data())
def test_check_never_raises(data):
    kind = data.draw(st.sampled_from(list(OPERATOR_DESCS.values())))
    values = [data.draw(st.one_of(tensors, near_tensors, garbage, sensible)) for _ in fields(kind)]
    desc = kind(*values)
    policy = Policy(off_axis=data.draw(st.sampled_from(["lenient", "strict"])))
    level = data.draw(st.sampled_from(list(FeatureLevel)))
    for violation in check(desc, level, policy):
        assert str(violation).startswith(f"{kind.Type}: `{violation.field}` must ")
        assert "\n" not in str(violation)
