"""Tables of resampling for the answers of a policy: precision of positions, rules of nearest, antialiasing.

Uses `policy`, `remapnd.coordinates`, `remapnd.taps` and `plans.separable`; used by `kernels`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from remapnd import coordinates, taps
from remapnd.coordinates import HALF, AxisMap
from remapnd.plans.separable import TapTable

NearestRule = Literal["half_up", "half_down", "floor", "ceil"]
Precision = Literal["exact", "float64", "float32"]


@dataclass(frozen=True)
class Positions:
    """Where the m outputs along a dimension of n_in samples lie: ``x = (X - onto) / scale - into``.

    Parameters
    ----------
    n_in, n_out : int
    scale, into, onto : float
        Values of float32: Scale, InputPixelOffset, OutputPixelOffset.
    precision : "exact", "float64" or "float32"
    """

    n_in: int
    n_out: int
    scale: float
    into: float
    onto: float
    precision: Precision

    @property
    def exact(self) -> AxisMap:
        """The positions as an exact map."""
        return coordinates.axis_map(self.scale, self.into, self.onto)

    def nearest(self, rule: NearestRule) -> npt.NDArray[np.int64]:
        """Return the index that each output takes, shape (n_out,)."""
        if self.precision == "exact":
            return taps.nearest_table(self.exact, self.n_in, self.n_out, rule)
        x = self._rounded()
        half = x.dtype.type(0.5)
        if rule == "half_up":
            return self._clamped(np.floor(x + half))
        if rule == "half_down":
            return self._clamped(np.ceil(x - half))
        return self._clamped(np.floor(x) if rule == "floor" else np.ceil(x))

    def linear(self) -> TapTable:
        """Return the two taps of each output."""
        if self.precision == "exact":
            return TapTable.of_linear(taps.linear_table(self.exact, self.n_in, self.n_out, np.float64))
        x = self._rounded()
        floor = np.floor(x)
        first, second = self._clamped(floor), self._clamped(floor + 1)
        with np.errstate(invalid="ignore"):  # infinite positions, whose taps are one
            weight = np.where(first == second, 0, x - floor).astype(np.float64)
        return TapTable(self.n_in, np.stack([first, second]), np.stack([1 - weight, weight]))

    def triangle(self) -> TapTable:
        """Return the taps of a triangle of half-width ``1 / scale``, normalised over the samples there are.

        A position farther than that from all samples takes the sample at the edge.
        """
        width = 1 / Fraction(self.scale)
        places = self.exact.positions(self.n_out)
        first = [min(max(math.floor(x - width) + 1, 0), self.n_in - 1) for x in places]
        last = [min(max(math.ceil(x + width) - 1, 0), self.n_in - 1) for x in places]
        index = np.array(first) + np.arange(max(b - a for a, b in zip(first, last, strict=True)) + 1)[:, None]
        distance = index - np.array([float(x) for x in places])
        weight = np.maximum(1 - np.abs(distance) / float(width), 0)
        weight[index > np.array(last)] = 0
        weight[0, weight.sum(axis=0) == 0] = 1
        return TapTable(self.n_in, np.minimum(index, self.n_in - 1), weight / weight.sum(axis=0))

    def halved(self) -> list[TapTable]:
        """Return means of two until the scale is at least 1/2, then the linear taps on what is left."""
        n, scale = self.n_in, Fraction(self.scale)
        tables = []
        while 2 * scale < 1 and n > 1:
            index = np.minimum(np.arange(n + n % 2), n - 1).reshape(-1, 2).T
            weight = np.full(index.shape, 0.5)
            weight[:, index[0] == index[1]] = [[1], [0]]
            tables.append(TapTable(n, index, weight))
            n, scale = -(-n // 2), 2 * scale
        times = 1 << len(tables)  # sample j of what is left is centred at (j + 1/2) * times - 1/2
        start = (self.exact.start + HALF) / times - HALF
        left = AxisMap(start, self.exact.step / times)
        return [*tables, TapTable.of_linear(taps.linear_table(left, n, self.n_out, np.float64))]

    def _rounded(self) -> npt.NDArray[Any]:
        """Return the positions with every operation rounded."""
        dtype = np.dtype(self.precision).type
        with np.errstate(over="ignore"):
            outputs = np.arange(self.n_out).astype(dtype)
            positions: npt.NDArray[Any] = (outputs - dtype(self.onto)) / dtype(self.scale) - dtype(self.into)
        return positions

    def _clamped(self, index: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Clamp to the samples there are."""
        clamped: npt.NDArray[np.int64] = np.clip(index, 0, self.n_in - 1).astype(np.int64)
        return clamped
