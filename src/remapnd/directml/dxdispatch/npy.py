"""Reading .npy files as the data of resources.

Used by `resources`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

_SWAPPED = (2, 4, 8, 16)  # what the swap of DxDispatch takes for the size of a number


def read_npy(path: Path, *, compat: bool = False) -> npt.NDArray[np.generic]:
    """Read a .npy file of numbers in C order as a flat array in native byte order.

    With `compat` bytes of big-endian numbers are taken as they lie, except that all of an array of 2, 4, 8 or
    16 bytes are reversed: DxDispatch swaps the array as if it were one number.

    Raises
    ------
    ValueError
        The file is not one; the message is a rule, such as "be a .npy file in C order".
    """
    try:
        array = np.load(path, allow_pickle=False)
    except Exception as error:  # NumPy's header parser lets many kinds out, all meaning the same
        reason = " ".join(str(error).split())
        raise ValueError(f"be a whole .npy file of numbers ({reason})") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise ValueError("be a .npy file, not an archive of several")
    if array.dtype.kind not in "biuf" or array.itemsize > 8:
        raise ValueError(f"hold integers or floating-point numbers of up to 8 bytes, not {array.dtype}")
    if not array.flags.c_contiguous:
        raise ValueError("be a .npy file in C order, not Fortran order")
    flat = array.reshape(-1)
    flat = flat.view(np.uint8) if flat.dtype.kind == "b" else flat
    if compat and not flat.dtype.isnative:
        native: npt.NDArray[np.generic] = flat.view(flat.dtype.newbyteorder("="))
        if flat.nbytes in _SWAPPED:
            native = native.view(np.uint8)[::-1].copy().view(native.dtype)
        return native
    return flat.astype(flat.dtype.newbyteorder("="), copy=False)
