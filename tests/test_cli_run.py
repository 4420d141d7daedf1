import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dxdispatch_models import ABSENT, GATHER_ND, changed, save

from remapnd import _core
from remapnd._version import __version__
from remapnd.cli import main, run

EXAMPLES = Path(__file__).parent.parent / "examples"
PRINT = {"type": "print", "resource": "output"}
BAD_SIZE = changed(GATHER_ND, ("dispatchables/gather/desc/InputTensor/Sizes", [0, 2]))


def _python(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "remapnd", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


# Output


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("gather_nd", ["Resource 'output': 2, 3, 4, 5"]),
        ("gather_nd1", ["Resource 'output': 2, 3, 4, 5"]),
        ("gather_elements", ["Resource 'dst': 0, 2, 1, 7, 5, 4"]),
        (
            "resample",
            [
                "Resource 'linear': 1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, "
                "3.5, 3, 3.25, 3.75, 4",
                "Resource 'nearest': 1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4",
            ],
        ),
        ("resample1", ["Resource 'corners': 0, 0.5, 1, 1.5, 2", "Resource 'half': 1, 3, 5"]),
        ("scatter_nd", ["Resource 'output': 10, 11, 2, 3, 20, 21"]),
        (
            "upsample_2d",
            ["Resource 'output': 1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4"],
        ),
    ],
)
def test_examples(capsys, name, lines):
    assert main(["run", str(EXAMPLES / f"{name}.json")]) == 0
    assert capsys.readouterr() == ("\n".join(lines) + "\n", "")


def test_every_example_is_tested_and_commented():
    names = {path.stem for path in EXAMPLES.glob("*.json")}
    others = {"scatter_nd", "upsample_2d"}
    assert names == {"gather_nd", "gather_nd1", "gather_elements", "resample", "resample1"} | others
    assert all(path.read_text().startswith("// DML_OPERATOR_") for path in EXAMPLES.glob("*.json"))


def test_several_models_are_printed_under_their_names(tmp_path, capsys):
    files = [save(tmp_path, GATHER_ND, name) for name in ("a.json", "b.json")]
    assert main(["run", *files]) == 0
    line = "Resource 'output': 2, 3, 0, 1"
    assert capsys.readouterr().out.splitlines() == [f"== {files[0]}", line, f"== {files[1]}", line]


def test_models_as_options(tmp_path, capsys):
    path = save(tmp_path, GATHER_ND)
    assert main(["run", "-m", path]) == 0
    assert main(["run", "--model", path, "-d", "--adapter", "any", "-q", "compute"]) == 0
    assert capsys.readouterr().out == "Resource 'output': 2, 3, 0, 1\n" * 2


@pytest.mark.parametrize(
    "options", [["-v", "0"], ["-i", "3"], ["-r", "3"], ["-w", "0"], ["-t", "1"], ["-I", "0"]]
)
def test_any_timing_option_brings_the_timings(tmp_path, capsys, options):
    assert main(["run", *options, save(tmp_path, GATHER_ND)]) == 0
    first, second, third = capsys.readouterr().out.splitlines()
    threads = _core.get_num_threads()
    assert first == f"Running on 'CPU, level {_core.level()}, {threads} threads, remapnd {__version__}'"
    assert re.fullmatch(r"Dispatch 'gather': \d+ iterations, \d+\.\d{4} ms median \(CPU\)", second)
    assert third == "Resource 'output': 2, 3, 0, 1"


