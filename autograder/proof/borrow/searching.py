"""Search the editions: ask every function of what stays the questions of an exercise's hidden tests."""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import cloudpickle

from autograder.building.slicing import slice_exercise
from autograder.course import Exercise
from autograder.judging.judge import Judge, solution_cell
from autograder.judging.listening import Listener
from autograder.judging.plugin import HiddenTests
from autograder.judging.warm_tests import WarmTests
from autograder.proof.borrow.programs import INSIDE, NUMBERS, TOOLS, Slot, patterns, slots_of, special
from autograder.sandbox import ExerciseSpec, Observation, Sandbox, SandboxError, Session, SourceCell, pack_probe

LEAKS = "leaks.toml"
"""The name of the list of leaks that stay, beside course.toml."""

BATCH = 100
QUESTIONS = 5
"""Questions of one test that a program is asked; the judge asks it all of them."""

FEWEST = 40
"""Programs that there is time for, however long all questions take and however little time is given."""

ANSWERED = 300.0
"""Seconds within which the sandbox answers; a batch of programs ends well before."""

JUDGED = 12
"""Programs of one slot that the judge grades, each of another function."""


@dataclass(frozen=True)
class Leak:
    """A program that earns points with what an edition keeps.

    Attributes:
        slot: What it answers, such as ``operators.relu``.
        source: The function that it borrows, or the name of a program that follows no pattern.
        pattern: How the function is called.
        points: The points that it earns, beyond those of the rest of the cell.
        fine: Why it may stay; the empty string if it may not.
    """

    slot: str
    source: str
    pattern: str
    points: float
    fine: str = ""


@dataclass(frozen=True)
class Searched:
    """The findings about one exercise.

    Attributes:
        exercise: Its id.
        programs: The programs that were tried.
        functions: The functions that its edition holds.
        left: The functions that the time did not suffice for, over all slots.
        leaks: The programs that earn points.
        seconds: The time it took.
    """

    exercise: str
    programs: int
    functions: int
    left: int
    leaks: tuple[Leak, ...]
    seconds: float

    @property
    def open(self) -> tuple[Leak, ...]:
        """The leaks that are not listed as fine."""
        return tuple(leak for leak in self.leaks if not leak.fine)


@dataclass(frozen=True)
class _Question:
    probe: bytes
    args: list[Any]
    answer: Any
    seconds: float


_Tests = list[tuple[str, list[_Question]]]
"""The group of each hidden test, and what it asks."""


class _Recorder:
    """Stands between the hidden tests and a session, and keeps the questions with the answers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.asked: list[_Question] = []

    def observe(self, probe: bytes, args: list[Any]) -> Observation:
        """Ask the session."""
        begun = time.monotonic()
        observation = self._session.observe(probe, args)
        if observation.ok:
            self.asked.append(_Question(probe, args, observation.value, time.monotonic() - begun))
        return observation


class _ByTest(Listener):
    """Divides what was asked by tests."""

    def __init__(self, recorder: _Recorder) -> None:
        super().__init__()
        self._recorder = recorder
        self.tests: _Tests = []

    def test_begins(self) -> None:
        """What is asked from here on belongs to the next test."""
        self._recorder.asked = []

    def judged(self, _item: Any, verdict: Any, _questions: Any, _error: Any) -> None:
        """What was asked belongs to this test."""
        self.tests.append((verdict.group, self._recorder.asked))


def search(
    judge: Judge,
    exercise: Exercise,
    seconds: float,
    *,
    only: Callable[[str], bool] = lambda _: True,
    fine: Path | None = None,
) -> Searched:
    """Search the edition that an exercise is graded with.

    Args:
        judge: Grades the programs that answer as the reference does.
        exercise: The exercise.
        seconds: Time for the search; the judge's comes on top.
        only: Which functions are tried, by name.
        fine: Another list of leaks that may stay than the course's own.
    """
    listed = _listed(fine or judge.course.directory / LEAKS)
    slots = list(slots_of(exercise.objects, slice_exercise(judge.course, exercise.id).reference_cell))
    leaks: list[Leak] = []
    programs = functions = left = 0
    with _box(judge, exercise) as box:
        tests, each_seconds = _recorded(judge, exercise, box)
        begun = time.monotonic()
        for number, slot in enumerate(slots):
            rest = (seconds - (time.monotonic() - begun)) / (len(slots) - number)
            tried = _Slot(judge, exercise, box, slot, listed)
            found = tried.search(tests, each_seconds, rest, only)
            programs, functions, left = programs + tried.programs, tried.functions, left + tried.left
            leaks += [replace(leak, fine=_reason(listed, leak.slot, leak.source)) for leak in found]
    return Searched(exercise.id, programs, functions, left, tuple(leaks), time.monotonic() - begun)


@contextmanager
def _box(judge: Judge, exercise: Exercise) -> Iterator[Sandbox]:
    """A sandbox as the judge's, with more time."""
    limits = replace(
        judge.fingerprint.limits(exercise), cell_seconds=60.0, test_seconds=ANSWERED, submission_seconds=2000.0
    )
    preload = (*exercise.uses, *(f"minigrad.{name.rpartition('.')[0]}" for name in exercise.objects))
    with Sandbox(judge.fingerprint.edition(exercise), limits, judge.isolation, preload=preload) as box:
        yield box


