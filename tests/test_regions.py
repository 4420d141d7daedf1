"""roi_align and crop_and_resize: bits of the reference, exact arithmetic, errors."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from remapnd import _core, crop_and_resize, reference, roi_align

FLOATS = [np.dtype(d) for d in ("f2", ml_dtypes.bfloat16, "f4", "f8")]


@st.composite
def region_cases(
    draw: st.DrawFn, spread: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Draw images, regions about the unit square times `spread`, the image of each, and a shape."""
    rng = np.random.default_rng(draw(strategies.seeds))
    dtype = draw(st.sampled_from(FLOATS))
    n, c, h, w = rng.integers(1, 6, 4).tolist()
    data = rng.standard_normal((n, c, h, w)).astype(dtype)
    if rng.random() < 0.4:
        special = np.array([math.nan, math.inf, -math.inf, -0.0], dtype)
        data = np.where(rng.random(data.shape) < 0.1, rng.choice(special, data.shape), data).astype(dtype)
    k = int(rng.integers(0, 4))
    rois = (np.sort(rng.uniform(-0.3, 1.3, (k, 2, 2)), axis=1).reshape(k, 4) * spread).astype(
        draw(st.sampled_from(FLOATS))
    )
    if rng.random() < 0.2:
        rois = rois[:, ::-1]
    batches = rng.integers(0, n, k).astype(draw(strategies.index_dtypes))
    return data, rois, batches, tuple(rng.integers(1, 4, 2).tolist())


@given(
    region_cases(6.0),
    st.sampled_from([1.0, 0.37, 2]),
    st.integers(0, 3),
    st.sampled_from(["avg", "max"]),
    st.tuples(st.booleans(), strategies.layouts, st.sampled_from([1, 3])),
)
def test_roi_align_has_the_bits_of_the_reference(case, scale, sampling_ratio, mode, more):
    data, rois, batches, shape = case
    half_pixel, layout, threads = more
    data, rois = strategies.laid_out(data, layout), strategies.laid_out(rois, layout)
    options = {"scale": scale, "sampling_ratio": sampling_ratio, "mode": mode, "half_pixel": half_pixel}
    want = reference.roi_align(data, rois, batches, shape, **options)
    _core.set_num_threads(threads)
    for level in _core.levels_usable():
        _core.use_level(level)
        assert strategies.same_bits(roi_align(data, rois, batches, shape, **options), want)
    out = strategies.result_arrays(want.shape, want.dtype, layout)
    assert roi_align(data, rois, batches, shape, **options, out=out) is out
    assert strategies.same_bits(np.ascontiguousarray(out), want)


@pytest.mark.parametrize("mode", ["avg", "max"])
def test_bins_that_reach_over_blocks_and_many_channels(mode):
    rng = np.random.default_rng(1)
    data = rng.standard_normal((2, 70, 9, 8)).astype(np.float32)
    rois = np.array([[0, 0, 8, 9], [1.5, 2, 3.25, 8]])
    _core.set_num_threads(3)
    got = roi_align(data, rois, [1, 0], (2, 3), sampling_ratio=13, mode=mode)
    part = reference.roi_align(data[:, 65:67], rois, np.array([1, 0]), (2, 3), sampling_ratio=13, mode=mode)
    assert strategies.same_bits(np.ascontiguousarray(got[:, 65:67]), part)


