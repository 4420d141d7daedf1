"""Checking descriptors: everything that is wrong, and the feature levels that take them.

Uses `inspection`, `rules`.
"""

from __future__ import annotations

from remapnd.directml.enums import FeatureLevel, FeatureLevelLike
from remapnd.directml.inspection import Inspection
from remapnd.directml.operators import OPERATOR_DESCS, OperatorDesc
from remapnd.directml.policy import Policy
from remapnd.directml.read import shown
from remapnd.directml.rules import COMMON, RULES
from remapnd.directml.violation import Violation

_DEFAULT_POLICY = Policy()


def check(
    desc: OperatorDesc, feature_level: FeatureLevelLike = "6_4", policy: Policy = _DEFAULT_POLICY
) -> list[Violation]:
    r"""Find every violation of an operator descriptor.

    Parameters
    ----------
    desc : OperatorDesc
        Its fields may hold anything at all; nothing they hold makes this function raise.
    feature_level : FeatureLevel, or ``"3_0"``, ``"3.0"``, ``"DML_FEATURE_LEVEL_3_0"``, 0x3000
    policy : Policy

    Returns
    -------
    list of Violation
        Empty if the descriptor is valid. Fields that cannot be read come first, then data types and dimension
        counts, then the parameters and sizes of the operator.

    Raises
    ------
    TypeError, ValueError
        `desc` is no operator descriptor; `feature_level` is none.

    Notes
    -----
    DirectML itself answers E_INVALIDARG and a line in the debug layer. Which of the rules it checks is not
    documented; these are all that the reference pages state or their formulas need.

    Examples
    --------
    >>> from remapnd.directml import BufferTensorDesc, GatherNDOperatorDesc, check
    >>> data = BufferTensorDesc("FLOAT32", (1, 1, 2, 3))
    >>> indices = BufferTensorDesc("INT64", (1, 1, 4, 2))
    >>> output = BufferTensorDesc("FLOAT32", (1, 1, 1, 4))
    >>> desc = GatherNDOperatorDesc(data, indices, output, InputDimensionCount=2, IndicesDimensionCount=5)
    >>> print(*check(desc, "2_1"), sep="\n")
    GATHER_ND: `IndicesTensor.DataType` must be UINT32 at feature level 2_1, got INT64 (accepted from 3_0)
    GATHER_ND: `IndicesDimensionCount` must lie in [1, 4], got 5
    """
    level = FeatureLevel.parse(feature_level, name="check: `feature_level`")
    require_desc("check", desc)
    it = Inspection(desc, level, policy)
    for rule in (*COMMON, *RULES[it.operator]):
        rule(it)
    return it.violations


def require_desc(op: str, desc: object) -> None:
    """Refuse what is no operator descriptor, for the function `op`."""
    if not isinstance(desc, tuple(OPERATOR_DESCS.values())):
        raise TypeError(
            f"{op}: `desc` must be an operator descriptor, got {type(desc).__name__} {shown(desc)}"
        )


def supported_levels(desc: OperatorDesc, policy: Policy = _DEFAULT_POLICY) -> list[FeatureLevel]:
    """Return the feature levels at which `check` finds nothing, in ascending order.

    Parameters
    ----------
    desc : OperatorDesc
    policy : Policy

    Returns
    -------
    list of FeatureLevel
        All levels from some one on, or none.
    """
    return [level for level in FeatureLevel if not check(desc, level, policy)]
