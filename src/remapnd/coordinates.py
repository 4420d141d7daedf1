"""Exact source positions: which input coordinate each output sample reads.

Every coordinate mode is an affine map ``x(X) = start + X * step`` with rational start and step. Nothing here
is rounded: floors and fractions of a whole axis are found by integer arithmetic. Used by `taps`.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, SupportsFloat, SupportsInt, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from .errors import shown

COORDINATE_MODES: Final = (
    "half_pixel",
    "align_corners",
    "asymmetric",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
)
CROP: Final = "tf_crop_and_resize"  # the one mode that a region of interest belongs to

Number: TypeAlias = "SupportsInt | SupportsFloat | Fraction"
Int64Array: TypeAlias = NDArray[np.int64]

HALF: Final = Fraction(1, 2)
LIMB_BITS: Final = 62  # two limbs and a carry still add up within int64
LIMB_MASK: Final = (1 << LIMB_BITS) - 1


@dataclass(frozen=True)
class AxisMap:
    """The exact affine map from output samples to input positions along one axis.

    Attributes
    ----------
    start : Fraction
        Position of output sample 0, in input samples (sample centres are the integers).
    step : Fraction
        Distance between the positions of neighbouring output samples; may be zero or negative.
    """

    start: Fraction
    step: Fraction

    def __repr__(self) -> str:
        return f"AxisMap(start={shown(self.start, repr)}, step={shown(self.step, repr)})"

    def at(self, output: int) -> Fraction:
        """Exact position that output sample `output` reads."""
        return self.start + output * self.step

    def positions(self, m: int) -> list[Fraction]:
        """Exact positions of the output samples 0 to m - 1."""
        return [self.at(output) for output in range(m)]

    def integers(self) -> tuple[int, int, int]:
        """Return (a, b, d) with x(X) = (a * X + b) / d and d > 0, integers in lowest common terms."""
        return self._integers

    def shifted(self, by: Fraction) -> AxisMap:
        """Return the map X -> x(X) + by."""
        return AxisMap(self.start + by, self.step)

    def mirrored(self, n: int) -> AxisMap:
        """Return the map X -> n - 1 - x(X): the same positions counted from the last of n input samples."""
        return AxisMap(n - 1 - self.start, -self.step)

    def reversed(self, m: int) -> AxisMap:
        """Return the map X -> x(m - 1 - X): the same positions for m output samples in opposite order."""
        return AxisMap(self.at(m - 1), -self.step)

    def span(self, low: int, high: int, m: int) -> tuple[int, int]:
        """Find the output samples whose positions lie in [low, high).

        Returns
        -------
        (begin, end)
            ``0 <= begin <= end <= m``; the samples before `begin` read below `low`, those from `end` on at
            `high` or above.

        Raises
        ------
        ValueError
            `step` is negative: positions then fall, and the samples before are those above.
        """
        if self.step < 0:
            raise ValueError(f"AxisMap.span: `step` must be at least 0, got {self.step}")
        if self.step == 0:
            return (m if self.start < low else 0), (m if self.start < high else 0)
        a, b, d = self._integers
        begin, end = -((b - low * d) // a), -((b - high * d) // a)
        return min(max(begin, 0), m), min(max(end, 0), m)

    def inside(self, n: int, m: int) -> tuple[int, int]:
        """Find the output samples whose positions lie in [0, n - 1]: begin and end of their run."""
        rising = self if self.step >= 0 else self.reversed(m)
        begin = rising.span(0, n, m)[0]
        end = max(m - rising.mirrored(n).reversed(m).span(0, n, m)[0], begin)
        return (begin, end) if rising is self else (m - end, m - begin)

    @cached_property
    def _integers(self) -> tuple[int, int, int]:
        """Lowest terms: both fractions are, and d is their least common denominator."""
        start, step = self.start, self.step
        d = math.lcm(start.denominator, step.denominator)
        return step.numerator * (d // step.denominator), start.numerator * (d // start.denominator), d


def as_fraction(value: Number, *, op: str = "as_fraction", parameter: str = "value") -> Fraction:
    """Convert a real number to the Fraction that equals it exactly.

    Parameters
    ----------
    value : int, float, Fraction, Decimal, or a NumPy (or ml_dtypes) real scalar
        A float stands for its exact binary value: ``0.1`` is 3602879701896397 / 36028797018963968.
    op, parameter : str
        Names used in error messages.

    Raises
    ------
    TypeError
        `value` is not a real number (a bool, a string and an array are none).
    ValueError
        `value` is NaN or infinite.
    """
    if not isinstance(value, (bool, np.bool_)):
        if isinstance(value, numbers.Rational):
            # Also a Fraction may hold NumPy integers, which overflow.
            return Fraction(int(value.numerator), int(value.denominator))
        ratio = cast("Callable[[], tuple[int, int]] | None", getattr(value, "as_integer_ratio", None))
        if ratio is None and isinstance(value, np.generic) and value.dtype.name == "bfloat16":
            ratio = float(value).as_integer_ratio
        if ratio is not None:
            try:
                return Fraction(*ratio())
            except (ValueError, OverflowError):
                raise ValueError(f"{op}: `{parameter}` must be finite, got {shown(value)}") from None
    kind = type(value).__name__
    raise TypeError(f"{op}: `{parameter}` must be a real number, got {shown(value, repr)} of type {kind}")


def axis_map(scale: Number, input_offset: Number = HALF, output_offset: Number = -HALF) -> AxisMap:
    """Map with ``x = (X - output_offset) / scale - input_offset``, exactly.

    Parameters
    ----------
    scale : int, float or Fraction, > 0
        Output samples per input sample. Need not equal output length / input length.
    input_offset, output_offset : int, float or Fraction
        Subtracted from the two coordinates; the defaults put sample centres at half pixels.

    Raises
    ------
    TypeError, ValueError
        An argument is not a real number; is not finite, or `scale` is not positive.

    Notes
    -----
    Source: DML_RESAMPLE1_OPERATOR_DESC, ``X = (x + InputPixelOffset) * Scale + OutputPixelOffset`` solved
    for x.
    """
    s = as_fraction(scale, op="axis_map", parameter="scale")
    if s <= 0:
        raise ValueError(f"axis_map: `scale` must be > 0, got {shown(scale)}")
    step = 1 / s
    before = as_fraction(input_offset, op="axis_map", parameter="input_offset")
    after = as_fraction(output_offset, op="axis_map", parameter="output_offset")
    return AxisMap(-after * step - before, step)


def coordinate_map(
    mode: str,
    n_in: int,
    n_out: int,
    scale: Number | None = None,
    roi: tuple[Number, Number] = (0, 1),
) -> AxisMap:
    """Map of an ONNX ``coordinate_transformation_mode`` for one axis.

    Parameters
    ----------
    mode : one of `COORDINATE_MODES`, or `CROP`
    n_in, n_out : int, >= 0
        Lengths of the axis before and after.
    scale : int, float or Fraction, > 0, optional
        Output samples per input sample; ``Fraction(n_out, n_in)`` when None. "align_corners" and
        "tf_crop_and_resize" do not use it.
    roi : (start, end), int, float or Fraction
        Positions of the first and last output sample under "tf_crop_and_resize", in units of n - 1.

    Raises
    ------
    TypeError, ValueError
        `scale` or `roi` is not a real number; is not finite, `scale` is not positive; `mode` is unknown, or a
        length is negative.

    Notes
    -----
    Source: ONNX Resize-19. With s the scale, n and m the lengths, x is

    =====================  ==========================================
    half_pixel             (X + 1/2) / s - 1/2
    align_corners          X * (n - 1) / (m - 1); 0 if m = 1
    asymmetric             X / s
    half_pixel_symmetric   n/2 * (1 - m / (s * n)) + (X + 1/2) / s - 1/2
    pytorch_half_pixel     as half_pixel if m > 1, else 0
    tf_half_pixel_for_nn   (X + 1/2) / s
    tf_crop_and_resize     (start + X * (end - start) / (m - 1)) * (n - 1); (start + end) / 2 * (n - 1)
                           if m = 1
    =====================  ==========================================
    """
    if mode not in (*COORDINATE_MODES, CROP):
        modes = ", ".join((*COORDINATE_MODES, CROP))
        raise ValueError(f"coordinate_map: `mode` must be one of {modes}, got {mode!r}")
    n_in, n_out = operator.index(n_in), operator.index(n_out)
    for name, length in (("n_in", n_in), ("n_out", n_out)):
        if length < 0:
            raise ValueError(f"coordinate_map: `{name}` must be at least 0, got {length}")
    if scale is None:
        s = Fraction(n_out, n_in) if n_in and n_out else Fraction(1)
    else:
        s = as_fraction(scale, op="coordinate_map", parameter="scale")
        if s <= 0:
            raise ValueError(f"coordinate_map: `scale` must be > 0, got {shown(scale)}")
    if mode == "align_corners":
        return AxisMap(Fraction(0), Fraction(n_in - 1, n_out - 1) if n_out > 1 else Fraction(0))
    if mode == CROP:
        start, end = (as_fraction(v, op="coordinate_map", parameter="roi") * (n_in - 1) for v in roi)
        if n_out > 1:
            return AxisMap(start, (end - start) / (n_out - 1))
        return AxisMap((start + end) / 2, Fraction(0))
    if mode == "pytorch_half_pixel" and n_out <= 1:
        return AxisMap(Fraction(0), Fraction(0))
    if mode == "asymmetric":
        return axis_map(s, 0, 0)
    if mode == "tf_half_pixel_for_nn":
        return axis_map(s, 0, -HALF)
    if mode == "half_pixel_symmetric":
        return axis_map(s, HALF - (n_in - n_out / s) / 2, -HALF)
    return axis_map(s)


# The functions below treat the output samples begin .. end - 1. A position is the sum of a row term (every
# L-th position) and a column term (a multiple below L of the step). So about 2 * sqrt(count) divisions of
# Python integers and one vectorised addition with carry give all of them exactly, however long the integers
# of the map are. Callers choose begin and end such that positions are indices of an array: then floors fit in
# int64.


def exact_remainders(map: AxisMap, begin: int, end: int) -> tuple[Int64Array, Int64Array]:
    """Floors of the positions, and numerators of their fractions over d of `map.integers()`; d <= 2**62."""
    d = map.integers()[2]
    rows, columns = _row_and_column_terms(map, begin, end, lambda remainder: (remainder,))
    remainder = rows[1] + columns[1]
    carry = remainder >= d
    np.subtract(remainder, d, out=remainder, where=carry)
    floor = rows[0] + columns[0]
    floor += carry
    return floor.ravel()[: end - begin], remainder.ravel()[: end - begin]


def binary_fractions(map: AxisMap, begin: int, end: int) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Floors of the positions, and their fractions cut to 124 bits in two limbs, high and low; any d.

    Floors are exact. With ``u = high * 2**62 + low``, the exact fraction lies in ``[u, u + 2) / 2**124``;
    where `is_binary`, it is ``u / 2**124``.
    """
    a, b, d = map.integers()

    def limbs(remainder: int) -> tuple[int, int]:
        bits = (remainder << 2 * LIMB_BITS) // d
        return bits >> LIMB_BITS, bits & LIMB_MASK

    rows, columns = _row_and_column_terms(map, begin, end, limbs)
    low = rows[2] + columns[2]
    high = rows[1] + columns[1]
    high += low >> LIMB_BITS
    floor = rows[0] + columns[0]
    floor += high >> LIMB_BITS
    low &= LIMB_MASK
    high &= LIMB_MASK
    floor, high, low = (part.ravel()[: end - begin] for part in (floor, high, low))
    if not is_binary(map):
        # What was cut off may still carry into the floor: decided one by one.
        for k in np.flatnonzero((high == LIMB_MASK) & (low >= LIMB_MASK - 1)).tolist():
            floor[k], remainder = divmod(a * (begin + k) + b, d)
            high[k], low[k] = limbs(remainder)
    return floor, high, low


