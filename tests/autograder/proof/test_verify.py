"""`verify` finds every way in which hidden tests can fail to grade well; the course's own have none."""

import os
import signal
from dataclasses import replace

import pytest
from places import ROOT
from two_lessons import make_course

from autograder.commands.verify import verify_table
from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.proof.hollow import answers_without_work, hollow_answers
from autograder.proof.mutants import run_mutants
from autograder.proof.record import read_shown, record, stale_record, unverified
from autograder.proof.verify import Verifier, pairs, stray_answers, verify
from autograder.results.causes import read_seen
from autograder.results.pictures import as_svg
from autograder.sandbox import SandboxError

COURSE = load_course(ROOT / "course", tree=False)

EXERCISE = "operators.arithmetic"

HEAD = """
import pytest
from autograder import expect


def pair(mg, x, y):
    return [mg.operators.add(x, y), mg.operators.mul(x, y)]
"""

SUM = '''
@pytest.mark.exercise("operators.arithmetic", group="values", because="lesson 00: add adds")
def test_sum(student):
    """add adds."""
    expect(student(pair, 2.5, 4.0)[0], 6.5, when={-1.5: ("subtracts", "do not subtract")}, misconception="no-sum")
'''

PRODUCT = '''
@pytest.mark.exercise("operators.arithmetic", group="values", because="lesson 00: mul multiplies")
def test_product(student):
    """mul multiplies."""
    expect(student(pair, 2.5, 4.0)[1], 10.0, misconception="divides")
'''

NEG = '''
@pytest.mark.exercise("operators.arithmetic", group="special", because="lesson 00: neg negates")
def test_neg(student):
    """neg negates."""
    def observe(mg, x):
        return mg.operators.neg(x)
    expect(student(observe, 3.0), -3.0, misconception="keeps-the-sign")
'''

TESTS = HEAD + SUM + PRODUCT + NEG

# Weak: a constant and a returned argument pass it.
NEG_ZERO = NEG.replace("student(observe, 3.0), -3.0", "student(observe, 0.0), 0.0")

# Weaker: an answer that refuses everything passes it.
NEG_REFUSED = NEG.replace(
    "return mg.operators.neg(x)",
    """
        try:
            return mg.operators.neg(x)
        except ValueError:
            return -3.0
    """,
)

RIGHT = "def add(x, y):\n    return x + y\ndef mul(x, y):\n    return x * y\ndef neg(x):\n    return -x\n"
WRONG = {
    "subtracts": RIGHT.replace("x + y", "x - y"),
    "divides": RIGHT.replace("x * y", "x / y"),
    "keeps-the-sign": RIGHT.replace("-x", "x"),
}
VARIANTS = {"a": RIGHT, "b": RIGHT.replace("-x", "-1.0 * x")}


@pytest.fixture(scope="module")
def place(tmp_path_factory, root):
    return make_course(tmp_path_factory.mktemp("verify"), root)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def problems(place, kept, tmp_path):
    """Verify one exercise with given tests and answers, and return what is wrong with them."""

    def run(tests=TESTS, wrong=WRONG, variants=VARIANTS, **changed):
        (tmp_path / "test_operators.py").write_text(tests)
        for kind, answers in (("wrong", wrong), ("variants", variants)):
            folder = tmp_path / kind / EXERCISE
            folder.mkdir(parents=True)
            for name, text in answers.items():
                (folder / f"{name}.py").write_text(f'"""A sentence."""\n{text}' if text.startswith("def") else text)
        course = load_course(place, tree=False)
        exercise = replace(course.exercise(EXERCISE), **{"groups": {"values": 2.5, "special": 0.5}, **changed})
        course = replace(course, exercises={**course.exercises, EXERCISE: exercise})
        with Judge(course, hidden=tmp_path, cache=kept, shrink_seconds=0) as judge:
            checked = Verifier(judge, tmp_path).check(course.exercise(EXERCISE))
        return checked

    return run


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"uses": ("nunba",)}, "its sandbox does not start"),
        pytest.param(
            {"gives_away": ("errors",)},
            "its sandbox does not start",
            marks=pytest.mark.full("each problem is found by a run of its own", share=4),
        ),
    ],
)
def test_a_mistake_in_course_toml_is_told_once(problems, changed, words):
    """What makes every answer fail is one sentence, not one for each answer."""
    (problem,) = problems(**changed).problems
    assert problem.startswith(words) and "in course.toml" in problem and "\n" not in problem


