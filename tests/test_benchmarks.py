"""The benchmark: that its results agree, that its judges and clocks are right, and what it prints."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import os
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import remapnd
from remapnd.bench import libraries, picture, problems, report, results, run, timing
from remapnd.bench.cases import CASES, SWEEPS, sweep_cases
from remapnd.bench.gathers import Gather, GatherElements, GatherND
from remapnd.bench.problems import Agreement
from remapnd.bench.resizes import Resize
from remapnd.bench.results import Entry, Results, Row
from remapnd.bench.scatters import ScatterElements, ScatterND
from remapnd.bench.timing import Timing
from remapnd.cli import main

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def found():
    """Every library of the table that is installed, with one thread."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers, at import and afterwards
        with libraries.limited_to(1):
            yield libraries.find(libraries.LIBRARIES)[0]


@pytest.fixture
def light(monkeypatch):
    """Measure the copy bandwidth of less memory."""
    monkeypatch.setattr(timing, "_COPIED", 1 << 20)


# Agreement: the same table that is timed, at an eighth of the lengths.


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_libraries_agree(case, found):
    problem = case.make(8)
    calls, entries = run.check(problem, found)
    refused = {label: entry.reason for label, entry in entries.items() if label not in calls}
    assert not refused
    has_it = case.family != "scatter" or hasattr(remapnd, case.name.partition("_f32")[0].rsplit("_", 1)[0])
    assert ("remapnd" in calls) == has_it
    assert any(label.startswith("numpy") for label in calls)
    twin = problem.twin()
    for label in calls:
        if results.is_own(label):
            result = calls[label]()
            assert (result.dtype, result.shape) == (twin.dtype, twin.shape)
            assert result.tobytes() == twin.tobytes()


@pytest.mark.parametrize("case", sweep_cases(4), ids=lambda case: case.name)
def test_sweeps_agree_and_have_their_size(case, found):
    problem = case.make(1)
    calls, entries = run.check(problem, found)
    assert calls.keys() == entries.keys() >= {"remapnd", "numpy"}
    wanted = 10 ** int(case.name[-1])
    assert 0.8 * wanted < problem.out.size < 1.3 * wanted


def test_names_are_distinct_and_tell_the_family():
    cases = [*CASES, *sweep_cases(8)]
    assert len({case.name for case in cases}) == len(cases)
    assert len(sweep_cases(8)) == 6 * len(SWEEPS)
    assert {case.family for case in cases} == {"gather", "scatter", "resample", "small", "sweep"}


# The judges.


def gather_problem():
    return Gather(np.arange(12, dtype=np.float32).reshape(4, 3), np.array([3, 0, 3]))


def resize_problem(dtype="uint8", mode="linear", shape=(6, 8), lengths=(9, 5)):
    rng = np.random.default_rng(3)
    data = (
        rng.random(shape).astype(dtype) if np.dtype(dtype).kind == "f" else rng.integers(0, 200, shape, dtype)
    )
    return Resize(data, lengths, axes=tuple(range(len(shape))), mode=mode)


def test_a_moved_value_must_have_the_same_bits():
    problem = gather_problem()
    twin = problem.twin()
    assert problem.judge(twin, exactly=False) == Agreement(True, 0, None, "the same bits")
    twin[1, 1] = -twin[1, 0]  # -0.0 for 0.0
    twin[1, 0] = -0.0
    judged = problem.judge(twin, exactly=False)
    assert not judged.ok
    assert judged.wrong == 2 / 9


@pytest.mark.parametrize("problem", [gather_problem(), resize_problem()], ids=["gather", "resize"])
@pytest.mark.parametrize("other", [lambda a: a[:-1], lambda a: a.astype(np.float64)], ids=["shape", "dtype"])
def test_another_shape_or_dtype_is_refused(problem, other):
    twin = problem.twin()
    judged = problem.judge(other(twin), exactly=False)
    assert (judged.ok, judged.wrong) == (False, 1)
    assert f"{twin.dtype} {twin.shape}, got " in judged.rule


@pytest.mark.parametrize(("dtype", "near", "far"), [("uint8", 1, 2), ("uint16", 64, 65)])
def test_peers_have_a_tolerance_and_remapnd_has_none_for_integers(dtype, near, far):
    problem = resize_problem(dtype)
    twin = problem.twin()
    assert problem.judge(twin, exactly=True).ok
    assert problem.judge(twin + twin.dtype.type(near), exactly=False)[:3] == (True, 1, near)
    assert not problem.judge(twin + twin.dtype.type(near), exactly=True).ok
    assert not problem.judge(twin + twin.dtype.type(far), exactly=False).ok


