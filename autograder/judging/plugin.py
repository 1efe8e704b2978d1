"""The pytest plugin that judges one exercise of one submission by its hidden tests.

Hidden tests are ordinary pytest tests, run in this trusted process. They ask a student's code through the
fixture `student`, which ships the probe to the sandbox and returns plain data:

    @pytest.mark.exercise("autodiff.backpropagate", group="paths", because="lesson 03: ...")
    def test_diamond(student):
        "Gradients that reach a node along two paths are summed."
        expect(student(observe, 2.0), 7.0, hint=..., misconception=...)

A test that fails says why in words for the student. A fault of the grader (no sandbox, a broken hidden
test) is not a student's zero: it is raised.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import hypothesis
import pytest

from autograder.common.effort import Effort
from autograder.judging.examples import example_of
from autograder.judging.expect import Expectation
from autograder.judging.hidden_tests import described, files_of, watched_groups
from autograder.judging.listening import Listener
from autograder.judging.student import Asked, HiddenTestError, Session, Student, StudentFailure, StudentStopped
from autograder.results import Example, Verdict

__all__ = [
    "HiddenTestError",
    "HiddenTests",
    "Student",
    "StudentFailure",
    "run_hidden_tests",
]

SHRINK_CALLS = 100
"""Number of calls that a failed property test may make to find a smaller counter-example."""

EFFORT = 20.0
"""Processor time of the grader's own, in seconds, for examining all answers of one exercise: the tests take tenths."""

MAX_REASON = 1_000
"""Characters of an error's message that are looked at; an error of Python's may repeat a whole answer."""

SHRINK_SECONDS = 3.0
"""Seconds for the same, where the student's code is so slow that they pass first."""

_PROFILE = "minigrad-hidden-tests"

# pytest's own plugins that a run in this process has no use for; they would write files, watch for
# warnings and signals of the process around it, or collect garbage for a second.
_PLUGINS_OFF = (
    "cacheprovider", "debugging", "doctest", "faulthandler", "junitxml", "legacypath", "logging",
    "monkeypatch", "pastebin", "recwarn", "setuponly", "setupplan", "stepwise", "terminal",
    "threadexception", "tmpdir", "unittest", "unraisableexception", "warnings",
)  # fmt: skip


class _StopShrinking(BaseException):
    """A property test has failed and used up its time to find a smaller counter-example."""


