"""Answers that students write in words, for a person to mark: found in whatever became of the notebook.

An answer is found by its heading, its ids or its place. No answer is chosen among several: a person can do that
better. So copies and parts are joined, in order.

`.grades/answers` keeps a hash of each recorded answer: `SaveGrades` and `Recorder` ask a person for a second look
only where it differs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.building.questions import heading, is_answer, is_untouched
from autograder.common.files import write
from autograder.grafting.grafted import alike, grade_id_of, label
from autograder.reading import Attachment, StudentCell
from autograder.results.ledger import entry_path

MAX_ANSWER = 20_000
"""Most characters of one answer that are taken: ten pages."""

MAX_PICTURES = 2_000_000
"""Most characters, as base64, of the pictures in one answer."""

_CUT = "\n\n*(The answer was cut here: at most {:,} characters are taken.)*"
_HEADING = re.compile(r"^\*\*My answer to the question `([a-z0-9-]+)`:\*\*[ \t]*\n?", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """A place of the master for an answer.

    Attributes:
        name: The question's name.
        index: The cell's place in the master.
        grade_id: nbgrader's id of it.
        id: The notebook format's id of it.
        stub: The text that was given out.
        asked: The text of the cell above, which asks.
    """

    name: str
    index: int
    grade_id: str
    id: str
    stub: str
    asked: str


@dataclass(frozen=True)
class Written:
    """An answer that was found: its text below the heading, its pictures, and remarks about it."""

    text: str
    pictures: tuple[Attachment, ...] = ()
    notes: tuple[str, ...] = ()


def places_of(master: nbformat.NotebookNode) -> list[Place]:
    """The places for answers in a master notebook, in order."""
    return [
        Place(
            name=grade_id_of(cell).removeprefix("question-"),
            index=index,
            grade_id=grade_id_of(cell),
            id=str(cell.get("id", "")),
            stub=cell.source,
            asked=master.cells[index - 1].source.strip() if index else "",
        )
        for index, cell in enumerate(master.cells)
        if is_answer(cell)
    ]


def claims(cell: StudentCell, places: Sequence[Place]) -> Place | None:
    """The place that a cell says it is the answer for, by its heading or by its metadata."""
    said = {match[1] for match in _HEADING.finditer(cell.text)}
    return (
        next((place for place in places if place.name in said), None)
        or next((place for place in places if place.grade_id == cell.grade_id), None)
        or next((place for place in places if cell.id and place.id == cell.id and not cell.code), None)
    )


def found(place: Place, cells: Sequence[StudentCell]) -> Written:
    """Return a student's answer, from every cell that is the place's; an answer that is not there gets no remark."""
    if not cells:
        return Written(
            "", notes=(f"the cell for the answer to {place.name!r} was missing; it was put back for grading",)
        )
    notes = [f"a part of the answer to {place.name!r} was left out: {cell.damage}" for cell in cells if cell.damage]
    parts: list[str] = []
    for cell in cells:
        text = _below_heading(cell.text, place)
        if not is_untouched(text) and not any(alike(text, other) for other in parts):
            parts.append(text)
    if len(parts) > 1:
        notes.append(f"the answer to {place.name!r} stood in {len(parts)} cells; they were joined")
    text = "\n\n".join(parts)
    if len(text) > MAX_ANSWER:
        notes.append(f"the answer to {place.name!r} has {len(text):,} characters; the first {MAX_ANSWER:,} were taken")
        end = _CUT.format(MAX_ANSWER)  # counts, so that the same answer grafted again is not cut again
        text = text[: MAX_ANSWER - len(end)].rstrip() + end
    pictures = tuple(_kept(cells, text, place, notes))
    return Written(text, pictures, tuple(notes))


def _below_heading(text: str, place: Place) -> str:
    """A cell's text without heading, stub, and what was given out above it."""
    text = _HEADING.sub("", text)
    if place.asked:
        text = text.replace(place.asked, "", 1)
    return text.strip("\n").rstrip()


