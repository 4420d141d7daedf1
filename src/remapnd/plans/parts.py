"""Parts of a resampling: which samples the outputs of a region read.

Used by `plans.resample`.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ..errors import must, shown
from ..filter_taps import Table

Run: TypeAlias = "tuple[int, int]"  # begin and end


def outputs(op: str, slices: Any, shape: Sequence[int]) -> tuple[Run, ...]:
    """Return the run of each axis of an output of `shape` that slices name; missing ones are whole."""
    listed = list(slices) if isinstance(slices, tuple) else [slices]
    dots = [k for k, part in enumerate(listed) if part is Ellipsis]
    if len(dots) > 1:
        raise ValueError(must(op, "output_slices", "have at most one Ellipsis", len(dots)))
    named = len(listed) - len(dots)
    if named > len(shape):
        rule = f"have at most one slice for each of {len(shape)} axes"
        raise ValueError(must(op, "output_slices", rule, f"{named} slices"))
    place = dots[0] if dots else named
    listed[place : place + len(dots)] = [slice(None)] * (len(shape) - named)
    return tuple(_run(op, part, n, axis) for axis, (part, n) in enumerate(zip(listed, shape, strict=True)))


def _run(op: str, part: Any, n: int, axis: int) -> Run:
    """Begin and end of a slice of n samples; the same where it has none."""
    if not isinstance(part, slice):
        rule = "be a slice, Ellipsis or a tuple of them"
        raise TypeError(must(op, "output_slices", rule, f"{shown(part, repr)} of type {type(part).__name__}"))
    for bound in (part.start, part.stop, part.step):
        if bound is not None and not hasattr(type(bound), "__index__"):
            rule = f"have integers or None as bounds on axis {axis}"
            raise TypeError(must(op, "output_slices", rule, shown(part, repr)))
    if part.step is not None and operator.index(part.step) != 1:
        raise ValueError(must(op, "output_slices", f"have steps of 1 on axis {axis}", shown(part, repr)))
    begin, end, _ = part.indices(n)
    return begin, max(begin, end)


def inputs(runs: Sequence[Run], tables: Mapping[int, Table]) -> tuple[Run, ...]:
    """Return the runs of samples that the taps of runs of outputs span; all empty if one of these is."""
    if any(begin == end for begin, end in runs):
        return ((0, 0),) * len(runs)
    return tuple(
        tables[axis].part(begin, end, 0, tables[axis].n_in).span if axis in tables else (begin, end)
        for axis, (begin, end) in enumerate(runs)
    )
