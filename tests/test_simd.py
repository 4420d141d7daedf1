"""SynetGatherElements against the loops of its documentation, and against each hole of the original."""

from __future__ import annotations

import array
import math
import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from remapnd.simd import (
    SimdFalse,
    SimdTensorData8u,
    SimdTensorData16b,
    SimdTensorData32f,
    SimdTensorData32i,
    SimdTensorData64i,
    SimdTensorDataType,
    SimdTrue,
    SynetGatherElements,
)

WIDTHS = {SimdTensorData32f: 4, SimdTensorData16b: 2, SimdTensorData8u: 1}
INDICES = {SimdTensorData32i: np.int32, SimdTensorData64i: np.int64}


def loops(src: np.ndarray, idx: np.ndarray) -> np.ndarray:
    """The three loops of the class reference, on (rows, count, inner)."""
    dst = np.empty(idx.shape, src.dtype)
    for b, c, i in np.ndindex(idx.shape):
        ic = int(idx[b, c, i])
        if ic < 0:
            ic += src.shape[1]
        dst[b, c, i] = src[b, ic, i]
    return dst


def made(*args: Any) -> SynetGatherElements:
    gather = SynetGatherElements()
    gather.Init(*args)
    assert gather.Enable()
    return gather


def raises(error: type[Exception], text: str) -> Any:
    """Expect an error whose text begins with the class name and `text`."""
    return pytest.raises(error, match=f"^{re.escape('SynetGatherElements.' + text)}")


@pytest.fixture
def small() -> SynetGatherElements:
    """The context of the class reference's example."""
    return made(SimdTensorData32f, SimdTensorData32i, SimdFalse, 1, (2,), 4, 1, 3)


@pytest.fixture
def constant() -> SynetGatherElements:
    return made(SimdTensorData32f, SimdTensorData32i, SimdTrue, 1, (2,), 4, 1, 3)


SRC = np.arange(8, dtype=np.float32)
IDX = np.array([0, 2, 1, 3, 1, 0], dtype=np.int32)
RESULT = [0, 2, 1, 7, 5, 4]


def test_example_of_the_class_reference(small):
    dst = np.empty(6, np.float32)
    assert small.Forward(SRC, IDX, dst) is dst
    assert dst.tolist() == RESULT


def test_without_dst_the_result_is_new_and_shaped(small):
    result = small.Forward(SRC, IDX)
    assert_array_equal(result, np.array(RESULT, np.float32).reshape(2, 3, 1), strict=True)


def test_enum_values_are_those_of_simd():
    names = ["Unknown", "32f", "32i", "8i", "8u", "64i", "64u", "Bool", "16b", "16f"]
    assert [(t.name, t.value) for t in SimdTensorDataType] == [
        (f"SimdTensorData{name}", value) for value, name in enumerate(names, start=-1)
    ]


