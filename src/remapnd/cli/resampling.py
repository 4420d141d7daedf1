"""Options of a resampling: those that `remapnd resize` and `remapnd explain` share.

Used by `cli.resize` and `cli.explain`.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

from remapnd.cli import values
from remapnd.cli.errors import UsageError
from remapnd.cli.options import choice
from remapnd.coordinates import COORDINATE_MODES, CROP
from remapnd.filters import ANTIALIAS, FILTER_MODES
from remapnd.plans.resample_options import MODES, MODES_OF
from remapnd.taps import NEAREST_RULES

# Which modes an option goes with.
_MODES_OF: Final = {**MODES_OF, "straight_alpha": FILTER_MODES}


def add_options(parser: argparse.ArgumentParser, *, antialias: tuple[str, ...], default: str) -> None:
    """Add the options; `antialias` are further values of --antialias, `default` tells what is its default."""
    group = parser.add_argument_group("how samples are mixed")
    group.add_argument(
        "--mode",
        type=choice(*MODES),
        default="linear",
        metavar="MODE",
        help=f"one of {', '.join(MODES)}; default: linear. For labels: nearest; or majority, which picks the "
        "label that weighs most among the samples next to the position. Equal weights give the lowest label, "
        "so that thin lines can vanish at scale 1/2",
    )
    group.add_argument(
        "--antialias",
        type=choice(*antialias, "none", *ANTIALIAS),
        metavar="RULE",
        help="make the filter as wide as an axis that shrinks asks for, so that no sample is skipped: pillow "
        "(taps outside are dropped; as Pillow and PyTorch), onnx (they are those of the edge sample), "
        f"directml (linear only, and only where an axis shrinks by more than 2), none; {default}",
    )
    group.add_argument(
        "--cubic-coefficient",
        metavar="A",
        help="for --mode cubic; default: -0.75, as OpenCV, PyTorch and ONNX. Pillow, TensorFlow, and PyTorch "
        "where it antialiases, have -0.5",
    )
    group.add_argument(
        "--exclude-outside",
        action="store_true",
        help="drop the taps outside, and divide the others by what is left",
    )
    group.add_argument(
        "--nearest-rule",
        type=choice(*NEAREST_RULES),
        metavar="RULE",
        help=f"for --mode nearest, which sample is nearest: {', '.join(NEAREST_RULES)}; default: half_up",
    )
    group = parser.add_argument_group("where samples are")
    modes = (*COORDINATE_MODES, CROP)
    group.add_argument(
        "--coordinates",
        type=choice(*modes),
        default="half_pixel",
        metavar="NAME",
        help=f"one of {', '.join(modes)}; default: half_pixel",
    )
    group.add_argument(
        "--roi",
        metavar="A,...,B,...",
        help=f"for --coordinates {CROP}: where the first output samples are, one number for each resized "
        "axis, then where the last ones are; 0 is the first input sample, 1 the last",
    )


def check(args: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    for name, modes in _MODES_OF.items():
        if getattr(args, name, None) and args.mode not in modes:
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} goes with --mode {_listed(modes)}, got --mode {args.mode}")
    if args.antialias == "directml" and args.mode != "linear":
        raise UsageError(f"--antialias directml goes with --mode linear, got --mode {args.mode}")
    for name in ("roi", "extrapolation_value"):
        if getattr(args, name, None) is not None and args.coordinates != CROP:
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} goes with --coordinates {CROP}, got {args.coordinates}")
    if args.coordinates == CROP and args.roi is None:
        raise UsageError(f"--coordinates {CROP} needs --roi, got none")


def given(args: argparse.Namespace) -> dict[str, Any]:
    """Return what is given of the options, as `resize` takes it; not --antialias."""
    options: dict[str, Any] = {"mode": args.mode, "coordinates": args.coordinates}
    for name in ("nearest_rule", "integer_rule", "exclude_outside"):
        if getattr(args, name, None):
            options[name] = getattr(args, name)
    if args.cubic_coefficient is not None:
        options["cubic_coefficient"] = values.number("--cubic-coefficient", args.cubic_coefficient)
    if args.roi is not None:
        options["roi"] = tuple(values.numbers("--roi", args.roi))
    if getattr(args, "extrapolation_value", None) is not None:
        options["extrapolation_value"] = values.item("--extrapolation-value", args.extrapolation_value)
    return options


def _listed(names: tuple[str, ...]) -> str:
    """Write names as a sentence does."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
