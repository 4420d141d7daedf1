"""remapnd.webnn against web-platform-tests and webnn-baseline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import vectors

from remapnd import webnn

FUNCTIONS = {
    "Gather": "gather",
    "GatherElements": "gather_elements",
    "GatherND": "gather_nd",
    "ScatterElements": "scatter_elements",
    "ScatterND": "scatter_nd",
    "Resample2d": "resample2d",
}
RUN = [row for row in vectors.rows("wpt_webnn", "wpt_webnn_drafts", "webnn_baseline") if "outputs" in row]
BUILT = vectors.rows("wpt_webnn_validation")

# Rows on which other implementations differ: the option that gives what these do, and their answer.
OTHERS: dict[str, tuple[dict[str, Any], list[float]]] = {
    r"wpt/resample2d-nearest-half-pixel/float\d+ noninteger upscaling with scales": (
        {"positions": "scales"},
        [10, 10, 20, 30],
    ),
}


def operand(tensor: dict[str, Any]) -> np.ndarray:
    """Return a tensor as an operand: the numbers of webnn-baseline are JavaScript's, here float32."""
    a = vectors.array(tensor)
    return a.astype(np.float32) if a.dtype == np.float64 else a


def run(row: vectors.Row, **more: Any) -> np.ndarray:
    function = getattr(webnn, FUNCTIONS[row["op"]])
    return function(*map(operand, row["inputs"].values()), **row["attrs"], **more)


@pytest.mark.parametrize("row", vectors.cases(RUN))
def test_row(row):
    tensor = vectors.only_output(row)
    dtype = {"float64": "float32"}.get(tensor["dtype"], tensor["dtype"])
    assert vectors.disagreement(run(row), tensor | {"dtype": dtype}, row["tolerance"]) == ""


@pytest.mark.parametrize(
    "row", vectors.cases(row for row in RUN if "out of bound" in row["id"].replace("-", " "))
)
def test_row_out_of_bounds_can_raise(row):
    with pytest.raises(IndexError, match=r"`indices` must lie in \[-\d+, \d+\) on axis 0, got -?\d+"):
        run(row, bounds="raise")


@pytest.mark.parametrize("row", vectors.cases(row for row in RUN if vectors.entry(OTHERS, row)))
def test_row_as_others_answer(row):
    options, answer = vectors.entry(OTHERS, row) or ({}, [])
    assert run(row, **options).ravel().tolist() == answer
    assert run(row).ravel().tolist() != answer


@pytest.mark.parametrize(
    "row", vectors.cases(row for row in vectors.rows("webnn_baseline") if "error" in row)
)
def test_row_with_an_error_is_an_option(row):
    assert row["error"] == "overlapping indices"
    with pytest.raises(
        ValueError,
        match=r"^scatter_elements: `indices` must name each place once .* got -2 again at \(0, 1\)$",
    ):
        run(row, duplicates="raise")
    assert run(row).tolist() == np.array([[1, 2, 3, 2.1, 5]], np.float32).tolist()


def build(row: vectors.Row) -> webnn.OperandDescriptor:
    function = getattr(webnn.builder, FUNCTIONS[row["op"]])
    operands = (webnn.OperandDescriptor(t["dtype"], tuple(t["shape"])) for t in row["inputs"].values())
    return function(*operands, **row["attrs"])


@pytest.mark.parametrize("row", vectors.cases(row for row in BUILT if "outputs" in row))
def test_building_row(row):
    tensor = vectors.only_output(row)
    assert build(row) == webnn.OperandDescriptor(tensor["dtype"], tuple(tensor["shape"]))


@pytest.mark.parametrize("row", vectors.cases(row for row in BUILT if "error" in row))
def test_building_row_that_is_rejected(row):
    assert row["error"] == "rejected when the graph is built"
    with pytest.raises((TypeError, ValueError), match=rf"^{FUNCTIONS[row['op']]}: `\w+` must "):
        build(row)


@vectors.ABSENT
def test_no_entry_of_the_tables_is_unused():
    assert vectors.unused(OTHERS, RUN) == []
    assert {row["op"] for row in RUN} == {row["op"] for row in BUILT} == set(FUNCTIONS)
