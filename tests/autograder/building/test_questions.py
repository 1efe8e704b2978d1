"""Questions that a person marks: built from a lesson's Markdown, and answers that no damage loses."""

import copy
import json
import shutil

import nbformat
import pytest
from class_runs import generate_assignment
from damages import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manglings_of_answers import FIRST, MANGLINGS, SAID, SECOND, SOLUTION, at
from small_course import SmallCourse
from typer.testing import CliRunner

from autograder.building.notebooks import dump, is_worked_in, new_notebook, question_cells, student_version
from autograder.building.questions import Question, heading, is_answer, split_questions
from autograder.cli import app
from autograder.course import CourseError
from autograder.grafting.graft import graft
from autograder.grafting.grafted import grade_id_of
from autograder.grafting.written import MAX_ANSWER, answers_of

QUESTION = """
Some prose before.

:::{question} long-steps
:points: 2

What does a slope *not* tell you?

### BEGIN SOLUTION
That it holds at one place only.
### END SOLUTION
:::

Some prose after.
"""


# --- building -----------------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path):
    """A small course whose first lesson asks a question."""
    small = SmallCourse(tmp_path)
    small.lesson.write_text(small.lesson.read_text() + QUESTION)
    return small


def notebook_of(small, place="notebooks"):
    return nbformat.read(small.root / place / "00_numbers.ipynb", as_version=nbformat.NO_CONVERT)


def test_a_question_becomes_nbgraders_manually_graded_cell(small):
    """The release asks, takes the answer in one Markdown cell, and does not show the model answer."""
    small.build()
    cells = notebook_of(small).cells
    number = next(i for i, cell in enumerate(cells) if is_answer(cell))
    before, asked, answer, after = cells[number - 2 : number + 2]
    assert before.source.endswith("Some prose before.")
    assert asked.source == (
        "**Question.** What does a slope *not* tell you?\n\n"
        "*Your answer is read by a person; it brings up to 2 points. "
        "Alone? `minigrad solution`, with the question's name, shows a good answer once yours is saved.*"
    )
    assert answer.source == f"{heading('long-steps')}\n\nWrite your answer here."
    wanted = {"grade": True, "solution": True, "locked": False, "points": 2.0, "grade_id": "question-long-steps"}
    assert wanted.items() <= answer.metadata.nbgrader.items()
    assert "editable" not in answer.metadata
    assert after.source == "Some prose after."
    source = notebook_of(small, "course/source/week0")
    assert any("That it holds at one place only." in cell.source for cell in source.cells)


@pytest.mark.full("nbgrader releases a lesson", share=16)
def test_nbgrader_releases_the_same_notebook(small, root):
    """Stock `nbgrader generate_assignment` makes the notebook that the build wrote, and knows the question's points."""
    small.build()
    release = generate_assignment(root, small.root / "course", "week0") / "00_numbers.ipynb"
    assert json.loads(release.read_text()) == json.loads((small.root / "notebooks/00_numbers.ipynb").read_text())


def test_questions_do_not_count_in_the_lessons_total(small):
    """What a person gives stands beside what hidden tests give."""
    before = small.build()
    said = CliRunner().invoke(app, ["build", "--quick", "--course", str(small.root / "course")]).output
    assert "00_numbers: 5 points, and 2 that a person gives\n01_shapes: 2.5 points\n" in said
    small.lesson.write_text(small.lesson.read_text().replace(":points: 2\n", ""))
    after = small.build()
    assert before.totals == after.totals == {"00_numbers": 5, "01_shapes": 2.5}
    assert (before.by_hand["00_numbers"], after.by_hand["00_numbers"]) == (2, 0)
    answer = next(cell for cell in notebook_of(small).cells if is_answer(cell))
    assert answer.metadata.nbgrader.points == 0
    assert any("it brings no points" in cell.source for cell in notebook_of(small).cells)


