"""The judge gives the points that the work deserves, whatever the work does."""

import dataclasses
import re
import shutil
import signal
import time
from pathlib import Path

import nbformat
import pytest

from autograder.classes.worker import end
from autograder.course.loading import load_course
from autograder.grafting.graft import graft
from autograder.grafting.grafted import stubs
from autograder.judging import judge as judging
from autograder.judging.expectation import NO_RETURN
from autograder.judging.fingerprint import Fingerprint
from autograder.judging.judge import Judge, solution_cell, source_cells
from autograder.judging.plugin import HiddenTestError
from autograder.judging.scoring import scored
from autograder.judging.student_cells import without_later_imports
from autograder.judging.time_budget import TimeBudget
from autograder.judging.warm_tests import Ended
from autograder.results import Verdict, result_cache
from autograder.results.result_cache import grader_files, text_files
from autograder.sandbox import Failure, Observation, Sandbox, SandboxError, SourceCell
from autograder.telling.report import as_text

HIDDEN = '''
import pytest
from autograder import expect


@pytest.mark.exercise("operators.arithmetic", group="values", because="lesson 00: add adds")
def test_add(student):
    """add adds."""
    def observe(mg, x, y):
        return mg.operators.add(x, y)
    expect(student(observe, 2.0, 5.5, twice=True), 7.5, misconception="not-a-sum")


@pytest.mark.exercise("operators.arithmetic", group="special", because="lesson 00: neg negates")
def test_neg(student):
    """neg negates."""
    def observe(mg, x):
        return mg.operators.neg(x)
    expect(student(observe, 2.0), -2.0)


@pytest.mark.exercise("operators.comparison", group="order", because="lesson 00: lt compares")
def test_lt(student):
    """lt says whether x is less."""
    def observe(mg, x, y):
        return [mg.operators.lt(x, y), mg.operators.add(x, y)]
    expect(student(observe, 1.0, 2.0), [1.0, 3.0])


@pytest.mark.exercise("operators.comparison", group="closeness", because="lesson 00: is_close")
def test_close(student):
    """is_close says whether two numbers are close."""
    def observe(mg, x, y):
        return bool(mg.operators.is_close(x, y))
    expect(student(observe, 1.0, 1.001), True)
'''

ARITHMETIC = "def add(x, y):\n    return x + y\ndef mul(x, y):\n    return x * y\ndef neg(x):\n    return -x\n"
COMPARISON = (
    "def lt(x, y):\n    return 1.0 if x < y else 0.0\ndef eq(x, y):\n    return 1.0 if x == y else 0.0\n"
    "def max(x, y):\n    return x if x > y else y\ndef is_close(x, y):\n    return abs(x - y) < 1e-2\n"
)
FIRST, SECOND = "operators.arithmetic", "operators.comparison"


@pytest.fixture(scope="module")
def course(root):
    loaded = load_course(root / "course", tree=False)
    groups = {FIRST: {"values": 2.0, "special": 1.0}, SECOND: {"order": 2.0, "closeness": 2.0}}
    exercises = {id: dataclasses.replace(loaded.exercise(id), groups=groups[id]) for id in groups}
    return dataclasses.replace(
        loaded, exercises={**loaded.exercises, **exercises}, limits={"cell_seconds": 1, "test_seconds": 1}
    )


