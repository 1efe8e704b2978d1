"""The exchange as `autograder serve` uses it: the newest hand-in of each student is taken in, and a page goes back.

Collecting and releasing are nbgrader's own steps, as the course's configuration sets them, taken for chosen students.
What is done follows from the times in `timestamp.txt`, which nbgrader copies from step to step, from the ledger, and
from the pages that lie in the exchange. Nothing else is kept.

The folder is looked at again and again, and no event of the kernel is waited for: those do not come from a network
file system, on which an exchange often lies.
"""

from __future__ import annotations

import datetime as dt
import filecmp
import hashlib
import html
import logging
import os
import secrets
import stat
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from autograder.classes.work import Work
from autograder.common.atomic import Aside
from autograder.common.files import put, write
from autograder.course import Course
from autograder.gradebook.exchange import GraftingCollect
from autograder.gradebook.settings import load_app
from autograder.grafting.collecting import handed_in_at
from autograder.reading.handed_in import SECRET
from autograder.reading.student_files import Unreadable, one_line, read_bytes
from autograder.results.ledger import read_entry

SETTLED = 10.0
"""Seconds after the last change of a folder at which it counts as whole, where nbgrader's last file is missing."""


@dataclass(frozen=True)
class HandIn:
    """One folder in the exchange, the newest of a student and assignment.

    Attributes:
        work: Whose, and of which assignment.
        name: The folder's name.
        when: The time in that name, in UTC without a zone, by which nbgrader orders them.
        arrived: The time of the folder's last change, which only this machine's clock gives.
    """

    work: Work
    name: str
    when: dt.datetime
    arrived: dt.datetime


class _Chosen(GraftingCollect):
    """`nbgrader collect --update` of some folders."""

    names: frozenset[str] = frozenset()

    def init_src(self) -> None:
        """Look for the newest folder of each student, and leave out those that were not chosen."""
        super().init_src()
        self.src_records = [each for each in self.src_records if each["filename"] in self.names]


class _Told(logging.Handler):
    """Keeps what nbgrader's steps say, so that a refusal has its reason, and passes each sentence on once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []
        self.new: list[str] = []
        self._seen: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a sentence."""
        sentence = one_line(record.getMessage())
        if "cheating attempt?" in sentence:  # `newest` leaves strangers out where students have Unix users
            return
        self.said.append(sentence)
        if sentence not in self._seen:
            self._seen.add(sentence)
            self.new.append(sentence)


