"""How sentences are told in other languages, which minigrad knows: what students read of the grader is told so too.

A course about another package that reports in English needs none of it, and then minigrad is not imported.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from minigrad.exercises.telling import Catalogue

__all__ = ["Catalogue", "Told", "catalogue_of", "speaking", "told"]

Told: TypeAlias = str
"""A text that is told, as in `minigrad.exercises.telling`."""


def told(text: str) -> str:
    """Return a sentence in the language that is spoken; as it is where nothing has asked for one."""
    telling = sys.modules.get("minigrad.exercises.telling")
    return str(telling.told(text)) if telling else text


def catalogue_of(sentences: Mapping[str, str]) -> Catalogue:
    """Return the catalogue of a language, by its sentences; none are English."""
    from minigrad.exercises.telling import Catalogue

    return Catalogue(sentences)


def speaking(catalogue: Catalogue) -> AbstractContextManager[None]:
    """Tell what is told inside the block by a catalogue."""
    from minigrad.exercises import telling

    return telling.speaking(catalogue)
