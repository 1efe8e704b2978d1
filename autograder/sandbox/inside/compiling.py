"""Settings of Numba in the warm parent, so that a session compiles quickly and in little room.

An exercise that `uses` a compiler finds it imported before the fork, with two threads, a cache in the scratch folder
and the CUDA simulator. Machine code is not optimized, nor is what hidden tests compile; cells keep LLVM's passes.
`parallel=True` means the loops over `prange` alone.

Where the exercise's module has `prange`, the warm parent has compiled a kernel like a student's with the library's
helpers (`kernels`). It never ran it, started no thread, and left no lock that sessions would share. A student's
kernel is compiled once for each exercise, in the fork that answers its test: nothing compiled passes from one
submission to another.
"""

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from .patience import COMPILING

_CONFIG = "numba.core.config"
_STACK = 1 << 20  # of a thread: Numba's CUDA simulator starts one for each thread of a block
_SHARED = ("_backend_init_process_lock", "_is_initialized", "_threading_layer", "CFUNCTYPE")


class Compiling:
    """The seconds that Numba compiles in this process since the last `begin`: processor time of the main thread."""

    def __init__(self) -> None:
        self._seconds, self._depth, self._begun = 0.0, 0, 0.0
        self.is_possible = "numba" in sys.modules
        if self.is_possible:
            event = import_module("numba.core.event")
            listener = type("Listener", (event.Listener,), {"on_start": self._start, "on_end": self._end})()
            event.register("numba:compile", listener)

    def begin(self) -> None:
        """Count from zero."""
        self._seconds = 0.0

    def seconds(self) -> float:
        """The seconds so far, no more than `COMPILING`."""
        if self._depth:
            self._count()
        return min(self._seconds, COMPILING)

    def _count(self) -> None:
        now = time.thread_time()
        self._seconds, self._begun = self._seconds + now - self._begun, now

    def _start(self, *_event: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            self._begun = self._begun if self._depth else time.thread_time()
            self._depth += 1

    def _end(self, *_event: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            self._count()
            self._depth -= 1


def prepare(modules: list[str]) -> None:
    """Load the compiler before sessions are forked, and let it work on functions of cells.

    Args:
        modules: The modules that were imported. Where one of them has `prange`, its kernels are parallel.
    """
    threading.stack_size(_STACK)
    _tolerate_cache()
    _share_out_loops_only()
    before = _optimize(0)  # also machine code, and that for good: the first compilation settles it
    _compile_something()
    if any(hasattr(sys.modules[name], "prange") for name in modules if name != "numba"):
        with _without_threads(), contextlib.suppress(ImportError):  # an edition may have no helpers for kernels
            import_module(f"{__package__}.kernels").compile_parallel_loops()
    _optimize(before)


def hurry() -> None:
    """Compile as quickly as can be from here on: cells may run for long, what hidden tests run is small."""
    if _CONFIG in sys.modules:
        _optimize(0)


def _optimize(level: int) -> int:
    """Set how much the compiler optimizes, and return how much it did before."""
    config = _config()
    before, config.OPT = config.OPT, config._OptLevel(level)
    return int(before)


def _config() -> Any:
    return import_module(_CONFIG)


def _tolerate_cache() -> None:
    """Let `cache=True` do nothing in a cell, which is no file whose kernels could be kept."""
    from numba.core.dispatcher import Dispatcher

    enable: Any = Dispatcher.enable_caching

    def enable_caching(self: Any) -> None:
        with contextlib.suppress(RuntimeError):  # "no locator available for file '<cell 1>'"
            enable(self)

    Dispatcher.enable_caching = enable_caching  # type: ignore[method-assign]


def _share_out_loops_only() -> None:
    """Let `parallel=True` mean the loops over `prange`.

    Numba makes one of each comparison of two arrays as well. That takes as long to compile as a kernel's own loop, and
    gives the same. Advice on speed helps nobody here, least of all on what is not made parallel because of this.
    """
    from numba.core.cpu_options import ParallelOptions

    _config().DISABLE_PERFORMANCE_WARNINGS = 1
    begin: Any = ParallelOptions.__init__
    others = [name for name in ParallelOptions.__slots__ if name not in ("enabled", "prange")]

    def initialize(self: Any, value: Any) -> None:
        begin(self, dict.fromkeys(others, False) if value is True else value)

    ParallelOptions.__init__ = initialize  # type: ignore[method-assign]


def _compile_something() -> None:
    """Compile one loop: the first time loads a quarter of a second of tables, which sessions inherit."""
    from numba import njit

    def copy(out: Any, values: Any) -> None:
        for index in range(len(values)):
            out[index] = values[index]

    njit(copy).compile("void(float64[::1], float64[::1])")


@contextlib.contextmanager
def _without_threads() -> Iterator[None]:
    """Let a parallel loop be compiled here, where no fork would take its threads along; each session starts its own.

    The lock around their start would be one for all sessions, and one of them could keep it for ever.
    """
    from numba.np.ufunc import parallel

    before = {name: getattr(parallel, name) for name in _SHARED}
    vars(parallel).update(_backend_init_process_lock=_Open(), CFUNCTYPE=lambda *_types: lambda _address: _nothing)
    try:
        yield
    finally:
        vars(parallel).update(before)


class _Open(contextlib.nullcontext[None]):
    """A lock that nobody has to wait for."""


def _nothing(*_args: Any) -> int:
    return 0
