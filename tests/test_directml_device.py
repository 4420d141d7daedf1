"""The life of an operator: creating, initialising, binding, recording, executing, and losing the device."""

import re
import threading

import numpy as np
import pytest

from remapnd import directml as dml
from remapnd.directml import BufferBinding, Device, DeviceRemovedError

F = np.float32


def doubled(flags="NONE", count=2, **fields):
    data = dml.BufferTensorDesc("FLOAT32", [count], Flags=flags, **fields)
    output = dml.BufferTensorDesc("FLOAT32", [2 * count])
    return dml.ResampleOperatorDesc(data, output, "NEAREST_NEIGHBOR", 1, [2])


def picked(owned=()):
    """Describe a gather of four by three, whose named tensors are OWNED_BY_DML."""
    tensors = {"InputTensor": ("FLOAT32", 4), "IndicesTensor": ("UINT32", 3), "OutputTensor": ("FLOAT32", 3)}
    descs = {
        name: dml.BufferTensorDesc(kind, [count], Flags="OWNED_BY_DML" if name in owned else "NONE")
        for name, (kind, count) in tensors.items()
    }
    return dml.GatherElementsOperatorDesc(**descs, Axis=0)


DATA, INDICES = np.array([10, 11, 12, 13], F), np.array([3, 0, 2], np.uint32)
GATHERED = [13, 10, 12]


def ready(device, desc, flags="NONE"):
    """Compile and initialise an operator that owns nothing."""
    operator = device.compile_operator(desc, flags)
    initializer = device.create_operator_initializer([operator])
    recorder = device.create_command_recorder()
    recorder.record_dispatch(initializer, device.create_binding_table(initializer))
    recorder.execute()
    return operator


def bound(device, operator, inputs, outputs):
    table = device.create_binding_table(operator)
    table.bind_inputs(inputs)
    table.bind_outputs(outputs)
    return table


def test_four_lines():
    device = Device("6_4")
    operator = device.compile_operator(device.create_operator(picked()))
    result = device.dispatch(operator, [DATA, INDICES])
    assert result.tolist() == GATHERED


def test_an_owned_input_is_a_snapshot():
    device = Device()
    operator = device.compile_operator(picked(owned=["IndicesTensor"]))
    indices = INDICES.copy()
    device.initialize(operator, [indices])
    indices[:] = 0
    assert device.dispatch(operator, [DATA]).tolist() == GATHERED
    assert device.dispatch(operator, {"InputTensor": DATA + 1}).tolist() == [14, 11, 13]
    device.initialize(operator, {"IndicesTensor": indices})
    assert device.dispatch(operator, [DATA]).tolist() == [10, 10, 10]


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (
            lambda device, operator: device.initialize(operator, {"InputTensor": DATA}),
            r"`inputs` must have the keys \['IndicesTensor'\], got \['InputTensor'\]",
        ),
        (
            lambda device, operator: device.initialize(operator, [INDICES[:1].astype(np.int8)]),
            r"GATHER_ELEMENTS: `IndicesTensor` must be ",
        ),
        (
            lambda device, operator: device.dispatch(operator, [DATA]),
            r"GATHER_ELEMENTS: the operator must be given to `initialize`, as it owns \['IndicesTensor'\]",
        ),
        (
            lambda device, operator: [
                device.initialize(operator, [INDICES]),
                device.dispatch(operator, [DATA, INDICES]),
            ],
            r"`inputs` must have 1 elements \['InputTensor'\], got 2",
        ),
        (
            lambda device, operator: [
                device.initialize(operator, [INDICES]),
                device.dispatch(operator, [INDICES]),
            ],
            r"`InputTensor` must be an array of float32",
        ),
        (
            lambda device, _: device.dispatch(device.compile_operator(picked()), [DATA]),
            r"`inputs` must have 2 elements \['InputTensor', 'IndicesTensor'\], got 1",
        ),
        (
            lambda device, _: device.dispatch(
                device.compile_operator(picked()), [DATA, INDICES], np.zeros(2, F)
            ),
            r"`OutputTensor` must be at least 12 bytes long, got 8",
        ),
    ],
)
def test_the_short_way_removes_the_device_for_wrong_buffers(act, reason):
    device = Device()
    operator = device.compile_operator(picked(owned=["IndicesTensor"]))
    with pytest.raises(DeviceRemovedError, match=rf"^the device was removed: .*{reason}"):
        act(device, operator)
    assert re.search(reason, device.removed_reason)


