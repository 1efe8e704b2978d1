"""How long a class waits for its marks: `python -m benchmarks.serving`, which prints seconds and memory.

A class hands in within two minutes through the exchange, each student in words of their own, so that no kept result
helps. `autograder serve` runs meanwhile. It is begun before, and reads the reference answers first, as it would have
long before a due date.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.building.build import build
from autograder.course.loading import load_course
from autograder.proof.demo.classes import make_class
from autograder.proof.demo.classroom import AUTOGRADER, Classroom, prepare
from benchmarks.classroom.processes import MemoryWatch
from benchmarks.report import bytes_of, machine

ROOT = Path(__file__).parents[1]
SHARES = {"right": 0.4, "variant": 0.2, "wrong": 0.4}
LIMITS = "\n[serve]\ntries_per_day = 100\nwait = 0\n"


def play(folder: Path, assignment: str, size: int, seconds: float, *options: str) -> dict[str, Any]:
    """Let a class hand in, and return the last state of the command, with the memory that all of it held at most.

    Args:
        folder: Where the course is made.
        assignment: What is handed in.
        size: How many students.
        seconds: Within what time.
        *options: More words for the command.
    """
    classroom = _released(folder, assignment)
    lessons = classroom.course.assignments[assignment].lessons
    members = list(make_class(classroom.course, lessons, size, 1, shares=SHARES))
    words = [sys.executable, "-P", "-c", AUTOGRADER, "serve", assignment, *options]
    with (
        (folder / "serve.log").open("w") as log,
        subprocess.Popen(words, cwd=classroom.root, stdout=log, stderr=log) as it,
    ):
        try:
            _until(lambda: bool(_state(classroom)), it, folder)
            with MemoryWatch(it.pid) as watch:
                for student, _, files in members:
                    classroom.submit(student, assignment, files)
                    time.sleep(seconds / size)
                _until(lambda: _state(classroom).get("graded") == size, it, folder)
        finally:
            it.terminate()
    return _state(classroom) | {"memory": watch.peak}


def _released(folder: Path, assignment: str) -> Classroom:
    """A course of which one assignment is released."""
    lessons = load_course(ROOT / "course").assignment(assignment).lessons
    classroom = prepare(folder / "class", ROOT / "course", lessons)
    with classroom.course.path.open("a") as file:
        file.write(LIMITS)
    build(classroom.root)
    for step in ("generate_assignment", "release_assignment"):
        _must(classroom, step, assignment)
    return classroom


def _must(classroom: Classroom, *words: str) -> None:
    said: list[str] = []
    if classroom.nbgrader(*words, said=said.append):
        sys.exit(f"benchmarks.serving: nbgrader {' '.join(words)} failed: {' '.join(said)[-2000:]}")


def _state(classroom: Classroom) -> dict[str, Any]:
    path = classroom.root / "reports" / "serve.json"
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def _until(condition: Callable[[], bool], process: subprocess.Popen[bytes], folder: Path) -> None:
    while not condition():
        if process.poll() is not None:
            sys.exit(f"benchmarks.serving: `autograder serve` ended:\n{(folder / 'serve.log').read_text()[-2000:]}")
        time.sleep(0.5)


def main(words: list[str] | None = None) -> None:
    """Play, and print what was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__)
    parser.add_argument("--assignment", default="module1", help="What is handed in: by default three notebooks.")
    parser.add_argument("--class", dest="size", type=int, default=60, help="How many students.")
    parser.add_argument("--seconds", type=float, default=120.0, help="Within what time they hand in.")
    parser.add_argument("--jobs", type=int, default=0, help="Processes that grade; by default one a core.")
    parser.add_argument("--warm", type=int, default=20, help="Sandboxes that each of them keeps.")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="serving") as folder:
        options = ("--jobs", str(asked.jobs), "--warm", str(asked.warm))
        found = play(Path(folder), asked.assignment, asked.size, asked.seconds, *options)
    print(machine())
    print(
        f"{found['graded']} hand-ins of {asked.assignment} in {asked.seconds:g} s, {found['jobs']} processes: from "
        f"hand-in to page {found['seconds']['median']} s (median), {found['seconds']['worst']} s (worst); "
        f"{bytes_of(found['memory'])} of memory at most; load {found['load'][0]} at the end"
    )


if __name__ == "__main__":
    main()
