"""Exact maps: conversions, the coordinate modes, and floors and fractions of whole axes."""

import math
from decimal import Decimal
from fractions import Fraction as F

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from remapnd import coordinates
from remapnd.coordinates import COORDINATE_MODES, AxisMap, as_fraction, axis_map, coordinate_map

FLT_MAX = np.finfo(np.float32).max


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, F(3)),
        (F(2, 3), F(2, 3)),
        (F(np.int64(2), np.int64(3)), F(2, 3)),
        (0.1, F(3602879701896397, 2**55)),
        (np.float32(0.3), F(10066330, 2**25)),
        (np.float16(0.1), F(1638, 2**14)),
        (np.float64(-2.5), F(-5, 2)),
        (ml_dtypes.bfloat16(0.1), F(205, 2**11)),
        (np.uint8(200), F(200)),
        (np.int64(-(2**63)), F(-(2**63))),
        (Decimal("0.1"), F(1, 10)),
        (FLT_MAX, F((2**24 - 1) * 2**104)),
        (5e-324, F(1, 2**1074)),
        (-0.0, F(0)),
    ],
)
def test_as_fraction_is_exact(value, exact):
    result = as_fraction(value)
    assert type(result) is F
    assert result == exact
    assert type(result.numerator) is int


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan"), np.float16("inf")])
def test_as_fraction_rejects_what_is_not_finite(value):
    with pytest.raises(ValueError, match=rf"resample: `scales` must be finite, got {value}"):
        as_fraction(value, op="resample", parameter="scales")
    with pytest.raises(ValueError, match=rf"as_fraction: `value` must be finite, got {value}"):
        as_fraction(value)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1/2", "str"),
        (None, "NoneType"),
        (True, "bool"),
        (np.True_, "bool"),
        (1j, "complex"),
        ([2.0], "list"),
    ],
)
def test_as_fraction_rejects_what_is_no_real_number(value, kind):
    with pytest.raises(
        TypeError, match=rf"as_fraction: `value` must be a real number, got .* of type {kind}"
    ):
        as_fraction(value)


def test_axis_map_of_scale_and_offsets():
    assert axis_map(2) == AxisMap(F(-1, 4), F(1, 2))
    assert axis_map(F(3, 10), 0, 0) == AxisMap(F(0), F(10, 3))
    assert axis_map(0.5, F(1, 3), 0.25) == AxisMap(F(-1, 2) - F(1, 3), F(2))
    assert axis_map(np.float32(0.3)).step == F(2**25, 10066330)
    assert axis_map(FLT_MAX, 0, 0).step == F(1, (2**24 - 1) * 2**104)


@given(
    st.fractions(F(1, 10**6), 10**6), st.fractions(-100, 100), st.fractions(-100, 100), st.integers(0, 10**9)
)
def test_axis_map_inverts_the_forward_formula(scale, input_offset, output_offset, output):
    x = axis_map(scale, input_offset, output_offset).at(output)
    assert (x + input_offset) * scale + output_offset == output


@pytest.mark.parametrize("scale", [0, -1, -0.5, 0.0, F(-1, 3)])
def test_scale_must_be_positive(scale):
    with pytest.raises(ValueError, match=rf"axis_map: `scale` must be > 0, got {scale}"):
        axis_map(scale)
    with pytest.raises(ValueError, match=rf"coordinate_map: `scale` must be > 0, got {scale}"):
        coordinate_map("asymmetric", 3, 4, scale)


def test_axis_map_names_the_wrong_argument():
    with pytest.raises(ValueError, match="axis_map: `scale` must be finite, got inf"):
        axis_map(math.inf)
    with pytest.raises(ValueError, match="axis_map: `input_offset` must be finite, got nan"):
        axis_map(1, math.nan)
    with pytest.raises(
        TypeError, match="axis_map: `output_offset` must be a real number, got '0' of type str"
    ):
        axis_map(1, 0, "0")


def onnx_position(mode, output, n, m, s):
    """The formulas of the ONNX Resize page as they stand there."""
    if mode == "half_pixel":
        return (output + F(1, 2)) / s - F(1, 2)
    if mode == "align_corners":
        return F(output * (n - 1), m - 1) if m > 1 else F(0)
    if mode == "asymmetric":
        return output / s
    if mode == "half_pixel_symmetric":
        adjustment = m / (s * n)
        center = F(n, 2)
        return center * (1 - adjustment) + (output + F(1, 2)) / s - F(1, 2)
    if mode == "pytorch_half_pixel":
        return (output + F(1, 2)) / s - F(1, 2) if m > 1 else F(0)
    assert mode == "tf_half_pixel_for_nn"
    return (output + F(1, 2)) / s


@pytest.mark.parametrize("mode", COORDINATE_MODES)
def test_coordinate_modes_are_the_onnx_formulas(mode):
    for n in range(1, 9):
        for m in range(1, 13):
            for scale in (None, F(m, n), F(3, 5), 1.02191, 2):
                exact = F(m, n) if scale is None else F(scale)
                expected = [onnx_position(mode, output, n, m, exact) for output in range(m)]
                assert coordinate_map(mode, n, m, scale).positions(m) == expected


@given(st.integers(1, 50), st.integers(1, 50), st.fractions(F(1, 20), 20))
def test_half_pixel_symmetric_is_symmetric(n, m, scale):
    positions = coordinate_map("half_pixel_symmetric", n, m, scale).positions(m)
    assert [n - 1 - x for x in reversed(positions)] == positions


