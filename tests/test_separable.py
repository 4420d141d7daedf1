"""Weighted sums along axes and their transposes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remapnd import coordinates, taps
from remapnd.plans.separable import SeparablePlan, TapTable


@st.composite
def plans(draw):
    """Draw a plan with tables of dyadic weights, so that float64 sums are exact."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    passes, sizes = [], list(shape)
    for _ in range(draw(st.integers(0, 3))):
        axis = draw(st.integers(0, len(shape) - 1))
        m, count = draw(st.integers(1, 5)), draw(st.integers(1, 3))
        index = [
            draw(st.lists(st.integers(0, sizes[axis] - 1), min_size=m, max_size=m)) for _ in range(count)
        ]
        eighths = [draw(st.lists(st.integers(0, 4), min_size=m, max_size=m)) for _ in range(count - 1)]
        weight = np.array([*eighths, [0] * m]) / 8
        weight[-1] = 1 - weight.sum(axis=0)
        passes.append((axis, TapTable(sizes[axis], np.array(index), weight)))
        sizes[axis] = m
    return SeparablePlan(shape, passes), passes, tuple(sizes)


def dense(table):
    """Return the matrix of a table."""
    matrix = np.zeros((table.index.shape[1], table.n_in))
    for index, weight in zip(table.index, table.weight, strict=True):
        np.add.at(matrix, (np.arange(index.size), index), weight)
    return matrix


@settings(max_examples=150)
@given(plans(), st.integers(0, 2**32 - 1))
def test_sums_and_transposes_are_products_with_matrices(case, seed):
    plan, passes, sizes = case
    rng = np.random.default_rng(seed)
    data = rng.integers(-99, 99, plan.data_shape).astype(np.float32)
    gradient = rng.integers(-99, 99, sizes).astype(np.float32)
    assert plan.output_shape == sizes
    forward, backward = data.astype(float), gradient.astype(float)
    for axis, table in passes:
        forward = np.moveaxis(np.tensordot(dense(table), forward, (1, axis)), 0, axis)
    for axis, table in reversed(passes):
        backward = np.moveaxis(np.tensordot(dense(table).T, backward, (1, axis)), 0, axis)
    np.testing.assert_array_equal(plan(data), forward)
    np.testing.assert_array_equal(plan.vjp(gradient), backward)


def linear(n, m, scale):
    return TapTable.of_linear(taps.linear_table(coordinates.axis_map(scale), n, m, np.float64))


def test_equal_samples_give_that_sample():
    plan = SeparablePlan((7, 5), [(0, linear(7, 3, 0.3)), (1, linear(5, 17, 3.4))])
    for value in (0.1, 1 / 3, 1e300):
        assert (plan(np.full((7, 5), value)) == value).all()


def test_infinities_stay_and_what_has_no_weight_gives_nothing():
    table = TapTable(4, np.array([[0, 2], [1, 3]]), np.array([[1, 0.5], [0, 0.5]]))
    plan = SeparablePlan((4,), [(0, table)])
    assert plan(np.array([1, np.nan, np.inf, 5])).tolist() == [1, np.inf]
    assert plan(np.array([-np.inf, np.inf, 1e308, -1e308])).tolist() == [-np.inf, 0]
    assert np.isnan(plan(np.array([0, 0, np.inf, -np.inf]))[1])
    assert plan.vjp(np.array([np.inf, 2])).tolist() == [np.inf, 0, 1, 1]


def test_differences_that_overflow():
    table = TapTable(2, np.array([[0], [1]]), np.array([[0.5], [0.5]]))
    assert SeparablePlan((2,), [(0, table)])(np.array([1.7e308, -1.7e308])).tolist() == [0]


def test_an_identity_is_no_pass():
    plan = SeparablePlan((3, 2), [(0, linear(3, 3, 1)), (1, TapTable.of_nearest(np.array([0, 1]), 2))])
    data = np.array([[1, np.nan], [np.inf, 2], [3, 4]])
    np.testing.assert_array_equal(plan(data), data)
    np.testing.assert_array_equal(plan.vjp(data), data)


@pytest.mark.parametrize("layout", [lambda a: a, lambda a: a[::-1], np.asfortranarray])
def test_layout_does_not_matter(layout):
    plan = SeparablePlan((9, 7), [(0, linear(9, 4, 0.4)), (1, linear(7, 20, 2.9))])
    rng = np.random.default_rng(1)
    data, gradient = rng.random((9, 7)), rng.random((4, 20))
    assert plan(layout(data)).tobytes() == plan(layout(data).copy(order="C")).tobytes()
    assert plan.vjp(layout(gradient)).tobytes() == plan.vjp(layout(gradient).copy(order="C")).tobytes()
