"""The demo grades its class as it should, keeps every attack in, and shows no hidden test."""

import ast
import csv
import html
import io
import json
import re

import pytest
from rich.console import Console
from two_lessons import make_course
from typer.testing import CliRunner

from autograder.building.build import build_lesson
from autograder.building.slicing import slice_exercise
from autograder.cli import app
from autograder.common.python_text import parses
from autograder.course.loading import DEFAULT_COURSE, load_course
from autograder.proof import demo
from autograder.proof.demo import run_demo
from autograder.proof.demo.classroom import Classroom, DemoError, only, prepare
from autograder.proof.demo.submissions import CLASS, LESSONS, MISBEHAVIOUR
from autograder.proof.demo.table import Row, notes, rows, summary
from autograder.proof.demo.typing_in import read_answers, reference_answers, type_in
from autograder.reading import read_notebook
from autograder.reading.student_files import Unreadable
from autograder.results import Graded, GroupScore, Submission, Verdict
from autograder.sandbox import SandboxUnavailable

BY_NAME = {student.name: student for student in CLASS}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The demo's course: the class answers two assignments."""
    return prepare(tmp_path_factory.mktemp("course") / "demo", load_course().directory, LESSONS).course


@pytest.fixture(scope="module")
def released(course):
    """The notebooks as students get them."""
    sources = {exercise: slice_exercise(course, exercise) for exercise in course.exercises}
    return {name: build_lesson(course, lesson, sources).student for name, lesson in course.lessons.items()}


def console():
    """A console that keeps what is said."""
    return Console(file=io.StringIO(), width=110, color_system=None)


# --- typing answers in ----------------------------------------------------------------------------------------------

STUB = '''# exercise: shapes.pair
def double(x: float) -> float:
    """Return twice x."""
    # YOUR CODE HERE
    raise NotImplementedError()


class Square:
    """A square."""

    def __init__(self, edge):
        self.edge = edge

    def area(self):
        """Return the area."""
        # YOUR CODE HERE
        raise NotImplementedError()'''

ANSWER = """import math


HALF = 0.5


def double(x):
    # by its half
    return x / HALF


class Square:
    def area(self):
        edge = self.edge

        return edge * edge  # not math.pow"""


def test_an_answer_is_typed_into_the_blanks():
    """Bodies take the place of the blanks; signature, docstring and given methods stay; imports stand above."""
    assert (
        type_in(STUB, ANSWER)
        == '''# exercise: shapes.pair
import math


HALF = 0.5


def double(x: float) -> float:
    """Return twice x."""
    # by its half
    return x / HALF


class Square:
    """A square."""

    def __init__(self, edge):
        self.edge = edge

    def area(self):
        """Return the area."""
        edge = self.edge

        return edge * edge  # not math.pow'''
    )


def test_a_whole_cell_replaces_the_released_one():
    """An answer that begins like a solution cell is the cell."""
    whole = "# exercise: shapes.pair\ndouble = Square = None"
    assert type_in(STUB, whole) == whole


@pytest.mark.full("the demo is run, or a course is built", share=32)
@pytest.mark.parametrize("name", ["minitorch_style", "typical_mistakes", "attacks"])
def test_answers_fit_the_released_cells(course, name):
    """Every answer belongs to an exercise, fills all its blanks and is Python."""
    for exercise, answer in read_answers(course, name).items():
        cell = type_in(slice_exercise(course, exercise).stub_cell, answer)
        assert "YOUR CODE HERE" not in cell and parses(cell), exercise
        assert cell.startswith(f"# exercise: {exercise}\n")


@pytest.mark.full("every answer of one student is checked", share=12)
def test_the_minitorch_student_answers_everything(course):
    """Her answers are all her own: none is the library's."""
    own, reference = read_answers(course, "minitorch_style"), reference_answers(course)
    assert set(own) == {exercise.id for exercise in course.released}
    for exercise in own:
        assert type_in(slice_exercise(course, exercise).stub_cell, own[exercise]) != reference[exercise], exercise


def test_reference_answers_carry_no_markers(course):
    """What a student hands in has no solution markers in it."""
    assert not any("### " in answer for answer in reference_answers(course).values())


# --- what is handed in ----------------------------------------------------------------------------------------------


