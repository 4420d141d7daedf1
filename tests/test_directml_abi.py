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
    OperatorType,
    Resample1OperatorDesc,
    Resample3OperatorDesc,
    ResampleOperatorDesc,
    Size2D,
    TensorDataType,
    TensorFlags,
    Upsample2DOperatorDesc,
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


# Violations of what is read.

RESAMPLE1 = Resample1OperatorDesc(
    BufferTensorDesc(F32, (1, 2)), BufferTensorDesc(F32, (1, 4)), "LINEAR", 2, [1, 2], [0.5] * 2, [-0.5] * 2
)


def changed(desc, *changes, arch="x64", base=0):
    """Pack, follow a path of field names, and write a number over what is there."""
    data = bytearray(abi.pack_bytes(desc, arch, base))
    code, width = ("<Q", 8) if arch == "x64" else ("<I", 4)
    for path, value in changes:
        at, kind = 0, abi.STRUCTS["DML_OPERATOR_DESC"]
        for name in ["Desc", *path.split(".")] if path not in ("Type", "Desc") else [path]:
            field = next(f for f in kind.fields if f.name == name)
            place = at + kind.layout(arch).offsets[name]
            if field.kind is abi.Kind.POINTER and not field.count:
                (at,) = struct.unpack_from(code, data, place)
                at -= base
                inner = {"DML_OPERATOR_DESC": f"DML_{desc.Type.name}_OPERATOR_DESC"}
                target = (
                    field.type if field.type != "void" else inner.get(kind.name, "DML_BUFFER_TENSOR_DESC")
                )
                kind = abi.STRUCTS[target]
        size = kind_size(field, width)
        data[place : place + size] = value.to_bytes(size, "little")
    return data


def kind_size(field, width):
    return {abi.Kind.POINTER: width, abi.Kind.UINT64: 8}.get(field.kind, 4)


@pytest.mark.parametrize("arch", ["x64", "x86"])
@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("Desc", 0, "RESAMPLE1: `Desc` must not be null, got 0x0"),
        ("InputTensor", 0, "RESAMPLE1: `InputTensor` must not be null, got 0x0"),
        ("InputTensor.Type", 0, "RESAMPLE1: `InputTensor.Type` must be BUFFER 1, got 0"),
        ("InputTensor.Desc", 0, "RESAMPLE1: `InputTensor.Desc` must not be null, got 0x0"),
        ("OutputTensor.Desc.Sizes", 0, "RESAMPLE1: `OutputTensor.Sizes` must not be null, got 0x0"),
        (
            "OutputTensor.Desc.DimensionCount",
            9,
            "RESAMPLE1: `OutputTensor.DimensionCount` must lie in [1, 8], got 9",
        ),
        (
            "OutputTensor.Desc.DimensionCount",
            0,
            "RESAMPLE1: `OutputTensor.DimensionCount` must lie in [1, 8], got 0",
        ),
        ("DimensionCount", 2**32 - 1, "RESAMPLE1: `DimensionCount` must lie in [1, 8], got 4294967295"),
        ("Scales", 0, "RESAMPLE1: `Scales` must not be null, got 0x0"),
        (
            "InterpolationMode",
            2,
            "RESAMPLE1: `InterpolationMode` must be one of NEAREST_NEIGHBOR, LINEAR, got 2",
        ),
        (
            "InputTensor.Desc.DataType",
            14,
            "RESAMPLE1: `InputTensor.DataType` must be one of UNKNOWN, FLOAT32, FLOAT16, UINT32, UINT16, "
            "UINT8, INT32, INT16, INT8, FLOAT64, UINT64, INT64, UINT4, INT4, got 14",
        ),
        (
            "InputTensor.Desc.Flags",
            2,
            "RESAMPLE1: `InputTensor.Flags` must be one of NONE, OWNED_BY_DML, got 2",
        ),
        (
            "InputTensor.Desc.TotalTensorSizeInBytes",
            0,
            "RESAMPLE1: `InputTensor.TotalTensorSizeInBytes` must be at least 8, got 0",
        ),
    ],
)
def test_violations_of_bytes(arch, path, value, text):
    with pytest.raises(DirectMLError) as caught:
        abi.read_bytes(changed(RESAMPLE1, (path, value), arch=arch), arch)
    assert str(caught.value) == text


