"""Graders in processes of their own, asked and timed from here."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.classroom.processes import MemoryWatch, processor_seconds
from benchmarks.classroom.stock import ROOT, environment

__all__ = ["Cost", "Grader", "GraderFailed", "OtterMissing", "otter_python", "run_command"]

OTTER = "otter-grader[grading]==7.0.0"
OTTER_HOME = ROOT / "build" / "otter"
INSTALL_SECONDS = 240


class GraderFailed(Exception):
    """A grader could not grade; the message is its own."""


class OtterMissing(Exception):
    """Otter cannot be had here; the message says why."""


@dataclass(frozen=True)
class Cost:
    """What grading cost.

    Attributes:
        seconds: On the clock.
        processor: On the processors, of all processes together.
        points: What was earned, where it is known.
        peak: The most bytes that all processes held, where it was watched.
    """

    seconds: float
    processor: float
    points: float = 0.0
    peak: int = 0


class Grader:
    """A grader that stays and is asked for one student after the other.

    Args:
        name: Its name in `benchmarks.classroom.worker`.
        folder: The course, or whatever it takes for one.
        assignment: What is graded.
        python: The Python that has it.
    """

    def __init__(self, name: str, folder: Path, assignment: str, python: str = sys.executable) -> None:
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.classroom.worker", name, str(folder), assignment],
            cwd=ROOT,
            env=environment(python),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process.stdin and self._process.stdout:
            self._process.stdin.close()
            self._process.stdout.close()
        self._process.wait()

    def grade(self, student: str) -> Cost:
        """Grade one student's work.

        Raises:
            GraderFailed: If the grader did not come to an end with it.
        """
        assert self._process.stdin
        assert self._process.stdout
        before = processor_seconds(self._process.pid)
        self._process.stdin.write(json.dumps(student) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the grader ended"}
        if "error" in answer:
            raise GraderFailed(answer["error"])
        return Cost(answer["seconds"], processor_seconds(self._process.pid) - before, answer["points"])


def run_command(command: list[str], folder: Path) -> Cost:
    """Run a command to its end, and watch its memory.

    Raises:
        GraderFailed: If it cannot do its work; that some submissions were not graded is no failure.
    """
    start, before = time.perf_counter(), _of_ended_children()
    process = subprocess.Popen(
        command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    with MemoryWatch(process.pid) as watch:
        said, _ = process.communicate()
    if process.returncode not in (0, 1):
        raise GraderFailed(f"{' '.join(command[-3:])}: exit code {process.returncode}: {said[-1000:]}")
    return Cost(time.perf_counter() - start, _of_ended_children() - before, peak=watch.peak)


def _of_ended_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def otter_python() -> str:
    """Return a Python that has otter-grader, in an environment of its own, made now if there is none.

    Raises:
        OtterMissing: If it cannot be installed.
    """
    python = OTTER_HOME / "bin" / "python"
    ready = OTTER_HOME / "ready"
    if not ready.exists():
        others = [f"{name}=={version(name)}" for name in ("numpy", "numba", "pytest")]
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", OTTER, *others]
        try:
            for command in ([sys.executable, "-m", "venv", "--clear", str(OTTER_HOME)], pip):
                subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1:]
            raise OtterMissing(f"{OTTER} cannot be installed: {' '.join(said)}") from error
        ready.touch()
    return str(python)
