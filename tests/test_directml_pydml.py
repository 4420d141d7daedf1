"""PyDirectML's names: scripts in its style, data of any type, and what is refused."""

import numpy as np
import pytest

from remapnd.directml import DirectMLError
from remapnd.directml import pydml as dml

F32, U32 = dml.TensorDataType.FLOAT32, dml.TensorDataType.UINT32


def graph(*descs):
    """Make a device, a builder and inputs with these descriptions."""
    device = dml.Device()
    builder = dml.GraphBuilder(device)
    return device, builder, [dml.input_tensor(builder, k, desc) for k, desc in enumerate(descs)]


def computed(device, builder, inputs, data, *outputs):
    model = builder.build(dml.ExecutionFlags.NONE, list(outputs))
    bindings = [dml.Binding(expr, values) for expr, values in zip(inputs, data, strict=True)]
    return device.compute(model, bindings, list(outputs))


def test_a_script_in_the_style_of_the_samples():
    device = dml.Device(True, False)
    builder = dml.GraphBuilder(device)
    flags = dml.TensorFlags.OWNED_BY_DML
    input = dml.input_tensor(builder, 0, dml.TensorDesc(F32, [1, 1, 2, 2]))
    input_bindings = [dml.Binding(input, np.array([[1, 2], [3, 4]], np.float32))]
    rows = dml.input_tensor(builder, 1, dml.TensorDesc(U32, flags, [1, 1, 1, 2]))
    # Integers in the disguise that PyDirectML needs.
    input_bindings.append(dml.Binding(rows, np.array([1, 0], np.uint32).view(np.float32)))
    upsample = dml.up_sample_2d(input, dml.Size2D(2, 2), dml.InterpolationMode.LINEAR)
    swapped = dml.gather(upsample, rows, axis=3, index_dimensions=1)
    op = builder.build(dml.ExecutionFlags.NONE, [swapped])
    output_data = device.compute(op, input_bindings, [swapped])
    output_tensor = np.array(output_data[0], np.float32)
    assert output_tensor.shape == (1, 1, 4, 2)
    assert output_tensor[0, 0].tolist() == [[1.25, 1], [1.75, 1.5], [2.75, 2.5], [3.25, 3]]
    assert swapped.get_output_desc().sizes == [1, 1, 4, 2]
    assert repr(device) == "dml.Device on CPU"


def test_data_travel_in_their_own_type():
    large = 2**24 + 1  # no float32
    for dtype, index_dtype in ((np.int32, np.int64), (np.uint8, np.int32), (np.float64, np.uint64)):
        kinds = (dml.TensorDataType.from_dtype(d) for d in (dtype, index_dtype))
        device, builder, (data, indices) = graph(*(dml.TensorDesc(kind, [3]) for kind in kinds))
        values = np.array([7, 8, large % np.iinfo(dtype).max if dtype == np.uint8 else large]).astype(dtype)
        picked = dml.gather_elements(data, indices, 0)
        (got,) = computed(device, builder, [data, indices], [values, [2, 0, 1]], picked)
        assert got.dtype == dtype
        assert got.tolist() == values[[2, 0, 1]].tolist()
        assert memoryview(got).nbytes == 3 * dtype().itemsize


def test_every_function():
    device, builder, (data, indices, updates) = graph(
        dml.TensorDesc(F32, [2, 3]),
        dml.TensorDesc(dml.TensorDataType.INT64, [2, 1]),
        dml.TensorDesc(F32, [2, 3]),
    )
    table, tuples, new = [[0, 1, 2], [3, 4, 5]], [[1], [-2]], [[10, 11, 12], [20, 21, 22]]
    whole = dml.scatter_nd(data, indices, updates, 2, 2)
    slices = dml.gather_nd(data, indices, 2, 2)
    batched = dml.gather_nd(data, indices, 2, 2, 1)
    got = computed(device, builder, [data, indices, updates], [table, tuples, new], whole, slices, batched)
    assert [g.tolist() for g in got] == [[[20, 21, 22], [10, 11, 12]], [[3, 4, 5], [0, 1, 2]], [[1, 4]]]

    device, builder, (data, indices, updates) = graph(
        dml.TensorDesc(F32, [4]), dml.TensorDesc(U32, [2]), dml.TensorDesc(F32, [2])
    )
    written = dml.scatter_elements(data, indices, updates, 0)
    centred = {"rounding_direction": dml.AxisDirection.DECREASING, "input_pixel_offsets": [1]}
    outputs = [
        written,
        dml.resample(written, [2], dml.InterpolationMode.NEAREST_NEIGHBOR),
        dml.resample(written, [2], dml.InterpolationMode.NEAREST_NEIGHBOR, **centred),
        dml.resample(written, [2], dml.InterpolationMode.LINEAR, scales=[1]),
        dml.resample(written, [1], dml.InterpolationMode.LINEAR, antialiased=True),
        dml.resample_grad(updates, [4], dml.InterpolationMode.LINEAR),
    ]
    got = computed(device, builder, [data, indices, updates], [[1, 2, 3, 4], [3, 1], [9, 8]], *outputs)
    assert [g.tolist() for g in got[:4]] == [[1, 8, 3, 9], [8, 9], [1, 3], [1, 8]]
    # Weights of a triangle of half-width 4 at 1.5: 5/16, 7/16, 7/16, 5/16 over their sum.
    np.testing.assert_allclose(got[4], [(5 * 1 + 7 * 8 + 7 * 3 + 5 * 9) / 24], rtol=1e-6)
    assert got[5].tolist() == [4.5, 4.5, 4, 4]


