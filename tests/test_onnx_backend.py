"""The backend against the node tests of ONNX, and graphs of several nodes."""

from __future__ import annotations

import re
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal

onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
import onnx_models as models  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import remapnd  # noqa: E402
from remapnd import onnx as ronnx  # noqa: E402
from remapnd.onnx.lint import lint  # noqa: E402

INCLUDED = (
    r"^test_(gather|scatter|resize|upsample|gridsample|affine_grid(?!.*expanded)|roialign|tensorscatter"
    r"|shape|slice|concat|cast|constant(?!_pad)|constantofshape|identity"
    r"|squeeze|unsqueeze|reshape|transpose|add|sub|mul|div|floor|ceil)(nd|_|$)"
)

# Tests that do not pass, for each resize rule: why.
FAILING: dict[str, dict[str, str]] = {
    "onnxruntime": {
        "test_resize_downsample_scales_linear_align_corners": "the reference takes scale * length = 2.4 for "
        "the length, where ONNX Runtime takes 2",
        "test_resize_downsample_scales_cubic_align_corners": "the reference takes scale * length = 3.2",
    },
    "onnx": {},
}
UNSUPPORTED: dict[str, str] = {
    r"test_cast_(no_saturate_)?\w*(FLOAT8|FLOAT4|INT4|UINT4|INT2|UINT2|STRING|e8m0)\w*": "casts of "
    "strings, of small floats and of integers below a byte are no part of computing sizes",
    r"test_identity_(sequence|opt)": "the backend knows tensors alone",
}


class Switched(ronnx.Backend):
    """The backend with the resize rule of the moment, as a node test gives no option."""

    rules: ClassVar[str] = "onnxruntime"

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> Any:
        return super().prepare(model, device, resize_rules=cls.rules, **kwargs)


@pytest.fixture(scope="module")
def node_tests() -> type[unittest.TestCase]:
    from onnx.backend.test import BackendTest

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # onnx makes the cases when it is imported, overflows included
        tests = BackendTest(Switched, __name__).include(INCLUDED)
    return tests.test_cases["OnnxBackendNodeModelTest"]


def names(case: type[unittest.TestCase]) -> list[str]:
    """The node tests that were included, for the CPU."""
    listed = unittest.defaultTestLoader.getTestCaseNames(case)
    skipped = {name for name in listed if getattr(getattr(case, name), "__unittest_skip__", False)}
    return [name.removesuffix("_cpu") for name in listed if name.endswith("_cpu") and name not in skipped]


def run(case: type[unittest.TestCase], listed: list[str]) -> dict[str, str]:
    """Run node tests; return the last line of what each that failed said."""
    result = unittest.TestResult()
    unittest.TestSuite(case(f"{name}_cpu") for name in listed).run(result)
    assert result.testsRun == len(listed)
    assert not result.skipped
    return {
        str(test).split()[0].removesuffix("_cpu"): text for test, text in [*result.failures, *result.errors]
    }


@pytest.mark.parametrize("rules", ["onnxruntime", "onnx"])
def test_node_tests(node_tests, rules, monkeypatch):
    monkeypatch.setattr(Switched, "rules", rules)
    listed = [name for name in names(node_tests) if not any(re.fullmatch(p, name) for p in UNSUPPORTED)]
    family = [name for name in listed if re.match("test_(gather|scatter|resize|upsample)", name)]
    assert len(family) >= 60
    failed = run(node_tests, listed)
    assert failed.keys() == FAILING[rules].keys(), failed


def test_node_tests_that_are_left_out_do_not_pass(node_tests):
    out = [name for name in names(node_tests) if any(re.fullmatch(p, name) for p in UNSUPPORTED)]
    failed = run(node_tests, out)
    assert failed.keys() == set(out)
    assert all("Error" in text for text in failed.values())


# ---- graphs


X = np.arange(12, dtype=np.float32).reshape(3, 4)