class HiddenTests:
    """The plugin: selects the tests of one exercise, gives them `student`, and collects verdicts.

    Args:
        exercise: The exercise's id, or None to take every test.
        groups: For each exercise of the course, the names of its groups.
        session: The submission in the sandbox; None only collects.
        pack: Turns a probe into what the sandbox takes.
        seed: Seed of the property tests.
        shrink_seconds: How long a property test that failed may look for a smaller counter-example.
        points_only: Leave out the tests of a group that has lost its points already.
        listener: Hears what each test asked and wanted.

    Attributes:
        refusal: Why no test that relies on a witness can be asked; the empty string if each can.
        effort: The bound on examining answers.
        events: Sentences on answers that had to be contained in the grader's own process.
    """

    def __init__(
        self,
        exercise: str | None,
        groups: Mapping[str, Sequence[str]],
        session: Session | None,
        pack: Callable[[Callable[..., Any]], bytes],
        seed: int,
        shrink_seconds: float = SHRINK_SECONDS,
        points_only: bool = False,
        listener: Listener | None = None,
    ) -> None:
        self.exercise = exercise
        self.verdicts: list[Verdict] = []
        self.collected: list[tuple[str, Verdict]] = []
        self.items: list[pytest.Item] = []
        self.fault: BaseException | None = None
        self.refusal = ""
        too_much = f"the answers took more than {EFFORT:g} s of processor time to examine"
        self.effort = Effort(EFFORT, lambda: StudentStopped("unusable", too_much))
        self.events: list[str] = []
        self._groups = groups
        self._session = session
        self._pack = pack
        self._seed = seed
        self._shrink_seconds = shrink_seconds
        self._points_only = points_only
        self._listener = listener or Listener()
        self._student: Student | None = None
        self._is_watched = False
        self._answers = Path()
        self._failed_at: float | None = None
        self._shrinking = 0
        self._failure: BaseException | None = None
        self._failed_asked: tuple[Asked, ...] | None = None

    # Collection -------------------------------------------------------------

    def pytest_configure(self, config: pytest.Config) -> None:
        """Register the marker."""
        config.addinivalue_line("markers", "exercise(id, group, because, show): what a hidden test grades")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the reason why a file could not be collected."""
        if report.failed and self.fault is None:
            self.fault = HiddenTestError(f"hidden tests cannot be loaded:\n{report.longreprtext}")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Refuse tests without what a report needs, and keep those of the exercise."""
        kept = []
        try:
            for item in items:
                exercise, verdict = described(item, self._groups)
                if self.exercise in (None, exercise):
                    kept.append(item)
                    self.collected.append((exercise, verdict))
        except HiddenTestError as error:
            self.fault = error
        self.items = kept
        items[:] = kept if self._session is not None and self.fault is None else []

    # Running ----------------------------------------------------------------

    @pytest.fixture(name="student")
    def student_fixture(self) -> Student:
        """The fixture by which a hidden test asks about the student's code."""
        return self.new_student()

    def new_student(self) -> Student:
        """Return an object for the questions of one test."""
        assert self._session is not None
        refusal = self.refusal if self._is_watched else ""
        self._student = Student(self._session, self._pack, refusal, self._answers)
        return self._student

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Make a test ready before its fixture is made."""
        self.prepare(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        """Bound what is spent on examining answers."""
        with self.effort.spent():
            return (yield)

    def prepare(self, item: pytest.Item) -> None:
        """Make a test ready to be called."""
        self._listener.test_begins()
        self._failed_at = self._failure = self._failed_asked = None
        self._shrinking = 0
        self._is_watched = bool(watched_groups([item]))
        self._answers = item.path.parents[1]
        function: Any = getattr(item, "obj", None)
        handle = getattr(function, "hypothesis", None)
        if handle is not None:
            hypothesis.seed(self._seed)(function)
            inner = getattr(handle.inner_test, "unwatched", handle.inner_test)
            handle.inner_test = self._watched(inner)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Do not call a test that decides nothing any more."""
        return True if self.is_decided(pyfuncitem) else None

    def is_decided(self, item: pytest.Item) -> bool:
        """Return whether an earlier test has cost the points that this one is for."""
        if not self._points_only:
            return False
        group = described(item, self._groups)[1].group
        return any(not verdict.passed for verdict in self.verdicts if verdict.group == group)

    def _watched(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(inner)
        def watched(*args: Any, **kwargs: Any) -> Any:
            if self._is_shrunk():
                raise _StopShrinking
            if self._student is not None:
                self._student.asked.clear()
            try:
                return inner(*args, **kwargs)
            except BaseException as error:
                if not type(error).__module__.startswith("hypothesis"):
                    self._failed_asked = self._asked
                    if isinstance(error, Exception):
                        self._failed_at = self._failed_at or time.monotonic()
                        self._failure = error
                raise

        watched.unwatched = inner  # type: ignore[attr-defined]  # the same function is called for the next submission
        return watched

    def _is_shrunk(self) -> bool:
        """Return whether a failed property test has looked long enough for a smaller counter-example.

        A count ends it, so that a busy machine finds the same; time ends it only where the code is slow.
        """
        if self._failed_at is None:
            return False
        self._shrinking += 1
        return self._shrinking > SHRINK_CALLS or time.monotonic() > self._failed_at + self._shrink_seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """Turn the outcome of a test into a verdict, or into a fault of the grader.

        Takes the place of pytest's own report, which would format tracebacks that nobody may see.
        """
        error = call.excinfo.value if call.excinfo else None
        self.conclude(item, call.when, error)
        outcome: Literal["passed", "failed"] = "failed" if error else "passed"
        when = cast("Literal['setup', 'call', 'teardown']", call.when)
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, when)

    def conclude(self, item: pytest.Item, when: str, error: BaseException | None) -> None:
        """Judge how a phase of a test ended."""
        known = len(self.verdicts)
        if isinstance(error, pytest.skip.Exception | pytest.xfail.Exception):
            self._blame(item, "was skipped; a hidden test must decide")
        elif when == "call":
            self._judge(item, error)
        elif error is not None:
            self._blame(item, f"its {when} failed: {type(error).__name__}: {error}", error)
        asked = self._asked if self._failed_asked is None else self._failed_asked
        failure = error if isinstance(error, Expectation) or self._failure is None else self._failure
        for verdict in self.verdicts[known:]:
            self._listener.judged(item, verdict, asked, failure)

    def _judge(self, item: pytest.Item, error: BaseException | None) -> None:
        _, verdict = described(item, self._groups)
        if error is None and self.is_decided(item):
            return
        if error is None:
            self.verdicts.append(verdict)
            return
        if isinstance(error, _StopShrinking) and self._failure is not None:
            error = self._failure
        fault = self._student.fault if self._student is not None else None
        if isinstance(fault, HiddenTestError):
            self._blame(item, str(fault), fault)
            return
        if fault is not None:
            self.fault = self.fault or fault
            item.session.shouldstop = "the sandbox failed"
            return
        is_students = isinstance(error, AssertionError | StudentStopped) or _is_flaky(error)
        answered = self._student is not None and self._student.answered
        if isinstance(error, NameError | ImportError):
            answered = False  # the student's own arrive as StudentFailure: this one is the test's
        if not is_students and (not answered or not isinstance(error, Exception)):
            self._blame(item, f"raised {type(error).__name__}: {error}", error)
            return
        if isinstance(error, StudentStopped) and error.kind == "unusable":
            self._note(f"{verdict.test}: {error}")
        try:
            example = self._example(item, error)
        except (NameError, ImportError) as mistake:  # no answer makes one of these
            self._blame(item, f"its picture cannot be made: {type(mistake).__name__}: {mistake}", mistake)
            return
        self.verdicts.append(replace(_failed(verdict, error), example=example))

    def _example(self, item: pytest.Item, error: BaseException) -> Example | None:
        """The example shown of a failed test; None where the answer does not let itself be shown."""
        show = item.get_closest_marker("exercise").kwargs.get("show")  # type: ignore[union-attr]  # it has one
        asked = self._asked if self._failed_asked is None else self._failed_asked
        try:
            with self.effort.spent():
                return example_of(asked, error, show_wanted=show == "wanted")
        except (NameError, ImportError):
            raise
        except (Exception, StudentStopped) as mistake:
            if self.effort.left > 0:  # else it is said already
                self._note(f"{item.name}: no example could be made of the answer: {type(mistake).__name__}")
            return None

    def _note(self, event: str) -> None:
        if event not in self.events:
            self.events.append(event)

    @property
    def _asked(self) -> tuple[Asked, ...]:
        return tuple(self._student.asked) if self._student is not None else ()

    def _blame(self, item: pytest.Item, what: str, error: BaseException | None = None) -> None:
        """Record a fault of the grader and end the run."""
        if self.fault is None:
            self.fault = HiddenTestError(f"{item.path.name}: {item.name}: {what}")
            self.fault.__cause__ = error
        item.session.shouldstop = "a fault of the grader"


