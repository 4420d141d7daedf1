"""The self-test: fixed cases whose results have known hashes, on every level and several numbers of threads.

Uses the public functions and, to write the hashes anew, `reference`. Developers do that by
``python -m remapnd.selftest --write``, which stores a hash only if kernels and reference agree in every case.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from remapnd import _core, reference
from remapnd.config import num_threads
from remapnd.coordinates import COORDINATE_MODES, axis_map, coordinate_map
from remapnd.gather import gather, gather_elements, gather_nd, take_along_axis
from remapnd.grid_sample import grid_sample
from remapnd.plans.resample import ResamplePlan
from remapnd.regions import roi_align
from remapnd.resample import resample, resize

__all__ = ["Case", "Report", "cases", "run_selftest"]


def __dir__() -> list[str]:
    """List what is public."""
    return __all__


_HASHES = Path(__file__).with_name("selftest.json")
_THREADS = (1, 2, 3)

_Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """One call of a public function, and of its twin in `reference`."""

    name: str
    function: Callable[..., Any]
    twin: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    def hash(self, function: Callable[..., Any]) -> str:
        """Return the SHA-256 of dtype, shape and little-endian bytes of a result."""
        result = np.asarray(function(*self.arguments, **self.options))
        little = result.astype(result.dtype.newbyteorder("<"), order="C", copy=False)
        content = hashlib.sha256(f"{little.dtype.str} {little.shape}\n".encode())
        content.update(little.tobytes())
        return content.hexdigest()


@dataclass
class Report:
    """What `run_selftest` found.

    Attributes
    ----------
    cases : int
        How many cases there are.
    runs : dict
        For each (level, number of threads) one line for each case that went wrong.
    """

    cases: int
    runs: dict[tuple[str, int], list[str]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every case was right in every run."""
        return not any(self.runs.values())

    def __str__(self) -> str:
        """Return a table of levels and numbers of threads, and what went wrong."""
        levels = list(dict.fromkeys(level for level, _ in self.runs))
        threads = list(dict.fromkeys(n for _, n in self.runs))
        heads = [f"{n} thread{'s' if n > 1 else ''}" for n in threads]
        lines = ["level   " + "  ".join(f"{head:>14}" for head in heads)]
        for level in levels:
            right = [self.cases - len(self.runs[level, n]) for n in threads]
            lines.append(f"{level:<8}" + "  ".join(f"{n:>4} of {self.cases:>4} ok" for n in right))
        for (level, n), wrong in self.runs.items():
            lines += [f"{level}, {n} thread{'s' if n > 1 else ''}: {line}" for line in wrong]
        return "\n".join(lines)


def run_selftest(levels: Sequence[str] | None = None, threads: Sequence[int] = _THREADS) -> Report:
    """Run every case on every level that this processor has, with several numbers of threads.

    The level in use changes meanwhile, for the whole process, and is set back at the end.

    Parameters
    ----------
    levels : sequence of str, optional
        By default all that are usable.
    threads : sequence of int
        Numbers of threads.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        A level is not usable here, or a number of threads is out of range.
    """
    usable = _core.levels_usable()
    levels = usable if levels is None else levels
    for level in levels:
        if level not in usable:
            raise ValueError(f"run_selftest: `levels` must be among {', '.join(usable)}, got {level!r}")
    expected = json.loads(_HASHES.read_text(encoding="ascii"))
    runs: dict[tuple[str, int], list[str]] = {(level, n): [] for level in levels for n in threads}
    report = Report(0, runs)
    before = _core.level()
    try:
        for case in cases():
            report.cases += 1
            for (level, n), wrong in runs.items():
                _core.use_level(level)
                with num_threads(n):
                    problem = _compare(case, expected.get(case.name))
                if problem:
                    wrong.append(f"{case.name}: {problem}")
    finally:
        _core.use_level(before)
    return report


def _compare(case: Case, expected: str | None) -> str:
    """Run a case; return what is wrong with it, if anything."""
    if expected is None:
        return "no hash is stored"
    try:
        found = case.hash(case.function)
    except Exception as error:  # whatever a broken build does is a finding
        return f"{type(error).__name__}: {error}"
    return "" if found == expected else f"SHA-256 is {found[:16]}..., not {expected[:16]}..."


