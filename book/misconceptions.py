"""Pages of the mistakes that the grader knows: one for each lesson, made from autograder/wrong and its record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from autograder.results.causes import SEEN, read_seen
from book.boxes import exercise_link
from book.course_facts import ANSWERS, Answer, Facts
from book.markdown import anchor, code, dropdown, joined, plain

__all__ = ["misconceptions"]


def misconceptions(facts: Facts) -> Iterator[tuple[str, bytes]]:
    """Yield the page of each lesson's known mistakes, by its place."""
    seen = read_seen(ANSWERS / SEEN)
    for name, built in facts.lessons.items():
        parts = [
            f"# Known mistakes: {built.title}",
            f"Each of these answers to an exercise of [{built.title}](../lessons/{name}.ipynb) is wrong in one way. "
            "The hidden tests tell them apart by the values that they see.",
        ]
        for exercise in facts.course.of_lesson(name):
            parts += [f"## {exercise_link(exercise.id)}"]
            found = seen.get(exercise.id, {})
            parts += [_mistake(exercise.id, each, found.get(each.name, {})) for each in facts.wrong(exercise.id)]
        yield f"misconceptions/{name}.md", (joined(parts) + "\n").encode()


def _mistake(exercise: str, answer: Answer, seen: Mapping[str, str]) -> str:
    rows = [f"| {test.removeprefix('test_').replace('_', ' ')} | {_cell(saw)} |" for test, saw in seen.items()]
    table = "\n".join(["| hidden test that notices it | what it sees |", "|---|---|", *rows]) if rows else ""
    return joined(
        [
            f"({anchor('wrong', exercise, answer.name)})=\n### {answer.name.replace('-', ' ').capitalize()}",
            plain(answer.says),
            dropdown("The code", code(answer.code)),
            table,
        ]
    )


def _cell(saw: str) -> str:
    """What a test saw, as the cell of a table."""
    return plain(json.dumps(saw, ensure_ascii=False)[1:-1] if "\n" in saw else saw)
