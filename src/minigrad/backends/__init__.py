"""Where tensors are computed: plain Python, Numba on the CPU, or CUDA.

    with minigrad.backend("python"):     # the specification, for this block
        ...
    minigrad.backend("numba")            # the default from here on

A backend computes on arrays: elementwise expressions, reductions, matrix products. It knows nothing of gradients.

    python   loops of `minigrad.tensor_ops`, one number at a time: the specification
    numba    compiled parallel loops; NumPy below the sizes where those pay, so that small tensors never import Numba,
             and NumPy for all sizes where there is no Numba, as in a browser
    cuda     kernels of `minigrad.cuda_ops`, on a GPU or in `minigrad.emulator`; new tensors are made there

Each thread has a choice of its own, as with `no_grad`. It begins with "numba", or what ``MINIGRAD_BACKEND`` says. A
tensor on the device "cuda" computes there whatever the choice, and its results stay there. Convolutions, pooling and
cross entropy have no kernels for it: they bring its elements to the host, compute there, and bring the result back.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from minigrad.machine import overrides
from minigrad.machine.missing import missing
from minigrad.machine.modes import Setting
from minigrad.machine.packages import is_installed

if TYPE_CHECKING:
    from minigrad.operators import Expression

__all__ = [
    "Backend",
    "backend",
    "chosen",
    "compiler",
    "cuda",
    "current",
    "default_float",
    "floats",
    "get_default_dtype",
    "here",
    "is_quick",
    "is_quick_in_all_threads",
    "load",
    "quickest",
    "set_default_dtype",
    "without_compiler",
]


def __getattr__(name: str) -> NoReturn:
    raise missing(__name__, name, sys.modules[__name__])


NAMES = ("python", "numba", "cuda")


class Backend(Protocol):
    """The methods of every backend. Arrays come in with any strides, results are new and row-major."""

    name: str

    def elementwise(self, expression: Expression, inputs: Sequence[Any], dtype: np.dtype[Any]) -> Any:
        """Compute an expression of operators for every element. The inputs broadcast."""

    def reduce(self, kernel: str, x: Any, axes: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Fold axes away with "add", "mul", "max" or "min"."""

    def matmul(self, a: Any, b: Any) -> Any:
        """Multiply matrices in the last two axes. Leading axes broadcast."""

    def contiguous(self, x: Any) -> Any:
        """Return a fresh row-major copy."""

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Any:
        """Return an array with arbitrary values."""


class _Choice:
    """The choice of one thread.

    Attributes:
        name: The backend.
        quick: Whether NumPy and compiled kernels may be used.
        compiles: Whether kernels are worth compiling.
        state: Tells apart what computes values: the backend, and what a student's answers stand in for.
    """

    __slots__ = ("__weakref__", "compiles", "name", "quick", "state")

    quick: bool
    state: tuple[str, int]

    def __init__(self) -> None:
        self.name = _at_first
        self.compiles = True

    def refresh(self) -> None:
        """Find out again whether the quick way is open: nothing that computes values is a student's."""
        self.quick = _LOOPS.is_quick and self.name != "python"
        self.state = self.name, _LOOPS.state


class _Here(threading.local):
    """The choice of this thread: the switch that `backend` turns."""

    def __init__(self) -> None:
        self.choice = _Choice()
        self.latest: Any = None
        with overrides.turn:
            _choices.add(self.choice)
            self.choice.refresh()

    @property
    def name(self) -> str:
        """The name of the backend."""
        return self.choice.name

    @name.setter
    def name(self, name: str) -> None:
        with overrides.turn:
            before = is_quick_in_all_threads()
            self.choice.name = name
            self.choice.refresh()
            if is_quick_in_all_threads() is not before:
                overrides.choose_twins()


class _Floats:
    """The type of new tensors made of Python floats, in all threads."""

    dtype = np.dtype(np.float32)


_at_first = os.environ.get("MINIGRAD_BACKEND", "numba")
if _at_first not in NAMES:
    raise ValueError(f"MINIGRAD_BACKEND is {_at_first!r}; the backends are {', '.join(map(repr, NAMES))}")
_choices: weakref.WeakSet[_Choice] = weakref.WeakSet()


def _refresh() -> None:
    for choice in _choices:
        choice.refresh()


