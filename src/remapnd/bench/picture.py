"""A picture of results: how far each library is from remapnd, and sweeps over the number of elements."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..files import replacing
from .libraries import LIBRARIES, load
from .report import header_lines
from .results import Results, Row, is_own

__all__ = ["draw"]

# Okabe and Ito's colors, which people with any color vision tell apart, and a few more; remapnd is black.
_COLORS = dict(
    zip(
        (name for name in LIBRARIES if name != "remapnd"),
        (
            "#0072B2",
            "#D55E00",
            "#009E73",
            "#E69F00",
            "#CC79A7",
            "#56B4E9",
            "#000000",
            "#F0E442",
            "#999999",
            "#8C6D31",
        ),
        strict=True,
    )
)
_MARKERS = dict(zip(_COLORS, "osD^v<>PX*", strict=True))
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_ROW = 0.2  # inches
_WIDTH = 11.0
_SWEEP = re.compile(r"sweep_(\w+)_1e\d+")


def draw(results: Results, path: Path) -> None:
    """Write a PNG file.

    Raises
    ------
    remapnd.bench.libraries.AbsentError
        Matplotlib is not installed.
    OSError
        The file cannot be written.
    """
    canvas, figure_class = load("matplotlib.backends.backend_agg"), load("matplotlib.figure").Figure
    families: dict[str, list[Row]] = {}
    for row in results.rows:
        if row.family != "sweep" and row.own is not None:
            families.setdefault(row.family, []).append(row)
    sweeps: dict[str, list[Row]] = {}
    for row in results.rows:
        match = _SWEEP.fullmatch(row.name)
        if row.family == "sweep" and match:
            sweeps.setdefault(match[1], []).append(row)
    heights = [_ROW * len(rows) + 0.35 for rows in families.values()]
    if sweeps:
        heights.append(3.2)
    limits = _limits(row for rows in families.values() for row in rows)
    figure = figure_class(figsize=(_WIDTH, sum(heights) + 1.9), layout="constrained")
    canvas.FigureCanvasAgg(figure)
    axes = figure.subplots(max(1, len(heights)), 1, squeeze=False, height_ratios=heights or [1])[:, 0]
    for panel, (family, rows) in zip(axes, families.items(), strict=False):
        _draw_family(panel, family, rows, limits, last=family == list(families)[-1])
    if sweeps:
        _draw_sweeps(figure, axes[-1], sweeps)
    subtitle = "\n".join(header_lines(results, [])[:2])
    figure.suptitle(f"remapnd and its peers: time of one call\n{subtitle}", fontsize=10)
    _legend(figure, results)
    with replacing(path) as file:
        figure.savefig(file, format="png", dpi=150)


def _fastest(row: Row) -> dict[str, float]:
    """Return the median of the fastest variant of each library."""
    fastest: dict[str, float] = {}
    for label, timing in row.timings.items():
        if label == "remapnd" or not is_own(label):
            fastest.setdefault(label.partition(":")[0], timing.median)
    return fastest


def _limits(rows: Iterable[Row]) -> tuple[float, float]:
    """Return the ends of the axis that all families share, so that one line goes through all panels."""
    ratios = [1.0]
    for row in rows:
        times = _fastest(row)
        ratios += [seconds / times["remapnd"] for seconds in times.values()]
    return min(0.5, min(ratios) / 1.3), max(4.0, max(ratios) * 1.3)


def _draw_family(
    panel: Any, family: str, rows: list[Row], limits: tuple[float, float], *, last: bool
) -> None:
    """Draw one line of marks for each case: time over that of remapnd."""
    panel.axvspan(limits[0], 1, color="#F6E3DC", linewidth=0)
    panel.axvline(1, color="black", linewidth=1.5)
    for place, row in enumerate(rows):
        times = _fastest(row)
        own = times.pop("remapnd")
        for name, seconds in times.items():
            panel.plot(seconds / own, place, marker=_MARKERS[name], color=_COLORS[name], markersize=5)
    low, high = limits
    panel.set_xscale("log")
    panel.set_xlim(low, high)
    panel.set_xticks([tick for tick in _TICKS if low <= tick <= high])
    panel.set_xticks([], minor=True)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.set_yticks(range(len(rows)), [row.name for row in rows], fontsize=7)
    panel.set_title(family, fontsize=8, loc="left", pad=3)
    panel.grid(axis="both", color="#DDDDDD", linewidth=0.5)
    panel.set_axisbelow(True)
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    panel.tick_params(labelsize=7)
    if last:
        panel.set_xlabel("time / time of remapnd: to the right of the line remapnd is faster", fontsize=8)


def _draw_sweeps(figure: Any, place: Any, sweeps: dict[str, list[Row]]) -> None:
    """Draw one panel of lines for each sweep, in the place of one panel."""
    grid = place.get_subplotspec().subgridspec(1, len(sweeps))
    place.remove()
    first = None
    for column, (name, rows) in enumerate(sweeps.items()):
        panel = figure.add_subplot(grid[column], sharey=first)
        lines: dict[str, list[tuple[int, float]]] = {}
        for row in rows:
            for library, seconds in _fastest(row).items():
                lines.setdefault(library, []).append((row.elements, seconds / row.elements * 1e9))
        for library, points in lines.items():
            own = library == "remapnd"
            color, width = _COLORS.get(library, "black"), 2.2 if own else 1.2
            panel.loglog(
                *zip(*points, strict=True),
                color=color,
                linewidth=width,
                marker=_MARKERS.get(library, "."),
                ms=3,
                zorder=3 if own else 2,
            )
        panel.set_title(name, fontsize=8)
        panel.set_xlabel("elements", fontsize=7)
        panel.tick_params(labelsize=6)
        panel.grid(color="#DDDDDD", linewidth=0.5)
        if first is None:
            first = panel
            panel.set_ylabel("ns per element", fontsize=8)
        else:
            panel.tick_params(labelleft=False)
    # Not earlier: every line on a shared logarithmic axis sets them back.
    if first is not None:
        first.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        first.yaxis.set_minor_formatter(lambda value, _: "")


def _legend(figure: Any, results: Results) -> None:
    """Explain the marks below all panels."""
    line = load("matplotlib.lines").Line2D
    handles = [line([], [], color="black", linewidth=2, label="remapnd")]
    seen = {label.partition(":")[0] for row in results.rows for label in row.timings}
    handles += [
        line([], [], color=color, marker=_MARKERS[name], linestyle="", label=name)
        for name, color in _COLORS.items()
        if name in seen
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=8, frameon=False)
