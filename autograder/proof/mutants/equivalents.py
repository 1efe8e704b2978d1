"""Mutants that no test can tell from the reference, each with a sentence that proves it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.building.slicing import squeeze
from autograder.course import CourseError
from autograder.proof.mutants.making import Mutant

EQUIVALENT = "equivalent.toml"
"""The list's name, beside course.toml."""


@dataclass(frozen=True)
class Equivalent:
    """An entry of the list.

    Attributes:
        exercise: The exercise's id.
        before: The lines of the reference that are changed, without indentation.
        after: What may stand in their place without any effect that the exercise's text speaks of.
        because: The proof.
        nth: Which mutant is meant where several change these lines to these; None for all of them.
    """

    exercise: str
    before: str
    after: str
    because: str
    nth: int | None = None

    def names(self, mutant: Mutant) -> bool:
        """Return whether a mutant is meant, whatever its layout and its quotation marks."""
        return (
            self.exercise == mutant.exercise
            and _plain(self.before) == _plain(mutant.before)
            and _plain(self.after) == _plain(mutant.after)
            and self.nth in (None, mutant.nth)
        )

    def __str__(self) -> str:
        which = f" (nth = {self.nth})" if self.nth else ""
        return f"{self.before!r} -> {self.after!r}{which}"


def _plain(text: str) -> str:
    return squeeze(text).replace("'", '"')


def read_equivalents(path: Path, exercises: Iterable[str] | None = None) -> list[Equivalent]:
    """Read the list.

    Args:
        path: The file.
        exercises: The exercises whose entries are wanted; None for all.

    Raises:
        CourseError: If the file cannot be read, or an entry is not complete.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path.name}: is not TOML: {error}") from error
    wanted = set(data) if exercises is None else set(exercises)
    return [each for exercise in data if exercise in wanted for each in _entries(path, exercise, data[exercise])]


def _entries(path: Path, exercise: str, entries: object) -> Iterable[Equivalent]:
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries], start=1):
        fields = entry if isinstance(entry, dict) else {}
        before, after, because = (fields.get(name) for name in ("before", "after", "because"))
        several = [after] if isinstance(after, str) else after
        unknown = set(fields) - {"before", "after", "because", "nth"}
        if not isinstance(before, str) or not _are_texts(several) or not isinstance(because, str) or unknown:
            raise CourseError(
                f"{path.name}: entry {number} of {exercise!r} needs before, after (one text or a list) and because, "
                "and knows nth besides; correct it"
            )
        if not because.strip():
            raise CourseError(f"{path.name}: entry {number} of {exercise!r} has an empty because; prove it there")
        for each in several or ():
            yield Equivalent(exercise, before, each, because, fields.get("nth"))


def _are_texts(value: Sequence[object] | None) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)
