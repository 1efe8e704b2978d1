"""Pictures of CUDA kernels: threads in their blocks, their reads and writes, the tiles of a product.

What a kernel does is taken from its recording by `minigrad.debug.cuda_races`: a picture shows the kernel that ran.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from minigrad.draw.paper import CHARACTER, LINE, MARGIN, Drawing, arrow, box, text

if TYPE_CHECKING:
    from minigrad.debug import CudaReport
    from minigrad.debug.draw import AccessPicture
    from minigrad.debug.memory import Root

MOST_THREADS = 144
"""Threads of a grid that can still be told apart."""

MOST_ELEMENTS = 1024
"""Elements of an array whose reads are counted."""

_CELL, _GAP, _BLOCK_GAP = 34.0, 10.0, 18.0

Point = tuple[float, float]
Pair = tuple[int, int]


def blocks(size: int | Pair, threads_per_block: int | Pair) -> Drawing:
    """Draw the threads that are launched for an output: whole blocks, so that some may be left over.

    Args:
        size: The elements of the output, or its rows and columns: one for each thread.
        threads_per_block: How many threads a block has; of a table, in x and in y. As in this library's kernels, x
            counts columns and y rows.

    Raises:
        ValueError: If size and block are no positive numbers of the same kind, or too many threads to be drawn.

    >>> print(minigrad.draw.blocks(5, 4))
    Threads in blocks: 2 blocks of 4 threads for 5 elements. Thread t of block b has the number b *
    threads in a block + t, and the element with this number; the last 3 threads have none.
    """
    sizes, block = _numbers(size, "size"), _numbers(threads_per_block, "threads_per_block")
    if len(sizes) != len(block):
        raise ValueError(f"blocks: size {size} and threads_per_block {threads_per_block} must have equally many axes")
    grid = tuple(-(-n // t) for n, t in zip(reversed(sizes), block, strict=True))
    count = math.prod(grid) * math.prod(block)
    if count > MOST_THREADS:
        raise ValueError(f"blocks: {count} threads are too many for a picture; {MOST_THREADS} can be told apart")
    return _row_of_blocks(sizes[0], block[0], grid[0]) if len(sizes) == 1 else _plane_of_blocks(sizes, block, grid)


def _numbers(given: int | Sequence[int], name: str) -> tuple[int, ...]:
    found = (given,) if isinstance(given, int) else tuple(given)
    if not 1 <= len(found) <= 2 or min(found) < 1:
        raise ValueError(f"blocks: {name} is {given!r}; it must be a positive number, or a pair of them")
    return found


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _row_of_blocks(size: int, threads: int, grid: int) -> Drawing:
    """Draw blocks side by side, in lines of at most 16 threads, with the element of each thread below it."""
    across = max(1, 16 // threads)
    wide = min(grid, across) * (threads * _CELL + _BLOCK_GAP) - _BLOCK_GAP
    left = MARGIN + 12 * CHARACTER
    parts: list[str] = []
    high = 5.5 * LINE + 2 * _CELL
    for number in range(grid):
        x = left + (number % across) * (threads * _CELL + _BLOCK_GAP)
        y = MARGIN + (number // across) * high
        if number % across == 0:
            names = (("threadIdx.x", 2.0), ("number", 3.6), ("element", 7.3))
            parts += [text(MARGIN, y + at * LINE, name, "small", "start") for name, at in names]
        parts += _one_block(number, threads, size, x, y)
    lines = -(-grid // across)
    left_over = grid * threads - size
    words = (
        f"{_count(grid, 'block')} of {_count(threads, 'thread')} for {_count(size, 'element')}. "
        "Thread t of block b has the number b * threads in a block + t, and the element with this number; "
        + (f"the last {_count(left_over, 'thread')} have none." if left_over else "none is left over.")
    )
    return Drawing(left + wide + MARGIN, 2 * MARGIN + lines * high - 1.4 * LINE, "Threads in blocks", words, parts)


def _one_block(number: int, threads: int, size: int, x: float, y: float) -> Iterator[str]:
    yield text(x + threads * _CELL / 2, y + 0.8 * LINE, f"block {number}", "bold")
    top = y + 2.4 * LINE
    for t in range(threads):
        i, left = number * threads + t, x + t * _CELL
        middle, there = left + _CELL / 2, i < size
        yield text(middle, y + 2.0 * LINE, str(t), "small")
        yield box(left + 2, top, _CELL - 4, _CELL - 4, "used" if there else "ghost")
        yield text(middle, top + 0.6 * _CELL - 1, str(i), "text" if there else "ghosttext")
        if there:
            yield arrow(middle, top + _CELL - 2, middle, top + _CELL + 1.6 * LINE)
            yield box(left + 2, top + _CELL + 1.7 * LINE, _CELL - 4, _CELL - 4)
            yield text(middle, top + 1.6 * _CELL + 1.7 * LINE - 1, str(i))


def _plane_of_blocks(sizes: Sequence[int], block: Sequence[int], grid: Sequence[int]) -> Drawing:
    parts: list[str] = []
    step_x, step_y = block[0] * _CELL + _BLOCK_GAP, block[1] * _CELL + _BLOCK_GAP + LINE
    for b_row in range(grid[1]):
        for b_column in range(grid[0]):
            x, y = MARGIN + b_column * step_x, MARGIN + b_row * step_y + LINE
            parts.append(text(x + block[0] * _CELL / 2, y - 5, f"block ({b_column}, {b_row})", "bold"))
            for t_row in range(block[1]):
                for t_column in range(block[0]):
                    i, j = b_row * block[1] + t_row, b_column * block[0] + t_column
                    there = i < sizes[0] and j < sizes[1]
                    at = x + t_column * _CELL, y + t_row * _CELL
                    parts.append(box(at[0] + 1, at[1] + 1, _CELL - 2, _CELL - 2, "used" if there else "ghost"))
                    words, kind = f"{i},{j}", "text" if there else "ghosttext"
                    parts.append(text(at[0] + _CELL / 2, at[1] + 0.62 * _CELL, words, kind))
    left_over = math.prod(grid) * math.prod(block) - math.prod(sizes)
    words = (
        f"{grid[0]} times {grid[1]} blocks of {block[0]} times {block[1]} threads for {sizes[0]} rows and "
        f"{sizes[1]} columns. "
        + (f"{_count(left_over, 'thread')} beyond the last row or column have no element." if left_over else "")
    )
    width = max(2 * MARGIN + grid[0] * step_x - _BLOCK_GAP, 16 * CHARACTER)
    return Drawing(width, 2 * MARGIN + grid[1] * step_y - _BLOCK_GAP, "Threads in blocks", words.strip(), parts)


def accesses(
    report: CudaReport, block: int | Iterable[int] = 0, thread: int | Iterable[int] | None = None
) -> AccessPicture:
    """Draw which thread of a block reads and writes which element.

    Args:
        report: What `minigrad.debug.cuda_races` recorded.
        block: The block's index.
        thread: The thread with strong lines. None takes the first one.

    Raises:
        ValueError: If the block is not known, or too large.
    """
    return report.draw(_tuple(block), None if thread is None else _tuple(thread))


def _tuple(index: int | Iterable[int]) -> tuple[int, ...]:
    return (index,) if isinstance(index, int) else tuple(index)


def reads(
    reports: Mapping[str, CudaReport] | CudaReport,
    arrays: Sequence[str] = (),
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> Drawing:
    """Draw how often each element of the arrays in global memory is read, by all threads together.

    Args:
        reports: A recording, or several by the names that they shall have.
        arrays: The names of the arrays that are shown. By default all that are read.
        shapes: The shape in which an array is shown, where that is another than its own.

    Raises:
        ValueError: If nothing was read, or an array is too large for a picture.
    """
    named = reports if isinstance(reports, Mapping) else {reports.name: reports}
    tables = {name: list(_tables(report, arrays, shapes or {})) for name, report in named.items()}
    most = max(count for each in tables.values() for _, table in each for row in table for count in row)
    parts: list[str] = []
    sentences: list[str] = []
    y, width = MARGIN, 0.0
    for name, found in tables.items():
        x, bottom = MARGIN, y
        parts.append(text(x, y + 0.8 * LINE, name, "bold", "start"))
        width = max(width, x + len(name) * CHARACTER)
        for title, table in found:
            below, right = _counted(parts, title, table, most, (x, y + 1.4 * LINE))
            sentences.append(_in_words(name, title, table))
            x, bottom, width = right + 2 * _GAP, max(bottom, below), max(width, right)
        y = bottom + _GAP
    return Drawing(width + MARGIN, y + MARGIN - _GAP, "How often each element is read", " ".join(sentences), parts)


def _tables(
    report: CudaReport, arrays: Sequence[str], shapes: Mapping[str, Sequence[int]]
) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield the name of each array, and for each of its elements how often it is read."""
    import numpy as np

    from minigrad.debug.memory import READ, addresses

    counts: dict[Root, dict[int, int]] = {}
    for event in report.events:
        if event.kind == READ and event.root.scope == "global":
            found = counts.setdefault(event.root, {})
            found[event.address] = found.get(event.address, 0) + 1
    shown = [root for root in counts if not arrays or root.name in arrays]
    if not shown:
        raise ValueError(f"reads: {report.name} reads no element of {' or '.join(arrays) or 'an array'}")
    for root in shown:
        if root.raw.size > MOST_ELEMENTS:
            raise ValueError(f"reads: {root.name} has {root.raw.size} elements; {MOST_ELEMENTS} can be told apart")
        table = np.array([counts[root].get(at, 0) for at in addresses(root.raw).ravel().tolist()])
        shape = tuple(shapes.get(root.name, root.raw.shape))
        yield root.name, table.reshape(-1, shape[-1] if shape else 1).tolist()


