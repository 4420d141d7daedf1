"""The backend against the node tests of ONNX, and graphs of several nodes."""

from __future__ import annotations

import re
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
import onnx_models as models  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from remapnd import onnx as ronnx  # noqa: E402
from remapnd.onnx.operators import OPERATORS  # noqa: E402

INCLUDED = (
    r"^test_(gather|scatter|resize|upsample|shape|slice|concat|cast|constant(?!_pad)|constantofshape|identity"
    r"|squeeze|unsqueeze|reshape|transpose|add|sub|mul|div|floor|ceil)(nd|_|$)"
)

# Tests whose names fit though they are of others' operators.
OTHERS = r"^test_(concat|reshape|cast|identity)_(.*_sequence.*)|^test_(cast_.*like.*)"

# Tests that do not pass, for each resize rule: why.
FAILING: dict[str, dict[str, str]] = {
    "onnxruntime": {
        "test_resize_downsample_scales_linear_align_corners": "the reference takes scale * length = 2.4 for "
        "the length, where ONNX Runtime takes 2",
    },
    "onnx": {},
}
UNSUPPORTED: dict[str, str] = {
    r"test_cast_(no_saturate_)?\w*(FLOAT8|FLOAT4|INT4|UINT4|INT2|UINT2|STRING|e8m0)\w*": "casts of "
    "strings, of small floats and of integers below a byte are no part of computing sizes",
    r"test_identity_(sequence|opt)": "the backend knows tensors alone",
}


class Switched(ronnx.Backend):
    """The backend with the resize rule of the moment, as a node test gives no option."""

    rules: ClassVar[str] = "onnxruntime"

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> Any:
        return super().prepare(model, device, resize_rules=cls.rules, **kwargs)


@pytest.fixture(scope="module")
def node_tests() -> type[unittest.TestCase]:
    from onnx.backend.test import BackendTest

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # onnx makes the cases when it is imported, overflows included
        tests = BackendTest(Switched, __name__).include(INCLUDED)
    return tests.test_cases["OnnxBackendNodeModelTest"]


def names(case: type[unittest.TestCase]) -> list[str]:
    """The node tests that were included, for the CPU."""
    listed = unittest.defaultTestLoader.getTestCaseNames(case)
    skipped = {name for name in listed if getattr(getattr(case, name), "__unittest_skip__", False)}
    return [name.removesuffix("_cpu") for name in listed if name.endswith("_cpu") and name not in skipped]


def run(case: type[unittest.TestCase], listed: list[str]) -> dict[str, str]:
    """Run node tests; return the last line of what each that failed said."""
    result = unittest.TestResult()
    unittest.TestSuite(case(f"{name}_cpu") for name in listed).run(result)
    assert result.testsRun == len(listed)
    assert not result.skipped
    return {
        str(test).split()[0].removesuffix("_cpu"): text for test, text in [*result.failures, *result.errors]
    }


@pytest.mark.parametrize("rules", ["onnxruntime", "onnx"])
def test_node_tests(node_tests, rules, monkeypatch):
    monkeypatch.setattr(Switched, "rules", rules)
    listed = [name for name in names(node_tests) if not any(re.fullmatch(p, name) for p in UNSUPPORTED)]
    family = [name for name in listed if re.match("test_(gather|scatter|resize|upsample)", name)]
    assert len(family) >= 60
    failed = run(node_tests, listed)
    assert failed.keys() == FAILING[rules].keys(), failed


def test_node_tests_that_are_left_out_do_not_pass(node_tests):
    out = [name for name in names(node_tests) if any(re.fullmatch(p, name) for p in UNSUPPORTED)]
    failed = run(node_tests, out)
    assert failed.keys() == set(out)
    assert all("Error" in text for text in failed.values())
