"""`remapnd struct`: layouts, and declarations that compilers of the languages agree with."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from remapnd.cli import main
from remapnd.directml import BufferTensorDesc, Resample1OperatorDesc, abi, check, run
from remapnd.directml.abi.declarations import TITLES, declare

DATA = Path(__file__).parent / "data" / "struct"
# One of every kind of field: by value, counted arrays, BOOL, UINT64, optional, and names that are keywords.
SAMPLE = ["upsample_2d", "resample3", "buffer_tensor_desc", "tensor_desc", "buffer_binding"]
STORED = [language for language in TITLES if language not in ("c", "python", "rust")]
NATIVE = abi.NATIVE_ARCH


def printed(capsys, *arguments: str) -> str:
    assert main(["struct", *arguments]) == 0
    out, errors = capsys.readouterr()
    assert errors == ""
    return out


def compiler(*names: str) -> str:
    """Find a program or skip."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(names)} is installed")
    return found


def compiles(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_layout(capsys):
    assert printed(capsys, "gather_nd") == (
        "DML_GATHER_ND_OPERATOR_DESC: 32 bytes on x64, 20 on x86\n"
        "  x64  x86  size  field                  type\n"
        "   +0   +0   8/4  InputTensor            const DML_TENSOR_DESC *\n"
        "   +8   +4   8/4  IndicesTensor          const DML_TENSOR_DESC *\n"
        "  +16   +8   8/4  OutputTensor           const DML_TENSOR_DESC *\n"
        "  +24  +12     4  InputDimensionCount    UINT\n"
        "  +28  +16     4  IndicesDimensionCount  UINT\n"
    )


def test_layout_of_one_architecture(capsys):
    assert printed(capsys, "DML_TENSOR_DESC", "size_2d", "--arch", "x86") == (
        "DML_TENSOR_DESC: 8 bytes on x86\n"
        "DML_TENSOR_TYPE: INVALID 0, BUFFER 1\n"
        "  x86  size  field  type\n"
        "   +0     4  Type   DML_TENSOR_TYPE\n"
        "   +4     4  Desc   const void *\n"
        "\n"
        "DML_SIZE_2D: 8 bytes on x86\n"
        "  x86  size  field   type\n"
        "   +0     4  Width   UINT\n"
        "   +4     4  Height  UINT\n"
    )


def test_list(capsys):
    lines = printed(capsys, "--list").splitlines()
    assert lines[0].split() == ["struct", "x64", "x86"]
    assert [line.split() for line in lines[1:]] == [
        [name, str(kind.layout("x64").size), str(kind.layout("x86").size)]
        for name, kind in abi.STRUCTS.items()
    ]


def test_nothing_asked_for(capsys):
    assert main(["struct"]) == 2
    assert capsys.readouterr() == ("", "remapnd struct: error: NAME must be given, or --all or --list\n")


def test_unknown_struct(capsys):
    with pytest.raises(SystemExit):
        main(["struct", "gather_2d"])
    assert capsys.readouterr().err.splitlines()[-1] == (
        "remapnd struct: error: argument NAME: must be a struct that `remapnd struct --list` lists, "
        "got 'gather_2d' (did you mean 'gather_nd'?)"
    )


def test_unknown_language(capsys):
    with pytest.raises(
        ValueError, match=r"^declare: `language` must be one of c, csharp, .*hsp, got 'cobol'$"
    ):
        declare([], "cobol")
    with pytest.raises(SystemExit):
        main(["struct", "gather_nd", "--lang", "cobol"])
    assert capsys.readouterr().err.endswith(
        "argument --lang: must be one of c, csharp, vb, python, rust, go, delphi, zig, nim, d, ironhsp, hsp, "
        "got 'cobol'\n"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("gathernd", "got 'gathernd' (did you mean 'gather_nd'?)"),
        ("DML_BUFFER_TENSOR_DES", "got 'DML_BUFFER_TENSOR_DES' (did you mean 'DML_BUFFER_TENSOR_DESC'?)"),
        ("gather --lang pyhton", "got 'pyhton' (did you mean 'python'?)"),
        ("gather --arch arm64", "argument --arch: must be one of x64, x86, got 'arm64'"),
    ],
)
def test_words_that_are_none(arguments, text, capsys):
    with pytest.raises(SystemExit):
        main(["struct", *arguments.split()])
    assert capsys.readouterr().err.endswith(f"{text}\n")


