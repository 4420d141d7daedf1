import io
import math
import re
import struct

import numpy as np
import pytest
from dxdispatch_models import ABSENT, GATHER_ND, changed, load
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from remapnd.directml.dxdispatch import ModelError, resources
from remapnd.directml.enums import TensorDataType

INTEGERS = ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]
FLOATS = ["FLOAT16", "FLOAT32", "FLOAT64"]


def _resource(folder, content, **options):
    """Read a model whose only resource is `content`."""
    return load(
        folder, {"resources": {"r": content}, "dispatchables": {}, "commands": []}, **options
    ).resources["r"]


def _values(folder, data_type, initial, **more):
    resource = _resource(folder, {"initialValuesDataType": data_type, "initialValues": initial, **more})
    return resource.elements(resource.allocate())


def _refused(folder, message, content, **options):
    with pytest.raises(ModelError, match=f"{re.escape(message)}$"):
        _resource(folder, content, **options)


# Inline arrays


@pytest.mark.parametrize("data_type", INTEGERS)
@pytest.mark.parametrize("prefix", ["", "DML_TENSOR_DATA_TYPE_"])
def test_integers_over_their_whole_range(tmp_path, data_type, prefix):
    limits = np.iinfo(data_type.lower())
    values = _values(tmp_path, prefix + data_type, [int(limits.min), 0, 1, int(limits.max)])
    assert_array_equal(values, np.array([limits.min, 0, 1, limits.max], data_type.lower()), strict=True)


@pytest.mark.parametrize("data_type", INTEGERS)
def test_integers_out_of_range(tmp_path, data_type):
    limits = np.iinfo(data_type.lower())
    for bad in (int(limits.min) - 1, int(limits.max) + 1):
        _refused(
            tmp_path,
            "model.json: `resources.r.initialValues[1]` must be an integer in "
            f"[{limits.min}, {limits.max}], got {bad}",
            {"initialValuesDataType": data_type, "initialValues": [0, bad]},
        )


@pytest.mark.parametrize(
    ("bad", "shown"),
    [
        (1.0, "1.0"),
        (True, "true"),
        (None, "null"),
        ("1", '"1"'),
        ([1], "an array of 1 value"),
        ({}, "an object"),
    ],
)
def test_integers_of_another_json_type(tmp_path, bad, shown):
    _refused(
        tmp_path,
        f"`resources.r.initialValues[0]` must be an integer in [0, 255], got {shown}",
        {"initialValuesDataType": "UINT8", "initialValues": [bad]},
    )


@pytest.mark.parametrize("data_type", FLOATS)
def test_floats(tmp_path, data_type):
    dtype = np.dtype(data_type.lower())
    values = _values(tmp_path, data_type, [0, -1, 0.1, 1e-300, "inf", "-INF", "Nan"])
    expected = np.array([0, -1, 0.1, 1e-300, math.inf, -math.inf, math.nan]).astype(dtype)
    assert_array_equal(values, expected, strict=True)


@pytest.mark.parametrize(("data_type", "bad"), [("FLOAT16", 65520), ("FLOAT32", 1e39), ("FLOAT16", -1e300)])
def test_floats_out_of_range(tmp_path, data_type, bad):
    _refused(
        tmp_path,
        f"`resources.r.initialValues[1]` must lie in the range of {data_type}, or be "
        f'"inf" or "-inf", got {bad}',
        {"initialValuesDataType": data_type, "initialValues": ["inf", bad]},
    )


def test_largest_floats_that_round_into_range(tmp_path):
    assert _values(tmp_path, "FLOAT16", [65519])[0] == 65504
    assert _values(tmp_path, "FLOAT32", [3.4028235e38])[0] == np.finfo(np.float32).max


@pytest.mark.parametrize(
    ("bad", "shown"), [(2**53 + 1, "9007199254740993"), ("infinity", '"infinity"'), (False, "false")]
)
def test_floats_that_no_double_holds(tmp_path, bad, shown):
    _refused(
        tmp_path,
        "`resources.r.initialValues[0]` must be a number that a double holds, or "
        f'"inf", "-inf" or "nan", got {shown}',
        {"initialValuesDataType": "FLOAT32", "initialValues": [bad]},
    )


