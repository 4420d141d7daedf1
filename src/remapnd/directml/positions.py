"""Tables of resampling for the answers of a policy: precision of positions, rules of nearest, antialiasing.

Uses the exact positions and tables of the package and `plans.separable`; used by `kernels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from remapnd import coordinates, taps
from remapnd.coordinates import HALF, AxisMap
from remapnd.filter_taps import filter_table
from remapnd.filters import Filter
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
        """Return the taps of a triangle of half-width ``1 / scale``; positions are exact."""
        filter = Filter("triangle", 1 / Fraction(self.scale), "drop", Fraction(0))
        return TapTable.of_filter(filter_table(self.exact, self.n_in, self.n_out, filter, np.float64))

    def halved(self) -> TapTable:
        """Return means of two until the scale is at least 1/2, then linear; positions are exact."""
        n, scale = self.n_in, Fraction(self.scale)
        means = []
        while 2 * scale < 1 and n > 1:
            index = np.minimum(np.arange(n + n % 2), n - 1).reshape(-1, 2).T
            weight = np.full(index.shape, 0.5)
            weight[:, index[0] == index[1]] = [[1], [0]]
            means.append(TapTable(n, index, weight))
            n, scale = -(-n // 2), 2 * scale
        times = 1 << len(means)  # sample j of what is left is centred at (j + 1/2) * times - 1/2
        left = AxisMap((self.exact.start + HALF) / times - HALF, self.exact.step / times)
        table = TapTable.of_linear(taps.linear_table(left, n, self.n_out, np.float64))
        for mean in reversed(means):
            table = table.after(mean)
        return table

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
