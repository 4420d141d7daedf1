"""The operators: a table from domain, type and version to the function that prepares a node of it.

Uses `indexed`, `plumbing` and `resize`; used by `graph` and `reference`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from remapnd.errors import must
from remapnd.gather import gather, gather_elements, gather_nd
from remapnd.onnx import plumbing, sampling
from remapnd.onnx.indexed import gather_operator, scatter_operator
from remapnd.onnx.nodes import Array, Node
from remapnd.onnx.resize import ResizeNode
from remapnd.scatter import scatter_elements, scatter_nd

Function: TypeAlias = Callable[..., Array]
Operator: TypeAlias = Callable[[Node, str], Function]
"""Takes a node and the resize rules; returns what computes the one output from the inputs."""


def _identity(node: Node, rules: str) -> Function:
    """Identity."""
    return lambda x: x


_ARITHMETIC: Final = ("none", "add", "mul")
_ALL: Final = (*_ARITHMETIC, "min", "max")

FAMILY: Final[Mapping[tuple[str, str, int], Operator]] = {
    ("", "Gather", 1): gather_operator(gather, "axis"),
    ("", "GatherElements", 11): gather_operator(gather_elements, "axis"),
    ("", "GatherND", 11): gather_operator(gather_nd),
    ("", "GatherND", 12): gather_operator(gather_nd, "batch_dims"),
    ("com.microsoft", "GatherND", 1): gather_operator(gather_nd, "batch_dims"),
    ("", "Scatter", 9): scatter_operator(scatter_elements, "axis"),
    ("", "ScatterElements", 11): scatter_operator(scatter_elements, "axis"),
    ("", "ScatterElements", 16): scatter_operator(scatter_elements, "axis", reductions=_ARITHMETIC),
    ("", "ScatterElements", 18): scatter_operator(scatter_elements, "axis", reductions=_ALL),
    ("", "ScatterND", 11): scatter_operator(scatter_nd),
    ("", "ScatterND", 16): scatter_operator(scatter_nd, reductions=_ARITHMETIC),
    ("", "ScatterND", 18): scatter_operator(scatter_nd, reductions=_ALL),
    ("", "Upsample", 1): ResizeNode,
    ("", "Resize", 10): ResizeNode,
}
"""What this package is about. A version serves all later ones up to the next that is listed."""

SAMPLING: Final[Mapping[tuple[str, str, int], Operator]] = {
    ("", "AffineGrid", 20): sampling.affine_grids,
    ("", "GridSample", 16): sampling.grid_samples,
    ("", "RoiAlign", 10): sampling.roi_aligns,
    ("", "TensorScatter", 24): sampling.tensor_scatters,
    ("com.microsoft", "CropAndResize", 1): sampling.crops_and_resizes,
}
"""Kin of the family: sampling at positions that are data, and a cache that is written in turn."""

PLUMBING: Final[Mapping[tuple[str, str, int], Operator]] = {
    ("", "Add", 7): plumbing.elementwise(np.add),
    ("", "Cast", 1): plumbing.cast,
    ("", "Ceil", 6): plumbing.unary(np.ceil),
    ("", "Concat", 1): plumbing.concat,
    ("", "Constant", 1): plumbing.constant,
    ("", "ConstantOfShape", 9): plumbing.constant_of_shape,
    ("", "Div", 7): plumbing.divide,
    ("", "Floor", 6): plumbing.unary(np.floor),
    ("", "Identity", 1): _identity,
    ("", "Mul", 7): plumbing.elementwise(np.multiply),
    ("", "Reshape", 1): plumbing.reshape,
    ("", "Shape", 1): plumbing.shape,
    ("", "Slice", 1): plumbing.slice_by_attributes,
    ("", "Slice", 10): plumbing.slice_by_inputs,
    ("", "Squeeze", 1): plumbing.squeeze,
    ("", "Sub", 7): plumbing.elementwise(np.subtract),
    ("", "Transpose", 1): plumbing.transpose,
    ("", "Unsqueeze", 1): plumbing.unsqueeze,
}
"""What exporters put around them, mostly to compute the sizes of a Resize."""

OPERATORS: Final[Mapping[tuple[str, str, int], Operator]] = {**FAMILY, **SAMPLING, **PLUMBING}
NEWEST_OPSET: Final = 28
"""The opset of ONNX up to which the versions of these operators were read."""

_FIRST: Final[Mapping[tuple[str, str], int]] = {
    (domain, op): min(v for d, o, v in OPERATORS if (d, o) == (domain, op)) for domain, op, _ in OPERATORS
}


_PLUMBING: Final = frozenset((domain, op) for domain, op, _ in PLUMBING)


def is_known(domain: str, op: str) -> bool:
    """Whether some version of an operator is in the table."""
    return ("" if domain == "ai.onnx" else domain, op) in _FIRST


def is_looked_at(domain: str, op: str) -> bool:
    """Whether `lint` and `verify` look at an operator: at those that this package is about."""
    domain = "" if domain == "ai.onnx" else domain
    return (domain, op) in _FIRST and (domain, op) not in _PLUMBING


def is_new(node: Node) -> bool:
    """Whether the output of a node never shares memory with its inputs; of the others it may."""
    return (node.domain, node.op) not in _PLUMBING


def is_constant(node: Node) -> bool:
    """Whether a node is the constant that its attributes hold."""
    return (node.domain, node.op) == ("", "Constant")


def operator_of(node: Node) -> Operator:
    """Find the operator of a node.

    Raises
    ------
    ValueError
        Its version is too old or too new for the table.
    """
    first = _FIRST[node.domain, node.op]
    if not first <= node.since or (node.domain == "" and node.since > NEWEST_OPSET):
        rule = f"be of a version in [{first}, {NEWEST_OPSET}]"
        raise ValueError(must(node.label, "op_type", rule, f"{node.op}-{node.since}"))
    versions = [v for d, o, v in OPERATORS if (d, o) == (node.domain, node.op) and v <= node.since]
    return OPERATORS[node.domain, node.op, max(versions)]


def prepare_node(node: Node, rules: str) -> Callable[..., Any]:
    """Return what computes the output of a node from its inputs."""
    return operator_of(node)(node, rules)
