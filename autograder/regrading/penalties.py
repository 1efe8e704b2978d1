"""Penalties for lateness, computed anew: dates, extensions and the course's rule may have changed since they were set.

They belong to the plan of a regrading. A penalty that would lower a mark is set only where it was said that marks may
fall, like every other change.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from autograder.course import Course
from autograder.gradebook.dates import Dates, Penalties, penalty_change
from autograder.gradebook.diagnosing import opened
from autograder.gradebook.settings import gradebook_url, has_gradebook, load_app, quiet
from autograder.regrading import Plan
from autograder.results import Graded
from autograder.results.changes import Change
from autograder.results.ledger import Entry


def with_penalties(
    course: Course, found: Plan, *, students: Collection[str] = (), lessons: Collection[str] = (), lower: bool = False
) -> Plan:
    """Return a plan with what follows for penalties: from today's dates and rule, and from the plan's own marks.

    Args:
        course: The course.
        found: The changes of marks.
        students: Take only these; all, if none is named.
        lessons: Take only these notebooks; all, if none is named.
        lower: Whether marks may fall.

    Raises:
        CourseError: If the gradebook cannot be read, or the course's own rule fails.
    """
    url = gradebook_url(course)
    if not has_gradebook(course, url):
        return found
    rule = Penalties(quiet(load_app(course.directory, next(iter(course.assignments)))))
    plan = _Penalised(found, Dates(course), rule, lower)
    with opened(url, course.name) as gradebook:
        for assignment in gradebook.assignments:
            for submission in assignment.submissions if assignment.name in course.assignments else ():
                if not students or submission.student_id in students:
                    for notebook in submission.notebooks:
                        plan.look_at(course, submission, notebook, asked=not lessons or notebook.name in lessons)
    return plan.whole()


class _Penalised:
    """A plan to which the penalty of one notebook after the other is added."""

    def __init__(self, found: Plan, dates: Dates, rule: Penalties, lower: bool) -> None:
        self._found, self._dates, self._rule, self._lower = found, dates, rule, lower
        self._entries = {(each.student, each.assignment, each.lesson): each for each in found.entries}
        self._recorded_anew = {(each.student, each.assignment) for each in found.entries}
        self._changes: list[Change] = []
        self._kept: list[Change] = []
        self._penalties: dict[tuple[str, str], dict[str, float | None]] = {}
        self._same = 0

    def look_at(self, course: Course, submission: Any, notebook: Any, *, asked: bool) -> None:
        """Decide on the penalty of one notebook."""
        student, assignment = submission.student_id, submission.assignment.name
        entry = self._entries.get((student, assignment, notebook.name))
        late = self._dates.of(submission)
        score, points = _after(course, notebook, entry)
        before: float | None = notebook.late_submission_penalty
        wanted = self._rule.of(student, score, late) if asked or entry is not None else before
        change = penalty_change(notebook, late, wanted, score=score, points=points)
        if change is not None and change.falls and (wanted or 0.0) > (before or 0.0) and not self._lower:
            self._kept.append(change)
            wanted, change = before if before is None else min(before, score), None
        if change is not None and change.moves:
            self._changes.append(change)
        self._same += change is None
        if change is not None or (student, assignment) in self._recorded_anew:
            self._penalties.setdefault((student, assignment), {})[notebook.name] = wanted

    def whole(self) -> Plan:
        """The plan with the penalties."""
        return replace(
            self._found,
            changes=(*self._found.changes, *self._changes),
            kept=(*self._found.kept, *self._kept),
            penalties=self._penalties,
            same=self._found.same if self._found.looked_at else self._same,
        )


def _after(course: Course, notebook: Any, entry: Entry | None) -> tuple[float, float]:
    """A notebook's points, and what it is worth, once an entry is recorded: marks that a person gave stay."""
    score, points = float(notebook.score), float(notebook.max_score)
    if entry is None:
        return score, points
    by_cell: dict[str, Graded] = {course.exercise(each.exercise).graded_id: each for each in entry.submission.exercises}
    for grade in notebook.grades:
        graded = by_cell.get(grade.name)
        if graded is not None:
            points += graded.points - grade.max_score
            score += graded.earned - (grade.auto_score or 0.0) if grade.manual_score is None else 0.0
    return score, points
