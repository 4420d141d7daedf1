import json
import math
import re

import numpy as np
import pytest
from dxdispatch_models import GATHER_ND, changed, load, output_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from remapnd.directml import Policy
from remapnd.directml.dxdispatch import ModelError, Options, execute
from remapnd.directml.dxdispatch.formatting import format_timings, format_values, format_values_verbose

DESC = "dispatchables/gather/desc"
BINDINGS = "commands/0/bindings"
WRITE = {"type": "writeFile", "resource": "output"}


def _print(resource, **more):
    return {"type": "print", "resource": resource} | more


# Printing


def test_example_of_the_reference_page(tmp_path):
    assert output_of(tmp_path, GATHER_ND) == ["Resource 'output': 2, 3, 0, 1"]


def test_verbose(tmp_path):
    lines = output_of(tmp_path, changed(GATHER_ND, ("commands/1/verbose", True)))
    assert lines == [
        "Resource 'output':",
        "[0] 2 (0x40000000)",
        "[1] 3 (0x40400000)",
        "[2] 0 (0x       0)",
        "[3] 1 (0x3F800000)",
        "",
    ]


@pytest.mark.parametrize(
    ("dtype", "values", "text"),
    [
        (
            np.float32,
            [1.5, 1e6, 100000, 1e-5, 0.1, -0.0, 123456.7, 1234567],
            "1.5, 1e+06, 100000, 1e-05, 0.1, -0, 123457, 1.23457e+06",
        ),
        (np.float64, [1 / 3, 1e300, 2.0, math.inf, -math.inf], "0.333333, 1e+300, 2, inf, -inf"),
        (np.float32, [math.nan, -math.nan], "nan, -nan"),
        (np.float16, [65504, 0.1], "65504, 0.0999756"),
        (np.int8, [-128, 127, 65], "-128, 127, 65"),
        (np.uint8, [255, 0], "255, 0"),
        (np.uint64, [2**64 - 1], "18446744073709551615"),
        (np.int64, [-(2**63)], "-9223372036854775808"),
    ],
)
def test_values_as_a_stream_of_cpp_writes_them(dtype, values, text):
    assert format_values(np.array(values, dtype)) == text


def test_verbose_widths():
    lines = list(format_values_verbose(np.array([0, -1, *range(9)], np.int16)))
    assert lines[0] == "[ 0] 0 (0x   0)"
    assert lines[1] == "[ 1] -1 (0xFFFF)"
    assert lines[10] == "[10] 8 (0x   8)"
    assert list(format_values_verbose(np.array([-math.nan]))) == ["[0] -nan (0xFFF8000000000000)"]
    assert list(format_values_verbose(np.array([True, False]).view(np.uint8))) == [
        "[0] 1 (0x 1)",
        "[1] 0 (0x 0)",
    ]


def test_padding_is_not_printed(tmp_path):
    model = {
        "resources": {
            "r": {"initialValuesDataType": "FLOAT16", "initialValues": [1, 2, 3], "sizeInBytes": 64}
        },
        "dispatchables": {},
        "commands": [_print("r")],
    }
    assert output_of(tmp_path, model) == ["Resource 'r': 1, 2, 3"]


# Running


def test_buffers_keep_their_state_between_commands(tmp_path):
    dispatch = GATHER_ND["commands"][0]
    back = {"InputTensor": "output", "IndicesTensor": "indices", "OutputTensor": "input"}
    commands = [
        _print("output"),
        dispatch,
        _print("output"),
        dispatch | {"bindings": back},
        _print("input"),
        _print("indices"),
    ]
    assert output_of(tmp_path, changed(GATHER_ND, ("commands", commands))) == [
        "Resource 'output': 9, 9, 9, 9",
        "Resource 'output': 2, 3, 0, 1",
        "Resource 'input': 0, 1, 2, 3",
        "Resource 'indices': 1, 0",
    ]


