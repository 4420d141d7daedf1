"""PNG and JPEG to arrays and back, by Pillow, which is imported here alone.

Used by `cli.resize`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from remapnd.cli import deep_png

__all__ = ["FORMATS", "QUALITY", "Picture", "check_writable", "read", "write"]

FORMATS: Final = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
QUALITY: Final = 95  # of JPEG

# Modes of Pillow that are arrays of channels as they are.
_CHANNEL_MODES: Final = ("L", "LA", "RGB", "RGBA", "CMYK")
# Tags of EXIF.
_ORIENTATION: Final = 0x0112  # values from 5 on exchange height and width
_X_RESOLUTION: Final = 0x011A


@dataclass
class Picture:
    """Pixels and what belongs to them.

    Attributes
    ----------
    pixels : ndarray
        uint8 or uint16, (H, W) or (H, W, channels); uint8 (H, W) of palette numbers; bool (H, W) of 1-bit
        pixels. Of what was no image any array.
    color_profile : bytes or None
        ICC profile.
    dpi : (float, float) or None
        Pixels per inch along W and H.
    has_alpha : bool
        Whether the last channel says how opaque the others are.
    has_inks : bool
        Whether the channels are cyan, magenta, yellow and black.
    palette : Pillow image or None
        One that has the palette which the pixels are numbers of.
    notes : list of str
        What was changed while reading, and why.
    """

    pixels: npt.NDArray[Any]
    color_profile: bytes | None = None
    dpi: tuple[float, float] | None = None
    has_alpha: bool = False
    has_inks: bool = False
    palette: Any = None
    notes: list[str] = field(default_factory=list)


def read(path: str, *, as_labels: bool = False) -> Picture:
    """Read a PNG or JPEG file, turned as its EXIF orientation says.

    Parameters
    ----------
    path : str
    as_labels : bool
        Leave palette numbers and 1-bit pixels as they are; else they become colors, which can be mixed.

    Raises
    ------
    ModuleNotFoundError
        Pillow is not installed.
    OSError
        The file cannot be opened.
    ValueError
        It is damaged, too large for Pillow, or of a mode that is not supported.
    """
    with open(path, "rb") as file, warnings.catch_warnings():
        image_module = _pillow()
        # Pillow warns of odd metadata and of large images that it reads all the same.
        warnings.simplefilter("ignore")
        try:
            return _decoded(file, image_module, as_labels)
        except image_module.UnidentifiedImageError:
            raise ValueError("this is no PNG or JPEG file") from None
        except _UnsupportedError:
            raise
        except Exception as error:  # Pillow's decoders raise errors of many kinds on damaged files
            raise ValueError(f"cannot decode the image: {error}") from None


class _UnsupportedError(ValueError):
    """The file is good, but of a kind that is not supported."""


def _decoded(file: BinaryIO, image_module: Any, as_labels: bool) -> Picture:
    """Decode an open file."""
    from PIL.ImageOps import exif_transpose  # noqa: PLC0415

    def opened() -> Any:
        file.seek(0)
        return image_module.open(file, formats=("PNG", "JPEG"))

    image = opened()
    notes = ["only the first frame is read"] if getattr(image, "n_frames", 1) > 1 else []
    deep = deep_png.read(opened, exif_transpose) if deep_png.is_deep(image) else None
    if deep is not None:
        image = opened()  # reading the file has moved it on
    upright = exif_transpose(image)
    dpi = image.info.get("dpi")
    if image.format == "JPEG" and not image.info.get("jfif_unit") and _X_RESOLUTION not in image.getexif():
        dpi = None  # Pillow says 72 where the file says nothing
    if dpi and image.getexif().get(_ORIENTATION, 1) >= 5:
        dpi = dpi[::-1]
    kept = {"color_profile": image.info.get("icc_profile"), "dpi": dpi, "notes": notes}
    key = image.info.get("transparency")
    if deep is None and upright.mode.startswith("I"):
        deep = np.asarray(upright).astype(np.uint16)
    if deep is not None:
        has_alpha = deep.shape[2:] in ((2,), (4,))
        if key is not None and not has_alpha:
            notes.append("the transparent color became alpha")
            deep, has_alpha = _with_alpha(deep, key), True
        return Picture(deep, has_alpha=has_alpha, **kept)
    if as_labels and upright.mode in ("P", "1"):
        return Picture(np.asarray(upright), palette=upright if upright.mode == "P" else None, **kept)
    upright, reason = _channels(upright)
    notes += [reason] if reason else []
    has_alpha, has_inks = upright.mode in ("LA", "RGBA"), upright.mode == "CMYK"
    return Picture(np.asarray(upright), has_alpha=has_alpha, has_inks=has_inks, **kept)


def _with_alpha(pixels: npt.NDArray[np.uint16], key: Any) -> npt.NDArray[np.uint16]:
    """Add a channel that is 0 where the color is `key`, else 65535."""
    colors = pixels if pixels.ndim == 3 else pixels[..., None]
    keyed = (colors == np.array(key, np.int64)).all(axis=-1, keepdims=True)
    return np.concatenate([colors, np.where(keyed, 0, 0xFFFF).astype(np.uint16)], axis=-1)


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
    raise _UnsupportedError(f"the mode must be {', '.join(_CHANNEL_MODES)}, I;16, P or 1, got {mode}")


def check_writable(picture: Picture, image_format: str) -> None:
    """Raise ValueError unless a file of `image_format` can hold the picture, of which no pixel is read.

    Raises
    ------
    ModuleNotFoundError
        Pillow is not installed.
    ValueError
        The file cannot hold pixels of this dtype and shape, or no alpha, inks or palette.
    """
    _pillow()
    pixels, dtype = picture.pixels, picture.pixels.dtype
    channels = 1 if pixels.ndim == 2 else pixels.shape[2] if pixels.ndim == 3 else 0
    if image_format == "PNG":
        rule = "uint8 or uint16 (H, W) or (H, W, 1 to 4), or bool (H, W)"
        fits = (
            1 <= channels <= 4 if dtype in (np.uint8, np.uint16) else dtype == np.bool_ and pixels.ndim == 2
        )
        if picture.has_inks:
            raise ValueError("a PNG file has no CMYK: write a .jpg, or convert the image to RGB first")
    else:
        rule = "uint8 (H, W), (H, W, 1) or (H, W, 3)"
        fits = dtype == np.uint8 and (channels in (1, 3) or picture.has_inks) and not picture.palette
    if fits and pixels.size:
        return
    advice = ""
    if dtype.kind == "f":
        advice = ": scale the values to 0..255 and convert them to uint8 first, or write a .npy"
    elif dtype not in (np.uint8, np.uint16, np.bool_):
        advice = ": convert the values to uint8 first, or write a .npy"
    elif not pixels.size:
        advice = ", which has no pixels"
    elif image_format == "JPEG" and channels in (2, 4) and dtype == np.uint8:
        advice = ": JPEG has no alpha channel, write a .png"
    elif image_format == "JPEG" and (picture.palette or dtype in (np.bool_, np.uint16)):
        what = "palette" if picture.palette else "1-bit pixels" if dtype == np.bool_ else "16-bit samples"
        advice = f": JPEG has no {what}, write a .png"
    raise ValueError(f"a {image_format} file holds {rule}; got {dtype} {pixels.shape}{advice}")


def write(file: BinaryIO, picture: Picture, image_format: str, quality: int = QUALITY) -> None:
    """Write a PNG or JPEG file; JPEG without chroma subsampling.

    Raises
    ------
    ModuleNotFoundError
        Pillow is not installed.
    ValueError
        A file of `image_format` cannot hold the picture.
    OSError
        The file cannot be written.
    """
    check_writable(picture, image_format)
    pixels = picture.pixels[:, :, 0] if picture.pixels.shape[2:] == (1,) else picture.pixels
    image_module = _pillow()
    if pixels.dtype == np.uint16 and pixels.ndim == 3:
        deep_png.write(file, pixels, picture.color_profile, picture.dpi)
        return
    options: dict[str, Any] = {"quality": quality, "subsampling": 0} if image_format == "JPEG" else {}
    if picture.color_profile:
        options["icc_profile"] = picture.color_profile
    if picture.dpi:
        options["dpi"] = picture.dpi
    image = image_module.fromarray(np.ascontiguousarray(pixels))
    if picture.palette:
        image.putpalette(picture.palette.getpalette())
        if "transparency" in picture.palette.info:
            options["transparency"] = picture.palette.info["transparency"]
    if picture.has_inks:
        height, width = pixels.shape[:2]
        image = image_module.frombytes("CMYK", (width, height), np.ascontiguousarray(pixels).tobytes())
    image.save(file, image_format, **options)


def _pillow() -> Any:
    """Return the module PIL.Image."""
    try:
        from PIL import Image  # noqa: PLC0415
    except ModuleNotFoundError:
        raise ModuleNotFoundError("PNG and JPEG need Pillow: pip install 'remapnd[image]'") from None
    return Image
