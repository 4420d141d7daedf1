"""libremapnd as a whole: generated files, header, examples, threads, levels."""

import os
import re
import subprocess
import sys

import pytest
from c_library import INVALID_ARGUMENT, OK, ROOT, compile_and_run
from c_library_cases import GENERATED

import remapnd


def test_generated_files_are_current():
    for path, text in GENERATED["files"]().items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path} is not what csrc/directml/generate.py writes"
        )


def test_the_header_declares_what_there_is(libremapnd):
    header = (ROOT / "include/remapnd.h").read_text(encoding="utf-8")
    declared = re.findall(r"REMAPND_API[^;]*?\b(remapnd_\w+)\(", header)
    assert sorted(declared) == sorted(libremapnd.names)


@pytest.mark.skipif(sys.platform == "win32", reason="the examples are compiled by the command cc")
@pytest.mark.parametrize("standard", ["-std=c99", "-std=c11"])
def test_examples_in_c(libremapnd_path, tmp_path, standard):
    folder = ROOT / "examples/c"
    assert compile_and_run(folder / "operators.c", libremapnd_path, tmp_path, standard).splitlines() == [
        "GATHER_ND: `IndicesTensor.DataType` must be UINT32 at feature level 2_1, got INT64 "
        "(accepted from 3_0)",
        "2 3 4 5",
        "6 7 0 1",
        "0 0.5 1 1.5 2",
        "RESAMPLE1: `OutputTensor` must be at least 20 bytes long, got 16",
    ]
    assert compile_and_run(
        folder / "synet_gather_elements.c", libremapnd_path, tmp_path, standard
    ).splitlines() == [
        "SynetGatherElements.SetIndex: `idx` must lie in [-4, 4), got 4 at (1, 2, 0)",
        "0 2 3 4 6 7",
        "12 bytes of indices held",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="the headers are compiled by the command c++")
def test_headers_in_cpp(libremapnd_path, tmp_path):
    source = tmp_path / "both.cpp"
    source.write_text(
        '#include "remapnd.h"\n#include "remapnd_directml.h"\n'
        "int main() { return remapnd_get_num_threads() < 1; }\n"
    )
    assert compile_and_run(source, libremapnd_path, tmp_path, "-std=c++11", "-xc++") == ""


def test_example_in_python(libremapnd_path):
    program = [sys.executable, ROOT / "examples/ctypes_or_cffi.py", libremapnd_path]
    done = subprocess.run(list(map(str, program)), capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2.0 2.0 3.0 4.0\n", "")


def test_example_in_python_without_a_library():
    program = [sys.executable, str(ROOT / "examples/ctypes_or_cffi.py")]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"usage: python {program[1]} /path/to/libremapnd.so\n"


def test_version_and_status_names(libremapnd):
    assert libremapnd.version().decode() == remapnd.__version__
    assert [libremapnd.status_name(k).decode() for k in (0, 4, 7, 8, -1)] == [
        "OK",
        "INVALID_BUFFER",
        "INTERNAL_ERROR",
        "UNKNOWN",
        "UNKNOWN",
    ]


def test_threads(libremapnd):
    before = libremapnd.get_num_threads()
    assert libremapnd.set_num_threads(3) == OK
    assert libremapnd.get_num_threads() == 3
    assert libremapnd.set_num_threads(0) == INVALID_ARGUMENT
    assert libremapnd.error() == "remapnd_set_num_threads: `threads` must be at least 1, got 0"
    assert libremapnd.set_num_threads(before) == OK


def test_levels(libremapnd):
    before = libremapnd.level()
    assert libremapnd.use_level(b"plain") == OK
    assert libremapnd.level() == b"plain"
    assert libremapnd.use_level(b"v9") == INVALID_ARGUMENT
    assert re.fullmatch(r"remapnd_use_level: `level` must be one of plain.*, got v9", libremapnd.error())
    assert libremapnd.use_level(None) == INVALID_ARGUMENT
    assert libremapnd.use_level(before) == OK


def test_an_impossible_level_in_the_environment_is_told(libremapnd_path):
    program = (
        "import sys; from ctypes import *; c = CDLL(sys.argv[1]); c.remapnd_last_error.restype = c_char_p; "
        "one = c_size_t(1); p = c_void_p(); "
        "s = c.remapnd_synet_gather_elements_init(0, 1, 0, one, None, c_size_t(0), one, one, one, byref(p)); "
        "print(s, p.value, c.remapnd_last_error().decode())"
    )
    command = [sys.executable, "-c", program, str(libremapnd_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "REMAPND_ISA": "mmx"}
    )
    assert re.fullmatch(r"1 None environment: `REMAPND_ISA` must be one of plain.*, got mmx\n", done.stdout)
