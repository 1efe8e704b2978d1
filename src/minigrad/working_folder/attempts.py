"""Attempts: a solution is shown to a reader who has tried the exercise, or answered the question."""

from __future__ import annotations

import difflib
from pathlib import Path

from minigrad import exercises
from minigrad.errors import MinigradError
from minigrad.tutor import progressing
from minigrad.working_folder import checking, merging
from minigrad.working_folder.merging import NotANotebook

__all__ = ["no_attempt", "unanswered"]


def no_attempt(name: str, folder: Path | None) -> str:
    """Return why nothing counts as an attempt, as a clause; "" after an attempt.

    An exercise is tried if it was checked, and its saved cell is not the stub. A question is tried if its saved cell
    has another text than the one that was given out.

    Args:
        name: The exercise's id or the question's name.
        folder: The working folder; None if there is none.

    Raises:
        MinigradError: If the working folder has no such exercise and no such question.
    """
    if folder is None:
        return "outside of a working folder no attempt is known"
    questions = _questions(folder)
    if name not in exercises.catalogue() and name not in questions:
        near = difflib.get_close_matches(name, [*exercises.catalogue(), *questions], n=1)
        meant = f"did you mean {near[0]}?" if near else "`minigrad exercises` lists the exercises"
        raise MinigradError(f"solution: there is no exercise and no question {name!r}; {meant}")
    try:
        if name in questions:
            lesson, given = questions[name]
            mine = _answers(folder / f"{lesson}.ipynb").get(name, "")
            ask = f"the question {name} has no answer of yours yet: write it into {lesson}.ipynb, and save the notebook"
            return "" if mine and mine != given else ask
        ask = f"{name} has no attempt of yours yet: write an answer, save the notebook and check it"
        return "" if _is_tried(name, folder) else ask
    except MinigradError as error:
        return str(error)


def unanswered(notebook: Path) -> list[str]:
    """Return the names of a lesson's questions that have no answer in its notebook, which lies in a working folder.

    Raises:
        MinigradError: If it is no notebook.
    """
    said = _answers(notebook)
    given = {name: text for name, (lesson, text) in _questions(notebook.parent).items() if lesson == notebook.stem}
    return [name for name, text in given.items() if said.get(name, "") in ("", text)]


def _is_tried(id: str, folder: Path) -> bool:
    done = progressing.read(folder).get(id)
    notebook = folder / f"{exercises.get(id).lesson}.ipynb"
    if done is None or not done.checks or not notebook.is_file():
        return False
    answers = [source for source in exercises.answer_cells(notebook) if exercises.exercise_of(source) == id]
    return not all(checking.is_as_given(id, source) for source in answers)


def _questions(folder: Path) -> dict[str, tuple[str, str]]:
    """Return, by the question's name, its lesson and the text that stands in the place of an answer."""
    found: dict[str, tuple[str, str]] = {}
    for base in sorted((folder / progressing.FOLDER / "base").glob("*.ipynb")):
        found |= {name: (base.stem, text) for name, text in _answers(base).items()}
    return found


def _answers(notebook: Path) -> dict[str, str]:
    try:
        return merging.answers_to_questions(merging.parse(notebook.read_bytes()))
    except FileNotFoundError:
        return {}
    except NotANotebook as error:
        raise MinigradError(f"{notebook.name}: {error}") from None
