"""grid_sample: bits of the reference, exact arithmetic, awkward coordinates, errors."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import remapnd
from remapnd import GridSamplePlan, _core, affine_grid, grid_sample, reference

MODES = ("linear", "nearest", "cubic")
PADDINGS = ("zeros", "border", "reflection")
FLOATS = [np.dtype(d) for d in ("f2", ml_dtypes.bfloat16, "f4", "f8")]
# Not long double: NumPy does not copy its padding item by item, as the reference does.
MOVED = [d for d in strategies.MOVABLE_DTYPES if d.type is not np.longdouble]
AWKWARD = [0, 1, -1, 0.5, -0.5, math.nan, math.inf, -math.inf, 1e10, -1e20, 1e300, 2.25, -3, 1e-30, -0.0]


def coordinates(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Return coordinates, most of them about the samples, some awkward."""
    values = np.where(rng.random(shape) < 0.2, rng.choice(AWKWARD, shape), rng.standard_normal(shape) * 1.2)
    with np.errstate(all="ignore"):
        return values.astype(dtype)


@st.composite
def sample_cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    rank = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(strategies.seeds))
    mode = draw(st.sampled_from(MODES))
    dtype = draw(st.sampled_from(MOVED if mode == "nearest" else FLOATS))
    sizes = tuple(rng.integers(1, 5, rank).tolist())
    places = tuple(rng.integers(0, 4, rank).tolist())
    batches, channels = rng.integers(0, 3, 2).tolist()
    data = strategies.random_array((batches, channels, *sizes), dtype, int(rng.integers(2**31)))
    if dtype in FLOATS and rng.random() < 0.7:
        data = rng.standard_normal(data.shape).astype(dtype)
        special = np.array([math.nan, math.inf, -0.0], dtype)
        data = np.where(rng.random(data.shape) < 0.1, rng.choice(special, data.shape), data).astype(dtype)
    grid = coordinates(rng, (batches, *places, rank), draw(st.sampled_from(FLOATS)))
    options = {
        "mode": mode,
        "padding": draw(st.sampled_from(PADDINGS)),
        "align_corners": draw(st.booleans()),
    }
    return data, grid, options


@given(sample_cases(), strategies.layouts, strategies.layouts, strategies.layouts, st.sampled_from([1, 2, 3]))
def test_bits_of_the_reference_on_every_level(case, data_layout, grid_layout, out_layout, threads):
    data, grid, options = case
    data, grid = strategies.laid_out(data, data_layout), strategies.laid_out(grid, grid_layout)
    with np.errstate(all="ignore"):
        want = reference.grid_sample(data, grid, **options)
    _core.set_num_threads(threads)
    for level in _core.levels_usable():
        _core.use_level(level)
        assert strategies.same_bits(grid_sample(data, grid, **options), want)
    out = strategies.result_arrays(want.shape, want.dtype, out_layout)
    assert grid_sample(data, grid, **options, out=out) is out
    assert strategies.same_bits(np.ascontiguousarray(out), want)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("layout", ["contiguous", "reversed", "apart"])
def test_both_taps_in_one_load(dtype, rank, layout):
    """Where all positions lie between two samples that are neighbours in memory, these are read as one."""
    rng = np.random.default_rng(rank)
    sizes = (4, 3, 5)[-rank:]
    data = rng.standard_normal((2, 3, *sizes)).astype(dtype)
    data.flat[::17] = math.inf
    data = {
        "contiguous": data,
        "reversed": np.ascontiguousarray(data[..., ::-1])[..., ::-1],
        "apart": np.repeat(data, 2, axis=-1)[..., ::2],
    }[layout]
    places = rng.random((2, *(11, 1, 23)[-rank:], rank)) * 0.98 + 0.01
    places[:, ..., -1, :] = 0.999  # next to the last sample of the array
    position = places * (np.array(sizes[::-1]) - 1)
    grid = ((2 * position + 1) / np.array(sizes[::-1]) - 1).astype(np.float32)
    with np.errstate(all="ignore"):
        want = reference.grid_sample(data, grid)
    assert np.isinf(want).any()
    for level in _core.levels_usable():
        _core.use_level(level)
        assert strategies.same_bits(grid_sample(data, grid), want)


