"""`remapnd resize`: images: modes, metadata, formats."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_resize import pixels, refused, run
from numpy.testing import assert_array_equal
from PIL import Image, ImageCms

from remapnd import ResamplePlan, resize


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
    expected = resize(array, (3, 4), axes=(0, 1), antialias="pillow")
    assert_array_equal(pixels(f"out.{suffix}"), expected, strict=True)
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
    assert run("in.png", "out.png", "--scale", "1") == 0
    colors = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [9, 9, 9]]], np.uint8)
    assert_array_equal(pixels("out.png"), colors, strict=True)
    note = "in.png: palette converted to RGB: between two palette numbers is no color\n"
    assert note in capsys.readouterr().err
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


@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_cmyk_stays_cmyk(capsys, mode):
    array = np.broadcast_to(np.uint8([10, 200, 90, 40]), (16, 32, 4))
    image = Image.frombytes("CMYK", (32, 16), array.tobytes())
    image.save("in.jpg", quality=100)
    assert run("in.jpg", "out.jpg", "--scale", "1/2", "--mode", mode) == 0
    with Image.open("out.jpg") as result:
        assert (result.mode, result.size) == ("CMYK", (16, 8))
        assert np.abs(np.asarray(result).astype(int) - array[:8, :16]).max() <= 3
    assert "alpha" not in capsys.readouterr().out
    text = refused(capsys, 1, "in.jpg", "out.png", "--scale", "1")
    assert text == (
        "cannot write out.png: a PNG file has no CMYK: write a .jpg, or convert the image to RGB first"
    )


@pytest.mark.parametrize("mode", ["nearest", "majority"])
@pytest.mark.parametrize("transparency", [None, 1, b"\x00\x80\xff"])
def test_labels_in_a_palette_stay_labels(capsys, mode, transparency):
    numbers = np.random.default_rng(8).integers(0, 3, (7, 9), np.uint8)
    image = Image.fromarray(numbers)
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    options = {} if transparency is None else {"transparency": transparency}
    image.save("in.png", **options)
    assert run("in.png", "out.png", "--shape", "5x6", "--mode", mode) == 0
    assert run("in.png", "out.npy", "--shape", "5x6", "--mode", mode) == 0
    assert capsys.readouterr().err == ""
    expected = resize(numbers, (5, 6), mode=mode)
    assert_array_equal(np.load("out.npy"), expected, strict=True)
    with Image.open("in.png") as before, Image.open("out.png") as after:
        assert after.mode == "P"
        assert_array_equal(np.asarray(after), expected)
        assert after.getpalette()[:9] == before.getpalette()[:9]
        assert after.info.get("transparency") == before.info.get("transparency")
    text = refused(capsys, 1, "in.png", "out.jpg", "--scale", "1", "--mode", mode)
    assert text.endswith("JPEG has no palette, write a .png")


def test_1_bit_stays_1_bit_where_it_is_moved(capsys):
    bits = np.random.default_rng(9).integers(0, 2, (5, 9)).astype(bool)
    Image.fromarray(bits).save("in.png")
    assert run("in.png", "out.png", "--shape", "10x4", "--mode", "nearest") == 0
    assert capsys.readouterr().err == ""
    with Image.open("out.png") as image:
        assert image.mode == "1"
    assert_array_equal(pixels("out.png"), resize(bits, (10, 4), mode="nearest"), strict=True)
    text = refused(capsys, 1, "in.png", "out.jpg", "--scale", "1", "--mode", "nearest")
    assert text.endswith("JPEG has no 1-bit pixels, write a .png")


@pytest.mark.parametrize(
    ("options", "expected", "said"),
    [
        ("--shape 3x4", {"antialias": "pillow"}, "linear, antialias pillow"),
        ("--shape 12x4", {"antialias": "pillow"}, "linear, antialias pillow"),
        ("--shape 3x4 --antialias none", {}, "linear, antialias none"),
        ("--shape 12x9", {}, "linear"),
        ("--shape 12x9 --mode cubic", {"mode": "cubic"}, "cubic"),
        (
            "--shape 12x9 --mode cubic --antialias onnx",
            {"mode": "cubic", "antialias": "onnx"},
            "cubic, antialias onnx",
        ),
        ("--shape 3x4 --mode nearest", {"mode": "nearest"}, "nearest"),
    ],
)
def test_images_that_shrink_are_antialiased(data, capsys, options, expected, said):
    Image.fromarray(data).save("in.png")
    assert run("in.png", "out.png", *options.split()) == 0
    out = pixels("out.png")
    assert_array_equal(out, resize(data, out.shape[:2], axes=(0, 1), **expected), strict=True)
    assert capsys.readouterr().out == f"out.png: uint8 (6, 8, 3) -> {out.shape}, {said}\n"


def test_default_is_what_pillow_does():
    array = np.random.default_rng(10).integers(0, 256, (40, 50), np.uint8)
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.png", "--shape", "13x17") == 0
    theirs = np.asarray(Image.fromarray(array).resize((17, 13), Image.Resampling.BILINEAR))
    assert np.abs(pixels("out.png").astype(int) - theirs).max() <= 1  # they round between the axes


@pytest.mark.parametrize("suffix", ["png", "jpg"])
@pytest.mark.parametrize("orientation", [1, 6])
def test_resolution_is_kept(suffix, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.new("RGB", (8, 6)).save(f"in.{suffix}", dpi=(300, 72), exif=exif)
    assert run(f"in.{suffix}", f"out.{suffix}", "--scale", "2") == 0
    with Image.open(f"out.{suffix}") as image:
        expected = (300, 72) if orientation == 1 else (72, 300)
        assert image.size == ((16, 12) if orientation == 1 else (12, 16))
        assert np.round(image.info["dpi"]).tolist() == list(expected)


def test_no_resolution_is_made_up():
    """Pillow says 72 of a JPEG file with EXIF that has none."""
    exif = Image.Exif()
    exif[0x0112] = 1
    Image.new("RGB", (8, 6)).save("in.jpg", exif=exif)
    for name in ("out.jpg", "out.png"):
        assert run("in.jpg", name, "--scale", "2") == 0
        with Image.open(name) as image:
            assert "dpi" not in image.info
            assert image.info.get("jfif_unit", 0) == 0


@pytest.mark.parametrize("unit", [2, 3])
def test_resolution_of_exif_alone_is_kept(unit):
    exif = Image.Exif()
    exif[0x011A], exif[0x011B], exif[0x0128] = 300.0, 300.0, unit
    Image.new("RGB", (8, 6)).save("in.jpg", exif=exif)
    assert run("in.jpg", "out.jpg", "--scale", "2") == 0
    with Image.open("out.jpg") as image:
        assert np.round(image.info["dpi"]).tolist() == [300 if unit == 2 else 762] * 2


def test_quality(data):
    Image.fromarray(np.random.default_rng(11).integers(0, 256, (64, 64, 3), np.uint8)).save("in.png")
    sizes = {}
    for quality in (["--quality", "30"], ["--quality", "95"], []):
        assert run("in.png", "out.jpg", "--scale", "1", *quality) == 0
        sizes[" ".join(quality)] = os.path.getsize("out.jpg")
    assert sizes["--quality 30"] < sizes["--quality 95"] / 2
    assert sizes[""] == sizes["--quality 95"]


def test_jpeg_has_no_alpha(capsys):
    Image.new("RGBA", (4, 4)).save("in.png")
    assert refused(capsys, 1, "in.png", "out.jpg", "--scale", "1") == (
        "cannot write out.jpg: a JPEG file holds uint8 (H, W), (H, W, 1) or (H, W, 3); got uint8 "
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
        (
            np.zeros((4, 4), np.float32),
            "out.png",
            "float32 (4, 4): scale the values to 0..255 and convert them to uint8 first, or write a .npy",
        ),
        (
            np.zeros((4, 4), np.int32),
            "out.png",
            "int32 (4, 4): convert the values to uint8 first, or write a .npy",
        ),
        (np.zeros((4, 4, 5), np.uint8), "out.png", "uint8 (4, 4, 5)"),
        (
            np.zeros((3, 9, 8), np.uint8),
            "out.png",
            "uint8 (4, 4, 8); channels come last: np.moveaxis(array, 0, -1) moves the first axis there",
        ),
        (np.zeros((4, 4, 5), np.uint16), "out.png", "uint16 (4, 4, 5)"),
        (np.zeros((4, 4, 2, 2), np.uint8), "out.png", "uint8 (4, 4, 2, 2)"),
        (np.zeros((4, 4, 5), np.uint8), "out.jpg", "uint8 (4, 4, 5)"),
        (np.zeros((4, 4), np.uint16), "out.jpg", "uint16 (4, 4): JPEG has no 16-bit samples, write a .png"),
    ],
)
def test_image_format_that_cannot_hold_it(capsys, monkeypatch, array, name, got):
    np.save("in.npy", array)
    monkeypatch.setattr(ResamplePlan, "__call__", lambda *_, **__: pytest.fail("computed in vain"))
    text = refused(capsys, 1, "in.npy", name, "--shape", "4x4")
    form = (
        "PNG file holds uint8 or uint16 (H, W) or (H, W, 1 to 4), or bool (H, W)"
        if name == "out.png"
        else "JPEG file holds uint8 (H, W), (H, W, 1) or (H, W, 3)"
    )
    assert text == f"cannot write {name}: a {form}; got {got}"


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


def test_a_picture_of_an_array_keeps_its_channels():
    np.save("photo.npy", np.zeros((6, 8, 3), np.uint8))
    assert run("photo.npy", "half.png", "--scale", "1/2") == 0
    with Image.open("half.png") as image:
        assert (image.size, image.mode) == ((4, 3), "RGB")
