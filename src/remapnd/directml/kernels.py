"""Valid descriptors to prepared calls: the plan of each operator, and what it does with views of its tensors.

Uses `operators`, `layout`, `policy`, `positions` and the plans of the package; used by `run`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from remapnd import checks
from remapnd.directml import read
from remapnd.directml.enums import AxisDirection, InterpolationMode, OperatorType
from remapnd.directml.layout import TensorLayout
from remapnd.directml.policy import Policy
from remapnd.directml.positions import NearestRule, Positions
from remapnd.errors import must
from remapnd.plans.gather import GatherElementsPlan, GatherNDPlan, GatherPlan
from remapnd.plans.resample import ResamplePlan
from remapnd.plans.scatter import ScatterElementsPlan, ScatterNDPlan
from remapnd.plans.separable import SeparablePlan, TapTable, TransposedPlan

Array: TypeAlias = npt.NDArray[Any]
Layouts: TypeAlias = Mapping[str, TensorLayout]
Run: TypeAlias = Callable[[], object]
Bind: TypeAlias = Callable[[Mapping[str, Array], Array], Run]
"""Takes a view of each input by name and one of the output; gives the call that computes."""

_GATHER_BOUNDS: Mapping[str, Literal["clip", "fill", "raise"]] = {
    "clamp": "clip",
    "zero": "fill",
    "error": "raise",
}
_SCATTER_BOUNDS: Mapping[str, Literal["drop", "clip", "raise"]] = {
    "drop": "drop",
    "clamp": "clip",
    "error": "raise",
}


def prepare(desc: Any, layouts: Layouts, policy: Policy) -> Bind:
    """Prepare a valid descriptor whose tensors have these layouts, by name of the field."""
    return _PREPARE[desc.Type](desc, layouts, policy)


def _last(array: Array, count: int) -> Array:
    """View an array by its last `count` dimensions: those before have size 1, missing ones get it."""
    missing = (None,) * (count - array.ndim)
    view: Array = array[(*missing, *(0,) * (array.ndim - count), ...)]
    return view


def _gather(desc: Any, layouts: Layouts, policy: Policy) -> Bind:
    """Prepare GATHER."""
    data, axis = layouts["InputTensor"], int(desc.Axis)
    make = partial(GatherPlan, axis=axis)
    return _gathering(desc, make, _Real(len(data.sizes), int(desc.IndexDimensions), (axis,)), layouts, policy)


def _gather_elements(desc: Any, layouts: Layouts, policy: Policy) -> Bind:
    """Prepare GATHER_ELEMENTS."""
    data, axis = layouts["InputTensor"], int(desc.Axis)
    make = partial(GatherElementsPlan, axis=axis)
    return _gathering(desc, make, _Real(len(data.sizes), len(data.sizes), (axis,)), layouts, policy)


def _gather_nd(desc: Any, layouts: Layouts, policy: Policy) -> Bind:
    """Prepare GATHER_ND and GATHER_ND1."""
    batch = int(getattr(desc, "BatchDimensionCount", 0))
    return _gathering(
        desc, partial(GatherNDPlan, batch_dims=batch), _real_of_tuples(desc, batch, layouts), layouts, policy
    )


class _Real(NamedTuple):
    """How many of the last dimensions of data and indices are real, and which of data indices are for."""

    data: int
    indices: int
    axes: tuple[int, ...]


def _real_of_tuples(desc: Any, batch: int, layouts: Layouts) -> _Real:
    """Return the real dimensions of an operator with index tuples."""
    counts = int(desc.InputDimensionCount), int(desc.IndicesDimensionCount)
    first = len(layouts["InputTensor"].sizes) - counts[0] + batch
    return _Real(*counts, tuple(range(first, first + layouts["IndicesTensor"].sizes[-1])))


def _gathering(
    desc: Any,
    make: Callable[..., Any],
    real: _Real,
    layouts: Layouts,
    policy: Policy,
) -> Bind:
    """Prepare a gather."""
    data_count, indices_count, axes = real
    data, indices = layouts["InputTensor"], layouts["IndicesTensor"]
    plan = make(
        _tail(data.sizes, data_count),
        data.dtype,
        _tail(indices.sizes, indices_count),
        indices.dtype,
        bounds=_GATHER_BOUNDS[policy.gather_oob],
    )
    clamped = policy.gather_oob == "clamp" and policy.gather_under == "clampN" and indices.dtype.kind == "i"
    sizes = tuple(data.sizes[axis] for axis in axes)
    ranges = _Ranges(desc, axes, sizes, f" (gather_oob is {policy.gather_oob!r})")

    def bind(views: Mapping[str, Array], out: Array) -> Run:
        source, index = _last(views["InputTensor"], data_count), _last(views["IndicesTensor"], indices_count)
        target = _last(out, len(plan.output_shape))
        if clamped:
            return lambda: plan(source, _from_above(index, sizes), out=target)
        run = partial(plan, source, index, out=target)
        return ranges.named(run, views["IndicesTensor"]) if policy.gather_oob == "error" else run

    return bind


def _tail(sizes: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Return the last `count` sizes."""
    return sizes[len(sizes) - count :]


