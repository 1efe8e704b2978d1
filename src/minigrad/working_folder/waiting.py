"""Another program, run to its own end: Ctrl-C is its business, and what ends this process ends it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Run a program in the foreground, and return its exit code.

    Args:
        command: The program and its arguments.
        environment: Its environment variables; by default those of this process.
    """
    with subprocess.Popen(command, env=environment) as process:
        # Ctrl-C reaches the program too. What it does then (JupyterLab asks whether it is meant) has to be waited for.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        # What ends this process reaches it alone: the program would go on, with nobody who waits for it.
        ended = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            return process.wait()
        finally:
            signal.signal(signal.SIGINT, before)
            signal.signal(signal.SIGTERM, ended)
