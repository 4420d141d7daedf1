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
from .resample import resample, resize

__all__ = [
    "GatherElementsPlan",
    "GatherNDPlan",
    "GatherPlan",
    "ResamplePlan",
    "__version__",
    "gather",
    "gather_elements",
    "gather_nd",
    "get_config",
    "get_num_threads",
    "num_threads",
    "resample",
    "resize",
    "set_num_threads",
    "show_config",
    "take_along_axis",
]

apply_environment()
