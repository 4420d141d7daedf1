"""The rules of CreateOperator: each looks at one thing and is shared by all operators that have it.

Uses `inspection`, `support`, `overlap`; used by `check`. A rule passes in silence what another one has
reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

from remapnd.directml.enums import FeatureLevel, OperatorType, TensorDataType, TensorFlags
from remapnd.directml.inspection import Inspection
from remapnd.directml.operators import FieldKind
from remapnd.directml.overlap import overlaps_itself
from remapnd.directml.read import UINT_MAX
from remapnd.directml.support import SupportRow, introduced, lowest_level, support
from remapnd.directml.tensor import TENSOR_DIMENSION_COUNT_MAX, TENSOR_DIMENSION_COUNT_MAX1

Rule: TypeAlias = Callable[[Inspection], None]


def _interval(counts: range) -> str:
    return f"must be {counts[0]}" if len(counts) == 1 else f"must lie in [{counts[0]}, {counts[-1]}]"


def _one_of(types: Iterable[TensorDataType]) -> str:
    names = [str(t) for t in types]
    return f"must be {names[0]}" if len(names) == 1 else f"must be one of {', '.join(names)}"


def _dimension_counts(row: SupportRow) -> range:
    """Return the counts of a row within the limit that its level sets to all tensors."""
    before = row.since < FeatureLevel.LEVEL_3_0
    limit = TENSOR_DIMENSION_COUNT_MAX if before else TENSOR_DIMENSION_COUNT_MAX1
    return range(row.dimension_counts[0], min(row.dimension_counts[-1], limit) + 1)


def _types(row: SupportRow, index: bool) -> tuple[TensorDataType, ...]:
    return row.index_types if index else row.data_types


def _takes_type(data_type: TensorDataType, index: bool, row: SupportRow) -> bool:
    return data_type in _types(row, index)


def _takes_count(count: int, row: SupportRow) -> bool:
    return count in _dimension_counts(row)


def available(it: Inspection) -> None:
    """Require the feature level to have the operator."""
    first = introduced(it.operator)
    if it.level < first:
        it.report("Type", f"must be an operator of feature level {it.level}", it.operator, first)


def supported_tensors(it: Inspection) -> None:
    """Require data types and dimension counts of the feature level's table.

    Where the level does not have the operator, the first table is used, so that the list of violations is
    complete.
    """
    level = max(it.level, introduced(it.operator))
    row = support(it.operator, level)
    if row is None:
        return
    for name, facts in it.tensors.items():
        index = it.kinds[name] is FieldKind.INDICES
        types = _types(row, index)
        found = facts.data_type
        if found is not None and found not in types:
            minimum = lowest_level(it.operator, partial(_takes_type, found, index))
            it.report(f"{name}.DataType", f"{_one_of(types)} at feature level {level}", found, minimum)
        count = facts.dimension_count
        if count is not None and count not in _dimension_counts(row):
            minimum = lowest_level(it.operator, partial(_takes_count, count))
            rule = f"{_interval(_dimension_counts(row))} at feature level {level}"
            it.report(f"{name}.DimensionCount", rule, count, minimum)


def equal_dimension_counts(it: Inspection) -> None:
    """Require all tensors to have the DimensionCount of the first."""
    (first, *others) = it.tensors
    count = it.tensors[first].dimension_count
    for name in others:
        other = it.tensors[name].dimension_count
        if None not in (count, other) and other != count:
            it.report(f"{name}.DimensionCount", f"must equal {first}.DimensionCount = {count}", other)


def equal_data_types(it: Inspection) -> None:
    """Require all tensors but the indices to have the DataType of the first."""
    (first, *others) = (name for name in it.tensors if it.kinds[name] is not FieldKind.INDICES)
    data_type = it.tensors[first].data_type
    for name in others:
        other = it.tensors[name].data_type
        if None not in (data_type, other) and other != data_type:
            it.report(f"{name}.DataType", f"must equal {first}.DataType = {data_type}", other)


def owned_inputs_only(it: Inspection) -> None:
    """Require OWNED_BY_DML to stand on inputs only."""
    for name, facts in it.tensors.items():
        owned = facts.flags is not None and TensorFlags.OWNED_BY_DML in facts.flags
        if owned and it.kinds[name] is FieldKind.OUTPUT:
            it.report(f"{name}.Flags", "must be NONE for an output", facts.flags)


def no_output_overlap(it: Inspection) -> None:
    """Require every element of an output to have an address of its own.

    [unk] The documentation sets no such rule; the result of a race would be undefined, so it is one here
    unless the policy allows it.
    """
    if it.policy.output_overlap == "allow":
        return
    for name, facts in it.tensors.items():
        if it.kinds[name] is not FieldKind.OUTPUT or facts.sizes is None or facts.strides is None:
            continue
        if overlaps_itself(facts.sizes, facts.strides):
            rule = (
                f"must give each element of Sizes {facts.sizes} its own address (output_overlap is 'reject')"
            )
            it.report(f"{name}.Strides", rule, facts.strides)


def axis_in_range(it: Inspection) -> None:
    """Require Axis to be a dimension."""
    axis, sizes = it.uints["Axis"], it.sizes("InputTensor")
    if axis is not None and sizes is not None and axis >= len(sizes):
        it.report("Axis", f"must lie in [0, {len(sizes)})", axis)


def off_axis_sizes(it: Inspection) -> None:
    """Require the indices to have the sizes of the input off the axis, or (lenient) no larger ones.

    [contested] The pages of GATHER_ELEMENTS and SCATTER say equal; ONNX takes smaller ones too, for which the
    operators are just as well defined.
    """
    axis, data, indices = it.uints["Axis"], it.sizes("InputTensor"), it.sizes("IndicesTensor")
    if axis is None or data is None or indices is None or len(data) != len(indices) or axis >= len(data):
        return
    strict = it.policy.off_axis == "strict"
    for d, (n, m) in enumerate(zip(data, indices, strict=True)):
        if d != axis and (m != n if strict else m > n):
            rule = f"must equal InputTensor.Sizes[{d}] = {n} (off_axis is 'strict')"
            lenient = f"must be at most InputTensor.Sizes[{d}] = {n}"
            it.report(f"IndicesTensor.Sizes[{d}]", rule if strict else lenient, m)


def _same_sizes(name: str, other: str) -> Rule:
    """Make the rule that one tensor has the sizes of another."""

    def rule(it: Inspection) -> None:
        sizes, expected = it.sizes(name), it.sizes(other)
        if sizes is not None and expected is not None and sizes != expected:
            it.report(f"{name}.Sizes", f"must equal {other}.Sizes = {expected}", sizes)

    return rule


def _padded_sizes(it: Inspection, name: str, body: tuple[int, ...]) -> None:
    """Require a tensor to have the sizes `body` after leading ones."""
    sizes = it.sizes(name)
    if sizes is None:
        return
    if len(body) > len(sizes):
        it.report(
            f"{name}.DimensionCount", f"must be at least {len(body)} to hold the sizes {body}", len(sizes)
        )
    elif sizes != (expected := (1,) * (len(sizes) - len(body)) + body):
        it.report(f"{name}.Sizes", f"must be {expected}", sizes)


def gather_sizes(it: Inspection) -> None:
    """Require IndexDimensions and the output sizes of GATHER to fit.

    [doc] The output has the input's sizes with those of the indices in the place of the axis; leading ones
    are dropped or added to keep the dimension count. [inf] Dimensions of the indices before the last
    IndexDimensions are 1.
    """
    data, indices = it.sizes("InputTensor"), it.sizes("IndicesTensor")
    axis, count = it.uints["Axis"], it.uints["IndexDimensions"]
    if indices is None or count is None:
        return
    inclusive = it.policy.index_dimensions_max == "N"
    if count > len(indices) - (not inclusive):
        most = f"in [0, {len(indices)}]" if inclusive else f"in [0, {len(indices)})"
        why = "" if inclusive else " (index_dimensions_max is 'N-1')"
        it.report("IndexDimensions", f"must lie {most}{why}", count)
        return
    real = _without_padding(it, "IndicesTensor", indices, "IndexDimensions", count)
    if data is not None and axis is not None and axis < len(data):
        body = data[:axis] + real + data[axis + 1 :]
        while len(body) > len(data) and body[0] == 1:
            body = body[1:]
        _padded_sizes(it, "OutputTensor", body)


def _real_sizes(it: Inspection, tensor: str, count_field: str) -> tuple[int, ...] | None:
    """Check a count and the ones in front of what it counts; return the sizes counted."""
    sizes, count = it.sizes(tensor), it.uints[count_field]
    if sizes is None or count is None:
        return None
    if not 1 <= count <= len(sizes):
        it.report(count_field, f"must lie in [1, {len(sizes)}]", count)
        return None
    return _without_padding(it, tensor, sizes, count_field, count)


def _without_padding(
    it: Inspection, tensor: str, sizes: tuple[int, ...], count_field: str, count: int
) -> tuple[int, ...]:
    """Check that the dimensions before the last `count` are 1; return the last ones."""
    leading = len(sizes) - count
    for d in range(leading):
        if sizes[d] != 1:
            rule = f"must be 1, as {count_field} = {count} makes the dimensions before {leading} padding"
            it.report(f"{tensor}.Sizes[{d}]", rule, sizes[d])
    return sizes[leading:]


def index_tuples(items: str, it: Inspection) -> None:
    """Require counts, tuple length and sizes of the N-D gathers, or of SCATTER_ND, to fit.

    `items` is the tensor with one slice for each index tuple: output of a gather, updates of a scatter.
    [contested] The pages write the tail of its sizes as the last T dimensions of the input (T: the tuple
    length). Their own example, and DirectMLX, need the last I - B - T, which is used here. [inf] Leading
    dimensions are 1, and the batch dimensions of input and indices are equal.
    """
    data = _real_sizes(it, "InputTensor", "InputDimensionCount")
    indices = _real_sizes(it, "IndicesTensor", "IndicesDimensionCount")
    batch = it.uints.get("BatchDimensionCount", 0)
    if data is None or indices is None or batch is None:
        return
    if batch >= min(len(data), len(indices)):
        limit = f"min(InputDimensionCount, IndicesDimensionCount) = {min(len(data), len(indices))}"
        it.report("BatchDimensionCount", f"must be less than {limit}", batch)
        return
    data_first = len(it.sizes("InputTensor") or ()) - len(data)
    indices_first = len(it.sizes("IndicesTensor") or ()) - len(indices)
    for d in range(batch):
        if indices[d] != data[d]:
            rule = f"must equal InputTensor.Sizes[{data_first + d}] = {data[d]}, a batch dimension"
            it.report(f"IndicesTensor.Sizes[{indices_first + d}]", rule, indices[d])
    length, most = indices[-1], len(data) - batch
    if length > most:
        last = f"IndicesTensor.Sizes[{indices_first + len(indices) - 1}]"
        less = " - BatchDimensionCount" if "BatchDimensionCount" in it.uints else ""
        it.report(
            last,
            f"must be at most InputDimensionCount{less} = {most}, as the length of an index tuple",
            length,
        )
        return
    _padded_sizes(it, items, indices[:-1] + data[batch + length :])


def upsampled_sizes(it: Inspection) -> None:
    """Require the scales of UPSAMPLE_2D to be above 0 and the output to have exactly the enlarged sizes."""
    data = it.sizes("InputTensor")
    if data is None or len(data) < 2:
        return
    expected = list(data)
    for d, name in ((-2, "ScaleSize.Height"), (-1, "ScaleSize.Width")):
        scale, most = it.uints.get(name), UINT_MAX // data[d]
        if scale is not None and not 1 <= scale <= most:
            rule = f"must lie in [1, {most}], for InputTensor.Sizes[{len(data) + d}] = {data[d]}"
            it.report(name, rule, scale)
        expected[d] *= scale or 0
    output = it.sizes("OutputTensor")
    if 0 not in expected and output is not None and output != tuple(expected) and len(output) == len(data):
        it.report("OutputTensor.Sizes", f"must be {tuple(expected)}, as ScaleSize says", output)


def float_counts(it: Inspection) -> None:
    """Require the count field to equal DimensionCount, and each array to have as many values."""
    (name,) = it.desc.tensor_names(FieldKind.COUNT)
    (first, *_) = it.tensors
    expected, meaning = it.tensors[first].dimension_count, f"{first}.DimensionCount"
    given = it.uints.get(name)
    if given is not None:
        if expected is not None and given != expected:
            it.report(name, f"must equal {meaning} = {expected}", given)
        expected, meaning = given, name
    for array, values in it.floats.items():
        if values is not None and expected is not None and len(values) != expected:
            rule = f"must have as many values as {meaning} = {expected}"
            it.report(array, rule, getattr(it.desc, array))


def positive_scales(it: Inspection) -> None:
    """Require scales above 0 and finite, once stored as float32. [inf] The pages set no bound."""
    for d, scale in enumerate(it.floats["Scales"] or ()):
        if scale is not None and not 0 < scale < math.inf:
            it.report(f"Scales[{d}]", "must be above 0 and finite as a float32", _element(it, "Scales", d))


def finite_offsets(it: Inspection) -> None:
    """Require finite offsets, once stored as float32. [inf] The pages set no bound."""
    for name in ("InputPixelOffsets", "OutputPixelOffsets"):
        for d, offset in enumerate(it.floats[name] or ()):
            if offset is not None and not math.isfinite(offset):
                it.report(f"{name}[{d}]", "must be finite as a float32", _element(it, name, d))


def _element(it: Inspection, name: str, position: int) -> object:
    """Return an element of an array field as the user wrote it."""
    value: object = getattr(it.desc, name)[position]
    return value


COMMON: tuple[Rule, ...] = (
    available,
    supported_tensors,
    equal_dimension_counts,
    equal_data_types,
    owned_inputs_only,
    no_output_overlap,
)
"""The rules of all operators."""

_RESAMPLE1 = (float_counts, positive_scales, finite_offsets)
_GATHER_ND = (partial(index_tuples, "OutputTensor"),)
_OUTPUT_LIKE_INPUT = _same_sizes("OutputTensor", "InputTensor")

RULES: Mapping[OperatorType, tuple[Rule, ...]] = {
    OperatorType.GATHER: (axis_in_range, gather_sizes),
    OperatorType.GATHER_ELEMENTS: (
        axis_in_range,
        off_axis_sizes,
        _same_sizes("OutputTensor", "IndicesTensor"),
    ),
    OperatorType.GATHER_ND: _GATHER_ND,
    OperatorType.GATHER_ND1: _GATHER_ND,
    OperatorType.SCATTER: (
        axis_in_range,
        off_axis_sizes,
        _same_sizes("UpdatesTensor", "IndicesTensor"),
        _OUTPUT_LIKE_INPUT,
    ),
    OperatorType.SCATTER_ND: (partial(index_tuples, "UpdatesTensor"), _OUTPUT_LIKE_INPUT),
    OperatorType.UPSAMPLE_2D: (upsampled_sizes,),
    OperatorType.RESAMPLE: (float_counts, positive_scales),
    OperatorType.RESAMPLE1: _RESAMPLE1,
    OperatorType.RESAMPLE2: _RESAMPLE1,
    OperatorType.RESAMPLE3: _RESAMPLE1,
    OperatorType.RESAMPLE_GRAD: _RESAMPLE1,
    OperatorType.RESAMPLE_GRAD1: _RESAMPLE1,
}
"""The further rules of each operator."""
