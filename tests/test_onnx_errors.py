"""What is wrong with a model, a node or an input is said with the node's name, the rule and the value."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
import onnx_models as models  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from remapnd import onnx as ronnx  # noqa: E402
from remapnd.onnx.lint import lint  # noqa: E402

X = np.arange(9, dtype=np.float32).reshape(3, 3)
ONE = np.zeros((1, 1), np.int64)
TWO = np.ones(2, np.float32)
EMPTY = np.zeros(0, np.float32)
NEWEST = onnx.defs.onnx_opset_version()


def resize(**inputs: Any) -> dict[str, np.ndarray | None]:
    """The inputs of Resize in their order."""
    given = {"X": X, "roi": None, "scales": None} | inputs
    return given if "sizes" in inputs else {name: given[name] for name in ("X", "roi", "scales")}


def run(op: str, inputs: dict[str, np.ndarray | None], **options: Any) -> list[np.ndarray]:
    rules = options.pop("rules", "onnxruntime")
    rep = ronnx.prepare(models.node_model(op, inputs, **options), resize_rules=rules)
    return list(rep.run([array for array in inputs.values() if array is not None]))


# Operator, inputs, opset and attributes; what is raised, and its text behind the node.
CASES: list[tuple[str, dict[str, Any], dict[str, Any], type[Exception], str]] = [
    # operators and opsets
    ("Scatter", {"d": X, "i": ONE, "u": X}, {"opset": 13}, ValueError,
     "`opset` must be below 11, from which on Scatter is replaced by ScatterElements, got 13"),
    ("Upsample", {"x": X, "s": TWO}, {"opset": 13}, ValueError,
     "`opset` must be below 10, from which on Upsample is replaced by Resize, got 13"),
    ("GatherND", {"x": X, "i": ONE}, {"opset": 10}, ValueError,
     "`op_type` must be an operator of opset 10, got 'GatherND'"),
    ("Gather", {"x": X, "i": ONE}, {"opset": NEWEST + 1}, ValueError,
     f"`opset` must lie in [1, {NEWEST}], which is what onnx {onnx.__version__} knows, got {NEWEST + 1}"),
    ("Add", {"a": X, "b": X}, {"opset": 6}, ValueError,
     "`op_type` must be of a version in [7, 28], got Add-6"),
    # attributes
    ("Resize", resize(scales=TWO), {"axes": 1}, ValueError, "`axes` must be of type INTS, got INT 1"),
    ("Resize", resize(scales=TWO), {"antialias": 1.5}, ValueError,
     "`antialias` must be of type INT, got FLOAT 1.5"),
    ("Resize", resize(scales=TWO), {"opset": 13, "axes": [0, 1]}, ValueError,
     "`attribute` must be one of coordinate_transformation_mode, cubic_coeff_a, exclude_outside, "
     "extrapolation_value, mode, nearest_mode in Resize-13, got 'axes'"),
    ("Resize", resize(scales=TWO), {"mode": "bilinear"}, ValueError,
     "`mode` must be one of 'nearest', 'linear', 'cubic', got 'bilinear' (did you mean 'linear'?)"),
    ("Resize", {"X": X, "s": TWO}, {"opset": 10, "mode": "cubic"}, ValueError,
     "`mode` must be one of 'nearest', 'linear', got 'cubic'"),
    ("Resize", resize(scales=TWO), {"nearest_mode": "round"}, ValueError,
     "`nearest_mode` must be one of 'round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil', got 'round'"),
    ("Resize", resize(scales=TWO), {"coordinate_transformation_mode": "half"}, ValueError,
     "`coordinate_transformation_mode` must be one of 'half_pixel', 'half_pixel_symmetric', "
     "'pytorch_half_pixel', 'align_corners', 'asymmetric', 'tf_half_pixel_for_nn', 'tf_crop_and_resize', "
     "got 'half'"),
    ("Resize", resize(sizes=np.array([3, 3])), {"keep_aspect_ratio_policy": "fit"}, ValueError,
     "`keep_aspect_ratio_policy` must be one of 'stretch', 'not_larger', 'not_smaller', got 'fit'"),
    ("Resize", resize(scales=TWO), {"antialias": 1}, ValueError,
     "`antialias` must be 0 for mode 'nearest', got 1"),
    ("Upsample", {"x": X}, {"opset": 7}, ValueError, "`scales` must be given, got none"),
    ("ScatterElements", {"data": X, "i": ONE, "u": X[:1, :1]}, {"opset": 16, "reduction": "max"}, ValueError,
     "`reduction` must be one of 'none', 'add', 'mul' in ScatterElements-16, got 'max'"),
    ("ScatterElements", {"data": X, "i": ONE, "u": X[:1, :1]}, {"opset": 13, "reduction": "add"}, ValueError,
     "`attribute` must be one of axis in ScatterElements-13, got 'reduction'"),
    ("ScatterND", {"data": X, "i": ONE, "u": X[:1]}, {"opset": 18, "reduction": "mean"}, ValueError,
     "`reduction` must be one of 'none', 'add', 'mul', 'min', 'max' in ScatterND-18, got 'mean'"),
    ("GatherND", {"x": X, "i": ONE}, {"opset": 11, "batch_dims": 0}, ValueError,
     "`attribute` must be one of none in GatherND-11, got 'batch_dims'"),
    ("GatherND", {"x": X, "i": ONE}, {"domain": "com.microsoft", "axis": 0}, ValueError,
     "`attribute` must be one of batch_dims, got 'axis'"),
    # inputs of Resize and Upsample
    ("Resize", resize(sizes=np.array(3)), {}, ValueError,
     "`sizes` must be a list, with one axis, got shape ()"),
    ("Resize", resize(scales=TWO, sizes=np.array([3, 3])), {}, ValueError,
     "`scales` must be given if `sizes` is not, and only then, got both"),
    ("Resize", {"X": X}, {}, ValueError,
     "`scales` must be given if `sizes` is not, and only then, got neither"),
    ("Resize", resize(roi=EMPTY, scales=EMPTY), {"opset": 11}, ValueError,
     "`scales` must be given if `sizes` is not, and only then, got neither"),
    ("Resize", resize(roi=TWO, scales=TWO), {"coordinate_transformation_mode": "tf_crop_and_resize"},
     ValueError, "`roi` must be a list of 2 * 2 values for tf_crop_and_resize, got shape (2,)"),
    ("Resize", resize(scales=np.ones(3, np.float32)), {}, ValueError,
     "`scales` must have one value for each of the 2 axes, got 3 values"),
    ("Resize", resize(sizes=np.array([3, 3])), {"axes": [1]}, ValueError,
     "`sizes` must have one value for each of 1 `axes`, got 2 values"),
    ("Resize", resize(scales=TWO), {"axes": [0, 2]}, ValueError, "`axes` must lie in [-2, 2), got 2"),
    ("Resize", resize(scales=TWO), {"axes": [1, -1]}, ValueError,
     "`axes` must name each axis once, got (1, -1)"),
    ("Resize", resize(scales=-TWO), {}, ValueError, "`scales` must be > 0, got -1.0"),
    ("Resize", resize(scales=TWO * np.float32(np.nan)), {}, ValueError, "`scales` must be finite, got nan"),
    ("Resize", resize(scales=np.ones(2)), {}, TypeError,
     "`scales` must be tensor(float), got tensor(double)"),
    ("Resize", resize(X=X > 3, scales=2 * TWO), {"mode": "linear"}, TypeError,
     "`X` must have a dtype that can be mixed (mode='nearest' takes bool), got bool"),
    ("Resize", resize(sizes=np.array([3, -3])), {}, ValueError, "`sizes` must be at least 0, got -3"),
    ("Resize", resize(sizes=np.array([1 << 40, 1 << 40])), {}, ValueError,
     "`sizes` must give a result that can be addressed, got shape (1099511627776, 1099511627776) of "
     f"{1 << 82} bytes"),
    ("Resize", resize(scales=np.array([3e38, 1], np.float32)), {}, ValueError,
     "`scales` must give finite lengths, got [inf, 3.0]"),
    ("Resize", resize(X=X[:0], sizes=np.array([2, 3])), {}, ValueError,
     "`sizes` must give length 0 to axis 0, which is empty, got 2"),
    ("Upsample", {"x": X}, {"opset": 7, "scales": [1.0, 0.5]}, ValueError,
     "`scales` must be at least 1, got 0.5"),
    ("Upsample", {"x": X}, {"opset": 7, "scales": [1.0]}, ValueError,
     "`scales` must have one value for each of the 2 axes, got 1 values"),
    # inputs of gathers and scatters
    ("GatherND", {"data": X, "i": np.zeros((2, 1), np.int64)}, {"batch_dims": 1}, ValueError,
     "`indices` must have size 3 on batch axis 0, as `data`, got 2"),
    ("GatherND", {"data": X, "i": ONE.astype(np.int32)}, {}, TypeError,
     "`indices` must be tensor(int64), got tensor(int32)"),
    ("GatherND", {"data": X, "i": np.array(2)}, {}, ValueError,
     "`indices` must have at least 1 axis, got shape ()"),
    ("GatherND", {"data": X, "i": np.array([[1, 2, 0]])}, {}, ValueError,
     "`indices` must have a last axis of at most 2, the axes to index, got 3"),
    ("Gather", {"data": X, "i": X}, {}, TypeError,
     "`indices` must be one of tensor(int32), tensor(int64), got tensor(float)"),
    ("Gather", {"data": X[0, 0].reshape(()), "i": ONE}, {}, ValueError,
     "`data` must have at least 1 axis, got shape ()"),
    ("Gather", {"data": X, "i": ONE}, {"axis": 2}, ValueError, "`axis` must lie in [-2, 2), got 2"),
    ("Gather", {"data": X, "i": np.array([3])}, {"axis": 1}, IndexError,
     "`indices` must lie in [-3, 3) on axis 1, got 3 at (0,)"),
    ("GatherElements", {"data": X, "i": np.array([2])}, {}, ValueError,
     "`indices` must have 2 axes, as `data` has, got 1"),
    ("ScatterND", {"data": X, "i": ONE, "u": X[:2]}, {}, ValueError,
     "`updates` must have shape (1, 3), which follows from `data` and `indices`, got (2, 3)"),
    ("ScatterElements", {"data": X, "i": ONE, "u": X[:1, :1].astype(float)}, {}, TypeError,
     "`updates` must have dtype float32, as `data` (updates.astype(data.dtype) casts), got float64"),
    ("ScatterND", {"d": np.array(["a"], object), "i": ONE, "u": np.array(["b"], object)},
     {"reduction": "max"}, TypeError,
     "`data` must be numbers for this reduction (strings are joined by 'add' of ScatterND alone), "
     "got strings"),
    ("ScatterND", {"d": np.array(["a"], object), "i": ONE, "u": np.array(["b"] * 2, object)},
     {"reduction": "add"}, ValueError, "`updates` must have shape (1,), got (2,)"),
    # numbers of inputs
    ("Gather", {"data": X}, {}, ValueError, "`inputs` must number 2, got 1"),
    ("Resize", dict.fromkeys("abcde", X), {}, ValueError, "`inputs` must number 1 to 4, got 5"),
    ("GatherND", {"x": X}, {"domain": "com.microsoft"}, ValueError, "`inputs` must number 2, got 1"),
    ("ScatterND", {"data": X, "i": None, "u": X}, {}, ValueError, "`indices` must be given, got none"),
    ("Concat", {"a": X, "b": None, "c": X}, {"axis": 0}, ValueError, "`inputs` must be given, got none"),
    ("Resize", {"X": None, "roi": TWO}, {}, ValueError, "`X` must be given, got none"),
    # shape operators
    ("Cast", {"x": X}, {"to": TensorProto.STRING}, ValueError,
     "`to` must be a boolean, an integer of 8 bits or more or a float of 16 bits or more, got STRING"),
    ("Cast", {"x": X}, {"to": 99}, ValueError, "`to` must be a type of tensors, got 99"),
    ("Cast", {"x": np.array(["a"], object)}, {"to": TensorProto.INT64}, TypeError,
     "`input` must be a boolean, an integer of 8 bits or more or a float of 16 bits or more, got object"),
    ("Add", {"a": X, "b": X[:2]}, {}, ValueError, "`inputs` must be broadcastable, got (3, 3) and (2, 3)"),
    ("Add", {"a": X, "b": X.astype(float)}, {}, TypeError,
     "`inputs` must have one dtype, got float32, float64"),
    ("Div", {"a": ONE, "b": ONE}, {}, ValueError, "`B` must hold no zero where it holds integers, got 0"),
    ("Concat", {"a": X, "b": X[:2]}, {"axis": 1}, ValueError,
     "`inputs` must have equal sizes but for axis 1, got (3, 3), (2, 3)"),
    ("Reshape", {"a": X, "b": np.array([2, -1])}, {}, ValueError,
     "`shape` must fit the 9 elements of shape (3, 3), got (2, -1)"),
    ("Reshape", {"a": X, "b": np.array([9, 1, 0])}, {}, ValueError,
     "`shape` must have a 0 only for one of the 2 axes of the input, got (9, 1, 0)"),
    ("Reshape", {"a": X, "b": np.array(9)}, {}, ValueError,
     "`shape` must be a list, with one axis, got shape ()"),
    ("Reshape", {"a": X[:0], "b": np.array([0, 2**62, 3])}, {"allowzero": 1}, ValueError,
     "`shape` must give a result that can be addressed (NumPy takes sizes of 0 as 1), "
     "got shape (0, 4611686018427387904, 3) of 0 bytes"),
    ("Squeeze", {"a": X, "b": np.array([1])}, {}, ValueError,
     "`axes` must name axes of size 1 of shape (3, 3), got (1,)"),
    ("Unsqueeze", {"a": X, "b": np.array([3])}, {}, ValueError, "`axes` must lie in [-3, 3), got 3"),
    ("Transpose", {"a": X}, {"perm": [0, 0]}, ValueError,
     "`perm` must be a permutation of the 2 axes, got [0, 0]"),
    ("Slice", {"a": X, "s": np.array([0]), "e": np.array([1, 2])}, {}, ValueError,
     "`starts` must be as many as ends, axes and steps, got (1, 2, 1, 1)"),
    ("Slice", {"a": X, "s": np.array([0]), "e": np.array([1]), "x": np.array([0]), "t": np.array([0])}, {},
     ValueError, "`steps` must not be 0, got 0"),
    ("ConstantOfShape", {"s": np.array([2, -1])}, {}, ValueError,
     "`input` must hold sizes of at least 0, got (2, -1)"),
    ("ConstantOfShape", {"s": np.array([2**62, 0])}, {}, ValueError,
     "`input` must give a result that can be addressed (NumPy takes sizes of 0 as 1), "
     "got shape (4611686018427387904, 0) of 0 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "options", "kind", "text"), CASES, ids=lambda v: None)
def test_error(op, inputs, options, kind, text):
    with pytest.raises(kind, match=rf"^{op} 'up': {re.escape(text)}(?: \(.*\))?$"):
        run(op, inputs, name="up", **options)


def test_huge_scales_by_the_rule_of_onnx():
    with pytest.raises(ValueError, match=r"^Resize 'node': `sizes` must give a result that can be addressed"):
        run("Resize", resize(scales=np.array([3e38, 1], np.float32)), rules="onnx")


def test_node_without_a_name_is_named_by_its_output():
    with pytest.raises(IndexError, match=r"^Gather \(of output 'y'\): `indices` must lie in \[-3, 3\)"):
        run("Gather", {"data": X, "i": np.array([3])}, name="")


def test_all_unknown_operators_are_named_at_once():
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="r0"),
        helper.make_node("Relu", ["a"], ["b"], name="r1"),
        helper.make_node("Fused", ["b"], ["y"], domain="com.example"),
    ]
    value = models.value_info("x", X)
    model = models.model(nodes, [value], [models.value_info("y", X)])
    text = r"^prepare: `model` must use .*, got Relu \(node 'r0'\), com.example::Fused \(of output 'y'\) "
    text += r"\(onnx\.reference\.ReferenceEvaluator\(model, new_ops=remapnd\.onnx\.reference_ops\(\)\) "
    text += r"runs any operator\)$"
    with pytest.raises(ValueError, match=text):
        ronnx.prepare(model)
    assert not ronnx.is_compatible(model)


def test_domain_that_is_not_imported():
    model = models.node_model("Gather", {"x": X, "i": ONE})
    del model.opset_import[:]
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    with pytest.raises(
        ValueError, match=r"`domain` must be one that the model imports, 'com.example', got ''$"
    ):
        ronnx.prepare(model)


@pytest.mark.parametrize(
    ("inputs", "kind", "text"),
    [
        ([X], ValueError, "`inputs` must have 2 elements, for data, indices, got 1"),
        ([X, ONE, ONE], ValueError, "`inputs` must have 2 elements, for data, indices, got 3"),
        ([X.astype(int), ONE], TypeError, "`data` must be tensor(float), got tensor(int64)"),
        ([X.astype(complex), ONE], TypeError, "`data` must be tensor(float), got tensor(complex128)"),
        ([np.ma.masked_array(X), ONE], TypeError, "`data` must not be a masked array, whose mask would be "
         "lost (give `.filled(value)`, or `.data` to ignore it), got MaskedArray"),
        ([X[0], ONE], ValueError, "`data` must have shape (3, 3), got (3,)"),
        ([X[:2], ONE], ValueError, "`data` must have shape (3, 3), got (2, 3)"),
        ({"data": X}, ValueError, "`inputs` must have the keys data, indices, got data"),
        ({"data": X, "indices": ONE, "axis": 0}, ValueError,
         "`inputs` must have the keys data, indices, got data, indices, axis"),
    ],
)  # fmt: skip
def test_inputs_of_a_model(inputs, kind, text):
    rep = ronnx.prepare(models.node_model("Gather", {"data": X, "indices": ONE}))
    with pytest.raises(kind, match=f"^run: {re.escape(text)}$"):
        rep.run(inputs)


@pytest.mark.parametrize("place", [0, 1])
def test_masks_are_not_lost(place):
    """In run_node and in the evaluator of ONNX, as in a prepared model."""
    inputs = {"data": X, "indices": ONE}
    name = list(inputs)[place]
    inputs[name] = np.ma.masked_array(inputs[name], mask=True)
    model = models.node_model("Gather", {"data": X, "indices": ONE})
    (node,) = model.graph.node
    text = f"Gather .*: `{name}` must not be a masked array, whose mask would be lost .*, got MaskedArray$"
    with pytest.raises(TypeError, match=text):
        ronnx.run_node(node, list(inputs.values()))
    with pytest.raises(TypeError) as caught:
        ReferenceEvaluator(model, new_ops=ronnx.reference_ops()).run(None, inputs)
    assert re.match(text, str(caught.value.__cause__))  # the evaluator has a text of its own for this type


def test_options():
    model = models.node_model("Gather", {"data": X, "indices": ONE})
    with pytest.raises(
        ValueError, match=r"^prepare: `resize_rules` must be one of 'onnxruntime', 'onnx', got 'ort'$"
    ):
        ronnx.prepare(model, resize_rules="ort")
    with pytest.raises(ValueError, match=r"^prepare: `device` must be 'CPU', got 'CUDA'$"):
        ronnx.prepare(model, "CUDA")
    with pytest.raises(TypeError, match=r"^prepare: `options` must be resize_rules, got rules$"):
        ronnx.prepare(model, rules="onnx")
    with pytest.raises(TypeError, match=r"^run: `kwargs` must be empty, got seed$"):
        ronnx.prepare(model).run([X, ONE], seed=1)
    with pytest.raises(ValueError, match=r"^reference_ops: `resize_rules` must be one of .*, got 'ort'$"):
        ronnx.reference_ops(resize_rules="ort")


def test_run_node_errors():
    gather = helper.make_node("Gather", ["a", "b"], ["c"])
    with pytest.raises(ValueError, match=r"^Gather \(of output 'c'\): `inputs` must have 2 elements, got 1$"):
        ronnx.run_node(gather, [X])
    with pytest.raises(ValueError, match=r"^run_node: `node` must be of .*, got Conv \(of output 'c'\)$"):
        ronnx.run_node(helper.make_node("Conv", ["a", "b"], ["c"]), [X, X])
    with pytest.raises(ValueError, match=r"^run_node: `device` must be 'CPU', got 'CUDA:0'$"):
        ronnx.run_node(gather, [X, ONE], "CUDA:0")
    with pytest.raises(TypeError, match=r"^run_node: `options` must be resize_rules, got opset$"):
        ronnx.run_node(gather, [X, ONE], opset=13)


@pytest.mark.parametrize(
    ("name", "content", "detail"),
    [
        ("text.onnx", b"hello", " or a part of a model"),
        ("picture.onnx", b"\x89PNG\r\n\x1a\n", " or a part of a model"),
        (
            "m.json",
            b'{"resources": {}}',
            ': Message type "onnx.ModelProto" has no field named "resources" at',
        ),
        ("m.onnxtxt", b"hello", ": [ParseError at position"),
        ("m.textproto", b"hello", ': 1:1 : Message type "onnx.ModelProto" has no field named "hello"'),
        ("m.textproto", b"\xff", ": 'utf-8' codec can't decode"),
        ("m.onnxtxt", b"x" * 1000, ": [ParseError at position"),
    ],
)
def test_files_that_are_no_models(name, content, detail, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    for function in (ronnx.prepare, lint):
        with pytest.raises(ValueError, match=r": `model` must be a model of ONNX, got other data") as caught:
            function(path)
        op = "lint" if function is lint else "prepare"
        assert str(caught.value).startswith(f"{op}: `model` must be a model of ONNX, got other data{detail}")
        assert len(str(caught.value)) < 230
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "got"),
    [
        (b"", "no bytes"),
        (b"hello", "other data or a part of a model"),
        (onnx.ModelProto(), "one without a graph"),
    ],
)
def test_data_that_are_no_models(data, got):
    with pytest.raises(ValueError, match=rf"^prepare: `model` must be a model of ONNX, got {got}$"):
        ronnx.prepare(data)


@pytest.mark.parametrize("name", ["empty.onnx", "empty.json"])
def test_empty_files(name, tmp_path):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ValueError, match=r"^lint: `model` must be a model of ONNX, got an empty file$"):
        lint(tmp_path / name)


@pytest.mark.parametrize("model", [3, None, []])
def test_models_of_a_wrong_kind(model):
    rule = "be a ModelProto, the bytes of one, or the path of a file"
    text = rf"^prepare: `model` must {rule}, got {type(model).__name__}$"
    with pytest.raises(TypeError, match=text):
        ronnx.prepare(model)
