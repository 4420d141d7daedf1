"""Command lines of `remapnd resize`, and what they leave; for the tests of it."""

from __future__ import annotations

import os

import numpy as np
import pytest
from PIL import Image

from remapnd.cli import main


def run(*args: str) -> int:
    return main(["resize", *args])


def refused(capsys: pytest.CaptureFixture[str], status: int, *args: str) -> str:
    """Run a command line that fails; return its one line, and look that nothing but inputs is left."""
    before = sorted(os.listdir())
    assert run(*args) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("remapnd resize: error: ")
    assert sorted(os.listdir()) == before
    return err.removeprefix("remapnd resize: error: ").rstrip("\n")


def pixels(name: str) -> np.ndarray:
    with Image.open(name) as image:
        return np.asarray(image)
