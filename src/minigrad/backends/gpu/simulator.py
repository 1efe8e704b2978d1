"""A block of threads, run on the CPU one thread at a time: what `launching` uses where there is no GPU.

It stands on Numba's own simulator, whose functions a kernel finds under the name ``cuda``, and changes how threads run.
Numba starts one system thread for each and lets them race; here exactly one runs at a time, from one
``cuda.syncthreads()`` to the next, in the order of their numbers. That is many times quicker, gives the same result in
every run, and shows three mistakes that a race hides:

- shared memory that nobody has written yet reads as nan, so a forgotten ``syncthreads`` is seen;
- threads of one block that wait at different ``syncthreads``, or that end while others wait, are named;
- what two kernels, or two blocks, leave in shared memory is never seen by the next.

A kernel in which no ``syncthreads`` can be reached runs in the calling thread, without any other.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numba.core import types
from numba.cuda.simulator import kernelapi
from numba.np import numpy_support

from minigrad.errors import KernelError
from minigrad.machine import _numba

ORDERS = ("forward", "reverse")
"""In which order the threads of a block take their turns. A correct kernel does not notice."""

UNWRITTEN = 2**30 + 7
"""The content of integer memory before it is written: as an index it is beyond every array."""

_order = "forward"

Size = tuple[int, int, int]


@contextmanager
def order(name: str) -> Iterator[None]:
    """Let the threads of a block take their turns in another order, in a ``with`` block.

    Args:
        name: "forward", or "reverse" for the last thread first.
    """
    global _order
    if name not in ORDERS:
        raise ValueError(f"order: threads run {' or '.join(map(repr, ORDERS))}, not {name!r}")
    before, _order = _order, name
    try:
        yield
    finally:
        _order = before


class _Shared:
    """Shared memory of one block: an array for each place in the code that asks for one."""

    def __init__(self) -> None:
        self.arrays: dict[tuple[Any, int], np.ndarray[Any, Any]] = {}

    def array(self, shape: Any, dtype: Any) -> np.ndarray[Any, Any]:
        """Return the array that the calling line of the kernel shares with all threads of the block."""
        frame = sys._getframe(1)
        place = frame.f_code, frame.f_lasti  # the instruction, not the line: one line may ask for two arrays
        if place not in self.arrays:
            self.arrays[place] = _unwritten(shape, dtype)
        return self.arrays[place]


class _Local:
    """Memory of one thread."""

    def array(self, shape: Any, dtype: Any) -> np.ndarray[Any, Any]:
        """Return a new array."""
        return _unwritten(shape, dtype)


def _unwritten(shape: Any, dtype: Any) -> np.ndarray[Any, Any]:
    plain = _plain_dtype(dtype)
    poison = np.nan if plain.kind == "f" else True if plain.kind == "b" else UNWRITTEN
    return np.full(shape, poison, plain)


@lru_cache(maxsize=64)
def _plain_dtype(dtype: Any) -> Any:
    return np.dtype(numpy_support.as_dtype(dtype) if isinstance(dtype, types.Type) else dtype)


Dim3: Any = kernelapi.Dim3
_Module: Any = kernelapi.FakeCUDAModule


class SimulatedCuda(_Module):  # type: ignore[misc]  # Numba ships no types
    """The simulator's stand-in for ``cuda`` inside a kernel."""

    def __init__(self) -> None:
        super().__init__((1, 1, 1), (1, 1, 1), 0)
        self._local = _Local()
        self._block_index = Dim3(0, 0, 0)
        self.thread: _Thread

    def resize(self, blocks: Size, threads: Size) -> None:
        """Set the size of the grid and of its blocks."""
        self.gridDim, self.blockDim = Dim3(*blocks), Dim3(*threads)

    def enter_block(self, index: Size) -> None:
        """Begin a block, with shared memory of its own."""
        self._block_index = Dim3(*index)
        self._shared = _Shared()

    @property
    def threadIdx(self) -> Any:  # noqa: N802 (CUDA's name)
        """The running thread's index in its block."""
        return self.thread.index

    @property
    def blockIdx(self) -> Any:  # noqa: N802
        """The block's index in the grid."""
        return self._block_index

    @property
    def laneid(self) -> int:
        """The running thread's number in its warp."""
        return self.thread.number % 32

    def syncthreads(self) -> None:
        """Wait until all threads of the block have come here."""
        self.thread.wait(sys._getframe(1))

    def _vote(self, value: Any) -> list[Any]:
        """Return what all threads of the block brought along."""
        frame = sys._getframe(2)
        thread = self.thread
        thread.vote = value
        thread.wait(frame)
        votes = [each.vote for each in thread.block]
        thread.wait(frame)
        return votes

    def syncthreads_count(self, val: Any) -> int:
        """Wait as `syncthreads`, and return how many threads brought something true."""
        return sum(map(bool, self._vote(val)))

    def syncthreads_and(self, val: Any) -> int:
        """Wait as `syncthreads`, and return whether all threads brought something true."""
        return int(all(self._vote(val)))

    def syncthreads_or(self, val: Any) -> int:
        """Wait as `syncthreads`, and return whether a thread brought something true."""
        return int(any(self._vote(val)))

    @property
    def cg(self) -> Any:
        """Cooperative groups, which are not simulated."""
        raise KernelError("cooperative groups (cuda.cg) are not simulated; use cuda.syncthreads() within a block")


