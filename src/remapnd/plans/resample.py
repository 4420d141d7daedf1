"""Plan of a resampling: exact maps to per-axis tables to one kernel call.

Uses `filters` and `filter_taps` for the tables, `plans.arithmetic` and `plans.exact` for integers, and the
compiled core.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core, arrays, checks, coordinates, reference, taps
from ..coordinates import COORDINATE_MODES, CROP, AxisMap, Number, coordinate_map
from ..errors import must
from ..filter_taps import FilterTable, Table, axis_table, filter_table
from ..filters import ANTIALIAS, FILTER_MODES, Filter, FilterOptions, choose
from . import arithmetic, exact, explanation
from .arithmetic import FLOAT64_INTEGERS, INTEGER_RULES, Arithmetic

MODES: Final = ("nearest", *FILTER_MODES)

PerAxis: TypeAlias = "Number | Sequence[Number]"

TYPES: Final = {
    "uint8": 0,
    "int8": 1,
    "uint16": 2,
    "int16": 3,
    "uint32": 4,
    "int32": 5,
    "uint64": 6,
    "int64": 7,
    "float16": 8,
    "bfloat16": 9,
    "float32": 10,
    "float64": 11,
}
_PAIRS: Final = {"complex64": "float32", "complex128": "float64"}
WORKING: Final = {"float32": 0, "float64": 1, "uint16": 2}
_LARGEST_COEFFICIENT: Final = 1024
_LARGE: Final = 1 << 32  # bytes of a result
_MAX_AXES: Final = 16  # as csrc/resample_run.cpp


class AxisPlan(NamedTuple):
    """What is asked for along one axis."""

    axis: int
    n_out: int
    map: AxisMap
    scale: Fraction  # output samples per input sample: how far filters are stretched


class Options(NamedTuple):
    """Options of a plan, in the words of `resample`."""

    mode: str
    nearest_rule: str
    antialias: str | None
    cubic_coefficient: Number
    exclude_outside: bool
    integer_rule: str
    extrapolation: bytes | None = None  # item for positions outside; None: they take the filter's rule


class ResamplePlan:
    """Prepared resampling of arrays of one shape and dtype.

    Parameters
    ----------
    data_shape : tuple of int
        Shape of the arrays to come.
    dtype : dtype
        Their dtype; the result has the same.
    scales, shape, axes, input_offsets, output_offsets, mode, nearest_rule, antialias, cubic_coefficient, \
