"""Pages that list things: the front page, the lessons, the exercises."""

from __future__ import annotations

from collections.abc import Iterator

from book.boxes import exercise_link
from book.course_facts import Facts
from book.lessons import number_of
from book.markdown import joined

__all__ = ["indexes"]


def indexes(facts: Facts) -> Iterator[tuple[str, bytes]]:
    """Yield each index, by its place."""
    yield "exercises.md", _exercises(facts).encode()
    for folder, title in (("lessons", "The lessons"), ("misconceptions", "Known mistakes")):
        yield f"{folder}.md", joined([f"# {title}", _toctree([f"{folder}/{name}" for name in facts.lessons])]).encode()


def _exercises(facts: Facts) -> str:
    rows = [
        f"| {exercise_link(each.id)} | [{number_of(each.lesson)}](lessons/{each.lesson}.ipynb) | {each.points:g} |"
        for each in facts.exercises()
    ]
    total = sum(each.points for each in facts.exercises())
    head = f"{len(rows)} exercises with {total:g} points together."
    return joined(["# The exercises", head, "\n".join(["| exercise | lesson | points |", "|---|---|---|", *rows])])


def _toctree(pages: list[str]) -> str:
    return "\n".join(["```{toctree}", ":maxdepth: 1", "", *pages, "```"])
