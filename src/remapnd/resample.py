"""Resampling: values of an array at other positions along some of its axes.

Uses `plans.resample`; used by `directml` and the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from . import arrays
from .plans.resample import PerAxis, ResamplePlan

Mode: TypeAlias = Literal["nearest", "linear"]
NearestRule: TypeAlias = Literal["half_up", "half_down", "floor", "ceil"]
IntegerRule: TypeAlias = Literal["half_up", "half_even", "truncate"]
Coordinates: TypeAlias = Literal[
    "half_pixel",
    "align_corners",
    "asymmetric",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
]

_resample_plan = lru_cache(maxsize=64)(ResamplePlan)
_resize_plan = lru_cache(maxsize=64)(ResamplePlan.resized)


def resample(
    data: Any,
    /,
    *,
    scales: PerAxis | None = None,
    shape: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    input_offsets: PerAxis = 0.5,
    output_offsets: PerAxis = -0.5,
    mode: Mode = "linear",
    nearest_rule: NearestRule = "half_up",
    integer_rule: IntegerRule = "half_up",
    out: Any = None,
) -> Any:
    """Resample an array along some axes, with scale, offsets and output length as independent facts.

    Output sample X of an axis reads position ``x = (X - output_offset) / scale - input_offset``, exactly;
    positions outside are those of the edge sample.

    Parameters
    ----------
    data : array of any rank
        Nearest takes every fixed-size dtype; linear integers of 8 to 64 bits, float16, bfloat16, float32,
        float64, complex64 and complex128.
    scales : int, float or Fraction, or one for each of `axes`, > 0, optional
        Output samples per input sample. A float means its exact binary value. By default the exact ratio of
        output to input length.
    shape : int, or one for each of `axes`, optional
        Output lengths; by default ``floor(length * scale)``, exactly.
    axes : int or sequence of int, optional
        Axes to resample, negative ones from the end; by default all.
    input_offsets, output_offsets : int, float or Fraction, or one for each of `axes`
        The defaults put sample centres at half pixels.
    mode : "linear" or "nearest"
    nearest_rule : "half_up", "half_down", "floor" or "ceil"
        Index for position x: ``floor(x + 1/2)``, ``ceil(x - 1/2)``, ``floor(x)`` or ``ceil(x)``; ties are
        exact.
    integer_rule : "half_up", "half_even" or "truncate"
        How linear on integers rounds: ``floor(v + 1/2)``, to nearest with ties to even, towards zero. v is
        the exact rational result: the integer is right for every value.
    out : array, optional
        Written in place and returned; must have the shape and dtype of the result and not overlap `data`.

    Returns
    -------
    array of the dtype and kind of `data`

    Raises
    ------
    TypeError
        `data` has a dtype that the mode does not take; a number is none.
    ValueError
        A scale is not positive and finite, an axis or length is out of range, an option is unknown, the
        result is too large, or `out` does not fit.

    Notes
    -----
    Source of the rule: DML_RESAMPLE1_OPERATOR_DESC, ``X = (x + InputPixelOffset) * Scale +
    OutputPixelOffset``. The bits of the result do not depend on machine, threads or memory layout.

    Examples
    --------
    >>> import numpy as np
    >>> resample(np.array([0.0, 1.0, 2.0, 3.0]), scales=2)
    array([0.  , 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3.  ])
    >>> resample(np.arange(20), shape=6, mode="nearest")
    array([ 1,  5,  8, 11, 15, 18])
    """
    array = arrays.as_array(data, "resample", "data")
    plan = _resample_plan(
        array.shape,
        array.dtype,
        scales=_hashable(scales),
        shape=_hashable(shape),
        axes=_hashable(axes),
        input_offsets=_hashable(input_offsets),
        output_offsets=_hashable(output_offsets),
        mode=mode,
        nearest_rule=nearest_rule,
        integer_rule=integer_rule,
    )
    return plan(data, out=out)


def resize(
    data: Any,
    shape: int | Sequence[int] | None = None,
    /,
    *,
    axes: int | Sequence[int] | None = None,
    scales: PerAxis | None = None,
    coordinates: Coordinates = "half_pixel",
    mode: Mode = "linear",
    nearest_rule: NearestRule = "half_up",
    integer_rule: IntegerRule = "half_up",
    out: Any = None,
) -> Any:
    """Resample an array along some axes to given lengths, positions by a named coordinate mode.

    Parameters
    ----------
    data : array of any rank
        As in `resample`.
    shape : int, or one for each of `axes`
        Output lengths. May be left out if `scales` are given: then ``floor(length * scale)``.
    axes : int or sequence of int, optional
        Axes to resample, negative ones from the end; by default all.
    scales : int, float or Fraction, or one for each of `axes`, > 0, optional
        The scale s in the formulas below; by default the exact ratio of output to input length.
    coordinates : str
        Position x of output sample X, for lengths n to m:

        * "half_pixel": ``(X + 1/2) / s - 1/2``, as OpenCV, Pillow, PyTorch and TensorFlow 2 resize
        * "align_corners": ``X * (n - 1) / (m - 1)``
        * "asymmetric": ``X / s``
        * "half_pixel_symmetric": half_pixel about the common centre where m is not s * n
        * "pytorch_half_pixel": half_pixel, but 0 where m is 1
        * "tf_half_pixel_for_nn": ``(X + 1/2) / s``
    mode, nearest_rule, integer_rule, out
        As in `resample`.

    Returns
    -------
    array of the dtype and kind of `data`

    Raises
    ------
    TypeError, ValueError
        As in `resample`.

    Notes
    -----
    Source of the coordinate modes: ONNX Resize-19.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.array([[0, 100], [100, 200]], np.uint8)
    >>> resize(image, (3, 3))
    array([[  0,  50, 100],
           [ 50, 100, 150],
           [100, 150, 200]], dtype=uint8)
    """
    array = arrays.as_array(data, "resize", "data")
    plan = _resize_plan(
        array.shape,
        array.dtype,
        _hashable(shape),
        axes=_hashable(axes),
        scales=_hashable(scales),
        coordinates=coordinates,
        mode=mode,
        nearest_rule=nearest_rule,
        integer_rule=integer_rule,
    )
    return plan(data, out=out)


def _hashable(value: Any) -> Any:
    """Return a list or array of numbers as a tuple, for the cache of plans."""
    if isinstance(value, list):
        return tuple(value)
    return tuple(value.tolist()) if getattr(value, "ndim", 0) == 1 else value
