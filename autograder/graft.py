"""Graft a student's work onto the master notebook.

The student's notebook is never graded, nor executed, nor written back: the master takes only the *text* of
its solution cells, and the cells its author added. So edited metadata, tags, duplicated or deleted cells, a
forged output or another kernel have nothing to act on, and a mangled notebook keeps the points it deserves.

Every repair and everything ignored is said in a note; a file that is no notebook becomes a master full of
stubs whose report gives the reason.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from autograder.reading import (
    MAX_CELL,
    StudentCell,
    StudentNotebook,
    Unreadable,
    defined_names,
    exercise_line,
    helper_names,
    parses,
    read_bytes,
    read_notebook,
)

__all__ = ["Grafted", "Note", "Slot", "alike", "graft", "graft_notebook", "grafted_from", "slots_of", "stubs"]

MAX_ADDED = 200
"""Most cells of their own that are taken from a student; a notebook has tens."""


MAX_CANDIDATES = 10
"""Most cells that are compared to find one exercise's solution."""

MAX_NOTES = 20


@dataclass(frozen=True)
class Note:
    """Something repaired or ignored; `exercise` is empty where it concerns the whole notebook."""

    text: str
    exercise: str = ""


@dataclass(frozen=True)
class Slot:
    """A place of the master for a student's text.

    Attributes:
        exercise: The exercise's id.
        grade_id: nbgrader's id of the solution cell.
        index: The cell's place in the master.
        stub: The text that the student was given.
        names: What the cell is to define.
    """

    exercise: str
    grade_id: str
    index: int
    stub: str
    names: frozenset[str]


@dataclass(frozen=True)
class Grafted:
    """The master with a student's text in it.

    Attributes:
        notebook: A notebook that can be trusted in everything but the text of its solution and added cells.
        notes: What was repaired or ignored.
        unreadable: Why nothing could be taken from the submission; empty where something could.
    """

    notebook: nbformat.NotebookNode
    notes: tuple[Note, ...] = ()
    unreadable: str = ""


def slots_of(master: nbformat.NotebookNode) -> list[Slot]:
    """The solution cells of a master notebook, in order."""
    slots = []
    for index, cell in enumerate(master.cells):
        nbgrader = cell.metadata.get("nbgrader", {})
        exercise = exercise_line(cell.source)
        if cell.cell_type == "code" and nbgrader.get("solution") and exercise:
            names = frozenset(defined_names(cell.source))
            slots.append(Slot(exercise, nbgrader["grade_id"], index, cell.source, names))
    return slots


def stubs(master: nbformat.NotebookNode, reason: str) -> Grafted:
    """What a submission that cannot be read becomes: the master as released, and the reason."""
    notebook = copy.deepcopy(master)
    for slot in slots_of(master):
        _label(notebook.cells[slot.index], "solution", slot.exercise, "missing")
    return Grafted(_finish(notebook, [], reason), (), reason)


def graft(submission: bytes | Path, master: nbformat.NotebookNode) -> Grafted:
    """Graft a submitted file onto its master; a file that cannot be read becomes stubs and a reason."""
    try:
        data = submission if isinstance(submission, bytes) else read_bytes(submission)
        return graft_notebook(read_notebook(data), master)
    except Unreadable as error:
        return stubs(master, str(error))


def graft_notebook(student: StudentNotebook, master: nbformat.NotebookNode) -> Grafted:
    """Graft a student's cells onto the master."""
    return _Graft(student, master).run()


