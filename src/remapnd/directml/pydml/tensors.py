"""Descriptions of tensors, and data on their way in and out.

Used by `graph` and `functions`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from remapnd.arrays import refuse_masked
from remapnd.directml.enums import TensorDataType, TensorFlags
from remapnd.directml.layout import TensorLayout
from remapnd.directml.tensor import BufferTensorDesc, calc_buffer_tensor_size, packed_strides
from remapnd.errors import must


class TensorPolicy:
    """How the strides of a tensor are chosen where they are not given."""

    default: TensorPolicy
    interleaved_channel: TensorPolicy

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"dml.TensorPolicy.{self._name}"

    def strides(self, sizes: Sequence[int]) -> tuple[int, ...] | None:
        """Return the strides in elements; None for packed. Channels are the second of four or five sizes."""
        if self._name == "default" or len(sizes) not in (4, 5):
            return None
        moved = [sizes[0], *sizes[2:], sizes[1]]
        batch, *spatial, channel = packed_strides(moved)
        return (batch, channel, *spatial)


TensorPolicy.default = TensorPolicy("default")
TensorPolicy.interleaved_channel = TensorPolicy("interleaved_channel")


class TensorDesc:
    """Description of a tensor.

    ``TensorDesc(data_type, sizes)``, ``(data_type, flags, sizes)``, either also with a tensor policy;
    ``(data_type, sizes, strides)``; ``(data_type, flags, sizes, strides, total_tensor_size_in_bytes,
    guaranteed_base_offset_alignment)``.

    Parameters
    ----------
    data_type : TensorDataType
    flags : TensorFlags
    sizes : sequence of int
    strides : sequence of int in elements, or None for packed
    tensor_policy : TensorPolicy
    total_tensor_size_in_bytes : int; 0 to calculate it
    guaranteed_base_offset_alignment : int

    Raises
    ------
    TypeError
        The arguments are none of these forms.
    """

    def __init__(self, data_type: TensorDataType | str | int, *rest: Any, **named: Any) -> None:
        names = ["sizes", "strides", "total_tensor_size_in_bytes", "guaranteed_base_offset_alignment"]
        if rest and not isinstance(rest[0], (Sequence, np.ndarray)):
            names.insert(0, "flags")
        for name, value in zip(names, rest, strict=False):
            policy = isinstance(value, TensorPolicy)
            named.setdefault("tensor_policy" if policy else name, value)
        known = {*names, "flags", "tensor_policy"}
        if len(rest) > len(names) or "sizes" not in named or set(named) - known:
            got = [type(value).__name__ for value in rest] + sorted(named)
            raise TypeError(
                f"TensorDesc: the arguments must be of one of the forms in its documentation, got {got}"
            )
        sizes = tuple(named["sizes"])
        strides = named.get("strides")
        if strides is None:
            strides = named.get("tensor_policy", TensorPolicy.default).strides(sizes)
        self._desc = BufferTensorDesc(
            TensorDataType.parse(data_type),
            sizes,
            None if strides is None else tuple(strides),
            TensorFlags.parse(named.get("flags", TensorFlags.NONE)),
            named.get("total_tensor_size_in_bytes") or None,
            named.get("guaranteed_base_offset_alignment", 0),
        )

    def __repr__(self) -> str:
        sizes = ",".join(map(str, self.sizes))
        return f"dml.TensorDesc of type {self.data_type} and shape [{sizes}] with flags {self.flags}"

    @property
    def data_type(self) -> TensorDataType:
        """Data type."""
        return TensorDataType.parse(self._desc.DataType)

    @property
    def flags(self) -> TensorFlags:
        """Flags."""
        return TensorFlags.parse(self._desc.Flags)

    @property
    def sizes(self) -> list[int]:
        """Sizes, outermost first."""
        return list(self._desc.Sizes)

    @property
    def strides(self) -> list[int] | None:
        """Strides in elements; None for packed."""
        return None if self._desc.Strides is None else list(self._desc.Strides)

    @property
    def total_tensor_size_in_bytes(self) -> int:
        """Size of the buffer."""
        desc = self._desc
        return desc.TotalTensorSizeInBytes or calc_buffer_tensor_size(desc.DataType, desc.Sizes, desc.Strides)

    @property
    def guaranteed_base_offset_alignment(self) -> int:
        """Alignment of the binding that is promised, in bytes."""
        return self._desc.GuaranteedBaseOffsetAlignment

    def as_buffer_tensor_desc(self) -> BufferTensorDesc:
        """Return the description as `directml` has it."""
        return self._desc


class Size2D:
    """A width and a height.

    Parameters
    ----------
    width, height : int
    """

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height


class TensorData(np.ndarray[Any, np.dtype[Any]]):
    """Data of a tensor: an array of its type and sizes.

    Parameters
    ----------
    data : array_like
    """

    def __new__(cls, data: Any) -> TensorData:
        """Copy `data`."""
        return np.array(data).view(cls)


def memory_of(layout: TensorLayout, data: Any) -> npt.NDArray[np.uint8]:
    """Return memory in which `data` lie as `layout` says; errors as in `graph.Binding`."""
    refuse_masked(data, "Binding", "data")
    values = np.ascontiguousarray(_converted(np.asarray(data), layout.dtype)).reshape(-1)
    count = math.prod(layout.sizes)
    if layout.packed and values.size != count:
        rule = f"have {count} elements for the sizes {layout.sizes}"
        raise ValueError(must("Binding", "data", rule, values.size))
    if values.nbytes < layout.least_bytes:
        rule = f"be memory of at least {layout.least_bytes} bytes for the sizes and strides of the tensor"
        raise ValueError(must("Binding", "data", rule, values.nbytes))
    memory = np.zeros(max(layout.total_bytes, values.nbytes), np.uint8)
    memory[: values.nbytes] = values.view(np.uint8)
    return memory


def _converted(data: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Convert what is given to a Binding to the type of its tensor."""
    if data.dtype.kind not in "biuf":
        raise TypeError(must("Binding", "data", "be of numbers", data.dtype))
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return data.astype(dtype)
    if data.dtype == np.float32:
        bits = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
        if bits.size % dtype.itemsize:
            rule = f"have a multiple of {dtype.itemsize} bytes to be the bits of {dtype}"
            raise ValueError(must("Binding", "data", rule, f"{bits.size} bytes"))
        return bits.view(dtype)
    converted = data.astype(dtype)
    if data.dtype.kind == "f" or not np.array_equal(converted, data):
        rule = f"hold integers of {dtype}, or float32 with their bits"
        raise ValueError(must("Binding", "data", rule, f"other values of {data.dtype}"))
    return converted
