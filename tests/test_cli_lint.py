"""``remapnd lint``: what it prints, its exit status, its options."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remapnd.cli import main


def without_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("remapnd.onnx")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)


def test_without_onnx(monkeypatch, capsys):
    without_onnx(monkeypatch)
    assert main(["lint", "model.onnx"]) == 1
    assert capsys.readouterr().err == (
        "remapnd lint: error: the package onnx must be installed, as `python -m pip install 'remapnd[onnx]'` "
        "does\n"
    )


def test_import_without_onnx(monkeypatch):
    without_onnx(monkeypatch)
    with pytest.raises(ImportError, match=r"^remapnd.onnx: the package onnx must be installed, as "):
        __import__("remapnd.onnx")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--dim", "batch"], "must be NAME=LENGTH, such as batch=1, got 'batch'"),
        (["--dim", "batch=x"], "must be NAME=LENGTH, such as batch=1, got 'batch=x'"),
        (["--tolerance", "-1"], "must be a number of at least 0, got '-1'"),
        (["--tolerance", "few"], "must be a number of at least 0, got 'few'"),
        (["--seed", "-1"], "must be an integer of at least 0, got '-1'"),
        (["--fail-on", "webgl"], "must be none or some of directml, webnn, difference, verify, got 'webgl'"),
        (["--feature-level", "9_9"], "got '9_9'"),
    ],
)
def test_wrong_options(arguments, text, capsys):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["lint", "model.onnx", *arguments])
    assert text in capsys.readouterr().err


def small(path: Path) -> str:
    """A model of one gather, one shape that DirectML does not take, and one difference."""
    onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
    import onnx_models as models
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        helper.make_node("Resize", ["x", "", "half"], ["small"], name="shrink"),
        helper.make_node("Resize", ["small", "", "two"], ["large"], name="grow", mode="cubic"),
        helper.make_node("Gather", ["large", "i"], ["y"], name="pick", axis=3),
    ]
    constants = [
        numpy_helper.from_array(np.array([1, 1, 1, 0.5], np.float32), "half"),
        numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "two"),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, 4, 8]),
        helper.make_tensor_value_info("i", TensorProto.INT64, [2]),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    onnx.save(models.model(nodes, inputs, outputs, constants), path)
    return str(path)


def test_table(tmp_path, capsys):
    model = small(tmp_path / "model.onnx")
    assert main(["lint", model, "--dim", "n=1"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{model}: 3 nodes that gather, scatter, resize or sample",
        "node    operator   input           DirectML   from  WebNN",
        "shrink  Resize-19  float[1,1,4,8]  RESAMPLE2  5_1   resample2d",
        "grow    Resize-19  float[1,1,4,4]  -          -     -",
        "pick    Gather-13  float[1,1,8,8]  GATHER     3_0   gather",
        "shrink: may differ: 4 of 4 positions along axis 3 are ties, decided by the rounding of floats; "
        "output 0 reads position 0.5: exactly sample 0, perhaps 1",
        "grow: not DirectML: DirectML has no cubic interpolation",
        "grow: not WebNN: resample2d has no cubic interpolation",
        "pick: may differ: an index out of range fails on the CPU; DirectML reads the nearest valid element "
        "(reported); data 10 20 30, index 3: CPU error, DirectML 30",
    ]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([], 1),
        (["--fail-on", "none"], 0),
        (["--fail-on", "verify"], 0),
        (["--fail-on", "webnn"], 1),
        (["--fail-on", "difference"], 1),
        (["--fail-on", "directml,webnn"], 1),
    ],
)
def test_exit_status(arguments, status, tmp_path, capsys):
    assert main(["lint", small(tmp_path / "model.onnx"), *arguments]) == status
    assert capsys.readouterr().err == ""


def entries(out: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(out, parse_constant=pytest.fail)
    return listed


def test_json(tmp_path, capsys):
    model = small(tmp_path / "model.onnx")
    assert main(["lint", model, "--json", "--feature-level", "5_0"]) == 1
    (entry,) = entries(capsys.readouterr().out)
    assert (entry["model"], entry["feature_level"]) == (model, "5_0")
    shrink, grow, pick = entry["nodes"]
    difference = shrink["directml"].pop("differences")[0]
    assert difference["cause"] == "4 of 4 positions along axis 3 are ties, decided by the rounding of floats"
    assert shrink == {
        "graph": "",
        "node": "shrink",
        "operator": "Resize-19",
        "inputs": ["float[n,1,4,8]", None, "float[4]"],
        "output": "float[?,1,4,4]",
        "faults": ["directml", "difference"],
        "directml": {"operator": "RESAMPLE2", "feature_level": "5_1", "reason": None},
        "webnn": {
            "method": "resample2d",
            "reason": "sizes are not known, so its rules about them are not checked",
        },
    }
    assert grow["directml"]["reason"] == "DirectML has no cubic interpolation"
    assert grow["faults"] == ["directml", "webnn"]
    assert pick["faults"] == ["difference"]


def test_level(tmp_path, capsys):
    assert main(["lint", small(tmp_path / "model.onnx"), "--feature-level", "5_0"]) == 1
    assert "shrink: not DirectML at 5_0: RESAMPLE2 takes it from 5_1 on\n" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["onnx", "json", "onnxtxt", "textproto"])
def test_models_of_dxdispatch(suffix, tmp_path, capsys):
    pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
    path = tmp_path / f"model.{suffix}"
    part = " or a part of a model" if suffix == "onnx" else ""
    path.write_text('{"resources": {}, "dispatchables": {}, "commands": [], /* none */}')
    assert main(["lint", str(path)]) == 1
    assert capsys.readouterr().err == (
        f"remapnd lint: error: {path}: must be a model of ONNX, got other data{part} "
        "(a DxDispatch model? use remapnd check)\n"
    )
    path.write_text("[3]")
    assert main(["lint", str(path)]) == 1
    assert capsys.readouterr().err.startswith(
        f"remapnd lint: error: {path}: must be a model of ONNX, got other data"
    )


@pytest.mark.parametrize("command", ["run", "check"])
def test_models_of_onnx_for_dxdispatch(command, tmp_path, capsys):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x08\x09\xa0")
    assert main([command, str(path)]) == 1
    assert capsys.readouterr().err == (
        f"remapnd {command}: error: {path}: must be a model in JSON, in UTF-8, got byte 0xA0 at 2 "
        "(a model of ONNX? use remapnd lint)\n"
    )


def test_models_that_cannot_be_read(tmp_path, capsys):
    model = small(tmp_path / "model.onnx")
    other = tmp_path / "other.onnx"
    other.write_bytes(b"no model at all")
    missing = str(tmp_path / "missing.onnx")
    assert main(["lint", str(other), missing, model, "--json", "--fail-on", "none"]) == 1
    out, errors = capsys.readouterr()
    first, second = errors.splitlines()
    rule = "must be a model of ONNX, got other data or a part of a model"
    assert first == f"remapnd lint: error: {other}: {rule}"
    assert second == f"remapnd lint: error: {missing}: No such file or directory"
    assert [set(entry) for entry in entries(out)] == [
        {"model", "error"},
        {"model", "error"},
        {"model", "feature_level", "nodes"},
    ]


def test_unknown_dimension(tmp_path, capsys):
    model = small(tmp_path / "model.onnx")
    assert main(["lint", model, "--dim", "batch=1"]) == 1
    assert capsys.readouterr().err == (
        f"remapnd lint: error: {model}: `--dim` must name symbolic dimensions of inputs (n), got batch\n"
    )


def test_model_without_such_nodes(tmp_path, capsys):
    onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
    import onnx_models as models

    path = tmp_path / "model.onnx"
    onnx.save(models.node_model("Relu", {"x": np.zeros(2, np.float32)}), path)
    assert main(["lint", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: no nodes that gather, scatter, resize or sample\n"


def test_node_that_is_wrong(tmp_path, capsys):
    onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
    import onnx_models as models

    path = tmp_path / "model.onnx"
    x = np.zeros(2, np.float32)
    onnx.save(models.node_model("Gather", {"x": x, "i": x.astype(int)}, axes=1, name="g"), path)
    assert main(["lint", str(path)]) == 1
    assert capsys.readouterr().out.splitlines()[2:] == [
        "g     Gather    float[2]  -         -     -",
        "g: error: `attribute` must be one of axis in Gather-13, got 'axes'",
    ]
    assert main(["lint", str(path), "--json"]) == 1
    (entry,) = entries(capsys.readouterr().out)
    assert entry["nodes"][0]["error"] == "`attribute` must be one of axis in Gather-13, got 'axes'"


# ---- --verify


@pytest.fixture
def verified(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra remapnd[verify] is not installed")
    return small(tmp_path / "model.onnx")


def test_verify_needs_lengths(verified, capsys):
    assert main(["lint", verified, "--verify"]) == 1
    assert capsys.readouterr().err == (
        f"remapnd lint: error: {verified}: `--dim` must have a length for each symbolic dimension, "
        "got none for n\n"
    )


def test_verify(verified, capsys):
    arguments = ["lint", verified, "--verify", "--dim", "n=2", "--fail-on", "verify"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith("WebNN       ONNX Runtime")
    assert lines[2].endswith("resample2d  equal")
    assert lines[4].endswith("gather      equal")
    assert main([*arguments, "--json"]) == 0
    (entry,) = entries(capsys.readouterr().out)
    assert [node["verify"]["agrees"] for node in entry["nodes"]] == [True] * 3
    assert entry["nodes"][0]["verify"] == {
        "agrees": True, "differing": 0, "size": 32, "largest": 0.0, "at": None, "here": "", "there": "",
        "error": None,
    }  # fmt: skip


def test_verify_says_where_results_differ(verified, monkeypatch, capsys):
    from remapnd.onnx import verify as module

    results = {
        "small": module.Comparison(2, 32, 0.25, 1.0, (0, 0, 1, 3), "0.75", "1.0"),
        "large": module.Comparison(9, 128, 1e-6, 1.0, (1, 0, 0, 0), "0.5", "0.500001"),
        "y": module.Comparison(size=4, error="`indices` must be right, got wrong"),
    }
    monkeypatch.setattr(module, "verify", lambda *_, **__: results)
    assert main(["lint", verified, "--verify", "--fail-on", "verify"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[2:5]] == ["differs", "close", "error"]
    notes = [line for line in lines[5:] if "ONNX Runtime" in line]
    assert notes == [
        "shrink: 2 of 32 elements differ from ONNX Runtime's, by at most 0.25: 0.75 here, 1.0 there, at "
        "(0, 0, 1, 3)",
        "grow: 9 of 128 elements differ from ONNX Runtime's, by at most 1e-06: 0.5 here, 0.500001 there, at "
        "(1, 0, 0, 0)",
        "pick: ONNX Runtime ran it, here: `indices` must be right, got wrong",
    ]
    assert main(["lint", verified, "--verify", "--json", "--tolerance", "0.3"]) == 1
    (entry,) = entries(capsys.readouterr().out)
    assert [node["verify"]["agrees"] for node in entry["nodes"]] == [True, True, False]
    assert entry["nodes"][0]["verify"]["at"] == [0, 0, 1, 3]


def test_one_node_and_a_file_without_a_model(tmp_path, capsys):
    onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
    import onnx_models as models

    cache, update = np.zeros((1, 4, 2), np.float32), np.zeros((1, 1, 2), np.float32)
    path, empty = str(tmp_path / "model.onnx"), tmp_path / "empty.onnx"
    onnx.save(models.node_model("TensorScatter", {"x": cache, "u": update}, opset=24, axis=1), path)
    empty.write_bytes(b"")
    assert main(["lint", path, str(empty), "--fail-on", "none"]) == 1
    out, errors = capsys.readouterr()
    assert out.splitlines() == [
        f"{path}: 1 node that gathers, scatters, resizes or samples",
        "node  operator          input         DirectML  from  WebNN",
        "node  TensorScatter-24  float[1,4,2]  -         -     -",
        "node: not DirectML: the provider has no TensorScatter",
        "node: not WebNN: WebNN has no TensorScatter",
    ]
    assert errors == f"remapnd lint: error: {empty}: must be a model of ONNX, got an empty file\n"
