"""remapnd.webnn: policies, the reference, and every rule of the builder by its text."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

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


F = np.zeros((2, 3), np.float32)
I = np.zeros((2, 3), np.int32)  # noqa: E741
IMAGE = np.zeros((1, 1, 2, 4), np.float32)
INDEX_RULE = "`indices` must have one of the data types int32, uint32, int64"
TYPES = "float32, float16, int32, uint32, int64, uint64, int8, uint8"
MOST = 2**31 - 1


def described(*operands: Any) -> list[OperandDescriptor]:
    return [OperandDescriptor(a.dtype.name, a.shape) for a in operands]


RULES: list[tuple[str, tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    ("gather", (F, I.astype("u8")), {}, TypeError, f"{INDEX_RULE}, got uint64"),
    ("gather", (F, F), {}, TypeError, f"{INDEX_RULE}, got float32"),
    (
        "gather",
        (F[0, 0], I),
        {},
        ValueError,
        "`input` must have at least 1 dimension, got shape ()",
    ),
    ("gather", (F, I), {"axis": 2}, ValueError, "`axis` must lie in [0, 2), got 2"),
    ("gather", (F, I), {"axis": -1}, ValueError, "`axis` must lie in [0, 2), got -1"),
    ("gather", (F, I), {"axis": 1.0}, TypeError, "`axis` must be an integer, got 1.0"),
    ("gather_elements", (F, F), {}, TypeError, f"{INDEX_RULE}, got float32"),
    (
        "gather_elements",
        (F[0, 0], I[0, 0]),
        {},
        ValueError,
        "`input` must have at least 1 dimension, got shape ()",
    ),
    (
        "gather_elements",
        (F, I),
        {"axis": 2},
        ValueError,
        "`axis` must lie in [0, 2), got 2",
    ),
    (
        "gather_elements",
        (F, I[0]),
        {},
        ValueError,
        "`indices` must have 2 dimensions, as `input` has, got (3,)",
    ),
    (
        "gather_elements",
        (F, I[:, :2]),
        {},
        ValueError,
        "`indices` must have size 3 on axis 1, as `input`, got 2",
    ),
    ("gather_nd", (F, F), {}, TypeError, f"{INDEX_RULE}, got float32"),
    (
        "gather_nd",
        (F[0, 0], I),
        {},
        ValueError,
        "`input` must have at least 1 dimension, got shape ()",
    ),
    (
        "gather_nd",
        (F, I[0, 0]),
        {},
        ValueError,
        "`indices` must have at least 1 dimension, got shape ()",
    ),
    (
        "gather_nd",
        (F, I),
        {},
        ValueError,
        "`indices` must have a last dimension of at most 2, the rank of `input`, got 3",
    ),
    ("scatter_elements", (F, F, F), {}, TypeError, f"{INDEX_RULE}, got float32"),
    (
        "scatter_elements",
        (F, I, F.astype("f2")),
        {},
        TypeError,
        "`updates` must have the data type float32 of `input`, got float16",
    ),
    (
        "scatter_elements",
        (F, I, F),
        {"axis": 2},
        ValueError,
        "`axis` must lie in [0, 2), got 2",
    ),
    (
        "scatter_elements",
        (F, I[0], F),
        {},
        ValueError,
        "`indices` must have 2 dimensions, as `input` has, got (3,)",
    ),
    (
        "scatter_elements",
        (F, I[:, :2], F[:, :2]),
        {},
        ValueError,
        "`indices` must have size 3 on axis 1, as `input`, got 2",
    ),
    (
        "scatter_elements",
        (F, I, F[:1]),
        {},
        ValueError,
        "`updates` must have shape (2, 3), that of `indices`, got (1, 3)",
    ),
    ("scatter_nd", (F, F, F), {}, TypeError, f"{INDEX_RULE}, got float32"),
    (
        "scatter_nd",
        (F, I[:, :1], F.astype("f2")),
        {},
        TypeError,
        "`updates` must have the data type float32 of `input`, got float16",
    ),
    (
        "scatter_nd",
        (F[0, 0], I, F),
        {},
        ValueError,
        "`input` must have at least 1 dimension, got shape ()",
    ),
    (
        "scatter_nd",
        (F, I[0, 0], F),
        {},
        ValueError,
        "`indices` must have at least 1 dimension, got shape ()",
    ),
    (
        "scatter_nd",
        (F, I, F),
        {},
        ValueError,
        "`indices` must have a last dimension of at most 2, the rank of `input`, got 3",
    ),
    (
        "scatter_nd",
        (F, I[:, :1], F[:1]),
        {},
        ValueError,
        "`updates` must have shape (2, 3), which follows from `input` and `indices`, got (1, 3)",
    ),
    (
        "resample2d",
        (IMAGE.astype("i4"),),
        {},
        TypeError,
        "`input` must have one of the data types float32, float16, uint8, int8, got int32",
    ),
    ("resample2d", (F,), {}, ValueError, "`input` must have 4 dimensions, got (2, 3)"),
    (
        "resample2d",
        (IMAGE,),
        {"mode": "nearest"},
        ValueError,
        "`mode` must be one of 'nearest-neighbor', 'linear', got 'nearest' (did you mean 'nearest-neighbor'?)",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1]},
        ValueError,
        "`scales` must have 2 values, one for each of `axes`, got [1]",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": 2},
        TypeError,
        "`scales` must be a sequence of 2 numbers, got 2",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1, 0]},
        ValueError,
        "`scales` must be > 0 and finite in float32, got 0",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1e300, 1]},
        ValueError,
        "`scales` must be > 0 and finite in float32, got 1e+300",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1, 1e-50]},
        ValueError,
        "`scales` must be > 0 and finite in float32, got 1e-50",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1, math.nan]},
        ValueError,
        "`scales` must be finite, got nan",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [0.25, 1]},
        ValueError,
        f"`scales` must give sizes from 1 to {MOST}, got 0.25 for 2, which gives 0",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1, 2**30]},
        ValueError,
        f"`scales` must give sizes from 1 to {MOST}, got 1.07374182e+09 for 4, which gives 4294967296",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"sizes": [1, 2, 3]},
        ValueError,
        "`sizes` must have 2 values, one for each of `axes`, got [1, 2, 3]",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"sizes": [0, 1]},
        ValueError,
        f"`sizes` must lie in [1, {MOST}], got (0, 1)",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"sizes": [2**20, 2**20]},
        ValueError,
        f"`output` must have at most {MOST} elements, got {2**40} in shape (1, 1, 1048576, 1048576)",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"sizes": [1.5, 1]},
        TypeError,
        "`sizes` must be an integer, got 1.5",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"axes": [0]},
        ValueError,
        "`axes` must have 2 values, one for each of `axes`, got [0]",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"axes": [3, 3]},
        ValueError,
        "`axes` must be two different integers in [0, 4), got (3, 3)",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"axes": [2, 4]},
        ValueError,
        "`axes` must be two different integers in [0, 4), got (2, 4)",
    ),
]


@pytest.mark.parametrize(("function", "arguments", "options", "kind", "text"), RULES)
def test_rules_of_the_builder(function, arguments, options, kind, text):
    with pytest.raises(kind) as caught:
        getattr(builder, function)(*described(*arguments), **options)
    assert str(caught.value) == f"{function}: {text}"
    with pytest.raises(kind) as caught:
        getattr(webnn, function)(*arguments, **options)
    assert str(caught.value) == f"{function}: {text}"


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: OperandDescriptor("float64", (1,)),
            TypeError,
            f"OperandDescriptor: `data_type` must be one of {TYPES}, got 'float64'",
        ),
        (
            lambda: OperandDescriptor("int8", (1, 0)),
            ValueError,
            f"OperandDescriptor: `shape` must have dimensions from 1 to {MOST}, got (1, 0)",
        ),
        (
            lambda: OperandDescriptor("int8", (2**31,)),
            ValueError,
            f"OperandDescriptor: `shape` must have dimensions from 1 to {MOST}, got ({2**31},)",
        ),
        (
            lambda: OperandDescriptor("int8", (2**16, 2**15)),
            ValueError,
            f"OperandDescriptor: `shape` must have at most {MOST} elements, "
            f"got {2**31} in shape (65536, 32768)",
        ),
        (
            lambda: OperandDescriptor("int8", 3),
            TypeError,
            "OperandDescriptor: `shape` must be a sequence of integers, got int",
        ),
        (
            lambda: webnn.gather(F.astype("f8"), I),
            TypeError,
            f"gather: `input` must have one of the data types {TYPES}, got float64",
        ),
        (
            lambda: webnn.gather_nd(F[:0], I),
            ValueError,
            f"gather_nd: `input` must have dimensions from 1 to {MOST}, got (0, 3)",
        ),
        (
            lambda: webnn.gather(F, I, bounds="wrap"),
            ValueError,
            "gather: `bounds` must be one of 'clip', 'raise', got 'wrap'",
        ),
        (
            lambda: webnn.scatter_elements(F, I, F, duplicates="first"),
            ValueError,
            "scatter_elements: `duplicates` must be one of 'last', 'raise', got 'first'",
        ),
        (
            lambda: webnn.resample2d(IMAGE, positions="size"),
            ValueError,
            "resample2d: `positions` must be one of 'sizes', 'scales', got 'size' (did you mean 'sizes'?)",
        ),
        (
            lambda: webnn.resample2d(IMAGE, integer_rule="up"),
            ValueError,
            "resample2d: `integer_rule` must be one of 'half_up', 'half_even', 'truncate', got 'up'",
        ),
    ],
)
def test_other_errors(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == text


def test_descriptors():
    scalar = OperandDescriptor("uint8", [])
    assert scalar.shape == ()
    assert scalar.rank == 0
    assert builder.gather(OperandDescriptor("int64", (4, 2)), scalar_of("int32")).shape == (2,)
    assert builder.scatter_nd(*described(F, I[:, :2], F[:, 0])) == OperandDescriptor("float32", (2, 3))
    assert builder.scatter_elements(*described(F, I, F)) == OperandDescriptor("float32", (2, 3))


def scalar_of(data_type: str) -> OperandDescriptor:
    return OperandDescriptor(data_type, ())


def test_public_names():
    assert dir(webnn) == sorted(webnn.__all__)
    assert "webnn" in dir(remapnd)
