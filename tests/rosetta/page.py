"""docs/rosetta.md, and the tables of docs/exactness.md, out of the cases and of what was measured."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from . import lengths
from .case import Case, Library
from .measure import LIBRARIES

MEASURED = Path(__file__).with_name("measured.json")
HEAD = Path(__file__).with_name("head.md")
DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def measured() -> dict[str, Any]:
    """Return what was measured last."""
    found: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return found


def releases(found: dict[str, Any]) -> str:
    """Write what was measured, with versions."""
    return ", ".join(
        f"{library.tool} {found['libraries'][key]['version']}"
        for key, library in LIBRARIES.items()
        if library.distribution
    )


def number(value: float) -> str:
    """Write a small number with two digits."""
    return "0" if value == 0 else f"{value:.2g}" if value >= 1e-3 else f"{value:.1e}".replace("e-0", "e-")


def percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share >= 1e-4 else "under 0.01 %"


def difference(case: Case, found: dict[str, Any]) -> str:
    """Write how the results of a case differ."""
    if case.rule in lengths.INDICES:
        pairs = found["lengths"][case.label]
        if not pairs["wrong"]:
            return f"none in {pairs['pairs']:,} pairs"
        return f"{pairs['wrong']:,} of {pairs['pairs']:,} pairs, first {pairs['first']}"
    parts = []
    for dtype, apart in found["cases"][case.label].items():
        if not apart["share"]:
            parts.append("equal" if dtype == "index" else f"{dtype} equal")
        elif dtype.startswith("float"):
            parts.append(f"{dtype} {number(apart['largest'])}")
        else:
            parts.append(f"{dtype} {apart['largest']:.0f} in {percent(apart['share'])}")
    return "; ".join(parts)


def section(library: Library, found: dict[str, Any]) -> str:
    """Write the part of a library."""
    title = f"## {library.title}"
    if library.distribution:
        title += f" ({library.program} {found['version']})" if library.program else f" {found['version']}"
    lines = [title, "", library.text, ""]
    lines += ["| there | remapnd | difference | why |", "|---|---|---|---|"]
    for case in library.cases:
        theirs = f"`{case.label}`"
        if case.ours is None:
            lines.append(f"| {theirs} | — | | {case.why} |")
        else:
            lines.append(f"| {theirs} | `{case.ours}` | {difference(case, found)} | {case.why} |")
    return "\n".join([*lines, ""])


def rosetta() -> str:
    """Return the whole of docs/rosetta.md."""
    found = measured()
    head = HEAD.read_text(encoding="utf-8").format(
        longest=lengths.LONGEST,
        date=found["date"],
        machine=found["machine"],
        versions=releases(found),
    )
    parts = [section(library, found["libraries"][key]) for key, library in LIBRARIES.items()]
    return "\n".join([head, *parts])


def nearest_table() -> str:
    """Pairs of lengths with a wrong nearest index."""
    lines = ["| | rule | pairs with a wrong index | of | first |", "|---|---|---|---|---|"]
    rows, here = [], [0, 0]
    for key, found in measured()["libraries"].items():
        for case in LIBRARIES[key].cases:
            if case.rule in lengths.INDICES:
                pairs = found["lengths"][case.label]
                counts = f"{pairs['wrong']:,} | {pairs['pairs']:,} | {pairs['first']}"
                rows.append(
                    (
                        pairs["wrong"] / pairs["pairs"],
                        f"| {LIBRARIES[key].tool} `{case.label}` | {case.rule} | {counts} |",
                    )
                )
                here = [here[0] + pairs["wrong here"], here[1] + pairs["pairs"]]
    own = f"| **remapnd**, the call for each of these | all of them | **{here[0]:,}** | {here[1]:,} | |"
    return "\n".join([*lines, *(row for _, row in sorted(rows, key=lambda row: row[0])), own])


def _linear(rule: str) -> list[tuple[str, Case, dict[str, Any]]]:
    """Return title, case and figures of all cases of a rule."""
    return [
        (LIBRARIES[key].tool, case, found["lengths"][case.label])
        for key, found in measured()["libraries"].items()
        for case in LIBRARIES[key].cases
        if case.rule == rule
    ]


def uint8_table(rule: str) -> str:
    """Pixels of uint8 that are not the exact ones."""
    lines = [
        "| | not the exact value rounded half up | largest | not the exact value cut |",
        "|---|---|---|---|",
    ]
    wrong, pixels = 0, 0
    for title, case, found in _linear(rule):
        if "pixels" not in found:
            continue
        shares = {kind: percent(count / found["pixels"]) for kind, count in found["wrong"].items()}
        rounded = f"{shares['rounded']} | {found['largest']['rounded']}"
        lines.append(f"| {title} `{case.label}` | {rounded} | {shares['cut']} |")
        wrong, pixels = wrong + found["wrong"]["here"], max(pixels, found["pixels"])
    lines.append(
        f"| **remapnd**, each rule by `integer_rule` | **{wrong}** of {pixels:,} | 0 | **{wrong}** |"
    )
    return "\n".join(lines)


def short(found: dict[str, Any]) -> str:
    """Say if not all lengths were tried."""
    return "" if found["pairs"] == lengths.LONGEST**2 else f" (lengths up to {math.isqrt(found['pairs'])})"


def float_table(rule: str) -> str:
    """Largest errors of float32."""
    lines = ["| | largest error of float32 |", "|---|---|"]
    rows = sorted(
        (found["error"], f"| {title} `{case.label}`{short(found)} | {found['error']:.1e} |")
        for title, case, found in _linear(rule)
    )
    own = max(found["error here"] for _, _, found in _linear(rule))
    return "\n".join([*lines, *(row for _, row in rows), f"| **remapnd** | **{own:.1e}** |"])


def basis() -> str:
    """Say when and against which releases."""
    found = measured()
    return f"Measured on {found['date']}, on {found['machine']}: {releases(found)}."


TABLES = {
    "basis": basis,
    "nearest": nearest_table,
    "linear uint8": lambda: uint8_table("linear"),
    "antialias uint8": lambda: uint8_table("antialias"),
    "linear float32": lambda: float_table("linear"),
    "antialias float32": lambda: float_table("antialias"),
}


def exactness(text: str) -> str:
    """Return docs/exactness.md with its tables made anew, each between a pair of comments."""

    def table(match: re.Match[str]) -> str:
        return f"<!-- {match[1]} -->\n{TABLES[match[1]]()}\n<!-- end -->"

    return re.sub(r"<!-- ([\w ]+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)


def write() -> None:
    """Write both pages."""
    (DOCS / "rosetta.md").write_text(rosetta(), encoding="utf-8")
    page = DOCS / "exactness.md"
    page.write_text(exactness(page.read_text(encoding="utf-8")), encoding="utf-8")
