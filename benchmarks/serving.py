"""How long a class waits for its marks: `python -m benchmarks.serving`, which prints seconds and memory.

A class hands in within two minutes through the exchange, each student in words of their own, so that no kept result
helps. `autograder serve` runs meanwhile. It is begun before, and reads the reference answers first, as it would have
long before a due date.

With `--kill N` it gets SIGKILL N times in the middle, and is started again at once. Afterwards nothing may have been
graded twice, and `autograder autograde` must give the same results for the same hand-ins in a copy of the course.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbgrader.utils import notebook_hash

from autograder.building.build import build
from autograder.course.loading import load_course
from autograder.gradebook.exporting import Mark, read_marks
from autograder.proof.demo.classes import make_class
from autograder.proof.demo.classroom import AUTOGRADER, Classroom, prepare
from autograder.reading.handed_in import SECRET
from autograder.results.ledger import LEDGER, WAITING, Entry, entries
from benchmarks.classroom.processes import MemoryWatch
from benchmarks.report import bytes_of, machine

ROOT = Path(__file__).parents[1]
SHARES = {"right": 0.4, "variant": 0.2, "wrong": 0.4}
LIMITS = "\n[serve]\ntries_per_day = 100\nwait = 0\n"


class _Service:
    """The command, which may be killed and started again as a service is.

    Args:
        classroom: The course.
        words: The words behind `autograder serve`.

    Attributes:
        memory: The most bytes that it and its processes held.
    """

    def __init__(self, classroom: Classroom, *words: str) -> None:
        self.memory = 0
        self._words = [sys.executable, "-P", "-c", AUTOGRADER, "serve", *words]
        self._root, self._log = classroom.root, classroom.out / "serve.log"
        self._start()

    def _start(self) -> None:
        with self._log.open("a") as log:
            self._process = subprocess.Popen(self._words, cwd=self._root, stdout=log, stderr=log)
        self._watch = MemoryWatch(self._process.pid).__enter__()

    def end(self, how: int) -> None:
        """End it by a signal, which only the command itself gets."""
        self._process.send_signal(how)
        self._process.wait()
        self._watch.__exit__(None, None, None)
        self.memory = max(self.memory, self._watch.peak)

    def kill(self) -> None:
        """Kill it, and start it again at once."""
        self.end(signal.SIGKILL)
        self._start()

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition, while the command runs."""
        while not condition():
            if self._process.poll() is not None:
                sys.exit(f"benchmarks.serving: `autograder serve` ended:\n{self._log.read_text()[-2000:]}")
            time.sleep(0.5)


def play(folder: Path, assignment: str, size: int, seconds: float, kills: int, *options: str) -> dict[str, Any]:
    """Let a class hand in, and return how long each student waited, and the memory that the command held at most.

    Args:
        folder: Where the course is made.
        assignment: What is handed in.
        size: How many students.
        seconds: Within what time.
        kills: How often the command is killed meanwhile, each time after something new was graded.
        *options: More words for the command.
    """
    classroom = _released(folder / "class", assignment)
    lessons = classroom.course.assignments[assignment].lessons
    members = list(make_class(classroom.course, lessons, size, 1, shares=SHARES))
    other = _copy(classroom, folder / "other")
    service = _Service(classroom, assignment, *options)
    seen: list[dict[tuple[str, str], str]] = [{}]
    try:
        service.until(lambda: bool(_state(classroom)))
        handed_in, before = [], os.getloadavg()[0]
        for number, (student, _, files) in enumerate(members, start=1):
            handed_in.append(classroom.submit(student, assignment, files))
            time.sleep(seconds / size)
            if len(seen) <= kills and number >= size * len(seen) // (kills + 1):
                service.until(lambda: len(_graded(classroom, assignment)) > len(seen[-1]))
                service.kill()
                seen.append(_graded(classroom, assignment))
        pages = {each: _pages(each, lessons) for each in handed_in}
        service.until(
            lambda: not _state(classroom)["hand_ins"] and all(page.exists() for own in pages.values() for page in own)
        )
        after = os.getloadavg()[0]
    finally:
        service.end(signal.SIGTERM)
    if kills:
        _compare(classroom, other, assignment, seen)
    waited = [max(page.stat().st_mtime for page in own) - each.stat().st_ctime for each, own in pages.items()]
    loads = {"before": before, "after": after}
    return {"seconds": waited, "jobs": _state(classroom)["jobs"], "memory": service.memory} | loads


