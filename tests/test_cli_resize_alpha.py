"""`remapnd resize`: colors weighted by alpha."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from cli_resize import pixels, run
from numpy.testing import assert_array_equal
from PIL import Image

from remapnd import resize
from remapnd.cli import alpha
from remapnd.reference import rounded


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def linear_by_hand(values: np.ndarray, n_out: int) -> np.ndarray:
    """Exact half_pixel interpolation along axis 0, in Fractions."""
    n_in = len(values)
    rows = []
    for output in range(n_out):
        x = min(
            max((output + Fraction(1, 2)) * n_in / n_out - Fraction(1, 2), Fraction(0)), Fraction(n_in - 1)
        )
        low = int(x)
        high = min(low + 1, n_in - 1)
        rows.append(values[low] * (1 - (x - low)) + values[high] * (x - low))
    return np.array(rows, object)


def test_transparent_pixels_lend_no_color():
    """Opaque red beside transparent green: red that fades out, with no green and no dark in it."""
    array = np.zeros((4, 8, 4), np.uint8)
    array[:, :4] = (255, 0, 0, 255)
    array[:, 4:] = (0, 255, 0, 0)
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.png", "--scale", "4") == 0
    result = pixels("out.png")
    visible = result[result[..., 3] > 0]
    assert (visible[:, :3] == (255, 0, 0)).all()
    assert (np.diff(result[0, :, 3].astype(int)) <= 0).all()
    assert {0, 32, 96, 159, 223, 255} == set(result[0, :, 3].tolist())
    assert run("in.png", "straight.png", "--scale", "4", "--straight-alpha") == 0
    assert_array_equal(pixels("straight.png"), resize(array, scales=4, axes=(0, 1)), strict=True)
    assert_array_equal(pixels("straight.png")[..., 3], result[..., 3], strict=True)
    assert (pixels("straight.png")[..., 1][result[..., 3] > 0] > 0).any()


@pytest.mark.parametrize("rule", ["half_up", "half_even", "truncate"])
@pytest.mark.parametrize("channels", [2, 4])
@pytest.mark.parametrize("shape", [(3, 4), (13, 7), (1, 29)])
def test_colors_weighted_by_alpha_are_rounded_once(shape, channels, rule):
    """Against Fractions, with alphas and colors small enough for many ties."""
    rng = np.random.default_rng(5)
    array = np.concatenate(
        [
            rng.choice([0, 1, 2, 255], (6, 8, channels - 1)),
            rng.choice([0, 0, 1, 2, 255], (6, 8, 1)),
        ],
        axis=-1,
    ).astype(np.uint8)
    Image.fromarray(array).save("in.png")
    options = f"--shape {shape[0]}x{shape[1]} --integer-rule {rule} --antialias none"
    assert run("in.png", "out.png", *options.split()) == 0

    def exact(values: np.ndarray) -> np.ndarray:
        return linear_by_hand(linear_by_hand(values, shape[0]).swapaxes(0, 1), shape[1]).swapaxes(0, 1)

    values = array.astype(object)
    coverage = exact(values[..., -1])
    right = resize(array, shape, axes=(0, 1), integer_rule=rule)
    for channel in range(channels - 1):
        colors = exact(values[..., channel] * values[..., -1])
        for place in zip(*np.nonzero(coverage), strict=True):
            color = Fraction(colors[place]) / coverage[place]
            right[(*place, channel)] = rounded(color.numerator, color.denominator, rule)
    assert_array_equal(pixels("out.png"), right, strict=True)


def test_weights_of_any_fineness():
    """The scale's denominator is beyond any integer; colors stay those of the opaque pixels."""
    array = np.random.default_rng(6).integers(0, 256, (9, 9, 4), np.uint8)
    array[..., :3] = (10, 20, 30)
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.png", "--scale", "1.2345678901234567890123456789") == 0
    result = pixels("out.png")
    assert (result[result[..., 3] > 0][:, :3] == (10, 20, 30)).all()


def test_scale_1_keeps_hidden_colors():
    array = np.random.default_rng(7).integers(0, 256, (9, 9, 4), np.uint8)
    array[::2, :, 3] = 0
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.png", "--scale", "1") == 0
    assert_array_equal(pixels("out.png"), array, strict=True)