def test_number_outside_the_range_of_a_double(tmp_path):
    text = '{"resources": {"r": {"initialValuesDataType": "FLOAT64", "initialValues": [1e999]}}}'
    with pytest.raises(ModelError, match=r'"nan", got a number outside the range of a double$'):
        load(tmp_path, text)


def test_array_without_data_type(tmp_path):
    _refused(
        tmp_path,
        '`resources.r.initialValues[0]` must be an object with "type" and "value", as the resource has no '
        '"initialValuesDataType", got 1',
        {"initialValues": [1]},
    )


@pytest.mark.parametrize("data_type", ["UINT4", "INT4"])
def test_four_bit_types(tmp_path, data_type):
    _refused(
        tmp_path,
        "`resources.r.initialValues` must have beside it an initialValuesDataType of 8 "
        f"bits or more, got {data_type}",
        {"initialValuesDataType": data_type, "initialValues": [1]},
    )


def test_unknown_data_type(tmp_path):
    _refused(
        tmp_path,
        "`resources.r.initialValuesDataType` must be one of UNKNOWN, FLOAT32, FLOAT16, "
        "UINT32, UINT16, UINT8, INT32, INT16, "
        'INT8, FLOAT64, UINT64, INT64, UINT4, INT4, got "float32"',
        {"initialValuesDataType": "float32", "initialValues": [1]},
    )


# Mixed, constant, sequence


def test_mixed_elements_are_packed_without_gaps(tmp_path):
    elements = [
        {"type": "UINT8", "value": 7, "name": "ignored"},
        {"type": "DML_TENSOR_DATA_TYPE_FLOAT64", "value": "-inf"},
        {"type": "INT16", "value": -2},
    ]
    resource = _resource(tmp_path, {"initialValues": elements, "initialValuesDataType": "UNKNOWN"})
    assert resource.data_type is TensorDataType.UNKNOWN
    assert resource.allocate().tobytes() == struct.pack("=Bdh", 7, -math.inf, -2) + b"\0"


def test_mixed_elements_of_types_that_are_not_taken(tmp_path):
    for data_type in ("FLOAT16", "UNKNOWN", "UINT4"):
        _refused(
            tmp_path,
            "`resources.r.initialValues[0].type` must be a data type of 8, 32 or 64 bits, "
            "or a 16-bit integer, "
            f'got "{data_type}"',
            {"initialValues": [{"type": data_type, "value": 1}]},
        )


def test_mixed_element_without_value(tmp_path):
    message = "`resources.r.initialValues[1]` must have the key value, got the keys type"
    _refused(tmp_path, message, {"initialValues": [{"type": "INT8", "value": 1}, {"type": "INT8"}]})


def test_mixed_element_out_of_range(tmp_path):
    message = "`resources.r.initialValues[0].value` must be an integer in [-128, 127], got 128"
    _refused(tmp_path, message, {"initialValues": [{"type": "INT8", "value": 128}]})


@pytest.mark.parametrize("data_type", INTEGERS + FLOATS)
def test_constant(tmp_path, data_type):
    values = _values(tmp_path, data_type, {"valueCount": 5, "value": 3})
    assert_array_equal(values, np.full(5, 3, data_type.lower()), strict=True)


def test_constant_out_of_range(tmp_path):
    message = "`resources.r.initialValues.value` must be an integer in [0, 255], got 256"
    _refused(
        tmp_path,
        message,
        {"initialValuesDataType": "UINT8", "initialValues": {"valueCount": 5, "value": 256}},
    )


@given(
    st.sampled_from(INTEGERS + FLOATS),
    st.integers(1, 60),
    st.integers(0, 100),
    st.sampled_from([0, 1, 3, 0.1, 1e-3, 100]),
)
def test_sequence_adds_in_the_element_type(tmp_path_factory, data_type, count, start, delta):
    dtype = np.dtype(data_type.lower())
    delta = int(delta) if data_type in INTEGERS else delta
    initial = {"valueCount": count, "valueStart": start, "valueDelta": delta}
    values = _values(tmp_path_factory.mktemp("m"), data_type, initial)
    expected, term = [], dtype.type(start)
    with np.errstate(over="ignore"):
        for _ in range(count):
            expected.append(term)
            term = term + dtype.type(delta)
    assert_array_equal(values, np.array(expected, dtype), strict=True)