exclude_outside, integer_rule
        As in `resample`.

    Attributes
    ----------
    data_shape, output_shape : tuple of int
    dtype : dtype
    axes : tuple of int
        Axes that are resampled, ascending.
    maps : tuple of AxisMap
        Exact map of each of `axes` from output samples to input positions.
    scales : tuple of Fraction
        Scale of each of `axes`, output samples per input sample.
    mode, nearest_rule, antialias, cubic_coefficient, exclude_outside, integer_rule
        As given; the coefficient as the Fraction that equals it.

    Notes
    -----
    Immutable, comparable and picklable; safe to call from several threads at once.
    """

    def __init__(
        self,
        data_shape: Sequence[int],
        dtype: DTypeLike,
        *,
        scales: PerAxis | None = None,
        shape: int | Sequence[int] | None = None,
        axes: int | Sequence[int] | None = None,
        input_offsets: PerAxis = 0.5,
        output_offsets: PerAxis = -0.5,
        mode: str = "linear",
        nearest_rule: str = "half_up",
        antialias: str | None = None,
        cubic_coefficient: Number = -0.75,
        exclude_outside: bool = False,
        integer_rule: str = "half_up",
    ) -> None:
        op = "resample"
        data_shape = checks.shape(op, "data_shape", data_shape)
        listed = checks.axes(op, axes, len(data_shape))
        steps, n_outs = _scales_and_lengths(op, [data_shape[axis] for axis in listed], shape, scales)
        before = checks.numbers(op, "input_offsets", input_offsets, len(listed))
        after = checks.numbers(op, "output_offsets", output_offsets, len(listed))
        maps = [coordinates.axis_map(*args) for args in zip(steps, before, after, strict=True)]
        options = Options(mode, nearest_rule, antialias, cubic_coefficient, exclude_outside, integer_rule)
        self._prepare(op, data_shape, dtype, _axis_plans(listed, n_outs, maps, steps), _checked(op, options))

    @classmethod
    def resized(
        cls,
        data_shape: Sequence[int],
        dtype: DTypeLike,
        shape: int | Sequence[int] | None,
        *,
        axes: int | Sequence[int] | None = None,
        scales: PerAxis | None = None,
        coordinates: str = "half_pixel",
        roi: Sequence[Number] | None = None,
        extrapolation_value: object = 0,
        mode: str = "linear",
        nearest_rule: str = "half_up",
        antialias: str | None = None,
        cubic_coefficient: Number = -0.75,
        exclude_outside: bool = False,
        integer_rule: str = "half_up",
    ) -> ResamplePlan:
        """Plan of `resize`, with its parameters."""
        op = "resize"
        data_shape = checks.shape(op, "data_shape", data_shape)
        listed = checks.axes(op, axes, len(data_shape))
        checks.choice(op, "coordinates", coordinates, (*COORDINATE_MODES, CROP))
        n_ins = [data_shape[axis] for axis in listed]
        steps, n_outs = _scales_and_lengths(op, n_ins, shape, scales)
        regions = checks.regions(op, roi, len(listed), coordinates, CROP)
        maps = [
            coordinate_map(coordinates, n_in, n_out, step, region)
            for n_in, n_out, step, region in zip(n_ins, n_outs, steps, regions, strict=True)
        ]
        options = Options(mode, nearest_rule, antialias, cubic_coefficient, exclude_outside, integer_rule)
        if coordinates == CROP:
            item = checks.fill_item(op, extrapolation_value, np.dtype(dtype), "extrapolation_value")
            options = options._replace(extrapolation=item)
        self = cls.__new__(cls)
        self._prepare(op, data_shape, dtype, _axis_plans(listed, n_outs, maps, steps), _checked(op, options))
        return self

    def _prepare(
        self,
        op: str,
        data_shape: tuple[int, ...],
        dtype: DTypeLike,
        axes: Sequence[AxisPlan],
        options: Options,
    ) -> None:
        """Keep everything in ascending order of axes and make the kernel's object."""
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if options.mode == "nearest":
            checks.movable_dtype(op, "data", self.dtype)
        else:
            checks.arithmetic_dtype(op, self.dtype, (*TYPES, *_PAIRS))
        self.op = op
        self.data_shape = data_shape
        self._axis_plans = tuple(sorted(axes, key=lambda plan: plan.axis))
        self._options = options
        self.axes = tuple(plan.axis for plan in self._axis_plans)
        self.maps = tuple(plan.map for plan in self._axis_plans)
        self.scales = tuple(plan.scale for plan in self._axis_plans)
        self.mode, self.nearest_rule, self.antialias = options.mode, options.nearest_rule, options.antialias
        self.cubic_coefficient, self.exclude_outside = (
            coordinates.as_fraction(options.cubic_coefficient),
            options.exclude_outside,
        )
        self.integer_rule = options.integer_rule
        lengths = {plan.axis: plan.n_out for plan in axes}
        self.output_shape = tuple(lengths.get(axis, n) for axis, n in enumerate(data_shape))
        checks.result_shape(op, "shape", self.output_shape, self.dtype)
        if math.prod(self.output_shape) * self.dtype.itemsize > _LARGE:
            arrays.empty(op, self.output_shape, self.dtype)  # refused before tables of that length are made
        self._tables: dict[int, Table] = {}
        self._run: _core.Linear | _core.Nearest | None = None
        if 0 in self.output_shape:
            return
        if self.mode == "nearest":
            self._prepare_nearest()
        else:
            self._prepare_filters()

    def _prepare_nearest(self) -> None:
        """Make the kernel's object for nearest; none if every axis is the identity."""
        moved = []
        for axis, map in zip(self.axes, self.maps, strict=True):
            n_in, n_out = self.data_shape[axis], self.output_shape[axis]
            index = taps.nearest_table(map, n_in, n_out, self.nearest_rule)
            if n_in != n_out or not np.array_equal(index, np.arange(n_in)):
                moved.append(_core.Axis(axis, n_in, index, index, np.full(n_out, -0.0)))
        if moved:
            self._run = _core.Nearest(moved)

    def _prepare_filters(self) -> None:
        """Choose the arithmetic and make the kernel's object; none if every axis is the identity."""
        name = _PAIRS.get(self.dtype.name, self.dtype.name)
        integers = self.dtype.kind in "iu"
        narrow = name in ("float16", "bfloat16", "float32") or (integers and self.dtype.itemsize <= 2)
        self._tables = self._axis_tables(np.float32 if narrow else np.float64)
        if not self._tables:
            return
        if len(self._tables) > _MAX_AXES:
            rule = f"name at most {_MAX_AXES} axes along which anything changes, for mode {self.mode!r}"
            raise ValueError(must(self.op, "axes", rule, tuple(self._tables)))
        rounding = _core.Rounding(INTEGER_RULES[self.integer_rule])
        self._arithmetic = Arithmetic("float32" if narrow else "float64", rounding)
        if integers and self.dtype.itemsize <= 4:
            self._arithmetic = self._arithmetic_of(1 << 8 * self.dtype.itemsize)
        working = self._arithmetic.working
        if narrow and working == "float64":
            self._tables = self._axis_tables(np.float64)
        if self._arithmetic.fine_bound:
            self._tables = {axis: _with_fine_weights(table) for axis, table in self._tables.items()}
        looks_twice = integers and working == "float32"
        axes = [_core_axis(axis, table, working, looks_twice) for axis, table in self._tables.items()]
        order = [list(self._tables).index(axis) for axis in self._order(working)]
        self._run = _core.Linear(TYPES[name], WORKING[working], self.dtype.kind == "c", axes, order)

    def _axis_tables(self, working: DTypeLike) -> dict[int, Table]:
        """Tables of the axes that are not the identity."""
        options = FilterOptions(self.mode, self.antialias, self.cubic_coefficient, self.exclude_outside)
        tables = {
            plan.axis: axis_table(
                plan.map,
                self.data_shape[plan.axis],
                plan.n_out,
                choose(options, plan.scale),
                working,
                op=self.op,
            )
            for plan in self._axis_plans
        }
        return {axis: table for axis, table in tables.items() if not table.is_identity}

    def _order(self, working: str) -> tuple[int, ...]:
        """Resampled axes in the order of their passes.

        Where the result does not depend on it, two axes in 16-bit integers, the horizontal pass goes first:
        it can then read bytes.
        """
        axes = list(self._tables)
        if working == "uint16" and len(axes) == 2:
            return axes[1], axes[0]
        return taps.axis_order(axes, [self.data_shape[a] for a in axes], [self.output_shape[a] for a in axes])

    def _arithmetic_of(self, magnitude: int, base: int = 0) -> Arithmetic:
        """Arithmetic for integers that differ from each other, and from `base`, by less than `magnitude`."""
        ordered = [self._tables[axis] for axis in self._order("float64")]
        return arithmetic.of_integers(self.dtype, self.integer_rule, ordered, magnitude, base)

    def __call__(self, data: Any, /, *, out: Any = None) -> Any:
        """Resample `data`.

        Parameters
        ----------
        data : array, shape `data_shape`, dtype `dtype`
        out : array, shape `output_shape`, dtype `dtype`, optional
            Written in place and returned.

        Returns
        -------
        array of the kind of `data`, or `out`

        Raises
        ------
        TypeError, ValueError
            The dtype or shape of `data` or `out` is another; `out` overlaps `data`.
        """
        source = arrays.as_array(data, self.op, "data")
        checks.planned(self.op, source, self.data_shape, self.dtype)
        if out is None:
            target = arrays.empty(self.op, self.output_shape, self.dtype)
            self._fill(source, target)
            return arrays.like(data, target)
        target = arrays.check_out(self.op, out, self.output_shape, self.dtype, (source,))
        self._fill(source, target)
        return out

    def _fill(self, data: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the result to `out`."""
        if out.nbytes == 0:
            return
        self._fill_samples(data, out)
        if self._options.extrapolation is not None:
            value = np.frombuffer(self._options.extrapolation, self.dtype)[0]
            for axis, map in zip(self.axes, self.maps, strict=True):
                begin, end = map.inside(self.data_shape[axis], self.output_shape[axis])
                along = np.moveaxis(out, axis, 0)
                along[:begin] = along[end:] = value

    def _fill_samples(self, data: NDArray[Any], out: NDArray[Any]) -> None:
        """Write what the samples of `data` give to `out`."""
        if self._run is None:
            np.copyto(out, data)
        elif isinstance(self._run, _core.Nearest):
            self._run(data, out)
        else:
            data = np.require(data, data.dtype.newbyteorder("="), "A")
            if out.flags.aligned and out.dtype.isnative:
                self._fill_mixed(self._run, data, out)
            else:
                native = np.empty(out.shape, data.dtype)
                self._fill_mixed(self._run, data, native)
                np.copyto(out, native)

    def _fill_mixed(self, run: _core.Linear, data: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the result of anything but nearest to an aligned native array."""
        chosen: Arithmetic | None = self._arithmetic
        if data.dtype.kind in "iu" and data.dtype.itemsize == 8:
            chosen = self._arithmetic_for(data)
        if chosen is None:
            positions = np.arange(out.size)
        else:
            positions = run(data, out, chosen.rounding, chosen.bound, chosen.fine_bound)
        if positions.size:
            exact.fill(data, out, positions, self._tables, self.integer_rule)

    def _arithmetic_for(self, data: NDArray[Any]) -> Arithmetic | None:
        """Arithmetic for 64-bit integers by the range of their values; None if that is too wide."""
        used = self._used(data)
        low, high = int(used.min()), int(used.max())
        if max(-low, high) < FLOAT64_INTEGERS:
            return self._arithmetic_of(2 * max(-low, high, 1))
        base = low - low % 2  # even, so that half_even sees the parity of the whole
        if high - base < FLOAT64_INTEGERS:
            # Which way truncation goes is known by the sign of all results.
            beyond = arithmetic.overshoot(list(self._tables.values())) * (high - base + 1)
            if self.integer_rule != "truncate" or beyond < (low if low > 0 else -high) or beyond <= 0:
                return self._arithmetic_of(max(high - base, 1), base)
        return None

    def _used(self, data: NDArray[Any]) -> NDArray[Any]:
        """View the part of `data` that the taps span, each repeated sample once."""
        spans = {axis: slice(*table.span) for axis, table in self._tables.items()}
        once = slice(0, 1)
        used: NDArray[Any] = data[
            tuple(
                spans.get(axis, slice(None)) if stride else once for axis, stride in enumerate(data.strides)
            )
        ]
        return used

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        """What makes plans equal."""
        return (self.op, self.data_shape, self.dtype, self._axis_plans, self._options)

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, ResamplePlan) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self._key

    def __repr__(self) -> str:
        shapes = f"{self.data_shape} -> {self.output_shape}"
        name = self.mode if self.antialias is None else f"{self.mode} antialias={self.antialias}"
        return f"<ResamplePlan {name} {self.dtype} {shapes} on axes {self.axes}>"

    def explain(self) -> str:
        """Say in words what the plan does: positions, taps and weights of each axis, type, order of axes.

        Returns
        -------
        str, several lines
        """
        lines = [repr(self).strip("<>")]
        for plan in self._axis_plans:
            table = self._tables.get(plan.axis)
            lines += explanation.axis_lines(
                plan.axis, self.data_shape[plan.axis], plan.n_out, plan.map, table
            )
        if self._options.extrapolation is not None:
            value = np.frombuffer(self._options.extrapolation, self.dtype)[0]
            lines.append(f"positions outside [0, n - 1]: {value}")
        if self.mode == "nearest":
            lines.append(f"nearest index by {self.nearest_rule}; moves {self.dtype.itemsize} bytes per item")
        elif self._run is None:
            lines.append("every output sample is an input sample: a copy")
        else:
            working = self._arithmetic.working
            lines.append(f"computed in {working}, along axes {self._order(working)} in this order")
            if self.dtype.kind in "iu":
                lines.append(f"rounded once, exactly, by {self.integer_rule}")
        return "\n".join(lines)


