"""`remapnd selftest`: whether the results of this build on this machine are those of every other."""

from __future__ import annotations

import argparse

from remapnd._version import __version__
from remapnd.cli.console import say
from remapnd.selftest import run_selftest

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command."""
    subparsers.add_parser(
        "selftest",
        help="compare results with known hashes on every instruction-set level",
        description="Run fixed cases on every instruction-set level that this processor has, with 1, 2 and 3 "
        "threads, and compare the SHA-256 of each result with the known one. Exit status 1 if one differs.",
        epilog="example: remapnd selftest",
    )


def run(args: argparse.Namespace) -> int:
    """Run the self-test and print the table; return the exit status."""
    report = run_selftest()
    say(f"remapnd {__version__}: {report.cases} cases")
    for line in str(report).splitlines():
        say(line)
    return 0 if report.ok else 1
