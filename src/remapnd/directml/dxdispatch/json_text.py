"""JSON as model files are written: with comments and trailing commas, and errors that name line and column.

Uses `values.ModelError`; used by `model`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from remapnd.directml.dxdispatch.values import BareWord, ModelError

# A string runs to its closing quote or, where there is none, to the end: nothing inside it is a comment.
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
_STRING_OR_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(rf"{_STRING}|,(?=[ \t\n\r]*[\]}}])", re.DOTALL)
_STRING_OR_BRACKET = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)
_DEPTH_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_DEEPEST = 100
_NOT_NEWLINE = re.compile(r"[^\n]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_JSON_SPACE = " \t\n\r"
_LONGEST_INTEGER = 40
_SNIPPET = 40


@dataclass(frozen=True)
class _Comments:
    text: str
    unclosed: int | None


def _blank_comments(text: str) -> _Comments:
    """Replace comments by spaces, so that every other character keeps its place."""
    unclosed: int | None = None

    def blank(match: re.Match[str]) -> str:
        nonlocal unclosed
        found = match.group()
        if found.startswith('"'):
            return found
        if found.startswith("/*") and (len(found) < 4 or not found.endswith("*/")):
            unclosed = match.start()
        return _NOT_NEWLINE.sub(" ", found)

    return _Comments(_STRING_OR_COMMENT.sub(blank, text), unclosed)


def _blank_trailing_commas(text: str) -> str:
    """Replace by a space each comma that stands between a value and a closing bracket."""

    def blank(match: re.Match[str]) -> str:
        if match.group() != ",":
            return match.group()
        before = match.start() - 1
        while before >= 0 and text[before] in _JSON_SPACE:
            before -= 1
        return "," if before < 0 or text[before] in "[{,:" else " "

    return _STRING_OR_LAST_COMMA.sub(blank, text)


def _integer(digits: str) -> int | float:
    """Integers too long for any field become floats, which integer fields refuse."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


def parse_json(text: str, file: str) -> object:
    """Read the first JSON value of `text`, as DxDispatch does; what follows it is not looked at.

    Parameters
    ----------
    text : str; may hold ``//`` and ``/* */`` comments and trailing commas
    file : str; named in errors

    Returns
    -------
    dict, list, str, int, float, bool or None; `BareWord` for NaN and Infinity, which JSON does not have;
    of equal keys in one object the last counts

    Raises
    ------
    ModelError
        `text` is not JSON; the message has file, line, column, what was expected, and what stands there.
    """
    comments = _blank_comments(text)
    plain = _blank_trailing_commas(comments.text)
    _check_depth(plain, text, file)
    decoder = json.JSONDecoder(parse_int=_integer, parse_constant=BareWord)
    start = len(plain) - len(plain.lstrip(_JSON_SPACE))
    try:
        value, _ = decoder.raw_decode(plain, start)
    except json.JSONDecodeError as error:
        if comments.unclosed is not None and error.pos >= comments.unclosed:
            raise _syntax_error(text, file, comments.unclosed, "a comment that is closed by */") from None
        raise _syntax_error(text, file, error.pos, _expected(error.msg, error.pos == start)) from None
    return value


def _check_depth(plain: str, text: str, file: str) -> None:
    """Refuse deep nesting before anything that works by recursion meets it."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(plain):
        depth += _DEPTH_STEPS.get(match.group(), 0)
        if depth > _DEEPEST:
            expected = f"at most {_DEEPEST} objects and arrays around each other"
            raise _syntax_error(text, file, match.start(), expected)


def _expected(message: str, at_start: bool) -> str:
    """Name what the parser of the standard library missed."""
    known = {
        "Expecting value": "a model in JSON" if at_start else "a value",
        "Expecting ',' delimiter": "a comma or a closing bracket",
        "Expecting ':' delimiter": "a colon",
        "Expecting property name enclosed in double quotes": "a key in double quotes or a closing brace",
        "Unterminated string starting at": "a string that is closed on its line",
        "Invalid control character at": "a string that is closed on its line, without control characters",
    }
    return known.get(message, f"valid JSON ({message[:1].lower()}{message[1:]})")


def _syntax_error(text: str, file: str, position: int, expected: str) -> ModelError:
    """Name line and column, counted from 1, and what stands there."""
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    rest = _CONTROL.sub(" ", text[position:].split("\n", 1)[0]).rstrip()
    if not text.strip():
        found = "an empty file"
    elif position >= len(text.rstrip()):
        found = "the end of the file"
    elif not rest:
        found = "the end of the line"
    else:
        found = rest if len(rest) <= _SNIPPET else rest[:_SNIPPET] + "..."
    return ModelError(f"{file}:{line}:{column}: expected {expected}, got {found}")
