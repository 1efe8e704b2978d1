"""Grade every mutant by the hidden tests of its exercise, and count what they notice."""

from __future__ import annotations

import atexit
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from autograder.course import Course, Exercise
from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.proof.mutants.equivalents import EQUIVALENT, Equivalent, read_equivalents
from autograder.proof.mutants.making import Mutant, mutants_of
from autograder.proof.pool import pool_of
from autograder.results import Graded

MOST_EQUIVALENT = 0.05
"""The share of mutants that may be listed as equivalent, in a run over the whole course."""

TEST_SECONDS = 10.0
"""A mutant's answer may take no longer: the slowest of a reference takes a tenth of that."""

BATCH = 8
"""Mutants that a process takes at a time."""

Status = Literal["killed", "timed out", "survived"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a mutant.

    Attributes:
        mutant: The mutant.
        status: Whether it lost a point, and whether that was for an answer that did not come.
        by: The first test that it failed.
        equivalent: The entry that lists it as equivalent, if there is one.
    """

    mutant: Mutant
    status: Status
    by: str = ""
    equivalent: Equivalent | None = None


@dataclass(frozen=True)
class Tally:
    """The outcomes of an exercise's mutants."""

    exercise: str
    outcomes: tuple[Outcome, ...]
    stale: tuple[Equivalent, ...] = ()

    def count(self, status: Status) -> int:
        """The number of mutants that were killed or timed out."""
        return sum(outcome.status == status for outcome in self.outcomes)

    @property
    def equivalent(self) -> int:
        """The number of mutants that live on and are listed as equivalent."""
        return self.count("survived") - len(self.survivors)

    @property
    def survivors(self) -> tuple[Outcome, ...]:
        """Mutants that live on, and are not listed as equivalent."""
        return tuple(each for each in self.outcomes if each.status == "survived" and each.equivalent is None)


@dataclass(frozen=True)
class _Setting:
    """The arguments that a process needs to grade mutants."""

    course: Path
    hidden: Path
    isolation: str
    cache: Path | None

    def judge(self) -> Judge:
        course = load_course(self.course, tree=False)
        exercises = {each.id: _hurried(each) for each in course.exercises.values()}
        course = replace(course, exercises=exercises)
        return Judge(course, hidden=self.hidden, isolation=self.isolation, cache=self.cache, shrink_seconds=0)


def _hurried(exercise: Exercise) -> Exercise:
    """An exercise whose answers must come soon, so that loops without an end do not cost minutes."""
    if exercise.limits.get("test_seconds", 0.0) <= TEST_SECONDS:
        return exercise
    return replace(exercise, limits={**exercise.limits, "test_seconds": TEST_SECONDS})


def run_mutants(
    course: Course,
    exercises: Sequence[str] = (),
    *,
    hidden: Path | None = None,
    equivalent: Path | None = None,
    isolation: str = "auto",
    cache: Path | None = None,
    jobs: int = 1,
    begin: Callable[[int], None] = lambda _: None,
    done: Callable[[int], None] = lambda _: None,
) -> list[Tally]:
    """Grade the mutants of exercises.

    Args:
        course: The course.
        exercises: Their ids; all if there are none.
        hidden: The directory of hidden tests.
        equivalent: The list of mutants that are equivalent.
        isolation: The sandbox's kind.
        cache: Where results are kept.
        jobs: Processes to use.
        begin: Called with the number of mutants.
        done: Called with how many more of them are graded.

    Returns:
        A tally for each exercise, in the order asked for.

    Raises:
        CourseError: If an exercise is unknown, or the list cannot be read.
        HiddenTestError: If a hidden test is at fault.
        SandboxError: If no sandbox can be had, or it failed.
    """
    wanted = [course.exercise(each).id for each in exercises] or list(course.exercises)
    entries = read_equivalents(equivalent or course.directory / EQUIVALENT, wanted)
    mutants = [mutant for exercise in wanted for mutant in mutants_of(course, exercise)]
    begin(len(mutants))
    setting = _Setting(course.path, hidden or course.hidden, isolation, cache)
    batches = [mutants[first : first + BATCH] for first in range(0, len(mutants), BATCH)]
    found: dict[int, list[Outcome]] = {}
    for number, outcomes in _run(setting, batches, jobs):
        found[number] = outcomes
        done(len(outcomes))
    outcomes = [outcome for number in range(len(batches)) for outcome in found[number]]
    return [_tally(exercise, outcomes, entries) for exercise in wanted]


def _run(setting: _Setting, batches: Sequence[Sequence[Mutant]], jobs: int) -> Iterator[tuple[int, list[Outcome]]]:
    if jobs == 1 or len(batches) == 1:
        with setting.judge() as judge:
            for number, batch in enumerate(batches):
                yield number, _grade_all(judge, batch)
        return
    with pool_of(jobs, _begin, setting) as pool:
        numbers = {pool.submit(_grade_in_process, batch): number for number, batch in enumerate(batches)}
        try:
            for future in as_completed(numbers):
                yield numbers[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_judges: list[Judge] = []
"""A process's judge, once it has begun."""


def _begin(setting: _Setting) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches every process: these end without a word
    _judges.append(setting.judge())
    atexit.register(_judges[0].close)


def _grade_in_process(batch: Sequence[Mutant]) -> list[Outcome]:
    return _grade_all(_judges[0], batch)


def _grade_all(judge: Judge, batch: Sequence[Mutant]) -> list[Outcome]:
    return [_grade(judge, mutant) for mutant in batch]


def _grade(judge: Judge, mutant: Mutant) -> Outcome:
    graded = judge.grade_text(judge.course.exercise(mutant.exercise), mutant.text, points_only=True)
    failed = [verdict for verdict in graded.verdicts if not verdict.passed]
    if graded.full:
        return Outcome(mutant, "survived")
    return Outcome(mutant, "timed out" if _only_late(graded) else "killed", failed[0].test if failed else graded.reason)


def _only_late(graded: Graded) -> bool:
    """Return whether an answer that did not come in time is all that cost points."""
    failures = {verdict.failure for verdict in graded.verdicts if not verdict.passed}
    return "timeout" in failures and failures <= {"timeout", "killed"}  # killed: asked after the session had ended


def _tally(exercise: str, outcomes: Sequence[Outcome], entries: Sequence[Equivalent]) -> Tally:
    own = [outcome for outcome in outcomes if outcome.mutant.exercise == exercise]
    listed = [entry for entry in entries if entry.exercise == exercise]
    marked = [
        replace(outcome, equivalent=next((entry for entry in listed if entry.names(outcome.mutant)), None))
        for outcome in own
    ]
    stale = []
    for entry in listed:
        meant = [outcome for outcome in own if entry.names(outcome.mutant)]
        if not meant or any(outcome.status != "survived" for outcome in meant):
            stale.append(entry)
    return Tally(exercise, tuple(marked), tuple(stale))


def share_of_equivalents(tallies: Sequence[Tally]) -> float:
    """The share of mutants that are listed as equivalent."""
    total = sum(len(tally.outcomes) for tally in tallies)
    return sum(tally.equivalent for tally in tallies) / total if total else 0.0


def problems_of(tallies: Sequence[Tally], *, whole: bool) -> list[str]:
    """The faults of hidden tests or of the list, a sentence each.

    Args:
        tallies: The tallies.
        whole: Whether that is the whole course: only then the share of equivalent mutants says something.
    """
    problems = []
    for tally in tallies:
        for outcome in tally.survivors:
            where = f"{tally.exercise}: {outcome.mutant.place}: {outcome.mutant.change}"
            problems.append(f"{where}: no hidden test notices this\n{outcome.mutant.diff}")
        for entry in tally.stale:
            problems.append(f"{tally.exercise}: {EQUIVALENT} lists {entry}, which is no mutant, or which is killed")
    share = share_of_equivalents(tallies)
    if whole and share > MOST_EQUIVALENT:
        problems.append(f"{share:.1%} of the mutants are listed as equivalent; {MOST_EQUIVALENT:.0%} may be")
    return problems
