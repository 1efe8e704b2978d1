"""The map of the course with links to the lessons, and the same as a table."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.building.needs import needs_of
from book.course_facts import Facts
from book.lessons import number_of
from book.markdown import joined, raw
from minigrad.draw.course_map import Stop, course_map, reduced

__all__ = ["map_of"]


def map_of(facts: Facts) -> str:
    """Return the map of the course, as MyST Markdown."""
    needs = reduced(needs_of({name: built.source for name, built in facts.lessons.items()}))
    stops = [Stop(name, built.title, f"lessons/{name}.html") for name, built in facts.lessons.items()]
    rows = [
        f"| [{number_of(stop.name)} {stop.title}](lessons/{stop.name}.ipynb) | {_numbers(needs[stop.name])} | "
        f"{_numbers(later for later, before in needs.items() if stop.name in before)} |"
        for stop in stops
    ]
    table = "\n".join(["| lesson | builds on | leads to |", "|---|---|---|", *rows])
    return joined([raw(course_map(stops, needs, "Map of the course; the table below says the same")), table])


def _numbers(lessons: Iterable[str]) -> str:
    return ", ".join(map(number_of, lessons))
