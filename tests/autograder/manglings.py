"""What happens to a right submission between a student's head and the grader: a registry of manglings.

Each one makes files from the three notebooks of module 1, right in every exercise. It says which exercises it costs,
with words of the reason, and what the report must say of the repair.
"""

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import nbformat

Files = dict[str, bytes]
Notebooks = dict[str, nbformat.NotebookNode]

DERIVATIVES, CHAIN, BACKPROP = "01_numerical_derivatives", "02_chain_rule", "03_backprop"
RULE, BACKS, ARITHMETIC = "autodiff.chain_rule", "operators.backs", "functions.arithmetic"
GRADIENT, CENTRAL = "derivatives.gradient", "derivatives.central_difference"


@dataclass(frozen=True)
class Mangling:
    """A way to damage a submission.

    Attributes:
        name: What happened.
        mangle: Makes files from right notebooks, which it may change.
        said: Words that one sentence of the report holds together.
        lost: Words of the reason by exercise, for those that earn nothing; all others keep full points.
    """

    name: str
    mangle: Callable[[Notebooks], Files]
    said: tuple[str, ...] = ()
    lost: Mapping[str, str] = field(default_factory=dict)


MANGLINGS: list[Mangling] = []


def mangling(name, *said, lost=None):
    """Register a function that changes the notebooks, or returns files."""

    def register(function):
        def mangle(notebooks: Notebooks) -> Files:
            made = function(notebooks)
            return {**saved(notebooks), **(made or {})}

        MANGLINGS.append(Mangling(name, mangle, said, lost or {}))
        return function

    return register


def saved(notebooks):
    """Files of notebooks as Jupyter saves them."""
    return {f"{lesson}.ipynb": as_json(notebook).encode() for lesson, notebook in notebooks.items()}


def as_json(notebook):
    """A notebook as the text of its file, whatever is wrong with it."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def place(notebook, exercise):
    """Where an exercise's solution cell stands."""
    return next(i for i, c in enumerate(notebook.cells) if c.source.startswith(f"# exercise: {exercise}\n"))


def solution(notebook, exercise):
    """The solution cell of an exercise."""
    return notebook.cells[place(notebook, exercise)]


def code(source, **metadata):
    """A code cell."""
    return nbformat.v4.new_code_cell(source, metadata=metadata)


def bare(cell):
    """The cell without metadata and id of its own."""
    twin = copy.deepcopy(cell)
    twin.metadata, twin.id = nbformat.from_dict({}), f"bare{len(cell.source)}"
    return twin


def stubbed(text):
    """A solution in which nothing is written."""
    lines = text.split("\n")
    return "\n".join([lines[0], *(line for line in lines[1:] if line.startswith("def"))]) + "\n    pass"


def rewritten(notebooks, lesson, change):
    """The file of a lesson, its JSON changed."""
    document = json.loads(as_json(notebooks[lesson]))
    document = change(document) or document
    return {f"{lesson}.ipynb": json.dumps(document, indent=1).encode()}


def replaced(notebooks, lesson, change):
    """The file of a lesson, its bytes changed."""
    return {f"{lesson}.ipynb": change(as_json(notebooks[lesson]).encode())}


def conflict(ours, theirs):
    """Two versions as git leaves them where it cannot merge."""
    return f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> second laptop\n"


# --- cells duplicated, split, missing, moved, re-typed ------------------------------------------------------------


@mangling("nothing at all")
def _nothing(notebooks):
    """The submission as it was written."""


@mangling("a solution cell copied with its metadata", "2 cells hold this exercise")
def _copied(notebooks):
    cells = notebooks[CHAIN].cells
    cells.insert(place(notebooks[CHAIN], RULE) + 1, copy.deepcopy(solution(notebooks[CHAIN], RULE)))


@mangling("a solution cell copied, the copy left unfinished", "2 cells hold this exercise")
def _copied_stub(notebooks):
    twin = copy.deepcopy(solution(notebooks[CHAIN], BACKS))
    twin.source = "# exercise: operators.backs\n# another idea:"
    notebooks[CHAIN].cells.append(twin)


@mangling("work in a copy, the first cell with a remark in its blanks", "2 cells hold this exercise")
def _two_solutions(notebooks):
    cell = solution(notebooks[DERIVATIVES], GRADIENT)
    twin = bare(cell)
    head = cell.source.split('"""')[0]
    cell.source = f"{head}'what?'\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    notebooks[DERIVATIVES].cells.append(twin)


@mangling("a graded cell copied", "stood there 2 times")
def _check_copied(notebooks):
    at = place(notebooks[CHAIN], RULE) + 1
    notebooks[CHAIN].cells.insert(at, copy.deepcopy(notebooks[CHAIN].cells[at]))


