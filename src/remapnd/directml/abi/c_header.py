"""Declarations in C and C++: a header that stands in for directml.h where that is not at hand.

Uses `structs`, `comments`; used by `declarations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from remapnd.directml.abi.comments import aligned, header, offset
from remapnd.directml.abi.structs import ARCHS, ENUMS, Arch, Field, Kind, Struct

_TYPES = {
    Kind.UINT: "uint32_t ",
    Kind.UINT64: "REMAPND_ALIGN8 uint64_t ",
    Kind.FLOAT: "float ",
    Kind.BOOL: "int32_t ",
}
_ELEMENTS = {"UINT": "const uint32_t *", "FLOAT": "const float *"}

_START = """\
// Structs of directml.h with their layouts checked, for C99 and C++11, where directml.h is not at hand.

#pragma once

#include <stddef.h>
#include <stdint.h>
#if defined(__cplusplus)
#define REMAPND_ASSERT(condition, text) static_assert(condition, text)
#define REMAPND_ALIGN8 alignas(8)
#elif __STDC_VERSION__ >= 201112L
#define REMAPND_ASSERT(condition, text) _Static_assert(condition, text)
#define REMAPND_ALIGN8 _Alignas(8)
#else
#define REMAPND_ASSERT(condition, text) extern int remapnd_assertion[(condition) ? 1 : -1]
#ifdef __GNUC__
#define REMAPND_ALIGN8 __attribute__((aligned(8)))
#else
#define REMAPND_ALIGN8
#endif
#endif
#define REMAPND_SIZE(type, x64, x86) \\
    REMAPND_ASSERT(sizeof(type) == (sizeof(void *) == 8 ? x64 : x86), "size of " #type)
#define REMAPND_OFFSET(type, field, x64, x86) \\
    REMAPND_ASSERT(offsetof(type, field) == (sizeof(void *) == 8 ? x64 : x86), "offset of " #type "." #field)
"""

_END = """\
#undef REMAPND_OFFSET
#undef REMAPND_SIZE
#undef REMAPND_ALIGN8
#undef REMAPND_ASSERT
"""


def write(structs: Sequence[Struct], archs: Sequence[Arch]) -> str:
    """Write a header."""
    members = [member for kind in structs for member in kind.fields]
    parts = [_START]
    enums = {member.type for member in members if member.kind is Kind.ENUM}
    parts += [_enum(name) for name in ENUMS if name in enums]
    forward = _forward(structs, members)
    if forward:
        parts.append("".join(f"typedef struct {name} {name};\n" for name in forward))
    parts += [_struct(kind, archs) for kind in structs]
    return "\n".join([*parts, _END])


def _forward(structs: Sequence[Struct], members: Iterable[Field]) -> list[str]:
    """Return the names of structs that are pointed at and not declared here."""
    known = {kind.name for kind in structs} | set(_ELEMENTS) | {"void"}
    pointed_at = dict.fromkeys(member.type for member in members if member.kind is Kind.POINTER)
    return [name for name in pointed_at if name not in known]


def _enum(name: str) -> str:
    """Declare an enumeration."""
    prefix = ENUMS[name].prefix()
    lines = [f"    {prefix}{key} = {value.value}," for key, value in ENUMS[name].__members__.items()]
    return "\n".join([f"typedef enum {name} {{", *lines, f"}} {name};", ""])


def _struct(kind: Struct, archs: Sequence[Arch]) -> str:
    """Declare a struct and check its layout."""
    rows = [
        (f"    {_type(member)}{member.name};", f"{offset(kind, member.name, archs)}  {member.c_type}")
        for member in kind.fields
    ]
    layouts = [kind.layout(arch) for arch in ARCHS]
    checks = [f"REMAPND_SIZE({kind.name}, {', '.join(str(layout.size) for layout in layouts)});"]
    for member in kind.fields:
        places = ", ".join(str(layout.offsets[member.name]) for layout in layouts)
        checks.append(f"REMAPND_OFFSET({kind.name}, {member.name}, {places});")
    return "\n".join(
        [
            *(f"// {line}" for line in header(kind, archs, enumerators=False)),
            f"typedef struct {kind.name} {{",
            *aligned(rows, "//"),
            f"}} {kind.name};",
            *checks,
            "",
        ]
    )


def _type(member: Field) -> str:
    """Return the type of a field as it stands before its name."""
    if member.kind is Kind.POINTER:
        return _ELEMENTS.get(member.type, member.c_type)
    return _TYPES.get(member.kind, f"{member.type} ")
