"""Resize and resample against the test suites of ONNX Runtime and WebNN, and an example of DirectML."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import vectors
from strategies import belonging

import remapnd

SUITES = ("ort_resize", "ort_upsample", "wpt_webnn", "wpt_webnn_drafts", "webnn_baseline", "directml_docs")
OPERATORS = ("Resize", "Upsample", "Resample2d", "Resample")
ROWS = [row for row in vectors.rows(*SUITES) if row["op"] in OPERATORS]

# Rows whose source does more than the attributes say: options that answer them, and why.
OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    r"ort/ResizeOpTest\.OVEP.*": (
        {"integer_rule": "half_even"},
        "expected of OpenVINO alone, which rounds to nearest, ties to even; ONNX Runtime cuts the fraction",
    ),
    r"ort/ResizeOpTest\.ResizeOpNearestDownSampleTest_Ver10/0": (
        {"nearest_rule": "ceil"},
        "before version 11 ONNX Runtime takes the ceiling along an axis that shrinks",
    ),
    r"ort/ResizeOpTest\.ResizeOpNearest_OneToOneMapping.*": (
        {"axes": [1], "scales": [0.5]},
        "ONNX Runtime leaves an axis of scale 1 alone, which tf_half_pixel_for_nn moves by 1/2",
    ),
}

# Rows that the functions do not answer as the source: what they do instead, and why.
DIFFERENCES: dict[str, tuple[type[Exception], str, str]] = {
    r"ort/ResizeOpTest\.(Antialias_\w*[dD]type|\w*_antialias_large_custom_coeff)/\d": (
        AssertionError,
        r"^(144 where the source has 143|2 where the source has 1|8 where the source has 7) at ",
        "integers are rounded once; ONNX Runtime rounds after each axis, where errors add up",
    ),
}

# What the functions raise for each category of error.
ERRORS: dict[str, str] = {
    "length differs from the number of axes": r": `(scales|shape)` must have one value for each of 3 axes",
    "axis out of range": r": `axes` must lie in \[-5, 5\), got (5|-6)$",
    "non-finite value": r": `scales` must be finite, got (nan|inf)$",
    "duplicate axis": r": `axes` must name each axis once, got \((2, 3, 2|-1, 4)\)$",
    "roi too short": r": `roi` must have two values for each of 3 axes, .*, got 4 values$",
    "rank mismatch": r": `shape` must have one value for each of 4 axes, got 5 values$",
}

NEAREST_RULES = {
    "round_prefer_floor": "half_down",
    "round_prefer_ceil": "half_up",
    "floor": "floor",
    "ceil": "ceil",
}


@dataclass
class Call:
    """A row in the words of the public functions."""

    function: Callable[..., np.ndarray]
    data: np.ndarray
    options: dict[str, Any]

    def run(self) -> np.ndarray:
        options = belonging(self.options)  # sources give all attributes with every mode
        if self.function is remapnd.resize:
            return self.function(self.data, options.pop("shape", None), **options)
        return self.function(self.data, **options)


def call_of(row: vectors.Row) -> Call:
    own, _ = vectors.entry(OPTIONS, row) or ({}, "")
    if row["op"] == "Resample":
        return of_directml(row)
    return of_webnn(row) if row["op"] == "Resample2d" else of_onnx(row, own)


def of_onnx(row: vectors.Row, own: dict[str, Any]) -> Call:
    """Resize and Upsample of all versions."""
    attrs = row["attrs"]
    inputs = {name: vectors.array(tensor) for name, tensor in row["inputs"].items()}
    x = inputs["X"]
    options: dict[str, Any] = {
        "axes": attrs.get("axes", list(range(x.ndim))),
        "coordinates": attrs.get("coordinate_transformation_mode", "half_pixel"),
        "mode": attrs.get("mode", "nearest"),
        "nearest_rule": NEAREST_RULES[attrs.get("nearest_mode", "round_prefer_floor")],
        "integer_rule": "truncate",
    }
    if all(version < 11 for _, version in row["opsets"]):
        options |= {"coordinates": "asymmetric", "nearest_rule": "floor"}
    lengths = [x.shape[axis] for axis in options["axes"] if axis in range(-x.ndim, x.ndim)]
    if "sizes" in inputs:
        sizes = inputs["sizes"].tolist()
        options["shape"] = kept_aspect(lengths, sizes, attrs.get("keep_aspect_ratio_policy", "stretch"))
        shrinks = any(m < n for n, m in zip(lengths, options["shape"], strict=False))
    else:
        # Floats of single precision: each means its exact value.
        options["scales"] = inputs["scales"].tolist() if "scales" in inputs else attrs["scales"]
        shrinks = min(options["scales"]) < 1
    if attrs.get("antialias") and shrinks:  # without effect on what does not shrink
        options |= {"antialias": "onnx", "integer_rule": "half_up"}
    if options["mode"] == "cubic":
        options["cubic_coefficient"] = attrs.get("cubic_coeff_a", -0.75)
    options["exclude_outside"] = bool(attrs.get("exclude_outside", 0))
    if options["coordinates"] == "tf_crop_and_resize":
        everything = [0.0] * x.ndim + [1.0] * x.ndim
        options["roi"] = inputs["roi"].tolist() if "roi" in inputs else everything
        options["extrapolation_value"] = attrs.get("extrapolation_value", 0)
    return Call(remapnd.resize, x, options | own)


def kept_aspect(lengths: Sequence[int], sizes: list[int], policy: str) -> list[int]:
    """Lengths under a policy: those asked for, or of the smallest or largest scale that they ask for."""
    if policy == "stretch":
        return sizes
    asked = [Fraction(m, n) for n, m in zip(lengths, sizes, strict=True)]
    scale = min(asked) if policy == "not_larger" else max(asked)
    return [math.floor(n * scale + Fraction(1, 2)) for n in lengths]


def of_webnn(row: vectors.Row) -> Call:
    """Scales give sizes, unless these are given, and sizes the positions; ties go down."""
    attrs, x = row["attrs"], vectors.array(row["inputs"]["input"])
    axes, scales = attrs.get("axes", [2, 3]), attrs.get("scales", [1, 1])
    shape = [math.floor(x.shape[axis] * scale) for axis, scale in zip(axes, scales, strict=True)]
    options = {
        "shape": attrs.get("sizes", shape),
        "axes": axes,
        "mode": {"nearest-neighbor": "nearest", "linear": "linear"}[attrs.get("mode", "nearest-neighbor")],
        "nearest_rule": "half_down",
    }
    return Call(remapnd.resize, x, options)


def of_directml(row: vectors.Row) -> Call:
    """Scale and sizes are independent; the example needs ties to go down."""
    assert row["attrs"]["InterpolationMode"] == "NEAREST_NEIGHBOR"
    options = {
        "scales": row["attrs"]["Scales"],
        "shape": vectors.only_output(row)["shape"],
        "mode": "nearest",
        "nearest_rule": "half_down",
    }
    return Call(remapnd.resample, vectors.array(row["inputs"]["InputTensor"]), options)


def check(row: vectors.Row, call: Call) -> None:
    # Nearest moves bits, so the answer must be equal, whatever tolerance a row allows.
    tolerance = None if call.options["mode"] == "nearest" else row["tolerance"]
    text = vectors.disagreement(call.run(), vectors.only_output(row), tolerance)
    assert not text, text


ANSWERED = [row for row in ROWS if "outputs" in row]
AGREEING = [row for row in ANSWERED if not vectors.entry(DIFFERENCES, row)]
DIFFERING = [row for row in ANSWERED if vectors.entry(DIFFERENCES, row)]
FAILING = [row for row in ROWS if "error" in row]


@pytest.mark.parametrize("row", vectors.cases(AGREEING))
def test_row(row):
    check(row, call_of(row))


@pytest.mark.parametrize("row", vectors.cases(DIFFERING))
def test_row_answered_in_another_way(row):
    kind, text, _ = vectors.entry(DIFFERENCES, row)
    with pytest.raises(kind, match=text):
        check(row, call_of(row))


@pytest.mark.parametrize("row", vectors.cases(DIFFERING))
def test_axes_rounded_one_by_one(row):
    call = call_of(row)
    value, options = call.data, belonging(call.options)
    axes, shape = options.pop("axes"), options.pop("shape")
    for axis, length in list(zip(axes, shape, strict=True))[::-1]:
        value = remapnd.resize(value, length, axes=axis, **options)
    assert vectors.disagreement(value, vectors.only_output(row), None) == ""


@pytest.mark.parametrize("row", vectors.cases(FAILING))
def test_row_with_an_error(row):
    with pytest.raises(ValueError, match=ERRORS[row["error"]]):
        call_of(row).run()


@pytest.mark.parametrize("row", vectors.cases(row for row in ROWS if vectors.entry(OPTIONS, row)))
def test_row_needs_its_options(row):
    with pytest.raises(AssertionError, match="where the source has"):
        check(row, of_onnx(row, {}))


@pytest.mark.parametrize(
    "row", vectors.cases(row for row in ANSWERED if "keep_aspect_ratio_policy" in row["attrs"])
)
def test_lengths_that_keep_the_aspect_ratio(row):
    shape = vectors.only_output(row)["shape"]
    assert call_of(row).options["shape"] == [shape[axis] for axis in row["attrs"]["axes"]]


@vectors.ABSENT
def test_no_entry_of_the_tables_is_unused():
    assert vectors.unused(OPTIONS, AGREEING) == []
    assert vectors.unused(DIFFERENCES, ANSWERED) == []
    assert {row["error"] for row in FAILING} == set(ERRORS)
