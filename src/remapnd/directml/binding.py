"""Binding memory to operators: what each dispatchable takes, and the views of it.

Uses `run`, `layout`; used by `device`. A fault of binding is a TypeError or ValueError here; the device makes
its removal of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from remapnd.directml import read
from remapnd.directml.enums import ExecutionFlags
from remapnd.directml.kernels import Run
from remapnd.directml.layout import TensorLayout, flat_memory
from remapnd.directml.run import CompiledOperator
from remapnd.errors import must

BUFFER_ALIGNMENT = 256
"""DML_TEMPORARY_BUFFER_ALIGNMENT and DML_PERSISTENT_BUFFER_ALIGNMENT, in bytes."""


@dataclass(frozen=True, eq=False)
class BufferBinding:
    """DML_BUFFER_BINDING: a range of memory.

    Parameters
    ----------
    Buffer : C-contiguous ndarray or bytes-like
    Offset : int, bytes
        A multiple of 16 and of GuaranteedBaseOffsetAlignment; of 256 for persistent and temporary resources.
    SizeInBytes : int, or None for the rest of the buffer
        At least the TotalTensorSizeInBytes of the tensor.
    """

    Buffer: Any
    Offset: int = 0
    SizeInBytes: int | None = None


Binding: TypeAlias = Any
"""A BufferBinding; an array or bytes-like, bound as `run` takes it; or None (DML_BINDING_TYPE_NONE)."""


class BindingProperties(NamedTuple):
    """DML_BINDING_PROPERTIES of a dispatchable."""

    RequiredDescriptorCount: int
    TemporaryResourceSize: int
    PersistentResourceSize: int


class Dispatchable(Protocol):
    """What a binding table can be made for."""

    def get_binding_properties(self) -> BindingProperties:
        """Return what it needs."""

    def check_inputs(self, bindings: Sequence[Binding]) -> None:
        """Raise TypeError or ValueError for bindings that are not what it takes."""

    def check_outputs(self, bindings: Sequence[Binding]) -> None:
        """Raise TypeError or ValueError for bindings that are not what it takes."""

    def bound(self, bindings: Bindings) -> Run:
        """Return the call that reads and writes what is bound now."""


@dataclass
class Bindings:
    """What is bound to one dispatchable; None where nothing has been yet."""

    inputs: Sequence[Binding] | None = None
    outputs: Sequence[Binding] | None = None
    temporary: Binding = None
    persistent: Binding = None


class DeviceOperator:
    """IDMLCompiledOperator: made by `Device.compile_operator`.

    Attributes
    ----------
    operator : CompiledOperator
        The operator without a device.
    flags : ExecutionFlags
    owned : mapping of str to int
        The inputs that are OWNED_BY_DML, and where the copy of each begins in the persistent resource.
    initialized : bool
        Whether an initializer has been executed for it.
    """

    def __init__(self, operator: CompiledOperator, owned: Sequence[str], flags: ExecutionFlags) -> None:
        self.operator, self.flags, self.initialized = operator, flags, False
        self.owned: Mapping[str, int] = {}
        self._persistent_size = 0
        for name in owned:
            self.owned = {**self.owned, name: self._persistent_size}
            self._persistent_size += _rounded_up(operator.inputs[name].total_bytes, BUFFER_ALIGNMENT)

    def __repr__(self) -> str:
        return f"<DeviceOperator {self.operator.type}>"

    def get_binding_properties(self) -> BindingProperties:
        """Return what executing needs: one descriptor for each tensor, no temporary memory."""
        return BindingProperties(len(self.operator.inputs) + 1, 0, self._persistent_size)

    def check_inputs(self, bindings: Sequence[Binding]) -> None:
        """Require one binding for each input, NONE exactly where it is OWNED_BY_DML."""
        names = list(self.operator.inputs)
        _check_count(self, "inputs", bindings, names)
        for name, binding in zip(names, bindings, strict=True):
            if name in self.owned and binding is not None:
                raise ValueError(self._must(name, "be NONE at execution, as it is OWNED_BY_DML", binding))
            if name not in self.owned and binding is None:
                raise ValueError(self._must(name, "be bound at execution", binding))

    def check_outputs(self, bindings: Sequence[Binding]) -> None:
        """Require a binding for the output."""
        name = self.operator.output_name
        _check_count(self, "outputs", bindings, [name])
        if bindings[0] is None:
            raise ValueError(self._must(name, "be bound at execution", bindings[0]))

    def bound(self, bindings: Bindings) -> Run:
        """Return the call that executes the operator."""
        if bindings.inputs is None or bindings.outputs is None:
            missing = "inputs" if bindings.inputs is None else "outputs"
            raise ValueError(f"{self.operator.type}: its {missing} must be bound before it is recorded")
        buffers = self.owned_views(bindings.persistent)
        for name, binding in zip(self.operator.inputs, bindings.inputs, strict=True):
            if name not in self.owned:
                buffers[name] = _buffer(self._label(name), self.operator.inputs[name], binding)
        name = self.operator.output_name
        output = _buffer(self._label(name), self.operator.output, bindings.outputs[0], writable=True)
        return self.operator.bind(buffers, output).run

    def owned_views(self, persistent: Binding, *, writable: bool = False) -> dict[str, npt.NDArray[Any]]:
        """View the copies of the OWNED_BY_DML inputs in a persistent resource."""
        if not self._persistent_size:
            return {}
        name = f"{self.operator.type}: the persistent resource"
        if persistent is None:
            raise ValueError(f"{name} must be bound, got NONE")
        memory, offset = _range(name, persistent, writable=writable)
        if offset % BUFFER_ALIGNMENT:
            raise ValueError(
                f"{name} must begin at a multiple of {BUFFER_ALIGNMENT} bytes, got byte {offset}"
            )
        if memory.nbytes < self._persistent_size:
            raise ValueError(f"{name} must be {self._persistent_size} bytes long, got {memory.nbytes}")
        return {
            tensor: self.operator.inputs[tensor].view(name, memory[start:], writable=writable)
            for tensor, start in self.owned.items()
        }

    def initial_copy(self, bindings: Sequence[Binding] | None, persistent: Binding) -> Callable[[], None]:
        """Return the call that copies the OWNED_BY_DML inputs to the persistent resource."""
        targets = self.owned_views(persistent, writable=True)
        sources = {}
        for name, binding in zip(self.operator.inputs, bindings or (), strict=bindings is not None):
            if name in targets:
                label, layout = self._label(name), self.operator.inputs[name]
                sources[name] = layout.view(label, _buffer(label, layout, binding))
                if any(np.may_share_memory(sources[name], target) for target in targets.values()):
                    raise ValueError(f"{label} must share no memory with the persistent resource")

        def copy() -> None:
            for name, source in sources.items():
                targets[name][...] = source
            self.initialized = True

        return copy

    def check_initial(self, bindings: Binding) -> None:
        """Require a BUFFER_ARRAY with bindings exactly where an input is OWNED_BY_DML; or NONE if none is."""
        names = list(self.operator.inputs)
        if bindings is None and not self.owned:
            return
        _check_count(self, "inputs at initialization", bindings, names)
        for name, binding in zip(names, bindings, strict=True):
            if name in self.owned and binding is None:
                raise ValueError(self._must(name, "be bound at initialization, as OWNED_BY_DML", binding))
            if name not in self.owned and binding is not None:
                raise ValueError(
                    self._must(name, "be NONE at initialization, as it is not OWNED_BY_DML", binding)
                )

    def _label(self, name: str) -> str:
        return f"{self.operator.type}: `{name}`"

    def _must(self, name: str, rule: str, binding: Binding) -> str:
        return must(str(self.operator.type), name, rule, _kind(binding))


class OperatorInitializer:
    """IDMLOperatorInitializer: initialises operators, in their order; made by `Device`."""

    def __init__(self, operators: Sequence[DeviceOperator]) -> None:
        self.operators = tuple(operators)

    def __repr__(self) -> str:
        return f"<OperatorInitializer of {len(self.operators)}>"

    def get_binding_properties(self) -> BindingProperties:
        """Return what initialising needs: one descriptor for each tensor that is OWNED_BY_DML."""
        return BindingProperties(max(1, sum(len(operator.owned) for operator in self.operators)), 0, 0)

    def check_inputs(self, bindings: Sequence[Binding]) -> None:
        """Require one BUFFER_ARRAY for each operator."""
        _check_count(self, "inputs", bindings, self.operators)
        for operator, array in zip(self.operators, bindings, strict=True):
            operator.check_initial(array)

    def check_outputs(self, bindings: Sequence[Binding]) -> None:
        """Require the persistent resource of each operator, NONE where it needs none."""
        _check_count(self, "outputs", bindings, self.operators)
        for operator, binding in zip(self.operators, bindings, strict=True):
            operator.owned_views(binding, writable=True)
            if binding is not None and not operator.owned:
                raise ValueError(
                    f"{operator.operator.type}: the persistent resource must be NONE, as none is needed"
                )

    def bound(self, bindings: Bindings) -> Run:
        """Return the call that initialises the operators."""
        inputs = bindings.inputs or [None] * len(self.operators)
        outputs = bindings.outputs or [None] * len(self.operators)
        self.check_inputs(inputs)
        copies = [
            operator.initial_copy(array, persistent)
            for operator, array, persistent in zip(self.operators, inputs, outputs, strict=True)
        ]

        def run() -> None:
            for copy in copies:
                copy()

        return run


def _rounded_up(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _kind(binding: Binding) -> str:
    """Name the kind of a binding in a message."""
    return "NONE" if binding is None else f"a {type(binding).__name__}"


def _check_count(owner: object, what: str, bindings: object, slots: Sequence[object]) -> None:
    """Require as many bindings as there are slots."""
    name = str(owner.operator.type) if isinstance(owner, DeviceOperator) else "the initializer"
    rule = f"{name}: its {what} must have {len(slots)} bindings {list(slots)}"
    if not isinstance(bindings, Sequence) or isinstance(bindings, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"{rule}, got {_kind(bindings)}")
    if len(bindings) != len(slots):
        raise ValueError(f"{rule}, got {len(bindings)}")


def _range(name: str, binding: Binding, *, writable: bool) -> tuple[memoryview, int]:
    """Return the bytes of a binding and the offset at which they begin in their buffer."""
    if not isinstance(binding, BufferBinding):
        return flat_memory(name, binding, writable=writable), 0
    memory = flat_memory(name, binding.Buffer, writable=writable)
    offset = read.uint(binding.Offset, read.UINT64_MAX)
    given = memory.nbytes - (offset or 0) if binding.SizeInBytes is None else binding.SizeInBytes
    size = read.uint(given, read.UINT64_MAX)
    if offset is None or size is None or offset + size > memory.nbytes:
        got = f"Offset {read.shown(binding.Offset)} and SizeInBytes {read.shown(binding.SizeInBytes)}"
        raise ValueError(f"{name} must lie within its buffer of {memory.nbytes} bytes, got {got}")
    return memory[offset : offset + size], offset


def _buffer(name: str, layout: TensorLayout, binding: Binding, *, writable: bool = False) -> Any:
    """Return what `CompiledOperator.bind` takes; a BufferBinding must have the size and offset it should."""
    if not isinstance(binding, BufferBinding):
        return binding
    memory, offset = _range(name, binding, writable=writable)
    fault = layout.binding_fault("the tensor", offset, memory.nbytes)
    if fault is not None:
        raise ValueError(f"{name} must {fault[0]}, got {fault[1]}")
    return memory
