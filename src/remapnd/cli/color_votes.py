"""Majority of colors: each color is one label, not as many as it has channels.

Used by `cli.resize`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from remapnd.resample import resize

__all__ = ["has_colors", "resize_voted"]

_CHANNELS: Final = (2, 3, 4)
_SIZES: Final = {2: 2, 3: 4, 4: 4, 6: 8, 8: 8}  # bytes of the number that holds a color of so many bytes


def has_colors(pixels: npt.NDArray[Any]) -> bool:
    """Whether an image has colors of several channels, of 8 or 16 bits."""
    return pixels.ndim == 3 and pixels.shape[2] in _CHANNELS and pixels.dtype in (np.uint8, np.uint16)


def resize_voted(pixels: npt.NDArray[Any], shape: Any, **options: Any) -> npt.NDArray[Any]:
    """Resize by majority, a color with all its channels, alpha too, being one label.

    Parameters
    ----------
    pixels : ndarray of uint8 or uint16, shape (H, W, 2 to 4)
    shape, **options
        As in `resize`, with mode "majority"; the axes are H and W.

    Returns
    -------
    ndarray of the dtype of `pixels`, shape (new H, new W, channels)
        Of colors that weigh the same the one that is lowest in the first channel, then in the next.

    Raises
    ------
    TypeError, ValueError
        As in `resize`.
    """
    if "extrapolation_value" in options:
        value = np.full((1, 1, pixels.shape[2]), options["extrapolation_value"]).astype(pixels.dtype)
        options["extrapolation_value"] = _packed(value)[0, 0]
    numbers = resize(_packed(pixels), shape, **options)
    big_endian = numbers.astype(numbers.dtype.newbyteorder(">"))[..., np.newaxis]
    samples: npt.NDArray[Any] = big_endian.view(pixels.dtype.newbyteorder(">"))
    return samples[..., -pixels.shape[2] :].astype(pixels.dtype)


def _packed(pixels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return each color as one unsigned number, the first channel on top."""
    height, width, channels = pixels.shape
    itemsize = pixels.dtype.itemsize
    size = _SIZES[channels * itemsize]
    samples = np.zeros((height, width, size // itemsize), pixels.dtype.newbyteorder(">"))
    samples[..., -channels:] = pixels
    return samples.view(f">u{size}")[..., 0].astype(f"u{size}")
