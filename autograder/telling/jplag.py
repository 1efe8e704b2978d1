"""A class's answers as the folders that JPlag reads: https://github.com/jplag/JPlag."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from autograder.course import CourseError
from autograder.telling.classreport.gather import ClassData

NEW, OLD, BASE = "new", "old", "base"


def export(data: ClassData, target: Path) -> None:
    """Write the answers to `new`, those from elsewhere to `old`, what the tasks give out to `base`.

    A folder of `new` or `old` is one submission, with a file for each exercise. A target is whole, or not there.

    Raises:
        CourseError: If there is something at the target, or it cannot be written.
    """
    if target.exists():
        raise CourseError(f"{target}: is there already; name a folder that is to be made")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as made:
            for file, text in _files(data):
                path = Path(made, target.name, *file.parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", errors="replace")
            shutil.move(Path(made, target.name), target)
    except OSError as error:
        raise CourseError(f"{target}: cannot be written ({error.strerror})") from error


def _files(data: ClassData) -> Iterator[tuple[PurePosixPath, str]]:
    elsewhere = data.outside.answers if data.outside else {}
    places = sorted({place for exercise in data.answers for place in elsewhere.get(exercise, {})})
    # A place may be longer than the name of a folder: its end tells most.
    names = {place: f"{number:05}-{place.replace('/', '-')[-60:]}" for number, place in enumerate(places)}
    for exercise, answers in data.answers.items():
        for given in data.known.get(exercise, ())[:1]:
            yield PurePosixPath(BASE, f"{exercise}.py"), given
        for student, text in answers.items():
            yield PurePosixPath(NEW, student, f"{exercise}.py"), text
        for place, text in elsewhere.get(exercise, {}).items():
            yield PurePosixPath(OLD, names[place], f"{exercise}.py"), text