@pytest.mark.parametrize(("arch", "size"), [("x64", 16), ("x86", 8)])
def test_pointers_out_of_the_buffer(arch, size):
    base = 0x1000
    data = changed(RESAMPLE1, ("InputTensor", base - 1), ("OutputTensor", 0x2000), arch=arch, base=base)
    with pytest.raises(DirectMLError) as caught:
        abi.read_bytes(data, arch, base)
    inside = f"must point to {size} bytes inside the buffer, [0x1000, {base + len(data):#x})"
    assert str(caught.value).splitlines() == [
        f"RESAMPLE1: `InputTensor` {inside}, got 0xfff",
        f"RESAMPLE1: `OutputTensor` {inside}, got 0x2000",
    ]


def test_all_violations_at_once():
    data = changed(RESAMPLE1, ("InputTensor", 0), ("InterpolationMode", 7), ("Scales", 0))
    with pytest.raises(DirectMLError) as caught:
        abi.read_bytes(data)
    fields = [fault.field for fault in caught.value.violations]
    assert fields == ["InputTensor", "InterpolationMode", "Scales"]


def test_operator_that_is_not_here():
    with pytest.raises(
        DirectMLError,
        match=r"^DML_OPERATOR_DESC: `Type` must be one of UPSAMPLE_2D 66, .*RESAMPLE3 175, got 12$",
    ) as caught:
        abi.read_bytes(changed(GATHER_ND, ("Type", 12)))
    assert caught.value.violations[0].operator is None


def test_null_strides_are_packed_ones():
    desc = abi.read_bytes(changed(GATHER_ND, ("IndicesTensor.Desc.Strides", 0)))
    assert desc.IndicesTensor.Strides is None


def test_any_other_bool_is_true():
    desc = Resample3OperatorDesc(
        RESAMPLE1.InputTensor, RESAMPLE1.OutputTensor, 1, 1, None, [1, 2], [0, 0], [0, 0], Antialiased=False
    )
    assert abi.read_bytes(abi.pack_bytes(desc)).Antialiased is False
    assert abi.read_bytes(changed(desc, ("Antialiased", 2**31))).Antialiased is True


def test_bytes_that_are_none():
    with pytest.raises(TypeError, match=r"^abi.read_bytes: `buffer` must be bytes-like, got str$"):
        abi.read_bytes("text")
    with pytest.raises(
        ValueError, match=r"^abi.read_bytes: `buffer` must be C-contiguous, got strides \(2,\) bytes$"
    ):
        abi.read_bytes(np.zeros(64, np.uint8)[::2])
    with pytest.raises(ValueError, match=r"^abi.read_bytes: `arch` must be one of x64, x86, got 'arm'$"):
        abi.read_bytes(b"", "arm")
    with pytest.raises(TypeError, match=r"^abi.read_bytes: `base` must be an int, got float$"):
        abi.read_bytes(b"", base=1.0)
    with pytest.raises(
        ValueError, match=r"^abi.read_bytes: `base` must lie in \[0, 0x100000000\) on x86, got 0x100000000$"
    ):
        abi.read_bytes(b"", "x86", base=2**32)
    with pytest.raises(
        ValueError,
        match=r"^abi.read_bytes: `address` must point to 16 bytes inside the buffer, \[0x0, 0xf\), got 0x0$",
    ):
        abi.read_bytes(bytes(15))
    with pytest.raises(
        ValueError, match=r"^abi.read_bytes: `address` must point to 8 bytes inside .*0x10\), got 0x9$"
    ):
        abi.read_bytes(bytes(16), "x86", address=9)


def test_arrays_as_buffers():
    data = np.frombuffer(abi.pack_bytes(GATHER_ND), "<u4").reshape(2, -1)
    assert abi.read_bytes(data) == as_read(GATHER_ND)


