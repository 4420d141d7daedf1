"""libremapnd: its answers against those of Python, its examples, and what it says to bad input."""

import ctypes
import os
import re
import runpy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from c_library import (
    INDEX_OUT_OF_RANGE,
    INVALID_ARGUMENT,
    INVALID_BUFFER,
    INVALID_DESCRIPTOR,
    LAST_LEVEL,
    NOT_IN_LIBRARY,
    OK,
    ROOT,
    Buffer,
    CLibrary,
    buffers,
    build,
    compile_and_run,
    missing_tool,
    pointer,
)
from c_library_cases import FINITE, floats, gathers_and_scatters, inputs_of, memory_of, resamples, tensors
from hypothesis import given, settings
from hypothesis import strategies as st

import remapnd
from remapnd import coordinates, taps
from remapnd.directml import (
    OPERATOR_DESCS,
    BufferTensorDesc,
    DirectMLError,
    FeatureLevel,
    GatherElementsOperatorDesc,
    GatherNDOperatorDesc,
    GatherOperatorDesc,
    Resample1OperatorDesc,
    ResampleOperatorDesc,
    ScatterNDOperatorDesc,
    TensorDataType,
    abi,
    check,
    run,
)
from remapnd.directml.operators import FieldKind
from remapnd.simd import SynetGatherElements

_MISSING = missing_tool()
pytestmark = pytest.mark.skipif(_MISSING is not None, reason=f"building libremapnd takes {_MISSING}, which is not here")

_GENERATE = runpy.run_path(str(ROOT / "csrc/directml/generate.py"))
OPERATORS = _GENERATE["OPERATORS"]


@pytest.fixture(scope="session")
def library(request, tmp_path_factory):
    """Return the path of the library; the folder is kept, so that the next run has little to compile."""
    cache = getattr(request.config, "cache", None)
    return build(cache.mkdir("libremapnd") if cache else tmp_path_factory.mktemp("libremapnd"))


@pytest.fixture(scope="session")
def c(library):
    return CLibrary(library)


# ---- the build


def test_generated_files_are_current():
    for path, text in _GENERATE["files"]().items():
        assert path.read_text(encoding="utf-8") == text, f"{path} is not what csrc/directml/generate.py writes"


def test_the_header_declares_what_there_is(c):
    header = (ROOT / "include/remapnd.h").read_text(encoding="utf-8")
    declared = re.findall(r"REMAPND_API[^;]*?\b(remapnd_\w+)\(", header)
    assert sorted(declared) == sorted(c.names)


@pytest.mark.skipif(sys.platform == "win32", reason="the examples are compiled by the command cc")
@pytest.mark.parametrize("standard", ["-std=c99", "-std=c11"])
def test_examples_in_c(library, tmp_path, standard):
    folder = ROOT / "examples/c"
    assert compile_and_run(folder / "operators.c", library, tmp_path, standard).splitlines() == [
        "GATHER_ND: `IndicesTensor.DataType` must be UINT32 at feature level 2_1, got INT64 (accepted from 3_0)",
        "2 3 4 5",
        "6 7 0 1",
        "0 0.5 1 1.5 2",
        "RESAMPLE1: `OutputTensor` must be at least 20 bytes long, got 16",
    ]
    assert compile_and_run(folder / "synet_gather_elements.c", library, tmp_path, standard).splitlines() == [
        "SynetGatherElements.SetIndex: `idx` must lie in [-4, 4), got 4 at (1, 2, 0)",
        "0 2 3 4 6 7",
        "12 bytes of indices held",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="the headers are compiled by the command c++")
def test_headers_in_cpp(library, tmp_path):
    source = tmp_path / "both.cpp"
    source.write_text('#include "remapnd.h"\n#include "remapnd_directml.h"\nint main() { return remapnd_get_num_threads() < 1; }\n')
    assert compile_and_run(source, library, tmp_path, "-std=c++11", "-xc++") == ""


