"""The map of a course: one row for each lesson, and a line from each lesson to those that need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, count

ROW, LANE, TOP, MARGIN, RADIUS = 36, 18, 20, 12, 6
LETTER = 8
"""The width of a letter of the titles, at most, in the mean."""

Cell = tuple[int, int]
"""A lane and a row."""


@dataclass(frozen=True)
class Stop:
    """A lesson on the map.

    Attributes:
        name: Its name, such as "03_backprop".
        title: Its title.
        link: Where it leads to; nowhere if empty.
        share: The part that is done, from 0 to 1: that much of its ring is coloured.
        remark: A few words behind the title.
    """

    name: str
    title: str
    link: str = ""
    share: float = 0.0
    remark: str = ""


def reduced(needs: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Leave out what follows from the rest: a lesson that another needed lesson needs.

    Args:
        needs: For each lesson those that it needs, which stand before it.

    >>> from minigrad.draw.course_map import reduced
    >>> reduced({"a": (), "b": ("a",), "c": ("a", "b")})["c"]
    ('b',)
    """
    before: dict[str, set[str]] = {}
    for lesson, direct in needs.items():
        before[lesson] = set(direct).union(*(before[each] for each in direct))
    return {
        lesson: tuple(each for each in direct if not any(each in before[other] for other in direct))
        for lesson, direct in needs.items()
    }


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


def course_map(stops: Sequence[Stop], needs: Mapping[str, tuple[str, ...]], words: str) -> str:
    """Return the map as SVG, whose colours the page gives by the classes lines, done, number and remark.

    Args:
        stops: The lessons in order.
        needs: For each lesson's name those that it needs, which stand before it; others than the stops are left out.
        words: What the map shows, for people who cannot see it.
    """
    names = [stop.name for stop in stops]
    places = placed(reduced({name: tuple(each for each in needs.get(name, ()) if each in names) for name in names}))
    text = MARGIN + LANE * (1 + max((lane for lane, _ in places.taken), default=0))
    width = text + LETTER * max(len(f"00b {stop.title} {stop.remark}") for stop in stops)
    height = TOP * 2 + ROW * (len(stops) - 1)
    lines = "".join(f'<path d="{_path(*line)}"/>' for line in places.lines)
    drawn = "".join(_stop(stop, _x(places.lanes[stop.name]), _y(row), text) for row, stop in enumerate(stops))
    return (
        f'<svg class="course-map" viewBox="0 0 {width} {height}" role="group" '
        f'aria-label="{escape(words)}"><g class="lines">{lines}</g>{drawn}</svg>'
    )


def _stop(stop: Stop, x: int, y: int, text: int) -> str:
    number, around = stop.name.partition("_")[0], 2 * 3.1416 * RADIUS
    circle = f'<circle cx="{x}" cy="{y}" r="{RADIUS}"/>'
    if stop.share:
        dashes = f"{stop.share * around:.1f} {around:.1f}"
        circle += (
            f'<circle class="done" cx="{x}" cy="{y}" r="{RADIUS}" stroke-dasharray="{dashes}" '
            f'transform="rotate(-90 {x} {y})"/>'
        )
    remark = f' <tspan class="remark">{escape(stop.remark)}</tspan>' if stop.remark else ""
    name = f'<tspan class="number">{escape(number)}</tspan> {escape(stop.title)}{remark}'
    drawn = f'{circle}<text x="{text}" y="{y + 5}">{name}</text>'
    return f'<a href="{escape(stop.link)}">{drawn}</a>' if stop.link else drawn


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
