"""Plans of sampling at positions that are data: shapes, dtypes and options to a kernel call.

Uses `arrays`, `checks` and `_core`; used by `grid_sample` and `regions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import DTypeLike

from .. import _core, arrays, checks
from ..errors import must
from .plan import Plan

Shape: TypeAlias = tuple[int, ...]
SampleMode: TypeAlias = Literal["linear", "nearest", "cubic"]
Padding: TypeAlias = Literal["zeros", "border", "reflection"]

# In the order of Sampling and Padding in csrc/kernels.hpp.
_MODES = ("nearest", "linear", "cubic")
_PADDINGS = ("zeros", "border", "reflection")
# The place of a dtype in Type in csrc/kernels.hpp.
FLOATS = {"float16": 8, "bfloat16": 9, "float32": 10, "float64": 11}

MAX_AXES = 5
_MAX_SAMPLES = 2**30
_FLOAT32 = FLOATS["float32"]


def floats(op: str, name: str, dtype: np.dtype[Any], more: str = "") -> int:
    """Return the number of a dtype of floats; `more` ends the rule."""
    if dtype.name not in FLOATS:
        raise TypeError(must(op, name, f"have one of the dtypes {', '.join(FLOATS)}{more}", dtype))
    return FLOATS[dtype.name]


def native(a: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array in native byte order; a copy for the other one."""
    return a if a.dtype.isnative else a.astype(a.dtype.newbyteorder("="))


def has_samples(op: str, data_shape: Shape) -> None:
    """Refuse sampled axes, those behind the second, that are empty or too long for exact positions."""
    for axis, n in enumerate(data_shape[2:], 2):
        if not 1 <= n <= _MAX_SAMPLES:
            raise ValueError(must(op, "data", f"have 1 to {_MAX_SAMPLES} samples on axis {axis}", n))


@dataclass(frozen=True)
class Sampler:
    """A call of the core: a mode, a padding, and what coordinates mean on each axis behind the second."""

    op: str
    mode: str
    padding: str
    data_dtype: np.dtype[Any]
    grid_dtype: np.dtype[Any]
    axes: tuple[_core.SampleAxis, ...]
    _run: _core.Sample = field(init=False, compare=False)

    def __post_init__(self) -> None:
        run = _core.Sample(
            _MODES.index(self.mode),
            _PADDINGS.index(self.padding),
            FLOATS.get(self.data_dtype.name, _FLOAT32),  # nearest takes others, and reads it for gradients
            FLOATS[self.grid_dtype.name],
            list(self.axes),
        )
        object.__setattr__(self, "_run", run)

    def fill(
        self,
        data: npt.NDArray[Any],
        grid: npt.NDArray[Any],
        batches: npt.NDArray[np.int64] | None,
        out: npt.NDArray[Any],
    ) -> None:
        """Write all samples to `out`; with `batches` grid k samples data batches[k]."""
        run, grid = self._run, native(grid)
        if self.mode == "nearest":
            run(data, grid, batches, out)
        elif out.dtype.isnative and out.flags.aligned:
            run(native(data), grid, batches, out)
        else:
            plain = np.empty(out.shape, out.dtype.newbyteorder("="))
            run(native(data), grid, batches, plain)
            np.copyto(out, plain)

    def add_gradient(
        self, gradient: npt.NDArray[Any], grid: npt.NDArray[Any], total: npt.NDArray[Any]
    ) -> None:
        """Add the gradient of the data, which is of float32 or float64, to `total`."""
        self._run.gradient(gradient, native(grid), total)


def normalised_axis(n: int, align_corners: bool) -> _core.SampleAxis:
    """Return an axis whose coordinates -1 and 1 are its ends: of the samples, or of their centres."""
    if align_corners:
        return _core.SampleAxis(n, n - 1.0, n - 1.0, 0.0, n - 1.0)
    return _core.SampleAxis(n, float(n), n - 1.0, -0.5, n - 0.5)


def sample_axis(n: int) -> _core.SampleAxis:
    """Return an axis whose coordinates are positions."""
    return _core.SampleAxis(n, 2.0, 0.0, 0.0, n - 1.0)


def check_sampled_dtype(op: str, dtype: np.dtype[Any], mode: str) -> None:
    """Refuse data that the mode cannot sample."""
    if mode == "nearest":
        checks.movable_dtype(op, "data", dtype)
    else:
        floats(op, "data", dtype, f" for mode {mode!r} ('nearest' takes every dtype)")