@given(strategies.seeds, st.booleans())
def test_roi_align_average_is_exact(seed, half_pixel):
    """Mean of bilinear samples in rational arithmetic; the samples of ONNX's text."""
    rng = np.random.default_rng(seed)
    h, w = rng.integers(2, 6, 2).tolist()
    image = rng.integers(-8, 9, (h, w))
    roi = (rng.integers(-8, 40, 4) / 8).tolist()
    shape, ratio = (2, 3), int(rng.integers(1, 4))
    got = roi_align(
        image[None, None].astype(float), [roi], [0], shape, sampling_ratio=ratio, half_pixel=half_pixel
    )

    def samples(start: float, end: float, bins: int, p: int) -> list[Fraction]:
        low, high = (Fraction(v) - (Fraction(1, 2) if half_pixel else 0) for v in (start, end))
        extent = high - low if half_pixel else max(high - low, 1)
        return [low + extent / bins * (p + (i + Fraction(1, 2)) / ratio) for i in range(ratio)]

    def value(y: Fraction, x: Fraction) -> Fraction:
        if not (-1 <= y <= h and -1 <= x <= w):
            return Fraction(0)
        y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
        total = Fraction(0)
        for j in range(h):
            for i in range(w):
                total += max(1 - abs(y - j), 0) * max(1 - abs(x - i), 0) * int(image[j, i])
        return total

    for p, q in np.ndindex(*shape):
        ys, xs = samples(roi[1], roi[3], shape[0], p), samples(roi[0], roi[2], shape[1], q)
        want = sum(value(y, x) for y in ys for x in xs) / ratio**2
        # A sample at the limit of what is inside may be on either side, by the rounding of its position.
        if all(abs(v - limit) > 1e-9 for vs, n in ((ys, h), (xs, w)) for v in vs for limit in (-1, n)):
            assert abs(Fraction(float(got[0, 0, p, q])) - want) < 1e-12


def test_max_takes_the_largest_weighted_pixel():
    image = np.array([[[[4.0, 0.0], [0.0, 2.0]]]])
    # One sample in the middle of four pixels: each counts a quarter.
    got = roi_align(image, [[0.0, 0.0, 2.0, 2.0]], [0], (1, 1), sampling_ratio=1, mode="max")
    assert got.item() == 1.0
    assert roi_align(image, [[0.0, 0.0, 2.0, 2.0]], [0], (1, 1), sampling_ratio=1).item() == 1.5


def test_a_region_without_samples_is_zero():
    assert roi_align(np.ones((1, 1, 2, 2)), [[1.0, 1.0, 1.0, 1.0]], [0], (1, 1)).item() == 0.0
    assert (
        roi_align(np.ones((1, 1, 2, 2)), [[1.0, 1.0, 1.0, 1.0]], [0], (1, 1), half_pixel=False).item() == 1.0
    )


@given(
    region_cases(1.0),
    st.sampled_from(["linear", "nearest"]),
    st.sampled_from([0, 5.5, math.nan]),
    strategies.layouts,
)
def test_crop_and_resize_has_the_bits_of_the_reference(case, mode, value, layout):
    data, rois, batches, shape = case
    data = strategies.laid_out(data, layout)
    if len(rois):
        rois = rois.copy()
        rois[0, :2] = [math.nan, math.inf] if value == 5.5 else rois[0, :2]
    with np.errstate(all="ignore"):
        want = reference.crop_and_resize(data, rois, batches, shape, mode=mode, extrapolation_value=value)
    for level in _core.levels_usable():
        _core.use_level(level)
        got = crop_and_resize(data, rois, batches, shape, mode=mode, extrapolation_value=value)
        assert strategies.same_bits(got, want)
    out = strategies.result_arrays(want.shape, want.dtype, layout)
    assert crop_and_resize(data, rois, batches, shape, mode=mode, extrapolation_value=value, out=out) is out
    assert strategies.same_bits(np.ascontiguousarray(out), want)


@pytest.mark.parametrize("dtype", strategies.INDEX_DTYPES, ids=str)
def test_regions_of_integers_are_the_equal_floats(dtype):
    data = np.arange(40.0, dtype=np.float32).reshape(2, 1, 4, 5)
    regions = np.array([[0, 0, 1, 1], [1, 1, 4, 3]], dtype)
    for function in (roi_align, crop_and_resize):
        expected = function(data, regions.astype(np.float64), [1, 0], (2, 3))
        assert strategies.same_bits(function(data, regions, [1, 0], (2, 3)), expected)
        assert strategies.same_bits(function(data, regions.tolist(), [1, 0], (2, 3)), expected)


