"""Reports on races and counts, as text for a terminal and as HTML for a notebook."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from minigrad.emulator.device import WARP, Index

if TYPE_CHECKING:
    from minigrad.debug.draw import AccessPicture
    from minigrad.debug.memory import Root

_SEGMENT, _WORD, _BANKS = 32, 4, 32
"""Bytes of a transaction with global memory, bytes of a word of shared memory, and the banks that hold its words."""

_SHOWN = 8
"""Findings that are printed in full."""


@dataclass
class Race:
    """One finding, with the first element that showed it.

    Attributes:
        kind: ``"write-write"`` or ``"read-write"``: two iterations or threads meet in one element. ``"carried"``: a
            variable is read in an iteration before it is written there. ``"lost"``: a variable is assigned in the loop
            and read after it. ``"loop variable"``: it is assigned in the body. ``"barrier"``: not all threads of the
            block wait at the same syncthreads. ``"alias"``: two shared arrays are one. ``"uninitialised"``: shared or
            local memory is read before anything is written there. ``"out of bounds"``. ``"endless"``.
        message: The finding in one or two sentences.
        array: The array's name, or the variable's.
        index: The element.
        first: The iteration, or the thread, that came first.
        second: The one that collides with it.
        line: Of the first access, in the function where it happens.
        other_line: Of the second.
        source: The text of the first line.
        other_source: Of the second.
        loop_line: The line of the kernel that led to the first access.
        other_loop_line: Likewise for the second.
        function: The function that holds ``line``.
        other_function: The function that holds ``other_line``.
        file: The name of the file of ``line``, where it is not the kernel's.
        other_file: Likewise for ``other_line``.
        scope: ``"global"`` or ``"shared"``, in CUDA kernels.
        count: How many elements are concerned.
        interval: How many barriers the block had passed before the second access, in CUDA kernels.
        acts: What the first and the second do to the element, such as ``("writes", "reads")``, where two meet.
    """

    kind: str
    message: str
    array: str = ""
    index: tuple[int, ...] = ()
    first: Any = None
    second: Any = None
    line: int = 0
    other_line: int = 0
    source: str = ""
    other_source: str = ""
    loop_line: int = 0
    other_loop_line: int = 0
    function: str = ""
    other_function: str = ""
    file: str = ""
    other_file: str = ""
    scope: str = ""
    count: int = 1
    interval: int = 0
    acts: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.message}"]
        lines += [f"    {text}" for text in self.places()]
        if self.count > 1:
            lines.append(f"    The same is true of {self.count} elements.")
        return "\n".join(lines)

    def places(self) -> list[str]:
        """Return the lines of code concerned, each with its number, function and text."""
        found = [_place(self.file, self.line, self.function, self.source, self.loop_line)]
        other = _place(self.other_file, self.other_line, self.other_function, self.other_source, self.other_loop_line)
        return list(dict.fromkeys(text for text in (*found, other) if text))


def _place(file: str, line: int, function: str, source: str, loop_line: int) -> str:
    if not line:
        return ""
    place = f"{file}, line {line}, in {function}" if file else f"line {line}, in {function}"
    via = f"  (reached from line {loop_line})" if loop_line and (file or loop_line != line) else ""
    return f"{place}: {source}{via}" if source else place + via


@dataclass(frozen=True)
class Loop:
    """A prange loop that ran in parallel.

    Attributes:
        line: Where it begins.
        iterations: How many it had, over all times it ran.
        function: The function that holds it.
    """

    line: int
    iterations: int
    function: str


@dataclass
class Traffic:
    """Counts of the reads and writes of an array's elements inside parallel loops.

    Attributes:
        reads: How often.
        writes: Likewise.
        writers: The iterations, or threads, that wrote.
    """

    reads: int = 0
    writes: int = 0
    writers: set[int] = field(default_factory=set)


@dataclass
class Counts:
    """The numbers of elements that one thread reads and writes."""

    global_reads: int = 0
    global_writes: int = 0
    shared_reads: int = 0
    shared_writes: int = 0
    atomics: int = 0


@dataclass
class Report:
    """The findings of `races`. A report with findings is true.

    Attributes:
        name: The kernel's name.
        races: The findings, one for each kind, array and pair of lines.
        args: The arguments after the first run, in which the iterations follow one another: what the loop would do
            without races.
        result: What that run returned.
        steps: How many steps all runs took.
        loops: The prange loops that ran in parallel. A loop inside another one is not parallel.
        traffic: By array, how often its elements were read and written in parallel loops during the first run.
    """

    name: str
    races: tuple[Race, ...] = ()
    args: list[Any] = field(default_factory=list)
    result: Any = None
    steps: int = 0
    loops: tuple[Loop, ...] = ()
    traffic: dict[str, Traffic] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.races)

    @property
    def kinds(self) -> set[str]:
        """The kinds of the findings.

        >>> from minigrad.debug.report import Race, Report
        >>> Report("add", races=(Race("write-write", "two iterations write out[0]"),)).kinds
        {'write-write'}
        """
        return {race.kind for race in self.races}

    def meetings(self) -> list[dict[str, Any]]:
        """Return the findings as plain data: kind, array, index, the first and the second agent, their accesses."""
        return [
            {
                "kind": race.kind,
                "array": race.array,
                "index": [int(i) for i in race.index],
                "first": str(race.first),
                "second": str(race.second),
                "acts": list(race.acts),
            }
            for race in self.races
        ]

    @property
    def summary(self) -> str:
        """One line on the kernel and the number of findings.

        >>> from minigrad.debug.report import Report
        >>> Report("add").summary
        'add: no races; no prange loop ran, so that nothing is parallel'
        """
        if not self.loops:
            return f"{self.name}: {self._found()}; no prange loop ran, so that nothing is parallel"
        loops = " and ".join(f"{loop.iterations} iterations at line {loop.line}" for loop in self.loops)
        return f"{self.name}: {self._found()} in {loops}"

    def _found(self) -> str:
        n = len(self.races)
        return f"{n} finding{'s' * (n > 1)}" if n else "no races"

    def __str__(self) -> str:
        shown = [f"{i}. {race}" for i, race in enumerate(self.races[:_SHOWN], start=1)]
        rest = len(self.races) - len(shown)
        return "\n".join([self.summary, *shown, *([f"and {rest} more like these"] if rest else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<li><b>{escape(race.kind)}</b>: {escape(race.message)}"
            + "".join(f"<br><code>{escape(text)}</code>" for text in race.places())
            + (f"<br>The same is true of {race.count} elements." if race.count > 1 else "")
            + "</li>"
            for race in self.races[:_SHOWN]
        )
        rest = len(self.races) - _SHOWN
        more = f"<p>and {rest} more like these</p>" if rest > 0 else ""
        return f"<p>{escape(self.summary)}</p>" + (f"<ol>{rows}</ol>{more}" if rows else "") + self._more_html()

    def _more_html(self) -> str:
        return ""


class Event(NamedTuple):
    """One access to an element by a thread of a CUDA kernel.

    Attributes:
        block: The index of the thread's block.
        thread: Its index in the block.
        root: The array.
        address: The element's.
        kind: Whether it reads, writes, or does both in one.
        interval: How many barriers its block had passed.
        site: The code and the line that made it.
    """

    block: Index
    thread: Index
    root: Root
    address: int
    kind: int
    interval: int
    site: tuple[types.CodeType, int]


class Moment(NamedTuple):
    """The contents of a block's shared memory when its threads have come to a barrier, or to their end.

    Attributes:
        block: The block's index.
        interval: How many barriers it had passed before.
        held: A copy of each shared array.
    """

    block: Index
    interval: int
    held: Mapping[Root, Any]


@dataclass(repr=False)
class CudaReport(Report):
    """The findings of `cuda_races`. A report with findings is true.

    Attributes:
        grid: The number of blocks in x, y and z.
        block: The number of threads of a block, likewise.
        counts: By (block, thread), the thread's reads and writes in the first run.
        barriers: The number of times that a block waited at syncthreads, where it is largest.
        events: The accesses of the first blocks in the first run, from which `draw` makes its picture.
        moments: What their shared memory held at each barrier.
        collided: Array and address of the elements that findings of the first run are about.
        steady: Whether all runs, whose orders of threads differ, gave the same result, but for rounding. Where atomic
            operations hand out places, a correct kernel need not be steady.
    """

    grid: Index = (1, 1, 1)
    block: Index = (1, 1, 1)
    counts: Mapping[tuple[Index, Index], Counts] = field(default_factory=dict)
    barriers: int = 0
    events: list[Event] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)
    collided: set[tuple[Root, int]] = field(default_factory=set)
    steady: bool = True

    @property
    def most(self) -> Counts:
        """The largest of each count over all threads.

        >>> from minigrad.debug.report import Counts, CudaReport
        >>> counts = {((0, 0, 0), (k, 0, 0)): Counts(global_reads=k) for k in range(3)}
        >>> CudaReport("add", counts=counts).most.global_reads
        2
        """
        return Counts(*(max((getattr(c, f.name) for c in self.counts.values()), default=0) for f in fields(Counts)))

    def transactions(self, partly: bool = False) -> dict[str, int]:
        """Count the transactions of 32 bytes with global memory, by array: what a warp's accesses take together.

        32 neighbours, x counted first, are a *warp*, and run each line at the same time. What they touch there in one
        segment of 32 bytes is one transaction. Every array begins with a new segment, as CUDA allots memory. What a
        cache may keep between two lines is left out, and so are shapes and strides, which it does keep.

        Where a line is run several times, a thread's n-th time is paired with its neighbours' n-th, even if they come
        there in different turns of a loop.

        Args:
            partly: Whether the first accesses are enough, where the recording holds no others.

        Raises:
            ValueError: If the recording holds the first accesses only, since there were too many.
        """
        found: dict[str, int] = {}
        for root, touched in self._together("global", partly):
            segments = {at // _SEGMENT for at in touched}
            found[root.name] = found.get(root.name, 0) + len(segments)
        return found

    def passes(self, partly: bool = False) -> dict[str, int]:
        """Count the passes over shared memory, by array: in one, each of its 32 banks hands out a word of 4 bytes.

        Word w lies in bank w % 32. Threads of a warp that want different words of one bank at the same line wait for
        each other: a *bank conflict*. Those that want the same word share it.

        Args:
            partly: Whether the first accesses are enough, where the recording holds no others.

        Raises:
            ValueError: If the recording holds the first accesses only, since there were too many.
        """
        found: dict[str, int] = {}
        for root, touched in self._together("shared", partly):
            words = {word for at in touched for word in range(at // _WORD, -(-(at + root.raw.itemsize) // _WORD))}
            banks = Counter(word % _BANKS for word in words)
            found[root.name] = found.get(root.name, 0) + max(banks.values())
        return found

    def _together(self, scope: str, partly: bool) -> Iterator[tuple[Root, set[int]]]:
        """Yield what the threads of a warp touch at one line at the same time: an array, and offsets in bytes."""
        touched: dict[Any, set[int]] = {}
        times: Counter[Any] = Counter()
        for block, thread, root, address, kind, interval, site in self.events:
            if root.scope == scope:
                here = (block, thread, root, kind, interval, site)
                warp = (thread[0] + self.block[0] * (thread[1] + self.block[1] * thread[2])) // WARP
                key = (root, block, warp, kind, interval, site, times[here])
                times[here] += 1
                touched.setdefault(key, set()).add(address - root.address)
        if self.truncated and not partly:
            raise ValueError(f"{self.name}: there were too many accesses to keep them all; launch it on less data")
        return ((key[0], found) for key, found in touched.items())

    @property
    def truncated(self) -> bool:
        """True if the first run had more accesses than `events` holds."""
        total = sum(
            each.global_reads + each.global_writes + each.shared_reads + each.shared_writes - each.atomics
            for each in self.counts.values()
        )
        return total > len(self.events)

    @property
    def summary(self) -> str:
        """One line on the launch, and one on the largest counts of a thread."""
        blocks, threads = (size[0] * size[1] * size[2] for size in (self.grid, self.block))
        most = self.most
        ran = f"{blocks} block{'s' * (blocks != 1)} of {threads} thread{'s' * (threads != 1)}"
        return (
            f"{self.name}: {self._found()} with {ran}\n"
            f"a thread at most: {most.global_reads} global reads, {most.global_writes} global writes, "
            f"{most.shared_reads} shared reads, {most.shared_writes} shared writes, {most.atomics} atomic operations, "
            f"{self.barriers} barriers"
        )

    def draw(self, block: Iterable[int] = (0, 0, 0), thread: Iterable[int] | None = None) -> AccessPicture:
        """Draw which thread of a block reads and writes which element.

        Args:
            block: The block's index.
            thread: The index of the thread with strong lines. None takes the first one.

        Raises:
            ValueError: If the block is not known or too large.
        """
        from minigrad.debug.draw import AccessPicture

        return AccessPicture(self, _three(block), None if thread is None else _three(thread))

    def _more_html(self) -> str:
        try:
            return self.draw().svg
        except ValueError:  # too large for a picture, or nothing happened
            return ""


def _three(index: Iterable[int]) -> Index:
    x, y, z = (*index, 0, 0)[:3]
    return x, y, z
