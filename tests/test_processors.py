"""How many processors a process may use: made-up control groups of both versions."""

import os

import pytest

from remapnd import _core


def written(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return _core.quota(str(root / "groups"), str(root))


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"cpu.max": "max 100000\n", "a/cpu.max": "150000 100000\n", "a/b/cpu.max": "max 100000\n"}, 2),
        ({"a/cpu.max": "300000 100000\n", "a/b/cpu.max": "20000 100000\n"}, 1),
        ({"cpu.max": "400000 100000\n"}, 4),
        ({"a/b/cpu.max": "max 100000\n"}, 0),
        ({"a/b/cpu.max": ""}, 0),
        ({"a/b/cpu.max": "-5 100000\n"}, 0),
        ({"a/b/cpu.max": "100000 0\n"}, 0),
        ({"a/b/cpu.max": "9" * 30 + " 1\n"}, 10**6),
        ({"other/cpu.max": "100000 100000\n"}, 0),
        ({}, 0),
    ],
)
def test_version_2(tmp_path, limits, expected):
    """The least limit of the group and of those above it, rounded up."""
    assert written(tmp_path, {"groups": "0::/a/b\n", **limits}) == expected


@pytest.mark.parametrize("directory", ["cpu,cpuacct", "cpu"])
@pytest.mark.parametrize(
    ("place", "quota", "expected"), [("/x/y", 250000, 3), ("/x", 100000, 1), ("", 50000, 1), ("/x", -1, 0)]
)
def test_version_1(tmp_path, directory, place, quota, expected):
    files = {
        "groups": "5:memory:/m\n4:cpu,cpuacct:/x/y\n0::/z\n",
        f"{directory}{place}/cpu.cfs_quota_us": f"{quota}\n",
        f"{directory}{place}/cpu.cfs_period_us": "100000\n",
        "memory/m/cpu.max": "100000 100000\n",
    }
    assert written(tmp_path, files) == expected


@pytest.mark.parametrize("text", ["", "nonsense\n", "0:\n", "0::relative\n", ":::\n"])
def test_without_groups_there_is_no_limit(tmp_path, text):
    assert written(tmp_path, {"groups": text, "relative/cpu.max": "1 1\n"}) == 0


def test_no_file():
    assert _core.quota("/nonexistent/groups", "/nonexistent") == 0


def test_usable_processors():
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    assert 1 <= _core.usable_processors() <= most
