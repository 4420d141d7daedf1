"""Options that several sub-commands have, and the types of option values.

Used by the sub-commands.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from remapnd.directml.enums import FeatureLevel
from remapnd.directml.policy import Policy

if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]


def integer(least: int) -> Callable[[str], int]:
    """Make a reader of integers from `least` on."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be an integer of at least {least}, got {text!r}")
        return value

    return read


def milliseconds(text: str) -> float:
    """Read a time, at least 0 and finite."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of milliseconds, at least 0, got {text!r}")
    return value


def feature_level(text: str) -> FeatureLevel:
    """Read a feature level, such as 3_0, 3.0 or DML_FEATURE_LEVEL_3_0."""
    try:
        return FeatureLevel.parse(text)
    except ValueError:
        levels = ", ".join(map(str, FeatureLevel))
        raise argparse.ArgumentTypeError(f"must be one of {levels}, got {text!r}") from None


def add_policy(parser: argparse.ArgumentParser) -> None:
    """Add ``--policy``, which `policy` reads."""
    names = ", ".join(field.name for field in dataclasses.fields(Policy))
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"choose where DirectML's documentation is silent; names: {names}; may be given several times",
    )


def policy(args: argparse.Namespace) -> Policy:
    """Build the policy of ``--policy``.

    Raises
    ------
    ValueError
        A name or value is not known.
    """
    choices: dict[str, str] = {}
    known = [field.name for field in dataclasses.fields(Policy)]
    for text in args.policy:
        name, _, value = text.partition("=")
        if name not in known:
            raise ValueError(f"Policy: name must be one of {', '.join(known)}, got {name!r}")
        choices[name] = value
    return dataclasses.replace(Policy(), **choices)  # type: ignore[arg-type]
