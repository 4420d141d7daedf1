"""The backend against ONNX Runtime's own tests of these operators."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import vectors

onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
import onnx_models as models  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from remapnd import onnx as ronnx  # noqa: E402

SUITES = (
    "ort_gather",
    "ort_gather_elements",
    "ort_gather_nd",
    "ort_scatter",
    "ort_scatter_nd",
    "ort_resize",
    "ort_upsample",
    "ort_extra",
)
ROWS = vectors.rows(*SUITES)

# Rows whose expected values are those of another provider, which the rule of ONNX answers.
RULES: dict[str, tuple[str, str]] = {
    r"ort/ResizeOpTest\.OVEP.*": ("onnx", "OpenVINO rounds integers, ONNX Runtime's CPU provider cuts them"),
}

# Rows that are refused: what is raised, and why.
REFUSED: dict[str, tuple[type[Exception], str, str]] = {
    r"ort/GatherOpTest\.Gather_invalid_index_gpu/0": (
        IndexError,
        r"`indices` must lie in \[-3, 3\) on axis 0, got 1000 at \(2,\)$",
        "the CUDA provider gives zeros",
    ),
    r"ort/RoiAlignTest\.BatchIndices\w+_CUDA/0": (
        IndexError,
        r"`batch_indices` must lie in \[0, 1\), got -?1 at \(0,\)$",
        "the CUDA provider gives zeros",
    ),
}

# Rows that the rule of ONNX answers in another way: why.
OTHERWISE: dict[str, str] = {
    r"ort/ResizeOpTest\.Nhwc.*4DBilinear(_pytorch_half_pixel|_asymmetric)?_uint8/0": "rounded, not cut",
    r"ort/ResizeOpTest\.Nhwc.*4DBilinear_align_corners_u?int8/0": "scale * length is 2.4",
    r"ort/ResizeOpTest\..*Linear.*crop_and_resize_with(out)?_extrapolation(_u?int8)?/0": "scale * length "
    "is 2.4 and 3.2",
    r"ort/ResizeOpTest\.ResizeOpLinearDownSampleTest_4DBilinear_align_corners/0": "scale * length is 2.4",
    r"ort/ResizeOpTest\.ResizeOpCubicDownSampleTest_with_roi/0": "scale * length is 3.2",
    r"ort/ResizeOpTest\.ResizeOpNearest_OneToOneMapping.*Dims/0": "an axis of scale 1 is resampled",
    r"ort/ResizeOpTest\.ResizeOpNearestDownSampleTest_Ver10/0": "no ceiling where an axis shrinks",
    r"ort/ResizeOpTest\.ResizeOpCubicDownSampleTest_antialias_large_custom_coeff/0": "rounded once",
    r"ort/ResizeOpTest\.Antialias_(Bilinear|NhwcBilinear|Bicubic)_[Dd]type/\d": "rounded once",
    r"ort/UpsampleOpTest\..*UpsampleOp4DBilinearTest_int32/0": "integers are rounded, not cut",
}

# Rows that the reference evaluator of ONNX does not answer as this package does by the rule of ONNX: why.
REFERENCE: dict[str, str] = {
    r"ort/ResizeOpTest\..*(_tf_half_pixel(_for_nn)?|OneToOne.*Dims)/0": "no such coordinates",
    r"ort/ResizeOpTest\.Axes_NegativeInRange_18/0": "it takes no negative axes",
    r"ort/ResizeOpTest\.Antialias_Use_Extrapolation/0": "its roi of single precision puts the last sample, "
    "which is on the border, outside",
}

# Rows of which no array can be made.
IMPOSSIBLE = r"ort/TensorScatterTest\.ZeroSequenceLengthWithoutWriteIndicesSkipsLargeBatch/0"

# What is raised for each category of error.
ERRORS: dict[str, tuple[type[Exception], str]] = {
    "axis out of range": (ValueError, r"`ax[ie]s` must lie in \[-\d, \d\), got -?\d+$"),
    "index out of range": (
        IndexError,
        r"`(batch_)?indices` must (lie in \[.*\)( on axis \d)?|be empty for axis \d of .*), got -?\d+ at ",
    ),
    "batch size mismatch": (
        ValueError,
        r"`(indices` must have size 3 on batch axis 0, as `data`, got 2$|theta` must have shape \(2, )",
    ),
    "empty batch dimension": (ValueError, "`indices` must have size 0 on batch axis 0, as `data`, got 2$"),
    "indices and updates differ in shape": (
        ValueError,
        r"`updates` must have shape \(.*\), which follows from .*, got \(.*\)$",
    ),
    "length differs from the number of axes": (
        ValueError,
        "`(scales|sizes)` must have one value for each of 3 `axes`, got 2 values$",
    ),
    "non-finite value": (ValueError, "`(scales|rois)` must be finite, got (nan|inf)"),
    "duplicate axis": (ValueError, r"`axes` must name each axis once, got \((2, 3, 2|-1, 4)\)$"),
    "roi too short": (ValueError, r"`roi` must be a list of 2 \* 3 values for tf_crop_and_resize, got "),
    "rank mismatch": (
        ValueError,
        r"`(sizes` must have one value for each of the 4 axes, got 5 values$|(theta|rois)` must have)",
    ),
    "bad length of crop_size": (ValueError, "`crop_size` must have 2 sizes"),
    "bad length of size": (ValueError, "`size` must have 4 or 5 sizes"),
    "bad roi shape": (ValueError, r"`rois` must have shape \(k, 4\), got \(5, 3\)$"),
    "bad theta shape": (ValueError, r"`theta` must have shape \(1, (2, 3|3, 4)\), as `size` asks, got"),
    "dimension mismatch": (ValueError, r"`batch_indices` must have shape \(5,\)"),
    "empty spatial dimension": (ValueError, r"`X` must have 1 to \d+ samples on axis \d, got 0$"),
    "invalid mode": (  # the row also has a negative sampling ratio
        ValueError,
        "`(mode` must be one of 'avg', 'max', got 'foobar'|sampling_ratio` must be at least 0, got -2)$",
    ),
    "negative sampling ratio": (ValueError, "`sampling_ratio` must be at least 0, got -2$"),
    "negative write index": (IndexError, r"`write_indices` must (lie in|be at least 0).* got -\d at"),
    "write index past the end": (IndexError, r"`write_indices` must lie in \[0, \d\], got \d+ at \(0,\)$"),
    "size not positive": (ValueError, r"`(size|crop_size)` must have sizes of at least [01]"),
    "unsupported data type": (TypeError, "`past_cache` must be "),
}


def array(tensor: dict[str, Any]) -> np.ndarray:
    """Return a tensor as an array, also of bfloat16."""
    if tensor["dtype"] == "bfloat16":
        return vectors.array(tensor | {"dtype": "float32"}).astype(ml_dtypes.bfloat16)
    return vectors.array(tensor)


def disagreement(got: np.ndarray, row: vectors.Row) -> str:
    """Say how a result disagrees with that of a row."""
    tensor = vectors.only_output(row)
    if tensor["dtype"] == "bfloat16":
        assert got.dtype == ml_dtypes.bfloat16
        got, tensor = got.astype(np.float32), tensor | {"dtype": "float32"}
    return vectors.disagreement(got, tensor, row["tolerance"])


def model_of(row: vectors.Row, domain: str, version: int) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Make a model of one node for a row, and its inputs."""
    inputs = {name: array(tensor) for name, tensor in row["inputs"].items()}
    if row["op"] == "Resize" and version > 10:
        order = ("X", "roi", "scales", "sizes") if "sizes" in inputs else ("X", "roi", "scales")
        inputs = {name: inputs.get(name) for name in order}
    contrib = domain == "com.microsoft"
    model = models.node_model(
        row["op"],
        inputs,
        opset=13 if contrib else version,
        domain=domain if contrib else "",
        **row["attrs"],
    )
    return model, {name: array for name, array in inputs.items() if array is not None}


