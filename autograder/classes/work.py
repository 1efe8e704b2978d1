"""What there is to do for a class, and one piece of it done."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from autograder.collecting import regraft
from autograder.course import CourseError
from autograder.graft import Grafted
from autograder.judge import Judge
from autograder.ledger import Entry, read_entry, write_entry
from autograder.student_files import one_line
from autograder.tidying import ORIGINALS, put_back, tidy

__all__ = ["Done", "Outcome", "Progress", "Task", "Work", "do", "grade_notebook", "handed_in", "kept_entry"]

SUBMITTED = "submitted"


@dataclass(frozen=True, order=True)
class Work:
    """One submission."""

    student: str
    assignment: str

    def folder(self, root: Path) -> Path:
        """Where it lies in a course's directory."""
        return root / SUBMITTED / self.student / self.assignment


@dataclass(frozen=True)
class Task:
    """A piece of work for one process: to take a submission in, or to grade one of its notebooks.

    Attributes:
        work: The submission.
        lesson: The notebook; empty to take the submission in.
    """

    work: Work
    lesson: str = ""


@dataclass(frozen=True)
class Done:
    """What became of a task.

    Attributes:
        task: The task.
        entry: What grading found.
        kept: Whether it had been found before.
        problem: Why it could not be done; empty if it could.
    """

    task: Task
    entry: Entry | None = None
    kept: bool = False
    problem: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of a submission.

    Attributes:
        work: The submission.
        entries: What was found, notebook by notebook, in the assignment's order.
        kept: Whether all of it had been found before.
        problem: Why it could not be graded; empty if it could.
    """

    work: Work
    entries: tuple[Entry, ...]
    kept: bool = False
    problem: str = ""


@dataclass
class Progress:
    """Live counts of a class being graded; one instance is handed in and kept up to date.

    Attributes:
        total: Pieces of work.
        done: Those that are finished.
        counts: Notebooks with full points, with some, with none; exercises in which something was contained; and
            notebooks that had been graded before.
    """

    total: int = 0
    done: int = 0
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("full", "partial", "zero", "contained", "kept"), 0)
    )

    def add(self, done: Done) -> None:
        """Count a finished task."""
        self.done += 1
        if done.entry is not None:
            submission = done.entry.submission
            full, some = submission.earned == submission.points, submission.earned > 0
            self.counts["full" if full else "partial" if some else "zero"] += 1
            self.counts["contained"] += sum(bool(each.events) for each in submission.exercises)
            self.counts["kept"] += done.kept


def handed_in(root: Path, assignment: str, students: tuple[str, ...] = ()) -> list[Work]:
    """Every submission of an assignment, sorted by student.

    Args:
        root: The course's directory.
        assignment: The assignment's name.
        students: Take only these students'.

    Raises:
        CourseError: If one of the students has handed in nothing.
    """
    put_back(root / SUBMITTED)
    everyone = sorted(path.name for path in (root / SUBMITTED).glob("*") if not path.name.startswith("."))
    found = [Work(student, assignment) for student in everyone]
    found = [work for work in found if work.folder(root).is_dir()]
    missing = sorted(set(students) - {work.student for work in found})
    if missing:
        raise CourseError(
            f"nothing is in submitted/ from {', '.join(missing)} for {assignment}; run `nbgrader collect`"
        )
    return [work for work in found if not students or work.student in students]


def do(judge: Judge, task: Task, *, keep: bool, write: bool) -> Done:
    """Do a piece of work; what one submission makes go wrong is said, and stops no other.

    Args:
        judge: Who grades.
        task: The piece.
        keep: Whether to take from the ledger what was found before.
        write: Whether to write into the ledger.

    Raises:
        HiddenTestError: If a hidden test is at fault: that concerns everyone.
    """
    root = judge.course.directory
    if not task.lesson:
        tidy(root, task.work.folder(root))
        return Done(task)
    entry, kept = grade_notebook(judge, task.work, task.lesson, keep=keep, write=write)
    return Done(task, entry, kept)


def grade_notebook(
    judge: Judge, work: Work, lesson: str, *, keep: bool, write: bool, graft: Callable[[], Grafted] | None = None
) -> tuple[Entry, bool]:
    """Grade one notebook of a submission that was taken in.

    Args:
        judge: Who grades.
        work: The submission.
        lesson: The notebook.
        keep: Whether to take from the ledger what was found before.
        write: Whether to write into the ledger.
        graft: Makes what is graded; by default from the submitted tree.

    Returns:
        What was found, and whether it had been found before.
    """
    root = judge.course.directory
    path = work.folder(root) / f"{lesson}.ipynb"
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    kept = kept_entry(judge, work, lesson, sha256) if keep else None
    if kept is not None:
        return kept, True
    originals = root / ORIGINALS / work.student / work.assignment
    grafted = graft() if graft is not None else regraft(judge.course, lesson, path, originals)
    submission = judge.grade(grafted, lesson)
    now = f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"
    entry = Entry(work.student, work.assignment, lesson, sha256, now, submission, judge.state(lesson))
    if write:
        write_entry(root, entry)
    return entry, False


def kept_entry(judge: Judge, work: Work, lesson: str, sha256: str) -> Entry | None:
    """What was found before in this very notebook, by the tests and limits of today; None if it was not."""
    entry = read_entry(judge.course.directory, work.student, work.assignment, lesson)
    if entry is None or (entry.sha256, entry.state) != (sha256, judge.state(lesson)):
        return None
    return entry


def reason_of(error: BaseException) -> str:
    """An error in one line, for the list of what could not be graded."""
    text = one_line(str(error))
    return text if isinstance(error, CourseError) else f"{type(error).__name__}: {text}"
