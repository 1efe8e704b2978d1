"""Visible checks: how values are compared, how a test is run on a student's code, and what the student sees."""

import contextlib
import gc
import linecache
import math
import random
import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import minigrad
from minigrad import Scalar, autodiff, exercises, functions, operators
from minigrad.checks import CheckReport, CheckResult, Expectation, check, expect, runner, standins, visible
from minigrad.checks.expectation import NO_RETURN, expect_that, hinting
from minigrad.errors import ExerciseNotDone, UnknownExercise
from minigrad.exercises import syllabus
from minigrad.machine import packages

HUGE = 10**5000  # more digits than Python writes


def kind(value):
    """Name a parameter whose repr may be impossible."""
    return type(value).__name__


# --- expect -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "wanted"),
    [
        (1.0, 1.0),
        (1.0 + 1e-10, 1.0),
        (1e12 + 1.0, 1e12),
        (3, 3.0),
        (np.float64(0.5), 0.5),
        (-0.0, 0.0),
        (math.inf, math.inf),
        (math.nan, math.nan),
        (3, 3),
        (HUGE, HUGE),
        ("a", "a"),
        (None, None),
        (True, True),
        ([1.0, (2.0, 3)], (1.0, [2.0, 3])),
        ((), []),
        ({"a": [1.0 + 1e-10], "b": None}, {"b": None, "a": (1.0,)}),
    ],
    ids=kind,
)
def test_values_that_agree(seen, wanted):
    """Floats within the tolerance, nan with nan, lists with tuples, dictionaries in any order."""
    assert expect(seen, wanted) is None


@pytest.mark.parametrize(
    ("seen", "wanted"),
    [
        (1.0 + 1e-8, 1.0),
        (1.0, math.nan),
        (math.nan, 1.0),
        (math.inf, 1.0),
        (1e308, math.inf),
        (-math.inf, math.inf),
        (True, 1.0),
        (1.0, True),
        (True, 1),
        (1, True),
        (3.0, 3),
        (HUGE, 1.0),
        (1.0, HUGE),
        (HUGE, HUGE + 1),
        ("1.0", 1.0),
        (None, 0.0),
        (0.0, None),
        (None, False),
        ([1.0], 1.0),
        (1.0, [1.0]),
        ([1.0, 2.0], [1.0]),
        ([], [1.0]),
        ([[1.0], [2.0]], [[1.0], [3.0]]),
        ({"a": 1.0}, {"a": 2.0}),
        ({"a": 1.0, "b": 2.0}, {"a": 1.0}),
        ([("a", 1.0)], {"a": 1.0}),
        (Scalar(1.0), 1.0),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
        (1.0 + 0j, 1.0),
    ],
    ids=kind,
)
@pytest.mark.parametrize("secret", [False, True])
def test_values_that_do_not_agree(seen, wanted, secret):
    """Types count but for lists and tuples; a bool is no number; no value breaks the comparison."""
    with pytest.raises(Expectation) as caught:
        expect(seen, wanted, secret=secret)
    assert caught.value.seen is seen
    assert caught.value.wanted is wanted
    assert ("expected" in caught.value.reason) != secret


def test_the_tolerance_is_absolute_near_zero_and_relative_elsewhere():
    """tolerance * max(1, |wanted|)."""
    expect(0.009, 0.0, tolerance=0.01)
    expect(1009.0, 1000.0, tolerance=0.01)
    for seen, wanted in ((0.011, 0.0), (1011.0, 1000.0)):
        with pytest.raises(Expectation):
            expect(seen, wanted, tolerance=0.01)


@pytest.mark.parametrize(
    ("seen", "wanted", "reason"),
    [
        (2.0, 1.0, "got 2.0, expected 1.0"),
        ([1.0, 3.0], [1.0, 2.0], "got 3.0 as the second value, expected 2.0"),
        ([*range(12), 3.0], [*range(12), 2.0], "got 3.0 as value number 13, expected 2.0"),
        ([[1], [2, 3]], [[1], [2, 4]], "got 3 in the second value, at index 1, expected 4"),
        ([[1], [[2, 3]]], [[1], [[2, 4]]], "got 3 in the second value, at index [0][1], expected 4"),
        ([[1], [2, 3]], [[1], [2]], "got [2, 3] as the second value (length 2), expected [2]"),
        ({"a": [0.0, 5]}, {"a": [0.0, 6]}, "got 5 at index ['a'][1], expected 6"),
        ([1.0], [1.0, 2.0], "got [1.0] (length 1), expected [1.0, 2.0]"),
    ],
)
def test_the_reason_points_at_the_first_difference(seen, wanted, reason):
    """The place inside lists and dictionaries is named."""
    with pytest.raises(Expectation) as caught:
        expect(seen, wanted)
    assert (caught.value.reason, str(caught.value)) == (reason, reason)


@pytest.mark.parametrize(
    ("place", "words"),
    [((), "got 3, expected 4"), (("[1]",), "got 3 at index 1 of the result, expected 4"),
     (("[0, 2]",), "got 3 at index 0, 2 of the result, expected 4"),
     (("[1]", "[0]"), "got 3 at index [1][0] of the result, expected 4")],
)  # fmt: skip
def test_the_place_in_the_result_of_a_call(place, words):
    """Where the report names the call, the reason says where in its result."""
    with pytest.raises(Expectation) as caught:
        expect([[1], [3]], [[1], [4]])
    assert caught.value.of_result(place) == words


