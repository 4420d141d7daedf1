"""JSON values with their place in the model, read as the types that the format knows.

Used by every reader of the package; owns the wording of its errors.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from remapnd.directml.enums import DMLEnum, DMLFlag

_E = TypeVar("_E", bound=DMLEnum)
_F = TypeVar("_F", bound=DMLFlag)
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SHOWN = 60
_LISTED = 12
_SPECIAL_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
UINT32_MAX = 2**32 - 1
UINT64_MAX = 2**64 - 1


class ModelError(ValueError):
    """A model that cannot be read or run; the message is one line with file, place, rule and value."""


@dataclass(frozen=True)
class BareWord:
    """A word without quotes where JSON has none: NaN, Infinity."""

    text: str

    def __str__(self) -> str:
        return self.text


def describe(content: object) -> str:
    """Show a JSON value in an error message, on one line and not too long."""
    if isinstance(content, BareWord):
        return str(content)
    if isinstance(content, dict):
        return "an object"
    if isinstance(content, list):
        return f"an array of {len(content)} value{'' if len(content) == 1 else 's'}"
    if isinstance(content, float) and math.isinf(content):
        return "a number outside the range of a double"
    shown = json.dumps(content, ensure_ascii=False)
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."


def list_names(names: Iterable[str]) -> str:
    """List names of a model in an error message: the first ones, quoted where they are no plain words."""
    shown = [name if _PLAIN_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False) for name in names]
    return ", ".join(shown[:_LISTED]) + (", ..." if len(shown) > _LISTED else "")


@dataclass(frozen=True)
class Value:
    """One JSON value: its content, the file, and the path to it, such as ``commands[0].type``."""

    content: object
    file: str
    path: str = ""

    def error(self, rule: str, got: str | None = None) -> ModelError:
        """Make the error of this value: it must `rule`."""
        place = f"`{self.path}`" if self.path else "the model"
        return ModelError(f"{self.file}: {place} must {rule}, got {got or describe(self.content)}")

    def members(self) -> Iterator[tuple[str, Value]]:
        """Give keys and values of an object."""
        for key in self._object():
            yield key, self.child(key)

    def find(self, *keys: str) -> Value | None:
        """Give the member of the first of `keys` that is there, or None."""
        content = self._object()
        return next((self.child(key) for key in keys if key in content), None)

    def member(self, key: str) -> Value:
        """Give the member `key`, which is required."""
        found = self.find(key)
        if found is None:
            keys = list_names(self._object())
            raise self.error(f"have the key {key}", f"the keys {keys}" if keys else "no keys")
        return found

    def child(self, key: str) -> Value:
        """Give the member `key` of an object that is known to have it."""
        step = key if _PLAIN_KEY.fullmatch(key) else f"[{json.dumps(key, ensure_ascii=False)}]"
        separator = "." if self.path and not step.startswith("[") else ""
        return Value(self._object()[key], self.file, f"{self.path}{separator}{step}")

    def elements(self) -> list[Value]:
        """Give the elements of an array."""
        return [self.element(index) for index in range(len(self._array()))]

    def element(self, index: int) -> Value:
        """Give the element at `index` of an array that is known to have it."""
        return Value(self._array()[index], self.file, f"{self.path}[{index}]")

    def text(self) -> str:
        """Read a string."""
        if not isinstance(self.content, str):
            raise self.error("be a string")
        return self.content

    def boolean(self) -> bool:
        """Read true or false."""
        if not isinstance(self.content, bool):
            raise self.error("be true or false")
        return self.content

    def integer(self, low: int = 0, high: int = UINT32_MAX) -> int:
        """Read a JSON integer in [low, high]; 1.0 is none."""
        if type(self.content) is not int or not low <= self.content <= high:
            raise self.error(f"be an integer in [{low}, {high}]")
        return self.content

    def real(self) -> float:
        """Read a number that a double holds, or one of the strings for infinities and NaN."""
        content = self.content
        if isinstance(content, str) and content.lower() in _SPECIAL_FLOATS:
            return _SPECIAL_FLOATS[content.lower()]
        if type(content) is float and not math.isinf(content):
            return content
        if type(content) is int and int(float(content)) == content:
            return float(content)
        raise self.error('be a number that a double holds, or "inf", "-inf" or "nan"')

    def integers(self, low: int = 0, high: int = UINT32_MAX) -> tuple[int, ...]:
        """Read an array of integers in [low, high]."""
        return tuple(
            item if type(item) is int and low <= item <= high else self.element(index).integer(low, high)
            for index, item in enumerate(self._array())
        )

    def reals(self) -> tuple[float, ...]:
        """Read an array of numbers."""
        return tuple(
            item if type(item) is float and not math.isinf(item) else self.element(index).real()
            for index, item in enumerate(self._array())
        )

    def enumerator(self, kind: type[_E]) -> _E:
        """Read the name of an enumerator, with or without the prefix that directml.h gives it."""
        name = self.text()
        try:
            return kind.parse(name)
        except ValueError:
            raise self.error(f"be one of {', '.join(kind.__members__)}") from None

    def flags(self, kind: type[_F]) -> _F:
        """Read the name of a flag, or an array of such names."""
        values = [self] if isinstance(self.content, str) else self.elements()
        flags = kind(0)
        for value in values:
            name = value.text()
            try:
                flags |= kind.parse(name)
            except ValueError:
                raise value.error(f"be one of {', '.join(kind.__members__)}") from None
        return flags

    def _object(self) -> dict[str, object]:
        """Give the content, an object."""
        if not isinstance(self.content, dict):
            raise self.error("be an object")
        return self.content

    def _array(self) -> list[object]:
        """Give the content, an array."""
        if not isinstance(self.content, list):
            raise self.error("be an array")
        return self.content
