"""What lasts from one command to the next, in `.grades/lti`: key, link, members, and the marks that were sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.common.files import write
from autograder.common.lines import append, records
from autograder.course.platform import Platform
from autograder.lti import PlatformError

_FOLDER = Path(".grades", "lti")
KEY = _FOLDER / "key.pem"
"""The grader's key pair, in a course's directory."""
LINK = _FOLDER / "link.json"
"""The place on the platform that an instructor's launch told."""
MEMBERS = _FOLDER / "members.json"
"""The platform's names of students."""
SENT = _FOLDER / "sent.jsonl"
"""A line for each mark that the platform took."""
LOCK = _FOLDER / "lock"
"""Is held by the run that sends marks."""


@dataclass(frozen=True)
class Link:
    """A course of the platform's, and the addresses of its services.

    Attributes:
        issuer: The platform.
        client_id: The grader's name there.
        deployment_id: The place where the grader may be used.
        context: The platform's name of its course.
        title: Its title.
        memberships: Where its members are listed.
        lineitems: Where its columns of marks are listed.
    """

    issuer: str
    client_id: str
    deployment_id: str
    context: str
    title: str
    memberships: str
    lineitems: str

    def is_of(self, platform: Platform) -> bool:
        """Return whether the link is of this registration."""
        own = (self.issuer, self.client_id, self.deployment_id)
        return own == (platform.issuer, platform.client_id, platform.deployment_id)


@dataclass(frozen=True)
class Known:
    """A member of the platform's course as the last roster had it.

    Attributes:
        student: nbgrader's student id.
        active: Whether the platform listed the student.
    """

    student: str
    active: bool


def write_link(course: Path, link: Link) -> None:
    """Keep a link; members of another place are not known here."""
    before = _read(course / LINK)
    if before is not None and before.get("context") != link.context:
        (course / MEMBERS).unlink(missing_ok=True)
    write(course / LINK, json.dumps(asdict(link), indent=1) + "\n")


def read_link(course: Path) -> Link | None:
    """Read the link; None if there is none yet.

    Raises:
        PlatformError: If the file is damaged.
    """
    said = _read(course / LINK)
    try:
        return None if said is None else Link(**said)
    except TypeError as error:
        raise _damaged(course / LINK) from error


def write_members(course: Path, members: Mapping[str, Known]) -> None:
    """Keep members, by the platform's name of each."""
    said = {user: asdict(each) for user, each in sorted(members.items())}
    write(course / MEMBERS, json.dumps(said, indent=1, ensure_ascii=False) + "\n")


def read_members(course: Path) -> dict[str, Known]:
    """Read the members, by the platform's name of each; nobody if there was no roster yet.

    Raises:
        PlatformError: If the file is damaged.
    """
    try:
        return {user: Known(**each) for user, each in (_read(course / MEMBERS) or {}).items()}
    except TypeError as error:
        raise _damaged(course / MEMBERS) from error


def keep_sent(course: Path, column: str, user: str, student: str, mark: Mapping[str, Any]) -> None:
    """Keep that the platform took a mark, on the disk before the next one is sent."""
    append(course / SENT, {"column": column, "user": user, "student": student, "mark": mark})


def read_sent(course: Path, column: str) -> dict[str, dict[str, Any]]:
    """The last mark that the platform took of each member in a column."""
    found = (record for _, record in records(course / SENT))
    return {each["user"]: each["mark"] for each in found if each.get("column") == column}


def students_of(course: Path) -> set[str]:
    """Return the students whom members and sent marks name."""
    sent = {str(record["student"]) for _, record in records(course / SENT) if record}
    return sent | {each.student for each in read_members(course).values()}


def without(course: Path, student: str) -> tuple[dict[str, Known], str, int]:
    """Return members and sent marks without a student, and how many that leaves out.

    A line that a crash has cut off goes if it has the student's id in it.
    """
    members = read_members(course)
    others = {user: each for user, each in members.items() if each.student != student}
    lines = list(records(course / SENT))
    left = [
        line
        for line, record in lines
        if record.get("student") != student and (record or json.dumps(student)[:-1] not in line)
    ]
    return others, "".join(left), len(members) - len(others) + len(lines) - len(left)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _damaged(path) from error
    if not isinstance(said, dict):
        raise _damaged(path)
    return said


def _damaged(path: Path) -> PlatformError:
    again = "roster" if path.name == MEMBERS.name else "listen"
    return PlatformError(f"{path}: is damaged; remove it, then give `autograder lti {again}`")
