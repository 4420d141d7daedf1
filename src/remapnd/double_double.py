"""Arithmetic on pairs of float64 arrays: about 104 bits, the same on every machine.

A pair stands for the exact sum ``high + low`` with ``|low|`` at most half a unit in the last place of `high`.
One operation errs by less than 2**-100 of its result, a subtraction of its larger operand. Source: T. J.
Dekker, A floating-point technique for extending the available precision, 1971. Used by `filters` and
`filter_taps`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

_SPLIT: Final = float(2**27 + 1)  # halves 53 bits into two factors whose products are exact


@dataclass(frozen=True, eq=False)
class DoubleDouble:
    """An array of pairs; operands are other pairs, or exact floats."""

    high: Floats
    low: Floats

    @classmethod
    def of_integers(cls, values: NDArray[np.int64]) -> DoubleDouble:
        """Return int64 below 2**62 in magnitude as pairs, exactly."""
        high = values.astype(np.float64)
        return cls(high, (values - high.astype(np.int64)).astype(np.float64))

    @classmethod
    def of_limbs(cls, high: NDArray[np.int64], low: NDArray[np.int64], bits: int) -> DoubleDouble:
        """Return ``(high + low / 2**bits) / 2**bits`` for integers below 2**62, as exactly as a pair can."""
        leading = cls.of_integers(high) + np.ldexp(low.astype(np.float64), -bits)
        return cls(np.ldexp(leading.high, -bits), np.ldexp(leading.low, -bits))

    @classmethod
    def of_fraction(cls, value: Fraction) -> DoubleDouble:
        """Return the pair nearest to a fraction, as 0-d arrays."""
        high = float(value)
        return cls(np.float64(high), np.float64(float(value - Fraction(high))))  # type: ignore[arg-type]

    def __add__(self, other: DoubleDouble | Any) -> DoubleDouble:
        if not isinstance(other, DoubleDouble):
            high, low = _two_sum(self.high, other)
            return _normalised(high, low + self.low)
        high, low = _two_sum(self.high, other.high)
        low_high, low_low = _two_sum(self.low, other.low)
        high, low = _fast_two_sum(high, low + low_high)
        return _normalised(high, low + low_low)

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.high, -self.low)

    def __sub__(self, other: DoubleDouble | Any) -> DoubleDouble:
        return self + -other

    def __mul__(self, other: DoubleDouble | Any) -> DoubleDouble:
        if not isinstance(other, DoubleDouble):
            high, low = _two_product(self.high, other)
            return _normalised(high, low + self.low * other)
        high, low = _two_product(self.high, other.high)
        return _normalised(high, low + (self.high * other.low + self.low * other.high))

    def __truediv__(self, other: DoubleDouble) -> DoubleDouble:
        first = self.high / other.high
        rest = self - other * first
        second = rest.high / other.high
        rest = rest - other * second
        high, low = _fast_two_sum(first, second)
        return _normalised(high, low + rest.high / other.high)

    def __abs__(self) -> DoubleDouble:
        negative = self.high < 0
        return DoubleDouble(
            np.where(negative, -self.high, self.high), np.where(negative, -self.low, self.low)
        )

    def __getitem__(self, index: Any) -> DoubleDouble:
        return DoubleDouble(self.high[index], self.low[index])

    def masked(self, mask: NDArray[np.bool_]) -> DoubleDouble:
        """Return the pairs where the mask is true, zero elsewhere."""
        return DoubleDouble(np.where(mask, self.high, 0.0), np.where(mask, self.low, 0.0))

    def set(self, place: Any, value: int) -> None:
        """Put an integer below 2**62 at a place of the arrays, which must be writeable."""
        self.high[place] = float(value)
        self.low[place] = float(value - int(float(value)))

    def sum_of_rows(self) -> DoubleDouble:
        """Return the sums along the last axis, which is kept with length 1; it is not empty."""
        total = self
        while (length := total.high.shape[-1]) > 1:
            half = length // 2
            paired = total[..., :half] + total[..., half : 2 * half]
            if length % 2:
                last = paired[..., :1] + total[..., -1:]
                paired.high[..., :1], paired.low[..., :1] = last.high, last.low
            total = paired
        return total


def where(mask: NDArray[np.bool_], a: Any, b: Any) -> Any:
    """Return `a` where `mask` is true and `b` elsewhere: pairs, or arrays of NumPy."""
    if isinstance(a, DoubleDouble):
        return DoubleDouble(np.where(mask, a.high, b.high), np.where(mask, a.low, b.low))
    return np.where(mask, a, b)


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Sum and its exact error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _fast_two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Sum and its exact error, for |a| >= |b| or a = 0."""
    total = a + b
    return total, b - (total - a)


def _normalised(high: Floats, low: Floats) -> DoubleDouble:
    """Pair of two floats of which the second is small."""
    return DoubleDouble(*_fast_two_sum(high, low))


def _halves(a: Floats) -> tuple[Floats, Floats]:
    """Two floats of 26 bits whose sum is a."""
    scaled = a * _SPLIT
    upper = scaled - (scaled - a)
    return upper, a - upper


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Product and its exact error."""
    product = a * b
    a_upper, a_lower = _halves(a)
    b_upper, b_lower = _halves(b)
    error = ((a_upper * b_upper - product) + a_upper * b_lower + a_lower * b_upper) + a_lower * b_lower
    return product, error
