import re

import pytest
from dxdispatch_models import ABSENT, GATHER_ND, changed, load, save

from remapnd.directml import (
    BufferTensorDesc,
    GatherElementsOperatorDesc,
    GatherND1OperatorDesc,
    GatherNDOperatorDesc,
    InterpolationMode,
    Resample1OperatorDesc,
    ResampleOperatorDesc,
    TensorDataType,
    TensorFlags,
)
from remapnd.directml.dxdispatch import ModelError, read_model

DESC = "dispatchables/gather/desc"


def _refused(folder, message, *changes):
    with pytest.raises(ModelError, match=f"model.json: {re.escape(message)}$"):
        load(folder, changed(GATHER_ND, *changes))


def _desc(folder, *changes):
    return load(folder, changed(GATHER_ND, *changes)).dispatchables["gather"].desc


# The file


def test_file_that_is_not_there(tmp_path):
    with pytest.raises(
        ModelError, match=r"none\.json: must be a file that can be read \(No such file or directory\)$"
    ):
        read_model(str(tmp_path / "none.json"))


def test_directory(tmp_path):
    with pytest.raises(ModelError, match=r": must be a file that can be read \(Is a directory\)$"):
        read_model(str(tmp_path))


def test_file_that_is_not_utf8(tmp_path):
    (tmp_path / "m.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(ModelError, match=r"m\.json: must be a model in JSON, in UTF-8, got byte 0xFF at 7$"):
        read_model(str(tmp_path / "m.json"))


def test_byte_order_mark(tmp_path):
    path = save(tmp_path, "\ufeff" + '{"resources": {}, "dispatchables": {}, "commands": []}')
    assert read_model(path).commands == ()


@pytest.mark.parametrize("key", ["resources", "dispatchables", "commands"])
def test_parts_are_required(tmp_path, key):
    others = ", ".join(other for other in GATHER_ND if other != key)
    _refused(tmp_path, f"the model must have the key {key}, got the keys {others}", (key, ABSENT))


@pytest.mark.parametrize(
    ("key", "rule"), [("resources", "an object"), ("dispatchables", "an object"), ("commands", "an array")]
)
def test_parts_of_another_type(tmp_path, key, rule):
    _refused(tmp_path, f"`{key}` must be {rule}, got 1", (key, 1))


def test_root_of_another_type(tmp_path):
    with pytest.raises(
        ModelError, match=r"model\.json: the model must be an object, got an array of 1 value$"
    ):
        load(tmp_path, [1])


def test_schema_and_unknown_keys_are_ignored(tmp_path):
    model = load(
        tmp_path,
        changed(
            GATHER_ND,
            ("$schema", "../x.json"),
            ("new", {"a": [1e999]}),
            ("dispatchables/gather/note", 1),
            (f"{DESC}/Note", 1),
            ("commands/0/threadGroupCount", [1, 1, 1]),
            ("commands/1/note", None),
        ),
    )
    assert list(model.dispatchables) == ["gather"]


# Dispatchables


def test_descriptor(tmp_path):
    assert _desc(tmp_path) == GatherNDOperatorDesc(
        BufferTensorDesc(TensorDataType.FLOAT32, (2, 2), TotalTensorSizeInBytes=0),
        BufferTensorDesc(TensorDataType.UINT32, (2, 1), TotalTensorSizeInBytes=0),
        BufferTensorDesc(TensorDataType.FLOAT32, (2, 2), TotalTensorSizeInBytes=0),
        2,
        2,
    )


@pytest.mark.parametrize("kind", ["GATHER_ND", "DML_OPERATOR_GATHER_ND"])
@pytest.mark.parametrize("place", ["desc", "Desc", None])
def test_fields_in_desc_or_beside_the_type(tmp_path, kind, place):
    fields = GATHER_ND["dispatchables"]["gather"]["desc"]
    inner = {"type": kind} | (fields if place is None else {place: fields})
    assert _desc(tmp_path, ("dispatchables/gather", inner)) == _desc(tmp_path)


FLOAT32 = {"DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": [1, 2]}
INT64 = {"DataType": "INT64", "Sizes": [1, 2]}


@pytest.mark.parametrize(
    ("kind", "fields", "desc_class"),
    [
        ("GATHER_ELEMENTS", {"IndicesTensor": INT64, "Axis": 1}, GatherElementsOperatorDesc),
        (
            "GATHER_ND1",
            {
                "IndicesTensor": INT64,
                "InputDimensionCount": 1,
                "IndicesDimensionCount": 2,
                "BatchDimensionCount": 0,
            },
            GatherND1OperatorDesc,
        ),
        (
            "RESAMPLE",
            {"InterpolationMode": "LINEAR", "ScaleCount": 2, "Scales": [1, 0.5]},
            ResampleOperatorDesc,
        ),
        (
            "RESAMPLE1",
            {
                "InterpolationMode": "DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR",
                "DimensionCount": 2,
                "Scales": ["inf", 2],
                "InputPixelOffsets": [0.5, "-inf"],
                "OutputPixelOffsets": [-0.5, 1],
            },
            Resample1OperatorDesc,
        ),
    ],
)
def test_fields_of_every_operator(tmp_path, kind, fields, desc_class):
    fields = {"InputTensor": FLOAT32, "OutputTensor": FLOAT32} | fields
    desc = _desc(tmp_path, ("dispatchables/gather", {"type": kind, "desc": fields}))
    assert type(desc) is desc_class
    for name, given in fields.items():
        held = getattr(desc, name)
        if isinstance(given, list):
            assert held == tuple(map(float, given))
        elif isinstance(given, dict):
            assert held.Sizes == (1, 2)
            assert held.DataType is TensorDataType.parse(given["DataType"])
        elif isinstance(given, str):
            assert held is InterpolationMode.parse(given)
        else:
            assert held == given
        remaining = {key: value for key, value in fields.items() if key != name}
        with pytest.raises(
            ModelError, match=rf"`dispatchables\.gather\.desc` must have the key {name}, got the keys "
        ):
            _desc(tmp_path, ("dispatchables/gather", {"type": kind, "desc": remaining}))


def test_every_field_of_a_tensor(tmp_path):
    fields = {
        "DataType": "FLOAT32",
        "Flags": ["DML_TENSOR_FLAG_OWNED_BY_DML", "NONE"],
        "DimensionCount": 2,
        "Sizes": [2, 2],
        "Strides": [2, 1],
        "TotalTensorSizeInBytes": 2**40,
        "GuaranteedBaseOffsetAlignment": 256,
    }
    expected = BufferTensorDesc(
        TensorDataType.FLOAT32, (2, 2), (2, 1), TensorFlags.OWNED_BY_DML, 2**40, 256, 2
    )
    assert _desc(tmp_path, (f"{DESC}/InputTensor", fields)).InputTensor == expected
    nested = {"Type": "DML_TENSOR_TYPE_BUFFER", "Desc": fields}
    assert _desc(tmp_path, (f"{DESC}/InputTensor", nested)).InputTensor == expected
    assert _desc(tmp_path, (f"{DESC}/InputTensor/Strides", [])).InputTensor.Strides is None
    assert (
        _desc(tmp_path, (f"{DESC}/InputTensor/Flags", "OWNED_BY_DML")).InputTensor.Flags
        is TensorFlags.OWNED_BY_DML
    )


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("InputTensor", 3, "InputTensor` must be an object, got 3"),
        ("InputTensor/Type", "INVALID", 'InputTensor.Type` must be DML_TENSOR_TYPE_BUFFER, got "INVALID"'),
        ("InputTensor/Type", "TENSOR", 'InputTensor.Type` must be one of INVALID, BUFFER, got "TENSOR"'),
        ("InputTensor/DataType", ABSENT, "InputTensor` must have the key DataType, got the keys Sizes"),
        ("InputTensor/Sizes", ABSENT, "InputTensor` must have the key Sizes, got the keys DataType"),
        ("InputTensor/DataType", 1, "InputTensor.DataType` must be a string, got 1"),
        ("InputTensor/Sizes", 4, "InputTensor.Sizes` must be an array, got 4"),
        ("InputTensor/Sizes/1", 2.0, "InputTensor.Sizes[1]` must be an integer in [0, 4294967295], got 2.0"),
        (
            "InputTensor/Sizes/1",
            2**32,
            "InputTensor.Sizes[1]` must be an integer in [0, 4294967295], got 4294967296",
        ),
        (
            "InputTensor/Strides",
            [1, -1],
            "InputTensor.Strides[1]` must be an integer in [0, 4294967295], got -1",
        ),
        (
            "InputTensor/DimensionCount",
            True,
            "InputTensor.DimensionCount` must be an integer in [0, 4294967295], got true",
        ),
        ("InputTensor/Flags", "OWNED", 'InputTensor.Flags` must be one of NONE, OWNED_BY_DML, got "OWNED"'),
        (
            "InputTensor/Flags",
            ["NONE", "X"],
            'InputTensor.Flags[1]` must be one of NONE, OWNED_BY_DML, got "X"',
        ),
        ("InputTensor/Flags", 1, "InputTensor.Flags` must be an array, got 1"),
        (
            "InputTensor/TotalTensorSizeInBytes",
            2**64,
            "InputTensor.TotalTensorSizeInBytes` must be an integer in [0, "
            "18446744073709551615], got 18446744073709551616",
        ),
        ("InputDimensionCount", "2", 'InputDimensionCount` must be an integer in [0, 4294967295], got "2"'),
    ],
)
def test_malformed_fields(tmp_path, path, value, message):
    _refused(tmp_path, f"`dispatchables.gather.desc.{message}", (f"{DESC}/{path}", value))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "InterpolationMode",
            "linear",
            'InterpolationMode` must be one of NEAREST_NEIGHBOR, LINEAR, got "linear"',
        ),
        ("Scales", 2, "Scales` must be an array, got 2"),
        (
            "Scales",
            [1, None],
            'Scales[1]` must be a number that a double holds, or "inf", "-inf" or "nan", got null',
        ),
    ],
)
def test_malformed_fields_of_resample(tmp_path, path, value, message):
    fields = {
        "InputTensor": FLOAT32,
        "OutputTensor": FLOAT32,
        "InterpolationMode": "LINEAR",
        "ScaleCount": 2,
        "Scales": [1, 2],
    }
    inner = {"type": "RESAMPLE", "desc": fields | {path: value}}
    _refused(tmp_path, f"`dispatchables.gather.desc.{message}", ("dispatchables/gather", inner))


