"""The answers that an exercise is known to get: wrong ones, each with one real mistake, and right ones in other words.

Each is the text of a solution cell under a docstring, in a file of its own: `wrong/EXERCISE/MISTAKE.py` and
`variants/EXERCISE/NAME.py`, in the folder of the course.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["VARIANTS", "WRONG", "files_of_answers", "variants", "wrong_answers"]

WRONG, VARIANTS = "wrong", "variants"
"""The folders of known answers, each with a folder for each exercise."""


def wrong_answers(folder: Path, exercise: str) -> dict[str, str]:
    """Return the texts of an exercise's known-wrong answers by their mistakes, in order.

    Args:
        folder: The folder that holds `wrong`.
        exercise: The exercise's id.
    """
    return _texts(files_of_answers(folder, WRONG, exercise))


def variants(folder: Path, exercise: str) -> dict[str, str]:
    """Return the texts of right answers that are written in another way than the reference, by name and in order.

    Args:
        folder: The folder that holds `variants`.
        exercise: The exercise's id.
    """
    return _texts(files_of_answers(folder, VARIANTS, exercise))


def files_of_answers(folder: Path, kind: str, exercise: str) -> list[Path]:
    """Return the files of an exercise's known answers, for whoever writes them.

    Args:
        folder: The folder that holds `wrong` and `variants`.
        kind: One of these two names.
        exercise: The exercise's id.
    """
    return sorted((folder / kind / exercise).glob("*.py"))


def _texts(files: list[Path]) -> dict[str, str]:
    return {file.stem: file.read_text(encoding="utf-8") for file in files}