@mangling("every graded cell deleted", "check was missing")
def _checks_deleted(notebooks):
    for notebook in notebooks.values():
        notebook.cells = [c for c in notebook.cells if not c.metadata.get("nbgrader", {}).get("grade")]


@mangling("a graded cell edited", "edit was ignored")
def _check_edited(notebooks):
    notebooks[CHAIN].cells[place(notebooks[CHAIN], RULE) + 1].source = "5.0"


@mangling("a graded cell turned into Markdown and one into raw text")
def _checks_retyped(notebooks):
    cells = notebooks[CHAIN].cells
    for exercise, make in ((RULE, nbformat.v4.new_markdown_cell), (BACKS, nbformat.v4.new_raw_cell)):
        at = place(notebooks[CHAIN], exercise) + 1
        cells[at] = make(cells[at].source, metadata=cells[at].metadata)


@mangling("a solution split between its functions, metadata on both parts", "split over 2 cells")
def _split_between(notebooks):
    split(notebooks[CHAIN], BACKS, "\ndef relu_back", keep=True)


@mangling("a solution split between its functions, no metadata on the second part")
def _split_between_bare(notebooks):
    split(notebooks[CHAIN], BACKS, "\ndef relu_back", keep=False)


@mangling("a solution split inside a function, no metadata on the second part", "split over 2 cells")
def _split_inside(notebooks):
    split(notebooks[CHAIN], RULE, "\n    history", keep=False)


@mangling("a solution in three parts, no metadata on two of them", "split over 3 cells")
def _split_in_three(notebooks):
    split(notebooks[CHAIN], RULE, "\n    history", keep=False)
    cells = notebooks[CHAIN].cells
    at = place(notebooks[CHAIN], RULE) + 1
    head, _, rest = cells[at].source.rpartition("\n")
    cells[at].source = head
    cells.insert(at + 1, code(rest))


@mangling("a solution in parts without any metadata, its first line gone", "stood in 2 other cells")
def _split_without_line(notebooks):
    split(notebooks[CHAIN], BACKS, "\ndef relu_back", keep=False)
    cells = notebooks[CHAIN].cells
    at = place(notebooks[CHAIN], BACKS)
    cells[at] = code(cells[at].source.partition("\n")[2])


@mangling("a solution cell deleted", lost={RULE: "no cell for this exercise"})
def _deleted(notebooks):
    del notebooks[CHAIN].cells[place(notebooks[CHAIN], RULE)]


@mangling("every given cell deleted", "check was missing")
def _only_solutions(notebooks):
    for notebook in notebooks.values():
        notebook.cells = [c for c in notebook.cells if c.source.startswith("# exercise")]


@mangling("cells in reverse order", "put back into the course's order")
def _reversed(notebooks):
    for notebook in notebooks.values():
        notebook.cells.reverse()


@mangling("solutions turned into Markdown and raw text", "not code")
def _retyped(notebooks):
    for notebook in notebooks.values():
        for index, cell in enumerate(notebook.cells):
            if cell.source.startswith("# exercise"):
                make = (nbformat.v4.new_markdown_cell, nbformat.v4.new_raw_cell)[index % 2]
                notebook.cells[index] = make(cell.source, metadata=cell.metadata)


@mangling("a solution turned into Markdown, fenced, its metadata gone", "not code")
def _fenced(notebooks):
    at = place(notebooks[CHAIN], RULE)
    text = notebooks[CHAIN].cells[at].source
    notebooks[CHAIN].cells[at] = nbformat.v4.new_markdown_cell(f"```python\n{text}\n```")


@mangling("a solution turned into Markdown, metadata and first line gone", "found by what it defines")
def _retyped_bare(notebooks):
    at = place(notebooks[CHAIN], RULE)
    notebooks[CHAIN].cells[at] = nbformat.v4.new_markdown_cell(notebooks[CHAIN].cells[at].source.partition("\n")[2])


@mangling("solution cells merged into one", "taken apart")
def _merged(notebooks):
    cells = notebooks[DERIVATIVES].cells
    parts = [cell for cell in cells if cell.source.startswith("# exercise")]
    parts[0].source = "\n\n".join(part.source for part in parts)
    notebooks[DERIVATIVES].cells = [cell for cell in cells if cell not in parts[1:]]


@mangling("a solution merged with its graded cell", "check was missing")
def _merged_with_check(notebooks):
    at = place(notebooks[CHAIN], RULE)
    notebooks[CHAIN].cells[at].source += "\n\n" + notebooks[CHAIN].cells.pop(at + 1).source