def run(row: vectors.Row, domain: str, version: int, rules: str) -> np.ndarray:
    """Run a row."""
    model, inputs = model_of(row, domain, version)
    (got,) = ronnx.prepare(model, resize_rules=rules).run(inputs)
    return got.astype(str) if got.dtype == object else got


def cases(rows: list[vectors.Row]) -> list:
    """Each row with every domain and version that its source runs it with."""
    if not vectors.PLACE.is_dir():
        return vectors.cases(rows)
    return [
        pytest.param((row, domain, version), id=f"{row['id']}-{version}")
        for row in rows
        for domain, version in row["opsets"]
    ]


ROWS = [row for row in ROWS if not re.fullmatch(IMPOSSIBLE, row["id"])]
ANSWERED = [row for row in ROWS if "outputs" in row and vectors.entry(REFUSED, row) is None]
FAILING = [row for row in ROWS if "error" in row]


@pytest.mark.parametrize("case", cases(ANSWERED))
def test_row(case):
    row, domain, version = case
    rules, _ = vectors.entry(RULES, row) or ("onnxruntime", "")
    assert disagreement(run(row, domain, version, rules), row) == ""


@pytest.mark.parametrize("case", cases([row for row in ROWS if vectors.entry(RULES, row)]))
def test_row_of_another_provider_needs_its_rule(case):
    row, domain, version = case
    text = vectors.disagreement(run(row, domain, version, "onnxruntime"), vectors.only_output(row), None)
    assert "where the source has" in text


