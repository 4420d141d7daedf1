"""Gradients of resampling: the reference for bits, fractions for values, PyTorch, and what is refused."""

import itertools
import math
from fractions import Fraction as F

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from strategies import belonging, laid_out, result_arrays, same_bits

from remapnd import ResamplePlan, _core, reference, resize
from remapnd.coordinates import COORDINATE_MODES, AxisMap
from remapnd.filter_taps import FilterTable
from remapnd.taps import NEAREST_RULES, linear_table
from remapnd.transposes import transposed

FLOATS = [np.dtype(d) for d in ("f2", ml_dtypes.bfloat16, "f4", "f8", "c8", "c16")]
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 3e38, -3e38], np.float64)
LAYOUTS = ["C", "F", "negative", "strided", "read_only", "unaligned"]
MODES = [
    ("nearest", None),
    ("linear", None),
    ("linear", "pillow"),
    ("linear", "onnx"),
    ("linear", "directml"),
    *itertools.product(("cubic", "box", "lanczos3"), (None, "pillow", "onnx")),
]


def numbers(shape, dtype, seed):
    """Values of all magnitudes, some of them not finite."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "c":
        result = np.empty(shape, dtype)
        part = np.dtype(f"f{dtype.itemsize // 2}")
        result.real, result.imag = numbers(shape, part, seed + 1), numbers(shape, part, seed + 2)
        return result
    with np.errstate(over="ignore"):
        values = (rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 4, shape)).astype(dtype)
        if rng.random() < 0.4:
            put = rng.random(shape) < 0.15
            values[put] = rng.choice(SPECIAL, np.count_nonzero(put)).astype(dtype)
    return values


@st.composite
def plans(draw, dtypes=FLOATS):
    rank = draw(st.integers(1, 3))
    largest = (60, 13, 6)[rank - 1]
    shape = draw(st.lists(st.integers(1, largest), min_size=rank, max_size=rank))
    if draw(st.booleans()):
        shape[-1] = draw(st.sampled_from([1, 2, 3, 4, 33]))
    axes = sorted(draw(st.sets(st.integers(0, rank - 1), min_size=1)))
    outs = [draw(st.integers(1, largest)) for _ in axes]
    mode, antialias = draw(st.sampled_from(MODES))
    options = belonging(
        {
            "axes": axes,
            "mode": mode,
            "antialias": antialias,
            "nearest_rule": draw(st.sampled_from(NEAREST_RULES)),
            "cubic_coefficient": draw(st.sampled_from([-0.75, F(1, 3)])),
            "exclude_outside": draw(st.booleans()),
        }
    )
    dtype = draw(st.sampled_from(dtypes))
    if draw(st.booleans()):
        options["coordinates"] = draw(st.sampled_from([*COORDINATE_MODES, "tf_crop_and_resize"]))
        if options["coordinates"] == "tf_crop_and_resize":
            bounds = st.sampled_from([-0.5, 0, F(1, 3), 1, 1.25])
            options["roi"] = [draw(bounds) for _ in range(2 * len(axes))]
            options["extrapolation_value"] = 3
        return ResamplePlan.resized(shape, dtype, outs, **options)
    if draw(st.booleans()):
        options["scales"] = [draw(st.fractions(F(1, 9), 4, max_denominator=12)) for _ in axes]
        options["input_offsets"] = draw(st.sampled_from([0.5, 0, -1.3, 20]))
    return ResamplePlan(shape, dtype, shape=outs, **options)


def by_reference(plan, gradient):
    names = ("mode", "nearest_rule", "antialias", "cubic_coefficient", "exclude_outside", "scales")
    return reference.resample_gradient(
        gradient,
        plan.data_shape,
        plan.maps,
        plan.axes,
        extrapolates=plan._options.extrapolation is not None,
        **{name: getattr(plan, name) for name in names},
    )


@settings(max_examples=150, deadline=None)
@given(plans(), st.integers(0, 10**6), st.sampled_from(LAYOUTS))
def test_gradients_have_the_bits_of_the_reference(plan, seed, layout):
    gradient = laid_out(numbers(plan.output_shape, plan.dtype, seed), layout)
    expected = by_reference(plan, gradient)
    for level in _core.levels_usable():
        _core.use_level(level)
        for threads in (1, 3):
            _core.set_num_threads(threads)
            assert same_bits(plan.vjp(gradient), expected), (level, threads)
    out = result_arrays(plan.data_shape, plan.dtype, layout)
    assert plan.vjp(gradient, out=out) is out
    assert same_bits(np.ascontiguousarray(out), expected)


def rows(plan, axis):
    """Input samples and the weights of the tables, as fractions, of each output sample along an axis."""
    table = plan._tables.get(axis)
    begin, end = plan._inside.get(axis, (0, plan.output_shape[axis]))
    for X in range(plan.output_shape[axis]):
        if not begin <= X < end:
            yield {}
        elif table is None:
            yield {X: F(1)}
        elif isinstance(table, FilterTable):
            start = int(table.start[X])
            yield {start + k: F(float(w)) for k, w in enumerate(table.weights[X, : table.count[X]])}
        else:
            a, b, w = int(table.first[X]), int(table.second[X]), table.weight[X]
            yield {a: F(1)} if a == b else {a: F(1) - F(float(w)), b: F(float(w))}


@settings(max_examples=80, deadline=None)
@given(plans([np.dtype("f4"), np.dtype("f8")]), st.integers(0, 10**6))
def test_gradients_are_the_adjoint(plan, seed):
    """<A x, y> = <x, A' y> for A of the rounded weights, in fractions, within the error of the sums."""
    rng = np.random.default_rng(seed)
    y = rng.integers(-99, 100, plan.output_shape).astype(plan.dtype)
    exact = np.vectorize(F, otypes=[object])(y.astype(int))
    size = np.vectorize(abs, otypes=[object])(exact)
    unit, terms = F(float(np.finfo(plan.dtype).eps)) / 2, 0
    for axis, n_in in enumerate(plan.data_shape):
        taps = list(rows(plan, axis))
        matrix = np.full((n_in, len(taps)), F(0))
        for X, row in enumerate(taps):
            for k, w in row.items():
                matrix[k, X] += w
        exact, size = (
            np.moveaxis(np.tensordot(m, v, axes=(1, axis)), 0, axis)
            for m, v in ((matrix, exact), (np.vectorize(abs, otypes=[object])(matrix), size))
        )
        terms += len(taps) + 1  # products and sums; one for the rounding of 1 - w
    got = plan.vjp(y)
    bound = terms * unit * (1 + terms * unit) * 2
    for place in np.ndindex(plan.data_shape):
        error = abs(F(float(got[place])) - exact[place])
        assert error <= bound * size[place] + F(float(np.finfo(plan.dtype).tiny)), place


