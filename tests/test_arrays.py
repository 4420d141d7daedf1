"""Arrays of other kinds in and out, without any other library: small classes that do what those do."""

from __future__ import annotations

import re
import sys
import types
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import remapnd
from remapnd import arrays


class Tensor:
    """An array of another library: DLPack and its namespace."""

    def __init__(self, values: Any, device: int = 1, legacy: bool = False) -> None:
        self.values = np.asarray(values)
        self.device = device
        self.legacy = legacy

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)

    def __dlpack__(self, **options: Any) -> Any:
        if self.legacy:
            if options.keys() - {"stream"}:
                raise TypeError("unexpected keyword argument")
            return self.values.__dlpack__()
        return self.values.__dlpack__(**options)

    def __array_namespace__(self) -> Any:
        return types.SimpleNamespace(from_dlpack=lambda a: Tensor(np.from_dlpack(a)))


class WithArray(Tensor):
    """The same with `__array__`, as most libraries have it."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.values


class ArrayOnly:
    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.values


def masked(values: Any) -> np.ma.MaskedArray:
    return np.ma.masked_array(values, mask=np.zeros(np.shape(values), bool))


def test_masked_arrays_are_refused() -> None:
    """A mask is nothing that a result could keep, so that nobody loses one without noticing."""
    x, i = np.arange(4.0), np.array([1, 2])
    plan = remapnd.GatherPlan((4,), "f8", (2,), "i8")
    kept = remapnd.ResamplePlan((4,), "f8", shape=8)
    calls = {
        "gather: `data`": lambda: remapnd.gather(masked(x), i),
        "gather: `indices`": lambda: remapnd.gather(x, masked(i)),
        "scatter_elements: `updates`": lambda: remapnd.scatter_elements(x, i, masked(x[:2])),
        "scatter_nd: `data`": lambda: remapnd.scatter_nd(masked(x), i[:, None], x[:2]),
        "resize: `data`": lambda: remapnd.resize(masked(x), 8),
        "resample: `data`": lambda: kept(masked(x)),
        "grid_sample: `grid`": lambda: remapnd.grid_sample(x.reshape(1, 1, 4), masked(np.zeros((1, 2, 1)))),
        "gather: `indices` ": lambda: remapnd.gather(x, [masked(i), masked(i)]),
        "resize: `data` ": lambda: remapnd.resize((masked(x), x), 8),
        "roi_align: `rois`": lambda: remapnd.roi_align(
            x.reshape(1, 1, 2, 2), masked(np.zeros((1, 4))), [0], (1, 1)
        ),
    }
    assert plan(x, i).tolist() == [1, 2]
    for place, call in calls.items():
        instead = "(give `.filled(value)`, or `.data` to ignore it)"
        rule = f"must not be a masked array, whose mask would be lost {instead}"
        text = f"{place.rstrip()} {rule}, got MaskedArray"
        with pytest.raises(TypeError, match=re.escape(text)):
            call()
    for operator in (lambda out: remapnd.gather(x, i, out=out), lambda out: plan(x, i, out=out)):
        with pytest.raises(
            TypeError, match=r"gather: `out` must not be a masked array, .* \(give its `.data`\)"
        ):
            operator(masked(np.zeros(2)))


def test_other_subclasses_are_taken_for_the_arrays_they_are() -> None:
    class Named(np.ndarray):
        pass

    x, i = np.arange(4.0).view(Named), np.array([1, 2]).view(Named)
    for result in (remapnd.gather(x, i), remapnd.resize(x, 8), remapnd.scatter_elements(x, i, x[:2])):
        assert type(result) is np.ndarray
    out = np.zeros(2).view(Named)
    assert remapnd.gather(x, i, out=out) is out
    assert out.tolist() == [1, 2]


def test_dlpack_in_and_out() -> None:
    data = Tensor(np.arange(6.0).reshape(2, 3))
    result = remapnd.gather(data, Tensor(np.array([2, 0])), axis=1)
    assert isinstance(result, Tensor)
    assert result.values.tolist() == [[2, 0], [5, 3]]
    for legacy in (Tensor(data.values, legacy=True), WithArray(data.values, legacy=True)):
        assert isinstance(remapnd.gather(legacy, [0]), Tensor)
    # the kind of `data` counts, not of `indices`
    assert type(remapnd.gather(data.values, Tensor(np.array([1])))) is np.ndarray


def test_memory_is_not_copied_on_the_way_in_or_out() -> None:
    data = Tensor(np.arange(5))
    assert np.shares_memory(arrays.as_array(data, "gather", "data"), data.values)
    result = np.arange(4)
    assert np.shares_memory(arrays.like(data, result).values, result)


def test_a_namespace_found_by_the_module_of_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("another_library")
    module.from_dlpack = lambda a: ("another", a.tolist())
    monkeypatch.setitem(sys.modules, "another_library", module)

    class Other:
        __module__ = "another_library.tensors"
        __dlpack__ = Tensor.__dlpack__
        __dlpack_device__ = Tensor.__dlpack_device__
        legacy = False
        device = 1
        values = np.arange(3)

    assert remapnd.gather(Other(), [2]) == ("another", [2])
    monkeypatch.delitem(sys.modules, "another_library")
    assert remapnd.gather(Other(), [2]).tolist() == [2]


def test_a_dtype_that_dlpack_does_not_have_comes_by_array_and_leaves_as_numpy() -> None:
    values = np.arange(4).astype(ml_dtypes.bfloat16)
    result = remapnd.gather(WithArray(values), [3])
    assert type(result) is np.ndarray
    assert result.dtype == values.dtype
    assert result.tolist() == [3]
    with pytest.raises(
        TypeError, match="gather: `data` must be readable by DLPack or __array__, got Tensor: DLPack"
    ):
        remapnd.gather(Tensor(values), [3])


def test_another_device() -> None:
    with pytest.raises(
        TypeError, match=r"gather: `data` must be in CPU memory, got DLPack device type 2 \(CUDA\)"
    ):
        remapnd.gather(WithArray([1.0], device=2), [0])
    with pytest.raises(
        TypeError, match=r"gather: `indices` must be in CPU memory, got DLPack device type 99 \(unknown\)"
    ):
        remapnd.gather([1.0], Tensor([0], device=99))


def test_an_array_that_cannot_be_read() -> None:
    class Broken(WithArray):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("no export")

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
            raise RuntimeError("requires grad")

    with pytest.raises(TypeError, match="must be readable by DLPack or __array__, got Broken: requires grad"):
        remapnd.gather(Broken([1.0]), [0])


def test_arrays_by_array_lists_and_scalars() -> None:
    assert remapnd.gather(ArrayOnly([1, 2, 3]), ArrayOnly([2])).tolist() == [3]
    assert remapnd.gather([[1, 2], [3, 4]], -1).tolist() == [3, 4]
    assert remapnd.gather(range(5), (1, 3)).tolist() == [1, 3]
    assert remapnd.gather([1.5], []).shape == (0,)
    assert remapnd.gather([1.5], [[], []]).shape == (2, 0)
    item = remapnd.gather([1.5, 2.5], np.uint8(1))
    assert type(item) is np.ndarray
    assert item.shape == ()
    with pytest.raises(ValueError, match="gather: `data` must be an array, got list: "):
        remapnd.gather([[1], [2, 3]], [0])


def test_subclasses_come_as_plain_arrays() -> None:
    class Sub(np.ndarray):
        pass

    data = np.arange(4).view(Sub)
    assert type(remapnd.gather(data, data)) is np.ndarray


def test_swapped_indices_are_read_right() -> None:
    for dtype in (">i2", ">u4", ">i8"):
        assert remapnd.gather(np.arange(300), np.array([256, 1], dtype)).tolist() == [256, 1]


def test_swapped_data_is_moved_as_it_is() -> None:
    data = np.arange(5, dtype=">i4")
    result = remapnd.gather(data, [4, 0])
    assert result.dtype == data.dtype
    assert result.tolist() == [4, 0]


@pytest.mark.parametrize("kind", [Tensor, WithArray, lambda a: WithArray(a, legacy=True)])
def test_out_of_another_kind_is_written_and_returned(kind: Any) -> None:
    out = kind(np.zeros(2))
    assert remapnd.gather([1.0, 2.0], [1, 0], out=out) is out
    assert out.values.tolist() == [2, 1]


def test_out_of_another_kind_that_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="`out` must be writable"):
        remapnd.gather([1.0, 2.0], [1, 0], out=Tensor(np.zeros(2), legacy=True))
    with pytest.raises(TypeError, match="`out` must be in CPU memory"):
        remapnd.gather([1.0, 2.0], [1, 0], out=Tensor(np.zeros(2), device=2))


def test_overlaps_are_told_exactly() -> None:
    memory = np.zeros(100, np.int8)
    assert arrays._overlap(memory[::2], memory[1::2]) is False
    assert arrays._overlap(memory[::2], memory[4::3]) is True
    assert arrays._overlap(memory[:50], memory[50:]) is False


def test_an_overlap_that_is_too_hard_to_exclude_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = np.zeros(2**20, np.int8)
    strides = np.random.default_rng(0).integers(1000, 20_000, 6)
    a, b = (as_strided(memory[k:], (3,) * 6, strides[::step]) for k, step in ((0, 1), (1, -1)))
    with pytest.raises(np.exceptions.TooHardError):
        np.shares_memory(a, b, max_work=1)
    monkeypatch.setattr(arrays, "_OVERLAP_WORK", 1)
    assert arrays._overlap(a, b) is True


@pytest.mark.parametrize(
    ("data", "got"),
    [("rgb.png", "str 'rgb.png'"), (None, "NoneType"), (b"ab", "bytes"), ({}, "dict"), (object(), "object")],
)
@pytest.mark.parametrize("name", ["resize", "resample", "gather", "gather_nd", "scatter_nd", "grid_sample"])
def test_what_is_no_array(name, data, got):
    function = getattr(remapnd, name)
    rest = {"scatter_nd": ([[0]], [1]), "resize": (3,), "resample": ()}.get(name, ([0],))
    with pytest.raises(TypeError, match=rf"^{name}: `data` must be an array, got {got}$"):
        function(data, *rest)
    if name not in ("resize", "resample", "grid_sample"):
        with pytest.raises(TypeError, match=rf"^{name}: `indices` must be an array, got {got}$"):
            function(np.zeros(3), data, *rest[1:])
