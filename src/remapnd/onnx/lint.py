"""Looking at a model before it runs: what other runtimes make of its gathers, scatters, resizes, samplings.

Uses `facts`, `mapping`; used by `cli.lint`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import onnx

from remapnd.directml.enums import FeatureLevel
from remapnd.onnx.facts import UNKNOWN, Facts, Tensor, inferred, nodes_of
from remapnd.onnx.mapping import Placement, Values, placement
from remapnd.onnx.model_file import as_model
from remapnd.onnx.nodes import label, opset_versions, read_node
from remapnd.onnx.operators import is_looked_at
from remapnd.onnx.webnn_nodes import WebNN, webnn


@dataclass(frozen=True)
class NodeReport:
    """What is said of one node.

    Attributes
    ----------
    path : str
        The graph that the node is in, such as ``"loop.body/"``; empty for that of the model.
    node : str
        Its name, or its first output.
    output_name : str
        Of the value that it computes.
    operator : str
        Type and version, such as "Resize-13".
    inputs : tuple of Tensor or None
    output : Tensor
    directml : Placement
    webnn : WebNN
    error : str
        What is wrong with the node itself; nothing else is known of it then.
    """

    path: str
    node: str
    output_name: str
    operator: str
    inputs: tuple[Tensor | None, ...]
    output: Tensor
    directml: Placement
    webnn: WebNN
    error: str = ""

    def accepted(self, level: FeatureLevel) -> bool:
        """Whether DirectML takes the node at a feature level."""
        lowest = self.directml.feature_level
        return not self.error and lowest is not None and lowest <= level


def lint(
    model: onnx.ModelProto | bytes | str | os.PathLike[str], *, dims: Mapping[str, int] | None = None
) -> list[NodeReport]:
    """Say of every gather, scatter, resize and sampling of a model what other runtimes make of it.

    Parameters
    ----------
    model : ModelProto, the bytes of one, or the path of a file
        External data are not read.
    dims : mapping of name to int, optional
        Lengths for symbolic dimensions of the inputs.

    Returns
    -------
    list of NodeReport
        In the order of the graph, those within other nodes included.

    Raises
    ------
    OSError, TypeError, ValueError
        The model cannot be read or is none, `dims` names no dimension or has no length for it, or the shapes
        of the model contradict each other.

    Notes
    -----
    Nothing runs but what computes constants. Sizes that a model computes from shapes are known as soon as the
    shapes are.
    """
    model = inferred(as_model("lint", model), dims or {})
    facts = Facts(model)
    versions = opset_versions(model)
    return [
        _report(path, proto, facts, versions)
        for path, proto in nodes_of(model.graph)
        if is_looked_at(proto.domain, proto.op_type)
    ]


def _report(path: str, proto: onnx.NodeProto, facts: Facts, versions: Mapping[str, int]) -> NodeReport:
    """Look at one node."""
    inputs = tuple(facts.tensor(value) if value else None for value in proto.input)
    output = facts.tensor(proto.output[0]) if proto.output else UNKNOWN
    made = proto.output[0] if proto.output else ""
    common: dict[str, Any] = {"path": path, "node": proto.name or made, "output_name": made}
    common |= {"inputs": inputs, "output": output}
    try:
        node = read_node(proto, versions)
        constants = tuple(facts.constants.get(value) if value else None for value in proto.input)
        values = Values(inputs, constants, output)
        directml, web = placement(node, values), webnn(node, values)
    except (TypeError, ValueError) as error:
        who = label(proto.op_type, proto.name, proto.output)
        text = str(error).removeprefix(f"{who}: ")
        nothing: dict[str, Any] = {"directml": Placement(None, None), "webnn": WebNN(None)}
        return NodeReport(operator=proto.op_type, error=text, **nothing, **common)
    return NodeReport(operator=f"{node.op}-{node.since}", directml=directml, webnn=web, **common)
