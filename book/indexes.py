"""Pages that list things: the front page, the lessons, the exercises."""

from __future__ import annotations

from collections.abc import Iterator

from book.boxes import exercise_link
from book.course_facts import Facts
from book.lessons import number_of
from book.map import map_of
from book.markdown import joined

__all__ = ["indexes"]


def indexes(facts: Facts) -> Iterator[tuple[str, bytes]]:
    """Yield each index, by its place."""
    yield "exercises.md", _exercises(facts).encode()
    yield "lessons.md", _lessons(facts).encode()
    listed = _toctree(_numbered(facts, "misconceptions"))
    yield "misconceptions.md", joined(["# Known mistakes", listed]).encode()


def _lessons(facts: Facts) -> str:
    head = "A line leads down from each lesson to those that build on it."
    hidden = _toctree(_numbered(facts, "lessons"), hidden=True)
    return joined(["# The lessons", head, map_of(facts), hidden])


def _exercises(facts: Facts) -> str:
    rows = [
        f"| {exercise_link(each.id)} | [{number_of(each.lesson)}](lessons/{each.lesson}.ipynb) | {each.points:g} "
        f"| {each.minutes} | {each.difficulty} of 5 | {each.rank} |"
        for each in facts.exercises()
    ]
    heads = "| exercise | lesson | points | minutes | difficulty | rank |\n|---|---|---|---|---|---|"
    total = sum(each.points for each in facts.exercises())
    head = f"{len(rows)} exercises with {total:g} points together."
    return joined(["# The exercises", head, "\n".join([heads, *rows])])


def _numbered(facts: Facts, folder: str) -> list[str]:
    """The page of each lesson in a folder, under its number and title."""
    return [f"{number_of(name)} {built.title} <{folder}/{name}>" for name, built in facts.lessons.items()]


def _toctree(pages: list[str], *, hidden: bool = False) -> str:
    options = [":maxdepth: 1", *([":hidden:"] if hidden else [])]
    return "\n".join(["```{toctree}", *options, "", *pages, "```"])
