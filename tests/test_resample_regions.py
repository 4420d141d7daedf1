"""Parts of a resampling: tiles stitched together are the whole, bit by bit; and what a part reads."""

import itertools
import pickle
from fractions import Fraction as F

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import belonging, laid_out, random_array, same_bits

from remapnd import ResamplePlan, _core, resample
from remapnd.coordinates import COORDINATE_MODES
from remapnd.taps import NEAREST_RULES

INTEGERS = [np.dtype(d) for d in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8")]
FLOATS = [np.dtype(d) for d in ("f2", ml_dtypes.bfloat16, "f4", "f8", "c8", "c16")]
LAYOUTS = ["C", "F", "negative", "strided", "read_only", "unaligned"]
MODES = [
    ("nearest", None),
    ("linear", None),
    ("linear", "pillow"),
    ("linear", "directml"),
    *itertools.product(("cubic", "box", "lanczos3"), (None, "pillow", "onnx")),
]


@st.composite
def plans(draw):
    rank = draw(st.integers(1, 3))
    largest = (80, 20, 9)[rank - 1]
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
            "integer_rule": draw(st.sampled_from(["half_up", "half_even", "truncate"])),
        }
    )
    dtype = draw(st.sampled_from(INTEGERS + FLOATS))
    if draw(st.booleans()):
        options["coordinates"] = draw(st.sampled_from([*COORDINATE_MODES, "tf_crop_and_resize"]))
        if options["coordinates"] == "tf_crop_and_resize":
            bounds = st.sampled_from([-0.5, 0, F(1, 3), 1, 1.25])
            options["roi"] = [draw(bounds) for _ in range(2 * len(axes))]
            options["extrapolation_value"] = 3
        return ResamplePlan.resized(shape, dtype, outs, **options)
    if draw(st.booleans()):
        options["scales"] = [
            draw(st.one_of(st.fractions(F(1, 9), 4, max_denominator=12), st.floats(0.12, 4))) for _ in axes
        ]
        options["input_offsets"] = draw(st.sampled_from([0.5, 0, -1.3, 20]))
    return ResamplePlan(shape, dtype, shape=outs, **options)


def numbers(shape, dtype, seed):
    """Random bits; sometimes integers with many ties."""
    if dtype.kind in "iu" and seed % 2:
        return np.random.default_rng(seed).integers(0, 4, shape).astype(dtype)
    with np.errstate(invalid="ignore"):
        return random_array(tuple(shape), dtype, seed)


def cuts(n, step):
    return [slice(begin, min(begin + step, n)) for begin in range(0, n, step)]


@settings(max_examples=250, deadline=None)
@given(plans(), st.integers(0, 10**6), st.sampled_from(LAYOUTS), st.data())
def test_tiles_are_the_whole(plan, seed, layout, data):
    _core.use_level(data.draw(st.sampled_from(_core.levels_usable())))
    array = laid_out(numbers(plan.data_shape, plan.dtype, seed), layout)
    whole = plan(array)
    result = np.empty_like(whole)
    steps = [data.draw(st.integers(max(1, n // 3), n)) for n in plan.output_shape]
    for tile in itertools.product(*map(cuts, plan.output_shape, steps)):
        part = plan.region(tile)
        region = plan.input_region(tile)
        assert part.data_shape == array[region].shape
        result[tile] = part(array[region])
    assert same_bits(result, whole)


@settings(max_examples=60, deadline=None)
@given(plans(), st.integers(0, 10**6), st.data())
def test_a_part_of_a_part(plan, seed, data):
    def some(shape):
        bounds = [sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n)))) for n in shape]
        return tuple(slice(*pair) for pair in bounds)

    array = numbers(plan.data_shape, plan.dtype, seed)
    outer = some(plan.output_shape)
    first = plan.region(outer)
    inner = some(first.output_shape)
    second = first.region(inner)
    taken = array[plan.input_region(outer)][first.input_region(inner)]
    assert same_bits(second(taken), plan(array)[outer][inner])
    again = pickle.loads(pickle.dumps(second))
    assert again == second
    assert hash(again) == hash(second)
    assert same_bits(again(taken), second(taken))