def test_sequence_wraps(tmp_path):
    initial = {"valueCount": 4, "valueStart": 250, "valueDelta": 3}
    assert _values(tmp_path, "UINT8", initial).tolist() == [250, 253, 0, 3]


@pytest.mark.parametrize(
    ("initial", "message"),
    [
        (
            {"valueCount": 2, "value": 1, "valueStart": 1},
            'initialValues` must have only one of "value" and "valueStart", got both',
        ),
        (
            {"sourcePath": "x", "value": 1},
            'initialValues` must have only one of "sourcePath" and "value", got both',
        ),
        (
            {"sourcePath": "x", "valueStart": 1},
            'initialValues` must have only one of "sourcePath" and "valueStart", got both',
        ),
        (
            {"valueCount": 2, "valueStart": 1},
            "initialValues` must have the key valueDelta, got the keys valueCount, valueStart",
        ),
        (
            {"valueCount": 2, "valueDelta": 1},
            "initialValues` must have the key valueStart, got the keys valueCount, valueDelta",
        ),
        (
            {"valueCount": -1, "value": 1},
            "initialValues.valueCount` must be an integer in [0, 4294967295], got -1",
        ),
        (
            {"valueCount": 2**32, "value": 1},
            "initialValues.valueCount` must be an integer in [0, 4294967295], got 4294967296",
        ),
        ({"valueCount": 0, "value": 1}, "initialValues` must hold at least one byte, got an object"),
        ([], "initialValues` must hold at least one byte, got an array of 0 values"),
        (
            "deferred",
            "initialValues` must be given: buffers that an ONNX model allocates are not in "
            'this runtime, got "deferred"',
        ),
        (
            7,
            'initialValues` must be an array of numbers, an array of objects with "type" '
            'and "value", an object with '
            '"valueCount" and either "value" or "valueStart" and "valueDelta", or an '
            'object with "sourcePath", got 7',
        ),
    ],
)
def test_malformed_initial_values(tmp_path, initial, message):
    _refused(
        tmp_path, f"`resources.r.{message}", {"initialValuesDataType": "INT32", "initialValues": initial}
    )


def test_constant_without_data_type(tmp_path):
    message = (
        "`resources.r.initialValues` must have beside it an initialValuesDataType of 8 "
        "bits or more, got UNKNOWN"
    )
    _refused(tmp_path, message, {"initialValues": {"valueCount": 1, "value": 1}})


def test_initial_values_are_required(tmp_path):
    message = "`resources.r` must have the key initialValues, got the keys initialValuesDataType"
    _refused(tmp_path, message, {"initialValuesDataType": "INT32"})


# Sizes


@pytest.mark.parametrize(("count", "size"), [(1, 4), (4, 4), (5, 8)])
def test_size_is_rounded_up_to_four_bytes(tmp_path, count, size):
    resource = _resource(tmp_path, {"initialValuesDataType": "UINT8", "initialValues": [9] * count})
    assert resource.size_in_bytes == size
    assert resource.allocate().tolist() == [9] * count + [0] * (size - count)
    assert resource.elements(resource.allocate()).size == count


def test_explicit_size_is_used_as_it_is(tmp_path):
    resource = _resource(tmp_path, {"initialValuesDataType": "UINT8", "initialValues": [9], "sizeInBytes": 3})
    assert resource.allocate().tolist() == [9, 0, 0]


def test_offset_of_the_initial_values(tmp_path):
    content = {"initialValuesDataType": "UINT8", "initialValues": [7, 9], "initialValuesOffsetInBytes": 3}
    resource = _resource(tmp_path, content)
    assert resource.allocate().tolist() == [0, 0, 0, 7, 9, 0, 0, 0]
    assert resource.elements(resource.allocate()).tolist() == [7, 9]