def test_forms_of_a_tensor_description():
    flags, policy = dml.TensorFlags.OWNED_BY_DML, dml.TensorPolicy.interleaved_channel
    for desc, sizes, strides, found in (
        (dml.TensorDesc(F32, [2, 3]), [2, 3], None, 0),
        (dml.TensorDesc(F32, flags, [2, 3]), [2, 3], None, 1),
        (dml.TensorDesc(data_type=F32, flags=flags, sizes=[2, 3]), [2, 3], None, 1),
        (dml.TensorDesc(F32, [2, 3], [1, 2]), [2, 3], [1, 2], 0),
        (dml.TensorDesc(F32, [2, 3], strides=None), [2, 3], None, 0),
        (dml.TensorDesc(F32, flags, [2, 3], [4, 1], 64, 16), [2, 3], [4, 1], 1),
        (dml.TensorDesc(F32, [2, 3, 4, 5], policy), [2, 3, 4, 5], [60, 1, 15, 3], 0),
        (dml.TensorDesc(F32, flags, [2, 3, 4, 5], policy), [2, 3, 4, 5], [60, 1, 15, 3], 1),
        (dml.TensorDesc(F32, [2, 3], tensor_policy=policy), [2, 3], None, 0),
        (dml.TensorDesc(F32, [2, 3], dml.TensorPolicy.default), [2, 3], None, 0),
    ):
        assert (desc.data_type, desc.sizes, desc.strides, desc.flags) == (F32, sizes, strides, found)
    full = dml.TensorDesc(F32, flags, [2, 3], [4, 1], 64, 16)
    assert (full.total_tensor_size_in_bytes, full.guaranteed_base_offset_alignment) == (64, 16)
    assert dml.TensorDesc(dml.TensorDataType.UINT8, [3]).total_tensor_size_in_bytes == 4
    assert repr(full) == "dml.TensorDesc of type FLOAT32 and shape [2,3] with flags OWNED_BY_DML"
    assert repr(policy) == "dml.TensorPolicy.interleaved_channel"
    for arguments, named in (
        ((F32,), {}),
        ((F32, flags), {}),
        ((F32, [1], [1], 4, 0, 0), {}),
        ((F32, [1]), {"x": 1}),
    ):
        with pytest.raises(TypeError, match=r"TensorDesc: the arguments must be of one of the forms"):
            dml.TensorDesc(*arguments, **named)


def test_tensors_with_strides():
    device, builder, (data, indices) = graph(
        dml.TensorDesc(F32, [2, 2], [1, 3]), dml.TensorDesc(U32, [2, 2], [0, 1])
    )
    picked = dml.gather_elements(data, indices, 1)
    (got,) = computed(device, builder, [data, indices], [[1, 2, 0, 3, 4], [1, 0]], picked)
    assert got.tolist() == [[3, 1], [4, 2]]
    with pytest.raises(
        ValueError, match=r"`data` must be memory of at least 20 bytes for the sizes and strides"
    ):
        dml.Binding(data, [1, 2, 0, 3])


