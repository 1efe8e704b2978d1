"""The one place that imports Numba, after GPU or simulator was decided (see `minigrad.cuda_choice`)."""

from __future__ import annotations

from minigrad import cuda_choice
from minigrad.cuda_choice import has_device

__all__ = ["cuda", "has_device", "is_simulator", "numba", "why_no_cuda"]

cuda_choice.choose()
_came_too_late = cuda_choice.came_too_late()

import numba  # noqa: E402 (after the choice)
from numba import cuda  # noqa: E402


def is_simulator() -> bool:
    """Return whether `cuda` is the simulator."""
    return str(cuda.jit.__module__).startswith("numba.cuda.simulator")


def why_no_cuda() -> str:
    """Return one sentence on what keeps CUDA kernels from running here; empty where they run."""
    if is_simulator():
        return ""
    if _came_too_late:
        return (
            "numba.cuda was imported before minigrad could choose the simulator, and this machine has no NVIDIA "
            "device: import minigrad first, or set NUMBA_ENABLE_CUDASIM=1 before Python starts"
        )
    if not has_device():
        return "NUMBA_ENABLE_CUDASIM asks for a GPU, and this machine has no NVIDIA device: unset it, or set it to 1"
    if not cuda.is_available():  # type: ignore[no-untyped-call]
        return "an NVIDIA device is attached, but its driver or the CUDA toolkit cannot be used: run `numba -s`"
    return ""
