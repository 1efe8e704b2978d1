"""Prove that the hidden tests grade well.

For every exercise: the reference and differently written right answers earn every point; answers that do no work
(`hollow`) earn none, in no group; every known-wrong answer runs, passes at least one test, is rejected by a test that
names its misconception, and costs what is fair (`weights`); and every hidden test is needed, because some wrong answer
is caught, by its misconception, by that test alone. A report on a wrong answer, or on two of them in one, names no
mistake but theirs.

The reasons that known-wrong answers get are kept in `wrong/seen.json` (`autograder verify --record`). A report names
a misconception only where a test sees the same, since many mistakes fail one test; else it says what was seen
(`results.causes`, `proof.record`).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

from autograder.building.pieces import unfilled
from autograder.building.slicing import slice_exercise
from autograder.common.python_text import parses
from autograder.course import Course, Exercise
from autograder.course.answers import VARIANTS, WRONG, variants, wrong_answers
from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.judging.plugin import HiddenTestError
from autograder.proof.fingerprints import fingerprint_of
from autograder.proof.hollow import answers_without_work
from autograder.proof.pool import end_without_a_word, no_interrupt, pool_of
from autograder.proof.weights import Cost, changed_objects, costs_of, unfair
from autograder.results import Graded, Verdict
from autograder.results.causes import KINDS, confirmed, essence, read_kinds
from autograder.sandbox import SandboxUnavailable


@dataclass(frozen=True)
class WrongAnswer:
    """A known-wrong answer.

    Attributes:
        misconception: The name of the mistake.
        rejected_by: The tests that rejected it by that name.
        saw: Each test that it fails, with the essence of what the test saw.
        shown: The finding that a report would show of it: of the first test that rejected it by that name, and with a
            picture if there is one.
        cost: What it costs, of one that is rejected by its name.
    """

    misconception: str
    rejected_by: tuple[str, ...]
    saw: tuple[tuple[str, str], ...] = ()
    shown: Verdict | None = None
    cost: Cost | None = None


@dataclass(frozen=True)
class Checked:
    """The findings about the hidden tests of one exercise; without problems they grade well.

    Attributes:
        exercise: Its id.
        tests: The names of its hidden tests.
        wrong: Its known-wrong answers.
        variants: The names of its variants.
        problems: A sentence for each thing that is wrong.
        of: The fingerprint of its tests and wrong answers.
        hollow: The points of each answer that does no work, by its name.
    """

    exercise: str
    tests: tuple[str, ...] = ()
    wrong: tuple[WrongAnswer, ...] = ()
    variants: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    of: str = ""
    hollow: tuple[tuple[str, float], ...] = ()


class Verifier:
    """Checks the hidden tests of exercises, one after the other.

    Args:
        judge: The judge of the answers.
        answers: The directory that holds `wrong` and `variants`.
    """

    def __init__(self, judge: Judge, answers: Path | None = None) -> None:
        self.judge = judge
        self.answers = answers or judge.course.directory

    def check(self, exercise: Exercise) -> Checked:
        """Check one exercise."""
        return replace(self._explained(exercise), of=fingerprint_of(exercise.id, self.judge.hidden, self.answers))

    def _explained(self, exercise: Exercise) -> Checked:
        """The findings; a test or a sandbox that does not work is one of them."""
        try:
            return self._check(exercise)
        except HiddenTestError as error:
            return Checked(exercise.id, problems=(str(error),))
        except SandboxUnavailable as error:
            if not (exercise.uses or exercise.limits or exercise.gives_away):
                raise  # then it is not this exercise's fault
            what = "correct its uses, limits or gives_away in course.toml"
            return Checked(exercise.id, problems=(f"its sandbox does not start: {error}; {what}",))

    def _check(self, exercise: Exercise) -> Checked:
        problems: list[str] = unfilled(self.judge.course, exercise, self.judge.hidden, self.answers)
        if problems:
            return Checked(exercise.id, problems=tuple(problems))
        source = slice_exercise(self.judge.course, exercise.id)
        reference = self._grade(exercise, source.reference_cell)
        problems += _right("the reference", reference)
        if problems:
            # Then whatever an answer earns says nothing: one cause would be told many times.
            again = "correct the tests, or its gives_away, uses, limits or setup in course.toml; nothing else was tried"
            return Checked(exercise.id, problems=(f"{problems[0]}; {again}",))
        tests = tuple(dict.fromkeys(_function(verdict.test) for verdict in reference.verdicts))
        hollow = self._hollow(exercise, problems)
        wrong = self._all_wrong(exercise, source.reference_cell, problems)
        variants = self._variants(exercise, problems)
        problems += self._falsely_named(exercise, source.reference_cell, wrong)
        course = self.judge.course
        if len(wrong) < course.fewest_wrong:
            problems.append(f"has {len(wrong)} known-wrong answers; write at least {course.fewest_wrong}")
        if len(variants) < course.fewest_variants:
            problems.append(f"has {len(variants)} variants of the answer; write at least {course.fewest_variants}")
        needed = {answer.rejected_by[0] for answer in wrong if len(answer.rejected_by) == 1}
        for test in tests:
            if test not in needed:
                problems.append(
                    f"{test} could be deleted unnoticed: no wrong answer is rejected, by its misconception, by it alone"
                )
        return Checked(exercise.id, tests, tuple(wrong), tuple(variants), tuple(problems), hollow=hollow)

    def _hollow(self, exercise: Exercise, problems: list[str]) -> tuple[tuple[str, float], ...]:
        """The points of answers that do no work; a group that some of them earn is a problem."""
        points, earned = [], defaultdict[str, list[str]](list)
        for name, text in answers_without_work(self.judge.course, exercise):
            graded = self._grade(exercise, text)  # whole: a known mistake costs one group alone
            points.append((name, graded.earned))
            for group in graded.groups:
                if group.earned:
                    earned[group.name].append(name)
        problems += [
            f"the group {group}, {exercise.groups[group]:g} of {exercise.points:g} points, is earned without work: "
            f"{_few(names)}; a test of that group must ask an ordinary case as well"
            for group, names in earned.items()
        ]
        return tuple(points)

    def _grade(self, exercise: Exercise, text: str) -> Graded:
        return self.judge.grade_text(exercise, text)

    def _all_wrong(self, exercise: Exercise, reference: str, problems: list[str]) -> list[WrongAnswer]:
        """The known-wrong answers, and what each of them costs."""
        texts = wrong_answers(self.answers, exercise.id)
        graded = {name: self._grade(exercise, text) for name, text in texts.items()}
        wrong = [self._wrong(exercise, name, text, graded[name], problems) for name, text in texts.items()]
        rejected = {answer.misconception: dict(answer.saw) for answer in wrong if answer.rejected_by}
        kinds = read_kinds(self.answers / KINDS).get(exercise.id, {})
        stray = sorted(kinds.keys() - texts.keys())
        problems += [f"{KINDS}: lists {name} of {exercise.id}, of which there is no wrong answer" for name in stray]
        costs = costs_of(exercise, {name: graded[name] for name in rejected}, rejected, kinds)
        bare, without = "\n".join(_bare(reference)), {name: "\n".join(_bare(texts[name])) for name in rejected}
        problems += unfair(exercise, costs, {name: changed_objects(bare, text) for name, text in without.items()})
        return [replace(answer, cost=costs.get(answer.misconception)) for answer in wrong]

    def _wrong(self, exercise: Exercise, slug: str, text: str, graded: Graded, problems: list[str]) -> WrongAnswer:
        where = f"wrong/{exercise.id}/{slug}.py"
        if not _docstring(text):
            problems.append(f"{where}: has no docstring that says what the mistake is")
        if graded.reason or graded.notes:
            problems.append(f"{where}: does not run: {'; '.join((graded.reason, *graded.notes)).strip('; ')}")
        elif not any(verdict.passed for verdict in graded.verdicts):
            problems.append(f"{where}: passes no test at all; a real mistake gets something right")
        failed = [verdict for verdict in graded.verdicts if not verdict.passed]
        naming = [verdict for verdict in failed if verdict.misconception == slug]
        rejected = dict.fromkeys(_function(verdict.test) for verdict in naming)
        if not rejected:
            by = _few([f"{v.test} ({v.misconception or v.failure or 'no name'})" for v in failed])
            problems.append(f"{where}: no test rejects it as {slug!r}" + (f"; rejected by {by}" if by else ""))
        saw = tuple((verdict.test, essence(verdict.reason)) for verdict in failed)
        drawn = [verdict for verdict in naming if verdict.example and verdict.example.picture]
        return WrongAnswer(slug, tuple(rejected), saw, next(iter(drawn or naming), None))

    def _falsely_named(self, exercise: Exercise, reference: str, wrong: Sequence[WrongAnswer]) -> Iterator[str]:
        """Problems of reports that name a mistake which was not made, in wrong answers alone and in pairs."""
        seen = {answer.misconception: dict(answer.saw) for answer in wrong if answer.rejected_by}
        texts = wrong_answers(self.answers, exercise.id)
        right = [reference, *variants(self.answers, exercise.id).values()]
        tried = [((name,), text) for name, text in texts.items()]
        for names, text in (*tried, *pairs(right, texts)):
            graded = confirmed(self._grade(exercise, text), seen)
            others = {each.misconception for each in graded.failures if each.misconception} - {*names}
            if others:
                yield f"a report on {' with '.join(names)} names {', '.join(sorted(others))}, which it does not do"

    def _variants(self, exercise: Exercise, problems: list[str]) -> list[str]:
        texts = variants(self.answers, exercise.id)
        for name, text in texts.items():
            problems += _right(f"variants/{exercise.id}/{name}.py", self._grade(exercise, text))
        return list(texts)


def pairs(right: Iterable[str], wrong: Mapping[str, str]) -> list[tuple[tuple[str, str], str]]:
    """Wrong answers that make two mistakes, each from two known ones that change different lines of a right answer.

    Each known one is taken at most once, so that there are few.

    Args:
        right: Right answers; the one that most pairs were made from is taken.
        wrong: Wrong answers by their mistakes.

    Returns:
        The names of the two mistakes, and the text of a solution cell.
    """
    texts = {name: _bare(text) for name, text in sorted(wrong.items()) if parses(text)}
    return max((list(_pairs(_bare(each), dict(texts))) for each in right), key=len)


def _pairs(right: list[str], left: dict[str, list[str]]) -> Iterator[tuple[tuple[str, str], str]]:
    while left:
        name, lines = left.popitem()
        for other in left:
            if (both := _merged(right, lines, left[other])) is not None:
                del left[other]
                yield (name, other), "\n".join(both)
                break


def _bare(text: str) -> list[str]:
    """The lines of a text as Python writes them, without docstrings and annotations of functions."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree).split("\n")


