"""Antialiased linear resampling of bytes, whose weights lie on ramps: sums that serve two outputs."""

import itertools
import sys
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from levels import LEVELS, agreed
from numpy.testing import assert_array_equal
from strategies import laid_out

from remapnd import ResamplePlan, _core, reference, resize


def image(shape, seed):
    """Bytes of one of four kinds: any, the least and the greatest, almost the same, pixels in squares."""
    rng = np.random.default_rng(seed)
    kind = seed % 4
    if kind == 0:
        return rng.integers(0, 256, shape, np.uint8)
    if kind == 1:
        return rng.choice(np.array([0, 255], np.uint8), shape)
    if kind == 2:
        return rng.integers(100, 103, shape, np.uint8)
    squares = np.indices(shape)[:2].sum(axis=0) // 4 % 2
    return (255 * squares).astype(np.uint8)


def exact_rows(n_in, n_out):
    """Weights of each output as fractions: triangles as wide as the step, over the samples that there are."""
    step = F(n_in, n_out)
    rows = []
    for x in range(n_out):
        centre = (x + F(1, 2)) * step - F(1, 2)
        weights = {k: 1 - abs(k - centre) / step for k in range(n_in) if abs(k - centre) < step}
        total = sum(weights.values())
        rows.append([weights.get(k, F(0)) / total for k in range(n_in)])
    return rows


@pytest.mark.parametrize(
    ("h", "w", "to"), [(11, 61, (3, 7)), (135, 40, (28, 3)), (34, 60, (2, 7)), (5, 97, (5, 8))]
)
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_results_are_exact(h, w, to, channels):
    data = image((h, w, channels), h + channels)
    down, across = (np.array(exact_rows(n, m)) for n, m in ((h, to[0]), (w, to[1])))
    numerators = np.einsum("yh,hwc->ywc", down, data.astype(object))
    values = np.einsum("xw,ywc->yxc", across, numerators)
    expected = np.vectorize(lambda v: int(v + F(1, 2)), otypes=[np.uint8])(values)
    for level in LEVELS:
        _core.use_level(level)
        assert_array_equal(resize(data, to, axes=(0, 1), mode="linear", antialias="pillow"), expected, level)


