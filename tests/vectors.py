"""Conformance vectors: cases of public test suites, read from a directory beside the project, not part of it.

A row is one JSON object: `id`, `op`, `attrs`, `inputs`, then `outputs` or `error`, and `tolerance`. A tensor
is `{dtype, shape, data}`, flat and row-major; data null means that only dtype and shape are known.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

PLACE = Path(
    os.environ.get("REMAPND_CONFORMANCE") or Path(__file__).parents[1] / ".." / "shared" / "conformance"
)

Row = dict[str, Any]
Entry = TypeVar("Entry")


ABSENT = pytest.mark.skipif(
    not PLACE.is_dir(), reason=f"no conformance vectors at {PLACE}; set REMAPND_CONFORMANCE"
)


def rows(*suites: str) -> list[Row]:
    """Return the rows of suites in the order of their files; none if there is no directory of vectors."""
    if not PLACE.is_dir():
        return []
    texts = [(PLACE / f"{suite}.jsonl").read_text("utf-8") for suite in suites]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def cases(selected: Iterable[Row]) -> list[Any]:
    """Return the selected rows as parameters of a test, or one that is skipped if there are no vectors."""
    params = [pytest.param(row, id=row["id"]) for row in selected]
    return params if PLACE.is_dir() else [pytest.param(None, marks=ABSENT, id="absent")]


def entry(table: Mapping[str, Entry], row: Row) -> Entry | None:
    """Return what a table from patterns of ids has for a row: at most one pattern fits."""
    found = [value for pattern, value in table.items() if re.fullmatch(pattern, row["id"])]
    assert len(found) <= 1, row["id"]
    return found[0] if found else None


def unused(table: Mapping[str, Any], selected: Iterable[Row]) -> list[str]:
    """Return the patterns of a table that fit none of the rows."""
    ids = [row["id"] for row in selected]
    return [pattern for pattern in table if not any(re.fullmatch(pattern, one) for one in ids)]


def array(tensor: dict[str, Any]) -> np.ndarray:
    """Return a tensor as an array; strings as NumPy's of fixed size, zeros where only the shape is known."""
    dtype, data = tensor["dtype"], tensor["data"]
    shape: list[int] = tensor["shape"]
    if data is None:
        return np.zeros(shape, dtype)
    if dtype == "string":
        dtype = np.str_
    elif dtype.startswith("float"):
        data = [float(value) for value in data]  # infinities and NaN are written as strings
    return np.array(data, dtype).reshape(shape)


def only_output(row: Row) -> dict[str, Any]:
    """Return the tensor of the one output."""
    outputs: dict[str, dict[str, Any]] = row["outputs"]
    (tensor,) = outputs.values()
    return tensor


def disagreement(
    got: np.ndarray,
    tensor: dict[str, Any],
    tolerance: dict[str, float] | None,
    where: np.ndarray | np.bool_ = np.True_,
) -> str:
    """Say how `got` disagrees with the tensor that the source gives; an empty text if it does not.

    The tolerance is None for equal values, or {ulp}, or {rtol, atol}; a NaN agrees with a NaN alone. Only
    values at which `where` is true are compared.
    """
    want = array(tensor)
    if (got.dtype.name, got.shape) != (want.dtype.name, want.shape) and not (
        got.dtype.kind == want.dtype.kind == "U" and got.shape == want.shape
    ):
        return f"{got.dtype} {got.shape} where the source has {want.dtype} {want.shape}"
    if tensor["data"] is None:
        return ""
    agrees = (got == want) | ~where
    if want.dtype.kind == "f":
        agrees |= np.isnan(got) & np.isnan(want)
    if tolerance is not None and "ulp" in tolerance:
        agrees |= (np.abs(_ordered(got) - _ordered(want)) <= tolerance["ulp"]) & np.isfinite(want)
    elif tolerance is not None:
        wide = want.astype(np.float64)
        limit = tolerance["atol"] + tolerance["rtol"] * np.abs(wide)
        agrees |= (np.abs(got - wide) <= limit) & np.isfinite(wide)
    if agrees.all():
        return ""
    at = tuple(np.argwhere(~agrees)[0].tolist())
    count = int(np.count_nonzero(~agrees))
    return f"{got[at]} where the source has {want[at]} at {at}; {count} of {want.size} beyond {tolerance}"


def _ordered(floats: np.ndarray) -> np.ndarray:
    """Return Python integers that number the floats in ascending order, both zeros 0."""
    bits = floats.view(f"i{floats.itemsize}").astype(object)
    return np.where(bits < 0, -(1 << 8 * floats.itemsize - 1) - bits, bits)