def test_step_by_step_with_owned_inputs():
    device = Device("5_1")
    first = device.compile_operator(picked(owned=["InputTensor", "IndicesTensor"]))
    second = device.compile_operator(doubled(flags=["OWNED_BY_DML"], TotalTensorSizeInBytes=300))
    third = device.compile_operator(picked())
    properties = [operator.get_binding_properties() for operator in (first, second, third)]
    assert [p.PersistentResourceSize for p in properties] == [512, 512, 0]
    assert [p.TemporaryResourceSize for p in properties] == [0, 0, 0]
    assert all(p.RequiredDescriptorCount >= 1 for p in properties)

    initializer = device.create_operator_initializer([first, second, third])
    assert initializer.get_binding_properties() == (3, 0, 0)
    persistent = np.zeros(256 + 512 + 512, np.uint8)
    ranges = [BufferBinding(persistent, 256, 512), BufferBinding(persistent, 768)]
    data, indices, pair = DATA.copy(), INDICES.copy(), np.zeros(75, F)
    pair[:2] = 5, 6
    table = device.create_binding_table(initializer)
    table.bind_inputs([[data, BufferBinding(indices)], [BufferBinding(pair)], None])
    table.bind_outputs([*ranges, None])
    recorder = device.create_command_recorder()
    recorder.record_dispatch(initializer, table)
    assert not persistent.any()
    recorder.execute()
    assert first.initialized
    assert third.initialized
    data[:], indices[:], pair[:] = 0, 0, 0

    results = np.zeros(3, F), np.zeros(4, F)
    recorder.reset()
    for operator, count, binding, result in zip((first, second), (2, 1), ranges, results, strict=True):
        table.reset(operator)
        table.bind_inputs([None] * count)
        table.bind_outputs([result])
        table.bind_temporary_resource(None)
        table.bind_persistent_resource(binding)
        recorder.record_dispatch(operator, table)
    recorder.execute()
    assert [r.tolist() for r in results] == [GATHERED, [5, 5, 6, 6]]


def test_recorded_once_and_executed_often():
    device = Device()
    operator = ready(device, picked())
    data, result = DATA.copy(), np.zeros(3, F)
    table = bound(device, operator, [data, INDICES], [result])
    recorder = device.create_command_recorder()
    recorder.record_dispatch(operator, table)
    table.reset()
    for shift in range(3):
        data[:] = DATA + shift
        recorder.execute()
        assert result.tolist() == [v + shift for v in GATHERED]


def test_volatile_descriptors_are_looked_at_when_executed():
    device = Device()
    for flags, expected in (("NONE", [GATHERED, [0, 0, 0]]), ("DESCRIPTORS_VOLATILE", [[0, 0, 0], GATHERED])):
        operator = ready(device, picked(), flags)
        results = np.zeros(3, F), np.zeros(3, F)
        table = bound(device, operator, [DATA, INDICES], [results[0]])
        recorder = device.create_command_recorder()
        recorder.record_dispatch(operator, table)
        table.bind_outputs([results[1]])
        recorder.execute()
        assert [r.tolist() for r in results] == expected


def test_bindings_of_ranges():
    device = Device()
    operator = ready(device, picked())
    memory = np.zeros(24, np.uint32)
    memory[4:8] = DATA.view(np.uint32)
    memory[8:11] = INDICES
    table = bound(
        device,
        operator,
        [BufferBinding(memory, 16, 16), BufferBinding(memory.data, 32)],
        [BufferBinding(memory, Offset=64, SizeInBytes=12)],
    )
    recorder = device.create_command_recorder()
    recorder.record_dispatch(operator, table)
    recorder.execute()
    assert memory[16:19].view(F).tolist() == GATHERED


# What removes the device.


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