def plan_of(data: np.ndarray, grid: np.ndarray, options: dict[str, Any]) -> GridSamplePlan:
    return GridSamplePlan(data.shape, data.dtype, grid.shape, grid.dtype, **options)


@given(sample_cases(), strategies.layouts, strategies.layouts, st.sampled_from([1, 2, 3]))
def test_gradient_has_the_bits_of_the_reference_on_every_level(case, layout, grid_layout, threads):
    data, grid, options = case
    data = data if data.dtype in FLOATS else np.zeros(data.shape, np.float32)
    grid = strategies.laid_out(grid, grid_layout)
    plan = plan_of(strategies.laid_out(data, layout), grid, options)
    rng = np.random.default_rng(data.size)
    gradient = rng.standard_normal(plan.output_shape).astype(data.dtype)
    gradient.flat[::7] = math.inf
    gradient = strategies.laid_out(gradient, layout)
    want = reference.grid_sample_gradient(gradient, grid, data.shape[2:], **options)
    _core.set_num_threads(threads)
    for level in _core.levels_usable():
        _core.use_level(level)
        assert strategies.same_bits(plan.vjp(gradient, grid), want)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", PADDINGS)
def test_gradient_is_the_transpose(mode, padding):
    """``<gradient, sample(data)> = <vjp(gradient), data>``, over blocks and channels of several tasks."""
    rng = np.random.default_rng(5)
    data = rng.standard_normal((2, 11, 6, 7))
    grid = rng.standard_normal((2, 3, 301, 2))
    plan = plan_of(data, grid, {"mode": mode, "padding": padding, "align_corners": True})
    gradient = rng.standard_normal(plan.output_shape)
    np.testing.assert_allclose(
        np.vdot(gradient, plan(data, grid)), np.vdot(plan.vjp(gradient, grid), data), rtol=1e-9
    )
    _core.set_num_threads(1)
    whole = plan.vjp(gradient, grid)
    _core.set_num_threads(3)
    assert strategies.same_bits(plan.vjp(gradient, grid), whole)


def test_gradient_of_what_is_empty_or_does_not_fit():
    plan = GridSamplePlan((1, 2, 3, 3), np.float32, (1, 0, 4, 2), np.float32)
    grid = np.zeros((1, 0, 4, 2), np.float32)
    zeros = plan.vjp(np.zeros((1, 2, 0, 4), np.float32), grid)
    assert zeros.shape == (1, 2, 3, 3)
    assert not zeros.any()
    with pytest.raises(ValueError, match=r"`gradient` must have the plan's shape \(1, 2, 0, 4\), got \(1,\)"):
        plan.vjp(np.zeros(1, np.float32), grid)
    with pytest.raises(TypeError, match="`gradient` must have the plan's dtype float32, got float64"):
        plan.vjp(np.zeros((1, 2, 0, 4)), grid)
    with pytest.raises(ValueError, match=r"`grid` must have the plan's shape \(1, 0, 4, 2\), got \(2,\)"):
        plan.vjp(np.zeros((1, 2, 0, 4), np.float32), np.zeros(2, np.float32))
    labels = GridSamplePlan((1, 1, 3), np.int16, (1, 2, 1), np.float32, mode="nearest")
    with pytest.raises(
        TypeError, match=r"grid_sample: `gradient` must have one of the dtypes float16, .*, got int16"
    ):
        labels.vjp(np.zeros((1, 1, 2), np.int16), np.zeros((1, 2, 1), np.float32))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_blocks_tasks_and_threads_change_nothing(mode, dtype):
    rng = np.random.default_rng(3)
    data = rng.standard_normal((2, 70, 5, 6)).astype(dtype)
    grid = coordinates(rng, (2, 7, 301, 2), np.dtype("f4"))
    whole = grid_sample(data, grid, mode=mode, padding="reflection")
    _core.set_num_threads(3)
    assert strategies.same_bits(grid_sample(data, grid, mode=mode, padding="reflection"), whole)
    turned = np.swapaxes(np.ascontiguousarray(np.swapaxes(grid, 1, 2)), 1, 2)
    assert strategies.same_bits(grid_sample(data, turned, mode=mode, padding="reflection"), whole)
    for c, p in ((0, 0), (33, 100), (69, 300)):
        part = grid_sample(data[:, c : c + 1], grid[:, :, p : p + 1], mode=mode, padding="reflection")
        assert strategies.same_bits(part, np.ascontiguousarray(whole[:, c : c + 1, :, p : p + 1]))


