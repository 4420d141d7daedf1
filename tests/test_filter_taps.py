"""Tables of filters against their definition in fractions."""

import math
import time
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from remapnd import lanczos
from remapnd.coordinates import AxisMap, axis_map, coordinate_map
from remapnd.double_double import DoubleDouble
from remapnd.filter_taps import axis_table, filter_table
from remapnd.filters import Filter, FilterOptions, choose
from remapnd.taps import LinearTable, linear_table, round_ratio


def kernel(filter, t):
    """The value at t of each kernel, as the docstring of `Filter` has it."""
    s, a = abs(t), filter.coefficient
    if filter.kernel == "triangle":
        return max(F(0), 1 - s)
    if filter.kernel == "box":
        return F(-F(1, 2) < t <= F(1, 2))
    if filter.kernel == "lanczos3":
        return F(lanczos.value(s), 2**60) if s < 3 else F(0)
    if s <= 1:
        return (a + 2) * s**3 - (a + 3) * s**2 + 1
    return a * s**3 - 5 * a * s**2 + 8 * a * s - 4 * a if s < 2 else F(0)


def exact_weights(filter, x, n):
    """Weight of each sample that has one."""
    if filter.outside == "drop":
        x = min(max(x, F(-1)), F(n))
    values = {}
    first, last = math.floor(x - filter.reach) - 1, math.ceil(x + filter.reach) + 1
    if filter.outside == "drop":
        first, last = max(first, 0), min(last, n - 1)
    for k in range(first, last + 1):
        place = min(max(k, 0), n - 1)
        values[place] = values.get(place, F(0)) + kernel(filter, (k - x) / filter.stretch)
    total = sum(values.values())
    if total == 0:
        return {min(max(math.floor(x + F(1, 2)), 0), n - 1): F(1)}
    return {place: value / total for place, value in values.items() if value}


def once_rounded(value, dtype):
    magnitude = round_ratio(abs(value.numerator), value.denominator, dtype)
    return -magnitude if value < 0 else abs(magnitude)


def check(map, n, m, filter, dtype):
    table = filter_table(map, n, m, filter, dtype)
    assert table.start.dtype == table.count.dtype == table.base.dtype == np.int64
    assert table.weights.dtype == dtype
    assert table.fine.dtype == np.float64
    for part in (table.start, table.count, table.base, table.weights, table.fine):
        assert part.shape[0] == m
        assert part.flags.c_contiguous
        assert not part.flags.writeable
    indices, numerators, denominators = table.exact(np.arange(m))
    assert numerators.shape == indices.shape
    for output in range(m):
        weights = exact_weights(filter, map.at(output), n)
        start, count = int(table.start[output]), int(table.count[output])
        assert (start, start + count - 1) == (min(weights), max(weights))
        row = [weights.get(start + k, F(0)) for k in range(count)]
        assert sum(row) == 1
        for part, kind in ((table.weights, np.dtype(dtype)), (table.fine, np.dtype(np.float64))):
            want = [once_rounded(v, kind) for v in row]
            assert part[output].tobytes() == np.array(want + [0] * (table.widest - count), kind).tobytes()
        assert table.base[output] == np.argmax(table.weights[output, :count])
        given_row = [F(int(v), int(denominators[output])) for v in numerators[output]]
        assert given_row[:count] == row
        assert not any(given_row[count:])
        assert_array_equal(indices[output, :count], np.arange(start, start + count))
        if table.largest_denominator is not None:
            assert math.lcm(*(v.denominator for v in row)) <= table.largest_denominator
    return table


filters = st.builds(
    Filter,
    st.sampled_from(["triangle", "cubic", "box", "lanczos3"]),
    st.one_of(st.just(F(1)), st.fractions(1, 7, max_denominator=12), st.floats(1, 4).map(F)),
    st.sampled_from(["clamp", "drop"]),
    st.one_of(st.sampled_from([F(-3, 4), F(-1, 2), F(0), F(2)]), st.floats(-2, 1).map(F)),
)
steps = st.one_of(
    st.fractions(-4, 4, max_denominator=12), st.floats(-4, 4).map(F), st.fractions(-3, 3), st.just(F(0))
)
starts = st.one_of(
    st.fractions(-9, 14, max_denominator=12),
    st.floats(-3, 9).map(F),
    st.sampled_from([F(10**30), F(-(10**30)), F(1, 2**200), F(-1), F(4)]),
)
dtypes = st.sampled_from([np.float32, np.float64])


@settings(max_examples=150, deadline=None)
@given(filters, st.builds(AxisMap, starts, steps), st.integers(1, 11), st.integers(0, 14), dtypes)
@example(Filter("cubic", F(1), "drop"), AxisMap(F(-1), F(1)), 3, 6, np.float32)
@example(Filter("lanczos3", F(1), "drop"), AxisMap(F(-1), F(1, 2)), 3, 12, np.float64)
@example(Filter("triangle", F(3), "drop"), AxisMap(F(-99), F(99)), 5, 3, np.float32)
@example(Filter("triangle", F(10**300), "drop"), AxisMap(F(1, 2), F(10**300)), 5, 3, np.float32)
@example(Filter("cubic", F(10**400), "drop"), AxisMap(F(3), F(10**300)), 5, 2, np.float64)
@example(Filter("lanczos3", F(7, 2), "clamp", F(0)), AxisMap(F(99), F(-200)), 3, 3, np.float32)
def test_tables_are_exact(filter, map, n, m, dtype):
    check(map, n, m, filter, dtype)


