"""A picture of a CUDA kernel's accesses: which thread of a block reads and writes which element.

Arrays that the block only reads stand to the left of the threads, all others, shared memory among them, to the right.
The lines of one thread are drawn strongly, the others faintly. An element on which threads collide has a red frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minigrad.debug.memory import ATOMIC, READ, WRITE, Root, addresses
from minigrad.draw.paper import frame, page

if TYPE_CHECKING:
    from minigrad.debug.report import CudaReport
    from minigrad.emulator.device import Index

LARGEST = 144
"""Elements of an array, or threads of a block, that can still be told apart in a picture."""

_CELL, _THREAD, _GAP, _ACROSS, _MARGIN, _TITLE = 22.0, 26.0, 26.0, 130.0, 18.0, 20.0
_SMALL = 6.1  # width of a small letter
_WORDS = {READ: "reads", WRITE: "writes", ATOMIC: "atomically updates"}
_NOUNS = {READ: "read", WRITE: "write", ATOMIC: "atomic"}
_OFFSETS = {READ: 4.0, WRITE: -4.0, ATOMIC: 0.0}
_CLASSES = {READ: "mg-read", WRITE: "mg-write", ATOMIC: "mg-atomic"}

_STYLE = """
.mg-paper{fill:#fff}.mg-cell{fill:#f6f8fa;stroke:#8c959f}.mg-used{fill:#ddf4ff}.mg-shared .mg-used{fill:#fff1c9}
.mg-bad{stroke:#cf222e;stroke-width:3}.mg-thread{fill:#fff;stroke:#57606a;stroke-width:1.2}
.mg-strong.mg-thread{stroke-width:2.6}.mg-text{fill:#1f2328}.mg-small{fill:#4b535d;font-size:10px}
.mg-halo{stroke:#fff;stroke-width:4;paint-order:stroke}
.mg-line{fill:none;stroke-width:1;stroke-opacity:.28}.mg-line.mg-strong{stroke-width:2.2;stroke-opacity:1}
.mg-read{stroke:#0550ae;stroke-dasharray:8 3}.mg-write{stroke:#bc4c00}.mg-atomic{stroke:#8250df;stroke-dasharray:2 3}
@media(prefers-color-scheme:dark){.mg-paper{fill:#161b22}.mg-cell{fill:#22272e;stroke:#768390}.mg-used{fill:#0c2d4d}
.mg-shared .mg-used{fill:#4d3d0c}.mg-bad{stroke:#ff7b72}.mg-thread{fill:#22272e;stroke:#9ea7b3}
.mg-text{fill:#e6edf3}.mg-line{stroke-opacity:.45}
.mg-small{fill:#b1bac4}.mg-read{stroke:#58a6ff}.mg-write{stroke:#ffa657}.mg-atomic{stroke:#bc8cff}
.mg-halo{stroke:#161b22}}
"""

Point = tuple[float, float]


@dataclass
class _Panel:
    """An array in the picture.

    Attributes:
        root: The array.
        cells: For each address that is shown, its row and column.
        labels: What is written beside the rows.
        right: Whether it stands to the right of the threads, and its labels to the right of it.
    """

    root: Root
    cells: dict[int, tuple[int, int]]
    labels: list[str]
    right: bool = False

    @property
    def size(self) -> Point:
        """Width and height, with the title and the labels of the rows."""
        rows = 1 + max(row for row, _ in self.cells.values())
        return max((self.columns + self.right) * _CELL, 7.3 * len(self.title)), rows * _CELL + _TITLE

    @property
    def columns(self) -> int:
        """How many elements stand side by side."""
        return 1 + max(column for _, column in self.cells.values())

    @property
    def title(self) -> str:
        """The array's name, and that it is shared."""
        return (self.root.name or "array") + (" (shared)" if self.root.scope == "shared" else "")


class AccessPicture:
    """The accesses of one block, as a picture that a notebook shows by itself.

    Args:
        report: What `cuda_races` found.
        block: The index of the block.
        thread: The thread with strong lines. None takes the first one.

    Raises:
        ValueError: If the block is not among those that were kept, or too large to be drawn.
    """

    def __init__(self, report: CudaReport, block: Index, thread: Index | None = None) -> None:
        self._report = report
        self._block = block
        self._events = list(dict.fromkeys(event[1:5] for event in report.events or () if event[0] == block))
        self._threads = [index for at, index in report.counts if at == block]
        if not self._threads or not self._events:
            raise ValueError(f"draw: block {block} of {report.name} is not known, or it has touched no element")
        if len(self._threads) > LARGEST:
            raise ValueError(f"draw: a block of {len(self._threads)} threads is too large; {LARGEST} can be told apart")
        self._thread = thread or self._threads[0]
        self._axes = max(i + 1 for i in range(3) if i == 0 or report.block[i] > 1)
        names = max(len(_name(thread, self._axes)) for thread in self._threads)
        self._side = max(_THREAD, names * _SMALL + 10.0)
        self._panels = [self._panel(root) for root in dict.fromkeys(root for _, root, _, _ in self._events)]

    def _panel(self, root: Root) -> _Panel:
        touched = {address for _, found, address, _ in self._events if found is root}
        every = addresses(root.raw)
        if every.size > 64:
            every = every.ravel()
            every = every[[address in touched for address in every.tolist()]]
        if every.size > LARGEST:
            raise ValueError(f"draw: {len(touched)} elements of {root.name} are too many; {LARGEST} can be told apart")
        table = every.reshape(every.shape[0], -1) if every.ndim > 1 else every.reshape(-1, 1)
        cells = {int(address): (i, j) for i, row in enumerate(table) for j, address in enumerate(row)}
        firsts = [root.index_of(int(row[0])) for row in table]
        return _Panel(
            root, cells, [",".join(map(str, index[: root.raw.ndim - (table.shape[1] > 1)])) for index in firsts]
        )

    @property
    def description(self) -> str:
        """The picture in words: one sentence for each thread."""
        sentences = []
        for thread in self._threads:
            parts = [
                f"{_WORDS[kind]} {', '.join(names)}"
                for kind in (READ, ATOMIC, WRITE)
                if (
                    names := [root.element(address) for t, root, address, k in self._events if (t, k) == (thread, kind)]
                )
            ]
            sentences.append(f"Thread {_name(thread, self._axes)} {' and '.join(parts) or 'touches nothing'}.")
        return " ".join(sentences)

    @property
    def svg(self) -> str:
        """The picture."""
        written = {id(root) for _, root, _, kind in self._events if kind != READ}
        left = [p for p in self._panels if p.root.scope == "global" and id(p.root) not in written]
        right = [p for p in self._panels if p not in left]
        for panel in right:
            panel.right = True
        rows = 1 + max(x for x, _, _ in self._threads)
        columns = len({(y, z) for _, y, z in self._threads})
        heights = [_height(left), rows * self._side + _TITLE, _height(right)]
        height = max(heights) + 2 * _MARGIN + _TITLE
        x = _MARGIN + _TITLE
        places, parts = self._column(left, x, (height - heights[0]) / 2)
        x += max((p.size[0] for p in left), default=-_ACROSS) + _ACROSS
        circles, drawn = self._circles(x, (height - heights[1]) / 2)
        x += columns * self._side + _ACROSS
        more, boxes = self._column(right, x, (height - heights[2]) / 2)
        x += max((p.size[0] for p in right), default=-_ACROSS) + _MARGIN
        lines = self._lines({**places, **more}, circles)
        return self._document(
            max(x, 300.0),
            height,
            [*parts, *boxes, *lines, *drawn, _legend({kind for _, _, _, kind in self._events}, height)],
        )

    def _column(self, panels: list[_Panel], x: float, y: float) -> tuple[dict[tuple[int, int], Point], list[str]]:
        """Draw panels one below the other, and return each element's place and the drawing."""
        places: dict[tuple[int, int], Point] = {}
        parts = []
        for panel in panels:
            title = f'<text class="mg-text" x="{x:.1f}" y="{y + 12:.1f}">{escape(panel.title)}</text>'
            boxes = self._boxes(panel, x, y + _TITLE, places)
            anchor, at = ("start", x + panel.columns * _CELL + 4) if panel.right else ("end", x - 4)
            labels = [
                f'<text class="mg-small" text-anchor="{anchor}" x="{at:.1f}" y="{y + _TITLE + (i + 0.64) * _CELL:.1f}">'
                f"{label}</text>"
                for i, label in enumerate(panel.labels)
            ]
            parts.append(f'<g class="mg-{panel.root.scope}">{title}{"".join(boxes)}{"".join(labels)}</g>')
            y += panel.size[1] + _GAP
        return places, parts

    def _boxes(self, panel: _Panel, x: float, y: float, places: dict[tuple[int, int], Point]) -> list[str]:
        """Draw the elements of an array, and note their places. Red frames stand above their neighbours."""
        used = {address for _, root, address, _ in self._events if root is panel.root}
        boxes = []
        for address, (row, column) in panel.cells.items():
            left, top = x + column * _CELL, y + row * _CELL
            places[id(panel.root), address] = (left + _CELL / 2, top + _CELL / 2)
            bad = (panel.root, address) in self._report.collided
            kind = f"mg-cell{' mg-used' * (address in used)}{' mg-bad' * bad}"
            box = f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{_CELL}" height="{_CELL}"/>'
            boxes.append((bad, box))
        return [box for _, box in sorted(boxes, key=lambda box: box[0])]

    def _circles(self, x: float, y: float) -> tuple[dict[Index, Point], list[str]]:
        columns = sorted({(j, k) for _, j, k in self._threads}, key=lambda pair: (pair[1], pair[0]))
        title = f"block {_name(self._block)}"
        parts = [f'<text class="mg-text mg-halo" x="{x - 8:.1f}" y="{y + 10:.1f}">{title}</text>']
        places = {}
        for thread in self._threads:
            at = (x + (columns.index(thread[1:]) + 0.5) * self._side, y + _TITLE + (thread[0] + 0.5) * self._side)
            places[thread] = at
            strong = " mg-strong" * (thread == self._thread)
            name = _name(thread, self._axes)
            parts.append(
                f'<circle class="mg-thread{strong}" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{self._side / 2 - 2:.1f}"/>'
                f'<text class="mg-small" text-anchor="middle" x="{at[0]:.1f}" y="{at[1] + 3:.1f}">{name}</text>'
            )
        return places, parts

    def _lines(self, places: dict[tuple[int, int], Point], circles: dict[Index, Point]) -> list[str]:
        lines = []
        for thread, root, address, kind in self._events:
            end = places.get((id(root), address))
            if end is None:
                continue
            strong = thread == self._thread
            (x0, y0), side = circles[thread], 1.0 if end[0] > circles[thread][0] else -1.0
            x0 += side * (self._side / 2 - 2)
            x1, y1 = end[0] - side * 4.0, end[1] + _OFFSETS[kind]
            middle = (x0 + x1) / 2
            path = f"M{x0:.1f},{y0:.1f}C{middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} {x1:.1f},{y1:.1f}"
            lines.append((strong, f'<path class="mg-line {_CLASSES[kind]}{" mg-strong" * strong}" d="{path}"/>'))
        return [line for _, line in sorted(lines, key=lambda line: line[0])]

    def _document(self, width: float, height: float, parts: Iterable[str]) -> str:
        title = f"Accesses of block {_name(self._block)} of {self._report.name}"
        return (
            f"<svg {frame(width, height)}>"
            f"<title>{escape(title)}</title><desc>{escape(self.description)}</desc><style>{_STYLE}</style>"
            f'<rect class="mg-paper" width="100%" height="100%" rx="8"/>{"".join(parts)}</svg>'
        )

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return page(self.svg, repr(self))

    def __repr__(self) -> str:
        return f"AccessPicture: {self.description}"

    def save(self, path: str | Path) -> None:
        """Write the picture to an SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")


def _height(panels: list[_Panel]) -> float:
    return sum(panel.size[1] + _GAP for panel in panels) - _GAP if panels else 0.0


def _name(index: Any, axes: int = 1) -> str:
    """Return an index without the zeros of axes that the block does not have."""
    while axes < 3 and any(index[axes:]):
        axes += 1
    return ",".join(map(str, index[:axes]))


def _legend(kinds: set[int], height: float) -> str:
    parts = []
    for i, kind in enumerate(kind for kind in (READ, WRITE, ATOMIC) if kind in kinds):
        x, y = _MARGIN + 78.0 * i, height - 10.0
        parts.append(
            f'<path class="mg-line mg-strong {_CLASSES[kind]}" d="M{x:.1f},{y - 4:.1f}h18"/>'
            f'<text class="mg-text" x="{x + 23:.1f}" y="{y:.1f}">{_NOUNS[kind]}</text>'
        )
    return "".join(parts)
