"""What `remapnd bench` does: chooses cases and libraries, shows the rows as they come, writes the files."""

from __future__ import annotations

import argparse
import fnmatch
import sys
from collections.abc import Sequence
from pathlib import Path

from remapnd.bench import picture, report
from remapnd.bench import results as results_file
from remapnd.bench.cases import CASES, Case, sweep_cases
from remapnd.bench.libraries import LIBRARIES, AbsentError, load, usable_cpus
from remapnd.bench.results import Results, Row
from remapnd.bench.run import default_libraries
from remapnd.bench.run import run as run_table
from remapnd.cli.console import complain, say
from remapnd.files import replacing

__all__ = ["run"]

_SWEEP, _QUICK_SWEEP = 8, 6  # powers of ten


class _UsageError(Exception):
    """The command line asks for what is not there; exit status 2."""


class _FileError(Exception):
    """A file cannot be read or written; exit status 1."""


def run(args: argparse.Namespace) -> int:
    """Measure or read, and show; return the exit status."""
    try:
        _check_outputs(args)
        if args.source is not None:
            return _show_stored(args, _read(args.source))
        cases = _cases(args)
        if args.list:
            _list(cases)
            return 0
        return _measure(args, cases, _libraries(args))
    except _UsageError as error:
        complain(f"remapnd bench: {error}")
        return 2
    except _FileError as error:
        complain(f"remapnd bench: {error}")
        return 1


def _measure(args: argparse.Namespace, cases: Sequence[Case], libraries: Sequence[str]) -> int:
    """Run the cases, with a line for each as soon as it is known."""
    if args.threads > usable_cpus():
        raise _UsageError(
            f"--threads must be in [1, {usable_cpus()}], the processors here, got {args.threads}"
        )
    names = [case.name for case in cases]
    width = max(map(len, names))
    begun: list[Results] = []

    def started(results: Results) -> None:
        begun.append(results)
        _progress("")
        for line in report.header_lines(results, names):
            say(line)

    def finished(results: Results, row: Row) -> None:
        _progress("")
        say(report.row_line(results, row, width))
        sys.stdout.flush()

    try:
        results = run_table(
            cases,
            libraries,
            threads=args.threads,
            quick=args.quick,
            memory=args.memory,
            started=started,
            progress=_progress,
            finished=finished,
        )
    except KeyboardInterrupt:
        _progress("")
        if begun and begun[0].rows:  # minutes of measuring are not lost
            _write(args, begun[0])
        raise
    for line in report.footer_lines(results):
        say(line)
    _write(args, results)
    return _status(results)


def _show_stored(args: argparse.Namespace, results: Results) -> int:
    """Print and write what a file holds."""
    names = [row.name for row in results.rows]
    for line in report.header_lines(results, names):
        say(line)
    for row in results.rows:
        say(report.row_line(results, row, max(map(len, names))))
    for line in report.footer_lines(results):
        say(line)
    _write(args, results)
    return _status(results)


def _read(path: Path) -> Results:
    """Read a file of --json."""
    try:
        return results_file.read(path)
    except OSError as error:
        raise _FileError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise _FileError(f"{path}: {error}") from None


def _status(results: Results) -> int:
    """Return 1 if remapnd was wrong anywhere, or failed."""
    entries = (row.entries.get("remapnd") for row in results.rows)
    return 1 if any(entry is not None and entry.timing is None for entry in entries) else 0


def _write(args: argparse.Namespace, results: Results) -> None:
    """Write the files that were asked for."""
    try:
        if args.json is not None:
            results_file.write(results, args.json)
        if args.md is not None:
            with replacing(args.md) as file:
                file.write(report.markdown(results).encode())
        if args.png is not None:
            picture.draw(results, args.png)
    except OSError as error:
        raise _FileError(f"{error.filename}: {error.strerror}") from error


def _check_outputs(args: argparse.Namespace) -> None:
    """Find out before the measuring, not after it, that a result cannot be written."""
    for option in ("json", "md", "png"):
        path: Path | None = getattr(args, option)
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise _UsageError(f"--{option} must be a file in a directory that exists, got {path}")
    if args.png is not None:
        try:
            load("matplotlib")
        except AbsentError as error:
            raise _UsageError(f"--png needs matplotlib, as 'remapnd[bench]' installs it ({error})") from None


def _cases(args: argparse.Namespace) -> list[Case]:
    """Return the cases whose name or family is asked for."""
    patterns = [pattern.strip() for pattern in args.cases.split(",")] if args.cases is not None else []
    swept = any(pattern.startswith("sweep") for pattern in patterns)
    if args.sweep is not None and patterns and not swept:
        raise _UsageError(f"--sweep with --cases must have sweep among them, got {args.cases!r}")
    cases = list(CASES)
    if swept or args.sweep is not None:
        cases += sweep_cases(args.sweep or (_QUICK_SWEEP if args.quick else _SWEEP))
    if not patterns:
        return cases
    for pattern in patterns:
        if not any(_matches(case, pattern) for case in cases):
            raise _UsageError(f"--cases must match names or families that --list shows, got {pattern!r}")
    return [case for case in cases if any(_matches(case, pattern) for pattern in patterns)]


def _matches(case: Case, pattern: str) -> bool:
    return pattern == case.family or fnmatch.fnmatchcase(case.name, pattern)


def _libraries(args: argparse.Namespace) -> list[str]:
    """Return the names of the libraries that are asked for, remapnd among them or not."""
    if args.libs is None:
        return default_libraries(args.quick)
    names = [name.strip() for name in args.libs.split(",")]
    for name in names:
        if name not in LIBRARIES:
            raise _UsageError(f"--libs must be of {', '.join(LIBRARIES)}, got {name!r}")
    return [name for name in LIBRARIES if name in names]


def _list(cases: Sequence[Case]) -> None:
    """Print names, families and what the cases are."""
    width = max(len(case.name) for case in cases)
    for case in cases:
        say(f"{case.name:<{width}}  {case.family:<8}  {case.what}")


def _progress(text: str) -> None:
    """Show what is being done in one line that the next one replaces; on a terminal alone."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text[:78]}")
        sys.stderr.flush()