def test_verbosity_iterations_and_warmup(tmp_path, capsys):
    assert main(["run", "-v", "2", "-i", "4", "-w", "3", save(tmp_path, GATHER_ND)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "Dispatch 'gather': 4 iterations"
    assert lines[3].startswith("CPU Timings (Cold) : 3 samples, ")
    assert lines[4].startswith("CPU Timings (Hot)  : 1 samples, ")
    assert [line.split(":")[0] for line in lines[6:-1]] == [f"iteration {i}" for i in range(4)]


def test_print_commands(tmp_path, capsys):
    assert main(["run", "--print_commands", save(tmp_path, GATHER_ND)]) == 0
    assert '[StartCmd][0001]\t: {"type":"print","resource":"output"}\n' in capsys.readouterr().out


def test_paths(tmp_path, capsys):
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "data.bin").write_bytes(bytes(16))
    model = changed(
        GATHER_ND,
        ("resources/input/initialValues", {"sourcePath": "data.bin"}),
        ("commands/1", {"type": "writeFile", "resource": "output", "targetPath": "out.bin"}),
    )
    path = save(tmp_path, model)
    assert main(["run", path, "--input_path", str(source), "--output_path", str(target)]) == 0
    assert (target / "out.bin").read_bytes() == bytes(16)
    assert capsys.readouterr() == (f"Resource 'output' written to '{target / 'out.bin'}'\n", "")


@pytest.mark.parametrize("level", ["3_0", "3.0", "3", "DML_FEATURE_LEVEL_3_0"])
def test_feature_level(tmp_path, capsys, level):
    path = save(tmp_path, GATHER_ND)
    assert main(["run", path, "--dml_feature_level", level]) == 0
    assert main(["run", path, "--dml_feature_level", "2_1"]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 3
    assert errors[0] == (
        f"remapnd run: error: {path}: dispatchables.gather: GATHER_ND: `InputTensor.DimensionCount` must be "
        "4 at feature level 2_1, got 2 "
        "(accepted from 3_0)"
    )


def test_adapters_and_dependencies(tmp_path, capsys):
    assert main(["run", "-s"]) == 0
    adapter = capsys.readouterr().out
    assert adapter.startswith(f"CPU, level {_core.level()}, ")
    assert main(["run", "--show_dependencies", "--show_adapters", save(tmp_path, GATHER_ND)]) == 0
    versions, again, printed = capsys.readouterr().out.splitlines()
    assert re.fullmatch(rf"remapnd {re.escape(__version__)}, NumPy [0-9.]+\S*, Python [0-9.]+\S*", versions)
    assert (again + "\n", printed) == (adapter, "Resource 'output': 2, 3, 0, 1")


def test_known_bugs_of_dxdispatch(tmp_path, capsys):
    model = {
        "resources": {
            "text": {
                "initialValuesDataType": "UINT8",
                "initialValues": [72, 105],
                "initialValuesOffsetInBytes": 2,
                "sizeInBytes": 4,
            }
        },
        "dispatchables": {},
        "commands": [
            {"type": "print", "resource": "text"},
            {"type": "writeFile", "resource": "text", "targetPath": "text.bin"},
        ],
    }
    arguments = ["run", save(tmp_path, model), "--output_path", str(tmp_path)]
    for switch, printed, written in (("off", "72, 105", b"\0\0Hi"), ("on", "H, i", b"Hi\0\0")):
        assert main([*arguments, "--policy", f"dxdispatch_compat={switch}"]) == 0
        assert capsys.readouterr().out.startswith(f"Resource 'text': {printed}\n")
        assert (tmp_path / "text.bin").read_bytes() == written


def test_policy(tmp_path, capsys):
    model = changed(GATHER_ND, ("resources/indices/initialValues", [9, 0]))
    path = save(tmp_path, model)
    assert main(["run", path, "--policy", "gather_oob=zero"]) == 0
    assert capsys.readouterr().out == "Resource 'output': 0, 0, 0, 1\n"
    assert main(["run", path, "--policy", "gather_oob=clamp", "--policy", "gather_oob=error"]) == 1
    assert capsys.readouterr().err.startswith(f"remapnd run: error: {path}: `commands[0]`: ")


def test_characters_that_the_terminal_lacks(tmp_path):
    model = changed(
        GATHER_ND,
        ("resources/größe\ud800", GATHER_ND["resources"]["output"]),
        ("commands/1/resource", "größe\ud800"),
    )
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    process = _python("run", save(tmp_path, json.dumps(model)), env=environment)
    out, errors = process.communicate()
    assert (out, errors, process.returncode) == ("Resource 'gr\\xf6\\xdfe\\ud800': 9, 9, 9, 9\n", "", 0)


# Bad input


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("{", "{path}:1:2: expected a key in double quotes or a closing brace, got the end of the file"),
        (
            changed(GATHER_ND, ("commands/1/resource", "o")),
            "{path}: `commands[1].resource` must name a resource of the model (input, "
            'indices, output), got "o"',
        ),
        (
            BAD_SIZE,
            "{path}: dispatchables.gather: GATHER_ND: `InputTensor.Sizes[0]` must be an "
            "integer in [1, 4294967295], got 0",
        ),
        (
            changed(GATHER_ND, ("commands/0/bindings/InputTensor", ABSENT)),
            "{path}: `commands[0].bindings` must bind InputTensor, got bindings of "
            "IndicesTensor, OutputTensor",
        ),
    ],
)
def test_a_bad_model_is_one_line_and_does_nothing(tmp_path, capsys, model, message):
    target = tmp_path / "target"
    if isinstance(model, dict):
        first = {"type": "writeFile", "resource": "input", "targetPath": "out.bin"}
        model = changed(model, ("commands", [*model["commands"], first]))
    path = save(tmp_path, model)
    assert main(["run", path, "--output_path", str(target)]) == 1
    assert capsys.readouterr() == ("", f"remapnd run: error: {message.replace('{path}', path)}\n")
    assert not target.exists()


