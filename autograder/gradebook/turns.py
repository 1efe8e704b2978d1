"""The turn to record: of all runs on a course, one at a time writes into its gradebook and its ledger.

Two writers that both look for a row, do not find it and add it would end in an IntegrityError of the database.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Self

from autograder.common.claims import Claim
from autograder.gradebook.diagnosing import GradebookError

PATIENCE = 120.0
"""Seconds that a run waits for its turn; to record a submission takes less than one."""

PAUSE = 0.02
"""Seconds from one look to the next."""


class Turn:
    """A run's turn to record, held during a block; blocks may be nested.

    Args:
        root: The course's directory.
    """

    def __init__(self, root: Path) -> None:
        self._claim = Claim(root / ".grades" / "recording.lock")
        self._depth = 0

    def __enter__(self) -> Self:
        """Wait for the turn.

        Raises:
            GradebookError: If it does not come.
        """
        end = time.monotonic() + PATIENCE
        while not self._claim.take():
            if time.monotonic() > end:
                raise GradebookError(
                    f"another run has been recording for more than {PATIENCE:g} s; give the same command again"
                )
            time.sleep(PAUSE)
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._claim.give_back()
