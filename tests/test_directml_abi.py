"""Descriptors to the structs of directml.h and back."""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import math
import re
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remapnd.directml import (
    OPERATOR_DESCS,
    AxisDirection,
    BufferTensorDesc,
    DirectMLError,
    FieldKind,
    GatherNDOperatorDesc,
    InterpolationMode,
    Size2D,
    TensorDataType,
    TensorFlags,
    abi,
    calc_buffer_tensor_size,
    check,
    run,
)
from remapnd.directml.abi import native

# Size and offsets, x64/x86, as the reference of these structs prints them.
LAYOUTS = """
GATHER_OPERATOR_DESC 32/20 InputTensor 0/0 IndicesTensor 8/4 OutputTensor 16/8 Axis 24/12
  IndexDimensions 28/16
GATHER_ELEMENTS_OPERATOR_DESC 32/16 InputTensor 0/0 IndicesTensor 8/4 OutputTensor 16/8 Axis 24/12
GATHER_ND_OPERATOR_DESC 32/20 InputTensor 0/0 IndicesTensor 8/4 OutputTensor 16/8
  InputDimensionCount 24/12 IndicesDimensionCount 28/16
GATHER_ND1_OPERATOR_DESC 40/24 InputTensor 0/0 IndicesTensor 8/4 OutputTensor 16/8
  InputDimensionCount 24/12 IndicesDimensionCount 28/16 BatchDimensionCount 32/20
SCATTER_OPERATOR_DESC 40/20 InputTensor 0/0 IndicesTensor 8/4 UpdatesTensor 16/8 OutputTensor 24/12 Axis 32/16
SCATTER_ELEMENTS_OPERATOR_DESC 40/20 InputTensor 0/0 IndicesTensor 8/4 UpdatesTensor 16/8 OutputTensor 24/12
  Axis 32/16
SCATTER_ND_OPERATOR_DESC 40/24 InputTensor 0/0 IndicesTensor 8/4 UpdatesTensor 16/8 OutputTensor 24/12
  InputDimensionCount 32/16 IndicesDimensionCount 36/20
UPSAMPLE_2D_OPERATOR_DESC 32/20 InputTensor 0/0 OutputTensor 8/4 ScaleSize 16/8 InterpolationMode 24/16
RESAMPLE_OPERATOR_DESC 32/20 InputTensor 0/0 OutputTensor 8/4 InterpolationMode 16/8 ScaleCount 20/12
  Scales 24/16
RESAMPLE1_OPERATOR_DESC 48/28 InputTensor 0/0 OutputTensor 8/4 InterpolationMode 16/8 DimensionCount 20/12
  Scales 24/16 InputPixelOffsets 32/20 OutputPixelOffsets 40/24
RESAMPLE2_OPERATOR_DESC 56/32 InputTensor 0/0 OutputTensor 8/4 InterpolationMode 16/8 RoundingDirection 20/12
  DimensionCount 24/16 Scales 32/20 InputPixelOffsets 40/24 OutputPixelOffsets 48/28
RESAMPLE3_OPERATOR_DESC 64/36 InputTensor 0/0 OutputTensor 8/4 InterpolationMode 16/8 RoundingDirection 20/12
  DimensionCount 24/16 Scales 32/20 InputPixelOffsets 40/24 OutputPixelOffsets 48/28 Antialiased 56/32
RESAMPLE_GRAD_OPERATOR_DESC 48/28 InputGradientTensor 0/0 OutputGradientTensor 8/4 InterpolationMode 16/8
  DimensionCount 20/12 Scales 24/16 InputPixelOffsets 32/20 OutputPixelOffsets 40/24
RESAMPLE_GRAD1_OPERATOR_DESC 56/32 InputGradientTensor 0/0 OutputGradientTensor 8/4 InterpolationMode 16/8
  RoundingDirection 20/12 DimensionCount 24/16 Scales 32/20 InputPixelOffsets 40/24 OutputPixelOffsets 48/28
OPERATOR_DESC 16/8 Type 0/0 Desc 8/4
TENSOR_DESC 16/8 Type 0/0 Desc 8/4
BUFFER_TENSOR_DESC 48/40 DataType 0/0 Flags 4/4 DimensionCount 8/8 Sizes 16/12 Strides 24/16
  TotalTensorSizeInBytes 32/24 GuaranteedBaseOffsetAlignment 40/32
BUFFER_BINDING 24/24 Buffer 0/0 Offset 8/8 SizeInBytes 16/16
BINDING_PROPERTIES 24/24 RequiredDescriptorCount 0/0 TemporaryResourceSize 8/8 PersistentResourceSize 16/16
SIZE_2D 8/8 Width 0/0 Height 4/4
SCALE_BIAS 8/8 Scale 0/0 Bias 4/4
"""
EXPECTED = {
    f"DML_{name}": (size, re.findall(r"(\w+) (\d+)/(\d+)", rest))
    for name, size, rest in re.findall(r"^(\w+) (\d+/\d+) ([^$]*?)(?=^\w|\Z)", LAYOUTS, re.MULTILINE)
}


