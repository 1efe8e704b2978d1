"""Two assignments in a minute: built, released, handed in by an invented class, graded, fed back.

Everything is real but the students: the course is a copy of the real one in a folder of its own, the commands
are those that an instructor types, and the table is read from nbgrader's gradebook.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.status import Status

from autograder.building.build import build
from autograder.course.loading import DEFAULT_COURSE
from autograder.judging.plugin import HiddenTestError
from autograder.proof.demo.classroom import Classroom, DemoError, prepare
from autograder.proof.demo.submissions import CLASS, LESSONS
from autograder.sandbox import SandboxError, choose

if TYPE_CHECKING:
    from autograder.proof.demo.classes import Member

__all__ = ["run_demo", "run_rehearsal"]

OK, UNGRADED, BROKEN = 0, 1, 3


def run_demo(out: Path, console: Console, course: Path = DEFAULT_COURSE) -> int:
    """Run the demo.

    Args:
        out: The folder for everything that it makes; thrown away and made anew.
        console: Where it says what it does.
        course: The directory of the course to copy.

    Returns:
        0 if every submission was graded, 1 if one was not, 3 if the demo could not be run to its end.
    """
    begun = time.monotonic()
    try:
        classroom = _Telling(console).run(out, course)
        code = _finish(classroom, console)
    except (DemoError, HiddenTestError, SandboxError) as error:
        console.print(f"[bold red]error:[/bold red] {escape(str(error))}", highlight=False, soft_wrap=True)
        return BROKEN
    console.print(f"The demo took {time.monotonic() - begun:.0f} seconds.", highlight=False)
    return code


def run_rehearsal(out: Path, console: Console, course: Path, size: int, seed: int) -> int:
    """Let a class of any size hand in, to be graded by whoever rehearses.

    Args:
        out: The folder for everything that it makes; thrown away and made anew.
        console: Where it says what it does.
        course: The directory of the course to copy.
        size: Students in the class.
        seed: The same one makes the same class.

    Returns:
        0 if the class has handed in, 3 if it could not.
    """
    try:
        classroom = _Telling(console).rehearse(out, course, size, seed)
    except (DemoError, SandboxError) as error:
        console.print(f"[bold red]error:[/bold red] {escape(str(error))}", highlight=False, soft_wrap=True)
        return BROKEN
    first = next(iter(classroom.course.assignments))
    commands = (
        f"cd {_short(classroom.root)}",
        f"nbgrader collect {first}",
        f"autograder autograde {first}",
        f"autograder feedback {first}",
        f"autograder report {first}",
    )
    console.print("\n[bold]Now it is your turn:[/bold]")
    console.print(escape("\n".join(f"  {command}" for command in commands)), highlight=False, soft_wrap=True)
    return OK


class _Telling:
    """Goes through a term, and tells it."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def run(self, out: Path, course: Path) -> Classroom:
        """Do everything up to the grades."""
        classroom = self._build(out, course, LESSONS)
        self._title("Release", "students get notebooks without answers")
        self._each(classroom, "generate_assignment", "release_assignment")
        self._hand_in(classroom)
        self._title("Grade", "only text is taken from what was handed in, and runs in a sandbox without the tests")
        self._each(classroom, "collect")
        for assignment in classroom.course.assignments:
            self._command(classroom, "autograder", "autograde", assignment)
        self._each(classroom, "generate_feedback")
        self._command(classroom, "nbgrader", "export", "--to", "grades.csv")
        return classroom

    def rehearse(self, out: Path, course: Path, size: int, seed: int) -> Classroom:
        """Do everything up to what an invented class hands in."""
        from autograder.proof.demo.classes import hand_in, make_class

        classroom = self._build(out, course)
        self._title("Release", "students get notebooks without answers")
        self._each(classroom, "generate_assignment", "release_assignment")
        self._title("Hand in", f"{size} invented students")
        for name, assignment in classroom.course.assignments.items():
            with self._step(f"nbgrader submit {name}, each student") as say:
                members = make_class(classroom.course, assignment.lessons, size, seed)
                kinds = Counter(hand_in(classroom.course, name, _told(members, say), exchange=True).values())
            self.console.print(f"    {', '.join(f'{count} {kind}' for kind, count in kinds.items())}", highlight=False)
        return classroom

    def _build(self, out: Path, course: Path, lessons: Container[str] | None = None) -> Classroom:
        self._title("The course", "built from lessons and library, in a copy of course/ that the demo may spoil")
        with self._step("autograder doctor"):
            isolation = choose()
        self.console.print(f"  what students hand in will run behind {isolation.name}", highlight=False)
        with self._step("autograder build --quick"):
            classroom = prepare(out, course, lessons)
            build(classroom.root)
        return classroom

    def _hand_in(self, classroom: Classroom) -> None:
        count = len(classroom.course.lessons)
        self._title("Hand in", f"{len(CLASS)} invented students work on {count} notebooks each")
        for student in CLASS:
            self.console.print(f"  {student.name:8} {student.story}", highlight=False)
        with self._step("nbgrader submit, each student for each assignment") as say:
            for student, assignment in classroom.hand_in():
                say(f"{student.name} {assignment}")

    def _each(self, classroom: Classroom, *commands: str) -> None:
        for command in commands:
            for assignment in classroom.course.assignments:
                self._command(classroom, "nbgrader", command, assignment)

    def _command(self, classroom: Classroom, program: str, *words: str) -> None:
        command = f"{program} {' '.join(words)}"
        run = classroom.nbgrader if program == "nbgrader" else classroom.autograder
        with self._step(command) as say:
            code = run(*words, said=lambda line: say(_subject(line, classroom.root)))
        if code and words[0] != "autograde":  # one submission that fails leaves the others graded
            raise DemoError(f"`{command}` ended with exit code {code}; see {classroom.out / 'logs'}")

    def _title(self, title: str, what: str) -> None:
        self.console.print(f"\n[bold]{title}:[/bold] {what}", highlight=False)

    @contextmanager
    def _step(self, command: str) -> Iterator[Callable[[str], None]]:
        """Show a command while it runs, and how long it took."""
        begun = time.monotonic()
        with self.console.status(f"$ {escape(command)}") as status:
            yield lambda subject: _show(status, command, subject)
        self.console.print(f"  [cyan]$ {escape(command)}[/cyan]  {time.monotonic() - begun:.1f} s", highlight=False)