def test_example_in_python(library):
    program = [sys.executable, ROOT / "examples/ctypes_or_cffi.py", library]
    done = subprocess.run(list(map(str, program)), capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2.0 2.0 3.0 4.0\n", "")


# ---- the library


def test_version_and_status_names(c):
    assert c.version().decode() == remapnd.__version__
    assert [c.status_name(k).decode() for k in (0, 4, 7, 8, -1)] == ["OK", "INVALID_BUFFER", "INTERNAL_ERROR", "UNKNOWN", "UNKNOWN"]


def test_threads(c):
    before = c.get_num_threads()
    assert c.set_num_threads(3) == OK
    assert c.get_num_threads() == 3
    assert c.set_num_threads(0) == INVALID_ARGUMENT
    assert c.error() == "remapnd_set_num_threads: `threads` must be at least 1, got 0"
    assert c.set_num_threads(before) == OK


def test_levels(c):
    before = c.level()
    assert c.use_level(b"plain") == OK
    assert c.level() == b"plain"
    assert c.use_level(b"v9") == INVALID_ARGUMENT
    assert re.fullmatch(r"remapnd_use_level: `level` must be one of plain.*, got v9", c.error())
    assert c.use_level(None) == INVALID_ARGUMENT
    assert c.use_level(before) == OK


def test_an_impossible_level_in_the_environment_is_told(library):
    program = (
        "import sys; sys.path.insert(0, sys.argv[2]); from c_library import CLibrary; c = CLibrary(sys.argv[1]); "
        "from ctypes import byref, c_void_p; p = c_void_p(); "
        "print(c.synet_gather_elements_init(0, 1, 0, 1, None, 0, 1, 1, 1, byref(p)), p.value, c.error())"
    )
    command = [sys.executable, "-c", program, str(library), str(ROOT / "tests")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "REMAPND_ISA": "mmx"})
    assert re.fullmatch(r"1 None environment: `REMAPND_ISA` must be one of plain.*, got mmx\n", done.stdout)


# ---- check


def expected_text(address: int, level: int) -> str:
    """Return what Python says of a descriptor in memory.

    Where elements reach too far, Python looks for overlaps all the same.
    """
    try:
        desc = abi.read(address)
    except DirectMLError as error:
        return str(error)
    lines = list(map(str, check(desc, level)))
    far = [line for line in lines if "`OutputTensor.S" in line and ("product of at most" in line or "elements of the first" in line)]
    return "\n".join(line for line in lines if not (far and "its own address" in line))


def compare_checks(c, address, level=LAST_LEVEL):
    expected = expected_text(address, level)
    assert c.checked(address, level) == (INVALID_DESCRIPTOR if expected else OK, expected)


def smallest(operator, data_type, index_type, count):
    """Describe tensors of one element."""
    kind = OPERATOR_DESCS[operator]
    values = {
        FieldKind.INPUT: BufferTensorDesc(data_type, (1,) * count),
        FieldKind.INDICES: BufferTensorDesc(index_type, (1,) * count),
        FieldKind.OUTPUT: BufferTensorDesc(data_type, (1,) * count),
        FieldKind.UINT: 0,
        FieldKind.COUNT: count,
        FieldKind.FLOATS: [1.0] * count,
        FieldKind.INTERPOLATION_MODE: 0,
        FieldKind.AXIS_DIRECTION: 0,
    }
    fields = {name: values[field] for name, field in kind.field_kinds().items()}
    return kind(**{name: 1 if name.endswith("sDimensionCount") or name == "InputDimensionCount" else v for name, v in fields.items()})


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_tables_of_all_levels(c, operator):
    types = [(t, "UINT32") for t in TensorDataType] + [("FLOAT32", t) for t in TensorDataType]
    for data_type, index_type in types:
        for count in (1, 3, 4, 5, 8):
            packed = abi.pack(smallest(operator, data_type, index_type, count))
            desc = abi.read(packed)
            for level in FeatureLevel:
                expected = "\n".join(map(str, check(desc, level)))
                assert c.checked(packed.address, level) == (INVALID_DESCRIPTOR if expected else OK, expected)


UINT = st.one_of(st.integers(0, 5), st.integers(0, 2**32 - 1))
FLOATS = st.one_of(FINITE, st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan, -1e-5, -1e16, -1e15, -123456.789, -0.1]))


