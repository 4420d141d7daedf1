"""Scatters by hand: examples of the specifications, each policy, bits that are moved, and empty axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import strategies as own

import remapnd
from remapnd import reference

REDUCTIONS = ("add", "mul", "min", "max")
D33 = np.zeros((3, 3))
VECTORS = [
    (
        "scatter_elements",
        D33,
        [[1, 0, 2], [0, 2, 1]],
        [[1, 1.1, 1.2], [2, 2.1, 2.2]],
        {},
        [[2, 1.1, 0], [1, 0, 2.2], [0, 2.1, 1.2]],
    ),
    ("scatter_elements", [[1.0, 2, 3, 4, 5]], [[1, 3]], [[1.1, 2.1]], {"axis": 1}, [[1, 1.1, 3, 2.1, 5]]),
    ("scatter_elements", [[1.0, 2, 3, 4, 5]], [[1, -3]], [[1.1, 2.1]], {"axis": 1}, [[1, 1.1, 2.1, 4, 5]]),
    (
        "scatter_elements",
        [[1.0, 2, 3, 4, 5]],
        [[1, 1]],
        [[1.1, 2.1]],
        {"axis": 1, "reduction": "add"},
        [[1, 5.2, 3, 4, 5]],
    ),
    ("scatter_nd", [[0, 1], [2, 3]], [[1], [0]], [[10, 11], [20, 21]], {}, [[20, 21], [10, 11]]),
    (
        "scatter_nd",
        [1, 2, 3, 4, 5, 6, 7, 8],
        [[4], [3], [1], [7]],
        [9, 10, 11, 12],
        {},
        [1, 11, 3, 10, 9, 6, 7, 12],
    ),
    ("scatter_nd", [1, 2, 3], [[-1], [0]], [9, 8], {}, [8, 2, 9]),
    ("scatter_nd", [1, 2, 3], np.zeros((2, 0), int), [[9, 8, 7], [4, 5, 6]], {}, [4, 5, 6]),
    (
        "scatter_nd",
        [1, 2, 3],
        np.zeros((2, 0), int),
        [[9, 8, 7], [4, 5, 6]],
        {"reduction": "add"},
        [14, 15, 16],
    ),
    # the last of several wins
    ("scatter_elements", [0, 0], [1, 1, 1, 0, -1], [5, 6, 7, 8, 9], {}, [8, 9]),
    # out of range, by each policy
    ("scatter_elements", [0, 0, 0], [-4, 3, 1], [1, 2, 3], {"bounds": "clip"}, [1, 3, 2]),
    ("scatter_elements", [0, 0, 0], [-4, 3, 7], [1, 2, 3], {"bounds": "wrap"}, [2, 3, 1]),
    ("scatter_elements", [0, 0, 0], [-4, 3, 1], [1, 2, 3], {"bounds": "drop"}, [0, 3, 0]),
    (
        "scatter_nd",
        [[0, 0], [0, 0]],
        [[0, 1], [0, 2], [-3, 0]],
        [1, 2, 3],
        {"bounds": "drop"},
        [[0, 1], [0, 0]],
    ),
    # NumPy's example
    (
        "put_along_axis",
        [[10, 30, 20], [60, 40, 50]],
        [[1], [0]],
        99,
        {"axis": 1},
        [[10, 99, 20], [99, 40, 50]],
    ),
    ("put_along_axis", np.zeros((1, 3), int), [[0], [2], [0]], [[1], [2], [3]], {"axis": 1}, [[3, 0, 2]]),
    # reductions of bool
    ("scatter_elements", [True, False], [0, 0, 1], [False, True, True], {"reduction": "add"}, [True, True]),
    ("scatter_elements", [True, True], [0, 0, 1], [False, True, True], {"reduction": "mul"}, [False, True]),
]


@pytest.mark.parametrize("vector", VECTORS)
def test_vectors(vector: tuple[Any, ...]) -> None:
    function, data, indices, updates, options, expected = vector
    result = getattr(remapnd, function)(np.array(data), indices, updates, **options)
    assert result.tolist() == expected
    twin = getattr(reference, function)(
        np.array(data), np.array(indices), np.array(updates, np.array(data).dtype), **options
    )
    assert own.same_bits(result, twin)


def test_put_along_axis_does_what_numpy_does() -> None:
    rng = np.random.default_rng(0)
    for axis in (0, 1, 2, -1):
        data = rng.integers(0, 99, (4, 5, 6))
        shape = list(data.shape)
        shape[axis] = 3
        indices = np.argsort(rng.random(data.shape), axis)[tuple(slice(n) for n in shape)]
        for values in (7, rng.integers(0, 99, shape), rng.integers(0, 99, (1, 1, shape[2]))):
            expected = data.copy()
            np.put_along_axis(expected, indices, values, axis)
            assert remapnd.put_along_axis(data, indices, values, axis=axis).tolist() == expected.tolist()


def test_uint64_is_never_negative() -> None:
    data = np.zeros(5, int)
    large = np.array([2**63, 2**64 - 1, 2**63 - 1, 3], np.uint64)
    updates = [1, 2, 3, 4]
    assert remapnd.scatter_elements(data, large, updates, bounds="clip").tolist() == [0, 0, 0, 4, 3]
    assert remapnd.scatter_elements(data, large, updates, bounds="drop").tolist() == [0, 0, 0, 4, 0]
    wrapped = remapnd.scatter_elements(data, large, updates, bounds="wrap", reduction="add")
    assert wrapped.tolist() == [2, 0, 3, 5, 0]
    with pytest.raises(IndexError, match=rf"lie in \[-5, 5\) on axis 0, got {2**63} at \(0,\)"):
        remapnd.scatter_elements(data, large, updates)


def test_an_axis_without_items() -> None:
    data = np.zeros((0, 3))
    for bounds in ("raise", "clip", "wrap"):
        with pytest.raises(
            IndexError, match=r"scatter_nd: `indices` must be empty for axis 0 of size 0, got 1 at \(0, 0\)"
        ):
            remapnd.scatter_nd(data, [[1]], np.zeros((1, 3)), bounds=bounds)
        assert remapnd.scatter_nd(data, np.zeros((0, 1), int), np.zeros((0, 3)), bounds=bounds).shape == (
            0,
            3,
        )
    assert remapnd.scatter_nd(data, [[1]], np.zeros((1, 3)), bounds="drop").shape == (0, 3)


@pytest.mark.parametrize("bounds", ["raise", "clip", "wrap"])
def test_indices_are_checked_where_nothing_is_written(bounds: str) -> None:
    n = 5 if bounds == "raise" else 0
    with pytest.raises(IndexError, match=r"`indices` must .*, got 7 at \(0, 0\)"):
        remapnd.scatter_nd(np.zeros((n, 0)), [[7]], np.zeros((1, 0)), bounds=bounds)
    assert remapnd.scatter_nd(np.zeros((5, 0)), [[4]], np.zeros((1, 0)), bounds=bounds).shape == (5, 0)
    assert remapnd.scatter_nd(np.zeros((5, 0)), [[7]], np.zeros((1, 0)), bounds="drop").shape == (5, 0)
    assert remapnd.scatter_elements(np.arange(3), np.zeros(0, int), []).tolist() == [0, 1, 2]


def test_bits_are_moved() -> None:
    bits = np.array([0x7F800001, 0xFFC12345, 0x80000000, 0x7FBFFFFF], np.uint32)
    result = remapnd.scatter_elements(bits.view(np.float32), [0], bits[1:2].view(np.float32))
    assert result.view(np.uint32).tolist() == [0xFFC12345, 0xFFC12345, 0x80000000, 0x7FBFFFFF]
    # A reduction makes NaN canonical where it has an update, and only there.
    for reduction in REDUCTIONS:
        summed = remapnd.scatter_elements(
            bits.view(np.float32), [0, 3], np.float32([1, 1]), reduction=reduction
        )
        assert summed.view(np.uint32).tolist() == [0x7FC00000, 0xFFC12345, 0x80000000, 0x7FC00000]


def test_zeros_have_an_order() -> None:
    both = np.array([0.0, -0.0])
    for x, y in ((0, 1), (1, 0)):
        least = remapnd.scatter_elements(both[[x]], [0], both[[y]], reduction="min")
        most = remapnd.scatter_elements(both[[x]], [0], both[[y]], reduction="max")
        assert np.signbit([least[0], most[0]]).tolist() == [True, False]
