"""show_config, the thread functions' checks, and the environment variables."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

from remapnd import _core, _version, command_line, config


@pytest.fixture(autouse=True)
def _restore():
    threads, here, level = _core.get_num_threads(), _core.get_num_threads_here(), _core.level()
    yield
    _core.set_num_threads(threads)
    _core.set_num_threads_here(here)
    assert _core.use_level(level)


def test_get_config():
    found = config.get_config()
    assert found["version"] == _version.__version__
    assert found["numpy"] == np.__version__
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["levels_built"][0] == "plain"
    assert set(found["levels_usable"]) <= set(found["levels_built"])
    assert found["level"] in found["levels_usable"]
    with config.num_threads(5):
        assert config.get_config()["num_threads"] == 5


def test_show_config_prints_it_and_returns_nothing(capsys, monkeypatch):
    monkeypatch.delenv("REMAPND_ISA", raising=False)
    monkeypatch.setenv("REMAPND_NUM_THREADS", "7")
    assert config.show_config() is None
    rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    rows = {name.strip(): value.strip() for name, value in rows.items()}
    assert rows["remapnd"] == _version.__version__
    assert rows["level"] == _core.level()
    assert rows["levels usable"].split() == _core.levels_usable()
    assert rows["threads"] == str(_core.get_num_threads())
    assert rows["NumPy"] == np.__version__
    assert rows["REMAPND_NUM_THREADS"] == "7"
    assert "REMAPND_ISA" not in rows


def test_set_and_get_num_threads():
    for n in (1, 3, np.int8(2), 1024):
        config.set_num_threads(n)
        assert config.get_num_threads() == n


def test_num_threads_nests_and_restores():
    config.set_num_threads(7)
    with config.num_threads(3):
        assert config.get_num_threads() == 3
        with config.num_threads(2):
            assert config.get_num_threads() == 2
        assert config.get_num_threads() == 3
        config.set_num_threads(9)
        assert config.get_num_threads() == 3
    assert config.get_num_threads() == 9


def test_num_threads_restores_after_an_error():
    before = config.get_num_threads()
    with pytest.raises(KeyError), config.num_threads(before + 1):
        raise KeyError
    assert config.get_num_threads() == before


def test_num_threads_decorates():
    @config.num_threads(6)
    def inside():
        return config.get_num_threads()

    assert [inside(), inside()] == [6, 6]


def test_num_threads_is_of_this_thread_alone():
    config.set_num_threads(4)
    seen = []
    with config.num_threads(2):
        thread = threading.Thread(target=lambda: seen.append(config.get_num_threads()))
        thread.start()
        thread.join()
    assert seen == [4]


@pytest.mark.parametrize("function", [config.set_num_threads, config.num_threads])
@pytest.mark.parametrize("n", [0, -1, 1025, 2**40])
def test_number_of_threads_out_of_range(function, n):
    with pytest.raises(ValueError, match=rf"^{function.__name__}: `n` must lie in \[1, 1024\], got {n}$"):
        function(n)


@pytest.mark.parametrize("function", [config.set_num_threads, config.num_threads])
@pytest.mark.parametrize("n", [True, np.True_, 2.0, "2", None])
def test_number_of_threads_that_is_no_integer(function, n):
    with pytest.raises(TypeError, match=rf"^{function.__name__}: `n` must be an integer, got "):
        function(n)


@pytest.mark.parametrize("level", _core.levels_usable())
def test_level_from_the_environment(level):
    config.apply_environment({"REMAPND_ISA": level})
    assert _core.level() == level


@pytest.mark.parametrize(("level", "meant"), [("v9", None), ("PLAIN", "plain"), ("plain ", "plain")])
def test_level_that_cannot_be_used(level, meant):
    before = _core.level()
    usable = ", ".join(_core.levels_usable())
    end = re.escape(f"got '{level}'" + (f" (did you mean '{meant}'?)" if meant else ""))
    with pytest.raises(RuntimeError, match=rf"^REMAPND_ISA must be one of {usable} on .*, {end}$"):
        config.apply_environment({"REMAPND_ISA": level})
    assert _core.level() == before


@pytest.mark.parametrize("threads", ["", "1", "4", " 4 ", "0016", "99999999999999999999"])
def test_number_of_threads_that_the_core_understands(threads):
    config.set_num_threads(3)
    config.apply_environment({"REMAPND_NUM_THREADS": threads, "REMAPND_ISA": ""})
    assert config.get_num_threads() == 3  # the core reads the variable itself, on first use


@pytest.mark.parametrize("threads", ["0", "-1", "four", "4x", "2.5", " ", "+", "\N{ARABIC-INDIC DIGIT FOUR}"])
def test_number_of_threads_that_is_malformed(threads):
    text = r"^REMAPND_NUM_THREADS must be an integer of at least 1, got '.*'; using \d+$"
    with pytest.warns(RuntimeWarning, match=text) as caught:
        config.apply_environment({"REMAPND_NUM_THREADS": threads})
    assert repr(threads) in str(caught[0].message)
    assert 1 <= config.get_num_threads() <= (os.cpu_count() or 1)


def test_environment_of_the_process_by_default(monkeypatch):
    monkeypatch.setenv("REMAPND_ISA", "avx9")
    with pytest.raises(RuntimeError, match=r"got 'avx9'$"):
        config.apply_environment()
    parameter = inspect.signature(config.apply_environment).parameters["environment"]
    assert parameter.default is None  # help() would print the environment otherwise


@pytest.mark.parametrize(
    ("argv", "orig_argv", "expected"),
    [
        (["-m"], ["python", "-m", "remapnd"], True),
        (["-m", "run", "x.json"], ["python", "-X", "dev", "-mremapnd", "run", "x.json"], True),
        (["-m", "-m", "remapnd"], ["python", "-m", "pytest", "-m", "remapnd"], False),
        (["-m", "remapnd"], ["python", "-m", "timeit", "remapnd"], False),
        (["-m"], [], False),
        (["/usr/bin/remapnd", "run"], ["python", "/usr/bin/remapnd", "run"], True),
        (["remapnd.exe"], ["python", "remapnd.exe"], True),
        (["script.py", "-m", "remapnd"], ["python", "script.py", "-m", "remapnd"], False),
        (["-c"], ["python", "-c", "import remapnd"], False),
        ([""], ["python"], False),
        ([], [], False),
    ],
)
def test_runs_command_line(monkeypatch, argv, orig_argv, expected):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", orig_argv)
    assert command_line.runs_command_line() is expected


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | environment
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, text=True, capture_output=True, check=False
    )


def test_import_obeys_the_environment():
    code = "import remapnd; c = remapnd.get_config(); print(c['level'], c['num_threads'])"
    done = run(code, REMAPND_ISA="plain", REMAPND_NUM_THREADS="3")
    assert (done.stdout, done.stderr) == ("plain 3\n", "")


def test_import_with_a_level_that_cannot_be_used():
    done = run("import remapnd", REMAPND_ISA="avx9")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: REMAPND_ISA must be one of plain")
    assert last.endswith("got 'avx9'")


def test_import_with_a_malformed_number_of_threads_warns_once():
    done = run(
        "import remapnd, remapnd.config; print(remapnd.get_num_threads() > 0)", REMAPND_NUM_THREADS="4x"
    )
    assert done.stdout == "True\n"
    assert done.stderr.startswith("<string>:1: RuntimeWarning: ")  # the line that imports
    assert (
        done.stderr.count("RuntimeWarning: REMAPND_NUM_THREADS must be an integer of at least 1, got '4x'")
        == 1
    )
