"""Models in the JSON format of Microsoft's DxDispatch: read, check, run.

`read_model` makes a `Model` of a file, `violations` and `check_all_bindings` say whether it can run, and
`execute` runs it.
"""

from remapnd.directml.dxdispatch.execute import Options, check_all_bindings, execute, violations
from remapnd.directml.dxdispatch.model import Model, read_model
from remapnd.directml.dxdispatch.values import ModelError

__all__ = ["Model", "ModelError", "Options", "check_all_bindings", "execute", "read_model", "violations"]


def __dir__() -> list[str]:
    """List what is public."""
    return __all__
