"""Scatters of many single items by several threads give the bits of one, whatever the way that they go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import strategies as own
from hypothesis import given, settings
from hypothesis import strategies as st
from test_scatter import NUMBERS, REDUCTIONS, numbers

import remapnd
from remapnd import _core

COUNT = 132_003
"""Updates that several threads share, and not a multiple of what they take at once."""

THREADS = (2, 3, 4)


def by_threads(call: Any, *args: Any, **options: Any) -> np.ndarray:
    """The result of one thread, which that of others is compared with."""
    _core.set_num_threads(1)
    expected: np.ndarray = call(*args, **options)
    for threads in THREADS:
        _core.set_num_threads(threads)
        assert own.same_bits(call(*args, **options), expected)
        data = args[0].copy(order="K")
        assert call(data, *args[1:], **options, out=data) is data
        assert own.same_bits(data, expected)
    return expected


@pytest.mark.parametrize("index_dtype", ["i4", "i8"])
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_every_number(dtype: np.dtype[Any], index_dtype: str) -> None:
    rng = np.random.default_rng(0)
    data, updates = numbers((2, 60, 50), dtype, 1), numbers((COUNT,), dtype, 2)
    flat = rng.integers(-6000, 6000, COUNT).astype(index_dtype)
    pairs = np.stack([rng.integers(-n, n, COUNT) for n in (60, 100)], axis=1).astype(index_dtype)
    for reduction in REDUCTIONS:
        if dtype.kind == "c" and reduction in ("min", "max"):
            continue
        by_threads(remapnd.scatter_elements, data.reshape(-1), flat, updates, reduction=reduction)
        by_threads(remapnd.scatter_nd, data.reshape(60, 100), pairs, updates, reduction=reduction)


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8"])
def test_sums_of_integers_are_those_of_numpy(dtype: str, components: int) -> None:
    rng = np.random.default_rng(0)
    data, updates = (
        own.random_array((91, 23), np.dtype(dtype), 1),
        own.random_array((COUNT,), np.dtype(dtype), 2),
    )
    shape = data.shape[:components]
    indices = np.stack([rng.integers(-n, n, COUNT) for n in shape], axis=1)
    data = data[..., 0].copy() if components == 1 else data
    expected = data.copy()
    np.add.at(expected, tuple(indices.T), updates)
    assert own.same_bits(by_threads(remapnd.scatter_nd, data, indices, updates, reduction="add"), expected)


@pytest.mark.parametrize("index_dtype", ["i4", "i8", "i2"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u8"])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 7, 300, 5001])
def test_sums_by_one_thread_are_those_of_numpy(count: int, dtype: str, index_dtype: str) -> None:
    """In their order, with runs of one place, and at the border of a block an index that is dropped."""
    rng = np.random.default_rng(count)
    data = (1e3 * rng.standard_normal(77)).astype(dtype)
    updates = (1e3 * rng.standard_normal(count)).astype(dtype)
    _core.set_num_threads(1)
    for runs in (1, 6):
        indices = np.repeat(rng.integers(-77, 77, count), runs)[:count].astype(index_dtype)
        expected = data.copy()
        np.add.at(expected, indices, updates)
        assert own.same_bits(remapnd.scatter_elements(data, indices, updates, reduction="add"), expected)
        for at in (k for k in (0, 3, 4, count - 1) if 0 <= k < count):
            some = np.arange(count) != at
            expected = data.copy()
            np.add.at(expected, indices[some], updates[some])
            holed = np.where(some, indices, 77).astype(index_dtype)
            result = remapnd.scatter_elements(data, holed, updates, reduction="add", bounds="drop")
            assert own.same_bits(result, expected)
            with pytest.raises(IndexError, match=rf"got 77 at \({at},\)"):
                remapnd.scatter_elements(data, holed, updates, reduction="add")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_layout_and_spread(draw: st.DataObject) -> None:
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32 - 1)))
    dtype = draw.draw(st.sampled_from(["u1", "f2", "f4", "f8", "c16"]))
    shape = draw.draw(st.sampled_from([(1,), (7,), (5000,), (1, 4000), (4000, 1), (60, 70), (3, 40, 30)]))
    data = own.laid_out(rng.integers(0, 9, shape).astype(dtype), draw.draw(st.sampled_from(["C", "F"])))
    data = data[tuple(slice(None, None, draw.draw(st.sampled_from([1, -1]))) for _ in shape)]
    spread = draw.draw(st.sampled_from(["random", "sorted", "few", "one", "skew"]))
    columns = []
    for n in shape:
        column = rng.integers(0, n, COUNT)
        if spread == "few":
            column %= 3
        elif spread == "one":
            column[:] = n - 1
        elif spread == "skew":
            column = column * column // n
        columns.append(column - n * rng.integers(0, 2, COUNT))
    indices = np.stack(columns, axis=1)
    if spread == "sorted":
        indices = np.sort(indices, axis=0)
    indices = indices.astype(draw.draw(st.sampled_from(["i4", "i8", "i2", ">i8"])))
    updates = rng.integers(0, 9, COUNT).astype(dtype)
    how = draw.draw(st.sampled_from(["contiguous", "reversed", "strided", "one update", "one index"]))
    if how == "reversed":
        indices, updates = indices[::-1], updates[::-1]
    elif how == "strided":
        indices, updates = np.repeat(indices, 2, axis=0)[::2], np.repeat(updates, 3)[1::3]
    elif how == "one update":
        updates = np.broadcast_to(updates[:1], updates.shape)
    elif how == "one index":
        indices = np.broadcast_to(indices[:1], indices.shape)
    by_threads(
        remapnd.scatter_nd,
        data,
        indices,
        updates,
        reduction=draw.draw(st.sampled_from(["none", "add", "mul"])),
    )


@pytest.mark.parametrize("index_dtype", ["i4", "i8"])
@pytest.mark.parametrize("at", [0, 70_001, COUNT - 1])
@pytest.mark.parametrize("components", [1, 2])
def test_an_index_out_of_range_is_found(components: int, at: int, index_dtype: str) -> None:
    rng = np.random.default_rng(0)
    sizes = (90, 60)[:components]
    data, updates = numbers(sizes, np.dtype("f4"), 1), numbers((COUNT,), np.dtype("f4"), 2)
    wrongs = [sizes[-1], -sizes[-1] - 1, 2**31 - 1, -(2**31)]
    if index_dtype == "i8":
        wrongs += [2**31, 2**32, 2**32 + 1, -(2**32), 2**63 - 1, -(2**63)]
    for wrong in wrongs:
        indices = np.stack([rng.integers(-n, n, COUNT) for n in sizes], axis=1).astype(index_dtype)
        indices[at, -1] = wrong
        for threads in (1, *THREADS):
            _core.set_num_threads(threads)
            text = rf"scatter_nd: `indices` must lie in \[-{sizes[-1]}, {sizes[-1]}\) .*, got {wrong} at "
            with pytest.raises(IndexError, match=text + rf"\({at}, {components - 1}\)"):
                remapnd.scatter_nd(data, indices, updates, reduction="add")
            mine = data.copy()
            with pytest.raises(IndexError, match=text):
                remapnd.scatter_nd(mine, indices, updates, reduction="add", out=mine)
            assert own.same_bits(mine, data)
        for bounds in ("clip", "wrap", "drop"):
            by_threads(remapnd.scatter_nd, data, indices, updates, reduction="add", bounds=bounds)


def test_many_indices_out_of_range() -> None:
    rng = np.random.default_rng(0)
    data, updates = numbers((900,), np.dtype("f8"), 1), numbers((COUNT,), np.dtype("f8"), 2)
    for spread in (1000, 10**6, 2**62):
        indices = rng.integers(-spread, spread, COUNT)
        for bounds in ("clip", "wrap", "drop"):
            by_threads(remapnd.scatter_elements, data, indices, updates, reduction="add", bounds=bounds)


@pytest.mark.parametrize("level", _core.levels_usable())
def test_every_level(level: str) -> None:
    assert _core.use_level(level)
    rng = np.random.default_rng(0)
    for dtype in ("u1", "u2", "f4", "f8"):
        data, updates = numbers((9000,), np.dtype(dtype), 1), numbers((COUNT,), np.dtype(dtype), 2)
        by_threads(remapnd.scatter_elements, data, rng.integers(-9000, 9000, COUNT), updates, reduction="add")