def test_a_secret_is_never_in_the_message():
    """With secret=True neither the reason nor the message holds the wanted value, at any place."""
    for seen, wanted in ((1.0, 4711.25), ([1.0, 0.0], [1.0, 4711.25]), ({"a": 1.0}, {"a": 4711.25}), ([], [4711.25])):
        with pytest.raises(Expectation) as caught:
            expect(seen, wanted, secret=True, hint="think")
        assert "4711" not in caught.value.reason + str(caught.value)


def test_long_values_and_values_without_repr_are_shortened():
    """A message stays short, and survives whatever repr does."""

    class Evil:
        """Cannot be shown."""

        def __repr__(self):
            raise RuntimeError

    for seen in ("x" * 10_000, [0.0] * 10_000, HUGE, [Evil()]):
        with pytest.raises(Expectation) as caught:
            expect(seen, 1.0)
        assert len(caught.value.reason) < 200
    assert "<list, whose repr raises RuntimeError>" in caught.value.reason


@pytest.mark.parametrize(
    ("seen", "misconception", "hint"),
    [
        (60.0 + 1e-10, "general", "sixty"),
        (30, "overwritten", "thirty"),
        (7.0, "general", "think"),
        ("no", "general", "a word"),
    ],
)
def test_the_hint_fits_what_was_seen(seen, misconception, hint):
    """`when` gives known wrong values their own hint, and a misconception where it is a pair."""
    when = {60.0: "sixty", 30.0: ("overwritten", "thirty"), "no": "a word"}
    with pytest.raises(Expectation) as caught:
        expect(seen, 120.0, hint="think", misconception="general", when=when)
    assert (caught.value.misconception, caught.value.hint) == (misconception, hint)
    assert str(caught.value).endswith(f". {hint}")


# --- running a test --------------------------------------------------------------------------------------------

ID = "derivatives.gradient"


def report_of(monkeypatch, *tests, **namespace):
    """Run visible tests on a namespace that defines `gradient`."""
    monkeypatch.setattr(runner, "_tests_of", lambda id: [(test, "01 'Slope'") for test in tests])
    return runner.run(ID, {"gradient": lambda f, *vals, epsilon=1e-6: [], **namespace})


def student_code(source, name="<cell 7>"):
    """Define a student's function as a notebook does: from a text that tracebacks can find."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"random": random}
    exec(compile(source, name, "exec"), namespace)
    return namespace["gradient"]


def test_a_passing_test(monkeypatch):
    """The docstring's first line is the title, and the student's object is an argument."""

    def right(student):
        """It lists nothing.

        More words.
        """
        expect(student.gradient(None), [])

    report = report_of(monkeypatch, right)
    assert report.results == (CheckResult("It lists nothing.", True, section="01 'Slope'"),)
    assert report.passed
    assert report.earned == report.points == exercises.get(ID).points


def test_the_students_object_is_in_the_library_meanwhile(monkeypatch):
    """While the test runs the library calls the student's object; afterwards its own."""
    seen = []

    def test(student):
        """It is installed."""
        seen.append(minigrad.derivatives.gradient(None))

    report_of(monkeypatch, test)
    assert seen == [[]]
    assert minigrad.derivatives.gradient(lambda x: x, 1.0) == pytest.approx([1.0])


def test_a_failed_expectation(monkeypatch):
    """Reason and hint are the expectation's."""

    def wrong(student):
        """It lists one number."""
        expect(student.gradient(None), [1.0], hint="one for each argument")

    (result,) = report_of(monkeypatch, wrong).results
    assert (result.passed, result.hint) == (False, "one for each argument")
    assert result.reason == "got [] (length 0), expected [1.0]"


@pytest.mark.parametrize(
    ("seen", "wanted", "reason"),
    [
        (np.zeros((2, 0)), np.zeros((2, 0)), None),
        (np.array([1.0, np.nan]), np.array([1.0 + 1e-12, np.nan]), None),
        (np.array(0.1, dtype=np.float32), np.array(0.1 + 3e-8, dtype=np.float32), None),
        (np.arange(4.0).reshape(2, 2).T, np.array([[0.0, 2.0], [1.0, 3.0]]), None),
        ([np.array([True, False])], [np.array([True, True])], "got False at [0][1]"),
        (np.array([[1, 2], [3, 5]]), np.array([[1, 2], [3, 4]]), "got 5 at [1, 1]"),
        (np.array([1.0, 2.0 + 1e-6]), np.array([1.0, 2.0]), "got 2.000001 at [1]"),
        (np.zeros(3), np.zeros((3, 1)), "got array([0., 0., 0.]) (shape (3,))"),
        (np.zeros(1), np.zeros(1, dtype=np.float32), "got array([0.]) (dtype float64)"),
        (np.zeros(1), [0.0], "got array([0.])"),
        (0.0, np.zeros(()), "got 0.0"),
    ],
)
def test_arrays_agree_element_by_element(seen, wanted, reason):
    """Arrays of one shape and dtype are compared number by number, and the place that differs is named."""
    if reason is None:
        expect(seen, wanted)
        return
    with pytest.raises(AssertionError) as caught:
        expect(seen, wanted, secret=True)
    assert caught.value.reason == reason