class GridSamplePlan(Plan):
    """`grid_sample` for arrays of known shapes and dtypes: checked once, called often.

    Parameters
    ----------
    data_shape : tuple of int, (n, c, *sizes), with 1 to 5 sizes
    data_dtype : dtype
    grid_shape : tuple of int, (n, *places, len(sizes)), with as many places as sizes
    grid_dtype : dtype
    mode, padding, align_corners
        As in `grid_sample`.

    Attributes
    ----------
    data_shape, data_dtype, grid_shape, grid_dtype, mode, padding, align_corners
        As given.
    output_shape : tuple of int, (n, c, *places)

    Raises
    ------
    TypeError, ValueError
        As `grid_sample` does.

    Notes
    -----
    Immutable, comparable and picklable; safe to call from several threads at once.
    """

    _op = "grid_sample"

    def __init__(
        self,
        data_shape: Sequence[int],
        data_dtype: DTypeLike,
        grid_shape: Sequence[int],
        grid_dtype: DTypeLike,
        *,
        mode: SampleMode = "linear",
        padding: Padding = "zeros",
        align_corners: bool = False,
    ) -> None:
        op = self._op
        self.data_shape = data = checks.shape(op, "data", data_shape)
        self.data_dtype = checks.dtype(op, "data_dtype", data_dtype)
        self.grid_shape = grid = checks.shape(op, "grid", grid_shape)
        self.grid_dtype = checks.dtype(op, "grid_dtype", grid_dtype)
        self.mode, self.padding, self.align_corners = mode, padding, align_corners
        checks.choice(op, "mode", self.mode, ("linear", "nearest", "cubic"))
        checks.choice(op, "padding", self.padding, _PADDINGS)
        checks.boolean(op, "align_corners", self.align_corners)
        check_sampled_dtype(op, self.data_dtype, self.mode)
        floats(op, "grid", self.grid_dtype)
        if not 3 <= len(data) <= MAX_AXES + 2:
            rule = f"have 3 to {MAX_AXES + 2} axes (batch, channel and 1 to {MAX_AXES} to sample)"
            raise ValueError(must(op, "data", rule, len(data)))
        if len(grid) != len(data):
            raise ValueError(must(op, "grid", f"have {len(data)} axes, as `data` has", len(grid)))
        if grid[0] != data[0]:
            raise ValueError(must(op, "grid", f"have size {data[0]} on axis 0, as `data`", grid[0]))
        r = len(data) - 2
        if grid[-1] != r:
            rule = f"have size {r} on its last axis, one for each sampled axis of `data`"
            raise ValueError(must(op, "grid", rule, grid[-1]))
        self.output_shape: Shape = (*data[:2], *grid[1:-1])
        checks.result_shape(op, "grid", self.output_shape, self.data_dtype)
        if 0 not in self.output_shape:
            has_samples(op, data)
            axes = tuple(normalised_axis(n, self.align_corners) for n in data[2:])
            self._sampler = Sampler(op, mode, padding, self.data_dtype, self.grid_dtype, axes)

    def __call__(self, data: Any, grid: Any, /, *, out: Any = None) -> Any:
        """Sample `data` at `grid`.

        Parameters
        ----------
        data, grid : arrays of the shapes and dtypes of the plan
        out : array, shape `output_shape`, dtype of `data`, optional
            Is written and returned.

        Returns
        -------
        array of the kind of `data`, or `out`

        Raises
        ------
        TypeError, ValueError
            A dtype or shape is another; `out` overlaps an input.
        """
        op = self._op
        x, g = arrays.as_array(data, op, "data"), arrays.as_coordinates(grid, op, "grid")
        self._check_fit("data", x, self.data_shape, self.data_dtype)
        self._check_fit("grid", g, self.grid_shape, self.grid_dtype)
        return self._finish(data, x, g, out)

    def _finish(self, given: object, data: npt.NDArray[Any], grid: npt.NDArray[Any], out: Any) -> Any:
        """Sample arrays that fit the plan; `given` is the object that `data` came from."""
        if out is None:
            target = arrays.empty(self._op, self.output_shape, self.data_dtype)
        else:
            target = arrays.check_out(self._op, out, self.output_shape, self.data_dtype, (data, grid))
        if 0 not in self.output_shape:
            self._sampler.fill(data, grid, None, target)
        if out is not None:
            return out
        return target if type(given) is np.ndarray else arrays.like(given, target)

    def vjp(self, gradient: Any, grid: Any, /) -> Any:
        """Return the gradient of `data` for the gradient of the output: the transpose of sampling at `grid`.

        Each place, in row-major order, adds its gradient times their weights to the samples that it was made
        of. The weights are those of the forward pass, linear w and ``1 - w``; that of several axes is their
        product, the innermost first. Samples of weight zero, and those outside that count as zero, get
        nothing.

        Parameters
        ----------
        gradient : array_like, shape `output_shape`, dtype of data, one of the four of floats
        grid : array_like, as in the call

        Returns
        -------
        array, shape `data_shape`, dtype of `data`, kind of `gradient`; always a new array

        Raises
        ------
        TypeError, ValueError
            An array does not fit the plan; "nearest" of a dtype that is none of floats.

        Notes
        -----
        Sums are of the working type, float32 or float64 for float64, and rounded to the dtype once; their
        bits do not depend on machine and threads. A NaN is the positive quiet one.

        Examples
        --------
        >>> import numpy as np
        >>> plan = GridSamplePlan((1, 1, 4), np.float64, (1, 2, 1), np.float64, align_corners=True)
        >>> plan.vjp(np.array([[[1.0, 10.0]]]), np.array([[[-1.0], [0.0]]]))
        array([[[1., 5., 5., 0.]]])
        """
        op = self._op
        floats(op, "gradient", self.data_dtype)
        given, g = arrays.as_array(gradient, op, "gradient"), arrays.as_array(grid, op, "grid")
        self._check_fit("gradient", given, self.output_shape, self.data_dtype)
        self._check_fit("grid", g, self.grid_shape, self.grid_dtype)
        work = np.dtype(np.float64 if self.data_dtype.name == "float64" else np.float32)
        total = arrays.empty(op, self.data_shape, work)
        total.fill(0)
        if total.size and given.size:
            sampler = replace(self._sampler, data_dtype=work)
            sampler.add_gradient(given.astype(work, copy=False), g, total)
        with np.errstate(all="ignore"):
            result = np.where(np.isnan(total), np.nan, total).astype(self.data_dtype)
        return arrays.like(gradient, result)

    def _check_fit(self, name: str, a: npt.NDArray[Any], shape: Shape, dtype: np.dtype[Any]) -> None:
        """Refuse an array that the plan was not made for."""
        if a.dtype != dtype:
            raise TypeError(must(self._op, name, f"have the plan's dtype {dtype}", a.dtype))
        if a.shape != shape:
            raise ValueError(must(self._op, name, f"have the plan's shape {shape}", a.shape))

    def __repr__(self) -> str:
        shapes = f"{self.data_shape} at {self.grid_shape} -> {self.output_shape}"
        return f"<GridSamplePlan {self.mode} {self.data_dtype} {shapes}>"

    @property
    def _key(self) -> tuple[tuple[Any, ...], tuple[SampleMode, Padding, bool]]:
        """All that the plan is made of."""
        arguments = (self.data_shape, self.data_dtype, self.grid_shape, self.grid_dtype)
        return arguments, (self.mode, self.padding, self.align_corners)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self._key

    def explain(self) -> str:
        """Say in words what the plan does.

        Returns
        -------
        str, several lines
        """
        lines = [repr(self).strip("<>")]
        r = len(self.data_shape) - 2
        for d, n in enumerate(self.data_shape[2:]):
            m = n - 1 if self.align_corners else n
            component = r - 1 - d
            lines.append(f"axis {d + 2}: {n} samples, x = (grid[..., {component}] * {m} + {n - 1}) / 2")
        outside = {
            "zeros": "samples outside are zero",
            "border": "samples outside are those at the border",
            "reflection": "samples outside are those inside, reflected at the borders",
        }
        lines.append(outside[self.padding])
        if self.mode == "nearest":
            lines.append(f"nearest sample, ties to even; moves {self.data_dtype.itemsize} bytes per item")
        else:
            work = "float64" if self.data_dtype.name == "float64" else "float32"
            lines.append(f"{self.mode} in {work}, along axes {tuple(range(r + 1, 1, -1))} in this order")
        return "\n".join(lines)


def _restored(arguments: Sequence[Any], options: tuple[SampleMode, Padding, bool]) -> GridSamplePlan:
    """Make a plan again from what `GridSamplePlan.__reduce__` kept."""
    mode, padding, align_corners = options
    return GridSamplePlan(*arguments, mode=mode, padding=padding, align_corners=align_corners)
