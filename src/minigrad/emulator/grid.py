"""Blocks of threads that take turns: each thread runs to its next barrier, or to its end, and then the next one.

The threads of a block are generators if the kernel has a barrier. The timing of threads has no effect, so that a run
gives the same result each time.
"""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from minigrad.emulator import device
from minigrad.emulator.device import Device, Dim3, Index, dtype_of, poisoned
from minigrad.errors import KernelError

ORDERS = ("forward", "reverse")
"""In which order the threads of a block take their turns. A correct kernel does not notice."""

_order = "forward"
ENDED = object()
"""What a thread brings that has come to its end."""

_dtype_of = lru_cache(maxsize=64)(dtype_of)


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


@dataclass(eq=False, slots=True)
class Thread:
    """A thread of a block.

    Attributes:
        number: Its place in the grid, or in its block, counted through.
        index: Its index in the block.
        place: The same, with its numbers as x, y and z.
    """

    number: int
    index: Index
    place: Dim3 = field(init=False)

    def __post_init__(self) -> None:
        self.place = Dim3(*self.index)

    def __str__(self) -> str:
        return f"thread {self.index}"


class Turns:
    """The threads of blocks, one of which runs at a time.

    Attributes:
        device: What stands for ``cuda`` in the kernel.
    """

    def __init__(self) -> None:
        self.device = Device(self)

    def turn(self, thread: Any, go_on: Callable[..., Any], *args: Any) -> Any:
        """Let a thread run to its next barrier. Returns what it brings to the barrier, or `ENDED`."""
        self.device.threadIdx = thread.place
        try:
            return go_on(*args)
        except StopIteration:
            return ENDED

    def in_turn(self, items: list[Any]) -> list[Any]:
        """Return blocks or threads in the order of their turns."""
        return items

    def rest(self) -> None:
        """Do what is to be done after all threads had a turn."""

    def meet(self, threads: list[Any], live: dict[Any, Any]) -> None:
        """Look at the threads that wait at a barrier, and at those that have ended.

        Args:
            threads: The threads of the block.
            live: Those that wait, and their generators.
        """
        raise NotImplementedError

    def made(self, scope: str, shape: Any, dtype: Any) -> Any:
        """Return the array of a call to ``cuda.shared.array`` or ``cuda.local.array``."""
        raise NotImplementedError

    def update(self, array: Any, index: tuple[int, ...] | int, new: Callable[[Any], Any]) -> Any:
        """Change an element in one go, and return what it was."""
        raise NotImplementedError

    def unknown(self, name: str, known: list[str]) -> Exception:
        """Return the error for a name that a device does not have here."""
        raise NotImplementedError

    def run_block(self, kernel: Callable[..., Any], args: Sequence[Any], threads: list[Any]) -> None:
        """Run all threads of a block to their end."""
        live: dict[Any, Any] = {}
        for thread in self.in_turn(threads):
            body = self.turn(thread, kernel, *args)
            if body.__class__ is types.GeneratorType:
                live[thread] = body
        self.rest()
        answers: dict[Any, Any] = {}
        while live:
            asked: dict[Any, Any] = {}
            for thread in self.in_turn(list(live)):
                found = self.turn(thread, live[thread].send, answers.get(thread))
                if found is ENDED:
                    del live[thread]
                else:
                    asked[thread] = found
            self.rest()
            self.meet(threads, live)
            answers = _answers(asked)


