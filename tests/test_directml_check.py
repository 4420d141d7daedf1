"""Every rule of `check` by its text, and that nothing a field can hold makes it raise."""

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from directml_descs import VALID, elements, garbage, sensible, tensor, texts
from hypothesis import given
from hypothesis import strategies as st

from remapnd.directml import (
    OPERATOR_DESCS,
    BufferTensorDesc,
    DirectMLError,
    FeatureLevel,
    GatherElementsOperatorDesc,
    OperatorDesc,
    OperatorType,
    Policy,
    TensorDataType,
    Violation,
    check,
    supported_levels,
)


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
    with pytest.raises(ValueError, match=r"^check: `feature_level` must be one of 1_0, .*, got '3'$"):
        check(elements(), "3")
    with pytest.raises(TypeError, match=r"^check: `feature_level` must be a FeatureLevel, .*, got NoneType$"):
        check(elements(), None)
    with pytest.raises(ValueError, match=r"^FeatureLevel: `value` must be one of 1_0, .*, got '3'$"):
        FeatureLevel.parse("3")


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
