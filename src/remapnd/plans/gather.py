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

BoundsWord = Literal["raise", "clip", "wrap", "fill"]
Shape = tuple[int, ...]

_OUTSIDE = {
    "raise": "an index out of range raises IndexError",
    "clip": "an index out of range becomes the nearest valid one",
    "wrap": "an index counts modulo the size",
    "fill": "an index out of range gives the fill value",
}


@dataclass(frozen=True)
class _Geometry:
    """The axes of a gather: for each output axis the axis of data and of indices that it walks (-1: none)."""

    walks: tuple[tuple[int, int], ...]
    indexed: tuple[int, ...]
    component_axis: int


@dataclass(frozen=True, repr=False)
class _IndexPlan:
    """What the plans of all gathers share; subclasses say `_op` and `_plan`."""

    _op: ClassVar[str]
    _options: ClassVar[tuple[str, ...]]

    data_shape: Shape
    data_dtype: np.dtype[Any]
    indices_shape: Shape
    indices_dtype: np.dtype[Any]
    bounds: BoundsWord = field(default="raise", kw_only=True)
    fill_value: Any = field(default=0, kw_only=True, compare=False)
    output_shape: Shape = field(init=False, compare=False)
    _fill: bytes | None = field(init=False)
    _geometry: _Geometry = field(init=False, compare=False)
    _run: _core.Gather = field(init=False, compare=False)
    _moves: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        op = self.op
        self._set("data_shape", checks.shape(op, "data", self.data_shape))
        self._set("indices_shape", checks.shape(op, "indices", self.indices_shape))
        self._set("data_dtype", np.dtype(self.data_dtype))
        self._set("indices_dtype", np.dtype(self.indices_dtype))
        checks.movable_dtype(op, "data", self.data_dtype)
        checks.index_dtype(op, self.indices_dtype)
        checks.bounds(op, self.bounds)
        fill = checks.fill_item(op, self.fill_value, self.data_dtype) if self.bounds == "fill" else None
        self._set("_fill", fill)
        shape, geometry = self._plan()
        checks.result_shape(op, "indices", shape, self.data_dtype)
        self._set("output_shape", shape)
        self._set("_geometry", geometry)
        data_axes, index_axes = [w[0] for w in geometry.walks], [w[1] for w in geometry.walks]
        self._set(
            "_run",
            _core.Gather(
                data_axes,
                index_axes,
                list(geometry.indexed),
                geometry.component_axis,
                checks.BOUNDS.index(self.bounds),
            ),
        )
        self._set("_moves", math.prod(shape) * self.data_dtype.itemsize > 0)

    @property
    def op(self) -> str:
        """The operator's name in messages."""
        return self._op

    def _plan(self) -> tuple[Shape, _Geometry]:
        """Check options and shapes; return the shape of the output and the axes."""
        raise NotImplementedError

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

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
        x, i = arrays.as_array(data, self.op, "data"), arrays.as_indices(indices, self.op)
        self._check_fit("data", x, self.data_shape, self.data_dtype)
        self._check_fit("indices", i, self.indices_shape, self.indices_dtype.newbyteorder("="))
        return self.finish(data, x, i, out)

    def _check_fit(self, name: str, a: npt.NDArray[Any], shape: Shape, dtype: np.dtype[Any]) -> None:
        """Refuse an array that the plan was not made for."""
        if a.dtype != dtype:
            raise TypeError(must(self.op, name, f"have the plan's dtype {dtype}", a.dtype))
        if a.shape != shape:
            raise ValueError(must(self.op, name, f"have the plan's shape {shape}", a.shape))

    def finish(self, given: object, data: npt.NDArray[Any], indices: npt.NDArray[Any], out: Any) -> Any:
        """Gather from arrays that fit the plan; `given` is the object that `data` came from."""
        op = self.op
        if out is None:
            target = arrays.empty(op, self.output_shape, data.dtype)
        else:
            target = arrays.check_out(op, out, self.output_shape, data.dtype, (data, indices))
        if not self._moves:  # each index counts, whether it moves anything or not
            self._check_indices(indices)
        elif not self._run(data, indices, target, self._fill):
            self._check_indices(indices)
            raise IndexError(
                must(op, "indices", "not change during the call", "indices that another thread writes")
            )
        if out is not None:
            return out
        return target if type(given) is np.ndarray else arrays.like(given, target)

    def _check_indices(self, indices: npt.NDArray[Any]) -> None:
        """Raise for the first index out of range."""
        if self.bounds != "fill":
            g = self._geometry
            sizes = [self.data_shape[a] for a in g.indexed]
            checks.index_range(
                self.op, indices, g.indexed, sizes, components=g.component_axis >= 0, bounds=self.bounds
            )

    def explain(self) -> str:
        """Return in words what a call does."""
        g = self._geometry
        lines = [
            f"{self.op}: {self.data_dtype} {self.data_shape} by {self.indices_dtype} {self.indices_shape}"
            f" -> {self.data_dtype} {self.output_shape}"
        ]
        for d, (a, i) in enumerate(g.walks):
            walked = [f"axis {n} of {name}" for n, name in ((a, "data"), (i, "indices")) if n >= 0]
            lines.append(f"  output axis {d} (size {self.output_shape[d]}) walks {' and '.join(walked)}")
        for c, a in enumerate(g.indexed):
            source = f"component {c} of each index tuple" if g.component_axis >= 0 else "each index"
            lines.append(f"  {source} chooses on axis {a} of data (size {self.data_shape[a]})")
        fill = f" {self.fill_value!r}" if self.bounds == "fill" else ""
        negative = "" if self.bounds == "wrap" else "a negative index counts from the end; "
        lines.append(f"  {negative}{_OUTSIDE[self.bounds]}{fill}")
        count = math.prod(self.output_shape)
        lines.append(f"  moves {count} items of {self.data_dtype.itemsize} bytes")
        return "\n".join(lines)

    def _keywords(self) -> dict[str, Any]:
        """Return the options as given to the constructor."""
        named = {name: getattr(self, name) for name in (*self._options, "bounds")}
        return {**named, "fill_value": self.fill_value} if self.bounds == "fill" else named

    def __repr__(self) -> str:
        arguments = [
            repr(self.data_shape),
            repr(arrays.dtype_name(self.data_dtype)),
            repr(self.indices_shape),
            repr(arrays.dtype_name(self.indices_dtype)),
            *(f"{name}={value!r}" for name, value in self._keywords().items()),
        ]
        return f"{type(self).__name__}({', '.join(arguments)})"

    def __reduce__(self) -> tuple[Any, ...]:
        make = functools.partial(type(self), **self._keywords())
        return make, (self.data_shape, self.data_dtype, self.indices_shape, self.indices_dtype)


