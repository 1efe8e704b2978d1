"""Runs a kernel on all cores.

A kernel is compiled for one thread; it works on a part of the whole. Numba's threading layer (tbb, OpenMP or its own
work queue) has one C function that calls a kernel for each part, and that is all that is taken from it: no parallel
code is compiled, which costs a second for each kernel. Numba describes it for its own generalised ufuncs:

    parallel_for(kernel, args, dimensions, steps, parameters, inner dimensions, number of args, threads)

calls ``kernel(args + part * steps, 1, steps, parameters)`` for every part. There is one argument here, a list of
parts: ``start, stop, ordinal``, three integers each.

What is computed never depends on timing: parts are fixed before the call, and one after the other gives the same
result. That is what happens
- while another Python thread is inside a parallel kernel (Numba's work queue ends the process if two threads enter),
- in a process that was forked after the threads were started: they do not exist there, and OpenMP would kill it.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import threading
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from minigrad.backends.numba.compiler import Kernel
from minigrad.machine.numba_extensions import extension, keep_openmp_from_spinning, offer_tbb

GRAIN = 3 << 16
"""Bytes of results that are worth a thread: to wake one takes some thirty microseconds if it slept."""

POOLS = {"omp": "omppool", "tbb": "tbbpool", "workqueue": "workqueue"}

_busy = threading.Lock()
_forked = False


def _after_fork() -> None:
    """Run serially in a child from now on, if its parent had started threads."""
    global _busy, _forked
    _busy = threading.Lock()
    _forked = _forked or _started.cache_info().currsize > 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def thread_count() -> int:
    """Return the number of threads that a large enough kernel uses, as `numba.set_num_threads` has it."""
    if _forked:
        return 1
    _parallel_for()
    return int(_numba_threads()())


def worth(steps: int, itemsize: int) -> int:
    """Return how many threads so many results of that size are worth, or steps that take as long as a result."""
    return max(steps * itemsize // GRAIN, 1)


def count_for(steps: int, itemsize: int) -> int:
    """Return how many threads run a kernel of so many results of that size."""
    return min(thread_count(), worth(steps, itemsize))


@cache
def _numba_threads() -> Any:
    """Return the C function behind `numba.get_num_threads`, which would take half a microsecond more."""
    return ctypes.PYFUNCTYPE(ctypes.c_int)(_started()[0].get_num_threads)


def layer() -> str:
    """Return the name of Numba's threading layer: "tbb", "omp" or "workqueue"."""
    return _started()[1]


def _usual() -> str:
    """Return the layer that Numba takes of itself on Linux; elsewhere it is asked."""
    with suppress(ImportError, OSError):
        if ctypes.CDLL("libtbb.so.12").TBB_runtime_interface_version() >= 12060 and extension("tbbpool"):
            return "tbb"
    with suppress(ImportError):
        return "omp" if sys.platform == "linux" and extension("omppool") else ""
    return ""


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _started() -> tuple[Any, str]:
    """Start Numba's threads, and return the extension that has them, and the layer's name.

    Numba itself is asked where it is imported, or where somebody has said which threads it shall use.
    """
    said = any(name.startswith("NUMBA_THREADING") for name in os.environ) or Path(".numba_config.yaml").exists()
    if "numba" not in sys.modules and not said:
        offer_tbb()
        keep_openmp_from_spinning()
        if name := _usual():
            library, count = extension(POOLS[name]), int(os.environ.get("NUMBA_NUM_THREADS", _processors()))
            for start in (library.launch_threads, library.set_num_threads):
                ctypes.CFUNCTYPE(None, ctypes.c_int)(start)(count)
            return library, name
    from minigrad.machine import _numba

    numba: Any = _numba.numba
    try:
        importlib.import_module("numba.np.ufunc.parallel")._launch_threads()
    except ValueError as error:
        raise ValueError(
            f"NUMBA_THREADING_LAYER is {numba.config.THREADING_LAYER!r}, which Numba cannot load "
            f"({str(error).splitlines()[0].rstrip('.')}); unset it, or set it to 'omp', 'tbb' or 'workqueue'"
        ) from None
    name = str(numba.threading_layer())
    return extension(POOLS[name]), name


@cache
def _parallel_for() -> Any:
    """Start Numba's threads, and return its C function."""
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    return ctypes.CFUNCTYPE(None, *[pointer] * 5, size, size, ctypes.c_int)(_started()[0].parallel_for)


class Parts:
    """A division of the work, ready to be handed to C.

    Attributes:
        count: How many parts there are.
    """

    __slots__ = ("_items", "args", "count", "dimensions", "spans", "steps")

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        numbers = [n for ordinal, (start, stop) in enumerate(spans) for n in (start, stop, ordinal)]
        self.count = len(spans)
        self._items = (ctypes.c_int64 * max(len(numbers), 1))(*numbers)
        base = ctypes.addressof(self._items)
        self.args = (ctypes.c_void_p * 1)(base)
        self.dimensions = (ctypes.c_int64 * 1)(self.count)
        self.steps = (ctypes.c_int64 * 1)(24)
        self.spans = [(ctypes.c_void_p * 1)(base + 24 * i) for i in range(self.count)]


@lru_cache(maxsize=1024)
def parts(total: int, count: int, multiple: int = 1) -> Parts:
    """Divide range(total) into parts of nearly equal length.

    Args:
        total: How much there is to do.
        count: The wanted number of parts; fewer come back where there is less to do.
        multiple: Every part but the last is a multiple of this long.
    """
    size = max(-(-total // max(count, 1)), 1)
    size = -(-size // multiple) * multiple
    return Parts([(start, min(start + size, total)) for start in range(0, total, size)])


def run(kernel: Kernel, parameters: Any, work: Parts) -> None:
    """Call the kernel for every part, in parallel if there are several.

    Args:
        kernel: What to run.
        parameters: A ctypes array of 64-bit integers; what they mean is between the kernel and its caller.
        work: The parts.
    """
    if work.count > 1 and not _forked and _busy.acquire(blocking=False):
        try:
            _parallel_for()(
                kernel.address, work.args, work.dimensions, work.steps, parameters, 0, 1, _numba_threads()()
            )
        finally:
            _busy.release()
        return
    for span in work.spans:
        kernel.call(span, work.dimensions, work.steps, parameters)
