"""Models of every operator of the family, and the spellings of their fields."""

import re

import numpy as np
import pytest
from dxdispatch_models import ABSENT, changed, load, output_of

from remapnd.directml import OPERATOR_DESCS, OperatorType, Policy
from remapnd.directml.dxdispatch import ModelError, Options


def model(kind, tensors, printed="output", **fields):
    """Make a model of one operator; tensors map field names to (type, sizes, values)."""
    names = {field: "output" if field.startswith("Output") else field for field in tensors}
    resources = {
        names[field]: {"initialValuesDataType": data_type, "initialValues": values}
        for field, (data_type, _, values) in tensors.items()
    }
    desc = {field: {"DataType": t, "Sizes": sizes} for field, (t, sizes, _) in tensors.items()} | fields
    return {
        "resources": resources,
        "dispatchables": {"it": {"type": kind, "desc": desc}},
        "commands": [
            {"type": "dispatch", "dispatchable": "it", "bindings": names},
            {"type": "print", "resource": printed},
        ],
    }


def zeros(count):
    return {"valueCount": count, "value": 0}


F32 = "FLOAT32"
SEQUENCE = {"valueCount": 4, "valueStart": 1, "valueDelta": 1}
UPSAMPLE = model(
    "DML_OPERATOR_UPSAMPLE_2D",
    {"InputTensor": (F32, [1, 1, 2, 2], SEQUENCE), "OutputTensor": (F32, [1, 1, 4, 4], zeros(16))},
    ScaleSize={"Width": 2, "Height": 2},
    InterpolationMode="DML_INTERPOLATION_MODE_LINEAR",
)
LINE = {"InputTensor": (F32, [4], SEQUENCE), "OutputTensor": (F32, [2], zeros(2))}
GRADIENT = {"InputGradientTensor": (F32, [4], SEQUENCE), "OutputGradientTensor": (F32, [2], zeros(2))}
FLOATS = {"DimensionCount": 1, "Scales": [0.5], "InputPixelOffsets": [0.5], "OutputPixelOffsets": [-0.5]}
NEAREST, UP = "NEAREST_NEIGHBOR", "DML_AXIS_DIRECTION_INCREASING"
MODELS = [
    (UPSAMPLE, "1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4"),
    (
        model(
            "GATHER",
            {"InputTensor": (F32, [2, 2], SEQUENCE), "IndicesTensor": ("UINT32", [1, 2], [1, 0])}
            | {"OutputTensor": (F32, [2, 2], zeros(4))},
            Axis=1,
            IndexDimensions=1,
        ),
        "2, 1, 4, 3",
    ),
    *[
        (
            model(
                kind,
                {"InputTensor": (F32, [4], SEQUENCE), "IndicesTensor": ("INT64", [2], [-1, 0])}
                | {"UpdatesTensor": (F32, [2], [8, 9]), "OutputTensor": (F32, [4], zeros(4))},
                Axis=0,
            ),
            "9, 2, 3, 8",
        )
        for kind in ("SCATTER", "SCATTER_ELEMENTS", "DML_OPERATOR_SCATTER_ELEMENTS")
    ],
    (
        model(
            "SCATTER_ND",
            {"InputTensor": (F32, [2, 2], SEQUENCE), "IndicesTensor": ("UINT64", [1, 1], [1])}
            | {"UpdatesTensor": (F32, [1, 2], [8, 9]), "OutputTensor": (F32, [2, 2], zeros(4))},
            InputDimensionCount=2,
            IndicesDimensionCount=2,
        ),
        "1, 2, 8, 9",
    ),
    (model("RESAMPLE", LINE, InterpolationMode=NEAREST, ScaleCount=1, Scales=[0.5]), "2, 4"),
    (model("RESAMPLE1", LINE, InterpolationMode=NEAREST, **FLOATS), "2, 4"),
    (model("RESAMPLE2", LINE, InterpolationMode=NEAREST, RoundingDirection=UP, **FLOATS), "2, 4"),
    (model("RESAMPLE2", LINE, InterpolationMode=NEAREST, RoundingDirection="DECREASING", **FLOATS), "1, 3"),
    *[
        (
            model(
                "DML_OPERATOR_RESAMPLE3",
                LINE,
                InterpolationMode="LINEAR",
                RoundingDirection=UP,
                Antialiased=antialiased,
                **FLOATS,
            ),
            "1.5, 3.5",
        )
        for antialiased in (True, False, 1, 0)
    ],
    (
        model("RESAMPLE_GRAD", GRADIENT, InterpolationMode="LINEAR", **(FLOATS | {"Scales": [2]})),
        "3.25, 6.75",
    ),
    (
        model(
            "RESAMPLE_GRAD1",
            GRADIENT,
            InterpolationMode=NEAREST,
            RoundingDirection="DECREASING",
            **(FLOATS | {"Scales": [2]}),
        ),
        "6, 4",
    ),
]


