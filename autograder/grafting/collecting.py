"""Take in what a student submitted: the original is kept aside, a clean tree of grafted notebooks is written.

A submission is a directory that its author controls: it may hold links to other people's files, pipes, a file
named like a module of the grader, renamed or missing notebooks. The clean tree holds one regular notebook for
each lesson of the assignment, made by `graft`, and nothing else but nbgrader's two small text files.

The clean tree is made aside and renamed into place: SIGKILL leaves the whole tree there, or none.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.utils import parse_utc

from autograder.building.masters import find_master
from autograder.building.notebooks import dump
from autograder.building.questions import is_untouched
from autograder.common.atomic import Aside
from autograder.common.files import put, write
from autograder.common.marker import exercise_of
from autograder.course import Course
from autograder.grafting.graft import graft_notebook
from autograder.grafting.grafted import Grafted, Note, alike, label, slots_of, stubs
from autograder.grafting.written import claims, places_of
from autograder.reading import StudentNotebook, read_notebook
from autograder.reading.handed_in import (
    MAX_KEPT,
    NBGRADER_FILES,
    SECRET,
    TIMESTAMP,
    Candidate,
    HandedIn,
    every_file,
    is_notebook,
    listed,
    regular_files,
)
from autograder.reading.student_files import Unreadable, read_bytes, without_outputs

RECORD = "record.json"


def take_in(
    course: Course,
    assignment: str,
    submission: Path,
    clean: Path,
    originals: Path,
    timestamp: str = "",
) -> list[str]:
    """Write the clean tree of a submission, and keep the original.

    Args:
        course: The course.
        assignment: The assignment's name.
        submission: The files that the student handed in.
        clean: The directory to write; it must not exist.
        originals: The student's directory for this assignment among the originals.
        timestamp: When it was handed in, as the exchange recorded it, whatever the submission itself says.

    Returns:
        One sentence for each thing that was repaired or ignored, for the instructor's log.
    """
    files = list(regular_files(submission))
    left_out = _keep(files, submission, originals)
    grafts = _grafts(course, assignment, HandedIn(files, submission, course.assignments[assignment].lessons))
    _write_clean(grafts, clean, originals, _nbgrader_files(submission, timestamp))
    said = [f"{lesson}: {sentence}" for lesson, g in grafts.items() for sentence in _sentences(g)]
    if left_out:
        said.append(f"not kept among the originals, which hold {MAX_KEPT / 1e6:g} MB: {listed(left_out)}")
    return said


def complete(course: Course, assignment: str, clean: Path, originals: Path) -> list[str]:
    """Write what a clean tree lacks, since a file of it was removed or the assignment has a lesson more.

    A file that is there stays as it is, and with it the marks that it has. The rest comes from what was handed in last.

    Returns:
        One sentence for each thing that was repaired or ignored, for the instructor's log.
    """
    for name, text in _nbgrader_files(clean, "").items():
        write(clean / name, text)
    lessons = course.assignments[assignment].lessons
    lacking = [lesson for lesson in lessons if not (clean / f"{lesson}.ipynb").is_file()]
    if not lacking:
        return []
    original = newest_kept(originals)
    files = list(regular_files(original)) if original is not None else []
    grafts = _grafts(course, assignment, HandedIn(files, original or clean, lessons))
    new = {lesson: grafts[lesson] for lesson in lacking}
    texts = {lesson: dump(grafted.notebook) for lesson, grafted in new.items()}
    _write_record(originals / RECORD, new, texts, _record(originals))
    for lesson, text in texts.items():
        write(clean / f"{lesson}.ipynb", text)
    said = [f"{lesson}: it was not in the submitted tree and is made of what was handed in last" for lesson in lacking]
    return said + [f"{lesson}: {sentence}" for lesson, grafted in new.items() for sentence in _sentences(grafted)]


def refuse(
    course: Course, assignment: str, submission: Path, clean: Path, originals: Path, timestamp: str, reason: str
) -> None:
    """Write the clean tree of a submission that nothing can be taken from: stubs, and the reason."""
    lessons = course.assignments[assignment].lessons
    grafts = {lesson: stubs(find_master(course, lesson), reason) for lesson in lessons}
    _write_clean(grafts, clean, originals, _nbgrader_files(submission, timestamp))


def _write_clean(grafts: Mapping[str, Grafted], clean: Path, originals: Path, others: Mapping[str, str]) -> None:
    """Write the notebooks, nbgrader's files and the record; the directory appears when it is whole."""
    with Aside(clean.parent) as aside:
        folder = aside / "clean"
        folder.mkdir()
        texts = {lesson: dump(grafted.notebook) for lesson, grafted in grafts.items()}
        for lesson, text in texts.items():
            write(folder / f"{lesson}.ipynb", text)
        for name, text in others.items():
            write(folder / name, text)
        _write_record(originals / RECORD, grafts, texts)
        folder.chmod(0o755)
        folder.rename(clean)


