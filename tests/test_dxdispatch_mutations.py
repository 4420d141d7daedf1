"""Whatever a model file holds ends in results or in clear errors."""

import json

from dxdispatch_models import GATHER_ND, changed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remapnd.cli import main
from remapnd.directml.dxdispatch import resources

WORDS = [
    "",
    "input",
    "output",
    "gather",
    "FLOAT32",
    "INT64",
    "UINT8",
    "FLOAT16",
    "OWNED_BY_DML",
    "BUFFER",
    "deferred",
    "nan",
    "-inf",
    "dispatch",
    "print",
    "writeFile",
    "out.npy",
    "out.bin",
    "in.npy",
    "GATHER_ND1",
    "GATHER_ELEMENTS",
    "RESAMPLE1",
    "\x00",
    "\ud800",
    "é",
    "LINEAR",
    "INCREASING",
    "RESAMPLE3",
    "SCATTER_ND",
    "UPSAMPLE_2D",
    "RESAMPLE_GRAD",
]
KEYS = [
    "type",
    "desc",
    "Sizes",
    "Strides",
    "Flags",
    "DataType",
    "bindings",
    "name",
    "elementOffset",
    "elementSizeInBytes",
    "initialValues",
    "initialValuesDataType",
    "initialValuesOffsetInBytes",
    "sizeInBytes",
    "valueCount",
    "value",
    "valueStart",
    "valueDelta",
    "sourcePath",
    "targetPath",
    "dimensions",
    "verbose",
    "resource",
    "TotalTensorSizeInBytes",
    "GuaranteedBaseOffsetAlignment",
    "DimensionCount",
    "Axis",
    "Width",
    "Antialiased",
    "Scales",
    "BatchDimensionCount",
    "InputTensor",
    "OutputTensor",
]
LEAVES = (
    st.sampled_from(WORDS)
    | st.integers(-3, 40)
    | st.sampled_from(
        [2**31, 2**32 - 1, 2**32, 2**64 - 1, 2**64, 10**30, -(2**63), 0.5, -1.5, 1e39, 1e300, 1e-300]
    )
    | st.sampled_from([True, False, None])
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)
MODELS = [
    changed(
        GATHER_ND,
        ("dispatchables/gather/bindings", {}),
        (
            "commands",
            [*GATHER_ND["commands"], {"type": "writeFile", "resource": "output", "targetPath": "out.npy"}],
        ),
    ),
    changed(
        GATHER_ND,
        (
            "dispatchables/gather",
            {
                "type": "RESAMPLE1",
                "desc": {
                    "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2], "Strides": [2, 1]},
                    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
                    "InterpolationMode": "LINEAR",
                    "DimensionCount": 2,
                    "Scales": [1, 1.5],
                    "InputPixelOffsets": [0, 0.5],
                    "OutputPixelOffsets": [0, -0.5],
                },
            },
        ),
    ),
    changed(
        GATHER_ND,
        (
            "dispatchables/gather",
            {
                "type": "GATHER_ELEMENTS",
                "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
                "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 2]},
                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2]},
                "Axis": 0,
            },
        ),
    ),
    changed(
        GATHER_ND,
        ("resources/updates", GATHER_ND["resources"]["input"]),
        (
            "dispatchables/gather",
            {
                "type": "SCATTER",
                "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
                "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 2]},
                "UpdatesTensor": {"DataType": "FLOAT32", "Sizes": [1, 2]},
                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
                "Axis": 1,
            },
        ),
        ("commands/0/bindings/UpdatesTensor", "updates"),
    ),
    changed(
        GATHER_ND,
        (
            "dispatchables/gather",
            {
                "type": "UPSAMPLE_2D",
                "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
                "ScaleSize": {"Width": 1, "Height": 1},
                "InterpolationMode": "LINEAR",
            },
        ),
    ),
    *[
        changed(
            GATHER_ND,
            (
                "dispatchables/gather",
                {
                    "type": kind,
                    **{
                        tensor: {"DataType": "FLOAT32", "Sizes": [4, 1] if tensor == large else [1, 1]}
                        for tensor in tensors
                    },
                    "InterpolationMode": "LINEAR",
                    "RoundingDirection": "DECREASING",
                    "DimensionCount": 2,
                    "Scales": [0.25, 1],
                    "InputPixelOffsets": [0.5, 0.5],
                    "OutputPixelOffsets": [-0.5, -0.5],
                    "Antialiased": True,
                },
            ),
            ("commands/0/bindings", dict(zip(tensors, ("input", "output"), strict=True))),
        )
        for kind, tensors, large in (
            ("RESAMPLE3", ("InputTensor", "OutputTensor"), "InputTensor"),
            ("RESAMPLE_GRAD1", ("InputGradientTensor", "OutputGradientTensor"), "OutputGradientTensor"),
        )
    ],
]


def _places(value):
    """Give every container of a model with each of its keys or positions."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])


def _mutated(model, draw):
    model = changed(model)
    for _ in range(draw(st.integers(1, 4))):
        places = list(_places(model))
        container, key = draw(st.sampled_from(places))
        action = draw(st.sampled_from(["replace", "replace", "remove", "add", "copy"]))
        if action == "replace":
            container[key] = draw(ANYTHING)
        elif action == "remove":
            del container[key]
        elif action == "copy":
            other, where = draw(st.sampled_from(places))
            container[key] = (
                json.loads(json.dumps(other[where])) if where in other or isinstance(other, list) else None
            )
        elif isinstance(container, dict):
            container[draw(st.sampled_from(KEYS))] = draw(ANYTHING)
        else:
            container.insert(key, draw(ANYTHING))
        if not list(_places(model)):
            break
    return model


def _run_anything(folder, text, monkeypatch, capsys):
    """Run a model, good or bad: status 0 without errors, or status 1 with lines that name the file."""
    path = folder / "m.json"
    path.write_text(text, encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(resources, "_physical_memory", lambda: 1 << 20)
        patch.chdir(folder)
        status = main(["run", str(path), "--output_path", str(folder)])
        checked = main(["check", str(path), "--json"])
    errors = capsys.readouterr().err
    assert status in (0, 1)
    assert checked in (0, status, 1)
    assert bool(errors) == (status == 1 or checked == 1)
    begins = tuple(f"remapnd {command}: error: {path}" for command in ("run", "check"))
    assert all(line.startswith(begins) for line in errors.splitlines())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_mutated_models_end_in_results_or_clear_errors(tmp_path, monkeypatch, capsys, data):
    model = _mutated(data.draw(st.sampled_from(MODELS)), data.draw)
    _run_anything(tmp_path, json.dumps(model), monkeypatch, capsys)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_mutated_texts_end_in_results_or_clear_errors(tmp_path, monkeypatch, capsys, data):
    text = json.dumps(data.draw(st.sampled_from(MODELS[1:])))
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 3))
        text = (
            text[:position]
            + data.draw(st.text('{}[],:"\\*0-9eEx \né', max_size=2))
            + text[position + length :]
        )
    _run_anything(tmp_path, text, monkeypatch, capsys)
