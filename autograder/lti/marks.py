"""The gradebook's marks, sent to a column of the platform's: each mark once, and again when it has changed.

A mark is kept as sent when the platform has taken it. A run that is killed between the two sends that mark again: it is
the same mark, and the platform replaces what it has.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import httpx

from autograder.gradebook.exporting import Mark
from autograder.lti import PlatformError
from autograder.lti.asking import Services, read
from autograder.lti.keeping import Known, Link, keep_sent, read_sent

SCOPES = (
    "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem",
    "https://purl.imsglobal.org/spec/lti-ags/scope/score",
)
_COLUMN = "application/vnd.ims.lis.v2.lineitem+json"
_COLUMNS = "application/vnd.ims.lis.v2.lineitemcontainer+json"
_SCORE = "application/vnd.ims.lis.v1.score+json"
_NEWER = 409  # the platform has a mark with a later time


class State(StrEnum):
    """What became of a mark."""

    SENT = "sent"
    SAME = "the same as sent before"
    NONE = "nothing handed in"
    UNKNOWN = "not on the platform's list"
    CLEARED = "sent before, and the gradebook has none now"
    REFUSED = "refused by the platform"


@dataclass(frozen=True)
class Outcome:
    """What became of one student's mark.

    Attributes:
        student: nbgrader's student id.
        state: What became of it.
        said: The platform's answer, where it refused.
    """

    student: str
    state: State
    said: str = ""


def column_of(services: Services, link: Link, course: str, assignment: str, title: str, worth: float) -> str:
    """Find the platform's column for an assignment, or make it.

    Args:
        services: The platform's services.
        link: The course there.
        course: The course's name, which marks its columns.
        assignment: The assignment's name.
        title: Its title, which people read.
        worth: The points that it is worth.

    Returns:
        The column's address.

    Raises:
        PlatformError: If there are several, or the platform refuses.
    """
    own = {"tag": course, "resourceId": assignment}
    asked = str(httpx.URL(link.lineitems).copy_merge_params({"tag": course, "resource_id": assignment}))
    found: set[str] = set()
    for page in services.pages(asked, accept=_COLUMNS):
        if not isinstance(page, list):
            raise PlatformError(f"{link.lineitems}: its answer is no list of columns")
        # A platform may ignore what was asked for, and list all columns.
        found |= {_address(each, link) for each in page if isinstance(each, dict) and own.items() <= each.items()}
    if len(found) > 1:
        raise PlatformError(
            f"{assignment}: the platform has {len(found)} columns, {', '.join(sorted(found))}; remove all but one"
        )
    if found:
        return found.pop()
    told = {"label": f"{assignment}: {title}", "scoreMaximum": worth, **own}
    return _address(read(services.ask("POST", link.lineitems, accept=_COLUMN, content=told), link.lineitems), link)


def _address(column: Any, link: Link) -> str:
    address = column.get("id") if isinstance(column, dict) else None
    if not isinstance(address, str) or not address:
        raise PlatformError(f"{link.lineitems}: a column that it tells of has no id")
    return address


def send(
    services: Services, course: Path, column: str, marks: Iterable[Mark], members: Mapping[str, Known]
) -> Iterator[Outcome]:
    """Send marks that the platform does not have yet.

    Args:
        services: The platform's services.
        course: The course's directory.
        column: The column's address.
        marks: The gradebook's marks of the assignment.
        members: The members of the last roster, by the platform's name.

    Yields:
        What became of each mark, when it is kept.

    Raises:
        PlatformError: If the platform cannot be asked; what was sent before is kept.
    """
    before = read_sent(course, column)
    users = {each.student: user for user, each in members.items() if each.active}
    address = httpx.URL(column)
    scores = str(address.copy_with(path=f"{address.path.rstrip('/')}/scores"))
    for mark in marks:
        user = users.get(mark.student, "")
        if mark.tabled is None:
            yield Outcome(mark.student, State.CLEARED if user in before else State.NONE)
        elif not user:
            yield Outcome(mark.student, State.UNKNOWN)
        elif before.get(user) == (told := _told(mark)):
            yield Outcome(mark.student, State.SAME)
        else:
            now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
            score = {"userId": user, "timestamp": now, "activityProgress": "Completed", **told}
            answer = services.ask("POST", scores, accept=_SCORE, content=score)
            if 200 <= answer.status < 300:
                keep_sent(course, column, user, mark.student, told)
                yield Outcome(mark.student, State.SENT)
            else:
                why = "a mark there is newer; " if answer.status == _NEWER else ""
                yield Outcome(mark.student, State.REFUSED, f"{why}{answer.said}")


def _told(mark: Mark) -> dict[str, Any]:
    """What is told of a mark, and what makes it another one."""
    progress = "PendingManual" if mark.waiting else "FullyGraded"
    return {"scoreGiven": mark.tabled, "scoreMaximum": mark.max_score, "gradingProgress": progress}
