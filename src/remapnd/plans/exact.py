"""Results on integers in exact arithmetic: those that floating point leaves in doubt, or all.

Uses the exact weights of tables and the rounding of `reference`; used by `plans.resample`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
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
    """Compute the results at flat positions of `out`; `tables` are those of the axes that change."""
    products = math.prod(table.widest for table in tables.values())
    results_at_once = max(_AT_ONCE // products, 1)
    for part in np.array_split(positions, -(-len(positions) // results_at_once)):
        places = np.unravel_index(part, out.shape)
        out[places] = _results(data, places, tables, rule)


def _results(
    data: NDArray[Any], places: tuple[NDArray[Any], ...], tables: Mapping[int, Table], rule: str
) -> list[int]:
    """Results at some places of the output."""
    rank = len(tables)
    # Axis 0 of the block of samples is that of the places, the further ones are those of the taps.
    taken: list[Any] = [place.reshape(-1, *[1] * rank) for place in places]
    weights, denominator = [], np.ones(len(places[0]), object)
    for k, (axis, table) in enumerate(tables.items()):
        distinct, row = np.unique(places[axis], return_inverse=True)
        indices, numerators, denominators = table.exact(distinct)
        taken[axis] = indices[row].reshape(len(row), *[1] * k, -1, *[1] * (rank - k - 1))
        weights.append(numerators[row])
        denominator *= denominators[row].astype(object)
    total = data[tuple(taken)]
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
