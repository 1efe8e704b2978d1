"""The line ``# exercise: ID``: `minigrad check`, `use`, `submit` and the grader read the same spellings of it."""

import ast
import json
import time
from pathlib import Path

import nbformat
import pytest

from autograder.building.notebooks import placement
from autograder.grafting.graft import graft
from autograder.reading.exports import is_script, script_cells
from minigrad import exercises
from minigrad.exercises import installing
from minigrad.exercises.marker import exercise_of, marked_lines, marker
from minigrad.working_folder.checking import not_begun
from minigrad.working_folder.submitting import pack


@pytest.fixture(autouse=True)
def nothing_stays_in_use():
    """What `use` installs is taken out again."""
    yield
    installing.take_out(list(installing._installed))


ID = "operators.arithmetic"
BODY = "def add(x, y):\n    return x + y\n\n\ndef mul(x, y):\n    return x * y\n\n\ndef neg(x):\n    return -x"
STUB = "\n\n\n".join(
    f"def {name}:\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    for name in ("add(x, y)", "mul(x, y)", "neg(x)")
)
READ = [
    f"# exercise: {ID}",
    f"# Exercise: {ID}",
    f"#EXERCISE:{ID}",
    f"#  exercise  :  {ID}  ",
    f"#\texercise:\t{ID}",
    f"#\u00a0exercise:\u00a0{ID}",
    f"  # exercise: {ID}",
    f"# exercise: {ID} # mine",
    f"# exercise: {ID} (second attempt)",
    f"# exercise: {ID}.",
    f"%%time\n\n# by me\n# exercise: {ID}",
]
NOT_READ = [
    "# by me",
    "# exercise",
    "# exercise:",
    "# Exercise: try three numbers",
    f"# the exercise: {ID}",
    f"## exercise: {ID}",
    f"x = 0  # exercise: {ID}",
    f"x = 0\n# exercise: {ID}\nx = 1",
    f'"""\n# exercise: {ID}\n"""',
]


def handed_in(path, source):
    """Write a lesson that lost its metadata, as an export or another editor leaves it."""
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    return path


def master():
    nbgrader = {"grade": False, "solution": True, "locked": False, "grade_id": "operators-arithmetic"}
    cell = nbformat.v4.new_code_cell(f"{marker(ID)}\n{STUB}", id="a", metadata={"nbgrader": nbgrader})
    return nbformat.v4.new_notebook(cells=[cell], metadata={"minigrad": {"lesson": "00_fundamentals"}})


def named_for_the_grader(source):
    """Return whether the grader finds the cell by its line: `add` alone would be too little to know it by."""
    lines = source.split("\n")
    named = graft(json.dumps(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])).encode(), master())
    label = named.notebook.cells[0].metadata["minigrad"]
    return label["state"] == "answered" and lines[-1] in named.notebook.cells[0].source


@pytest.mark.parametrize("head", [*READ, *NOT_READ])
def test_all_readers_agree(tmp_path, monkeypatch, capsys, head):
    """A cell counts for check, use, submit and grader, or for none of them."""
    monkeypatch.chdir(tmp_path)
    expected = head in READ
    path = handed_in(tmp_path / "00_fundamentals.ipynb", f"{head}\n{BODY}")
    assert (exercises.placed_in(path) == [ID]) is expected
    assert not not_begun(ID, path)
    exercises.use(path, namespace={}, verbose=True)
    assert (f"{ID:40} yours" in capsys.readouterr().out) is expected
    warnings = [each for each in pack(tmp_path, "module0", force=True).warnings if "nothing is written yet" in each]
    assert (ID not in "".join(warnings)) is expected
    part = f"{head}\ndef add(x, y):\n    return x + y"  # too little to be known by its names
    assert named_for_the_grader(part) is expected


@pytest.mark.parametrize("head", READ)
def test_a_lesson_is_written_in_one_way(head):
    """The build takes the one spelling, and refuses a cell that begins with any other."""
    cell = nbformat.v4.new_code_cell(head)
    if head.startswith("%%"):  # a marker below something else places nothing
        assert placement(cell) is None
    elif head.strip() == marker(ID):
        assert placement(cell) == ID
    else:
        with pytest.raises(ValueError, match=r"(?i)exercise"):
            placement(cell)


def test_a_marker_without_an_id_is_refused_in_a_lesson():
    """A forgotten id is a mistake of the lesson, not a comment."""
    with pytest.raises(ValueError, match="# exercise:"):
        placement(nbformat.v4.new_code_cell("# exercise:"))


def test_cells_of_a_script_begin_at_any_spelling():
    """An exported script is parted where a student's own spelling stands, at the beginning of a line only."""
    script = f"# Exercise: {ID} # mine\n{BODY}\n\ndef f():\n    # exercise: {ID}\n    return 1\n"
    assert is_script(script)
    assert len(script_cells(script)) == 1
    assert [exercise_of(cell) for cell in script_cells(f"{script}# exercise: operators.folds\n")] == [
        ID,
        "operators.folds",
    ]


def test_reading_takes_linear_time():
    """A text made to be slow, four times as long, takes about four times as long."""

    def seconds(count):
        hostile = "\n".join(["#" + " " * count + "exercis", "# exercise:" + " " * count, "# exercise: " + "a." * count])
        begin = time.process_time()
        assert [id for _, id in marked_lines(hostile)] == ["a." * (count - 1) + "a"]
        assert exercise_of(hostile).startswith("a.a")
        return time.process_time() - begin

    assert seconds(400_000) < 20 * max(seconds(100_000), 0.002)


@pytest.mark.full("every source is read", share=4)
def test_no_reader_has_an_expression_of_its_own():
    """The marker is read in one module: no other has a pattern of it."""
    sources = [*_files("autograder"), *_files("src/minigrad")]
    own = [path.name for path in sources if path.name != "marker.py" and any(map(_is_pattern, _strings(path)))]
    assert own == []


def _files(folder):
    root = Path(__file__).parents[2] / folder
    return [path for path in root.rglob("*.py") if "answers" not in path.parts]


def _strings(path):
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    named = (each for each in calls if ast.unparse(each.func).startswith("re."))
    return [arg.value for each in named for arg in each.args if isinstance(arg, ast.Constant)]


def _is_pattern(text):
    return isinstance(text, str) and "#" in text and "exercise" in text.lower()
