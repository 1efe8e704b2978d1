"""A pool of processes of this machine, one for each core, and the work shared out among them.

A process stays with a lesson as long as there is work for it, since the sandboxes of a lesson's exercises are what
is slow to start and large to keep. Nothing is lost when a process is: what it had is given to another.

Several pools, each of another run on the same course, share the work by their claims.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Self

from autograder.classes.claims import Claims
from autograder.classes.executor import AHEAD, TICK, Executor
from autograder.classes.queue import TaskQueue
from autograder.classes.work import Done, Outcome, Progress, Task, Work
from autograder.classes.worker import Fault, serve
from autograder.judging.judge import Judge


def cores() -> int:
    """Return how many processes of this machine may work for us."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def grade_class(
    judge: Judge,
    works: Sequence[Work],
    *,
    jobs: int = 0,
    keep: bool = True,
    write: bool = False,
    lessons: Collection[str] | None = None,
    progress: Progress | None = None,
    claims: Claims | None = None,
    scheduler: str = "",
) -> Iterator[Outcome | None]:
    """Grade submissions in parallel; yield each as it is finished, and None now and then while nothing is.

    Args:
        judge: The judge; each process works with a copy of it, and it itself opens no sandbox.
        works: The submissions, of any assignments.
        jobs: How many processes; 0 for one a core.
        keep: Whether to take what was found before.
        write: Whether to keep what is found, until it is recorded.
        lessons: Grade only these notebooks of each submission; all, if it is None.
        progress: Counts to keep up to date.
        claims: Claims of this run, by which it leaves to another run what that is at; without them it grades all.
        scheduler: The address of a Dask scheduler whose workers are to grade, instead of processes of this machine.

    Raises:
        GraderError: If the cluster cannot be used, or is gone.
        HiddenTestError: If a hidden test is at fault.
        KeyboardInterrupt: If `progress` says that it is to stop.
    """
    progress = progress if progress is not None else Progress()
    chosen = _lessons(judge, works, lessons)
    prepare(judge, chosen)
    size = min(jobs or cores(), max(1, len(works)))
    with executor_of(judge, size, keep=keep, write=write, claims=claims, scheduler=scheduler) as executor:
        grading = Grading(executor, chosen, progress)
        grading.add(works)
        while executor.busy:
            if progress.stopped:
                raise KeyboardInterrupt
            yield from grading.outcomes() or (None,)


def _lessons(judge: Judge, works: Iterable[Work], lessons: Collection[str] | None) -> dict[str, tuple[str, ...]]:
    """The notebooks of each assignment that are to be graded."""
    return {
        name: tuple(each for each in judge.course.assignments[name].lessons if lessons is None or each in lessons)
        for name in dict.fromkeys(work.assignment for work in works)
    }


def prepare(judge: Judge, lessons: Mapping[str, Iterable[str]]) -> None:
    """Collect the tests and write the editions of some notebooks, before processes are forked that share them."""
    for names in lessons.values():
        for lesson in names:
            judge.prepare(lesson)


class Grading:
    """Submissions that an executor is at; more may come at any time.

    Args:
        executor: The executor, which has begun.
        lessons: The notebooks to grade of each assignment.
        progress: Counts to keep up to date.
    """

    def __init__(self, executor: Executor, lessons: Mapping[str, tuple[str, ...]], progress: Progress) -> None:
        self._executor, self._lessons, self._progress = executor, lessons, progress
        self._open: dict[Work, _Open] = {}

    def add(self, works: Iterable[Work]) -> None:
        """Take submissions on."""
        new = {work: _Open(self._lessons[work.assignment]) for work in works}
        self._open |= new
        self._progress.total += sum(len(each.lessons) for each in new.values())
        self._executor.add([Task(work) for work in new])

    def outcomes(self) -> list[Outcome]:
        """Return the submissions finished since the last call; an empty list if none was for a moment.

        Raises:
            GraderError: As `Executor.answers`.
            HiddenTestError: As `Executor.answers`.
        """
        found = []
        answers = self._executor.answers()
        self._progress.at = self._executor.at
        for done in answers:
            self._progress.add(done)
            self._executor.add(self._open[done.task.work].follow(done))
            outcome = self._open[done.task.work].outcome(done.task.work)
            if outcome is not None:
                self._progress.done += self._open.pop(outcome.work).left_out
                found.append(outcome)
        return found


def executor_of(
    judge: Judge, size: int, *, keep: bool, write: bool, claims: Claims | None, scheduler: str = ""
) -> Executor:
    """Processes of this machine, or the workers of a cluster."""
    if not scheduler:
        return _Pool(judge, size, keep, write, claims)
    from autograder.classes.cluster import Cluster  # needs a package that nobody else needs

    return Cluster(judge, keep, write, claims, scheduler)


