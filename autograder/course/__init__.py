"""The course as `course/course.toml` describes it: assignments, lessons, exercises, points, dates."""

from __future__ import annotations

import datetime as dt
import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course.paths import CoursePath
from autograder.course.platform import Platform
from autograder.course.tables import CourseError
from autograder.library import CATALOGUE, MINIGRAD, Library

__all__ = [
    "RANKS", "SHOWS", "Assignment", "Course", "CourseError", "Exercise", "Lesson", "Section", "Serving", "module_of",
    "split_object",
]  # fmt: skip

RANKS = ("core", "more", "stretch")
"""The ranks of exercises: of the short way, of the whole course, for readers who want more."""


@dataclass(frozen=True)
class Exercise:
    """Something a student writes, and what it is worth.

    Attributes:
        id: The exercise's name, for example ``"autodiff.topological_sort"``.
        lesson: The lesson that places it.
        objects: The functions and classes it consists of, dotted, without the library's name.
        gives_away: Further modules and objects that would show the answer.
        points: The points that the exercise is worth.
        groups: Points of each group of hidden tests, all or nothing; they sum to `points`.
        uses: Packages that are imported before its sandbox runs anything, such as a compiler.
        limits: Limits of its sandbox that differ from the course's.
        hides: Modules and objects that could do its work for a student's code. Only grading editions cut them, since
            students need them for other lessons.
        family: Exercises of one family give each other's answers away; `gives_away` has the objects of the others.
        minutes: What it takes an average student; 0 if the course does not say.
        difficulty: From 1 to 5; 0 if the course does not say.
        rank: "core", "more" or "stretch"; "" if the course does not say.
    """

    id: str
    lesson: str
    objects: tuple[str, ...]
    gives_away: tuple[str, ...]
    points: float
    groups: Mapping[str, float]
    uses: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    hides: tuple[str, ...] = ()
    family: str = ""
    minutes: int = 0
    difficulty: int = 0
    rank: str = ""

    @property
    def solution_id(self) -> str:
        """The grade id of the solution cell."""
        return re.sub(r"[^A-Za-z0-9_-]", "-", self.id)

    @property
    def graded_id(self) -> str:
        """The grade id of the graded cell."""
        return f"{self.solution_id}-check"


@dataclass(frozen=True)
class Lesson:
    """One authored lesson, a file that becomes one notebook: MyST Markdown, or Python with cells (``# %%``).

    Attributes:
        name: Its name.
        assignment: The assignment that it belongs to.
        path: The file, which a draft need not have yet.
        setup: The code that its answers need above them, for a draft without a file; a file says so by its setup cells.
    """

    name: str
    assignment: str
    path: Path
    setup: str = ""

    @property
    def file(self) -> str:
        """The file as messages name it."""
        return f"lessons/{self.path.name}"


