"""The owner and the time of each file in the archives that Moodle and Canvas make of a class's submissions.

`nbgrader zip_collect` unpacks `downloaded/ASSIGNMENT/archive/*.zip` and asks for each file which student it is from.
Both systems say so in the path, but neither says nbgrader's student id: Moodle gives the full name and a number that
is another one in each assignment, Canvas a name without spaces and its own number. The gradebook knows who that is,
once `nbgrader db student import` has told it. Moodle's grading worksheet tells whose number it is, if its CSV is put
into `downloaded/ASSIGNMENT`.

Students whom nothing tells apart get folders of their own, named by name and number, and a sentence says so.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from nbgrader.plugins.zipcollect import FileNameCollectorPlugin
from traitlets import Dict, Enum, TraitError, Unicode, default, validate

from autograder.gradebook.archive_times import are_of_packing, keep_marked_late, members
from autograder.gradebook.diagnosing import opened
from autograder.gradebook.lms_archives import stem_of
from autograder.reading.student_files import is_id, one_line

# Moodle:  Ada Lovelace_1234_assignsubmission_file_/00_fundamentals.ipynb, or without folders _file_00_fund...
# Canvas:  lovelaceada_LATE_1234_98765_00_fundamentals.ipynb
# Moodle's number is of the submission, Canvas's first one of the student.
# The first folder that says a name counts: below it, the student chose the names.
PATTERN = (
    r".*?/downloaded/[^/]+/extracted/(?:[^/]+/)??"
    r"(?P<student_id>[^/]+?)(?:_(?P<participant>\d+)_assignsubmission_file_?/?|"
    r"(?P<late>_LATE)?_(?P<number>\d+)_\d+_)(?P<file_id>.+)"
)

_PLACE = re.compile(r"(?P<home>.*?/downloaded/(?P<assignment>[^/]+))/extracted/")


@dataclass(frozen=True)
class _Owner:
    """A student as an archive names one: the name, and the number of Canvas or of Moodle."""

    name: str
    number: str = ""
    participant: str = ""

    def __str__(self) -> str:
        return "_".join(part for part in (self.name, self.number or self.participant) if part)


@dataclass(frozen=True)
class _Unpacked:
    """The students whom unpacked files name: by folded name, and whether Canvas marks one late."""

    owners: dict[str, set[_Owner]] = field(default_factory=dict)
    late: dict[_Owner, bool] = field(default_factory=dict)


class RosterCollector(FileNameCollectorPlugin):  # type: ignore[misc]  # nbgrader ships no types
    """Finds a file's student by what Moodle or Canvas says of them; without a roster, by the name as it stands."""

    students = Dict(
        help="Student ids by the archive's numbers, or by name and number as in 'Wei Li_471', where nothing else tells."
    ).tag(config=True)
    timezone = Unicode(
        "", help="The time zone of the learning platform, such as 'Europe/Berlin'; that of this machine if empty."
    ).tag(config=True)
    member_times = Enum(
        ("auto", "always", "never"),
        "auto",
        help="Whether the times in an archive are those of handing in; 'auto' leaves out those of packing it.",
    ).tag(config=True)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._names: dict[Path, set[str]] = {}
        self._taken: set[tuple[str, str]] = set()
        self._said: set[str] = set()
        self._worksheets: dict[Path | None, dict[str, str]] = {}
        self._archives: dict[Path | None, _Unpacked] = {}
        self._known_times: dict[Path | None, dict[str, dt.datetime]] = {}

    @default("named_regexp")
    def _named_regexp(self) -> str:
        return PATTERN

    @default("valid_ext")
    def _valid_ext(self) -> list[str]:
        return [".ipynb", ".py", ".html", ".json", ".zip"]  # what the grader reads

    @validate("timezone")
    def _known_zone(self, proposal: Any) -> str:
        name = str(proposal["value"])
        try:
            ZoneInfo(name or "UTC")
        except (KeyError, OSError, ValueError) as error:
            raise TraitError(f"there is no time zone {name!r}; write one such as 'Europe/Berlin'") from error
        return name

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Return whose a file is, its name, and when it was handed in, where that is known."""
        found: dict[str, str] | None = super().collect(submitted_file)
        if found is None:
            return None
        when = self._times(submitted_file).get(found["student_id"])
        if when is not None and "timestamp" not in found:
            found["timestamp"] = f"{when:%Y-%m-%d %H:%M:%S} UTC"
        key = (found["student_id"], found["file_id"])
        if key in self._taken and "timestamp" not in found:  # nbgrader would stop here, and collect nobody
            self.log.warning(
                "%s: %s is in the archives twice, and nothing tells which is newer: %s was left out; keep one archive "
                "in archive/, and collect again",
                *key,
                submitted_file,
            )
            return None
        self._taken.add(key)
        return found

    def _match(self, filename: str) -> dict[str, str] | None:
        found: dict[str, str] | None = super()._match(filename)
        if found and self._is_named_like_a_student(filename, found):
            return None
        if found:
            found["student_id"] = self._student(_owner(found), filename)
            if not is_id(found["student_id"]):
                self._warn(f"{found['student_id']!r} cannot be a student's id; {one_line(filename)} was left out")
                return None
            for name in ("number", "participant", "late"):
                found.pop(name, None)
        return found

    def _is_named_like_a_student(self, filename: str, found: dict[str, str]) -> bool:
        """Return whether an archive's name says a student, as in hw1_2027_01_31.zip, and names in it say others."""
        home = _home(filename)
        first, _, rest = filename.partition("/extracted/")[2].partition("/")
        if home is None or first not in self._archives_of(home):
            return False
        inner = re.match(self.named_regexp, f"{home}/extracted/{rest}")
        if not inner or _owner(inner.groupdict()) == _owner(found):
            return False
        self._warn(
            f"archive/{first}: its name is that of a student's file, and so are names in it, so that nothing tells "
            "whose they are; rename it, as to class.zip, and collect again"
        )
        return True

    def _archives_of(self, home: Path) -> set[str]:
        """The names of the archives beside each other, without their endings."""
        if home not in self._names:
            files = (home / "archive").glob("*")
            self._names[home] = {stem_of(each.name) for each in files if each.is_file() and each.suffix != ".ipynb"}
        return self._names[home]

    # Whose it is ---------------------------------------------------------------------------------------------

    def _student(self, owner: _Owner, filename: str) -> str:
        """The id of a student whom an archive names."""
        sure = self._sure(owner, filename)
        if sure:
            return sure
        namesakes = self._archive(filename).owners.get(_folded(owner.name), set()) | {owner}
        known = self._by_name.get(_folded(owner.name), set()) | self._by_name.get(owner.name.casefold(), set())
        left = known - {self._sure(each, filename) for each in namesakes}
        unsure = [each for each in namesakes if not self._sure(each, filename)]
        if len(unsure) == 1 and len(left) == 1:
            (student,) = left
            self._tell_of_another_number(owner, student)
            return student
        if len(unsure) == 1 and len(namesakes) == 1:
            if known or self._is_named:
                self._tell_apart(owner, known, owner.name)
            return owner.name
        self._tell_apart(owner, known, str(owner))
        return str(owner)

    def _sure(self, owner: _Owner, filename: str) -> str:
        """The id that a number tells; empty where it tells none."""
        number = owner.number or owner.participant
        said = self.students.get(str(owner)) or self.students.get(number)
        said = said or self._by_number.get(owner.number) or self._worksheet(filename).get(owner.participant)
        return str(said or "")

    def _tell_of_another_number(self, owner: _Owner, student: str) -> None:
        number = next((number for number, each in self._by_number.items() if each == student), "")
        if owner.number and number:
            self._warn(
                f"{owner}: was taken for {student}, by the name alone; the gradebook has another number of that "
                f"student, {number}; correct lms_user_id if it is the same person, else rename submitted/{student}"
            )

    def _tell_apart(self, owner: _Owner, known: set[str], folder: str) -> None:
        who = (
            f"the gradebook has {', '.join(sorted(known))} of that name"
            if known
            else "the gradebook has none of that name"
        )
        self._warn(
            f"{owner}: nothing tells which student that is ({who}); the work is in submitted/{folder}. Import "
            "lms_user_id (Canvas), put Moodle's grading worksheet beside archive/, or set c.RosterCollector.students = "
            f"{{{str(owner)!r}: 'ID'}}; then collect again, with --force"
        )

    def _warn(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self.log.warning(sentence)

    @cached_property
    def _roster(self) -> list[Any]:
        coursedir = self.parent.coursedir
        with opened(coursedir.db_url, coursedir.course_id) as gradebook:
            return [
                (each.id, each.first_name or "", each.last_name or "", each.email or "", str(each.lms_user_id or ""))
                for each in gradebook.students
            ]

    @property
    def _is_named(self) -> bool:
        """True if names were imported, so that a name which the gradebook has not is a stranger's, or misspelt."""
        return any(first or last for _, first, last, *_ in self._roster)

    @cached_property
    def _by_number(self) -> dict[str, str]:
        """Student ids by the number that Canvas has."""
        count = Counter(number for *_, number in self._roster)
        return {number: student for student, *_, number in self._roster if number and count[number] == 1}

    @cached_property
    def _by_name(self) -> dict[str, set[str]]:
        """Student ids by name and id, however they are written together, and by address."""
        found = defaultdict[str, set[str]](set)
        for student, first, last, email, _ in self._roster:
            for way in (_folded(student), _folded(first + last), _folded(last + first), email.casefold()):
                if way:
                    found[way].add(student)
        return dict(found)

    def _worksheet(self, filename: str) -> dict[str, str]:
        """Student ids by Moodle's number, from the grading worksheets beside the archives."""
        home = _home(filename)
        if home not in self._worksheets:
            rows = [row for path in sorted(home.glob("*.csv")) for row in _rows(path)] if home is not None else []
            found = {}
            for row in rows:
                number = re.sub(r"\D", "", row.get("Identifier") or "")
                keys = (row.get("ID number") or "", row.get("Email address") or "", row.get("Username") or "")
                people = set[str]().union(*(self._by_exactly(key) for key in keys))
                if number and len(people) == 1:
                    found[number] = people.pop()
            self._worksheets[home] = found
        return self._worksheets[home]

    def _by_exactly(self, key: str) -> set[str]:
        return {
            who for who, _, _, email, _ in self._roster if key and key.casefold() in (who.casefold(), email.casefold())
        }

    def _archive(self, filename: str) -> _Unpacked:
        """Return the owners and the lateness that the paths of all unpacked files name."""
        home = _home(filename)
        if home not in self._archives:
            files = sorted((home / "extracted").rglob("*")) if home is not None else []
            said = (re.match(self.named_regexp, str(path)) for path in files if path.is_file())
            unpacked = self._archives[home] = _Unpacked()
            for found in filter(None, said):
                groups = found.groupdict()
                owner = _owner(groups)
                unpacked.owners.setdefault(_folded(owner.name), set()).add(owner)
                unpacked.late[owner] = unpacked.late.get(owner, False) or bool(groups.get("late"))
        return self._archives[home]

    # When it was handed in -----------------------------------------------------------------------------------

    def _times(self, filename: str) -> dict[str, dt.datetime]:
        """When each student handed in, where an archive tells; whom it marks late without a time is kept."""
        home = _home(filename)
        if home not in self._known_times:
            self._known_times[home] = times = self._read_times(home) if home is not None else {}
            if home is not None and home.is_dir():
                self._keep_marked(home, filename, times)
        return self._known_times[home]

    def _read_times(self, home: Path) -> dict[str, dt.datetime]:
        zone = ZoneInfo(self.timezone) if self.timezone else None
        found: dict[str, dt.datetime] = {}
        for archive in sorted((home / "archive").rglob("*")):
            if self.member_times == "never" or not archive.is_file():
                continue
            times = list(self._own_times(archive, zone, home))
            if self.member_times == "auto" and are_of_packing([when for _, when in times]):
                self.log.warning(
                    "%s: its times are those of packing it, so that it tells no time of handing in", archive.name
                )
                continue
            for student, when in times:
                found[student] = max(when, found.get(student, when))
        return found

    def _own_times(self, archive: Path, zone: ZoneInfo | None, home: Path) -> Iterator[tuple[str, dt.datetime]]:
        """Student and time of each file of an archive, in its order."""
        stem = stem_of(archive.name)
        for member in members(archive, zone):
            place = f"{home}/extracted/{stem}/{member.name}"
            said = re.match(self.named_regexp, place)
            if said and member.when is not None:
                yield self._student(_owner(said.groupdict()), place), member.when

    def _keep_marked(self, home: Path, filename: str, times: dict[str, dt.datetime]) -> None:
        late: dict[str, bool] = {}
        for owner, is_late in self._archive(filename).late.items():
            student = self._student(owner, filename)
            late[student] = student not in times and (late.get(student, False) or is_late)
        keep_marked_late(home.parent.parent, home.name, late)
        marked = sorted(student for student, is_late in late.items() if is_late)
        if marked:
            self.log.warning("Canvas marks as late, without a time: %s", ", ".join(marked))
        unknown = sorted(late.keys() - times.keys() - set(marked))
        if unknown:
            self.log.warning("no time of handing in is known, so that nobody of these is late: %s", ", ".join(unknown))


def _owner(said: dict[str, Any]) -> _Owner:
    return _Owner(said["student_id"], said.get("number") or "", said.get("participant") or "")


def _home(filename: str) -> Path | None:
    """The folder `downloaded/ASSIGNMENT` of an unpacked file."""
    found = _PLACE.match(filename)
    return Path(found["home"]) if found else None


def _rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from csv.DictReader(file)
    except (OSError, UnicodeDecodeError, csv.Error):
        return


def _folded(name: str) -> str:
    """A name as Canvas writes it: small letters and digits alone."""
    return "".join(character for character in name.casefold() if character.isalnum())
