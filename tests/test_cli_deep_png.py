"""`remapnd resize`: PNG of 16 bits, grey and color, read and written without a loss."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from cli_resize import pixels, refused, run
from numpy.testing import assert_array_equal
from PIL import Image, ImageCms

from remapnd import resize
from remapnd.cli import deep_png, images

COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def png(array: np.ndarray, *extra: bytes, filters: tuple[int, ...] = (0,)) -> bytes:
    """PNG file of 16 bits, rows filtered in turn by none (0), the left (1) or the upper (2) neighbor."""
    height, width, channels = array.shape
    rows = array.astype(">u2").view(np.uint8).reshape(height, -1)
    data = b""
    for y, row in enumerate(rows):
        kind = filters[y % len(filters)]
        before = np.zeros_like(row)
        if kind == 1:
            before[2 * channels :] = row[: -2 * channels]
        elif kind == 2 and y:
            before = rows[y - 1]
        data += bytes([kind]) + (row - before).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 16, COLOR_TYPES[channels], 0, 0, 0)
    parts = (chunk(b"IHDR", header), *extra, chunk(b"IDAT", zlib.compress(data)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def unpacked(content: bytes) -> np.ndarray:
    """Pixels of a 16-bit PNG file, by the formulas of the specification, byte by byte."""
    place, data, header = 8, b"", b""
    while place < len(content):
        size, kind = struct.unpack(">I4s", content[place : place + 8])
        body = content[place + 8 : place + 8 + size]
        [check] = struct.unpack(">I", content[place + 8 + size : place + 12 + size])
        assert check == zlib.crc32(kind + body)
        header = body if kind == b"IHDR" else header
        data += body if kind == b"IDAT" else b""
        place += 12 + size
    width, height, depth, color = struct.unpack(">IIBB", header[:10])
    assert depth == 16
    channels = {v: k for k, v in COLOR_TYPES.items()}[color]
    step, length = 2 * channels, 2 * channels * width
    raw = zlib.decompress(data)
    rows = [[0] * length]
    for y in range(height):
        kind, row = raw[y * (length + 1)], list(raw[y * (length + 1) + 1 :][:length])
        for k in range(length):
            a = row[k - step] if k >= step else 0
            b, c = rows[-1][k], rows[-1][k - step] if k >= step else 0
            p = a + b - c
            nearest = min((a, b, c), key=lambda v: abs(p - v))
            row[k] = (row[k] + (0, a, b, (a + b) // 2, nearest)[kind]) % 256
        rows.append(row)
    flat = np.array(rows[1:], np.uint8)
    return flat.view(">u2").reshape(height, width, channels).astype(np.uint16)


def test_grey(capsys):
    array = np.random.default_rng(3).integers(0, 2**16, (6, 8), np.uint16)
    Image.fromarray(array).save("in.png")
    assert run("in.png", "out.png", "--shape", "12x5") == 0
    expected = resize(array, (12, 5), antialias="pillow")
    assert_array_equal(pixels("out.png"), expected, strict=True)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("channels", [2, 3, 4])
@pytest.mark.parametrize("filters", [(0,), (0, 1, 2, 2, 1)])
def test_color_is_read_whole(channels, filters):
    array = np.random.default_rng(channels).integers(0, 2**16, (11, 7, channels), np.uint16)
    with open("in.png", "wb") as file:
        file.write(png(array, filters=filters))
    assert run("in.png", "out.npy", "--scale", "1", "--straight-alpha") == 0
    assert_array_equal(np.load("out.npy"), array, strict=True)
    assert run("in.png", "out.png", "--shape", "5x9", "--straight-alpha", "--mode", "cubic") == 0
    expected = resize(array, (5, 9), axes=(0, 1), mode="cubic", antialias="pillow")
    with open("out.png", "rb") as file:
        assert_array_equal(unpacked(file.read()), expected, strict=True)


def test_interlaced_color():
    """Pixels of the seven passes, one image of 1 by 1 to 2 by 2 each."""
    array = np.random.default_rng(5).integers(0, 2**16, (4, 4, 3), np.uint16)
    passes = [array[0::8, 0::8], array[0::8, 4::8], array[4::8, 0::4], array[0::4, 2::4]]
    passes += [array[2::4, 0::2], array[0::2, 1::2], array[1::2, :]]
    rows = [part.astype(">u2") for part in passes]
    data = b"".join(b"\0" + row.tobytes() for part in rows if part.size for row in part)
    header = struct.pack(">IIBBBBB", 4, 4, 16, 2, 0, 0, 1)
    content = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    with open("in.png", "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + content)
    assert run("in.png", "out.npy", "--scale", "1") == 0
    assert_array_equal(np.load("out.npy"), array, strict=True)


@pytest.mark.parametrize("orientation", [1, 3, 6])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_what_belongs_to_it_is_kept(channels, orientation):
    array = np.random.default_rng(6).integers(0, 2**16, (6, 8, channels), np.uint16)
    array[..., -1] |= 1
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exif = Image.Exif()
    exif[0x0112] = orientation
    extra = (
        chunk(b"iCCP", b"x\0\0" + zlib.compress(profile)),
        chunk(b"pHYs", struct.pack(">IIB", 11811, 2835, 1)),
        chunk(b"eXIf", exif.tobytes().removeprefix(b"Exif\0\0")),
    )
    with open("in.png", "wb") as file:
        file.write(png(array, *extra))
    assert run("in.png", "out.png", "--scale", "1") == 0
    turned = {1: array, 3: array[::-1, ::-1], 6: np.rot90(array, -1)}[orientation]
    with open("out.png", "rb") as file:
        assert_array_equal(unpacked(file.read()), turned, strict=True)
    with Image.open("out.png") as image:
        assert image.info["icc_profile"] == profile
        expected = [300, 72] if orientation != 6 else [72, 300]
        assert np.round(image.info["dpi"]).tolist() == expected


@pytest.mark.parametrize("channels", [1, 3])
def test_transparent_color_becomes_alpha(capsys, channels):
    array = np.random.default_rng(7).integers(0, 2**16, (3, 4, channels), np.uint16)
    array[1, 2] = 1000
    array[0, 0] = 1001  # which has the same upper eight bits
    key = struct.pack(f">{channels}H", *[1000] * channels)
    with open("in.png", "wb") as file:
        file.write(png(array, chunk(b"tRNS", key)))
    assert run("in.png", "out.npy", "--scale", "1") == 0
    result = np.load("out.npy")
    assert_array_equal(result[..., :-1], array, strict=True)
    assert np.argwhere(result[..., -1] == 0).tolist() == [[1, 2]]
    assert set(result[..., -1].ravel().tolist()) == {0, 65535}
    assert "note: in.png: the transparent color became alpha" in capsys.readouterr().err


@pytest.mark.parametrize("channels", [2, 3, 4])
def test_any_pixels_come_back(channels):
    """Rows that each of the filters suits best."""
    rng = np.random.default_rng(channels)
    noise = rng.integers(0, 2**16, (3, 13, channels), np.uint16)
    ramp = np.arange(13, dtype=np.uint16)[:, None] * 257 + np.arange(channels, dtype=np.uint16)
    plane = np.add.outer(np.arange(9, dtype=np.uint16) * 999, ramp).astype(np.uint16)
    array = np.concatenate([noise, noise[:1], plane, plane // 2 + noise[0] // 9])
    file = io.BytesIO()
    deep_png.write(file, array, None, None)
    assert_array_equal(unpacked(file.getvalue()), array, strict=True)


def test_several_chunks(monkeypatch):
    monkeypatch.setattr(deep_png, "_IDAT", 5000)
    array = np.random.default_rng(14).integers(0, 2**16, (200, 60, 3), np.uint16)
    with open("in.png", "wb") as file:
        deep_png.write(file, array, None, None)
    with open("in.png", "rb") as file:
        assert file.read().count(b"\x13\x88IDAT") > 5
    assert_array_equal(images.read("in.png").pixels, array, strict=True)


@pytest.mark.parametrize("keep", [60, 0.5, 0.9])
def test_damaged(capsys, keep):
    content = png(np.random.default_rng(8).integers(0, 2**16, (40, 40, 3), np.uint16))
    with open("in.png", "wb") as file:
        file.write(content[: keep if keep > 1 else int(len(content) * keep)])
    assert refused(capsys, 1, "in.png", "out.png", "--scale", "1").startswith("cannot read in.png: ")
