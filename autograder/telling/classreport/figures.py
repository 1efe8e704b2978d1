"""Figures about a class, from the ledger alone."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.results import NOT_BEGUN, Graded, Verdict
from autograder.results.ledger import Entry

BINS = 10
_NOT_ISOLATED = "not isolated"
# What no mistake does: someone spoke the sandbox's own language.
_FORGED = re.compile(r"\bforged\b|not a reply")
# Which cell it was says less than what happened, and makes each event a kind of its own. ("solution of": older results)
_LABEL = re.compile(r"^((?:answer to|solution of) \S+|(setup|added) cell \d+): ")
# A forgery is told twice, of the cell and of the exercise that it spoilt.
_TWICE = re.compile(r"^it forged an answer: (?=the session's process )")
_OF_THE_SESSION = re.compile(r"^the session's process wrote ")

FAILING = 0.5
"""An exercise that was tried fails below this share of its points."""

NEARLY_ALL = 0.8
"""A student who fails this share of what was tried tells little about single mistakes."""

MANY = 3
"""So many failing exercises, if they are most of those that were tried, make a student stuck."""


@dataclass(frozen=True)
class Distribution:
    """The marks of an assignment.

    Attributes:
        assignment: Its name.
        points: The points that it is worth; the most that anyone's notebooks were worth.
        shares: The share of the points of each student, sorted.
    """

    assignment: str
    points: float
    shares: tuple[float, ...]

    @property
    def counts(self) -> list[int]:
        """The number of students with each tenth of the points; full marks belong to the last."""
        counts = [0] * BINS
        for share in self.shares:
            # 0.3 * 10 is a little more than 3, and 0.7 * 10 a little less than 7 on some machines.
            counts[min(BINS - 1, max(0, int(share * BINS + 1e-9)))] += 1
        return counts

    @property
    def mean(self) -> float:
        """The mean share."""
        return statistics.fmean(self.shares)

    @property
    def median(self) -> float:
        """The share that half of the class does not exceed."""
        return statistics.median(self.shares)


@dataclass(frozen=True)
class ExerciseFigures:
    """A class's figures in an exercise.

    Attributes:
        exercise: Its id.
        points: The points that it is worth.
        full: Students with all points.
        part: Students with some.
        none: Students who tried and have none.
        untouched: Students who did not begin.
        mean: The mean share of the points over all of them; None where it is worth nothing.
        discrimination: Item-rest correlation; None where nothing varies.
    """

    exercise: str
    points: float
    full: int
    part: int
    none: int
    untouched: int
    mean: float | None
    discrimination: float | None

    @property
    def students(self) -> int:
        """The number of students who handed in its notebook."""
        return self.full + self.part + self.none + self.untouched


@dataclass(frozen=True)
class Mistake:
    """A mistake that several students made, or a test that they fail for reasons that are not known.

    Attributes:
        exercise: Where.
        name: The misconception, in kebab-case; or the test's title.
        students: Who.
        example: A failed test of one of them who is not set aside, if there is one: the smallest that a picture shows,
            else that of the first.
    """

    exercise: str
    name: str
    students: tuple[str, ...]
    example: Verdict


@dataclass(frozen=True)
class Contained:
    """Something that sandboxes had to contain.

    Attributes:
        event: The event.
        exercises: Where.
        students: The authors of the code.
    """

    event: str
    exercises: tuple[str, ...]
    students: tuple[str, ...]


@dataclass(frozen=True)
class Stuck:
    """Someone who may need help.

    Attributes:
        student: Who.
        assignment: In what.
        why: In a few words.
        earned: Points.
        points: Of so many.
        tried: How many exercises were begun.
        exercises: Of so many.
        failing: Those that were tried in vain.
    """

    student: str
    assignment: str
    why: str
    earned: float
    points: float
    tried: int
    exercises: int
    failing: tuple[str, ...]


def untouched(graded: Graded) -> bool:
    """Return whether an exercise was not begun."""
    return graded.reason in NOT_BEGUN


def _by_student(entries: Iterable[Entry]) -> dict[tuple[str, str], list[Entry]]:
    """The entries of each student in each assignment, by (assignment, student)."""
    found: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        found.setdefault((entry.assignment, entry.student), []).append(entry)
    return found


def distribution(entries: Iterable[Entry], assignment: str) -> Distribution:
    """The marks of an assignment's students."""
    own = [group for (name, _), group in _by_student(entries).items() if name == assignment]
    points = max((sum(entry.submission.points for entry in group) for group in own), default=0.0)
    earned = (sum(entry.submission.earned for entry in group) for group in own)
    return Distribution(assignment, points, tuple(sorted(_share(each, points) for each in earned)))


