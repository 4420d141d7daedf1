"""Models from files, bytes and objects.

Used by `backend`, `lint` and `verify`.
"""

from __future__ import annotations

import os
import warnings

import onnx

from remapnd.errors import must

_LONGEST = 160  # characters of what a parser says


def as_model(op: str, model: onnx.ModelProto | bytes | str | os.PathLike[str]) -> onnx.ModelProto:
    """Return a model, read without its external data where it is not in memory yet.

    Raises
    ------
    OSError
        The file cannot be opened.
    TypeError
        `model` is none of these kinds.
    ValueError
        It holds other data. Of a kind of file that onnx reads as text, what its parser says is shown.
    """
    rule = "be a model of ONNX"
    if isinstance(model, onnx.ModelProto):
        whole = model
    elif isinstance(model, (bytes, str, os.PathLike)):
        try:
            whole = _read(model)
        except (OSError, MemoryError):
            raise
        except Exception as error:  # each format has a parser of its own, with errors of its own
            raise ValueError(must(op, "model", rule, _other(model, error))) from None
    else:
        rule = "be a ModelProto, the bytes of one, or the path of a file"
        raise TypeError(must(op, "model", rule, type(model).__name__))
    if not whole.HasField("graph"):
        raise ValueError(must(op, "model", rule, _other(model)))
    return whole


def _read(model: bytes | str | os.PathLike[str]) -> onnx.ModelProto:
    """Parse bytes or a file."""
    if isinstance(model, bytes):
        return onnx.load_model_from_string(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # onnx calls its own text format experimental
        return onnx.load(model, load_external_data=False)


def _other(model: onnx.ModelProto | bytes | str | os.PathLike[str], error: Exception | None = None) -> str:
    """Say what is there in place of a model."""
    if isinstance(model, onnx.ModelProto):
        return "one without a graph"
    if not (len(model) if isinstance(model, bytes) else os.path.getsize(model)):
        return "no bytes" if isinstance(model, bytes) else "an empty file"
    if error is not None and not _is_binary(model):
        return f"other data: {_text(error)}"
    return "other data or a part of a model"


def _is_binary(model: bytes | str | os.PathLike[str]) -> bool:
    """Whether onnx reads this as binary, whose parser says nothing that helps."""
    if isinstance(model, bytes):
        return True
    suffix = os.path.splitext(model)[1]
    return onnx.serialization.registry.get_format_from_file_extension(suffix) in (None, "protobuf")


def _text(error: Exception) -> str:
    """Return what a parser says, on one line of bounded length."""
    said = error.args[0] if error.args else ""
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(error)
    text = " ".join(text.partition("Available Fields")[0].split()).rstrip(".")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
