"""The operators in ONNX's reference evaluator: the same answers, also within models of other operators."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
import onnx_models as models  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from remapnd import onnx as ronnx  # noqa: E402

X = np.arange(12, dtype=np.float32).reshape(3, 4)
INDICES = np.array([[0, -1], [2, 1]])


def evaluated(model: onnx.ModelProto, inputs: dict[str, np.ndarray], **options: str) -> np.ndarray:
    return ReferenceEvaluator(model, new_ops=ronnx.reference_ops(**options)).run(None, inputs)[0]


@pytest.mark.parametrize(
    ("op", "inputs", "options"),
    [
        ("Gather", {"x": X, "i": INDICES}, {"axis": 1}),
        ("GatherElements", {"x": X, "i": INDICES}, {"axis": 0}),
        ("GatherND", {"x": X, "i": INDICES}, {}),
        ("Scatter", {"x": X, "i": INDICES, "u": -X[:2, :2]}, {"opset": 9}),
        ("ScatterElements", {"x": X, "i": INDICES, "u": -X[:2, :2]}, {"reduction": "max", "opset": 18}),
        ("ScatterND", {"x": X, "i": INDICES, "u": -X[0, :2]}, {"reduction": "add"}),
        ("Upsample", {"x": X, "s": np.array([2, 3], np.float32)}, {"opset": 9}),
        ("Resize", {"x": X, "roi": None, "scales": np.array([2, 1.5], np.float32)}, {"mode": "linear"}),
    ],
)  # fmt: skip
def test_operator(op, inputs, options):
    model = models.node_model(op, inputs, **options)
    given = {name: array for name, array in inputs.items() if array is not None}
    expected = ronnx.prepare(model, resize_rules="onnx").run(given)[0]
    assert_array_equal(evaluated(model, given), expected, strict=True)


def test_there_is_a_class_for_every_operator():
    classes = ronnx.reference_ops()
    assert {(c.op_domain, c.__name__) for c in classes} == {
        ("", name)
        for name in (
            *("Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND"),
            *("Resize", "Upsample", "AffineGrid", "GridSample", "RoiAlign", "TensorScatter"),
        )
    } | {("com.microsoft", "GatherND"), ("com.microsoft", "CropAndResize")}


def test_rules():
    x = np.array([1, 2], np.uint8)
    sizes = np.array([4])
    model = models.node_model("Resize", {"x": x, "r": None, "s": None, "n": sizes}, mode="linear")
    assert evaluated(model, {"x": x, "n": sizes}).tolist() == [1, 1, 2, 2]
    assert evaluated(model, {"x": x, "n": sizes}, resize_rules="onnxruntime").tolist() == [1, 1, 1, 2]
    # what the evaluator computes itself
    assert ReferenceEvaluator(model).run(None, {"x": x, "n": sizes})[0].tolist() == [1, 1, 2, 2]


def test_within_a_model_of_other_operators():
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("GatherElements", ["a", "i"], ["b"], axis=1),
        helper.make_node("ReduceSum", ["b"], ["y"], keepdims=0),
    ]
    model = models.model(
        nodes,
        [models.value_info("x", X)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(INDICES, "i")],
    )
    assert evaluated(model, {"x": X - 5}) == 1


def test_within_a_subgraph():
    def branch(name: str, index: int) -> onnx.GraphProto:
        gather = helper.make_node("Gather", ["x", f"i_{name}"], [name])
        output = helper.make_tensor_value_info(name, TensorProto.FLOAT, [4])
        return helper.make_graph(
            [gather], name, [], [output], [numpy_helper.from_array(np.array(index), f"i_{name}")]
        )

    node = helper.make_node("If", ["c"], ["y"], then_branch=branch("t", -1), else_branch=branch("e", 0))
    inputs = [models.value_info("x", X), helper.make_tensor_value_info("c", TensorProto.BOOL, [])]
    model = models.model([node], inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])])
    for condition, row in ((True, 2), (False, 0)):
        assert_array_equal(evaluated(model, {"x": X, "c": np.array(condition)}), X[row])


def test_errors_name_the_node():
    model = models.node_model("Gather", {"x": X, "i": np.array([3])}, name="g")
    with pytest.raises(
        IndexError, match=r"^Gather 'g': `indices` must lie in \[-3, 3\) on axis 0, got 3 at \(0,\)$"
    ):
        evaluated(model, {"x": X, "i": np.array([3])})
