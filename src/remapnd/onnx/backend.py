"""The backend: the interface of onnx.backend.base for models of this family of operators.

Uses `graph`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.backend import base

from remapnd.errors import must
from remapnd.onnx.graph import Graph, Step, inlined, unknown_operators
from remapnd.onnx.model_file import as_model
from remapnd.onnx.nodes import Array, read_node
from remapnd.onnx.resize import ResizeRules


class BackendRep(base.BackendRep):
    """A prepared model; `run` it any number of times, also from several threads at once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __repr__(self) -> str:
        """Show inputs, outputs and operators, with how often each is there."""
        return f"<BackendRep {self._graph}>"

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Array, ...]:
        """Compute the outputs of the model.

        Parameters
        ----------
        inputs : sequence of arrays in the order of the graph's inputs, or mapping of name to array, or one
            array
            Inputs that have an initializer may be left out.

        Returns
        -------
        tuple of ndarray
            In the order of the graph's outputs; strings are arrays of objects.

        Raises
        ------
        TypeError, ValueError, IndexError
            An input is missing, unknown, or not of the declared type and shape; a node cannot compute its
            inputs: the text names the node, the rule and the value.
        """
        if kwargs:
            raise TypeError(must("run", "kwargs", "be empty", ", ".join(kwargs)))
        return tuple(self._graph.run(inputs if self._is_plain(inputs) else self._listed(inputs)))

    def _is_plain(self, inputs: Any) -> bool:
        """Whether `inputs` is a list or tuple with an array for each input that needs one."""
        return type(inputs) in (list, tuple) and len(inputs) == len(self._graph.inputs)

    def _listed(self, inputs: Any) -> Sequence[Any]:
        """Give each input of the graph its array."""
        names = [*self._graph.inputs, *self._graph.defaults]
        needed = self._graph.inputs
        if not isinstance(inputs, Mapping):
            listed = inputs if isinstance(inputs, Sequence) and not isinstance(inputs, str) else [inputs]
            if not len(needed) <= len(listed) <= len(names):
                rule = f"have {len(needed)} elements, for {', '.join(needed) or 'no inputs'}"
                raise ValueError(must("run", "inputs", rule, len(listed)))
            return listed
        missing = [name for name in needed if name not in inputs]
        unknown = [name for name in inputs if name not in names]
        if missing or unknown:
            rule = f"have the keys {', '.join(needed)}"
            raise ValueError(must("run", "inputs", rule, ", ".join(inputs) or "none"))
        return [inputs[name] if name in inputs else self._graph.default(name) for name in names]


class Backend(base.Backend):
    """Runs models of gathers, scatters, Resize, Upsample and what exporters put around them, on the CPU."""

    @classmethod
    def is_compatible(
        cls, model: onnx.ModelProto | bytes | str | os.PathLike[str], device: str = "CPU", **kwargs: Any
    ) -> bool:
        """Whether the model, given as to `prepare`, has only operators that this backend knows."""
        return not unknown_operators(inlined(as_model("is_compatible", model)).graph)

    @classmethod
    def prepare(
        cls, model: onnx.ModelProto | bytes | str | os.PathLike[str], device: str = "CPU", **kwargs: Any
    ) -> BackendRep:
        """Check a model and prepare its nodes.

        Parameters
        ----------
        model : ModelProto, the bytes of one, or the path of a file
            External data are read from the directory of the file.
        device : "CPU"
        resize_rules : "onnxruntime" or "onnx", default "onnxruntime"
            Whom Resize and Upsample follow where ONNX Runtime's CPU provider and the reference evaluator of
            ONNX differ: output lengths from scales, rounding of integers, align_corners and
            tf_crop_and_resize by scales, shapes that do not change. `remapnd.onnx.resize` lists them.

        Returns
        -------
        BackendRep

        Raises
        ------
        OSError, TypeError, ValueError
            The model cannot be read or is none, an operator is unknown (all are named at once), an opset is
            too new, an attribute is wrong. Of the rules for models, those are checked that running one needs.

        Notes
        -----
        Every opset is taken, with the rules of the version of each operator that it has. An index must lie in
        [-n, n) in every version, as in ONNX Runtime. Ranks and dtypes are those of the specification, which
        are more than ONNX Runtime takes.
        """
        rules = _resize_rules("prepare", kwargs)
        if not cls.supports_device(device):
            raise ValueError(must("prepare", "device", "be 'CPU'", repr(device)))
        base_dir = ""
        if isinstance(model, (str, os.PathLike)):
            base_dir = os.path.dirname(os.path.abspath(model))
        return BackendRep(Graph(as_model("prepare", model), rules, base_dir))

    @classmethod
    def run_model(
        cls,
        model: onnx.ModelProto | bytes | str | os.PathLike[str],
        inputs: Any,
        device: str = "CPU",
        **kwargs: Any,
    ) -> tuple[Array, ...]:
        """Prepare a model and run it once; parameters as in `prepare` and `BackendRep.run`."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Array, ...]:
        """Run one node.

        Parameters
        ----------
        node : NodeProto
        inputs : sequence of arrays, one for each name in ``node.input``; None where that is empty
        device : "CPU"
        outputs_info : ignored
        opset_version : int, default the newest that the installed onnx knows
        resize_rules : as in `prepare`

        Returns
        -------
        tuple of one ndarray

        Raises
        ------
        TypeError, ValueError, IndexError
            As in `prepare` and `BackendRep.run`.
        """
        version = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        rules = _resize_rules("run_node", kwargs)
        if not cls.supports_device(device):
            raise ValueError(must("run_node", "device", "be 'CPU'", repr(device)))
        graph = helper.make_graph([node], "node", [], [])
        unknown = unknown_operators(graph)
        if unknown:
            rule = "be of the gather, scatter and resize family or those of shapes"
            raise ValueError(must("run_node", "node", rule, unknown[0]))
        read = read_node(node, {"": version, "com.microsoft": 1})
        listed = list(inputs)
        named = [name for name in node.input if name]
        if len(listed) == len(named) != len(node.input):
            given = iter(listed)
            listed = [next(given) if name else None for name in node.input]
        if len(listed) != len(node.input):
            raise ValueError(must(read.label, "inputs", f"have {len(node.input)} elements", len(listed)))
        step = Step(read, rules)
        return (step(step.taken(listed)),)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether `device` is "CPU"."""
        return device == "CPU" or device.startswith("CPU:")


def _resize_rules(op: str, kwargs: dict[str, Any]) -> ResizeRules:
    """Take the one option of `prepare` and `run_node`."""
    rules: ResizeRules = kwargs.pop("resize_rules", "onnxruntime")
    if kwargs:
        raise TypeError(must(op, "options", "be resize_rules", ", ".join(sorted(kwargs))))
    return rules
