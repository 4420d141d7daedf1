"""No test is skipped without a condition and a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


def name_of(call: ast.AST) -> str:
    """Return the last name of what is called."""
    function = call.func if isinstance(call, ast.Call) else call
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def nodes() -> Iterator[tuple[str, ast.AST]]:
    """Yield the calls and names of all tests, and where they are."""
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Call, ast.Attribute)):
                yield f"{path.name}:{node.lineno}", node


def test_every_skip_has_a_condition_or_a_reason() -> None:
    silent = []
    for where, node in nodes():
        if isinstance(node, ast.Attribute) and node.attr == "skip" and name_of(node.value) == "mark":
            silent.append(where)
        if isinstance(node, ast.Call) and name_of(node) in ("skipif", "xfail"):
            reasons = [k.value for k in node.keywords if k.arg == "reason"]
        elif isinstance(node, ast.Call) and name_of(node) == "skip":
            reasons = [*node.args, *(k.value for k in node.keywords if k.arg == "reason")]
        else:
            continue
        if not reasons or (isinstance(reasons[0], ast.Constant) and not reasons[0].value):
            silent.append(where)
    assert silent == []