def cell_of(data, exercise):
    """The text of a solution cell of a notebook file."""
    cells = [cell.text for cell in read_notebook(data).cells]
    return next(text for text in cells if text.startswith(f"# exercise: {exercise}\n"))


@pytest.mark.full("the demo is run, or a course is built", share=32)
def test_everyone_hands_in_something_different(course, released):
    """Nine students, nine different sets of files; the untouched one is the release."""
    handed_in = {name: student.hand_in(course, released) for name, student in BY_NAME.items()}
    assert len({json.dumps({n: d.decode() for n, d in files.items()}) for files in handed_in.values()}) == len(CLASS)
    emil = read_notebook(handed_in["emil"]["03_backprop.ipynb"])
    assert [cell.text for cell in emil.cells] == [cell.source for cell in released["03_backprop"].cells]


def test_damage_is_what_it_says(course, released):
    """One notebook does not parse, one never ends; files are no JSON, of format 3, renamed, with mangled cells."""
    noor, lena, oscar = (BY_NAME[name].hand_in(course, released) for name in ("noor", "lena", "oscar"))
    assert not parses(cell_of(noor["03_backprop.ipynb"], "autodiff.topological_sort"))
    assert parses(cell_of(noor["03_backprop.ipynb"], "autodiff.backpropagate"))
    assert "while step != 0.3:" in cell_of(lena["01_numerical_derivatives.ipynb"], "derivatives.gradient")
    with pytest.raises(Unreadable):
        read_notebook(oscar["00_fundamentals.ipynb"])
    assert json.loads(oscar["01_numerical_derivatives.ipynb"])["nbformat"] == 3
    assert "03_backprop.ipynb" not in oscar
    texts = [cell.text for cell in read_notebook(oscar["02_chain_rule.ipynb"]).cells]
    checks = [
        sum(text == f'check("{exercise.id}")' for text in texts) for exercise in course.of_lesson("02_chain_rule")
    ]
    assert checks == [0, 2, 0, 1, 1, 1]


def test_each_notebook_of_one_student_misbehaves_in_its_own_way(course, released):
    """An added cell stands behind the first check of each lesson, before other answers."""
    files = BY_NAME["rita"].hand_in(course, released)
    assert set(MISBEHAVIOUR) == set(course.lessons)
    for lesson, source in MISBEHAVIOUR.items():
        texts = [cell.text for cell in read_notebook(files[f"{lesson}.ipynb"]).cells]
        first, second = [i for i, text in enumerate(texts) if text.startswith("check(")][:2]
        assert first < texts.index(source) < second


# --- the table ------------------------------------------------------------------------------------------------------


def verdict(group="a", passed=False, **words):
    words.setdefault("confirmed", "misconception" in words)
    return Verdict("test_x", "It adds.", group, "the lesson", passed, reason=words.pop("reason", "got 3"), **words)


def graded(exercise, *verdicts, groups=("a",), reason="", notes=()):
    lost = {each.group for each in verdicts if not each.passed} if not reason else set(groups)
    scores = tuple(GroupScore(name, 2, 0 if name in lost else 2) for name in groups)
    return Graded(exercise, 2.0 * len(groups), scores, verdicts, reason=reason, notes=notes)


def told(*exercises, **more):
    return list(notes({"00_x": Submission("00_x", exercises, **more)}))


def test_a_note_for_each_lost_group():
    """Each lost group gets a line with its points, the misconception, the fact and what was seen."""
    exercise = graded(
        "m.f", verdict(misconception="one-sided-slope"), verdict("b", reason="got 4"), verdict("c", passed=True),
        groups=("a", "b", "c"),
    )  # fmt: skip
    assert told(exercise) == ["m.f -2 (one sided slope): It adds: got 3", "m.f -2: It adds: got 4"]


def test_an_error_explains_more_than_a_wrong_value():
    """Of several failed tests of a group, the one without an answer is told."""
    assert told(graded("m.f", verdict(), verdict(reason="no end", failure="timeout"))) == ["m.f -2: It adds: no end"]


def test_equal_reasons_are_told_once():
    """Exercises that could not be tested for one reason share a line."""
    two = [graded(f"m.{name}", reason="not started") for name in "fg"]
    assert told(*two, graded("m.h", reason="no cell")) == ["2 exercises -4: not started", "m.h -2: no cell"]


