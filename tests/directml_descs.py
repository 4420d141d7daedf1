"""Descriptors of every operator, short to write, and values of every kind for their fields."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from remapnd.directml import (
    BufferTensorDesc,
    FeatureLevel,
    GatherElementsOperatorDesc,
    GatherND1OperatorDesc,
    GatherNDOperatorDesc,
    GatherOperatorDesc,
    OperatorType,
    Resample1OperatorDesc,
    Resample3OperatorDesc,
    ResampleGradOperatorDesc,
    ResampleOperatorDesc,
    ScatterNDOperatorDesc,
    ScatterOperatorDesc,
    Size2D,
    Upsample2DOperatorDesc,
    check,
)


def tensor(sizes, data_type="FLOAT32", **fields):
    return BufferTensorDesc(data_type, sizes, **fields)


def elements(data=(2, 3), indices=(2, 2), output=(2, 2), axis=1):
    return GatherElementsOperatorDesc(tensor(data), tensor(indices, "INT64"), tensor(output), axis)


def gather_nd(data, indices, output, *counts):
    kind = GatherNDOperatorDesc if len(counts) == 2 else GatherND1OperatorDesc
    return kind(tensor(data), tensor(indices, "INT64"), tensor(output), *counts)


def resample(scales=(1, 2), count=2, mode="LINEAR", data=(2, 2), output=(2, 4)):
    return ResampleOperatorDesc(tensor(data), tensor(output), mode, count, scales)


def resample1(scales=(1, 2), count=2, inputs=(0.5, 0.5), outputs=(-0.5, -0.5), mode=1):
    return Resample1OperatorDesc(tensor((2, 2)), tensor((2, 4)), mode, count, scales, inputs, outputs)


def gather(data=(1, 3, 3), indices=(1, 1, 2), output=(3, 1, 2), axis=2, count=2):
    return GatherOperatorDesc(tensor(data), tensor(indices, "INT64"), tensor(output), axis, count)


def scatter(data=(2, 3), indices=(2, 2), updates=(2, 2), output=(2, 3), axis=1):
    return ScatterOperatorDesc(tensor(data), tensor(indices, "INT64"), tensor(updates), tensor(output), axis)


def scatter_nd(data, indices, updates, output, *counts):
    return ScatterNDOperatorDesc(
        tensor(data), tensor(indices, "INT64"), tensor(updates), tensor(output), *counts
    )


def upsample(data=(1, 1, 2, 3), output=(1, 1, 4, 9), scale=Size2D(Width=3, Height=2), mode="LINEAR"):  # noqa: B008
    return Upsample2DOperatorDesc(tensor(data), tensor(output), scale, mode)


def resample3(direction="INCREASING", antialiased=True, **fields):
    plain = resample1(**fields)
    tensors = plain.InputTensor, plain.OutputTensor, plain.InterpolationMode
    floats = plain.Scales, plain.InputPixelOffsets, plain.OutputPixelOffsets
    return Resample3OperatorDesc(*tensors, direction, plain.DimensionCount, *floats, antialiased)


def texts(desc, *args):
    return [str(v) for v in check(desc, *args)]


VALID = [
    elements(),
    elements(indices=(1, 7), output=(1, 7)),
    gather_nd((1, 2, 2, 2), (1, 1, 2, 2), (1, 1, 2, 2), 3, 2),
    gather_nd((3, 4, 5, 6, 7, 1)[:5], (1, 1, 1, 2, 3), (1, 1, 2, 6, 7), 5, 3),
    gather_nd((1, 3, 2, 2), (1, 3, 2, 2), (1, 1, 3, 2), 3, 3, 1),
    gather_nd((2, 2), (2, 2), (1, 1, 2)[1:], 2, 2),
    gather_nd((2, 2), (1, 2), (1, 1), 2, 1),
    gather_nd((2, 2), (2, 2), (2, 1)[::-1], 2, 2, 0),
    resample(),
    resample(count=None),
    resample(scales=np.array([1, 2.5], np.float16)),
    resample(scales=(Fraction(1, 3), 3.4028235e38)),
    resample(mode=0),
    resample1(),
    resample1(count=None, inputs=[0, -1e9], outputs=range(2)),
    gather(),
    gather((1, 3, 2), (1, 2, 2), (2, 2, 2), 1, 2),
    gather((3, 2), (1, 4), (4, 2), 0, 1),
    gather((3, 2), (1, 1), (1, 2), 0, 0),
    gather((1, 3), (2, 2), (2, 2), 1, 2),
    gather((4,), (5,), (5,), 0, 1),
    scatter(),
    scatter(indices=(1, 7), updates=(1, 7)),
    scatter_nd((1, 8), (4, 1), (1, 4), (1, 8), 1, 2),
    scatter_nd((3, 4, 5, 6, 7), (1, 1, 1, 2, 3), (1, 1, 2, 6, 7), (3, 4, 5, 6, 7), 5, 3),
    upsample(),
    upsample((1, 1, 1, 2, 3), (1, 1, 1, 4, 9)),
    resample3(),
    resample3(direction=1, antialiased=0),
    resample3(direction="DML_AXIS_DIRECTION_DECREASING", antialiased=np.bool_(True)),
    ResampleGradOperatorDesc(tensor((2, 4)), tensor((2, 2)), 0, 2, (1, 2), (0.5, 0.5), (-0.5, -0.5)),
]


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.integers(),
    st.sampled_from([2**31, 2**32 - 1, 2**32, 2**63, 2**64, 10**5000, -(10**5000)]),
    st.floats(),
    st.fractions(),
    st.complex_numbers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.sampled_from(["FLOAT32", "UINT32", "INT64", "OWNED_BY_DML", "LINEAR", *FeatureLevel, *OperatorType]),
    st.sampled_from(
        [np.float64("nan"), np.int8(-1), np.uint64(2**64 - 1), np.zeros(3), np.array(2), np.ones((2, 2))]
    ),
    st.builds(Unprintable),
    st.builds(object),
    st.builds(Size2D, st.integers(-1, 3), st.integers() | st.none()),
)
garbage = st.one_of(
    scalars, st.lists(scalars, max_size=10), st.tuples(scalars, scalars), st.dictionaries(st.text(), scalars)
)
sensible = st.one_of(
    st.integers(0, 9),
    st.lists(st.integers(0, 4), max_size=9),
    st.lists(st.integers(1, 2), min_size=4, max_size=4),
)
