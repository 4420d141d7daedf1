"""Declarations of the structs in the syntax of other languages, with sizes and offsets.

Uses `structs`, `c_header`, `hsp`; used by ``remapnd struct``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from remapnd.directml.abi import c_header, hsp
from remapnd.directml.abi.comments import aligned, header, offset
from remapnd.directml.abi.structs import ARCHS, STRUCTS, Arch, Field, Kind, Struct
from remapnd.errors import must


@dataclass(frozen=True)
class Language:
    """How a language writes a struct.

    Parameters
    ----------
    title : str
    comment : str
        What starts a comment.
    types : mapping of ``Kind.name`` to type, for UINT, UINT64, FLOAT, BOOL and ENUM
    opaque : str
        A pointer to what is not declared.
    mutable : str, or None for `opaque`
        The same, to what may be written.
    head, line, foot : str
        Before the fields, for each, and after them; with ``{name}``, ``{type}`` and ``{width}``, the length
        of the longest name.
    uint64_line : str
        `line` for a UINT64, where that is another one; otherwise "".
    pointer : str, or None for `opaque`
        A pointer to a struct, ``{}``, that is declared in the same text.
    array : str, or None for `opaque`
        A pointer to the first of several elements of the type ``{}``.
    preamble : tuple of (text, token)
        Lines in front of all, each if its token is used.
    nested : bool
        Whether a struct may hold another; if not, the fields of the inner one take its place.
    reserved : mapping of str to str
        Names of fields that must be written in another way.
    padding : str
        A line for 4 bytes that x86 needs in front of a UINT64 or at the end; "" where the language aligns.
    gap, between : int
        Spaces in front of comments; empty lines between structs.
    """

    title: str
    comment: str
    types: Mapping[str, str]
    opaque: str
    head: str
    line: str
    foot: str
    mutable: str | None = None
    pointer: str | None = None
    array: str | None = None
    uint64_line: str = ""
    preamble: tuple[tuple[str, str], ...] = ()
    nested: bool = True
    reserved: Mapping[str, str] = field(default_factory=dict)
    padding: str = ""
    gap: int = 2
    between: int = 1


def _types(uint: str, uint64: str, float32: str, int32: str) -> dict[str, str]:
    return {"UINT": uint, "UINT64": uint64, "FLOAT": float32, "BOOL": int32, "ENUM": int32}


_TABLE: Mapping[str, Language] = {
    "csharp": Language(
        title="C#",
        comment="//",
        types=_types("uint", "ulong", "float", "int"),
        opaque="IntPtr",
        head="[StructLayout(LayoutKind.Sequential)]\npublic struct {name}\n{{",
        line="    public {type} {name};",
        foot="}}",
        preamble=(("using System;", "IntPtr"), ("using System.Runtime.InteropServices;", "StructLayout")),
    ),
    "vb": Language(
        title="Visual Basic .NET",
        comment="'",
        types=_types("UInteger", "ULong", "Single", "Integer"),
        opaque="IntPtr",
        head="<StructLayout(LayoutKind.Sequential)>\nPublic Structure {name}",
        line="    Public {name} As {type}",
        foot="End Structure",
        reserved={"Type": "[Type]"},
        preamble=(("Imports System", "IntPtr"), ("Imports System.Runtime.InteropServices", "StructLayout")),
    ),
    "python": Language(
        title="Python, ctypes",
        comment="#",
        types=_types("ctypes.c_uint32", "ctypes.c_uint64", "ctypes.c_float", "ctypes.c_int32"),
        opaque="ctypes.c_void_p",
        pointer="ctypes.POINTER({})",
        array="ctypes.POINTER({})",
        head="class {name}(ctypes.Structure):\n    _fields_ = [",
        line='        ("{name}", {type}),',
        foot="    ]",
        preamble=(("import ctypes", "ctypes"),),
        between=2,
    ),
    "rust": Language(
        title="Rust",
        comment="//",
        types=_types("u32", "u64", "f32", "i32"),
        opaque="*const core::ffi::c_void",
        mutable="*mut core::ffi::c_void",
        pointer="*const {}",
        array="*const {}",
        head="#[allow(non_camel_case_types, non_snake_case)]\n#[derive(Clone, Copy, Debug)]\n#[repr(C)]\n"
        "pub struct {name} {{",
        line="    pub {name}: {type},",
        foot="}}",
        gap=1,
    ),
    "go": Language(
        title="Go",
        comment="//",
        types=_types("uint32", "uint64", "float32", "int32"),
        opaque="unsafe.Pointer",
        pointer="*{}",
        array="*{}",
        head="type {name} struct {{",
        line="\t{name:<{width}} {type}",
        foot="}}",
        preamble=(("package directml", "type"), ('\nimport "unsafe"', "unsafe.")),
        padding="[8 - unsafe.Sizeof(uintptr(0))]byte",
        gap=1,
    ),
    "delphi": Language(
        title="Delphi",
        comment="//",
        types=_types("Cardinal", "UInt64", "Single", "LongInt") | {"BOOL": "LongBool"},
        opaque="Pointer",
        array="P{}",
        head="type\n  {name} = record",
        line="    {name}: {type};",
        foot="  end;",
        preamble=(("{$ALIGN 8}", "record"),),
        reserved={"Type": "&Type"},
    ),
    "zig": Language(
        title="Zig",
        comment="//",
        types=_types("u32", "u64 align(8)", "f32", "i32"),
        opaque="?*const anyopaque",
        mutable="?*anyopaque",
        pointer="?*const {}",
        array="?[*]const {}",
        head="pub const {name} = extern struct {{",
        line="    {name}: {type},",
        foot="}};",
    ),
    "nim": Language(
        title="Nim",
        comment="#",
        types=_types("uint32", "uint64", "float32", "int32"),
        opaque="pointer",
        pointer="ptr {}",
        array="ptr UncheckedArray[{}]",
        head="type\n  {name}* {{.bycopy.}} = object",
        line="    {name}*: {type}",
        uint64_line="    {name}* {{.align: 8.}}: {type}",
        foot="",
    ),
    "d": Language(
        title="D",
        comment="//",
        types=_types("uint", "align(8) ulong", "float", "int"),
        opaque="const(void)*",
        mutable="void*",
        pointer="const({})*",
        array="const({})*",
        head="extern (C) struct {name}\n{{",
        line="    {type} {name};",
        foot="}}",
    ),
    "ironhsp": Language(
        title="IronHSP",
        comment=";",
        types=_types("int", "int64", "float", "int"),
        opaque="intptr",
        head="#defstruct global {name}",
        line="    #field {type} {name}",
        foot="#endstruct",
        nested=False,
    ),
}


def _type(language: Language, kind: Field, declared: Collection[str]) -> str:
    """Return the type of a field."""
    if kind.kind is Kind.STRUCT:
        return kind.type
    if kind.kind is not Kind.POINTER:
        return language.types[kind.kind.name]
    if kind.count:
        return (language.array or language.opaque).format(language.types[kind.type])
    if kind.type in declared:
        return (language.pointer or language.opaque).format(kind.type)
    return (language.mutable or language.opaque) if kind.mutable else language.opaque


def _struct(language: Language, kind: Struct, declared: Collection[str], archs: Sequence[Arch]) -> list[str]:
    """Declare one struct."""
    if not language.nested:
        kind = kind.flat()
    rows: list[tuple[str, str]] = []
    width = max(len(member.name) for member in kind.fields)
    end = 0
    for member in kind.fields:
        place = kind.layout("x86").offsets[member.name]
        if language.padding and place > end:
            rows.append(_padding(language, width))
        end = place + kind.layout("x86").sizes[member.name]
        name = language.reserved.get(member.name, member.name)
        template = (member.kind is Kind.UINT64 and language.uint64_line) or language.line
        line = template.format(name=name, type=_type(language, member, declared), width=width)
        rows.append((line, f"{offset(kind, member.name, archs)}  {member.c_type}"))
    if language.padding and kind.layout("x86").size > end:
        rows.append(_padding(language, width))
    lines = [f"{language.comment} {text}" for text in header(kind, archs)]
    lines += language.head.format(name=kind.name).splitlines()
    lines += aligned(rows, language.comment, language.gap)
    return [*lines, *language.foot.format(name=kind.name).splitlines()]


def _padding(language: Language, width: int) -> tuple[str, str]:
    """Write the padding that x86 needs and x64 has anyway."""
    return language.line.format(name="_", type=language.padding, width=width), "aligns to 8 bytes on x86"


def _by_table(language: Language) -> Callable[[Sequence[Struct], Sequence[Arch]], str]:
    """Make the writer of a language in the table."""

    def write(structs: Sequence[Struct], archs: Sequence[Arch]) -> str:
        declared = {kind.name for kind in structs}
        gap = "\n" * (language.between + 1)
        body = gap.join("\n".join(_struct(language, kind, declared, archs)) for kind in structs)
        lines = [line for line, token in language.preamble if token in body]
        return gap.join(["\n".join(lines), body] if lines else [body]) + "\n"

    return write


_WRITERS: Mapping[str, Callable[[Sequence[Struct], Sequence[Arch]], str]] = {
    "c": c_header.write,
    **{name: _by_table(language) for name, language in _TABLE.items()},
    "hsp": hsp.write,
}

TITLES: Mapping[str, str] = {
    "c": "C and C++",
    **{name: language.title for name, language in _TABLE.items()},
    "hsp": "HSP 3",
}
"""The languages, by the names that `declare` knows."""


def declare(structs: Sequence[Struct], language: str, archs: Sequence[Arch] = ARCHS) -> str:
    """Write the declarations of structs.

    Parameters
    ----------
    structs : sequence of Struct
        A struct that one of them holds by value is declared too; one that is only pointed at is not, and the
        pointer is then opaque.
    language : str, a key of `TITLES`
    archs : sequence of "x64" and "x86"
        What sizes and offsets are told for. The declarations hold for both, but those of HSP.

    Returns
    -------
    str
        Lines, each ending in a newline.

    Raises
    ------
    ValueError
        `language` is not known.
    """
    if language not in _WRITERS:
        raise ValueError(must("declare", "language", f"be one of {', '.join(_WRITERS)}", repr(language)))
    needed = {kind.name for kind in structs}
    needed |= {member.type for kind in structs for member in kind.fields if member.kind is Kind.STRUCT}
    return _WRITERS[language]([kind for name, kind in STRUCTS.items() if name in needed], archs)
