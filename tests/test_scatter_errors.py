"""Every error of the scatters by its text, and `out=` in every variation."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import strategies as own
from numpy.lib.stride_tricks import as_strided

import remapnd
from remapnd import _core

D = np.arange(12.0).reshape(3, 4)
U = np.zeros((2, 4))
IDX = np.zeros((2, 4), int)
E, P, N = remapnd.scatter_elements, remapnd.put_along_axis, remapnd.scatter_nd
NUMBERS = (
    "bool, uint8, int8, uint16, int16, uint32, int32, uint64, int64, float16, bfloat16, float32, float64"
)

ERRORS: list[tuple[Any, Any, dict[str, Any], type[Exception], str]] = [
    # dtypes
    (
        E,
        (D, IDX + 0.5, U),
        {},
        TypeError,
        "scatter_elements: `indices` must have an integer dtype "
        "(indices.astype(np.int64) cuts fractions off), got float64",
    ),
    (
        E,
        (D, IDX, U.astype("f4")),
        {},
        TypeError,
        "scatter_elements: `updates` must have dtype float64, as `data` (updates.astype(data.dtype) casts), "
        "got float32",
    ),
    (
        P,
        (D.astype("f4"), IDX, np.float64(1)),
        {"axis": 0},
        TypeError,
        "put_along_axis: `values` must have dtype float32, as `data` (values.astype(data.dtype) casts), "
        "got float64",
    ),
    (
        E,
        (np.zeros((3, 4), int), IDX, [[0.5] * 4] * 2),
        {},
        TypeError,
        "scatter_elements: `updates` must be castable to int64, the dtype of `data`, got float64 values",
    ),
    (
        P,
        (np.zeros((3, 4), "u1"), IDX, 256),
        {"axis": 0},
        TypeError,
        "put_along_axis: `values` must lie in [0, 255], the range of uint8, the dtype of `data`, got 256",
    ),
    (
        P,
        (np.zeros((3, 4), "i1"), IDX, -129),
        {"axis": 0},
        TypeError,
        "put_along_axis: `values` must lie in [-128, 127], the range of int8, the dtype of `data`, got -129",
    ),
    (
        E,
        (np.zeros(3, "u1"), [0, 1], [255, 300]),
        {},
        TypeError,
        "scatter_elements: `updates` must lie in [0, 255], the range of uint8, the dtype of `data`, "
        "got 300 at (1,)",
    ),
    (
        N,
        (D.astype(object), [[0]], [[0] * 4]),
        {},
        TypeError,
        "scatter_nd: `data` must have a dtype of fixed size without Python objects, got object",
    ),
    (
        E,
        (D.astype("M8[s]"), IDX, U.astype("M8[s]")),
        {"reduction": "add"},
        TypeError,
        f"scatter_elements: `data` must have one of the dtypes {NUMBERS}, complex64, complex128 for 'add' "
        "('none' takes every dtype), got datetime64[s]",
    ),
    (
        E,
        (D.astype("c8"), IDX, U.astype("c8")),
        {"reduction": "max"},
        TypeError,
        f"scatter_elements: `data` must have one of the dtypes {NUMBERS} for 'max' "
        "('none' takes every dtype), got complex64",
    ),
    # shapes
    (E, (3.5, 0, 1.0), {}, ValueError, "scatter_elements: `data` must have at least 1 axis, got shape ()"),
    (N, (D, 0, D), {}, ValueError, "scatter_nd: `indices` must have at least 1 axis, got shape ()"),
    (
        E,
        (D, [0], [1.0]),
        {},
        ValueError,
        "scatter_elements: `indices` must have 2 axes, as `data` has, got 1",
    ),
    (
        E,
        (D, np.zeros((1, 5), int), np.zeros((1, 5))),
        {},
        ValueError,
        "scatter_elements: `indices` must have a size of at most 4 on axis 1, as `data`, got 5",
    ),
    (
        E,
        (D, IDX, U[:, :3]),
        {},
        ValueError,
        "scatter_elements: `updates` must have shape (2, 4), which follows from `data` and `indices`, "
        "got (2, 3)",
    ),
    (
        N,
        (D, [[0], [1]], U[:, :3]),
        {},
        ValueError,
        "scatter_nd: `updates` must have shape (2, 4), which follows from `data` and `indices`, got (2, 3)",
    ),
    (
        P,
        (D, IDX, U[:, :3]),
        {"axis": 0},
        ValueError,
        "put_along_axis: `values` must be broadcastable to (2, 4), which follows from `data` and `indices`, "
        "got shape (2, 3)",
    ),
    (
        P,
        (D, IDX, U),
        {},
        ValueError,
        "put_along_axis: `indices` must have size 3 or 1 on axis 0, as `data`, got 2",
    ),
    (
        N,
        (D, [0, 0, 0], 1.0),
        {},
        ValueError,
        "scatter_nd: `indices` must have a last axis of at most 2, the axes to index, got 3",
    ),
    # options
    (E, (D, IDX, U), {"axis": 2}, ValueError, "scatter_elements: `axis` must lie in [-2, 2), got 2"),
    (E, (D, IDX, U), {"axis": True}, TypeError, "scatter_elements: `axis` must be an integer, got True"),
    (P, (D, IDX, U), {"axis": None}, TypeError, "put_along_axis: `axis` must be an integer, got None"),
    (
        E,
        (D, IDX, U),
        {"bounds": "fill"},
        ValueError,
        "scatter_elements: `bounds` must be one of 'raise', 'clip', 'wrap', 'drop' (only gathers can fill), "
        "got 'fill'",
    ),
    (
        N,
        (D, [[0]], [[0.0] * 4]),
        {"bounds": ["clip"]},
        ValueError,
        "scatter_nd: `bounds` must be one of 'raise', 'clip', 'wrap', 'drop', got ['clip']",
    ),
    (
        E,
        (D, IDX, U),
        {"reduction": "sum"},
        ValueError,
        "scatter_elements: `reduction` must be one of 'none', 'add', 'mul', 'min', 'max', got 'sum' "
        "(did you mean 'add'?)",
    ),
    (
        E,
        (D, IDX, U),
        {"reduction": {}},
        ValueError,
        "scatter_elements: `reduction` must be one of 'none', 'add', 'mul', 'min', 'max', got {}",
    ),
    # values
    (
        E,
        (D, IDX + 3, U),
        {},
        IndexError,
        "scatter_elements: `indices` must lie in [-3, 3) on axis 0, got 3 at (0, 0)",
    ),
    (
        P,
        (D, [[0], [-5], [1]], U[:1, :1]),
        {},
        IndexError,
        "put_along_axis: `indices` must lie in [-4, 4) on axis 1, got -5 at (1, 0)",
    ),
    (
        N,
        (D, [[0, 1], [-1, 4], [9, 9]], np.zeros(3)),
        {},
        IndexError,
        "scatter_nd: `indices` must lie in [-4, 4) on axis 1, got 4 at (1, 1)",
    ),
    (
        E,
        (D, np.full((2, 4), -(2**63)), U),
        {},
        IndexError,
        f"scatter_elements: `indices` must lie in [-3, 3) on axis 0, got {-(2**63)} at (0, 0)",
    ),
]


@pytest.mark.parametrize("case", ERRORS, ids=[text for *_, text in ERRORS])
def test_errors(case: tuple[Any, ...]) -> None:
    function, arguments, options, error, text = case
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        function(*arguments, **options)


@pytest.mark.parametrize(
    ("dtype", "updates", "expected"),
    [
        ("f4", [1, 2.5], [1, 2.5]),
        ("f4", (True, 2), [1, 2]),
        ("u1", [0, 255], [0, 255]),
        ("i2", [-32768, True], [-32768, 1]),
        ("c8", [1, 2.5j], [1, 2.5j]),
        ("?", [True, False], [True, False]),
        (ml_dtypes.bfloat16, [1, 0.5], [1, 0.5]),
        (">i4", [7, 8], [7, 8]),
        ("i4", np.array([7, 8], ">i4"), [7, 8]),
        (">i4", np.array([7, 8], "i4"), [7, 8]),
        ("S2", np.array([b"ab", b"c"]), [b"ab", b"c"]),
    ],
)
def test_numbers_without_a_dtype_take_that_of_data(dtype: Any, updates: Any, expected: Any) -> None:
    data = np.zeros(2, dtype)
    result = E(data, [0, 1], updates)
    assert result.dtype == data.dtype
    assert result.tolist() == expected


def test_one_number_for_many() -> None:
    assert P(np.zeros((2, 3), "f4"), [[1], [2]], 1.5).tolist() == [[0, 1.5, 0], [0, 0, 1.5]]
    assert N(np.zeros(3, "u8"), np.array([-1]), 2**63).tolist() == [0, 0, 2**63]
    assert E(np.zeros(3), np.zeros(0, int), []).tolist() == [0, 0, 0]


@pytest.mark.parametrize("reduction", ["none", "add"])
@pytest.mark.parametrize("layout", ["C", "F", "negative", "strided", "unaligned"])
def test_out_in_any_layout(layout: str, reduction: str) -> None:
    rng = np.random.default_rng(0)
    data, indices, updates = rng.random((5, 6)), rng.integers(-5, 5, (40, 6)), rng.random((40, 6))
    expected = E(data, indices, updates, reduction=reduction)
    out = own.result_arrays((5, 6), np.dtype("f8"), layout)
    assert E(data, indices, updates, reduction=reduction, out=out) is out
    assert out.tolist() == expected.tolist()
    out[...] = data
    assert E(out, indices, updates, reduction=reduction, out=out) is out
    assert out.tolist() == expected.tolist()


def test_out_may_be_another_view_of_data() -> None:
    data = np.arange(6.0).reshape(2, 3)
    view = data.view()
    assert E(data, [[1]], [[9]], out=view) is view
    assert data.tolist() == [[0, 1, 2], [9, 4, 5]]
    data.flags.writeable = False
    memory = np.arange(3)
    seen = memory.view()
    seen.flags.writeable = False
    assert E(seen, [1], [7], out=memory).tolist() == [0, 7, 2]


def test_out_that_does_not_fit() -> None:
    for out, error, text in (
        (np.zeros((3, 4), "f4"), TypeError, "`out` must have dtype float64, got float32"),
        (np.zeros((3, 5)), ValueError, "`out` must have shape (3, 4), got (3, 5)"),
        (as_strided(np.zeros(4), (3, 4), (0, 8)), ValueError, "`out` must have an address of its own"),
        ([[0.0]], TypeError, "`out` must be an array that can be written, got list"),
        (np.broadcast_to(0.0, (3, 4)), ValueError, "`out` must be writable, got a read-only array"),
    ):
        with pytest.raises(error, match=f"^scatter_elements: {re.escape(text)}"):
            E(D, IDX, U, out=out)


def test_overlaps_are_refused() -> None:
    memory = np.zeros(40)
    text = "^scatter_elements: `out` must not overlap an input, got an array that does$"
    for data, updates in (
        (memory[:12], memory[10:12]),  # updates in data, which is out
        (memory[1:13], np.zeros(2)),  # another part of data
        (memory[11::-1], np.zeros(2)),  # the same memory, turned
    ):
        with pytest.raises(ValueError, match=text):
            E(data, [0, 1], updates, out=memory[:12])
    with pytest.raises(ValueError, match=text):
        E(memory[:12].view(np.int64), memory[:2].view(np.int64), [1, 2], out=memory[:12].view(np.int64))
    # Without out, the inputs may share what they like.
    assert E(memory[:12], memory[:2].view(np.int64), memory[3:5]).tolist() == [0] * 12


@pytest.mark.parametrize("reduction", ["none", "mul"])
def test_swapped_bytes_in_place(reduction: str) -> None:
    data = np.array([2, 3, 4], ">i4")
    assert E(data, [0, 0], [5, 6], reduction=reduction, out=data) is data
    assert data.dtype == ">i4"
    assert data.tolist() == ([6, 3, 4] if reduction == "none" else [60, 3, 4])
    with pytest.raises(IndexError, match=r"got 3 at \(1,\)"):
        E(data, [0, 3], [5, 6], reduction=reduction, out=data)
    assert data[1:].tolist() == [3, 4]


def test_in_place_nothing_is_written_before_all_indices_are_looked_at() -> None:
    _core.set_num_threads(1)
    for shape in ((100_000,), (2000, 50)):
        data = np.zeros(shape)
        indices = np.zeros((100_000, 1), int)
        indices[-1] = shape[0]
        updates = np.ones((100_000, *shape[1:]))
        for reduction in ("none", "add"):
            with pytest.raises(IndexError, match=rf"scatter_nd: .*got {shape[0]} at \(99999, 0\)"):
                N(data, indices, updates, reduction=reduction, out=data)
            assert not data.any()


# ---- the core

GEOMETRY = ([-1], [0], [0], -1, 0)


def test_the_core_refuses_what_does_not_fit() -> None:
    for more in ((5, 0), (-1, 0), (0, 15), (3, 13)):
        with pytest.raises(ValueError, match="no such reduction"):
            _core.Scatter(*GEOMETRY, *more)
    add = _core.Scatter(*GEOMETRY, 1, 12)
    data, indices, updates = np.zeros(3), np.zeros(2, int), np.ones(2)
    for arguments, text in (
        ((None, indices, updates, np.zeros(3, "f4")), "`updates` has another item size than `data`"),
        (
            (None, indices, np.ones(2, "f4"), np.zeros(3, "f4")),
            "`data` has another item size than its numbers",
        ),
        ((np.zeros(4), indices, updates, data), "`source` does not fit the shape of `data`"),
        ((np.zeros(3, "f4"), indices, updates, data), "`source` does not fit the shape of `data`"),
        ((None, indices, np.ones(3), data), "`updates` does not fit the shape of `indices`"),
        ((None, np.zeros((2, 2), int), updates, data), "an axis of `indices` is not used"),
    ):
        with pytest.raises(ValueError, match=text):
            add(*arguments)
    with pytest.raises(TypeError, match="`indices` must have an integer dtype in native byte order"):
        add(None, indices.astype(">i8"), updates, data)
    data.flags.writeable = False
    with pytest.raises(ValueError, match="`data` must be writable"):
        add(None, indices, updates, data)


@pytest.mark.parametrize(
    ("option", "given", "meant"),
    [
        ("bounds", "clamp", "clip"),
        ("bounds", "ignore", "drop"),
        ("bounds", "Modulo", "wrap"),
        ("reduction", "prod", "mul"),
        ("reduction", "multiply", "mul"),
        ("reduction", "minimum", "min"),
        ("reduction", "amax", "max"),
        ("reduction", "replace", "none"),
        ("reduction", "update", "none"),
    ],
)
def test_words_of_other_libraries(option, given, meant):
    with pytest.raises(ValueError, match=rf", got '{given}' \(did you mean '{meant}'\?\)$"):
        remapnd.scatter_elements(D, IDX, U, **{option: given})
