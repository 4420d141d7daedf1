"""Bindings of a model: which part of which resource is bound to which tensor.

Uses `values`, `resources`; used by `model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from remapnd.directml.dxdispatch.resources import Resource
from remapnd.directml.dxdispatch.values import UINT64_MAX, Value, describe, list_names
from remapnd.directml.enums import TensorFlags
from remapnd.directml.layout import TensorLayout
from remapnd.directml.operators import TENSOR_KINDS, FieldKind, OperatorDesc
from remapnd.directml.tensor import BufferTensorDesc


@dataclass(frozen=True)
class Binding:
    """A resource from a byte offset on.

    Attributes
    ----------
    resource : name of the resource
    offset : in bytes
    value : where the model says so
    """

    resource: str
    offset: int
    value: Value


def read_bindings(value: Value, resources: Mapping[str, Resource]) -> dict[str, Binding]:
    """Read an object of bindings, by name of the tensor field.

    Raises
    ------
    ModelError
        A binding is malformed, names no resource, or gives other than one resource to a tensor.
    """
    return {field: _read_binding(member, resources) for field, member in value.members()}


def resource_name(value: Value, resources: Mapping[str, Resource]) -> str:
    """Read the name of a resource of the model."""
    name = value.text()
    if name not in resources:
        raise value.error(f"name a resource of the model ({list_names(resources) or 'it has none'})")
    return name


def _read_binding(value: Value, resources: Mapping[str, Resource]) -> Binding:
    """Read a name, an object with a name, or an array of one of those."""
    if isinstance(value.content, list):
        if len(value.content) != 1:
            raise value.error("have 1 resource, as the tensor takes 1", f"{len(value.content)} resources")
        value = value.element(0)
    if isinstance(value.content, str):
        return Binding(resource_name(value, resources), 0, value)
    if not isinstance(value.content, dict):
        raise value.error('be the name of a resource or an object with "name"')
    name = resource_name(value.member("name"), resources)
    offset_value = value.find("elementOffset")
    size_value = value.find("elementSizeInBytes")
    offset = 0 if offset_value is None else offset_value.integer(0, UINT64_MAX)
    size = 0 if size_value is None else size_value.integer(0, UINT64_MAX)
    size = size or resources[name].data_type.bits // 8
    if offset_value is not None and offset and not size:
        raise offset_value.error('have beside it "elementSizeInBytes", as the resource has no data type')
    return Binding(name, offset * size, value)


def check_bindings(
    desc: OperatorDesc,
    bindings: Mapping[str, Binding],
    resources: Mapping[str, Resource],
    place: Value,
    *,
    initial: bool,
) -> None:
    """Check the bindings of one dispatch (or, with `initial`, of the initialisation) of a valid operator.

    Tensors with OWNED_BY_DML are bound at the initialisation, all others at the dispatch. Names that are no
    tensor of the operator are ignored, as DxDispatch does.

    Raises
    ------
    ModelError
        A tensor is not bound, or is not to be bound here; what is bound is too small or begins at a wrong
        offset; the output shares its resource with an input, which no operator of this family supports.
    """
    tensors = {name: getattr(desc, name) for name in desc.tensor_names(*TENSOR_KINDS)}
    for name, tensor in tensors.items():
        binding = bindings.get(name)
        if is_owned(tensor) is initial:
            if binding is None:
                why = ", which is OWNED_BY_DML" if initial else ""
                raise place.error(
                    f"bind {name}{why}", f"bindings of {list_names(bindings)}" if bindings else "none"
                )
            _check_range(name, tensor, binding, resources[binding.resource])
        elif binding is not None:
            when = "at the initialisation only if" if initial else "at the dispatch only if not"
            raise binding.value.error(
                f"be left out: {name} is bound {when} OWNED_BY_DML", describe(binding.resource)
            )
    for output in desc.tensor_names(FieldKind.OUTPUT):
        for name in tensors:
            if name != output and {name, output} <= bindings.keys():
                _check_apart(output, bindings[output], name, bindings[name])


def is_owned(tensor: BufferTensorDesc) -> bool:
    """Tell whether a tensor is bound at the initialisation, once and for all."""
    return TensorFlags.OWNED_BY_DML in TensorFlags.parse(tensor.Flags)


def _check_range(name: str, tensor: BufferTensorDesc, binding: Binding, resource: Resource) -> None:
    """Check size and alignment of what is bound to one tensor."""
    size = resource.size_in_bytes - binding.offset
    fault = TensorLayout.of(tensor).binding_fault(name, binding.offset, size)
    if fault is not None:
        rule, got = fault
        raise binding.value.error(rule, f"{got} of {describe(resource.name)}")


def _check_apart(output: str, written: Binding, name: str, read: Binding) -> None:
    """Refuse to read and write one resource: a binding reaches to the end of it."""
    if written.resource == read.resource:
        raise written.value.error(
            f"bind {output} to another resource than {name}", f"{describe(read.resource)} for both"
        )
