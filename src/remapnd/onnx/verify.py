"""Running gathers, scatters, resizes and samplings of a model here and in ONNX Runtime, on the same tensors.

Uses `facts`, `graph`; used by `cli.lint`. Needs the extra ``remapnd[verify]``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from remapnd.errors import must
from remapnd.onnx.facts import Tensor, inferred, symbolic_dims
from remapnd.onnx.graph import Step, inlined
from remapnd.onnx.model_file import as_model
from remapnd.onnx.nodes import Array, label, opset_versions, read_node
from remapnd.onnx.operators import is_looked_at


@dataclass(frozen=True)
class Comparison:
    """What a node gives here and in ONNX Runtime.

    Attributes
    ----------
    differing, size : int
        Elements that are not equal, of all; NaN equals NaN.
    largest : float
        The largest difference between two elements; infinity where one of them is not finite.
    magnitude : float
        The largest finite element in ONNX Runtime's result.
    at : tuple of int or None
        Where the largest difference is.
    here, there : str
        The elements at that place.
    error : str
        Why there is no result to compare.
    """

    differing: int = 0
    size: int = 0
    largest: float = 0.0
    magnitude: float = 0.0
    at: tuple[int, ...] | None = None
    here: str = ""
    there: str = ""
    error: str = ""

    def agrees(self, tolerance: float) -> bool:
        """Whether all differences are at most `tolerance` of the largest element."""
        return not self.error and (not self.differing or self.largest <= tolerance * self.magnitude)


def verify(
    model: onnx.ModelProto | bytes | str | os.PathLike[str],
    *,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
) -> dict[str, Comparison]:
    """Compare every gather, scatter, resize and sampling of a graph with ONNX Runtime's CPU provider.

    ONNX Runtime runs the model on random inputs; each node then runs here on the tensors that it got there.

    Parameters
    ----------
    model : ModelProto, the bytes of one, or the path of a file
        A path lets ONNX Runtime find external data.
    dims : mapping of name to int
        A length for each symbolic dimension of the inputs; ``"INPUT.AXIS"`` names one without a name.
    seed : int
        Of the random inputs: floats in [0, 1), integers 0 or 1.

    Returns
    -------
    dict of output name to Comparison
        Nodes within other nodes are left out.

    Raises
    ------
    ImportError
        ONNX Runtime is not installed.
    OSError, TypeError, ValueError
        The model cannot be read or is none, a dimension has no length, an input is no tensor of numbers or
        does not fit in memory, or ONNX Runtime does not run the model.
    """
    try:
        import onnxruntime  # noqa: PLC0415
    except ImportError as error:
        text = "verify: the package onnxruntime must be installed, as the extra remapnd[verify] does"
        raise ImportError(text, name=error.name) from error
    whole = inlined(as_model("verify", model))
    path = None if isinstance(model, (onnx.ModelProto, bytes)) else os.fspath(model)
    given = inferred(whole, dims or {})
    missing = symbolic_dims(given)
    if missing:
        raise ValueError(
            must(
                "verify",
                "dims",
                "have a length for each symbolic dimension",
                f"none for {', '.join(missing)}",
            )
        )
    chosen = [node for node in whole.graph.node if is_looked_at(node.domain, node.op_type)]
    feeds = _random_inputs(given, seed)
    wanted = _wanted(whole, chosen)
    results = _run(onnxruntime, _with_outputs(whole, wanted), path, feeds, wanted, dims=dims or {})
    values = results | feeds
    constants = {tensor.name: tensor for tensor in whole.graph.initializer}
    for node in chosen:
        for name in node.input:
            if name in constants and name not in values:
                base = os.path.dirname(os.path.abspath(path)) if path else ""
                values[name] = np.asarray(onnx.numpy_helper.to_array(constants[name], base))
    versions = opset_versions(whole)
    return {node.output[0]: _compared(node, versions, values) for node in chosen if node.output}


def _wanted(model: onnx.ModelProto, chosen: list[onnx.NodeProto]) -> list[str]:
    """Return the names of all values that the chosen nodes read and write, but inputs and constants."""
    known = {value.name for value in (*model.graph.input, *model.graph.initializer)}
    names = {name: None for node in chosen for name in (*node.input, *node.output) if name}
    return [name for name in names if name not in known]


def _with_outputs(model: onnx.ModelProto, wanted: list[str]) -> onnx.ModelProto:
    """Return a copy of a model that also returns those values."""
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    present = {value.name for value in copied.graph.output}
    copied.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted if name not in present)
    return copied


def _run(
    onnxruntime: Any,
    model: onnx.ModelProto,
    path: str | None,
    feeds: Mapping[str, Array],
    wanted: list[str],
    *,
    dims: Mapping[str, int],
) -> dict[str, Array]:
    """Run a model in ONNX Runtime, node by node as it is written."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    if path is not None:
        folder = os.path.dirname(os.path.abspath(path))
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return dict(zip(wanted, session.run(wanted, dict(feeds)), strict=True)) if wanted else {}
    except Exception as error:  # ONNX Runtime has no common class of its errors
        text = " ".join(str(error).split())
        lengths = ", ".join(f"{name}={length}" for name, length in dims.items())
        rule = "run in ONNX Runtime" + (f" with `dims` {lengths}" if lengths else "")
        raise ValueError(must("verify", "model", rule, text)) from None


