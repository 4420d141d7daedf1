"""Scatters called again with like arrays take a short way, which has to notice what differs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import remapnd
from remapnd import ScatterElementsPlan, ScatterNDPlan, _core

DATA = np.arange(12.0).reshape(3, 4)
INDICES = np.array([[2, 0, -1, 1], [2, 2, 0, 1]])
UPDATES = np.arange(100.0, 108).reshape(2, 4)
JOINS = {"none": lambda a, b: b, "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def scattered(data, indices, updates, reduction, axis=0):
    out = np.array(data)
    for at in np.ndindex(indices.shape):
        place = list(at)
        place[axis] = int(indices[at])
        out[tuple(place)] = JOINS[reduction](out[tuple(place)], updates[at])
    return out


@pytest.mark.parametrize("reduction", JOINS)
def test_what_is_different_is_noticed(reduction):
    options = {"reduction": reduction}
    want = scattered(DATA, INDICES, UPDATES, reduction)
    locked = np.zeros_like(DATA)
    locked.flags.writeable = False
    for _ in range(3):
        call = remapnd.scatter_elements
        assert_array_equal(call(DATA, INDICES, UPDATES, **options), want)
        assert_array_equal(call(DATA, INDICES, UPDATES, axis=-2, **options), want)
        on_rows = scattered(DATA, INDICES, UPDATES, reduction, axis=1)
        assert_array_equal(call(DATA, INDICES, UPDATES, axis=1, **options), on_rows)
        assert_array_equal(call(DATA.astype("f4"), INDICES, UPDATES.astype("f4"), **options), want)
        assert_array_equal(call(DATA.astype(">f8"), INDICES, UPDATES.astype(">f8"), **options), want)
        assert_array_equal(call(DATA.tolist(), INDICES, UPDATES.tolist(), **options), want)
        assert_array_equal(call(*map(np.asfortranarray, (DATA, INDICES, UPDATES)), **options), want)
        assert_array_equal(call(DATA, INDICES.astype(">i2"), UPDATES, **options), want)
        with pytest.raises(TypeError, match="scatter_elements: `updates` must have dtype float64"):
            call(DATA, INDICES, UPDATES.astype("f4"), **options)
        with pytest.raises(TypeError, match="scatter_elements: `axis` must be an integer, got "):
            call(DATA, INDICES, UPDATES, axis=0.0, **options)
        with pytest.raises(ValueError, match=r"scatter_elements: `out` must not overlap an input"):
            call(np.zeros((2, 4)), np.zeros((2, 4), int), UPDATES, out=UPDATES, **options)
        with pytest.raises(ValueError, match=r"scatter_elements: `out` must be writable"):
            call(DATA, INDICES, UPDATES, out=locked, **options)
        out = np.full((4, 3), np.nan).T
        assert call(DATA, INDICES, UPDATES, out=out, **options) is out
        assert_array_equal(out, want)
        out = np.full((3, 4), np.nan)
        assert call(DATA, INDICES, UPDATES, out=out, **options) is out
        assert_array_equal(out, want)


def test_in_place():
    wrong = INDICES.copy()
    wrong[1, 3] = 3
    for _ in range(3):
        data = DATA.copy()
        assert remapnd.scatter_elements(data, INDICES, UPDATES, out=data) is data
        assert_array_equal(data, scattered(DATA, INDICES, UPDATES, "none"))
        data = DATA.copy()
        with pytest.raises(IndexError, match=r"must lie in \[-3, 3\) on axis 0, got 3 at \(1, 3\)"):
            remapnd.scatter_elements(data, wrong, UPDATES, out=data)
        assert_array_equal(data, DATA)
        with pytest.raises(IndexError, match=r"must lie in \[-3, 3\) on axis 0, got 3 at \(1, 3\)"):
            remapnd.scatter_elements(data, wrong, UPDATES)


def test_the_other_functions():
    values = np.array([[5.0], [6.0], [7.0]])
    along = np.array([[0], [3], [1]])
    points = np.array([[0, 1], [2, 3], [0, 1]])
    for reduction, join in JOINS.items():
        want = DATA.copy()
        for row in range(3):
            want[row, along[row, 0]] = join(want[row, along[row, 0]], values[row, 0])
        nd = DATA.copy()
        for point, value in zip(points, (5.0, 6.0, 7.0), strict=True):
            nd[tuple(point)] = join(nd[tuple(point)], value)
        for _ in range(3):
            got = remapnd.put_along_axis(DATA, along, values, axis=1, reduction=reduction)
            assert_array_equal(got, want)
            assert_array_equal(remapnd.put_along_axis(DATA, along, values, reduction=reduction), want)
            got = remapnd.scatter_nd(DATA, points, np.array([5.0, 6.0, 7.0]), reduction=reduction)
            assert_array_equal(got, nd)


@pytest.mark.parametrize("reduction", ["none", "add"])
def test_plans_and_threads(reduction):
    plans = [
        ScatterElementsPlan((3, 4), "f8", (2, 4), "i8", reduction=reduction),
        ScatterNDPlan((3, 4), "f8", (3, 1), "i8", reduction=reduction),
    ]
    rows = np.array([[0], [2], [0]])
    elements = scattered(DATA, INDICES, UPDATES, reduction)
    updates = np.arange(12.0).reshape(3, 4)
    whole = scattered(DATA, np.repeat(rows, 4, axis=1), updates, reduction)
    with ThreadPoolExecutor(4) as threads:
        jobs = [threads.submit(plans[0], DATA, INDICES, UPDATES) for _ in range(200)]
        others = [threads.submit(plans[1], DATA, rows, updates) for _ in range(200)]
        for job, other in zip(jobs, others, strict=True):
            assert_array_equal(job.result(), elements)
            assert_array_equal(other.result(), whole)


def test_more_calls_than_are_remembered():
    for _ in range(2):
        for n in range(1, 20):
            got = remapnd.scatter_elements(np.zeros(20), np.arange(n), np.ones(n))
            assert_array_equal(got, np.arange(20) < n)


def test_prepared_scatters_refuse_what_they_cannot_serve():
    f8, i8 = np.dtype("f8"), np.dtype("i8")
    scatter = _core.Scatter([-1], [0], [0], -1, 0, 0, 0)
    with pytest.raises(TypeError, match="`dtype` must be a NumPy dtype"):
        _core.PreparedScatter(scatter, "f8", [3], i8, [2], [2])
    prepared = _core.PreparedScatter(scatter, f8, [3], i8, [2], [2])
    data, indices, updates = np.zeros(3), np.array([0, 1]), np.ones(2)
    assert_array_equal(prepared(data, indices, updates, None), [1, 1, 0])
    for arguments in (
        (None, indices, updates, None),
        (data, None, updates, None),
        (data, indices, [1, 1], None),
        (data, indices, updates, np.zeros(2)),
        (data, indices, updates, [0, 0, 0]),
        (data, np.array([0, 3]), updates, None),
        (data, indices, updates, data[::-1]),
    ):
        assert prepared(*arguments) is None
