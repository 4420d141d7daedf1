"""Running a valid descriptor on buffers, by the public functions of the package.

Uses `check`, `layout`, `remapnd.gather`, `remapnd.resample`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from remapnd.directml import read
from remapnd.directml.check import check
from remapnd.directml.enums import FeatureLevelLike, InterpolationMode, OperatorType
from remapnd.directml.layout import TensorLayout
from remapnd.directml.operators import FieldKind, OperatorDesc
from remapnd.directml.overlap import overlaps_itself
from remapnd.directml.policy import Policy
from remapnd.directml.violation import DirectMLError
from remapnd.gather import gather_elements, gather_nd
from remapnd.resample import resample

_Array: TypeAlias = npt.NDArray[Any]
_Kernel: TypeAlias = Callable[[Mapping[str, _Array], _Array], None]

_DEFAULT_POLICY = Policy()
_BOUNDS: Mapping[str, Literal["clip", "fill", "raise"]] = {"clamp": "clip", "zero": "fill", "error": "raise"}


class CompiledOperator:
    """A checked descriptor that can be run on buffers any number of times, also from several threads at once.

    Parameters
    ----------
    desc : OperatorDesc
        Read once; changes of the sequences in it have no effect later.
    feature_level : FeatureLevel or str or int
    policy : Policy

    Raises
    ------
    DirectMLError
        The descriptor has violations; all of them are listed.
    """

    def __init__(
        self,
        desc: OperatorDesc,
        *,
        feature_level: FeatureLevelLike = "6_4",
        policy: Policy = _DEFAULT_POLICY,
    ) -> None:
        violations = check(desc, feature_level, policy)
        if violations:
            raise DirectMLError(violations)
        self._type = desc.Type
        self._inputs = {
            name: TensorLayout.of(getattr(desc, name))
            for name in desc.tensor_names(FieldKind.INPUT, FieldKind.INDICES)
        }
        (self._output_name,) = desc.tensor_names(FieldKind.OUTPUT)
        self._output = TensorLayout.of(getattr(desc, self._output_name))
        self._overlaps = overlaps_itself(self._output.sizes, self._output.strides)
        self._kernel = _KERNELS[desc.Type](desc, policy)

    def __repr__(self) -> str:
        return f"<CompiledOperator {self._type}>"

    def __call__(self, inputs: Mapping[str, Any] | Sequence[Any], output: Any = None) -> _Array:
        """Run the operator; parameters, result and errors as in `run`."""
        buffers = self._by_name(inputs)
        views = {
            name: layout.view(f"{self._type}: `{name}`", buffers[name])
            for name, layout in self._inputs.items()
        }
        name = f"{self._type}: `{self._output_name}`"
        memory = np.zeros(self._output.total_bytes, np.uint8) if output is None else output
        view = self._output.view(name, memory, writable=True)
        for other, array in views.items():
            if np.may_share_memory(array, view):
                raise ValueError(f"{name} must share no memory with `{other}`, got overlapping buffers")
        if self._overlaps:
            values = np.empty(view.shape, view.dtype)
            self._kernel(views, values)
            _write_in_order(view, values)
        else:
            self._kernel(views, view)
        return view

    def _by_name(self, inputs: Mapping[str, Any] | Sequence[Any]) -> Mapping[str, Any]:
        """Give each input tensor its buffer."""
        names = list(self._inputs)
        if isinstance(inputs, Mapping):
            if set(inputs) != set(names):
                raise ValueError(f"{self._type}: `inputs` must have the keys {names}, got {list(inputs)}")
            return inputs
        if not isinstance(inputs, Sequence) or isinstance(inputs, (str, bytes, bytearray, memoryview)):
            raise TypeError(
                f"{self._type}: `inputs` must be a mapping or a sequence, got {type(inputs).__name__}"
            )
        if len(inputs) != len(names):
            raise ValueError(
                f"{self._type}: `inputs` must have {len(names)} elements {names}, got {len(inputs)}"
            )
        return dict(zip(names, inputs, strict=True))


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
    return CompiledOperator(desc, feature_level=feature_level, policy=policy)(inputs, output)


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


def _gather_elements(desc: Any, policy: Policy) -> _Kernel:
    """Prepare GATHER_ELEMENTS."""
    axis, bounds = int(desc.Axis), _BOUNDS[policy.gather_oob]

    def kernel(views: Mapping[str, _Array], out: _Array) -> None:
        data, indices = views["InputTensor"], views["IndicesTensor"]
        indices = _clamped_below(indices, data.shape[axis], policy)
        gather_elements(data, indices, axis=axis, bounds=bounds, out=out)

    return kernel


def _gather_nd(desc: Any, policy: Policy) -> _Kernel:
    """Prepare GATHER_ND and GATHER_ND1, on the real dimensions, which are the last ones."""
    batch, bounds = int(getattr(desc, "BatchDimensionCount", 0)), _BOUNDS[policy.gather_oob]
    data_count, indices_count = int(desc.InputDimensionCount), int(desc.IndicesDimensionCount)

    def kernel(views: Mapping[str, _Array], out: _Array) -> None:
        data, indices = _last(views["InputTensor"], data_count), _last(views["IndicesTensor"], indices_count)
        length = indices.shape[-1]
        indices = _clamped_below(indices, data.shape[batch : batch + length], policy)
        real = _last(out, indices_count - 1 + data_count - batch - length)
        gather_nd(data, indices, batch_dims=batch, bounds=bounds, out=real)

    return kernel


def _last(array: _Array, count: int) -> _Array:
    """View an array without the dimensions of size 1 before its last `count`."""
    view: _Array = array[(0,) * (array.ndim - count) + (...,)]
    return view


def _resample(desc: Any, policy: Policy) -> _Kernel:
    """Prepare RESAMPLE and RESAMPLE1; the former is the latter with offsets of 0.5 and -0.5."""
    scales = tuple(map(read.float32, desc.Scales))
    into = tuple(map(read.float32, getattr(desc, "InputPixelOffsets", [0.5] * len(scales))))
    onto = tuple(map(read.float32, getattr(desc, "OutputPixelOffsets", [-0.5] * len(scales))))
    linear = InterpolationMode.parse(desc.InterpolationMode) is InterpolationMode.LINEAR

    def kernel(views: Mapping[str, _Array], out: _Array) -> None:
        resample(
            views["InputTensor"],
            scales=scales,
            shape=out.shape,
            input_offsets=into,
            output_offsets=onto,
            mode="linear" if linear else "nearest",
            nearest_rule="half_up" if policy.nearest_ties == "up" else "half_down",
            integer_rule=policy.int_linear_rounding,
            out=out,
        )

    return kernel


_KERNELS: Mapping[OperatorType, Callable[[Any, Policy], _Kernel]] = {
    OperatorType.GATHER_ELEMENTS: _gather_elements,
    OperatorType.GATHER_ND: _gather_nd,
    OperatorType.GATHER_ND1: _gather_nd,
    OperatorType.RESAMPLE: _resample,
    OperatorType.RESAMPLE1: _resample,
}
