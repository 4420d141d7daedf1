"""Resize and Upsample: both rules where they differ, and exact answers everywhere else."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
import onnx_models as models  # noqa: E402

import remapnd  # noqa: E402
from remapnd import onnx as ronnx  # noqa: E402
from remapnd import reference  # noqa: E402
from remapnd.coordinates import coordinate_map  # noqa: E402

RULES = ("onnxruntime", "onnx")
HALF = Fraction(1, 2)
NEAREST = {
    "round_prefer_floor": lambda x: math.ceil(x - HALF),
    "round_prefer_ceil": lambda x: math.floor(x + HALF),
    "floor": math.floor,
    "ceil": math.ceil,
}


def run(
    x: np.ndarray,
    *,
    scales: Any = None,
    sizes: Any = None,
    roi: Any = None,
    rules: str = "onnxruntime",
    opset: int = 19,
    **attributes: Any,
) -> np.ndarray:
    inputs: dict[str, np.ndarray | None] = {"X": x, "roi": None, "scales": None}
    if roi is not None:
        inputs["roi"] = np.array(roi, np.float32)
    if scales is not None:
        inputs["scales"] = np.array(scales, np.float32)
    if sizes is not None:
        inputs["sizes"] = np.array(sizes, np.int64)
    if opset == 10:
        del inputs["roi"]
    model = models.node_model("Resize", inputs, opset=opset, **attributes)
    rep = ronnx.prepare(model, resize_rules=rules)
    (y,) = rep.run([array for array in inputs.values() if array is not None])
    return y


def both(x: np.ndarray, **options: Any) -> list[list[Any]]:
    """The answers by ONNX Runtime's rule and by that of ONNX."""
    return [run(x, rules=rules, **options).tolist() for rules in RULES]


def test_integers_are_cut_or_rounded():
    assert both(np.array([1, 2], np.uint8), sizes=[4], mode="linear") == [[1, 1, 1, 2], [1, 1, 2, 2]]
    assert both(np.array([0, 1], np.int32), sizes=[3], mode="linear") == [[0, 0, 1], [0, 0, 1]]
    # -1.5 and 0.5: towards zero; ties to even
    assert both(np.array([-2, -1, 2], np.int8), scales=[2], mode="linear") == [
        [-2, -1, -1, 0, 1, 2],
        [-2, -2, -1, 0, 1, 2],
    ]


def test_lengths_from_scales():
    x = np.zeros(25, np.float32)
    scale = np.float32(1 / 25)
    assert Fraction(float(scale)) * 25 < 1 <= np.float32(25) * scale
    assert [len(answer) for answer in both(x, scales=[scale])] == [1, 0]
    # 706 * float32(224 / 706) is just below 224 in either arithmetic.
    assert [len(answer) for answer in both(np.zeros(706, np.float32), scales=[224 / 706])] == [223, 223]


def test_align_corners_with_a_length_that_is_cut():
    # Scale 0.6 of 4 samples: 2.4, cut to 2. ONNX Runtime: 0 and 3; the reference: 0 and 3 / 1.4.
    x = np.arange(4, dtype=np.float64)
    options = {"scales": [0.6], "mode": "linear", "coordinate_transformation_mode": "align_corners"}
    scale = Fraction(float(np.float32(0.6)))
    assert run(x, **options).tolist() == [0, 3]
    assert run(x, rules="onnx", **options).tolist() == pytest.approx(
        [0, float(3 / (4 * scale - 1))], rel=1e-15
    )


def test_shape_that_does_not_change():
    x = np.arange(4, dtype=np.float32)
    assert both(x, scales=[1.2], coordinate_transformation_mode="asymmetric", mode="linear") == [
        [0, 1, 2, 3],
        run(np.arange(5, dtype=np.float32), scales=[1.2], rules="onnx", opset=19, mode="linear",
            coordinate_transformation_mode="asymmetric").tolist()[:4],
    ]  # fmt: skip
    moved = {"scales": [1], "coordinate_transformation_mode": "tf_half_pixel_for_nn", "opset": 11}
    assert both(x, nearest_mode="ceil", roi=[], **moved) == [[0, 1, 2, 3], [1, 2, 3, 3]]