def test_align_corners_meets_both_ends():
    assert coordinate_map("align_corners", 4, 10).at(0) == 0
    assert coordinate_map("align_corners", 4, 10).at(9) == 3
    assert coordinate_map("align_corners", 4, 1) == AxisMap(F(0), F(0))
    assert coordinate_map("align_corners", 1, 5) == AxisMap(F(0), F(0))


def test_pytorch_half_pixel_asks_the_output_length():
    assert coordinate_map("pytorch_half_pixel", 10, 1) == AxisMap(F(0), F(0))
    assert coordinate_map("pytorch_half_pixel", 1, 2) == coordinate_map("half_pixel", 1, 2)


@pytest.mark.parametrize("mode", COORDINATE_MODES)
@pytest.mark.parametrize(("n_in", "n_out"), [(0, 0), (0, 3), (3, 0)])
def test_coordinate_map_of_empty_axes(mode, n_in, n_out):
    assert isinstance(coordinate_map(mode, n_in, n_out), AxisMap)


def test_lengths_of_numpy_do_not_overflow():
    map = coordinate_map("half_pixel", np.int64(2**40), np.int64(2**40 + 1))
    assert {type(part) for part in map.integers()} == {int}
    assert map == coordinate_map("half_pixel", 2**40, 2**40 + 1)


def test_coordinate_map_rejects():
    with pytest.raises(
        ValueError,
        match=r"coordinate_map: `mode` must be one of half_pixel, align_corners, .*, got 'halfpixel'",
    ):
        coordinate_map("halfpixel", 3, 4)
    with pytest.raises(ValueError, match="coordinate_map: `n_in` must be at least 0, got -1"):
        coordinate_map("half_pixel", -1, 4)
    with pytest.raises(ValueError, match="coordinate_map: `n_out` must be at least 0, got -4"):
        coordinate_map("half_pixel", 1, -4)
    with pytest.raises(ValueError, match="coordinate_map: `scale` must be finite, got nan"):
        coordinate_map("half_pixel", 1, 4, math.nan)


fractions = st.one_of(
    st.fractions(-50, 50, max_denominator=100),
    st.fractions(-50, 50),
    st.floats(-50, 50).map(F),
    st.floats(-50, 50, width=32).map(F),
    # One third and a hair: what 124 bits cut off decides.
    st.builds(
        lambda a, e, b: F(a, 3) + F(e, b << 130), st.integers(-9, 9), st.integers(-3, 3), st.integers(1, 9)
    ),
)


@given(fractions, fractions)
def test_integers_are_in_lowest_terms(start, step):
    a, b, d = AxisMap(start, step).integers()
    assert d > 0
    assert math.gcd(a, b, d) == 1
    assert (F(a, d), F(b, d)) == (step, start)


@given(fractions, fractions, st.integers(-60, 60), st.integers(0, 60), st.integers(0, 40))
def test_span_is_where_positions_lie_between(start, step, low, width, m):
    map = AxisMap(start, abs(step))
    begin, end = map.span(low, low + width, m)
    assert 0 <= begin <= end <= m
    positions = map.positions(m)
    assert all(x < low for x in positions[:begin])
    assert all(low <= x < low + width for x in positions[begin:end])
    assert all(x >= low + width for x in positions[end:])


def test_span_needs_rising_positions():
    with pytest.raises(ValueError, match=r"AxisMap\.span: `step` must be at least 0, got -1/2"):
        AxisMap(F(0), F(-1, 2)).span(0, 1, 2)


@given(fractions, fractions, st.integers(1, 9), st.integers(1, 9))
def test_other_views_of_a_map(start, step, n, m):
    map = AxisMap(start, step)
    positions = map.positions(m)
    assert map.reversed(m).positions(m) == positions[::-1]
    assert map.mirrored(n).positions(m) == [n - 1 - x for x in positions]
    assert map.shifted(F(1, 3)).positions(m) == [x + F(1, 3) for x in positions]


@settings(max_examples=400, deadline=None)
@given(fractions, fractions, st.integers(0, 100), st.integers(0, 200))
def test_floors_and_fractions_are_exact(start, step, begin, count):
    map = AxisMap(start, step)
    d = map.integers()[2]
    exact = [map.at(output) for output in range(begin, begin + count)]
    whole = [math.floor(x) for x in exact]
    assert_array_equal(coordinates.floors(map, begin, begin + count), np.array(whole, np.int64), strict=True)

    floor, high, low = coordinates.binary_fractions(map, begin, begin + count)
    assert floor.tolist() == whole
    for x, f, h, ell in zip(exact, whole, high.tolist(), low.tolist(), strict=True):
        cut = (h << 62) + ell
        assert cut <= (x - f) * 2**124 < cut + (1 if coordinates.is_binary(map) else 2)

    assume(d <= 2**62)
    floor, remainder = coordinates.exact_remainders(map, begin, begin + count)
    assert floor.tolist() == whole
    assert remainder.tolist() == [(x - f) * d for x, f in zip(exact, whole, strict=True)]


@pytest.mark.parametrize("hair", [F(-1, 3 << 140), F(0), F(1, 3 << 140)])
def test_a_hair_beside_an_integer(hair):
    """Sums of what was cut off to 124 bits that carry, or just do not, into the floor."""
    map = AxisMap(F(1, 3) + hair, F(1, 3))
    assert coordinates.floors(map, 0, 300).tolist() == [math.floor(x) for x in map.positions(300)]
    assert coordinates.binary_fractions(map, 0, 300)[0].tolist() == [
        math.floor(x) for x in map.positions(300)
    ]
