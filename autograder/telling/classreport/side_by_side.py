"""The section on answers that are unusually alike: both texts, side by side, and how unusual that is."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.telling.classreport.gather import ClassData
from autograder.telling.classreport.markup import Html, code, el, joined
from autograder.telling.likeness import Pair, pairs, same_text, uncompared
from autograder.telling.report import clean

__all__ = ["likeness_section"]

MOST_PAIRS = 30
"""Pairs of students that are shown; the rest is counted."""

Found = Sequence[tuple[str, Pair]]
"""The exercises that a pair of students has in common, with the likeness of their answers."""


def likeness_section(data: ClassData) -> Html:
    """The section's content."""
    by_students = _by_students(data)
    intro = el(
        "p",
        "Answers are compared without names, comments, layout and what the task gives out; forms that the "
        "reference, known answers or much of the class have do not count. A likeness can have many causes, such as "
        "work in pairs, one tutor or one page on the web: read both texts before you ask.",
    )
    parts = [intro]
    if data.unread:
        count = len(data.unread)
        what = "1 notebook was" if count == 1 else f"{count} notebooks were"
        parts.append(el("p", f"{what} changed since grading, and not compared."))
    parts += _too_long(data)
    if not by_students:
        return joined(*parts, el("p", "No two answers are unusually alike in this class."))
    parts += [_pair(students, found, data) for students, found in by_students[:MOST_PAIRS]]
    rest = len(by_students) - MOST_PAIRS
    if rest > 0:
        parts.append(el("p", f"and {rest} more pairs, which are less unusual", class_="dim"))
    return joined(*parts)


def _too_long(data: ClassData) -> list[Html]:
    """The students whose answers are too long to be compared, which nothing of a lesson needs."""
    found = [(who, exercise) for exercise in sorted(data.answers) for who in uncompared(data.answers[exercise])]
    if not found:
        return []
    count = "1 answer" if len(found) == 1 else f"{len(found)} answers"
    names = ", ".join(f"{clean(who)} ({exercise})" for who, exercise in found[:MOST_PAIRS])
    more = f" and {len(found) - MOST_PAIRS} more" if len(found) > MOST_PAIRS else ""
    return [el("p", f"{count} could not be compared: too long. Read what stands in them: {names}{more}.")]


def _by_students(data: ClassData) -> list[tuple[tuple[str, str], list[tuple[str, Pair]]]]:
    """Pairs of students with what they share, those with the most unusual likeness first."""
    found: dict[tuple[str, str], list[tuple[str, Pair]]] = {}
    for exercise in sorted(data.answers):
        for pair in pairs(data.answers[exercise], data.known.get(exercise, ())):
            found.setdefault((pair.one, pair.other), []).append((exercise, pair))
    return sorted(found.items(), key=lambda item: (-sum(pair.weight for _, pair in item[1]), item[0]))


def _pair(students: tuple[str, str], found: Found, data: ClassData) -> Html:
    one, other = map(clean, students)
    names = ", ".join(exercise for exercise, _ in found)
    summary = el("summary", el("strong", f"{one} and {other}"), f": {names}")
    shown = (_exercise(exercise, pair, data) for exercise, pair in found)
    return joined(el("details", summary, *shown), "\n")


def _exercise(exercise: str, pair: Pair, data: ClassData) -> Html:
    answers = data.answers[exercise]
    texts = [answers[pair.one], answers[pair.other]]
    said = (
        f"{pair.alike:.0%} of what tells these two answers from others is common to both: {pair.features} features, "
        f"each found in {pair.having:.1f} of {pair.answers} answers on average. "
        f"Of {pair.pairs:,} pairs it is the {_ordinal(pair.rank)} most unusual."
    )
    if same_text(*texts):
        said += " The two texts are the same to the letter, with names and comments."
    columns = (
        el("div", el("strong", clean(student)), code(text))
        for student, text in zip((pair.one, pair.other), texts, strict=True)
    )
    return joined(el("h3", exercise), el("p", said), el("div", *columns, class_="pair"))


def _ordinal(number: int) -> str:
    if number == 1:
        return "single"
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