def test_nearest_along_an_axis_of_scale_1():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    moved = {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": "ceil", "opset": 13}
    copied, resampled = both(x, scales=[2, 1], **moved)
    assert copied == x[[1, 1, 1, 1]].tolist()
    assert resampled == x[[1, 1, 1, 1]][:, [1, 2, 2]].tolist()


def test_resize_10_takes_the_ceiling_where_an_axis_shrinks():
    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    by_ort, by_onnx = both(x, scales=[2, 0.6], opset=10)
    assert by_ort == x[[0, 0, 1, 1]][:, [0, 2, 4]].tolist()
    assert by_onnx == x[[0, 0, 1, 1]][:, [0, 1, 3]].tolist()


def test_upsample_of_every_version():
    x = np.array([[[[1, 2]]]], np.float32)
    old = models.node_model("Upsample", {"X": x}, opset=6, height_scale=2.0, width_scale=2.0, mode="bilinear")
    seven = models.node_model("Upsample", {"X": x}, opset=7, scales=[1.0, 1.0, 2.0, 2.0], mode="linear")
    scales = np.array([1, 1, 2, 2], np.float32)
    nine = models.node_model("Upsample", {"X": x, "scales": scales}, opset=9, mode="linear")
    expected = [[[[1, 1.5, 2, 2], [1, 1.5, 2, 2]]]]
    assert ronnx.run_model(old, [x])[0].tolist() == expected
    assert ronnx.run_model(seven, [x])[0].tolist() == expected
    assert ronnx.run_model(nine, [x, scales])[0].tolist() == expected


@pytest.mark.parametrize(
    ("policy", "shape"), [("stretch", (7, 8)), ("not_larger", (7, 4)), ("not_smaller", (16, 8))]
)
def test_aspect_ratio(policy, shape):
    x = np.arange(50, dtype=np.float32).reshape(10, 5)
    # 7 / 10 of 5 is 3.5, rounded up; 8 / 5 of 10 is 16
    y = run(x, sizes=[7, 8], axes=[0, 1], keep_aspect_ratio_policy=policy, mode="linear")
    assert y.shape == shape
    scale = {"stretch": None, "not_larger": Fraction(7, 10), "not_smaller": Fraction(8, 5)}[policy]
    assert_array_equal(y, remapnd.resize(x, shape, scales=scale))


def test_axes_in_any_order():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    y = run(x, sizes=[8, 6], axes=[-1, 1], mode="linear")
    assert_array_equal(y, remapnd.resize(x, (6, 8), axes=(1, 2)))


def test_dtypes_and_ranks_that_onnx_runtime_does_not_take():
    for dtype in (np.float64, np.int64, np.uint16):
        x = np.arange(4, dtype=dtype)
        y = run(x, scales=[2], mode="linear", rules="onnx")
        assert_array_equal(y, remapnd.resize(x, 8, integer_rule="half_even"), strict=True)
    x = np.arange(64, dtype=np.float32).reshape((2,) * 6)
    assert_array_equal(run(x, scales=[2] * 6, mode="linear"), remapnd.resize(x, (4,) * 6))


def test_strings_and_booleans_are_moved():
    words = np.array([["a", "b\0"]], object)
    assert run(words, scales=[1, 2]).tolist() == [["a", "a", "b\0", "b\0"]]
    assert run(np.array([True, False]), scales=[2]).tolist() == [True, True, False, False]


def test_no_axes_and_empty_arrays():
    assert run(np.float32(2).reshape(()), scales=[]).tolist() == 2
    assert run(np.zeros((0, 3), np.float32), sizes=[0, 6]).shape == (0, 6)
    assert run(np.zeros((4, 3), np.float32), scales=[0.1, 1]).shape == (0, 3)


def test_results_share_no_memory_with_the_input():
    x = np.arange(4, dtype=np.float32)
    y = run(x, sizes=[4])
    assert not np.shares_memory(x, y)


def test_plans_are_kept_for_each_shape():
    model = models.node_model(
        "Resize", {"X": np.zeros(3, np.float32), "roi": None, "scales": np.ones(1, np.float32)}
    )
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    rep = ronnx.prepare(model)
    for n in (*range(1, 40), 3):
        x = np.arange(n, dtype=np.float32)
        (y,) = rep.run([x, np.array([3], np.float32)])
        assert_array_equal(y, np.repeat(x, 3))


lengths = st.integers(1, 9)


@given(st.data())
def test_nearest_reads_the_exact_sample(data):
    n, m = data.draw(lengths), data.draw(lengths)
    mode = data.draw(st.sampled_from(["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]))
    nearest = data.draw(st.sampled_from(list(NEAREST)))
    y = run(
        np.arange(n, dtype=np.int32), sizes=[m], coordinate_transformation_mode=mode, nearest_mode=nearest
    )
    positions = coordinate_map(mode, n, m).positions(m)
    expected = [min(max(NEAREST[nearest](x), 0), n - 1) for x in positions]
    assert y.tolist() == (list(range(n)) if n == m else expected)


@given(st.data())
def test_linear_is_the_reference(data):
    shape = tuple(data.draw(st.lists(lengths, min_size=1, max_size=3)))
    axes = data.draw(st.permutations(range(len(shape))))[: data.draw(st.integers(1, len(shape)))]
    sizes = [data.draw(lengths) for _ in axes]
    x = np.random.default_rng(0).integers(-99, 99, shape).astype(np.float32)
    y = run(x, sizes=sizes, axes=axes, mode="linear", rules=data.draw(st.sampled_from(RULES)))
    order = sorted(range(len(axes)), key=axes.__getitem__)
    maps = [coordinate_map("half_pixel", shape[axes[k]], sizes[k]) for k in order]
    expected = reference.resample(x, maps, [sizes[k] for k in order], sorted(axes))
    assert_array_equal(y, expected, strict=True)
