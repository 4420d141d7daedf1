"""Plan of a resampling: exact maps to per-axis tables to one kernel call.

Uses `plans.resample_options` and `plans.resample_tables`; `plans.picking`, `plans.mixing` and
`plans.majority` are the ways of using tables, `plans.parts` and `plans.adjoint` their parts and transposes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core, arrays, checks, coordinates
from ..coordinates import CROP, AxisMap, Number
from ..filter_taps import Table
from ..taps import LinearTable
from . import adjoint, explanation, parts, resample_tables
from .adjoint import Adjoint
from .majority import Majority
from .mixing import Mixing
from .passes import PAIRS, TYPES
from .picking import Picking
from .plan import Plan
from .resample_options import (
    MAJORITY,
    AxisPlan,
    Options,
    PerAxis,
    along_coordinates,
    along_offsets,
    checked,
)

_LONG: Final = 1 << 24  # outputs along an axis


# Operator, shape and dtype of data, axes, options.
_Whole: TypeAlias = "tuple[str, tuple[int, ...], np.dtype[Any], tuple[AxisPlan, ...], Options]"


_Method: TypeAlias = Picking | Mixing | Majority


class ResamplePlan(Plan):
    """Prepared resampling of arrays of one shape and dtype: `resample`, and by `resized` also `resize`.

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
    op : "resample" or "resize"
        The operator's name in messages.

    See Also
    --------
    ResamplePlan.resized : the plan of `resize`, with its parameters.

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
        planned = along_offsets(op, data_shape, (axes, scales, shape), input_offsets, output_offsets)
        options = Options(mode, nearest_rule, antialias, cubic_coefficient, exclude_outside, integer_rule)
        self._prepare(op, data_shape, dtype, planned, checked(op, options))

    @classmethod
    def resized(
        cls,
        data_shape: Sequence[int],
        dtype: DTypeLike,
        shape: int | Sequence[int] | None = None,
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
        """Return the plan of `resize`, with its parameters.

        Parameters
        ----------
        data_shape : tuple of int
            Shape of the arrays to come.
        dtype : dtype
            Their dtype; the result has the same.
        shape, axes, scales, coordinates, roi, extrapolation_value, mode, nearest_rule, antialias, \
cubic_coefficient, exclude_outside, integer_rule
            As in `resize`.

        Returns
        -------
        ResamplePlan

        Raises
        ------
        TypeError, ValueError
            As `resize` does.

        Examples
        --------
        >>> import numpy as np
        >>> plan = ResamplePlan.resized((4,), np.float64, 3, coordinates="align_corners")
        >>> plan(np.array([0.0, 1.0, 2.0, 3.0]))
        array([0. , 1.5, 3. ])
        """
        op = "resize"
        data_shape = checks.shape(op, "data_shape", data_shape)
        planned = along_coordinates(op, data_shape, (axes, scales, shape), coordinates, roi)
        options = Options(mode, nearest_rule, antialias, cubic_coefficient, exclude_outside, integer_rule)
        if coordinates == CROP:
            item = checks.fill_item(
                op, extrapolation_value, checks.dtype(op, "dtype", dtype), "extrapolation_value"
            )
            options = options._replace(extrapolation=item)
        else:
            chosen = ("coordinates", coordinates)
            checks.only_for(op, "extrapolation_value", extrapolation_value, chosen, (CROP,), default=0)
        self = cls.__new__(cls)
        self._prepare(op, data_shape, dtype, planned, checked(op, options))
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
        self.dtype: np.dtype[Any] = checks.dtype(op, "dtype", dtype)
        if options.mode == "nearest":
            checks.movable_dtype(op, "data", self.dtype)
        elif options.mode == MAJORITY:
            checks.label_dtype(op, self.dtype)
        else:
            checks.arithmetic_dtype(op, self.dtype, (*TYPES, *PAIRS))
        self.op = op
        self.data_shape = data_shape
        self._axis_plans = tuple(sorted(axes, key=lambda plan: plan.axis))
        self._set_options(options)
        lengths = {plan.axis: plan.n_out for plan in axes}
        self.output_shape = tuple(lengths.get(axis, n) for axis, n in enumerate(data_shape))
        checks.result_shape(op, "shape", self.output_shape, self.dtype)
        if max((plan.n_out for plan in axes), default=0) > _LONG:
            arrays.empty(op, self.output_shape, self.dtype)  # refused before tables of that length are made
        self._whole: _Whole = (op, data_shape, self.dtype, self._axis_plans, options)
        self._part: tuple[parts.Run, ...] | None = None  # outputs of the whole, where they are not all
        self._inside: dict[int, parts.Run] = {}
        if options.extrapolation is not None:
            self._inside = {
                plan.axis: plan.map.inside(data_shape[plan.axis], plan.n_out) for plan in self._axis_plans
            }
        self._method: _Method | None = None  # none where nothing changes, or there is nothing
        if 0 not in self.output_shape:
            with resample_tables.in_memory(op, self._axis_plans):
                self._method = self._prepared()

    def _prepared(self) -> _Method | None:
        """Make tables, and the way of using them."""
        if self.mode == "nearest":
            return Picking.prepared(self.dtype, self.nearest_rule, self._picks)
        if self.mode == MAJORITY:
            return Majority.prepared(self.op, self.dtype, self._axis_tables)
        return Mixing.prepared(self.op, self.dtype, self.integer_rule, self._axis_tables)

    @cached_property
    def _short_way(self) -> _core.PreparedResample | None:
        """The call for plain arrays, past the checks in Python, where there is one."""
        if self._method is None or self._inside or self.dtype.itemsize == 0:
            return None
        return self._method.short_way(self.data_shape, self.output_shape)

    @property
    def _tables(self) -> Mapping[int, Table]:
        """Tables of the axes that are not the identity."""
        return self._method.tables if self._method else {}

    def _set_options(self, options: Options) -> None:
        """Keep what is asked for, in public words too."""
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

    def _picks(self, rule: str) -> dict[int, LinearTable]:
        """Return the tables of nearest."""
        return resample_tables.picked(self.data_shape, self._axis_plans, rule)

    def _axis_tables(self, working: DTypeLike) -> dict[int, Table]:
        """Return the tables of modes with weights."""
        return resample_tables.mixed(self.op, self.data_shape, self._axis_plans, self._options, working)

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
        if self._short_way is not None:
            result = self._short_way(data, out)
            if result is not None:
                return result
        source = arrays.as_array(data, self.op, "data")
        checks.planned(self.op, source, self.data_shape, self.dtype)
        if out is None:
            target = arrays.empty(self.op, self.output_shape, self.dtype)
            self._fill(source, target)
            return arrays.like(data, target)
        target = arrays.check_out(self.op, out, self.output_shape, self.dtype, (source,))
        self._fill(source, target)
        return out

    def vjp(self, gradient: Any, *, out: Any = None) -> Any:
        """Return the gradient of data for the gradient of the output: the transpose of this resampling.

        Each sample of data gets the sum, over the outputs that it takes part in, of their gradients times its
        weight in them, along one axis after the other. The weights are those of the forward pass, as rounded
        there; output samples that got the extrapolation value contribute nothing.

        Parameters
        ----------
        gradient : array_like, shape `output_shape`, dtype `dtype`
        out : array, shape `data_shape`, dtype `dtype`, optional
            Written in place and returned.

        Returns
        -------
        array, shape `data_shape`, dtype `dtype`, kind of `gradient`; or `out`

        Raises
        ------
        TypeError
            The dtype is none of float16, bfloat16, float32, float64, complex64 and complex128, or `gradient`
            or `out` has another than the plan.
        ValueError
            The shape of `gradient` or `out` does not fit; `out` overlaps `gradient`; so many outputs share a
            sample that there would be more than 2**28 weights along an axis.

        Notes
        -----
        Sums along an axis are taken in ascending order of the outputs, from the first to the last that has
        the sample as a tap, in float32, or float64 for float64 and complex128; where a sum is not finite it
        is taken again without terms whose weight is zero. The result is rounded to the dtype once. So its
        bits do not depend on machine, threads or memory layout.

        Examples
        --------
        >>> import numpy as np
        >>> ResamplePlan((2,), np.float64, shape=4).vjp(np.array([1.0, 2.0, 3.0, 4.0]))
        array([3.25, 6.75])
        """
        adjoint.check(self.op, self.mode, self.dtype)
        return self._adjoint(gradient, out)

    @cached_property
    def _adjoint(self) -> Adjoint:
        """The transpose, made on first use."""
        with resample_tables.in_memory(self.op, self._axis_plans):
            tables = resample_tables.copied_where_inside(self._axis_plans, self._inside, dict(self._tables))
            return Adjoint(self.op, self.dtype, (self.data_shape, self.output_shape), tables, self._inside)

    def input_region(self, output_slices: Any) -> tuple[slice, ...]:
        """Return which part of the data a part of the output is made of.

        Parameters
        ----------
        output_slices : slice, Ellipsis or tuple of them
            As in an index of the output: bounds may be negative or None, axes that are left out are whole.
            Steps must be 1.

        Returns
        -------
        tuple of slice, one for each axis of data
            From the first to the last sample that has a weight in the part; output samples that get the
            extrapolation value count as reading the edge. All slices are empty where the part is.

        Raises
        ------
        TypeError, ValueError
            `output_slices` are not slices; have another step than 1 or are more than there are axes.

        Examples
        --------
        >>> import numpy as np
        >>> plan = ResamplePlan((1000, 1000), np.uint8, shape=(500, 1500), antialias="pillow")
        >>> plan.input_region(np.s_[:100, -150:])
        (slice(0, 201, None), slice(899, 1000, None))
        """
        return tuple(slice(*run) for run in self._regions(output_slices)[1])

    def region(self, output_slices: Any) -> ResamplePlan:
        """Return the plan of a part of the output.

        Parameters
        ----------
        output_slices : slice, Ellipsis or tuple of them
            As in `input_region`.

        Returns
        -------
        ResamplePlan
            Takes ``data[plan.input_region(output_slices)]`` and returns ``plan(data)[output_slices]``, with
            the same bits: positions, weights and the order of all operations are those of the whole. Its
            `maps` count from the first sample of its own data.

        Raises
        ------
        TypeError, ValueError
            As `input_region`.

        Examples
        --------
        An array larger than memory, in tiles, between files:

        >>> import itertools, tempfile
        >>> import numpy as np
        >>> folder = tempfile.mkdtemp()
        >>> source = np.lib.format.open_memmap(f"{folder}/in.npy", "w+", np.uint16, (300, 400))
        >>> source[:] = np.arange(300 * 400).reshape(300, 400) % 5003
        >>> plan = ResamplePlan(source.shape, source.dtype, scales=1.5, mode="cubic")
        >>> target = np.lib.format.open_memmap(f"{folder}/out.npy", "w+", plan.dtype, plan.output_shape)
        >>> for y, x in itertools.product(range(0, 450, 256), range(0, 600, 256)):
        ...     tile = np.s_[y : y + 256, x : x + 256]
        ...     target[tile] = plan.region(tile)(source[plan.input_region(tile)])
        >>> bool(np.array_equal(target, plan(source)))
        True
        """
        outputs, inputs = self._regions(output_slices)
        whole = all(run == (0, n) for run, n in zip(outputs, self.output_shape, strict=True))
        if whole and all(run == (0, n) for run, n in zip(inputs, self.data_shape, strict=True)):
            return self
        return self._cut(outputs, inputs)

    def _regions(self, output_slices: Any) -> tuple[tuple[parts.Run, ...], tuple[parts.Run, ...]]:
        """Return the runs of the output and of the data of a part."""
        runs = parts.outputs(self.op, output_slices, self.output_shape)
        return runs, parts.inputs(runs, self._tables)

    def _cut(self, outputs: tuple[parts.Run, ...], inputs: tuple[parts.Run, ...]) -> ResamplePlan:
        """Return the plan for runs of the output and the runs of the data that they read."""
        part = ResamplePlan.__new__(ResamplePlan)
        part.op, part.dtype = self.op, self.dtype
        part.data_shape, part.output_shape = (tuple(e - b for b, e in runs) for runs in (inputs, outputs))
        part._axis_plans = tuple(
            AxisPlan(
                plan.axis,
                part.output_shape[plan.axis],
                AxisMap(plan.map.at(outputs[plan.axis][0]) - inputs[plan.axis][0], plan.map.step),
                plan.scale,
            )
            for plan in self._axis_plans
        )
        part._set_options(self._options)
        before = self._part or ((0, 0),) * len(outputs)
        part._whole = self._whole
        part._part = tuple((b + o, e + o) for (b, e), (o, _) in zip(outputs, before, strict=True))
        part._inside = {}
        for axis, inside in self._inside.items():
            begin, end = outputs[axis]
            low, high = (min(max(place, begin), end) - begin for place in inside)
            part._inside[axis] = low, high
        part._method = None
        if self._method and 0 not in part.output_shape:
            part._method = self._method.with_tables(
                {axis: table.part(*outputs[axis], *inputs[axis]) for axis, table in self._tables.items()}
            )
        return part

    def _fill(self, data: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the result to `out`."""
        if out.nbytes == 0:
            return
        if self._method:
            self._method(data, out)
        else:
            np.copyto(out, data)
        if self._options.extrapolation is not None:
            value = np.frombuffer(self._options.extrapolation, self.dtype)[0]
            for axis, (begin, end) in self._inside.items():
                along = np.moveaxis(out, axis, 0)
                along[:begin] = along[end:] = value

    @property
    def _key(self) -> tuple[_Whole, tuple[parts.Run, ...] | None]:
        """What makes plans equal."""
        return self._whole, self._part

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self._key

    def __repr__(self) -> str:
        shapes = f"{self.data_shape} -> {self.output_shape}"
        name = self.mode if self.antialias is None else f"{self.mode} antialias={self.antialias}"
        part = ""
        if self._part is not None:
            runs = ", ".join(f"{begin}:{end}" for begin, end in self._part)
            part = f", part [{runs}] of {self._whole_shape()}"
        return f"<ResamplePlan {name} {self.dtype} {shapes} on axes {self.axes}{part}>"

    def _whole_shape(self) -> tuple[int, ...]:
        """Return the shape of the output that this is a part of."""
        _, data_shape, _, axes, _ = self._whole
        lengths = {plan.axis: plan.n_out for plan in axes}
        return tuple(lengths.get(axis, n) for axis, n in enumerate(data_shape))

    def explain(self) -> str:
        """Say in words what the plan does: positions, taps and weights of each axis, type, order of axes.

        Returns
        -------
        str, several lines
        """
        lines = [repr(self).strip("<>")]
        for plan in self._axis_plans:
            table = None if self.mode == "nearest" else self._tables.get(plan.axis)
            lines += explanation.axis_lines(
                plan.axis, self.data_shape[plan.axis], plan.n_out, plan.map, table
            )
        if self._options.extrapolation is not None:
            value = np.frombuffer(self._options.extrapolation, self.dtype)[0]
            lines.append(f"positions outside [0, n - 1]: {value}")
        if self._method:
            lines += self._method.explain()
        else:
            lines.append("every output sample is an input sample: a copy")
        return "\n".join(lines)


def _restored(whole: _Whole, part: tuple[parts.Run, ...] | None) -> ResamplePlan:
    """Make a plan again from what `ResamplePlan.__reduce__` kept."""
    plan = ResamplePlan.__new__(ResamplePlan)
    plan._prepare(*whole)
    return plan if part is None else plan.region(tuple(slice(*run) for run in part))
