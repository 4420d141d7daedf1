"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from remapnd.files import replacing


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_replacing_keeps_mode_and_link():
    Path("real").write_bytes(b"old")
    os.chmod("real", 0o640)
    os.symlink("real", "link")
    with replacing("link") as file:
        file.write(b"new")
        assert Path("real").read_bytes() == b"old"
    assert os.path.islink("link")
    assert Path("real").read_bytes() == b"new"
    assert stat.S_IMODE(os.stat("real").st_mode) == 0o640


def test_replacing_gives_new_files_the_usual_mode():
    Path("usual").write_bytes(b"")
    with replacing("new"):
        pass
    assert os.stat("new").st_mode == os.stat("usual").st_mode


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_replacing_after_an_exception(error):
    Path("file").write_bytes(b"old")

    def fail() -> None:
        with replacing("file") as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert os.listdir() == ["file"]
    assert Path("file").read_bytes() == b"old"
