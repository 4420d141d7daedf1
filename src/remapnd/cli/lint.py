"""``remapnd lint``: say what other runtimes make of the nodes of an ONNX model that move or mix values."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from remapnd.cli import options
from remapnd.cli.console import fail, say
from remapnd.cli.hints import dxdispatch_hint
from remapnd.cli.table import bad, bold, print_table
from remapnd.directml.enums import FeatureLevel

if TYPE_CHECKING:
    from remapnd.cli.options import Subparsers
    from remapnd.onnx.lint import NodeReport
    from remapnd.onnx.verify import Comparison

_FAULTS = ("directml", "webnn", "difference", "verify")
_DESCRIPTION = """\
Walk ONNX models and say of every Gather, GatherElements, GatherND, Scatter,
ScatterElements, ScatterND, Resize, Upsample, GridSample, AffineGrid, RoiAlign,
TensorScatter and CropAndResize: which DirectML operator ONNX Runtime's DirectML
provider makes of it, from which feature level on that takes its type and rank, how
the result may differ from the CPU provider's, with numbers, and whether WebNN has an
operator for it.

With --verify the model runs in ONNX Runtime on random inputs, and every such node
runs here on the tensors that it got there.
"""
_EPILOG = """\
exit status:
  0  no fault of the kinds that --fail-on names
  1  such a fault, or a model that cannot be read
  2  a wrong option
kinds of faults:
  directml    DirectML does not take a node at the feature level
  webnn       WebNN has no operator for a node
  difference  a result may differ between the providers
  verify      a result differs from ONNX Runtime's by more than --tolerance

examples:
  remapnd lint model.onnx
  remapnd lint model.onnx --feature-level 5_0 --fail-on directml,webnn
  remapnd lint model.onnx --verify --dim batch=1 --dim height=640 --dim width=640
"""
_VERBS = "that gather, scatter, resize or sample"
# Operators that compute with floats: ONNX Runtime rounds elsewhere.
_COMPUTED = ("Resize", "Upsample", "GridSample", "AffineGrid", "RoiAlign", "CropAndResize")
_NAME_WIDTH, _INPUT_WIDTH, _SIZE_WIDTH = 44, 44, 8


def add_parser(subparsers: Subparsers) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "lint",
        help="say what DirectML and WebNN make of the gathers and resizes of an ONNX model",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("models", nargs="+", metavar="MODEL.onnx", help="model file")
    add(
        "--feature-level",
        type=options.feature_level,
        default=max(FeatureLevel),
        metavar="X_Y",
        help="the DirectML level that nodes are held against (default: %(default)s)",
    )
    add(
        "--dim",
        type=_dim,
        action="append",
        default=[],
        metavar="NAME=LENGTH",
        help="length of a symbolic dimension of the inputs; INPUT.AXIS=LENGTH for one without a name",
    )
    add("--verify", action="store_true", help="run the nodes here and in ONNX Runtime (remapnd[verify])")
    add(
        "--tolerance",
        type=_tolerance,
        default=1e-4,
        metavar="T",
        help="difference that --verify allows to floats, as a part of the largest (default: %(default)s)",
    )
    add("--seed", type=options.integer(0), default=0, help="of the random inputs (default: %(default)s)")
    add(
        "--fail-on",
        type=_faults,
        default=("directml", "verify"),
        metavar="KIND,...",
        help=f"faults that make the exit status 1: {', '.join(_FAULTS)}, or none (default: directml,verify)",
    )
    add("--json", action="store_true", help="print one JSON array of all models")


def run(args: argparse.Namespace) -> int:
    """Look at the models; one that cannot be read is reported and the others are still looked at."""
    try:
        from remapnd.onnx.lint import lint  # noqa: PLC0415
        from remapnd.onnx.model_file import as_model  # noqa: PLC0415
    except ImportError as error:
        fail("lint", str(error).removeprefix("remapnd.onnx: "))
        return 1
    status = 0
    listed: list[dict[str, Any]] = []
    for file in args.models:
        try:
            model = as_model("lint", file)
            dims = dict(args.dim)
            reports = lint(model, dims=dims)
            results: Mapping[str, Comparison] = {}
            if args.verify:
                from remapnd.onnx.verify import verify  # noqa: PLC0415

                results = verify(file, dims=dims, seed=args.seed)
        except (ImportError, OSError, ValueError) as error:
            text = _text(file, error)
            fail("lint", f"{file}: {text}")
            listed.append({"model": file, "error": text})
            status = 1
            continue
        faults = {report.output_name: _faults_of(report, results, args) for report in reports}
        if any(set(kinds) & set(args.fail_on) for kinds in faults.values()):
            status = 1
        if args.json:
            nodes = [_entry(report, results, faults[report.output_name], args) for report in reports]
            listed.append({"model": file, "feature_level": str(args.feature_level), "nodes": nodes})
        else:
            _print(file, reports, results, args)
    if args.json:
        say(json.dumps(listed, indent=2))
    return status


def _text(file: str, error: Exception) -> str:
    """Return what an error says, in words of the command line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = str(error)
    for function in ("lint", "verify"):
        text = text.removeprefix(f"{function}: ")
    if text.startswith("`model` must be a model of ONNX"):
        hint = dxdispatch_hint(file)
        text = text.removeprefix("`model` ")
        return text.partition(": ")[0] + hint if hint else text
    return text.replace("`dims`", "`--dim`")


