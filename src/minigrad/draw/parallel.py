"""Pictures of loops on several cores: the thread of each iteration, places where iterations meet, uses of the cache.

draw.iterations(10, 4)            # the iterations of a prange loop, shared out between threads
draw.races(report)                # the elements in which iterations meet, as `minigrad.debug.races` has found them
draw.walk(4, 8, "columns")        # the order of visits, and how often a line of memory has to be fetched
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Literal

from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, arrow, box, text

if TYPE_CHECKING:
    from minigrad.debug import Race, Report

MOST_BOXES, MOST_THREADS = 24, 12
"""Iterations side by side, and threads one below the other, that can be told apart."""

_CELL, _HIGH = 32.0, 26.0
_SHOWN = 4  # findings in one picture
_KINDS = "used", "other", "cell"  # of the boxes of thread 0, 1, 2, and again


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def iterations(size: int, threads: int, *, owners: Sequence[int] | None = None) -> Drawing:
    """Draw the iterations of a prange loop: the thread of each, and below iterations at the same time in one column.

    Args:
        size: How many iterations there are.
        threads: The number of threads that share them. Each gets a run of neighbours, as equal as possible.
        owners: For each iteration the thread that has run it, where that was observed.

    Raises:
        ValueError: If there are none or too many for a picture, or owners do not fit.

    >>> print(minigrad.draw.iterations(6, 2))
    Iterations of a parallel loop: 6 iterations on 2 threads: thread 0 runs 0, 1, 2; thread 1 runs 3, 4,
    5. All wait for the longest share.
    """
    if not (1 <= size <= MOST_BOXES and 1 <= threads <= MOST_THREADS):
        raise ValueError(
            f"draw.iterations: {_count(size, 'iteration')} on {_count(threads, 'thread')} cannot be drawn; take 1 to "
            f"{MOST_BOXES} iterations and 1 to {MOST_THREADS} threads"
        )
    ran = _shared_out(size, threads) if owners is None else [int(thread) for thread in owners]
    if len(ran) != size or not all(0 <= thread < threads for thread in ran):
        raise ValueError(f"draw.iterations: owners must name a thread below {threads} for each of {size} iterations")
    shares = [[i for i in range(size) if ran[i] == thread] for thread in range(threads)]
    longest = max(map(len, shares))
    left, below = MARGIN + 11 * CHARACTER, MARGIN + LINE + _HIGH + 2.2 * LINE
    parts = [*_row_of_elements(ran, left), *_shares(shares, longest, left, below)]
    words = "; ".join(f"thread {t} runs {', '.join(map(str, own)) or 'none'}" for t, own in enumerate(shares))
    words = f"{_count(size, 'iteration')} on {_count(threads, 'thread')}: {words}. All wait for the longest share."
    width = left + max(size * _CELL, longest * _CELL + 22 * SMALL) + MARGIN
    height = below + threads * (_HIGH + 6.0) + 1.6 * LINE + MARGIN
    return Drawing(width, height, "Iterations of a parallel loop", words, parts)


def _shared_out(size: int, threads: int) -> list[int]:
    """Return the thread of each iteration, as Numba shares them out: neighbours together, longer shares first."""
    least, longer = divmod(size, threads)
    return [thread for thread in range(threads) for _ in range(least + (thread < longer))]


def _row_of_elements(ran: Sequence[int], left: float) -> Iterator[str]:
    yield text(MARGIN, MARGIN + LINE + 17.0, "iteration", "small", "start")
    for i, thread in enumerate(ran):
        yield box(left + i * _CELL, MARGIN + LINE, _CELL, _HIGH, _KINDS[thread % len(_KINDS)])
        yield text(left + (i + 0.5) * _CELL, MARGIN + LINE + 17.0, str(i))
        if i == 0 or ran[i - 1] != thread:  # a run begins
            yield text(left + i * _CELL + 3.0, MARGIN + LINE - 5.0, f"t{thread}", "small", "start")


def _shares(shares: Sequence[Sequence[int]], longest: int, left: float, y: float) -> Iterator[str]:
    """Draw a line for each thread: its iterations from left to right, as time goes by."""
    for thread, own in enumerate(shares):
        top = y + thread * (_HIGH + 6.0)
        yield text(MARGIN, top + 17.0, f"thread {thread}", "small", "start")
        for place, i in enumerate(own):
            yield box(left + place * _CELL, top, _CELL, _HIGH, _KINDS[thread % len(_KINDS)])
            yield text(left + (place + 0.5) * _CELL, top + 17.0, str(i))
    bottom = y + len(shares) * (_HIGH + 6.0)
    yield arrow(left, bottom + 4.0, left + longest * _CELL, bottom + 4.0)
    yield text(left + longest * _CELL + 8.0, bottom + 8.0, "time", "small", "start")


def races(report: Report) -> Drawing:
    """Draw the elements in which iterations meet, with the lines that write or read them.

    Args:
        report: What `minigrad.debug.races` has found.
    """
    found = report.races[:_SHOWN]
    parts = [text(MARGIN, MARGIN + 10.0, report.summary, "bold", "start")]
    wide, y = len(report.summary) * CHARACTER, MARGIN + 1.6 * LINE
    for race in found:
        drawn, width, high = _meeting(race, y) if race.acts else _sentence(race, y)
        parts += drawn
        wide, y = max(wide, width), y + high
    rest = len(report.races) - len(found)
    if rest:
        parts.append(text(MARGIN, y + 8.0, f"and {rest} more like these", "small", "start"))
        y += LINE
    words = " ".join([f"{report.summary}.", *(f"{race.message}." for race in found)])
    return Drawing(wide + 2 * MARGIN, y + MARGIN - 4.0, "Iterations that meet", words, parts)


def _meeting(race: Race, y: float) -> tuple[list[str], float, float]:
    """Draw an element between the two iterations that touch it, and return the drawing, its width and its height."""
    names = [f"iteration {race.first}", f"iteration {race.second}"]
    inside = ", ".join(map(str, race.index))
    element = f"{race.array}[{inside}]"
    side, middle, gap = max(map(len, names)) * CHARACTER + 20.0, len(element) * CHARACTER + 24.0, 92.0
    lefts = MARGIN, MARGIN + side + 2 * gap + middle
    centre = MARGIN + side + gap
    high = _HIGH + 8.0
    parts = [box(centre, y, middle, high, "bad"), text(centre + middle / 2, y + 21.0, element, "badtext")]
    for left, name, act, right in zip(lefts, names, race.acts, (False, True), strict=True):
        parts += [box(left, y, side, high, "used"), text(left + side / 2, y + 21.0, name)]
        near, far = (left - 3.0, centre + middle + 4.0) if right else (left + side + 3.0, centre - 4.0)
        start, end = (far, near) if act == "reads" else (near, far)
        parts += [arrow(start, y + high / 2, end, y + high / 2), text((near + far) / 2, y + 11.0, act, "small")]
    lines = _lines_of(race)
    if race.count > 1:
        lines.append(f"the same is true of {race.count} elements")
    parts += [text(MARGIN, y + high + 14.0 + i * LINE, line, "small", "start") for i, line in enumerate(lines)]
    width = max(lefts[1] + side - MARGIN, max(map(len, lines), default=0) * SMALL)
    return parts, width, high + len(lines) * LINE + LINE


def _lines_of(race: Race) -> list[str]:
    """Return the lines of code in which two iterations meet, with the numbers of these iterations."""
    same = (race.line, race.file) == (race.other_line, race.other_file)
    first = f"{'both' if same else race.acts[0]}: {race.source}"
    return [first] if same else [first, f"{race.acts[1]}: {race.other_source}"]


def _sentence(race: Race, y: float) -> tuple[list[str], float, float]:
    """Put a finding that is of no single element into its kind and its line."""
    line = f"{race.kind}: {race.array}, in line {race.line}: {race.source}"
    return [text(MARGIN, y + 10.0, line, "badtext", "start")], len(line) * CHARACTER, 1.6 * LINE


def walk(rows: int, columns: int, by: Literal["rows", "columns"], *, line: int = 4, kept: int = 2) -> Drawing:
    """Draw the order in which a loop visits a table that lies row by row, and when memory has to be fetched.

    Memory hands out lines of neighbouring elements. The cache keeps the last ones that were used; an element of another
    line has to be fetched, with its whole line, and the line that was not used for longest makes room.

    Args:
        rows: How many.
        columns: How many.
        by: Whether the loop goes along the rows, or down the columns.
        line: Elements of a line.
        kept: Lines for which the cache has room.

    Raises:
        ValueError: If the table is empty or too large to be drawn, or by is something else.

    >>> print(minigrad.draw.walk(3, 4, by="rows"))
    A walk by rows: A table of 3 rows and 4 columns, walked by rows; a line has 4 elements, the cache
    keeps 2 lines. 12 visits, 3 lines fetched (12 elements).
    """
    if by not in ("rows", "columns"):
        raise ValueError(f"draw.walk: by is {by!r}; it must be 'rows' or 'columns'")
    if not (1 <= rows <= 12 and 1 <= columns <= MOST_BOXES and line >= 1 and kept >= 1):
        raise ValueError(
            f"draw.walk: {rows} rows of {columns}, lines of {line} and {kept} of them kept cannot be drawn; take 1 to "
            f"12 rows, 1 to {MOST_BOXES} columns, and at least one line of one element"
        )
    visits = _visits(rows, columns, by)
    fetched = _fetches([(i * columns + j) // line for i, j in visits], kept)
    parts = list(_grid(columns, visits, fetched, line))
    many = sum(fetched)
    told = f"{_count(len(visits), 'visit')}, {_count(many, 'line')} fetched ({_count(many * line, 'element')})"
    y = MARGIN + LINE + rows * (_HIGH + 4.0) + LINE
    parts.append(text(MARGIN, MARGIN + 8.0, f"by {by}: the number is the order of visits", "small", "start"))
    parts.append(text(MARGIN, y, told, "bold", "start"))
    parts.append(text(MARGIN, y + LINE, "strong frame: this visit fetches a line", "small", "start"))
    words = f"A table of {rows} rows and {columns} columns, walked by {by}; a line has {_count(line, 'element')}, "
    words += f"the cache keeps {_count(kept, 'line')}. {told}."
    width = max(columns * _CELL + (math.ceil(columns / line) - 1) * 4.0, len(told) * CHARACTER + 4.0) + 2 * MARGIN
    return Drawing(width, y + LINE + MARGIN, f"A walk by {by}", words, parts)


def _visits(rows: int, columns: int, by: str) -> list[tuple[int, int]]:
    if by == "rows":
        return list(product(range(rows), range(columns)))
    return [(i, j) for j, i in product(range(columns), range(rows))]


def _fetches(lines: Sequence[int], kept: int) -> list[bool]:
    """Return for each visit whether its line has to be fetched."""
    held: list[int] = []
    found = []
    for each in lines:
        found.append(each not in held)
        held = [other for other in held if other != each][-(kept - 1) :] if kept > 1 else []
        held.append(each)
    return found


def _grid(columns: int, visits: Sequence[tuple[int, int]], fetched: Sequence[bool], line: int) -> Iterator[str]:
    """Draw the table with a small gap where one line ends and the next one begins."""
    last: list[str] = []
    for number, ((i, j), missed) in enumerate(zip(visits, fetched, strict=True)):
        place = i * columns + j
        gaps = place // line - (i * columns) // line
        x, y = MARGIN + j * _CELL + gaps * 4.0, MARGIN + LINE + i * (_HIGH + 4.0)
        shade = "used" if place // line % 2 else "cell"
        drawn = [box(x, y, _CELL, _HIGH, "mark" if missed else shade)]
        drawn.append(text(x + _CELL / 2, y + 17.0, str(number), "marked" if missed else "text"))
        if missed:
            last += drawn
        else:
            yield from drawn
    yield from last
