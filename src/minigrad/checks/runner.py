"""Runs the visible tests of an exercise on the objects that a notebook has defined."""

from __future__ import annotations

import copy
import gc
import importlib
import io
import os
import random
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from types import FrameType, SimpleNamespace
from typing import Any

from minigrad import exercises
from minigrad.checks.calls import Call, call_of
from minigrad.checks.expectation import NO_RETURN, Expectation
from minigrad.checks.explaining import NOT_WRITTEN, Answer
from minigrad.checks.observed import Observed
from minigrad.checks.report import as_html, as_text
from minigrad.errors import ExerciseNotDone, MinigradError, MissingPackage
from minigrad.exercises import syllabus
from minigrad.exercises.marker import exercise_of
from minigrad.exercises.telling import told
from minigrad.tutor import hints, progressing

__all__ = ["NOT_WRITTEN", "CheckReport", "CheckResult", "check", "run", "visible"]

SECONDS = 5.0  # of work, after which a test is stopped: a loop that does not end must not freeze the notebook
SLOW_SECONDS = 30.0  # the same where a count of steps takes its own time
MOST = 4  # times as long a test may take that waits: for a processor, on a busy machine, or for nothing
COMPILING = "compiling your kernels; this counts for no limit of time"
_SOON = 0.01  # seconds after which a test is stopped that could not be stopped just now
_A_WHILE = 2.0  # seconds of compiling after which it is said
_AGAIN = 2.0  # seconds of work up to which a failing test runs once more, so that its calls are seen

_KERNELS = frozenset({"ipykernel", "pyodide_kernel"})  # Jupyter's, on a computer and in a browser; they show HTML

ENDLESS = "still running when its time was over: does the loop end?"
NOT_RUN = "The checks after this one were not run."
_MOST_PRINTED, _MOST_LINES = 2000, 20  # characters and lines of what an answer prints

Test = Callable[[SimpleNamespace], None]
_tests: dict[str, list[tuple[Test, str]]] = {}
_slow: set[Test] = set()


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one visible test.

    Attributes:
        title: The fact that the test checks.
        passed: Whether it holds.
        reason: What was seen instead.
        hint: What to think about.
        section: Where the lesson speaks of it.
        cause: The common cause of checks that fail for the same reason. A report shows it once.
        call: The student's call that gave what was seen, with its arguments; where several may be to blame, each.
    """

    title: str
    passed: bool
    reason: str = ""
    hint: str = ""
    section: str = ""
    cause: str = ""
    call: str = ""


@dataclass(frozen=True, repr=False)
class CheckReport:
    """The outcome of ``check``: shown as a table by Jupyter, and read as a number of points by nbgrader.

    Attributes:
        exercise: The exercise's id.
        points: The points that a grader gives for it.
        results: What each test found.
        pointer: Where a report that is not all well points to: the exercise's next hint.
        printed: The end of the answer's output.
        left_out: The facts that nobody looked at, because a package is missing; without one the tuple is empty.
    """

    exercise: str
    points: float
    results: tuple[CheckResult, ...]
    pointer: str = ""
    printed: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Return whether every visible test passed."""
        return all(result.passed for result in self.results)

    @property
    def earned(self) -> float:
        """The points, in proportion to the visible tests that passed."""
        return round(self.points * sum(result.passed for result in self.results) / len(self.results), 2)

    def __repr__(self) -> str:
        return str(self.earned)

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def visible(exercise: str, section: str, *, slow: bool = False) -> Callable[[Test], Test]:
    """Register a visible test of an exercise.

    Args:
        exercise: The exercise's id.
        section: The section of the lesson that states the tested rule.
        slow: Whether it may take longer: it compiles the answer, or runs the threads of large blocks one by one, and
            stops those by itself.
    """

    def register(test: Test) -> Test:
        _tests.setdefault(exercise, []).append((test, section))
        if slow:
            _slow.add(test)
        return test

    return register


@dataclass(frozen=True, repr=False)
class NotOnPath:
    """What ``check`` says of an exercise that the folder's path leaves out, and nobody has begun."""

    exercise: str

    def __repr__(self) -> str:
        return told(
            f"{self.exercise} is not on your path. The library's answer stands in for it here; "
            "if you write your own, it is checked."
        )

    def _repr_html_(self) -> str:
        return f'<div class="minigrad-not-on-path" style="color:inherit;opacity:.8">{hints.html_of(repr(self))}</div>'


