"""The line above an exercise in a notebook: how long it takes, how hard it is, and whether the short way has it.

The line is a cell of its own, which nothing grades. Other languages translate one sentence for each rank, and the
numbers are filled in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from autograder.course import RANKS, Exercise

_SENTENCES = tuple(f"**About {{minutes}} minutes · difficulty {{difficulty}} of 5 · {rank}**" for rank in RANKS)
_NUMBERS = {"minutes": r"(?P<minutes>\d+)", "difficulty": r"(?P<difficulty>\d)"}


def header_of(exercise: Exercise) -> str:
    """Return the line above an exercise; "" if its course does not say how long it takes."""
    if not exercise.rank:
        return ""
    sentence = _SENTENCES[RANKS.index(exercise.rank)]
    return sentence.format(minutes=exercise.minutes, difficulty=exercise.difficulty)


def without_numbers(paragraph: str) -> tuple[str, Mapping[str, str]]:
    """Return the sentence that translations know of a paragraph, and the numbers to fill in: of all but headers none.

    >>> without_numbers("**About 20 minutes · difficulty 3 of 5 · core**")[1]
    {'minutes': '20', 'difficulty': '3'}
    """
    for sentence in _SENTENCES:
        pattern = re.escape(sentence)
        for name, number in _NUMBERS.items():
            pattern = pattern.replace(re.escape(f"{{{name}}}"), number)
        if found := re.fullmatch(pattern, paragraph):
            return sentence, found.groupdict()
    return paragraph, {}


def is_header(text: str) -> bool:
    """Return whether the text of a cell is the line above an exercise."""
    return without_numbers(text)[0] in _SENTENCES