def test_all_violations_are_listed(tmp_path, capsys):
    model = changed(BAD_SIZE, ("dispatchables/gather/desc/OutputTensor/Sizes", [2, 0]))
    assert main(["run", save(tmp_path, model)]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert [re.search("`.*`", line).group() for line in errors] == [
        "`InputTensor.Sizes[0]`",
        "`OutputTensor.Sizes[1]`",
    ]


def test_a_bad_model_does_not_stop_the_others(tmp_path, capsys):
    bad, good = save(tmp_path, "[", "bad.json"), save(tmp_path, GATHER_ND, "good.json")
    assert main(["run", bad, good]) == 1
    assert capsys.readouterr() == (
        f"== {bad}\n== {good}\nResource 'output': 2, 3, 0, 1\n",
        f"remapnd run: error: {bad}:1:2: expected a value, got the end of the file\n",
    )


def test_no_model(capsys):
    assert main(["run"]) == 2
    assert capsys.readouterr() == (
        "",
        "remapnd run: error: at least one MODEL.json must be given, got none\n",
    )


def test_a_file_that_is_no_model(tmp_path, capsys):
    missing, script = str(tmp_path / "none.json"), tmp_path / "script.py"
    script.write_text("import os\n")
    assert main(["run", missing, str(script)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"remapnd run: error: {missing}: must be a file that can be read (No such file or directory)",
        f"remapnd run: error: {script}:1:1: expected a model in JSON, got import os",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: SUB-COMMAND"),
        (
            ["walk"],
            "argument SUB-COMMAND: must be one of run, check, levels, struct, lint, resize, explain, "
            "bench, selftest, config, got 'walk'\n",
        ),
        (["runn", "x"], "selftest, config, got 'runn' (did you mean 'run'?)\n"),
        (["run", "x", "--dml_feature_level", "3_9"], "must be one of 1_0, 2_0, 2_1, 3_0, "),
        (["run", "x", "-i", "0"], "must be an integer of at least 1, got '0'"),
        (["run", "x", "-i", "1.5"], "must be an integer of at least 1, got '1.5'"),
        (["run", "x", "-w", "-1"], "must be an integer of at least 0, got '-1'"),
        (["run", "x", "-t", "nan"], "must be a number of milliseconds in [0, 1,000,000,000], got 'nan'"),
        (["run", "x", "-I", "1e300"], "must be a number of milliseconds in [0, 1,000,000,000], got '1e300'"),
        (["run", "x", "-v", "3"], "invalid choice: 3"),
        (["run", "x", "--policy", "foo"], "must be NAME=VALUE, such as gather_oob=clamp, got 'foo'"),
        (
            ["run", "x", "--policy", "off_axis"],
            "must be NAME=VALUE, such as off_axis=lenient, got 'off_axis'",
        ),
        (["run", "x", "--policy", "oob=zero"], "NAME must be one of gather_oob, gather_under, "),
        (
            ["run", "x", "--policy", "gather_oob=drop"],
            "gather_oob must be one of clamp, zero, error, got 'drop'",
        ),
        (
            ["run", "x", "--fast"],
            "usage: remapnd run [options] MODEL.json [MODEL.json ...]\nremapnd run: error: ",
        ),
        (["run", "x", "--fast"], "unrecognized arguments: --fast"),
        (["resize", "a.npy", "b.npy", "--shape", "3", "c"], "usage: remapnd resize "),
    ],
)
def test_bad_options(capsys, arguments, message):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(arguments)
    assert message in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell that closes descriptors")
@pytest.mark.parametrize(
    "arguments", [["config"], ["run", EXAMPLES / "gather_nd.json"], ["run", "none.json"]]
)
def test_output_closed_before_the_start(arguments):
    command = [sys.executable, "-m", "remapnd", *map(str, arguments)]
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, check=False
    )
    reason = "remapnd run: error: none.json: must be a file that can be read (No such file or directory)\n"
    assert (done.returncode, done.stderr) == ((1, reason) if "none.json" in arguments else (0, ""))