@pytest.mark.parametrize("limits", [{"memory_mb": 20}, {"test_seconds": 0.0001}])
def test_a_limit_that_nothing_can_meet_is_refused(problems, limits):
    """Under such a limit the reference would fail as every other answer does: it is not tried."""
    with pytest.raises(ValueError, match="not even right code can run"):
        problems(limits=limits)


KINDS = '[style]\n"operators.arithmetic" = ["keeps-the-sign"]\n'


def test_a_small_mistake_costs_a_quarter_at_most(problems, tmp_path):
    """The measure is what the wrong answer loses, whatever its group is called."""
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "kinds.toml").write_text(KINDS)
    (problem,) = problems(groups={"values": 2.0, "special": 1.0}).problems
    assert problem == (
        "wrong/operators.arithmetic/keeps-the-sign.py: a mistake of the kind style costs 33% of the points; "
        "a quarter at most"
    )


def test_a_kind_of_no_mistake_is_refused(problems, tmp_path):
    """What is listed without a wrong answer measures nothing."""
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "kinds.toml").write_text(KINDS.replace("keeps", "loses"))
    (problem,) = problems().problems
    assert problem == f"wrong/kinds.toml: lists loses-the-sign of {EXERCISE}, of which there is no wrong answer"


def test_good_tests_have_no_problem(problems):
    """Tests, wrong answers and variants that fit have no problem, and the table shows who rejects what."""
    checked = problems()
    assert checked.problems == ()
    assert {answer.misconception: answer.rejected_by for answer in checked.wrong} == {
        "subtracts": ("test_sum",),
        "divides": ("test_product",),
        "keeps-the-sign": ("test_neg",),
    }
    assert (checked.tests, checked.variants) == (("test_sum", "test_product", "test_neg"), ("a", "b"))
    assert {answer.misconception: str(answer.cost) for answer in checked.wrong} == {
        "subtracts": "83%: values",
        "divides": "83%: values",
        "keeps-the-sign": "17%: special",
    }
    assert verify_table([checked]).row_count == 3
    assert len(checked.hollow) > 15 and not any(points for _, points in checked.hollow)


BOTH = '''
@pytest.mark.exercise("operators.arithmetic", group="values", because="lesson 00: both")
def test_both(student):
    """The sum and the product together."""
    seen = sum(student(pair, 2.5, 4.0))
    expect(seen, 16.5, when={-0.875: ("too-much", "one number too many")}, misconception="another")
'''


@pytest.mark.full("each problem is found by a run of its own", share=4)
def test_a_report_on_two_mistakes_names_no_third(problems):
    """Two mistakes that look like a third one together are refused, and so is a mistake that looks like another."""
    third = {"too-much": RIGHT.replace("x * y", "x * y - 17.375")}
    falsely = "a report on subtracts with divides names too-much, which it does not do"
    assert falsely in problems(TESTS.replace(SUM, "").replace(PRODUCT, "") + BOTH, {**WRONG, **third}).problems


def test_pairs_change_different_lines():
    """Two changes of one line give no pair, and changes that both made alike are made once."""
    right = "def f(x):\n    y = x\n    return y"
    wrong = {"a": right.replace("y = x", "y = 2"), "b": right.replace("return y", "return 3")}
    assert pairs([right], wrong) == [(("b", "a"), "def f(x):\n    y = 2\n    return 3")]
    assert pairs([right], {"a": wrong["a"], "b": right.replace("y = x", "y = 4")}) == []
    assert pairs([right, wrong["a"]], {"c": right, "d": wrong["a"] + "\nz = 1"}) == [(("d", "c"), right + "\nz = 1")]


