"""Running a valid descriptor on buffers, by the public functions of the package.

Uses `check`, `tensor`, `remapnd.gather`, `remapnd.resample`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from remapnd.directml import read
from remapnd.directml.check import check
from remapnd.directml.enums import FeatureLevelLike, InterpolationMode, OperatorType
from remapnd.directml.operators import (
    FieldKind,
    GatherElementsOperatorDesc,
    GatherND1OperatorDesc,
    GatherNDOperatorDesc,
    OperatorDesc,
    Resample1OperatorDesc,
    ResampleOperatorDesc,
)
from remapnd.directml.overlap import overlaps_itself
from remapnd.directml.policy import Policy
from remapnd.directml.tensor import BufferTensorDesc, buffer_view, calc_buffer_tensor_size
from remapnd.directml.violation import DirectMLError
from remapnd.gather import gather_elements, gather_nd
from remapnd.resample import resample

_Array: TypeAlias = npt.NDArray[Any]

_DEFAULT_POLICY = Policy()
_BOUNDS: Mapping[str, Literal["clip", "fill", "raise"]] = {"clamp": "clip", "zero": "fill", "error": "raise"}


def run(
    desc: OperatorDesc,
    inputs: Mapping[str, Any] | Sequence[Any],
    output: Any = None,
    *,
    feature_level: FeatureLevelLike = "6_4",
    policy: Policy = _DEFAULT_POLICY,
) -> _Array:
    """Check a descriptor and execute it on buffers.

    Parameters
    ----------
    desc : OperatorDesc
    inputs : mapping of field name to buffer, or sequence of buffers in the order of the struct
        An array of the dtype and shape that the tensor has (leading ones aside) is the tensor itself; any
        other array in C order, and any bytes-like object, is memory in which the tensor lies as its Sizes and
        Strides say, in native byte order. One with OWNED_BY_DML is bound like any other.
    output : ndarray or writable bytes-like, or None
        What the output tensor is written to, as for `inputs`. Bytes between its elements stay as they are.
        None makes a new one, with zeros between the elements. It must share no memory with `inputs`.
    feature_level : FeatureLevel or str or int
    policy : Policy

    Returns
    -------
    ndarray, shape ``desc.OutputTensor.Sizes``
        The output tensor: a view of `output`, or of the new buffer.

    Raises
    ------
    DirectMLError
        The descriptor has violations; all of them are listed.
    TypeError, ValueError
        A buffer is missing, unknown, of another dtype or shape, too short, read-only, or both input and
        output.
    IndexError
        An index is out of range and the policy's `gather_oob` is "error". The content of `output` is then
        undefined.

    Notes
    -----
    Source positions are computed exactly from the float32 values of the descriptor. [unk] The order of
    operations of DirectML is unknown; it matters only where a position is within rounding of a tie.

    Examples
    --------
    >>> import numpy as np
    >>> from remapnd.directml import BufferTensorDesc, ResampleOperatorDesc, run
    >>> small, large = BufferTensorDesc("FLOAT32", (1, 2)), BufferTensorDesc("FLOAT32", (1, 4))
    >>> run(ResampleOperatorDesc(small, large, "LINEAR", 2, [1, 2]), [np.array([0, 1], np.float32)])
    array([[0.  , 0.25, 0.75, 1.  ]], dtype=float32)
    """
    violations = check(desc, feature_level, policy)
    if violations:
        raise DirectMLError(violations)
    buffers = _by_name(desc, inputs)
    views = {
        name: buffer_view(f"{desc.Type}: `{name}`", buffer, getattr(desc, name))
        for name, buffer in buffers.items()
    }
    (out_name,) = desc.tensor_names(FieldKind.OUTPUT)
    out_desc: BufferTensorDesc = getattr(desc, out_name)
    out = _new_output(out_desc) if output is None else output
    view = buffer_view(f"{desc.Type}: `{out_name}`", out, out_desc, writable=True)
    for name, array in views.items():
        if np.may_share_memory(array, view):
            raise ValueError(
                f"{desc.Type}: `{out_name}` must share no memory with `{name}`, got overlapping buffers"
            )
    runner = _RUNNERS[desc.Type]
    if policy.output_overlap == "allow" and overlaps_itself(view.shape, [abs(s) for s in view.strides]):
        result = np.empty(view.shape, view.dtype)
        runner(desc, views, result, policy)
        _write_in_order(view, result)
    else:
        runner(desc, views, view, policy)
    return view


def _by_name(desc: OperatorDesc, inputs: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Give each input tensor its buffer."""
    names = desc.tensor_names(FieldKind.INPUT, FieldKind.INDICES)
    if isinstance(inputs, Mapping):
        if set(inputs) != set(names):
            raise ValueError(f"{desc.Type}: `inputs` must have the keys {names}, got {list(inputs)}")
        return {name: inputs[name] for name in names}
    if not isinstance(inputs, Sequence) or isinstance(inputs, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"{desc.Type}: `inputs` must be a mapping or a sequence, got {type(inputs).__name__}")
    if len(inputs) != len(names):
        raise ValueError(f"{desc.Type}: `inputs` must have {len(names)} elements {names}, got {len(inputs)}")
    return dict(zip(names, inputs, strict=True))


