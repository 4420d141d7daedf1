"""Options of resample and of its plans, of all kinds that Python and NumPy have."""

import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from remapnd import ResamplePlan, describe, gather, resample, resize, set_num_threads


def test_options_of_every_kind():
    """Arrays and NumPy's numbers are what they hold; True and 1.0 are no lengths, even after one with 1."""
    ramp = np.arange(6.0)
    want = [2.5]
    for one in (1, np.int8(1), np.array(1), np.array([1], np.uint8), [1], (np.int64(1),), range(1, 2)):
        assert resample(ramp, shape=one).tolist() == want
        assert ResamplePlan((6,), float, shape=one)(ramp).tolist() == want
    sixth = np.array(1 / 6)
    for scale in (sixth, sixth[()], [sixth[()]], np.array([1 / 6])):
        assert resample(ramp, scales=scale, shape=1).tolist() == want
        assert ResamplePlan((6,), float, scales=scale, shape=1)(ramp).tolist() == want
    assert resample(ramp, shape=1, axes=np.array(0)).tolist() == want
    for bad in (True, 1.0, (1.0,), [True], np.True_, np.array(1.0), {1}, {1: 1}, [[1]], np.array([[1]])):
        with pytest.raises(TypeError, match="resample: `shape` must be an integer, got "):
            resample(ramp, shape=bad)
    resample(ramp, scales=2, axes=0)
    with pytest.raises(
        TypeError, match=r"resample: `scales` must be a real number, got \(2\+0j\) of type complex"
    ):
        resample(ramp, scales=2 + 0j, axes=0)
    with pytest.raises(TypeError, match="resample: `axes` must be an integer, got False"):
        resample(ramp, scales=2, axes=False)
    with pytest.raises(ValueError, match="resample: `scales` must be finite, got sNaN"):
        resample(ramp, scales=Decimal("sNaN"))
    for option, what in (("mode", ["linear"]), ("nearest_rule", {}), ("integer_rule", set())):
        with pytest.raises(ValueError, match=f"resample: `{option}` must be one of "):
            resample(ramp, shape=1, **{option: what})


OTHERS = {
    "nearest_rule": ("floor", ("majority", "linear", "cubic", "box", "lanczos3"), "'half_up'"),
    "antialias": ("pillow", ("nearest", "majority"), "None"),
    "cubic_coefficient": (-0.5, ("nearest", "majority", "linear", "box", "lanczos3"), "-0.75"),
    "exclude_outside": (True, ("nearest", "majority"), "False"),
    "integer_rule": ("truncate", ("nearest", "majority"), "'half_up'"),
}


@pytest.mark.parametrize("option", OTHERS)
def test_an_option_that_cannot_matter_is_refused(option):
    value, modes, default = OTHERS[option]
    data = np.arange(6)
    for mode in modes:
        rule = f"`{option}` must be left at {default} for mode '{mode}' .it belongs to .*., got {value!r}"
        for make in (resample, resize):
            with pytest.raises(ValueError, match=f"^{make.__name__}: {rule}"):
                make(data, shape=3, mode=mode, **{option: value})
        with pytest.raises(ValueError, match=f"^resample: {rule}"):
            ResamplePlan((6,), int, shape=3, mode=mode, **{option: value})


def test_defaults_may_be_given_with_every_mode():
    """In all forms of their values: a caller that passes them on need not know which belong to a mode."""
    data, want = np.arange(6), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    for coefficient in (-0.75, Fraction(-3, 4), np.float32(-0.75), Decimal("-0.75")):
        options = {"cubic_coefficient": coefficient, "exclude_outside": np.False_, "antialias": None}
        options |= {"integer_rule": np.str_("half_up"), "extrapolation_value": np.float64(-0.0)}
        assert resize(data, 12, mode="nearest", **options).tolist() == want
        del options["extrapolation_value"]
        assert ResamplePlan((6,), int, shape=12, mode="nearest", **options)(data).tolist() == want


@pytest.mark.parametrize("value", [1, np.nan, None, "0", np.datetime64("2020"), [0]])
def test_an_extrapolation_value_belongs_to_its_coordinates(value):
    rule = r"left at 0 for coordinates 'half_pixel' \(it belongs to 'tf_crop_and_resize'\), got "
    for _ in range(2):
        with pytest.raises(ValueError, match=f"^resize: `extrapolation_value` must be {rule}"):
            resize(np.arange(6.0), 12, extrapolation_value=value)


def test_items_of_no_bytes():
    assert resample(np.zeros(3, "V0"), shape=5, mode="nearest").shape == (5,)


@pytest.mark.parametrize("make", [ResamplePlan, ResamplePlan.resized])
@pytest.mark.parametrize(
    ("shape", "error", "text"),
    [
        (5, TypeError, "`data_shape` must be a sequence of integers, got int"),
        ((5.0,), TypeError, "`data_shape` must be an integer, got 5.0"),
        ((True,), TypeError, "`data_shape` must be an integer, got True"),
        ((-5,), ValueError, r"`data_shape` must have sizes of at least 0, got \(-5,\)"),
        ((2**63,), ValueError, f"`data_shape` must have sizes of at most {2**63 - 1}, got "),
    ],
)
def test_plan_refuses_shapes(make, shape, error, text):
    with pytest.raises(error, match=text):
        make(shape, float, shape=3)


def test_too_many_axes():
    with pytest.raises(
        ValueError, match="resize: `axes` must name at most 16 axes along which anything changes"
    ):
        resize(np.zeros((1,) * 25), (2,) * 25)


