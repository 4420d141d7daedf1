"""Filters on bytes whose weights are ratios of small integers along both axes: sums in 16 bits."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from levels import LEVELS, agreed
from numpy.testing import assert_array_equal
from strategies import laid_out

from remapnd import ResamplePlan, _core, reference, resize

RULES = {"half_up": 0, "half_even": 1}


def image(shape, seed):
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        return rng.integers(0, 256, shape, np.uint8)
    if seed % 3 == 1:
        return rng.choice(np.array([0, 255], np.uint8), shape)
    return rng.integers(253, 256, shape, np.uint8)


def matrix(rows, n_in):
    """The weights of outputs made of (first column, numerators), as fractions."""
    full = np.zeros((len(rows), n_in), dtype=object)
    for line, (start, numerators) in zip(full, rows, strict=True):
        for k, n in enumerate(numerators):
            line[start + k] = F(n, sum(numerators))
    return full


def rounded(values, rule):
    def one(v):
        return round(v) if rule == "half_even" else int(v + F(1, 2))

    return np.vectorize(one, otypes=[np.uint8])(values)


def filter_axis(axis, n_in, rows):
    count = np.array([len(numerators) for _, numerators in rows])
    fine = np.zeros((len(rows), count.max()))
    for line, (_, numerators) in zip(fine, rows, strict=True):
        line[: len(numerators)] = np.array(numerators, float) / sum(numerators)
    weights = fine.astype(np.float32).astype(np.float64)
    start = np.array([s for s, _ in rows])
    return _core.FilterAxis(axis, n_in, start, count, weights, weights.argmax(axis=1), fine)


@st.composite
def axes(draw, longest, most):
    """Numerators that repeat from output to output, but for some, with a jump, and the columns they take."""
    period = draw(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=1, max_size=2))
    period = [numerators for numerators in period if 0 < sum(numerators) <= most] or [[1, 3, 1]]
    steps = draw(st.lists(st.integers(0, 4), min_size=1, max_size=2))
    rows, at = [], 0
    count = draw(st.integers(1, longest))
    jump = draw(st.integers(0, 2 * longest))
    for x in range(count):
        at += 1 if x == jump else 0
        rows.append((at, list(period[x % len(period)])))
        at += steps[x % len(steps)]
    for _ in range(draw(st.integers(0, 2))):
        k = draw(st.sampled_from([0, len(rows) - 1, len(rows) // 2]))
        rows[k] = (rows[k][0], draw(st.sampled_from([[1], [2, 1], [1, 0, 3], [4, 4, 0, 1]])))
    return rows, max(start + len(numerators) for start, numerators in rows) + draw(st.integers(0, 3))


@given(
    down=axes(9, 20),
    across=axes(90, 20),
    block=st.sampled_from([1, 3, 4]),
    rule=st.sampled_from(sorted(RULES)),
    seed=st.integers(0, 99),
)
def test_tables_made_by_hand(down, across, block, rule, seed):
    see_table(down, across, image((down[1], across[1], block), seed), rule)


@pytest.mark.parametrize("block", [1, 3, 4])
@pytest.mark.parametrize("numerators", [[127, 1], [126, 1], [128, 1], [130, 3], [254, 1]])
@pytest.mark.parametrize("down", [[1], [1, 1], [2, 0, 1]])
def test_numerators_that_hardly_fit(numerators, down, block):
    columns = [(2 * x, [*numerators, 0, 0]) for x in range(33)]
    see_table(([(k, down) for k in range(7)], 9), (columns, 70), image((9, 70, block), 1), "half_up")


@pytest.mark.parametrize("total", range(14, 20))
def test_sums_that_hardly_fit(total):
    numerators = [total - 9, 5, 4]
    columns = [(x, numerators) for x in range(40)]
    white = np.full((9, 42, 3), 255, np.uint8)
    see_table(([(k, numerators) for k in range(7)], 9), (columns, 42), white, "half_up")


@pytest.mark.parametrize("block", [1, 3, 4])
def test_columns_that_one_place_leaves_out(block):
    for jump in range(40):
        columns = [(x + int(x >= jump), [1, 2, 1]) for x in range(40)]
        see_table(([(k, [1, 1]) for k in range(2)], 3), (columns, 43), image((3, 43, block), jump), "half_up")


def see_table(down, across, data, rule):
    (rows, h), (columns, w) = down, across
    values = np.einsum("yh,hwc->ywc", matrix(rows, h), data.astype(object))
    expected = rounded(np.einsum("xw,ywc->yxc", matrix(columns, w), values), rule)
    linear = _core.Linear(0, 0, False, [filter_axis(0, h, rows), filter_axis(1, w, columns)], [0, 1])
    grid = max(sum(n) for _, n in rows) * max(sum(n) for _, n in columns)
    for level in LEVELS:
        _core.use_level(level)
        out = np.zeros(expected.shape, np.uint8)
        linear(data, out, _core.Rounding(RULES[rule], 1 / (4 * grid)), 0.0, 0.0)
        assert_array_equal(out, expected, level)


RATIOS = [
    ((66, 96), (44, 64), "linear"),
    ((12, 12), (8, 8), "linear"),
    ((40, 90), (20, 60), "linear"),
    ((33, 99), (11, 33), "linear"),
    ((60, 60), (20, 40), "linear"),
    ((64, 64), (16, 16), "box"),
    ((90, 60), (60, 30), "box"),
    ((75, 50), (15, 10), "box"),
    ((32, 300), (2, 150), "box"),
    ((30, 31), (15, 17), "box"),
]


@pytest.mark.parametrize(("shape", "to", "mode"), RATIOS)
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_the_reference_agrees(shape, to, mode, channels):
    data = image((*shape, channels), 3 * channels)
    plan = ResamplePlan(data.shape, "u1", shape=to, axes=(0, 1), mode=mode, antialias="pillow")
    expected = reference.resample(
        data, plan.maps, to, plan.axes, mode=mode, antialias="pillow", integer_rule="half_up"
    )
    for level in LEVELS:
        _core.use_level(level)
        assert_array_equal(plan(data), expected, level)


RATIO = st.sampled_from([(3, 2), (2, 1), (3, 1), (4, 3)])


@given(
    axes=st.tuples(st.tuples(RATIO, st.integers(1, 14)), st.tuples(RATIO, st.integers(1, 60))),
    channels=st.sampled_from([1, 2, 3, 4]),
    options=st.tuples(st.sampled_from(["linear", "box"]), st.sampled_from([*RULES, "truncate"])),
    layout=st.tuples(st.sampled_from(["C", "F", "negative", "strided", "read_only"]), st.integers(0, 99)),
    threads=st.integers(1, 3),
)
def test_levels_agree(axes, channels, options, layout, threads):
    shape, to = zip(*((a * n, b * n) for (a, b), n in axes), strict=True)
    data = laid_out(image((2, *shape, channels), layout[1]), layout[0])
    mode, rule = options
    plan = ResamplePlan(
        data.shape, "u1", shape=to, axes=(1, 2), mode=mode, antialias="pillow", integer_rule=rule
    )
    agreed(plan, data, [threads])


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_rows_that_several_tasks_and_segments_share(channels):
    data = image((600, 12_000 // channels, channels), 3)
    to = (400, 8000 // channels)
    plan = ResamplePlan(data.shape, "u1", shape=to, axes=(0, 1), mode="linear", antialias="onnx")
    expected = agreed(plan, data, [1, 3])
    part = (slice(60, 150), slice(17, 1200), slice(None))
    inner = plan.region(part)
    assert_array_equal(agreed(inner, data[plan.input_region(part)]), expected[part])


def test_results_that_are_not_side_by_side():
    data = image((60, 90, 3), 6)
    wanted = resize(data, (40, 60), axes=(0, 1), mode="linear", antialias="pillow")
    plan = ResamplePlan(data.shape, "u1", shape=(40, 60), axes=(0, 1), mode="linear", antialias="pillow")
    for level in LEVELS:
        _core.use_level(level)
        wide = np.full((40, 121, 5), 7, np.uint8)
        plan(data, out=wide[:, :120:2, 1:4])
        assert_array_equal(wide[:, :120:2, 1:4], wanted, level)
        wide[:, :120:2, 1:4] = 7
        assert (wide == 7).all(), level
