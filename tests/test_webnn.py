"""The operators of remapnd.webnn: policies, and the reference."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import remapnd
from remapnd import reference, webnn
from remapnd.webnn import OperandDescriptor, builder

DTYPES = [np.dtype(d) for d in ("f4", "f2", "i4", "u4", "i8", "u8", "i1", "u1")]
INDEX_DTYPES = [np.dtype(d) for d in ("i4", "u4", "i8")]


@st.composite
def operands(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    """Draw an input, indices of elements along an axis that reach far outside, and the axis."""
    shape = draw(strategies.filled_shapes)
    rng = np.random.default_rng(draw(strategies.seeds))
    axis = int(rng.integers(len(shape)))
    data = strategies.random_array(shape, draw(st.sampled_from(DTYPES)))
    dtype = draw(st.sampled_from(INDEX_DTYPES))
    n, limits = shape[axis], np.iinfo(dtype)
    sizes = (*shape[:axis], int(rng.integers(1, 5)), *shape[axis + 1 :])
    near = rng.integers(0 if dtype.kind == "u" else -2 * n, 2 * n, sizes)
    indices = np.where(rng.random(sizes) < 0.1, rng.choice([limits.min, limits.max], sizes), near).astype(
        dtype
    )
    return data, indices, axis


def nearest_valid(indices: np.ndarray, n: int) -> np.ndarray:
    values = [int(v) + n if v < 0 else int(v) for v in indices.flat]
    return np.array([min(max(v, 0), n - 1) for v in values], np.int64).reshape(indices.shape)


@given(operands())
def test_indices_are_clamped(case):
    data, indices, axis = case
    inside = nearest_valid(indices, data.shape[axis])
    got = webnn.gather_elements(data, indices, axis=axis)
    assert strategies.same_bits(got, reference.gather_elements(data, inside, axis=axis))
    updates = strategies.random_array(indices.shape, data.dtype, 1)
    got = webnn.scatter_elements(data, indices, updates, axis=axis)
    assert strategies.same_bits(got, reference.scatter_elements(data, inside, updates, axis=axis))
    line, inside = indices.ravel(), inside.ravel()
    got = webnn.gather(data, line, axis=axis)
    assert strategies.same_bits(got, reference.gather(data, inside, axis=axis))
    first, tuples = nearest_valid(line, data.shape[0]), line[:, None]
    got = webnn.gather_nd(data, tuples)
    assert strategies.same_bits(got, reference.gather_nd(data, first[:, None]))
    updates = strategies.random_array((len(line), *data.shape[1:]), data.dtype, 1)
    got = webnn.scatter_nd(data, tuples, updates)
    assert strategies.same_bits(got, reference.scatter_nd(data, first[:, None], updates))


@given(
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.sampled_from(["nearest-neighbor", "linear"]),
    st.sampled_from([np.dtype(d) for d in ("f4", "f2", "u1", "i1")]),
)
def test_resample2d_samples_where_webnn_says(sizes_in, sizes_out, mode, dtype):
    data = np.arange(sizes_in[0] * sizes_in[1]).reshape(1, *sizes_in, 1) * 3
    got = webnn.resample2d(data.astype(dtype), mode=mode, sizes=sizes_out, axes=[1, 2])

    def position(out: int, n: int, m: int) -> Fraction:
        x = (out + Fraction(1, 2)) * Fraction(n, m) - Fraction(1, 2)
        return min(max(x, Fraction(0)), Fraction(n - 1))

    for i, j in np.ndindex(*sizes_out):
        y, x = (position(k, n, m) for k, n, m in zip((i, j), sizes_in, sizes_out, strict=True))
        if mode == "linear":  # the values are linear in both coordinates
            want = 3 * (y * sizes_in[1] + x)
            limit = Fraction(1, 2) if dtype.kind in "iu" else Fraction(1, 16 if dtype == "f2" else 1000)
            assert abs(Fraction(float(got[0, i, j, 0])) - want) <= limit
        else:
            half = Fraction(1, 2)
            assert got[0, i, j, 0] == data[0, math.ceil(y - half), math.ceil(x - half), 0]


def test_scales_are_float32():
    # As float64, 0.7 * 10 is a whole number; the float32 next to 0.7 is less.
    assert builder.resample2d(OperandDescriptor("float32", (1, 1, 10, 10)), scales=[0.7, 0.3]).shape == (
        1,
        1,
        6,
        3,
    )
    # Exactly: a product that float64 would round up to 16777217.
    wide = OperandDescriptor("uint8", (1, 1, 1, 2**24 + 1))
    assert builder.resample2d(wide, scales=[1, 1.0]).shape[3] == 2**24 + 1


def test_positions_by_scales():
    row = np.array([[[[10, 20, 30]]]], np.float32)
    assert webnn.resample2d(row, scales=[1, 1.5], positions="scales").ravel().tolist() == [10, 10, 20, 30]
    by_sizes = webnn.resample2d(row, scales=[1, 1.5], sizes=[1, 4], positions="scales")
    assert by_sizes.ravel().tolist() == [10, 20, 20, 30]


def test_integer_rule():
    row = np.array([[[[0, 1]]]], np.uint8)
    assert webnn.resample2d(row, mode="linear", sizes=[1, 1]).item() == 1
    assert webnn.resample2d(row, mode="linear", sizes=[1, 1], integer_rule="half_even").item() == 0


def test_duplicates():
    data = np.zeros((2, 3), np.float32)
    ones = np.ones((2, 2), np.float32)
    apart = np.array([[0, 2], [0, 2]], np.int32)
    assert webnn.scatter_elements(data, apart, ones, axis=1, duplicates="raise").sum() == 4
    rule = "`indices` must name each place once under duplicates='raise', got"
    text = rf"^scatter_elements: {rule} 5 again at \(1, 1\)$"
    with pytest.raises(ValueError, match=text):
        webnn.scatter_elements(data, np.array([[0, 2], [2, 5]], np.int32), ones, axis=1, duplicates="raise")
    tuples = np.array([[0, 1], [1, 1], [-2, 1]], np.int64)
    text = rf"^scatter_nd: {rule} \(-2, 1\) again at \(2,\)$"
    with pytest.raises(ValueError, match=text):
        webnn.scatter_nd(data, tuples, np.array([1, 2, 3], np.float32), duplicates="raise")
    assert webnn.scatter_nd(data, tuples, np.array([1, 2, 3], np.float32)).tolist() == [[0, 3, 0], [0, 2, 0]]
    assert webnn.scatter_nd(data, tuples[:2], np.array([1, 2], np.float32), duplicates="raise").sum() == 3


def test_bounds_can_raise():
    x, i = np.zeros(3, np.float32), np.array([3], np.int32)
    for call in (
        lambda: webnn.gather(x, i, bounds="raise"),
        lambda: webnn.gather_elements(x, i, bounds="raise"),
        lambda: webnn.gather_nd(x, i, bounds="raise"),
        lambda: webnn.scatter_elements(x, i, x[:1], bounds="raise"),
        lambda: webnn.scatter_nd(x, i[:, None], x[:1], bounds="raise"),
    ):
        with pytest.raises(IndexError, match=r"`indices` must lie in \[-3, 3\) on axis 0, got 3"):
            call()


def test_public_names():
    assert dir(webnn) == sorted(webnn.__all__)
    assert "webnn" in dir(remapnd)