class _Ranges(NamedTuple):
    """What the indices of a descriptor may be, in its words."""

    desc: Any
    axes: tuple[int, ...]
    sizes: tuple[int, ...]
    why: str

    def named(self, run: Run, indices: Array) -> Run:
        """Return the call that tells of an index out of range as something about the descriptor."""

        def named() -> None:
            try:
                run()
            except IndexError:
                checks.index_range(
                    str(self.desc.Type),
                    indices,
                    self.axes,
                    self.sizes,
                    components="IndicesDimensionCount" in self.desc.field_kinds(),
                    bounds="raise",
                    name="IndicesTensor",
                    why=self.why,
                )
                raise

        return named


def _from_above(indices: Array, sizes: tuple[int, ...]) -> Array:
    """Turn indices below -n into n - 1; the plans clip them to 0."""
    limits = np.asarray(sizes if len(sizes) > 1 else sizes[0], np.int64)  # indices may have no axis
    below = indices < -limits
    return np.where(below, limits - 1, indices).astype(indices.dtype) if below.any() else indices


def _scatter(desc: Any, layouts: Layouts, policy: Policy) -> Bind:
    """Prepare SCATTER."""
    rank = len(layouts["InputTensor"].sizes)
    make = partial(ScatterElementsPlan, axis=int(desc.Axis))
    return _scattering(desc, make, _Real(rank, rank, (int(desc.Axis),)), layouts, policy)


def _scatter_nd(desc: Any, layouts: Layouts, policy: Policy) -> Bind:
    """Prepare SCATTER_ND."""
    return _scattering(desc, ScatterNDPlan, _real_of_tuples(desc, 0, layouts), layouts, policy)


def _scattering(
    desc: Any,
    make: Callable[..., Any],
    real: _Real,
    layouts: Layouts,
    policy: Policy,
) -> Bind:
    """Prepare a scatter."""
    data_count, indices_count, axes = real
    data, indices = layouts["InputTensor"], layouts["IndicesTensor"]
    shape, index_shape = _tail(data.sizes, data_count), _tail(indices.sizes, indices_count)
    bounds = _SCATTER_BOUNDS[policy.scatter_oob]
    plan = make(shape, data.dtype, index_shape, indices.dtype, bounds=bounds)
    sizes = tuple(data.sizes[axis] for axis in axes)
    ranges = _Ranges(desc, axes, sizes, f" (scatter_oob is {policy.scatter_oob!r})")
    if policy.scatter_duplicates == "error":
        count = make(shape, np.dtype(np.int64), index_shape, indices.dtype, bounds=bounds, reduction="add")

    def once(source: Array, index: Array, updates: Array, target: Array) -> None:
        written = count(np.zeros(shape, np.int64), index, np.ones(plan.updates_shape, np.int64))
        if written.max() > 1:
            place = tuple(np.argwhere(written > 1)[0].tolist())
            rule = "lead to each place once (scatter_duplicates is 'error')"
            got = f"{written[place]} updates"
            raise IndexError(must(str(desc.Type), "IndicesTensor", rule, got, place))
        plan(source, index, updates, out=target)

    def bind(views: Mapping[str, Array], out: Array) -> Run:
        source, index = _last(views["InputTensor"], data_count), _last(views["IndicesTensor"], indices_count)
        updates = _last(views["UpdatesTensor"], len(plan.updates_shape))
        target = _last(out, data_count)
        run: Run = partial(plan, source, index, updates, out=target)
        if policy.scatter_duplicates == "error":
            run = partial(once, source, index, updates, target)
        return ranges.named(run, views["IndicesTensor"]) if policy.scatter_oob == "error" else run

    return bind


def _upsample_2d(desc: Any, layouts: Layouts, policy: Policy) -> Bind:
    """Prepare UPSAMPLE_2D, which is RESAMPLE by whole numbers."""
    outer = len(layouts["InputTensor"].sizes) - 2
    scales = (*[1.0] * outer, float(desc.ScaleSize.Height), float(desc.ScaleSize.Width))
    return _resampling(desc, layouts, policy, scales)


def _resample(desc: Any, layouts: Layouts, policy: Policy) -> Bind:
    """Prepare RESAMPLE and its successors."""
    return _resampling(desc, layouts, policy, tuple(map(read.float32, desc.Scales)))


def _is_linear(desc: Any) -> bool:
    return InterpolationMode.parse(desc.InterpolationMode) is InterpolationMode.LINEAR


def _nearest_rule(desc: Any, policy: Policy) -> NearestRule:
    """Return how a descriptor and the policy round positions."""
    if hasattr(desc, "RoundingDirection"):
        direction = AxisDirection.parse(desc.RoundingDirection)
        return "floor" if direction is AxisDirection.DECREASING else "ceil"
    return "half_up" if policy.nearest_ties == "up" else "half_down"


