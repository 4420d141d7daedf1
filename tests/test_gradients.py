"""Gradients: the adjoint of the operator, exactly, for every policy; deterministic; and what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import strategies as own
from hypothesis import given
from hypothesis import strategies as st

import remapnd
from remapnd import (
    GatherElementsPlan,
    GatherNDPlan,
    GatherPlan,
    ScatterElementsPlan,
    ScatterNDPlan,
    _core,
    reference,
)

GATHERS = [
    (GatherPlan, (4, 5, 3), (2, 6), {"axis": 1}),
    (GatherPlan, (7,), (), {"axis": 0}),
    (GatherElementsPlan, (4, 5, 3), (4, 9, 2), {"axis": 1}),
    (GatherElementsPlan, (4, 1, 3), (1, 2, 8), {"axis": 2, "broadcast": True}),
    (GatherElementsPlan, (1, 5), (3, 4), {"axis": 1, "broadcast": True}),
    (GatherNDPlan, (4, 5, 3), (4, 7, 1), {"batch_dims": 1}),
    (GatherNDPlan, (4, 5, 3), (20, 2), {}),
    (GatherNDPlan, (2, 3), (4, 0), {}),
    (GatherNDPlan, (0, 3), (0, 1), {}),
]
SCATTERS = [
    (ScatterElementsPlan, (4, 5, 3), (4, 9, 2), {"axis": 1}),
    (ScatterElementsPlan, (4, 1, 3), (1, 2, 8), {"axis": 2, "broadcast": True}),
    (ScatterElementsPlan, (1, 5), (3, 4), {"axis": 1, "broadcast": True}),
    (ScatterNDPlan, (4, 5, 3), (20, 2), {}),
    (ScatterNDPlan, (4, 5, 3), (9, 1), {}),
    (ScatterNDPlan, (2, 3), (4, 0), {}),
    (ScatterNDPlan, (3, 0), (4, 1), {}),
]


def indices_for(shape: tuple[int, ...], n: int, bounds: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    beyond = 0 if bounds == "raise" else 2
    return rng.integers(-n - beyond, n + beyond, shape) if n else np.zeros(shape, int)


def smallest(plan: Any) -> int:
    return min((plan.data_shape[a] for a in plan._geometry.indexed), default=1)


def dot(a: np.ndarray, b: np.ndarray) -> int:
    return sum(int(x) * int(y) for x, y in zip(a.flat, b.flat, strict=True))


@pytest.mark.parametrize("bounds", ["raise", "clip", "wrap", "fill"])
@pytest.mark.parametrize("case", GATHERS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_of_a_gather_is_its_adjoint(case: Any, bounds: str, seed: int) -> None:
    kind, data_shape, indices_shape, options = case
    plan = kind(data_shape, "i8", indices_shape, "i8", bounds=bounds, **options)
    rng = np.random.default_rng(seed)
    indices = indices_for(indices_shape, smallest(plan), bounds, seed)
    x = rng.integers(-1000, 1000, data_shape)
    y = rng.integers(-1000, 1000, plan.output_shape)
    gradient = plan.vjp(y, indices)
    assert gradient.shape == data_shape
    assert dot(plan(x, indices), y) == dot(x, gradient)


@pytest.mark.parametrize("bounds", ["raise", "clip", "wrap", "drop"])
@pytest.mark.parametrize("reduction", ["none", "add"])
@pytest.mark.parametrize("case", SCATTERS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_of_a_scatter_is_its_adjoint(case: Any, reduction: Any, bounds: Any, seed: int) -> None:
    kind, data_shape, indices_shape, options = case
    plan = kind(data_shape, "i8", indices_shape, "i8", bounds=bounds, reduction=reduction, **options)
    rng = np.random.default_rng(seed)
    indices = indices_for(indices_shape, smallest(plan), bounds, seed)
    x = rng.integers(-1000, 1000, data_shape)
    u = rng.integers(-1000, 1000, plan.updates_shape)
    y = rng.integers(-1000, 1000, data_shape)
    before = y.copy()
    of_data, of_updates = plan.vjp(y, indices)
    assert dot(plan(x, indices, u), y) == dot(x, of_data) + dot(u, of_updates)
    # Both parts are adjoints of their own: with the other input zero.
    assert dot(plan(x, indices, 0 * u), y) == dot(x, of_data)
    assert dot(plan(0 * x, indices, u), y) == dot(u, of_updates)
    assert not np.shares_memory(of_data, y)
    assert (y == before).all()


@given(st.integers(0, 2**32 - 1), st.sampled_from(["f2", "f4", "f8", "c8", ml_dtypes.bfloat16, ">f4"]))
def test_a_gradient_is_summed_in_order_whatever_the_threads(seed: int, dtype: Any) -> None:
    rng = np.random.default_rng(seed)
    plan = GatherPlan((5, 40), dtype, (300,), "i4", axis=0)
    y = rng.standard_normal((300, 40)).astype(dtype)
    indices = rng.integers(-5, 5, 300, np.int32)
    expected = reference.scatter_nd(np.zeros((5, 40), dtype), indices[:, None], y, reduction="add")
    for threads in (1, 2, 5):
        _core.set_num_threads(threads)
        assert own.same_bits(plan.vjp(y, indices), expected)


SUMMED = [
    np.dtype(d)
    for d in (
        *("?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", ml_dtypes.bfloat16, "f4", "f8", "c8"),
        *("c16", ">i2", ">f4", ">c16"),
    )
]


@st.composite
def gradients(draw: st.DrawFn, cases: list[Any], policies: list[str], **more: Any) -> tuple[Any, ...]:
    """Draw a plan, indices, a gradient of the shape that its `output_shape` or data has, and places.

    Places are what the reference reads from the numbers of the items of data; -1 is no place.
    """
    kind, data_shape, indices_shape, options = draw(st.sampled_from(cases))
    bounds, dtype, index = (
        draw(st.sampled_from(policies)),
        draw(st.sampled_from(SUMMED)),
        draw(own.index_dtypes),
    )
    plan = kind(data_shape, dtype, indices_shape, index, bounds=bounds, **options, **more)
    n = smallest(plan)
    indices = indices_for(indices_shape, n, bounds, draw(own.seeds))
    if index.kind == "u":
        indices %= max(n, 1) if bounds == "raise" else n + 2
    indices = own.laid_out(indices.astype(index), draw(own.layouts))
    numbers = np.arange(np.prod(data_shape, dtype=int)).reshape(data_shape)
    native = indices.astype(index)
    options = {k: v for k, v in options.items() if k != "broadcast"}
    function = "gather" if kind is GatherPlan else "gather_nd" if "ND" in kind.__name__ else "gather_elements"
    if getattr(plan, "broadcast", False):
        function = "take_along_axis"
    if bounds in ("fill", "drop"):
        bounds, options["fill_value"] = "fill", -1
    places = getattr(reference, function)(numbers, native, bounds=bounds, **options)
    shape = places.shape if kind in (GatherPlan, GatherElementsPlan, GatherNDPlan) else data_shape
    rng = np.random.default_rng(draw(own.seeds))
    y = np.asarray(rng.standard_normal(shape) * 9).astype(dtype)
    return plan, indices, own.laid_out(y, draw(st.sampled_from(own.SAME_VALUES))), places


@given(gradients(GATHERS, ["raise", "clip", "wrap", "fill"]), st.sampled_from(_core.levels_usable()))
def test_the_gradient_of_a_gather_is_a_sum_in_order(case: Any, level: str) -> None:
    assert _core.use_level(level)
    plan, indices, y, places = case
    zeros = np.zeros(np.prod(plan.data_shape, dtype=int), plan.data_dtype)
    at = np.where(places < 0, zeros.size, places).reshape(-1, 1)
    expected = reference.scatter_nd(zeros, at, y.reshape(-1), reduction="add", bounds="drop")
    assert own.same_bits(plan.vjp(y, indices), expected.reshape(plan.data_shape))


@pytest.mark.parametrize("reduction", ["none", "add"])
@given(data=st.data(), level=st.sampled_from(_core.levels_usable()))
def test_the_gradient_of_a_scatter_is_what_each_update_moved(reduction: str, data: Any, level: str) -> None:
    assert _core.use_level(level)
    policies = ["raise", "clip", "wrap", "drop"]
    plan, indices, y, places = data.draw(gradients(SCATTERS, policies, reduction=reduction))
    of_data, of_updates = y.copy(order="C").reshape(-1), np.zeros(places.size, y.dtype)
    seen = set()
    for k, place in reversed(list(enumerate(places.flat))):
        if place >= 0 and (reduction == "add" or place not in seen):
            of_updates[k] = y.flat[place]
            seen.add(place)
    if reduction == "none":
        of_data[list(seen)] = 0
    got = plan.vjp(y, indices)
    assert own.same_bits(got[0], of_data.reshape(plan.data_shape))
    assert own.same_bits(got[1], of_updates.reshape(plan.updates_shape))


def test_the_last_update_takes_the_gradient() -> None:
    plan = ScatterElementsPlan((3,), "f8", (4,), "i8", bounds="drop")
    of_data, of_updates = plan.vjp([10.0, 20.0, 30.0], [0, 2, 0, 9])
    assert of_data.tolist() == [0, 20, 0]
    assert of_updates.tolist() == [0, 30, 10, 0]
    added = ScatterElementsPlan((3,), "f8", (4,), "i8", bounds="drop", reduction="add")
    of_data, of_updates = added.vjp([10.0, 20.0, 30.0], [0, 2, 0, 9])
    assert of_data.tolist() == [10, 20, 30]
    assert of_updates.tolist() == [10, 30, 10, 0]


def test_places_that_were_not_read_have_no_gradient() -> None:
    plan = GatherPlan((3,), "f4", (2,), "i8", bounds="clip")
    assert plan.vjp(np.float32([1, 2]), [7, -7]).tolist() == [2, 0, 1]
    filled = GatherPlan((3,), "f4", (2,), "i8", bounds="fill", fill_value=5)
    assert filled.vjp(np.float32([1, 2]), [7, 1]).tolist() == [0, 2, 0]


def test_what_is_refused() -> None:
    plan = GatherPlan((3,), "f4", (2,), "i8")
    with pytest.raises(TypeError, match="gather: `gradient` must have the plan's dtype float32, got float64"):
        plan.vjp(np.zeros(2), [0, 1])
    with pytest.raises(ValueError, match=r"gather: `gradient` must have the plan's shape \(2,\), got \(3,\)"):
        plan.vjp(np.zeros(3, "f4"), [0, 1])
    with pytest.raises(
        IndexError, match=r"gather: `indices` must lie in \[-3, 3\) on axis 0, got 3 at \(1,\)"
    ):
        plan.vjp(np.zeros(2, "f4"), [0, 3])
    with pytest.raises(TypeError, match=r"gather: `gradient` must have one of the dtypes bool, .* got <U2"):
        GatherPlan((3,), "U2", (2,), "i8").vjp(np.zeros(2, "U2"), [0, 1])
    for reduction in ("mul", "min", "max"):
        scatter = ScatterNDPlan((3,), "f4", (2, 1), "i8", reduction=reduction)
        with pytest.raises(
            ValueError,
            match=f"scatter_nd: `reduction` must be 'none' or 'add' for a gradient, got '{reduction}'",
        ):
            scatter.vjp(np.zeros(3, "f4"), [[0], [1]])
    scatter = ScatterNDPlan((3,), "f4", (2, 1), "i8")
    with pytest.raises(
        IndexError, match=r"scatter_nd: `indices` must lie in \[-3, 3\) .*, got 3 at \(1, 0\)"
    ):
        scatter.vjp(np.zeros(3, "f4"), [[0], [3]])
    with pytest.raises(
        ValueError, match=r"scatter_nd: `gradient` must have the plan's shape \(3,\), got \(2,\)"
    ):
        scatter.vjp(np.zeros(2, "f4"), [[0], [1]])
    assert remapnd.ScatterNDPlan is ScatterNDPlan
