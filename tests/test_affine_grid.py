"""affine_grid: bits of the reference, results by hand, errors."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from remapnd import affine_grid, grid_sample, reference

FLOATS = [np.dtype(d) for d in ("f2", ml_dtypes.bfloat16, "f4", "f8")]


@given(
    st.sampled_from(FLOATS),
    st.lists(st.integers(1, 4), min_size=2, max_size=3),
    st.booleans(),
    st.integers(0, 2),
    strategies.seeds,
)
def test_affine_grid_equals_the_reference(dtype, places, align_corners, batches, seed):
    r = len(places)
    theta = np.random.default_rng(seed).standard_normal((batches, r, r + 1)).astype(dtype)
    size = (batches, 1, *places)
    got = affine_grid(theta, size, align_corners=align_corners)
    assert strategies.same_bits(got, reference.affine_grid(theta, size, align_corners=align_corners))


def test_affine_grid_by_hand():
    theta = np.array([[[0.0, 1, 0.5], [2, 0, 0]]], np.float32)  # x' = y + 1/2, y' = 2 x
    got = affine_grid(theta, (1, 1, 2, 4))
    assert got.dtype == np.float32
    assert got[0, ..., 0].tolist() == [[0.0] * 4, [1.0] * 4]
    assert got[0, ..., 1].tolist() == [[-1.5, -0.5, 0.5, 1.5]] * 2
    assert affine_grid(theta, (1, 1, 1, 3), align_corners=True)[0, 0].tolist() == [
        [0.5, -2],
        [0.5, 0],
        [0.5, 2],
    ]


def test_affine_grid_turns_an_image():
    data = np.arange(12.0).reshape(1, 1, 3, 4)
    grid = affine_grid(np.array([[[-1.0, 0, 0], [0, -1, 0]]]), data.shape)
    assert grid_sample(data, grid) == pytest.approx(data[..., ::-1, ::-1], abs=1e-13)


T = np.zeros((2, 2, 3))


@pytest.mark.parametrize(
    ("theta", "size", "options", "kind", "text"),
    [
        (
            T.astype(bool),
            (2, 1, 3, 3),
            {},
            TypeError,
            "`theta` must have one of the dtypes float16, .* got bool",
        ),
        (T, (2, 1, 3), {}, ValueError, r"`size` must have 4 or 5 sizes \(batch, .*\), got \(2, 1, 3\)"),
        (
            T,
            (2, 1, 0, 3),
            {},
            ValueError,
            r"`size` must have sizes of at least 1 behind the second, got \(2, 1, 0, 3\)",
        ),
        (T, (2, 1, -1, 3), {}, ValueError, r"`size` must have sizes of at least 0, got"),
        (T, 3, {}, TypeError, "`size` must be a sequence of integers, got int"),
        (
            T,
            (1, 1, 3, 3),
            {},
            ValueError,
            r"`theta` must have shape \(1, 2, 3\), as `size` asks, got \(2, 2, 3\)",
        ),
        (
            T,
            (2, 1, 3, 3, 3),
            {},
            ValueError,
            r"`theta` must have shape \(2, 3, 4\), as `size` asks, got \(2, 2, 3\)",
        ),
        (
            T,
            (2, 1, 3, 3),
            {"align_corners": None},
            TypeError,
            "`align_corners` must be True or False, got None",
        ),
    ],
)
def test_affine_grid_errors(theta, size, options, kind, text):
    with pytest.raises(kind, match=f"^affine_grid: {text}"):
        affine_grid(theta, size, **options)
