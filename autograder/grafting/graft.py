"""Graft a student's work onto the master notebook.

The student's notebook is never graded, nor executed, nor written back: the master takes only the *text* of
its solution cells, and the cells its author added. So edited metadata, tags, duplicated or deleted cells, a
forged output or another kernel have nothing to act on, and a mangled notebook keeps the points it deserves.

Every repair and everything ignored is said in a note; a file that is no notebook becomes a master full of
stubs whose report gives the reason.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import nbformat

from autograder.building.slicing import STUB
from autograder.common.effort import Effort
from autograder.common.marker import exercise_of
from autograder.common.python_text import defined_names, helper_names, parses, same_code
from autograder.common.unforeseen import unforeseen
from autograder.grafting.claims import claimed, taken_apart
from autograder.grafting.grafted import (
    Grafted,
    Note,
    Slot,
    added_cell,
    alike,
    finish,
    grade_id_of,
    label,
    slots_of,
    stubs,
)
from autograder.grafting.ordering import helpers_first
from autograder.grafting.written import claims, collect, found, places_of, put
from autograder.reading import EFFORT, MAX_CELL, StudentCell, StudentNotebook, read_notebook
from autograder.reading.student_files import Unreadable, without_outputs

MAX_ADDED = 200
"""Most cells of their own that are taken from a student; a notebook has tens."""

MAX_CANDIDATES = 10
"""Most cells that are compared to find one exercise's solution."""

MAX_PROSE = 100_000
"""Most characters of cells that are not code in which a solution is looked for."""

MAX_NOTES = 20

CONFLICT = (
    "its cell holds two versions that git could not merge (<<<<<<<), and it is unclear which is meant; "
    "keep one and hand it in again"
)

_TOO_MUCH = f"its cells took more than {EFFORT:g} s of processor time to compare with those that were given out"

Chosen = tuple[str, str, str]
"""The text of a solution cell, its state, and why nothing can be graded."""


def graft(submission: bytes | Path, master: nbformat.NotebookNode) -> Grafted:
    """Graft a submitted file onto its master; a file that cannot be read becomes stubs and a reason."""
    try:
        data = submission if isinstance(submission, bytes) else without_outputs(submission)
        return graft_notebook(read_notebook(data), master)
    except Unreadable as error:
        return stubs(master, str(error))


def graft_notebook(student: StudentNotebook, master: nbformat.NotebookNode) -> Grafted:
    """Graft a student's cells onto the master; where comparing them takes too long, stubs and a reason.

    A cell at which an error is raised that nobody foresaw is left out, which costs the exercise that it is about.
    """
    try:
        with Effort(EFFORT, lambda: Unreadable(_TOO_MUCH)).spent():
            return _grafted(student, master)
    except Unreadable as error:
        return stubs(master, str(error))
    except Exception as error:
        return stubs(master, unforeseen("this notebook", error))


def _grafted(student: StudentNotebook, master: nbformat.NotebookNode) -> Grafted:
    try:
        return _Graft(student, master).run()
    except Unreadable:
        raise
    except Exception as error:
        cells = tuple(_harmless(student.cells, master))
        if cells == student.cells:
            raise
        said = unforeseen("a cell, which was left out", error)
        return _Graft(replace(student, cells=cells, notes=(*student.notes, said)), master).run()


def _harmless(cells: Sequence[StudentCell], master: nbformat.NotebookNode) -> Iterator[StudentCell]:
    """The cells without the text of those that cannot be grafted, also where nothing else is: found by halving."""
    try:
        _Graft(StudentNotebook(tuple(cells)), master).run()
        yield from cells
    except Unreadable:
        raise
    except Exception as error:
        if len(cells) > 1:
            middle = len(cells) // 2
            yield from _harmless(cells[:middle], master)
            yield from _harmless(cells[middle:], master)
        else:
            yield replace(cells[0], text="", damage=unforeseen("its cell", error))


