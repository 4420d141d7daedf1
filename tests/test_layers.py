"""The levels of ARCHITECTURE.md: modules import from their own level or below, and never in a circle."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "remapnd"

# A name stands for a module or for a package with all that is in it.
LEVELS = {
    "__init__": 5,
    "__main__": 5,
    "cli": 5,
    "directml": 4,
    "onnx": 4,
    "simd": 4,
    "webnn": 4,
    "bench": 4,
    "gather": 3,
    "scatter": 3,
    "resample": 3,
    "grid_sample": 3,
    "regions": 3,
    "tensor_scatter": 3,
    "config": 3,
    "selftest": 3,
    "plans": 2,
    "arrays": 1,
    "coordinates": 1,
    "taps": 1,
    "double_double": 1,
    "lanczos": 1,
    "filters": 1,
    "filter_weights": 1,
    "filter_taps": 1,
    "transposes": 1,
    "reference": 1,
    "reference_resample": 1,
    "reference_sample": 1,
    "command_line": 0,
    "errors": 0,
    "checks": 1,
    "files": 0,
    "_version": 0,
    "_core": 0,
}


def modules() -> dict[str, Path]:
    """Dotted name below remapnd -> file; a package is named without its __init__, but for remapnd itself."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[-1] == "__init__" and len(parts) > 1:
            parts = parts[:-1]
        found[".".join(parts)] = path
    return found


MODULES = modules()


def imports(name: str, path: Path) -> set[str]:
    """Return the modules of remapnd that the module `name` imports, anywhere in it, typing or not."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    if name == "__init__":
        package = []
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            targets = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".") if node.module else []
            if node.level:
                base = ["remapnd", *package[: len(package) - (node.level - 1)], *base]
            targets = [(".".join(base), alias.name) for alias in node.names]
        else:
            continue
        for module, attribute in targets:
            if module.partition(".")[0] != "remapnd":
                continue
            inside = module.removeprefix("remapnd").removeprefix(".")
            longer = f"{inside}.{attribute}".strip(".")
            if longer in MODULES or longer == "_core":
                found.add(longer)
            else:
                found.add(inside or "__init__")
    return found


def level(name: str) -> int:
    return LEVELS[name.split(".", maxsplit=1)[0]]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_has_a_level(name):
    assert name.split(".")[0] in LEVELS


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_downward(name):
    upward = {other for other in imports(name, MODULES[name]) if level(other) > level(name)}
    assert not upward, f"remapnd.{name} (level {level(name)}) imports {sorted(upward)}"


def test_nothing_imports_in_a_circle():
    graph = {name: imports(name, path) - {name} for name, path in MODULES.items()}
    assert list(TopologicalSorter(graph).static_order())  # CycleError otherwise


def test_only_bindings_and_kernels_know_their_own():
    """nanobind and NumPy's C API stay in bindings.cpp and bind*, intrinsics in csrc/simd/."""
    csrc = PACKAGE.parent.parent / "csrc"
    files = {
        path.relative_to(csrc).as_posix(): path.read_text(encoding="utf-8") for path in csrc.rglob("*.?pp")
    }
    python = ("<nanobind/", "<numpy/", '"bind.hpp"', '"bind_prepared.hpp"')
    knows_python = {name for name, text in files.items() if any(header in text for header in python)}
    assert {name for name in knows_python if not name.startswith("bind")} == set()
    # dispatch.cpp asks the processor what it has
    intrinsics = {name for name, text in files.items() if "immintrin.h>" in text or "arm_neon.h>" in text}
    assert {name for name in intrinsics if not name.startswith("simd/")} <= {"dispatch.cpp"}