def _graded(classroom: Classroom, assignment: str) -> dict[tuple[str, str], str]:
    """When each notebook was graded, recorded or not."""
    found = (each for place in (WAITING, LEDGER) for each in entries(classroom.root, assignment, place))
    return {(each.student, each.lesson): each.graded for each in found}


def _copy(classroom: Classroom, place: Path) -> Classroom:
    shutil.copytree(classroom.out, place)
    return Classroom(place, replace(classroom.course, path=place / classroom.root.name / classroom.course.path.name))


def _compare(
    classroom: Classroom, other: Classroom, assignment: str, seen: Iterable[dict[tuple[str, str], str]]
) -> None:
    """Require that nothing was graded twice, and that the marks are those of one command in a copy of the course."""
    last = _graded(classroom, assignment)
    twice = sorted({each for stamps in seen for each, when in stamps.items() if last.get(each) != when})
    if twice:
        sys.exit(f"benchmarks.serving: graded again after a kill: {twice}")
    shutil.copytree(classroom.root / "exchange", other.root / "exchange", dirs_exist_ok=True)
    _must(other.nbgrader, "collect", assignment)
    _must(other.autograder, "autograde", assignment)
    mine, theirs = (_marks(each, assignment) for each in (classroom, other))
    differ = sorted({each.student for each in (*mine, *theirs) if each not in mine or each not in theirs})
    if differ:
        sys.exit(f"benchmarks.serving: `autograder autograde` gives other results of {', '.join(differ)}")


def _marks(classroom: Classroom, assignment: str) -> list[Entry | Mark]:
    """All that is known of an assignment but the times of grading: the ledger, and the gradebook's marks."""
    ledger = [replace(each, graded="") for each in entries(classroom.root, assignment)]
    return [*ledger, *read_marks(classroom.course, [assignment])]


def _pages(folder: Path, lessons: Iterable[str]) -> list[Path]:
    """Where the pages of a hand-in come to lie in the exchange."""
    secret, home = (folder / SECRET).read_text(), folder.parents[1] / "feedback"
    return [home / f"{notebook_hash(secret=secret, notebook_id=lesson)}.html" for lesson in lessons]


def _released(folder: Path, assignment: str) -> Classroom:
    """A course of which one assignment is released."""
    lessons = load_course(ROOT / "course").assignment(assignment).lessons
    classroom = prepare(folder, ROOT / "course", lessons)
    with classroom.course.path.open("a") as file:
        file.write(LIMITS)
    build(classroom.root)
    for step in ("generate_assignment", "release_assignment"):
        _must(classroom.nbgrader, step, assignment)
    return classroom


def _must(run: Callable[..., int], *words: str) -> None:
    said: list[str] = []
    if run(*words, said=said.append):
        sys.exit(f"benchmarks.serving: {' '.join(words)} failed: {' '.join(said)[-2000:]}")


def _state(classroom: Classroom) -> dict[str, Any]:
    path = classroom.root / "reports" / "serve.json"
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def main(words: list[str] | None = None) -> None:
    """Play, and print what was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__)
    parser.add_argument("--assignment", default="module1", help="What is handed in: by default three notebooks.")
    parser.add_argument("--class", dest="size", type=int, default=60, help="How many students.")
    parser.add_argument("--seconds", type=float, default=120.0, help="Within what time they hand in.")
    parser.add_argument("--jobs", type=int, default=0, help="Processes that grade; by default one a core.")
    parser.add_argument("--warm", type=int, default=20, help="Sandboxes that each of them keeps.")
    parser.add_argument("--kill", dest="kills", type=int, default=0, help="How often the command is killed meanwhile.")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="serving") as folder:
        options = ("--jobs", str(asked.jobs), "--warm", str(asked.warm))
        found = play(Path(folder), asked.assignment, asked.size, asked.seconds, asked.kills, *options)
    print(machine())
    seconds = found["seconds"]
    print(
        f"{len(seconds)} hand-ins of {asked.assignment} in {asked.seconds:g} s, {found['jobs']} processes: from "
        f"hand-in to page {statistics.median(seconds):.1f} s (median), {max(seconds):.1f} s (worst); "
        f"{bytes_of(found['memory'])} of memory at most; load {found['before']:.1f} before, {found['after']:.1f} after"
    )
    if asked.kills:
        print(f"killed {asked.kills} times: none lost, none graded twice, results as those of `autograder autograde`")


if __name__ == "__main__":
    main()
