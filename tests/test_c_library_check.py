"""What libremapnd says of descriptors: to the letter what `remapnd.directml.check` says."""

import ctypes
import re

import numpy as np
import pytest
from c_library import INVALID_ARGUMENT, INVALID_DESCRIPTOR, LAST_LEVEL, NOT_IN_LIBRARY, OK, pointer
from c_library_cases import FINITE, OPERATORS, gathers_and_scatters, resamples, upsamples, valid
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
    ResampleOperatorDesc,
    Size2D,
    TensorDataType,
    abi,
    calc_buffer_tensor_size,
    check,
)
from remapnd.directml.operators import FieldKind


def expected_text(packed: abi.Packed, level: int) -> str:
    """Return what Python says of a descriptor in memory.

    Where elements reach too far, Python looks for overlaps all the same.
    """
    try:
        desc = abi.read(packed)
    except DirectMLError as error:
        return str(error)
    lines = list(map(str, check(desc, level)))
    far = [
        line
        for line in lines
        if "`OutputTensor.S" in line and ("product of at most" in line or "elements of the first" in line)
    ]
    return "\n".join(line for line in lines if not (far and "its own address" in line))


def compare_checks(libremapnd, packed, level=LAST_LEVEL):
    expected = expected_text(packed, level)
    assert libremapnd.checked(packed, level) == (INVALID_DESCRIPTOR if expected else OK, expected)


def smallest(operator, data_type, index_type, count):
    """Describe tensors of one element."""
    kind = OPERATOR_DESCS[operator]
    values = {
        FieldKind.INPUT: BufferTensorDesc(data_type, (1,) * count),
        FieldKind.INDICES: BufferTensorDesc(index_type, (1,) * count),
        FieldKind.OUTPUT: BufferTensorDesc(data_type, (1,) * count),
        FieldKind.UINT: 0,
        FieldKind.COUNT: count,
        FieldKind.FLOATS: [1.0] * count,
        FieldKind.INTERPOLATION_MODE: 0,
        FieldKind.AXIS_DIRECTION: 0,
        FieldKind.SIZE_2D: Size2D(1, 1),
        FieldKind.BOOL: 0,
    }
    fields = {name: values[field] for name, field in kind.field_kinds().items()}
    return kind(
        **{
            name: 1 if name.endswith("sDimensionCount") or name == "InputDimensionCount" else v
            for name, v in fields.items()
        }
    )


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_tables_of_all_levels(libremapnd, operator):
    types = [(t, "UINT32") for t in TensorDataType] + [("FLOAT32", t) for t in TensorDataType]
    for data_type, index_type in types:
        for count in (1, 3, 4, 5, 8):
            packed = abi.pack(smallest(operator, data_type, index_type, count))
            desc = abi.read(packed)
            for level in FeatureLevel:
                expected = "\n".join(map(str, check(desc, level)))
                assert libremapnd.checked(packed, level) == (
                    INVALID_DESCRIPTOR if expected else OK,
                    expected,
                )


UINT = st.one_of(st.integers(0, 5), st.integers(0, 2**32 - 1))
FLOATS = st.one_of(
    FINITE, st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan, -1e-5, -1e16, -1e15, -123456.789, -0.1])
)
READABLE = {
    "DataType": st.integers(0, 13),
    "Flags": st.integers(0, 1),
    "InterpolationMode": st.integers(0, 1),
    "RoundingDirection": st.integers(0, 1),
    "TotalTensorSizeInBytes": st.one_of(st.integers(0, 100), st.sampled_from([2**40, 2**64 - 1])),
    "GuaranteedBaseOffsetAlignment": st.sampled_from([0, 1, 2, 3, 4, 8, 2**31]),
}
COUNTS = ("DimensionCount", "ScaleCount")


def structs(packed):
    """Yield every struct that a descriptor in memory is made of, but the first."""
    outer = packed.pointer.contents
    name = f"DML_{OPERATOR_DESCS[outer.Type].Type.name}_OPERATOR_DESC"
    inner = ctypes.cast(outer.Desc, ctypes.POINTER(abi.STRUCTURES[name])).contents
    yield inner
    for name, kind in inner._fields_:
        if issubclass(kind, ctypes.Structure):
            yield getattr(inner, name)
        if name.endswith("Tensor"):
            tensor = getattr(inner, name).contents
            yield tensor
            yield ctypes.cast(tensor.Desc, ctypes.POINTER(abi.STRUCTURES["DML_BUFFER_TENSOR_DESC"])).contents


def skipped(name, kind):
    """Whether a field is padding, or a struct whose own fields are changed."""
    return name.startswith("_") or issubclass(kind, ctypes.Structure)


