"""Graphs: every node prepared once, then run in order.

Uses `nodes` and `operators`; used by `backend` and `lint`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import onnx
import onnx.inliner

from remapnd import checks
from remapnd.arrays import refuse_masked
from remapnd.errors import must
from remapnd.onnx.nodes import Array, Node, as_array, label, opset_versions, read_node, type_name
from remapnd.onnx.operators import is_constant, is_known, is_new, prepare_node
from remapnd.onnx.resize import RESIZE_RULES, ResizeNode

# The public functions, and what ONNX calls their parameters where it has other names.
_FUNCTIONS: Mapping[str, Mapping[str, str]] = {
    **{name: {} for name in ("gather", "gather_elements", "gather_nd", "scatter_elements", "scatter_nd")},
    "resize": {"data": "X", "shape": "sizes"},
    "grid_sample": {"data": "X", "padding": "padding_mode"},
    "affine_grid": {},
    "roi_align": {"data": "X", "shape": "output_height, output_width", "scale": "spatial_scale"},
    "crop_and_resize": {"data": "X", "shape": "crop_size"},
    "tensor_scatter": {"data": "past_cache", "updates": "update"},
}


class Step:
    """A node and what computes it."""

    def __init__(self, node: Node, rules: str) -> None:
        self.node = node
        self.function: Callable[..., Array] = prepare_node(node, rules)

    def __call__(self, arrays: Sequence[Array | None]) -> Array:
        """Compute the output; an error names the node."""
        self.node.check_inputs(arrays)
        try:
            return self.function(*arrays)
        except _ERRORS as error:
            self.fail(error)

    def taken(self, values: Iterable[Any]) -> list[Array | None]:
        """Return what was given for the inputs as arrays; None for those that are left out."""
        values = list(values)
        for k, value in enumerate(values):
            refuse_masked(value, self.node.label, self.node.input_name(k))
        return [None if value is None else np.asarray(value) for value in values]

    def fail(self, error: Exception) -> NoReturn:
        """Raise an error of a public function as one of the node, in ONNX's words; others as they are."""
        function, colon, text = str(error).partition(": ")
        if not colon or function not in _FUNCTIONS:
            raise error
        for ours, theirs in _FUNCTIONS[function].items():
            text = text.replace(f"`{ours}`", f"`{theirs}`")
        text = text.replace(", 'majority' too", "")  # a mode that ONNX does not have
        kind = next(k for k in _ERRORS if isinstance(error, k))
        raise kind(f"{self.node.label}: {text}") from error


_ERRORS = (TypeError, IndexError, ValueError)
# For models that have operators of other families as well.
_WAY_OUT = "onnx.reference.ReferenceEvaluator(model, new_ops=remapnd.onnx.reference_ops()) runs any operator"


class _Work(NamedTuple):
    """A step of a graph as it runs: places of values instead of names."""

    step: Step
    function: Callable[..., Array]
    sources: tuple[int, ...]
    target: int
    spent: tuple[int, ...]  # values that nothing needs any more


