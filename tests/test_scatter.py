"""The scatters against their reference twins, bit by bit: dtypes, layouts, policies, reductions, threads."""

from __future__ import annotations

import contextlib
import signal
import threading
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import strategies as own
from hypothesis import given
from hypothesis import strategies as st

import remapnd
from remapnd import _core, reference

BOUNDS = ("raise", "clip", "wrap", "drop")
REDUCTIONS = ("none", "add", "mul", "min", "max")
FUNCTIONS = ("scatter_elements", "put_along_axis", "scatter_nd")
NUMBERS = [
    np.dtype(d)
    for d in (
        "?",
        "u1",
        "i1",
        "u2",
        "i2",
        "u4",
        "i4",
        "u8",
        "i8",
        "f2",
        ml_dtypes.bfloat16,
        "f4",
        "f8",
        "c8",
        "c16",
    )
]


@dataclass
class Case:
    function: str
    data: np.ndarray
    indices: np.ndarray
    updates: np.ndarray
    options: dict[str, Any]

    def run(self, **more: Any) -> np.ndarray:
        arguments = (more.pop("data", self.data), self.indices, self.updates)
        return getattr(remapnd, self.function)(*arguments, **self.options, **more)

    def expected(self) -> np.ndarray:
        native = self.indices.astype(self.indices.dtype.newbyteorder("="))
        return getattr(reference, self.function)(self.data, native, self.updates, **self.options)


def numbers(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int = 0) -> np.ndarray:
    """Random bits, and among floats many small whole numbers, zeros of both signs, infinities and NaNs."""
    a = own.random_array(shape, dtype, seed)
    if dtype.kind in "fc" or dtype == ml_dtypes.bfloat16:
        rng = np.random.default_rng(seed)
        parts = a.reshape(-1).view(a.real.dtype) if dtype.kind == "c" else a.reshape(-1)
        some = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 3.0, np.inf, -np.inf, np.nan])
        few = rng.choice(some, parts.shape, p=[0.1, 0.1, 0.2, 0.2, 0.15, 0.15, 0.04, 0.04, 0.02])
        mask = rng.random(parts.shape) < 0.7
        parts[mask] = few[mask].astype(parts.dtype)
    return a


