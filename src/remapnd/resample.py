"""Resampling: values of an array at other positions along some of its axes.

Uses `plans.resample`; used by `directml` and the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from . import arrays
from .plans.resample import PerAxis, ResamplePlan

Mode: TypeAlias = Literal["nearest", "linear"]
NearestRule: TypeAlias = Literal["half_up", "half_down", "floor", "ceil"]
IntegerRule: TypeAlias = Literal["half_up", "half_even", "truncate"]
_Options: TypeAlias = tuple[tuple[str, Any], ...]
Coordinates: TypeAlias = Literal[
    "half_pixel",
    "align_corners",
    "asymmetric",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
]


@lru_cache(maxsize=64)
def _kept(
    make: Callable[..., ResamplePlan], types: tuple[Any, ...], arguments: tuple[Any, ...], options: _Options
) -> ResamplePlan:
    """Return a plan, made once; `types` keep apart options that are equal as numbers, such as 1 and True."""
    return make(*arguments, **dict(options))


def _plan(make: Callable[..., ResamplePlan], *arguments: Any, **options: Any) -> ResamplePlan:
    """Return the plan for these arguments, from the cache if it is there."""
    hashable = {name: _hashable(value) for name, value in options.items()}
    types = tuple(tuple(map(type, v)) if type(v) is tuple else type(v) for v in hashable.values())
    return _kept(make, types, arguments, tuple(hashable.items()))


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
    data : array_like of any rank
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
        Added to the coordinates before and after they are scaled. The defaults, 1/2 and -1/2, align the
        outer edges of first and last sample; 0 and 0 align the centres of the first samples.
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
    array of the dtype of `data`, and of its kind where that is one that DLPack knows; masks are not kept

    Raises
    ------
    TypeError
        `data` has a dtype that the mode does not take; an option is not of the type that it should be.
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
    plan = _plan(
        ResamplePlan,
        array.shape,
        array.dtype,
        scales=scales,
        shape=shape,
        axes=axes,
        input_offsets=input_offsets,
        output_offsets=output_offsets,
        mode=mode,
        nearest_rule=nearest_rule,
        integer_rule=integer_rule,
    )
    return plan(data, out=out)


def resize(
    data: Any,
    /,
    shape: int | Sequence[int] | None = None,
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

    Each output sample is made of the one or two input samples next to its position along each axis. There is
    no low-pass filter, as in `cv2.resize` and `torch.nn.functional.interpolate` by default and unlike in
    Pillow: an axis that shrinks by more than 2 aliases.

    Parameters
    ----------
    data : array_like of any rank
        As in `resample`.
    shape : int, or one for each of `axes`
        Output lengths. May be left out if `scales` are given: then ``floor(length * scale)``.
    axes : int or sequence of int, optional
        Axes to resample, negative ones from the end; by default all.
    scales : int, float or Fraction, or one for each of `axes`, > 0, optional
        The scale s in the formulas below; by default the exact ratio of output to input length.
    coordinates : str
        Position x of output sample X, for lengths n to m:

        * "half_pixel": ``(X + 1/2) / s - 1/2``, the positions of OpenCV, Pillow, PyTorch and TensorFlow 2
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

    Height and width of a colour image, channels last:

    >>> photo = np.zeros((480, 640, 3), np.uint8)
    >>> resize(photo, (224, 224), axes=(0, 1)).shape
    (224, 224, 3)

    A label volume, into an array that is there already:

    >>> labels = np.zeros((64, 64, 64), np.int32)
    >>> half = np.empty((32, 32, 32), np.int32)
    >>> resize(labels, (32, 32, 32), mode="nearest", out=half) is half
    True
    """
    array = arrays.as_array(data, "resize", "data")
    plan = _plan(
        ResamplePlan.resized,
        array.shape,
        array.dtype,
        shape=shape,
        axes=axes,
        scales=scales,
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
