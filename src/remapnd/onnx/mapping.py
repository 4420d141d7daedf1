"""What ONNX Runtime's DirectML provider makes of a node: the operator, the feature level, why it cannot.

Uses `directml.support`, `differences`, `sampling_nodes`; used by `lint`.

Source: the operator files of the provider, as of its use of RESAMPLE2 and RESAMPLE3; the reference pages of
DirectML for what a feature level takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from remapnd.directml.enums import FeatureLevel, OperatorType, TensorDataType
from remapnd.directml.support import SUPPORT, SupportRow, lowest_level
from remapnd.onnx.differences import (
    Difference,
    gather_differences,
    resize_differences,
    scatter_differences,
)
from remapnd.onnx.facts import Tensor
from remapnd.onnx.nodes import Array, Node
from remapnd.onnx.resize import ResizeNode
from remapnd.onnx.sampling_nodes import SAMPLED_ROWS, refusal


@dataclass(frozen=True)
class Placement:
    """What the provider makes of a node.

    Attributes
    ----------
    operator : str or None
        Of DirectML, such as "GATHER"; None if the provider leaves the node to the CPU.
    feature_level : FeatureLevel or None
        The lowest that takes the operator with these types and ranks; None if there is none.
    reason : str
        Why there is no operator, or no level; or what is not known.
    differences : tuple of Difference
        How the result may differ from that of the CPU provider.
    """

    operator: str | None
    feature_level: FeatureLevel | None
    reason: str = ""
    differences: tuple[Difference, ...] = ()


class Values(NamedTuple):
    """What is known of the inputs and the output of a node; absent inputs and unknown constants are None."""

    inputs: tuple[Tensor | None, ...]
    constants: tuple[Array | None, ...]
    output: Tensor


_SCATTER_DIMENSIONS: Final = 4  # the provider refuses more

_TYPES: Final[Mapping[str, str]] = {
    "float": "FLOAT32",
    "double": "FLOAT64",
    "bool": "UINT8",  # as the provider passes it
    **{name: name.upper() for name in ("float16", "int64", "int32", "int16", "int8")},
    **{name: name.upper() for name in ("uint64", "uint32", "uint16", "uint8")},
}
_INDEXED: Final[Mapping[str, OperatorType]] = {
    "Gather": OperatorType.GATHER,
    "GatherElements": OperatorType.GATHER_ELEMENTS,
    "GatherND": OperatorType.GATHER_ND1,
    "Scatter": OperatorType.SCATTER,
    "ScatterElements": OperatorType.SCATTER,
    "ScatterND": OperatorType.SCATTER_ND,
}


def placement(node: Node, values: Values) -> Placement:
    """Say what ONNX Runtime's DirectML provider makes of a node.

    Parameters
    ----------
    node : Node
        Of this family of operators.
    values : Values

    Returns
    -------
    Placement
    """
    if node.op in _INDEXED:
        return _indexed(node, values)
    return (_resize if node.op in ("Resize", "Upsample") else _sampled)(node, values)


def _sampled(node: Node, values: Values) -> Placement:
    """Place a node by the table of operators that are not those of `remapnd.directml`."""
    data = values.inputs[0] or values.output
    refused = refusal(node, data)
    if refused:
        return Placement(None, None, refused)
    row = SAMPLED_ROWS[node.op]
    missing = _missing(data.type is not None, data.shape is not None)
    found = tuple(row.differences(node, data, values.constants[-1]))
    return Placement(row.operator, row.level, "; ".join(filter(None, (row.note, missing))), found)


def _indexed(node: Node, values: Values) -> Placement:
    """Place a gather or scatter."""
    operator = _INDEXED[node.op]
    scatters = "Scatter" in node.op
    differences = scatter_differences if scatters else gather_differences
    reduction = node.attributes.get("reduction", "none")
    if node.domain:
        return Placement(None, None, f"what the provider makes of {node.domain}::{node.op} is not known")
    if reduction != "none":
        return Placement(None, None, f"DirectML's scatters have no reduction, here {reduction!r}")
    data, indices = values.inputs[0] or values.output, values.inputs[1] or values.output
    found = differences(node, data, values.constants[1])
    ranks = [tensor.rank for tensor in (*values.inputs, values.output) if tensor is not None]
    known = [rank for rank in ranks if rank is not None]
    count = max(known, default=1)
    if scatters and count > _SCATTER_DIMENSIONS:
        text = f"the provider takes at most {_SCATTER_DIMENSIONS} dimensions for {node.op}, here {count}"
        return Placement(None, None, text)
    # Scatters pass signed indices as the unsigned type of the same width.
    unsigned = scatters and indices.type in ("int32", "int64")
    index_type = f"u{indices.type}" if unsigned else indices.type
    return _at_level(operator, _Wanted(data.type, index_type, count, known == ranks), found)


def _resize(node: Node, values: Values) -> Placement:
    """Place a Resize or Upsample."""
    data = values.inputs[0] or values.output
    refused = _refused_resize(node)
    if refused:
        return Placement(None, None, refused)
    resize = ResizeNode(node, "onnxruntime")
    operator = OperatorType.RESAMPLE3 if resize.antialias else OperatorType.RESAMPLE2
    found = resize_differences(node, resize, values.inputs, values.constants)
    count = 1
    if data.shape is not None:
        after = values.output.shape or ("?",) * len(data.shape)
        # The provider drops dimensions of size 1 before and after.
        count = max(1, sum((n, m) != (1, 1) for n, m in zip(data.shape, after, strict=False)))
    return _at_level(operator, _Wanted(data.type, None, count, data.shape is not None), found)


def _refused_resize(node: Node) -> str:
    """Say why the provider leaves a Resize to the CPU; an empty text if it does not."""
    if node.attributes.get("mode") == "cubic":
        return "DirectML has no cubic interpolation"
    if node.attributes.get("exclude_outside", 0):
        return "the provider refuses exclude_outside, as DirectML clamps to the edge"
    value = node.attributes.get("extrapolation_value", 0.0)
    if value:
        return f"the provider refuses an extrapolation_value other than 0, here {value:g}"
    return ""


class _Wanted(NamedTuple):
    """What a node needs of a level; None for a type that is not known."""

    data_type: str | None
    index_type: str | None
    dimensions: int
    shapes_known: bool


def _at_level(operator: OperatorType, wanted: _Wanted, differences: Sequence[Difference]) -> Placement:
    """Find the feature level that takes these types, and at least so many dimensions."""
    data_type, index_type, dimensions, shapes_known = wanted
    named = None if data_type is None else _TYPES.get(data_type)
    if data_type is not None and named is None:
        return Placement(None, None, f"DirectML has no data type for tensor({data_type})")
    index = None if index_type is None else _TYPES.get(index_type)

    def type_fits(row: SupportRow) -> bool:
        return named is None or TensorDataType.parse(named) in row.data_types

    def fits(row: SupportRow) -> bool:  # fewer dimensions are padded with ones in front
        index_fits = index is None or TensorDataType.parse(index) in row.index_types
        return type_fits(row) and index_fits and dimensions <= max(row.dimension_counts)

    level = lowest_level(operator, fits)
    if level is None:
        if lowest_level(operator, type_fits) is None:
            return Placement(None, None, f"{operator} takes no {named}")
        most = max(max(row.dimension_counts) for row in SUPPORT[operator])
        return Placement(None, None, f"{operator} takes at most {most} dimensions, here {dimensions}")
    return Placement(str(operator), level, _missing(data_type is not None, shapes_known), tuple(differences))


def _missing(type_known: bool, shapes_known: bool) -> str:
    """Say what of a node is not known; an empty text if all is."""
    missing = [] if type_known else ["the type"]
    missing += [] if shapes_known else ["a shape"]
    return f"{' and '.join(missing)} is not known" if missing else ""
