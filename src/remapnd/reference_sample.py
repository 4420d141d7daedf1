"""The executable specification of sampling at positions that are data; part of `reference`.

Positions are float64, one operation at a time; values are of the working type: float32 for float16, bfloat16
and float32, float64 for float64.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "affine_grid",
    "crop_and_resize",
    "grid_sample",
    "grid_sample_gradient",
    "roi_align",
    "tensor_scatter",
]

_FAR = 2.0**51


def _reflected(x: float, low: float, high: float) -> float:
    """Reflect a position at two borders until it lies between them."""
    span = high - low
    if span == 0:
        return low
    if low <= x <= high:
        return x
    r = math.fmod(low - x if x < low else x - high, 2 * span)
    if x < low:
        return low + r if r <= span else high - (r - span)
    return high - r if r <= span else low + (r - span)


def _borders(n: int, align_corners: bool) -> tuple[float, float]:
    """Return the positions that -1 and 1 stand for."""
    return (0.0, n - 1.0) if align_corners else (-0.5, n - 0.5)


def _position(g: float, n: int, mode: str, padding: str, align_corners: bool) -> float:
    """Return the position of a coordinate on an axis of n samples, padded."""
    low, high = _borders(n, align_corners)
    with np.errstate(all="ignore"):
        x = float((np.float64(g) * ((n - 1) if align_corners else n) + (n - 1)) * 0.5)
    if not -_FAR < x < _FAR:  # NaN too
        x = low
    if mode == "nearest":
        x = float(round(x))  # the even one of two
    if padding == "reflection":
        x = _reflected(x, low, high)
    if mode != "cubic":
        return x if padding == "zeros" else min(max(x, 0.0), n - 1.0)
    return min(max(x, -2.0), n + 1.0) if padding == "border" else x


def _tap(at: int, n: int, padding: str, align_corners: bool) -> int | None:
    """Return which sample counts as sample `at`; None for one that counts as zero."""
    if 0 <= at < n:
        return at
    if padding == "zeros":
        return None
    if padding == "border":
        return 0 if at < 0 else n - 1
    return int(_reflected(at, *_borders(n, align_corners)))


def _lerp(a: Any, b: Any, w: Any) -> Any:
    """Mix two values as `reference.resample` does."""
    with np.errstate(all="ignore"):
        fast = a + (b - a) * w
        if np.isfinite(fast):
            return fast
        return a if w == 0 else b if w == 1 else (1 - w) * a + w * b


def _weights(x: float, mode: str, work: Any) -> tuple[int, list[Any]]:
    """Return the first tap of a position, and the weights of it and those behind it."""
    floor = math.floor(x)
    t = x - floor
    if mode == "linear":
        return floor, [None, work(t)]

    def near(d: float) -> float:
        return (1.25 * d - 2.25) * d * d + 1

    def far(d: float) -> float:
        return ((-0.75 * d + 3.75) * d - 6) * d + 3

    return floor - 1, [work(w) for w in (far(1 + t), near(t), near(1 - t), far(2 - t))]


def _value(data: NDArray[Any], xs: Sequence[float], options: tuple[str, str, bool], work: Any) -> Any:
    """Return the value of one channel at a position, in the working type; the innermost axis goes first."""
    mode, padding, align_corners = options
    if not xs:
        return work(data[()])
    first, weights = _weights(xs[0], mode, work)

    def at(k: int) -> Any:
        tap = _tap(first + k, data.shape[0], padding, align_corners)
        return work(0) if tap is None else _value(data[tap], xs[1:], options, work)

    if mode == "linear":
        if weights[1] == 0:
            a = at(0)
            return _lerp(a, a, work(-0.0))
        return _lerp(at(0), at(1), weights[1])
    total = work(-0.0)
    with np.errstate(all="ignore"):
        for k, w in enumerate(weights):
            if w != 0:
                total = total + w * at(k)
    return total


def _work(dtype: np.dtype[Any]) -> Any:
    """Return the working type."""
    return np.float64 if dtype.name == "float64" else np.float32


def _stored(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a value in the dtype of the result; a NaN is the positive quiet one."""
    with np.errstate(all="ignore"):
        return np.asarray(np.nan if np.isnan(value) else value).astype(type(value)).astype(dtype)


