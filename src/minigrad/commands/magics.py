"""The line magic ``%minigrad``: ``%load_ext minigrad``, then ``%minigrad use`` or ``%minigrad check ID``."""

from __future__ import annotations

from typing import Any

from minigrad import exercises
from minigrad.checks import run
from minigrad.errors import MinigradError
from minigrad.tutor import progressing


def register(shell: Any) -> None:
    """Give an IPython shell the magic."""

    def minigrad(line: str) -> Any:
        """``%minigrad use [FOLDER ...]`` installs your answers; ``%minigrad check ID`` checks one of them."""
        command, _, argument = line.strip().partition(" ")
        if command == "use":
            return exercises.use(*argument.split(), namespace=shell.user_ns)
        if command == "check" and argument:
            report = run(argument.strip("\"'"), shell.user_ns)
            progressing.record(report)
            return report
        raise MinigradError(f"%minigrad {line}: write `%minigrad use`, or `%minigrad check` and an exercise's id")

    shell.register_magic_function(minigrad, "line")
