"""The self-test: that it passes, that it would notice, and that its hashes are those of the reference."""

from __future__ import annotations

import json

import numpy as np
import pytest

from remapnd import _core, selftest
from remapnd.cli import main


@pytest.fixture
def hashes(tmp_path, monkeypatch):
    """The stored hashes in a file that a test may change."""
    path = tmp_path / "selftest.json"
    path.write_bytes(selftest._HASHES.read_bytes())
    monkeypatch.setattr(selftest, "_HASHES", path)
    return path


def test_every_case_on_every_level_and_number_of_threads():
    before = _core.level()
    report = selftest.run_selftest()
    assert report.ok, str(report)
    assert report.cases > 100
    assert set(report.runs) == {(level, n) for level in _core.levels_usable() for n in (1, 2, 3)}
    assert _core.level() == before


def test_names_are_distinct_and_each_has_its_hash():
    names = [case.name for case in selftest.cases()]
    assert len(set(names)) == len(names)
    assert list(json.loads(selftest._HASHES.read_text())) == names


def test_hashes_are_those_of_the_reference(tmp_path):
    """Writing compares kernels and reference, and gives the file that is there."""
    path = tmp_path / "again.json"
    assert selftest.write_hashes(path) == []
    assert path.read_bytes() == selftest._HASHES.read_bytes()


def test_nothing_is_written_if_kernel_and_reference_differ(tmp_path, monkeypatch):
    path = tmp_path / "never.json"
    case = selftest.Case("odd", np.negative, np.abs, (np.arange(3),), {})
    monkeypatch.setattr(selftest, "cases", lambda: iter([case]))
    assert selftest.write_hashes(path) == ["odd"]
    assert not path.exists()


def test_random_bits_are_those_of_splitmix64():
    def splitmix64(state: int) -> int:
        mask = 2**64 - 1
        z = state * 0x9E3779B97F4A7C15 & mask
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        return z ^ z >> 31

    for seed in (0, 1, 300):
        assert selftest._bits(seed, 5).tolist() == [splitmix64((seed << 32) + n) for n in range(1, 6)]
    assert splitmix64(1) == 0xE220A8397B1DCDAF  # the first number for seed 0, as its authors print it


@pytest.mark.parametrize("dtype", [*selftest._MOVED, *selftest._LINEAR_INTEGERS])
def test_values_have_their_dtype_and_differ(dtype):
    values = selftest._values(1, (40, 5), dtype)
    assert (values.dtype, values.shape) == (np.dtype(dtype), (40, 5))
    assert len(np.unique(values.ravel().view(np.uint8))) > (1 if dtype == "bool" else 20)
    assert values.tobytes() != selftest._values(2, (40, 5), dtype).tobytes()


def test_special_values_have_every_kind():
    values = selftest._special(1, (100, 10), "float32")
    assert np.isnan(values).any()
    assert np.isposinf(values).any()
    assert np.isneginf(values).any()
    assert ((values == 0) & np.signbit(values)).any()
    assert np.isfinite(values).sum() > 500


def test_a_changed_hash_is_noticed(hashes):
    stored = json.loads(hashes.read_text())
    first, second, *_ = stored
    stored[first] = "0" * 64
    del stored[second]
    hashes.write_text(json.dumps(stored))
    report = selftest.run_selftest(["plain"], threads=[2])
    assert not report.ok
    assert list(report.runs) == [("plain", 2)]
    changed, missing = report.runs["plain", 2]
    assert changed.startswith(f"{first}: SHA-256 is ")
    assert changed.endswith(", not 0000000000000000...")
    assert missing == f"{second}: no hash is stored"
    table = str(report).splitlines()
    assert table[0].split() == ["level", "2", "threads"]
    assert table[1].split() == ["plain", str(report.cases - 2), "of", str(report.cases), "ok"]
    assert table[2:] == [f"plain, 2 threads: {changed}", f"plain, 2 threads: {missing}"]


def test_a_case_that_raises_is_noticed_and_the_level_restored(monkeypatch, hashes):
    def broken(array: np.ndarray) -> np.ndarray:
        raise MemoryError("no")

    case = selftest.Case("odd", broken, broken, (np.arange(3),), {})
    monkeypatch.setattr(selftest, "cases", lambda: iter([case]))
    hashes.write_text(json.dumps({"odd": "0" * 64}))
    before = _core.level()
    report = selftest.run_selftest(threads=[1])
    assert report.runs["plain", 1] == ["odd: MemoryError: no"]
    assert _core.level() == before


def test_dtype_and_shape_count():
    array = np.zeros(6, np.uint8)
    same = [array, array.copy(), array.astype(">u1")]
    other = [array.view(np.int8), array.reshape(2, 3), array.reshape(6, 1), array.astype(np.uint16)[:3]]
    known = {selftest.Case("", lambda a=a: a, lambda: None, (), {}).hash(lambda a=a: a) for a in same}
    assert len(known) == 1
    assert len(known | {selftest.Case("", np.array, np.array, (a,), {}).hash(np.array) for a in other}) == 5


def test_byte_order_and_layout_do_not_count():
    array = np.arange(6, dtype="<i4").reshape(2, 3)
    case = selftest.Case("", np.asarray, np.asarray, (), {})
    layouts = [array, array.astype(">i4"), np.asfortranarray(array)]
    assert len({case.hash(lambda a=a: a) for a in layouts}) == 1


@pytest.mark.parametrize("level", ["v9", ""])
def test_level_that_is_not_usable(level):
    with pytest.raises(ValueError, match=rf"^run_selftest: `levels` must be among plain.*, got '{level}'$"):
        selftest.run_selftest([level])


def test_command_line(capsys):
    assert main(["selftest"]) == 0
    out, err = capsys.readouterr()
    title, heads, *rows = out.splitlines()
    count = sum(1 for _ in selftest.cases())
    assert title.endswith(f": {count} cases")
    assert heads.split() == ["level", "1", "thread", "2", "threads", "3", "threads"]
    assert [row.split()[0] for row in rows] == _core.levels_usable()
    assert all(row.count(f"{count} of  {count} ok") == 3 for row in rows)
    assert err == ""


def test_command_line_fails_if_a_hash_differs(capsys, hashes):
    stored = json.loads(hashes.read_text())
    stored[next(iter(stored))] = "0" * 64
    hashes.write_text(json.dumps(stored))
    assert main(["selftest"]) == 1
    assert "SHA-256 is" in capsys.readouterr().out
