"""`remapnd resize`: PNG of 16 bits."""

from __future__ import annotations

import numpy as np
import pytest
from cli_resize import pixels, run
from numpy.testing import assert_array_equal
from PIL import Image

from remapnd import resize


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_16_bit_png_stays_16_bit(capsys):
    array = np.random.default_rng(3).integers(0, 2**16, (6, 8), np.uint16)
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.png", "--shape", "12x5") == 0
    assert_array_equal(pixels("out.png"), resize(array, (12, 5)), strict=True)
    assert capsys.readouterr().err == ""