def _restored(
    op: str, data_shape: tuple[int, ...], dtype: DTypeLike, axes: Sequence[AxisPlan], options: Options
) -> ResamplePlan:
    """Make a plan again from what `ResamplePlan.__reduce__` kept."""
    plan = ResamplePlan.__new__(ResamplePlan)
    plan._prepare(op, data_shape, dtype, axes, options)
    return plan


def _scales_and_lengths(
    op: str, n_ins: Sequence[int], shape: int | Sequence[int] | None, scales: PerAxis | None
) -> tuple[list[Fraction], list[int]]:
    """Scales and output lengths of axes of lengths `n_ins`; either follows from the other."""
    steps = None if scales is None else checks.scales(op, scales, len(n_ins))
    if shape is not None:
        n_outs = checks.lengths(op, shape, n_ins)
    elif steps is not None:
        n_outs = checks.scaled_lengths(op, n_ins, steps)
    else:
        raise ValueError(f"{op}: `shape` or `scales` must be given, got neither")
    if steps is None:
        steps = [
            Fraction(n_out, n_in) if n_in else Fraction(1) for n_in, n_out in zip(n_ins, n_outs, strict=True)
        ]
    return steps, n_outs


def _axis_plans(
    axes: Sequence[int], n_outs: Sequence[int], maps: Sequence[AxisMap], scales: Sequence[Fraction]
) -> list[AxisPlan]:
    """One for each of `axes`."""
    return [AxisPlan(*args) for args in zip(axes, n_outs, maps, scales, strict=True)]


