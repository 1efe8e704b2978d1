"""The exchange, through which a class hands in: collecting into a clean tree, and releasing with the dates of today.

`nbgrader_hooks.configure` puts these parts in the place of nbgrader's own.
"""

from __future__ import annotations

import datetime as dt
import os
import pwd
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseAssignment
from traitlets.log import get_logger

from autograder.common.atomic import Aside
from autograder.common.unforeseen import unforeseen
from autograder.course import CourseError
from autograder.gradebook.dates import put_dates
from autograder.gradebook.settings import gradebook_url
from autograder.grafting.tidying import ORIGINALS, clear_up, course_of, take_in_or_refuse
from autograder.reading.snapshot import snapshot
from autograder.reading.student_files import is_id, one_line

MOMENT = dt.timedelta(minutes=10)
"""The longest time that handing in takes, from the time in a folder's name to the last file in it."""


def exchange_of(root: Path) -> Path:
    """Return the exchange that course.toml names; without one a folder beside it, made where there is none yet."""
    try:
        named = course_of(root).exchange
    except CourseError:  # nbgrader would drop this whole configuration; its own steps say what is wrong
        named = None
    if named is not None:
        return named
    folder = root / "exchange"
    if not folder.is_dir():
        folder.mkdir()
        folder.chmod(0o777)  # nbgrader makes it so at the first release, with a warning
    return folder


class GraftingCollect(ExchangeCollect):  # type: ignore[misc]  # nbgrader ships no types
    """`nbgrader collect`, into a clean tree.

    Everybody may make folders in the exchange, and their names say whose they are and when they were handed in. So a
    name that cannot be read is left out, a folder counts for the student who owns it, and a time that the folder itself
    contradicts is told.
    """

    src_records: list[dict[str, Any]]

    def copy_files(self) -> None:
        """Take all submissions in; one that the disk refuses does not keep the others out."""
        clear_up(Path(self.coursedir.root))
        with told():
            put_dates(course_of(Path(self.coursedir.root)), self.coursedir.db_url, [self.coursedir.assignment_id])
        self.failed: list[str] = []
        records = [each for each in self.src_records if each["username"]]
        self.src_records = self._without_strangers(records) if self._are_told_apart(records) else records
        for record in self.src_records:
            self._doubt_the_time(record)
        super().copy_files()
        if self.failed:
            self.fail(f"could not be collected: {', '.join(self.failed)}")

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Read a folder's name; one that says nobody's name, or no time, is told and nobody's."""
        try:
            found: dict[str, Any] = super()._path_to_record(path)
            if not is_id(found["username"]):
                raise ValueError("it names no student")
        except (Exception, SystemExit) as error:  # whatever a text that is no time makes dateutil raise
            self.log.error("%s: was left out of the exchange's folders: %s", one_line(Path(path).name), error)
            found = {"username": "", "filename": Path(path).name, "timestamp": dt.datetime.min}
        return found

    def _sort_by_timestamp(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """A student's folders, the newest first; another user's count only where none is the student's own.

        What `autograder serve` has put there for a student is the student's own.
        """
        own = self._are_told_apart(records) and any(
            self._is_owners(each) or self._is_collectors(each) for each in records
        )
        found: list[dict[str, Any]] = super()._sort_by_timestamp(self._without_strangers(records) if own else records)
        return found

    def _are_told_apart(self, records: list[dict[str, Any]]) -> bool:
        """Return whether students have Unix users here: one is named, or a folder belongs to the user whom it names."""
        return any(_is_user(each["username"]) or self._is_owners(each) for each in records)

    def _is_owners(self, record: dict[str, Any]) -> bool:
        """Return whether a folder belongs to the user whom its name says; a link belongs to whoever made it."""
        try:
            owner = pwd.getpwuid(self._owner(record)).pw_name
        except (KeyError, OSError):
            return False
        return bool(owner == record["username"])

    def _is_collectors(self, record: dict[str, Any]) -> bool:
        """Return whether a folder belongs to whoever collects: `autograder serve` has put it there for a student."""
        try:
            return self._owner(record) == os.geteuid()
        except OSError:
            return False

    def _owner(self, record: dict[str, Any]) -> int:
        return os.stat(os.path.join(self.inbound_path, record["filename"]), follow_symlinks=False).st_uid

    def _without_strangers(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if not self.check_owner:
            return records
        strangers = [record for record in records if not self._is_owners(record) and not self._is_collectors(record)]
        for record in strangers:
            self.log.error(
                "%s: was left out: it belongs to another user than its name says; if that is meant, set "
                "c.ExchangeCollect.check_owner = False",
                one_line(record["filename"]),
            )
        return [record for record in records if record not in strangers]

    def _doubt_the_time(self, record: dict[str, Any]) -> None:
        """Tell of a folder that is in time by its name, and was changed after the due date."""
        try:
            changed = os.stat(os.path.join(self.inbound_path, record["filename"])).st_ctime
        except OSError:
            return
        when = dt.datetime.fromtimestamp(changed, dt.UTC).replace(tzinfo=None)
        if self.duedate is not None and record["timestamp"] <= self.duedate < when - MOMENT:
            self.log.warning(
                "%s: is in time by its name, which whoever hands in can choose; the folder was changed at %s UTC",
                one_line(record["filename"]),
                f"{when:%Y-%m-%d %H:%M}",
            )

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Take one submission in; the original stays under `originals/`."""
        clean, submission = Path(dest), Path(src)
        student, assignment = clean.parent.name, clean.name
        originals = Path(self.coursedir.root, ORIGINALS, student, assignment)
        timestamp = f"{self._path_to_record(src)['timestamp']} UTC"
        course = course_of(Path(self.coursedir.root))
        try:
            with Aside(clean.parent) as aside:
                copy = aside / submission.name
                snapshot(submission, copy)
                notes = take_in_or_refuse(self.log, student, course, assignment, copy, clean, originals, timestamp)
        except Exception as error:  # the class goes on, whatever one submission does
            said = error if isinstance(error, OSError | CourseError) else unforeseen("it", error)
            self.log.error("%s: could not be collected: %s", student, said)
            self.failed.append(student)
        else:
            for sentence in notes:
                self.log.warning("%s: %s", student, one_line(sentence))


@contextmanager
def told() -> Iterator[None]:
    """End nbgrader's command with one sentence where course.toml or the gradebook is wrong.

    nbgrader logs what a hook raises with its traceback, and goes on; it does not catch SystemExit.
    """
    try:
        yield
    except CourseError as error:
        get_logger().critical("%s", error)
        raise SystemExit(1) from error


def _is_user(name: str) -> bool:
    """Return whether this machine has a Unix user of that name."""
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


class DatedRelease(ExchangeReleaseAssignment):  # type: ignore[misc]  # nbgrader ships no types
    """`nbgrader release_assignment`, with the dates of today in the gradebook."""

    def copy_files(self) -> None:
        """Release the files."""
        with told():
            course = course_of(Path(self.coursedir.root))
        super().copy_files()
        with told():
            put_dates(course, self.coursedir.db_url, [self.coursedir.assignment_id])


def dater(root: Path) -> Callable[..., None]:
    """A hook of `nbgrader generate_assignment` that puts the assignment's due date into the gradebook."""

    def hook(assignment: str, student: str, notebooks: list[str]) -> None:
        with told():
            course = course_of(root)
            put_dates(course, gradebook_url(course), [assignment])

    return hook
