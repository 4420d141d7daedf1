"""Per-axis tables of a resampling: what is asked for along the axes to taps and weights.

Uses `taps`, `filters` and `filter_taps`; used by `plans.resample`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import DTypeLike

from .. import coordinates, taps
from ..errors import must
from ..filter_taps import Table, axis_table
from ..filters import FilterOptions, choose
from ..taps import LinearTable
from . import parts
from .resample_options import MAJORITY, PLAIN_LINEAR, AxisPlan, Options


@contextlib.contextmanager
def in_memory(op: str, axes: Sequence[AxisPlan]) -> Iterator[None]:
    """Name what needs how much where the tables of these axes, made within, do not fit in memory."""
    try:
        yield
    except MemoryError:
        longest = max(axes, key=lambda plan: plan.n_out)
        got = f"{longest.n_out} samples on axis {longest.axis}, that is {8 * longest.n_out} bytes or more"
        raise ValueError(must(op, "shape", "give axes whose tables fit in memory", got)) from None


def picked(data_shape: Sequence[int], axes: Sequence[AxisPlan], rule: str) -> dict[int, LinearTable]:
    """Return the tables of nearest, of the axes that are not the identity."""
    tables = {}
    for plan in axes:
        n_in = data_shape[plan.axis]
        index = taps.nearest_table(plan.map, n_in, plan.n_out, rule)
        tables[plan.axis] = taps.pick_table(index, n_in, plan.map)
    return {axis: table for axis, table in tables.items() if not table.is_identity}


def mixed(
    op: str, data_shape: Sequence[int], axes: Sequence[AxisPlan], options: Options, working: DTypeLike
) -> dict[int, Table]:
    """Return the tables of modes with weights, of the axes that are not the identity."""
    chosen = PLAIN_LINEAR
    if options.mode != MAJORITY:
        coefficient = coordinates.as_fraction(options.cubic_coefficient)
        chosen = FilterOptions(options.mode, options.antialias, coefficient, options.exclude_outside)
    tables = {
        plan.axis: axis_table(
            plan.map, data_shape[plan.axis], plan.n_out, choose(chosen, plan.scale), working, op=op
        )
        for plan in axes
    }
    return {axis: table for axis, table in tables.items() if not table.is_identity}


def copied_where_inside(
    axes: Sequence[AxisPlan], inside: dict[int, parts.Run], others: dict[int, Table]
) -> dict[int, Table]:
    """Add tables of the axes that are the identity but for positions outside; in ascending order of axes."""
    tables = dict(others)
    for plan in axes:
        n = plan.n_out
        if plan.axis not in tables and inside.get(plan.axis, (0, n)) != (0, n):
            tables[plan.axis] = taps.pick_table(np.arange(n), n, plan.map)
    return {axis: tables[axis] for axis in sorted(tables)}
