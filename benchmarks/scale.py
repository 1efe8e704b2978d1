"""How each step of a term grows with the class: `python -m benchmarks.scale`, which writes RESULTS_SCALE.md.

Judging takes the same time for each submission, whatever the size of the class; `make bench` measures it. Here are the
steps around it, which see the whole class. A class in words of its own hands in the example course; a dozen of its
notebooks are judged, and their results wait for the others too, as they do after a crash. So the class is recorded
without being judged, and then everything else is done by the commands that an instructor types. The slowest steps are
drawn, in docs/pictures/growth/.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from autograder.building.build import build
from autograder.course import Course
from autograder.course.loading import load_course
from autograder.proof.demo.classes import hand_in, make_class
from autograder.proof.demo.classroom import NBGRADER, Classroom, prepare
from autograder.results.ledger import WAITING, Entry, entries, write_entry
from benchmarks import growth_section
from benchmarks.report import Section, bytes_of, duration, machine, write

__all__ = ["exponent", "main"]

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "structures"
ASSIGNMENT, LESSON = "week1", "01_structures"
SIZES = (12, 300, 1_000)
"""The sizes of the classes. The time of a step for the first one counts as its start."""
JUDGED = 12
NOTHING = 0.5
"""Seconds by which two runs of one command may differ."""
SHARES = {"right": 0.4, "variant": 0.2, "wrong": 0.4}

STEPS = {
    "record the class": "autograde week1 --jobs 2",
    "grade again, nothing new": "autograde week1 --jobs 2",
    "the class page": "report --out report.html",
    "the marks as a table": "report --csv nbgrader --out marks.csv",
    "explain one answer": "explain {student} structures.sift_down",
    "what regrading would change": "regrade --diff",
    "a copy of the gradebook": "database backup",
    "the pages of ten students": "feedback week1 {ten}",
    "forget one student": "forget {student} --yes",
}


PAGE, FOLDER = "bytes of the class page", "bytes in the course's folder"


@dataclass(frozen=True)
class Step:
    """One command on a class of one size.

    Attributes:
        seconds: Of the clock.
        peak: The most memory that the process held, or one of its children, in bytes.
    """

    seconds: float
    peak: int


Found = dict[tuple[str, int], Step | int]
"""A step, or a number of bytes, by its name and the size of the class."""


def _judged(folder: Path) -> tuple[Classroom, list[Entry]]:
    """Return a course that is built and released, and the results of a few notebooks."""
    classroom = prepare(folder / "judged", EXAMPLE)
    course = classroom.course
    build(course.directory)
    hand_in(course, ASSIGNMENT, make_class(course, [LESSON], JUDGED, 1, shares=SHARES))
    _must(course, [sys.executable, "-P", "-c", NBGRADER, "generate_assignment", ASSIGNMENT])
    _must(course, _autograder("autograde", ASSIGNMENT, "--jobs", "2"))
    return classroom, list(entries(course.directory))


def _class_of(size: int, judged: Classroom, known: list[Entry], folder: Path) -> Course:
    """Return a copy of the course to which a class has handed in, with a result that waits for each notebook."""
    out = folder / f"class{size}"
    shutil.copytree(judged.out, out)
    course = load_course(out / "course")
    for place in (".grades", "submitted", "autograded", "gradebook.db"):
        path = course.directory / place
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    _must(course, [sys.executable, "-P", "-c", NBGRADER, "generate_assignment", ASSIGNMENT, "--force"])
    members = make_class(course, [LESSON], size, 2, shares=SHARES)
    for number, student in enumerate(hand_in(course, ASSIGNMENT, members)):
        path = course.directory / "submitted" / student / ASSIGNMENT / f"{LESSON}.ipynb"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        result = dataclasses.replace(known[number % len(known)], student=student, sha256=digest)
        write_entry(course.directory, result, WAITING)
    return course


def _autograder(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "autograder", *words]


def _must(course: Course, command: list[str]) -> Step:
    """Run a command in the course's folder; whatever it says is shown if it fails."""
    log = course.directory.parent / "scale.log"
    start = time.perf_counter()
    with log.open("wb") as file:
        process = subprocess.Popen(command, cwd=course.directory, stdout=file, stderr=file, stdin=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"benchmarks.scale: {' '.join(command[3:])} failed:\n{log.read_text()[-2000:]}")
    return Step(time.perf_counter() - start, used.ru_maxrss * 1024)


def exponent(points: dict[int, float]) -> float:
    """Return b of the power a * n ** b that fits best, by the logarithms of both.

    >>> round(exponent({10: 3.0, 100: 30.0, 1000: 300.0}), 3)
    1.0
    """
    pairs = [(math.log(n), math.log(value)) for n, value in points.items()]
    x, y = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    return sum((a - x) * (b - y) for a, b in pairs) / sum((a - x) ** 2 for a, _ in pairs)


def _measured(sizes: tuple[int, ...], folder: Path) -> Iterator[str | Found]:
    """Yield what runs, and at the end each step at each size."""
    yield f"{JUDGED} notebooks are judged"
    judged, known = _judged(folder)
    found: Found = {}
    for size in sizes:
        yield f"a class of {size} hands in"
        course = _class_of(size, judged, known, folder)
        students = sorted(path.name for path in (course.directory / "submitted").iterdir())
        for name, command in STEPS.items():
            yield f"{size}: {name}"
            if name == "forget one student":  # which takes the page away, for it names the student
                found[PAGE, size] = (course.directory / "report.html").stat().st_size
                files = (path for path in course.directory.rglob("*") if path.is_file())
                found[FOLDER, size] = sum(path.stat().st_size for path in files)
            ten = " ".join(f"--student {each}" for each in students[1:11])
            words = command.format(student=students[0], ten=ten).split()
            found[name, size] = _must(course, _autograder(*words))
        shutil.rmtree(course.directory.parent)
    yield found


def _table(found: Found, sizes: tuple[int, ...]) -> Section:
    section = Section(
        "Steps that see the whole class",
        ("step", *(f"{size:,} students" for size in sizes), "grows as n to the"),
        text="Each step is a command in a new process: seconds of the clock, and the most memory that it or a child of "
        "it held. The exponent is that of what a step takes beyond its time for the smallest class. "
        "A student hands in one notebook with three exercises. 'Record the class' finds all results waiting, and "
        "judges nothing.",
    )
    for name in (*STEPS, PAGE, FOLDER):
        measured = {size: found[name, size] for size in sizes}
        grown = {size: _amount(each) - _amount(measured[sizes[0]]) for size, each in measured.items()}
        grows = {size: more for size, more in grown.items() if more > NOTHING}
        power = f"{exponent(grows):.2f}" if len(grows) > 1 else "does not grow"
        section.rows.append([name, *map(_told, measured.values()), power])
    return section


def _amount(measured: Step | int) -> float:
    return measured.seconds if isinstance(measured, Step) else float(measured)


def _told(measured: Step | int) -> str:
    if isinstance(measured, Step):
        return f"{duration(measured.seconds)}, {bytes_of(measured.peak)}"
    return bytes_of(measured)


def main(sizes: tuple[int, ...] = SIZES) -> None:
    """Measure, print and write."""
    console = Console()
    with tempfile.TemporaryDirectory(prefix="scale") as folder:
        for news in _measured(sizes, Path(folder)):
            if isinstance(news, str):
                console.print(f"[dim]{news}", highlight=False)
            else:
                section = _table(news, sizes)
    section.show(console)
    write([section], growth_section.SCALE, "python -m benchmarks.scale", machine())
    growth_section.class_section()  # draws the page


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
