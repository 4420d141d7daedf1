"""What `check` finds, and the error that carries it.

Uses `enums`, `read`; used by `inspection`, `check` and `run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from remapnd.directml import read
from remapnd.directml.enums import FeatureLevel, OperatorType


@dataclass(frozen=True)
class Violation:
    """One rule that a descriptor breaks; `str` gives the sentence.

    Parameters
    ----------
    operator : OperatorType, or None where that is what cannot be read
    field : str
        Where, as a path: ``"IndicesTensor.Sizes[3]"``, ``"Scales[1]"``; ``"Type"`` for the operator itself.
    rule : str
        What the field must do, with the bounds that hold here: ``"must lie in [0, 4)"``.
    value : object
        What it holds.
    minimum_feature_level : FeatureLevel or None
        The lowest feature level that accepts the value; None if none does.
    """

    operator: OperatorType | None
    field: str
    rule: str
    value: object
    minimum_feature_level: FeatureLevel | None = None

    def __str__(self) -> str:
        level = self.minimum_feature_level
        accepted = "" if level is None else f" (accepted from {level})"
        operator = self.operator or "DML_OPERATOR_DESC"
        return f"{operator}: `{self.field}` {self.rule}, got {read.shown(self.value)}{accepted}"


class DirectMLError(ValueError):
    """A descriptor that cannot be run; the text lists every violation, one a line.

    Parameters
    ----------
    violations : sequence of Violation, at least one
    """

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__(violations)
        self.violations = list(violations)

    def __str__(self) -> str:
        return "\n".join(map(str, self.violations))
