"""What all public plans share."""

from __future__ import annotations

import copy
import inspect
import pydoc

import numpy as np
import pytest

import remapnd

PLANS = [
    remapnd.GatherPlan((3, 4), "f4", (2,), "i8"),
    remapnd.GatherElementsPlan((3, 4), "f4", (2, 4), "i8"),
    remapnd.GatherNDPlan((3, 4), "f4", (2, 1), "i8"),
    remapnd.ScatterElementsPlan((3, 4), "f4", (2, 4), "i8"),
    remapnd.ScatterNDPlan((3, 4), "f4", (2, 1), "i8"),
    remapnd.GridSamplePlan((1, 1, 4), "f4", (1, 2, 1), "f4"),
    remapnd.ResamplePlan((3, 4), "f4", scales=2),
]
each_plan = pytest.mark.parametrize("plan", PLANS, ids=lambda plan: type(plan).__name__)


def test_these_are_all():
    classes = (value for value in map(vars(remapnd).get, remapnd.__all__) if inspect.isclass(value))
    assert {type(plan) for plan in PLANS} == set(classes)


@each_plan
def test_plans_cannot_be_changed(plan):
    name = type(plan).__name__
    for attribute in (key for key in vars(plan) if key[0] != "_"):
        text = rf"^{name}: `{attribute}` must stay as it is: plans are immutable$"
        with pytest.raises(AttributeError, match=text):
            setattr(plan, attribute, getattr(plan, attribute))
        with pytest.raises(AttributeError, match=text):
            delattr(plan, attribute)


@each_plan
def test_plans_are_equal_to_their_copies_alone(plan):
    again = copy.copy(plan)
    assert again is not plan
    assert (again == plan, hash(again) == hash(plan)) == (True, True)
    assert sum(plan == other for other in PLANS) == 1
    assert plan != plan.output_shape


@each_plan
def test_help_is_of_what_users_call(plan):
    text = pydoc.render_doc(type(plan), renderer=pydoc.plaintext)
    words = {line.split("(")[0].strip("| ") for line in text.splitlines() if line.startswith(" |  _")}
    special = ["call", "init", "repr", "reduce", "eq", "hash", "setattr", "delattr"]
    assert words <= {f"__{word}__" for word in special} | {"__dict__", "__weakref__"}
    parameters = inspect.signature(type(plan)).parameters.values()
    assert not any(p.name.startswith("_") for p in parameters)
    described = inspect.getdoc(type(plan)).partition("Attributes\n")[0]
    assert [p.name for p in parameters if p.name not in described] == []


def test_a_plan_of_constant_indices_keeps_its_copy():
    indices = np.array([2, 0])
    plan = remapnd.GatherPlan((3,), "f4", indices=indices)
    indices[:] = 1
    with pytest.raises(ValueError, match="read-only"):
        plan.indices[0] = 1
    assert (plan(np.arange(3, dtype="f4")) == [2, 0]).all()
