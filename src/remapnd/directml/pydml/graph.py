"""Graphs of operators: expressions, what is bound to their inputs, and the device that computes them.

Uses `tensors` and `directml.device`; used by `functions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from remapnd.directml import device as directml
from remapnd.directml.binding import DeviceOperator
from remapnd.directml.enums import ExecutionFlags
from remapnd.directml.layout import TensorLayout
from remapnd.directml.operators import OperatorDesc
from remapnd.directml.pydml.tensors import TensorData, TensorDesc, memory_of
from remapnd.errors import must


class Expression:
    """A tensor that a graph reads or computes; made by the functions of this module."""

    def __init__(
        self,
        tensor_desc: TensorDesc,
        input_index: int | None = None,
        desc: OperatorDesc | None = None,
        sources: Sequence[Expression] = (),
    ) -> None:
        self._tensor_desc, self._input_index = tensor_desc, input_index
        self._desc, self._sources = desc, tuple(sources)

    def get_output_desc(self) -> TensorDesc:
        """Return the description of the tensor."""
        return self._tensor_desc

    def _refuse(self, *_: object) -> NoReturn:
        raise NotImplementedError(
            "Expression: arithmetic of expressions must be done on arrays, as it is not in this runtime"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __mod__ = __neg__ = _refuse


class Binding:
    """Data for an input.

    Parameters
    ----------
    expr : Expression
        Made by `input_tensor`.
    data : array_like
        Numbers for the tensor in the order of its elements, of any shape with as many, or memory of it where
        the tensor has strides. Converted to the tensor's type; integers must keep their values. PyDirectML
        moves everything as float32, so that integers have to be given as the floats with their bits: float32
        data for a tensor of integers are taken for their bits here too.

    Raises
    ------
    TypeError, ValueError
        The data cannot be converted; there are too few or too many.
    """

    def __init__(self, expr: Expression, data: Any) -> None:
        self.expr = expr
        layout = TensorLayout.of(expr.get_output_desc().as_buffer_tensor_desc())
        self.memory = memory_of(layout, data)


class Device:
    """What computes models: this CPU.

    Parameters
    ----------
    use_gpu, use_debug_layer : bool
        Without effect.
    """

    def __init__(self, use_gpu: bool = True, use_debug_layer: bool = False) -> None:
        self._device = directml.Device()

    def __repr__(self) -> str:
        return "dml.Device on CPU"

    def compute(
        self, model: Model, inputs: Sequence[Binding | None], outputs: Sequence[Expression]
    ) -> list[TensorData]:
        """Compute a model.

        Parameters
        ----------
        model : Model
        inputs : sequence of Binding, in the order of their input indices; None for one that is not used
        outputs : sequence of Expression, of those that the model was built for

        Returns
        -------
        list of TensorData
            For each of `outputs` an array of the type and sizes of its tensor.

        Raises
        ------
        ValueError
            An input is missing or at another place than its index; an output is none of the model.
        """
        return model.compute(inputs, outputs)


class GraphBuilder:
    """A graph under construction.

    Parameters
    ----------
    device : Device
    """

    def __init__(self, device: Device) -> None:
        self.device = device

    def build(self, flags: ExecutionFlags, outputs: Sequence[Expression]) -> Model:
        """Compile the expressions; raises DirectMLError if an operator is not valid."""
        return Model(self.device, flags, outputs)


class Model:
    """A compiled graph; made by `GraphBuilder.build`."""

    def __init__(self, device: Device, flags: ExecutionFlags, outputs: Sequence[Expression]) -> None:
        self._outputs = list(outputs)
        self._steps: dict[Expression, DeviceOperator | None] = {}
        waiting = list(outputs)
        while waiting:  # depth first without recursion: graphs may be deep
            expression = waiting[-1]
            missing = [source for source in expression._sources if source not in self._steps]
            if missing:
                waiting += reversed(missing)
                continue
            waiting.pop()
            if expression not in self._steps:
                desc = expression._desc
                compiled = None if desc is None else device._device.compile_operator(desc, flags)
                self._steps[expression] = compiled

    def compute(self, inputs: Sequence[Binding | None], outputs: Sequence[Expression]) -> list[TensorData]:
        """Compute the outputs; see `Device.compute`."""
        for position, output in enumerate(outputs):
            if output not in self._outputs:
                rule = f"be an expression that the model was built for, at position {position}"
                raise ValueError(must("compute", "outputs", rule, "another one"))
        memory: dict[Expression, npt.NDArray[np.uint8]] = {}
        for expression, step in self._steps.items():
            if step is None:
                memory[expression] = _input_memory(expression, inputs)
            else:
                operator = step.operator
                target = np.zeros(operator.output.total_bytes, np.uint8)
                operator([memory[source] for source in expression._sources], target)
                memory[expression] = target
        return [
            TensorData(
                TensorLayout.of(output._tensor_desc.as_buffer_tensor_desc()).view("output", memory[output])
            )
            for output in outputs
        ]


def _input_memory(expression: Expression, inputs: Sequence[Binding | None]) -> npt.NDArray[np.uint8]:
    """Find what is bound to an input."""
    index = expression._input_index or 0
    binding = inputs[index] if index < len(inputs) else None
    if binding is None or binding.expr._input_index != index:
        found = "none" if binding is None else f"a binding of input {binding.expr._input_index}"
        raise ValueError(
            must("compute", "inputs", f"have a binding of input {index} at that position", found)
        )
    return binding.memory