def _share(earned: float, points: float) -> float:
    return earned / points if points else 0.0


def exercises(entries: Iterable[Entry], assignment: str) -> list[ExerciseFigures]:
    """Difficulty and discrimination of an assignment's exercises, in the order of the notebooks.

    The discrimination of an exercise is the correlation, over the students, of its points with those of all other
    exercises of the assignment: with the exercise itself left out of the sum, or it would correlate with itself.

    Source: S. Henrysson, "Correction of item-total correlations in item analysis", Psychometrika 28 (1963), 211-218.
    """
    rows: dict[str, dict[str, Graded]] = {}
    lessons: dict[str, str] = {}
    for entry in entries:
        if entry.assignment == assignment:
            for graded in entry.submission.exercises:
                rows.setdefault(graded.exercise, {})[entry.student] = graded
                lessons.setdefault(graded.exercise, entry.lesson)
    totals: dict[str, float] = {}
    for row in rows.values():
        for student, graded in row.items():
            totals[student] = totals.get(student, 0.0) + graded.earned
    ordered = sorted(rows, key=lambda exercise: lessons[exercise])  # stable: within a lesson as in the notebook
    return [_figures(exercise, rows[exercise], totals) for exercise in ordered]


def _figures(exercise: str, row: Mapping[str, Graded], totals: Mapping[str, float]) -> ExerciseFigures:
    students = sorted(row)
    own = [row[student].earned for student in students]
    rest = [totals[student] - row[student].earned for student in students]
    points = max(graded.points for graded in row.values())
    begun = [graded for graded in row.values() if not untouched(graded)]
    full = sum(graded.full for graded in begun)
    part = sum(graded.earned > 0 and not graded.full for graded in begun)
    return ExerciseFigures(
        exercise,
        points,
        full,
        part,
        len(begun) - full - part,
        len(row) - len(begun),
        statistics.fmean(_share(graded.earned, graded.points) for graded in row.values()) if points else None,
        _correlation(own, rest),
    )


def _correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    try:
        return statistics.correlation(one, other)
    except statistics.StatisticsError:  # fewer than two students, or no difference between them
        return None


def set_aside(entries: Iterable[Entry]) -> frozenset[str]:
    """Students whose failures say little about single mistakes: who forged an answer, or fails nearly everything."""
    found = set()
    for (_, student), group in _by_student(entries).items():
        row = [graded for entry in group for graded in entry.submission.exercises]
        begun = [graded for graded in row if not untouched(graded)]
        failing = sum(graded.earned < FAILING * graded.points for graded in begun)
        forged = any(_FORGED.search(_kind(event)) for graded in row for event in graded.events)
        if forged or (len(begun) >= MANY and failing >= NEARLY_ALL * len(begun)):
            found.add(student)
    return frozenset(found)


def mistakes(entries: Sequence[Entry]) -> list[Mistake]:
    """Misconceptions that are known to fit what was seen, the most frequent first."""
    # `failures` leaves the name out where it is a guess.
    found = ((entry, graded, verdict, verdict.misconception) for entry, graded, verdict in _failures(entries))
    return _grouped(found, set_aside(entries))


def unexplained(entries: Sequence[Entry]) -> tuple[list[Mistake], list[Mistake]]:
    """Failed tests of answers that show no known mistake, the most frequent first: one mistake fails several tests.

    Returns:
        Those that anyone fails who is not set aside, and those that nobody else fails.
    """
    aside = set_aside(entries)
    failures = _failures(entries)
    unknown = (each for each in failures if not any(verdict.confirmed for verdict in each[1].failures))
    found = _grouped(((entry, graded, verdict, verdict.title) for entry, graded, verdict in unknown), aside)
    of_others = [each for each in found if not aside.issuperset(each.students)]
    return of_others, [each for each in found if aside.issuperset(each.students)]


def _failures(entries: Iterable[Entry]) -> Iterator[tuple[Entry, Graded, Verdict]]:
    for entry in entries:
        for graded in entry.submission.exercises:
            for verdict in graded.failures:
                yield entry, graded, verdict


def _grouped(found: Iterable[tuple[Entry, Graded, Verdict, str]], aside: frozenset[str]) -> list[Mistake]:
    def telling(pair: tuple[str, Verdict]) -> tuple[bool, bool, int, str]:
        return (pair[0] in aside, *_telling(pair))

    groups: dict[tuple[str, str], list[tuple[str, Verdict]]] = {}
    for entry, graded, verdict, name in found:
        if name:
            groups.setdefault((graded.exercise, name), []).append((entry.student, verdict))
    made = [
        Mistake(exercise, name, tuple(sorted({student for student, _ in group})), min(group, key=telling)[1])
        for (exercise, name), group in groups.items()
    ]
    return sorted(made, key=lambda each: (-len(each.students), each.exercise, each.name))


