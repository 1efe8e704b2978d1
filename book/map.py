"""A map of the course: one row for each lesson, and a line from each lesson to those that need it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import chain, count

from book.course_facts import Facts
from book.markdown import joined, raw

__all__ = ["course_map", "needs_of", "placed", "reduced"]

ROW, LANE, TOP, MARGIN = 36, 18, 20, 12

_NEEDS = re.compile(r"\*\*You need\*\*(.*?)(?:\n\n|\Z)", re.DOTALL)
_NOT_NEEDED = re.compile(r"Lesson \w+ is not needed|Without \w+")
_NUMBERS = re.compile(r"\blessons? (\d\db?(?:(?:, | and )\d\db?)*)")

Cell = tuple[int, int]
"""A lane and a row."""


def course_map(facts: Facts) -> str:
    """Return the map with links to the lessons, and the same as a table, as MyST Markdown."""
    titles = {number: (name, facts.lessons[name].title) for name, number in _numbers(facts).items()}
    needs = reduced(needs_of(facts))
    rows = [
        f"| [{number} {title}](lessons/{name}.ipynb) | {', '.join(needs[number])} | "
        f"{', '.join(later for later, before in needs.items() if number in before)} |"
        for number, (name, title) in titles.items()
    ]
    table = "\n".join(["| lesson | builds on | leads to |", "|---|---|---|", *rows])
    return joined([raw(_drawn(titles, needs)), table])


def needs_of(facts: Facts) -> dict[str, tuple[str, ...]]:
    """Return, for each lesson's number, the earlier lessons that its sentence "You need" names."""
    numbers = _numbers(facts)
    order = list(numbers.values())
    needs = {}
    for name, number in numbers.items():
        cells = (cell.source for cell in facts.lessons[name].source.cells if cell.cell_type == "markdown")
        found = next(found[1] for source in cells if (found := _NEEDS.search(source)))
        sentence = _NOT_NEEDED.sub("", " ".join(found.split()))
        named = {each for several in _NUMBERS.findall(sentence) for each in re.findall(r"\d\db?", several)}
        needs[number] = tuple(each for each in order[: order.index(number)] if each in named)
    return needs


def reduced(needs: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Leave out what follows from the rest: a lesson that another needed lesson needs.

    Args:
        needs: For each lesson those that it needs, which stand before it.
    """
    before: dict[str, set[str]] = {}
    for lesson, direct in needs.items():
        before[lesson] = set(direct).union(*(before[each] for each in direct))
    return {
        lesson: tuple(each for each in direct if not any(each in before[other] for other in direct))
        for lesson, direct in needs.items()
    }


def _numbers(facts: Facts) -> dict[str, str]:
    return {name: name.partition("_")[0] for name in facts.lessons}


@dataclass
class Places:
    """Which lanes are taken in which rows, as lessons are placed one row below the other."""

    taken: set[Cell]
    lanes: dict[str, int]
    lines: list[tuple[Cell, int, Cell]]


def placed(needs: Mapping[str, tuple[str, ...]]) -> Places:
    """Give each lesson a lane, and each line a lane in which it passes the rows between its ends."""
    places, rows = Places(set(), {}, []), {lesson: row for row, lesson in enumerate(needs)}
    for lesson, before in needs.items():
        row = rows[lesson]
        lane = _lane(places, [places.lanes[each] for each in before], range(row, row + 1))
        places.lanes[lesson] = lane
        places.taken.add((lane, row))
        for each in before:
            start, between = (places.lanes[each], rows[each]), range(rows[each] + 1, row)
            through = _lane(places, [lane, start[0]], between)
            places.taken |= {(through, passed) for passed in between}
            places.lines.append((start, through, (lane, row)))
    return places


def _lane(places: Places, wished: Iterable[int], rows: range) -> int:
    """The first of the lanes wished for, or of all, that is free in the rows."""
    lane: int
    for lane in chain(wished, count()):
        if not any((lane, row) in places.taken for row in rows):
            break
    return lane


def _drawn(titles: Mapping[str, tuple[str, str]], needs: Mapping[str, tuple[str, ...]]) -> str:
    places = placed(needs)
    text = MARGIN + LANE * (1 + max(lane for lane, _ in places.taken))
    height = TOP * 2 + ROW * (len(titles) - 1)
    lines = "".join(f'<path d="{_path(*line)}"/>' for line in places.lines)
    stops = "".join(
        f'<a href="lessons/{name}.html"><circle cx="{_x(places.lanes[number])}" cy="{_y(row)}" r="6"/>'
        f'<text x="{text}" y="{_y(row) + 5}"><tspan class="number">{number}</tspan> {escape(title)}</text></a>'
        for row, (number, (name, title)) in enumerate(titles.items())
    )
    return (
        f'<svg class="course-map" viewBox="0 0 {text + 250} {height}" role="group" '
        f'aria-label="Map of the course; the table below says the same"><g class="lines">{lines}</g>{stops}</svg>'
    )


def _path(start: Cell, through: int, end: Cell) -> str:
    """A line down from one lesson to another, by way of a lane in the rows between."""
    (x0, y0), (x1, y1), x = (_x(start[0]), _y(start[1])), (_x(end[0]), _y(end[1])), _x(through)
    if end[1] == start[1] + 1:
        return f"M{x0} {y0}{_bend(x0, y0, x1, y1)}"
    return f"M{x0} {y0}{_bend(x0, y0, x, y0 + ROW)}V{y1 - ROW}{_bend(x, y1 - ROW, x1, y1)}"


def _bend(x0: int, y0: int, x1: int, y1: int) -> str:
    middle = (y0 + y1) // 2
    return f"C{x0} {middle} {x1} {middle} {x1} {y1}"


def _x(lane: int) -> int:
    return MARGIN + LANE * lane


def _y(row: int) -> int:
    return TOP + ROW * row