def _checked(op: str, options: Options) -> Options:
    """Options after checking them, the coefficient as the Fraction that equals it."""
    checks.choice(op, "mode", options.mode, MODES)
    checks.choice(op, "nearest_rule", options.nearest_rule, taps.NEAREST_RULES)
    checks.choice(op, "integer_rule", options.integer_rule, reference.INTEGER_RULES)
    checks.antialias(op, options.antialias, options.mode, ANTIALIAS)
    checks.flag(op, "exclude_outside", options.exclude_outside)
    coefficient = checks.within(op, "cubic_coefficient", options.cubic_coefficient, _LARGEST_COEFFICIENT)
    return options._replace(cubic_coefficient=coefficient, exclude_outside=bool(options.exclude_outside))


def _with_fine_weights(table: Table) -> FilterTable:
    """Table of a filter for an axis of a plan that looks twice at what is in doubt."""
    if isinstance(table, FilterTable):
        return table
    return filter_table(table.axis_map, table.n_in, table.n_out, Filter("triangle"), table.weight.dtype)


def _core_axis(axis: int, table: Table, working: str, looks_twice: bool) -> _core.Axis | _core.FilterAxis:
    """Return an axis as the compiled core takes it."""
    if isinstance(table, FilterTable):
        weights = table.weights.astype(np.float64)
        fine = table.fine if looks_twice else None
        return _core.FilterAxis(axis, table.n_in, table.start, table.count, weights, table.base, fine)
    if working == "uint16":
        numerators = table.numerators().astype(np.float64)
        return _core.Axis(axis, table.n_in, table.first, table.second, numerators, table.denominator)
    return _core.Axis(axis, table.n_in, table.first, table.second, table.weight.astype(np.float64), 1)
