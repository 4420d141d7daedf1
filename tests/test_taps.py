"""Tables of taps and weights against exact fractions."""

import math
import time
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from remapnd.coordinates import COORDINATE_MODES, AxisMap, as_fraction, axis_map, coordinate_map
from remapnd.taps import NEAREST_RULES, axis_order, linear_table, nearest_table, round_ratio

FLT_MAX = float(np.finfo(np.float32).max)
RULES = {
    "half_up": lambda x: math.floor(x + F(1, 2)),
    "half_down": lambda x: math.ceil(x - F(1, 2)),
    "floor": math.floor,
    "ceil": math.ceil,
}


def clamp(index, n):
    return min(max(index, 0), n - 1)


def nearest_number(exact, dtype):
    """The number of `dtype` nearest to a fraction in [0, 1], ties to even, found by trying; zero is -0.0."""
    if exact == 0:
        return dtype(-0.0)
    guess = dtype(float(exact))
    candidates = [np.nextafter(guess, dtype(-1)), guess, np.nextafter(guess, dtype(2))]
    bits = np.int32 if dtype is np.float32 else np.int64
    return min((c for c in candidates if c >= 0), key=lambda c: (abs(F(float(c)) - exact), c.view(bits) & 1))


def check_linear(map, n_in, n_out, dtype):
    """Compare a table with its definition; returns it."""
    table = linear_table(map, n_in, n_out, dtype)
    numerators = table.numerators()
    begin, end = table.interior
    for part, kind in ((table.first, np.int64), (table.second, np.int64), (table.weight, dtype)):
        assert part.dtype == kind
        assert part.shape == (n_out,)
        assert not part.flags.writeable
    assert numerators.dtype == (np.int64 if table.denominator < 2**63 else object)
    for output, x in enumerate(map.positions(n_out)):
        first, second = clamp(math.floor(x), n_in), clamp(math.floor(x) + 1, n_in)
        exact = x - math.floor(x) if first != second else F(0)
        assert table.first[output] == first
        assert table.second[output] == (second if exact else first)
        assert F(int(numerators[output]), table.denominator) == exact
        want = nearest_number(exact, dtype)
        assert table.weight[output].tobytes() == want.tobytes(), (x, table.weight[output], want)
        assert (begin <= output < end) == (0 <= x < n_in - 1)
    assert math.gcd(table.denominator, *(int(v) for v in numerators)) == 1
    return table


def check_nearest(map, n_in, n_out):
    for rule, function in RULES.items():
        table = nearest_table(map, n_in, n_out, rule)
        assert table.dtype == np.int64
        assert not table.flags.writeable
        assert table.tolist() == [clamp(function(x), n_in) for x in map.positions(n_out)], rule


scales = st.one_of(
    st.builds(F, st.integers(1, 80), st.integers(1, 80)),
    st.fractions(F(1, 100), 100),
    st.floats(0.01, 100),
    st.floats(2**-6, 64, width=32).map(np.float32),
    st.floats(5e-324, 1.7e308),
    st.sampled_from([FLT_MAX, 1e-30, 1e30, 2.0**-40, float(np.nextafter(1, 2)), 1 / 3, 0.1, 2 / 3, 1.02191]),
)
offsets = st.one_of(
    st.sampled_from(
        [F(1, 2), F(-1, 2), F(0), F(1, 3), 1e9 + 0.5, -1e9 - 0.5, 0.1, np.float32(0.1), 1e300, 5e-324]
    ),
    st.fractions(-30, 30),
    st.floats(-30, 30),
    st.floats(-30, 30, width=32),
)
dtypes = st.sampled_from([np.float32, np.float64])


@settings(max_examples=400, deadline=None)
@given(scales, st.tuples(offsets, offsets), st.integers(1, 60), st.integers(0, 100), dtypes)
@example(FLT_MAX, (0, 0), 5, 9, np.float32)
@example(1e-30, (1e9 + 0.5, 0.5), 7, 9, np.float32)
@example(5e-324, (0.5, -0.5), 7, 9, np.float64)
@example(1 / 3, (0.1, -0.1), 60, 20, np.float64)
def test_tables_are_exact(scale, input_and_output_offset, n_in, n_out, dtype):
    map = axis_map(scale, *input_and_output_offset)
    check_linear(map, n_in, n_out, dtype)
    check_nearest(map, n_in, n_out)


