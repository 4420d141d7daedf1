"""`remapnd resize`: sizes, files of every kind, and one clear line for everything that is wrong."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image, ImageCms

from remapnd import resize
from remapnd.cli import main
from remapnd.files import replacing
from remapnd.reference import rounded


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data():
    array = np.random.default_rng(1).integers(0, 256, (6, 8, 3), np.uint8)
    np.save("in.npy", array)
    return array


def run(*args: str) -> int:
    return main(["resize", *args])


def linear_by_hand(values: np.ndarray, n_out: int) -> np.ndarray:
    """Exact half_pixel interpolation along axis 0, in Fractions."""
    n_in = len(values)
    rows = []
    for output in range(n_out):
        x = min(
            max((output + Fraction(1, 2)) * n_in / n_out - Fraction(1, 2), Fraction(0)), Fraction(n_in - 1)
        )
        low = int(x)
        high = min(low + 1, n_in - 1)
        rows.append(values[low] * (1 - (x - low)) + values[high] * (x - low))
    return np.array(rows, object)


def refused(capsys, status: int, *args: str) -> str:
    """Run a command line that fails; return its one line, and look that nothing but inputs is left."""
    before = sorted(os.listdir())
    assert run(*args) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("remapnd resize: error: ")
    assert sorted(os.listdir()) == before
    return err.removeprefix("remapnd resize: error: ").rstrip("\n")


# Arrays.


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
    assert capsys.readouterr() == ("out.npy: uint8 (6, 8, 3) -> (3, 4, 1)\n", "")
    assert run("in.npy", "out.png", "--shape", "3x4") == 0
    assert capsys.readouterr() == ("out.png: uint8 (6, 8, 3) -> (3, 4, 3)\n", "")
    np.save("in.npy", np.float32(1.5))
    assert run("in.npy", "out.npy", "--shape", "3") == 0
    assert capsys.readouterr() == ("out.npy: float32 () -> ()\n", "")


def test_scale_is_taken_as_written():
    """The float 0.7 is below 7/10, so that 10 * 0.7 as floats, floored exactly, would give 6."""
    assert int(Fraction(0.7) * 10) == 6
    np.save("in.npy", np.arange(10.0))
    assert run("in.npy", "out.npy", "--scale", "0.7") == 0
    assert np.load("out.npy").shape == (7,)


def test_options_are_passed_on(data):
    options = {"coordinates": "align_corners", "integer_rule": "truncate"}
    assert (
        run(
            "in.npy",
            "out.npy",
            "--shape",
            "4x5",
            "--coordinates",
            "align_corners",
            "--integer-rule",
            "truncate",
        )
        == 0
    )
    assert_array_equal(np.load("out.npy"), resize(data, (4, 5), axes=(0, 1), **options), strict=True)
    assert run("in.npy", "out.npy", "--shape", "3x4", "--mode", "nearest", "--nearest-rule", "ceil") == 0
    expected = resize(data, (3, 4), axes=(0, 1), mode="nearest", nearest_rule="ceil")
    assert_array_equal(np.load("out.npy"), expected, strict=True)


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


# Images.


def pixels(name: str) -> np.ndarray:
    with Image.open(name) as image:
        return np.asarray(image)


@pytest.mark.parametrize("suffix", ["png", "PNG"])
@pytest.mark.parametrize("shape", [(6, 8), (6, 8, 2), (6, 8, 3), (6, 8, 4)])
def test_png(shape, suffix):
    array = np.random.default_rng(2).integers(0, 256, shape, np.uint8)
    Image.fromarray(array).save("in.png")
    assert run("in.png", f"out.{suffix}", "--scale", "1/2", "--straight-alpha") == 0
    assert_array_equal(pixels(f"out.{suffix}"), resize(array, (3, 4), axes=(0, 1)), strict=True)
    assert run("in.png", f"out.{suffix}", "--shape", "9", "--mode", "nearest") == 0
    assert_array_equal(pixels(f"out.{suffix}"), resize(array, 9, axes=(0, 1), mode="nearest"), strict=True)


def test_transparent_pixels_lend_no_color():
    """Opaque red beside transparent green: red that fades out, with no green and no dark in it."""
    array = np.zeros((4, 8, 4), np.uint8)
    array[:, :4] = (255, 0, 0, 255)
    array[:, 4:] = (0, 255, 0, 0)
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.png", "--scale", "4") == 0
    result = pixels("out.png")
    visible = result[result[..., 3] > 0]
    assert (visible[:, :3] == (255, 0, 0)).all()
    assert (np.diff(result[0, :, 3].astype(int)) <= 0).all()
    assert {0, 32, 96, 159, 223, 255} == set(result[0, :, 3].tolist())
    assert run("in.png", "straight.png", "--scale", "4", "--straight-alpha") == 0
    assert_array_equal(pixels("straight.png"), resize(array, scales=4, axes=(0, 1)), strict=True)
    assert_array_equal(pixels("straight.png")[..., 3], result[..., 3], strict=True)
    assert (pixels("straight.png")[..., 1][result[..., 3] > 0] > 0).any()


@pytest.mark.parametrize("rule", ["half_up", "half_even", "truncate"])
@pytest.mark.parametrize("channels", [2, 4])
@pytest.mark.parametrize("shape", [(3, 4), (13, 7), (1, 29)])
def test_colors_weighted_by_alpha_are_rounded_once(shape, channels, rule):
    """Against Fractions, with alphas and colors small enough for many ties."""
    rng = np.random.default_rng(5)
    array = np.concatenate(
        [
            rng.choice([0, 1, 2, 255], (6, 8, channels - 1)),
            rng.choice([0, 0, 1, 2, 255], (6, 8, 1)),
        ],
        axis=-1,
    ).astype(np.uint8)
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.png", "--shape", f"{shape[0]}x{shape[1]}", "--integer-rule", rule) == 0

    def exact(values: np.ndarray) -> np.ndarray:
        return linear_by_hand(linear_by_hand(values, shape[0]).swapaxes(0, 1), shape[1]).swapaxes(0, 1)

    values = array.astype(object)
    coverage = exact(values[..., -1])
    right = resize(array, shape, axes=(0, 1), integer_rule=rule)
    for channel in range(channels - 1):
        colors = exact(values[..., channel] * values[..., -1])
        for place in zip(*np.nonzero(coverage), strict=True):
            color = Fraction(colors[place]) / coverage[place]
            right[(*place, channel)] = rounded(color.numerator, color.denominator, rule)
    assert_array_equal(pixels("out.png"), right, strict=True)


def test_weights_of_any_fineness():
    """The scale's denominator is beyond any integer; colors stay those of the opaque pixels."""
    array = np.random.default_rng(6).integers(0, 256, (9, 9, 4), np.uint8)
    array[..., :3] = (10, 20, 30)
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.png", "--scale", "1.2345678901234567890123456789") == 0
    result = pixels("out.png")
    assert (result[result[..., 3] > 0][:, :3] == (10, 20, 30)).all()


