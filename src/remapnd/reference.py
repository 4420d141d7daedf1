"""The executable specification: every operator in a few lines of NumPy and Python, with no thought of speed.

What these functions return defines the numbers of the package; the tests hold the compiled kernels to it, bit
by bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .reference_resample import INTEGER_RULES, resample, resample_gradient, rounded
from .reference_sample import (
    affine_grid,
    crop_and_resize,
    grid_sample,
    grid_sample_gradient,
    roi_align,
    tensor_scatter,
)

__all__ = [
    "INTEGER_RULES",
    "affine_grid",
    "crop_and_resize",
    "gather",
    "gather_elements",
    "gather_nd",
    "grid_sample",
    "grid_sample_gradient",
    "put_along_axis",
    "resample",
    "resample_gradient",
    "roi_align",
    "rounded",
    "scatter_elements",
    "scatter_nd",
    "take_along_axis",
    "tensor_scatter",
]


def __dir__() -> list[str]:
    """List what is public."""
    return __all__


# Gather.


def _place(v: int, n: int, bounds: str) -> int | None:
    """Return where in [0, n) the index `v` is; None where the item is to be filled or dropped."""
    if bounds == "wrap" and n > 0:
        return v % n
    if -n <= v < 0:
        return v + n
    if 0 <= v < n:
        return v
    if bounds == "clip" and n > 0:
        return 0 if v < 0 else n - 1
    if bounds in ("fill", "drop"):
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


# Scatter.


def _joined(a: NDArray[Any], b: NDArray[Any], reduction: str) -> NDArray[Any]:
    """Return the old values `a` reduced with the updates `b`, item by item, in their dtype."""
    if reduction == "none":
        return b
    if a.dtype == np.bool_:
        return np.asarray(a & b if reduction in ("mul", "min") else a | b)
    if a.dtype.kind == "c":
        joined = np.empty(a.shape, a.dtype)
        with np.errstate(all="ignore"):
            if reduction == "add":
                joined.real, joined.imag = a.real + b.real, a.imag + b.imag
            else:
                joined.real = a.real * b.real - a.imag * b.imag
                joined.imag = a.real * b.imag + a.imag * b.real
        joined.real[np.isnan(joined.real)] = np.nan
        joined.imag[np.isnan(joined.imag)] = np.nan
        return joined
    with np.errstate(all="ignore"):
        if reduction in ("add", "mul"):
            joined = np.asarray(a + b if reduction == "add" else a * b)
        else:
            first = a < b if reduction == "min" else a > b
            if a.dtype.kind not in "iu":  # of equal values only zeros differ, in the sign
                first |= (a == b) & (np.signbit(a) == (reduction == "min"))
            joined = np.asarray(np.where(first, a, b))
            if a.dtype.kind not in "iu":
                joined[np.isnan(a) | np.isnan(b)] = np.nan
    if a.dtype.kind not in "iu":
        joined[np.isnan(joined)] = np.nan
    return joined


def _scatter(data: NDArray[Any], steps: Any, reduction: str) -> NDArray[Any]:
    """Join the values of `data` with pairs of a place (None: dropped) and updates, one after the other."""
    out = data.astype(data.dtype.newbyteorder("=")) if reduction != "none" else data.copy()
    for place, updates in steps:
        if place is not None:
            out[place] = _joined(np.asarray(out[place]), updates.astype(out.dtype), reduction)
    return out.astype(data.dtype)


def scatter_elements(
    data: NDArray[Any],
    indices: NDArray[Any],
    updates: NDArray[Any],
    *,
    axis: int = 0,
    reduction: str = "none",
    bounds: str = "raise",
) -> NDArray[Any]:
    """``out[*o, indices[*o, k, *i], *i] = updates[*o, k, *i]``; the public function says more."""
    axis %= data.ndim

    def steps() -> Iterator[tuple[Any, NDArray[Any]]]:
        for k in np.ndindex(indices.shape):
            i = _place(int(indices[k]), data.shape[axis], bounds)
            yield None if i is None else (*k[:axis], i, *k[axis + 1 :], ...), updates[(*k, ...)]

    return _scatter(data, steps(), reduction)


def put_along_axis(
    data: NDArray[Any],
    indices: NDArray[Any],
    values: NDArray[Any],
    *,
    axis: int = -1,
    reduction: str = "none",
    bounds: str = "raise",
) -> NDArray[Any]:
    """`scatter_elements` after broadcasting off the axis; the public function says more."""
    axis %= data.ndim
    shape = np.broadcast_shapes(
        (*data.shape[:axis], 1, *data.shape[axis + 1 :]),
        (*indices.shape[:axis], 1, *indices.shape[axis + 1 :]),
    )
    shape = (*shape[:axis], indices.shape[axis], *shape[axis + 1 :])
    wide_indices, wide_values = np.broadcast_to(indices, shape), np.broadcast_to(values, shape)

    def steps() -> Iterator[tuple[Any, NDArray[Any]]]:
        for v in indices.flat:  # each index counts, used or not
            _place(int(v), data.shape[axis], bounds)
        for k in np.ndindex(shape):
            i = _place(int(wide_indices[k]), data.shape[axis], bounds)
            place = [c if n > 1 else 0 for c, n in zip(k, data.shape, strict=True)]
            yield None if i is None else (*place[:axis], i, *place[axis + 1 :], ...), wide_values[(*k, ...)]

    return _scatter(data, steps(), reduction)


def scatter_nd(
    data: NDArray[Any],
    indices: NDArray[Any],
    updates: NDArray[Any],
    *,
    reduction: str = "none",
    bounds: str = "raise",
) -> NDArray[Any]:
    """``out[*indices[*k, :], *i] = updates[*k, *i]``; the public function says more."""

    def steps() -> Iterator[tuple[Any, NDArray[Any]]]:
        for k in np.ndindex(indices.shape[:-1]):
            tuple_and_sizes = zip(indices[k], data.shape[: indices.shape[-1]], strict=True)
            places = [_place(int(v), n, bounds) for v, n in tuple_and_sizes]
            yield None if None in places else (*places, ...), updates[(*k, ...)]

    return _scatter(data, steps(), reduction)
