"""What removes a device, what does so where tensors are OWNED_BY_DML, and what is left of the device."""

import re

import numpy as np
import pytest
from directml_devices import DATA, INDICES, F, bound, doubled, picked, ready

from remapnd import directml as dml
from remapnd.directml import BufferBinding, Device, DeviceRemovedError


def binding_inputs(*bindings):
    return lambda device, operator, table: table.bind_inputs(list(bindings))


def recording(inputs, outputs):
    def record(device, operator, table):
        table.bind_inputs(inputs)
        table.bind_outputs(outputs)
        device.create_command_recorder().record_dispatch(operator, table)

    return record


def record_unbound(device, operator, table):
    device.create_command_recorder().record_dispatch(operator, table)


def record_without_output(device, operator, table):
    table.bind_inputs([DATA, INDICES])
    device.create_command_recorder().record_dispatch(operator, table)


def record_for_another(device, operator, table):
    other = device.compile_operator(doubled())
    device.create_command_recorder().record_dispatch(other, table)


def execute_uninitialized(device, operator, table):
    fresh = device.compile_operator(picked())
    recorder = device.create_command_recorder()
    recorder.record_dispatch(fresh, bound(device, fresh, [DATA, INDICES], [np.zeros(3, F)]))
    recorder.execute()


SHARED = np.zeros(64, np.uint8)
OUT = np.zeros(3, F)


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (
            binding_inputs(DATA),
            r"its inputs must have 2 bindings \['InputTensor', 'IndicesTensor'\], got 1",
        ),
        (binding_inputs(DATA, INDICES, None), r"its inputs must have 2 bindings .*, got 3"),
        (binding_inputs(DATA, None), r"`IndicesTensor` must be bound at execution, got NONE"),
        (
            lambda device, operator, table: table.bind_inputs(DATA),
            r"its inputs must have 2 bindings .*, got a ndarray",
        ),
        (
            lambda device, operator, table: table.bind_outputs([]),
            r"its outputs must have 1 bindings \['OutputTensor'\], got 0",
        ),
        (
            lambda device, operator, table: table.bind_outputs([None]),
            r"`OutputTensor` must be bound at execution, got NONE",
        ),
        (record_unbound, r"its inputs must be bound before it is recorded"),
        (record_without_output, r"its outputs must be bound before it is recorded"),
        (
            record_for_another,
            r"the binding table must be for <DeviceOperator RESAMPLE>, got one for <DeviceOperator GATHER",
        ),
        (execute_uninitialized, r"GATHER_ELEMENTS: an operator must be initialized before it is executed"),
        (
            recording([BufferBinding(SHARED, 4), INDICES], [OUT]),
            r"`InputTensor` must begin at a multiple of 16 bytes, got byte 4",
        ),
        (
            recording([BufferBinding(SHARED, 0, 15), INDICES], [OUT]),
            r"`InputTensor` must give the tensor at least 16 bytes, got 15 bytes",
        ),
        (
            recording([BufferBinding(SHARED, 48, 17), INDICES], [OUT]),
            r"must lie within its buffer of 64 bytes, got Offset 48 and SizeInBytes 17",
        ),
        (
            recording([BufferBinding(SHARED, 80), INDICES], [OUT]),
            r"must lie within its buffer of 64 bytes, got Offset 80 and SizeInBytes None",
        ),
        (
            recording([BufferBinding(SHARED, -16, 16), INDICES], [OUT]),
            r"must lie within its buffer of 64 bytes, got Offset -16 and SizeInBytes 16",
        ),
        (
            recording([BufferBinding(SHARED, 2**64, 16), INDICES], [OUT]),
            r"must lie within its buffer of 64 bytes, got Offset 18446744073709551616",
        ),
        (
            recording([BufferBinding(None), INDICES], [OUT]),
            r"must be an array or a bytes-like object, got Non",
        ),
        (
            recording([BufferBinding(np.zeros((8, 8), np.uint8).T), INDICES], [OUT]),
            r"must be C-contiguous to serve as a buffer",
        ),
        (recording([DATA, INDICES], [BufferBinding(bytes(16))]), r"must be writable, got a read-only bytes"),
        (recording([DATA, bytes(11)], [OUT]), r"`IndicesTensor` must be at least 12 bytes long, got 11"),
        (recording([DATA, DATA[:3]], [OUT]), r"`IndicesTensor` must be an array of uint32"),
        (
            recording([BufferBinding(SHARED, 0, 16), INDICES], [BufferBinding(SHARED, 0, 16)]),
            r"`OutputTensor` must share no memory with `InputTensor`, got overlapping buffers",
        ),
        (
            lambda device, operator, table: device.create_binding_table(
                device.create_operator_initializer([operator, operator])
            ).bind_inputs([None]),
            r"the initializer: its inputs must have 2 bindings .*, got 1",
        ),
        (
            lambda device, operator, table: device.create_binding_table(
                device.create_operator_initializer([operator])
            ).bind_inputs([[DATA, None]]),
            r"`InputTensor` must be NONE at initialization, as it is not OWNED_BY_DML, got a ndarray",
        ),
        (
            lambda device, operator, table: device.create_binding_table(
                device.create_operator_initializer([operator])
            ).bind_outputs([bytearray(256)]),
            r"the persistent resource must be NONE, as none is needed",
        ),
    ],
)
def test_wrong_bindings_remove_the_device(act, reason):
    device = Device()
    operator = ready(device, picked())
    table = device.create_binding_table(operator)
    with pytest.raises(DeviceRemovedError, match=rf"^the device was removed: .*{reason}"):
        act(device, operator, table)
    assert re.search(reason, device.removed_reason)
    for later in (
        device.create_command_recorder,
        lambda: device.create_operator(picked()),
        lambda: device.compile_operator(picked()),
        lambda: device.create_binding_table(operator),
        lambda: device.create_operator_initializer([operator]),
        lambda: device.check_feature_support("FEATURE_LEVELS", ["1_0"]),
        lambda: device.dispatch(operator, [DATA, INDICES]),
        lambda: device.initialize(operator),
        lambda: table.bind_inputs([DATA, INDICES]),
    ):
        with pytest.raises(DeviceRemovedError, match=reason):
            later()