def test_crop_and_resize_by_hand():
    image = np.arange(12, dtype=np.uint8).reshape(1, 1, 3, 4)
    turned = crop_and_resize(image, [[1.0, 1.0, 0.0, 0.0]], [0], (3, 4), mode="nearest")
    assert turned.tolist() == image[..., ::-1, ::-1].tolist()
    half = crop_and_resize(image, [[0.25, 0.0, 0.25, 0.0]], [0], (1, 1), mode="nearest")
    assert half.item() == 4  # row 0.5 is rounded up
    outside = crop_and_resize(
        image, [[0.0, 0.5, 0.0, 1.5]], [0], (1, 3), mode="nearest", extrapolation_value=99
    )
    assert outside.ravel().tolist() == [2, 3, 99]


def test_crop_and_resize_moves_what_it_cannot_mix():
    image = np.array([[[["a", "bc"], ["d", "e"]]]])
    got = crop_and_resize(image, [[0, 0, 1, 2.0]], [0], (1, 3), mode="nearest", extrapolation_value="zz")
    assert got.ravel().tolist() == ["d", "e", "zz"]


X = np.zeros((2, 1, 4, 5), np.float32)
R = np.array([[0.0, 0, 1, 1]])
FLOAT_RULE = "have one of the dtypes float16, bfloat16, float32, float64"

BOTH: list[tuple[tuple[Any, ...], type[Exception], str]] = [
    ((X[0], R, [0], (1, 1)), ValueError, "`data` must have 4 axes (batch, channel, height, width), got 3"),
    ((X, R.astype(bool), [0], (1, 1)), TypeError, f"`rois` must {FLOAT_RULE}, got bool"),
    (
        (X, [[0, 0, 1, 2**53 + 1]], [0], (1, 1)),
        ValueError,
        f"`rois` must have integers of at most {2**53} in magnitude (larger ones need not be a float64), "
        f"got {2**53 + 1} at (0, 3)",
    ),
    ((X, R[0], [0], (1, 1)), ValueError, "`rois` must have shape (k, 4), got (4,)"),
    ((X, R, [0.0], (1, 1)), TypeError, "`batch_indices` must have an integer dtype, got float64"),
    (
        (X, R, [0, 1], (1, 1)),
        ValueError,
        "`batch_indices` must have shape (1,), one for each of `rois`, got (2,)",
    ),
    ((X, R, [2], (1, 1)), IndexError, "`batch_indices` must lie in [0, 2), got 2 at (0,)"),
    ((X, R, [-1], (1, 1)), IndexError, "`batch_indices` must lie in [0, 2), got -1 at (0,)"),
    ((X, R, [0], (1,)), ValueError, "`shape` must have 2 sizes (height, width), got (1,)"),
    ((X, R, [0], (1, 0)), ValueError, "`shape` must have sizes of at least 1, got (1, 0)"),
    ((X, R, [0], (1, -1)), ValueError, "`shape` must have sizes of at least 0, got (1, -1)"),
    ((X, R, [0], 3), TypeError, "`shape` must be a sequence of integers, got int"),
    ((X[:, :, :0], R, [0], (1, 1)), ValueError, "`data` must have 1 to 1073741824 samples on axis 2, got 0"),
]


@pytest.mark.parametrize("function", [roi_align, crop_and_resize])
@pytest.mark.parametrize(("arguments", "kind", "text"), BOTH)
def test_errors_of_both(function, arguments, kind, text):
    with pytest.raises(kind) as caught:
        function(*arguments)
    assert str(caught.value) == f"{function.__name__}: {text}"


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"mode": "mean"}, ValueError, "`mode` must be one of 'avg', 'max', got 'mean'"),
        ({"scale": 0}, ValueError, "`scale` must be > 0, got 0"),
        ({"scale": math.inf}, ValueError, "`scale` must be finite, got inf"),
        ({"scale": "1"}, TypeError, "`scale` must be a real number, got '1' of type str"),
        ({"sampling_ratio": -1}, ValueError, "`sampling_ratio` must be at least 0, got -1"),
        ({"sampling_ratio": 1.0}, TypeError, "`sampling_ratio` must be an integer, got 1.0"),
        ({"half_pixel": "yes"}, TypeError, "`half_pixel` must be True or False, got 'yes'"),
        ({"out": np.zeros((1, 1, 2, 2))}, TypeError, "`out` must have dtype float32, got float64"),
        (
            {"sampling_ratio": 65537},
            ValueError,
            "`sampling_ratio` must be at most 65536, got 65537",
        ),
    ],
)
def test_roi_align_errors(options, kind, text):
    with pytest.raises(kind) as caught:
        roi_align(X, R, [0], (2, 2), **options)
    assert str(caught.value) == f"roi_align: {text}"


