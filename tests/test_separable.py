"""Weighted sums along axes and their transposes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remapnd import _core, coordinates, taps
from remapnd.plans.separable import SeparablePlan, TapTable, TransposedPlan


@st.composite
def tables(draw, n_in):
    """Draw a table of dyadic weights, so that float64 sums are exact."""
    m, count = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    index = [draw(st.lists(st.integers(0, n_in - 1), min_size=m, max_size=m)) for _ in range(count)]
    eighths = [draw(st.lists(st.integers(0, 4), min_size=m, max_size=m)) for _ in range(count - 1)]
    weight = np.array([*eighths, [0] * m]) / 8
    weight[-1] = 1 - weight.sum(axis=0)
    return TapTable(n_in, np.array(index), weight)


@st.composite
def plans(draw):
    """Draw the shape of data and a table for some of its axes."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axes = draw(st.sets(st.integers(0, len(shape) - 1)))
    return tuple(shape), {axis: draw(tables(shape[axis])) for axis in axes}


def dense(table):
    """Return the matrix of a table."""
    matrix = np.zeros((table.n_out, table.n_in))
    for index, weight in zip(table.index, table.weight, strict=True):
        np.add.at(matrix, (np.arange(index.size), index), weight)
    return matrix


def product(matrices, array):
    for axis, matrix in matrices.items():
        array = np.moveaxis(np.tensordot(matrix, array, (1, axis)), 0, axis)
    return array


def summed(data, tables, **options):
    data = np.asarray(data)
    shape = tuple(tables[axis].n_out if axis in tables else n for axis, n in enumerate(data.shape))
    out = np.empty(shape, data.dtype)
    SeparablePlan(data.shape, data.dtype, tables, **options)(data, out)
    return out


def transposed(gradient, tables):
    gradient = np.asarray(gradient)
    shape = tuple(tables[axis].n_in if axis in tables else n for axis, n in enumerate(gradient.shape))
    out = np.empty(shape, gradient.dtype)
    TransposedPlan(gradient.shape, gradient.dtype, tables)(gradient, out)
    return out


FLOATS = st.sampled_from([np.float16, np.float32, np.float64])


@given(plans(), FLOATS, st.integers(0, 2**32 - 1))
def test_sums_and_transposes_are_products_with_matrices(case, dtype, seed):
    shape, tables = case
    matrices = {axis: dense(table) for axis, table in tables.items()}
    rng = np.random.default_rng(seed)
    data = rng.integers(-9, 9, shape).astype(dtype)
    np.testing.assert_array_equal(summed(data, tables), product(matrices, data.astype(float)).astype(dtype))
    sizes = product(matrices, data.astype(float)).shape
    gradient = rng.integers(-9, 9, sizes).astype(dtype)
    expected = product({axis: m.T for axis, m in matrices.items()}, gradient.astype(float))
    np.testing.assert_array_equal(transposed(gradient, tables), expected.astype(dtype))


@given(st.data(), st.integers(1, 5))
def test_one_table_after_another(data, n):
    first = data.draw(tables(n))
    second = data.draw(tables(first.n_out))
    np.testing.assert_array_equal(dense(second.after(first)), dense(second) @ dense(first))


def linear(n, m, scale):
    return TapTable.of_linear(taps.linear_table(coordinates.axis_map(scale), n, m, np.float64))


def test_equal_samples_give_that_sample():
    tables = {0: linear(7, 3, 0.3), 1: linear(5, 17, 3.4)}
    for value in (0.1, 1 / 3, 1e300):
        assert (summed(np.full((7, 5), value), tables) == value).all()
    for dtype in (np.uint8, np.int8):
        for rule in ("truncate", "half_even", "half_up"):
            assert (summed(np.full((7, 5), 99, dtype), tables, integer_rule=rule) == 99).all()


@pytest.mark.parametrize(
    ("rule", "expected"), [("truncate", [0, 1, -1]), ("half_even", [0, 2, -2]), ("half_up", [1, 2, -1])]
)
def test_integers_are_rounded(rule, expected):
    half = TapTable(6, np.array([[0, 2, 4], [1, 3, 5]]), np.full((2, 3), 0.5))
    data = np.array([0, 1, 1, 2, -1, -2], np.int8)
    assert summed(data, {0: half}, integer_rule=rule).tolist() == expected