def test_scale_1_keeps_hidden_colors():
    array = np.random.default_rng(7).integers(0, 256, (9, 9, 4), np.uint8)
    array[::2, :, 3] = 0
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.png", "--scale", "1") == 0
    assert_array_equal(pixels("out.png"), array, strict=True)


def test_16_bit_png_stays_16_bit(capsys):
    array = np.random.default_rng(3).integers(0, 2**16, (6, 8), np.uint16)
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.png", "--shape", "12x5") == 0
    assert_array_equal(pixels("out.png"), resize(array, (12, 5)), strict=True)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["out.jpg", "out.jpeg"])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_jpeg(name, channels):
    ramp = np.broadcast_to(
        np.arange(64, dtype=np.uint8).reshape(1, 64, *[1] * len(channels)) * 2, (48, 64, *channels)
    )
    Image.fromarray(np.ascontiguousarray(ramp)).save("in.jpg", quality=95)
    assert run("in.jpg", name, "--shape", "24x32") == 0
    result = pixels(name)
    expected = resize(pixels("in.jpg"), (24, 32), axes=(0, 1))
    assert result.shape == expected.shape
    assert np.abs(result.astype(int) - expected).max() <= 3  # what JPEG loses on a ramp


def test_palette_is_converted_and_said_so(capsys):
    image = Image.fromarray(np.arange(4, dtype=np.uint8).reshape(2, 2)).convert("P")
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9])
    image.save("in.png")
    assert run("in.png", "out.png", "--scale", "2", "--mode", "nearest") == 0
    colors = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [9, 9, 9]]], np.uint8)
    assert_array_equal(pixels("out.png"), colors.repeat(2, 0).repeat(2, 1), strict=True)
    assert (
        "in.png: palette converted to RGB: between two palette numbers is no color\n"
        in capsys.readouterr().err
    )
    image.save("in.png", transparency=1)
    assert run("in.png", "out.png", "--scale", "1") == 0
    assert pixels("out.png")[..., 3].tolist() == [[255, 0], [255, 255]]
    assert "palette converted to RGBA" in capsys.readouterr().err


