"""Take in what a student submitted: the original is kept aside, a clean tree of grafted notebooks is written.

A submission is a directory that its author controls: it may hold links to other people's files, pipes, a file
named like a module of the grader, renamed or missing notebooks. The clean tree holds one regular notebook for
each lesson of the assignment, made by `graft`, and nothing else but nbgrader's two small text files.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.utils import parse_utc

from autograder.course import Course
from autograder.files import write
from autograder.graft import Grafted, Note, graft_notebook, slots_of, stubs
from autograder.masters import find_master
from autograder.notebooks import dump
from autograder.reading import StudentNotebook, Unreadable, exercise_line, read_bytes, read_notebook

__all__ = ["is_clean", "match", "recorded", "regraft", "take_in"]

TIMESTAMP, SECRET = NBGRADER_FILES = ("timestamp.txt", "submission_secret.txt")
MAX_FILES = 200
"""Most files of a submission that are looked at or kept."""

RECORD = "record.json"


@dataclass(frozen=True)
class _Candidate:
    """A notebook file of a submission: read, or the reason why it cannot be."""

    path: Path
    notebook: StudentNotebook | None
    reason: str = ""


def take_in(
    course: Course, assignment: str, submission: Path, clean: Path, originals: Path, timestamp: str = ""
) -> list[str]:
    """Write the clean tree of a submission, and keep the original.

    Args:
        course: The course.
        assignment: The assignment's name.
        submission: What the student handed in.
        clean: The directory to write; it must not exist.
        originals: The student's directory for this assignment among the originals.
        timestamp: When it was handed in, if the submission itself does not say.

    Returns:
        One sentence for each thing that was repaired or ignored, for the instructor's log.
    """
    files = list(_regular_files(submission))
    _keep(files, submission, originals)
    candidates = [_read(path) for path in files if path.suffix == ".ipynb"]
    grafts = _grafts(course, assignment, candidates)
    clean.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=clean.parent, prefix=".new-"))
    try:
        texts = {lesson: dump(grafted.notebook) for lesson, grafted in grafts.items()}
        for lesson, text in texts.items():
            write(aside / f"{lesson}.ipynb", text)
        for name, text in _nbgrader_files(submission, timestamp).items():
            write(aside / name, text)
        _write_record(originals / RECORD, grafts, texts)
        aside.chmod(0o755)
        aside.rename(clean)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return [f"{lesson}: {sentence}" for lesson, g in grafts.items() for sentence in _sentences(g)]


def _sentences(grafted: Grafted) -> Iterator[str]:
    if grafted.unreadable:
        yield grafted.unreadable
    for note in grafted.notes:
        yield f"{note.exercise}: {note.text}" if note.exercise else note.text


def _regular_files(directory: Path) -> Iterator[Path]:
    """Regular files below a directory, hidden ones and links aside, in order; a bounded number."""
    count = 0
    for folder, folders, names in os.walk(directory, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if not name.startswith(".") and (path.suffix == ".ipynb" or (path.is_file() and not path.is_symlink())):
                count += 1
                if count > MAX_FILES:
                    return
                yield path


def _keep(files: list[Path], submission: Path, originals: Path) -> None:
    """Copy what can be read of a submission; one directory for each content, so that nothing is ever lost."""
    contents: dict[str, bytes] = {}
    for path in files:
        try:
            contents[path.relative_to(submission).as_posix()] = read_bytes(path)
        except Unreadable:
            continue
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(f"{name}\n{len(content)}\n".encode("utf-8", "surrogateescape") + content)
    folder = originals / digest.hexdigest()[:12]
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def _nbgrader_files(submission: Path, timestamp: str) -> dict[str, str]:
    """nbgrader's own files, where they hold what they should: it stops at a time that it cannot read."""
    said = _small(submission / TIMESTAMP)
    try:
        parse_utc(said.strip())
    except (ValueError, OverflowError):
        said = timestamp
    texts = {TIMESTAMP: said, SECRET: _small(submission / SECRET)}
    return {name: text for name, text in texts.items() if text}


def _small(path: Path) -> str:
    try:
        return read_bytes(path, limit=1000).decode()
    except (Unreadable, UnicodeDecodeError):
        return ""


def _read(path: Path) -> _Candidate:
    try:
        return _Candidate(path, read_notebook(read_bytes(path)))
    except Unreadable as error:
        return _Candidate(path, None, str(error))


