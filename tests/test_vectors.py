"""The comparison with conformance vectors itself."""

import re

import numpy as np
import pytest
import vectors


def tensor(dtype, *data):
    return {"dtype": dtype, "shape": [len(data)], "data": list(data)}


def test_array_of_each_kind():
    floats = vectors.array(tensor("float16", "NaN", "Infinity", "-Infinity", 0.1))
    np.testing.assert_array_equal(floats, np.array([np.nan, np.inf, -np.inf, 0.1], np.float16), strict=True)
    large = vectors.array(tensor("int64", 2**63 - 1, -(2**63)))
    assert (large.dtype, large.tolist()) == (np.int64, [2**63 - 1, -(2**63)])
    assert vectors.array({"dtype": "string", "shape": [], "data": ["abc"]}).tolist() == "abc"
    assert vectors.array({"dtype": "int8", "shape": [2, 3], "data": None}).shape == (2, 3)


@pytest.mark.parametrize(
    ("got", "want", "text"),
    [
        (
            np.zeros(1, np.float32),
            tensor("float64", 0.0),
            r"float32 \(1,\) where the source has float64 \(1,\)",
        ),
        (np.zeros((1, 1)), tensor("float64", 0.0), r"float64 \(1, 1\) where the source has float64 \(1,\)"),
        (np.array(["a", "b"]), tensor("string", "a", "bc"), r"b where the source has bc at \(1,\); 1 of 2"),
        (
            np.array([2**53 + 1]),
            tensor("int64", 2**53),
            "9007199254740993 where the source has 90071992547409",
        ),
        (np.array([np.nan]), tensor("float64", 1.0), "nan where the source has 1.0"),
        (np.array([1.0]), tensor("float64", "NaN"), "1.0 where the source has nan"),
    ],
)
def test_disagreement(got, want, text):
    assert re.search(text, vectors.disagreement(got, want, None))


def test_agreement():
    assert vectors.disagreement(np.array(["a", "bc"]), tensor("string", "a", "bc"), None) == ""
    odd = np.array([np.nan, np.inf, -np.inf, -0.0])
    assert vectors.disagreement(odd, tensor("float64", "NaN", "Infinity", "-Infinity", 0.0), None) == ""
    only_shape = {"dtype": "int8", "shape": [2], "data": None}
    assert vectors.disagreement(np.ones(2, np.int8), only_shape, None) == ""
    where = np.array([True, False])
    assert vectors.disagreement(np.array([1, 2]), tensor("int64", 1, 3), None, where) == ""


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("start", [1.0, -1.0, 0.0, 3.3])
def test_distance_in_ulp(dtype, start):
    want = tensor(np.dtype(dtype).name, start)
    for to in (np.inf, -np.inf):
        got = vectors.array(want)
        for _ in range(3):
            got = np.nextafter(got, dtype(to))
        assert vectors.disagreement(got, want, {"ulp": 3}) == ""
        assert vectors.disagreement(got, want, {"ulp": 2}) != ""


def test_tolerances_add_up_and_do_not_reach_infinity():
    want = tensor("float64", 10.0)
    assert vectors.disagreement(np.array([11.5]), want, {"rtol": 0.1, "atol": 0.5}) == ""
    assert vectors.disagreement(np.array([11.6]), want, {"rtol": 0.1, "atol": 0.5}) != ""
    infinite = tensor("float32", "Infinity")
    largest = np.array([np.finfo(np.float32).max])
    assert vectors.disagreement(largest, infinite, {"ulp": 1}) != ""
    assert vectors.disagreement(largest, infinite, {"rtol": 1, "atol": 1}) != ""
