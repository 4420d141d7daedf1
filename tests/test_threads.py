"""The thread pool under everything that Python programs do to it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import remapnd
from remapnd import reference

# Well above the size from which calls are split over threads.
IMAGE = np.random.default_rng(0).integers(0, 256, (400, 300, 3), np.uint8)
INDICES = np.random.default_rng(1).integers(-400, 400, (900, 300, 3))


def work() -> list[np.ndarray]:
    return [
        remapnd.resize(IMAGE, (800, 500), axes=(0, 1)),
        remapnd.resize(IMAGE.astype(np.float32), (300, 500), axes=(0, 1)),
        remapnd.resize(IMAGE, (800, 500), axes=(0, 1), mode="nearest"),
        remapnd.gather_elements(IMAGE, INDICES, axis=0),
        remapnd.gather(IMAGE, INDICES[:, 0, 0], axis=0),
    ]


@pytest.fixture(scope="module")
def expected():
    with remapnd.num_threads(1):
        return work()


with_affinities = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="affinities of threads are Linux's"
)


def python(code: str, *arguments: str, timeout: float = 60, **variables: str) -> str:
    """Run a program that makes the same calls; return what it prints."""
    prelude = """
        import os
        import numpy as np, remapnd
        image = np.random.default_rng(0).integers(0, 256, (400, 300, 3), np.uint8)

        def digest():
            return hash(remapnd.resize(image, (800, 500), axes=(0, 1)).tobytes())

        def threads():
            return {int(t) for t in os.listdir("/proc/self/task")}

        def started():
            before = threads()
            right = digest()
            helpers = threads() - before
            assert len(helpers) == 2, helpers
            return right, helpers
        """
    program = textwrap.dedent(prelude) + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, *arguments, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "0", "REMAPND_NUM_THREADS": "3", **variables},
        text=True,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


@pytest.mark.parametrize("n", [2, 3, 8, 64])
def test_results_do_not_depend_on_the_number_of_threads(expected, n):
    with remapnd.num_threads(n):
        for result, right in zip(work(), expected, strict=True):
            assert_array_equal(result, right, strict=True)


def test_eight_threads_at_once(expected):
    start = threading.Barrier(8)

    def loop(n: int) -> None:
        start.wait()
        with remapnd.num_threads(1 + n % 4):
            for _ in range(10):
                for result, right in zip(work(), expected, strict=True):
                    assert_array_equal(result, right, strict=True)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(loop, range(8))) == [None] * 8


def test_num_threads_of_two_threads_are_independent():
    inside = threading.Barrier(2)
    seen = {}

    def hold(n: int) -> None:
        with remapnd.num_threads(n):
            inside.wait()  # both are within their contexts
            remapnd.gather(IMAGE, INDICES[:, 0, 0])
            seen[n] = remapnd.get_num_threads()
            inside.wait()

    before = remapnd.get_num_threads()
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(hold, (5, 6))) == [None, None]
    assert seen == {5: 5, 6: 6}
    assert remapnd.get_num_threads() == before


def test_an_error_in_one_call_does_not_touch_another(expected):
    bad = INDICES.copy()
    bad[700, 200, 1] = 400

    def fail(_: int) -> str:
        with remapnd.num_threads(3), pytest.raises(IndexError) as caught:
            remapnd.gather_elements(IMAGE, bad, axis=0)
        return str(caught.value)

    with ThreadPoolExecutor(4) as pool:
        failures = pool.map(fail, range(20))
        for _ in range(10):
            assert_array_equal(remapnd.gather_elements(IMAGE, INDICES, axis=0), expected[3], strict=True)
        assert {text.rpartition("got ")[2] for text in failures} == {"400 at (700, 200, 1)"}


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
@pytest.mark.parametrize("mode", ["linear", "nearest", "gather"])
def test_shape_set_during_a_call(mode):
    """NumPy frees the shape that a running call began with; that nothing reads it, the sanitizer sees."""
    data, out, seen = IMAGE.view(), np.empty_like(IMAGE), []
    if mode == "gather":
        plan = remapnd.GatherPlan(data.shape, data.dtype, (400,), np.int64)
    else:
        plan = remapnd.ResamplePlan(data.shape, data.dtype, scales=1.01, shape=data.shape, mode=mode)
    rest = () if mode != "gather" else (np.arange(400)[::-1],)
    right, end = plan(data, *rest), time.monotonic() + 0.5

    def call():
        while time.monotonic() < end:
            with contextlib.suppress(ValueError):  # it began with the other shape
                seen.append(np.array_equal(plan(data, *rest, out=out), right))

    thread = threading.Thread(target=call)
    thread.start()
    while thread.is_alive():
        data.shape = (-1,)
        data.shape = IMAGE.shape
    thread.join()
    assert all(seen)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_after_use():
    code = """
        import os
        right = digest()
        for _ in range(20):
            child = os.fork()
            if child == 0:
                os._exit(0 if digest() == right and digest() == right else 3)
            assert os.waitpid(child, 0)[1] == 0
            assert digest() == right
        print("ok")
        """
    # Newer Pythons warn of every fork while there are threads, which is what this is about.
    assert python(code, "-W", "ignore::DeprecationWarning") == "ok\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_while_another_thread_computes():
    code = """
        import os, threading
        right, stop = digest(), threading.Event()

        def busy():
            while not stop.is_set():
                assert digest() == right

        thread = threading.Thread(target=busy)
        thread.start()
        for _ in range(20):
            child = os.fork()
            if child == 0:
                os._exit(0 if digest() == right else 3)
            assert os.waitpid(child, 0)[1] == 0
        stop.set()
        thread.join()
        print("ok")
        """
    assert python(code, "-W", "ignore::DeprecationWarning") == "ok\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_while_another_thread_makes_what_a_plan_keeps():
    """The first call of a plan prepares long rows, here for some tenths of a second: the fork is within."""
    code = """
        import os, signal, threading, time
        data = np.zeros(1000, np.float32)
        plan = remapnd.ResamplePlan(data.shape, data.dtype, shape=3_000_000)
        thread = threading.Thread(target=plan, args=(data,))
        thread.start()
        time.sleep(0.02)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            plan(data)
            os._exit(0)
        print(os.waitpid(child, 0)[1])
        thread.join()
        """
    assert python(code, "-W", "ignore::DeprecationWarning") == "0\n"


def test_multiprocessing_spawn(tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(
        textwrap.dedent(
            """
            import multiprocessing
            import numpy as np, remapnd

            def total(n):
                image = np.arange(240_000, dtype=np.float32).reshape(400, 600)
                return float(remapnd.resize(image, (800 + n, 900)).sum(dtype=np.float64))

            if __name__ == "__main__":
                here = [total(n) for n in range(4)]
                with multiprocessing.get_context("spawn").Pool(2) as pool:
                    assert pool.map(total, range(4)) == here
                print("ok")
            """
        )
    )
    done = subprocess.run(
        [sys.executable, script],
        cwd=Path(__file__).parent.parent,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("ok\n", "", 0)


def test_exit_while_the_pool_is_idle():
    assert python("print(digest() is not None)", timeout=20) == "True\n"


def test_exit_while_a_daemon_thread_computes():
    code = """
        import threading, time
        started = threading.Event()

        def busy():
            while True:
                digest()
                started.set()

        for _ in range(4):
            threading.Thread(target=busy, daemon=True).start()
        started.wait()
        print("ok")
        """
    for _ in range(8):
        assert python(code, timeout=20) == "ok\n"


def test_calls_of_the_main_thread_while_it_exits():
    code = """
        import atexit, sys, threading

        class Late:
            def __del__(self, digest=digest):
                print(digest() == right)

        right = digest()
        sys.modules["late"] = Late()  # deleted when little is left of the interpreter
        atexit.register(lambda: print(digest() == right))
        """
    assert python(code, timeout=20) == "True\nTrue\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_normal_exit_of_a_child_forked_while_threads_compute():
    code = """
        import os, sys, threading
        started = threading.Barrier(5)

        def busy():
            started.wait()
            while True:
                digest()

        for _ in range(4):
            threading.Thread(target=busy, daemon=True).start()
        started.wait()
        for _ in range(20):
            child = os.fork()
            if child == 0:
                sys.exit(0)
            assert os.waitpid(child, 0)[1] == 0
        print("ok")
        """
    assert python(code, "-W", "ignore::DeprecationWarning") == "ok\n"


def test_exit_handlers_wait_for_threads_that_compute():
    """A handler that was there before the import runs after those that imports register."""
    program = """if True:
        import atexit, threading
        end, started = threading.Event(), threading.Event()
        atexit.register(lambda: (end.set(), thread.join(), print("joined")))
        import numpy as np, remapnd

        def busy():
            while not end.is_set():
                remapnd.resize(np.zeros((300, 300), np.float32), (500, 500))
                started.set()

        thread = threading.Thread(target=busy, daemon=True)
        thread.start()
        started.wait()
        """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=20, check=True)
    assert (done.stdout.split(), done.stderr) == ([b"joined"], b"")


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT to itself")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("call", ["gather_elements", "nearest", "linear"])
def test_interrupt_stops_a_call(call, threads):
    """Ctrl-C well within a call: the rest of the output is not written, and all works afterwards."""
    code = f"""
        import os, signal, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs behind ignore it
        remapnd.set_num_threads({threads})
        n = 30_000
        row = np.arange(n, dtype=np.uint16)
        data = np.broadcast_to(row, (n, n))
        out = np.full((n, n // 4), 0xFFFF, np.uint16)
        indices = np.broadcast_to(row[::-1][:n // 4], out.shape)

        def call():
            if "{call}" == "gather_elements":
                remapnd.gather_elements(data, indices, axis=1, out=out)
            else:
                remapnd.resize(data, out.shape, mode="{call}", out=out)

        right = digest()
        for attempt in range(50):  # until one arrives within a call, which a busy machine may delay
            out[:] = 0xFFFF
            timer = threading.Timer(0.005, os.kill, (os.getpid(), signal.SIGINT))
            start = time.perf_counter()
            try:
                timer.start()
                call()
                timer.join()
                time.sleep(10)
            except KeyboardInterrupt:
                seconds = time.perf_counter() - start
                if (out[:, 0] == 0xFFFF).any():
                    break
        else:
            raise AssertionError("no call was stopped")
        assert digest() == right
        print(seconds < 2)
        """
    assert python(code) == "True\n"


def test_interrupt_is_left_to_the_main_thread():
    """A call in another thread goes on; the main thread gets the exception."""
    if sys.platform == "win32":
        pytest.skip("sends SIGINT to itself")
    code = """
        import os, signal, threading, time
        right, results = digest(), []
        thread = threading.Thread(target=lambda: results.extend(digest() for _ in range(50)))
        thread.start()
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(30)
        except KeyboardInterrupt:
            thread.join()
        print(set(results) == {right}, len(results))
        """
    assert python(code) == "True 50\n"


def test_a_plan_that_meets_arrays_of_other_layouts_and_levels():
    """What a plan remembers of the call before depends on where neither array lies, but on all else."""
    wide = np.random.default_rng(3).random((7, 40, 3), np.float32)
    layouts = [
        wide[:, :20],
        wide[:, ::2],
        wide[::-1, 20:],
        np.asfortranarray(wide[:, :20]),
        wide[:, :20].copy(),
    ]
    plan = remapnd.ResamplePlan.resized((7, 20, 3), np.float32, (11, 33), axes=(0, 1))
    expected = [reference.resample(data, plan.maps, (11, 33), plan.axes) for data in layouts]
    outs = [np.empty((11, 33, 3), np.float32), np.empty((11, 66, 3), np.float32)[:, ::2]]
    for level in remapnd._core.levels_usable():
        remapnd._core.use_level(level)
        for data, result in [*zip(layouts, expected, strict=True)] * 2:
            for out in outs:
                assert_array_equal(plan(data, out=out), result)
            assert_array_equal(plan(data), result)
    with ThreadPoolExecutor(8) as threads:
        pairs = [*zip(layouts, expected, strict=True)] * 200
        for got, (_, result) in zip(threads.map(plan, [data for data, _ in pairs]), pairs, strict=True):
            assert_array_equal(got, result)


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS and malloc are glibc's")
@pytest.mark.parametrize("left", [0, 300, 1500, 100_000])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("call", ["gather_elements", "lanczos3"])
def test_memory_that_runs_out_in_helpers(call, started, left):
    """Nothing can be allocated but `left` bytes: helpers have what catching that takes, or they end."""
    code = f"""
        import ctypes, os, resource
        if "{call}" == "gather_elements":
            data, indices = np.zeros((1000, 1000), np.float32), np.zeros((1000, 1000), np.int64)
            plan = remapnd.GatherElementsPlan(data.shape, data.dtype, indices.shape, indices.dtype)
            args = data, indices
        else:  # a task needs more than the memory that its thread keeps
            data = np.zeros((16, 60_000, 3), np.float32)
            plan = remapnd.ResamplePlan(data.shape, data.dtype, shape=(12, 70_000, 3), mode="{call}")
            args = (data,)
        out = np.empty(plan.output_shape, data.dtype)
        with remapnd.num_threads(1):
            plan(*args, out=out)
        if {started}:
            digest()
        libc = ctypes.CDLL(None)
        libc.malloc.argtypes, libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
        libc.free.argtypes = [ctypes.c_void_p]
        reserve = libc.malloc({left}) if {left} else None
        size = resource.getpagesize() * int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        for size in (1 << 20, 1 << 16, 1 << 12, 1 << 9, 104, 24):
            while libc.malloc(size):
                pass
        libc.free(reserve)
        try:
            plan(*args, out=out)
            os.write(1, b"done")
        except MemoryError:
            os.write(1, b"MemoryError")
        os._exit(0)
        """
    # One arena: that of a thread may grow within what it has reserved.
    assert python(code, MALLOC_ARENA_MAX="1") in ("done", "MemoryError")


@with_affinities
def test_helpers_stay_where_they_are_put():
    printed = python("""
        allowed = os.sched_getaffinity(0)
        right, helpers = started()
        for _ in range(50):
            assert digest() == right
            for t in helpers:
                assert os.sched_getaffinity(t) <= allowed, (t, os.sched_getaffinity(t))
        ends = {min(allowed)}, {max(allowed)}
        put = {t: ends[os.sched_getaffinity(t) != ends[1]] for t in helpers}
        for t in helpers:
            os.sched_setaffinity(t, put[t])
        for _ in range(50):
            assert digest() == right
            for t in helpers:
                assert os.sched_getaffinity(t) == put[t], (t, put[t], os.sched_getaffinity(t))
        print("as they were put")
        """)
    assert printed.strip() == "as they were put"


@with_affinities
def test_a_process_limited_to_the_processors_that_its_helpers_have():
    printed = python("""
        allowed = os.sched_getaffinity(0)
        right, helpers = started()
        for _ in range(20):
            had = os.sched_getaffinity(min(helpers))
            for t in threads():
                os.sched_setaffinity(t, had)
            for _ in range(5):
                assert digest() == right
                for t in helpers:
                    assert os.sched_getaffinity(t) <= had, (t, had, os.sched_getaffinity(t))
            for t in threads():
                os.sched_setaffinity(t, allowed)
            assert digest() == right
        print("within the limit")
        """)
    assert printed.strip() == "within the limit"