OWNED = dml.BufferTensorDesc("FLOAT32", [4], Flags="OWNED_BY_DML")


def with_owned(act):
    """Let `act` use an operator that owns its input, its initializer, and tables for both."""

    def run(device):
        operator = device.compile_operator(picked(owned=["InputTensor"]))
        initializer = device.create_operator_initializer([operator])
        tables = device.create_binding_table(operator), device.create_binding_table(initializer)
        act(device, operator, initializer, *tables)

    return run


def overlapping_initialization(device, operator, initializer, table, initial):
    memory = np.zeros(256, np.uint8)
    initial.bind_inputs([[BufferBinding(memory, 0, 16), None]])
    initial.bind_outputs([memory])
    device.create_command_recorder().record_dispatch(initializer, initial)


def output_over_persistent(device, operator, initializer, table, initial):
    memory = np.zeros(256, np.uint8)
    table.bind_inputs([None, INDICES])
    table.bind_outputs([BufferBinding(memory)])
    table.bind_persistent_resource(memory)
    device.create_command_recorder().record_dispatch(operator, table)


def no_persistent(device, operator, initializer, table, initial):
    table.bind_inputs([None, INDICES])
    table.bind_outputs([np.zeros(3, F)])
    device.create_command_recorder().record_dispatch(operator, table)


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (
            lambda d, o, i, table, initial: table.bind_inputs([DATA, INDICES]),
            r"`InputTensor` must be NONE at execution, as it is OWNED_BY_DML, got a ndarray",
        ),
        (
            lambda d, o, i, table, initial: initial.bind_inputs([None]),
            r"its inputs at initialization must have 2 bindings .*, got NONE",
        ),
        (
            lambda d, o, i, table, initial: initial.bind_inputs([[None, None]]),
            r"`InputTensor` must be bound at initialization, as OWNED_BY_DML, got NONE",
        ),
        (
            lambda d, o, i, table, initial: initial.bind_outputs([None]),
            r"the persistent resource must be bound, got NONE",
        ),
        (
            lambda d, o, i, table, initial: initial.bind_outputs([bytearray(255)]),
            r"the persistent resource must be 256 bytes long, got 255",
        ),
        (
            lambda d, o, i, table, initial: initial.bind_outputs([bytes(256)]),
            r"the persistent resource must be writable, got a read-only bytes",
        ),
        (
            lambda d, o, i, table, initial: table.bind_persistent_resource(
                BufferBinding(bytearray(512), 128)
            ),
            r"the persistent resource must begin at a multiple of 256 bytes, got byte 128",
        ),
        (overlapping_initialization, r"`InputTensor` must share no memory with the persistent resource"),
        (output_over_persistent, r"`OutputTensor` must share no memory with `InputTensor`"),
        (no_persistent, r"the persistent resource must be bound, got NONE"),
    ],
)
def test_wrong_bindings_of_owned_inputs(act, reason):
    device = Device()
    with pytest.raises(DeviceRemovedError, match=reason):
        with_owned(act)(device)


def test_an_initializer_without_bindings_of_an_owner():
    device = Device()
    operator = device.compile_operator(picked(owned=["InputTensor"]))
    initializer = device.create_operator_initializer([operator])
    with pytest.raises(DeviceRemovedError, match=r"its inputs at initialization must have 2 bindings"):
        device.create_command_recorder().record_dispatch(
            initializer, device.create_binding_table(initializer)
        )