def test_what_was_contained_is_told_where_it_cost_nothing():
    """Notes on a notebook and on an exercise are told though all points were earned."""
    exercise = graded("m.f", verdict(passed=True), notes=("put back",))
    assert told(exercise, notes=("added cell 1: ended",)) == ["00_x: added cell 1: ended", "m.f: put back"]


def test_an_unreadable_notebook_is_one_line():
    """The reason stands for the whole lesson, and long texts are cut."""
    (line,) = told(graded("m.f", reason="x"), unreadable="not JSON " * 50)
    assert line.startswith("00_x: not JSON") and len(line) < 250


def test_the_table_says_it_in_a_few_words():
    """Untested exercises with their cause, the rest by misconception, and a count of what was repaired."""
    reason = "nothing could be tested: answer to m.g: the cell did not end within 5 s (line 3: while True:)"
    exercises = (
        graded("m.f", verdict(misconception="one-sided-slope"), notes=("put back",)),
        graded("m.g", reason=reason),
        graded("m.h", verdict()),
    )
    submissions = {
        "00_x": Submission("00_x", exercises, notes=("renamed",)),
        "01_y": Submission("01_y", (graded("m.i", reason="not JSON"),), unreadable="not JSON"),
    }
    assert list(summary(submissions)) == [
        "01_y cannot be read",
        "m.g: the cell did not end within 5 s",
        "1 exercise: errors, or wrong values of no known kind",
        "one sided slope",
        "2 things repaired or contained",
    ]


def test_what_is_not_graded_is_a_problem():
    """A notebook without points in the gradebook, or with other points than its report, is named."""
    submission = Submission("00_x", (graded("m.f", verdict(passed=True)),))
    for points, count in ((2.0, 0), (1.0, 1), (None, 1)):
        assert len(Row(CLASS[0], {"00_x": points}, {"00_x": submission}).problems) == count


# --- the folder and the commands ------------------------------------------------------------------------------------


@pytest.mark.full("the demo is run, or a course is built", share=32)
def test_the_folder_is_emptied_only_if_it_is_the_demos(tmp_path, course):
    """A second run starts clean; a folder with other people's files is refused and left alone."""
    classroom = prepare(tmp_path / "demo", course.directory)
    (classroom.root / "gradebook.db").touch()
    prepare(tmp_path / "demo", course.directory)
    assert not (classroom.root / "gradebook.db").exists()
    precious = tmp_path / "thesis" / "text.md"
    precious.parent.mkdir()
    precious.touch()
    with pytest.raises(DemoError, match="--out"):
        prepare(precious.parent, course.directory)
    assert precious.exists()


@pytest.mark.full("the demo is run, or a course is built", share=32)
def test_the_real_course_is_out_of_reach(tmp_path):
    """Whatever a build or nbgrader writes for the scratch course, notebooks, library and all, lies in the folder."""
    course = load_course()
    classroom = prepare(tmp_path / "demo", course.directory)
    assert classroom.root.parent == classroom.out == tmp_path / "demo"
    assert not any(path.is_symlink() for path in classroom.out.rglob("*"))
    assert classroom.course.exercises == course.exercises


def test_lessons_that_nobody_plays_are_drafts(course):
    """The demo releases what its class works on and nothing else; its library knows the other exercises too."""
    original = load_course()
    assert tuple(course.lessons) == LESSONS and set(original.lessons) == {*LESSONS, *course.draft_lessons}
    assert course.exercises == original.exercises


def test_what_nobody_plays_may_have_a_date(root, tmp_path):
    """An assignment that is handed in some day is left out of the demo as well."""
    place = make_course(tmp_path / "small", root)
    toml = place / "course.toml"
    dated = re.sub(r'^(name = "week0")$', r"\1\ndue = 2027-02-01T23:59:00Z", toml.read_text(), flags=re.MULTILINE)
    assert dated != toml.read_text()
    toml.write_text(dated)
    course = prepare(tmp_path / "demo", place, lessons=()).course
    assert (list(course.assignments), list(course.drafts)) == ([], ["week0"])


@pytest.mark.full("the demo builds a course", share=48)
def test_a_command_that_fails_ends_the_demo(tmp_path, monkeypatch):
    """A failing nbgrader is one sentence with the command and its log, and exit code 3."""
    monkeypatch.setattr(Classroom, "nbgrader", lambda *args, **options: 1)
    said = console()
    assert run_demo(tmp_path / "demo", said) == 3
    assert "`nbgrader generate_assignment module0` ended with exit code 1" in said.file.getvalue()


