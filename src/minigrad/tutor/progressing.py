"""A student's progress so far: `.minigrad/progress.json` in the working folder.

The working folder holds a `.minigrad`; `minigrad start` makes it. It is the current folder, else one in it, else the
nearest one around it. Without one nothing is recorded, nor while a grader is at work.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minigrad import exercises
from minigrad.exercises.lesson_files import FOLDER, PROGRESS, working_folders_in
from minigrad.machine.files import locked, write
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

_said = set[str]()  # what was said once in this session


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


def working_folder(start: Path | None = None) -> Path | None:
    """Return the working folder that a folder is, or holds, or lies in; None if there is none.

    Of several in a folder it is the one that was used last.
    """
    here = (start or Path.cwd()).resolve()
    if (here / FOLDER).is_dir():
        return here
    around = (each for each in here.parents if (each / FOLDER).is_dir())
    return next(itertools.chain(working_folders_in(here), around), None)


def record(report: CheckReport, start: Path | None = None, *, live: bool = True) -> None:
    """Note the result of a check.

    Args:
        report: The check's report.
        start: The folder to look for the working folder from. By default the current one.
        live: Whether it was run in a notebook, and not on a saved file.
    """

    def changed(done: Done) -> Done:
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        counted = replace(done, checks=done.checks + 1, last=now, live=now if live else done.live)
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
    folder = working_folder(start)
    if folder is None or _is_grading():
        return {}
    path = folder / FOLDER / PROGRESS
    try:
        return _read(path)
    except OSError as error:
        _say_once(f"Your progress in {path} could not be read: {error.strerror or error}.")
        return {}


def _is_grading() -> bool:
    return bool(os.environ.get("MINIGRAD_SANDBOX"))


def _change(id: str, changed: Callable[[Done], Done], start: Path | None) -> None:
    """Change the record of one exercise, if there is a working folder. A full disk costs no check."""
    folder = working_folder(start)
    if folder is None or _is_grading():
        return
    path = folder / FOLDER / PROGRESS
    try:
        with locked(path.with_suffix(".lock")):
            known = _read(path)
            known[id] = changed(known.get(id, Done()))
            write(path, _text(known).encode())
    except OSError as error:
        _say_once(f"Your progress could not be noted in {path}: {error.strerror or error}.")


def _text(known: Mapping[str, Done]) -> str:
    content = {"version": 1, "exercises": {id: asdict(done) for id, done in known.items()}}
    return json.dumps(content, indent=1) + "\n"


def _read(path: Path) -> dict[str, Done]:
    """Read a file of progress. A damaged file is set aside, not written over.

    Raises:
        OSError: If the file cannot be read. It may be whole.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return {}
    try:
        return {str(id): _done(each) for id, each in json.loads(text)["exercises"].items()}
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        now = dt.datetime.now(dt.UTC)
        aside = path.with_name(f"progress-damaged-{now:%Y%m%d-%H%M%S-%f}.json")
        try:
            path.rename(aside)
        except OSError:  # another program did
            return {}
        _say_once(f"The file of your progress could not be read: it is kept as {aside.name}, and a new one begins.")
        return {}


def _done(each: Mapping[str, Any]) -> Done:
    kinds: dict[str, Callable[[Any], Any]] = {"passed": bool, "earned": float, "points": float, "checks": int}
    kinds |= {"hints": int, "last": str, "live": str, "solution": str, "graded": int}
    done = Done(**{name: kind(each[name]) for name, kind in kinds.items() if name in each})
    if not 0.0 <= done.earned <= done.points or (done.live and dt.datetime.fromisoformat(done.live).tzinfo is None):
        raise ValueError("no such points, or no such time")
    return done


def _say_once(sentence: str) -> None:
    if sentence not in _said:
        _said.add(sentence)
        print(sentence)


@dataclass(frozen=True)
class LessonProgress:
    """A lesson's share: how many of its exercises pass, the points they show, checks and hints."""

    lesson: str
    done: int
    exercises: int
    earned: float
    points: float
    checks: int
    hints: int

    @property
    def share(self) -> float:
        """The part of the points that is earned, from 0 to 1."""
        return self.earned / self.points if self.points else 0.0

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Return a row of the table: exercises done, points, checks, hints."""
        return f"{self.done}/{self.exercises}", f"{self.earned:g}/{self.points:g}", str(self.checks), str(self.hints)


@dataclass(frozen=True)
class Progress:
    """All lessons. Jupyter shows them as a table.

    Attributes:
        lessons: A row for each lesson.
        folder: The working folder, if there is one.
        solutions: How each solution was seen, in the words of `Done.solution`.
    """

    lessons: tuple[LessonProgress, ...]
    folder: Path | None
    solutions: tuple[str, ...] = ()

    @property
    def total(self) -> LessonProgress:
        """All lessons together."""
        counts = [(e.done, e.exercises, e.earned, e.points, e.checks, e.hints) for e in self.lessons]
        done, count, earned, points, checks, hints = (sum(column) for column in zip(*counts, strict=True))
        return LessonProgress("together", int(done), int(count), earned, points, int(checks), int(hints))

    @property
    def note(self) -> str:
        """The sentence below the table about the source of its numbers."""
        if self.folder is None:
            return "Nothing is recorded here: `minigrad start` makes a working folder, in which progress is kept."
        said = "Points are those of the checks in the notebooks; hidden tests decide when the notebooks are graded."
        if self.solutions:
            early = self.solutions.count("on request")
            said += f" Solutions seen: {len(self.solutions)}{f', {early} before an attempt' if early else ''}."
        return said

    def __repr__(self) -> str:
        rows = [("lesson", "exercises", "points", "checks", "hints")]
        for each in (*self.lessons, self.total):
            rows.append((each.lesson, *each.cells))
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        aligned = ("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows)
        return "\n".join([*aligned, self.note])

    def _repr_html_(self) -> str:
        return as_html(self)


def progress(start: Path | None = None) -> Progress:
    """Return how far you are: for each lesson the exercises that pass, their points, checks and hints seen."""
    known = read(start)
    lessons: dict[str, list[exercises.Exercise]] = {}
    for exercise in asked():
        lessons.setdefault(exercise.lesson, []).append(exercise)
    rows = tuple(_row(lesson, placed, known) for lesson, placed in lessons.items())
    return Progress(rows, working_folder(start), tuple(done.solution for done in known.values() if done.solution))


def asked() -> list[exercises.Exercise]:
    """Return the exercises that the course asks for, in its order."""
    return [each for each in exercises.catalogue().values() if not each.draft]


def to_do(known: Mapping[str, Done]) -> list[exercises.Exercise]:
    """Return the exercises that do not pass by these records."""
    return [each for each in asked() if not known.get(each.id, Done()).passed]


def next_exercise(start: Path | None = None) -> exercises.Exercise | None:
    """Return the first exercise that does not pass, or None if all pass; without a working folder the first of all."""
    return next(iter(to_do(read(start))), None)


def _row(lesson: str, placed: list[exercises.Exercise], known: Mapping[str, Done]) -> LessonProgress:
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
    )
