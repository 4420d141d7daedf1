"""The binary form of descriptors: the structs of directml.h, to and from pointers and bytes.

Examples
--------
>>> from remapnd.directml import BufferTensorDesc, ResampleOperatorDesc, abi, check
>>> small, large = BufferTensorDesc("FLOAT32", (1, 2)), BufferTensorDesc("FLOAT32", (1, 4))
>>> data = abi.pack_bytes(ResampleOperatorDesc(small, large, "LINEAR", None, [1, 2]), arch="x86")
>>> desc = abi.read_bytes(data, arch="x86")
>>> desc.InterpolationMode, desc.ScaleCount, desc.Scales
(<InterpolationMode.LINEAR: 1>, 2, (1.0, 2.0))
>>> check(desc)
[]
>>> abi.find_struct("resample").layout("x64").offsets["Scales"]
24
"""

from remapnd.directml.abi.image import pack_bytes
from remapnd.directml.abi.native import NATIVE_ARCH, STRUCTURES, Packed, pack, read
from remapnd.directml.abi.reading import read_bytes
from remapnd.directml.abi.structs import STRUCTS, Field, Kind, Layout, Struct, find_struct

__all__ = [
    "NATIVE_ARCH",
    "STRUCTS",
    "STRUCTURES",
    "Field",
    "Kind",
    "Layout",
    "Packed",
    "Struct",
    "find_struct",
    "pack",
    "pack_bytes",
    "read",
    "read_bytes",
]


def __dir__() -> list[str]:
    """List what is public."""
    return __all__
