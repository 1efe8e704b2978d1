"""What all tests share: one configuration of hypothesis, none of the user's Jupyter settings, and a browser."""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from coverage import Coverage
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT
from pytorch import draw_anew
from quiet import Quiet

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest_plugins = ["tiers", "resuming"]

# nbformat's schema checker imports this grammar for 1.3 s a process and no notebook needs it.
sys.modules.setdefault("rfc3987_syntax", None)

# A shell lets what it starts in the background ignore Ctrl-C, and so would every process that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run: a red test is red for the next person too.
settings.register_profile("minigrad", derandomize=True, deadline=None, database=None)
settings.load_profile("minigrad")

# With this, numba.cuda is Numba's simulator, with which that of minigrad is compared; it is read when that is imported.
if not any(Path(device).exists() for device in ("/dev/nvidia0", "/dev/dxg", "/proc/driver/nvidia/version")):
    os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")


@settings(max_examples=1, database=None)
@given(st.none())
def draw_once(_: None) -> None:
    """Let Hypothesis make its generator, which it would warn of losing if all that refers to it were frozen."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Let the garbage collector rest while tests are collected, and leave them aside later: they live to the end."""
    draw_once()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


QUIET = pytest.StashKey[Quiet]()


def pytest_configure(config: pytest.Config) -> None:
    """Open the locks by which a test can have the machine to itself."""
    if not hasattr(config, "cache"):
        raise pytest.UsageError("the tests share locks and files in pytest's cache: leave out -p no:cacheprovider")
    config.stash[QUIET] = Quiet(config.cache.mkdir("quiet"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    """Run a test, with what it sets up, as one of many."""
    with item.config.stash[QUIET].among_others():
        return (yield)


@pytest.fixture
def alone(request: pytest.FixtureRequest) -> Callable[[], AbstractContextManager[None]]:
    """A `with` in which no other test runs: for times that are bounded on an idle machine."""
    return request.config.stash[QUIET].alone


@pytest.fixture(autouse=True)
def torch_draws_anew() -> None:
    """Start each test with the same first draws of PyTorch."""
    draw_anew()


MEASURED = "COVERAGE_PROCESS_CONFIG"
"""The variable by which coverage measures every process that is started."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Start the processes of pytest-xdist unmeasured: pytest-cov measures in each of them."""
    os.environ.pop(MEASURED, None)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Stop the first of the two that pytest-cov starts there: it would go on where a test is marked no_cover."""
    first = Coverage.current()
    if first is not None and hasattr(session.config, "workerinput"):
        first.stop()


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """A test's folder with nothing beside it: lessons are also looked for in the folders beside one's own."""
    own = tmp_path / "own"
    own.mkdir()
    return own


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session", autouse=True)
def clean_jupyter(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Point Jupyter, IPython and matplotlib away from the user's configuration and windows."""
    home = tmp_path_factory.mktemp("jupyter")
    os.environ["IPYTHONDIR"] = str(home / "ipython")
    os.environ["JUPYTER_CONFIG_DIR"] = str(home / "config")
    os.environ["JUPYTER_DATA_DIR"] = str(home / "data")
    os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
    os.environ["MPLBACKEND"] = "Agg"


@pytest.fixture(scope="session", autouse=True)
def kernels_are_kept(request: pytest.FixtureRequest) -> None:
    """Keep compiled kernels where pytest keeps its notes, for all tests and for later runs: not in the user's cache.

    The name of each kernel's file follows from its text and from the sources that compile it.
    """
    os.environ["MINIGRAD_CACHE_DIR"] = str(request.config.cache.mkdir("kernels"))


@pytest.fixture(scope="session")
def unmeasured() -> Callable[[], AbstractContextManager[None]]:
    """A `with` in which processes are started at full speed: coverage does not follow them."""

    @contextmanager
    def started() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv(MEASURED, raising=False)
            yield

    return started


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """Headless Chromium."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        pytest.skip("chromium is not installed (on Debian: sudo apt install chromium)")
    pytest.importorskip(
        "axe_playwright_python", reason="playwright is not installed (extra dev): nothing drives a browser"
    )
    from lab import chromium

    with chromium(executable) as started:
        yield started


@pytest.fixture(scope="session", autouse=True)
def nothing_outlives_pytest(unmeasured: Callable[[], AbstractContextManager[None]]) -> None:
    """Start multiprocessing's tracker by itself: it ends last, and its figures would lie about uncounted."""
    with unmeasured():
        resource_tracker.ensure_running()
