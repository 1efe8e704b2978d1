"""The interface for grading a class, of this machine's processes (`pool`) and of a cluster's workers (`cluster`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

from autograder.classes.work import Done, Task

AHEAD = 2
"""Tasks that a process has at hand, so that it need not wait for the next one."""

TICK = 0.2
"""Seconds after which the caller hears something, if only that the time goes by."""


class Executor(Protocol):
    """Does tasks, in any order. At the end of its `with` block everything that it started is ended."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def busy(self) -> bool:
        """True if anything is still to be done."""
        ...

    @property
    def at(self) -> tuple[str, ...]:
        """The students whose work is being graded at this moment, or what is waited for."""
        ...

    def add(self, tasks: Sequence[Task]) -> None:
        """Take tasks on."""
        ...

    def answers(self) -> list[Done]:
        """Return the tasks done since the last call; an empty list if none ended for a moment.

        Raises:
            HiddenTestError: If a hidden test is at fault.
            GraderError: If the tasks can be done no longer.
        """
        ...
