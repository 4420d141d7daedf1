"""Resizing of pixels with alpha: colors count by how opaque they are.

Uses `plans.resample`; used by `cli.resize`.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from remapnd.filters import FilterOptions, choose
from remapnd.plans.resample import ResamplePlan
from remapnd.plans.resample_options import PerAxis

__all__ = ["resize_weighted"]

# Integers up to here are summed in float64 without a doubt left (plans/resample.py).
_LARGEST: Final = 1 << 46
_LEAST: Final = 2.0**-20  # sums of alpha below it are none, where they are floats
_TIE: Final = 2.0**-20  # a float this near to a tie or a whole number is on it


def resize_weighted(
    pixels: npt.NDArray[Any], shape: int | tuple[int, ...] | None, *, scales: PerAxis | None, **options: Any
) -> npt.NDArray[Any]:
    """Resize colors with alpha, colors weighted by alpha.

    With the weights w of the mode, alpha A and color C of an output are ``A = sum(w * a)`` and ``C = sum(w *
    a * c) / sum(w * a)``: what is transparent lends no color. Where ``sum(w * a)`` is not positive, colors
    are mixed as they are, ``C = sum(w * c)``, so that scale 1 changes nothing. Both are clamped to the range
    of the dtype, which cubic and Lanczos leave.

    Parameters
    ----------
    pixels : ndarray of uint8 or uint16, shape (H, W, channels)
        The last channel is alpha.
    shape, scales, **options
        As in `resize`, of any mode but those that move samples; the axes are H and W.

    Returns
    -------
    ndarray of the dtype of `pixels`, shape (new H, new W, channels)
        Alpha is rounded once, from the exact value. So are the colors of plain linear, if the denominators of
        the weights of both axes make together at most 2**30 (uint8), 2**14 (uint16). Others are sums in
        float64: a color within 2**-20 of a tie or a whole number is taken for one, and alpha below 2**-20
        for none.

    Raises
    ------
    TypeError, ValueError
        As in `resize`.

    Notes
    -----
    Source of the rule: T. Porter and T. Duff, "Compositing Digital Images", 1984: alpha is how much of a
    pixel its color covers.
    """
    plan = ResamplePlan.resized(pixels.shape, pixels.dtype, shape, axes=(0, 1), scales=scales, **options)
    out: npt.NDArray[Any] = plan(pixels)
    alpha = pixels[..., -1]
    if alpha.min() == alpha.max():  # weighting by it changes nothing
        return out
    full = int(np.iinfo(pixels.dtype).max)
    rule = options.pop("integer_rule", "half_up")
    options.pop("extrapolation_value", None)  # outside no alpha adds up, and what `plan` gave stays
    plain = options["mode"] == "linear" and all(
        choose(FilterOptions("linear", options.get("antialias")), scale) is None for scale in plan.scales
    )
    # All weights are multiples of 1 / one then, so that the totals are integers, not rounded ones.
    one = math.prod(map.integers()[2] for map in plan.maps)
    exact = plain and full * full * one <= _LARGEST
    kind: Any = np.int64 if exact else np.float64
    total = ResamplePlan.resized(pixels.shape[:2], kind, shape, scales=scales, **options)
    weights = alpha.astype(kind) * (one if exact else 1)
    coverage = total(weights)
    covered = coverage > (0 if exact else _LEAST)
    coverage[~covered] = 1
    for channel in range(pixels.shape[2] - 1):
        sums = total(weights * pixels[..., channel])
        color = _ratio(sums, coverage, rule) if exact else _rounded(sums / coverage, rule)
        out[..., channel] = np.where(covered, np.clip(color, 0, full), out[..., channel])
    return out


def _ratio(
    numerator: npt.NDArray[np.int64], denominator: npt.NDArray[np.int64], rule: str
) -> npt.NDArray[Any]:
    """Divide and round integers of at least 0."""
    quotient, rest = np.divmod(numerator, denominator)
    if rule == "truncate":
        return quotient
    up = 2 * rest >= denominator
    if rule == "half_even":
        up &= (2 * rest > denominator) | (quotient % 2 == 1)
    return quotient + up


def _rounded(values: npt.NDArray[np.float64], rule: str) -> npt.NDArray[np.float64]:
    """Round floats that are exact up to `_TIE`."""
    halves = np.rint(2 * values) / 2
    values = np.where(np.abs(values - halves) < _TIE, halves, values)
    if rule == "half_up":
        values = np.floor(values + 0.5)
    elif rule == "half_even":
        values = np.rint(values)
    else:
        values = np.trunc(values)
    return values