@pytest.mark.parametrize(("content", "expected"), MODELS)
def test_every_operator(tmp_path, content, expected):
    assert output_of(tmp_path, content) == [f"Resource 'output': {expected}"]
    fields = content["dispatchables"]["it"]
    inline = changed(content, ("dispatchables/it", {"type": fields["type"]} | fields["desc"]))
    assert output_of(tmp_path, inline) == [f"Resource 'output': {expected}"]


def test_no_operator_is_left_out():
    kinds = {OperatorType.parse(content["dispatchables"]["it"]["type"]) for content, _ in MODELS}
    others = {"GATHER_ELEMENTS", "GATHER_ND", "GATHER_ND1"}  # in test_dxdispatch_execute and the examples
    assert kinds | {OperatorType[name] for name in others} == set(OPERATOR_DESCS)


DESC = "dispatchables/it/desc"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "ScaleSize",
            ABSENT,
            "desc` must have the key ScaleSize, got the keys InputTensor, OutputTensor, Inter",
        ),
        ("ScaleSize", 2, "desc.ScaleSize` must be an object, got 2"),
        ("ScaleSize/Width", ABSENT, "desc.ScaleSize` must have the key Width, got the keys Height"),
        ("ScaleSize/Height", 2.0, "desc.ScaleSize.Height` must be an integer in [0, 4294967295], got 2.0"),
    ],
)
def test_malformed_fields_of_upsample(tmp_path, path, value, message):
    with pytest.raises(ModelError, match=re.escape(f"`dispatchables.it.{message}")):
        load(tmp_path, changed(UPSAMPLE, (f"{DESC}/{path}", value)))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("Antialiased", 2, "Antialiased` must be an integer in [0, 1], got 2"),
        ("Antialiased", "true", 'Antialiased` must be true or false, got "true"'),
        ("RoundingDirection", "UP", 'RoundingDirection` must be one of INCREASING, DECREASING, got "UP"'),
        ("RoundingDirection", 0, "RoundingDirection` must be a string, got 0"),
    ],
)
def test_malformed_fields_of_resample3(tmp_path, path, value, message):
    fields = {"RoundingDirection": UP, "Antialiased": False} | FLOATS
    content = model("RESAMPLE3", LINE, InterpolationMode="LINEAR", **fields)
    with pytest.raises(ModelError, match=re.escape(f"`dispatchables.it.desc.{message}")):
        load(tmp_path, changed(content, (f"{DESC}/{path}", value)))


def test_an_owned_tensor_is_bound_at_the_initialization(tmp_path):
    content = changed(
        MODELS[1][0],
        (f"{DESC}/IndicesTensor/Flags", ["OWNED_BY_DML"]),
        ("dispatchables/it/bindings", {"IndicesTensor": "IndicesTensor"}),
        ("commands/0/bindings/IndicesTensor", ABSENT),
    )
    assert output_of(tmp_path, content) == ["Resource 'output': 2, 1, 4, 3"]


def test_duplicates_and_the_policy(tmp_path):
    content = changed(MODELS[2][0], ("resources/IndicesTensor/initialValues", [2, 2]))
    assert output_of(tmp_path, content) == ["Resource 'output': 1, 2, 9, 4"]
    with pytest.raises(
        ModelError, match=r"`commands\[0\]`: SCATTER_ELEMENTS: `IndicesTensor` must lead to each p"
    ):
        output_of(tmp_path, content, Options(policy=Policy(scatter_duplicates="error")))


def test_big_endian_files(tmp_path):
    values = np.array([1, 2, 3], ">u2")
    np.save(tmp_path / "three.npy", values)
    np.save(tmp_path / "two.npy", values[:2])
    content = {
        "resources": {n: {"initialValues": {"sourcePath": f"{n}.npy"}} for n in ("three", "two")},
        "dispatchables": {},
        "commands": [{"type": "print", "resource": n} for n in ("three", "two")],
    }
    assert output_of(tmp_path, content) == ["Resource 'three': 1, 2, 3", "Resource 'two': 1, 2"]
    # DxDispatch swaps four bytes as one number, and six not at all.
    assert output_of(tmp_path, content, compat=True) == [
        "Resource 'three': 256, 512, 768",
        "Resource 'two': 2, 1",
    ]