@settings(max_examples=40, deadline=None)
@given(filters, st.integers(1, 40), st.integers(1, 90), st.sampled_from(["half_pixel", "align_corners"]))
def test_tables_with_repeated_rows_are_exact(filter, n, m, mode):
    check(coordinate_map(mode, n, m), n, m, filter, np.float32)


@pytest.mark.parametrize("kernel", ["triangle", "cubic", "lanczos3"])
@pytest.mark.parametrize(
    ("scale", "n"),
    [
        (F(3, 7), 30_000),
        (F(float(np.float32(0.3))), 30_000),
        (F(0.978), 30_000),
        (F(1, 3) + F(1, 2**150), 2000),
    ],
)
def test_long_tables_are_exact_where_looked_at(kernel, scale, n):
    filter, m = Filter(kernel, 1 / scale, "drop"), int(n * scale)
    map = axis_map(scale)
    for dtype in (np.float32, np.float64):
        table = filter_table(map, n, m, filter, dtype)
        for output in [0, 1, m - 1, *np.random.default_rng(3).integers(0, m, 12).tolist()]:
            weights = exact_weights(filter, map.at(output), n)
            assert table.start[output] == min(weights)
            assert table.count[output] == len(range(min(weights), max(weights) + 1))
            for k in range(int(table.count[output])):
                want = once_rounded(weights.get(int(table.start[output]) + k, F(0)), np.dtype(dtype))
                assert table.weights[output, k] == want


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.fractions(0, 3), st.floats(0, 3).map(F)).filter(lambda t: t < 3))
@example(F(1, 2**300))
@example(3 - F(1, 2**300))
@example(1 + F(1, 2**50))
def test_lanczos_in_pairs_is_that_in_integers(t):
    pair = DoubleDouble.of_fraction(t)
    values, doubtful = lanczos.values(DoubleDouble(np.array([pair.high]), np.array([pair.low])))
    assert doubtful[0] or values[0] == lanczos.value(t)
    assert lanczos.value(t) / 2**60 == pytest.approx(np.sinc(float(t)) * np.sinc(float(t / 3)), abs=1e-15)


def test_lanczos_is_rarely_in_doubt():
    t = np.random.default_rng(8).uniform(0, 3, 100_000)
    assert lanczos.values(DoubleDouble(t, np.zeros_like(t)))[1].mean() < 1e-3


def test_lanczos_at_whole_numbers():
    assert [lanczos.value(F(t)) for t in (0, 1, 2)] == [2**60, 0, 0]
    pi = F("3.14159265358979323846264338327950288419716939937510")
    assert lanczos.value(F(3, 2)) == round(-F(4, 3) / pi**2 * 2**60)


numbers = st.floats(-1e6, 1e6).filter(lambda v: v == 0 or abs(v) > 1e-6)
pairs = st.builds(lambda a, b: F(a) + F(b) / 2**60, numbers, numbers)


@settings(max_examples=150, deadline=None)
@given(pairs, pairs)
def test_pairs_of_floats(a, b):
    def exact(pair):
        return F(float(pair.high)) + F(float(pair.low))

    p, q = (DoubleDouble.of_fraction(v) for v in (a, b))
    a, b = exact(p), exact(q)
    for got, want in ((p + q, a + b), (p - q, a - b), (p * q, a * b), (abs(p), abs(a)), (p * 3.0, 3 * a)):
        assert abs(exact(got) - want) <= max(abs(a), abs(b), abs(want)) / 2**100
    if b:
        assert abs(exact(p / q) - a / b) <= abs(a / b) / 2**98
    stacked = DoubleDouble(np.array([[p.high, q.high, p.high]]), np.array([[p.low, q.low, p.low]]))
    assert abs(exact(stacked.sum_of_rows()[0, 0]) - (2 * a + b)) <= max(abs(a), abs(b)) / 2**98


def weights_of(options, n, m, map=None):
    filter = choose(options, F(m, n))
    table = axis_table(map or coordinate_map("half_pixel", n, m), n, m, filter, np.float64)
    indices, numerators, denominators = table.exact(np.arange(m))
    result = [[F(0)] * n for _ in range(m)]
    for output in range(m):
        for index, numerator in zip(indices[output], numerators[output], strict=True):
            result[output][index] += F(int(numerator), int(denominators[output]))
    return result


def test_ramp_of_eight_to_three_by_each_border():
    def ramp(**options):
        return [sum(k * w for k, w in enumerate(row)) for row in weights_of(FilterOptions(**options), 8, 3)]

    assert ramp(antialias="onnx") == [F(42, 43), F(7, 2), F(259, 43)]
    assert ramp(antialias="pillow") == ramp(antialias="onnx", exclude_outside=True)
    assert ramp(antialias="pillow") == [F(21, 19), F(7, 2), F(112, 19)]
    assert ramp(antialias="directml") == ramp(antialias="pillow")
    assert ramp() == [F(5, 6), F(7, 2), F(37, 6)]


