"""The gathers against the test suites of ONNX Runtime and WebNN, and the examples of DirectML's pages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import vectors

import remapnd

SUITES = (
    "ort_gather",
    "ort_gather_elements",
    "ort_gather_nd",
    "wpt_webnn",
    "webnn_baseline",
    "directml_docs",
)
FUNCTIONS = {
    "Gather": remapnd.gather,
    "GatherElements": remapnd.gather_elements,
    "GatherND": remapnd.gather_nd,
}
ROWS = [row for row in vectors.rows(*SUITES) if row["op"] in FUNCTIONS]

# Rows whose source has another policy than the functions' default: options that answer them, and why.
OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    r"wpt/.*out-of-bound.*": ({"bounds": "clip"}, "WebNN clamps an index that is out of range"),
    r"ort/GatherOpTest\.Gather_invalid_index_gpu/0": ({"bounds": "fill"}, "the CUDA provider gives zeros"),
}

# Gather moves bits, so the answer must be equal, whatever tolerance a row allows. These rows need theirs.
INEXACT: dict[str, str] = {
    r"ort/GatherNDOpTest\.GatherND_(negative_)?slice_float_batch_dims_two/0": (
        "the source adds 0.1 up to get its data, and expects the decimals meant"
    ),
    r"ort/GatherNDOpTest\.GatherND_slice_double_batch_dims_one_[12]/0": (
        "the source adds 0.1 up in double to get its data, and expects float values"
    ),
}

# What the functions raise for each category of error.
ERRORS: dict[str, tuple[type[Exception], str]] = {
    "axis out of range": (ValueError, r"^gather: `axis` must lie in \[-3, 3\), got -10$"),
    "index out of range": (
        IndexError,
        r": `indices` must (lie in \[.*\) on axis \d|be empty for axis \d of size 0), got -?\d+ at \(.*\)$",
    ),
    "batch size mismatch": (ValueError, r": `indices` must have size 3 on batch axis 0, as `data`, got 2$"),
    "empty batch dimension": (ValueError, r": `indices` must have size 0 on batch axis 0, as `data`, got 2$"),
}


def call(row: vectors.Row, more: dict[str, Any]) -> np.ndarray:
    data, indices = map(vectors.array, row["inputs"].values())
    options = {name: row["attrs"][name] for name in ("axis", "batch_dims") if name in row["attrs"]}
    return FUNCTIONS[row["op"]](data, indices, **options, **more)


def call_directml(row: vectors.Row) -> np.ndarray:
    """Undo what DirectML's sizes add: ones in front, such that all tensors have as many axes."""
    data, indices = map(vectors.array, row["inputs"].values())
    shape, attrs = vectors.only_output(row)["shape"], row["attrs"]

    def last_axes(x: np.ndarray, count: int) -> np.ndarray:
        assert x.shape[: x.ndim - count] == (1,) * (x.ndim - count)
        return x.reshape(x.shape[x.ndim - count :])

    if row["op"] == "Gather":
        # The third example says 2, with which the output would be {3,1,2} and not the {3,2} printed.
        count = 1 if row["id"] == "directml/GATHER/3" else attrs["IndexDimensions"]
        indices, ones = last_axes(indices, count), count - 1
        got = remapnd.gather(last_axes(data, data.ndim - ones), indices, axis=attrs["Axis"] - ones)
    elif row["op"] == "GatherElements":
        got = remapnd.gather_elements(data, indices, axis=attrs["Axis"])
    else:
        data = last_axes(data, attrs["InputDimensionCount"])
        indices = last_axes(indices, attrs["IndicesDimensionCount"])
        got = remapnd.gather_nd(data, indices, batch_dims=attrs.get("BatchDimensionCount", 0))
    return got.reshape((1,) * (len(shape) - got.ndim) + got.shape)


AGREEING = [row for row in ROWS if "outputs" in row]
FAILING = [row for row in ROWS if "error" in row]


@pytest.mark.parametrize("row", vectors.cases(AGREEING))
def test_row(row):
    options, _ = vectors.entry(OPTIONS, row) or ({}, "")
    got = call_directml(row) if row["id"].startswith("directml/") else call(row, options)
    expected = vectors.only_output(row)
    if vectors.entry(INEXACT, row) is None:
        assert vectors.disagreement(got, expected, None) == ""
    else:
        assert vectors.disagreement(got, expected, row["tolerance"]) == ""
        assert vectors.disagreement(got, expected, None) != "", "INEXACT need not have this row"


@pytest.mark.parametrize("row", vectors.cases(FAILING))
def test_row_with_an_error(row):
    kind, text = ERRORS[row["error"]]
    with pytest.raises(kind, match=text):
        call(row, {})


@pytest.mark.parametrize("row", vectors.cases(row for row in ROWS if vectors.entry(OPTIONS, row)))
def test_row_of_another_policy_raises_by_default(row):
    kind, text = ERRORS["index out of range"]
    with pytest.raises(kind, match=text):
        call(row, {})


@vectors.ABSENT
def test_no_entry_of_the_tables_is_unused():
    assert vectors.unused(OPTIONS, ROWS) == []
    assert vectors.unused(INEXACT, ROWS) == []
    assert {row["error"] for row in FAILING} == set(ERRORS)