@dataclass
class _Open:
    """A submission of which something is still to be done."""

    lessons: tuple[str, ...]
    done: dict[str, Done] = field(default_factory=dict)
    problem: str = ""

    def follow(self, done: Done) -> list[Task]:
        """Note what was done, and say what there is to do because of it."""
        self.done[done.task.lesson] = done
        self.problem = self.problem or done.problem
        if done.task.lesson or done.problem:
            return []
        return [Task(done.task.work, lesson) for lesson in self.lessons]

    @property
    def left_out(self) -> int:
        """Notebooks that are not graded yet, or never will be, since the submission could not be taken in."""
        return sum(lesson not in self.done for lesson in self.lessons)

    def outcome(self, work: Work) -> Outcome | None:
        """The submission's outcome; None if it is not finished."""
        taken_in = self.done[""]
        if not taken_in.problem and self.left_out:
            return None
        graded = [self.done[lesson] for lesson in self.lessons if lesson in self.done]
        entries = tuple(done.entry for done in graded if done.entry is not None)
        return Outcome(work, entries, all(done.kept for done in graded), self.problem)


@dataclass
class _Worker:
    """The parent's end of a process."""

    process: BaseProcess
    connection: Connection
    tasks: deque[Task] = field(default_factory=deque)
    lesson: str = ""


class _Pool:
    """Processes, and tasks that wait for them."""

    def __init__(self, judge: Judge, size: int, keep: bool, write: bool, claims: Claims | None) -> None:
        self._arguments = (judge, keep, write)
        self._queue = TaskQueue(claims)
        self._workers: list[_Worker] = []
        try:
            for _ in range(size):
                self._workers.append(self._start())
        except BaseException:
            self._stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _start(self) -> _Worker:
        # Forked, so that tests are collected and editions written once; there is no sandbox without fork anyway.
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        judge, keep, write = self._arguments
        process = context.Process(target=serve, args=(judge, theirs, os.getpid(), keep, write), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _stop(self) -> None:
        """End all processes; each removes what its sandboxes made, if it is quick."""
        for worker in self._workers:
            worker.process.terminate()
        deadline = time.monotonic() + 5
        for worker in self._workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.connection.close()
        self._queue.close()

    @property
    def busy(self) -> bool:
        """True if anything is still to be done."""
        return self._queue.waits or any(worker.tasks for worker in self._workers)

    @property
    def at(self) -> tuple[str, ...]:
        """The students whose work the processes are at; another run, if only that has work."""
        students = tuple(dict.fromkeys(worker.tasks[0].work.student for worker in self._workers if worker.tasks))
        return students or (("another run",) if self._queue.is_elsewhere else ())

    def add(self, tasks: Sequence[Task]) -> None:
        """Put tasks into line, and to work."""
        for task in tasks:
            self._queue.add(task)
        # Whoever has least at hand comes first, so that nobody idles while another takes two.
        for worker in sorted(self._workers, key=lambda each: len(each.tasks)):
            self._feed(worker)

    def _feed(self, worker: _Worker) -> None:
        while len(worker.tasks) < AHEAD and (task := self._next(worker)) is not None:
            worker.tasks.append(task)
            worker.lesson = task.lesson or worker.lesson
            try:
                worker.connection.send(task)
            except OSError:
                return  # it is gone, which `answers` finds out

    def _next(self, worker: _Worker) -> Task | None:
        """A task that no other run is at."""
        return self._queue.next(worker.lesson, [each.lesson for each in self._workers if each is not worker])

    def answers(self) -> list[Done]:
        """Return the tasks done since the last call; an empty list if none ended for a moment.

        Raises:
            HiddenTestError: If a hidden test is at fault.
        """
        by_connection = {worker.connection: worker for worker in self._workers}
        found = []
        for connection in wait(list(by_connection), TICK):
            worker = by_connection[connection]  # type: ignore[index]  # nothing else is waited for
            try:
                answer = worker.connection.recv()
            except (EOFError, OSError):
                found += self._replace(worker)
                continue
            task = worker.tasks.popleft()
            if isinstance(answer, Fault):
                raise answer.seen_in(task)
            self._queue.give_back(task)
            found.append(answer)
        self.add([])
        return found

    def _replace(self, worker: _Worker) -> list[Done]:
        """Start a process in the place of one that is gone; what it was at is given out again, but not for ever."""
        worker.process.join()
        worker.connection.close()
        self._workers.remove(worker)
        for task in list(worker.tasks)[:0:-1]:
            self._queue.add(task, first=True)
        lost = self._queue.lost(worker.tasks[0], str(worker.process.exitcode)) if worker.tasks else None
        self._workers.append(self._start())
        return [] if lost is None else [lost]