def int64(name: str, values: list[int]) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def sized_like() -> onnx.ModelProto:
    """A Resize to twice the last size of the input, as exporters compute it from shapes."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "last"], ["n"], axis=0),
        helper.make_node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Constant", [], ["two"], value_float=2.5),
        helper.make_node("Mul", ["f", "two"], ["product"]),
        helper.make_node("Floor", ["product"], ["floored"]),
        helper.make_node("Cast", ["floored"], ["m"], to=TensorProto.INT64),
        helper.make_node("Unsqueeze", ["m", "zero"], ["width"]),
        helper.make_node("Slice", ["shape", "zero", "one"], ["height"]),
        helper.make_node("Concat", ["height", "width"], ["sizes"], axis=0),
        helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear"),
    ]
    constants = [int64("zero", [0]), int64("one", [1])]
    constants.append(numpy_helper.from_array(np.array(1, np.int64), "last"))
    value = models.value_info("x", X, ["h", "w"])
    return models.model(nodes, [value], [models.value_info("y", X, ["h", "v"])], constants)


def test_sizes_that_the_model_computes():
    rep = ronnx.prepare(sized_like())
    for x in (X, X[:, :3]):
        (y,) = rep.run([x])
        assert_array_equal(y, remapnd.resize(x, (3, int(x.shape[1] * 2.5))))


def test_onnx_runtime_gives_the_same():
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra remapnd[verify] is not installed")
    session = onnxruntime.InferenceSession(
        sized_like().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (there,) = session.run(None, {"x": X})
    (here,) = ronnx.run_model(sized_like(), {"x": X})
    np.testing.assert_allclose(here, there, rtol=1e-6, atol=1e-6)


def test_a_prepared_model_may_be_run_from_several_threads():
    rep = ronnx.prepare(sized_like())
    arrays = [X[:, :n] + n for n in (2, 3, 4)] * 20
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda x: rep.run([x])[0], arrays))
    for x, y in zip(arrays, results, strict=True):
        assert_array_equal(y, remapnd.resize(x, (3, int(x.shape[1] * 2.5))))


def test_inputs_by_name_and_with_defaults():
    node = helper.make_node("Gather", ["x", "i"], ["y"])
    values = [models.value_info("x", X), models.value_info("i", np.zeros(2, np.int64))]
    output = [models.value_info("y", X, [None, 4])]
    rep = ronnx.prepare(models.model([node], values, output, [int64("i", [2, 0])]))
    assert_array_equal(rep.run([X])[0], X[[2, 0]])
    assert_array_equal(rep.run(X)[0], X[[2, 0]])
    assert_array_equal(rep.run({"x": X})[0], X[[2, 0]])
    assert_array_equal(rep.run({"i": np.array([1, 1]), "x": X})[0], X[[1, 1]])
    assert_array_equal(rep.run([X, np.array([1, -1])])[0], X[[1, 2]])


def test_outputs_belong_to_the_caller():
    nodes = [
        helper.make_node("Identity", ["x"], ["same"]),
        helper.make_node("Reshape", ["x", "shape"], ["flat"]),
        helper.make_node("Identity", ["shape"], ["constant"]),
    ]
    outputs = [
        models.value_info("same", X),
        models.value_info("flat", X, [12]),
        models.value_info("constant", np.zeros(1, np.int64)),
    ]
    rep = ronnx.prepare(models.model(nodes, [models.value_info("x", X)], outputs, [int64("shape", [-1])]))
    x = X.copy()
    first = rep.run([x])
    for array in first:
        assert array.flags.writeable
        array[...] = 0
    assert_array_equal(x, X)
    assert_array_equal(rep.run([x])[0], X)
    assert rep.run([x])[2].tolist() == [-1]


def test_each_shape_and_type_is_checked_again():
    """A run like the last one skips checks; one of other shapes or types does not."""
    node = helper.make_node("Gather", ["x", "i"], ["y"])
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"]),
        helper.make_tensor_value_info("i", TensorProto.INT64, None),
    ]
    made = models.model([node], inputs, [onnx.ValueInfoProto(name="y")])
    rep = ronnx.prepare(made)
    i = np.array([1, -1])
    for n in (3, 3, 5, 3):
        x = np.arange(n, dtype=np.float32)
        for given in ([x, i], (x, i), {"x": x, "i": i}):
            assert_array_equal(rep.run(given)[0], x[i], strict=True)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"run: `x` must be tensor\(float\), got tensor\(double\)"):
            rep.run([np.arange(3.0), i])
        with pytest.raises(ValueError, match=r"run: `x` must have shape \(\?\), got \(1, 3\)"):
            rep.run([np.zeros((1, 3), np.float32), i])
        with pytest.raises(IndexError, match=r"Gather \(of output 'y'\): `indices` must lie in \[-3, 3\)"):
            rep.run([np.zeros(3, np.float32), np.array([1, 3])])


def test_types_that_are_not_declared_are_checked_at_each_node():
    node = helper.make_node("Gather", ["x", "i"], ["y"], name="pick")
    made = models.model(
        [node], [onnx.ValueInfoProto(name=name) for name in "xi"], [onnx.ValueInfoProto(name="y")]
    )
    rep = ronnx.prepare(made)
    x = np.arange(3, dtype=np.int16)
    assert_array_equal(rep.run([x, np.array([2])])[0], [2])
    text = r"Gather 'pick': `indices` must be one of tensor\(int32\), tensor\(int64\), got tensor\(float\)"
    with pytest.raises(TypeError, match=text):
        rep.run([x, np.array([2], np.float32)])
    assert_array_equal(rep.run([np.array(["a", "b"]), np.array([1])])[0], np.array(["b"], object))


def test_types_of_a_model_without_inputs_are_checked():
    node = helper.make_node("Gather", ["x", "i"], ["y"])
    tensors = [numpy_helper.from_array(X, "x"), numpy_helper.from_array(np.zeros(1), "i")]
    rep = ronnx.prepare(models.model([node], [], [onnx.ValueInfoProto(name="y")], tensors))
    for _ in range(2):
        with pytest.raises(TypeError, match=r"`indices` must be one of .*, got tensor\(double\)"):
            rep.run([])


@pytest.mark.parametrize("constant_node", [False, True])
def test_resize_by_constant_sizes(constant_node):
    sizes = np.array([1, 6], np.int64)
    resize = helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="linear")
    tensor = numpy_helper.from_array(sizes, "s")
    nodes = [helper.make_node("Constant", [], ["s"], value=tensor), resize] if constant_node else [resize]
    x_info = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["a", "b"])
    outputs = [onnx.ValueInfoProto(name="y"), onnx.ValueInfoProto(name="s")]
    made = models.model(nodes, [x_info], outputs, [] if constant_node else [tensor])
    rep = ronnx.prepare(made)
    for n in (3, 4, 3, 6):
        x = np.arange(n, dtype=np.float32)[None]
        for _ in range(2):
            y, s = rep.run([x])
            assert_array_equal(y, remapnd.resize(x, (1, 6)), strict=True)
            assert_array_equal(s, sizes)
            s[:] = y[:] = 0  # both are the caller's
    with pytest.raises(ValueError, match="`sizes` must have one value for each of the 3 axes, got 2 values"):
        ronnx.prepare(
            models.model(nodes, [onnx.ValueInfoProto(name="x")], outputs, made.graph.initializer)
        ).run([np.zeros((1, 1, 2), np.float32)])


def test_a_value_and_a_view_of_it_share_no_memory():
    nodes = [
        helper.make_node("Gather", ["x", "i"], ["y"]),
        helper.make_node("Identity", ["y"], ["z"]),
        helper.make_node("Gather", ["x", "i"], ["w"]),
    ]
    x = np.arange(4, dtype=np.float32)
    outputs = [onnx.ValueInfoProto(name=name) for name in "zyw"]
    inputs = [models.value_info("x", x), models.value_info("i", np.array([0]))]
    made = models.model(nodes, inputs, outputs)
    arrays = ronnx.prepare(made).run([x, np.array([3])])
    for k, array in enumerate(arrays):
        assert_array_equal(array, [3.0])
        assert not any(np.may_share_memory(array, other) for other in (*arrays[:k], x))


def test_old_shape_operators():
    nodes = [
        helper.make_node("Slice", ["x"], ["a"], starts=[1], ends=[99], axes=[1]),
        helper.make_node("Unsqueeze", ["a"], ["b"], axes=[0, -1]),
        helper.make_node("Squeeze", ["b"], ["c"], axes=[0]),
        helper.make_node("Squeeze", ["c"], ["d"]),
        helper.make_node("Transpose", ["d"], ["y"]),
    ]
    model = models.model(nodes, [models.value_info("x", X)], [models.value_info("y", X, [3, 3])], opset=9)
    assert_array_equal(ronnx.run_model(model, [X])[0], X[:, 1:].T)


@pytest.mark.parametrize(
    ("start", "end", "step", "expected"),
    [
        (3, -99, -1, [3, 2, 1, 0]),
        (99, 0, -2, [3, 1]),
        (-99, -99, -1, [0]),
        (-99, 99, 3, [0, 3]),
        (2, 1, 1, []),
        (-1, np.iinfo(np.int64).min, -1, [3, 2, 1, 0]),
        (0, np.iinfo(np.int64).max, 1, [0, 1, 2, 3]),
    ],
)
def test_slice(start, end, step, expected):
    node = helper.make_node("Slice", ["x", "s", "e", "a", "t"], ["y"])
    arrays = [np.array([v], np.int64) for v in (start, end, 0, step)]
    assert ronnx.run_node(node, [np.arange(4), *arrays])[0].tolist() == expected


def test_integers_divide_towards_zero():
    a, b = np.array([7, -7, 7, -7, -8]), np.array([2, 2, -2, -2, 2])
    assert ronnx.run_node(helper.make_node("Div", ["a", "b"], ["c"]), [a, b])[0].tolist() == [
        3,
        -3,
        -3,
        3,
        -4,
    ]


def test_infinities_and_nan_are_results():
    inf, nan = np.inf, np.nan
    cases = {
        "Div": ([1, 0, inf], [0, 0, inf], [inf, nan, nan]),
        "Mul": ([1e38, 0, 1], [1e38, inf, inf], [inf, nan, inf]),
        "Add": ([3e38, inf, 1], [3e38, -inf, inf], [inf, nan, inf]),
        "Sub": ([3e38, inf, 1], [-3e38, inf, inf], [inf, nan, -inf]),
    }
    for op, (*inputs, expected) in cases.items():
        a, b = (np.array(values, np.float32) for values in inputs)
        assert_array_equal(ronnx.run_node(helper.make_node(op, ["a", "b"], ["c"]), [a, b])[0], expected)
    least = np.array([np.iinfo(np.int32).min], np.int32)
    node = helper.make_node("Div", ["a", "b"], ["c"])
    assert_array_equal(ronnx.run_node(node, [least, np.array([-1], np.int32)])[0], least)


def test_run_node_of_an_older_opset_and_without_an_input():
    scatter = helper.make_node("Scatter", ["a", "i", "u"], ["y"], axis=1)
    (y,) = ronnx.run_node(scatter, [X, np.array([[3]]), X[:1, :1] - 1], opset_version=9)
    assert y[0].tolist() == [0, 1, 2, -1]
    resize = helper.make_node("Resize", ["x", "", "s"], ["y"])
    scales = np.array([1, 2], np.float32)
    for inputs in ([X, scales], [X, None, scales]):
        assert_array_equal(ronnx.run_node(resize, inputs)[0], np.repeat(X, 2, 1))


def test_strings():
    words = np.array([["a", "b\0"], ["", "d"]], object)
    assert ronnx.run_node(helper.make_node("Gather", ["x", "i"], ["y"]), [words, np.array(1)])[
        0
    ].tolist() == ["", "d"]
    scatter = helper.make_node("ScatterND", ["x", "i", "u"], ["y"], reduction="add")
    indices, updates = np.array([[0, 0], [1, 1], [0, 0]]), np.array(["x", "y", "z"], object)
    assert ronnx.run_node(scatter, [words, indices, updates])[0].tolist() == [["axz", "b\0"], ["", "dy"]]
    assert words[0, 0] == "a"
    put = helper.make_node("ScatterElements", ["x", "i", "u"], ["y"])
    assert ronnx.run_node(put, [words, np.array([[1]]), updates[:1, None]])[0].tolist() == [
        ["a", "b\0"],
        ["x", "d"],
    ]


def test_model_from_a_file_with_external_data(tmp_path):
    model = models.model(
        [helper.make_node("Gather", ["table", "i"], ["y"])],
        [models.value_info("i", np.zeros(2, np.int64))],
        [models.value_info("y", X, [2, 4])],
        [numpy_helper.from_array(X, "table")],
    )
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, size_threshold=0, location="weights.bin")
    assert (tmp_path / "weights.bin").stat().st_size == X.nbytes
    for file in (path, str(path)):
        assert_array_equal(ronnx.run_model(file, [np.array([2, -3])])[0], X[[2, 0]])


def with_function() -> onnx.ModelProto:
    """A model that calls a function of its own."""
    inside = helper.make_node("Gather", ["a", "b"], ["c"], name="inner", axis=1)
    opset = [helper.make_opsetid("", 19)]
    function = helper.make_function("local", "Pick", ["a", "b"], ["c"], [inside], opset)
    call = helper.make_node("Pick", ["x", "i"], ["y"], domain="local")
    values = [models.value_info("x", X), models.value_info("i", np.zeros(2, np.int64))]
    model = models.model([call], values, [models.value_info("y", X, [3, 2])])
    model.opset_import.append(helper.make_opsetid("local", 1))
    model.functions.append(function)
    return model


def test_functions_of_the_model():
    assert ronnx.is_compatible(with_function())
    assert_array_equal(ronnx.run_model(with_function(), [X, np.array([3, 0])])[0], X[:, [3, 0]])
    (report,) = lint(with_function())
    assert (report.operator, str(report.inputs[0])) == ("Gather-13", "float[3,4]")


def test_devices():
    assert ronnx.supports_device("CPU")
    assert not ronnx.supports_device("CUDA")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda g: g.node[0].input.__setitem__(0, "z"),
         "Gather 'g': `inputs` must be made before the node, got 'z'"),
        (lambda g: g.node[0].output.__setitem__(0, "x"),
         "Gather 'g': `outputs` must be one name, not used before, got ['x']"),
        (lambda g: g.output[0].__setattr__("name", "z"),
         "prepare: `model` must compute its outputs, got no value 'z'"),
        (lambda g: g.input[0].CopyFrom(helper.make_tensor_sequence_value_info("x", 1, None)),
         "prepare: `model` must have tensors as inputs, got 'x' of another kind"),
        (lambda g: g.sparse_initializer.append(onnx.SparseTensorProto(values=onnx.TensorProto(name="s"))),
         "prepare: `model` must have no sparse initializers, got 's'"),
    ],
)  # fmt: skip
def test_graph_that_cannot_be_run(change, text):
    model = models.node_model("Gather", {"x": X, "i": np.zeros(1, np.int64)}, name="g")
    change(model.graph)
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        ronnx.prepare(model)


def test_repr_and_kinds_of_models(tmp_path):
    nodes = [
        helper.make_node("Resize", ["x", "", "s"], ["a"]),
        helper.make_node("Resize", ["a", "", "s"], ["b"]),
        helper.make_node("Gather", ["b", "i"], ["y"]),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3]),
        helper.make_tensor_value_info("i", TensorProto.INT64, None),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    constants = [numpy_helper.from_array(np.full(2, 2, np.float32), "s")]
    model = models.model(nodes, inputs, outputs, constants)
    kinds = [model, model.SerializeToString()]
    for name in ("m.onnx", "m.json", "m.onnxtxt", "m.textproto"):
        onnx.save(model, tmp_path / name)
        kinds.append(tmp_path / name)
    for kind in kinds:
        prepared = ronnx.prepare(kind)
        assert repr(prepared) == "<BackendRep (x: float[?,3], i: int64) -> (y) by 2 Resize-19, Gather-13>"
        assert ronnx.is_compatible(kind)
        (y,) = prepared.run([np.zeros((1, 3), np.float32), np.array([0, 3])])
        assert y.shape == (2, 12)
