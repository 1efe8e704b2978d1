"""What a process and everything below it costs: time on the processors, and memory."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType
from typing import Self

import psutil

__all__ = ["MemoryWatch", "processor_seconds"]

EVERY = 0.5  # seconds; looking at a hundred processes takes a few hundredths


def _tree(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.Error:  # it has ended
        return []


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process, of those below it, and of those that they have waited for."""
    total = 0.0
    for process in _tree(pid):
        with contextlib.suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])
    return total


def memory(pid: int) -> int:
    """Return the bytes that a process and those below it hold; what several share counts once."""
    total = 0
    for process in _tree(pid):
        with contextlib.suppress(psutil.Error):
            total += process.memory_full_info().pss
    return total


class MemoryWatch:
    """Looks at a process again and again while the block runs.

    Args:
        pid: The process.

    Attributes:
        peak: The most bytes that were seen.
    """

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        while True:
            self.peak = max(self.peak, memory(self._pid))
            if self._over.wait(EVERY):
                return

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
