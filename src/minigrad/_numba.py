"""The one place that imports Numba, so that GPU or simulator is decided once, before the import.

`numba.cuda` reads ``NUMBA_ENABLE_CUDASIM`` when it is first imported: from then on it is either the real thing or the
simulator, which runs kernels thread by thread in Python. The rule: whoever set the variable decides; otherwise the
simulator is used where this machine has no NVIDIA device.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cuda", "has_device", "is_simulator", "numba"]


def has_device() -> bool:
    """Return whether an NVIDIA device is attached to this machine (asked of the driver's files, not of Numba)."""
    return any(Path(p).exists() for p in ("/dev/nvidia0", "/dev/dxg", "/proc/driver/nvidia/version"))


_came_too_late = "numba" in sys.modules and "NUMBA_ENABLE_CUDASIM" not in os.environ and not has_device()
if "numba" not in sys.modules and not has_device():
    os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")

import numba  # noqa: E402 (after the choice)
from numba import cuda  # noqa: E402


def is_simulator() -> bool:
    """Return whether `cuda` is the simulator."""
    return bool(vars(numba.config)["ENABLE_CUDASIM"])


def why_no_cuda() -> str:
    """Return one sentence on what keeps CUDA kernels from running here; empty where they run."""
    if is_simulator():
        return ""
    if _came_too_late:
        return (
            "numba was imported before minigrad could choose the CUDA simulator, and this machine has no NVIDIA "
            "device: set NUMBA_ENABLE_CUDASIM=1 before Python starts, or import minigrad.backends first"
        )
    if not has_device():
        return "NUMBA_ENABLE_CUDASIM asks for a GPU, and this machine has no NVIDIA device: unset it, or set it to 1"
    if not cuda.is_available():  # type: ignore[no-untyped-call]
        return "an NVIDIA device is attached, but its driver or the CUDA toolkit cannot be used: run `numba -s`"
    return ""
