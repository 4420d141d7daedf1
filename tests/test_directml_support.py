"""Acceptance by feature level, against the tables of the reference pages typed in here a second time."""

import itertools

import pytest

from remapnd.directml import (
    OPERATOR_DESCS,
    SUPPORT,
    BufferTensorDesc,
    FeatureLevel,
    FieldKind,
    OperatorType,
    Size2D,
    TensorDataType,
    check,
    introduced,
    support,
    supported_levels,
)
from remapnd.directml.tensor import TENSOR_DIMENSION_COUNT_MAX, TENSOR_DIMENSION_COUNT_MAX1

# f, h, d: FLOAT32, 16, 64; b, w, i, l: INT8, 16, 32, 64; B, W, I, L: the same unsigned.
LETTERS = {
    "f": "FLOAT32",
    "h": "FLOAT16",
    "d": "FLOAT64",
    "b": "INT8",
    "w": "INT16",
    "i": "INT32",
    "l": "INT64",
}
LETTERS |= {"B": "UINT8", "W": "UINT16", "I": "UINT32", "L": "UINT64"}
# Per level: data types, index types, lowest and highest DimensionCount.
EXPECTED = {
    "GATHER": "1_0 fh I 4 4; 2_1 fhbwiBWI I 4 4; 3_0 fhbwiBWI ilIL 1 8; 4_1 fhdbwilBWIL ilIL 1 8",
    "GATHER_ELEMENTS": "2_1 fhbwiBWI I 4 4; 3_0 fhbwiBWI ilIL 1 8; 4_1 fhdbwilBWIL ilIL 1 8",
    "GATHER_ND": "2_1 fhbwiBWI I 4 4; 3_0 fhbwiBWI ilIL 1 8; 4_1 fhdbwilBWIL ilIL 1 8",
    "GATHER_ND1": "3_0 fhbwiBWI ilIL 1 8; 4_1 fhdbwilBWIL ilIL 1 8",
    "SCATTER": "2_0 fh I 4 4; 2_1 fhbwiBWI I 4 4; 3_0 fhbwiBWI ilIL 1 8; 4_1 fhdbwilBWIL ilIL 1 8",
    "SCATTER_ND": "2_1 fhbwiBWI I 4 4; 3_0 fhbwiBWI ilIL 1 8; 4_1 fhdbwilBWIL ilIL 1 8",
    "UPSAMPLE_2D": "1_0 fh - 4 5",
    "RESAMPLE": "2_0 fh - 4 4; 5_1 fh - 1 4; 6_2 fhbB - 1 4",
    "RESAMPLE1": "2_1 fh - 4 4; 5_1 fh - 1 4; 6_2 fhbB - 1 4",
    "RESAMPLE2": "5_1 fh - 1 4; 6_2 fhbB - 1 4",
    "RESAMPLE3": "6_4 fhbB - 1 4",
    "RESAMPLE_GRAD": "3_0 fh - 4 4; 5_1 fh - 1 4",
    "RESAMPLE_GRAD1": "5_1 fh - 1 4",
}


def expected_row(operator, level):
    """Return the (data types, index types, lowest, highest) of a level, or None."""
    found = None
    (listed,) = (rows for name, rows in EXPECTED.items() if OperatorType[name] is operator)
    for row in listed.split("; "):
        since, data, index, low, high = row.split()
        if tuple(map(int, since.split("_"))) <= tuple(map(int, str(level).split("_"))):
            names = [{LETTERS[c] for c in letters if c != "-"} for letters in (data, index)]
            found = (*names, int(low), int(high))
    return found


def plain_desc(operator, data_type, index_type, count):
    """Make a descriptor of which nothing but the types and the count can be wrong."""
    kinds = OPERATOR_DESCS[operator].field_kinds()
    values = {
        FieldKind.INPUT: BufferTensorDesc(data_type, (1,) * count),
        FieldKind.INDICES: BufferTensorDesc(index_type, (1,) * count),
        FieldKind.OUTPUT: BufferTensorDesc(data_type, (1,) * count),
        FieldKind.COUNT: count,
        FieldKind.FLOATS: (1.0,) * count,
        FieldKind.INTERPOLATION_MODE: "LINEAR",
        FieldKind.AXIS_DIRECTION: "DECREASING",
        FieldKind.BOOL: False,
        FieldKind.SIZE_2D: Size2D(1, 1),
    }
    ones = ("IndexDimensions", "InputDimensionCount", "IndicesDimensionCount")
    uints = {"Axis": 0, "BatchDimensionCount": 0} | dict.fromkeys(ones, 1)
    return OPERATOR_DESCS[operator](*(values.get(k, uints.get(name)) for name, k in kinds.items()))