def call(student):
    """The answer can be called."""
    student.gradient(math.sin, 1.0)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise NotImplementedError()", "not written yet: replace the line `raise NotImplementedError()` by your code"),
        ("return gradient(f)", "gradient calls itself too deeply (RecursionError)"),
        ("return 1 / 0", "raised ZeroDivisionError: division by zero, in your line `return 1 / 0`"),
        ("return random.choice([])", "in your line `return random.choice([])`"),
        ("exit()", "raised SystemExit: None, in your line `exit()`"),
        ("assert False, 'mine'", "raised AssertionError: mine, in your line `assert False, 'mine'`"),
        ("return undefined", "raised NameError: name 'undefined' is not defined, in your line `return undefined`"),
    ],
)
def test_what_the_students_code_raises_is_explained(body, reason, monkeypatch):
    """Each error is one line with the student's own line of code, not a crash of the check."""
    gradient = student_code(f"def gradient(f, *vals):\n    {body}\n")
    (result,) = report_of(monkeypatch, call, gradient=gradient).results
    assert not result.passed
    assert result.reason.endswith(reason)


@pytest.mark.parametrize(
    ("other", "reason", "hint"),
    [
        ("raise NotImplementedError()", "it calls other, which is not written yet", "write other first"),
        ("raise NotImplementedError('Task 1.1')", "it calls other, which is not written yet", "write other first"),
        ("if x > 9: return 1\n    raise NotImplementedError('x')", "raised NotImplementedError: x, in your line", ""),
        ("return library()", "raised NotImplementedError: no such axis, in your line", ""),
    ],
)
def test_an_error_of_a_stub_is_told_by_the_place_that_raised_it(other, reason, hint, monkeypatch):
    """The answer is written: what it calls is not, or refuses by itself."""
    gradient = student_code(f"def other(x):\n    {other}\n\n\ndef gradient(f, *vals):\n    return other(vals[0])\n")

    def library():
        raise NotImplementedError("no such axis")

    gradient.__globals__["library"] = library
    (result,) = report_of(monkeypatch, call, gradient=gradient).results
    assert result.reason.startswith(reason)
    assert result.hint == hint


def test_a_name_that_a_function_assigns_is_its_own(monkeypatch):
    """Python's UnboundLocalError is no misspelt name: the hint says what to do."""
    body = "    total = 0\n    def inner():\n        total = total + 1\n        return total\n    return inner()\n"
    (result,) = report_of(monkeypatch, call, gradient=student_code(f"def gradient(f, *vals):\n{body}")).results
    assert "UnboundLocalError" in result.reason and "use another name" in result.hint


def test_an_error_without_source_names_the_line_number(monkeypatch):
    """Where the text is not known, the number of the line is."""
    gradient = student_code("def gradient(f, *vals):\n    x = 1\n    return x / 0\n", "<gone>")
    del linecache.cache["<gone>"]
    (result,) = report_of(monkeypatch, call, gradient=gradient).results
    assert result.reason == "raised ZeroDivisionError: division by zero, in line 3 of your cell"


def test_an_exercise_that_is_not_done_is_explained(monkeypatch):
    """A cut body that the answer calls names the exercise to do first."""

    def gradient(f, *vals):
        raise ExerciseNotDone("derivatives.central_difference")

    (result,) = report_of(monkeypatch, call, gradient=gradient).results
    assert result.reason.startswith(
        "derivatives.central_difference is not written yet (lesson 01_numerical_derivatives)"
    )


def test_a_loop_without_end_is_stopped(monkeypatch):
    """The time limit ends it, also where it catches Exception; the old alarm handler is back afterwards."""
    monkeypatch.setattr(runner, "SECONDS", 0.3)
    body = "def gradient(f, *vals):\n    while True:\n        try:\n            f(1.0)\n"
    body += "        except Exception:\n            pass\n"
    handler = signal.getsignal(signal.SIGALRM)
    (result,) = report_of(monkeypatch, call, gradient=student_code(body)).results
    assert result.reason.startswith("still running when its time was over")
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.full("kernels are compiled", share=4)
def test_only_work_counts(monkeypatch):
    """A slow test has more time; neither compiling nor waiting, for a while, takes any."""
    monkeypatch.setattr(runner, "SECONDS", 0.3)
    monkeypatch.setattr(runner, "_A_WHILE", 0.01)
    monkeypatch.setattr(runner, "_tests", {})
    monkeypatch.setattr(runner, "_slow", set())
    import numba

    def slow(student):
        """It takes its time."""
        work(0.9)

    def as_slow(student):
        """It takes its time, and is not registered as slow."""
        work(0.9)

    def compiling(student):
        """It compiles a function, with a stride of its own so that nothing is kept of it, and does little else."""
        for number in range(6):
            numba.njit(eval(f"lambda x: x + {number}"))(2.0)
        work(0.05)

    def compiling_and_slow(student):
        """It compiles a function and goes on."""
        numba.njit(lambda x: x + 1.0)(2.0)
        work(1.5)

    def waiting(student):
        """It waits for a processor, or as if for one."""
        time.sleep(0.3)

    def waiting_for_ever(student):
        """It waits for nothing."""
        time.sleep(60.0)

    visible(ID, section="s", slow=True)(slow)
    tests = (slow, compiling, waiting)
    assert [result.passed for result in report_of(monkeypatch, *tests).results] == [True, True, True]
    for test in (as_slow, compiling_and_slow, waiting_for_ever):
        assert report_of(monkeypatch, test).results[0].reason == runner.ENDLESS


def test_it_is_said_once_that_kernels_are_compiled(monkeypatch):
    """Compiling counts for nothing, and whoever waits for it reads so; no other check says it."""
    monkeypatch.setattr(runner, "_A_WHILE", 0.02)
    monkeypatch.setattr(runner, "SECONDS", 0.05)
    import numba

    said = []
    tell = runner._Once(said.append)
    for _ in range(2):
        with runner._time_limit(0.3, tell):
            for number in range(8):
                numba.njit(eval(f"lambda x: x * {number}"))(2.0)
    with runner._time_limit(0.3, tell):
        work(0.1)
    assert said == [runner.COMPILING]


