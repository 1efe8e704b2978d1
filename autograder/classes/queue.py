"""The queue of tasks that wait to be given out, by lesson."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection

from autograder.classes.claims import Claims
from autograder.classes.work import Done, Task

ATTEMPTS = 2
"""Number of times that a task is given out whose process did not survive it."""


class TaskQueue:
    """Tasks that wait. A task that another run is working on is put back, and comes again later.

    Args:
        claims: Claims of this run; None if no other run is to be heeded.
    """

    def __init__(self, claims: Claims | None) -> None:
        self._claims = claims
        self._queues: dict[str, deque[Task]] = {}
        self._elsewhere = deque[Task]()  # another run was at them when they were to be given out
        self._attempts = Counter[Task]()

    @property
    def waits(self) -> bool:
        """True if a task is still to be given out."""
        return any((*self._queues.values(), self._elsewhere))

    @property
    def is_elsewhere(self) -> bool:
        """True if another run is at one of the tasks."""
        return bool(self._elsewhere)

    def add(self, task: Task, *, first: bool = False) -> None:
        """Put a task at the end of its lesson's line, or at the beginning."""
        queue = self._queues.setdefault(task.lesson, deque())
        (queue.appendleft if first else queue.append)(task)

    def has(self, lesson: str) -> bool:
        """Return whether a task of a lesson is in line; the empty string means submissions to take in."""
        return bool(self._queues.get(lesson))

    def next(self, lesson: str, others: Collection[str] = ()) -> Task | None:
        """Claim the next task that no other run is at; None if there is none.

        Args:
            lesson: The lesson that has sandboxes already: its tasks come first, after submissions to take in.
            others: The lessons that other processes are at, one for each process.
        """
        taken = Counter(others)
        while (task := self._first(lesson, taken)) is not None:
            if (claimed := self._claimed(task)) is not None:
                return claimed
            self._elsewhere.append(task)
        for _ in range(len(self._elsewhere)):
            task = self._elsewhere.popleft()
            if (claimed := self._claimed(task)) is not None:
                return claimed
            self._elsewhere.append(task)
        return None

    def _first(self, lesson: str, taken: Counter[str]) -> Task | None:
        """A task of the lesson that has sandboxes, else of one that others are not at."""
        for name in ("", lesson):
            if self.has(name):
                return self._queues[name].popleft()
        waiting = [name for name, queue in self._queues.items() if queue]
        if not waiting:
            return None
        return self._queues[min(waiting, key=lambda each: (taken[each], -len(self._queues[each])))].popleft()

    def _claimed(self, task: Task) -> Task | None:
        return task if self._claims is None else self._claims.take(task)

    def give_back(self, task: Task) -> None:
        """Note that a task is done."""
        if self._claims is not None:
            self._claims.give_back(task)

    def lost(self, task: Task, how: str) -> Done | None:
        """Put a task in line again whose process did not survive it; after some attempts it could not be done."""
        self._attempts[task] += 1
        if self._attempts[task] < ATTEMPTS:
            self.add(task, first=True)
            return None
        self.give_back(task)
        return Done.failed(task, f"the process that graded it ended ({how})")

    def close(self) -> None:
        """Leave what is not done to other runs."""
        if self._claims is not None:
            self._claims.close()
