"""Gradients of resampling: the same passes over transposed tables.

Each sample of the result is one sum, made by one task in a fixed order, so that its bits do not depend on
threads or layout. Used by `plans.resample`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core, arrays, taps
from ..errors import must
from ..filter_taps import Table
from ..transposes import transposed
from .passes import PAIRS, TYPES, WORKING, check_count, on_native
from .resample_options import MAJORITY

Shape: TypeAlias = "tuple[int, ...]"
_Call: TypeAlias = "tuple[_core.Linear, tuple[slice, ...]]"  # and the part of the data that it writes

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_ROUNDING = _core.Rounding(0)  # floats are only rounded to their dtype


def check(op: str, mode: str, dtype: np.dtype[Any]) -> None:
    """Refuse a resampling that has no gradient."""
    if mode == MAJORITY:
        rule = "be one that mixes or moves values, for a gradient (labels have none)"
        raise TypeError(must(op, "mode", rule, repr(mode)))
    if dtype.name not in (*_FLOATS, *PAIRS):
        rule = f"have one of the dtypes {', '.join((*_FLOATS, *PAIRS))} for a gradient"
        if dtype.kind in "iu":
            rule += " (results on integers are rounded: steps, without a slope)"
        raise TypeError(must(op, "data", rule, dtype))


class Adjoint:
    """The transpose of a plan of floats: from gradients of its output to gradients of its data.

    `tables` are those of the axes along which anything happens; `runs` has, for the axes where they are not
    all, the outputs that are made of samples, begin and end.
    """

    def __init__(
        self,
        op: str,
        dtype: np.dtype[Any],
        shapes: tuple[Shape, Shape],
        tables: Mapping[int, Table],
        runs: Mapping[int, tuple[int, int]],
    ) -> None:
        self.op, self.dtype = op, dtype
        self.data_shape, self.output_shape = shapes
        self._calls = [] if 0 in self.output_shape or not tables else self._prepared(tables, runs)

    def _prepared(self, tables: Mapping[int, Table], runs: Mapping[int, tuple[int, int]]) -> list[_Call]:
        """Make the kernel's objects, for the parts of the data that have tables of their own."""
        check_count(self.op, tables, "a gradient")
        turned = {
            axis: transposed(table, *runs.get(axis, (0, table.n_out)), op=self.op)
            for axis, table in tables.items()
        }
        lengths = ([shape[axis] for axis in tables] for shape in (self.output_shape, self.data_shape))
        order = [list(tables).index(axis) for axis in taps.axis_order(list(tables), *lengths)]
        name = PAIRS.get(self.dtype.name, self.dtype.name)
        working = WORKING["float64" if name == "float64" else "float32"]
        calls = []
        for parts in itertools.product(*turned.values()):
            samples = [slice(None)] * len(self.data_shape)
            axes = []
            for axis, part in zip(turned, parts, strict=True):
                samples[axis] = part.samples
                weights = part.weights.astype(np.float64)
                axes.append(_core.FilterAxis(axis, part.n_out, part.start, part.count, weights, None, None))
            run = _core.Linear(TYPES[name], working, self.dtype.kind == "c", axes, order)
            calls.append((run, tuple(samples)))
        return calls

    def __call__(self, gradient: Any, out: Any = None) -> Any:
        """Return the gradient of data for that of the output."""
        g = arrays.as_array(gradient, self.op, "gradient")
        if g.dtype.newbyteorder("=") != self.dtype.newbyteorder("="):
            raise TypeError(must(self.op, "gradient", f"have the dtype {self.dtype} of the plan", g.dtype))
        if g.shape != self.output_shape:
            rule = f"have the shape {self.output_shape} of the output"
            raise ValueError(must(self.op, "gradient", rule, g.shape))
        if out is None:
            target = arrays.empty(self.op, self.data_shape, self.dtype)
            self._fill(g, target)
            return arrays.like(gradient, target)
        target = arrays.check_out(self.op, out, self.data_shape, self.dtype, (g,))
        self._fill(g, target)
        return out

    def _fill(self, gradient: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the result to `out`."""
        if out.size == 0:
            return
        if self._calls:
            on_native(self._sum, gradient, out)
        else:
            np.copyto(out, gradient)

    def _sum(self, gradient: NDArray[Any], out: NDArray[Any]) -> None:
        """Sum along all axes, between aligned native arrays."""
        for run, samples in self._calls:
            run(gradient, out[samples], _ROUNDING, 0.0)
