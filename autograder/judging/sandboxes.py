"""Sandboxes that stay warm from one submission to the next, one for each exercise."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.sandbox import Limits, Sandbox

WARM = 32
"""Sandboxes that are kept waiting for the next submission: each of them holds a library in memory."""


class Sandboxes:
    """A pool of warm sandboxes; the least recently used one is closed where there are too many.

    Args:
        isolation: Their kind.
        course: The course.
        most: How many there may be, if more than `WARM`.
    """

    def __init__(self, isolation: str, course: Course, most: int = 0) -> None:
        self._isolation, self._course, self._most = isolation, course, most
        self._warm: dict[str, Sandbox] = {}  # the last one used is the last one here

    def of(self, exercise: Exercise, edition: Path, limits: Limits) -> Sandbox:
        """Return the sandbox of an exercise, started if it is not there."""
        box = self._warm.pop(exercise.id, None)
        if box is None:
            while len(self._warm) >= max(WARM, self._most):
                self._warm.pop(next(iter(self._warm))).close()
            library, data = self._course.library, self._course.data(exercise)
            preload = _preloaded(exercise, library.package)
            box = Sandbox(edition, limits, isolation=self._isolation, preload=preload, library=library, data=data)
            box.warm()
        self._warm[exercise.id] = box
        return box

    @property
    def warm(self) -> Collection[str]:
        """The exercises whose sandboxes wait."""
        return self._warm.keys()

    def close(self, but: Collection[str] = (), beside: int = 0) -> None:
        """End the sandboxes of all exercises but some, and but so many that were used last."""
        others = [each for each in self._warm if each not in but]
        for exercise in others[: max(0, len(others) - max(0, beside))]:
            self._warm.pop(exercise).close()


def _preloaded(exercise: Exercise, package: str) -> tuple[str, ...]:
    """Modules that a sandbox imports first: an exercise's compiler, and the library's module that uses it."""
    modules = dict.fromkeys(f"{package}.{name.rpartition('.')[0]}" for name in exercise.objects)
    return (*exercise.uses, *modules) if exercise.uses else ()