@pytest.mark.parametrize(
    ("kind", "meant"),
    [
        ("DML_OPERATOR_CAST", ""),
        ("DML_OPERATOR_GATHERND", " (did you mean 'GATHER_ND'?)"),
        ("gather_nd", " (did you mean 'GATHER_ND'?)"),
        ("CONVOLUTION", ""),
        ("ELEMENT_WISE_ADD", ""),
        ("", ""),
    ],
)
def test_operators_that_are_not_in_this_runtime(tmp_path, kind, meant):
    message = (
        "`dispatchables.gather.type` must be one of GATHER, GATHER_ELEMENTS, GATHER_ND, GATHER_ND1, "
        "SCATTER_ELEMENTS, SCATTER_ND, UPSAMPLE_2D, RESAMPLE, RESAMPLE1, RESAMPLE2, RESAMPLE3, "
        f'RESAMPLE_GRAD, RESAMPLE_GRAD1, as others are not in this runtime, got "{kind}"{meant}'
    )
    _refused(tmp_path, message, ("dispatchables/gather/type", kind))


@pytest.mark.parametrize("kind", ["hlsl", "ONNX", "dmlSerializedGraph"])
def test_dispatchables_that_are_no_operators(tmp_path, kind):
    message = (
        "`dispatchables.gather.type` must be an operator: HLSL shaders, ONNX models and serialized graphs "
        f'are not in this runtime, got "{kind}"'
    )
    _refused(tmp_path, message, ("dispatchables/gather/type", kind))


