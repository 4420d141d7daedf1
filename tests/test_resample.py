"""resample and resize against the reference: equal bits, on every level, thread count and layout."""

import ctypes.util
import pickle
import platform
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    LAYOUTS,
    MOVABLE_DTYPES,
    belonging,
    laid_out,
    random_array,
    result_arrays,
    same_bits,
    sparse_view,
)

import remapnd
from remapnd import ResamplePlan, _core, reference, resample, resize
from remapnd.coordinates import COORDINATE_MODES
from remapnd.plans.arithmetic import _division
from remapnd.taps import NEAREST_RULES

INTEGERS = [np.dtype(d) for d in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8")]
FLOATS = [np.dtype(d) for d in ("f2", ml_dtypes.bfloat16, "f4", "f8", "c8", "c16")]
SAME_ORDER = [layout for layout in LAYOUTS if layout != "swapped"]
LEVELS = _core.levels_usable()
DOWNWARD = {"x86_64": 0x400, "aarch64": 0x800000}  # FE_DOWNWARD
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 3e38, -3e38], np.float64)


def numbers(shape, dtype, seed):
    """Values of all magnitudes; some floats are not finite, some integers are equal or near the limits."""
    rng = np.random.default_rng(seed)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        kind = rng.integers(4)
        if kind == 0:
            return rng.integers(0, 3, shape).astype(dtype)
        if kind == 1:
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


def by_reference(plan, data):
    n_outs = [plan.output_shape[axis] for axis in plan.axes]
    options = {"mode": plan.mode, "nearest_rule": plan.nearest_rule, "integer_rule": plan.integer_rule}
    return reference.resample(data, plan.maps, n_outs, plan.axes, **options)


scales = st.one_of(
    st.fractions(Fraction(1, 12), 12, max_denominator=12),
    st.floats(0.05, 20),
    st.floats(0.0625, 20, width=32).map(np.float32),
)


@st.composite
def plans(draw, dtypes, modes):
    rank = draw(st.integers(1, 4))
    most = {1: 70, 2: 17, 3: 8, 4: 5}[rank]
    shape = draw(st.lists(st.integers(1, most), min_size=rank, max_size=rank))
    if draw(st.booleans()):
        shape[-1] = draw(st.sampled_from([1, 2, 3, 4, 5, 33, 40]))
    axes = sorted(draw(st.sets(st.integers(0, rank - 1), min_size=1)))
    outs = [draw(st.integers(1, 2 * most)) for _ in axes]
    dtype = draw(st.sampled_from(dtypes))
    options = belonging(
        {
            "axes": axes,
            "mode": draw(st.sampled_from(modes)),
            "nearest_rule": draw(st.sampled_from(NEAREST_RULES)),
            "integer_rule": draw(st.sampled_from(reference.INTEGER_RULES)),
        }
    )
    if draw(st.booleans()):
        options["coordinates"] = draw(st.sampled_from(COORDINATE_MODES))
        return ResamplePlan.resized(shape, dtype, outs, **options)
    if draw(st.booleans()):
        options["scales"] = [draw(scales) for _ in axes]
        options["input_offsets"] = draw(st.sampled_from([0.5, 0, 0.25, -1.3, Fraction(1, 3)]))
        options["output_offsets"] = draw(st.sampled_from([-0.5, 0, 0.5]))
    return ResamplePlan(shape, dtype, shape=outs, **options)


@given(plans(INTEGERS + FLOATS, ["linear"]), st.integers(0, 10**6), st.sampled_from(SAME_ORDER))
def test_linear_has_the_bits_of_the_reference(plan, seed, layout):
    data = laid_out(numbers(plan.data_shape, plan.dtype, seed), layout)
    expected = by_reference(plan, data)
    for level in LEVELS:
        _core.use_level(level)
        for threads in (1, 3):
            _core.set_num_threads(threads)
            assert same_bits(plan(data), expected), (level, threads)


@given(plans(MOVABLE_DTYPES, ["nearest"]), st.integers(0, 10**6), st.sampled_from(SAME_ORDER))
def test_nearest_has_the_bits_of_the_reference(plan, seed, layout):
    data = laid_out(random_array(plan.data_shape, plan.dtype, seed), layout)
    expected = by_reference(plan, data)
    for level in LEVELS:
        _core.use_level(level)
        assert same_bits(plan(data), expected), level


