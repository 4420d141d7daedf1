"""The gather problems: what each library does for gather, gather_elements and gather_nd."""

from __future__ import annotations

import functools
import math
from typing import Any, ClassVar

import numpy as np

from .. import reference
from .libraries import load
from .problems import (
    Agreement,
    Array,
    Call,
    Problem,
    as_torch,
    blank,
    equal_bits,
    jax_call,
    onnx_call,
    returning,
    touched_bytes,
)

__all__ = ["Gather", "GatherElements", "GatherND"]


class Gather(Problem):
    """``data[..., indices, ...]`` along `axis`; indices of shape (k,) are in [0, n)."""

    def __init__(self, data: Array, indices: Array, *, axis: int = 0) -> None:
        self.data, self.indices, self.axis = data, indices, axis
        self.out = blank(data.shape[:axis] + indices.shape + data.shape[axis + 1 :], data.dtype)

    def _remapnd(self) -> Call:
        return functools.partial(
            load("remapnd").gather, self.data, self.indices, axis=self.axis, out=self.out
        )

    def _remapnd_allocating(self) -> Call:
        return functools.partial(load("remapnd").gather, self.data, self.indices, axis=self.axis)

    def _numpy(self) -> Call:
        # "raise" would make np.take buffer the whole result.
        return functools.partial(np.take, self.data, self.indices, self.axis, self.out, "clip")

    def _torch(self) -> Call:
        data, indices, out = map(as_torch, (self.data, self.indices, self.out))
        select = load("torch").index_select
        return returning(functools.partial(select, data, self.axis, indices, out=out), self.out)

    def _onnxruntime(self) -> Call:
        inputs = {"x": self.data, "i": self.indices}
        return onnx_call([("Gather", "xi", "y", {"axis": self.axis})], inputs, self.out, opset=13)

    def _jax(self) -> Call:
        take = load("jax.numpy").take
        return jax_call(lambda x, i: take(x, i, self.axis, mode="clip"), self.data, self.indices)

    calls: ClassVar = {
        "remapnd": _remapnd,
        "remapnd:allocating": _remapnd_allocating,
        "numpy": _numpy,
        "torch": _torch,
        "onnxruntime": _onnxruntime,
        "jax": _jax,
    }

    def least_bytes(self) -> int:
        """Return the bytes of the lines with indexed items, of the indices, and of the output."""
        inner = math.prod(self.data.shape[self.axis + 1 :]) * self.data.itemsize
        row = self.data.shape[self.axis] * inner
        outer = math.prod(self.data.shape[: self.axis])
        return outer * touched_bytes(self.indices, inner, row) + self.indices.nbytes + self.out.nbytes

    def judge(self, result: Array, *, exactly: bool) -> Agreement:
        """Compare bits with NumPy's indexing."""
        return equal_bits(result, self.data[(slice(None),) * self.axis + (self.indices,)])

    def twin(self) -> Array:
        """Compute the result with the reference."""
        return reference.gather(self.data, self.indices, axis=self.axis)


class GatherElements(Problem):
    """One item of `data` for each of `indices`, in [-n, n) [0, n) where libraries have no negative ones."""

    def __init__(self, data: Array, indices: Array, *, axis: int) -> None:
        self.data, self.indices, self.axis = data, indices, axis
        self.out = blank(indices.shape, data.dtype)

    @functools.cached_property
    def _from_zero(self) -> Array:
        """Return the same indices without negative ones."""
        n = self.data.shape[self.axis]
        return np.where(self.indices < 0, self.indices + n, self.indices).astype(self.indices.dtype)

    def _remapnd(self) -> Call:
        function = load("remapnd").gather_elements
        return functools.partial(function, self.data, self.indices, axis=self.axis, out=self.out)

    def _numpy(self) -> Call:
        return functools.partial(np.take_along_axis, self.data, self.indices, self.axis)

    def _torch(self) -> Call:
        data, out = as_torch(self.data), as_torch(self.out)
        indices = as_torch(self._from_zero.astype(np.int64, copy=False))  # it takes no other type
        gather = load("torch").gather
        return returning(functools.partial(gather, data, self.axis, indices, out=out), self.out)

    def _onnxruntime(self) -> Call:
        inputs = {"x": self.data, "i": self.indices}
        return onnx_call([("GatherElements", "xi", "y", {"axis": self.axis})], inputs, self.out, opset=13)

    def _jax(self) -> Call:
        take = load("jax.numpy").take_along_axis
        return jax_call(lambda x, i: take(x, i, self.axis, mode="clip"), self.data, self._from_zero)

    calls: ClassVar = {
        "remapnd": _remapnd,
        "numpy": _numpy,
        "torch": _torch,
        "onnxruntime": _onnxruntime,
        "jax": _jax,
    }

    def least_bytes(self) -> int:
        """Return the bytes of the lines with indexed items, of the indices, and of the output."""
        places = np.arange(self.data.size).reshape(self.data.shape)
        items = np.take_along_axis(places, self.indices, self.axis)
        read = touched_bytes(items, self.data.itemsize, self.data.nbytes)
        return read + self.indices.nbytes + self.out.nbytes

    def judge(self, result: Array, *, exactly: bool) -> Agreement:
        """Compare bits with NumPy's `take_along_axis`."""
        return equal_bits(result, np.take_along_axis(self.data, self.indices, self.axis))

    def twin(self) -> Array:
        """Compute the result with the reference."""
        return reference.gather_elements(self.data, self.indices, axis=self.axis)


