"""Integers of at most 16 bits computed in the working type uint32: every way of a row is exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remapnd import ResamplePlan, _core, reference, resize
from remapnd.plans.arithmetic import _long_division

LEVELS = _core.levels_usable()
DTYPES = [np.dtype(d) for d in ("u1", "i1", "u2", "i2")]
RULES = reference.INTEGER_RULES
KINDS = ("whole", "limits", "small")

# Shape, resampled axes, their lengths afterwards.
CASES = {
    "halved": ((12, 84), (0, 1), (6, 42)),
    "halved_rows_only": ((12, 84), (0,), (6,)),
    "halved_columns_only": ((5, 84), (1,), (42,)),
    "halved_from_a_column_on": ((9, 61), (0, 1), (4, 30)),
    "four_thirds": ((16, 92), (0, 1), (12, 69)),
    "enlarged": ((9, 40), (0, 1), (13, 77)),
    "enlarged_rows_only": ((9, 40), (0,), (25,)),
    "many_columns_to_few": ((11, 400), (0, 1), (7, 9)),
    "pixels": ((10, 33, 3), (0, 1), (7, 21)),
    "pixels_apart": ((11, 400, 3), (0, 1), (7, 37)),
    "pixels_of_four_apart": ((12, 173, 4), (0, 1), (5, 31)),
    "pixels_apart_and_sums_beyond_32_bits": ((171, 691, 3), (0, 1), (131, 157)),
    "wide_block": ((6, 7, 37), (0, 1), (4, 9)),
    "channels_first": ((2, 11, 40), (1, 2), (8, 27)),
    "volume": ((6, 8, 35), (0, 1, 2), (9, 12, 52)),
    "grid_near_2_15": ((90, 91), (0, 1), (89, 90)),
    "grid_beyond_2_15": ((135, 135), (0, 1), (120, 128)),
    "sums_beyond_32_bits": ((70, 171), (0, 1), (61, 157)),
    "sums_beyond_32_bits_enlarged": ((31, 71), (0, 1), (311, 173)),
    "sums_beyond_32_bits_of_pixels": ((41, 43, 4), (0, 1), (37, 59)),
    "fine_axis": ((5, 4001), (1,), (4003,)),
}


def values(shape, dtype, kind, seed):
    """Numbers of the whole range, both limits alone, or small ones, among which ties are frequent."""
    rng = np.random.default_rng(seed)
    limits = np.iinfo(dtype)
    if kind == "limits":
        return rng.choice(np.array([limits.min, limits.max], dtype), shape)
    low, high = (limits.min, limits.max) if kind == "whole" else (0 if limits.min == 0 else -2, 2)
    return rng.integers(low, high, shape, dtype, endpoint=True)


def expected_of(plan, data):
    lengths = [plan.output_shape[axis] for axis in plan.axes]
    return reference.resample(data, plan.maps, lengths, plan.axes, integer_rule=plan.integer_rule)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_every_way_is_exact_on_every_level(case, dtype):
    shape, axes, lengths = CASES[case]
    seed = list(CASES).index(case)
    for rule in RULES:
        plan = ResamplePlan.resized(shape, dtype, lengths, axes=axes, integer_rule=rule)
        for kind in KINDS:
            data = values(shape, dtype, kind, seed)
            expected = expected_of(plan, data)
            apart = np.zeros((*expected.shape[:-1], 2 * expected.shape[-1]), dtype)[..., ::2]
            spread = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
            spread[...] = data
            for level in LEVELS:
                _core.use_level(level)
                np.testing.assert_array_equal(plan(data), expected, err_msg=f"{level} {rule} {kind}")
                np.testing.assert_array_equal(
                    plan(data, out=apart), expected, err_msg=f"{level} {rule} {kind}"
                )
                np.testing.assert_array_equal(plan(spread), expected, err_msg=f"{level} {rule} {kind}")


@pytest.mark.parametrize("dtype", [np.dtype("u2"), np.dtype("i2")], ids=str)
def test_words_along_two_axes_leave_nothing_in_doubt(dtype):
    for case, (shape, axes, lengths) in CASES.items():
        arithmetic = ResamplePlan.resized(shape, dtype, lengths, axes=axes)._method.arithmetic
        assert (arithmetic.working, arithmetic.bound) == ("uint32", 0.0), case


@st.composite
def image_plans(draw):
    shape = draw(st.tuples(st.integers(1, 40), st.integers(1, 90), st.sampled_from([1, 2, 3, 4, 5])))
    lengths = draw(st.tuples(st.integers(1, 40), st.integers(1, 120)))
    options = {
        "integer_rule": draw(st.sampled_from(RULES)),
        "coordinates": draw(st.sampled_from(["half_pixel", "align_corners", "asymmetric"])),
    }
    return ResamplePlan.resized(shape, draw(st.sampled_from(DTYPES)), lengths, axes=(0, 1), **options)


@given(image_plans(), st.sampled_from(KINDS), st.sampled_from(LEVELS), st.integers(0, 2**32 - 1))
def test_images_of_any_size_are_exact(plan, kind, level, seed):
    data = values(plan.data_shape, plan.dtype, kind, seed)
    _core.use_level(level)
    np.testing.assert_array_equal(plan(data), expected_of(plan, data))


def test_rows_of_several_segments_and_tasks():
    data = values((130, 9001), np.dtype("u2"), "whole", 1)
    for lengths in ((65, 4500), (97, 6001), (131, 9002)):
        plan = ResamplePlan.resized(data.shape, data.dtype, lengths, axes=(0, 1))
        np.testing.assert_array_equal(plan(data), expected_of(plan, data))


def test_halves_are_ties():
    """Means of four words, with every fourth on a tie."""
    sums = np.arange(4 * 65535 + 1)
    pixels = np.stack([(sums + k) // 4 for k in range(4)]).astype(np.uint16).reshape(2, 2, -1)
    data = pixels.transpose(0, 2, 1).reshape(2, -1)
    nearest = {"half_up": (sums + 2) // 4, "truncate": sums // 4}
    nearest["half_even"] = np.where(sums % 8 == 2, sums // 4, (sums + 2) // 4)
    for rule, results in nearest.items():
        np.testing.assert_array_equal(resize(data, (1, sums.size), integer_rule=rule)[0], results)


# Lengths before and after, and the weights of the second tap over the divisor, for each output.
SMALL_DIVISORS = {
    3: (2, 6, [(0, 0), (0, 0), (0, 1), (0, 2), (1, 0), (1, 0)]),
    5: (2, 10, [(0, 0), (0, 0), (0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 0), (1, 0), (1, 0)]),
    6: (4, 3, [(0, 1), (1, 3), (2, 5)]),
    7: (2, 14, [(0, 0)] * 4 + [(0, k) for k in range(1, 7)] + [(1, 0)] * 4),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("divisor", SMALL_DIVISORS)
def test_small_divisors_along_two_axes(divisor, dtype, rule):
    n, m, outputs = SMALL_DIVISORS[divisor]
    weights = np.zeros((m, n), np.int64)
    for line, (first, second) in zip(weights, outputs, strict=True):
        line[first] += divisor - second
        line[min(first + 1, n - 1)] += second
    data = values((n, n, 6007), dtype, "whole", divisor)
    data[..., :1000] = values((n, n, 1000), dtype, "limits", divisor)
    data[..., 1000:2000] = values((n, n, 1000), dtype, "small", divisor)
    sums = np.einsum("yh,xw,hwc->yxc", weights, weights, data.astype(np.int64))
    square = divisor * divisor
    expected = {
        "half_up": (2 * sums + square) // (2 * square),
        "truncate": np.sign(sums) * (abs(sums) // square),
    }
    expected["half_even"] = expected["half_up"] - (
        ((2 * sums + square) % (2 * square) == 0) & (expected["half_up"] % 2 == 1)
    )
    for level in LEVELS:
        _core.use_level(level)
        np.testing.assert_array_equal(
            resize(data, (m, m), axes=(0, 1), integer_rule=rule), expected[rule], level
        )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_long_division_is_exact_next_to_every_kind_of_border(rule, dtype):
    """Quotients change between neighbouring sums only where they should, for all of 2 to 999 and more."""
    limits = np.iinfo(dtype)
    span = int(limits.max) - int(limits.min)
    rng = np.random.default_rng(2)
    for divisor in [
        *range(2, 1000),
        *rng.integers(1000, 1 << (31 - 8 * dtype.itemsize), 500).tolist(),
        1 << 15,
        32761,
    ]:
        d = _long_division(dtype, divisor, rule)
        assert d is not None
        half = 0 if rule == "truncate" else divisor // 2
        results = np.array([0, 1, 2, span - 1, span, *rng.integers(0, span, 8)], np.uint64)
        for offset in (-1, 0, 1, divisor - 1):
            sums = np.clip(results.astype(np.int64) * divisor - half + offset, 0, span * divisor).astype(
                np.uint64
            )
            biased = sums + np.uint64(half)
            assert int(biased.max()) < 1 << 32
            quotients = biased * np.uint64(d["multiplier"]) >> np.uint64(32 + d["shift"])
            np.testing.assert_array_equal(quotients, biased // np.uint64(divisor))


def test_the_core_verifies_denominators():
    tap = np.array([0, 3], np.int64)
    with pytest.raises(ValueError, match=r"denominators must lie in \[1, 32767\]"):
        _core.Linear(2, 3, False, [_core.Axis(0, 4, tap, tap, np.array([0.0, 0.0]), 32768.0)], [0])
    with pytest.raises(ValueError, match=r"weights must lie in \[0, one\]"):
        _core.Linear(2, 3, False, [_core.Axis(0, 4, tap, tap, np.array([0.0, 9.0]), 8.0)], [0])
    with pytest.raises(ValueError, match="no such working type"):
        _core.Linear(10, 3, False, [_core.Axis(0, 4, tap, tap, np.array([0.0, 0.0]), 8.0)], [0])