def _is_flaky(error: BaseException) -> bool:
    return isinstance(error, hypothesis.errors.Flaky | hypothesis.errors.FlakyFailure)


def _failed(verdict: Verdict, error: BaseException) -> Verdict:
    """A verdict with the reason of a failure, in words for the student."""
    failure, reason = "", str(error).strip()[:MAX_REASON]
    if isinstance(error, StudentFailure | StudentStopped):
        failure = error.kind
    elif isinstance(error, Expectation):
        reason = error.reason
    elif isinstance(error, AssertionError) and reason.startswith("assert "):
        reason = ""  # pytest's rewriting was at work and shows the wanted value
    elif _is_flaky(error):
        failure, reason = "unstable", "the answer differs from one call to the next with the same input"
    elif not isinstance(error, AssertionError):
        failure = "unusable"
        reason = f"the answer has a form that cannot be examined ({type(error).__name__}: {reason})"
    return replace(
        verdict,
        passed=False,
        reason=reason or "the fact does not hold",
        hint=getattr(error, "hint", None) or "",
        misconception=getattr(error, "misconception", None) or "",
        failure=failure,
    )


def run_hidden_tests(plugin: HiddenTests, hidden: Path) -> list[Verdict]:
    """Run pytest in this process over the plugin's exercise, writing nothing anywhere.

    Raises:
        HiddenTestError: If a hidden test is at fault.
        BaseException: The sandbox could not do its work.
    """
    files = files_of(plugin.exercise, hidden)
    if not files:
        raise HiddenTestError(f"no hidden test grades {plugin.exercise or 'anything'}; write one in {hidden}")
    arguments = [
        "-c", os.devnull, "--rootdir=/", "--assert=plain", "--capture=no", "--import-mode=importlib",
        "--disable-plugin-autoload", "--strict-markers",
        *(f"-pno:{name}" for name in _PLUGINS_OFF), *map(str, files),
    ]  # fmt: skip
    output = io.StringIO()
    with quiet_process(files), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = pytest.main(arguments, plugins=[plugin])
    if plugin.fault is not None:
        raise plugin.fault
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise HiddenTestError(f"pytest ended with {code!r}:\n{output.getvalue()[-2000:]}")
    return plugin.verdicts


@contextlib.contextmanager
def quiet_process(files: Sequence[Path]) -> Iterator[None]:
    """No bytecode beside the tests, no stale module of an edited file, hypothesis as grading needs it."""
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    before = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.register_profile(
        _PROFILE,
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=30,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile(_PROFILE)
    addopts = os.environ.pop("PYTEST_ADDOPTS", None)
    current = os.environ.get("PYTEST_CURRENT_TEST")
    try:
        yield
    finally:
        hypothesis.settings.load_profile(before)
        sys.dont_write_bytecode = bytecode
        if addopts is not None:
            os.environ["PYTEST_ADDOPTS"] = addopts
        if current is not None:
            os.environ["PYTEST_CURRENT_TEST"] = current
        paths = {str(file) for file in files}
        for name in [n for n, m in sys.modules.items() if getattr(m, "__file__", None) in paths] if paths else ():
            del sys.modules[name]
