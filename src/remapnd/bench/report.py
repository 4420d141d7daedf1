"""Tables of results: for a terminal, and in Markdown."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Iterable

from .problems import Agreement
from .results import Results, Row, is_own
from .timing import NOISY, Timing

__all__ = ["bytes_text", "duration", "footer_lines", "header_lines", "markdown", "row_line"]

_NOTES = (
    "ratio: median of the best peer / median of remapnd; above 1 remapnd is faster.",
    "copy: least bytes that any implementation has to move / time, as a share of the copy bandwidth, that of",
    "np.copyto between large arrays. Above 1 where the data stay in a cache.",
    f"~: the median is more than {NOISY} times the minimum, so the machine was busy.",
)


def duration(seconds: float) -> str:
    """Write a time with three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.9995 * size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(seconds * 1e9)} ns"


def _three_digits(value: float) -> str:
    """Write a number of 1 to 1000 with three digits."""
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def bytes_text(size: int) -> str:
    """Write a number of bytes."""
    return f"{size / 2**20:.1f} MiB" if size >= 2**20 else f"{size / 2**10:.0f} KiB"


def _marked(timing: Timing) -> str:
    return duration(timing.median) + ("~" if timing.noisy else "")


def _times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _fraction(row: Row, timing: Timing | None, results: Results) -> float | None:
    """Return the share of the copy bandwidth, by all samples so far."""
    return row.copy_fraction(timing, statistics.median(results.bandwidth)) if timing else None


def _bandwidth(results: Results) -> str:
    median, best = statistics.median(results.bandwidth), max(results.bandwidth)
    return f"copy bandwidth {median / 1e9:.1f} GB/s read and written (best {best / 1e9:.1f})"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


# Terminal.


def header_lines(results: Results, names: Iterable[str]) -> list[str]:
    """Return the lines above the rows of cases with these names."""
    width = max(map(len, names), default=0)
    lines = [
        f"{results.machine}; {_plural(results.threads, 'thread')}; level {results.level}",
        _bandwidth(results),
        ", ".join(f"{name} {version}" for name, version in results.versions.items()),
    ]
    if results.absent:
        lines.append("not installed: " + ", ".join(results.absent))
    columns = f"{'case':<{width}}  {'remapnd':>9}   {'best peer':<24} {'ratio':>6} {'copy':>6}  other peers"
    return [*lines, "", columns]


def row_line(results: Results, row: Row, width: int) -> str:
    """Return the line of one case, whose name has a column of `width`."""
    own = _cell(row, row.own) if row.own else "-"
    label, timing = row.best_peer or ("-", None)
    best = f"{label} {_cell(row, timing)}" if timing else "-"
    others = [
        f"{other} {_cell(row, timing)}"
        for other, timing in row.timings.items()
        if other not in ("remapnd", label)
    ]
    others += [f"{other} NOT TIMED" for other, entry in row.entries.items() if entry.timing is None]
    fraction = _times(_fraction(row, row.own or timing, results))
    line = (
        f"{row.name:<{width}}  {own.rstrip('~'):>9}{'~' if own.endswith('~') else ' '}  "
        f"{best:<24} {_times(row.ratio):>6} {fraction:>6}  {', '.join(others)}"
    )
    return line.rstrip()


def footer_lines(results: Results) -> list[str]:
    """Return the lines below the rows."""
    lines = ["", *_NOTES]
    if any(row.family == "sweep" for row in results.rows):
        lines.append("Times of sweeps are those of one element.")
    refused = _refused(results)
    if refused:
        lines += ["", "not timed:", *(f"  {line}" for line in refused)]
    means = results.geometric_means
    if means:
        texts = [f"{family} {value:.2f}" for family, value in means.items()]
        lines += ["", "geometric mean of the ratios: " + ", ".join(texts)]
    behind = sorted((row.ratio, row.name) for row in results.rows if row.ratio is not None and row.ratio < 1)
    if behind:
        text = "slower than the best peer: " + ", ".join(f"{name} {ratio:.2f}" for ratio, name in behind)
        lines += textwrap.wrap(text, 110, subsequent_indent="  ")
    growths = [row for row in results.rows if any(entry.growth is not None for entry in row.entries.values())]
    if growths:
        width = max(len(row.name) for row in growths)
        lines += ["", "growth of the process in a call, beyond inputs and prepared output:"]
        lines += [f"  {row.name:<{width}}  {_growths(row)}" for row in growths]
    return lines


def _growths(row: Row) -> str:
    return ", ".join(
        f"{label} {bytes_text(entry.growth)}"
        for label, entry in row.entries.items()
        if entry.growth is not None
    )


def _refused(results: Results) -> list[str]:
    return [
        f"{row.name}: {label}: {entry.reason}"
        for row in results.rows
        for label, entry in row.entries.items()
        if entry.timing is None
    ]


# Markdown.


