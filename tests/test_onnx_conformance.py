"""The backend against ONNX Runtime's own tests of these operators."""

from __future__ import annotations

import numpy as np
import pytest
import vectors

onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
import onnx_models as models  # noqa: E402

from remapnd import onnx as ronnx  # noqa: E402

SUITES = (
    "ort_gather",
    "ort_gather_elements",
    "ort_gather_nd",
    "ort_scatter",
    "ort_scatter_nd",
    "ort_resize",
    "ort_upsample",
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
}

# What is raised for each category of error.
ERRORS: dict[str, tuple[type[Exception], str]] = {
    "axis out of range": (ValueError, r"`ax[ie]s` must lie in \[-\d, \d\), got -?\d+$"),
    "index out of range": (
        IndexError,
        r"`indices` must (lie in \[.*\) on axis \d|be empty for axis \d of size 0), got -?\d+ at \(.*\)$",
    ),
    "batch size mismatch": (ValueError, "`indices` must have size 3 on batch axis 0, as `data`, got 2$"),
    "empty batch dimension": (ValueError, "`indices` must have size 0 on batch axis 0, as `data`, got 2$"),
    "indices and updates differ in shape": (
        ValueError,
        r"`updates` must have shape \(.*\), which follows from .*, got \(.*\)$",
    ),
    "length differs from the number of axes": (
        ValueError,
        "`(scales|sizes)` must have one value for each of 3 `axes`, got 2 values$",
    ),
    "non-finite value": (ValueError, "`scales` must be finite, got (nan|inf)$"),
    "duplicate axis": (ValueError, r"`axes` must name each axis once, got \((2, 3, 2|-1, 4)\)$"),
    "roi too short": (ValueError, r"`roi` must be a list of 2 \* 3 values for tf_crop_and_resize, got "),
    "rank mismatch": (ValueError, "`sizes` must have one value for each of the 4 axes, got 5 values$"),
}


def run(row: vectors.Row, domain: str, version: int, rules: str) -> np.ndarray:
    """Run a row as a model of one node."""
    inputs = {name: vectors.array(tensor) for name, tensor in row["inputs"].items()}
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
    rep = ronnx.prepare(model, resize_rules=rules)
    (got,) = rep.run([array for array in inputs.values() if array is not None])
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


ANSWERED = [row for row in ROWS if "outputs" in row and vectors.entry(REFUSED, row) is None]
FAILING = [row for row in ROWS if "error" in row]


@pytest.mark.parametrize("case", cases(ANSWERED))
def test_row(case):
    row, domain, version = case
    rules, _ = vectors.entry(RULES, row) or ("onnxruntime", "")
    text = vectors.disagreement(run(row, domain, version, rules), vectors.only_output(row), row["tolerance"])
    assert text == ""


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


@vectors.ABSENT
def test_no_entry_of_the_tables_is_unused():
    assert vectors.unused(RULES, ROWS) == []
    assert vectors.unused(REFUSED, ROWS) == []
    assert {row["error"] for row in FAILING} == set(ERRORS)
