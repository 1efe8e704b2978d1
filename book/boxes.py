"""Boxes: what a student gets, and folded away below it checks, hints, the solution, and a commentary."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.building.questions import ASKS
from autograder.building.slicing import ExerciseSource, without_markers
from autograder.course import Exercise
from book.course_facts import Answer, Facts
from book.markdown import anchor, block, code, dropdown, joined, plain, points, raw

__all__ = ["exercise_box", "exercise_link", "question_box"]

_HINTS = {"nudge": "Hint 1: a nudge", "idea": "Hint 2: the idea", "outline": "Hint 3: an outline"}


def exercise_box(facts: Facts, source: ExerciseSource, report: str) -> str:
    """Return the box of an exercise, as MyST Markdown.

    Args:
        facts: The course.
        source: The exercise's stub and reference.
        report: What the check says of the reference, as HTML.
    """
    exercise = source.exercise
    parts = [
        _worth(facts, exercise),
        code(source.stub_cell),
        dropdown(_title_of_checks(facts, exercise), _checks(facts, exercise, report), kind="visible-checks"),
        *_hints(facts, exercise),
        dropdown("Solution and commentary", _solution(facts, source), kind="solution"),
    ]
    title = f"Exercise: `{exercise.id}`, {points(exercise.points)}"
    label = anchor("exercise", exercise.id)
    return f"({label})=\n" + block("admonition", title, joined(parts), **{"class": "exercise"})


def question_box(asked: str, model: str) -> str:
    """Return the box of a question that a person marks.

    Args:
        asked: The cell that asks.
        model: What a good answer says, markers included; empty if the author left it out.
    """
    answer = without_markers(model).strip("\n")
    folded = dropdown("A good answer", answer, kind="solution") if answer else ""
    question = asked.removeprefix(f"{ASKS} ").rpartition("\n\n*Your answer")[0]
    return block("admonition", "Question", joined([question, folded]), **{"class": "question"})


def exercise_link(exercise: str) -> str:
    """Return a link to the box of an exercise."""
    return f"[`{exercise}`](#{anchor('exercise', exercise)})"


def _worth(facts: Facts, exercise: Exercise) -> str:
    groups = ", ".join(f"{name.replace('_', ' ')} {worth:g}" for name, worth in exercise.groups.items())
    needs = facts.needs[exercise.id]
    builds = f" Builds on {', '.join(map(exercise_link, needs))}." if needs else ""
    return f"Points of the hidden tests by group: {groups}.{builds}"


def _title_of_checks(facts: Facts, exercise: Exercise) -> str:
    count = len(facts.checks(exercise.id))
    return f"Visible checks ({count})"


def _checks(facts: Facts, exercise: Exercise, report: str) -> str:
    checks = facts.checks(exercise.id)
    listed = "\n".join(f"- {plain(each.says.partition(chr(10))[0])}" for each in checks)
    text = "\n\n\n".join(each.code.rstrip() for each in checks)
    intro = f'`check("{exercise.id}")` in the notebook asks:'
    said = f"It says of the solution below:\n\n{raw(report)}" if report else ""
    return joined([intro, listed, said, dropdown("The code of these checks", code(text))])


def _hints(facts: Facts, exercise: Exercise) -> Iterable[str]:
    hints = facts.hints.get(exercise.id, {})
    return [dropdown(title, hints[tier], kind="hint") for tier, title in _HINTS.items() if tier in hints]


def _solution(facts: Facts, source: ExerciseSource) -> str:
    exercise = source.exercise
    return joined(
        [
            code(without_markers(source.reference)),
            *_variants(facts.variants(exercise.id)),
            *_mistakes(exercise, facts.wrong(exercise.id)),
        ]
    )


def _variants(variants: list[Answer]) -> Iterable[str]:
    if variants:
        yield "**Right in another way.** The grader knows these too, and gives them all points:"
    for each in variants:
        yield dropdown(plain(each.says.partition("\n")[0]), code(each.code), kind="variant")


def _mistakes(exercise: Exercise, wrong: list[Answer]) -> Iterable[str]:
    if not wrong:
        return
    yield "**What goes wrong here.** Mistakes that the grader knows; each leads to its counter-example:"
    yield "\n".join(
        f"- [{each.name.replace('-', ' ')}](#{anchor('wrong', exercise.id, each.name)}): {plain(each.says)}"
        for each in wrong
    )