_LOOPS = overrides.Level("operators", "tensor_data", "tensor_ops", "fast_ops", then=_refresh)
_COMPILED_LOOPS = overrides.Level("fast_ops")
_DEVICE_LOOPS = overrides.Level("operators", "tensor_data", "cuda_ops")
here = _Here()
floats = _Floats()


def backend(name: str) -> Any:
    """Choose the backend of this thread, from now on or, in a ``with`` statement, for its block.

    The returned object also decorates functions, which then compute there.

    Args:
        name: "python", "numba" or "cuda".

    Raises:
        ValueError: If there is none of that name.

    >>> with minigrad.backend("python"):
    ...     minigrad.tensor([1.0, 2.0]) + 1.0
    tensor([2., 3.])
    """
    if name not in NAMES:
        raise ValueError(f"backend: there is no {name!r}; the backends are {', '.join(map(repr, NAMES))}")
    if name == "cuda":
        cuda()  # says now what is missing, not at the first operation
    return Setting(here, "name", name, f"backend {name!r}")


def chosen() -> str:
    """Return the name of the chosen backend.

    >>> with minigrad.backend("python"):
    ...     minigrad.backends.chosen()
    'python'
    """
    return here.choice.name


def is_quick_in_all_threads() -> bool:
    """Return whether quick forms of methods may stand in their places, which all threads share.

    >>> with minigrad.backend("python"):
    ...     minigrad.backends.is_quick_in_all_threads()
    False
    """
    return _at_first != "python" and all(choice.quick for choice in _choices)


def is_quick(device: str = "cpu") -> bool:
    """Return whether NumPy and the compiled kernels serve arrays on the CPU; or generated kernels those on a device.

    >>> with minigrad.backend("python"):
    ...     minigrad.backends.is_quick()
    False
    """
    choice = here.choice
    if device == "cuda":
        return _DEVICE_LOOPS.is_quick and choice.name != "python"
    return choice.quick


def current(*inputs: Any) -> Any:
    """Return the backend that computes on these arrays."""
    for x in inputs:
        if x.__class__ is not np.ndarray and hasattr(x, "to_host"):
            return cuda()
    choice = here.choice
    if choice.quick:
        return quickest()
    if not _COMPILED_LOOPS.is_quick and choice.name != "python":
        return load("teaching", "TeachingBackend")
    return load("python", "PythonBackend")


def quickest() -> Any:
    """Return the backend for large arrays on the CPU: compiled loops, or NumPy where there is no Numba."""
    return _quickest(here.choice.compiles)


@cache
def _quickest(compiles: bool) -> Any:
    if compiles and is_installed("numba"):
        return load("numba", "NumbaBackend")
    return load("uncompiled", "NumpyBackend")


@contextmanager
def without_compiler() -> Iterator[None]:
    """Let NumPy compute large arrays too, in a ``with`` statement: where only shapes are asked for."""
    choice = here.choice
    before, choice.compiles = choice.compiles, False
    try:
        yield
    finally:
        choice.compiles = before


def cuda() -> Any:
    """Return the backend of CUDA devices."""
    return load("gpu", "CudaBackend")


def compiler(device: str) -> Any:
    """Return the backend that compiles loops for a device, "cpu" or "cuda": its method `calls` returns new `Calls`."""
    return cuda() if device == "cuda" else load("numba", "NumbaBackend")


@cache
def load(module: str, name: str) -> Any:
    """Return the one object of a backend's class, imported when it is first used."""
    return getattr(importlib.import_module(f"minigrad.backends.{module}"), name)()


def default_float() -> Any:
    """Return the dtype of new tensors made of Python floats.

    >>> minigrad.backends.default_float()
    dtype('float32')
    """
    return floats.dtype


def get_default_dtype() -> Any:
    """Return the dtype of new tensors made of Python floats, by PyTorch's name.

    >>> minigrad.get_default_dtype()
    dtype('float32')
    """
    return floats.dtype


def set_default_dtype(dtype: np.dtype[Any]) -> None:
    """Choose the dtype of new tensors made of Python floats: float32 (at first, as in PyTorch) or float64.

    >>> minigrad.set_default_dtype(minigrad.float64)
    >>> minigrad.tensor([1.0]).dtype
    dtype('float64')
    >>> minigrad.set_default_dtype(minigrad.float32)
    """
    dtype = np.dtype(dtype)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"set_default_dtype: {dtype} is not a floating-point type; use float32 or float64")
    floats.dtype = dtype
