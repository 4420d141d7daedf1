"""`remapnd bench`: what it prints, writes and draws, and what it says about wrong options."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from remapnd.bench import libraries, picture, report, results, run, timing
from remapnd.bench.cases import CASES, SWEEPS
from remapnd.bench.gathers import Gather
from remapnd.bench.problems import Agreement
from remapnd.bench.results import Entry, Results, Row
from remapnd.bench.timing import Timing
from remapnd.cli import main

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def light(monkeypatch):
    """Measure the copy bandwidth of less memory."""
    monkeypatch.setattr(timing, "_COPIED", 1 << 20)


@pytest.fixture
def sample():
    """Results with a gain, a loss, a refused peer, a float, and a sweep."""

    def entry(median, wrong=0.0, greatest=None, **more):
        return Entry(Agreement(True, wrong, greatest, "rule"), Timing(median, median / 1.1, 5), **more)

    refused = Entry(Agreement(False, 0.5, 3.0, "within 1"), reason="50.0% of the values differ by up to 3")
    noisy = Entry(Agreement(True, 0.25, 1.0, "within 1"), Timing(3e-3, 2e-3, 5))
    moved, sized = {"growth": 2048}, {"growth": 3 << 20}
    rows = [
        Row("gather_x", "gather things", "gather", 100, 2_000_000, {
            "remapnd": entry(1e-3, **moved), "remapnd:allocating": entry(9e-4), "numpy": entry(2e-3, **sized),
        }),
        Row("linear_x", "resize things", "resample", 100, 1_000_000, {
            "remapnd": entry(4e-3, greatest=0.0), "cv2": noisy, "torch": refused,
        }),
        Row("float_x", "resize floats", "resample", 100, 1_000_000, {
            "remapnd": entry(1e-4, 0.3, 1e-7), "cv2": entry(2e-4, 0.2, 1.26e-7),
        }),
        Row("sweep_gather_1e3", "gather", "sweep", 1000, None, {
            "remapnd": entry(1e-6), "numpy": entry(2e-6),
        }),
        Row("sweep_gather_1e4", "gather", "sweep", 10000, None, {
            "remapnd": entry(1e-5), "numpy": entry(3e-5),
        }),
    ]  # fmt: skip
    return Results(
        when="2026-01-02 03:04:05",
        machine="Some processor, Linux x86_64",
        level="v3",
        threads=1,
        quick=False,
        versions={"remapnd": "0.1.0", "numpy": "2.0", "cv2": "5.0"},
        absent={"torch": "No module named 'torch'"},
        bandwidth=[8e9, 10e9, 12e9],
        rows=rows,
    )


def test_ratios(sample):
    gain, loss, *_ = sample.rows
    assert gain.best_peer == ("numpy", Timing(2e-3, 2e-3 / 1.1, 5))
    assert gain.ratio == pytest.approx(2)
    assert loss.ratio == pytest.approx(0.75)
    assert loss.ratio_of_minima == pytest.approx(0.55)
    assert gain.copy_fraction(gain.own, 10e9) == pytest.approx(0.2)
    assert sample.geometric_means["resample"] == pytest.approx(math.sqrt(0.75 * 2))


def test_terminal(sample):
    lines = report.header_lines(sample, ["gather_x", "linear_x"])
    assert lines[0] == "Some processor, Linux x86_64; 1 thread; level v3"
    assert lines[1] == "copy bandwidth 10.0 GB/s read and written (best 12.0)"
    assert lines[3] == "not installed: torch"
    rows = [report.row_line(sample, row, 16).split() for row in sample.rows]
    assert " ".join(rows[0]) == "gather_x 1.00 ms numpy 2.00 ms 2.00 0.20 remapnd:allocating 900 us"
    assert " ".join(rows[1]) == "linear_x 4.00 ms cv2 3.00 ms~ 0.75 0.03 torch NOT TIMED"
    assert " ".join(rows[3]) == "sweep_gather_1e3 1 ns numpy 2 ns 2.00 -"
    footer = "\n".join(report.footer_lines(sample))
    assert "Times of sweeps are those of one element." in footer
    assert "not timed:\n  linear_x: torch: 50.0% of the values differ by up to 3" in footer
    assert "slower than the best peer: linear_x 0.75" in footer
    assert "gather_x  remapnd 2 KiB, numpy 3.0 MiB" in footer


def test_columns_of_the_terminal_are_aligned(sample):
    *_, head = report.header_lines(sample, [row.name for row in sample.rows])
    for row in sample.rows:
        line = report.row_line(sample, row, 16)
        unit = next(unit for unit in (" ms", " us", " ns") if unit in line[:30])
        assert line.index(unit) + len(unit) == head.index("remapnd") + len("remapnd")
        assert line[head.index("best peer") :].startswith(("numpy", "cv2"))


def test_markdown(sample):
    lines = report.markdown(sample).splitlines()
    assert "| gather_x | 1.00 ms | **900 us** | 2.00 ms | 2.00 | 2.00 | 0.20 |" in lines
    assert "| linear_x | 4.00 ms | **3.00 ms~** | refused | 0.75 | 0.55 | 0.03 |" in lines
    assert "| linear_x | 0 | 25.0% (by 1) | 50.0% (by 3) |" in lines
    assert "| float_x | 1.0e-07 | 1.3e-07 |  |" in lines
    assert "| sweep_gather_1e4 | **1 ns** | 3 ns | 3.00 | 3.00 |" in lines
    assert "| gather_x | 2 KiB |  | 3.0 MiB |" in lines
    assert "- linear_x: torch: 50.0% of the values differ by up to 3" in lines
    for is_table, table in itertools.groupby(lines, lambda line: line.startswith("|")):
        assert not is_table or len({line.count("|") for line in table}) == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (12.345, "12.3 s"),
        (0.9996, "1.00 s"),
        (0.9994, "999 ms"),
        (1.2345e-3, "1.23 ms"),
        (99.96e-6, "100 us"),
        (9.996e-6, "10.0 us"),
        (6.54321e-7, "654 ns"),
    ],
)
def test_duration(seconds, text):
    assert report.duration(seconds) == text


def test_json_keeps_everything(sample, tmp_path):
    path = tmp_path / "results.json"
    results.write(sample, path)
    assert results.read(path) == sample
    assert json.loads(path.read_text())["rows"][0]["entries"]["numpy"]["growth"] == 3 << 20


def test_picture(sample, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    path = tmp_path / "results.png"
    picture.draw(sample, path)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = (int.from_bytes(content[k : k + 4], "big") for k in (16, 20))
    assert width == 1650
    assert height > 600
    picture.draw(dataclasses.replace(sample, rows=[]), path)
    assert path.read_bytes().startswith(b"\x89PNG")


# The command.


def test_command_measures_writes_and_shows_again(light, tmp_path, capsys):
    json_path, md_path = tmp_path / "results.json", tmp_path / "results.md"
    line = ["bench", "--quick", "--cases", "small_gather*", "--libs", "remapnd,numpy", "--memory"]
    assert main([*line, "--json", str(json_path), "--md", str(md_path)]) == 0
    shown, progress = capsys.readouterr()
    assert progress == ""  # it is not a terminal
    stored = results.read(json_path)
    assert [row.name for row in stored.rows] == ["small_gather", "small_gather_elements", "small_gather_nd"]
    for row in stored.rows:
        assert row.timings.keys() >= {"remapnd"}
        assert row.name in shown
    assert md_path.read_text() == report.markdown(stored)
    assert main(["bench", "--from", str(json_path)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == shown.splitlines()[0]


def test_command_fails_if_remapnd_is_wrong(light, monkeypatch, capsys):
    wrong = {**Gather.calls, "remapnd": lambda self: lambda: self.out}
    monkeypatch.setattr(Gather, "calls", wrong)
    assert main(["bench", "--quick", "--cases", "small_gather", "--libs", "remapnd,numpy"]) == 1
    assert (
        "small_gather: remapnd: 100.0% of the values differ; must be the same bits" in capsys.readouterr().out
    )


def test_interrupted_command_writes_what_it_has(light, monkeypatch, tmp_path, capsys):
    path = tmp_path / "results.json"

    number = itertools.count()

    def interrupted(calls, **options):
        if next(number):
            raise KeyboardInterrupt
        return {}

    monkeypatch.setattr(run, "take_turns", interrupted)
    line = ["bench", "--quick", "--cases", "small", "--libs", "numpy", "--json", str(path)]
    assert main(line) == 130
    assert [row.name for row in results.read(path).rows] == ["small_gather"]
    assert "remapnd: interrupted" in capsys.readouterr().err


def test_progress_is_shown_on_a_terminal(light, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert main(["bench", "--quick", "--cases", "small_gather", "--libs", "remapnd,numpy"]) == 0
    assert (
        "\r\x1b[K[1/1] small_gather: timing remapnd, remapnd:allocating, numpy\r" in capsys.readouterr().err
    )


def test_list(capsys):
    assert main(["bench", "--list", "--sweep", "4", "--cases", "sweep_*,small"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 + 2 * len(SWEEPS)
    assert " ".join(lines[0].split()) == "small_gather small gather float32 (64,), int64 indices (16,)"


@pytest.mark.parametrize(("options", "largest"), [([], 8), (["--quick"], 6), (["--sweep", "5"], 5)])
def test_sweeps_are_listed_if_asked_for(options, largest, capsys):
    assert main(["bench", "--list", "--cases", "sweep_gather_1*", *options]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == [f"sweep_gather_1e{power}" for power in range(3, largest + 1)]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            ["--cases", "gather,nothing"],
            "--cases must match names or families that --list shows, got 'nothing'",
        ),
        (["--cases", "small", "--sweep"], "--sweep with --cases must have sweep among them, got 'small'"),
        (["--libs", "numpy,nothing"], "--libs must be of remapnd, numpy, .*, skimage, got 'nothing'"),
        (["--threads", "4097"], r"--threads must be in \[1, \d+\], the processors here, got 4097"),
        (
            ["--json", "/no/such/place"],
            "--json must be a file in a directory that exists, got /no/such/place",
        ),
    ],
)
def test_wrong_options(options, text, capsys):
    assert main(["bench", *options]) == 2
    assert re.fullmatch(f"remapnd bench: {text}\n", capsys.readouterr().err)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 0}', '{"format": 1, "rows": [{}]}'])
def test_from_another_file(content, tmp_path, capsys):
    path = tmp_path / "other.json"
    path.write_text(content)
    assert main(["bench", "--from", str(path)]) == 1
    expected = f"remapnd bench: {path}: must be a file of remapnd bench --json, of format 1\n"
    assert capsys.readouterr().err == expected


def test_from_no_file(tmp_path, capsys):
    path = tmp_path / "none.json"
    assert main(["bench", "--from", str(path)]) == 1
    assert capsys.readouterr().err == f"remapnd bench: {path}: No such file or directory\n"


def test_picture_without_matplotlib(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    libraries.load.cache_clear()
    assert main(["bench", "--png", str(tmp_path / "x.png")]) == 2
    assert capsys.readouterr().err.startswith("remapnd bench: --png needs matplotlib, as 'remapnd[bench]'")
    libraries.load.cache_clear()


def test_module_and_command_are_one():
    listed = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--list"], cwd=ROOT, text=True, capture_output=True, check=True
    ).stdout
    assert [line.split()[0] for line in listed.splitlines()] == [case.name for case in CASES]


def test_other_commands_do_not_import_it():
    code = "import sys, remapnd.cli; print([n for n in sys.modules if n.startswith('remapnd.bench')])"
    assert (
        subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True).stdout
        == "[]\n"
    )
