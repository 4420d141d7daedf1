"""What every problem of the table has: its arrays, a call for each library, and a judge of results."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .libraries import load, threads_in_use

__all__ = [
    "Agreement",
    "Array",
    "Call",
    "Node",
    "Problem",
    "UnsupportedError",
    "as_torch",
    "blank",
    "equal_bits",
    "jax_call",
    "onnx_call",
    "returning",
    "touched_bytes",
]

Array: TypeAlias = NDArray[Any]
Call: TypeAlias = Callable[[], Any]
Node: TypeAlias = tuple[
    str, Sequence[str], Sequence[str], Mapping[str, Any]
]  # operator, inputs, outputs, attributes

_LINE = 64  # bytes that memory moves at once


class UnsupportedError(Exception):
    """A library has no operator for a problem; the text says what is missing."""


class Agreement(NamedTuple):
    """How a result compares with the exact one.

    Attributes
    ----------
    ok : whether it is within the tolerance of the problem
    wrong : share of the compared values that are not the exact result, correctly rounded
    greatest : greatest difference from the exact result; None where values are moved, not computed
    rule : the tolerance in words
    """

    ok: bool
    wrong: float
    greatest: float | None
    rule: str


class Problem:
    """Arrays, and what each library does with them.

    `out` is one output for all libraries that take one: its placement in memory is the same for all.
    """

    # Label, "library" or "library:variant", to a method that prepares all it can and returns a call, which
    # does the work once and returns the result. It raises UnsupportedError or AbsentError instead.
    calls: ClassVar[Mapping[str, Callable[[Any], Call]]]
    out: Array

    def least_bytes(self) -> int:
        """Return the bytes that no implementation can avoid to move, each once."""
        raise NotImplementedError

    def judge(self, result: Array, *, exactly: bool) -> Agreement:
        """Compare a result with the exact one; `exactly` for remapnd, which has tighter bounds."""
        raise NotImplementedError

    def twin(self) -> Array:
        """Compute the result with `remapnd.reference`, whose bits are those of remapnd."""
        raise NotImplementedError


def blank(shape: Sequence[int], dtype: Any) -> Array:
    """Make an array whose pages are in memory, so that no call pays for them."""
    array = np.empty(shape, dtype)
    array.reshape(-1).view(np.uint8)[...] = 0xA5
    return array


def touched_bytes(items: Array, item_bytes: int, total_bytes: int) -> int:
    """Return the bytes of the memory lines that some of many adjacent items lie in."""
    touched = np.zeros(math.ceil(total_bytes / _LINE) + 1, bool)
    first = items.reshape(-1).astype(np.int64) * item_bytes
    last = first + item_bytes - 1
    if item_bytes <= _LINE:
        touched[first // _LINE] = touched[last // _LINE] = True
    else:  # edges count, and end
        edges = np.zeros(len(touched) + 1, np.int64)
        np.add.at(edges, first // _LINE, 1)
        np.add.at(edges, last // _LINE + 1, -1)
        touched = np.cumsum(edges) > 0
    return min(int(np.count_nonzero(touched)) * _LINE, total_bytes)


def equal_bits(result: Array, expected: Array) -> Agreement:
    """Judge a result whose values are only moved."""
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return _other_array(result, expected)
    unsigned = np.dtype(f"u{expected.dtype.itemsize}")
    wrong = float(np.mean(result.view(unsigned) != expected.view(unsigned))) if expected.size else 0.0
    return Agreement(wrong == 0, wrong, None, "the same bits")


def _other_array(result: Array, expected: Array) -> Agreement:
    """Refuse a result of another shape or type."""
    rule = f"{expected.dtype} {expected.shape}, got {result.dtype} {result.shape}"
    return Agreement(False, 1.0, None, rule)


def returning(call: Call, result: Any) -> Call:
    """Make a call that returns an output prepared beforehand."""

    def run() -> Any:
        call()
        return result

    return run


def as_torch(array: Array) -> Any:
    """View an array as a tensor; uint16, for which torch has few operators, as the int16 of the same bits."""
    return load("torch").from_numpy(array.view(np.int16) if array.dtype == np.uint16 else array)


def jax_call(function: Callable[..., Any], *arrays: Array) -> Call:
    """Compile a function of arrays for JAX, with the arrays in its memory."""
    jax = load("jax")
    inputs = [jax.device_put(array) for array in arrays]
    compiled = jax.jit(function)
    return lambda: compiled(*inputs).block_until_ready()


def onnx_call(
    nodes: Sequence[Node],
    inputs: Mapping[str, Array],
    out: Array,
    *,
    constants: Mapping[str, Array] | None = None,
    opset: int = 19,
) -> Call:
    """Make a session of ONNX Runtime that is bound to `inputs` and writes its result, "y", into `out`.

    It holds addresses alone: the memory of the arrays has to outlive it.
    """
    runtime, onnx = load("onnxruntime"), load("onnx")
    code = onnx.helper.np_dtype_to_tensor_dtype

    def value(name: str, array: Array) -> Any:
        return onnx.helper.make_tensor_value_info(name, code(array.dtype), array.shape)

    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(name, ins, outs, **attributes) for name, ins, outs, attributes in nodes],
        "problem",
        [value(name, array) for name, array in inputs.items()],
        [value("y", out)],
        [onnx.numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    # IR version 9 is the oldest that has all of these opsets: any ONNX Runtime of the last years reads it.
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=9)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads_in_use()
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Its threads would go on spinning for work while another library is timed.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_input(name, "cpu", 0, code(array.dtype), array.shape, array.ctypes.data)
    binding.bind_output("y", "cpu", 0, code(out.dtype), out.shape, out.ctypes.data)
    return returning(functools.partial(session.run_with_iobinding, binding), out)
