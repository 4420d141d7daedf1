"""Exact, fast N-D gather, scatter and resampling for NumPy arrays, on any CPU."""

import sys

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
    runs_command_line,
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


def __dir__() -> list[str]:
    """List what is public: names, and modules that have been imported."""
    return [*__all__, *({"directml", "onnx", "reference", "selftest", "simd", "webnn"} & globals().keys())]
