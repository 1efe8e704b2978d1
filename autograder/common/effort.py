"""A bound on the processor time that the grader itself spends on one thing that a student has chosen.

Submissions are bounded in size, and each step of reading one is meant to cost no more than its size. A step that
costs more all the same is ended here, before it holds up a class: for the answers of one exercise, and for one file.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN = 0.5
"""Seconds after which it is said again, to code that takes every error for its own."""


class Effort:
    """Seconds of this process's processor time for something, spent in one or several blocks.

    Outside of a process's main thread nothing can be interrupted, and nothing is counted.

    Args:
        seconds: How many there are in all; other processes and waiting do not count.
        ended: Makes the error that ends a block which spends more.
    """

    def __init__(self, seconds: float, ended: Callable[[], BaseException]) -> None:
        self.left = seconds
        self._ended = ended

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Run a block that may spend what is left; a block inside of it has its own bound, and counts for both.

        Raises:
            BaseException: Made by `ended`, if it spends more, or nothing was left; at the block's end too, where code
                in it took that error for its own.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        if self.left <= 0:
            raise self._ended()
        running, begun = True, self.left

        def ring(number: int, frame: FrameType | None) -> None:
            if running:
                self.left = 0.0
                raise self._ended()

        clock = time.process_time()
        handler = signal.signal(signal.SIGVTALRM, ring)
        outer, _ = signal.setitimer(signal.ITIMER_VIRTUAL, begun, _AGAIN)
        try:
            try:
                yield
                if self.left <= 0:
                    raise self._ended()
            finally:
                running = False
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
            signal.signal(signal.SIGVTALRM, handler)
            # The alarm gains some milliseconds each time that it is set, which would add up; the clock does not.
            used = time.process_time() - clock
            self.left = min(self.left, max(0.0, begun - used))
            if outer:
                signal.setitimer(signal.ITIMER_VIRTUAL, max(1e-3, outer - used), _AGAIN)
