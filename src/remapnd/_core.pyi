"""The compiled core as Python sees it."""

from typing import Any

import numpy.typing as npt

# ---- threads and levels

def set_num_threads(n: int) -> None: ...
def set_num_threads_here(n: int) -> None: ...
def get_num_threads_here() -> int: ...
def get_num_threads() -> int: ...
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
