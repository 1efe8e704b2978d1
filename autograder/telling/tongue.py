"""The language of a report: that of the notebook that was handed in, if the course has it, else English."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.building.sentences import sentences_of_reports
from autograder.course import Course
from autograder.library import MINIGRAD
from autograder.library.speaking import catalogue_of, speaking
from autograder.results import Submission

if TYPE_CHECKING:
    from autograder.library.speaking import Catalogue

_catalogues: dict[tuple[Path, str], Catalogue] = {}


def language_of(submissions: Iterable[Submission], course: Course) -> str:
    """Return the language of the first submission that is in one of the course's languages; empty for English."""
    return next((each.language for each in submissions if each.language in course.languages), "")


def speaking_of(submissions: Iterable[Submission], course: Course) -> AbstractContextManager[None]:
    """Tell what is told inside the block in the language of some submissions, which is `language_of` them.

    Raises:
        CourseError: If a catalogue cannot be read.
    """
    key = course.directory, language_of(submissions, course)
    if not key[1] and course.library != MINIGRAD:
        return nullcontext()
    if key not in _catalogues:
        _catalogues[key] = catalogue_of(sentences_of_reports(course, key[1]) if key[1] else {})
    return speaking(_catalogues[key])