class Inbox:
    """The exchange of one assignment.

    Args:
        course: The course.
        assignment: The assignment's name.
    """

    def __init__(self, course: Course, assignment: str) -> None:
        app = load_app(course.directory, assignment)
        self._course, self._assignment, self._coursedir = course, assignment, app.coursedir
        self._coursedir.assignment_id = assignment
        self._told = _Told()
        log = logging.getLogger(f"autograder.inbox.{assignment}")
        log.handlers, log.propagate = [self._told], False
        log.setLevel(logging.WARNING)
        self._collect: Any = _Chosen(coursedir=app.coursedir, parent=app)
        self._release: Any = ExchangeReleaseFeedback(coursedir=app.coursedir, parent=app)
        self._collect.log = self._release.log = log
        self._collect.update = True
        exchange = Path(self._collect.root, str(app.coursedir.course_id))
        self.folder, self._pages = exchange / "inbound", exchange / "feedback"
        self._collect.inbound_path = str(self.folder)
        self._records: dict[str, dict[str, Any]] = {}  # by name: to read a time out of each costs more than the rest

    def sentences(self) -> list[str]:
        """What nbgrader's steps said since the last call, each sentence once in all."""
        said, self._told.new = self._told.new, []
        return said

    # What came -------------------------------------------------------------------------------------------------

    def newest(self, names: Iterable[str]) -> list[HandIn]:
        """The newest whole hand-in of each student, as nbgrader would collect it.

        Args:
            names: The folders of the exchange.
        """
        own, before = f"+{self._assignment}+", self._records
        self._records = {
            name: before.get(name) or self._collect._path_to_record(str(self.folder / name))
            for name in names
            if own in name
        }
        excluded = set(str(self._coursedir.student_id_exclude).split(","))
        students: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for record in self._records.values():
            if self._is_ours(record) and record["username"] not in excluded:
                students[record["username"]].append(record)
        chosen = [self._collect._sort_by_timestamp(each)[:1] for each in students.values()]
        newest = [record for each in chosen for record in each]
        if self._collect._are_told_apart(newest):
            newest = self._collect._without_strangers(newest)
        found = (self._whole(record) for record in newest)
        return [each for each in found if each is not None]

    def is_own(self, student: str, name: str) -> bool:
        """Return whether a folder is the student's: others may make one that says the student's name."""
        record = {"username": student, "filename": name}
        return bool(self._collect._is_owners(record) or self._collect._is_collectors(record))

    def _is_ours(self, record: Mapping[str, Any]) -> bool:
        parts = record["filename"].rsplit("+", 3)
        return bool(record["username"]) and len(parts) > 2 and parts[1] == self._assignment

    def _whole(self, record: Mapping[str, Any]) -> HandIn | None:
        """A hand-in; None while nbgrader is still writing it, whose last file is the secret."""
        path = self.folder / record["filename"]
        try:
            status = path.lstat()
        except OSError:  # removed at this moment
            return None
        arrived = dt.datetime.fromtimestamp(status.st_ctime, dt.UTC)
        if not stat.S_ISDIR(status.st_mode):
            return None
        try:
            is_written = (path / SECRET).lstat().st_size > 0
        except OSError:
            is_written = False
        if not is_written and (dt.datetime.now(dt.UTC) - arrived).total_seconds() < SETTLED:
            return None
        return HandIn(Work(record["username"], self._assignment), record["filename"], record["timestamp"], arrived)

    def is_collected(self, hand_in: HandIn) -> bool:
        """Return whether this hand-in, or a newer one, is in the submitted tree."""
        there = handed_in_at(hand_in.work.folder(self._course.directory))
        return there is not None and there >= hand_in.when

    def is_current(self, hand_in: HandIn) -> bool:
        """Return whether this very hand-in is in the submitted tree: one that came another way counts for itself."""
        return handed_in_at(hand_in.work.folder(self._course.directory)) == hand_in.when

    def is_graded(self, hand_in: HandIn) -> bool:
        """Return whether this very hand-in is recorded: rows, files and ledger stand, of which the last comes last."""
        return self.is_current(hand_in) and self._recorded(hand_in.work) is not None

    def is_graded_for(self, hand_in: HandIn, student: str) -> bool:
        """Return whether a hand-in is recorded for a student of the group too, who may have joined since.

        What `sharing.hand_on` leaves are the same notebooks, perhaps with the student's own time.
        """
        own = Work(student, hand_in.work.assignment)
        return self.is_graded(hand_in) and self._recorded(own) == self._recorded(hand_in.work)

    def superseding(self, hand_in: HandIn) -> HandIn:
        """The hand-in that counts in place of this one, where something newer came another way; else this one."""
        there = handed_in_at(hand_in.work.folder(self._course.directory))
        return hand_in if there is None or there <= hand_in.when else replace(hand_in, when=there)

    def _recorded(self, work: Work) -> list[str] | None:
        """The hashes of the submitted notebooks; None unless they are recorded."""
        root, found = self._course.directory, []
        submitted, graded = work.folder(root), root / "autograded" / work.student / work.assignment
        if handed_in_at(submitted) != handed_in_at(graded):
            return None
        for lesson in self._course.assignments[self._assignment].lessons:
            entry = read_entry(root, work.student, work.assignment, lesson)
            try:
                found.append(hashlib.sha256((submitted / f"{lesson}.ipynb").read_bytes()).hexdigest())
            except OSError:
                return None
            if entry is None or entry.sha256 != found[-1] or entry.submission.ungraded:
                return None
        return found

    # nbgrader's steps ------------------------------------------------------------------------------------------

    def collect(self, hand_ins: Sequence[HandIn]) -> dict[HandIn, str]:
        """Take hand-ins in; return those that were not, each with the reason."""
        self._told.said.clear()
        self._coursedir.student_id = "*"
        self._collect.names = frozenset(each.name for each in hand_ins)
        why = "nbgrader did not collect it"
        try:
            self._collect.start()
        except (ExchangeError, OSError, SystemExit) as error:
            why = one_line(str(error)) or why
        return {each: self._reason(each, why) for each in hand_ins if not self.is_current(each)}

    def _reason(self, hand_in: HandIn, otherwise: str) -> str:
        names = (f"{hand_in.work.student}: ", f"{one_line(hand_in.name)}: ")
        return next((each for each in self._told.said if each.startswith(names)), otherwise)

    def release(self, students: Iterable[str]) -> dict[str, str]:
        """Put students' pages into the exchange; return those whose pages are not there, each with the reason."""
        failed = {}
        for student in students:
            self._coursedir.student_id = student
            try:
                self._release.start()
            except (ExchangeError, OSError) as error:
                failed[student] = f"the pages could not be handed out: {one_line(str(error))}"
        return failed

    def is_out(self, student: str) -> bool:
        """Return whether the pages of what a student handed in last lie in the exchange as they are in the course."""
        folder = self._course.directory / "feedback" / student / self._assignment
        own = Work(student, self._assignment).folder(self._course.directory) / SECRET
        try:
            secret = read_bytes(folder / SECRET, limit=1000).decode()
            if own.is_file() and read_bytes(own, limit=1000).decode() != secret:
                return False  # they are those of an earlier hand-in
            pages = {page: self._page(secret, page.stem) for page in folder.glob("*.html")}
            return bool(pages) and all(filecmp.cmp(page, out, shallow=False) for page, out in pages.items())
        except (OSError, Unreadable, UnicodeDecodeError):
            return False

    def say(self, hand_in: HandIn, sentence: str) -> None:
        """Let the pages of a hand-in that waits say so, until it is graded and they are replaced."""
        try:
            secret = read_bytes(self.folder / hand_in.name / SECRET, limit=1000).decode()
        except (Unreadable, UnicodeDecodeError):
            return
        if not secret:
            return
        self._release.init_dest()
        text = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(self._assignment)}</title>'
            f"<p>{html.escape(sentence)}</p></html>\n"
        )
        for lesson in self._course.assignments[self._assignment].lessons:
            write(self._page(secret, lesson), text)

    def _page(self, secret: str, lesson: str) -> Path:
        return self._pages / f"{notebook_hash(secret=secret, notebook_id=lesson)}.html"


def listed(folder: Path) -> list[str]:
    """The names in the exchange's folder of hand-ins; none before the first release.

    Raises:
        OSError: If it cannot be read.
    """
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def hand_in(folder: Path, student: str, assignment: str, files: Mapping[str, bytes]) -> Path:
    """Put a hand-in where `nbgrader submit` puts one: whole, with the time of this machine, or not at all.

    Args:
        folder: The exchange's folder of hand-ins.
        student: The student's id.
        assignment: The assignment's name.
        files: What is handed in, by name.

    Returns:
        The new folder.

    Raises:
        OSError: If the disk refuses.
    """
    time = f"{dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
    told = {"timestamp.txt": time.encode(), SECRET: secrets.token_hex(64).encode()}
    place = folder / f"{student}+{assignment}+{time}+{secrets.token_urlsafe(9)}"
    with Aside(folder) as aside:
        made = aside / "new"
        made.mkdir(0o700)
        for name, content in {**files, **told}.items():
            put(made / name, content)
        made.rename(place)
    return place
