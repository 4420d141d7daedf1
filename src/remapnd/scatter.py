"""Scatter: write or reduce updates into the elements of an array at positions held in another array.

Uses `arrays` and `plans.scatter`: each function is a kept plan and one call of it.

All functions share these rules:

* `data` is not changed unless it is also `out`: the result is a new array, or `out`.
* Several updates of one place are taken in the row-major order of `updates`: with ``reduction="none"`` the
  last one wins, with the others the value of a place is ``((data + u0) + u1) + ...``. The bits are the same
  for any number of threads, on every processor.
* Arithmetic is that of the dtype: integers wrap; float16 and bfloat16 compute each step in float32 and round
  it; complex numbers multiply as ``(ac - bd) + (ad + bc)i``, each operation rounded. bool adds as "or",
  multiplies as "and". "min" and "max" are minimum and maximum of IEEE 754-2019: NaN wins, -0.0 is less than
  0.0.
  A NaN that a reduction makes is the positive quiet NaN; places without updates keep their bits.
* Every integer dtype is an index; no widened copy is made (indices in foreign byte order are copied once).
* An index in [-n, 0) counts from the end of an axis of size n; `bounds` says what others out of range do.
* Every index is checked, also where nothing is written. No memory outside of the result is ever written, even
  if another thread changes `indices` meanwhile.
"""

from __future__ import annotations

from typing import Any

from . import _core, arrays
from .plans.indexed import as_integer
from .plans.scatter import (
    ReductionWord,
    ScatterBoundsWord,
    ScatterElementsPlan,
    ScatterNDPlan,
    call_words,
    keep_short,
    kept,
)

# The latest calls of each function: the same again takes the short way, past the checks that passed before.
_scatter_elements_again = _core.RecentScatters()
_put_along_axis_again = _core.RecentScatters()
_scatter_nd_again = _core.RecentScatters()


def scatter_elements(
    data: Any,
    indices: Any,
    updates: Any,
    /,
    *,
    axis: int = 0,
    reduction: ReductionWord = "none",
    bounds: ScatterBoundsWord = "raise",
    out: Any = None,
) -> Any:
    """Write one element for each of `indices`, which replaces its position on `axis`.

    ``out = data.copy(); out[*o, indices[*o, k, *i], *i] = updates[*o, k, *i]``

    Parameters
    ----------
    data : array_like, shape (*outer, n, *inner), any dtype of fixed size
        NumPy, or anything with ``__dlpack__`` or ``__array__`` in CPU memory; any strides.
    indices : array_like, shape (*outer, m, *inner), any integer dtype
        As many axes as `data`; off `axis` its sizes may be smaller than those of `data`, whose rest then
        keeps its values. Values in [-n, n) under ``bounds="raise"``.
    updates : array_like, shape of `indices`, dtype of `data`
        Python numbers and lists of them take the dtype of `data`.
    axis : int, default 0
        The position of n in the shape of `data`.
    reduction : {"none", "add", "mul", "min", "max"}, default "none"
        How an update is joined with the value in its place; all but "none" need a dtype of numbers: bool,
        integers, float16, bfloat16, float32, float64, and but for "min" and "max" complex64, complex128.
    bounds : {"raise", "clip", "wrap", "drop"}, default "raise"
        For an index out of range: "raise" raises; "clip" takes the nearest valid index, after negative ones
        were counted from the end; "wrap" takes every index modulo n; "drop" leaves the update out.
    out : array, optional
        Is written and returned: shape and dtype of `data` with its byte order. It may be `data` itself, then
        nothing is copied; no other overlap with an input, or of its elements.

    Returns
    -------
    array, shape, dtype and kind of `data`
        Always a new array, or `out`.

    Raises
    ------
    TypeError
        `indices` is not of integers; `updates` or `out` has another dtype than `data`; `data` holds Python
        objects or cannot be reduced, or an array is not in CPU memory.
    ValueError
        `data` is 0-d; a shape, `axis`, `reduction`, `bounds` or `out` does not fit.
    IndexError
        An index is out of range under "raise", or n = 0 under "clip" or "wrap". Where `out` is `data`, all
        indices are looked at first, and it is left as it was; another `out` may be partly written.

    Notes
    -----
    Source: ONNX ScatterElements-18; torch.scatter_reduce; DML_SCATTER_OPERATOR_DESC (no reduction).

    Examples
    --------
    >>> import numpy as np
    >>> scatter_elements(np.zeros((3, 3)), [[1, 0, 2], [0, 2, 1]], [[1, 1.1, 1.2], [2, 2.1, 2.2]])
    array([[2. , 1.1, 0. ],
           [1. , 0. , 2.2],
           [0. , 2.1, 1.2]])
    >>> scatter_elements(np.zeros(3, int), [0, 2, 0], [5, 6, 7], reduction="add")
    array([12,  0,  6])
    """
    if bounds == "raise":
        result = _scatter_elements_again(data, indices, updates, axis, reduction, out)
        if result is not None:
            return result
    op = "scatter_elements"
    x, i = arrays.as_array(data, op, "data"), arrays.as_indices(indices, op)
    words = call_words(op, bounds, reduction)
    a = as_integer(op, "axis", axis)
    plan = kept(ScatterElementsPlan, x.shape, x.dtype, i.shape, i.dtype, *words, a, False)
    keep_short(_scatter_elements_again, plan, a, reduction)
    return plan._finish(data, x, i, plan._as_updates(updates), out)