def cases() -> Iterator[Case]:
    """Generate the cases; their inputs depend on nothing but this file."""
    yield from _gather_cases()
    yield from _nearest_cases()
    yield from _linear_cases()
    yield from _filter_cases()
    yield from _label_cases()
    yield from _gradient_cases()
    yield from _sample_cases()


# Inputs.


def _bits(seed: int, count: int) -> npt.NDArray[np.uint64]:
    """Return 64-bit numbers by SplitMix64 (Steele, Lea and Flood 2014), whose n-th number needs no other."""
    z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _values(seed: int, shape: tuple[int, ...], dtype: str) -> _Array:
    """Return values of a dtype: all bits of integers, full mantissas of floats around 0."""
    kind = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if kind.kind == "c":
        pairs = _values(seed, (2 * count,), f"f{kind.itemsize // 2}")
        return pairs.view(kind).reshape(shape)
    if kind.kind == "f":
        digits = np.finfo(kind).nmant + 1
        signed = (_bits(seed, count) >> np.uint64(64 - digits)).astype(np.int64) - (1 << (digits - 1))
        return (signed / float(1 << (digits // 2))).astype(kind).reshape(shape)
    if kind.kind == "b":
        return (_bits(seed, count) & np.uint64(1)).astype(kind).reshape(shape)
    if kind.kind in "iu":
        return _bits(seed, count).astype(f"u{kind.itemsize}").view(kind).reshape(shape)
    raw = _bits(seed, count * kind.itemsize).astype(np.uint8)
    return raw.view(kind).reshape(shape)


def _special(seed: int, shape: tuple[int, ...], dtype: str) -> _Array:
    """Return floats of which about a quarter are NaN, infinite, signed zeros, huge or tiny."""
    values = _values(seed, shape, dtype)
    limits = np.finfo(values.dtype)
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, limits.max, limits.min, limits.smallest_subnormal])
    choice = (_bits(seed + 1, values.size) >> np.uint64(59)).reshape(shape)  # 0 to 31
    return np.where(choice < len(odd), odd.astype(dtype)[choice % np.uint64(len(odd))], values)


def _indices(seed: int, shape: tuple[int, ...], dtype: str, low: int, high: int) -> _Array:
    """Return indices in [low, high)."""
    count = int(np.prod(shape, dtype=np.int64))
    drawn = (_bits(seed, count) % np.uint64(high - low)).astype(np.int64) + low
    return drawn.astype(dtype).reshape(shape)


# Gathers.

_MOVED = ("bool", "int8", "uint16", "float16", "int32", "float32", "float64", "complex64", "complex128", "V5")
_INDEX = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def _gather_cases() -> Iterator[Case]:
    """Generate cases of the gather family: item sizes, index dtypes, axes, bounds, sizes."""
    for seed, dtype in enumerate(_MOVED, start=100):
        rows, table = _values(seed, (13, 7), dtype), _values(seed, (5, 6, 4), dtype)
        signed = _indices(seed, (3, 9), "int64", -7, 7)
        yield _gather_case(f"gather axis 1 {dtype}", gather, rows, signed, axis=1)
        yield _gather_case(
            f"gather_elements axis 1 {dtype}",
            gather_elements,
            table,
            _indices(seed, (5, 11, 4), "int32", -6, 6),
            axis=1,
        )
        tuples = _indices(seed, (10, 2), "int64", -5, 5)
        yield _gather_case(f"gather_nd pairs {dtype}", gather_nd, table, tuples)
    for seed, index in enumerate(_INDEX, start=120):
        low = -40 if index.startswith("i") else 0
        rows, columns = _values(seed, (40, 33), "float32"), _values(seed, (3, 40), "uint16")
        yield _gather_case(f"gather axis 0 {index}", gather, rows, _indices(seed, (55,), index, low, 40))
        yield _gather_case(
            f"take_along_axis {index}", take_along_axis, columns, _indices(seed, (1, 70), index, low, 40)
        )
        batched = _indices(seed, (6, 9, 1), index, max(low, -5), 5)
        data = _values(seed, (6, 5, 8), "uint8")
        yield _gather_case(f"gather_nd batch {index}", gather_nd, data, batched, batch_dims=1)
    for seed, bounds in enumerate(("clip", "wrap", "fill"), start=130):
        options = {"bounds": bounds} | ({"fill_value": -3} if bounds == "fill" else {})
        wild = _indices(seed, (4, 21), "int32", -30, 30)
        data = _values(seed, (4, 10), "int16")
        yield _gather_case(f"gather {bounds}", gather, data, wild, axis=-1, **options)
        yield _gather_case(f"gather_elements {bounds}", gather_elements, data, wild, axis=-1, **options)
        yield _gather_case(
            f"gather_nd {bounds}", gather_nd, data, _indices(seed, (9, 2), "int64", -12, 12), **options
        )
    for seed, dtype in enumerate(("uint8", "float32", "complex64"), start=140):  # split over threads
        data = _values(seed, (300, 400), dtype)
        yield _gather_case(f"gather many {dtype}", gather, data, _indices(seed, (900,), "int32", -300, 300))
        yield _gather_case(
            f"gather_elements many {dtype}",
            gather_elements,
            data,
            _indices(seed, (300, 1100), "int32", -400, 400),
            axis=1,
        )


def _gather_case(name: str, function: Callable[..., Any], *arguments: _Array, **options: Any) -> Case:
    """Make a case of a function whose twin has its name and signature."""
    return Case(name, function, getattr(reference, function.__name__), arguments, options)


# Resampling.

_LINEAR_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_LINEAR_FLOATS = ("float16", "float32", "float64", "complex64", "complex128")
# Input shape, output lengths, axes: up, down, both, channels last, volumes, one axis, lengths of 1.
_SIZES: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...] = (
    ((7, 9), (16, 23), (0, 1)),
    ((17, 35), (6, 11), (0, 1)),
    ((12, 10, 3), (5, 33, 3), (0, 1, 2)),
    ((6, 5, 4, 2), (9, 3, 7), (0, 1, 2)),
    ((3, 40), (64,), (1,)),
    ((30, 19), (13,), (0,)),
    ((1, 8), (4, 1), (0, 1)),
)


