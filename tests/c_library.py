"""libremapnd built for the tests, and its functions by ctypes."""

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
from ctypes import POINTER, c_char_p, c_float, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from remapnd.directml.abi import STRUCTURES

ROOT = Path(__file__).parents[1]
_OBJECTS = ROOT / "build"

(
    OK,
    INVALID_ARGUMENT,
    INVALID_DESCRIPTOR,
    NOT_IN_LIBRARY,
    INVALID_BUFFER,
    INDEX_OUT_OF_RANGE,
    OUT_OF_MEMORY,
) = range(7)
LAST_LEVEL = 0x6400


def missing_tool() -> str | None:
    """Return what is missing to build the library, or None."""
    for tool in ("cmake", "ninja"):
        if not shutil.which(tool, path=_path()):
            return tool
    if not any(map(shutil.which, filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++", "cl")))):
        return "a C++ compiler"
    return None


def build(folder: Path) -> Path:
    """Build the library in `folder`, of the objects of the core if those are current; return its path."""
    with _alone(folder):
        configure = [
            "cmake",
            "-S",
            ROOT,
            "-B",
            folder,
            "-G",
            "Ninja",
            "-DREMAPND_PYTHON=OFF",
            "-DREMAPND_C_LIBRARY=ON",
        ]
        _run([*configure, f"-DREMAPND_OBJECTS_FROM={_OBJECTS if _objects_are_current() else ''}"])
        _run(["cmake", "--build", folder, "-j2"])
    suffix = {"win32": "remapnd.dll", "darwin": "libremapnd.dylib"}.get(sys.platform, "libremapnd.so")
    return folder / suffix


def compile_and_run(source: Path, library: Path, folder: Path, *flags: str) -> str:
    """Compile an example, run it, and return what it prints."""
    program = folder / source.stem
    where = [f"-I{ROOT / 'include'}", f"-L{library.parent}", "-lremapnd", f"-Wl,-rpath,{library.parent}"]
    _run(["cc", *flags, "-Wall", "-Wextra", "-Werror", "-pedantic", source, *where, "-o", program])
    return _run([program])


def _run(command: list) -> str:
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": _path()},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def _path() -> str:
    """Return PATH with the tools that are installed beside Python."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


@contextlib.contextmanager
def _alone(folder: Path):
    """Keep other processes that run tests out of the folder, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _objects_are_current() -> bool:
    """Whether the build directory has the core as it is now, without sanitizers."""
    cache = _OBJECTS / "CMakeCache.txt"
    if not cache.is_file() or "REMAPND_SANITIZE:STRING=\n" not in cache.read_text(encoding="utf-8"):
        return False
    return "no work to do" in _run(["cmake", "--build", _OBJECTS, "--", "-n"])


class Buffer(ctypes.Structure):
    """remapnd_input and remapnd_output."""

    _fields_ = (("data", c_void_p), ("size", c_size_t))


_DESC = POINTER(STRUCTURES["DML_OPERATOR_DESC"])
_INIT = [c_int32, c_int32, c_int32, c_size_t, c_void_p, *[c_size_t] * 4, POINTER(c_void_p)]
_MAP = [c_float, c_float, c_float]
_STATUS = {
    "remapnd_set_num_threads": [c_int32],
    "remapnd_use_level": [c_char_p],
    "remapnd_directml_check": [_DESC, c_uint32, c_char_p, c_size_t],
    "remapnd_directml_compile": [_DESC, c_uint32, POINTER(c_void_p), c_char_p, c_size_t],
    "remapnd_op_dispatch": [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t],
    "remapnd_directml_dispatch": [_DESC, c_uint32, c_void_p, c_size_t, c_void_p, c_size_t],
    "remapnd_nearest_table": [c_int64, c_int64, *_MAP, c_int32, c_void_p],
    "remapnd_linear_table": [c_int64, c_int64, *_MAP, c_int32, *[c_void_p] * 3],
    "remapnd_synet_gather_elements_init": _INIT,
    "remapnd_synet_gather_elements_set_index": [c_void_p, c_void_p],
    "remapnd_synet_gather_elements_forward": [c_void_p, c_void_p, c_void_p, c_void_p],
}
_OTHERS = {
    "remapnd_version": (c_char_p, []),
    "remapnd_last_error": (c_char_p, []),
    "remapnd_status_name": (c_char_p, [c_int32]),
    "remapnd_get_num_threads": (c_int32, []),
    "remapnd_level": (c_char_p, []),
    "remapnd_op_input_count": (c_size_t, [c_void_p]),
    "remapnd_op_output_count": (c_size_t, [c_void_p]),
    "remapnd_op_input_size": (c_uint64, [c_void_p, c_size_t]),
    "remapnd_op_output_size": (c_uint64, [c_void_p, c_size_t]),
    "remapnd_op_release": (None, [c_void_p]),
    "remapnd_directml_tensor_size": (c_uint64, [c_uint32, c_uint32, c_void_p, c_void_p]),
    "remapnd_synet_gather_elements_internal_buffer_size": (c_size_t, [c_void_p]),
    "remapnd_synet_gather_elements_release": (None, [c_void_p]),
}


class CLibrary:
    """The functions, as attributes without ``remapnd_``; those here take and give what Python has."""

    def __init__(self, path: Path) -> None:
        self.names = [*_STATUS, *_OTHERS]
        library = ctypes.CDLL(str(path))
        for name in self.names:
            function = getattr(library, name)
            function.restype, function.argtypes = _OTHERS.get(name, (c_int32, _STATUS.get(name)))
            setattr(self, name.removeprefix("remapnd_"), function)

    def error(self) -> str:
        """Return the last error."""
        return self.last_error().decode()

    def checked(self, desc: Any, level: int = LAST_LEVEL) -> tuple[int, str]:
        """Check a descriptor: status and message."""
        message = ctypes.create_string_buffer(1 << 16)
        status = self.directml_check(desc, level, message, len(message))
        return status, message.value.decode()

    def dispatched(
        self, desc: Any, inputs: list, output: np.ndarray, level: int = LAST_LEVEL
    ) -> tuple[int, str]:
        """Run a descriptor on arrays: status and the last error."""
        status = self.directml_dispatch(desc, level, buffers(*inputs), len(inputs), buffers(output), 1)
        return status, self.error() if status else ""


def buffers(*arrays: np.ndarray) -> ctypes.Array:
    """Name the memory of arrays."""
    return (Buffer * len(arrays))(*(Buffer(a.ctypes.data, a.nbytes) for a in arrays))


def pointer(array: np.ndarray | None) -> int | None:
    """Return the address of an array."""
    return None if array is None else array.ctypes.data
