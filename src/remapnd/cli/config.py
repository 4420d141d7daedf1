"""``remapnd config``: what is installed and in use."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from remapnd.config import show_config

if TYPE_CHECKING:
    from remapnd.cli.options import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the sub-command."""
    subparsers.add_parser(
        "config",
        help="print version, instruction sets, threads",
        description="Print the version, the instruction sets built, usable and in use, and the threads.",
        epilog="example: remapnd config",
    )


def run(args: argparse.Namespace) -> int:
    """Print the configuration."""
    show_config()
    return 0
