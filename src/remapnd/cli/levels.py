"""``remapnd levels``: what an operator takes at each DirectML feature level."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from remapnd.cli.console import say
from remapnd.cli.table import print_table
from remapnd.directml.enums import OperatorType, TensorDataType
from remapnd.directml.support import SUPPORT, SupportRow
from remapnd.errors import word

if TYPE_CHECKING:
    from remapnd.cli.options import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "levels",
        help="print what DirectML feature levels support",
        description="Print from which DirectML feature level on an operator takes which dimension counts, "
        "data types and index types. Without an operator, print the level that introduced each.",
        epilog="example: remapnd levels GATHER_ND",
    )
    parser.add_argument(
        "operators",
        nargs="*",
        type=_operator,
        metavar="OPERATOR",
        help="operator, such as RESAMPLE2 or DML_OPERATOR_RESAMPLE2; several print one table each",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object of all tables")


def run(args: argparse.Namespace) -> int:
    """Print the tables."""
    operators: Sequence[OperatorType] = args.operators or list(SUPPORT)
    if args.json:
        tables = {str(operator): [_entry(row) for row in SUPPORT[operator]] for operator in operators}
        say(json.dumps(tables, indent=2))
    elif args.operators:
        for operator in operators:
            say(f"{operator}")
            indexed = any(row.index_types for row in SUPPORT[operator])
            heads = ["from", "dimensions", "data types", *(["index types"] if indexed else [])]
            print_table(heads, [_cells(row)[: len(heads)] for row in SUPPORT[operator]])
    else:
        print_table(["operator", "from"], [[str(o), str(SUPPORT[o][0].since)] for o in operators])
    return 0


def _operator(text: str) -> OperatorType:
    """Read the name of an operator, in upper or lower case."""
    try:
        return OperatorType.parse(text.upper())
    except ValueError:
        known = [str(operator) for operator in SUPPORT]
        raise argparse.ArgumentTypeError(
            f"must be one of {', '.join(known)}, got {word(text, known)}"
        ) from None


def _names(types: Sequence[TensorDataType]) -> list[str]:
    return [str(data_type) for data_type in types]


def _cells(row: SupportRow) -> list[str]:
    """Return what a line of the table says."""
    first, last = row.dimension_counts[0], row.dimension_counts[-1]
    counts = str(first) if first == last else f"{first} to {last}"
    return [str(row.since), counts, " ".join(_names(row.data_types)), " ".join(_names(row.index_types))]


def _entry(row: SupportRow) -> dict[str, object]:
    """Return what ``--json`` prints of a row."""
    return {
        "since": str(row.since),
        "dimension_counts": list(row.dimension_counts),
        "data_types": _names(row.data_types),
        "index_types": _names(row.index_types),
    }
