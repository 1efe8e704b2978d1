"""The log of regradings: who changed which marks, when, and why. It is only added to."""

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

__all__ = ["AFRESH", "LOG", "begin", "end", "logged"]

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
