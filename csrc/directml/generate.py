"""Write what C++ takes from Python: the tables of feature levels, and the structs of directml.h.

Run it after a change of `remapnd.directml.support`, `enums` or `abi`; a test compares the files with `files`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from remapnd.directml.abi import STRUCTS
from remapnd.directml.abi.declarations import declare
from remapnd.directml.abi.structs import ARCHS
from remapnd.directml.enums import (
    AxisDirection,
    DMLEnum,
    DMLFlag,
    FeatureLevel,
    InterpolationMode,
    OperatorType,
    TensorDataType,
    TensorFlags,
)
from remapnd.directml.operators import OPERATOR_DESCS
from remapnd.directml.support import SUPPORT, SupportRow

_ROOT = Path(__file__).parents[2]

OPERATORS = tuple(sorted(OPERATOR_DESCS))
"""The operators that the C library runs, by their number."""


def files() -> Mapping[Path, str]:
    """Return the text of every generated file."""
    return {
        _ROOT / "csrc/directml/tables.hpp": _tables(),
        _ROOT / "include/remapnd_directml.h": declare(list(STRUCTS.values()), "c", ARCHS),
    }


def _tables() -> str:
    rows = [f"    {_operator(operator)}," for operator in OPERATORS]
    levels = ", ".join(f'{{{level.value:#x}, "{level}"}}' for level in FeatureLevel)
    names = [
        _names("kDataTypes", TensorDataType),
        _names("kFlags", TensorFlags),
        _names("kInterpolationModes", InterpolationMode),
        _names("kAxisDirections", AxisDirection),
    ]
    return "\n".join(
        [
            "// Operators, data types and dimension counts of feature levels, and names of enumerators.",
            "//",
            "// Written by csrc/directml/generate.py from remapnd.directml; not to be changed by hand.",
            "#pragma once",
            '#include "support.hpp"',
            "",
            "namespace remapnd::directml {",
            "",
            f"inline constexpr Level kLevels[] = {{{levels}}};",
            *names,
            "",
            "inline constexpr Operator kOperators[] = {",
            *rows,
            "};",
            "",
            "}  // namespace remapnd::directml",
            "",
        ]
    )


def _names(name: str, kind: type[DMLEnum] | type[DMLFlag]) -> str:
    """Write the names of an enumeration whose values are 0, 1, 2, ..."""
    members = list(kind.__members__.values())
    quoted = ", ".join(f'"{member}"' for member in kind.__members__)
    assert [member.value for member in members] == list(range(len(members)))
    return f"inline constexpr const char* {name}[] = {{{quoted}}};"


def _operator(operator: OperatorType) -> str:
    rows = ", ".join(map(_row, SUPPORT[operator]))
    return f'{{{operator.value}, "{operator}", {len(SUPPORT[operator])}, {{{rows}}}}}'


def _row(row: SupportRow) -> str:
    counts = row.dimension_counts
    types = f"{_types(row.data_types)}, {_types(row.index_types)}"
    return f"{{{row.since.value:#x}, {counts[0]}, {counts[-1]}, {types}}}"


def _types(types: Sequence[TensorDataType]) -> str:
    return f"{{{len(types)}, {{{', '.join(str(t.value) for t in types)}}}}}"


if __name__ == "__main__":
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