def _kept(cells: Iterable[StudentCell], text: str, place: Place, notes: list[str]) -> Iterator[Attachment]:
    """Pictures that the text shows, as many as there is room for."""
    room, left_out, names = MAX_PICTURES, list[str](), set[str]()
    for picture in (picture for cell in cells for picture in cell.attachments):
        if picture.name in names or f"attachment:{picture.name}" not in text:
            continue
        names.add(picture.name)
        if picture.data and len(picture.data) <= room:
            room -= len(picture.data)
            yield picture
        else:
            left_out.append(picture.name)
    if left_out:
        notes.append(
            f"{len(left_out)} pictures in the answer to {place.name!r} were left out: kept are PNG, JPEG, GIF and WebP "
            f"images, {MAX_PICTURES * 3 // 4 // 1000:,} KB in all"
        )


def put(cell: nbformat.NotebookNode, place: Place, written: Written) -> None:
    """Write an answer into the master's cell; where there is none the cell stays as it was given out."""
    label(cell, "answer")
    if not written.text:
        return
    cell.source = f"{heading(place.name)}\n\n{written.text}"
    if written.pictures:
        cell.attachments = nbformat.from_dict({each.name: {each.mime: each.data} for each in written.pictures})


def collect(
    cells: Sequence[StudentCell],
    places: Sequence[Place],
    role: dict[int, int | None],
    is_free_text: Callable[[int], bool],
) -> dict[int, list[int]]:
    """Find every answer's cells, and say in `role` whose they are.

    Args:
        cells: The student's cells.
        places: The places for answers.
        role: The known facts about the cells: the index of the master's cell that each is. What claims a place is in
            it.
        is_free_text: Whether a cell, by its index, is text of the student's own.

    Returns:
        The student's cells for each place, by the place's index.
    """
    by_index = {place.index: place for place in places}
    chosen: dict[int, list[int]] = {place.index: [] for place in places}
    current: int | None = None
    for index in range(len(cells)):
        known = role.get(index)
        if known in by_index:
            current = known
        elif known is not None and known + 1 in by_index:  # the cell that asks
            current = known + 1
        elif index in role or not is_free_text(index):
            current = None
        if current is not None and (known == current or index not in role):
            role[index] = current
            chosen[current].append(index)
    return chosen


# What tells whether a person's mark still belongs to what stands there ---------------------------------------------


def answers_of(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """A hash of each answer, its pictures with it, by grade id."""
    return {grade_id_of(cell): _digest(cell) for cell in notebook.cells if is_answer(cell)}


def _digest(cell: Mapping[str, object]) -> str:
    said = json.dumps([cell["source"], cell.get("attachments", {})], sort_keys=True)
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]


class Marks:
    """The answers of one notebook as they were when it was recorded last.

    A person's mark of an answer that has not changed needs no second look. nbgrader asks for one after every grading,
    since it does not keep what was marked.

    Args:
        root: The course's directory.
        student: nbgrader's student id.
        assignment: The assignment's name.
        lesson: The notebook's lesson.
    """

    FOLDER = Path(".grades", "answers")

    def __init__(self, root: Path, student: str, assignment: str, lesson: str) -> None:
        self._path = entry_path(root, student, assignment, lesson, self.FOLDER)

    def unchanged(self, answers: Mapping[str, str]) -> set[str]:
        """Return the grade ids of answers that stand as they stood when they were recorded last."""
        before = self.read()
        return {grade_id for grade_id, answer in answers.items() if before.get(grade_id) == answer}

    def read(self) -> dict[str, str]:
        """Return the answers recorded last; an empty record if they cannot be read."""
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, answers: Mapping[str, str]) -> None:
        """Keep what is recorded now; a notebook without questions has nothing to keep."""
        if answers and answers != self.read():
            write(self._path, json.dumps(answers, indent=1, sort_keys=True) + "\n")
