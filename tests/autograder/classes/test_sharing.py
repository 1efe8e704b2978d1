"""Several runs on one course share the work by claims, whatever becomes of one of them."""

import contextlib
import os
import signal
import time
from collections import Counter
from types import SimpleNamespace

import pytest
from processes import standing, until

from autograder.classes import Progress, Work, grade_class, work
from autograder.classes.claims import Claims
from autograder.classes.work import Task
from autograder.results import Graded, GroupScore, Submission
from autograder.results.ledger import LEDGER, WAITING, Entry, entry_path, read_entry, write_entry

LESSONS = ("00_numbers", "01_order")
STUDENTS = ("ada", "bea", "cem", "dan", "eve")


class QuickJudge:
    """Notes whose notebook it grades, after a moment; it needs no sandbox."""

    def __init__(self, root, stands=""):
        assignments = {"week0": SimpleNamespace(lessons=LESSONS)}
        self.course = SimpleNamespace(directory=root, assignments=assignments, of_lesson=lambda lesson: ())
        self.fingerprint = SimpleNamespace(state=lambda lesson: "today")
        self._stands = stands

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def prepare(self, lesson):
        pass

    release = prepare

    def heat(self):
        """Say that there is nothing to make ready."""
        return False

    def grade(self, path, lesson):
        """Grade what `regraft` gave; stand still at the notebook of one student."""
        student = path.parts[-3]
        with (self.course.directory / "graded").open("a") as file:
            file.write(f"{student} {lesson} {os.getppid()}\n")
        if student == self._stands:
            signal.pause()
        time.sleep(0.05)
        return Submission(lesson, (Graded("operators.arithmetic", 1.0, (GroupScore("all", 1.0, 1.0),)),))


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A course's folder with submissions of two notebooks, which are taken in and grafted at once."""
    monkeypatch.setattr(work, "tidy", lambda root, folder: None)
    monkeypatch.setattr(work, "regraft", lambda course, lesson, path, originals: path)
    monkeypatch.setattr(work, "_is_whole", lambda judge, entry: True)
    for each in works():
        each.folder(tmp_path).mkdir(parents=True)
        for lesson in LESSONS:
            (each.folder(tmp_path) / f"{lesson}.ipynb").write_text(f"{each.student} {lesson}")
    return tmp_path


def works():
    return [Work(student, "week0") for student in STUDENTS]


def run(root, *, keep=True, stands=""):
    """Grade the class as `autograder autograde` does; returns what was counted, and the outcomes."""
    judge, progress = QuickJudge(root, stands), Progress()
    claims = Claims(judge.course, works())
    found = grade_class(judge, works(), jobs=1, keep=keep, write=True, progress=progress, claims=claims)
    return progress.counts, [outcome for outcome in found if outcome is not None]


@contextlib.contextmanager
def another_run(root, **options):
    """A run in a process of its own; it is at work when the block begins."""
    process = os.fork()
    if process == 0:
        try:
            run(root, **options)
        finally:
            os._exit(0)
    assert until(lambda: graded(root))
    try:
        yield process
    finally:
        if options.get("stands"):  # it does not end by itself
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def graded(root):
    """The notebooks that were graded, each with the run that graded it."""
    path = root / "graded"
    return [tuple(line.split()) for line in path.read_text().splitlines()] if path.exists() else []


def claims_left(root):
    return list(root.rglob("*.lock"))


@pytest.mark.parametrize("keep", [True, False], ids=["--keep", "--fresh"])
def test_two_runs_grade_each_notebook_once(root, keep):
    """They grade different notebooks of the same class, and each has the results of both at the end."""
    for each in works():  # recorded by other tests: --fresh grades it again
        for lesson in LESSONS if not keep else ():
            write_entry(root, Entry(each.student, "week0", lesson, "old", "2027", Submission(lesson, ()), "old"))
    with another_run(root, keep=keep):
        counts, outcomes = run(root, keep=keep)
    assert Counter(line[:2] for line in graded(root)) == {(who, lesson): 1 for who in STUDENTS for lesson in LESSONS}
    ours = sum(int(run) == os.getpid() for *_, run in graded(root))
    assert 0 < ours < 10 and counts["shared"] == 10 - ours and counts["kept"] == 0
    assert sorted(outcome.work.student for outcome in outcomes) == sorted(STUDENTS)
    assert all(entry.state == "today" for outcome in outcomes for entry in outcome.entries)
    assert claims_left(root) == []


def test_what_a_killed_run_was_at_is_graded_by_the_other(root):
    """A run waits for a notebook that another one is at; once that is killed, it grades the notebook itself."""
    with another_run(root, stands="ada") as other:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        before = signal.signal(signal.SIGALRM, lambda *_: os.kill(other, signal.SIGKILL))
        try:
            _, outcomes = run(root)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    assert sorted(outcome.work.student for outcome in outcomes) == sorted(STUDENTS)
    twice = [line for line, count in Counter(line[:2] for line in graded(root)).items() if count > 1]
    assert twice == [("ada", "00_numbers")]


def test_a_claim_ends_with_its_process(root):
    """While its process is alive nobody else has it; when SIGKILL has ended that, the next one has it at once."""
    course, task = QuickJudge(root).course, Task(works()[0], LESSONS[0])

    def claim(stop):
        assert Claims(course, works()).take(task)
        stop()

    ours = Claims(course, works())
    with standing(claim):
        assert ours.take(task) is None
        other = Task(works()[1], LESSONS[0])
        assert ours.take(other) == other
    assert ours.take(task) == task
    ours.close()
    assert claims_left(root) == []


def test_a_claim_that_is_given_back_is_free(root):
    """That holds also while a process is alive that was forked beside the claim."""
    course, task = QuickJudge(root).course, Task(works()[0], LESSONS[0])
    ours = Claims(course, works())
    assert ours.take(task)
    with standing(lambda stop: stop()):
        assert Claims(course, works()).take(task) is None
        ours.give_back(task)
        assert Claims(course, works()).take(task) == task


def test_an_entry_that_is_recorded_is_not_another_one(root):
    """A result that moves from `waiting` to the ledger was there before; a new one is another run's."""
    course, task = QuickJudge(root).course, Task(works()[0], LESSONS[0])
    entry = Entry("ada", "week0", LESSONS[0], "sha", "2027", Submission(LESSONS[0], ()), "today")
    write_entry(root, entry, WAITING)
    claims = Claims(course, works())
    home = entry_path(root, "ada", "week0", LESSONS[0], LEDGER)
    home.parent.mkdir(parents=True)
    entry_path(root, "ada", "week0", LESSONS[0], WAITING).rename(home)
    assert read_entry(root, "ada", "week0", LESSONS[0]) == entry
    assert claims.take(task) == task
    claims.give_back(task)
    write_entry(root, Entry("ada", "week0", LESSONS[0], "sha", "2028", Submission(LESSONS[0], ()), "today"))
    assert claims.take(task).shared
    claims.close()
