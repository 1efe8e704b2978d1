"""The log of regradings: who changed which marks, when, and why.

It is only added to. The one exception is `autograder forget`, which takes a student's marks out of it.
"""

from __future__ import annotations

import getpass
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.common.lines import append, records

if TYPE_CHECKING:
    from autograder.results.changes import Change

AFRESH = "graded afresh"
"""The reason where a recorded notebook was graded again by `--fresh`."""

LOG = Path(".grades", "regrades.jsonl")
"""The log, in a course's directory: a line before and a line after each regrading."""


def begin(course: Path, changes: Sequence[Change], why: str, *, lower: bool) -> str:
    """Write ahead what is about to be recorded.

    Args:
        course: The course's directory.
        changes: The marks.
        why: The reason that was given.
        lower: Whether it was said that marks may fall.

    Returns:
        The name of this run, for `end`.
    """
    run = secrets.token_hex(4)
    said = [asdict(change) for change in changes]
    append(course / LOG, {"run": run, "state": "begun", "who": _user(), "why": why, "lower": lower, "changes": said})
    return run


def end(course: Path, run: str) -> None:
    """Write that everything of a run is recorded."""
    append(course / LOG, {"run": run, "state": "done"})


@contextmanager
def logged(course: Path, changes: Sequence[Change], why: str) -> Iterator[None]:
    """Log marks that are recorded in this block; nothing is written where none changes."""
    run = begin(course, changes, why, lower=True) if changes else ""
    yield
    if run:
        end(course, run)


def students_of(course: Path) -> set[str]:
    """Return the students whose marks the log tells of."""
    return {str(change["student"]) for _, record in records(course / LOG) for change in record.get("changes", ())}


def without(course: Path, student: str) -> tuple[str, int]:
    """Return the log's text without a student, and the number of changes that this leaves out.

    A regrading of that student alone goes whole, with its reason. A line that a crash has cut off goes if it has the
    student's id in it.
    """
    left: list[tuple[str, dict[str, Any]]] = []
    gone, count = set[Any](), 0
    for line, record in records(course / LOG):
        changes = record.get("changes", [])
        others = [change for change in changes if change["student"] != student]
        if not record and json.dumps(student)[:-1] in line:
            count += 1
        elif len(others) == len(changes):
            left.append((line, record))
        else:
            count += len(changes) - len(others)
            gone |= set() if others else {record.get("run")}
            left.append((json.dumps({**record, "changes": others}) + "\n", record))
    return "".join(line for line, record in left if not record or record.get("run") not in gone), count


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return f"uid {os.getuid()}"
