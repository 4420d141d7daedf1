"""SynetGatherElements in C: the bytes of `remapnd.simd`, and what it says to bad input."""

import ctypes

import numpy as np
import pytest
from c_library import INDEX_OUT_OF_RANGE, INVALID_ARGUMENT, INVALID_BUFFER, OK, pointer
from c_library_cases import SEEDS
from hypothesis import given
from hypothesis import strategies as st

from remapnd.simd import SynetGatherElements

_DATA = {0: np.float32, 7: np.uint16, 3: np.uint8}
_INDEX = {1: np.int32, 4: np.int64}


def synet(libremapnd, data_type, index_type, const, outer, *counts):
    sizes, context = np.array(outer, np.uintp), ctypes.c_void_p()
    status = libremapnd.synet_gather_elements_init(
        data_type, index_type, const, 1, pointer(sizes), len(outer), *counts, ctypes.byref(context)
    )
    assert (context.value is None) == (status != OK)
    return status, context


@given(
    data_type=st.sampled_from(list(_DATA)),
    index_type=st.sampled_from(list(_INDEX)),
    outer=st.lists(st.integers(0, 3), max_size=3),
    counts=st.tuples(st.integers(1, 5), st.integers(0, 3), st.integers(0, 5)),
    const=st.booleans(),
    repeated=st.booleans(),
    seed=SEEDS,
)
def test_synet_gather_elements(*, libremapnd, data_type, index_type, outer, counts, const, repeated, seed):
    rng = np.random.default_rng(seed)
    src_count, inner, idx_count = counts
    src = rng.integers(0, 256, (*outer, src_count, inner, np.dtype(_DATA[data_type]).itemsize), np.uint8)
    shape = (*outer, idx_count, inner)
    idx = rng.integers(-src_count, src_count, shape[-2:] if repeated else shape).astype(_INDEX[index_type])
    idx = np.ascontiguousarray(np.broadcast_to(idx, shape))
    python = SynetGatherElements()
    python.Init(data_type, index_type, const, 1, outer, *counts)
    status, context = synet(libremapnd, data_type, index_type, const, outer, *counts)
    assert status == OK
    dst = np.zeros((*shape, np.dtype(_DATA[data_type]).itemsize), np.uint8)
    if const:
        assert libremapnd.synet_gather_elements_set_index(context, pointer(idx)) == OK
        python.SetIndex(idx)
        assert libremapnd.synet_gather_elements_internal_buffer_size(context) == python.InternalBufferSize()
    assert (
        libremapnd.synet_gather_elements_forward(
            context, pointer(src), None if const else pointer(idx), pointer(dst)
        )
        == OK
    )
    expected = np.asarray(python.Forward(src.reshape(-1), None if const else idx))
    assert dst.tobytes() == expected.tobytes()
    libremapnd.synet_gather_elements_release(context)


def test_synet_copies_constant_indices(libremapnd):
    _, context = synet(libremapnd, 0, 1, 1, [], 3, 1, 2)
    idx, src, dst = np.array([2, -3], np.int32), np.arange(3, dtype=np.float32), np.zeros(2, np.float32)
    assert libremapnd.synet_gather_elements_set_index(context, pointer(idx)) == OK
    idx[:] = 99
    assert libremapnd.synet_gather_elements_set_index(context, pointer(idx)) == INDEX_OUT_OF_RANGE
    assert libremapnd.synet_gather_elements_forward(context, pointer(src), pointer(idx), pointer(dst)) == OK
    assert dst.tolist() == [2, 0]
    libremapnd.synet_gather_elements_release(context)


def test_synet_indices_out_of_range(libremapnd):
    _, context = synet(libremapnd, 3, 4, 0, [2], 3, 1, 2)
    src, dst = np.arange(6, dtype=np.uint8), np.zeros(4, np.uint8)
    for bad in (3, -4, 2**62, -(2**63)):
        idx = np.array([0, 1, 2, bad])
        assert (
            libremapnd.synet_gather_elements_forward(context, pointer(src), pointer(idx), pointer(dst))
            == INDEX_OUT_OF_RANGE
        )
        assert (
            libremapnd.error()
            == f"SynetGatherElements.Forward: `idx` must lie in [-3, 3), got {bad} at (1, 1, 0)"
        )
    libremapnd.synet_gather_elements_release(context)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((1, 1, 0, [], 1, 1, 1), "`dataType` must be 32f 0, 8u 3 or 16b 7, got 1"),
        ((0, 0, 0, [], 1, 1, 1), "`indexType` must be 32i 1 or 64i 4, got 0"),
        ((0, 1, 0, [2**32, 2**31], 1, 1, 1), f"`src` must take at most {2**63 - 1} bytes, got more"),
        ((3, 1, 0, [2**31], 1, 1, 2**31), f"`idx` must take at most {2**63 - 1} bytes, got more"),
        ((0, 1, 0, [0, 2**63], 1, 1, 1), f"`src` must take at most {2**63 - 1} bytes, got more"),
    ],
)
@pytest.mark.skipif(ctypes.sizeof(ctypes.c_size_t) < 8, reason="the counts need 64 bits")
def test_synet_arguments(libremapnd, arguments, text):
    status, _ = synet(libremapnd, *arguments)
    assert status == INVALID_ARGUMENT
    assert libremapnd.error() == f"SynetGatherElements.Init: {text}"


def test_synet_pointers(libremapnd):
    assert libremapnd.synet_gather_elements_init(0, 1, 0, 1, None, 0, 1, 1, 1, None) == INVALID_ARGUMENT
    context = ctypes.c_void_p()
    assert (
        libremapnd.synet_gather_elements_init(0, 1, 0, 1, None, 2, 1, 1, 1, ctypes.byref(context))
        == INVALID_ARGUMENT
    )
    assert (
        libremapnd.error()
        == "SynetGatherElements.Init: `outer` must not be a null pointer, as `outerSize` is not 0"
    )
    memory = np.zeros(16, np.float32)
    assert libremapnd.synet_gather_elements_forward(None, *[pointer(memory)] * 3) == INVALID_ARGUMENT
    assert libremapnd.synet_gather_elements_set_index(None, pointer(memory)) == INVALID_ARGUMENT
    assert libremapnd.synet_gather_elements_internal_buffer_size(None) == 0
    libremapnd.synet_gather_elements_release(None)
    _, context = synet(libremapnd, 0, 1, 1, [], 4, 1, 4)
    at = memory.ctypes.data
    for arguments, status, text in [
        (
            (at, None, at + 32),
            INVALID_ARGUMENT,
            "`idx` must not be a null pointer, as no constant indices are set",
        ),
        ((None, at, at + 32), INVALID_BUFFER, "`src` and `dst` must not be null pointers"),
        ((at, at + 16, at + 12), INVALID_BUFFER, "`dst` must not overlap `src`, got memory of both"),
        ((at, at + 32, at + 40), INVALID_BUFFER, "`dst` must not overlap `idx`, got memory of both"),
    ]:
        assert libremapnd.synet_gather_elements_forward(context, *arguments) == status
        assert libremapnd.error() == f"SynetGatherElements.Forward: {text}"
    assert libremapnd.synet_gather_elements_set_index(context, None) == INVALID_ARGUMENT
    assert libremapnd.error() == "SynetGatherElements.SetIndex: `idx` must not be a null pointer"
    libremapnd.synet_gather_elements_release(context)
