"""`remapnd explain`: which samples of a resized axis make which, with what weights, exactly."""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from remapnd.cli import options, resampling, table, values
from remapnd.cli.console import fail, say
from remapnd.cli.drawing import Row, draw
from remapnd.cli.errors import UsageError
from remapnd.coordinates import CROP, AxisMap, coordinate_map
from remapnd.filters import Filter, FilterOptions, choose
from remapnd.plans.resample_options import MAJORITY, PLAIN_LINEAR, Options, checked
from remapnd.taps import nearest_table

__all__ = ["add_parser", "run"]

_DESCRIPTION = """\
Show how one axis is resized: the exact position of each output sample X on the
input, in units of samples, which input samples it is made of, and with what weights.
The options are those of remapnd resize and of the function remapnd.resize.
"""
_EXAMPLES = """\
examples:
  remapnd explain --in 8 --out 3 --antialias pillow
  remapnd explain --in 20 --out 6 --mode nearest
  remapnd explain --in 640 --scale 0.35 --mode cubic --rows 100:104
  remapnd explain --in 5 --out 9 --coordinates align_corners --json
"""
_POSITIONS: Final = {
    "half_pixel": "(X + 1/2) / s - 1/2",
    "align_corners": "X * (n - 1) / (m - 1), 0 if m = 1",
    "asymmetric": "X / s",
    "half_pixel_symmetric": "n/2 * (1 - m / (s * n)) + (X + 1/2) / s - 1/2",
    "pytorch_half_pixel": "(X + 1/2) / s - 1/2, 0 if m = 1",
    "tf_half_pixel_for_nn": "(X + 1/2) / s",
    CROP: "(A + X * (B - A) / (m - 1)) * (n - 1), (A + B) / 2 * (n - 1) if m = 1",
}
_NEAREST: Final = {
    "half_up": "floor(x + 1/2)",
    "half_down": "ceil(x - 1/2)",
    "floor": "floor(x)",
    "ceil": "ceil(x)",
}
_KERNELS: Final = {
    "triangle": "h(t) = 1 - |t| for |t| < 1",
    "cubic": "h(t) = (a + 2) |t|^3 - (a + 3) t^2 + 1 for |t| <= 1,\n"
    "a |t|^3 - 5 a t^2 + 8 a |t| - 4 a for 1 < |t| < 2",
    "box": "h(t) = 1 for -1/2 < t <= 1/2",
    "lanczos3": "h(t) = sinc(t) sinc(t / 3) for |t| < 3, in multiples of 2^-60",
}
_OUTSIDE: Final = {
    "clamp": "taps outside are those of the edge sample",
    "drop": "taps outside are dropped",
}
_ROWS: Final = 16  # outputs that are shown by default
_TAPS: Final = 16  # taps of an output that a table shows
_TERMS: Final = 6  # of a formula
_MOST: Final = 1 << 18  # taps that are computed
_LONGEST: Final = 1 << 60  # an axis
_LONG: Final = 48  # letters of a fraction


@dataclass(frozen=True)
class _Axis:
    """One axis, and how it is resized."""

    n_in: int
    n_out: int
    scale: Fraction
    map: AxisMap
    filter: Filter | None  # None: nearest
    rows: Sequence[Row]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "explain",
        usage="remapnd explain --in N (--out M | --scale S) [options]",
        help="show which samples of a resized axis make which, and with what weights",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    length = options.integer(1)
    parser.add_argument("--in", dest="n_in", type=length, required=True, metavar="N", help="length before")
    parser.add_argument(
        "--out", dest="n_out", type=length, metavar="M", help="length after; default: floor(N * S)"
    )
    parser.add_argument(
        "--scale", metavar="S", help="output samples per input sample: 2, 0.75, 1/3; default: M / N"
    )
    parser.add_argument(
        "--rows",
        default=str(_ROWS),
        metavar="K",
        help="outputs to show: the first K, or BEGIN:END, negative ones from the end, : for all; "
        "default: %(default)s",
    )
    parser.add_argument("--json", action="store_true", help="print all of it as JSON, fractions as text")
    resampling.add_options(parser, antialias=(), default="default: none")


def run(args: argparse.Namespace) -> int:
    """Show the axis; return the exit status."""
    try:
        resampling.check(args)
        axis = _axis(args)
    except UsageError as error:
        fail("explain", error)
        return 2
    for line in json.dumps(_document(args, axis), indent=2).splitlines() if args.json else ():
        say(line)
    if not args.json:
        _print(args, axis)
    return 0


