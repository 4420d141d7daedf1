"""Checks of arguments: one function for each rule; raises with the wording of `errors`."""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from .coordinates import as_fraction
from .errors import must, shown, word

MAX_RANK = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
_ADDRESSABLE = 2**63 - 1

# ---- any operator


def integer(op: str, name: str, value: object) -> int:
    """Return `value` as an int."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(must(op, name, "be an integer", value))
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(must(op, name, "be an integer", repr(value))) from None


def only_for(
    op: str, option: str, value: object, chosen: tuple[str, str], those: Sequence[str], *, default: object
) -> None:
    """Refuse an option that has another value than its default where it cannot matter.

    `chosen` are name and value of the option that decides so; `those` are its values with which it matters.
    """
    if chosen[1] not in those and not _is_default(value, default):
        name, word = chosen
        rule = f"be left at {default!r} for {name} {word!r} (it belongs to {', '.join(map(repr, those))})"
        raise ValueError(must(op, option, rule, shown(value, repr)))


def _is_default(value: object, default: object) -> bool:
    """Whether an option has the value of its default: None, a number or a word."""
    if value is default:
        return True
    if isinstance(value, (np.ndarray, np.generic)) and value.shape == ():
        if default == 0 and not any(value.tobytes()):  # an item of any dtype
            return True
        value = value.item()
    return isinstance(value, (Number, str)) and bool(value == default)


def boolean(op: str, name: str, value: object) -> None:
    """Refuse what is not a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(must(op, name, "be True or False", repr(value)))