@pytest.mark.full("each problem is found by a run of its own", share=24)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        # Tests.
        ({"tests": TESTS.replace("-3.0", "-4.0")}, "the reference earns 2.5 of 3"),
        ({"tests": TESTS.replace("[mg.operators.add(x, y), ", "[x + y, ")}, "could be deleted"),
        ({"tests": HEAD + SUM + PRODUCT + NEG_ZERO},
         "the group special, 0.5 of 3 points, is earned without work: the constant 0, the constant 0.0, argument 1,"),
        ({"tests": HEAD + SUM + PRODUCT + NEG_REFUSED}, "is earned without work: raise ValueError;"),
        ({"tests": HEAD + SUM + PRODUCT + NEG.replace("expect(student(observe, 3.0), -3.0, ", "print(0); dict(")},
         "is earned without work: the stub, None, the constant 0, and"),
        ({"tests": HEAD + SUM + NEG + SUM.replace("test_sum", "test_sum_again")}, "test_sum could be deleted"),
        # Deleting a test.
        ({"tests": HEAD + SUM + PRODUCT}, "no hidden test is in the group 'special'"),
        ({"tests": HEAD + SUM + NEG}, "no test rejects it as 'divides'"),
        ({"tests": HEAD + PRODUCT + NEG}, "no test rejects it as 'subtracts'"),
        # Wrong answers.
        ({"wrong": {**WRONG, "x": WRONG["divides"]}}, "rejects it as 'x'; rejected by test_product (divides)"),
        ({"wrong": {**WRONG, "right": RIGHT}}, "no test rejects it as 'right'"),
        ({"wrong": {**WRONG, "broken": "def add(x, y:\n"}}, "does not run: nothing could be tested"),
        ({"wrong": {**WRONG, "mute": f"# no docstring\n{RIGHT}"}}, "mute.py: has no docstring"),
        ({"wrong": {**WRONG, "all": RIGHT.replace("return", "return 1 +")}}, "passes no test"),
        ({"wrong": {}}, "has 0 known-wrong answers; write at least 3"),
        # Right answers.
        ({"variants": {**VARIANTS, "c": RIGHT.replace("x + y", "x + 2 * y")}}, "c.py earns 0.5"),
        ({"variants": {**VARIANTS, "d": RIGHT + "raise ValueError('late')\n"}}, "late"),
        ({"variants": {"a": RIGHT}}, "has 1 variants"),
    ],
)  # fmt: skip
def test_each_problem_is_found(problems, change, words):
    """Every way in which tests or answers can be wrong is one sentence."""
    found = problems(**change).problems
    assert any(words in problem for problem in found), found


def test_the_record_of_what_tests_saw(problems, place, tmp_path):
    """The record holds what each wrong answer made tests see; one that is missing or old is a problem."""
    checked = problems()
    (problem,) = stale_record([checked], tmp_path)
    assert EXERCISE in problem and "autograder verify --record" in problem
    course = load_course(place, tree=False)
    assert record(course, [checked], tmp_path) and not record(course, [checked], tmp_path)
    assert stale_record([checked], tmp_path) == []
    saw = read_seen(tmp_path / "wrong" / "seen.json")[EXERCISE]
    assert saw["subtracts"] == {"test_sum": "got -1.5"} and set(saw) == set(WRONG)
    shown = read_shown(tmp_path)[EXERCISE]
    assert shown["subtracts"].reason == "got -1.5" and shown["subtracts"].example and set(shown) == set(WRONG)
    # An exercise that was not checked keeps its entry; one that the course has no more does not.
    other = replace(checked, exercise="operators.comparison")
    assert record(course, [other, replace(checked, exercise="operators.gone")], tmp_path)
    assert stale_record([checked, other], tmp_path) == []
    record(course, [checked], tmp_path)
    assert set(read_seen(tmp_path / "wrong" / "seen.json")) == {EXERCISE, "operators.comparison"}


