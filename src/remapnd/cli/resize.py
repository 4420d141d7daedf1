"""`remapnd resize`: another size for an .npy array of any rank, or for a PNG or JPEG image."""

from __future__ import annotations

import argparse
import os
import re
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from remapnd.cli import alpha, images
from remapnd.cli.console import complain, fail, say
from remapnd.coordinates import COORDINATE_MODES
from remapnd.files import replacing
from remapnd.reference import INTEGER_RULES
from remapnd.resample import resize
from remapnd.taps import NEAREST_RULES

__all__ = ["add_parser", "run"]

_DESCRIPTION = """\
Write IN to OUT with another size. Either may be .npy, .png, .jpg or .jpeg.

An image is an array of shape (H, W) or (H, W, channels), turned as its EXIF
orientation says. Its color profile is kept, other metadata is not. Colors are mixed
as they are stored, not in linear light, and weighted by alpha. JPEG is written at
quality 95 without chroma subsampling. OUT may be IN, and is written whole or not at
all.

An output is made of the nearest sample, or of the nearest two of each axis, and of
no others: there is no low-pass filter. Shrinking by more than 2 aliases: it skips
samples, and fine patterns become coarse ones. The function `remapnd.resize` has
antialiasing.
"""
_EXAMPLES = """\
examples:
  remapnd resize photo.jpg small.png --scale 1/2
  remapnd resize volume.npy half.npy --scale 0.5
  remapnd resize volume.npy larger.npy --shape 192x192x192
  remapnd resize labels.npy out.npy --shape 256x256 --axes 1,2 --mode nearest
"""
_INTEGER = re.compile(r"\d{1,20}", re.ASCII)
# Bounded, so that no exponent makes a number of millions of digits.
_NUMBER = re.compile(r"(\d{1,40}(\.\d{0,40})?|\.\d{1,40})(e[+-]?\d{1,2})?|\d{1,40}/\d{1,40}", re.ASCII)


class _UsageError(Exception):
    """The command line contradicts itself; exit status 2."""


class _InputError(Exception):
    """A file or its content does not fit; exit status 1."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "resize",
        help="resize an .npy array, or a PNG or JPEG image",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("input", metavar="IN", help="file to read")
    parser.add_argument("output", metavar="OUT", help="file to write")
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument(
        "--shape", metavar="N[xN...]", help="new length of each resized axis, or one for all: 480x640, 256"
    )
    size.add_argument(
        "--scale",
        metavar="S[xS...]",
        help="factor for each resized axis, or one for all: 2, 0.75, 1/3, 1x0.5. It is taken as "
        "written: 0.29 is 29/100, where the function's scales=0.29 is the binary float, a little less. The "
        "new length is the floor of length times factor",
    )
    parser.add_argument(
        "--axes",
        metavar="A[,A...]",
        help="axes of an .npy array to resize, negative ones from the end. By default all of them if one "
        "number is given, else the leading ones, as many as numbers are given. Of an image always H and W",
    )
    parser.add_argument(
        "--mode",
        choices=("linear", "nearest", "majority"),
        default="linear",
        help="default: linear; majority is for labels: the one that weighs most",
    )
    parser.add_argument(
        "--coordinates",
        choices=COORDINATE_MODES,
        default="half_pixel",
        metavar="NAME",
        help=f"one of {', '.join(COORDINATE_MODES)}; default: half_pixel",
    )
    parser.add_argument(
        "--nearest-rule",
        choices=NEAREST_RULES,
        metavar="RULE",
        help=f"for --mode nearest, one of {', '.join(NEAREST_RULES)}; default: half_up",
    )
    parser.add_argument(
        "--integer-rule",
        choices=INTEGER_RULES,
        metavar="RULE",
        help=f"for --mode linear of integers, one of {', '.join(INTEGER_RULES)}; default: half_up",
    )
    parser.add_argument(
        "--straight-alpha",
        action="store_true",
        help="for --mode linear of an image with alpha: mix each channel by itself, so that the colors of "
        "transparent pixels count as well",
    )


def run(args: argparse.Namespace) -> int:
    """Do what the command line says; return the exit status."""
    try:
        _resize_file(args)
    except (_UsageError, _InputError) as error:
        fail("resize", error)
        return 2 if isinstance(error, _UsageError) else 1
    return 0


def _resize_file(args: argparse.Namespace) -> None:
    """Read, resize, write."""
    if args.nearest_rule and args.mode != "nearest":
        raise _UsageError(f"--nearest-rule goes with --mode nearest, got --mode {args.mode}")
    if args.integer_rule and args.mode != "linear":
        raise _UsageError(f"--integer-rule goes with --mode linear, got --mode {args.mode}")
    if args.straight_alpha and args.mode != "linear":
        raise _UsageError(f"--straight-alpha goes with --mode linear, got --mode {args.mode}")
    kind, kind_out = _kind(args.input), _kind(args.output)
    if args.straight_alpha and kind == ".npy":
        raise _UsageError(f"--straight-alpha goes with images, got {args.input}")
    axes, numbers = _axes_and_numbers(args, is_image=kind != ".npy")
    picture = _read(args.input, kind)
    for note in picture.notes:
        complain(f"remapnd resize: note: {args.input}: {note}")
    shape_in = picture.pixels.shape
    picture.pixels = _resized(args, picture, axes, numbers)
    _write(args.output, kind_out, picture)
    say(f"{args.output}: {picture.pixels.dtype} {shape_in} -> {picture.pixels.shape}")


def _axes_and_numbers(args: argparse.Namespace, *, is_image: bool) -> tuple[list[int] | None, list[Fraction]]:
    """Return the axes to resize, None for all, and the number of --shape or --scale for each, or for all."""
    numbers = _numbers(args)
    if is_image:
        if args.axes is not None:
            raise _UsageError(
                f"--axes goes with .npy arrays; of an image H and W are resized, got {args.axes}"
            )
        axes, whose = [0, 1], "H and W"
    elif args.axes is None:
        return None if len(numbers) == 1 else list(range(len(numbers))), numbers
    else:
        axes, whose = _axes(args.axes), f"--axes {args.axes}"
    if len(numbers) not in (1, len(axes)):
        option, text = ("--scale", args.scale) if args.shape is None else ("--shape", args.shape)
        raise _UsageError(f"{option} must have one number, or one for each of {whose}, got {text}")
    return axes, numbers


def _numbers(args: argparse.Namespace) -> list[Fraction]:
    """Return the numbers of --shape or --scale, all of them greater than zero."""
    if args.shape is not None:
        option, text, form, what = "--shape", args.shape, _INTEGER, "integers"
    else:
        option, text, form, what = "--scale", args.scale, _NUMBER, "numbers"
    numbers = []
    for part in text.lower().split("x"):
        denominator = part.partition("/")[2]
        if not form.fullmatch(part) or (denominator and not int(denominator)) or not Fraction(part):
            raise _UsageError(f"{option} must be {what} greater than 0 with x between them, got {text!r}")
        numbers.append(Fraction(part))
    return numbers


def _axes(text: str) -> list[int]:
    """Return the numbers of --axes."""
    if not re.fullmatch(r"-?\d{1,4}(,-?\d{1,4})*", text, re.ASCII):
        raise _UsageError(f"--axes must be integers with commas between them, got {text!r}")
    return [int(part) for part in text.split(",")]


def _kind(path: str) -> str:
    """Return the file name's suffix, which says what the file holds."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix != ".npy" and suffix not in images.FORMATS:
        raise _UsageError(f"the name of a file must end with .npy, .png, .jpg or .jpeg, got {path}")
    return suffix


