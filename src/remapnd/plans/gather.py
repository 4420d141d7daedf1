"""Plans of the gathers: shapes, dtypes and options to the axes that `_core.Gather` walks (ARCHITECTURE.md).

Uses `plans.gathering`, `checks` and `_core`; used by the functions of `remapnd.gather` and by the front ends.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import DTypeLike

from .. import _core, checks
from ..errors import must
from .constant import ConstantIndices
from .gathering import AnyGather, BoundsWord
from .indexed import Geometry, elements, elements_axis, tuples

# Bytes of a result from which consecutive constant indices are gathered in pieces, and of the smallest piece:
# making the view of data that this takes costs some microseconds.
_PIECES_FROM, _PIECE = 1 << 16, 16


class GatherPlan(AnyGather):
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

    def __init__(
        self,
        data_shape: Sequence[int],
        data_dtype: DTypeLike,
        indices_shape: Sequence[int] | None = None,
        indices_dtype: DTypeLike | None = None,
        *,
        axis: int = 0,
        indices: Any = None,
        bounds: BoundsWord = "raise",
        fill_value: Any = 0,
    ) -> None:
        constant = self._take_all(
            data_shape,
            data_dtype,
            indices_shape,
            indices_dtype,
            indices=indices,
            bounds=bounds,
            fill_value=fill_value,
        )
        data = self.data_shape
        checks.has_axes(self.op, "data", data)
        self.axis = a = checks.axis(self.op, axis, len(data))
        k = len(self.indices_shape)
        walks = (
            [(d, -1) for d in range(a)]
            + [(-1, i) for i in range(k)]
            + [(d, -1) for d in range(a + 1, len(data))]
        )
        shape = data[:a] + self.indices_shape + data[a + 1 :]
        self._make(constant, shape, Geometry(tuple(walks), (a,), -1))

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


class GatherElementsPlan(AnyGather):
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

    def __init__(
        self,
        data_shape: Sequence[int],
        data_dtype: DTypeLike,
        indices_shape: Sequence[int] | None = None,
        indices_dtype: DTypeLike | None = None,
        *,
        axis: int = 0,
        broadcast: bool = False,
        indices: Any = None,
        bounds: BoundsWord = "raise",
        fill_value: Any = 0,
    ) -> None:
        self.broadcast = broadcast  # decides the name in messages
        constant = self._take_all(
            data_shape,
            data_dtype,
            indices_shape,
            indices_dtype,
            indices=indices,
            bounds=bounds,
            fill_value=fill_value,
        )
        op, sizes = self.op, (self.data_shape, self.indices_shape)
        self.axis = elements_axis(op, *sizes, axis)
        self._make(constant, *elements(op, *sizes, self.axis, broadcast))

    @property
    def op(self) -> str:
        """The operator's name in messages."""
        return "take_along_axis" if self.broadcast else "gather_elements"


class GatherNDPlan(AnyGather):
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

    def __init__(
        self,
        data_shape: Sequence[int],
        data_dtype: DTypeLike,
        indices_shape: Sequence[int] | None = None,
        indices_dtype: DTypeLike | None = None,
        *,
        batch_dims: int = 0,
        indices: Any = None,
        bounds: BoundsWord = "raise",
        fill_value: Any = 0,
    ) -> None:
        constant = self._take_all(
            data_shape,
            data_dtype,
            indices_shape,
            indices_dtype,
            indices=indices,
            bounds=bounds,
            fill_value=fill_value,
        )
        op, data, given = self.op, self.data_shape, self.indices_shape
        checks.has_axes(op, "data", data)
        checks.has_axes(op, "indices", given)
        r, q = len(data), len(given)
        self.batch_dims = b = checks.integer(op, "batch_dims", batch_dims)
        if not 0 <= b < min(q, r):
            raise ValueError(
                must(op, "batch_dims", f"lie in [0, {min(q, r)}), below the axes of both arrays", b)
            )
        self._make(constant, *tuples(op, data, given, b))


# ---- what the functions' calls need


@functools.lru_cache(1024)
def kept(
    plan: type[GatherPlan | GatherElementsPlan | GatherNDPlan], *key: Any
) -> GatherPlan | GatherElementsPlan | GatherNDPlan:
    """Return a plan, the same one for the same key.

    The key: data's shape and dtype, indices' shape and dtype, bounds, what `call_fill` returns, and the
    plan's own options in their order. Ints must be ints (1 and True and 1.0 are one key).
    """
    data_shape, data_dtype, indices_shape, indices_dtype, bounds, fill, *options = key
    named = dict(zip(plan._options, options, strict=True))
    if bounds == "fill" and data_dtype.itemsize:
        named["fill_value"] = np.frombuffer(fill, data_dtype).reshape(())
    return plan(data_shape, data_dtype, indices_shape, indices_dtype, bounds=bounds, **named)


def keep_short(recent: _core.RecentGathers, plan: AnyGather, option: int) -> None:
    """Let calls like the one that `plan` was just made or found for take the short way from now on."""
    if plan.bounds == "raise" and plan._prepared is not None and abs(option) < 1 << 32:
        recent.keep(plan._prepared, option)
