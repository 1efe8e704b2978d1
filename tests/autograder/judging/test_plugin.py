"""The pytest plugin judges by hidden tests, and tells a student's failure from the grader's."""

import sys
import textwrap

import hypothesis
import numpy as np
import pytest
from fake_session import GROUPS, Failed, FakeSession, pack

from autograder.common.comparing import same
from autograder.judging.plugin import HiddenTestError, HiddenTests, Student, StudentFailure, run_hidden_tests


@pytest.fixture
def judge(tmp_path):
    """Run hidden tests given as text against a function that stands for the student."""

    def run(text, answer=lambda *args: None, exercise="demo.f", seed=3, shrink=1.0):
        head = "import pytest\nfrom autograder import expect\nfrom hypothesis import given, strategies as st\n"
        (tmp_path / "test_demo.py").write_text(head + textwrap.dedent(text))
        session = FakeSession(answer)
        plugin = HiddenTests(exercise, GROUPS, session, pack, seed, shrink)
        return run_hidden_tests(plugin, tmp_path), session

    return run


VALUES = '''
@pytest.mark.exercise("demo.f", group="values", because="lesson 00: f adds one")
def test_one(student):
    """f adds one.

    More words.
    """
    def observe(mg, x):
        return x
    expect(student(observe, 1.0), 2.0, hint="add one", misconception="adds-nothing")

@pytest.mark.exercise("demo.g", group="all", because="lesson 00")
def test_other(student):
    """g is another exercise."""
    assert False
'''


def test_a_passing_test(judge):
    """Only tests of the exercise run; a pass is a verdict with the docstring's first paragraph."""
    (verdict,), session = judge(VALUES, lambda x: x + 1)
    assert (verdict.passed, verdict.title, verdict.group) == (True, "f adds one.", "values")
    assert verdict.because == "lesson 00: f adds one"
    assert session.asked == [[1.0]]


def test_a_wrong_answer(judge):
    """A failed expectation carries hint and misconception, and never the wanted value."""
    (verdict,), _ = judge(VALUES, lambda x: x)
    assert not verdict.passed
    assert (verdict.hint, verdict.misconception) == ("add one", "adds-nothing")
    assert "1" in verdict.reason and "2" not in verdict.reason


@pytest.mark.parametrize("kind", ["error", "timeout", "memory", "killed", "not-plain", "not-done"])
def test_no_answer(judge, kind):
    """What kept the code from answering is the reason, in the sandbox's words."""
    (verdict,), _ = judge(VALUES, lambda x: Failed(kind, "it went wrong"))
    assert (verdict.passed, verdict.failure, verdict.reason) == (False, kind, "it went wrong")


def test_a_bare_assertion(judge):
    """A plain assert fails without showing its expression."""
    text = '''
    @pytest.mark.exercise("demo.f", group="values", because="b")
    def test_bare(student):
        """Fact."""
        assert student(lambda mg: 1) == 12345
    '''
    (verdict,), _ = judge(text)
    assert verdict.reason == "the fact does not hold"


def test_an_answer_of_an_unusable_form(judge):
    """An answer that breaks the test's own code costs the student's point, with a reason."""
    text = '''
    @pytest.mark.exercise("demo.f", group="values", because="b")
    def test_len(student):
        """Fact."""
        assert len(student(lambda mg: 1)) == 2
    '''
    (verdict,), _ = judge(text)
    assert verdict.failure == "unusable" and "TypeError" in verdict.reason


