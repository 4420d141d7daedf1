"""What ONNX Runtime's DirectML provider makes of GridSample, RoiAlign and their kin.

Uses the public functions to compute how results differ; used by `mapping`.

Source: the provider's operator files, its shader grid_sample.hlsl, and the page of
DML_ROI_ALIGN1_OPERATOR_DESC for types, level and the number of samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from remapnd.directml.enums import FeatureLevel
from remapnd.grid_sample import grid_sample
from remapnd.onnx.differences import Difference
from remapnd.onnx.facts import Tensor
from remapnd.onnx.nodes import Array, Node
from remapnd.regions import roi_align


class SampledRow(NamedTuple):
    """What the provider has for an operator, which `remapnd.directml` does not have."""

    operator: str
    level: FeatureLevel
    note: str
    types: tuple[str, ...]  # of the data
    dimensions: int  # of the data
    modes: tuple[str, ...]
    differences: Callable[[Node, Tensor, Array | None], Iterator[Difference]]


def _grid_sample_differences(node: Node, data: Tensor, grid: Array | None) -> Iterator[Difference]:
    """Return what cubic does at a border: the shader moves the position, the CPU the taps."""
    if node.attributes["mode"] != "bicubic" or node.attributes["padding_mode"] != "border":
        return
    ramp = np.broadcast_to(np.arange(4.0), (1, 1, 4, 4))
    there, border = -1.1, -0.75  # in the coordinates of the grid: positions -0.7 and 0
    cpu, shader = (
        grid_sample(ramp, np.array([[[[g, 0.0]]]]), mode="cubic", padding="border").item()
        for g in (there, border)
    )
    yield Difference(
        "bicubic beyond a border: the provider moves the position there, the CPU repeats border samples",
        f"ramp 0..3, position -0.7: {cpu:.6g} on the CPU, {shader:.6g} in DirectML",
    )


def _roi_align_differences(node: Node, data: Tensor, batch_indices: Array | None) -> Iterator[Difference]:
    """Return what max, the number of samples, small regions and indices out of range do."""
    attributes = node.attributes
    quad = np.array([[[[1.0, 2.0], [3.0, 4.0]]]])
    if attributes["mode"] == "max":
        whole = np.array([[0.0, 0.0, 2.0, 2.0]])
        cpu = roi_align(quad, whole, [0], (1, 1), sampling_ratio=1, mode="max").item()
        other = roi_align(quad, whole, [0], (1, 1), sampling_ratio=1).item()
        yield Difference(
            "max: the CPU takes the largest of pixels times their weights, DirectML the largest sample",
            f"pixels 1 2 3 4, one sample midway between them: CPU {cpu:g}, DirectML {other:g}",
        )
    if not attributes["sampling_ratio"]:
        bins = 3 / 2
        yield Difference(
            "sampling_ratio 0: the CPU rounds the number of samples of a bin up; DirectML's page does not",
            f"region of 3 pixels to 2 bins: CPU {math.ceil(bins)} samples, DirectML {bins:g} (no more said)",
        )
    if attributes.get("coordinate_transformation_mode", "output_half_pixel") == "output_half_pixel":
        ramp = np.broadcast_to(np.arange(4.0), (1, 1, 4, 4))
        small = np.array([[0.0, 0.0, 0.5, 0.5]])
        cpu = roi_align(ramp, small, [0], (1, 1), sampling_ratio=1, half_pixel=False).item()
        moved = roi_align(ramp, small + 0.5, [0], (1, 1), sampling_ratio=1).item()
        yield Difference(
            "a region of less than a pixel counts as one pixel on the CPU; DirectML takes it as it is",
            f"ramp 0..3, region 0 to 0.5, one sample: CPU {cpu:g}, DirectML {moved:g}",
        )
    batches = data.shape[0] if data.shape else None
    if batch_indices is None or not isinstance(batches, int) or not _within(batch_indices, batches):
        yield Difference(
            "a batch index out of range fails on the CPU; what DirectML does is undefined",
            "one image, batch index 1: CPU error, DirectML undefined",
        )


def _within(indices: Array, n: int) -> bool:
    """Whether all indices lie in [0, n)."""
    return bool(((indices >= 0) & (indices < n)).all())


_FLOATS: Final = ("float", "float16")
SAMPLED_ROWS: Final[Mapping[str, SampledRow]] = {
    "GridSample": SampledRow(
        "own shader",
        min(FeatureLevel),
        "a shader of the provider's own, which needs no level: DirectML has no GridSample",
        _FLOATS,
        4,
        ("bilinear", "nearest", "bicubic"),
        _grid_sample_differences,
    ),
    "RoiAlign": SampledRow(
        "ROI_ALIGN1",
        FeatureLevel.LEVEL_4_0,
        "ROI_ALIGN1 is none of the operators of remapnd.directml: level and types are those of its page",
        _FLOATS,
        4,
        ("avg", "max"),
        _roi_align_differences,
    ),
}
"""Operators of this kin that are not listed have no operator file in the provider: they stay on the CPU."""


def refusal(node: Node, data: Tensor) -> str:
    """Say why the provider leaves a node to the CPU; an empty text if it does not."""
    row = SAMPLED_ROWS.get(node.op)
    if row is None:
        return f"the provider has no {node.op}"
    if node.attributes["mode"] not in row.modes:
        return f"the provider knows the modes {_listed(row.modes)}, here {node.attributes['mode']!r}"
    if data.type is not None and data.type not in row.types:
        return f"{row.operator} takes {_listed(row.types)}, here {data.type}"
    if data.rank is not None and data.rank != row.dimensions:
        return f"{row.operator} takes {row.dimensions} dimensions, here {data.rank}"
    return ""


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
