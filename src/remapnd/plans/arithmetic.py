"""What integers are computed with: the arithmetic in which the fewest results stay in doubt.

Every result on integers is the exact rational one, rounded once. Floating point decides it wherever its error
bound allows; what it cannot decide is computed again (`plans.exact`). Used by `plans.resample`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from .. import _core
from ..filter_taps import FilterTable, Table

INTEGER_RULES: Final = {"half_up": 0, "half_even": 1, "truncate": 2}
FLOAT64_INTEGERS: Final = 1 << 50  # 64-bit values up to here are computed with in float64

_TRUNCATE_DOWN, _TRUNCATE_UP = 3, 4
_UNIT: Final = {"float32": 2.0**-24, "float64": 2.0**-53}
_FEW: Final = 2.0**-6  # results in doubt: what looking twice at them costs less than float64 for all
_LARGEST_WORD: Final = (1 << 15) - 1  # weights are multiplied as signed 16-bit integers
_RARE_TIES: Final = 3000  # from this grid on, so few results are exact ties that these can go to integers


class Arithmetic(NamedTuple):
    """What values are computed with."""

    working: str  # "float32", "float64", "uint16" or "uint32"
    rounding: _core.Rounding
    bound: float = 0.0  # results within it of a decision are in doubt; 0: none are
    fine_bound: float = 0.0  # the same after a second look, in float64; 0: there is none
    ties: bool = False  # what is in doubt after that is at the decision exactly


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether float32 is the first choice to compute with."""
    if dtype.kind in "iu":
        return dtype.itemsize <= 2
    return dtype.name in ("float16", "bfloat16", "float32", "complex64")


def grid(tables: Sequence[Table]) -> int | None:
    """Bound of the denominators of exact results on integers; None where it is not known."""
    product = 1
    for table in tables:
        if table.largest_denominator is None:
            return None
        product *= table.largest_denominator
    return product


def overshoot(tables: Sequence[Table]) -> float:
    """How far results can lie outside the range of the values, as a part of its width."""
    return (math.prod(table.gain for table in tables) - 1) / 2


def of_integers(
    dtype: np.dtype[Any], rule: str, tables: Sequence[Table], magnitude: int, base: int = 0
) -> Arithmetic:
    """Arithmetic for integers that differ from each other, and from `base`, by less than `magnitude`.

    `tables` are in the order of application.
    """
    steps = grid(tables)
    number = INTEGER_RULES[rule]
    filtered = any(isinstance(table, FilterTable) for table in tables)
    if dtype == np.uint8 and not filtered and steps is not None and 1 < steps <= 256:
        return Arithmetic("uint16", _core.Rounding(number, **_division(steps, rule)))
    if dtype.itemsize <= 2 and not filtered and steps is not None and steps > 1:
        words = _of_words(dtype, rule, steps, tables)
        if words:
            return words
    if base and rule == "truncate":
        number = _TRUNCATE_DOWN if base > 0 else _TRUNCATE_UP
    error = math.inf
    for working in ("float32", "float64") if dtype.itemsize <= 2 else ("float64",):
        error = _error(_UNIT[working], tables, magnitude)
        if steps is not None and error < math.inf and Fraction(error) * 4 * steps < 1:
            half_step = float(Fraction(1, 4 * steps))
            return Arithmetic(working, _core.Rounding(number, half_step, base % 2**64))
        rare = steps is None or steps >= _RARE_TIES
        if working == "float32" and filtered and rare and error <= _FEW:
            fine = _fine_error(tables, magnitude)
            ties = steps is not None and Fraction(fine) * 4 * steps < 1
            return Arithmetic(working, _core.Rounding(number), error, fine, ties)
    return Arithmetic("float64", _core.Rounding(number, 0.0, base % 2**64), error)


