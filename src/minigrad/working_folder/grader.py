"""The grader beside the library: a process of its own, since the library never imports it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from minigrad.errors import MinigradError
from minigrad.standing_aside import CUT
from minigrad.working_folder import waiting

__all__ = ["is_installed", "require", "run"]


def is_installed() -> bool:
    """Return whether the grader can be imported."""
    found = importlib.util.find_spec("autograder")
    return found is not None and bool(found.origin)


def require(command: str) -> None:
    """Refuse a command where the grader is not installed.

    Raises:
        MinigradError: If that is so; the message says what to install, or that a class's edition has no grader.
    """
    if is_installed():
        return
    if (Path(__file__).resolve().parents[1] / CUT).is_file():
        raise MinigradError(f"{command}: the library of a class has neither hidden tests nor answers; your course has")
    raise MinigradError(
        f"{command}: the grader is not installed; in the course's repository `pip install -e '.[course]'` installs it"
    )


def run(*words: str) -> int:
    """Run a command of the grader with this Python, and return its exit code."""
    return waiting.run([sys.executable, "-P", "-m", "autograder", *words])
