"""Buffer tensor descriptions: sizes in bytes, self-overlap, and buffers viewed as tensors."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remapnd.directml import BufferTensorDesc, TensorDataType, TensorLayout, calc_buffer_tensor_size
from remapnd.directml.overlap import overlaps_itself
from remapnd.directml.tensor import packed_strides

sizes_and_strides = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 12)), min_size=1, max_size=5).map(
    lambda pairs: tuple(zip(*pairs, strict=True))
)


def buffer_view(buffer, desc, **kwargs):
    return TensorLayout.of(desc).view("x", buffer, **kwargs)


def addresses(sizes, strides):
    return [
        sum(c * s for c, s in zip(at, strides, strict=True)) for at in itertools.product(*map(range, sizes))
    ]


@pytest.mark.parametrize(
    ("data_type", "sizes", "strides", "size"),
    [
        ("FLOAT16", (1, 1, 1, 5), None, 12),
        ("UINT8", (3,), None, 4),
        ("FLOAT32", (1, 2, 3, 4), None, 96),
        ("FLOAT32", (2, 3), (0, 1), 12),
        ("FLOAT32", (2, 3), (8, 2), 52),
        ("FLOAT16", (4, 4), (0, 0), 4),
        ("INT64", (1,), None, 8),
        ("UINT4", (3,), None, 4),
        ("UINT4", (9,), None, 8),
        ("UNKNOWN", (9,), None, 0),
        ("UINT8", (2, 1), (2**32 - 1, 1), 2**32),
    ],
)
def test_calc_buffer_tensor_size(data_type, sizes, strides, size):
    assert calc_buffer_tensor_size(data_type, sizes, strides) == size


def test_calc_buffer_tensor_size_errors():
    with pytest.raises(ValueError, match=r"`strides` must have as many elements as `sizes` = 2, got 1"):
        calc_buffer_tensor_size("INT8", (2, 3), (1,))
    with pytest.raises(ValueError, match=r"TensorDataType: `value` must be one of .*, got 'FLOAT8'"):
        calc_buffer_tensor_size("FLOAT8", (2, 3))


@given(sizes_and_strides)
def test_calc_buffer_tensor_size_reaches_the_last_element(case):
    sizes, strides = case
    needed = (max(addresses(sizes, strides)) + 1) * 2
    assert needed <= calc_buffer_tensor_size("FLOAT16", sizes, strides) < needed + 4


@given(sizes_and_strides)
def test_overlap_equals_enumeration(case):
    sizes, strides = case
    places = addresses(sizes, strides)
    assert overlaps_itself(sizes, strides) == (len(set(places)) < len(places))


@pytest.mark.parametrize(
    ("sizes", "strides", "overlaps"),
    [
        ((2**16, 2**16), (2**16, 1), False),
        ((2**16, 2**16), (2**16 - 1, 1), True),
        ((1000, 1000, 1000), (1, 1000, 1000000), False),  # permuted
        ((1000, 1000, 1000), (1, 1000, 999999), True),
        ((30000, 30000), (30001, 30000), False),  # coprime strides that no nesting explains
        ((30002, 30002), (30001, 30000), True),
        ((1, 5, 1), (7, 1, 0), False),
        ((1, 1), (0, 0), False),
        ((2, 2**31), (2**31, 1), False),
        # Equal reach from every axis: exact needs more steps than allowed, so it is taken for overlapping.
        ((40,) * 8, (999983, 999979, 999961, 999959, 999953, 999931, 999917, 999907), True),
    ],
)
def test_overlap_of_large_tensors(sizes, strides, overlaps):
    assert overlaps_itself(sizes, strides) is overlaps


@given(sizes_and_strides, st.sampled_from(["UINT8", "FLOAT16", "FLOAT32", "FLOAT64"]))
def test_view_reads_the_stated_addresses(case, data_type):
    sizes, strides = case
    dtype = TensorDataType.parse(data_type).dtype
    places = addresses(sizes, strides)
    memory = np.arange(max(places) + 1).astype(dtype)
    desc = BufferTensorDesc(data_type, sizes, strides)
    for buffer in (memory, memory.tobytes(), bytearray(memory), memory.view(np.uint8)):
        view = buffer_view(buffer, desc)
        assert view.shape == sizes
        assert view.dtype == dtype
        assert view.ravel().tolist() == memory[places].tolist()


@given(sizes_and_strides)
def test_view_never_leaves_the_buffer(case):
    sizes, strides = case
    memory = np.zeros(max(addresses(sizes, strides)) * 4 + 3, np.uint8)
    with pytest.raises(
        ValueError, match=rf"x must be at least {memory.size + 1} bytes long, got {memory.size}$"
    ):
        buffer_view(memory, BufferTensorDesc("FLOAT32", sizes, strides))


def test_view_of_an_array_is_the_array():
    array = np.zeros((4, 6), np.float32)[::2, ::-1]
    view = buffer_view(array, BufferTensorDesc("FLOAT32", (1, 1, 2, 6)), writable=True)
    view[0, 0, 1, 0] = 5
    assert array[1, 0] == 5
    one = np.zeros((1, 1), np.float32)
    buffer_view(one, BufferTensorDesc("FLOAT32", (1, 1, 1), Strides=(7, 7, 7)), writable=True)[0, 0, 0] = 3
    assert one[0, 0] == 3


def test_view_of_a_zero_dimensional_array():
    assert buffer_view(np.array(7, np.int8), BufferTensorDesc("INT8", (1, 1))).tolist() == [[7]]


def test_total_size_is_asked_of_a_buffer_when_given():
    memory = np.zeros(3, np.uint8)
    assert buffer_view(bytes(3), BufferTensorDesc("UINT8", (3,))).size == 3
    assert buffer_view(memory, BufferTensorDesc("UINT8", (3,), TotalTensorSizeInBytes=8)).size == 3
    with pytest.raises(ValueError, match="x must be at least 8 bytes long, got 3"):
        buffer_view(bytes(3), BufferTensorDesc("UINT8", (3,), TotalTensorSizeInBytes=8))


PACKED = BufferTensorDesc("FLOAT32", (2, 3))
PADDED = BufferTensorDesc("FLOAT32", (2, 3), (4, 1))


@pytest.mark.parametrize(
    ("buffer", "desc", "error", "text"),
    [
        (
            np.zeros((2, 3)),
            PACKED,
            TypeError,
            r"x must be an array of float32 or of bytes \(uint8\), got float64",
        ),
        (
            np.zeros((3, 2), np.float32),
            PACKED,
            ValueError,
            r"one dimension or the shape \(2, 3\) .*, got \(3, 2\)",
        ),
        (
            np.zeros(14, np.float32)[::2],
            PADDED,
            ValueError,
            r"x must be C-contiguous .*, got strides \(8,\) bytes",
        ),
        (
            memoryview(bytes(99))[::2],
            PACKED,
            ValueError,
            r"x must be C-contiguous .*, got strides \(2,\) bytes",
        ),
        (bytes(24), PACKED, ValueError, r"x must be writable, got a read-only bytes"),
        (
            np.broadcast_to(np.float32(0), (2, 3)),
            PACKED,
            ValueError,
            r"x must be writable, got a read-only array",
        ),
        ([1.0], PACKED, TypeError, r"x must be an array or a bytes-like object, got list"),
        (bytearray(27), PADDED, ValueError, r"x must be at least 28 bytes long, got 27"),
        (
            bytearray(9),
            BufferTensorDesc("FLOAT32", (0,)),
            ValueError,
            r"TensorLayout: `desc` must be valid, but `Sizes\[0\]` must be an integer",
        ),
        (
            bytearray(9),
            BufferTensorDesc("INT8", (1,) * 9),
            ValueError,
            r"`desc` must be valid, but has more than 8 dimensions",
        ),
        (bytearray(9), BufferTensorDesc("INT4", (1,)), ValueError, r"`dtype` must be taken of .*, got INT4"),
    ],
)
def test_view_errors(buffer, desc, error, text):
    with pytest.raises(error, match=text):
        buffer_view(buffer, desc, writable=True)


def test_description_of_an_array():
    array = np.zeros((3, 4), np.uint16)
    assert BufferTensorDesc.of(array) == BufferTensorDesc(TensorDataType.UINT16, (3, 4))
    assert BufferTensorDesc.of(array, 4).Sizes == (1, 1, 3, 4)
    assert BufferTensorDesc.of(np.zeros(())).Sizes == (1,)
    with pytest.raises(ValueError, match=r"BufferTensorDesc.of: `dimension_count` must be at least 2, got 1"):
        BufferTensorDesc.of(array, 1)
    with pytest.raises(TypeError, match=r"got bool"):
        BufferTensorDesc.of(np.zeros(3, bool))


def test_packed_strides():
    assert packed_strides((2, 3, 4)) == (12, 4, 1)


def test_numbers_of_numpy_become_those_of_python():
    desc = BufferTensorDesc(
        "INT8",
        (1, 1),
        TotalTensorSizeInBytes=np.uint64(2**64 - 1),
        GuaranteedBaseOffsetAlignment=np.uint32(64),
    )
    layout = TensorLayout.of(desc)
    assert (layout.least_bytes, layout.total_bytes, layout.alignment) == (2**64 - 1, 2**64 - 1, 64)
    assert {type(layout.least_bytes), type(layout.total_bytes), type(layout.alignment)} == {int}
