"""`remapnd explain`: exact tables, drawings, and one line for everything that is wrong."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remapnd import resize
from remapnd.cli import main
from remapnd.cli.drawing import Row, draw

MODES = [
    {"mode": "linear"},
    {"mode": "cubic"},
    {"mode": "cubic", "cubic_coefficient": "-1/2", "exclude_outside": True},
    {"mode": "box", "antialias": "onnx"},
    {"mode": "lanczos3"},
    {"mode": "linear", "antialias": "pillow"},
    {"mode": "linear", "antialias": "directml"},
    {"mode": "nearest", "nearest_rule": "half_down"},
    {"mode": "nearest", "nearest_rule": "ceil"},
]
COORDINATES = ["half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric", "pytorch_half_pixel"]
COORDINATES += ["tf_half_pixel_for_nn", "tf_crop_and_resize"]


def run(*args: str) -> int:
    return main(["explain", *args])


def shown(capsys, options: str) -> str:
    assert run(*options.split()) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert all(line == line.rstrip() for line in out.splitlines())
    return out


ANTIALIASED = """\
8 -> 3 samples, linear, antialias pillow, half_pixel
  position x = (X + 1/2) / s - 1/2
           with s = 3/8: x = 5/6 + X * 8/3
  weight   of sample k: h((k - x) / r) with r = 8/3, divided by the sum of all
           h(t) = 1 - |t| for |t| < 1
  edges    taps outside are dropped

  X  position x            sample  weight
  0  5/6         0.833333  0       11/38   0.289474
                           1       15/38   0.394737
                           2       9/38    0.236842
                           3       3/38    0.0789474
  outputs 0 to 0 of 0 to 2; --rows shows others

  outputs          0
  inputs      0     1     2     3     4     5     6     7
  X = 0      ▆▆▆▆  ████  ▅▅▅▅  ▂▂▂▂   .     .     .     .

  out[0] = (11 in[0] + 15 in[1] + 9 in[2] + 3 in[3]) / 38
