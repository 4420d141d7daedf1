"""`remapnd resize`: arrays in files: sizes, axes, dtypes, .npz, large files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tracemalloc
import zipfile
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from cli_resize import refused, run
from numpy.testing import assert_array_equal

from remapnd import ResamplePlan, resize
from remapnd.cli.slabs import slabs


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data():
    array = np.random.default_rng(1).integers(0, 256, (6, 8, 3), np.uint8)
    np.save("in.npy", array)
    return array


@pytest.mark.parametrize("mode", ["linear", "nearest", "majority"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--shape 3x4", {"shape": (3, 4), "axes": (0, 1)}),
        ("--shape 12X5x2", {"shape": (12, 5, 2), "axes": (0, 1, 2)}),
        ("--shape 9", {"shape": 9}),
        ("--shape 9 --axes 0,2", {"shape": 9, "axes": (0, 2)}),
        ("--shape 9 --axes 2", {"shape": (9,), "axes": (2,)}),
        ("--shape 9x2 --axes=-1,-3", {"shape": (9, 2), "axes": (-1, -3)}),
        ("--shape 9x2 --axes -1,-3", {"shape": (9, 2), "axes": (-1, -3)}),
        ("--shape 9 --axes -2", {"shape": 9, "axes": -2}),
        ("--scale 0.4", {"scales": Fraction(2, 5)}),
        ("--scale 1/3x1.5", {"scales": (Fraction(1, 3), 1.5), "axes": (0, 1)}),
        ("--scale 2 --axes 0,1,2", {"scales": 2, "axes": (0, 1, 2)}),
        ("--scale 1e1x.25x2. --axes 1,0,2", {"scales": (10, 0.25, 2), "axes": (1, 0, 2)}),
    ],
)
def test_npy(data, mode, options, expected):
    assert run("in.npy", "out.npy", "--mode", mode, *options.split()) == 0
    right = resize(
        data, expected.get("shape"), mode=mode, **{k: v for k, v in expected.items() if k != "shape"}
    )
    assert_array_equal(np.load("out.npy"), right, strict=True)


def test_success_is_one_line(data, capsys):
    assert run("in.npy", "out.npy", "--scale", "0.5") == 0
    assert capsys.readouterr().out == "out.npy: uint8 (6, 8, 3) -> (3, 4, 1), linear, antialias none\n"
    assert run("in.npy", "out.png", "--shape", "12x9", "--mode", "cubic") == 0
    assert capsys.readouterr() == ("out.png: uint8 (6, 8, 3) -> (12, 9, 3), cubic\n", "")
    assert run("in.npy", "out.npy", "--scale", "3x0.4", "--antialias", "onnx") == 0
    assert capsys.readouterr().out.endswith("-> (18, 3, 3), linear, antialias onnx, axes 0, 1\n")
    assert run("in.npy", "out.npy", "--shape", "2", "--mode", "nearest") == 0
    assert capsys.readouterr().out.endswith("-> (2, 2, 2), nearest\n")


@pytest.mark.parametrize(
    ("shape", "options", "axis", "left"),
    [
        ((24, 32, 3), "--scale 1/2", "axis 2 has 3 samples: a color axis?", "0,1"),
        ((3, 24, 32), "--scale 1/2", "axis 0 has 3 samples: a color axis?", "1,2"),
        ((3, 24, 32), "--shape 10x10", "axis 0 has 3 samples: a color axis?", "1,2"),
        ((24, 32, 1), "--scale 2", "axis 2 has 1 sample: a batch or color axis?", "0,1"),
    ],
)
def test_an_axis_that_may_be_of_colors_is_told(capsys, shape, options, axis, left):
    np.save("in.npy", np.zeros(shape, np.uint8))
    assert run("in.npy", "out.npy", *options.split()) == 0
    note = f"remapnd resize: note: in.npy: {axis} --axes {left} leaves it alone\n"
    assert capsys.readouterr().err == note
    assert run("in.npy", "out.npy", "--axes", left, *options.split()) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((24, 32, 5), "--scale 1/2"),
        ((24, 3), "--scale 2"),
        ((2, 2, 2), "--scale 2"),
        ((24, 32, 3), "--shape 12x16"),
        ((24, 32, 3), "--scale 1"),
    ],
)
def test_no_other_axis_is_told(capsys, shape, options):
    np.save("in.npy", np.zeros(shape, np.uint8))
    assert run("in.npy", "out.npy", *options.split()) == 0
    assert capsys.readouterr().err == ""


def test_scale_is_taken_as_written():
    """The float 0.7 is below 7/10, so that 10 * 0.7 as floats, floored exactly, would give 6."""
    assert int(Fraction(0.7) * 10) == 6
    np.save("in.npy", np.arange(10.0))
    assert run("in.npy", "out.npy", "--scale", "0.7") == 0
    assert np.load("out.npy").shape == (7,)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--coordinates align_corners", {"coordinates": "align_corners"}),
        ("--integer-rule truncate", {"integer_rule": "truncate"}),
        ("--mode nearest --nearest-rule ceil", {"mode": "nearest", "nearest_rule": "ceil"}),
        ("--mode box --antialias pillow", {"mode": "box", "antialias": "pillow"}),
        ("--mode lanczos3 --antialias onnx", {"mode": "lanczos3", "antialias": "onnx"}),
        ("--mode lanczos3 --antialias none", {"mode": "lanczos3"}),
        ("--antialias directml", {"antialias": "directml"}),
        ("--antialias auto", {}),
        ("--mode cubic --cubic-coefficient -1/2", {"mode": "cubic", "cubic_coefficient": -0.5}),
        ("--mode cubic --cubic-coefficient -.6", {"mode": "cubic", "cubic_coefficient": Fraction(-3, 5)}),
        ("--mode cubic --exclude-outside", {"mode": "cubic", "exclude_outside": True}),
        (
            "--coordinates tf_crop_and_resize --roi -1/4,0,.5,1.5 --extrapolation-value 7",
            {
                "coordinates": "tf_crop_and_resize",
                "roi": (-0.25, 0, 0.5, 1.5),
                "extrapolation_value": 7,
            },
        ),
    ],
)
def test_options_are_passed_on(data, options, expected):
    assert run("in.npy", "out.npy", "--shape", "3x3", *options.split()) == 0
    assert_array_equal(np.load("out.npy"), resize(data, (3, 3), axes=(0, 1), **expected), strict=True)


@pytest.mark.parametrize(
    ("text", "value"), [("-1", -1), ("-inf", -np.inf), ("nan", np.nan), ("-2.5e3", -2500.0)]
)
def test_extrapolation_values(text, value):
    np.save("in.npy", np.arange(4, dtype=np.float32))
    where = ["--coordinates", "tf_crop_and_resize", "--roi", "-1,2"]
    assert run("in.npy", "out.npy", "--shape", "7", *where, "--extrapolation-value", text) == 0
    assert_array_equal(np.load("out.npy")[[0, -1]], np.float32([value, value]), strict=True)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=">i2").reshape(3, 4),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.array([b"ab", b"cd"]),
        np.zeros(3, [("a", "u1"), ("b", "f8")]),
        np.array([0, 5], "M8[D]"),
        np.array([True, False]),
    ],
)
def test_npy_of_every_dtype_and_order(array):
    np.save("in.npy", array)
    assert run("in.npy", "out.npy", "--shape", "6", "--axes", "0", "--mode", "nearest") == 0
    assert_array_equal(np.load("out.npy"), np.repeat(array, 6 // len(array), 0), strict=True)


def test_npy_with_an_empty_axis():
    np.save("in.npy", np.empty((4, 0), np.float32))
    assert run("in.npy", "out.npy", "--shape", "7", "--axes", "0") == 0
    assert np.load("out.npy").shape == (7, 0)


def test_in_place(data):
    assert run("in.npy", "in.npy", "--shape", "3x4") == 0
    assert_array_equal(np.load("in.npy"), resize(data, (3, 4), axes=(0, 1)), strict=True)
    assert os.listdir() == ["in.npy"]


def test_npz(data, capsys):
    labels = np.arange(48, dtype=np.uint16).reshape(6, 8)
    np.savez("in.npz", image=data, labels=labels)
    assert run("in.npz", "out.npz", "--key", "labels", "--shape", "3x4", "--mode", "nearest") == 0
    with np.load("out.npz") as archive:
        assert archive.files == ["labels"]
        assert_array_equal(archive["labels"], resize(labels, (3, 4), mode="nearest"), strict=True)
    assert run("out.npz", "out.npy", "--shape", "6x8") == 0  # the only one needs no name
    assert np.load("out.npy").dtype == np.uint16
    capsys.readouterr()
    line = refused(capsys, 1, "in.npz", "o.npy", "--shape", "3")
    assert line == "cannot read in.npz: --key must say which array is meant, one of: image, labels"
    line = refused(capsys, 1, "in.npz", "o.npy", "--shape", "3", "--key", "x")
    assert line == "cannot read in.npz: --key must be one of image, labels, got 'x'"


def test_npz_is_written_the_same_each_time_with_any_name(data):
    names = ["file", "allow_pickle", "a/é"]
    with zipfile.ZipFile("in.npz", "w") as archive:
        for name in names:
            archive.write("in.npy", f"{name}.npy")
    for name in names:
        for out in ("1.npz", "2.npz"):
            assert run("in.npz", out, "--key", name, "--shape", "3x4") == 0
        assert Path("1.npz").read_bytes() == Path("2.npz").read_bytes()
        with np.load("1.npz") as archive:
            assert archive.files == [name]
    assert run("in.npy", "out.npz", "--shape", "3x4") == 0
    with np.load("out.npz") as archive:
        assert archive.files == ["arr_0"]


@pytest.mark.parametrize("dtype", ["u1", ">i2", "i8", "f4", "c8", "M8[s]", "S3"])
@pytest.mark.parametrize(
    "options",
    [
        "--scale 2/3x1x3/2 --mode linear",
        "--scale 3/2x1x1/2 --mode cubic --exclude-outside",
        "--shape 1x1x40 --mode box --antialias pillow",
        "--scale 2 --axes 2 --mode nearest",
    ],
)
def test_parts_have_the_bits_of_the_whole(monkeypatch, dtype, options):
    rng = np.random.default_rng(4)
    array = rng.integers(0, 200, (9, 1, 7), np.int64).astype(dtype)
    if array.dtype.kind in "MS":
        options = options.partition(" --mode")[0] + " --mode nearest"
    np.save("in.npy", array)
    assert run("in.npy", "whole.npy", *options.split()) == 0
    for size in (1, 100):
        monkeypatch.setattr("remapnd.cli.resize.SLAB", -1)
        monkeypatch.setattr("remapnd.cli.slabs.slabs.__defaults__", (size,))
        assert run("in.npy", "parts.npy", *options.split()) == 0
        assert Path("parts.npy").read_bytes() == Path("whole.npy").read_bytes()


def test_a_large_file_needs_little_memory(monkeypatch):
    """Slabs of half a megabyte out of 24: what is held at once is a few of them."""
    np.save("in.npy", np.arange(3 << 20, dtype=np.float64).reshape(768, 64, 64))
    plan = ResamplePlan.resized((768, 64, 64), np.float64, None, scales=Fraction(1, 2))
    data = np.load("in.npy", mmap_mode="r")
    tracemalloc.start()
    total = sum(part.nbytes for part in slabs(plan, data, 1 << 19))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 384 * 32 * 32 * 8
    assert peak < 1 << 20


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps"), reason="needs Linux, to count mapped pages")
def test_pages_of_a_large_file_are_given_back():
    np.save("in.npy", np.ones((768, 64, 64)))
    plan = ResamplePlan.resized((768, 64, 64), np.float64, None, scales=Fraction(1, 2))
    data = np.load("in.npy", mmap_mode="r")

    def resident() -> int:
        _, _, after = (
            Path("/proc/self/smaps").read_text(encoding="utf-8").partition(os.path.abspath("in.npy"))
        )
        found = re.search(r"^Rss:\s+(\d+) kB", after, re.MULTILINE)
        assert found is not None
        return int(found[1])

    assert data.sum() == 768 * 64 * 64
    assert resident() > 24_000
    for part in slabs(plan, data, 1 << 19):
        assert (part == 1).all()
        assert resident() == 0


class _Bar:
    """What tqdm.tqdm is to `progress`."""

    made: ClassVar[list[_Bar]] = []

    def __init__(self, **options):
        self.options, self.done, self.open = options, 0, False
        self.made.append(self)

    def __enter__(self):
        self.open = True
        return self

    def __exit__(self, *_):
        self.open = False

    def update(self, n):
        assert self.open
        self.done += n


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("installed", [True, False])
def test_progress(data, monkeypatch, capsys, terminal, installed):
    """A bar is shown on a terminal alone, and only if tqdm is there."""
    monkeypatch.setattr("remapnd.cli.resize.SLAB", 0)
    monkeypatch.setattr("remapnd.cli.slabs.slabs.__defaults__", (10,))
    monkeypatch.setattr(_Bar, "made", [])
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(tqdm=_Bar) if installed else None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert run("in.npy", "out.npy", "--shape", "5x8x3") == 0
    assert capsys.readouterr().err == ""
    assert [(bar.options["total"], bar.done, bar.open) for bar in _Bar.made] == (
        [(120, 120, False)] if terminal and installed else []
    )


def test_process(tmp_path):
    np.save("in.npy", np.arange(4.0))
    command = [sys.executable, "-m", "remapnd", "resize", tmp_path / "in.npy", tmp_path / "out.npy"]
    options = {"cwd": Path(__file__).parent.parent, "text": True, "capture_output": True}
    done = subprocess.run([*command, "--shape", "2"], check=False, **options)
    line = f"{tmp_path / 'out.npy'}: float64 (4,) -> (2,), linear, antialias none\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, line, "")
    assert np.load("out.npy").tolist() == [0.5, 2.5]
    done = subprocess.run([*command, "--shape", "0"], check=False, **options)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