def _new_output(desc: BufferTensorDesc) -> _Array:
    """Make the smallest buffer for a tensor, as bytes."""
    least = calc_buffer_tensor_size(desc.DataType, desc.Sizes, desc.Strides)
    return np.zeros(max(desc.TotalTensorSizeInBytes or 0, least), np.uint8)


def _write_in_order(view: _Array, values: _Array) -> None:
    """Write to a view some of whose elements share an address: the last in row-major order stays."""
    address = np.zeros((), np.int64)
    for size, stride in zip(view.shape, view.strides, strict=True):
        address = address[..., None] + np.arange(size) * stride
    # `unique` finds the first of equal ones, here from the end; assignments have no defined order.
    _, from_end = np.unique(address.ravel()[::-1], return_index=True)
    last = np.unravel_index(address.size - 1 - from_end, view.shape)
    view[last] = values[last]


def _clamped_below(indices: _Array, sizes: Sequence[int] | int, policy: Policy) -> _Array:
    """Under "clampN", turn indices below -n into n - 1; the functions clip them to 0."""
    if policy.gather_oob != "clamp" or policy.gather_under != "clampN" or indices.dtype.kind != "i":
        return indices
    limits = np.asarray(sizes, np.int64)
    below = indices < -limits
    return np.where(below, limits - 1, indices) if below.any() else indices


def _gather_elements(desc: Any, views: Mapping[str, _Array], out: _Array, policy: Policy) -> None:
    """Run GATHER_ELEMENTS."""
    data, indices = views["InputTensor"], views["IndicesTensor"]
    indices = _clamped_below(indices, data.shape[desc.Axis], policy)
    gather_elements(data, indices, axis=int(desc.Axis), bounds=_BOUNDS[policy.gather_oob], out=out)


def _gather_nd(desc: Any, views: Mapping[str, _Array], out: _Array, policy: Policy) -> None:
    """Run GATHER_ND and GATHER_ND1 on the real dimensions, which are the last ones."""
    data, indices = views["InputTensor"], views["IndicesTensor"]
    batch = int(getattr(desc, "BatchDimensionCount", 0))
    data = data[(0,) * (data.ndim - desc.InputDimensionCount) + (...,)]
    indices = indices[(0,) * (indices.ndim - desc.IndicesDimensionCount) + (...,)]
    length = indices.shape[-1]
    indices = _clamped_below(indices, data.shape[batch : batch + length], policy)
    padding = out.ndim - (indices.ndim - 1 + data.ndim - batch - length)
    real = out[(0,) * padding + (...,)]
    gather_nd(data, indices, batch_dims=batch, bounds=_BOUNDS[policy.gather_oob], out=real)


def _resample(desc: Any, views: Mapping[str, _Array], out: _Array, policy: Policy) -> None:
    """Run RESAMPLE and RESAMPLE1; the former is the latter with offsets of 0.5 and -0.5."""
    linear = InterpolationMode.parse(desc.InterpolationMode) is InterpolationMode.LINEAR
    resample(
        views["InputTensor"],
        scales=[read.float32(s) for s in desc.Scales],
        shape=out.shape,
        input_offsets=[read.float32(x) for x in getattr(desc, "InputPixelOffsets", [0.5] * out.ndim)],
        output_offsets=[read.float32(x) for x in getattr(desc, "OutputPixelOffsets", [-0.5] * out.ndim)],
        mode="linear" if linear else "nearest",
        nearest_rule="half_up" if policy.nearest_ties == "up" else "half_down",
        integer_rule=policy.int_linear_rounding,
        out=out,
    )


_RUNNERS: Mapping[OperatorType, Callable[[Any, Mapping[str, _Array], _Array, Policy], None]] = {
    GatherElementsOperatorDesc.Type: _gather_elements,
    GatherNDOperatorDesc.Type: _gather_nd,
    GatherND1OperatorDesc.Type: _gather_nd,
    ResampleOperatorDesc.Type: _resample,
    Resample1OperatorDesc.Type: _resample,
}
