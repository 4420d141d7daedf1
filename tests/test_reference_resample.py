"""The resample reference against its definition, element by element, in fractions and in NumPy scalars."""

import itertools
import math
from fractions import Fraction as F

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_array_equal

from remapnd import reference
from remapnd.coordinates import AxisMap, axis_map, coordinate_map
from remapnd.taps import NEAREST_RULES

INTEGERS = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
ROUND = {
    "half_up": lambda v: math.floor(v + F(1, 2)),
    "half_even": round,
    "truncate": math.trunc,
}
WORKING = {
    np.dtype(np.float16): np.float32,
    np.dtype(ml_dtypes.bfloat16): np.float32,
    np.dtype(np.float32): np.float32,
    np.dtype(np.float64): np.float64,
}


def taps(x, n):
    """The two taps and exact weights of a position."""
    low, high = (min(max(index, 0), n - 1) for index in (math.floor(x), math.floor(x) + 1))
    return (low, 1 - (x - math.floor(x))), (high, x - math.floor(x))


def exact_linear(data, positions):
    """The tensor product in fractions; positions holds a list for each axis."""
    result = np.empty([len(axis) for axis in positions], object)
    for output in np.ndindex(result.shape):
        corners = [taps(axis[k], n) for axis, k, n in zip(positions, output, data.shape, strict=True)]
        result[output] = sum(
            math.prod(weight for _, weight in corner) * F(data[tuple(index for index, _ in corner)].item())
            for corner in itertools.product(*corners)
        )
    return result


maps = st.one_of(
    st.builds(axis_map, st.fractions(F(1, 4), 4, max_denominator=9)),
    st.builds(AxisMap, st.fractions(-2, 6, max_denominator=6), st.fractions(-2, 2, max_denominator=6)),
    st.builds(axis_map, st.floats(0.2, 5), st.sampled_from([0.5, 0.0, 0.1])),
    st.just(AxisMap(F(0), F(1))),
)


@st.composite
def cases(draw, dtypes, max_dims=3):
    dtype = draw(dtypes)
    shape = draw(array_shapes(min_dims=1, max_dims=max_dims, max_side=5))
    if dtype in WORKING:
        data = draw(arrays(np.float16, shape, elements=st.floats(-1000, 1000, width=16))).astype(dtype)
    else:
        data = draw(arrays(dtype, shape))
    axes = sorted(draw(st.sets(st.integers(0, len(shape) - 1))))
    return data, [draw(maps) for _ in axes], [draw(st.integers(0, 6)) for _ in axes], axes


def all_positions(data, axis_maps, n_outs, axes):
    positions = [[F(k) for k in range(n)] for n in data.shape]
    for map, n_out, axis in zip(axis_maps, n_outs, axes, strict=True):
        positions[axis] = map.positions(n_out)
    return positions


@settings(max_examples=200, deadline=None)
@given(cases(st.sampled_from(INTEGERS)), st.sampled_from(sorted(ROUND)))
def test_integers_are_the_rounded_fraction(case, rule):
    data = case[0]
    result = reference.resample(*case, integer_rule=rule)
    expected = exact_linear(data, all_positions(*case))
    rounded = [ROUND[rule](value) for value in expected.ravel()]
    assert_array_equal(
        result, np.array(rounded, object).reshape(expected.shape).astype(data.dtype), strict=True
    )


@settings(max_examples=200, deadline=None)
@given(
    cases(st.sampled_from([*INTEGERS, *WORKING, np.dtype("c8"), np.dtype("S3")])),
    st.sampled_from(NEAREST_RULES),
)
def test_nearest_moves_values(case, rule):
    data, axis_maps, n_outs, axes = case
    one = {
        "half_up": lambda x: math.floor(x + F(1, 2)),
        "half_down": lambda x: math.ceil(x - F(1, 2)),
        "floor": math.floor,
        "ceil": math.ceil,
    }[rule]
    positions = all_positions(*case)
    index = [
        [min(max(one(x), 0), n - 1) for x in axis] for axis, n in zip(positions, data.shape, strict=True)
    ]
    expected = data[np.ix_(*(np.array(axis, np.intp) for axis in index))]
    result = reference.resample(data, axis_maps, n_outs, axes, mode="nearest", nearest_rule=rule)
    assert result.dtype == data.dtype
    assert result.shape == expected.shape
    assert result.tobytes() == expected.tobytes()
    assert not np.shares_memory(result, data)


