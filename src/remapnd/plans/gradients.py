"""Gradients of gathers and scatters: each is the transpose of the other, along the same axes.

A gradient has the order of its sums fixed, so its bits are the same for any number of threads.

Uses `plans.indexed`, `arrays`, `checks` and `_core`; used by `plans.gather` and `plans.scatter`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core, arrays, checks
from ..errors import must
from .indexed import IndexPlan, Shape

# The words of `bounds` in the order of the core: filled positions of a gather contribute nothing to its
# gradient, dropped updates of a scatter get nothing from its gradient.
_PLACES = {"raise": 0, "clip": 1, "wrap": 2, "fill": 3, "drop": 3}


def of_gather(plan: IndexPlan, gradient: object, indices: object) -> Any:
    """Return the gradient of data for that of the output: added up where each item came from."""
    op, dtype = plan.op, plan.data_dtype
    number = checks.number(op, "gradient", dtype, "add")
    g = _fitting(plan, gradient, plan.output_shape)
    i = plan._fitting_indices(indices)
    data = np.zeros(plan.data_shape, g.dtype)
    run = _core.Scatter(*plan._geometry.arguments(), _PLACES[plan.bounds], 1, number)
    if g.size * data.size == 0:
        plan._check_indices(i)
    if not run(None, i, g, data):
        plan._check_indices(i)
        raise plan._indices_changed()
    return arrays.like(gradient, data.astype(dtype, copy=False))


def of_scatter(
    plan: IndexPlan, shape: Shape, reduction: str, gradient: object, indices: object
) -> tuple[Any, Any]:
    """Return the gradients of data and updates, of `shape`, for that of the result."""
    op, dtype = plan.op, plan.data_dtype
    if reduction not in ("none", "add"):
        raise ValueError(must(op, "reduction", "be 'none' or 'add' for a gradient", repr(reduction)))
    checks.number(op, "gradient", dtype, "add")
    g = _fitting(plan, gradient, plan.data_shape)
    i = plan._fitting_indices(indices)
    of_updates = _gathered(plan, shape, g, i, bytes(g.itemsize))
    of_data = g.copy()
    if reduction == "none" and of_updates.size * of_data.size:
        zero = np.broadcast_to(np.zeros((), g.dtype), shape)
        _put(plan, i, zero, of_data)
        # Which update is in each place in the end, by its number.
        numbers = np.arange(of_updates.size).reshape(shape)
        winners = np.full(plan.data_shape, -1)
        _put(plan, i, numbers, winners)
        won = _gathered(plan, shape, winners, i, np.int64(-1).tobytes()) == numbers
        of_updates[~won] = 0
    results = (of_data.astype(dtype, copy=False), of_updates.astype(dtype, copy=False))
    return arrays.like(gradient, results[0]), arrays.like(gradient, results[1])


def _fitting(plan: IndexPlan, gradient: object, shape: Shape) -> npt.NDArray[Any]:
    """Return a gradient as a native array after checking that it fits."""
    g = arrays.as_array(gradient, plan.op, "gradient")
    native = plan.data_dtype.newbyteorder("=")
    if g.dtype != native and g.dtype == plan.data_dtype:
        g = g.astype(native)
    plan._check_fit("gradient", g, shape, native)
    return g


def _put(
    plan: IndexPlan, indices: npt.NDArray[Any], updates: npt.NDArray[Any], data: npt.NDArray[Any]
) -> None:
    """Put updates into data along the plan's axes."""
    if not _core.Scatter(*plan._geometry.arguments(), _PLACES[plan.bounds], 0, 0)(
        None, indices, updates, data
    ):
        plan._check_indices(indices)
        raise plan._indices_changed()


def _gathered(
    plan: IndexPlan, shape: Shape, data: npt.NDArray[Any], indices: npt.NDArray[Any], fill: bytes
) -> npt.NDArray[Any]:
    """Return the item of data for each update, or what fills."""
    items = arrays.empty(plan.op, shape, data.dtype)
    if items.size == 0:
        plan._check_indices(indices)
    elif not _core.Gather(*plan._geometry.arguments(), _PLACES[plan.bounds])(data, indices, items, fill):
        plan._check_indices(indices)
        raise plan._indices_changed()
    return items
