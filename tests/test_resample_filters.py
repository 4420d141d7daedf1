"""Cubic, box, Lanczos and antialiasing: plans against the reference, the reference against fractions."""

import itertools
import math
import pickle
from fractions import Fraction as F

import ml_dtypes
import numpy as np
import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from strategies import belonging, laid_out, same_bits

from remapnd import ResamplePlan, _core, describe, reference, reference_resample, resize
from remapnd.coordinates import COORDINATE_MODES, CROP, AxisMap, coordinate_map
from remapnd.filter_taps import FilterTable, filter_table
from remapnd.filters import Filter, FilterOptions, choose
from remapnd.plans import arithmetic, exact

INTEGERS = [np.dtype(d) for d in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8")]
FLOATS = [np.dtype(d) for d in ("f2", ml_dtypes.bfloat16, "f4", "f8", "c8", "c16")]
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 3e38, -3e38], np.float64)
ROUND = {"half_up": lambda v: math.floor(v + F(1, 2)), "half_even": round, "truncate": math.trunc}


def numbers(shape, dtype, seed):
    """Values of all magnitudes: integers equal, near the limits or anywhere, floats that are not finite."""
    rng = np.random.default_rng(seed)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        kind = rng.integers(4)
        if kind == 0:
            return rng.integers(0, 3, shape).astype(dtype)
        if kind == 1:
            return rng.choice(np.array([limits.min, limits.max], dtype), shape)
        if kind == 2:
            return dtype.type(limits.max) - rng.integers(0, 100, shape).astype(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
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


def by_reference(plan, data, **options):
    n_outs = [plan.output_shape[axis] for axis in plan.axes]
    names = ("mode", "antialias", "cubic_coefficient", "exclude_outside", "integer_rule", "scales")
    options |= {name: getattr(plan, name) for name in names}
    return reference.resample(data, plan.maps, n_outs, plan.axes, **options)


modes = st.sampled_from(
    [
        ("linear", "pillow"),
        ("linear", "onnx"),
        ("linear", "directml"),
        *itertools.product(("cubic", "box", "lanczos3"), (None, "pillow", "onnx")),
    ]
)
scales = st.one_of(st.fractions(F(1, 9), 4, max_denominator=12), st.floats(0.12, 4))


@st.composite
def plans(draw, dtypes, largest=(60, 13, 6)):
    rank = draw(st.integers(1, 3))
    shape = draw(st.lists(st.integers(1, largest[rank - 1]), min_size=rank, max_size=rank))
    if draw(st.booleans()):
        shape[-1] = draw(st.sampled_from([1, 2, 3, 4, 33]))
    axes = sorted(draw(st.sets(st.integers(0, rank - 1), min_size=1)))
    outs = [draw(st.integers(1, largest[rank - 1])) for _ in axes]
    mode, antialias = draw(modes)
    options = belonging(
        {
            "axes": axes,
            "mode": mode,
            "antialias": antialias,
            "cubic_coefficient": draw(st.sampled_from([-0.75, -0.5, F(1, 3), 0.1])),
            "exclude_outside": draw(st.booleans()),
            "integer_rule": draw(st.sampled_from(reference.INTEGER_RULES)),
        }
    )
    dtype = draw(st.sampled_from(dtypes))
    if draw(st.booleans()):
        options["coordinates"] = draw(st.sampled_from(COORDINATE_MODES))
        return ResamplePlan.resized(shape, dtype, outs, **options)
    if draw(st.booleans()):
        options["scales"] = [draw(scales) for _ in axes]
        options["input_offsets"] = draw(st.sampled_from([0.5, 0, -1.3, F(1, 3), 20]))
    return ResamplePlan(shape, dtype, shape=outs, **options)


layouts = st.sampled_from(["C", "F", "negative", "strided", "read_only", "unaligned"])


@settings(max_examples=150, deadline=None)
@given(plans(INTEGERS + FLOATS), st.integers(0, 10**6), layouts)
def test_plans_have_the_bits_of_the_reference(plan, seed, layout):
    data = laid_out(numbers(plan.data_shape, plan.dtype, seed), layout)
    expected = by_reference(plan, data)
    for level in _core.levels_usable():
        _core.use_level(level)
        for threads in (1, 3):
            _core.set_num_threads(threads)
            assert same_bits(plan(data), expected), (level, threads)


def exact_result(data, plan):
    """The tensor product in fractions."""
    options = FilterOptions(plan.mode, plan.antialias, plan.cubic_coefficient, plan.exclude_outside)
    rows = [[{k: F(1)} for k in range(n)] for n in data.shape]
    for axis, map, scale in zip(plan.axes, plan.maps, plan.scales, strict=True):
        filter = choose(options, scale) or Filter("triangle")
        rows[axis] = []
        for x in map.positions(plan.output_shape[axis]):
            start, numerators, denominator = filter.weights_at(x, data.shape[axis])
            rows[axis].append({start + k: F(v, denominator) for k, v in enumerate(numerators)})
    result = np.empty(plan.output_shape, object)
    for output in np.ndindex(result.shape):
        taps = [row[k].items() for row, k in zip(rows, output, strict=True)]
        result[output] = sum(
            math.prod(w for _, w in corner) * F(data[tuple(k for k, _ in corner)].item())
            for corner in itertools.product(*taps)
        )
    return result


@settings(max_examples=80, deadline=None)
@given(plans(INTEGERS, (12, 4, 3)), st.integers(0, 10**6))
def test_integers_are_the_rounded_fraction_in_the_range_of_the_dtype(plan, seed):
    data = numbers(plan.data_shape, plan.dtype, seed)
    limits = np.iinfo(plan.dtype)
    expected = [
        min(max(ROUND[plan.integer_rule](v), limits.min), limits.max) for v in exact_result(data, plan).flat
    ]
    expected = np.array(expected, object).reshape(plan.output_shape).astype(plan.dtype)
    assert_array_equal(by_reference(plan, data), expected, strict=True)
    assert_array_equal(plan(data), expected, strict=True)


@settings(max_examples=50, deadline=None)
@given(plans([np.dtype("f4"), np.dtype("f8")], (12, 4, 3)), st.integers(0, 10**6))
def test_floats_are_near_the_fraction(plan, seed):
    data = np.random.default_rng(seed).uniform(-1, 1, plan.data_shape).astype(plan.dtype)
    got, exact = plan(data), exact_result(data, plan)
    assert max(abs(F(float(a)) - b) for a, b in zip(got.flat, exact.flat, strict=True)) < 400 * F(
        float(np.finfo(plan.dtype).eps)
    )


@settings(max_examples=80, deadline=None)
@given(plans(INTEGERS + FLOATS), st.integers(0, 10**6))
def test_constants_come_out_exactly(plan, seed):
    value = numbers((1,), plan.dtype, seed)
    data = np.broadcast_to(value, plan.data_shape).copy()
    if plan.dtype.kind in "iu":
        assert (plan(data) == value).all()
        return
    value[np.isnan(value.real) | np.isnan(value.imag)] = 1
    value[~np.isfinite(value.astype(complex))] = 2
    assert_array_equal(plan(np.full(plan.data_shape, value)), np.full(plan.output_shape, value), strict=True)


def test_infinities_reach_only_what_has_a_weight_on_them():
    data = np.zeros(12, np.float32)
    data[4] = np.inf
    result = resize(data, 24, mode="cubic")
    assert np.isinf(result).tolist() == [5 <= k <= 12 for k in range(24)]
    assert np.signbit(result[np.isinf(result)]).tolist() == [
        True,
        True,
        False,
        False,
        False,
        False,
        True,
        True,
    ]
    data[7] = np.nan
    assert np.isnan(resize(data, 6, mode="box", antialias="pillow")).tolist() == [0, 0, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("mode", "filter"),
    [
        ("linear", PIL.Image.Resampling.BILINEAR),
        ("cubic", PIL.Image.Resampling.BICUBIC),
        ("lanczos3", PIL.Image.Resampling.LANCZOS),
        ("box", PIL.Image.Resampling.BOX),
    ],
)
def test_pillow_has_the_same_windows(mode, filter):
    """Pillow decides in float64 whether a tap at the very edge of a box is in; such samples are left out."""
    rng = np.random.default_rng(1)
    for n, m in itertools.product((1, 2, 3, 5, 8, 13, 20, 31), (1, 2, 3, 7, 12, 20, 45)):
        data = rng.standard_normal((1, n)).astype(np.float32)
        expected = np.asarray(PIL.Image.fromarray(data).resize((m, 1), filter))
        options = belonging({"mode": mode, "antialias": "pillow", "cubic_coefficient": -0.5})
        got = resize(data, m, axes=1, **options)
        reach = max(F(1), F(n, m)) / 2
        positions = coordinate_map("half_pixel", n, m).positions(m)
        clear = [1 not in ((x + reach).denominator, (x - reach).denominator) for x in positions]
        compared = slice(None) if mode != "box" else np.array(clear)
        assert np.abs(got - expected)[:, compared].max(initial=0) < 2e-6, (n, m)


def test_every_arithmetic_of_integers_is_used():
    used = set()
    for dtype, shape, outs, options in (
        ("u1", (30, 30), (20, 20), {}),
        ("u1", (1080, 1920), (224, 225), {}),
        ("u2", (1080, 1920), (224, 225), {}),
        ("u1", (50, 60), (31, 64), {}),
        ("u1", (90, 90), (31, 32), {"mode": "lanczos3"}),
        ("i2", (30,), (20,), {"mode": "cubic"}),
        ("i4", (30,), (20,), {"mode": "lanczos3"}),
    ):
        plan = ResamplePlan(shape, dtype, shape=outs, antialias="pillow", **options)
        chosen = plan._method.arithmetic
        used.add((chosen.working, chosen.bound > 0, chosen.fine_bound > 0))
    assert used == {
        ("float32", False, False),
        ("float32", True, True),
        ("float64", False, False),
        ("float64", True, False),
    }


@pytest.mark.parametrize("rule", reference.INTEGER_RULES)
@pytest.mark.parametrize("options", [{}, {"mode": "lanczos3"}, {"mode": "cubic", "cubic_coefficient": -1}])
def test_results_in_doubt_are_decided_exactly(rule, options):
    """Many ties: blocks of two values in a plan that looks twice."""
    rng = np.random.default_rng(5)
    plan = ResamplePlan((64, 90), "u1", shape=(27, 31), antialias="pillow", integer_rule=rule, **options)
    assert plan._method.arithmetic.fine_bound > 0
    for data in (
        rng.choice(np.array([0, 1], np.uint8), (64, 90)),
        rng.choice(np.array([7, 8], np.uint8), (64, 1)).repeat(90, 1),
        rng.integers(0, 256, (64, 90), np.uint8),
    ):
        assert_array_equal(plan(data), by_reference(plan, data))


@pytest.mark.parametrize("rule", reference.INTEGER_RULES)
@pytest.mark.parametrize("dtype", ["u1", "i1"])
@pytest.mark.parametrize("options", [{}, {"mode": "cubic"}, {"mode": "box"}])
def test_ties_of_a_known_grid_need_no_exact_arithmetic(rule, dtype, options, monkeypatch):
    plan = ResamplePlan((64, 90), dtype, shape=(30, 42), antialias="pillow", integer_rule=rule, **options)
    rows, columns = np.mgrid[0:64, 0:90]
    images = [((columns // 4 + rows // 4) % 2 + low).astype(dtype) for low in (0, 7)]
    images += [(columns - 60).astype(dtype), (2 * rows - columns).astype(dtype)]
    expected = [by_reference(plan, data) for data in images]
    monkeypatch.setattr(exact, "fill", None)
    for data, right in zip(images, expected, strict=True):
        assert_array_equal(plan(data), right)
    if not options:
        assert plan._method.arithmetic.ties
        in_floats = resize(images[0].astype(np.float64), (30, 42), antialias="pillow")
        assert np.isclose(in_floats % 1, 0.5, atol=1e-9).any()


@pytest.mark.parametrize("dtype", ["i2", "u4"])
def test_constants_that_float64_leaves_in_doubt(dtype):
    # Whether all taps are equal is asked of filters that have no weights for a second look.
    plan = ResamplePlan(
        (9, 11), dtype, shape=(4, 13), mode="lanczos3", antialias="pillow", integer_rule="truncate"
    )
    assert plan._method.arithmetic.working == "float64"
    assert plan._method.arithmetic.bound > 0
    data = np.full((9, 11), 7, dtype)
    assert_array_equal(plan(data), np.full((4, 13), 7, dtype))


@pytest.mark.parametrize("rule", reference.INTEGER_RULES)
@pytest.mark.parametrize("base", [0, 2**49, 2**52, 2**62, -(2**50), -(2**62), 2**63 - 2**12, -(2**63)])
def test_64_bit_integers_of_any_range(base, rule):
    rng = np.random.default_rng(base % 97)
    plan = ResamplePlan((40,), "i8", shape=29, mode="cubic", integer_rule=rule)
    for spread in (2, 2**11, 2**49, 2**53):
        low, high = max(base - spread, -(2**63)), min(base + spread, 2**63 - 1)
        data = rng.integers(low, high, 40, endpoint=True)
        data[:2] = low, high
        assert_array_equal(plan(data), by_reference(plan, data))
        wide = data.astype(np.uint64)
        unsigned = ResamplePlan((40,), "u8", shape=29, mode="cubic", integer_rule=rule)
        assert_array_equal(unsigned(wide), by_reference(unsigned, wide))


def test_overshoot_is_clamped():
    step = np.repeat(np.array([0, 255], np.uint8), 8)
    result = resize(step, 64, mode="cubic").astype(int)
    exact = resize(step.astype(np.int32), 64, mode="cubic")
    assert exact.min() < 0
    assert exact.max() > 255
    assert_array_equal(result, np.clip(exact, 0, 255))
    signed = np.repeat(np.array([-(2**63), 2**63 - 1]), 4)
    result = resize(signed, 32, mode="lanczos3")
    assert result.min() == -(2**63)
    assert result.max() == 2**63 - 1
    assert (np.diff(result[12:20].astype(object)) >= 0).all()


def test_the_bound_of_the_error_holds_where_it_is_largest():
    """Alternating extremes along a long filter: errors of float32 stay within what the plan allows."""
    filter = Filter("lanczos3", F(40), "drop")
    table = filter_table(coordinate_map("half_pixel", 4000, 100), 4000, 100, filter, np.float32)
    bound = arithmetic._error(2.0**-24, [table], 255)
    data = np.random.default_rng(2).choice(np.array([0.0, 255.0], np.float32), 4000)
    got = reference_resample._filtered(data, 0, table)
    indices, numerators, denominators = table.exact(np.arange(100))
    for output in range(100):
        weighted = zip(numerators[output].tolist(), data[indices[output]].tolist(), strict=True)
        exact = F(sum(v * int(x) for v, x in weighted), int(denominators[output]))
        assert abs(F(float(got[output])) - exact) < bound


def test_mixed_axes_up_and_down():
    data = np.random.default_rng(0).standard_normal((9, 20, 5)).astype(np.float32)
    plan = ResamplePlan(data.shape, "f4", shape=(18, 7, 5), antialias="pillow")
    assert same_bits(plan(data), by_reference(plan, data))
    taller = resize(data, 18, axes=0)
    assert np.allclose(plan(data), resize(taller, 7, axes=1, antialias="pillow"), atol=1e-6)
    assert [type(plan._tables[axis]) is FilterTable for axis in plan._tables] == [False, True]


def test_linear_that_is_not_stretched_keeps_its_bits():
    data = np.random.default_rng(0).standard_normal((7, 8)).astype(np.float32)
    assert same_bits(resize(data, (9, 21), antialias="onnx"), resize(data, (9, 21)))


def test_align_corners_stretches_by_the_scale():
    data = np.arange(4.0)
    map = coordinate_map("align_corners", 4, 2)
    by_scale = [F(v, Filter("triangle", F(2)).weights_at(map.at(1), 4)[2]) for v in (1, 3)]
    assert (
        resize(data, 2, coordinates="align_corners", antialias="onnx")[1] == by_scale[0] * 2 + by_scale[1] * 3
    )


@pytest.mark.parametrize("antialias", [None, "pillow"])
@pytest.mark.parametrize("mode", ["linear", "cubic", "box", "lanczos3"])
@pytest.mark.parametrize("scale", [1e300, 3e38, 5e-324, F(1, 10**5000), 1e-9])
def test_extreme_scales(scale, mode, antialias):
    for dtype in ("f4", "u1", "i8"):
        plan = ResamplePlan((5,), dtype, scales=scale, shape=4, mode=mode, antialias=antialias)
        data = np.array([3, 1, 4, 1, 5], dtype)
        assert same_bits(plan(data), by_reference(plan, data))


# Crops.


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 9),
    st.integers(1, 12),
    st.tuples(st.floats(-2, 2), st.floats(-2, 2)),
    st.sampled_from(["nearest", "linear", "cubic"]),
    st.sampled_from(["u1", "f4", "c8", "i8"]),
)
def test_crops_and_extrapolation(n, m, roi, mode, dtype):
    data = numbers((n, 2), np.dtype(dtype), 5)
    options = {"coordinates": CROP, "roi": roi, "mode": mode}
    plan = ResamplePlan.resized((n, 2), dtype, m, axes=0, extrapolation_value=77, **options)
    map = coordinate_map(CROP, n, m, roi=roi)
    assert map.at(0) == (F(roi[0]) if m > 1 else (F(roi[0]) + F(roi[1])) / 2) * (n - 1)
    assert map.at(m - 1) == (F(roi[1]) * (n - 1) if m > 1 else map.at(0))
    expected = by_reference(plan, data, extrapolation_value=77)
    assert same_bits(plan(data), expected)
    outside = [not 0 <= x <= n - 1 for x in map.positions(m)]
    assert (expected[np.array(outside, bool)] == 77).all()
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    assert same_bits(again(data), expected)
    assert same_bits(resize(data, m, axes=0, extrapolation_value=77, **options), expected)


@settings(max_examples=100, deadline=None)
@given(
    st.fractions(-5, 9, max_denominator=4),
    st.fractions(-3, 3, max_denominator=4),
    st.integers(1, 6),
    st.integers(1, 9),
)
def test_inside(start, step, n, m):
    map = AxisMap(start, step)
    begin, end = map.inside(n, m)
    assert [begin <= k < end for k in range(m)] == [0 <= x <= n - 1 for x in map.positions(m)]


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("f4", [0.0, -0.0]),
        ("f8", [np.float64(0.0), np.float64(-0.0)]),
        ("c8", [0j, complex(0.0, -0.0), complex(-0.0, 0.0)]),
        (ml_dtypes.bfloat16, [ml_dtypes.bfloat16(0.0), ml_dtypes.bfloat16(-0.0)]),
    ],
)
def test_extrapolation_keeps_the_sign_of_zero(dtype, values):
    data = np.ones(2, dtype)
    for value in values * 2:
        got = resize(data, 3, coordinates=CROP, roi=(-1, 1), extrapolation_value=value)
        assert same_bits(got, np.array([value, 1, 1], dtype))


