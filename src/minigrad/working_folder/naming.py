"""The exercise or question that a name on a command line stands for: one search for `hint`, `solution` and `check`."""

from __future__ import annotations

import difflib
from pathlib import Path

from minigrad import exercises
from minigrad.errors import UnknownExercise
from minigrad.exercises import syllabus
from minigrad.machine import packages
from minigrad.working_folder import attempts


def meant(name: str, folder: Path | None) -> str:
    """Return an exercise's id, or a question's name.

    An exercise may be named by the end of its id or by a function that it asks for, with its module or without:
    `permute` is `tensor_data.permute`, and `operators.mul` is `operators.arithmetic`.

    Args:
        name: What was typed.
        folder: The working folder, whose questions are known; None if there is none.

    Raises:
        UnknownExercise: If there is none, or if several may be meant.
    """
    known = exercises.catalogue()
    if name in known:
        return name
    questions = {} if folder is None else attempts.questions(folder)
    if name in questions:
        return name
    found = syllabus.named(name)
    if len(found) == 1:
        return found[0]
    near = difflib.get_close_matches(name, [*known, *questions], n=1, cutoff=0.5)
    if found or near:
        advice = f"did you mean {' or '.join(found or near)}?"
    else:
        advice = "`minigrad exercises` lists the exercises"
    raise UnknownExercise(f"there is no exercise and no question {name!r}; {advice}")


def exercise_meant(name: str, folder: Path | None) -> str:
    """Return an exercise's id, as `meant` does.

    Raises:
        UnknownExercise: If there is none, if several may be meant, or if it is a question.
    """
    found = meant(name, folder)
    if found in exercises.catalogue() or folder is None:
        return found
    lesson, _ = attempts.questions(folder)[found]
    advice = f"; `minigrad solution {found}` shows a model answer once yours is saved" if packages.has_grader() else ""
    raise UnknownExercise(f"{found} is a question of lesson {lesson}, and no exercise{advice}")