def test_every_struct_is_expected():
    assert set(EXPECTED) == set(abi.STRUCTS)


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize(("arch", "column"), [("x64", 0), ("x86", 1)])
def test_layout(name, arch, column):
    size, fields = EXPECTED[name]
    layout = abi.STRUCTS[name].layout(arch)
    assert layout.size == int(size.split("/")[column])
    assert dict(layout.offsets) == {field: int(places[column]) for field, *places in fields}
    assert list(layout.offsets) == [field for field, *_ in fields]


@pytest.mark.parametrize("name", EXPECTED)
def test_ctypes_structure(name):
    layout, structure = abi.STRUCTS[name].layout(abi.NATIVE_ARCH), abi.STRUCTURES[name]
    assert structure.__name__ == name
    assert ctypes.sizeof(structure) == layout.size
    assert {field: getattr(structure, field).offset for field in layout.offsets} == dict(layout.offsets)
    assert {field: getattr(structure, field).size for field in layout.sizes} == dict(layout.sizes)


def test_ctypes_structures_where_64_bit_integers_are_aligned_to_4_bytes(monkeypatch):
    """They get the padding that Windows has; where it is there anyway, that changes nothing."""
    monkeypatch.setattr(native.ctypes, "alignment", lambda kind: min(4, ctypes.sizeof(kind)))
    for name, structure in native._structures().items():
        layout = abi.STRUCTS[name].layout(abi.NATIVE_ARCH)
        assert ctypes.sizeof(structure) == layout.size
        assert {field: getattr(structure, field).offset for field in layout.offsets} == dict(layout.offsets)
        gaps = layout.size - sum(layout.sizes.values())
        padding = [
            getattr(structure, field[0]).size for field in structure._fields_ if "_padding" in field[0]
        ]
        assert sum(padding) == gaps


def test_dir_lists_what_is_public():
    assert dir(abi) == sorted(abi.__all__)


@pytest.mark.parametrize("operator", OPERATOR_DESCS)
def test_descriptors_have_the_fields_of_their_structs(operator):
    fields = abi.STRUCTS[f"DML_{operator.name}_OPERATOR_DESC"].fields
    assert [field.name for field in fields] == list(OPERATOR_DESCS[operator].field_kinds())


def test_tensor_descriptor_has_the_fields_of_its_struct():
    fields = {field.name for field in dataclasses.fields(BufferTensorDesc)}
    assert fields == {field.name for field in abi.STRUCTS["DML_BUFFER_TENSOR_DESC"].fields}


def test_layout_of_another_architecture():
    with pytest.raises(ValueError, match=r"^Struct.layout: `arch` must be one of x64, x86, got arm$"):
        abi.STRUCTS["DML_SIZE_2D"].layout("arm")


