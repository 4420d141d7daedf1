"""Run the tests against a core and a C library built with AddressSanitizer and UndefinedBehaviorSanitizer.

``python tests/sanitize.py [arguments of pytest]`` takes a clean checkout, GCC, and what CONTRIBUTING.md says
that building and testing take. Everything that it makes is in ``build-asan/``. Without arguments all tests
run, but those of `NOT_HERE`; the exit status is pytest's, or that of what failed before it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build-asan"
PACKAGE = FOLDER / "package"
SANITIZERS = "address,undefined"

NOT_HERE = {
    "tests/test_cli_struct.py::test_rust": "rustc crashes where the sanitizers are loaded before it",
    "tests/test_threads.py::test_memory_that_runs_out_in_helpers": "the sanitizers map more than its limit",
}
"""Tests that cannot run, and why."""


def build() -> Path:
    """Build the core and the C library; return the compiler."""
    configure = ["cmake", "-S", ROOT, "-B", FOLDER, "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}"]
    run(
        [
            *configure,
            f"-DREMAPND_SANITIZE={SANITIZERS}",
            "-DREMAPND_C_LIBRARY=ON",
            "-DCMAKE_BUILD_TYPE=Release",
        ]
    )
    run(["cmake", "--build", FOLDER, "-j", os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", "2")])
    # A package of its own: the core in src/ stays the usual one.
    shutil.rmtree(PACKAGE, ignore_errors=True)
    shutil.copytree(ROOT / "src", PACKAGE, ignore=shutil.ignore_patterns("__pycache__", "_core.*.so"))
    run(["cmake", "--install", FOLDER, "--prefix", PACKAGE])
    for line in (FOLDER / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("CMAKE_CXX_COMPILER:"):
            return Path(line.partition("=")[2])
    raise SystemExit(f"sanitize: {FOLDER}/CMakeCache.txt names no compiler")


def runtimes(compiler: Path) -> list[str]:
    """Find what has to be loaded before Python.

    The sanitizers, as they replace the functions of the C library; libstdc++, as they look for its exceptions
    when they are loaded.
    """
    found = []
    for name in ("libasan.so", "libubsan.so", "libstdc++.so"):
        command = [str(compiler), f"-print-file-name={name}"]
        path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        if not Path(path).is_absolute():
            raise SystemExit(f"sanitize: the compiler must have {name}, as GCC has, got {compiler}")
        found.append(str(Path(path).resolve()))
    return found


def environment(compiler: Path) -> dict[str, str]:
    """Return the variables that the tests run with."""
    options = [
        "detect_leaks=0",  # CPython frees much of its memory never
        "allocator_may_return_null=1",  # sizes that no memory has are a MemoryError here, too
        "detect_stack_use_after_return=1",
        "strict_string_checks=1",
    ]
    return {
        **os.environ,
        "LD_PRELOAD": os.pathsep.join(runtimes(compiler)),
        "ASAN_OPTIONS": ":".join(options),
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": str(PACKAGE),
        "PYTHONMALLOC": "malloc",  # blocks of Python's own allocator have no bounds that a sanitizer knows
        "REMAPND_TEST_C_LIBRARY": str(FOLDER / "libremapnd.so"),
    }


def run(command: list[str | Path]) -> None:
    """Run a step of the build, and end with its status if it fails."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(list(map(str, command)), check=False, env={**os.environ, "PATH": path})
    if done.returncode:
        raise SystemExit(done.returncode)


def main(arguments: list[str]) -> int:
    """Build, and run pytest; return its status."""
    variables = environment(build())
    if not arguments:
        arguments = ["-q", *(f"--deselect={name}" for name in NOT_HERE)]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