def test_nearest_adds_up_what_reads_a_sample():
    plan = ResamplePlan((3,), np.float32, shape=7, mode="nearest")
    assert plan(np.array([0, 1, 2], np.float32)).tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert plan.vjp(np.array([1, 2, 4, 8, 16, 32, 64], np.float32)).tolist() == [3, 28, 96]
    # samples that nobody reads, from the back
    plan = ResamplePlan.resized(
        (9,), np.float64, 3, mode="nearest", coordinates="tf_crop_and_resize", roi=[1, 0]
    )
    assert plan.vjp(np.array([1.0, 2, 4])).tolist() == [4, 0, 0, 0, 2, 0, 0, 0, 1]


@pytest.mark.parametrize("rule", ["half_down", "floor"])
def test_the_printed_example_of_resample_grad(rule):
    offsets = (0, 0) if rule == "floor" else (0.5, -0.5)
    plan = ResamplePlan(
        (2, 2),
        np.float32,
        scales=(0.5, 1.5),
        shape=(1, 3),
        mode="nearest",
        nearest_rule=rule,
        input_offsets=offsets[0],
        output_offsets=offsets[1],
    )
    assert plan.vjp(np.array([[4, 5, 6]], np.float32)).tolist() == [[9, 6], [0, 0]]


def test_ties_decide_the_gradient_too():
    plan = ResamplePlan((2, 2), np.float32, scales=(0.5, 1.5), shape=(1, 3), mode="nearest")
    assert plan.vjp(np.array([[4, 5, 6]], np.float32)).tolist() == [[0, 0], [4, 11]]


