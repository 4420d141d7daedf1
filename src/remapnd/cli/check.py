"""``remapnd check``: say everything that is wrong with the operators of a model."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING

from remapnd.cli import options
from remapnd.cli.console import fail, say
from remapnd.cli.hints import onnx_hint
from remapnd.cli.table import bad, bold, good, is_terminal, print_table
from remapnd.directml.check import supported_levels
from remapnd.directml.dxdispatch import Model, ModelError, check_all_bindings, read_model, violations
from remapnd.directml.enums import FeatureLevel
from remapnd.directml.operators import OperatorDesc
from remapnd.directml.policy import Policy
from remapnd.directml.read import shown
from remapnd.directml.violation import Violation

if TYPE_CHECKING:
    from remapnd.cli.options import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "check",
        help="say what a DirectML feature level would refuse in a model",
        description="Check every operator of models in the JSON format of DxDispatch against the rules of a "
        "DirectML feature level: every violation, with field, rule, value, and the lowest level "
        "that accepts it. The exit status is 1 if there is any.",
        epilog="example: remapnd check examples/gather_nd1.json --feature-level 2_1",
    )
    parser.add_argument("models", nargs="+", metavar="MODEL.json", help="model file")
    parser.add_argument(
        "--feature-level",
        "--dml_feature_level",
        type=options.feature_level,
        default=max(FeatureLevel),
        metavar="X_Y",
        help="the level to check against (default: %(default)s)",
    )
    parser.add_argument(
        "--input_path", metavar="DIR", help="where source files are (default: beside the model)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=("table", "lines", "json"),
        help="tables for people (the default on a terminal), one line for each violation (the default "
        "elsewhere), or one JSON array of all dispatchables",
    )
    form.add_argument("--json", action="store_const", const="json", dest="format", help="as --format json")
    options.add_policy(parser)


def run(args: argparse.Namespace) -> int:
    """Check the models; one that cannot be read is reported and the others are still checked."""
    policy = options.policy(args)
    form = args.format or ("table" if is_terminal() else "lines")
    status = 0
    report: list[dict[str, object]] = []
    for file in args.models:
        hint = onnx_hint(file)
        try:
            model = read_model(file, input_path=args.input_path, compat=policy.dxdispatch_compat == "on")
            hint = ""
            found = violations(model, args.feature_level, policy)
            if form == "json":
                report += [_entry(model, name, args.feature_level, found[name], policy) for name in found]
            elif form == "table":
                _print_tables(model, args.feature_level, found, policy)
            else:
                _print_lines(model, args.feature_level, found, policy)
            if any(found.values()):
                status = 1
            else:
                check_all_bindings(model)
        except ModelError as error:
            fail("check", f"{error}{hint}")
            report.append({"model": file, "error": f"{error}{hint}"})
            status = 1
    if form == "json":
        say(json.dumps(report, indent=2))
    return status


def _entry(
    model: Model, name: str, level: FeatureLevel, faults: list[Violation], policy: Policy
) -> dict[str, object]:
    """Make what ``--json`` prints of one dispatchable."""
    desc = model.dispatchables[name].desc
    return {
        "model": model.file,
        "dispatchable": name,
        "operator": str(desc.Type),
        "feature_level": str(level),
        "violations": [
            {
                "field": fault.field,
                "rule": fault.rule,
                "value": _plain(fault.value),
                "minimum_feature_level": None
                if fault.minimum_feature_level is None
                else str(fault.minimum_feature_level),
            }
            for fault in faults
        ],
        "supported_levels": [str(supported) for supported in supported_levels(desc, policy)],
    }


def _plain(value: object) -> object:
    """Make what JSON can hold: names for enumerators, strings for infinities and NaN."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or type(value) in (bool, int, float) else str(value)


def _print_lines(
    model: Model, level: FeatureLevel, found: dict[str, list[Violation]], policy: Policy
) -> None:
    """Say one line for each violation, or for each dispatchable that has none."""
    if not found:
        say(f"{model.file}: has no dispatchables")
    for name, faults in found.items():
        item = model.dispatchables[name]
        place = f"{model.file}: {item.value.path}"
        for fault in faults:
            say(f"{place}: {fault}")
        if not faults:
            say(f"{place}: {item.desc.Type} is valid at {level} ({_accepted(item.desc, policy)})")


def _print_tables(
    model: Model, level: FeatureLevel, found: dict[str, list[Violation]], policy: Policy
) -> None:
    """Print what is wrong with each dispatchable as a table, and a line that sums up."""
    say(bold(f"{model.file} at feature level {level}"))
    for name, faults in found.items():
        item = model.dispatchables[name]
        title = f"  {item.value.path}  {item.desc.Type}  "
        if faults:
            say(title + bad(f"{len(faults)} violation{'' if len(faults) == 1 else 's'}"))
            rows = [[f.field, f.rule, shown(f.value), _lowest(f)] for f in faults]
            print_table(["field", "rule", "value", "accepted from"], rows, indent=4)
        else:
            say(title + good("valid") + f" ({_accepted(item.desc, policy)})")
    wrong = sum(map(bool, found.values()))
    say(
        bad(f"{wrong} of {len(found)} would be refused")
        if wrong
        else good(f"{len(found)} of {len(found)} valid")
    )


def _lowest(fault: Violation) -> str:
    """Name the lowest level that accepts a value."""
    return "no level" if fault.minimum_feature_level is None else str(fault.minimum_feature_level)


def _accepted(desc: OperatorDesc, policy: Policy) -> str:
    """Say which levels accept a descriptor that one of them does."""
    levels = supported_levels(desc, policy)
    return f"accepted from {levels[0]} on" if len(levels) > 1 else f"accepted by {levels[0]} alone"
