"""The examples in README.md, in docs and in docstrings say what is so."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import remapnd

MODULES = [
    "remapnd",
    *(m.name for m in pkgutil.walk_packages(remapnd.__path__, "remapnd.") if m.name != "remapnd.__main__"),
]


ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if ">>>" in page.read_text("utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page):
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried > (10 if page.name == "README.md" else 0)
    assert failed == 0


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *(ROOT / "docs").glob("*.md")], ids=lambda page: page.name
)
def test_links_within_the_project_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if name.startswith("remapnd.onnx"):
        pytest.importorskip("onnx", reason="the extra remapnd[onnx] is not installed")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", remapnd.__all__)
def test_the_overview_names_everything_public(name):
    assert name == "__version__" or re.search(rf"`{name}\W", remapnd.__doc__)


@pytest.mark.parametrize("name", [name for name in remapnd.__all__ if name != "__version__"])
def test_public_names_tell_their_parameters(name):
    thing = getattr(remapnd, name)
    assert thing.__doc__
    for parameter in inspect.signature(thing).parameters:
        assert parameter in thing.__doc__, parameter
