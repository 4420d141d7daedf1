"""Rows made of two at once, and bytes in 16-bit integers: every way has the bits of the reference."""

from fractions import Fraction

import numpy as np
import pytest
from ml_dtypes import bfloat16

from remapnd import ResamplePlan, _core, reference

LEVELS = _core.levels_usable()
# Height and width before and after: where rows are apart both passes go at once, else one after the other;
# groups of 8 outputs read one, two or four windows of 16 bytes, and are left over in every number.
SIZES = [
    ((8, 64), (4, 32)),
    ((9, 61), (6, 41)),
    ((12, 200), (4, 50)),
    ((6, 48), (12, 96)),
    ((12, 96), (9, 128)),
    ((15, 7), (10, 7)),
    ((4, 300), (2, 300)),
    ((12, 300), (5, 30)),
    ((9, 257), (4, 4)),
    ((9, 23), (3, 5)),
    ((48, 112), (14, 14)),
    ((50, 119), (13, 17)),
    ((6, 64), (9, 96)),  # of these rows vectors repeat, every one or every third
    ((5, 40), (7, 160)),
    ((4, 49), (5, 147)),
    ((6, 96), (9, 72)),
]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rule", ["half_up", "half_even", "truncate"])
@pytest.mark.parametrize(
    ("dtype", "channels"),
    [
        *((np.uint8, 1), (np.uint8, 3), (np.uint8, 4), (np.uint8, 5), (np.int8, 3)),
        *((np.uint16, 1), (np.uint16, 3), (np.uint16, 4), (np.int16, 1), (np.int16, 3)),
    ],
)
@pytest.mark.parametrize("sizes", SIZES)
def test_integers_are_exact(sizes, dtype, channels, rule, level):
    before, after = sizes
    rng = np.random.default_rng(channels)
    plan = ResamplePlan.resized((*before, channels), dtype, after, axes=(0, 1), integer_rule=rule)
    data = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (*before, channels), dtype, endpoint=True)
    expected = reference.resample(data, plan.maps, after, (0, 1), integer_rule=rule)
    strided = np.empty((before[0], 2 * before[1], channels), dtype)[:, ::2]
    strided[...] = data
    _core.use_level(level)
    for source in (data, strided, data[::-1].copy()[::-1]):
        np.testing.assert_array_equal(plan(source), expected)
        apart = np.empty((after[0], after[1], channels + 1), dtype)
        np.testing.assert_array_equal(plan(source, out=apart[..., :channels]), expected)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("special", [None, np.nan, np.inf, 3e38])