def _mode(desc: Any, policy: Policy) -> dict[str, Any]:
    """Return the mode of a descriptor, and the option that belongs to it, as `ResamplePlan` takes them."""
    if _is_linear(desc):
        return {"mode": "linear", "integer_rule": policy.int_linear_rounding}
    return {"mode": "nearest", "nearest_rule": _nearest_rule(desc, policy)}


def _offsets(desc: Any, rank: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the offsets of a descriptor; those between pixel centres if it has none."""
    into = tuple(map(read.float32, getattr(desc, "InputPixelOffsets", [0.5] * rank)))
    onto = tuple(map(read.float32, getattr(desc, "OutputPixelOffsets", [-0.5] * rank)))
    return into, onto


def _resampling(desc: Any, layouts: Layouts, policy: Policy, scales: tuple[float, ...]) -> Bind:
    """Prepare a resampling by `scales`: by the plan where positions are exact and the filter is its own."""
    data, output = layouts["InputTensor"], layouts["OutputTensor"]
    into, onto = _offsets(desc, len(scales))
    linear, rule = _is_linear(desc), _nearest_rule(desc, policy)
    smooth = linear and policy.aa_filter != "off" and bool(getattr(desc, "Antialiased", False))
    if policy.coordinate_precision == "exact" and not (smooth and policy.aa_filter == "iterative"):
        try:
            plan = ResamplePlan(
                data.sizes,
                data.dtype,
                scales=scales,
                shape=output.sizes,
                input_offsets=into,
                output_offsets=onto,
                antialias="directml" if smooth else None,
                **_mode(desc, policy),
            )
        except ValueError as error:  # all that a valid descriptor can still ask for is too many weights
            _, _, rule_and_value = str(error).partition(" must ")
            raise ValueError(f"{desc.Type}: `Scales` must {rule_and_value}") from None
        return lambda views, out: partial(plan, views["InputTensor"], out=out)
    places = [
        Positions(*of_axis, policy.coordinate_precision)
        for of_axis in zip(data.sizes, output.sizes, scales, into, onto, strict=True)
    ]
    if not linear:
        picked = np.ix_(*(place.nearest(rule) for place in places))
        return lambda views, out: partial(_pick, views["InputTensor"], picked, out)
    tables = {}
    for axis, place in enumerate(places):
        if not (smooth and 2 * place.scale < 1):
            tables[axis] = place.linear()
        else:
            tables[axis] = place.triangle() if policy.aa_filter == "triangle" else place.halved()
    sums = SeparablePlan(data.sizes, data.dtype, tables, policy.int_linear_rounding)
    return lambda views, out: partial(sums, views["InputTensor"], out)


def _pick(data: Array, picked: tuple[Array, ...], out: Array) -> None:
    """Copy the elements at the crossings of indices."""
    out[...] = data[picked]


def _resample_grad(desc: Any, layouts: Layouts, policy: Policy) -> Bind:
    """Prepare RESAMPLE_GRAD and RESAMPLE_GRAD1: the transpose of the forward resampling."""
    forward_out, forward_in = layouts["InputGradientTensor"], layouts["OutputGradientTensor"]
    into, onto = _offsets(desc, len(forward_in.sizes))
    if policy.grad_offsets == "swapped":
        into, onto = onto, into
    linear, rule = _is_linear(desc), _nearest_rule(desc, policy)
    scales = tuple(map(read.float32, desc.Scales))
    if policy.coordinate_precision == "exact":
        plan = ResamplePlan(
            forward_in.sizes,
            forward_in.dtype,
            scales=scales,
            shape=forward_out.sizes,
            input_offsets=into,
            output_offsets=onto,
            **_mode(desc, policy),
        )
        return lambda views, out: partial(plan.vjp, views["InputGradientTensor"], out=out)
    tables = {}
    for axis, (n_in, n_out) in enumerate(zip(forward_in.sizes, forward_out.sizes, strict=True)):
        place = Positions(n_in, n_out, scales[axis], into[axis], onto[axis], policy.coordinate_precision)
        tables[axis] = place.linear() if linear else TapTable.of_nearest(place.nearest(rule), n_in)
    sums = TransposedPlan(forward_out.sizes, forward_out.dtype, tables)
    return lambda views, out: partial(sums, views["InputGradientTensor"], out)


_PREPARE: Mapping[OperatorType, Callable[[Any, Layouts, Policy], Bind]] = {
    OperatorType.GATHER: _gather,
    OperatorType.GATHER_ELEMENTS: _gather_elements,
    OperatorType.GATHER_ND: _gather_nd,
    OperatorType.GATHER_ND1: _gather_nd,
    OperatorType.SCATTER: _scatter,
    OperatorType.SCATTER_ND: _scatter_nd,
    OperatorType.UPSAMPLE_2D: _upsample_2d,
    OperatorType.RESAMPLE: _resample,
    OperatorType.RESAMPLE1: _resample,
    OperatorType.RESAMPLE2: _resample,
    OperatorType.RESAMPLE3: _resample,
    OperatorType.RESAMPLE_GRAD: _resample_grad,
    OperatorType.RESAMPLE_GRAD1: _resample_grad,
}
