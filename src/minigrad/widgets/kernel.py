"""The kernel's main thread, and its interrupts, for long computations of a widget.

JupyterLab sends messages of widgets to threads of their own. Cells run in the main thread, and only there an interrupt
is heard: what takes long, or switches something of the whole library, belongs there too.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def in_main_thread(work: Callable[[], None]) -> None:
    """Run a function in the cells' thread, after the running cell: at once if called there, or without a kernel."""
    ipython = sys.modules.get("IPython")
    loop = getattr(getattr(ipython.get_ipython() if ipython else None, "kernel", None), "io_loop", None)
    if loop is None or threading.current_thread() is threading.main_thread():
        work()
    else:
        loop.add_callback(work)


class Interrupts:
    """Hears interrupts for as long as something goes on in pieces: the kernel ignores those that come in between."""

    def __init__(self) -> None:
        self._asked = self._inside = False
        self._before: Any = None

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Raise KeyboardInterrupt in this block for an interrupt in it, or since the last such block."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        if signal.getsignal(signal.SIGINT) != self._hear:  # the kernel may have put its own back meanwhile
            before = signal.signal(signal.SIGINT, self._hear)
            self._before = before if self._before is None else self._before
        self._inside = True
        try:
            if self._asked:
                raise KeyboardInterrupt
            yield
        except KeyboardInterrupt:
            self._asked = False  # stays set where something in the block caught it: the next block raises it again
            raise
        finally:
            self._inside = False

    def end(self) -> None:
        """Give interrupts back to their earlier handler."""
        if self._before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._before)
            self._before, self._asked = None, False

    def _hear(self, *_: object) -> None:
        self._asked = True
        if self._inside:
            raise KeyboardInterrupt
