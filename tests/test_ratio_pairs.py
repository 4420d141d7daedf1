"""All pairs of lengths 1 to 69: every nearest index and every linear weight, in every coordinate mode."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from remapnd.coordinates import COORDINATE_MODES, coordinate_map
from remapnd.taps import NEAREST_RULES, linear_table, nearest_table

LENGTHS = range(1, 70)


def position(mode, output, n, m):
    """Numerator (of all `output`) and denominator of the source position, for the scale m / n."""
    if mode in ("half_pixel", "half_pixel_symmetric") or (mode == "pytorch_half_pixel" and m > 1):
        return (2 * output + 1) * n - m, 2 * m
    if mode == "pytorch_half_pixel" or (mode == "align_corners" and m == 1):
        return 0 * output, 1
    if mode == "align_corners":
        return output * (n - 1), m - 1
    if mode == "asymmetric":
        return output * n, m
    assert mode == "tf_half_pixel_for_nn"
    return (2 * output + 1) * n, 2 * m


def nearest(rule, p, q):
    """The rule on p / q in integers."""
    if rule == "half_up":
        return (2 * p + q) // (2 * q)
    if rule == "half_down":
        return -((q - 2 * p) // (2 * q))
    return p // q if rule == "floor" else -(-p // q)


@pytest.mark.parametrize("mode", COORDINATE_MODES)
def test_all_pairs(mode):
    wrong = []
    for n in LENGTHS:
        for m in LENGTHS:
            map = coordinate_map(mode, n, m)
            p, q = position(mode, np.arange(m), n, m)
            for rule in NEAREST_RULES:
                index = nearest(rule, p, q).clip(0, n - 1)
                if not np.array_equal(nearest_table(map, n, m, rule), index):
                    wrong.append((n, m, rule))
            first, second = (p // q).clip(0, n - 1), (p // q + 1).clip(0, n - 1)
            numerator = np.where(first == second, 0, p % q)
            # Both fit in 24 bits, so that the division in either type rounds the exact quotient once.
            for dtype in (np.float32, np.float64):
                table = linear_table(map, n, m, dtype)
                weight = numerator.astype(dtype) / dtype(q)
                weight[numerator == 0] = -0.0
                if not (
                    np.array_equal(table.first, first)
                    and np.array_equal(table.second, np.where(numerator == 0, first, second))
                    and table.weight.tobytes() == weight.tobytes()
                    and np.array_equal(table.numerators() * q, numerator * table.denominator)
                ):
                    wrong.append((n, m, dtype.__name__))
    assert wrong == []


def test_integer_oracle_is_the_fraction():
    """The oracle above, itself, against Fraction: the tie rules and the half-pixel formula."""
    half = Fraction(1, 2)
    for n in LENGTHS[::4]:
        for m in LENGTHS[::4]:
            outputs = np.arange(m)
            p, q = position("half_pixel", outputs, n, m)
            exact = [(output + half) / Fraction(m, n) - half for output in range(m)]
            assert [Fraction(int(v), q) for v in p] == exact
            assert_array_equal(nearest("half_up", p, q), [(x + half).__floor__() for x in exact])
            assert_array_equal(nearest("half_down", p, q), [(x - half).__ceil__() for x in exact])
            assert_array_equal(nearest("floor", p, q), [x.__floor__() for x in exact])
            assert_array_equal(nearest("ceil", p, q), [x.__ceil__() for x in exact])