def _session(judge: Judge, exercise: Exercise, box: Sandbox, text: str) -> Session:
    """A session of an answer, below what the search needs in there."""
    cells = [
        SourceCell(_SEARCH, "setup", None, "the search"),
        *judge.around(exercise),
        solution_cell(exercise.id, text),
    ]
    return box.session(cells, ExerciseSpec(exercise.id, exercise.objects))


_NAMES = "NAMES = every_callable()"  # here, so that the forks of the session have every module
_SEARCH = f"import builtins\nbuiltins.borrow_search = {{}}\nexec({TOOLS + INSIDE + _NAMES!r}, builtins.borrow_search)"
"""A namespace of its own, in which a student's `map` and `sum` mean nothing."""


def _recorded(judge: Judge, exercise: Exercise, box: Sandbox) -> tuple[_Tests, float]:
    """The questions of each hidden test with the reference's answers, and the seconds that they take."""
    groups = {each.id: tuple(each.groups) for each in judge.course.exercises.values()}
    text = slice_exercise(judge.course, exercise.id).reference_cell
    with _session(judge, exercise, box, text) as session:
        recorder = _Recorder(session)
        listener = _ByTest(recorder)
        plugin = HiddenTests(exercise.id, groups, recorder, pack_probe, judge.course.seed, 0, listener=listener)
        begun = time.monotonic()
        WarmTests(exercise.id, groups, judge.hidden).run(plugin)
        seconds = time.monotonic() - begun
    asked = sum(len(questions) for _, questions in listener.tests) or 1
    kept = [(group, questions[:QUESTIONS]) for group, questions in listener.tests if questions]
    return kept, max(0.25, 2.0 * seconds * sum(len(questions) for _, questions in kept) / asked)


def _sent(questions: Iterable[_Question]) -> list[list[Any]]:
    """Questions as the sandbox reads them."""
    return [[each.probe.hex(), each.args, each.answer] for each in questions]


