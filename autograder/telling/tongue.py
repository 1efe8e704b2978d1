"""The language of a report: that of the notebook that was handed in, if the course has it, else English."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from autograder.building.sentences import sentences_of_reports
from autograder.course import Course
from autograder.library.speaking import Catalogue, speaking
from autograder.results import Submission

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
    if key not in _catalogues:
        _catalogues[key] = Catalogue(sentences_of_reports(course, key[1]) if key[1] else {})
    return speaking(_catalogues[key])
