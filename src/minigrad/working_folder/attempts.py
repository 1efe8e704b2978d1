"""Attempts: a solution is shown to a reader who has tried the exercise, or answered the question."""

from __future__ import annotations

from pathlib import Path

from minigrad import exercises
from minigrad.errors import MinigradError
from minigrad.tutor import progressing
from minigrad.working_folder import checking, merging
from minigrad.working_folder.merging import NotANotebook


def no_attempt(name: str, folder: Path | None) -> str:
    """Return why nothing counts as an attempt, as a clause; "" after an attempt.

    An exercise is tried if it was checked or graded, and its saved cell is not the stub. A question is tried if its
    saved cell has another text than the one that was given out.

    Args:
        name: The exercise's id or the question's name.
        folder: The working folder; None if there is none.
    """
    if folder is None:
        return "outside of a working folder no attempt is known"
    asked = questions(folder)
    try:
        if name in asked:
            lesson, given = asked[name]
            mine = _answers(folder / f"{lesson}.ipynb").get(name, "")
            ask = f"the question {name} has no answer of yours yet: write it into {lesson}.ipynb, and save the notebook"
            return "" if mine and mine != given else ask
        return _missing_step(name, folder)
    except MinigradError as error:
        return str(error)


def unanswered(notebook: Path) -> list[str]:
    """Return the names of a lesson's questions that have no answer in its notebook, which lies in a working folder.

    Raises:
        MinigradError: If it is no notebook.
    """
    said = _answers(notebook)
    given = {name: text for name, (lesson, text) in questions(notebook.parent).items() if lesson == notebook.stem}
    return [name for name, text in given.items() if said.get(name, "") in ("", text)]


def _missing_step(id: str, folder: Path) -> str:
    """Return which of the steps of an attempt is missing: writing and saving the answer, or having it looked at."""
    done = progressing.read(folder).get(id)
    was_checked, is_saved = done is not None and done.checks + done.graded > 0, _is_saved(id, folder)
    if is_saved and was_checked:
        return ""
    if is_saved:
        return f"your answer to {id} was neither checked nor graded: `minigrad check --exercise {id}` checks it"
    if was_checked:
        return f"the saved notebook holds no answer to {id}: write one, or save the notebook if you have"
    return f"{id} has no attempt of yours yet: write an answer, save the notebook and check it"


def _is_saved(id: str, folder: Path) -> bool:
    notebook = folder / f"{exercises.get(id).lesson}.ipynb"
    cells = exercises.answer_cells(notebook) if notebook.is_file() else []
    return not all(checking.is_as_given(id, source) for source in cells if exercises.exercise_of(source) == id)


def questions(folder: Path) -> dict[str, tuple[str, str]]:
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
