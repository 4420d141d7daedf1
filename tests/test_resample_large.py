"""Results that go past the caches: lines of memory that two rows share, rows made again, rows apart."""

import numpy as np
import pytest

import remapnd
from remapnd import ResamplePlan, _core

LEVELS = _core.levels_usable()
BYTES = 8 << 20  # from here results go past the caches
# Resampled axes before and after, the innermost last; planes as many as make the result large.
LINEAR = [
    ((9, 20), (18, 40)),  # sheets of short rows
    ((9, 33), (18, 33)),  # a vertical pass alone
    ((40,), (77,)),  # a horizontal one alone
    ((30, 64), (60, 128)),
    ((11, 101), (25, 331)),
    ((10, 257), (13, 386)),
    ((5, 3), (9, 17)),  # rows of less than two lines
    ((6, 3000), (7, 9001)),  # more than one segment a row
]
# Four taps along an axis, and more.
CUBIC = [((9, 20), (18, 40)), ((11, 101), (25, 331)), ((5, 6), (9, 17)), ((30, 64), (20, 128))]
SIZES = [*((*sizes, "linear") for sizes in LINEAR), *((*sizes, "cubic") for sizes in CUBIC)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("special", [None, np.nan, np.inf, 3e38])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", SIZES)
def test_large_results_have_the_bits_of_small_ones(sizes, dtype, special, level):
    before, after, mode = sizes
    planes = BYTES // (np.dtype(dtype).itemsize * int(np.prod(after))) + 1
    shape = (planes, *before)
    rng = np.random.default_rng(1)
    data = rng.uniform(-1, 1, shape).astype(dtype)
    if special is not None:
        data.ravel()[rng.integers(0, data.size, 40)] = special
    axes = tuple(range(1, len(shape)))
    options = {"mode": mode, "antialias": "pillow" if mode == "cubic" else None}
    plan = ResamplePlan.resized(shape, dtype, after, axes=axes, **options)
    part = ResamplePlan.resized((1, *before), dtype, after, axes=axes, **options)
    expected = np.concatenate([part(data[i : i + 1]) for i in range(planes)])
    _core.use_level(level)
    item = np.dtype(dtype).itemsize
    memory = np.zeros(expected.size + 2 * 64 // item, dtype)
    start = -(memory.ctypes.data // item) % (64 // item)  # of a line
    for offset in (0, 1, 4, 64 // item - 1):
        for threads in (1, 3):
            remapnd.set_num_threads(threads)
            memory[:] = 7
            out = memory[start + offset :][: expected.size].reshape(expected.shape)
            plan(data, out=out)
            np.testing.assert_array_equal(out.view(f"u{item}"), expected.view(f"u{item}"))
            assert (memory[: start + offset] == 7).all()
            assert (memory[start + offset + expected.size :] == 7).all()
    apart = np.zeros((*expected.shape[:-1], expected.shape[-1] + 1), dtype)
    plan(data, out=apart[..., :-1])
    np.testing.assert_array_equal(apart[..., :-1].view(f"u{item}"), expected.view(f"u{item}"))
    assert (apart[..., -1] == 0).all()


@pytest.mark.parametrize("level", LEVELS)
def test_results_anywhere_in_a_page(level):
    """Rows a page apart from each other, of sums of rows that lie at about the same places in their pages."""
    data = np.random.default_rng(2).uniform(-1, 1, (130, 512)).astype(np.float32)
    data[40, 100] = np.inf
    data = np.broadcast_to(data, (9, 130, 512))
    plan = ResamplePlan.resized(data.shape, data.dtype, (260, 1024), axes=(1, 2), mode="cubic")
    part = ResamplePlan.resized((1, 130, 512), data.dtype, (260, 1024), axes=(1, 2), mode="cubic")
    expected = np.broadcast_to(part(data[:1]), plan.output_shape).view(np.uint32)
    _core.use_level(level)
    memory = np.zeros(expected.size + 2048, np.float32)
    start = -(memory.ctypes.data // 4) % 1024
    for offset in range(0, 1024, 44):
        out = memory[start + offset :][: expected.size].reshape(expected.shape)
        plan(data, out=out)
        np.testing.assert_array_equal(out.view(np.uint32), expected, f"{offset}")
