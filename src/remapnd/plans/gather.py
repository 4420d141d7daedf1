"""Plans of the gathers: shapes, dtypes and options to the axes that `_core.Gather` walks (ARCHITECTURE.md).

Uses `arrays`, `checks` and `_core`; used by the functions of `remapnd.gather` and by the front ends.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from .. import _core, arrays, checks
from ..errors import must
from . import gradients
from .constant import ConstantIndices, constant_indices
from .indexed import Geometry, IndexPlan, Shape, elements, elements_axis, tuples

BoundsWord = Literal["raise", "clip", "wrap", "fill"]

# Bytes of a result from which consecutive constant indices are gathered in pieces, and of the smallest piece:
# making the view of data that this takes costs some microseconds.
_PIECES_FROM, _PIECE = 1 << 16, 16


def _shown(value: object) -> str:
    """Return a fill value in words; a scalar of NumPy as the number, text or date that it is."""
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value) if value.dtype.kind in "mM" else repr(value.item())
    return repr(value)


@dataclass(frozen=True, repr=False)
class _GatherPlan(IndexPlan):
    """What the plans of all gathers share; subclasses say `_plan`."""

    _words: ClassVar[dict[str, str]] = {
        "raise": "an index out of range raises IndexError",
        "clip": "an index out of range becomes the nearest valid one",
        "wrap": "an index counts modulo the size",
        "fill": "an index out of range gives the fill value",
    }

    indices_shape: Shape = None  # type: ignore[assignment]
    indices_dtype: np.dtype[Any] = None  # type: ignore[assignment]
    bounds: BoundsWord = field(default="raise", kw_only=True)
    fill_value: Any = field(default=0, kw_only=True, compare=False)
    indices: Any = field(default=None, kw_only=True, compare=False)
    _fill: bytes | None = field(init=False)
    _run: _core.Gather = field(init=False, compare=False)
    _moves: bool = field(init=False, compare=False)
    _constant: ConstantIndices | None = field(init=False, default=None)
    _in_pieces: bool = field(init=False, default=False, compare=False)
    _prepared: _core.PreparedGather | None = field(init=False, default=None, compare=False)

    def __post_init__(self) -> None:
        op = self.op
        if self.indices is not None:
            self._take_indices()
        elif self.indices_shape is None or self.indices_dtype is None:
            checks.dtype(op, "data_dtype", self.data_dtype)  # a shape in its place says what was forgotten
            missing = "indices_dtype" if self.indices_shape is not None else "indices_shape"
            rule = "be given, with `indices_shape` and `indices_dtype` both, or `indices` alone"
            raise TypeError(must(op, missing, rule, "none"))
        self._check_arguments()
        self._set("_fill", call_fill(op, self.bounds, self.fill_value, self.data_dtype))
        shape, geometry = self._plan()
        checks.result_shape(op, "indices", shape, self.data_dtype)
        self._set("output_shape", shape)
        self._set("_geometry", geometry)
        self._set("_run", _core.Gather(*geometry.arguments(), checks.BOUNDS.index(self.bounds)))
        self._set("_moves", math.prod(shape) * self.data_dtype.itemsize > 0)
        if self.indices is not None:
            self._check_indices(self.indices)
            constant = constant_indices(self.indices, geometry, self.data_shape, self.bounds)
            self._set("_constant", constant)
            self._set("indices", constant.given)
            self._set("_in_pieces", self._moves and self._pieces(constant))
        self._set("_prepared", self._prepare())

    def _take_indices(self) -> None:
        """Make shape and dtype of the indices those of `indices`."""
        op, i = self.op, arrays.as_indices(self.indices, self.op)
        for name, told, found in (
            ("indices_shape", self.indices_shape, i.shape),
            ("indices_dtype", self.indices_dtype, i.dtype),
        ):
            if told is not None and told != found:
                raise ValueError(must(op, name, f"be {found}, as `indices` has, or left out", told))
        self._set("indices", i)
        self._set("indices_shape", i.shape)
        self._set("indices_dtype", i.dtype)

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

    def _plan(self) -> tuple[Shape, Geometry]:
        """Check options and shapes; return the shape of the output and the axes."""
        raise NotImplementedError

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


@dataclass(frozen=True, repr=False)
class GatherPlan(_GatherPlan):
    """A prepared `gather`: slices of `data` along one axis, one for each index.

    Parameters
    ----------
    data_shape : tuple of int, (*outer, n, *inner)
    data_dtype : dtype of fixed size
    indices_shape : tuple of int, (*k,)
    indices_dtype : integer dtype
    indices : array_like, optional
        Constant indices, instead of their shape and dtype: the plan owns a copy, analyses it once
        (`explain` says what was found) and is called with `data` alone.
    axis : int, default 0; the position of n in `data_shape`
    bounds, fill_value
        As in `gather`.

    Attributes
    ----------
    output_shape : tuple of int, (*outer, *k, *inner)

    Raises
    ------
    TypeError, ValueError, IndexError
        As `gather` does; all but the values of the indices is checked here, these too if they are constant.

    Examples
    --------
    >>> import numpy as np
    >>> plan = GatherPlan((2, 4), "int16", axis=1, indices=[0, -1])
    >>> plan(np.arange(8, dtype=np.int16).reshape(2, 4))
    array([[0, 3],
           [4, 7]], dtype=int16)
    """

    _op = "gather"
    _options = ("axis",)
    axis: int = field(default=0, kw_only=True)

    def _plan(self) -> tuple[Shape, Geometry]:
        data, indices = self.data_shape, self.indices_shape
        checks.has_axes(self.op, "data", data)
        a = checks.axis(self.op, self.axis, len(data))
        self._set("axis", a)
        k = len(indices)
        walks = (
            [(d, -1) for d in range(a)]
            + [(-1, i) for i in range(k)]
            + [(d, -1) for d in range(a + 1, len(data))]
        )
        return data[:a] + indices + data[a + 1 :], Geometry(tuple(walks), (a,), -1)

    def _pieces(self, constant: ConstantIndices) -> bool:
        """Whether consecutive indices are worth being gathered in pieces."""
        length, item = constant.run_length, self.data_dtype.itemsize
        piece = length * math.prod(self.data_shape[self.axis + 1 :]) * item
        return length > 1 and piece >= _PIECE and math.prod(self.output_shape) * item >= _PIECES_FROM

    def _gather_pieces(
        self, constant: ConstantIndices, data: npt.NDArray[Any], target: npt.NDArray[Any]
    ) -> None:
        """Gather windows of data: an axis of starts and one of places within, in `target` likewise."""
        a, k, length = self.axis, len(self.indices_shape), constant.run_length
        last = a + k - 1  # of the axes of indices in the output
        starts = constant.used[..., ::length]
        step = data.strides[a]
        windows = np.lib.stride_tricks.as_strided(
            data,
            (*data.shape[:a], data.shape[a] - length + 1, length, *data.shape[a + 1 :]),
            (*data.strides[:a], step, step, *data.strides[a + 1 :]),
            writeable=False,
        )
        out_step = target.strides[last]
        pieces = np.lib.stride_tricks.as_strided(
            target,
            (*target.shape[:last], starts.shape[-1], length, *target.shape[last + 1 :]),
            (*target.strides[:last], length * out_step, out_step, *target.strides[last + 1 :]),
        )
        if not self._run_pieces(windows, starts, pieces, None):
            raise self._indices_changed()

    @functools.cached_property
    def _run_pieces(self) -> _core.Gather:
        """The gather of windows: one more axis behind the one that is indexed."""
        a, k, rank = self.axis, len(self.indices_shape), len(self.data_shape)
        walks = (
            [(d, -1) for d in range(a)]
            + [(-1, i) for i in range(k)]
            + [(d, -1) for d in range(a + 1, rank + 1)]
        )
        return _core.Gather(*Geometry(tuple(walks), (a,), -1).arguments(), 0)


@dataclass(frozen=True, repr=False)
class GatherElementsPlan(_GatherPlan):
    """A prepared `gather_elements`, or with `broadcast` a prepared `take_along_axis`.

    Parameters
    ----------
    data_shape : tuple of int, (*outer, n, *inner)
    data_dtype : dtype of fixed size
    indices_shape : tuple of int, (*outer, m, *inner); off the axis sizes may be smaller than those of `data`
    indices_dtype : integer dtype
    indices : array_like, optional
        Constant indices, instead of their shape and dtype: the plan owns a copy, analyses it once
        (`explain` says what was found) and is called with `data` alone.
    axis : int, default 0; the position of n in `data_shape`
    broadcast : bool, default False
        Off the axis sizes must be equal, or 1 in one of the arrays, which is then repeated (not copied).
    bounds, fill_value
        As in `gather`.

    Attributes
    ----------
    output_shape : tuple of int; `indices_shape`, after broadcasting if that is asked for

    Raises
    ------
    TypeError, ValueError, IndexError
        As `gather_elements` does; all but the values of the indices is checked here, these too if they are
        constant.
    """

    _options = ("axis", "broadcast")
    axis: int = field(default=0, kw_only=True)
    broadcast: bool = field(default=False, kw_only=True)

    @property
    def op(self) -> str:
        """The operator's name in messages."""
        return "take_along_axis" if self.broadcast else "gather_elements"

    def _plan(self) -> tuple[Shape, Geometry]:
        op, data, indices = self.op, self.data_shape, self.indices_shape
        a = elements_axis(op, data, indices, self.axis)
        self._set("axis", a)
        return elements(op, data, indices, a, self.broadcast)


