"""The Lanczos kernel of three lobes, in fixed point.

Its real values are irrational. Here the kernel is *defined* as ``sinc(t) * sinc(t / 3)``, with ``sinc(t) =
sin(pi t) / (pi t)``, rounded to the nearest multiple of 2**-60 (the real value is never half way between
two). So weights are ratios of integers, as those of the other kernels are. Used by `filters`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .double_double import DoubleDouble, where

BITS: Final = 60  # values are multiples of 2**-BITS
SUPPORT: Final = 3

_TERMS: Final = 16  # of the series of sinc: for |t| <= 1/2, the rest is below 2**-92
_PAIRED_TERMS: Final = 7  # the further ones are below 2**-31 of the sum: float64 does for them
_ERROR: Final = 2.0**-18  # more than the error of a vectorised value, in multiples of 2**-BITS


def value(t: Fraction) -> int:
    """Kernel at ``0 <= t < 3``, times 2**60."""
    if t.denominator == 1:
        return 0 if t else 1 << BITS
    bits = 2 * BITS
    while True:
        product = _sinc(t, bits) * _sinc(t / 3, bits)
        shift = 2 * bits - BITS
        half = 1 << (shift - 1)
        # Each factor is within 2**-bits * 128 of the real one, and less than 1.
        error = 1 << (bits + 9)
        nearest = (product + half) >> shift
        if (product + half - error) >> shift == nearest == (product + half + error) >> shift:
            return nearest
        bits *= 2


def values(t: DoubleDouble) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Kernel at ``0 <= t < 3``, times 2**60, and where it may have been rounded to the wrong side."""
    product = _sincs(t) * _sincs(t * DoubleDouble.of_fraction(Fraction(1, 3)))
    high, low = np.ldexp(product.high, BITS), np.ldexp(product.low, BITS)
    whole = np.rint(high)
    rest = (high - whole) + low
    nearest = np.rint(rest)
    result = whole.astype(np.int64) + nearest.astype(np.int64)
    return result, np.abs(np.abs(rest - nearest) - 0.5) < _ERROR


def _sinc(t: Fraction, bits: int) -> int:
    """Sine over argument, times 2**bits, within 128."""
    whole = math.floor(t + Fraction(1, 2))
    g = t - whole
    square = (_pi(bits) ** 2 * g.numerator**2) // (g.denominator**2 << bits)
    total, term, sign, k = 0, 1 << bits, 1, 0
    while term:
        total += sign * term
        k += 2
        term = (term * square >> bits) // (k * (k + 1))
        sign = -sign
    if whole:
        total = total * g.numerator * t.denominator // (g.denominator * t.numerator)
    return -total if whole % 2 else total


@lru_cache(maxsize=8)
def _pi(bits: int) -> int:
    """Pi times 2**bits, within 1. Source: Machin, pi = 16 arctan(1/5) - 4 arctan(1/239)."""
    guard = 32
    one = 1 << (bits + guard)

    def arctan_of_inverse(n: int) -> int:
        total, power, k = 0, one // n, 0
        while power:
            total += (power // (2 * k + 1)) * (-1) ** k
            power //= n * n
            k += 1
        return total

    return (16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)) >> guard


@lru_cache(maxsize=1)
def _series() -> tuple[tuple[DoubleDouble, ...], tuple[float, ...]]:
    """Coefficients of sinc in powers of t**2: the first as pairs, the further ones as floats."""
    pi = Fraction(_pi(256), 1 << 256)
    exact = [(-1) ** k * pi ** (2 * k) / math.factorial(2 * k + 1) for k in range(_TERMS)]
    pairs = tuple(DoubleDouble.of_fraction(c) for c in exact[:_PAIRED_TERMS])
    return pairs, tuple(float(c) for c in exact[_PAIRED_TERMS:])


def _sincs(t: DoubleDouble) -> DoubleDouble:
    """Sine over argument, of pairs >= 0, within 2**-80."""
    whole = np.rint(t.high)
    g = t - whole
    square = g * g
    pairs, floats = _series()
    tail: Any = np.zeros_like(square.high)
    for coefficient in reversed(floats):
        tail = tail * square.high + coefficient
    total = DoubleDouble(tail, np.zeros_like(tail))
    for pair in reversed(pairs):
        total = total * square + pair
    inner = whole == 0
    # Where t is below 1/2, g is t.
    quotient = g / where(inner, DoubleDouble(np.ones_like(t.high), np.zeros_like(t.low)), t)
    sign = np.where(whole % 2 == 1, -1.0, 1.0)
    result: DoubleDouble = where(inner, total, total * quotient * sign)
    return result
