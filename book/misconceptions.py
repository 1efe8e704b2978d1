"""Pages of the mistakes that the grader knows: one for each lesson, made from course/wrong and its records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from autograder.proof.record import read_shown
from autograder.results import Verdict
from autograder.results.causes import SEEN, read_seen
from autograder.results.pictures import as_svg, as_words
from autograder.telling.report import example_rows
from book.boxes import exercise_link
from book.course_facts import ANSWERS, Answer, Facts
from book.executing import BookError
from book.markdown import anchor, code, dropdown, joined, plain

__all__ = ["misconceptions"]


def misconceptions(facts: Facts) -> Iterator[tuple[str, bytes]]:
    """Yield the page of each lesson's known mistakes, and its pictures, by their places.

    Raises:
        BookError: If the records lack a mistake.
    """
    seen, shown = read_seen(ANSWERS / SEEN), read_shown(ANSWERS)
    for name, built in facts.lessons.items():
        parts = [
            f"# Known mistakes: {built.title}",
            f"Each of these answers to an exercise of [{built.title}](../lessons/{name}.ipynb) is wrong in one way. "
            "The hidden tests tell them apart by the values that they see.",
        ]
        for exercise in facts.course.of_lesson(name):
            parts += [f"## {exercise_link(exercise.id)}"]
            for each in facts.wrong(exercise.id):
                verdict = shown.get(exercise.id, {}).get(each.name)
                if verdict is None:
                    raise BookError(
                        f"wrong/{exercise.id}/{each.name}.py: run `autograder verify {exercise.id} --record`"
                    )
                label = anchor("wrong", exercise.id, each.name)
                if svg := _svg(verdict):
                    yield f"misconceptions/{label}.svg", svg.encode()
                parts.append(_mistake(label, each, verdict, seen.get(exercise.id, {}).get(each.name, {})))
        yield f"misconceptions/{name}.md", (joined(parts) + "\n").encode()


def _mistake(label: str, answer: Answer, verdict: Verdict, seen: Mapping[str, str]) -> str:
    rows = [f"| {test.removeprefix('test_').replace('_', ' ')} | {_cell(saw)} |" for test, saw in seen.items()]
    table = "\n".join(["| hidden test that notices it | what it sees |", "|---|---|", *rows])
    return joined(
        [
            f"({label})=\n### {answer.name.replace('-', ' ').capitalize()}",
            plain(answer.says),
            _counter_example(label, verdict),
            dropdown("The code", code(answer.code)),
            dropdown("What each test sees", table) if len(seen) > 1 else "",
        ]
    )


def _counter_example(label: str, verdict: Verdict) -> str:
    """Return what a report shows: the test's title and finding, the input that failed, and the picture."""
    rows = [f"- {name}: {_cell(value)}" if name else f"- {_cell(value)}" for name, value in example_rows(verdict)]
    words = " ".join(as_words(verdict.example.picture)) if verdict.example else ""
    return joined(
        [
            f"**{plain(verdict.title.rstrip('.'))}:** {_cell(verdict.reason)}",
            "\n".join(rows),
            f"![{plain(words)}]({label}.svg)" if _svg(verdict) else "",
            plain(f"Hint: {verdict.hint}") if verdict.hint else "",
        ]
    )


def _svg(verdict: Verdict) -> str:
    return as_svg(verdict.example.picture) if verdict.example else ""


def _cell(saw: str) -> str:
    """What a test saw, as the cell of a table."""
    return plain(json.dumps(saw, ensure_ascii=False)[1:-1] if "\n" in saw else saw)
