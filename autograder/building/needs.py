"""Which earlier lessons a lesson needs, from its sentence "You need"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from autograder.building.notebooks import Notebook

_NEEDS = re.compile(r"\*\*You need\*\*(.*?)(?:\n\n|\Z)", re.DOTALL)
_NOT_NEEDED = re.compile(r"Lesson \w+ is not needed|Without \w+")
_NUMBERS = re.compile(r"\blessons? (\d\db?(?:(?:, | and )\d\db?)*)")


def needs_of(lessons: Mapping[str, Notebook]) -> dict[str, tuple[str, ...]]:
    """Return, for each lesson, the earlier lessons that its sentence names by their numbers.

    Args:
        lessons: The notebooks in the course's order.
    """
    order = list(lessons)
    needs = {}
    for position, (name, notebook) in enumerate(lessons.items()):
        cells = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        said = next((found[1] for source in cells if (found := _NEEDS.search(source))), "")
        sentence = _NOT_NEEDED.sub("", " ".join(said.split()))
        named = {each for several in _NUMBERS.findall(sentence) for each in re.findall(r"\d\db?", several)}
        needs[name] = tuple(each for each in order[:position] if each.partition("_")[0] in named)
    return needs