def test_strides_and_offsets(tmp_path):
    # The input is a column-major 2 x 2 tensor from element 4 on; output rows are 3 elements apart.
    model = changed(
        GATHER_ND,
        ("resources/input/initialValues", [9, 9, 9, 9, 0, 2, 1, 3]),
        (f"{DESC}/InputTensor/Strides", [1, 2]),
        (f"{BINDINGS}/InputTensor", {"name": "input", "elementOffset": 4}),
        ("resources/output/initialValues/valueCount", 6),
        (f"{DESC}/OutputTensor/Strides", [3, 1]),
    )
    assert output_of(tmp_path, model) == ["Resource 'output': 2, 3, 9, 0, 1, 9"]


def test_tensor_owned_by_dml_is_a_copy_of_the_beginning(tmp_path):
    fill = {"InputTensor": "zeros", "IndicesTensor": "indices", "OutputTensor": "input"}
    other = changed(GATHER_ND, (f"{DESC}/InputTensor/Flags", "OWNED_BY_DML"))["dispatchables"]["gather"]
    model = changed(
        GATHER_ND,
        ("resources/zeros", {"initialValuesDataType": "FLOAT32", "initialValues": [0, 0, 0, 0]}),
        ("dispatchables/owned", other | {"bindings": {"InputTensor": "input"}}),
        (
            "commands",
            [
                {"type": "dispatch", "dispatchable": "gather", "bindings": fill},
                {
                    "type": "dispatch",
                    "dispatchable": "owned",
                    "bindings": {"IndicesTensor": "indices", "OutputTensor": "output"},
                },
                _print("input"),
                _print("output"),
            ],
        ),
    )
    assert output_of(tmp_path, model) == ["Resource 'input': 0, 0, 0, 0", "Resource 'output': 2, 3, 0, 1"]


def test_policy_and_index_out_of_range(tmp_path):
    model = changed(GATHER_ND, ("resources/indices/initialValues", [1, 7]))
    assert output_of(tmp_path, model) == ["Resource 'output': 2, 3, 2, 3"]
    options = Options(policy=Policy(gather_oob="error"))
    with pytest.raises(ModelError, match=r"model\.json: `commands\[0\]`: [^\n]*\b7\b[^\n]*$"):
        output_of(tmp_path, model, options)


def test_each_run_begins_with_the_initial_values(tmp_path):
    loaded = load(tmp_path, changed(GATHER_ND, ("commands", [_print("output"), GATHER_ND["commands"][0]])))
    for _ in range(2):
        lines: list[str] = []
        execute(loaded, lines.append)
        assert lines == ["Resource 'output': 9, 9, 9, 9"]


# Timing


def test_timings_at_verbosity_0():
    (line,) = format_timings("a", [5.0, 1.0, 2.0, 4.0, 3.0], 1, 0)
    assert line == "Dispatch 'a': 5 iterations, 3.0000 ms median (CPU)"


def test_timings_at_verbosity_2():
    assert list(format_timings("a", [5.0, 1.0, 2.25], 1, 2)) == [
        "Dispatch 'a': 3 iterations",
        "CPU Timings (Cold) : 1 samples, 5.0000 ms average, 5.0000 ms min, 5.0000 ms median, 5.0000 ms max",
        "CPU Timings (Hot)  : 2 samples, 1.6250 ms average, 1.0000 ms min, 2.2500 ms median, 2.2500 ms max",
        "The timings of each iteration: ",
        "iteration 0: 5.0000 ms (CPU)",
        "iteration 1: 1.0000 ms (CPU)",
        "iteration 2: 2.2500 ms (CPU)",
    ]


@pytest.mark.parametrize(
    ("samples", "warmup", "cold", "hot"),
    [(1, 2, 0, 1), (2, 2, 1, 1), (3, 2, 2, 1), (5, 2, 2, 3), (5, 0, 0, 5)],
)
def test_the_last_sample_is_hot(samples, warmup, cold, hot):
    text = "\n".join(format_timings("a", [1.0] * samples, warmup, 1))
    assert (f"(Cold) : {cold} samples" in text) == (cold > 0)
    assert f"(Hot)  : {hot} samples" in text


