"""Errors that nobody foresaw: what a student's text makes the grader itself raise costs the part that it is about.

A net stands behind each step that goes over one cell, one exercise, one notebook or one student. It turns such an error
into a sentence, which begins with words that no student's code can put there. So the report says that the work is not
at fault, the instructor is told, and the part is graded again as soon as the same notebook is.
"""

from __future__ import annotations

import traceback
from pathlib import Path

UNGRADED = "the grader itself failed at"
"""The beginning of each such sentence, and of the reason of an exercise that counts as not graded."""

_GRADER = Path(__file__).parents[1]
_MAX_MESSAGE = 80


def unforeseen(what: str, error: BaseException) -> str:
    """The sentence about an error.

    Args:
        what: The part that nothing was made of, such as "this exercise".
        error: Whatever was raised.
    """
    message = " ".join(each for each in str(error).split() if each.isprintable())
    message = message if len(message) <= _MAX_MESSAGE else f"{message[: _MAX_MESSAGE - 3]}..."
    said = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return f"{UNGRADED} {what} ({said}{_place(error)}); the work is not at fault, and the instructor is told"


def _place(error: BaseException) -> str:
    """The last line of the grader's own that took part."""
    frames = (frame for frame in reversed(traceback.extract_tb(error.__traceback__)))
    own = ((Path(frame.filename), frame.lineno) for frame in frames)
    found = next(((path, line) for path, line in own if path.is_relative_to(_GRADER)), None)
    return f", {found[0].relative_to(_GRADER).as_posix()}:{found[1]}" if found else ""
