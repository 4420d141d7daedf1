"""Gather, GatherElements, GatherND, Scatter, ScatterElements and ScatterND as functions of arrays.

Uses the public functions of the package; used by `operators`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from remapnd.errors import must
from remapnd.gather import gather_nd
from remapnd.onnx.nodes import Array, Node

Function = Callable[..., Array]
Operator = Callable[[Node, str], Function]


def gather_operator(function: Function, *options: str) -> Operator:
    """Make the operator that is `function` with those attributes as options."""

    def prepare(node: Node, rules: str) -> Function:
        given = {name: node.attributes[name] for name in options}

        def run(data: Array, indices: Array) -> Array:
            if data.dtype.hasobject:
                return _gather_strings(function, data, indices, given)
            return function(data, indices, **given)

        return run

    return prepare


def scatter_operator(function: Function, *options: str, reductions: Sequence[str] = ("none",)) -> Operator:
    """Make the operator that is `function` with those attributes as options, for these reductions."""

    def prepare(node: Node, rules: str) -> Function:
        given = {name: node.attributes[name] for name in options}
        reduction = node.attributes.get("reduction", "none")
        if reduction not in reductions:
            rule = f"be one of {', '.join(map(repr, reductions))} in {node.op}-{node.since}"
            raise ValueError(must(node.label, "reduction", rule, repr(reduction)))

        def run(data: Array, indices: Array, updates: Array) -> Array:
            if data.dtype.hasobject:
                if reduction == "none":
                    return _scatter_strings(function, data, indices, updates, given)
                return _join_strings(node, data, indices, updates)
            return function(data, indices, updates, reduction=reduction, **given)

        return run

    return prepare


# Strings are Python objects, which the kernels do not touch: the operator moves their numbers instead.


def _gather_strings(function: Function, data: Array, indices: Array, options: dict[str, Any]) -> Array:
    """Gather strings: gather their positions, then look these up."""
    return _looked_up(data.ravel(), function(_positions(data), indices, **options))


def _scatter_strings(
    function: Function, data: Array, indices: Array, updates: Array, options: dict[str, Any]
) -> Array:
    """Scatter strings: scatter the positions of the updates, which follow those of the data."""
    moved = function(_positions(data), indices, _positions(updates) + data.size, **options)
    return _looked_up(np.concatenate([data.ravel(), updates.ravel()]), moved)


def _join_strings(node: Node, data: Array, indices: Array, updates: Array) -> Array:
    """Join strings to those in their places, as ONNX Runtime's ScatterND does for "add"."""
    if (node.op, node.attributes["reduction"]) != ("ScatterND", "add"):
        rule = "be numbers for this reduction (strings are joined by 'add' of ScatterND alone)"
        raise TypeError(must(node.label, "data", rule, "strings"))
    joined = data.copy()
    places = gather_nd(_positions(data), indices)
    if places.shape != updates.shape:
        raise ValueError(must(node.label, "updates", f"have shape {places.shape}", updates.shape))
    np.add.at(joined.reshape(-1), places, updates)
    return joined


def _positions(data: Array) -> Array:
    """Return the number of each element in row-major order."""
    return np.arange(data.size).reshape(data.shape)


def _looked_up(strings: Array, positions: Array) -> Array:
    """Return the strings at positions; an array also where it has no axes."""
    result = np.empty(positions.shape, object)
    result[...] = strings[positions]
    return result
