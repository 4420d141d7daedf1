import re

import pytest
from dxdispatch_models import ABSENT, GATHER_ND, changed, load

from remapnd.directml.dxdispatch import ModelError, check_all_bindings

DESC = "dispatchables/gather/desc"
BINDINGS = "commands/0/bindings"


def _refused(folder, message, *changes):
    with pytest.raises(ModelError, match=f"model.json: {re.escape(message)}$"):
        load(folder, changed(GATHER_ND, *changes))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, '`{}` must be the name of a resource or an object with "name", got 3'),
        ("in", '`{}` must name a resource of the model (input, indices, output), got "in"'),
        ({}, "`{}` must have the key name, got no keys"),
        ({"name": "in"}, '`{}.name` must name a resource of the model (input, indices, output), got "in"'),
        ([], "`{}` must have 1 resource, as the tensor takes 1, got 0 resources"),
        (["input", "output"], "`{}` must have 1 resource, as the tensor takes 1, got 2 resources"),
        (
            [["input"]],
            '`{}[0]` must be the name of a resource or an object with "name", got an array of 1 value',
        ),
        (
            {"name": "input", "elementOffset": -1},
            "`{}.elementOffset` must be an integer in [0, 18446744073709551615], got -1",
        ),
    ],
)
def test_malformed_bindings(tmp_path, value, message):
    _refused(tmp_path, message.format("commands[0].bindings.InputTensor"), (f"{BINDINGS}/InputTensor", value))


@pytest.mark.parametrize(
    ("value", "offset"),
    [
        ("input", 0),
        (["input"], 0),
        ({"name": "input"}, 0),
        ([{"name": "input", "elementOffset": 4, "elementCount": 7}], 16),
        ({"name": "input", "elementOffset": 2, "elementSizeInBytes": 8, "shape": [1]}, 16),
    ],
)
def test_forms_of_bindings(tmp_path, value, offset):
    model = load(tmp_path, changed(GATHER_ND, (f"{BINDINGS}/InputTensor", value)))
    binding = model.commands[0].bindings["InputTensor"]
    assert (binding.resource, binding.offset) == ("input", offset)


def test_offset_into_mixed_resource_needs_an_element_size(tmp_path):
    mixed = ("resources/input", {"initialValues": [{"type": "INT8", "value": 1}]})
    message = (
        "`commands[0].bindings.InputTensor.elementOffset` must have beside it "
        '"elementSizeInBytes", as the resource '
        "has no data type, got 1"
    )
    _refused(tmp_path, message, mixed, (f"{BINDINGS}/InputTensor", {"name": "input", "elementOffset": 1}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            [(f"{BINDINGS}/InputTensor", ABSENT), (f"{BINDINGS}/InputTensr", "input")],
            "`commands[0].bindings` must bind InputTensor, got bindings of IndicesTensor, "
            "OutputTensor, InputTensr",
        ),
        ([(BINDINGS, {})], "`commands[0].bindings` must bind InputTensor, got none"),
        (
            [(f"{BINDINGS}/InputTensor", "indices")],
            "`commands[0].bindings.InputTensor` must give InputTensor at least 16 bytes, "
            'got 8 bytes of "indices"',
        ),
        (
            [(f"{BINDINGS}/InputTensor", {"name": "input", "elementOffset": 4})],
            "`commands[0].bindings.InputTensor` must give InputTensor at least 16 bytes, "
            'got 0 bytes of "input"',
        ),
        (
            [(f"{BINDINGS}/InputTensor", {"name": "input", "elementOffset": 2**62})],
            "`commands[0].bindings.InputTensor` must give InputTensor at least 16 bytes, "
            'got 0 bytes of "input"',
        ),
        (
            [(f"{BINDINGS}/InputTensor", {"name": "input", "elementOffset": 3})],
            '`commands[0].bindings.InputTensor` must begin at a multiple of 16 bytes, got byte 12 of "input"',
        ),
        (
            [
                (f"{DESC}/InputTensor/GuaranteedBaseOffsetAlignment", 64),
                (f"{BINDINGS}/InputTensor", {"name": "input", "elementOffset": 4}),
            ],
            '`commands[0].bindings.InputTensor` must begin at a multiple of 64 bytes, got byte 16 of "input"',
        ),
        (
            [(f"{DESC}/InputTensor/TotalTensorSizeInBytes", 20)],
            "`commands[0].bindings.InputTensor` must give InputTensor at least 20 bytes, "
            'got 16 bytes of "input"',
        ),
        (
            [(f"{DESC}/InputTensor/Strides", [3, 1])],
            "`commands[0].bindings.InputTensor` must give InputTensor at least 20 bytes, "
            'got 16 bytes of "input"',
        ),
        (
            [(f"{BINDINGS}/OutputTensor", "input")],
            "`commands[0].bindings.OutputTensor` must bind OutputTensor to another "
            'resource than InputTensor, got "input" for both',
        ),
        (
            [("dispatchables/gather/bindings", {"InputTensor": "input"})],
            "`dispatchables.gather.bindings.InputTensor` must be left out: InputTensor is "
            "bound at the initialisation only if "
            'OWNED_BY_DML, got "input"',
        ),
        (
            [(f"{DESC}/InputTensor/Flags", "OWNED_BY_DML")],
            "`dispatchables.gather` must bind InputTensor, which is OWNED_BY_DML, got none",
        ),
        (
            [
                (f"{DESC}/InputTensor/Flags", "OWNED_BY_DML"),
                ("dispatchables/gather/bindings", {"InputTensor": "input"}),
            ],
            "`commands[0].bindings.InputTensor` must be left out: InputTensor is bound at "
            "the dispatch only if not OWNED_BY_DML, "
            'got "input"',
        ),
        (
            [
                (f"{DESC}/InputTensor/Flags", "OWNED_BY_DML"),
                (f"{BINDINGS}/InputTensor", ABSENT),
                ("dispatchables/gather/bindings", {"InputTensor": "indices"}),
            ],
            "`dispatchables.gather.bindings.InputTensor` must give InputTensor at least 16 "
            'bytes, got 8 bytes of "indices"',
        ),
    ],
)
def test_bindings_that_do_not_fit(tmp_path, changes, message):
    model = load(tmp_path, changed(GATHER_ND, *changes))
    with pytest.raises(ModelError, match=f"model.json: {re.escape(message)}$"):
        check_all_bindings(model)


def test_bindings_of_no_tensor_are_ignored(tmp_path):
    check_all_bindings(load(tmp_path, changed(GATHER_ND, (f"{BINDINGS}/Other", "input"))))


def test_odd_and_many_names_in_errors(tmp_path):
    many = {f"r{i}": GATHER_ND["resources"]["output"] for i in range(20)}
    names = r'input, indices, output, "a\nb", r0, r1, r2, r3, r4, r5, r6, r7, ...'
    message = f'`commands[1].resource` must name a resource of the model ({names}), got "o\\n"'
    resources = GATHER_ND["resources"] | {"a\nb": GATHER_ND["resources"]["output"]} | many
    _refused(tmp_path, message, ("resources", resources), ("commands/1/resource", "o\n"))
