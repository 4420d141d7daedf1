"""For the tests of DirectML's devices: two operators, and how they are made ready and bound."""

import numpy as np

from remapnd import directml as dml

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
