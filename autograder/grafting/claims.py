"""The exercise that a student's cell solves: by nbgrader's grade id, by its first line, or by its definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from autograder.common.marker import exercise_of, marked_lines
from autograder.grafting.grafted import Slot
from autograder.reading import StudentCell


def claimed(cell: StudentCell, defined: Callable[[], set[str]], slots: Sequence[Slot]) -> Slot | None:
    """The slot that a cell is the solution of, or None if it does not say so.

    A grade id and a first line that contradict each other are decided by what the cell defines, and a grade id alone
    gives way to the names of another exercise.
    """
    marked = next((slot for slot in slots if slot.grade_id == cell.grade_id), None)
    line = exercise_of(cell.text)
    named = next((slot for slot in slots if slot.exercise == line), None)
    if marked and named and marked != named:
        return named if len(named.names & defined()) > len(marked.names & defined()) else marked
    if marked and not named and not marked.names & defined():
        others = [slot for slot in slots if slot.names and slot.names <= defined()]
        return others[0] if len(others) == 1 else marked
    return marked or named


def taken_apart(cells: Iterable[StudentCell], slots: Sequence[Slot]) -> Iterator[StudentCell]:
    """The cells, those that hold several exercises cut at their first lines."""
    known = {slot.exercise: slot for slot in slots}
    marked = {slot.grade_id: slot.exercise for slot in slots}
    for cell in cells:
        starts, current = [0], marked.get(cell.grade_id) or exercise_of(cell.text)
        for start, named in marked_lines(cell.text):
            if named in known and named != current:
                current = named
                if cell.text[starts[-1] : start].strip():
                    starts.append(start)
        if len(starts) == 1:
            yield cell
            continue
        texts = [cell.text[a:b].rstrip("\n") for a, b in zip(starts, [*starts[1:], None], strict=True)]
        yield replace(cell, text=texts[0])
        for text in texts[1:]:
            yield replace(cell, text=text, grade_id="", id="")
