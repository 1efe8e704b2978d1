"""Feedback pages of a class: the pages of `nbgrader generate_feedback`, made in parallel and as often as interrupted.

Each process has one exporter and one open gradebook. A student's pages are made aside and renamed into place together.
So SIGKILL never leaves a part of them, and the next run makes what is missing. A hash of everything that the pages
follow from is kept in `.grades/feedback`: notebooks, the ledger, the gradebook's rows, dates, templates and this code.
While it is the same, pages are not made again.

An error in one submission costs that student's pages alone.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import glob
import logging
import multiprocessing
import os
import re
import signal
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Self

from nbconvert.writers.files import FilesWriter
from nbgrader.api import MissingEntry
from nbgrader.converters import GenerateFeedback
from nbgrader.utils import find_all_files

from autograder.classes.worker import die_with
from autograder.common.atomic import PREFIX, Aside, sweep
from autograder.common.effort import Effort
from autograder.common.files import write
from autograder.course import CourseError
from autograder.gradebook.dates import Dates
from autograder.gradebook.diagnosing import refuse_an_unusable_gradebook
from autograder.gradebook.feedback import keep_open, rows_of
from autograder.gradebook.settings import load_app
from autograder.gradebook.tries import shown
from autograder.grafting.tidying import course_of
from autograder.reading.student_files import one_line
from autograder.results.ledger import LEDGER, entry_path
from autograder.results.result_cache import content_hash, hash_files

LONGEST = 60.0
"""Seconds of processor time that the pages of one student may cost; nearly all cost less than half of one."""

LOST = "the process that made the pages was ended, for lack of memory perhaps"
"""The problem of a student at whose pages a process was ended from outside."""

TICK = 1.0
"""Seconds after which a wait for pages looks at the clock again."""

STATES = Path(".grades", "feedback")
"""The folder of the hashes, in a course's directory."""

_HERE = Path(__file__).parents[1]
_CODE = ("common", "course", "gradebook", "grafting", "judging", "results", "telling")


@dataclass(frozen=True)
class Made:
    """The outcome for one student.

    Attributes:
        student: Who.
        pages: How many pages there are now.
        kept: Whether they were up to date.
        problem: Why they could not be made; empty if they could.
    """

    student: str
    pages: int = 0
    kept: bool = False
    problem: str = ""


class _Converter(GenerateFeedback):  # type: ignore[misc]  # nbgrader ships no types
    """nbgrader's own converter, which writes into another folder than `feedback`."""

    folder = ""

    @property
    def _output_directory(self) -> str:
        return self.folder