def test_the_record_is_of_the_present_tests_and_answers(problems, place, tmp_path):
    """Without a run it is told that a test or a wrong answer is another one, and that no test rejects an answer."""
    course = load_course(place, tree=False)
    course = replace(course, exercises={EXERCISE: course.exercise(EXERCISE)})
    checked = problems()
    record(course, [checked], tmp_path)
    assert unverified(course, tmp_path, tmp_path) == []
    tests, answer = tmp_path / "test_operators.py", tmp_path / "wrong" / EXERCISE / "divides.py"
    tests.write_text(TESTS.replace("10.0, ", "10.0, tolerance=20.0, "))
    (problem,) = unverified(course, tmp_path, tmp_path)
    assert "is not of operators.arithmetic's present tests" in problem
    tests.write_text(TESTS)
    answer.write_text(answer.read_text() + "\n")
    assert len(unverified(course, tmp_path, tmp_path)) == 1
    record(course, [replace(checked, wrong=checked.wrong[1:])], tmp_path)
    assert f"wrong/{EXERCISE}/divides.py: no test rejects it" in unverified(course, tmp_path, tmp_path)[1]
    record(course, [checked], tmp_path)
    (tmp_path / "wrong" / "shown.json").unlink()
    assert f"shown.json: has not every mistake of {EXERCISE}" in unverified(course, tmp_path, tmp_path)[-1]


def test_answers_without_work(place):
    """They keep signatures, replace written bodies, and are Python."""
    course = load_course(place, tree=False)
    answers = dict(answers_without_work(course, course.exercise(EXERCISE)))
    assert list(answers)[:3] == ["the stub", "None", "the constant 0"]
    wanted = {"None": None, "the constant []": [], "argument 1": 5.0, "argument 2": 7.0}
    for name, value in wanted.items():
        assert answers[name].startswith(f"# exercise: {EXERCISE}\n")
        assert _run(answers[name], "add")(5.0, 7.0) == value
    assert _run(answers["argument 2"], "neg")(5.0) == 5.0
    for name, error in {"raise": RuntimeError, "raise ValueError": ValueError}.items():
        with pytest.raises(error):
            _run(answers[name], "mul")(5.0, 7.0)


def _run(text, name):
    scope = {}
    exec(text, scope)
    return scope[name]


OF_A_CLASS = """# exercise: a.C
class C:
    def __init__(self, n):
        ### BEGIN SOLUTION
        self.n = n
        ### END SOLUTION
    def given(self):
        return 3
    @staticmethod
    def f(ctx, a):
        ### BEGIN SOLUTION
        return a
        ### END SOLUTION
"""


def test_answers_without_work_of_a_class():
    """In a class only the written methods are emptied, and __init__ stays silent."""
    answer = _run(dict(hollow_answers(OF_A_CLASS))["argument 2"], "C")
    assert answer(1).given() == 3
    assert answer.f("ctx", "a") == "a"
    assert not hasattr(answer(1), "n")


OF_A_KERNEL = """# exercise: a.make
def make(fn, other):
    '''Return a kernel.

    Raises:
        ShapeError: If there is none.
    '''
    ### BEGIN SOLUTION
    def same(x):
        return x
    if other is None:
        return same(fn)
    def kernel(out, size):
        first = out[0]
        for i in range(size):
            out[i] = fn(first)
        return out
    return same(kernel)
    ### END SOLUTION
def beside(x):
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION
"""


def test_the_arithmetic_of_a_branch_is_no_answer_without_work():
    """One line of sigmoid's two is right for all ordinary numbers; a branch that only hands something on is tried."""
    text = (
        "# exercise: a.f\ndef f(x):\n    ### BEGIN SOLUTION\n    if x > 0:\n        return 1.0 / x\n    if x < 0:\n"
        "        return abs(x)\n    return 0.0\n    ### END SOLUTION\n"
    )
    alone = [body.strip().split("\n")[2:] for name, body in hollow_answers(text) if name.endswith(" alone")]
    assert ["    return abs(x)"] in alone and ["    return 1.0 / x"] not in alone


def test_answers_without_work_of_a_function_that_makes_one():
    """What a written function makes is emptied alone; a line of the reference stands alone, but not its last one."""
    answers = dict(hollow_answers(OF_A_KERNEL, {"ShapeError": "from errors import ShapeError"}))
    empty = answers["None, in the function that it makes"]
    assert _run(empty, "make")(abs, 1)([1.0], 1) is None
    assert _run(empty, "beside")(2) is None, "else it would be right"
    assert _run(answers["line 1 alone, in the function that it makes"], "make")(abs, 1)([4.0], 1) == 4.0
    assert "line 4 alone, in the function that it makes" not in answers, "the last line may be the whole answer"
    assert _run(answers["line 2 alone"], "make") and "line 3 alone" not in answers
    assert empty.count("return same(") == 2 and "def same(x):\n        return x" in empty, "it only helps"
    assert "from errors import ShapeError\n    raise ShapeError('no')" in answers["raise ShapeError"]
    assert len(set(answers.values())) == len(answers)


