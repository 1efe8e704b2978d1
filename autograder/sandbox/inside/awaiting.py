"""`await` at the top level of a cell, as Jupyter runs it, and event loops that need no sockets.

An event loop wakes itself up through a pair of sockets. The sandbox refuses these, since no account has the kernel's
memory behind them. A pipe does the same: what asyncio itself asks for as a pair of sockets is one.
"""

import os
import socket
import sys
import types
from typing import Any

_LOOPS = "asyncio.selector_events"
_CO_COROUTINE = 0x80  # as inspect names it, which takes long to import


class _End:
    """One end of a pipe, with the methods of a socket that an event loop calls."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        """The descriptor, or -1 once it is closed, as of a socket."""
        return self._descriptor

    def setblocking(self, flag: bool) -> None:
        """Let reading and writing wait, or not."""
        os.set_blocking(self._descriptor, flag)

    def recv(self, size: int) -> bytes:
        """Read up to `size` bytes."""
        return os.read(self._descriptor, size)

    def send(self, data: bytes) -> int:
        """Write, and return how much was written."""
        return os.write(self._descriptor, data)

    def close(self) -> None:
        """Close it, once."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def wake_by_pipes() -> None:
    """Give event loops a pipe where they ask for a pair of sockets; everybody else is refused as before."""
    sockets = socket.socketpair

    def socketpair(*args: Any, **kwargs: Any) -> Any:
        if sys._getframe(1).f_globals.get("__name__") != _LOOPS:
            return sockets(*args, **kwargs)
        read, write = os.pipe()
        return _End(read), _End(write)

    socket.socketpair = socketpair


class Awaiting:
    """The event loop of a notebook, which begins with the first `await` that a cell has outside of functions."""

    def __init__(self) -> None:
        self._loop: Any = None

    def run(self, code: types.CodeType, namespace: dict[str, Any]) -> None:
        """Run a statement, to the end of what it awaits."""
        result = eval(code, namespace)
        if not code.co_flags & _CO_COROUTINE:
            return
        if self._loop is None:
            import asyncio

            self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(result)
