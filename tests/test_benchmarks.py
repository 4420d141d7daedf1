"""The benchmark: that libraries agree on every case, and that its judges and clocks are right."""

from __future__ import annotations

import itertools
import math
import os
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import remapnd
from remapnd.bench import libraries, problems, results, run, timing
from remapnd.bench.cases import CASES, SWEEPS, sweep_cases
from remapnd.bench.gathers import Gather, GatherElements, GatherND
from remapnd.bench.problems import Agreement
from remapnd.bench.resizes import Resize
from remapnd.bench.scatters import ScatterElements, ScatterND
from remapnd.bench.timing import Timing


@pytest.fixture(scope="module")
def found():
    """Every library of the table that is installed, with one thread."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers, at import and afterwards
        with libraries.limited_to(1):
            yield libraries.find(libraries.LIBRARIES)[0]


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


def test_copy_bandwidth(monkeypatch):
    monkeypatch.setattr(timing, "_COPIED", 1 << 20)
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
