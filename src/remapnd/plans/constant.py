"""Constant indices: what one look at them finds, and the form in which a gather reads them fastest.

Uses `plans.indexed`; used by `plans.gather`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .indexed import Geometry, Shape

# The types that the one-pass kernels read, narrowest first.
_KERNEL_TYPES = (np.uint8, np.uint16, np.int32, np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class ConstantIndices:
    """Indices that a plan owns, and what was found in them; equal when they are equal as given.

    `given` is a read-only copy. `used` has the same shape, all values counted from the start of their axis
    (the size of the axis where one is out of range under "fill"), in the narrowest type; an axis along which
    they do not differ has a stride of 0.
    """

    given: npt.NDArray[np.integer]
    used: npt.NDArray[np.integer]
    low: int
    high: int
    outside: int  # how many values are out of range, negative ones counted from the end
    is_sorted: bool
    is_unique: bool
    repeated_axes: tuple[int, ...]
    run_length: int  # consecutive values come in pieces of this many, along the last axis

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstantIndices):
            return NotImplemented
        return self.given.dtype == other.given.dtype and np.array_equal(self.given, other.given)

    def __hash__(self) -> int:
        return hash((self.given.shape, self.given.tobytes()))

    def explain(self) -> list[str]:
        """Return in words what was found, and what it saves."""
        if not self.given.size:
            return ["  indices are constant: none"]
        order = "sorted, " if self.is_sorted else ""
        order += "no two the same" if self.is_unique else "some the same"
        outside = f", {self.outside} out of range" if self.outside else ""
        lines = [f"  indices are constant: values in [{self.low}, {self.high}]{outside}; {order}"]
        if self.low < 0:
            lines.append("  negative ones were counted from the end once, for all calls")
        held = (
            math.prod(n for n, s in zip(self.used.shape, self.used.strides, strict=True) if s)
            * self.used.itemsize
        )
        lines.append(f"  held as {self.used.dtype}: {held} bytes instead of {self.given.nbytes}")
        if self.repeated_axes:
            axes = ", ".join(map(str, self.repeated_axes))
            lines.append(f"  the same along axis {axes} of indices: read once for all places there")
        if self.run_length > 1:
            lines.append(
                f"  consecutive in pieces of {self.run_length}: {self.run_length} items of the axis at once"
            )
        return lines


def constant_indices(
    indices: npt.NDArray[np.integer], geometry: Geometry, data_shape: Shape, bounds: str
) -> ConstantIndices:
    """Analyse indices that were checked for `bounds`."""
    given = indices.copy()
    given.flags.writeable = False
    sizes = np.array([data_shape[a] for a in geometry.indexed], np.int64)
    size: np.int64 | npt.NDArray[np.int64] = sizes if geometry.component_axis >= 0 else sizes[0]
    counted, outside = _counted(given, size, bounds)
    tuples = counted if geometry.component_axis >= 0 else counted.reshape(-1, 1)
    flat = _flat(tuples.reshape(math.prod(tuples.shape[:-1]), sizes.size), sizes)
    in_order = np.diff(flat)
    used, repeated = _collapsed(counted, geometry.component_axis)
    most = int(used.max()) if used.size else 0
    used = used.astype(next(t for t in _KERNEL_TYPES if most <= np.iinfo(t).max))
    used = np.broadcast_to(used, given.shape)
    return ConstantIndices(
        given,
        used,
        int(given.min()) if given.size else 0,
        int(given.max()) if given.size else 0,
        outside,
        bool((in_order >= 0).all()),
        bool((in_order > 0).all()) or np.unique(flat).size == flat.size,
        repeated,
        1 if (outside and bounds == "fill") or geometry.component_axis >= 0 else _run_length(counted),
    )


def _counted(
    indices: npt.NDArray[np.integer], size: np.int64 | npt.NDArray[np.int64], bounds: str
) -> tuple[npt.NDArray[np.int64], int]:
    """Return the indices from the start of their axes, and how many were out of range."""
    if indices.dtype == np.uint64:
        if bounds == "wrap":
            sizes = size.astype(np.uint64)
            return (indices % sizes).astype(np.int64), int((indices >= sizes).sum())
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    wide = indices.astype(np.int64)
    from_start = wide + np.where(wide < 0, size, 0)
    is_outside = (from_start < 0) | (from_start >= size)
    outside = int(is_outside.sum())
    if bounds == "wrap":
        return wide % size, outside
    if bounds == "clip":
        return np.clip(from_start, 0, size - 1), outside
    return np.where(is_outside, size, from_start), outside


def _flat(tuples: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return one number for each tuple, in order and all different (with room for one outside)."""
    flat = np.zeros(len(tuples), np.int64)
    for c, n in enumerate(sizes):
        flat = flat * (n + 1) + tuples[:, c]
    return flat


def _collapsed(
    indices: npt.NDArray[np.int64], component_axis: int
) -> tuple[npt.NDArray[np.int64], tuple[int, ...]]:
    """Return the indices with a size of 1 on each axis along which they do not differ, and those axes."""
    repeated = []
    for axis, n in enumerate(indices.shape):
        if axis == component_axis or n < 2 or not indices.size:
            continue
        first = indices.take([0], axis)
        if (indices == first).all():
            indices = first
            repeated.append(axis)
    return indices, tuple(repeated)


def _run_length(indices: npt.NDArray[np.int64]) -> int:
    """Return the largest length of which all pieces along the last axis are of consecutive numbers."""
    if not indices.ndim or not indices.size:
        return 1
    rows = indices.reshape(-1, indices.shape[-1])
    breaks = np.flatnonzero((np.diff(rows, axis=1) != 1).any(axis=0)) + 1
    return math.gcd(indices.shape[-1], *map(int, breaks))
