"""WebNN's gather, gatherElements, gatherND, scatterElements, scatterND and resample2d, with WebNN's rules.

The functions take and return arrays; `builder` has the same names for descriptors, and checks a call without
data as ``MLGraphBuilder`` does. Indices out of range are clamped; nothing outside of an array is ever read or
written.
"""

from . import builder
from .descriptor import OperandDescriptor
from .operators import (
    gather,
    gather_elements,
    gather_nd,
    resample2d,
    scatter_elements,
    scatter_nd,
)

__all__ = [
    "OperandDescriptor",
    "builder",
    "gather",
    "gather_elements",
    "gather_nd",
    "resample2d",
    "scatter_elements",
    "scatter_nd",
]


def __dir__() -> list[str]:
    """List what is public."""
    return __all__
