"""Random layouts and parameters for the tests of DirectML's operators, and walks over their addresses.

The oracles of the tests walk flat lists by the addresses of the description and know nothing of views.
"""

import itertools
import math
from fractions import Fraction

from hypothesis import strategies as st

INDEX_TYPES = st.sampled_from(["INT64", "INT32", "UINT64", "UINT32"])


@st.composite
def layouts(draw, sizes, overlap):
    """Draw strides for `sizes`: packed, or a permutation with gaps, or (on inputs) broadcasts."""
    order = draw(st.permutations(range(len(sizes))))
    strides, extent = [0] * len(sizes), 1
    for d in order:
        gap = draw(st.integers(0, 2))
        strides[d] = extent + gap
        if overlap and draw(st.integers(0, 4)) == 0:
            strides[d] = 0
        extent += strides[d] * (sizes[d] - 1)
    return draw(st.sampled_from([None, tuple(strides)]))


def packed(sizes):
    return tuple(math.prod(sizes[d + 1 :]) for d in range(len(sizes)))


def address(at, desc):
    return sum(c * s for c, s in zip(at, desc.Strides or packed(desc.Sizes), strict=True))


def extent(desc):
    return address([n - 1 for n in desc.Sizes], desc) + 1


def normal(v, n):
    """Clamp after one wrap."""
    return min(max(v + n if v < 0 else v, 0), n - 1)


def check_output(desc, got, expected, memory, before):
    """Compare the elements with `expected` and all other memory with what it was."""
    kept = before.copy()
    for at in itertools.product(*map(range, desc.Sizes)):
        assert got[at] == expected[at]
        kept[address(at, desc)] = expected[at]
    assert memory.tobytes() == kept.tobytes()


@st.composite
def resample_cases(draw):
    rank = draw(st.integers(1, 3))
    small = st.lists(st.integers(1, 4), min_size=rank, max_size=rank)
    data, output = draw(small), draw(small)
    scale = st.one_of(
        st.sampled_from([1, 2, 0.5, 3, 1.5, 0.25, 1e20]), st.floats(0.125, 10, width=32), st.floats(0.1, 10)
    )
    offset = st.one_of(st.sampled_from([0.5, -0.5, 0, 0.25]), st.floats(-3, 3, width=32), st.floats(-3, 3))
    floats = [draw(st.lists(kind, min_size=rank, max_size=rank)) for kind in (scale, offset, offset)]
    return (tuple(data), draw(layouts(data, True))), (tuple(output), draw(layouts(output, False))), *floats


ROUND = {
    "truncate": math.trunc,
    "half_even": round,
    "half_up": lambda v: math.floor(v + Fraction(1, 2)),
}
