"""Files given to the wrong sub-command: models of ONNX and of DxDispatch.

Used by `cli.run`, `cli.check` and `cli.lint`.
"""

from __future__ import annotations

import os
from pathlib import Path

from remapnd.directml.dxdispatch import ModelError
from remapnd.directml.dxdispatch.json_text import parse_json

_ONNX_SUFFIXES = (
    ".onnx", ".pb", ".onnxtxt", ".onnxtext", ".onnxjson", ".textproto", ".txtpb", ".prototxt", ".pbtxt"
)  # fmt: skip
_DXDISPATCH_KEYS = {"resources", "dispatchables", "commands"}


def onnx_hint(file: str) -> str:
    """Return a hint for a file that is named as models of ONNX are, else nothing."""
    is_onnx = os.path.splitext(file)[1].lower() in _ONNX_SUFFIXES and os.path.isfile(file)
    return " (a model of ONNX? use remapnd lint)" if is_onnx else ""


def dxdispatch_hint(file: str) -> str:
    """Return a hint for a file that holds a model of DxDispatch, else nothing."""
    try:
        content = parse_json(Path(file).read_bytes().decode("utf-8-sig"), file)
    except (OSError, UnicodeDecodeError, ModelError):
        return ""
    is_model = isinstance(content, dict) and bool(_DXDISPATCH_KEYS & content.keys())
    return " (a DxDispatch model? use remapnd check)" if is_model else ""
