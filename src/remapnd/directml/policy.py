"""The answers to what DirectML's documentation leaves open, as options."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

from remapnd import checks


@dataclass(frozen=True)
class Policy:
    """Choices where the documentation is silent or contradicts itself; each default is the first value.

    Parameters
    ----------
    gather_oob : "clamp", "zero" or "error"
        An index outside [-n, n): the nearest valid index; a zero; IndexError. [unk] The page of GATHER
        promises only that reads stay inside the tensor; reports of devices say clamp.
    gather_under : "clamp0" or "clampN"
        Where "clamp" takes an index below -n: to 0, or to n - 1 as if it were reinterpreted as unsigned.
        [unk]
    off_axis : "lenient" or "strict"
        Sizes of the indices of GATHER_ELEMENTS off the axis: at most those of the input, as in ONNX; or equal
        to them, as the page says. [contested]
    nearest_ties : "up" or "down"
        RESAMPLE and RESAMPLE1 midway between two elements: the upper one, ``floor(x + 0.5)``, which
        Chromium's tests saw and TensorFlow's mapping needs; or the lower one, which the example of
        RESAMPLE_GRAD needs. [contested]
    int_linear_rounding : "truncate", "half_even" or "half_up"
        How linear interpolation of INT8 and UINT8 is rounded. [unk] ONNX Runtime's tests expect truncation.
    output_overlap : "reject" or "allow"
        An output whose strides give two elements one address. [unk] Allowed, the last element in row-major
        order stays.

    Raises
    ------
    ValueError
        A field has another value.
    """

    gather_oob: Literal["clamp", "zero", "error"] = "clamp"
    gather_under: Literal["clamp0", "clampN"] = "clamp0"
    off_axis: Literal["lenient", "strict"] = "lenient"
    nearest_ties: Literal["up", "down"] = "up"
    int_linear_rounding: Literal["truncate", "half_even", "half_up"] = "truncate"
    output_overlap: Literal["reject", "allow"] = "reject"

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            checks.choice("Policy", field.name, getattr(self, field.name), get_args(hints[field.name]))