@pytest.mark.skipif(not hasattr(sys, "get_int_max_str_digits"), reason="this Python writes every integer")
def test_numbers_of_more_digits_than_python_writes():
    huge, ramp = 10**5000, np.arange(6)
    for call in (
        lambda: resample(ramp, scales=huge),
        lambda: resample(ramp, shape=huge),
        lambda: ResamplePlan((6,), float, shape=3).region(slice(0, 3, huge)),
    ):
        with pytest.raises(ValueError, match=r": `\w+` must .*, got a number of more than \d+ digits"):
            call()
    for call in (
        lambda: resample(ramp, scales=-huge),
        lambda: resample(ramp, shape=3, axes=huge),
        lambda: gather(ramp, [0], axis=huge),
        lambda: gather(ramp, [9], bounds="fill", fill_value=huge),
        lambda: gather(ramp * 1.0, [9], bounds="fill", fill_value=huge),
        lambda: set_num_threads(huge),
    ):
        with pytest.raises(ValueError, match=r": `\w+` must .*, got about -?1e\+5000 \(5001 digits\)$"):
            call()
    with pytest.raises(
        ValueError, match=r": `scales` must be > 0, got about -1.42857e\+4999 \(5001 digits over 1\)$"
    ):
        resample(ramp, scales=Fraction(-huge, 7))
    plan = ResamplePlan((6,), float, shape=3, input_offsets=Fraction(1, huge))
    start = "about 1 (5000 digits over 5001)"
    assert plan.explain().splitlines()[1].startswith(f"axis 0: 6 -> 3, x = {start} + X * 2, weights are mult")
    assert repr(plan.maps) == f"(AxisMap(start={start}, step=Fraction(2, 1)),)"
    start = "about 1e-5000 (1 digits over 5001)"
    assert start in describe("tf_crop_and_resize", 8, 4, roi=(Fraction(1, 7 * huge), 1))


def test_recent_calls_are_told_apart_by_type_and_value():
    data = np.arange(16, dtype=np.float32).reshape(4, 4)
    expected = resize(data, (8, 8)).copy()
    for _ in range(3):
        assert np.array_equal(resize(data, (8, 8)), expected)
    with pytest.raises(TypeError, match="`shape`"):
        resize(data, (8.0, 8.0))
    sizes = [8, 8]
    assert resize(data, sizes).shape == (8, 8)
    sizes[0] = 6
    assert resize(data, sizes).shape == (6, 8)
    assert resize(data.astype(np.float64), (8, 8)).dtype == np.float64
    assert resize(data, (8, 8), mode="nearest").tolist() != expected.tolist()
    out = np.empty((8, 16), np.float32)[:, ::2]
    assert resize(data, (8, 8), out=out) is out
    assert np.array_equal(out, expected)
    with pytest.raises(ValueError, match="overlap"):
        resize(data, (4, 4), scales=1.5, out=data)


H = {
    "linear": (1, lambda t: 1 - abs(t)),
    "box": (Fraction(1, 2), lambda t: int(t != Fraction(-1, 2))),  # of both ends the upper
    "cubic": (
        2,
        lambda t: (
            (5 * abs(t) ** 3 - 9 * t * t) / 4 + 1
            if abs(t) <= 1
            else -3 * (abs(t) ** 3 - 5 * t * t + 8 * abs(t) - 4) / 4
        ),
    ),
}


@pytest.mark.parametrize("antialias", [None, "onnx"])
@pytest.mark.parametrize("mode", H)
@pytest.mark.parametrize("shape", [3, 5, 7, 16, 40])
def test_exclude_outside_drops_taps_and_divides_by_what_is_left(mode, shape, antialias):
    """As ONNX says: weights outside are 0, the others add up to 1; rows of the identity show the weights."""
    n, one = 7, 10**9
    options = {"shape": shape, "axes": 0, "mode": mode, "antialias": antialias}
    plan = ResamplePlan((n, n), "i8", **options, exclude_outside=True)
    stretch = max(1, Fraction(n, shape)) if antialias else 1
    support, kernel = H[mode]
    want = np.zeros((shape, n), np.int64)
    for row, x in zip(want, plan.maps[0].positions(shape), strict=True):
        inside = {k: (k - x) / stretch for k in range(n) if abs(k - x) <= support * stretch}
        weights = {k: kernel(t) for k, t in inside.items()}
        for k, w in weights.items():
            row[k] = math.floor(one * w / sum(weights.values()) + Fraction(1, 2))
    identity = one * np.eye(n, dtype="i8")
    assert_array_equal(plan(identity), want)
    if mode != "cubic" and antialias is None:  # the edge sample is all that is left
        assert_array_equal(resample(identity, **options), want)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
def test_integer_rules_change_nothing_on_floats(dtype):
    data = (np.arange(24).reshape(4, 6) / 7).astype(dtype)
    rules = ("half_up", "half_even", "truncate")
    first, *others = (resample(data, shape=(9, 3), mode="cubic", integer_rule=rule) for rule in rules)
    for other in others:
        assert_array_equal(other, first, strict=True)


def test_plan_of_scales_alone():
    plan = ResamplePlan.resized((10, 4), "u1", scales=0.5)
    assert plan.output_shape == (5, 2)
    assert plan == ResamplePlan.resized((10, 4), "u1", None, scales=0.5)
    with pytest.raises(ValueError, match=r"^resize: `shape` or `scales` must be given, got neither$"):
        ResamplePlan.resized((10, 4), "u1")
