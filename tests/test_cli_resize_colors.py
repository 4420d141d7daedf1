"""`remapnd resize --mode majority`: colors of images are labels as a whole."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from cli_resize import pixels, run
from numpy.testing import assert_array_equal
from PIL import Image

from remapnd import resize
from remapnd.cli import color_votes


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def halved_by_hand(array: np.ndarray) -> np.ndarray:
    """The most frequent color of each 2 by 2 block, of equal ones the lowest tuple."""
    height, width, channels = array.shape
    out = np.empty((height // 2, width // 2, channels), array.dtype)
    for row, column in np.ndindex(out.shape[:2]):
        block = array[2 * row : 2 * row + 2, 2 * column : 2 * column + 2].reshape(-1, channels).tolist()
        counts = Counter(map(tuple, block))
        out[row, column] = min(counts, key=lambda color: (-counts[color], color))
    return out


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [2, 3, 4])
def test_a_color_is_one_label(channels, dtype):
    array = np.random.default_rng(1).integers(0, 2, (16, 20, channels)).astype(dtype)
    array *= np.iinfo(dtype).max
    result = color_votes.resize_voted(array, (8, 10), mode="majority")
    assert_array_equal(result, halved_by_hand(array), strict=True)


def test_no_color_is_invented(capsys):
    """Of red, green, blue and white each channel's own majority would be black or grey."""
    block = [[(255, 0, 0), (0, 255, 0)], [(0, 0, 255), (255, 255, 255)]]
    Image.fromarray(np.array(block, np.uint8)).save("in.png")
    assert run("in.png", "out.png", "--scale", "1/2", "--mode", "majority") == 0
    assert pixels("out.png").tolist() == [[[0, 0, 255]]]
    assert capsys.readouterr().out.endswith(", majority, each color one label\n")


def test_an_array_to_an_image_and_back():
    array = np.random.default_rng(2).integers(0, 2, (16, 20, 4), np.uint8) * np.uint8(200)
    np.save("in.npy", array)
    assert run("in.npy", "out.png", "--scale", "1/2", "--mode", "majority") == 0
    assert_array_equal(pixels("out.png"), halved_by_hand(array), strict=True)
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.npy", "--scale", "1/2", "--mode", "majority") == 0
    assert_array_equal(np.load("out.npy"), halved_by_hand(array), strict=True)


def test_channels_of_an_array_vote_by_themselves():
    """As those of the function do: an array does not say that it has colors."""
    array = np.random.default_rng(3).integers(0, 3, (8, 8, 3), np.uint8)
    np.save("in.npy", array)
    assert run("in.npy", "out.npy", "--scale", "1/2", "--mode", "majority", "--axes", "0,1") == 0
    assert_array_equal(np.load("out.npy"), resize(array, scales=0.5, axes=(0, 1), mode="majority"))


def test_outside_value_fills_every_channel():
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save("in.png")
    options = "--shape 4 --coordinates tf_crop_and_resize --roi -1,0,1,1 --extrapolation-value 7"
    assert run("in.png", "out.png", "--mode", "majority", *options.split()) == 0
    assert pixels("out.png")[0].tolist() == [[7, 7, 7]] * 4
    assert pixels("out.png")[3].tolist() == [[0, 0, 0]] * 4