# Exact arithmetic: the samples, continued without end by the padding, mixed at exact positions.


def continued(data: np.ndarray, at: int, padding: str, align_corners: bool) -> Any:
    n = len(data)
    if padding == "border":
        return data[min(max(at, 0), n - 1)]
    if padding == "reflection":
        while n > 1 and not 0 <= at < n:
            if align_corners:
                at = -at if at < 0 else 2 * (n - 1) - at
            else:
                at = -1 - at if at < 0 else 2 * n - 1 - at
        return data[at if n > 1 else 0]
    return data[at] if 0 <= at < n else np.zeros_like(data[0]) if data.ndim > 1 else Fraction(0)


def keys(d: Fraction) -> Fraction:
    a = Fraction(-3, 4)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else Fraction(0)


def exact(data: np.ndarray, xs: list[Fraction], mode: str, padding: str, align_corners: bool) -> Fraction:
    floor = math.floor(xs[0])
    if mode == "linear":
        weights = {floor: floor + 1 - xs[0], floor + 1: xs[0] - floor}
    elif mode == "cubic":
        weights = {k: keys(abs(xs[0] - k)) for k in range(floor - 1, floor + 3)}
    else:
        weights = {round(xs[0]): Fraction(1)}
    total = Fraction(0)
    for k, w in weights.items():
        part = continued(data, k, padding, align_corners)
        value = part if len(xs) == 1 else exact(part, xs[1:], mode, padding, align_corners)
        total += w * value
    return total


@given(
    st.sampled_from(MODES),
    st.sampled_from(PADDINGS),
    st.booleans(),
    st.integers(1, 3),
    st.tuples(st.sampled_from([np.dtype("f4"), np.dtype("f8")]), strategies.seeds),
)
def test_exact_values(mode, padding, align_corners, rank, dtype_and_seed):
    dtype, seed = dtype_and_seed
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, rank).tolist()
    data = rng.integers(-8, 9, (1, 1, *sizes)).astype(dtype)
    # Multiples of 1/16, with ties and borders among them.
    grid = (rng.integers(-40, 41, (1, 3, *(1,) * (rank - 1), rank)) / 16).astype(np.float32)
    got = grid_sample(data, grid, mode=mode, padding=padding, align_corners=align_corners).ravel()
    fractions = np.vectorize(Fraction, otypes=[object])(data[0, 0].astype(int))
    for value, point in zip(got.tolist(), grid.reshape(-1, rank).tolist(), strict=True):
        xs = [
            (Fraction(g) * (n - 1 if align_corners else n) + n - 1) / 2
            for g, n in zip(point[::-1], sizes, strict=True)
        ]
        want = exact(fractions, xs, mode, padding, align_corners)
        assert abs(Fraction(value) - want) <= Fraction(float(np.finfo(dtype).eps)) * 8 * 8 * 2**rank


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_identity_keeps_the_bits_of_samples(mode, align_corners, dtype):
    data = np.array([[[[0.1, -0.0, 3], [math.inf, -2, 1e-3], [5, 0, 7], [-0.0, -1, 1]]]], dtype)
    grid = affine_grid(np.array([[[1.0, 0, 0], [0, 1, 0]]]), data.shape, align_corners=align_corners)
    got = grid_sample(data, grid, mode=mode, padding="border", align_corners=align_corners)
    # Not aligned, the outer of three columns are at -2/3 and 2/3, which no float is.
    columns = slice(None) if align_corners else slice(1, 2)
    assert strategies.same_bits(*(np.ascontiguousarray(a[..., columns]) for a in (got, data)))