@st.composite
def reductions(draw):
    """A shape whose second and third axes are made smaller, and their lengths."""
    n_out = [draw(st.integers(1, 40)) for _ in range(2)]
    n_in = [max(m, int(m * draw(st.floats(1.2, 18))) + draw(st.integers(0, 3))) for m in n_out]
    while n_in[0] * n_in[1] > 120_000:
        n_in = [(n + 1) // 2 for n in n_in]
        n_out = [min(m, n) for m, n in zip(n_out, n_in, strict=True)]
    return (draw(st.integers(1, 3)), *n_in, draw(st.sampled_from([1, 2, 3, 4, 5]))), tuple(n_out)


@given(
    case=reductions(),
    seed=st.integers(0, 1000),
    layout=st.sampled_from(["C", "F", "negative", "strided", "read_only"]),
    options=st.tuples(
        st.sampled_from(["pillow", "onnx", "directml"]), st.sampled_from(["half_up", "half_even", "truncate"])
    ),
    threads=st.integers(1, 3),
)
def test_levels_agree(case, seed, layout, options, threads):
    (shape, lengths), (antialias, rule) = case, options
    data = laid_out(image(shape[1:] + shape[:1], seed).transpose(3, 0, 1, 2), layout)
    plan = ResamplePlan(
        data.shape,
        data.dtype,
        shape=lengths,
        axes=(1, 2),
        mode="linear",
        antialias=antialias,
        integer_rule=rule,
    )
    agreed(plan, data, [threads])


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_rows_that_several_tasks_share(channels):
    data = image((900, 1100, channels), 8)
    plan = ResamplePlan(
        data.shape, data.dtype, shape=(187, 131), axes=(0, 1), mode="linear", antialias="pillow"
    )
    expected = agreed(plan, data, [1, 3])
    for level, threads in itertools.product(LEVELS, (1, 3)):
        _core.use_level(level)
        _core.set_num_threads(threads)
        part = plan.region((slice(60, 150), slice(17, 120), slice(None)))
        source = plan.input_region((slice(60, 150), slice(17, 120), slice(None)))
        assert_array_equal(part(data[source]), expected[60:150, 17:120], level)


@pytest.mark.parametrize("factor", [15, 16, 17, 40])
def test_long_intervals_of_white(factor):
    data = np.full((5 * factor, 40, 3), 255, np.uint8)
    for level in LEVELS:
        _core.use_level(level)
        assert (resize(data, (5, 11), axes=(0, 1), mode="linear", antialias="pillow") == 255).all(), level


def test_rows_that_are_cut_into_segments():
    """Some of these begin with a sample that counts for nothing, or that the segment before has, too."""
    data = image((22, 27_000, 3), 4)
    shape = (5, 3000)
    plan = ResamplePlan(data.shape, "u1", shape=shape, axes=(0, 1), mode="linear", antialias="pillow")
    agreed(plan, data)


def test_images_row_by_row_and_the_same_one_again():
    data = image((97, 2, 150, 3), 0)
    plan = ResamplePlan(
        data.shape, data.dtype, shape=(20, 17), axes=(0, 2), mode="linear", antialias="pillow"
    )
    apart = ResamplePlan((97, 150, 3), "u1", shape=(20, 17), axes=(0, 1), mode="linear", antialias="pillow")
    repeated = np.broadcast_to(data[:, 0], (3, 97, 150, 3))
    again = ResamplePlan(repeated.shape, "u1", shape=(20, 17), axes=(1, 2), mode="linear", antialias="pillow")
    for level in LEVELS:
        _core.use_level(level)
        images = [apart(data[:, k]) for k in range(2)]
        assert_array_equal(plan(data), np.stack(images, axis=1), level)
        assert_array_equal(again(repeated), np.stack([images[0]] * 3), level)


def test_the_reference_agrees():
    data = image((2, 97, 150, 3), 4)
    plan = ResamplePlan(data.shape, data.dtype, shape=(20, 17), axes=(1, 2), mode="linear", antialias="onnx")
    expected = reference.resample(
        data, plan.maps, (20, 17), plan.axes, mode="linear", antialias="onnx", integer_rule="half_up"
    )
    assert_array_equal(plan(data), expected)


@given(
    pieces=st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.integers(0, 9), min_size=1, max_size=7)),
        min_size=1,
        max_size=6,
    ),
    ascending=st.booleans(),
    seed=st.integers(0, 99),
    block=st.sampled_from([1, 3, 4]),
)
def test_tables_made_by_hand(pieces, ascending, seed, block):
    """Weights that lie on ramps, or almost, in any order, with gaps, along either axis: levels agree."""
    at, tables = 0, []
    for gap, numerators in pieces:
        weights = np.array(numerators, float)
        weights[len(weights) // 2] += 1
        tables.append((at + gap, weights / weights.sum()))
        at += gap + len(numerators) // 2
    n_in = max(start + len(w) for start, w in tables)
    if not ascending:
        tables.reverse()
    count = np.array([len(w) for _, w in tables])
    fine = np.zeros((len(tables), count.max()))
    for row, (_, w) in zip(fine, tables, strict=True):
        row[: len(w)] = w
    weights = fine.astype(np.float32).astype(np.float64)
    start, base = np.array([s for s, _ in tables]), weights.argmax(axis=1)
    bound = 2.0**-24 * 256 * (count.max() + 20)
    for axis in (0, 1):
        data = image((n_in, 70, block) if axis == 0 else (3, n_in, block), seed)
        n_out = len(tables)
        shape = (n_out, 70, block) if axis == 0 else (3, n_out, block)
        linear = _core.Linear(
            0, 0, False, [_core.FilterAxis(axis, n_in, start, count, weights, base, fine)], [0]
        )
        results = []
        for level in LEVELS:
            _core.use_level(level)
            out = np.zeros(shape, np.uint8)
            left = linear(data, out, _core.Rounding(0), bound, 2.0**-40)
            results.append((out, sorted(left)))
        undecided = set(itertools.chain.from_iterable(left for _, left in results))
        for out, _ in results[1:]:
            differ = np.flatnonzero(out != results[0][0])
            assert undecided.issuperset(differ)


def test_windows_far_apart():
    """What lies between the taps of two outputs costs nothing, however many samples these are."""
    n_in = sys.maxsize >> 8
    data = np.broadcast_to(np.array([7, 8, 9], np.uint8), (n_in, 5, 3))
    start, count, base = np.array([0, n_in - 3]), np.full(2, 3), np.ones(2, np.int64)
    weights = np.array([[0.25, 0.5, 0.25]] * 2)
    axis = _core.FilterAxis(0, n_in, start, count, weights, base, weights)
    linear = _core.Linear(0, 0, False, [axis], [0])
    for level in LEVELS:
        _core.use_level(level)
        out = np.zeros((2, 5, 3), np.uint8)
        assert linear(data, out, _core.Rounding(0), 2.0**-12, 2.0**-40).size == 0, level
        assert_array_equal(out, np.broadcast_to(data[0], out.shape), level)