def test_what_is_compiled_inside_of_something_counts_once():
    """Seconds in which anything was compiled, up to now where it goes on."""
    edges = [(1.0, True), (2.0, True), (3.0, False), (4.0, False), (6.0, True)]
    assert runner._covered(edges, 6.5) == 3.5
    assert runner._covered(edges[:4], 9.0) == 3.0
    assert runner._covered([], 9.0) == 0.0


def test_a_test_that_is_the_first_to_need_the_compiler_has_more_time(monkeypatch):
    """Importing Numba takes its time, as compiling does; no longer than a slow test."""
    monkeypatch.delitem(sys.modules, "numba")
    monkeypatch.setattr(runner, "SLOW_SECONDS", 0.2)
    with runner._compiling() as compiling:
        assert compiling() == 0.0
        monkeypatch.setitem(sys.modules, "numba", None)
        assert 0.0 < compiling() < 0.2
        time.sleep(0.25)
        assert compiling() == 0.2


@pytest.mark.parametrize(
    "id",
    ["cuda_ops.tensor_map", "fast_ops.tensor_map", "fast_ops.tensor_reduce", "fast_ops._tensor_matrix_multiply"],
)
def test_only_the_last_check_of_a_kernel_compiles(id):
    """An endless loop in plain Python is found by a check before that, after the short time."""
    assert [test in runner._slow for test, _ in runner._tests_of(id)][-2:] == [False, True]
    assert sum(test in runner._slow for test, _ in runner._tests_of(id)) == 1


@pytest.mark.parametrize(
    ("dotted", "module"), [("nn.functional.tile", "nn_functional"), ("operators.add", "operators")]
)
def test_the_checks_of_a_module_in_a_package(monkeypatch, dotted, module):
    """Their module is named after the whole path of what they check."""
    asked = []
    known = exercises.catalogue()
    monkeypatch.setattr(syllabus, "catalogue", lambda: {**known, ID: replace(known[ID], objects=(dotted,))})
    monkeypatch.setattr(runner.importlib, "import_module", asked.append)
    monkeypatch.setitem(runner._tests, ID, [])
    assert runner._tests_of(ID) == []
    assert asked == [f"minigrad.checks.{module}"]


def test_a_loop_without_end_is_waited_for_once(monkeypatch):
    """After a test that does not end, the others of the exercise are not run."""
    monkeypatch.setattr(runner, "SECONDS", 0.2)
    gradient = student_code("def gradient(f, *vals):\n    while True:\n        pass\n")
    report = report_of(monkeypatch, call, call, gradient=gradient)
    assert len(report.results) == 1
    assert report.results[0].hint == "The checks after this one were not run."


def test_an_answer_that_is_not_there_has_one_line(monkeypatch):
    """A stub is said once, however many tests there are."""
    gradient = student_code("def gradient(f, *vals):\n    raise NotImplementedError()\n")
    report = report_of(monkeypatch, call, call, gradient=gradient)
    assert [result.title for result in report.results] == ["The answer is written"]
    assert report.earned == 0.0


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ("return undefined", "was the cell with the imports run?"),
        ("return None + 1", "a `return` is missing"),
        ("return [].missing", ""),
    ],
)
def test_errors_worded_for_experts_get_a_hint(body, hint, monkeypatch):
    """A name that is not known, and None where a value belongs, are explained."""
    (result,) = report_of(monkeypatch, call, gradient=student_code(f"def gradient(f, *vals):\n    {body}\n")).results
    assert result.hint.rstrip(".").endswith(hint.rstrip("."))
    assert bool(result.hint) == bool(hint)


def test_a_check_may_know_better_why_a_name_is_missing(monkeypatch):
    """As where it runs a source that the answer has written; `hinting` says what is missing there."""

    def run_source(student):
        """The source can be run."""
        with hinting("the source knows np, and no name inf", NameError):
            exec(student.gradient(), {})

    gradient = student_code("def gradient():\n    return 'inf'\n")
    (result,) = report_of(monkeypatch, run_source, gradient=gradient).results
    assert result.hint == "the source knows np, and no name inf"


def test_what_does_not_hold_is_told_in_a_sentence(monkeypatch):
    """`expect_that` says what was seen, where a False would say nothing."""

    def count(student):
        """It is called once."""
        expect_that(True, "never said", "never said")
        expect_that(student.gradient() == 1, "it was called 2 times", "call it once")

    (result,) = report_of(monkeypatch, count, gradient=student_code("def gradient():\n    return 2\n")).results
    assert (result.passed, result.reason, result.hint) == (False, "it was called 2 times", "call it once")


@pytest.mark.parametrize(
    ("seen", "wanted", "reason"),
    [
        (np.float64(27.0), np.float64(28.0), "got 27.0, expected 28.0"),
        ([(np.int64(1), {np.int64(2): np.bool_(True)})], 5, "got [(1, {2: True})], expected 5"),
        (np.int64(3), 3, "got 3 of type numpy.int64, expected one of type int"),
        (np.int8(-2), -2.0, "got -2 of type numpy.int8, expected one of type float"),
        ([np.float32(5.0)], [5], "got 5.0 of type numpy.float32 as the first value, expected one of type int"),
        (np.int8(-3), -2.0, "got -3, expected -2.0"),
    ],
)
def test_numbers_of_numpy_are_shown_as_numbers(seen, wanted, reason):
    """The name of their type is there only where it is what differs."""
    with pytest.raises(Expectation) as failure:
        expect(seen, wanted)
    assert failure.value.reason == reason


