"""`remapnd resize`: what is wrong with a command line, a file or a target, in one line."""

from __future__ import annotations

import os
import signal
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cli_resize import refused, run
from PIL import Image

from remapnd import ResamplePlan


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data():
    array = np.random.default_rng(1).integers(0, 256, (6, 8, 3), np.uint8)
    np.save("in.npy", array)
    return array


@pytest.mark.parametrize(
    "text", ["", "0x4", "-3x4", "3x", "x3", "3.5x4", "axb", "3*4", "3x4x", "\u0663x4", "9" * 21]
)
def test_malformed_shape(data, capsys, text):
    line = refused(capsys, 2, "in.npy", "out.npy", f"--shape={text}")
    rule = "integers greater than 0 with x between them, such as 100 or 480x640"
    assert line == f"--shape must be {rule}, got {text!r}"


@pytest.mark.parametrize(
    "text",
    ["", "0", "-1", "nan", "inf", "1/0", "0/5", "0.0", "1e", "2x", "1,5", "50%", "1e-400", "1e999999999"],
)
def test_malformed_scale(data, capsys, text):
    line = refused(capsys, 2, "in.npy", "out.npy", f"--scale={text}")
    rule = "numbers greater than 0 with x between them, such as 0.5, 1/2 or 0.5x1"
    assert line == f"--scale must be {rule}, got {text!r}"


@pytest.mark.parametrize("text", ["", "0,", "a", "1.0", "0;1", "--1"])
def test_malformed_axes(data, capsys, text):
    line = refused(capsys, 2, "in.npy", "out.npy", "--shape", "3x4", f"--axes={text}")
    assert line == f"--axes must be integers with commas between them, got {text!r}"


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ("--shape 3x4 --axes 0", "--shape must have one number, or one for each of --axes 0, got 3x4"),
        (
            "--scale 3x4x5 --axes 0,1",
            "--scale must have one number, or one for each of --axes 0,1, got 3x4x5",
        ),
        ("--shape 3 --straight-alpha", "--straight-alpha goes with images, got in.npy"),
        (
            "--shape 3 --straight-alpha --mode nearest",
            "--straight-alpha goes with --mode linear, cubic, box or lanczos3, got --mode nearest",
        ),
        ("--shape 3 --nearest-rule ceil", "--nearest-rule goes with --mode nearest, got --mode linear"),
        (
            "--shape 3 --mode nearest --integer-rule truncate",
            "--integer-rule goes with --mode linear, cubic, box or lanczos3, got --mode nearest",
        ),
    ],
)
def test_contradictions(capsys, args, text):
    assert refused(capsys, 2, "in.npy", "out.npy", *args.split()) == text


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ("--antialias onnx --mode nearest", "--antialias goes with --mode MODES, got --mode nearest"),
        ("--antialias directml --mode box", "--antialias directml goes with --mode linear, got --mode box"),
        ("--cubic-coefficient 1", "--cubic-coefficient goes with --mode cubic, got --mode linear"),
        ("--exclude-outside --mode nearest", "--exclude-outside goes with --mode MODES, got --mode nearest"),
        ("--roi 0,1", "--roi goes with --coordinates tf_crop_and_resize, got half_pixel"),
        (
            "--extrapolation-value 0",
            "--extrapolation-value goes with --coordinates tf_crop_and_resize, got half_pixel",
        ),
        ("--coordinates tf_crop_and_resize", "--coordinates tf_crop_and_resize needs --roi, got none"),
        (
            "--coordinates tf_crop_and_resize --roi 0;1",
            "--roi must be numbers with commas between them, got '0;1'",
        ),
        (
            "--coordinates tf_crop_and_resize --roi 0,1 --extrapolation-value one",
            "--extrapolation-value must be a number, nan or inf, got 'one'",
        ),
        (
            "--mode cubic --cubic-coefficient half",
            "--cubic-coefficient must be a number such as 2, 0.75 or -1/3, got 'half'",
        ),
        ("--key a", "--key goes with .npz files, got in.npy"),
        ("--quality 90", "--quality goes with a .jpg or .jpeg file to write, got out.npy"),
    ],
)
def test_options_that_go_with_others(capsys, args, text):
    text = text.replace("MODES", "linear, cubic, box or lanczos3")
    assert refused(capsys, 2, "in.npy", "out.npy", "--shape", "3", *args.split()) == text


