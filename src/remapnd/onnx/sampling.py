"""GridSample, AffineGrid, RoiAlign, TensorScatter and CropAndResize as functions of arrays.

Uses the public functions of the package; used by `operators`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from remapnd import checks
from remapnd.errors import must
from remapnd.grid_sample import affine_grid, grid_sample
from remapnd.onnx.nodes import Array, Node
from remapnd.regions import crop_and_resize, roi_align
from remapnd.tensor_scatter import tensor_scatter

Function = Callable[..., Array]

# What opset 16 and ONNX Runtime's own domain call the modes, and what later versions do.
_OLD_MODES: Final[Mapping[str, Any]] = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}
_MODES: Final[Mapping[str, Any]] = {"linear": "linear", "nearest": "nearest", "cubic": "cubic"}
_HALF_PIXEL: Final[Mapping[str, Any]] = {"half_pixel": True, "output_half_pixel": False}


def _choice(node: Node, name: str, words: Mapping[str, Any]) -> Any:
    """Return what an attribute that must be one of some words stands for."""
    value = node.attributes[name]
    checks.choice(node.label, name, value, tuple(words))
    return words[value]


def grid_samples(node: Node, rules: str) -> Function:
    """GridSample: opset 16 has other names for the modes."""
    options = {
        "mode": _choice(node, "mode", _OLD_MODES if node.since < 20 else _MODES),
        "padding": node.attributes["padding_mode"],
        "align_corners": bool(node.attributes["align_corners"]),
    }
    return lambda data, grid: grid_sample(data, grid, **options)


def affine_grids(node: Node, rules: str) -> Function:
    """AffineGrid."""
    align_corners = bool(node.attributes["align_corners"])
    return lambda theta, size: affine_grid(theta, _list(node, "size", size), align_corners=align_corners)


def roi_aligns(node: Node, rules: str) -> Function:
    """RoiAlign: before opset 16 without the shift of half a pixel."""
    attributes = node.attributes
    shape = attributes["output_height"], attributes["output_width"]
    options = {
        "scale": attributes["spatial_scale"],
        "sampling_ratio": attributes["sampling_ratio"],
        "mode": attributes["mode"],
        "half_pixel": node.since >= 16 and _choice(node, "coordinate_transformation_mode", _HALF_PIXEL),
    }
    return lambda data, rois, batches: roi_align(data, rois, batches, shape, **options)


def tensor_scatters(node: Node, rules: str) -> Function:
    """TensorScatter."""
    axis, mode = node.attributes["axis"], node.attributes["mode"]

    def run(data: Array, updates: Array, begins: Array | None = None) -> Array:
        if data.dtype.hasobject:
            raise TypeError(must(node.label, "past_cache", "be a tensor of numbers", "strings"))
        scattered: Array = tensor_scatter(data, updates, begins, axis=axis, mode=mode)
        return scattered

    return run


def crops_and_resizes(node: Node, rules: str) -> Function:
    """CropAndResize of ONNX Runtime's own domain."""
    options = {
        "mode": _choice(node, "mode", {"bilinear": "linear", "nearest": "nearest"}),
        "extrapolation_value": node.attributes["extrapolation_value"],
    }

    def run(data: Array, rois: Array, batches: Array, size: Array) -> Array:
        cropped: Array = crop_and_resize(data, rois, batches, _list(node, "crop_size", size), **options)
        return cropped

    return run


def _list(node: Node, name: str, array: Array) -> list[int]:
    """Return a list given as an input."""
    if array.ndim != 1:
        raise ValueError(must(node.label, name, "be a list, with one axis", f"shape {array.shape}"))
    listed: list[int] = array.tolist()
    return listed
