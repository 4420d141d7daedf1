"""What resample, resize, describe and their plans refuse, and in which words."""

from fractions import Fraction as F

import numpy as np
import pytest

from remapnd import ResamplePlan, describe, resample, resize
from remapnd.coordinates import CROP


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (resample, ValueError, "resample: `shape` or `scales` must be given, got neither"),
        (resize, ValueError, "resize: `shape` or `scales` must be given, got neither"),
        (lambda x: resample(x, scales=0), ValueError, "resample: `scales` must be > 0, got 0"),
        (lambda x: resample(x, scales=-1.5), ValueError, r"resample: `scales` must be > 0, got -1.5"),
        (
            lambda x: resample(x, scales=float("nan")),
            ValueError,
            "resample: `scales` must be finite, got nan",
        ),
        (
            lambda x: resample(x, scales=float("inf")),
            ValueError,
            "resample: `scales` must be finite, got inf",
        ),
        (
            lambda x: resample(x, scales="2"),
            TypeError,
            "resample: `scales` must be a real number, got '2' of type str",
        ),
        (
            lambda x: resample(x, scales=True),
            TypeError,
            "resample: `scales` must be a real number, got True of type bool",
        ),
        (
            lambda x: resample(x, scales=(1, 2, 3)),
            ValueError,
            "resample: `scales` must have one value for each of 2 axes, got 3 values",
        ),
        (
            lambda x: resample(x, scales=0.1),
            ValueError,
            r"resample: `scales` must be at least 1/4 for an axis of length 4 \(or give `shape`\), got 0.1",
        ),
        (
            lambda x: resample(x, scales=1, input_offsets=float("nan")),
            ValueError,
            "resample: `input_offsets` must be finite, got nan",
        ),
        (
            lambda x: resize(x, (3,)),
            ValueError,
            r"resize: `shape` must have one value for each of 2 axes "
            r"\(axes=\(0,\) resamples the first one\), got 1 value$",
        ),
        (
            lambda x: resize(x[0], (3, 4)),
            ValueError,
            "resize: `shape` must have one value for the axis, got 2 values$",
        ),
        (
            lambda x: resize(x[None], (3, 4)),
            ValueError,
            r"resize: `shape` must have one value for each of 3 axes "
            r"\(axes=\(0, 1\) resamples the leading ones\), got 2 values$",
        ),
        (lambda x: resize(x, (3, 0)), ValueError, "resize: `shape` must be at least 1, got 0"),
        (lambda x: resize(x, (3, -2)), ValueError, "resize: `shape` must be at least 1, got -2"),
        (lambda x: resize(x, (3, 2.0)), TypeError, "resize: `shape` must be an integer, got 2.0"),
        (
            lambda x: resize(x[:0], (3, 2)),
            ValueError,
            "resize: `shape` must be 0 for an axis of length 0, got 3",
        ),
        (lambda x: resize(x, 3, axes=2), ValueError, r"resize: `axes` must lie in \[-2, 2\), got 2"),
        (
            lambda x: resize(x, 3, axes=(0, -2)),
            ValueError,
            r"resize: `axes` must name each axis once, got \(0, -2\)",
        ),
        (lambda x: resize(x, 3, axes=1.0), TypeError, "resize: `axes` must be an integer, got 1.0"),
        (
            lambda x: resize(x, 3, mode="cubi"),
            ValueError,
            "`mode` must be one of 'nearest', 'majority', 'linear', 'cubic', 'box', 'lanczos3', got 'cubi'",
        ),
        (
            lambda x: resize(x, 3, mode="nearest", nearest_rule="up"),
            ValueError,
            "resize: `nearest_rule` must be one of 'half_up', 'half_down', 'floor', 'ceil', got 'up'",
        ),
        (
            lambda x: resize(x, 3, integer_rule="trunc"),
            ValueError,
            "resize: `integer_rule` must be one of 'half_up', 'half_even', 'truncate', got 'trunc'",
        ),
        (
            lambda x: resize(x, 3, coordinates="centre"),
            ValueError,
            "resize: `coordinates` must be one of 'half_pixel', .*, got 'centre'",
        ),
        (
            lambda x: resize(x > 1, 3),
            TypeError,
            r"resize: `data` must have a dtype that can be mixed \(mode='nearest' takes bool, 'majority' "
            r"too\), got bool",
        ),
        (
            lambda x: resize("photo.png", 3),
            TypeError,
            "resize: `data` must be an array, got str 'photo.png'",
        ),
        (
            lambda x: resize(x.astype(str), 3),
            TypeError,
            r"resize: `data` must be an array of numbers \(mode='nearest' takes every dtype\), got <U32",
        ),
        (lambda _: resize(None, 3), TypeError, "resize: `data` must be an array, got NoneType"),
        (lambda _: resize(b"ab", 3), TypeError, "resize: `data` must be an array, got bytes"),
        (
            lambda x: resize(x, 0.5),
            TypeError,
            r"resize: `shape` must be an integer, got 0\.5 \(a factor goes to `scales`\)",
        ),
        (
            lambda x: resample(x, shape=F(1, 2)),
            TypeError,
            r"resample: `shape` must be an integer, got Fraction\(1, 2\) \(a factor goes to `scales`\)",
        ),
        (
            lambda x: resize(x.ravel()[0], 3),
            ValueError,
            r"resize: `data` must have at least 1 axis to resample, got shape \(\)",
        ),
        (
            lambda x: resample(x.ravel()[0], scales=2),
            ValueError,
            r"resample: `data` must have at least 1 axis to resample, got shape \(\)",
        ),
        (lambda _: ResamplePlan((3,), "x", shape=2), TypeError, "resample: `dtype` must be a dtype, got 'x'"),
        (
            lambda _: ResamplePlan.resized((3,), None, 2),
            TypeError,
            "resize: `dtype` must be a dtype, got None",
        ),
        (
            lambda x: resize(x.astype(object), 3),
            TypeError,
            "resize: `data` must have a dtype of fixed size without Python objects, got object",
        ),
        (
            lambda x: resize(x, 2**40),
            ValueError,
            "resize: `shape` must give a result that can be addressed, got shape",
        ),
        (
            lambda x: resize(x[:0], (0, 2**62)),
            ValueError,
            r"resize: `shape` must give a result that can be addressed \(NumPy takes sizes of 0 as 1\), "
            r"got shape \(0, 4611686018427387904\) of 0 bytes",
        ),
        (
            lambda x: resize(x, 2**25),
            ValueError,
            r"resize: `out` must fit in memory, got shape \(33554432, 33554432\) of \d+ bytes",
        ),
        (lambda x: resize(x, 3, out=x), ValueError, r"resize: `out` must have shape \(3, 3\), got \(4, 5\)"),
        (
            lambda x: resize(x, (4, 5), out=x),
            ValueError,
            "resize: `out` must not overlap an input, got an array that does",
        ),
        (
            lambda x: resize(x, 3, out=np.zeros((3, 3), "f4")),
            TypeError,
            "resize: `out` must have dtype float64, got float32",
        ),
        (
            lambda x: resize(x, 3, out=np.broadcast_to(1.0, (3, 3))),
            ValueError,
            "resize: `out` must be writable, got a read-only array",
        ),
        (
            ResamplePlan((3, 3), "f8", scales=2),
            ValueError,
            r"resample: `data` must have the shape \(3, 3\) of the plan, got \(4, 5\)",
        ),
        (
            ResamplePlan((4, 5), "f4", scales=2),
            TypeError,
            "resample: `data` must have the dtype float32 of the plan, got float64",
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(np.arange(20.0).reshape(4, 5))


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ({"shape": (4, 4), "axes": (0, 1)}, {"shape": (4.0, 4), "axes": (0, 1)}),
        ({"shape": 4, "axes": (0, 1)}, {"shape": 4, "axes": (0, True)}),
        ({"shape": 4, "axes": 1}, {"shape": 4.0, "axes": 1}),
        ({"shape": 1, "axes": 1}, {"shape": True, "axes": 1}),
        ({"scales": 1, "axes": 1}, {"scales": True, "axes": 1}),
    ],
)
def test_what_was_called_before_decides_nothing(good, bad):
    data = np.zeros((8, 8, 3))
    for function in (resize, resample):
        function(data, **good)
        with pytest.raises(TypeError, match="must be"):
            function(data, **bad)