def _sentences(grafted: Grafted) -> Iterator[str]:
    if grafted.unreadable:
        yield grafted.unreadable
    for note in grafted.notes:
        yield f"{note.exercise}: {note.text}" if note.exercise else note.text


def _keep(files: list[Path], submission: Path, originals: Path) -> list[Path]:
    """Copy what can be read of a submission; one directory for each content, so that nothing is ever lost.

    Returns:
        The files for which there was no room.
    """
    digest, room, left_out = hashlib.sha256(), MAX_KEPT, []
    with Aside(originals) as aside:
        kept = aside / "kept"
        kept.mkdir()
        for path in sorted(files, key=lambda each: (not is_notebook(each), each)):
            name = path.relative_to(submission).as_posix()
            try:
                content = without_outputs(path) if is_notebook(path) else read_bytes(path)
            except Unreadable:
                content = None
            if content is None and (path.is_symlink() or not path.is_file()):
                continue
            if content is None or len(content) > room:
                left_out.append(path)
                continue
            room -= len(content)
            digest.update(f"{name}\n{len(content)}\n".encode("utf-8", "surrogateescape") + content)
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            put(kept / name, content)
        folder = originals / digest.hexdigest()[:12]
        if not folder.exists():
            kept.chmod(0o755)
            kept.rename(folder)
        else:
            os.utime(folder)  # what was handed in last counts as the newest
    return left_out


def is_kept(submission: Path, originals: Path) -> bool:
    """Return whether a submission is among the originals file for file; hidden ones and links are none of it."""
    return any(_holds(folder, submission) for folder in _kept(originals))


def _holds(folder: Path, submission: Path) -> bool:
    try:
        files = ((path, folder / path.relative_to(submission)) for path in every_file(submission))
        return all(read_bytes(copy) == read_bytes(path) for path, copy in files)
    except (OSError, Unreadable):
        return False


def taken_at(originals: Iterable[Path], before: dt.datetime) -> list[dt.datetime]:
    """When each submission of a group was taken in, by this machine's clock; one content counts once.

    Args:
        originals: The members' directories for the assignment among the originals.
        before: Only earlier times; a member's copy of another one's submission is as old as the grading.
    """
    times: dict[str, dt.datetime] = {}
    for folder in (each for home in originals for each in _kept(home)):
        when = dt.datetime.fromtimestamp(folder.stat().st_mtime, dt.UTC)
        if when < before:
            times[folder.name] = max(when, times.get(folder.name, when))
    return sorted(times.values())


def _kept(originals: Path) -> list[Path]:
    """The kept files of each submission."""
    return [path for path in originals.glob("[!.]*") if path.is_dir() and not path.is_symlink()]


def newest_kept(originals: Path) -> Path | None:
    """The kept files of the submission that was taken in last; None if there are none."""
    return max(_kept(originals), key=lambda folder: folder.stat().st_mtime_ns, default=None)


def _nbgrader_files(submission: Path, timestamp: str) -> dict[str, str]:
    """nbgrader's own files, as they should be; the time is empty where nobody said when it was handed in.

    nbgrader stops at a time that it cannot read, and `nbgrader release_feedback` where the file is missing. An empty
    file means to both that the time is not known. A file's own time would say when an archive was unpacked.
    """
    said = timestamp or _small(submission / TIMESTAMP)
    try:
        parse_utc(said.strip())
    except Exception:  # whatever a text that is no time makes dateutil raise, such as decimal.InvalidOperation
        said = ""
    return {TIMESTAMP: said, SECRET: secret_of(submission)}


def secret_of(submission: Path) -> str:
    """The text that names the file of the feedback, which everyone can see and nobody else is to find; else a new one.

    Args:
        submission: The folder that was handed in, or the clean one.
    """
    return _small(submission / SECRET) or secrets.token_hex(32)


