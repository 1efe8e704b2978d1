"""A probe: what shows that an answer makes one mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from minigrad import exercises
from minigrad.checks.runner import SECONDS, _time_limit, _TooSlow


@dataclass(frozen=True)
class Probe:
    """A mistake, and how to see it.

    Attributes:
        name: A short name.
        exercise: Where it is made.
        sentence: What is wrong, and why MiniTorch's tests pass.
        is_made: Whether an answer makes it.
        title: The check that sees it where all others pass, if one does.
    """

    name: str
    exercise: str
    sentence: str
    is_made: Callable[[Mapping[str, Any]], bool] = lambda _: False
    title: str = ""


def shows(probe: Probe, objects: Mapping[str, Any], seconds: float = SECONDS) -> bool:
    """Return whether an answer makes a mistake; one that is not written, does not end or breaks otherwise does not."""
    try:
        with _time_limit(seconds), exercises.install(exercises.collect(probe.exercise, objects)):
            return probe.is_made(objects)
    except (Exception, SystemExit, _TooSlow):
        return False


def unlike(
    wanted: Any, ask: Callable[[Any], Any], usual: Callable[[Any], bool], *, raising: bool = False
) -> Callable[[Mapping[str, Any]], bool]:
    """Return a test of answers: right in what MiniTorch's tests ask, but not as wanted in a question.

    Args:
        wanted: The right outcome.
        ask: The question. It is such that other mistakes that pass `usual` give the right outcome.
        usual: Whether an answer is right in what MiniTorch's tests ask. They see every other mistake.
        raising: Whether an error shows the mistake, too.
    """

    def is_made(answer: Mapping[str, Any]) -> bool:
        student = SimpleNamespace(**answer)
        if not usual(student):
            return False
        try:
            return bool(ask(student) != wanted)
        except NotImplementedError:  # not written
            return False
        except Exception:
            return raising

    return is_made