def test_quality_out_of_range(capsys):
    text = "--quality must be in [1, 100], got 101"
    assert refused(capsys, 2, "in.png", "out.jpg", "--shape", "3", "--quality", "101") == text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("--roi 0,1,0", "in.npy: --roi must have two values, start and end, got 3 values"),
        ("--roi 0,1 --extrapolation-value 256", "in.npy: --extrapolation-value must be castable"),
    ],
)
def test_what_the_function_refuses(capsys, options, text):
    np.save("in.npy", np.arange(5, dtype=np.uint8))
    crop = ["--shape", "3", "--coordinates", "tf_crop_and_resize"]
    assert refused(capsys, 1, "in.npy", "out.npy", *crop, *options.split()).startswith(text)


@pytest.mark.parametrize(("names", "bad"), [(("a.tif", "b.npy"), "a.tif"), (("a.npy", "b"), "b")])
def test_suffix_of_a_file(capsys, names, bad):
    text = refused(capsys, 2, *names, "--shape", "3")
    assert text == f"the name of a file must end with .npy, .npz, .png, .jpg or .jpeg, got {bad}"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--shape", "3x4x3"], "--shape must have one number, or one for each of H and W, got 3x4x3"),
        (["--scale", "1x2x3"], "--scale must have one number, or one for each of H and W, got 1x2x3"),
        (
            ["--shape", "3x4", "--axes", "0,1"],
            "--axes goes with arrays; of an image H and W are resized, got 0,1",
        ),
    ],
)
def test_options_that_no_image_has(capsys, options, text):
    Image.new("L", (4, 4)).save("in.png")
    assert refused(capsys, 2, "in.png", "out.png", *options) == text


@pytest.mark.parametrize(
    "options", [[], ["--shape", "3", "--scale", "2"], ["--shape", "3", "--mode", "cubist"]]
)
def test_what_argparse_refuses(data, capsys, options):
    with pytest.raises(SystemExit) as caught:
        run("in.npy", "out.npy", *options)
    assert caught.value.code == 2
    assert "remapnd resize: error: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["no.npy", "no.png"])
def test_missing_file(capsys, name):
    assert (
        refused(capsys, 1, name, "out.npy", "--shape", "3x3")
        == f"cannot read {name}: No such file or directory"
    )


@pytest.mark.parametrize("name", ["dir.npy", "dir.png"])
def test_directory_as_input(capsys, name):
    os.mkdir(name)
    assert refused(capsys, 1, name, "out.npy", "--shape", "3x3") == f"cannot read {name}: Is a directory"


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"hello" * 100, b"\x80\4N."])
def test_file_that_is_no_npy(capsys, content):
    Path("in.npy").write_bytes(content)
    text = refused(capsys, 1, "in.npy", "out.npy", "--shape", "3")
    assert text == "cannot read in.npy: this is no .npy file"


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x80\4N."])
def test_file_that_is_no_npz(capsys, content):
    Path("in.npz").write_bytes(content)
    text = refused(capsys, 1, "in.npz", "out.npy", "--shape", "3")
    assert text == "cannot read in.npz: this is no .npz file"


def test_damaged_npz(data, capsys):
    np.savez("in.npz", data, data)
    good = Path("in.npz").read_bytes()
    for length in (4, 100, len(good) - 30):
        Path("in.npz").write_bytes(good[:length])
        text = refused(capsys, 1, "in.npz", "out.npy", "--shape", "3", "--key", "arr_1")
        assert text.startswith("cannot read in.npz: ")
    for place in range(10, len(good), 97):
        Path("in.npz").write_bytes(good[:place] + bytes([good[place] ^ 255]) + good[place + 1 :])
        status = run("in.npz", "out.npy", "--shape", "3", "--key", "arr_1")
        err = capsys.readouterr().err
        assert (status, err.count("\n")) in ((0, 0), (1, 1))
    np.savez("in.npz")
    text = refused(capsys, 1, "in.npz", "out.npy", "--shape", "3")
    assert text == "cannot read in.npz: --key must say which array is meant, one of: there is none"


def npy_header(text):
    return b"\1\0" + len(text).to_bytes(2, "little") + text