@settings(max_examples=60, deadline=None)
@given(plans().filter(lambda plan: plan.dtype.kind not in "iu" and plan.dtype.name != "bfloat16"), st.data())
def test_gradients_of_a_part(plan, data):
    """A part's gradient is the whole's for a gradient that is zero elsewhere, but for the order of sums."""
    bounds = [
        sorted(data.draw(st.tuples(st.integers(0, n - 1), st.integers(1, n)))) for n in plan.output_shape
    ]
    tile = tuple(slice(low, max(high, low + 1)) for low, high in bounds)
    rng = np.random.default_rng(3)
    full = np.zeros(plan.output_shape, plan.dtype)
    full[tile] = rng.integers(-8, 8, full[tile].shape)
    expected = np.zeros(plan.data_shape, plan.dtype)
    expected[plan.input_region(tile)] = plan.region(tile).vjp(full[tile])
    scale = 8.0 * full[tile].size
    assert np.abs(plan.vjp(full) - expected).max() <= scale * np.finfo(plan.dtype).eps


def test_nothing_else_is_read():
    """Samples outside the region do not change the part; those at its ends do."""
    plan = ResamplePlan((50, 60), np.float64, shape=(33, 140), mode="cubic", antialias="pillow")
    data = np.random.default_rng(0).standard_normal((50, 60))
    tile = np.s_[3:9, -40:-2]
    region = plan.input_region(tile)
    outside = np.full_like(data, np.nan)
    outside[region] = data[region]
    assert same_bits(plan(outside)[tile], plan(data)[tile])
    for axis, place in itertools.product((0, 1), (0, -1)):
        changed = data.copy()
        np.moveaxis(changed[region], axis, 0)[place] += 1e6
        assert not np.array_equal(plan(changed)[tile], plan(data)[tile])


def test_what_is_named():
    plan = ResamplePlan((4, 6, 5), np.float32, shape=(8, 12), axes=(0, 1))
    whole = (slice(0, 4), slice(0, 6), slice(0, 5))
    assert plan.input_region(...) == plan.input_region(()) == plan.input_region(np.s_[:]) == whole
    assert plan.region(...) is plan
    assert plan.input_region(np.s_[..., 2:3]) == (slice(0, 4), slice(0, 6), slice(2, 3))
    assert plan.input_region(np.s_[:2, ..., -1:]) == (slice(0, 2), slice(0, 6), slice(4, 5))
    assert plan.input_region(np.s_[-2:, :-6:1]) == (slice(2, 4), slice(0, 4), slice(0, 5))
    assert plan.input_region(np.s_[np.int64(1) : True + 1]) == (slice(0, 2), slice(0, 6), slice(0, 5))
    for empty in (np.s_[3:3], np.s_[5:2], np.s_[100:], np.s_[:, -100:0]):
        assert plan.input_region(empty) == (slice(0, 0),) * 3
        part = plan.region(empty)
        assert part(np.zeros((0, 0, 0), np.float32)).shape == np.zeros(plan.output_shape)[empty].shape
        assert part == pickle.loads(pickle.dumps(part))
    nothing = ResamplePlan((0, 6), np.float32, shape=(0, 12))
    assert nothing.input_region(np.s_[:, 3:7]) == (slice(0, 0),) * 2
    assert nothing.region(np.s_[:, 3:7])(np.zeros((0, 0), np.float32)).shape == (0, 4)