def put_along_axis(
    data: Any,
    indices: Any,
    values: Any,
    /,
    *,
    axis: int = -1,
    reduction: ReductionWord = "none",
    bounds: ScatterBoundsWord = "raise",
    out: Any = None,
) -> Any:
    """Write one element for each of `indices` along `axis`, with broadcasting off the axis.

    The result is returned; ``out=data`` does what NumPy's function of this name does, which writes in place.

    Parameters
    ----------
    data : array_like, shape (*outer, n, *inner), any dtype of fixed size
    indices : array_like, shape (*outer, m, *inner), any integer dtype
        As many axes as `data`; off `axis` a size of 1 in either array is repeated, without a copy.
    values : array_like, broadcastable to the shape of `indices` broadcast, dtype of `data`
        Python numbers and lists of them take the dtype of `data`.
    axis : int, default -1
        The position of n in the shape of `data`.
    reduction, bounds, out
        As in `scatter_elements`.

    Returns
    -------
    array, shape, dtype and kind of `data`
        Always a new array, or `out`.

    Raises
    ------
    TypeError, IndexError
        As `scatter_elements` does.
    ValueError
        As `scatter_elements` does, and where `values` cannot be broadcast.

    Notes
    -----
    Source: np.put_along_axis. Where a size off the axis is 1 in `data` alone, all updates go to its one
    position.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.array([[10, 30, 20], [60, 40, 50]])
    >>> put_along_axis(a, np.argmax(a, axis=1, keepdims=True), 99)
    array([[10, 99, 20],
           [99, 40, 50]])
    """
    if bounds == "raise":
        result = _put_along_axis_again(data, indices, values, axis, reduction, out)
        if result is not None:
            return result
    op = "put_along_axis"
    x, i = arrays.as_array(data, op, "data"), arrays.as_indices(indices, op)
    words = call_words(op, bounds, reduction)
    a = as_integer(op, "axis", axis)
    plan = kept(ScatterElementsPlan, x.shape, x.dtype, i.shape, i.dtype, *words, a, True)
    keep_short(_put_along_axis_again, plan, a, reduction)
    return plan._finish(data, x, i, plan._as_updates(values), out)


def scatter_nd(
    data: Any,
    indices: Any,
    updates: Any,
    /,
    *,
    reduction: ReductionWord = "none",
    bounds: ScatterBoundsWord = "raise",
    out: Any = None,
) -> Any:
    """Write items or slices of `data` at index tuples, held along the last axis of `indices`.

    ``out = data.copy(); out[*indices[*k, :], *i] = updates[*k, *i]``

    Parameters
    ----------
    data : array_like, shape (*indexed, *inner), any dtype of fixed size
    indices : array_like, shape (*k, t), any integer dtype
        t = len(indexed), each value an index into its axis. With t = 0 every tuple writes all of `data`.
    updates : array_like, shape (*k, *inner), dtype of `data`
        Python numbers and lists of them take the dtype of `data`.
    reduction, bounds, out
        As in `scatter_elements`; under "drop" one component out of range is enough.

    Returns
    -------
    array, shape, dtype and kind of `data`
        Always a new array, or `out`.

    Raises
    ------
    TypeError, IndexError
        As `scatter_elements` does.
    ValueError
        As `scatter_elements` does, and where t does not fit.

    Notes
    -----
    Source: ONNX ScatterND-18 (t = 0 as in ONNX Runtime); DML_SCATTER_ND_OPERATOR_DESC (no reduction).

    Examples
    --------
    >>> import numpy as np
    >>> scatter_nd(np.array([[0, 1], [2, 3]]), [[1], [0]], [[10, 11], [20, 21]])
    array([[20, 21],
           [10, 11]])
    """
    if bounds == "raise":
        result = _scatter_nd_again(data, indices, updates, 0, reduction, out)
        if result is not None:
            return result
    op = "scatter_nd"
    x, i = arrays.as_array(data, op, "data"), arrays.as_indices(indices, op)
    words = call_words(op, bounds, reduction)
    plan = kept(ScatterNDPlan, x.shape, x.dtype, i.shape, i.dtype, *words)
    keep_short(_scatter_nd_again, plan, 0, reduction)
    return plan._finish(data, x, i, plan._as_updates(updates), out)
