"""Resources of a model: buffers with their initial values.

Uses `values`, `npy`; used by `model`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from remapnd.directml.dxdispatch.npy import read_npy
from remapnd.directml.dxdispatch.values import UINT64_MAX, ModelError, Value
from remapnd.directml.enums import TensorDataType

_Source = tuple[tuple[Path, ...], bool]  # where files are, and whether they are read as DxDispatch does
_IMAGES = (".jpg", ".jpeg", ".png")
_FORMS = (
    'be an array of numbers, an array of objects with "type" and "value", an object with "valueCount" and '
    'either "value" or "valueStart" and "valueDelta", or an object with "sourcePath"'
)


@dataclass(frozen=True, eq=False)
class Resource:
    """A buffer as the model describes it.

    Attributes
    ----------
    name : key in the model
    data_type : of the elements; UNKNOWN for buffers of mixed types
    size_in_bytes : of the buffer
    offset : byte at which the initial values begin
    initial_values : ndarray of uint8, 1-D; the bytes of the initial values, read-only
    """

    name: str
    data_type: TensorDataType
    size_in_bytes: int
    offset: int
    initial_values: npt.NDArray[np.uint8]

    def allocate(self) -> npt.NDArray[np.uint8]:
        """Make the buffer: the initial values at their offset, zeros around them."""
        buffer = np.zeros(self.size_in_bytes, np.uint8)
        buffer[self.offset : self.offset + self.initial_values.size] = self.initial_values
        return buffer

    def elements(self, buffer: npt.NDArray[np.uint8]) -> npt.NDArray[np.generic]:
        """View the part of `buffer` that has initial values (so without padding) as elements."""
        dtype = self.data_type.dtype
        whole = self.initial_values.size // dtype.itemsize * dtype.itemsize
        return buffer[self.offset : self.offset + whole].view(dtype)


def read_resources(value: Value, bases: Iterable[Path], *, compat: bool = False) -> dict[str, Resource]:
    """Read the object ``resources`` of a model.

    Parameters
    ----------
    value : the object
    bases : directories in which a relative ``sourcePath`` is looked for, in this order
    compat : whether values go to the beginning of a buffer whatever their offset, and bytes of big-endian
        .npy files stay as they lie, as in DxDispatch

    Raises
    ------
    ModelError
        A member is malformed, a file cannot be read, or the buffers do not fit in the memory of the machine.
    """
    resources = {}
    left = _physical_memory() // 2  # as running needs the initial values and the buffers
    for name, member in value.members():
        resources[name] = _read_resource(name, member, (tuple(bases), compat), left)
        left -= resources[name].size_in_bytes
    return resources


def _read_resource(name: str, value: Value, source: _Source, memory: int) -> Resource:
    """Read one resource; `memory` is what it may take."""
    type_value = value.find("initialValuesDataType")
    data_type = TensorDataType.UNKNOWN if type_value is None else type_value.enumerator(TensorDataType)
    offset_value = value.find("initialValuesOffsetInBytes")
    offset = 0 if offset_value is None else offset_value.integer(0, UINT64_MAX)
    values = value.member("initialValues")
    data_type, initial = _read_initial_values(values, data_type, source, memory)
    if initial.size == 0:
        raise values.error("hold at least one byte")
    needed = offset + initial.size
    size_value = value.find("sizeInBytes")
    size = -(-needed // 4) * 4 if size_value is None else size_value.integer(0, UINT64_MAX)
    if size < needed:
        at = f" from byte {offset} on" if offset else ""
        raise (size_value or value).error(f"hold the {initial.size} bytes of the initial values{at}")
    _check_memory(size_value or offset_value or values, size, memory)
    initial.flags.writeable = False
    return Resource(name, data_type, size, 0 if source[1] else offset, initial)


def _read_initial_values(
    value: Value, data_type: TensorDataType, files: _Source, memory: int
) -> tuple[TensorDataType, npt.NDArray[np.uint8]]:
    """Read any form of initial values; a .npy file brings its own data type."""
    if value.content == "deferred":
        raise value.error("be given: buffers that an ONNX model allocates are not in this runtime")
    if isinstance(value.content, list):
        if data_type is TensorDataType.UNKNOWN:
            return data_type, _mixed(value)
        return data_type, _bytes_of(_numbers(value, _known(value, data_type)))
    if not isinstance(value.content, dict):
        raise value.error(_FORMS)
    source = value.find("sourcePath")
    if source is not None:
        _refuse_together(value, "sourcePath", ("value", "valueStart"))
        return _from_file(source, data_type, files, memory)
    count_value = value.find("valueCount")
    if count_value is None:
        raise value.error(_FORMS)
    dtype = _known(value, data_type)
    count = count_value.integer()
    _check_memory(count_value, count * dtype.itemsize, memory)
    constant = value.find("value")
    if constant is not None:
        _refuse_together(value, "value", ("valueStart",))
        return data_type, _bytes_of(np.full(count, _number(constant, dtype)))
    start = _number(value.member("valueStart"), dtype)
    delta = _number(value.member("valueDelta"), dtype)
    return data_type, _bytes_of(_sequence(start, delta, count))


def _refuse_together(value: Value, key: str, others: tuple[str, ...]) -> None:
    """`key` was found; it excludes `others`."""
    for other in others:
        if value.find(other) is not None:
            raise value.error(f'have only one of "{key}" and "{other}"', "both")


def _known(value: Value, data_type: TensorDataType) -> np.dtype[np.generic]:
    """Give the dtype that these initial values need."""
    if data_type.bits < 8:
        raise value.error("have beside it an initialValuesDataType of 8 bits or more", str(data_type))
    return data_type.dtype


def _bytes_of(array: npt.NDArray[np.generic]) -> npt.NDArray[np.uint8]:
    """View the memory of a 1-D array."""
    return array.view(np.uint8)


def _number(value: Value, dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
    """Read one element, as an array of rank 0."""
    if dtype.kind in "iu":
        return np.array(value.integer(*_limits(dtype)), dtype)
    return _narrow(np.array(value.real()), dtype, lambda _: value)


def _numbers(value: Value, dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
    """Read an array of elements."""
    if dtype.kind in "iu":
        return np.array(value.integers(*_limits(dtype)), dtype)
    return _narrow(np.array(value.reals(), np.float64), dtype, value.element)


def _limits(dtype: np.dtype[np.generic]) -> tuple[int, int]:
    """Smallest and largest value of an integer dtype."""
    bits = 8 * dtype.itemsize
    return (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _narrow(
    wide: npt.NDArray[np.float64], dtype: np.dtype[np.generic], place: Callable[[int], Value]
) -> npt.NDArray[np.generic]:
    """Round doubles to `dtype`; refuse those that become infinite, at `place` of their position."""
    with np.errstate(over="ignore"):
        narrow = wide.astype(dtype)
    overflown = np.flatnonzero(np.isinf(narrow) & ~np.isinf(wide))
    if overflown.size:
        rule = f'lie in the range of {TensorDataType.from_dtype(dtype)}, or be "inf" or "-inf"'
        raise place(int(overflown[0])).error(rule)
    return narrow


def _sequence(
    start: npt.NDArray[np.generic], delta: npt.NDArray[np.generic], count: int
) -> npt.NDArray[np.generic]:
    """Add `delta` again and again in the element type: floats round at every step, integers wrap."""
    steps = np.full(count, delta)
    steps[:1] = start
    with np.errstate(over="ignore", invalid="ignore"):
        return np.add.accumulate(steps, out=steps)


def _mixed(value: Value) -> npt.NDArray[np.uint8]:
    """Read elements that each name their type, packed without gaps."""
    parts = []
    for element in value.elements():
        if not isinstance(element.content, dict):
            raise element.error(
                'be an object with "type" and "value", as the resource has no "initialValuesDataType"'
            )
        type_value = element.member("type")
        data_type = type_value.enumerator(TensorDataType)
        if data_type.bits < 8 or data_type is TensorDataType.FLOAT16:
            raise type_value.error("be a data type of 8, 32 or 64 bits, or a 16-bit integer")
        parts.append(_number(element.member("value"), data_type.dtype).tobytes())
    return np.frombuffer(bytearray(b"".join(parts)), np.uint8)


def _from_file(
    value: Value, data_type: TensorDataType, source: _Source, memory: int
) -> tuple[TensorDataType, npt.NDArray[np.uint8]]:
    """Read a .npy file, or the bytes of any other."""
    bases, compat = source
    path = _find_file(value, bases)
    try:
        _check_memory(value, path.stat().st_size, memory)
        suffix = path.suffix.lower()
        if suffix in _IMAGES:
            raise value.error("name a .npy file or a file of raw bytes: images are not in this runtime")
        if suffix != ".npy":
            _known(value, data_type)
            return data_type, np.fromfile(path, np.uint8)
        array = read_npy(path, compat=compat)
    except OSError as error:
        raise value.error(f"name a file that can be read ({error.strerror})") from None
    except ModelError:
        raise
    except ValueError as error:
        raise value.error(str(error)) from None
    found = TensorDataType.from_dtype(array.dtype)
    if data_type not in (TensorDataType.UNKNOWN, found):
        raise value.error(f"hold the data type beside it, {data_type}", str(found))
    return found, _bytes_of(array)


def _find_file(value: Value, bases: tuple[Path, ...]) -> Path:
    """Find a source file in the first of `bases` that has it."""
    name = value.text()
    for base in bases:
        try:
            if (base / name).is_file():
                return base / name
        except (OSError, ValueError):  # too long, a null character, half of a surrogate pair
            break
    places = " or ".join(dict.fromkeys(map(str, bases)))
    raise value.error(f"name a file that is there, in {places}")


def _check_memory(value: Value, needed: int, memory: int) -> None:
    """Refuse before allocating what the machine cannot hold: the system might end the process for trying."""
    if needed > memory:
        rule = f"take at most the {memory} bytes that other resources leave of half this machine's memory"
        raise value.error(rule, f"{needed} bytes")


def _physical_memory() -> int:
    """Bytes of memory that this machine has; no limit where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize
