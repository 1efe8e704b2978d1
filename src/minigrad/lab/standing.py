"""Where an assignment stands, in words: until when it is due, what became of the newest hand-in."""

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path
from typing import Any

from minigrad.errors import MinigradError
from minigrad.exercises.syllabus import course
from minigrad.exercises.telling import Told, speaking_in, told
from minigrad.working_folder import dates, handing_in, submitting

SUBMIT: Told = "Submit"


def assignment_of(notebook: Path) -> str | None:
    """Return the assignment that a notebook belongs to; None if it is no lesson."""
    return next((each["name"] for each in course()["assignments"] if notebook.stem in each["lessons"]), None)


def standing(notebook: Path) -> dict[str, Any]:
    """Return where the assignment of a notebook stands, as the page shows it; nothing for one that is no lesson.

    Args:
        notebook: The notebook's file.

    Returns:
        The keys `submit` (the button's words; empty if no server is named), `state` (one of the server's), `handed_in`
        (when), `is_late`, `lines` (sentences) and `pages` (of each lesson that was marked its name and what stands on
        its link).

    Raises:
        MinigradError: If the server that is named cannot be asked.
    """
    assignment, folder = assignment_of(notebook), notebook.parent
    if assignment is None:
        return {}
    with speaking_in(folder):
        server = handing_in.server_for(folder)
        return _told(folder, server.state(assignment)) if server else _dated(folder, assignment)


def hand_in(notebook: Path) -> dict[str, Any]:
    """Hand in the assignment of a notebook, as its files are now.

    Returns:
        What `standing` returns, with `warnings`: sentences about what looks unfinished.

    Raises:
        MinigradError: If a notebook is missing or broken, no server is named, or the server refuses.
    """
    folder = notebook.parent
    with speaking_in(folder), tempfile.TemporaryDirectory() as place:
        if (assignment := assignment_of(notebook)) is None:
            raise MinigradError(f"submit: {notebook.name} is no lesson's notebook; give it its name back")
        server = handing_in.server_to_ask(folder)
        packed = submitting.pack(folder, assignment, Path(place, f"{assignment}.zip"), advice="")
        state = server.hand_in(assignment, packed.path)
        return _told(folder, state) | {"warnings": [told(each) for each in packed.warnings]}


def feedback(notebook: Path, lesson: str) -> bytes:
    """Return the feedback page of a lesson of the notebook's assignment.

    Raises:
        MinigradError: If no server is named, or it has no such page.
    """
    return handing_in.server_to_ask(notebook.parent).page(assignment_of(notebook) or "", lesson)


def _dated(folder: Path, assignment: str) -> dict[str, Any]:
    """What is known without a server."""
    lines = [told(each) for each in dates.dates_of(folder, [assignment])]
    return {"submit": "", "state": "none", "handed_in": None, "is_late": False, "lines": lines, "pages": []}


def _told(folder: Path, state: dict[str, Any]) -> dict[str, Any]:
    """What a server's answer says."""
    dates.remember(folder, state)
    lines, name = handing_in.sentences(state), str(state["assignment"])
    is_late = state.get("late", 0) > 0
    if state["deadline"] and not is_late:  # of late work it is said that it came late
        until = dt.datetime.fromisoformat(state["deadline"])
        lines.append(dates.sentence(name, until, state["deadline"] != state["due"]))
    pages = [
        {"lesson": each["lesson"], "label": told(f"{each['lesson']}: {each['earned']:g} of {each['points']:g} points")}
        for each in state.get("lessons", ())
    ]
    said = {"submit": told(SUBMIT), "state": state["state"], "handed_in": state["handed_in"], "is_late": is_late}
    return said | {"lines": [told(each) for each in lines], "pages": pages}
