"""Plans of operators on regions of images: regions to bins and positions.

Uses `arrays`, `checks`, `plans.sample` and `_core`; used by `regions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core, arrays, checks
from ..errors import must
from .sample import Sampler, check_sampled_dtype, floats, has_samples, native, sample_axis

_POOLINGS = ("avg", "max")
MAX_BIN_SAMPLES = _core.MAX_BIN_SAMPLES  # along an axis


class Regions:
    """Images, regions and which image each is of, after the checks that all operators on them make."""

    def __init__(self, op: str, data: Any, rois: Any, batch_indices: Any, shape: Any) -> None:
        self.op = op
        self.data = arrays.as_array(data, op, "data")
        self.rois = arrays.as_coordinates(rois, op, "rois")
        self.batches = arrays.as_array(batch_indices, op, "batch_indices")
        if self.data.ndim != 4:
            raise ValueError(must(op, "data", "have 4 axes (batch, channel, height, width)", self.data.ndim))
        floats(op, "rois", self.rois.dtype)
        if self.rois.ndim != 2 or self.rois.shape[1] != 4:
            raise ValueError(must(op, "rois", "have shape (k, 4)", self.rois.shape))
        if self.batches.dtype.kind not in "iu" and self.batches.size:
            raise TypeError(must(op, "batch_indices", "have an integer dtype", self.batches.dtype))
        if self.batches.shape != self.rois.shape[:1]:
            rule = f"have shape {self.rois.shape[:1]}, one for each of `rois`"
            raise ValueError(must(op, "batch_indices", rule, self.batches.shape))
        self.shape = checks.shape(op, "shape", shape)
        if len(self.shape) != 2:
            raise ValueError(must(op, "shape", "have 2 sizes (height, width)", self.shape))
        if 0 in self.shape:
            raise ValueError(must(op, "shape", "have sizes of at least 1", self.shape))
        self._check_batches()
        self.batches = np.ascontiguousarray(self.batches, np.int64)
        self.output_shape = (len(self.rois), self.data.shape[1], *self.shape)
        checks.result_shape(op, "shape", self.output_shape, self.data.dtype)

    def _check_batches(self) -> None:
        """Refuse an index of no image; negative ones are refused as well."""
        n = self.data.shape[0]
        outside = (self.batches < 0) | (self.batches >= n)
        if outside.any():
            k = int(np.argmax(outside))
            raise IndexError(must(self.op, "batch_indices", f"lie in [0, {n})", int(self.batches[k]), (k,)))

    def target(self, out: Any) -> npt.NDArray[Any]:
        """Return the array for the result."""
        if out is None:
            return arrays.empty(self.op, self.output_shape, self.data.dtype)
        inputs = (self.data, self.rois, self.batches)
        return arrays.check_out(self.op, out, self.output_shape, self.data.dtype, inputs)


def fill_roi_align(
    regions: Regions,
    out: npt.NDArray[Any],
    *,
    scale: float,
    sampling_ratio: int,
    mode: str,
    half_pixel: bool,
) -> None:
    """Pool regions into `out`."""
    op = regions.op
    number = floats(op, "data", regions.data.dtype)
    corners = native(regions.rois).astype(np.float64)
    if not np.isfinite(corners).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(corners))[0])
        raise ValueError(must(op, "rois", "be finite", corners[at], at))
    with np.errstate(all="ignore"):
        ends = corners * scale - (0.5 if half_pixel else 0.0)
        extent = (ends[:, 2:] - ends[:, :2])[:, ::-1]
        if not half_pixel:
            extent = np.maximum(extent, 1.0)
        size = extent / np.array(regions.shape, np.float64)
        per_bin = np.maximum(np.ceil(size), 0.0)
    if sampling_ratio:
        per_bin = np.full(per_bin.shape, float(sampling_ratio))
    if not (per_bin <= MAX_BIN_SAMPLES).all():
        k = int(np.argwhere(~(per_bin <= MAX_BIN_SAMPLES))[0, 0])
        rule = f"ask for at most {MAX_BIN_SAMPLES} samples of a bin along an axis (give `sampling_ratio`)"
        raise ValueError(must(op, "rois", rule, f"{per_bin[k].max():.0f}", (k,)))
    if out.size == 0:
        return
    has_samples(op, regions.data.shape)
    plain = (
        out if out.dtype.isnative and out.flags.aligned else np.empty(out.shape, out.dtype.newbyteorder("="))
    )
    _core.roi_align(
        native(regions.data),
        regions.batches,
        ends[:, 1::-1].ravel(),
        size.ravel(),
        per_bin.astype(np.int64).ravel(),
        _POOLINGS.index(mode),
        number,
        plain,
    )
    if plain is not out:
        np.copyto(out, plain)


def fill_crop_and_resize(regions: Regions, out: npt.NDArray[Any], mode: str, outside: bytes) -> None:
    """Sample regions into `out`; `outside` is an item."""
    op = regions.op
    data = regions.data
    check_sampled_dtype(op, data.dtype, mode)
    if out.size == 0:
        return
    has_samples(op, data.shape)
    corners = native(regions.rois).astype(np.float64)
    ys, xs = (
        _crop_positions(corners[:, d], corners[:, d + 2], regions.shape[d], data.shape[d + 2]) for d in (0, 1)
    )
    with np.errstate(invalid="ignore"):
        within = [(x >= 0) & (x <= n - 1) for x, n in ((ys, data.shape[2]), (xs, data.shape[3]))]
    inside = within[0][:, :, None] & within[1][:, None, :]
    grid = np.zeros((*inside.shape, 2))
    grid[..., 0], grid[..., 1] = xs[:, None, :], ys[:, :, None]
    grid[~inside] = 0.0
    if mode == "nearest":
        down = np.floor(grid)
        grid = down + (grid - down >= 0.5)
    axes = tuple(sample_axis(n) for n in data.shape[2:])
    sampler = Sampler(op, mode, "border", data.dtype, grid.dtype, axes)
    sampler.fill(data, grid, regions.batches, out)
    np.copyto(out, np.frombuffer(outside, data.dtype)[0], where=~inside[:, None])


def _crop_positions(
    start: npt.NDArray[np.float64], end: npt.NDArray[np.float64], m: int, n: int
) -> npt.NDArray[np.float64]:
    """Return positions of m samples from start to end, in parts of the distance between the ends; (k, m)."""
    with np.errstate(all="ignore"):
        if m == 1:
            return (0.5 * (start + end) * (n - 1))[:, None]
        step = (end - start) * (n - 1) / (m - 1)
        positions = (start * (n - 1))[:, None] + np.arange(m) * step[:, None]
        positions[:, 0] = start * (n - 1)
        positions[:, -1] = end * (n - 1)
        return positions