def by_scalars(values, axis, positions, working):
    """One axis of the numeric contract, in scalars of the working type."""
    n = values.shape[axis]
    result = np.empty((*values.shape[:axis], len(positions), *values.shape[axis + 1 :]), working)
    for output in np.ndindex(result.shape):
        (low, _), (high, exact) = taps(positions[output[axis]], n)
        a = values[(*output[:axis], low, *output[axis + 1 :])]
        if low == high or exact == 0:
            result[output] = a
            continue
        b = values[(*output[:axis], high, *output[axis + 1 :])]
        w = working(float(exact))
        with np.errstate(all="ignore"):
            r = a + (b - a) * w
            if not np.isfinite(r):
                r = a if w == 0 else b if w == 1 else (working(1) - w) * a + w * b
        result[output] = r
    return result


def contract(data, axis_maps, n_outs, axes):
    """The numeric contract from its text."""
    working = WORKING[data.dtype]
    positions = all_positions(data, axis_maps, n_outs, axes)
    order = [axis for axis in axes if positions[axis] != [F(k) for k in range(data.shape[axis])]]
    # An axis of one sample, or one read outside of its ends, may be the identity without x = X.
    order = [
        axis
        for axis in order
        if [min(max(x, 0), data.shape[axis] - 1) for x in positions[axis]] != list(range(data.shape[axis]))
    ]
    if not order:
        return data.copy()
    if len(order) > 1 and len(positions[order[-2]]) > data.shape[order[-2]]:
        order = [*order[:-2], order[-1], order[-2]]
    values = data.astype(working)
    for axis in order:
        values = by_scalars(values, axis, positions[axis], working)
    values[np.isnan(values)] = np.uint32(0x7FC00000).view(np.float32)
    with np.errstate(all="ignore"):
        return values.astype(data.dtype)


@settings(max_examples=300, deadline=None)
@given(cases(st.sampled_from(list(WORKING))))
def test_floats_follow_the_contract(case):
    result = reference.resample(*case)
    expected = contract(*case)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    assert result.tobytes() == expected.tobytes()


SPECIAL = [
    float(np.float32(value))
    for value in (0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 3e38, -3e38, 1e-45)
]


@settings(max_examples=300, deadline=None)
@given(
    arrays(np.float32, array_shapes(min_dims=1, max_dims=2, max_side=5), elements=st.sampled_from(SPECIAL)),
    st.lists(maps, min_size=2, max_size=2),
    st.lists(st.integers(1, 6), min_size=2, max_size=2),
    st.sampled_from(list(WORKING)),
)
def test_special_values_follow_the_contract(data, axis_maps, n_outs, dtype):
    with np.errstate(all="ignore"):
        data = data.astype(dtype)
    case = data, axis_maps[: data.ndim], n_outs[: data.ndim], range(data.ndim)
    assert reference.resample(*case).tobytes() == contract(*case).tobytes()


@settings(max_examples=100, deadline=None)
@given(cases(st.just(np.dtype(np.float64)), max_dims=2))
def test_float64_is_near_the_exact_result(case):
    """An axis rounds a weight, a difference, a product and a sum: 4 half units of 2 * max |data| at most."""
    data = case[0]
    exact = exact_linear(data, all_positions(*case))
    bound = 2 * 4 * 2.0**-53 * 2 * float(np.abs(data).max(initial=0))
    result = reference.resample(*case)
    assert all(abs(F(r) - e) <= bound for r, e in zip(result.ravel().tolist(), exact.ravel(), strict=True))


def ramp_to(mode, n, m, dtype=np.float64, **options):
    return reference.resample(np.arange(n, dtype=dtype), [coordinate_map(mode, n, m)], [m], [0], **options)


def test_ramp_of_4_to_8():
    assert ramp_to("half_pixel", 4, 8).tolist() == [0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3]


def test_ramp_to_one_sample():
    expected = {"half_pixel": 4.5, "pytorch_half_pixel": 0, "align_corners": 0, "asymmetric": 0}
    assert {mode: ramp_to(mode, 10, 1).item() for mode in expected} == expected
    data = np.arange(100.0).reshape(10, 10)
    for mode, value in expected.items():
        both = reference.resample(data, [coordinate_map(mode, 10, 1)] * 2, [1, 1], [0, 1])
        assert both.tolist() == [[11 * value]]


