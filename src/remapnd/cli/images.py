"""PNG and JPEG to arrays and back, by Pillow, which is imported here alone.

Used by `cli.resize`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

__all__ = ["FORMATS", "Picture", "check_writable", "read", "write"]

FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}

# Modes of Pillow that are arrays of channels as they are.
_CHANNEL_MODES = ("L", "LA", "RGB", "RGBA")


@dataclass
class Picture:
    """Pixels, uint8 (H, W) or (H, W, channels) or uint16 (H, W), and what belongs to them."""

    pixels: npt.NDArray[Any]
    color_profile: bytes | None = None
    notes: list[str] = field(default_factory=list)  # what was changed while reading, and why


def read(path: str) -> Picture:
    """Read a PNG or JPEG file, turned as its EXIF orientation says.

    Raises
    ------
    ModuleNotFoundError
        Pillow is not installed.
    OSError
        The file cannot be opened.
    ValueError
        It is damaged, too large for Pillow, or of a mode that is not supported.
    """
    image_module = _pillow()
    from PIL import ImageOps  # noqa: PLC0415

    with open(path, "rb") as file, warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # Pillow warns of odd metadata and of large images that it reads all the same
        try:
            image = image_module.open(file, formats=("PNG", "JPEG"))
            deep = "16" in str(image.tile[0][3]) if image.tile else False
            several = getattr(image, "n_frames", 1) > 1
            image = ImageOps.exif_transpose(image)
        except image_module.UnidentifiedImageError:
            raise ValueError("this is no PNG or JPEG file") from None
        except Exception as error:  # Pillow's decoders raise errors of many kinds on damaged files
            raise ValueError(f"cannot decode the image: {error}") from None
        notes = []
        if several:
            notes.append("only the first frame is read")
        if deep and image.mode in _CHANNEL_MODES:
            notes.append("Pillow reads 16-bit color as 8-bit")
        if deep and image.mode.startswith("I"):
            return Picture(np.asarray(image).astype(np.uint16), image.info.get("icc_profile"), notes)
        image, reason = _channels(image)
        if reason:
            notes.append(reason)
        return Picture(np.asarray(image), image.info.get("icc_profile"), notes)


def _channels(image: Any) -> tuple[Any, str]:
    """Return the image in a mode whose channels can be resampled, and why it had to be converted, if so."""
    mode, keyed = image.mode, "transparency" in image.info
    if mode in ("P", "PA"):
        target = "RGBA" if keyed or mode == "PA" else "RGB"
        return image.convert(
            target
        ), f"palette converted to {target}: between two palette numbers is no color"
    if mode == "1":
        return image.convert("L"), "1-bit pixels converted to L: there is nothing between 0 and 1"
    if mode in ("L", "RGB") and keyed:
        target = mode + "A"
        return image.convert(target), f"{mode} with a transparent color converted to {target}"
    if mode in _CHANNEL_MODES:
        return image, ""
    raise ValueError(f"the mode must be L, LA, RGB, RGBA, I;16, P or 1, got {mode}")


def check_writable(pixels: npt.NDArray[Any], image_format: str) -> None:
    """Raise ValueError unless a file of `image_format` can hold such an array."""
    channels = 1 if pixels.ndim == 2 else pixels.shape[2] if pixels.ndim == 3 else 0
    if image_format == "PNG":
        rule = "uint8 (H, W) or (H, W, 1 to 4) or uint16 (H, W)"
        fits = (
            1 <= channels <= 4 if pixels.dtype == np.uint8 else pixels.dtype == np.uint16 and pixels.ndim == 2
        )
    else:
        rule = "uint8 (H, W), (H, W, 1) or (H, W, 3)"
        fits = pixels.dtype == np.uint8 and channels in (1, 3)
    if not fits or pixels.size == 0:
        raise ValueError(f"a {image_format} file holds {rule}, not empty; got {pixels.dtype} {pixels.shape}")


def write(file: BinaryIO, picture: Picture, image_format: str) -> None:
    """Write a PNG or JPEG file; JPEG at quality 95 without chroma subsampling.

    Raises
    ------
    ModuleNotFoundError
        Pillow is not installed.
    ValueError
        A file of `image_format` cannot hold such an array.
    OSError
        The file cannot be written.
    """
    check_writable(picture.pixels, image_format)
    pixels = picture.pixels[:, :, 0] if picture.pixels.shape[2:] == (1,) else picture.pixels
    options: dict[str, Any] = {"quality": 95, "subsampling": 0} if image_format == "JPEG" else {}
    if picture.color_profile:
        options["icc_profile"] = picture.color_profile
    _pillow().fromarray(np.ascontiguousarray(pixels)).save(file, image_format, **options)


def _pillow() -> Any:
    """Return the module PIL.Image."""
    try:
        from PIL import Image  # noqa: PLC0415
    except ModuleNotFoundError:
        raise ModuleNotFoundError("PNG and JPEG need Pillow: pip install 'remapnd[image]'") from None
    return Image
