"""The entries of the board: students choose a name in their notebook, and their answer is right.

A cell of the student's own that begins with ``# board: NAME`` is the consent, and the only one. A notebook without
such a line, or handed in anew without it, is not on the board. The name is the only thing of a student that the page
shows.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import nbformat

from autograder.board.events import Event, HandedIn
from autograder.board.looks import look
from autograder.course import Course
from autograder.course.classlist import read_class_list
from autograder.grafting.collecting import handed_in_at
from autograder.judging.student_cells import source_cells
from autograder.reading.student_files import one_line
from autograder.results import format_points
from autograder.results.ledger import Entry, entries

LONGEST_NAME = 30

_CHOSEN = re.compile(r"\A\s*#\s*board:(.*)")

NEVER = dt.datetime.max


@dataclass(frozen=True)
class Candidate:
    """A student who chose a name.

    Attributes:
        student: nbgrader's student id, which the page never shows.
        name: The name.
        when: When the notebook was handed in; None if nobody recorded that.
        handed_in: What it holds for the event.
        refusal: Why the entry is not counted; the empty string if it is.
    """

    student: str
    name: str
    when: dt.datetime | None
    handed_in: HandedIn
    refusal: str = ""

    @property
    def turn(self) -> tuple[dt.datetime, str]:
        """The date decides between equals, and the id where there is no date."""
        return self.when or NEVER, self.student


def candidates(course: Course, event: Event) -> list[Candidate]:
    """The students who chose a name in the lesson of an event, in the order of handing in."""
    exercise = course.exercise(event.exercise)
    members = read_class_list(course).members
    found = (
        _candidate(course, event, each)
        for each in entries(course.directory)
        if each.lesson == exercise.lesson and each.student == members(each.assignment, each.student)[0]  # once a group
    )
    ordered = sorted((each for each in found if each is not None), key=lambda each: each.turn)
    students = {path.name for path in (course.directory / "submitted").glob("*")}
    return list(_with_names_of_their_own(ordered, students))


def _candidate(course: Course, event: Event, entry: Entry) -> Candidate | None:
    """A student's candidacy; None where no name was chosen."""
    folder = course.directory / "submitted" / entry.student / entry.assignment
    try:
        data = (folder / f"{entry.lesson}.ipynb").read_bytes()
        cells = source_cells(nbformat.v4.reads(data.decode()))
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    added = tuple(each.source for each in cells if each.kind == "added")
    name = chosen_name(added)
    if not name:
        return None
    answer = next((each.source for each in cells if each.exercise == event.exercise), "")
    graded = next((each for each in entry.submission.exercises if each.exercise == event.exercise), None)
    refusal = ""
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        refusal = "the notebook has changed since it was graded"
    elif graded is None or not graded.full:
        earned, points = (graded.earned, graded.points) if graded else (0.0, 0.0)
        refusal = f"{event.exercise} has {format_points(earned)} of {format_points(points)} points"
    return Candidate(entry.student, name, handed_in_at(folder), HandedIn(tuple(cells), answer, added), refusal)


def chosen_name(added: Sequence[str]) -> str:
    """The name that a student's own cells give; the empty string if they give none."""
    for text in added:
        if said := _CHOSEN.match(text):
            return one_line(said[1])[:LONGEST_NAME].strip()
    return ""


def _with_names_of_their_own(ordered: Sequence[Candidate], students: set[str]) -> Iterator[Candidate]:
    """Candidates of whom none can be taken for another one, by name or id: who came first keeps the name."""
    taken: set[str] = set()
    ids = {student: look(student) for student in students}
    for each in ordered:
        seen = look(each.name)
        if not seen:
            yield _refused(each, "nobody can see the name")
        elif seen in taken:
            yield _refused(each, "an entry that was handed in before has this name, or one that looks like it")
        elif any(seen == known for student, known in ids.items() if student != each.student):
            yield _refused(each, "the name is the id of another student, or looks like it")
        else:
            taken.add(seen)
            yield each


def _refused(candidate: Candidate, why: str) -> Candidate:
    return Candidate(candidate.student, candidate.name, candidate.when, candidate.handed_in, candidate.refusal or why)
