"""Runs of updates written into a cache, each batch at a place of its own.

Uses `arrays`, `checks` and `scatter`; used by front ends.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from . import arrays, checks
from .errors import must
from .scatter import put_along_axis


def tensor_scatter(
    data: Any,
    updates: Any,
    write_indices: Any = None,
    /,
    *,
    axis: int = -2,
    mode: Literal["linear", "circular"] = "linear",
    out: Any = None,
) -> Any:
    """Write a run of updates along `axis` for each batch, beginning at its write index.

    ``out = data.copy(); out[b, ..., write_indices[b] + s, ...] = updates[b, ..., s, ...]``: how a cache of
    keys or values takes those of new tokens.

    Parameters
    ----------
    data : array_like, shape (b, *outer, n, *inner), any dtype of fixed size
    updates : array_like, shape (b, *outer, s, *inner) with s <= n, dtype of `data`
    write_indices : array_like, shape (b,), any integer dtype, optional
        At least 0, and at most n - s under "linear"; by default 0 for all.
    axis : int, default -2
        The position of n in the shape of `data`; not the first.
    mode : {"linear", "circular"}, default "linear"
        Under "circular" every place counts modulo n.
    out : array, optional
        Is written and returned. It may be `data` itself, then nothing is copied; no other overlap with an
        input.

    Returns
    -------
    array, shape, dtype and kind of `data`
        Always a new array, or `out`.

    Raises
    ------
    TypeError
        `write_indices` is not of integers; `updates` or `out` has another dtype than `data`.
    ValueError
        A shape, `axis`, `mode` or `out` does not fit.
    IndexError
        A write index is out of range; nothing is written then.

    Notes
    -----
    Source: ONNX TensorScatter-24.

    Examples
    --------
    >>> import numpy as np
    >>> tensor_scatter(np.zeros((2, 4, 1)), np.ones((2, 2, 1)), [1, 3], mode="circular")[..., 0]
    array([[0., 1., 1., 0.],
           [1., 0., 0., 1.]])
    """
    op = "tensor_scatter"
    x, u = arrays.as_array(data, op, "data"), arrays.as_array(updates, op, "updates")
    checks.choice(op, "mode", mode, ("linear", "circular"))
    if x.ndim < 2:
        raise ValueError(must(op, "data", "have at least 2 axes (batch and `axis`)", x.ndim))
    a = checks.axis(op, axis, x.ndim)
    if a == 0:
        raise ValueError(must(op, "axis", "not be 0, the axis of batches", axis))
    if u.dtype != x.dtype:
        raise TypeError(must(op, "updates", f"have the dtype {x.dtype} of `data`", u.dtype))
    n = x.shape[a]
    if u.ndim != x.ndim or (*u.shape[:a], n, *u.shape[a + 1 :]) != x.shape:
        wanted = "(" + ", ".join("s" if d == a else str(m) for d, m in enumerate(x.shape)) + ")"
        raise ValueError(must(op, "updates", f"have shape {wanted}, as `data` but on axis {a}", u.shape))
    s = u.shape[a]
    if s > n:
        raise ValueError(must(op, "updates", f"have a size of at most {n} on axis {a}, as `data`", s))
    begins = (
        np.zeros(1, np.int64)
        if write_indices is None
        else _begins(op, write_indices, x.shape[0], (n, s), mode)
    )
    target = None
    if out is not None:
        inputs = (u,) if out is data else (x, u)
        target = arrays.check_out(op, out, x.shape, x.dtype, inputs)
    if u.size == 0:
        if target is not None and out is not data:
            np.copyto(target, x)
        return arrays.like(data, x.copy()) if out is None else out
    places = (begins[:, None] + np.arange(s)) % n
    indices = places.reshape(len(begins), *(1,) * (a - 1), s, *(1,) * (x.ndim - a - 1))
    result = put_along_axis(x, indices, u, axis=a, out=x if out is data else target)
    return arrays.like(data, result) if out is None else out


def _begins(
    op: str, write_indices: Any, batches: int, lengths: tuple[int, int], mode: str
) -> np.ndarray[Any, Any]:
    """Return where runs begin, modulo n, after checking them; `lengths` are n and s."""
    n, s = lengths
    i = arrays.as_array(write_indices, op, "write_indices")
    if i.dtype.kind not in "iu" and i.size:
        raise TypeError(must(op, "write_indices", "have an integer dtype", i.dtype))
    if i.shape != (batches,):
        raise ValueError(must(op, "write_indices", f"have shape {(batches,)}, one for each batch", i.shape))
    outside = i < 0 if mode == "circular" else (i < 0) | (i > n - s)
    if outside.any():
        k = int(np.argmax(outside))
        rule = "be at least 0" if mode == "circular" else f"lie in [0, {n - s}]"
        raise IndexError(must(op, "write_indices", rule, int(i[k]), (k,)))
    return (i % max(n, 1)).astype(np.int64)
