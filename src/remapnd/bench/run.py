"""Goes through the table: makes each problem, checks every library, and times those that agree."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import _core
from .cases import Case
from .libraries import LIBRARIES, AbsentError, find, limited_to
from .problems import Array, Call, Problem, UnsupportedError
from .results import Entry, Results, Row
from .timing import CopyBandwidth, collector_off, memory_kept, peak_growth, take_turns

__all__ = ["Pace", "check", "run"]


@dataclass(frozen=True)
class Pace:
    """How long to measure: about `seconds` a case and pass, in between `least` and `most` rounds."""

    seconds: float = 2.0
    least: int = 5
    most: int = 60
    passes: int = 3


FULL, QUICK = Pace(), Pace(seconds=0.25, least=3, most=15, passes=1)


def run(
    cases: Sequence[Case],
    libraries: Iterable[str],
    *,
    threads: int = 1,
    quick: bool = False,
    memory: bool = False,
    started: Callable[[Results], None] = lambda results: None,
    progress: Callable[[str], None] = lambda text: None,
    finished: Callable[[Results, Row], None] = lambda results, row: None,
) -> Results:
    """Run cases.

    Parameters
    ----------
    cases, libraries : from `CASES` and `LIBRARIES`
    threads : for every library
    quick : a few rounds of a quarter of a second
    memory : also find out by how much the process grows in a call
    started : called with the results once libraries and bandwidth are known, before the first case
    progress : called with what is done next
    finished : called with each row when it is complete

    Returns
    -------
    Results
    """
    with limited_to(threads), memory_kept(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the peers
        progress("importing libraries")
        versions, absent = find(libraries)
        results = Results(
            when=time.strftime("%Y-%m-%d %H:%M:%S"),
            machine=_machine(),
            level=_core.level(),
            threads=threads,
            quick=quick,
            versions=versions,
            absent=absent,
        )
        progress("measuring the copy bandwidth")
        bandwidth = CopyBandwidth(threads)
        bandwidth.measure(5)
        results.bandwidth = bandwidth.samples
        started(results)
        for number, case in enumerate(cases, 1):

            def tell(text: str, name: str = f"[{number}/{len(cases)}] {case.name}") -> None:
                progress(f"{name}: {text}")

            row = _row(case, versions, QUICK if quick else FULL, memory, tell)
            results.rows.append(row)
            bandwidth.measure(1 if quick else 3)
            finished(results, row)
    return results


def check(problem: Problem, found: Iterable[str]) -> tuple[dict[str, Call], dict[str, Entry]]:
    """Prepare a call for each library that is there, and compare its result with the exact one.

    Returns
    -------
    calls : those whose results agree
    entries : all but those without an operator for the problem
    """
    calls, entries = {}, {}
    for label, prepare in problem.calls.items():
        library = label.partition(":")[0]
        if library not in found:
            continue
        try:
            call = prepare(problem)
            problem.out.reshape(-1).view(np.uint8)[...] = 0xA5  # not the result of the one before
            agreement = problem.judge(_as_array(call()), exactly=library == "remapnd")
        except (UnsupportedError, AbsentError):
            continue
        except Exception as error:  # of a peer of some version: it is listed, and the others go on
            entries[label] = Entry(reason=f"{type(error).__name__}: {error}".splitlines()[0][:200])
            continue
        entries[label] = Entry(agreement)
        if agreement.ok:
            calls[label] = call
        else:
            entries[label].reason = _disagreement(*agreement)
    return calls, entries


def _disagreement(_: bool, wrong: float, greatest: float | None, rule: str) -> str:
    """Say in which way a result is not what it has to be."""
    by = "" if greatest is None else f" by up to {greatest:.3g}"
    return f"{wrong:.1%} of the values differ{by}; must be {rule}"


def _as_array(result: object) -> Array:
    """Give an array of NumPy for the result of any library."""
    return np.asarray(result)


def _row(case: Case, found: Iterable[str], pace: Pace, memory: bool, tell: Callable[[str], None]) -> Row:
    tell("making the arrays")
    problem = case.make(1)
    least_bytes = None if case.family == "sweep" else problem.least_bytes()
    row = Row(case.name, case.what, case.family, problem.out.size, least_bytes)
    tell("checking the results")
    calls, row.entries = check(problem, found)
    tell("timing " + ", ".join(calls))
    with collector_off():
        timings = take_turns(
            calls, seconds=pace.seconds, least=pace.least, most=pace.most, passes=pace.passes
        )
    for label, timing in timings.items():
        row.entries[label].timing = timing
        if memory:
            row.entries[label].growth = peak_growth(calls[label])
    return row


def _machine() -> str:
    """Name processor and system."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = platform.processor() or "unknown processor"
    return f"{processor}, {platform.system()} {platform.machine()}"


def default_libraries(quick: bool) -> list[str]:
    """Return the names of the libraries of a run without a choice."""
    return [name for name, library in LIBRARIES.items() if not (quick and library.slow)]