@st.composite
def cases(draw):
    data_type = draw(st.sampled_from(sorted(WIDTHS)))
    index_type = draw(st.sampled_from(sorted(INDICES)))
    outer = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    inner, idx_count = draw(st.integers(0, 5)), draw(st.integers(0, 6))
    rows = math.prod(outer)
    n = draw(st.integers(1 if rows * inner * idx_count else 0, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    src = rng.integers(0, 2 ** (8 * WIDTHS[data_type]), (rows, n, inner)).astype(f"u{WIDTHS[data_type]}")
    low = draw(st.sampled_from([0, -n]))
    idx = rng.integers(low, n, (rows, idx_count, inner)) if n else np.empty((rows, idx_count, inner), int)
    repeat = draw(st.integers(0, len(outer)))
    if idx.size:  # the same indices over the first `repeat` outer axes
        times = math.prod(outer[:repeat])
        idx = np.tile(idx[: rows // times], (times, 1, 1))
    return data_type, index_type, outer, src, idx.astype(INDICES[index_type])


@settings(max_examples=300, deadline=None)
@given(cases(), st.sampled_from(["array", "bytes", "shaped"]))
def test_forward_equals_the_loops(case, kind):
    data_type, index_type, outer, src, idx = case
    convert = {
        "array": lambda a: a,
        "bytes": lambda a: a.tobytes(),
        "shaped": lambda a: a.reshape(outer + a.shape[1:]),
    }[kind]
    expected = loops(src, idx)
    shape = (outer, src.shape[1], src.shape[2], idx.shape[1])
    plain = made(data_type, index_type, False, 1, *shape)
    dst = bytearray(expected.nbytes)
    assert plain.Forward(convert(src), convert(idx), dst) is dst
    assert bytes(dst) == expected.tobytes()

    const = made(data_type, index_type, True, 1, *shape)
    const.SetIndex(convert(idx))
    for given_idx in (None, convert(idx)):
        result = const.Forward(convert(src), given_idx)
        assert result.shape == (*outer, *idx.shape[1:])
        assert result.tobytes() == expected.tobytes()


@settings(max_examples=200, deadline=None)
@given(cases())
def test_repeats_are_those_that_simd_finds(case):
    data_type, index_type, outer, src, idx = case
    if idx.size == 0:
        return
    gather = made(data_type, index_type, True, 1, outer, src.shape[1], src.shape[2], idx.shape[1])
    gather.SetIndex(idx)
    batch = 1  # as SimdSynetGatherElementsSetIndex: prefixes of `outer`, blocks compared with the first
    for axis in range(len(outer)):
        blocks = idx.reshape(math.prod(outer[: axis + 1]), -1)
        if not all((block == blocks[0]).all() for block in blocks):
            break
        batch = len(blocks)
    assert gather.InternalBufferSize() == idx.nbytes // batch
    assert (f"used {batch} times" in gather.explain()) == (batch > 1)


@pytest.mark.parametrize(
    ("data_type", "dtype"),
    [(SimdTensorData32f, np.float32), (SimdTensorData16b, np.uint16), (SimdTensorData8u, np.uint8)],
)
def test_dtype_of_a_new_result(data_type, dtype):
    gather = made(data_type, SimdTensorData64i, False, 1, (), 3, 1, 2)
    width = np.dtype(dtype).itemsize
    raw = bytes(range(3 * width))
    result = gather.Forward(raw, np.array([2, -3]))
    assert_array_equal(result[:, 0], np.frombuffer(raw, dtype)[[2, 0]], strict=True)
    same_width = np.frombuffer(raw, f"V{width}")
    assert gather.Forward(same_width, np.array([2, -3])).dtype == same_width.dtype


def test_bits_are_moved_whatever_the_item_type():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="bfloat16 for NumPy comes with ml_dtypes")
    src = np.array([1.5, np.nan, -0.0], ml_dtypes.bfloat16)
    gather = made(SimdTensorData16b, SimdTensorData32i, False, 1, (), 3, 1, 3)
    result = gather.Forward(src, np.array([2, 1, 0], np.int32))
    assert result.dtype == src.dtype
    assert result.tobytes() == src[::-1].tobytes()


def test_buffers_of_every_kind(small):
    idx = array.array("i", IDX.tolist())
    for src in (SRC.tobytes(), bytearray(SRC.tobytes()), memoryview(SRC), array.array("f", SRC.tolist())):
        dst = array.array("f", [0.0] * 6)
        small.Forward(src, idx, memoryview(dst))
        assert dst.tolist() == RESULT


def test_buffer_that_is_not_aligned(small):
    shifted = [memoryview(bytearray(b"?" + a.tobytes()))[1:] for a in (SRC, IDX)]
    dst = memoryview(bytearray(25))[1:]
    small.Forward(*shifted, dst)
    assert np.frombuffer(dst, np.float32).tolist() == RESULT


# The holes of the original, one by one.


@pytest.mark.parametrize("bad", [4, 2**31 - 1])
def test_index_above_the_range_raises(small, bad):
    idx = IDX.copy()
    idx[4] = bad
    with raises(IndexError, f"Forward: `idx` must lie in [-4, 4), got {bad} at (1, 1, 0)"):
        small.Forward(SRC, idx)


@pytest.mark.parametrize("bad", [-5, -(2**31)])
def test_negative_index_counts_from_the_end_only_once(small, bad):
    idx = IDX.copy()
    idx[2] = bad
    with raises(IndexError, f"Forward: `idx` must lie in [-4, 4), got {bad} at (0, 2, 0)"):
        small.Forward(SRC, idx)


@pytest.mark.parametrize("bad", [-5, 4])
def test_constant_index_out_of_range_raises_and_keeps_those_set(constant, bad):
    constant.SetIndex(IDX)
    with raises(IndexError, f"SetIndex: `idx` must lie in [-4, 4), got {bad} at (0, 0, 0)"):
        constant.SetIndex(np.full(6, bad, np.int32))
    assert np.ravel(constant.Forward(SRC)).tolist() == RESULT


def test_index_into_nothing_raises():
    gather = made(SimdTensorData8u, SimdTensorData32i, False, 1, (2,), 0, 1, 1)
    with pytest.raises(IndexError, match=r"`idx` must lie in \[0, 0\), got 0 at \(0, 0, 0\)"):
        gather.Forward(b"", np.zeros(2, np.int32))


def test_src_count_beyond_the_index_type():
    n = 2**31 + 3
    src = np.zeros(n, np.uint8)  # untouched pages, so this takes no memory to speak of
    src[[0, 3, n - 1]] = 1, 2, 3
    gather = made(SimdTensorData8u, SimdTensorData32i, False, 1, (), n, 1, 4)
    result = gather.Forward(src, np.array([0, -1, -(2**31), 2**31 - 1], np.int32))
    assert result.ravel().tolist() == [1, 3, 2, 0]


def test_constant_indices_are_a_copy(constant):
    idx = IDX.copy()
    constant.SetIndex(idx)
    idx[:] = -1
    assert np.ravel(constant.Forward(SRC)).tolist() == RESULT
    text = "`idx` must equal the indices given to SetIndex (0 at (0, 0, 0)), got -1 at (0, 0, 0)"
    with raises(ValueError, f"Forward: {text}"):
        constant.Forward(SRC, idx)


def test_constant_indices_that_repeated_and_changed_since(constant):
    constant.SetIndex(np.array([0, 1, 2, 0, 1, 2], np.int32))
    with pytest.raises(ValueError, match=r"\(1 at \(1, 1, 0\)\), got 3 at \(1, 1, 0\)"):
        constant.Forward(SRC, np.array([0, 1, 2, 0, 3, 2], np.int32))


@pytest.mark.parametrize("outer", [(0,), (0, 3), (3, 0), (2, 0, 2), (1, 0)])
@pytest.mark.parametrize("index_const", [False, True])
def test_zero_in_outer(outer, index_const):
    gather = made(SimdTensorData32f, SimdTensorData64i, index_const, 1, outer, 4, 2, 3)
    gather.SetIndex(b"")
    assert gather.Forward(b"", b"").shape == (*outer, 3, 2)
    assert gather.InternalBufferSize() == 0


@pytest.mark.parametrize(
    ("src_count", "inner", "idx_count"), set(product([0, 3], repeat=3)) - {(3, 3, 3), (0, 3, 3)}
)
@pytest.mark.parametrize("index_const", [False, True])
def test_zero_counts_move_nothing(src_count, inner, idx_count, index_const):
    gather = made(SimdTensorData16b, SimdTensorData32i, index_const, 1, (2,), src_count, inner, idx_count)
    gather.SetIndex(b"")
    result = gather.Forward(np.zeros(2 * src_count * inner, np.uint16), b"")
    assert result.shape == (2, idx_count, inner)
    assert result.dtype == np.uint16


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("src", ((2**32,), 2**31, 1, 1)),
        ("dst", ((2,), 1, 2**31, 2**31)),
        ("idx", ((2,), 1, 2**30, 2**29)),
        ("src", ((0, 2**62), 4, 1, 1)),
    ],
)
def test_products_that_overflow(name, args):
    gather = SynetGatherElements()
    with pytest.raises(
        ValueError, match=rf"Init: `{name}` must take at most 9223372036854775807 bytes, got \d+ for"
    ):
        gather.Init(SimdTensorData32f, SimdTensorData64i, False, 1, *args)
    assert not gather.Enable()


@pytest.mark.parametrize("name", ["indexUsers", r"outer\[1\]", "srcCount", "inner", "idxCount"])
@pytest.mark.parametrize(
    ("value", "error", "text"),
    [(-1, ValueError, "at least 0, got -1"), (1.5, TypeError, "an integer, got 1.5"),
     (True, TypeError, "an integer, got True"), (None, TypeError, "an integer, got None"),
     (2**64, ValueError, f"at most {2**64 - 1}, got {2**64}")],
)  # fmt: skip
def test_counts_are_checked_and_the_object_is_unchanged(small, name, value, error, text):
    args = {"indexUsers": 1, r"outer\[1\]": 2, "srcCount": 4, "inner": 1, "idxCount": 3} | {name: value}
    users, second, *counts = args.values()
    before = repr(small)
    with pytest.raises(error, match=f"^SynetGatherElements.Init: `{name}` must be {text}"):
        small.Init(SimdTensorData32f, SimdTensorData32i, False, users, [1, second], *counts)
    assert repr(small) == before


@pytest.mark.parametrize(
    "outer", [2, "2", b"2", None, {2}, np.array(2), np.array([[2]]), memoryview(np.array([[2]]))]
)
def test_outer_must_be_a_sequence(small, outer):
    kinds = "int|str|bytes|NoneType|set|ndarray|memoryview"
    with pytest.raises(TypeError, match=rf"Init: `outer` must be a sequence of integers, got ({kinds})$"):
        small.Init(SimdTensorData32f, SimdTensorData32i, False, 1, outer, 4, 1, 3)


def test_index_const_must_be_a_bool(small):
    for bad in (2, None, np.array([0, 1]), np.zeros(3, "V0")):
        with pytest.raises(TypeError, match=f"Init: `indexConst` must be a bool, got {re.escape(repr(bad))}"):
            small.Init(SimdTensorData32f, SimdTensorData32i, bad, 1, (2,), 4, 1, 3)
    for value in (0, 1, np.False_, np.True_):
        small.Init(SimdTensorData32f, SimdTensorData32i, value, 1, np.array([2]), np.int64(4), 1, 3)
        assert f", {bool(value)}, " in repr(small)


EVERY = [*SimdTensorDataType, 99]


@pytest.mark.parametrize(
    ("data_type", "index_type"),
    [(t, SimdTensorData32i) for t in EVERY if t not in WIDTHS]
    + [(SimdTensorData32f, t) for t in EVERY if t not in INDICES],
)
def test_unsupported_types_leave_no_context(constant, data_type, index_type):
    constant.SetIndex(IDX)
    constant.Init(data_type, index_type, True, 1, (2,), 4, 1, 3)
    assert not constant.Enable()
    assert constant.InternalBufferSize() == 0
    assert "no context" in constant.explain()
    with raises(RuntimeError, "Forward: a context must exist, got none: call Init"):
        constant.Forward(SRC, IDX)
    with raises(RuntimeError, "SetIndex: a context must exist"):
        constant.SetIndex(IDX)


def test_types_must_be_integers(small):
    with pytest.raises(TypeError, match="Init: `dataType` must be an integer, got '32f'"):
        small.Init("32f", SimdTensorData32i, False, 1, (2,), 4, 1, 3)
    with pytest.raises(TypeError, match="Init: `indexType` must be an integer, got None"):
        small.Init(SimdTensorData32f, None, False, 1, (2,), 4, 1, 3)


def test_new_types_alone_take_effect(small):
    small.Init(SimdTensorData16b, SimdTensorData32i, False, 1, (2,), 4, 1, 3)
    assert small.Forward(SRC.astype(np.uint16), IDX).dtype == np.uint16
    small.Init(SimdTensorData16b, SimdTensorData64i, False, 1, (2,), 4, 1, 3)
    assert np.ravel(small.Forward(SRC.astype(np.uint16), IDX.astype(np.int64))).tolist() == RESULT


def test_index_const_alone_takes_effect(small):
    small.SetIndex(IDX)
    with pytest.raises(ValueError, match="Forward: `idx` must be given as indexConst is False, got None"):
        small.Forward(SRC)
    small.Init(SimdTensorData32f, SimdTensorData32i, SimdTrue, 1, (2,), 4, 1, 3)
    with pytest.raises(ValueError, match="Forward: `idx` must be given unless SetIndex was called, got None"):
        small.Forward(SRC)
    assert np.ravel(small.Forward(SRC, IDX)).tolist() == RESULT
    small.SetIndex(IDX)
    assert np.ravel(small.Forward(SRC)).tolist() == RESULT


def test_the_same_init_keeps_constant_indices_and_another_drops_them(constant):
    constant.SetIndex(IDX)
    constant.Init(SimdTensorData32f, SimdTensorData32i, SimdTrue, 1, [2], 4, 1, 3)
    assert constant.InternalBufferSize() == IDX.nbytes
    constant.Init(SimdTensorData32f, SimdTensorData32i, SimdTrue, 1, [1, 2], 4, 1, 3)
    assert constant.InternalBufferSize() == 0


def test_clear(constant):
    constant.SetIndex(IDX)
    constant.Clear()
    assert not constant.Enable()
    assert constant.InternalBufferSize() == 0
    assert repr(constant) == "<SynetGatherElements without a context>"


# Buffers that do not fit.


@pytest.mark.parametrize(
    ("changed", "error", "text"),
    [
        ({"src": SRC[:7]}, ValueError, "`src` must have 32 bytes for (2, 4, 1), got 28"),
        ({"idx": IDX[:5]}, ValueError, "`idx` must have 24 bytes for (2, 3, 1), got 20"),
        ({"dst": bytearray(23)}, ValueError, "`dst` must have 24 bytes for (2, 3, 1), got 23"),
        ({"dst": bytes(24)}, ValueError, "`dst` must be writable, got a read-only bytes"),
        (
            {"src": SRC[::2].astype("f8")},
            TypeError,
            "`src` must have items of 4 bytes, or raw bytes, got float64",
        ),
        (
            {"src": np.array([None] * 4)},
            TypeError,
            "`src` must have items of 4 bytes, or raw bytes, got object",
        ),
        ({"idx": IDX.astype("u4")}, TypeError, "`idx` must have items of int32, or raw bytes, got uint32"),
        ({"idx": IDX.astype("f4")}, TypeError, "`idx` must have items of int32, or raw bytes, got float32"),
        (
            {"idx": IDX.astype(IDX.dtype.newbyteorder())},
            TypeError,
            "`idx` must have items of int32, or raw bytes",
        ),
        ({"src": np.repeat(SRC, 2)[::2]}, ValueError, "`src` must be C-contiguous, got strides (8,)"),
        (
            {"src": np.ma.masked_array(SRC)},
            TypeError,
            "`src` must not be a masked array, whose mask would be lost (give `.filled(value)`, or `.data` "
            "to ignore it), got MaskedArray",
        ),
        (
            {"dst": np.ma.zeros(6, np.float32)},
            TypeError,
            "`dst` must not be a masked array, whose mask would be lost (give its `.data`), got MaskedArray",
        ),
        ({"src": SRC.tolist()}, TypeError, "`src` must be an ndarray or a buffer, got list"),
        ({"src": None}, TypeError, "`src` must be an ndarray or a buffer, got NoneType"),
    ],
)
def test_buffers_that_do_not_fit(small, changed, error, text):
    arguments = {"src": SRC, "idx": IDX, "dst": None} | changed
    with raises(error, f"Forward: {text}"):
        small.Forward(**arguments)


def test_dst_must_not_overlap(small):
    memory = bytearray(64)
    with raises(ValueError, "Forward: `dst` must not overlap `src`"):
        small.Forward(memoryview(memory)[:32], IDX, memoryview(memory)[28:52])
    with raises(ValueError, "Forward: `dst` must not overlap `idx`"):
        small.Forward(SRC, memoryview(memory)[:24], memoryview(memory)[:24])
    assert (
        np.frombuffer(small.Forward(memoryview(memory)[:32], IDX, memoryview(memory)[32:56]), "u1").sum() == 0
    )


def test_explain(small, constant):
    assert small.explain() == (
        "SynetGatherElements: dst[b, c, i] = src[b, idx[b, c, i], i]\n"
        "src (2, 4, 1), idx and dst (2, 3, 1); items of 4 bytes are moved as they are, indices are int32\n"
        "indices: given to each Forward, range checked while they are used"
    )
    assert constant.explain().endswith(
        "indices: constant, not set yet; until SetIndex each Forward needs them"
    )
    constant.SetIndex(IDX)
    assert constant.explain().endswith(
        "indices: constant, set; values in [0, 3], none negative\n"
        "repeats: none over the leading dimensions; 24 bytes are held"
    )
    constant.SetIndex(np.array([3, -4, 1] * 2, np.int32))
    assert constant.explain().endswith(
        "indices: constant, set; values in [-4, 3], 1 of 3 negative, counted from the end\n"
        "repeats: the indices are the same all over outer[2], "
        "so one block of 12 bytes is held and used 2 times"
    )
    constant.Init(SimdTensorData8u, SimdTensorData32i, True, 1, (), 4, 1, 0)
    constant.SetIndex(b"")
    assert constant.explain().endswith("items of 1 byte are moved as they are, indices are int32\n"
                                       "indices: constant, set; there are none")  # fmt: skip


def test_repr(small):
    assert (
        repr(small) == "<SynetGatherElements(SimdTensorData32f, SimdTensorData32i, False, 1, (2,), 4, 1, 3)>"
    )
