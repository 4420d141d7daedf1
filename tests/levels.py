"""Results of plans at every level that this processor runs."""

import itertools

from numpy.testing import assert_array_equal

from remapnd import _core

LEVELS = _core.levels_usable()


def agreed(plan, data, threads=(1,)):
    """Return what the plain level makes of the data, having seen that all levels make the same."""
    _core.use_level("plain")
    expected = plan(data)
    for level, count in itertools.product(LEVELS, threads):
        _core.use_level(level)
        _core.set_num_threads(count)
        assert_array_equal(plan(data), expected, f"{level}, {count} threads")
    return expected