def markdown(results: Results) -> str:
    """Return a document: a table of times for each family, the differences, and what each case is."""
    pace = ", quick" if results.quick else ""
    lines = [
        "# Benchmark",
        "",
        f"{results.when}, {results.machine}, {_plural(results.threads, 'thread')}{pace}, "
        f"instruction-set level {results.level}, {_bandwidth(results)}.",
        "",
        "Libraries: " + ", ".join(f"{name} {version}" for name, version in results.versions.items()) + ".",
        "",
        "Times are medians of one call, in sweeps of one element. " + " ".join(_NOTES).replace("~:", "`~`:"),
        "The fastest is bold; an empty cell means that the library has no such operator.",
    ]
    means = results.geometric_means
    if means:
        texts = [f"{family} {value:.2f}" for family, value in means.items()]
        lines += ["", "Geometric means of the ratios: " + ", ".join(texts) + "."]
    for family in dict.fromkeys(row.family for row in results.rows):
        rows = [row for row in results.rows if row.family == family]
        lines += ["", f"## {family.capitalize()}", "", *_family_table(results, rows)]
    differences = [row for row in results.rows if any(_computed(row).values())]
    if differences:
        lines += [
            "",
            "## Differences from the exact result",
            "",
            "Integers and nearest: share of values that are not the exact result, correctly rounded, and the "
            "greatest difference. Floats: the greatest difference, data in [0, 1).",
            "",
            *_difference_table(differences),
        ]
    growths = [row for row in results.rows if _growths(row)]
    if growths:
        lines += ["", "## Memory", "", "Growth of the process in a call, beyond inputs and prepared output."]
        lines += ["", *_table(["case", *_labels(growths)], [_growth_cells(row, growths) for row in growths])]
    refused = _refused(results)
    if refused:
        lines += ["", "## Not timed", "", *(f"- {line}" for line in refused)]
    lines += ["", "## Cases", "", *_table(["case", "what"], [[row.name, row.what] for row in results.rows])]
    return "\n".join(lines) + "\n"


def _labels(rows: Iterable[Row]) -> list[str]:
    """Return all labels of some rows, remapnd first."""
    labels = dict.fromkeys(label for row in rows for label in row.entries)
    return sorted(labels, key=lambda label: (not is_own(label), label))


def _table(head: list[str], body: list[list[str]], right: bool = False) -> list[str]:
    """Return the lines of a table; all columns but the first to the right, if `right`."""
    rule = ["---"] + ["---:" if right else "---"] * (len(head) - 1)
    return ["| " + " | ".join(cells) + " |" for cells in (head, rule, *body)]


def _family_table(results: Results, rows: list[Row]) -> list[str]:
    labels = _labels(rows)
    body = []
    for row in rows:
        fastest = next(iter(row.timings), None)
        cells = []
        for label in labels:
            timing = row.timings.get(label)
            text = _cell(row, timing) if timing else "refused" if label in row.entries else ""
            cells.append(f"**{text}**" if label == fastest else text)
        fraction = _times(_fraction(row, row.own, results))
        body.append([row.name, *cells, _times(row.ratio), _times(row.ratio_of_minima), fraction])
    head = ["case", *labels, "ratio", "of minima", "copy"]
    kept = [k for k in range(len(head)) if any(cells[k] not in ("-", "") for cells in body)]
    return _table([head[k] for k in kept], [[cells[k] for k in kept] for cells in body], right=True)


def _cell(row: Row, timing: Timing) -> str:
    """Write a time; in a sweep that of one element, to compare the lines."""
    if row.family != "sweep":
        return _marked(timing)
    return f"{timing.median / row.elements * 1e9:.3g} ns" + ("~" if timing.noisy else "")


def _computed(row: Row) -> dict[str, Agreement]:
    """Return the agreements worth a cell: of values that are computed, or of the wrong ones."""
    return {
        label: entry.agreement
        for label, entry in row.entries.items()
        if entry.agreement and (entry.agreement.greatest is not None or entry.agreement.wrong)
    }


def _difference_table(rows: list[Row]) -> list[str]:
    labels = _labels(rows)
    body = []
    for row in rows:
        cells = []
        for label in labels:
            entry = row.entries.get(label)
            cells.append(_difference(entry.agreement) if entry and entry.agreement else "")
        body.append([row.name, *cells])
    return _table(["case", *labels], body, right=True)


def _difference(agreement: Agreement) -> str:
    """Write share and greatest difference; of floats, whose last bit hardly counts, the difference alone."""
    if agreement.greatest is not None and not agreement.greatest.is_integer():
        return f"{agreement.greatest:.1e}"
    if not agreement.wrong:
        return "0"
    share = f"{agreement.wrong:.1%}" if agreement.wrong >= 1e-3 else f"{agreement.wrong * 1e6:.0f} ppm"
    return share if agreement.greatest is None else f"{share} (by {agreement.greatest:.0f})"


def _growth_cells(row: Row, rows: list[Row]) -> list[str]:
    growths = {label: entry.growth for label, entry in row.entries.items()}
    sizes = [growths.get(label) for label in _labels(rows)]
    return [row.name, *("" if growth is None else bytes_text(growth) for growth in sizes)]
