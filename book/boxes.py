"""Boxes: what a student gets, and folded away below it checks, hints, the solution, and a commentary."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.building.questions import ASKS
from autograder.building.slicing import ExerciseSource, without_markers
from autograder.course import Exercise
from book.course_facts import Answer, Facts
from book.markdown import anchor, block, code, dropdown, joined, plain, raw
from book.wording import Said, Say, in_english

__all__ = ["exercise_box", "exercise_link", "points", "question_box"]

_HINTS = {"nudge": Said.NUDGE, "idea": Said.IDEA, "outline": Said.OUTLINE}


def exercise_box(facts: Facts, source: ExerciseSource, report: str, say: Say = in_english) -> str:
    """Return the box of an exercise, as MyST Markdown.

    Args:
        facts: The course.
        source: The exercise's stub and reference.
        report: What the check says of the reference, as HTML.
        say: Says the titles in the page's language.
    """
    exercise = source.exercise
    parts = [
        _worth(facts, exercise, say),
        code(source.stub_cell),
        _checks(facts, exercise, report, say),
        *_hints(facts, exercise, say),
        dropdown(say(Said.SOLUTION), _solution(facts, source, say), kind="solution"),
    ]
    title = say(Said.EXERCISE, id=exercise.id, points=points(exercise.points, say))
    label = anchor("exercise", exercise.id)
    return f"({label})=\n" + block("admonition", title, joined(parts), **{"class": "exercise"})


def question_box(asked: str, model: str, say: Say = in_english) -> str:
    """Return the box of a question that a person marks.

    Args:
        asked: The cell that asks.
        model: What a good answer says, markers included; empty if the author left it out.
        say: Says the titles in the page's language.
    """
    answer = without_markers(model).strip("\n")
    folded = dropdown(say(Said.GOOD_ANSWER), answer, kind="solution") if answer else ""
    question = asked.removeprefix(f"{ASKS} ").rpartition("\n\n*Your answer")[0]
    return block("admonition", say(Said.QUESTION), joined([question, folded]), **{"class": "question"})


def exercise_link(exercise: str) -> str:
    """Return a link to the box of an exercise."""
    return f"[`{exercise}`](#{anchor('exercise', exercise)})"


def points(number: float, say: Say = in_english) -> str:
    """Return a number of points in words.

    >>> points(1), points(2.5)
    ('1 point', '2.5 points')
    """
    return say(Said.ONE_POINT) if number == 1 else say(Said.POINTS, number=f"{number:g}")


def _worth(facts: Facts, exercise: Exercise, say: Say) -> str:
    groups = ", ".join(f"{name.replace('_', ' ')} {worth:g}" for name, worth in exercise.groups.items())
    needs = ", ".join(map(exercise_link, facts.needs[exercise.id]))
    builds = f" {say(Said.BUILDS_ON, exercises=needs)}" if needs else ""
    return say(Said.GROUPS, groups=groups) + builds


def _checks(facts: Facts, exercise: Exercise, report: str, say: Say) -> str:
    checks = facts.checks(exercise.id)
    listed = "\n".join(f"- {plain(each.says.partition(chr(10))[0])}" for each in checks)
    text = "\n\n\n".join(each.code.rstrip() for each in checks)
    said = joined([say(Said.REPORT), raw(report)]) if report else ""
    parts = [say(Said.ASKS, id=exercise.id), listed, said, dropdown(say(Said.CODE_OF_CHECKS), code(text))]
    return dropdown(say(Said.CHECKS, count=len(checks)), joined(parts), kind="visible-checks")


def _hints(facts: Facts, exercise: Exercise, say: Say) -> Iterable[str]:
    hints = facts.hints.get(exercise.id, {})
    return [dropdown(say(title), hints[tier], kind="hint") for tier, title in _HINTS.items() if tier in hints]


def _solution(facts: Facts, source: ExerciseSource, say: Say) -> str:
    exercise = source.exercise
    return joined(
        [
            code(without_markers(source.reference)),
            *_variants(facts.variants(exercise.id), say),
            *_mistakes(exercise, facts.wrong(exercise.id), say),
        ]
    )


def _variants(variants: list[Answer], say: Say) -> Iterable[str]:
    if variants:
        yield say(Said.VARIANTS)
    for each in variants:
        yield dropdown(plain(each.says.partition("\n")[0]), code(each.code), kind="variant")


def _mistakes(exercise: Exercise, wrong: list[Answer], say: Say) -> Iterable[str]:
    if not wrong:
        return
    yield say(Said.MISTAKES)
    yield "\n".join(
        f"- [{each.name.replace('-', ' ')}](#{anchor('wrong', exercise.id, each.name)}): {plain(each.says)}"
        for each in wrong
    )