def test_members_of_enumerations_at_the_top():
    assert dml.FLOAT32 is dml.TensorDataType.FLOAT32
    assert dml.LINEAR is dml.InterpolationMode.LINEAR
    assert dml.OWNED_BY_DML is dml.TensorFlags.OWNED_BY_DML
    assert dml.NONE is dml.ExecutionFlags.NONE
    assert dml.RESAMPLE is dml.OperatorType.RESAMPLE
    with pytest.raises(AttributeError, match=r"has no attribute 'convolution': it is not in this runtime"):
        _ = dml.convolution


@pytest.mark.parametrize(
    ("kind", "data", "error", "text"),
    [
        (F32, [1, 2], ValueError, r"must have 3 elements for the sizes \(3,\), got 2"),
        (F32, ["a"], TypeError, r"must be of numbers, got <U1"),
        (U32, [1, 2, -1], ValueError, r"must hold integers of uint32, or float32 with their bits, got other"),
        (U32, np.array([1, 2, 2**32]), ValueError, r"must hold integers of uint32"),
        (
            U32,
            [0.5, 1, 2],
            ValueError,
            r"must hold integers of uint32, or float32 with their bits, got other",
        ),
        (dml.TensorDataType.INT64, np.zeros(3, np.float32), ValueError, r"must have a multiple of 8 bytes"),
        (dml.TensorDataType.INT64, np.zeros(4, np.float32), ValueError, r"must have 3 elements .*, got 2"),
        (F32, np.ma.zeros(3), TypeError, r"must not be a masked array, .* \(give `\.filled\(value\)`, or"),
    ],
)
def test_data_that_are_refused(kind, data, error, text):
    _, _, (expr,) = graph(dml.TensorDesc(kind, [3]))
    with pytest.raises(error, match=rf"^Binding: `data` {text}"):
        dml.Binding(expr, data)


def test_int64_indices_as_pairs_of_floats():
    device, builder, (data, indices) = graph(
        dml.TensorDesc(F32, [2]), dml.TensorDesc(dml.TensorDataType.INT64, [2])
    )
    picked = dml.gather_elements(data, indices, 0)
    pairs = np.array([-1, 0], np.int64).view(np.float32)
    assert computed(device, builder, [data, indices], [[5, 6], pairs], picked)[0].tolist() == [6, 5]


def test_bindings_and_outputs_that_do_not_fit():
    device, builder, (data, indices) = graph(dml.TensorDesc(F32, [2]), dml.TensorDesc(U32, [2]))
    picked = dml.gather_elements(data, indices, 0)
    model = builder.build(dml.ExecutionFlags.NONE, [picked])
    bindings = [dml.Binding(data, [1, 2]), dml.Binding(indices, [1, 0])]
    with pytest.raises(
        ValueError, match=r"`inputs` must have a binding of input 1 at that position, got none"
    ):
        device.compute(model, bindings[:1], [picked])
    with pytest.raises(
        ValueError, match=r"must have a binding of input 0 at that position, got a binding of in"
    ):
        device.compute(model, bindings[::-1], [picked])
    with pytest.raises(
        ValueError, match=r"`outputs` must be an expression that the model was built for, at po"
    ):
        device.compute(model, bindings, [picked, data])
    assert device.compute(model, [*bindings, None], [picked, picked])[1].tolist() == [2, 1]


def test_what_is_not_in_this_runtime():
    _, builder, (data, indices) = graph(dml.TensorDesc(F32, [2, 2]), dml.TensorDesc(U32, [2, 2]))
    for act in (lambda: data + data, lambda: 2 * data, lambda: -data, lambda: data / 2):
        with pytest.raises(NotImplementedError, match=r"arithmetic of expressions must be done on arrays"):
            act()
    with pytest.raises(DirectMLError, match=r"GATHER: `Axis` must lie in \[0, 2\), got 2"):
        builder.build(dml.ExecutionFlags.NONE, [dml.gather(data, indices, 2, 1)])
    with pytest.raises(
        DirectMLError, match=r"GATHER: `OutputTensor.DimensionCount` must be at least 3 to hold"
    ):
        builder.build(dml.ExecutionFlags.NONE, [dml.gather(data, indices, 1, 2)])


def test_deep_graphs():
    device, builder, (data,) = graph(dml.TensorDesc(F32, [1, 1, 1, 2]))
    expression = data
    for _ in range(1200):
        expression = dml.up_sample_2d(expression, dml.Size2D(1, 1), dml.InterpolationMode.NEAREST_NEIGHBOR)
    (got,) = computed(device, builder, [data], [[3, 4]], expression)
    assert got.tolist() == [[[[3, 4]]]]
