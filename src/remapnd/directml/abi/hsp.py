"""Declarations for HSP 3, which has no structs: an array of 4-byte integers, and where each field is in it.

Uses `structs`, `comments`; used by `declarations`.
"""

from __future__ import annotations

from collections.abc import Sequence

from remapnd.directml.abi.comments import aligned, header
from remapnd.directml.abi.structs import Arch, Field, Kind, Struct, round_up

_VARIABLE = "st"


def write(structs: Sequence[Struct], archs: Sequence[Arch]) -> str:
    """Write one declaration for each struct and architecture, as they are different programs."""
    return "\n".join("\n".join(_struct(kind, arch)) + "\n" for kind in structs for arch in archs)


def _struct(kind: Struct, arch: Arch) -> list[str]:
    """Declare an array and tell how to write each field."""
    flat = kind.flat()
    rows = [
        (f"; +{at} {member.name}", f"{_access(member, at, arch)}   {member.c_type}")
        for member, at in zip(flat.fields, flat.layout(arch).offsets.values(), strict=True)
    ]
    length = round_up(kind.layout(arch).size, 4) // 4
    told = [f"; {line}" for line in header(kind, [arch])]
    return [*told, f"dim {_VARIABLE}, {length}", *aligned(rows, ":")]


def _access(member: Field, at: int, arch: Arch) -> str:
    """Return the statements that set a field."""
    words = [f"{_VARIABLE}.{at // 4}", f"{_VARIABLE}.{at // 4 + 1}"]
    if member.kind is Kind.UINT64 or (member.kind is Kind.POINTER and arch == "x64"):
        return f"{words[0]} = low : {words[1]} = high"
    if member.kind is Kind.POINTER:
        return f"{words[0]} = varptr(...)"
    return f"{words[0]} = {'bits' if member.kind is Kind.FLOAT else 'value'}"
