"""Random valid descriptors of the operators of libremapnd, with memory for their tensors."""

import runpy

import numpy as np
from c_library import ROOT
from directml_cases import INDEX_TYPES, extent, layouts
from hypothesis import strategies as st

from remapnd.directml import (
    BufferTensorDesc,
    GatherElementsOperatorDesc,
    GatherND1OperatorDesc,
    GatherNDOperatorDesc,
    GatherOperatorDesc,
    Resample1OperatorDesc,
    Resample2OperatorDesc,
    Resample3OperatorDesc,
    ResampleGrad1OperatorDesc,
    ResampleGradOperatorDesc,
    ResampleOperatorDesc,
    ScatterNDOperatorDesc,
    ScatterOperatorDesc,
    Size2D,
    TensorDataType,
    Upsample2DOperatorDesc,
    calc_buffer_tensor_size,
)
from remapnd.directml.operators import FieldKind

GENERATED = runpy.run_path(str(ROOT / "csrc/directml/generate.py"))
"""The names of the script that writes files for C++."""
OPERATORS = GENERATED["OPERATORS"]

SEEDS = st.integers(0, 2**32 - 1)
DATA_TYPES = st.sampled_from(["FLOAT32", "FLOAT16", "FLOAT64", "INT64", "UINT8", "INT16", "UINT32"])
SMALL = st.integers(1, 4)


@st.composite
def tensors(draw, data_type, sizes, output=False):
    """Draw how a tensor lies in memory."""
    strides = draw(layouts(tuple(sizes), not output))
    least = calc_buffer_tensor_size(data_type, sizes, strides)
    total = draw(st.sampled_from([None, least, least + 100]))
    return BufferTensorDesc(data_type, tuple(sizes), strides, TotalTensorSizeInBytes=total)


@st.composite
def gathers_and_scatters(draw):
    """Draw a descriptor."""
    kind = draw(
        st.sampled_from(["gather", "gather_elements", "gather_nd", "gather_nd1", "scatter", "scatter_nd"])
    )
    data_type, index_type = draw(DATA_TYPES), draw(INDEX_TYPES)
    rank = draw(st.integers(1, 4))
    data = draw(st.lists(SMALL, min_size=rank, max_size=rank))
    axis = draw(st.integers(0, rank - 1))
    if kind in ("gather_elements", "scatter"):
        indices = [draw(st.integers(1, n)) for n in data]
        indices[axis] = draw(SMALL)
        described = [draw(tensors(data_type, data)), draw(tensors(index_type, indices))]
        if kind == "gather_elements":
            return GatherElementsOperatorDesc(*described, draw(tensors(data_type, indices, True)), axis)
        described.append(draw(tensors(data_type, indices)))
        return ScatterOperatorDesc(*described, draw(tensors(data_type, data, True)), axis)
    if kind == "gather":
        count = draw(st.integers(0, rank))
        data[: max(count - 1, 0)] = [1] * max(count - 1, 0)  # leading ones make room for the indices
        axis = draw(st.integers(max(count - 1, 0), rank - 1))
        real = draw(st.lists(SMALL, min_size=count, max_size=count))
        body = data[:axis] + real + data[axis + 1 :]
        while len(body) > rank:
            assert body[0] == 1
            body = body[1:]
        return GatherOperatorDesc(
            draw(tensors(data_type, data)),
            draw(tensors(index_type, [1] * (rank - count) + real)),
            draw(tensors(data_type, [1] * (rank - len(body)) + body, True)),
            axis,
            count,
        )
    index_rank = draw(st.integers(1, 3))
    batch = draw(st.integers(0, min(rank, index_rank) - 1)) if kind == "gather_nd1" else 0
    length = draw(st.integers(1, rank - batch))
    indices = (
        data[:batch]
        + draw(st.lists(SMALL, min_size=index_rank - 1 - batch, max_size=index_rank - 1 - batch))
        + [length]
    )
    items = indices[:-1] + data[batch + length :]
    dimensions = draw(st.integers(max(rank, index_rank, len(items)), 8))

    def padded(sizes):
        return [1] * (dimensions - len(sizes)) + list(sizes)

    source, index = draw(tensors(data_type, padded(data))), draw(tensors(index_type, padded(indices)))
    if kind == "scatter_nd":
        updates, output = (
            draw(tensors(data_type, padded(items))),
            draw(tensors(data_type, padded(data), True)),
        )
        return ScatterNDOperatorDesc(source, index, updates, output, rank, index_rank)
    output = draw(tensors(data_type, padded(items), True))
    if kind == "gather_nd":
        return GatherNDOperatorDesc(source, index, output, rank, index_rank)
    return GatherND1OperatorDesc(source, index, output, rank, index_rank, batch)


def floats(positive):
    """Draw float32 numbers, common ones and any others; `positive` are above 0."""
    common = [0.5, 1, 2, 3, 0.25, 1.5, 4 / 3, 0.1, 1 / 3] + ([] if positive else [0, -0.5, -1.25])
    least = float(np.finfo(np.float32).smallest_subnormal)
    any_float = st.floats(least, None, width=32, allow_infinity=False) if positive else FINITE
    close = st.floats(0.125, 8, width=32) if positive else st.floats(-3, 3, width=32)
    return st.one_of(st.sampled_from(common), close, any_float)


FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)


