"""What is known of the values of a model before it runs: types, shapes, constants.

Uses shape inference of onnx and the operators of this package for what can be computed; used by `lint`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto

from remapnd.errors import must
from remapnd.onnx.graph import Step, inlined
from remapnd.onnx.nodes import Array, as_array, opset_versions, read_node
from remapnd.onnx.operators import is_known

_LARGEST_CONSTANT = 1 << 20  # elements: larger ones are no sizes or indices to be looked at


@dataclass(frozen=True)
class Tensor:
    """A value: its type as in ONNX, such as "float", and its shape; None for what is not known.

    A size is a number, the name of a symbolic dimension, or "?".
    """

    type: str | None
    shape: tuple[int | str, ...] | None

    def __str__(self) -> str:
        sizes = "[...]" if self.shape is None else "[" + ",".join(map(str, self.shape)) + "]"
        return f"{self.type or '?'}{sizes}"

    @property
    def rank(self) -> int | None:
        """Number of axes."""
        return None if self.shape is None else len(self.shape)

    @property
    def static_shape(self) -> tuple[int, ...] | None:
        """The shape, if all sizes are numbers."""
        if self.shape is None:
            return None
        sizes = tuple(size for size in self.shape if isinstance(size, int))
        return sizes if len(sizes) == len(self.shape) else None


UNKNOWN = Tensor(None, None)


class Facts:
    """Types, shapes and constants by the names of values.

    Parameters
    ----------
    model : ModelProto
        With inferred shapes.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        self._versions = opset_versions(model)
        self._tensors: dict[str, Tensor] = {}
        self.constants: dict[str, Array] = {}
        self._read(model.graph)

    def tensor(self, name: str) -> Tensor:
        """Return what is known of a value."""
        return self._tensors.get(name, UNKNOWN)

    def _read(self, graph: onnx.GraphProto) -> None:
        """Read a graph and all within it; names are unique over all of them, as ONNX demands."""
        for value in (*graph.input, *graph.value_info, *graph.output):
            if value.type.HasField("tensor_type"):
                self._tensors[value.name] = _tensor(value.type.tensor_type)
        for tensor in graph.initializer:
            self._tensors[tensor.name] = Tensor(_type(tensor.data_type), tuple(tensor.dims))
            external = tensor.data_location == onnx.TensorProto.EXTERNAL
            if not external and int(np.prod(tensor.dims)) <= _LARGEST_CONSTANT:
                self.constants[tensor.name] = as_array(tensor)
        for node in graph.node:
            self._fold(node)
            for attribute in node.attribute:
                for inner in _graphs(attribute):
                    self._read(inner)

    def _fold(self, proto: onnx.NodeProto) -> None:
        """Compute a node whose inputs are constants, or the shape of a value whose shape is known."""
        if len(proto.output) != 1 or not is_known(proto.domain, proto.op_type):
            return
        if any(name and name not in self.constants for name in proto.input):
            if proto.op_type != "Shape" or (shape := self.tensor(proto.input[0]).static_shape) is None:
                return
        else:
            shape = None
        arrays: list[Array | None] = [self.constants.get(name) for name in proto.input]
        try:
            if shape is not None:
                arrays = [np.broadcast_to(np.float32(0), shape)]
            result = Step(read_node(proto, self._versions), "onnxruntime")(arrays)
        except (TypeError, ValueError, IndexError):
            return  # said of the node when it is looked at, if it is one of the family
        if result.size <= _LARGEST_CONSTANT:
            self.constants[proto.output[0]] = result
            known = self.tensor(proto.output[0])
            if known.static_shape is None:
                self._tensors[proto.output[0]] = Tensor(known.type, result.shape)


def inferred(model: onnx.ModelProto, dims: Mapping[str, int]) -> onnx.ModelProto:
    """Return a copy of a model with lengths for symbolic dimensions, and shapes inferred.

    A key of `dims` is the name of a dimension, or ``"INPUT.AXIS"`` for one that has none.

    Raises
    ------
    ValueError
        The model has no dimension of a name in `dims`, or no shapes can be inferred.
    """
    copied = onnx.ModelProto()
    copied.CopyFrom(inlined(model))
    found = set()
    for name, length in dims.items():
        if not 0 <= length < 2**63:
            raise ValueError(must("lint", "dims", "have lengths in [0, 2**63)", f"{name}={length}"))
    for value in copied.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            name = dim_name(value.name, axis, dim)
            if name in dims:
                found.add(name)
                dim.dim_value = dims[name]
    unknown = [name for name in dims if name not in found]
    if unknown:
        names = ", ".join(symbolic_dims(model)) or "none"
        raise ValueError(must("lint", "dims", f"name symbolic dimensions of inputs ({names})", unknown[0]))
    if dims:  # shapes that an exporter wrote down hold the names, not the lengths
        del copied.graph.value_info[:]
        for value in copied.graph.output:
            value.type.tensor_type.ClearField("shape")
    try:
        return onnx.shape_inference.infer_shapes(copied, data_prop=True)
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError) as error:
        text = " ".join(str(error).split())
        raise ValueError(must("lint", "model", "have shapes that can be inferred", text)) from None


def symbolic_dims(model: onnx.ModelProto) -> list[str]:
    """Return the names of the dimensions of the inputs that have no length; ``"INPUT.AXIS"`` for no name."""
    names = {
        dim_name(value.name, axis, dim): None
        for value in model.graph.input
        for axis, dim in enumerate(value.type.tensor_type.shape.dim)
    }
    return [name for name in names if name]


def dim_name(value: str, axis: int, dim: Any) -> str:
    """Return the name of a dimension of an input; an empty text if it has a length."""
    size = _size(dim)
    return "" if isinstance(size, int) else f"{value}.{axis}" if size == "?" else size


def nodes_of(graph: onnx.GraphProto, path: str = "") -> Iterator[tuple[str, onnx.NodeProto]]:
    """Walk all nodes, also of graphs within nodes, each with the path to its graph."""
    for node in graph.node:
        yield path, node
        for attribute in node.attribute:
            for inner in _graphs(attribute):
                place = f"{path}{node.name or node.op_type}.{attribute.name}/"
                yield from nodes_of(inner, place)


def _graphs(attribute: AttributeProto) -> Iterator[onnx.GraphProto]:
    """Return the graphs that an attribute holds."""
    if attribute.type == AttributeProto.GRAPH:
        yield attribute.g
    yield from attribute.graphs


def _tensor(declared: Any) -> Tensor:
    """Read the type and shape of a value."""
    shape: tuple[int | str, ...] | None = None
    if declared.HasField("shape"):
        shape = tuple(_size(dim) for dim in declared.shape.dim)
    return Tensor(_type(declared.elem_type), shape)


def _size(dim: Any) -> int | str:
    """Read a size; some exporters write -1 for one that is not known, and inference makes up names."""
    if dim.HasField("dim_value"):
        return int(dim.dim_value) if dim.dim_value >= 0 else "?"
    name = str(dim.dim_param)
    return "?" if not name or name.startswith("unk__") else name


def _type(code: int) -> str | None:
    """Return the name of a type of elements."""
    return onnx.TensorProto.DataType.Name(code).lower() if code else None