def grid_sample(
    data: NDArray[Any],
    grid: NDArray[Any],
    *,
    mode: str = "linear",
    padding: str = "zeros",
    align_corners: bool = False,
) -> NDArray[Any]:
    """``out[k, c, *p] = data[k, c] at grid[k, *p, ::-1]``; the public function says more."""
    out = np.zeros((grid.shape[0], data.shape[1], *grid.shape[1:-1]), data.dtype)
    for k, *p in np.ndindex(grid.shape[:-1]):
        coordinates = [float(g) for g in grid[(k, *p)][::-1]]
        xs = [
            _position(g, n, mode, padding, align_corners)
            for g, n in zip(coordinates, data.shape[2:], strict=True)
        ]
        for c in range(data.shape[1]):
            if mode == "nearest":
                taps = [
                    _tap(int(x), n, padding, align_corners) for x, n in zip(xs, data.shape[2:], strict=True)
                ]
                if None not in taps:
                    out[(k, c, *p)] = data[(k, c, *taps)]
                continue
            value = _value(data[k, c], xs, (mode, padding, align_corners), _work(data.dtype))
            out[(k, c, *p)] = _stored(value, data.dtype)
    return out


def _transposed(x: float, n: int, options: tuple[str, str, bool], work: Any) -> list[tuple[int, Any]]:
    """Return the samples of one axis that a position takes part of, each with its weight."""
    mode, padding, align_corners = options
    if mode == "nearest":
        first, weights = int(x), [work(1)]
    else:
        first, weights = _weights(x, mode, work)
    if mode == "linear":
        weights = [work(1) - weights[1], weights[1]]
    taps = [(_tap(first + k, n, padding, align_corners), w) for k, w in enumerate(weights)]
    return [(tap, w) for tap, w in taps if tap is not None and w != 0]


def grid_sample_gradient(
    gradient: NDArray[Any],
    grid: NDArray[Any],
    sizes: Sequence[int],
    *,
    mode: str = "linear",
    padding: str = "zeros",
    align_corners: bool = False,
) -> NDArray[Any]:
    """``out[k, c, *taps] += weight * gradient[k, c, *p]``; `GridSamplePlan.vjp` says more."""
    work = _work(gradient.dtype)
    total = np.zeros((*gradient.shape[:2], *sizes), work)
    for k, *p in np.ndindex(grid.shape[:-1]):
        along = [
            _transposed(
                _position(float(g), n, mode, padding, align_corners), n, (mode, padding, align_corners), work
            )
            for g, n in zip(grid[(k, *p)][::-1], sizes, strict=True)
        ]
        for taps in itertools.product(*along):
            weight = taps[-1][1]
            for _, w in taps[-2::-1]:
                weight = weight * w
            if weight == 0:
                continue
            at = tuple(tap for tap, _ in taps)
            for c in range(gradient.shape[1]):
                with np.errstate(all="ignore"):
                    total[(k, c, *at)] += weight * work(gradient[(k, c, *p)])
    with np.errstate(all="ignore"):
        return np.where(np.isnan(total), work(np.nan), total).astype(gradient.dtype)


def affine_grid(theta: NDArray[Any], size: Sequence[int], *, align_corners: bool = False) -> NDArray[Any]:
    """``out[k, *p] = theta[k] @ (*base[p], 1)``; the public function says more."""
    places = tuple(size[2:])
    out = np.zeros((theta.shape[0], *places, len(places)), theta.dtype)

    def base(i: int, n: int) -> float:
        if align_corners:
            return (2 * i - (n - 1)) / (n - 1) if n > 1 else 0.0
        return (2 * i + 1 - n) / n

    with np.errstate(all="ignore"):
        for k, *p in np.ndindex(theta.shape[0], *places):
            at = [base(i, n) for i, n in zip(p, places, strict=True)][::-1]
            for d, row in enumerate(theta[k].astype(np.float64)):
                total = row[0] * at[0]
                for factor, x in zip(row[1:-1], at[1:], strict=True):
                    total = total + factor * x
                out[(k, *p, d)] = np.float64(total + row[-1]).astype(theta.dtype)
    return out


def _bin_positions(start: float, size: float, bins: int, per_bin: int, n: int) -> list[list[float | None]]:
    """Return the positions of the samples of each bin; None for those outside."""

    def position(p: int, i: int) -> float | None:
        x = (start + p * size) + (i + 0.5) * size / per_bin
        return min(max(x, 0.0), n - 1.0) if -1 <= x <= n else None

    return [[position(p, i) for i in range(per_bin)] for p in range(bins)]


def _largest(values: Sequence[Any]) -> Any:
    """Return the largest value, the first of equal ones; NaN wins."""
    best = values[0]
    for v in values[1:]:
        if not np.isnan(best) and (np.isnan(v) or best < v):
            best = v
    return best


