"""The table of the benchmark: what each case is, how it is made, and the problem that it is.

The problem has a call for each library, the least bytes to move, and the judge of results; so the table feeds
the test of agreement and the timings alike.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .gathers import Gather, GatherElements, GatherND
from .problems import Array, Problem
from .resizes import Resize
from .scatters import ScatterElements, ScatterND

__all__ = ["CASES", "SWEEPS", "Case", "sweep_cases"]


@dataclass(frozen=True)
class Case:
    """A row of the table.

    Attributes
    ----------
    name, what : the name, and the operator with dtypes and shapes
    family : "gather", "scatter", "resample", "small" or "sweep"
    make : makes the problem, with its lengths divided by an integer: 1 to time it, 8 to test it
    """

    name: str
    what: str
    family: str
    make: Callable[[int], Problem]


_SHORT = {"uint8": "u8", "uint16": "u16", "float16": "f16", "float32": "f32"}


def _random(dtype: str, shape: Sequence[int], seed: int = 0) -> Array:
    """Random numbers: integers of all values, floats in [0, 1)."""
    rng, kind = np.random.default_rng(seed), np.dtype(dtype)
    if kind.kind == "u":
        return rng.integers(0, np.iinfo(kind).max, shape, dtype=kind, endpoint=True)
    return rng.random(shape, dtype=np.float32).astype(kind, copy=False)


def _indices(low: int, high: int, shape: Sequence[int], dtype: Any = np.int64) -> Array:
    """Random indices in [low, high)."""
    return np.random.default_rng(1).integers(low, high, shape, dtype=dtype)


def _tuples(lengths: Sequence[int], count: int) -> Array:
    """Random index tuples for axes of these lengths."""
    rng = np.random.default_rng(1)
    return np.stack([rng.integers(0, n, count) for n in lengths], axis=-1)


def _divided(lengths: Sequence[int], divisor: int) -> tuple[int, ...]:
    """Shorter lengths, none of which is 0."""
    return tuple(max(1, n // divisor) for n in lengths)


# Gather and scatter.


def _gather_rows(dtype: str, rows: int, count: int, divisor: int) -> Problem:
    rows, count = _divided((rows, count), divisor)
    return Gather(_random(dtype, (rows, 128)), _indices(0, rows, (count,)))


def _gather_columns(divisor: int) -> Problem:
    (n,) = _divided((4000,), divisor)
    return Gather(_random("float32", (n, n)), _indices(0, n, (n,)), axis=1)


def _gather_items(items: int, count: int, divisor: int) -> Problem:
    items, count = _divided((items, count), divisor)
    return Gather(_random("float32", (items,)), _indices(0, items, (count,)))


def _table(dtype: str, index_dtype: str, rows: int, divisor: int) -> Problem:
    (rows,) = _divided((rows,), divisor)
    indices = _indices(-49, 49, (rows, 196), np.dtype(index_dtype))
    return GatherElements(_random(dtype, (rows, 49)), indices, axis=1)


def _elements(shape: tuple[int, ...], axis: int, divisor: int) -> Problem:
    shape = _divided(shape, divisor)
    return GatherElements(_random("float32", shape), _indices(0, shape[axis], shape), axis=axis)


def _tuples_into(shape: tuple[int, ...], indexed: int, count: int, divisor: int) -> Problem:
    shape, (count,) = (*_divided(shape[:-1], divisor), shape[-1]), _divided((count,), divisor)
    return GatherND(_random("float32", shape), _tuples(shape[:indexed], count))


def _batches(divisor: int) -> Problem:
    batches, rows, count = _divided((64, 1000, 500), divisor)
    data = _random("float32", (batches, rows, 32))
    return GatherND(data, _indices(0, rows, (batches, count, 1)), batch_dims=1)


def _scatter_rows(divisor: int) -> Problem:
    rows, count = _divided((100_000, 50_000), divisor)
    indices = np.random.default_rng(1).permutation(rows)[:count, None].astype(np.int64)
    data, updates = _random("float32", (rows, 128)), _random("float32", (count, 128), 2)
    return ScatterND(data, indices, updates, reduction="none")


def _scatter_sums(items: int, count: int, divisor: int) -> Problem:
    items, count = _divided((items, count), divisor)
    data, updates = _random("float32", (items,)), _random("float32", (count,), 2)
    return ScatterElements(data, _indices(0, items, (count,)), updates, reduction="add")


def _scatter_tuple_sums(divisor: int) -> Problem:
    n, count = _divided((512, 1_000_000), divisor)
    data, updates = _random("float32", (n, n)), _random("float32", (count,), 2)
    return ScatterND(data, _tuples((n, n), count), updates, reduction="add")


_MOVES = (
    *(
        Case(
            f"gather_rows_{_SHORT[dtype]}",
            f"gather {dtype} (100000, 128), int64 indices (200000,), axis 0",
            "gather",
            functools.partial(_gather_rows, dtype, 100_000, 200_000),
        )
        for dtype in ("float32", "float16", "uint8")
    ),
    Case(
        "gather_cols_f32",
        "gather float32 (4000, 4000), int64 indices (4000,), axis 1",
        "gather",
        _gather_columns,
    ),
    Case(
        "gather_items_f32",
        "gather float32 (16777216,), random int64 indices (4194304,)",
        "gather",
        functools.partial(_gather_items, 1 << 24, 1 << 22),
    ),
    *(
        Case(
            f"gather_elements_table_{_SHORT[dtype]}_{index_dtype.replace('int', 'i')}",
            f"gather_elements {dtype} (3136, 49), {index_dtype} indices (3136, 196) in [-49, 49), axis 1",
            "gather",
            functools.partial(_table, dtype, index_dtype, 3136),
        )
        for dtype, index_dtype in (
            ("float32", "int32"),
            ("float32", "int64"),
            ("uint16", "int32"),
            ("uint8", "int32"),
        )
    ),
    *(
        Case(
            f"gather_elements_axis{axis}_f32",
            f"gather_elements float32 {shape}, int64 indices of that shape, axis {axis}",
            "gather",
            functools.partial(_elements, shape, axis),
        )
        for axis, shape in enumerate([(4096, 1024), (1024, 4096)])
    ),
    Case(
        "gather_nd_points_f32",
        "gather_nd float32 (512, 512, 64), 1000000 int64 3-tuples",
        "gather",
        functools.partial(_tuples_into, (512, 512, 64), 3, 1_000_000),
    ),
    Case(
        "gather_nd_blocks_f32",
        "gather_nd float32 (256, 256, 64), 200000 int64 2-tuples",
        "gather",
        functools.partial(_tuples_into, (256, 256, 64), 2, 200_000),
    ),
    Case(
        "gather_nd_batch_f32",
        "gather_nd float32 (64, 1000, 32), int64 indices (64, 500, 1), batch_dims 1",
        "gather",
        _batches,
    ),
    Case(
        "scatter_nd_rows_f32",
        "scatter_nd float32 (100000, 128), 50000 different rows",
        "scatter",
        _scatter_rows,
    ),
    Case(
        "scatter_elements_add_f32",
        'scatter_elements float32 (100000,), 2000000 int64 indices with repeats, reduction "add"',
        "scatter",
        functools.partial(_scatter_sums, 100_000, 2_000_000),
    ),
    Case(
        "scatter_nd_add_f32",
        'scatter_nd float32 (512, 512), 1000000 int64 2-tuples with repeats, reduction "add"',
        "scatter",
        _scatter_tuple_sums,
    ),
)

# Resampling.


def _resize(
    divisor: int,
    *,
    mode: str,
    dtype: str,
    shape: tuple[int, ...],
    lengths: tuple[int, ...],
    axes: tuple[int, ...],
) -> Problem:
    shorter = [max(1, n // divisor) if axis in axes else n for axis, n in enumerate(shape)]
    return Resize(_random(dtype, shorter), _divided(lengths, divisor), axes=axes, mode=mode)


def _resize_case(
    kind: str,
    dtype: str,
    shape: tuple[int, ...],
    lengths: tuple[int, ...],
    axes: tuple[int, ...] = (0, 1),
) -> Case:
    """Name a case after mode and layout, the `kind`, dtype, and the lengths of its first resized axis."""
    mode, layout = kind.split()
    result = list(shape)
    for axis, length in zip(axes, lengths, strict=True):
        result[axis] = length
    return Case(
        f"{mode}_{_SHORT[dtype]}_{layout}_{shape[axes[0]]}_{lengths[0]}",
        f"resize {dtype} {shape} to {tuple(result)}, {mode}",
        "resample",
        functools.partial(_resize, mode=mode, dtype=dtype, shape=shape, lengths=lengths, axes=axes),
    )


_VOLUME, _LARGER = (128, 256, 256), (192, 384, 384)

_RESIZES = (
    *(
        _resize_case("linear hwc", dtype, (*before, 3), after)
        for dtype in ("uint8", "float32")
        for before, after in (
            ((1080, 1920), (720, 1280)),
            ((1080, 1920), (540, 960)),
            ((540, 960), (1080, 1920)),
            ((480, 640), (224, 224)),
            ((2160, 3840), (224, 224)),
        )
    ),
    _resize_case("linear gray", "uint8", (1080, 1920), (720, 1280)),
    _resize_case("linear rgba", "uint8", (1080, 1920, 4), (720, 1280)),
    _resize_case("linear gray", "uint16", (2048, 2048), (1024, 1024)),
    _resize_case("linear gray", "uint16", (2048, 2048), (1536, 1536)),
    _resize_case("linear nchw", "float32", (8, 3, 224, 224), (448, 448), (2, 3)),
    _resize_case("linear nchw", "float32", (1, 256, 64, 64), (128, 128), (2, 3)),
    _resize_case("linear nchw", "float16", (1, 256, 64, 64), (128, 128), (2, 3)),
    _resize_case("linear volume", "float32", _VOLUME, _LARGER, (0, 1, 2)),
    _resize_case("linear volume", "uint8", _VOLUME, _LARGER, (0, 1, 2)),
    _resize_case("linear dhwc5", "uint8", (16, 128, 160, 5), (32, 192, 240), (0, 1, 2)),
    _resize_case("linear 4d", "float32", (16, 24, 24, 24), (24, 36, 36, 36), (0, 1, 2, 3)),
    _resize_case("nearest nchw", "float32", (1, 256, 64, 64), (128, 128), (2, 3)),
    _resize_case("nearest volume", "uint16", _VOLUME, _LARGER, (0, 1, 2)),
    _resize_case("nearest hwc", "uint8", (1080, 1920, 3), (720, 1280)),
)

# Arrays so small that a call costs more than the work. They cannot be smaller.

_SMALL = (
    Case(
        "small_gather",
        "gather float32 (64,), int64 indices (16,)",
        "small",
        lambda _: Gather(_random("float32", (64,)), _indices(0, 64, (16,))),
    ),
    Case(
        "small_gather_elements",
        "gather_elements float32 (4, 4), int64 indices (4, 4), axis 1",
        "small",
        lambda _: GatherElements(_random("float32", (4, 4)), _indices(0, 4, (4, 4)), axis=1),
    ),
    Case(
        "small_gather_nd",
        "gather_nd float32 (8, 8, 8), 4 int64 3-tuples",
        "small",
        lambda _: GatherND(_random("float32", (8, 8, 8)), _tuples((8, 8, 8), 4)),
    ),
    Case(
        "small_resize",
        "resize float32 (8, 8) to (16, 16), linear",
        "small",
        lambda _: Resize(_random("float32", (8, 8)), (16, 16), axes=(0, 1), mode="linear"),
    ),
)

CASES = (*_MOVES, *_RESIZES, *_SMALL)

# The same operator from very few elements to very many.


def _square(n: int, channels: int) -> int:
    """Side of a square image of about n values, a multiple of 4 so that 3/4 of it is whole."""
    return max(4, round(math.sqrt(n / channels) / 4) * 4)


def _swept_image(n: int, _: int) -> Problem:
    """Image to two thirds of its length, of about n values."""
    side = _square(n, 3)
    return Resize(
        _random("uint8", (side * 3 // 2, side * 3 // 2, 3)), (side, side), axes=(0, 1), mode="linear"
    )


def _swept_planes(n: int, mode: str, _: int) -> Problem:
    """Planes to twice their length, of about n values."""
    side = _square(n, 4)
    data = _random("float32", (1, 4, side // 2, side // 2))
    return Resize(data, (side, side), axes=(2, 3), mode=mode)


# Name to a description and to a function of the number of elements, which makes the problem.
SWEEPS: dict[str, tuple[str, Callable[[int], Callable[[int], Problem]]]] = {
    "gather": (
        "gather n of n float32, random int64 indices",
        lambda n: functools.partial(_gather_items, n, n),
    ),
    "gather_elements": (
        "gather_elements float32 (n / 196, 49), int32 indices (n / 196, 196), axis 1",
        lambda n: functools.partial(_table, "float32", "int32", max(1, n // 196)),
    ),
    "gather_rows": (
        "gather n / 128 of n / 128 rows of 128 float32, random int64 indices",
        lambda n: functools.partial(_gather_rows, "float32", n // 128, n // 128),
    ),
    "scatter_add": (
        "scatter_elements add of n float32 to n, random int64 indices",
        lambda n: functools.partial(_scatter_sums, n, n),
    ),
    "linear_u8": (
        "resize uint8 (H, W, 3) to two thirds, linear",
        lambda n: functools.partial(_swept_image, n),
    ),
    "linear_f32": (
        "resize float32 (1, 4, H, W) to the double, linear",
        lambda n: functools.partial(_swept_planes, n, "linear"),
    ),
    "nearest_f32": (
        "resize float32 (1, 4, H, W) to the double, nearest",
        lambda n: functools.partial(_swept_planes, n, "nearest"),
    ),
}


def sweep_cases(largest: int) -> list[Case]:
    """Return the cases of all sweeps, from 10**3 to 10**largest elements."""
    return [
        Case(f"sweep_{name}_1e{power}", f"{what}, n = 10**{power}", "sweep", make(10**power))
        for name, (what, make) in SWEEPS.items()
        for power in range(3, largest + 1)
    ]