steps = st.one_of(
    st.fractions(-5, 5, max_denominator=50),
    st.fractions(-5, 5),
    st.floats(-5, 5).map(F),
    st.builds(
        lambda k, q, sign, bits: F(k, q) + F(sign, 3 << bits),
        st.integers(-9, 9),
        st.integers(1, 9),
        st.integers(-1, 1),
        st.integers(20, 300),
    ),
)


@settings(max_examples=400, deadline=None)
@given(steps, steps, st.integers(1, 40), st.integers(0, 100), dtypes)
def test_tables_of_any_map_are_exact(start, step, n_in, n_out, dtype):
    """Steps of both signs and zero; positions a hair from integers, ties and one another."""
    map = AxisMap(start, step)
    check_linear(map, n_in, n_out, dtype)
    check_nearest(map, n_in, n_out)


@settings(max_examples=60, deadline=None)
@given(scales, offsets, st.integers(10**4, 10**12), st.integers(5000, 60000), st.integers(0, 2**32))
def test_long_tables_are_exact_where_looked_at(scale, offset, n_in, n_out, seed):
    map = axis_map(scale, offset, -F(1, 2))
    tables = {dtype: linear_table(map, n_in, n_out, dtype) for dtype in (np.float32, np.float64)}
    index = {rule: nearest_table(map, n_in, n_out, rule) for rule in NEAREST_RULES}
    for output in np.random.default_rng(seed).integers(0, n_out, 30).tolist():
        x = map.at(output)
        for rule, function in RULES.items():
            assert index[rule][output] == clamp(function(x), n_in)
        first, second = clamp(math.floor(x), n_in), clamp(math.floor(x) + 1, n_in)
        exact = x - math.floor(x) if first != second else F(0)
        for dtype, table in tables.items():
            assert table.first[output] == first
            assert table.second[output] == (second if exact else first)
            assert table.weight[output].tobytes() == nearest_number(exact, dtype).tobytes()


# The middle of two float32 numbers. A fraction a hair above rounds up, but if it is rounded to float64 first,
# it becomes the middle, which then rounds to even, down.
MIDDLE = F(2**24 + 1, 2**25)