def _grafts(course: Course, assignment: str, candidates: list[_Candidate]) -> dict[str, Grafted]:
    """The graft of each lesson of an assignment."""
    lessons = course.assignments[assignment].lessons
    masters = {lesson: find_master(course, lesson) for lesson in lessons}
    chosen = {lesson: _choose(lesson, masters[lesson], candidates) for lesson in lessons}
    grafts = {lesson: _graft(course, lesson, masters[lesson], chosen[lesson]) for lesson in lessons}
    used = [candidate for candidate in chosen.values() if candidate is not None]
    others = [_name(candidate) for candidate in candidates if candidate not in used]
    if others:
        note = Note(f"other notebooks were handed in and left out: {', '.join(others[:5])}")
        first = lessons[0]
        grafts[first] = _with_notes(grafts[first], [note])
    return grafts


def _choose(lesson: str, master: nbformat.NotebookNode, candidates: list[_Candidate]) -> _Candidate | None:
    """The file that holds most of a lesson; among equals the one with the right name."""
    named = [candidate for candidate in candidates if candidate.path.stem == lesson]
    scored = [(match(c.notebook, master), c in named, c) for c in candidates if c.notebook is not None]
    fitting = [entry for entry in scored if entry[0] > 0]
    if fitting:
        return max(fitting, key=lambda entry: entry[:2])[2]
    return named[0] if named else None


def match(student: StudentNotebook, master: nbformat.NotebookNode) -> int:
    """How many exercises of a master a notebook has cells for."""
    grade_ids = {cell.grade_id for cell in student.cells}
    named = {exercise_line(cell.text) for cell in student.cells}
    return sum(slot.grade_id in grade_ids or slot.exercise in named for slot in slots_of(master))


def _graft(course: Course, lesson: str, master: nbformat.NotebookNode, candidate: _Candidate | None) -> Grafted:
    if candidate is None:
        return stubs(master, f"no notebook {lesson}.ipynb was handed in")
    if candidate.notebook is None:
        return stubs(master, candidate.reason)
    released = find_master(course, lesson, candidate.notebook.stamp)
    grafted = graft_notebook(candidate.notebook, released)
    if candidate.path.name == f"{lesson}.ipynb":
        return grafted
    name = _name(candidate)
    return _with_notes(grafted, [Note(f"the notebook was handed in as {name!r}; it was recognised by its cells")])


def _name(candidate: _Candidate) -> str:
    """A file's name, fit to be written into a notebook."""
    return candidate.path.name[:80].encode("utf-8", "replace").decode()


def _with_notes(grafted: Grafted, notes: list[Note]) -> Grafted:
    """The same graft with further notes."""
    everything = (*notes, *(note for note in grafted.notes if note not in notes))
    grafted.notebook.metadata["minigrad"]["notes"] = [
        nbformat.from_dict({"text": note.text, "exercise": note.exercise}) for note in everything
    ]
    return Grafted(grafted.notebook, everything, grafted.unreadable)


def _write_record(path: Path, grafts: Mapping[str, Grafted], texts: Mapping[str, str]) -> None:
    """Keep what grafting said, where no student writes: with the hash of the notebook that it is true of."""
    record = {
        lesson: {
            "sha256": hashlib.sha256(texts[lesson].encode()).hexdigest(),
            "unreadable": grafted.unreadable,
            "notes": [[note.text, note.exercise] for note in grafted.notes],
        }
        for lesson, grafted in grafts.items()
    }
    write(path, json.dumps(record, indent=1))


def recorded(originals: Path, lesson: str, data: bytes) -> dict[str, Any] | None:
    """What was recorded about a notebook when it was taken in; None if it was not, or was changed since."""
    try:
        record = json.loads((originals / RECORD).read_text(encoding="utf-8"))[lesson]
    except (OSError, ValueError, KeyError):
        return None
    return dict(record) if record["sha256"] == hashlib.sha256(data).hexdigest() else None


def is_clean(directory: Path, originals: Path) -> bool:
    """Whether a directory is as `take_in` wrote it."""
    return all(
        path.is_file()
        and not path.is_symlink()
        and (path.name in NBGRADER_FILES or recorded(originals, path.stem, path.read_bytes()) is not None)
        for path in directory.rglob("*")
    )


def regraft(course: Course, lesson: str, path: Path, originals: Path) -> Grafted:
    """Graft a notebook of the submitted tree, with what was said when it was taken in."""
    master = find_master(course, lesson)
    try:
        data = read_bytes(path)
        student = read_notebook(data)
    except Unreadable as error:
        return stubs(master, str(error))
    record = recorded(originals, lesson, data)
    if record is not None and record["unreadable"]:
        return stubs(master, record["unreadable"])
    grafted = graft_notebook(student, find_master(course, lesson, student.stamp))
    return _with_notes(grafted, [Note(*note) for note in record["notes"]]) if record else grafted