class _Slot:
    """The search for one slot of an exercise.

    Attributes:
        programs: The programs that were tried.
        functions: The functions that the edition holds.
        left: The functions that the time did not suffice for.
    """

    def __init__(
        self, judge: Judge, exercise: Exercise, box: Sandbox, slot: Slot, fine: Sequence[dict[str, Any]]
    ) -> None:
        self._fine = fine
        self._judge, self._exercise, self._box, self._slot = judge, exercise, box, slot
        self.programs = self.functions = self.left = 0

    def search(self, tests: _Tests, each: float, seconds: float, only: Callable[[str], bool]) -> list[Leak]:
        """The leaks of the slot."""
        # Points that the rest of the cell earns with anything in this place, or that handing an argument back earns,
        # are not borrowed.
        idle = ["raise NotImplementedError", "return None", *(f"return {each}" for each in self._slot.handed)]
        without = max(map(self._earned, map(self._slot.answered, idle)))
        sources = patterns(self._slot)
        candidates = [
            (name, sources[pattern][0], self._slot.borrowing(name, sources[pattern][0]))
            for name, pattern in self._plausible(tests, sources, each, seconds, only)
        ]
        candidates += [(name, body, self._slot.calling(body)) for name, body in special(self._slot)]
        candidates += self._assigned(only) if "." in self._slot.path else []
        leaks = []
        for name, pattern, text in candidates:
            won = self._earned(text) - without
            if won > 1e-9:
                leaks.append(Leak(self._slot.name, name, pattern, won))
        self.programs += len(candidates)
        return leaks

    def _earned(self, text: str) -> float:
        return self._judge.points(self._exercise, text)

    def _assigned(self, only: Callable[[str], bool]) -> Iterator[tuple[str, str, str]]:
        """Cells in which a name of the class is bound to a member of another class of the library."""
        last = self._slot.path.rpartition(".")[2]
        for name in self._names:
            path = name.partition(":")[2].split("/")
            if len(path) == 2 and only(name) and (path[1] == last or path[1].startswith("_from")):
                owner = name.rpartition("/")[0]
                for value in (f'vars(lib("{owner}"))["{path[1]}"]', f'lib("{owner}").{path[1]}'):
                    yield name, f"{last} = {value}", self._slot.assigned(value)

    def _plausible(
        self, tests: _Tests, sources: list[Any], each: float, seconds: float, only: Callable[[str], bool]
    ) -> Iterable[tuple[str, int]]:
        """Functions with the first pattern by which they answer as the reference does."""
        found: dict[str, int] = {}
        with _session(self._judge, self._exercise, self._box, self._slot.asking) as session:
            self._names = _asked(session, "", [])
            names = sorted(filter(only, self._names), key=lambda name: not re.match(NUMBERS, name))
            self.functions = len(self._names)
            reached = _asked(session, "concerned", [[_sent(questions) for _, questions in tests]])
            # What earns nothing but the points of special cases is a wrong answer, not a borrowed one.
            groups = {tests[index][0] for index in reached}
            main = next((group for group in self._exercise.groups if group in groups), "")
            asked = [each for index in reached if tests[index][0] == main for each in tests[index][1]]
            asked = _sent(sorted(asked, key=lambda each: each.seconds))  # most programs fail the first one
            ends = time.monotonic() + seconds
            start = 0
            while asked and start < len(names) and (rest := ends - time.monotonic()) > 0:
                batch = min(max(min(rest, 200.0), FEWEST * each), 0.8 * ANSWERED)
                arguments = [
                    names[start : start + BATCH],
                    sources,
                    asked,
                    [each, max(1.0, 4 * each), batch],
                    self._slot.is_kernel,
                ]
                count, wins, done = _asked(session, "tried", arguments)
                self.programs += count
                start += max(done, 1)
                for name, pattern in wins:
                    found.setdefault(name, pattern)
            self.left = len(names) - min(start, len(names)) if asked else 0
        # The judge has no time for all: what is listed as fine comes last.
        return sorted(found.items(), key=lambda each: bool(_reason(self._fine, self._slot.name, each[0])))[:JUDGED]


def _asked(session: Session, function: str, arguments: list[Any]) -> Any:
    """The answer of a function of the search in the sandbox."""
    observation = session.observe(_probe(), [function, arguments])
    if not observation.ok:
        raise SandboxError(f"the search {function} ended in the sandbox: {observation.failure}")
    return observation.value


def _probe() -> bytes:
    def observe(mg: Any, function: str, arguments: Sequence[Any]) -> Any:
        known = __builtins__["borrow_search"]  # type: ignore[index]
        return known[function](mg, *arguments) if function else known["NAMES"]

    observe.__module__ = "probe"
    return bytes(cloudpickle.dumps(observe))


def _listed(file: Path) -> list[dict[str, Any]]:
    """The leaks that may stay."""
    return list(tomllib.loads(file.read_text(encoding="utf-8")).get("fine", []))


def _reason(listed: Sequence[dict[str, Any]], slot: str, source: str) -> str:
    """Why a leak may stay; the empty string if no entry of the list says so."""
    for entry in listed:
        if _matches(slot, entry["slots"]) and _matches(source, entry["by"]):
            return str(entry["why"])
    return ""


def _matches(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, each) for each in globs)


def stale(searched: Sequence[Searched], fine: Path) -> list[str]:
    """Entries of the list that no leak needs, where every exercise was searched to the end."""
    leaks = [leak for each in searched for leak in each.leaks]
    return [
        f"{fine.name}: nothing leaks {', '.join(entry['slots'])} by {', '.join(entry['by'])}; remove the entry"
        for entry in _listed(fine)
        if not any(_matches(leak.slot, entry["slots"]) and _matches(leak.source, entry["by"]) for leak in leaks)
    ]
