"""Delete everything that a course's folder keeps of a student.

A student's data lie in many places: `KeptData.of` lists them in the order of deletion. `submitted/` and the gradebook
come late and the ledger last, so that the student is still known after a run that was killed: the same command goes on.
Nothing that was deleted is made again, since no submission is left to be graded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from glob import escape
from pathlib import Path
from typing import Any

from autograder.common.atomic import PREFIX, remove, sweep
from autograder.common.files import rewrite, write
from autograder.course import Course
from autograder.course.classlist import read_class_list
from autograder.course.extensions import read_extensions, write_extension
from autograder.forgetting import rows, tables
from autograder.forgetting.mentions import Mentions, tells
from autograder.gradebook.archive_times import keep_marked_late, marked_late
from autograder.gradebook.class_feedback import STATES
from autograder.gradebook.settings import load_app
from autograder.gradebook.tokens import FILE, Tokens
from autograder.grafting.tidying import ORIGINALS, clear_up
from autograder.grafting.written import Marks
from autograder.lti import keeping
from autograder.reading.handed_in import SECRET
from autograder.results.ledger import LEDGER, WAITING, student_folders
from autograder.results.regrade_log import LOG, students_of, without

__all__ = ["Kept", "KeptData", "Person"]

AUTHORS = ("lessons", "hints", "locale", "templates", "source", "release", "masters", ".cache", ".git")
"""Folders of a course that hold what authors wrote, and no student's data."""