class ClassFeedback:
    """The feedback pages of one assignment.

    Args:
        root: The course's directory.
        assignment: The assignment's name.
        force: Whether to make pages again that are up to date.

    Raises:
        CourseError: If the gradebook is damaged.
    """

    def __init__(self, root: Path, assignment: str, *, force: bool = False) -> None:
        self.root, self.assignment, self._force = root.resolve(), assignment, force
        app = load_app(self.root, assignment)
        self._coursedir = app.coursedir
        self._coursedir.assignment_id = assignment
        refuse_an_unusable_gradebook(self._coursedir.db_url)
        logger = logging.getLogger("autograder.feedback")
        logger.setLevel(logging.ERROR)  # nbgrader says every notebook and every penalty
        self._converter: Any = _Converter(coursedir=self._coursedir, parent=app)
        self._converter.log = logger
        self._converter.writer = FilesWriter(parent=self._converter, config=self._converter.config)
        self._converter.exporter = self._converter.exporter_class(parent=self._converter, config=self._converter.config)
        for step in self._converter.preprocessors:
            self._converter.exporter.register_preprocessor(step)
        self._follows = self._of_all()

    def students(self) -> list[str]:
        """The students with graded notebooks whom the course's configuration does not leave out."""
        folder, everyone = self._coursedir.autograded_directory, "(?P<student>[^/]+)"
        pattern = re.compile(self._coursedir.format_path(folder, everyone, re.escape(self.assignment), escape=True))
        paths = glob.glob(self._coursedir.format_path(folder, "*", glob.escape(self.assignment)))
        found = {match["student"] for path in paths if (match := pattern.fullmatch(path))}
        return sorted(found - set(self._coursedir.student_id_exclude.split(",")))

    def make(self, students: Sequence[str], jobs: int) -> Iterator[Made]:
        """Make the pages of some students, and yield the outcome for each as it is finished.

        Args:
            students: Who; each has graded notebooks.
            jobs: How many processes.

        Raises:
            CourseError: If a process was ended from outside.
        """
        sweep((self.root / self._coursedir.feedback_directory).glob(f"{PREFIX}*"))
        with Makers({self.assignment: self}, jobs) as makers:
            for student in students:
                makers.add(self.assignment, student)
            while makers.busy:
                for _, made in makers.made(TICK):
                    if made.problem == LOST:
                        raise CourseError(f"{LOST}; the same command goes on, with --jobs 1 in less memory")
                    yield made

    # In each process ------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Ready a process of its own: its gradebook stays open."""
        os.chdir(self.root)
        self._gradebook: Any = keep_open(self._coursedir.db_url, self._coursedir.course_id)

    def one(self, student: str) -> Made:
        """Make the pages of one student, whatever is wrong with the submission."""
        try:
            with Effort(LONGEST, _TooLong).spent():
                return self._one(student)
        except _TooLong:
            return Made(student, problem=f"the pages took more than {LONGEST:g} s of the processor")
        except Exception as error:  # the class goes on, whatever one submission does
            said = one_line(str(error)) or type(error).__name__
            return Made(student, problem=said if isinstance(error, CourseError) else f"{type(error).__name__}: {said}")
        finally:
            self._gradebook.db.rollback()  # no lock is held, and no row is kept, from one student to the next

    def _one(self, student: str) -> Made:
        source = Path(self._path(self._coursedir.autograded_directory, student))
        notebooks = sorted(str(path) for path in source.glob("*.ipynb"))
        if not notebooks:
            raise CourseError("there is no graded notebook; grade again")
        state, place = self._state(student, source), self.root / STATES / self.assignment / f"{student}.txt"
        home = Path(self._path(self._coursedir.feedback_directory, student))
        wanted = {f"{Path(path).stem}.html" for path in notebooks}
        is_there = home.is_dir() and wanted <= {path.name for path in home.iterdir()}
        if is_there and not self._force and place.is_file() and place.read_text(encoding="utf-8").strip() == state:
            return Made(student, len(notebooks), kept=True)
        place.unlink(missing_ok=True)
        with Aside(self.root / self._coursedir.feedback_directory) as folder:
            self._convert(student, notebooks, folder)
            home.parent.mkdir(parents=True, exist_ok=True)
            if home.exists():
                home.rename(folder / "before")
            Path(self._path(str(folder), student)).rename(home)
        write(place, f"{state}\n")
        return Made(student, len(notebooks))

    def _convert(self, student: str, notebooks: Sequence[str], folder: Path) -> None:
        """Take nbgrader's steps for a submission."""
        converter = self._converter
        self._coursedir.student_id, converter.notebooks, converter.folder = student, list(notebooks), str(folder)
        converter.run_pre_convert_hook()
        converter.init_assignment(self.assignment, student)
        for notebook in converter.notebooks:
            converter.convert_single_notebook(notebook)
        converter.set_permissions(self.assignment, student)
        converter.run_post_convert_hook()

    def _path(self, folder: str, student: str) -> str:
        path: str = self._coursedir.format_path(folder, student, self.assignment)
        return path

    # States ---------------------------------------------------------------------------------------------------

    def _of_all(self) -> str:
        """A hash of what the pages of all students follow from, besides the day."""
        templates = [file for path in self._converter.exporter.template_paths for file in Path(path).glob("*.j2")]
        code = [file for name in _CODE for kind in ("py", "css") for file in sorted((_HERE / name).rglob(f"*.{kind}"))]
        own = [self.root / name for name in ("course.toml", "nbgrader_config.py")]
        files = hash_files([*(file for file in own if file.is_file()), *templates, *code])
        assignment, today = course_of(self.root).assignments[self.assignment], dt.date.today()
        opens = [day is None or day <= today for day in (assignment.quotes_open, assignment.examples_open)]
        versions = [version(each) for each in _PACKAGES]
        shows = repr(shown(Dates(course_of(self.root)), self.assignment))
        return content_hash({"files": files, "open": opens, "shows": shows, "versions": versions})

    def _state(self, student: str, source: Path) -> str:
        """A hash of everything that a student's pages follow from."""
        files = [Path(path) for path in sorted(find_all_files(str(source), self._coursedir.ignore))]
        ledger = entry_path(self.root, student, self.assignment, "_", LEDGER).parent
        files += sorted(ledger.glob("*.json"))
        try:
            submission = self._gradebook.find_submission(self.assignment, student)
        except MissingEntry as error:
            raise CourseError("the gradebook has nothing of this submission; grade again") from error
        late = str(Dates(course_of(self.root)).of(submission))
        rows = {each.name: repr(rows_of(self._gradebook, each)) for each in submission.notebooks}
        return content_hash({"all": self._follows, "files": hash_files(files), "late": late, "rows": rows})


