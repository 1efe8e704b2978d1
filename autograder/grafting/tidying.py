"""Make the submitted tree clean: what came by `nbgrader collect` is so already, what came another way is taken in.

A submission whose files could not all be kept among `originals/` stays there whole (`whole-*`), which no pruning
touches.

If SIGKILL ends a run while a submission lies aside, the next run puts it back in its place.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from autograder.common.atomic import PREFIX, Aside, sweep
from autograder.common.files import put
from autograder.course import Course, CourseError
from autograder.course.loading import load_course
from autograder.grafting.collecting import complete, is_clean, is_kept, refuse, take_in
from autograder.reading.student_files import one_line

ORIGINALS = "originals"

ASIDE = ".tidy-"
"""The beginning of the names of folders in which a submission lies aside."""

PLACE = "place"
"""The name of the file that says, in a folder aside, which submission lies there for a moment."""

_WHOLE = "whole-"  # a submission as it came, under a name that pruning takes for none of the older ones

_courses: dict[Path, tuple[tuple[int, int], Course]] = {}


def course_of(root: Path) -> Course:
    """The course of a directory, without looking at its lessons; read again only when its file has changed."""
    course = _courses.get(root)
    if course is not None:
        status = course[1].path.stat()
        if course[0] == (status.st_mtime_ns, status.st_size):
            return course[1]
    loaded = load_course(root, tree=False)
    status = loaded.path.stat()
    _courses[root] = ((status.st_mtime_ns, status.st_size), loaded)
    return loaded


def take_in_or_refuse(
    log: Any,
    student: str,
    course: Course,
    assignment: str,
    submission: Path,
    clean: Path,
    originals: Path,
    timestamp: str,
) -> list[str]:
    """Take a submission in; one that is stranger than anyone thought of becomes stubs, a reason and an error logged.

    Raises:
        OSError: If the disk refuses.
        CourseError: If the course is at fault.
    """
    try:
        return take_in(course, assignment, submission, clean, originals, timestamp)
    except (OSError, CourseError):
        raise
    except Exception as error:  # the class goes on, whatever one submission does
        what = f"the submission could not be taken in ({type(error).__name__}); it earns nothing until someone looks"
        log.error("%s: %s: %s", student, what, one_line(str(error)))
        refuse(course, assignment, submission, clean, originals, timestamp, what)
        return []


def tidy(root: Path, directory: Path) -> None:
    """Make a directory of the submitted tree clean, unless `collect` did so already, and complete."""
    student, assignment = directory.parent.name, directory.name
    course, log = course_of(root), logging.getLogger(__name__)
    originals = root / ORIGINALS / student / assignment
    if is_clean(directory, originals):
        said = complete(course, assignment, directory, originals)
    else:
        said = _make_clean(log, course, directory, originals)
    for sentence in said:
        log.warning("%s: %s", student, one_line(sentence))


def _make_clean(log: logging.Logger, course: Course, directory: Path, originals: Path) -> list[str]:
    """Put a clean tree in a submission's place; of one that was not kept file by file, the whole stays."""
    student, assignment = directory.parent.name, directory.name
    with Aside(directory.parent.parent, ASIDE) as aside:
        put(aside / PLACE, f"{student}/{assignment}".encode())
        taken = aside / "clean"
        said = take_in_or_refuse(log, student, course, assignment, directory, taken, originals, "")
        before = aside / "before"
        if not is_kept(directory, originals):
            before = _whole(aside, originals)
            place = f"{ORIGINALS}/{student}/{assignment}/{before.name}"
            said = [*said, f"not every file could be kept by itself: the submission lies in {place}, as it came"]
        try:
            directory.rename(before)
            taken.rename(directory)
            os.utime(before)  # what was handed in last counts as the newest
        finally:
            return_to(directory, aside, originals)
    return said


def _whole(aside: Path, originals: Path) -> Path:
    """The place where a submission stays whole: the folder aside tells it, so that it is found after a kill."""
    return originals / f"{_WHOLE}{aside.name.removeprefix(ASIDE)}"


def return_to(home: Path, aside: Path, originals: Path) -> None:
    """Bring a submission that was moved away back to its place, unless a clean one has taken it."""
    for before in (aside / "before", _whole(aside, originals)):
        if not home.exists() and before.is_dir():
            before.rename(home)


def put_back(submitted: Path) -> None:
    """Finish what `tidy` was at when its process was killed: a submission that lay aside is back in its place."""

    def rescue(aside: Path) -> None:
        place = aside / PLACE
        if place.is_file():
            student, _, assignment = place.read_text(encoding="utf-8").partition("/")
            originals = submitted.parent / ORIGINALS / student / assignment
            return_to(submitted / student / assignment, aside, originals)

    sweep(submitted.glob(f"{ASIDE}*"), rescue)


def clear_up(root: Path) -> None:
    """Put in order what runs have left that were killed: nothing lies aside but what another run is at.

    Args:
        root: The course's directory.
    """
    put_back(root / "submitted")
    sweep((root / "submitted").glob(f"*/{PREFIX}*"))
    sweep((root / ORIGINALS).glob(f"*/*/{PREFIX}*"))
    sweep((root / ".grades").rglob(f"{PREFIX}*"))