def _merged(right: list[str], one: list[str], other: list[str]) -> list[str] | None:
    """Both changes of a text in one; None where they concern the same lines, or neighbouring ones."""
    first, second = _changes(right, one), _changes(right, other)
    changes = sorted(first | second)  # what both changed alike is written otherwise, and no mistake
    if (
        first <= second
        or second <= first
        or any(then < end or then == at for (at, end, _), (then, _, _) in pairwise(changes))
    ):
        return None
    merged = list(right)
    for start, end, new in reversed(changes):
        merged[start:end] = new
    return merged


def _changes(right: list[str], text: list[str]) -> set[tuple[int, int, tuple[str, ...]]]:
    """Return the changed blocks between two texts as (start, end, new lines)."""
    codes = SequenceMatcher(None, right, text, autojunk=False).get_opcodes()
    return {(start, end, tuple(text[first:last])) for kind, start, end, first, last in codes if kind != "equal"}


def stray_answers(course: Course, answers: Path | None = None) -> list[str]:
    """Problems of directories of answers that belong to no exercise."""
    answers = answers or course.directory
    found = (path for kind in (WRONG, VARIANTS) for path in (answers / kind).glob("*") if path.is_dir())
    return [
        f"{path.parent.name}/{path.name}: course.toml lists no such exercise"
        for path in sorted(found)
        if path.name not in course.exercises and path.name != "__pycache__"
    ]


