"""The results of a run, and the file that keeps them."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..files import replacing
from .problems import Agreement
from .timing import Timing

__all__ = ["Entry", "Results", "Row", "read", "write"]

_FORMAT = 1


@dataclass
class Entry:
    """One library in one case.

    Attributes
    ----------
    agreement : None if there was no result
    timing : None if it was not timed; then `reason` says why
    growth : bytes by which a call makes the process grow; None if not measured
    """

    agreement: Agreement | None = None
    timing: Timing | None = None
    reason: str | None = None
    growth: int | None = None


@dataclass
class Row:
    """One case: `entries` from label, "library" or "library:variant", to what came out.

    `least_bytes` is None in a sweep, where it is not looked for; `elements` are those of the output.
    """

    name: str
    what: str
    family: str
    elements: int
    least_bytes: int | None
    entries: dict[str, Entry] = field(default_factory=dict)

    @property
    def timings(self) -> dict[str, Timing]:
        """The timed entries, fastest first."""
        timed = {label: entry.timing for label, entry in self.entries.items() if entry.timing}
        return dict(sorted(timed.items(), key=lambda item: item[1].median))

    @property
    def own(self) -> Timing | None:
        """The timing of remapnd, writing to a prepared output where the operator takes one."""
        return self.timings.get("remapnd")

    @property
    def best_peer(self) -> tuple[str, Timing] | None:
        """The fastest of the others."""
        peers = ((label, timing) for label, timing in self.timings.items() if not is_own(label))
        return next(peers, None)

    @property
    def ratio(self) -> float | None:
        """Median of the best peer over that of remapnd: above 1, remapnd is faster."""
        if self.own is None or self.best_peer is None:
            return None
        return self.best_peer[1].median / self.own.median

    @property
    def ratio_of_minima(self) -> float | None:
        """The same of the shortest times, the better measure on a busy machine."""
        peers = [timing.minimum for label, timing in self.timings.items() if not is_own(label)]
        return min(peers) / self.own.minimum if self.own and peers else None

    def copy_fraction(self, timing: Timing, bandwidth: float) -> float | None:
        """Return the share of the copy bandwidth that a time makes of the least bytes to move."""
        if self.least_bytes is None or self.family == "small":
            return None
        return self.least_bytes / timing.median / bandwidth


def is_own(label: str) -> bool:
    """Whether a label is one of remapnd."""
    return label.partition(":")[0] == "remapnd"


@dataclass
class Results:
    """A run.

    Attributes
    ----------
    machine, level : processor and system; the instruction-set level of remapnd
    bandwidth : bytes per second, samples taken before and between the cases
    versions, absent : of libraries: name to version, name to reason
    """

    when: str
    machine: str
    level: str
    threads: int
    quick: bool
    versions: dict[str, str]
    absent: dict[str, str]
    bandwidth: list[float] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    @property
    def geometric_means(self) -> dict[str, float]:
        """The mean of the ratios of each family that has any."""
        logarithms: dict[str, list[float]] = {}
        for row in self.rows:
            if row.ratio is not None:
                logarithms.setdefault(row.family, []).append(math.log(row.ratio))
        return {family: math.exp(sum(values) / len(values)) for family, values in logarithms.items()}


def write(results: Results, path: Path) -> None:
    """Write a JSON file."""
    content = {"format": _FORMAT, **dataclasses.asdict(results)}
    for row in content["rows"]:
        for entry in row["entries"].values():
            entry["agreement"] = entry["agreement"] and entry["agreement"]._asdict()
    with replacing(path) as file:
        file.write(json.dumps(content, indent=1, allow_nan=False).encode())


def read(path: Path) -> Results:
    """Read a file of `write`.

    Raises
    ------
    ValueError
        It is something else.
    OSError
        It cannot be read.
    """
    try:
        content = json.loads(path.read_bytes())
        if content.pop("format") != _FORMAT:
            raise ValueError("another format")
        rows = [_row(row) for row in content.pop("rows")]
        return Results(**content, rows=rows)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"must be a file of remapnd bench --json, of format {_FORMAT}") from None


def _row(content: dict[str, Any]) -> Row:
    entries = {
        label: Entry(
            agreement=Agreement(**entry["agreement"]) if entry["agreement"] else None,
            timing=Timing(**entry["timing"]) if entry["timing"] else None,
            reason=entry["reason"],
            growth=entry["growth"],
        )
        for label, entry in content.pop("entries").items()
    }
    return Row(**content, entries=entries)
