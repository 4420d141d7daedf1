"""``remapnd struct``: how structs of directml.h lie in memory, and their declarations in many languages."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from remapnd.cli.console import fail, say
from remapnd.cli.options import choice
from remapnd.directml.abi.comments import header
from remapnd.directml.abi.declarations import TITLES, declare
from remapnd.directml.abi.structs import ARCHS, STRUCTS, Arch, Struct, find_struct
from remapnd.errors import word

if TYPE_CHECKING:
    from remapnd.cli.options import Subparsers

_EPILOG = """\
examples:
  remapnd struct gather_nd
  remapnd struct gather_nd tensor_desc buffer_tensor_desc --lang rust
  remapnd struct --all --lang c > directml_structs.h
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "struct",
        help="print a struct of DirectML: sizes, offsets, declarations",
        description="Print structs of directml.h: where each field lies on x64 and x86, or with\n"
        "--lang their declarations in a language.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names",
        nargs="*",
        type=_struct,
        metavar="NAME",
        help="a struct, such as DML_GATHER_ND_OPERATOR_DESC or gather_nd",
    )
    languages = ", ".join(f"{name} ({title})" for name, title in TITLES.items())
    parser.add_argument("--lang", type=choice(*TITLES), metavar="LANGUAGE", help=f"one of {languages}")
    parser.add_argument(
        "--arch",
        type=choice(*ARCHS),
        metavar="ARCH",
        help=f"one of {', '.join(ARCHS)}: tell of it only (default: both)",
    )
    parser.add_argument("--all", action="store_true", help="print all structs")
    parser.add_argument("--list", action="store_true", help="print the names and sizes of all structs")


def _struct(text: str) -> Struct:
    """Read the name of a struct."""
    try:
        return find_struct(text)
    except ValueError:
        short = [name.removeprefix("DML_").removesuffix("_OPERATOR_DESC").lower() for name in STRUCTS]
        raise argparse.ArgumentTypeError(
            f"must be a struct that `remapnd struct --list` lists, got {word(text, [*short, *STRUCTS])}"
        ) from None


def run(args: argparse.Namespace) -> int:
    """Print what was asked for."""
    archs: Sequence[Arch] = [args.arch] if args.arch else ARCHS
    structs: Sequence[Struct] = list(STRUCTS.values()) if args.all or args.list else args.names
    if not structs:
        fail("struct", "NAME must be given, or --all or --list")
        return 2
    if args.list:
        lines = _list(archs)
    elif args.lang:
        lines = declare(structs, args.lang, archs).splitlines()
    else:
        lines = "\n\n".join("\n".join(_layout(kind, archs)) for kind in structs).splitlines()
    for line in lines:
        say(line)
    return 0


def _list(archs: Sequence[Arch]) -> list[str]:
    """List names and sizes."""
    rows = [("struct", *archs)]
    rows += [(name, *(str(kind.layout(arch).size) for arch in archs)) for name, kind in STRUCTS.items()]
    return _table(rows, right=range(1, 1 + len(archs)))


def _layout(kind: Struct, archs: Sequence[Arch]) -> list[str]:
    """Show where the fields of a struct are."""
    rows = [(*archs, "size", "field", "type")]
    for member in kind.fields:
        places = (f"+{kind.layout(arch).offsets[member.name]}" for arch in archs)
        sizes = dict.fromkeys(str(kind.layout(arch).sizes[member.name]) for arch in archs)
        rows.append((*places, "/".join(sizes), member.name, member.c_type))
    return header(kind, archs) + [f"  {line}" for line in _table(rows, right=range(len(archs) + 1))]


def _table(rows: Sequence[Sequence[str]], right: range) -> list[str]:
    """Put cells in columns; those of `right` are set to the right."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if c in right else cell.ljust(width)
            for c, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
