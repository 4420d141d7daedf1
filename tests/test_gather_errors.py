"""Every error of the gathers by its text, and `out=` in every variation."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import remapnd
from remapnd import _core

D = np.arange(12.0).reshape(3, 4)
G, E, T, N = remapnd.gather, remapnd.gather_elements, remapnd.take_along_axis, remapnd.gather_nd
WHOLE = "gather: `indices` must have an integer dtype"

ERRORS = [
    # dtypes
    (G, (D, [0.5]), {}, TypeError, f"{WHOLE} (indices.astype(np.int64) cuts fractions off), got float64"),
    (G, (D, [True]), {}, TypeError, f"{WHOLE} (np.flatnonzero turns a mask into indices), got bool"),
    (G, (D, ["a"]), {}, TypeError, f"{WHOLE}, got <U1"),
    (
        G,
        (D, np.zeros(0)),
        {},
        TypeError,
        f"{WHOLE} (indices.astype(np.int64) cuts fractions off), got float64",
    ),
    (
        N,
        (D.astype(object), [[0]]),
        {},
        TypeError,
        "gather_nd: `data` must have a dtype of fixed size without Python objects, got object",
    ),
    # shapes
    (G, (np.float64(1), [0]), {}, ValueError, "gather: `data` must have at least 1 axis, got shape ()"),
    (E, (3.5, 0), {}, ValueError, "gather_elements: `data` must have at least 1 axis, got shape ()"),
    (N, (D, 0), {}, ValueError, "gather_nd: `indices` must have at least 1 axis, got shape ()"),
    (E, (D, [0]), {}, ValueError, "gather_elements: `indices` must have 2 axes, as `data` has, got 1"),
    (
        E,
        (D, np.zeros((1, 5), int)),
        {},
        ValueError,
        "gather_elements: `indices` must have a size of at most 4 on axis 1, as `data`, got 5",
    ),
    (
        T,
        (D, np.zeros((2, 1), int)),
        {},
        ValueError,
        "take_along_axis: `indices` must have size 3 or 1 on axis 0, as `data`, got 2",
    ),
    (
        T,
        (D, [[0]]),
        {"axis": None},
        ValueError,
        "take_along_axis: `indices` must have 1 axes, as `data` has, got 2",
    ),
    (
        N,
        (np.zeros((3, 3)), [[0], [1]]),
        {"batch_dims": 1},
        ValueError,
        "gather_nd: `indices` must have size 3 on batch axis 0, as `data`, got 2",
    ),
    (
        N,
        (D, np.zeros((3, 4, 1), int)),
        {"batch_dims": 2},
        ValueError,
        "gather_nd: `batch_dims` must lie in [0, 2), below the axes of both arrays, got 2",
    ),
    (
        N,
        (D, [0, 0, 0]),
        {},
        ValueError,
        "gather_nd: `indices` must have a last axis of at most 2, the axes to index, got 3",
    ),
    (
        G,
        (np.zeros((1,) * 40), np.zeros((1,) * 40, int)),
        {},
        ValueError,
        "gather: `indices` must give a result of at most 64 axes, got 79",
    ),
    (
        G,
        (np.broadcast_to(1.5, (2, 2**40)), np.broadcast_to(np.int8(0), (2**40,))),
        {},
        ValueError,
        "gather: `indices` must give a result that can be addressed, "
        f"got shape {(2**40, 2**40)} of {2**83} bytes",
    ),
    (
        G,
        (np.broadcast_to(1.5, (2, 2**20)), np.broadcast_to(np.int8(0), (2**38,))),
        {},
        ValueError,
        f"gather: `out` must fit in memory, got shape {(2**38, 2**20)} of {2**61} bytes",
    ),
    # options
    (G, (D, [0]), {"axis": 2}, ValueError, "gather: `axis` must lie in [-2, 2), got 2"),
    (G, (D, [0]), {"axis": -3}, ValueError, "gather: `axis` must lie in [-2, 2), got -3"),
    (G, (D, [0]), {"axis": 1.0}, TypeError, "gather: `axis` must be an integer, got 1.0"),
    (G, (D, [0]), {"axis": [0]}, TypeError, "gather: `axis` must be an integer, got [0]"),
    (G, (D, [0]), {"axis": True}, TypeError, "gather: `axis` must be an integer, got True"),
    (N, (D, [[0]]), {"batch_dims": None}, TypeError, "gather_nd: `batch_dims` must be an integer, got None"),
    (
        E,
        (D, [[0]]),
        {"bounds": "drop"},
        ValueError,
        "gather_elements: `bounds` must be one of 'raise', 'clip', 'wrap', 'fill' (only scatters can drop), "
        "got 'drop'",
    ),
    (
        G,
        (D, [0]),
        {"bounds": ["clip"]},
        ValueError,
        "gather: `bounds` must be one of 'raise', 'clip', 'wrap', 'fill', got ['clip']",
    ),
    # values
    (G, (D, [0, 3, 9]), {}, IndexError, "gather: `indices` must lie in [-3, 3) on axis 0, got 3 at (1,)"),
    (G, (D, -5), {"axis": 1}, IndexError, "gather: `indices` must lie in [-4, 4) on axis 1, got -5 at ()"),
    (
        E,
        (D, [[0, 0], [1, 4]]),
        {"axis": 1},
        IndexError,
        "gather_elements: `indices` must lie in [-4, 4) on axis 1, got 4 at (1, 1)",
    ),
    (
        T,
        (D, [[-4]]),
        {"axis": 0},
        IndexError,
        "take_along_axis: `indices` must lie in [-3, 3) on axis 0, got -4 at (0, 0)",
    ),
    (
        N,
        (np.zeros((2, 6, 5)), [[[0, 0], [1, 7]], [[6, 9], [0, 0]]]),
        {"batch_dims": 1},
        IndexError,
        "gather_nd: `indices` must lie in [-5, 5) on axis 2, got 7 at (0, 1, 1)",
    ),
    (
        N,
        (np.ones((5, 5, 5)), [6, 6, 6]),
        {},
        IndexError,
        "gather_nd: `indices` must lie in [-5, 5) on axis 0, got 6 at (0,)",
    ),
]


@pytest.mark.parametrize(("function", "arguments", "options", "error", "text"), ERRORS)
def test_errors(function: Any, arguments: Any, options: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        function(*arguments, **options)


@pytest.mark.parametrize(
    ("value", "end"),
    [
        ("rais", "got 'rais' (did you mean 'raise'?)"),
        ("WRAP", "got 'WRAP' (did you mean 'wrap'?)"),
        ("none", "got 'none'"),
        (3, "got 3"),
    ],
)
def test_a_word_that_is_nearly_right(value: Any, end: str) -> None:
    with pytest.raises(ValueError, match=f"{re.escape(end)}$"):
        remapnd.gather(D, [0], bounds=value)


def test_options_that_are_equal_to_an_integer_are_not_taken_for_it() -> None:
    assert remapnd.gather(D, [0], axis=1).shape == (3, 1)  # now the plan for axis 1 is kept
    for axis in (1.0, True, np.float64(1)):
        with pytest.raises(TypeError, match="`axis` must be an integer"):
            remapnd.gather(D, [0], axis=axis)
    assert remapnd.gather(D, [0], axis=np.int8(1)).shape == (3, 1)


@pytest.mark.parametrize("where", [(0, 0), (1, 5), (299_999, 1), (300_000, 0)])
def test_the_first_bad_index_of_many_is_named(where: tuple[int, int]) -> None:
    indices = np.zeros((300_001, 20), np.int8)
    indices[where] = 9
    indices[300_000, 19] = 8
    for layout in (indices, np.asfortranarray(indices)):
        with pytest.raises(IndexError, match=re.escape(f"got 9 at {where}")):
            remapnd.gather(np.arange(5), layout)


FILLS = [
    ("u1", 255, 255),
    ("u1", np.int64(7), 7),
    ("u1", 3.0, 3),
    ("u1", True, 1),
    ("i1", -128, -128),
    ("u8", 2**64 - 1, 2**64 - 1),
    ("i8", -(2**63), -(2**63)),
    ("?", True, True),
    ("?", 1, True),
    ("f2", 65504, 65504.0),
    ("f4", 0.1, float(np.float32(0.1))),
    ("f4", float("inf"), float("inf")),
    ("f4", np.float64(2.5), 2.5),
    (">f4", 1.5, 1.5),
    ("f8", 2**53 + 1, float(2**53)),
    ("c8", 1 + 2j, 1 + 2j),
    ("c8", 3, 3),
    (ml_dtypes.bfloat16, 1.5, 1.5),
    (ml_dtypes.float8_e4m3fn, -2, -2.0),
    ("S3", b"ab", b"ab"),
    ("U2", "xy", "xy"),
    ("M8[D]", np.datetime64("2020-02-03"), np.datetime64("2020-02-03").item()),
    ("m8[s]", np.timedelta64(2, "m"), np.timedelta64(120, "s").item()),
    ([("a", "u1"), ("b", "f4")], (3, 0.5), (3, 0.5)),
    ("f8", 2**70, 2.0**70),
    ("M8[s]", np.datetime64("2020-02-03"), np.datetime64("2020-02-03T00:00:00").item()),
    ("V3", b"ab", b"ab\0"),
    ("S3", 0, b""),
    ("M8[D]", 0, np.datetime64(0, "D").item()),
    ([("a", "u1"), ("b", "f4")], 0, (0, 0.0)),
]


@pytest.mark.parametrize(("dtype", "value", "expected"), FILLS, ids=str)
def test_fill_values(dtype: Any, value: Any, expected: Any) -> None:
    data = np.zeros(2, dtype)
    for indices in ([2], [5, -3, 9]):
        result = remapnd.gather(data, indices, bounds="fill", fill_value=value)
        assert result.dtype == data.dtype
        assert [v.item() for v in result.astype(result.dtype.newbyteorder("="))] == [expected] * len(indices)


def test_the_sign_of_zero_and_the_payload_of_nan_fill() -> None:
    bits = np.array([0x7FF8000000001234], np.uint64)
    for value in (0.0, -0.0, bits.view(np.float64)[0]):
        result = remapnd.gather(np.ones(2), [7], bounds="fill", fill_value=value)
        assert result.tobytes() == np.float64(value).tobytes()


@pytest.mark.parametrize(
    ("dtype", "value", "error"),
    [
        ("u1", 300, ValueError),
        ("u1", -1, ValueError),
        ("u1", 2.5, ValueError),
        ("u1", float("nan"), ValueError),
        ("u1", float("inf"), ValueError),
        ("u1", "7", TypeError),
        ("u8", 2**64, ValueError),
        ("?", 2, ValueError),
        ("f2", 65520, ValueError),
        ("f4", 1e39, ValueError),
        ("f4", 1j, TypeError),
        ("f4", "1", TypeError),
        ("f4", None, TypeError),
        ("f8", 10**309, ValueError),
        (ml_dtypes.bfloat16, 1e39, ValueError),
        (ml_dtypes.float8_e4m3fn, 1000, ValueError),
        ("M8[D]", 5, TypeError),
        ("M8[D]", np.datetime64("2020-01-01T05"), ValueError),
        ("m8[s]", np.datetime64("2020"), TypeError),
        ("S3", b"abcd", ValueError),
        ("S3", "abc", TypeError),
        ("U2", "abc", ValueError),
        ([("a", "u1"), ("b", "f4")], (1, 2, 3), ValueError),
        ([("a", "u1"), ("b", "f4")], "x", ValueError),
    ],
    ids=str,
)
def test_fill_values_that_do_not_fit(dtype: Any, value: Any, error: Any) -> None:
    data = np.zeros(2, dtype)
    rule = f"gather: `fill_value` must be castable to {data.dtype} without loss, got {value!r}"
    with pytest.raises(error, match=f"^{re.escape(rule)}$"):
        remapnd.gather(data, [0], bounds="fill", fill_value=value)


NOT_FILLING = [
    (7, "7"),
    (None, "None"),
    ([0], r"\[0\]"),
    (np.array([0, 1]), r"array\(\[0, 1\]\)"),
    (np.float32(0.5), r"(np.float32\(0.5\)|0.5)"),
    (np.datetime64("2020"), ".*2020.*"),
]


@pytest.mark.parametrize("bounds", ["raise", "clip", "wrap"])
@pytest.mark.parametrize(("value", "text"), NOT_FILLING)
def test_a_fill_value_belongs_to_fill(value: Any, text: str, bounds: Any) -> None:
    rule = f"must be left at 0 for bounds '{bounds}' \\(it belongs to 'fill'\\), got {text}$"
    data, indices = np.arange(4), np.array([1, 0])
    calls = (
        lambda: remapnd.gather(data, indices, bounds=bounds, fill_value=value),
        lambda: remapnd.gather_elements(data, indices, bounds=bounds, fill_value=value),
        lambda: remapnd.take_along_axis(data, indices, bounds=bounds, fill_value=value),
        lambda: remapnd.gather_nd(data, indices[:, None], bounds=bounds, fill_value=value),
        lambda: remapnd.GatherPlan((4,), "i8", (2,), "i8", bounds=bounds, fill_value=value),
    )
    for call in calls:
        for _ in range(2):  # a repeated call takes the short way
            with pytest.raises(ValueError, match=f"`fill_value` {rule}"):
                call()


@pytest.mark.parametrize(
    "zero", [0, 0.0, False, np.int8(0), np.array(0), ml_dtypes.bfloat16(0), 0j, np.float32(-0.0)]
)
def test_a_fill_value_of_0_goes_with_all_bounds(zero: Any) -> None:
    for bounds in ("raise", "clip", "wrap"):
        assert remapnd.gather(np.arange(4), [1, 3], bounds=bounds, fill_value=zero).tolist() == [1, 3]


def test_a_fill_value_is_a_scalar() -> None:
    with pytest.raises(ValueError, match=r"gather: `fill_value` must be a scalar, got shape \(2,\)"):
        remapnd.gather(D, [0], bounds="fill", fill_value=[1, 2])


# ---- out


@pytest.mark.parametrize("layout", ["C", "F", "negative", "strided", "wide rows"])
def test_out_in_any_layout(layout: str) -> None:
    memory = np.full((7, 9), -1.0)
    out = {
        "C": np.empty((2, 4)),
        "F": np.empty((4, 2)).T,
        "negative": np.empty((2, 4))[::-1, ::-1],
        "strided": memory[1:5:2, 1:8:2],
        "wide rows": memory[:2, :4],
    }[layout]
    assert remapnd.gather(D, [2, 0], out=out) is out
    assert out.tolist() == D[[2, 0]].tolist()
    if out.base is memory:
        assert (memory == -1).sum() == memory.size - out.size


def test_out_that_does_not_fit() -> None:
    def run(out: Any, data: Any = D, indices: Any = (2, 0)) -> Any:
        return remapnd.gather(data, list(indices), out=out)

    def refused(error: Any, text: str) -> Any:
        return pytest.raises(error, match=f"^gather: `out` must {re.escape(text)}$")

    with refused(TypeError, "have dtype float64, got float32"):
        run(np.zeros((2, 4), "f4"))
    with refused(TypeError, "have dtype float64, got >f8"):
        run(np.zeros((2, 4), ">f8"))
    with refused(TypeError, "have dtype >f8, got float64"):
        run(np.zeros((2, 4)), D.astype(">f8"))
    with refused(ValueError, "have shape (2, 4), got (4, 2)"):
        run(np.zeros((4, 2)))
    with refused(ValueError, "be writable, got a read-only array"):
        run(np.broadcast_to(0.0, (2, 4)))
    with refused(TypeError, "be an array that can be written, got list"):
        run([[0.0] * 4] * 2)
    memory = np.zeros(8)
    with refused(ValueError, "have an address of its own for each element, got strides (0, 8)"):
        run(as_strided(memory, (2, 4), (0, 8)))
    with refused(ValueError, "have an address of its own for each element, got strides (8, 8)"):
        run(as_strided(memory, (2, 4), (8, 8)))
    both = np.arange(24.0).reshape(6, 4)
    with refused(ValueError, "not overlap an input, got an array that does"):
        run(both[2:4], both[:3])
    run(both[3:5], both[:3])
    assert both[3:5].tolist() == both[[2, 0]].tolist()
    run(both[:2, ::-1], both[2:5])


def test_out_that_overlaps_the_indices_or_interleaves_the_data() -> None:
    numbers = np.arange(4)
    with pytest.raises(ValueError, match="`out` must not overlap an input"):
        remapnd.gather(np.arange(9), numbers, out=numbers)
    memory = np.arange(20)
    out = memory[1::2]
    remapnd.gather(memory[::2], np.arange(10)[::-1], out=out)
    assert out.tolist() == list(range(18, -1, -2))


def test_a_failed_call_of_wrong_shapes_leaves_out_as_it_was() -> None:
    out = np.full((2, 4), 5.0)
    with pytest.raises(ValueError, match="`out` must have shape"):
        remapnd.gather(D, [0], out=out)
    assert (out == 5).all()


# ---- the core verifies again what memory safety rests on


@pytest.mark.parametrize(
    ("geometry", "text"),
    [
        (([0], [0, 1], [1], -1, 0), "differ in length"),
        (([0, 0], [-1, 0], [1], -1, 0), "used twice"),
        (([0, -1], [-1, 0], [0], -1, 0), "used twice"),
        (([0, -1], [0, 0], [1], -1, 0), "used twice"),
        (([-2, -1], [-1, 0], [1], -1, 0), "impossible"),
        (([0, 64], [-1, 0], [1], -1, 0), "impossible"),
        (([0, -1], [-1, 0], [], -1, 0), "one component"),
        (([0, -1], [-1, 0], [1, 2], -1, 0), "one component"),
        (([0, -1], [-1, 0], [1], -1, 4), "unknown bounds"),
        (([-1] * 65, [-1] * 65, [0], -1, 0), "too many axes"),
    ],
)
def test_the_core_refuses_an_impossible_geometry(geometry: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        _core.Gather(*geometry)


def _core_call(
    data: Any = D, indices: Any = (0, 1), out: Any = (3, 2), fill: Any = None, bounds: int = 0
) -> bool:
    out = np.zeros(out) if isinstance(out, tuple) else out
    indices = np.array(indices) if isinstance(indices, tuple) else indices
    return _core.Gather([0, -1], [-1, 0], [1], -1, bounds)(data, indices, out, fill)


def test_the_core_refuses_arrays_that_do_not_fit() -> None:
    assert _core_call()
    assert not _core_call(indices=(0, 4))
    for arguments, text in [
        ({"out": (3, 3)}, "`out` does not fit the shape of `indices`"),
        ({"out": (4, 2)}, "`out` does not fit the shape of `data`"),
        ({"out": (3, 2, 1)}, "`out` has the wrong number of axes"),
        ({"out": np.zeros((3, 2), "f4")}, "another item size"),
        ({"data": np.zeros(3)}, "`data` has too few axes"),
        ({"data": np.zeros((3, 4, 2))}, "an axis of `data` is not used"),
        ({"indices": np.zeros((2, 2), int)}, "an axis of `indices` is not used"),
        ({"indices": np.array(1)}, "`indices` has too few axes"),
        ({"bounds": 3}, "`fill` must be the bytes of one item"),
        ({"bounds": 3, "fill": b"1234567"}, "`fill` must be the bytes of one item"),
        ({"out": np.broadcast_to(0.0, (3, 2))}, "`out` must be writable"),
    ]:
        with pytest.raises(ValueError, match=text):
            _core_call(**arguments)
    for arguments, text in [
        ({"indices": np.zeros(2)}, "must have an integer dtype in native byte order"),
        ({"indices": np.zeros(2, "?")}, "must have an integer dtype in native byte order"),
        ({"indices": np.zeros(2, ">i4")}, "must have an integer dtype in native byte order"),
        ({"data": D.astype(object)}, "must not have a dtype that holds Python objects"),
        ({"out": np.zeros((3, 2), object)}, "must not have a dtype that holds Python objects"),
        ({"data": [1, 2]}, "`data` must be a NumPy array"),
    ]:
        with pytest.raises(TypeError, match=text):
            _core_call(**arguments)


def test_the_core_refuses_strides_that_could_overflow() -> None:
    far = as_strided(np.zeros(1), (3, 4), (2**61, 8))
    with pytest.raises(ValueError, match="`data` reaches too far"):
        _core_call(data=far)
    # strides of axes of one item say nothing
    one = as_strided(np.zeros((1, 4)), (1, 4), (2**62, 8))
    assert _core_call(data=one, out=(1, 2))


def test_the_core_checks_component_counts() -> None:
    pairs = _core.Gather([-1], [0], [0, 1], 1, 0)
    assert pairs(D, np.zeros((5, 2), int), np.zeros(5), None)
    with pytest.raises(ValueError, match="`indices` has the wrong number of components"):
        pairs(D, np.zeros((5, 3), int), np.zeros(5), None)
    elements = _core.Gather([0, -1], [0, 1], [1], -1, 0)
    with pytest.raises(ValueError, match="`indices` does not fit the shape of `data`"):
        elements(D, np.zeros((4, 2), int), np.zeros((4, 2)), None)
    assert elements(D, np.zeros((2, 2), int), np.zeros((2, 2)), None)
