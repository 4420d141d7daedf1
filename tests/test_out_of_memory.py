"""Tables that do not fit in memory: errors say what needs how much."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import remapnd
from remapnd.plans import adjoint

MEGABYTE = 1 << 20


@pytest.fixture
def limited():
    """Leave 100 MB to be allocated."""
    if sys.platform != "linux":
        pytest.skip("the size of a process is Linux's to tell and to limit")
    import resource

    limits = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as sizes:
        size = resource.getpagesize() * int(sizes.read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (size + 100 * MEGABYTE, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("mode", ["nearest", "majority", "linear", "cubic", "lanczos3"])
@pytest.mark.parametrize("n_in", [1, 4])
def test_tables_of_a_long_axis(mode, n_in):
    """The result has 32 megabytes, its table eight times as many."""
    n = 1 << 25
    text = (
        rf"resize: `shape` must give axes whose tables fit in memory, got {n} samples on axis 1, "
        rf"that is {8 * n} bytes or more$"
    )
    with pytest.raises(ValueError, match=text):
        remapnd.resize(np.zeros((1, n_in), "u1"), (1, n), mode=mode)


def test_tables_of_a_gradient(monkeypatch):
    plan = remapnd.ResamplePlan((5, 4), "f4", shape=(5, 9))

    def turn(*_, **__):
        raise MemoryError

    monkeypatch.setattr(adjoint, "transposed", turn)
    text = (
        "^resample: `shape` must give axes whose tables fit in memory, got 9 samples on axis 1, that is 72 "
    )
    with pytest.raises(ValueError, match=text):
        plan.vjp(np.ones((5, 9), "f4"))


@pytest.mark.usefixtures("limited")
def test_constant_indices():
    n = 1 << 26
    text = (
        r"^gather: `indices` must fit in memory as int64, in which they are analysed \(a call with `indices` "
        rf"needs no copy\), got {n} of them, that is {8 * n} bytes or more$"
    )
    with pytest.raises(ValueError, match=text):
        remapnd.GatherPlan((3,), "u1", indices=np.broadcast_to(np.uint8(1), n))