def test_linear_vectors():
    plan = ResamplePlan((2,), np.float64, shape=4)
    assert plan.vjp(np.ones(4)).tolist() == [2, 2]
    assert plan.vjp([1.0, 2, 3, 4]).tolist() == [3.25, 6.75]
    assert ResamplePlan((3,), np.float64, shape=2).vjp([1.0, 2.0]).tolist() == [0.75, 0.75, 1.5]


def test_the_identity_is_copied():
    gradient = np.array([-0.0, np.inf, 1.0], np.float32)
    signalling = np.array([0x7F800001], np.uint32).view(np.float32)
    plan = ResamplePlan((4,), np.float32, shape=4)
    full = np.concatenate([gradient, signalling])
    assert plan.vjp(full).tobytes() == full.tobytes()
    assert plan.vjp(full) is not full


def test_an_identity_with_outputs_outside():
    """Output 1 of 2 lies outside and clamps to its own sample: its gradient is nobody's."""
    plan = ResamplePlan.resized(
        (2, 3),
        np.float64,
        (2, 3),
        coordinates="tf_crop_and_resize",
        roi=[0, 0, 1.5, 1],
        extrapolation_value=9,
    )
    assert not plan._tables
    assert plan(np.ones((2, 3))).tolist() == [[1, 1, 1], [9, 9, 9]]
    assert plan.vjp(np.ones((2, 3))).tolist() == [[1, 1, 1], [0, 0, 0]]


def test_nothing():
    assert ResamplePlan((0, 3), np.float32, shape=(0, 5)).vjp(np.ones((0, 5), np.float32)).shape == (0, 3)


def test_the_other_byte_order():
    plan = ResamplePlan((5, 4), ">f4", shape=(3, 9))
    gradient = np.arange(27, dtype=np.float32).reshape(3, 9)
    result = plan.vjp(gradient)
    assert result.dtype == np.dtype(">f4")
    assert_array_equal(result, ResamplePlan((5, 4), "f4", shape=(3, 9)).vjp(gradient))


@pytest.mark.parametrize(("mode", "antialias"), MODES)
def test_gradients_add_up_to_those_of_the_output(mode, antialias):
    """Weights add up to one: so does what each output gives away."""
    plan = ResamplePlan((40, 30), np.float64, shape=(13, 77), mode=mode, antialias=antialias)
    total = plan.vjp(np.ones(plan.output_shape)).sum()
    assert abs(total - math.prod(plan.output_shape)) < 1e-9


@pytest.mark.parametrize("dtype", ["u1", "i8", "?"])
def test_integers_are_refused(dtype):
    mode = "nearest" if dtype == "?" else "linear"
    plan = ResamplePlan((4,), dtype, shape=8, mode=mode)
    with pytest.raises(
        TypeError, match=r"resample: `data` must have one of the dtypes float16, .* for a grad"
    ):
        plan.vjp(np.zeros(8, dtype))


def test_what_does_not_fit_is_refused():
    plan = ResamplePlan.resized((4,), np.float32, 8)
    with pytest.raises(
        TypeError, match=r"resize: `gradient` must have the dtype float32 of the plan, got float64"
    ):
        plan.vjp(np.zeros(8))
    with pytest.raises(ValueError, match=r"`gradient` must have the shape \(8,\) of the output, got \(4,\)"):
        plan.vjp(np.zeros(4, np.float32))
    with pytest.raises(ValueError, match=r"resize: `out` must have shape \(4,\), got \(5,\)"):
        plan.vjp(np.zeros(8, np.float32), out=np.zeros(5, np.float32))
    plan = ResamplePlan((1,) * 17, np.float32, shape=2, mode="nearest")
    with pytest.raises(
        ValueError, match=r"`axes` must name at most 16 axes along which anything changes, for a g"
    ):
        plan.vjp(np.zeros((2,) * 17, np.float32))