def _error(unit: float, tables: Sequence[Table], magnitude: int) -> float:
    """Bound of the error of results in floats of the given unit roundoff u, before they are rounded.

    Values are at most M in magnitude and differ by at most D. Linear adds at most u (3 D + M): the rounded
    weight, a difference and a product of at most D each, and a sum. A filter of K taps, whose weights without
    that of the base tap have magnitudes that add up to s, adds u (K + 1) s D for weights, differences,
    products and the K - 2 sums of these, and u M for the last sum; or, where products are added without a
    base tap, in two sums (in eight of more than four taps), at most u (K / 2 + 3) g M. Sums by ramps
    (csrc/ramps.hpp) of L samples each, in two lanes, add u (L / 2 + 5) h M for L / 2 additions or fused ones,
    the weight, four products and the sum of the lanes, h being the sum of the magnitudes of all products of
    weights with sums and with places; they are used where that is at most u ((K + 1) s + 1) M. Earlier errors
    grow by its gain g, the sum of all magnitudes; so does D. Adding one half before the floor adds u (M + 2).
    """
    error, largest, difference = 0.0, float(magnitude), float(magnitude)
    slack = 1.0
    for table in tables:
        if isinstance(table, FilterTable):
            taps = table.widest
            largest += (table.gain - 1) / 2 * difference
            based = (taps + 1) * table.spread * difference + largest
            error = table.gain * error + unit * max(based, (taps / 2 + 3) * table.gain * largest)
            difference *= table.gain
            slack += 2 * (taps + 4) * unit  # terms of second order
        else:
            error += unit * (3 * difference + largest)
    error = (error + unit * 4 * largest) * slack
    return error if slack < 1.25 and math.isfinite(error) else math.inf


def _fine_error(tables: Sequence[Table], magnitude: int) -> float:
    """Bound of the error of sums in float64 over all combinations of taps: products of weights and values."""
    terms, gain = 1, 1.0
    for table in tables:
        terms *= table.widest
        gain *= table.gain
    return _UNIT["float64"] * (terms + 2 * len(tables) + 6) * gain * max(magnitude, 1) * 1.25


def _division(divisor: int, integer_rule: str) -> dict[str, int]:
    """Division of sums up to 255 * divisor by `divisor`, 2 to 256: a 16-bit multiplication and a shift.

    With k = 16 + shift and d the divisor, ``n // d == n * m >> k`` for all n up to N if m is 2**k / d
    rounded up and (m d - 2**k) N < 2**k; and ``n // d == (n + 1) * m >> k`` if m is rounded down and (2**k -
    m d) (N + 1) <= 2**k. For the divisors here one of the two always holds. Source: A. D. Robison, N-bit
    unsigned division via N-bit multiply-add, 2005.
    """
    half = 0 if integer_rule == "truncate" else divisor // 2
    largest = 255 * divisor + half
    shift = (divisor - 1).bit_length() - 1
    power = 1 << 16 + shift
    up = -(-power // divisor)
    if up < 1 << 16 and (up * divisor - power) * largest < power:
        add, multiplier = half, up
    else:
        add, multiplier = half + 1, power // divisor
    return {"divisor": divisor, "add": add, "multiplier": multiplier, "shift": shift}


def _of_words(
    dtype: np.dtype[Any], integer_rule: str, divisor: int, tables: Sequence[Table]
) -> Arithmetic | None:
    """Arithmetic in 32-bit integers for a grid of `divisor`, more than 1.

    Where sums leave 32 bits, the last of two passes is made in float64 (csrc/simd/words.hpp states its
    error). None for axes whose weights do not fit in 16 bits, and for more than two of them with such sums.
    """
    if max(table.largest_denominator or 0 for table in tables) > _LARGEST_WORD:
        return None
    number = INTEGER_RULES[integer_rule]
    division = _long_division(dtype, divisor, integer_rule)
    if division:
        return Arithmetic("uint32", _core.Rounding(number, **division))
    if len(tables) == 2:
        return Arithmetic("uint32", _core.Rounding(number, float(Fraction(1, 4 * divisor)), divisor=divisor))
    return None


def _long_division(dtype: np.dtype[Any], divisor: int, integer_rule: str) -> dict[str, int] | None:
    """Division of sums of weights that add up to `divisor`: a 32-bit multiplication and a shift.

    As in `_division`, with k = 32 + shift and the first of its ways alone: m d - 2**k < d <= 2**(shift + 1),
    so that the condition holds for 16-bit values while d <= 2**15, for 8-bit ones while d <= 2**23, and for
    some larger ones. None where it does not, or where sums leave 32 bits.
    """
    limits = np.iinfo(dtype)
    half = 0 if integer_rule == "truncate" else divisor // 2
    largest = (int(limits.max) - int(limits.min)) * divisor + half
    shift = (divisor - 1).bit_length() - 1
    power = 1 << 32 + shift
    up = -(-power // divisor)
    if largest >= 1 << 32 or (up * divisor - power) * largest >= power:
        return None
    words = dtype.itemsize == 2  # in any byte order
    lowest = -(1 << 15) if words else int(limits.min)  # of the values as the core takes them
    return {"divisor": divisor, "add": half - lowest * divisor, "multiplier": up, "shift": shift}
