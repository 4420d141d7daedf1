"""Resize and Upsample of every version: from attributes and inputs to plans of resampling.

Uses `plans.resample`; used by `operators` and `mapping`.

The two rules
-------------
Where the text of ONNX, its reference evaluator and ONNX Runtime's CPU provider differ, `resize_rules` says
whom to follow:

==============================  =====================================  ================================
                                "onnxruntime"                          "onnx", the reference evaluator
==============================  =====================================  ================================
output length from scales       float32 product, then floor            exact product, then floor
integers, no antialias          cut towards zero                       rounded, ties to even
integers, antialias             rounded half up after each axis,       rounded once, ties to even
                                the last axis first
align_corners and               from the lengths, which are whole      from scale times length, which
tf_crop_and_resize by scales                                           need not be whole
output shape = input shape      copies the input, whatever scales      resamples
                                and roi
nearest along an axis of        copies it, whatever roi and mode       resamples
scale 1
Resize-10, nearest, an axis     takes the ceiling                      takes the floor
that shrinks
extrapolation value, integers   cut towards zero                       rounded and saturated
==============================  =====================================  ================================

Under both, positions are exact: a scale that is given means its exact float32 value, sizes mean the exact
ratio of lengths. ONNX Runtime and the reference compute them in float32 and float64, so that ties of nearest
may fall the other way there. An axis whose result has length 1 reads position 0 under pytorch_half_pixel, as
the text says. `keep_aspect_ratio_policy` gives all axes one scale. Negative axes, and
tf_half_pixel_for_nn from opset 13 on, are taken as ONNX Runtime takes them.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from remapnd import _core, checks
from remapnd.errors import must
from remapnd.onnx.nodes import Array, Node
from remapnd.plans.resample import ResamplePlan

ResizeRules: TypeAlias = Literal["onnxruntime", "onnx"]
RESIZE_RULES: Final = ("onnxruntime", "onnx")

NEAREST_RULES: Final = {
    "round_prefer_floor": "half_down",
    "round_prefer_ceil": "half_up",
    "floor": "floor",
    "ceil": "ceil",
}
POLICIES: Final = ("stretch", "not_larger", "not_smaller")
COORDINATES: Final = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
_MODES: Final = ("nearest", "linear", "cubic")
_CROP: Final = "tf_crop_and_resize"
_KEPT: Final = 16  # plans of a node


@dataclasses.dataclass(frozen=True)
class Axis:
    """What happens along one axis.

    Attributes
    ----------
    axis : int
    n_in, n_out : int
    scale : Fraction
    start, end : Fraction
        First and last position that is read, as parts of n_in - 1: those of roi.
    """

    axis: int
    n_in: int
    n_out: int
    scale: Fraction
    start: Fraction = Fraction(0)
    end: Fraction = Fraction(1)


class ResizeNode:
    """A Resize or Upsample node: its attributes checked, a plan kept for each of the latest calls.

    Parameters
    ----------
    node : Node
    rules : "onnxruntime" or "onnx"

    Raises
    ------
    ValueError
        An attribute has a value that the operator does not have.
    """

    def __init__(self, node: Node, rules: str) -> None:
        self.label = node.label
        self.rules = rules
        self.since = node.since
        self.upsample = node.op == "Upsample"
        attributes = {"mode": "nearest", "nearest_mode": "round_prefer_floor"} | dict(node.attributes)
        if node.since < 11:  # Upsample, and Resize-10: what later versions call asymmetric
            attributes |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        if attributes["mode"] in ("bilinear", "trilinear") and node.since == 1:
            attributes["mode"] = "linear"
        modes = _MODES if node.since >= 11 else _MODES[:2]
        self.mode = self._choice(attributes, "mode", modes)
        self.coordinates = self._choice(attributes, "coordinate_transformation_mode", COORDINATES)
        self.nearest_mode = self._choice(attributes, "nearest_mode", tuple(NEAREST_RULES))
        self.policy = self._choice({"keep_aspect_ratio_policy": "stretch"} | attributes, *_POLICY)
        self.antialias = bool(attributes.get("antialias", 0))
        if self.antialias and self.mode == "nearest":
            raise ValueError(must(self.label, "antialias", "be 0 for mode 'nearest'", 1))
        self.exclude_outside = bool(attributes.get("exclude_outside", 0))
        self.cubic_coefficient = float(attributes.get("cubic_coeff_a", -0.75))
        self.extrapolation_value = float(attributes.get("extrapolation_value", 0.0))
        self.listed_axes: list[int] | None = attributes.get("axes")
        self.scales: list[float] | None = attributes.get("scales")
        if node.op == "Upsample" and node.since == 1:
            self.scales = [1.0, 1.0, attributes["height_scale"], attributes["width_scale"]]
        # Resize-10 knows no nearest_mode; ONNX Runtime takes the ceiling where an axis shrinks.
        self.ceil_to_shrink = node.since == 10 and rules == "onnxruntime"
        self._lock = threading.Lock()
        self._plans: dict[tuple[Any, ...], Callable[[Array], Array]] = {}

    def _choice(self, attributes: dict[str, Any], name: str, allowed: Sequence[str]) -> str:
        """Return an attribute that must be one of some words."""
        value: str = attributes[name]
        checks.choice(self.label, name, value, allowed)
        return value

    def __call__(self, x: Array, *others: Array | None) -> Array:
        """Resize `x`, as the other inputs of the node's version say."""
        return self._found((x.shape, x.dtype, *map(_bytes, others)), x, others)(x)

    def bound(self, *others: Array | None) -> Callable[[Array], Array]:
        """Return the function of `x` alone, for other inputs that do not change."""
        again = _core.RecentResamples()  # arrays like the latest go straight to the core

        def run(x: Array) -> Array:
            result = again(x, (), None)
            if result is not None:
                return result
            plan = self._found((x.shape, x.dtype), x, others)
            if isinstance(plan, ResamplePlan) and plan._short_way is not None:
                again.keep(plan._short_way, ())
            return plan(x)

        return run

    def _found(
        self, key: tuple[Any, ...], x: Array, others: Sequence[Array | None]
    ) -> Callable[[Array], Array]:
        """Return what resizes arrays like `x`, made once for each of the latest keys."""
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plan(x, self.geometry(x.shape, *self.named(*others)))
            with self._lock:
                if len(self._plans) >= _KEPT:
                    del self._plans[next(iter(self._plans))]
                self._plans[key] = plan
        return plan

    def named(self, *others: Array | None) -> tuple[Array | None, Array | None, Array | None]:
        """Return roi, scales and sizes, whichever of them are inputs or attributes of the node's version."""
        if self.since < 11:
            given = others[0] if others else None
            return None, self.as_scales() if given is None and self.scales is not None else given, None
        roi, scales, sizes = (*others, None, None, None)[:3]
        return roi, scales, sizes

    def as_scales(self) -> Array:
        """Return the scales that Upsample-1 and -7 have as attributes."""
        return np.array(self.scales, np.float32)

    def geometry(
        self, shape: Sequence[int], roi: Array | None, scales: Array | None, sizes: Array | None
    ) -> list[Axis]:
        """Find lengths, scale and part of the input of every axis that is resized."""
        axes = self._axes(len(shape))
        n_ins = [shape[axis] for axis in axes]
        asked = self._given("scales", scales, axes), self._given("sizes", sizes, axes)
        if (asked[0] is None) == (asked[1] is None):
            rule = "be given if `sizes` is not, and only then"
            raise ValueError(must(self.label, "scales", rule, "neither" if asked[0] is None else "both"))
        if asked[1] is not None:
            steps, n_outs = self._from_sizes(n_ins, asked[1])
        else:
            assert asked[0] is not None
            steps, n_outs = self._from_scales(n_ins, asked[0])
        for axis, n_in, n_out in zip(axes, n_ins, n_outs, strict=True):
            if n_out and not n_in:
                name = "sizes" if asked[1] is not None else "scales"
                raise ValueError(
                    must(self.label, name, f"give length 0 to axis {axis}, which is empty", n_out)
                )
        edges = self._roi(roi, len(axes))
        return [
            self._followed(Axis(*values), by_scales=asked[1] is None)
            for values in zip(axes, n_ins, n_outs, steps, *edges, strict=True)
        ]

    def along(self, axis: Axis) -> Callable[[Array], Array]:
        """Return what is computed along one axis alone, for arrays of one axis."""
        moved = dataclasses.replace(axis, axis=0)
        plan = self._resample_plan((axis.n_in,), np.dtype(np.float64), [moved])
        if self.mode == "nearest" and self.rules == "onnxruntime" and axis.scale == 1:
            return lambda x: x.copy()
        return plan

    def _axes(self, rank: int) -> tuple[int, ...]:
        """Return the axes that scales, sizes and roi list."""
        return checks.axes(self.label, self.listed_axes, rank)

    def _given(self, name: str, array: Array | None, axes: Sequence[int]) -> list[Any] | None:
        """Return an input as a list, or None if it is absent or empty; a list for no axes is empty."""
        if array is None:
            return None
        if array.ndim != 1:
            raise ValueError(must(self.label, name, "be a list, with one axis", f"shape {array.shape}"))
        if not array.size and axes:
            return None
        if array.size != len(axes):
            which = (
                f"each of the {len(axes)} axes" if self.listed_axes is None else f"each of {len(axes)} `axes`"
            )
            raise ValueError(must(self.label, name, f"have one value for {which}", f"{array.size} values"))
        listed: list[Any] = array.tolist()
        return listed

    def _from_scales(self, n_ins: Sequence[int], scales: Sequence[float]) -> tuple[list[Fraction], list[int]]:
        """Return exact scales and the lengths that they give."""
        steps = checks.scales(self.label, list(scales), len(n_ins))
        if self.upsample and min(steps, default=1) < 1:
            raise ValueError(must(self.label, "scales", "be at least 1", float(min(steps))))
        if self.rules == "onnx":
            return steps, [math.floor(n * step) for n, step in zip(n_ins, steps, strict=True)]
        with np.errstate(over="ignore"):
            products = np.array(n_ins, np.float32) * np.array(scales, np.float32)
        if not np.isfinite(products).all():
            raise ValueError(must(self.label, "scales", "give finite lengths", products.tolist()))
        return steps, [math.floor(product) for product in products.tolist()]

    def _from_sizes(self, n_ins: Sequence[int], sizes: Sequence[int]) -> tuple[list[Fraction], list[int]]:
        """Return exact scales and lengths: those asked for, or those of one common scale."""
        if min(sizes, default=0) < 0:
            raise ValueError(must(self.label, "sizes", "be at least 0", min(sizes)))
        steps = [Fraction(m, n) if n and m else Fraction(1) for n, m in zip(n_ins, sizes, strict=True)]
        if self.policy == "stretch" or not all(n_ins):
            return steps, list(sizes)
        asked = [Fraction(m, n) for n, m in zip(n_ins, sizes, strict=True)]
        scale = (
            min(asked, default=Fraction(1))
            if self.policy == "not_larger"
            else max(asked, default=Fraction(1))
        )
        n_outs = [math.floor(n * scale + Fraction(1, 2)) for n in n_ins]
        return [scale or Fraction(1)] * len(n_ins), n_outs

    def _roi(self, roi: Array | None, count: int) -> tuple[list[Fraction], list[Fraction]]:
        """Return first and last position along each axis; only tf_crop_and_resize has others than 0 and 1."""
        if self.coordinates != _CROP:
            return [Fraction(0)] * count, [Fraction(1)] * count
        if roi is None or not roi.size:  # as ONNX Runtime, the whole input
            return [Fraction(0)] * count, [Fraction(1)] * count
        if roi.ndim != 1 or roi.size != 2 * count:
            rule = f"be a list of 2 * {count} values for {_CROP}"
            raise ValueError(must(self.label, "roi", rule, f"shape {roi.shape}"))
        values = checks.numbers(self.label, "roi", roi.astype(np.float64).tolist(), 2 * count)
        return values[:count], values[count:]

    def _followed(self, axis: Axis, by_scales: bool) -> Axis:
        """Apply the rule of the reference: scale * n, instead of the length, sets the last position."""
        if self.rules != "onnx" or not by_scales or self.coordinates not in (_CROP, "align_corners"):
            return axis
        wanted = axis.scale * axis.n_in
        if wanted == axis.n_out:
            return axis
        reached = Fraction(axis.n_out - 1) / (wanted - 1) if axis.n_out > 1 else Fraction(0)
        return dataclasses.replace(axis, end=axis.start + (axis.end - axis.start) * reached)

    def _plan(self, x: Array, geometry: list[Axis]) -> Callable[[Array], Array]:
        """Make the plans for arrays like `x`, one after the other."""
        shape = list(x.shape)
        for axis in geometry:
            shape[axis.axis] = axis.n_out
        checks.result_shape(self.label, "sizes", tuple(shape), x.dtype)
        if 0 in shape:
            return lambda x: np.empty(shape, x.dtype)
        if self.rules == "onnxruntime":
            if tuple(shape) == x.shape:
                return lambda x: x.copy()
            if self.mode == "nearest":
                geometry = [axis for axis in geometry if axis.scale != 1]
        plans = []
        at = list(x.shape)
        dtype = np.dtype(np.int64) if x.dtype.hasobject and self.mode == "nearest" else x.dtype
        for stage in self._stages(geometry, dtype):
            plans.append(self._resample_plan(tuple(at), dtype, stage))
            at = list(plans[-1].output_shape)
        if dtype != x.dtype:
            return lambda x: _moved(plans, x)
        if len(plans) == 1:
            return plans[0]
        return lambda x: _applied(plans, x)

    def _stages(self, geometry: list[Axis], dtype: np.dtype[Any]) -> list[list[Axis]]:
        """Split the axes into groups that are resampled, and rounded, one after the other."""
        if self.antialias and self.rules == "onnxruntime" and dtype.kind in "iu":
            return [[axis] for axis in reversed(geometry)]
        if self.mode == "nearest" and self.ceil_to_shrink:
            shrink = [axis for axis in geometry if axis.scale < 1]
            stages = [shrink, [axis for axis in geometry if axis.scale >= 1]]
            return [stage for stage in stages if stage]
        return [geometry]

    def _resample_plan(self, shape: tuple[int, ...], dtype: np.dtype[Any], axes: list[Axis]) -> ResamplePlan:
        """Make the plan for one group of axes."""
        options: dict[str, Any] = {"coordinates": self.coordinates, "mode": self.mode}
        if self.coordinates == _CROP:
            options["roi"] = [axis.start for axis in axes] + [axis.end for axis in axes]
            options["extrapolation_value"] = self._extrapolation_value(dtype)
        elif any(axis.end != 1 for axis in axes):  # align_corners of the reference
            options["coordinates"] = _CROP
            options["roi"] = [axis.start for axis in axes] + [axis.end for axis in axes]
        if self.mode == "nearest":
            shrink = self.ceil_to_shrink and bool(axes) and axes[0].scale < 1
            options["nearest_rule"] = "ceil" if shrink else NEAREST_RULES[self.nearest_mode]
        else:
            options["integer_rule"] = self._integer_rule()
        if self.antialias:
            options["antialias"] = "pillow" if self.exclude_outside else "onnx"
        if self.mode == "cubic":
            options["cubic_coefficient"] = self.cubic_coefficient
            options["exclude_outside"] = self.exclude_outside
        lengths, scales = [axis.n_out for axis in axes], [axis.scale for axis in axes]
        numbers = tuple(axis.axis for axis in axes)
        return ResamplePlan.resized(shape, dtype, lengths, axes=numbers, scales=scales, **options)

    def _integer_rule(self) -> str:
        """Return how results on integers are rounded."""
        if self.rules == "onnx":
            return "half_even"
        return "half_up" if self.antialias else "truncate"

    def _extrapolation_value(self, dtype: np.dtype[Any]) -> Any:
        """Return the value for positions outside as the dtype has it."""
        value = self.extrapolation_value
        if dtype.kind == "b":
            return bool(value)
        if dtype.kind not in "iu":
            return value
        if not math.isfinite(value):
            raise ValueError(must(self.label, "extrapolation_value", f"be finite for {dtype}", value))
        if self.rules == "onnxruntime":
            return math.trunc(value)
        limits = np.iinfo(dtype)
        return min(max(round(value), int(limits.min)), int(limits.max))


_POLICY: Final = ("keep_aspect_ratio_policy", POLICIES)


def _bytes(array: Array | None) -> tuple[tuple[int, ...], bytes] | None:
    """Return what tells an input from others."""
    return None if array is None else (array.shape, array.tobytes())


def _applied(plans: Sequence[ResamplePlan], x: Array) -> Array:
    """Resample by one plan after the other."""
    for plan in plans:
        x = plan(x)
    return x


def _moved(plans: Sequence[ResamplePlan], strings: Array) -> Array:
    """Resample strings, which are Python objects, by their numbers."""
    result: Array = strings.ravel()[_applied(plans, np.arange(strings.size).reshape(strings.shape))]
    return result
