"""Exact, fast N-D gather, scatter and resampling for NumPy arrays, on any CPU."""

from ._version import __version__
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
    "put_along_axis",
    "resample",
    "resize",
    "scatter_elements",
    "scatter_nd",
    "take_along_axis",
]