def is_binary(map: AxisMap) -> bool:
    """Whether 124 bits hold the fraction of every position exactly."""
    return (1 << 2 * LIMB_BITS) % map.integers()[2] == 0


def floors(map: AxisMap, begin: int, end: int) -> Int64Array:
    """Exact floors of the positions, which must lie within +-2**61; shape (end - begin,)."""
    if map.integers()[2] <= 1 << LIMB_BITS:
        return exact_remainders(map, begin, end)[0]
    return binary_fractions(map, begin, end)[0]


def _row_and_column_terms(
    map: AxisMap, begin: int, end: int, parts: Callable[[int], Sequence[int]]
) -> tuple[Int64Array, Int64Array]:
    """Floor, `parts` of the remainder: of row terms, shape (k, rows, 1); of column terms, (k, 1, columns)."""
    a, b, d = map.integers()
    count = end - begin
    length = 1 << (count.bit_length() + 1) // 2
    width = 1 + len(parts(0))

    def terms(numerators: Iterable[int]) -> Int64Array:
        divided = (divmod(numerator, d) for numerator in numerators)
        table = [[floor, *parts(remainder)] for floor, remainder in divided]
        return np.array(table, np.int64).reshape(-1, width).T

    rows = terms(a * output + b for output in range(begin, end, length))
    columns = terms(a * output for output in range(min(length, count)))
    return rows[:, :, None], columns[:, None, :]
