"""Differences between two reports: the last report on each lesson is kept, and the next one says what has changed."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.common.files import write
from autograder.library.speaking import told
from autograder.results import Graded, Submission, format_points


@dataclass(frozen=True)
class Kept:
    """A report that was kept.

    Attributes:
        when: The time of grading.
        submission: The report.
    """

    when: dt.datetime
    submission: Submission


@dataclass(frozen=True)
class Change:
    """The change of one exercise.

    Attributes:
        exercise: The exercise's id.
        before: Its points the last time.
        after: Its points now.
        points: The points that it is worth now.
        won: Groups of tests that give their points now, and did not.
        lost: Groups of tests that gave their points, and do not now.
    """

    exercise: str
    before: float
    after: float
    points: float
    won: tuple[str, ...]
    lost: tuple[str, ...]


def keep(folder: Path, submission: Submission, when: dt.datetime) -> None:
    """Keep a report, in place of the last one on its lesson."""
    content = {"version": 1, "graded": when.isoformat(timespec="seconds"), "report": submission.as_json()}
    write(folder / f"{submission.lesson}.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_kept(folder: Path, lesson: str) -> Kept | None:
    """Return the last report on a lesson; None if there is none, or the file is damaged."""
    try:
        content = json.loads((folder / f"{lesson}.json").read_text(encoding="utf-8"))
        return Kept(dt.datetime.fromisoformat(content["graded"]), Submission.from_json(content["report"]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def diff(old: Submission, new: Submission) -> Iterator[Change]:
    """Yield the exercises whose groups give other points than before.

    Every name comes from the new report: the old one lay in a student's folder.
    """
    before = {graded.exercise: graded for graded in old.exercises}
    for now in new.exercises:
        then = before.get(now.exercise)
        if then is None:
            continue
        had, has = _full_groups(then), _full_groups(now)
        won = tuple(group.name for group in now.groups if group.name in has - had)
        lost = tuple(group.name for group in now.groups if group.name in had - has)
        if won or lost:
            yield Change(now.exercise, then.earned, now.earned, now.points, won, lost)


def _full_groups(graded: Graded) -> set[str]:
    return {group.name for group in graded.groups if group.points and group.earned == group.points}


def sentences(kept: Kept | None, new: Submission) -> list[str]:
    """Return what has changed since the last report, a line for each exercise; nothing where there is no last one."""
    if kept is None:
        return []
    when = kept.when.astimezone().strftime("%Y-%m-%d %H:%M")
    changes = list(diff(kept.submission, new))
    if not changes:
        return [told(f"Since the last time ({when}): nothing has changed.")]
    arrow = f"{format_points(kept.submission.earned)} → {format_points(new.earned)}"
    head = told(f"Since the last time ({when}): {arrow} of {format_points(new.points)} points")
    return [head, *map(_line, changes)]


def _line(change: Change) -> str:
    arrow = f"{format_points(change.before)} → {format_points(change.after)}"
    parts = [told(f"{change.exercise}: {arrow} of {format_points(change.points)} points")]
    parts += [told(f"won: {', '.join(change.won)}")] if change.won else []
    parts += [told(f"lost: {', '.join(change.lost)}")] if change.lost else []
    return "; ".join(parts)