@pytest.mark.full("the demo builds a course", share=48)
def test_what_was_not_graded_is_the_exit_code(tmp_path, course, monkeypatch):
    """A notebook without points is named under the table, and the exit code is 1."""
    submission = Submission("00_x", (graded("m.f", verdict(passed=True)),))
    monkeypatch.setattr(
        "autograder.proof.demo.table.rows", lambda _: [Row(CLASS[0], {"00_x": None}, {"00_x": submission})]
    )
    for program in ("nbgrader", "autograder"):
        monkeypatch.setattr(Classroom, program, lambda *args, **options: 0)
    monkeypatch.setattr(Classroom, "hand_in", lambda _: [])
    said = console()
    assert run_demo(tmp_path / "demo", said) == 1
    assert "not graded: ada: 00_x" in said.file.getvalue()


def test_no_sandbox_no_demo(tmp_path, monkeypatch):
    """Without isolation nothing is run, and the reason is said."""

    def none():
        raise SandboxUnavailable("no isolation can be had on this machine")

    monkeypatch.setattr(demo, "choose", none)
    said = console()
    assert run_demo(tmp_path / "demo", said) == 3
    assert "no isolation can be had" in said.file.getvalue()
    assert not (tmp_path / "demo").exists()


def test_the_command_passes_the_exit_code_on(tmp_path, monkeypatch):
    """`autograder demo` ends with the demo's own exit code."""
    monkeypatch.setattr(demo, "run_demo", lambda out, console, course: 1 if out == tmp_path else 0)
    assert CliRunner().invoke(app, ["demo", "--out", str(tmp_path)]).exit_code == 1
    assert CliRunner().invoke(app, ["demo"]).exit_code == 0


# --- the whole demo -------------------------------------------------------------------------------------------------


whole = pytest.mark.full("the demo is run: a class of nine hands in, is graded and gets feedback", group="demo")


@pytest.fixture(scope="module")
def played(tmp_path_factory, unmeasured):
    """The demo, run once: exit code, what it said, its folder, and the rows of its table by student."""
    out, said = tmp_path_factory.mktemp("demo") / "demo", console()
    with unmeasured():  # nbgrader's commands; test_nbgrader.py measures them
        code = run_demo(out, said)
    found = {row.student.name: row for row in rows(Classroom(out, only(load_course(out / "course"), LESSONS)))}
    return code, said.file.getvalue(), out, found


def lost(row):
    """The groups of tests that a student lost, by exercise."""
    everything = [exercise for submission in row.submissions.values() for exercise in submission.exercises]
    return {e.exercise: [g.name for g in e.groups if not g.earned] for e in everything if not e.full}


@whole
def test_every_submission_is_graded(played, course):
    """Exit code 0; every notebook of every student has points; the table and the feedback's path end it."""
    code, said, out, found = played
    assert code == 0
    assert not any(row.problems for row in found.values())
    table = said[said.index("The gradebook") :]
    assert all(re.search(rf"^ *{name} +[0-9]", table, re.MULTILINE) for name in BY_NAME)
    pages = list((out / "course" / "feedback").glob("*/*/*.html"))
    assert len(pages) == len(CLASS) * len(course.lessons)
    assert f"{len(pages)} feedback pages in {out / 'course' / 'feedback'}" in table


@whole
def test_the_exported_grades_agree(played):
    """grades.csv has the table's totals."""
    _, _, out, found = played
    totals = dict.fromkeys(found, 0.0)
    with (out / "course" / "grades.csv").open() as file:
        for line in csv.DictReader(file):
            totals[line["student_id"]] += float(line["score"])
    assert totals == {name: row.total for name, row in found.items()}


@whole
def test_full_and_empty(played, course):
    """The complete submission earns everything, the untouched one nothing."""
    _, _, _, found = played
    assert found["ada"].total == sum(exercise.points for exercise in course.released)
    assert lost(found["ada"]) == {} and not list(notes(found["ada"].submissions))
    assert found["emil"].total == 0
    assert list(notes(found["emil"].submissions)) == [
        f"{len(course.released)} exercises -{found['ada'].total:g}: this exercise was not started"
    ]