def npy_of_shape(shape):
    return npy_header(b"{'descr': '<f4', 'fortran_order': False, 'shape': (%s,)}\n" % shape) + bytes(64)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\1\0v\0{'descr': '<f8', ",
        npy_header(b"(1)\n"),
        npy_header(b"{\n"),
        npy_header(b"1if 1else\n"),
        npy_of_shape(b"True, 4"),
        npy_of_shape(b"-4"),
        npy_of_shape(b"9" * 22),
        npy_of_shape(b"4611686018427387904, 4611686018427387904"),
        b"\x09\0",
    ],
)
def test_damaged_npy(capsys, content):
    Path("in.npy").write_bytes(b"\x93NUMPY" + content)
    assert refused(capsys, 1, "in.npy", "out.npy", "--shape", "3").startswith("cannot read in.npy: ")


def test_truncated_npy(data, capsys):
    Path("in.npy").write_bytes(Path("in.npy").read_bytes()[:-1])
    assert refused(capsys, 1, "in.npy", "out.npy", "--shape", "3").startswith("cannot read in.npy: ")


def test_objects_are_not_unpickled(capsys):
    np.save("in.npy", np.array([{}]), allow_pickle=True)
    text = refused(capsys, 1, "in.npy", "out.npy", "--shape", "3")
    assert text.startswith("cannot read in.npy: ")
    assert "allow_pickle=False" in text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--shape", "1x2x3x4"], "in.npy has shape (6, 8, 3), so 4 axes cannot be resized"),
        (["--shape", "4", "--axes", "3"], "in.npy: --axes must lie in [-3, 3), got 3"),
        (["--shape", "4", "--axes=-4"], "in.npy: --axes must lie in [-3, 3), got -4"),
        (
            ["--shape", "4x4", "--axes", "0,-3"],
            "in.npy: --axes must name each axis once, got (0, -3)",
        ),
        (
            ["--scale", "1/7"],
            "in.npy: --scale must be at least 1/6 for an axis of length 6, got 0.14285714285714285",
        ),
        (["--scale", "1e20"], "in.npy: --scale must give a result that can be addressed, got shape ("),
        (["--shape", "9" * 20], "in.npy: --shape must give a result that can be addressed, got shape ("),
    ],
)
def test_what_does_not_fit_the_array(data, capsys, options, text):
    assert refused(capsys, 1, "in.npy", "out.npy", *options).startswith(text)


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array([b"ab"]), "be an array of numbers (--mode nearest takes every dtype), got |S2"),
        (
            np.array([True]),
            "have a dtype that can be mixed (--mode nearest takes bool, majority too), got bool",
        ),
        (np.zeros(2, "u1,u1"), "be an array of numbers (--mode nearest takes every dtype), got [("),
        (
            np.zeros(2, "M8[s]"),
            "be an array of numbers (--mode nearest takes every dtype), got datetime64[s]",
        ),
        (np.float32(1), "have at least 1 axis to resample, got shape ()"),
    ],
)
def test_input_that_linear_cannot_take(capsys, array, text):
    np.save("in.npy", array)
    got = refused(capsys, 1, "in.npy", "out.npy", "--shape", "3")
    assert got.startswith(f"in.npy: the input must {text}")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            "--scale 2 --mode bilinear",
            "argument --mode: must be one of nearest, majority, linear, cubic, box, "
            "lanczos3, got 'bilinear' (did you mean 'linear'?)",
        ),
        ("--scale 2 --mode LINEAR", "got 'LINEAR' (did you mean 'linear'?)"),
        ("--scale 2 --mode lanczos", "got 'lanczos' (did you mean 'lanczos3'?)"),
        ("--scale 2 --coordinates half-pixel", "got 'half-pixel' (did you mean 'half_pixel'?)"),
        (
            "--scale 2 --antialias pilow",
            "argument --antialias: must be one of auto, none, pillow, onnx, directml, "
            "got 'pilow' (did you mean 'pillow'?)",
        ),
        ("--scale 2 --nearest-rule flor", "got 'flor' (did you mean 'floor'?)"),
        ("--scale 2 --integer-rule round", "must be one of half_up, half_even, truncate, got 'round'"),
        ("--scael 2", "unrecognized arguments: --scael (did you mean '--scale'?)"),
        ("--scael=2", "unrecognized arguments: --scael=2 (did you mean '--scale'?)"),
        ("--scale 2 --antialias true", "got 'true' (did you mean 'pillow'?)"),
        ("--scale 2 --antialias False", "got 'False' (did you mean 'none'?)"),
        ("--size 4x4", "unrecognized arguments: --size (did you mean '--shape'?)"),
        ("--factor=2", "unrecognized arguments: --factor=2 (did you mean '--scale'?)"),
        ("--scale 2 --zzz", "unrecognized arguments: --zzz"),
    ],
)
def test_misspelt_words(capsys, options, text):
    with pytest.raises(SystemExit, match=r"^2$"):
        run("in.npy", "out.npy", *options.split())
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith(f"{text}\n")