@pytest.fixture(scope="module")
def hidden(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hidden")
    (folder / "test_operators.py").write_text(HIDDEN)
    return folder


@pytest.fixture(scope="module")
def judge(course, hidden):
    with Judge(course, hidden=hidden) as judge:
        yield judge


def added(source, number=1):
    return SourceCell(source, "added", None, f"added cell {number}")


@pytest.fixture
def grade(judge, course):
    """Grade cells for an exercise."""

    def run(*cells, exercise=FIRST, given_up=None):
        ready = [solution_cell(FIRST, cell) if isinstance(cell, str) else cell for cell in cells]
        return judge.grade_exercise(course.exercise(exercise), ready, given_up)

    return run


def earned(graded):
    return {group.name: group.earned for group in graded.groups}


def test_right_work_earns_everything(grade):
    """A right answer earns every group's points."""
    graded = grade(ARITHMETIC)
    assert graded.full and earned(graded) == {"values": 2, "special": 1} and graded.notes == ()


def test_a_group_is_all_or_nothing(grade):
    """One wrong function costs its group and no other."""
    graded = grade(ARITHMETIC.replace("x + y", "x - y"))
    assert earned(graded) == {"values": 0, "special": 1}
    failed = [verdict for verdict in graded.verdicts if not verdict.passed]
    assert [(v.reason, v.misconception) for v in failed] == [("got -3.5", "not-a-sum")]


@pytest.mark.parametrize(
    "text",
    [
        "add, mul = (lambda x, y: x + y), (lambda x, y: x * y)\nneg = lambda x: -x\n",
        "from functools import partial\nimport operator as o\nadd = o.add\nmul = o.mul\nneg = partial(o.mul, -1.0)\n",
        "def make(f):\n    return lambda *a: f(*a)\nadd = mul = neg = make(lambda *a: sum(a) if a[1:] else -a[0])\n",
    ],
)
def test_definitions_by_assignment(grade, text):
    """Objects that a cell defines by assignment are defined."""
    assert grade(text).full


def test_functions_that_the_librarys_functions_make(judge, course):
    """What a student makes by calling the library's function is the student's work, not an import from it."""
    with Judge(course) as real:
        text = "negList = map(neg)\naddLists = zipWith(add)\nsum = reduce(add, 0.0)\nprod = reduce(mul, 1.0)\n"
        assert real.grade_text(course.exercise("operators.folds"), text).full


def test_text_that_does_not_parse(grade):
    """A syntax error earns nothing, and the report names its line."""
    graded = grade(ARITHMETIC.replace("return x + y", "return x +"))
    assert graded.earned == 0 and "SyntaxError" in graded.reason and "line 2" in graded.reason


def test_nothing_defined(grade):
    """A cell that defines none of the objects earns nothing, and the names are said."""
    graded = grade("print('hello')")
    assert graded.earned == 0 and "no cell defines add, mul, neg" in graded.reason


def test_one_function_missing(grade):
    """A missing function costs its group alone, and is named."""
    graded = grade(ARITHMETIC.replace("def neg", "def minus"))
    assert earned(graded) == {"values": 2, "special": 0}
    assert graded.reason == "no cell defines neg" and graded.notes == ()


LATER = [
    "from minigrad.operators import add, mul, neg",
    "from minigrad.operators import *",
    "import minigrad\nadd, mul, neg = minigrad.operators.add, minigrad.operators.mul, minigrad.operators.neg",
    "from operator import add, mul, neg",
    "import operator\nadd = operator.add",
    "del add, mul, neg",
    "add = mul = neg = None",
    "for add in (1, 2):\n    neg = add",
    "import numpy as np\nfor mul in (np.sin, np.cos):\n    mul(1.0)",
    "with open('/dev/null') as add:\n    pass",
    "try:\n    from minigrad.operators import add\nexcept ImportError:\n    pass",
]
CALLS_ITS_OWN = (
    "def add(x, y):\n    return x if y == 0 else add(x, 0.0) + y\n"
    "def mul(x, y):\n    return x * y\ndef neg(x):\n    return mul(-1.0, x)\n"
)


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("kind", ["added", "setup", "another exercise", "the same cell"])
def test_a_later_import_takes_no_answer_away(grade, later, kind):
    """Whatever a later statement binds to an answer's name, what the student wrote counts, and calls itself."""
    if kind == "the same cell":
        assert grade(f"{CALLS_ITS_OWN}{later}\n").full
        return
    cell = SourceCell(later, "added" if kind == "added" else "setup", None, kind)
    if kind == "another exercise":
        cell = solution_cell(SECOND, f"{later}\n{COMPARISON}")
    assert grade(CALLS_ITS_OWN, cell).full


def test_a_missing_return_is_asked_for(grade):
    """That hint says what was seen, so it needs no known mistake, and names none."""
    (failure,) = grade(ARITHMETIC.replace("return x + y", "x + y")).failures
    assert (failure.reason, failure.hint) == ("got None", NO_RETURN)
    assert failure.misconception == ""


def test_a_later_import_keeps_a_mistake_too(grade):
    """A wrong answer is not replaced by the right one of the library, or of Python."""
    assert grade(ARITHMETIC.replace("x + y", "x - y"), added("from operator import add")).earned == 1


@pytest.mark.parametrize(
    "later",
    [
        "def add(x, y):\n    return x - y",
        "add = lambda x, y: x - y",
        "if True:\n    def add(x, y):\n        return x - y",
    ],
)
def test_what_the_student_writes_later_counts(grade, later):
    """A definition in a later cell replaces an earlier one, as in Jupyter."""
    assert grade(ARITHMETIC, added(later)).earned == 1
    assert grade(added(later), ARITHMETIC).full


def test_a_loop_over_anothers_name_reaches_no_other_exercise(grade):
    """A later cell that binds a name of another exercise to something else leaves helpers that call it alone."""
    comparison = COMPARISON.replace("return 1.0 if x < y", "return 1.0 if add(x, neg(y)) < 0")
    later = added("for add in range(3):\n    pass\ndel neg")
    assert grade(ARITHMETIC, solution_cell(SECOND, comparison), later, exercise=SECOND).full


def test_a_later_import_leaves_a_kernel_to_its_witness():
    """The import goes, whatever stands beside it stays, and every line keeps its number."""
    cells = [
        added("from minigrad.fast_ops import tensor_map, tensor_zip\ndef tensor_map(fn):\n    return fn"),
        added("x = 1\nfrom minigrad.fast_ops import (\n    tensor_map,\n    tensor_zip,\n)\ny = 2"),
        added("from minigrad.fast_ops import tensor_map; z = 3"),
    ]
    first, second, third = without_later_imports(cells, ["fast_ops.tensor_map"])
    assert (first, third) == (cells[0], cells[2])
    assert second.source == "x = 1\nfrom minigrad.fast_ops import tensor_zip\n\n\n\ny = 2"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("from minigrad.operators import add, mul, neg", "no cell defines add, mul, neg itself"),
        ("x = 1 / 0\n" + ARITHMETIC, "ZeroDivisionError"),
        (ARITHMETIC.replace("def neg", "1 / 0\ndef neg"), f"answer to {FIRST} ended before it defined neg"),
        (ARITHMETIC.replace("def neg", "neg = None\ndef minus"), "no cell defines neg itself"),
    ],
)
def test_what_is_said_of_a_missing_object_is_true(grade, text, reason):
    """A report says that no cell defines a name only where none does."""
    graded = grade(text)
    assert reason in f"{graded.reason}; {'; '.join(graded.notes)}"
    assert "no cell defines neg;" not in f"{graded.reason}; {'; '.join(graded.notes)};"


