"""The examples in README.md and in docstrings say what is so."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import remapnd

MODULES = [
    m.name for m in pkgutil.walk_packages(remapnd.__path__, "remapnd.") if m.name != "remapnd.__main__"
]


def test_readme():
    readme = Path(__file__).parent.parent / "README.md"
    failed, tried = doctest.testfile(str(readme), module_relative=False)
    assert tried > 10
    assert failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if name.startswith("remapnd.onnx"):
        pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", [name for name in remapnd.__all__ if name != "__version__"])
def test_public_names_tell_their_parameters(name):
    thing = getattr(remapnd, name)
    assert thing.__doc__
    for parameter in inspect.signature(thing).parameters:
        assert parameter in thing.__doc__, parameter