@given(plans(INTEGERS + FLOATS, ["linear", "nearest"]), st.integers(0, 10**6), st.sampled_from(SAME_ORDER))
def test_out_of_any_layout(plan, seed, layout):
    data = numbers(plan.data_shape, plan.dtype, seed)
    out = result_arrays(plan.output_shape, plan.dtype, layout)
    result = plan(data, out=out)
    assert result is out
    assert same_bits(np.array(out), np.array(plan(data)))


@pytest.mark.parametrize("dtype", [d for d in INTEGERS + FLOATS if d.itemsize > 1 and d.kind in "iufc"])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_byte_order_is_kept(dtype, mode):
    data = numbers((9, 8), dtype, 4)
    swapped = data.astype(dtype.newbyteorder())
    result = resize(swapped, (7, 11), mode=mode)
    assert result.dtype == swapped.dtype
    assert same_bits(result.astype(dtype), resize(data, (7, 11), mode=mode))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("shape", "dtype", "outs", "axes"),
    [
        ((300, 200, 3), "u1", (200, 300), (0, 1)),
        ((50, 4001, 3), "u1", (40, 2999), (0, 1)),
        ((8, 9000), "u2", (12, 5000), (0, 1)),
        ((9, 900, 3), "u1", (9, 450), (0, 1)),
        ((9, 900, 3), "u1", (7, 300), (0, 1)),
        ((9, 900, 3), "f4", (7, 450), (0, 1)),
        ((9, 900, 3), "f4", (7, 271), (0, 1)),
        ((40, 50, 60), "f4", (61, 70, 83), (0, 1, 2)),
        ((9, 30, 24, 5), "u1", (17, 39, 31), (0, 1, 2)),
        ((200_000,), "f8", (300_001,), (0,)),
        ((3, 20_000), "f2", (7,), (0,)),
        ((700, 300), "i1", (37, 900), (0, 1)),
    ],
)
def test_sizes_that_are_cut_into_tasks(level, shape, dtype, outs, axes):
    plan = ResamplePlan(shape, dtype, shape=outs, axes=axes)
    data = numbers(shape, np.dtype(dtype), 2)
    one_channel = ResamplePlan((*shape[:-1], 1), dtype, shape=outs, axes=axes) if shape[-1] == 3 else plan
    expected = by_reference(one_channel, data[..., :1] if shape[-1] == 3 else data)
    _core.use_level(level)
    for threads in (1, 2, 3):
        _core.set_num_threads(threads)
        result = plan(data)
        assert same_bits(np.ascontiguousarray(result[..., :1]) if shape[-1] == 3 else result, expected)


def exact_by_fractions(data, n_outs, axes):
    """Half-pixel linear, rounded half up, from nothing but fractions."""
    values = data.astype(object)
    for axis, m in zip(axes, n_outs, strict=True):
        n = data.shape[axis]
        parts = []
        for X in range(m):
            x = (Fraction(X) + Fraction(1, 2)) * Fraction(n, m) - Fraction(1, 2)
            low = x.__floor__()
            w = x - low
            a, b = (min(max(i, 0), n - 1) for i in (low, low + 1))
            parts.append(values.take(a, axis) * (1 - w) + values.take(b, axis) * w)
        values = np.stack(parts, axis)
    return np.vectorize(lambda v: (v + Fraction(1, 2)).__floor__(), otypes=[object])(values).astype(
        data.dtype
    )


@pytest.mark.parametrize("dtype", ["u1", "u2"])
def test_integers_equal_the_exact_rational_result(dtype):
    """A few hundred random shapes and ratios; every pixel, ties included."""
    rng = np.random.default_rng(7)
    limit = np.iinfo(dtype).max
    for case in range(300):
        shape = tuple(rng.integers(1, 14, 2).tolist())
        outs = tuple(rng.integers(1, 14, 2).tolist())
        high = limit if case % 2 else 3
        data = rng.integers(0, high, shape, endpoint=True).astype(dtype)
        wrong = np.count_nonzero(resize(data, outs) != exact_by_fractions(data, outs, (0, 1)))
        assert wrong == 0, (shape, outs)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2"])
