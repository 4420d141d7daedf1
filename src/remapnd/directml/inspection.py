"""A descriptor under check: every field read once by its kind, and the violations found so far.

Uses `operators`, `tensor`, `read`, `violation`; used by `rules` and `check`.
"""

from __future__ import annotations

from collections.abc import Mapping

from remapnd.directml import read
from remapnd.directml.enums import AxisDirection, DMLEnum, FeatureLevel, InterpolationMode
from remapnd.directml.operators import TENSOR_KINDS, FieldKind, OperatorDesc, Size2D
from remapnd.directml.policy import Policy
from remapnd.directml.tensor import NO_FACTS, BufferTensorDesc, TensorFacts, read_tensor
from remapnd.directml.violation import Violation

_ENUMERATIONS: Mapping[FieldKind, type[DMLEnum]] = {
    FieldKind.INTERPOLATION_MODE: InterpolationMode,
    FieldKind.AXIS_DIRECTION: AxisDirection,
}


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
        UINT and COUNT fields, and members of SIZE_2D fields by their path. A COUNT field of None is left out.
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
        if kind in TENSOR_KINDS:
            self.tensors[name] = self._read_tensor(name, value)
        elif kind is FieldKind.FLOATS:
            self.floats[name] = self._read_floats(name, value)
        elif kind in _ENUMERATIONS:
            if read.parsed(_ENUMERATIONS[kind].parse, value) is None:
                self.report(name, f"must be one of {', '.join(_ENUMERATIONS[kind].__members__)}", value)
        elif kind is FieldKind.BOOL:
            if read.boolean(value) is None:
                self.report(name, "must be False or True", value)
        elif kind is FieldKind.SIZE_2D:
            if isinstance(value, Size2D):
                self._read_uint(f"{name}.Width", value.Width)
                self._read_uint(f"{name}.Height", value.Height)
            else:
                self.report(name, "must be a Size2D", value)
        elif kind is FieldKind.UINT or value is not None:
            self._read_uint(name, value)

    def _read_uint(self, name: str, value: object) -> None:
        """Read a UINT."""
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