@dataclass(frozen=True, repr=False)
class GatherNDPlan(_GatherPlan):
    """A prepared `gather_nd`: items or slices of `data` at index tuples.

    Parameters
    ----------
    data_shape : tuple of int, (*batch, *indexed, *inner)
    data_dtype : dtype of fixed size
    indices_shape : tuple of int, (*batch, *k, t); t = len(indexed), which may be 0
    indices_dtype : integer dtype
    indices : array_like, optional
        Constant indices, instead of their shape and dtype: the plan owns a copy, analyses it once
        (`explain` says what was found) and is called with `data` alone.
    batch_dims : int, default 0; the number of axes in batch
    bounds, fill_value
        As in `gather`.

    Attributes
    ----------
    output_shape : tuple of int, (*batch, *k, *inner)

    Raises
    ------
    TypeError, ValueError, IndexError
        As `gather_nd` does; all but the values of the indices is checked here, these too if they are
        constant.
    """

    _op = "gather_nd"
    _options = ("batch_dims",)
    batch_dims: int = field(default=0, kw_only=True)

    def _plan(self) -> tuple[Shape, Geometry]:
        op, data, indices = self.op, self.data_shape, self.indices_shape
        checks.has_axes(op, "data", data)
        checks.has_axes(op, "indices", indices)
        r, q = len(data), len(indices)
        b = checks.integer(op, "batch_dims", self.batch_dims)
        self._set("batch_dims", b)
        if not 0 <= b < min(q, r):
            raise ValueError(
                must(op, "batch_dims", f"lie in [0, {min(q, r)}), below the axes of both arrays", b)
            )
        return tuples(op, data, indices, b)


