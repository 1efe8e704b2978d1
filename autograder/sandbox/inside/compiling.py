"""What Numba needs in the warm parent, so that a session compiles at once and in little room."""

import contextlib
import threading
from typing import Any

__all__ = ["prepare"]

_STACK = 1 << 20  # of a thread: the CUDA simulator starts one for each thread of a block


def prepare() -> None:
    """Load the compiler before sessions are forked, and let it work on functions of cells."""
    threading.stack_size(_STACK)
    _tolerate_cache()
    _compile_something()


def _tolerate_cache() -> None:
    """Let `cache=True` do nothing in a cell, which is no file whose kernels could be kept."""
    from numba.core.dispatcher import Dispatcher

    enable: Any = Dispatcher.enable_caching

    def enable_caching(self: Any) -> None:
        with contextlib.suppress(RuntimeError):  # "no locator available for file '<cell 1>'"
            enable(self)

    Dispatcher.enable_caching = enable_caching  # type: ignore[method-assign]


def _compile_something() -> None:
    """Compile one loop: the first time loads a quarter of a second of tables, which sessions inherit.

    It is not a parallel one, which would start threads here that no fork takes along.
    """
    from numba import njit

    def copy(out: Any, values: Any) -> None:
        for index in range(len(values)):
            out[index] = values[index]

    njit(copy).compile("void(float64[::1], float64[::1])")
