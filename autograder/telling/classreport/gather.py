"""Read what a class did: the ledger, and the text of the answers that it is about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.building.build import points_of
from autograder.building.masters import find_master
from autograder.building.slicing import slice_exercise
from autograder.common.python_text import names_in
from autograder.course import Course, CourseError
from autograder.course.answers import variants, wrong_answers
from autograder.course.classlist import ClassList, read_class_list
from autograder.results.ledger import Entry, entries
from autograder.telling.likeness import TOGETHER
from autograder.telling.outside import Outside, read_outside


@dataclass(frozen=True)
class ClassData:
    """The data that the page is made from.

    Attributes:
        name: The course's name.
        titles: The title of each assignment, by name, in the course's order.
        entries: Their results.
        answers: For each exercise, the text of each student's solution cell that was worked on.
        known: For each exercise, answers that two students may well share; what the task gives out comes first.
        outside: Answers from elsewhere, with which these are compared too; None if there is nothing to compare with.
        unread: Students whose submitted notebook is not the one that was graded, with the lesson.
        by_hand: Points of each assignment that a person gives, for answers to questions, besides those by tests.
        classmates: Groups and sections.
        left: Graders, section, assignment and number of answers that a person has still to mark.
        gone: Students who were graded and of whom nothing is in `submitted` any more; their marks are left out.
        notable: Student, assignment, lateness, points, penalty, mark and answers to be marked, of those whose mark in
            the gradebook has more to it than points; None if the gradebook was not read.
    """

    name: str
    titles: Mapping[str, str]
    entries: Sequence[Entry]
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unread: Sequence[tuple[str, str]] = ()
    gone: Sequence[str] = ()
    notable: Sequence[Sequence[str]] | None = None
    by_hand: Mapping[str, float] = field(default_factory=dict)
    outside: Outside | None = None
    classmates: ClassList | None = None
    left: Sequence[Sequence[str]] = ()

    def author(self, assignment: str, student: str) -> str:
        """The student, or all members of the group: whose work a submission is."""
        return student if self.classmates is None else TOGETHER.join(self.classmates.members(assignment, student))

    def places(self, assignments: Sequence[str], student: str) -> dict[str, str]:
        """A student's section and groups in some assignments; nothing where the class has none.

        Returns:
            What each column of a table says, by its head.
        """
        if self.classmates is None:
            return {}
        own = [groups.get(student, "") for name in assignments if (groups := self.classmates.groups.get(name))]
        section = {"section": self.classmates.sections.get(student, "")} if self.classmates.sections else {}
        return section | ({"group": ", ".join(dict.fromkeys(filter(None, own)))} if own else {})


def gather(
    course: Course,
    assignments: Iterable[str] = (),
    students: Collection[str] | None = None,
    folders: Sequence[Path] = (),
) -> ClassData:
    """Read the ledger and the submitted notebooks of some assignments; of all, if none is named.

    Args:
        course: The course.
        assignments: Their names.
        students: Take only these; all, if it is None.
        folders: Where answers from elsewhere lie, with which these are to be compared.

    Raises:
        CourseError: If there is no such assignment, or nothing of it was graded, or no such folder.
    """
    wanted = tuple(assignments) or tuple(course.assignments)
    for name in wanted:
        course.assignment(name)
    found = [entry for entry in entries(course.directory) if entry.assignment in wanted]
    if not found:
        raise CourseError(
            f"nothing of {', '.join(wanted)} was graded yet; run `autograder autograde` or `nbgrader autograde` first"
        )
    if students is not None and not any(entry.student in students for entry in found):
        raise CourseError(
            f"nothing of {', '.join(wanted)} was graded of these sections; sections.csv says who is in them"
        )
    found, gone = _present(course, [entry for entry in found if students is None or entry.student in students])
    data = ClassData(course.name, {}, found, classmates=read_class_list(course))
    answers: dict[str, dict[str, str]] = {}
    unread = []
    for entry in found:
        texts = _solutions(course, entry)
        if texts is None:
            unread.append((entry.student, entry.lesson))
        for exercise, text in (texts or {}).items():
            answers.setdefault(exercise, {})[data.author(entry.assignment, entry.student)] = text
    titles = {name: course.assignments[name].title for name in course.assignments if name in wanted}
    known = {exercise: tuple(_known(course, exercise)) for exercise in answers}
    by_hand = {name: sum(_by_hand(course, each) for each in course.assignments[name].lessons) for name in titles}
    outside = read_outside(course, folders) if folders else None
    return replace(
        data,
        titles=titles,
        answers=answers,
        known=known,
        unread=unread,
        gone=gone,
        by_hand=by_hand,
        outside=outside,
    )


def _by_hand(course: Course, lesson: str) -> float:
    """The points of a lesson that a person gives; none where its notebook cannot be made."""
    try:
        return points_of(find_master(course, lesson), by_hand=True)
    except CourseError:
        return 0.0


def _present(course: Course, found: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
    """The results of students who are still there, and the others' names: one that was renamed would count twice.

    Where nothing lies in `submitted` at all, it was put away, and all of them count.
    """
    submitted = course.directory / "submitted"
    present = {path.name for path in submitted.iterdir() if path.is_dir()} if submitted.is_dir() else set()
    if not present:
        return list(found), []
    gone = sorted({entry.student for entry in found} - present)
    return [entry for entry in found if entry.student in present], gone


def _solutions(course: Course, entry: Entry) -> dict[str, str] | None:
    """The answers that a student worked on; None if the notebook is not the one that was graded."""
    path = course.directory / "submitted" / entry.student / entry.assignment / f"{entry.lesson}.ipynb"
    try:
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != entry.sha256:
            return None
        cells: list[dict[str, Any]] = json.loads(data)["cells"]
    except (OSError, ValueError, KeyError):
        return None
    found, added = {}, []
    for cell in cells:
        label = cell["metadata"].get("minigrad", {})
        source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        if label.get("kind") == "solution" and label.get("state") == "answered":
            found[label["exercise"]] = source
        elif label.get("kind") == "added":
            added.append(source)
    return dict(zip(found, with_helpers(list(found.values()), added), strict=True))


def with_helpers(answers: Sequence[str], added: Sequence[str]) -> list[str]:
    """Answers, each followed by the cells that define names which it uses, itself or by one of them.

    Args:
        answers: The texts of a notebook's solution cells.
        added: Those of its added cells. Each is parsed once, however many answers there are.
    """
    helpers = [names_in(text) for text in added]
    return ["\n\n".join([answer, *(added[number] for number in _needed(answer, helpers))]) for answer in answers]


def _needed(answer: str, helpers: Sequence[tuple[set[str], set[str]]]) -> list[int]:
    kept = set[int]()
    waiting = [names_in(answer)[1]]
    while waiting:
        used = waiting.pop()
        for number, (defined, uses) in enumerate(helpers):
            if number not in kept and defined & used:
                kept.add(number)
                waiting.append(uses)
    return sorted(kept)


def _known(course: Course, exercise: str) -> Iterator[str]:
    """The text given out, the reference, and answers that are known in advance, right and wrong."""
    try:
        source = slice_exercise(course, exercise)
        yield from (source.stub_cell, source.reference_cell)
    except CourseError:
        pass  # an exercise that the course no longer has, or a library that is cut
    yield from variants(course.directory, exercise).values()
    yield from wrong_answers(course.directory, exercise).values()
