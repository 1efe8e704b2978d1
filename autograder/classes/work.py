"""The work that a class brings, and one piece of it done.

A recorded mark never changes by itself: the same notebook keeps it, whatever tests, limits and library are today.
Results that are not in the gradebook yet are reused only if all of these are unchanged. Where a lesson has other
exercises now, the exercises that are worth the same keep their marks.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from autograder.building.slicing import slice_exercise
from autograder.course import CourseError, Exercise
from autograder.course.classlist import read_class_list
from autograder.grafting.collecting import regraft
from autograder.grafting.grafted import Grafted
from autograder.grafting.sharing import newest_of
from autograder.grafting.tidying import ORIGINALS, clear_up, course_of, tidy
from autograder.judging.judge import Judge
from autograder.reading.student_files import one_line
from autograder.results import Graded, format_points
from autograder.results.changes import weights
from autograder.results.ledger import WAITING, Entry, read_entry, write_entry

SUBMITTED = "submitted"


@dataclass(frozen=True, order=True)
class Work:
    """One submission."""

    student: str
    assignment: str

    def folder(self, root: Path) -> Path:
        """The folder in a course's directory that holds it."""
        return root / SUBMITTED / self.student / self.assignment


@dataclass(frozen=True)
class Task:
    """A piece of work for one process: to take a submission in, or to grade one of its notebooks.

    Attributes:
        work: The submission.
        lesson: The notebook; empty to take the submission in.
        shared: Whether another run has found its result since this one began.
    """

    work: Work
    lesson: str = ""
    shared: bool = False


