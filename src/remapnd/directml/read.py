"""Reading fields that may hold anything: each function gives the value as C would hold it, or None.

Uses `enums`; used by `tensor`, `inspection` and `run`. Nothing here raises for a value of a wrong kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from numbers import Real
from typing import SupportsFloat, TypeVar

import numpy as np

from remapnd.directml.enums import DMLEnum, DMLFlag

UINT_MAX = 2**32 - 1
UINT64_MAX = 2**64 - 1

_T = TypeVar("_T")


def uint(value: object, largest: int = UINT_MAX) -> int | None:
    """Read a UINT (or with `largest` a UINT64)."""
    if isinstance(value, (bool, Enum)) or not isinstance(value, (int, np.integer)):
        return None
    return int(value) if 0 <= value <= largest else None


def boolean(value: object) -> bool | None:
    """Read a BOOL: a bool, or 0 or 1."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return bool(value) if uint(value, 1) is not None else None


def float32(value: SupportsFloat) -> float:
    """Round to the nearest float32, as storing in a FLOAT field does; too large a number becomes infinite."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(float(value)))


def number(value: object) -> float | None:
    """Read a FLOAT: the nearest float32, which may be infinite or NaN."""
    if isinstance(value, (bool, Enum)) or not isinstance(value, (Real, np.integer, np.floating)):
        return None
    try:
        return float32(value)
    except OverflowError:  # an int or Fraction beyond float64
        return -math.inf if value < 0 else math.inf


def sequence(value: object) -> tuple[object, ...] | None:
    """Read an array: any sequence but text and bytes, or a one-dimensional NumPy array."""
    if isinstance(value, np.ndarray):
        return tuple(value) if value.ndim == 1 else None
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return tuple(value)
    return None


def parsed(parse: Callable[[object], _T], value: object) -> _T | None:
    """Read by the `parse` of an enumeration: a member, its name or its number."""
    try:
        return parse(value)
    except (TypeError, ValueError):
        return None


def shown(value: object) -> str:
    """Write a value for a message: names for members, one line of at most 80 characters, whatever it is."""
    if isinstance(value, (DMLEnum, DMLFlag)):
        return str(value)
    try:
        text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    except (
        Exception
    ):  # a foreign __repr__, or an int beyond the interpreter's digit limit, may raise anything
        return f"<{type(value).__name__}>"
    return text if len(text) <= 80 else text[:77] + "..."
