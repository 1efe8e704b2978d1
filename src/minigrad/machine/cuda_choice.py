"""GPU or simulator: decided when minigrad is imported, before `numba.cuda` is.

`numba.cuda` reads a switch when it is first imported: from then on it is either the real thing or the simulator, which
runs kernels thread by thread in Python. The rule: whoever set ``NUMBA_ENABLE_CUDASIM`` decides; otherwise the simulator
is used where this machine has no NVIDIA device. Nothing here imports Numba.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

SWITCH = "NUMBA_ENABLE_CUDASIM"


def has_device() -> bool:
    """Return whether an NVIDIA device is attached to this machine (asked of the driver's files, not of Numba)."""
    return any(Path(p).exists() for p in ("/dev/nvidia0", "/dev/dxg", "/proc/driver/nvidia/version"))


def choose() -> None:
    """Switch the simulator on where it is wanted and `numba.cuda` has not been imported yet."""
    if SWITCH in os.environ or has_device() or came_too_late():
        return
    os.environ[SWITCH] = "1"
    if "numba" in sys.modules:  # it has read the variable already, but `numba.cuda` will ask its configuration
        vars(sys.modules["numba"].config)["ENABLE_CUDASIM"] = 1


def came_too_late() -> bool:
    """Return whether `numba.cuda` was imported before minigrad could switch the simulator on."""
    return "numba.cuda" in sys.modules and SWITCH not in os.environ and not has_device()
