"""Comparing nodes with ONNX Runtime on the tensors of a model."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
import onnx_models as models  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from remapnd.onnx import verify as module  # noqa: E402
from remapnd.onnx.verify import compared, verify  # noqa: E402

needs_onnxruntime = pytest.mark.usefixtures("onnxruntime")


@pytest.fixture
def onnxruntime():
    return pytest.importorskip("onnxruntime", reason="the extra remapnd[verify] is not installed")


def constant(name: str, values: object, dtype: type = np.int64) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, dtype), name)


def network(*, outside: bool = False, columns: Sequence[int] = (0, -1)) -> onnx.ModelProto:
    """Relu, a linear Resize of it, columns gathered from that, and their sum."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Resize", ["a", "", "scales"], ["b"], mode="linear"),
        helper.make_node("Gather", ["b", "columns"], ["c"], axis=3),
        helper.make_node("ReduceSum", ["c"], ["d"], keepdims=0),
        helper.make_node("ScatterElements", ["c", "i", "u"], ["e"], axis=3),
    ]
    constants = [
        constant("scales", [1, 1, 1.7, 2], np.float32),
        constant("columns", columns),
        constant("i", [[[[5 if outside else 1]]]]),
        constant("u", [[[[7]]]], np.float32),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2, "h", 6])
    outputs = [helper.make_empty_tensor_value_info(name) for name in ("d", "e")]
    return models.model(nodes, [x], outputs, constants)


@needs_onnxruntime
def test_nodes_of_a_network():
    results = verify(network(), dims={"n": 1, "h": 5})
    assert list(results) == ["b", "c", "e"]
    assert results["b"].size == 1 * 2 * 8 * 12
    assert results["b"].agrees(1e-5)
    assert 0 < results["b"].magnitude < 1
    for name in ("c", "e"):
        assert (results[name].differing, results[name].largest, results[name].at) == (0, 0, None)
        assert results[name].agrees(0)


@needs_onnxruntime
def test_nodes_that_sample():
    nodes = [
        helper.make_node("AffineGrid", ["theta", "size"], ["grid"]),
        helper.make_node("GridSample", ["x", "grid"], ["a"], mode="cubic"),
        helper.make_node("RoiAlign", ["x", "rois", "images"], ["b"], output_height=2, output_width=3),
    ]
    constants = [
        constant("size", [1, 3, 6, 6]),
        constant("images", [0, 0]),
        constant("rois", [[0, 0, 6, 5], [1.5, 2, 8, 7]], np.float32),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("theta", [1, 2, 3]), ("x", [1, 3, 8, 8]))
    ]
    outputs = [onnx.ValueInfoProto(name=name) for name in ("a", "b")]
    results = verify(models.model(nodes, inputs, outputs, constants, opset=20))
    assert list(results) == ["grid", "a", "b"]
    assert all(result.agrees(1e-5) and result.magnitude for result in results.values())


@needs_onnxruntime
def test_file(tmp_path):
    path = tmp_path / "model.onnx"
    model = network(columns=range(12))
    onnx.save(model, path, save_as_external_data=True, size_threshold=64, location="weights.bin")
    assert (tmp_path / "weights.bin").stat().st_size == 12 * 8
    assert all(result.agrees(1e-5) for result in verify(path, dims={"n": 1, "h": 5}).values())


@needs_onnxruntime
def test_the_seed_makes_the_inputs():
    first, again, other = (verify(network(), dims={"n": 1, "h": 5}, seed=seed)["b"] for seed in (1, 1, 2))
    assert first == again
    assert first.magnitude != other.magnitude


@needs_onnxruntime
def test_errors():
    with pytest.raises(
        ValueError, match=r"^verify: `dims` must have a length for each symbolic dimension, got .* n, h$"
    ):
        verify(network())
    with pytest.raises(
        ValueError, match=r"^lint: `dims` must name symbolic dimensions of inputs \(n, h\), got w$"
    ):
        verify(network(), dims={"w": 1})
    with pytest.raises(
        ValueError, match=r"^verify: `model` must run in ONNX Runtime with `dims` n=1, h=5, got .*out of"
    ):
        verify(network(outside=True), dims={"n": 1, "h": 5})
    strings = models.node_model("Gather", {"x": np.array(["a"], object), "i": np.zeros(1, np.int64)})
    with pytest.raises(
        ValueError, match=r"^verify: `x` must be a tensor of numbers or booleans, got object\[1\]$"
    ):
        verify(strings)


def test_without_onnx_runtime(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    text = r"^verify: the package onnxruntime must be installed, as the extra remapnd\[verify\] does$"
    with pytest.raises(ImportError, match=text):
        verify(network())


@needs_onnxruntime
def test_a_node_that_does_not_run_here(monkeypatch):
    def refuse(*_: object) -> None:
        raise ValueError("Resize (of output 'b'): `scales` must be 2, got 1")

    monkeypatch.setattr(module, "read_node", refuse)
    result = verify(network(), dims={"n": 1, "h": 5})["b"]
    assert result.error == "`scales` must be 2, got 1"
    assert not result.agrees(1)


def test_compared():
    nan, inf = math.nan, math.inf
    same = compared(np.array([1, nan, inf]), np.array([1, nan, inf]))
    assert (same.differing, same.size, same.largest, same.magnitude) == (0, 3, 0, 1)
    other = compared(np.array([1.0, 2, 3]), np.array([1.0, 2.5, 3.25]))
    assert (other.differing, other.largest, other.at, other.here, other.there) == (2, 0.5, (1,), "2.0", "2.5")
    assert other.agrees(0.2)
    assert not other.agrees(0.1)
    assert compared(np.array([nan]), np.array([1.0])).largest == inf
    assert compared(np.array([inf]), np.array([-inf])).largest == inf
    words = compared(np.array(["a", "b"], object), np.array(["a", "c"], object))
    assert (words.differing, words.largest, words.at, words.here, words.there) == (1, inf, (1,), "b", "c")
    bits = compared(np.array([True, False]), np.array([True, True]))
    assert (bits.differing, bits.largest, bits.at) == (1, 1, (1,))
    large = compared(np.array([2**63 - 1]), np.array([2**63 - 1]))
    assert large.differing == 0


@needs_onnxruntime
@pytest.mark.parametrize(
    ("h", "text"),
    [
        (2**64, rf"^lint: `dims` must have lengths in \[0, 2\*\*63\), got h={2**64}$"),
        (
            10**17,
            r"^verify: `dims` must give inputs that fit in memory, got 'x' float32\[1,2,10{17},6\]$",
        ),
        (-1, r"^lint: `dims` must have lengths in \[0, 2\*\*63\), got h=-1$"),
    ],
)
def test_lengths_out_of_range(h, text):
    with pytest.raises(ValueError, match=text):
        verify(network(), dims={"n": 1, "h": h})
