"""What the declarations say of a struct in comments: sizes, offsets, the values of enumerations.

Uses `structs`; used by `declarations`, `c_header`, `hsp` and ``remapnd struct``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from remapnd.directml.abi.structs import ENUMS, Arch, Kind, Struct

_WIDTH = 96


def size(kind: Struct, archs: Sequence[Arch]) -> str:
    """Return the size, such as ``"32 bytes on x64, 20 on x86"``."""
    first, *others = archs
    told = [f"{kind.layout(first).size} bytes on {first}"]
    return ", ".join(told + [f"{kind.layout(arch).size} on {arch}" for arch in others])


def offset(kind: Struct, name: str, archs: Sequence[Arch]) -> str:
    """Return the offset of a field, such as ``"+24/+12"``."""
    return "/".join(f"+{kind.layout(arch).offsets[name]}" for arch in archs)


def header(kind: Struct, archs: Sequence[Arch], enumerators: bool = True) -> list[str]:
    """Return what stands above a struct."""
    lines = [f"{kind.name}: {size(kind, archs)}"]
    if "x86" in archs and any(member.kind is Kind.UINT64 for member in kind.fields):
        lines.append("on x86 a UINT64 is aligned to 8 bytes, as compilers for Windows do")
    for member in kind.fields if enumerators else ():
        if member.kind is Kind.ENUM:
            members = ENUMS[member.type].__members__
            values = ", ".join(f"{name} {value.value}" for name, value in members.items())
            lines += textwrap.wrap(f"{member.type}: {values}", _WIDTH)
    return lines


def aligned(rows: Sequence[tuple[str, str]], comment: str, gap: int = 2) -> list[str]:
    """Put comments behind lines, in one column."""
    width = max(len(line) for line, _ in rows)
    return [f"{line:<{width}}{' ' * gap}{comment} {text}" for line, text in rows]