def test_a_question_after_the_release_is_told(small):
    """Before nbgrader deletes anything; so is one that is gone. As many students are named as have handed in."""
    command = ["build", "--quick", "--course", str(small.root / "course")]
    small.build()
    shutil.copytree(small.root / "course/source", small.root / "course/release")
    assert "release" not in CliRunner().invoke(app, command).output
    small.lesson.write_text(small.lesson.read_text().replace("long-steps", "short-steps"))
    said = CliRunner().invoke(app, command, env={"COLUMNS": "300"}).output
    assert "00_numbers: differs from release/week0/00_numbers.ipynb; new is short-steps, for which students who" in said
    assert "missing is long-steps, which nbgrader cannot drop: give it 0 points instead; change that before" in said
    for student in ("ada", "bea"):
        (small.root / "course/submitted" / student / "week0").mkdir(parents=True)
    assert "notebook, 2 of whom handed in, get no points" in CliRunner().invoke(app, command).output


def test_a_written_answer_is_work_that_a_build_puts_aside(small):
    """A student notebook with nothing but an answer in words is not overwritten."""
    small.build()
    path, notebook = small.root / "notebooks/00_numbers.ipynb", notebook_of(small)
    assert not is_worked_in(path)
    next(cell for cell in notebook.cells if is_answer(cell)).source += " Nothing."
    path.write_text(dump(notebook))
    assert is_worked_in(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("long-steps", "Long Steps", "needs a name"),
        (":points: 2", ":points: two", "write a number"),
        (":points: 2", ":points: -1", "write a number"),
        (":points: 2", ":points: nan", "write a number"),
        (":points: 2", ":marks: 2", "the only one is"),
        ("What does a slope *not* tell you?", "", "asks nothing"),
        ("### END SOLUTION\n", "", "marker without its partner"),
        (":::\n\nSome", "\n\nSome", "has no end"),
    ],
)
def test_malformed_questions_are_refused(small, old, new, words):
    """The build says what is wrong with a question, in which lesson, and what to write."""
    small.change(small.lesson, old, new)
    with pytest.raises(CourseError, match=words) as refused:
        small.build()
    assert "lessons/00_numbers.md: cell" in str(refused.value)
    assert not (small.root / "notebooks").exists()


def test_one_name_for_two_questions(small):
    """Two questions of a lesson need two names."""
    small.lesson.write_text(small.lesson.read_text() + QUESTION)
    with pytest.raises(CourseError, match="asks the question 'long-steps' twice"):
        small.build()


def test_text_without_questions_is_left_as_it_is():
    """Other directives and plain text are not touched."""
    text = "\nSome text.\n\n:::{note}\nA note.\n:::\n"
    assert list(split_questions(text)) == [text]


# --- grafting -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def master():
    """A master with an exercise, an example and two questions, of which one follows the other."""
    stub = "# exercise: demo.f\ndef f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    nbgrader = {"grade": False, "solution": True, "locked": False, "grade_id": "demo-f", "schema_version": 3}
    given = nbformat.v4
    cells = [
        given.new_markdown_cell("# Demo"),
        given.new_code_cell(stub, metadata={"nbgrader": {**nbgrader, "task": False}}, id="demo-f"),
        *question_cells(Question(FIRST, "What does a slope not tell?", 2.0, "A model answer.")),
        given.new_markdown_cell("More prose."),
        given.new_code_cell("print(f(2))"),
        *question_cells(Question(SECOND, "Can they come back?")),
        given.new_markdown_cell("The end."),
    ]
    return student_version(new_notebook("00_demo", "1", cells))


@pytest.fixture
def answered(master):
    """A student's notebook: everything answered."""
    notebook = copy.deepcopy(master)
    for cell in notebook.cells:
        if grade_id_of(cell) == "demo-f":
            cell.source = SOLUTION
    for name, text in SAID.items():
        notebook.cells[at(notebook, name)].source = f"{heading(name)}\n\n{text}"
    return notebook


def as_bytes(notebook):
    return json.dumps(notebook).encode()


def answer(grafted, name):
    """What stands in the cell of a question, which must be the master's own but for its text."""
    cell = next(cell for cell in grafted.notebook.cells if grade_id_of(cell) == f"question-{name}")
    return cell.source.removeprefix(heading(name)).strip()


def structure(notebook):
    """Everything of a notebook's graded cells but their text."""
    own = {"grade", "solution", "locked", "points", "grade_id", "checksum"}
    return [
        (cell.cell_type, {key: value for key, value in cell.metadata.nbgrader.items() if key in own})
        for cell in notebook.cells
        if "nbgrader" in cell.metadata
    ]