def test_memory_that_is_not_there(capsys, monkeypatch):
    def no_memory(*arguments):
        raise MemoryError("Unable to allocate 8.00 GiB")

    monkeypatch.setattr(run, "execute", no_memory)
    assert main(["run", str(EXAMPLES / "gather_nd.json")]) == 1
    assert capsys.readouterr() == ("", "remapnd: out of memory (Unable to allocate 8.00 GiB)\n")


@pytest.mark.parametrize("command", ["run", "check", "levels", "resize", "selftest", "config"])
def test_help_has_an_example(capsys, command):
    with pytest.raises(SystemExit, match=r"^0$"):
        main([command, "--help"])
    assert re.search(rf"example[^\n]*[:\n]\s*remapnd {command}", capsys.readouterr().out)


@pytest.mark.parametrize("command", ["run", "check"])
def test_help_tells_policies(capsys, command):
    with pytest.raises(SystemExit, match=r"^0$"):
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "gather_oob=clamp (or zero, error), gather_under=clamp0 (or clampN), " in text


def test_version(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"remapnd {__version__}\n"


def test_config(capsys):
    assert main(["config"]) == 0
    assert __version__ in capsys.readouterr().out


# As a process


def test_level_that_cannot_be_used():
    process = _python("config", env=os.environ | {"REMAPND_ISA": "avx9"})
    out, errors = process.communicate()
    assert (out, process.returncode) == ("", 1)
    assert errors.startswith("remapnd: error: REMAPND_ISA must be one of plain")
    assert errors.endswith("got 'avx9'\n")
    assert errors.count("\n") == 1


def test_level_that_can_be_used():
    process = _python("config", env=os.environ | {"REMAPND_ISA": "plain", "REMAPND_NUM_THREADS": "3"})
    out, errors = process.communicate()
    assert (errors, process.returncode) == ("", 0)
    assert re.search(r"^level +plain\n", out, re.MULTILINE)
    assert re.search(r"^threads +3\n", out, re.MULTILINE)


def test_number_of_threads_that_is_malformed():
    process = _python("config", env=os.environ | {"REMAPND_NUM_THREADS": "4x"})
    out, errors = process.communicate()
    assert (out.count("REMAPND_NUM_THREADS"), process.returncode) == (1, 0)
    assert re.fullmatch(
        r"remapnd: warning: REMAPND_NUM_THREADS must be an integer of at least 1, got '4x'; using \d+\n",
        errors,
    )


def test_help_tells_the_environment_variables(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["config", "--help"])
    text = capsys.readouterr().out
    assert "REMAPND_ISA=LEVEL" in text
    assert "REMAPND_NUM_THREADS=N" in text


def test_exit_status_of_the_process(tmp_path):
    for model, status in ((GATHER_ND, 0), ("[", 1)):
        process = _python("run", save(tmp_path, model))
        out, errors = process.communicate()
        assert process.returncode == status
        assert out.count("\n") == (1 if status == 0 else 0)
        assert errors.count("\n") == (0 if status == 0 else 1)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_interrupt(tmp_path):
    process = _python(
        "run", "-t", "60000", save(tmp_path, changed(GATHER_ND, ("commands", GATHER_ND["commands"][::-1])))
    )
    assert process.stdout.readline().startswith("Running on ")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert (errors, process.returncode) == ("remapnd: interrupted\n", 130)


def test_interrupt_within_the_process(tmp_path, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "execute", interrupted)
    assert main(["run", save(tmp_path, GATHER_ND)]) == 130
    assert capsys.readouterr().err == "remapnd: interrupted\n"


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_reader_that_goes_away(tmp_path):
    large = {"initialValuesDataType": "UINT32", "initialValues": {"valueCount": 200_000, "value": 123456789}}
    model = changed(GATHER_ND, ("resources/large", large), ("commands", [PRINT | {"resource": "large"}] * 3))
    process = _python("run", save(tmp_path, model))
    process.stdout.read(10)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (errors, process.wait(20)) == ("", 141)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_output_that_cannot_be_written(tmp_path):
    with open("/dev/full", "w") as full:
        arguments = [sys.executable, "-m", "remapnd", "run", save(tmp_path, GATHER_ND)]
        process = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert process.returncode == 1
    assert process.stderr == "remapnd: the output cannot be written (No space left on device)\n"