def test_parameters_are_not_shown(judge):
    """A parametrised test's cases are numbered; its parameters, which hold wanted values, appear nowhere."""
    text = '''
    @pytest.mark.exercise("demo.f", group="values", because="b")
    @pytest.mark.parametrize(("x", "wanted"), [(1.0, 4711.0), (2.0, 4712.0)])
    def test_cases(student, x, wanted):
        """f is big."""
        expect(student(lambda mg, x: x, x), wanted)
    '''
    verdicts, _ = judge(text, lambda x: x)
    assert [(v.test, v.title) for v in verdicts] == [
        ("test_cases[1]", "f is big. [1]"),
        ("test_cases[2]", "f is big. [2]"),
    ]
    assert "471" not in repr(verdicts)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (float("nan"), float("nan"), True),
        (1, 1.0, False),
        (0.0, -0.0, True),
        ([1, float("nan")], [1, float("nan")], True),
        ([1], [1, 2], False),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"b": 1}, False),
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([1.0]), np.array([1]), False),
        (np.array([1.0]), np.array([2.0]), False),
        ("a", "b", False),
    ],
)
def test_same(one, other, alike):
    """Two answers are the same if their types and values are; nan is the same as nan."""
    assert same(one, other) is alike


def test_asking_twice():
    """Answers that differ between two equal questions are refused; nan does not differ from nan."""
    answers = iter([1, 2, float("nan"), float("nan")])
    student = Student(FakeSession(lambda: next(answers)), pack)
    with pytest.raises(StudentFailure, match="differs from one call to the next"):
        student(lambda mg: 0, twice=True)
    assert student(lambda mg: 0, twice=True) != 0


PROPERTY = '''
@pytest.mark.exercise("demo.f", group="values", because="b")
@given(st.integers(-1000, 1000))
def test_property(student, n):
    """f keeps numbers."""
    expect(student(lambda mg, n: n, n), n, misconception="loses-numbers")
'''


def test_property_tests_follow_the_seed(judge):
    """The examples depend on the course's seed and on nothing else."""
    runs = [judge(PROPERTY, lambda n: n, seed=seed)[1].asked for seed in (3, 3, 4)]
    assert runs[0] == runs[1] != runs[2]
    assert len(runs[0]) == 30


def test_property_tests_shrink(judge):
    """A failed property test reports its smallest counter-example."""
    (verdict,), _ = judge(PROPERTY, lambda n: n if n < 10 else n + 5)
    assert verdict.misconception == "loses-numbers" and "15" in verdict.reason


def test_a_timeout_ends_shrinking(judge):
    """After one timeout nothing is asked again."""
    (verdict,), session = judge(PROPERTY, lambda n: Failed("timeout", "too slow") if n > 0 else n)
    assert verdict.failure == "timeout"
    assert sum(n > 0 for (n,) in session.asked) == 1


def test_shrinking_has_a_time_limit(judge):
    """Shrinking ends after its time, and the failure that was found is reported."""
    (verdict,), session = judge(PROPERTY, lambda n: n if n < 10 else n + 5, shrink=0.0)
    assert verdict.misconception == "loses-numbers"
    assert sum(n >= 10 for (n,) in session.asked) == 1


def test_flaky_answers_in_a_property_test(judge):
    """A property test whose failure does not come back names the reason."""
    count = iter(range(10_000))
    (verdict,), _ = judge(PROPERTY, lambda n: n + (next(count) == 7))
    assert verdict.failure == "unstable" and "differs" in verdict.reason


MARK = '@pytest.mark.exercise("demo.f", group="values", because="b")\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('def test_x(student):\n    """F."""\n', "no single @pytest.mark.exercise"),
        ('@pytest.mark.exercise("demo.zzz", group="a", because="b")\ndef test_x(student):\n    """F."""\n', "demo.zzz"),
        ('@pytest.mark.exercise("demo.f", group="no", because="b")\ndef test_x(student):\n    """F."""\n', "groups"),
        ('@pytest.mark.exercise("demo.f", group="values")\ndef test_x(student):\n    """F."""\n', "because"),
        (f"{MARK}def test_x(student):\n    pass\n", "docstring"),
        (f'{MARK}def test_x(student):\n    """F."""\n    pytest.skip("no")\n', "skipped"),
        (f'{MARK}@pytest.mark.xfail\ndef test_x(student):\n    """F."""\n    assert 0\n', "marked xfail"),
        (f'{MARK}def test_x(student):\n    """F."""\n    1 / 0\n', "ZeroDivisionError"),
        (f'{MARK}def test_x(nothing):\n    """F."""\n', "setup failed"),
        (f'{MARK}def test_x(student):\n    """F."""\n    student(int)\n', "cannot be shipped"),
        ("def broken(:\n", "cannot be loaded"),
    ],
)
def test_faults_of_hidden_tests(tmp_path, text, words):
    """A hidden test without what a report needs, or with an error of its own, is refused with its name."""
    head = 'import pytest\n# "demo.f"\n'
    (tmp_path / "test_demo.py").write_text(head + text)

    def refuse(function):
        if function is int:
            raise ValueError("it has no source")
        return b""

    plugin = HiddenTests("demo.f", GROUPS, FakeSession(lambda: 0), refuse, 1)
    with pytest.raises(HiddenTestError, match=words) as caught:
        run_hidden_tests(plugin, tmp_path)
    assert "test_demo.py" in str(caught.value)


