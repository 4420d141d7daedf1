"""The worked examples of the reference pages, run as they are printed."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from remapnd.directml import (
    OPERATOR_DESCS,
    BufferTensorDesc,
    GatherNDOperatorDesc,
    OperatorType,
    Policy,
    ResampleOperatorDesc,
    TensorDataType,
    check,
    run,
)

DEFAULT_PLACE = Path(__file__).parents[1] / ".." / "shared" / "conformance"
VECTORS = Path(os.environ.get("REMAPND_CONFORMANCE", DEFAULT_PLACE)) / "directml_docs.jsonl"
ROWS = [json.loads(line) for line in VECTORS.read_text().splitlines()] if VECTORS.is_file() else []
ROWS = [row for row in ROWS if row["id"].startswith("directml/")]
OPERATOR_OF_ROW = {"directml/RESAMPLE_GRAD/forward": "RESAMPLE"}


def operator_of(row):
    return OperatorType.parse(OPERATOR_OF_ROW.get(row["id"], row["id"].split("/")[1]))


OWN_ROWS = [pytest.param(row, id=row["id"]) for row in ROWS if operator_of(row) in OPERATOR_DESCS]
ABSENT = pytest.mark.skip(reason=f"no conformance vectors at {VECTORS}; set REMAPND_CONFORMANCE")


@pytest.mark.parametrize("row", OWN_ROWS or [pytest.param(None, marks=ABSENT, id="absent")])
def test_example_of_a_page(row):
    kind = OPERATOR_DESCS[operator_of(row)]
    tensors = row["inputs"] | row["outputs"]
    values = dict(row["attrs"])
    if kind is ResampleOperatorDesc:
        values["ScaleCount"] = len(values["Scales"])
    for name, tensor in tensors.items():
        values[name] = BufferTensorDesc(TensorDataType.from_dtype(tensor["dtype"]), tensor["shape"])
    desc = kind(**values)
    assert check(desc, "5_1") == []
    if any(tensor["data"] is None for tensor in tensors.values()):
        return
    arrays = {name: np.array(t["data"], t["dtype"]).reshape(t["shape"]) for name, t in tensors.items()}
    inputs = {name: arrays[name] for name in row["inputs"]}
    # The example of RESAMPLE_GRAD needs ties to go down.
    got = run(desc, inputs, policy=Policy(nearest_ties="down"))
    expected = arrays["OutputTensor"]
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert got.tolist() == expected.tolist()


def floats(sizes):
    return BufferTensorDesc("FLOAT32", sizes)


# The examples of GATHER_ND, also where the vectors are not at hand.


def test_gather_nd_1d_remapping():
    desc = GatherNDOperatorDesc(floats((2, 2)), BufferTensorDesc("UINT32", (2, 1)), floats((2, 2)), 2, 2)
    got = run(desc, [np.array([[0, 1], [2, 3]], np.float32), np.array([[1], [0]], np.uint32)])
    assert got.tolist() == [[2, 3], [0, 1]]


def test_gather_nd_2d_remapping_at_the_level_that_introduced_it():
    indices = BufferTensorDesc("UINT32", (1, 1, 2, 2))
    desc = GatherNDOperatorDesc(floats((1, 2, 2, 2)), indices, floats((1, 1, 2, 2)), 3, 2)
    data = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    got = run(desc, [data, np.array([[[[0, 1], [1, 0]]]], np.uint32)], feature_level="2_1")
    assert got.tolist() == [[[[2, 3], [4, 5]]]]


def test_gather_nd_sizes():
    # Printed as six sizes of indices and output beside five of the input: all must have one DimensionCount.
    indices = BufferTensorDesc("UINT32", (1, 1, 1, 2, 3))
    assert check(GatherNDOperatorDesc(floats((3, 4, 5, 6, 7)), indices, floats((1, 1, 2, 6, 7)), 5, 3)) == []
    indices = BufferTensorDesc("UINT32", (1, 1, 1, 1, 2, 3))
    desc = GatherNDOperatorDesc(floats((3, 4, 5, 6, 7)), indices, floats((1, 1, 2, 6, 7)), 5, 3)
    assert [v.field for v in check(desc)] == ["IndicesTensor.DimensionCount"]


def test_resample_grad_example_forward():
    data = np.array([[1, 2], [3, 4]], np.float32)
    desc = ResampleOperatorDesc(floats((2, 2)), floats((1, 3)), "NEAREST_NEIGHBOR", 2, (0.5, 1.5))
    assert run(desc, [data], policy=Policy(nearest_ties="down")).tolist() == [[1, 1, 2]]
    assert run(desc, [data], policy=Policy(nearest_ties="up")).tolist() == [[3, 4, 4]]
