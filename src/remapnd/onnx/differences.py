"""How results of ONNX Runtime's DirectML provider may differ from those of its CPU provider, with numbers.

Uses `resize` and the public functions to compute both; used by `mapping`.

Source: the provider's operator files for the positions; the page of RESAMPLE3 for antialiasing; what devices
do with an index out of range is reported by users, the page of GATHER promises only that reads stay inside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from remapnd.coordinates import coordinate_map
from remapnd.gather import gather
from remapnd.onnx.facts import Tensor
from remapnd.onnx.nodes import Array, Node
from remapnd.onnx.resize import NEAREST_RULES, Axis, ResizeNode
from remapnd.resample import resample

_CROP: Final = "tf_crop_and_resize"
_INFINITE: Final = Fraction(float(np.finfo(np.float32).max))  # the provider's scale where it divides by 0
_LONGEST: Final = 4096  # samples of an axis that is tried
_EXAMPLE: Final = 8  # length of an axis whose length is not known


@dataclass(frozen=True)
class Difference:
    """A way in which a result may differ, with numbers for both providers."""

    cause: str
    example: str

    def __str__(self) -> str:
        return f"{self.cause}; {self.example}"


def gather_differences(node: Node, data: Tensor, indices: Array | None) -> list[Difference]:
    """Return what an index out of range does: nothing else can differ in a gather."""
    if indices is not None and _in_range(node, data, indices):
        return []
    example = np.array([10, 20, 30])
    clipped = gather(example, np.array([3]), bounds="clip")[0]
    return [
        Difference(
            "an index out of range fails on the CPU; DirectML reads the nearest valid element (reported)",
            f"data 10 20 30, index 3: CPU error, DirectML {clipped}",
        )
    ]


def scatter_differences(node: Node, data: Tensor, indices: Array | None) -> list[Difference]:
    """Return what an index out of range, a negative one, or one that comes twice does."""
    found = []
    if indices is None or not _in_range(node, data, indices):
        found.append(
            Difference(
                "an index out of range fails on the CPU; what DirectML does is not documented",
                "data 10 20 30, index 3, update 5: CPU error, DirectML perhaps 10 20 30",
            )
        )
    if indices is None or (indices < 0).any():
        found.append(
            Difference(
                "a negative index counts from the end on the CPU; the provider passes indices as unsigned",
                "data 10 20 30, index -1, update 5: CPU 10 20 5, DirectML an index out of range, 4294967295",
            )
        )
    if indices is None or _repeated(node, data, indices):
        found.append(
            Difference(
                "of several updates of one place the last wins on the CPU; DirectML promises no order",
                "data 10 20 30, indices 0 0, updates 5 6: CPU 6 20 30, DirectML 5 20 30 or 6 20 30",
            )
        )
    return found


def _in_range(node: Node, data: Tensor, indices: Array) -> bool:
    """Whether constant indices are known to lie within their axes."""
    limits = _limits(node, data, indices)
    if limits is None:
        return False
    return bool((indices < limits).all() and (indices >= -limits).all())


def _limits(node: Node, data: Tensor, indices: Array) -> Array | None:
    """Return the lengths of the axes that indices run over, broadcastable to them; None if not known."""
    if data.shape is None or (node.op.endswith("ND") and not indices.ndim):
        return None
    rank = len(data.shape)
    if node.op.endswith("ND"):
        first = node.attributes.get("batch_dims", 0)
        sizes = data.shape[first : first + indices.shape[-1]]
    else:
        axis = node.attributes.get("axis", 0)
        if not -rank <= axis < rank:
            return None
        sizes = (data.shape[axis],)
    if not all(isinstance(size, int) for size in sizes):
        return None
    return np.array(sizes, np.int64)


def _repeated(node: Node, data: Tensor, indices: Array) -> bool:
    """Whether constant indices may name a place twice."""
    limits = _limits(node, data, indices)
    if limits is None:
        return True
    positive = np.where(indices < 0, indices + limits, indices)
    if node.op.endswith("ND"):
        tuples = positive.reshape(-1, indices.shape[-1])
        return len(np.unique(tuples, axis=0)) < len(tuples)
    along = np.sort(positive, axis=node.attributes.get("axis", 0))
    return bool((np.diff(along, axis=node.attributes.get("axis", 0)) == 0).any())


def resize_differences(
    node: Node, resize: ResizeNode, inputs: Sequence[Tensor | None], constants: Sequence[Array | None]
) -> list[Difference]:
    """Other positions, ties, antialiasing and the rounding of integers."""
    data = inputs[0]
    found: list[Difference] = []
    axes, given = _axes(resize, data, constants)
    unchanged = given and all(axis.n_in == axis.n_out for axis in axes)
    for axis in axes:
        if found or axis.n_in > _LONGEST or axis.n_out > _LONGEST or not axis.n_in or not axis.n_out:
            continue
        found += _positions(node, resize, axis, unchanged)
    if resize.mode == "nearest" and not unchanged:
        found += _ties(resize, axes)
    if resize.mode == "linear" and data is not None and data.type in ("int8", "uint8"):
        pair = np.array([1, 2], np.uint8)
        exact = resample(pair.astype(np.float64), shape=4)
        cut = resample(pair, shape=4, integer_rule="truncate")
        found.append(
            Difference(
                "how DirectML rounds 8-bit integers is not documented; the CPU cuts the fraction",
                f"1 2 to 4 samples: exact {_row(exact)}, CPU {_row(cut)}",
            )
        )
    if not given:
        found = [Difference(one.cause, f"{one.example} (an example: sizes are not known)") for one in found]
    return found


def _axes(
    resize: ResizeNode, data: Tensor | None, constants: Sequence[Array | None]
) -> tuple[list[Axis], bool]:
    """Return the axes as they are; or, if sizes are not known, such as they might be, and False."""
    roi, scales, sizes = resize.named(*constants[1:])
    shape = None if data is None else data.shape
    try:
        if shape is not None and (scales is not None or sizes is not None):
            static = tuple(size if isinstance(size, int) else _EXAMPLE for size in shape)
            known = all(isinstance(size, int) for size in shape)
            return resize.geometry(static, roi, scales, sizes), known
    except ValueError:
        pass  # said when the node is run
    shrinks = resize.antialias or resize.coordinates in (_CROP, "pytorch_half_pixel")
    n_out = {"pytorch_half_pixel": 1}.get(resize.coordinates, 3 if shrinks else 2 * _EXAMPLE)
    scale = Fraction(n_out, _EXAMPLE)
    part = (Fraction(1, 4), Fraction(5, 4)) if resize.coordinates == _CROP else (Fraction(0), Fraction(1))
    return [Axis(0, _EXAMPLE, n_out, scale, *part)], False


def _positions(node: Node, resize: ResizeNode, axis: Axis, unchanged: bool) -> list[Difference]:
    """Compare both providers along one axis on a ramp and an impulse."""
    directml = _directml(resize, node, axis)
    for name, signal in _signals(axis.n_in):
        cpu = signal if unchanged else resize.along(axis)(signal)
        other = directml(signal)
        differing = np.flatnonzero(cpu != other)
        if differing.size:
            k = int(differing[np.argmax(np.abs(cpu - other)[differing])])
            example = (
                f"{name} of {axis.n_in} to {axis.n_out} samples: output {k} is {cpu[k]:.6g} on the CPU, "
                f"{other[k]:.6g} in DirectML"
            )
            return [Difference(_cause(node, resize, unchanged), example)]
    return []


def _signals(n: int) -> Iterator[tuple[str, Array]]:
    """Signals on which axes are compared."""
    yield f"ramp 0..{n - 1}", np.arange(n, dtype=np.float64)
    impulse = np.zeros(n)
    impulse[n // 2] = 1
    yield f"impulse at {n // 2}", impulse


def _cause(node: Node, resize: ResizeNode, unchanged: bool) -> str:
    """Say why positions or weights differ."""
    if unchanged:
        return "the CPU copies an input whose shape does not change, whatever scales and roi"
    if node.since < 11:
        return f"the provider takes half_pixel for {node.op}-{node.since}, the CPU X / scale"
    if resize.antialias:
        return "DirectML antialiases only where an axis shrinks by more than 2, and by another filter"
    if resize.coordinates == _CROP:
        return "DirectML has no extrapolation value, it repeats the edge, and reads at least one sample"
    if resize.coordinates == "pytorch_half_pixel":
        return "the provider asks for the length before, ONNX for the length after, whether it is 1"
    return "the CPU leaves an axis of scale 1 alone, DirectML computes its positions"


def _directml(resize: ResizeNode, node: Node, axis: Axis) -> Any:
    """Return the function that DirectML computes along an axis, by the offsets that the provider passes."""
    n, m, scale = axis.n_in, axis.n_out, axis.scale
    before, after = Fraction(1, 2), Fraction(-1, 2)
    coordinates = resize.coordinates if node.since >= 11 else "half_pixel"
    if coordinates == "half_pixel_symmetric":
        before -= Fraction(n, 2) * (1 - m / (scale * n))
    elif coordinates == "pytorch_half_pixel" and n <= 1:
        before, after, scale = Fraction(0), Fraction(0), _INFINITE
    elif coordinates == "align_corners":
        before = after = Fraction(0)
        scale = Fraction(m - 1, n - 1) if min(n, m) > 1 else _INFINITE
    elif coordinates == "asymmetric":
        before = after = Fraction(0)
    elif coordinates == "tf_half_pixel_for_nn":
        before = Fraction(0)
    elif coordinates == _CROP:
        after = Fraction(0)
        before = -axis.start * (n - 1) if n > 1 else -(axis.start + axis.end) / 2 * (n - 1)
        read = max((axis.end - axis.start) * (n - 1), Fraction(1))
        scale = Fraction(m - 1) / read if min(n, m) > 1 else Fraction(1)
    options: dict[str, Any] = {}
    if resize.antialias:
        options["antialias"] = "directml"
    if resize.mode == "nearest":
        options["nearest_rule"] = NEAREST_RULES[
            resize.nearest_mode if node.since >= 11 else "round_prefer_floor"
        ]

    def compute(signal: Array) -> Any:
        return resample(
            signal,
            scales=scale,
            shape=m,
            input_offsets=before,
            output_offsets=after,
            mode=resize.mode,  # type: ignore[arg-type]
            **options,
        )

    return compute


def _ties(resize: ResizeNode, axes: Sequence[Axis]) -> list[Difference]:
    """Count positions midway between two samples, which rounding of floating point may move either way."""
    if not resize.nearest_mode.startswith("round") or resize.coordinates == _CROP:
        return []
    for axis in axes:
        if axis.n_in == axis.n_out or axis.n_out > _LONGEST or not axis.n_in:
            continue
        map = coordinate_map(resize.coordinates, axis.n_in, axis.n_out, axis.scale)
        ties = [
            k for k, x in enumerate(map.positions(axis.n_out)) if x.denominator == 2 and 0 < x < axis.n_in - 1
        ]
        if ties:
            x = map.at(ties[0])
            low, high = math.floor(x), math.ceil(x)
            right, wrong = (low, high) if resize.nearest_mode == "round_prefer_floor" else (high, low)
            return [
                Difference(
                    f"{len(ties)} of {axis.n_out} positions along axis {axis.axis} are ties, decided by the "
                    "rounding of floats",
                    f"output {ties[0]} reads position {float(x):g}: exactly sample {right}, perhaps {wrong}",
                )
            ]
    return []


def _row(values: Array) -> str:
    """Show a few numbers."""
    return " ".join(f"{value:g}" for value in values.tolist())
