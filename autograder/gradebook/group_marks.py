"""One mark for a group: what a person gives to one member in Formgrader, the others have at once.

nbgrader has no hook for a mark, but its rows are SQLAlchemy's, which tells of each change before it is sent. nbgrader's
configuration asks for that in every process (`configure`). Marks are shared between those of whom the same notebook is
recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import Comment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import event, inspect
from sqlalchemy.orm import Session

from autograder.course.classlist import read_class_list
from autograder.grafting.tidying import course_of
from autograder.results.ledger import read_entry

_GIVEN = {Grade: ("manual_score", "extra_credit", "needs_manual_grade"), Comment: ("manual_comment",)}
"""The columns that a person fills in."""

_root: list[Path] = []


def share_marks(root: Path) -> None:
    """Let every session of this process share what a person gives.

    Args:
        root: The course's directory.
    """
    _root[:] = [root]
    if not event.contains(Session, "before_flush", _share):  # the configuration is read again and again
        event.listen(Session, "before_flush", _share)


def hand_on_marks(gradebook: Any, assignment: str, student: str, member: str) -> None:
    """Give a member of a group the marks that a person has given to another one, where it has none of its own.

    Args:
        gradebook: nbgrader's gradebook, opened.
        assignment: The assignment's name.
        student: Whose marks.
        member: Who gets them.
    """
    for kind, names in _GIVEN.items():
        for given in _rows(gradebook.db, kind, assignment, [student]):
            if getattr(given, names[0]) is not None:
                for other in _rows(gradebook.db, kind, assignment, [member], given.cell_id):
                    if getattr(other, names[0]) is None:
                        _copy(given, other)


def _share(session: Any, *_: object) -> None:
    for given in list(session.dirty):
        if type(given) in _GIVEN and _is_given(given):
            submission = given.notebook.assignment
            student, assignment, lesson = submission.student_id, submission.assignment.name, given.notebook.name
            members = [each for each in _members(assignment, student, lesson) if each != student]
            for other in _rows(session, type(given), assignment, members, given.cell_id) if members else ():
                _copy(given, other)


def _is_given(row: Any) -> bool:
    """Return whether a person has changed a row: by a mark, a comment or a second look, which the grader asks for."""
    changed = [name for name in _GIVEN[type(row)] if inspect(row).attrs[name].history.has_changes()]
    is_second_look = changed == ["needs_manual_grade"] and not row.needs_manual_grade and row.manual_score is not None
    return is_second_look or (bool(changed) and changed != ["needs_manual_grade"])


def _members(assignment: str, student: str, lesson: str) -> Iterator[str]:
    """The members of a student's group of whom the same notebook is recorded."""
    root = _root[0]
    members = read_class_list(course_of(root)).members(assignment, student)
    entries = {each: read_entry(root, each, assignment, lesson) for each in members} if len(members) > 1 else {}
    own = entries.get(student)
    return (each for each, entry in entries.items() if own and entry and entry.sha256 == own.sha256)


def _rows(session: Any, kind: Any, assignment: str, students: list[str], cell: str | None = None) -> list[Any]:
    """The rows of a kind of some students' submissions of an assignment, of all cells or of one."""
    query = session.query(kind).join(SubmittedNotebook, kind.notebook_id == SubmittedNotebook.id)
    query = query.join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    query = query.filter(SubmittedAssignment.student_id.in_(students))
    found = query.filter(kind.cell_id == cell) if cell else query
    return [each for each in found.all() if each.notebook.assignment.assignment.name == assignment]


def _copy(given: Any, other: Any) -> None:
    for name in _GIVEN[type(given)]:
        setattr(other, name, getattr(given, name))
