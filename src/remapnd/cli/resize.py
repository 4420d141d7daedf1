"""`remapnd resize`: another size for an array in a file, of any rank, or for an image."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from remapnd.cli import alpha, array_files, color_votes, images, options, resampling, values
from remapnd.cli.console import complain, fail, say
from remapnd.cli.errors import InputError, UsageError
from remapnd.cli.progress import progress
from remapnd.cli.slabs import SLAB, slabs
from remapnd.files import replacing
from remapnd.filters import FILTER_MODES
from remapnd.plans.resample import ResamplePlan
from remapnd.plans.resample_options import MAJORITY
from remapnd.reference import INTEGER_RULES

__all__ = ["add_parser", "run"]

_DESCRIPTION = """\
Write IN to OUT with another size. Either may be .npy, .npz, .png, .jpg or .jpeg.

An image is an array of shape (H, W) or (H, W, channels), turned as its EXIF
orientation says. Color profile and resolution (DPI) are kept, other metadata is
not, and of an animation only the first frame is read. Colors are mixed as they are
stored, not in linear light, and weighted by alpha. 16-bit PNG stays 16-bit. With
--mode nearest or majority a palette stays a palette: its numbers can be labels.
For majority a color, alpha included, is one label; of equal weights the one lowest
in red wins, then in green and blue.

An image that shrinks is antialiased (--antialias pillow), as image programs do:
else patterns finer than a new pixel turn into coarse ones. Arrays are not, as with
the function remapnd.resize; the line that is printed says what was done.

OUT may be IN, and is written whole or not at all. A file that is there is replaced
without a question. Large .npy files are read, computed and written in parts, so that
they may be larger than memory. Of one in Fortran order every part needs all pages:
they count as memory, but the system takes them back.
"""
_EXAMPLES = """\
examples:
  remapnd resize photo.jpg small.jpg --scale 1/2
  remapnd resize photo.jpg wide.png --shape 480x640 --mode lanczos3
  remapnd resize labels.png larger.png --scale 1.5 --mode majority
  remapnd resize volume.npy half.npy --scale 0.5 --antialias pillow
  remapnd resize volume.npy larger.npy --shape 192x192x192 --mode cubic
  remapnd resize batch.npz out.npz --key images --shape 256x256 --axes 1,2
  remapnd resize in.npy out.npy --shape 64x64 --coordinates tf_crop_and_resize \\
      --roi 0.25,0.25,0.75,0.75
