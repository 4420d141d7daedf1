"""The tests themselves: no comparison whose answer nobody looks at, no skip that says no reason."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

# Functions that answer yes or no; a call of one as a statement of its own compares nothing.
ANSWERS = {"same_bits", "array_equal", "array_equiv", "allclose", "isclose", "equal", "all", "any"}


def name_of(call: ast.AST) -> str:
    """Return the last name of what is called."""
    function = call.func if isinstance(call, ast.Call) else call
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Return the statements, calls and names of all tests, and where they are."""
    kinds = (ast.Expr, ast.Call, ast.Attribute)
    return [
        (f"{path.name}:{node.lineno}", node)
        for path in sorted(Path(__file__).parent.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, kinds)
    ]


def test_every_comparison_is_asserted() -> None:
    unseen = [
        where
        for where, node in nodes()
        if isinstance(node, ast.Expr)
        and (
            isinstance(node.value, (ast.Compare, ast.BoolOp))
            or (isinstance(node.value, ast.Call) and name_of(node.value) in ANSWERS)
        )
    ]
    assert unseen == []


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
