"""The resampling problems: what each library does to resize images, planes, volumes and more.

Positions are those of "half_pixel" everywhere. A library joins where it does the same work: the same
positions, the same type and layout of the result. A conversion that it needs for that belongs to its call.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from .. import reference
from ..coordinates import coordinate_map
from .libraries import load
from .problems import (
    Agreement,
    Array,
    Call,
    Node,
    Problem,
    UnsupportedError,
    as_torch,
    blank,
    jax_call,
    onnx_call,
    returning,
    touched_bytes,
)

__all__ = ["Resize"]

_SAMPLES = 200_000  # values of a result that are compared
# Peers find positions and weights in float32 or in fixed point; a result further off means another operator.
_TOLERANCES = {"uint8": 1, "uint16": 64, "float16": 1e-2, "float32": 5e-3}
_NEAREST_TOLERANCE = 0.02  # share of positions that rounding moves to another element


class Resize(Problem):
    """`data`, random numbers, with other lengths along `axes`; floats are in [0, 1)."""

    def __init__(self, data: Array, lengths: tuple[int, ...], *, axes: tuple[int, ...], mode: str) -> None:
        self.data, self.axes, self.mode = data, axes, mode
        shape = list(data.shape)
        for axis, length in zip(axes, lengths, strict=True):
            shape[axis] = length
        self.lengths, self.out = lengths, blank(shape, data.dtype)
        self._channels = data.shape[axes[-1] + 1 :]

    # What is right.

    def _taps(self, axis: int, places: Array) -> tuple[Array, Array, Array, int]:
        """Return lower and upper tap of places on an axis, and the upper one's weight as a ratio."""
        n, m = self.data.shape[axis], self.out.shape[axis]
        # Position (place + 1/2) * n / m - 1/2 over the denominator 2 m.
        lower, rest = np.divmod((2 * places + 1) * n - m, 2 * m)
        if self.mode == "nearest":
            lower, rest = lower + (rest >= m), np.zeros_like(rest)
        first, second = np.clip(lower, 0, n - 1), np.clip(lower + 1, 0, n - 1)
        return first, np.where(rest == 0, first, second), np.where(first == second, 0, rest), 2 * m

    def _expected(self, places: list[Array]) -> tuple[Array, int]:
        """Return exact results at places of the output: numerators and their denominator."""
        exact = np.int64 if self.data.dtype.kind in "iu" else np.float64
        index, denominator = list(places), 1
        terms: list[tuple[list[Array], Array]] = [(index, np.ones(len(places[0]), exact))]
        for axis in self.axes:
            first, second, weight, whole = self._taps(axis, places[axis])
            denominator *= whole if self.mode == "linear" else 1
            before, terms = terms, []
            for position, factor in before:
                for tap, share in ((first, whole - weight), (second, weight)):
                    moved = [*position[:axis], tap, *position[axis + 1 :]]
                    terms.append((moved, factor * share if self.mode == "linear" else factor))
                    if self.mode == "nearest":
                        break
        total = sum(self.data[tuple(position)].astype(exact) * factor for position, factor in terms)
        return np.asarray(total), denominator

    def _ties(self, places: list[Array]) -> Array:
        """Whether a position lies halfway between two elements, where libraries follow different rules."""
        halfway = [
            ((2 * places[axis] + 1) * self.data.shape[axis]) % (2 * self.out.shape[axis]) == 0
            for axis in self.axes
        ]
        return np.asarray(np.logical_or.reduce(halfway))

    def judge(self, result: Array, *, exactly: bool) -> Agreement:
        """Compare values at random places with exact ones, integers rounded half up."""
        if result.shape != self.out.shape or result.dtype != self.out.dtype:
            rule = f"{self.out.dtype} {self.out.shape}, got {result.dtype} {result.shape}"
            return Agreement(False, 1.0, None, rule)
        count = min(_SAMPLES, result.size)
        flat = np.random.default_rng(0).integers(0, result.size, count)
        places = list(np.unravel_index(flat, result.shape))
        numerators, denominator = self._expected(places)
        values = result[tuple(places)]
        if self.mode == "nearest":
            differs = values != numerators
            wrong = float(np.mean(differs))
            if exactly:
                return Agreement(wrong == 0, wrong, None, "the same elements")
            refused = float(np.mean(differs & ~self._ties(places)))
            rule = f"at most {_NEAREST_TOLERANCE:.0%} other elements, ties left out"
            return Agreement(refused <= _NEAREST_TOLERANCE, wrong, None, rule)
        if self.data.dtype.kind in "iu":
            rounded = (2 * numerators + denominator) // (2 * denominator)
            difference = np.abs(values.astype(np.int64) - rounded)
            wrong = float(np.mean(difference != 0))
            bound = 0.0 if exactly else _TOLERANCES[self.data.dtype.name]
        else:
            exact = numerators / denominator
            difference = np.abs(values - exact)
            wrong = float(np.mean(values != exact.astype(self.data.dtype)))
            bound = _TOLERANCES[self.data.dtype.name]
            if exactly:  # four roundings on each axis, of values below 1, and the last one
                bound = len(self.axes) * 4 * 2.0**-24 + float(np.finfo(self.data.dtype).eps) / 2
        greatest = float(difference.max(initial=0))
        return Agreement(greatest <= bound, wrong, greatest, f"within {bound:.2g} of the exact result")

    def twin(self) -> Array:
        """Compute the result with the reference."""
        maps = [
            coordinate_map("half_pixel", self.data.shape[axis], length)
            for axis, length in zip(self.axes, self.lengths, strict=True)
        ]
        return reference.resample(self.data, maps, self.lengths, self.axes, mode=self.mode)

    def least_bytes(self) -> int:
        """Return the bytes of the output and of the lines of the input that carry weight."""
        kept = {}
        for axis in self.axes:
            first, second, weight, _ = self._taps(axis, np.arange(self.out.shape[axis]))
            kept[axis] = np.unique(np.concatenate([first, second[weight != 0]]))
        last = self.axes[-1]
        inner = math.prod(self._channels) * self.data.itemsize
        row = touched_bytes(kept[last], inner, self.data.shape[last] * inner)
        rows = math.prod(len(kept.get(axis, range(self.data.shape[axis]))) for axis in range(last))
        return rows * row + self.out.nbytes

    # Views that libraries want.

    def _channels_first(self, array: Array) -> Array:
        """View an array as (N, C, resized axes)."""
        moved = np.moveaxis(array, self.axes, range(-len(self.axes), 0))
        others = moved.ndim - len(self.axes)
        if others > 2:
            raise UnsupportedError("more than two axes beside the resized ones")
        return moved[(None,) * (2 - others)]

    @property
    def _is_image(self) -> bool:
        """Whether it has the layout (H, W) or (H, W, channels)."""
        return self.axes == (0, 1) and self.data.ndim <= 3

    # What the libraries do.

    def _remapnd(self) -> Call:
        resize = load("remapnd").resize
        return functools.partial(
            resize, self.data, self.lengths, axes=self.axes, mode=self.mode, out=self.out
        )

    def _numpy(self) -> Call:
        """One axis after the other, tables prepared: take for nearest, take and blend for linear."""
        steps = []
        for axis in self.axes:
            first, second, weight, whole = self._taps(axis, np.arange(self.out.shape[axis]))
            column = [-1 if k == axis else 1 for k in range(self.data.ndim)]
            steps.append((axis, first, second, (weight / whole).astype(np.float32).reshape(column)))

        def nearest() -> Array:
            values = self.data
            for axis, first, _, _ in steps:
                values = np.take(values, first, axis, mode="clip")
            return values

        def linear() -> Array:
            values = self.data if self.data.dtype == np.float32 else self.data.astype(np.float32)
            for axis, first, second, weight in steps:
                low, high = (
                    np.take(values, first, axis, mode="clip"),
                    np.take(values, second, axis, mode="clip"),
                )
                np.subtract(high, low, out=high)
                np.multiply(high, weight, out=high)
                values = np.add(low, high, out=low)
            if self.data.dtype.kind in "iu":
                np.add(values, np.float32(0.5), out=values)
            np.copyto(self.out, values, casting="unsafe")
            return self.out

        return nearest if self.mode == "nearest" else linear

    def _torch_function(self, axes: int) -> Any:
        """Return the function of that many axes with an ``out=``, which the public one has not."""
        nn = load("torch")._C._nn
        names = {
            "linear": (nn.upsample_linear1d, nn.upsample_bilinear2d, nn.upsample_trilinear3d),
            "nearest": (
                nn._upsample_nearest_exact1d,
                nn._upsample_nearest_exact2d,
                nn._upsample_nearest_exact3d,
            ),
        }
        if axes > 3:
            raise UnsupportedError("at most three axes")
        return names[self.mode][axes - 1]

    def _torch(self) -> Call:
        torch = load("torch")
        if len(self.axes) == 4:
            return self._torch_in_two_steps()
        function, scales = self._torch_function(len(self.axes)), (None,) * len(self.axes)
        options = scales if self.mode == "nearest" else (False, *scales)
        data, out, lengths = self.data, self.out, list(self.lengths)
        source, target = as_torch(self._channels_first(data)), as_torch(self._channels_first(out))
        if self.mode == "nearest" and data.dtype == np.uint16:  # it moves the bits of bfloat16 alone
            source, target = source.view(torch.bfloat16), target.view(torch.bfloat16)
        elif data.dtype == np.uint16 or (data.dtype == np.uint8 and len(self.axes) == 3):
            return self._torch_by_float32(function, options)
        return returning(functools.partial(function, source, lengths, *options, out=target), out)

    def _torch_by_float32(self, function: Any, options: Any) -> Call:
        """Convert, round, convert: it has no operator for this type of integers."""
        torch, lengths = load("torch"), list(self.lengths)
        source, target = map(torch.from_numpy, map(self._channels_first, (self.data, self.out)))

        def run() -> Array:
            values = function(source.to(torch.float32), lengths, *options)
            target.copy_(values.round_())
            return self.out

        return run

    def _torch_in_two_steps(self) -> Call:
        """Take the last three axes, then the first of a wide image: it has no operator for four."""
        if self.mode != "linear" or self.data.ndim != 4 or self.data.dtype != np.float32:
            raise UnsupportedError("no operator for four axes")
        torch = load("torch")
        cube, plane = self._torch_function(3), self._torch_function(2)
        n, (m, *lengths) = self.data.shape[0], self.lengths
        between = torch.empty((1, n, *lengths))
        source, wide = as_torch(self.data)[None], between.view(1, 1, n, -1)
        target = as_torch(self.out).view(1, 1, m, -1)
        width = target.shape[3]

        def run() -> Array:
            cube(source, lengths, False, None, None, None, out=between)
            plane(wide, [m, width], False, None, None, out=target)
            return self.out

        return run

    def _torch_float32(self) -> Call:
        """Half floats by the operator of float32."""
        if self.data.dtype != np.float16 or len(self.axes) != 2:
            raise UnsupportedError("for float16 only")
        torch = load("torch")
        function, lengths = self._torch_function(2), list(self.lengths)
        options = (None, None) if self.mode == "nearest" else (False, None, None)
        source, target = as_torch(self._channels_first(self.data)), as_torch(self._channels_first(self.out))

        def run() -> Array:
            target.copy_(function(source.to(torch.float32), lengths, *options))
            return self.out

        return run

    def _onnxruntime(self) -> Call:
        kinds = {"uint8", "float32", "float16"} if self.mode == "linear" else {"uint8", "float32"}
        data, out = self.data, self.out
        if self.mode == "nearest" and data.dtype == np.uint16:
            data, out = data.view(np.float16), out.view(np.float16)
            kinds.add("float16")
        if data.dtype.name not in kinds:
            raise UnsupportedError(f"no Resize for {data.dtype}")
        if self.mode == "linear" and len(self.axes) > 3:
            raise UnsupportedError("linear Resize of at most three axes")
        attributes = {"mode": self.mode, "coordinate_transformation_mode": "half_pixel"}
        if self.mode == "nearest":
            attributes["nearest_mode"] = "round_prefer_ceil"
        names = ("x", "", "", "s")
        if self._is_image and self._channels:
            nodes: list[Node] = [("Resize", names, "y", attributes)]
            source, target = data[None], out[None]
            sizes = target.shape
        elif self._channels:
            count = data.ndim
            first = [0, count, *range(1, count)]
            nodes = [
                ("Transpose", "x", "a", {"perm": first}),
                ("Resize", ("a", "", "", "s"), "b", attributes),
                ("Transpose", "b", "y", {"perm": np.argsort(first).tolist()}),
            ]
            source, target = data[None], out[None]
            sizes = tuple(target.shape[axis] for axis in first)
        else:
            nodes = [("Resize", names, "y", attributes)]
            source, target = self._channels_first(data), self._channels_first(out)
            sizes = target.shape
        call = onnx_call(nodes, {"x": source}, target, constants={"s": np.array(sizes, np.int64)})
        return returning(call, self.out)

    def _cv2(self, interpolation: str = "LINEAR") -> Call:
        """Take the last two axes plane by plane, then each other axis as the rows of wide images."""
        cv2 = load("cv2")
        if self.data.dtype == np.float16:
            raise UnsupportedError("no resize of float16")
        if self.mode == "nearest":
            interpolation = "NEAREST_EXACT"
        flag, resize = getattr(cv2, f"INTER_{interpolation}"), cv2.resize
        steps = [(a, (b.shape[1], b.shape[0]), b) for a, b in self._planes()]

        def run() -> Array:
            for source, size, target in steps:
                resize(source, size, target, 0, 0, flag)
            return self.out

        return run

    def _planes(self) -> Iterator[tuple[Array, Array]]:
        """Pairs of images (H, W) or (H, W, channels) that lead from `data` to `out`."""
        *before, y, _ = self.axes
        values = self.data
        for axis, resized in ((y, self.axes[-2:]), *((axis, (axis,)) for axis in reversed(before))):
            shape = [self.out.shape[k] if k in resized else n for k, n in enumerate(values.shape)]
            target = self.out if axis == self.axes[0] else blank(shape, values.dtype)
            source_rest, rest = ((-1,), (-1,)) if axis != y else (values.shape[axis + 1 :], shape[axis + 1 :])
            outer = math.prod(shape[:axis])
            sources = values.reshape(outer, values.shape[axis], *source_rest)
            yield from zip(sources, target.reshape(outer, shape[axis], *rest), strict=True)
            values = target

    def _cv2_exact(self) -> Call:
        if self.mode == "nearest" or self.data.dtype.kind == "f":
            raise UnsupportedError("INTER_LINEAR_EXACT is for integers")
        return self._cv2("LINEAR_EXACT")

    def _jax(self) -> Call:
        if self.mode == "linear" and self.data.dtype.kind != "f":
            raise UnsupportedError("linear of floats alone")
        resize = load("jax").image.resize
        return jax_call(lambda x: resize(x, self.out.shape, self.mode, antialias=False), self.data)

    def _volresample(self) -> Call:
        """Volumes, and planes as volumes of depth 1; it makes its result, of float32 for linear."""
        if self.axes == (0, 1, 2) and not self._channels:
            size = self.lengths
        elif self.axes == (2, 3) and not self._channels:
            size = (1, *self.lengths)
        else:
            raise UnsupportedError("volumes and planes alone")
        data = self.data
        if self.mode == "nearest" and data.dtype == np.uint16:
            data = data.view(np.int16)
        if data.dtype.name not in ("uint8", "int16", "float32"):
            raise UnsupportedError(f"no resample of {data.dtype}")
        source = data if len(self.axes) == 3 else data.reshape(-1, 1, *data.shape[2:])
        resample = functools.partial(load("volresample").resample, source, size, mode=self.mode)
        shape, dtype = self.out.shape, self.out.dtype
        if self.mode == "linear" and dtype.kind in "iu":
            return lambda: np.rint(resample()).astype(dtype)
        return lambda: resample().reshape(shape).view(dtype)

    def _kornia_rs(self) -> Call:
        if not self._is_image or self.data.dtype != np.uint8 or self._channels != (3,):
            raise UnsupportedError("images of three uint8 alone")
        mode = "bilinear" if self.mode == "linear" else "nearest"
        return functools.partial(load("kornia_rs.imgproc").resize, self.data, self.lengths, mode)

    def _pillow(self) -> Call:
        """Image to image; conversions from and to NumPy are not timed. RGB has four bytes a pixel there."""
        if not self._is_image or self.data.dtype != np.uint8:
            raise UnsupportedError("images of uint8 alone")
        if self.mode == "linear" and any(self.out.shape[axis] < self.data.shape[axis] for axis in self.axes):
            raise UnsupportedError("its bilinear filter is an antialiasing one where it shrinks")
        pillow = load("PIL.Image")
        image, size = pillow.fromarray(self.data), (self.lengths[1], self.lengths[0])
        flag = pillow.Resampling.BILINEAR if self.mode == "linear" else pillow.Resampling.NEAREST
        return functools.partial(image.resize, size, flag)

    def _scipy(self) -> Call:
        if self.data.dtype == np.float16:
            raise UnsupportedError("no zoom of float16")
        ratios = [m / n for m, n in zip(self.out.shape, self.data.shape, strict=True)]
        zoom = functools.partial(
            load("scipy.ndimage").zoom,
            self.data,
            ratios,
            output=self.out,
            order=1 if self.mode == "linear" else 0,
            mode="nearest",
            grid_mode=True,
            prefilter=False,
        )
        return returning(zoom, self.out)

    def _skimage(self) -> Call:
        if self.data.dtype == np.float16:
            raise UnsupportedError("it computes float16 in float32 and returns that")
        resize = functools.partial(
            load("skimage.transform").resize,
            self.data,
            self.out.shape,
            order=1 if self.mode == "linear" else 0,
            mode="edge",
            anti_aliasing=False,
            preserve_range=True,
        )
        if self.data.dtype.kind == "f":
            return resize
        return lambda: np.rint(resize()).astype(self.data.dtype)

    calls: ClassVar = {
        "remapnd": _remapnd,
        "numpy": _numpy,
        "torch": _torch,
        "torch:float32": _torch_float32,
        "onnxruntime": _onnxruntime,
        "cv2": _cv2,
        "cv2:exact": _cv2_exact,
        "jax": _jax,
        "volresample": _volresample,
        "kornia_rs": _kornia_rs,
        "pillow": _pillow,
        "scipy": _scipy,
        "skimage": _skimage,
    }