class Graph:
    """A model whose operators are all known.

    Parameters
    ----------
    model : ModelProto
    rules : "onnxruntime" or "onnx"
        Whom Resize follows; see `remapnd.onnx.prepare`.
    base_dir : str
        Directory of external data.

    Raises
    ------
    ValueError
        The model has operators, subgraphs, functions or attributes that cannot be run; all unknown operators
        are named at once.
    """

    def __init__(self, model: onnx.ModelProto, rules: str = "onnxruntime", base_dir: str = "") -> None:
        checks.choice("prepare", "resize_rules", rules, RESIZE_RULES)
        model = inlined(model)
        graph = model.graph
        unknown = unknown_operators(graph)
        if unknown:
            rule = "use the operators of the gather, scatter and resize family and those of shapes"
            raise ValueError(must("prepare", "model", rule, ", ".join(unknown)) + f" ({_WAY_OUT})")
        if graph.sparse_initializer:
            names = ", ".join(repr(sparse.values.name) for sparse in graph.sparse_initializer)
            raise ValueError(must("prepare", "model", "have no sparse initializers", names))
        for value in graph.input:
            if value.type.WhichOneof("value") not in (None, "tensor_type"):
                rule = "have tensors as inputs"
                raise ValueError(must("prepare", "model", rule, f"{value.name!r} of another kind"))
        versions = opset_versions(model)
        self._steps = [Step(read_node(proto, versions), rules) for proto in graph.node]
        constants = {tensor.name: as_array(tensor, base_dir) for tensor in graph.initializer}
        self.inputs = [value.name for value in graph.input if value.name not in constants]
        self.defaults = [value.name for value in graph.input if value.name in constants]
        self._declared = {value.name: _declared(value.type.tensor_type) for value in graph.input}
        self.outputs = [value.name for value in graph.output]
        self._check_order(constants)
        constants |= {step.node.outputs[0]: _fixed(step) for step in self._steps if is_constant(step.node)}
        self._steps = [step for step in self._steps if not is_constant(step.node)]
        # The values of a run in one list: None for what is left out, inputs, constants, what nodes compute.
        free = ["", *self.inputs, *self.defaults]
        fixed = [name for name in constants if name not in self.defaults]
        values = [*free, *fixed, *(step.node.outputs[0] for step in self._steps)]
        self._places = {name: place for place, name in enumerate(values)}
        self._initial: list[Any] = [constants.get(name) for name in values]
        self._works = self._planned(frozenset(fixed))
        self._shared = self._may_share()
        # Dtypes and shapes of inputs that have passed all checks; the dtypes of all values follow from these.
        self._passed: list[Any] | None = None

    def _check_order(self, constants: Iterable[str]) -> None:
        """Require each value to be made before it is used, once."""
        known = {*constants, *self.inputs}
        for step in self._steps:
            for name in step.node.inputs:
                if name and name not in known:
                    raise ValueError(must(step.node.label, "inputs", "be made before the node", repr(name)))
            if len(step.node.outputs) != 1 or step.node.outputs[0] in known:
                rule = "be one name, not used before"
                raise ValueError(must(step.node.label, "outputs", rule, list(step.node.outputs)))
            known.add(step.node.outputs[0])
        for name in self.outputs:
            if name not in known:
                raise ValueError(must("prepare", "model", "compute its outputs", f"no value {name!r}"))

    def _planned(self, fixed: Collection[str]) -> list[_Work]:
        """Say of each step where its values are; those that are `fixed` are bound to its function."""
        last_use = {
            name: k for k, step in enumerate(self._steps) for name in step.node.inputs if name
        } | dict.fromkeys((*self.outputs, *fixed), len(self._steps))
        works = []
        for k, step in enumerate(self._steps):
            names, function = step.node.inputs, step.function
            if isinstance(function, ResizeNode) and all(not name or name in fixed for name in names[1:]):
                constants = [self._initial[self._places[name]] for name in names[1:]]
                function, names = function.bound(*constants), names[:1]
            spent = {self._places[name] for name in step.node.inputs if name and last_use[name] == k}
            sources = tuple(self._places[name] for name in names)
            works.append(_Work(step, function, sources, self._places[step.node.outputs[0]], tuple(spent)))
        return works

    def _may_share(self) -> bool:
        """Whether an output may share memory with an input, a constant or another output."""
        makers = {step.node.outputs[0]: step.node for step in self._steps}
        viewed = {name for node in makers.values() if not is_new(node) for name in node.inputs}
        fresh = all(name in makers and is_new(makers[name]) and name not in viewed for name in self.outputs)
        return not fresh or len(set(self.outputs)) < len(self.outputs)

    def __str__(self) -> str:
        """Show inputs, outputs and operators."""
        inputs = ", ".join(self._shown(name) for name in self.inputs)
        counted = Counter(f"{work.step.node.op}-{work.step.node.since}" for work in self._works)
        operators = ", ".join(name if n == 1 else f"{n} {name}" for name, n in counted.items())
        return f"({inputs}) -> ({', '.join(self.outputs)}) by {operators or 'no operators'}"

    def _shown(self, name: str) -> str:
        """Show an input as far as it is declared."""
        kind, sizes = self._declared[name]
        known = "" if sizes is None else "[" + ",".join("?" if n is None else str(n) for n in sizes) + "]"
        kind = kind.removeprefix("tensor(").removesuffix(")") + known
        return f"{name}: {kind}" if kind else name

    def run(self, inputs: Sequence[Any]) -> list[Array]:
        """Compute the outputs; they share no memory with inputs or the model.

        `inputs` has an array for each name in `self.inputs`, and then for some of `self.defaults`.
        """
        signature = [(array.dtype, array.shape) if type(array) is np.ndarray else None for array in inputs]
        passed = signature == self._passed
        arrays = inputs if passed else [self._checked(k, array) for k, array in enumerate(inputs)]
        values = self._initial.copy()
        values[1 : 1 + len(arrays)] = arrays
        held = [value for value in values if value is not None] if self._shared else []
        step = None
        try:
            for step, function, sources, target, spent in self._works:
                if not passed:
                    step.node.check_inputs([values[self._places[name]] for name in step.node.inputs])
                values[target] = function(*[values[place] for place in sources])
                for place in spent:
                    values[place] = None
        except _ERRORS as error:
            assert step is not None
            step.fail(error)
        if not passed and all(a is b for a, b in zip(inputs, arrays, strict=True)):
            self._passed = signature
        outputs = [values[self._places[name]] for name in self.outputs]
        return _own(outputs, held) if self._shared else outputs

    def default(self, name: str) -> Array:
        """Return the initializer that an input has."""
        array: Array = self._initial[self._places[name]]
        return array

    def _checked(self, place: int, value: Any) -> Array:
        """Return an input as an array of the type and shape that the graph declares."""
        name = (*self.inputs, *self.defaults)[place]
        refuse_masked(value, "run", name)
        array = np.asarray(value)
        if array.dtype.kind in "US":
            array = array.astype(object)
        kind, sizes = self._declared[name]
        if kind and type_name(array.dtype) != kind:
            raise TypeError(must("run", name, f"be {kind}", type_name(array.dtype) or array.dtype))
        if sizes is not None and array.shape != sizes:
            fits = len(sizes) == array.ndim and all(
                size in (None, n) for size, n in zip(sizes, array.shape, strict=True)
            )
            if not fits:
                shown = "(" + ", ".join("?" if size is None else str(size) for size in sizes) + ")"
                raise ValueError(must("run", name, f"have shape {shown}", array.shape))
        return array


