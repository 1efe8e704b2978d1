"""Running CUDA kernels that are written as plain Python functions, on a GPU or on the CPU.

A kernel is made ready in one step, for both: the functions that it calls are found through its globals and closures and
get replaced by what the device can call. That is how a student's kernel may call helpers and operators as they were
written, and how an installed `to_index` reaches the kernels that call it.
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

from minigrad.compiling import reaching, refusals
from minigrad.errors import KernelError
from minigrad.machine import _numba

cuda: Any = _numba.cuda

if _numba.is_simulator():
    from minigrad.backends.gpu import simulator
else:  # pragma: no cover (needs a GPU)
    # Small grids, and arrays in host memory, are what lessons and tests launch; numba-cuda has switches of its own.
    for _name in ("numba.core.config", "numba.cuda.core.config"):
        if _name in sys.modules:
            vars(sys.modules[_name]).update(CUDA_LOW_OCCUPANCY_WARNINGS=0, CUDA_WARN_ON_IMPLICIT_COPY=0)

__all__ = ["MOST_THREADS", "block_dim", "function_of", "launch", "ready", "synchronize"]

Kernel = Callable[..., None]
Size = tuple[int, int, int]

MOST_THREADS = 1024
"""Threads in a block, at most: a limit of every NVIDIA GPU."""

_BARRIERS = frozenset(("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "sync"))
_MOST_KEPT = 1024
_kept: dict[Any, Any] = {}


def launch(kernel: Any, blocks: int | Sequence[int], threads: int | Sequence[int], *args: Any) -> None:
    """Run a kernel on a grid of threads, and wait for nothing but, in the simulator, its end.

    Args:
        kernel: A Python function, or what ``cuda.jit`` made of one.
        blocks: The size of the grid: one to three numbers.
        threads: The size of a block: one to three numbers, at most `MOST_THREADS` threads in all.
        *args: Numbers, tuples of numbers, and arrays: those of `DeviceArray` as their storage from the first element
            on. NumPy's are copied to a GPU and back.

    Raises:
        KernelError: If the kernel cannot be run as it is written.
    """
    grid, block = _three(blocks), _three(threads)
    count = block[0] * block[1] * block[2]
    if not 0 < count <= MOST_THREADS:
        raise KernelError(f"a block of {block} has {count} threads; a GPU takes from 1 to {MOST_THREADS}")
    if min(grid) <= 0:
        raise KernelError(f"a grid of {grid} blocks is empty; leave out a launch that has nothing to do")
    ready(kernel)(grid, block, *[getattr(arg, "flat", arg) if hasattr(arg, "to_host") else arg for arg in args])


def ready(kernel: Any) -> Kernel:
    """Make a kernel ready to run more than once.

    Returns:
        A function of the grid's size, the block's size (three numbers each) and the kernel's arguments. It keeps the
        helper functions that are installed now.
    """
    function = function_of(kernel)
    return _simulated(function) if _numba.is_simulator() else _compiled(function)


def synchronize() -> None:
    """Wait until the device has done all that it was given."""
    cuda.synchronize()


def function_of(kernel: Any) -> FunctionType:
    """Return the Python function behind a kernel.

    Raises:
        KernelError: If there is none: a forgotten ``return``, for example.
    """
    found = reaching.bare(kernel)
    if not isinstance(found, FunctionType):
        raise KernelError(f"a kernel is a function, or what cuda.jit makes of one, not {type(kernel).__name__}")
    return found


def block_dim(kernel: Any, default: int) -> int:
    """Return the BLOCK_DIM that a kernel was written for, wherever it has it from.

    Args:
        kernel: The kernel. ``BLOCK_DIM`` is a local variable set to a number, a variable of the function around it, or
            a global; or it is not there at all.
        default: What counts then.
    """
    function = function_of(kernel)
    around = inspect.getclosurevars(function)
    outside = {**around.globals, **around.nonlocals}.get("BLOCK_DIM", default)
    local = _local_constant(function.__code__, "BLOCK_DIM")
    found = outside if local is None else local
    if not isinstance(found, int) or not 0 < found <= MOST_THREADS:
        raise KernelError(f"BLOCK_DIM is {found!r}; a block has from 1 to {MOST_THREADS} threads")
    return found


def _local_constant(code: CodeType, name: str) -> Any:
    """Return the constant that a function's code stores under a name, or None."""
    constant = None
    for step in dis.get_instructions(code):
        stored = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        if step.opname.startswith("STORE_FAST") and stored[0] == name:
            return constant
        constant = step.argval if step.opname == "LOAD_CONST" else None
    return None


def _three(size: int | Sequence[int]) -> Size:
    numbers = (size,) if isinstance(size, int) else tuple(size)
    x, y, z = (*numbers, 1, 1)[:3]
    return int(x), int(y), int(z)


def _in_python(value: Any) -> Any:
    return reaching.installed(reaching.bare(value))


def _on_gpu(value: Any) -> Any:
    return reaching.kernel_of(_in_python(value))


def _simulated(kernel: FunctionType) -> Kernel:
    """Return a function of grid, block and arguments that runs a kernel on the CPU."""
    simulated = simulator.SimulatedCuda()
    copies: list[FunctionType] = []

    def make(_: FunctionType, copy: FunctionType) -> FunctionType:
        copies.append(copy)
        return copy

    function = reaching.rebuild(kernel, make, _in_python)
    for copy in copies:
        _hand_over(copy, simulated)
    waits = any(not _BARRIERS.isdisjoint(copy.__code__.co_names) for copy in copies)

    def run(grid: Size, block: Size, *args: Any) -> None:
        simulated.resize(grid, block)
        simulator.run(function, simulated, grid, block, [getattr(arg, "_ary", arg) for arg in args], waits)

    return run


def _hand_over(function: FunctionType, simulated: Any) -> None:
    """Let ``cuda`` mean the simulated one in a function, as a global or in the function around it."""
    for name, value in list(function.__globals__.items()):
        if value is cuda:
            function.__globals__[name] = simulated
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # a variable that was never set
            if cell.cell_contents is cuda:
                cell.cell_contents = simulated


def _compiled(kernel: FunctionType) -> Kernel:  # pragma: no cover (needs a GPU)
    """Return a function of grid, block and arguments that runs a kernel on the GPU.

    It is the same one as long as nothing that the kernel is made of has changed, so that it is compiled once.
    """
    key = reaching.fingerprint(kernel, _on_gpu)
    if key not in _kept:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[key] = reaching.rebuild(
            kernel, lambda original, copy: cuda.jit(device=original is not kernel)(copy), _on_gpu
        )
    dispatcher = _kept[key]

    def run(grid: Size, block: Size, *args: Any) -> None:
        try:
            dispatcher[grid, block](*args)
        except _numba.numba.core.errors.NumbaError as error:
            raise refusals.explain(error, kernel) from None

    return run
