"""What the command line does before its modules are there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from remapnd.command_line import quiet_interrupt


def test_interrupt_is_one_line(capsys):
    with pytest.raises(SystemExit, match=r"^130$"):
        quiet_interrupt(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert capsys.readouterr().err == "remapnd: interrupted\n"


def test_other_errors_are_shown(capsys):
    quiet_interrupt(ValueError, ValueError("a fault"), None)
    assert capsys.readouterr().err == "ValueError: a fault\n"


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_interrupt_while_modules_are_imported(tmp_path):
    """A NumPy that takes long, and Ctrl-C meanwhile."""
    (tmp_path / "numpy.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.run(
        [sys.executable, "-m", "remapnd", "config"],
        env=os.environ | {"PYTHONPATH": paths},
        text=True,
        capture_output=True,
        check=False,
    )
    assert (process.returncode, process.stdout, process.stderr) == (130, "", "remapnd: interrupted\n")
