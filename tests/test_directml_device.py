"""The life of an operator: creating, initialising, binding, recording, executing, and losing the device."""

import re
import threading

import numpy as np
import pytest
from directml_devices import DATA, GATHERED, INDICES, F, bound, doubled, picked, ready

from remapnd import directml as dml
from remapnd.directml import BufferBinding, Device, DeviceRemovedError


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
    with pytest.raises(ValueError, match=r"^Device: `feature_level` must be one of"):
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
