"""The answers to what DirectML's documentation leaves open, as options."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

from remapnd import checks


@dataclass(frozen=True, repr=False)
class Policy:
    """Choices where the documentation is silent or contradicts itself; each default is the first value.

    Parameters
    ----------
    gather_oob : "clamp", "zero" or "error"
        An index of a gather outside [-n, n): the nearest valid index; a zero; IndexError. [unk] The page of
        GATHER promises only that reads stay inside the tensor; reports of devices say clamp. [emp]
    gather_under : "clamp0" or "clampN"
        Where "clamp" takes an index of a gather below -n: to 0, or to n - 1 as if it were reinterpreted as
        unsigned. [unk]
    scatter_oob : "drop", "clamp" or "error"
        An index of a scatter outside [-n, n): the update is left out; goes to the nearest valid index;
        IndexError. [unk]
    scatter_duplicates : "last" or "error"
        Several updates of one place: the last in row-major order stays; or IndexError. [contested] The page
        calls them invalid, an older one promised the last, and an example shows it.
    off_axis : "lenient" or "strict"
        Sizes of the indices of GATHER_ELEMENTS and SCATTER off the axis: at most those of the input, as in
        ONNX; or equal to them, as the pages say. [contested]
    index_dimensions_max : "N" or "N-1"
        The largest IndexDimensions of GATHER: the dimension count N, which example 1 of its page needs; or
        one less, as the range on the page says. [contested]
    nearest_ties : "up" or "down"
        RESAMPLE, RESAMPLE1 and RESAMPLE_GRAD midway between two elements: the upper one, ``floor(x + 0.5)``,
        which Chromium's tests saw [emp] and TensorFlow's mapping needs [code]; or the lower one, which the
        example of RESAMPLE_GRAD needs [doc]. [contested]
    grad_offsets : "forward" or "swapped"
        The offsets of RESAMPLE_GRAD and RESAMPLE_GRAD1: those of the forward operator [doc]; or each in the
        place of the other, as TensorFlow's plugin passes them [code]. [contested]
    aa_filter : "triangle", "iterative" or "off"
        RESAMPLE3 with Antialiased along a dimension with ``1 / Scale > 2``: a triangle of half-width
        ``1 / Scale``, normalised [doc]; halving by means of two until less than a factor of 2 is left, then
        LINEAR, as a report describes DirectML [emp]; or plain LINEAR. [unk] None is known to be DirectML's to
        the bit.
    int_linear_rounding : "truncate", "half_even" or "half_up"
        How linear interpolation of INT8 and UINT8 is rounded. [unk] ONNX Runtime's tests expect truncation.
    coordinate_precision : "exact", "float64" or "float32"
        Positions of resampling: exact rationals of the float32 values given; or
        ``(X - OutputPixelOffset) / Scale - InputPixelOffset``, each operation rounded to that type. [unk] It
        matters only where a position is within rounding of a tie or of a whole number; float64 differs from
        exact in few of those, float32 in some.
    output_overlap : "reject" or "allow"
        An output whose strides give two elements one address. [unk] Allowed, the last element in row-major
        order stays.
    dxdispatch_compat : "off" or "on"
        Models of DxDispatch: what its guide says; or also its known bugs: 8-bit integers printed as
        characters, initialValuesOffsetInBytes without effect on where the values go, bytes of big-endian .npy
        files not swapped. [code]

    Raises
    ------
    ValueError
        A field has another value.

    Notes
    -----
    The tags say where an answer comes from: [doc] the reference pages, [code] a public client of DirectML,
    [emp] reports of what devices do, [inf] deduced, [unk] nothing known, [contested] sources disagree.
    """

    gather_oob: Literal["clamp", "zero", "error"] = "clamp"
    gather_under: Literal["clamp0", "clampN"] = "clamp0"
    scatter_oob: Literal["drop", "clamp", "error"] = "drop"
    scatter_duplicates: Literal["last", "error"] = "last"
    off_axis: Literal["lenient", "strict"] = "lenient"
    index_dimensions_max: Literal["N", "N-1"] = "N"
    nearest_ties: Literal["up", "down"] = "up"
    grad_offsets: Literal["forward", "swapped"] = "forward"
    aa_filter: Literal["triangle", "iterative", "off"] = "triangle"
    int_linear_rounding: Literal["truncate", "half_even", "half_up"] = "truncate"
    coordinate_precision: Literal["exact", "float64", "float32"] = "exact"
    output_overlap: Literal["reject", "allow"] = "reject"
    dxdispatch_compat: Literal["off", "on"] = "off"

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            checks.choice("Policy", field.name, getattr(self, field.name), get_args(hints[field.name]))

    def __repr__(self) -> str:
        """Return what differs from the defaults, so that signatures with a policy stay short."""
        values = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        given = ", ".join(f"{name}={value!r}" for name, value, default in values if value != default)
        return f"Policy({given})"