@pytest.mark.parametrize(("dtype", "near", "far"), [("float32", 4e-3, 6e-3), ("float16", 8e-3, 2e-2)])
def test_tolerances_of_floats(dtype, near, far):
    problem = resize_problem(dtype)
    twin = problem.twin()
    assert problem.judge(twin, exactly=True).ok
    assert problem.judge(twin + twin.dtype.type(near), exactly=False).ok
    assert not problem.judge(twin + twin.dtype.type(near), exactly=True).ok
    assert not problem.judge(twin + twin.dtype.type(far), exactly=False).ok


def test_nearest_leaves_ties_to_the_rule_of_the_library():
    problem = resize_problem("uint16", "nearest", (64,), (96,))  # every third position is a tie
    down = problem.data[np.ceil((2 * np.arange(96) + 1) / 3 - 1).astype(int)]
    judged = problem.judge(down, exactly=False)
    assert judged.ok
    assert 0.2 < judged.wrong < 0.4
    assert not problem.judge(down, exactly=True).ok
    assert not problem.judge(np.roll(down, 1), exactly=False).ok


def test_sums_may_be_taken_in_any_order():
    rng = np.random.default_rng(5)
    data, updates = rng.random(50).astype(np.float32), rng.random(5000).astype(np.float32)
    problem = ScatterElements(data, rng.integers(0, 50, 5000), updates, reduction="add")
    sums = data.astype(float) + np.bincount(problem.indices, updates, 50)
    other_order = problem.judge(sums.astype(np.float32), exactly=False)
    assert other_order.ok
    assert other_order.wrong == 0
    assert problem.judge(problem.twin(), exactly=True).ok
    assert not problem.judge(sums.astype(np.float32), exactly=True).ok
    assert not problem.judge((sums + 1).astype(np.float32), exactly=False).ok


def exact(data, lengths, place):
    """One value of a linear resize of all axes in fractions, by its definition."""
    corners = [((), Fraction(1))]
    for n, m, at in zip(data.shape, lengths, place, strict=True):
        position = (Fraction(at) + Fraction(1, 2)) * n / m - Fraction(1, 2)
        lower = math.floor(position)
        share = position - lower
        corners = [
            ((*corner, min(max(tap, 0), n - 1)), weight * part)
            for corner, weight in corners
            for tap, part in ((lower, 1 - share), (lower + 1, share))
        ]
    return sum(Fraction(data[corner].item()) * weight for corner, weight in corners)


@given(
    dims=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 9)), min_size=1, max_size=3),
    dtype=st.sampled_from(["uint8", "uint16"]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=150, deadline=None)
def test_expected_values_are_the_exact_ones(dims, dtype, seed):
    shape, lengths = zip(*dims, strict=True)
    data = np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    problem = Resize(data, lengths, axes=tuple(range(len(shape))), mode="linear")
    places = list(itertools.product(*map(range, lengths)))
    numerators, denominator = problem._expected([np.array(axis) for axis in zip(*places, strict=True)])
    for place, numerator in zip(places, numerators.tolist(), strict=True):
        assert Fraction(numerator, denominator) == exact(data, lengths, place)


# Least bytes.


