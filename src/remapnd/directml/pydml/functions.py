"""The functions that make expressions: inputs, and one for each operator.

Uses `graph`, `tensors` and the descriptors of `directml.operators`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from remapnd.directml import operators
from remapnd.directml.enums import AxisDirection, InterpolationMode
from remapnd.directml.operators import FieldKind, OperatorDesc
from remapnd.directml.pydml.graph import Expression, GraphBuilder
from remapnd.directml.pydml.tensors import Size2D, TensorDesc


def input_tensor(scope: GraphBuilder, input_index: int, tensor_desc: TensorDesc) -> Expression:
    """Make an input of a graph.

    Parameters
    ----------
    scope : GraphBuilder
    input_index : int
        Position of its binding in `Device.compute`.
    tensor_desc : TensorDesc
    """
    return Expression(tensor_desc, input_index)


def _apply(
    kind: type[OperatorDesc], sources: Sequence[Expression], sizes: Sequence[int], **fields: Any
) -> Expression:
    """Make the expression of an operator whose output has the type of its first source."""
    output = TensorDesc(sources[0].get_output_desc().data_type, list(sizes))
    inputs = kind.tensor_names(FieldKind.INPUT, FieldKind.INDICES)
    (result,) = kind.tensor_names(FieldKind.OUTPUT)
    tensors = {
        name: source.get_output_desc().as_buffer_tensor_desc()
        for name, source in zip(inputs, sources, strict=True)
    }
    desc = kind(**tensors, **{result: output.as_buffer_tensor_desc()}, **fields)
    return Expression(output, desc=desc, sources=sources)


def _padded(sizes: Sequence[int], count: int) -> list[int]:
    """Add leading ones up to `count`, or drop the first above it; `check` sees whether they were ones."""
    return [1] * (count - len(sizes)) + list(sizes[max(len(sizes) - count, 0) :])


def gather(input: Expression, indices: Expression, axis: int, index_dimensions: int) -> Expression:
    """GATHER; see `GatherOperatorDesc`."""
    data, index = input.get_output_desc().sizes, indices.get_output_desc().sizes
    sizes = data[:axis] + index[len(index) - index_dimensions :] + data[axis + 1 :]
    fields = {"Axis": axis, "IndexDimensions": index_dimensions}
    return _apply(operators.GatherOperatorDesc, (input, indices), _padded(sizes, len(data)), **fields)


def gather_elements(input: Expression, indices: Expression, axis: int) -> Expression:
    """GATHER_ELEMENTS; see `GatherElementsOperatorDesc`."""
    sizes = indices.get_output_desc().sizes
    return _apply(operators.GatherElementsOperatorDesc, (input, indices), sizes, Axis=axis)


def gather_nd(
    input: Expression,
    indices: Expression,
    input_dimension_count: int,
    indices_dimension_count: int,
    batch_dimension_count: int = 0,
) -> Expression:
    """GATHER_ND1; see `GatherND1OperatorDesc`."""
    data, index = input.get_output_desc().sizes, indices.get_output_desc().sizes
    real_data = data[len(data) - input_dimension_count :]
    real_index = index[len(index) - indices_dimension_count :]
    sizes = real_index[:-1] + real_data[batch_dimension_count + index[-1] :]
    return _apply(
        operators.GatherND1OperatorDesc,
        (input, indices),
        _padded(sizes, len(data)),
        InputDimensionCount=input_dimension_count,
        IndicesDimensionCount=indices_dimension_count,
        BatchDimensionCount=batch_dimension_count,
    )


def scatter_elements(input: Expression, indices: Expression, updates: Expression, axis: int) -> Expression:
    """SCATTER; see `ScatterOperatorDesc`."""
    sizes = input.get_output_desc().sizes
    return _apply(operators.ScatterOperatorDesc, (input, indices, updates), sizes, Axis=axis)


def scatter_nd(
    input: Expression,
    indices: Expression,
    updates: Expression,
    input_dimension_count: int,
    indices_dimension_count: int,
) -> Expression:
    """SCATTER_ND; see `ScatterNDOperatorDesc`."""
    return _apply(
        operators.ScatterNDOperatorDesc,
        (input, indices, updates),
        input.get_output_desc().sizes,
        InputDimensionCount=input_dimension_count,
        IndicesDimensionCount=indices_dimension_count,
    )


def up_sample_2d(input: Expression, scale_size: Size2D, interpolation_mode: InterpolationMode) -> Expression:
    """UPSAMPLE_2D; see `Upsample2DOperatorDesc`."""
    *outer, height, width = input.get_output_desc().sizes
    return _apply(
        operators.Upsample2DOperatorDesc,
        (input,),
        [*outer, height * scale_size.height, width * scale_size.width],
        ScaleSize=operators.Size2D(scale_size.width, scale_size.height),
        InterpolationMode=interpolation_mode,
    )


def resample(  # noqa: PLR0917 - the order is DirectMLX's
    input: Expression,
    output_sizes: Sequence[int],
    mode: InterpolationMode,
    rounding_direction: AxisDirection = AxisDirection.INCREASING,
    scales: Sequence[float] = (),
    input_pixel_offsets: Sequence[float] = (),
    output_pixel_offsets: Sequence[float] = (),
    antialiased: bool = False,
) -> Expression:
    """RESAMPLE3; see `Resample3OperatorDesc`. Defaults as in DirectMLX.

    Parameters
    ----------
    input : Expression
    output_sizes : sequence of int
    mode : InterpolationMode
    rounding_direction : AxisDirection
        Nearest with the default, upwards, is not centred: 2 samples to 4 give 0, 1, 1, 1.
    scales : sequence of float
        By default the ratios of the sizes.
    input_pixel_offsets, output_pixel_offsets : sequence of float
        By default 0.5 and -0.5: pixel centres.
    antialiased : bool
    """
    sizes = input.get_output_desc().sizes
    return _apply(
        operators.Resample3OperatorDesc,
        (input,),
        output_sizes,
        InterpolationMode=mode,
        RoundingDirection=rounding_direction,
        Antialiased=antialiased,
        **_floats(sizes, output_sizes, scales, input_pixel_offsets, output_pixel_offsets),
    )


def resample_grad(  # noqa: PLR0917
    input: Expression,
    output_sizes: Sequence[int],
    mode: InterpolationMode,
    scales: Sequence[float] = (),
    input_pixel_offsets: Sequence[float] = (),
    output_pixel_offsets: Sequence[float] = (),
) -> Expression:
    """RESAMPLE_GRAD; see `ResampleGradOperatorDesc`. Scales are by default input over output sizes."""
    sizes = input.get_output_desc().sizes
    return _apply(
        operators.ResampleGradOperatorDesc,
        (input,),
        output_sizes,
        InterpolationMode=mode,
        **_floats(output_sizes, sizes, scales, input_pixel_offsets, output_pixel_offsets),
    )


def _floats(
    before: Sequence[int],
    after: Sequence[int],
    scales: Sequence[float],
    into: Sequence[float],
    onto: Sequence[float],
) -> dict[str, Any]:
    """Return count, scales and offsets of a resampling from sizes to sizes, with DirectMLX's defaults."""
    count = len(before)
    ratios = [m / n if n else 0.0 for n, m in zip(before, after, strict=False)]
    return {
        "DimensionCount": count,
        "Scales": list(scales) or ratios,
        "InputPixelOffsets": list(into) or [0.5] * count,
        "OutputPixelOffsets": list(onto) or [-0.5] * count,
    }
