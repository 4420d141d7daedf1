"""Both sides of a case on the same arrays, and how far apart the results are."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import remapnd

from . import frameworks, images, numerical, standards
from .case import Case, Library

LIBRARIES = {
    "numpy": numerical.NUMPY,
    "scipy": numerical.SCIPY,
    "skimage": images.SKIMAGE,
    "opencv": images.OPENCV,
    "pillow": images.PILLOW,
    "torch": frameworks.TORCH,
    "tensorflow": frameworks.TENSORFLOW,
    "jax": frameworks.JAX,
    "onnx": standards.ONNX,
    "webnn": standards.WEBNN,
    "directml": standards.DIRECTML,
}

_CHANGES = (
    ((12, 17), (12, 17)),
    ((12, 16), (24, 32)),
    ((16, 24), (8, 12)),
    ((30, 45), (20, 30)),
    ((48, 36), (16, 9)),
    ((13, 29), (31, 11)),
    ((40, 27), (7, 64)),
    ((64, 61), (37, 53)),
    ((9, 10), (50, 61)),
    ((25, 7), (24, 8)),
    ((2, 3), (9, 7)),
    ((60, 44), (5, 3)),
)
_FACTORS = (2, 3, 4, 7)
_SCALES = (0.5, 0.3, 0.77, 1.15, 1.7, 2.0)


@dataclass(frozen=True)
class Difference:
    """How results of a case differ: the largest difference, and the share of values with any."""

    largest: float
    share: float


def version(library: Library) -> str:
    """Return the version that is installed, of a formula that of Python."""
    return (
        importlib.metadata.version(library.distribution)
        if library.distribution
        else platform.python_version()
    )


def settings(case: Case) -> Iterator[tuple[tuple[int, int], dict[str, Any]]]:
    """Lengths of the input, and the names for the sizes in the expressions."""
    if case.sizes in ("any", "changed"):
        for before, after in _CHANGES:
            if case.sizes == "any" or before != after:
                yield before, {"h": after[0], "w": after[1], "m": after[1]}
    elif case.sizes == "whole shrink":
        for k in _FACTORS:
            for h, w in ((5, 8), (12, 9), (1, 3)):
                yield (h * k, w * k), {"h": h, "w": w, "k": k}
    else:
        for before in ((7, 12), (24, 17), (33, 40)):
            if case.sizes == "factor":
                yield from ((before, {"k": k}) for k in _FACTORS)
                continue
            for s in _SCALES:  # and lengths that are not those of s
                h, w = int(before[0] * s) + 1, int(before[1] * s)
                yield before, {"s": s, "h": h, "w": w, "i": 0.25, "o": -0.75}


def lay(values: np.ndarray[Any, Any], library: Library) -> np.ndarray[Any, Any]:
    """Give an array (H, W) the arrangement of a library, with two channels where there are any."""
    if library.arrangement == "1-d":
        return np.ascontiguousarray(values[0])
    if library.arrangement == "h w c":
        return np.stack([values, values[:, ::-1]], axis=-1)
    if library.arrangement == "n c h w":
        return np.stack([values, values[:, ::-1]])[None]
    if library.arrangement == "n h w c":
        return np.stack([values, values[:, ::-1]], axis=-1)[None]
    return values


def data(dtype: str, lengths: tuple[int, int]) -> np.ndarray[Any, Any]:
    """Random integers of all values, random floats in [0, 1), or for "index" the number of each element."""
    if dtype == "index":
        return np.arange(lengths[0] * lengths[1], dtype=np.float32).reshape(lengths)
    rng = np.random.default_rng(lengths)
    if dtype == "uint8":
        return rng.integers(0, 256, lengths, np.uint8)
    return rng.random(lengths).astype(dtype)


def results(
    library: Library,
    case: Case,
    names: dict[str, Any],
    values: np.ndarray[Any, Any],
    sizes: dict[str, Any],
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return what the library and what remapnd make of an array (H, W)."""
    assert case.ours is not None
    scope = {**names, **sizes, "remapnd": remapnd, "x": lay(values, library)}
    scope |= {"H": values.shape[0], "W": values.shape[1], "n": values.shape[1]}
    ours = eval(case.ours, scope)
    theirs = eval(case.theirs, {**scope, "x": eval(library.convert, scope)})
    return np.asarray(theirs), np.asarray(ours)


def compare(theirs: np.ndarray[Any, Any], ours: np.ndarray[Any, Any]) -> Difference:
    """Compare two results of one shape."""
    assert theirs.shape == ours.shape, f"shapes {theirs.shape} and {ours.shape}"
    apart = np.abs(theirs.astype(np.float64) - ours.astype(np.float64))
    return Difference(float(apart.max(initial=0)), float(np.mean(apart != 0)))


def difference(library: Library, case: Case, names: dict[str, Any], dtype: str) -> Difference:
    """Return the difference over all settings; of a nearest mode in elements along an axis."""
    found = []
    for lengths, sizes in settings(case):
        values = data(dtype, lengths)
        theirs, ours = results(library, case, names, values, sizes)
        if dtype == "index":
            columns = values.shape[1]
            down = compare(theirs // columns, ours // columns)
            along = compare(theirs % columns, ours % columns)
            found.append(
                (Difference(max(down.largest, along.largest), compare(theirs, ours).share), ours.size)
            )
        else:
            found.append((compare(theirs, ours), ours.size))
    total = sum(size for _, size in found)
    return Difference(
        max(apart.largest for apart, _ in found),
        sum(apart.share * size for apart, size in found) / total,
    )


def measure(library: Library) -> dict[str, Any]:
    """Return version and differences of all cases that have an equal: label to dtype to difference."""
    names = library.load()
    return {
        "version": version(library),
        "cases": {
            case.label: {dtype: asdict(difference(library, case, names, dtype)) for dtype in case.dtypes}
            for case in library.cases
            if case.ours is not None
        },
    }
