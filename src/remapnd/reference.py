"""The executable specification: every operator in a few lines of NumPy and Python, with no thought of speed.

What these functions return defines the numbers of the package; the tests hold the compiled kernels to it, bit
by bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Gather.


def _place(v: int, n: int, bounds: str) -> int | None:
    """Return where in [0, n) the index `v` is; None where the item is to be filled."""
    if bounds == "wrap" and n > 0:
        return v % n
    if -n <= v < 0:
        return v + n
    if 0 <= v < n:
        return v
    if bounds == "clip" and n > 0:
        return 0 if v < 0 else n - 1
    if bounds == "fill":
        return None
    raise IndexError(f"index {v} is out of range for size {n} under {bounds}")


def _item(fill_value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return what fills; the int 0 is zero bytes in every dtype."""
    zero = type(fill_value) is int and fill_value == 0
    return np.zeros((), dtype) if zero else np.array(fill_value, dtype)


def gather(
    data: NDArray[Any], indices: NDArray[Any], *, axis: int = 0, bounds: str = "raise", fill_value: Any = 0
) -> NDArray[Any]:
    """``out[*o, *k, *i] = data[*o, indices[*k], *i]``; the public function says more."""
    axis %= data.ndim
    out = np.zeros(data.shape[:axis] + indices.shape + data.shape[axis + 1 :], data.dtype)
    outer: tuple[Any, ...] = (slice(None),) * axis
    for k in np.ndindex(indices.shape):
        i = _place(int(indices[k]), data.shape[axis], bounds)
        out[(*outer, *k, ...)] = _item(fill_value, data.dtype) if i is None else data[(*outer, i, ...)]
    return out


def gather_elements(
    data: NDArray[Any], indices: NDArray[Any], *, axis: int = 0, bounds: str = "raise", fill_value: Any = 0
) -> NDArray[Any]:
    """``out[*o, k, *i] = data[*o, indices[*o, k, *i], *i]``; the public function says more."""
    axis %= data.ndim
    out = np.zeros(indices.shape, data.dtype)
    for k in np.ndindex(indices.shape):
        i = _place(int(indices[k]), data.shape[axis], bounds)
        out[(*k, ...)] = (
            _item(fill_value, data.dtype) if i is None else data[(*k[:axis], i, *k[axis + 1 :], ...)]
        )
    return out


def take_along_axis(
    data: NDArray[Any], indices: NDArray[Any], *, axis: int = -1, bounds: str = "raise", fill_value: Any = 0
) -> NDArray[Any]:
    """`gather_elements` after broadcasting off the axis; the public function says more."""
    axis %= data.ndim
    shape = np.broadcast_shapes(
        (*data.shape[:axis], 1, *data.shape[axis + 1 :]),
        (*indices.shape[:axis], 1, *indices.shape[axis + 1 :]),
    )
    wide = [np.broadcast_to(a, (*shape[:axis], a.shape[axis], *shape[axis + 1 :])) for a in (data, indices)]
    for v in indices.flat:  # each index counts, used or not
        _place(int(v), data.shape[axis], bounds)
    return gather_elements(wide[0], wide[1], axis=axis, bounds=bounds, fill_value=fill_value)


def gather_nd(
    data: NDArray[Any],
    indices: NDArray[Any],
    *,
    batch_dims: int = 0,
    bounds: str = "raise",
    fill_value: Any = 0,
) -> NDArray[Any]:
    """``out[*b, *k, *i] = data[*b, *indices[*b, *k, :], *i]``; the public function says more."""
    b, t = batch_dims, indices.shape[-1]
    out = np.zeros(indices.shape[:-1] + data.shape[b + t :], data.dtype)
    for k in np.ndindex(indices.shape[:-1]):
        places = [_place(int(v), n, bounds) for v, n in zip(indices[k], data.shape[b : b + t], strict=True)]
        out[(*k, ...)] = _item(fill_value, data.dtype) if None in places else data[(*k[:b], *places, ...)]
    return out
