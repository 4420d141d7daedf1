"""The formulas of WebNN and DirectML in exact arithmetic, written from their texts alone.

A resampling of two axes is ``rows @ x @ columns.T`` with matrices of weights.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

_INDEX = {
    "down": lambda x: math.ceil(x - Fraction(1, 2)),
    "up": lambda x: math.floor(x + Fraction(1, 2)),
    "floor": math.floor,
    "ceil": math.ceil,
}


def _weights(n: int, m: int, *, mode: str, s: float, i: float, o: float, ties: str) -> np.ndarray[Any, Any]:
    """Weights of n samples in each of m outputs, x = (X - o) / s - i; s of 0 stands for m / n."""
    matrix = np.zeros((m, n))
    step = 1 / Fraction(s) if s else Fraction(n, m)
    stretched = mode.startswith("triangle") and step > 2
    for out in range(m):
        x = (out - Fraction(o)) * step - Fraction(i)
        if mode == "nearest":
            matrix[out, min(max(_INDEX[ties](x), 0), n - 1)] = 1
        elif stretched:
            x = min(max(x, Fraction(-1)), Fraction(n))  # of positions further out no text says anything
            taps = [max(Fraction(0), 1 - abs(k - x) / step) for k in range(n)]
            matrix[out] = [float(tap / sum(taps)) for tap in taps]
        else:
            x = min(max(x, Fraction(0)), Fraction(n - 1))
            low = math.floor(x)
            matrix[out, low] = 1 - float(x - low)
            if x > low:
                matrix[out, low + 1] = float(x - low)
    return matrix


def resample(
    x: np.ndarray[Any, Any],
    lengths: tuple[int, int],
    mode: str,
    *,
    s: float = 0,
    i: float = 0.5,
    o: float = -0.5,
    ties: str = "up",
) -> np.ndarray[Any, Any]:
    """Resample both axes of `x` in float64."""
    rows, columns = (
        _weights(n, m, mode=mode, s=s, i=i, o=o, ties=ties) for n, m in zip(x.shape, lengths, strict=True)
    )
    return rows @ x.astype(np.float64) @ columns.T