# Violations of what is packed.


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"InputTensor": None}, "RESAMPLE1: `InputTensor` must be a BufferTensorDesc, got None"),
        (
            {"InputTensor": BufferTensorDesc(F32, (0, 2))},
            "RESAMPLE1: `InputTensor.Sizes[0]` must be an integer in [1, 4294967295], got 0",
        ),
        (
            {"InputTensor": BufferTensorDesc(F32, (1,) * 9)},
            "RESAMPLE1: `InputTensor.DimensionCount` must lie in [1, 8], got 9",
        ),
        (
            {"InputTensor": BufferTensorDesc(F32, ())},
            "RESAMPLE1: `InputTensor.DimensionCount` must lie in [1, 8], got 0",
        ),
        (
            {"InputTensor": BufferTensorDesc(F32, (2, 2), TotalTensorSizeInBytes=8)},
            "RESAMPLE1: `InputTensor.TotalTensorSizeInBytes` must be at least 16, or 0, got 8",
        ),
        ({"DimensionCount": 9}, "RESAMPLE1: `DimensionCount` must lie in [1, 8], got 9"),
        ({"DimensionCount": -1}, "RESAMPLE1: `DimensionCount` must be an integer in [0, 4294967295], got -1"),
        ({"Scales": [1]}, "RESAMPLE1: `Scales` must have as many values as DimensionCount = 2, got [1]"),
        ({"Scales": 2}, "RESAMPLE1: `Scales` must be a sequence of numbers, got 2"),
        ({"Scales": [1, "2"]}, "RESAMPLE1: `Scales[1]` must be a number, got '2'"),
        (
            {"DimensionCount": None, "Scales": [1]},
            "RESAMPLE1: `InputPixelOffsets` must have as many values as DimensionCount = 1, got [0.5, 0.5]\n"
            "RESAMPLE1: `OutputPixelOffsets` must have as many values as DimensionCount = 1, "
            "got [-0.5, -0.5]",
        ),
        (
            {"InterpolationMode": "CUBIC"},
            "RESAMPLE1: `InterpolationMode` must be one of NEAREST_NEIGHBOR, LINEAR, got 'CUBIC'",
        ),
    ],
)
def test_violations_of_descriptors(values, text):
    desc = dataclasses.replace(RESAMPLE1, **values)
    for pack in (abi.pack, abi.pack_bytes):
        with pytest.raises(DirectMLError) as caught:
            pack(desc)
        assert str(caught.value) == text


def test_violations_of_other_fields():
    tensor = BufferTensorDesc(F32, (1, 1, 2, 2))
    upsample = Upsample2DOperatorDesc(tensor, tensor, Size2D(2, 2**32), "LINEAR")
    with pytest.raises(
        DirectMLError,
        match=r"^UPSAMPLE_2D: `ScaleSize.Height` must be an integer in \[0, 4294967295\], got 42949",
    ):
        abi.pack(upsample)
    with pytest.raises(DirectMLError, match=r"^UPSAMPLE_2D: `ScaleSize` must be a Size2D, got \(2, 2\)$"):
        abi.pack(dataclasses.replace(upsample, ScaleSize=(2, 2)))
    with pytest.raises(
        DirectMLError,
        match=r"^GATHER_ND: `InputDimensionCount` must be an integer in \[0, 4294967295\], got 2.5$",
    ):
        abi.pack(dataclasses.replace(GATHER_ND, InputDimensionCount=2.5))
    desc = Resample3OperatorDesc(tensor, tensor, 1, 1, None, [1] * 4, [0] * 4, [0] * 4, Antialiased=2)
    with pytest.raises(DirectMLError, match=r"^RESAMPLE3: `Antialiased` must be False or True, got 2$"):
        abi.pack(desc)


