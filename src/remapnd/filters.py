"""Filters: what weight an input sample has by its distance from the position of an output sample.

A filter is a kernel of bounded support, stretched where an axis shrinks, and a rule for taps outside the
axis. `choose` says which one a mode and its options mean. Used by `filter_taps`, the resample plan and
`reference`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import lanczos
from .double_double import DoubleDouble, where

FILTER_MODES: Final = ("linear", "cubic", "box", "lanczos3")
ANTIALIAS: Final = ("pillow", "onnx", "directml")

_SUPPORTS: Final = {
    "triangle": Fraction(1),
    "cubic": Fraction(2),
    "box": Fraction(1, 2),
    "lanczos3": Fraction(lanczos.SUPPORT),
}


# First tap of an output sample, numerators of the weights of this and the next ones, their denominator.
ExactRow: TypeAlias = "tuple[int, list[int], int]"


@dataclass(frozen=True)
class FilterOptions:
    """Options of a resampling that decide about its filters: parameters of `resample` of the same names.

    `cubic_coefficient` is exact. "linear" without antialiasing has no filter: it has tables of its own.
    """

    mode: str = "linear"
    antialias: str | None = None
    cubic_coefficient: Fraction = Fraction(-3, 4)
    exclude_outside: bool = False


@dataclass(frozen=True)
class Filter:
    """A kernel h stretched by a factor r: the weight of input sample k is ``h((k - x) / r)`` over the sum.

    Attributes
    ----------
    kernel : "triangle", "cubic", "box" or "lanczos3"
        With ``a`` for `coefficient`, h(t) is

        ========  ===================================================================================
        triangle  ``1 - |t|`` for ``|t| < 1``
        cubic     ``(a + 2) |t|**3 - (a + 3) t**2 + 1`` for ``|t| <= 1``;
                  ``a |t|**3 - 5 a t**2 + 8 a |t| - 4 a`` for ``1 < |t| < 2``
        box       1 for ``-1/2 < t <= 1/2``
        lanczos3  ``sinc(t) sinc(t / 3)`` for ``|t| < 3``, in multiples of 2**-60 (`lanczos`)
        ========  ===================================================================================
    stretch : Fraction, >= 1
    outside : "clamp" or "drop"
        Taps outside the axis are taken from its edge samples, or left out before the sum is made. With
        "drop", positions more than one sample outside are those at one sample outside; where the weights
        that are left add up to zero, the edge sample is the only tap.
    coefficient : Fraction
        Of cubic.
    """

    kernel: str
    stretch: Fraction = Fraction(1)
    outside: str = "clamp"
    coefficient: Fraction = Fraction(-3, 4)

    @property
    def reach(self) -> Fraction:
        """Distance from which on all weights are zero."""
        return _SUPPORTS[self.kernel] * self.stretch

    def largest(self, r: int) -> int:
        """Bound of the integers that `integers` computes with, where u is at most r."""
        a, one = self.coefficient.numerator, self.coefficient.denominator
        return {"triangle": r, "box": 1, "cubic": (abs(a) + 4 * one) * r**3, "lanczos3": 1 << 60}[self.kernel]

    def integers(self, u: NDArray[Any], r: int) -> NDArray[Any]:
        """Kernel at ``t = u / r``, times a factor that all values have in common; exact.

        u and r are integers, and t is at most the support of the kernel. All but "lanczos3" keep to the type
        of u, if `largest` does.
        """
        if self.kernel == "lanczos3":
            return np.array([lanczos.value(Fraction(int(v), r)) for v in u], object)
        values: NDArray[Any] = self._rational(u, r, self.coefficient.numerator, self.coefficient.denominator)
        return values

    def pairs(self, t: DoubleDouble) -> tuple[DoubleDouble, NDArray[np.bool_]]:
        """Kernel at ``t = u / r``, and where it is in doubt."""
        if self.kernel == "lanczos3":
            integers, doubtful = lanczos.values(t)
            return DoubleDouble.of_integers(integers), doubtful
        a = DoubleDouble.of_fraction(self.coefficient)
        return self._rational(t, 1.0, a, 1.0), np.zeros(t.high.shape, np.bool_)

    def weights_at(self, x: Fraction, n_in: int) -> ExactRow:
        """Taps and weights of position x on an axis of `n_in` samples.

        Exact, in lowest terms, without zeros at the ends; numerators add up to the denominator.
        """
        low, high = 0, n_in - 1
        if self.outside == "drop":
            x = min(max(x, Fraction(-1)), Fraction(n_in))
        first = math.floor(x - self.reach) + 1
        last = math.floor(x + self.reach) if self.kernel == "box" else math.ceil(x + self.reach) - 1
        if self.outside == "drop":
            first, last = max(first, low), min(last, high)
        if last <= low or first >= high:
            return (low if last <= low else high), [1], 1
        d = math.lcm(x.denominator, self.stretch.denominator)
        centre = int(x * d)
        distances = np.array([abs(k * d - centre) for k in range(first, last + 1)], object)
        values = self.integers(distances, int(self.stretch * d)).tolist()
        if first < low:
            values[: low - first + 1] = [sum(values[: low - first + 1])]
        if last > high:
            values[high - last - 1 :] = [sum(values[high - last - 1 :])]
        first = max(first, low)
        total = sum(values)
        if total == 0:
            return min(max(math.floor(x + Fraction(1, 2)), low), high), [1], 1
        while values[-1] == 0:
            values.pop()
        leading = next(t for t, v in enumerate(values) if v)
        divisor = math.gcd(*values, total) * (1 if total > 0 else -1)
        return first + leading, [v // divisor for v in values[leading:]], total // divisor

    def _rational(self, u: Any, r: Any, a: Any, one: Any) -> Any:
        """Kernel at ``u / r`` for the coefficient ``a / one``, times one * r**3 (cubic) or r (triangle)."""
        if self.kernel == "box":
            values = u * (r * 0) + r**0
        elif self.kernel == "triangle":
            values = -u + r
        else:
            beyond = u - 2 * r
            first = u * u * (a + 2 * one) - (u + r) * (one * r)
            inner = u.high <= r if isinstance(u, DoubleDouble) else u <= r
            values = (u - r) * where(inner, first, beyond * beyond * a)
        return values


def choose(options: FilterOptions, scale: Fraction) -> Filter | None:
    """Filter of an axis by its scale (output samples per input sample); None for plain linear."""
    mode, antialias = options.mode, options.antialias
    if mode not in FILTER_MODES:
        raise ValueError(f"choose: `mode` must be one of {', '.join(FILTER_MODES)}, got {mode!r}")
    if antialias is not None and antialias not in ANTIALIAS:
        raise ValueError(
            f"choose: `antialias` must be None or one of {', '.join(ANTIALIAS)}, got {antialias!r}"
        )
    stretch = max(Fraction(1), 1 / scale)
    if antialias is None or (antialias == "directml" and stretch <= 2):
        stretch = Fraction(1)
    if mode == "linear" and stretch == 1:
        return None
    drops = antialias in ("pillow", "directml") or options.exclude_outside
    kernel = "triangle" if mode == "linear" else mode
    coefficient = options.cubic_coefficient if mode == "cubic" else Fraction(-3, 4)
    return Filter(kernel, stretch, "drop" if drops else "clamp", coefficient)