@pytest.mark.parametrize(
    ("shape", "error", "text"),
    [
        ((8, 8.0), TypeError, "resample: `data_shape` must be an integer, got 8.0"),
        ("88", TypeError, "resample: `data_shape` must be a sequence of integers, got str"),
        (8, TypeError, "resample: `data_shape` must be a sequence of integers, got int"),
        (np.zeros((2, 2)), TypeError, "resample: `data_shape` must be a sequence of integers, got ndarray"),
        ((8, -1), ValueError, r"resample: `data_shape` must have sizes of at least 0, got \(8, -1\)"),
    ],
)
def test_errors_of_plans(shape, error, text):
    with pytest.raises(error, match=text):
        ResamplePlan(shape, np.uint8, shape=4)


def test_a_failed_call_leaves_out_untouched():
    out = np.full((3, 3), 7.0)
    with pytest.raises(ValueError, match="scales"):
        resample(np.zeros((4, 5)), scales=0, out=out)
    assert (out == 7).all()


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda x: resize(x, 3, mode="nearest", antialias="onnx"),
            ValueError,
            "resize: `antialias` must be left at None for mode 'nearest' "
            r"\(it belongs to 'linear', 'cubic', 'box', 'lanczos3'\), got 'onnx'",
        ),
        (
            lambda x: resize(x, 3, mode="cubic", antialias="directml"),
            ValueError,
            "resize: `antialias` must be None, 'pillow' or 'onnx' for mode 'cubic' "
            r"\('directml' has only 'linear'\), got 'directml'",
        ),
        (
            lambda x: resample(x, shape=3, antialias=True),
            ValueError,
            "resample: `antialias` must be None or one of 'pillow', 'onnx', 'directml', got True "
            r"\(antialias=True of PyTorch, TensorFlow and JAX is 'pillow'\)",
        ),
        (
            lambda x: resample(x, shape=3, antialias=False),
            ValueError,
            r"resample: `antialias` must be .*, got False \(None is without\)",
        ),
        (
            lambda x: resize(x, 3, mode="cubic", cubic_coefficient=2000),
            ValueError,
            r"resize: `cubic_coefficient` must lie in \[-1024, 1024\], got 2000",
        ),
        (
            lambda x: resize(x, 3, mode="cubic", cubic_coefficient="a"),
            TypeError,
            "resize: `cubic_coefficient` must be a real number, got 'a' of type str",
        ),
        (
            lambda x: resize(x, 3, mode="cubic", exclude_outside=1),
            TypeError,
            "resize: `exclude_outside` must be True or False, got 1",
        ),
        (
            lambda x: resize(x, 3, roi=(0, 1)),
            ValueError,
            r"resize: `roi` must be None for coordinates 'half_pixel' "
            r"\(it belongs to 'tf_crop_and_resize'\), got \(0, 1\)",
        ),
        (
            lambda x: resize(x, 3, coordinates=CROP),
            TypeError,
            "resize: `roi` must be given for coordinates 'tf_crop_and_resize': two values, start and end, "
            r"from 0 \(first sample\) to 1 \(last\), got None",
        ),
        (
            lambda x: resize(np.zeros((2, 2)), 3, coordinates=CROP),
            TypeError,
            "resize: `roi` must be given for coordinates 'tf_crop_and_resize': two values for each of 2 "
            r"axes, first all starts, then all ends, from 0 \(first sample\) to 1 \(last\), got None",
        ),
        (
            lambda _: describe(CROP, 2, 3),
            TypeError,
            "describe: `roi` must be given for coordinates 'tf_crop_and_resize': two values, start and .*",
        ),
        (
            lambda x: resize(np.zeros((2, 2)), 3, coordinates=CROP, roi=(0, 1)),
            ValueError,
            "resize: `roi` must have two values for each of 2 axes, first all starts, .*, got 2 values",
        ),
        (
            lambda x: resize(x, 3, coordinates=CROP, roi=(0, 1, 2)),
            ValueError,
            "resize: `roi` must have two values, start and end, got 3 values",
        ),
        (
            lambda x: resize(x, 3, coordinates=CROP, roi=(0, np.inf)),
            ValueError,
            "resize: `roi` must be finite, got inf",
        ),
        (
            lambda x: resize(x.astype(np.uint8), 3, coordinates=CROP, roi=(0, 2), extrapolation_value=1.5),
            ValueError,
            "resize: `extrapolation_value` must be castable to uint8 without loss, got 1.5",
        ),
        (
            lambda x: resize(x.astype(np.uint8), 3, coordinates=CROP, roi=(0, 2), extrapolation_value=256),
            ValueError,
            "resize: `extrapolation_value` must be castable to uint8 without loss, got 256",
        ),
        (
            lambda x: resample(x, scales=1e-9, shape=1, antialias="onnx"),
            ValueError,
            "resample: `mode` must take at most 268435456 weights along an axis, "
            "got 1 samples of up to 2000000001 weights",
        ),
        (
            lambda x: resample(x, scales=F(1, 10**5000), shape=1, antialias="onnx"),
            ValueError,
            "resample: `mode` must take at most 268435456 weights along an axis, "
            "got 1 samples of up to about 2e.5000 [(]5001 digits[)] weights",
        ),
        (
            lambda x: resize(x > 1, 3, mode="cubic"),
            TypeError,
            r"resize: `data` must have a dtype that can be mixed \(mode='nearest' takes bool, 'majority' "
            r"too\), got bool",
        ),
        (lambda _: describe("half_pixel", 0, 3), ValueError, "describe: `n_in` must be at least 1, got 0"),
        (lambda _: describe("half_pixel", 2, 3, scale=0), ValueError, "describe: `scale` must be > 0, got 0"),
        (lambda _: describe("x", 1, 3), ValueError, "describe: `coordinates` must be one of .*, got 'x'"),
    ],
)
def test_errors_of_filters_and_crops(call, kind, text):
    with pytest.raises(kind, match=f"^{text}$"):
        call(np.arange(6.0))
