"""`autograder explain` replays what the judge saw, agrees with what was recorded, and steers no terminal."""

import hashlib
import json

import nbformat
import pytest
from two_lessons import ARITHMETIC, make_course
from typer.testing import CliRunner

from autograder.building.masters import find_master
from autograder.cli import app
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.grafting.collecting import regraft, take_in
from autograder.judging.explaining import explain
from autograder.judging.judge import Judge
from autograder.results.ledger import Entry, write_entry

WRONG = ARITHMETIC.replace("x + y", "x - y")
LOUD = ARITHMETIC.replace("    return -x", "    raise ValueError('\\x1b[31m\\u202e<b>red')")


def hand_in(course, student, folder, arithmetic, name="00_numbers"):
    """Take in a submission of one lesson answered and one untouched, with a cell and a copy added."""
    folder.mkdir()
    notebook = nbformat.from_dict(find_master(course, "00_numbers"))
    cell = next(cell for cell in notebook.cells if cell.source.startswith("# exercise"))
    cell.source = arithmetic
    notebook.cells.append(nbformat.v4.new_code_cell("print('hello\\x07 there')"))
    (folder / f"{name}.ipynb").write_text(json.dumps(notebook))
    place = course.directory / "submitted" / student / "week0"
    take_in(course, "week0", folder, place, course.directory / "originals" / student / "week0")


@pytest.fixture(scope="module")
def course(tmp_path_factory, root):
    """A course with three submissions, graded and recorded."""
    folder = tmp_path_factory.mktemp("explain")
    course = load_course(make_course(folder, root), tree=False)
    for student, text in (("ada", WRONG), ("loud", LOUD), ("todo", "# exercise: operators.arithmetic\n")):
        hand_in(course, student, folder / student, text, name="my work" if student == "ada" else "00_numbers")
    with Judge(course, hidden=folder / "hidden", cache=course.directory / ".grades") as judge:
        for student in ("ada", "loud"):
            record(course, judge, student)
    return course


def record(course, judge, student):
    path = course.directory / "submitted" / student / "week0" / "00_numbers.ipynb"
    originals = course.directory / "originals" / student / "week0"
    found = judge.grade(regraft(course, "00_numbers", path, originals), "00_numbers")
    sha = hashlib.sha256(path.read_bytes()).hexdigest()
    write_entry(course.directory, Entry(student, "week0", "00_numbers", sha, "2027-01-01T00:00:00Z", found))


def replay(course, student, exercise="operators.arithmetic"):
    hidden = course.directory.parent / "hidden"
    return explain(course, student, exercise, hidden=hidden, cache=course.directory / ".grades")


def run(course, *arguments):
    hidden = course.directory.parent / "hidden"
    options = ["--course", str(course.directory), "--hidden", str(hidden)]
    return CliRunner().invoke(app, ["explain", *arguments, *options])


def test_what_was_asked_and_wanted_is_told(course):
    """A failed test shows its question, the answer, the wanted value and why its misconception is confirmed."""
    found = replay(course, "ada")
    add, neg = found.tests
    assert [(q.given, q.came) for q in add.questions] == [((("x", "2.0"), ("y", "41414.25")), "-41412.25")]
    assert add.wanted == "41416.25" and add.asked == 1
    assert add.cause == "named in the report, since this test sees the same of the known wrong answer"
    assert add.where.startswith(f"{course.directory.parent}/hidden/test_operators.py:")
    assert neg.verdict.passed and neg.wanted == "" and neg.questions[0].came == "-2.0"


def test_the_replay_agrees_with_what_was_recorded(course):
    """A submission that nobody touched gives the recorded result again, from a real run."""
    found = replay(course, "ada")
    assert found.recorded == found.graded
    assert found.differences == ()


def test_a_changed_mark_is_said(course):
    """A record that differs is said to differ, and in which verdicts."""
    entry_of = course.directory / ".grades" / "submissions" / "week0" / "ada" / "00_numbers.json"
    before = entry_of.read_text()
    data = json.loads(before)
    data["submission"]["exercises"][0]["verdicts"][0]["passed"] = True
    data["submission"]["exercises"][0]["groups"][0]["earned"] = 2
    entry_of.write_text(json.dumps(data))
    try:
        differences = replay(course, "ada").differences
    finally:
        entry_of.write_text(before)
    assert differences[0] == "1 of 3 points now, 3 of 3 recorded"
    assert differences[1] == "other verdicts now: test_add"
    assert "regrade --diff" in differences[2]


def test_cells_say_where_their_text_came_from(course):
    """The solution's text is found in the file that was handed in, whatever its name was."""
    found = replay(course, "ada")
    cells = {cell.label: cell for cell in found.cells}
    solution = cells["answer to operators.arithmetic"]
    assert solution.origin.startswith("cell ") and solution.origin.endswith(" of my work.ipynb")
    assert cells["setup cell 1"].origin == "the master"
    assert cells["added cell 1"].output == "hello\x07 there\n"
    assert any("recognised by its cells" in note for note in found.notes)


def test_what_was_not_started_is_replayed_too(course):
    """An exercise that needs no sandbox shows its reason, and that nothing is recorded."""
    found = replay(course, "todo", "operators.comparison")
    assert found.tests == () and found.recorded is None
    assert found.graded.reason == "no notebook 01_order.ipynb was handed in"


def test_the_terminal_is_not_steered(course):
    """Errors and output of a student reach the terminal, and JSON, without control characters."""
    for arguments in ((), ("--json",)):
        done = run(course, "loud", "operators.arithmetic", *arguments)
        assert done.exit_code == 0, done.output
        assert "hello there" in done.output and "<b>red" in done.output
        assert not any(mark in done.output for mark in ("\x1b", "\u202e", "\x07"))


def test_the_json_has_everything(course):
    """--json holds cells, tests, the mark and whether it agrees."""
    data = json.loads(run(course, "ada", "operators.arithmetic", "--json").output)
    assert data["agrees"] is True
    assert json.loads(run(course, "todo", "operators.comparison", "--json").output)["agrees"] is None
    assert data["tests"][0]["wanted"] == "41416.25"
    assert data["graded"]["groups"][0] == {"name": "values", "points": 2, "earned": 0}
    assert data["cells"][1]["source"] == WRONG.strip()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nobody", "operators.arithmetic"), "nobody has handed in nothing of week0"),
        (("ada", "operators.absent"), "there is no exercise 'operators.absent'"),
        (("ada", "operators.arithmetic", "--assignment", "week7"), "belongs to week0, not to week7"),
    ],
)
def test_mistakes_are_one_sentence(course, arguments, message):
    """Someone who handed in nothing, an unknown exercise and another assignment are each one sentence, exit code 2."""
    done = run(course, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr and "Traceback" not in done.output


def test_students_are_no_paths(course):
    """A student id that leads elsewhere is refused."""
    with pytest.raises(CourseError, match="has handed in nothing"):
        replay(course, "../submitted/ada")
