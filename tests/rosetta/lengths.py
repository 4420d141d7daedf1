"""Every pair of lengths up to 69: nearest indices and linear values against integer arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Library
from .measure import data, results

LONGEST = 69
LISTED = 24  # wrong pairs of lengths up to this are listed one by one

Array = np.ndarray[Any, Any]

# Index for output X of n to m samples, before it is clipped.
INDICES = {
    "half_pixel, ties up": lambda x, n, m: (2 * x + 1) * n // (2 * m),
    "half_pixel, ties down": lambda x, n, m: -((2 * m - (2 * x + 1) * n) // (2 * m)),
    "asymmetric, floor": lambda x, n, m: x * n // m,
    "align_corners, ties up": lambda x, n, m: (2 * x * (n - 1) + max(m - 1, 1)) // (2 * max(m - 1, 1)),
    "align_corners, ceil": lambda x, n, m: -(-x * (n - 1) // max(m - 1, 1)),
}


def weights(n: int, m: int, rule: str) -> tuple[Array, Array]:
    """Weights of n samples in m outputs, "linear" or "antialias": numerators, denominators of rows."""
    positions = ((2 * np.arange(m) + 1) * n - m)[:, None]  # over 2 m
    if rule == "linear":
        positions = positions.clip(0, 2 * m * (n - 1))
    reach = 2 * max(n, m) if rule == "antialias" else 2 * m
    numerators = (reach - abs(2 * m * np.arange(n) - positions)).clip(0)
    return numerators, numerators.sum(axis=1)


def exact(values: Array, m: int, rule: str) -> tuple[Array, Array]:
    """Both axes of an image (n, n) of integers to m: numerators and denominators."""
    numerators, sums = weights(len(values), m, rule)
    return numerators @ values.astype(np.int64) @ numerators.T, np.outer(sums, sums)


def exact_floats(values: Array, m: int, rule: str) -> Array:
    """Both axes of an image (n, n) to m, in float64."""
    numerators, sums = weights(len(values), m, rule)
    rows = numerators / sums[:, None]
    return rows @ values.astype(np.float64) @ rows.T


def first_channel(result: Array, library: Library) -> Array:
    """Undo `measure.lay`."""
    if library.arrangement == "n c h w":
        return result[0, 0]
    if library.arrangement == "n h w c":
        return result[0, ..., 0]
    return result[..., 0] if library.arrangement == "h w c" else result


def wrong_index(library: Library, case: Case, names: dict[str, Any], n: int, m: int) -> tuple[bool, bool]:
    """Whether the library and whether remapnd takes another element of an axis of n samples for any of m."""
    index = np.clip(INDICES[case.rule](np.arange(m), n, m), 0, n - 1)
    values = data("index", (n, n))
    right = values[np.ix_(index, index)]
    theirs, ours = results(library, case, names, values, {"h": m, "w": m})
    return tuple(  # type: ignore[return-value]
        not np.array_equal(first_channel(result, library), right) for result in (theirs, ours)
    )


def nearest(library: Library, case: Case, names: dict[str, Any], longest: int) -> dict[str, Any]:
    """Count the pairs of lengths with a wrong index."""
    found = {
        (n, m): wrong_index(library, case, names, n, m)
        for n in range(1, longest + 1)
        for m in range(1, longest + 1)
    }
    theirs = {f"{n}→{m}": max(n, m) for (n, m), (wrong, _) in found.items() if wrong}
    return {
        "pairs": longest**2,
        "wrong": len(theirs),
        "wrong here": sum(wrong for _, wrong in found.values()),
        "first": next(iter(theirs), ""),
        "listed": " ".join(pair for pair, length in theirs.items() if length <= LISTED),
    }


def linear(library: Library, case: Case, names: dict[str, Any], longest: int) -> dict[str, Any]:
    """Count pixels of uint8 that are not rounded or not cut exactly; find the largest error of float32."""
    cut = 'integer_rule="truncate"' in str(case.ours)
    count, errors = 0, {"theirs": 0.0, "ours": 0.0}
    wrong = {"rounded": 0, "cut": 0, "here": 0}
    largest = dict.fromkeys(wrong, 0)
    for n in range(1, longest + 1):
        for m in range(1, longest + 1):
            sizes = {"h": m, "w": m}
            if "uint8" in case.dtypes:
                values = data("uint8", (n, n))
                above, below = exact(values, m, case.rule)
                pair = [first_channel(r, library) for r in results(library, case, names, values, sizes)]
                count += m * m
                for kind, result, right in (
                    ("rounded", pair[0], (2 * above + below) // (2 * below)),
                    ("cut", pair[0], above // below),
                    ("here", pair[1], above // below if cut else (2 * above + below) // (2 * below)),
                ):
                    apart = abs(result.astype(np.int64) - right)
                    wrong[kind] += int(np.count_nonzero(apart))
                    largest[kind] = max(largest[kind], int(apart.max()))
            values = data("float32", (n, n))
            right = exact_floats(values, m, case.rule)
            for side, result in zip(errors, results(library, case, names, values, sizes), strict=True):
                apart = abs(first_channel(result, library).astype(np.float64) - right)
                errors[side] = max(errors[side], float(apart.max()))
    counted = {"pixels": count, "wrong": wrong, "largest": largest} if count else {}
    return {"pairs": longest**2, "error": errors["theirs"], "error here": errors["ours"], **counted}


def measure(library: Library) -> dict[str, Any]:
    """Return what was found for the cases of a library that have a rule."""
    names = library.load()
    return {
        case.label: nearest(library, case, names, LONGEST)
        if case.rule in INDICES
        else linear(library, case, names, library.longest)
        for case in library.cases
        if case.rule
    }
