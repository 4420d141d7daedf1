import pytest
from hypothesis import HealthCheck, settings

from remapnd import _core

# No deadline: the machines that run this are shared.  --examples says how many cases are tried.
settings.register_profile("default", deadline=None, max_examples=150)
settings.register_profile("thorough", deadline=None, max_examples=3000)
settings.register_profile("nightly", deadline=None, max_examples=10_000)
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
