"""One process of a pool: it grades what it is given, with sandboxes of its own that stay warm."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from multiprocessing.connection import Connection

from autograder.classes.work import Done, Task, do, reason_of
from autograder.judging.judge import Judge
from autograder.judging.student import HiddenTestError
from autograder.judging.warm_tests import Ended
from autograder.sandbox import SandboxError

_PR_SET_PDEATHSIG = 1


class Fault(Exception):
    """A fault of the grader, which ends the run."""

    def seen_in(self, task: Task) -> HiddenTestError:
        """The error to raise: what it said, and in whose work it was seen."""
        return HiddenTestError(f"{self} (seen in {task.lesson} of {task.work.student})")


def serve(judge: Judge, connection: Connection, parent: int, keep: bool, write: bool) -> None:
    """Do tasks until the process is told to end, by SIGTERM.

    Args:
        judge: The grader, without sandboxes yet.
        connection: Where tasks come from and results go.
        parent: The process that this one must not outlive.
        keep: Whether to take what was found before.
        write: Whether to keep what is found, until it is recorded.
    """
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of a terminal's processes; the parent decides
    with contextlib.suppress(KeyboardInterrupt), judge:  # pytest makes a plain KeyboardInterrupt of `Ended`
        signal.signal(signal.SIGTERM, end)
        is_cold = True
        while True:
            while is_cold and not connection.poll():
                is_cold = _heated(judge)
            connection.send(attempt(judge, connection.recv(), keep, write))


def _heated(judge: Judge) -> bool:
    """Start a sandbox while there is nothing else to do; False if there are enough, or none can be had."""
    try:
        return judge.heat()
    except (SandboxError, OSError):  # the first task says it
        return False


def end(*_: object) -> None:
    """End the process, as a handler of SIGTERM."""
    raise Ended


def attempt(judge: Judge, task: Task, keep: bool, write: bool) -> Done | Fault:
    """Do a task, once more where the sandbox failed: a busy machine may start one too slowly.

    Args:
        judge: The grader.
        task: The task.
        keep: Whether to take what was found before.
        write: Whether to keep what is found, until it is recorded.
    """
    for again in (True, False):
        try:
            if task.lesson:
                judge.release(task.lesson)
            return do(judge, task, keep=keep, write=write)
        except HiddenTestError as error:
            return Fault(str(error))
        except SandboxError as error:
            judge.close()
            if not again:
                return Done.failed(task, f"the sandbox: {reason_of(error)}")
        except Exception as error:  # whatever one submission does, the class goes on
            return Done.failed(task, reason_of(error))
    raise AssertionError("the second attempt returns")


def die_with(parent: int) -> None:
    """End when the parent ends, however it does; the sandboxes end with this process in the same way."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
