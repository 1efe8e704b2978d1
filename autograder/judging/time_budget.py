"""The time of a question, which a submission that answers too late too often has less of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class TimeBudget:
    """A session in which a question gets a fifth of the time after two were answered too late.

    An exercise of many tests with an endless function does not cost each of them its full time, and quick functions
    beside it still answer.

    Args:
        session: The submission in the sandbox.
        seconds: The time of a question.
        asked: Called before each question.
    """

    def __init__(self, session: Any, seconds: float, asked: Callable[[], None] = lambda: None) -> None:
        self._session = session
        self._seconds = seconds
        self._asked = asked
        self._late = 0

    def observe(self, probe: bytes, args: list[Any]) -> Any:
        """Ask the session."""
        self._asked()
        seconds = self._seconds / 5 if self._late >= 2 else None
        observation = self._session.observe(probe, args, seconds)
        self._late += observation.failure is not None and observation.failure.kind == "timeout"
        return observation