def test_extrapolation_of_any_dtype():
    words = np.array(["a", "b"])
    options = {"coordinates": CROP, "roi": (-1, 1), "mode": "nearest"}
    assert resize(words, 3, extrapolation_value="z", **options).tolist() == ["z", "a", "b"]
    assert resize(np.array([True, True]), 3, **options).tolist() == [False, True, True]
    swapped = resize(np.array([1, 2], ">i4"), 3, extrapolation_value=-5, **options)
    assert swapped.tolist() == [-5, 1, 2]
    days = resize(
        np.array(["2020-01-02"] * 2, "M8[D]"), 3, extrapolation_value=np.datetime64("NaT"), **options
    )
    assert np.isnat(days).tolist() == [True, False, False]
    image = np.ones((2, 2), np.float32)
    both = resize(image, (3, 3), coordinates=CROP, roi=(0, 0, 1, 2), extrapolation_value=np.nan)
    assert_array_equal(np.isnan(both), [[False, False, True]] * 3)


# Options.


def test_plans_are_compared_pickled_and_explained():
    options = {"antialias": "pillow", "mode": "cubic", "cubic_coefficient": -0.5}
    plan = ResamplePlan((9, 6), "u1", shape=(4, 6), **options)
    assert plan == ResamplePlan((9, 6), np.uint8, scales=(F(4, 9), 1), shape=(4, 6), **options)
    for other in (
        {"antialias": "onnx"},
        {"mode": "box", "cubic_coefficient": -0.75},
        {"cubic_coefficient": -0.75},
        {"exclude_outside": True},
    ):
        assert plan != ResamplePlan((9, 6), "u1", shape=(4, 6), **(options | other))
    data = np.random.default_rng(0).integers(0, 256, (9, 6), np.uint8)
    assert_array_equal(pickle.loads(pickle.dumps(plan))(data), plan(data))
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert repr(plan) == "<ResamplePlan cubic antialias=pillow uint8 (9, 6) -> (4, 6) on axes (0, 1)>"
    triangle = ResamplePlan((8,), "f4", shape=3, antialias="onnx")
    assert triangle.explain().splitlines() == [
        "ResamplePlan linear antialias=onnx float32 (8,) -> (3,) on axes (0,)",
        "axis 0: 8 -> 3, x = 5/6 + X * 8/3",
        "    triangle stretched by 8/3, taps outside are taken from the edge samples, up to 6 taps",
        "    X = 0: samples 0 to 3, weights 16/43, 15/43, 9/43, 3/43",
        "    X = 1: samples 1 to 6, weights 1/42, 1/6, 13/42, 13/42, 1/6, 1/42",
        "    X = 2: samples 4 to 7, weights 3/43, 9/43, 15/43, 16/43",
        "computed in float32, along axes (0,) in this order",
    ]
    lanczos = ResamplePlan((8,), "f4", shape=4, mode="lanczos3", antialias="pillow").explain().splitlines()
    assert lanczos[3].startswith("    X = 0: samples 0 to 6, weights 0.4")
    assert max(map(len, lanczos)) < 140
    crop = ResamplePlan.resized((4,), "f4", 2, coordinates=CROP, roi=(0, 2), extrapolation_value=1.5)
    assert "positions outside [0, n - 1]: 1.5" in crop.explain()


def test_describe():
    assert describe("align_corners", 4, 3).splitlines() == [
        "X    x       half_up  half_down  floor  ceil",
        "0    0    0        0          0      0     0",
        "1  3/2  1.5        2          1      1     2",
        "2    3    3        3          3      3     3",
    ]
    assert "-1/4" in describe("half_pixel", 4, 8)
    assert describe("half_pixel", 4, 8, scale=1).splitlines()[-1].split() == [
        "7",
        "7",
        "7",
        "3",
        "3",
        "3",
        "3",
    ]
    assert describe(CROP, 5, 2, roi=(0.5, 1)).splitlines()[1].split()[:2] == ["0", "2"]


def test_describe_positions_beyond_floats():
    last = describe("asymmetric", 4, 4, scale=F(1, 5 * 10**400)).splitlines()[-1].split()
    assert last == ["3", "15" + 400 * "0", "1.5e+401", "3", "3", "3", "3"]
    last = describe(CROP, 4, 2, roi=(0, F(-(10**5000), 9))).splitlines()[-1]
    assert "  -3.33333e+4999  " in last