@given(strategies.seeds, st.sampled_from(PADDINGS), st.sampled_from(["linear", "nearest"]))
def test_a_constant_stays_constant(seed, padding, mode):
    rng = np.random.default_rng(seed)
    grid = coordinates(rng, (1, 4, 5, 2), np.dtype("f4"))
    if padding == "zeros":
        grid = np.clip(np.nan_to_num(grid), -0.5, 0.5)
    data = np.full((1, 1, 3, 4), 0.1, np.float32)
    assert (grid_sample(data, grid, mode=mode, padding=padding) == np.float32(0.1)).all()


@pytest.mark.parametrize("g", [math.nan, math.inf, -math.inf, 1e20, -1e300])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", PADDINGS)
def test_a_coordinate_without_position_counts_as_minus_one(g, align_corners, mode, padding):
    data = np.arange(1.0, 7).reshape(1, 1, 2, 3)
    options = {"mode": mode, "padding": padding, "align_corners": align_corners}
    got = grid_sample(data, [[[[g, 0.25], [0.25, g]]]], **options)
    want = grid_sample(data, [[[[-1, 0.25], [0.25, -1]]]], **options)
    assert strategies.same_bits(got, want)


@pytest.mark.parametrize("align_corners", [False, True])
def test_a_single_sample_is_everywhere(align_corners):
    data = np.full((1, 1, 1, 1), 7.0)
    grid = np.array([[[[0.5, -3.0], [math.inf, 0.0], [1e10, -1e10]]]])
    for padding in ("border", "reflection"):
        got = grid_sample(data, grid, padding=padding, align_corners=align_corners)
        assert (got == 7).all()


@pytest.mark.parametrize(
    ("align_corners", "x", "want"),
    # (x_image + 0.5) / 4 * 2 - 1 for image positions -1, -4.25, 4, 11.5 and so on
    [
        (False, -1.0, 0.0),
        (False, -4.25, 3.0),
        (False, 4.0, 3.0),
        (False, 7.25, 0.0),
        (True, -1.0, 1.0),
        (True, -4.25, 1.75),
        (True, 4.0, 2.0),
        (True, 7.25, 1.25),
    ],
)
def test_reflection_by_hand(align_corners, x, want):
    data = np.arange(4.0).reshape(1, 1, 4)
    g = 2 * x / 3 - 1 if align_corners else (2 * x + 1) / 4 - 1
    got = grid_sample(data, [[[g]]], padding="reflection", align_corners=align_corners)
    assert got.item() == pytest.approx(want, abs=1e-14)


def test_positions_are_exact_where_float32_is_not():
    """3000 samples, the tie between 2047 and 2048 missed by the rounding of float32 arithmetic."""
    n = 3001
    data = np.arange(n, dtype=np.int64).reshape(1, 1, n)
    grid = (np.arange(-4000, 4000, dtype=np.float32) / np.float32(4000)).reshape(1, -1, 1)
    got = grid_sample(data, grid, mode="nearest", padding="border").ravel()
    want = [min(max(round((Fraction(float(g)) * n + n - 1) / 2), 0), n - 1) for g in grid.ravel()]
    assert got.tolist() == want


def test_wide_grids_of_broadcast_data_read_nothing_else():
    data = np.broadcast_to(np.float32(2), (1, 1, 2**30, 2**30))
    grid = np.array([[[[0.3, -0.7], [-1, 1], [1e9, 0]]]])
    assert grid_sample(data, grid, padding="border").ravel().tolist() == [2, 2, 2]
    cubic = grid_sample(data, grid, mode="cubic", padding="reflection").ravel()
    assert cubic == pytest.approx([2, 2, 2], rel=2**-22)


