"""Exact, fast N-D gather, scatter and resampling for NumPy arrays, on any CPU."""

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
from .plans.gather import GatherElementsPlan, GatherNDPlan, GatherPlan
from .plans.resample import ResamplePlan
from .plans.scatter import ScatterElementsPlan, ScatterNDPlan
from .resample import resample, resize
from .scatter import put_along_axis, scatter_elements, scatter_nd

__all__ = [
    "GatherElementsPlan",
    "GatherNDPlan",
    "GatherPlan",
    "ResamplePlan",
    "ScatterElementsPlan",
    "ScatterNDPlan",
    "__version__",
    "gather",
    "gather_elements",
    "gather_nd",
    "get_config",
    "get_num_threads",
    "num_threads",
    "put_along_axis",
    "resample",
    "resize",
    "scatter_elements",
    "scatter_nd",
    "set_num_threads",
    "show_config",
    "take_along_axis",
]

apply_environment()