def handed_in_at(folder: Path) -> dt.datetime | None:
    """When a submission was handed in, as its timestamp.txt says; None where that is empty, missing or no time.

    Args:
        folder: The submission, in the submitted tree or the autograded one.
    """
    try:
        said = read_bytes(folder / TIMESTAMP, limit=1000).decode().strip()
        when: dt.datetime | None = parse_utc(said) if said else None
    except Exception:  # whatever a text that is no time makes dateutil raise
        return None
    return when


def _small(path: Path) -> str:
    try:
        return read_bytes(path, limit=1000).decode()
    except (Unreadable, UnicodeDecodeError):
        return ""


def _grafts(course: Course, assignment: str, files: HandedIn) -> dict[str, Grafted]:
    """The graft of each lesson of an assignment."""
    lessons = course.assignments[assignment].lessons
    masters = {lesson: find_master(course, lesson) for lesson in lessons}
    chosen = {lesson: _choose(course, lesson, masters[lesson], files) for lesson in lessons}
    own = {lesson: _without(chosen[lesson], masters, lesson) for lesson in lessons}
    grafts = {lesson: _graft(course, lesson, masters[lesson], own[lesson], files) for lesson in lessons}
    used = [candidate for candidate in chosen.values() if candidate is not None]
    others = [_name(candidate) for candidate in files.notebooks if candidate not in used]
    if others:
        note = Note(f"other notebooks were handed in and left out: {', '.join(others[:5])}")
        first = lessons[0]
        grafts[first] = _with_notes(grafts[first], [note])
    return grafts


def _without(
    candidate: Candidate | None, masters: Mapping[str, nbformat.NotebookNode], lesson: str
) -> Candidate | None:
    """A notebook without the cells of other lessons, which would take the names of this one's."""
    if candidate is None or candidate.notebook is None:
        return candidate
    others = {other: master for other, master in masters.items() if other != lesson}
    if not any(match(candidate.notebook, master) for master in others.values()):
        return candidate
    known = {cell.source.strip() for cell in masters[lesson].cells}
    texts = {cell.source.strip() for master in others.values() for cell in master.cells} - known
    slots = [slot for master in others.values() for slot in slots_of(master)]
    marks = {slot.grade_id for slot in slots} | {slot.exercise for slot in slots}
    marks |= {place.grade_id for master in others.values() for place in places_of(master)}
    cells = tuple(
        cell
        for cell in candidate.notebook.cells
        if cell.text.strip() not in texts and cell.grade_id not in marks and exercise_of(cell.text) not in marks
    )
    return replace(candidate, notebook=replace(candidate.notebook, cells=cells))


def _choose(course: Course, lesson: str, master: nbformat.NotebookNode, files: HandedIn) -> Candidate | None:
    """The file in which most of a lesson was worked on; then the one that holds most of it, or has its name.

    Files that are no notebooks are looked at where nobody worked in a notebook.
    """
    worked, best = _best(course, lesson, master, files.notebooks)
    return best if worked else _best(course, lesson, master, [*files.notebooks, *files.exports])[1]


def _best(
    course: Course, lesson: str, master: nbformat.NotebookNode, candidates: list[Candidate]
) -> tuple[int, Candidate | None]:
    """The best of some files, and how many exercises were worked on in it."""
    scored = []
    for candidate in candidates:
        if candidate.notebook is not None and (held := match(candidate.notebook, master)):
            released = find_master(course, lesson, candidate.notebook.stamp)
            worked = _worked_on(candidate.notebook, released)
            rank = (worked, not candidate.exported, held, candidate.stem == lesson, candidate.is_named(lesson))
            scored.append((rank, candidate))
    if scored:
        rank, best = max(scored, key=lambda entry: entry[0])
        return rank[0], best
    named = [candidate for candidate in candidates if candidate.is_named(lesson)]
    return 0, next(iter(sorted(named, key=lambda each: each.stem != lesson)), None)


def _worked_on(student: StudentNotebook, master: nbformat.NotebookNode) -> int:
    """Count the exercises and questions of a master that have a cell in a notebook that is not the text given out."""
    slots = slots_of(master)
    by_grade_id = {slot.grade_id: slot for slot in slots}
    by_name = {slot.exercise: slot for slot in slots}
    worked = set[str]()
    for cell in student.cells:
        slot = by_grade_id.get(cell.grade_id) or by_name.get(exercise_of(cell.text))
        if slot is not None and not alike(cell.text, slot.stub) and _mentions(cell.text, slot.names):
            worked.add(slot.exercise)
    places = places_of(master)
    asked = ((claims(cell, places), cell.text) for cell in student.cells)
    worked |= {place.grade_id for place, text in asked if place is not None and not is_untouched(text)}
    return len(worked)