def test_kinds_of_arrays_and_lists():
    result = grid_sample([[[1.0, 3.0]]], [[[0.0]]])
    assert isinstance(result, np.ndarray)
    assert result.tolist() == [[[2.0]]]


def test_plan():
    plan = GridSamplePlan((2, 3, 4, 5), "f4", (2, 6, 7, 2), "f8", mode="cubic", padding="border")
    assert plan.output_shape == (2, 3, 6, 7)
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    assert hash(again) == hash(plan)
    assert again != GridSamplePlan((2, 3, 4, 5), "f4", (2, 6, 7, 2), "f8")
    assert plan.explain().splitlines() == [
        "GridSamplePlan cubic float32 (2, 3, 4, 5) at (2, 6, 7, 2) -> (2, 3, 6, 7)",
        "axis 2: 4 samples, x = (grid[..., 1] * 4 + 3) / 2",
        "axis 3: 5 samples, x = (grid[..., 0] * 5 + 4) / 2",
        "samples outside are those at the border",
        "cubic in float32, along axes (3, 2) in this order",
    ]
    nearest = GridSamplePlan((1, 1, 2), "i8", (1, 3, 1), "f4", mode="nearest", align_corners=True)
    assert nearest.explain().splitlines()[1:] == [
        "axis 2: 2 samples, x = (grid[..., 0] * 1 + 1) / 2",
        "samples outside are zero",
        "nearest sample, ties to even; moves 8 bytes per item",
    ]
    data, grid = np.ones((2, 3, 4, 5), "f4"), np.zeros((2, 6, 7, 2))
    assert (plan(data, grid) == 1).all()
    with pytest.raises(
        TypeError, match=r"^grid_sample: `data` must have the plan's dtype float32, got float64$"
    ):
        plan(data.astype("f8"), grid)
    with pytest.raises(
        ValueError, match=r"^grid_sample: `grid` must have the plan's shape .*, got \(1, 6, 7, 2\)$"
    ):
        plan(data, grid[:1])


X = np.zeros((2, 1, 4, 5), np.float32)
G = np.zeros((2, 3, 3, 2), np.float32)


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "text"),
    [
        (
            (X, G),
            {"mode": "bilinear"},
            ValueError,
            "`mode` must be one of 'linear', 'nearest', 'cubic', got 'bilinear' (did you mean 'linear'?)",
        ),
        (
            (X, G),
            {"mode": ["linear"]},
            ValueError,
            "`mode` must be one of 'linear', 'nearest', 'cubic', got ['linear']",
        ),
        (
            (X, G),
            {"padding": "edge"},
            ValueError,
            "`padding` must be one of 'zeros', 'border', 'reflection', got 'edge'",
        ),
        ((X, G), {"align_corners": 1}, TypeError, "`align_corners` must be True or False, got 1"),
        (
            (X.astype(int), G),
            {},
            TypeError,
            "`data` must have one of the dtypes float16, bfloat16, float32, float64 for mode 'linear' "
            "('nearest' takes every dtype), got int64",
        ),
        (
            (X, G.astype(bool)),
            {},
            TypeError,
            "`grid` must have one of the dtypes float16, bfloat16, float32, float64, got bool",
        ),
        (
            (X.astype(object), G),
            {"mode": "nearest"},
            TypeError,
            "`data` must have a dtype of fixed size without Python objects, got object",
        ),
        (
            (X[0, 0], G),
            {},
            ValueError,
            "`data` must have 3 to 7 axes (batch, channel and 1 to 5 to sample), got 2",
        ),
        ((X, G[0]), {}, ValueError, "`grid` must have 4 axes, as `data` has, got 3"),
        ((X, G[:1]), {}, ValueError, "`grid` must have size 2 on axis 0, as `data`, got 1"),
        (
            (X, G[..., :1]),
            {},
            ValueError,
            "`grid` must have size 2 on its last axis, one for each sampled axis of `data`, got 1",
        ),
        ((X[:, :, :0], G), {}, ValueError, "`data` must have 1 to 1073741824 samples on axis 2, got 0"),
        ((X, G), {"out": np.zeros((2, 1, 3, 3))}, TypeError, "`out` must have dtype float32, got float64"),
        ((X, G), {"out": X}, ValueError, "`out` must have shape (2, 1, 3, 3), got (2, 1, 4, 5)"),
    ],
)
def test_errors(arguments, options, kind, text):
    with pytest.raises(kind) as caught:
        grid_sample(*arguments, **options)
    assert str(caught.value) == f"grid_sample: {text}"


