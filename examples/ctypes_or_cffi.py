"""libremapnd from a program without the package remapnd, by ctypes: GATHER_ELEMENTS on its own memory.

Usage: python ctypes_or_cffi.py /path/to/libremapnd.so.  With cffi the declarations of the two headers can be
pasted into ``cdef`` once the preprocessor's lines are out (``cc -E -P``).
"""

import ctypes
import sys


class BufferTensor(ctypes.Structure):
    """DML_BUFFER_TENSOR_DESC on x64 and AArch64."""

    _fields_ = (
        ("data_type", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("dimension_count", ctypes.c_uint32),
        ("sizes", ctypes.POINTER(ctypes.c_uint32)),
        ("strides", ctypes.POINTER(ctypes.c_uint32)),
        ("total_bytes", ctypes.c_uint64),
        ("alignment", ctypes.c_uint32),
    )


class Typed(ctypes.Structure):
    """DML_TENSOR_DESC and DML_OPERATOR_DESC."""

    _fields_ = (("type", ctypes.c_uint32), ("desc", ctypes.c_void_p))


class GatherElements(ctypes.Structure):
    """DML_GATHER_ELEMENTS_OPERATOR_DESC."""

    _fields_ = (
        ("input", ctypes.POINTER(Typed)),
        ("indices", ctypes.POINTER(Typed)),
        ("output", ctypes.POINTER(Typed)),
        ("axis", ctypes.c_uint32),
    )


class Buffer(ctypes.Structure):
    """remapnd_input and remapnd_output."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t))


FLOAT32, INT32 = 1, 6
BUFFER, GATHER_ELEMENTS = 1, 107
LAST_FEATURE_LEVEL = 0x6400

if len(sys.argv) != 2:
    sys.exit(f"usage: python {sys.argv[0]} /path/to/libremapnd.so")
lib = ctypes.CDLL(sys.argv[1])
lib.remapnd_directml_tensor_size.restype = ctypes.c_uint64
lib.remapnd_last_error.restype = ctypes.c_char_p


def describe(data_type: int, *sizes: int) -> Typed:
    """Describe a packed tensor; ctypes keeps what is pointed at alive only as long as the objects here do."""
    numbers = (ctypes.c_uint32 * len(sizes))(*sizes)
    total = lib.remapnd_directml_tensor_size(data_type, len(sizes), numbers, None)
    tensor = BufferTensor(data_type, 0, len(sizes), numbers, None, total, 0)
    described = Typed(BUFFER, ctypes.addressof(tensor))
    described.keep = tensor
    return described


def memory(values: "ctypes.Array[ctypes.c_float] | ctypes.Array[ctypes.c_int32]") -> Buffer:
    """Name an array's memory."""
    return Buffer(ctypes.addressof(values), ctypes.sizeof(values))


data = (ctypes.c_float * 6)(0, 1, 2, 3, 4, 5)
indices = (ctypes.c_int32 * 4)(2, -1, 0, 1)
output = (ctypes.c_float * 4)()
tensors = describe(FLOAT32, 2, 3), describe(INT32, 2, 2), describe(FLOAT32, 2, 2)
gather = GatherElements(*map(ctypes.pointer, tensors), 1)
desc = Typed(GATHER_ELEMENTS, ctypes.addressof(gather))
inputs = (Buffer * 2)(memory(data), memory(indices))
status = lib.remapnd_directml_dispatch(
    ctypes.byref(desc),
    ctypes.c_uint32(LAST_FEATURE_LEVEL),
    inputs,
    ctypes.c_size_t(2),
    ctypes.byref(memory(output)),
    ctypes.c_size_t(1),
)
if status:
    sys.exit(lib.remapnd_last_error().decode())
print(*output)
