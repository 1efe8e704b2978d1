"""The notebooks that a run is at, so that several runs share a class: each notebook is graded by one of them.

A run claims a notebook when it gives it to one of its processes, and gives it back when the result waits to be
recorded. A notebook that another run is at comes again later. By then either its result is there, which is taken, or
the other run was killed, and the notebook is graded here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace

from autograder.classes.work import Task, Work
from autograder.common.claims import Claim
from autograder.course import Course
from autograder.results.ledger import LEDGER, WAITING, entry_path


class Claims:
    """The tasks that this run has claimed.

    Args:
        course: The course.
        works: The submissions that this run is to grade, as it begins.
    """

    def __init__(self, course: Course, works: Iterable[Work]) -> None:
        self._root = course.directory
        self._held: dict[tuple[Work, str], Claim] = {}
        self._before = {
            (work, lesson): self._results(work, lesson)
            for work in works
            for lesson in course.assignments[work.assignment].lessons
        }

    def take(self, task: Task) -> Task | None:
        """Claim a task; None while another run is at it.

        Returns:
            The task, which knows whether another run has found its result since this one began.
        """
        key = task.work, task.lesson
        if key in self._held:  # the process that had it is gone
            return task
        path = entry_path(self._root, task.work.student, task.work.assignment, task.lesson, WAITING)
        claim = Claim(path.with_name(f".{path.stem if task.lesson else 'submission'}.lock"))
        if not claim.take():
            return None
        self._held[key] = claim
        return replace(task, shared=bool(self._results(*key) - self._before.get(key, frozenset())))

    def give_back(self, task: Task) -> None:
        """Leave a task to whoever wants it."""
        claim = self._held.pop((task.work, task.lesson), None)
        if claim is not None:
            claim.give_back()

    def close(self) -> None:
        """Give everything back."""
        while self._held:
            self._held.popitem()[1].give_back()

    def _results(self, work: Work, lesson: str) -> frozenset[tuple[int, int]]:
        """The files that hold a notebook's result, by number and time, which stay when an entry is recorded."""
        found = set()
        for place in (WAITING, LEDGER):  # in the order in which an entry moves
            with contextlib.suppress(FileNotFoundError):
                status = entry_path(self._root, work.student, work.assignment, lesson, place).stat()
                found.add((status.st_ino, status.st_mtime_ns))
        return frozenset(found)
