"""Times of calls that take turns, the copy bandwidth of the machine, and the memory that a call needs."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .problems import Call, blank

__all__ = ["NOISY", "CopyBandwidth", "Timing", "collector_off", "memory_kept", "peak_growth", "take_turns"]

NOISY = 1.25  # median / minimum above which a time is marked
_COPIED = 1 << 27  # bytes; several times the last cache of most machines
_BATCH = 2e-4  # seconds; a shorter call is repeated and timed as one
_SELF = Path("/proc/self")
# Options of glibc's mallopt.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: median and minimum of `count` measurements."""

    median: float
    minimum: float
    count: int

    @classmethod
    def of(cls, seconds: list[float]) -> Timing:
        """Summarise measurements."""
        return cls(statistics.median(seconds), min(seconds), len(seconds))

    @property
    def noisy(self) -> bool:
        """Whether the machine was too busy for the median to mean much."""
        return self.median > NOISY * self.minimum


class CopyBandwidth:
    """Bytes read and written in a second by `np.copyto` of large arrays, split over threads."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        source, target = blank((_COPIED,), np.uint8), blank((_COPIED,), np.uint8)
        bounds = [_COPIED * k // threads for k in range(threads + 1)]
        self._parts = [(target[a:b], source[a:b]) for a, b in itertools.pairwise(bounds)]
        self.samples: list[float] = []

    def measure(self, samples: int) -> None:
        """Take so many samples more."""
        with ThreadPoolExecutor(self._threads) as pool:
            for _ in range(samples):
                start = time.perf_counter()
                if self._threads == 1:
                    np.copyto(*self._parts[0])
                else:
                    list(pool.map(lambda part: np.copyto(*part), self._parts))
                self.samples.append(2 * _COPIED / (time.perf_counter() - start))

    @property
    def median(self) -> float:
        """The median of all samples so far."""
        return statistics.median(self.samples)


def _seconds(call: Call, repeats: int) -> float:
    """Return the mean time of some calls."""
    clock, counter = time.perf_counter, itertools.repeat(None, repeats)
    start = clock()
    for _ in counter:
        call()
    return (clock() - start) / repeats


def take_turns(
    calls: Mapping[str, Call], *, seconds: float, least: int, most: int, passes: int
) -> dict[str, Timing]:
    """Time calls in rounds, each one once or twice a round, so that a disturbance meets all of them.

    Parameters
    ----------
    calls : each has run once already
    seconds : about the time of a pass
    least, most : bounds of the number of rounds; a call that takes more than a tenth of `seconds` has `least`
    passes : the greatest number of passes; a quiet one is the last

    Returns
    -------
    dict of label to Timing
        Of the quietest pass.
    """
    if not calls:
        return {}
    cost, repeats = {}, {}
    for label, call in calls.items():
        cost[label] = _seconds(call, 1)
        if cost[label] < 0.05:
            cost[label] = min(cost[label], _seconds(call, 1))
        repeats[label] = max(1, int(_BATCH / max(cost[label], 1e-9)))
    slow = {label for label in calls if cost[label] > seconds / 10}
    a_round = sum(2 * cost[label] * repeats[label] for label in calls if label not in slow)
    rounds = max(least, min(most, int(seconds / a_round))) if a_round else least
    done = []
    for _ in range(passes):
        done.append(_one_pass(calls, repeats, slow, rounds, least))
        if not any(timing.noisy for label, timing in done[-1].items() if label not in slow):
            break
    return min(done, key=lambda timings: sum(np.log(timing.median) for timing in timings.values()))


def _one_pass(
    calls: Mapping[str, Call], repeats: Mapping[str, int], slow: set[str], rounds: int, least: int
) -> dict[str, Timing]:
    """Go round; another call begins each round, so that none always follows the same one."""
    samples: dict[str, list[float]] = {label: [] for label in calls}
    labels = list(calls)
    for number in range(rounds):
        shift = number % len(labels)
        for label in labels[shift:] + labels[:shift]:
            if label in slow and number >= least:
                continue
            if label not in slow:
                _seconds(calls[label], repeats[label])  # its code, its data and its threads are awake then
            samples[label].append(_seconds(calls[label], repeats[label]))
    return {label: Timing.of(seconds) for label, seconds in samples.items()}


@contextlib.contextmanager
def collector_off() -> Iterator[None]:
    """Keep the garbage collector from running in the middle of a measurement."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _libc(name: str) -> Callable[..., int] | None:
    """Return a function of glibc, None elsewhere."""
    if sys.platform != "linux":
        return None
    function: Callable[..., int] | None = getattr(ctypes.CDLL(None), name, None)
    return function


@contextlib.contextmanager
def memory_kept() -> Iterator[None]:
    """Let freed memory stay in the process.

    A call that makes its result would otherwise pay each time for new pages from the system, several times
    the cost of the work and very uneven. glibc alone; its defaults come back afterwards.
    """
    mallopt = _libc("mallopt")
    if mallopt is None:
        yield
        return
    mallopt(_MMAP_MAX, 0)
    mallopt(_TRIM_THRESHOLD, 2**31 - 1)
    try:
        yield
    finally:
        mallopt(_MMAP_MAX, 65536)
        mallopt(_TRIM_THRESHOLD, 128 * 1024)


def peak_growth(call: Call) -> int | None:
    """Return by how many bytes the memory of the process grows, at most, during a call.

    What was there before is not counted: the inputs, and an output that was prepared. None where the system
    does not tell, which is everywhere but on Linux.
    """
    trim = _libc("malloc_trim")
    if trim is not None:
        trim(0)
    try:
        (_SELF / "clear_refs").write_text("5")  # sets VmHWM to VmRSS
        before = _status("VmRSS")
        call()
        return max(0, _status("VmHWM") - before)
    except (OSError, KeyError):
        return None


def _status(field: str) -> int:
    """Return a size from the status of this process, in bytes."""
    lines = (_SELF / "status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields[field].split()[0]) * 1024
