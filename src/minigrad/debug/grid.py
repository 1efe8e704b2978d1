"""Runs the threads of a CUDA kernel in Python, and takes notes.

Threads take turns at barriers, as in `minigrad.emulator.grid`. Only barriers count: they keep accesses apart.
"""

from __future__ import annotations

import random
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad.debug.arrays import FromEnd, Recorded
from minigrad.debug.findings import Findings, places, threads_collide
from minigrad.debug.memory import ATOMIC, READ, WRITE, Access, Memory, Root
from minigrad.debug.report import Counts, Event, Moment, Race
from minigrad.debug.rewrite_cuda import CudaRewriter, waits
from minigrad.debug.runtime import Endless, Runtime
from minigrad.debug.source import unwrap
from minigrad.emulator.device import Dim3, Index, dtype_of, poisoned
from minigrad.emulator.grid import Thread as PlainThread
from minigrad.emulator.grid import Turns, indices, waits_at
from minigrad.emulator.text import build

EVENTS = 65_536
"""Accesses that are kept for a picture."""

MOMENTS = 64
"""States of shared memory that are kept for a picture."""


_IN_BRANCHES = (
    "the CUDA programming guide allows syncthreads in a branch only if all threads of the block take it; otherwise the "
    "kernel is likely to hang or to have unintended effects"
)
_ENDED = (
    "the CUDA programming guide asks that all threads of a block reach a barrier; since Volta it waits only for those "
    "that have not exited, and older GPUs promise no such thing"
)

_DTYPES = "biufc"


@dataclass(eq=False, slots=True)
class Thread(PlainThread):
    """A thread of a block.

    Attributes:
        block: The index of its block.
        sizes: The numbers of blocks of the grid and of threads of a block, in x, y and z.
        counts: What it reads and writes.
    """

    block: Index
    sizes: tuple[Index, Index]
    counts: Counts = field(default_factory=Counts)

    def __str__(self) -> str:
        blocks, threads = self.sizes
        return f"thread {_short(self.index, threads)} of block {_short(self.block, blocks)}"


def _short(index: Index, size: Index) -> str:
    """Return an index with as many numbers as its grid, or block, has axes."""
    axes = max([1, *(i + 1 for i in range(3) if size[i] > 1)])
    return str(index[0] if axes == 1 else index[:axes])