@whole
def test_the_minitorch_student_is_marked_on_the_merits(played):
    """Recursion costs the deep graph alone, unfiltered constants their group; most answers earn everything."""
    _, _, _, found = played
    missed = lost(found["mei"])
    assert missed["autodiff.topological_sort"] == ["depth"] and missed["autodiff.chain_rule"] == ["constants"]
    right = {"module.Module", "operators.higher_order", "operators.folds", "derivatives.central_difference",
             "derivatives.gradient", "functions.elementary", "autodiff.backpropagate",
             "mlp.Linear", "mlp.SGD"}  # fmt: skip
    assert not right & set(missed)
    reasons = "\n".join(notes(found["mei"].submissions))
    assert "autodiff.topological_sort -1 (recursive sort)" in reasons and "RecursionError" in reasons
    assert "(constants kept)" in reasons


@whole
@pytest.mark.parametrize(
    ("exercise", "misconception"),
    [
        ("autodiff.backpropagate", "gradient overwritten"),
        ("derivatives.central_difference", "forward instead of central"),
        ("functions.arithmetic", "mul derivatives swapped"),
        ("mlp.SGD", "uphill"),
        ("operators.higher_order", "reduce remembers"),
    ],
)
def test_typical_mistakes_are_named(played, exercise, misconception):
    """The reason for each typical mistake's lost points is its misconception."""
    _, _, _, found = played
    assert any(note.startswith(f"{exercise} -") and misconception in note for note in notes(found["tom"].submissions))


@whole
@pytest.mark.parametrize(
    ("exercise", "seen", "misconceptions"),
    [
        ("autodiff.topological_sort", "got 'a' at [1]", ["breadth first order", "marked too early"]),
        ("functions.elementary", "got 0.5 at [0]", ["upstream forgotten"]),
    ],
)
def test_what_several_mistakes_look_like_is_told_as_it_was_seen(played, exercise, seen, misconceptions):
    """Two mistakes give the same order; one operation of four forgets what arrives. No cause is certain."""
    _, _, _, found = played
    (note,) = [note for note in notes(found["tom"].submissions) if note.startswith(f"{exercise} -")]
    assert seen in note and not any(name in note for name in misconceptions)


@whole
@pytest.mark.parametrize(
    ("name", "exercise", "words"),
    [
        ("noor", "autodiff.topological_sort", "SyntaxError"),
        ("lena", "derivatives.gradient", "did not end"),
    ],
)
def test_a_broken_cell_costs_its_exercise_alone(played, name, exercise, words):
    """A cell that does not parse, or never ends, loses its own points, with the reason; all others are kept."""
    _, _, _, found = played
    assert set(lost(found[name])) == {exercise}
    (note,) = notes(found[name].submissions)
    assert note.startswith(exercise) and words in note


@whole
def test_attacks_find_nothing_and_earn_nothing(played):
    """Searches of files, memory and the system come back empty; forged results and signals are worth nothing."""
    _, _, _, found = played
    mallory = found["mallory"].submissions
    reasons = {v.reason for s in mallory.values() for e in s.exercises for v in e.verdicts if not v.passed}
    for search in ("files of the grader that I can read", "objects of the grader that I can reach",
                   "traces of the grader on this machine"):  # fmt: skip
        assert [reason for reason in reasons if f"{search}: []" in reason], search
        assert not [reason for reason in reasons if search in reason and f"{search}: []" not in reason]
    earned = {e.exercise: e.earned for s in mallory.values() for e in s.exercises}
    assert earned["operators.higher_order"] == earned["operators.folds"] == earned["autodiff.chain_rule"] == 0


@whole
def test_damaged_files_keep_their_points(played, course):
    """A file that is no notebook earns nothing; an old format, a new name and mangled cells cost nothing."""
    _, _, _, found = played
    oscar = found["oscar"]
    missed = {each.id for each in course.of_lesson("00_fundamentals")}
    assert set(lost(oscar)) == missed
    reasons = "\n".join(notes(oscar.submissions))
    for words in ("not JSON", "old format 3", "check was missing", "stood there 2 times", "check was edited",
                  "had lost its metadata", "handed in as '03_backprop (final, really).ipynb'"):  # fmt: skip
        assert words in reasons


