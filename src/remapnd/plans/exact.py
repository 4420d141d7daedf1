"""Results in exact arithmetic: those that floating point leaves in doubt, or all.

Uses the exact weights of tables and the rounding of `reference`; used by `plans.mixing` and `plans.majority`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..filter_taps import Table
from ..reference import rounded

_AT_ONCE: Final = 1 << 18  # products


def fill(
    data: NDArray[Any],
    out: NDArray[Any],
    positions: NDArray[np.int64],
    tables: Mapping[int, Table],
    rule: str,
) -> None:
    """Compute the mixed integers at flat positions of `out`; `tables` are those of the axes that change."""
    for places in _portions(out, positions, tables):
        out[places] = _results(data, places, tables, rule)


def fill_labels(
    data: NDArray[Any], out: NDArray[Any], positions: NDArray[np.int64], tables: Mapping[int, Table]
) -> None:
    """Choose the labels at flat positions of `out`; `tables` as in `fill`."""
    for places in _portions(out, positions, tables):
        labels, weights, _ = _samples(data, places, tables)
        out[places] = [
            _heaviest(of_place.ravel().tolist(), [part[k] for part in weights])
            for k, of_place in enumerate(labels)
        ]


def _heaviest(labels: list[int], weights: list[NDArray[Any]]) -> int:
    """Return the label with the largest sum of products of weights of all axes, the lowest of equal ones."""
    sums: defaultdict[int, int] = defaultdict(int)
    products = [1]
    for part in weights:
        products = [product * weight for product in products for weight in part.tolist()]
    for label, product in zip(labels, products, strict=True):
        sums[label] += product
    return min(sums, key=lambda label: (-sums[label], label))


def _portions(
    out: NDArray[Any], positions: NDArray[np.int64], tables: Mapping[int, Table]
) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield flat positions as indices of `out`, some at a time."""
    products = math.prod(table.widest for table in tables.values())
    results_at_once = max(_AT_ONCE // products, 1)
    for part in np.array_split(positions, -(-len(positions) // results_at_once)):
        yield np.unravel_index(part, out.shape)


def _samples(
    data: NDArray[Any], places: tuple[NDArray[Any], ...], tables: Mapping[int, Table]
) -> tuple[NDArray[Any], list[NDArray[Any]], NDArray[Any]]:
    """Return the taps of some places, an axis for each table behind that of the places, and their weights.

    These are numerators, one array of rows for each table; then the denominators of the places.
    """
    rank = len(tables)
    taken: list[Any] = [place.reshape(-1, *[1] * rank) for place in places]
    weights, denominator = [], np.ones(len(places[0]), object)
    for k, (axis, table) in enumerate(tables.items()):
        distinct, row = np.unique(places[axis], return_inverse=True)
        indices, numerators, denominators = table.exact(distinct)
        taken[axis] = indices[row].reshape(len(row), *[1] * k, -1, *[1] * (rank - k - 1))
        weights.append(numerators[row])
        denominator *= denominators[row].astype(object)
    return data[tuple(taken)], weights, denominator


def _results(
    data: NDArray[Any], places: tuple[NDArray[Any], ...], tables: Mapping[int, Table], rule: str
) -> list[int]:
    """Results at some places of the output."""
    total, weights, denominator = _samples(data, places, tables)
    # Sums of magnitudes of products, were all samples the largest.
    largest = max(-int(total.min()), int(total.max()), 1)
    for part in weights:
        largest *= int(np.abs(part).astype(object).sum(axis=1).max())
    kind = np.int64 if largest < 2**63 else object
    total = total.astype(kind)
    for part in reversed(weights):
        total = (total * part.astype(kind).reshape(len(part), *[1] * (total.ndim - 2), -1)).sum(axis=-1)
    limits = np.iinfo(data.dtype)
    return [
        min(max(rounded(v, d, rule), limits.min), limits.max)
        for v, d in zip(total.tolist(), denominator.tolist(), strict=True)
    ]