def _faults_of(report: NodeReport, results: Mapping[str, Comparison], args: argparse.Namespace) -> list[str]:
    """Return the kinds of faults that a node has."""
    result = results.get(report.output_name)
    found = {
        "directml": not report.accepted(args.feature_level),
        "webnn": report.webnn.method is None,
        "difference": bool(report.directml.differences),
        "verify": result is not None and not result.agrees(_allowed(report, args)),
    }
    return [kind for kind, present in found.items() if present]


def _allowed(report: NodeReport, args: argparse.Namespace) -> float:
    """Return the tolerance for a node: none but for floats that are computed."""
    floats = report.output.type in ("float", "float16", "double", "bfloat16", None)
    return float(args.tolerance) if floats and report.operator.startswith(_COMPUTED) else 0.0


def _entry(
    report: NodeReport, results: Mapping[str, Comparison], faults: list[str], args: argparse.Namespace
) -> dict[str, Any]:
    """Make what ``--json`` prints of one node."""
    entry: dict[str, Any] = {
        "graph": report.path,
        "node": report.node,
        "operator": report.operator,
        "inputs": [None if tensor is None else str(tensor) for tensor in report.inputs],
        "output": str(report.output),
        "faults": faults,
    }
    if report.error:
        return entry | {"error": report.error}
    placed = report.directml
    entry["directml"] = {
        "operator": None if placed.operator is None else str(placed.operator),
        "feature_level": None if placed.feature_level is None else str(placed.feature_level),
        "reason": placed.reason or None,
        "differences": [{"cause": one.cause, "example": one.example} for one in placed.differences],
    }
    entry["webnn"] = {"method": report.webnn.method, "reason": report.webnn.reason or None}
    result = results.get(report.output_name)
    if result is not None:
        entry["verify"] = {
            "agrees": result.agrees(_allowed(report, args)),
            "differing": result.differing,
            "size": result.size,
            "largest": result.largest if math.isfinite(result.largest) else str(result.largest),
            "at": None if result.at is None else list(result.at),
            "here": result.here,
            "there": result.there,
            "error": result.error or None,
        }
    return entry


def _print(
    file: str, reports: list[NodeReport], results: Mapping[str, Comparison], args: argparse.Namespace
) -> None:
    """Print a table of the nodes, and below it what there is to say of them."""
    verbs = "that gathers, scatters, resizes or samples" if len(reports) == 1 else _VERBS
    noun = "node" if len(reports) == 1 else "nodes"
    say(bold(f"{file}: {len(reports) or 'no'} {noun} {verbs}"))
    if not reports:
        return
    head = ["node", "operator", "input", "DirectML", "from", "WebNN"]
    if results:
        head.append("ONNX Runtime")
    print_table(head, [_cells(report, results, args) for report in reports], indent=0)
    notes: dict[str, list[str]] = {}
    for report in reports:
        for note in _notes(report, args.feature_level):
            notes.setdefault(note, []).append(report.path + report.node)
        result = results.get(report.output_name)
        if result is not None and (result.error or result.differing):
            notes.setdefault(_difference(result), []).append(report.path + report.node)
    for note, nodes in notes.items():
        others = "" if len(nodes) == 1 else f" and {len(nodes) - 1} more"
        say(f"{_shortened(nodes[0], _NAME_WIDTH)}{others}: {note}")