@pytest.mark.parametrize(
    "name", ["DML_GATHER_ND_OPERATOR_DESC", "gather_nd", "Gather_ND", "GATHER_ND_OPERATOR_DESC"]
)
def test_find_struct(name):
    assert abi.find_struct(name) is abi.STRUCTS["DML_GATHER_ND_OPERATOR_DESC"]


def test_find_struct_unknown():
    with pytest.raises(
        ValueError, match=r"^find_struct: `name` must be one of DML_SIZE_2D, .*, got 'gather_2d'$"
    ):
        abi.find_struct("gather_2d")


# Valid descriptors.  What they become is told by `as_read`.

F32, U32 = TensorDataType.FLOAT32, TensorDataType.UINT32
UINT = st.integers(0, 2**32 - 1)
FLOATS32 = st.floats(width=32, allow_nan=False) | st.floats(allow_nan=False)


@st.composite
def tensors(draw) -> BufferTensorDesc:
    data_type = draw(st.sampled_from(list(TensorDataType)))
    sizes: list[int] = []
    for _ in range(draw(st.integers(1, 8))):
        sizes.append(draw(st.integers(1, min(2000, (2**32 - 1) // math.prod(sizes)))))
    strides = None
    if draw(st.booleans()):
        strides, extent = [], 1
        for size in sizes:
            strides.append(
                draw(st.integers(0, (2**32 - 1 - extent) // (size - 1) if size > 1 else 2**32 - 1))
            )
            extent += (size - 1) * strides[-1]
    least = calc_buffer_tensor_size(data_type, sizes, strides)
    element = max(data_type.bits // 8, 1)
    return BufferTensorDesc(
        draw(st.sampled_from([data_type, data_type.name, data_type.value])),
        draw(st.sampled_from([sizes, tuple(sizes), np.array(sizes)])),
        strides,
        draw(st.sampled_from([0, 1, "NONE", TensorFlags.OWNED_BY_DML, ["OWNED_BY_DML"]])),
        draw(st.sampled_from([None, 0, least, least + 4, 2**64 - 1])),
        draw(st.sampled_from([0, element, 2**31])),
        draw(st.sampled_from([None, len(sizes)])),
    )


@st.composite
def descriptors(draw):
    kind = OPERATOR_DESCS[draw(st.sampled_from(sorted(OPERATOR_DESCS)))]
    count = draw(st.integers(1, 8))
    values = {
        FieldKind.INPUT: tensors(),
        FieldKind.INDICES: tensors(),
        FieldKind.OUTPUT: tensors(),
        FieldKind.UINT: UINT,
        FieldKind.COUNT: st.sampled_from([None, count]),
        FieldKind.FLOATS: st.lists(FLOATS32, min_size=count, max_size=count),
        FieldKind.INTERPOLATION_MODE: st.sampled_from([0, 1, "LINEAR", InterpolationMode.NEAREST_NEIGHBOR]),
        FieldKind.AXIS_DIRECTION: st.sampled_from([0, "DECREASING", AxisDirection.INCREASING]),
        FieldKind.BOOL: st.sampled_from([False, True, 0, 1, np.True_]),
        FieldKind.SIZE_2D: st.builds(Size2D, UINT, UINT),
    }
    return kind(**{name: draw(values[field]) for name, field in kind.field_kinds().items()})


def float32(values):
    with np.errstate(over="ignore"):
        return tuple(np.array(values, np.float64).astype(np.float32).tolist())


def tensor_as_read(desc: BufferTensorDesc) -> BufferTensorDesc:
    data_type = TensorDataType.parse(desc.DataType)
    sizes = tuple(map(int, desc.Sizes))
    return BufferTensorDesc(
        data_type,
        sizes,
        None if desc.Strides is None else tuple(desc.Strides),
        TensorFlags.parse(desc.Flags),
        desc.TotalTensorSizeInBytes or calc_buffer_tensor_size(data_type, sizes, desc.Strides),
        desc.GuaranteedBaseOffsetAlignment,
        len(sizes),
    )


def as_read(desc):
    """Return what comes back: members for names and numbers, float32 values, counts and sizes filled in."""
    values = {}
    for name, field in desc.field_kinds().items():
        value = getattr(desc, name)
        if isinstance(value, BufferTensorDesc):
            values[name] = tensor_as_read(value)
        elif field is FieldKind.FLOATS:
            values[name] = float32(value)
        elif field is FieldKind.COUNT:
            values[name] = len(desc.Scales)
        elif field is FieldKind.INTERPOLATION_MODE:
            values[name] = InterpolationMode.parse(value)
        elif field is FieldKind.AXIS_DIRECTION:
            values[name] = AxisDirection.parse(value)
        else:
            values[name] = bool(value) if field is FieldKind.BOOL else value
    return type(desc)(**values)


@given(descriptors())
def test_to_pointers_and_back(desc):
    expected = as_read(desc)
    packed = abi.pack(desc)
    assert abi.read(packed) == expected
    assert abi.read(packed.address) == abi.read(np.uint64(packed.address)) == expected
    assert abi.read(packed.pointer) == expected
    assert abi.read(packed.pointer.contents) == expected
    assert abi.read(ctypes.cast(packed.pointer, ctypes.c_void_p)) == expected
    assert abi.read_bytes(packed.as_bytes, abi.NATIVE_ARCH, packed.address) == expected
    again = abi.pack(expected)
    assert abi.read(again) == expected


@given(descriptors(), st.sampled_from(["x64", "x86"]), st.integers(0, 2**28), st.binary(max_size=20))
def test_to_bytes_and_back(desc, arch, eighths, before):
    base = 8 * eighths
    data = abi.pack_bytes(desc, arch, base)
    expected = as_read(desc)
    assert abi.read_bytes(data, arch, base) == expected
    assert abi.pack_bytes(expected, arch, base) == data
    if base >= len(before):
        assert abi.read_bytes(before + data + before, arch, base - len(before), base) == expected


@settings(max_examples=4 * settings.default.max_examples)  # type: ignore[union-attr]
@given(st.data())
def test_mutated_bytes(data):
    desc = data.draw(descriptors())
    arch = data.draw(st.sampled_from(["x64", "x86"]))
    base = data.draw(st.sampled_from([0, 0x10000, 2**31]))
    changed = bytearray(abi.pack_bytes(desc, arch, base))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(changed) - 4))
        word = data.draw(UINT | st.integers(0, 10) | st.integers(base, base + len(changed)))
        struct.pack_into("<I", changed, at, word)
    del changed[data.draw(st.integers(16, 10**4)) :]
    try:
        violations = check(abi.read_bytes(changed, arch, base))
    except DirectMLError as error:
        violations = error.violations
    assert all(fault.field and str(fault) for fault in violations)


ANYTHING = st.sampled_from(
    [
        *(None, True, -1, 9, 2**32, 2**64, 10**5000, 0.5, math.nan, "LINEAR", "", b"12", range(9), object),
        *([], [1], [1, None], [[1]], (0, 2), {}, np.array(3), np.array([1.5, 2]), np.float32(1), np.int8(-1)),
        *(F32, InterpolationMode.LINEAR, Size2D(1, None), BufferTensorDesc(None, None)),
    ]
)


@given(descriptors(), st.data())
def test_descriptors_that_hold_anything(desc, data):
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(list(desc.field_kinds())))
        value = getattr(desc, name)
        if isinstance(value, BufferTensorDesc):
            inner = data.draw(st.sampled_from([field.name for field in dataclasses.fields(value)]))
            value = dataclasses.replace(value, **{inner: data.draw(ANYTHING)})
        else:
            value = data.draw(ANYTHING)
        desc = dataclasses.replace(desc, **{name: value})
    try:
        packed = abi.pack_bytes(desc)
        violations = []
    except DirectMLError as error:
        packed = None
        violations = error.violations
    if packed is None:
        assert violations
        assert all("must" in str(fault) for fault in violations)
    else:
        assert abi.pack_bytes(abi.read_bytes(packed)) == packed


# What the bytes are, without any of the code that reads them.

GATHER_ND = GatherNDOperatorDesc(
    BufferTensorDesc(F32, (2, 3)), BufferTensorDesc(U32, (4, 1), (0, 5)), BufferTensorDesc(F32, (4, 3)), 2, 2
)


@pytest.mark.parametrize(
    ("arch", "root", "desc", "buffer"),
    [("x64", "<I4xQ", "<QQQII", "<III4xQQQI4x"), ("x86", "<II", "<IIIII", "<IIIII4xQI4x")],
)
def test_bytes_of_gather_nd(arch, root, desc, buffer):
    base = 0x40000000
    data = abi.pack_bytes(GATHER_ND, arch, base)

    def at(form, address):
        return struct.unpack_from(form, data, address - base)

    operator, inner = at(root, base)
    assert operator == 108
    *pointers, input_count, indices_count = at(desc, inner)
    assert (input_count, indices_count) == (2, 2)
    found = []
    for pointer in pointers:
        tensor_type, where = at(root, pointer)
        assert tensor_type == 1
        data_type, flags, count, sizes, strides, total, alignment = at(buffer, where)
        assert (flags, count, alignment) == (0, 2, 0)
        found.append((data_type, at("<2I", sizes), at("<2I", strides) if strides else None, total))
    assert found == [(1, (2, 3), None, 24), (3, (4, 1), (0, 5), 4), (1, (4, 3), None, 48)]


def test_bytes_with_base_0_are_the_same_but_for_pointers():
    first, second = (abi.pack_bytes(GATHER_ND, "x86", base) for base in (0, 0x1000))
    assert len(first) == len(second)
    differences = {
        b - a for a, b in zip(*(np.frombuffer(x, "<u4").tolist() for x in (first, second)), strict=True)
    }
    assert differences == {0, 0x1000}


def test_pointer_keeps_the_memory_alive():
    pointer = abi.pack(GATHER_ND).pointer
    gc.collect()
    noise = [bytes([255]) * n for n in range(16, 2000, 8)]
    assert abi.read(pointer) == as_read(GATHER_ND)
    assert noise


def test_packed_is_an_argument_of_foreign_functions():
    packed = abi.pack(GATHER_ND)
    copy = ctypes.create_string_buffer(16)
    ctypes.memmove(copy, packed, 16)
    assert copy.raw == packed.as_bytes[:16]
    assert repr(packed) == f"<Packed DML_OPERATOR_DESC at {packed.address:#x}, {len(packed.as_bytes)} bytes>"


def test_structures_that_a_caller_made():
    """A descriptor built field by field, as a program in C would, is read, checked and run."""
    sizes = (ctypes.c_uint32 * 2)(1, 4)
    smaller = (ctypes.c_uint32 * 2)(1, 2)
    scales = (ctypes.c_float * 2)(1, 2)

    def tensor(dimensions):
        buffer = abi.STRUCTURES["DML_BUFFER_TENSOR_DESC"](
            DataType=1, DimensionCount=2, Sizes=dimensions, TotalTensorSizeInBytes=4 * dimensions[1]
        )
        return abi.STRUCTURES["DML_TENSOR_DESC"](1, ctypes.addressof(buffer)), buffer

    (small, _b1), (large, _b2) = tensor(smaller), tensor(sizes)
    resample = abi.STRUCTURES["DML_RESAMPLE_OPERATOR_DESC"](
        ctypes.pointer(small), ctypes.pointer(large), 1, 2, scales
    )
    desc = abi.read(abi.STRUCTURES["DML_OPERATOR_DESC"](96, ctypes.addressof(resample)))
    assert check(desc) == []
    assert run(desc, [np.array([0, 1], np.float32)]).tolist() == [[0, 0.25, 0.75, 1]]


def test_arrays_as_buffers():
    data = np.frombuffer(abi.pack_bytes(GATHER_ND), "<u4").reshape(2, -1)
    assert abi.read_bytes(data) == as_read(GATHER_ND)
