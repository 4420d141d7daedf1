"""Linear resizing of pixels with alpha: colors count by how opaque they are.

Uses `plans.resample`; used by `cli.resize`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from remapnd.plans.resample import ResamplePlan
from remapnd.plans.resample_options import PerAxis

__all__ = ["resize_weighted"]

_Integers = npt.NDArray[np.int64]

# Sums of up to 255 * 255 times this are computed in float64 without a doubt left (plans/resample.py).
_FINEST = 1 << 30


def resize_weighted(
    pixels: npt.NDArray[Any],
    shape: int | tuple[int, ...] | None,
    *,
    scales: PerAxis | None,
    coordinates: str,
    integer_rule: str = "half_up",
) -> npt.NDArray[Any]:
    """Resize colors with alpha by linear interpolation, colors weighted by alpha.

    With the weights w of linear interpolation, alpha A and color C of an output are ``A = sum(w * a)`` and
    ``C = sum(w * a * c) / sum(w * a)``: what is transparent lends no color. Where every a is 0, colors are
    mixed as they are, ``C = sum(w * c)``, so that scale 1 changes nothing.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (H, W, channels)
        The last channel is alpha.
    shape, scales, coordinates, integer_rule
        As in `resize`; the axes are H and W.

    Returns
    -------
    ndarray of uint8, shape (new H, new W, channels)
        Alpha and colors are rounded once, from the exact values. Only where the denominators of the weights
        of both axes make more than 2**30 together, colors that are not transparent are rounded from values
        that are within 2**-21 of the exact ones.

    Raises
    ------
    TypeError, ValueError
        As in `resize`.

    Notes
    -----
    Source of the rule: T. Porter and T. Duff, "Compositing Digital Images", 1984: alpha is how much of a
    pixel its color covers.
    """
    size, dtype = pixels.shape, pixels.dtype
    mixed = ResamplePlan.resized(
        size, dtype, shape, axes=(0, 1), scales=scales, coordinates=coordinates, integer_rule=integer_rule
    )
    out: npt.NDArray[Any] = mixed(pixels)
    alpha = pixels[..., -1].astype(np.int64)
    if alpha.min() == alpha.max():  # weighting by it changes nothing
        return out
    total = ResamplePlan.resized(size[:2], np.int64, shape, scales=scales, coordinates=coordinates)
    # Every weight is a multiple of 1 / one, so that the totals are integers, not rounded ones.
    one = min(math.prod(map.integers()[2] for map in total.maps), _FINEST)
    coverage = total(alpha * one)
    for channel in range(size[2] - 1):
        color = _ratio(total(alpha * one * pixels[..., channel]), np.maximum(coverage, 1), integer_rule)
        out[..., channel] = np.where(coverage > 0, np.minimum(color, 255), out[..., channel])
    return out


def _ratio(numerator: _Integers, denominator: _Integers, rule: str) -> _Integers:
    """Divide and round integers of at least 0."""
    quotient, rest = np.divmod(numerator, denominator)
    if rule == "truncate":
        return quotient
    up = 2 * rest >= denominator
    if rule == "half_even":
        up &= (2 * rest > denominator) | (quotient % 2 == 1)
    return np.add(quotient, up, dtype=np.int64)