def _read(path: str, kind: str) -> images.Picture:
    """Read an array or an image."""
    try:
        return images.Picture(_load(path)) if kind == ".npy" else images.read(path)
    except ModuleNotFoundError as error:
        raise _InputError(error) from None
    except OSError as error:
        raise _InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, EOFError, MemoryError) as error:
        raise _InputError(f"cannot read {path}: {error}") from None


def _load(path: str) -> npt.NDArray[Any]:
    """Map an .npy file."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":  # np.load would take it for a pickle
            raise ValueError("this is no .npy file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy evaluates a damaged header, too
            try:
                return np.asanyarray(np.load(path, mmap_mode="r", allow_pickle=False))
            except (ArithmeticError, TypeError, ValueError):  # an empty array cannot be mapped; of a damaged
                return np.asanyarray(np.load(path, allow_pickle=False))  # file the reader has more to say
    except (OSError, MemoryError):
        raise
    except Exception as error:  # NumPy's header parser lets many kinds out, all meaning the same
        raise ValueError(str(error)) from None


def _resized(
    args: argparse.Namespace, picture: images.Picture, axes: list[int] | None, numbers: list[Fraction]
) -> npt.NDArray[Any]:
    """Resize an array or an image as the options say."""
    data = picture.pixels
    if axes is not None and len(axes) > data.ndim:
        raise _InputError(f"{args.input} has shape {data.shape}, so {len(axes)} axes cannot be resized")
    per_axis: Any = numbers[0] if len(numbers) == 1 else tuple(numbers)
    lengths: Any = int(numbers[0]) if len(numbers) == 1 else tuple(map(int, numbers))
    shape, scales = (None, per_axis) if args.shape is None else (lengths, None)
    rules = {"nearest_rule": args.nearest_rule, "integer_rule": args.integer_rule}
    given = {name: rule for name, rule in rules.items() if rule}
    given["coordinates"] = args.coordinates
    try:
        if picture.has_alpha and args.mode == "linear" and not args.straight_alpha:
            return alpha.resize_weighted(data, shape, scales=scales, **given)
        return np.asarray(resize(data, shape, scales=scales, axes=axes, mode=args.mode, **given))
    except (TypeError, ValueError, MemoryError) as error:
        raise _InputError(f"{args.input}: {error}") from None


def _write(path: str, kind: str, picture: images.Picture) -> None:
    """Write an array or an image, whole or not at all."""
    try:
        with replacing(path) as file:
            if kind == ".npy":
                np.lib.format.write_array(file, np.asanyarray(picture.pixels), allow_pickle=False)
            else:
                images.write(file, picture, images.FORMATS[kind])
    except ModuleNotFoundError as error:
        raise _InputError(error) from None
    except OSError as error:
        raise _InputError(f"cannot write {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise _InputError(f"cannot write {path}: {error}") from None