def test_two_by_two_to_ten_by_ten():
    data = np.array([[5.0, 1], [1, 5]])
    rows = {
        "asymmetric": [5, 4.2, 3.4, 2.6, 1.8, 1, 1, 1, 1, 1],
        "align_corners": [5 - F(4 * k, 9) for k in range(10)],
        "half_pixel": [5, 5, 5, 4.2, 3.4, 2.6, 1.8, 1, 1, 1],
    }
    for mode, row in rows.items():
        result = reference.resample(data, [coordinate_map(mode, 2, 10)] * 2, [10, 10], [0, 1])
        assert result.shape == (10, 10)
        assert result[0] == pytest.approx([float(value) for value in row], abs=1e-15)


@pytest.mark.parametrize(("mode", "total"), [("half_pixel", 4), ("asymmetric", 4), ("align_corners", 5.76)])
def test_sum_of_an_impulse(mode, total):
    data = np.zeros((3, 3))
    data[1, 1] = 1
    result = reference.resample(data, [coordinate_map(mode, 3, 6)] * 2, [6, 6], [0, 1])
    assert result.sum() == pytest.approx(total, abs=1e-14)


def test_uint8_rounding():
    data = np.array([1, 2], np.uint8)
    case = data, [coordinate_map("align_corners", 2, 4)], [4], [0]
    assert reference.resample(*case).tolist() == [1, 1, 2, 2]
    assert reference.resample(*case, integer_rule="truncate").tolist() == [1, 1, 1, 2]
    image = np.zeros((7, 7), np.uint8)
    image[5:, 5:] = [[128, 129], [129, 129]]
    assert reference.resample(image, [coordinate_map("half_pixel", 7, 3)] * 2, [3, 3], [0, 1])[-1, -1] == 129


def test_ties_of_integers():
    data = np.array([-3, -2, -1, 0, 1, 2], np.int8)
    case = data, [AxisMap(F(1, 2), F(1))], [5], [0]
    assert reference.resample(*case, integer_rule="half_up").tolist() == [-2, -1, 0, 1, 2]
    assert reference.resample(*case, integer_rule="half_even").tolist() == [-2, -2, 0, 0, 2]
    assert reference.resample(*case, integer_rule="truncate").tolist() == [-2, -1, 0, 0, 1]


def test_integers_of_64_bits_keep_all_their_bits():
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        data = np.array([limits.max, limits.max - 1, limits.min, limits.max], dtype)
        result = reference.resample(data, [AxisMap(F(1, 3), F(1))], [3], [0])
        low, high = int(limits.min), int(limits.max)
        expected = [F(3 * high - 1, 3), F(2 * (high - 1) + low, 3), F(2 * low + high, 3)]
        assert result.tolist() == [math.floor(value + F(1, 2)) for value in expected]


@pytest.mark.parametrize("dtype", [*INTEGERS, *WORKING, np.dtype("c8"), np.dtype("c16")], ids=str)
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_constant_stays_constant(dtype, mode):
    data = np.full((7, 9), 3 if dtype.kind in "iu" else 0.1, dtype)
    case = data, [axis_map(F(51, 110)), axis_map(1.3)], [3, 12], [0, 1]
    assert_array_equal(reference.resample(*case, mode=mode), np.full((3, 12), data[0, 0], dtype), strict=True)


def test_axes_are_applied_in_the_stated_order():
    """A case in which the order is seen in the last bit."""
    data = np.float32([[0.1, 0.7], [0.3, 1.9]])
    map = AxisMap(F(1, 3), F(1, 7))

    def one(values, axis, n_out):
        return reference.resample(values, [map], [n_out], [axis])

    both = reference.resample(data, [map, map], [3, 3], [0, 1])
    assert_array_equal(both, one(one(data, 1, 3), 0, 3), strict=True)
    assert (both != one(one(data, 0, 3), 1, 3)).any()
    first_kept = reference.resample(data, [map, map], [2, 3], [0, 1])
    assert_array_equal(first_kept, one(one(data, 0, 2), 1, 3), strict=True)


def test_nothing_but_a_copy_where_all_axes_are_the_identity():
    bits = np.array([0x7F800001, 0xFFC12345, 0x80000000, 0x3F800000], np.uint32)
    data = bits.view(np.float32)
    result = reference.resample(data, [axis_map(1)], [4], [0])
    assert_array_equal(result.view(np.uint32), bits)
    assert not np.shares_memory(result, data)


