"""Plans of the scatters: shapes, dtypes and options to the axes that `_core.Scatter` walks (ARCHITECTURE.md).

Uses `plans.indexed`, `arrays`, `checks` and `_core`; used by the functions of `remapnd.scatter` and by the
front ends.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numpy.typing import DTypeLike

from .. import _core, arrays, checks
from ..errors import must
from . import gradients
from .indexed import Geometry, IndexPlan, Shape, elements, elements_axis, tuples

ScatterBoundsWord = Literal["raise", "clip", "wrap", "drop"]
ReductionWord = Literal["none", "add", "mul", "min", "max"]

_BOUNDED = {
    "raise": "an index out of range raises IndexError",
    "clip": "an index out of range becomes the nearest valid one",
    "wrap": "an index counts modulo the size",
    "drop": "an update whose index is out of range is dropped",
}
_REDUCED = {
    "none": "the last update of a place, in row-major order, replaces its value",
    "add": "updates are added to the value of their place in row-major order",
    "mul": "the value of a place is multiplied by its updates in row-major order",
    "min": "the least of a place's value and its updates is kept",
    "max": "the greatest of a place's value and its updates is kept",
}


class _ScatterPlan(IndexPlan):
    """What the plans of all scatters share."""

    _words = _BOUNDED

    def _take_reduction(self, reduction: str) -> None:
        """Check and keep what becomes of updates."""
        checks.reduction(self.op, reduction)
        self.reduction = reduction

    def _make(self, shape: Shape, geometry: Geometry) -> None:
        """Prepare the call for the shape of the updates and the axes."""
        self._walk(shape, self.data_shape, geometry)
        number = 0
        if self.reduction != "none":
            number = checks.number(self.op, "data", self.data_dtype, self.reduction)
        self.updates_shape = shape
        bounds = checks.SCATTER_BOUNDS.index(self.bounds)
        reduction = checks.REDUCTIONS.index(self.reduction)
        self._run = _core.Scatter(*geometry.arguments(), bounds, reduction, number)
        self._writes = math.prod(shape) * math.prod(self.data_shape) * self.data_dtype.itemsize > 0
        self._prepared = self._prepare()

    def _prepare(self) -> _core.PreparedScatter | None:
        """Return the short way for plain NumPy arrays, where there is one."""
        computes = self.reduction == "none" or self.data_dtype.isnative
        if not (self._writes and computes and self.indices_dtype.isnative):
            return None
        data, indices = list(self.data_shape), list(self.indices_shape)
        return _core.PreparedScatter(
            self._run, self.data_dtype, data, self.indices_dtype, indices, list(self.updates_shape)
        )

    def __call__(self, data: Any, indices: Any, updates: Any, *, out: Any = None) -> Any:
        """Scatter into a copy of `data`; the arrays must have the shapes and dtypes the plan was made for.

        Parameters
        ----------
        data, indices, updates : array_like
            `updates` has shape `updates_shape` and the dtype of `data`.
        out : array, optional
            Is written and returned; shape and dtype of `data`, which it may be (then the call is in place);
            no other overlap with the inputs.

        Returns
        -------
        array, shape `output_shape`, dtype and kind of `data`

        Raises
        ------
        TypeError, ValueError
            An array does not fit the plan.
        IndexError
            An index is out of range; `out` is then as it was if it is `data`, and may be partly written if
            not.
        """
        if self._prepared is not None:
            result = self._prepared(data, indices, updates, out)
            if result is not None:
                return result
        x = arrays.as_array(data, self.op, "data")
        self._check_fit("data", x, self.data_shape, self.data_dtype)
        return self._finish(data, x, self._fitting_indices(indices), self._as_updates(updates), out)

    @property
    def _updates_name(self) -> str:
        """The name of the third argument."""
        return "updates"

    def _as_updates(self, updates: object) -> npt.NDArray[Any]:
        """Return `updates` as an array after checking that it fits.

        Python numbers, and lists of them, have no dtype of their own: they take that of `data` where its
        kind can hold them.
        """
        op, name, dtype = self.op, self._updates_name, self.data_dtype
        u = arrays.as_array(updates, op, name)
        if u.dtype != dtype:
            wanted = arrays.dtype_name(dtype)
            if isinstance(updates, _WITHOUT_DTYPE) and not isinstance(updates, np.generic):
                if not _can_take(u, dtype):
                    got = f"{u.dtype} values" if u.ndim else repr(updates)
                    raise TypeError(must(op, name, f"be castable to {wanted}, the dtype of `data`", got))
                _refuse_outside(op, name, u, dtype)
            elif u.dtype.newbyteorder("=") != dtype.newbyteorder("="):
                rule = f"have dtype {wanted}, as `data` ({name}.astype(data.dtype) casts)"
                raise TypeError(must(op, name, rule, arrays.dtype_name(u.dtype)))
            u = u.astype(dtype)
        return self._fit_updates(u)

    def _fit_updates(self, updates: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return updates of shape `updates_shape`."""
        if updates.shape != self.updates_shape:
            rule = f"have shape {self.updates_shape}, which follows from `data` and `indices`"
            raise ValueError(must(self.op, self._updates_name, rule, updates.shape))
        return updates

    def _finish(
        self,
        given: object,
        data: npt.NDArray[Any],
        indices: npt.NDArray[Any],
        updates: npt.NDArray[Any],
        out: Any,
    ) -> Any:
        """Scatter arrays that fit the plan; `given` is the object that `data` came from."""
        op = self.op
        in_place = False
        if out is None:
            target = arrays.empty(op, self.output_shape, data.dtype)
        else:
            view = (
                out if isinstance(out, np.ndarray) else arrays.check_out(op, out, data.shape, data.dtype, ())
            )
            in_place = _same_memory(view, data)
            inputs = (indices, updates) if in_place else (data, indices, updates)
            target = arrays.check_out(op, view, data.shape, data.dtype, inputs)
        if self.reduction != "none" and not data.dtype.isnative:
            native = data.astype(data.dtype.newbyteorder("="))
            self._scatter(None, indices, updates.astype(native.dtype), native)
            target[...] = native
        else:
            self._scatter(None if in_place else data, indices, updates, target)
        if out is not None:
            return out
        return target if type(given) is np.ndarray else arrays.like(given, target)

    def _scatter(
        self,
        source: npt.NDArray[Any] | None,
        indices: npt.NDArray[Any],
        updates: npt.NDArray[Any],
        target: npt.NDArray[Any],
    ) -> None:
        """Scatter into `target`, which holds the values of `source` if that is None."""
        if not self._writes:  # each index counts, whether it writes anything or not
            self._check_indices(indices)
        if not self._run(source, indices, updates, target):
            self._check_indices(indices)
            raise self._indices_changed()

    def vjp(self, gradient: Any, indices: Any) -> tuple[Any, Any]:
        """Return the gradients of `data` and of `updates` for the gradient of the result.

        Parameters
        ----------
        gradient : array_like, shape and dtype of `data`
        indices : array_like, as in the call

        Returns
        -------
        (array, array), shapes `data_shape` and `updates_shape`, dtype of `data`; new arrays
            For reduction "none": `gradient` with zeros at the places that were written; and `gradient` at
            the place of each update, zero where another update won or where the update was dropped. For
            "add": `gradient`; and `gradient` at the place of each update, zero where it was dropped.

        Raises
        ------
        TypeError
            An array does not fit the plan, or its dtype is not one to compute with.
        ValueError
            An array does not fit the plan; the reduction is "mul" (whose gradient needs the values and a
            division), "min" or "max" (whose gradient is not unique where values are equal).
        IndexError
            An index is out of range.
        """
        return gradients.of_scatter(self, self.updates_shape, self.reduction, gradient, indices)

    def explain(self) -> str:
        """Return in words what a call does."""
        lines = [
            f"{self.op}: {self.data_dtype} {self.updates_shape} by {self.indices_dtype} {self.indices_shape}"
            f" into {self.data_dtype} {self.data_shape}",
            *self._explain_axes("updates", self.updates_shape),
            self._explain_bounds(),
            f"  {_REDUCED[self.reduction]}",
        ]
        return "\n".join(lines)