def _counted(parts: list[str], title: str, table: list[list[int]], most: int, at: Point) -> Point:
    """Draw a table of counts, shaded in relation to the largest, and return its lower and its right end."""
    x, y = at
    cell = max(20.0, len(str(most)) * CHARACTER + 6.0)
    words = f"{title}: {sum(map(sum, table))} reads"
    parts.append(text(x, y + 0.8 * LINE, words, "text", "start"))
    top = y + 1.2 * LINE
    for i, row in enumerate(table):
        for j, count in enumerate(row):
            left, upper = x + j * cell, top + i * cell
            shade = "" if count == 0 else f' fill-opacity="{0.25 + 0.75 * count / most:.2f}"'
            kind = "cell" if count == 0 else "used"
            parts.append(box(left, upper, cell, cell, kind).replace("/>", f"{shade}/>"))
            parts.append(text(left + cell / 2, upper + cell / 2 + 4, str(count)))
    return top + len(table) * cell, max(x + len(table[0]) * cell, x + len(words) * CHARACTER)


def _in_words(name: str, title: str, table: list[list[int]]) -> str:
    every = {count for row in table for count in row}
    times = f"{min(every)} to {max(every)} times" if len(every) > 1 else _count(every.pop(), "time")
    return f"{name}: each element of {title} is read {times}, {sum(map(sum, table))} reads together."