def _function(test: str) -> str:
    """A test's name without its parameters."""
    return test.partition("[")[0]


def _few(texts: Sequence[str]) -> str:
    """The first texts of many."""
    rest = f", and {len(texts) - 3} more" if len(texts) > 3 else ""
    return ", ".join(texts[:3]) + rest


def _docstring(text: str) -> str:
    try:
        return ast.get_docstring(ast.parse(text)) or ""
    except SyntaxError:
        return ""


def _right(name: str, graded: Graded) -> list[str]:
    """Problems of an answer that should earn every point."""
    if graded.full and not graded.notes:
        return []
    return [f"{name} earns {graded.earned:g} of {graded.points:g} points: {graded.lost}"]


def verify(
    course: Course,
    exercises: Sequence[str] = (),
    *,
    hidden: Path | None = None,
    answers: Path | None = None,
    isolation: str = "auto",
    cache: Path | None = None,
    jobs: int = 1,
    done: Callable[[Checked], None] = lambda _: None,
) -> list[Checked]:
    """Check the hidden tests of exercises.

    Args:
        course: The course.
        exercises: Their ids; all if there are none.
        hidden: The directory of hidden tests.
        answers: The directory that holds `wrong` and `variants`.
        isolation: The sandbox's kind.
        cache: Where results are kept.
        jobs: Processes to use.
        done: Called with each result as it comes.

    Returns:
        Results in the order asked for.

    Raises:
        CourseError: If an exercise is unknown.
        SandboxError: If no sandbox can be had, or a process was ended.
    """
    wanted = [course.exercise(each).id for each in exercises] or list(course.exercises)
    setting = _Setting(course.path, hidden or course.hidden, answers or course.directory, isolation, cache)
    found: dict[str, Checked] = {}
    for checked in _run(setting, wanted, jobs):
        found[checked.exercise] = checked
        done(checked)
    return [found[exercise] for exercise in wanted]


