"""remapnd.webnn.builder: every rule by its text, which the operators share; and what descriptors are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from remapnd import webnn
from remapnd.webnn import OperandDescriptor, builder

F = np.zeros((2, 3), np.float32)
I = np.zeros((2, 3), np.int32)  # noqa: E741
IMAGE = np.zeros((1, 1, 2, 4), np.float32)
INDEX_RULE = "`indices` must have one of the data types int32, uint32, int64"
TYPES = "float32, float16, int32, uint32, int64, uint64, int8, uint8"
MOST = 2**31 - 1


def described(*operands: Any) -> list[OperandDescriptor]:
    return [OperandDescriptor(a.dtype.name, a.shape) for a in operands]


RULES: list[tuple[str, tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    ("gather", (F, I.astype("u8")), {}, TypeError, f"{INDEX_RULE}, got uint64"),
    ("gather", (F, F), {}, TypeError, f"{INDEX_RULE}, got float32"),
    (
        "gather",
        (F[0, 0], I),
        {},
        ValueError,
        "`input` must have at least 1 dimension, got shape ()",
    ),
    ("gather", (F, I), {"axis": 2}, ValueError, "`axis` must lie in [0, 2), got 2"),
    ("gather", (F, I), {"axis": -1}, ValueError, "`axis` must lie in [0, 2), got -1"),
    ("gather", (F, I), {"axis": 1.0}, TypeError, "`axis` must be an integer, got 1.0"),
    ("gather_elements", (F, F), {}, TypeError, f"{INDEX_RULE}, got float32"),
    (
        "gather_elements",
        (F[0, 0], I[0, 0]),
        {},
        ValueError,
        "`input` must have at least 1 dimension, got shape ()",
    ),
    (
        "gather_elements",
        (F, I),
        {"axis": 2},
        ValueError,
        "`axis` must lie in [0, 2), got 2",
    ),
    (
        "gather_elements",
        (F, I[0]),
        {},
        ValueError,
        "`indices` must have 2 dimensions, as `input` has, got (3,)",
    ),
    (
        "gather_elements",
        (F, I[:, :2]),
        {},
        ValueError,
        "`indices` must have size 3 on axis 1, as `input`, got 2",
    ),
    ("gather_nd", (F, F), {}, TypeError, f"{INDEX_RULE}, got float32"),
    (
        "gather_nd",
        (F[0, 0], I),
        {},
        ValueError,
        "`input` must have at least 1 dimension, got shape ()",
    ),
    (
        "gather_nd",
        (F, I[0, 0]),
        {},
        ValueError,
        "`indices` must have at least 1 dimension, got shape ()",
    ),
    (
        "gather_nd",
        (F, I),
        {},
        ValueError,
        "`indices` must have a last dimension of at most 2, the rank of `input`, got 3",
    ),
    ("scatter_elements", (F, F, F), {}, TypeError, f"{INDEX_RULE}, got float32"),
    (
        "scatter_elements",
        (F, I, F.astype("f2")),
        {},
        TypeError,
        "`updates` must have the data type float32 of `input`, got float16",
    ),
    (
        "scatter_elements",
        (F, I, F),
        {"axis": 2},
        ValueError,
        "`axis` must lie in [0, 2), got 2",
    ),
    (
        "scatter_elements",
        (F, I[0], F),
        {},
        ValueError,
        "`indices` must have 2 dimensions, as `input` has, got (3,)",
    ),
    (
        "scatter_elements",
        (F, I[:, :2], F[:, :2]),
        {},
        ValueError,
        "`indices` must have size 3 on axis 1, as `input`, got 2",
    ),
    (
        "scatter_elements",
        (F, I, F[:1]),
        {},
        ValueError,
        "`updates` must have shape (2, 3), that of `indices`, got (1, 3)",
    ),
    ("scatter_nd", (F, F, F), {}, TypeError, f"{INDEX_RULE}, got float32"),
    (
        "scatter_nd",
        (F, I[:, :1], F.astype("f2")),
        {},
        TypeError,
        "`updates` must have the data type float32 of `input`, got float16",
    ),
    (
        "scatter_nd",
        (F[0, 0], I, F),
        {},
        ValueError,
        "`input` must have at least 1 dimension, got shape ()",
    ),
    (
        "scatter_nd",
        (F, I[0, 0], F),
        {},
        ValueError,
        "`indices` must have at least 1 dimension, got shape ()",
    ),
    (
        "scatter_nd",
        (F, I, F),
        {},
        ValueError,
        "`indices` must have a last dimension of at most 2, the rank of `input`, got 3",
    ),
    (
        "scatter_nd",
        (F, I[:, :1], F[:1]),
        {},
        ValueError,
        "`updates` must have shape (2, 3), which follows from `input` and `indices`, got (1, 3)",
    ),
    (
        "resample2d",
        (IMAGE.astype("i4"),),
        {},
        TypeError,
        "`input` must have one of the data types float32, float16, uint8, int8, got int32",
    ),
    ("resample2d", (F,), {}, ValueError, "`input` must have 4 dimensions, got (2, 3)"),
    (
        "resample2d",
        (IMAGE,),
        {"mode": "nearest"},
        ValueError,
        "`mode` must be one of 'nearest-neighbor', 'linear', got 'nearest' "
        "(did you mean 'nearest-neighbor'?)",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1]},
        ValueError,
        "`scales` must have 2 values, one for each of `axes`, got [1]",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": 2},
        TypeError,
        "`scales` must be a sequence of 2 numbers, got 2",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1, 0]},
        ValueError,
        "`scales` must be > 0 and finite in float32, got 0",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1e300, 1]},
        ValueError,
        "`scales` must be > 0 and finite in float32, got 1e+300",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1, 1e-50]},
        ValueError,
        "`scales` must be > 0 and finite in float32, got 1e-50",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1, math.nan]},
        ValueError,
        "`scales` must be finite, got nan",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [0.25, 1]},
        ValueError,
        f"`scales` must give sizes from 1 to {MOST}, got 0.25 for 2, which gives 0",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"scales": [1, 2**30]},
        ValueError,
        f"`scales` must give sizes from 1 to {MOST}, got 1.07374182e+09 for 4, which gives 4294967296",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"sizes": [1, 2, 3]},
        ValueError,
        "`sizes` must have 2 values, one for each of `axes`, got [1, 2, 3]",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"sizes": [0, 1]},
        ValueError,
        f"`sizes` must lie in [1, {MOST}], got (0, 1)",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"sizes": [2**20, 2**20]},
        ValueError,
        f"`output` must have at most {MOST} elements, got {2**40} in shape (1, 1, 1048576, 1048576)",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"sizes": [1.5, 1]},
        TypeError,
        "`sizes` must be an integer, got 1.5",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"axes": [0]},
        ValueError,
        "`axes` must have 2 values, one for each of `axes`, got [0]",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"axes": [3, 3]},
        ValueError,
        "`axes` must be two different integers in [0, 4), got (3, 3)",
    ),
    (
        "resample2d",
        (IMAGE,),
        {"axes": [2, 4]},
        ValueError,
        "`axes` must be two different integers in [0, 4), got (2, 4)",
    ),
]


@pytest.mark.parametrize(("function", "arguments", "options", "kind", "text"), RULES)
def test_rules_of_the_builder(function, arguments, options, kind, text):
    with pytest.raises(kind) as caught:
        getattr(builder, function)(*described(*arguments), **options)
    assert str(caught.value) == f"{function}: {text}"
    with pytest.raises(kind) as caught:
        getattr(webnn, function)(*arguments, **options)
    assert str(caught.value) == f"{function}: {text}"


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: OperandDescriptor("float64", (1,)),
            TypeError,
            f"OperandDescriptor: `data_type` must be one of {TYPES}, got 'float64'",
        ),
        (
            lambda: OperandDescriptor("int8", (1, 0)),
            ValueError,
            f"OperandDescriptor: `shape` must have dimensions from 1 to {MOST}, got (1, 0)",
        ),
        (
            lambda: OperandDescriptor("int8", (2**31,)),
            ValueError,
            f"OperandDescriptor: `shape` must have dimensions from 1 to {MOST}, got ({2**31},)",
        ),
        (
            lambda: OperandDescriptor("int8", (2**16, 2**15)),
            ValueError,
            f"OperandDescriptor: `shape` must have at most {MOST} elements, "
            f"got {2**31} in shape (65536, 32768)",
        ),
        (
            lambda: OperandDescriptor("int8", 3),
            TypeError,
            "OperandDescriptor: `shape` must be a sequence of integers, got int",
        ),
        (
            lambda: webnn.gather(F.astype("f8"), I),
            TypeError,
            f"gather: `input` must have one of the data types {TYPES}, got float64",
        ),
        (
            lambda: webnn.gather_nd(F[:0], I),
            ValueError,
            f"gather_nd: `input` must have dimensions from 1 to {MOST}, got (0, 3)",
        ),
        (
            lambda: webnn.gather(F, I, bounds="wrap"),
            ValueError,
            "gather: `bounds` must be one of 'clip', 'raise', got 'wrap'",
        ),
        (
            lambda: webnn.scatter_elements(F, I, F, duplicates="first"),
            ValueError,
            "scatter_elements: `duplicates` must be one of 'last', 'raise', got 'first'",
        ),
        (
            lambda: webnn.resample2d(IMAGE, positions="size"),
            ValueError,
            "resample2d: `positions` must be one of 'sizes', 'scales', got 'size' (did you mean 'sizes'?)",
        ),
        (
            lambda: webnn.resample2d(IMAGE, integer_rule="up"),
            ValueError,
            "resample2d: `integer_rule` must be one of 'half_up', 'half_even', 'truncate', got 'up'",
        ),
    ],
)
def test_other_errors(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == text


def test_descriptors():
    scalar = OperandDescriptor("uint8", [])
    assert scalar.shape == ()
    assert scalar.rank == 0
    assert builder.gather(OperandDescriptor("int64", (4, 2)), scalar_of("int32")).shape == (2,)
    assert builder.scatter_nd(*described(F, I[:, :2], F[:, 0])) == OperandDescriptor("float32", (2, 3))
    assert builder.scatter_elements(*described(F, I, F)) == OperandDescriptor("float32", (2, 3))


def scalar_of(data_type: str) -> OperandDescriptor:
    return OperandDescriptor(data_type, ())


@pytest.mark.parametrize("op", ["gather", "gather_elements", "gather_nd", "scatter_elements", "scatter_nd"])
def test_what_is_no_descriptor(op):
    """Arrays, which the functions of the same names take."""
    count = 3 if op.startswith("scatter") else 2
    good = OperandDescriptor("int32", (2, 2))
    for place, name in enumerate(("input", "indices", "updates")[:count]):
        operands: list[Any] = [good] * count
        operands[place] = [1]
        text = rf"^{op}: `{name}` must be an OperandDescriptor \(webnn.{op} takes arrays\), got list$"
        with pytest.raises(TypeError, match=text):
            getattr(builder, op)(*operands)
    with pytest.raises(
        TypeError, match=r"^resample2d: `input` must be an OperandDescriptor .*, got ndarray$"
    ):
        builder.resample2d(IMAGE)