def test_out_must_not_overlap():
    data = np.zeros((1, 1, 3, 3), np.float32)
    with pytest.raises(
        ValueError, match=r"^grid_sample: `out` must not overlap an input, got an array that does$"
    ):
        grid_sample(data, np.zeros((1, 3, 3, 2)), out=data)


def test_too_long_an_axis():
    data = np.broadcast_to(np.float32(0), (1, 1, 2**30 + 1))
    with pytest.raises(
        ValueError, match=r"`data` must have 1 to 1073741824 samples on axis 2, got 1073741825"
    ):
        grid_sample(data, [[[0.0]]])


def test_empty_results_need_no_samples():
    assert grid_sample(np.zeros((0, 2, 0)), np.zeros((0, 5, 1))).shape == (0, 2, 5)
    assert grid_sample(np.zeros((1, 2, 0)), np.zeros((1, 0, 1))).shape == (1, 2, 0)


def test_the_core_checks_what_it_is_given():
    axis = _core.SampleAxis(4, 4.0, 3.0, -0.5, 3.5)
    with pytest.raises(ValueError, match="1 to 5 axes"):
        _core.Sample(1, 0, 10, 10, [])
    with pytest.raises(ValueError, match="no such mode"):
        _core.Sample(3, 0, 10, 10, [axis])
    with pytest.raises(ValueError, match="type must be of floats"):
        _core.Sample(1, 0, 0, 10, [axis])
    with pytest.raises(ValueError, match="1 to 2"):
        _core.Sample(1, 0, 10, 10, [_core.SampleAxis(0, 4.0, 3.0, -0.5, 3.5)])
    run = _core.Sample(1, 0, 10, 10, [axis])
    data, grid, out = (np.zeros(s, np.float32) for s in ((1, 2, 4), (1, 3, 1), (1, 2, 3)))
    run(data, grid, None, out)
    for wrong in (
        (data[..., :3], grid, None, out),
        (data, grid[:, :2], None, out),
        (data, grid, None, out[:, :1]),
        (data.astype("f8"), grid, None, out),
        (data, grid.astype("f8"), None, out),
        (data, grid[..., 0], None, out),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            run(*wrong)
    with pytest.raises(ValueError, match="one value for each grid"):
        run(data, grid, np.zeros(2, np.int64), out)
    for batch in (-1, 1):
        with pytest.raises(IndexError, match="no such batch"):
            run(data, grid, np.array([batch]), out)


def test_public_names():
    names = {"affine_grid", "crop_and_resize", "grid_sample", "roi_align", "tensor_scatter", "GridSamplePlan"}
    assert names <= set(remapnd.__all__)


def test_plans_refuse_what_is_no_dtype():
    with pytest.raises(TypeError, match=r"^grid_sample: `data_dtype` must be a dtype, got \(1, 2, 1\)$"):
        GridSamplePlan((1, 1, 4), (1, 2, 1), (1, 2, 1), "f4")
    with pytest.raises(TypeError, match=r"^grid_sample: `grid_dtype` must be a dtype, got None$"):
        GridSamplePlan((1, 1, 4), "f4", (1, 2, 1), None)