def test_too_many_weights_are_refused(monkeypatch):
    monkeypatch.setattr("remapnd.transposes.MOST_WEIGHTS", 999)
    table = linear_table(AxisMap(F(0), F(1, 10)), 100, 1000, np.float32)
    with pytest.raises(ValueError, match=r"transposed: `shape` must let outputs share .* at most 999 wei"):
        transposed(table, 0, 1000)


@pytest.mark.parametrize("shape", [(9, 14), (30, 5), (7, 7)])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"mode": "nearest", "coordinates": "asymmetric", "nearest_rule": "floor"}, {"mode": "nearest"}),
        ({"mode": "nearest"}, {"mode": "nearest-exact"}),
        ({"mode": "linear"}, {"mode": "bilinear"}),
        ({"mode": "linear", "coordinates": "align_corners"}, {"mode": "bilinear", "align_corners": True}),
        ({"mode": "cubic"}, {"mode": "bicubic"}),
        ({"mode": "linear", "antialias": "pillow"}, {"mode": "bilinear", "antialias": True}),
        (
            {"mode": "cubic", "antialias": "pillow", "cubic_coefficient": -0.5},
            {"mode": "bicubic", "antialias": True},
        ),
    ],
)
def test_gradients_of_pytorch(shape, ours, theirs):
    torch = pytest.importorskip("torch", reason="compares with the gradients of PyTorch")
    rng = np.random.default_rng(5)
    data, gradient = rng.standard_normal((1, 2, 13, 10)), rng.standard_normal((1, 2, *shape))
    x = torch.from_numpy(data).requires_grad_()
    y = torch.nn.functional.interpolate(x, shape, **theirs)
    y.backward(torch.from_numpy(gradient))
    plan = ResamplePlan.resized(data.shape, data.dtype, shape, axes=(2, 3), **ours)
    np.testing.assert_allclose(plan(data), y.detach().numpy(), atol=1e-13)
    np.testing.assert_allclose(plan.vjp(gradient), x.grad.numpy(), atol=1e-13)


def test_gradients_of_torch_tensors_are_tensors():
    torch = pytest.importorskip("torch", reason="returns tensors of PyTorch")
    result = ResamplePlan((2,), np.float64, shape=4).vjp(torch.ones(4, dtype=torch.float64))
    assert isinstance(result, torch.Tensor)
    assert result.tolist() == [2, 2]


@pytest.mark.parametrize("offset", [0, -500, 200])
def test_edges_that_many_outputs_share_have_tables_of_their_own(offset):
    plan = ResamplePlan((7, 5), np.float32, scales=2, shape=(900, 300), input_offsets=(0, offset))
    pieces = [transposed(table, 0, table.n_out) for table in plan._tables.values()]
    assert [len(parts) for parts in pieces] == [2, 2]
    assert sum(part.weights.size for parts in pieces for part in parts) < 4000
    gradient = numbers(plan.output_shape, plan.dtype, 11)
    assert same_bits(plan.vjp(gradient), by_reference(plan, gradient))


def test_gradient_of_a_long_axis():
    """Many outputs share one sample; many samples share one output."""
    one = ResamplePlan((1,), np.float64, shape=10_000)
    assert one.vjp(np.ones(10_000)).tolist() == [10_000]
    rng = np.random.default_rng(1)
    data, gradient = rng.standard_normal(20_000), rng.standard_normal(7)
    plan = ResamplePlan((20_000,), np.float64, shape=7, mode="lanczos3", antialias="onnx")
    assert math.isclose(plan(data) @ gradient, data @ plan.vjp(gradient), abs_tol=1e-10)
    assert resize(data, 7, mode="lanczos3", antialias="onnx").shape == (7,)
