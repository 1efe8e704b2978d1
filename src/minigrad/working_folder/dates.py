"""Due dates as a student's folder knows them: those of the course, and what the server said of an extension."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from minigrad.exercises.lesson_files import FOLDER, working_folder
from minigrad.exercises.syllabus import course
from minigrad.machine.files import write

FILE = "dates.json"
"""The file of the folder `.minigrad` with what the server said, by assignment."""


def remember(folder: Path, state: Mapping[str, Any]) -> None:
    """Keep the deadline that a server's answer has, together with the due date that it was said for.

    Without a working folder nothing is kept: what nbgrader fetched is none.
    """
    if home := working_folder(folder):
        known = _said(folder) | {str(state["assignment"]): {"due": state["due"], "deadline": state["deadline"]}}
        write(home / FOLDER / FILE, (json.dumps(known, indent=1) + "\n").encode())


def deadline(folder: Path, assignment: str) -> tuple[dt.datetime, bool] | None:
    """Return until when work is not late, and whether that is an extension; None if no date is known."""
    due = next((each.get("due") for each in course()["assignments"] if each["name"] == assignment), None)
    said = _said(folder).get(assignment, {})
    if due and not (said.get("due") and abs(_time(said["due"]) - _time(due)) < dt.timedelta(seconds=1)):
        said = {}  # the course's date has moved since; the server's answers have whole seconds
    until = said.get("deadline") or due
    return (_time(until), until != (said.get("due") or due)) if until else None


def next_dates(folder: Path, now: dt.datetime | None = None) -> list[str]:
    """Return a sentence about the assignment that is due next, of those with a notebook in the folder; [] if none is.

    Args:
        folder: The folder that is worked in.
        now: The time; by default this moment.
    """
    now = now or dt.datetime.now(dt.UTC)
    names = [
        each["name"]
        for each in course()["assignments"]
        if any((folder / f"{lesson}.ipynb").is_file() for lesson in each["lessons"])
    ]
    found = {name: date for name in names if (date := deadline(folder, name)) is not None and date[0] >= now}
    return dates_of(folder, [min(found, key=lambda name: found[name][0])], now) if found else []


def dates_of(folder: Path, assignments: Iterable[str], now: dt.datetime | None = None) -> list[str]:
    """Return a sentence about the due date of each assignment that has one.

    Args:
        folder: The folder that is worked in.
        assignments: Names of assignments.
        now: The time; by default this moment.
    """
    return [sentence(name, *date, now) for name in assignments if (date := deadline(folder, name)) is not None]


def sentence(assignment: str, until: dt.datetime, is_extended: bool, now: dt.datetime | None = None) -> str:
    """Return a sentence about a due date.

    Args:
        assignment: The assignment's name.
        until: Until when work is not late.
        is_extended: Whether that is an extension.
        now: The time; by default this moment.
    """
    now, when = now or dt.datetime.now(dt.UTC), in_words(until)
    if until < now:
        return f"{assignment} was due {when}: what is handed in now is late by {_span(now - until)}."
    if is_extended:
        return f"{assignment} is due {when}, with your extension: {_span(until - now)} are left."
    return f"{assignment} is due {when}: {_span(until - now)} are left."


def in_words(when: dt.datetime) -> str:
    """Return a time as this machine's clock shows it."""
    return f"{when.astimezone():%Y-%m-%d %H:%M %Z}"


def _span(span: dt.timedelta) -> str:
    """Return a span in days, hours or minutes, of which there are at least two."""
    minutes = max(0.0, span.total_seconds()) / 60
    if minutes >= 2 * 24 * 60:
        return f"{minutes / 24 / 60:.0f} days"
    return f"{minutes / 60:.0f} hours" if minutes >= 2 * 60 else f"{minutes:.0f} minutes"


def _time(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).astimezone(dt.UTC)


def _said(folder: Path) -> dict[str, Any]:
    """What the server said; nothing where the file is damaged: the next answer writes it again."""
    try:
        return dict(json.loads(((working_folder(folder) or folder) / FOLDER / FILE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return {}
