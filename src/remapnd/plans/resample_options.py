"""What is asked of a resampling: the options of a plan, and lengths, scales and maps of its axes.

Uses `checks` and `coordinates`; used by `plans.resample`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from .. import checks, reference, taps
from ..coordinates import COORDINATE_MODES, CROP, AxisMap, Number, axis_map, coordinate_map
from ..filters import ANTIALIAS, FILTER_MODES, FilterOptions

MAJORITY: Final = "majority"
MODES: Final = ("nearest", MAJORITY, *FILTER_MODES)
PLAIN_LINEAR: Final = FilterOptions("linear", None, Fraction(0), False)  # whose weights a majority has

PerAxis: TypeAlias = "Number | Sequence[Number]"
# Axes, scales and output lengths, as given.
Asked: TypeAlias = "tuple[int | Sequence[int] | None, PerAxis | None, int | Sequence[int] | None]"

_LARGEST_COEFFICIENT: Final = 1024

# Modes with which an option matters, of those that do not matter with all.
MODES_OF: Final[dict[str, tuple[str, ...]]] = {
    "nearest_rule": ("nearest",),
    "antialias": FILTER_MODES,
    "cubic_coefficient": ("cubic",),
    "exclude_outside": FILTER_MODES,
    "integer_rule": FILTER_MODES,
}


class AxisPlan(NamedTuple):
    """What is asked for along one axis."""

    axis: int
    n_out: int
    map: AxisMap
    scale: Fraction  # output samples per input sample: how far filters are stretched


class Options(NamedTuple):
    """Options of a plan, in the words of `resample`."""

    mode: str = "linear"
    nearest_rule: str = "half_up"
    antialias: str | None = None
    cubic_coefficient: Number = -0.75
    exclude_outside: bool = False
    integer_rule: str = "half_up"
    extrapolation: bytes | None = None  # item for positions outside; None: they take the filter's rule


def scales_and_lengths(
    op: str, n_ins: Sequence[int], shape: int | Sequence[int] | None, scales: PerAxis | None
) -> tuple[list[Fraction], list[int]]:
    """Scales and output lengths of axes of lengths `n_ins`; either follows from the other."""
    steps = None if scales is None else checks.scales(op, scales, len(n_ins))
    if shape is not None:
        n_outs = checks.lengths(op, shape, n_ins)
    elif steps is not None:
        n_outs = checks.scaled_lengths(op, n_ins, steps)
    else:
        raise ValueError(f"{op}: `shape` or `scales` must be given, got neither")
    if steps is None:
        steps = [
            Fraction(n_out, n_in) if n_in else Fraction(1) for n_in, n_out in zip(n_ins, n_outs, strict=True)
        ]
    return steps, n_outs


def along_offsets(
    op: str, data_shape: tuple[int, ...], asked: Asked, input_offsets: PerAxis, output_offsets: PerAxis
) -> list[AxisPlan]:
    """Return what `resample` is asked for along each axis."""
    axes, scales, shape = asked
    checks.axes_for_one(op, data_shape, shape, scales)
    listed = checks.axes(op, axes, len(data_shape))
    steps, n_outs = scales_and_lengths(op, [data_shape[axis] for axis in listed], shape, scales)
    before = checks.numbers(op, "input_offsets", input_offsets, len(listed))
    after = checks.numbers(op, "output_offsets", output_offsets, len(listed))
    maps = [axis_map(*args) for args in zip(steps, before, after, strict=True)]
    return [AxisPlan(*args) for args in zip(listed, n_outs, maps, steps, strict=True)]


def along_coordinates(
    op: str, data_shape: tuple[int, ...], asked: Asked, coordinates: str, roi: Sequence[Number] | None
) -> list[AxisPlan]:
    """Return what `resize` is asked for along each axis."""
    axes, scales, shape = asked
    checks.axes_for_one(op, data_shape, shape, scales)
    listed = checks.axes(op, axes, len(data_shape))
    checks.choice(op, "coordinates", coordinates, (*COORDINATE_MODES, CROP))
    n_ins = [data_shape[axis] for axis in listed]
    steps, n_outs = scales_and_lengths(op, n_ins, shape, scales)
    regions = checks.regions(op, roi, len(listed), coordinates, CROP)
    maps = [
        coordinate_map(coordinates, n_in, n_out, step, region)
        for n_in, n_out, step, region in zip(n_ins, n_outs, steps, regions, strict=True)
    ]
    return [AxisPlan(*args) for args in zip(listed, n_outs, maps, steps, strict=True)]


def checked(op: str, options: Options) -> Options:
    """Options after checking them, the coefficient as the Fraction that equals it."""
    checks.choice(op, "mode", options.mode, MODES)
    checks.choice(op, "nearest_rule", options.nearest_rule, taps.NEAREST_RULES)
    checks.choice(op, "integer_rule", options.integer_rule, reference.INTEGER_RULES)
    checks.antialias(op, options.antialias, options.mode, ANTIALIAS)
    checks.flag(op, "exclude_outside", options.exclude_outside)
    coefficient = checks.within(op, "cubic_coefficient", options.cubic_coefficient, _LARGEST_COEFFICIENT)
    for name, modes in MODES_OF.items():
        default = Options._field_defaults[name]
        checks.only_for(op, name, getattr(options, name), ("mode", options.mode), modes, default=default)
    return options._replace(cubic_coefficient=coefficient, exclude_outside=bool(options.exclude_outside))