@st.composite
def faulty(draw, described):
    """Draw a descriptor with some fields replaced by what cannot all be right."""
    desc = draw(described)
    for name, kind in desc.field_kinds().items():
        if draw(st.integers(0, 3)):
            continue
        value = getattr(desc, name)
        if kind is FieldKind.UINT:
            desc = replace(desc, **{name: draw(UINT)})
        elif kind is FieldKind.FLOATS:
            desc = replace(desc, **{name: draw(st.lists(FLOATS, min_size=len(value), max_size=len(value)))})
        elif kind in (FieldKind.INPUT, FieldKind.INDICES, FieldKind.OUTPUT):
            size = st.one_of(st.integers(1, 5), st.integers(0, 2**32 - 1))
            count = draw(st.sampled_from([len(value.Sizes), draw(st.integers(1, 8))]))
            numbers = st.lists(size, min_size=count, max_size=count)
            desc = replace(
                desc,
                **{
                    name: BufferTensorDesc(
                        draw(st.sampled_from([value.DataType, *TensorDataType])),
                        draw(numbers),
                        draw(st.one_of(st.none(), numbers)),
                        draw(st.integers(0, 1)),
                        draw(st.sampled_from([2**63, 4, 100])),
                        draw(st.sampled_from([0, 1, 3, 4, 2**31])),
                    )
                },
            )
    return desc


def packed_or_none(desc):
    """Write a descriptor to memory if its counts agree."""
    try:
        return abi.pack(desc)
    except DirectMLError:
        return None


@settings(max_examples=400)
@given(faulty(st.one_of(gathers_and_scatters(), resamples())), st.sampled_from(list(FeatureLevel)))
def test_check_says_what_python_says(c, desc, level):
    packed = packed_or_none(desc)
    if packed is not None:
        compare_checks(c, packed.address, level)


def structs(packed):
    """Yield every struct that a descriptor in memory is made of."""
    outer = packed.pointer.contents
    yield outer
    kind = abi.find_struct(OPERATOR_DESCS[outer.Type].__name__ and _struct_name(outer.Type))
    inner = ctypes.cast(outer.Desc, ctypes.POINTER(abi.STRUCTURES[kind.name])).contents
    yield inner
    for name, _ in inner._fields_:
        if name.endswith("Tensor"):
            tensor = getattr(inner, name).contents
            yield tensor
            yield ctypes.cast(tensor.Desc, ctypes.POINTER(abi.STRUCTURES["DML_BUFFER_TENSOR_DESC"])).contents


def _struct_name(operator):
    return f"DML_{next(o for o in OPERATOR_DESCS if o == operator).name}_OPERATOR_DESC"


@settings(max_examples=300)
@given(st.one_of(gathers_and_scatters(), resamples()), st.data())
def test_fields_that_cannot_be_read(c, desc, data):
    packed = abi.pack(desc)
    for struct in list(structs(packed))[1:]:
        for name, kind in struct._fields_:
            if data.draw(st.integers(0, 7)):
                continue
            if kind is ctypes.c_void_p or hasattr(kind, "contents"):
                value = data.draw(st.sampled_from([0, 1, 0xFFFF] + [2**57, 2**64 - 8] * (ctypes.sizeof(ctypes.c_void_p) == 8)))
                setattr(struct, name, ctypes.cast(value, kind) if hasattr(kind, "contents") else value)
            elif name in ("DimensionCount", "ScaleCount"):
                setattr(struct, name, data.draw(st.sampled_from([0, 9, 2**32 - 1])))
            elif not name.startswith("_"):
                setattr(struct, name, data.draw(st.sampled_from([0, 1, 2, 14, 2**31 - 1])))
    compare_checks(c, packed.address)


def valid():
    return GatherElementsOperatorDesc(
        BufferTensorDesc("FLOAT32", (2, 3)), BufferTensorDesc("INT32", (2, 2)), BufferTensorDesc("FLOAT32", (2, 2)), 1
    )


def test_arguments_of_check(c):
    assert c.checked(None) == (INVALID_ARGUMENT, "remapnd_directml_check: `desc` must not be a null pointer")
    packed = abi.pack(valid())
    status, text = c.checked(packed.address, 0x3010)
    assert status == INVALID_ARGUMENT
    assert re.fullmatch(r"remapnd_directml_check: `feature_level` must be one of 0x1000, .*, 0x6400, got 0x3010", text)
    assert c.directml_check(packed.address, LAST_LEVEL, None, 0) == OK
    assert c.directml_check(packed.address, 0x1000, None, 5) == INVALID_DESCRIPTOR


def test_a_message_is_cut_to_its_buffer(c):
    packed = abi.pack(valid())
    memory = ctypes.create_string_buffer(b"x" * 20)
    assert c.directml_check(packed.address, 0x1000, memory, 10) == INVALID_DESCRIPTOR
    assert memory.raw == b"GATHER_EL\0" + b"x" * 10 + b"\0"
    assert c.error().startswith("GATHER_ELEMENTS: `Type` must be an operator of feature level 1_0")


