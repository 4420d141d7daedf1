"""The scatters against the test suites of ONNX Runtime and WebNN, and the examples of DirectML's pages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import vectors

import remapnd

SUITES = ("ort_scatter", "ort_scatter_nd", "wpt_webnn", "webnn_baseline", "directml_docs")
FUNCTIONS = {
    "Scatter": remapnd.scatter_elements,
    "ScatterElements": remapnd.scatter_elements,
    "ScatterND": remapnd.scatter_nd,
}
ROWS = [row for row in vectors.rows(*SUITES) if row["op"] in FUNCTIONS]

# Rows whose source has another policy than the functions' default: options that answer them, and why.
OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    r"wpt/.*out of bound.*": ({"bounds": "clip"}, "WebNN clamps an index that is out of range"),
}

# Rows that the functions refuse: what they raise, and why.
REFUSED: dict[str, tuple[type[Exception], str, str]] = {
    r"ort/ScatterNDOpTest\.ScatterND_string_add_duplicate_indices/0": (
        TypeError,
        r"^scatter_nd: `data` must have one of the dtypes bool, .* for 'add' \(.*\), got <U",
        "strings are not added",
    ),
}

# What the functions raise for each category of error; None: they take what the source refuses.
ERRORS: dict[str, tuple[type[Exception], str] | None] = {
    "index out of range": (
        IndexError,
        r"^scatter_elements: `indices` must lie in \[-4, 4\) on axis 0, got 4 at \(0, 0, 0\)$",
    ),
    "indices and updates differ in shape": (
        ValueError,
        r"^scatter_elements: `updates` must have shape \(.*\), which follows from .*, got \(.*\)$",
    ),
    "overlapping indices": None,
}


def call(row: vectors.Row, more: dict[str, Any]) -> np.ndarray:
    data, indices, updates = map(vectors.array, row["inputs"].values())
    if data.dtype.kind == "U":  # of fixed size in NumPy
        data, updates = (a.astype(np.result_type(data, updates)) for a in (data, updates))
    options = {name: row["attrs"][name] for name in ("axis", "reduction") if name in row["attrs"]}
    return FUNCTIONS[row["op"]](data, indices, updates, **options, **more)


def call_directml(row: vectors.Row) -> np.ndarray:
    """Undo what DirectML's sizes add: ones in front, such that all tensors have as many axes."""
    data, indices, updates = map(vectors.array, row["inputs"].values())
    attrs = row["attrs"]
    if row["op"] == "ScatterElements":
        return remapnd.scatter_elements(data, indices, updates, axis=attrs["Axis"])
    inner = data.shape[data.ndim - attrs.get("InputDimensionCount", data.ndim) :]
    tuples = indices.shape[indices.ndim - attrs.get("IndicesDimensionCount", indices.ndim) :]
    got = remapnd.scatter_nd(
        data.reshape(inner),
        indices.reshape(tuples),
        updates.reshape(tuples[:-1] + inner[tuples[-1] :]),
    )
    return got.reshape(data.shape)


AGREEING = [row for row in ROWS if "outputs" in row and vectors.entry(REFUSED, row) is None]
FAILING = [row for row in ROWS if "error" in row]


@pytest.mark.parametrize("row", vectors.cases(AGREEING))
def test_row(row):
    options, _ = vectors.entry(OPTIONS, row) or ({}, "")
    got = call_directml(row) if row["id"].startswith("directml/") else call(row, options)
    # "none" moves bits and the sums of these vectors are exact, so equal it must be, whatever a row allows.
    assert vectors.disagreement(got, vectors.only_output(row), None) == ""


@pytest.mark.parametrize("row", vectors.cases(row for row in ROWS if vectors.entry(REFUSED, row)))
def test_row_that_is_refused(row):
    refusal = vectors.entry(REFUSED, row)
    assert refusal is not None
    kind, text, _ = refusal
    with pytest.raises(kind, match=text):
        call(row, {})


@pytest.mark.parametrize("row", vectors.cases(FAILING))
def test_row_with_an_error(row):
    refused = ERRORS[row["error"]]
    if refused is None:  # the last of overlapping updates wins
        assert call(row, {}).tolist() == [[1, 2, 3, 2.1, 5]]
        return
    with pytest.raises(refused[0], match=refused[1]):
        call(row, {})


@pytest.mark.parametrize("row", vectors.cases(row for row in ROWS if vectors.entry(OPTIONS, row)))
def test_row_of_another_policy_raises_by_default(row):
    with pytest.raises(IndexError, match=r"^scatter_nd: `indices` must lie in "):
        call(row, {})


@vectors.ABSENT
def test_no_entry_of_the_tables_is_unused():
    assert vectors.unused(OPTIONS, ROWS) == []
    assert vectors.unused(REFUSED, ROWS) == []
    assert {row["error"] for row in FAILING} == set(ERRORS)