"""


def test_what_is_printed(capsys):
    """Distances 5/6, 1/6, 7/6, 13/6 over 8/3 leave 11, 15, 9, 3 sixteenths."""
    assert shown(capsys, "--in 8 --out 3 --antialias pillow --rows 1") == ANTIALIASED


@given(st.integers(1, 12), st.integers(1, 12), st.sampled_from(MODES), st.sampled_from(COORDINATES))
@settings(max_examples=60)
def test_weights_are_those_of_resize(n_in, n_out, options, coordinates):
    """Resizing the identity matrix gives them."""
    args = ["--in", str(n_in), "--out", str(n_out), "--rows", ":", "--coordinates", coordinates, "--json"]
    for name, value in options.items():
        args.append(f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}"))
    keywords = {name: Fraction(v) if name == "cubic_coefficient" else v for name, v in options.items()}
    if coordinates == "tf_crop_and_resize":
        args.append("--roi=-1/3,1.25")
        keywords["roi"] = (Fraction(-1, 3), 1.25)
    lines: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("remapnd.cli.explain.say", lines.append)
        assert run(*args) == 0
    outputs = json.loads("\n".join(lines))["outputs"]
    assert [row["output"] for row in outputs] == list(range(n_out))
    matrix = np.zeros((n_out, n_in))
    for row in outputs:
        weights = [Fraction(tap["weight"]) for tap in row["taps"]]
        assert sum(weights) == (1 if weights else 0)
        for tap, weight in zip(row["taps"], weights, strict=True):
            matrix[row["output"], tap["sample"]] = weight
            assert tap["weight_decimal"] == float(weight)
    right = resize(np.eye(n_in), n_out, axes=0, coordinates=coordinates, **keywords)
    np.testing.assert_allclose(matrix, right, rtol=0, atol=1e-15)


def test_json(capsys):
    got = json.loads(shown(capsys, "--in 4 --scale 1/2 --mode cubic --rows -1: --json"))
    assert {name: got[name] for name in got if name != "outputs"} == {
        "in": 4,
        "out": 2,
        "scale": "1/2",
        "mode": "cubic",
        "coordinates": "half_pixel",
        "antialias": None,
        "nearest_rule": None,
        "position": {"start": "1/2", "step": "2"},
        "filter": {"kernel": "cubic", "stretch": "1", "outside": "clamp", "cubic_coefficient": "-3/4"},
    }
    [row] = got["outputs"]
    assert (row["output"], row["position"], row["position_decimal"]) == (1, "5/2", 2.5)
    assert [tap["weight"] for tap in row["taps"]] == ["-3/32", "19/32", "1/2"]


def test_nearest(capsys):
    text = shown(capsys, "--in 20 --out 6 --mode nearest --nearest-rule floor --rows 1:2")
    assert "sample   floor(x) (floor), at least 0 and at most 19\n" in text
    assert "\n  1  9/2         4.5  4       1       1\n" in text
    assert text.endswith("\n  out[1] = in[4]\n")


def test_majority(capsys):
    text = shown(capsys, "--in 3 --out 9 --mode majority --rows 2:3")
    assert "\n  output   the label whose weights add up highest over all axes, of equal ones" in text
    assert text.endswith("\n  out[2] = majority of 2/3 for in[0], 1/3 for in[1]\n")
    assert "weight   of sample k: h(k - x)\n" in text


def test_outside_of_a_crop(capsys):
    text = shown(capsys, "--in 4 --out 3 --coordinates tf_crop_and_resize --roi -1,1 --mode nearest")
    assert "with n = 4, m = 3, A and B those of --roi: x = -3 + X * 3\n" in text
    assert "\n  0  -3          -3  -       outside\n" in text
    assert "out[0] = the extrapolation value\n" in text
    assert "out[2] = in[3]\n" in text


def test_nothing_but_outside(capsys):
    text = shown(capsys, "--in 4 --out 2 --coordinates tf_crop_and_resize --roi 5,6")
    assert "\n  0  15          15  -       outside\n" in text
    assert text.endswith("\n  out[1] = the extrapolation value\n")


@pytest.mark.parametrize(
    ("options", "formula"),
    [
        ("--in 3 --out 6 --mode cubic --rows 1:2", "out[1] = (198 in[0] + 67 in[1] - 9 in[2]) / 256"),
        ("--in 2 --out 1", "out[0] = (in[0] + in[1]) / 2"),
        ("--in 9 --out 1 --antialias onnx --mode box", "in[4] + in[5] + ...) / 9"),
        ("--in 4 --out 2 --mode lanczos3 --rows 1", "out[0] = 0.5 in[0] + 0.611413 in[1] - 0.13587 in[2]"),
    ],
)
def test_formulas(capsys, options, formula):
    assert formula in shown(capsys, options).splitlines()[-1]


def test_long_axes(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    text = shown(capsys, "--in 10000000000 --out 1000000000 --mode nearest --rows -2:")
    assert text.endswith("out[999999999] = in[9999999995]\n")
    text = shown(capsys, "--in 5000 --out 5 --antialias pillow --rows 2:3")
    assert "...     and 1984 more" in text
    drawing = [line for line in text.splitlines() if line.startswith(("  outputs  ", "  inputs", "  X = "))]
    assert max(map(len, drawing)) <= 90
    assert "█" in drawing[2]


def test_drawing_in_any_encoding():
    rows = [Row(0, Fraction(1, 2), 0, [Fraction(3, 4), Fraction(-1, 2), Fraction(3, 4)])]
    assert draw(rows, 3, 40, "ascii")[-1] == "X = 0      9999  ----  9999"
    assert draw(rows, 3, 40, "utf-8")[-1] == "X = 0      ████  ----  ████"
    assert draw([rows[0]._replace(weights=[])], 3, 40, "utf-8") == []


@given(st.integers(1, 500), st.integers(1, 500), st.integers(10, 200))
@settings(max_examples=100)
def test_a_drawing_fits(n_in, n_out, width):
    step = Fraction(n_in, n_out)
    rows = []
    for output in range(min(n_out, 9)):
        x = (output + Fraction(1, 2)) * step - Fraction(1, 2)
        start = max(int(x), 0)
        rows.append(Row(output, x, start, [Fraction(1, 2)] * min(2, n_in - start)))
    lines = draw(rows, n_in, width, "utf-8")
    assert len(lines) == 2 + len(rows)
    assert max(map(len, lines)) <= max(width, 9 + 8) + len(str(n_in))
    assert all("█" in line for line in lines[2:])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("", "--out or --scale must be given, got neither"),
        ("--scale 0", "--scale must be greater than 0, got 0"),
        ("--scale=-1", "--scale must be greater than 0, got -1"),
        ("--scale two", "--scale must be a number such as 2, 0.75 or -1/3, got 'two'"),
        ("--scale 1/9", "--scale must be at least 1/8 for 8 samples, got 1/9"),
        ("--scale 1e18", "--scale must give at most 2**60 samples, got 1e18"),
        ("--out 2000000000000000000", "--out must be at most 2**60, got 2000000000000000000"),
        (
            "--out 3 --mode cubic --cubic-coefficient 1e9",
            "explain: `cubic_coefficient` must lie in [-1024, 1024], got 1000000000",
        ),
        ("--out 3 --rows 3:", "--rows must name some of 3 outputs, got 3:"),
        (
            "--out 3 --rows 0",
            "--rows must be an integer of at least 1, or BEGIN:END with negative ones counted from the end, "
            "got '0'",
        ),
        ("--out 3 --roi 0,1", "--roi goes with --coordinates tf_crop_and_resize, got half_pixel"),
        ("--out 3 --coordinates tf_crop_and_resize --roi 1", "--roi must be 2 numbers for one axis, got 1"),
        ("--out 3 --cubic-coefficient 1", "--cubic-coefficient goes with --mode cubic, got --mode linear"),
        (
            "--out 300000 --rows :",
            "--rows must ask for at most 262144 taps, got 300000 outputs of up to 3 each",
        ),
        (
            "--scale 1e-9 --out 1 --antialias onnx",
            "--rows must ask for at most 262144 taps, got 1 outputs of up to 1000000008 each",
        ),
    ],
)
def test_what_is_wrong(capsys, options, text):
    assert run("--in", "8", *options.split()) == 2
    assert capsys.readouterr() == ("", f"remapnd explain: error: {text}\n")


def test_help_fits_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match=r"^0$"):
        run("--help")
    text = capsys.readouterr().out
    assert "remapnd explain --in 8 --out 3 --antialias pillow" in text
    assert max(map(len, text.splitlines())) <= 85


def test_readme_shows_what_is_printed(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = shown(capsys, "--in 4 --out 2 --mode cubic")
    drawing = text[text.index("  outputs  ") :]
    readme = Path(__file__).parent.parent / "README.md"
    assert f"```text\n{drawing}```" in readme.read_text(encoding="utf-8")