def check(id: str = "") -> CheckReport | NotOnPath:
    """Run the visible tests of an exercise on the objects that this notebook defines.

    An exercise that the folder's path leaves out is not asked for: there the library's answer takes the stub's place.

    Args:
        id: The exercise, for example ``"autodiff.topological_sort"``, or a function that it asks for.
    """
    id = syllabus.meant(id)
    here = sys._getframe(1).f_globals
    broken = _of_broken_cell(id, here)
    if broken is None and exercises.give(id, here):
        return NotOnPath(id)
    report = broken or run(id, here, tell=partial(print, file=sys.stdout, flush=True))
    progressing.record(report)
    if not _KERNELS & sys.modules.keys():  # a plain terminal shows only the number otherwise
        print(report)
    return report


def _of_broken_cell(id: str, namespace: Mapping[str, Any]) -> CheckReport | None:
    """Return the report of an answer whose cell was last run with a text that Python cannot read, else None.

    Python has run nothing of that cell, so the answer is still the one before: it is not what the reader sees. IPython
    keeps the texts of all cells that were run in `In`.
    """
    run_so_far = namespace.get("In")
    if not isinstance(run_so_far, list):  # not in IPython, or the name is the reader's own
        return None
    texts = [text for text in run_so_far if isinstance(text, str) and exercise_of(text) == id]
    try:
        exercises.code_of(texts[-1] if texts else "")
    except MinigradError as error:
        reason = f"Python cannot read the cell as it was run last: {error}"
        result = CheckResult("The cell can be read", False, reason, "Nothing of it has run; mend it and run it again.")
        return CheckReport(id, exercises.get(id).points, (result,))
    return None


def _say_nothing(_sentence: str) -> None:
    pass


def run(
    id: str,
    namespace: Mapping[str, Any],
    where: str = "this notebook: run the cell above first",
    tell: Callable[[str], None] = _say_nothing,
) -> CheckReport:
    """Run the visible tests of an exercise on the objects that a namespace defines.

    Args:
        id: The exercise.
        namespace: Where the answer is looked for.
        where: What to say of the place that the answer must be in.
        tell: Says, once, that kernels are being compiled, where that takes a while.
    """
    exercise = exercises.get(id)
    objects = exercises.there(id, namespace)
    lacking: list[CheckResult] = []
    if names := ", ".join(exercises.missing(id, namespace)):
        reason = f"{names} must be defined in {where}"
        lacking = [CheckResult("All that the exercise asks for is defined", False, reason)]
    if not objects:
        return CheckReport(id, exercise.points, tuple(lacking), hints.pointer(id))
    tests = _tests_of(id)
    answer = Answer(objects, namespace)
    printed, left_out = _Tail(), list[str]()
    try:
        with exercises.install(exercises.standing_in(id, namespace)), exercises.install(objects):
            student = _Student(**{name.rpartition(".")[2]: _as_tested(name, objects[name]) for name in objects})
            results, left_out = _run_all(tests, student, answer, printed, _Once(tell))
    except TypeError as error:  # a class where a function belongs, or the other way round
        results = [CheckResult("The answer is of the right kind", False, str(error))]
    results = [*lacking, *results]
    pointer = "" if all(result.passed for result in results) else hints.pointer(id)
    return CheckReport(id, exercise.points, tuple(results), pointer, printed.text, tuple(left_out))


def _run_all(
    tests: list[tuple[Test, str]],
    student: SimpleNamespace,
    answer: Answer,
    printed: _Tail,
    tell: Callable[[str], None],
) -> tuple[list[CheckResult], list[str]]:
    """Run the tests until one does not end, and return the titles of those that cannot run here as well.

    A missing answer gets one line instead of many.
    """
    results: list[CheckResult] = []
    left_out: list[str] = []
    for test, section in tests:
        try:
            results.append(_run_one(test, section, student, answer, printed, tell))
        except MissingPackage as error:
            left_out.append(f"{_title(test)} ({error})")
            continue
        if results[-1].reason == ENDLESS:
            break
    if not results:
        return [CheckResult("The exercise can be checked here", False, "a package is missing")], left_out
    if all(result.reason == NOT_WRITTEN for result in results):
        return [CheckResult("The answer is written", False, NOT_WRITTEN)], []
    return results, left_out


