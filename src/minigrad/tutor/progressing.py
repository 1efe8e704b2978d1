"""A student's progress so far: what was checked, predicted and reached, as the working folder remembers it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minigrad import exercises
from minigrad.exercises.lesson_files import FOLDER, working_folder
from minigrad.exercises.paths import CoursePath, chosen
from minigrad.exercises.syllabus import in_hours, minutes_of
from minigrad.exercises.telling import Told, told
from minigrad.tutor import milestones, predicting
from minigrad.tutor.keeping import Part, now
from minigrad.tutor.progress_table import as_html

if TYPE_CHECKING:
    from minigrad.checks.runner import CheckReport

__all__ = [
    "FOLDER",
    "Done",
    "LessonProgress",
    "Progress",
    "asked",
    "next_exercise",
    "progress",
    "read",
    "record",
    "saw_hint",
    "saw_solution",
    "to_do",
    "was_graded",
    "working_folder",
]


@dataclass(frozen=True)
class Done:
    """The record of one exercise.

    Attributes:
        passed: Whether the last check passed.
        earned: The points that the last check showed.
        points: The points there are.
        checks: How often it was checked.
        hints: How many of its three hints were seen.
        last: The time of its last check in UTC, or nothing if there was none.
        live: When it was checked last in a running notebook, which may differ from the saved one.
        solution: How its solution was seen first: "after an attempt", "on request", or "" if it was not.
        graded: How often the hidden tests were run on it.
    """

    passed: bool = False
    earned: float = 0.0
    points: float = 0.0
    checks: int = 0
    hints: int = 0
    last: str = ""
    live: str = ""
    solution: str = ""
    graded: int = 0


def record(report: CheckReport, start: Path | None = None, *, live: bool = True) -> None:
    """Note the result of a check.

    Args:
        report: The check's report.
        start: The folder to look for the working folder from. By default the current one.
        live: Whether it was run in a notebook, and not on a saved file.
    """

    def changed(done: Done) -> Done:
        at = now()
        counted = replace(done, checks=done.checks + 1, last=at, live=at if live else done.live)
        return replace(counted, passed=report.passed, earned=report.earned, points=report.points)

    _change(report.exercise, changed, start)


def saw_hint(id: str, tier: int, start: Path | None = None) -> None:
    """Note that a hint was seen."""
    points = exercises.get(id).points

    def changed(done: Done) -> Done:
        return replace(done, points=done.points or points, hints=max(done.hints, tier))

    _change(id, changed, start)


def was_graded(id: str, start: Path | None = None) -> None:
    """Note that the hidden tests were run on an answer."""
    points = exercises.get(id).points
    _change(id, lambda done: replace(done, points=done.points or points, graded=done.graded + 1), start)


def saw_solution(name: str, how: str, start: Path | None = None) -> None:
    """Note that the solution of an exercise, or of a question, was seen; the first time counts.

    Args:
        name: The exercise's id or the question's name.
        how: "after an attempt" or "on request".
        start: The folder to look for the working folder from. By default the current one.
    """
    _change(name, lambda done: replace(done, solution=done.solution or how), start)


def read(start: Path | None = None) -> dict[str, Done]:
    """Return the records by exercise, or none where there is no working folder."""
    return _EXERCISES.read(start)


def _change(id: str, changed: Callable[[Done], Done], start: Path | None) -> None:
    _EXERCISES.change(id, lambda done: changed(done or Done()), start)


def _done(each: Mapping[str, Any]) -> Done:
    kinds: dict[str, Callable[[Any], Any]] = {"passed": bool, "earned": float, "points": float, "checks": int}
    kinds |= {"hints": int, "last": str, "live": str, "solution": str, "graded": int}
    done = Done(**{name: kind(each[name]) for name, kind in kinds.items() if name in each})
    if not 0.0 <= done.earned <= done.points or (done.live and dt.datetime.fromisoformat(done.live).tzinfo is None):
        raise ValueError("no such points, or no such time")
    return done


_EXERCISES = Part("exercises", _done)

_TOGETHER: Told = "together"


@dataclass(frozen=True)
class LessonProgress:
    """A lesson's share: how many of its exercises pass, the points they show, checks and hints, and what it takes."""

    lesson: str
    done: int
    exercises: int
    earned: float
    points: float
    checks: int
    hints: int
    minutes: int = 0

    @property
    def share(self) -> float:
        """The part of the points that is earned, from 0 to 1."""
        return self.earned / self.points if self.points else 0.0

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """Return a row of the table: exercises done, points, checks, hints, the whole time that it takes."""
        points = f"{self.earned:g}/{self.points:g}"
        time = f"{self.minutes // 60}:{self.minutes % 60:02}"
        return f"{self.done}/{self.exercises}", points, str(self.checks), str(self.hints), time


