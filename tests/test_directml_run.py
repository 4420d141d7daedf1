"""Running descriptors: vectors, random layouts against loops over addresses, buffers, errors."""

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from directml_cases import (
    INDEX_TYPES,
    ROUND,
    address,
    check_output,
    elements,
    extent,
    gather_nd,
    layouts,
    normal,
    resample1,
    resample_cases,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from remapnd.directml import (
    BufferTensorDesc,
    CompiledOperator,
    DirectMLError,
    GatherElementsOperatorDesc,
    GatherND1OperatorDesc,
    GatherNDOperatorDesc,
    Policy,
    Resample1OperatorDesc,
    ResampleOperatorDesc,
    run,
)

F = np.float32


def padded(array, rank=4):
    """Return `array` with leading ones up to `rank`."""
    array = np.asarray(array)
    return array.reshape((1,) * (rank - array.ndim) + array.shape)


CUBE = np.arange(8).reshape(2, 2, 2)


def test_gather_elements_vectors():
    assert elements(np.arange(9).reshape(3, 3), [[0, 2, 1], [-1, 0, 0]], 0) == [[0, 7, 5], [6, 1, 2]]
    assert elements(np.arange(6).reshape(2, 3), [[2, -1], [0, 1]], 1) == [[2, 2], [3, 4]]


@pytest.mark.parametrize("batch", [(), (0,)])
def test_gather_nd_vectors(batch):
    three = np.array([[[0, 1, 0], [1, 1, -1]]])
    assert gather_nd(CUBE, three, (1, 1, 2), 3, 2, *batch) == [[[2, 7]]]
    assert gather_nd(CUBE, np.array([[[0, 1], [1, 0]]]), (1, 2, 2), 3, 2, *batch) == [[[2, 3], [4, 5]]]
    one = np.array([[[1]]])
    assert gather_nd(CUBE, one, (1, 2, 2), 3, 2, *batch) == [[[4, 5], [6, 7]]]
    assert gather_nd(CUBE, one, (1, 2, 2), 3, 1, *batch) == [[[4, 5], [6, 7]]]


def test_gather_nd_at_the_lowest_level():
    indices = padded(np.array([[0, 1]], np.uint32))
    assert gather_nd(padded(CUBE), indices, (1, 1, 1, 2), 3, 2, feature_level="2_1") == [[[[2, 3]]]]


def test_gather_nd1_vector():
    assert gather_nd(CUBE, np.array([[[1], [0]]]), (1, 2, 2), 3, 2, 1) == [[[2, 3], [4, 5]]]


def test_gather_nd_to_a_single_element():
    assert gather_nd(CUBE, np.array([[[1, 0, 1]]]), (1, 1, 1), 3, 1) == [[[5]]]
    assert gather_nd([4, 5], np.array([-1]), (1,), 1, 1) == [5]


# n, m, scale, input offset, output offset; indices, ties up and down; the ramp 0, 1, ... under linear.
RAMPS = [
    (2, 4, 2, 0.5, -0.5, "0011", "0011", (0, 0.25, 0.75, 1)),
    (3, 9, 3, 0.5, -0.5, "000111222", "000111222", (0, 0, 1 / 3, 2 / 3, 1, 4 / 3, 5 / 3, 2, 2)),
    (4, 2, 0.5, 0.5, -0.5, "13", "02", (0.5, 2.5)),
    (6, 3, 0.5, 0.5, -0.5, "135", "024", (0.5, 2.5, 4.5)),
    (2, 3, 1.5, 0.5, -0.5, "011", "001", (0, 0.5, 1)),
    (5, 3, 0.6, 0.5, -0.5, "024", "024", (1 / 3, 2, 11 / 3)),
    (2, 4, 2, 0, 0, "0111", "0011", (0, 0.5, 1, 1)),
    (4, 2, 0.5, 0, 0, "02", "02", (0, 2)),
    (2, 3, 1.5, 0, 0, "011", "011", (0, 2 / 3, 1)),
    (3, 5, 2, 0, 0, "01122", "00112", (0, 0.5, 1, 1.5, 2)),
    (4, 3, 2, 0.5, -0.5, "001", "001", (0, 0.25, 0.75)),
    (2, 6, 2, 0.5, -0.5, "001111", "001111", (0, 0.25, 0.75, 1, 1, 1)),
    (4, 4, 1, 0.5, -0.5, "0123", "0123", (0, 1, 2, 3)),
]


@pytest.mark.parametrize(("n", "m", "scale", "into", "out", "up", "down", "linear"), RAMPS)
def test_resample_vectors(*, n, m, scale, into, out, up, down, linear):
    ramp = np.arange(n, dtype=F)
    for ties, digits in (("up", up), ("down", down)):
        got = resample1(ramp, (m,), 0, [scale], [into], [out], policy=Policy(nearest_ties=ties))
        assert got.tolist() == [int(c) for c in digits]
    got = resample1(ramp, (m,), "LINEAR", [scale], [into], [out])
    # A weight and a sum are rounded once each; 0.6 itself is rounded to float32.
    np.testing.assert_allclose(got, linear, rtol=2**-22, atol=0)
    if (into, out) == (0.5, -0.5):
        tensors = BufferTensorDesc("FLOAT32", (n,)), BufferTensorDesc("FLOAT32", (m,))
        plain = run(ResampleOperatorDesc(*tensors, "LINEAR", 1, [scale]), [ramp])
        assert plain.tobytes() == got.tobytes()
        plain = run(ResampleOperatorDesc(*tensors, "NEAREST_NEIGHBOR", None, [scale]), [ramp])
        assert plain.tolist() == [int(c) for c in up]


def test_scales_are_float32():
    # As float32, 0.3 is a little larger: the position of X = 4 is just below the tie at 14.5.
    ramp = np.arange(40, dtype=F)
    scale = Fraction(float(F(0.3)))
    got = resample1(ramp, (12,), "NEAREST_NEIGHBOR", [0.3], [0.5], [-0.5])
    exact = [min(math.floor((X + Fraction(1, 2)) / scale), 39) for X in range(12)]
    assert got.tolist() == exact
    assert exact[4] == 14
    assert resample1(ramp, (12,), 0, [Fraction(3, 10)], [0.5], [-0.5]).tolist() == exact


def test_the_largest_scale_points_at_one_place():
    largest = float(np.finfo(F).max)
    data = np.array([3, 7, 9], F)
    assert resample1(data, (4,), "LINEAR", [largest], [-1], [0]).tolist() == [7, 7, 7, 7]
    assert resample1(data, (4,), "NEAREST_NEIGHBOR", [largest], [0], [0]).tolist() == [3, 3, 3, 3]


def test_data_types_of_resample():
    for dtype, level in ((np.float16, "2_1"), (F, "2_1"), (np.int8, "6_2"), (np.uint8, "6_2")):
        data = padded(np.arange(6).reshape(2, 3).astype(dtype))
        got = resample1(data, (1, 1, 4, 3), 0, (1, 1, 2, 1), (0.5,) * 4, (-0.5,) * 4, feature_level=level)
        assert got.dtype == dtype
        assert got[0, 0, :, 0].tolist() == [0, 0, 3, 3]
    with pytest.raises(DirectMLError, match=r"got UINT8 \(accepted from 6_2\)"):
        resample1(np.zeros(2, np.uint8), (2,), 0, [1], [0], [0], feature_level="6_1")


# Random layouts.


@st.composite
def gather_elements_cases(draw):
    rank = draw(st.integers(1, 4))
    axis = draw(st.integers(0, rank - 1))
    data = draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    sizes = [draw(st.integers(1, 5 if d == axis else n)) for d, n in enumerate(data)]
    return axis, *[(tuple(s), draw(layouts(s, o))) for s, o in ((data, True), (sizes, True), (sizes, False))]


@settings(max_examples=200)
@given(gather_elements_cases(), INDEX_TYPES, st.integers(0, 2**32 - 1))
def test_gather_elements_on_any_layout(case, index_type, seed):
    axis, data, indices, output = case
    rng = np.random.default_rng(seed)
    data, output = BufferTensorDesc("INT16", *data), BufferTensorDesc("INT16", *output)
    indices = BufferTensorDesc(index_type, *indices)
    flat = rng.integers(-999, 999, extent(data)).astype(np.int16)
    n = data.Sizes[axis]
    low = -n - 2 if index_type.startswith("INT") else 0
    flat_indices = rng.integers(low, n + 2, extent(indices)).astype(index_type.lower())
    memory = rng.integers(-999, 999, extent(output) + 3).astype(np.int16)
    before = memory.copy()
    got = run(GatherElementsOperatorDesc(data, indices, output, axis), [flat, flat_indices], memory)
    expected = {}
    for at in itertools.product(*map(range, output.Sizes)):
        v = normal(int(flat_indices[address(at, indices)]), n)
        expected[at] = flat[address((*at[:axis], v, *at[axis + 1 :]), data)]
    check_output(output, got, expected, memory, before)


@st.composite
def gather_nd_cases(draw):
    batch = draw(st.integers(0, 2))
    length = draw(st.integers(1, 3))
    shared = draw(st.lists(st.integers(1, 3), min_size=batch, max_size=batch))
    data = shared + draw(st.lists(st.integers(1, 3), min_size=length, max_size=length + 2))
    indices = [*shared, *draw(st.lists(st.integers(1, 3), max_size=2)), length]
    body = indices[:-1] + data[batch + length :]
    rank = draw(st.integers(max(len(data), len(indices), len(body), 1), 8))
    full = [[1] * (rank - len(s)) + s for s in (data, indices, body)]
    tensors = [(tuple(s), draw(layouts(s, k < 2))) for k, s in enumerate(full)]
    return batch, len(data), len(indices), *tensors


@settings(max_examples=200)
@given(gather_nd_cases(), INDEX_TYPES, st.integers(0, 2**32 - 1))
def test_gather_nd_on_any_layout(case, index_type, seed):
    batch, data_count, indices_count, data, indices, output = case
    rng = np.random.default_rng(seed)
    data, output = BufferTensorDesc("FLOAT64", *data), BufferTensorDesc("FLOAT64", *output)
    indices = BufferTensorDesc(index_type, *indices)
    flat = rng.random(extent(data))
    low = -5 if index_type.startswith("INT") else 0
    flat_indices = rng.integers(low, 5, extent(indices)).astype(index_type.lower())
    memory = rng.random(extent(output) + 1)
    before = memory.copy()
    desc = GatherND1OperatorDesc(data, indices, output, data_count, indices_count, batch)
    got = run(desc, [flat, flat_indices], memory)
    rank, length = len(data.Sizes), indices.Sizes[-1]
    first, first_index = rank - data_count, rank - indices_count
    real = data.Sizes[first:]
    tail = data_count - batch - length
    expected = {}
    for at in itertools.product(*map(range, output.Sizes)):
        body = at[rank - (indices_count - 1 + tail) :]
        j, rest = body[: indices_count - 1], body[indices_count - 1 :]
        t = []
        for r in range(length):
            v = int(flat_indices[address((*(0,) * first_index, *j, r), indices)])
            t.append(normal(v, real[batch + r]))
        expected[at] = flat[address((*(0,) * first, *j[:batch], *t, *rest), data)]
    check_output(output, got, expected, memory, before)
    if batch == 0:
        plain = GatherNDOperatorDesc(data, indices, output, data_count, indices_count)
        assert run(plain, [flat, flat_indices]).tolist() == got.tolist()


@settings(max_examples=200)
@given(
    case=resample_cases(),
    data_type=st.sampled_from(["INT8", "UINT8"]),
    mode=st.sampled_from(["LINEAR", "NEAREST_NEIGHBOR"]),
    rounding=st.sampled_from(sorted(ROUND)),
    ties=st.sampled_from(["up", "down"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_resample_on_any_layout(*, case, data_type, mode, rounding, ties, seed):
    data, output, *floats = case
    data, output = BufferTensorDesc(data_type, *data), BufferTensorDesc(data_type, *output)
    rng = np.random.default_rng(seed)
    info = np.iinfo(data_type.lower())
    flat, memory = (
        rng.integers(info.min, info.max + 1, size).astype(info.dtype)
        for size in (extent(data), extent(output) + 5)
    )
    before = memory.copy()
    policy = Policy(nearest_ties=ties, int_linear_rounding=rounding)
    got = run(Resample1OperatorDesc(data, output, mode, None, *floats), [flat], memory, policy=policy)

    def taps(X, n, scale, into, out):
        scale, into, out = (Fraction(float(F(v))) for v in (scale, into, out))
        x = (X - out) / scale - into
        half = Fraction(1, 2)
        if mode == "NEAREST_NEIGHBOR":
            low, weight = (math.floor(x + half) if ties == "up" else math.ceil(x - half)), Fraction(0)
        else:
            low = math.floor(x)
            weight = x - low
        clamp = [min(max(k, 0), n - 1) for k in (low, low + 1)]
        return [(clamp[0], 1 - weight), (clamp[1], weight)]

    expected = {}
    for at in itertools.product(*map(range, output.Sizes)):
        value = Fraction(0)
        for combination in itertools.product(*map(taps, at, data.Sizes, *floats)):
            weight = math.prod((w for _, w in combination), start=Fraction(1))
            value += weight * int(flat[address([k for k, _ in combination], data)])
        expected[at] = ROUND[rounding](value)
    check_output(output, got, expected, memory, before)


# Buffers.


def doubled(**fields):
    desc = BufferTensorDesc("UINT8", (3,))
    return ResampleOperatorDesc(desc, BufferTensorDesc("UINT8", (6,), **fields), 0, 1, [2])


@pytest.mark.parametrize(
    "data", [b"abc", bytearray(b"abc"), memoryview(b"abc"), np.frombuffer(b"abc", np.uint8)], ids=type
)
def test_inputs_of_any_kind(data):
    for inputs in ([data], (data,), {"InputTensor": data}):
        assert run(doubled(), inputs).tobytes() == b"aabbcc"


def test_outputs_of_any_kind():
    for output in (bytearray(8), memoryview(bytearray(8)), np.zeros(8, np.uint8)):
        view = run(doubled(), [b"abc"], output)
        assert bytes(output) == b"aabbcc\0\0"
        view[0] = ord("z")
        assert bytes(output)[:1] == b"z"


def test_a_new_output_has_zeros_between_its_elements():
    view = run(doubled(Strides=(3,), TotalTensorSizeInBytes=20), [b"abc"])
    assert view.strides == (3,)
    assert view.base.nbytes == 20
    assert bytes(view.base) == b"a\0\0a\0\0b\0\0b\0\0c\0\0c\0\0\0\0"


def test_an_output_array_with_strides_of_its_own():
    wide = np.zeros((3, 6), np.uint8)
    run(doubled(), [b"abc"], wide[1])
    assert wide.tobytes() == bytes(6) + b"aabbcc" + bytes(6)
    every_other = np.zeros(12, np.uint8)
    run(doubled(), [b"abc"], every_other[::2])
    assert every_other.tobytes() == b"a\0a\0b\0b\0c\0c\0"


def test_unaligned_memory():
    memory = bytearray(4 * 4 + 1)
    data = b"\0" + np.array([1, 2], F).tobytes()
    tensors = BufferTensorDesc("FLOAT32", (2,)), BufferTensorDesc("FLOAT32", (4,))
    run(ResampleOperatorDesc(*tensors, "LINEAR", 1, [2]), [memoryview(data)[1:]], memoryview(memory)[1:])
    assert np.frombuffer(memory, F, offset=1).tolist() == [1, 1.25, 1.75, 2]


GATHER = GatherElementsOperatorDesc(
    BufferTensorDesc("FLOAT32", (3,)), BufferTensorDesc("INT64", (3,)), BufferTensorDesc("FLOAT32", (3,)), 0
)
DATA, INDICES = np.zeros(3, F), np.zeros(3, np.int64)


@pytest.mark.parametrize(
    ("inputs", "output", "error", "text"),
    [
        (
            [DATA],
            None,
            ValueError,
            r"`inputs` must have 2 elements \['InputTensor', 'IndicesTensor'\], got 1",
        ),
        ({"InputTensor": DATA}, None, ValueError, r"`inputs` must have the keys .*, got \['InputTensor'\]"),
        (
            DATA,
            None,
            TypeError,
            r"`inputs` must be a list of buffers, or a mapping of .* to them, got ndarray",
        ),
        (
            b"ab",
            None,
            TypeError,
            r"`inputs` must be a list of buffers, or a mapping of .* to them, got bytes",
        ),
        (
            [DATA, DATA],
            None,
            TypeError,
            r"`IndicesTensor` must be an array of int64 or of bytes .*, got float32",
        ),
        ([DATA, bytes(23)], None, ValueError, r"`IndicesTensor` must be at least 24 bytes long, got 23"),
        ([DATA, 5], None, TypeError, r"`IndicesTensor` must be an array or a bytes-like object, got int"),
        ([DATA, INDICES], bytes(12), ValueError, r"`OutputTensor` must be writable, got a read-only bytes"),
        ([DATA, INDICES], DATA, ValueError, r"`OutputTensor` must share no memory with `InputTensor`"),
        (
            [DATA, INDICES],
            INDICES.view(np.uint8),
            ValueError,
            r"`OutputTensor` must share no memory with `IndicesTensor`",
        ),
    ],
)
def test_buffer_errors(inputs, output, error, text):
    with pytest.raises(error, match=rf"^GATHER_ELEMENTS: {text}"):
        run(GATHER, inputs, output)


def test_an_invalid_descriptor_lists_everything_and_writes_nothing():
    desc = GatherElementsOperatorDesc(
        GATHER.InputTensor, GATHER.IndicesTensor, BufferTensorDesc("INT8", (4,)), 1
    )
    memory = np.full(4, 7, np.int8)
    with pytest.raises(DirectMLError) as caught:
        run(desc, [DATA, INDICES], memory)
    assert str(caught.value).split("\n") == [
        "GATHER_ELEMENTS: `OutputTensor.DataType` must equal InputTensor.DataType = FLOAT32, got INT8",
        "GATHER_ELEMENTS: `Axis` must lie in [0, 1), got 1",
        "GATHER_ELEMENTS: `OutputTensor.Sizes` must equal IndicesTensor.Sizes = (3,), got (4,)",
    ]
    assert memory.tolist() == [7] * 4


def test_a_compiled_operator_is_read_once_and_runs_often():
    scales, sizes = [2.0], [4]
    tensors = BufferTensorDesc("FLOAT32", [2]), BufferTensorDesc("FLOAT32", sizes)
    operator = CompiledOperator(ResampleOperatorDesc(*tensors, "LINEAR", 1, scales), feature_level="5_1")
    assert repr(operator) == "<CompiledOperator RESAMPLE>"
    scales[0], sizes[0] = -1.0, 0

    def task(k):
        out = np.zeros(4, F)
        operator([np.array([0, k], F)], out)
        return out.tolist()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(task, range(40))) == [[0, 0.25 * k, 0.75 * k, k] for k in range(40)]
    with pytest.raises(DirectMLError, match=r"`Scales\[0\]` must be above 0"):
        CompiledOperator(ResampleOperatorDesc(*tensors, "LINEAR", 1, scales))


def test_feature_level_of_run():
    with pytest.raises(
        DirectMLError, match=r"`InputTensor.DimensionCount` must be 4 at feature level 2_1, got 1"
    ):
        run(GATHER, [DATA, INDICES], feature_level="2_1")


def test_gather_moves_bits():
    bits = np.array([0x7F800001, 0xFFC12345, 0x80000000], np.uint32)
    got = run(GATHER, [bits.view(np.uint8), np.arange(3)])
    assert got.view(np.uint32).tolist() == bits.tolist()


def test_what_is_no_descriptor():
    with pytest.raises(TypeError, match=r"^run: `desc` must be an operator descriptor, got str 'GATHER'$"):
        run("GATHER", {})
