"""The gathers against their reference twins, bit by bit: dtypes, layouts, policies, levels, threads."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import strategies as own
from hypothesis import given
from hypothesis import strategies as st

import remapnd
from remapnd import _core, reference

BOUNDS = ("raise", "clip", "wrap", "fill")
FUNCTIONS = ("gather", "gather_elements", "take_along_axis", "gather_nd")


@dataclass
class Case:
    function: str
    data: np.ndarray
    indices: np.ndarray
    options: dict[str, Any]

    def run(self, **more: Any) -> np.ndarray:
        return getattr(remapnd, self.function)(self.data, self.indices, **self.options, **more)

    def expected(self) -> np.ndarray:
        native = self.indices.astype(self.indices.dtype.newbyteorder("="))
        return getattr(reference, self.function)(self.data, native, **self.options)


def _index_shapes(draw, function: str, shape: tuple[int, ...], axis: int, batch_dims: int) -> tuple[int, ...]:
    if function == "gather":
        return tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    if function == "gather_nd":
        inner = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
        return (*shape[:batch_dims], *inner, draw(st.integers(0, len(shape) - batch_dims)))
    sizes = []
    for d, n in enumerate(shape):
        if d == axis:
            sizes.append(draw(st.integers(0, 6)))
        elif function == "gather_elements":
            sizes.append(draw(st.integers(0, n)))
        else:
            sizes.append(draw(st.sampled_from([1, n])) if n != 1 else draw(st.integers(0, 5)))
    return tuple(sizes)


@st.composite
def cases(draw) -> Case:
    function = draw(st.sampled_from(FUNCTIONS))
    shape = draw(st.one_of(own.filled_shapes, own.shapes))
    dtype = draw(own.movable_dtypes)
    data = own.laid_out(own.random_array(shape, dtype, draw(own.seeds)), draw(own.layouts))
    axis, batch_dims = draw(st.integers(0, len(shape) - 1)), draw(st.integers(0, len(shape) - 1))
    index_shape = _index_shapes(draw, function, shape, axis, batch_dims)
    if function == "gather_nd":
        batch_dims = min(batch_dims, len(index_shape) - 1)
        t = index_shape[-1]
        sizes = shape[batch_dims : batch_dims + t]
        options: dict[str, Any] = {"batch_dims": batch_dims}
    else:
        sizes = (shape[axis],)
        options = {"axis": draw(st.sampled_from([axis, axis - len(shape)]))}
    bounds = draw(st.sampled_from(BOUNDS))
    indices = draw(own.index_arrays(index_shape, sizes, bounds != "raise" or draw(st.booleans())))
    options["bounds"] = bounds
    if bounds == "fill" and draw(st.booleans()):
        options["fill_value"] = own.random_array((1,), data.dtype, draw(own.seeds))[
            0, ...
        ]  # 0-d: a scalar may have other padding
    return Case(function, data, indices, options)


@given(
    cases(),
    st.sampled_from(_core.levels_usable()),
    st.sampled_from(own.WRITABLE),
)
def test_functions_equal_the_reference(case: Case, level: str, out_layout: str) -> None:
    assert _core.use_level(level)
    try:
        expected = case.expected()
    except IndexError:
        with pytest.raises(IndexError, match=rf"^{case.function}: `indices` must "):
            case.run()
        return
    result = case.run()
    assert own.same_bits(result, expected)
    out = own.result_arrays(expected.shape, expected.dtype, out_layout)
    assert case.run(out=out) is out
    assert own.same_bits(out, expected)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", own.MOVABLE_DTYPES, ids=str)
def test_every_dtype_at_every_level(function: str, dtype: np.dtype[Any]) -> None:
    # Tails of 1 and of 3 items, 37 indices: the loops over four and their rests, runs of many sizes.
    rng = np.random.default_rng(1)
    for inner in ((), (3,), (20,)):
        data = own.random_array((11, *inner), dtype)
        shape = (37, *inner) if function in ("gather_elements", "take_along_axis") else (37, 1)
        indices = rng.integers(-11, 11, shape)
        options = {"batch_dims": 0} if function == "gather_nd" else {"axis": 0}
        case = Case(function, data, indices, options)
        expected = case.expected()
        for level in _core.levels_usable():
            assert _core.use_level(level)
            assert own.same_bits(case.run(), expected)


@pytest.mark.parametrize("dtype", own.INDEX_DTYPES, ids=str)
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("layout", own.LAYOUTS)
def test_every_index_dtype_policy_and_layout(dtype: np.dtype[Any], bounds: str, layout: str) -> None:
    limits = np.iinfo(dtype)
    for n in (1, 7, 100, 40_000):
        near = [0, 1, n - 1, n, -1, -n, -n - 1, limits.min, limits.max, limits.max // 2 + 1, limits.min // 2]
        values = [v for v in near if limits.min <= v <= limits.max]
        if bounds == "raise":
            values = [v for v in values if -n <= v < n]
        indices = own.laid_out(np.resize(np.array(values, dtype), (40, 3)), layout)
        data = np.arange(n, dtype=np.int32) + 5
        case = Case("gather", data, indices, own.filling(bounds, -1))
        expected = case.expected()
        for level in _core.levels_usable():
            assert _core.use_level(level)
            assert own.same_bits(case.run(), expected)


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize(
    "size", [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 64, 65, 130, 1024, 1025, 5000]
)
def test_runs_of_every_size(size: int, bounds: str) -> None:
    rng = np.random.default_rng(size)
    data = rng.integers(0, 256, (50, size), np.uint8)
    indices = rng.integers(-50, 50, 301)
    if bounds != "raise":
        indices[::7] = rng.integers(-(2**62), 2**62, len(indices[::7]))
    for source in (data, np.asfortranarray(data), data[:, ::-1], data[::-1]):
        expected = reference.gather(source, indices, **own.filling(bounds, 9))
        for level in _core.levels_usable():
            assert _core.use_level(level)
            assert own.same_bits(remapnd.gather(source, indices, **own.filling(bounds, 9)), expected)


@pytest.mark.parametrize("dtype", ["i4", "i8"])
@pytest.mark.parametrize("batched", [False, True])
def test_pairs_that_lie_one_behind_the_other(dtype: str, batched: bool) -> None:
    """Any number of them, first and last place, and any one component out of range."""
    rng = np.random.default_rng(3)
    data = rng.integers(0, 1000, (2, 5, 7, 3) if batched else (5, 7), np.int16)
    limits, top = np.array([5, 7]), np.iinfo(dtype).max
    options = {"batch_dims": 1} if batched else {}
    for count in (1, 2, 3, 4, 5, 7, 8, 9, 21):
        indices = rng.integers(-limits, limits, (*data.shape[: int(batched)], count, 2)).astype(dtype)
        indices[..., 0, :] = -limits
        indices[..., -1, :] = limits - 1
        expected = reference.gather_nd(data, indices, **options)
        for level in _core.levels_usable():
            assert _core.use_level(level)
            assert own.same_bits(remapnd.gather_nd(data, indices, **options), expected)
            for at in range(indices.size):
                for bad in (limits[at % 2], -limits[at % 2] - 1, top, -top - 1):
                    wrong = indices.copy()
                    wrong.flat[at] = bad
                    with pytest.raises(IndexError, match=f"got {bad} "):
                        remapnd.gather_nd(data, wrong, **options)


# Calls that are cut into many tasks, in every way: many indices, long runs, many reuses, one index.
LARGE = {
    "rows": lambda a, rng: ("gather", a(20_000, 64), rng.integers(-20_000, 20_000, 30_000), {"axis": 0}),
    "columns": lambda a, rng: ("gather", a(1500, 900), rng.integers(-900, 900, 1100), {"axis": 1}),
    "few columns": lambda a, rng: ("gather", a(400_000, 5), np.array([4, -5]), {"axis": 1}),
    "one index": lambda a, rng: ("gather", a(3, 1_000_003), np.array(2), {"axis": 0}),
    "one column": lambda a, rng: ("gather", a(1_000_003, 3), np.array(2), {"axis": 1}),
    "long runs": lambda a, rng: ("gather", a(4, 300_001), np.array([3, 1, 1]), {"axis": 0}),
    "elements 0": lambda a, rng: (
        "gather_elements",
        a(700, 900),
        rng.integers(-700, 700, (800, 900)),
        {"axis": 0},
    ),
    "elements 1": lambda a, rng: (
        "gather_elements",
        a(7000, 9),
        rng.integers(-9, 9, (7000, 100)),
        {"axis": 1},
    ),
    "middle": lambda a, rng: (
        "gather_elements",
        a(90, 40, 30),
        rng.integers(-40, 40, (90, 300, 29)),
        {"axis": 1},
    ),
    "narrow": lambda a, rng: (
        "gather_elements",
        a(200_000, 3),
        rng.integers(-3, 3, (200_000, 2)),
        {"axis": 1},
    ),
    "broadcast data": lambda a, rng: ("take_along_axis", a(1, 900), rng.integers(-900, 900, (700, 800)), {}),
    "broadcast indices": lambda a, rng: (
        "take_along_axis",
        a(50, 80, 200),
        rng.integers(-200, 200, (50, 1, 150)),
        {"axis": 2},
    ),
    "tuples": lambda a, rng: ("gather_nd", a(300, 200, 2), rng.integers(-200, 200, (300_000, 2)), {}),
    "batches": lambda a, rng: (
        "gather_nd",
        a(70, 30, 40),
        rng.integers(-30, 30, (70, 9000, 2)),
        {"batch_dims": 1},
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_calls_for_any_level_and_thread_count(name: str) -> None:
    def array(*shape: int) -> np.ndarray:
        return own.random_array(shape, np.dtype("f4"))

    function, data, indices, options = LARGE[name](array, np.random.default_rng(3))
    expected = _by_numpy(function, data, indices, options)
    for layout in ("C", "F"):
        x, i = own.laid_out(data, layout), own.laid_out(indices, layout)
        for level in _core.levels_usable():
            assert _core.use_level(level)
            for threads in (1, 2, 3):
                _core.set_num_threads(threads)
                assert own.same_bits(getattr(remapnd, function)(x, i, **options), expected)
    i = indices.copy()
    i[(-1,) * i.ndim] = 2**40
    for threads in (1, 3):
        _core.set_num_threads(threads)
        with pytest.raises(IndexError, match=rf"{function}: .*, got {2**40} at "):
            getattr(remapnd, function)(data, i, **options)


def _by_numpy(function: str, data: np.ndarray, indices: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    axis = options.get("axis", -1)
    bits = data.view(np.uint32)
    if function == "gather":
        result = np.take(bits, indices, axis=axis)
    elif function == "gather_nd" and options:
        grid = np.arange(len(data))[:, None]
        result = bits[grid, indices[..., 0], indices[..., 1]]
    elif function == "gather_nd":
        result = bits[tuple(np.moveaxis(indices, -1, 0))]
    else:
        if function == "gather_elements":
            cut = tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(indices.shape))
            bits = bits[cut]
        result = np.take_along_axis(bits, indices, axis)
    return np.asarray(result).view(data.dtype)


def test_threads_of_python_share_the_pool() -> None:
    _core.set_num_threads(2)
    data = np.arange(1_000_000.0)
    indices = np.random.default_rng(0).integers(0, data.size, 400_000)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda k: remapnd.gather(data, (indices + k) % data.size), range(8)))
    for k, result in enumerate(results):
        assert np.array_equal(result, (indices + k) % data.size)


@pytest.mark.parametrize("bounds", BOUNDS)
def test_indices_changed_by_another_thread_stay_inside(bounds: str) -> None:
    data = np.full(1000, 7, np.uint8)
    indices = np.zeros(300_000, np.int64)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            indices[:] = 2**40
            indices[:] = -1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(20):
            with contextlib.suppress(IndexError) if bounds == "raise" else contextlib.nullcontext():
                result = remapnd.gather(data, indices, **own.filling(bounds, 7))
                assert (result == 7).all()
    finally:
        stop.set()
        thread.join()


# ---- values from the specifications

VECTORS = [
    ("gather", [[1, 2], [3, 4], [5, 6]], [0, 1, 1, 2], {"axis": 0}, [[1, 2], [3, 4], [3, 4], [5, 6]]),
    ("gather", [[1, 2, 3]], [-1, 0, -3], {"axis": 1}, [[3, 1, 1]]),
    ("gather", [[0, 1, 2], [3, 4, 5]], 2, {"axis": 1}, [2, 5]),
    ("gather", [[0, 1, 2], [3, 4, 5]], [[2, 0], [1, 1]], {"axis": 1}, [[[2, 0], [1, 1]], [[5, 3], [4, 4]]]),
    (
        "gather_elements",
        np.arange(9).reshape(3, 3),
        [[0, 2, 1], [-1, 0, 0]],
        {"axis": 0},
        [[0, 7, 5], [6, 1, 2]],
    ),
    ("gather_elements", np.arange(6).reshape(2, 3), [[2, -1], [0, 1]], {"axis": 1}, [[2, 2], [3, 4]]),
    ("gather_nd", np.arange(8).reshape(2, 2, 2), [[0, 1, 0], [1, 1, -1]], {}, [2, 7]),
    ("gather_nd", np.arange(8).reshape(2, 2, 2), [[0, 1], [1, 0]], {}, [[2, 3], [4, 5]]),
    ("gather_nd", np.arange(8).reshape(2, 2, 2), [1], {}, [[4, 5], [6, 7]]),
    ("gather_nd", np.arange(8).reshape(2, 2, 2), [[1], [0]], {"batch_dims": 1}, [[2, 3], [4, 5]]),
    # three empty tuples: all of data for each
    ("gather_nd", [[1, 2], [3, 4]], np.zeros((3, 0), np.int64), {}, [[[1, 2], [3, 4]]] * 3),
    ("gather_nd", [[1, 2], [3, 4]], np.zeros((2, 0), np.int64), {"batch_dims": 1}, [[1, 2], [3, 4]]),
    ("gather_nd", np.zeros((0, 3), np.int64), np.zeros((0, 1), np.int64), {"batch_dims": 1}, []),
    # out of range, by each policy
    ("gather", [10, 20, 30, 40, 50], [0, 1, 2, 3, 5, 4], {"bounds": "clip"}, [10, 20, 30, 40, 50, 50]),
    ("gather", [10, 20, 30, 40, 50], [0, 1, 2, 3, 5, 4], {"bounds": "fill"}, [10, 20, 30, 40, 0, 50]),
    ("gather", [10, 20, 30], [-4, -3, -1, 3], {"bounds": "clip"}, [10, 10, 30, 30]),
    ("gather", [10, 20, 30], [-4, 3, 7, -(2**63), 2**63 - 1], {"bounds": "wrap"}, [30, 10, 20, 20, 20]),
    (
        "gather_nd",
        [[1, 2], [3, 4]],
        [[0, 1], [0, 2], [-3, 0]],
        {"bounds": "fill", "fill_value": -9},
        [2, -9, -9],
    ),
    ("gather_nd", [[1, 2], [3, 4]], [[0, 1], [0, 2], [-3, 0]], {"bounds": "clip"}, [2, 2, 1]),
    # index widths
    ("gather_elements", [[1, 2], [3, 4]], np.array([[0], [1]], np.int32), {"axis": 1}, [[1], [4]]),
    ("gather", np.ones(256, np.int64), np.array(150, np.uint8), {}, 1),
    ("gather_nd", np.zeros((256, 1), np.int64), np.zeros((256, 1), np.int8), {"batch_dims": 1}, [0] * 256),
    ("take_along_axis", [[3, 1, 2], [9, 8, 7]], [[0, -1]], {}, [[3, 2], [9, 7]]),
    ("take_along_axis", [[3, 1], [2, 9]], [3, 0], {"axis": None}, [9, 3]),
]


@pytest.mark.parametrize(("function", "data", "indices", "options", "expected"), VECTORS)
def test_vectors(function: str, data: Any, indices: Any, options: dict[str, Any], expected: Any) -> None:
    result = getattr(remapnd, function)(np.array(data), indices, **options)
    assert result.tolist() == expected
    if options.get("axis", 0) is not None:
        twin = getattr(reference, function)(np.array(data), np.array(indices), **options)
        assert own.same_bits(result, twin)


def test_uint64_is_never_negative() -> None:
    data = np.arange(5)
    large = np.array([2**63, 2**64 - 1, 2**63 - 1, 3], np.uint64)
    assert remapnd.gather(data, large, bounds="clip").tolist() == [4, 4, 4, 3]
    assert remapnd.gather(data, large, bounds="fill", fill_value=-1).tolist() == [-1, -1, -1, 3]
    assert remapnd.gather(data, large, bounds="wrap").tolist() == [
        2**63 % 5,
        (2**64 - 1) % 5,
        (2**63 - 1) % 5,
        3,
    ]
    with pytest.raises(IndexError, match=rf"lie in \[-5, 5\) on axis 0, got {2**63} at \(0,\)"):
        remapnd.gather(data, large)


def test_an_axis_without_items() -> None:
    data = np.zeros((0, 3))
    for bounds in ("raise", "clip", "wrap"):
        with pytest.raises(
            IndexError, match=r"gather: `indices` must be empty for axis 0 of size 0, got 1 at \(0,\)"
        ):
            remapnd.gather(data, [1], bounds=bounds)
        assert remapnd.gather(data, [], bounds=bounds).shape == (0, 3)
    assert remapnd.gather(data, [1, 0], bounds="fill", fill_value=2.5).tolist() == [[2.5] * 3] * 2
    nd = remapnd.gather_nd(np.zeros((3, 0)), [[1, 0], [9, 9]], bounds="fill", fill_value=1)
    assert nd.tolist() == [1, 1]


@pytest.mark.parametrize("bounds", ["raise", "clip", "wrap"])
def test_indices_are_checked_where_nothing_is_moved(bounds: str) -> None:
    n = 5 if bounds == "raise" else 0
    with pytest.raises(IndexError, match=r"`indices` must .*, got 7 at \(0,\)"):
        remapnd.gather(np.zeros((0, n)), [7], axis=1, bounds=bounds)
    assert remapnd.gather(np.zeros((0, 5)), [4], axis=1, bounds=bounds).shape == (0, 1)
    assert remapnd.gather(np.zeros((0, 5)), [7], axis=1, bounds="fill").shape == (0, 1)


def test_bits_are_moved() -> None:
    bits = np.array([0x7F800001, 0xFFC12345, 0x80000000, 0x7FBFFFFF], np.uint32)
    result = remapnd.gather(bits.view(np.float32), [3, 2, 1, 0])
    assert result.view(np.uint32).tolist() == bits[::-1].tolist()


def test_padding_bytes_are_moved() -> None:
    dtype = np.dtype({"names": ["a"], "formats": ["u1"], "offsets": [1], "itemsize": 3})
    data = np.frombuffer(bytes(range(12)), dtype)
    assert remapnd.gather(data, [2]).tobytes() == bytes([6, 7, 8])


def test_more_than_2_to_the_31_elements() -> None:
    n = 2**31 + 5
    columns = np.arange(7, dtype=np.int16)
    data = np.broadcast_to(columns, (n, 7))
    assert remapnd.gather(data, [[n - 1, -n]]).tolist() == [[columns.tolist()] * 2]
    assert remapnd.gather_nd(data, [[n - 1, 6], [-n, -7]]).tolist() == [6, 0]
    assert remapnd.gather_elements(data, np.full((1, 7), n - 1), axis=0).tolist() == [columns.tolist()]
    with pytest.raises(IndexError, match=rf"lie in \[-{n}, {n}\) on axis 0, got {n} at \(1,\)"):
        remapnd.gather(data, [0, n])
    few = remapnd.gather(data.T[:, ::-1], np.array([n - 1], np.uint32), axis=1)
    assert few.tolist() == [[c] for c in range(7)]


def test_more_than_2_to_the_31_indices() -> None:
    # Rows of no columns: as many as there are indices, but no memory.
    indices = np.broadcast_to(np.int8(1), (2**31 + 5, 1))
    assert remapnd.gather(np.zeros((3, 0)), indices).shape == (2**31 + 5, 1, 0)


def test_many_axes() -> None:
    rank = 24
    data = np.arange(2**5).reshape((2, 1, 1, 1) * 5 + (1,) * (rank - 20))
    for axis in (0, 4, 16, 23):
        indices = np.zeros(2, np.int8)
        expected = np.take(data, indices, axis)
        assert own.same_bits(remapnd.gather(data, indices, axis=axis), expected)
    turned = data.transpose(np.random.default_rng(0).permutation(rank))
    indices = np.zeros((*turned.shape[:-1], 3), np.int16)
    result = remapnd.gather_elements(turned, indices, axis=-1)
    assert own.same_bits(result, np.take_along_axis(turned, indices, -1))
    most = np.zeros((1,) * 32)
    assert remapnd.gather(most, np.zeros((1,) * 20, np.int8)).ndim == 51
