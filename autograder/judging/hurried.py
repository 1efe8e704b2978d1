"""Questions to a submission that has been too late too often."""

from __future__ import annotations

from typing import Any

__all__ = ["Hurried"]


class Hurried:
    """A session in which a question gets a fifth of the time after two were answered too late.

    An exercise of many tests with an endless function does not cost each of them its full time, and quick functions
    beside it still answer.

    Args:
        session: The submission in the sandbox.
        seconds: The time of a question.
    """

    def __init__(self, session: Any, seconds: float) -> None:
        self._session = session
        self._seconds = seconds
        self._late = 0

    def observe(self, probe: bytes, args: list[Any]) -> Any:
        """Ask the session."""
        seconds = self._seconds / 5 if self._late >= 2 else None
        observation = self._session.observe(probe, args, seconds)
        self._late += observation.failure is not None and observation.failure.kind == "timeout"
        return observation