@dataclass
class _Graft:
    """One graft at work. `role` says, for each of the student's cells, what became of it."""

    student: StudentNotebook
    master: nbformat.NotebookNode
    notes: list[Note] = field(default_factory=list)
    role: dict[int, int | None] = field(default_factory=dict)  # student's cell -> master's cell, None: dropped
    own: dict[int, int] = field(default_factory=dict)  # student's cell -> the master's that it was
    names: dict[int, set[str]] = field(default_factory=dict)  # student's cell -> what it defines

    def run(self) -> Grafted:
        for note in self.student.notes:
            self._note(note)
        self.slots = slots_of(self.master)
        self._recognise_given()
        self._note_checks()
        notebook = copy.deepcopy(self.master)
        for slot in self.slots:
            text = self._choose(slot)
            state = "missing" if text is None else "untouched" if alike(text, slot.stub) else "answered"
            cell = notebook.cells[slot.index]
            cell.source = slot.stub if text is None else text
            _label(cell, "solution", slot.exercise, state)
        self._note_order()
        self._note_unknown()
        notebook.cells = list(self._with_added(notebook.cells))
        if len(self.notes) > MAX_NOTES:
            rest = len(self.notes) - MAX_NOTES + 1
            self.notes[MAX_NOTES - 1 :] = [Note(f"{rest} more things were repaired or ignored")]
        return Grafted(_finish(notebook, self.notes, ""), tuple(self.notes))

    @property
    def cells(self) -> tuple[StudentCell, ...]:
        return self.student.cells

    def _free(self) -> Iterator[int]:
        """Indices of the student's cells that nothing has claimed yet."""
        return (index for index in range(len(self.cells)) if index not in self.role)

    def _note(self, text: str, exercise: str = "") -> None:
        note = Note(text, exercise)
        if note not in self.notes:
            self.notes.append(note)

    # Cells that came with the notebook: their text is the master's, whatever became of it.

    def _recognise_given(self) -> None:
        solution = {slot.index for slot in self.slots}
        given = {i: c for i, c in enumerate(self.master.cells) if i not in solution}
        by_grade_id = {_grade_id(c): i for i, c in given.items()}
        by_id = {c.get("id"): i for i, c in given.items()}
        by_text = {c.source.strip(): i for i, c in given.items() if c.source.strip()}
        known = {slot.grade_id for slot in self.slots} | {slot.exercise for slot in self.slots}
        edited = set[int]()
        for index, cell in enumerate(self.cells):
            if cell.grade_id in known or exercise_line(cell.text) in known:
                continue
            place = by_text.get(cell.text.strip())
            place = by_grade_id.get(cell.grade_id or "-", place)
            place = by_id.get(cell.id or "-", place)
            if place is not None and self._is_given(cell, place):
                self.role[index] = place
                if cell.code and place not in self._checks() and not alike(cell.text, self.master.cells[place].source):
                    edited.add(index)
            elif place is not None:
                self.own[index] = place
        if edited:
            what = "1 cell of the course was" if len(edited) == 1 else f"{len(edited)} cells of the course were"
            self._note(f"{what} edited; for grading they stand as they were given out")

    def _is_given(self, cell: StudentCell, place: int) -> bool:
        """Whether a cell is the master's; an example edited to hold a helper or constant is the student's own."""
        original = self.master.cells[place]
        if cell.text.strip() == original.source.strip() or not cell.code:
            return True
        exercise = self._checks().get(place)
        if exercise is not None:
            self._note("the locked cell with the check was edited; the edit was ignored", exercise)
            return True
        wanted = frozenset[str]().union(*(slot.names for slot in self.slots))
        if (defined_names(cell.text) - defined_names(original.source)) & wanted:
            return False
        return not helper_names(cell.text) - helper_names(original.source)

    def _checks(self) -> dict[int, str]:
        """The exercise that each graded cell of the master checks."""
        exercise_of = {f"{slot.grade_id}-check": slot.exercise for slot in self.slots}
        grade_ids = ((i, _grade_id(cell)) for i, cell in enumerate(self.master.cells))
        return {i: exercise_of[grade_id] for i, grade_id in grade_ids if grade_id in exercise_of}

    def _note_checks(self) -> None:
        """Say which graded cells were deleted or copied."""
        for place, exercise in self._checks().items():
            count = list(self.role.values()).count(place)
            if count == 0:
                self._note("the locked cell with the check was missing; it was put back", exercise)
            elif count > 1:
                self._note(f"the locked cell with the check stood there {count} times; one counts", exercise)

    # Solution cells.

    def _choose(self, slot: Slot) -> str | None:
        """The student's text for a slot, or None if there is none."""
        candidates = self._candidates(slot)
        if not candidates:
            self._note("the cell for this exercise is missing from the notebook", slot.exercise)
            return None
        joined = self._join(candidates, slot)
        if joined is not None:
            return joined
        index = self._best(candidates, slot)
        for other in candidates:
            self.role[other] = slot.index if other == index else None
        if len(candidates) > 1:
            self._note(f"{len(candidates)} cells hold this exercise; {self._why(index, slot)}", slot.exercise)
        if not self.cells[index].code:
            self._note("the solution stood in a cell that was not code; it was read as code", slot.exercise)
        return self._complete(index, slot)

    def _few(self, candidates: list[int], slot: Slot) -> list[int]:
        """The candidates, or the last of those that were worked on if someone made more than anyone would."""
        if len(candidates) <= MAX_CANDIDATES:
            return candidates
        worked_on = [i for i in candidates if not alike(self.cells[i].text, slot.stub)]
        few = (worked_on or candidates)[-MAX_CANDIDATES:]
        self.role.update((i, None) for i in candidates if i not in few)
        self._note(f"{len(candidates)} cells hold this exercise; {len(few)} of them were compared", slot.exercise)
        return few

    def _candidates(self, slot: Slot) -> list[int]:
        """Cells that may be the slot's solution: by grade id, by first line, by what they define."""
        free = list(self._free())
        marked = [i for i in free if self.cells[i].grade_id == slot.grade_id]
        named = [i for i in free if self.cells[i].grade_id != slot.grade_id and self._names_exercise(i, slot)]
        if marked or named:
            if not marked:
                self._note("the cell had lost its metadata; it was found by its first line", slot.exercise)
            return self._few(sorted(marked + named), slot)
        defining = [i for i in free if self.cells[i].code and self._defines(i, slot) == slot.names]
        if defining:
            self._note("the cell had lost its metadata; it was found by what it defines", slot.exercise)
        return self._few(defining, slot)

    def _names_exercise(self, index: int, slot: Slot) -> bool:
        known = {other.grade_id for other in self.slots}
        cell = self.cells[index]
        return cell.grade_id not in known and exercise_line(cell.text) == slot.exercise

    def _defines(self, index: int, slot: Slot) -> frozenset[str]:
        if index not in self.names:
            self.names[index] = defined_names(self.cells[index].text)
        return slot.names & self.names[index]

    def _best(self, candidates: list[int], slot: Slot) -> int:
        """The candidate to grade: a cell with the grade id, worked on, that defines most; the last of those."""

        def rank(index: int) -> tuple[bool, int, bool, int]:
            cell = self.cells[index]
            worked_on = not alike(cell.text, slot.stub)
            return worked_on, len(self._defines(index, slot)), cell.grade_id == slot.grade_id, index

        return max(candidates, key=rank)

    def _why(self, index: int, slot: Slot) -> str:
        kept = "the one with the course's metadata" if self.cells[index].grade_id else "one found by its text"
        last = "the last that defines it" if self._defines(index, slot) else "the last"
        return f"{kept}, {last}, was graded and the others were left out"

    def _join(self, candidates: list[int], slot: Slot) -> str | None:
        """The parts of a split solution as one text, or None if the cells are not parts of one."""
        if len(candidates) < 2 or any(self._defines(i, slot) == slot.names and self._whole(i) for i in candidates):
            return None
        text = "\n".join(self.cells[i].text for i in candidates)
        if len(text) > MAX_CELL or not parses(text) or slot.names - defined_names(text):
            return None
        for index in candidates:
            self.role[index] = slot.index
        self._note(f"the solution was split over {len(candidates)} cells; they were joined", slot.exercise)
        return text

    def _whole(self, index: int) -> bool:
        """Whether a cell stands alone: it is Python, and what follows it is not its indented rest."""
        return parses(self.cells[index].text) and not self._rest_of(index)

    def _rest_of(self, index: int) -> bool:
        following = index + 1
        if following >= len(self.cells):
            return False
        text = self.cells[following].text
        alone = not text.strip() or parses(text)
        return not alone and parses(f"{self.cells[index].text}\n{text}")

    def _complete(self, index: int, slot: Slot) -> str:
        """The text of a cell, with the rest of it if an editor split it and dropped the second part's metadata."""
        text = self.cells[index].text
        following = index + 1
        if following in set(self._free()) and self.cells[following].code and self._rest_of(index):
            self.role[following] = slot.index
            self._note("the solution was split over 2 cells; they were joined", slot.exercise)
            return f"{text}\n{self.cells[following].text}"
        return text

    # What is left over.

    def _note_order(self) -> None:
        solution = {slot.index for slot in self.slots}
        places = [place for _, place in sorted(self.role.items()) if place in solution]
        if places != sorted(places):
            self._note("exercises had been moved; they were put back into the course's order")

    def _note_unknown(self) -> None:
        known = {slot.exercise for slot in self.slots}
        for index in self._free():
            exercise = exercise_line(self.cells[index].text)
            if exercise and exercise not in known:
                self._note(
                    f"a cell names the exercise {exercise[:80]!r}, which this notebook does not have; "
                    "nothing is graded for it"
                )

    def _with_added(self, cells: list[nbformat.NotebookNode]) -> Iterator[nbformat.NotebookNode]:
        """The master's cells, each followed by the cells that the student added after it."""
        added: dict[int, list[str]] = {}
        place, count = -1, 0
        for index, cell in enumerate(self.cells):
            if index in self.role:
                recognised = self.role[index]
                place = place if recognised is None else recognised
            elif cell.code and cell.text.strip():
                count += 1
                place = max(place, self.own.get(index, place))
                if count <= MAX_ADDED:
                    added.setdefault(place, []).append(cell.text)
        if count > MAX_ADDED:
            self._note(f"{count} cells were added; only the first {MAX_ADDED} were taken")
        number = 0
        for index, master_cell in enumerate([None, *cells], start=-1):
            if master_cell is not None:
                yield master_cell
            for text in added.get(index, ()):
                number += 1
                yield _added_cell(text, number)


