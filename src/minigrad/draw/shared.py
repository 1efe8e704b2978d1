"""Pictures of a CUDA block's shared memory, from one barrier to the next, with the thread behind each element."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from minigrad.draw.paper import LINE, MARGIN, SMALL, Drawing, arrow, box, label, text

if TYPE_CHECKING:
    from minigrad.debug import CudaReport
    from minigrad.debug.memory import Root
    from minigrad.debug.report import Event, Moment
    from minigrad.emulator.device import Index

MOST_PLACES = 16
"""Elements of shared memory beside each other."""

_WIDE, _HIGH, _BETWEEN = 78.0, 38.0, 3.2 * LINE


def shared_memory(report: CudaReport, block: int | Iterable[int] = 0) -> Drawing:
    """Draw a block's shared memory from one barrier to the next, with arrows to each element from its inputs.

    Args:
        report: What `minigrad.debug.cuda_races` recorded of a kernel with one shared array in one dimension.
        block: The block's index.

    Raises:
        ValueError: If the block has no such array, or one with too many elements.
    """
    return _History(report, _three(block)).drawing()


class _History:
    """One block's way through its barriers: a row of boxes for each stretch in which shared memory changes."""

    def __init__(self, report: CudaReport, block: Index) -> None:
        self.report = report
        self.block = block
        self.moments = [moment for moment in report.moments if moment.block == block and moment.held]
        self.events = [event for event in report.events if event.block == block]
        roots = {root for moment in self.moments for root in moment.held}
        if len(roots) != 1 or (root := next(iter(roots))).raw.ndim != 1 or root.raw.size > MOST_PLACES:
            raise ValueError(
                f"shared_memory: block {_short(block)} of {report.name} is not known, or has no single shared array "
                f"with one axis and at most {MOST_PLACES} elements, which the picture is of"
            )
        self.root = root
        names = ["syncthreads", *(_title(each) for each in {self.root, *(event.root for event in self.events)})]
        self.left = MARGIN + max(map(len, names)) * SMALL + 8.0
        self.parts: list[str] = []
        self.sentences: list[str] = []

    def drawing(self) -> Drawing:
        """Return the picture."""
        y = MARGIN
        above = dict(self._global_row(y))
        y_above = y + _HIGH
        barriers = 0
        since: list[Event] = []  # all since the row above: a thread may read before a barrier and write behind it
        for moment in self.moments:
            if moment.interval:
                y = self._barrier(y_above + (0.6 + barriers) * LINE)
                barriers += 1
            now = [event for event in self.events if event.interval == moment.interval]
            since += now
            if is_row := any(event.root is self.root and event.kind for event in now):
                y = max(y, y_above) + _BETWEEN
                self._row(moment, since, above, y_above, y)
                above = dict(self._places())
                y_above = y + _HIGH
                barriers = 0
            y_above = max(y_above, self._results(now, since, above, y_above, y))
            since = [] if is_row else since
        width = self.left + self.root.raw.size * _WIDE + MARGIN
        title = f"Shared memory of block {_short(self.block)} of {self.report.name}"
        return Drawing(width, y_above + MARGIN, title, " ".join(self.sentences), self.parts)

    def _places(self) -> Iterator[tuple[int, float]]:
        """Yield the address of each element of shared memory, and where the middle of its box is."""
        step = self.root.raw.strides[0]
        for i in range(self.root.raw.size):
            yield self.root.address + i * step, self.left + (i + 0.5) * _WIDE

    def _box(self, x: float, y: float, value: float, kind: str, thread: Index | None = None) -> None:
        """Draw an element with its value, and the thread that has just written it."""
        shown = "?" if math.isnan(value) else label(value)
        self.parts.append(box(x - 0.43 * _WIDE, y, 0.86 * _WIDE, _HIGH, kind))
        base = y + (0.62 if thread is None else 0.43) * _HIGH
        self.parts.append(text(x, base, shown, "ghosttext" if kind == "ghost" else "text"))
        if thread is not None:
            self.parts.append(text(x, y + 0.83 * _HIGH, f"thread {_short(thread)}", "small"))

    def _name(self, y: float, words: str) -> None:
        self.parts.append(text(MARGIN, y + 0.62 * _HIGH, words, "small", "start"))

    def _global_row(self, y: float) -> Iterator[tuple[int, float]]:
        """Draw the block's first reads of global memory, each element above the thread that reads it."""
        from minigrad.debug.memory import READ

        found: dict[tuple[Root, int], int] = {}
        for event in self.events:
            if event.root.scope == "global" and event.kind == READ and event.interval == 0:
                found.setdefault((event.root, event.address), event.thread[0])
        for (root, address), thread in found.items():
            x = self.left + (thread + 0.5) * _WIDE
            self._box(x, y, _value(root, address), "cell")
            yield address, x
        if found:
            self._name(y, _title(next(iter(found))[0]))

    def _barrier(self, y: float) -> float:
        right = self.left + self.root.raw.size * _WIDE
        style = 'style="stroke-width:2.5;stroke-dasharray:7 4"'
        self.parts.append(f'<path class="mp-way" {style} d="M{self.left:.1f},{y:.1f}H{right:.1f}"/>')
        self.parts.append(text(MARGIN, y + 4, "syncthreads", "small", "start"))
        return y

    def _row(self, moment: Moment, since: list[Event], above: Mapping[int, float], y_above: float, y: float) -> None:
        """Draw shared memory at the end of a stretch, with arrows from the elements that each thread has read."""
        written = {event.address: event.thread for event in since if event.root is self.root and event.kind}
        held = moment.held[self.root]
        self._name(y, _title(self.root))
        for i, (address, x) in enumerate(self._places()):
            value = float(held[i])
            if address not in written:
                self._box(x, y, value, "ghost" if math.isnan(value) else "cell")
                continue
            thread = written[address]
            self._box(x, y, value, "used", thread)
            own = (event for event in since if event.thread == thread and not event.kind)
            sources = dict.fromkeys(event.address for event in own if event.address in above)
            for source in sources:
                self.parts.append(arrow(above[source], y_above + 1, x, y - 2))
            self.sentences.append(
                f"Thread {_short(thread)} puts {label(value)} into {self.root.element(address)}"
                f"{f', after barrier {moment.interval}' * bool(moment.interval)}."
            )

    def _results(
        self, now: list[Event], since: list[Event], above: Mapping[int, float], y_above: float, y: float
    ) -> float:
        """Draw the writes to global memory in a stretch, and return the lower end of the drawing."""
        written = {(e.root, e.address): e.thread for e in now if e.root.scope == "global" and e.kind}
        if not written:
            return y_above
        top = max(y, y_above) + _BETWEEN
        for (root, address), thread in written.items():
            x = self.left + (thread[0] + 0.5) * _WIDE
            for event in since:
                if event.thread == thread and not event.kind and event.root is self.root and event.address in above:
                    self.parts.append(arrow(above[event.address], y_above + 1, x, top - 2))
            value = _value(root, address)
            self._box(x, top, value, "mark", thread)
            self.sentences.append(f"Thread {_short(thread)} writes {label(value)} to {root.element(address)}.")
        self._name(top, _title(next(iter(written))[0]))
        return top + _HIGH


def _title(root: Root) -> str:
    return f"{root.name or 'array'} ({root.scope})"


def _value(root: Root, address: int) -> float:
    return float(root.raw[root.index_of(address)])


def _short(index: Index) -> str:
    """Return an index without the zeros at its end."""
    axes = max(i + 1 for i in range(3) if i == 0 or index[i])
    return ", ".join(map(str, index[:axes]))


def _three(index: int | Iterable[int]) -> Index:
    x, y, z = (*((index,) if isinstance(index, int) else index), 0, 0)[:3]
    return x, y, z