@pytest.mark.parametrize("rule", reference.INTEGER_RULES)
def test_every_arithmetic_for_small_integers(dtype, rule):
    """Grids that 16-bit integers, float32, float64 and only exact arithmetic can decide."""
    rng = np.random.default_rng(3)
    limits = np.iinfo(dtype)
    used = set()
    for scale in (
        Fraction(2),
        Fraction(3, 2),
        Fraction(22, 7),
        Fraction(40, 37),
        Fraction(1013, 1009),
        0.3,
        1.02191,
    ):
        for rank in (1, 2, 3):
            shape = {1: (211,), 2: (23, 17), 3: (7, 6, 9)}[rank]
            plan = ResamplePlan(shape, dtype, scales=scale, integer_rule=rule)
            used.add((plan._method.arithmetic.working, plan._method.arithmetic.bound > 0))
            for high in (2, limits.max):
                data = rng.integers(limits.min if high > 2 else 0, high, shape, dtype, endpoint=True)
                assert same_bits(plan(data), by_reference(plan, data))
    assert {("float64", False), ("float64", True)} <= used
    assert (("uint16", False) in used) == (dtype == "u1")


@pytest.mark.parametrize("rule", ["half_up", "truncate"])
def test_division_by_multiplication_is_exact(rule):
    for divisor in range(2, 257):
        d = _division(divisor, rule)
        sums = np.arange(255 * divisor + 1)
        assert d["multiplier"] < 2**16
        assert sums[-1] + d["add"] < 2**16
        quotients = (sums + d["add"]) * d["multiplier"] >> 16 >> d["shift"]
        assert np.array_equal(quotients, (sums + (divisor // 2 if rule == "half_up" else 0)) // divisor)


@pytest.mark.parametrize("rule", reference.INTEGER_RULES)
@pytest.mark.parametrize("base", [0, 2**53 + 1, 2**63 - 2000, -(2**63), -(2**60) + 7])
def test_large_64_bit_integers(base, rule):
    rng = np.random.default_rng(5)
    data = np.array([base + int(v) for v in rng.integers(0, 1000, 60)], np.int64)
    plan = ResamplePlan(data.shape, data.dtype, scales=Fraction(8, 3), integer_rule=rule)
    assert same_bits(plan(data), by_reference(plan, data))
    constant = np.full(10, base, np.int64)
    assert np.array_equal(resample(constant, scales=1.37), np.full(13, base))


def test_64_bit_integers_over_their_whole_range():
    rng = np.random.default_rng(6)
    for dtype in ("i8", "u8"):
        data = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (9, 8), dtype, endpoint=True)
        for scale in (Fraction(5, 4), 0.7):
            plan = ResamplePlan(data.shape, dtype, scales=scale)
            assert same_bits(plan(data), by_reference(plan, data))


def test_half_up_counts_each_pixel_of_the_reported_cases():
    edge = np.array([1, 2], np.uint8)
    assert resize(edge, 4, coordinates="align_corners").tolist() == [1, 1, 2, 2]
    corner = np.zeros((7, 7), np.uint8)
    corner[5:, 5:] = [[128, 129], [129, 129]]
    assert resize(corner, (3, 3))[-1, -1] == 129


@pytest.mark.parametrize(
    ("n", "m", "kwargs", "expected"),
    [
        (20, 6, {}, [1, 5, 8, 11, 15, 18]),
        (20, 6, {"nearest_rule": "half_down"}, [1, 4, 8, 11, 14, 18]),
        (5, 3, {}, [0, 2, 4]),
        (5, 3, {"coordinates": "asymmetric", "nearest_rule": "floor"}, [0, 1, 3]),
        (4, 8, {"nearest_rule": "floor"}, [0, 0, 0, 1, 1, 2, 2, 3]),
    ],
)
def test_nearest_of_the_reported_cases(n, m, kwargs, expected):
    assert resize(np.arange(n), m, mode="nearest", **kwargs).tolist() == expected


def test_scale_and_length_are_two_facts():
    ramp = np.arange(38.0)
    result = resample(ramp, scales=1.02191, shape=38)
    assert result[-1] == pytest.approx(37.5 / 1.02191 - 0.5, rel=2**-52)
    assert resample(ramp, scales=1.02191, shape=38, mode="nearest", nearest_rule="half_down")[23] == 22
    assert not np.array_equal(result, ramp)
    assert np.array_equal(resample(ramp, shape=38), ramp)


def test_linear_of_the_reported_cases():
    ramp = np.arange(4.0)
    assert resize(ramp, 8).tolist() == [0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3]
    for mode, value in (
        ("half_pixel", 4.5),
        ("pytorch_half_pixel", 0),
        ("align_corners", 0),
        ("asymmetric", 0),
    ):
        assert resize(np.arange(10.0), 1, coordinates=mode).tolist() == [value]
    impulse = np.zeros((3, 3))
    impulse[1, 1] = 1
    assert resize(impulse, (6, 6)).sum() == 4
    assert resize(impulse, (6, 6), coordinates="asymmetric").sum() == 4
    assert resize(impulse, (6, 6), coordinates="align_corners").sum() == pytest.approx(5.76, rel=2**-50)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
@pytest.mark.parametrize("shape", [(768, 1024), (110, 72)])
def test_constants_stay_constant(dtype, shape):
    data = np.full(shape, 77, dtype)
    for outs in ((96, 128), (51, 40), (111, 73)):
        assert np.array_equal(resize(data, outs), np.full(outs, 77, dtype))


@pytest.mark.parametrize("value", [np.inf, -np.inf, 3e38, -3e38])
def test_constants_beyond_differences_stay_constant(value):
    data = np.full((5, 4, 3), value, np.float32)
    assert np.array_equal(resize(data, (7, 3, 5)), np.full((7, 3, 5), value, np.float32))


def test_a_tap_of_weight_zero_contributes_nothing():
    data = np.array([1.0, np.nan, 2.0, np.inf])
    assert resample(data, scales=2, input_offsets=0, output_offsets=0).tolist()[0] == 1
    assert resample(data, scales=2, input_offsets=0, output_offsets=0).tolist()[4] == 2


def test_opposite_extremes_do_not_overflow():
    data = np.array([3e38, -3e38], np.float32)
    assert np.isfinite(resize(data, 5)).all()


def test_nan_results_have_one_pattern():
    payload = np.array([0x7FC12345, 0xFFC00001, 0x3F800000], np.uint32).view(np.float32)
    assert set(resize(payload, 6).view(np.uint32)[:4].tolist()) == {0x7FC00000}
    assert same_bits(resize(payload, 3), payload)


def test_more_than_2_31_elements():
    data = sparse_view(np.array(5, np.uint8), (2**33, 3))
    assert resize(data, (4, 2)).tolist() == [[5, 5]] * 4
    assert resize(data, (5,), axes=0, mode="nearest").tolist() == [[5] * 3] * 5
    for value in (5, 2**60 + 1):  # of integers of 64 bits the range matters
        data = np.broadcast_to(np.int64(value), (2**33, 2**20))
        assert resize(data, (2, 3)).tolist() == [[value] * 3] * 2


def test_empty_and_0_d():
    assert resize(np.zeros((0, 4), np.float32), (0, 2)).shape == (0, 2)
    assert resize(np.array(3.0), ()).tolist() == 3.0
    assert resample(np.zeros((3, 0)), scales=2, axes=0).shape == (6, 0)


def test_many_axes():
    data = numbers((2,) * 12, np.dtype("f4"), 1)
    plan = ResamplePlan(data.shape, "f4", shape=(1, 3) * 6)
    assert same_bits(plan(data), by_reference(plan, data))


def test_plans_compare_hash_and_pickle():
    plan = ResamplePlan((4, 5), "u1", scales=1.5)
    same = ResamplePlan((4, 5), np.uint8, scales=Fraction(3, 2), shape=(6, 7))
    other = ResamplePlan((4, 5), "u1", scales=1.5, mode="nearest")
    assert plan == same
    assert hash(plan) == hash(same)
    assert plan != other
    assert plan != "plan"
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    data = numbers((4, 5), np.dtype("u1"), 1)
    assert same_bits(again(data), plan(data))


def test_plan_explains():
    plan = ResamplePlan((480, 640, 3), "u1", shape=(224, 224), axes=(0, 1))
    assert repr(plan) == "<ResamplePlan linear uint8 (480, 640, 3) -> (224, 224, 3) on axes (0, 1)>"
    assert plan.explain().splitlines() == [
        "ResamplePlan linear uint8 (480, 640, 3) -> (224, 224, 3) on axes (0, 1)",
        "axis 0: 480 -> 224, x = 4/7 + X * 15/7, weights are multiples of 1/7",
        "axis 1: 640 -> 224, x = 13/14 + X * 20/7, weights are multiples of 1/14",
        "computed in uint16, along axes (1, 0) in this order",
        "rounded once, exactly, by half_up",
    ]
    nearest = ResamplePlan((4,), "f4", shape=8, mode="nearest")
    assert nearest.explain().splitlines()[-1] == "nearest index by half_up; moves 4 bytes per item"
    copy = ResamplePlan((4,), "f4", shape=4)
    assert copy.explain().splitlines()[-1] == "every output sample is an input sample: a copy"


def test_the_core_verifies_what_memory_safety_rests_on():
    """The core is not public, but no call of it may reach memory that is not the arrays'."""
    tap = np.array([0, 3], np.int64)
    weight = np.array([-0.0, 0.5])
    with pytest.raises(ValueError, match="taps must lie"):
        _core.Nearest([_core.Axis(0, 3, tap, tap, weight)])
    with pytest.raises(ValueError, match="axes must ascend"):
        _core.Nearest([_core.Axis(0, 4, tap, tap, weight), _core.Axis(0, 4, tap, tap, weight)])
    run = _core.Nearest([_core.Axis(0, 4, tap, tap, weight)])
    for data, out in (
        (np.zeros(3), np.zeros(2)),
        (np.zeros(4), np.zeros(3)),
        (np.zeros((4, 2)), np.zeros((2, 3))),
    ):
        with pytest.raises(ValueError, match="shapes do not fit"):
            run(data, out)
    with pytest.raises(ValueError, match="item sizes"):
        run(np.zeros(4), np.zeros(2, "f4"))
    with pytest.raises(TypeError, match="Python objects"):
        run(np.zeros(4, object), np.zeros(2, object))
    linear = _core.Linear(10, 0, False, [_core.Axis(0, 4, tap, tap, weight)], [0])
    unaligned = np.zeros(17, np.uint8)[1:].view(np.float32)
    with pytest.raises(ValueError, match="aligned"):
        linear(unaligned, np.zeros(2, "f4"), _core.Rounding(0), 0.0)
    with pytest.raises(ValueError, match="permutation"):
        _core.Linear(10, 0, False, [_core.Axis(0, 4, tap, tap, weight)], [1])
    with pytest.raises(ValueError, match="no such working type"):
        _core.Linear(10, 1, False, [_core.Axis(0, 4, tap, tap, weight)], [0])
    with pytest.raises(ValueError, match="product of denominators"):
        _core.Linear(0, 2, False, [_core.Axis(0, 4, tap, tap, weight, 300.0)], [0])


@pytest.mark.skipif(platform.machine() not in DOWNWARD, reason="FE_DOWNWARD of this machine is not listed")
def test_another_rounding_mode_changes_no_bit():
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    data = numbers((50, 60), np.dtype("f4"), 3)
    expected = resize(data, (70, 30))
    assert libm.fesetround(DOWNWARD[platform.machine()]) == 0
    try:
        result = resize(data, (70, 30))
    finally:
        libm.fesetround(0)
    assert same_bits(result, expected)


def test_functions_are_plans_that_are_kept():
    assert remapnd.resize(np.arange(4.0), [8]).tolist() == remapnd.resize(np.arange(4.0), (8,)).tolist()
    assert (
        resample(np.arange(4), scales=np.array([2.0])).tolist() == resample(np.arange(4), scales=2).tolist()
    )
    assert resample([1, 3], scales=2).tolist() == [1, 2, 3, 3]