def helped(student):
    """The answer helps itself."""
    student.gradient(math.sin, 1.0)


@pytest.mark.parametrize("body", ["np.linalg.inv(np.zeros((2, 2)))", "minigrad.tensor([1.0]).view(7)", "sum(1, 2)"])
def test_a_line_of_a_library_is_never_called_yours(body, monkeypatch):
    """Whoever raises the error, the line quoted is the student's, also where it was reached through other packages."""
    source = f"def gradient(f, *vals):\n    return {body}\n"
    linecache.cache["<cell 9>"] = (len(source), None, source.splitlines(keepends=True), "<cell 9>")
    namespace = {"np": np, "minigrad": minigrad}
    exec(compile(source, "<cell 9>", "exec"), namespace)
    (result,) = report_of(monkeypatch, helped, **namespace).results
    assert result.reason.endswith(f", in your line `return {body}`")


def test_an_error_outside_of_the_students_text_quotes_no_line(monkeypatch):
    """A package that raises while the test itself calls it is not the student's code."""

    def through_numpy(student):
        """NumPy raises."""
        np.linalg.inv(np.zeros((2, 2)))

    (result,) = report_of(monkeypatch, through_numpy).results
    assert result.reason == "raised LinAlgError: Singular matrix"


def test_a_helper_of_another_cell_is_the_students(monkeypatch):
    """An error in a function of the same notebook is quoted from there."""
    namespace = {}
    for number, source in enumerate(
        ("def half(x):\n    return x / 0\n", "def gradient(f, *v):\n    return half(1.0)\n")
    ):
        name = f"<cell {20 + number}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), namespace)
    (result,) = report_of(monkeypatch, helped, **namespace).results
    assert result.reason.endswith("in your line `return x / 0`")


def test_a_wrong_signature_shows_the_right_one(monkeypatch):
    """The arguments are those of the library's own function; a wrong call by the student is not mistaken for one."""
    (result,) = report_of(monkeypatch, helped, gradient=student_code("def gradient(f):\n    return []\n")).results
    assert "`gradient(f, *vals, epsilon=1e-06)`" in result.hint
    body = "def gradient(f, *vals):\n    def inner(x): return x\n    return inner()\n"
    (result,) = report_of(monkeypatch, helped, gradient=student_code(body)).results
    assert "missing 1 required positional argument" in result.reason
    assert result.hint == ""


def test_the_same_failure_is_shown_once(monkeypatch):
    """A report says how many more checks fail alike, counts them all, and keeps what passes and what differs."""

    def other(student):
        """It is something else."""
        expect(1.0, 2.0)

    def passing(student):
        """It is there."""

    gradient = student_code("def gradient(f, *vals):\n    return undefined\n")
    report = report_of(monkeypatch, call, other, helped, passing, call, gradient=gradient)
    assert len(report.results) == 5
    for text in (str(report), report._repr_html_()):
        assert text.count("raised NameError") == 1
        assert "2 more checks fail for the same reason." in text
        assert "1 of 5 checks pass" in text
        assert "It is something else." in text
        assert "The answer helps itself." not in text
    report = report_of(monkeypatch, call, helped, gradient=gradient)
    assert "1 more check fails for the same reason." in str(report)
    assert "more check" not in str(report_of(monkeypatch, call, other, gradient=gradient))


def test_a_missing_return_is_shown_once(monkeypatch):
    """Also where each check expects another value."""

    def test(wanted):
        def checking(student):
            """A value."""
            expect(student.gradient(None), [wanted])

        return checking

    gradient = student_code("def gradient(f, *vals):\n    pass\n")
    text = str(report_of(monkeypatch, test(1.0), test(2.0), test(3.0), gradient=gradient))
    assert text.count("got None") == 1
    assert "2 more checks fail for the same reason." in text


def test_none_asks_for_a_return():
    """Where None is seen instead of a value, the hint asks for the return statement; a fitting `when` comes first."""
    with pytest.raises(Expectation) as failure:
        expect([1.0, None], [1.0, 2.0], hint="add is x + y", misconception="no-return")
    assert failure.value.hint == "None is what a function gives without a `return`: is one missing?"
    assert failure.value.misconception == "no-return"
    with pytest.raises(Expectation, match="zeroed too early"):
        expect(None, 2.0, when={None: "zeroed too early"})
    with pytest.raises(Expectation, match="pairs are wanted"):
        expect([(None, 1.0)], [("a", 1.0)], hint="pairs are wanted")


def test_none_inside_a_result_asks_for_no_return(monkeypatch):
    """In a list of several calls' results None is what a call gave; in one call's list it was put there."""

    def several(student):
        """Two calls."""
        expect([student.gradient(None, 1.0), student.gradient(None, 2.0)], [1.0, 2.0], hint="its own")

    def one(student):
        """One call."""
        expect(student.gradient(None, 1.0), [1.0], hint="its own")

    for body, test, hint in (("pass", several, NO_RETURN), ("pass", one, NO_RETURN), ("return [None]", one, "its own")):
        gradient = student_code(f"def gradient(f, *vals):\n    {body}\n")
        assert report_of(monkeypatch, test, gradient=gradient).results[0].hint == hint


