"""Compile a student's kernels with Numba, together with the helper functions that they call.

    kernel = compile_kernel(_map)
    kernel(out, out_shape, out_strides, in_storage, in_shape, in_strides)

Helpers need no decorator: whatever the kernel reaches is compiled with it, and compiled anew when it has changed.
``set_parallel(False)``, or ``MINIGRAD_PARALLEL=0`` in the environment, runs every kernel on one thread: the first thing
to try when a result is wrong.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, cast

import numpy as np

from minigrad.compiling import reaching, refusals
from minigrad.machine import overrides

__all__ = ["Kernel", "compile_kernel", "interpreted", "is_parallel", "set_parallel"]

_MOST_KEPT = 1024


class _Switch:
    parallel = os.environ.get("MINIGRAD_PARALLEL", "1") not in ("0", "false", "off")


def set_parallel(parallel: bool) -> None:
    """Let kernels run in parallel, or all of them on one thread; also those that are compiled already.

    >>> before = minigrad.compiling.is_parallel()
    >>> minigrad.compiling.set_parallel(False)
    >>> minigrad.compiling.is_parallel()
    False
    >>> minigrad.compiling.set_parallel(before)
    """
    _Switch.parallel = bool(parallel)


def is_parallel() -> bool:
    """Return whether kernels may run in parallel."""
    return _Switch.parallel


class Kernel:
    """A kernel that is compiled when it is first called with arguments of some types.

    Attributes:
        py_func: The Python function that it is made from.

    Raises:
        KernelError: When called, if the compiler refuses it.
    """

    def __init__(self, function: FunctionType, parallel: bool, fastmath: Any) -> None:
        self.py_func = function
        self._parallel = parallel
        self._fastmath = fastmath
        self._dispatchers: dict[bool, Any] = {}
        self._known: set[Any] = set()
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    @property
    def dispatcher(self) -> Any:
        """Numba's own object: it knows signatures, diagnostics and the compiled code."""
        parallel = self._parallel and _Switch.parallel
        if parallel not in self._dispatchers:
            self._dispatchers[parallel] = _compile_with_helpers(self.py_func, parallel, self._fastmath)
        return self._dispatchers[parallel]

    def __call__(self, *args: Any) -> Any:
        """Run the kernel, compiling it first if arguments of these types are new to it."""
        dispatcher = self.dispatcher
        kinds = (dispatcher, *map(_kind_of, args))
        if kinds not in self._known:
            with refusals.in_plain_words(self.py_func), _without_advice():
                dispatcher.compile(tuple(map(_type_of, args)))
            self._known.add(kinds)
        return dispatcher(*args)

    def __repr__(self) -> str:
        return f"<compiled kernel {self.__name__}>"


def compile_kernel(fn: Callable[..., Any], parallel: bool = True) -> Kernel:
    """Compile a kernel with all the functions that it calls.

    The same function, with the same helpers, gives the same kernel: it is compiled once for each combination of
    argument types. A function that a helper's name stands for now is what counts, not the one of an earlier call.

    Args:
        fn: A plain function, or one that ``njit`` has made; the latter runs in parallel only if it says so itself.
        parallel: Whether the loops over ``prange`` run in parallel.

    Raises:
        TypeError: If it is no function.
        ExerciseNotDone: If it, or a function that it calls, is left out of this edition and not written yet.
    """
    options = getattr(fn, "targetoptions", {})
    function = reaching.kernel_of(fn)
    if not isinstance(function, FunctionType):
        raise TypeError(f"a kernel is a function, not {function!r}: is a `return` missing where it is made?")
    parallel = parallel and bool(options.get("parallel", not options))
    fastmath = options.get("fastmath", False)
    key = (reaching.fingerprint(function, reaching.kernel_of), parallel, repr(fastmath))
    if key not in _kernels:
        overrides.refuse_cut(reaching.reached(function, reaching.kernel_of))
        _forget_if_too_many(_kernels)
        _kernels[key] = Kernel(function, parallel, fastmath)
    return _kernels[key]


def interpreted(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a plain Python function that does what a compiled one does: line by line, and with bounds checked.

    Every compiled function that it reaches is replaced by the Python function that it was made from.

    >>> twice = minigrad.compiling.interpreted(minigrad.compiling.compile_kernel(minigrad.operators.square))
    >>> twice(3.0)
    9.0
    """
    function = reaching.bare(fn)
    if not isinstance(function, FunctionType):
        raise TypeError(f"a kernel is a function, not {function!r}: is a `return` missing where it is made?")
    copy: Callable[..., Any] = reaching.rebuild(function, lambda _, copy: copy)
    return copy


_kernels: dict[Any, Kernel] = {}
_helpers: dict[Any, Any] = {}


def _compile_with_helpers(function: FunctionType, parallel: bool, fastmath: Any) -> Any:
    from minigrad.machine._numba import numba

    def make(original: FunctionType, copy: FunctionType) -> Any:
        if original is function:
            return numba.njit(parallel=parallel, fastmath=fastmath, error_model="numpy")(copy)
        key = (reaching.fingerprint(original, reaching.kernel_of), repr(fastmath))
        if key not in _helpers:
            _forget_if_too_many(_helpers)
            _helpers[key] = numba.njit(fastmath=fastmath, error_model="numpy")(copy)
        return _helpers[key]

    return reaching.rebuild(function, make, reaching.kernel_of)


def _forget_if_too_many(kept: dict[Any, Any]) -> None:
    if len(kept) >= _MOST_KEPT:
        kept.clear()


def _kind_of(value: Any) -> Any:
    """Return what the type of an argument follows from, in a tenth of the time that Numba takes to find it."""
    if type(value) is np.ndarray:
        return value.dtype, value.ndim, value.flags.num
    if isinstance(value, tuple):
        return tuple(map(_kind_of, value))
    return type(value)


def _type_of(value: Any) -> Any:
    from minigrad.machine._numba import numba

    return cast(Any, numba).typeof(value)


@contextmanager
def _without_advice() -> Iterator[None]:
    """Keep the compiler's advice on speed from the user: a report on parallelism says it better."""
    from minigrad.machine._numba import numba

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.NumbaPerformanceWarning)
        yield
