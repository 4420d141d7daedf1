"""Which operators, data types and dimension counts a feature level has, from the reference pages.

Uses `enums`; used by `rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from remapnd.directml.enums import FeatureLevel, OperatorType, TensorDataType


class SupportRow(NamedTuple):
    """What an operator takes from a feature level on, until the next row.

    All tensors of an operator of this family take the same dimension counts, and all but the indices the same
    data types.
    """

    since: FeatureLevel
    dimension_counts: range
    data_types: tuple[TensorDataType, ...]
    index_types: tuple[TensorDataType, ...]


def _types(names: str) -> tuple[TensorDataType, ...]:
    return tuple(map(TensorDataType.parse, names.split()))


_FLOATS = _types("FLOAT32 FLOAT16")
_FLOATS_AND_BYTES = _types("FLOAT32 FLOAT16 INT8 UINT8")
_TO_32_BITS = _types("FLOAT32 FLOAT16 INT32 INT16 INT8 UINT32 UINT16 UINT8")
_TO_64_BITS = _types("FLOAT64 FLOAT32 FLOAT16 INT64 INT32 INT16 INT8 UINT64 UINT32 UINT16 UINT8")
_UINT32 = _types("UINT32")
_INDICES = _types("INT64 INT32 UINT64 UINT32")
_NONE = _types("")

_FOUR = range(4, 5)
_FOUR_OR_FIVE = range(4, 6)
_TO_FOUR = range(1, 5)
_TO_EIGHT = range(1, 9)

_L = FeatureLevel
_FROM_3_0 = (
    SupportRow(_L.LEVEL_3_0, _TO_EIGHT, _TO_32_BITS, _INDICES),
    SupportRow(_L.LEVEL_4_1, _TO_EIGHT, _TO_64_BITS, _INDICES),
)
_FROM_2_1 = (SupportRow(_L.LEVEL_2_1, _FOUR, _TO_32_BITS, _UINT32), *_FROM_3_0)
_RESAMPLE_5_1 = SupportRow(_L.LEVEL_5_1, _TO_FOUR, _FLOATS, _NONE)
_RESAMPLE_6_2 = SupportRow(_L.LEVEL_6_2, _TO_FOUR, _FLOATS_AND_BYTES, _NONE)

SUPPORT: Mapping[OperatorType, tuple[SupportRow, ...]] = {
    OperatorType.GATHER: (SupportRow(_L.LEVEL_1_0, _FOUR, _FLOATS, _UINT32), *_FROM_2_1),
    OperatorType.GATHER_ELEMENTS: _FROM_2_1,
    OperatorType.GATHER_ND: _FROM_2_1,
    OperatorType.GATHER_ND1: _FROM_3_0,
    # [contested] The page of SCATTER says 1_0; the feature level history and the header say 2_0, which is
    # used here.
    OperatorType.SCATTER: (SupportRow(_L.LEVEL_2_0, _FOUR, _FLOATS, _UINT32), *_FROM_2_1),
    OperatorType.SCATTER_ND: _FROM_2_1,
    OperatorType.UPSAMPLE_2D: (SupportRow(_L.LEVEL_1_0, _FOUR_OR_FIVE, _FLOATS, _NONE),),
    # [contested] The history names the 8-bit types of 6_2 for RESAMPLE2 alone; the pages of all three list
    # them.
    OperatorType.RESAMPLE: (SupportRow(_L.LEVEL_2_0, _FOUR, _FLOATS, _NONE), _RESAMPLE_5_1, _RESAMPLE_6_2),
    OperatorType.RESAMPLE1: (SupportRow(_L.LEVEL_2_1, _FOUR, _FLOATS, _NONE), _RESAMPLE_5_1, _RESAMPLE_6_2),
    OperatorType.RESAMPLE2: (_RESAMPLE_5_1, _RESAMPLE_6_2),
    OperatorType.RESAMPLE3: (SupportRow(_L.LEVEL_6_4, _TO_FOUR, _FLOATS_AND_BYTES, _NONE),),
    OperatorType.RESAMPLE_GRAD: (SupportRow(_L.LEVEL_3_0, _FOUR, _FLOATS, _NONE), _RESAMPLE_5_1),
    OperatorType.RESAMPLE_GRAD1: (_RESAMPLE_5_1,),
}
"""Rows of every operator in ascending order; the first one is where the operator was introduced."""


def introduced(operator: OperatorType) -> FeatureLevel:
    """Return the lowest feature level that has `operator`."""
    return SUPPORT[operator][0].since


def support(operator: OperatorType, feature_level: FeatureLevel) -> SupportRow | None:
    """Return what `operator` takes at `feature_level`; None if the level does not have the operator."""
    return next((row for row in reversed(SUPPORT[operator]) if row.since <= feature_level), None)


def lowest_level(operator: OperatorType, accepts: Callable[[SupportRow], bool]) -> FeatureLevel | None:
    """Return the lowest feature level whose row `accepts`; None if no row does."""
    return next((row.since for row in SUPPORT[operator] if accepts(row)), None)
