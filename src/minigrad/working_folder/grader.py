"""The grader beside the library: a process of its own, since the library never imports it."""

from __future__ import annotations

import sys
from pathlib import Path

from minigrad.errors import MinigradError
from minigrad.machine import packages
from minigrad.machine.overrides import CUT
from minigrad.working_folder import waiting


def require(command: str) -> None:
    """Refuse a command where the grader is not installed.

    Raises:
        MinigradError: If that is so; the message says what to install, or that a class's edition has no grader.
    """
    if packages.has_grader():
        return
    if (Path(__file__).resolve().parents[1] / CUT).is_file():
        raise MinigradError(f"{command}: the library of a class has neither hidden tests nor answers; your course has")
    raise MinigradError(
        f"{command}: the grader is not installed; in the course's repository `pip install -e '.[course]'` installs it"
    )


def run(*words: str) -> int:
    """Run a command of the grader with this Python, and return its exit code."""
    return waiting.run([sys.executable, "-P", "-m", "autograder", *words])
