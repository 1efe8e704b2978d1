"""The one place that imports Numba. Its `cuda` is numba.cuda, or that of the simulator: `cuda_choice` decides."""

from __future__ import annotations

import importlib.util
from functools import cache
from importlib import metadata
from typing import Any

from minigrad.machine.cuda_choice import has_device, is_simulator
from minigrad.machine.numba_extensions import keep_openmp_from_spinning, offer_tbb
from minigrad.machine.packages import require

__all__ = ["cuda", "has_device", "is_simulator", "numba", "why_no_cuda"]

require("numba")

import numba  # noqa: E402 (where it is missing, one sentence has said so)

cuda: Any
if is_simulator():
    from minigrad.machine.simulated_cuda import cuda
else:
    from numba import cuda

# At once, and not with the library's first kernel: one that a student had compiled may start Numba's threads before.
offer_tbb()
keep_openmp_from_spinning()


def why_no_cuda() -> str:
    """Return one sentence on what keeps CUDA kernels from running here; empty where they run."""
    if is_simulator():
        return ""
    if not has_device():
        return "NUMBA_ENABLE_CUDASIM asks for a GPU, and this machine has no NVIDIA device: unset it, or set it to 1"
    if not cuda.is_available():
        return "an NVIDIA device is attached, but its driver or the CUDA toolkit cannot be used: run `numba -s`"
    return _why_no_kernel()


@cache
def _why_no_kernel() -> str:
    """Return why the smallest kernel cannot be compiled; empty where it can."""

    def write(out: Any) -> None:
        out[0] = 0.0

    try:
        cuda.jit("void(float64[::1])")(write)
    except Exception as error:  # of any kind: a part of the toolkit may be missing, or two versions differ
        return (
            f"no kernel can be compiled for the NVIDIA device ({type(error).__name__}: {error}) with "
            f"{_versions('numba', 'numba-cuda', 'numpy')}: pip install 'numba-cuda[cu13]' 'numpy<2.5', or set "
            "NUMBA_ENABLE_CUDASIM=1 for the simulator"
        )
    return ""


def _versions(*packages: str) -> str:
    found = {name: metadata.version(name) for name in packages if importlib.util.find_spec(name.replace("-", "_"))}
    return ", ".join(" ".join(each) for each in found.items())
