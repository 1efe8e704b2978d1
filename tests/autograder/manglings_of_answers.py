"""What happens to an answer in words between a student's head and whoever marks it: a registry of manglings.

Each one changes a notebook with one exercise, one plain cell and two questions, both answered.
"""

import copy

import nbformat

from autograder.building.questions import heading

FIRST, SECOND = "long-steps", "dead-units"
SAID = {FIRST: "A slope holds at one place only.", SECOND: "Their gradient is zero.\n\nThey never come back."}
SOLUTION = "# exercise: demo.f\ndef f(x):\n    return x + 1"

MANGLINGS = {}


def mangling(name, note="", lost=()):
    """Register a function that changes a notebook; `note` is said of it, and answers in `lost` are gone."""

    def register(function):
        MANGLINGS[name] = (function, note, lost)
        return function

    return register


def at(notebook, name):
    """Where an answer stands."""
    return next(i for i, cell in enumerate(notebook.cells) if cell.source.startswith(heading(name)))


def bare(cell, number=0):
    """The cell without metadata and id of its own."""
    twin = copy.deepcopy(cell)
    twin.metadata, twin.id = nbformat.from_dict({}), f"bare{number}"
    return twin


@mangling("nothing at all")
def _nothing(notebook):
    """The notebook as it was written."""


@mangling("an answer's cell copied with its metadata")
def _copied(notebook):
    notebook.cells.append(copy.deepcopy(notebook.cells[at(notebook, FIRST)]))


@mangling("an answer in a copy, the first cell left as it was given", "")
def _in_copy(notebook):
    cell = notebook.cells[at(notebook, FIRST)]
    notebook.cells.append(bare(cell))
    cell.source = f"{heading(FIRST)}\n\nWrite your answer here."


@mangling("half of an answer in a second cell with the same metadata", "stood in 2 cells")
def _split(notebook):
    place = at(notebook, SECOND)
    cell = notebook.cells[place]
    twin = copy.deepcopy(cell)
    cell.source, _, twin.source = cell.source.rpartition("\n\n")
    notebook.cells.insert(place + 1, twin)


@mangling("half of an answer in a new cell below", "stood in 2 cells")
def _continued(notebook):
    place = at(notebook, SECOND)
    head, _, tail = notebook.cells[place].source.rpartition("\n\n")
    notebook.cells[place].source = head
    notebook.cells.insert(place + 1, nbformat.v4.new_markdown_cell(tail))


@mangling("an answer in a new cell below the given one")
def _below(notebook):
    place = at(notebook, FIRST)
    notebook.cells[place].source = f"{heading(FIRST)}\n\nWrite your answer here."
    notebook.cells.insert(place + 1, nbformat.v4.new_markdown_cell(SAID[FIRST]))


@mangling("an answer in a new cell, the given one deleted")
def _replaced(notebook):
    notebook.cells[at(notebook, FIRST)] = nbformat.v4.new_markdown_cell(SAID[FIRST])


@mangling("the headings deleted")
def _no_headings(notebook):
    for name in SAID:
        notebook.cells[at(notebook, name)].source = SAID[name]


@mangling("the stub left above an answer")
def _stub_above(notebook):
    notebook.cells[at(notebook, FIRST)].source = f"{heading(FIRST)}\n\nWrite your answer here.\n\n{SAID[FIRST]}"


@mangling("all metadata and ids dropped")
def _no_metadata(notebook):
    notebook.cells = [bare(cell, number) for number, cell in enumerate(notebook.cells)]


@mangling("all metadata, ids and headings dropped")
def _nothing_but_text(notebook):
    _no_headings(notebook)
    _no_metadata(notebook)


@mangling("answers turned into code and raw text")
def _retyped(notebook):
    for name, make in ((FIRST, nbformat.v4.new_code_cell), (SECOND, nbformat.v4.new_raw_cell)):
        cell = notebook.cells[at(notebook, name)]
        notebook.cells[at(notebook, name)] = make(cell.source, metadata=cell.metadata)


@mangling("an answer turned into code, its metadata gone")
def _retyped_bare(notebook):
    cell = notebook.cells[at(notebook, FIRST)]
    notebook.cells[at(notebook, FIRST)] = nbformat.v4.new_code_cell(cell.source)


@mangling("cells in reverse order")
def _reversed(notebook):
    notebook.cells.reverse()


@mangling("an answer moved to the top, its metadata gone")
def _moved(notebook):
    notebook.cells.insert(0, bare(notebook.cells.pop(at(notebook, SECOND))))


@mangling("an answer merged with the question above it")
def _merged(notebook):
    place = at(notebook, FIRST)
    asked = notebook.cells.pop(place - 1).source
    cell = notebook.cells[place - 1]
    cell.source = f"{asked}\n\n{cell.source}"


@mangling("an answer merged with the question above it, the question's cell kept")
def _merged_upwards(notebook):
    place = at(notebook, FIRST)
    notebook.cells[place - 1].source += "\n\n" + notebook.cells.pop(place).source


@mangling("the grade ids of an answer and of a solution exchanged")
def _swapped(notebook):
    one = notebook.cells[at(notebook, FIRST)]
    other = next(cell for cell in notebook.cells if cell.source == SOLUTION)
    one.metadata, other.metadata = other.metadata, one.metadata


@mangling("the grade ids of an answer and of a solution exchanged, the solution's first line gone")
def _swapped_bare(notebook):
    _swapped(notebook)
    cell = next(cell for cell in notebook.cells if cell.source == SOLUTION)
    cell.source = cell.source.partition("\n")[2]


@mangling("points, locks and types in the metadata edited")
def _edited(notebook):
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update(points=1000, locked=True, grade=False, solution=False, task=True)


@mangling("an answer's cell deleted", "was missing; it was put back", lost=(FIRST,))
def _deleted(notebook):
    del notebook.cells[at(notebook, FIRST)]


@mangling("an answer that is no text", "its cell holds something other than text", lost=(FIRST,))
def _not_text(notebook):
    cell = notebook.cells[at(notebook, FIRST)]
    notebook.cells[at(notebook, FIRST)] = {**cell, "source": {"a": 1}}


@mangling("git's marks around two versions of an answer")
def _conflict(notebook):
    cell = notebook.cells[at(notebook, FIRST)]
    cell.source = f"{heading(FIRST)}\n\n<<<<<<< HEAD\n{SAID[FIRST]}\n=======\nNo idea.\n>>>>>>> second laptop"