def test_a_view_that_was_permuted_before_needs_its_strides():
    """An answer that gives the new shape alone, row by row, does not pass that check."""
    text = "from minigrad.tensor_data import TensorData\ndef permute(data, *order):\n"
    names = {"__name__": "__main__"}
    exec(text + "    return TensorData(data.storage, tuple(data.shape[i] for i in order))", names)
    (twice,) = [each for each in runner.run("tensor_data.permute", names).results if "permuted before" in each.title]
    assert not twice.passed


def test_sigmoid_far_below_is_compared_as_it_is():
    """The report shows the value of the call that it names, and e^-40."""
    names = {"__name__": "__main__"}
    exec("import math\ndef sigmoid(x):\n    return 1.0 - 1.0 / (1.0 + math.exp(x))", names)
    check = next(test for test, _ in runner._tests_of("operators.elementary") if "keeps_its_digits" in test.__name__)
    with pytest.raises(Expectation, match=r"got 0\.0, expected 4\.2"):
        check(SimpleNamespace(sigmoid=names["sigmoid"]))


def test_a_parameters_own_name_is_no_name(root):
    """The checks of `named_parameters` know the mistake: no `return` is missing there."""
    wrong = (root / "course" / "wrong" / "module.Module" / "names-from-the-parameter.py").read_text()
    names = {"__name__": "__main__"}
    text = f"from __future__ import annotations\nfrom minigrad.module import Parameter\n{wrong}"
    exec(compile(text, "<cell 8>", "exec"), names)
    hints = [result.hint for result in runner.run("module.Module", names).results if not result.passed]
    assert hints and all("own name is for printing" in hint for hint in hints)


def test_checks_work_in_a_thread(monkeypatch):
    """Where there can be no alarm, a test runs without a time limit."""
    reports = []
    thread = threading.Thread(target=lambda: reports.append(report_of(monkeypatch, call)))
    thread.start()
    thread.join()
    assert reports[0].passed


def test_what_the_student_prints_is_swallowed(monkeypatch, capsys):
    """Neither stream of the student's code reaches the notebook, where anything on stderr would cost points."""

    def gradient(f, *vals):
        print("debugging")
        print("to stderr", file=sys.stderr)
        return []

    assert report_of(monkeypatch, call, gradient=gradient).passed
    assert capsys.readouterr() == ("", "")


def test_an_interrupt_by_the_user_is_not_swallowed(monkeypatch):
    """The stop button of the notebook stops the check, and the library is as it was."""

    def gradient(f, *vals):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        report_of(monkeypatch, call, gradient=gradient)
    assert Scalar.__mul__.__module__ == "minigrad.quick.scalar"


@pytest.mark.parametrize("namespace", [{}, {"gradient": minigrad.derivatives.gradient}])
def test_an_answer_that_is_not_there(namespace):
    """Nothing defined, or the library's own imported: 0 points and what to do."""
    report = runner.run(ID, namespace)
    assert report.earned == 0.0
    assert report.results[0].reason == "gradient must be defined in this notebook: run the cell above first"
    assert report.results[0].title == "All that the exercise asks for is defined"


@pytest.mark.parametrize(("id", "name", "value"), [(ID, "gradient", 3), ("module.Module", "Module", lambda: None)])
def test_an_answer_of_the_wrong_kind(id, name, value):
    """A number for a function, a function for a class: 0 points, in words."""
    report = runner.run(id, {name: value})
    assert (report.earned, report.results[0].title) == (0.0, "The answer is of the right kind")
    assert "the object given for it is of type" in report.results[0].reason


def test_check_reads_the_callers_namespace(monkeypatch, capsys):
    """check(id) finds the answer in its caller's globals, prints the report outside Jupyter, and returns it."""
    monkeypatch.setattr(runner, "_tests_of", lambda id: [(call, "01")])
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    namespace = {"check": check}
    exec(f"def gradient(f, *vals): return []\nreport = check({ID!r})", namespace)
    assert namespace["report"].passed
    said = capsys.readouterr().out
    assert said.startswith(f"{ID}: all 1 checks pass\n  ✓ The answer can be called.\nNot looked at here: ")
    with pytest.raises(UnknownExercise, match="did you mean"):
        check("derivatives.gradent")


def test_a_limit_that_falls_into_a_finalizer_is_kept():
    """What is raised while an object ends is lost: the test is stopped right after that."""

    class Ending:
        def __del__(self):
            end = time.perf_counter() + 0.2
            while time.perf_counter() < end:
                pass

    def endless(end):
        Ending()
        while time.perf_counter() < end:
            pass

    with pytest.raises(runner._TooSlow), runner._time_limit(0.05):
        endless(time.perf_counter() + 20.0)


def test_a_limit_that_falls_into_the_collection_of_garbage_is_kept():
    """What is raised in a callback of the collector, as libraries have them, is lost: the test is stopped after it."""
    phases = []

    def slow(phase, info):
        wait(0.1)
        phases.append(phase)

    def endless():
        gc.collect()
        wait(20.0)

    gc.callbacks.append(slow)
    try:
        with pytest.raises(runner._TooSlow), runner._time_limit(0.05):
            endless()
    finally:
        gc.callbacks.remove(slow)
    assert phases[:2] == ["start", "stop"]


def test_a_limit_that_is_lost_comes_again(monkeypatch):
    """Wherever what is raised gets lost, it is raised once more, until the test has ended; nothing is said of it."""
    monkeypatch.setattr(runner, "_finalizes", lambda frame: False)

    class Ending:
        def __del__(self):
            wait(0.1)

    def endless():
        Ending()
        wait(20.0)

    with pytest.raises(runner._TooSlow), runner._time_limit(0.05):
        endless()