def test_a_value_of_a_dictionary_is_added_to_an_argument():
    """The last one that can be added is, however deep it lies; where there is none, nothing is returned."""
    text = "# exercise: a.f\ndef f(x, p, n=1):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION\n"
    added = _run(dict(hollow_answers(text))["argument 1 with a value of a dictionary added"], "f")
    assert added(1.0, {"a": 2.0, "b": {"c": 3.0}, "d": "text"}) == 4.0
    assert added([], {}, None) is None


def test_stray_answers(place, tmp_path):
    """Answers to an exercise that does not exist are found."""
    (tmp_path / "wrong" / "operators.gone").mkdir(parents=True)
    (tmp_path / "variants" / EXERCISE).mkdir(parents=True)
    assert stray_answers(load_course(place, tree=False), tmp_path) == [
        "wrong/operators.gone: course.toml lists no such exercise"
    ]


@pytest.mark.full("answers are tried twice", share=48)
def test_two_processes_find_what_one_finds(place, tmp_path):
    """Results do not depend on the number of processes; a broken test is its exercise's problem."""
    (tmp_path / "test_operators.py").write_text(TESTS.replace("expect(", "expct("))
    course = load_course(place, tree=False)
    counted = []
    results = [verify(course, hidden=tmp_path, answers=tmp_path, jobs=jobs, done=counted.append) for jobs in (1, 2)]
    assert results[0] == results[1]
    assert [checked.exercise for checked in results[0]] == list(course.exercises)
    assert "NameError" in results[0][0].problems[0]
    assert "no hidden test grades" in results[0][1].problems[0]
    assert len(counted) == 4


def killed(*_):
    """What the system does to a process when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.full("each problem is found by a run of its own", share=24)
@pytest.mark.parametrize(
    ("module", "begins", "run"),
    [("verify", "end_without_a_word", verify), ("mutants.running", "_begin", run_mutants)],
)
def test_a_process_that_was_ended(place, tmp_path, monkeypatch, module, begins, run):
    """One sentence says so, and what to try; exit codes and tracebacks of a pool are nobody's business."""
    (tmp_path / "test_operators.py").write_text(TESTS)
    monkeypatch.setattr(f"autograder.proof.{module}.{begins}", killed)
    with pytest.raises(SandboxError, match="a process that verified was ended, for lack of memory perhaps; try --jobs"):
        run(load_course(place, tree=False), hidden=tmp_path, jobs=2)


def test_the_record_is_of_the_courses_present_tests():
    """The record is of the present hidden tests and wrong answers, and all of these were rejected."""
    assert unverified(COURSE) == []


def test_every_recorded_picture_can_be_drawn():
    """Each hidden test's picture can be drawn: a report leaves out in silence what it cannot draw."""
    shown = [verdict for found in read_shown(COURSE.directory).values() for verdict in found.values()]
    pictures = {each.test: each.example.picture for each in shown if each.example and each.example.picture}
    assert len(pictures) > 20
    assert [test for test, picture in pictures.items() if not as_svg(picture)] == []


def test_no_answer_is_stray():
    """Each wrong answer and each variant of the course is one of an exercise."""
    assert stray_answers(COURSE) == []


@pytest.fixture(scope="module")
def verifier():
    """Verifies exercises of the course."""
    with Judge(COURSE, cache=COURSE.directory / ".grades", shrink_seconds=0) as judge:
        yield Verifier(judge)


@pytest.mark.no_cover  # the exercise of a small course runs the same lines
@pytest.mark.full("every known answer of the course is judged")
@pytest.mark.parametrize("exercise", COURSE.exercises)
def test_the_hidden_tests_of_an_exercise(verifier, exercise):
    """Every hidden test is needed and just, every wrong answer is caught by its name and recorded."""
    checked = verifier.check(COURSE.exercise(exercise))
    assert checked.problems == ()
    assert stale_record([checked], COURSE.directory) == []
