import os
from pathlib import Path

import c_library
import pytest
from hypothesis import HealthCheck, settings

from remapnd import _core

# No deadline: the machines that run this are shared.  --examples says how many cases are tried.
settings.register_profile("default", deadline=None, max_examples=150)
settings.register_profile("thorough", deadline=None, max_examples=3000)
settings.register_profile("nightly", deadline=None, max_examples=20_000)
settings.register_profile(
    "quick", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--examples",
        default="default",
        help="how many examples hypothesis tries: quick, default, thorough, nightly",
    )


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile(config.getoption("--examples"))


@pytest.fixture(autouse=True)
def _core_as_it_was():
    """Give every test the level and the number of threads that the process started with."""
    level, threads = _core.level(), _core.get_num_threads()
    yield
    _core.use_level(level)
    _core.set_num_threads(threads)
    _core.set_num_threads_here(0)


@pytest.fixture(scope="session")
def libremapnd_path(request, tmp_path_factory):
    """Return the path of libremapnd: what REMAPND_TEST_C_LIBRARY names, or one that is built here.

    The folder is kept, so that the next run has little to compile.
    """
    if os.environ.get("REMAPND_TEST_C_LIBRARY"):
        return Path(os.environ["REMAPND_TEST_C_LIBRARY"])
    missing = c_library.missing_tool()
    if missing:
        pytest.skip(f"building libremapnd takes {missing}, which is not here")
    cache = getattr(request.config, "cache", None)
    return c_library.build(cache.mkdir("libremapnd") if cache else tmp_path_factory.mktemp("libremapnd"))


@pytest.fixture(scope="session")
def libremapnd(libremapnd_path):
    """Return the functions of libremapnd."""
    return c_library.CLibrary(libremapnd_path)