def _title(test: Test) -> str:
    return (test.__doc__ or test.__name__).strip().splitlines()[0]


def _as_tested(name: str, value: object) -> Any:
    """Return a function as the student wrote it. A class is returned as installed, since its methods know that one."""
    if not isinstance(value, type):
        return value
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"minigrad.{module}"), attribute)


def _tests_of(id: str) -> list[tuple[Test, str]]:
    module = exercises.get(id).objects[0].rpartition(".")[0]
    importlib.import_module(f"minigrad.checks.{module.replace('.', '_')}")
    return _tests[id]


def _run_one(
    test: Test,
    section: str,
    student: SimpleNamespace,
    answer: Answer,
    printed: _Tail,
    tell: Callable[[str], None],
) -> CheckResult:
    """Run one test. Where its text does not say which of the student's calls failed, run it again and watch them."""
    worked, draw_again = time.process_time(), _draws()
    limit = SLOW_SECONDS if test in _slow else SECONDS
    result, call = _tried(test, section, student, answer, printed, _time_limit(limit, tell))
    is_endless = result.reason == ENDLESS
    if call is None or call.is_whole or (time.process_time() - worked > _AGAIN and not is_endless):
        return replace(result, call=call.text if call else "")
    draw_again()
    seen = Observed(lambda frame: answer.is_theirs(frame, test), answer.names)
    again, _ = _tried(test, section, student, answer, _Tail(), _time_limit(_AGAIN if is_endless else limit), seen)
    # Where Python has no room for one more call, it has none for the watching either, and says SystemError.
    is_same = again.reason == result.reason or ("RecursionError" in result.reason and "SystemError" in again.reason)
    text = "" if not is_same else seen.running() if is_endless else seen.text()
    return replace(result, call=text or call.text)


def _draws() -> Callable[[], None]:
    """Return what lets Python, NumPy and the library draw the random numbers from here on a second time."""
    drawn = random.getstate()
    numpy = sys.modules.get("numpy.random")  # which need not be imported, and the library's stream neither
    drawn_by_numpy = numpy and numpy.get_state()
    own = sys.modules.get("minigrad.tensors.random")
    stream = own and copy.deepcopy(own.default_generator._random)

    def again() -> None:
        random.setstate(drawn)
        if numpy:
            numpy.set_state(drawn_by_numpy)
        if own:
            own.default_generator._random = stream

    return again


def _tried(
    test: Test,
    section: str,
    student: SimpleNamespace,
    answer: Answer,
    printed: _Tail,
    *around: AbstractContextManager[Any],
) -> tuple[CheckResult, Call | None]:
    """Run one test, and return what it found, with the call that its text names; None where no call is to blame."""
    title = _title(test)
    try:
        with ExitStack() as stack:
            nowhere = stack.enter_context(open(os.devnull, "w"))
            stack.enter_context(redirect_stdout(printed))
            stack.enter_context(redirect_stderr(nowhere))
            for each in around:
                stack.enter_context(each)
            test(student)
    except Expectation as failure:
        call = call_of(failure, test)
        reason = failure.of_result(call.place) if call.is_whole else failure.reason
        hint = failure.hint if call.is_result or failure.hint != NO_RETURN else failure.otherwise
        cause = NO_RETURN if hint == NO_RETURN else ""
        return CheckResult(title, False, reason, hint or "", section, cause), call
    except (ExerciseNotDone, _NotDefined) as error:
        return CheckResult(title, False, str(error), "", section, str(error)), None
    except RecursionError as error:
        reason, hint = answer.of_recursion(error, test)
        return CheckResult(title, False, reason, hint, section), call_of(error, test)
    except _TooSlow as error:
        hint = f"{answer.elsewhere(error, test)} {NOT_RUN}".strip()
        return CheckResult(title, False, ENDLESS, hint, section), Call()
    except MissingPackage:
        raise
    except (Exception, SystemExit) as error:
        if type(error) is NotImplementedError and (stub := answer.of_stub(error, test))[0]:
            called = None if stub[0] == NOT_WRITTEN else call_of(error, test)
            return CheckResult(title, False, *stub, section, stub[0]), called
        reason = answer.reason(error, test)
        return CheckResult(title, False, reason, answer.hint(error, test), section, reason), call_of(error, test)
    return CheckResult(title, True, section=section), None