def _same_memory(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Whether every element of two arrays of one shape is at the same address."""
    if a is b or a.strides != b.strides or not np.may_share_memory(a, b):
        return a is b
    return bool(a.__array_interface__["data"][0] == b.__array_interface__["data"][0])


_WITHOUT_DTYPE = (bool, int, float, complex, list, tuple)
_KINDS = "buifc"  # of numbers; an integer may become any of those from "u" on


def _can_take(u: npt.NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Whether values of the kind of `u`, which came from Python numbers, become `dtype`; floats may round."""
    if u.size == 0:
        return True
    kind = "f" if dtype.name == "bfloat16" else dtype.kind
    if u.dtype.kind not in _KINDS or kind not in _KINDS:
        return False
    return _KINDS.index(u.dtype.kind) <= _KINDS.index(kind) or (u.dtype.kind, kind) == ("i", "u")


def _refuse_outside(op: str, name: str, u: npt.NDArray[Any], dtype: np.dtype[Any]) -> None:
    """Refuse integers that an integer dtype does not have; the first one is named."""
    if dtype.kind not in "iu" or u.size == 0:
        return
    limits = np.iinfo(dtype)
    outside = (u < limits.min) | (u > limits.max)
    if outside.any():
        at = tuple(int(i) for i in np.unravel_index(int(np.argmax(outside)), u.shape))
        rule = f"lie in [{limits.min}, {limits.max}], the range of {dtype}, the dtype of `data`"
        raise TypeError(must(op, name, rule, u[at], at or None))


class ScatterElementsPlan(_ScatterPlan):
    """A prepared `scatter_elements`, or with `broadcast` a prepared `put_along_axis`.

    Parameters
    ----------
    data_shape : tuple of int, (*outer, n, *inner)
    data_dtype : dtype of fixed size; a number for any reduction but "none"
    indices_shape : tuple of int, (*outer, m, *inner); off the axis sizes may be smaller than those of `data`
    indices_dtype : integer dtype
    axis : int, default 0; the position of n in `data_shape`
    broadcast : bool, default False
        Off the axis sizes must be equal, or 1 in one of the arrays, which is then repeated (not copied); the
        third argument of a call is broadcast to `updates_shape`.
    reduction, bounds
        As in `scatter_elements`.

    Attributes
    ----------
    output_shape : tuple of int; `data_shape`
    updates_shape : tuple of int; `indices_shape`, after broadcasting if that is asked for

    Raises
    ------
    TypeError, ValueError
        As `scatter_elements` does; all but the values of the indices and the updates is checked here.
    """

    _options = ("reduction", "axis", "broadcast")

    def __init__(
        self,
        data_shape: Sequence[int],
        data_dtype: DTypeLike,
        indices_shape: Sequence[int],
        indices_dtype: DTypeLike,
        *,
        axis: int = 0,
        broadcast: bool = False,
        reduction: ReductionWord = "none",
        bounds: ScatterBoundsWord = "raise",
    ) -> None:
        self.broadcast = broadcast  # decides the name in messages
        self._take(data_shape, data_dtype, indices_shape, indices_dtype, bounds)
        self._take_reduction(reduction)
        op, sizes = self.op, (self.data_shape, self.indices_shape)
        self.axis = elements_axis(op, *sizes, axis)
        self._make(*elements(op, *sizes, self.axis, broadcast))

    @property
    def op(self) -> str:
        """The operator's name in messages."""
        return "put_along_axis" if self.broadcast else "scatter_elements"

    @property
    def _updates_name(self) -> str:
        """The name of the third argument."""
        return "values" if self.broadcast else "updates"

    def _fit_updates(self, updates: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return updates of shape `updates_shape`."""
        if not self.broadcast or updates.shape == self.updates_shape:
            return super()._fit_updates(updates)
        try:
            return np.broadcast_to(updates, self.updates_shape)
        except ValueError:
            rule = f"be broadcastable to {self.updates_shape}, which follows from `data` and `indices`"
            raise ValueError(must(self.op, self._updates_name, rule, f"shape {updates.shape}")) from None


class ScatterNDPlan(_ScatterPlan):
    """A prepared `scatter_nd`: items or slices of `data` at index tuples.

    Parameters
    ----------
    data_shape : tuple of int, (*indexed, *inner)
    data_dtype : dtype of fixed size; a number for any reduction but "none"
    indices_shape : tuple of int, (*k, t); t = len(indexed), which may be 0
    indices_dtype : integer dtype
    reduction, bounds
        As in `scatter_nd`.

    Attributes
    ----------
    output_shape : tuple of int; `data_shape`
    updates_shape : tuple of int, (*k, *inner)

    Raises
    ------
    TypeError, ValueError
        As `scatter_nd` does; all but the values of the indices and the updates is checked here.
    """

    _op = "scatter_nd"
    _options = ("reduction",)

    def __init__(
        self,
        data_shape: Sequence[int],
        data_dtype: DTypeLike,
        indices_shape: Sequence[int],
        indices_dtype: DTypeLike,
        *,
        reduction: ReductionWord = "none",
        bounds: ScatterBoundsWord = "raise",
    ) -> None:
        self._take(data_shape, data_dtype, indices_shape, indices_dtype, bounds)
        self._take_reduction(reduction)
        op, data, indices = self.op, self.data_shape, self.indices_shape
        checks.has_axes(op, "data", data)
        checks.has_axes(op, "indices", indices)
        self._make(*tuples(op, data, indices, 0))


@functools.lru_cache(1024)
def kept(plan: type[ScatterElementsPlan | ScatterNDPlan], *key: Any) -> ScatterElementsPlan | ScatterNDPlan:
    """Return a plan, the same one for the same key.

    The key: data's shape and dtype, indices' shape and dtype, what `call_words` returns, and the plan's own
    options in their order. Ints must be ints (1 and True and 1.0 are one key).
    """
    data_shape, data_dtype, indices_shape, indices_dtype, bounds, *options = key
    named = dict(zip(plan._options, options, strict=True))
    return plan(data_shape, data_dtype, indices_shape, indices_dtype, bounds=bounds, **named)


def call_words(op: str, bounds: object, reduction: object) -> tuple[object, object]:
    """Return the words of a call after checking that a key can be made of them."""
    if not isinstance(bounds, str):
        checks.bounds(op, bounds, checks.SCATTER_BOUNDS)
    if not isinstance(reduction, str):
        checks.reduction(op, reduction)
    return bounds, reduction


def keep_short(recent: _core.RecentScatters, plan: _ScatterPlan, option: int, reduction: object) -> None:
    """Let calls like the one that `plan` was just made or found for take the short way from now on."""
    if plan.bounds == "raise" and plan._prepared is not None and abs(option) < 1 << 32:
        recent.keep(plan._prepared, option, reduction)
