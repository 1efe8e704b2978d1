"""Files that a course keeps and needs no longer: they can be made again, or have been handed in anew since.

No mark rests on them: `submitted/`, the ledger, results that wait to be recorded, the log of regradings and the
gradebook all stay.

A cached result says which tests, limits, library and grader it follows from. A result that today's would not ask for
may go.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.building.editions import EDITIONS
from autograder.common.atomic import remove
from autograder.course import Course
from autograder.grafting.tidying import ORIGINALS
from autograder.judging.judge import Judge
from autograder.reading.handed_in import every_file, is_notebook
from autograder.reading.student_files import Unreadable, without_outputs
from autograder.results.result_cache import follows_of

NEWEST = 2
"""Number of a student's submissions of an assignment that stay as they were handed in."""

KINDS = {
    "originals": f"submissions as they came, older than each student's newest {NEWEST}",
    "editions": "copies of the library that no exercise of today is graded with",
    "masters": "releases of closed assignments that nobody has handed in",
    "results": "kept results of other tests, limits, library or grader than today's",
}
"""The kinds of files that are looked for, each with a description."""

_ORIGINAL, _EDITION, _STAMP = re.compile("[0-9a-f]{12}"), re.compile("[0-9a-f]{16}"), re.compile("[0-9a-f]{6,64}")
_SAID = re.compile(rb'"stamp": *"([0-9a-f]{6,64})"')
_NOTEBOOKS = ("source", "release", "submitted", ORIGINALS, "exchange", "autograded")


@dataclass(frozen=True)
class Unneeded:
    """A file or a folder that may go.

    Attributes:
        path: Where it is.
        kind: One of `KINDS`.
        size: Bytes on the disk.
    """

    path: Path
    kind: str
    size: int


def unneeded(judge: Judge, today: dt.date) -> Iterator[Unneeded]:
    """Everything of a course that may go, kind by kind.

    Args:
        judge: The course's judge, which knows what results of today follow from.
        today: Masters stay until the day on which an assignment's answers are open.
    """
    course = judge.course
    needed = [judge.fingerprint.needed(exercise) for exercise in course.exercises.values()]
    found = {
        "originals": _originals(course),
        "editions": _editions(course, {edition for edition, _ in needed}),
        "masters": _masters(course, today),
        "results": _results(course, {follows for _, follows in needed}),
    }
    for kind, paths in found.items():
        for path in paths:
            yield Unneeded(path, kind, _size(path))


def discard(each: Unneeded) -> None:
    """Remove it, and its folder if nothing else is in there."""
    remove(each.path)
    if each.kind in ("masters", "results") and not any(each.path.parent.iterdir()):
        each.path.parent.rmdir()


def _originals(course: Course) -> Iterator[Path]:
    """All but the newest, of each student and assignment."""
    for place in sorted((course.directory / ORIGINALS).glob("*/*")):
        kept = [path for path in place.iterdir() if _is_folder(path) and _ORIGINAL.fullmatch(path.name)]
        newest_first = sorted(kept, key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)
        yield from newest_first[NEWEST:]


def _editions(course: Course, needed: set[str]) -> Iterator[Path]:
    for path in sorted((course.directory / EDITIONS).glob("*")):
        if _is_folder(path) and _EDITION.fullmatch(path.name) and path.name not in needed:
            yield path


def _masters(course: Course, today: dt.date) -> Iterator[Path]:
    """Of assignments for which nothing is taken any more: what no notebook was made from."""
    stamps: set[str] | None = None
    for path in sorted((course.directory / "masters").glob("*/*.ipynb")):
        lesson = course.lessons.get(path.stem)
        opens = course.assignments[lesson.assignment].answers_open if lesson is not None else None
        if opens is None or today < opens or not _STAMP.fullmatch(path.parent.name):
            continue
        if stamps is None:
            try:
                stamps = _stamps(course)
            except OSError:  # what cannot be looked into may be made from any of them
                return
        if path.parent.name not in stamps:
            yield path


def _stamps(course: Course) -> set[str]:
    """The stamps that the notebooks there claim to be made from; a student's may claim any, which keeps too much."""
    found = set[str]()
    for place in filter(Path.is_dir, (course.directory / name for name in _NOTEBOOKS)):
        for path in filter(is_notebook, every_file(place)):
            with contextlib.suppress(Unreadable):  # of such a one nothing is taken
                found.update(stamp.decode() for stamp in _SAID.findall(without_outputs(path)))
    return found


def _results(course: Course, needed: set[str]) -> Iterator[Path]:
    for path in sorted((course.directory / ".grades").glob("[0-9a-f][0-9a-f]/*.json")):
        if not path.name.startswith(".") and path.is_file() and follows_of(path) not in needed:
            yield path


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _size(path: Path) -> int:
    if not _is_folder(path):
        return path.lstat().st_size
    return sum(os.lstat(Path(top, name)).st_size for top, _, names in os.walk(path) for name in names)