def _axis(args: argparse.Namespace) -> _Axis:
    """Compute what is to be shown."""
    n_in, n_out = args.n_in, args.n_out
    for option, length in (("--in", n_in), ("--out", n_out)):
        if length is not None and length > _LONGEST:
            raise UsageError(f"{option} must be at most 2**60, got {length}")
    given = resampling.given(args)
    if args.scale is None and n_out is None:
        raise UsageError("--out or --scale must be given, got neither")
    scale = Fraction(n_out, n_in) if args.scale is None else values.number("--scale", args.scale)
    if scale <= 0:
        raise UsageError(f"--scale must be greater than 0, got {args.scale}")
    if n_out is None:
        n_out = math.floor(n_in * scale)
        if n_out > _LONGEST:
            raise UsageError(f"--scale must give at most 2**60 samples, got {args.scale}")
        if not n_out:
            raise UsageError(f"--scale must be at least 1/{n_in} for {n_in} samples, got {args.scale}")
    roi = given.get("roi", (0, 1))
    if len(roi) != 2:
        raise UsageError(f"--roi must be 2 numbers for one axis, got {len(roi)}")
    map = coordinate_map(args.coordinates, n_in, n_out, scale, roi)
    begin, end, _ = values.rows("--rows", args.rows).indices(n_out)
    if begin >= end:
        raise UsageError(f"--rows must name some of {n_out} outputs, got {args.rows}")
    filter = None
    if args.mode != "nearest":
        antialias = None if args.antialias == "none" else args.antialias
        coefficient = given.get("cubic_coefficient", Fraction(-3, 4))
        try:
            checked("explain", Options(args.mode, "half_up", antialias, coefficient, False, "half_up"))
        except ValueError as error:
            raise UsageError(error) from None
        asked = FilterOptions(args.mode, antialias, coefficient, args.exclude_outside)
        filter = choose(PLAIN_LINEAR if args.mode == MAJORITY else asked, scale) or Filter("triangle")
    taps = 1 if filter is None else min(math.ceil(2 * filter.reach) + 1, n_in + math.ceil(filter.reach))
    if taps * (end - begin) > _MOST:
        raise UsageError(
            f"--rows must ask for at most {_MOST} taps, got {end - begin} outputs of up to {taps} each"
        )
    rows = _rows(map, range(begin, end), n_in, filter, args.nearest_rule or "half_up")
    if args.coordinates == CROP:
        first, last = map.inside(n_in, n_out)
        rows = [row if first <= row.output < last else row._replace(weights=[]) for row in rows]
    return _Axis(n_in, n_out, scale, map, filter, rows)


def _rows(map: AxisMap, outputs: range, n_in: int, filter: Filter | None, rule: str) -> list[Row]:
    """Taps and exact weights of outputs."""
    if filter is None:
        part = AxisMap(map.at(outputs.start), map.step)
        picked = nearest_table(part, n_in, len(outputs), rule).tolist()
        return [Row(X, map.at(X), k, [Fraction(1)]) for X, k in zip(outputs, picked, strict=True)]
    rows = []
    for output in outputs:
        start, numerators, denominator = filter.weights_at(map.at(output), n_in)
        weights = [Fraction(numerator, denominator) for numerator in numerators]
        rows.append(Row(output, map.at(output), start, weights))
    return rows


def _print(args: argparse.Namespace, axis: _Axis) -> None:
    """Print rules, table, drawing and formulas."""
    say(_title(args, axis))
    for name, text in _rules(args, axis):
        say(f"  {name:9}{text}")
    say("")
    table.print_table(("X", "position x", "", "sample", "weight", ""), _cells(axis.rows))
    _say_rest(axis)
    say("")
    encoding = (sys.stdout.encoding if sys.stdout else None) or "utf-8"
    width = shutil.get_terminal_size((100, 24)).columns - 2
    for line in draw(axis.rows, axis.n_in, width, encoding):
        say(f"  {line}")
    say("")
    for row in axis.rows:
        say(f"  {_formula(row, args.mode)}")


def _title(args: argparse.Namespace, axis: _Axis) -> str:
    """Say in one line what is shown."""
    words = [f"{axis.n_in} -> {axis.n_out} samples", args.mode]
    if args.antialias not in (None, "none"):
        words.append(f"antialias {args.antialias}")
    return ", ".join((*words, args.coordinates))