@pytest.mark.parametrize("number", [0, 66, 134, 162, 175, 68, 2**31])
def test_operators_that_are_not_in_the_library(c, number):
    packed = abi.pack(valid())
    packed.pointer.contents.Type = ctypes.c_int32(number).value
    known = ", ".join(f"{operator} {operator.value}" for operator in OPERATORS)
    text = f"DML_OPERATOR_DESC: `Type` must be one of {known}, which this library runs, got {number}"
    assert c.checked(packed.address) == (NOT_IN_LIBRARY, text)
    assert c.dispatched(packed.address, [np.zeros(1)], np.zeros(1)) == (NOT_IN_LIBRARY, text)


@given(st.sampled_from(list(TensorDataType)), st.lists(st.integers(0, 70000), min_size=1, max_size=4), st.booleans(), st.data())
def test_tensor_size(c, data_type, sizes, packed, data):
    strides = None if packed else data.draw(st.lists(st.integers(0, 70000), min_size=len(sizes), max_size=len(sizes)))
    reach = np.prod(sizes, dtype=object) if packed else sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) + 1
    fits = all(sizes) and max(reach, np.prod(sizes, dtype=object)) < 2**32
    from remapnd.directml import calc_buffer_tensor_size

    expected = calc_buffer_tensor_size(data_type, sizes, strides) if fits else 0
    numbers, steps = np.array(sizes, np.uint32), None if packed else np.array(strides, np.uint32)
    assert c.directml_tensor_size(data_type, len(sizes), pointer(numbers), pointer(steps)) == expected


def test_tensor_size_of_nothing(c):
    one = np.ones(9, np.uint32)
    assert c.directml_tensor_size(1, 0, pointer(one), None) == 0
    assert c.directml_tensor_size(1, 9, pointer(one), None) == 0
    assert c.directml_tensor_size(1, 1, None, None) == 0
    assert c.directml_tensor_size(77, 1, pointer(one), None) == 0


# ---- dispatch


def compare_runs(c, desc, seed):
    rng = np.random.default_rng(seed)
    inputs = inputs_of(desc, rng)
    output = memory_of(desc.OutputTensor, rng)
    expected = output.copy()
    run(desc, inputs, expected)
    assert c.dispatched(abi.pack(desc).address, inputs, output) == (OK, "")
    assert output.tobytes() == expected.tobytes()


SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=300)
@given(gathers_and_scatters(), SEEDS)
def test_gathers_and_scatters_give_python_s_bytes(c, desc, seed):
    compare_runs(c, desc, seed)


@settings(max_examples=300)
@given(resamples(), SEEDS)
def test_resampling_gives_python_s_bytes(c, desc, seed):
    compare_runs(c, desc, seed)


@settings(max_examples=100)
@given(
    st.sampled_from(["UINT8", "INT8"]),
    st.lists(st.sampled_from([1, 2, 3, 5, 9]), min_size=3, max_size=3),
    st.lists(st.sampled_from([1, 2, 3, 5, 9]), min_size=3, max_size=3),
    st.lists(floats(True), min_size=3, max_size=3),
    SEEDS,
)
def test_8_bit_results_at_every_precision(c, data_type, data, output, scales, seed):
    # With values 0 and 4 many exact results are whole numbers, which a little error would cut to the one below.
    desc = ResampleOperatorDesc(BufferTensorDesc(data_type, data), BufferTensorDesc(data_type, output), "LINEAR", 3, scales)
    rng = np.random.default_rng(seed)
    inputs = [memory_of(desc.InputTensor, rng, (-1, 2)) * 4]
    got, expected = memory_of(desc.OutputTensor, rng), memory_of(desc.OutputTensor, rng)
    run(desc, inputs, expected)
    assert c.dispatched(abi.pack(desc).address, inputs, got) == (OK, "")
    assert got.tobytes() == expected.tobytes()