@given(
    items=st.lists(st.integers(0, 40), min_size=1, max_size=20),
    item_bytes=st.integers(1, 200),
)
@settings(max_examples=200)
def test_touched_bytes_count_lines(items, item_bytes):
    total = 41 * item_bytes
    lines = {byte // 64 for item in items for byte in range(item * item_bytes, (item + 1) * item_bytes)}
    assert problems.touched_bytes(np.array(items), item_bytes, total) == min(64 * len(lines), total)


def test_least_bytes_of_gathers():
    data = np.zeros((100, 32), np.float32)  # rows of two lines
    assert Gather(data, np.array([5, 5, 7])).least_bytes() == 2 * 128 + 3 * 8 + 3 * 128
    assert Gather(data, np.array([0, 1, 31]), axis=1).least_bytes() == 100 * 128 + 3 * 8 + 100 * 12
    picked = np.zeros((100, 1), np.int32)
    assert GatherElements(data, picked, axis=1).least_bytes() == 100 * 64 + 400 + 400
    tuples = np.array([[0, 0], [0, 15], [0, 16]])
    assert GatherND(data, tuples).least_bytes() == 2 * 64 + 48 + 12
    assert GatherND(data, np.array([[3], [3]])).least_bytes() == 128 + 16 + 256


def test_least_bytes_of_a_resize_leave_out_what_has_no_weight():
    data = np.zeros((90, 64), np.uint8)
    # Thirds: every output is an input. Doubled: every input counts.
    assert Resize(data, (30, 64), axes=(0, 1), mode="linear").least_bytes() == 30 * 64 + 30 * 64
    assert Resize(data, (180, 128), axes=(0, 1), mode="linear").least_bytes() == 90 * 64 + 180 * 128
    assert Resize(data, (45, 64), axes=(0, 1), mode="nearest").least_bytes() == 45 * 64 + 45 * 64
    assert Resize(data, (45, 64), axes=(0, 1), mode="linear").least_bytes() == 90 * 64 + 45 * 64


def test_least_bytes_of_a_scatter():
    data, updates = np.zeros((10, 4), np.float32), np.zeros((3, 4), np.float32)
    problem = ScatterND(data, np.array([[1], [2], [3]]), updates, reduction="none")
    assert problem.least_bytes() == 2 * 160 + 24 + 48


# Libraries.


def test_an_absent_or_broken_library_is_left_out(monkeypatch, tmp_path):
    (tmp_path / "broken_peer.py").write_text("raise RuntimeError('no such processor')")
    monkeypatch.syspath_prepend(tmp_path)
    table = {
        "numpy": libraries.Library(("numpy",)),
        "gone": libraries.Library(("no_such_module_here",)),
        "broken": libraries.Library(("broken_peer",)),
    }
    monkeypatch.setattr(libraries, "LIBRARIES", table)
    versions, absent = libraries.find(table)
    assert versions == {"numpy": np.__version__}
    assert absent == {
        "gone": "No module named 'no_such_module_here'",
        "broken": "RuntimeError: no such processor",
    }


def test_limits_are_taken_back():
    before = dict(os.environ)
    cpus = libraries.usable_cpus()
    with libraries.limited_to(1):
        assert libraries.threads_in_use() == 1
        assert os.environ["OMP_NUM_THREADS"] == "1"
        if hasattr(os, "sched_setaffinity"):
            assert libraries.usable_cpus() == 1
    assert os.environ == before
    assert libraries.usable_cpus() == cpus


def test_a_library_that_fails_is_listed():
    class Failing(Gather):
        calls = {  # noqa: RUF012
            "remapnd": lambda self: self.twin,
            "numpy": lambda self: lambda: np.zeros((3, 3), np.float32),
            "torch": lambda self: self.absent_attribute,
            "cv2": lambda self: pytest.fail("cv2 is not among the libraries"),
        }

    problem = Failing(np.ones((4, 3), np.float32), np.array([3, 0, 3]))
    calls, entries = run.check(problem, ["remapnd", "numpy", "torch"])
    assert calls.keys() == {"remapnd"}
    assert entries["remapnd"].reason is None
    assert entries["numpy"].reason == "100.0% of the values differ; must be the same bits"
    assert entries["torch"].reason == "AttributeError: 'Failing' object has no attribute 'absent_attribute'"


# Clocks.


class Clock:
    """A clock that only calls move, each by the next of its own times."""

    def __init__(self, monkeypatch):
        self.now, self.order = 0.0, []
        monkeypatch.setattr(timing.time, "perf_counter", lambda: self.now)

    def call(self, label, *seconds):
        times = itertools.cycle(seconds)

        def run():
            self.order.append(label)
            self.now += next(times)

        return run


def test_turns(monkeypatch):
    clock = Clock(monkeypatch)
    calls = {"fast": clock.call("fast", 2**-10), "other": clock.call("other", 2**-9)}
    timings = timing.take_turns(calls, seconds=1.0, least=3, most=10, passes=3)
    assert timings == {"fast": Timing(2**-10, 2**-10, 10), "other": Timing(2**-9, 2**-9, 10)}
    # Two to find out how long each takes, then a call to wake and one to time, in turn.
    assert clock.order[:12] == ["fast"] * 2 + ["other"] * 2 + ["fast"] * 2 + ["other"] * 4 + ["fast"] * 2
    assert len(clock.order) == 4 + 2 * 2 * 10


def test_slow_calls_have_the_least_rounds(monkeypatch):
    clock = Clock(monkeypatch)
    calls = {"fast": clock.call("fast", 2**-6), "slow": clock.call("slow", 0.5)}
    timings = timing.take_turns(calls, seconds=1.0, least=3, most=10, passes=1)
    assert (timings["fast"].count, timings["slow"].count) == (10, 3)
    assert clock.order.count("slow") == 1 + 3


def test_short_calls_are_timed_together(monkeypatch):
    clock = Clock(monkeypatch)
    timings = timing.take_turns({"tiny": clock.call("tiny", 2**-20)}, seconds=1.0, least=3, most=3, passes=1)
    assert timings["tiny"] == Timing(2**-20, 2**-20, 3)
    assert len(clock.order) > 3 * 200


def test_noisy_passes_are_repeated_and_the_quietest_counts(monkeypatch):
    clock = Clock(monkeypatch)
    # Two calls of a round are one to wake and one to time: of the timed ones, 1, 2, 2; 1, 1, 2 and 1, 1, 1.
    seconds = (
        [0.01] * 2 + [0.01, 0.01, 0.01, 0.02, 0.01, 0.02, 0.01, 0.01, 0.01, 0.01, 0.01, 0.02] + [0.01] * 6
    )
    call = clock.call("a", *seconds)
    quiet = timing.take_turns({"a": call}, seconds=1.0, least=3, most=3, passes=3)
    assert quiet["a"].median == pytest.approx(0.01)
    clock.order.clear()
    noisy = timing.take_turns({"a": clock.call("a", *seconds)}, seconds=1.0, least=3, most=3, passes=1)
    assert noisy["a"].median == pytest.approx(0.02)
    assert noisy["a"].noisy
    assert len(clock.order) == 2 + 2 * 3


def test_nothing_to_time():
    assert timing.take_turns({}, seconds=1.0, least=3, most=3, passes=1) == {}


def test_copy_bandwidth(light):
    bandwidth = timing.CopyBandwidth(2)
    bandwidth.measure(3)
    bandwidth.measure(1)
    assert len(bandwidth.samples) == 4
    assert bandwidth.median > 1e6


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="no /proc/self/clear_refs here")
def test_peak_growth_sees_what_a_call_needs():
    mebibyte = 1 << 20
    small = timing.peak_growth(lambda: None)
    large = timing.peak_growth(lambda: np.ones(64 * mebibyte, np.uint8))
    assert small is not None
    assert large is not None
    assert small < 8 * mebibyte
    assert 60 * mebibyte < large < 80 * mebibyte