class _NotDefined(AttributeError):
    """A test asks for a function that the answer does not define."""


class _Student(SimpleNamespace):
    """The answer as tests take it; a part of it may not be there."""

    def __getattr__(self, name: str) -> Any:
        raise _NotDefined(f"{name} is not defined")


class _TooSlow(BaseException):
    """Raised in the student's code when its time is over. A bare ``except Exception`` does not catch it."""


class _Once:
    """Says something once, however often it is asked to."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell: Callable[[str], None] = tell

    def __call__(self, sentence: str) -> None:
        tell, self._tell = self._tell, _say_nothing
        tell(told(sentence))


class _Tail(io.TextIOBase):
    """A text stream that keeps the last lines of its text."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text = "".join(
            (self.text + text[-_MOST_PRINTED:])[-_MOST_PRINTED:].splitlines(keepends=True)[-_MOST_LINES:]
        )
        return len(text)


@contextmanager
def _time_limit(seconds: float, tell: Callable[[str], None] = _say_nothing) -> Iterator[None]:
    """Stop the block after some seconds of work, where the system has timers (not on Windows), in the main thread.

    Compiling is no work, nor is waiting while other programs have the processors: the same answer passes on every
    machine. What waits for nothing is stopped a few times as late.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    over = _TooSlow()
    begun, worked = time.monotonic(), time.process_time()

    def left() -> float:
        passed, compiled = time.monotonic() - begun, compiling()
        work = min(time.process_time() - worked, passed) - compiled
        return min(seconds - work, MOST * seconds + compiled - passed)

    def stop(_number: int, frame: FrameType | None) -> None:
        if compiling() > _A_WHILE:
            tell(COMPILING)
        if (rest := left()) > 0.0:
            signal.setitimer(signal.ITIMER_REAL, max(min(rest, 1.0), _SOON))
            return
        # And once more soon: what is raised may be lost, as in a finalizer, and nothing else would stop the test then.
        signal.setitimer(signal.ITIMER_REAL, _SOON)
        if not _finalizes(frame) and not _is_handled(over):
            raise over

    with _compiling() as compiling, _unnoticed(over):
        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, min(seconds, _A_WHILE + _SOON))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)


def _finalizes(frame: FrameType | None) -> bool:
    """Return whether Python is finalizing an object. It would lose an exception that is raised there."""
    watching = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__del__" or code.co_filename == weakref.__file__ or code in watching:
            return True
        frame = frame.f_back
    return False


@contextmanager
def _unnoticed(error: BaseException) -> Iterator[None]:
    """Print nothing of an error that Python loses."""
    before = sys.unraisablehook

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if lost.exc_value is not error:
            before(lost)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _is_handled(error: BaseException) -> bool:
    """Return whether an error, or one that it caused, has been raised and is on its way out."""
    found = sys.exception()
    while found is not None and found is not error:
        found = found.__context__
    return found is not None


@contextmanager
def _compiling() -> Iterator[Callable[[], float]]:
    """Give a function that says how many seconds of the block went into compiling with Numba, or into importing it."""
    begun = time.monotonic()
    if "numba" not in sys.modules:
        yield lambda: min(time.monotonic() - begun, SLOW_SECONDS) if "numba" in sys.modules else 0.0
        return
    from numba.core import event

    with event.install_recorder("numba:compile") as recorder:
        yield lambda: _covered(((at, each.is_start) for at, each in list(recorder.buffer)), time.time())


def _covered(edges: Iterable[tuple[float, bool]], now: float) -> float:
    """The seconds in which something was going on: what begins inside of something else counts once."""
    total, depth, since = 0.0, 0, now
    for at, begins in edges:
        if begins and depth == 0:
            since = at
        depth += 1 if begins else -1
        if depth == 0:
            total += at - since
    return total + (now - since if depth else 0.0)
