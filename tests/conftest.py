"""What all tests share: one configuration of hypothesis, and none of the user's Jupyter settings."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# nbformat's schema checker imports this grammar for 1.3 s a process and no notebook needs it.
sys.modules.setdefault("rfc3987_syntax", None)

# The same examples in every run: a red test is red for the next person too.
settings.register_profile("minigrad", derandomize=True, deadline=None, database=None)
settings.load_profile("minigrad")

# Whoever imports numba first decides whether numba.cuda is a GPU's or the simulator; here that is any of the tests.
if not any(Path(device).exists() for device in ("/dev/nvidia0", "/dev/dxg", "/proc/driver/nvidia/version")):
    os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")

ROOT = Path(__file__).resolve().parent.parent


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