@whole
def test_misbehaving_cells_are_told_and_cost_nothing(played):
    """An unknown exercise, an exception, 100 MB of output and an exit are one line each, also in the feedback."""
    _, _, out, found = played
    assert lost(found["rita"]) == {}
    told = list(notes(found["rita"].submissions))
    for lesson, words in (
        ("00_fundamentals", "operators.cube_root"),
        ("01_numerical_derivatives", "IndexError"),
        ("02_chain_rule", "printed more than"),
        ("03_backprop", "ended the session"),
    ):
        (line,) = [note for note in told if note.startswith(lesson)]
        assert words in line
        (page,) = (out / "course" / "feedback" / "rita").glob(f"*/{lesson}.html")
        assert words in html.unescape(page.read_text())
        assert page.stat().st_size < 2_000_000


def lines_of_hidden_tests():
    """Lines of code that only a hidden test has: questions to the sandbox, and what they ask for."""
    lines = set()
    for file in (DEFAULT_COURSE / "hidden").glob("test_*.py"):
        text = file.read_text()
        for test in ast.walk(ast.parse(text)):
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                body = [line.strip() for line in text.split("\n")[test.lineno : test.end_lineno]]
                lines |= {line for line in body if len(line) > 20 and re.search(r"\bstudent\(|\bmg\.", line)}
    return lines


def leaks(path, lines):
    """Lines of hidden tests that a file holds, as it stands, as the page it shows or as the strings of its JSON."""
    text = path.read_bytes().decode("utf-8", "replace")
    shown = html.unescape(re.sub(r"<[^>]*>", "", text))
    unquoted = text.replace('\\"', '"')
    # Few lines of a page can hold one of them, and only those are searched.
    parts = [
        part for form in (text, shown, unquoted) for part in form.split("\n") if "student(" in part or "mg." in part
    ]
    questions = "\n".join(parts)
    return [line for line in lines if line in questions]


def test_a_leak_would_be_seen(tmp_path):
    """A line of a hidden test is found on a page, highlighted, and in a notebook."""
    lines = lines_of_hidden_tests()
    assert len(lines) > 100
    line = next(line for line in lines if '"' in line)
    (tmp_path / "page.html").write_text("".join(f"<span>{html.escape(c)}</span>" for c in line))
    (tmp_path / "notebook.ipynb").write_text(json.dumps({"source": line}))
    assert line in leaks(tmp_path / "page.html", lines) and line in leaks(tmp_path / "notebook.ipynb", lines)


@whole
def test_no_hidden_test_leaks(played):
    """Beside the copy of the hidden tests, no file of the demo and nothing that it says holds a line of their code."""
    _, said, out, _ = played
    (out / "said.txt").write_text(said)
    lines, known = lines_of_hidden_tests(), {out / "src", out / "course" / "hidden"}
    files = [path for path in out.rglob("*") if path.is_file() and known.isdisjoint(path.parents)]
    assert len(files) > 200
    found = {path.relative_to(out): seen for path in files if (seen := leaks(path, lines))}
    assert found == {}


# --- a rehearsal ----------------------------------------------------------------------------------------------------


@pytest.mark.full("the demo builds a course", share=48)
def test_a_rehearsal(root, tmp_path):
    """A class of any size hands in where `nbgrader collect` finds it, and the next commands are told."""
    place = make_course(tmp_path / "small", root)
    options = ["--class", "3", "--seed", "5", "--out", str(tmp_path / "demo"), "--course", str(place)]
    done = CliRunner(env={"COLUMNS": "100"}).invoke(app, ["demo", *options])
    assert done.exit_code == 0, done.output
    inbound = tmp_path / "demo" / "course" / "exchange" / "minigrad" / "inbound"
    assert sorted(path.name.split("+")[:2] for path in inbound.iterdir()) == [[f"s{n}", "week0"] for n in (1, 2, 3)]
    assert all((path / "timestamp.txt").is_file() for path in inbound.iterdir())
    said = done.output.splitlines()
    assert said[-5:] == [
        f"  cd {tmp_path / 'demo' / 'course'}",
        "  nbgrader collect week0",
        "  autograder autograde week0",
        "  autograder feedback week0",
        "  autograder report week0",
    ]
    assert not any(line.endswith(" ") for line in said)
