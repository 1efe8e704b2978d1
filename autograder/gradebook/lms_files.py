"""The owner of each file in the archives that Moodle and Canvas make of a class's submissions.

`nbgrader zip_collect` unpacks `downloaded/ASSIGNMENT/archive/*.zip` and asks for each file which student it is from.
Both systems say so in the path, but neither says nbgrader's student id: Moodle gives the full name, Canvas a name
without spaces and its own number. The gradebook knows who that is, once `nbgrader db student import` has told it.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from nbgrader.api import Gradebook
from nbgrader.plugins.zipcollect import FileNameCollectorPlugin
from traitlets import default

__all__ = ["PATTERN", "RosterCollector"]

# Moodle:  Ada Lovelace_1234_assignsubmission_file_/00_fundamentals.ipynb, or without folders _file_00_fund...
# Canvas:  lovelaceada_LATE_1234_98765_00_fundamentals.ipynb
# Moodle's number is of the submission, Canvas's first one of the student.
# The first folder that says a name counts: below it, the student chose the names.
PATTERN = (
    r".*?/downloaded/[^/]+/extracted/(?:[^/]+/)??"
    r"(?P<student_id>[^/]+?)(?:_\d+_assignsubmission_file_?/?|(?:_LATE)?_(?P<number>\d+)_\d+_)(?P<file_id>.+)"
)


class RosterCollector(FileNameCollectorPlugin):  # type: ignore[misc]  # nbgrader ships no types
    """Finds a file's student by what Moodle or Canvas says of them; without a roster, by the name as it stands."""

    @default("named_regexp")
    def _named_regexp(self) -> str:
        return PATTERN

    @default("valid_ext")
    def _valid_ext(self) -> list[str]:
        return [".ipynb", ".py", ".html", ".json"]  # what the grader reads

    def _match(self, filename: str) -> dict[str, str] | None:
        found: dict[str, str] | None = super()._match(filename)
        if found:
            name, number = found["student_id"], found.pop("number", None) or ""
            found["student_id"] = self._roster.get(number) or self._roster.get(_folded(name)) or name
        return found

    @cached_property
    def _roster(self) -> dict[str, str]:
        """Student ids by the number that Canvas has, and by name and id however they are written together."""
        coursedir = self.parent.coursedir
        ways: list[tuple[str, str]] = []
        with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            for each in gradebook.students:
                first, last = each.first_name or "", each.last_name or ""
                ways += {(way, each.id) for way in (_folded(each.id), _folded(first + last), _folded(last + first))}
                ways.append((str(each.lms_user_id or ""), each.id))
        count = Counter(way for way, _ in ways)
        return {way: student for way, student in ways if way and count[way] == 1}


def _folded(name: str) -> str:
    """A name as Canvas writes it: small letters and digits alone."""
    return "".join(character for character in name.casefold() if character.isalnum())