def test_invalid_descriptors_and_indices_do_not_remove_the_device():
    device = Device("3_0", policy=dml.Policy(gather_oob="error"))
    with pytest.raises(
        dml.DirectMLError, match=r"RESAMPLE: `InputTensor.DimensionCount` must be 4 at feature"
    ):
        device.create_operator(doubled())
    with pytest.raises(
        dml.DirectMLError, match=r"RESAMPLE: `InputTensor.DimensionCount` must be 4 at feature"
    ):
        device.compile_operator(doubled())
    operator = ready(device, picked())
    recorder = device.create_command_recorder()
    recorder.record_dispatch(operator, bound(device, operator, [DATA, INDICES + 1], [np.zeros(3, F)]))
    outside = r"GATHER_ELEMENTS: `IndicesTensor` must lie in \[-4, 4\) on axis 0 \(gather_oob.*, got 4 at \("
    with pytest.raises(IndexError, match=outside):
        recorder.execute()
    with pytest.raises(IndexError, match=outside):
        device.dispatch(operator, [DATA, INDICES + 1])
    assert device.removed_reason is None


def test_feature_support():
    device = Device("4_0")
    assert device.check_feature_support("FEATURE_LEVELS", ["5_0", "3_0", "1_0"]) is dml.FeatureLevel.LEVEL_3_0
    assert device.check_feature_support(dml.Feature.FEATURE_LEVELS, "4_0") is dml.FeatureLevel.LEVEL_4_0
    with pytest.raises(ValueError, match=r"`query` must have a level up to 4_0, got 4_1, 6_4"):
        device.check_feature_support(1, ["4_1", "6_4"])
    for level, data_type, expected in (
        ("4_0", "FLOAT64", False),
        ("4_1", "FLOAT64", True),
        ("1_0", "FLOAT16", True),
        ("1_0", "INT8", False),
        ("6_4", "UINT4", False),
        ("6_4", "UNKNOWN", False),
    ):
        assert Device(level).check_feature_support("TENSOR_DATA_TYPE_SUPPORT", data_type) is expected
    with pytest.raises(
        ValueError, match=r"Feature: `value` must be one of TENSOR_DATA_TYPE_SUPPORT, FEATURE"
    ):
        device.check_feature_support("LEVELS", ["1_0"])
    with pytest.raises(ValueError, match=r"FeatureLevel: `value` must be one of"):
        Device("7_0")


def test_compiling_copies_the_descriptor():
    scales = [2.0]
    desc = dml.ResampleOperatorDesc(*(dml.BufferTensorDesc("FLOAT32", [n]) for n in (2, 4)), 0, 1, scales)
    device = Device()
    operator = device.compile_operator(desc)
    scales[0] = -1
    assert device.dispatch(operator, [np.array([1, 2], F)]).tolist() == [1, 1, 2, 2]
    assert repr(operator) == "<DeviceOperator RESAMPLE>"
    assert repr(device) == "<Device at feature level 6_4>"


def test_many_threads_share_an_operator():
    device = Device()
    operator = device.compile_operator(picked(owned=["IndicesTensor"]))
    device.initialize(operator, [INDICES])
    wrong = []

    def work(number):
        for _ in range(50):
            if device.dispatch(operator, [DATA + number]).tolist() != [v + number for v in GATHERED]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_is_no_operator():
    device = Device()
    with pytest.raises(
        TypeError, match=r"create_operator_initializer: `operators` must be of DeviceOperator, got a"
    ):
        device.create_operator_initializer([picked()])
    with pytest.raises(
        TypeError, match=r"`dispatchable` must be of DeviceOperator or OperatorInitializer, got a G"
    ):
        device.create_binding_table(picked())
    for function in (device.compile_operator, device.create_operator):
        text = rf"^{function.__name__}: `desc` must be an operator descriptor, got str 'GATHER'$"
        with pytest.raises(TypeError, match=text):
            function("GATHER")
    for function in (device.dispatch, device.initialize):
        rule = "be a DeviceOperator, which `compile_operator` makes"
        text = rf"^{function.__name__}: `operator` must {rule}, got a GatherElementsOperatorDesc$"
        with pytest.raises(TypeError, match=text):
            function(picked(), [DATA, INDICES])
    assert device.removed_reason is None