def test_size_that_is_too_small(tmp_path):
    content = {"initialValuesDataType": "INT16", "initialValues": [1, 2], "sizeInBytes": 3}
    _refused(
        tmp_path, "`resources.r.sizeInBytes` must hold the 4 bytes of the initial values, got 3", content
    )
    content |= {"sizeInBytes": 4, "initialValuesOffsetInBytes": 1}
    _refused(
        tmp_path,
        "`resources.r.sizeInBytes` must hold the 4 bytes of the initial values from byte 1 on, got 4",
        content,
    )


def test_resources_that_memory_cannot_hold(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "_physical_memory", lambda: 2000)
    rule = "must take at most the 1000 bytes that other resources leave of half this machine's memory"
    many = {"initialValuesDataType": "UINT8", "initialValues": {"valueCount": 1001, "value": 1}}
    _refused(tmp_path, f"`resources.r.initialValues.valueCount` {rule}, got 1001 bytes", many)
    large = {"initialValuesDataType": "UINT8", "initialValues": [1], "sizeInBytes": 10**15}
    _refused(tmp_path, f"`resources.r.sizeInBytes` {rule}, got 1000000000000000 bytes", large)
    (tmp_path / "large.npy").write_bytes(b"x" * 1001)
    _refused(
        tmp_path,
        f"`resources.r.initialValues.sourcePath` {rule}, got 1001 bytes",
        {"initialValues": {"sourcePath": "large.npy"}},
    )
    model = changed(GATHER_ND, ("resources/input/sizeInBytes", 992))
    with pytest.raises(
        ModelError, match=r"`resources.output.initialValues.valueCount` must take at most the 0 bytes"
    ):
        load(tmp_path, model)


# Files

NUMERIC = ["?", "b", "B", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8",
           "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]  # fmt: skip


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("dtype", NUMERIC)
def test_npy_of_any_number_type_and_byte_order(tmp_path, dtype, version):
    array = np.array([[0, 1, 2], [100, 101, 127]]).astype(dtype)
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, array, version=version)
    resource = _resource(tmp_path, {"initialValues": {"sourcePath": "a.npy"}})
    native = np.uint8 if dtype == "?" else np.dtype(dtype).newbyteorder("=")
    assert_array_equal(resource.elements(resource.allocate()), array.reshape(-1).astype(native), strict=True)
    assert resource.data_type is TensorDataType.from_dtype(native)


def test_npy_of_rank_zero(tmp_path):
    np.save(tmp_path / "a.npy", np.float32(2.5))
    resource = _resource(
        tmp_path, {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": "a.npy"}}
    )
    assert resource.elements(resource.allocate()).tolist() == [2.5]


def test_npy_of_another_data_type_than_stated(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(2, np.float32))
    message = "`resources.r.initialValues.sourcePath` must hold the data type beside it, FLOAT16, got FLOAT32"
    _refused(
        tmp_path, message, {"initialValuesDataType": "FLOAT16", "initialValues": {"sourcePath": "a.npy"}}
    )


def _npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _npz():
    file = io.BytesIO()
    np.savez(file, a=np.zeros(2))
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "be a whole .npy file of numbers (No data left in file)"),
        (b"\x93NUMPY\x01\x00", "be a whole .npy file of numbers ("),
        (b"no array", "be a whole .npy file of numbers ("),
        (_npy(np.arange(8))[:-1], "be a whole .npy file of numbers ("),
        (
            _npy(np.array([None, 1])),
            "be a whole .npy file of numbers (Object arrays cannot be loaded when allow_pickle=False)",
        ),
        (_npy(np.arange(8)).replace(b"(8,)", b"(8,"), "be a whole .npy file of numbers ("),
        (_npy(np.array(["a"])), "hold integers or floating-point numbers of up to 8 bytes, not <U1"),
        (
            _npy(np.zeros(2, complex)),
            "hold integers or floating-point numbers of up to 8 bytes, not complex128",
        ),
        (
            _npy(np.zeros(2, "i4,f4")),
            "hold integers or floating-point numbers of up to 8 bytes, not [('f0', '<i4'), ('f1', '<f4')]",
        ),
        (_npy(np.asfortranarray(np.zeros((2, 3)))), "be a .npy file in C order, not Fortran order"),
        (_npz(), "be a .npy file, not an archive of several"),
        (_npy(np.zeros(0)), ""),
    ],
)
def test_files_that_are_no_npy(tmp_path, content, rule):
    (tmp_path / "a.npy").write_bytes(content)
    place = "resources.r.initialValues.sourcePath" if rule else "resources.r.initialValues"
    message = rf"`{place}` must {re.escape(rule or 'hold at least one byte')}[^\n]*, got ("
    with pytest.raises(ModelError, match=message + r'"a\.npy"|an object)\Z'):
        _resource(tmp_path, {"initialValues": {"sourcePath": "a.npy"}})


def test_raw_file(tmp_path):
    (tmp_path / "data.bin").write_bytes(bytes(range(10)))
    resource = _resource(
        tmp_path, {"initialValuesDataType": "UINT16", "initialValues": {"sourcePath": "data.bin"}}
    )
    assert resource.allocate().tobytes() == bytes(range(10)) + b"\0\0"
    assert_array_equal(resource.elements(resource.allocate()), np.frombuffer(bytes(range(10)), np.uint16))


def test_raw_file_needs_a_data_type(tmp_path):
    (tmp_path / "data.bin").write_bytes(b"1234")
    message = "sourcePath` must have beside it an initialValuesDataType of 8 bits or more, got UNKNOWN"
    _refused(tmp_path, message, {"initialValues": {"sourcePath": "data.bin"}})


def test_image_files(tmp_path):
    (tmp_path / "a.PNG").write_bytes(b"1234")
    message = (
        "sourcePath` must name a .npy file or a file of raw bytes: images are not in "
        'this runtime, got "a.PNG"'
    )
    _refused(tmp_path, message, {"initialValuesDataType": "UINT8", "initialValues": {"sourcePath": "a.PNG"}})


@pytest.mark.parametrize("name", ["none.npy", "", ".", "a\0b", "\ud800", "x" * 5000])
def test_source_file_that_is_not_there(tmp_path, name):
    with pytest.raises(
        ModelError, match=r"sourcePath` must name a file that is there, in [^\n]+ or \., got \"[^\n]*\Z"
    ):
        _resource(tmp_path, {"initialValuesDataType": "UINT8", "initialValues": {"sourcePath": name}})


def test_source_path_that_is_no_string(tmp_path):
    message = "`resources.r.initialValues.sourcePath` must be a string, got 3"
    _refused(tmp_path, message, {"initialValuesDataType": "UINT8", "initialValues": {"sourcePath": 3}})


def test_where_source_files_are_looked_for(tmp_path, monkeypatch):
    beside, base, here = tmp_path / "beside", tmp_path / "base", tmp_path / "here"
    for number, folder in enumerate((beside, base, here)):
        folder.mkdir()
        (folder / "a.bin").write_bytes(bytes([number]))
    (here / "b.bin").write_bytes(bytes([9]))
    monkeypatch.chdir(here)

    def first(name, **options):
        content = {"initialValuesDataType": "UINT8", "initialValues": {"sourcePath": name}}
        return _resource(beside, content, **options).initial_values[0]

    assert first("a.bin") == 0
    assert first("a.bin", input_path=str(base)) == 1
    assert first("b.bin", input_path=str(base)) == 9
    assert first(str(here / "a.bin")) == 2


def test_keys_of_other_kinds_of_resources_are_ignored(tmp_path):
    content = {"type": "texture", "resampleSize": [1, 3, 2, 2], "resampleMode": "fit", "new": None}
    values = _values(tmp_path, "INT8", [1], **content)
    assert values.tolist() == [1]


def test_names_with_dots_are_quoted_in_paths(tmp_path):
    model = {"resources": {"a.b": {"initialValues": 1}}}
    with pytest.raises(ModelError, match=r'`resources\["a\.b"\]\.initialValues` must be an array of numbers'):
        load(tmp_path, model)


def test_resources_must_be_an_object(tmp_path):
    with pytest.raises(ModelError, match=r"`resources` must be an object, got an array of 0 values$"):
        load(tmp_path, changed(GATHER_ND, ("resources", [])))
    with pytest.raises(
        ModelError,
        match=r"the model must have the key resources, got the keys dispatchables, commands$",
    ):
        load(tmp_path, changed(GATHER_ND, ("resources", ABSENT)))
