"""Operators for onnx.reference.ReferenceEvaluator, which computes these element by element itself.

Uses `graph`; the classes are made from the table of operators.
"""

from __future__ import annotations

from typing import Any

from onnx.reference.op_run import OpRun

from remapnd import checks
from remapnd.onnx.graph import Step
from remapnd.onnx.nodes import Array, read_node
from remapnd.onnx.operators import FAMILY, SAMPLING
from remapnd.onnx.resize import RESIZE_RULES, ResizeRules


def reference_ops(*, resize_rules: ResizeRules = "onnx") -> list[type[Any]]:
    """Return the operators of this family for the `new_ops` of onnx.reference.ReferenceEvaluator.

    Parameters
    ----------
    resize_rules : "onnx" or "onnxruntime"
        Whom Resize follows; by default what the evaluator itself computes. See `remapnd.onnx.prepare`.

    Returns
    -------
    list of subclasses of onnx.reference.op_run.OpRun
        One for each operator; every version of it.

    Raises
    ------
    ValueError
        `resize_rules` is another.

    Examples
    --------
    >>> import numpy as np, onnx.parser
    >>> from onnx.reference import ReferenceEvaluator
    >>> model = onnx.parser.parse_model('''<ir_version: 9, opset_import: ["" : 19]>
    ...     g (float[4] x, int64[2] i) => (float[2] y) { y = Gather(x, i) }''')
    >>> evaluator = ReferenceEvaluator(model, new_ops=reference_ops())
    >>> evaluator.run(None, {"x": np.arange(4, dtype=np.float32), "i": np.array([3, -4])})
    [array([3., 0.], dtype=float32)]
    """
    checks.choice("reference_ops", "resize_rules", resize_rules, RESIZE_RULES)
    names = sorted({(domain, op) for domain, op, _ in (*FAMILY, *SAMPLING)})
    return [_operator(domain, op, resize_rules) for domain, op in names]


def _operator(domain: str, op: str, rules: str) -> type[Any]:
    """Make the class of one operator."""

    def begin(self: Any, onnx_node: Any, run_params: dict[str, Any], schema: Any = None) -> None:
        OpRun.__init__(self, onnx_node, run_params, schema)
        self._step = Step(read_node(onnx_node, run_params["opsets"]), rules)

    def run(self: Any, *inputs: Array | None, **attributes: Any) -> tuple[Array]:
        return (self._step(self._step.taken(inputs)),)

    members = {"op_domain": domain, "__init__": begin, "_run": run, "__doc__": f"{op} of every version."}
    return type(op, (OpRun,), members)
