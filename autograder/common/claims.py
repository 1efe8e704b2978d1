"""Claims: files of a course's folder that say which run of the grader is at what, so that two runs share the work.

A claim is a lock of the operating system on a file (`common.atomic`), which ends with its process. So the claim of a
process that SIGKILL ends is void at once, and nobody waits for it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from autograder.common.atomic import lock, unlock


class Claim:
    """The right to do one thing in a course's folder, which one run has at a time.

    Where a system has no locks, every run has every right.

    Args:
        path: The file to lock, which is made if need be.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: int | None = None

    def take(self) -> bool:
        """Take the right, if this run has it not already; False if another run has it.

        Raises:
            OSError: If the file cannot be made or locked.
        """
        if self._held is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._held = lock(self._path)
            if self._held is not None:
                with contextlib.suppress(OSError):  # another user of a shared folder may be the next
                    self._path.chmod(0o666)
        return self._held is not None

    def give_back(self) -> None:
        """Give the right back. The file is removed, since a process that was forked meanwhile has it open, too."""
        held, self._held = self._held, None
        if held is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
            unlock(held)
