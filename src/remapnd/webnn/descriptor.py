"""Descriptors of WebNN operands: a data type and a shape, within the limits that WebNN sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import checks
from ..errors import must

DATA_TYPES = ("float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8")
MAX_DIMENSION = 2**31 - 1  # of a dimension, and of the number of elements


@dataclass(frozen=True)
class OperandDescriptor:
    """What an operand is: WebNN's ``MLOperandDescriptor``.

    Parameters
    ----------
    data_type : str
        "float32", "float16", "int32", "uint32", "int64", "uint64", "int8" or "uint8".
    shape : sequence of int
        Each dimension from 1 to 2**31 - 1, and their product as well; none for a scalar.

    Raises
    ------
    TypeError
        `data_type` is none of these; `shape` is not of integers.
    ValueError
        A dimension or the number of elements is out of range.

    Examples
    --------
    >>> OperandDescriptor("float32", [2, 3])
    OperandDescriptor(data_type='float32', shape=(2, 3))
    """

    data_type: str
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.data_type not in DATA_TYPES:
            raise TypeError(
                must(
                    "OperandDescriptor",
                    "data_type",
                    f"be one of {', '.join(DATA_TYPES)}",
                    repr(self.data_type),
                )
            )
        shape = checks.shape("OperandDescriptor", "shape", self.shape)
        check_dimensions("OperandDescriptor", "shape", shape)
        object.__setattr__(self, "shape", shape)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)


def check_dimensions(op: str, name: str, shape: tuple[int, ...]) -> None:
    """Refuse a shape that no operand may have."""
    if any(not 1 <= n <= MAX_DIMENSION for n in shape):
        raise ValueError(must(op, name, f"have dimensions from 1 to {MAX_DIMENSION}", shape))
    if math.prod(shape) > MAX_DIMENSION:
        rule = f"have at most {MAX_DIMENSION} elements"
        raise ValueError(must(op, name, rule, f"{math.prod(shape)} in shape {shape}"))


def result(op: str, data_type: str, shape: tuple[int, ...]) -> OperandDescriptor:
    """Return the descriptor of an output, after checking that there may be such an operand."""
    check_dimensions(op, "output", shape)
    return OperandDescriptor(data_type, shape)


def describe(op: str, name: str, a: npt.NDArray[Any]) -> OperandDescriptor:
    """Return the descriptor of an array, after checking that it may be an operand."""
    data_type = str(np.dtype(a.dtype).name)
    if data_type not in DATA_TYPES:
        raise TypeError(must(op, name, f"have one of the data types {', '.join(DATA_TYPES)}", a.dtype))
    check_dimensions(op, name, a.shape)
    return OperandDescriptor(data_type, a.shape)
