"""The log of regradings: who changed which marks, when, and why.

It is only added to. The one exception is `autograder forget`, which takes a student's marks out of it.
"""

from __future__ import annotations

import datetime as dt
import getpass
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    _append(course / LOG, {"run": run, "state": "begun", "who": _user(), "why": why, "lower": lower, "changes": said})
    return run


def end(course: Path, run: str) -> None:
    """Write that everything of a run is recorded."""
    _append(course / LOG, {"run": run, "state": "done"})


@contextmanager
def logged(course: Path, changes: Sequence[Change], why: str) -> Iterator[None]:
    """Log marks that are recorded in this block; nothing is written where none changes."""
    run = begin(course, changes, why, lower=True) if changes else ""
    yield
    if run:
        end(course, run)


def students_of(course: Path) -> set[str]:
    """Return the students whose marks the log tells of."""
    return {str(change["student"]) for _, record in _lines(course) for change in record.get("changes", ())}


def without(course: Path, student: str) -> tuple[str, int]:
    """Return the log's text without a student, and the number of changes that this leaves out.

    A regrading of that student alone goes whole, with its reason. A line that a crash has cut off goes if it has the
    student's id in it.
    """
    left: list[tuple[str, dict[str, Any]]] = []
    gone, count = set[Any](), 0
    for line, record in _lines(course):
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


def _lines(course: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line of the log with what it says; nothing where it was cut off."""
    path = course / LOG
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else ():
        try:
            record = json.loads(line)
        except ValueError:
            record = {}
        yield line, record if isinstance(record, dict) else {}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return f"uid {os.getuid()}"


def _append(path: Path, record: Mapping[str, Any]) -> None:
    """Add a line; one that a crash cut off stays, and ends there."""
    when = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    line = json.dumps({"when": when, **record}) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        is_cut = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        os.write(descriptor, f"{chr(10) * is_cut}{line}".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