def test_directml_filters_only_from_a_reduction_by_more_than_two():
    first = [F(5, 28), F(1, 4), F(1, 4), F(5, 28), F(3, 28), F(1, 28), F(0), F(0)]
    options = FilterOptions(antialias="directml")
    assert weights_of(options, 8, 2) == [first, first[::-1]]
    assert weights_of(options, 8, 4) == weights_of(FilterOptions(), 8, 4)
    assert weights_of(options, 9, 4)[0] != weights_of(FilterOptions(), 9, 4)[0]


def test_what_is_plain_linear():
    assert choose(FilterOptions(), F(1, 9)) is None
    for antialias in ("pillow", "onnx", "directml"):
        assert choose(FilterOptions(antialias=antialias), F(3, 2)) is None
    table = axis_table(axis_map(2), 4, 8, choose(FilterOptions(antialias="onnx"), F(2)), np.float32)
    assert isinstance(table, LinearTable)


@pytest.mark.parametrize("outside", ["clamp", "drop"])
@pytest.mark.parametrize("kernel", ["cubic", "box", "lanczos3", "triangle"])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_scale_one_is_the_identity(kernel, outside, n):
    table = filter_table(axis_map(1), n, n, Filter(kernel, F(1), outside), np.float32)
    assert table.is_identity
    assert table.weights.tolist() == [[1]] * n
    assert table.widest == 1


def test_box_without_stretch_is_nearest_half_up():
    table = filter_table(coordinate_map("half_pixel", 20, 6), 20, 6, Filter("box"), np.float32)
    assert table.start.tolist() == [1, 5, 8, 11, 15, 18]
    assert table.count.tolist() == [1] * 6
    assert not table.is_identity


def test_triangle_is_linear():
    for map in (axis_map(F(5, 3)), axis_map(0.7, 0.1), AxisMap(F(9), F(-1, 2))):
        linear, outputs = linear_table(map, 6, 12, np.float64), np.arange(12)
        for outside in ("clamp", "drop"):
            table = filter_table(map, 6, 12, Filter("triangle", F(1), outside), np.float64)
            for one, other in zip(*map_rows(linear.exact(outputs), table.exact(outputs)), strict=True):
                assert one == other


def map_rows(*exact):
    return [
        [
            {int(i): F(int(v), int(d)) for i, v in zip(row, numerators, strict=True) if v}
            for row, numerators, d in zip(*taps, strict=True)
        ]
        for taps in exact
    ]


def test_empty_tables():
    for n in (0, 3):
        table = filter_table(axis_map(1), n, 0, Filter("cubic"), np.float32)
        assert table.start.shape == (0,)
        assert table.weights.shape == (0, 1)


def test_rejects():
    map, filter = axis_map(2), Filter("cubic")
    with pytest.raises(TypeError, match="filter_table: `dtype` must be float32 or float64, got int8"):
        filter_table(map, 2, 4, filter, np.int8)
    with pytest.raises(ValueError, match="filter_table: `n_in` must be at least 1 where `n_out` is 4, got 0"):
        filter_table(map, 0, 4, filter, np.float32)
    with pytest.raises(
        ValueError,
        match="resize: `mode` must take at most 268435456 weights along an axis, "
        "got 3 samples of up to 2000000001 weights",
    ):
        filter_table(map, 5, 3, Filter("triangle", F(10**9)), np.float32, op="resize")
    with pytest.raises(
        ValueError, match="choose: `mode` must be one of linear, cubic, box, lanczos3, got 'x'"
    ):
        choose(FilterOptions("x"), F(1))
    with pytest.raises(
        ValueError, match="choose: `antialias` must be None or one of pillow, onnx, directml, got 'x'"
    ):
        choose(FilterOptions(antialias="x"), F(1))


def test_dropping_needs_no_more_weights_than_samples():
    table = filter_table(AxisMap(F(10**9), F(0)), 5, 3, Filter("triangle", F(10**9), "drop"), np.float32)
    assert table.count.tolist() == [5, 5, 5]


def test_speed(capsys):
    """Prints how long tables take; what is asserted is that they are right."""
    lines = [""]
    for n, m in ((1920, 1280), (1920, 224), (20_000, 10_007), (1000, 300_000)):
        for kernel in ("triangle", "cubic", "lanczos3"):
            filter = Filter(kernel, max(F(1), F(n, m)), "drop")
            map = coordinate_map("half_pixel", n, m)
            begin = time.perf_counter()
            table = filter_table(map, n, m, filter, np.float32)
            lines.append(f"{kernel:>9} {n} -> {m}: {(time.perf_counter() - begin) * 1e3:8.2f} ms")
            weights = exact_weights(filter, map.at(m // 2), n)
            assert table.start[m // 2] == min(weights)
            assert table.fine[m // 2].max() == once_rounded(max(weights.values()), np.dtype(np.float64))
    with capsys.disabled():
        print("\n".join(lines))
