"""Models of one node with whatever attributes and inputs: an answer or an error that names the node."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
import onnx_models as models  # noqa: E402

from remapnd import onnx as ronnx  # noqa: E402
from remapnd.onnx.lint import lint  # noqa: E402
from remapnd.onnx.operators import FAMILY, OPERATORS  # noqa: E402

OPSETS = (1, 6, 7, 9, 10, 11, 12, 13, 16, 18, 19, 21, 25)
DTYPES = (
    "float32",
    "float64",
    "float16",
    "int32",
    "int64",
    "uint8",
    "int8",
    "bool",
    "uint64",
    "O",
    "complex64",
)
SENSIBLE: dict[str, list[Any]] = {
    "mode": ["nearest", "linear"],
    "coordinate_transformation_mode": [
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
        "tf_half_pixel_for_nn",
    ],
    "nearest_mode": ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"],
    "keep_aspect_ratio_policy": ["stretch", "not_larger", "not_smaller"],
    "reduction": ["none", "add", "mul", "min", "max"],
    "axis": [-2, -1, 0, 1],
    "axes": [[0], [1], [0, 1], [-1]],
    "antialias": [0],
    "exclude_outside": [0],
}  # fmt: skip
ANYTHING: list[Any] = [0, -1, 5, 1.5, math.nan, "x", "none", [0], [-1, 2], [1.0, 2.0], 10**12]


def values(rng: random.Random, shape: list[int], dtype: str, low: int = -4, high: int = 5) -> np.ndarray:
    """An array of small integers, of floats now and then infinite or not a number."""
    whole = np.array([rng.randrange(low, high) for _ in range(math.prod(shape))], np.int64).reshape(shape)
    if dtype == "O":
        return whole.astype(str).astype(object)
    if dtype.startswith("f") and rng.random() < 0.2:
        strange = rng.choice([math.nan, math.inf, 0.5, 1.5, 3e4])
        return np.where(whole > 0, strange, whole).astype(dtype)
    return whole.astype(dtype)


def sizes(rng: random.Random, most: int) -> list[int]:
    return [rng.choice([0, 1, 2, 3, 4]) for _ in range(rng.randrange(most))]


def inputs_of(rng: random.Random, op: str) -> list[np.ndarray | None]:
    """Inputs that mostly fit the operator."""
    if op in ("Resize", "Upsample") and rng.random() < 0.8:
        shape = [rng.randrange(1, 6) for _ in range(rng.randrange(1, 4))]
        count = len(shape) if rng.random() < 0.8 else rng.randrange(4)
        x = values(rng, shape, rng.choice(DTYPES))
        scales = (
            np.array([3 * rng.random() for _ in range(count)], np.float32) if rng.random() < 0.6 else None
        )
        lengths = values(rng, [count], "int64", 0, 9) if scales is None or rng.random() < 0.1 else None
        return [x, None, scales] + ([lengths] if lengths is not None else [])
    if rng.random() < 0.7 and ("Gather" in op or "Scatter" in op):
        dtype = rng.choice(DTYPES)
        indices = values(rng, sizes(rng, 4), rng.choice(["int32", "int64"]), -3, 3)
        updates = [values(rng, list(indices.shape), dtype)] if "Scatter" in op else []
        return [values(rng, sizes(rng, 4), dtype), indices, *updates]
    count = rng.randrange(1, 5)
    return [values(rng, sizes(rng, 5), rng.choice(DTYPES)) for _ in range(count)]


def attributes_of(rng: random.Random, domain: str, op: str, opset: int) -> dict[str, Any]:
    """Some attributes, sensible or not."""
    try:
        names = list(onnx.defs.get_schema(op, opset, domain).attributes)
    except onnx.defs.SchemaError:
        names = []
    chosen = [name for name in names if rng.random() < 0.4]
    return {
        name: rng.choice(SENSIBLE.get(name, ANYTHING) if rng.random() < 0.7 else ANYTHING) for name in chosen
    }


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_or_an_error(seed):
    rng = random.Random(seed)
    keys = sorted({(domain, op) for domain, op, _ in OPERATORS})
    family = sorted({(domain, op) for domain, op, _ in FAMILY})
    answered, texts = 0, []
    for _ in range(600):
        domain, op = rng.choice(family if rng.random() < 0.7 else keys)
        opset = rng.choice(OPSETS)
        given = {f"i{k}": array for k, array in enumerate(inputs_of(rng, op))}
        attributes = attributes_of(rng, domain, op, opset)
        model = models.node_model(op, given, opset=opset, domain=domain, **attributes)
        arrays = [array for array in given.values() if array is not None]
        try:
            ronnx.prepare(model, resize_rules=rng.choice(["onnxruntime", "onnx"])).run(arrays)
            answered += 1
        except (TypeError, ValueError, IndexError) as error:
            texts.append((f"{op} 'node': ", str(error)))
        try:
            lint(model)
        except ValueError as error:  # by shape inference
            texts.append(("lint: `model` must have shapes that can be inferred, got ", str(error)))
    assert answered >= 20
    assert [text for start, text in texts if not text.startswith(start) or " must " not in text] == []
