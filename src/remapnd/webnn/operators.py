"""WebNN's gathers, scatters and resample2d on arrays: checked by `builder`, run by remapnd's functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import arrays, checks
from ..errors import must
from ..gather import gather as _gather
from ..gather import gather_elements as _gather_elements
from ..gather import gather_nd as _gather_nd
from ..reference import INTEGER_RULES
from ..resample import IntegerRule, resample
from ..scatter import scatter_elements as _scatter_elements
from ..scatter import scatter_nd as _scatter_nd
from . import builder
from .builder import InterpolationMode, Scales
from .descriptor import describe

Bounds: TypeAlias = Literal["clip", "raise"]
Duplicates: TypeAlias = Literal["last", "raise"]


def gather(input: Any, indices: Any, /, *, axis: int = 0, bounds: Bounds = "clip") -> Any:
    """Pick slices of `input` along `axis`, one for each of `indices`.

    Parameters
    ----------
    input : array_like, shape (*outer, n, *inner), of a WebNN data type
    indices : array_like, shape (*k,); int32, uint32 or int64
        Values in [-n, n); negative ones count from the end.
    axis : int, default 0, in [0, rank of `input`)
    bounds : {"clip", "raise"}, default "clip"
        For an index out of range: the nearest valid one, as browsers must, or an error.

    Returns
    -------
    array, shape (*outer, *k, *inner), dtype and kind of `input`

    Raises
    ------
    TypeError, ValueError
        A rule of `builder.gather` is broken.
    IndexError
        An index is out of range under "raise".

    Notes
    -----
    Source: WebNN, MLGraphBuilder.gather.

    Examples
    --------
    >>> import numpy as np
    >>> gather(np.array([10, 20, 30], np.int32), np.array([0, 7, -7], np.int32))
    array([10, 30, 10], dtype=int32)
    """
    x, i = _operands("gather", bounds, input=input, indices=indices)
    builder.gather(describe("gather", "input", x), describe("gather", "indices", i), axis=axis)
    return arrays.like(input, _gather(x, i, axis=axis, bounds=bounds))


def gather_elements(input: Any, indices: Any, /, *, axis: int = 0, bounds: Bounds = "clip") -> Any:
    """Pick one element for each of `indices`, which replaces its position on `axis`.

    Parameters
    ----------
    input : array_like, shape (*outer, n, *inner), of a WebNN data type
    indices : array_like, shape (*outer, m, *inner); int32, uint32 or int64
        Values in [-n, n); negative ones count from the end.
    axis, bounds
        As in `gather`.

    Returns
    -------
    array, shape of `indices`, dtype and kind of `input`

    Raises
    ------
    TypeError, ValueError
        A rule of `builder.gather_elements` is broken.
    IndexError
        An index is out of range under "raise".

    Notes
    -----
    Source: WebNN, MLGraphBuilder.gatherElements.
    """
    op = "gather_elements"
    x, i = _operands(op, bounds, input=input, indices=indices)
    builder.gather_elements(describe(op, "input", x), describe(op, "indices", i), axis=axis)
    return arrays.like(input, _gather_elements(x, i, axis=axis, bounds=bounds))


def gather_nd(input: Any, indices: Any, /, *, bounds: Bounds = "clip") -> Any:
    """Pick items or slices of `input` at index tuples, held along the last axis of `indices`.

    Parameters
    ----------
    input : array_like, shape (*indexed, *inner), of a WebNN data type
    indices : array_like, shape (*k, len(indexed)); int32, uint32 or int64
        Each value an index into its axis; negative ones count from the end.
    bounds
        As in `gather`.

    Returns
    -------
    array, shape (*k, *inner), dtype and kind of `input`

    Raises
    ------
    TypeError, ValueError
        A rule of `builder.gather_nd` is broken.
    IndexError
        An index is out of range under "raise".

    Notes
    -----
    Source: WebNN, MLGraphBuilder.gatherND.
    """
    op = "gather_nd"
    x, i = _operands(op, bounds, input=input, indices=indices)
    builder.gather_nd(describe(op, "input", x), describe(op, "indices", i))
    return arrays.like(input, _gather_nd(x, i, bounds=bounds))


def scatter_elements(
    input: Any,
    indices: Any,
    updates: Any,
    /,
    *,
    axis: int = 0,
    bounds: Bounds = "clip",
    duplicates: Duplicates = "last",
) -> Any:
    """Write one element for each of `indices`, which replaces its position on `axis`, over a copy of `input`.

    Parameters
    ----------
    input : array_like, shape (*outer, n, *inner), of a WebNN data type
    indices : array_like, shape (*outer, m, *inner); int32, uint32 or int64
        Values in [-n, n); negative ones count from the end.
    updates : array_like, shape of `indices`, dtype of `input`
    axis, bounds
        As in `gather`.
    duplicates : {"last", "raise"}, default "last"
        For several updates of one place: the last one wins, or an error. WebNN does not say; webnn-baseline
        raises.

    Returns
    -------
    array, shape, dtype and kind of `input`

    Raises
    ------
    TypeError, ValueError
        A rule of `builder.scatter_elements` is broken, or a place is updated twice under "raise".
    IndexError
        An index is out of range under "raise".

    Notes
    -----
    Source: WebNN, MLGraphBuilder.scatterElements.
    """
    op = "scatter_elements"
    x, i, u = _operands(op, bounds, duplicates, input=input, indices=indices, updates=updates)
    builder.scatter_elements(
        describe(op, "input", x), describe(op, "indices", i), describe(op, "updates", u), axis=axis
    )
    if duplicates == "raise":
        shape = tuple(1 if d == axis else n for d, n in enumerate(i.shape))
        others = np.arange(np.prod(shape)).reshape(shape)
        _refuse_duplicates(op, others * x.shape[axis] + _places(i, x.shape[axis]), i, 0)
    return arrays.like(input, _scatter_elements(x, i, u, axis=axis, bounds=bounds))


def scatter_nd(
    input: Any,
    indices: Any,
    updates: Any,
    /,
    *,
    bounds: Bounds = "clip",
    duplicates: Duplicates = "last",
) -> Any:
    """Write items or slices at index tuples, held along the last axis of `indices`, over a copy of `input`.

    Parameters
    ----------
    input : array_like, shape (*indexed, *inner), of a WebNN data type
    indices : array_like, shape (*k, len(indexed)); int32, uint32 or int64
        Each value an index into its axis; negative ones count from the end.
    updates : array_like, shape (*k, *inner), dtype of `input`
    bounds, duplicates
        As in `scatter_elements`.

    Returns
    -------
    array, shape, dtype and kind of `input`

    Raises
    ------
    TypeError, ValueError
        A rule of `builder.scatter_nd` is broken, or a place is updated twice under "raise".
    IndexError
        An index is out of range under "raise".

    Notes
    -----
    Source: WebNN, MLGraphBuilder.scatterND.
    """
    op = "scatter_nd"
    x, i, u = _operands(op, bounds, duplicates, input=input, indices=indices, updates=updates)
    builder.scatter_nd(describe(op, "input", x), describe(op, "indices", i), describe(op, "updates", u))
    if duplicates == "raise":
        places = np.zeros(i.shape[:-1], np.int64)
        for c, n in enumerate(x.shape[: i.shape[-1]]):
            places = places * n + _places(i[..., c], n)
        _refuse_duplicates(op, places, i, 1)
    return arrays.like(input, _scatter_nd(x, i, u, bounds=bounds))


def resample2d(
    input: Any,
    /,
    *,
    mode: InterpolationMode = "nearest-neighbor",
    scales: Scales | None = None,
    sizes: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    positions: Literal["sizes", "scales"] = "sizes",
    integer_rule: IntegerRule = "half_up",
) -> Any:
    """Resample two axes of `input`.

    Parameters
    ----------
    input : array_like of rank 4; float32, float16, uint8 or int8
    mode : {"nearest-neighbor", "linear"}, default "nearest-neighbor"
        Of two nearest samples the lower one is taken.
    scales : two numbers > 0, default 1.0 and 1.0
        One for each of `axes`; rounded to float32, as WebNN takes them.
    sizes : two integers, optional
        Output sizes, one for each of `axes`; by default ``floor(size * scale)``. `scales` are then ignored.
    axes : two different integers in [0, 4), default 2 and 3
    positions : {"sizes", "scales"}, default "sizes"
        What is sampled where scales give no whole size: with the ratio of output to input size, as WebNN
        says, or with the scales themselves, as ONNX Resize and DirectML do.
    integer_rule : {"half_up", "half_even", "truncate"}, default "half_up"
        How "linear" rounds on integers, of which WebNN says nothing.

    Returns
    -------
    array, shape of `input` but for `axes`, dtype and kind of `input`

    Raises
    ------
    TypeError, ValueError
        A rule of `builder.resample2d` is broken, or another option is unknown.

    Notes
    -----
    Position ``(X + 1/2) / scale - 1/2``, clamped to the samples, exactly. Source: WebNN,
    MLGraphBuilder.resample2d.

    Examples
    --------
    >>> import numpy as np
    >>> row = np.array([[[[10, 20, 30]]]], np.float32)
    >>> resample2d(row, scales=[1, 1.5]).ravel()
    array([10., 20., 20., 30.], dtype=float32)
    >>> resample2d(row, scales=[1, 1.5], positions="scales").ravel()
    array([10., 10., 20., 30.], dtype=float32)
    """
    op = "resample2d"
    (x,) = _operands(op, "clip", input=input)
    checks.choice(op, "positions", positions, ("sizes", "scales"))
    checks.choice(op, "integer_rule", integer_rule, INTEGER_RULES)
    output = builder.resample2d(describe(op, "input", x), mode=mode, scales=scales, sizes=sizes, axes=axes)
    chosen = builder.resampled_axes(axes)
    by_scales = positions == "scales" and sizes is None
    rules: dict[str, Any] = {"mode": "nearest", "nearest_rule": "half_down"}
    if mode == "linear":
        rules = {"mode": "linear", "integer_rule": integer_rule}
    result = resample(
        x,
        axes=chosen,
        shape=[output.shape[a] for a in chosen],
        scales=builder.float32_scales(scales) if by_scales else None,
        **rules,
    )
    return arrays.like(input, result)


def _operands(op: str, bounds: str, duplicates: str = "last", **operands: Any) -> list[npt.NDArray[Any]]:
    """Return operands as arrays, after checking the options that WebNN does not have."""
    checks.choice(op, "bounds", bounds, ("clip", "raise"))
    checks.choice(op, "duplicates", duplicates, ("last", "raise"))
    return [arrays.as_array(value, op, name) for name, value in operands.items()]


def _places(indices: npt.NDArray[Any], n: int) -> npt.NDArray[np.int64]:
    """Return indices counted from the start and clamped."""
    i = indices.astype(np.int64)
    return np.clip(np.where(i < 0, i + n, i), 0, n - 1)


def _refuse_duplicates(op: str, places: npt.NDArray[np.int64], indices: npt.NDArray[Any], last: int) -> None:
    """Refuse two updates of one place; `last` axes of indices hold tuples."""
    _, first = np.unique(places, return_index=True)
    if len(first) == places.size:
        return
    again = np.ones(places.size, np.bool_)
    again[first] = False
    at = tuple(int(k) for k in np.unravel_index(int(np.argmax(again)), places.shape))
    got = tuple(indices[at].tolist()) if last else int(indices[at])
    raise ValueError(must(op, "indices", "name each place once under duplicates='raise'", f"{got} again", at))