class GatherND(Problem):
    """Items or blocks of `data` at index tuples, the last axis of `indices`, after `batch_dims` axes."""

    def __init__(self, data: Array, indices: Array, *, batch_dims: int = 0) -> None:
        self.data, self.indices, self.batch_dims = data, indices, batch_dims
        self._indexed = batch_dims + indices.shape[-1]  # axes that a batch and a tuple decide
        self.block = data.shape[self._indexed :]
        self.out = blank(indices.shape[:-1] + self.block, data.dtype)

    def _batches(self, arange: Any) -> tuple[Any, ...]:
        """Return the number of the batch along each batch axis, to broadcast with the tuples."""
        rank = self.indices.ndim - 1
        return tuple(
            arange(n).reshape([-1 if axis == k else 1 for k in range(rank)])
            for axis, n in enumerate(self.data.shape[: self.batch_dims])
        )

    @property
    def _steps(self) -> list[int]:
        """How many blocks one step along each indexed axis is."""
        lengths = self.data.shape[: self._indexed]
        return [math.prod(lengths[axis + 1 :]) for axis in range(len(lengths))]

    def _places(self) -> Array:
        """Return the number of the block that each tuple stands for."""
        steps = np.array(self._steps)
        places = self.indices @ steps[self.batch_dims :]
        for batch, step in zip(self._batches(np.arange), steps[: self.batch_dims], strict=True):
            places = places + batch * step
        return np.asarray(places)

    def _remapnd(self) -> Call:
        function = load("remapnd").gather_nd
        return functools.partial(function, self.data, self.indices, batch_dims=self.batch_dims, out=self.out)

    def _numpy(self) -> Call:
        batches = self._batches(np.arange)
        return lambda: self.data[(*batches, *np.moveaxis(self.indices, -1, 0))]

    def _numpy_flat(self) -> Call:
        """As experts write it: one flat index for each tuple, then `np.take` of blocks."""
        steps = np.array(self._steps)
        zero = np.int64(0)
        terms = zip(self._batches(np.arange), steps[: self.batch_dims], strict=True)
        base = sum((batch * step for batch, step in terms), zero)
        flat = self.data.reshape(-1, *self.block)
        tuple_steps = steps[self.batch_dims :]
        return lambda: np.take(flat, self.indices @ tuple_steps + base, 0, self.out, "clip")

    def _torch(self) -> Call:
        data, indices = as_torch(self.data), as_torch(self.indices)
        batches = self._batches(load("torch").arange)
        return lambda: data[(*batches, *indices.unbind(-1))]

    def _torch_flat(self) -> Call:
        """One flat index for each tuple, then `index_select` of blocks."""
        torch = load("torch")
        indices, flat = as_torch(self.indices), as_torch(self.data.reshape(-1, *self.block))
        out = as_torch(self.out.reshape(-1, *self.block))
        base = torch.zeros((), dtype=torch.int64)
        for batch, step in zip(self._batches(torch.arange), self._steps, strict=False):
            base = base + batch * step
        tuple_steps = list(enumerate(self._steps[self.batch_dims :]))

        def run() -> Array:
            places = base
            for component, step in tuple_steps:
                places = torch.add(places, indices[..., component], alpha=step)
            torch.index_select(flat, 0, places.reshape(-1), out=out)
            return self.out

        return run

    def _onnxruntime(self) -> Call:
        inputs = {"x": self.data, "i": self.indices}
        return onnx_call(
            [("GatherND", "xi", "y", {"batch_dims": self.batch_dims})], inputs, self.out, opset=13
        )

    def _jax(self) -> Call:
        jnp = load("jax.numpy")
        batches = self._batches(jnp.arange)
        return jax_call(
            lambda x, i: x.at[(*batches, *jnp.moveaxis(i, -1, 0))].get(mode="clip"), self.data, self.indices
        )

    calls: ClassVar = {
        "remapnd": _remapnd,
        "numpy": _numpy,
        "numpy:flat": _numpy_flat,
        "torch": _torch,
        "torch:flat": _torch_flat,
        "onnxruntime": _onnxruntime,
        "jax": _jax,
    }

    def least_bytes(self) -> int:
        """Return the bytes of the lines with indexed blocks, of the indices, and of the output."""
        block = math.prod(self.block) * self.data.itemsize
        read = touched_bytes(self._places(), block, self.data.nbytes)
        return read + self.indices.nbytes + self.out.nbytes

    def judge(self, result: Array, *, exactly: bool) -> Agreement:
        """Compare bits with NumPy's indexing."""
        tuples = np.moveaxis(self.indices, -1, 0)
        return equal_bits(result, self.data[(*self._batches(np.arange), *tuples)])

    def twin(self) -> Array:
        """Compute the result with the reference."""
        return reference.gather_nd(self.data, self.indices, batch_dims=self.batch_dims)