@pytest.mark.parametrize("case", cases([row for row in ROWS if vectors.entry(REFUSED, row)]))
def test_row_that_is_refused(case):
    row, domain, version = case
    refusal = vectors.entry(REFUSED, row)
    assert refusal is not None
    with pytest.raises(refusal[0], match=refusal[1]):
        run(row, domain, version, "onnxruntime")


@pytest.mark.parametrize("case", cases(FAILING))
def test_row_with_an_error(case):
    row, domain, version = case
    kind, text = ERRORS[row["error"]]
    with pytest.raises(kind, match=rf"^{row['op']} 'node': {text}"):
        run(row, domain, version, "onnxruntime")


@pytest.mark.parametrize("case", cases([row for row in ANSWERED if row["op"] in ("Resize", "Upsample")]))
def test_row_by_the_rule_of_onnx(case):
    row, domain, version = case
    text = disagreement(run(row, domain, version, "onnx"), row)
    assert bool(text) == (vectors.entry(OTHERWISE, row) is not None), text


@pytest.mark.parametrize(
    "row",
    vectors.cases(
        row
        for row in ANSWERED
        if row["op"] == "Resize" and row["opsets"][0][1] > 10 and vectors.entry(REFERENCE, row) is None
    ),
)
def test_reference_evaluator_agrees_with_the_rule_of_onnx(row):
    model, inputs = model_of(row, *row["opsets"][0])
    there = ReferenceEvaluator(model).run(None, inputs)[0]
    here = ronnx.prepare(model, resize_rules="onnx").run(inputs)[0]
    if here.dtype.kind in "iu":
        np.testing.assert_array_equal(here, there, strict=True)
    else:
        np.testing.assert_allclose(here, there, rtol=1e-4, atol=1e-5 * np.abs(there).max(), strict=True)


@vectors.ABSENT
def test_no_entry_of_the_tables_is_unused():
    assert vectors.unused(RULES, ROWS) == []
    assert vectors.unused(REFUSED, ROWS) == []
    assert vectors.unused(OTHERWISE, ANSWERED) == []
    assert vectors.unused(REFERENCE, ANSWERED) == []
    assert {row["error"] for row in FAILING} == set(ERRORS)
