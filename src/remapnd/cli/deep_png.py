"""PNG with 16 bits in each of several channels, which Pillow only knows with 8.

Pillow decodes such files as well, dropping half of the bits; told that the bytes of a sample come in the
opposite order, it drops the other half. Used by `cli.images`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

__all__ = ["is_deep", "read", "write"]

# Raw modes of Pillow, most significant byte first; and as what else to read the same bytes.
_LOW_BYTES: Final = {"RGB;16B": "RGB;16L", "RGBA;16B": "RGBA;16L"}
_GREY_ALPHA: Final = "LA;16B"
_FOUR_BYTES: Final = "RGBA"
_COLOR_TYPES: Final = {1: 0, 2: 4, 3: 2, 4: 6}  # by channels
_IDAT: Final = 1 << 20  # bytes of a chunk of data
_METRE: Final = 0.0254  # of an inch


def is_deep(image: Any) -> bool:
    """Whether an image that Pillow has opened, not loaded, has 16 bits in several channels."""
    return bool(image.tile) and _raw_mode(image) in (*_LOW_BYTES, _GREY_ALPHA)


def read(open_image: Callable[[], Any], turn: Callable[[Any], Any]) -> npt.NDArray[np.uint16]:
    """Read such an image; without the transparency of one color.

    Parameters
    ----------
    open_image : callable
        Opens the file with Pillow, anew for each call.
    turn : callable
        Turns a loaded image as its EXIF orientation says.

    Returns
    -------
    ndarray of uint16, shape (H, W, 2 to 4)
    """
    image = open_image()
    raw = _raw_mode(image)
    if raw == _GREY_ALPHA:
        return np.ascontiguousarray(np.asarray(turn(_as(image, _FOUR_BYTES)))).view(">u2").astype(np.uint16)
    high = np.asarray(turn(image)).astype(np.uint16)
    high <<= 8
    high |= np.asarray(turn(_as(open_image(), _LOW_BYTES[raw])))
    return high


def write(
    file: BinaryIO, pixels: npt.NDArray[np.uint16], profile: bytes | None, dpi: tuple[float, float] | None
) -> None:
    """Write pixels, uint16 (H, W, 1 to 4), as a PNG file.

    Source of the format: W3C, Portable Network Graphics (PNG) Specification, third edition, 2025.
    """
    height, width, channels = pixels.shape
    file.write(b"\x89PNG\r\n\x1a\n")
    _chunk(file, b"IHDR", struct.pack(">IIBBBBB", width, height, 16, _COLOR_TYPES[channels], 0, 0, 0))
    if profile:
        _chunk(file, b"iCCP", b"ICC profile\0\0" + zlib.compress(profile))
    if dpi:
        _chunk(file, b"pHYs", struct.pack(">IIB", *(round(d / _METRE) for d in dpi), 1))
    packer = zlib.compressobj(6)
    rows = np.ascontiguousarray(pixels, ">u2").view(np.uint8).reshape(height, -1)
    above = np.zeros_like(rows[0])
    waiting = b""
    for row in rows:
        waiting += packer.compress(_filtered(row, above, 2 * channels))
        above = row
        while len(waiting) >= _IDAT:
            _chunk(file, b"IDAT", waiting[:_IDAT])
            waiting = waiting[_IDAT:]
    _chunk(file, b"IDAT", waiting + packer.flush())
    _chunk(file, b"IEND", b"")


def _raw_mode(image: Any) -> str:
    """How the bytes of the file are to be read."""
    arguments = image.tile[0][3]
    return str(arguments if isinstance(arguments, str) else arguments[0])


def _as(image: Any, raw_mode: str) -> Any:
    """Make Pillow read the bytes of the file in another way."""
    image.tile = [(*image.tile[0][:3], raw_mode)]
    return image


def _filtered(row: npt.NDArray[np.uint8], above: npt.NDArray[np.uint8], step: int) -> bytes:
    """Return the row filtered so that the sum of magnitudes is smallest, as the specification advises."""
    left = np.zeros_like(row)
    left[step:] = row[:-step]
    corner = np.zeros_like(row)
    corner[step:] = above[:-step]
    a, b, c = (part.astype(np.int16) for part in (left, above, corner))
    pa, pb, pc = np.abs(b - c), np.abs(a - c), np.abs(a + b - 2 * c)
    paeth = np.where((pa <= pb) & (pa <= pc), left, np.where(pb <= pc, above, corner))
    candidates = [row, row - left, row - above, row - ((a + b) >> 1).astype(np.uint8), row - paeth]
    costs = [int(np.abs(part.view(np.int8).astype(np.int16)).sum(dtype=np.int64)) for part in candidates]
    best = costs.index(min(costs))
    return bytes([best]) + candidates[best].tobytes()


def _chunk(file: BinaryIO, kind: bytes, content: bytes) -> None:
    """Write a chunk."""
    file.write(struct.pack(">I", len(content)) + kind + content)
    file.write(struct.pack(">I", zlib.crc32(kind + content)))