def _told(members: Iterable[Member], say: Callable[[str], None]) -> Iterator[Member]:
    """The members of a class, each said as it is made."""
    for member in members:
        say(member[0])
        yield member


def _show(status: Status, command: str, subject: str) -> None:
    if subject:
        status.update(f"$ {escape(command)}  [dim]{escape(subject)}[/dim]")


def _subject(line: str, root: Path) -> str:
    """The notebook that a line of a log is about, or how far grading is, or nothing."""
    if line.startswith("grading: "):
        return line.removeprefix("grading: ")
    _, found, path = line.rpartition(f"{root}/")
    return path.strip("'\" ") if found and path.endswith(".ipynb") else ""


def _finish(classroom: Classroom, console: Console) -> int:
    """Print the table and where to look further."""
    from autograder.proof.demo.table import details, points_table, rows  # loads nbgrader's database library

    found = rows(classroom)
    console.print("\n[bold]Why points were lost, and what was contained[/bold] (the feedback pages say more)\n")
    _print(console, details(found))
    console.print("\n[bold]The gradebook[/bold]")
    _print(console, points_table(found))
    problems = [problem for row in found for problem in row.problems]
    for problem in problems:
        console.print(f"[bold red]not graded:[/bold red] {escape(problem)}", highlight=False, soft_wrap=True)
    feedback = classroom.root / "feedback"
    pages = sorted(feedback.glob("*/*/*.html"))
    lines = [f"{len(pages)} feedback pages in {_short(feedback)}"]
    lines += [f"  one worth reading: {_short(_telling(pages))}"] if pages else []
    lines += [
        f"the grades as a table: {_short(classroom.root / 'grades.csv')}",
        f"what nbgrader said: {_short(classroom.out / 'logs')}",
        f"all of it in Formgrader: start `jupyter lab` in {_short(classroom.root)}, menu Nbgrader",
    ]
    console.print(escape("\n".join(lines)), highlight=False, soft_wrap=True)
    return UNGRADED if problems else OK


def _print(console: Console, made: RenderableType) -> None:
    """Print a table; in a log, without the blanks that fill its lines."""
    if console.is_terminal:
        console.print(made, highlight=False)
        return
    with console.capture() as captured:
        console.print(made, highlight=False)
    for line in captured.get().splitlines():
        console.print(line.rstrip(), markup=False, highlight=False, soft_wrap=True)


def _telling(pages: list[Path]) -> Path:
    """A page worth reading: a student's who made mistakes, in the last lesson."""
    return max(pages, key=lambda path: (path.parent.parent.name == "mei", path.name))


def _short(path: Path) -> str:
    """A path as it is written from here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
