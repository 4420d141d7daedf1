"""Running a valid descriptor on buffers.

Uses `check`, `kernels`, `layout`; used by `device` and `dxdispatch`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from remapnd.directml.check import check, require_desc
from remapnd.directml.enums import FeatureLevelLike, OperatorType
from remapnd.directml.kernels import Array, Run, prepare
from remapnd.directml.layout import TensorLayout
from remapnd.directml.operators import FieldKind, OperatorDesc
from remapnd.directml.overlap import overlaps_itself
from remapnd.directml.policy import Policy
from remapnd.directml.violation import DirectMLError

_DEFAULT_POLICY = Policy()


class BoundOperator(NamedTuple):
    """An operator with all of its buffers.

    Attributes
    ----------
    run : callable
        Takes nothing, reads the inputs as they are now and writes the output.
    output : ndarray
        View of the output tensor in its buffer.
    """

    run: Run
    output: Array


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
        self.type: OperatorType = desc.Type
        self.inputs = {
            name: TensorLayout.of(getattr(desc, name))
            for name in desc.tensor_names(FieldKind.INPUT, FieldKind.INDICES)
        }
        (self.output_name,) = desc.tensor_names(FieldKind.OUTPUT)
        self.output = TensorLayout.of(getattr(desc, self.output_name))
        self._overlaps = overlaps_itself(self.output.sizes, self.output.strides)
        self._labels = {name: f"{self.type}: `{name}`" for name in (*self.inputs, self.output_name)}
        self._bind = prepare(desc, {**self.inputs, self.output_name: self.output}, policy)

    def __repr__(self) -> str:
        return f"<CompiledOperator {self.type}>"

    def __call__(self, inputs: Mapping[str, Any] | Sequence[Any], output: Any = None) -> Array:
        """Run the operator; parameters, result and errors as in `run`."""
        bound = self.bind(inputs, output)
        bound.run()
        return bound.output

    def bind(self, inputs: Mapping[str, Any] | Sequence[Any], output: Any = None) -> BoundOperator:
        """Give the operator its buffers, once for any number of runs; parameters and errors as in `run`."""
        buffers = by_name(self.type, self.inputs, inputs)
        views = {name: layout.view(self._labels[name], buffers[name]) for name, layout in self.inputs.items()}
        name = f"{self.type}: `{self.output_name}`"
        memory = np.zeros(self.output.total_bytes, np.uint8) if output is None else output
        view = self.output.view(name, memory, writable=True)
        for other, array in views.items():
            if np.may_share_memory(array, view):
                raise ValueError(f"{name} must share no memory with `{other}`, got overlapping buffers")
        if not self._overlaps:
            return BoundOperator(self._bind(views, view), view)
        values = np.empty(view.shape, view.dtype)
        compute = self._bind(views, values)

        def run() -> None:
            compute()
            _write_in_order(view, values)

        return BoundOperator(run, view)


def run(
    desc: OperatorDesc,
    inputs: Mapping[str, Any] | Sequence[Any],
    output: Any = None,
    *,
    feature_level: FeatureLevelLike = "6_4",
    policy: Policy = _DEFAULT_POLICY,
) -> Array:
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
        An index is out of range, or a place is written twice, and the policy makes that an error. The content
        of `output` is then undefined.

    Notes
    -----
    Source positions are computed exactly from the float32 values of the descriptor, unless the policy
    `coordinate_precision` says otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from remapnd.directml import BufferTensorDesc, ResampleOperatorDesc, run
    >>> small, large = BufferTensorDesc("FLOAT32", (1, 2)), BufferTensorDesc("FLOAT32", (1, 4))
    >>> run(ResampleOperatorDesc(small, large, "LINEAR", 2, [1, 2]), [np.array([0, 1], np.float32)])
    array([[0.  , 0.25, 0.75, 1.  ]], dtype=float32)
    """
    require_desc("run", desc)
    return CompiledOperator(desc, feature_level=feature_level, policy=policy)(inputs, output)


def by_name(
    op: object, names: Collection[str], inputs: Mapping[str, Any] | Sequence[Any]
) -> Mapping[str, Any]:
    """Give each of `names` its buffer from a mapping, or a sequence in their order."""
    if isinstance(inputs, Mapping):
        if inputs.keys() != set(names):
            raise ValueError(f"{op}: `inputs` must have the keys {list(names)}, got {list(inputs)}")
        return inputs
    if not isinstance(inputs, Sequence) or isinstance(inputs, (str, bytes, bytearray, memoryview)):
        raise TypeError(
            f"{op}: `inputs` must be a list of buffers, or a mapping of {list(names)} to them, got "
            f"{type(inputs).__name__}"
        )
    if len(inputs) != len(names):
        raise ValueError(f"{op}: `inputs` must have {len(names)} elements {list(names)}, got {len(inputs)}")
    return dict(zip(names, inputs, strict=True))


def _write_in_order(view: Array, values: Array) -> None:
    """Write to a view some of whose elements share an address: the last in row-major order stays."""
    address = np.zeros((), np.int64)
    for size, stride in zip(view.shape, view.strides, strict=True):
        address = address[..., None] + np.arange(size) * stride
    # `unique` finds the first of equal ones, here from the end; assignments have no defined order.
    _, from_end = np.unique(address.ravel()[::-1], return_index=True)
    last = np.unravel_index(address.size - 1 - from_end, view.shape)
    view[last] = values[last]