class SimulatedNumba:
    """Numba's module as a kernel sees it, for kernels that say ``numba.cuda.threadIdx``.

    Args:
        cuda: What stands for its cuda.
    """

    def __init__(self, cuda: SimulatedCuda) -> None:
        self.cuda = cuda

    def __getattr__(self, name: str) -> Any:
        return getattr(_numba.numba, name)


class _Stop(BaseException):
    """Raised in a thread that must end because another one failed."""


def _nothing() -> None:
    """Do nothing."""


class _Thread:
    """One thread of a block. By itself it can only run to its end."""

    def __init__(self, number: int, size: Size) -> None:
        x, rest = number % size[0], number // size[0]
        self.number = number
        self.index = Dim3(x, rest % size[1], rest // size[1])
        self.block: Sequence[_Thread] = ()
        self.vote: Any = None

    def wait(self, frame: Any) -> None:
        """Wait for the other threads: not without threads of the system."""
        raise KernelError(f"syncthreads was not found by its name in the kernel, but called in line {frame.f_lineno}")

    def __str__(self) -> str:
        return f"thread ({self.index.x}, {self.index.y}, {self.index.z})"


class _WaitingThread(_Thread):
    """A thread that can stop at a syncthreads: a thread of the system, which runs only when it is its turn."""

    def __init__(self, number: int, size: Size, baton: threading.Lock) -> None:
        super().__init__(number, size)
        self.baton, self.turn = baton, threading.Lock()
        self.turn.acquire()
        self.work: Callable[[], None] = _nothing
        self.waits_at: tuple[Any, int] | None = None
        self.line = 0
        self.done = self.stopped = self.runs = False
        self.error: Exception | None = None
        self.system = threading.Thread(target=self._live, daemon=True)

    def start(self) -> None:
        """Begin to live: not before that can it be interrupted."""
        self.system.start()
        self.baton.acquire()

    def _live(self) -> None:
        with suppress(_Stop), np.errstate(all="ignore"):
            self.baton.release()
            while True:
                self.turn.acquire()
                if self.stopped:
                    return
                try:
                    self.work()
                except Exception as error:
                    self.error = error
                self.done = True
                self.baton.release()

    def wait(self, frame: Any) -> None:
        """Stand at a syncthreads, and let the next thread run."""
        self.waits_at, self.line = (frame.f_code, frame.f_lasti), frame.f_lineno
        self.baton.release()
        self.turn.acquire()
        if self.stopped:
            raise _Stop

    def go_on(self) -> None:
        """Let this thread run to its next syncthreads, or to its end."""
        self.waits_at, self.runs = None, True
        self.turn.release()
        self.baton.acquire()
        self.runs = False

    def stop(self) -> None:
        """End this thread, also where it is in a loop without end."""
        self.stopped = True
        if self.runs:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.system.ident or 0), ctypes.py_object(_Stop))
        if self.turn.locked():  # it waits, or will
            self.turn.release()


