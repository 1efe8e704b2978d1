"""Take in what a student submitted: the original is kept aside, a clean tree of grafted notebooks is written.

A submission is a directory that its author controls: it may hold links to other people's files, pipes, a file
named like a module of the grader, renamed or missing notebooks. The clean tree holds one regular notebook for
each lesson of the assignment, made by `graft`, and nothing else but nbgrader's two small text files.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.utils import parse_utc

from autograder.course import Course
from autograder.files import write
from autograder.graft import Grafted, Note, alike, graft_notebook, slots_of, stubs
from autograder.masters import find_master
from autograder.notebooks import dump
from autograder.reading import StudentNotebook, Unreadable, exercise_line, one_line, read_bytes, read_notebook

__all__ = ["NBGRADER_FILES", "is_clean", "last_change", "match", "recorded", "refuse", "regraft", "take_in"]

TIMESTAMP, SECRET = NBGRADER_FILES = ("timestamp.txt", "submission_secret.txt")
MAX_FILES = 200
"""Most files of a submission that are looked at or kept."""

MAX_DEPTH = 20
"""Folders within folders that are looked into: where they nest without end, walking them does not end either."""

MAX_KEPT = 50_000_000
"""Most bytes of a submission that are kept among the originals, and most that are read as notebooks."""

RECORD = "record.json"


@dataclass(frozen=True)
class _Candidate:
    """A notebook file of a submission: read, or the reason why it cannot be."""

    path: Path
    notebook: StudentNotebook | None
    reason: str = ""
    place: str = ""


def take_in(
    course: Course,
    assignment: str,
    submission: Path,
    clean: Path,
    originals: Path,
    timestamp: str = "",
    changed: str = "",
) -> list[str]:
    """Write the clean tree of a submission, and keep the original.

    Args:
        course: The course.
        assignment: The assignment's name.
        submission: What the student handed in.
        clean: The directory to write; it must not exist.
        originals: The student's directory for this assignment among the originals.
        timestamp: When it was handed in, as the exchange recorded it, whatever the submission itself says.
        changed: When it was handed in, if nobody says.

    Returns:
        One sentence for each thing that was repaired or ignored, for the instructor's log.
    """
    files = list(_regular_files(submission))
    left_out = _keep(files, submission, originals)
    candidates = _candidates(files, submission, course.assignments[assignment].lessons)
    grafts = _grafts(course, assignment, candidates)
    _write_clean(grafts, clean, originals, _nbgrader_files(submission, timestamp, changed))
    said = [f"{lesson}: {sentence}" for lesson, g in grafts.items() for sentence in _sentences(g)]
    if left_out:
        said.append(f"not kept among the originals, which hold {MAX_KEPT / 1e6:g} MB: {_listed(left_out)}")
    return said


def refuse(course: Course, assignment: str, clean: Path, originals: Path, timestamp: str, reason: str) -> None:
    """Write the clean tree of a submission that nothing can be taken from: stubs, and the reason."""
    lessons = course.assignments[assignment].lessons
    grafts = {lesson: stubs(find_master(course, lesson), reason) for lesson in lessons}
    _write_clean(grafts, clean, originals, {TIMESTAMP: timestamp, SECRET: secrets.token_hex(32)})


def _write_clean(grafts: Mapping[str, Grafted], clean: Path, originals: Path, others: Mapping[str, str]) -> None:
    """Write the notebooks, nbgrader's files and the record; the directory appears when it is whole."""
    clean.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=clean.parent, prefix=".new-"))
    try:
        texts = {lesson: dump(grafted.notebook) for lesson, grafted in grafts.items()}
        for lesson, text in texts.items():
            write(aside / f"{lesson}.ipynb", text)
        for name, text in others.items():
            write(aside / name, text)
        _write_record(originals / RECORD, grafts, texts)
        aside.chmod(0o755)
        aside.rename(clean)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _sentences(grafted: Grafted) -> Iterator[str]:
    if grafted.unreadable:
        yield grafted.unreadable
    for note in grafted.notes:
        yield f"{note.exercise}: {note.text}" if note.exercise else note.text


def _regular_files(directory: Path) -> Iterator[Path]:
    """Regular files below a directory, hidden ones and links aside, in order; a bounded number."""
    count = 0
    for folder, folders, names in os.walk(directory, followlinks=False):
        depth = len(Path(folder).relative_to(directory).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and depth < MAX_DEPTH)
        for name in sorted(names):
            path = Path(folder, name)
            if not name.startswith(".") and (path.suffix == ".ipynb" or (path.is_file() and not path.is_symlink())):
                count += 1
                if count > MAX_FILES:
                    return
                yield path


def _keep(files: list[Path], submission: Path, originals: Path) -> list[Path]:
    """Copy what can be read of a submission; one directory for each content, so that nothing is ever lost.

    Returns:
        The files for which there was no room.
    """
    originals.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=originals, prefix=".new-"))
    digest, room, left_out = hashlib.sha256(), MAX_KEPT, []
    try:
        for path in sorted(files, key=lambda each: (each.suffix != ".ipynb", each)):
            name = path.relative_to(submission).as_posix()
            try:
                content = read_bytes(path)
            except Unreadable:
                continue
            if len(content) > room:
                left_out.append(path)
                continue
            room -= len(content)
            digest.update(f"{name}\n{len(content)}\n".encode("utf-8", "surrogateescape") + content)
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            (aside / name).write_bytes(content)
        folder = originals / digest.hexdigest()[:12]
        if not folder.exists():
            aside.chmod(0o755)
            aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return left_out


