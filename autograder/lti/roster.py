"""The platform's list of members, put beside the students whom the gradebook has.

A member whom an earlier roster knew stays the same student, whatever the platform says of name and address now. Another
one is the student of the member's id or address in the gradebook, else a new student. Nobody is deleted, and nobody
becomes a student who is or was another member, or who has another address in the gradebook: a member would get the work
and marks of a namesake.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.course import Course
from autograder.gradebook.databases import back_up
from autograder.gradebook.diagnosing import opened
from autograder.gradebook.settings import gradebook_url
from autograder.lti import PlatformError
from autograder.lti.asking import Services
from autograder.lti.keeping import MEMBERS, Known, Link
from autograder.reading.student_files import is_id, one_line

SCOPE = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
_KIND = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
_LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"

Row = dict[str, str]
"""A student's fields of the gradebook: `first_name`, `last_name`, `email`."""


@dataclass(frozen=True)
class Member:
    """A student as the platform lists one.

    Attributes:
        user: The platform's name, which never changes.
        active: Whether the student is in the course now.
        fields: What is told of the student, by the names of the specification; empty texts are left out.
    """

    user: str
    active: bool
    fields: Mapping[str, str]

    def id(self, field: str) -> str:
        """The student id that a field makes; empty where the platform does not tell it."""
        if field == "login":
            return self.fields.get("email", "").partition("@")[0]
        return self.fields.get(field, "")

    @property
    def row(self) -> Row:
        """What the gradebook keeps of a student; only what the platform tells."""
        names = {"given_name": "first_name", "family_name": "last_name", "email": "email"}
        row = {own: self.fields[told] for told, own in names.items() if told in self.fields}
        return row or ({"last_name": self.fields["name"]} if "name" in self.fields else {})


@dataclass
class Roster:
    """What follows from a list of members.

    Attributes:
        members: Who is known from now on, by the platform's name.
        rows: Rows of the gradebook to make or change.
        new: Those students of them whom the gradebook does not have.
        gone: Students whom the platform does not list any more.
        notes: Members who were left out, each with the reason.
    """

    members: dict[str, Known] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    new: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_list(services: Services, link: Link) -> list[Member]:
    """Ask for the students among the members; instructors and assistants are left out.

    Raises:
        PlatformError: If the list cannot be read.
    """
    found: dict[str, Member] = {}
    for page in services.pages(link.memberships, accept=_KIND):
        members = page.get("members") if isinstance(page, dict) else None
        if not isinstance(members, list) or not all(isinstance(each, dict) for each in members):
            raise PlatformError(f"{link.memberships}: its answer is no list of members")
        for each in _students(members):
            found[each.user] = each
    return list(found.values())


def _students(members: Iterable[Mapping[str, Any]]) -> Iterator[Member]:
    for each in members:
        user, roles = each.get("user_id"), each.get("roles")
        if isinstance(user, str) and user and isinstance(roles, list) and {_LEARNER, "Learner"} & set(map(str, roles)):
            told = {name: one_line(value) for name, value in each.items() if isinstance(value, str)}
            yield Member(user, each.get("status", "Active") == "Active", {k: v for k, v in told.items() if v})


def compare(
    members: Iterable[Member], known: Mapping[str, Known], students: Mapping[str, Row], student_id: str
) -> Roster:
    """Put members beside the students of the gradebook.

    Args:
        members: The platform's list.
        known: Members of the last roster.
        students: The gradebook's rows, by student id.
        student_id: The field that becomes the id of a new student.
    """
    roster = Roster()
    holders = {each.student: user for user, each in known.items()}
    claimed: dict[str, list[Member]] = defaultdict(list)
    for each in members:
        student = _student_of(each, known, students, student_id)
        why = "" if each.user in known else _refused(each, student, holders, students, student_id)
        if not why:
            claimed[student].append(each)
        elif each.active:
            roster.notes.append(f"member {one_line(each.user)}: {why}")
    for student, own in claimed.items():
        active = [each for each in own if each.active]
        if left := active if len(active) > 1 else []:
            users = ", ".join(one_line(each.user) for each in left)
            roster.notes.append(f"{student}: more than one member would be this student; left out: {users}")
        roster.members |= {each.user: Known(student, each.active) for each in own if each not in left}
        row = active[0].row if len(active) == 1 else None
        if row is not None and (student not in students or row.items() - students[student].items()):
            roster.rows[student] = row
    listed = {each.student for each in roster.members.values() if each.active}
    for user, earlier in known.items():
        roster.members.setdefault(user, Known(earlier.student, active=False))
    roster.new = sorted(roster.rows.keys() - students.keys())
    roster.gone = sorted((students.keys() | {each.student for each in known.values()}) - listed)
    return roster


def _student_of(member: Member, known: Mapping[str, Known], students: Mapping[str, Row], student_id: str) -> str:
    """The student whom a member is; empty where nothing tells."""
    if member.user in known:
        return known[member.user].student
    own = member.id(student_id)
    if own not in students and (email := member.fields.get("email", "").casefold()):
        same = [student for student, row in students.items() if row.get("email", "").casefold() == email]
        if len(same) == 1:
            return same[0]
    return own if is_id(own) else ""


def _refused(
    member: Member, student: str, holders: Mapping[str, str], students: Mapping[str, Row], student_id: str
) -> str:
    """Why a member whom no earlier roster knew is left out; empty if the member is taken in."""
    if not student:
        return _nameless(member, student_id)
    if student in holders:
        holder = one_line(holders[student])
        return (
            f"would be {student}, who is member {holder} of an earlier roster; left out. "
            f"If they are one person, write {one_line(member.user)} for {holder} in {MEMBERS}"
        )
    told, kept = member.fields.get("email", ""), students.get(student, {}).get("email", "")
    if told and kept and told.casefold() != kept.casefold():
        return (
            f"would be {student}, who has another address in the gradebook; left out. "
            "If they are one person, correct the address there"
        )
    return ""


def _nameless(member: Member, student_id: str) -> str:
    own = member.id(student_id)
    if own:
        return f"{own!r} cannot be a student's id; left out"
    lacking = "email" if student_id == "login" else student_id
    return (
        f"the platform tells no {lacking}; left out. Let it share names and addresses with the tool, "
        "or set 'student_id' in [lti]"
    )


def students_in(course: Course) -> dict[str, Row]:
    """Return the gradebook's rows of students, by id.

    Raises:
        CourseError: If the gradebook cannot be used.
    """
    with opened(gradebook_url(course), course.name) as gradebook:
        return {
            each.id: {name: getattr(each, name) or "" for name in ("first_name", "last_name", "email")}
            for each in gradebook.students
        }


def put_rows(course: Course, rows: Mapping[str, Row]) -> None:
    """Write rows of students as `nbgrader db student import` does, but for fields of which nothing is told.

    Raises:
        CourseError: If the gradebook cannot be used.
    """
    if not rows:
        return
    back_up(course)
    with opened(gradebook_url(course), course.name) as gradebook:
        for student, row in rows.items():
            gradebook.update_or_create_student(student, **row)