def _grade_id(cell: nbformat.NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def alike(one: str, other: str) -> bool:
    """Whether two texts differ in white space at most."""
    return one.split() == other.split()


def _label(cell: nbformat.NotebookNode, kind: str, exercise: str = "", state: str = "") -> None:
    """Write what a cell is into its metadata, which from here on is the grader's own."""
    cell.metadata["minigrad"] = nbformat.from_dict({"kind": kind, "exercise": exercise, "state": state})


def _added_cell(text: str, number: int) -> nbformat.NotebookNode:
    cell: nbformat.NotebookNode = nbformat.v4.new_code_cell(text)
    cell.id = f"added-{number}"
    _label(cell, "added")
    return cell


def _finish(notebook: nbformat.NotebookNode, notes: list[Note], unreadable: str) -> nbformat.NotebookNode:
    """Clear outputs and write what a later stage must know into the notebook's own metadata."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            if "setup" in cell.metadata.get("tags", ()):
                _label(cell, "setup")
    minigrad: dict[str, Any] = dict(notebook.metadata.get("minigrad", {}))
    minigrad["notes"] = [{"text": note.text, "exercise": note.exercise} for note in notes]
    minigrad["unreadable"] = unreadable
    notebook.metadata["minigrad"] = nbformat.from_dict(minigrad)
    return notebook


def grafted_from(notebook: nbformat.NotebookNode) -> Grafted:
    """Read a notebook that `graft` wrote back into what it returned."""
    minigrad: Mapping[str, Any] = notebook.metadata.get("minigrad", {})
    notes = tuple(Note(note["text"], note["exercise"]) for note in minigrad.get("notes", ()))
    return Grafted(notebook, notes, minigrad.get("unreadable", ""))
