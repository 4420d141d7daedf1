"""Plans of gathers with constant indices: results, what they find, and what they refuse."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import SAME_VALUES, index_dtypes, laid_out, movable_dtypes, random_array, same_bits, seeds

from remapnd import GatherElementsPlan, GatherNDPlan, GatherPlan, _core, reference
from remapnd.plans.constant import ConstantIndices


def found(plan: GatherPlan | GatherElementsPlan | GatherNDPlan) -> ConstantIndices:
    """Return what a plan found in its indices."""
    assert plan._constant is not None
    return plan._constant


@st.composite
def constant_cases(draw: st.DrawFn) -> tuple[Any, npt.NDArray[Any], dict[str, Any]]:
    """Draw a plan with constant indices, data for it, and the arguments of the reference."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    dtype = draw(movable_dtypes)
    data = random_array(shape, dtype, draw(seeds))
    bounds = draw(st.sampled_from(["raise", "clip", "wrap", "fill"]))
    axis = draw(st.integers(0, len(shape) - 1))
    n = shape[axis]
    reach = 1 if bounds == "raise" else 3
    index = draw(index_dtypes)
    low = 0 if index.kind == "u" else -n * reach

    def indices(wanted: tuple[int, ...]) -> npt.NDArray[Any]:
        kind = draw(st.sampled_from(["random", "repeated", "runs"]))
        i = rng.integers(low, n * reach, wanted)
        if kind == "repeated" and i.ndim and i.size:
            i = np.broadcast_to(i[:1], wanted)
        if kind == "runs" and i.ndim:
            i = (np.arange(i.size).reshape(wanted) + draw(st.integers(0, n))) % n
        return i.astype(index)

    options: dict[str, Any] = {"bounds": bounds}
    if bounds == "fill":
        options["fill_value"] = random_array((1,), dtype, draw(seeds))[0, ...]
    function = draw(st.sampled_from(["gather", "gather_elements", "gather_nd"]))
    if function == "gather":
        i = indices(tuple(draw(st.lists(st.integers(0, 6), max_size=2))))
        plan: Any = GatherPlan(shape, dtype, indices=i, axis=axis, **options)
        options["axis"] = axis
    elif function == "gather_elements":
        i = indices((*shape[:axis], draw(st.integers(0, 12)), *shape[axis + 1 :]))
        plan = GatherElementsPlan(shape, dtype, indices=i, axis=axis, **options)
        options["axis"] = axis
    else:
        t = draw(st.integers(0, len(shape)))
        n = min(shape[:t], default=1)
        low = 0 if index.kind == "u" else -n * reach
        i = indices((draw(st.integers(0, 9)), t))
        plan = GatherNDPlan(shape, dtype, indices=i, **options)
    return plan, data, {"function": function, "indices": i, "options": options}


@given(
    constant_cases(),
    st.sampled_from(_core.levels_usable()),
    st.sampled_from(SAME_VALUES),
)
def test_constant_plans_equal_the_reference(case: Any, level: str, layout: str) -> None:
    assert _core.use_level(level)
    plan, data, told = case
    data = laid_out(data, layout)
    want = getattr(reference, told["function"])(data, told["indices"], **told["options"])
    assert same_bits(plan(data), want)
    assert same_bits(plan(np.asfortranarray(data)), want)
    out = np.empty(plan.output_shape, data.dtype)
    assert plan(data, out=out) is out
    assert same_bits(out, want)
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    assert hash(again) == hash(plan)
    assert plan.explain() == again.explain()
    assert same_bits(again(data), want)


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        (">i2", np.array(24450, ">i2"), "24450"),
        ("f4", np.float32(2.5), "2.5"),
        ("f4", 2.5, "2.5"),
        ("S3", np.array(b"abc"), "b'abc'"),
        ("M8[D]", np.datetime64("2024-01-02"), "2024-01-02"),
    ],
)
def test_explain_says_what_fills(dtype: str, value: Any, text: str) -> None:
    plan = GatherPlan((1,), dtype, indices=np.array([2]), bounds="fill", fill_value=value)
    assert f"an index out of range gives the fill value {text}\n" in plan.explain()
    assert pickle.loads(pickle.dumps(plan)).explain() == plan.explain()