def tiles(sizes: tuple[int, int, int], tile: int, block: Pair = (0, 0)) -> Drawing:
    """Draw which tiles of two matrices a block brings into shared memory, step by step, for its tile of the product.

    Args:
        sizes: Rows of the product, products in each sum, columns of the product.
        tile: Elements along a side of a tile.
        block: The block's numbers in the grid, that in x, which counts columns, and that in y.

    Raises:
        ValueError: If a size is not positive, or the block lies outside the grid.

    >>> print(minigrad.draw.tiles((4, 4, 4), 2))
    Tiles of a matrix product: Block (0, 0) computes rows 0 to 1 and columns 0 to 1 of the product, in 2
    steps: in each, one tile of a, further to the right, and one of b, further down.
    """
    n, depth, m = sizes
    steps = -(-depth // tile) if tile > 0 else 0
    if min(*sizes, tile) < 1 or not (0 <= block[0] * tile < m and 0 <= block[1] * tile < n):
        raise ValueError(f"tiles: no block {block} with tiles of {tile} in a product with the sizes {sizes}")
    cell = 18.0
    title = LINE + 4
    x0, y0 = MARGIN, MARGIN + title
    x1, y1 = x0 + steps * tile * cell + 2 * _GAP, y0 + steps * tile * cell + _GAP + title
    columns, rows = ((at * tile, (at + 1) * tile) for at in block)
    a = _matrix((n, depth), cell, (x0, y1), lambda i, j: j // tile if rows[0] <= i < rows[1] else None)
    b = _matrix((depth, m), cell, (x1, y0), lambda i, j: i // tile if columns[0] <= j < columns[1] else None)
    inside = lambda i, j: -1 if rows[0] <= i < rows[1] and columns[0] <= j < columns[1] else None  # noqa: E731
    out = _matrix((n, m), cell, (x1, y1), inside)
    parts = [*a, *b, *out]
    for step in range(steps):
        middle = (step + 0.5) * tile * cell
        outline = step * tile * cell
        corner_a, corner_b = (x0 + outline, y1 + rows[0] * cell), (x1 + columns[0] * cell, y0 + outline)
        for x, y in (corner_a, corner_b):
            parts.append(_outline(x, y, tile * cell))
        parts += _plate(x0 + middle, y1 + (rows[0] + tile / 2) * cell, f"step {step}")
        parts += _plate(x1 + (columns[0] + tile / 2) * cell, y0 + middle, f"step {step}")
    parts.append(_outline(x1 + columns[0] * cell, y1 + rows[0] * cell, tile * cell))
    names = ((f"a: {n} x {depth}", x0, y1), (f"b: {depth} x {m}", x1, y0), (f"out: {n} x {m}", x1, y1))
    parts += [text(x, y - 7, name, "text", "start") for name, x, y in names]
    words = (
        f"Block ({block[0]}, {block[1]}) computes rows {rows[0]} to {min(rows[1], n) - 1} and columns {columns[0]} to "
        f"{min(columns[1], m) - 1} of the product, in {_count(steps, 'step')}: in each, one tile of a, further to the "
        "right, and one of b, further down."
    )
    width = x1 + max(m, columns[1], 14 * CHARACTER / cell) * cell + MARGIN
    return Drawing(width, y1 + max(n, rows[1]) * cell + MARGIN, "Tiles of a matrix product", words, parts)


def _matrix(shape: Pair, cell: float, at: Point, step_of: Any) -> Iterator[str]:
    """Draw a matrix. An element that is brought in one step, or computed, stands out."""
    for i in range(shape[0]):
        for j in range(shape[1]):
            step = step_of(i, j)
            kind = "cell" if step is None else "mark" if step < 0 else "used" if step % 2 == 0 else "other"
            yield box(at[0] + j * cell, at[1] + i * cell, cell, cell, kind)


def _plate(x: float, y: float, words: str) -> Iterator[str]:
    """Words on paper of their own, so that no line runs through them."""
    wide = len(words) * CHARACTER + 6.0
    yield box(x - wide / 2, y - LINE / 2, wide, LINE, "paper")
    yield text(x, y + 4, words, "bold")


def _outline(x: float, y: float, side: float) -> str:
    """The border of a tile, which may reach beyond the matrix."""
    style = 'style="stroke-width:2.4;stroke-dasharray:5 3"'
    return f'<rect class="mp-way" {style} x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}"/>'
