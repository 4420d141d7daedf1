"""Sampling at positions held in another array, and the grids of positions that affine maps give.

Uses `arrays`, `checks` and `plans.sample`; used by front ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from . import arrays, checks
from .errors import must
from .plans.sample import GridSamplePlan, Padding, SampleMode, floats, native


@lru_cache(maxsize=64, typed=True)
def _kept(
    shapes: tuple[tuple[int, ...], ...], dtypes: tuple[Any, Any], mode: Any, padding: Any, align_corners: Any
) -> GridSamplePlan:
    """Return a plan, made once."""
    return GridSamplePlan(
        shapes[0], dtypes[0], shapes[1], dtypes[1], mode=mode, padding=padding, align_corners=align_corners
    )


def grid_sample(
    data: Any,
    grid: Any,
    /,
    *,
    mode: SampleMode = "linear",
    padding: Padding = "zeros",
    align_corners: bool = False,
    out: Any = None,
) -> Any:
    """Sample `data` at positions given by coordinates: the sampler of spatial transformers.

    ``out[k, c, *p] = data[k, c]`` at the position that ``grid[k, *p]`` stands for. Coordinate g on an axis of
    n samples is position ``x = (g * n + (n - 1)) / 2``, so that -1 and 1 are the outer edges of the first and
    last sample; with `align_corners` it is ``(g * (n - 1) + (n - 1)) / 2``, and they are their centres.

    Parameters
    ----------
    data : array_like, shape (n, c, *sizes), 1 to 5 sizes of 1 to 2**30
        float16, bfloat16, float32 or float64; "nearest" takes every fixed-size dtype.
    grid : array_like, shape (n, *places, len(sizes)); float16, bfloat16, float32 or float64
        As many places as sizes. The coordinates of a position are listed from the innermost axis to the
        outermost: (x, y) for images, (x, y, z) for volumes. Integers, up to 2**53 in magnitude, count as
        the equal float64.
    mode : {"linear", "nearest", "cubic"}, default "linear"
        "linear" mixes the two samples next to the position along each axis; "cubic" four, by Keys' kernel
        with a = -0.75; "nearest" takes one, the even one of two at the same distance.
    padding : {"zeros", "border", "reflection"}, default "zeros"
        The samples outside: zeros, those at the border, or those inside, reflected at the borders (the places
        that -1 and 1 stand for) as often as needed.
    align_corners : bool, default False
    out : array, optional
        Is written and returned: shape of the result, dtype of `data`, no overlap with an input or itself.

    Returns
    -------
    array, shape (n, c, *places), dtype and kind of `data`
        Always a new array, or `out`.

    Raises
    ------
    TypeError
        A dtype is another; `align_corners` is no bool.
    ValueError
        A shape, `mode`, `padding` or `out` does not fit.

    Notes
    -----
    Positions are computed in float64: for a grid of up to 32 bits and sizes up to 2**29 they are the exact
    ones, rounded once. A coordinate that is NaN, infinite, or gives a position of 2**51 or more in magnitude
    counts as -1. Memory outside of `data` is never read, whatever the grid.

    Values are computed in float32, for float64 in float64, from the innermost axis to the outermost: linear
    by ``a + (b - a) * w``, cubic by a sum in ascending order, with weights computed in float64 and rounded
    once. A sample of weight zero is left out, be it NaN or infinite. The bits of the result do not depend on
    machine, threads or memory layout.

    Source: ONNX GridSample-22, and ONNX Runtime where that is silent (NaN, infinity; "cubic" beyond a border
    takes border samples, where the reference of ONNX moves the position). `torch.nn.functional.grid_sample`
    rounds "nearest" after reflection, which differs in ties.

    See Also
    --------
    GridSamplePlan : the same, prepared for arrays of known shapes; `GridSamplePlan.vjp` has the gradient.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.array([[[[0.0, 1.0], [2.0, 3.0]]]])
    >>> grid_sample(image, [[[[0.0, 0.0], [-0.5, -0.5], [1.0, 0.5]]]])
    array([[[[1.5, 0. , 1.5]]]])
    >>> grid_sample(image, [[[[1.0, 1.0], [3.0, 1.0]]]], mode="nearest", padding="border")
    array([[[[3., 3.]]]])
    """
    x, g = arrays.as_array(data, "grid_sample", "data"), arrays.as_coordinates(grid, "grid_sample", "grid")
    try:
        plan = _kept((x.shape, g.shape), (x.dtype, g.dtype), mode, padding, align_corners)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        plan = _kept.__wrapped__((x.shape, g.shape), (x.dtype, g.dtype), mode, padding, align_corners)
    return plan._finish(data, x, g, out)


def affine_grid(theta: Any, size: Sequence[int], /, *, align_corners: bool = False) -> Any:
    """Return the coordinates for `grid_sample` that affine maps give.

    ``out[k, *p] = theta[k] @ (x, y, 1)`` (``(x, y, z, 1)`` for volumes), where (x, y) are the coordinates of
    the sample at place p itself.

    Parameters
    ----------
    theta : array_like, shape (n, 2, 3) or (n, 3, 4); float16, bfloat16, float32 or float64
        Integers, up to 2**53 in magnitude, count as the equal float64.
    size : sequence of int, (n, c, height, width) or (n, c, depth, height, width), each at least 1
        Shape of the result that is wanted of `grid_sample`; c is not used.
    align_corners : bool, default False
        Whether -1 and 1 are the centres of the first and last sample, or their outer edges.

    Returns
    -------
    array, shape (n, height, width, 2) or (n, depth, height, width, 3), dtype and kind of `theta`
        float64 for integers.

    Raises
    ------
    TypeError, ValueError
        `theta` or `size` does not fit; `align_corners` is no bool.

    Notes
    -----
    Computed in float64, ``((t0 * x + t1 * y) + t2 * z) + t3`` with coordinates rounded once, and rounded to
    the dtype of `theta` at the end. With `align_corners`, an axis of one sample has coordinate 0.

    Source: ONNX AffineGrid-20.

    Examples
    --------
    >>> import numpy as np
    >>> affine_grid(np.array([[[1.0, 0, 0], [0, 1, 0]]]), (1, 1, 1, 2))
    array([[[[-0.5,  0. ],
             [ 0.5,  0. ]]]])
    """
    op = "affine_grid"
    t = arrays.as_coordinates(theta, op, "theta")
    floats(op, "theta", t.dtype)
    checks.boolean(op, "align_corners", align_corners)
    sizes = checks.shape(op, "size", size)
    if len(sizes) not in (4, 5):
        rule = "have 4 or 5 sizes (batch, channel and 2 or 3 more)"
        raise ValueError(must(op, "size", rule, sizes))
    places = sizes[2:]
    r = len(places)
    if any(n < 1 for n in places):
        raise ValueError(must(op, "size", "have sizes of at least 1 behind the second", sizes))
    if t.shape != (sizes[0], r, r + 1):
        rule = f"have shape {(sizes[0], r, r + 1)}, as `size` asks"
        raise ValueError(must(op, "theta", rule, t.shape))
    checks.result_shape(op, "size", (sizes[0], *places, r), np.dtype(np.float64))
    wide = native(t).astype(np.float64)
    grid = arrays.empty(op, (sizes[0], *places, r), t.dtype)
    coordinates = [
        _coordinates(n, align_corners).reshape(-1, *(1,) * (r - 1 - d)) for d, n in enumerate(places)
    ]
    column = (slice(None), *(None,) * r)
    with np.errstate(all="ignore"):
        for d in range(r):
            total = wide[:, d, 0][column] * coordinates[-1]
            for e in range(1, r):
                total = total + wide[:, d, e][column] * coordinates[-1 - e]
            grid[..., d] = (total + wide[:, d, r][column]).astype(t.dtype)
    return arrays.like(theta, grid)


def _coordinates(n: int, align_corners: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the coordinates of the samples of an axis, each rounded once."""
    twice = 2.0 * np.arange(n)
    if align_corners:
        return (twice - (n - 1)) / (n - 1) if n > 1 else np.zeros(1)
    return (twice + (1 - n)) / n
