"""Plans of the scatters: what they say, how they compare, and what they refuse."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest

import remapnd
from remapnd import ScatterElementsPlan, ScatterNDPlan
from remapnd.plans import scatter as plans

PLANS = [
    ScatterElementsPlan((3, 4), "f4", (5, 2), "i8"),
    ScatterElementsPlan((3, 4), "f4", (2, 7), np.uint8, axis=-1, reduction="add", bounds="clip"),
    ScatterElementsPlan((3, 4), "f4", (1, 7), "i4", axis=1, broadcast=True),
    ScatterNDPlan((3, 4, 7), ">f4", (3, 5, 1), "u1", reduction="max", bounds="wrap"),
    ScatterNDPlan((3, 4), [("a", "i4"), ("b", "S3")], (2, 0), "i2", bounds="drop"),
]


def test_shapes() -> None:
    assert [p.output_shape for p in PLANS] == [(3, 4), (3, 4), (3, 4), (3, 4, 7), (3, 4)]
    assert [p.updates_shape for p in PLANS] == [(5, 2), (2, 7), (3, 7), (3, 5, 4, 7), (2, 3, 4)]


@pytest.mark.parametrize("plan", PLANS, ids=repr)
def test_plans_survive_pickling_and_repr(plan: Any) -> None:
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    assert hash(again) == hash(plan)
    assert repr(again) == repr(plan)
    assert again.explain() == plan.explain()
    if plan.data_dtype.names is None:
        assert eval(repr(plan)) == plan
    assert sum(plan == other for other in PLANS) == 1


def test_plans_are_compared_by_what_they_do() -> None:
    def plan(**options: Any) -> ScatterElementsPlan:
        return ScatterElementsPlan((3, 4), "f4", (3, 4), "i8", **options)

    assert plan() == plan(axis=-2)
    different = [plan(axis=1), plan(reduction="add"), plan(bounds="drop"), plan(broadcast=True)]
    assert len({plan(), *different}) == 5


def test_repr_and_explain() -> None:
    assert repr(PLANS[3]) == (
        "ScatterNDPlan((3, 4, 7), '>f4', (3, 5, 1), 'uint8', reduction='max', bounds='wrap')"
    )
    assert PLANS[3].explain().splitlines() == [
        "scatter_nd: >f4 (3, 5, 4, 7) by uint8 (3, 5, 1) into >f4 (3, 4, 7)",
        "  updates axis 0 (size 3) walks axis 0 of indices",
        "  updates axis 1 (size 5) walks axis 1 of indices",
        "  updates axis 2 (size 4) walks axis 1 of data",
        "  updates axis 3 (size 7) walks axis 2 of data",
        "  component 0 of each index tuple chooses on axis 0 of data (size 3)",
        "  an index counts modulo the size",
        "  the greatest of a place's value and its updates is kept",
    ]
    assert "an update whose index is out of range is dropped" in PLANS[4].explain()
    assert "the last update of a place, in row-major order, replaces its value" in PLANS[0].explain()


def test_a_plan_is_called_like_its_function() -> None:
    rng = np.random.default_rng(0)
    data, updates = rng.random((3, 4), np.float32), rng.random((5, 2), np.float32)
    indices = rng.integers(-3, 3, (5, 2))
    result = PLANS[0](data, indices, updates)
    assert result.tolist() == remapnd.scatter_elements(data, indices, updates).tolist()
    out = np.zeros((3, 4), "f4")
    assert PLANS[0](data, indices.astype(">i8"), updates.tolist(), out=out) is out
    assert out.tolist() == result.tolist()
    assert PLANS[0](data, indices, updates, out=data) is data
    assert data.tolist() == result.tolist()
    put = PLANS[2](np.zeros((3, 4), "f4"), np.arange(7, dtype="i4")[None] % 4, 2)
    assert put.tolist() == [[2] * 4] * 3


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({0: np.zeros((3, 5), "f4")}, ValueError, "`data` must have the plan's shape (3, 4), got (3, 5)"),
        ({0: np.zeros((3, 4))}, TypeError, "`data` must have the plan's dtype float32, got float64"),
        ({1: np.zeros(5, int)}, ValueError, "`indices` must have the plan's shape (5, 2), got (5,)"),
        (
            {1: np.zeros((5, 2), "i4")},
            TypeError,
            "`indices` must have the plan's dtype int64, got int32",
        ),
        (
            {2: np.zeros((5, 3), "f4")},
            ValueError,
            "`updates` must have shape (5, 2), which follows from `data` and `indices`, got (5, 3)",
        ),
        (
            {1: np.full((5, 2), 3)},
            IndexError,
            "`indices` must lie in [-3, 3) on axis 0, got 3 at (0, 0)",
        ),
    ],
)
def test_a_plan_refuses_other_arrays(arguments: Any, error: Any, text: str) -> None:
    fitting = [np.zeros((3, 4), "f4"), np.zeros((5, 2), int), np.zeros((5, 2), "f4")]
    given = [arguments.get(k, a) for k, a in enumerate(fitting)]
    with pytest.raises(error, match=f"^scatter_elements: {re.escape(text)}$"):
        PLANS[0](*given)


def test_plans_refuse_what_the_functions_refuse() -> None:
    with pytest.raises(ValueError, match=r"scatter_nd: `data` must have sizes of at least 0, got \(3, -1\)"):
        ScatterNDPlan((3, -1), "f4", (1, 1), "i8")
    with pytest.raises(ValueError, match=r"scatter_nd: `reduction` must be one of 'none', .*, got 'sum'"):
        ScatterNDPlan((3,), "f4", (1, 1), "i8", reduction="sum")  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"put_along_axis: `data` must have one of the dtypes bool, .*, got <U3"
    ):
        ScatterElementsPlan((3,), "U3", (1,), "i8", reduction="mul", broadcast=True)
    with pytest.raises(
        ValueError, match=r"scatter_elements: `bounds` must be one of .*only gathers can fill"
    ):
        ScatterElementsPlan((3,), "f4", (1,), "i4", bounds="fill")  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="scatter_nd: `indices` must give a result of at most 64 axes, got 79"
    ):
        ScatterNDPlan((1,) * 40, "f4", (1,) * 40 + (1,), "i8")


def test_functions_keep_their_plans() -> None:
    data, indices, updates = np.zeros((3, 4)), np.zeros((2, 1), int), np.zeros((2, 4))
    remapnd.scatter_nd(data, indices, updates)
    before = plans.kept.cache_info()
    remapnd.scatter_nd(data + 1, indices + 1, updates)
    after = plans.kept.cache_info()
    assert after.misses == before.misses