@given(
    st.one_of(gathers_and_scatters(), resamples(), upsamples()),
    st.sampled_from(list(FeatureLevel)),
    st.data(),
)
def test_check_says_what_python_says(libremapnd, desc, level, data):
    packed = abi.pack(desc)
    for struct in structs(packed):
        (count,) = [getattr(struct, name) for name in COUNTS if hasattr(struct, name)] or [0]
        for name, kind in struct._fields_:
            if data.draw(st.integers(0, 5)) or name in ("Type", "Desc") or skipped(name, kind):
                continue
            if name in COUNTS:
                setattr(struct, name, data.draw(st.integers(1, count)))
            elif not hasattr(kind, "contents"):
                setattr(struct, name, data.draw(READABLE.get(name, UINT)))
            elif not name.endswith("Tensor") and getattr(struct, name):
                values = FLOATS if kind is ctypes.POINTER(ctypes.c_float) else UINT
                getattr(struct, name)[data.draw(st.integers(0, count - 1))] = data.draw(values)
    compare_checks(libremapnd, packed, level)


@given(st.one_of(gathers_and_scatters(), resamples(), upsamples()), st.data())
def test_fields_that_cannot_be_read(libremapnd, desc, data):
    packed = abi.pack(desc)
    wide = [2**57, 2**64 - 8] * (ctypes.sizeof(ctypes.c_void_p) == 8)
    for struct in list(structs(packed)):
        for name, kind in struct._fields_:
            if data.draw(st.integers(0, 7)) or skipped(name, kind):
                continue
            if kind is ctypes.c_void_p or hasattr(kind, "contents"):
                value = data.draw(st.sampled_from([0, 1, 0xFFFF, *wide]))
                setattr(struct, name, ctypes.cast(value, kind) if hasattr(kind, "contents") else value)
            elif name in COUNTS:
                setattr(struct, name, data.draw(st.sampled_from([0, 9, 2**32 - 1])))
            else:
                setattr(struct, name, data.draw(st.sampled_from([0, 1, 2, 14, 2**31 - 1])))
    compare_checks(libremapnd, packed)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 12)), min_size=1, max_size=4))
def test_overlaps_are_python_s(libremapnd, dimensions):
    sizes, strides = zip(*dimensions, strict=True)
    n = len(sizes)
    data = BufferTensorDesc("FLOAT32", sizes)
    desc = ResampleOperatorDesc(data, BufferTensorDesc("FLOAT32", sizes, strides), 0, n, [1.0] * n)
    compare_checks(libremapnd, abi.pack(desc))


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [
        ((40, 40, 40, 40), (4001, 4003, 4007, 4013)),  # a long search
        ((2**16, 2**15), (2**15, 1)),
        ((2**16, 2**15), (2**15 - 1, 1)),
        ((2, 3, 1000, 1000), (10**9, 3 * 10**8, 1000, 1)),
    ],
)
def test_overlaps_of_large_layouts(libremapnd, sizes, strides):
    n = len(sizes)
    data, output = BufferTensorDesc("UINT8", sizes), BufferTensorDesc("UINT8", sizes, strides)
    compare_checks(libremapnd, abi.pack(ResampleOperatorDesc(data, output, 0, n, [1.0] * n)))


@pytest.mark.parametrize(
    ("sizes", "strides", "total"),
    [
        ([2**31, 4], [1, 1], 0),
        ([2**32 - 1] * 2, [0, 0], 100),
        ([3, 3], [2**31, 1], 100),
        ([3, 3], [2**32 - 1] * 2, 2**35),
        ([2**32 - 1] * 2, None, 0),
        ([2**16, 2**16], None, 2**34),
        ([2**16, 2**15], None, 2**33 - 1),
    ],
)
@pytest.mark.parametrize("name", ["InputTensor", "OutputTensor"])
def test_tensors_that_reach_too_far(libremapnd, name, sizes, strides, total):
    tensor = BufferTensorDesc("FLOAT32", (1, 1), (0, 0) if strides else None)
    packed = abi.pack(ResampleOperatorDesc(tensor, tensor, 0, 2, [1.0, 1.0]))
    inner = next(structs(packed))
    buffer = abi.STRUCTURES["DML_BUFFER_TENSOR_DESC"]
    described = ctypes.cast(getattr(inner, name).contents.Desc, ctypes.POINTER(buffer)).contents
    described.TotalTensorSizeInBytes = total
    for d in range(2):
        described.Sizes[d] = sizes[d]
        if strides:
            described.Strides[d] = strides[d]
    assert expected_text(packed, LAST_LEVEL)
    compare_checks(libremapnd, packed)