def test_results_that_only_integers_decide(c):
    # Every position has a fraction of 1/3 or 2/3 of a scale of 24 bits: results of 3 * k are exact whole numbers.
    scale = float(np.float32(1 / 3))
    desc = Resample1OperatorDesc(
        BufferTensorDesc("UINT8", (40, 40)), BufferTensorDesc("UINT8", (13, 13)), "LINEAR", 2, [scale] * 2, [0.3] * 2, [0.1] * 2
    )
    data = np.add.outer(np.arange(40), np.arange(40)).astype(np.uint8) * 3
    expected, got = np.zeros((13, 13), np.uint8), np.zeros((13, 13), np.uint8)
    run(desc, [data], expected)
    assert c.dispatched(abi.pack(desc).address, [data], got) == (OK, "")
    assert got.tobytes() == expected.tobytes()


def test_large_arrays_on_every_level_and_thread_count(c, library):
    before, level = c.get_num_threads(), c.level()
    rng = np.random.default_rng(5)
    image = BufferTensorDesc("UINT8", (1, 3, 200, 300)), BufferTensorDesc("UINT8", (1, 3, 301, 333))
    cases = [
        ResampleOperatorDesc(*image, "LINEAR", 4, [1, 1, 1.505, 1.11]),
        GatherOperatorDesc(
            BufferTensorDesc("FLOAT32", (500, 64)), BufferTensorDesc("INT64", (1, 3000)), BufferTensorDesc("FLOAT32", (3000, 64)), 0, 1
        ),
        ScatterNDOperatorDesc(
            BufferTensorDesc("FLOAT32", (20000,)), BufferTensorDesc("INT32", (60000, 1)), BufferTensorDesc("FLOAT32", (60000,)),
            BufferTensorDesc("FLOAT32", (20000,)), 1, 2,
        ),
    ]  # fmt: skip
    cases[2] = ScatterNDOperatorDesc(
        BufferTensorDesc("FLOAT32", (1, 20000)),
        BufferTensorDesc("INT32", (60000, 1)),
        BufferTensorDesc("FLOAT32", (1, 60000)),
        BufferTensorDesc("FLOAT32", (1, 20000)),
        1,
        2,
    )
    for desc in cases:
        inputs = inputs_of(desc, rng)
        expected = memory_of(desc.OutputTensor, rng)
        run(desc, inputs, expected)
        for name in ("plain", level.decode()):
            for threads in (1, 3):
                c.use_level(name.encode())
                c.set_num_threads(threads)
                got = np.zeros_like(expected)
                assert c.dispatched(abi.pack(desc).address, inputs, got) == (OK, "")
                assert got.tobytes() == expected.tobytes()
    c.use_level(level)
    c.set_num_threads(before)


def compiled(c, desc, level=LAST_LEVEL):
    op, message = ctypes.c_void_p(), ctypes.create_string_buffer(1000)
    assert c.directml_compile(abi.pack(desc).address, level, ctypes.byref(op), message, 1000) == OK
    assert message.value == b""
    return op


def test_a_compiled_operator_runs_often_and_from_several_threads(c):
    desc = GatherNDOperatorDesc(
        BufferTensorDesc("INT16", (50, 40)), BufferTensorDesc("INT32", (300, 2)), BufferTensorDesc("INT16", (1, 300)), 2, 2
    )
    op = compiled(c, desc)
    assert (c.op_input_count(op), c.op_output_count(op)) == (2, 1)
    assert [c.op_input_size(op, k) for k in range(3)] == [4000, 2400, 0]
    assert [c.op_output_size(op, k) for k in range(2)] == [600, 0]

    def task(seed):
        rng = np.random.default_rng(seed)
        data = rng.integers(-100, 100, (50, 40)).astype(np.int16)
        for _ in range(20):
            indices = rng.integers(-40, 40, (300, 2)).astype(np.int32)
            out = np.empty(300, np.int16)
            assert c.op_dispatch(op, buffers(data, indices), 2, buffers(out), 1) == OK
            np.testing.assert_array_equal(out, data[indices[:, 0], indices[:, 1]])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(task, range(8)))
    c.op_release(op)
    c.op_release(None)