def _nearest_cases() -> Iterator[Case]:
    """Generate cases of nearest: item sizes, sizes, coordinate modes, rules for ties."""
    for seed, dtype in enumerate(_MOVED, start=200):
        shape, lengths, axes = _SIZES[seed % len(_SIZES)]
        yield _resize_case(f"nearest {dtype}", _values(seed, shape, dtype), lengths, axes, mode="nearest")
    for seed, mode in enumerate(COORDINATE_MODES, start=220):
        shape, lengths, axes = _SIZES[seed % 2]
        data = _values(seed, shape, "int32")
        yield _resize_case(f"nearest {mode}", data, lengths, axes, mode="nearest", coordinates=mode)
    for seed, rule in enumerate(("half_up", "half_down", "floor", "ceil"), start=230):
        data = _values(seed, (20, 24), "uint8")
        yield _resize_case(f"nearest {rule}", data, (6, 9), (0, 1), mode="nearest", nearest_rule=rule)
    large = _values(240, (300, 260, 3), "uint8")
    yield _resize_case("nearest many", large, (640, 700), (0, 1), mode="nearest")


def _linear_cases() -> Iterator[Case]:
    """Generate cases of linear: dtypes, sizes, coordinate modes, integer rules, scales and offsets."""
    for seed, dtype in enumerate(_LINEAR_INTEGERS + _LINEAR_FLOATS, start=300):
        for number in (seed % 4, 4 + seed % 3):
            shape, lengths, axes = _SIZES[number]
            yield _resize_case(f"linear {dtype} {shape}", _values(seed, shape, dtype), lengths, axes)
    for seed, mode in enumerate(COORDINATE_MODES, start=320):
        for dtype in ("uint8", "float32"):
            shape, lengths, axes = _SIZES[seed % 3]
            data = _values(seed, shape, dtype)
            yield _resize_case(f"linear {mode} {dtype}", data, lengths, axes, coordinates=mode)
    for seed, rule in enumerate(reference.INTEGER_RULES, start=330):
        for dtype in ("uint8", "int16", "int64"):
            data = _values(seed, (9, 14), dtype)
            yield _resize_case(f"linear {rule} {dtype}", data, (18, 7), (0, 1), integer_rule=rule)
    for seed, dtype in enumerate(("float16", "float32", "float64"), start=340):
        data = _special(seed, (24, 31), dtype)
        yield _resize_case(f"linear special {dtype}", data, (37, 20), (0, 1))
    offsets: tuple[tuple[str, Any, Any, Any], ...] = (
        ("scales 1.3 0.7", (1.3, 0.7), 0.5, -0.5),
        ("scales 5/3 2/5", (Fraction(5, 3), Fraction(2, 5)), 0, 0),
        ("offsets", (2, 0.5), (0.25, -1.5), (-0.125, 3)),
    )
    for seed, (name, scales, before, after) in enumerate(offsets, start=350):
        for dtype in ("uint8", "float32"):
            data = _values(seed, (11, 25), dtype)
            options = {"scales": scales, "input_offsets": before, "output_offsets": after}
            yield Case(f"resample {name} {dtype}", resample, _resample_twin, (data,), options)
    for seed, dtype in enumerate(("uint8", "float32", "float64"), start=360):  # split over threads
        large = _values(seed, (180, 240, 3), dtype)
        yield _resize_case(f"linear many up {dtype}", large, (270, 401), (0, 1))
        yield _resize_case(f"linear many down {dtype}", large, (150, 161), (0, 1))


