"""A listener hears what the judge sees of one exercise, beyond points and reasons."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from autograder.judging.student import Asked
from autograder.results import Verdict
from autograder.sandbox import Session


class Listener:
    """Hears nothing; a listener of its own kind overrides what it wants to hear.

    Args:
        exercise: The exercise that it listens to. The judge takes no cached result for that one, and caches none.
    """

    def __init__(self, exercise: str = "") -> None:
        self.exercise = exercise

    def cells_ran(self, session: Session) -> None:
        """The submission's cells were run, for the first time."""

    def test_begins(self) -> None:
        """A hidden test is about to be called."""

    def asked(self) -> None:
        """A hidden test puts a question to the student's code."""

    def judged(
        self, item: pytest.Item, verdict: Verdict, questions: Sequence[Asked], error: BaseException | None
    ) -> None:
        """A hidden test has its verdict.

        Args:
            item: The test.
            verdict: Its finding.
            questions: Its questions in the call that decided.
            error: Its error, if it raised one.
        """