def test_lines_of_timing(tmp_path):
    lines = output_of(tmp_path, GATHER_ND, Options(iterations=3, repeats=2, timing_verbosity=2))
    number = r"\d+\.\d{4} ms"
    statistics = rf"samples, {number} average, {number} min, {number} median, {number} max"
    patterns = [
        rf"Initialize 'gather': {number}",
        "Dispatch 'gather': 3 iterations",
        rf"CPU Timings \(Cold\) : 1 {statistics}",
        rf"CPU Timings \(Hot\)  : 2 {statistics}",
        "The timings of each iteration: ",
        *(rf"iteration {i}: {number} \(CPU\)" for i in range(3)),
        "Resource 'output': 2, 3, 0, 1",
    ]
    assert len(lines) == len(patterns)
    for line, pattern in zip(lines, patterns, strict=True):
        assert re.fullmatch(pattern, line)


def test_time_to_run_ends_the_iterations(tmp_path):
    options = Options(iterations=1, milliseconds_to_run=30, interval=5, timing_verbosity=0)
    (line, _) = output_of(tmp_path, GATHER_ND, options)
    iterations = int(re.match(r"Dispatch 'gather': (\d+) iterations, ", line).group(1))
    assert 1 <= iterations <= 7
    (line, _) = output_of(
        tmp_path, GATHER_ND, Options(iterations=9, milliseconds_to_run=0, timing_verbosity=0)
    )
    assert line.startswith("Dispatch 'gather': 1 iterations, ")


def test_commands_are_printed_around_their_output(tmp_path):
    lines = output_of(tmp_path, GATHER_ND, Options(print_commands=True))
    assert lines == [
        "[StartCmd][0000]\t: " + json.dumps(GATHER_ND["commands"][0], separators=(",", ":")),
        "[EndCmd][0000]\t: hr=0x00000000 \n",
        '[StartCmd][0001]\t: {"type":"print","resource":"output"}',
        "Resource 'output': 2, 3, 0, 1",
        "[EndCmd][0001]\t: hr=0x00000000 \n",
    ]


def test_a_failing_command_is_printed(tmp_path):
    (tmp_path / "folder").mkdir()
    loaded = load(
        tmp_path, changed(GATHER_ND, ("commands", [WRITE | {"targetPath": str(tmp_path / "folder")}]))
    )
    lines: list[str] = []
    with pytest.raises(ModelError, match="must name a file that can be written"):
        execute(loaded, lines.append, Options(print_commands=True))
    assert lines[1].startswith("[EndCmd][0000]\t: hr=0x80004005 ")


# Writing files


def _written(folder, name, *changes, **more):
    model = changed(GATHER_ND, ("commands/1", WRITE | {"targetPath": name} | more), *changes)
    lines = output_of(folder, model, output_path=str(folder))
    assert lines == [f"Resource 'output' written to '{folder / name}'"]
    return folder / name


def test_npy_without_dimensions(tmp_path):
    array = np.load(_written(tmp_path, "sub/folder/out.npy"))
    assert_array_equal(array, np.array([2, 3, 0, 1], np.float32), strict=True)


def test_npy_with_dimensions(tmp_path):
    array = np.load(_written(tmp_path, "out.NPY", dimensions=[1, 2, 2]))
    assert_array_equal(array, np.array([[[2, 3], [0, 1]]], np.float32), strict=True)


def test_npy_header(tmp_path):
    data = _written(tmp_path, "out.npy").read_bytes()
    assert data.startswith(b"\x93NUMPY\x01\x00")
    assert len(data) % 64 == 16
    assert b"'descr': '<f4'" in data
    assert b"'fortran_order': False" in data