def _telling(found: tuple[str, Verdict]) -> tuple[bool, int, str]:
    """A key that puts the better example first: one that is drawn, then the smaller one, then by name."""
    student, verdict = found
    picture = verdict.example.picture if verdict.example is not None else None
    return (picture is None, len(json.dumps(picture)) if picture is not None else 0, student)


def stuck(entries: Iterable[Entry]) -> list[Stuck]:
    """Students who did not begin most of it, earn nothing, or try much in vain; the lowest mark first."""
    found = []
    for (assignment, student), group in sorted(_by_student(entries).items()):
        row = [graded for entry in group for graded in entry.submission.exercises]
        begun = [graded for graded in row if not untouched(graded)]
        failing = [graded for graded in begun if graded.earned < FAILING * graded.points]
        why = _why_stuck(group, row, begun, failing)
        if why:
            earned = sum(graded.earned for graded in row)
            points = sum(graded.points for graded in row)
            names = tuple(graded.exercise for graded in failing)
            found.append(Stuck(student, assignment, why, earned, points, len(begun), len(row), names))
    return sorted(found, key=lambda each: (each.assignment, _share(each.earned, each.points), each.student))


def _why_stuck(
    group: Sequence[Entry], row: Sequence[Graded], begun: Sequence[Graded], failing: Sequence[Graded]
) -> str:
    unreadable = [entry.lesson for entry in group if entry.submission.unreadable]
    if unreadable:
        return f"nothing could be read of {', '.join(unreadable)}"
    if not begun:
        return "nothing was begun"
    # Where everything was dropped nobody is stuck.
    if not any(graded.earned for graded in row) and any(graded.points for graded in row):
        return "tried, and has no point yet"
    if 2 * len(begun) < len(row):
        return "most of it was not begun"
    if len(failing) >= MANY and 2 * len(failing) > len(begun):
        return "tries, and most of it fails"
    return ""


def events(entries: Iterable[Entry]) -> list[Contained]:
    """The events that sandboxes had to contain; forgeries first, then those of most students."""
    found: dict[str, set[tuple[str, str]]] = {}
    for entry in entries:
        for graded in entry.submission.exercises:
            for event in graded.events:
                found.setdefault(_kind(event), set()).add((graded.exercise, entry.student))
    made = [
        Contained(event, tuple(sorted({name for name, _ in who})), tuple(sorted({student for _, student in who})))
        for event, who in found.items()
    ]
    return sorted(made, key=lambda each: (not _FORGED.search(each.event), -len(each.students), each.event))


def _kind(event: str) -> str:
    """The kind of an event, in the same words for every cell and exercise."""
    said = _TWICE.sub("", _LABEL.sub("", event))
    return _OF_THE_SESSION.sub("it forged an answer: the session's process wrote ", said)


def ungraded(entries: Iterable[Entry]) -> list[tuple[str, str, str]]:
    """Exercises at which the grader itself failed: student, exercise and what it said."""
    found = ((entry.student, graded) for entry in entries for graded in entry.submission.exercises)
    return sorted((student, graded.exercise, graded.reason) for student, graded in found if graded.is_ungraded)


def not_isolated(entries: Iterable[Entry]) -> list[tuple[str, str]]:
    """Marks that were made without a sandbox: student and lesson."""
    return sorted(
        (entry.student, entry.lesson)
        for entry in entries
        if any(note.startswith(_NOT_ISOLATED) for note in entry.submission.notes)
    )


def same_notebooks(
    entries: Iterable[Entry], author: Callable[[str, str], str] = lambda _, student: student
) -> list[tuple[str, tuple[str, ...]]]:
    """Notebooks that several students handed in the same, byte for byte: lesson and students, by lesson.

    A notebook in which nothing was begun counts for nothing, since it is the same for everyone.

    Args:
        entries: The results.
        author: The student, or the whole group, whose work a student's submission of an assignment is.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for entry in entries:
        if not all(untouched(graded) for graded in entry.submission.exercises):
            found.setdefault((entry.lesson, entry.sha256), set()).add(author(entry.assignment, entry.student))
    several = ((lesson, tuple(sorted(who))) for (lesson, _), who in found.items() if len(who) > 1)
    return sorted(several, key=lambda each: (each[0], -len(each[1]), each[1]))
