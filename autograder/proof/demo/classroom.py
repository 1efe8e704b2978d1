"""A scratch course in a folder of its own, and the commands in it that an instructor types."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat

from autograder.course import Course
from autograder.course.loading import load_course
from autograder.gradebook.inbox import hand_in
from autograder.proof.demo.submissions import CLASS, Released, Student

MARK = ".made-by-autograder-demo"
"""Lies in the demo's folder and says that all of it may be thrown away."""

LIMITS = "\n[limits]  # the demo waits less long for code that never ends\ncell_seconds = 5\n"

# The program `nbgrader`; importing autograder first saves a second of each start (see its __init__).
NBGRADER = "import autograder\nfrom nbgrader.apps.nbgraderapp import main\nmain()"
AUTOGRADER = "from autograder.cli import main\nmain()"


class DemoError(Exception):
    """The demo cannot go on; the message is a sentence for its user."""


@dataclass(frozen=True)
class Classroom:
    """The scratch course.

    Attributes:
        out: The demo's folder.
        course: The course in it, a copy of the real one with a library, an exchange and a gradebook of its own.
    """

    out: Path
    course: Course

    @property
    def root(self) -> Path:
        """The folder where nbgrader's commands are typed."""
        return self.course.directory

    def nbgrader(self, *words: str, said: Callable[[str], None]) -> int:
        """Run one of nbgrader's commands, keep what it prints, and return its exit code.

        Args:
            words: The command, without ``nbgrader``.
            said: Called with each line that it prints.
        """
        return self._run(NBGRADER, words, said)

    def autograder(self, *words: str, said: Callable[[str], None]) -> int:
        """Run one of this grader's own commands in the same way."""
        return self._run(AUTOGRADER, words, said)

    def _run(self, program: str, words: tuple[str, ...], said: Callable[[str], None]) -> int:
        log = self.out / "logs" / f"{'-'.join(words[:2])}.txt".replace("--", "")
        log.parent.mkdir(exist_ok=True)
        # Whoever runs the demo may have settings of their own for nbgrader.
        environment = os.environ | {"JUPYTER_CONFIG_DIR": str(self.out / "jupyter"), "PYTHONUNBUFFERED": "1"}
        with (
            log.open("w", encoding="utf-8") as file,
            subprocess.Popen(
                [sys.executable, "-P", "-c", program, *words],
                cwd=self.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            ) as process,
        ):
            assert process.stdout is not None
            for line in process.stdout:
                file.write(line)
                said(line.rstrip())
        return process.returncode

    def hand_in(self) -> Iterator[tuple[Student, str]]:
        """Let every student hand in every assignment, and yield student and assignment as they do."""
        released = {assignment: self._released(assignment) for assignment in self.course.assignments}
        everything = {lesson: notebook for notebooks in released.values() for lesson, notebook in notebooks.items()}
        for student in CLASS:
            files = student.hand_in(self.course, everything)
            for assignment, notebooks in released.items():
                other = {f"{lesson}.ipynb" for lesson in everything if lesson not in notebooks}
                self.submit(student.name, assignment, {n: data for n, data in files.items() if _belongs(n, other)})
                yield student, assignment

    def _released(self, assignment: str) -> Released:
        """The notebooks that students find in the exchange."""
        folder = self.root / "exchange" / self.course.name / "outbound" / assignment
        found = {path.stem: nbformat.read(path, as_version=nbformat.NO_CONVERT) for path in folder.glob("*.ipynb")}
        lessons = self.course.assignments[assignment].lessons
        if set(found) != set(lessons):
            names = ", ".join(sorted(found)) or "nothing"
            raise DemoError(f"nbgrader released {names} of {assignment}, not its lessons; see {self.out / 'logs'}")
        return {lesson: found[lesson] for lesson in lessons}

    def submit(self, student: str, assignment: str, files: dict[str, bytes]) -> Path:
        """Put files where `nbgrader submit` puts them, a command of the student's own account; return the folder."""
        return hand_in(self.root / "exchange" / self.course.name / "inbound", student, assignment, files)


def _belongs(name: str, other: set[str]) -> bool:
    """Return whether a file goes with an assignment whose fellow assignments have the notebooks `other`."""
    return not any(name.startswith(notebook.removesuffix(".ipynb")) for notebook in other)


def prepare(out: Path, course_directory: Path, lessons: Container[str] | None = None) -> Classroom:
    """Make the scratch course, in an empty folder.

    Args:
        out: The folder.
        course_directory: The course to copy.
        lessons: The lessons that the class works on; by default everything.

    Raises:
        DemoError: If the folder holds something that is not the demo's.
    """
    out = out.resolve()
    if out.exists() and not (out.is_dir() and ((out / MARK).exists() or not any(out.iterdir()))):
        raise DemoError(f"{out} holds files that the demo did not make; name another folder with --out")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / MARK).touch()
    original = load_course(course_directory)
    root = out / "course"
    root.mkdir()
    for name in ("nbgrader_config.py", "lessons", "data", "hidden", "wrong", "variants", "demo"):
        source = original.directory / name
        if source.is_dir():
            shutil.copytree(source, root / name)
        elif source.exists():
            shutil.copy(source, root / name)
    if not original.library.in_lessons:
        package = out / "src" / original.library.package
        shutil.copytree(original.source, package, ignore=shutil.ignore_patterns("__pycache__"))
    text = original.path.read_text(encoding="utf-8")
    (root / "course.toml").write_text(text if original.limits else text + LIMITS, encoding="utf-8")
    course = load_course(root)
    return Classroom(out, course if lessons is None else only(course, lessons))


def only(course: Course, lessons: Container[str]) -> Course:
    """A course as it is for a class that works on some of its lessons: what has others is a draft, never released."""
    released = {name for name, each in course.assignments.items() if all(lesson in lessons for lesson in each.lessons)}
    everything = {**course.lessons, **course.draft_lessons}
    return replace(
        course,
        assignments={name: each for name, each in course.assignments.items() if name in released},
        drafts={**course.drafts} | {name: each for name, each in course.assignments.items() if name not in released},
        lessons={name: each for name, each in everything.items() if each.assignment in released},
        draft_lessons={name: each for name, each in everything.items() if each.assignment not in released},
    )
