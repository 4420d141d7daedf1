"""The rules of each operator by their texts."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from directml_descs import (
    elements,
    gather,
    gather_nd,
    resample,
    resample1,
    resample3,
    scatter,
    scatter_nd,
    tensor,
    texts,
    upsample,
)

from remapnd.directml import ResampleGradOperatorDesc, Size2D

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