"""
_AUTO: Final = "auto"
_COLORS: Final = 4  # samples that an axis of colors has at most


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "resize",
        usage="remapnd resize IN OUT (--shape N[xN...] | --scale S[xS...]) [options]",
        help="resize an array (.npy, .npz) or an image (PNG, JPEG)",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("input", metavar="IN", help="file to read")
    parser.add_argument("output", metavar="OUT", help="file to write")
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument(
        "--shape",
        metavar="N[xN...]",
        help="new length of each resized axis, or one for all: 480x640 (height x width), 256. The ratio of "
        "height to width is not kept: to keep it, give --scale",
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
        help="axes of an array to resize, negative ones from the end. By default all of them if one "
        "number is given (the first two if OUT is an image), else the leading ones, as many as numbers are "
        "given. Of an image always H and W",
    )
    parser.add_argument("--key", metavar="NAME", help="which array of an .npz file; not needed if it has one")
    resampling.add_options(
        parser,
        antialias=(_AUTO,),
        default=f"default: {_AUTO}, that is pillow for an image of which H or W shrinks, else none",
    )
    other = parser.add_argument_group("values")
    other.add_argument(
        "--integer-rule",
        type=options.choice(*INTEGER_RULES),
        metavar="RULE",
        help=f"how results on integers are rounded: {', '.join(INTEGER_RULES)}; default: half_up",
    )
    other.add_argument(
        "--extrapolation-value",
        metavar="V",
        help="for --coordinates tf_crop_and_resize: value of samples outside IN; default: 0",
    )
    other.add_argument(
        "--straight-alpha",
        action="store_true",
        help="of an image with alpha: mix each channel by itself, so that the colors of transparent pixels "
        "count as well",
    )
    other.add_argument(
        "--quality",
        type=options.integer(1),
        metavar="1..100",
        help=f"of a JPEG file that is written, without chroma subsampling; default: {images.QUALITY}",
    )


def run(args: argparse.Namespace) -> int:
    """Do what the command line says; return the exit status."""
    try:
        _resize_file(args)
    except (UsageError, InputError) as error:
        fail("resize", error)
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _resize_file(args: argparse.Namespace) -> None:
    """Read, resize, write."""
    kind, kind_out = _kind(args.input), _kind(args.output)
    _check(args, kind, kind_out)
    of_images = kind in images.FORMATS or kind_out in images.FORMATS
    axes, numbers = _axes_and_numbers(
        args, from_image=kind in images.FORMATS, to_image=kind_out in images.FORMATS
    )
    given = resampling.given(args)
    picture, key = _read(args, kind)
    for note in picture.notes:
        complain(f"remapnd resize: note: {args.input}: {note}")
    data = picture.pixels
    if axes is not None and len(axes) > data.ndim:
        raise InputError(f"{args.input} has shape {data.shape}, so {len(axes)} axes cannot be resized")
    shrinks = _shrinks(args, numbers, data.shape, axes)
    antialias = args.antialias or _AUTO
    if antialias == _AUTO:
        antialias = "pillow" if shrinks and kind in images.FORMATS and args.mode in FILTER_MODES else "none"
    if antialias != "none":
        given["antialias"] = antialias
    how = args.mode
    if args.mode in FILTER_MODES and (shrinks or antialias != "none"):
        how += f", antialias {antialias}"
    per_axis: Any = numbers[0] if len(numbers) == 1 else tuple(numbers)
    lengths: Any = int(numbers[0]) if len(numbers) == 1 else tuple(map(int, numbers))
    shape, given["scales"] = (None, per_axis) if args.shape is None else (lengths, None)
    try:
        plan = ResamplePlan.resized(data.shape, data.dtype, shape, axes=axes, **given)
        _check_result(args.output, kind_out, picture, plan)
        weighted = picture.has_alpha and args.mode in FILTER_MODES and not args.straight_alpha
        voted = of_images and args.mode == MAJORITY and plan.axes == (0, 1) and color_votes.has_colors(data)
        if kind_out == ".npy" and _large(plan) and not weighted and not voted:
            _write_in_parts(args.output, plan, data)
        else:
            compute: Callable[[], npt.NDArray[Any]] = partial(plan, data)
            if weighted:
                compute = partial(alpha.resize_weighted, data, shape, **given)
                how += ", colors weighted by alpha"
            elif voted:
                compute = partial(color_votes.resize_voted, data, shape, **given)
                how += ", each color one label"
            with _writing(args.output) as file:  # opened first, so that nothing is computed in vain
                picture.pixels = _computed(args, compute)
                _write(args, file, kind_out, key, picture)
    except (TypeError, ValueError, MemoryError) as error:
        raise InputError(f"{args.input}: {_said(args, error)}") from None
    if args.axes is None and not of_images:
        if len(plan.axes) < data.ndim:
            how += f", axes {', '.join(map(str, plan.axes))}"
        _warn_of_colors(args, plan)
    say(f"{args.output}: {data.dtype} {data.shape} -> {plan.output_shape}, {how}")


def _warn_of_colors(args: argparse.Namespace, plan: ResamplePlan) -> None:
    """Say that an axis which nobody named was resized and has as few samples as colors have."""
    n_ins = plan.data_shape
    few = [axis for axis in plan.axes if n_ins[axis] <= _COLORS]
    others = [axis for axis, n in enumerate(n_ins) if n > _COLORS]
    for axis in few:
        if len(others) > 1 and n_ins[axis] != plan.output_shape[axis]:
            left = ",".join(map(str, others))
            what = f"{n_ins[axis]} samples: a color axis?"
            if n_ins[axis] == 1:
                what = "1 sample: a batch or color axis?"
            complain(
                f"remapnd resize: note: {args.input}: axis {axis} has {what} --axes {left} leaves it alone"
            )


def _check(args: argparse.Namespace, kind: str, kind_out: str) -> None:
    """Refuse options that do not go with each other or with the files."""
    resampling.check(args)
    if args.straight_alpha and kind not in images.FORMATS:
        raise UsageError(f"--straight-alpha goes with images, got {args.input}")
    if args.key is not None and kind != ".npz":
        raise UsageError(f"--key goes with .npz files, got {args.input}")
    if args.quality is not None and images.FORMATS.get(kind_out) != "JPEG":
        raise UsageError(f"--quality goes with a .jpg or .jpeg file to write, got {args.output}")
    if args.quality is not None and args.quality > 100:
        raise UsageError(f"--quality must be in [1, 100], got {args.quality}")


def _axes_and_numbers(
    args: argparse.Namespace, *, from_image: bool, to_image: bool
) -> tuple[list[int] | None, list[Fraction]]:
    """Return the axes to resize, None for all, and the number of --shape or --scale for each, or for all."""
    if args.shape is not None:
        option, text, numbers = "--shape", args.shape, values.sizes("--shape", args.shape)
    else:
        option, text, numbers = "--scale", args.scale, values.factors("--scale", args.scale)
    if from_image:
        if args.axes is not None:
            raise UsageError(f"--axes goes with arrays; of an image H and W are resized, got {args.axes}")
        axes, whose = [0, 1], "H and W"
    elif args.axes is None:
        if len(numbers) > 1:
            return list(range(len(numbers))), numbers
        return [0, 1] if to_image else None, numbers
    else:
        axes, whose = values.integers("--axes", args.axes), f"--axes {args.axes}"
    if len(numbers) not in (1, len(axes)):
        raise UsageError(f"{option} must have one number, or one for each of {whose}, got {text}")
    return axes, numbers


def _kind(path: str) -> str:
    """Return the file name's suffix, which says what the file holds."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in (*array_files.SUFFIXES, *images.FORMATS):
        raise UsageError(f"the name of a file must end with .npy, .npz, .png, .jpg or .jpeg, got {path}")
    return suffix


