"""Processes that tests wait for, stop and look below, and the files that a stopped one leaves."""

import contextlib
import os
import signal
import time
from pathlib import Path


def descendants(process):
    """All processes below one."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, below = set(), [process]
    while below:
        above = below.pop()
        children = {pid for pid, parent in parents.items() if parent == above} - found
        found |= children
        below += children
    return found


def is_running(process):
    """Whether a process is there, and not merely waiting to be reaped."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(condition, seconds=600):
    """Wait for a condition; whether it came before so much time that no machine is that busy."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def left_aside(course):
    """What lies anywhere in a course and was never finished."""
    return [path for path in course.rglob(".*") if path.name.startswith((".new-", ".tidy-"))]


@contextlib.contextmanager
def standing(work):
    """A process that does something and stands still in the midst of it, where it calls what it is given; then dies."""
    ready, say = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            work(lambda: (os.write(say, b"!"), signal.pause()))
        finally:
            os._exit(1)
    os.close(say)
    try:
        assert os.read(ready, 1) == b"!", "the process never came so far"
        yield
    finally:
        os.close(ready)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