def test_a_failing_sandbox_is_not_a_zero(judge):
    """What the sandbox raises is raised, whatever the test does with it."""

    class SandboxGone(Exception):
        pass

    def gone(n):
        raise SandboxGone("no process")

    for text in (VALUES, PROPERTY):
        with pytest.raises(SandboxGone):
            judge(text, gone)


@pytest.mark.parametrize("statement", ["missing_name + answer", "import no_such_module"])
def test_a_name_that_the_test_lacks(judge, statement):
    """A hidden test that uses a name or module which does not exist is at fault, also after an answer came."""
    text = f'''
    @pytest.mark.exercise("demo.f", group="values", because="b")
    def test_broken(student):
        """Fact."""
        answer = student(lambda mg: 1)
        {statement}
    '''
    with pytest.raises(HiddenTestError, match=r"NameError|ModuleNotFoundError"):
        judge(text)


def test_an_id_in_single_quotes(tmp_path):
    """A hidden test is found whichever quotes its exercise's id stands in."""
    text = "import pytest\nfrom autograder import expect\n" + VALUES.replace('"demo.f"', "'demo.f'")
    (tmp_path / "test_demo.py").write_text(text)
    (verdict,) = run_hidden_tests(HiddenTests("demo.f", GROUPS, FakeSession(lambda x: x + 1), pack, 1), tmp_path)
    assert verdict.passed


def test_no_tests(tmp_path):
    """An exercise that no file mentions is a fault of the grader."""
    plugin = HiddenTests("demo.f", GROUPS, FakeSession(lambda: 0), pack, 1)
    with pytest.raises(HiddenTestError, match=r"no hidden test grades demo\.f"):
        run_hidden_tests(plugin, tmp_path)


def test_collecting_runs_nothing(tmp_path):
    """Without a session every test is described and none runs."""
    (tmp_path / "test_demo.py").write_text("import pytest\nfrom autograder import expect\n" + VALUES)
    plugin = HiddenTests(None, GROUPS, None, pack, 1)
    assert run_hidden_tests(plugin, tmp_path) == []
    assert [(exercise, verdict.test) for exercise, verdict in plugin.collected] == [
        ("demo.f", "test_one"),
        ("demo.g", "test_other"),
    ]


def test_an_edited_file_is_read_again_and_nothing_is_left(judge, tmp_path):
    """A later run sees an edited test; no bytecode, cache or module stays, and settings are put back."""
    before = hypothesis.settings.get_current_profile_name()
    assert judge(VALUES, lambda x: x + 1)[0][0].passed
    assert not judge(VALUES.replace("2.0", "3.0"), lambda x: x + 1)[0][0].passed
    assert [path.name for path in tmp_path.iterdir()] == ["test_demo.py"]
    assert str(tmp_path / "test_demo.py") not in {getattr(module, "__file__", None) for module in sys.modules.values()}
    assert hypothesis.settings.get_current_profile_name() == before


def test_an_interrupt_is_passed_on(judge):
    """Ctrl-C ends the run and the caller hears of it."""

    def interrupt(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge(VALUES, interrupt)