@dataclass(frozen=True)
class _Setting:
    """The arguments that a process needs to check exercises."""

    course: Path
    hidden: Path
    answers: Path
    isolation: str
    cache: Path | None

    def judge(self) -> Judge:
        course = load_course(self.course, tree=False)
        return Judge(course, hidden=self.hidden, isolation=self.isolation, cache=self.cache, shrink_seconds=0)


def _run(setting: _Setting, wanted: Sequence[str], jobs: int) -> Iterator[Checked]:
    if jobs == 1 or len(wanted) == 1:
        with setting.judge() as judge:
            verifier = Verifier(judge, setting.answers)
            for exercise in wanted:
                yield verifier.check(judge.course.exercise(exercise))
        return
    with pool_of(jobs, end_without_a_word) as pool:
        # The longest ones first, so that no process waits long for the other at the end.
        course = load_course(setting.course, tree=False)
        ordered = sorted(wanted, key=lambda each: -_expense(course.exercise(each), setting.answers))
        with no_interrupt():
            futures = [pool.submit(_check_in_process, setting, each) for each in ordered]
        for future in as_completed(futures):
            yield future.result()


def _expense(exercise: Exercise, answers: Path) -> int:
    """About how long an exercise takes: by the number of its answers, which a compiler makes longer."""
    count = len(wrong_answers(answers, exercise.id)) + len(variants(answers, exercise.id))
    return count * (5 if exercise.uses else 1)


def _check_in_process(setting: _Setting, exercise: str) -> Checked:
    with setting.judge() as judge:
        return Verifier(judge, setting.answers).check(judge.course.exercise(exercise))