# ---- what the functions' calls need


@functools.lru_cache(1024)
def kept(plan: type[_GatherPlan], *key: Any) -> _GatherPlan:
    """Return a plan, the same one for the same key.

    The key: data's shape and dtype, indices' shape and dtype, bounds, what `call_fill` returns, and the
    plan's own options in their order. Ints must be ints (1 and True and 1.0 are one key).
    """
    data_shape, data_dtype, indices_shape, indices_dtype, bounds, fill, *options = key
    named = dict(zip(plan._options, options, strict=True))
    if bounds == "fill" and data_dtype.itemsize:
        named["fill_value"] = np.frombuffer(fill, data_dtype).reshape(())
    return plan(data_shape, data_dtype, indices_shape, indices_dtype, bounds=bounds, **named)


def call_fill(op: str, bounds: object, fill_value: object, dtype: np.dtype[Any]) -> bytes | None:
    """Return what fills, part of a plan's key; refuses a `bounds` and a `fill_value` that do not fit."""
    if bounds != "fill":
        if bounds != "raise":
            checks.bounds(op, bounds)
        checks.only_for(op, "fill_value", fill_value, ("bounds", str(bounds)), ("fill",), default=0)
        return None
    return checks.fill_item(op, fill_value, dtype)


def keep_short(recent: _core.RecentGathers, plan: _GatherPlan, option: int) -> None:
    """Let calls like the one that `plan` was just made or found for take the short way from now on."""
    if plan.bounds == "raise" and plan._prepared is not None and abs(option) < 1 << 32:
        recent.keep(plan._prepared, option)