def test_indices_are_owned() -> None:
    indices = np.array([1, 2])
    plan = GatherPlan((3,), "i4", indices=indices)
    indices[:] = 0
    assert plan(np.array([5, 6, 7], "i4")).tolist() == [6, 7]
    assert plan.indices.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        plan.indices[0] = 0


def test_equality_is_of_the_indices() -> None:
    def plan(values: Any, dtype: str = "i8") -> GatherPlan:
        return GatherPlan((3,), "i4", indices=np.array(values, dtype))

    assert plan([0, 1]) == plan([0, 1])
    assert plan([0, 1]) != plan([0, 2])
    assert plan([0, -1]) != plan([0, 2])  # the same result, but not the same indices
    assert plan([0, 1]) != plan([0, 1], "i4")
    assert plan([0, 1]) != GatherPlan((3,), "i4", (2,), "i8")
    assert len({plan([0, 1]), plan([0, 1]), plan([1, 0])}) == 2
    assert found(plan([0, 1])) != "else"


@pytest.mark.parametrize(
    ("n", "indices", "dtype"),
    [
        (3, [0, -1], "u1"),
        (256, [255], "u1"),
        (257, [-1], "u2"),
        (65537, [65536], "i4"),
        (2**31 + 1, [2**31], "i8"),
        (70000, [3], "u1"),
    ],
)
def test_narrowest_type(n: int, indices: list[int], dtype: str) -> None:
    assert found(GatherPlan((n,), "u1", indices=indices)).used.dtype == dtype


def test_one_out_of_range_under_fill_needs_room() -> None:
    plan = GatherPlan((256,), "u1", indices=[255, 256], bounds="fill", fill_value=9)
    assert found(plan).used.dtype == "u2"
    assert found(plan).outside == 1
    assert plan(np.arange(256, dtype="u1")).tolist() == [255, 9]


def test_repeated_axes_are_read_once() -> None:
    block = np.random.default_rng(0).integers(0, 5, (1, 1, 7))
    indices = np.broadcast_to(block, (4, 6, 7))
    plan = GatherElementsPlan((4, 6, 5), "f4", indices=indices, axis=2)
    assert found(plan).repeated_axes == (0, 1)
    assert found(plan).used.strides == (0, 0, 1)
    data = np.random.default_rng(1).random((4, 6, 5), np.float32)
    assert same_bits(plan(data), np.take_along_axis(data, indices, 2))


def test_order_and_uniqueness() -> None:
    def facts(values: list[int]) -> tuple[bool, bool]:
        f = found(GatherPlan((9,), "f4", indices=values))
        return f.is_sorted, f.is_unique

    assert facts([0, 3, 8]) == (True, True)
    assert facts([0, 3, 3]) == (True, False)
    assert facts([8, 0, -2]) == (False, True)
    assert facts([8, 0, -1]) == (False, False)
    tuples = found(GatherNDPlan((3, 4), "f4", indices=[[0, 3], [1, 0], [2, 2]]))
    assert (tuples.is_sorted, tuples.is_unique) == (True, True)


@pytest.mark.parametrize("level", _core.levels_usable())
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_consecutive_indices_move_in_pieces(axis: int, level: str) -> None:
    assert _core.use_level(level)
    rng = np.random.default_rng(2)
    data = rng.integers(0, 2**32, (40, 64, 48), np.uint32)
    n = data.shape[axis]
    starts = rng.integers(0, n - 8, (5, 12))
    indices = (starts[..., None] + np.arange(8)).reshape(5, 96)
    plan = GatherPlan(data.shape, data.dtype, indices=indices, axis=axis)
    assert found(plan).run_length in (8, 16, 24, 32, 48, 96)
    assert plan._pieces(found(plan))
    want = np.take(data, indices, axis)
    assert same_bits(plan(data), want)
    assert same_bits(plan(data[::-1, :, ::-1]), np.take(data[::-1, :, ::-1], indices, axis))
    out = np.zeros(want.shape[::-1], data.dtype).T
    assert plan(data, out=out) is out
    assert same_bits(out, want)