def test_roi_align_refuses_data_it_cannot_mix():
    with pytest.raises(TypeError, match=f"^roi_align: `data` must {FLOAT_RULE}, got int64$"):
        roi_align(X.astype(int), R, [0], (1, 1))


def test_roi_align_refuses_regions_without_end():
    with pytest.raises(ValueError, match=r"^roi_align: `rois` must be finite, got inf at \(1, 2\)$"):
        roi_align(X, [[0, 0, 1, 1], [0.0, 0, math.inf, 1]], [0, 0], (1, 1))
    text = (
        r"^roi_align: `rois` must ask for at most 65536 samples of a bin along an axis "
        r"\(give `sampling_ratio`\), got 100000 at \(1,\)$"
    )
    with pytest.raises(ValueError, match=text):
        roi_align(X, [[0, 0, 1, 1], [0, 0, 1, 1e5]], [0, 0], (1, 1))
    assert roi_align(X, [[0, 0, 1, 1e300]], [0], (1, 1), sampling_ratio=2).item() == 0


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"mode": "cubic"}, ValueError, "`mode` must be one of 'linear', 'nearest', got 'cubic'"),
        (
            {"extrapolation_value": "a"},
            TypeError,
            "`extrapolation_value` must be castable to float32 without loss, got 'a'",
        ),
        (
            {"extrapolation_value": 1e300},
            ValueError,
            "`extrapolation_value` must be castable to float32 without loss, got 1e+300",
        ),
        ({"extrapolation_value": [1]}, ValueError, "`extrapolation_value` must be a scalar, got shape (1,)"),
    ],
)
def test_crop_and_resize_errors(options, kind, text):
    with pytest.raises(kind) as caught:
        crop_and_resize(X, R, [0], (2, 2), **options)
    assert str(caught.value) == f"crop_and_resize: {text}"


def test_crop_and_resize_refuses_data_it_cannot_mix():
    with pytest.raises(TypeError, match=f"^crop_and_resize: `data` must {FLOAT_RULE} for mode 'linear'"):
        crop_and_resize(X.astype(int), R, [0], (1, 1))


def test_the_core_checks_what_it_is_given():
    out = np.zeros((1, 1, 1, 1), np.float32)
    one, batch, per_bin = np.ones(2), np.zeros(1, np.int64), np.ones(2, np.int64)
    _core.roi_align(X, batch, one, one, per_bin, 0, 10, out)
    for wrong, text in (
        ((X, batch, one, one, per_bin, 0, 0, out), "floats"),
        ((X, batch, one, one, per_bin, 2, 10, out), "no such pooling"),
        ((X[0], batch, one, one, per_bin, 0, 10, out), "do not fit"),
        ((X, batch, one, one, per_bin, 0, 11, out), "do not fit"),
        ((X, batch, one[:1], one, per_bin, 0, 10, out), "two of all others"),
        ((X, batch, one, one, per_bin * 65537, 0, 10, out), "at most 2"),
        ((X, batch, one, one, -per_bin, 0, 10, out), "at most 2"),
        ((X[:, :, :0], batch, one, one, per_bin, 0, 10, out), "1 to 2"),
    ):
        with pytest.raises(ValueError, match=text):
            _core.roi_align(*wrong)
    with pytest.raises(IndexError, match="no such batch"):
        _core.roi_align(X, batch + 2, one, one, per_bin, 0, 10, out)
