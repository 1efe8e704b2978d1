"""The groups and sections of a class: `groups.csv` and `sections.csv` in a course's folder.

Both are tables with a column `student_id`, which `autograder forget` reads like any other roster. A section's dates and
graders stand in course.toml, as `[[section]]`.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from autograder.course import Course, CourseError

GROUPS, SECTIONS = FILES = (Path("groups.csv"), Path("sections.csv"))
"""The files, in a course's directory."""


@dataclass(frozen=True)
class ClassList:
    """Groups and sections of a course.

    Attributes:
        course: The course.
        groups: The group of each student, by assignment; students who work alone are in none.
        sections: The section of each student who has one.
    """

    course: Course
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)

    @property
    def students(self) -> frozenset[str]:
        """Everybody whom one of the files names."""
        return frozenset(self.sections).union(*self.groups.values())

    @cached_property
    def _members(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        for assignment, groups in self.groups.items():
            for student, group in sorted(groups.items()):
                found[assignment, group] = (*found.get((assignment, group), ()), student)
        return found

    def members(self, assignment: str, student: str) -> tuple[str, ...]:
        """The students who hand in an assignment with a student, this one among them, in the order of ids."""
        group = self.groups.get(assignment, {}).get(student)
        return (student,) if group is None else self._members[assignment, group]

    def due(self, assignment: str, student: str) -> dt.datetime | None:
        """When an assignment is due for a student, without an extension: the section's date, else the assignment's."""
        section = self.course.sections.get(self.sections.get(student, ""))
        own = self.course.assignments.get(assignment)
        return (section.due.get(assignment) if section else None) or (own.due if own else None)

    def in_sections(self, names: Collection[str]) -> frozenset[str]:
        """The students of some sections."""
        return frozenset(student for student, section in self.sections.items() if section in names)


def read_class_list(course: Course) -> ClassList:
    """Read the groups and sections of a course; without the files everybody works alone, in no section.

    Raises:
        CourseError: If one of them cannot be read, contradicts itself, or names what course.toml does not have.
    """
    always: dict[str, str] = {}
    groups: dict[str, dict[str, str]] = {name: {} for name in course.assignments}
    for where, row in _rows(course.directory / GROUPS, ("student_id", "group")):
        assignment = row.get("assignment", "")
        if assignment and assignment not in course.assignments:
            known = ", ".join(course.assignments)
            raise CourseError(
                f"{where}: there is no assignment {assignment!r}; write one of {known}, or nothing for all"
            )
        _put(where, groups[assignment] if assignment else always, row["student_id"], row["group"])
    sections: dict[str, str] = {}
    for where, row in _rows(course.directory / SECTIONS, ("student_id", "section")):
        if row["section"] not in course.sections:
            raise CourseError(
                f"{where}: {course.path.name} has no section {row['section']!r}; add a [[section]] of that name to it, "
                "or correct the line"
            )
        _put(where, sections, row["student_id"], row["section"])
    return ClassList(course, {name: {**always, **own} for name, own in groups.items()}, sections)


def _put(where: str, found: dict[str, str], student: str, name: str) -> None:
    if found.setdefault(student, name) != name:
        raise CourseError(
            f"{where}: {student} is in {found[student]!r} already, and not in {name!r} too; remove a line"
        )


def _rows(path: Path, columns: tuple[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The lines of a table, with the place of each; none where there is no file."""
    try:
        reader = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline=""), restkey="", restval="")
        lines = [(reader.line_num, fields) for fields in reader]
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{path.name}: cannot be read ({error}); save it as CSV in UTF-8") from error
    missing = [name for name in columns if name not in (reader.fieldnames or ())]
    if missing:
        raise CourseError(
            f"{path.name}: its first line has no column {missing[0]!r}; write {','.join(columns)}, with commas"
        )
    for line, fields in lines:
        row = {name: value.strip() for name, value in fields.items() if isinstance(value, str)}
        where, student = f"{path.name}, line {line}", row["student_id"]
        if not any(row.values()):
            continue
        if not row[columns[1]]:
            raise CourseError(f"{where}: {columns[1]!r} is empty; write a name, or remove the line")
        if not student.isprintable() or set(student) & {"/", "\\"} or student[:1] in ("", "."):
            raise CourseError(f"{where}: {student!r} cannot be a student's id; write it as in submitted/")
        yield where, row