def test_arguments_of_compile_and_dispatch(c):
    address, message = abi.pack(valid()).address, ctypes.create_string_buffer(200)
    assert c.directml_compile(address, LAST_LEVEL, None, message, 200) == INVALID_ARGUMENT
    assert message.value == b"remapnd_directml_compile: `op` must not be a null pointer"
    packed = abi.pack(valid())
    op = ctypes.c_void_p(8)
    assert c.directml_compile(packed.address, 0x2000, ctypes.byref(op), message, 200) == INVALID_DESCRIPTOR
    assert op.value is None
    assert message.value.startswith(b"GATHER_ELEMENTS: `Type` must be")
    op = compiled(c, valid())
    out, one = buffers(np.zeros(4, np.float32)), buffers(np.zeros(6, np.float32), np.zeros(4, np.int32))
    for arguments, text in [
        ((None, one, 2, out, 1), "`op` must not be a null pointer"),
        ((op, one, 1, out, 1), "`input_count` must be 2, got 1"),
        ((op, one, 2, out, 0), "`output_count` must be 1, got 0"),
        ((op, None, 2, out, 1), "`inputs` must not be a null pointer"),
        ((op, one, 2, None, 1), "`outputs` must not be a null pointer"),
    ]:
        assert c.op_dispatch(*arguments) == INVALID_ARGUMENT
        assert c.error() == f"remapnd_op_dispatch: {text}"
    assert c.op_input_count(None) == c.op_output_count(None) == c.op_input_size(None, 0) == c.op_output_size(None, 0) == 0
    c.op_release(op)


def test_buffers_that_cannot_be_used(c):
    op = compiled(c, valid())
    memory = np.zeros(100, np.float32)
    at = memory.ctypes.data
    good = [Buffer(at, 24), Buffer(at + 100, 16), Buffer(at + 200, 16)]
    for which, buffer, text in [
        (0, Buffer(None, 24), "`InputTensor` must not be a null pointer"),
        (1, Buffer(at + 100, 15), "`IndicesTensor` must be at least 16 bytes long, got 15"),
        (2, Buffer(at + 200, 0), "`OutputTensor` must be at least 16 bytes long, got 0"),
        (0, Buffer(at + 2, 24), f"`InputTensor` must begin at a multiple of 4 bytes, the size of an element, got address {at + 2:#x}"),
        (2, Buffer(at + 20, 16), "`OutputTensor` must share no memory with `InputTensor`, got overlapping buffers"),
        (2, Buffer(at + 88, 16), "`OutputTensor` must share no memory with `IndicesTensor`, got overlapping buffers"),
    ]:
        given_buffers = list(good)
        given_buffers[which] = buffer
        *inputs, output = given_buffers
        assert c.op_dispatch(op, (Buffer * 2)(*inputs), 2, (Buffer * 1)(output), 1) == INVALID_BUFFER
        assert c.error() == f"GATHER_ELEMENTS: {text}"
    assert c.op_dispatch(op, (Buffer * 2)(*good[:2]), 2, (Buffer * 1)(good[2]), 1) == OK
    assert not memory.any()
    c.op_release(op)


# ---- the tables of resampling


@settings(max_examples=600)
@given(st.integers(1, 70), st.integers(1, 70), floats(True), floats(False), floats(False))
def test_tables_are_python_s(c, n_in, n_out, scale, into, onto):
    exact = coordinates.axis_map(*map(float, np.array([scale, into, onto], np.float32)))
    index = np.empty(n_out, np.int64)
    for number, rule in enumerate(taps.NEAREST_RULES):
        assert c.nearest_table(n_in, n_out, scale, into, onto, number, pointer(index)) == OK
        np.testing.assert_array_equal(index, taps.nearest_table(exact, n_in, n_out, rule))
    first, second, weight = np.empty(n_out, np.int64), np.empty(n_out, np.int64), np.empty(n_out)
    for bits, dtype in ((32, np.float32), (64, np.float64)):
        assert c.linear_table(n_in, n_out, scale, into, onto, bits, *map(pointer, (first, second, weight))) == OK
        table = taps.linear_table(exact, n_in, n_out, dtype)
        np.testing.assert_array_equal(first, table.first)
        np.testing.assert_array_equal(second, table.second)
        assert weight.tobytes() == table.weight.astype(np.float64).tobytes()


@pytest.mark.parametrize("position", [0.5, 1e-30, 1.4e-45, 2.0**-75, 1 - 2.0**-24])
def test_weights_near_the_ends_of_the_format(c, position):
    # One output at `position`; the smallest weights of float32 are subnormal, half of the smallest is a tie.
    for scale in (1.0, 2.0**24, 3.0):
        exact = coordinates.axis_map(scale, -float(np.float32(position)), -1.0)
        first, second, weight = np.empty(1, np.int64), np.empty(1, np.int64), np.empty(1)
        for bits, dtype in ((32, np.float32), (64, np.float64)):
            assert c.linear_table(4, 1, scale, -position, -1.0, bits, *map(pointer, (first, second, weight))) == OK
            table = taps.linear_table(exact, 4, 1, dtype)
            assert (first[0], second[0], weight.tobytes()) == (table.first[0], table.second[0], table.weight.astype(float).tobytes())