def test_1_bit_is_converted_and_said_so(capsys):
    Image.fromarray(np.array([[False, True]])).save("in.png")
    assert run("in.png", "out.png", "--shape", "1x4") == 0
    assert pixels("out.png").tolist() == [[0, 64, 191, 255]]
    assert "1-bit pixels converted to L" in capsys.readouterr().err


@pytest.mark.parametrize(("mode", "key", "alpha"), [("L", 7, "LA"), ("RGB", (7, 7, 7), "RGBA")])
def test_transparent_color_becomes_alpha(capsys, mode, key, alpha):
    Image.fromarray(np.array([[7, 8]], np.uint8)).convert(mode).save("in.png", transparency=key)
    assert run("in.png", "out.png", "--scale", "1") == 0
    assert pixels("out.png")[..., -1].tolist() == [[0, 255]]
    assert f"{mode} with a transparent color converted to {alpha}" in capsys.readouterr().err


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_exif_orientation(orientation, suffix):
    corner = np.zeros((16, 32), np.uint8)
    corner[:8, :8] = 255
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(corner).save(f"in.{suffix}", exif=exif, **({"quality": 100} if suffix == "jpg" else {}))
    assert run(f"in.{suffix}", "out.png", "--scale", "1") == 0
    turned = corner.T if orientation > 4 else corner
    turned = turned[:: -1 if orientation in (3, 4, 7, 8) else 1, :: -1 if orientation in (2, 3, 6, 7) else 1]
    assert_array_equal(pixels("out.png") > 128, turned > 128, strict=True)
    with Image.open("out.png") as image:
        assert image.getexif().get(0x0112, 1) == 1


@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_color_profile_is_kept(suffix):
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.new("RGB", (8, 8)).save(f"in.{suffix}", icc_profile=profile)
    assert run(f"in.{suffix}", f"out.{suffix}", "--shape", "4x4") == 0
    with Image.open(f"out.{suffix}") as image:
        assert image.info["icc_profile"] == profile


def test_first_frame_of_several_is_said(capsys):
    frames = [Image.new("L", (4, 4), shade) for shade in (10, 200)]
    frames[0].save("in.png", save_all=True, append_images=frames[1:])
    assert run("in.png", "out.png", "--scale", "1") == 0
    assert (pixels("out.png") == 10).all()
    assert "note: in.png: only the first frame is read" in capsys.readouterr().err


def test_image_to_array_and_back(data):
    Image.fromarray(data).save("in.png")
    assert run("in.png", "out.npy", "--scale", "2") == 0
    assert_array_equal(np.load("out.npy"), resize(data, (12, 16), axes=(0, 1)), strict=True)
    assert run("out.npy", "out.png", "--shape", "12x16") == 0
    assert_array_equal(pixels("out.png"), np.load("out.npy"), strict=True)
    np.save("in.npy", data[..., :1])
    assert run("in.npy", "out.jpg", "--shape", "6x8") == 0
    assert pixels("out.jpg").shape == (6, 8)


# Wrong command lines: status 2.


@pytest.mark.parametrize(
    "text", ["", "0x4", "-3x4", "3x", "x3", "3.5x4", "axb", "3*4", "3x4x", "\u0663x4", "9" * 21]
)
def test_malformed_shape(data, capsys, text):
    line = refused(capsys, 2, "in.npy", "out.npy", f"--shape={text}")
    assert line == f"--shape must be integers greater than 0 with x between them, got {text!r}"


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "nan", "inf", "1/0", "0/5", "0.0", "1e", "2x", "1,5", "1e-400", "1e999999999"]
)
def test_malformed_scale(data, capsys, text):
    line = refused(capsys, 2, "in.npy", "out.npy", f"--scale={text}")
    assert line == f"--scale must be numbers greater than 0 with x between them, got {text!r}"