@pytest.mark.parametrize("name", MANGLINGS)
def test_no_damage_loses_an_answer(master, answered, name):
    """Whatever became of the notebook, each answer stands in its own cell, and the exercise in its own."""
    mangle, note, lost = MANGLINGS[name]
    mangle(answered)
    grafted = graft(as_bytes(answered), master)
    for question, text in SAID.items():
        found = answer(grafted, question)
        assert found == "Write your answer here." if question in lost else text in found, found
        assert "Can they come back?" not in found and "slope not tell" not in found
    solution = next(cell.source for cell in grafted.notebook.cells if grade_id_of(cell) == "demo-f")
    assert "return x + 1" in solution and "YOUR CODE" not in solution
    assert structure(grafted.notebook) == structure(master)
    assert not note or any(note in each.text for each in grafted.notes), grafted.notes


@pytest.mark.parametrize("name", MANGLINGS)
def test_grafting_an_answer_again_changes_nothing(master, answered, name):
    """The clean notebook is a fixed point: what is taken in once reads the same when it is graded."""
    MANGLINGS[name][0](answered)
    once = graft(as_bytes(answered), master).notebook
    again = graft(dump(once).encode(), master).notebook
    assert [cell.source for cell in again.cells] == [cell.source for cell in once.cells]


def test_an_untouched_question_stays_as_it_was_given(master):
    """nbgrader recognises by the text that nothing was answered, and asks nobody to mark it."""
    grafted = graft(as_bytes(copy.deepcopy(master)), master)
    assert [cell.source for cell in grafted.notebook.cells] == [cell.source for cell in master.cells]
    assert not any("answer" in note.text for note in grafted.notes)


def test_a_long_answer_is_cut(master, answered):
    """An answer of a megabyte is taken up to a bound, and says so; grafting it again does not cut it again."""
    answered.cells[at(answered, FIRST)].source += "x" * 100_000
    grafted = graft(as_bytes(answered), master)
    found = answer(grafted, FIRST)
    assert len(found) <= MAX_ANSWER and found.endswith("at most 20,000 characters are taken.)*")
    assert any("has 100,0" in note.text for note in grafted.notes)
    again = graft(dump(grafted.notebook).encode(), master)
    assert answer(again, FIRST) == found and not any("characters" in note.text for note in again.notes)


def test_pictures_in_an_answer_are_kept(master, answered):
    """An embedded picture comes along if the text shows it, it is one, and it is not too large; the note says else."""
    cell = answered.cells[at(answered, FIRST)]
    cell.source += "\n![](attachment:a.png) ![](attachment:b.svg) ![](attachment:c.png)"
    cell.attachments = {
        "a.png": {"image/png": "iVBORw0KGgo="},
        "b.svg": {"image/svg+xml": "PHN2Zy8+"},
        "c.png": {"image/png": "A" * 4_000_000},
        "d.png": {"image/png": "iVBORw0KGgo="},
    }
    grafted = graft(as_bytes(answered), master)
    cell = next(cell for cell in grafted.notebook.cells if grade_id_of(cell) == f"question-{FIRST}")
    assert cell.attachments == {"a.png": {"image/png": "iVBORw0KGgo="}}
    assert any("2 pictures" in note.text and "1,500 KB" in note.text for note in grafted.notes)
    other = copy.deepcopy(grafted.notebook)
    next(c for c in other.cells if "attachments" in c).attachments["a.png"]["image/png"] = "iVBORw0KGgp="
    assert answers_of(other) != answers_of(grafted.notebook)
    nbformat.validate(grafted.notebook)


@pytest.mark.full("many notebooks are damaged", share=12)
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_answers_survive_random_damage(master, data):
    """Three random damages anywhere: graded or refused with a sentence, the course's structure untouched."""
    document = json.loads(as_bytes(master))
    for cell in document["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["source"] += " An answer."
    for _ in range(3):
        document = damaged(data.draw, document)
    grafted = graft(json.dumps(document).encode(), master)
    assert structure(grafted.notebook) == structure(master)
    assert all(len(cell.source) < MAX_ANSWER + 200 for cell in grafted.notebook.cells if is_answer(cell))
    nbformat.validate(grafted.notebook)