def test_explain() -> None:
    indices = np.tile(np.r_[4:8, 0:4], (3, 1)) - 8
    plan = GatherPlan((8, 2), "f4", indices=indices)
    assert plan.explain().splitlines()[-6:-1] == [
        "  indices are constant: values in [-8, -1]; some the same",
        "  negative ones were counted from the end once, for all calls",
        "  held as uint8: 8 bytes instead of 192",
        "  the same along axis 0 of indices: read once for all places there",
        "  consecutive in pieces of 4: 4 items of the axis at once",
    ]
    assert "constant: none" in GatherPlan((3,), "f4", indices=[]).explain()
    fill = GatherPlan((3,), "f4", indices=[0, 1, 5], bounds="fill").explain()
    assert "values in [0, 5], 1 out of range; sorted, no two the same" in fill


def test_refusals() -> None:
    plan = GatherPlan((3,), "f4", indices=[0, 1])
    data = np.zeros(3, "f4")
    with pytest.raises(
        TypeError, match="gather: `indices` must be left out, as the plan has its own, got list"
    ):
        plan(data, [0, 1])
    with pytest.raises(ValueError, match=r"gather: `data` must have the plan's shape \(3,\), got \(4,\)"):
        plan(np.zeros(4, "f4"))
    with pytest.raises(ValueError, match="gather: `out` must not overlap an input"):
        plan(data, out=data[:2])
    with pytest.raises(
        IndexError, match=r"gather: `indices` must lie in \[-3, 3\) on axis 0, got 3 at \(1,\)"
    ):
        GatherPlan((3,), "f4", indices=[0, 3])
    rule = "gather: `indices_shape` must be given with `indices_dtype`, or `indices` in place of both"
    with pytest.raises(TypeError, match=f"^{rule}, got neither$"):
        GatherPlan((3,), "f4")
    with pytest.raises(TypeError, match=f"^{rule}, got only indices_dtype='i8'$"):
        GatherPlan((3,), "f4", indices_dtype="i8")
    with pytest.raises(TypeError, match=rf"^{rule}, got an array as `indices_shape` \(constant indices are"):
        GatherPlan((3,), "f4", np.array([0, 1]))
    rule = "gather: `indices_dtype` must be given with `indices_shape`, or `indices` in place of both"
    with pytest.raises(TypeError, match=rf"^{rule}, got only indices_shape=\(2,\)$"):
        GatherPlan((3,), "f4", (2,))
    with pytest.raises(TypeError, match=r"^gather: `data_dtype` must be a dtype, got \(2, 1\)$"):
        GatherPlan((2, 2), (2, 1))
    with pytest.raises(
        ValueError, match=r"gather: `indices_shape` must be \(2,\), as `indices` has, or left out"
    ):
        GatherPlan((3,), "f4", (3,), indices=[0, 1])
    with pytest.raises(
        TypeError, match="gather: `indices` must be given, as the plan was made without, got None"
    ):
        GatherPlan((3,), "f4", (2,), "i8")(data)


def test_gradients_by_the_plans_own_indices():
    gradient = np.arange(8.0).reshape(2, 4)
    own = GatherPlan((3, 4), np.float64, indices=[0, -1])
    other = GatherPlan((3, 4), np.float64, (2,), np.int64)
    np.testing.assert_array_equal(own.vjp(gradient), other.vjp(gradient, [0, 2]))
    with pytest.raises(
        TypeError, match=r"^gather: `indices` must be left out, as the plan has its own, got list$"
    ):
        own.vjp(gradient, [0, 1])
    with pytest.raises(
        TypeError, match=r"^gather: `indices` must be given, as the plan was made without, got None$"
    ):
        other.vjp(gradient)