def test_a_cell_that_stops_half_way_says_so_first_and_once(grade):
    """What it defined is tested; what it did not come to is said to be missing, and nowhere to be unwritten."""
    graded = grade(ARITHMETIC.replace("def neg", "1 / 0\ndef neg"))
    error, _, missing = graded.reason.partition("; ")
    assert error.startswith(f"answer to {FIRST}: ZeroDivisionError: division by zero (line ")
    assert missing == f"answer to {FIRST} ended before it defined neg" and graded.notes == ()
    failed = [each for each in graded.verdicts if not each.passed]
    assert {each.reason for each in failed} == {"it asks for what is not defined"} and graded.earned > 0.0
    assert "not written yet" not in as_text(graded) and as_text(graded).count("ZeroDivisionError") == 1


def test_errors_name_the_students_line(grade):
    """What the student's code raised is the reason, with their line."""
    graded = grade(ARITHMETIC.replace("return x + y", "return x + z"))
    (failed,) = [verdict for verdict in graded.verdicts if not verdict.passed]
    assert "NameError" in failed.reason and "line 2" in failed.reason and failed.failure == "error"


def test_mistakes_do_not_cascade(grade):
    """Another exercise's wrong functions are the reference while this one is judged."""
    wrong_add = solution_cell(FIRST, ARITHMETIC.replace("x + y", "x - y"))
    graded = grade(wrong_add, solution_cell(SECOND, COMPARISON), exercise=SECOND)
    assert graded.full


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ("while True: pass", "timeout"),
        ("import os; os._exit(0)", "killed"),
        ("raise SystemExit", "error"),
        ("return bytearray(10**10)", "memory"),
        ("return object()", "not-plain"),
        ("print('x' * 10**8); return x + y", "output"),
        ("import random; return random.random()", "unstable"),
        ("raise NotImplementedError", "not-done"),
    ],
)
def test_hostile_functions_lose_their_own_points(grade, body, failure):
    """A function that loops, exits, floods or lies costs its own group, with the reason."""
    graded = grade(ARITHMETIC.replace("return x + y", body))
    (failed,) = [verdict for verdict in graded.verdicts if not verdict.passed]
    assert (failed.failure, earned(graded)["special"]) == (failure, 1)
    assert failed.reason


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("while True: pass", "did not end"),
        ("import os\nos._exit(3)", "ended"),
        ("raise ValueError('oops')", "oops"),
        ("import sys; sys.exit()", "exit"),
        ("print('x' * 10**8)", "print"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_a_bad_cell_costs_nothing_else(grade, cell, words):
    """A cell that loops, exits, floods or does not parse leaves the rest its points."""
    assert grade(added(cell), ARITHMETIC).full
    graded = grade(added(cell), ARITHMETIC.replace("x + y", "x - y"))
    assert graded.earned == 1
    assert any("added cell 1" in note and words in note for note in graded.notes)


def test_a_cell_that_ran_out_of_time_is_not_run_again(judge, course, monkeypatch):
    """Every exercise of a notebook with an endless cell is graded, its helpers stay, its time is spent once."""
    endless = added("def less(x, y):\n    return 1.0 if x < y else 0.0\nwhile True: pass")
    comparison = COMPARISON.replace("1.0 if x < y else 0.0", "less(x, y)")
    cells = [endless, solution_cell(FIRST, ARITHMETIC), solution_cell(SECOND, comparison)]
    given_up = {}
    assert judge.grade_exercise(course.exercise(FIRST), cells, given_up).full
    assert {index: outcome.status for index, outcome in given_up.items()} == {0: "timeout"}
    ran, session = [], Sandbox.session
    monkeypatch.setattr(Sandbox, "session", lambda box, cells, *rest: ran.append(cells) or session(box, cells, *rest))
    assert judge.grade_exercise(course.exercise(SECOND), cells, given_up).full
    ((first, *_),) = ran
    assert "def less" in first.source and "while" not in first.source


def test_an_answer_that_never_ends_earns_nothing_whichever_exercise_comes_first(judge, course):
    """Another exercise's endless answer is not run again, but its own judgement runs it as it stands."""
    cells = [solution_cell(FIRST, ARITHMETIC), solution_cell(SECOND, f"while True: pass\n{COMPARISON}")]
    given_up = {}
    assert judge.grade_exercise(course.exercise(FIRST), cells, given_up).full
    assert {index: outcome.status for index, outcome in given_up.items()} == {1: "timeout"}
    after, alone = (judge.grade_exercise(course.exercise(SECOND), cells, before) for before in (given_up, {}))
    assert after.earned == alone.earned == 0
    assert "did not end" in after.reason


def test_only_points_are_asked_for(course, tmp_path):
    """Where only points count, a group that has lost them is not examined further, and other groups are."""
    again = HIDDEN.replace('group="special"', 'group="values"').replace("-2.0)", "-3.0)")
    (tmp_path / "test_operators.py").write_text(again + HIDDEN.replace("def test_", "def test_more_"))
    wrong = ARITHMETIC.replace("x + y", "x - y")
    with Judge(course, hidden=tmp_path, cache=tmp_path / "kept") as judge:
        exercise = course.exercise(FIRST)
        quick = judge.grade_text(exercise, wrong, points_only=True)
        assert [verdict.test for verdict in quick.verdicts] == ["test_add", "test_more_neg"]
        whole = judge.grade_text(exercise, wrong)
        assert [verdict.test for verdict in whole.verdicts] == [
            "test_add",
            "test_neg",
            "test_more_add",
            "test_more_neg",
        ]
        assert quick.earned == whole.earned == judge.points(exercise, wrong) == 1


@pytest.mark.full("a sandbox is started for every exercise", share=12)
def test_few_sandboxes_wait_at_a_time(course, hidden, monkeypatch):
    """The sandbox that was not used for longest makes room; an exercise that comes again gets another."""
    monkeypatch.setattr("autograder.judging.sandboxes.WARM", 1)
    with Judge(course, hidden=hidden) as judge:
        for _ in range(2):
            assert judge.grade_text(course.exercise(FIRST), ARITHMETIC).full
            first = judge._sandboxes._warm[FIRST]
            assert judge.grade_text(course.exercise(SECOND), COMPARISON).full
            assert list(judge._sandboxes._warm) == [SECOND]
            assert first._warm is None
        assert judge.grade_text(course.exercise(SECOND), COMPARISON).full


@pytest.mark.full("a sandbox is started for every exercise", share=12)
def test_sandboxes_of_several_lessons_stay_warm(course, hidden, monkeypatch):
    """They are started ahead, up to a number, and another lesson's task leaves them; without it, it ends them."""
    one = course.exercise(FIRST)
    tested = dataclasses.replace(course, exercises={key: course.exercises[key] for key in (FIRST, SECOND)})
    with Judge(course, hidden=hidden, warm=2) as judge:
        judge.master(one.lesson)  # of the whole lesson; the tests at hand are of two of its exercises
        monkeypatch.setattr(judge, "course", tested)
        judge.prepare(one.lesson)
        assert [judge.heat() for _ in range(3)] == [True, True, False]
        started = dict(judge._sandboxes._warm)
        judge.release("another lesson")
        assert judge._sandboxes._warm == started and set(started) == {FIRST, SECOND}
        assert judge.grade_text(one, ARITHMETIC).full and judge._sandboxes._warm[FIRST] is started[FIRST]
    with Judge(course, hidden=hidden) as judge:
        judge.master(one.lesson)
        monkeypatch.setattr(judge, "course", tested)
        judge.prepare(one.lesson)
        assert not judge.heat()
        assert judge.grade_text(one, ARITHMETIC).full
        judge.release("another lesson")
        assert not judge._sandboxes._warm


@pytest.mark.full("a grader is started without a sandbox", share=12)
def test_without_a_sandbox_the_report_says_so(course, hidden):
    """Work that ran unprotected, because the instructor insisted, is reported as that."""
    with Judge(course, hidden=hidden, isolation="none") as judge:
        submission = judge.grade(graft(nbformat.writes(small_master()).encode(), small_master()), "00_fundamentals")
    assert any("not isolated" in note for note in submission.notes)


@pytest.mark.full("an exercise is judged several times", share=4)
def test_kept_results(course, hidden, tmp_path, monkeypatch):
    """The same content is not run again; other cells, other tests or a damaged record are."""
    cells = [added("print('x' * 10**8)"), solution_cell(FIRST, ARITHMETIC)]
    with Judge(course, hidden=hidden, cache=tmp_path / "kept") as judge:
        runs = []
        monkeypatch.setattr(judge, "_run", lambda *args, run=judge._run: runs.append(1) or run(*args))
        first_given_up, second_given_up = {}, {}
        first = judge.grade_exercise(course.exercise(FIRST), cells, first_given_up)
        second = judge.grade_exercise(course.exercise(FIRST), cells, second_given_up)
        assert first == second and first_given_up == second_given_up and len(runs) == 1
        judge.grade_exercise(course.exercise(FIRST), cells[1:])
        assert len(runs) == 2
        (record, *_) = (path for path in (tmp_path / "kept").rglob("*.json"))
        record.write_text(record.read_text()[:50])
        judge.grade_exercise(course.exercise(FIRST), cells)
        judge.grade_exercise(course.exercise(FIRST), cells[1:])
        assert len(runs) == 3
    (tmp_path / "test_operators.py").write_text(HIDDEN.replace("7.5", "8.5"))
    with Judge(course, hidden=tmp_path, cache=tmp_path / "kept") as judge:
        assert judge.grade_exercise(course.exercise(FIRST), cells).earned == 1
    assert not list((tmp_path / "kept").rglob(".*"))


@pytest.mark.full("what fails by chance is judged twice", share=12)
@pytest.mark.parametrize("body", ["while True: pass", "import os; os._exit(1)", "return bytearray(10**10)"])
@pytest.mark.parametrize("place", ["cell", "function"])
def test_what_may_have_been_bad_luck_is_not_kept(course, hidden, tmp_path, body, place):
    """A result that hangs on a process which ran out of time or memory, or was killed, is found anew each time."""
    cell = added(body.replace("return ", "")) if place == "cell" else added("1")
    text = ARITHMETIC.replace("return x + y", body) if place == "function" else ARITHMETIC
    with Judge(course, hidden=hidden, cache=tmp_path / "kept") as judge:
        judge.grade_exercise(course.exercise(FIRST), [cell, solution_cell(FIRST, text)])
    assert not list((tmp_path / "kept").rglob("*.json"))


@pytest.mark.parametrize("folder", ["building", "common", "grafting", "reading", "results"])
def test_results_follow_from_the_code_that_reads_notebooks(course, hidden, tmp_path, monkeypatch, folder):
    """A change of any code that decides which text is graded, or how much is said, makes every kept result stale."""
    package = Path(judging.__file__).parents[1]
    copy = tmp_path / "grader"
    for name in {file.relative_to(package).parts[0] for file in text_files()}:
        shutil.copytree(package / name, copy / name)
    monkeypatch.setattr(result_cache, "_GRADER", copy)
    monkeypatch.setattr(Fingerprint, "edition", lambda fingerprint, exercise: tmp_path / "edition")
    monkeypatch.setattr("autograder.judging.fingerprint.grader_files", list)
    lesson = course.exercise(FIRST).lesson
    before = Judge(course, hidden=hidden).fingerprint.state(lesson)
    assert Judge(course, hidden=hidden).fingerprint.state(lesson) == before
    (copy / folder / "new_module.py").write_text("# changed\n")
    assert Judge(course, hidden=hidden).fingerprint.state(lesson) != before


def test_results_follow_from_all_that_grading_is_told(course, hidden, tmp_path):
    """Another seed, isolation, limit, package, object, group, edition or test counts; points of a group do not."""
    (tmp_path / "test_operators.py").write_text(HIDDEN.replace("7.5", "8.5"))

    def follows(places=hidden, isolation="auto", shrink=1.0, edition="e", told=None, **changed):
        exercise = dataclasses.replace(course.exercise(FIRST), **changed)
        exercises = {**course.exercises, FIRST: exercise}
        other = dataclasses.replace(course, exercises=exercises, **(told or {}))
        return Fingerprint(other, places, isolation, shrink).follows(exercise, edition)

    assert follows() == follows(groups={"values": 1.0, "special": 0.5}, points=1.5)
    changes = [
        {"places": tmp_path},
        {"isolation": "landlock"},
        {"shrink": 2.0},
        {"edition": "f"},
        {"told": {"seed": course.seed + 1}},
        {"told": {"limits": {**course.limits, "memory_mb": 900}}},
        {"limits": {"test_seconds": 2.0}},
        {"uses": ("numba",)},
        {"objects": ("operators.add",)},
        {"groups": {"values": 3.0}},
    ]
    assert [each for each in changes if follows(**each) == follows()] == []


def test_whatever_judging_imports_is_among_the_code_that_results_follow_from():
    """Each module that judging and grafting import, directly or not, is hashed; a course is, as content."""
    package = Path(judging.__file__).parents[1]
    hashed = {file.relative_to(package) for file in (*text_files(), *grader_files())}
    waiting, seen = [package / "judging" / "judge.py", package / "grafting" / "graft.py"], set[Path]()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for names in re.findall(r"^\s*from autograder\.([\w.]+) import", file.read_text(), re.MULTILINE):
            path = package.joinpath(*names.split("."))
            waiting.append(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
    assert {file.relative_to(package).parts[0] for file in seen} > {"judging", "grafting", "sandbox"}
    apart = {file.relative_to(package) for file in seen} - hashed
    assert {path.parts[0] for path in apart} == {"course"}


PROPERTY = """
@hypothesis.given(hypothesis.strategies.integers())
def test_add(student, _n):
"""


@pytest.mark.full("a grader is interrupted", share=12)
@pytest.mark.parametrize(
    ("head", "stops"),
    [
        ("\ndef test_add(student):\n", Ended),
        (PROPERTY, Ended),
        ("\ndef test_add(student, request):\n", KeyboardInterrupt),  # a fixture: pytest calls it
    ],
    ids=["plain", "property", "fixture"],
)
def test_a_grader_that_is_told_to_end_blames_no_test(course, tmp_path, head, stops):
    """SIGTERM in the middle of a hidden test ends the process; it is no verdict and no fault of the test."""
    text = HIDDEN.replace('    """add adds."""\n', '    """add adds."""\n    signal.raise_signal(signal.SIGTERM)\n')
    text = text.replace("\ndef test_add(student):\n", head)
    (tmp_path / "test_operators.py").write_text("import signal\n\nimport hypothesis\n" + text)

    def once(*_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end()

    before = signal.signal(signal.SIGTERM, once)
    try:
        with Judge(course, hidden=tmp_path, cache=tmp_path / "kept") as judge, pytest.raises(stops):
            judge.grade_text(course.exercise(FIRST), ARITHMETIC)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not list((tmp_path / "kept").rglob("*.json"))


def test_faults_are_not_zeros(course, hidden, tmp_path):
    """No sandbox, and a broken hidden test, are raised; no student gets a zero for them."""
    cells = [solution_cell(FIRST, ARITHMETIC)]
    with Judge(course, hidden=hidden, isolation="no-such-thing") as judge, pytest.raises(SandboxError):
        judge.grade_exercise(course.exercise(FIRST), cells)
    (tmp_path / "test_operators.py").write_text(HIDDEN.replace("expect(", "expct("))
    with Judge(course, hidden=tmp_path) as judge, pytest.raises(HiddenTestError, match="NameError"):
        judge.grade_exercise(course.exercise(FIRST), cells)


def test_a_group_without_tests_is_refused(course):
    """Points of a group that no test decides would be a gift."""
    verdict = Verdict("t", "T", "values", "b", passed=True)
    with pytest.raises(HiddenTestError, match="special"):
        scored(course.exercise(FIRST), [verdict])


def small_master():
    def solution(exercise, names):
        stub = f"# exercise: {exercise}\n" + "\n".join(f"def {n}():\n    raise NotImplementedError()" for n in names)
        nbgrader = {"solution": True, "grade": False, "grade_id": exercise.replace(".", "-")}
        return nbformat.v4.new_code_cell(stub, metadata={"nbgrader": nbgrader}, id=exercise[-5:])

    setup = nbformat.v4.new_code_cell("import math", metadata={"tags": ["setup"]}, id="setup")
    pair = (solution(FIRST, ["add", "mul", "neg"]), solution(SECOND, ["lt", "eq", "max", "is_close"]))
    return nbformat.v4.new_notebook(cells=[setup, *pair], metadata={"minigrad": {"stamp": "0"}})


@pytest.fixture
def lesson(course, judge, monkeypatch):
    """A course whose first lesson has two exercises."""
    two = {key: course.exercises[key] for key in (FIRST, SECOND)}
    monkeypatch.setattr(judge, "course", dataclasses.replace(course, exercises=two))
    return "00_fundamentals"


def test_a_whole_notebook(judge, lesson):
    """A notebook's exercises are graded in the course's order, with the notes of each."""
    student = small_master()
    student.cells[1].source = ARITHMETIC
    del student.cells[2]
    submission = judge.grade(graft(nbformat.writes(student).encode(), small_master()), lesson)
    assert [(each.exercise, each.earned) for each in submission.exercises] == [(FIRST, 3), (SECOND, 0)]
    assert "no cell for this exercise" in submission.exercises[1].reason
    assert submission.exercises[1].notes and not submission.notes
    assert (submission.earned, submission.points) == (3, 7)


def graded_with(judge, lesson, text, *own):
    student = small_master()
    student.cells[1].source = text
    student.cells += [nbformat.v4.new_code_cell(cell, id=f"own{i}") for i, cell in enumerate(own)]
    return judge.grade(graft(nbformat.writes(student).encode(), small_master()), lesson)


def test_messages_cannot_carry_an_answer_away(judge, lesson):
    """However many tests and cells fail, their messages hold some hundred characters of the student's making."""
    steal = (
        "import inspect, minigrad.functions as m\n    text = inspect.getsource(m) * 9\n    raise ValueError(text[{}:])"
    )
    text = ARITHMETIC.replace("return x + y", steal.format(0)).replace("return -x", steal.format(900))
    own = [f"raise ValueError({chr(97 + i) * 290!r})" for i in range(9)]
    submission = graded_with(judge, lesson, text, *own)
    graded = submission.exercises[0]
    texts = [v.reason for v in graded.verdicts if not v.passed] + [*graded.notes, *submission.notes]
    assert sum(map(len, dict.fromkeys(texts))) < 1100
    assert sum("aaaa" in each for each in texts) == 1


def test_an_honest_message_is_whole(judge, lesson):
    """One error of a usual length is shown whole where it first appears, and not again."""
    message = "the shapes do not agree: " + ", ".join(f"({i}, {i + 1})" for i in range(14))
    text = ARITHMETIC.replace("return x + y", f"raise ValueError({message!r})")
    text = text.replace("return -x", f"raise ValueError({message!r})")
    first, second = graded_with(judge, lesson, text).exercises[0].failures
    assert message in first.reason and len(first.reason) > 150
    assert "same" in second.reason and message not in second.reason and len(second.reason) < 120


def test_a_notebook_has_a_time_of_its_own(course, hidden, monkeypatch):
    """After three sessions' time the rest of a notebook's exercises are not run, and the report says so."""
    two = {key: course.exercises[key] for key in (FIRST, SECOND)}
    limits = {"cell_seconds": 5, "test_seconds": 1, "submission_seconds": 0.4}
    monkeypatch.setattr("autograder.judging.judge.kept_waiting", lambda root: lambda: 0.0)  # as on a quiet machine
    with Judge(dataclasses.replace(course, exercises=two, limits=limits), hidden=hidden) as judge:
        student = small_master()
        student.cells[1].source, student.cells[2].source = ARITHMETIC, COMPARISON
        run = judge._run
        monkeypatch.setattr(judge, "_run", lambda *args: (time.sleep(1.3), run(*args))[1])
        submission = judge.grade(graft(nbformat.writes(student).encode(), small_master()), "00_fundamentals")
    assert "used up its 1.2 s" in submission.exercises[1].reason


def test_the_third_slow_answer_gets_less_time(grade):
    """After two time-outs in an exercise a question has a fifth of the time; quick functions keep their points."""
    asked = []

    class Slow:
        def observe(self, probe, args, seconds=None):
            asked.append(seconds)
            return Observation(False, failure=Failure("timeout", "too slow"))

    session = TimeBudget(Slow(), 5.0)
    for _ in range(4):
        session.observe(b"", [])
    assert asked == [None, None, 1.0, 1.0]


def test_not_started(judge, lesson):
    """Stubs earn nothing, and the report says that they were not started."""
    submission = judge.grade(graft(nbformat.writes(small_master()).encode(), small_master()), lesson)
    assert submission.earned == 0
    assert {each.reason for each in submission.exercises} == {"this exercise was not started"}


@pytest.mark.full("a notebook is judged whole", share=4)
def test_work_in_a_cell_of_their_own(judge, lesson):
    """Work in an added cell counts though the stub was left alone."""
    student = small_master()
    student.cells.insert(2, nbformat.v4.new_code_cell(ARITHMETIC, id="own"))
    student.cells[1].source += "  "
    submission = judge.grade(graft(nbformat.writes(student).encode(), small_master()), lesson)
    assert submission.exercises[0].full


@pytest.mark.full("unreadable work of every kind is judged", share=12)
def test_unreadable(judge, lesson):
    """A submission that cannot be read is a zero with its reason at every exercise."""
    submission = judge.grade(stubs(small_master(), "it is not JSON"), lesson)
    assert submission.unreadable == "it is not JSON"
    assert {each.reason for each in submission.exercises} == {"it is not JSON"} and submission.earned == 0


@pytest.mark.full("a class's worth of answers is judged", share=12)
def test_source_cells():
    """Setup, solutions and added cells go to the sandbox in order, with labels to name them by; nothing else does."""
    student = small_master()
    student.cells.append(nbformat.v4.new_code_cell("1 + 1", id="own"))
    student.cells.append(nbformat.v4.new_markdown_cell("words", id="md"))
    cells = source_cells(graft(nbformat.writes(student).encode(), small_master()).notebook)
    assert [(cell.kind, cell.exercise) for cell in cells] == [
        ("setup", None),
        ("solution", FIRST),
        ("solution", SECOND),
        ("added", None),
    ]
    assert [cell.label for cell in cells][0::3] == ["setup cell 1", "added cell 1"]
