"""The demo's last word: who earned how many points, why points were lost, and what was contained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nbgrader.api import Gradebook, MissingEntry
from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.course import Lesson
from autograder.gradebook.nbgrader_hooks import GRADES
from autograder.grafting.collecting import regraft
from autograder.grafting.tidying import ORIGINALS
from autograder.judging.judge import Judge
from autograder.proof.demo.classroom import Classroom
from autograder.proof.demo.submissions import CLASS, Student
from autograder.results import Graded, Submission, Verdict, format_points
from autograder.telling.report import clean

LONGEST_NOTE = 200
MOST_NOTES = 15


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes:
        student: The student.
        earned: Points by lesson, as the gradebook has them; None where it has none.
        submissions: The results, by lesson.
    """

    student: Student
    earned: Mapping[str, float | None]
    submissions: Mapping[str, Submission]

    @property
    def total(self) -> float:
        """All points."""
        return sum(points or 0.0 for points in self.earned.values())

    @property
    def problems(self) -> list[str]:
        """Notebooks that were not graded, or for which gradebook and report disagree."""
        return [
            f"{self.student.name}: {lesson}: the gradebook has {points} points, the report {submission.earned:g}"
            for lesson, submission in self.submissions.items()
            if (points := self.earned[lesson]) is None or abs(points - submission.earned) > 1e-9
        ]


def rows(classroom: Classroom) -> list[Row]:
    """Read the gradebook, and what grading kept of each result; nothing is run again."""
    course = classroom.course
    with (
        Judge(course, cache=classroom.root / GRADES) as judge,
        Gradebook(f"sqlite:///{classroom.root / 'gradebook.db'}", course.name) as gradebook,
    ):
        return [
            Row(
                student,
                {lesson.name: _points(gradebook, lesson, student) for lesson in course.lessons.values()},
                {lesson.name: _submission(judge, classroom, lesson, student) for lesson in course.lessons.values()},
            )
            for student in CLASS
        ]


def _points(gradebook: Gradebook, lesson: Lesson, student: Student) -> float | None:
    try:
        notebook = gradebook.find_submission_notebook(lesson.name, lesson.assignment, student.name)
    except MissingEntry:
        return None
    return None if notebook.needs_manual_grade else float(notebook.score)


def _submission(judge: Judge, classroom: Classroom, lesson: Lesson, student: Student) -> Submission:
    path = classroom.root / "submitted" / student.name / lesson.assignment / f"{lesson.name}.ipynb"
    originals = classroom.root / ORIGINALS / student.name / lesson.assignment
    return judge.grade(regraft(classroom.course, lesson.name, path, originals), lesson.name)


def details(rows: Sequence[Row]) -> Group:
    """Every reason why points were lost, and everything that was repaired or contained, by student."""
    parts: list[RenderableType] = []
    for row in rows:
        lines = list(notes(row.submissions))
        if lines:
            more = len(lines) - MOST_NOTES
            kept = [*lines[:MOST_NOTES], *([f"and {more} more, on the feedback pages"] if more > 0 else [])]
            parts.append(Text(f"  {row.student.name}", style="bold"))
            parts += [Padding(Text(line), (0, 0, 0, 4)) for line in kept]
    return Group(*parts)


def points_table(rows: Sequence[Row]) -> Table:
    """The table: a line for each student, a column for each lesson, and in a few words what happened."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("student", no_wrap=True)
    best = rows[0].submissions
    for lesson, submission in best.items():
        table.add_column(f"{lesson[:2]}\n/{format_points(submission.points)}", justify="right")
    whole = sum(submission.points for submission in best.values())
    table.add_column(f"total\n/{format_points(whole)}", justify="right")
    table.add_column("who, and why points were lost or what was contained")
    for row in rows:
        cells = ["-" if points is None else format_points(points) for points in row.earned.values()]
        colour = "green" if row.total == whole else "yellow" if row.total else "red"
        total = Text(format_points(row.total), style=f"bold {colour}")
        story = Text("\n".join([row.student.story, *summary(row.submissions)]))
        story.stylize("italic", 0, len(row.student.story))
        table.add_row(row.student.name, *cells, total, story)
    return table


def summary(submissions: Mapping[str, Submission]) -> Iterator[str]:
    """A few words for each reason why points were lost, and how much was repaired or contained."""
    contained = 0
    named: dict[str, None] = {}
    unnamed = 0
    for lesson, submission in submissions.items():
        if submission.unreadable:
            yield f"{lesson} cannot be read"
        contained += len(submission.notes) + sum(len(graded.notes) for graded in submission.exercises)
        for graded in submission.exercises:
            misconceptions = [verdict.misconception.replace("-", " ") for verdict in _telling(graded)]
            named |= dict.fromkeys(name for name in misconceptions if name)
            unnamed += "" in misconceptions
    for reason, exercises in _untested(submissions).items():
        cause = reason.removeprefix("nothing could be tested: ").removeprefix(f"answer to {exercises[0].exercise}: ")
        yield f"{_names(exercises)}: {cause.partition(' (line')[0]}"
    if unnamed:
        yield f"{_count(unnamed, 'exercise')}: errors, or wrong values of no known kind"
    if named:
        yield ", ".join(named)
    if contained:
        yield f"{_count(contained, 'thing')} repaired or contained"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def notes(submissions: Mapping[str, Submission]) -> Iterator[str]:
    """One line for each reason why points were lost, and for each thing that was repaired or contained."""
    for lesson, submission in submissions.items():
        if submission.unreadable:
            yield _short(f"{lesson}: {submission.unreadable}")
            continue
        yield from (_short(f"{lesson}: {note}") for note in submission.notes)
        for graded in submission.exercises:
            yield from (_short(_sentence(verdict, graded)) for verdict in _telling(graded))
            yield from (_short(n if graded.exercise in n else f"{graded.exercise}: {n}") for n in graded.notes)
    for reason, exercises in _untested(submissions).items():
        lost = format_points(sum(graded.points for graded in exercises))
        yield _short(f"{_names(exercises)} -{lost}: {reason}")


def _untested(submissions: Mapping[str, Submission]) -> dict[str, list[Graded]]:
    """Exercises that were not tested, by the reason, where it is not that of the whole notebook."""
    found: dict[str, list[Graded]] = {}
    for submission in submissions.values():
        for graded in () if submission.unreadable else submission.exercises:
            if graded.reason:
                found.setdefault(graded.reason, []).append(graded)
    return found


def _names(exercises: Sequence[Graded]) -> str:
    return exercises[0].exercise if len(exercises) == 1 else f"{len(exercises)} exercises"


def _telling(graded: Graded) -> Iterator[Verdict]:
    """For each group of tests whose points were lost, the failed test that says most."""
    for group in graded.groups:
        failed = [verdict for verdict in graded.failures if (verdict.counted_in or verdict.group) == group.name]
        failed.sort(key=lambda verdict: verdict.group != group.name)
        if failed:
            # An error explains wrong values, not the other way round.
            yield next((verdict for verdict in failed if verdict.failure), failed[0])


def _sentence(verdict: Verdict, graded: Graded) -> str:
    lost = next(group.points for group in graded.groups if group.name == (verdict.counted_in or verdict.group))
    named = f" ({verdict.misconception.replace('-', ' ')})" if verdict.misconception else ""
    return f"{graded.exercise} -{format_points(lost)}{named}: {verdict.title.rstrip('.')}: {verdict.reason}"


def _short(text: str) -> str:
    return " ".join(clean(text, limit=LONGEST_NOTE).split())
