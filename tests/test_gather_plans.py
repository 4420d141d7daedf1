"""Plans of the gathers: what they say, how they compare, and what they refuse."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest

import remapnd
from remapnd import GatherElementsPlan, GatherNDPlan, GatherPlan
from remapnd.plans import gather as plans

PLANS = [
    GatherPlan((3, 4), "f4", (5, 2), "i8", axis=-1),
    GatherPlan((3, 4), "f4", (5, 2), "i8", axis=1, bounds="fill", fill_value=2.5),
    GatherElementsPlan((3, 4), np.float32, (2, 7), np.uint8, axis=1, bounds="clip"),
    GatherElementsPlan((3, 4), "f4", (1, 7), "i4", axis=1, broadcast=True),
    GatherNDPlan((3, 4, 7), ">f4", (3, 5, 1), "u1", batch_dims=1, bounds="wrap"),
    GatherNDPlan((3, 4), [("a", "i4"), ("b", "S3")], (2, 0), "i2"),
]


def test_output_shapes() -> None:
    assert [p.output_shape for p in PLANS] == [(3, 5, 2), (3, 5, 2), (2, 7), (3, 7), (3, 5, 7), (2, 3, 4)]


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
    def plan(**options: Any) -> GatherPlan:
        return GatherPlan((3, 4), "f4", (5,), "i8", **options)

    assert plan() == plan(axis=-2) == plan(fill_value=0.0)
    assert plan() != plan(axis=1)
    zeros = [plan(bounds="fill", fill_value=v) for v in (0, 0.0, -0.0, 1, np.nan)]
    assert zeros[0] == zeros[1]
    assert zeros[1] != zeros[2]
    assert zeros[4] == plan(bounds="fill", fill_value=float("nan"))
    assert len(set(zeros)) == 4


def test_repr_and_explain() -> None:
    plan = PLANS[4]
    assert repr(plan) == "GatherNDPlan((3, 4, 7), '>f4', (3, 5, 1), 'uint8', batch_dims=1, bounds='wrap')"
    assert repr(PLANS[1]).endswith("axis=1, bounds='fill', fill_value=2.5)")
    assert plan.explain().splitlines() == [
        "gather_nd: >f4 (3, 4, 7) by uint8 (3, 5, 1) -> >f4 (3, 5, 7)",
        "  output axis 0 (size 3) walks axis 0 of data and axis 0 of indices",
        "  output axis 1 (size 5) walks axis 1 of indices",
        "  output axis 2 (size 7) walks axis 2 of data",
        "  component 0 of each index tuple chooses on axis 1 of data (size 4)",
        "  an index counts modulo the size",
        "  moves 105 items of 4 bytes",
    ]
    assert "an index out of range gives the fill value 2.5" in PLANS[1].explain()
    assert (
        "  a negative index counts from the end; an index out of range raises IndexError"
        in PLANS[0].explain()
    )


def test_a_plan_is_called_like_its_function() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((3, 4)).astype("f4")
    indices = rng.integers(-4, 4, (5, 2))
    result = PLANS[0](data, indices)
    assert result.tolist() == remapnd.gather(data, indices, axis=1).tolist()
    out = np.zeros((3, 5, 2), "f4")
    assert PLANS[0](data, indices.astype(">i8"), out=out) is out
    assert out.tolist() == result.tolist()
    swapped = GatherPlan((3, 4), "f4", (5, 2), ">i8", axis=1)
    assert swapped(data, indices).tolist() == result.tolist()


@pytest.mark.parametrize(
    ("data", "indices", "error", "text"),
    [
        (
            np.zeros((3, 5), "f4"),
            np.zeros((5, 2), int),
            ValueError,
            "`data` must have the plan's shape (3, 4), got (3, 5)",
        ),
        (
            np.zeros((3, 4)),
            np.zeros((5, 2), int),
            TypeError,
            "`data` must have the plan's dtype float32, got float64",
        ),
        (
            np.zeros((3, 4), "f4"),
            np.zeros(5, int),
            ValueError,
            "`indices` must have the plan's shape (5, 2), got (5,)",
        ),
        (
            np.zeros((3, 4), "f4"),
            np.zeros((5, 2), "i4"),
            TypeError,
            "`indices` must have the plan's dtype int64, got int32",
        ),
        (
            np.zeros((3, 4), "f4"),
            np.full((5, 2), 4),
            IndexError,
            "`indices` must lie in [-4, 4) on axis 1, got 4 at (0, 0)",
        ),
    ],
)
def test_a_plan_refuses_other_arrays(data: Any, indices: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=f"^gather: {re.escape(text)}$"):
        PLANS[0](data, indices)


def test_plans_refuse_what_the_functions_refuse() -> None:
    with pytest.raises(ValueError, match=r"gather: `data` must have sizes of at least 0, got \(3, -1\)"):
        GatherPlan((3, -1), "f4", (1,), "i8")
    with pytest.raises(TypeError, match=r"gather: `data` must be an integer, got 2\.5"):
        GatherPlan((2.5,), "f4", (1,), "i8")  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match="gather: `data` must have a dtype of fixed size without Python objects, got object"
    ):
        GatherPlan((3,), object, (1,), "i8")
    with pytest.raises(TypeError, match="gather: `indices` must have an integer dtype"):
        GatherPlan((3,), "f4", (1,), "f4")
    with pytest.raises(ValueError, match="take_along_axis: `bounds` must be one of"):
        GatherElementsPlan((3,), "f4", (1,), "i4", broadcast=True, bounds="mirror")  # type: ignore[arg-type]


def test_functions_keep_their_plans() -> None:
    data, indices = np.zeros((3, 4)), np.zeros(2, int)
    remapnd.gather(data, indices, axis=1)
    before = plans.kept.cache_info()
    remapnd.gather(data + 1, indices + 1, axis=1)
    after = plans.kept.cache_info()
    assert after.misses == before.misses
