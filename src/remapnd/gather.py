"""Gather: read slices, elements or tuples' items of an array at positions held in another array.

Uses `arrays`, `plans.gather` and `plans.gathering`: each function is a kept plan and one call of it.

All functions share these rules:

* Every integer dtype is an index; no widened copy is made (indices in foreign byte order are copied once).
* An index in [-n, 0) counts from the end of an axis of size n; `bounds` says what others out of range do.
* Every index is checked, also where the result is empty. No memory outside of `data` is ever read, even if
  another thread changes `indices` meanwhile.
* Bits are moved, never converted: NaN payloads and -0.0 arrive as they were.
"""

from __future__ import annotations

from typing import Any

from . import _core, arrays
from .plans.gather import (
    GatherElementsPlan,
    GatherNDPlan,
    GatherPlan,
    keep_short,
    kept,
)
from .plans.gathering import BoundsWord, call_fill
from .plans.indexed import as_integer

_NO_FILL = 0  # the default of `fill_value`, told by identity: everything else is looked at

# The latest calls of each function: the same again takes the short way, past the checks that passed before.
_gather_again = _core.RecentGathers()
_gather_elements_again = _core.RecentGathers()
_take_along_axis_again = _core.RecentGathers()
_gather_nd_again = _core.RecentGathers()


def gather(
    data: Any,
    indices: Any,
    /,
    *,
    axis: int = 0,
    bounds: BoundsWord = "raise",
    fill_value: Any = _NO_FILL,
    out: Any = None,
) -> Any:
    """Pick slices of `data` along `axis`, one for each of `indices`.

    ``out[*o, *k, *i] = data[*o, indices[*k], *i]``

    Parameters
    ----------
    data : array_like, shape (*outer, n, *inner), any dtype of fixed size
        NumPy, or anything with ``__dlpack__`` or ``__array__`` in CPU memory; any strides.
    indices : array_like, shape (*k,), any integer dtype
        Values in [-n, n) under ``bounds="raise"``.
    axis : int, default 0
        The position of n in the shape of `data`.
    bounds : {"raise", "clip", "wrap", "fill"}, default "raise"
        For an index out of range: "raise" raises; "clip" takes the nearest valid index, after negative ones
        were counted from the end (``np.take(mode="clip")`` does not count from the end); "wrap" takes every
        index modulo n; "fill" gives `fill_value`.
    fill_value : scalar, default 0
        For ``bounds="fill"``, and refused with the others unless it is 0; must be castable to the dtype of
        `data` without loss (floats may be rounded, not overflow). The int 0 means zero bytes in every dtype.
    out : array, optional
        Is written and returned: shape of the result, dtype of `data` with its byte order, no overlap with
        `data`, `indices` or itself.

    Returns
    -------
    array, shape (*outer, *k, *inner), dtype and kind of `data`
        Always a new array (0-d, not a scalar, for a single item), or `out`.

    Raises
    ------
    TypeError
        `indices` is not of integers; `data` holds Python objects or is not in CPU memory; `out` has another
        dtype.
    ValueError
        `data` is 0-d; `axis`, `bounds`, `fill_value` or `out` does not fit; the result has too many axes or
        bytes.
    IndexError
        An index is out of range under "raise", or n = 0 under "clip" or "wrap"; `out` may then be partly
        written.

    Notes
    -----
    Source: ONNX Gather-13; np.take; DML_GATHER_OPERATOR_DESC.

    Examples
    --------
    >>> import numpy as np
    >>> gather(np.array([10, 20, 30]), [[0, -1], [1, 1]])
    array([[10, 30],
           [20, 20]])
    >>> gather(np.array([10, 20, 30]), [0, 3], bounds="fill", fill_value=-1)
    array([10, -1])
    """
    if bounds == "raise" and fill_value is _NO_FILL:
        result = _gather_again(data, indices, axis, out)
        if result is not None:
            return result
    x, i = arrays.as_array(data, "gather", "data"), arrays.as_indices(indices, "gather")
    fill = call_fill("gather", bounds, fill_value, x.dtype)
    a = as_integer("gather", "axis", axis)
    plan = kept(GatherPlan, x.shape, x.dtype, i.shape, i.dtype, bounds, fill, a)
    keep_short(_gather_again, plan, a)
    return plan._finish(data, x, i, out)


def gather_elements(
    data: Any,
    indices: Any,
    /,
    *,
    axis: int = 0,
    bounds: BoundsWord = "raise",
    fill_value: Any = _NO_FILL,
    out: Any = None,
) -> Any:
    """Pick one element of `data` for each of `indices`, which replaces its position on `axis`.

    ``out[*o, k, *i] = data[*o, indices[*o, k, *i], *i]``

    Parameters
    ----------
    data : array_like, shape (*outer, n, *inner), any dtype of fixed size
    indices : array_like, shape (*outer, m, *inner), any integer dtype
        As many axes as `data`; off `axis` its sizes may be smaller than those of `data`, whose rest is then
        not read.
    axis : int, default 0
        The position of n in the shape of `data`.
    bounds, fill_value, out
        As in `gather`.

    Returns
    -------
    array, shape of `indices`, dtype and kind of `data`
        Always a new array, or `out`.

    Raises
    ------
    TypeError, IndexError
        As `gather` does.
    ValueError
        As `gather` does, and where the shapes do not fit.

    Notes
    -----
    Source: ONNX GatherElements-13; torch.gather; DML_GATHER_ELEMENTS_OPERATOR_DESC (equal sizes only).

    Examples
    --------
    >>> import numpy as np
    >>> gather_elements(np.arange(9).reshape(3, 3), [[0, 2, 1], [-1, 0, 0]])
    array([[0, 7, 5],
           [6, 1, 2]])
    """
    if bounds == "raise" and fill_value is _NO_FILL:
        result = _gather_elements_again(data, indices, axis, out)
        if result is not None:
            return result
    x, i = arrays.as_array(data, "gather_elements", "data"), arrays.as_indices(indices, "gather_elements")
    fill = call_fill("gather_elements", bounds, fill_value, x.dtype)
    a = as_integer("gather_elements", "axis", axis)
    plan = kept(GatherElementsPlan, x.shape, x.dtype, i.shape, i.dtype, bounds, fill, a, False)
    keep_short(_gather_elements_again, plan, a)
    return plan._finish(data, x, i, out)


