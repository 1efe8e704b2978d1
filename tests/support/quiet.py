"""A moment in which one test has the machine to itself: its time is measured while no other test runs.

The processes of pytest-xdist share two locks on files. Each test holds the second one as one of many while it runs.
Whoever wants quiet holds the first one, which every test passes on its way in, and waits for the second one alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows, where no test asks for quiet
    fcntl = None  # type: ignore[assignment]

__all__ = ["Quiet"]


class Quiet:
    """The locks of one process.

    Args:
        folder: A folder that all processes of a run share.
    """

    def __init__(self, folder: Path) -> None:
        self._door, self._room = ((folder / name).open("w") for name in ("door", "room"))

    @contextmanager
    def among_others(self) -> Iterator[None]:
        """Run a test as one of many."""
        if fcntl is None:
            yield
            return
        fcntl.flock(self._door, fcntl.LOCK_EX)
        fcntl.flock(self._room, fcntl.LOCK_SH)
        fcntl.flock(self._door, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(self._room, fcntl.LOCK_UN)  # forked processes that are left hold it no longer either

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Within a test: wait until no other test runs, and keep others from beginning."""
        fcntl.flock(self._room, fcntl.LOCK_UN)  # others may want quiet too
        fcntl.flock(self._door, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._room, fcntl.LOCK_EX)
            yield
        finally:
            fcntl.flock(self._room, fcntl.LOCK_SH)
            fcntl.flock(self._door, fcntl.LOCK_UN)