class Grid(Turns):
    """Runs a kernel on plain arrays, and shows three mistakes that a GPU hides.

    - Shared memory that nobody has written yet reads as nan, so that a forgotten ``syncthreads`` is seen.
    - Threads of one block that wait at different ``syncthreads``, or that end while others wait, are named.
    - What two kernels, or two blocks, leave in shared memory is never seen by the next.
    """

    def run(self, kernel: Callable[..., Any], grid: Index, block: Index, args: Sequence[Any]) -> None:
        """Run a kernel on all threads of a grid.

        Args:
            kernel: A function, or one made `barriers.as_generator`, in whose globals ``cuda`` is the device.
            grid: The number of blocks.
            block: The number of threads of a block.
            args: The kernel's arguments.

        Raises:
            KernelError: If the threads of a block do not all come to the same ``syncthreads``.
            Exception: What the kernel raised, with the thread that raised it in the message.
        """
        self.device.gridDim, self.device.blockDim = Dim3(*grid), Dim3(*block)
        threads = [Thread(number, index) for number, index in enumerate(indices(block))]
        if _order == "reverse":
            threads.reverse()
        with np.errstate(all="ignore"):
            for index in indices(grid):
                self.device.blockIdx = Dim3(*index)
                self._shared: dict[tuple[types.CodeType, int], Any] = {}
                self.run_block(kernel, args, threads)

    def turn(self, thread: Any, go_on: Callable[..., Any], *args: Any) -> Any:
        """Let a thread run to its next barrier, and say in an error which thread it was."""
        self.device.threadIdx = thread.place
        try:
            return go_on(*args)
        except StopIteration:
            return ENDED
        except Exception as error:
            raise _located(error, thread, self.device.blockIdx) from None

    def made(self, scope: str, shape: Any, dtype: Any) -> Any:
        """Return a new array for each call of a thread, or the one array that the instruction shares in a block."""
        if scope == "local":
            return poisoned(np.empty(shape, _dtype_of(dtype)))
        frame = sys._getframe(2)
        place = frame.f_code, frame.f_lasti  # the instruction, not the line: one line may ask for two arrays
        if place not in self._shared:
            self._shared[place] = poisoned(np.empty(shape, _dtype_of(dtype)))
        return self._shared[place]

    def update(self, array: Any, index: tuple[int, ...] | int, new: Callable[[Any], Any]) -> Any:
        """Change an element in one go, and return what it was."""
        old = array[index]
        array[index] = new(old)
        return old

    def unknown(self, name: str, known: list[str]) -> Exception:
        """Return the error for a name that a device does not have here."""
        if name == "cg":
            return KernelError("cooperative groups (cuda.cg) are not simulated; use cuda.syncthreads() within a block")
        return AttributeError(f"cuda.{name} is not simulated; known are {', '.join(known)}")

    def meet(self, threads: list[Any], live: dict[Any, Any]) -> None:
        """Refuse a barrier that some threads of the block do not come to: on a GPU anything may happen then."""
        if not live:
            return
        places = {thread: waits_at(body) for thread, body in live.items()}
        first, *others = threads
        other = next((each for each in others if places.get(each) != places.get(first)), None)
        if other is not None:
            raise KernelError(
                f"in block {tuple(self.device.blockIdx)} {first} {_whereabouts(places.get(first))}, but {other} "
                f"{_whereabouts(places.get(other))}: all threads of a block must come to the same syncthreads, so it "
                "cannot stand in a branch that only some of them take"
            )


def waits_at(body: Any) -> tuple[types.CodeType, int, int]:
    """Return the code, the line and the instruction at which a generator waits for the other threads."""
    while (inner := body.gi_yieldfrom) is not None and inner.gi_code.co_filename != device.__file__:
        body = inner
    frame = body.gi_frame
    return frame.f_code, frame.f_lineno, frame.f_lasti


def _whereabouts(place: tuple[types.CodeType, int, int] | None) -> str:
    return f"waits at the syncthreads of line {place[1]}" if place else "has returned"


def _located(error: Exception, thread: Thread, block: Dim3) -> Exception:
    """Return the same error, whose message also says which thread of which block raised it."""
    try:
        told = type(error)(f"{error} ({thread} of block {tuple(block)})")
    except Exception:  # an exception that is made of something else than a message
        return error
    return told.with_traceback(error.__traceback__)


def _answers(asked: dict[Any, Any]) -> dict[Any, Any]:
    """Return each thread's result of a barrier: a count, an and, or an or of all threads' predicates."""
    found: dict[Any, Any] = {}
    for thread, question in asked.items():
        if question is not None:
            combine = question[0]
            found[thread] = combine([given[1] for given in asked.values() if given is not None])
    return found


def indices(size: Index) -> Iterator[Index]:
    """Yield the indices of a grid or a block, x the fastest."""
    return ((x, y, z) for z, y, x in itertools.product(*map(range, reversed(size))))
