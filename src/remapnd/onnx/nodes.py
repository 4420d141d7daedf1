"""Nodes of a graph: their schema looked up, their attributes read and checked.

Uses the schemas of the package onnx; used by `graph`, `lint` and `mapping`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnx
from onnx import AttributeProto, helper, numpy_helper
from onnx.defs import OpSchema

from remapnd.errors import must

Array = npt.NDArray[Any]

_ONNX_DOMAIN = "ai.onnx"


class _Contrib(NamedTuple):
    """What onnx has no schema for: an operator of ONNX Runtime's own domain."""

    inputs: Mapping[str, str]  # the types of each, by name
    attributes: Mapping[str, Any]  # defaults


_CONTRIB_DOMAIN = "com.microsoft"
_CONTRIB: Mapping[str, _Contrib] = {
    "GatherND": _Contrib({"data": "*", "indices": "int32 int64"}, {"batch_dims": 0}),
    "CropAndResize": _Contrib(
        {
            "X": "float float16 double bfloat16",
            "rois": "float float16 double bfloat16",
            "batch_indices": "int32",
            "crop_size": "int32",
        },
        {"mode": "bilinear", "extrapolation_value": 0.0},
    ),
}


@dataclass(frozen=True)
class Node:
    """A node whose operator and attributes are known to be right.

    Attributes
    ----------
    domain : str
        "" for that of ONNX.
    op : str
        Type of the operator.
    name : str
        Of the node; may be empty.
    since : int
        Version of the operator, which is the first opset that has it.
    attributes : mapping of str to int, float, str, lists of them, or ndarray
        With the defaults of the schema; attributes that have none are left out.
    inputs, outputs : tuple of str
        Names; an empty one stands for an input that is left out.
    input_types : tuple of frozenset of str
        The types, such as "tensor(int64)", that each input takes; the last serves all that follow.
    """

    domain: str
    op: str
    name: str
    since: int
    attributes: Mapping[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_names: tuple[str, ...]
    input_types: tuple[frozenset[str], ...]

    @cached_property
    def label(self) -> str:
        """How errors name the node."""
        return label(self.op, self.name, self.outputs)

    def check_inputs(self, arrays: Sequence[Array | None]) -> None:
        """Refuse an array of a type that the operator does not take."""
        for k, array in enumerate(arrays):
            if array is None:
                continue
            allowed = self.input_types[min(k, len(self.input_types) - 1)]
            given = type_name(array.dtype)
            if given not in allowed:
                listed = ", ".join(sorted(allowed, key=_width))
                rule = f"be {listed}" if len(allowed) == 1 else f"be one of {listed}"
                raise TypeError(must(self.label, self.input_name(k), rule, given or array.dtype))

    def input_name(self, position: int) -> str:
        """Return what the operator calls an input."""
        last = len(self.input_names) - 1
        return self.input_names[position] if position < last else self.input_names[last]


def label(op: str, name: str, outputs: Sequence[str]) -> str:
    """Return how errors name a node: by its name, or by its first output if it has none."""
    if name or not outputs:
        return f"{op} {name!r}"
    return f"{op} (of output {outputs[0]!r})"


def _width(type_name: str) -> tuple[str, int]:
    """Sort int32 before int64."""
    digits = "".join(c for c in type_name if c.isdigit())
    return type_name.rstrip("0123456789)"), int(digits or 0)


@lru_cache(maxsize=128)
def type_name(dtype: np.dtype[Any]) -> str:
    """Return the type of ONNX that a dtype is, such as "tensor(float)"; an empty text for none."""
    if dtype.kind in "OUS":
        return "tensor(string)"
    try:
        code = helper.np_dtype_to_tensor_dtype(dtype.newbyteorder("="))
    except (KeyError, TypeError, ValueError):
        return ""
    return _tensor_type(code)


def _tensor_type(code: int) -> str:
    """Return the type whose number in TensorProto is `code`."""
    return f"tensor({onnx.TensorProto.DataType.Name(code).lower()})"


def opset_versions(model: onnx.ModelProto) -> dict[str, int]:
    """Return the version of each domain that a model imports."""
    versions = {_domain(entry.domain): entry.version for entry in model.opset_import}
    return versions or {"": 1}


def _domain(name: str) -> str:
    return "" if name == _ONNX_DOMAIN else name


def read_node(proto: onnx.NodeProto, versions: Mapping[str, int]) -> Node:
    """Read a node of a model that imports `versions`; attributes and number of inputs are checked.

    Raises
    ------
    ValueError
        The opset has no such operator, or it is deprecated; an attribute is unknown, missing or of another
        type; there are too few or too many inputs.
    """
    domain = _domain(proto.domain)
    who = label(proto.op_type, proto.name, proto.output)
    if domain == _CONTRIB_DOMAIN and proto.op_type in _CONTRIB:
        return _contrib(proto, who)
    schema = _schema(domain, proto.op_type, versions, who)
    attributes = _attributes(proto, schema, who)
    _check_count(proto, schema, who)
    return Node(
        domain,
        proto.op_type,
        proto.name,
        schema.since_version,
        attributes,
        tuple(proto.input),
        tuple(proto.output),
        tuple(parameter.name for parameter in schema.inputs),
        tuple(frozenset(parameter.types) for parameter in schema.inputs),
    )


def _schema(domain: str, op: str, versions: Mapping[str, int], who: str) -> OpSchema:
    """Find the schema that an operator has in the opset of a model."""
    if domain not in versions:
        raise ValueError(
            must(who, "domain", f"be one that the model imports, {_listed(versions)}", repr(domain))
        )
    version = versions[domain]
    newest = onnx.defs.onnx_opset_version()
    if domain == "" and not 1 <= version <= newest:
        rule = f"lie in [1, {newest}], which is what onnx {onnx.__version__} knows"
        raise ValueError(must(who, "opset", rule, version))
    try:
        schema = onnx.defs.get_schema(op, version, domain)
    except onnx.defs.SchemaError:
        raise ValueError(must(who, "op_type", f"be an operator of opset {version}", repr(op))) from None
    if schema.deprecated:
        first = schema.since_version
        rule = f"be below {first}, from which on {op} is replaced by {_SUCCESSORS.get(op, 'another')}"
        raise ValueError(must(who, "opset", rule, version))
    return schema


_SUCCESSORS = {"Scatter": "ScatterElements", "Upsample": "Resize"}


def _listed(versions: Mapping[str, int]) -> str:
    return ", ".join(repr(domain) for domain in versions)


def _attributes(proto: onnx.NodeProto, schema: OpSchema, who: str) -> dict[str, Any]:
    """Read all attributes and fill in defaults."""
    read: dict[str, Any] = {}
    for attribute in proto.attribute:
        name = attribute.name
        known = schema.attributes.get(name)
        if known is None:
            names = ", ".join(sorted(schema.attributes)) or "none"
            rule = f"be one of {names} in {schema.name}-{schema.since_version}"
            raise ValueError(must(who, "attribute", rule, repr(name)))
        if attribute.ref_attr_name:
            raise ValueError(must(who, name, "have a value", f"a reference to {attribute.ref_attr_name!r}"))
        kind = AttributeProto.AttributeType.Name(attribute.type)
        if kind != known.type.name:
            value = _value(attribute)
            got = f"{kind} {value}" if np.ndim(value) < 2 and not isinstance(value, np.ndarray) else kind
            raise ValueError(must(who, name, f"be of type {known.type.name}", got))
        read[name] = _value(attribute)
    for name, known in schema.attributes.items():
        if name in read:
            continue
        if known.required:
            raise ValueError(must(who, name, "be given", "none"))
        if known.default_value.name:
            read[name] = _value(known.default_value)
    return read


def _value(attribute: AttributeProto) -> Any:
    """Return the value of an attribute in Python's types; tensors as arrays."""
    value = helper.get_attribute_value(attribute)
    if attribute.type == AttributeProto.STRING:
        return value.decode("utf-8", "replace")
    if attribute.type == AttributeProto.STRINGS:
        return [item.decode("utf-8", "replace") for item in value]
    if attribute.type == AttributeProto.TENSOR:
        return as_array(value)
    if attribute.type in (AttributeProto.INTS, AttributeProto.FLOATS):
        return list(value)
    return value


def as_array(tensor: onnx.TensorProto, base_dir: str = "") -> Array:
    """Return a tensor as a read-only array; strings as Python's in an array of objects."""
    array = np.asarray(numpy_helper.to_array(tensor, base_dir))
    if array.dtype.kind in "US":
        array = array.astype(object)
    array.flags.writeable = False
    return array


def _check_count(proto: onnx.NodeProto, schema: OpSchema, who: str) -> None:
    """Refuse too few or too many inputs."""
    inputs = list(proto.input)
    given = len(inputs)
    if not schema.min_input <= given <= schema.max_input:
        rule = f"number {schema.min_input} to {schema.max_input}"
        if schema.min_input == schema.max_input:
            rule = f"number {schema.min_input}"
        raise ValueError(must(who, "inputs", rule, given))
    for k, name in enumerate(inputs):
        formal = schema.inputs[min(k, len(schema.inputs) - 1)]
        # Opsets 11 and 12 take empty tensors for what Resize does not use; exporters leave the inputs out.
        may_be_empty = formal.option == OpSchema.FormalParameterOption.Optional or (
            schema.name == "Resize" and k
        )
        if not name and not may_be_empty:
            raise ValueError(must(who, formal.name, "be given", "none"))


def _contrib(proto: onnx.NodeProto, who: str) -> Node:
    """Read an operator of ONNX Runtime's own domain."""
    inputs, defaults = _CONTRIB[proto.op_type]
    if len(proto.input) != len(inputs) or not all(proto.input):
        given = sum(map(bool, proto.input))
        raise ValueError(must(who, "inputs", f"number {len(inputs)}", given))
    attributes = {attribute.name: _value(attribute) for attribute in proto.attribute}
    for name, value in attributes.items():
        if name not in defaults:
            raise ValueError(must(who, "attribute", f"be one of {', '.join(defaults)}", repr(name)))
        if type(value) is not type(defaults[name]):
            raise ValueError(must(who, name, f"be of type {type(defaults[name]).__name__}", repr(value)))
    everything = frozenset(onnx.defs.get_schema("GatherND", 13, "").inputs[0].types)
    return Node(
        _CONTRIB_DOMAIN,
        proto.op_type,
        proto.name,
        1,
        {**defaults, **attributes},
        tuple(proto.input),
        tuple(proto.output),
        tuple(inputs),
        tuple(
            everything if types == "*" else frozenset(f"tensor({name})" for name in types.split())
            for types in inputs.values()
        ),
    )