@pytest.mark.parametrize(
    ("dtype", "bits"), [(np.float16, 0x7E00), (np.float32, 0x7FC00000), (np.float64, 0x7FF8000000000000)]
)
def test_nan_results_are_the_one_quiet_nan(dtype, bits):
    kind = np.dtype(f"u{np.dtype(dtype).itemsize}")
    nan = np.array([np.iinfo(kind).max], kind).view(dtype)  # negative, all payload bits set
    data = np.concatenate([nan, np.array([1, 2, 3], dtype)])
    result = reference.resample(data, [axis_map(2)], [8], [0])
    assert_array_equal(np.isnan(result), [True, True, True] + [False] * 5)
    assert result[:3].view(kind).tolist() == [bits] * 3


def test_infinities_and_overflow():
    largest = np.finfo(np.float32).max
    data = np.float32([largest, -largest, math.inf, 1, math.inf, math.inf, -math.inf])
    result = reference.resample(data, [AxisMap(F(0), F(1, 2))], [13], [0])
    expected = [largest, 0, -largest, math.inf, math.inf, math.inf, 1, math.inf, math.inf, math.inf, math.inf]
    assert_array_equal(result, np.float32([*expected, math.nan, -math.inf]))


def test_a_tap_of_weight_zero_contributes_nothing():
    data = np.float32([-0.0, math.nan, 5, math.inf])
    assert_array_equal(
        reference.resample(data, [AxisMap(F(0), F(2))], [3], [0]),
        np.float32([-0.0, 5, math.inf]),
        strict=True,
    )
    assert np.signbit(reference.resample(data, [AxisMap(F(0), F(2))], [3], [0])[0])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_are_two_floats(dtype):
    data = np.array([1 + 2j, complex(math.inf, 0), -3j, complex(math.nan, 1)], dtype)
    case = [axis_map(F(3, 2))], [6], [0]
    result = reference.resample(data, *case)
    assert result.dtype == dtype
    assert_array_equal(result.real, reference.resample(data.real, *case), strict=True)
    assert_array_equal(result.imag, reference.resample(data.imag, *case), strict=True)


@pytest.mark.parametrize("dtype", [">i2", ">u8", ">f4", ">f2", ">c8"])
def test_byte_order_is_kept(dtype):
    native = np.arange(6).astype(np.dtype(dtype).newbyteorder("="))
    case = [axis_map(1.7)], [9], [0]
    result = reference.resample(native.astype(dtype), *case)
    assert result.dtype == np.dtype(dtype)
    assert_array_equal(result, reference.resample(native, *case))


def test_layout_does_not_matter():
    data = np.arange(60.0, dtype=np.float32).reshape(3, 4, 5)
    case = [axis_map(1.7), axis_map(0.6)], [5, 3], [0, 2]
    expected = reference.resample(data, *case)
    read_only = np.asfortranarray(data)
    read_only.flags.writeable = False
    assert_array_equal(reference.resample(read_only, *case), expected, strict=True)
    assert_array_equal(reference.resample(data[:, ::-1], *case), expected[:, ::-1], strict=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.complex64])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_empty_and_rank_zero(dtype, mode):
    half = axis_map(F(1, 2))
    assert reference.resample(np.zeros((0, 4), dtype), [half], [2], [1], mode=mode).shape == (0, 2)
    assert reference.resample(np.zeros((3, 4), dtype), [half], [0], [0], mode=mode).shape == (0, 4)
    assert reference.resample(np.zeros((0,), dtype), [half], [0], [0], mode=mode).shape == (0,)
    point = reference.resample(np.array(7, dtype), [], [], [], mode=mode)
    assert (point.shape, point.dtype, point.item()) == ((), np.dtype(dtype), 7)


def test_rejects():
    case = [axis_map(2)], [4], [0]
    data = np.zeros(2)
    with pytest.raises(
        ValueError,
        match="resample: `mode` must be one of nearest, majority, linear, cubic, box, lanczos3, got 'cubi'",
    ):
        reference.resample(data, *case, mode="cubi")
    with pytest.raises(
        ValueError, match="resample: `integer_rule` must be one of half_up, half_even, truncate, got 'up'"
    ):
        reference.resample(data.astype(int), *case, integer_rule="up")
    with pytest.raises(ValueError, match="nearest_table: `rule` must be one of"):
        reference.resample(data, *case, mode="nearest", nearest_rule="up")
    for dtype in ("bool", "S2", "datetime64[s]", "longdouble", "object"):
        with pytest.raises(TypeError, match=r"resample: `data` must be of integers, .* or complex, got "):
            reference.resample(np.zeros(2, dtype), *case)