@pytest.mark.parametrize(
    "options", [["--shape", "1000000x1000000"], ["--scale", "1e20"], ["--shape", "9" * 20]]
)
def test_result_too_large_says_how_many_bytes(data, capsys, options):
    text = refused(capsys, 1, "in.npy", "out.npy", *options)
    assert "bytes" in text
    assert any(part.isdigit() and int(part) > 2**40 for part in text.replace(",", "").split())


def test_result_larger_than_the_disk(data, monkeypatch, capsys):
    """Found out before the work, not after it; what stood there stays."""
    monkeypatch.setattr("remapnd.cli.resize.SLAB", 0)
    monkeypatch.setattr("remapnd.cli.resize.shutil.disk_usage", lambda _: SimpleNamespace(free=26))
    text = refused(capsys, 1, "in.npy", "out.npy", "--shape", "3")
    assert text == "cannot write out.npy: the result has 27 bytes, and 26 are free there"


def test_target_is_a_directory(data, capsys):
    os.mkdir("out.npy")
    assert refused(capsys, 1, "in.npy", "out.npy", "--shape", "3") == "cannot write out.npy: Is a directory"


def test_target_directory_does_not_exist(data, capsys):
    text = refused(capsys, 1, "in.npy", "no/out.npy", "--shape", "3")
    assert text == "cannot write no/out.npy: No such file or directory"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_target_that_is_no_file_is_left_alone(data, capsys):
    os.mkfifo("out.npy")
    assert (
        refused(capsys, 1, "in.npy", "out.npy", "--shape", "3") == "cannot write out.npy: Not a regular file"
    )
    assert stat.S_ISFIFO(os.stat("out.npy").st_mode)


def _full_disk(path: str, mode: str):
    return os.fdopen(os.open("/dev/full", os.O_WRONLY), "wb")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_disk_full_leaves_the_old_file(data, monkeypatch, capsys):
    Path("out.npy").write_bytes(b"old")
    monkeypatch.setattr("remapnd.files.open", _full_disk, raising=False)
    assert (
        refused(capsys, 1, "in.npy", "out.npy", "--shape", "3")
        == "cannot write out.npy: No space left on device"
    )
    assert Path("out.npy").read_bytes() == b"old"


def test_help_has_an_example_and_fits_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as caught:
        run("--help")
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert "remapnd resize volume.npy larger.npy --shape 192x192x192" in text
    assert "An image that shrinks is antialiased (--antialias pillow)" in text
    assert max(map(len, text.splitlines())) <= 88


def test_nothing_is_computed_for_a_file_that_cannot_be_written(data, capsys, monkeypatch):
    monkeypatch.setattr(ResamplePlan, "__call__", lambda *_, **__: pytest.fail("computed in vain"))
    text = refused(capsys, 1, "in.npy", "no/out.npy", "--shape", "3")
    assert text == "cannot write no/out.npy: No such file or directory"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_nothing_behind(data, capsys, monkeypatch, name):
    number = getattr(signal, name, None)
    if number is None or signal.getsignal(number) is not signal.SIG_DFL:
        pytest.skip(f"{name} is not there, or does not end this process")

    def ended(*_):
        assert any(name.endswith(".tmp") for name in os.listdir())
        signal.raise_signal(number)
        yield pytest.fail("the signal was not answered")

    monkeypatch.setattr("remapnd.cli.resize.SLAB", 0)
    monkeypatch.setattr("remapnd.cli.resize.slabs", ended)
    before = os.listdir()
    assert run("in.npy", "out.npy", "--shape", "3") == 128 + number
    assert capsys.readouterr().err == "remapnd: ended by a signal\n"
    assert os.listdir() == before
    assert signal.getsignal(number) is signal.SIG_DFL


def test_signals_are_left_to_a_program_that_calls_from_a_thread(data):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run, "in.npy", "out.npy", "--shape", "3").result() == 0