@pytest.mark.parametrize("name", EXPECTED)
def test_tables(name):
    for level in FeatureLevel:
        row, expected = support(OperatorType[name], level), expected_row(OperatorType[name], level)
        if expected is None:
            assert row is None
        else:
            found = ({str(t) for t in row.data_types}, {str(t) for t in row.index_types})
            assert (*found, row.dimension_counts[0], row.dimension_counts[-1]) == expected
            assert len(row.data_types) == len(expected[0])


def test_tables_cover_the_family_and_only_grow():
    assert set(SUPPORT) == set(OperatorType)
    for operator, rows in SUPPORT.items():
        assert introduced(operator) is rows[0].since
        for before, after in itertools.pairwise(rows):
            assert before.since < after.since
            assert set(before.data_types) <= set(after.data_types)
            assert set(before.index_types) <= set(after.index_types)
            assert set(before.dimension_counts) <= set(after.dimension_counts)
        for row in rows:
            early = row.since < FeatureLevel.LEVEL_3_0
            limit = TENSOR_DIMENSION_COUNT_MAX if early else TENSOR_DIMENSION_COUNT_MAX1
            assert row.dimension_counts[-1] <= limit


@pytest.mark.parametrize("operator", OPERATOR_DESCS, ids=str)
def test_check_accepts_exactly_what_the_tables_say(operator):
    indexed = FieldKind.INDICES in OPERATOR_DESCS[operator].field_kinds().values()
    data_types = list(TensorDataType)
    accepted = 0
    for level in FeatureLevel:
        expected = expected_row(operator, level)
        data, index, low, high = expected or (set(), set(), 1, 0)
        for count in range(1, 10):
            for data_type in data_types:
                valid = str(data_type) in data and low <= count <= high
                desc = plain_desc(operator, data_type, "UINT32", count)
                assert (not check(desc, level)) == valid, (operator, level, data_type, count)
                accepted += valid
            for index_type in data_types if indexed else ():
                valid = str(index_type) in index and low <= count <= high
                desc = plain_desc(operator, "FLOAT32", index_type, count)
                assert (not check(desc, level)) == valid, (operator, level, index_type, count)
                accepted += valid
    assert accepted > 15


@pytest.mark.parametrize("operator", OPERATOR_DESCS, ids=str)
def test_minimum_level_is_where_the_violation_ends(operator):
    seen = set()
    for data_type in TensorDataType:
        for count in (1, 3, 4, 5, 8, 9):
            desc = plain_desc(operator, data_type, data_type, count)
            levels = list(FeatureLevel)
            found = [{v.field: v for v in check(desc, level)} for level in levels]
            for violation in (v for at_level in found for v in at_level.values()):
                minimum = violation.minimum_feature_level
                seen.add((violation.field.split(".")[-1], minimum))
                for level, at_level in zip(levels, found, strict=True):
                    still = minimum is None or level < minimum
                    assert (violation.field in at_level) == still, (violation, level)
            valid = [level for level, at_level in zip(levels, found, strict=True) if not at_level]
            assert supported_levels(desc) == valid
            assert valid in ([], levels[-len(valid) :])
    if introduced(operator) > FeatureLevel.LEVEL_1_0:
        assert ("Type", introduced(operator)) in seen
    assert ("DataType", None) in seen
    assert ("DimensionCount", None) in seen


def test_all_violations_are_listed_where_the_operator_is_missing():
    desc = plain_desc(OperatorType.GATHER_ND1, "FLOAT64", "INT8", 9)
    small = "one of FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8 at feature level 3_0"
    index = "one of INT64, INT32, UINT64, UINT32 at feature level 3_0"
    assert [str(v) for v in check(desc, "2_1")] == [
        "GATHER_ND1: `Type` must be an operator of feature level 2_1, got GATHER_ND1 (accepted from 3_0)",
        f"GATHER_ND1: `InputTensor.DataType` must be {small}, got FLOAT64 (accepted from 4_1)",
        "GATHER_ND1: `InputTensor.DimensionCount` must lie in [1, 8] at feature level 3_0, got 9",
        f"GATHER_ND1: `IndicesTensor.DataType` must be {index}, got INT8",
        "GATHER_ND1: `IndicesTensor.DimensionCount` must lie in [1, 8] at feature level 3_0, got 9",
        f"GATHER_ND1: `OutputTensor.DataType` must be {small}, got FLOAT64 (accepted from 4_1)",
        "GATHER_ND1: `OutputTensor.DimensionCount` must lie in [1, 8] at feature level 3_0, got 9",
    ]
