"""Running CUDA kernels that are written as plain Python functions, on a GPU or on the CPU.

A kernel is made ready in one step, for both: the functions that it calls are found through its globals and closures and
get replaced by what the device can call. That is how a student's kernel may call helpers and operators as they were
written, and how an installed `to_index` reaches the kernels that call it.
"""

from __future__ import annotations

import ast
import inspect
import operator
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from minigrad.compiling import reaching, refusals
from minigrad.emulator.barriers import as_generator, names_a_barrier
from minigrad.emulator.grid import Grid
from minigrad.errors import KernelError
from minigrad.machine import _numba
from minigrad.machine.simulated_cuda import Memory, is_cuda, name_in_kernel

cuda: Any = _numba.cuda

if not _numba.is_simulator():  # pragma: no cover (needs a GPU)
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
_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}
_CHOSEN: dict[str, Callable[[Sequence[int]], int]] = {"min": min, "max": max, "int": operator.itemgetter(0)}
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
    """Return the size of a block that a kernel was written for, wherever it has it from.

    Args:
        kernel: The kernel. ``BLOCK_DIM`` is a local variable of it, a variable of the function around it, or a global.
            A kernel that does not use that name has the size of its first shared array, such as ``TILE_SIZE``. Sizes
            may be written by numbers and by other names: ``BLOCK_DIM = THREADS_PER_BLOCK``.
        default: What counts where neither is there.
    """
    function = function_of(kernel)
    around = inspect.getclosurevars(function)
    names = {**around.globals, **around.nonlocals}
    body = _body_of(function.__code__)
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update({name: value for each in targets for name, value in _assigned(each, node.value, names)})
    found = names.get("BLOCK_DIM")
    if isinstance(found, int) and not isinstance(found, bool):
        if not 0 < found <= MOST_THREADS:
            raise KernelError(f"BLOCK_DIM is {found!r}; a block has from 1 to {MOST_THREADS} threads")
        return found
    sizes = (_value_of(shape, names) for shape in map(_shared_size, body) if shape is not None)
    return next((size for size in sizes if isinstance(size, int) and 0 < size <= MOST_THREADS), default)


@lru_cache(maxsize=64)
def _body_of(code: CodeType) -> tuple[ast.AST, ...]:
    """Return the nodes of a function's text in their order, or none where the text is not known."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return ()
    found = [node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr)]
    return tuple(sorted(found, key=lambda node: (node.lineno, node.col_offset)))


def _assigned(target: ast.expr, value: ast.expr, names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the names that an assignment gives to known values; None for one whose value is not known."""
    if isinstance(target, ast.Name):
        yield target.id, _value_of(value, names)
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for each, part in zip(target.elts, value.elts, strict=False):
            yield from _assigned(each, part, names)


def _shared_size(node: ast.AST) -> ast.expr | None:
    """Return the first size of the shared array that a call makes, or None if it is no such call."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "array":
        return None
    owner = node.func.value
    if getattr(owner, "attr", getattr(owner, "id", "")) != "shared":
        return None
    shape = node.args[0] if node.args else next((each.value for each in node.keywords if each.arg == "shape"), None)
    return shape.elts[0] if isinstance(shape, ast.Tuple) and shape.elts else shape


def _value_of(node: ast.expr, names: dict[str, Any]) -> Any:
    """Return the value of an expression of numbers, names, attributes and their minimum; None if it is another one."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value_of(node.value, names)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType | type) else None
    if isinstance(node, ast.BinOp) and (combine := _ARITHMETIC.get(type(node.op))):
        left, right = _value_of(node.left, names), _value_of(node.right, names)
        if isinstance(left, int) and isinstance(right, int) and 0 <= left <= MOST_THREADS and 0 < right <= MOST_THREADS:
            return combine(left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in names and node.args:
        values = [_value_of(each, names) for each in node.args]
        if all(type(each) is int for each in values) and not node.keywords:
            return _CHOSEN[node.func.id](values) if node.func.id in _CHOSEN else None
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
    emulated = Grid()
    copies: list[FunctionType] = []

    def make(original: FunctionType, copy: FunctionType) -> FunctionType:
        copies.append(copy)
        return _taking_turns(original, copy) if waits else copy

    waits = False
    function = reaching.rebuild(kernel, make, _in_python)
    waits = any(names_a_barrier(copy.__code__) for copy in copies)
    if waits:
        copies.clear()
        function = reaching.rebuild(kernel, make, _in_python)
    for copy in copies:
        _hand_over(copy, emulated.device)

    def run(grid: Size, block: Size, *args: Any) -> None:
        emulated.run(function, grid, block, [arg.view(np.ndarray) if isinstance(arg, Memory) else arg for arg in args])

    return run


def _taking_turns(original: FunctionType, copy: FunctionType) -> FunctionType:
    """Return a generator in place of a function that can reach a barrier, and others as they are."""
    if not any(names_a_barrier(each.__code__) for each in reaching.reached(original, _in_python)):
        return copy
    try:
        return as_generator(copy)
    except ValueError as error:
        raise KernelError(str(error)) from None


def _hand_over(function: FunctionType, device: Any) -> None:
    """Let ``cuda`` mean the emulated one in a function, as a global or in the function around it."""
    for name, value in list(function.__globals__.items()):
        function.__globals__[name] = _in_emulator(value, device)
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # a variable that was never set
            cell.cell_contents = _in_emulator(cell.cell_contents, device)


def _in_emulator(value: Any, device: Any) -> Any:
    """Return the emulated cuda for the real one, and a numba with that cuda for numba."""
    if is_cuda(value):
        return device
    if name := name_in_kernel(value):
        return _Taken(device, name)
    return _Numba(device) if value is _numba.numba else value


class _Taken:
    """What a program took out of ``cuda``, such as its ``threadIdx``: another one for each thread."""

    def __init__(self, device: Any, name: str) -> None:
        self._device, self._name = device, name

    def __getattr__(self, name: str) -> Any:
        return getattr(getattr(self._device, self._name), name)

    def __call__(self, *args: Any) -> Any:
        return getattr(self._device, self._name)(*args)


class _Numba:
    """Numba's module, for kernels that say ``numba.cuda.threadIdx``."""

    def __init__(self, cuda: Any) -> None:
        self.cuda = cuda

    def __getattr__(self, name: str) -> Any:
        return getattr(_numba.numba, name)


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
