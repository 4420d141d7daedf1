"""What an entry of the tables is."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Arrangement = Literal["1-d", "h w", "h w c", "n c h w", "n h w c"]
Sizes = Literal["any", "changed", "whole shrink", "factor", "scale"]


@dataclass(frozen=True)
class Case:
    """A call of a library and the call of remapnd that does the same.

    Attributes
    ----------
    theirs, ours : expressions in the names that the library gives and those of `measure.settings`; `ours` is
        None where nothing is the same
    why : in what they differ, or why nothing is the same
    dtypes : what is tried; "index" is float32 that tells which element a nearest mode took
    sizes : which changes of length are tried
    within : the largest difference that may be, by dtype; 0, the default, means equal. A nearest index may be
        off by one where `why` says so ("index": 1).
    shown : what the page shows for `theirs`, where that is not the expression itself
    rule : what `lengths` compares all pairs of lengths with; none if empty
    """

    theirs: str
    ours: str | None
    why: str = ""
    dtypes: tuple[str, ...] = ("uint8", "float32")
    sizes: Sizes = "any"
    within: Mapping[str, float] = field(default_factory=dict)
    shown: str = ""
    rule: str = ""

    @property
    def label(self) -> str:
        return self.shown or self.theirs


@dataclass(frozen=True)
class Library:
    """A part of the page.

    Attributes
    ----------
    title, text : heading and introduction
    names : names in the expressions to what they stand for, "module" or "module:attribute"
    arrangement : how `x` lies
    convert : expression that makes the array `x` of the library from the NumPy array `x`
    distribution : the package whose version is told; empty for a formula
    program : what runs it, where that is not the title
    longest : the largest length that `lengths` goes up to with values; indices go to 69
    """

    title: str
    text: str
    names: Mapping[str, str]
    cases: tuple[Case, ...]
    arrangement: Arrangement = "h w"
    convert: str = "x"
    distribution: str = ""
    program: str = ""
    longest: int = 69

    @property
    def tool(self) -> str:
        return self.program or self.title

    def load(self) -> dict[str, Any]:
        """Return the names that expressions may use; ImportError if a module is not there."""
        found: dict[str, Any] = {}
        for name, where in self.names.items():
            module, _, attribute = where.partition(":")
            thing = importlib.import_module(module)
            found[name] = getattr(thing, attribute) if attribute else thing
        return found