@dataclass(frozen=True)
class Assignment:
    """Lessons that are released and handed in together.

    Attributes:
        name: nbgrader's name of the assignment.
        title: The title people read.
        lessons: Names of its lessons, in order.
        due: When it is to be handed in, if there is such a time.
        answers_open: The day from which students may see the answers; None means never.
        draft: Whether it is still being written: its exercises are proved, and nothing of it is built or graded.
        examples_open: The day from which reports show the inputs that failed; None means at once.
        quotes_open: The day from which reports repeat what a student's code says; None means at once.
        hides: Modules that neither its exercises nor earlier ones need, cut while any of these is graded.
    """

    name: str
    title: str
    lessons: tuple[str, ...]
    due: dt.datetime | None = None
    answers_open: dt.date | None = None
    draft: bool = False
    examples_open: dt.date | None = None
    quotes_open: dt.date | None = None
    hides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A part of the class with graders, and perhaps dates, of its own: a table `[[section]]` of the file.

    Attributes:
        name: Its name, as sections.csv has it.
        graders: Who marks its answers.
        due: When an assignment is to be handed in, by its name, where that is not the assignment's own date.
    """

    name: str
    graders: tuple[str, ...] = ()
    due: Mapping[str, dt.datetime] = field(default_factory=dict)


SHOWS = ("points", "groups", "all")
"""What a feedback page can show before the due date, from the least to the most."""


@dataclass(frozen=True)
class Serving:
    """How `autograder serve` marks on submit: the table `[serve]` of the file.

    Attributes:
        tries_per_day: Hand-ins of a student that are graded on one day, for each assignment.
        wait: Minutes from one of them to the next.
        shows: What feedback pages show before the due date, one of `SHOWS`.
    """

    tries_per_day: int = 10
    wait: float = 1.0
    shows: str = "groups"


@dataclass(frozen=True)
class Course:
    """A whole course.

    Attributes:
        path: The file it was read from.
        name: The course's name; nbgrader's course id.
        version: Stamped into releases.
        seed: Seed of the property tests, the same for everyone.
        assignments: Those that students get, by name, in order.
        lessons: Their lessons, by name, in order.
        order: The same lessons in the order in which a reader alone does them.
        exercises: By id, in the file's order, those of drafts among them.
        limits: Limits of the sandbox that differ from its defaults.
        drafts: The assignments that are still being written, by name.
        draft_lessons: Their lessons, by name.
        exchange: The folder of nbgrader's exchange; None for one in the course's own directory.
        library: The library that it is about, or that its lessons are.
        fewest_wrong: Known-wrong answers that `verify` asks of an exercise.
        hides_later: Whether modules with exercises of later assignments alone are cut while earlier ones are
            graded.
        fewest_variants: Right answers written differently that it asks.
        paths: The ways through it that leave something out, by name.
        serving: How hand-ins are marked at once; None where they are not.
        platform: The learning platform that is asked for the roster and told the marks; None where there is none.
        sections: The parts of the class, by name.
        languages: Those beside English in which students have everything, such as "zh_CN": catalogues in `locale`.
    """

    path: Path
    name: str
    version: str
    seed: int
    assignments: Mapping[str, Assignment]
    lessons: Mapping[str, Lesson]
    order: Sequence[str]
    exercises: Mapping[str, Exercise]
    limits: Mapping[str, float] = field(default_factory=dict)
    drafts: Mapping[str, Assignment] = field(default_factory=dict)
    draft_lessons: Mapping[str, Lesson] = field(default_factory=dict)
    exchange: Path | None = None
    library: Library = MINIGRAD
    fewest_wrong: int = 3
    fewest_variants: int = 2
    hides_later: bool = False
    paths: Mapping[str, CoursePath] = field(default_factory=dict)
    serving: Serving | None = None
    platform: Platform | None = None
    sections: Mapping[str, Section] = field(default_factory=dict)
    languages: Sequence[str] = ()

    @property
    def directory(self) -> Path:
        """The directory that holds course.toml; nbgrader's root."""
        return self.path.parent

    @property
    def source(self) -> Path:
        """Where the answers stand: the lessons, or the library's sources beside the course, else the installed ones."""
        if self.library.in_lessons:
            return self.directory / "lessons"
        return self._beside if self._has_library else self._installed

    @property
    def notebooks(self) -> Path:
        """The folder where students' notebooks are built."""
        return (self.directory.parent if self._has_library else self.directory) / "notebooks"

    @property
    def catalogue(self) -> Path:
        """The library's list of exercises, written by the build; a library that is only borrowed is left as it is."""
        return (self._beside if self._has_library else self.directory) / CATALOGUE

    @property
    def _beside(self) -> Path:
        return self.directory.parent / "src" / self.library.package

    @property
    def _has_library(self) -> bool:
        """True if the course stands beside a library of its own, as in the repository."""
        return not self.library.in_lessons and (self._beside / "__init__.py").is_file()

    @property
    def _installed(self) -> Path:
        found = importlib.util.find_spec(self.library.package)
        if found is None or found.origin is None:
            raise CourseError(
                f"{self.path.name}: [library]: there is no package {self.library.package!r}, neither at {self._beside} "
                'nor installed; write it there, or write package = "none" if the answers stand in the lessons'
            )
        return Path(found.origin).resolve().parent

    @property
    def hidden(self) -> Path:
        """The directory of hidden tests; `wrong` and `variants` stand beside it."""
        return self.directory / "hidden"

    def data(self, exercise: Exercise) -> Path:
        """Return the folder of the files that stand beside an exercise's notebook; it is missing where there are none.

        The build puts copies beside the notebooks, and a sandbox has them in its working folder.
        """
        return self.data_of(self.lesson_of(exercise).assignment)

    def data_of(self, assignment: str) -> Path:
        """Return the folder of the files that stand beside the notebooks of an assignment."""
        return self.directory / "data" / assignment

    def versions(self) -> dict[str, str]:
        """Return the installed versions of what the library requires besides what every sandbox shows.

        Raises:
            CourseError: If something is not installed.
        """
        from autograder.sandbox.packages import PackageMissing, versions_of  # only where something is graded

        try:
            return versions_of(self.library.requires)
        except PackageMissing as error:
            raise CourseError(f"{self.path.name}: [library]: 'requires' names {error}") from error

    def exercise(self, exercise_id: str) -> Exercise:
        """Return the exercise of that id.

        Raises:
            CourseError: If there is none.
        """
        if exercise_id not in self.exercises:
            raise CourseError(
                f"{self.path.name}: there is no exercise {exercise_id!r}; "
                "add an [[exercise]] with that id or correct the name"
            )
        return self.exercises[exercise_id]

    def assignment(self, name: str) -> Assignment:
        """Return the released assignment of that name.

        Raises:
            CourseError: If there is none.
        """
        if name not in self.assignments:
            raise CourseError(f"there is no assignment {name!r}; the assignments are {', '.join(self.assignments)}")
        return self.assignments[name]

    def of_lesson(self, lesson: str) -> list[Exercise]:
        """Return the exercises of a lesson, in the file's order."""
        return [exercise for exercise in self.exercises.values() if exercise.lesson == lesson]

    def of_assignment(self, assignment: str) -> list[Exercise]:
        """Return the exercises of an assignment, lesson by lesson."""
        lessons = {**self.assignments, **self.drafts}[assignment].lessons
        return [exercise for lesson in lessons for exercise in self.of_lesson(lesson)]

    def lesson_of(self, exercise: Exercise) -> Lesson:
        """Return the lesson that places an exercise, or is to place it."""
        return self.draft_lessons[exercise.lesson] if self.is_draft(exercise) else self.lessons[exercise.lesson]

    def assignment_of(self, exercise: Exercise) -> Assignment:
        """Return the assignment that an exercise belongs to."""
        return {**self.assignments, **self.drafts}[self.lesson_of(exercise).assignment]

    def is_draft(self, exercise: Exercise) -> bool:
        """Return whether an exercise belongs to an assignment that is still being written."""
        return exercise.lesson in self.draft_lessons

    @property
    def released(self) -> list[Exercise]:
        """The exercises that students get, in the file's order."""
        return [exercise for exercise in self.exercises.values() if not self.is_draft(exercise)]


def split_object(source: Path, dotted: str) -> tuple[Path, tuple[str, ...]]:
    """Find the file that a dotted name of the library points into.

    Where the answers stand in lessons, the module ``stacks`` is the lesson ``01_stacks.py``.

    Returns:
        The module's file (or the package's directory), and the names inside it: none for a whole module.

    Raises:
        FileNotFoundError: If no module matches.
    """
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        module = source.joinpath(*parts[:count])
        inside = tuple(parts[count:])
        if module.with_name(f"{module.name}.py").is_file():
            return module.with_name(f"{module.name}.py"), inside
        if (module / "__init__.py").is_file():
            return (module / "__init__.py" if inside else module), inside
        lessons = (file for file in module.parent.glob("[0-9][0-9]*.py") if module_of(file) == module.name)
        if (lesson := next(lessons, None)) is not None:
            return lesson, inside
    raise FileNotFoundError(dotted)


def module_of(lesson: Path) -> str:
    """Return the module that a lesson stands for where it holds the answers: its name without the number."""
    return lesson.stem.partition("_")[2]