def test_type_is_required_in_lower_case(tmp_path):
    message = "`dispatchables.gather` must have the key type, got the keys Type"
    _refused(tmp_path, message, ("dispatchables/gather", {"Type": "GATHER_ND"}))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "dmlCompileType",
            "DmlCompile",
            '`{}.dmlCompileType` must be one of DmlCompileOp, DmlCompileGraph, got "DmlCompile"',
        ),
        (
            "executionFlags",
            ["NONE", "FAST"],
            "`{}.executionFlags[1]` must be one of NONE, ALLOW_HALF_PRECISION_COMPUTATION, "
            "DISABLE_META_COMMANDS, "
            'DESCRIPTORS_VOLATILE, got "FAST"',
        ),
    ],
)
def test_how_to_compile_and_execute_is_checked(tmp_path, key, value, message):
    _refused(tmp_path, message.format("dispatchables.gather"), (f"dispatchables/gather/{key}", value))


def test_how_to_compile_and_execute_is_accepted(tmp_path):
    load(
        tmp_path,
        changed(
            GATHER_ND,
            ("dispatchables/gather/dmlCompileType", "DmlCompileGraph"),
            (
                "dispatchables/gather/executionFlags",
                ["DML_EXECUTION_FLAG_DISABLE_META_COMMANDS", "DESCRIPTORS_VOLATILE"],
            ),
        ),
    )


# Commands


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("commands/0", 1, "`commands[0]` must be an object, got 1"),
        (
            "commands/0/type",
            "run",
            '`commands[0].type` must be "dispatch", "print" or "writeFile", got "run"',
        ),
        (
            "commands/0/type",
            ABSENT,
            "`commands[0]` must have the key type, got the keys dispatchable, bindings",
        ),
        (
            "commands/0/dispatchable",
            "g",
            '`commands[0].dispatchable` must name a dispatchable of the model (gather), got "g"',
        ),
        (
            "commands/0/bindings",
            ABSENT,
            "`commands[0]` must have the key bindings, got the keys type, dispatchable",
        ),
        (
            "commands/1/resource",
            "o",
            '`commands[1].resource` must name a resource of the model (input, indices, output), got "o"',
        ),
        ("commands/1/resource", ABSENT, "`commands[1]` must have the key resource, got the keys type"),
        ("commands/1/verbose", 1, "`commands[1].verbose` must be true or false, got 1"),
    ],
)
def test_malformed_commands(tmp_path, path, value, message):
    _refused(tmp_path, message, (path, value))


def test_names_in_a_model_without_any(tmp_path):
    model = {
        "resources": {},
        "dispatchables": {},
        "commands": [{"type": "dispatch", "dispatchable": "a", "bindings": {}}],
    }
    with pytest.raises(
        ModelError,
        match=r"`commands\[0\]\.dispatchable` must name a dispatchable of the model \(it has "
        r"none\), got \"a\"$",
    ):
        load(tmp_path, model)
    model["commands"] = [{"type": "print", "resource": "a"}]
    with pytest.raises(
        ModelError,
        match=r"`commands\[0\]\.resource` must name a resource of the model \(it has none\), got \"a\"$",
    ):
        load(tmp_path, model)


@pytest.mark.parametrize(("kind", "number"), [("DISPATCH", 0), ("Print", 1), ("WRITEFILE", 1)])
def test_type_of_a_command_in_any_case(tmp_path, kind, number):
    load(tmp_path, changed(GATHER_ND, (f"commands/{number}/type", kind), ("commands/1/targetPath", "x")))


def test_mixed_resources_have_no_elements_to_print(tmp_path):
    mixed = ("resources/output", {"initialValues": [{"type": "INT8", "value": 1}]})
    message = '`commands[1].resource` must name a resource with a data type, to be printed, got "output"'
    _refused(tmp_path, message, mixed)
    write = ("commands/1", {"type": "writeFile", "resource": "output", "targetPath": "a.NPY"})
    message = (
        '`commands[1].resource` must name a resource with a data type, to be written as .npy, got "output"'
    )
    _refused(tmp_path, message, mixed, write)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "`commands[1]` must have the key targetPath, got the keys type, resource"),
        ({"targetPath": ""}, '`commands[1].targetPath` must be the name of a file, got ""'),
        ({"targetPath": "a\0b"}, '`commands[1].targetPath` must be the name of a file, got "a\\u0000b"'),
        (
            {"targetPath": "a.png"},
            "`commands[1].targetPath` must name a .npy file or a file for raw bytes: "
            'images are not in this runtime, got "a.png"',
        ),
        (
            {"targetPath": "a.npy", "dimensions": [2, 3]},
            "`commands[1].dimensions` must have at most 32 values with a product of at most 4, got [2, 3]",
        ),
        (
            {"targetPath": "a.npy", "dimensions": [0]},
            "`commands[1].dimensions[0]` must be an integer in [1, 4294967295], got 0",
        ),
        ({"targetPath": "a.npy", "dimensions": "2"}, '`commands[1].dimensions` must be an array, got "2"'),
    ],
)
def test_malformed_write_file(tmp_path, more, message):
    _refused(tmp_path, message, ("commands/1", {"type": "writeFile", "resource": "output"} | more))