def choice(op: str, name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a word that is not among those allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(must(op, name, f"be one of {', '.join(map(repr, allowed))}", word(value, allowed)))


def flag(op: str, name: str, value: object) -> None:
    """Refuse what is not True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(must(op, name, "be True or False", repr(value)))


def shape(op: str, name: str, value: Sequence[int]) -> tuple[int, ...]:
    """Return `value` as a tuple of sizes >= 0."""
    if isinstance(value, str) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) != 1:
        raise TypeError(must(op, name, "be a sequence of integers", type(value).__name__))
    sizes = tuple(integer(op, name, n) for n in value)
    if any(n < 0 for n in sizes):
        raise ValueError(must(op, name, "have sizes of at least 0", sizes))
    if any(n > _ADDRESSABLE for n in sizes):
        raise ValueError(must(op, name, f"have sizes of at most {_ADDRESSABLE}", sizes))
    return sizes


def dtype(op: str, name: str, value: Any) -> np.dtype[Any]:
    """Return `value` as a dtype; None is none, though NumPy takes it for float64."""
    try:
        if value is None:
            raise TypeError
        found: np.dtype[Any] = np.dtype(value)
        return found
    except (TypeError, ValueError):
        raise TypeError(must(op, name, "be a dtype", repr(value))) from None


def axis(op: str, value: object, rank: int) -> int:
    """Return `value` as an axis in [0, rank)."""
    a = integer(op, "axis", value)
    if not -rank <= a < rank:
        raise ValueError(must(op, "axis", f"lie in [{-rank}, {rank})", a))
    return a % rank


def has_axes(op: str, name: str, sizes: tuple[int, ...]) -> None:
    """Refuse a 0-d array."""
    if not sizes:
        raise ValueError(must(op, name, "have at least 1 axis", "shape ()"))


def movable_dtype(op: str, name: str, dtype: np.dtype[Any]) -> None:
    """Refuse items that are references: they cannot be moved as bytes."""
    if dtype.hasobject:
        raise TypeError(must(op, name, "have a dtype of fixed size without Python objects", dtype))


def result_shape(op: str, name: str, sizes: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse a result that no array can hold; `name` is the parameter that asks for it."""
    if len(sizes) > MAX_RANK:
        raise ValueError(must(op, name, f"give a result of at most {MAX_RANK} axes", len(sizes)))
    if math.prod(size or 1 for size in sizes) * dtype.itemsize > _ADDRESSABLE:
        rule = "give a result that can be addressed"
        if 0 in sizes:
            rule += " (NumPy takes sizes of 0 as 1)"
        raise ValueError(must(op, name, rule, result_size(sizes, dtype)))


def result_size(sizes: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    """Return the words for a result that is too large."""
    count = math.prod(sizes) * dtype.itemsize
    return shown(sizes, lambda sizes: f"shape {sizes} of {count} bytes")


# ---- gather and scatter

BOUNDS = ("raise", "clip", "wrap", "fill")
SCATTER_BOUNDS = ("raise", "clip", "wrap", "drop")
REDUCTIONS = ("none", "add", "mul", "min", "max")

# What other libraries call these.
_BOUNDS_ELSEWHERE = {
    **{"clamp": "clip", "nearest": "clip", "modulo": "wrap", "periodic": "wrap", "error": "raise"},
    **{"constant": "fill", "ignore": "drop", "skip": "drop"},
}
_REDUCTIONS_ELSEWHERE = {
    **{"sum": "add", "prod": "mul", "product": "mul", "multiply": "mul"},
    **{"minimum": "min", "maximum": "max", "amin": "min", "amax": "max"},
    **{"update": "none", "replace": "none", "set": "none", "assign": "none"},
}

# Dtypes that reductions compute with, in the order of Number in csrc/kernels.hpp; min and max not with
# complex ones.
NUMBERS = (
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)


def bounds(op: str, value: object, allowed: Sequence[str] = BOUNDS) -> None:
    """Refuse a policy for indices out of range that the operator does not have."""
    if not isinstance(value, str) or value not in allowed:
        rule = f"be one of {', '.join(map(repr, allowed))}"
        if value == "drop":
            rule += " (only scatters can drop)"
        elif value == "fill":
            rule += " (only gathers can fill)"
        raise ValueError(must(op, "bounds", rule, word(value, allowed, _BOUNDS_ELSEWHERE)))


def reduction(op: str, value: object) -> None:
    """Refuse a reduction that there is not."""
    if not isinstance(value, str) or value not in REDUCTIONS:
        rule = f"be one of {', '.join(map(repr, REDUCTIONS))}"
        raise ValueError(must(op, "reduction", rule, word(value, REDUCTIONS, _REDUCTIONS_ELSEWHERE)))


def number(op: str, name: str, dtype: np.dtype[Any], reduction: str) -> int:
    """Return the place of a dtype in `NUMBERS` after checking that `reduction` can compute with it."""
    allowed = [n for n in NUMBERS if reduction not in ("min", "max") or not n.startswith("complex")]
    if dtype.name not in allowed:
        rule = f"have one of the dtypes {', '.join(allowed)} for {reduction!r} ('none' takes every dtype)"
        raise TypeError(must(op, name, rule, dtype))
    return NUMBERS.index(dtype.name)


def index_dtype(op: str, dtype: np.dtype[Any]) -> None:
    """Refuse indices that are not integers."""
    if dtype.kind in "iu":
        return
    if dtype.kind == "b":
        advice = " (np.flatnonzero turns a mask into indices)"
    elif dtype.kind == "f":
        advice = " (indices.astype(np.int64) cuts fractions off)"
    else:
        advice = ""
    raise TypeError(must(op, "indices", f"have an integer dtype{advice}", dtype))


def _indices_outside(
    indices: npt.NDArray[Any], sizes: Sequence[int], components: bool, bounds: str
) -> npt.NDArray[np.bool_]:
    """Return where `indices` are out of range; `sizes` are those of the indexed axes."""
    bad = np.zeros(indices.shape, np.bool_)
    for c, n in enumerate(sizes):
        part, mark = (indices[..., c], bad[..., c : c + 1]) if components else (indices, bad)
        outside: npt.NDArray[np.bool_]
        if bounds != "raise":  # clip and wrap: only an axis without items has no place for an index
            outside = np.full(part.shape, n == 0)
        elif indices.dtype.kind == "u":
            outside = part >= n
        else:
            outside = (part < -n) | (part >= n)
        mark[...] = outside.reshape(mark.shape)
    return bad


def _slabs(indices: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield slabs of some million indices along the first axis, and where they start."""
    if indices.ndim == 0:
        yield 0, indices
        return
    step = max(1, 2**22 * indices.shape[0] // max(1, indices.size))
    for start in range(0, indices.shape[0], step):
        yield start, indices[start : start + step]


def index_range(
    op: str,
    indices: npt.NDArray[Any],
    axes: Sequence[int],
    sizes: Sequence[int],
    *,
    components: bool,
    bounds: str,
    name: str = "indices",
    why: str = "",
) -> None:
    """Raise for the first index, in row-major order, that is out of range.

    `axes` and `sizes` are those of the indexed axes; with `components` the last axis of `indices` has one
    for each. `why` is added to the rule.
    """
    for start, slab in _slabs(indices):
        bad = _indices_outside(slab, sizes, components, bounds)
        if not bad.any():
            continue
        at = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
        c = at[-1] if components else 0
        where = (at[0] + start, *at[1:]) if at else at
        n = sizes[c]
        rule = f"lie in [{-n}, {n}) on axis {axes[c]}" if n else f"be empty for axis {axes[c]} of size 0"
        raise IndexError(must(op, name, rule + why, int(slab[at]), where))


# Kinds of value that may fill an item of a kind; whether the very value fits is looked at then.
_FILLS = {"M": "M", "m": "m", "S": "S", "U": "U", "c": "biufc"}
_REAL = "biuf"


def fill_item(op: str, value: object, dtype: np.dtype[Any], name: str = "fill_value") -> bytes:
    """Return `value` as the bytes of one item of `dtype`; the int 0 is zero bytes in every dtype."""
    if type(value) is int and value == 0:
        return bytes(dtype.itemsize)
    if isinstance(value, (np.ndarray, np.generic)) and value.shape == ():
        if value.dtype == dtype:  # the very bits, padding too
            return value.tobytes()
        if value.dtype == dtype.newbyteorder("="):
            return np.array(value, dtype).tobytes()
    fits = True
    item = None
    if dtype.type is np.void:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            item = np.array(value, dtype)
    else:
        given = np.asarray(value)
        if given.ndim:
            raise ValueError(must(op, name, "be a scalar", f"shape {given.shape}"))
        kind = "i" if isinstance(value, int) else given.dtype.kind
        fits = kind in _FILLS.get(dtype.kind, _REAL)
        if fits:
            item = _converted(value, given, dtype)
    if item is None:
        text = must(op, name, f"be castable to {dtype} without loss", shown(value, repr))
        raise ValueError(text) if fits else TypeError(text)
    return item.tobytes()


def _converted(value: Any, given: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any] | None:
    """Return a value of a fitting kind as an item of `dtype`; None where it is another value there."""
    if dtype.kind in "biu":
        low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        whole = isinstance(value, int) or (math.isfinite(value) and int(value) == value)
        return np.array(int(value), dtype) if whole and low <= value <= high else None
    try:
        with np.errstate(all="ignore"):
            item = np.array(value, dtype)
    except OverflowError:  # an int larger than every float
        return None
    if dtype.kind in "SU":
        same = given.dtype.itemsize <= dtype.itemsize
    elif dtype.kind in "mM":
        same = bool(np.isnat(given)) or bool(item == given)
    else:
        same = bool(np.isfinite(item)) or not np.isfinite(given)
    return item if same else None


# ---- resample


def _listed(value: object) -> object:
    """Return an array of one axis as a list, one of none as its item."""
    return value.tolist() if isinstance(value, np.ndarray) and value.ndim < 2 else value


def _count(values: Sequence[object]) -> str:
    """Return how many values there are, in words."""
    return f"{len(values)} value{'' if len(values) == 1 else 's'}"


def _one_each(op: str, name: str, value: object, count: int) -> list[Any]:
    """Return a value for each of `count` axes; a single one serves all."""
    value = _listed(value)
    if isinstance(value, str) or not isinstance(value, Sequence):
        return [value] * count
    if len(value) != count:
        rule = f"have one value for each of {count} axes" if count != 1 else "have one value for the axis"
        if name in ("shape", "scales") and len(value) < count:
            leading = "the first one" if len(value) == 1 else "the leading ones"
            rule += f" (axes={tuple(range(len(value)))} resamples {leading})" if len(value) else ""
        raise ValueError(must(op, name, rule, _count(value)))
    return list(value)


def axes(op: str, value: object, rank: int) -> tuple[int, ...]:
    """Return axes in [0, rank), each once, in the order given; all of them for None."""
    if value is None:
        return tuple(range(rank))
    value = _listed(value)
    listed = [integer(op, "axes", v) for v in (value if isinstance(value, Sequence) else (value,))]
    for a in listed:
        if not -rank <= a < rank:
            raise ValueError(must(op, "axes", f"lie in [{-rank}, {rank})", a))
    positive = tuple(a % rank for a in listed)
    if len(set(positive)) != len(positive):
        raise ValueError(must(op, "axes", "name each axis once", tuple(listed)))
    return positive


def numbers(op: str, name: str, value: object, count: int) -> list[Fraction]:
    """Return finite real numbers, one for each of `count` axes, exactly."""
    return [as_fraction(v, op=op, parameter=name) for v in _one_each(op, name, value, count)]


def within(op: str, name: str, value: Any, bound: int) -> Fraction:
    """Return a real number of at most a magnitude, exactly."""
    exact = as_fraction(value, op=op, parameter=name)
    if abs(exact) > bound:
        raise ValueError(must(op, name, f"lie in [{-bound}, {bound}]", value))
    return exact


def scales(op: str, value: object, count: int, name: str = "scales") -> list[Fraction]:
    """Return finite real numbers > 0, one for each of `count` axes, exactly."""
    exact = numbers(op, name, value, count)
    for scale, given in zip(exact, _one_each(op, name, value, count), strict=True):
        if scale <= 0:
            raise ValueError(must(op, name, "be > 0", given))
    return exact


def lengths(op: str, value: object, n_ins: Sequence[int]) -> list[int]:
    """Return output lengths for axes of lengths `n_ins`; 0 where the input has none, and only there."""
    n_outs = [_length(op, v) for v in _one_each(op, "shape", value, len(n_ins))]
    for n_in, n_out in zip(n_ins, n_outs, strict=True):
        rule = "be at least 1" if n_in else "be 0 for an axis of length 0"
        if n_out < 0 or (n_in == 0) != (n_out == 0):
            raise ValueError(must(op, "shape", rule, n_out))
    return n_outs


def _length(op: str, value: object) -> int:
    """Return an output length; a number with a fraction was meant for another parameter."""
    if isinstance(value, (float, np.floating, Fraction)):
        raise TypeError(must(op, "shape", "be an integer", f"{value!r} (a factor goes to `scales`)"))
    return integer(op, "shape", value)


def axes_for_one(op: str, data_shape: tuple[int, ...], shape: object, scales: object) -> None:
    """Refuse one length or scale for all axes of an array that has none."""
    if not data_shape and any(value is not None and np.ndim(value) == 0 for value in (shape, scales)):  # type: ignore[arg-type]
        raise ValueError(must(op, "data", "have at least 1 axis to resample", "shape ()"))


def length(op: str, name: str, value: object) -> int:
    """Return the length of an axis that has samples."""
    n = integer(op, name, value)
    if n < 1:
        raise ValueError(must(op, name, "be at least 1", n))
    return n


def scaled_lengths(op: str, n_ins: Sequence[int], exact_scales: Sequence[Fraction]) -> list[int]:
    """Return output lengths ``floor(length * scale)``, which are 0 only where the length is."""
    n_outs = []
    for n_in, scale in zip(n_ins, exact_scales, strict=True):
        n_out = math.floor(n_in * scale)
        if n_in and not n_out:
            rule = f"be at least 1/{n_in} for an axis of length {n_in} (or give `shape`)"
            raise ValueError(must(op, "scales", rule, float(scale)))
        n_outs.append(n_out)
    return n_outs


def antialias(op: str, value: object, mode: str, allowed: Sequence[str]) -> None:
    """Refuse a way of antialiasing that is unknown or that a filter does not have."""
    if value is None:
        return
    if not isinstance(value, str) or value not in allowed:
        rule = f"be None or one of {', '.join(map(repr, allowed))}"
        hint = ""
        if value is True:
            hint = " (antialias=True of PyTorch, TensorFlow and JAX is 'pillow')"
        elif value is False or value == "none":
            hint = " (None is without)"
        raise ValueError(must(op, "antialias", rule, word(value, allowed) + hint))
    if value == "directml" and mode in ("cubic", "box", "lanczos3"):
        rule = f"be None, 'pillow' or 'onnx' for mode {mode!r} ('directml' has only 'linear')"
        raise ValueError(must(op, "antialias", rule, repr(value)))


def regions(
    op: str, value: object, count: int, coordinates: str, crop: str
) -> list[tuple[Fraction, Fraction]]:
    """Return start and end for each of `count` axes, from all starts followed by all ends."""
    if coordinates != crop:
        if value is not None:
            rule = f"be None for coordinates {coordinates!r} (it belongs to {crop!r})"
            raise ValueError(must(op, "roi", rule, shown(value, repr)))
        return [(Fraction(0), Fraction(1))] * count
    value = _listed(value)
    values = f"two values for each of {count} axes, first all starts, then all ends"
    if count == 1:
        values = "two values, start and end"
    rule = f"have {values}"
    if value is None:
        rule = f"be given for coordinates {crop!r}: {values}, from 0 (first sample) to 1 (last)"
    if value is None or isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(must(op, "roi", rule, shown(value, repr)))
    if len(value) != 2 * count:
        raise ValueError(must(op, "roi", rule, _count(value)))
    exact = [as_fraction(v, op=op, parameter="roi") for v in value]
    return list(zip(exact[:count], exact[count:], strict=True))


def arithmetic_dtype(op: str, dtype: np.dtype[Any], allowed: Sequence[str]) -> None:
    """Refuse a dtype that cannot be interpolated."""
    if dtype.name not in allowed:
        rule = f"have a dtype that can be mixed, one of {', '.join(allowed)}"
        if dtype.kind == "b":
            rule = "have a dtype that can be mixed (mode='nearest' takes bool, 'majority' too)"
        elif dtype.kind in "USVMm":
            rule = "be an array of numbers (mode='nearest' takes every dtype)"
        raise TypeError(must(op, "data", rule, dtype))


def label_dtype(op: str, dtype: np.dtype[Any]) -> None:
    """Refuse a dtype that is none of labels."""
    if dtype.kind not in "iub":
        rule = "have an integer dtype or bool for mode 'majority' (it chooses among labels)"
        raise TypeError(must(op, "data", rule, dtype))


def planned(op: str, array: npt.NDArray[Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse data that a plan was not made for."""
    if array.dtype != dtype:
        raise TypeError(must(op, "data", f"have the dtype {dtype} of the plan", array.dtype))
    if array.shape != shape:
        raise ValueError(must(op, "data", f"have the shape {shape} of the plan", array.shape))