def index_shape(draw: Any, function: str, shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    if function == "scatter_nd":
        inner = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
        return (*inner, draw(st.integers(0, len(shape))))
    sizes = []
    for d, n in enumerate(shape):
        if d == axis:
            sizes.append(draw(st.integers(0, 6)))
        elif function == "scatter_elements":
            sizes.append(draw(st.integers(0, n)))
        else:
            sizes.append(draw(st.sampled_from([1, n])) if n != 1 else draw(st.integers(0, 5)))
    return tuple(sizes)


def updates_shape(
    function: str, data: tuple[int, ...], indices: tuple[int, ...], axis: int
) -> tuple[int, ...]:
    if function == "scatter_nd":
        return indices[:-1] + data[indices[-1] :]
    if function == "scatter_elements":
        return indices
    return tuple(m if d == axis or n == 1 else n for d, (n, m) in enumerate(zip(data, indices, strict=True)))


@st.composite
def cases(draw: Any) -> Case:
    function = draw(st.sampled_from(FUNCTIONS))
    shape = draw(st.one_of(own.filled_shapes, own.shapes))
    reduction = draw(st.sampled_from(REDUCTIONS))
    if reduction == "none":
        dtype = draw(own.movable_dtypes)
    else:
        dtype = draw(st.sampled_from(NUMBERS[:-2] if reduction in ("min", "max") else NUMBERS))
    data = own.laid_out(numbers(shape, dtype, draw(own.seeds)), draw(own.layouts))
    axis = draw(st.integers(0, len(shape) - 1))
    indices = index_shape(draw, function, shape, axis)
    if function == "scatter_nd":
        sizes = shape[: indices[-1]]
        options: dict[str, Any] = {}
    else:
        sizes = (shape[axis],)
        options = {"axis": draw(st.sampled_from([axis, axis - len(shape)]))}
    bounds = draw(st.sampled_from(BOUNDS))
    options.update(bounds=bounds, reduction=reduction)
    at = updates_shape(function, shape, indices, axis)
    if function == "put_along_axis":
        at = tuple(draw(st.sampled_from([1, n])) for n in at)[draw(st.integers(0, len(at))) :]
    layout = draw(st.sampled_from([layout for layout in own.LAYOUTS if layout != "swapped"]))
    updates = own.laid_out(numbers(at, data.dtype, draw(own.seeds)), layout)
    i = draw(own.index_arrays(indices, sizes, bounds != "raise" or draw(st.booleans())))
    return Case(function, data, i, updates, options)


@given(
    cases(),
    st.sampled_from(_core.levels_usable()),
    st.sampled_from(own.WRITABLE),
)
def test_functions_equal_the_reference(case: Case, level: str, layout: str) -> None:
    assert _core.use_level(level)
    before = case.data.copy()
    own_data = own.result_arrays(case.data.shape, case.data.dtype, layout)
    own_data[...] = case.data
    try:
        expected = case.expected()
    except IndexError:
        with pytest.raises(IndexError, match=rf"^{case.function}: `indices` must "):
            case.run()
        with pytest.raises(IndexError, match=rf"^{case.function}: `indices` must "):
            case.run(data=own_data, out=own_data)
        assert own.same_bits(own_data, before)
        return
    assert own.same_bits(case.run(), expected)
    assert own.same_bits(case.data, before)
    out = own.result_arrays(expected.shape, expected.dtype, layout)
    assert case.run(out=out) is out
    assert own.same_bits(out, expected)
    assert case.run(data=own_data, out=own_data) is own_data
    assert own.same_bits(own_data, expected)


def one_case(function: str, dtype: np.dtype[Any], inner: tuple[int, ...], count: int, **options: Any) -> Case:
    """Many updates of few places."""
    rng = np.random.default_rng(count)
    shape = (count, *inner) if function != "scatter_nd" else (count, 1)
    indices = rng.integers(-11, 11, shape)
    if function != "scatter_nd":
        options["axis"] = 0
    updates = numbers((count, *inner), dtype, 2)
    return Case(function, numbers((11, *inner), dtype, 1), indices, updates, options)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", own.MOVABLE_DTYPES, ids=str)
def test_every_dtype_is_put_at_every_level(function: str, dtype: np.dtype[Any]) -> None:
    for inner in ((), (3,), (20,), (3, 5)):
        case = one_case(function, dtype, inner, 37)
        expected = case.expected()
        for level in _core.levels_usable():
            assert _core.use_level(level)
            for threads in (1, 2):
                _core.set_num_threads(threads)
                assert own.same_bits(case.run(), expected)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("reduction", REDUCTIONS[1:])
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_every_number_is_reduced_at_every_level(function: str, reduction: str, dtype: np.dtype[Any]) -> None:
    for inner in ((), (3,), (40,)):
        case = one_case(function, dtype, inner, 203, reduction=reduction)
        if dtype.kind == "c" and reduction in ("min", "max"):
            with pytest.raises(TypeError, match=r"must have one of the dtypes bool, .*, float64 for '"):
                case.run()
            continue
        expected = case.expected()
        for level in _core.levels_usable():
            assert _core.use_level(level)
            for threads in (1, 2):
                _core.set_num_threads(threads)
                assert own.same_bits(case.run(), expected)
                data = case.data.copy()
                assert own.same_bits(case.run(data=data, out=data), expected)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", NUMBERS[:-2], ids=str)
def test_updates_of_one_place_in_turn(reduction: str, dtype: np.dtype[Any]) -> None:
    """Sorted indices, places with one update to many, more than a block of them."""
    rng = np.random.default_rng(6)
    indices = np.repeat(rng.permutation(400), rng.choice([1, 2, 3, 4, 5, 7, 8, 9, 30], 400))
    updates = numbers(indices.shape, dtype, 1)
    case = Case("scatter_elements", numbers((400,), dtype), indices, updates, {"reduction": reduction})
    assert indices.size > 2048
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
        updates = np.arange(120, dtype=np.int32).reshape(40, 3)
        data = np.zeros((n, 3), np.int32)
        for reduction in ("none", "add"):
            case = Case(
                "scatter_elements", data, indices, updates, {"bounds": bounds, "reduction": reduction}
            )
            expected = case.expected()
            for level in _core.levels_usable():
                assert _core.use_level(level)
                assert own.same_bits(case.run(), expected)


@pytest.mark.parametrize("reduction", ["none", "add"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 16, 17, 31, 64, 65, 130, 1024, 5000])
def test_runs_of_every_size(size: int, reduction: str) -> None:
    rng = np.random.default_rng(size)
    data = rng.integers(0, 256, (50, size), np.uint8)
    updates = rng.integers(0, 256, (101, size), np.uint8)
    indices = rng.integers(-50, 50, (101, 1))
    indices[::7] = rng.integers(-(2**62), 2**62, indices[::7].shape)
    expected = reference.scatter_nd(data, indices, updates, bounds="drop", reduction=reduction)
    for layout in ("C", "F", "negative"):
        x, u = own.laid_out(data, layout), own.laid_out(updates, layout)
        for level in _core.levels_usable():
            assert _core.use_level(level)
            for threads in (1, 3):
                _core.set_num_threads(threads)
                result = remapnd.scatter_nd(x, indices, u, bounds="drop", reduction=reduction)
                assert own.same_bits(result, expected)


# Calls that go each way: by places, by pieces of loops, by owners, one after the other.  Few places, so many
# updates of each; data, indices, updates and options.
LARGE = {
    "rows": ((2000, 64), (9000, 1), {}),
    "long rows": ((5, 30_001), (40, 1), {}),
    "one place": ((3, 200_003), (4, 1), {}),
    "items": ((40_000,), (300_000, 1), {}),
    "tuples": ((300, 20), (300_000, 2), {}),
    "all": ((200, 300), (7, 0), {}),
    "elements 0": ((70, 900), (800, 900), {"axis": 0}),
    "elements 1": ((7000, 9), (7000, 40), {"axis": 1}),
    "middle": ((90, 40, 30), (90, 100, 29), {"axis": 1}),
    "narrow": ((20_000, 3), (100_000, 2), {"axis": 0}),
    "one axis": ((1000,), (400_000,), {"axis": 0}),
}


def large_case(name: str, dtype: str, reduction: str) -> Case:
    shape, index_shape, options = LARGE[name]
    function = "scatter_elements" if options else "scatter_nd"
    rng = np.random.default_rng(3)
    if options:
        indices = rng.integers(-shape[options["axis"]], shape[options["axis"]], index_shape)
    else:
        sizes = np.array(shape[: index_shape[-1]], np.int64)
        indices = (rng.random(index_shape) * 2 * sizes).astype(np.int64) - sizes
    at = updates_shape(function, shape, index_shape, options.get("axis", 0))
    data, updates = rng.standard_normal(shape).astype(dtype), rng.standard_normal(at).astype(dtype)
    return Case(function, data, indices, updates, {**options, "reduction": reduction})


def by_numpy(case: Case) -> np.ndarray:
    result, axis = case.data.copy(), case.options.get("axis", 0)
    if case.indices.shape[-1] == 0:  # each update is all of the result
        if case.options["reduction"] == "none":
            return case.updates[-1].copy()
        for update in case.updates:
            result += update
        return result
    if case.function == "scatter_nd":
        where = tuple(np.moveaxis(case.indices, -1, 0))
    else:
        coordinates = list(np.indices(case.indices.shape, sparse=True))
        coordinates[axis] = case.indices
        where = tuple(coordinates)
    if case.options["reduction"] == "none":
        # Fancy assignment does not promise an order: the last update of each place is found by its number.
        count = int(np.prod(case.updates.shape))
        last = np.full(result.shape, -1)
        np.maximum.at(last, where, np.arange(count).reshape(case.updates.shape))
        return np.where(last >= 0, case.updates.reshape(-1)[last], result)
    np.add.at(result, where, case.updates)
    return result


@pytest.mark.parametrize("reduction", ["none", "add"])
@pytest.mark.parametrize("name", LARGE)
def test_large_calls_for_any_level_and_thread_count(name: str, reduction: str) -> None:
    case = large_case(name, "f4", reduction)
    expected = by_numpy(case)
    for layout in ("C", "F"):
        laid = Case(
            case.function,
            *(own.laid_out(a, layout) for a in (case.data, case.indices, case.updates)),
            case.options,
        )
        for level in _core.levels_usable():
            assert _core.use_level(level)
            for threads in (1, 2, 3, 6):
                _core.set_num_threads(threads)
                assert own.same_bits(laid.run(), expected)
                data = laid.data.copy(order="K")
                assert own.same_bits(laid.run(data=data, out=data), expected)
    if case.indices.size:
        case.indices[(-1,) * case.indices.ndim] = 2**40
        dropped = Case(
            case.function, case.data, case.indices, case.updates, {**case.options, "bounds": "drop"}
        )
        results = []
        for threads in (1, 3, 6):
            _core.set_num_threads(threads)
            data = case.data.copy()
            with pytest.raises(IndexError, match=rf"{case.function}: .*, got {2**40} at "):
                case.run(data=data, out=data)
            assert own.same_bits(data, case.data)
            results.append(dropped.run())
        assert all(own.same_bits(r, results[0]) for r in results)


@pytest.mark.parametrize("dtype", ["u1", "f2", "f8", "c16"])
@pytest.mark.parametrize("reduction", ["none", "mul"])
def test_items_of_every_size_are_dealt_out_alike(dtype: str, reduction: str) -> None:
    rng = np.random.default_rng(0)
    data, updates = numbers((5000,), np.dtype(dtype), 1), numbers((150_000,), np.dtype(dtype), 2)
    indices = rng.integers(-6000, 6000, 150_000)
    results = []
    for threads in (1, 4, 9):
        _core.set_num_threads(threads)
        for x in (data, data[::-1]):
            out = np.empty_like(x)
            got = remapnd.scatter_elements(x, indices, updates, reduction=reduction, bounds="drop", out=out)
            results.append(got)
    assert all(own.same_bits(r, results[k % 2]) for k, r in enumerate(results))
    few = slice(0, 2000)
    expected = reference.scatter_elements(
        data, indices[few], updates[few], reduction=reduction, bounds="drop"
    )
    got = remapnd.scatter_elements(data, indices[few], updates[few], reduction=reduction, bounds="drop")
    assert own.same_bits(got, expected)


def test_a_long_sum_is_taken_in_order() -> None:
    rng = np.random.default_rng(0)
    updates = rng.standard_normal(300_000).astype(np.float32) * np.float32(2.0) ** rng.integers(
        -20, 20, 300_000
    )
    updates = updates.astype(np.float32)
    expected = np.float32(0.5)
    for u in updates:
        expected = np.float32(expected + u)
    for threads in (1, 2, 5):
        _core.set_num_threads(threads)
        result = remapnd.scatter_nd(
            np.full(1, 0.5, np.float32), np.zeros((300_000, 1), int), updates, reduction="add"
        )
        assert result[0] == expected
        two = remapnd.scatter_elements(
            np.full((1, 20), 0.5, np.float32),
            np.zeros((300_000, 20), np.int8),
            np.broadcast_to(updates[:, None], (300_000, 20)),
            reduction="add",
        )
        assert (two == expected).all()


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("threads", [1, 5])
def test_indices_changed_by_another_thread_stay_inside(bounds: str, threads: int) -> None:
    memory = np.zeros(3000, np.uint8)
    data = memory[1000:2000]
    rows = np.zeros((3000, 100), np.uint8)
    indices = np.zeros(100_000, np.int64)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            indices[:] = 2**40
            indices[:] = -1
            indices[:] = 1500

    thread = threading.Thread(target=change)
    thread.start()
    _core.set_num_threads(threads)
    try:
        for _ in range(10):
            with contextlib.suppress(IndexError):
                remapnd.scatter_elements(data, indices, np.ones(100_000, np.uint8), bounds=bounds, out=data)
            with contextlib.suppress(IndexError):
                remapnd.scatter_nd(
                    rows[1000:2000],
                    indices[:4000, None],
                    np.ones((4000, 100), np.uint8),
                    bounds=bounds,
                    out=rows[1000:2000],
                )
    finally:
        stop.set()
        thread.join()
    for a in (memory, rows):
        assert not a[:1000].any()
        assert not a[2000:].any()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signal.setitimer")
@pytest.mark.parametrize("threads", [1, 5])
@pytest.mark.parametrize("spread", [False, True])
def test_an_interrupt_stops_a_call(spread: bool, threads: int) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    _core.set_num_threads(threads)
    count = 2**30
    data = np.zeros(100_000, np.uint32)
    row = np.arange(1024, dtype=np.int32) * 97 if spread else np.zeros(1024, np.int32)
    indices = np.broadcast_to(row, (count // 1024, 1024))[..., None]
    updates = np.broadcast_to(np.uint32(1), (count // 1024, 1024))
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            remapnd.scatter_nd(data, indices, updates, reduction="add", out=data)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert 0 < data.sum(dtype=np.int64) < count


def test_more_than_2_to_the_31_updates() -> None:
    # Rows of no columns: as many as there are indices, but no memory.
    indices = np.broadcast_to(np.int8(1), (2**31 + 5, 1))
    result = remapnd.scatter_nd(np.zeros((3, 0)), indices, np.zeros((2**31 + 5, 0)))
    assert result.shape == (3, 0)


def test_places_beyond_2_to_the_31() -> None:
    data = np.zeros(2**31 + 8, np.uint8)  # memory that is given only where it is written
    remapnd.scatter_elements(data, [2**31 + 5, -1, 0], [1, 2, 3], out=data)
    remapnd.scatter_nd(data, [[2**31 + 5], [1]], [5, 6], reduction="add", out=data)
    assert data[[0, 1, 2**31 + 5, -1]].tolist() == [3, 6, 6, 2]


def test_many_axes() -> None:
    rank = 24
    data = np.arange(2**5).reshape((2, 1, 1, 1) * 5 + (1,) * (rank - 20))
    for axis in (0, 4, 16, 23):
        indices = np.zeros_like(data, np.int8)
        updates = -data - 1
        case = Case("scatter_elements", data, indices, updates, {"axis": axis, "reduction": "add"})
        assert own.same_bits(case.run(), case.expected())
