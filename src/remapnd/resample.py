"""Resampling: values of an array at other positions along some of its axes.

Uses `plans.resample`; used by `directml` and the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np

from . import _core, arrays, checks
from .coordinates import COORDINATE_MODES, CROP, Number, coordinate_map
from .plans import explanation
from .plans.resample import ResamplePlan
from .plans.resample_options import PerAxis
from .taps import NEAREST_RULES, nearest_table

Mode: TypeAlias = Literal["nearest", "majority", "linear", "cubic", "box", "lanczos3"]
Antialias: TypeAlias = Literal["pillow", "onnx", "directml"]
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
    "tf_crop_and_resize",
]


# The latest calls of each function: the same again takes the short way, past the checks that passed before.
_resample_again = _core.RecentResamples()
_resize_again = _core.RecentResamples()


@lru_cache(maxsize=64)
def _kept(
    make: Callable[..., ResamplePlan], types: tuple[Any, ...], arguments: tuple[Any, ...], options: _Options
) -> ResamplePlan:
    """Return a plan, made once; `types` keep apart options that are equal, such as 1 and True."""
    return make(*arguments, **dict(options))


def _plan(make: Callable[..., ResamplePlan], *arguments: Any, **options: Any) -> ResamplePlan:
    """Return the plan for these arguments, from the cache if it is there."""
    # The value that fills keeps its type: an item of a date has no equal in Python.
    plain = {k: v if k == "extrapolation_value" else _plain(v) for k, v in options.items()}
    types: tuple[Any, ...] = tuple(
        tuple(map(type, v)) if type(v) is tuple else type(v) for v in plain.values()
    )
    value = plain.get("extrapolation_value")
    if isinstance(value, (float, complex, np.generic)):  # 0.0 equals -0.0, and is not the same value
        types += (np.asarray(value).tobytes(),)
    key = tuple(plain.items())
    try:
        hash(key)
    except TypeError:  # no number has no hash; the plan tells which option it is
        return make(*arguments, **plain)
    return _kept(make, types, arguments, key)


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
    antialias: Antialias | None = None,
    cubic_coefficient: Number = -0.75,
    exclude_outside: bool = False,
    integer_rule: IntegerRule = "half_up",
    out: Any = None,
) -> Any:
    """Resample an array along some axes, with scale, offsets and output length as independent facts.

    Output sample X of an axis reads position ``x = (X - output_offset) / scale - input_offset``, exactly;
    positions outside are those of the edge sample. An option that does not belong to `mode` is refused unless
    it has its default.

    Parameters
    ----------
    data : array_like of any rank
        Nearest takes every fixed-size dtype; majority integers and bool; the other modes integers of 8 to 64
        bits, float16, bfloat16, float32, float64, complex64 and complex128.
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
    mode : "nearest", "majority", "linear", "cubic", "box" or "lanczos3"
        How input samples k at distances ``t = k - x`` make an output sample: the one at the position;
        ``1 - |t|`` (the two next to it); the cubic of `cubic_coefficient` (four); 1 for ``-1/2 < t <= 1/2``
        (one); ``sinc(t) sinc(t / 3)`` (six). Weights are divided by their sum. "majority" is for labels, such
        as those of a segmentation: of the samples that linear would mix, over all axes, the label whose
        weights add up highest, and of equal ones the lowest. It is what the largest of all labels' resized
        indicators (one-hot volumes) would say, without these, and exact. As of linear, only samples next to
        the position take part, however much an axis shrinks: it does not antialias. At scales 1/2, 1/4 and so
        on all of them weigh the same, so ties are common and favour low labels: a line one sample wide can
        vanish. Where all samples shall have a say, resize the indicators of the labels with `antialias`, as
        floats, and take the largest; not by halving again and again, as each step favours low labels.
    nearest_rule : "half_up", "half_down", "floor" or "ceil"
        For "nearest": index ``floor(x + 1/2)``, ``ceil(x - 1/2)``, ``floor(x)`` or ``ceil(x)`` for position
        x; ties are exact.
    antialias : None, "pillow", "onnx" or "directml"
        Stretch the filter by ``max(1, 1 / scale)``, by which t above is divided, so that all samples of an
        axis that shrinks take part. For all but "nearest" and "majority". The three differ at the edges and
        in when they do so:

        * "pillow": taps outside are dropped, the others divided by what is left; so do Pillow and PyTorch
        * "onnx": taps outside are those of the edge sample, unless `exclude_outside`
        * "directml": as "pillow", but only for "linear", and only along axes with ``1 / scale > 2``
    cubic_coefficient : int, float or Fraction
        For "cubic": the a in ``(a + 2) |t|**3 - (a + 3) t**2 + 1`` for ``|t| <= 1`` and ``a |t|**3 - 5 a t**2
        + 8 a |t| - 4 a`` up to 2. It is -3/4 in OpenCV, PyTorch and ONNX, and -1/2 in Pillow, TensorFlow and
        where PyTorch antialiases.
    exclude_outside : bool
        Drop taps outside, as "pillow" does, also with "onnx" and without antialiasing. For all but "nearest"
        and "majority". Without antialiasing it changes "cubic" and "lanczos3" alone: what is left of the taps
        of "linear" and "box" is the edge sample, which they give anyway.
    integer_rule : "half_up", "half_even" or "truncate"
        How results on integers are rounded: ``floor(v + 1/2)``, to nearest with ties to even, towards zero.
        For all but "nearest" and "majority"; on floats, which are rounded as IEEE 754 does, it changes
        nothing. v is the exact rational result: the integer is right for every value. What lies outside the
        range of the dtype, as "cubic" and "lanczos3" can, becomes the nearest end of it.
    out : array, optional
        Written in place and returned; must have the shape and dtype of the result and not overlap `data`.

    Returns
    -------
    array of the dtype of `data`, and of its kind where that is one that DLPack knows; a plain one for
    subclasses of NumPy's

    Raises
    ------
    TypeError
        `data` has a dtype that the mode does not take, or is a masked array (its mask would be lost: give
        ``data.filled(value)``); an option is not of the type that it should be.
    ValueError
        A scale is not positive and finite, an axis or length is out of range, an option is unknown or does
        not go with `mode`, the result or a table of weights (over 2**28) is too large, or `out` does not fit.

    See Also
    --------
    resize : positions by the coordinate modes of other libraries.
    ResamplePlan : the same prepared, with gradients and parts.

    Notes
    -----
    A position more than one sample outside the axis is taken at one sample outside where taps outside are
    dropped; otherwise the edge sample goes on for ever. A tap is there if its weight is not zero: windows of
    taps are those of the formulas. Weights of "lanczos3" are ratios of multiples of 2**-60; all others are
    exact. Each is rounded once, to float32 (float64 for float64 data).

    Source of the rule: DML_RESAMPLE1_OPERATOR_DESC, ``X = (x + InputPixelOffset) * Scale +
    OutputPixelOffset``. The bits of the result do not depend on machine, threads or memory layout.

    Examples
    --------
    >>> import numpy as np
    >>> resample(np.array([0.0, 1.0, 2.0, 3.0]), scales=2)
    array([0.  , 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3.  ])
    >>> resample(np.arange(20), shape=6, mode="nearest")
    array([ 1,  5,  8, 11, 15, 18])

    Antialiasing, at the edges by two rules:

    >>> resample(np.arange(8.0), shape=3, antialias="pillow")
    array([1.10526316, 3.5       , 5.89473684])
    >>> resample(np.arange(8.0), shape=3, antialias="onnx")
    array([0.97674419, 3.5       , 6.02325581])

    Labels are not numbers to mix; three corners of the second label outweigh the nearest sample:

    >>> labels = np.array([[5, 8], [8, 8]], np.uint8)
    >>> resample(labels, shape=1, scales=1, input_offsets=0.125, mode="nearest")
    array([[5]], dtype=uint8)
    >>> resample(labels, shape=1, scales=1, input_offsets=0.125, mode="majority")
    array([[8]], dtype=uint8)
    """
    arguments = (
        scales,
        shape,
        axes,
        input_offsets,
        output_offsets,
        mode,
        nearest_rule,
        antialias,
        cubic_coefficient,
        exclude_outside,
        integer_rule,
    )
    result = _resample_again(data, arguments, out)
    if result is not None:
        return result
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
        antialias=antialias,
        cubic_coefficient=cubic_coefficient,
        exclude_outside=exclude_outside,
        integer_rule=integer_rule,
    )
    if plan._short_way is not None:
        _resample_again.keep(plan._short_way, arguments)
    return plan(data, out=out)


def resize(
    data: Any,
    /,
    shape: int | Sequence[int] | None = None,
    *,
    axes: int | Sequence[int] | None = None,
    scales: PerAxis | None = None,
    coordinates: Coordinates = "half_pixel",
    roi: Sequence[Number] | None = None,
    extrapolation_value: object = 0,
    mode: Mode = "linear",
    nearest_rule: NearestRule = "half_up",
    antialias: Antialias | None = None,
    cubic_coefficient: Number = -0.75,
    exclude_outside: bool = False,
    integer_rule: IntegerRule = "half_up",
    out: Any = None,
) -> Any:
    """Resample an array along some axes to given lengths, positions by a named coordinate mode.

    By default each output sample is made of the two input samples next to its position along each axis. There
    is then no low-pass filter, as in `cv2.resize` and `torch.nn.functional.interpolate` by default: an axis
    that shrinks by more than 2 aliases. `antialias` makes the filter as wide as the scale asks for, as Pillow
    always does.

    Parameters
    ----------
    data : array_like of any rank
        "nearest" takes every fixed-size dtype; "majority" integers and bool; the other modes integers of 8 to
        64 bits, float16, bfloat16, float32, float64, complex64 and complex128.
    shape : int, or one for each of `axes`
        Output lengths. May be left out if `scales` are given: then ``floor(length * scale)``.
    axes : int or sequence of int, optional
        Axes to resample, negative ones from the end; by default all.
    scales : int, float or Fraction, or one for each of `axes`, > 0, optional
        The scale s in the formulas below; by default the exact ratio of output to input length. A float means
        its exact binary value: 0.7, a little less than 7/10, makes 6 of 10 samples, ``Fraction(7, 10)`` 7.
    coordinates : str
        Position x of output sample X, for lengths n to m:

        * "half_pixel": ``(X + 1/2) / s - 1/2``, the positions of OpenCV, Pillow, PyTorch and TensorFlow 2
        * "align_corners": ``X * (n - 1) / (m - 1)``
        * "asymmetric": ``X / s``
        * "half_pixel_symmetric": half_pixel about the common centre where m is not s * n
        * "pytorch_half_pixel": half_pixel, but 0 where m is 1
        * "tf_half_pixel_for_nn": ``(X + 1/2) / s``
        * "tf_crop_and_resize": ``(start + X * (end - start) / (m - 1)) * (n - 1)`` for the `roi` of the
          axis, ``(start + end) / 2 * (n - 1)`` where m is 1
    roi : sequence of 2 numbers for each of `axes`, for "tf_crop_and_resize" only
        First the starts of all axes, then the ends, in units of n - 1: 0 is the centre of the first sample, 1
        that of the last.
    extrapolation_value : scalar, for "tf_crop_and_resize" only
        Value of the output samples whose position lies outside [0, n - 1] along any axis; it must be one that
        the dtype has (floats: in range). Refused with other coordinates, unless it is 0.
    mode : "nearest", "majority", "linear", "cubic", "box" or "lanczos3"
        What an output sample is made of: the nearest sample; of those next to the position the label that
        weighs most; or the samples about it, mixed by a filter. "majority" gives ties to the lowest label,
        which are common at scale 1/2: thin structures of higher labels can vanish there.
        It votes on each channel of a color by itself: pack the channels into one integer first.
    antialias : None, "pillow", "onnx" or "directml"
        Whether filters grow where an axis shrinks, and by whose rule. "pillow" is also that of PyTorch's
        ``antialias=True``. Filters are stretched by the scale s, also where the positions do not follow from
        it ("align_corners", "tf_crop_and_resize").
    nearest_rule, cubic_coefficient, exclude_outside, integer_rule, out
        As in `resample`, which says more of `mode` and `antialias`. `data` and `out` may be memory maps, of
        which all pages that are touched count as memory: `ResamplePlan.region`, on parts that are mapped one
        after the other, keeps them few.

    Returns
    -------
    array of the dtype and kind of `data`

    Raises
    ------
    TypeError, ValueError
        As in `resample`.

    See Also
    --------
    ResamplePlan.resized : the same prepared, with gradients and parts.
    describe : a table of the positions of an axis.

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
    >>> larger = np.empty((96, 96, 96), np.int32)
    >>> resize(labels, (96, 96, 96), mode="majority", out=larger) is larger
    True
    """
    arguments = (
        shape,
        axes,
        scales,
        coordinates,
        roi,
        extrapolation_value,
        mode,
        nearest_rule,
        antialias,
        cubic_coefficient,
        exclude_outside,
        integer_rule,
    )
    result = _resize_again(data, arguments, out)
    if result is not None:
        return result
    array = arrays.as_array(data, "resize", "data")
    plan = _plan(
        ResamplePlan.resized,
        array.shape,
        array.dtype,
        shape=shape,
        axes=axes,
        scales=scales,
        coordinates=coordinates,
        roi=roi,
        extrapolation_value=extrapolation_value,
        mode=mode,
        nearest_rule=nearest_rule,
        antialias=antialias,
        cubic_coefficient=cubic_coefficient,
        exclude_outside=exclude_outside,
        integer_rule=integer_rule,
    )
    if plan._short_way is not None:
        _resize_again.keep(plan._short_way, arguments)
    return plan(data, out=out)


def describe(
    coordinates: Coordinates,
    n_in: int,
    n_out: int,
    *,
    scale: Number | None = None,
    roi: Sequence[Number] | None = None,
) -> str:
    """Return a table of the positions that the samples of a resized axis read, and of the nearest samples.

    Parameters
    ----------
    coordinates : str
        As in `resize`.
    n_in, n_out : int, >= 1
        Lengths of the axis before and after.
    scale : int, float or Fraction, > 0, optional
        As `scales` in `resize`; by default ``n_out / n_in``.
    roi : (start, end), for "tf_crop_and_resize" only

    Returns
    -------
    str
        One line for each output sample X: the exact position x, its decimal value, and the index that each
        rule for ties gives.

    Raises
    ------
    TypeError, ValueError
        A length is not an integer of at least 1; `coordinates`, `scale` or `roi` is none that `resize` takes.

    Examples
    --------
    >>> print(describe("half_pixel", 4, 2))
    X    x       half_up  half_down  floor  ceil
    0  1/2  0.5        1          0      0     1
    1  5/2  2.5        3          2      2     3
    """
    op = "describe"
    checks.choice(op, "coordinates", coordinates, (*COORDINATE_MODES, CROP))
    n_in, n_out = (checks.length(op, name, n) for name, n in (("n_in", n_in), ("n_out", n_out)))
    [region] = checks.regions(op, roi, 1, coordinates, CROP)
    exact_scale = None if scale is None else checks.scales(op, scale, 1, "scale")[0]
    map = coordinate_map(coordinates, n_in, n_out, exact_scale, region)
    indices = {rule: nearest_table(map, n_in, n_out, rule).tolist() for rule in NEAREST_RULES}
    return explanation.describe(map.positions(n_out), indices)


def _plain(value: Any) -> Any:
    """Return lists and NumPy's arrays and numbers as Python's own, where they have an equal."""
    if isinstance(value, np.ndarray) and value.ndim < 2:
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(v.item() if isinstance(v, np.generic) else v for v in value)
    return value.item() if isinstance(value, np.generic) else value
