"""Exact, fast N-D gather, scatter and resampling for NumPy arrays, on any CPU."""

from ._version import __version__
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
    "resample",
    "resize",
    "take_along_axis",
]
