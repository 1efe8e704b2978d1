"""The files of a submission: a directory that its author controls is gone over in bounded time, and nothing is run."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PurePosixPath

from autograder.common.effort import Effort
from autograder.reading import StudentNotebook, read_notebook
from autograder.reading.exports import SUFFIXES, is_archive, members
from autograder.reading.student_files import MAX_BYTES, MAX_WITH_OUTPUTS, Unreadable, one_line, without_outputs

TIMESTAMP, SECRET = NBGRADER_FILES = ("timestamp.txt", "submission_secret.txt")
MAX_FILES = 200
"""Most files of a submission that are looked at or kept."""

MAX_DEPTH = 20
"""Folders within folders that are looked into: where they nest without end, walking them does not end either."""

MAX_KEPT = 50_000_000
"""Most bytes of a submission that are kept among the originals, and most that are read as notebooks."""

MAX_READ = 2 * MAX_WITH_OUTPUTS
"""Most bytes of a submission's notebooks that are gone over with their outputs."""

EFFORT = 10.0
"""Processor time for reading all notebooks of a submission, in seconds; a hundred ordinary ones take one."""

TOO_MUCH = f"the notebooks handed in have more than {MAX_KEPT / 1e6:g} MB together; this one was not read"
TOO_LONG = f"the files handed in took more than {EFFORT:g} s of processor time to read; this one was not read"


@dataclass(frozen=True)
class Candidate:
    """A file of a submission that may be a notebook: read, or the reason why it cannot be."""

    place: str
    stem: str
    notebook: StudentNotebook | None = None
    reason: str = ""
    exported: bool = False

    def is_named(self, lesson: str) -> bool:
        """Return whether the file, or what it says of itself, has a lesson's name."""
        return self.stem == lesson or (self.notebook is not None and self.notebook.lesson == lesson)


class HandedIn:
    """The files of a submission: its notebooks, and where these are not enough, what else may hold a lesson's cells."""

    def __init__(self, files: Sequence[Path], submission: Path, lessons: Sequence[str]) -> None:
        self._submission = submission
        self._room, self._left_to_read = MAX_KEPT, MAX_READ
        self._effort = Effort(EFFORT, lambda: Unreadable(TOO_LONG))
        by_name = sorted(files, key=lambda each: each.stem not in lessons)
        self.notebooks = [each for path in by_name if is_notebook(path) for each in self._read(path)]
        self._others = [path for path in by_name if not is_notebook(path) and path.name not in NBGRADER_FILES]

    @functools.cached_property
    def exports(self) -> list[Candidate]:
        """Scripts, web pages, archives and notebooks of another ending; what holds no cells of an exercise is none."""
        readable = [path for path in self._others if path.suffix.lower() in SUFFIXES]
        found = [replace(each, exported=True) for path in readable for each in self._read(path)]
        return [each for each in found if each.notebook is not None]

    @property
    def other_names(self) -> str:
        """The names of files that were handed in and are no notebooks."""
        return listed(self._others)

    def _read(self, path: Path) -> Iterator[Candidate]:
        place, stem = one_line(path.relative_to(self._submission).as_posix()), _stem(path)
        try:
            self._left_to_read -= path.lstat().st_size
            if self._left_to_read < 0:
                raise Unreadable(TOO_MUCH)
            with self._effort.spent():
                data = without_outputs(path)
                if is_archive(data):
                    found = self._members(data, place)
                else:
                    found = [self._candidate(data, place, stem, path.lstat().st_size)]
            yield from found
        except Unreadable as error:
            yield Candidate(place, stem, reason=str(error))

    def _members(self, data: bytes, place: str) -> list[Candidate]:
        """The notebooks of an archive; nothing of it is written to the disk."""
        found: list[Candidate] = []
        try:
            for name, content in members(data, self._room, SUFFIXES | {".ipynb"}):
                if is_archive(content):
                    self._room -= len(content)
                else:
                    found.append(self._candidate(content, one_line(f"{place}: {name}"), _stem(PurePosixPath(name))))
        except ValueError as error:
            found.append(Candidate(place, place, reason=str(error)))
        return found

    def _candidate(self, data: bytes, place: str, stem: str, size: int = 0) -> Candidate:
        self._room -= len(data)
        if self._room < 0:
            return Candidate(place, stem, reason=TOO_MUCH)
        try:
            notebook = read_notebook(data)
        except Unreadable as error:
            return Candidate(place, stem, reason=str(error))
        if size > MAX_BYTES:
            note = f"the notebook has {size / 1e6:.1f} MB; it was read without its outputs"
            notebook = replace(notebook, notes=(note, *notebook.notes))
        return Candidate(place, stem, notebook)


def _stem(path: PurePath) -> str:
    """A file's name without its endings: browsers save a notebook as `.ipynb.txt` or `.ipynb.json`."""
    return path.stem.removesuffix(".ipynb")


def regular_files(directory: Path) -> Iterator[Path]:
    """Regular files below a directory, hidden ones and links aside, in order; a bounded number."""
    count = 0
    for folder, folders, names in os.walk(directory, followlinks=False):
        depth = len(Path(folder).relative_to(directory).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and depth < MAX_DEPTH)
        for name in sorted(names):
            path = Path(folder, name)
            if not name.startswith(".") and (is_notebook(path) or (path.is_file() and not path.is_symlink())):
                count += 1
                if count > MAX_FILES:
                    return
                yield path


def every_file(directory: Path) -> Iterator[Path]:
    """All regular files below a directory, hidden ones and links aside, however many and however deep they lie.

    Raises:
        OSError: If a folder cannot be looked into.
    """
    folders = [directory]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
                    elif entry.is_file(follow_symlinks=False):
                        yield Path(entry.path)


def is_notebook(path: Path) -> bool:
    """Return whether a file is called a notebook."""
    return path.suffix.lower() == ".ipynb"


def listed(files: Sequence[Path]) -> str:
    """Names of some files, the first few."""
    names = ", ".join(one_line(path.name) for path in files[:5])
    return names + (f" and {len(files) - 5} more" if len(files) > 5 else "")
