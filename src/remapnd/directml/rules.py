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

    [contested] The page of GATHER_ELEMENTS says equal; ONNX takes smaller ones too, for which the operator is
    just as well defined.
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


def output_like_indices(it: Inspection) -> None:
    """Require the output to have the sizes of the indices."""
    indices, output = it.sizes("IndicesTensor"), it.sizes("OutputTensor")
    if indices is not None and output is not None and output != indices:
        it.report("OutputTensor.Sizes", f"must equal IndicesTensor.Sizes = {indices}", output)


def _real_sizes(it: Inspection, tensor: str, count_field: str) -> tuple[int, ...] | None:
    """Check a count and the ones in front of what it counts; return the sizes counted."""
    sizes, count = it.sizes(tensor), it.uints[count_field]
    if sizes is None or count is None:
        return None
    if not 1 <= count <= len(sizes):
        it.report(count_field, f"must lie in [1, {len(sizes)}]", count)
        return None
    leading = len(sizes) - count
    for d in range(leading):
        if sizes[d] != 1:
            rule = f"must be 1, as {count_field} = {count} makes the dimensions before {leading} padding"
            it.report(f"{tensor}.Sizes[{d}]", rule, sizes[d])
    return sizes[leading:]


def gather_nd_sizes(it: Inspection) -> None:
    """Require the dimension counts, the tuple length and the output sizes of GATHER_ND and GATHER_ND1 to fit.

    [contested] The pages write the tail of the output as the last T dimensions of the input (T: the tuple
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
    body = indices[:-1] + data[batch + length :]
    output = it.sizes("OutputTensor")
    if output is None:
        return
    if len(body) > len(output):
        it.report(
            "OutputTensor.DimensionCount",
            f"must be at least {len(body)} to hold the sizes {body}",
            len(output),
        )
    elif output != (expected := (1,) * (len(output) - len(body)) + body):
        it.report("OutputTensor.Sizes", f"must be {expected}", output)


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

RULES: Mapping[OperatorType, tuple[Rule, ...]] = {
    OperatorType.GATHER_ELEMENTS: (axis_in_range, off_axis_sizes, output_like_indices),
    OperatorType.GATHER_ND: (gather_nd_sizes,),
    OperatorType.GATHER_ND1: (gather_nd_sizes,),
    OperatorType.RESAMPLE: (float_counts, positive_scales),
    OperatorType.RESAMPLE1: (float_counts, positive_scales, finite_offsets),
}
"""The further rules of each operator."""
