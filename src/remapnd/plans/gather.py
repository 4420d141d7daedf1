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
from .indexed import Geometry, IndexPlan, Shape, elements, elements_axis, tuples

BoundsWord = Literal["raise", "clip", "wrap", "fill"]


@dataclass(frozen=True, repr=False)
class _GatherPlan(IndexPlan):
    """What the plans of all gathers share; subclasses say `_plan`."""

    _words: ClassVar[dict[str, str]] = {
        "raise": "an index out of range raises IndexError",
        "clip": "an index out of range becomes the nearest valid one",
        "wrap": "an index counts modulo the size",
        "fill": "an index out of range gives the fill value",
    }

    bounds: BoundsWord = field(default="raise", kw_only=True)
    fill_value: Any = field(default=0, kw_only=True, compare=False)
    _fill: bytes | None = field(init=False)
    _run: _core.Gather = field(init=False, compare=False)
    _moves: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self._check_arguments()
        op = self.op
        fill = checks.fill_item(op, self.fill_value, self.data_dtype) if self.bounds == "fill" else None
        self._set("_fill", fill)
        shape, geometry = self._plan()
        checks.result_shape(op, "indices", shape, self.data_dtype)
        self._set("output_shape", shape)
        self._set("_geometry", geometry)
        self._set("_run", _core.Gather(*geometry.arguments(), checks.BOUNDS.index(self.bounds)))
        self._set("_moves", math.prod(shape) * self.data_dtype.itemsize > 0)

    def _plan(self) -> tuple[Shape, Geometry]:
        """Check options and shapes; return the shape of the output and the axes."""
        raise NotImplementedError

    def __call__(self, data: Any, indices: Any, *, out: Any = None) -> Any:
        """Gather from `data`; the arrays must have the shapes and dtypes that the plan was made for.

        Parameters
        ----------
        data, indices : array_like
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
        x = arrays.as_array(data, self.op, "data")
        self.check_fit("data", x, self.data_shape, self.data_dtype)
        return self.finish(data, x, self.fitting_indices(indices), out)

    def finish(self, given: object, data: npt.NDArray[Any], indices: npt.NDArray[Any], out: Any) -> Any:
        """Gather from arrays that fit the plan; `given` is the object that `data` came from."""
        op = self.op
        if out is None:
            target = arrays.empty(op, self.output_shape, data.dtype)
        else:
            target = arrays.check_out(op, out, self.output_shape, data.dtype, (data, indices))
        if not self._moves:  # each index counts, whether it moves anything or not
            self.check_indices(indices)
        elif not self._run(data, indices, target, self._fill):
            self.check_indices(indices)
            raise self.indices_changed()
        if out is not None:
            return out
        return target if type(given) is np.ndarray else arrays.like(given, target)

    def explain(self) -> str:
        """Return in words what a call does."""
        fill = f" {self.fill_value!r}" if self.bounds == "fill" else ""
        lines = [
            f"{self.op}: {self.data_dtype} {self.data_shape} by {self.indices_dtype} {self.indices_shape}"
            f" -> {self.data_dtype} {self.output_shape}",
            *self._explain_axes("output", self.output_shape),
            self._explain_bounds() + fill,
            f"  moves {math.prod(self.output_shape)} items of {self.data_dtype.itemsize} bytes",
        ]
        return "\n".join(lines)

    def _keywords(self) -> dict[str, Any]:
        """Return the options as given to the constructor."""
        named = super()._keywords()
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
    axis : int, default 0; the position of n in `data_shape`
    bounds, fill_value
        As in `gather`.

    Attributes
    ----------
    output_shape : tuple of int, (*outer, *k, *inner)

    Raises
    ------
    TypeError, ValueError
        As `gather` does; all but the values of the indices is checked here.
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


@dataclass(frozen=True, repr=False)
class GatherElementsPlan(_GatherPlan):
    """A prepared `gather_elements`, or with `broadcast` a prepared `take_along_axis`.

    Parameters
    ----------
    data_shape : tuple of int, (*outer, n, *inner)
    data_dtype : dtype of fixed size
    indices_shape : tuple of int, (*outer, m, *inner); off the axis sizes may be smaller than those of `data`
    indices_dtype : integer dtype
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
    TypeError, ValueError
        As `gather_elements` does; all but the values of the indices is checked here.
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
    batch_dims : int, default 0; the number of axes in batch
    bounds, fill_value
        As in `gather`.

    Attributes
    ----------
    output_shape : tuple of int, (*batch, *k, *inner)

    Raises
    ------
    TypeError, ValueError
        As `gather_nd` does; all but the values of the indices is checked here.
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
    """Return the part of a plan's key that says what fills; refuses an unknown `bounds`."""
    if bounds == "raise":
        return None
    checks.bounds(op, bounds)
    return checks.fill_item(op, fill_value, dtype) if bounds == "fill" else None