@pytest.mark.parametrize(("mode", "key", "alpha"), [("L", 7, "LA"), ("RGB", (7, 7, 7), "RGBA")])
def test_transparent_color_becomes_alpha(capsys, mode, key, alpha):
    Image.fromarray(np.array([[7, 8]], np.uint8)).convert(mode).save("in.png", transparency=key)
    assert run("in.png", "out.png", "--scale", "1") == 0
    assert pixels("out.png")[..., -1].tolist() == [[0, 255]]
    assert f"{mode} with a transparent color converted to {alpha}" in capsys.readouterr().err


def kernel(mode: str, t: Fraction) -> Fraction:
    """Triangle, or Keys' cubic for a = -3/4."""
    t = abs(t)
    if mode == "linear":
        return max(1 - t, Fraction(0))
    if t <= 1:
        return Fraction(5, 4) * t**3 - Fraction(9, 4) * t**2 + 1
    return Fraction(-3, 4) * (t - 1) * (t - 2) ** 2 if t < 2 else Fraction(0)


def filtered_by_hand(values: np.ndarray, n_out: int, mode: str) -> np.ndarray:
    """Exact half_pixel resampling along axis 0, antialiased as Pillow does, in Fractions."""
    n_in = len(values)
    step = Fraction(n_in, n_out)
    stretch = max(step, Fraction(1))
    rows = []
    for output in range(n_out):
        x = (output + Fraction(1, 2)) * step - Fraction(1, 2)
        weights = [kernel(mode, (k - x) / stretch) for k in range(n_in)]
        rows.append(sum(w * row for w, row in zip(weights, values, strict=True)) / sum(weights))
    return np.array(rows, object)


@pytest.mark.parametrize("rule", ["half_up", "half_even", "truncate"])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize(("full", "dtype"), [(255, np.uint8), (65535, np.uint16)])
def test_colors_weighted_by_alpha_of_filters(full, dtype, mode, rule):
    """Against Fractions; constant colors, whole numbers in the end, must not be lost to rounding."""
    rng = np.random.default_rng(12)
    array = rng.integers(0, full + 1, (9, 11, 4))
    array[..., 0] = 77
    array[..., 3] = rng.choice([0, 1, full // 2, full], (9, 11))
    array = array.astype(dtype)
    shape = (4, 5) if mode == "linear" else (4, 14)
    out = alpha.resize_weighted(
        array, shape, scales=None, mode=mode, coordinates="half_pixel", antialias="pillow", integer_rule=rule
    )

    def exact(values: np.ndarray) -> np.ndarray:
        first = filtered_by_hand(values, shape[0], mode)
        return filtered_by_hand(first.swapaxes(0, 1), shape[1], mode).swapaxes(0, 1)

    values = array.astype(object)
    coverage = exact(values[..., 3])
    plain = resize(array, shape, axes=(0, 1), mode=mode, antialias="pillow", integer_rule=rule)
    assert_array_equal(out[..., 3], plain[..., 3], strict=True)
    assert (coverage > 0).mean() > 0.9
    for channel in range(3):
        colors = exact(values[..., channel] * values[..., 3])
        for place in np.ndindex(shape):
            right = int(plain[(*place, channel)])
            if coverage[place] > 0:
                color = Fraction(colors[place]) / coverage[place]
                right = min(max(rounded(color.numerator, color.denominator, rule), 0), full)
            assert out[(*place, channel)] == right


def test_crop_of_an_image_with_alpha():
    """Outside all channels have the extrapolation value."""
    array = np.random.default_rng(13).integers(0, 256, (5, 6, 4), np.uint8)
    Image.fromarray(array).save("in.png")
    crop = ["--coordinates", "tf_crop_and_resize", "--roi", "-1,0,1,1", "--extrapolation-value", "9"]
    assert run("in.png", "out.png", "--shape", "9x6", *crop) == 0
    assert (pixels("out.png")[:4] == 9).all()
    assert_array_equal(pixels("out.png")[4:], array, strict=True)


def test_colors_of_a_large_image_are_weighted_as_well(monkeypatch):
    """An array in a file may be made in parts, which know nothing of alpha."""
    array = np.random.default_rng(3).integers(0, 256, (8, 8, 4), np.uint8)
    Image.fromarray(array).save("in.png")
    assert run("in.png", "whole.npy", "--scale", "3") == 0
    monkeypatch.setattr("remapnd.cli.resize.SLAB", -1)
    assert run("in.png", "large.npy", "--scale", "3") == 0
    assert_array_equal(np.load("large.npy"), np.load("whole.npy"), strict=True)
    assert (np.load("large.npy") != resize(array, scales=3, axes=(0, 1))).any()
