"""Options that several sub-commands have, and the types of option values.

Used by the sub-commands.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, get_args, get_type_hints

from remapnd.directml.enums import FeatureLevel
from remapnd.directml.policy import Policy
from remapnd.errors import word

if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]


_LONGEST = 1_000_000_000  # milliseconds
# What other programs and libraries call words and options.
_WORDS_ELSEWHERE = {"true": "pillow", "false": "none"}
_OPTIONS_ELSEWHERE = {"--size": "--shape", "--factor": "--scale"}


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


def choice(*words: str) -> Callable[[str], str]:
    """Make a reader of one of some words; for another it says which may have been meant."""

    def read(text: str) -> str:
        if text not in words:
            raise argparse.ArgumentTypeError(
                f"must be one of {', '.join(words)}, got {word(text, words, _WORDS_ELSEWHERE)}"
            )
        return text

    return read


def unknown_option(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> str:
    """Return what to say of a long option that a parser does not have, the first one; else nothing.

    A parser itself complains first of options that are missing, such as the one that is misspelt.
    """
    known = [name for action in parser._actions for name in action.option_strings]
    for argument in arguments:
        if argument == "--":
            break
        name = argument.partition("=")[0]
        if name.startswith("--") and not any(one.startswith(name) for one in known):
            meant = word(name, known, _OPTIONS_ELSEWHERE).removeprefix(repr(name))
            return f"unrecognized arguments: {argument}{meant}"
    return ""


def milliseconds(text: str) -> float:
    """Read a time; days at most, as systems cannot sleep for any longer one."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= _LONGEST:
        raise argparse.ArgumentTypeError(
            f"must be a number of milliseconds in [0, {_LONGEST:,}], got {text!r}"
        )
    return value


def feature_level(text: str) -> FeatureLevel:
    """Read a feature level, such as 3_0, 3.0, 3 or DML_FEATURE_LEVEL_3_0."""
    try:
        return FeatureLevel.parse(f"{text}_0" if text.isdecimal() else text)
    except ValueError:
        levels = ", ".join(map(str, FeatureLevel))
        raise argparse.ArgumentTypeError(f"must be one of {levels}, got {text!r}") from None


def add_policy(parser: argparse.ArgumentParser) -> None:
    """Add ``--policy``, which `policy` reads."""
    listed, defaults = [], Policy()
    for name, values in _policy_choices().items():
        default = getattr(defaults, name)
        others = ", ".join(value for value in values if value != default)
        listed.append(f"{name}={default} (or {others})")
    parser.add_argument(
        "--policy",
        type=_policy_choice,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="settle what DirectML's documentation leaves open; may be given several times. Names, "
        f"defaults and other values: {', '.join(listed)}",
    )


def policy(args: argparse.Namespace) -> Policy:
    """Build the policy of ``--policy``; of several values for one name the last counts."""
    return Policy(**dict(args.policy))


@cache
def _policy_choices() -> dict[str, tuple[str, ...]]:
    """Return the values that each field of a policy takes."""
    hints = get_type_hints(Policy)
    return {field.name: get_args(hints[field.name]) for field in dataclasses.fields(Policy)}


def _policy_choice(text: str) -> tuple[str, str]:
    """Read NAME=VALUE of ``--policy``."""
    choices = _policy_choices()
    name, equals, value = text.partition("=")
    if not equals:
        known = name if name in choices else next(iter(choices))
        example = f"{known}={choices[known][0]}"
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, such as {example}, got {text!r}")
    if name not in choices:
        raise argparse.ArgumentTypeError(f"NAME must be one of {', '.join(choices)}, got {name!r}")
    if value not in choices[name]:
        raise argparse.ArgumentTypeError(f"{name} must be one of {', '.join(choices[name])}, got {value!r}")
    return name, value
