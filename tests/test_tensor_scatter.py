"""tensor_scatter: the reference, caches in place, errors."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from remapnd import reference, tensor_scatter

# Not long double: NumPy does not copy its padding item by item, as the reference does.
MOVED = [d for d in strategies.MOVABLE_DTYPES if d.type is not np.longdouble]


@given(
    st.lists(st.integers(1, 4), min_size=2, max_size=4).map(tuple),
    st.sampled_from(MOVED),
    st.sampled_from(["linear", "circular"]),
    st.tuples(strategies.layouts, strategies.index_dtypes),
    strategies.seeds,
)
def test_equals_the_reference(shape, dtype, mode, layout_and_indices, seed):
    layout, index_dtype = layout_and_indices
    rng = np.random.default_rng(seed)
    axis = int(rng.integers(1, len(shape)))
    s = int(rng.integers(0, shape[axis] + 1))
    data = strategies.laid_out(strategies.random_array(shape, dtype, seed), layout)
    updates = strategies.random_array((*shape[:axis], s, *shape[axis + 1 :]), data.dtype, seed + 1)
    most = shape[axis] - s if mode == "linear" else np.iinfo(index_dtype).max
    begins = rng.integers(0, most, shape[0], dtype=index_dtype, endpoint=True)
    for indices in (begins, None):
        want = reference.tensor_scatter(data, updates, indices, axis=axis, mode=mode)
        got = tensor_scatter(data, updates, indices, axis=axis - len(shape), mode=mode)
        assert strategies.same_bits(got, np.ascontiguousarray(want))
        out = np.zeros(want.shape, want.dtype)
        assert tensor_scatter(data, updates, indices, axis=axis, mode=mode, out=out) is out
        assert strategies.same_bits(out, np.ascontiguousarray(want))


def test_in_place():
    cache = np.zeros((2, 4, 3), np.float32)
    assert tensor_scatter(cache, np.ones((2, 1, 3), np.float32), [1, 3], out=cache) is cache
    assert cache[..., 0].tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    assert tensor_scatter(cache, np.ones((2, 0, 3), np.float32), [1, 3], out=cache) is cache
    assert cache.sum() == 6


def test_an_empty_run_copies():
    data = np.ones((2, 3, 1))
    got = tensor_scatter(data, data[:, :0])
    assert got.tolist() == data.tolist()
    assert not np.shares_memory(got, data)


D = np.zeros((2, 4, 3))
U = np.zeros((2, 2, 3))


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "text"),
    [
        ((D, U), {"mode": "ring"}, ValueError, "`mode` must be one of 'linear', 'circular', got 'ring'"),
        ((D[0, 0], U), {}, ValueError, "`data` must have at least 2 axes (batch and `axis`), got 1"),
        ((D, U), {"axis": 3}, ValueError, "`axis` must lie in [-3, 3), got 3"),
        ((D, U), {"axis": -3}, ValueError, "`axis` must not be 0, the axis of batches, got -3"),
        ((D, U.astype("f4")), {}, TypeError, "`updates` must have the dtype float64 of `data`, got float32"),
        (
            (D, U[..., :1]),
            {},
            ValueError,
            "`updates` must have shape (2, s, 3), as `data` but on axis 1, got (2, 2, 1)",
        ),
        (
            (D, U[0]),
            {},
            ValueError,
            "`updates` must have shape (2, s, 3), as `data` but on axis 1, got (2, 3)",
        ),
        (
            (D, np.zeros((2, 5, 3))),
            {},
            ValueError,
            "`updates` must have a size of at most 4 on axis 1, as `data`, got 5",
        ),
        ((D, U, [0.0, 1]), {}, TypeError, "`write_indices` must have an integer dtype, got float64"),
        ((D, U, [0]), {}, ValueError, "`write_indices` must have shape (2,), one for each batch, got (1,)"),
        ((D, U, [0, 3]), {}, IndexError, "`write_indices` must lie in [0, 2], got 3 at (1,)"),
        (
            (D, U, [0, -1]),
            {"mode": "circular"},
            IndexError,
            "`write_indices` must be at least 0, got -1 at (1,)",
        ),
        ((D, U), {"out": D[:1]}, ValueError, "`out` must have shape (2, 4, 3), got (1, 4, 3)"),
        ((D, U), {"out": D[:, ::-1]}, ValueError, "`out` must not overlap an input, got an array that does"),
    ],
)
def test_errors(arguments, options, kind, text):
    with pytest.raises(kind) as caught:
        tensor_scatter(*arguments, **options)
    assert str(caught.value) == f"tensor_scatter: {text}"
