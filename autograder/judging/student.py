"""Questions of a hidden test to a student's code, and answers: plain data, or a failure in words for the student."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from autograder.common.comparing import same

FATAL = frozenset({"timeout", "memory", "killed", "output", "not-done"})
"""Failures that the next observation of the same test would only repeat, at the same cost."""

UNSTABLE = "unstable", "the answer differs from one call to the next with the same input"
"""The failure of an answer that was asked for twice: its kind, and what the student reads."""


MAX_ASKED = 64
"""Questions of a test that are remembered for its report, the last ones."""


class HiddenTestError(Exception):
    """A hidden test is at fault, not a student; the message says which one and why."""


class StudentFailure(AssertionError):
    """The student's code gave no answer; the message is for the student.

    Args:
        kind: The sandbox's word for it, such as ``"error"`` or ``"unstable"``.
        message: The failure in words.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class StudentStopped(BaseException):
    """As `StudentFailure`, where going on would only waste time; no property test may retry after it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Failure(Protocol):
    """Why an observation gave no value."""

    @property
    def kind(self) -> str:
        """A word: ``error``, ``timeout``, ``memory``, ..."""

    @property
    def message(self) -> str:
        """A sentence for the student."""


class Observation(Protocol):
    """An answer of the sandbox."""

    @property
    def ok(self) -> bool:
        """True if there is a value."""

    @property
    def value(self) -> Any:
        """Plain data."""

    @property
    def failure(self) -> Failure | None:
        """Why there is no value."""


class Session(Protocol):
    """A submission at rest in the sandbox, after its cells have run."""

    def observe(self, probe: bytes, args: list[Any]) -> Observation:
        """Call a packed probe on a copy of the submission's state."""


@dataclass(frozen=True)
class Asked:
    """One question of a hidden test, and its answer.

    Attributes:
        names: The names of the probe's arguments.
        args: The arguments.
        answered: Whether an answer came.
        value: The answer.
    """

    names: tuple[str, ...]
    args: tuple[Any, ...]
    answered: bool = False
    value: Any = None


class Student:
    """The fixture's value: asks the sandbox what the student's code does.

    Args:
        session: The submission in the sandbox.
        pack: Turns a probe into what the sandbox takes, or raises.
        refusal: Why nothing is asked; the empty string if it is.
        answers: The directory that holds `wrong` and `variants`.
    """

    def __init__(
        self,
        session: Session,
        pack: Callable[[Callable[..., Any]], bytes],
        refusal: str = "",
        answers: Path = Path(),
    ) -> None:
        self.answers = answers
        self._session = session
        self._refusal = refusal
        self._pack = pack
        self._stopped: StudentStopped | None = None
        self.answered = False
        self.fault: Exception | None = None
        self.asked: deque[Asked] = deque(maxlen=MAX_ASKED)

    def __call__(self, observe: Callable[..., Any], *args: Any, twice: bool = False) -> Any:
        """Run ``observe(library, *args)`` with the student's code installed and return what it returns.

        Args:
            observe: The probe: no free variables, no defaults, whitelisted modules only.
            args: Plain data for it.
            twice: Whether to ask again, from the same state, and to refuse answers that differ.

        Raises:
            StudentFailure: If the student's code raised, or answered with something that is not plain data.
            StudentStopped: If it ran out of time or memory, or ended its process.
        """
        over = self.fault or self._stopped
        if over is not None:
            raise over
        if self._refusal:
            raise StudentFailure("unwatched", self._refusal)
        probe = self._packed(observe)
        names = tuple(inspect.signature(observe).parameters)[1:]
        self.asked.append(Asked(names, args))
        value = self._ask(probe, list(args))
        self.asked[-1] = Asked(names, args, True, value)
        if twice and not same(value, self._ask(probe, list(args))):
            raise StudentFailure(*UNSTABLE)
        return value

    def _packed(self, observe: Callable[..., Any]) -> bytes:
        try:
            return self._pack(observe)
        except Exception as error:
            self.fault = HiddenTestError(f"its probe cannot be shipped: {error}")
            raise self.fault from error

    def _ask(self, probe: bytes, args: list[Any]) -> Any:
        try:
            observation = self._session.observe(probe, args)
        except Exception as error:  # the sandbox itself failed, which is nobody's zero
            self.fault = error
            raise
        self.answered = True
        if observation.ok:
            return observation.value
        failure = observation.failure
        kind, message = (failure.kind, failure.message) if failure else ("error", "no answer came back")
        if kind in FATAL:
            self._stopped = StudentStopped(kind, message)
            raise self._stopped
        raise StudentFailure(kind, message)
