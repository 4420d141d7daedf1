"""For the tests of DirectML's operators: calls on arrays, random layouts, and walks over their addresses.

The oracles of the tests walk flat lists by the addresses of the description and know nothing of views.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
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
    ScatterNDOperatorDesc,
    ScatterOperatorDesc,
    TensorDataType,
    run,
)

INDEX_TYPES = st.sampled_from(["INT64", "INT32", "UINT64", "UINT32"])


@st.composite
def layouts(draw, sizes, overlap):
    """Draw strides for `sizes`: packed, or a permutation with gaps, or (on inputs) broadcasts."""
    order = draw(st.permutations(range(len(sizes))))
    strides, extent = [0] * len(sizes), 1
    for d in order:
        gap = draw(st.integers(0, 2))
        strides[d] = extent + gap
        if overlap and draw(st.integers(0, 4)) == 0:
            strides[d] = 0
        extent += strides[d] * (sizes[d] - 1)
    return draw(st.sampled_from([None, tuple(strides)]))


def packed(sizes):
    return tuple(math.prod(sizes[d + 1 :]) for d in range(len(sizes)))


def address(at, desc):
    return sum(c * s for c, s in zip(at, desc.Strides or packed(desc.Sizes), strict=True))


def extent(desc):
    return address([n - 1 for n in desc.Sizes], desc) + 1


def normal(v, n):
    """Clamp after one wrap."""
    return min(max(v + n if v < 0 else v, 0), n - 1)


def check_output(desc, got, expected, memory, before):
    """Compare the elements with `expected` and all other memory with what it was."""
    kept = before.copy()
    for at in itertools.product(*map(range, desc.Sizes)):
        assert got[at] == expected[at]
        kept[address(at, desc)] = expected[at]
    assert memory.tobytes() == kept.tobytes()


@st.composite
def resample_cases(draw):
    rank = draw(st.integers(1, 3))
    small = st.lists(st.integers(1, 4), min_size=rank, max_size=rank)
    data, output = draw(small), draw(small)
    scale = st.one_of(
        st.sampled_from([1, 2, 0.5, 3, 1.5, 0.25, 1e20]), st.floats(0.125, 10, width=32), st.floats(0.1, 10)
    )
    offset = st.one_of(st.sampled_from([0.5, -0.5, 0, 0.25]), st.floats(-3, 3, width=32), st.floats(-3, 3))
    floats = [draw(st.lists(kind, min_size=rank, max_size=rank)) for kind in (scale, offset, offset)]
    return (tuple(data), draw(layouts(data, True))), (tuple(output), draw(layouts(output, False))), *floats


ROUND = {
    "truncate": math.trunc,
    "half_even": round,
    "half_up": lambda v: math.floor(v + Fraction(1, 2)),
}


# Calls on arrays: the tensors are packed and have the shapes and dtypes of the arrays.

F = np.float32
ramp = np.arange(8, dtype=F)


def like(array, sizes):
    """Describe a tensor of other sizes with the type of an array."""
    return BufferTensorDesc(TensorDataType.from_dtype(array.dtype), sizes)


def gather(data, indices, sizes, axis, count, **kwargs):
    data, indices = np.asarray(data, F), np.asarray(indices)
    tensors = BufferTensorDesc.of(data), BufferTensorDesc.of(indices), like(data, sizes)
    return run(GatherOperatorDesc(*tensors, axis, count), [data, indices], **kwargs).tolist()


def scatter(data, indices, updates, axis, **kwargs):
    data, indices, updates = np.asarray(data, F), np.asarray(indices), np.asarray(updates, F)
    tensors = map(BufferTensorDesc.of, (data, indices, updates, data))
    return run(ScatterOperatorDesc(*tensors, axis), [data, indices, updates], **kwargs)


def scatter_nd(data, indices, updates, *counts, **kwargs):
    data, indices, updates = np.asarray(data, F), np.asarray(indices), np.asarray(updates, F)
    tensors = map(BufferTensorDesc.of, (data, indices, updates, data))
    return run(ScatterNDOperatorDesc(*tensors, *counts), [data, indices, updates], **kwargs)


def resample2(data, sizes, mode, direction, *floats, antialiased=None, **kwargs):
    """Run RESAMPLE2, or with `antialiased` RESAMPLE3, with scales, input offsets and output offsets."""
    fields = (BufferTensorDesc.of(data), like(data, sizes), mode, direction, None, *floats)
    desc = (
        Resample2OperatorDesc(*fields) if antialiased is None else Resample3OperatorDesc(*fields, antialiased)
    )
    return run(desc, [data], **kwargs)


def grad(gradient, sizes, mode, *floats, direction=None, **kwargs):
    """Run RESAMPLE_GRAD, or with `direction` RESAMPLE_GRAD1."""
    gradient = np.asarray(gradient, kwargs.pop("dtype", F))
    tensors = BufferTensorDesc.of(gradient), like(gradient, sizes)
    if direction is None:
        desc = ResampleGradOperatorDesc(*tensors, mode, None, *floats)
    else:
        desc = ResampleGrad1OperatorDesc(*tensors, mode, direction, None, *floats)
    return run(desc, [gradient], **kwargs)


def elements(data, indices, axis, **kwargs):
    """Run GATHER_ELEMENTS on arrays."""
    data, indices = np.asarray(data, F), np.asarray(indices)
    output = BufferTensorDesc("FLOAT32", indices.shape)
    desc = GatherElementsOperatorDesc(BufferTensorDesc.of(data), BufferTensorDesc.of(indices), output, axis)
    return run(desc, [data, indices], **kwargs).tolist()


def gather_nd(data, indices, sizes, *counts, **kwargs):
    """Run GATHER_ND, or with three counts GATHER_ND1, on arrays."""
    data, indices = np.asarray(data, F), np.asarray(indices)
    tensors = (BufferTensorDesc.of(data), BufferTensorDesc.of(indices), BufferTensorDesc("FLOAT32", sizes))
    desc = (GatherNDOperatorDesc if len(counts) == 2 else GatherND1OperatorDesc)(*tensors, *counts)
    return run(desc, {"InputTensor": data, "IndicesTensor": indices}, **kwargs).tolist()


def resample1(data, sizes, mode, *floats, **kwargs):
    """Run RESAMPLE1 on an array, with scales, input offsets and output offsets."""
    tensors = (BufferTensorDesc.of(data), BufferTensorDesc(TensorDataType.from_dtype(data.dtype), sizes))
    desc = Resample1OperatorDesc(*tensors, mode, len(sizes), *floats)
    return run(desc, [data], **kwargs)