def test_values_that_only_the_rules_of_an_operator_forbid_are_packed():
    tensor = BufferTensorDesc(F32, (1, 2))
    desc = ResampleOperatorDesc(tensor, tensor, 1, 3, [math.inf, 0, -1])
    assert check(desc)
    assert abi.read_bytes(abi.pack_bytes(desc)).Scales == (math.inf, 0, -1)


def test_arguments_of_pack():
    for pack, name in ((abi.pack, "pack"), (abi.pack_bytes, "pack_bytes")):
        with pytest.raises(
            TypeError, match=rf"^abi.{name}: `desc` must be an operator descriptor, got int 3$"
        ):
            pack(3)
    with pytest.raises(ValueError, match=r"^abi.pack_bytes: `arch` must be one of x64, x86, got 64$"):
        abi.pack_bytes(GATHER_ND, 64)
    with pytest.raises(ValueError, match=r"^abi.pack_bytes: `base` must be a multiple of 8, got 0x4$"):
        abi.pack_bytes(GATHER_ND, base=4)
    with pytest.raises(
        ValueError, match=r"^abi.pack_bytes: `base` must lie in \[0, 0x1.*\) on x64, got -0x8$"
    ):
        abi.pack_bytes(GATHER_ND, base=-8)
    length = len(abi.pack_bytes(GATHER_ND, "x86"))
    last = (2**32 - length) // 8 * 8
    assert abi.read_bytes(abi.pack_bytes(GATHER_ND, "x86", last), "x86", last) == as_read(GATHER_ND)
    with pytest.raises(
        ValueError,
        match=rf"^abi.pack_bytes: `base` must be at most {last:#x} for {length} bytes on x86, "
        rf"got {last + 8:#x}$",
    ):
        abi.pack_bytes(GATHER_ND, "x86", last + 8)


# Pointers that are none.


@pytest.mark.parametrize(
    "null",
    [0, ctypes.c_void_p(), ctypes.POINTER(abi.STRUCTURES["DML_OPERATOR_DESC"])()],
    ids=["int", "void", "typed"],
)
def test_null_pointers(null):
    with pytest.raises(ValueError, match=r"^abi.read: `pointer` must not be null, got 0x0$"):
        abi.read(null)


def test_pointers_into_pages_that_nobody_has():
    with pytest.raises(ValueError, match=r"^abi.read: `pointer` must lie in \[0x10000, 0xf+0\], got 0xffff$"):
        abi.read(0xFFFF)
    packed = abi.pack(RESAMPLE1)
    inner = ctypes.cast(
        packed.pointer.contents.Desc, ctypes.POINTER(abi.STRUCTURES["DML_RESAMPLE1_OPERATOR_DESC"])
    ).contents
    inner.InputTensor = ctypes.cast(16, type(inner.InputTensor))
    inner.Scales = type(inner.Scales)()
    inner.OutputTensor.contents.Desc = 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 4
    with pytest.raises(DirectMLError) as caught:
        abi.read(packed)
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert re.fullmatch(r"RESAMPLE1: `InputTensor` must lie in \[0x10000, 0xf+0\], got 0x10", lines[0])
    assert re.fullmatch(
        r"RESAMPLE1: `OutputTensor.Desc` must lie in \[0x10000, 0xf+\w0\], got 0xf+c", lines[1]
    )
    assert lines[2] == "RESAMPLE1: `Scales` must not be null, got 0x0"


@pytest.mark.parametrize("thing", [None, True, 1.5, "0x10", GATHER_ND])
def test_pointers_of_a_wrong_kind(thing):
    text = "be an address, a ctypes pointer, a DML_OPERATOR_DESC or a Packed"
    with pytest.raises(TypeError, match=rf"^abi.read: `pointer` must {text}, got {type(thing).__name__}$"):
        abi.read(thing)


def test_addresses_beyond_a_pointer():
    with pytest.raises(
        ValueError, match=r"^abi.read: `pointer` must lie in \[0, 0x10+\) on x\d\d, got -0x1$"
    ):
        abi.read(-1)


def test_operator_types_have_one_name_each():
    assert {operator.name for operator in OPERATOR_DESCS} <= set(OperatorType.__members__)