_PACKAGES = ("beautifulsoup4", "bleach", "latex2mathml", "mistune", "nbconvert", "nbgrader", "pygments")


class _TooLong(BaseException):  # libraries take an Exception for their own
    """The pages of a student take too long."""


@dataclass
class _Maker:
    """The owner's end of a process that makes pages."""

    process: BaseProcess
    connection: Connection
    at: tuple[str, str] | None = None


@dataclass
class Makers:
    """Processes that make pages while their owner goes on; each has one exporter and one open gradebook.

    Args:
        feedback: The pages, by the name of the assignment.
        size: How many processes.
    """

    feedback: Mapping[str, ClassFeedback]
    size: int
    _makers: list[_Maker] = field(default_factory=list)
    _waiting: deque[tuple[str, str]] = field(default_factory=deque)

    def __enter__(self) -> Self:
        try:
            for _ in range(self.size):
                self._makers.append(self._start())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for maker in self._makers:
            maker.process.kill()  # what it was making lies aside
        for maker in self._makers:
            maker.process.join()
            maker.connection.close()

    def _start(self) -> _Maker:
        context = multiprocessing.get_context("fork")  # exporter and templates are there already
        ours, theirs = context.Pipe()
        process = context.Process(target=_make, args=(self.feedback, theirs, os.getpid()), daemon=True)
        process.start()
        theirs.close()
        return _Maker(process, ours)

    @property
    def busy(self) -> bool:
        """True if pages are still to be made."""
        return bool(self._waiting) or any(maker.at for maker in self._makers)

    def add(self, assignment: str, student: str) -> None:
        """Let the pages of a student, who has graded notebooks, be made."""
        self._waiting.append((assignment, student))
        self._feed()

    def _feed(self) -> None:
        for maker in self._makers:
            if maker.at is None and self._waiting:
                maker.at = self._waiting.popleft()
                with contextlib.suppress(OSError):  # it is gone, which `made` finds out
                    maker.connection.send(maker.at)

    def made(self, seconds: float = 0.0) -> list[tuple[str, Made]]:
        """The assignment and the outcome of each student who was finished since the last call.

        Args:
            seconds: How long to wait for the first one.
        """
        found = []
        by_connection = {maker.connection: maker for maker in self._makers if maker.at}
        for connection in wait(list(by_connection), seconds):
            maker = by_connection[connection]  # type: ignore[index]  # nothing else is waited for
            assert maker.at is not None
            assignment, student = maker.at
            maker.at = None
            try:
                found.append((assignment, maker.connection.recv()))
            except (EOFError, OSError):
                maker.process.join()
                maker.connection.close()
                self._makers[self._makers.index(maker)] = self._start()
                found.append((assignment, Made(student, problem=LOST)))
        self._feed()
        return found


def _make(feedback: Mapping[str, ClassFeedback], connection: Connection, owner: int) -> None:
    """Make pages until this process is ended: Ctrl-C reaches all of them, and is the owner's to answer."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(owner)
    for each in feedback.values():
        each.begin()
    while True:
        assignment, student = connection.recv()
        connection.send(feedback[assignment].one(student))
