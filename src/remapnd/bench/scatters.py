"""The scatter problems: rows that are replaced, and sums with repeated places."""

from __future__ import annotations

import functools
import math
from typing import Any, ClassVar

import numpy as np

from .libraries import load
from .problems import (
    Agreement,
    Array,
    Call,
    Problem,
    UnsupportedError,
    as_torch,
    blank,
    equal_bits,
    jax_call,
    onnx_call,
)

__all__ = ["ScatterElements", "ScatterND"]


def _operator(name: str) -> Any:
    """Find a function of remapnd that not every version has."""
    function = getattr(load("remapnd"), name, None)
    if function is None:
        raise UnsupportedError(f"this remapnd has no {name}")
    return function


class _Scatter(Problem):
    """A copy of `data` into which `updates` are written, or added, at the places of `indices`."""

    def __init__(self, data: Array, indices: Array, updates: Array, *, reduction: str) -> None:
        self.data, self.indices, self.updates, self.reduction = data, indices, updates, reduction
        self.out = blank(data.shape, data.dtype)

    def _places(self) -> Array:
        """Return the number of the row, or item, that each update goes to."""
        raise NotImplementedError

    def _rows(self, array: Array) -> Array:
        """View `data` or `out` by these numbers."""
        return array.reshape(-1, *self.updates.shape[self.indices.ndim - 1 :])

    def least_bytes(self) -> int:
        """Return the bytes of all arrays."""
        return 2 * self.data.nbytes + self.indices.nbytes + self.updates.nbytes

    def judge(self, result: Array, *, exactly: bool) -> Agreement:
        """Compare bits, but of sums of peers, in any order, within the error bound of such a sum."""
        bits = equal_bits(result, self.twin())
        if self.reduction == "none" or (result.dtype, result.shape) != (self.out.dtype, self.out.shape):
            return bits
        places = self._places()
        sums = self.data.astype(np.float64).reshape(-1)
        magnitudes = np.abs(sums)
        sums += np.bincount(places, self.updates, sums.size)
        magnitudes += np.bincount(places, np.abs(self.updates), sums.size)
        terms = 1 + np.bincount(places, minlength=sums.size)
        wrong = float(np.mean(result.reshape(-1) != sums.astype(result.dtype)))
        difference = np.abs(result.reshape(-1) - sums)
        greatest = float(difference.max(initial=0))
        if exactly:
            return Agreement(bits.ok, wrong, greatest, "the bits of the sum in order")
        ok = bool(np.all(difference <= terms * float(np.finfo(result.dtype).eps) * magnitudes))
        return Agreement(ok, wrong, greatest, "within terms * epsilon * sum of magnitudes of the exact sum")

    def twin(self) -> Array:
        """Compute the result one update after the other."""
        expected = self.data.copy()
        rows = self._rows(expected)
        if self.reduction == "add":
            np.add.at(rows, self._places(), self.updates)
        else:
            rows[self._places()] = self.updates
        return expected

    def _torch(self) -> Call:
        out, data, updates = map(as_torch, (self.out, self.data, self.updates))
        rows, places = as_torch(self._rows(self.out)), as_torch(self._places())
        write = rows.index_add_ if self.reduction == "add" else rows.index_copy_

        def run() -> Array:
            out.copy_(data)
            write(0, places, updates)
            return self.out

        return run

    def _numpy(self) -> Call:
        rows, places = self._rows(self.out), self._places()

        def run() -> Array:
            np.copyto(self.out, self.data)
            if self.reduction == "add":
                np.add.at(rows, places, self.updates)
            else:
                rows[places] = self.updates
            return self.out

        return run

    def _numpy_bincount(self) -> Call:
        if self.reduction != "add":
            raise UnsupportedError("bincount adds")
        places, items = self._places(), self.data.size

        def run() -> Array:
            sums = np.bincount(places, self.updates, items).reshape(self.data.shape)
            return np.add(self.data, sums, out=self.out, casting="same_kind")

        return run


class ScatterElements(_Scatter):
    """One update for each of `indices`, along the one axis of `data`."""

    def _places(self) -> Array:
        return self.indices

    def _rows(self, array: Array) -> Array:
        return array

    def _remapnd(self) -> Call:
        function = _operator("scatter_elements")
        return functools.partial(
            function, self.data, self.indices, self.updates, reduction=self.reduction, out=self.out
        )

    def _torch_scatter(self) -> Call:
        out, data, updates, places = map(as_torch, (self.out, self.data, self.updates, self.indices))
        write = out.scatter_add_ if self.reduction == "add" else out.scatter_

        def run() -> Array:
            out.copy_(data)
            write(0, places, updates)
            return self.out

        return run

    def _onnxruntime(self) -> Call:
        inputs = {"x": self.data, "i": self.indices, "u": self.updates}
        attributes = {"axis": 0, "reduction": self.reduction}
        return onnx_call([("ScatterElements", "xiu", "y", attributes)], inputs, self.out, opset=18)

    def _jax(self) -> Call:
        def scatter(x: Any, i: Any, u: Any) -> Any:
            return x.at[i].add(u, mode="clip") if self.reduction == "add" else x.at[i].set(u, mode="clip")

        return jax_call(scatter, self.data, self.indices, self.updates)

    calls: ClassVar = {
        "remapnd": _remapnd,
        "numpy": _Scatter._numpy,
        "numpy:bincount": _Scatter._numpy_bincount,
        "torch": _torch_scatter,
        "torch:index": _Scatter._torch,
        "onnxruntime": _onnxruntime,
        "jax": _jax,
    }


class ScatterND(_Scatter):
    """One update, an item or a row, for each index tuple, the last axis of `indices`."""

    def _places(self) -> Array:
        lengths = self.data.shape[: self.indices.shape[-1]]
        steps = [math.prod(lengths[axis + 1 :]) for axis in range(len(lengths))]
        return np.asarray(self.indices @ np.array(steps))

    def _remapnd(self) -> Call:
        function = _operator("scatter_nd")
        return functools.partial(
            function, self.data, self.indices, self.updates, reduction=self.reduction, out=self.out
        )

    def _torch_put(self) -> Call:
        out, data, updates = map(as_torch, (self.out, self.data, self.updates))
        tuples, accumulate = as_torch(self.indices).unbind(-1), self.reduction == "add"

        def run() -> Array:
            out.copy_(data)
            out.index_put_(tuples, updates, accumulate=accumulate)
            return self.out

        return run

    def _onnxruntime(self) -> Call:
        inputs = {"x": self.data, "i": self.indices, "u": self.updates}
        attributes = {"reduction": self.reduction}
        return onnx_call([("ScatterND", "xiu", "y", attributes)], inputs, self.out, opset=18)

    def _jax(self) -> Call:
        jnp = load("jax.numpy")

        def scatter(x: Any, i: Any, u: Any) -> Any:
            rows = x.at[tuple(jnp.moveaxis(i, -1, 0))]
            return rows.add(u, mode="clip") if self.reduction == "add" else rows.set(u, mode="clip")

        return jax_call(scatter, self.data, self.indices, self.updates)

    calls: ClassVar = {
        "remapnd": _remapnd,
        "numpy:flat": _Scatter._numpy,
        "numpy:bincount": _Scatter._numpy_bincount,
        "torch": _torch_put,
        "torch:flat": _Scatter._torch,
        "onnxruntime": _onnxruntime,
        "jax": _jax,
    }