def test_infinities_stay_and_what_has_no_weight_gives_nothing():
    table = {0: TapTable(4, np.array([[0, 2], [1, 3]]), np.array([[1, 0.5], [0, 0.5]]))}
    assert summed([1, np.nan, np.inf, 5], table).tolist() == [1, np.inf]
    assert summed([-np.inf, np.inf, 1e308, -1e308], table).tolist() == [-np.inf, 0]
    assert np.isnan(summed([0, 0, np.inf, -np.inf], table)[1])
    assert transposed([np.inf, 2], table).tolist() == [np.inf, 0, 1, 1]
    # Samples between the two taps of an output have no part in it.
    apart = {0: TapTable(3, np.array([[0, 1], [2, 1]]), np.array([[0.5, 1], [0.5, 0]]))}
    assert summed([1, np.inf, 3], apart).tolist() == [2, np.inf]
    assert transposed([np.nan, 4], apart).tolist()[1] == 4


def test_signalling_nans_become_quiet():
    table = {0: TapTable(2, np.array([[0], [1]]), np.array([[0.5], [0.5]]))}
    data = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    assert summed(data, table).view(np.uint32).tolist() == [0x7FC00000]
    assert transposed(data[:1], table).view(np.uint32).tolist() == [0x7FC00000] * 2


def test_differences_that_overflow():
    table = {0: TapTable(2, np.array([[0], [1]]), np.array([[0.5], [0.5]]))}
    assert summed([1.7e308, -1.7e308], table).tolist() == [0]


def test_an_identity_is_no_pass():
    tables = {0: linear(3, 3, 1), 1: TapTable.of_nearest(np.array([0, 1]), 2)}
    data = np.array([[1, np.nan], [np.inf, 2], [3, 4]])
    np.testing.assert_array_equal(summed(data, tables), data)
    np.testing.assert_array_equal(transposed(data, tables), data)


@pytest.mark.parametrize("m", [255, 256, 257, 600, 256 * 256 + 1])
def test_sums_of_many_outputs_are_made_in_pieces(m):
    everything = {0: TapTable.of_nearest(np.zeros(m, np.int64), 1)}
    assert transposed(np.ones(m, np.float32), everything).tolist() == [m]
    ends = TapTable.of_nearest(np.repeat([0, 2], [m, 3]), 3)
    gradient = np.ones((m + 3, 2), np.float64)
    gradient[:, 1] = np.arange(m + 3)
    expected = [[m, m * (m - 1) / 2], [0, 0], [3, 3 * m + 3]]
    assert transposed(gradient, {0: ends}).tolist() == expected
    both = {0: ends, 1: TapTable.of_nearest(np.array([0, 0]), 1)}
    assert transposed(gradient, both).tolist() == [[sum(row)] for row in expected]


@pytest.mark.parametrize("layout", [lambda a: a, lambda a: a[::-1], np.asfortranarray])
def test_layout_does_not_matter(layout):
    tables = {0: linear(9, 4, 0.4), 1: linear(7, 20, 2.9)}
    rng = np.random.default_rng(1)
    data, gradient = rng.random((9, 7)), rng.random((4, 20))
    for operation, array in ((summed, data), (transposed, gradient)):
        given = layout(array)
        assert operation(given, tables).tobytes() == operation(given.copy(order="C"), tables).tobytes()
    wide = np.zeros((9, 15), np.float32)
    TransposedPlan((4, 20), np.float32, tables)(gradient.astype(np.float32), wide[::-1, ::2][:, :7])
    assert wide[::-1, ::2][:, :7].tobytes() == transposed(gradient.astype(np.float32), tables).tobytes()


def test_threads_do_not_matter():
    tables = {0: linear(300, 700, 7 / 3), 1: linear(90, 200, 20 / 9)}
    gradient = np.random.default_rng(2).random((700, 200, 3)).astype(np.float32)
    results = set()
    for threads in (1, 2, 3):
        _core.set_num_threads(threads)
        results.add(transposed(gradient, tables).tobytes())
    assert len(results) == 1