@dataclass(frozen=True)
class Done:
    """The outcome of a task.

    Attributes:
        task: The task.
        entry: The result of grading.
        kept: Whether it had been found before.
        problem: Why it could not be done; empty if it could.
        stale: Whether the mark is recorded, and was given by other tests, points, limits or another library.
    """

    task: Task
    entry: Entry | None = None
    kept: bool = False
    problem: str = ""
    stale: bool = False

    @classmethod
    def failed(cls, task: Task, why: str) -> Self:
        """A task that could not be done; of a notebook it is said which."""
        return cls(task, problem=f"{task.lesson}: {why}" if task.lesson else why)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a submission.

    Attributes:
        work: The submission.
        entries: The results, notebook by notebook, in the assignment's order.
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
        total: Notebooks.
        done: Those that are finished.
        counts: Notebooks with full points, with some, with none; exercises in which something was contained;
            notebooks that had been graded before; those that another run graded meanwhile; and those whose recorded
            marks were given by other tests.
        at: The students whose work is being graded at this moment, or what is waited for.
        stopped: Whether to stop as soon as may be.
    """

    total: int = 0
    done: int = 0
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("full", "partial", "zero", "contained", "kept", "shared", "stale"), 0)
    )
    at: tuple[str, ...] = ()
    stopped: bool = False

    def add(self, done: Done) -> None:
        """Count a finished task."""
        self.done += bool(done.task.lesson)
        if done.entry is not None:
            submission = done.entry.submission
            full, some = submission.earned == submission.points, submission.earned > 0
            self.counts["full" if full else "partial" if some else "zero"] += 1
            self.counts["contained"] += sum(bool(each.events) for each in submission.exercises)
            self.counts["kept"] += done.kept and not done.task.shared
            self.counts["shared"] += done.kept and done.task.shared
            self.counts["stale"] += done.stale


def handed_in(root: Path, assignment: str, students: tuple[str, ...] = ()) -> list[Work]:
    """Every submission of an assignment, sorted by student: of a group the newest hand-in alone.

    Args:
        root: The course's directory.
        assignment: The assignment's name.
        students: Take only these students', and their groups'.

    Raises:
        CourseError: If one of the students has handed in nothing, or has a name that no page and no gradebook can
            show; or if the groups cannot be read.
    """
    clear_up(root)
    classmates = read_class_list(course_of(root))
    everyone = sorted(path.name for path in (root / SUBMITTED).glob("*") if not path.name.startswith("."))
    groups = dict.fromkeys(classmates.members(assignment, student) for student in students or everyone)
    found = sorted(Work(student, assignment) for group in groups for student in newest_of(root, assignment, group))
    strange = [work.student for work in found if not work.student.isprintable()]
    if strange:
        raise CourseError(
            f"submitted/ has a folder that cannot be a student's id: {strange[0]!a}; rename it to letters that "
            "can be shown, in UTF-8"
        )
    there = {student for work in found for student in classmates.members(assignment, work.student)}
    missing = sorted(set(students) - there)
    if missing:
        raise CourseError(
            f"nothing is in submitted/ from {', '.join(missing)} for {assignment}; run `nbgrader collect` or "
            "`nbgrader zip_collect`"
        )
    return found


def refuse_lost_references(judge: Judge, lessons: Iterable[str]) -> None:
    """Grade the reference answers of some lessons, before a class is graded by the same tests and limits.

    A reference that cannot run means that no student's answer can. A hidden test that its own reference fails would
    take points from everyone. The judge keeps the results, so that a second run costs nothing. The sandboxes are
    closed again, so that no process that grades the class is forked beside them.

    Raises:
        CourseError: If a reference answer does not earn every point.
    """
    try:
        for lesson in lessons:
            for exercise in judge.course.of_lesson(lesson):
                if exercise.points > 0:
                    _refuse_lost(judge, exercise)
    finally:
        judge.close()


def _refuse_lost(judge: Judge, exercise: Exercise) -> None:
    try:
        answer = slice_exercise(judge.course, exercise.id).reference_cell
    except CourseError:  # a library that has no answers
        return
    graded = judge.grade_text(exercise, answer)
    if graded.earned >= exercise.points:
        return
    lost = f"the reference answer to {exercise.id} gets {format_points(graded.earned)} of "
    lost += f"{format_points(exercise.points)} here"
    stuck = graded.reason or next((each.reason for each in graded.failures if each.failure), "")
    if stuck:
        limits = "its limits and [limits]" if exercise.limits else "[limits]"
        what = f"look at {limits} in {judge.course.path.name}"
        raise CourseError(f"nothing was graded: {lost} ({one_line(stuck)[:200]}); {what}, and run `autograder verify`")
    tests = ", ".join(f"{each.test} ({one_line(each.reason)[:120]})" for each in graded.failures)
    raise CourseError(
        f"nothing was graded: {lost}, so that a hidden test is wrong: {tests}; mend it, then run "
        f"`autograder verify {exercise.id}`"
    )


def do(judge: Judge, task: Task, *, keep: bool, write: bool) -> Done:
    """Do a piece of work; what one submission makes go wrong is said, and stops no other.

    Args:
        judge: The grader.
        task: The piece.
        keep: Whether to take what was found before.
        write: Whether to keep what is found, until it is recorded.

    Raises:
        HiddenTestError: If a hidden test is at fault: that concerns everyone.
    """
    root = judge.course.directory
    if not task.lesson:
        tidy(root, task.work.folder(root))
        return Done(task)
    entry, kept = grade_notebook(judge, task.work, task.lesson, keep=keep, write=write, shared=task.shared)
    return Done(task, entry, kept, stale=entry.state != judge.fingerprint.state(task.lesson))


def grade_notebook(
    judge: Judge,
    work: Work,
    lesson: str,
    *,
    keep: bool,
    write: bool,
    graft: Callable[[], Grafted] | None = None,
    shared: bool = False,
) -> tuple[Entry, bool]:
    """Grade one notebook of a submission that was taken in.

    Args:
        judge: The grader.
        work: The submission.
        lesson: The notebook.
        keep: Whether to take what was found before; what is recorded stands whatever it was graded by.
        write: Whether to keep what is found, until it is recorded.
        graft: Makes what is graded; by default from the submitted tree.
        shared: Whether another run has found the result meanwhile: that is taken also where nothing older is.

    Returns:
        The result, and whether it had been found before.
    """
    root = judge.course.directory
    path = work.folder(root) / f"{lesson}.ipynb"
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    kept = kept_entry(judge, work, lesson, sha256, todays=not keep) if keep or shared else None
    if kept is not None:
        return kept, True
    originals = root / ORIGINALS / work.student / work.assignment
    grafted = graft() if graft is not None else regraft(judge.course, lesson, path, originals)
    submission = judge.grade(grafted, lesson)
    now = f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"
    entry = Entry(work.student, work.assignment, lesson, sha256, now, submission, judge.fingerprint.state(lesson))
    return kept_with(root, entry, keep=keep, write=write), False


def kept_with(root: Path, entry: Entry, *, keep: bool, write: bool) -> Entry:
    """Return a new result as it is to be recorded, with what stands of the recorded one.

    Args:
        root: The course's directory.
        entry: The result.
        keep: Whether exercises that are worth the same keep their recorded marks.
        write: Whether to keep the result, until it is recorded.
    """
    work = Work(entry.student, entry.assignment)
    recorded = _recorded(root, work, entry.lesson, entry.sha256) if keep else None
    if recorded is not None:
        entry = _keeping(recorded, entry)
    if write:
        write_entry(root, entry, WAITING)
    return entry


def kept_entry(judge: Judge, work: Work, lesson: str, sha256: str, *, todays: bool = False) -> Entry | None:
    """Return the earlier result of this very notebook; None if it is to be graded.

    A recorded mark stands, also where tests, points or limits have changed since: `autograder regrade` lists such
    changes. A result that waits to be recorded is reused only if tests, limits and library are unchanged.

    Args:
        judge: The grader.
        work: The submission.
        lesson: The notebook.
        sha256: Of the submitted notebook.
        todays: Whether a recorded mark too is reused only if tests, limits and library are unchanged.
    """
    root, state = judge.course.directory, judge.fingerprint.state(lesson)
    waiting = read_entry(root, work.student, work.assignment, lesson, WAITING)  # first: another run may be recording it
    recorded = _recorded(root, work, lesson, sha256)
    if not todays and recorded is not None and _is_whole(judge, recorded):
        return recorded
    if waiting is not None and (waiting.sha256, waiting.state) == (sha256, state) and not waiting.submission.ungraded:
        return waiting
    is_todays = todays and recorded is not None and recorded.state == state and not recorded.submission.ungraded
    return recorded if is_todays else None


def _recorded(root: Path, work: Work, lesson: str, sha256: str) -> Entry | None:
    """The recorded result of this very notebook."""
    entry = read_entry(root, work.student, work.assignment, lesson)
    return entry if entry is not None and entry.sha256 == sha256 else None


def _is_whole(judge: Judge, entry: Entry) -> bool:
    """Return whether an entry has a result of each exercise that its lesson has now, and of no other one.

    An exercise at which the grader itself failed has none.
    """
    asked = {each.id for each in judge.course.of_lesson(entry.lesson)}
    return {each.exercise for each in entry.submission.exercises if not each.is_ungraded} == asked


def _keeping(recorded: Entry, entry: Entry) -> Entry:
    """A new result of a lesson that has other exercises now, with the recorded one of each that is worth the same.

    Where a mark that stands is not today's, the entry is not today's either, and `stale` says so.
    """
    before = {_worth(each): each for each in recorded.submission.exercises if not each.is_ungraded}
    found = entry.submission.exercises
    exercises = tuple(before.get(_worth(each), each) for each in found)
    is_todays = [each.earned for each in exercises] == [each.earned for each in found]
    submission = replace(entry.submission, exercises=exercises)
    return replace(entry, submission=submission, state=entry.state if is_todays else recorded.state)


def _worth(graded: Graded) -> tuple[str, frozenset[tuple[str, float]]]:
    """An exercise, and what its groups are worth."""
    return graded.exercise, frozenset(weights(graded).items())


def reason_of(error: BaseException) -> str:
    """An error in one line, for the list of what could not be graded."""
    text = one_line(str(error))
    return text if isinstance(error, CourseError) else f"{type(error).__name__}: {text}"