def run(
    kernel: Callable[..., None], cuda: SimulatedCuda, blocks: Size, threads: Size, args: Sequence[Any], waits: bool
) -> None:
    """Run a kernel on all threads of a grid.

    Args:
        kernel: A Python function, in whose globals ``cuda`` is the given one.
        cuda: What the kernel asks for its indices.
        blocks: The size of the grid.
        threads: The size of a block.
        args: The kernel's arguments.
        waits: Whether a ``syncthreads`` may be reached.

    Raises:
        KernelError: If the threads of a block do not all come to the same ``syncthreads``.
        Exception: What the kernel raised, with the thread that raised it in the message.
    """
    runner = _run_waiting if waits else _run_straight
    with np.errstate(all="ignore"):
        runner(kernel, cuda, blocks, threads, args)


def _indices(blocks: Size) -> Iterator[Size]:
    for z, y, x in product(*map(range, reversed(blocks))):
        yield x, y, z


def _in_order(threads: list[Any]) -> list[Any]:
    return threads[::-1] if _order == "reverse" else threads


def _run_straight(
    kernel: Callable[..., None], cuda: SimulatedCuda, blocks: Size, threads: Size, args: Sequence[Any]
) -> None:
    turns = _in_order([_Thread(number, threads) for number in range(threads[0] * threads[1] * threads[2])])
    for index in _indices(blocks):
        cuda.enter_block(index)
        for thread in turns:
            cuda.thread = thread
            try:
                kernel(*args)
            except Exception as error:
                raise _located(error, thread, index) from None


def _run_waiting(
    kernel: Callable[..., None], cuda: SimulatedCuda, blocks: Size, threads: Size, args: Sequence[Any]
) -> None:
    baton = threading.Lock()
    baton.acquire()
    team = [_WaitingThread(number, threads, baton) for number in range(threads[0] * threads[1] * threads[2])]
    try:
        for thread in team:
            thread.block, thread.work = team, lambda: kernel(*args)
            thread.start()
        for index in _indices(blocks):
            cuda.enter_block(index)
            _run_block(cuda, _in_order(team), index)
    finally:
        for thread in team:
            thread.stop()
        for thread in team:
            if thread.system.ident is not None:
                thread.system.join(timeout=1.0)


def _run_block(cuda: SimulatedCuda, team: list[_WaitingThread], index: Size) -> None:
    for thread in team:
        thread.done = False
    while not team[0].done:
        for thread in team:
            cuda.thread = thread
            thread.go_on()
            if thread.error is not None:
                raise _located(thread.error, thread, index) from None
        _check_meeting(team, index)


def _check_meeting(team: list[_WaitingThread], index: Size) -> None:
    """Refuse a barrier that some threads of the block do not come to: on a GPU anything may happen then."""
    first = team[0]
    for other in team:
        if other.done != first.done or other.waits_at != first.waits_at:
            raise KernelError(
                f"in block {index} {first} {_whereabouts(first)}, but {other} {_whereabouts(other)}: "
                "all threads of a block must come to the same syncthreads, so it cannot stand in a branch that only "
                "some of them take"
            )


def _whereabouts(thread: _WaitingThread) -> str:
    return "has returned" if thread.done else f"waits at the syncthreads of line {thread.line}"


def _located(error: Exception, thread: _Thread, block: Size) -> Exception:
    """Return the same error, whose message also says which thread of which block raised it."""
    try:
        told = type(error)(f"{error} ({thread} of block {block})")
    except Exception:  # an exception that is made of something else than a message
        return error
    return told.with_traceback(error.__traceback__)