DIRECTED = Resample2OperatorDesc, Resample3OperatorDesc, ResampleGrad1OperatorDesc
GRADIENTS = ResampleGradOperatorDesc, ResampleGrad1OperatorDesc
MODES = st.sampled_from(["LINEAR", "NEAREST_NEIGHBOR"])


@st.composite
def resamples(draw):
    """Draw a descriptor of a resampling or of its gradient."""
    rank = draw(st.integers(1, 4))
    kinds = [ResampleOperatorDesc, Resample1OperatorDesc, *DIRECTED, *GRADIENTS]
    kind = draw(st.sampled_from(kinds))
    types = ["FLOAT32", "FLOAT16"] + ([] if kind in GRADIENTS else ["UINT8", "INT8"])
    data_type = draw(st.sampled_from(types))
    length = st.sampled_from([1, 2, 3, 4, 7] if rank > 2 else [1, 2, 3, 5, 17])
    if rank == 1:
        length = st.one_of(length, st.integers(1, 200))
    data, output = (draw(st.lists(length, min_size=rank, max_size=rank)) for _ in range(2))
    described = draw(tensors(data_type, data)), draw(tensors(data_type, output, True))
    mode = draw(MODES)
    scales = draw(st.lists(floats(True), min_size=rank, max_size=rank))
    if kind is ResampleOperatorDesc:
        return kind(*described, mode, rank, scales)
    offsets = [draw(st.lists(floats(False), min_size=rank, max_size=rank)) for _ in range(2)]
    direction = [draw(st.sampled_from(["INCREASING", "DECREASING"]))] if kind in DIRECTED else []
    antialiased = [draw(st.booleans())] if kind is Resample3OperatorDesc else []
    return kind(*described, mode, *direction, rank, scales, *offsets, *antialiased)


@st.composite
def reductions(draw):
    """Draw a descriptor of a RESAMPLE3 that shrinks, or of a gradient of such."""
    rank = draw(st.integers(1, 3))
    data = draw(st.lists(st.integers(1, (300, 60, 20)[rank - 1]), min_size=rank, max_size=rank))
    ratios = st.one_of(st.sampled_from([1 / 3, 0.25, 0.1, 0.375, 0.45, 1]), st.floats(0.05, 0.6))
    scales = [float(np.float32(draw(ratios))) for _ in range(rank)]
    output = [max(1, int(n * scale)) for n, scale in zip(data, scales, strict=True)]
    offsets = [
        draw(st.lists(st.sampled_from([sign * 0.5, 0, 0.1]), min_size=rank, max_size=rank))
        for sign in (1, -1)
    ]
    options = draw(MODES) if draw(st.booleans()) else "LINEAR", "DECREASING", rank, scales, *offsets
    if draw(st.booleans()):
        data_type = draw(st.sampled_from(["FLOAT32", "FLOAT16"]))
        gradients = draw(tensors(data_type, output)), draw(tensors(data_type, data, True))
        return ResampleGrad1OperatorDesc(*gradients, *options)
    data_type = draw(st.sampled_from(["FLOAT32", "FLOAT16", "UINT8", "INT8"]))
    described = draw(tensors(data_type, data)), draw(tensors(data_type, output, True))
    return Resample3OperatorDesc(*described, *options, True)


@st.composite
def upsamples(draw):
    """Draw a descriptor of UPSAMPLE_2D."""
    data_type, lengths = draw(st.sampled_from(["FLOAT32", "FLOAT16"])), st.sampled_from([1, 2, 3, 5])
    data = draw(st.lists(lengths, min_size=4, max_size=5))
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    output = (*data[:-2], data[-2] * height, data[-1] * width)
    described = draw(tensors(data_type, data)), draw(tensors(data_type, output, True))
    return Upsample2DOperatorDesc(*described, Size2D(Width=width, Height=height), draw(MODES))


def memory_of(desc, rng, limits=None):
    """Make the memory of a tensor: any bits, or integers in [low, high)."""
    data_type = TensorDataType.parse(desc.DataType)
    nbytes = max(extent(desc) * data_type.dtype.itemsize, desc.TotalTensorSizeInBytes or 0)
    count = -(-nbytes // data_type.dtype.itemsize)
    if limits is None:
        return rng.integers(0, 256, count * data_type.dtype.itemsize, np.uint8).view(data_type.dtype)
    low, high = limits
    return rng.integers(max(low, 0) if data_type.dtype.kind == "u" else low, high, count).astype(
        data_type.dtype
    )


def output_of(desc):
    """Return what describes the output."""
    (name,) = desc.tensor_names(FieldKind.OUTPUT)
    return getattr(desc, name)


def inputs_of(desc, rng):
    """Make memory for all inputs; indices lie a little beyond the data, too."""
    first = getattr(desc, desc.tensor_names(FieldKind.INPUT)[0])
    largest = max(first.Sizes) + 2
    made = [memory_of(first, rng)]
    if hasattr(desc, "IndicesTensor"):
        made.append(memory_of(desc.IndicesTensor, rng, (-largest, largest)))
    if hasattr(desc, "UpdatesTensor"):
        made.append(memory_of(desc.UpdatesTensor, rng))
    return made


def valid():
    """Describe a GATHER_ELEMENTS."""
    return GatherElementsOperatorDesc(
        BufferTensorDesc("FLOAT32", (2, 3)),
        BufferTensorDesc("INT32", (2, 2)),
        BufferTensorDesc("FLOAT32", (2, 2)),
        1,
    )