@dataclass(frozen=True)
class Progress:
    """All lessons. Jupyter shows them as a table.

    Attributes:
        lessons: A row for each lesson.
        folder: The working folder, if there is one.
        solutions: How each solution was seen, in the words of `Done.solution`.
        left: The minutes of the exercises that do not pass yet.
        core_left: Those of the core among them.
        path: The path that the folder follows, if it leaves anything out.
        predictions: How many predictions were right, and how many were answered.
        milestones: The sentences about the milestones that were reached.
    """

    lessons: tuple[LessonProgress, ...]
    folder: Path | None
    solutions: tuple[str, ...] = ()
    left: int = 0
    core_left: int = 0
    path: CoursePath | None = None
    predictions: tuple[int, int] = (0, 0)
    milestones: tuple[str, ...] = ()

    @property
    def total(self) -> LessonProgress:
        """All lessons together."""
        counts = [(e.done, e.exercises, e.earned, e.points, e.checks, e.hints, e.minutes) for e in self.lessons]
        done, count, earned, points, checks, hints, minutes = (sum(column) for column in zip(*counts, strict=True))
        return LessonProgress(_TOGETHER, int(done), int(count), earned, points, int(checks), int(hints), int(minutes))

    @property
    def note(self) -> str:
        """The sentence below the table about the source of its numbers."""
        if self.folder is None:
            return told("Nothing is recorded here: `minigrad start` makes a working folder, in which progress is kept.")
        said = "Points are those of the checks in the notebooks; hidden tests decide when the notebooks are graded."
        said += self._to_do
        if self.solutions:
            early = self.solutions.count("on request")
            said += f" Solutions seen: {len(self.solutions)}{f', {early} before an attempt' if early else ''}."
        if self.predictions[1]:
            said += " Predictions: {} of {} right.".format(*self.predictions)
        return told(said)

    @property
    def _to_do(self) -> str:
        """What there is to do, in hours, and of which path."""
        way = f' Your path is "{self.path.title}". {self.path.which_lessons}' if self.path else ""
        if not self.left:
            return way
        hours, of_core = in_hours(self.left), in_hours(self.core_left)
        core = self.core_left and not self.path
        return way + f" Exercises of about {hours} are left{f', {of_core} of them core' if core else ''}."

    def __repr__(self) -> str:
        heads: tuple[Told, ...] = ("lesson", "exercises", "points", "checks", "hints", "time")
        rows = [tuple(map(told, heads))]
        for each in (*self.lessons, self.total):
            rows.append((told(each.lesson), *each.cells))
        widths = [max(len(row[column]) for row in rows) for column in range(6)]
        aligned = ("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows)
        return "\n".join([*aligned, self.note, *self.milestones])

    def _repr_html_(self) -> str:
        return as_html(self)


def progress(start: Path | None = None) -> Progress:
    """Return how far you are: for each lesson the exercises that pass, their points, checks and hints seen."""
    known, path = read(start), chosen(start)
    minutes = {part.lesson: part.minutes for part in path.parts} if path else {}
    lessons: dict[str, list[exercises.Exercise]] = {}
    for exercise in asked(start):
        lessons.setdefault(exercise.lesson, []).append(exercise)
    rows = tuple(
        _row(lesson, placed, known, minutes.get(lesson, minutes_of(lesson))) for lesson, placed in lessons.items()
    )
    left, reached = to_do(known, start), milestones.reached(start)
    return Progress(
        rows,
        working_folder(start),
        tuple(done.solution for done in known.values() if done.solution),
        sum(each.minutes for each in left),
        sum(each.minutes for each in left if each.rank == "core"),
        path,
        predicting.counted(start),
        tuple(f"{at[:10]}  {told(milestones.TITLES[id])}: {page}" for id, (at, page) in reached.items()),
    )


def asked(start: Path | None = None) -> list[exercises.Exercise]:
    """Return the exercises that are asked for: those of the folder's path, else all of the course, in its order."""
    path = chosen(start)
    if path is not None:
        return [exercises.get(id) for id in path.exercises]
    return [each for each in exercises.catalogue().values() if not each.draft]


def to_do(known: Mapping[str, Done], start: Path | None = None) -> list[exercises.Exercise]:
    """Return the exercises that are asked for and do not pass by these records."""
    return [each for each in asked(start) if not known.get(each.id, Done()).passed]


def next_exercise(start: Path | None = None) -> exercises.Exercise | None:
    """Return the first exercise that does not pass, or None if all pass; without a working folder the first of all."""
    return next(iter(to_do(read(start), start)), None)


def _row(lesson: str, placed: list[exercises.Exercise], known: Mapping[str, Done], minutes: int) -> LessonProgress:
    done = [known.get(each.id, Done()) for each in placed]
    return LessonProgress(
        lesson,
        sum(each.passed for each in done),
        len(placed),
        # Of what a check showed, as a share: a later version of the course may give other points.
        round(sum(d.earned / d.points * e.points for d, e in zip(done, placed, strict=True) if d.points), 2),
        sum(each.points for each in placed),
        sum(each.checks for each in done),
        sum(each.hints for each in done),
        minutes,
    )