def test_a_limit_does_not_cut_off_what_tidies_up():
    """What is raised is on its way then: to put things back may take longer than to the next ring."""
    done = []

    @contextmanager
    def tidied():
        try:
            yield
        finally:
            with contextlib.suppress(ValueError):
                raise ValueError
            wait(0.1)
            done.append(True)

    with pytest.raises(runner._TooSlow), runner._time_limit(0.05), tidied():
        wait(20.0)
    assert done


def wait(seconds):
    """Keep Python busy."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def test_visible_registers_in_order(monkeypatch):
    """The decorator returns the test unchanged and keeps the order."""
    monkeypatch.setattr(runner, "_tests", {})

    def one(student):
        """One."""

    def two(student):
        """Two."""

    assert visible("x", section="s")(one) is one
    visible("x", section="t")(two)
    assert runner._tests == {"x": [(one, "s"), (two, "t")]}


# --- the report -------------------------------------------------------------------------------------------------

MIXED = CheckReport(
    ID,
    2.0,
    (
        CheckResult("It <b>works</b>", True, section="01 'Slope'"),
        CheckResult("It & <i>more</i>", False, "got '<script>'", 'say "hi"', "01 <Slope>"),
        CheckResult("Bare", False, "no hint"),
    ),
)


def test_the_report_is_a_number_to_nbgrader():
    """repr is the share of the points, which nbgrader takes as partial credit."""
    assert repr(MIXED) == "0.67"
    assert float(repr(CheckReport(ID, 3.0, MIXED.results[:1]))) == 3.0
    assert float(repr(CheckReport(ID, 3.0, MIXED.results[2:]))) == 0.0
    assert not MIXED.passed


def test_the_report_as_text():
    """One line for each test; reason, hint and section below those that fail."""
    assert str(MIXED).splitlines() == [
        f"{ID}: 1 of 3 checks pass",
        "  ✓ It <b>works</b>",
        "  ✗ It & <i>more</i>",
        "      got '<script>'",
        '      Hint: say "hi"',
        "      Read again: lesson 01 <Slope>",
        "  ✗ Bare",
        "      no hint",
    ]


def test_what_an_answer_prints_is_shown(monkeypatch):
    """The end of it, below the report; the tests are judged as without it."""

    def printing(f, *vals, epsilon=1e-6):
        for number in range(50):
            print(f"<line {number}>")
        print("x" * 100_000, end="")
        print("\nlast")
        return []

    report = report_of(monkeypatch, call, call, gradient=printing)
    assert len(report.printed) <= 2000
    assert report.printed.endswith("xxx\nlast\n")
    lines = str(report).splitlines()
    assert "Your code printed, at the end:" in lines
    assert "  last" in lines
    silent = report_of(monkeypatch, call)
    assert (silent.printed, "printed" in str(silent), "printed" in silent._repr_html_()) == ("", False, False)


def test_of_many_lines_the_last_are_shown(monkeypatch):
    """Twenty of them, as text, in a notebook too."""

    def printing(f, *vals, epsilon=1e-6):
        for number in range(50):
            print(f"<b>{number}")
        return []

    report = report_of(monkeypatch, call, gradient=printing)
    assert report.printed.splitlines() == [f"<b>{number}" for number in range(30, 50)]
    assert "<pre>&lt;b&gt;30\n" in report._repr_html_()


@pytest.mark.parametrize(("there", "said"), [(True, "minigrad grade"), (False, "when the notebook is graded")])
def test_a_green_report_says_where_the_hidden_tests_are(monkeypatch, there, said):
    """Alone one runs them; in a class they run when the notebook is graded."""
    monkeypatch.setattr(packages, "has_grader", lambda: there)
    green = CheckReport("autodiff.chain_rule", 5.0, (CheckResult("It works.", True),))
    assert said in green._repr_html_()


def test_the_report_as_html_is_escaped():
    """Whatever a student's value looks like, it is shown as text."""
    html = MIXED._repr_html_()
    for raw, shown in (
        ("<b>works</b>", "It &lt;b&gt;works&lt;/b&gt;"),
        ("<script>", "got &#x27;&lt;script&gt;&#x27;"),
        ('"hi"', "say &quot;hi&quot;"),
        ("<Slope>", "lesson 01 &lt;Slope&gt;"),
        ("<i>", "It &amp; &lt;i&gt;more&lt;/i&gt;"),
    ):
        assert raw not in html
        assert shown in html
    assert "1 of 3 checks pass" in html
    assert html.count("<li") == html.count("</li>") == 3
    assert "Hidden tests look closer" not in html
    assert "Hidden tests look closer" in CheckReport(ID, 2.0, MIXED.results[:1])._repr_html_()


BROKEN, WHOLE = f"# exercise: {ID}\ndef gradient(f, *vals:\n    return []", f"# exercise: {ID}\ndef gradient(f): ..."


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (
            [WHOLE, BROKEN, "check(...)"],
            "Python cannot read the cell as it was run last: '(' was never closed in line",
        ),
        (
            [f"{WHOLE}\nx = {'+'.join(['1'] * 300_000)}"],
            "Python cannot read the cell as it was run last: it nests too deeply",
        ),
        ([f"{WHOLE}\nx = {'-' * 100_000}1"], "Python cannot read the cell as it was run last: it nests too deeply"),
        ([WHOLE, f"{WHOLE}\0"], "Python cannot read the cell as it was run last: source code string cannot contain"),
        ([BROKEN, WHOLE, "check(...)"], None),
        ([BROKEN.replace(ID, "operators.folds")], None),
        (["", None, "x ="], None),
        (5, None),
    ],
)
def test_an_answer_whose_cell_cannot_be_read(texts, reason, monkeypatch):
    """It is not judged by the function of an earlier run of that cell; another cell's text means nothing."""
    monkeypatch.setattr(runner, "_tests_of", lambda id: [(call, "01")])
    namespace = {"check": check, "In": texts}
    exec(f"def gradient(f, *vals): return []\nreport = check({ID!r})", namespace)
    (result,) = namespace["report"].results
    assert result.passed == (reason is None)
    assert result.reason.startswith(reason or "")