def test_lengths_of_32_bits(c):
    n, index = 2**32 - 1, np.empty(3, np.int64)
    assert c.nearest_table(n, 3, 1e-9, 0.0, 0.0, 2, pointer(index)) == OK
    exact = coordinates.axis_map(float(np.float32(1e-9)), 0, 0)
    assert index.tolist() == taps.nearest_table(exact, n, 3, "floor").tolist()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 1, 1, 0, 0, 0), "`n_in` must lie in [1, 4294967295]"),
        ((1, 2**32, 1, 0, 0, 0), "`n_out` must lie in [1, 4294967295]"),
        ((1, 1, 0, 0, 0, 0), "`scale` must be above 0 and finite"),
        ((1, 1, np.nan, 0, 0, 0), "`scale` must be above 0 and finite"),
        ((1, 1, 1, np.inf, 0, 0), "`input_offset` must be finite"),
        ((1, 1, 1, 0, np.nan, 0), "`output_offset` must be finite"),
        ((1, 1, 1, 0, 0, 4), "`rule` must lie in [0, 3]"),
    ],
)
def test_arguments_of_tables(c, arguments, text):
    index = np.full(1, -5, np.int64)
    assert c.nearest_table(*arguments, pointer(index)) == INVALID_ARGUMENT
    assert c.error() == f"remapnd_nearest_table: {text}"
    assert index[0] == -5
    assert c.nearest_table(1, 1, 1, 0, 0, 0, None) == INVALID_ARGUMENT
    assert c.linear_table(1, 1, 1, 0, 0, 16, *[pointer(index)] * 3) == INVALID_ARGUMENT
    assert c.error() == "remapnd_linear_table: `bits` must be 32 or 64"
    assert c.linear_table(1, 1, 1, 0, 0, 32, None, None, None) == INVALID_ARGUMENT


# ---- SynetGatherElements

_DATA = {0: np.float32, 7: np.uint16, 3: np.uint8}
_INDEX = {1: np.int32, 4: np.int64}


def synet(c, data_type, index_type, const, outer, *counts):
    sizes, context = np.array(outer, np.uintp), ctypes.c_void_p()
    status = c.synet_gather_elements_init(data_type, index_type, const, 1, pointer(sizes), len(outer), *counts, ctypes.byref(context))
    assert (context.value is None) == (status != OK)
    return status, context


@settings(max_examples=200)
@given(
    st.sampled_from(list(_DATA)),
    st.sampled_from(list(_INDEX)),
    st.lists(st.integers(0, 3), max_size=3),
    st.tuples(st.integers(1, 5), st.integers(0, 3), st.integers(0, 5)),
    st.booleans(),
    st.booleans(),
    SEEDS,
)
def test_synet_gather_elements(c, data_type, index_type, outer, counts, const, repeated, seed):
    rng = np.random.default_rng(seed)
    src_count, inner, idx_count = counts
    src = rng.integers(0, 256, (*outer, src_count, inner, np.dtype(_DATA[data_type]).itemsize), np.uint8)
    shape = (*outer, idx_count, inner)
    idx = rng.integers(-src_count, src_count, shape[-2:] if repeated else shape).astype(_INDEX[index_type])
    idx = np.ascontiguousarray(np.broadcast_to(idx, shape))
    python = SynetGatherElements()
    python.Init(data_type, index_type, const, 1, outer, *counts)
    status, context = synet(c, data_type, index_type, const, outer, *counts)
    assert status == OK
    dst = np.zeros((*shape, np.dtype(_DATA[data_type]).itemsize), np.uint8)
    if const:
        assert c.synet_gather_elements_set_index(context, pointer(idx)) == OK
        python.SetIndex(idx)
        assert c.synet_gather_elements_internal_buffer_size(context) == python.InternalBufferSize()
    assert c.synet_gather_elements_forward(context, pointer(src), None if const else pointer(idx), pointer(dst)) == OK
    expected = np.asarray(python.Forward(src.reshape(-1), None if const else idx))
    assert dst.tobytes() == expected.tobytes()
    c.synet_gather_elements_release(context)


