"""The one-pass gathers of single items: every level, item size, index type and table size."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import filling, same_bits

import remapnd
from remapnd import _core, reference

ITEMS = [np.dtype(d) for d in ("u1", "u2", "u4", "u8", "c16")]
INDICES = [np.dtype(d) for d in ("i4", "i8", "u1", "u2")]


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return items with random bytes."""
    items = rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8)
    return items.view(dtype).reshape(shape)


def choices(
    rng: np.random.Generator, n: int, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Return valid indices, negative ones included where the dtype has any."""
    low = -n if dtype.kind == "i" else 0
    return rng.integers(low, min(n, np.iinfo(dtype).max + 1), shape).astype(dtype)


@pytest.mark.parametrize("level", _core.levels_usable())
@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("item", ITEMS, ids=str)
def test_rows_of_every_table_size(item: np.dtype[Any], index: np.dtype[Any], level: str) -> None:
    assert _core.use_level(level)
    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 48, 49, 63, 64, 65, 200, 300):
        for count in (1, 7, 8, 31, 63, 64, 65, 97, 300):
            data = numbers(rng, (3, n), item)
            indices = choices(rng, n, (3, count), index)
            got = remapnd.gather_elements(data, indices, axis=1)
            assert same_bits(got, reference.gather_elements(data, indices, axis=1))
            assert same_bits(remapnd.gather(data[0], indices), reference.gather(data[0], indices))


@pytest.mark.parametrize("bounds", ["raise", "clip", "wrap", "fill"])
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_any_index_out_of_range_is_found(index: np.dtype[Any], bounds: Any) -> None:
    rng = np.random.default_rng(2)
    info = np.iinfo(index)
    for level in _core.levels_usable():
        assert _core.use_level(level)
        for n in (3, 49, 100):
            data = numbers(rng, (n,), np.dtype("u4"))
            for bad in {n, info.max, info.min, -n - 1, info.max - 1, 2**32, 2**32 + 1, -(2**32)}:
                if not (info.min <= bad <= info.max) or -n <= bad < n:
                    continue
                for place in (0, 5, 66, 99):
                    indices = choices(rng, n, (100,), index)
                    indices[place] = bad
                    if bounds == "raise":
                        with pytest.raises(IndexError, match=rf"got {bad} at \({place},\)"):
                            remapnd.gather(data, indices)
                    else:
                        got = remapnd.gather(data, indices, **filling(bounds, 7))
                        want = reference.gather(data, indices, **filling(bounds, 7))
                        assert same_bits(got, want)


@given(st.data())
def test_walks_of_data_and_out(draw: st.DataObject) -> None:
    """Strides of every kind in data and out, and axes before and behind the one that is indexed."""
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32)))
    assert _core.use_level(draw.draw(st.sampled_from(_core.levels_usable())))
    shape = tuple(draw.draw(st.lists(st.integers(1, 40), min_size=1, max_size=3)))
    axis = draw.draw(st.integers(0, len(shape) - 1))
    item = draw.draw(st.sampled_from(ITEMS))
    steps = tuple(draw.draw(st.sampled_from([1, 1, -1, 2])) for _ in shape)
    data = numbers(rng, tuple(n * abs(s) for n, s in zip(shape, steps, strict=True)), item)
    data = data[tuple(slice(None, None, s) for s in steps)]
    wanted = (*shape[:axis], draw.draw(st.integers(1, 80)), *shape[axis + 1 :])
    indices = choices(rng, shape[axis], wanted, draw.draw(st.sampled_from(INDICES)))
    out = np.zeros((*wanted[:-1], wanted[-1] + draw.draw(st.integers(0, 2))), item)[..., : wanted[-1]]
    assert remapnd.gather_elements(data, indices, axis=axis, out=out) is out
    assert same_bits(out, reference.gather_elements(data, indices, axis=axis))


@pytest.mark.parametrize("level", _core.levels_usable())
@pytest.mark.parametrize("shift", [0, 4, 60])
def test_strips_of_items_below_each_other(shift: int, level: str) -> None:
    assert _core.use_level(level)
    rng = np.random.default_rng(3)
    for item in ("u1", "u4", "u8"):
        data = numbers(rng, (700, 1200 // np.dtype(item).itemsize + 1), np.dtype(item))
        indices = choices(rng, 700, data.shape, np.dtype("i8"))
        memory = np.zeros(data.nbytes + 64, np.uint8)
        out = memory[shift // 8 * 8 : shift // 8 * 8 + data.nbytes].view(item).reshape(data.shape)
        got = remapnd.gather_elements(data, indices, axis=0, out=out)
        assert same_bits(got, np.take_along_axis(data, indices, 0))
        if item == "u4":
            indices[699, 300] = 700
            with pytest.raises(IndexError, match=r"got 700 at \(699, 300\)"):
                remapnd.gather_elements(data, indices, axis=0, out=out)


@pytest.mark.parametrize("level", _core.levels_usable())
@pytest.mark.parametrize("shift", [0, 1, 4, 16])
def test_results_too_large_for_the_caches(shift: int, level: str) -> None:
    """Results are written past the caches: whole, at any address, ends included."""
    assert _core.use_level(level)
    rng = np.random.default_rng(4)
    size = (32 << 20) + 100
    memory = np.zeros(34 << 20, np.uint8)

    def out(shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any]:
        memory[:] = 0xA5
        return np.ndarray(shape, dtype, memory.data, shift)

    def check(got: npt.NDArray[Any], want: npt.NDArray[Any]) -> None:
        assert np.array_equal(got, want)
        assert (memory[:shift] == 0xA5).all()
        assert (memory[shift + got.nbytes :] == 0xA5).all()

    table = rng.integers(0, 256, 200, np.uint8)
    indices = rng.integers(0, 200, size, np.uint8)
    check(remapnd.gather(table, indices, out=out((size,), "u1")), table[indices])
    data = rng.integers(0, 2**32, (4100, 2051), np.uint32)
    columns = rng.integers(-2051, 2051, 2050)
    check(remapnd.gather(data, columns, axis=1, out=out((4100, 2050), "u4")), data[:, columns])
    rows = rng.integers(0, 4100, 4100)
    check(remapnd.gather(data, rows, out=out((4100, 2051), "u4")), data[rows])
    narrow = data[:, :12].copy()
    many = rng.integers(0, 4100, 700_000)
    check(remapnd.gather(narrow, many, out=out((700_000, 12), "u4")), narrow[many])
    far = data.reshape(-1)
    points = rng.integers(0, far.size, size // 4)
    check(remapnd.gather(far, points, out=out(points.shape, "u4")), far[points])


def test_the_short_way_gives_what_the_long_one_gives() -> None:
    """A repeated call skips Python's checks; whatever is different about it must be noticed all the same."""
    data, indices = np.arange(12.0).reshape(3, 4), np.array([2, 0])
    locked = np.zeros((2, 4))
    locked.flags.writeable = False
    want = data[[2, 0]]
    for _ in range(3):
        assert same_bits(remapnd.gather(data, indices), want)
        assert same_bits(remapnd.gather(data, indices, axis=-2), want)
        assert same_bits(remapnd.gather(data, indices, axis=1), data[:, [2, 0]])
        assert same_bits(remapnd.gather(data.astype("f4"), indices), want.astype("f4"))
        assert same_bits(remapnd.gather(data.astype(">f8"), indices), want.astype(">f8"))
        assert same_bits(remapnd.gather(data.tolist(), indices), want)
        assert same_bits(remapnd.gather(np.asfortranarray(data), indices.astype("u1")), want)
        with pytest.raises(
            IndexError, match=r"gather: `indices` must lie in \[-3, 3\) on axis 0, got 3 at \(1,\)"
        ):
            remapnd.gather(data, np.array([2, 3]))
        with pytest.raises(TypeError, match=r"gather: `axis` must be an integer, got "):
            remapnd.gather(data, indices, axis=0.0)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"gather: `out` must not overlap an input"):
            remapnd.gather(data, indices, out=data[:2])
        with pytest.raises(ValueError, match=r"gather: `out` must be writable"):
            remapnd.gather(data, indices, out=locked)
        with pytest.raises(TypeError, match=r"gather: `out` must have dtype float64, got float32"):
            remapnd.gather(data, indices, out=np.zeros((2, 4), "f4"))
        out = np.zeros((4, 2)).T
        assert remapnd.gather(data, indices, out=out) is out
        assert same_bits(out, want)
        assert same_bits(remapnd.take_along_axis(data, indices[:1, None], axis=1), data[:, 2:3])


def test_more_calls_than_are_remembered() -> None:
    data = np.arange(20)
    for _ in range(2):
        for n in range(1, 20):
            assert same_bits(remapnd.gather(data, np.arange(n)), data[:n])


def test_prepared_gathers_refuse_what_they_cannot_serve() -> None:
    f8, i8 = np.dtype("f8"), np.dtype("i8")
    with pytest.raises(ValueError, match="`bounds` must not be fill"):
        _core.PreparedGather(_core.Gather([-1], [0], [0], -1, 3), f8, [3], i8, [2], [2])
    with pytest.raises(TypeError, match="`dtype` must be a NumPy dtype"):
        _core.PreparedGather(_core.Gather([-1], [0], [0], -1, 0), "f8", [3], i8, [2], [2])  # type: ignore[arg-type]
