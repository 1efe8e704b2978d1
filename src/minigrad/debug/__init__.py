"""Finds races: in loops over `numba.prange` and in CUDA kernels, by running them in Python, element by element.

    from minigrad import debug

    print(debug.races(kernel, out, x))              # a kernel with a prange loop
    print(debug.cuda_races(kernel, 2, 8, out, x))   # a CUDA kernel with 2 blocks of 8 threads
    print(debug.parallel_report(kernel, out, x))    # what of a compiled kernel runs in parallel, and what was hoisted

A race gives wrong values now and then, when two threads happen to meet, and never while somebody watches. Here nothing
runs at the same time: every read and write is written down together with the iteration, or the thread, that made it,
and two of them that no rule keeps apart are a race, each time. Everything is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minigrad.machine.first_use import first_use

if TYPE_CHECKING:
    from minigrad.debug.cuda import cuda_races as cuda_races
    from minigrad.debug.parallel import races as races
    from minigrad.debug.parallelism import parallel_report as parallel_report
    from minigrad.debug.report import Counts as Counts
    from minigrad.debug.report import CudaReport as CudaReport
    from minigrad.debug.report import Loop as Loop
    from minigrad.debug.report import Race as Race
    from minigrad.debug.report import Report as Report
    from minigrad.debug.report import Traffic as Traffic

_module_of = {
    "Counts": "report",
    "CudaReport": "report",
    "Loop": "report",
    "Race": "report",
    "Report": "report",
    "Traffic": "report",
    "cuda_races": "cuda",
    "parallel_report": "parallelism",
    "races": "parallel",
}

__all__ = sorted(_module_of)

__getattr__, __dir__ = first_use(__name__, _module_of)