def gathered(indices, output):
    """Describe the tensors of a gather from (2, 3)."""
    return (
        BufferTensorDesc("FLOAT32", (2, 3)),
        BufferTensorDesc("INT64", indices),
        BufferTensorDesc("FLOAT32", output),
    )


@pytest.mark.parametrize(
    "desc",
    [
        GatherOperatorDesc(*gathered((2, 4), (2, 4)), 1, 2),
        GatherOperatorDesc(*gathered((2, 4), (2, 4)), 1, 1),
        GatherOperatorDesc(*gathered((2, 4), (2, 4)), 1, 3),
        GatherND1OperatorDesc(*gathered((3, 1), (1, 3)), 2, 2, 1),
        GatherND1OperatorDesc(*gathered((2, 1), (2, 3)), 2, 2, 2),
        GatherND1OperatorDesc(*gathered((2, 2), (1, 2)), 2, 2, 1),
        GatherNDOperatorDesc(*gathered((2, 3), (1, 2)), 2, 2),
        GatherElementsOperatorDesc(*gathered((3, 4), (3, 4)), 1),
    ],
)
def test_sizes_that_do_not_fit(libremapnd, desc):
    assert check(desc)
    compare_checks(libremapnd, abi.pack(desc))


def test_arguments_of_check(libremapnd):
    assert libremapnd.checked(None) == (
        INVALID_ARGUMENT,
        "remapnd_directml_check: `desc` must not be a null pointer",
    )
    packed = abi.pack(valid())
    status, text = libremapnd.checked(packed, 0x3010)
    assert status == INVALID_ARGUMENT
    assert re.fullmatch(
        r"remapnd_directml_check: `feature_level` must be one of 0x1000, .*, 0x6400, got 0x3010", text
    )
    assert libremapnd.directml_check(packed, LAST_LEVEL, None, 0) == OK
    assert libremapnd.directml_check(packed, 0x1000, None, 5) == INVALID_DESCRIPTOR


def test_a_message_is_cut_to_its_buffer(libremapnd):
    packed = abi.pack(valid())
    memory = ctypes.create_string_buffer(b"x" * 20)
    assert libremapnd.directml_check(packed, 0x1000, memory, 10) == INVALID_DESCRIPTOR
    assert memory.raw == b"GATHER_EL\0" + b"x" * 10 + b"\0"
    assert libremapnd.error().startswith("GATHER_ELEMENTS: `Type` must be an operator of feature level 1_0")


@pytest.mark.parametrize("number", [0, 68, 176, 2**31])
def test_operators_that_are_not_in_the_library(libremapnd, number):
    packed = abi.pack(valid())
    packed.pointer.contents.Type = ctypes.c_int32(number).value
    known = ", ".join(f"{operator} {operator.value}" for operator in OPERATORS)
    text = f"DML_OPERATOR_DESC: `Type` must be one of {known}, which this library runs, got {number}"
    assert libremapnd.checked(packed) == (NOT_IN_LIBRARY, text)
    assert libremapnd.dispatched(packed, [np.zeros(1)], np.zeros(1)) == (NOT_IN_LIBRARY, text)


@given(
    st.sampled_from(list(TensorDataType)),
    st.lists(st.integers(0, 70000), min_size=1, max_size=4),
    st.booleans(),
    st.data(),
)
def test_tensor_size(libremapnd, data_type, sizes, packed, data):
    strides = (
        None
        if packed
        else data.draw(st.lists(st.integers(0, 70000), min_size=len(sizes), max_size=len(sizes)))
    )
    reach = (
        np.prod(sizes, dtype=object)
        if packed
        else sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) + 1
    )
    fits = all(sizes) and max(reach, np.prod(sizes, dtype=object)) < 2**32
    expected = calc_buffer_tensor_size(data_type, sizes, strides) if fits else 0
    numbers, steps = np.array(sizes, np.uint32), None if packed else np.array(strides, np.uint32)
    assert (
        libremapnd.directml_tensor_size(data_type, len(sizes), pointer(numbers), pointer(steps)) == expected
    )


def test_tensor_size_of_nothing(libremapnd):
    one = np.ones(9, np.uint32)
    assert libremapnd.directml_tensor_size(1, 0, pointer(one), None) == 0
    assert libremapnd.directml_tensor_size(1, 9, pointer(one), None) == 0
    assert libremapnd.directml_tensor_size(1, 1, None, None) == 0
    assert libremapnd.directml_tensor_size(77, 1, pointer(one), None) == 0
