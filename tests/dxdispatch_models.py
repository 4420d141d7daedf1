"""A model that the tests of `directml.dxdispatch` and of the command line change in one place each."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from remapnd.directml.dxdispatch import Model, Options, check_all_bindings, execute, read_model, violations

# The first example of the reference page of GATHER_ND: output[y, x] = input[indices[y], x].
GATHER_ND: dict[str, Any] = {
    "resources": {
        "input": {"initialValuesDataType": "FLOAT32", "initialValues": [0, 1, 2, 3]},
        "indices": {"initialValuesDataType": "UINT32", "initialValues": [1, 0]},
        "output": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "value": 9}},
    },
    "dispatchables": {
        "gather": {
            "type": "DML_OPERATOR_GATHER_ND",
            "desc": {
                "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
                "IndicesTensor": {"DataType": "UINT32", "Sizes": [2, 1]},
                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
                "InputDimensionCount": 2,
                "IndicesDimensionCount": 2,
            },
        }
    },
    "commands": [
        {
            "type": "dispatch",
            "dispatchable": "gather",
            "bindings": {"InputTensor": "input", "IndicesTensor": "indices", "OutputTensor": "output"},
        },
        {"type": "print", "resource": "output"},
    ],
}

ABSENT = object()


def changed(model: dict[str, Any], *changes: tuple[str, Any]) -> dict[str, Any]:
    """Copy a model and set values at paths such as ``commands/0/type``; `ABSENT` deletes."""
    result = copy.deepcopy(model)
    for path, value in changes:
        *steps, last = path.split("/")
        place: Any = result
        for step in steps:
            place = place[int(step) if isinstance(place, list) else step]
        key: Any = int(last) if isinstance(place, list) else last
        if value is ABSENT:
            del place[key]
        else:
            place[key] = value
    return result


def save(folder: Path, model: object, name: str = "model.json") -> str:
    """Write a model and give its path."""
    path = folder / name
    path.write_text(model if isinstance(model, str) else json.dumps(model), encoding="utf-8")
    return str(path)


def load(folder: Path, model: object, **options: Any) -> Model:
    """Read a model from a file of its own."""
    return read_model(save(folder, model), **options)


def output_of(folder: Path, model: object, options: Options | None = None, **paths: Any) -> list[str]:
    """Run a model that must be valid; give the lines it prints."""
    loaded = load(folder, model, **paths)
    how = options or Options()
    found = violations(loaded, how.feature_level, how.policy)
    assert not any(found.values()), found
    check_all_bindings(loaded)
    lines: list[str] = []
    execute(loaded, lines.append, how)
    return lines