def _filter_cases() -> Iterator[Case]:
    """Generate cases of filters: modes, antialiasing, dtypes, sizes, coordinate modes, integer rules."""
    kinds: list[tuple[str, str | None]] = [(mode, None) for mode in ("cubic", "box", "lanczos3")]
    kinds += [(mode, rule) for mode in ("linear", "cubic", "box", "lanczos3") for rule in ("pillow", "onnx")]
    for seed, (mode, antialias) in enumerate(kinds, start=400):
        for number, dtype in enumerate(("uint8", "int16", "int64", "float32", "float64")):
            shape, lengths, axes = _SIZES[(seed + number) % len(_SIZES)]
            data = _values(seed, shape, dtype)
            options = {"mode": mode, "antialias": antialias}
            yield _resize_case(f"filter {mode} {antialias} {dtype}", data, lengths, axes, **options)
    for seed, coordinates in enumerate(COORDINATE_MODES, start=420):
        data = _values(seed, (17, 35), "float32")
        options = {"mode": "cubic", "antialias": "onnx", "coordinates": coordinates}
        yield _resize_case(f"filter {coordinates}", data, (6, 40), (0, 1), **options)
    for seed, rule in enumerate(reference.INTEGER_RULES, start=430):
        data = _values(seed, (40, 37), "uint8")  # leaves results in doubt
        options = {"mode": "lanczos3", "antialias": "pillow", "integer_rule": rule}
        yield _resize_case(f"filter {rule}", data, (13, 29), (0, 1), **options)
    data = _special(440, (24, 31), "float32")
    yield _resize_case("filter special", data, (10, 40), (0, 1), mode="cubic", antialias="pillow")
    large = _values(441, (180, 240, 3), "float32")
    yield _resize_case("filter many", large, (150, 90), (0, 1), antialias="pillow")


def _label_cases() -> Iterator[Case]:
    """Generate cases of majority: integer dtypes, sizes, many labels and few."""
    for seed, dtype in enumerate(("bool", *_LINEAR_INTEGERS), start=460):
        shape, lengths, axes = _SIZES[seed % len(_SIZES)]
        few = (_values(seed, shape, dtype).astype(np.int64) % 3).astype(dtype)
        for name, data in (("few", few), ("many", _values(seed, shape, dtype))):
            yield _resize_case(f"majority {name} {dtype}", data, lengths, axes, mode="majority")


def _gradient_cases() -> Iterator[Case]:
    """Generate cases of gradients of resampling: modes, dtypes, sizes."""
    kinds = (("nearest", None), ("linear", None), ("linear", "pillow"), ("cubic", "onnx"), ("lanczos3", None))
    for seed, (mode, antialias) in enumerate(kinds, start=480):
        for number, dtype in enumerate(("float16", "float32", "float64", "complex64")):
            shape, lengths, axes = _SIZES[(seed + number) % len(_SIZES)]
            sizes = dict(zip(axes, lengths, strict=True))
            gradient = _values(seed, tuple(sizes.get(axis, n) for axis, n in enumerate(shape)), dtype)
            options = {"axes": axes, "mode": mode, "antialias": antialias}
            name = f"gradient {mode} {antialias} {dtype}"
            yield Case(name, _gradient, _gradient_twin, (gradient, shape, lengths), options)


def _gradient(gradient: _Array, shape: tuple[int, ...], lengths: tuple[int, ...], **options: Any) -> _Array:
    """Gradient of an array of `shape` for that of the resized one."""
    result: _Array = ResamplePlan.resized(shape, gradient.dtype, lengths, **options).vjp(gradient)
    return result


def _gradient_twin(
    gradient: _Array,
    shape: tuple[int, ...],
    lengths: tuple[int, ...],
    *,
    axes: Sequence[int],
    **options: Any,
) -> _Array:
    """Return the same by the reference."""
    maps = [coordinate_map("half_pixel", shape[a], n) for a, n in zip(axes, lengths, strict=True)]
    scales = [Fraction(n, shape[a]) for a, n in zip(axes, lengths, strict=True)]
    return reference.resample_gradient(gradient, shape, maps, axes, scales=scales, **options)


def _resize_case(
    name: str, data: _Array, lengths: tuple[int, ...], axes: tuple[int, ...], **options: Any
) -> Case:
    """Make a case of `resize`."""
    return Case(name, resize, _resize_twin, (data, lengths), {"axes": axes, **options})


def _resize_twin(
    data: _Array,
    lengths: Sequence[int],
    *,
    axes: Sequence[int],
    coordinates: str = "half_pixel",
    **options: Any,
) -> _Array:
    """Resize by the reference."""
    maps = [coordinate_map(coordinates, data.shape[a], n) for a, n in zip(axes, lengths, strict=True)]
    scales = [Fraction(n, data.shape[a]) for a, n in zip(axes, lengths, strict=True)]
    return reference.resample(data, maps, lengths, axes, scales=scales, **options)


def _resample_twin(data: _Array, *, scales: Any, input_offsets: Any, output_offsets: Any) -> _Array:
    """Resample all axes by the reference."""
    before, after = (
        offsets if isinstance(offsets, tuple) else (offsets,) * data.ndim
        for offsets in (input_offsets, output_offsets)
    )
    maps = [axis_map(*numbers) for numbers in zip(scales, before, after, strict=True)]
    lengths = [int(n * Fraction(s)) for n, s in zip(data.shape, scales, strict=True)]
    return reference.resample(data, maps, lengths, range(data.ndim))


# Writing.


# Sampling.


def _sample_cases() -> Iterator[Case]:
    """Generate cases of sampling at positions that are data: modes, paddings, dtypes, special values."""
    for seed, mode in enumerate(("linear", "nearest", "cubic"), start=400):
        for padding in ("zeros", "border", "reflection"):
            for dtype in ("float16", "float32", "float64"):
                data = _special(seed, (2, 3, 5, 7), dtype)
                grid = _special(seed + 10, (2, 5, 9, 2), "float32") * np.float32(2.0**-11)
                options = {"mode": mode, "padding": padding, "align_corners": seed % 2 == 0}
                name = f"grid_sample {mode} {padding} {dtype}"
                yield Case(name, grid_sample, reference.grid_sample, (data, grid), options)
    for mode in ("avg", "max"):
        for dtype in ("float16", "float32", "float64"):
            rois = np.array([[0.5, 1, 6.25, 5], [-3, 0, 9, 3.3], [2, 2, 2.5, 7]])
            arguments = (_values(420, (2, 3, 6, 7), dtype), rois, np.array([1, 0, 1]), (3, 2))
            name = f"roi_align {mode} {dtype}"
            yield Case(name, roi_align, reference.roi_align, arguments, {"mode": mode, "scale": 0.9})


def write_hashes(path: Path = _HASHES) -> list[str]:
    """Store the hashes if kernels and reference agree everywhere; return the names of cases that differ."""
    hashes = {}
    differing = []
    for case in cases():
        hashes[case.name], twin = case.hash(case.function), case.hash(case.twin)
        if hashes[case.name] != twin:
            differing.append(case.name)
    if not differing:
        path.write_text(json.dumps(hashes, indent=0) + "\n", encoding="ascii")
    return differing


def _main() -> int:
    """Write the hashes anew."""
    parser = argparse.ArgumentParser(prog="python -m remapnd.selftest", description=__doc__)
    parser.add_argument("--write", action="store_true", required=True, help=f"write {_HASHES}")
    parser.parse_args()
    differing = write_hashes()
    for name in differing:
        print(f"kernel and reference differ: {name}", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(_main())
