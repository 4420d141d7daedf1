"""What is wrong with bytes, pointers and descriptors, told when they are read and packed."""

from __future__ import annotations

import ctypes
import dataclasses
import math
import re
import struct

import numpy as np
import pytest

from remapnd.directml import (
    OPERATOR_DESCS,
    BufferTensorDesc,
    DirectMLError,
    GatherNDOperatorDesc,
    OperatorType,
    Resample1OperatorDesc,
    Resample3OperatorDesc,
    ResampleOperatorDesc,
    Size2D,
    TensorDataType,
    Upsample2DOperatorDesc,
    abi,
    check,
)

F32, U32 = TensorDataType.FLOAT32, TensorDataType.UINT32
GATHER_ND = GatherNDOperatorDesc(
    BufferTensorDesc(F32, (2, 3)), BufferTensorDesc(U32, (4, 1), (0, 5)), BufferTensorDesc(F32, (4, 3)), 2, 2
)


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
    assert abi.read_bytes(abi.pack_bytes(GATHER_ND, "x86", last), "x86", last) == abi.read_bytes(
        abi.pack_bytes(GATHER_ND)
    )
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