@pytest.mark.parametrize("language", TITLES)
def test_every_struct_in_every_language(capsys, language):
    text = printed(capsys, "--all", "--lang", language)
    for name, kind in abi.STRUCTS.items():
        assert f"{name}: {kind.layout('x64').size} bytes on x64" in text
        assert all(field.name in text for field in kind.fields)
    assert not any(line != line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("language", STORED)
def test_stored_text(capsys, language):
    """A compiler took each text, and gave the sizes in it, when it was stored (but for vb, hsp and ironhsp).

    After a change do so again, with the output of ``remapnd struct NAME... --lang LANGUAGE`` for `SAMPLE`.
    """
    stored = (DATA / f"{language}.txt").read_text(encoding="utf-8")
    assert printed(capsys, *SAMPLE, "--lang", language) == stored


def test_structs_needed_by_value_are_declared(capsys):
    text = printed(capsys, "upsample_2d", "--lang", "rust")
    assert text.index("pub struct DML_SIZE_2D") < text.index("pub struct DML_UPSAMPLE_2D_OPERATOR_DESC")
    assert "pub InputTensor: *const core::ffi::c_void" in text
    assert "pub InputTensor: *const DML_TENSOR_DESC" in printed(capsys, *SAMPLE, "--lang", "rust")


@pytest.mark.parametrize("names", [["--all"], *([name] for name in abi.STRUCTS)], ids=lambda names: names[0])
def test_python(capsys, names):
    text = printed(capsys, *names, "--lang", "python")
    space: dict[str, object] = {}
    exec(compile(text, "declaration", "exec"), space)
    structures = {name: made for name, made in space.items() if isinstance(made, type)}
    assert set(structures) >= (set(abi.STRUCTS) if names == ["--all"] else set(names))
    for name, made in structures.items():
        layout = abi.STRUCTS[name].layout(NATIVE)
        assert ctypes.sizeof(made) == layout.size
        assert {f: getattr(made, f).offset for f in layout.offsets} == dict(layout.offsets)


# C


@pytest.fixture(scope="module")
def header(tmp_path_factory):
    """Return a folder with the header of all structs."""
    folder = tmp_path_factory.mktemp("header")
    text = declare(list(abi.STRUCTS.values()), "c")
    (folder / "directml_structs.h").write_text(text, encoding="utf-8")
    (folder / "header.c").write_text('#include "directml_structs.h"\n', encoding="utf-8")
    return folder


WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


@pytest.mark.parametrize("standard", ["c99", "c11", "c17", "c2x"])
def test_header_in_c(header, standard):
    compiles([compiler("gcc", "cc"), f"-std={standard}", *WARNINGS, "-fsyntax-only", "header.c"], header)


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_header_in_cpp(header, standard):
    program = compiler("g++", "c++")
    compiles([program, "-x", "c++", f"-std={standard}", *WARNINGS, "-fsyntax-only", "header.c"], header)


def test_header_with_pointers_of_4_bytes(header, tmp_path):
    """The compiler checks the assertions of the header; it needs no C library of that size for it."""
    command = [compiler("gcc", "cc"), "-m32", "-ffreestanding", "-std=c11", "-fsyntax-only"]
    (tmp_path / "empty.c").write_text("typedef int nothing;\n", encoding="utf-8")
    if subprocess.run([*command, "empty.c"], cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("the C compiler does not know -m32")
    compiles([*command, *WARNINGS, "header.c"], header)
    wrong = (header / "directml_structs.h").read_text(encoding="utf-8")
    wrong = wrong.replace("REMAPND_ALIGN8 uint64_t", "uint64_t").replace("#pragma once", "")
    (tmp_path / "wrong.c").write_text(wrong, encoding="utf-8")
    done = subprocess.run([*command, "wrong.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "static assertion failed" in done.stderr
    assert "size of DML_BUFFER_TENSOR_DESC" in done.stderr


@pytest.mark.parametrize("name", ["gather_nd", "upsample_2d", "buffer_binding", "operator_desc"])
def test_one_struct_compiles_alone(capsys, tmp_path, name):
    (tmp_path / "one.h").write_text(printed(capsys, name, "--lang", "c"), encoding="utf-8")
    (tmp_path / "one.c").write_text('#include "one.h"\n', encoding="utf-8")
    compiles([compiler("gcc", "cc"), "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "one.c"], tmp_path)


def test_sizes_and_offsets_that_c_prints(header):
    rows = []
    for name, kind in abi.STRUCTS.items():
        rows.append(f'printf("{name} %zu\\n", sizeof({name}));')
        rows += [
            f'printf("{name}.{field.name} %zu\\n", offsetof({name}, {field.name}));' for field in kind.fields
        ]
    body = "\n".join(rows)
    source = f'#include <stdio.h>\n#include "directml_structs.h"\nint main(void) {{\n{body}\nreturn 0;\n}}\n'
    (header / "print.c").write_text(source, encoding="utf-8")
    compiles([compiler("gcc", "cc"), "-std=c11", "print.c", "-o", "print"], header)
    out = subprocess.run([header / "print"], capture_output=True, text=True, check=True).stdout
    expected = []
    for name, structure in abi.STRUCTURES.items():
        expected.append(f"{name} {ctypes.sizeof(structure)}")
        expected += [
            f"{name}.{field.name} {getattr(structure, field.name).offset}"
            for field in abi.STRUCTS[name].fields
        ]
    assert out.splitlines() == expected


PROGRAM = """\
#include "directml_structs.h"

double mixed(const DML_OPERATOR_DESC *operator_desc) {
    if (operator_desc->Type != DML_OPERATOR_RESAMPLE1) return -1;
    const DML_RESAMPLE1_OPERATOR_DESC *desc = operator_desc->Desc;
    const DML_BUFFER_TENSOR_DESC *input = desc->InputTensor->Desc;
    double sum = 1000.0 * input->TotalTensorSizeInBytes + 100.0 * input->Strides[1] + desc->InterpolationMode;
    for (uint32_t d = 0; d < desc->DimensionCount; ++d)
        sum += desc->Scales[d] + desc->InputPixelOffsets[d] * 16 + desc->OutputPixelOffsets[d] * 64;
    return sum;
}

static const uint32_t smaller[] = {1, 2}, larger[] = {1, 4};
static const float scales[] = {1, 2};
static const DML_BUFFER_TENSOR_DESC small_buffer = {
    DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 2, smaller, NULL, 8, 0};
static const DML_BUFFER_TENSOR_DESC large_buffer = {
    DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 2, larger, NULL, 16, 0};
static const DML_TENSOR_DESC input = {DML_TENSOR_TYPE_BUFFER, &small_buffer};
static const DML_TENSOR_DESC output = {DML_TENSOR_TYPE_BUFFER, &large_buffer};
static const DML_RESAMPLE_OPERATOR_DESC resample = {
    &input, &output, DML_INTERPOLATION_MODE_LINEAR, 2, scales};

const DML_OPERATOR_DESC described = {DML_OPERATOR_RESAMPLE, &resample};
"""


@pytest.fixture(scope="module")
def library(header):
    """Return functions and data compiled against the header."""
    (header / "library.c").write_text(PROGRAM, encoding="utf-8")
    command = [
        compiler("gcc", "cc"),
        "-std=c11",
        *WARNINGS,
        "-shared",
        "-fPIC",
        "library.c",
        "-o",
        "library.so",
    ]
    compiles(command, header)
    return ctypes.CDLL(str(header / "library.so"))


def test_c_reads_what_pack_wrote(library):
    desc = Resample1OperatorDesc(
        BufferTensorDesc("FLOAT32", (2, 3), (5, 1)), BufferTensorDesc("FLOAT32", (2, 6)), "LINEAR", None,
        [1, 2], [0, 0.5], [0, -0.25],
    )  # fmt: skip
    library.mixed.restype = ctypes.c_double
    # 8 elements from the first to the last are 32 bytes.
    assert library.mixed(abi.pack(desc)) == 1000 * 32 + 100 * 1 + 1 + (1 + 2) + 0.5 * 16 - 0.25 * 64


def test_what_c_wrote_is_read_checked_and_run(library):
    described = abi.STRUCTURES["DML_OPERATOR_DESC"].in_dll(library, "described")
    desc = abi.read(described)
    assert check(desc) == []
    assert run(desc, [np.array([0, 1], np.float32)]).tolist() == [[0, 0.25, 0.75, 1]]


def test_rust(capsys, tmp_path):
    program = compiler("rustc")
    text = printed(capsys, "--all", "--lang", "rust")
    for name, kind in abi.STRUCTS.items():
        layout = kind.layout(NATIVE)
        text += f"const _: () = assert!(core::mem::size_of::<{name}>() == {layout.size});\n"
        for field, place in layout.offsets.items():
            text += f"const _: () = assert!(core::mem::offset_of!({name}, {field}) == {place});\n"
    (tmp_path / "structs.rs").write_text(text, encoding="utf-8")
    compiles([program, "--edition=2021", "--crate-type=lib", "--emit=metadata", "structs.rs"], tmp_path)