def _fixed(step: Step) -> Array:
    """Return the value of a constant node; read-only, as it serves all runs."""
    value = step([])
    value.flags.writeable = False
    return value


def _declared(tensor: Any) -> tuple[str, tuple[int | None, ...] | None]:
    """Return the type and the sizes that a graph declares for an input; None for a size that is open."""
    kind = f"tensor({onnx.TensorProto.DataType.Name(tensor.elem_type).lower()})" if tensor.elem_type else ""
    if not tensor.HasField("shape"):
        return kind, None
    sizes = (dim.dim_value if dim.HasField("dim_value") else -1 for dim in tensor.shape.dim)
    return kind, tuple(size if size >= 0 else None for size in sizes)  # some exporters write -1


def _own(arrays: Sequence[Array], held: list[Array]) -> list[Array]:
    """Return arrays that share memory with none of `held`, nor with each other."""
    owned = []
    for array in arrays:
        shared = not array.flags.writeable or any(np.may_share_memory(array, other) for other in held)
        owned.append(array.copy() if shared else array)
        held.append(owned[-1])
    return owned


def inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model without functions of its own: their nodes are put in place of those that call them."""
    return onnx.inliner.inline_local_functions(model) if model.functions else model


def unknown_operators(graph: onnx.GraphProto) -> list[str]:
    """Name the operators of a graph that cannot be run, each with the first node that has it."""
    found: dict[str, str] = {}
    for node in graph.node:
        name = f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        if not is_known(node.domain, node.op_type) and name not in found:
            who = label("", node.name, node.output).strip()
            found[name] = f"{name} (node {who})" if node.name else f"{name} {who}"
    return list(found.values())
