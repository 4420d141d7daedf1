"""Comparisons in the tests are asserted: one whose result is dropped can never fail."""

import ast
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).resolve().parent.rglob("*.py"))
COMPARISONS = {"same_bits", "array_equal", "array_equiv", "allclose", "isclose", "equal", "all", "any"}


def dropped(source: str) -> list[int]:
    """Return the lines of comparisons that stand alone."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Expr):
            continue
        value = node.value
        if isinstance(value, ast.Call):
            name = getattr(value.func, "attr", getattr(value.func, "id", None))
            if name in COMPARISONS:
                lines.append(node.lineno)
        elif isinstance(value, (ast.Compare, ast.BoolOp)):
            lines.append(node.lineno)
    return lines


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_comparisons_are_asserted(path):
    assert dropped(path.read_text(encoding="utf-8")) == []


def test_dropped_comparisons_are_found():
    assert dropped(
        "same_bits(a, b)\nown.same_bits(a, b)\n(a == b).all()\na == b\nassert same_bits(a, b)"
    ) == [*(1, 2, 3, 4)]