def _listed(files: list[Path]) -> str:
    names = ", ".join(one_line(path.name) for path in files[:5])
    return names + (f" and {len(files) - 5} more" if len(files) > 5 else "")


def _nbgrader_files(submission: Path, timestamp: str, changed: str = "") -> dict[str, str]:
    """nbgrader's own files, as they should be: it stops at a time that it cannot read, and where one is missing."""
    said = timestamp or _small(submission / TIMESTAMP)
    try:
        parse_utc(said.strip())
    except Exception:  # whatever a text that is no time makes dateutil raise, such as decimal.InvalidOperation
        said = changed
    # The secret names the file of the feedback, which everyone can see and nobody else is to find.
    texts = {TIMESTAMP: said, SECRET: _small(submission / SECRET) or secrets.token_hex(32)}
    return {name: text for name, text in texts.items() if text}


def _small(path: Path) -> str:
    try:
        return read_bytes(path, limit=1000).decode()
    except (Unreadable, UnicodeDecodeError):
        return ""


def _candidates(files: list[Path], submission: Path, lessons: Sequence[str]) -> list[_Candidate]:
    """The notebooks of a submission, those that are named as they should be first; as many as can be read."""
    notebooks = [path for path in files if path.suffix == ".ipynb"]
    room, candidates = MAX_KEPT, []
    for path in sorted(notebooks, key=lambda each: each.stem not in lessons):
        place = one_line(path.relative_to(submission).as_posix())
        room -= path.lstat().st_size
        if room < 0:
            reason = f"the notebooks handed in have more than {MAX_KEPT / 1e6:g} MB together; this one was not read"
            candidates.append(_Candidate(path, None, reason, place))
        else:
            candidates.append(_read(path, place))
    return candidates


def _read(path: Path, place: str) -> _Candidate:
    try:
        return _Candidate(path, read_notebook(read_bytes(path)), "", place)
    except Unreadable as error:
        return _Candidate(path, None, str(error), place)


def _grafts(course: Course, assignment: str, candidates: list[_Candidate]) -> dict[str, Grafted]:
    """The graft of each lesson of an assignment."""
    lessons = course.assignments[assignment].lessons
    masters = {lesson: find_master(course, lesson) for lesson in lessons}
    chosen = {lesson: _choose(course, lesson, masters[lesson], candidates) for lesson in lessons}
    grafts = {lesson: _graft(course, lesson, masters[lesson], chosen[lesson]) for lesson in lessons}
    used = [candidate for candidate in chosen.values() if candidate is not None]
    others = [_name(candidate) for candidate in candidates if candidate not in used]
    if others:
        note = Note(f"other notebooks were handed in and left out: {', '.join(others[:5])}")
        first = lessons[0]
        grafts[first] = _with_notes(grafts[first], [note])
    return grafts


def _choose(
    course: Course, lesson: str, master: nbformat.NotebookNode, candidates: list[_Candidate]
) -> _Candidate | None:
    """The file in which most of a lesson was worked on; then the one that holds most of it, or has its name."""
    named = [candidate for candidate in candidates if candidate.path.stem == lesson]
    scored = []
    for candidate in candidates:
        if candidate.notebook is not None and (held := match(candidate.notebook, master)):
            released = find_master(course, lesson, candidate.notebook.stamp)
            worked = _worked_on(candidate.notebook, released)
            scored.append(((worked, held, candidate in named), candidate))
    if scored:
        return max(scored, key=lambda entry: entry[0])[1]
    return named[0] if named else None


def _worked_on(student: StudentNotebook, master: nbformat.NotebookNode) -> int:
    """How many exercises of a master have a cell in a notebook that is not the text which was given out."""
    slots = slots_of(master)
    by_grade_id = {slot.grade_id: slot for slot in slots}
    by_name = {slot.exercise: slot for slot in slots}
    worked = set[str]()
    for cell in student.cells:
        slot = by_grade_id.get(cell.grade_id) or by_name.get(exercise_line(cell.text) or "")
        if slot is not None and cell.text.strip() and not alike(cell.text, slot.stub):
            worked.add(slot.exercise)
    return len(worked)


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
    if candidate.place == f"{lesson}.ipynb":
        return grafted
    name = _name(candidate)
    return _with_notes(grafted, [Note(f"the notebook was handed in as {name!r}; it was recognised by its cells")])


def _name(candidate: _Candidate) -> str:
    """A file's name, fit to be written into a notebook and a log."""
    return candidate.place[:80]


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
        path.is_file() and not path.is_symlink() and (path.name in NBGRADER_FILES or _is_recorded(path, originals))
        for path in directory.iterdir()
    )


def _is_recorded(path: Path, originals: Path) -> bool:
    try:
        return recorded(originals, path.stem, read_bytes(path)) is not None
    except Unreadable:
        return False


def last_change(directory: Path) -> str:
    """When a submission that says no time was changed last, as nbgrader writes a time."""
    times = [path.lstat().st_mtime for path in _regular_files(directory)] or [directory.stat().st_mtime]
    return f"{dt.datetime.fromtimestamp(max(times), dt.UTC):%Y-%m-%d %H:%M:%S.%f} UTC"


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