def _cells(report: NodeReport, results: Mapping[str, Comparison], args: argparse.Namespace) -> list[str]:
    """Return the row of a node."""
    placed, first = report.directml, report.inputs[0] if report.inputs else None
    level = "" if placed.feature_level is None else str(placed.feature_level)
    cells = [
        _shortened(report.path + report.node, _NAME_WIDTH),
        report.operator,
        "-" if first is None else _shortened(_input(first), _INPUT_WIDTH),
        "-" if placed.operator is None else str(placed.operator),
        level or "-",
        report.webnn.method or "-",
    ]
    if results:
        result = results.get(report.output_name)
        cells.append("not run" if result is None else _verdict(result, _allowed(report, args)))
    return cells


def _shortened(text: str, width: int) -> str:
    """Return a text, something behind its start left out if it is longer than `width`."""
    start = width // 4
    return text if len(text) <= width else f"{text[:start]}...{text[start + 3 - width :]}"


def _input(tensor: Any) -> str:
    """Show a type and shape; sizes that are long expressions as question marks."""
    if tensor.shape is None:
        return str(tensor)
    sizes = [str(size) if len(str(size)) <= _SIZE_WIDTH else "?" for size in tensor.shape]
    return f"{tensor.type or '?'}[{','.join(sizes)}]"


def _verdict(result: Comparison, allowed: float) -> str:
    """Say in a word how a result compares."""
    if result.error:
        return "error"
    if not result.differing:
        return "equal"
    return "close" if result.agrees(allowed) else "differs"


def _notes(report: NodeReport, level: FeatureLevel) -> list[str]:
    """Return sentences about a node."""
    if report.error:
        return [f"{bad('error')}: {report.error}"]
    placed = report.directml
    notes = []
    if placed.operator is None:
        notes.append(f"not DirectML: {placed.reason}")
    elif placed.reason:
        notes.append(f"DirectML: {placed.reason}")
    if placed.operator is not None and not report.accepted(level):
        notes.append(f"not DirectML at {level}: {placed.operator} takes it from {placed.feature_level} on")
    notes += [f"may differ: {difference}" for difference in placed.differences]
    if report.webnn.method is None:
        notes.append(f"not WebNN: {report.webnn.reason}")
    elif report.webnn.reason:
        notes.append(f"WebNN: {report.webnn.reason}")
    return notes


def _difference(result: Comparison) -> str:
    """Say how a result differs from ONNX Runtime's."""
    if result.error:
        return f"ONNX Runtime ran it, here: {result.error}"
    return (
        f"{result.differing} of {result.size} elements differ from ONNX Runtime's, by at most "
        f"{result.largest:.3g}: {result.here} here, {result.there} there, at {result.at}"
    )


def _dim(text: str) -> tuple[str, int]:
    """Read NAME=LENGTH of ``--dim``."""
    name, _, length = text.rpartition("=")
    if not name or not length.isdecimal():
        raise argparse.ArgumentTypeError(f"must be NAME=LENGTH, such as batch=1, got {text!r}")
    return name, int(length)


def _tolerance(text: str) -> float:
    """Read ``--tolerance``."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of at least 0, got {text!r}")
    return value


def _faults(text: str) -> tuple[str, ...]:
    """Read ``--fail-on``."""
    kinds = () if text == "none" else tuple(text.split(","))
    for kind in kinds:
        if kind not in _FAULTS:
            raise argparse.ArgumentTypeError(f"must be none or some of {', '.join(_FAULTS)}, got {kind!r}")
    return kinds
