"""Grading on a Dask cluster: the workers get notebooks as bytes, this process takes submissions in and keeps results.

A worker's answer is JSON, and is read as a file of the ledger is. A result counts only if it is of the same notebook,
by the same tests, limits, library and code of the grader (`Fingerprint.state`).

If a worker is lost, Dask gives its notebooks to another one. A notebook whose workers are lost again and again counts
as one that could not be graded. If the scheduler is lost, the run ends. What was graded until then is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import queue
import secrets
from collections.abc import Callable, Sequence
from typing import Self, TypeVar

from distributed import CancelledError, Client, Future, KilledWorker

from autograder.classes.claims import Claims
from autograder.classes.dask_worker import GradingPlugin, answer
from autograder.classes.executor import AHEAD, TICK
from autograder.classes.parcel import Answer, Question, pack_course
from autograder.classes.queue import TaskQueue
from autograder.classes.work import Done, Task, kept_entry, kept_with, reason_of
from autograder.classes.worker import Fault, attempt
from autograder.common.errors import GraderError
from autograder.grafting.collecting import recorded
from autograder.grafting.tidying import ORIGINALS
from autograder.judging.judge import Judge
from autograder.reading.student_files import one_line
from autograder.results.ledger import Entry

T = TypeVar("T")

_CONNECT_SECONDS = 10.0


class ClusterError(GraderError):
    """The cluster cannot grade; the message says what to do."""


class Cluster:
    """The workers of a Dask scheduler, as an `Executor`.

    Args:
        judge: The judge, which opens no sandbox here.
        keep: Whether to take what was found before.
        write: Whether to keep what is found, until it is recorded.
        claims: Claims of this run.
        scheduler: The scheduler's address.

    Raises:
        ClusterError: If no scheduler answers, or its workers cannot load the grader.
    """

    def __init__(self, judge: Judge, keep: bool, write: bool, claims: Claims | None, scheduler: str) -> None:
        self._judge, self._keep, self._write = judge, keep, write
        self._scheduler = scheduler
        self._queue, self._new = TaskQueue(claims), TaskQueue(claims)
        self._lesson = ""
        self._out: dict[Future[bytes], tuple[Task, str]] = {}
        self._ended: queue.SimpleQueue[Future[bytes]] = queue.SimpleQueue()
        self._room = 0
        self._is_wary = False  # then no task waits at a worker beside one that may bring it down, and is blamed with it
        parcel = pack_course(judge.course, judge.hidden)
        self._run = f"autograder-{hashlib.sha256(parcel).hexdigest()[:16]}-{secrets.token_hex(4)}"
        self._client = connected(scheduler)
        try:
            self._client.register_plugin(GradingPlugin(self._run, parcel, judge.isolation))
        except Exception as error:
            self._close()
            needed = "install minigrad-course[course,cluster] there"
            raise ClusterError(f"the workers of {scheduler} cannot grade: {reason_of(error)}; {needed}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        """Take everything back from the workers, and leave what is not done to other runs."""
        # A scheduler that is lost is told nothing: its workers end without it.
        with contextlib.suppress(Exception):
            if not self._is_lost:
                self._client.cancel(list(self._out), force=True)
                self._client.unregister_worker_plugin(self._run)
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)
        self._queue.close()

    @property
    def busy(self) -> bool:
        """True if anything is still to be done."""
        return self._new.waits or self._queue.waits or bool(self._out)

    @property
    def at(self) -> tuple[str, ...]:
        """The students whose work is being graded; a worker or another run, if that is waited for."""
        if not self._room:
            return ("a worker",)
        students = tuple(dict.fromkeys(task.work.student for task, _ in self._out.values()))
        return students or (("another run",) if self._queue.is_elsewhere else ())

    def add(self, tasks: Sequence[Task]) -> None:
        """Put tasks into line."""
        for task in tasks:
            (self._queue if task.lesson else self._new).add(task)

    def answers(self) -> list[Done]:
        """Return the tasks done since the last call; an empty list if none ended for a moment.

        Raises:
            HiddenTestError: If a hidden test is at fault.
            ClusterError: If the scheduler is lost, or a worker cannot grade.
        """
        if self._is_lost:
            raise self._loss()
        found = self._take_in()
        found += self._give_out()
        with contextlib.suppress(queue.Empty):
            found += self._received(self._ended.get(timeout=0 if found else TICK))
            while True:
                found += self._received(self._ended.get_nowait())
        return found

    def _take_in(self) -> list[Done]:
        """Take the next submission in: that writes into the course's folder, which only this process does."""
        task = self._new.next("")
        if task is None:
            return []
        done = attempt(self._judge, task, self._keep, self._write)
        if isinstance(done, Fault):
            raise done.seen_in(task)
        self._new.give_back(task)
        return [done]

    def _give_out(self) -> list[Done]:
        """Give the workers tasks, a few ahead; return those that need none."""
        self._room = (1 if self._is_wary else AHEAD) * sum(self._asked(self._client.nthreads).values())
        found = []
        while len(self._out) < self._room and (task := self._next()) is not None:
            self._lesson = task.lesson
            try:
                found += self._given(task)
            except ClusterError:
                raise
            except Exception as error:  # whatever one submission does, the class goes on
                self._queue.give_back(task)
                found.append(Done.failed(task, reason_of(error)))
        return found

    def _next(self) -> Task | None:
        """A task of the lesson that the workers have sandboxes for; another lesson's once everything is taken in."""
        if self._new.waits and self._lesson and not self._queue.has(self._lesson):
            return None
        return self._queue.next(self._lesson)

    def _given(self, task: Task) -> list[Done]:
        """Send a notebook, unless its result is there."""
        root, work = self._judge.course.directory, task.work
        data = (work.folder(root) / f"{task.lesson}.ipynb").read_bytes()
        sha256 = hashlib.sha256(data).hexdigest()
        if self._keep or task.shared:
            kept = kept_entry(self._judge, work, task.lesson, sha256, todays=not self._keep)
            if kept is not None:
                self._queue.give_back(task)
                return [Done(task, kept, True, stale=self._is_stale(kept))]
        record = recorded(root / ORIGINALS / work.student / work.assignment, task.lesson, data)
        question = Question(work.assignment, task.lesson, data, record).pack()
        future = self._asked(lambda: self._client.submit(answer, self._run, question, pure=False))
        self._out[future] = task, sha256
        future.add_done_callback(self._ended.put)
        return []

    def _received(self, future: Future[bytes]) -> list[Done]:
        """Check that the bytes of a worker are an answer, and return the result that it holds, if any."""
        task, sha256 = self._out.pop(future)
        try:
            said = Answer.unpack(self._asked(future.result), task.work.student)
        except KilledWorker as error:
            self._is_wary = True
            return self._lost(task, f"with its workers, the last one {error.last_worker.address}")
        except ValueError as error:
            raise ClusterError(f"a worker of {self._scheduler} gave {error}; install the same version there") from error
        if said.refusal:
            raise ClusterError(f"a worker of {self._scheduler} cannot grade: {said.refusal}")
        if said.fault:
            raise Fault(said.fault).seen_in(task)
        if said.ended:
            return self._lost(task, said.ended)
        done = self._done(task, sha256, said)
        self._queue.give_back(task)
        return [done]

    def _done(self, task: Task, sha256: str, said: Answer) -> Done:
        """Keep the result of an answer, or note why there is none."""
        if said.entry is None:
            return Done(task, problem=said.problem or f"{task.lesson}: no result came")
        self._check(task, sha256, said.entry)
        entry = kept_with(self._judge.course.directory, said.entry, keep=self._keep, write=self._write)
        return Done(task, entry, stale=self._is_stale(entry))

    def _lost(self, task: Task, how: str) -> list[Done]:
        """Give a task out once more; in the end it could not be done."""
        lost = self._queue.lost(task, how)
        return [] if lost is None else [lost]

    def _check(self, task: Task, sha256: str, entry: Entry) -> None:
        """Refuse the result of another notebook, or by other means than this machine's."""
        exercises = [each.id for each in self._judge.course.of_lesson(task.lesson)]
        asked = (task.work.assignment, task.lesson, sha256, self._judge.fingerprint.state(task.lesson), exercises)
        found = [each.exercise for each in entry.submission.exercises]
        if (entry.assignment, entry.lesson, entry.sha256, entry.state, found) != asked:
            raise ClusterError(
                f"a worker of {self._scheduler} grades by another version of the grader, or of a package that the "
                "course requires; install the same one there"
            )

    def _is_stale(self, entry: Entry) -> bool:
        return entry.state != self._judge.fingerprint.state(entry.lesson)

    def _asked(self, ask: Callable[[], T]) -> T:
        """Return what the scheduler or a worker answers; a lost scheduler and a worker's error become one sentence."""
        try:
            return ask()
        except KilledWorker:
            raise
        except (Exception, CancelledError) as error:
            if self._is_lost or isinstance(error, OSError | CancelledError):
                raise self._loss() from error
            raise ClusterError(f"a worker of {self._scheduler} cannot grade: {reason_of(error)}") from error

    @property
    def _is_lost(self) -> bool:
        comm = self._client.scheduler_comm
        return self._client.status != "running" or comm is None or comm.closed()

    def _loss(self) -> ClusterError:
        goes_on = "goes on" if self._keep else "begins anew"
        return ClusterError(
            f"the scheduler at {self._scheduler} is gone; what was graded is kept, and the same command {goes_on} once "
            "it is there again, or without --scheduler"
        )


def connected(scheduler: str) -> Client:
    """Return a client of the scheduler at an address.

    Raises:
        ClusterError: If none answers.
    """
    try:
        client = Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # an address that is none, a scheduler that is not there, certificates
        raise ClusterError(f"no Dask scheduler answers at {scheduler!r}: {one_line(str(error))}") from error
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":  # what matters is said in one sentence
            logging.getLogger(name).setLevel(logging.CRITICAL)
    return client
