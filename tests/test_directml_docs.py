"""The worked examples of the reference pages, run as they are printed."""

import numpy as np
import pytest
import vectors

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

ROWS = [row for row in vectors.rows("directml_docs") if row["id"].startswith("directml/")]
OPERATOR_OF_ROW = {"directml/RESAMPLE_GRAD/forward": "RESAMPLE"}

# Where a page contradicts itself, or leaves out what the descriptor needs; offsets between pixel centres.
CORRECTED = {
    "directml/GATHER/3": {"IndexDimensions": 1},  # 2 would give the sizes {3,1,2}
    "directml/SCATTER_ND/1": {"InputDimensionCount": 1, "IndicesDimensionCount": 2},
    "directml/RESAMPLE_GRAD/1": {
        "DimensionCount": 2,
        "InputPixelOffsets": (0.5, 0.5),
        "OutputPixelOffsets": (-0.5, -0.5),
    },
}


def operator_of(row):
    return OperatorType.parse(OPERATOR_OF_ROW.get(row["id"], row["id"].split("/")[1]))


@pytest.mark.parametrize("row", vectors.cases(row for row in ROWS if operator_of(row) in OPERATOR_DESCS))
def test_example_of_a_page(row):
    kind = OPERATOR_DESCS[operator_of(row)]
    tensors = row["inputs"] | row["outputs"]
    values = dict(row["attrs"]) | CORRECTED.get(row["id"], {})
    if kind is ResampleOperatorDesc:
        values["ScaleCount"] = len(values["Scales"])
    rank = max(len(tensor["shape"]) for tensor in tensors.values())
    for name, tensor in tensors.items():  # the page of SCATTER_ND leaves out leading ones
        sizes = (1,) * (rank - len(tensor["shape"])) + tuple(tensor["shape"])
        values[name] = BufferTensorDesc(TensorDataType.from_dtype(tensor["dtype"]), sizes)
    desc = kind(**values)
    assert check(desc, "5_1") == []
    if any(tensor["data"] is None for tensor in tensors.values()):
        return
    inputs = {name: vectors.array(tensor) for name, tensor in row["inputs"].items()}
    # The example of RESAMPLE_GRAD needs ties to go down.
    got = run(desc, inputs, policy=Policy(nearest_ties="down"))
    expected = vectors.only_output(row)
    assert vectors.disagreement(got.reshape(expected["shape"]), expected, None) == ""


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