# Reports.


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
        Row("sweep_gather_1e3", "gather", "sweep", 1000, None, {"remapnd": entry(1e-6), "numpy": entry(2e-6)}),
        Row("sweep_gather_1e4", "gather", "sweep", 10000, None, {"remapnd": entry(1e-5), "numpy": entry(3e-5)}),
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
    assert rows[0] == "gather_x 1.00 ms numpy 2.00 ms 2.00 0.20 remapnd:allocating 900 us".split()
    assert rows[1] == "linear_x 4.00 ms cv2 3.00 ms~ 0.75 0.03 torch NOT TIMED".split()
    assert rows[3] == "sweep_gather_1e3 1.00 us numpy 2.00 us 2.00 -".split()
    footer = "\n".join(report.footer_lines(sample))
    assert "not timed:\n  linear_x: torch: 50.0% of the values differ by up to 3" in footer
    assert "slower than the best peer: linear_x 0.75" in footer
    assert "gather_x  remapnd 2 KiB, numpy 3.0 MiB" in footer


def test_columns_of_the_terminal_are_aligned(sample):
    *_, head = report.header_lines(sample, [row.name for row in sample.rows])
    for row in sample.rows:
        line = report.row_line(sample, row, 16)
        assert line.index("ms" if "ms" in line[:30] else "us") + 2 == head.index("remapnd") + len("remapnd")
        assert line[head.index("best peer") :].startswith(("numpy", "cv2"))


def test_markdown(sample):
    lines = report.markdown(sample).splitlines()
    assert "| gather_x | **1.00 ms** | 900 us | 2.00 ms | 2.00 | 2.00 | 0.20 |" not in lines
    assert "| gather_x | 1.00 ms | **900 us** | 2.00 ms | 2.00 | 2.00 | 0.20 |" in lines
    assert "| linear_x | 4.00 ms | **3.00 ms~** | refused | 0.75 | 0.55 | 0.03 |" in lines
    assert "| linear_x | 0 | 25.0% (by 1) | 50.0% (by 3) |" in lines
    assert "| float_x | 1.0e-07 | 1.3e-07 |  |" in lines
    assert "| sweep_gather_1e4 | **1 ns** | 3 ns | 3.00 | 3.00 |" in lines
    assert "| gather_x | 2 KiB |  | 3.0 MiB |" in lines
    assert "- linear_x: torch: 50.0% of the values differ by up to 3" in lines
    tables = [line for line in lines if line.startswith("|")]
    for before, after in itertools.pairwise(tables):
        if not after.startswith(("| case", "| gather_x | gather")):
            assert before.count("|") == after.count("|") or before.startswith("| sweep") or "x |" in before


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

    def interrupted(calls, number=itertools.count(), **options):
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
    assert lines[0].split() == "small_gather small gather float32 (64,), int64 indices (16,)".split()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            ["--cases", "gather,nothing"],
            "--cases must match names or families that --list shows, got 'nothing'",
        ),
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
    assert capsys.readouterr().err.startswith("remapnd bench: ")
    assert main(["bench", *options]) == 2
    with pytest.raises(AssertionError, match=text):
        raise AssertionError(capsys.readouterr().err)


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