@mangling("a solution merged with the example above it", "taken apart")
def _merged_with_example(notebooks):
    at = place(notebooks[BACKPROP], "mlp.SGD")
    text = notebooks[BACKPROP].cells.pop(at).source
    notebooks[BACKPROP].cells.insert(at, code(f"y = 2.0\n\n{text}"))


def split(notebook, exercise, before, *, keep):
    """Split a solution cell before a text; the second part keeps the metadata or has none."""
    at = place(notebook, exercise)
    cell = notebook.cells[at]
    head, mark, rest = cell.source.partition(before)
    assert mark, (exercise, cell.source)
    twin = copy.deepcopy(cell) if keep else bare(cell)
    cell.source, twin.source = head, (mark + rest).removeprefix("\n")
    notebook.cells.insert(at + 1, twin)


# --- metadata -----------------------------------------------------------------------------------------------------


@mangling("all metadata dropped", "found by its first line")
def _no_metadata(notebooks):
    for notebook in notebooks.values():
        notebook.metadata = nbformat.from_dict({})
        for cell in notebook.cells:
            cell.metadata = nbformat.from_dict({})


@mangling("all metadata, ids and first lines dropped", "found by what it defines")
def _nothing_but_text(notebooks):
    for notebook in notebooks.values():
        for number, cell in enumerate(notebook.cells):
            cell.metadata, cell.id = nbformat.from_dict({}), f"c{number}"
            if cell.source.startswith("# exercise"):
                cell.source = cell.source.partition("\n")[2]


@mangling("the first lines dropped")
def _no_lines(notebooks):
    for notebook in notebooks.values():
        for cell in notebook.cells:
            if cell.source.startswith("# exercise"):
                cell.source = cell.source.partition("\n")[2]


@mangling("grade ids exchanged between two solutions", "found by its first line")
def _grade_ids_swapped(notebooks):
    swap_grade_ids(notebooks[CHAIN])


@mangling("grade ids exchanged, first lines dropped", "found by its first line")
def _grade_ids_swapped_bare(notebooks):
    swap_grade_ids(notebooks[CHAIN])
    _no_lines(notebooks)


def swap_grade_ids(notebook):
    """Exchange the grade ids of two solution cells."""
    one, other = solution(notebook, RULE).metadata.nbgrader, solution(notebook, BACKS).metadata.nbgrader
    one.grade_id, other.grade_id = other.grade_id, one.grade_id


@mangling("a grade id edited", "found by its first line")
def _grade_id_edited(notebooks):
    solution(notebooks[CHAIN], RULE).metadata.nbgrader.grade_id = "cell-4711"


@mangling("a graded cell with a solution's grade id", "check was missing")
def _grade_id_of_solution(notebooks):
    at = place(notebooks[CHAIN], RULE)
    cells = notebooks[CHAIN].cells
    cells[at + 1].metadata.nbgrader.grade_id = cells[at].metadata.nbgrader.grade_id
    cells[at + 1].source += "  # mine"


@mangling("the first line names another exercise")
def _line_of_another(notebooks):
    cell = solution(notebooks[CHAIN], RULE)
    cell.source = cell.source.replace(RULE, BACKS, 1)


@mangling("points, schema and locks edited")
def _nbgrader_edited(notebooks):
    for notebook in notebooks.values():
        for cell in notebook.cells:
            if "nbgrader" in cell.metadata:
                cell.metadata.nbgrader.update(points=1000, schema_version=99, locked=False, grade=True, solution=False)


@mangling("every cell with one id")
def _one_id(notebooks):
    for notebook in notebooks.values():
        for cell in notebook.cells:
            cell.id = notebook.cells[0].id


@mangling("no cell with an id, nbformat 4.0")
def _no_ids(notebooks):
    def change(document):
        document["nbformat_minor"] = 0
        for cell in document["cells"]:
            del cell["id"]

    return rewritten(notebooks, BACKPROP, change)


@mangling("a kernel of another name and language")
def _kernel(notebooks):
    for notebook in notebooks.values():
        notebook.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}
        notebook.metadata.language_info = {"name": "R"}


@mangling("the release's stamp forged")
def _stamp(notebooks):
    notebooks[CHAIN].metadata.minigrad = {"lesson": CHAIN, "stamp": "ffffffffffff", "version": "9"}


@mangling("metadata that is no metadata")
def _metadata_types(notebooks):
    def change(document):
        document["metadata"] = ["none"]
        for cell in document["cells"]:
            cell["metadata"] = "none" if cell["cell_type"] == "markdown" else None

    return rewritten(notebooks, CHAIN, change)