def _rules(args: argparse.Namespace, axis: _Axis) -> list[tuple[str, str]]:
    """Formulas by which everything else follows, each with its name."""
    formula = _POSITIONS[args.coordinates]
    known = [f"s = {axis.scale}"] if "s" in formula else []
    known += [f"n = {axis.n_in}", f"m = {axis.n_out}"] if "n" in formula or "m" in formula else []
    known += ["A and B those of --roi"] if "A" in formula else []
    start, step = axis.map.start, axis.map.step
    rules = [
        ("position", f"x = {formula}"),
        ("", f"with {', '.join(known)}: x = {start} + X * {step}"),
    ]
    if axis.filter is None:
        rule = args.nearest_rule or "half_up"
        return [*rules, ("sample", f"{_NEAREST[rule]} ({rule}), at least 0 and at most {axis.n_in - 1}")]
    kernel, stretch = axis.filter.kernel, axis.filter.stretch
    weight = "of sample k: h(k - x)" if stretch == 1 else f"of sample k: h((k - x) / r) with r = {stretch}"
    if kernel != "triangle" or stretch != 1:
        weight += ", divided by the sum of all"
    rules += [("weight", weight), *(("", line) for line in _KERNELS[kernel].splitlines())]
    if kernel == "cubic":
        rules.append(("", f"a = {axis.filter.coefficient}"))
    rules.append(("edges", _OUTSIDE[axis.filter.outside]))
    if args.mode == MAJORITY:
        rules.append(
            ("output", "the label whose weights add up highest over all axes, of equal ones the lowest")
        )
    return rules


def _cells(rows: Sequence[Row]) -> list[list[str]]:
    """Rows of the table: one for each tap."""
    cells = []
    for row in rows:
        head = [str(row.output), _fraction(row.position), f"{float(row.position):.6g}"]
        if not row.weights:
            cells.append([*head, "-", "outside", ""])
        for tap, weight in enumerate(row.weights[:_TAPS]):
            cells.append([*head, str(row.start + tap), _fraction(weight), f"{float(weight):.6g}"])
            head = ["", "", ""]
        if len(row.weights) > _TAPS:
            cells.append([*head, "...", f"and {len(row.weights) - _TAPS} more", ""])
    return cells


def _say_rest(axis: _Axis) -> None:
    """Say which outputs are not shown."""
    begin, end = axis.rows[0].output, axis.rows[-1].output + 1
    if end - begin < axis.n_out:
        say(f"  outputs {begin} to {end - 1} of 0 to {axis.n_out - 1}; --rows shows others")


def _fraction(value: Fraction) -> str:
    """Return the fraction, unless it is too long to read."""
    text = str(value)
    return text if len(text) <= _LONG else f"of {len(text) - 1} digits"


def _formula(row: Row, mode: str) -> str:
    """Write an output as a sum, or as a vote."""
    name = f"out[{row.output}]"
    if not row.weights:
        return f"{name} = the extrapolation value"
    if mode == MAJORITY:
        votes = (f"{weight} for in[{row.start + tap}]" for tap, weight in enumerate(row.weights))
        return f"{name} = majority of {', '.join(votes)}"
    denominator = math.lcm(*(weight.denominator for weight in row.weights))
    numerators = [weight.numerator * (denominator // weight.denominator) for weight in row.weights]
    exact = len(str(denominator)) <= 12
    total = ""
    for tap, (weight, numerator) in enumerate(zip(row.weights[:_TERMS], numerators, strict=False)):
        size = str(abs(numerator)) if exact else f"{abs(float(weight)):.6g}"
        sign = (" - " if weight < 0 else " + ") if tap else ("-" if weight < 0 else "")
        total += f"{sign}{'' if size == '1' else size + ' '}in[{row.start + tap}]"
    if len(row.weights) > _TERMS:
        total += " + ..."
    if not exact or denominator == 1:
        return f"{name} = {total}"
    return f"{name} = ({total}) / {denominator}"


def _document(args: argparse.Namespace, axis: _Axis) -> dict[str, Any]:
    """Return everything as JSON has it."""
    filter: dict[str, Any] | None = None
    if axis.filter is not None:
        filter = {
            "kernel": axis.filter.kernel,
            "stretch": str(axis.filter.stretch),
            "outside": axis.filter.outside,
        }
        if axis.filter.kernel == "cubic":
            filter["cubic_coefficient"] = str(axis.filter.coefficient)
    return {
        "in": axis.n_in,
        "out": axis.n_out,
        "scale": str(axis.scale),
        "mode": args.mode,
        "coordinates": args.coordinates,
        "antialias": None if args.antialias == "none" else args.antialias,
        "nearest_rule": (args.nearest_rule or "half_up") if axis.filter is None else None,
        "position": {"start": str(axis.map.start), "step": str(axis.map.step)},
        "filter": filter,
        "outputs": [
            {
                "output": row.output,
                "position": str(row.position),
                "position_decimal": float(row.position),
                "taps": [
                    {"sample": row.start + tap, "weight": str(weight), "weight_decimal": float(weight)}
                    for tap, weight in enumerate(row.weights)
                ],
            }
            for row in axis.rows
        ],
    }
