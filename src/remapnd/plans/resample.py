"""Plan of a resampling: exact maps to per-axis tables to one kernel call.

Uses `taps` for the tables, `reference` for the results that floating point cannot decide, and the compiled
core.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core, arrays, checks, coordinates, reference, taps
from ..coordinates import COORDINATE_MODES, AxisMap, Number, coordinate_map
from ..errors import must, shown

MODES: Final = ("nearest", "linear")

PerAxis: TypeAlias = "Number | Sequence[Number]"

_TYPES: Final = {
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
_RULES: Final = {"half_up": 0, "half_even": 1, "truncate": 2}
_TRUNCATE_DOWN, _TRUNCATE_UP = 3, 4

_WORKING: Final = {"float32": 0, "float64": 1, "uint16": 2}
_UNIT: Final = {"float32": 2.0**-24, "float64": 2.0**-53}
_FLOAT64_INTEGERS: Final = 1 << 50  # 64-bit values up to here are computed with in float64
_LARGE: Final = 1 << 32  # bytes of a result
_MAX_AXES: Final = 16  # as csrc/resample_run.cpp
_EXACT_AT_ONCE: Final = 1 << 16


class _Arithmetic(NamedTuple):
    """What linear is computed with."""

    working: str  # "float32", "float64" or "uint16"
    rounding: _core.Rounding
    bound: float = 0.0  # results within it of a decision are computed again; 0: none are in doubt


class ResamplePlan:
    """Prepared resampling of arrays of one shape and dtype.

    Parameters
    ----------
    data_shape : tuple of int
        Shape of the arrays to come.
    dtype : dtype
        Their dtype; the result has the same.
    scales, shape, axes, input_offsets, output_offsets, mode, nearest_rule, integer_rule
        As in `resample`.

    Attributes
    ----------
    data_shape, output_shape : tuple of int
    dtype : dtype
    axes : tuple of int
        Axes that are resampled, ascending.
    maps : tuple of AxisMap
        Exact map of each of `axes` from output samples to input positions.
    mode, nearest_rule, integer_rule : str

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
        integer_rule: str = "half_up",
    ) -> None:
        op = "resample"
        data_shape = checks.shape(op, "data_shape", data_shape)
        listed = checks.axes(op, axes, len(data_shape))
        if scales is None and shape is None:
            raise ValueError(f"{op}: `shape` or `scales` must be given, got neither")
        steps = None if scales is None else checks.scales(op, scales, len(listed))
        n_ins = [data_shape[axis] for axis in listed]
        if shape is not None:
            n_outs = checks.lengths(op, shape, n_ins)
        else:
            assert steps is not None
            n_outs = checks.scaled_lengths(op, n_ins, steps)
        before = checks.numbers(op, "input_offsets", input_offsets, len(listed))
        after = checks.numbers(op, "output_offsets", output_offsets, len(listed))
        if steps is None:
            steps = [_ratio(n_out, n_in) for n_in, n_out in zip(n_ins, n_outs, strict=True)]
        maps = [coordinates.axis_map(*args) for args in zip(steps, before, after, strict=True)]
        axes_and_maps = list(zip(listed, n_outs, maps, strict=True))
        self._prepare(op, (data_shape, dtype), axes_and_maps, (mode, nearest_rule, integer_rule))

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
        mode: str = "linear",
        nearest_rule: str = "half_up",
        integer_rule: str = "half_up",
    ) -> ResamplePlan:
        """Plan of `resize`, with its parameters."""
        op = "resize"
        data_shape = checks.shape(op, "data_shape", data_shape)
        listed = checks.axes(op, axes, len(data_shape))
        checks.choice(op, "coordinates", coordinates, COORDINATE_MODES)
        steps = None if scales is None else checks.scales(op, scales, len(listed))
        n_ins = [data_shape[axis] for axis in listed]
        if shape is not None:
            n_outs = checks.lengths(op, shape, n_ins)
        elif steps is not None:
            n_outs = checks.scaled_lengths(op, n_ins, steps)
        else:
            raise ValueError(f"{op}: `shape` or `scales` must be given, got neither")
        maps = [
            coordinate_map(coordinates, n_in, n_out, None if steps is None else steps[k])
            for k, (n_in, n_out) in enumerate(zip(n_ins, n_outs, strict=True))
        ]
        self = cls.__new__(cls)
        axes_and_maps = list(zip(listed, n_outs, maps, strict=True))
        self._prepare(op, (data_shape, dtype), axes_and_maps, (mode, nearest_rule, integer_rule))
        return self

    def _prepare(
        self,
        op: str,
        data: tuple[tuple[int, ...], DTypeLike],
        axes: Sequence[tuple[int, int, AxisMap]],
        options: tuple[str, str, str],
    ) -> None:
        """Check the options, keep everything in ascending order of axes and make the kernel's object.

        `data` is shape and dtype; `axes` are triples of axis, output length and map; `options` are mode,
        nearest_rule and integer_rule.
        """
        data_shape, dtype = data
        mode, nearest_rule, integer_rule = options
        checks.choice(op, "mode", mode, MODES)
        checks.choice(op, "nearest_rule", nearest_rule, taps.NEAREST_RULES)
        checks.choice(op, "integer_rule", integer_rule, reference.INTEGER_RULES)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if mode == "linear":
            checks.arithmetic_dtype(op, self.dtype, (*_TYPES, *_PAIRS))
        else:
            checks.movable_dtype(op, "data", self.dtype)
        ascending = sorted(axes, key=lambda entry: entry[0])
        self.op = op
        self.data_shape = data_shape
        self.axes = tuple(axis for axis, _, _ in ascending)
        self.maps = tuple(map for _, _, map in ascending)
        self.mode, self.nearest_rule, self.integer_rule = mode, nearest_rule, integer_rule
        lengths = {axis: n_out for axis, n_out, _ in axes}
        self.output_shape = tuple(lengths.get(axis, n) for axis, n in enumerate(data_shape))
        checks.result_shape(op, "shape", self.output_shape, self.dtype)
        if math.prod(self.output_shape) * self.dtype.itemsize > _LARGE:
            arrays.empty(op, self.output_shape, self.dtype)  # refused before tables of that length are made
        self._tables: dict[int, taps.LinearTable] = {}
        self._run: _core.Linear | _core.Nearest | None = None
        if 0 in self.output_shape:
            return
        if mode == "nearest":
            self._prepare_nearest()
        else:
            self._prepare_linear()

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

    def _prepare_linear(self) -> None:
        """Choose the arithmetic and make the kernel's object; none if every axis is the identity."""
        name = _PAIRS.get(self.dtype.name, self.dtype.name)
        narrow = name in ("float16", "bfloat16", "float32") or (
            self.dtype.kind in "iu" and self.dtype.itemsize <= 2
        )
        self._tables = self._linear_tables(np.float32 if narrow else np.float64)
        if not self._tables:
            return
        if len(self._tables) > _MAX_AXES:
            rule = f"name at most {_MAX_AXES} axes along which anything changes, for mode 'linear'"
            raise ValueError(must(self.op, "axes", rule, tuple(self._tables)))
        rounding = _core.Rounding(_RULES[self.integer_rule])
        self._arithmetic = _Arithmetic("float32" if narrow else "float64", rounding)
        if self.dtype.kind in "iu" and self.dtype.itemsize <= 4:
            self._arithmetic = self._integer_arithmetic(1 << 8 * self.dtype.itemsize)
        working = self._arithmetic.working
        if narrow and working == "float64":
            self._tables = self._linear_tables(np.float64)
        axes = []
        for axis, table in self._tables.items():
            one, weight = 1, table.weight.astype(np.float64)
            if working == "uint16":
                one, weight = table.denominator, table.numerators().astype(np.float64)
            axes.append(_core.Axis(axis, table.n_in, table.first, table.second, weight, one))
        pairs = self.dtype.kind == "c"
        order = [list(self._tables).index(axis) for axis in self._order()]
        self._run = _core.Linear(_TYPES[name], _WORKING[working], pairs, axes, order)

    def _linear_tables(self, working: DTypeLike) -> dict[int, taps.LinearTable]:
        """Tables of the axes that are not the identity."""
        tables = {
            axis: taps.linear_table(map, self.data_shape[axis], self.output_shape[axis], working)
            for axis, map in zip(self.axes, self.maps, strict=True)
        }
        return {axis: table for axis, table in tables.items() if not table.is_identity}

    def _order(self) -> tuple[int, ...]:
        """Resampled axes in the order of their passes.

        Where the result does not depend on it, two axes in 16-bit integers, the horizontal pass goes first:
        it can then read bytes.
        """
        axes = list(self._tables)
        if self._arithmetic.working == "uint16" and len(axes) == 2:
            return axes[1], axes[0]
        return taps.axis_order(axes, [self.data_shape[a] for a in axes], [self.output_shape[a] for a in axes])

    def _grid(self) -> int:
        """Exact results on integers are multiples of one over this."""
        return math.prod(table.denominator for table in self._tables.values())

    def _integer_arithmetic(self, magnitude: int, base: int = 0) -> _Arithmetic:
        """Arithmetic for integers that differ from each other, and from `base`, by less than `magnitude`.

        Floats: each axis adds at most 4 u M to the error: the rounded weight, a difference, a product and a
        sum; the addition of one half before the floor adds u (M + 2).
        """
        grid = self._grid()
        rule = _RULES[self.integer_rule]
        if self.dtype == np.uint8 and 1 < grid <= 256:
            return _Arithmetic("uint16", _core.Rounding(rule, **_division(grid, self.integer_rule)))
        if base and self.integer_rule == "truncate":
            rule = _TRUNCATE_DOWN if base > 0 else _TRUNCATE_UP
        error = math.inf
        for working in ("float32", "float64") if self.dtype.itemsize <= 2 else ("float64",):
            error = _UNIT[working] * magnitude * (4 * len(self._tables) + 4)
            if Fraction(error) * 4 * grid < 1:
                half_step = float(Fraction(1, 4 * grid))
                return _Arithmetic(working, _core.Rounding(rule, half_step, base % 2**64))
        return _Arithmetic("float64", _core.Rounding(rule, 0.0, base % 2**64), error)

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
        if self._run is None:
            np.copyto(out, data)
        elif isinstance(self._run, _core.Nearest):
            self._run(data, out)
        else:
            data = np.require(data, data.dtype.newbyteorder("="), "A")
            if out.flags.aligned and out.dtype.isnative:
                self._fill_linear(self._run, data, out)
            else:
                native = np.empty(out.shape, data.dtype)
                self._fill_linear(self._run, data, native)
                np.copyto(out, native)

    def _fill_linear(self, run: _core.Linear, data: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the linear result to an aligned native array."""
        arithmetic: _Arithmetic | None = self._arithmetic
        if data.dtype.kind in "iu" and data.dtype.itemsize == 8:
            arithmetic = self._arithmetic_for(data)
        if arithmetic is None:
            self._fill_exactly(data, out, np.arange(out.size))
            return
        doubtful = run(data, out, arithmetic.rounding, arithmetic.bound)
        if doubtful.size:
            self._fill_exactly(data, out, doubtful)

    def _arithmetic_for(self, data: NDArray[Any]) -> _Arithmetic | None:
        """Arithmetic for 64-bit integers by the range of their values; None if that is too wide."""
        used = self._used(data)
        low, high = int(used.min()), int(used.max())
        if max(-low, high) < _FLOAT64_INTEGERS:
            return self._integer_arithmetic(2 * max(-low, high, 1))
        base = low - low % 2  # even, so that half_even sees the parity of the whole
        if high - base < _FLOAT64_INTEGERS:
            return self._integer_arithmetic(max(high - base, 1), base)
        return None

    def _used(self, data: NDArray[Any]) -> NDArray[Any]:
        """View the part of `data` that the taps span, each repeated sample once."""
        spans = {axis: slice(t.first.min(), t.second.max() + 1) for axis, t in self._tables.items()}
        once = slice(0, 1)
        used: NDArray[Any] = data[
            tuple(
                spans.get(axis, slice(None)) if stride else once for axis, stride in enumerate(data.strides)
            )
        ]
        return used

    def _fill_exactly(self, data: NDArray[Any], out: NDArray[Any], positions: NDArray[Any]) -> None:
        """Compute the results at flat positions of `out` in integer arithmetic."""
        denominator = self._grid()
        for part in np.array_split(positions, -(-len(positions) // _EXACT_AT_ONCE)):
            places = np.unravel_index(part, out.shape)
            total = sum(
                np.prod(weights, axis=0) * data[taken].astype(object)
                for taken, weights in self._corners(places)
            )
            out[places] = [reference.rounded(v, denominator, self.integer_rule) for v in np.atleast_1d(total)]

    def _corners(
        self, places: tuple[NDArray[Any], ...]
    ) -> Iterator[tuple[tuple[NDArray[Any], ...], list[Any]]]:
        """Each combination of taps: where it lies in data, and its weights as numerators."""
        for which in itertools.product((0, 1), repeat=len(self._tables)):
            taken = list(places)
            weights = []
            for second, (axis, table) in zip(which, self._tables.items(), strict=True):
                taken[axis] = (table.second if second else table.first)[places[axis]]
                numerators = table.numerators()[places[axis]].astype(object)
                weights.append(numerators if second else table.denominator - numerators)
            yield tuple(taken), weights

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        """What makes plans equal."""
        options = (self.mode, self.nearest_rule, self.integer_rule)
        return (self.op, self.data_shape, self.dtype, self.axes, self.output_shape, self.maps, options)

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, ResamplePlan) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[Any, ...]:
        n_outs = (self.output_shape[axis] for axis in self.axes)
        axes = tuple(zip(self.axes, n_outs, self.maps, strict=True))
        options = (self.mode, self.nearest_rule, self.integer_rule)
        return _restored, (self.op, (self.data_shape, self.dtype), axes, options)

    def __repr__(self) -> str:
        shapes = f"{self.data_shape} -> {self.output_shape}"
        return f"<ResamplePlan {self.mode} {self.dtype} {shapes} on axes {self.axes}>"

    def explain(self) -> str:
        """Say in words what the plan does: positions of each axis, rule, working type, order of axes.

        Returns
        -------
        str, several lines
        """
        lines = [repr(self).strip("<>")]
        for axis, map in zip(self.axes, self.maps, strict=True):
            n_in, n_out = self.data_shape[axis], self.output_shape[axis]
            line = f"axis {axis}: {n_in} -> {n_out}, x = {shown(map.start)} + X * {shown(map.step)}"
            if self.mode == "linear" and axis in self._tables:
                line += f", weights are multiples of 1/{shown(self._tables[axis].denominator)}"
            lines.append(line)
        if self.mode == "nearest":
            lines.append(f"nearest index by {self.nearest_rule}; moves {self.dtype.itemsize} bytes per item")
        elif self._run is None:
            lines.append("every output sample is an input sample: a copy")
        else:
            lines.append(f"computed in {self._arithmetic.working}, along axes {self._order()} in this order")
            if self.dtype.kind in "iu":
                lines.append(f"rounded once, exactly, by {self.integer_rule}")
        return "\n".join(lines)


def _restored(
    op: str,
    data: tuple[tuple[int, ...], DTypeLike],
    axes: Sequence[tuple[int, int, AxisMap]],
    options: tuple[str, str, str],
) -> ResamplePlan:
    """Make a plan again from what `ResamplePlan.__reduce__` kept."""
    plan = ResamplePlan.__new__(ResamplePlan)
    plan._prepare(op, data, axes, options)
    return plan


def _ratio(n_out: int, n_in: int) -> Fraction:
    """Scale of an axis by its lengths; 1 for an empty one."""
    return Fraction(n_out, n_in) if n_in else Fraction(1)


def _division(divisor: int, integer_rule: str) -> dict[str, int]:
    """Division of sums up to 255 * divisor by `divisor`, 2 to 256: a 16-bit multiplication and a shift.

    With k = 16 + shift and d the divisor, ``n // d == n * m >> k`` for all n up to N if m is 2**k / d
    rounded up and (m d - 2**k) N < 2**k; and ``n // d == (n + 1) * m >> k`` if m is rounded down and (2**k -
    m d) (N + 1) <= 2**k. For the divisors here one of the two always holds. Source: A. D. Robison, N-bit
    unsigned division via N-bit multiply-add, 2005.
    """
    half = 0 if integer_rule == "truncate" else divisor // 2
    largest = 255 * divisor + half
    shift = (divisor - 1).bit_length() - 1
    power = 1 << 16 + shift
    up = -(-power // divisor)
    if up < 1 << 16 and (up * divisor - power) * largest < power:
        add, multiplier = half, up
    else:
        add, multiplier = half + 1, power // divisor
    return {"divisor": divisor, "add": add, "multiplier": multiplier, "shift": shift}
