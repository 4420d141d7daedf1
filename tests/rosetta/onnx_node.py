"""Resize and Upsample of ONNX as functions, run by ONNX Runtime."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import onnx
import onnxruntime


@lru_cache(maxsize=64)
def _session(operator: str, inputs: tuple[str, ...], dtype: str, opset: int, attributes: Any) -> Any:
    """Return a session of one node; names of inputs that are not there are empty."""
    kinds = {
        "x": onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)),
        "roi": onnx.TensorProto.FLOAT,
        "scales": onnx.TensorProto.FLOAT,
        "sizes": onnx.TensorProto.INT64,
    }
    node = onnx.helper.make_node(operator, inputs, ["y"], **dict(attributes))
    values = {
        name: onnx.helper.make_tensor_value_info(
            name, kinds[name], [4 if name == "roi" else 2] if name != "x" else [None, None]
        )
        for name in inputs
        if name
    }
    result = onnx.helper.make_tensor_value_info("y", kinds["x"], [None, None])
    graph = onnx.helper.make_graph([node], "node", list(values.values()), [result])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def resize(
    x: np.ndarray[Any, Any], *, sizes: Any = None, scales: Any = None, roi: Any = None, **attributes: Any
) -> Any:
    """Resize-19 of two axes."""
    feeds = {"x": x}
    if roi is not None:
        feeds["roi"] = np.array(roi, np.float32)
    if sizes is not None:
        feeds["sizes"] = np.array(sizes, np.int64)
    else:
        feeds["scales"] = np.array(scales, np.float32)
    inputs = tuple(name if name in feeds else "" for name in ("x", "roi", "scales", "sizes"))
    while not inputs[-1]:
        inputs = inputs[:-1]
    session = _session("Resize", inputs, x.dtype.name, 19, tuple(attributes.items()))
    return session.run(None, feeds)[0]


def upsample(x: np.ndarray[Any, Any], *, scales: Any, mode: str) -> Any:
    """Upsample-9 of two axes."""
    session = _session("Upsample", ("x", "scales"), x.dtype.name, 9, (("mode", mode),))
    return session.run(None, {"x": x, "scales": np.array(scales, np.float32)})[0]
