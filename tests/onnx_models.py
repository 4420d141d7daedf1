"""Models of one node, made for tests of `remapnd.onnx`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
from onnx import TensorProto, helper  # noqa: E402


def node_model(
    op: str,
    inputs: Mapping[str, np.ndarray | None],
    *,
    opset: int = 19,
    domain: str = "",
    name: str = "node",
    output: str = "y",
    **attributes: Any,
) -> onnx.ModelProto:
    """Return a model of one node whose inputs are those of the graph; None leaves an input out."""
    names = [key if array is not None else "" for key, array in inputs.items()]
    node = helper.make_node(op, names, [output], name=name, domain=domain, **attributes)
    first = next(array for array in inputs.values() if array is not None)
    values = [value_info(key, array) for key, array in inputs.items() if array is not None]
    out = helper.make_tensor_value_info(output, tensor_type(first), None)
    return model([node], values, [out], opset=opset)


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    initializers: Sequence[onnx.TensorProto] = (),
    opset: int = 19,
) -> onnx.ModelProto:
    """Return a model, with ONNX Runtime's own domain."""
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def value_info(name: str, array: np.ndarray, shape: Sequence[int | str | None] | None = None) -> Any:
    """Declare a value with the type and shape of an array."""
    return helper.make_tensor_value_info(name, tensor_type(array), array.shape if shape is None else shape)


def tensor_type(array: np.ndarray) -> int:
    """Return the number of the type in TensorProto."""
    if array.dtype.kind in "OU":
        return int(TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))