@dataclass(frozen=True)
class Person:
    """A student, with the names that the gradebook has.

    Attributes:
        id: nbgrader's student id.
        first_name: Empty where the gradebook has none, like the next three.
        last_name: The last name.
        email: The address.
        lms_id: The number in the learning management system.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""

    @property
    def names(self) -> list[str]:
        """The texts by which files may name the student."""
        first, last = self.first_name, self.last_name
        both = [f"{first} {last}", f"{last}, {first}", first + last, last + first] if first and last else []
        return [name for name in (self.id, self.email, self.lms_id, *both) if name]


@dataclass(frozen=True)
class Kept:
    """Data of one kind that are kept of a student.

    Attributes:
        what: The kind, in words.
        where: The file or folder.
        count: Number of files, rows or lines.
        discard: Deletes them; it may be called again.
    """

    what: str
    where: Path
    count: int
    discard: Callable[[], object]


class KeptData:
    """The places of a course in which students' data are kept.

    Args:
        course: The course. What runs have left that were killed is put in order first.

    Raises:
        CourseError: If the gradebook, or the file of extensions, groups or sections cannot be read.
    """

    def __init__(self, course: Course) -> None:
        from nbgrader.exchange.default import Exchange  # loads all of nbgrader

        self._course, self.root = course, course.directory.resolve()
        app = load_app(self.root, next(iter(course.assignments)))
        self._coursedir: Any = app.coursedir
        self.exchange = Path(Exchange(coursedir=app.coursedir, parent=app).root, app.coursedir.course_id)
        self._gradebook = rows.Rows(course, app.coursedir.db_url, app.coursedir.course_id)
        self._cache = self.root / ".grades"
        clear_up(self.root)
        sweep((self.root / self._coursedir.autograded_directory).glob(f"{PREFIX}*"))

    # People ---------------------------------------------------------------------------------------------------

    @cached_property
    def people(self) -> dict[str, Person]:
        """Every student of whom something is kept, by id."""
        named = {each.id: Person(*each) for each in self._gradebook.students()}
        return {student: named.get(student, Person(student)) for student in sorted({*named, *self._ids()})}

    def _ids(self) -> Iterator[str]:
        for step in self._steps:
            yield from (path.name for path in _content(self.root / step) if path.is_dir())
        for place in (LEDGER, WAITING, Marks.FOLDER):
            yield from (student for student, _ in student_folders(self.root, place))
        for folder in _content(self.exchange / "inbound"):
            yield folder.name.partition("+")[0]
        for students in read_extensions(self.root).values():
            yield from students
        for assignment in self._course.assignments:
            yield from marked_late(self.root, assignment)
        yield from read_class_list(self._course).students
        yield from students_of(self.root)
        yield from keeping.students_of(self.root)
        yield from Tokens(self.root).students()

    @property
    def _steps(self) -> tuple[str, ...]:
        """The folders that hold a folder for each student, in the order of deletion."""
        coursedir = self._coursedir
        return (coursedir.feedback_directory, coursedir.autograded_directory, ORIGINALS, coursedir.submitted_directory)

    # Places ---------------------------------------------------------------------------------------------------

    def of(self, person: Person) -> list[Kept]:
        """Everything that is kept of a student by name, in the order of deletion."""
        return [each for each in self._all_of(person) if each.count]

    def _all_of(self, person: Person) -> Iterator[Kept]:
        yield from self._in_the_exchange(person.id)
        yield from self._in_tables(person)
        yield from self._on_pages(person)
        yield from self._beside_dates(person.id)
        yield from self._in_the_log(person.id)
        yield self._sent_to_the_platform(person.id)
        yield self._among_the_tokens(person.id)
        yield _files(
            "hashes of feedback pages", self.root / STATES, (self.root / STATES).glob(f"*/{escape(person.id)}.txt")
        )
        yield from self._folders(person.id)
        yield self._in_the_gradebook(person.id)
        yield from self._in_the_ledger(person.id)

    def results(self) -> Kept:
        """The kept results of the whole class: a hash does not tell whose each is. They are made again when needed."""
        found = self._cache.glob("[0-9a-f][0-9a-f]/*.json")
        return _files("kept results of the whole class, without names", self._cache, found)

    def delete(self, person: Person) -> None:
        """Delete everything that is kept of a student.

        The gradebook's file is cleaned also where it has no row of the student any more.
        """
        self.results().discard()
        for each in self._all_of(person):
            if each.count or each.where == self._gradebook.path:
                each.discard()

    def _in_the_exchange(self, student: str) -> Iterator[Kept]:
        """Feedback first: the secrets that name its pages stand in the submissions."""
        from nbgrader.utils import notebook_hash

        handed_in = [path for path in _content(self.exchange / "inbound") if path.name.partition("+")[0] == student]
        own = [self.root / step / student for step in self._steps]
        told = [path for folder in own for depth in ("*", "*/*") for path in folder.glob(f"{depth}/{SECRET}")]
        told += [path / SECRET for path in handed_in]
        secrets = {path.read_text(encoding="utf-8", errors="replace") for path in told if path.is_file()}
        pages = [
            self.exchange / "feedback" / f"{notebook_hash(secret=secret, notebook_id=lesson)}.html"
            for secret in sorted(secrets - {""})
            for lesson in self._course.lessons
        ]
        yield _files("released feedback pages", self.exchange / "feedback", filter(Path.is_file, pages))
        yield _files("submissions in the exchange", self.exchange / "inbound", handed_in)

    def _in_tables(self, person: Person) -> Iterator[Kept]:
        found = (each for pattern in tables.PLACES for each in self.root.glob(pattern))
        for path in sorted(filter(Path.is_file, found)):
            text, count = tables.without(path, person.id, person.email)
            yield Kept("lines of a table", path, count, partial(rewrite, path, text))

    def _on_pages(self, person: Person) -> Iterator[Kept]:
        """Pages about a class, made again later: all, where an id is too short to be found."""
        board = self.root / "reports" / "board.html"
        found = (self.root.glob(pattern) for pattern in ("*.html", "reports/*.html", "reports/*.json"))
        pages = [each for group in found for each in group if each != board]
        naming = filter(Mentions(person.names).is_in, pages) if tells(person.id) else pages
        yield _files("class reports that name the student", self.root / "reports", naming)
        # Its names are those that students chose, so that it does not tell whether the student is on it.
        yield _files("the board, which `autograder board` makes again", board, filter(Path.is_file, [board]))

    def _beside_dates(self, student: str) -> Iterator[Kept]:
        for assignment, students in read_extensions(self.root).items():
            yield Kept(
                f"extensions of {assignment}",
                self.root / "extensions.json",
                int(student in students),
                partial(write_extension, self.root, assignment, student, None),
            )
        for assignment in self._course.assignments:
            yield Kept(
                "marks of lateness",
                self.root / "downloaded" / assignment / "late.json",
                int(student in marked_late(self.root, assignment)),
                partial(keep_marked_late, self.root, assignment, {student: False}),
            )

    def _in_the_log(self, student: str) -> Iterator[Kept]:
        text, count = without(self.root, student)
        yield Kept("changes of marks in the log", self.root / LOG, count, partial(write, self.root / LOG, text))

    def _sent_to_the_platform(self, student: str) -> Kept:
        def discard() -> None:
            members, sent, _ = keeping.without(self.root, student)
            keeping.write_members(self.root, members)
            write(self.root / keeping.SENT, sent)

        count = keeping.without(self.root, student)[2]
        return Kept("names and marks of the learning platform", self.root / keeping.SENT.parent, count, discard)

    def _among_the_tokens(self, student: str) -> Kept:
        tokens = Tokens(self.root)
        count = int(student in tokens.students())
        return Kept("tokens for handing in by HTTP", self.root / FILE, count, partial(tokens.remove, student))

    def _folders(self, student: str) -> Iterator[Kept]:
        for step in self._steps:
            for path in (each for each in _content(self.root / step) if each.name == student):
                count = len(_content(path)) if path.is_dir() else 0
                yield Kept("assignments, with all files", path, max(1, count), partial(remove, path))

    def _in_the_gradebook(self, student: str) -> Kept:
        count = self._gradebook.count(student)
        return Kept("rows of the gradebook", self._gradebook.path, count, partial(self._gradebook.delete, student))

    def _in_the_ledger(self, student: str) -> Iterator[Kept]:
        for place in (Marks.FOLDER, WAITING, LEDGER):
            own = [path for name, path in student_folders(self.root, place) if name == student]
            yield _files("results by assignment", self.root / place, own)

    # Mentions -------------------------------------------------------------------------------------------------

    def naming(self, person: Person) -> list[Path]:
        """Files that name a student and that are not deleted, such as backups."""
        places = [self.root] if self.exchange.is_relative_to(self.root) else [self.root, self.exchange]
        left_out = {self.root / name for name in AUTHORS} | {self.exchange / "outbound"}
        left_out |= {each.where for each in self.of(person)} | set(self._cache.glob("[0-9a-f][0-9a-f]"))
        mentions = Mentions(person.names)
        return [path for place in places for path in mentions.below(place, left_out)]


def _files(what: str, where: Path, paths: Iterable[Path]) -> Kept:
    """Some files and folders, of one kind."""
    found = sorted(paths)

    def discard() -> None:
        for path in found:
            remove(path)

    return Kept(what, where, len(found), discard)


def _content(folder: Path) -> list[Path]:
    """What lies in a folder, but for hidden files; nothing where there is no folder."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []
