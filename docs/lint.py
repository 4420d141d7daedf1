"""Write docs/lint.md: what `remapnd lint` says of the models in wheels, which are given in a directory."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import zipfile
from pathlib import Path

import onnx
import onnxruntime

from remapnd.cli import main

DOWNLOAD = "python -m pip download --no-deps -d wheels "
PACKAGES = ("rapidocr-onnxruntime==1.4.4", "nudenet==3.4.2", "silero-vad==6.2.3")
DIMS = {
    "ch_PP-OCRv4_det_infer.onnx": [
        "p2o.DynamicDimension.0=1",
        "p2o.DynamicDimension.1=320",
        "p2o.DynamicDimension.2=320",
    ],
    "320n.onnx": ["batch=1", "height=320", "width=320"],
}
MODELS = (*DIMS, "silero_vad.onnx")

HEAD = f"""\
# `remapnd lint` on models that people use

Three models out of wheels: a text detector (nearest Resize by a scale), an object detector (the same, and
shapes computed by Gather), a voice detector (Gather within `If`). This file is made by

```sh
{DOWNLOAD}{" ".join(PACKAGES)}
python docs/lint.py wheels > docs/lint.md
```

which ran with onnx {onnx.__version__} and onnxruntime {onnxruntime.__version__}.

The columns are the operator that ONNX Runtime's DirectML provider makes of a node, the feature level from
which DirectML takes it with the node's type and rank, and the method of WebNN's graph builder that takes it.
With `--verify` the last one says whether the node gives here what it gives in ONNX Runtime's CPU provider, on
the tensors that the model computes from random inputs: equal (every bit), close (within `--tolerance`) or
differs.

What is said of the provider comes from its source and from DirectML's reference pages, not from a device; in
which opsets and for which types a release of ONNX Runtime registers an operator is not looked at.
"""


def show(arguments: list[str]) -> None:
    """Print a command and what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main(arguments)
    words = " ".join(arguments)
    print(f"\n## {arguments[1]}\n\n```sh\nremapnd {words}\n```\n")
    print(f"```text\n{out.getvalue()}```\n")
    print(f"Exit status {status}.")


def run(wheels: Path) -> None:
    """Unpack the models and look at each."""
    with tempfile.TemporaryDirectory() as folder:
        for wheel in sorted(wheels.glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                for name in archive.namelist():
                    if Path(name).name in MODELS:
                        Path(folder, Path(name).name).write_bytes(archive.read(name))
        os.chdir(folder)
        print(HEAD, end="")
        for model in MODELS:
            dims = [word for dim in DIMS.get(model, []) for word in ("--dim", dim)]
            show(["lint", model, *(["--verify"] if dims else []), *dims])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(
            "usage: python docs/lint.py WHEELS, a directory that is filled by\n"
            f"  {DOWNLOAD}{' '.join(PACKAGES)}"
        )
    run(Path(sys.argv[1]).resolve())