@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("sizes", SIZES)
def test_floats_have_the_bits_of_the_reference(sizes, channels, special, level):
    before, after = sizes
    rng = np.random.default_rng(channels)
    data = rng.standard_normal((*before, channels)).astype(np.float32)
    if special is not None:
        data[rng.random(data.shape) < 0.05] = special
        data[0, 0, 0] = -special
    plan = ResamplePlan.resized(data.shape, np.float32, after, axes=(0, 1))
    expected = reference.resample(data, plan.maps, after, (0, 1))
    _core.use_level(level)
    for source in (data, data[::-1].copy()[::-1], np.asfortranarray(data)):
        np.testing.assert_array_equal(plan(source).view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", [np.float16, bfloat16, np.float64])
@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("sizes", SIZES[::2])
def test_other_floats_have_the_bits_of_the_reference(sizes, channels, dtype, level):
    before, after = sizes
    rng = np.random.default_rng(channels)
    data = rng.standard_normal((*before, channels)).astype(dtype)
    data[rng.random(data.shape) < 0.02] = np.inf
    plan = ResamplePlan.resized(data.shape, dtype, after, axes=(0, 1))
    expected = reference.resample(data, plan.maps, after, (0, 1))
    _core.use_level(level)
    assert plan(data).tobytes() == expected.tobytes()


# Planes whose rows are short enough for sheets, with loops outside that are resampled or not; then planes of
# several sheets, and rows too long for any.
SHEETS = [
    ((3, 5, 6), (1, 2), (10, 12)),
    ((4, 6, 7, 5), (0, 1, 2, 3), (6, 9, 10, 8)),
    ((2, 5, 4, 3), (1, 2), (7, 9)),
    ((5, 4, 6, 2), (0, 1, 2), (3, 5, 9)),
    ((3, 1, 9), (0, 1, 2), (4, 3, 20)),
    ((2, 150, 61), (1, 2), (231, 130)),
    ((3, 90, 100), (0, 1, 2), (4, 120, 200)),
    ((2, 5, 400), (1, 2), (8, 600)),
]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, bfloat16, np.complex64])
@pytest.mark.parametrize("special", [None, np.nan, np.inf])
@pytest.mark.parametrize("sizes", SHEETS)
def test_sheets_have_the_bits_of_the_reference(sizes, special, dtype, level):
    shape, axes, after = sizes
    rng = np.random.default_rng(len(shape))
    data = rng.standard_normal(shape).astype(dtype)
    if special is not None:
        data[rng.random(shape) < 0.01] = special
        data[-1, 0, -1] = special
    plan = ResamplePlan.resized(shape, dtype, after, axes=axes)
    expected = reference.resample(data, plan.maps, after, axes)
    _core.use_level(level)
    for source in (data, data[::-1].copy()[::-1], np.asfortranarray(data)):
        assert plan(source).tobytes() == expected.tobytes()
    wide = np.empty((*expected.shape[:-1], expected.shape[-1] + 3), dtype)
    assert plan(data, out=wide[..., :-3]).tobytes() == expected.tobytes()


# Widths of which eight pixels at a time leave some or none, at a half and others; two pixels too far apart.
PIXELS = [(16, 8), (17, 8), (48, 24), (50, 25), (46, 23), (34, 16), (63, 24), (40, 15), (99, 33)]
PIXELS += [(160, 50), (200, 96)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rule", ["half_up", "truncate"])
@pytest.mark.parametrize("height", [(4, 2), (9, 4), (30, 11)])
@pytest.mark.parametrize("width", PIXELS)
def test_pixels_of_both_passes_at_once(width, height, rule, level):
    rng = np.random.default_rng(width[0])
    data = rng.integers(0, 255, (height[0], width[0], 3), np.uint8, endpoint=True)
    data[rng.random(data.shape) < 0.3] = 255
    after = (height[1], width[1])
    plan = ResamplePlan.resized(data.shape, np.uint8, after, axes=(0, 1), integer_rule=rule)
    expected = reference.resample(data, plan.maps, after, (0, 1), integer_rule=rule)
    _core.use_level(level)
    for source in (data, data[:, ::-1].copy()[:, ::-1], np.asfortranarray(data)):
        assert np.array_equal(plan(source), expected)
    guarded = np.full((after[0], after[1] + 2, 3), 7, np.uint8)
    plan(data, out=guarded[:, :-2])
    assert np.array_equal(guarded[:, :-2], expected)
    assert (guarded[:, -2:] == 7).all()


# Denominators of both axes small, of one only, and of neither; with the row's end within a vector and at it.
AREAS = [
    ((9, 12), (6, 8)),
    ((12, 60), (6, 20)),
    ((30, 64), (14, 30)),
    ((45, 50), (14, 15)),
    ((20, 9), (5, 6)),
    ((8, 300), (4, 41)),
    ((16, 5), (2, 1)),
]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("rule", ["half_up", "half_even", "truncate"])
@pytest.mark.parametrize("options", [{"antialias": "pillow"}, {"mode": "cubic", "antialias": "onnx"}])
@pytest.mark.parametrize("sizes", AREAS)
def test_filtered_bytes_are_exact(sizes, options, rule, channels, level):
    before, after = sizes
    rng = np.random.default_rng(channels)
    data = rng.integers(0, 255, (*before, channels), np.uint8, endpoint=True)
    data[rng.random(data.shape) < 0.3] = 255
    plan = ResamplePlan.resized(data.shape, np.uint8, after, axes=(0, 1), integer_rule=rule, **options)
    scales = tuple(Fraction(n, m) for n, m in zip(after, before, strict=True))
    expected = reference.resample(data, plan.maps, after, (0, 1), integer_rule=rule, scales=scales, **options)
    _core.use_level(level)
    np.testing.assert_array_equal(plan(data), expected)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("special", [None, np.nan, np.inf, 3e38])
@pytest.mark.parametrize(
    "options", [{"mode": "cubic"}, {"mode": "lanczos3"}, {"mode": "cubic", "antialias": "onnx"}]
)
@pytest.mark.parametrize(
    "widths", [(17, 34), (40, 80), (3000, 6000), (80, 40), (46, 23), (11, 22), (40, 60), (9, 1), (1, 9)]
)
def test_filtered_floats_that_repeat_have_the_bits_of_the_reference(widths, options, special, level):
    """Every second output is made as the one before, of the result or of the gradient."""
    before, after = widths
    rng = np.random.default_rng(before)
    data = rng.standard_normal((3, before)).astype(np.float32)
    gradient = rng.standard_normal((3, after)).astype(np.float32)
    if special is not None:
        data[1, before // 2] = data[2, 0] = gradient[1, after // 2] = gradient[2, -1] = special
    plan = ResamplePlan.resized(data.shape, np.float32, after, axes=1, **options)
    scales = (Fraction(after, before),)
    expected = reference.resample(data, plan.maps, (after,), (1,), scales=scales, **options)
    _core.use_level(LEVELS[0])
    back = plan.vjp(gradient)
    _core.use_level(level)
    assert plan(data).tobytes() == expected.tobytes()
    assert plan.vjp(gradient).tobytes() == back.tobytes()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int16])
