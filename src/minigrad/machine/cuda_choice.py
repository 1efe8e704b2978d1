"""GPU or simulator: decided once, by this machine and by an environment variable.

Without an NVIDIA device kernels run in the simulator, thread by thread in Python (`minigrad.emulator`). Whoever sets
``NUMBA_ENABLE_CUDASIM`` decides otherwise: 1 for the simulator, 0 for a GPU. Nothing here imports Numba.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

SWITCH = "NUMBA_ENABLE_CUDASIM"


def has_device() -> bool:
    """Return whether an NVIDIA device is attached to this machine (asked of the driver's files, not of Numba)."""
    return any(Path(p).exists() for p in ("/dev/nvidia0", "/dev/dxg", "/proc/driver/nvidia/version"))


@cache
def is_simulator() -> bool:
    """Return whether kernels run in the simulator."""
    asked = os.environ.get(SWITCH)
    return not has_device() if asked is None else asked.strip() not in ("", "0")
