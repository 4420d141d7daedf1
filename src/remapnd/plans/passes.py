"""Tables as the compiled core takes them, and its passes over arrays of any alignment and byte order.

Used by `plans.mixing`, `plans.picking`, `plans.majority` and `plans.adjoint`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import must
from ..filter_taps import FilterTable, Table

# Dtypes that the core computes with, in the order of Type in csrc/kernels.hpp; of complex numbers, the parts.
TYPES: Final = {
    "uint8": 0,
    "int8": 1,
    "uint16": 2,
    "int16": 3,
    "uint32": 4,
    "int32": 5,
    "uint64": 6,
    "int64": 7,
    "float16": 8,
    "bfloat16": 9,
    "float32": 10,
    "float64": 11,
}
PAIRS: Final = {"complex64": "float32", "complex128": "float64"}
WORKING: Final = {"float32": 0, "float64": 1, "uint16": 2, "int32": 3}
MAX_AXES: Final = 16  # as csrc/resample_run.cpp


def core_axis(axis: int, table: Table, working: str, looks_twice: bool) -> _core.Axis | _core.FilterAxis:
    """Return an axis as the compiled core takes it."""
    if isinstance(table, FilterTable):
        weights = table.weights.astype(np.float64)
        fine = table.fine if looks_twice else None
        return _core.FilterAxis(axis, table.n_in, table.start, table.count, weights, table.base, fine)
    if working in ("uint16", "int32"):
        numerators = table.numerators().astype(np.float64)
        return _core.Axis(axis, table.n_in, table.first, table.second, numerators, table.denominator)
    return _core.Axis(axis, table.n_in, table.first, table.second, table.weight.astype(np.float64))


def linear_axes(tables: Mapping[int, Table]) -> list[_core.Axis]:
    """Return axes of two taps at most as the compiled core takes them."""
    cores = (core_axis(axis, table, "float64", False) for axis, table in tables.items())
    return [axis for axis in cores if isinstance(axis, _core.Axis)]


def check_count(op: str, tables: Mapping[int, Table], what: str) -> None:
    """Refuse more axes than the core takes at once."""
    if len(tables) > MAX_AXES:
        rule = f"name at most {MAX_AXES} axes along which anything changes, for {what}"
        raise ValueError(must(op, "axes", rule, tuple(tables)))


def on_native(
    run: Callable[[NDArray[Any], NDArray[Any]], None], data: NDArray[Any], out: NDArray[Any]
) -> None:
    """Call `run` with aligned arrays of native byte order in the place of `data` and `out`."""
    data = np.require(data, data.dtype.newbyteorder("="), "A")
    if out.flags.aligned and out.dtype.isnative:
        run(data, out)
    else:
        native = np.empty(out.shape, data.dtype)
        run(data, native)
        np.copyto(out, native)
