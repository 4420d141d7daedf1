"""Arrays for the tests: dtypes, memory layouts, hypothesis strategies, and comparison bit by bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from remapnd.plans.resample_options import MODES_OF

# Every kind of dtype whose items are moved as bytes, of every size with a loop of its own and some without.
MOVABLE_DTYPES = [
    np.dtype(d)
    for d in (
        "?",
        "i1",
        "u1",
        "i2",
        "u2",
        "i4",
        "u4",
        "i8",
        "u8",
        "f2",
        "f4",
        "f8",
        "g",
        "c8",
        "c16",
        "M8[ns]",
        "m8[s]",
        "S1",
        "S3",
        "S5",
        "U2",
        "V7",
        "V33",
        "V100",
        ml_dtypes.bfloat16,
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e5m2,
        [("a", "<i2"), ("b", ">f4")],
        [("rgb", "u1", (3,))],
        ">i2",
        ">f4",
        ">c16",
    )
]
INDEX_DTYPES = [np.dtype(d) for d in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]

# Layouts in memory that `laid_out` makes.
LAYOUTS = (
    *(
        "C",
        "F",
        "negative",
        "strided",
        "mixed",
        "zero_stride",
        "zero_inner",
        "read_only",
        "unaligned",
        "swapped",
    ),
)
# Those that leave every value and the dtype as they are, and those of them that can be written.
SAME_VALUES = tuple(layout for layout in LAYOUTS if layout not in ("zero_stride", "zero_inner", "swapped"))
WRITABLE = tuple(layout for layout in SAME_VALUES if layout != "read_only")


def random_array(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int = 0) -> np.ndarray:
    """Return an array of random bits: floats with signalling NaNs, dates with NaT, and so on."""
    rng = np.random.default_rng(seed)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.type is np.longdouble:  # has padding, which NumPy does not always copy: leave it zero
        a = np.zeros(shape, dtype)
        a[...] = rng.standard_normal(shape)
        return a
    if dtype.kind == "U":
        return rng.integers(1, 0xD7FF, (count, dtype.itemsize // 4)).astype("<u4").view(dtype).reshape(shape)
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).reshape(shape).copy()


def laid_out(a: np.ndarray, layout: str) -> np.ndarray:
    """Return an array with the values of `a` (but see zero_...) in another memory layout or byte order."""
    if a.ndim == 0 and layout not in ("read_only", "unaligned", "swapped"):
        return np.array(a)
    if layout == "F":
        return np.asfortranarray(a)
    if layout == "negative":
        turned = (slice(None, None, -1),) * a.ndim
        return np.ascontiguousarray(a[turned])[turned]
    if layout == "strided":
        wide = np.zeros(tuple(2 * n + 1 for n in a.shape), a.dtype)
        part = wide[tuple(slice(1, 2 * n + 1, 2) for n in a.shape)]
        part[...] = a
        return part
    if layout == "mixed":  # axes in another order in memory, each walked in its own way
        steps = [(1, -1, 2, -2)[(d + a.ndim) % 4] for d in range(a.ndim)]
        order = [*range(1, a.ndim), 0]
        memory = np.zeros([a.shape[d] * abs(steps[d]) for d in order], a.dtype)
        part = memory.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]
        part[...] = a
        return part
    if layout == "zero_inner":  # of the values, only those at 0 on the last axis are left
        return np.broadcast_to(a[..., :1], a.shape) if a.shape[-1] else a
    if layout == "zero_stride":  # of the values, only those at 0 on the first axis are left
        return np.broadcast_to(a[:1], a.shape) if a.shape[0] else a
    if layout == "read_only":
        a = a.copy()
        a.flags.writeable = False
        return a
    if layout == "unaligned":
        memory = np.zeros(a.nbytes + 1, np.uint8)
        moved = memory[1:].view(a.dtype).reshape(a.shape) if a.nbytes else a
        moved[...] = a
        return moved
    if layout == "swapped":
        return a.astype(a.dtype.newbyteorder()) if a.dtype.kind in "iufcmM" else a
    return np.ascontiguousarray(a)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have one dtype (with byte order), one shape and the same bytes."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def result_arrays(shape: tuple[int, ...], dtype: np.dtype[Any], layout: str) -> np.ndarray:
    """Return an array for `out=` in a layout in which it can be written."""
    a = laid_out(np.zeros(shape, dtype), layout)
    return a if a.flags.writeable and a.dtype == dtype else np.zeros(shape, dtype)


shapes = st.lists(st.integers(0, 5), min_size=1, max_size=5).map(tuple)
filled_shapes = st.lists(st.integers(1, 5), min_size=1, max_size=5).map(tuple)
layouts = st.sampled_from(LAYOUTS)
movable_dtypes = st.sampled_from(MOVABLE_DTYPES)
index_dtypes = st.sampled_from(INDEX_DTYPES)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def index_arrays(draw, shape: tuple[int, ...], sizes: tuple[int, ...], outside: bool) -> np.ndarray:
    """Draw indices into axes of these sizes: one size, or one for each component along the last axis.

    With `outside` some are beyond them, up to the limits of the dtype.
    """
    dtype = draw(index_dtypes)
    rng = np.random.default_rng(draw(seeds))
    n = np.array(sizes)
    low, high = (-n if dtype.kind == "i" else 0 * n), np.maximum(n, 1)
    values = rng.integers(low, high, shape).astype(dtype)
    if outside:
        limits, small, large = np.iinfo(dtype), min(sizes, default=0), max(sizes, default=0)
        edges = (small, large, -small - 1, -large - 1, 2 * large + 1, -3 * large - 2, limits.min, limits.max)
        wild = np.array([v for v in edges if limits.min <= v <= limits.max], dtype)
        values = np.where(rng.random(shape) < 0.3, rng.choice(wild, shape), values).astype(dtype)
    return laid_out(np.asarray(values), draw(layouts))


def belonging(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a resampling without those that its mode does not have."""
    mode = options["mode"]
    return {name: value for name, value in options.items() if mode in MODES_OF.get(name, (mode,))}


def filling(bounds: str, value: int) -> dict[str, Any]:
    """Return the options of a policy: the value belongs to "fill" alone."""
    return {"bounds": bounds} | ({"fill_value": value} if bounds == "fill" else {})


def sparse_view(value: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array of any size over the memory of one item."""
    return as_strided(value, shape, (0,) * len(shape), writeable=False)
