"""Values and spellings of the enumerations, against the numbers of directml.h written out here."""

import numpy as np
import pytest

from remapnd.directml import (
    AxisDirection,
    BindingType,
    CreateDeviceFlags,
    ExecutionFlags,
    FeatureLevel,
    InterpolationMode,
    OperatorType,
    TensorDataType,
    TensorFlags,
    TensorType,
)

VALUES = {
    "DML_OPERATOR_": (
        OperatorType,
        "UPSAMPLE_2D 66 GATHER 67 SCATTER_ELEMENTS 94 SCATTER 94 RESAMPLE 96 GATHER_ELEMENTS 107 "
        "GATHER_ND 108 SCATTER_ND 109 RESAMPLE1 116 RESAMPLE_GRAD 134 GATHER_ND1 140 RESAMPLE2 161 "
        "RESAMPLE_GRAD1 162 RESAMPLE3 175",
    ),
    "DML_TENSOR_TYPE_": (TensorType, "INVALID 0 BUFFER 1"),
    "DML_TENSOR_DATA_TYPE_": (
        TensorDataType,
        "UNKNOWN 0 FLOAT32 1 FLOAT16 2 UINT32 3 UINT16 4 UINT8 5 INT32 6 INT16 7 INT8 8 FLOAT64 9 UINT64 10 "
        "INT64 11 UINT4 12 INT4 13",
    ),
    "DML_TENSOR_FLAG_": (TensorFlags, "NONE 0 OWNED_BY_DML 1"),
    "DML_INTERPOLATION_MODE_": (InterpolationMode, "NEAREST_NEIGHBOR 0 LINEAR 1"),
    "DML_AXIS_DIRECTION_": (AxisDirection, "INCREASING 0 DECREASING 1"),
    "DML_BINDING_TYPE_": (BindingType, "NONE 0 BUFFER 1 BUFFER_ARRAY 2"),
    "DML_EXECUTION_FLAG_": (
        ExecutionFlags,
        "NONE 0 ALLOW_HALF_PRECISION_COMPUTATION 1 DISABLE_META_COMMANDS 2 DESCRIPTORS_VOLATILE 4",
    ),
    "DML_CREATE_DEVICE_FLAG_": (CreateDeviceFlags, "NONE 0 DEBUG 1"),
    "DML_FEATURE_LEVEL_": (
        FeatureLevel,
        "1_0 4096 2_0 8192 2_1 8448 3_0 12288 3_1 12544 4_0 16384 4_1 16640 5_0 20480 5_1 20736 5_2 20992 "
        "6_0 24576 6_1 24832 6_2 25088 6_3 25344 6_4 25600",
    ),
}


@pytest.mark.parametrize("prefix", VALUES)
def test_values_and_spellings(prefix):
    kind, text = VALUES[prefix]
    words = text.split()
    expected = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    assert {name.removeprefix("LEVEL_"): int(m) for name, m in kind.__members__.items()} == expected
    for name, number in expected.items():
        for spelling in (name, prefix + name, number, np.int64(number), kind(number)):
            assert kind.parse(spelling) is kind(number)


@pytest.mark.parametrize("kind", [kind for kind, _ in VALUES.values()])
@pytest.mark.parametrize("bad", ["float32", "", "DML_", 4097, -1, 2**70])
def test_unknown_values(kind, bad):
    with pytest.raises(ValueError, match=rf"^{kind.__name__}: `value` must be one of .*, got "):
        kind.parse(bad)


def test_a_name_that_is_nearly_right():
    with pytest.raises(ValueError, match=r"got 'float32' \(did you mean 'FLOAT32'\?\)$"):
        TensorDataType.parse("float32")


@pytest.mark.parametrize("kind", [kind for kind, _ in VALUES.values()])
@pytest.mark.parametrize("bad", [None, 1.0, True, b"NONE", object()])
def test_values_of_another_type(kind, bad):
    with pytest.raises(
        TypeError, match=rf"^{kind.__name__}: `value` must be a {kind.__name__}, its name or its num"
    ):
        kind.parse(bad)


def test_a_member_of_another_enumeration_is_refused():
    with pytest.raises(TypeError, match=r"TensorDataType: .*, got InterpolationMode LINEAR$"):
        TensorDataType.parse(InterpolationMode.LINEAR)
    with pytest.raises(TypeError, match=r"TensorFlags: .*, got ExecutionFlags DESCRIPTORS_VOLATILE$"):
        TensorFlags.parse([ExecutionFlags.DESCRIPTORS_VOLATILE])


def test_names_and_text():
    assert TensorDataType.FLOAT32.full_name == "DML_TENSOR_DATA_TYPE_FLOAT32"
    assert FeatureLevel.LEVEL_3_0.full_name == "DML_FEATURE_LEVEL_3_0"
    assert OperatorType.SCATTER is OperatorType.SCATTER_ELEMENTS
    for member, text in (
        (TensorDataType.INT8, "INT8"),
        (FeatureLevel.LEVEL_5_1, "5_1"),
        (TensorFlags.NONE, "NONE"),
    ):
        assert str(member) == text
        assert f"{member}" == text


def test_flags_join():
    both = ExecutionFlags.DISABLE_META_COMMANDS | ExecutionFlags.DESCRIPTORS_VOLATILE
    assert ExecutionFlags.parse(["DISABLE_META_COMMANDS", "DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE"]) == both
    assert ExecutionFlags.parse(6) == both
    assert ExecutionFlags.parse([]) == ExecutionFlags.NONE
    assert str(both) == "DISABLE_META_COMMANDS|DESCRIPTORS_VOLATILE"
    with pytest.raises(ValueError, match=r"ExecutionFlags: `value` must be one of .*, got 8$"):
        ExecutionFlags.parse(8)


@pytest.mark.parametrize("text", ["3_0", "3.0", "LEVEL_3_0", "DML_FEATURE_LEVEL_3_0"])
def test_feature_level_spellings(text):
    assert FeatureLevel.parse(text) is FeatureLevel.LEVEL_3_0


def test_feature_level_errors_list_the_levels():
    with pytest.raises(ValueError, match=r"one of 1_0, 2_0, 2_1, 3_0, .*, 6_4, got '7_0'$"):
        FeatureLevel.parse("7_0")
    with pytest.raises(ValueError, match=r"6_4, got 0x7000$"):
        FeatureLevel.parse(0x7000)


def test_numpy_dtypes():
    with_dtype = [t for t in TensorDataType if t.bits >= 8]
    assert len(with_dtype) == 11
    for data_type in with_dtype:
        assert data_type.dtype.itemsize * 8 == data_type.bits
        assert TensorDataType.from_dtype(data_type.dtype) is data_type
        assert TensorDataType.from_dtype(data_type.dtype.newbyteorder()) is data_type
    assert [TensorDataType.UINT4.bits, TensorDataType.INT4.bits, TensorDataType.UNKNOWN.bits] == [4, 4, 0]
    for data_type in ("UNKNOWN", "UINT4", "INT4"):
        with pytest.raises(ValueError, match=rf"must be taken of a type of 8 bits or more, got {data_type}"):
            _ = TensorDataType[data_type].dtype
    for dtype in (bool, complex, "U3", object):
        with pytest.raises(TypeError, match=r"TensorDataType: `dtype` must be .*, got "):
            TensorDataType.from_dtype(dtype)