def _largest_term(data: NDArray[Any], xs: Sequence[float], work: Any) -> Any:
    """Return the largest of the four taps by their weights."""
    (y, (_, wy)), (x, (_, wx)) = (_weights(at, "linear", work) for at in xs)
    terms = []
    with np.errstate(all="ignore"):
        for j, k in ((0, 0), (0, 1), (1, 0), (1, 1)):
            w = (wy if j else 1 - wy) * (wx if k else 1 - wx)
            terms.append(work(0) if w == 0 else w * work(data[y + j, x + k]))
    return _largest(terms)


def roi_align(
    data: NDArray[Any],
    rois: NDArray[Any],
    batch_indices: NDArray[Any],
    shape: tuple[int, int],
    *,
    scale: float = 1.0,
    sampling_ratio: int = 0,
    mode: str = "avg",
    half_pixel: bool = True,
) -> NDArray[Any]:
    """Join samples of each bin of each region; the public function says more."""
    work = _work(data.dtype)
    out = np.zeros((len(rois), data.shape[1], *shape), data.dtype)
    offset = 0.5 if half_pixel else 0.0
    for k, roi in enumerate(rois.astype(np.float64)):
        x1, y1, x2, y2 = (float(v) * scale - offset for v in roi)
        positions = []
        for start, end, bins, n in ((y1, y2, shape[0], data.shape[2]), (x1, x2, shape[1], data.shape[3])):
            extent = end - start if half_pixel else max(end - start, 1.0)
            per_bin = sampling_ratio or max(math.ceil(extent / bins), 0)
            positions.append(_bin_positions(start, extent / bins, bins, per_bin, n))
        for c, ph, pw in np.ndindex(data.shape[1], *shape):
            image = data[batch_indices[k], c]
            values = []
            for y in positions[0][ph]:
                for x in positions[1][pw]:
                    if x is None or y is None:
                        values.append(work(0))
                    elif mode == "max":
                        values.append(_largest_term(image, (y, x), work))
                    else:
                        values.append(_value(image, (y, x), ("linear", "zeros", False), work))
            value = work(0)
            with np.errstate(all="ignore"):
                if mode == "max":
                    value = _largest(values) if values else value
                else:
                    for v in values:
                        value = value + v
                    value = value / work(len(values)) if len(values) > 1 else value
            out[k, c, ph, pw] = _stored(value, data.dtype)
    return out


def crop_and_resize(
    data: NDArray[Any],
    rois: NDArray[Any],
    batch_indices: NDArray[Any],
    shape: tuple[int, int],
    *,
    mode: str = "linear",
    extrapolation_value: Any = 0,
) -> NDArray[Any]:
    """Sample each region at evenly spaced positions; the public function says more."""
    out = np.full((len(rois), data.shape[1], *shape), extrapolation_value, data.dtype)

    def position(start: float, end: float, i: int, m: int, n: int) -> float:
        if m == 1:
            return 0.5 * (start + end) * (n - 1)
        if i == m - 1:
            return end * (n - 1)
        return start * (n - 1) + i * ((end - start) * (n - 1) / (m - 1))

    for k, (y1, x1, y2, x2) in enumerate(rois.astype(np.float64).tolist()):
        for i, j in np.ndindex(*shape):
            y = position(y1, y2, i, shape[0], data.shape[2])
            x = position(x1, x2, j, shape[1], data.shape[3])
            if not (0 <= y <= data.shape[2] - 1 and 0 <= x <= data.shape[3] - 1):
                continue
            for c in range(data.shape[1]):
                image = data[batch_indices[k], c]
                if mode == "nearest":
                    up = [math.floor(v) + (v - math.floor(v) >= 0.5) for v in (y, x)]
                    out[k, c, i, j] = image[up[0], up[1]]
                else:
                    value = _value(image, (y, x), ("linear", "border", True), _work(data.dtype))
                    out[k, c, i, j] = _stored(value, data.dtype)
    return out


def tensor_scatter(
    data: NDArray[Any],
    updates: NDArray[Any],
    write_indices: NDArray[Any] | None = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> NDArray[Any]:
    """``out[b, ..., write_indices[b] + s, ...] = updates[b, ..., s, ...]``; the public function says more."""
    axis %= data.ndim
    out = data.copy()
    for k in np.ndindex(updates.shape):
        at = k[axis] + (0 if write_indices is None else int(write_indices[k[0]]))
        if mode == "circular":
            at %= data.shape[axis]
        out[(*k[:axis], at, *k[axis + 1 :])] = updates[k]
    return out