@pytest.mark.parametrize("text", ["", "0,", "a", "1.0", "0;1", "--1"])
def test_malformed_axes(data, capsys, text):
    line = refused(capsys, 2, "in.npy", "out.npy", "--shape", "3x4", f"--axes={text}")
    assert line == f"--axes must be integers with commas between them, got {text!r}"


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ("--shape 3x4 --axes 0", "--shape must have one number, or one for each of --axes 0, got 3x4"),
        (
            "--scale 3x4x5 --axes 0,1",
            "--scale must have one number, or one for each of --axes 0,1, got 3x4x5",
        ),
        ("--shape 3 --straight-alpha", "--straight-alpha goes with images, got in.npy"),
        (
            "--shape 3 --straight-alpha --mode nearest",
            "--straight-alpha goes with --mode linear, got --mode nearest",
        ),
        ("--shape 3 --nearest-rule ceil", "--nearest-rule goes with --mode nearest, got --mode linear"),
        (
            "--shape 3 --mode nearest --integer-rule truncate",
            "--integer-rule goes with --mode linear, got --mode nearest",
        ),
    ],
)
def test_contradictions(capsys, args, text):
    assert refused(capsys, 2, "in.npy", "out.npy", *args.split()) == text


@pytest.mark.parametrize(("names", "bad"), [(("a.tif", "b.npy"), "a.tif"), (("a.npy", "b"), "b")])
def test_suffix_of_a_file(capsys, names, bad):
    text = refused(capsys, 2, *names, "--shape", "3")
    assert text == f"the name of a file must end with .npy, .png, .jpg or .jpeg, got {bad}"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--shape", "3x4x3"], "--shape must have one number, or one for each of H and W, got 3x4x3"),
        (["--scale", "1x2x3"], "--scale must have one number, or one for each of H and W, got 1x2x3"),
        (
            ["--shape", "3x4", "--axes", "0,1"],
            "--axes goes with .npy arrays; of an image H and W are resized, got 0,1",
        ),
    ],
)
def test_options_that_no_image_has(capsys, options, text):
    Image.new("L", (4, 4)).save("in.png")
    assert refused(capsys, 2, "in.png", "out.png", *options) == text


@pytest.mark.parametrize(
    "options", [[], ["--shape", "3", "--scale", "2"], ["--shape", "3", "--mode", "cubist"]]
)
def test_what_argparse_refuses(data, capsys, options):
    with pytest.raises(SystemExit) as caught:
        run("in.npy", "out.npy", *options)
    assert caught.value.code == 2
    assert "remapnd resize: error: " in capsys.readouterr().err


# Wrong input: status 1.


@pytest.mark.parametrize("name", ["no.npy", "no.png"])
def test_missing_file(capsys, name):
    assert (
        refused(capsys, 1, name, "out.npy", "--shape", "3x3")
        == f"cannot read {name}: No such file or directory"
    )


@pytest.mark.parametrize("name", ["dir.npy", "dir.png"])
def test_directory_as_input(capsys, name):
    os.mkdir(name)
    assert refused(capsys, 1, name, "out.npy", "--shape", "3x3") == f"cannot read {name}: Is a directory"


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"hello" * 100, b"\x80\4N."])
def test_file_that_is_no_npy(capsys, content):
    Path("in.npy").write_bytes(content)
    text = refused(capsys, 1, "in.npy", "out.npy", "--shape", "3")
    assert text == "cannot read in.npy: this is no .npy file"


def npy_header(text):
    return b"\1\0" + len(text).to_bytes(2, "little") + text


def npy_of_shape(shape):
    return npy_header(b"{'descr': '<f4', 'fortran_order': False, 'shape': (%s,)}\n" % shape) + bytes(64)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\1\0v\0{'descr': '<f8', ",
        npy_header(b"(1)\n"),
        npy_header(b"{\n"),
        npy_header(b"1if 1else\n"),
        npy_of_shape(b"True, 4"),
        npy_of_shape(b"-4"),
        npy_of_shape(b"9" * 22),
        npy_of_shape(b"4611686018427387904, 4611686018427387904"),
        b"\x09\0",
    ],
)
def test_damaged_npy(capsys, content):
    Path("in.npy").write_bytes(b"\x93NUMPY" + content)
    assert refused(capsys, 1, "in.npy", "out.npy", "--shape", "3").startswith("cannot read in.npy: ")


def test_truncated_npy(data, capsys):
    Path("in.npy").write_bytes(Path("in.npy").read_bytes()[:-1])
    assert refused(capsys, 1, "in.npy", "out.npy", "--shape", "3").startswith("cannot read in.npy: ")


def test_objects_are_not_unpickled(capsys):
    np.save("in.npy", np.array([{}]), allow_pickle=True)
    text = refused(capsys, 1, "in.npy", "out.npy", "--shape", "3")
    assert text.startswith("cannot read in.npy: ")
    assert "allow_pickle=False" in text