@dataclass(frozen=True, repr=False)
class GatherPlan(_IndexPlan):
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

    def _plan(self) -> tuple[Shape, _Geometry]:
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
        return data[:a] + indices + data[a + 1 :], _Geometry(tuple(walks), (a,), -1)


@dataclass(frozen=True, repr=False)
class GatherElementsPlan(_IndexPlan):
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

    def _plan(self) -> tuple[Shape, _Geometry]:
        op, data, indices = self.op, self.data_shape, self.indices_shape
        checks.has_axes(op, "data", data)
        if len(indices) != len(data):
            raise ValueError(must(op, "indices", f"have {len(data)} axes, as `data` has", len(indices)))
        a = checks.axis(op, self.axis, len(data))
        self._set("axis", a)
        walks, shape = [], []
        for d, (n, m) in enumerate(zip(data, indices, strict=True)):
            if d == a:
                walks.append((-1, d))
                shape.append(m)
            elif n == m or not self.broadcast:
                if m > n:
                    raise ValueError(
                        must(op, "indices", f"have a size of at most {n} on axis {d}, as `data`", m)
                    )
                walks.append((d, d))
                shape.append(m)
            elif 1 in (n, m):
                walks.append((-1, d) if n == 1 else (d, -1))
                shape.append(m if n == 1 else n)
            else:
                raise ValueError(must(op, "indices", f"have size {n} or 1 on axis {d}, as `data`", m))
        return tuple(shape), _Geometry(tuple(walks), (a,), -1)


@dataclass(frozen=True, repr=False)
class GatherNDPlan(_IndexPlan):
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

    def _plan(self) -> tuple[Shape, _Geometry]:
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
        for d in range(b):
            if data[d] != indices[d]:
                raise ValueError(
                    must(op, "indices", f"have size {data[d]} on batch axis {d}, as `data`", indices[d])
                )
        t = indices[-1]
        if t > r - b:
            raise ValueError(
                must(op, "indices", f"have a last axis of at most {r - b}, the axes to index", t)
            )
        walks = (
            [(d, d) for d in range(b)]
            + [(-1, i) for i in range(b, q - 1)]
            + [(d, -1) for d in range(b + t, r)]
        )
        return indices[:-1] + data[b + t :], _Geometry(tuple(walks), tuple(range(b, b + t)), q - 1)


# ---- what the functions' calls need


@functools.lru_cache(1024)
def kept(plan: type[_IndexPlan], *key: Any) -> _IndexPlan:
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


def as_integer(op: str, name: str, value: Any) -> int:
    """Return an option as an int, the quick way for what is one."""
    return value if type(value) is int else checks.integer(op, name, value)
