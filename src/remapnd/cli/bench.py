"""`remapnd bench`: how fast remapnd is on this machine, beside the libraries that are installed."""

from __future__ import annotations

import argparse
from pathlib import Path

from remapnd.cli.options import integer

__all__ = ["add_parser", "run"]

_DESCRIPTION = """\
Time remapnd and the peers that are installed (NumPy, PyTorch, ONNX Runtime, OpenCV,
JAX, volresample, kornia-rs, Pillow, SciPy, scikit-image) on the same work, in turn,
in one process. Every result is compared with the exact one first; a library that is
wrong by more than its arithmetic explains is listed with the reason and not timed.

Exit status 1 if a result of remapnd is not what it has to be.
"""
_EXAMPLES = """\
examples:
  remapnd bench --quick
  remapnd bench --cases 'linear_u8*,gather' --libs remapnd,cv2,torch
  remapnd bench --threads 2 --json results.json --md results.md --png results.png
  remapnd bench --cases sweep --sweep 7 --png sweep.png
  remapnd bench --from results.json --md results.md
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "bench",
        help="time remapnd and the libraries that are installed on the same work",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--cases",
        metavar="GLOB,...",
        help="names or families (gather, scatter, resample, small, sweep); default: all but sweep",
    )
    add("--libs", metavar="NAME,...", help="libraries; default: all that are installed")
    add("--threads", type=integer(1), default=1, metavar="N", help="of every library; default: 1")
    add("--quick", action="store_true", help="few repetitions, without JAX, SciPy and scikit-image")
    add(
        "--sweep",
        type=integer(3),
        nargs="?",
        const=0,
        metavar="N",
        help="the family sweep too, from 10**3 to 10**N elements; if N is left out it is 8, which takes "
        "some 6 GB of memory, or 6 with --quick",
    )
    add("--memory", action="store_true", help="also measure the memory that a call needs (Linux)")
    add("--list", action="store_true", help="list the cases, and measure nothing")
    add("--json", type=Path, metavar="FILE", help="write all results")
    add("--md", type=Path, metavar="FILE", help="write tables in Markdown")
    add("--png", type=Path, metavar="FILE", help="draw a picture (needs matplotlib)")
    add(
        "--from",
        type=Path,
        dest="source",
        metavar="FILE",
        help="measure nothing: show the results in a --json file",
    )


def run(args: argparse.Namespace) -> int:
    """Measure or read, and show; return the exit status."""
    # Its imports would double the time in which the other sub-commands start.
    from remapnd.cli import benchmarking  # noqa: PLC0415

    return benchmarking.run(args)
