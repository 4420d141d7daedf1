"""Models in the JSON format of DxDispatch.

Uses `json_text`, `resources`, `operators`, `bindings`; used by `execute` and the command line.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from remapnd.directml.dxdispatch.bindings import Binding, read_bindings, resource_name
from remapnd.directml.dxdispatch.json_text import parse_json
from remapnd.directml.dxdispatch.operators import read_operator
from remapnd.directml.dxdispatch.resources import Resource, read_resources
from remapnd.directml.dxdispatch.values import ModelError, Value, list_names
from remapnd.directml.enums import ExecutionFlags, TensorDataType
from remapnd.directml.operators import OperatorDesc

_COMPILE_TYPES = ("DmlCompileOp", "DmlCompileGraph")
_IMAGES = (".jpg", ".png")


@dataclass(frozen=True)
class Dispatchable:
    """An operator of the model.

    Attributes
    ----------
    name : key in the model
    desc : descriptor of the operator, not checked against its rules
    bindings : resources of the tensors that are OWNED_BY_DML, by field name
    value : where the model says so
    """

    name: str
    desc: OperatorDesc
    bindings: Mapping[str, Binding]
    value: Value


@dataclass(frozen=True)
class Dispatch:
    """The command to run a dispatchable on the resources that `bindings` names by tensor field."""

    dispatchable: Dispatchable
    bindings: Mapping[str, Binding]
    value: Value


@dataclass(frozen=True)
class Print:
    """The command to print a resource, with `verbose` one line for each element."""

    resource: Resource
    verbose: bool
    value: Value


@dataclass(frozen=True)
class WriteFile:
    """The command to write a resource to a file: .npy with `shape` (None for one dimension), or its bytes."""

    resource: Resource
    target: Path
    shape: tuple[int, ...] | None
    value: Value

    @property
    def is_npy(self) -> bool:
        """Whether the name of the file asks for .npy."""
        return self.target.suffix.lower() == ".npy"


Command: TypeAlias = Dispatch | Print | WriteFile


@dataclass(frozen=True)
class Model:
    """A model whose names all exist; whether its operators are valid is another question (`problems`).

    Attributes
    ----------
    file : as given
    resources, dispatchables : by name
    commands : in the order in which they run
    """

    file: str
    resources: Mapping[str, Resource]
    dispatchables: Mapping[str, Dispatchable]
    commands: tuple[Command, ...]


def read_model(
    file: str, *, input_path: str | None = None, output_path: str | None = None, compat: bool = False
) -> Model:
    """Read a model file and all files that its resources name.

    Parameters
    ----------
    file : path of the model
    input_path : directory of source files; None for that of the model. A source file that is not there is
        looked for in the working directory.
    output_path : directory of the files to write; None for the working directory
    compat : whether DxDispatch's known bugs in reading resources are kept (`Policy.dxdispatch_compat`)

    Raises
    ------
    ModelError
        The model cannot be read or is malformed; the message is one line with the place. Unknown keys are
        ignored.

    Notes
    -----
    Source: guide and behaviour of DxDispatch 0.18. Where that goes on in silence or reads past an array, this
    is stricter. Of equal keys the last counts.
    """
    try:
        text = Path(file).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(
            f"{file}: must be a model in JSON, in UTF-8, got byte 0x{error.object[error.start]:02X} at "
            f"{error.start}"
        ) from None
    except OSError as error:
        raise ModelError(f"{file}: must be a file that can be read ({error.strerror})") from None
    root = Value(parse_json(text, file), file)
    base = Path(file).parent if input_path is None else Path(input_path)
    resources = read_resources(root.member("resources"), (base, Path()), compat=compat)
    dispatchables = {
        name: _read_dispatchable(name, member, resources)
        for name, member in root.member("dispatchables").members()
    }
    output = Path() if output_path is None else Path(output_path)
    commands = tuple(
        _read_command(element, resources, dispatchables, output)
        for element in root.member("commands").elements()
    )
    return Model(file, resources, dispatchables, commands)


def _read_dispatchable(name: str, value: Value, resources: Mapping[str, Resource]) -> Dispatchable:
    """Read one dispatchable; flags and way of compiling mean nothing on a CPU, but must be spelled right."""
    flags = value.find("executionFlags")
    if flags is not None:
        flags.flags(ExecutionFlags)
    compile_type = value.find("dmlCompileType")
    if compile_type is not None and compile_type.text() not in _COMPILE_TYPES:
        raise compile_type.error(f"be one of {', '.join(_COMPILE_TYPES)}")
    bindings = value.find("bindings")
    return Dispatchable(
        name, read_operator(value), {} if bindings is None else read_bindings(bindings, resources), value
    )


def _read_command(
    value: Value,
    resources: Mapping[str, Resource],
    dispatchables: Mapping[str, Dispatchable],
    output: Path,
) -> Command:
    """Read one command."""
    kind = value.member("type")
    match kind.text().lower():
        case "dispatch":
            name = value.member("dispatchable")
            if name.text() not in dispatchables:
                known = list_names(dispatchables) or "it has none"
                raise name.error(f"name a dispatchable of the model ({known})")
            bindings = read_bindings(value.member("bindings"), resources)
            return Dispatch(dispatchables[name.text()], bindings, value)
        case "print":
            resource = _resource(value, resources)
            if resource.data_type is TensorDataType.UNKNOWN:
                raise value.member("resource").error("name a resource with a data type, to be printed")
            verbose = value.find("verbose")
            return Print(resource, False if verbose is None else verbose.boolean(), value)
        case "writefile":
            return _read_write_file(value, _resource(value, resources), output)
        case _:
            raise kind.error('be "dispatch", "print" or "writeFile"')


def _resource(value: Value, resources: Mapping[str, Resource]) -> Resource:
    """Find the resource of a command."""
    return resources[resource_name(value.member("resource"), resources)]


def _read_write_file(value: Value, resource: Resource, output: Path) -> WriteFile:
    """Read the command writeFile and see that the file can be made of the resource."""
    path = value.member("targetPath")
    if not path.text() or not _is_path(path.text()):
        raise path.error("be the name of a file")
    dimensions = value.find("dimensions")
    shape = None if dimensions is None else dimensions.integers(1) or None
    command = WriteFile(resource, output / path.text(), shape, value)
    if command.target.suffix.lower() in _IMAGES:
        raise path.error("name a .npy file or a file for raw bytes: images are not in this runtime")
    if command.is_npy:
        if resource.data_type is TensorDataType.UNKNOWN:
            raise value.member("resource").error("name a resource with a data type, to be written as .npy")
        capacity = resource.size_in_bytes // resource.data_type.dtype.itemsize
        if dimensions is not None and shape is not None:
            _check_shape(dimensions, shape, capacity)
    return command


def _check_shape(value: Value, shape: tuple[int, ...], capacity: int) -> None:
    """Refuse dimensions that NumPy could not read again or the resource does not fill."""
    if len(shape) > 32 or math.prod(shape) > capacity:
        raise value.error(f"have at most 32 values with a product of at most {capacity}", json.dumps(shape))


def _is_path(text: str) -> bool:
    """Tell whether the system can take `text` as a path: no null character, no half of a surrogate pair."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False
