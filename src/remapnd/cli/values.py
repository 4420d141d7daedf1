"""Numbers on the command line, taken as they are written: 0.1 is one tenth, 1/3 a third.

Used by the sub-commands.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from remapnd.cli.errors import UsageError

_INTEGER: Final = re.compile(r"\d{1,20}", re.ASCII)
# Bounded, so that no exponent makes a number of millions of digits.
_UNSIGNED: Final = r"(?:(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:e[+-]?\d{1,2})?|\d{1,40}/0*[1-9]\d{0,39})"
_NUMBER: Final = re.compile(f"[+-]?{_UNSIGNED}", re.ASCII | re.IGNORECASE)
_SLICE: Final = re.compile(r"(-?\d{1,20})?:(-?\d{1,20})?", re.ASCII)


def number(option: str, text: str) -> Fraction:
    """Return a number such as -1/2, 0.75 or 1e-3."""
    if not _NUMBER.fullmatch(text):
        raise UsageError(f"{option} must be a number such as 2, 0.75 or -1/3, got {text!r}")
    return Fraction(text)


def numbers(option: str, text: str) -> list[Fraction]:
    """Return numbers with commas between them."""
    parts = text.split(",")
    if not all(map(_NUMBER.fullmatch, parts)):
        raise UsageError(f"{option} must be numbers with commas between them, got {text!r}")
    return [Fraction(part) for part in parts]


def sizes(option: str, text: str) -> list[Fraction]:
    """Return integers greater than zero with x between them."""
    return _positive(option, text, _INTEGER, "integers", "100 or 480x640")


def factors(option: str, text: str) -> list[Fraction]:
    """Return numbers greater than zero with x between them."""
    return _positive(option, text, _NUMBER, "numbers", "0.5, 1/2 or 0.5x1")


def integers(option: str, text: str) -> list[int]:
    """Return short integers with commas between them."""
    if not re.fullmatch(r"-?\d{1,4}(,-?\d{1,4})*", text, re.ASCII):
        raise UsageError(f"{option} must be integers with commas between them, got {text!r}")
    return [int(part) for part in text.split(",")]


def item(option: str, text: str) -> int | float:
    """Return a value for an element of an array: an int if it is written as one, else a float."""
    try:
        return int(text) if re.fullmatch(r"[+-]?\d{1,40}", text, re.ASCII) else float(text)
    except ValueError:
        raise UsageError(f"{option} must be a number, nan or inf, got {text!r}") from None


def rows(option: str, text: str) -> slice:
    """Return the first N, or BEGIN:END as in Python."""
    if _INTEGER.fullmatch(text) and int(text):
        return slice(int(text))
    if not _SLICE.fullmatch(text):
        rule = "an integer of at least 1, or BEGIN:END with negative ones counted from the end"
        raise UsageError(f"{option} must be {rule}, got {text!r}")
    return slice(*(int(part) if part else None for part in text.split(":")))


def _positive(option: str, text: str, form: re.Pattern[str], what: str, example: str) -> list[Fraction]:
    """Return numbers of a form, all greater than zero."""
    parts = text.lower().split("x")
    if not all(form.fullmatch(part) and Fraction(part) > 0 for part in parts):
        rule = f"{what} greater than 0 with x between them, such as {example}"
        raise UsageError(f"{option} must be {rule}, got {text!r}")
    return [Fraction(part) for part in parts]
