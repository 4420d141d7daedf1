"""What the plans of gathers and scatters share: the axes that indices choose on, and fitting arrays.

Uses `arrays`, `checks` and `_core`; used by `plans.gather`, `plans.scatter` and `plans.gradients`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import DTypeLike

from .. import arrays, checks
from ..errors import must
from .plan import Plan

Shape = tuple[int, ...]

# Annotations of a class would be listed in the help of all public plans.
_NO_OPTIONS: tuple[str, ...] = ()
_NO_WORDS: dict[str, str] = {}


@dataclass(frozen=True)
class Geometry:
    """What the axes do (ARCHITECTURE.md); "items" are the output of a gather, the updates of a scatter.

    `walks` has for each axis of items the axis of data and of indices that it walks (-1: none).
    """

    walks: tuple[tuple[int, int], ...]
    indexed: tuple[int, ...]
    component_axis: int

    def arguments(self) -> tuple[list[int], list[int], list[int], int]:
        """Return the axes as the core takes them."""
        return (
            [w[0] for w in self.walks],
            [w[1] for w in self.walks],
            list(self.indexed),
            self.component_axis,
        )


def elements(op: str, data: Shape, indices: Shape, axis: int, broadcast: bool) -> tuple[Shape, Geometry]:
    """Return the shape of items and the axes where each index replaces one coordinate."""
    walks, shape = [], []
    for d, (n, m) in enumerate(zip(data, indices, strict=True)):
        if d == axis:
            walks.append((-1, d))
            shape.append(m)
        elif n == m or not broadcast:
            if m > n:
                raise ValueError(must(op, "indices", f"have a size of at most {n} on axis {d}, as `data`", m))
            walks.append((d, d))
            shape.append(m)
        elif 1 in (n, m):
            walks.append((-1, d) if n == 1 else (d, -1))
            shape.append(m if n == 1 else n)
        else:
            raise ValueError(must(op, "indices", f"have size {n} or 1 on axis {d}, as `data`", m))
    return tuple(shape), Geometry(tuple(walks), (axis,), -1)


def elements_axis(op: str, data: Shape, indices: Shape, axis: object) -> int:
    """Return the axis that `elements` takes, after the checks that come before it."""
    checks.has_axes(op, "data", data)
    if len(indices) != len(data):
        raise ValueError(must(op, "indices", f"have {len(data)} axes, as `data` has", len(indices)))
    return checks.axis(op, axis, len(data))


def tuples(op: str, data: Shape, indices: Shape, batch_dims: int) -> tuple[Shape, Geometry]:
    """Return the shape of items and the axes where the last axis of indices holds tuples."""
    r, q, b = len(data), len(indices), batch_dims
    for d in range(b):
        if data[d] != indices[d]:
            raise ValueError(
                must(op, "indices", f"have size {data[d]} on batch axis {d}, as `data`", indices[d])
            )
    t = indices[-1]
    if t > r - b:
        raise ValueError(must(op, "indices", f"have a last axis of at most {r - b}, the axes to index", t))
    walks = (
        [(d, d) for d in range(b)] + [(-1, i) for i in range(b, q - 1)] + [(d, -1) for d in range(b + t, r)]
    )
    return indices[:-1] + data[b + t :], Geometry(tuple(walks), tuple(range(b, b + t)), q - 1)


class IndexPlan(Plan):
    """A prepared operator with indices; subclasses say `_op` (or `op`), `_options`, `_words` and more."""

    _op = ""
    _options = _NO_OPTIONS  # what the constructor takes by keyword besides `bounds`
    _words = _NO_WORDS  # the values of `bounds`, and what they do

    def _take(
        self,
        data_shape: Sequence[int],
        data_dtype: DTypeLike,
        indices_shape: Sequence[int],
        indices_dtype: DTypeLike,
        bounds: str,
    ) -> None:
        """Check and keep what all plans are made from."""
        op = self.op
        self.data_shape = checks.shape(op, "data", data_shape)
        self.indices_shape = checks.shape(op, "indices", indices_shape)
        self.data_dtype = checks.dtype(op, "data_dtype", data_dtype)
        self.indices_dtype = checks.dtype(op, "indices_dtype", indices_dtype)
        checks.movable_dtype(op, "data", self.data_dtype)
        checks.index_dtype(op, self.indices_dtype)
        checks.bounds(op, bounds, tuple(self._words))
        self.bounds = bounds

    def _walk(self, items: Shape, output: Shape, geometry: Geometry) -> None:
        """Keep the shape of the output and the axes; `items` is the shape of what they walk."""
        checks.result_shape(self.op, "indices", items, self.data_dtype)
        self.output_shape = output
        self._geometry = geometry

    @property
    def op(self) -> str:
        """The operator's name in messages."""
        return self._op

    def _check_fit(self, name: str, a: npt.NDArray[Any], shape: Shape, dtype: np.dtype[Any]) -> None:
        """Refuse an array that the plan was not made for."""
        if a.dtype != dtype:
            raise TypeError(must(self.op, name, f"have the plan's dtype {dtype}", a.dtype))
        if a.shape != shape:
            raise ValueError(must(self.op, name, f"have the plan's shape {shape}", a.shape))

    def _fitting_indices(self, indices: object) -> npt.NDArray[Any]:
        """Return `indices` as an array after checking that the plan was made for such."""
        i = arrays.as_indices(indices, self.op)
        self._check_fit("indices", i, self.indices_shape, self.indices_dtype.newbyteorder("="))
        return i

    def _check_indices(self, indices: npt.NDArray[Any]) -> None:
        """Raise for the first index out of range."""
        if self.bounds not in ("fill", "drop"):
            g = self._geometry
            sizes = [self.data_shape[a] for a in g.indexed]
            checks.index_range(
                self.op, indices, g.indexed, sizes, components=g.component_axis >= 0, bounds=self.bounds
            )

    def _indices_changed(self) -> IndexError:
        """Return the error for indices that were in range when they were looked at again."""
        return IndexError(
            must(self.op, "indices", "not change during the call", "indices that another thread writes")
        )

    def _explain_axes(self, items: str, shape: Shape) -> list[str]:
        """Return in words what the axes do."""
        g = self._geometry
        lines = []
        for d, (a, i) in enumerate(g.walks):
            walked = [f"axis {n} of {name}" for n, name in ((a, "data"), (i, "indices")) if n >= 0]
            lines.append(f"  {items} axis {d} (size {shape[d]}) walks {' and '.join(walked)}")
        for c, a in enumerate(g.indexed):
            source = f"component {c} of each index tuple" if g.component_axis >= 0 else "each index"
            lines.append(f"  {source} chooses on axis {a} of data (size {self.data_shape[a]})")
        return lines

    def _explain_bounds(self) -> str:
        """Return in words what becomes of an index out of range."""
        negative = "" if self.bounds == "wrap" else "a negative index counts from the end; "
        return f"  {negative}{self._words[self.bounds]}"

    def _keywords(self) -> dict[str, Any]:
        """Return the options as given to the constructor."""
        return {name: getattr(self, name) for name in (*self._options, "bounds")}

    @property
    def _key(self) -> tuple[Any, ...]:
        """All that the plan is made of."""
        options = tuple(getattr(self, name) for name in (*self._options, "bounds"))
        return self.data_shape, self.data_dtype, self.indices_shape, self.indices_dtype, options

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


def as_integer(op: str, name: str, value: Any) -> int:
    """Return an option as an int, the quick way for what is one."""
    return value if type(value) is int else checks.integer(op, name, value)