def _shrinks(
    args: argparse.Namespace, numbers: list[Fraction], shape: tuple[int, ...], axes: list[int] | None
) -> bool:
    """Whether any axis gets fewer samples."""
    if args.shape is None:
        return min(numbers) < 1
    rank = len(shape)
    axes = list(range(rank)) if axes is None else axes
    lengths = [shape[axis] if -rank <= axis < rank else 0 for axis in axes]  # the plan refuses other axes
    wanted = numbers * len(lengths) if len(numbers) == 1 else numbers
    return any(n_out < n_in for n_out, n_in in zip(wanted, lengths, strict=True))


def _read(args: argparse.Namespace, kind: str) -> tuple[images.Picture, str]:
    """Read an array or an image, and its name."""
    path = args.input
    try:
        if kind in images.FORMATS:
            return images.read(path, as_labels=args.mode not in FILTER_MODES), array_files.DEFAULT_KEY
        array, key = array_files.load(path, kind, args.key)
        return images.Picture(array), key
    except ModuleNotFoundError as error:
        raise InputError(error) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, EOFError, MemoryError) as error:
        raise InputError(f"cannot read {path}: {error}") from None


def _large(plan: ResamplePlan) -> bool:
    """Whether data or result is better not held in memory as a whole."""
    sizes = (math.prod(shape) * plan.dtype.itemsize for shape in (plan.data_shape, plan.output_shape))
    return max(sizes) > SLAB and plan.dtype.names is None


def _write_in_parts(path: str, plan: ResamplePlan, data: npt.NDArray[Any]) -> None:
    """Compute and write an .npy file in slabs, whole or not at all."""
    total = math.prod(plan.output_shape) * plan.dtype.itemsize
    with _writing(path) as file, progress(os.path.basename(path), total) as done:
        free = shutil.disk_usage(os.path.dirname(file.name)).free
        if total > free:  # rather than find it out after hours
            raise InputError(f"cannot write {path}: the result has {total} bytes, and {free} are free there")
        array_files.write_parts(file, plan.output_shape, plan.dtype, slabs(plan, data), done)


def _check_result(path: str, kind: str, picture: images.Picture, plan: ResamplePlan) -> None:
    """Refuse a result that the file cannot hold, before it is computed."""
    if kind not in images.FORMATS:
        return
    result = np.broadcast_to(np.zeros((), plan.dtype), plan.output_shape)
    try:
        images.check_writable(dataclasses.replace(picture, pixels=result), images.FORMATS[kind])
    except ModuleNotFoundError as error:
        raise InputError(error) from None
    except ValueError as error:
        first, *others = plan.data_shape if len(plan.data_shape) == 3 else (0, 0)
        advice = ""
        if first <= _COLORS < min(others):
            advice = "; channels come last: np.moveaxis(array, 0, -1) moves the first axis there"
        raise InputError(f"cannot write {path}: {error}{advice}") from None


def _said(args: argparse.Namespace, error: Exception) -> str:
    """Return what an error of `resize` says, in words of the command line."""
    size = "--scale" if args.shape is None else "--shape"
    words = {"data": "the input", "out": "the result", "shape": size, "scales": size}
    text = str(error).removeprefix("resize: ")
    text = text.replace(" (or give `shape`)", "").replace("(mode='nearest' takes", "(--mode nearest takes")
    text = text.replace("'majority' too", "majority too")
    return re.sub(r"`(\w+)`", lambda name: words.get(name[1], f"--{name[1].replace('_', '-')}"), text)


def _computed(args: argparse.Namespace, compute: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Compute the result as a whole; what goes wrong is not of the file that is written."""
    try:
        return np.asarray(compute())
    except (TypeError, ValueError, MemoryError) as error:
        raise InputError(f"{args.input}: {_said(args, error)}") from None


def _write(args: argparse.Namespace, file: BinaryIO, kind: str, key: str, picture: images.Picture) -> None:
    """Write an array or an image."""
    if kind in images.FORMATS:
        images.write(file, picture, images.FORMATS[kind], args.quality or images.QUALITY)
    else:
        array_files.write_array(file, kind, key, np.asanyarray(picture.pixels))


@contextlib.contextmanager
def _writing(path: str) -> Iterator[BinaryIO]:
    """Open a file that appears whole or not at all, and say what goes wrong."""
    try:
        with replacing(path) as file:
            yield file
    except ModuleNotFoundError as error:
        raise InputError(error) from None
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"cannot write {path}: {error}") from None