def _random_inputs(model: onnx.ModelProto, seed: int) -> dict[str, Array]:
    """Make an array for every input without a constant."""
    constants = {tensor.name for tensor in model.graph.initializer}
    random = np.random.default_rng(seed)
    feeds: dict[str, Array] = {}
    for value in model.graph.input:
        if value.name in constants:
            continue
        declared = value.type.tensor_type
        shape = tuple(dim.dim_value for dim in declared.shape.dim)
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(declared.elem_type or 1))
        if dtype.kind not in "fiub" and dtype.name != "bfloat16":
            shown = Tensor(str(dtype), shape)
            raise ValueError(must("verify", value.name, "be a tensor of numbers or booleans", shown))
        feeds[value.name] = _random(random, value.name, dtype, shape)
    return feeds


def _random(random: np.random.Generator, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Make one input."""
    try:
        integers = dtype.kind in "iub"
        return np.asarray(random.integers(0, 2, shape) if integers else random.random(shape), dtype)
    except (MemoryError, ValueError):  # NumPy's, of a size beyond all memory
        shown = f"{name!r} {Tensor(str(dtype), shape)}"
        raise ValueError(must("verify", "dims", "give inputs that fit in memory", shown)) from None


def _compared(proto: onnx.NodeProto, versions: Mapping[str, int], values: Mapping[str, Array]) -> Comparison:
    """Run a node here and compare."""
    arrays = [np.asarray(values[name]) if name else None for name in proto.input]
    there = np.asarray(values[proto.output[0]])
    try:
        here = Step(read_node(proto, versions), "onnxruntime")(arrays)
    except (TypeError, ValueError, IndexError) as error:
        who = label(proto.op_type, proto.name, proto.output)
        return Comparison(size=there.size, error=str(error).removeprefix(f"{who}: "))
    if (here.shape, here.dtype) != (there.shape, there.dtype):
        text = f"{here.dtype} {here.shape} here, {there.dtype} {there.shape} in ONNX Runtime"
        return Comparison(size=there.size, error=text)
    return compared(here, there)


def compared(here: Array, there: Array) -> Comparison:
    """Compare two arrays of one shape and dtype, element by element."""
    equal = here == there
    if there.dtype.kind == "f":
        equal |= np.isnan(here) & np.isnan(there)
    differing = int(np.count_nonzero(~equal))
    if there.dtype.kind not in "fiub":
        distance = np.where(equal, 0.0, np.inf)
        magnitude = 0.0
    else:
        wide, other = here.astype(np.float64), there.astype(np.float64)
        finite = np.isfinite(other)
        magnitude = float(np.max(np.abs(other[finite]), initial=0.0))
        with np.errstate(invalid="ignore"):
            distance = np.where(equal, 0.0, np.abs(wide - other))
        distance[~np.isfinite(distance)] = np.inf
    if not differing:
        return Comparison(size=there.size, magnitude=magnitude)
    at = tuple(int(k) for k in np.unravel_index(int(np.argmax(distance)), there.shape))
    return Comparison(
        differing, there.size, float(distance[at]), magnitude, at, str(here[at]), str(there[at])
    )
