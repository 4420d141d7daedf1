"""A resampling done in slabs along the outermost axis, so that little memory is needed.

Used by `cli.resize`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from remapnd.cli.array_files import release
from remapnd.plans.resample import ResamplePlan

__all__ = ["SLAB", "slabs"]

SLAB: Final = 1 << 25  # bytes of data, and of the result, that a slab has about


def slabs(plan: ResamplePlan, data: npt.NDArray[Any], size: int = SLAB) -> Iterator[npt.NDArray[Any]]:
    """Yield the result in consecutive parts, cut along its first axis that has more than one sample.

    Parameters
    ----------
    plan : ResamplePlan
    data : ndarray, shape `plan.data_shape`
        May be mapped: only what a slab is made of is read, and its pages are given back.
    size : int
        Bytes of data and of the result that a slab may have; at least one row is done at once.

    Yields
    ------
    ndarray
        C-contiguous; with the bits that the result has as a whole.
    """
    shape = plan.output_shape
    axis = next((axis for axis, n in enumerate(shape) if n > 1), None)
    if axis is None or 0 in shape:
        yield plan(data)
        return
    n = shape[axis]
    rows = max(1, size * n // max(data.nbytes, int(np.prod(shape, dtype=object)) * plan.dtype.itemsize))
    for begin in range(0, n, rows):
        part = (*[slice(None)] * axis, slice(begin, min(begin + rows, n)))
        result = plan.region(part)(data[plan.input_region(part)])
        release(data)
        yield result