class Grid(Turns, Runtime):
    """One run of a kernel over a grid.

    Args:
        findings: Where findings go.
        steps: How many steps all threads together may take.
        shuffle: Puts threads and blocks into another order. None leaves them in theirs.
        grid: The number of blocks in x, y and z.
        block: The number of threads of a block, likewise.
        shared_bytes: The size of dynamic shared memory.
    """

    waiting = types.GeneratorType

    def __init__(
        self,
        findings: Findings,
        steps: int,
        shuffle: random.Random | None,
        grid: Index,
        block: Index,
        shared_bytes: int,
    ) -> None:
        Runtime.__init__(self, findings, steps, shuffle)
        Turns.__init__(self)
        self.grid, self.block, self.shared_bytes = grid, block, shared_bytes
        self.device.gridDim, self.device.blockDim = Dim3(*grid), Dim3(*block)
        self.thread = Thread(0, (0, 0, 0), (0, 0, 0), (grid, block))
        self.counts: dict[tuple[Index, Index], Counts] = {}
        self.events: list[Event] = []
        self.moments: list[Moment] = []
        self.barriers = 0
        self.interval = 0
        self.number = 0
        self.arrays: dict[Any, Recorded] = {}
        self.names: dict[tuple[Root, types.CodeType], str] = {}
        self.collided: set[tuple[Root, int]] = set()
        self.unwritten: list[tuple[Root, int, Callable[[], None]]] = []
        self._global = Memory(self._collide)
        self._shared = Memory(self._collide)

    def rewritten(self, function: types.FunctionType) -> types.FunctionType:
        """Return the function that runs in another one's place."""
        rewriter = CudaRewriter(function, waits(function, set()))
        return build(function, rewriter.rewrite, {"__mg__": self, "__cuda__": self.device})

    def call_at_once(self, function: object, /, *args: object, **kwargs: object) -> Any:
        """Call from a place that was not seen to lead to a barrier."""
        found = self.call(function, *args, **kwargs)
        if found.__class__ is self.waiting:
            name = getattr(unwrap(function), "__name__", "a function")
            raise ValueError(
                f"cuda_races cannot follow the barrier that {name} leads to: call it by its own name, in the kernel or "
                "in a device function"
            )
        return found

    def from_end(self, index: int) -> int:
        """Mark a negative index that stands in the source."""
        return FromEnd(index)

    def run(self, function: types.FunctionType, args: list[Any]) -> None:
        """Run all blocks, one after another."""
        kernel = self.rewrite_kernel(function)
        self.kernel_code = kernel.__code__
        if _size(self.grid) * _size(self.block) > self.limit:
            raise Endless
        for number, at in enumerate(self.in_turn(list(indices(self.grid)))):
            self.number, self.device.blockIdx = number, Dim3(*at)
            self.arrays, self.names, self.interval = {}, {}, 0
            self._shared = Memory(self._collide)
            base = _place(at, self.grid) * _size(self.block)
            sizes = self.grid, self.block
            threads = [Thread(base + n, index, at, sizes) for n, index in enumerate(indices(self.block))]
            self.counts.update({(at, thread.index): thread.counts for thread in threads})
            self.run_block(kernel, args, threads)

    def turn(self, thread: Thread, go_on: Callable[..., Any], *args: Any) -> Any:
        """Let a thread run to its next barrier, and see what it changed that is no array."""
        self.thread = thread
        self.step()
        found = super().turn(thread, go_on, *args)
        self.look_outside(thread)
        return found

    def rest(self) -> None:
        """Note the elements that were read in this interval before any thread wrote them."""
        for root, address, add in self.unwritten:
            if root.written is not None and address not in root.written:
                add()
                self.collided.add((root, address))
        self.unwritten.clear()

    def meet(self, threads: list[Thread], live: dict[Thread, Any]) -> None:
        """Keep a picture of shared memory, and note a barrier at which not all threads of the block wait."""
        self._keep_moment(threads[0].block)
        if live:
            self._look_at_barrier(threads, live)
            self.interval += 1
            self.barriers = max(self.barriers, self.interval)

    def _keep_moment(self, block: Index) -> None:
        """Keep the contents of shared memory at a barrier, or at the end."""
        if self.shuffle or len(self.moments) >= MOMENTS:
            return
        shared = (array for array in self.arrays.values() if array._root.scope == "shared")
        self.moments.append(Moment(block, self.interval, {array._root: array._raw.copy() for array in shared}))

    def _look_at_barrier(self, threads: list[Thread], live: dict[Thread, Any]) -> None:
        """Note a barrier at which not all threads of the block wait."""
        waiting = {thread: waits_at(body) for thread, body in live.items()}
        first = min(live, key=lambda thread: thread.number)
        code, line, _ = waiting[first]
        elsewhere = next((t for t in threads if t in live and waiting[t] != waiting[first]), None)
        ended = next((thread for thread in threads if thread not in live), None)
        if elsewhere is not None:
            other, other_line, _ = waiting[elsewhere]
            story, where = f"{elsewhere} waits at line {other_line}", places(code, line, other, other_line)
            reason = _IN_BRANCHES
        elif ended is not None:
            story, where = f"{ended} has come to its end", places(code, line)
            reason = _ENDED
        else:
            return
        message = f"{first} waits at line {line} while {story}: {reason}"
        race = Race("barrier", message, first=str(first), second=str(elsewhere or ended), **where)
        key = ("barrier", code, frozenset((line, where.get("other_line", 0))))
        self.findings.add(key, None, lambda: race)

    def in_turn(self, items: list[Any]) -> list[Any]:
        """Return blocks or threads in their own order, or shuffled."""
        if self.shuffle is None:
            return items
        found = list(items)
        self.shuffle.shuffle(found)
        return found

    def made(self, scope: str, shape: Any, dtype: Any) -> Recorded:
        """Return the array of a call to ``cuda.shared.array`` or ``cuda.local.array``.

        A shared array is known by the call that makes it: the block's other threads get the same one.
        """
        dtype = dtype_of(dtype)
        frame = self.frame()
        place = (frame.f_code, frame.f_lasti)
        key = place if scope == "shared" else (*place, self.thread.number)
        dynamic = scope == "shared" and shape in (0, (0,))
        if scope == "shared" and key in self.arrays:
            return self._again(self.arrays[key], () if dynamic else shape, dtype)
        if dtype.kind not in _DTYPES:
            raise ValueError(f"cuda.{scope}.array holds numbers, such as numba.float64, not {dtype}")
        raw = self._dynamic(dtype) if dynamic else np.empty(shape, dtype=dtype)
        root = Root(poisoned(raw), "", scope, frame.f_lineno, set())
        found = self.arrays[key] = Recorded(raw, root, self)
        return found

    def update(self, array: Any, index: tuple[int, ...] | int, new: Callable[[Any], Any]) -> Any:
        """Change an element in one go, note it, and return what it was."""
        raw, key = array._raw, index if isinstance(index, tuple) else (index,)
        if array._misses(key, ATOMIC):
            return raw.dtype.type(0)
        key = tuple(map(int, key))
        old = raw[key]
        raw[key] = new(old)
        self.touch(array._root, array._place(key), ATOMIC)
        return old

    def unknown(self, name: str, known: list[str]) -> Exception:
        """Return the error for a name that a device does not have here."""
        return ValueError(f"cuda_races does not simulate cuda.{name}; it knows {', '.join(known)}")

    def _again(self, known: Recorded, shape: Any, dtype: Any) -> Recorded:
        """Return the array that another thread's call has made, if this call asks for the same one.

        A compiler has to know the shape. Here it could carry a thread's value to all others.
        """
        asked = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
        if (asked and asked != known._raw.shape) or dtype != known._raw.dtype:
            raise ValueError(
                f"cuda.shared.array gives all threads of a block one array: the first one made it with the shape "
                f"{known._raw.shape} of {known._raw.dtype}, and {self.thread} asks for {asked or known._raw.shape} of "
                f"{dtype}; both are constants"
            )
        return known

    def _dynamic(self, dtype: Any) -> Any:
        """Return dynamic shared memory, all of whose arrays begin at one place."""
        if "pool" not in self.arrays:
            raw = np.empty(self.shared_bytes, dtype=np.uint8)
            self.arrays["pool"] = Recorded(raw, Root(raw, "pool", "shared"), self)
        size = np.dtype(dtype).itemsize
        return self.arrays["pool"]._raw[: self.shared_bytes // size * size].view(dtype)

    def named(self, value: object, name: str) -> Any:
        """Give a new array the name of the variable that it is put in."""
        if value.__class__ is Recorded and value._root.scope == "shared":
            root, frame = value._root, self.frame()
            known = self.names.setdefault((root, frame.f_code), name)
            if known != name:
                self._add_two_names(root, known, name, frame.f_code, frame.f_lineno)
        return super().named(value, name)

    def adopt(self, value: object, name: str = "") -> Any:
        """Record a new array too, if others can come to see it."""
        if not isinstance(value, np.ndarray):
            return value
        return Recorded(value, Root(value, name, "local", line=self.frame().f_lineno), self)

    def _add_two_names(self, root: Root, known: str, name: str, code: types.CodeType, line: int) -> None:
        message = (
            f"{known} and {name} are one and the same shared array, made by the call at line {root.line}: each call of "
            "cuda.shared.array in the source makes one array, however often it is run"
        )
        race = Race("alias", message, name, scope="shared", **places(code, line))
        self.findings.add(("alias", known, name), None, lambda: race)

    def touch(self, root: Root, address: int, kind: int) -> None:
        """Note the access to one element."""
        self.step()
        thread, scope = self.thread, root.scope
        if root.written is not None:
            if kind == WRITE:
                root.written.add(address)
            elif address not in root.written:
                self._note_unwritten(root, address)
        if scope in ("local", "constant"):
            return
        self.count(root, kind, thread.number)
        _count(thread.counts, scope, kind)
        frame = self.frame()
        if len(self.events) < EVENTS and not self.shuffle:
            place = (frame.f_code, frame.f_lineno)
            self.events.append(Event(thread.block, thread.index, root, address, kind, self.interval, place))
        outer: Any = frame
        while outer.f_code is not self.kernel_code:
            outer = outer.f_back
        site = (frame.f_code, frame.f_lineno, outer.f_lineno)
        memory = self._shared if scope == "shared" else self._global
        memory.access(address, kind, (thread, site, root), self.number, self.interval)

    def outside(self, root: Root, index: tuple[Any, ...], shape: tuple[int, ...], kind: int) -> bool:
        """Note an index outside the array, and return whether NumPy may go on with it."""
        frame, thread = self.frame(), str(self.thread)
        code, line, name = frame.f_code, frame.f_lineno, root.name or "an array"
        numbers = tuple(int(i) for i in index if not isinstance(i, slice))

        def make() -> Race:
            at = ", ".join(":" if isinstance(i, slice) else str(i) for i in index)
            does = "reads" if kind == READ else "writes"
            message = f"{thread} {does} {name}[{at}], and the shape of {name} is {shape}"
            if min(numbers) < 0:
                message += "; Numba takes a negative index from the end, which is another element than the one meant"
            return Race("out of bounds", message, name, numbers, second=thread, scope=root.scope, **places(code, line))

        self.findings.add(("out of bounds", name, line), (thread, numbers), make)
        return False

    def _note_unwritten(self, root: Root, address: int) -> None:
        """Note a read. A read of shared memory is noted at the next barrier: an earlier write would make it a race."""
        frame, thread = self.frame(), str(self.thread)
        code, line = frame.f_code, frame.f_lineno

        def make() -> Race:
            element, index = root.element(address), root.index_of(address)
            message = (
                f"{thread} reads {element}, where nothing has been written: {root.scope} memory begins with any values"
            )
            where = places(code, line)
            return Race("uninitialised", message, root.name, index, second=thread, scope=root.scope, **where)

        key = ("uninitialised", root.name, line)
        if root.scope == "local":
            self.findings.add(key, address - root.address, make)
        else:
            self.unwritten.append((root, address, lambda: self.findings.add(key, address - root.address, make)))

    def _collide(self, address: int, kind: int, access: Access, other_kind: int, other: Access) -> None:
        name = "read-write" if READ in (kind, other_kind) else "write-write"
        lines = frozenset(site[:2] for site in (access[1], other[1]))
        roots = access[2], other[2]
        key = (name, frozenset((root.name, root.scope) for root in roots), lines)
        element = address - min(root.address for root in roots)
        self.collided.update((root, address) for root in roots)
        at = self.interval
        self.findings.add(key, element, lambda: threads_collide(name, address, (kind, access), (other_kind, other), at))


def _count(counts: Counts, scope: str, kind: int) -> None:
    """Count an access. An atomic one reads and writes."""
    if kind == ATOMIC:
        counts.atomics += 1
        _count(counts, scope, READ)
        _count(counts, scope, WRITE)
    elif scope == "global":
        if kind == READ:
            counts.global_reads += 1
        else:
            counts.global_writes += 1
    elif kind == READ:
        counts.shared_reads += 1
    else:
        counts.shared_writes += 1


def _place(index: Index, size: Index) -> int:
    return index[0] + size[0] * (index[1] + size[1] * index[2])


def _size(size: Index) -> int:
    return size[0] * size[1] * size[2]