BYTES = (
    ("resources/input", {"initialValuesDataType": "UINT8", "initialValues": [1, 2, 3]}),
    (f"{DESC}/InputTensor", {"DataType": "UINT8", "Sizes": [3, 1]}),
    (f"{DESC}/IndicesTensor/Sizes", [3, 1]),
    (f"{DESC}/OutputTensor", {"DataType": "UINT8", "Sizes": [3, 1]}),
    ("resources/output", {"initialValuesDataType": "UINT8", "initialValues": [9, 9, 9]}),
    ("resources/indices/initialValues", [2, 1, 0]),
)


def test_padding_is_written(tmp_path):
    assert _written(tmp_path, "out.bin", *BYTES).read_bytes() == bytes([3, 2, 1, 0])
    assert np.load(_written(tmp_path, "out.npy", *BYTES)).tolist() == [3, 2, 1, 0]
    assert np.load(_written(tmp_path, "out.npy", *BYTES, dimensions=[3])).tolist() == [3, 2, 1]


def test_mixed_resource_as_raw_bytes(tmp_path):
    mixed = {"initialValues": [{"type": "UINT8", "value": 1}, {"type": "UINT16", "value": 2}]}
    commands = [WRITE | {"targetPath": "out.bin"}]
    model = changed(GATHER_ND, ("resources/output", mixed), ("commands", commands), ("dispatchables", {}))
    output_of(tmp_path, model, output_path=str(tmp_path))
    assert (tmp_path / "out.bin").read_bytes() == b"\1" + np.uint16(2).tobytes() + b"\0"


def test_files_go_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = changed(GATHER_ND, ("commands/1", WRITE | {"targetPath": "out.bin"}))
    assert output_of(tmp_path, model) == [f"Resource 'output' written to '{tmp_path / 'out.bin'}'"]
    assert np.fromfile("out.bin", np.float32).tolist() == [2, 3, 0, 1]


def test_round_trip_through_npy(tmp_path):
    _written(tmp_path, "out.npy")
    source = ("resources/input", {"initialValues": {"sourcePath": "out.npy"}})
    assert output_of(tmp_path, changed(GATHER_ND, source)) == ["Resource 'output': 0, 1, 2, 3"]


@given(st.sampled_from(["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]), st.data())
def test_any_npy_round_trip(tmp_path_factory, code, data):
    folder = tmp_path_factory.mktemp("m")
    item = np.dtype(code).itemsize
    raw = data.draw(st.binary(min_size=item, max_size=6 * item).filter(lambda b: len(b) % item == 0))
    array = np.frombuffer(raw, code)
    np.save(folder / "in.npy", array)
    model = {
        "resources": {"r": {"initialValues": {"sourcePath": "in.npy"}}},
        "dispatchables": {},
        "commands": [
            {"type": "writeFile", "resource": "r", "targetPath": "out.npy", "dimensions": [array.size]}
        ],
    }
    output_of(folder, model, output_path=str(folder))
    assert (folder / "out.npy").read_bytes() == (folder / "in.npy").read_bytes()


def test_targets_that_cannot_be_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"1")
    for name, reason in (
        ("folder", "Is a directory"),
        ("file/out.bin", "File exists|Not a directory"),
        ("x" * 300, "File name too long"),
    ):
        model = changed(GATHER_ND, ("commands/1", WRITE | {"targetPath": name}))
        with pytest.raises(
            ModelError,
            match=rf'`commands\[1\]\.targetPath` must name a file that can be written \(({reason})\), got "',
        ):
            output_of(tmp_path, model, output_path=str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "file", "model.json"}


def test_commands_before_a_failure_have_run(tmp_path):
    (tmp_path / "folder").mkdir()
    commands = [
        _print("input"),
        WRITE | {"targetPath": str(tmp_path / "folder")},
        _print("indices"),
    ]
    lines: list[str] = []
    with pytest.raises(ModelError, match=r"`commands\[1\]\.targetPath`"):
        execute(load(tmp_path, changed(GATHER_ND, ("commands", commands))), lines.append)
    assert lines == ["Resource 'input': 0, 1, 2, 3"]


def test_unused_resources_and_dispatchables_are_fine(tmp_path):
    assert output_of(tmp_path, changed(GATHER_ND, ("commands", []))) == []