def take_along_axis(
    data: Any,
    indices: Any,
    /,
    *,
    axis: int | None = -1,
    bounds: BoundsWord = "raise",
    fill_value: Any = _NO_FILL,
    out: Any = None,
) -> Any:
    """Pick one element of `data` for each of `indices` along `axis`, with broadcasting off the axis.

    Parameters
    ----------
    data : array_like, shape (*outer, n, *inner), any dtype of fixed size
    indices : array_like, shape (*outer, m, *inner), any integer dtype
        As many axes as `data`; off `axis` a size of 1 in either array is repeated, without a copy.
    axis : int or None, default -1
        The position of n in the shape of `data`. None: `data` is flattened, `indices` has one axis.
    bounds, fill_value, out
        As in `gather`.

    Returns
    -------
    array, the shape of `indices` broadcast, dtype and kind of `data`
        Always a new array, or `out`.

    Raises
    ------
    TypeError, IndexError
        As `gather` does.
    ValueError
        As `gather` does, and where the shapes do not fit.

    Notes
    -----
    Source: Python array API standard, take_along_axis (2024.12); np.take_along_axis.

    Examples
    --------
    >>> import numpy as np
    >>> take_along_axis(np.array([[3, 1, 2], [9, 8, 7]]), [[0, -1]])
    array([[3, 2],
           [9, 7]])
    """
    if bounds == "raise" and fill_value is _NO_FILL:
        result = _take_along_axis_again(data, indices, axis, out)
        if result is not None:
            return result
    x, i = arrays.as_array(data, "take_along_axis", "data"), arrays.as_indices(indices, "take_along_axis")
    fill = call_fill("take_along_axis", bounds, fill_value, x.dtype)
    if axis is None:
        x, a = x.reshape(-1), 0
    else:
        a = as_integer("take_along_axis", "axis", axis)
    plan = kept(GatherElementsPlan, x.shape, x.dtype, i.shape, i.dtype, bounds, fill, a, True)
    if axis is not None:
        keep_short(_take_along_axis_again, plan, a)
    return plan._finish(data, x, i, out)


def gather_nd(
    data: Any,
    indices: Any,
    /,
    *,
    batch_dims: int = 0,
    bounds: BoundsWord = "raise",
    fill_value: Any = _NO_FILL,
    out: Any = None,
) -> Any:
    """Pick items or slices of `data` at index tuples, held along the last axis of `indices`.

    ``out[*b, *k, *i] = data[*b, *indices[*b, *k, :], *i]``

    Parameters
    ----------
    data : array_like, shape (*batch, *indexed, *inner), any dtype of fixed size
    indices : array_like, shape (*batch, *k, t), any integer dtype
        t = len(indexed), each value an index into its axis. With t = 0 every tuple picks all of ``data[*b]``.
    batch_dims : int, default 0
        The number of axes in batch, less than the axes of either array; their sizes are equal in both.
    bounds, fill_value, out
        As in `gather`; under "fill" one component out of range is enough.

    Returns
    -------
    array, shape (*batch, *k, *inner), dtype and kind of `data`
        Always a new array, or `out`.

    Raises
    ------
    TypeError, IndexError
        As `gather` does.
    ValueError
        As `gather` does, and where `batch_dims`, a batch axis or t does not fit.

    Notes
    -----
    Source: ONNX GatherND-13 (t = 0 as in TensorFlow and ONNX Runtime); DML_GATHER_ND1_OPERATOR_DESC.

    Examples
    --------
    >>> import numpy as np
    >>> gather_nd(np.arange(8).reshape(2, 2, 2), [[0, 1], [1, 0]])
    array([[2, 3],
           [4, 5]])
    >>> gather_nd(np.arange(8).reshape(2, 2, 2), [[1], [0]], batch_dims=1)
    array([[2, 3],
           [4, 5]])
    """
    if bounds == "raise" and fill_value is _NO_FILL:
        result = _gather_nd_again(data, indices, batch_dims, out)
        if result is not None:
            return result
    x, i = arrays.as_array(data, "gather_nd", "data"), arrays.as_indices(indices, "gather_nd")
    fill = call_fill("gather_nd", bounds, fill_value, x.dtype)
    b = as_integer("gather_nd", "batch_dims", batch_dims)
    plan = kept(GatherNDPlan, x.shape, x.dtype, i.shape, i.dtype, bounds, fill, b)
    keep_short(_gather_nd_again, plan, b)
    return plan._finish(data, x, i, out)
