"""Operators run by libremapnd: the bytes of `remapnd.directml.run`, and buffers that cannot be used."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from c_library import (
    INVALID_ARGUMENT,
    INVALID_BUFFER,
    INVALID_DESCRIPTOR,
    LAST_LEVEL,
    OK,
    OUT_OF_MEMORY,
    Buffer,
    buffers,
)
from c_library_cases import (
    SEEDS,
    floats,
    gathers_and_scatters,
    inputs_of,
    memory_of,
    output_of,
    reductions,
    resamples,
    upsamples,
    valid,
)
from hypothesis import given
from hypothesis import strategies as st

from remapnd.directml import (
    BufferTensorDesc,
    GatherNDOperatorDesc,
    GatherOperatorDesc,
    Resample1OperatorDesc,
    Resample3OperatorDesc,
    ResampleGrad1OperatorDesc,
    ResampleOperatorDesc,
    ScatterNDOperatorDesc,
    abi,
    run,
)


def compare_runs(libremapnd, desc, seed):
    rng = np.random.default_rng(seed)
    inputs = inputs_of(desc, rng)
    output = memory_of(output_of(desc), rng)
    expected = output.copy()
    run(desc, inputs, expected)
    assert libremapnd.dispatched(abi.pack(desc), inputs, output) == (OK, "")
    assert output.tobytes() == expected.tobytes()


@given(gathers_and_scatters(), SEEDS)
def test_gathers_and_scatters_give_python_s_bytes(libremapnd, desc, seed):
    compare_runs(libremapnd, desc, seed)


@given(st.one_of(resamples(), resamples(), upsamples()), SEEDS)
def test_resampling_gives_python_s_bytes(libremapnd, desc, seed):
    compare_runs(libremapnd, desc, seed)


@given(reductions(), SEEDS, st.booleans())
def test_reductions_give_python_s_bytes(libremapnd, desc, seed, two_values):
    rng = np.random.default_rng(seed)
    inputs = inputs_of(desc, rng)
    if two_values:  # many exact results are whole numbers
        inputs = [(data.view(np.uint8) & 1) * 100 for data in inputs]
        inputs = [data.view(memory.dtype) for data, memory in zip(inputs, inputs_of(desc, rng), strict=True)]
    expected = memory_of(output_of(desc), rng)
    got = expected.copy()
    run(desc, inputs, expected)
    assert libremapnd.dispatched(abi.pack(desc), inputs, got) == (OK, "")
    assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("first", "cut"),
    [(True, 3000), (False, 0)],
)
def test_gradients_whose_edges_have_tables_of_their_own(libremapnd, first, cut):
    # Thousands of outputs lie beyond an edge.
    data, gradient = BufferTensorDesc("FLOAT32", (5, 7)), BufferTensorDesc("FLOAT32", (3010, 14))
    offsets = [[0.5, 0.5], [cut - 0.5, -0.5]]
    for mode in ("LINEAR", "NEAREST_NEIGHBOR"):
        desc = ResampleGrad1OperatorDesc(gradient, data, mode, "DECREASING", 2, [2, 2], *offsets)
        values = np.random.default_rng(5).normal(size=(3010, 14)).astype(np.float32)
        got, expected = np.zeros((5, 7), np.float32), np.zeros((5, 7), np.float32)
        run(desc, [values], expected)
        assert (abs(expected[0]).max() > 10 * abs(expected[-1]).max()) == first
        assert libremapnd.dispatched(abi.pack(desc), [values], got) == (OK, "")
        assert got.tobytes() == expected.tobytes()


def test_more_weights_than_a_table_holds(libremapnd):
    # An antialiasing filter as wide as the data, and samples that all outputs between two edges share.
    sizes = BufferTensorDesc("UINT8", (2**20,)), BufferTensorDesc("UINT8", (2**14,))
    desc = Resample3OperatorDesc(*sizes, "LINEAR", "DECREASING", 1, [2**-16], [0], [0], True)
    with pytest.raises(
        ValueError, match=r"^RESAMPLE3: `Scales` must take at most 268435456 weights"
    ) as error:
        run(desc, [np.zeros(2**20, np.uint8)])
    status = libremapnd.dispatched(abi.pack(desc), [np.zeros(2**20, np.uint8)], np.zeros(2**14, np.uint8))
    assert status == (OUT_OF_MEMORY, str(error.value))


@given(
    data_type=st.sampled_from(["UINT8", "INT8"]),
    data=st.lists(st.sampled_from([1, 2, 3, 5, 9]), min_size=3, max_size=3),
    output=st.lists(st.sampled_from([1, 2, 3, 5, 9]), min_size=3, max_size=3),
    scales=st.lists(floats(True), min_size=3, max_size=3),
    seed=SEEDS,
)
def test_8_bit_results_at_every_precision(*, libremapnd, data_type, data, output, scales, seed):
    # With values 0 and 4 many exact results are whole numbers: a little error would cut to the one below.
    desc = ResampleOperatorDesc(
        BufferTensorDesc(data_type, data), BufferTensorDesc(data_type, output), "LINEAR", 3, scales
    )
    rng = np.random.default_rng(seed)
    inputs = [memory_of(desc.InputTensor, rng, (-1, 2)) * 4]
    got, expected = memory_of(desc.OutputTensor, rng), memory_of(desc.OutputTensor, rng)
    run(desc, inputs, expected)
    assert libremapnd.dispatched(abi.pack(desc), inputs, got) == (OK, "")
    assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("scales", [(1.75, 1.75), (1.625, 1.25), (3.5, 7), (1.25, 5), (31, 3)])
def test_16_bit_divisions(libremapnd, scales):
    # Denominators such as 14 * 14, some of which need a multiplier that is rounded down.
    tensors = BufferTensorDesc("UINT8", (40, 50)), BufferTensorDesc("UINT8", (60, 70))
    desc = ResampleOperatorDesc(*tensors, "LINEAR", 2, scales)
    data = np.random.default_rng(3).integers(0, 256, (40, 50)).astype(np.uint8)
    got, expected = np.zeros((60, 70), np.uint8), np.zeros((60, 70), np.uint8)
    run(desc, [data], expected)
    assert libremapnd.dispatched(abi.pack(desc), [data], got) == (OK, "")
    assert got.tobytes() == expected.tobytes()


def test_results_that_only_integers_decide(libremapnd):
    # Scales of 24 bits on two axes make the grid of exact results finer than the errors of float64.  The data
    # are constant along those: all results are whole numbers, and not all taps are equal.
    tensors = BufferTensorDesc("INT8", (5, 6, 6)), BufferTensorDesc("INT8", (9, 2, 4))
    scales, offsets = [2, 0.3, 0.7], ([0.5] * 3, [-0.5] * 3)
    for first in (0, -8):
        data = np.empty((5, 6, 6), np.int8)
        data[...] = np.arange(first, first + 20, 4)[:, None, None]
        got, expected = np.zeros((9, 2, 4), np.int8), np.zeros((9, 2, 4), np.int8)
        desc = Resample1OperatorDesc(*tensors, "LINEAR", 3, scales, *offsets)
        run(desc, [data], expected)
        assert expected[:, 0, 0].tolist() == [first, *range(first + 1, first + 17, 2)]
        assert libremapnd.dispatched(abi.pack(desc), [data], got) == (OK, "")
        assert got.tobytes() == expected.tobytes()


def test_large_arrays_on_other_levels_and_thread_counts(libremapnd):
    before, level = libremapnd.get_num_threads(), libremapnd.level()
    rng = np.random.default_rng(5)
    image = BufferTensorDesc("UINT8", (1, 3, 200, 300)), BufferTensorDesc("UINT8", (1, 3, 301, 333))
    cases = [
        ResampleOperatorDesc(*image, "LINEAR", 4, [1, 1, 1.505, 1.11]),
        GatherOperatorDesc(
            BufferTensorDesc("FLOAT32", (500, 64)),
            BufferTensorDesc("INT64", (1, 3000)),
            BufferTensorDesc("FLOAT32", (3000, 64)),
            0,
            1,
        ),
        ScatterNDOperatorDesc(
            BufferTensorDesc("FLOAT32", (1, 20000)),
            BufferTensorDesc("INT32", (60000, 1)),
            BufferTensorDesc("FLOAT32", (1, 60000)),
            BufferTensorDesc("FLOAT32", (1, 20000)),
            1,
            2,
        ),
    ]
    for desc in cases:
        inputs = inputs_of(desc, rng)
        expected = memory_of(desc.OutputTensor, rng)
        run(desc, inputs, expected)
        for name in ("plain", level.decode()):
            for threads in (1, 3):
                libremapnd.use_level(name.encode())
                libremapnd.set_num_threads(threads)
                got = np.zeros_like(expected)
                assert libremapnd.dispatched(abi.pack(desc), inputs, got) == (OK, "")
                assert got.tobytes() == expected.tobytes()
    libremapnd.use_level(level)
    libremapnd.set_num_threads(before)


def compiled(libremapnd, desc, level=LAST_LEVEL):
    op, message = ctypes.c_void_p(), ctypes.create_string_buffer(1000)
    assert libremapnd.directml_compile(abi.pack(desc), level, ctypes.byref(op), message, 1000) == OK
    assert message.value == b""
    return op


def test_a_compiled_operator_runs_often_and_from_several_threads(libremapnd):
    desc = GatherNDOperatorDesc(
        BufferTensorDesc("INT16", (50, 40)),
        BufferTensorDesc("INT32", (300, 2)),
        BufferTensorDesc("INT16", (1, 300)),
        2,
        2,
    )
    op = compiled(libremapnd, desc)
    assert (libremapnd.op_input_count(op), libremapnd.op_output_count(op)) == (2, 1)
    assert [libremapnd.op_input_size(op, k) for k in range(3)] == [4000, 2400, 0]
    assert [libremapnd.op_output_size(op, k) for k in range(2)] == [600, 0]

    def task(seed):
        rng = np.random.default_rng(seed)
        data = rng.integers(-100, 100, (50, 40)).astype(np.int16)
        for _ in range(20):
            indices = rng.integers(-40, 40, (300, 2)).astype(np.int32)
            out = np.empty(300, np.int16)
            assert libremapnd.op_dispatch(op, buffers(data, indices), 2, buffers(out), 1) == OK
            np.testing.assert_array_equal(out, data[indices[:, 0], indices[:, 1]])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(task, range(8)))
    libremapnd.op_release(op)
    libremapnd.op_release(None)


def test_arguments_of_compile_and_dispatch(libremapnd):
    packed, message = abi.pack(valid()), ctypes.create_string_buffer(200)
    assert libremapnd.directml_compile(packed, LAST_LEVEL, None, message, 200) == INVALID_ARGUMENT
    assert message.value == b"remapnd_directml_compile: `op` must not be a null pointer"
    packed = abi.pack(valid())
    op = ctypes.c_void_p(8)
    assert libremapnd.directml_compile(packed, 0x2000, ctypes.byref(op), message, 200) == INVALID_DESCRIPTOR
    assert op.value is None
    assert message.value.startswith(b"GATHER_ELEMENTS: `Type` must be")
    op = compiled(libremapnd, valid())
    out, one = buffers(np.zeros(4, np.float32)), buffers(np.zeros(6, np.float32), np.zeros(4, np.int32))
    for arguments, text in [
        ((None, one, 2, out, 1), "`op` must not be a null pointer"),
        ((op, one, 1, out, 1), "`input_count` must be 2, got 1"),
        ((op, one, 2, out, 0), "`output_count` must be 1, got 0"),
        ((op, None, 2, out, 1), "`inputs` must not be a null pointer"),
        ((op, one, 2, None, 1), "`outputs` must not be a null pointer"),
    ]:
        assert libremapnd.op_dispatch(*arguments) == INVALID_ARGUMENT
        assert libremapnd.error() == f"remapnd_op_dispatch: {text}"
    assert (
        libremapnd.op_input_count(None)
        == libremapnd.op_output_count(None)
        == libremapnd.op_input_size(None, 0)
        == libremapnd.op_output_size(None, 0)
        == 0
    )
    libremapnd.op_release(op)


def test_buffers_that_cannot_be_used(libremapnd):
    op = compiled(libremapnd, valid())
    memory = np.zeros(100, np.float32)
    at = memory.ctypes.data
    good = [Buffer(at, 24), Buffer(at + 100, 16), Buffer(at + 200, 16)]
    for which, buffer, text in [
        (0, Buffer(None, 24), "`InputTensor` must not be a null pointer"),
        (1, Buffer(at + 100, 15), "`IndicesTensor` must be at least 16 bytes long, got 15"),
        (2, Buffer(at + 200, 0), "`OutputTensor` must be at least 16 bytes long, got 0"),
        (
            0,
            Buffer(at + 2, 24),
            "`InputTensor` must begin at a multiple of 4 bytes, the size of an element, "
            f"got address {at + 2:#x}",
        ),
        (
            2,
            Buffer(at + 20, 16),
            "`OutputTensor` must share no memory with `InputTensor`, got overlapping buffers",
        ),
        (
            2,
            Buffer(at + 88, 16),
            "`OutputTensor` must share no memory with `IndicesTensor`, got overlapping buffers",
        ),
    ]:
        given_buffers = list(good)
        given_buffers[which] = buffer
        *inputs, output = given_buffers
        assert libremapnd.op_dispatch(op, (Buffer * 2)(*inputs), 2, (Buffer * 1)(output), 1) == INVALID_BUFFER
        assert libremapnd.error() == f"GATHER_ELEMENTS: {text}"
    assert libremapnd.op_dispatch(op, (Buffer * 2)(*good[:2]), 2, (Buffer * 1)(good[2]), 1) == OK
    assert not memory.any()
    libremapnd.op_release(op)