@pytest.mark.parametrize(
    ("slices", "error", "text"),
    [
        (
            np.s_[::2],
            ValueError,
            r"must have steps of 1 on axis 0, got slice\(None, None, 2\)",
        ),
        (np.s_[:, ::-1], ValueError, r"must have steps of 1 on axis 1, got slice\(None, None, -1\)"),
        (np.s_[:, :, :], ValueError, r"must have at most one slice for each of 2 axes, got 3 slices"),
        (np.s_[..., ...], ValueError, r"must have at most one Ellipsis, got 2"),
        (3, TypeError, r"must be a slice, Ellipsis or a tuple of them, got 3 of type int"),
        (
            np.s_[:, None],
            TypeError,
            r"must be a slice, Ellipsis or a tuple of them, got None of type NoneType",
        ),
        (
            np.s_[0.5:],
            TypeError,
            r"must have integers or None as bounds on axis 0, got slice\(0.5, None, None\)",
        ),
    ],
)
def test_slices_that_are_refused(slices, error, text):
    plan = ResamplePlan((4, 6), np.float32, shape=(8, 12))
    for method in (plan.input_region, plan.region):
        with pytest.raises(error, match="resample: `output_slices` " + text):
            method(slices)


def test_a_part_says_so():
    plan = ResamplePlan((100,), np.int16, shape=250, mode="lanczos3")
    part = plan.region(np.s_[120:])
    assert (
        repr(part) == "<ResamplePlan lanczos3 int16 (55,) -> (130,) on axes (0,), part [120:250] of (250,)>"
    )
    # the first output of the part is the 121st of the whole, at 47.7: the part's data begin at 45
    assert part.maps[0].at(0) == plan.maps[0].at(120) - 45 == F(27, 10)
    assert "X = 0: samples 0 to 5," in part.explain()
    assert part != plan
    assert part != plan.region(np.s_[121:])
    assert part == ResamplePlan((100,), np.int16, shape=250, mode="lanczos3").region(np.s_[-130:])


def test_a_part_that_looks_like_a_copy_is_computed():
    """What is the identity in the part but not in the whole makes NaN the quiet one, as the whole does."""
    plan = ResamplePlan((5,), np.float32, scales=1, shape=7)
    signalling = np.array([0x7F800001] * 5, np.uint32).view(np.float32)
    part = plan.region(np.s_[1:4])
    assert same_bits(part(signalling[1:4]), plan(signalling)[1:4])
    assert part(signalling[1:4]).view(np.uint32).tolist() == [0x7FC00000] * 3


def test_doubtful_integers_of_a_part():
    """Results that floating point cannot decide are computed with the weights of the whole."""
    data = np.random.default_rng(0).integers(-(2**63), 2**63, (40, 30))
    plan = ResamplePlan(data.shape, data.dtype, scales=0.37, mode="lanczos3", antialias="pillow")
    whole = plan(data)
    for y, x in itertools.product(cuts(14, 5), cuts(11, 4)):
        assert same_bits(plan.region((y, x))(data[plan.input_region((y, x))]), whole[y, x])


def test_a_plan_of_what_no_memory_holds():
    plan = ResamplePlan((1 << 20, 1 << 20, 1 << 10), np.float64, scales=(2, 2), axes=(0, 1))
    tile = np.s_[1 << 20 : (1 << 20) + 4, 2:5, :2]
    region = plan.input_region(tile)
    assert region == np.s_[(1 << 19) - 1 : (1 << 19) + 3, 0:3, 0:2]
    small = np.random.default_rng(0).standard_normal((8, 8, 2))
    assert same_bits(plan.region(tile)(small[2:6, :3]), resample(small, scales=2, axes=(0, 1))[6:10, 2:5])
    with pytest.raises(
        ValueError, match=r"resample: `out` must fit in memory, got shape \(2097152, 2097152, 1024\)"
    ):
        plan(np.broadcast_to(np.float64(0), plan.data_shape))


def test_from_a_memory_map(tmp_path):
    source = np.lib.format.open_memmap(tmp_path / "in.npy", "w+", np.uint8, (300, 200, 3))
    source[:] = np.random.default_rng(0).integers(0, 256, source.shape)
    plan = ResamplePlan(source.shape, source.dtype, shape=(450, 130), axes=(0, 1), antialias="pillow")
    target = np.empty(plan.output_shape, plan.dtype)
    for y in cuts(450, 64):
        plan.region(y)(source[plan.input_region(y)], out=target[y])
    assert np.array_equal(
        target, resample(np.array(source), shape=(450, 130), axes=(0, 1), antialias="pillow")
    )