def _mentions(text: str, names: Iterable[str]) -> bool:
    """Return whether a cell says more than which exercise it is."""
    lines = (line for line in text.split("\n") if not exercise_of(line))
    return not set(re.findall(r"\w+", "\n".join(lines))).isdisjoint(names)


def match(student: StudentNotebook, master: nbformat.NotebookNode) -> int:
    """Count the exercises of a master that a notebook has cells for."""
    grade_ids = {cell.grade_id for cell in student.cells}
    named = {exercise_of(cell.text) for cell in student.cells}
    return sum(slot.grade_id in grade_ids or slot.exercise in named for slot in slots_of(master))


def _graft(
    course: Course, lesson: str, master: nbformat.NotebookNode, candidate: Candidate | None, files: HandedIn
) -> Grafted:
    if candidate is None:
        others = f"; what was handed in beside notebooks: {files.other_names}" if files.other_names else ""
        return stubs(master, f"no notebook {lesson}.ipynb was handed in{others}")
    if candidate.notebook is None:
        return stubs(master, candidate.reason)
    released = find_master(course, lesson, candidate.notebook.stamp)
    grafted = graft_notebook(candidate.notebook, released)
    folders = ("", *(f"{name}/" for name in course.assignments))  # where `zip_collect` unpacks `minigrad submit`'s zips
    if candidate.place in [f"{folder}{lesson}.ipynb" for folder in folders]:
        return grafted
    name = _name(candidate)
    return _with_notes(grafted, [Note(f"the notebook was handed in as {name!r}; it was recognised by its cells")])


def _name(candidate: Candidate) -> str:
    """A file's name, fit to be written into a notebook and a log."""
    return candidate.place[:80]


def _with_notes(grafted: Grafted, notes: list[Note]) -> Grafted:
    """The same graft with further notes."""
    everything = (*notes, *(note for note in grafted.notes if note not in notes))
    grafted.notebook.metadata["minigrad"]["notes"] = [
        nbformat.from_dict({"text": note.text, "exercise": note.exercise}) for note in everything
    ]
    return Grafted(grafted.notebook, everything, grafted.unreadable)


def _write_record(
    path: Path, grafts: Mapping[str, Grafted], texts: Mapping[str, str], before: Mapping[str, Any] | None = None
) -> None:
    """Keep what grafting said, where no student writes: with the hash of the notebook that it is true of."""
    said = {
        lesson: {
            "sha256": hashlib.sha256(texts[lesson].encode()).hexdigest(),
            "unreadable": grafted.unreadable,
            "states": _lost(grafted),
            "notes": [[note.text, note.exercise] for note in grafted.notes],
        }
        for lesson, grafted in grafts.items()
    }
    write(path, json.dumps({**(before or {}), **said}, indent=1))


def _lost(grafted: Grafted) -> dict[str, list[str]]:
    """State and reason of the exercises for which the clean notebook holds a stub that nobody handed in."""
    labels = (cell.metadata.get("minigrad", {}) for cell in grafted.notebook.cells)
    lost = (said for said in labels if said.get("state") in ("missing", "unclear"))
    return {said["exercise"]: [said["state"], said.get("reason", "")] for said in lost}


def recorded(originals: Path, lesson: str, data: bytes) -> dict[str, Any] | None:
    """Return the record made of a notebook when it was taken in; None if there is none, or it was changed since."""
    record = _record(originals).get(lesson)
    return dict(record) if record is not None and record["sha256"] == hashlib.sha256(data).hexdigest() else None


def _record(originals: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((originals / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def is_clean(directory: Path, originals: Path) -> bool:
    """Return whether a directory holds only what `take_in` wrote; it may lack some of it."""
    return all(
        path.is_file() and not path.is_symlink() and (path.name in NBGRADER_FILES or _is_recorded(path, originals))
        for path in directory.iterdir()
    )


def _is_recorded(path: Path, originals: Path) -> bool:
    try:
        return recorded(originals, path.stem, read_bytes(path)) is not None
    except Unreadable:
        return False


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
    if record is None:
        return grafted
    for cell in grafted.notebook.cells:
        said = cell.metadata.get("minigrad", {})
        if said.get("state") == "untouched" and said["exercise"] in record.get("states", {}):
            label(cell, "solution", said["exercise"], *record["states"][said["exercise"]])
    return _with_notes(grafted, [Note(*note) for note in record["notes"]])
