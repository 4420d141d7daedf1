"""What the plans of all gathers share: indices that are data or constant, what fills, and the call.

Uses `plans.indexed`, `plans.constant`, `arrays`, `checks` and `_core`; used by `plans.gather`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numpy.typing import DTypeLike

from .. import _core, arrays, checks
from ..errors import must, shown
from . import gradients
from .constant import ConstantIndices, constant_indices
from .indexed import Geometry, IndexPlan, Shape

BoundsWord = Literal["raise", "clip", "wrap", "fill"]

_BOUNDED = {
    "raise": "an index out of range raises IndexError",
    "clip": "an index out of range becomes the nearest valid one",
    "wrap": "an index counts modulo the size",
    "fill": "an index out of range gives the fill value",
}


def _shown(value: object) -> str:
    """Return a fill value in words; a scalar of NumPy as the number, text or date that it is."""
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value) if value.dtype.kind in "mM" else repr(value.item())
    return repr(value)


def _missing(op: str, indices_shape: object, indices_dtype: object) -> str:
    """Return what to say where one of two arguments was given, or none."""
    names, got = ("indices_shape", "indices_dtype"), "neither"
    if isinstance(indices_shape, np.ndarray):
        got = "an array as `indices_shape` (constant indices are given as indices=...)"
    elif indices_shape is not None:
        names, got = names[::-1], f"only indices_shape={shown(indices_shape, repr)}"
    elif indices_dtype is not None:
        got = f"only indices_dtype={indices_dtype!r}"
    return must(op, names[0], f"be given with `{names[1]}`, or `indices` in place of both", got)


class AnyGather(IndexPlan):
    """What the plans of all gathers share."""

    _words = _BOUNDED

    def _take_all(
        self,
        data_shape: Sequence[int],
        data_dtype: DTypeLike,
        indices_shape: Sequence[int] | None,
        indices_dtype: DTypeLike | None,
        *,
        indices: Any,
        bounds: str,
        fill_value: Any,
    ) -> npt.NDArray[Any] | None:
        """Check and keep what all gathers are made from; return the constant indices."""
        op = self.op
        i = None if indices is None else arrays.as_indices(indices, op)
        if i is not None:
            for name, told, found in (
                ("indices_shape", indices_shape, i.shape),
                ("indices_dtype", indices_dtype, i.dtype),
            ):
                if told is not None and told != found:
                    raise ValueError(must(op, name, f"be {found}, as `indices` has, or left out", told))
            indices_shape, indices_dtype = i.shape, i.dtype
        elif indices_shape is None or indices_dtype is None:
            checks.dtype(op, "data_dtype", data_dtype)  # a shape in its place says what was forgotten
            raise TypeError(_missing(op, indices_shape, indices_dtype))
        self._take(data_shape, data_dtype, indices_shape, indices_dtype, bounds)
        self._fill = call_fill(op, bounds, fill_value, self.data_dtype)
        self.fill_value = fill_value
        return i

    def _make(self, constant: npt.NDArray[Any] | None, shape: Shape, geometry: Geometry) -> None:
        """Prepare the call for the shape of the output and the axes."""
        self._walk(shape, shape, geometry)
        self._run = _core.Gather(*geometry.arguments(), checks.BOUNDS.index(self.bounds))
        self._moves = math.prod(shape) * self.data_dtype.itemsize > 0
        self._constant: ConstantIndices | None = None
        self._in_pieces = False
        if constant is not None:
            self._check_indices(constant)
            self._constant = self._analysed(constant)
            self._in_pieces = self._moves and self._pieces(self._constant)
        self.indices = None if self._constant is None else self._constant.given
        self._prepared = self._prepare()

    def _analysed(self, indices: npt.NDArray[Any]) -> ConstantIndices:
        """Return what is found in constant indices."""
        try:
            return constant_indices(indices, self._geometry, self.data_shape, self.bounds)
        except MemoryError:
            got = f"{indices.size} of them, that is {8 * indices.size} bytes or more"
            rule = "fit in memory as int64, in which they are analysed (a call with `indices` needs no copy)"
            raise ValueError(must(self.op, "indices", rule, got)) from None

    def _prepare(self) -> _core.PreparedGather | None:
        """Return the short way for plain NumPy arrays, where there is one."""
        if self.bounds == "fill" or not self._moves or not self.indices_dtype.isnative:
            return None
        dtype = self.indices_dtype if self._constant is None else self._constant.used.dtype
        return _core.PreparedGather(
            self._run,
            self.data_dtype,
            list(self.data_shape),
            dtype,
            list(self.indices_shape),
            list(self.output_shape),
        )

    def __call__(self, data: Any, indices: Any = None, *, out: Any = None) -> Any:
        """Gather from `data`; the arrays must have the shapes and dtypes that the plan was made for.

        Parameters
        ----------
        data : array_like
        indices : array_like
            To be left out where the plan was made with `indices`.
        out : array, optional
            Is written and returned; shape `output_shape`, dtype of `data`, no overlap with the inputs.

        Returns
        -------
        array, shape `output_shape`, dtype and kind of `data`

        Raises
        ------
        TypeError, ValueError
            An array does not fit the plan.
        IndexError
            An index is out of range; `out` may then be partly written.
        """
        if self._constant is not None:
            return self._call_constant(self._constant, data, indices, out)
        if self._prepared is not None:
            result = self._prepared(data, indices, out)
            if result is not None:
                return result
        if indices is None:
            raise self._no_indices()
        x = arrays.as_array(data, self.op, "data")
        self._check_fit("data", x, self.data_shape, self.data_dtype)
        return self._finish(data, x, self._fitting_indices(indices), out)

    def _call_constant(self, constant: ConstantIndices, data: Any, indices: Any, out: Any) -> Any:
        """Gather by the plan's own indices."""
        self._refuse_indices(indices)
        in_pieces = self._in_pieces
        if self._prepared is not None and not in_pieces:
            result = self._prepared(data, constant.used, out)
            if result is not None:
                return result
        x = arrays.as_array(data, self.op, "data")
        self._check_fit("data", x, self.data_shape, self.data_dtype)
        if not in_pieces:
            return self._finish(data, x, constant.used, out)
        target = self._target(x, constant.given, out)
        self._gather_pieces(constant, x, target)
        return self._result(data, target, out)

    def _pieces(self, constant: ConstantIndices) -> bool:
        """Whether consecutive indices are worth being gathered in pieces."""
        return False

    def _gather_pieces(
        self, constant: ConstantIndices, data: npt.NDArray[Any], target: npt.NDArray[Any]
    ) -> None:
        """Gather pieces of consecutive indices into `target`."""
        raise NotImplementedError

    def _finish(self, given: object, data: npt.NDArray[Any], indices: npt.NDArray[Any], out: Any) -> Any:
        """Gather from arrays that fit the plan; `given` is the object that `data` came from."""
        target = self._target(data, indices, out)
        if not self._moves:  # each index counts, whether it moves anything or not
            self._check_indices(indices)
        elif not self._run(data, indices, target, self._fill):
            self._check_indices(indices)
            raise self._indices_changed()
        return self._result(given, target, out)

    def _target(self, data: npt.NDArray[Any], indices: npt.NDArray[Any], out: Any) -> npt.NDArray[Any]:
        """Return the array to write: a new one, or `out` once it is checked."""
        if out is None:
            return arrays.empty(self.op, self.output_shape, data.dtype)
        return arrays.check_out(self.op, out, self.output_shape, data.dtype, (data, indices))

    def _result(self, given: object, target: npt.NDArray[Any], out: Any) -> Any:
        """Return what the caller gets for a written `target`."""
        if out is not None:
            return out
        return target if type(given) is np.ndarray else arrays.like(given, target)

    def vjp(self, gradient: Any, indices: Any = None) -> Any:
        """Return the gradient of `data` for the gradient of the output: a sum for each item that was read.

        Parameters
        ----------
        gradient : array_like, shape `output_shape`, dtype of `data`
        indices : array_like, as in the call
            Left out where the plan has its own. `bounds` means the same: "clip" adds up at the edge, what
            "fill" filled adds nothing.

        Returns
        -------
        array, shape `data_shape`, dtype of `data`, kind of `gradient`; a new array
            Sums are taken in row-major order of `gradient`, in the dtype's arithmetic (see `scatter_nd`).

        Raises
        ------
        TypeError
            An array does not fit the plan, or its dtype is not one to compute with.
        ValueError
            An array does not fit the plan.
        IndexError
            An index is out of range.
        """
        if self._constant is not None:
            self._refuse_indices(indices)
            indices = self.indices
        elif indices is None:
            raise self._no_indices()
        return gradients.of_gather(self, gradient, indices)

    def _refuse_indices(self, indices: Any) -> None:
        """Raise where indices are given to a plan with its own."""
        if indices is not None:
            raise TypeError(
                must(self.op, "indices", "be left out, as the plan has its own", type(indices).__name__)
            )

    def _no_indices(self) -> TypeError:
        """Return the error of a call without indices on a plan without."""
        return TypeError(must(self.op, "indices", "be given, as the plan was made without", None))

    def explain(self) -> str:
        """Return in words what a call does."""
        fill = f" {_shown(self.fill_value)}" if self.bounds == "fill" else ""
        lines = [
            f"{self.op}: {self.data_dtype} {self.data_shape} by {self.indices_dtype} {self.indices_shape}"
            f" -> {self.data_dtype} {self.output_shape}",
            *self._explain_axes("output", self.output_shape),
            self._explain_bounds() + fill,
            *([] if self._constant is None else self._constant.explain()),
            f"  moves {math.prod(self.output_shape)} items of {self.data_dtype.itemsize} bytes",
        ]
        return "\n".join(lines)

    def _keywords(self) -> dict[str, Any]:
        """Return the options as given to the constructor."""
        named = super()._keywords()
        if self._constant is not None:
            named["indices"] = self._constant.given
        return {**named, "fill_value": self.fill_value} if self.bounds == "fill" else named

    @property
    def _key(self) -> tuple[Any, ...]:
        """All that the plan is made of."""
        return *super()._key, self._fill, self._constant


def call_fill(op: str, bounds: object, fill_value: object, dtype: np.dtype[Any]) -> bytes | None:
    """Return what fills, part of a plan's key; refuses a `bounds` and a `fill_value` that do not fit."""
    if bounds != "fill":
        if bounds != "raise":
            checks.bounds(op, bounds)
        checks.only_for(op, "fill_value", fill_value, ("bounds", str(bounds)), ("fill",), default=0)
        return None
    return checks.fill_item(op, fill_value, dtype)