@pytest.mark.parametrize("suffix", ["png", "jpg"])
@pytest.mark.parametrize("keep", [0, 1, 30, 0.5])
def test_damaged_image(capsys, suffix, keep):
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (99, 99, 3), np.uint8)).save(f"in.{suffix}")
    content = Path(f"in.{suffix}").read_bytes()
    Path(f"in.{suffix}").write_bytes(content[: int(keep * len(content)) if keep == 0.5 else keep])
    assert refused(capsys, 1, f"in.{suffix}", "out.png", "--scale", "1").startswith(
        f"cannot read in.{suffix}: "
    )


@pytest.mark.parametrize("seed", range(20))
def test_corrupted_image_gives_one_line_or_a_result(capsys, seed):
    rng = np.random.default_rng(seed)
    suffix = ["png", "jpg"][seed % 2]
    Image.fromarray(rng.integers(0, 256, (20, 20, 3), np.uint8)).save(f"in.{suffix}")
    content = bytearray(Path(f"in.{suffix}").read_bytes())
    for position in rng.integers(0, len(content), 8):
        content[position] = rng.integers(0, 256)
    Path(f"in.{suffix}").write_bytes(content)
    status = run(f"in.{suffix}", "out.png", "--scale", "1")
    errors = [line for line in capsys.readouterr().err.splitlines() if ": error: " in line]
    assert (status, len(errors)) in ((0, 0), (1, 1))
    assert Path("out.png").exists() == (status == 0)


def test_image_mode_that_is_not_supported(capsys):
    Image.new("CMYK", (4, 4)).save("in.jpg")
    text = refused(capsys, 1, "in.jpg", "out.jpg", "--scale", "1")
    assert text == (
        "cannot read in.jpg: the mode must be L, LA, RGB, RGBA, I;16, P or 1, got CMYK: "
        "convert the image to RGB first"
    )


def test_jpeg_has_no_alpha(capsys):
    Image.new("RGBA", (4, 4)).save("in.png")
    assert refused(capsys, 1, "in.png", "out.jpg", "--scale", "1") == (
        "cannot write out.jpg: a JPEG file holds uint8 (H, W), (H, W, 1) or (H, W, 3), not empty; got uint8 "
        "(4, 4, 4): JPEG has no alpha channel, write a .png"
    )


def test_image_that_is_another_format(capsys):
    Image.new("L", (4, 4)).save("in.png", format="GIF")
    assert (
        refused(capsys, 1, "in.png", "out.png", "--scale", "1")
        == "cannot read in.png: this is no PNG or JPEG file"
    )


@pytest.mark.parametrize(
    ("array", "name", "got"),
    [
        (np.zeros((4, 4), np.float32), "out.png", r"float32 (4, 4)"),
        (np.zeros((4, 4, 5), np.uint8), "out.png", "uint8 (4, 4, 5)"),
        (np.zeros((4, 4, 3), np.uint16), "out.png", "uint16 (4, 4, 3)"),
        (np.zeros((4, 4, 2, 2), np.uint8), "out.png", "uint8 (4, 4, 2, 2)"),
        (np.zeros((4, 4, 5), np.uint8), "out.jpg", "uint8 (4, 4, 5)"),
        (np.zeros((4, 4), np.uint16), "out.jpg", "uint16 (4, 4)"),
    ],
)
def test_image_format_that_cannot_hold_it(capsys, array, name, got):
    np.save("in.npy", array)
    text = refused(capsys, 1, "in.npy", name, "--shape", "4x4")
    assert text.startswith(
        f"cannot write {name}: a {'PNG' if name.endswith('png') else 'JPEG'} file holds uint8 (H, W)"
    )
    assert text.endswith(f"got {got}")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--shape", "1x2x3x4"], "in.npy has shape (6, 8, 3), so 4 axes cannot be resized"),
        (["--shape", "4", "--axes", "3"], "in.npy: resize: `axes` must lie in [-3, 3), got 3"),
        (["--shape", "4", "--axes=-4"], "in.npy: resize: `axes` must lie in [-3, 3), got -4"),
        (
            ["--shape", "4x4", "--axes", "0,-3"],
            "in.npy: resize: `axes` must name each axis once, got (0, -3)",
        ),
        (
            ["--scale", "1/7"],
            "in.npy: resize: `scales` must be at least 1/6 for an axis of length 6",
        ),
    ],
)
def test_what_does_not_fit_the_array(data, capsys, options, text):
    assert refused(capsys, 1, "in.npy", "out.npy", *options).startswith(text)


