"""The operators of the family beyond those of test_directml_run: vectors, random layouts, transposes."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from directml_cases import (
    INDEX_TYPES,
    ROUND,
    address,
    check_output,
    extent,
    gather,
    grad,
    layouts,
    like,
    normal,
    ramp,
    resample2,
    resample_cases,
    scatter,
    scatter_nd,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from remapnd.directml import (
    BufferTensorDesc,
    GatherOperatorDesc,
    Policy,
    Resample1OperatorDesc,
    Resample2OperatorDesc,
    ResampleGrad1OperatorDesc,
    ResampleGradOperatorDesc,
    ScatterNDOperatorDesc,
    ScatterOperatorDesc,
    Size2D,
    Upsample2DOperatorDesc,
    run,
)

F = np.float32


def upsample(data, scale, mode):
    data = np.asarray(data, F)
    *outer, h, w = data.shape
    desc = Upsample2DOperatorDesc(
        BufferTensorDesc.of(data), like(data, (*outer, h * scale.Height, w * scale.Width)), scale, mode
    )
    return run(desc, [data], feature_level="1_0")


# Vectors, computed from the rules with exact rationals.


@pytest.mark.parametrize(
    ("data", "indices", "sizes", "axis", "count", "expected"),
    [
        ([[1, 2], [3, 4], [5, 6]], [[0, 1, 1, 2]], (4, 2), 0, 1, [[1, 2], [3, 4], [3, 4], [5, 6]]),
        ([[1, 2, 3]], [[-1, 0, -3]], (1, 3), 1, 1, [[3, 1, 1]]),
        ([[0, 1, 2], [3, 4, 5]], [[2]], (1, 2), 1, 0, [[2, 5]]),
        (
            [[[0, 1, 2], [3, 4, 5]]],
            [[[2, 0], [1, 1]]],
            (2, 2, 2),
            2,
            2,
            [[[2, 0], [1, 1]], [[5, 3], [4, 4]]],
        ),
        ([7, 8, 9], [2, 0, 0, -3], (4,), 0, 1, [9, 7, 7, 7]),
        ([7, 8, 9], [1], (1,), 0, 0, [8]),
    ],
)
def test_gather_vectors(*, data, indices, sizes, axis, count, expected):
    assert gather(data, indices, sizes, axis, count) == expected


def test_scatter_vectors():
    updates = [[1, 1.1, 1.2], [2, 2.1, 2.2]]
    got = scatter(np.zeros((3, 3)), [[1, 0, 2], [0, 2, 1]], updates, 0)
    assert got.tolist() == np.array([[2, 1.1, 0], [1, 0, 2.2], [0, 2.1, 1.2]], F).tolist()
    got = scatter([[1, 2, 3, 4, 5]], [[1, 3]], [[1.1, 2.1]], 1)
    assert got.tolist() == np.array([[1, 1.1, 3, 2.1, 5]], F).tolist()
    got = scatter_nd([[0, 1], [2, 3]], [[1], [0]], [[10, 11], [20, 21]], 2, 2)
    assert got.tolist() == [[20, 21], [10, 11]]


def test_scatter_off_the_axis_leaves_the_rest():
    got = scatter(np.zeros((3, 2)), np.array([[1, 0]], np.uint32), [[5, 6]], 0)
    assert got.tolist() == [[0, 6], [5, 0], [0, 0]]


@pytest.mark.parametrize(
    ("scale", "mode", "expected"),
    [
        (
            Size2D(2, 2),
            "LINEAR",
            [[1, 1.25, 1.75, 2], [1.5, 1.75, 2.25, 2.5], [2.5, 2.75, 3.25, 3.5], [3, 3.25, 3.75, 4]],
        ),
        (Size2D(2, 2), "NEAREST_NEIGHBOR", [[1, 1, 2, 2], [1, 1, 2, 2], [3, 3, 4, 4], [3, 3, 4, 4]]),
        (Size2D(Width=3, Height=1), "NEAREST_NEIGHBOR", [[1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4]]),
    ],
)
def test_upsample_2d(scale, mode, expected):
    plane = np.array([[1, 2], [3, 4]], F)
    assert upsample(plane[None, None], scale, mode)[0, 0].tolist() == expected
    volume = np.stack([plane, 10 * plane])[None, None]
    got = upsample(volume, scale, mode)
    assert got[0, 0, 0].tolist() == expected
    assert got[0, 0, 1].tolist() == (10 * np.array(expected)).tolist()


# n, m, scale, input offset, output offset; the index of each output under DECREASING and under INCREASING.
DIRECTIONS = [
    (2, 4, 2, 0.5, -0.5, "0001", "0111"),
    (3, 9, 3, 0.5, -0.5, "000011122", "001112222"),
    (4, 2, 0.5, 0.5, -0.5, "02", "13"),
    (6, 3, 0.5, 0.5, -0.5, "024", "135"),
    (2, 3, 1.5, 0.5, -0.5, "001", "011"),
    (5, 3, 0.6, 0.5, -0.5, "023", "124"),
    (2, 4, 2, 0, 0, "0011", "0111"),
    (4, 2, 0.5, 0, 0, "02", "02"),
    (2, 3, 1.5, 0, 0, "001", "011"),
    (3, 5, 2, 0, 0, "00112", "01122"),
    (4, 3, 2, 0.5, -0.5, "000", "011"),
    (2, 6, 2, 0.5, -0.5, "000111", "011111"),
    (4, 4, 1, 0.5, -0.5, "0123", "0123"),
]


@pytest.mark.parametrize(("n", "m", "scale", "into", "onto", "down", "up"), DIRECTIONS)
def test_rounding_directions(*, n, m, scale, into, onto, down, up):
    floats = [scale], [into], [onto]
    for direction, digits in (("DECREASING", down), ("INCREASING", up), (0, up)):
        expected = [int(c) for c in digits]
        if scale == 0.6 and direction == "DECREASING":
            # As float32, 0.6 is a little larger: the position of X = 1 is just below 2.
            expected[1] = 1
        for antialiased in (None, False, True):
            got = resample2(ramp[:n], (m,), 0, direction, *floats, antialiased=antialiased)
            assert got.tolist() == expected
        linear = resample2(ramp[:n], (m,), "LINEAR", direction, *floats)
        tensors = BufferTensorDesc.of(ramp[:n]), like(ramp, (m,))
        plain = run(Resample1OperatorDesc(*tensors, "LINEAR", 1, *floats), [ramp[:n]])
        assert linear.tobytes() == plain.tobytes()


def test_half_an_input_pixel_makes_resample2_round_as_resample1():
    for n, m, scale, into, onto, *_ in DIRECTIONS:
        tensors = BufferTensorDesc.of(ramp[:n]), like(ramp, (m,))
        for ties, direction, shift in (("up", "DECREASING", -0.5), ("down", "INCREASING", 0.5)):
            desc = Resample1OperatorDesc(*tensors, 0, 1, [scale], [into], [onto])
            expected = run(desc, [ramp[:n]], policy=Policy(nearest_ties=ties)).tolist()
            got = resample2(ramp[:n], (m,), 0, direction, [scale], [into + shift], [onto])
            assert got.tolist() == expected, (n, m, scale)


ROW = [0.178571, 0.25, 0.25, 0.178571, 0.107143, 0.035714, 0, 0]


def test_antialiased_triangle():
    floats = [0.25], [0.5], [-0.5]
    impulses = np.array([resample2(e, (2,), 1, 0, *floats, antialiased=True) for e in np.eye(8, dtype=F)])
    np.testing.assert_allclose(impulses[:, 0], ROW, atol=5e-7)
    np.testing.assert_allclose(impulses[:, 1], ROW[::-1], atol=5e-7)
    got = resample2(ramp, (2,), 1, 0, *floats, antialiased=True)
    np.testing.assert_allclose(got, [1.892857, 5.107143], atol=5e-7)
    assert resample2(ramp, (2,), 1, 0, *floats, antialiased=False).tolist() == [1.5, 5.5]


def test_antialiasing_begins_above_a_factor_of_two():
    floats = [0.5], [0.5], [-0.5]
    got = resample2(ramp, (4,), 1, 0, *floats, antialiased=True)
    assert got.tobytes() == resample2(ramp, (4,), 1, 0, *floats).tobytes()
    rows = np.stack([ramp, ramp + 8])
    floats = [1, 0.25], [0.5, 0.5], [-0.5, -0.5]
    got = resample2(rows, (2, 2), 1, 0, *floats, antialiased=True)
    np.testing.assert_allclose(got, [[1.892857, 5.107143], [9.892857, 13.107143]], atol=1e-6)


def test_antialiased_constants_stay():
    for dtype in (np.uint8, np.int8, np.float16, F):
        data = np.full((5, 31), 97, dtype)
        for aa_filter in ("triangle", "iterative", "off"):
            got = resample2(
                data,
                (3, 4),
                1,
                0,
                [0.3, 0.13],
                [0.5, 0.5],
                [-0.5, -0.5],
                antialiased=True,
                policy=Policy(aa_filter=aa_filter),
            )
            assert (got == 97).all(), (dtype, aa_filter)


def test_gradient_vectors():
    half = [0.5], [-0.5]
    assert grad([1, 1, 1, 1], (2,), "LINEAR", [2], *half).tolist() == [2, 2]
    assert grad([1, 2, 3, 4], (2,), "LINEAR", [2], *half).tolist() == [3.25, 6.75]
    scale = Fraction(2, 3)  # as float32 a little off, hence the tolerance
    np.testing.assert_allclose(grad([1, 2], (3,), "LINEAR", [scale], *half), [0.75, 0.75, 1.5], rtol=2e-7)
    floats = [0.5, 1.5], [0.5, 0.5], [-0.5, -0.5]
    page = Policy(nearest_ties="down")
    assert grad([[4, 5, 6]], (2, 2), 0, *floats, policy=page).tolist() == [[9, 6], [0, 0]]
    assert grad([[4, 5, 6]], (2, 2), 0, *floats).tolist() == [[0, 0], [4, 11]]
    corners = [0.5, 1.5], [0, 0], [0, 0]
    got = grad([[4, 5, 6]], (2, 2), 0, *corners, direction="DECREASING")
    assert got.tolist() == [[9, 6], [0, 0]]


def test_gradients_of_taps_beyond_the_edge_add_up_on_it():
    assert grad([1, 2, 4, 8, 16, 32], (2,), "LINEAR", [2], [0.5], [-0.5]).tolist() == [3.5, 59.5]
    assert grad([1, 2, 4, 8], (2,), 0, [1], [0], [0]).tolist() == [1, 14]


def test_a_gradient_without_weight_gives_nothing():
    # Output 1 lies on input 1 exactly: its infinity must not meet input 2 with weight zero.
    got = grad([1, math.inf, 2], (3,), "LINEAR", [1], [0], [0])
    assert got.tolist() == [1, math.inf, 2]


def test_gradients_are_rounded_once():
    # 1 + 2**-11 + 2**-11 added up in float16 stays 1.
    gradient = [1, 2**-11, 2**-11]
    assert grad(gradient, (1,), 0, [1], [0], [0], dtype=np.float16).tolist() == [1 + 2**-10]
    largest = float(np.finfo(np.float16).max)
    assert grad([largest] * 2, (1,), 0, [1], [0], [0], dtype=np.float16).tolist() == [math.inf]


# Random layouts.


@st.composite
def gather_cases(draw):
    data = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    axis = draw(st.integers(0, len(data) - 1))
    real = draw(st.lists(st.integers(1, 4), max_size=3))
    body = [*data[:axis], *real, *data[axis + 1 :]]
    least = max(len(body), len(data), len(real), 1)
    rank = draw(st.integers(least, 8))
    data, axis = [1] * (rank - len(data)) + data, axis + rank - len(data)
    full = [1] * (rank - len(real)) + real
    output = [*data[:axis], *real, *data[axis + 1 :]]
    output = [1] * (rank - len(output)) + output[max(len(output) - rank, 0) :]
    tensors = [(tuple(s), draw(layouts(s, k < 2))) for k, s in enumerate((data, full, output))]
    return axis, len(real), *tensors


@settings(max_examples=60)
@given(gather_cases(), INDEX_TYPES, st.integers(0, 2**32 - 1))
def test_gather_on_any_layout(case, index_type, seed):
    axis, count, data, indices, output = case
    rng = np.random.default_rng(seed)
    data, output = BufferTensorDesc("UINT16", *data), BufferTensorDesc("UINT16", *output)
    indices = BufferTensorDesc(index_type, *indices)
    flat = rng.integers(0, 999, extent(data)).astype(np.uint16)
    low = -6 if index_type.startswith("INT") else 0
    flat_indices = rng.integers(low, 6, extent(indices)).astype(index_type.lower())
    memory = rng.integers(0, 999, extent(output) + 3).astype(np.uint16)
    before = memory.copy()
    got = run(GatherOperatorDesc(data, indices, output, axis, count), [flat, flat_indices], memory)
    rank = len(data.Sizes)
    expected = {}
    for at in itertools.product(*map(range, output.Sizes)):
        excess = rank + count - 1 - rank
        full = (*(0,) * excess, *at) if excess >= 0 else at[1:]
        q = (*(0,) * (rank - count), *full[axis : axis + count])
        v = normal(int(flat_indices[address(q, indices)]), data.Sizes[axis])
        expected[at] = flat[address((*full[:axis], v, *full[axis + count :]), data)]
    check_output(output, got, expected, memory, before)


def dropped(v, n):
    """Return an index after one wrap; None if it is out of range."""
    v = v + n if v < 0 else v
    return v if 0 <= v < n else None


@st.composite
def scatter_cases(draw):
    rank = draw(st.integers(1, 4))
    axis = draw(st.integers(0, rank - 1))
    data = draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    sizes = [draw(st.integers(1, 5 if d == axis else n)) for d, n in enumerate(data)]
    return axis, *[(tuple(s), draw(layouts(s, k < 3))) for k, s in enumerate((data, sizes, sizes, data))]


@settings(max_examples=60)
@given(scatter_cases(), INDEX_TYPES, st.integers(0, 2**32 - 1))
def test_scatter_on_any_layout(case, index_type, seed):
    axis, data, indices, updates, output = case
    rng = np.random.default_rng(seed)
    data, updates, output = (BufferTensorDesc("FLOAT64", *t) for t in (data, updates, output))
    indices = BufferTensorDesc(index_type, *indices)
    flat, flat_updates = rng.random(extent(data)), rng.random(extent(updates))
    n = data.Sizes[axis]
    low = -n - 2 if index_type.startswith("INT") else 0
    flat_indices = rng.integers(low, n + 2, extent(indices)).astype(index_type.lower())
    memory = rng.random(extent(output) + 2)
    before = memory.copy()
    desc = ScatterOperatorDesc(data, indices, updates, output, axis)
    got = run(desc, [flat, flat_indices, flat_updates], memory)
    expected = {at: flat[address(at, data)] for at in itertools.product(*map(range, data.Sizes))}
    for at in itertools.product(*map(range, indices.Sizes)):
        v = dropped(int(flat_indices[address(at, indices)]), n)
        if v is not None:
            expected[(*at[:axis], v, *at[axis + 1 :])] = flat_updates[address(at, updates)]
    check_output(output, got, expected, memory, before)


@st.composite
def scatter_nd_cases(draw):
    length = draw(st.integers(1, 3))
    data = draw(st.lists(st.integers(1, 3), min_size=length, max_size=length + 2))
    indices = [*draw(st.lists(st.integers(1, 3), max_size=2)), length]
    body = indices[:-1] + data[length:]
    rank = draw(st.integers(max(len(data), len(indices), len(body), 1), 8))
    full = [[1] * (rank - len(s)) + s for s in (data, indices, body, data)]
    return len(data), len(indices), *[(tuple(s), draw(layouts(s, k < 3))) for k, s in enumerate(full)]


@settings(max_examples=60)
@given(scatter_nd_cases(), INDEX_TYPES, st.integers(0, 2**32 - 1))
def test_scatter_nd_on_any_layout(case, index_type, seed):
    data_count, indices_count, data, indices, updates, output = case
    rng = np.random.default_rng(seed)
    data, updates, output = (BufferTensorDesc("INT8", *t) for t in (data, updates, output))
    indices = BufferTensorDesc(index_type, *indices)
    flat, flat_updates = (rng.integers(-99, 99, extent(t)).astype(np.int8) for t in (data, updates))
    low = -5 if index_type.startswith("INT") else 0
    flat_indices = rng.integers(low, 5, extent(indices)).astype(index_type.lower())
    memory = rng.integers(-99, 99, extent(output) + 1).astype(np.int8)
    before = memory.copy()
    desc = ScatterNDOperatorDesc(data, indices, updates, output, data_count, indices_count)
    got = run(desc, [flat, flat_indices, flat_updates], memory)
    rank, length = len(data.Sizes), indices.Sizes[-1]
    real = data.Sizes[rank - data_count :]
    expected = {at: flat[address(at, data)] for at in itertools.product(*map(range, data.Sizes))}
    for j in itertools.product(*map(range, indices.Sizes[rank - indices_count : -1])):
        t = []
        for r in range(length):
            at = (*(0,) * (rank - indices_count), *j, r)
            t.append(dropped(int(flat_indices[address(at, indices)]), real[r]))
        if None in t:
            continue
        for tail in itertools.product(*map(range, real[length:])):
            body = (*j, *tail)
            update = flat_updates[address((*(0,) * (rank - len(body)), *body), updates)]
            expected[(*(0,) * (rank - data_count), *t, *tail)] = update
    check_output(output, got, expected, memory, before)


def exact_taps(X, n, floats, mode, rule):
    """Return the clamped taps of an output and their exact weights."""
    scale, into, onto = (Fraction(float(F(v))) for v in floats)
    x = (X - onto) / scale - into
    half = Fraction(1, 2)
    if mode == "LINEAR":
        low, weight = math.floor(x), x - math.floor(x)
    else:
        index = {
            "up": lambda: math.floor(x + half),
            "down": lambda: math.ceil(x - half),
            "DECREASING": lambda: math.floor(x),
            "INCREASING": lambda: math.ceil(x),
        }[rule]()
        low, weight = index, Fraction(0)
    clamp = [min(max(k, 0), n - 1) for k in (low, low + 1)]
    return [(clamp[0], 1 - weight), (clamp[1], weight)]


MODES = st.sampled_from(["LINEAR", "NEAREST_NEIGHBOR"])
DIRECTION = st.sampled_from(["DECREASING", "INCREASING"])


@settings(max_examples=60)
@given(resample_cases(), MODES, DIRECTION, st.sampled_from(sorted(ROUND)), st.integers(0, 2**32 - 1))
def test_resample2_on_any_layout(case, mode, direction, rounding, seed):
    data, output, *floats = case
    data, output = BufferTensorDesc("INT8", *data), BufferTensorDesc("INT8", *output)
    rng = np.random.default_rng(seed)
    flat, memory = (rng.integers(-128, 128, extent(t) + 5).astype(np.int8) for t in (data, output))
    before = memory.copy()
    desc = Resample2OperatorDesc(data, output, mode, direction, None, *floats)
    got = run(desc, [flat], memory, policy=Policy(int_linear_rounding=rounding))
    expected = {}
    for at in itertools.product(*map(range, output.Sizes)):
        value = Fraction(0)
        taps = [
            exact_taps(X, n, values, mode, direction)
            for X, n, values in zip(at, data.Sizes, zip(*floats, strict=True), strict=True)
        ]
        for combination in itertools.product(*taps):
            weight = math.prod((w for _, w in combination), start=Fraction(1))
            value += weight * int(flat[address([k for k, _ in combination], data)])
        expected[at] = ROUND[rounding](value)
    check_output(output, got, expected, memory, before)


@settings(max_examples=60)
@given(
    case=resample_cases(),
    mode=MODES,
    rule=st.sampled_from(["up", "down", "DECREASING", "INCREASING"]),
    offsets=st.sampled_from(["forward", "swapped"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_gradients_are_the_exact_transposes(*, case, mode, rule, offsets, seed):
    forward_in, forward_out, scales, into, onto = case
    rng = np.random.default_rng(seed)
    # The layouts of inputs may repeat elements, so the output is packed.
    gradient = BufferTensorDesc("FLOAT32", *forward_out)
    output = BufferTensorDesc("FLOAT32", forward_in[0])
    flat = rng.integers(-9, 9, extent(gradient)).astype(F)
    floats = (scales, into, onto)
    if rule in ("up", "down"):
        desc = ResampleGradOperatorDesc(gradient, output, mode, None, *floats)
    else:
        desc = ResampleGrad1OperatorDesc(gradient, output, mode, rule, None, *floats)
    policy = Policy(nearest_ties=rule if rule in ("up", "down") else "up", grad_offsets=offsets)
    got = run(desc, [flat], policy=policy)
    forward = (scales, into, onto) if offsets == "forward" else (scales, onto, into)
    expected, magnitudes = np.zeros(output.Sizes, object), np.zeros(output.Sizes, object)
    for at in itertools.product(*map(range, gradient.Sizes)):
        taps = [
            exact_taps(X, n, values, mode, rule)
            for X, n, values in zip(at, output.Sizes, zip(*forward, strict=True), strict=True)
        ]
        for combination in itertools.product(*taps):
            weight = math.prod((w for _, w in combination), start=Fraction(1))
            place, value = tuple(k for k, _ in combination), int(flat[address(at, gradient)])
            expected[place] += weight * value
            magnitudes[place] += weight * abs(value)
    # In float32: along each axis two roundings of weights, one of a product, and sums of what the axis has.
    roundings = sum(n + 2 for n in gradient.Sizes)
    for place in np.ndindex(expected.shape):
        error = abs(Fraction(float(got[place])) - expected[place])
        assert error <= roundings * Fraction(1, 1 << 24) * magnitudes[place], place