def test_synet_copies_constant_indices(c):
    _, context = synet(c, 0, 1, 1, [], 3, 1, 2)
    idx, src, dst = np.array([2, -3], np.int32), np.arange(3, dtype=np.float32), np.zeros(2, np.float32)
    assert c.synet_gather_elements_set_index(context, pointer(idx)) == OK
    idx[:] = 99
    assert c.synet_gather_elements_set_index(context, pointer(idx)) == INDEX_OUT_OF_RANGE
    assert c.synet_gather_elements_forward(context, pointer(src), pointer(idx), pointer(dst)) == OK
    assert dst.tolist() == [2, 0]
    c.synet_gather_elements_release(context)


def test_synet_indices_out_of_range(c):
    _, context = synet(c, 3, 4, 0, [2], 3, 1, 2)
    src, dst = np.arange(6, dtype=np.uint8), np.zeros(4, np.uint8)
    for bad in (3, -4, 2**62, -(2**63)):
        idx = np.array([0, 1, 2, bad])
        assert c.synet_gather_elements_forward(context, pointer(src), pointer(idx), pointer(dst)) == INDEX_OUT_OF_RANGE
        assert c.error() == f"SynetGatherElements.Forward: `idx` must lie in [-3, 3), got {bad} at (1, 1, 0)"
    c.synet_gather_elements_release(context)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((1, 1, 0, [], 1, 1, 1), "`dataType` must be 32f 0, 8u 3 or 16b 7, got 1"),
        ((0, 0, 0, [], 1, 1, 1), "`indexType` must be 32i 1 or 64i 4, got 0"),
        ((0, 1, 0, [2**32, 2**31], 1, 1, 1), f"`src` must take at most {2**63 - 1} bytes, got more"),
        ((3, 1, 0, [2**31], 1, 1, 2**31), f"`idx` must take at most {2**63 - 1} bytes, got more"),
        ((0, 1, 0, [0, 2**63], 1, 1, 1), f"`src` must take at most {2**63 - 1} bytes, got more"),
    ],
)
@pytest.mark.skipif(ctypes.sizeof(ctypes.c_size_t) < 8, reason="the counts need 64 bits")
def test_synet_arguments(c, arguments, text):
    status, _ = synet(c, *arguments)
    assert status == INVALID_ARGUMENT
    assert c.error() == f"SynetGatherElements.Init: {text}"


def test_synet_pointers(c):
    assert c.synet_gather_elements_init(0, 1, 0, 1, None, 0, 1, 1, 1, None) == INVALID_ARGUMENT
    context = ctypes.c_void_p()
    assert c.synet_gather_elements_init(0, 1, 0, 1, None, 2, 1, 1, 1, ctypes.byref(context)) == INVALID_ARGUMENT
    assert c.error() == "SynetGatherElements.Init: `outer` must not be a null pointer, as `outerSize` is not 0"
    memory = np.zeros(16, np.float32)
    assert c.synet_gather_elements_forward(None, *[pointer(memory)] * 3) == INVALID_ARGUMENT
    assert c.synet_gather_elements_set_index(None, pointer(memory)) == INVALID_ARGUMENT
    assert c.synet_gather_elements_internal_buffer_size(None) == 0
    c.synet_gather_elements_release(None)
    _, context = synet(c, 0, 1, 1, [], 4, 1, 4)
    at = memory.ctypes.data
    for arguments, status, text in [
        ((at, None, at + 32), INVALID_ARGUMENT, "`idx` must not be a null pointer, as no constant indices are set"),
        ((None, at, at + 32), INVALID_BUFFER, "`src` and `dst` must not be null pointers"),
        ((at, at + 16, at + 12), INVALID_BUFFER, "`dst` must not overlap `src`, got memory of both"),
        ((at, at + 32, at + 40), INVALID_BUFFER, "`dst` must not overlap `idx`, got memory of both"),
    ]:
        assert c.synet_gather_elements_forward(context, *arguments) == status
        assert c.error() == f"SynetGatherElements.Forward: {text}"
    assert c.synet_gather_elements_set_index(context, None) == INVALID_ARGUMENT
    assert c.error() == "SynetGatherElements.SetIndex: `idx` must not be a null pointer"
    c.synet_gather_elements_release(context)