def test_what_python_writes_is_not_the_students():
    """Dataclasses come from a text called "<string>", as does an answer that no cell has: they are no calls."""
    names = {"__name__": "__main__"}
    exec("def topological_sort(variable):\n    return [variable, variable]", names)
    calls = [result.call for result in runner.run("autodiff.topological_sort", names).results]
    assert calls[0] == "topological_sort(z), with z made of a, a made of x"


def test_no_exercise_is_named(monkeypatch):
    """`check()` says what to give, `hint()` which exercise is next."""
    with pytest.raises(UnknownExercise, match=r'^which exercise\? Give its id, for example "autodiff.chain_rule"$'):
        check()
    with pytest.raises(UnknownExercise, match=r'^which exercise\? The next one is [\w.]+: write hint\("[\w.]+"\)$'):
        minigrad.hint()


# --- stand-ins and the checks of the course -----------------------------------------------------------------------


def test_standins_speak_the_protocol():
    """Leaves, constants and results behave like Scalars with derivatives written as numbers."""
    x, k = standins.leaf("x"), standins.constant("k")
    y = standins.result("y", (x, 2.0), (k, 3.0))
    assert (x.is_leaf(), k.is_leaf(), y.is_leaf()) == (True, False, False)
    assert (x.is_constant(), k.is_constant(), y.is_constant()) == (False, True, False)
    assert (list(y.parents), list(x.parents), list(k.parents)) == ([x, k], [], [])
    assert [(p.name, d) for p, d in y.chain_rule(5.0)] == [("x", 10.0)]
    assert y.received == [5.0]
    x.accumulate_derivative(1.0)
    x.accumulate_derivative(2.0)
    assert (x.derivative, repr(x)) == (3.0, "x")
    assert len({x.unique_id, k.unique_id, y.unique_id}) == 3
    autodiff.backpropagate(y, 1.0)
    assert x.derivative == 5.0


def test_standins_of_one_value():
    """Those that are made alike are equal and yet two, as Scalars of one value are."""
    x = standins.leaf("x")
    a, b = (standins.result(name, (x, 1.0), is_alike=True) for name in "ab")
    assert (a == b, b in [a], b in {a}, a == standins.result("c", (x, 1.0))) == (True, True, False, False)
    first, second = Scalar(2.0), Scalar(2.0)
    assert (bool(first == second), second in [first], second in {first}) == (True, True, False)


def rewritten(name):
    """Return the library's object as a student would define it: the same source, in a notebook's namespace."""
    import inspect
    import textwrap

    module_name, _, attribute = name.rpartition(".")
    library = {"autodiff": autodiff, "functions": functions, "operators": operators}.get(module_name)
    library = library or __import__(f"minigrad.{module_name}", fromlist=["x"])
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(getattr(library, attribute))))
    source = source[source.index("class ") if source.startswith("class ") else source.index("def ") :]
    namespace = {**vars(library), "__name__": "__main__"}
    text = f"from __future__ import annotations\n{source}"
    linecache.cache[f"<{name}>"] = (len(text), None, text.splitlines(keepends=True), f"<{name}>")  # as in a notebook
    exec(compile(text, f"<{name}>", "exec"), namespace)
    return attribute, namespace[attribute]


@pytest.mark.full("right answers; the lessons run them every time", share=64)
@pytest.mark.parametrize("id", list(exercises.catalogue()))
def test_the_reference_passes_every_visible_check(id):
    """The library's own text passes in a notebook: in a second of the processor, unless a compiler is at work."""
    namespace = dict(rewritten(name) for name in exercises.get(id).objects)
    gc.collect()
    gc.freeze()  # the objects of all other tests are no part of what a check costs
    start = time.process_time()
    report = runner.run(id, namespace)
    seconds = time.process_time() - start
    gc.unfreeze()
    assert seconds < 1.0 or exercises.get(id).uses
    assert [(r.title, r.reason) for r in report.results if not r.passed] == []
    assert report.results
    assert report.earned == report.points
    assert all(r.title.endswith(".") or r.title for r in report.results)


@pytest.mark.full("the answer to each exercise is taken away", share=16)
@pytest.mark.parametrize("id", list(exercises.catalogue()))
def test_answers_that_do_nothing_earn_nothing(id):
    """A stub, None and a returned argument fail at least one visible check, and a stub earns 0."""
    names = [name.rpartition(".")[2] for name in exercises.get(id).objects]
    if any(name[0].isupper() for name in names):
        return

    def stub(*args, **kwargs):
        raise NotImplementedError

    report = runner.run(id, dict.fromkeys(names, stub))
    assert report.earned == 0.0
    assert report.results[0].reason.startswith("not written yet")
    for answer in (lambda *args, **kwargs: None, lambda *args, **kwargs: args[0] if args else None):
        answers = dict.fromkeys(names, answer)
        assert not runner.run(id, answers).passed
