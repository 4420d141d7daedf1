"""The compiled core as Python sees it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

# ---- threads and levels

def set_num_threads(n: int) -> None: ...
def set_num_threads_here(n: int) -> None: ...
def get_num_threads_here() -> int: ...
def get_num_threads() -> int: ...
def usable_processors() -> int: ...
def quota(groups: str, root: str, /) -> int: ...
def levels_built() -> list[str]: ...
def levels_usable() -> list[str]: ...
def level() -> str: ...
def use_level(name: str) -> bool: ...

# ---- gather

class Gather:
    """A gather with all axes told (ARCHITECTURE.md, Gather geometry).

    `bounds` is 0 raise, 1 clip, 2 wrap, 3 fill. A call returns False when an index was out of range; `out`
    may then be partly written.
    """

    def __init__(
        self,
        data_axes: list[int],
        index_axes: list[int],
        indexed: list[int],
        component_axis: int,
        bounds: int,
    ) -> None: ...
    def __call__(
        self,
        data: npt.NDArray[Any],
        indices: npt.NDArray[Any],
        out: npt.NDArray[Any],
        fill: bytes | None,
    ) -> bool: ...

class PreparedGather:
    """A gather and the arrays it is for; not for bounds "fill".

    A call returns the result, or None where more has to be looked at: arrays that are not plain NumPy or do
    not fit, an `out` that may overlap, an index out of range (`out` may then be partly written).
    """

    def __init__(
        self,
        gather: Gather,
        data_dtype: np.dtype[Any],
        data_shape: list[int],
        indices_dtype: np.dtype[Any],
        indices_shape: list[int],
        output_shape: list[int],
    ) -> None: ...
    def __call__(self, data: object, indices: object, out: object) -> npt.NDArray[Any] | None: ...

class RecentGathers:
    """Some prepared gathers, each kept with the option of its operator; a call finds the one that fits."""

    def __init__(self) -> None: ...
    def __call__(
        self, data: object, indices: object, option: object, out: object
    ) -> npt.NDArray[Any] | None: ...
    def keep(self, prepared: PreparedGather, option: int) -> None: ...

# ---- scatter

class Scatter:
    """A scatter with all axes told: those of a gather, with updates for its output.

    `bounds` is 0 raise, 1 clip, 2 wrap, 3 drop; `reduction` the place in checks.REDUCTIONS, `number` that in
    checks.NUMBERS. Without `source`, `data` holds the values to scatter into. A call returns False when an
    index was out of range; `data` is then as it was, if there is no `source`.
    """

    def __init__(
        self,
        data_axes: list[int],
        index_axes: list[int],
        indexed: list[int],
        component_axis: int,
        bounds: int,
        reduction: int,
        number: int,
    ) -> None: ...
    def __call__(
        self,
        source: npt.NDArray[Any] | None,
        indices: npt.NDArray[Any],
        updates: npt.NDArray[Any],
        data: npt.NDArray[Any],
    ) -> bool: ...

class PreparedScatter:
    """A scatter and the arrays it is for; `updates_shape` and the dtype of the data are those of the updates.

    A call is as that of PreparedGather, but `out` may be `data`.
    """

    def __init__(
        self,
        scatter: Scatter,
        data_dtype: np.dtype[Any],
        data_shape: list[int],
        indices_dtype: np.dtype[Any],
        indices_shape: list[int],
        updates_shape: list[int],
    ) -> None: ...
    def __call__(
        self, data: object, indices: object, updates: object, out: object
    ) -> npt.NDArray[Any] | None: ...

class RecentScatters:
    """Some prepared scatters, each kept with the option of its operator and its reduction."""

    def __init__(self) -> None: ...
    def __call__(
        self, data: object, indices: object, updates: object, option: object, reduction: object, out: object
    ) -> npt.NDArray[Any] | None: ...
    def keep(self, prepared: PreparedScatter, option: int, reduction: object) -> None: ...

# ---- resample

class Axis:
    """One resampled axis: taps in [0, n_in), and the weight of the second over `one`; contiguous arrays."""

    def __init__(
        self,
        axis: int,
        n_in: int,
        first: npt.NDArray[np.int64],
        second: npt.NDArray[np.int64],
        weight: npt.NDArray[np.float64],
        one: float = 1.0,
    ) -> None: ...

class FilterAxis:
    """One resampled axis with any number of taps; contiguous arrays.

    Output x has the taps ``start[x] + k``, ``k < count[x]``, in [0, n_in), of weight ``weights[x, k]``, a
    value of the working type. With ``c = base[x]`` it is ``x[c] + sum of w[k] * (x[k] - x[c])`` over the
    other taps in ascending order; without `base` the sum of ``w[k] * x[k]``, and counts may be 0. `fine`
    holds the weights in float64, for a second look at doubtful integers.
    """

    def __init__(
        self,
        axis: int,
        n_in: int,
        start: npt.NDArray[np.int64],
        count: npt.NDArray[np.int64],
        weights: npt.NDArray[np.float64],
        base: npt.NDArray[np.int64] | None,
        fine: npt.NDArray[np.float64] | None,
    ) -> None: ...

class Rounding:
    """How a working value becomes an integer, clamped to its dtype (Rounding in csrc/kernels.hpp).

    `rule` is 0 half_up, 1 half_even, 2 truncate by sign, 3 truncate down, 4 truncate up.
    """

    def __init__(
        self,
        rule: int,
        half_step: float = 0.0,
        base: int = 0,
        divisor: int = 1,
        add: int = 0,
        multiplier: int = 0,
        shift: int = 0,
    ) -> None: ...

class Linear:
    """Resampling along `axes`, ascending; `order` lists their positions in the order of application.

    `type` is the place in uint8, int8, uint16, int16, uint32, int32, uint64, int64, float16, bfloat16,
    float32, float64; `work` 0 float32, 1 float64, 2 uint16 (with linear axes only); with `pairs` items are
    two of the type. A call returns the flat positions of results within `bound` of a decision. Where the
    working type is float32 and filter axes have `fine` weights, those are computed again in float64, with
    the weights of linear axes as given, and only results within `fine_bound` of a decision are returned; with
    `ties` these are at the decision, and none is returned.
    """

    def __init__(
        self, type: int, work: int, pairs: bool, axes: Sequence[Axis | FilterAxis], order: list[int]
    ) -> None: ...
    def __call__(
        self,
        data: npt.NDArray[Any],
        out: npt.NDArray[Any],
        rounding: Rounding,
        bound: float,
        fine_bound: float = 0.0,
        ties: bool = False,
    ) -> npt.NDArray[np.int64]: ...

class Majority:
    """Resampling of labels along `axes`, ascending: the one that weighs most, the lowest of equal ones.

    `type` is that of `Linear`, an integer; the second tap is the first or the one behind it. A call returns
    the flat positions of results whose two largest sums of weights are within `bound`; 0 where sums are
    exact.
    """

    def __init__(self, type: int, axes: list[Axis]) -> None: ...
    def __call__(
        self, data: npt.NDArray[Any], out: npt.NDArray[Any], bound: float
    ) -> npt.NDArray[np.int64]: ...

class Nearest:
    """Nearest resampling along `axes`, ascending: moves items; reads `first` of the tables."""

    def __init__(self, axes: list[Axis]) -> None: ...
    def __call__(self, data: npt.NDArray[Any], out: npt.NDArray[Any]) -> None: ...

class PreparedResample:
    """A `Linear` or `Nearest` none of whose results is ever in doubt, and the arrays it is for.

    A call returns the result, or None where more has to be looked at: arrays that are not plain NumPy, not
    aligned or do not fit, an `out` that may overlap.
    """

    def __init__(
        self,
        run: Linear | Nearest,
        rounding: Rounding,
        dtype: np.dtype[Any],
        data_shape: list[int],
        output_shape: list[int],
    ) -> None: ...
    def __call__(self, data: object, out: object) -> npt.NDArray[Any] | None: ...

class RecentResamples:
    """Some prepared resamplings, each kept with the arguments of its call; a call finds the one that fits.

    Only arguments that cannot change are kept: None, bool, int, float, str and tuples of them.
    """

    def __init__(self) -> None: ...
    def __call__(
        self, data: object, arguments: tuple[object, ...], out: object
    ) -> npt.NDArray[Any] | None: ...
    def keep(self, prepared: PreparedResample, arguments: tuple[object, ...]) -> None: ...

# ---- sample

MAX_BIN_SAMPLES: int

class SampleAxis:
    """A sampled axis of n samples: coordinate g stands for position (g * scale + shift) / 2.

    `low` and `high` are the borders at which positions are reflected.
    """

    def __init__(self, n: int, scale: float, shift: float, low: float, high: float) -> None: ...

class Sample:
    """Sampling at positions that are data; `axes` are those of data behind batch and channel.

    `mode` is 0 nearest, 1 linear, 2 cubic; `padding` 0 zeros, 1 border, 2 reflection; the types are numbered
    as in `Linear`, that of the data not read for nearest. With `batches` grid k samples data batches[k].
    """

    def __init__(
        self, mode: int, padding: int, type: int, grid_type: int, axes: list[SampleAxis]
    ) -> None: ...
    def __call__(
        self,
        data: npt.NDArray[Any],
        grid: npt.NDArray[Any],
        batches: npt.NDArray[np.int64] | None,
        out: npt.NDArray[Any],
    ) -> None: ...
    def gradient(self, gradient: npt.NDArray[Any], grid: npt.NDArray[Any], out: npt.NDArray[Any]) -> None: ...

def roi_align(
    data: npt.NDArray[Any],
    batches: npt.NDArray[np.int64],
    start: npt.NDArray[np.float64],
    bin: npt.NDArray[np.float64],
    per_bin: npt.NDArray[np.int64],
    pooling: int,
    type: int,
    out: npt.NDArray[Any],
) -> None:
    """Pool regions: start, bin and per_bin have two values for each, flat.

    `pooling` is 0 average, 1 largest; `type` numbered as in `Linear`.
    """