def beside_the_middle(bits, sign):
    """A fraction that differs from MIDDLE by 1 / (d * 2**25) for an odd d of so many bits."""
    base = 1 << (bits - 1)
    d = base + (-sign * pow(MIDDLE.numerator, -1, 2**25) - base) % 2**25
    return F((sign + d * MIDDLE.numerator) // 2**25, d)


@pytest.mark.parametrize("bits", [40, 50, 53, 54, 61, 64, 90, 120])
def test_float32_weights_are_rounded_once(bits):
    above, below = beside_the_middle(bits, 1), beside_the_middle(bits, -1)
    assert below < MIDDLE < above
    even, odd = np.float32(F(2**24, 2**25)), np.float32(F(2**24 + 2, 2**25))
    weight = {x: linear_table(AxisMap(x, F(1)), 9, 8, np.float32).weight for x in (below, MIDDLE, above)}
    assert_array_equal(weight[below], np.full(8, even))
    assert_array_equal(weight[MIDDLE], np.full(8, even))
    assert_array_equal(weight[above], np.full(8, odd))
    if bits >= 50:
        # Nearer to the middle than float64 can tell: two roundings give another weight.
        assert np.float32(float(above)) == even


@pytest.mark.parametrize("d", [2**25, 3 * 2**25, 2**26, 5 * 2**30])
def test_many_ties_between_float32_numbers(d):
    check_linear(AxisMap(F(2**24 + 1, d), F(d // 2**25, d)), 3, 300, np.float32)


@pytest.mark.parametrize("d", [2**54, 3 * 2**54, 2**70, 2**123])
def test_many_ties_between_float64_numbers(d):
    check_linear(AxisMap(F(2**53 + 1, 2**54), F(1, d)), 3, 300, np.float64)


@pytest.mark.parametrize(("dtype", "tiny"), [(np.float32, F(1, 2**149)), (np.float64, F(1, 2**1074))])
def test_weights_too_small_for_the_type(dtype, tiny):
    """Half of the smallest number rounds to +0.0 with both taps; only a fraction of zero is -0.0 with one."""
    table = check_linear(AxisMap(F(0), tiny / 4), 2, 9, dtype)
    assert table.second.tolist() == [0] + [1] * 8
    assert_array_equal(np.signbit(table.weight), [True] + [False] * 8)
    assert_array_equal(table.weight / dtype(tiny), [0, 0, 0, 1, 1, 1, 2, 2, 2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tiny", [F(1, 2**63), F(3, 2**100), F(1, 2**124), F(1, 3 * 2**100)])
def test_fractions_below_the_first_limb(dtype, tiny):
    check_linear(AxisMap(tiny, F(1)), 6, 5, dtype)
    check_linear(AxisMap(F(0), tiny), 6, 9, dtype)


def test_lengths_of_numpy_do_not_overflow():
    map = axis_map(1.02191, 0.1)
    table = linear_table(map, np.int64(38), np.int16(38), np.float32)
    assert_array_equal(table.weight, linear_table(map, 38, 38, np.float32).weight)
    assert type(table.n_in) is int
    assert_array_equal(
        nearest_table(map, np.int64(38), np.int16(38), "ceil"), nearest_table(map, 38, 38, "ceil")
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_too_near_to_one_for_the_type(dtype):
    table = check_linear(AxisMap(1 - F(1, 2**70), F(1)), 3, 3, dtype)
    assert table.weight.tolist() == [1, 1, -0.0]
    assert table.second.tolist() == [1, 2, 2]


@pytest.mark.parametrize(
    ("n", "m", "scale", "offsets", "row"),
    [
        (2, 4, 2, (0.5, -0.5), "0011 0011 0001 0111 | 0 1/4 3/4 1"),
        (3, 9, 3, (0.5, -0.5), "000111222 000111222 000011122 001112222 | 0 0 1/3 2/3 1 4/3 5/3 2 2"),
        (4, 2, 0.5, (0.5, -0.5), "13 02 02 13 | 1/2 5/2"),
        (6, 3, 0.5, (0.5, -0.5), "135 024 024 135 | 1/2 5/2 9/2"),
        (2, 3, 1.5, (0.5, -0.5), "011 001 001 011 | 0 1/2 1"),
        (5, 3, F(3, 5), (0.5, -0.5), "024 024 023 124 | 1/3 2 11/3"),
        (2, 4, 2, (0, 0), "0111 0011 0011 0111 | 0 1/2 1 1"),
        (4, 2, 0.5, (0, 0), "02 02 02 02 | 0 2"),
        (2, 3, 1.5, (0, 0), "011 011 001 011 | 0 2/3 1"),
        (3, 5, 2, (0, 0), "01122 00112 00112 01122 | 0 1/2 1 3/2 2"),
        (4, 3, 2, (0.5, -0.5), "001 001 000 011 | 0 1/4 3/4"),
        (2, 6, 2, (0.5, -0.5), "001111 001111 000111 011111 | 0 1/4 3/4 1 1 1"),
        (4, 4, 1, (0.5, -0.5), "0123 0123 0123 0123 | 0 1 2 3"),
    ],
)
def test_short_axes(n, m, scale, offsets, row):
    """Half up, half down, floor, ceil and the ramp 0, 1, ... worked out by hand from the map of RESAMPLE1."""
    map = axis_map(scale, *offsets)
    indices, ramp = row.split("|")
    for rule, digits in zip(NEAREST_RULES, indices.split(), strict=True):
        assert nearest_table(map, n, m, rule).tolist() == [int(digit) for digit in digits]
    table = linear_table(map, n, m, np.float64)
    values = [
        F(a) + (b - a) * F(int(k), table.denominator)
        for a, b, k in zip(table.first.tolist(), table.second.tolist(), table.numerators(), strict=True)
    ]
    assert values == [F(value) for value in ramp.split()]


def nearest_of(mode, n, m, rule, scale=None):
    return nearest_table(coordinate_map(mode, n, m, scale), n, m, rule).tolist()


def test_ties_of_20_to_6():
    assert nearest_of("half_pixel", 20, 6, "half_up") == [1, 5, 8, 11, 15, 18]
    assert nearest_of("half_pixel", 20, 6, "half_down") == [1, 4, 8, 11, 14, 18]


def test_centre_and_corner_rules_of_26_to_64_differ():
    centre, corner = nearest_of("half_pixel", 26, 64, "half_up"), nearest_of("asymmetric", 26, 64, "floor")
    assert centre[30:35] == [12, 12, 13, 13, 14]
    assert corner[30:35] == [12, 12, 13, 13, 13]
    assert sum(a != b for a, b in zip(centre, corner, strict=True)) == 12


def test_centre_and_corner_rules_of_5_to_3_differ():
    assert nearest_of("half_pixel", 5, 3, "half_up") == [0, 2, 4]
    assert nearest_of("asymmetric", 5, 3, "floor") == [0, 1, 3]


def test_no_error_accumulates_from_128_to_160():
    index = nearest_of("half_pixel", 128, 160, "half_up")
    assert (index[7], index[127]) == (6, 102)


def test_a_scale_that_is_not_the_ratio_stays_what_it_is():
    assert nearest_of("asymmetric", 2, 2, "floor", 1.00001) == [0, 0]
    assert nearest_of("half_pixel", 2, 2, "half_up", 1.00001) == [0, 1]
    assert nearest_of("asymmetric", 2, 2, "floor") == [0, 1]


def test_positions_before_the_first_sample_are_clamped():
    assert nearest_of("half_pixel", 4, 8, "floor") == [0, 0, 0, 1, 1, 2, 2, 3]


def test_equal_lengths_with_another_scale_are_not_the_identity():
    index = nearest_of("half_pixel", 38, 38, "half_down", 1.02191)
    assert index[23] == 22
    assert sum(a != b for a, b in enumerate(index)) == 15
    table = linear_table(coordinate_map("half_pixel", 38, 38, 1.02191), 38, 38, np.float64)
    assert not table.is_identity
    ramp = table.first + table.weight
    assert ramp[-1] == pytest.approx(36.196, abs=5e-4)
    assert np.abs(ramp - np.arange(38)).max() == pytest.approx(0.804, abs=5e-4)


def test_align_corners_nearest_rounds():
    data = np.array([0, 3, 6, 9])
    map = coordinate_map("align_corners", 4, 10)
    assert data[nearest_table(map, 4, 10, "half_up")].tolist() == [0, 0, 3, 3, 3, 6, 6, 6, 9, 9]
    assert data[nearest_table(map, 4, 10, "floor")].tolist() == [0, 0, 0, 3, 3, 3, 6, 6, 6, 9]


@pytest.mark.parametrize("mode", ["half_pixel", "align_corners", "half_pixel_symmetric"])
@pytest.mark.parametrize(("n", "m"), [(4, 8), (20, 6), (7, 5), (1, 3), (9, 2)])
def test_reversed_input_gives_reversed_output(mode, n, m):
    table = linear_table(coordinate_map(mode, n, m), n, m, np.float64)
    ramp = [
        a + F(int(k), table.denominator)
        for a, k in zip(table.first.tolist(), table.numerators(), strict=True)
    ]
    assert [n - 1 - value for value in reversed(ramp)] == ramp


def test_is_identity():
    def table(map, n_in=5, n_out=5):
        return linear_table(map, n_in, n_out, np.float32)

    assert table(AxisMap(F(0), F(1))).is_identity
    assert table(axis_map(1)).is_identity
    assert table(coordinate_map("align_corners", 5, 5)).is_identity
    assert table(AxisMap(F(7), F(3)), 1, 1).is_identity
    assert table(AxisMap(F(0), F(1)), 0, 0).is_identity
    assert not table(AxisMap(F(0), F(1)), 6, 5).is_identity
    assert not table(AxisMap(F(0), F(1)), 4, 5).is_identity
    assert not table(AxisMap(F(4), F(-1))).is_identity
    assert not table(AxisMap(F(0), F(1) + F(1, 2**200))).is_identity
    assert not table(axis_map(1.00001)).is_identity


def test_denominator_is_that_of_the_fractions_in_use():
    assert linear_table(axis_map(FLT_MAX), 1, 3, np.float32).denominator == 1
    assert linear_table(axis_map(2), 5, 10, np.float32).denominator == 4
    assert linear_table(AxisMap(F(1, 2), F(1, 3)), 5, 1, np.float32).denominator == 2
    assert (
        linear_table(axis_map(1.02191), 38, 38, np.float32).denominator == as_fraction(1.02191).numerator * 2
    )
    huge = linear_table(axis_map(1.02191, 0.1), 38, 38, np.float32)
    assert huge.numerators().dtype == object
    assert huge.numerators() is huge.numerators()


@pytest.mark.parametrize("mode", COORDINATE_MODES)
def test_empty_and_single(mode):
    for n_in, n_out in ((0, 0), (3, 0), (1, 1), (1, 4), (4, 1)):
        map = coordinate_map(mode, n_in, n_out)
        table = linear_table(map, n_in, n_out, np.float32)
        assert (
            table.first.shape
            == table.second.shape
            == table.weight.shape
            == table.numerators().shape
            == (n_out,)
        )
        assert all(nearest_table(map, n_in, n_out, rule).shape == (n_out,) for rule in NEAREST_RULES)
        if n_in == 1:
            assert table.first.tolist() == [0] * n_out
            assert table.weight.tobytes() == np.full(n_out, -0.0, np.float32).tobytes()


def test_axis_order():
    # The innermost goes one place forward exactly if the axis before it enlarges.
    assert axis_order((), (), ()) == ()
    assert axis_order((3,), (4,), (8,)) == (3,)
    assert axis_order((0, 1), (4, 4), (8, 2)) == (1, 0)
    assert axis_order((0, 1), (4, 4), (4, 8)) == (0, 1)
    assert axis_order((0, 1), (4, 4), (2, 8)) == (0, 1)
    assert axis_order([0, 2, 5], [4, 4, 4], [8, 2, 8]) == (0, 2, 5)
    assert axis_order([0, 2, 5], [4, 4, 4], [2, 5, 8]) == (0, 5, 2)
    with pytest.raises(ValueError, match="zip"):
        axis_order((0, 1), (4,), (8,))


@settings(max_examples=300)
@given(st.fractions(0, 1), st.integers(0, 1100), dtypes)
def test_round_ratio(fraction, halvings, dtype):
    exact = fraction / 2**halvings
    assume(halvings < 150 or dtype is np.float64)
    got = dtype(round_ratio(exact.numerator, exact.denominator, dtype))
    assert got.tobytes() == nearest_number(exact, dtype).tobytes()


def test_rejects():
    map = axis_map(2)
    with pytest.raises(TypeError, match="linear_table: `dtype` must be float32 or float64, got float16"):
        linear_table(map, 2, 4, np.float16)
    with pytest.raises(ValueError, match="linear_table: `n_in` must be at least 1 where `n_out` is 4, got 0"):
        linear_table(map, 0, 4, np.float32)
    with pytest.raises(ValueError, match="linear_table: `n_out` must be at least 0, got -1"):
        linear_table(map, 2, -1, np.float32)
    with pytest.raises(
        ValueError, match="nearest_table: `n_in` must be at least 0 where `n_out` is 0, got -2"
    ):
        nearest_table(map, -2, 0, "floor")
    with pytest.raises(
        ValueError, match="nearest_table: `rule` must be one of half_up, half_down, floor, ceil, got 'round'"
    ):
        nearest_table(map, 2, 4, "round")


def test_speed(capsys):
    """Prints how long long tables take; what is asserted is that they are right."""
    lines = [""]  # ends the line of dots
    for name, scale, offset in (
        ("2/3", F(2, 3), F(1, 2)),
        ("1.02191", 1.02191, F(1, 2)),
        ("float32 0.3", np.float32(0.3), F(1, 2)),
        ("1.02191, offset 0.1", 1.02191, 0.1),
    ):
        map = axis_map(scale, offset)
        for n_out in (4000, 1_000_000):
            n_in = int(n_out / as_fraction(scale))
            begin = time.perf_counter()
            table = linear_table(map, n_in, n_out, np.float32)
            middle = time.perf_counter()
            index = nearest_table(map, n_in, n_out, "half_up")
            end = time.perf_counter()
            lines.append(
                f"{name:>20} {n_out:>8} outputs: linear {(middle - begin) * 1e3:7.2f} ms, "
                f"nearest {(end - middle) * 1e3:7.2f} ms"
            )
            x = map.at(n_out // 2)
            assert table.first[n_out // 2] == math.floor(x)
            assert index[n_out // 2] == math.floor(x + F(1, 2))
    with capsys.disabled():
        print("\n".join(lines))