@pytest.mark.parametrize(
    "array", [np.array([b"ab"]), np.array([True]), np.zeros(2, "u1,u1"), np.zeros(2, "M8[s]")]
)
def test_dtype_that_linear_cannot_take(capsys, array):
    np.save("in.npy", array)
    assert refused(capsys, 1, "in.npy", "out.npy", "--shape", "3").startswith("in.npy: re")


@pytest.mark.parametrize(
    "options", [["--shape", "1000000x1000000"], ["--scale", "1e20"], ["--shape", "9" * 20]]
)
def test_result_too_large_says_how_many_bytes(data, capsys, options):
    text = refused(capsys, 1, "in.npy", "out.npy", *options)
    assert "bytes" in text
    assert any(part.isdigit() and int(part) > 2**40 for part in text.replace(",", "").split())


# Targets that cannot be written.


def test_target_is_a_directory(data, capsys):
    os.mkdir("out.npy")
    assert refused(capsys, 1, "in.npy", "out.npy", "--shape", "3") == "cannot write out.npy: Is a directory"


def test_target_directory_does_not_exist(data, capsys):
    text = refused(capsys, 1, "in.npy", "no/out.npy", "--shape", "3")
    assert text == "cannot write no/out.npy: No such file or directory"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_target_that_is_no_file_is_left_alone(data, capsys):
    os.mkfifo("out.npy")
    assert (
        refused(capsys, 1, "in.npy", "out.npy", "--shape", "3") == "cannot write out.npy: Not a regular file"
    )
    assert stat.S_ISFIFO(os.stat("out.npy").st_mode)


def _full_disk(path: str, mode: str):
    return os.fdopen(os.open("/dev/full", os.O_WRONLY), "wb")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_disk_full_leaves_the_old_file(data, monkeypatch, capsys):
    Path("out.npy").write_bytes(b"old")
    monkeypatch.setattr("remapnd.files.open", _full_disk, raising=False)
    assert (
        refused(capsys, 1, "in.npy", "out.npy", "--shape", "3")
        == "cannot write out.npy: No space left on device"
    )
    assert Path("out.npy").read_bytes() == b"old"


def test_pillow_missing(data, capsys, monkeypatch):
    Image.new("L", (4, 4)).save("in.png")
    monkeypatch.setitem(sys.modules, "PIL", None)
    text = "PNG and JPEG need Pillow: pip install 'remapnd[image]'"
    assert refused(capsys, 1, "in.png", "out.npy", "--scale", "1") == text
    assert refused(capsys, 1, "in.npy", "out.png", "--shape", "2x2") == text
    assert run("in.npy", "out.npy", "--shape", "2x2") == 0
    capsys.readouterr()
    text = refused(capsys, 1, "none.png", "out.npy", "--scale", "1")
    assert text == "cannot read none.png: No such file or directory"


# The whole or nothing.


def test_replacing_keeps_mode_and_link():
    Path("real").write_bytes(b"old")
    os.chmod("real", 0o640)
    os.symlink("real", "link")
    with replacing("link") as file:
        file.write(b"new")
        assert Path("real").read_bytes() == b"old"
    assert os.path.islink("link")
    assert Path("real").read_bytes() == b"new"
    assert stat.S_IMODE(os.stat("real").st_mode) == 0o640


def test_replacing_gives_new_files_the_usual_mode():
    Path("usual").write_bytes(b"")
    with replacing("new"):
        pass
    assert os.stat("new").st_mode == os.stat("usual").st_mode


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_replacing_after_an_exception(error):
    Path("file").write_bytes(b"old")

    def fail() -> None:
        with replacing("file") as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert os.listdir() == ["file"]
    assert Path("file").read_bytes() == b"old"


# As a process.


def test_process(tmp_path):
    np.save("in.npy", np.arange(4.0))
    command = [sys.executable, "-m", "remapnd", "resize", tmp_path / "in.npy", tmp_path / "out.npy"]
    options = {"cwd": Path(__file__).parent.parent, "text": True, "capture_output": True}
    done = subprocess.run([*command, "--shape", "2"], check=False, **options)
    line = f"{tmp_path / 'out.npy'}: float64 (4,) -> (2,)\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, line, "")
    assert np.load("out.npy").tolist() == [0.5, 2.5]
    done = subprocess.run([*command, "--shape", "0"], check=False, **options)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_help_has_an_example_and_fits_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as caught:
        run("--help")
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert "remapnd resize volume.npy larger.npy --shape 192x192x192" in text
    assert "no low-pass filter" in text
    assert max(map(len, text.splitlines())) <= 88
