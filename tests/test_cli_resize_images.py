"""`remapnd resize`: images: modes, metadata, formats."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from cli_resize import pixels, refused, run
from numpy.testing import assert_array_equal
from PIL import Image, ImageCms

from remapnd import resize


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data():
    array = np.random.default_rng(1).integers(0, 256, (6, 8, 3), np.uint8)
    np.save("in.npy", array)
    return array


@pytest.mark.parametrize("suffix", ["png", "PNG"])
@pytest.mark.parametrize("shape", [(6, 8), (6, 8, 2), (6, 8, 3), (6, 8, 4)])
def test_png(shape, suffix):
    array = np.random.default_rng(2).integers(0, 256, shape, np.uint8)
    Image.fromarray(array).save("in.png")
    assert run("in.png", f"out.{suffix}", "--scale", "1/2", "--straight-alpha") == 0
    assert_array_equal(pixels(f"out.{suffix}"), resize(array, (3, 4), axes=(0, 1)), strict=True)
    assert run("in.png", f"out.{suffix}", "--shape", "9", "--mode", "nearest") == 0
    assert_array_equal(pixels(f"out.{suffix}"), resize(array, 9, axes=(0, 1), mode="nearest"), strict=True)


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
