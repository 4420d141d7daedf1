"""Majority: labels against the reference, ties, doubts, layouts, and what is refused."""

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from strategies import laid_out, result_arrays

from remapnd import ResamplePlan, _core, reference, resample, resize
from remapnd.coordinates import COORDINATE_MODES

LABELS = [np.dtype(d) for d in ("?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">u2", ">i8")]
LAYOUTS = ["C", "F", "negative", "strided", "zero_stride", "read_only", "unaligned"]


def labels(shape, dtype, seed):
    """Few labels, equal ones side by side more often than not; or many, from end to end of the dtype."""
    rng = np.random.default_rng(seed)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    limits = np.iinfo(dtype)
    kind = rng.integers(3)
    if kind == 0:
        return rng.choice(np.array([limits.min, limits.max, 5], dtype), shape).astype(dtype)
    if kind == 1:
        return rng.integers(limits.min, limits.max, shape, dtype.newbyteorder("="), endpoint=True).astype(
            dtype
        )
    blocks = rng.integers(0, 4, [-(-n // 3) for n in shape])
    for axis in range(len(shape)):
        blocks = np.repeat(blocks, 3, axis)
    return np.ascontiguousarray(blocks[tuple(map(slice, shape))]).astype(dtype)


@st.composite
def plans(draw, largest=(60, 9, 6, 4)):
    rank = draw(st.integers(1, 4))
    shape = draw(st.lists(st.integers(1, largest[rank - 1]), min_size=rank, max_size=rank))
    axes = sorted(draw(st.sets(st.integers(0, rank - 1), min_size=1)))
    outs = [draw(st.integers(1, largest[rank - 1])) for _ in axes]
    dtype = draw(st.sampled_from(LABELS))
    options = {"axes": axes, "mode": "majority"}
    if draw(st.booleans()):
        options["coordinates"] = draw(st.sampled_from(COORDINATE_MODES))
        return ResamplePlan.resized(shape, dtype, outs, **options)
    if draw(st.booleans()):
        scale = st.one_of(st.fractions(F(1, 9), 4, max_denominator=12), st.floats(0.12, 4))
        options["scales"] = [draw(scale) for _ in axes]
        options["input_offsets"] = draw(st.sampled_from([0.5, 0, -1.3, 20]))
    return ResamplePlan(shape, dtype, shape=outs, **options)


def by_reference(plan, data):
    n_outs = [plan.output_shape[axis] for axis in plan.axes]
    return reference.resample(data, plan.maps, n_outs, plan.axes, mode="majority")


@settings(max_examples=150, deadline=None)
@given(plans(), st.integers(0, 10**6), st.sampled_from(LAYOUTS))
def test_labels_are_those_of_the_reference(plan, seed, layout):
    data = laid_out(labels(plan.data_shape, plan.dtype, seed), layout)
    expected = by_reference(plan, data)
    for threads in (1, 3):
        _core.set_num_threads(threads)
        assert_array_equal(plan(data), expected, strict=True)
    out = result_arrays(plan.output_shape, plan.dtype, layout)
    assert plan(data, out=out) is out
    assert_array_equal(out, expected, strict=True)


@settings(max_examples=60, deadline=None)
@given(plans(), st.integers(0, 10**6), st.data())
def test_tiles_are_the_whole(plan, seed, data):
    array = labels(plan.data_shape, plan.dtype, seed)
    whole = plan(array)
    result = np.zeros_like(whole)
    steps = [data.draw(st.integers(max(1, n // 2), n)) for n in plan.output_shape]
    cuts = (range(0, n, step) for n, step in zip(plan.output_shape, steps, strict=True))
    for corner in itertools.product(*cuts):
        tile = tuple(slice(begin, begin + step) for begin, step in zip(corner, steps, strict=True))
        result[tile] = plan.region(tile)(array[plan.input_region(tile)])
    assert_array_equal(result, whole, strict=True)


def by_one_hot(data, shape):
    """The label whose resized indicator is largest: what one would do without the mode."""
    values = np.unique(data)
    one = 1 << 40  # so that rounding does not decide
    volumes = [resize((data == value).astype(np.int64) * one, shape) for value in values]
    return values[np.argmax(volumes, axis=0)]


@pytest.mark.parametrize("shape", [(29, 40), (9, 7), (26, 36)])
def test_it_is_the_largest_of_the_resized_indicators(shape):
    data = labels((13, 18), np.dtype("u1"), 2) % 5
    assert_array_equal(resize(data, shape, mode="majority"), by_one_hot(data, shape))


@pytest.mark.parametrize("dtype", ["u1", "i2"])
def test_of_equal_weights_the_lowest_label_is_taken(dtype):
    # X = 0 is midway between the two samples
    for pair in ([7, 3], [3, 7]):
        assert resize(np.array(pair, dtype), 1, mode="majority").tolist() == [3]
    if dtype == "i2":
        assert resize(np.array([0, -1], dtype), 1, mode="majority").tolist() == [-1]
    # four corners of a quarter each: two labels of one half, then one of them alone ahead
    assert resize(np.array([[9, 4], [4, 9]], dtype), (1, 1), mode="majority").tolist() == [[4]]
    assert resize(np.array([[9, 4], [8, 9]], dtype), (1, 1), mode="majority").tolist() == [[9]]
    assert resize(np.array([[9, 4], [8, 3]], dtype), (1, 1), mode="majority").tolist() == [[3]]


def test_a_label_can_win_that_no_single_corner_would():
    """The nearest sample weighs 4/9, its three neighbours together 5/9."""
    data = np.array([[5, 8], [8, 8]], np.uint8)
    plan = ResamplePlan((2, 2), np.uint8, scales=1, shape=1, input_offsets=F(1, 6), mode="majority")
    assert plan.maps[0].at(0) == F(1, 3)
    assert plan(data).tolist() == [[8]]
    assert resample(data, scales=1, shape=1, input_offsets=F(1, 6), mode="nearest").tolist() == [[5]]


def test_masks():
    mask = np.zeros((20, 20), bool)
    mask[5:15, 5:15] = True
    larger = resize(mask, (40, 40), mode="majority")
    assert larger.dtype == np.bool_
    assert larger.sum() == 400  # 2 x 2 for each, corners too: they weigh 9/16
    assert (
        resize(mask, (30, 30), axes=(0, 1), mode="majority").sum() == 14 * 14
    )  # midway, the lowest is False
    assert_array_equal(larger, larger[::-1].T)


def test_sums_in_doubt_are_taken_again():
    """Denominators of some 2**54 an axis: float64 does not know which of two halves is larger."""
    scale = 1 + 2.0**-52
    data = np.random.default_rng(0).integers(0, 3, (6, 7, 5)).astype(np.int32)
    plan = ResamplePlan(
        data.shape, data.dtype, scales=scale, shape=data.shape, input_offsets=0, mode="majority"
    )
    assert plan._method._bound > 0
    positions = plan._method._run(data, np.empty(data.shape, data.dtype), plan._method._bound)
    assert positions.size > 0
    assert_array_equal(plan(data), by_reference(plan, data))
    whole = ResamplePlan(data.shape, data.dtype, shape=(9, 9, 9), mode="majority")
    assert whole._method._bound == 0


@pytest.mark.parametrize("rank", [5, 7])
def test_many_axes(rank):
    shape = (2, 3, 2, 2, 2, 2, 2)[:rank]
    outs = (3, 2, 3, 1, 2, 3, 1)[:rank]
    data = np.random.default_rng(1).integers(-3, 3, shape).astype(np.int16)
    plan = ResamplePlan(shape, data.dtype, shape=outs, mode="majority")
    assert_array_equal(plan(data), by_reference(plan, data), strict=True)


@pytest.mark.parametrize("axes", [(0,), (0, 1), (1,), (0, 2)])
@pytest.mark.parametrize("channels", [1, 3, 1500])
def test_blocks_behind_the_axes(axes, channels):
    data = labels((5, 7, 4, channels), np.dtype("u2"), 8)
    outs = [data.shape[axis] + 3 for axis in axes]
    plan = ResamplePlan(data.shape, data.dtype, shape=outs, axes=axes, mode="majority")
    first = plan(data[..., :1].repeat(channels, -1))
    assert_array_equal(first, first[..., :1].repeat(channels, -1))
    few = ResamplePlan((*data.shape[:3], 2), data.dtype, shape=outs, axes=axes, mode="majority")
    assert_array_equal(plan(data)[..., [0, -1]], by_reference(few, data[..., [0, -1]]), strict=True)


def test_long_rows():
    data = labels((2, 30_000), np.dtype("u1"), 5)
    for n_out in (70_001, 41, 9_000):
        plan = ResamplePlan(data.shape, data.dtype, shape=n_out, axes=1, mode="majority")
        table = plan._tables[1]
        twice = 2 * table.numerators() > table.denominator
        tie = 2 * table.numerators() == table.denominator
        a, b = data[:, table.first], data[:, table.second]
        assert_array_equal(plan(data), np.where(tie, np.minimum(a, b), np.where(twice, b, a)))


def test_a_volume_from_the_back_and_outside():
    data = labels((6, 8), np.dtype("i4"), 2)
    plan = ResamplePlan.resized(
        (6, 8),
        "i4",
        (5, 9),
        coordinates="tf_crop_and_resize",
        roi=[1.2, 0, 0, 1],
        extrapolation_value=-9,
        mode="majority",
    )
    expected = reference.resample(
        data, plan.maps, plan.output_shape, (0, 1), mode="majority", extrapolation_value=-9
    )
    assert (expected[0] == -9).all()
    assert_array_equal(plan(data), expected, strict=True)


def test_what_it_says():
    plan = ResamplePlan((4, 6), np.uint8, shape=(8, 6), mode="majority")
    lines = plan.explain().splitlines()
    assert lines[0] == "ResamplePlan majority uint8 (4, 6) -> (8, 6) on axes (0, 1)"
    assert lines[-1] == "the label whose corners weigh most, the lowest of equal ones; sums are taken exactly"
    assert "weights are multiples of 1/4" in lines[1]
    same = ResamplePlan((4, 6), np.uint8, shape=(4, 6), mode="majority")
    assert same.explain().endswith("every output sample is an input sample: a copy")


@pytest.mark.parametrize("dtype", ["f4", "c8", "S3", "M8[s]"])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(
        TypeError, match=r"resize: `data` must have an integer dtype or bool for mode 'majority'"
    ):
        resize(np.zeros(4, dtype), 8, mode="majority")


def test_what_does_not_go_with_it():
    with pytest.raises(ValueError, match="resize: `antialias` must be left at None for mode 'majority'"):
        resize(np.zeros(4, int), 8, mode="majority", antialias="onnx")
    with pytest.raises(ValueError, match=r"`axes` must name at most 16 axes .* for mode 'majority'"):
        ResamplePlan((1,) * 17, np.uint8, shape=2, mode="majority")
    plan = ResamplePlan((4,), np.int16, shape=8, mode="majority")
    rule = (
        r"resample: `mode` must be one that mixes or moves values, for a gradient \(labels have none\), got"
    )
    with pytest.raises(TypeError, match=rule):
        plan.vjp(np.zeros(8, np.int16))


def axis(first, second, weight, one=1.0, n_in=4):
    return _core.Axis(0, n_in, np.array(first), np.array(second), np.array(weight, float), one)


def test_the_core_checks_what_it_is_told():
    with pytest.raises(ValueError, match="labels must be integers"):
        _core.Majority(10, [axis([0], [1], [0.5])])
    with pytest.raises(ValueError, match="no such type"):
        _core.Majority(12, [axis([0], [1], [0.5])])
    with pytest.raises(ValueError, match="taps must be neighbours"):
        _core.Majority(0, [axis([0], [2], [0.5])])
    with pytest.raises(ValueError, match=r"taps must lie in \[0, n_in\)"):
        _core.Majority(0, [axis([3], [4], [0.5])])
    run = _core.Majority(2, [axis([3, 0], [3, 1], [-0.0, 1], 2)])
    with pytest.raises(ValueError, match="item sizes must be those of the type"):
        run(np.zeros(4, "u1"), np.zeros(2, "u1"), 0.0)
    with pytest.raises(ValueError, match="shapes do not fit"):
        run(np.zeros(5, "u2"), np.zeros(2, "u2"), 0.0)
    with pytest.raises(ValueError, match="must be aligned"):
        run(np.zeros(9, "u1")[1:].view("u2"), np.zeros(2, "u2"), 0.0)
    out = np.zeros(2, "u2")
    assert run(np.array([6, 5, 9, 8], "u2"), out, 0.0).size == 0
    assert out.tolist() == [8, 5]
    assert math.prod(out.shape) == 2


@pytest.mark.parametrize("ground", [0, 9])
def test_ties_at_half_scale_go_to_the_lowest_label(ground):
    """What the documentation warns of: a line goes where its label is higher than its ground."""
    labels = np.full((6, 6), ground, np.uint8)
    labels[:, 3] = 5
    half = resize(labels, scales=F(1, 2), mode="majority")
    assert (half == 5).any() == (ground > 5)
    assert (resize(labels, scales=F(1, 3), mode="majority") == labels[1::3, 1::3]).all()
