"""Sampling, regions and caches against the test suite of ONNX Runtime."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import vectors

import remapnd

ROWS = vectors.rows("ort_extra")

# Rows that the functions refuse or take where the source does otherwise, and why.
REFUSED = {
    r"ort/RoiAlignTest\.BatchIndices\w+_CUDA/0": "zeros for no image, on CUDA alone",
}
TAKEN = {
    r"ort/TensorScatterTest\.StringType_NotSupported/0": "bytes are moved, whatever they stand for",
}
IMPOSSIBLE = {
    r"ort/TensorScatterTest\.ZeroSequenceLengthWithoutWriteIndicesSkipsLargeBatch/0": "no array is so large",
}

# What the functions raise for each category of error.
ERRORS: dict[str, tuple[type[Exception], str]] = {
    "bad length of crop_size": (ValueError, r"^crop_and_resize: `shape` must have 2 sizes"),
    "bad length of size": (ValueError, r"^affine_grid: `size` must have 4 or 5 sizes"),
    "bad roi shape": (ValueError, r"^roi_align: `rois` must have shape \(k, 4\), got \(5, 3\)$"),
    "bad theta shape": (
        ValueError,
        r"^affine_grid: `theta` must have shape \(1, (2, 3|3, 4)\), as `size` asks, got",
    ),
    "batch size mismatch": (
        ValueError,
        r"^affine_grid: `theta` must have shape \(2, (2, 3|3, 4)\), as `size` asks, got",
    ),
    "dimension mismatch": (ValueError, r"^roi_align: `batch_indices` must have shape \(5,\)"),
    "empty spatial dimension": (
        ValueError,
        r"^grid_sample: `data` must have 1 to 1073741824 samples on axis \d, got 0$",
    ),
    "index out of range": (IndexError, r"^\w+: `batch_indices` must lie in \[0, 1\), got -?\d at \(0,\)$"),
    "invalid mode": (ValueError, r"^roi_align: `mode` must be one of 'avg', 'max', got 'foobar'$"),
    "negative sampling ratio": (ValueError, r"^roi_align: `sampling_ratio` must be at least 0, got -2$"),
    "negative write index": (
        IndexError,
        r"^tensor_scatter: `write_indices` must (lie in|be at least 0).* got -\d at",
    ),
    "non-finite value": (ValueError, r"^roi_align: `rois` must be finite, got nan at \(0, 1\)$"),
    "rank mismatch": (ValueError, r"^(affine_grid: `theta`|roi_align: `rois`) must have shape"),
    "size not positive": (
        ValueError,
        r"^(affine_grid: `size`|crop_and_resize: `shape`) must have sizes of at least [01]",
    ),
    "write index past the end": (
        IndexError,
        r"^tensor_scatter: `write_indices` must lie in \[0, \d\], got \d+ at \(0,\)$",
    ),
}


def array(tensor: dict[str, Any]) -> np.ndarray:
    if tensor["dtype"] == "bfloat16":
        return vectors.array(tensor | {"dtype": "float32"}).astype(ml_dtypes.bfloat16)
    return vectors.array(tensor)


def call(row: vectors.Row) -> np.ndarray:
    attrs, inputs = row["attrs"], [array(t) for t in row["inputs"].values()]
    if row["op"] == "GridSample":
        mode = {"bilinear": "linear", "bicubic": "cubic"}.get(attrs["mode"], attrs["mode"])
        corners = bool(attrs["align_corners"])
        return remapnd.grid_sample(*inputs, mode=mode, padding=attrs["padding_mode"], align_corners=corners)
    if row["op"] == "AffineGrid":
        return remapnd.affine_grid(*inputs, align_corners=bool(attrs.get("align_corners", 0)))
    if row["op"] == "RoiAlign":
        by_version = "half_pixel" if row["opsets"][0][1] >= 16 else "output_half_pixel"
        return remapnd.roi_align(
            *inputs,
            (attrs["output_height"], attrs["output_width"]),
            scale=attrs["spatial_scale"],
            sampling_ratio=0 if attrs.get("mode") == "foobar" else attrs["sampling_ratio"],
            mode=attrs.get("mode", "avg"),
            half_pixel=attrs.get("coordinate_transformation_mode", by_version) == "half_pixel",
        )
    if row["op"] == "TensorScatter":
        return remapnd.tensor_scatter(*inputs, **attrs)
    mode = {"bilinear": "linear"}.get(attrs.get("mode", "bilinear"), "nearest")
    value = attrs.get("extrapolation_value", 0)
    return remapnd.crop_and_resize(*inputs, mode=mode, extrapolation_value=value)


OTHERWISE = {**REFUSED, **TAKEN, **IMPOSSIBLE}
AGREEING = [row for row in ROWS if "outputs" in row and not vectors.entry(OTHERWISE, row)]
FAILING = [row for row in ROWS if "error" in row and not vectors.entry(OTHERWISE, row)]


@pytest.mark.parametrize("row", vectors.cases(AGREEING))
def test_row(row):
    got, tensor = call(row), vectors.only_output(row)
    if tensor["dtype"] == "bfloat16":
        assert got.dtype == ml_dtypes.bfloat16
        got, tensor = got.astype(np.float32), tensor | {"dtype": "float32"}
    assert vectors.disagreement(got, tensor, row["tolerance"]) == ""


@pytest.mark.parametrize("row", vectors.cases(FAILING))
def test_row_with_an_error(row):
    kind, text = ERRORS[row["error"]]
    with pytest.raises(kind, match=text):
        call(row)


@pytest.mark.parametrize("row", vectors.cases(row for row in ROWS if vectors.entry(REFUSED, row)))
def test_row_that_is_refused(row):
    with pytest.raises(
        IndexError, match=r"^roi_align: `batch_indices` must lie in \[0, 1\), got -?1 at \(0,\)$"
    ):
        call(row)


@pytest.mark.parametrize("row", vectors.cases(row for row in ROWS if vectors.entry(TAKEN, row)))
def test_row_that_is_taken(row):
    assert call(row).ravel().tolist() == ["alpha", "beta", "omega", "delta"]


@pytest.mark.parametrize("row", vectors.cases(row for row in ROWS if vectors.entry(IMPOSSIBLE, row)))
def test_row_that_is_impossible(row):
    with pytest.raises(ValueError, match="too big"):
        vectors.array(next(iter(row["inputs"].values())))


@vectors.ABSENT
def test_no_entry_of_the_tables_is_unused():
    assert vectors.unused(OTHERWISE, ROWS) == []
    assert {row["error"] for row in FAILING} == set(ERRORS)
