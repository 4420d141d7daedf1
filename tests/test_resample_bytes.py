"""uint8 whose grid is coarse, made in bytes and 16-bit integers: every way of the kernels has the exact integers."""

import numpy as np
import pytest

from remapnd import ResamplePlan, _core, reference

LEVELS = _core.levels_usable()
# Height and width before and after: where rows are apart both passes go at once, else one after the other; groups of 8
# outputs read one, two or four windows of 16 bytes, and are left over in every number.
SIZES = [
    ((8, 64), (4, 32)),
    ((9, 61), (6, 41)),
    ((12, 200), (4, 50)),
    ((6, 48), (12, 96)),
    ((12, 96), (9, 128)),
    ((15, 7), (10, 7)),
    ((4, 300), (2, 300)),
]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rule", ["half_up", "half_even", "truncate"])
@pytest.mark.parametrize("channels", [1, 3, 4, 5])
@pytest.mark.parametrize(("before", "after"), SIZES)
def test_bytes_have_the_exact_integers(before, after, channels, rule, level):
    rng = np.random.default_rng(channels)
    plan = ResamplePlan.resized((*before, channels), np.uint8, after, axes=(0, 1), integer_rule=rule)
    data = rng.integers(0, 256, (*before, channels), np.uint8)
    expected = reference.resample(data, plan.maps, after, (0, 1), integer_rule=rule)
    strided = np.empty((before[0], 2 * before[1], channels), np.uint8)[:, ::2]
    strided[...] = data
    _core.use_level(level)
    for source in (data, strided, data[::-1].copy()[::-1]):
        np.testing.assert_array_equal(plan(source), expected)
        apart = np.empty((after[0], after[1], channels + 1), np.uint8)
        np.testing.assert_array_equal(plan(source, out=apart[..., :channels]), expected)
