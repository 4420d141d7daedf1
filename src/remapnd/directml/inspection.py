"""A descriptor under check: every field read once by its kind, and the violations found so far.

Uses `operators`, `tensor`, `read`, `violation`; used by `rules` and `check`.
"""

from __future__ import annotations

from remapnd.directml import read
from remapnd.directml.enums import FeatureLevel, InterpolationMode
from remapnd.directml.operators import FieldKind, OperatorDesc
from remapnd.directml.policy import Policy
from remapnd.directml.tensor import NO_FACTS, BufferTensorDesc, TensorFacts, read_tensor
from remapnd.directml.violation import Violation

_TENSORS = (FieldKind.INPUT, FieldKind.INDICES, FieldKind.OUTPUT)


class Inspection:
    """What can be read of a descriptor, for rules to look at; what cannot be read is reported on the way.

    Parameters
    ----------
    desc : OperatorDesc
    level : FeatureLevel
    policy : Policy

    Attributes
    ----------
    tensors : dict of str to TensorFacts
    uints : dict of str to int or None
        UINT and COUNT fields. A COUNT field of None is left out.
    floats : dict of str to list of (float or None), or None
        FLOATS fields, as float32 values; None where there is no number, or no sequence.
    violations : list of Violation
    """

    def __init__(self, desc: OperatorDesc, level: FeatureLevel, policy: Policy) -> None:
        self.desc, self.level, self.policy = desc, level, policy
        self.operator = desc.Type
        self.kinds = desc.field_kinds()
        self.tensors: dict[str, TensorFacts] = {}
        self.uints: dict[str, int | None] = {}
        self.floats: dict[str, list[float | None] | None] = {}
        self.violations: list[Violation] = []
        for name, kind in self.kinds.items():
            self._read(name, kind, getattr(desc, name))

    def _read(self, name: str, kind: FieldKind, value: object) -> None:
        """Read one field into the dictionary of its kind."""
        if kind in _TENSORS:
            self.tensors[name] = self._read_tensor(name, value)
        elif kind is FieldKind.FLOATS:
            self.floats[name] = self._read_floats(name, value)
        elif kind is FieldKind.INTERPOLATION_MODE:
            if read.parsed(InterpolationMode.parse, value) is None:
                self.report(name, f"must be one of {', '.join(InterpolationMode.__members__)}", value)
        elif kind is FieldKind.UINT or value is not None:
            self.uints[name] = read.uint(value)
            if self.uints[name] is None:
                self.report(name, f"must be an integer in [0, {read.UINT_MAX}]", value)

    def _read_tensor(self, name: str, value: object) -> TensorFacts:
        """Read a tensor and report what is wrong with it by itself."""
        if not isinstance(value, BufferTensorDesc):
            self.report(name, "must be a BufferTensorDesc", value)
            return NO_FACTS
        facts = read_tensor(value)
        for problem in facts.problems:
            self.report(f"{name}.{problem.field}", problem.rule, problem.value)
        return facts

    def _read_floats(self, name: str, value: object) -> list[float | None] | None:
        """Read an array of FLOAT and report the elements that are no numbers."""
        items = read.sequence(value)
        if items is None:
            self.report(name, "must be a sequence of numbers", value)
            return None
        numbers = [read.number(item) for item in items]
        for d, number in enumerate(numbers):
            if number is None:
                self.report(f"{name}[{d}]", "must be a number", items[d])
        return numbers

    def report(self, field: str, rule: str, value: object, minimum: FeatureLevel | None = None) -> None:
        """Add a violation."""
        self.violations.append(Violation(self.operator, field, rule, value, minimum))

    def sizes(self, tensor: str) -> tuple[int, ...] | None:
        """Return the sizes of a tensor if all of them could be read and there is at least one."""
        return self.tensors[tensor].sizes or None