@pytest.mark.parametrize("options", [{"antialias": "pillow"}, {"mode": "lanczos3", "antialias": "pillow"}])
@pytest.mark.parametrize("sizes", [*AREAS, ((5, 80), (9, 30)), ((7, 30), (14, 60))])
def test_filtered_integers_are_exact(sizes, options, dtype, channels, level):
    """Between the limits of the type, so that sums leave its range; the horizontal pass is first or last."""
    before, after = sizes
    rng = np.random.default_rng(channels)
    limits = np.iinfo(dtype)
    data = rng.integers(limits.min, limits.max, (*before, channels), dtype, endpoint=True)
    data[rng.random(data.shape) < 0.4] = limits.max
    data[rng.random(data.shape) < 0.4] = limits.min
    data[: before[0] // 2, -before[1] // 2 :] = limits.max
    plan = ResamplePlan.resized(data.shape, dtype, after, axes=(0, 1), **options)
    scales = tuple(Fraction(n, m) for n, m in zip(after, before, strict=True))
    expected = reference.resample(data, plan.maps, after, (0, 1), scales=scales, **options)
    _core.use_level(level)
    for source in (data, np.asfortranarray(data)):
        np.testing.assert_array_equal(plan(source), expected)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_falling_positions_have_the_bits_of_the_reference(dtype, level):
    data = np.random.default_rng(1).integers(0, 256, (8, 64, 3)).astype(dtype)
    crop = {"coordinates": "tf_crop_and_resize", "roi": [0, 0.96875, 1, 0.03125]}  # starts, then ends
    plan = ResamplePlan.resized(data.shape, dtype, (3, 10), axes=(0, 1), **crop)
    assert plan.maps[1].step < 0
    _core.use_level(level)
    expected = reference.resample(data, plan.maps, (3, 10), (0, 1))
    np.testing.assert_array_equal(plan(data), expected)
