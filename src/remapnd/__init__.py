"""Exact, fast N-D gather, scatter and resampling for NumPy arrays, on any CPU.

Values are defined by exact arithmetic, and the bits of a result are the same on every machine, for any number
of threads and any memory layout. Every function takes NumPy arrays and what speaks DLPack or ``__array__``,
of any strides and byte order, returns the kind that came in, and writes to `out` where that is given.
Subclasses of NumPy's arrays are taken for plain ones; masked arrays are refused, as their mask would be lost.
An option that belongs to another mode is refused, not ignored, if it has another value than its default.

Read items at indices
    `gather`            slices along one axis, as `numpy.take`
    `gather_elements`   an index for each item of the result, along one axis
    `take_along_axis`   the same, broadcasting off the axis, as in NumPy
    `gather_nd`         items or slices at index tuples

    >>> import numpy as np, remapnd
    >>> remapnd.gather_nd(np.array([[1, 2], [3, 4]]), [[0, 1], [-1, 0]])
    array([2, 3])

Write or reduce items at indices
    `scatter_elements`, `put_along_axis`, `scatter_nd`
                        `gather_elements`, `take_along_axis` and `gather_nd` turned round
    `tensor_scatter`    runs of updates into a cache, each batch at its own place

    >>> remapnd.scatter_nd(np.zeros(4), [[1], [3], [1]], np.array([2.0, 5.0, 7.0]), reduction="add")
    array([0., 9., 0., 5.])

Resample along any axes
    `resize`            to given lengths, by a named coordinate mode: images, volumes, labels
    `resample`          by scales and offsets
    `describe`          the positions and nearest samples of an axis, as a table

    >>> remapnd.resize(np.array([[0, 100], [100, 200]], np.uint8), (3, 3))
    array([[  0,  50, 100],
           [ 50, 100, 150],
           [100, 150, 200]], dtype=uint8)

Sample at positions that are data
    `grid_sample`       at the coordinates of a grid; `affine_grid` makes one
    `roi_align`, `crop_and_resize`
                        regions of images, pooled or sampled to one size

    >>> image = np.array([[[[0.0, 1.0], [2.0, 3.0]]]])
    >>> remapnd.grid_sample(image, [[[[0, 0], [-0.5, -0.5], [1, 0.5]]]])
    array([[[[1.5, 0. , 1.5]]]])

Prepare once, call often
    `GatherPlan`, `GatherElementsPlan`, `GatherNDPlan`, `ScatterElementsPlan`, `ScatterNDPlan`,
    `ResamplePlan` (of `resample`), `ResamplePlan.resized` (of `resize`), `GridSamplePlan`
                        made of shapes, dtypes and options; they have gradients (`vjp`), say what they do
                        (`explain`), and those of resampling also work on parts (`region`)

    >>> plan = remapnd.ResamplePlan.resized((480, 640, 3), np.uint8, (240, 320), axes=(0, 1))
    >>> plan(np.zeros((480, 640, 3), np.uint8)).shape
    (240, 320, 3)

Settings
    `set_num_threads`, `get_num_threads`, `num_threads` (for a block), `get_config`, `show_config`

Modules, which are imported when they are first used
    `remapnd.directml`  operators of DirectML: descriptors, checks by feature level, DxDispatch models
    `remapnd.onnx`      a backend and operators for the package onnx, lint and verification of models
    `remapnd.webnn`     gathers, scatters and resample2d of WebNN
    `remapnd.simd`      SynetGatherElements of the Simd library
    `remapnd.reference` the executable specification, in plain NumPy
    `remapnd.selftest`  results with known hashes, on every level and several numbers of threads

``python -m remapnd --help`` lists the commands: resize files, run and check models, explain a resampling.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from .command_line import quiet_interrupt, runs_command_line

if runs_command_line():
    sys.excepthook = quiet_interrupt

try:
    from . import _core as _core
except ImportError as error:
    if error.name != __name__:  # it is there, and says itself why it cannot be loaded
        raise
    raise ImportError(
        f"remapnd: the compiled core `_core` for {sys.implementation.cache_tag} is not in "
        f"{__path__[0]}; from a source checkout, install with `python -m pip install .`, or build in "
        "place as CONTRIBUTING.md says",
        name=f"{__name__}._core",
    ) from None

from ._version import __version__
from .config import (
    apply_environment,
    get_config,
    get_num_threads,
    num_threads,
    set_num_threads,
    show_config,
)
from .gather import gather, gather_elements, gather_nd, take_along_axis
from .grid_sample import affine_grid, grid_sample
from .plans.gather import GatherElementsPlan, GatherNDPlan, GatherPlan
from .plans.resample import ResamplePlan
from .plans.sample import GridSamplePlan
from .plans.scatter import ScatterElementsPlan, ScatterNDPlan
from .regions import crop_and_resize, roi_align
from .resample import describe, resample, resize
from .scatter import put_along_axis, scatter_elements, scatter_nd
from .tensor_scatter import tensor_scatter

__all__ = [
    "GatherElementsPlan",
    "GatherNDPlan",
    "GatherPlan",
    "GridSamplePlan",
    "ResamplePlan",
    "ScatterElementsPlan",
    "ScatterNDPlan",
    "__version__",
    "affine_grid",
    "crop_and_resize",
    "describe",
    "gather",
    "gather_elements",
    "gather_nd",
    "get_config",
    "get_num_threads",
    "grid_sample",
    "num_threads",
    "put_along_axis",
    "resample",
    "resize",
    "roi_align",
    "scatter_elements",
    "scatter_nd",
    "set_num_threads",
    "show_config",
    "take_along_axis",
    "tensor_scatter",
]

if not runs_command_line():
    apply_environment()


_MODULES = ("directml", "onnx", "reference", "selftest", "simd", "webnn")


def __dir__() -> list[str]:
    """List what is public: names, and modules that have been imported."""
    return [*__all__, *(set(_MODULES) & globals().keys())]


if not TYPE_CHECKING:  # to a type checker every name would be there

    def __getattr__(name: str) -> ModuleType:
        """Import a module of the package when it is first asked for."""
        if name in _MODULES:
            return import_module(f".{name}", __name__)
        text = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(text, name=name, obj=sys.modules[__name__])
