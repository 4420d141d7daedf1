"""The life of an operator on a device: create, compile, initialise, bind, record, execute.

Uses `binding`, `check`, `run`, `support`; nothing here knows an operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from remapnd.directml.binding import (
    Binding,
    Bindings,
    DeviceOperator,
    Dispatchable,
    OperatorInitializer,
)
from remapnd.directml.check import check, require_desc
from remapnd.directml.enums import (
    CreateDeviceFlags,
    ExecutionFlags,
    Feature,
    FeatureLevel,
    FeatureLevelLike,
    TensorDataType,
    TensorFlags,
)
from remapnd.directml.kernels import Array, Run
from remapnd.directml.operators import OperatorDesc
from remapnd.directml.policy import Policy
from remapnd.directml.run import CompiledOperator, by_name
from remapnd.directml.support import SUPPORT, support
from remapnd.directml.violation import DirectMLError
from remapnd.errors import must

_DEFAULT_POLICY = Policy()


class DeviceRemovedError(RuntimeError):
    """The device is of no more use: something was bound or recorded that DirectML removes a device for."""


@dataclass(frozen=True)
class Operator:
    """IDMLOperator: a descriptor that is valid on a device; made by `Device.create_operator`."""

    desc: OperatorDesc


class Device:
    """IDMLDevice, on the CPU.

    Parameters
    ----------
    feature_level : FeatureLevel or str or int
        What the device supports: descriptors are checked against it.
    policy : Policy
    flags : CreateDeviceFlags, or its name or number
        DEBUG changes nothing: every error says what is wrong.

    Attributes
    ----------
    feature_level : FeatureLevel
    policy : Policy
    removed_reason : str or None
        Why the device was removed; None while it is of use.

    Notes
    -----
    An invalid descriptor raises DirectMLError and the device goes on. Wrong bindings (their number, kind,
    size, offset; memory that is read and written; an operator that is executed before it was initialised)
    remove the device, as DirectML documents: the call raises DeviceRemovedError with the reason, and so does
    every later one. Shared by threads like any Python object.

    Examples
    --------
    >>> import numpy as np
    >>> from remapnd import directml as dml
    >>> desc = dml.ResampleOperatorDesc(
    ...     dml.BufferTensorDesc("FLOAT32", [2]), dml.BufferTensorDesc("FLOAT32", [4]), "LINEAR", 1, [2]
    ... )

    In four lines:

    >>> device = dml.Device("6_4")
    >>> operator = device.compile_operator(desc)
    >>> device.dispatch(operator, [np.array([0, 1], np.float32)])
    array([0.  , 0.25, 0.75, 1.  ], dtype=float32)

    Step by step, recorded once and executed often:

    >>> recorder = device.create_command_recorder()
    >>> initializer = device.create_operator_initializer([operator])
    >>> recorder.record_dispatch(initializer, device.create_binding_table(initializer))
    >>> recorder.execute()
    >>> recorder.reset()
    >>> data, result = np.array([0, 1], np.float32), np.zeros(4, np.float32)
    >>> table = device.create_binding_table(operator)
    >>> table.bind_inputs([data])
    >>> table.bind_outputs([result])
    >>> recorder.record_dispatch(operator, table)
    >>> data[:] = 2, 6
    >>> recorder.execute()
    >>> result
    array([2., 3., 5., 6.], dtype=float32)
    """

    def __init__(
        self,
        feature_level: FeatureLevelLike = "6_4",
        *,
        policy: Policy = _DEFAULT_POLICY,
        flags: CreateDeviceFlags | str | int = CreateDeviceFlags.NONE,
    ) -> None:
        self.feature_level = FeatureLevel.parse(feature_level, name="Device: `feature_level`")
        self.policy = policy
        self.flags = CreateDeviceFlags.parse(flags)
        self.removed_reason: str | None = None
        self._persistent: dict[DeviceOperator, Array] = {}

    def __repr__(self) -> str:
        return f"<Device at feature level {self.feature_level}>"

    def check_feature_support(self, feature: Feature | str | int, query: Any) -> FeatureLevel | bool:
        """Answer what the device supports.

        Parameters
        ----------
        feature : Feature, or its name or number
        query : sequence of feature levels, or a TensorDataType
            For FEATURE_LEVELS the levels asked for, for TENSOR_DATA_TYPE_SUPPORT a data type.

        Returns
        -------
        FeatureLevel or bool
            The highest of the levels asked for that the device has; whether any operator takes the data type.

        Raises
        ------
        TypeError, ValueError
            `feature` or `query` is none, or the device has none of the levels.
        """
        self._require_use()
        if Feature.parse(feature) is Feature.TENSOR_DATA_TYPE_SUPPORT:
            data_type = TensorDataType.parse(query)
            rows = [support(operator, self.feature_level) for operator in SUPPORT]
            return any(data_type in row.data_types + row.index_types for row in rows if row is not None)
        levels = [FeatureLevel.parse(level) for level in ([query] if isinstance(query, str) else query)]
        found = [level for level in levels if level <= self.feature_level]
        if not found:
            asked = ", ".join(map(str, levels))
            raise ValueError(
                f"check_feature_support: `query` must have a level up to {self.feature_level}, got {asked}"
            )
        return max(found)

    def create_operator(self, desc: OperatorDesc) -> Operator:
        """Check a descriptor; raises DirectMLError with all violations."""
        self._require_use()
        require_desc("create_operator", desc)
        violations = check(desc, self.feature_level, self.policy)
        if violations:
            raise DirectMLError(violations)
        return Operator(desc)

    def compile_operator(
        self,
        operator: Operator | OperatorDesc,
        flags: ExecutionFlags | str | int | Sequence[str] = ExecutionFlags.NONE,
    ) -> DeviceOperator:
        """Prepare an operator for execution.

        Parameters
        ----------
        operator : Operator, or a descriptor, which is then checked as by `create_operator`
            Copied: later changes of sequences in the descriptor have no effect.
        flags : ExecutionFlags, or names or numbers
            DESCRIPTORS_VOLATILE: what is bound counts when the commands are executed, not when they are
            recorded. The others change nothing; arithmetic never has less precision than float32.

        Raises
        ------
        DirectMLError
            The descriptor has violations.
        """
        self._require_use()
        desc = operator.desc if isinstance(operator, Operator) else operator
        require_desc("compile_operator", desc)
        compiled = CompiledOperator(desc, feature_level=self.feature_level, policy=self.policy)
        owned = [
            name
            for name in compiled.inputs
            if TensorFlags.OWNED_BY_DML in TensorFlags.parse(getattr(desc, name).Flags)
        ]
        return DeviceOperator(compiled, owned, ExecutionFlags.parse(flags))

    def create_operator_initializer(self, operators: Sequence[DeviceOperator]) -> OperatorInitializer:
        """Make what initialises operators; each must be before it is executed, even if it owns no tensor."""
        self._require_use()
        for operator in operators:
            _require_kind("create_operator_initializer", "operators", operator, (DeviceOperator,))
        return OperatorInitializer(operators)

    def create_binding_table(self, dispatchable: Dispatchable) -> BindingTable:
        """Make an empty table of bindings for an operator or an initializer."""
        self._require_use()
        kinds = DeviceOperator, OperatorInitializer
        _require_kind("create_binding_table", "dispatchable", dispatchable, kinds)
        return BindingTable(self, dispatchable)

    def create_command_recorder(self) -> CommandRecorder:
        """Make an empty list of commands."""
        self._require_use()
        return CommandRecorder(self)

    def initialize(self, operator: DeviceOperator, inputs: Mapping[str, Any] | Sequence[Any] = ()) -> None:
        """Initialise an operator for `dispatch`: copy its OWNED_BY_DML inputs to memory of the device.

        Parameters
        ----------
        operator : DeviceOperator
        inputs : mapping of field name to buffer, or sequence of buffers in the order of the struct
            The inputs that are OWNED_BY_DML. They are copied: later changes are not seen.

        Raises
        ------
        DeviceRemovedError
            A buffer is missing, unknown, or not one that `run` takes.
        """
        self._require_use()
        _require_compiled("initialize", operator)
        with self._faults_remove():
            buffers = by_name(operator.operator.type, operator.owned, inputs)
            persistent = np.zeros(operator.get_binding_properties().PersistentResourceSize, np.uint8)
            operator.initial_copy([buffers.get(name) for name in operator.operator.inputs], persistent)()
        self._persistent[operator] = persistent

    def dispatch(
        self, operator: DeviceOperator, inputs: Mapping[str, Any] | Sequence[Any], output: Any = None
    ) -> Array:
        """Execute an operator at once, without table and recorder.

        Parameters
        ----------
        operator : DeviceOperator
            One that owns inputs must have been given to `initialize`.
        inputs : mapping of field name to buffer, or sequence of buffers in the order of the struct
            The inputs that are not OWNED_BY_DML, as `run` takes them.
        output : ndarray or writable bytes-like, or None for a new one

        Returns
        -------
        ndarray
            The output tensor, as `run` returns it.

        Raises
        ------
        DeviceRemovedError
            The buffers are more or fewer than the operator takes, or not such as `run` takes; or the operator
            owns inputs and has not been initialised.
        IndexError
            As `run`. The device is not removed.
        """
        self._require_use()
        _require_compiled("dispatch", operator)
        try:
            bound = operator.operator.bind(self._all_inputs(operator, inputs), output)
        except (TypeError, ValueError) as error:
            raise self._remove(str(error)) from None
        bound.run()
        return bound.output

    def _all_inputs(
        self, operator: DeviceOperator, inputs: Mapping[str, Any] | Sequence[Any]
    ) -> Mapping[str, Any] | Sequence[Any]:
        """Return `inputs` with those that the operator owns."""
        if not operator.owned:
            return inputs
        kind = operator.operator.type
        if operator not in self._persistent:
            owned = list(operator.owned)
            raise ValueError(f"{kind}: the operator must be given to `initialize`, as it owns {owned}")
        rest = [name for name in operator.operator.inputs if name not in operator.owned]
        return {**by_name(kind, rest, inputs), **operator.owned_views(self._persistent[operator])}

    def _remove(self, reason: str) -> DeviceRemovedError:
        """Make the device of no more use, and return the error to raise."""
        self.removed_reason = reason
        return DeviceRemovedError(f"the device was removed: {reason}")

    @contextmanager
    def _faults_remove(self) -> Iterator[None]:
        """Remove the device for any TypeError or ValueError inside."""
        self._require_use()
        try:
            yield
        except (TypeError, ValueError) as error:
            raise self._remove(str(error)) from None

    def _require_use(self) -> None:
        """Refuse every call once the device has been removed."""
        if self.removed_reason is not None:
            raise self._remove(self.removed_reason)


class BindingTable:
    """IDMLBindingTable: what is bound to one dispatchable; made by `Device.create_binding_table`.

    A binding is a BufferBinding, an array or bytes-like (bound as `run` takes it), or None. Each method
    removes the device for bindings that the dispatchable does not take.
    """

    def __init__(self, device: Device, dispatchable: Dispatchable) -> None:
        self._device = device
        self.reset(dispatchable)

    def reset(self, dispatchable: Dispatchable | None = None) -> None:
        """Forget all bindings; with a dispatchable, be a table for that one from now on."""
        if dispatchable is not None:
            self.dispatchable = dispatchable
        self.bindings = Bindings()

    def bind_inputs(self, bindings: Sequence[Binding]) -> None:
        """Bind the inputs, in the order of the struct; for an initializer a sequence for each operator."""
        with self._device._faults_remove():
            self.dispatchable.check_inputs(bindings)
        self.bindings.inputs = tuple(bindings)

    def bind_outputs(self, bindings: Sequence[Binding]) -> None:
        """Bind the output; for an initializer the persistent resource of each operator."""
        with self._device._faults_remove():
            self.dispatchable.check_outputs(bindings)
        self.bindings.outputs = tuple(bindings)

    def bind_temporary_resource(self, binding: Binding) -> None:
        """Bind temporary memory, of which nothing here needs any."""
        self.bindings.temporary = binding

    def bind_persistent_resource(self, binding: Binding) -> None:
        """Bind the persistent resource that the initializer wrote."""
        with self._device._faults_remove():
            if isinstance(self.dispatchable, DeviceOperator):
                self.dispatchable.owned_views(binding)
        self.bindings.persistent = binding


class CommandRecorder:
    """IDMLCommandRecorder and the list it records to; made by `Device.create_command_recorder`."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._commands: list[tuple[Dispatchable, Run]] = []

    def record_dispatch(self, dispatchable: Dispatchable, table: BindingTable) -> None:
        """Record the execution of an operator or an initializer with what is bound now.

        The table may be used for something else afterwards, unless the operator was compiled with
        DESCRIPTORS_VOLATILE.

        Raises
        ------
        DeviceRemovedError
            The table is for another dispatchable, something is not bound, too small, or read and written.
        """
        with self._device._faults_remove():
            if table.dispatchable is not dispatchable:
                got = table.dispatchable
                raise ValueError(f"the binding table must be for {dispatchable}, got one for {got}")
            volatile = (
                isinstance(dispatchable, DeviceOperator)
                and ExecutionFlags.DESCRIPTORS_VOLATILE in dispatchable.flags
            )
            run = self._late(dispatchable, table) if volatile else dispatchable.bound(table.bindings)
        self._commands.append((dispatchable, run))

    def execute(self) -> None:
        """Execute what was recorded, in its order. The list stays, and may be executed again.

        Raises
        ------
        DeviceRemovedError
            An operator has not been initialised.
        IndexError
            An index is out of range, and the policy makes that an error.
        """
        self._device._require_use()
        for dispatchable, run in self._commands:
            if isinstance(dispatchable, DeviceOperator) and not dispatchable.initialized:
                reason = (
                    f"{dispatchable.operator.type}: an operator must be initialized before it is executed"
                )
                raise self._device._remove(reason)
            run()

    def reset(self) -> None:
        """Forget what was recorded."""
        self._commands = []

    def _late(self, dispatchable: Dispatchable, table: BindingTable) -> Callable[[], None]:
        """Return the call that looks at the table when it is executed."""

        def run() -> None:
            with self._device._faults_remove():
                bound = dispatchable.bound(table.bindings)
            bound()

        return run


def _require_kind(op: str, parameter: str, value: object, kinds: tuple[type, ...]) -> None:
    """Refuse an object that is not of one of the kinds."""
    if not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(must(op, parameter, f"be of {names}", f"a {type(value).__name__}"))


def _require_compiled(op: str, operator: object) -> None:
    """Refuse what `compile_operator` has not made."""
    if not isinstance(operator, DeviceOperator):
        rule = "be a DeviceOperator, which `compile_operator` makes"
        raise TypeError(must(op, "operator", rule, f"a {type(operator).__name__}"))