@dataclass
class _Graft:
    """One graft at work. `role` says, for each of the student's cells, what became of it."""

    student: StudentNotebook
    master: nbformat.NotebookNode
    cells: list[StudentCell] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    role: dict[int, int | None] = field(default_factory=dict)  # student's cell -> master's cell, None: dropped
    owner: dict[int, Slot | None] = field(default_factory=dict)  # student's cell -> whose solution it is
    given: dict[int, int] = field(default_factory=dict)  # slot without an answer -> how many of its cells are there
    own: dict[int, int] = field(default_factory=dict)  # student's cell -> the master's that it was
    prose: int = MAX_PROSE
    names: dict[int, set[str]] = field(default_factory=dict)  # student's cell -> what it defines
    checks: dict[int, str] = field(default_factory=dict)  # master's graded cell -> the exercise that it checks

    def run(self) -> Grafted:
        for note in self.student.notes:
            self._note(note)
        self.slots = slots_of(self.master)
        self.places = places_of(self.master)
        checked = {f"{slot.grade_id}-check": slot.exercise for slot in self.slots}
        grade_ids = ((index, grade_id_of(cell)) for index, cell in enumerate(self.master.cells))
        self.checks = {index: checked[each] for index, each in grade_ids if each in checked}
        self.cells = list(taken_apart(self.student.cells, self.slots))
        if len(self.cells) > len(self.student.cells):
            self._note("several exercises stood in one cell; they were taken apart")
        self._recognise_answers()
        self._recognise_given()
        self._note_checks()
        notebook = copy.deepcopy(self.master)
        self.owner = {index: self._claimed(index) for index in self._free()}
        self._take_answers(notebook)
        chosen = {slot.index: self._choose(slot) for slot in self.slots}
        for slot in self.slots:
            text, state, reason = chosen[slot.index] or self._scattered(slot)
            notebook.cells[slot.index].source = text
            label(notebook.cells[slot.index], "solution", slot.exercise, state, reason)
        self._note_order()
        self._note_unknown()
        notebook.cells = helpers_first(list(self._with_added(notebook.cells)), self._note)
        if len(self.notes) > MAX_NOTES:
            rest = len(self.notes) - MAX_NOTES + 1
            self.notes[MAX_NOTES - 1 :] = [Note(f"{rest} more things were repaired or ignored")]
        return Grafted(finish(notebook, self.notes, "", self.student.language), tuple(self.notes))

    def _free(self) -> Iterator[int]:
        """Indices of the student's cells that nothing has claimed yet."""
        return (index for index in range(len(self.cells)) if index not in self.role)

    def _claimed(self, index: int) -> Slot | None:
        return claimed(self.cells[index], lambda: self._names_of(index), self.slots)

    def _names_of(self, index: int) -> set[str]:
        if index not in self.names:
            cell = self.cells[index]
            self.prose -= 0 if cell.code else len(cell.text)
            self.names[index] = defined_names(cell.text) if cell.code or self.prose > 0 else set()
        return self.names[index]

    def _note(self, text: str, exercise: str = "") -> None:
        note = Note(text, exercise)
        if note not in self.notes:
            self.notes.append(note)

    # Answers in words, which a person marks.

    def _recognise_answers(self) -> None:
        exercises = {slot.exercise for slot in self.slots}
        for index, cell in enumerate(self.cells):
            place = claims(cell, self.places)
            is_solution = exercise_of(cell.text) in exercises or (cell.code and self._defines_any(index))
            if place is not None and not is_solution:
                self.role[index] = place.index

    def _take_answers(self, notebook: nbformat.NotebookNode) -> None:
        def is_free_text(index: int) -> bool:
            cell = self.cells[index]
            return not cell.code and self.owner.get(index) is None and not self._defines_any(index)

        chosen = collect(self.cells, self.places, self.role, is_free_text)
        for place in self.places:
            written = found(place, [self.cells[index] for index in chosen[place.index]])
            put(notebook.cells[place.index], place, written)
            for note in written.notes:
                self._note(note)

    def _defines_any(self, index: int) -> bool:
        return any(self._defines(index, slot) for slot in self.slots)

    # Cells that came with the notebook: their text is the master's, whatever became of it.

    def _recognise_given(self) -> None:
        solution = {slot.index for slot in self.slots}
        solution |= {place.index for place in self.places}
        given = {i: c for i, c in enumerate(self.master.cells) if i not in solution}
        by_grade_id = {grade_id_of(c): i for i, c in given.items()}
        by_id = {c.get("id"): i for i, c in given.items()}
        by_text = {c.source.strip(): i for i, c in given.items() if c.source.strip()}
        known = {slot.grade_id for slot in self.slots} | {slot.exercise for slot in self.slots}
        edited = set[int]()
        for index, cell in ((i, self.cells[i]) for i in list(self._free())):
            same = by_text.get(cell.text.strip())
            if same is None and (cell.grade_id in known or exercise_of(cell.text) in known):
                continue
            place = by_grade_id.get(cell.grade_id or "-", by_id.get(cell.id or "-"))
            if place is None or (same is not None and self.master.cells[place].source.strip() != cell.text.strip()):
                place = same
            if place is not None and self._is_given(cell, place):
                self.role[index] = place
                if cell.code and place not in self.checks and not alike(cell.text, self.master.cells[place].source):
                    edited.add(index)
            elif place is not None:
                self.own[index] = place
        if edited:
            what = "1 cell of the course was" if len(edited) == 1 else f"{len(edited)} cells of the course were"
            self._note(f"{what} edited; for grading they stand as they were given out")

    def _is_given(self, cell: StudentCell, place: int) -> bool:
        """Return whether a cell is the master's; an example edited to hold a helper or constant is the student's."""
        original = self.master.cells[place]
        if cell.text.strip() == original.source.strip() or not cell.code:
            return True
        exercise = self.checks.get(place)
        if exercise is not None:
            self._note("the locked cell with the check was edited; the edit was ignored", exercise)
            return True
        wanted = frozenset[str]().union(*(slot.names for slot in self.slots))
        if (defined_names(cell.text) - defined_names(original.source)) & wanted:
            return False
        return not helper_names(cell.text) - helper_names(original.source)

    def _note_checks(self) -> None:
        """Say which graded cells were deleted or copied."""
        for place, exercise in self.checks.items():
            count = list(self.role.values()).count(place)
            if count == 0:
                self._note("the locked cell with the check was missing; it was put back for grading", exercise)
            elif count > 1:
                self._note(f"the locked cell with the check stood there {count} times; one counts", exercise)

    # Solution cells.

    def _choose(self, slot: Slot) -> Chosen | None:
        """Return the text for a slot, or None if nobody worked on the cells that are its own."""
        candidates = self._candidates(slot)
        damaged = [i for i in candidates if self.cells[i].damage]
        self.role.update((i, None) for i in damaged)
        candidates = [i for i in candidates if i not in damaged]
        if damaged and not any(self._worked_on(i, slot) for i in candidates):
            reason = self.cells[damaged[-1]].damage
            self.role.update((i, slot.index) for i in candidates)
            return slot.stub, "unclear", reason
        if any(self.cells[i].side for i in candidates):
            candidates, versions = self._agreed(candidates, slot)
            if versions:
                return _both(*versions), "unclear", CONFLICT
        if not any(self._worked_on(i, slot) for i in candidates):
            self.role.update((i, slot.index) for i in candidates)
            self.given[slot.index] = len(candidates)
            return None
        text = self._join(candidates, slot) or self._one_of(candidates, slot)
        return text, "answered", ""

    def _one_of(self, candidates: list[int], slot: Slot) -> str:
        index = self._best(candidates, slot)
        for other in candidates:
            self.role[other] = slot.index if other == index else None
        if len(candidates) > 1:
            self._note(f"{len(candidates)} cells hold this exercise; {self._why(index, slot)}", slot.exercise)
        if not self.cells[index].code:
            self._note("the solution stood in a cell that was not code; it was read as code", slot.exercise)
        return self._complete(index, slot)

    def _worked_on(self, index: int, slot: Slot) -> bool:
        text = self.cells[index].text
        return bool(text.strip()) and not alike(text, slot.stub)

    def _few(self, candidates: list[int], slot: Slot) -> list[int]:
        """The candidates, or the last of those that were worked on if someone made more than anyone would."""
        if len(candidates) <= MAX_CANDIDATES:
            return candidates
        worked_on = [i for i in candidates if self._worked_on(i, slot)]
        few = (worked_on or candidates)[-MAX_CANDIDATES:]
        self.role.update((i, None) for i in candidates if i not in few)
        self._note(f"{len(candidates)} cells hold this exercise; {len(few)} of them were compared", slot.exercise)
        return few

    def _candidates(self, slot: Slot) -> list[int]:
        """Cells that are the slot's own: by grade id and by first line, and where these differ by what they define."""
        own = [index for index in self._free() if self.owner.get(index) == slot]
        marked = [i for i in own if self.cells[i].grade_id == slot.grade_id]
        if own and not marked:
            self._note("the cell had lost its metadata; it was found by its first line", slot.exercise)
        return self._few(own, slot)

    def _agreed(self, candidates: list[int], slot: Slot) -> tuple[list[int], tuple[str, ...]]:
        """Candidates of a notebook with git's conflict marks; and the two versions where it is unclear which is meant.

        Versions of the same code are one, and so are a version that was worked on and one that was not.
        """
        good = [i for i in candidates if self._worked_on(i, slot)]
        good = [i for i in good if parses(self.cells[i].text)] or good
        most = max((len(self._defines(i, slot)) for i in good), default=0)
        good = [i for i in good if len(self._defines(i, slot)) == most]
        versions = {self.cells[i].side: self.cells[i].text for i in good if self.cells[i].side}
        self.role.update((i, None) for i in candidates)
        if len(versions) == 2 and not same_code(versions[1], versions[2]):
            self.role.update((i, slot.index) for i in good)
            return [], (versions[1], versions[2])
        if good:
            self._note(
                "git's conflict marks stood in this exercise; only one version says something new", slot.exercise
            )
        kept = [i for i in good or candidates[:1] if not versions or self.cells[i].side in (0, min(versions))]
        return kept, ()

    def _scattered(self, slot: Slot) -> Chosen:
        """Return the text for a slot without a worked-on cell of its own: the student's cells that define its names."""
        loose = [i for i in self._free() if self.owner.get(i) is None and self._defines(i, slot)]
        whole = [i for i in loose if self._defines(i, slot) == slot.names]
        state = "untouched" if self.given.get(slot.index) else "missing"
        if whole:
            self._note("the solution stood in another cell; it was found by what it defines", slot.exercise)
            return self._one_of(self._few(whole, slot), slot), "answered", ""
        loose = [i for i in loose if self.cells[i].code]
        if loose:
            text = "\n".join(self.cells[i].text for i in loose)
            names = frozenset[str]().union(*(self._defines(i, slot) for i in loose))
            if names == slot.names and len(text) <= MAX_CELL and parses(text):
                self.role.update((i, slot.index) for i in loose)
                self._note(f"the solution stood in {len(loose)} other cells; they were joined", slot.exercise)
                return text, "answered", ""
            self._note(f"other cells define {', '.join(sorted(names))}; the stubs were left out", slot.exercise)
            return slot.stub.partition("\n")[0], state, ""
        if state == "missing":
            self._note("the cell for this exercise is missing from the notebook", slot.exercise)
        return slot.stub, state, ""

    def _defines(self, index: int, slot: Slot) -> frozenset[str]:
        return slot.names & self._names_of(index)

    def _best(self, candidates: list[int], slot: Slot) -> int:
        """The candidate to grade: worked on, defining most, with fewest blanks, the course's own cell; the last."""

        def rank(index: int) -> tuple[bool, int, int, bool, int]:
            cell = self.cells[index]
            blanks = cell.text.count(STUB[-1])
            own = cell.grade_id == slot.grade_id
            return self._worked_on(index, slot), len(self._defines(index, slot)), -blanks, own, index

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
        """Return whether a cell stands alone: it is Python, and what follows it is not its indented rest."""
        return parses(self.cells[index].text) and not self._rest_of(self.cells[index].text, index)

    def _rest_of(self, text: str, index: int) -> bool:
        """Return whether the cell after another goes on where a text ends."""
        following = index + 1
        if following >= len(self.cells):
            return False
        rest = self.cells[following].text
        alone = not rest.strip() or parses(rest)
        return not alone and parses(f"{text}\n{rest}")

    def _complete(self, index: int, slot: Slot) -> str:
        """The text of a cell, with the rest of it if an editor split it and dropped the other parts' metadata."""
        text, last = self.cells[index].text, index
        free = set(self._free())
        while last + 1 in free and last - index < MAX_CANDIDATES and self.cells[last + 1].code:
            if len(text) > MAX_CELL or not self._rest_of(text, last):
                break
            last += 1
            self.role[last] = slot.index
            text = f"{text}\n{self.cells[last].text}"
        if last > index:
            self._note(f"the solution was split over {last - index + 1} cells; they were joined", slot.exercise)
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
            exercise = exercise_of(self.cells[index].text)
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
                yield added_cell(text, number)


def _both(one: str, other: str) -> str:
    """Two versions as git writes them, so that whoever reads the cell sees both."""
    return f"<<<<<<< one version\n{one}\n=======\n{other}\n>>>>>>> the other version"
