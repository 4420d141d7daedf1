"""Regions of images: pooled (`roi_align`) or sampled (`crop_and_resize`) to one size.

Uses `arrays`, `checks` and `plans.regions`; used by front ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from . import arrays, checks
from .coordinates import as_fraction
from .errors import must
from .plans.regions import MAX_BIN_SAMPLES, Regions, fill_crop_and_resize, fill_roi_align


def roi_align(
    data: Any,
    rois: Any,
    batch_indices: Any,
    shape: Sequence[int],
    /,
    *,
    scale: float = 1.0,
    sampling_ratio: int = 0,
    mode: Literal["avg", "max"] = "avg",
    half_pixel: bool = True,
    out: Any = None,
) -> Any:
    """Pool regions of images to bins, by samples between pixels.

    Each region is cut into ``height x width`` bins of one size; a bin is the mean (or largest) of its
    samples, which lie evenly in it.

    Parameters
    ----------
    data : array_like, shape (n, c, h, w); float16, bfloat16, float32 or float64
    rois : array_like, shape (k, 4), finite; float16, bfloat16, float32 or float64
        Regions as (x1, y1, x2, y2), in pixels of an image that `data` is ``scale`` times as large as.
        Integers, up to 2**53 in magnitude, count as the equal float64.
    batch_indices : array_like, shape (k,), any integer dtype, values in [0, n)
        Which image each region is of.
    shape : (height, width), each at least 1
        Number of bins.
    scale : float, default 1.0, > 0 and finite
    sampling_ratio : int, default 0
        Samples of a bin along each axis; 0 takes ``ceil(size of the bin)``. At most 65536 either way.
    mode : {"avg", "max"}, default "avg"
        "max" takes the largest of the four pixels around a sample by their weights, and of these the largest,
        as ONNX does: not the largest sample.
    half_pixel : bool, default True
        Whether pixel centres are at half coordinates: the region is then moved by -0.5. Without, a region is
        at least 1 pixel wide and high (ONNX "output_half_pixel", the default before version 16).
    out : array, optional
        Is written and returned: shape of the result, dtype of `data`, no overlap with an input or itself.

    Returns
    -------
    array, shape (k, c, height, width), dtype and kind of `data`
        Always a new array, or `out`.

    Raises
    ------
    TypeError
        A dtype is another.
    ValueError
        A shape or option does not fit, a region is not finite, or asks for too many samples.
    IndexError
        An image index is out of range.

    Notes
    -----
    With ``start``, ``end`` of a region along an axis times `scale`, minus 0.5 or 0, ``bin = (end - start) /
    bins``; sample i of bin p is at ``(start + p * bin) + (i + 0.5) * bin / samples``, all in float64. A
    sample within 1 of the outermost pixels takes the nearest position inside, one further out is 0. Samples
    are taken as `grid_sample` takes linear ones and summed in order, in float32 or, for float64, float64.

    Source: ONNX RoiAlign-22.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> roi_align(image, [[0.0, 0.0, 4.0, 4.0]], [0], (2, 2))
    array([[[[ 2.5,  4.5],
             [10.5, 12.5]]]])
    """
    op = "roi_align"
    regions = Regions(op, data, rois, batch_indices, shape)
    factor = float(as_fraction(scale, op=op, parameter="scale"))
    if not factor > 0:
        raise ValueError(must(op, "scale", "be > 0", scale))
    ratio = checks.integer(op, "sampling_ratio", sampling_ratio)
    if ratio < 0:
        raise ValueError(must(op, "sampling_ratio", "be at least 0", ratio))
    if ratio > MAX_BIN_SAMPLES:
        raise ValueError(must(op, "sampling_ratio", f"be at most {MAX_BIN_SAMPLES}", ratio))
    checks.choice(op, "mode", mode, ("avg", "max"))
    checks.boolean(op, "half_pixel", half_pixel)
    target = regions.target(out)
    fill_roi_align(
        regions, target, scale=factor, sampling_ratio=ratio, mode=mode, half_pixel=bool(half_pixel)
    )
    return arrays.like(data, target) if out is None else out


def crop_and_resize(
    data: Any,
    rois: Any,
    batch_indices: Any,
    shape: Sequence[int],
    /,
    *,
    mode: Literal["linear", "nearest"] = "linear",
    extrapolation_value: Any = 0,
    out: Any = None,
) -> Any:
    """Sample regions of images at evenly spaced positions, from corner to corner.

    Parameters
    ----------
    data : array_like, shape (n, c, h, w)
        float16, bfloat16, float32 or float64; "nearest" takes every fixed-size dtype.
    rois : array_like, shape (k, 4); float16, bfloat16, float32 or float64
        Regions as (y1, x1, y2, x2), where 0 is the centre of the first and 1 that of the last pixel; with y1
        > y2 or x1 > x2 the result is turned around. Integers, up to 2**53 in magnitude, count as the equal
        float64.
    batch_indices : array_like, shape (k,), any integer dtype, values in [0, n)
        Which image each region is of.
    shape : (height, width), each at least 1
    mode : {"linear", "nearest"}, default "linear"
        "nearest" rounds half up.
    extrapolation_value : scalar, default 0
        For positions outside of the image (by any amount, in either direction) and those that are NaN; must
        be castable to the dtype of `data` without loss (floats may be rounded, not overflow).
    out : array, optional
        Is written and returned: shape of the result, dtype of `data`, no overlap with an input or itself.

    Returns
    -------
    array, shape (k, c, height, width), dtype and kind of `data`
        Always a new array, or `out`.

    Raises
    ------
    TypeError
        A dtype is another.
    ValueError
        A shape or option does not fit.
    IndexError
        An image index is out of range.

    Notes
    -----
    Sample i of m along an axis of n pixels is at ``start * (n - 1) + i * ((end - start) * (n - 1) / (m -
    1))``, the last at ``end * (n - 1)``, a single one at ``0.5 * (start + end) * (n - 1)``, in float64.
    Values are computed as `grid_sample` does.

    Source: tf.image.crop_and_resize, with channels before height; com.microsoft CropAndResize-1.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> crop_and_resize(image, [[0.0, 0.0, 1.0, 1.0]], [0], (2, 3))
    array([[[[ 0. ,  1.5,  3. ],
             [12. , 13.5, 15. ]]]])
    """
    op = "crop_and_resize"
    regions = Regions(op, data, rois, batch_indices, shape)
    checks.choice(op, "mode", mode, ("linear", "nearest"))
    item = checks.fill_item(op, extrapolation_value, regions.data.dtype, "extrapolation_value")
    target = regions.target(out)
    fill_crop_and_resize(regions, target, mode, item)
    return arrays.like(data, target) if out is None else out
