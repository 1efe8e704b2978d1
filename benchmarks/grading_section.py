"""Grading a class beside stock nbgrader and otter-grader: the same notebooks, the same hidden tests, in one run."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.classroom.graders import Cost, Grader, GraderFailed, OtterMissing, otter_python, run_command
from benchmarks.classroom.rooms import Rooms, make_rooms
from benchmarks.notes import NOTES
from benchmarks.report import Section, bytes_of, duration, verdict

__all__ = ["ROWS", "Lessons", "Sizes", "section"]

COLUMNS = ("lessons", "graded by", "a submission", "range", "processors", "memory", "throughput", "target", "")
MEMORY = 2 << 30  # bytes
AUTOGRADER = [sys.executable, "-c", "from autograder.cli import main; main()"]

CLASS = "autograder autograde"
OURS, HOOKS = "autograder's judge, one by one", "nbgrader autograde with autograder's hooks, one by one"
STOCK, PARTS = "stock nbgrader autograde", "stock nbgrader autograde, graded cells only"
OTTER = "otter-grader, graded cells only"
RUNS = ("the whole class, cold", "the same again, nothing changed")
GRADERS = (OURS, HOOKS, STOCK, PARTS, OTTER)
STOCKS = (STOCK, PARTS)
SLOW = (STOCK, OTTER)
ROWS = {
    f"{title}: {row}" for title in ("autodiff", "compiled") for row in (*(f"{CLASS}, {run}" for run in RUNS), *GRADERS)
}
"""The names of the table's rows, as notes name them."""


@dataclass(frozen=True)
class Lessons:
    """What is graded.

    Attributes:
        title: What the table calls it.
        assignment: The assignment's name.
        lessons: If given, the assignment is these lessons alone, which may be drafts'.
        targets: How many times stock's throughput each way of grading should have.
    """

    title: str
    assignment: str
    lessons: tuple[str, ...] = ()
    targets: Mapping[str, float] = field(default_factory=dict, hash=False)


AUTODIFF = Lessons("autodiff", "module1", targets={CLASS: 20, OURS: 20, HOOKS: 10})
COMPILED = Lessons("compiled", "compiled", ("07_parallel_cpu", "07b_what_a_loop_costs"), targets={CLASS: 8, OURS: 8})


@dataclass(frozen=True)
class Sizes:
    """How much is graded.

    Attributes:
        students: In the class.
        compiling: In the class of the lesson whose answers are compiled.
        rounds: Submissions that graders take turns with.
        slow: How many of them the slowest graders get; with 0 stock nbgrader gets no whole notebooks.
        compiled: The same as rounds, of the lesson whose answers are compiled.
        otter: Whether otter is asked.
    """

    students: int = 40
    compiling: int = 8
    rounds: int = 3
    slow: int = 2
    compiled: int = 2
    otter: bool = True

    @property
    def steps(self) -> int:
        """How many steps the section announces."""
        return 5 + (self.rounds + 1) + (self.compiled + 1)


@dataclass
class Costs:
    """What graders took for the same students.

    Attributes:
        of: The costs by grader and student.
        failed: Graders that could not grade a student, and why.
    """

    of: dict[str, dict[str, Cost]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def seconds(self, grader: str) -> list[float]:
        """The seconds of each submission that a grader graded."""
        return [cost.seconds for cost in self.of[grader].values()]

    def ratios(self, ours: str, theirs: str) -> list[float]:
        """How many times as long the other grader took, for each student that both graded."""
        a, b = self.of[ours], self.of.get(theirs, {})
        return [b[student].seconds / cost.seconds for student, cost in a.items() if student in b]

    def agreement(self) -> str:
        """How often all graders gave a student the same points."""
        marks: dict[str, set[float]] = {}
        for costs in self.of.values():
            for student, cost in costs.items():
                marks.setdefault(student, set()).add(round(cost.points, 6))
        same = sum(len(points) == 1 for points in marks.values())
        return f"{same} of {len(marks)} submissions earned the same points from every grader"


def section(
    sizes: Sizes = Sizes(), plain: Lessons = AUTODIFF, compiled: Lessons | None = COMPILED
) -> Iterator[str | Section]:
    """Measure: the name of each step before it runs, and at the end the table.

    Args:
        sizes: How much is graded.
        plain: What the class hands in.
        compiled: Lessons whose answers are compiled; None leaves them out.
    """
    table = Section("Grading a class", COLUMNS)
    with tempfile.TemporaryDirectory(prefix="minigrad-grading-") as place:
        yield "grading: installing otter-grader, once"
        python, missing = _otter(sizes)
        yield f"grading: {sizes.students} students hand in"
        count, lessons, whole = sizes.rounds + 1, plain.lessons, sizes.slow > 0
        rooms = make_rooms(Path(place, "plain"), plain.assignment, sizes.students, count, lessons, whole=whole)
        costs = {plain: (yield from _measure(table, plain, rooms, sizes.students, _graders(rooms, python), sizes.slow))}
        if compiled is not None:
            yield f"grading: {sizes.compiling} students hand in lessons whose answers are compiled"
            count, lessons = sizes.compiled + 1, compiled.lessons
            rooms = make_rooms(Path(place, "compiled"), compiled.assignment, sizes.compiling, count, lessons)
            graders = _graders(rooms, None)
            costs[compiled] = yield from _measure(table, compiled, rooms, sizes.compiling, graders, sizes.slow)
    table.text = _text(costs, sizes, missing)
    yield table


def _measure(
    table: Section,
    lessons: Lessons,
    rooms: Rooms,
    students: int,
    graders: Mapping[str, Callable[[], Grader]],
    slow: int,
) -> Generator[str, None, Costs]:
    """Grade a class by one command, then some of it by each grader in turns, and add the rows."""
    yield f"grading: one command for {students} students, and again"
    runs = [_whole_class(rooms) for _ in RUNS]  # first: nothing is there that could be used again
    costs = yield from _in_turns(rooms, graders, slow)
    _fill(table, lessons, runs, students, costs)
    return costs


def _otter(sizes: Sizes) -> tuple[str | None, str]:
    """A Python that has otter; or why there is none."""
    try:
        return (otter_python(), "") if sizes.otter else (None, "it was not asked")
    except OtterMissing as error:
        return None, str(error)


def _graders(rooms: Rooms, python: str | None) -> dict[str, Callable[[], Grader]]:
    """What starts each grader."""
    assignment = rooms.assignment
    found = {
        OURS: lambda: Grader("ours", rooms.course.directory, assignment),
        HOOKS: lambda: Grader("nbgrader", rooms.through_nbgrader, assignment),
        PARTS: lambda: Grader("nbgrader", rooms.stock_parts, assignment),
    }
    if (stock := rooms.stock) is not None:
        found[STOCK] = lambda: Grader("nbgrader", stock, assignment)
    if python is not None:
        found[OTTER] = lambda: Grader("otter", rooms.otter, assignment, python)
    return found


def _in_turns(rooms: Rooms, start: Mapping[str, Callable[[], Grader]], slow: int) -> Generator[str, None, Costs]:
    """Let graders grade one student after the other in turns; the first student is not counted."""
    costs = Costs()
    with ExitStack() as stack:
        graders = {name: stack.enter_context(make()) for name, make in start.items()}
        for number, student in enumerate(rooms.sample):
            yield f"grading: {rooms.assignment}, student {number} of {len(rooms.sample) - 1}"
            for name, grader in list(graders.items()):
                # What loads nothing for the first student needs no warming up, and is slow enough.
                if name in SLOW and not 1 <= number <= slow:
                    continue
                try:
                    cost = grader.grade(student)
                except GraderFailed as error:
                    costs.failed[name] = f"{rooms.kinds[student]}: {error}"
                    del graders[name]
                else:
                    if number:
                        costs.of.setdefault(name, {})[student] = cost
    return costs


def _whole_class(rooms: Rooms) -> Cost | str:
    """Grade the class in one command; or say why that failed."""
    try:
        return run_command([*AUTOGRADER, "autograde", rooms.assignment], rooms.course.directory)
    except GraderFailed as error:
        return str(error)


# --- the table ------------------------------------------------------------------------------------------------------


def _fill(table: Section, lessons: Lessons, runs: Sequence[Cost | str], students: int, costs: Costs) -> None:
    """Write the rows of some lessons."""
    for what, run in zip(RUNS, runs, strict=True):
        name = f"{CLASS}, {what}"
        if isinstance(run, str):
            table.rows.append([lessons.title, name, *[""] * 6, f"failed: {run.splitlines()[-1][:120]}"])
            continue
        each = run.seconds / students
        row = [lessons.title, name, duration(each), "", duration(run.processor / students), bytes_of(run.peak)]
        ratios = {stock: [theirs / each for theirs in costs.seconds(stock)] for stock in STOCKS if stock in costs.of}
        _finish(table, row, ratios, lessons.targets.get(CLASS) if what == RUNS[0] else None, run.peak)
    for grader in GRADERS:
        _row(table, lessons, grader, costs)


def _row(table: Section, lessons: Lessons, grader: str, costs: Costs) -> None:
    if grader in costs.failed:
        table.rows.append([lessons.title, grader, *[""] * 6, f"failed: {costs.failed[grader].splitlines()[-1][:120]}"])
    if grader not in costs.of:
        return
    seconds = costs.seconds(grader)
    processor = statistics.median(cost.processor for cost in costs.of[grader].values())
    row = [
        lessons.title,
        grader,
        duration(statistics.median(seconds)),
        _range(seconds, duration),
        duration(processor),
        "",
    ]
    ratios = {theirs: costs.ratios(grader, theirs) for theirs in STOCKS if theirs in costs.of and grader not in STOCKS}
    _finish(table, row, ratios if grader != OTTER else {}, lessons.targets.get(grader))


def _finish(
    table: Section, row: list[str], ratios: Mapping[str, list[float]], target: float | None, peak: int = 0
) -> None:
    """Add how many times stock's throughput a row has, and whether that and its memory are what they should be."""
    shown, met = [], []
    for theirs, values in ratios.items():
        middle = statistics.median(values)
        shown.append(f"{middle:.1f} ({_range(values, '{:.1f}'.format)}) of {theirs}")
        met.append(middle >= (target or 0))
    says = []
    if target is not None and met:
        says = [verdict(each) for each in met]
        if not all(met):
            name = f"{row[0]}: {row[1]}"
            table.notes.append(f"{name}: {NOTES.get(name, 'no reason is known')}")
    wanted = [f">= {target:g}"] if target is not None else []
    if peak:
        wanted.append(f"<= {bytes_of(MEMORY)}")
        says.append(verdict(peak <= MEMORY))
    table.rows.append([*row, "\n".join(shown), "\n".join(wanted), "\n".join(says)])


def _range(values: Sequence[float], show: Callable[[float], str]) -> str:
    return f"{show(min(values))}-{show(max(values))}"


def _text(costs: Mapping[Lessons, Costs], sizes: Sizes, missing: str) -> str:
    parts = [
        f"{sizes.students} students, {sizes.compiling} where answers are compiled, as autograder/proof/demo/classes.py "
        "makes them: right answers, other right ones, known-wrong ones, untouched, damaged and hostile work, in each "
        "one's own words. A submission has three notebooks and eleven exercises, the compiled ones two notebooks and "
        "four. Grading begins with a sandbox for each exercise, twice on two cores; a small class pays more of that "
        "for each submission than a large one. All graders run the same hidden tests; stock "
        "ones run them in the student's kernel. Graders take turns with the same honest submissions; nbgrader and "
        "otter stay in one process and are asked by their Python interfaces, which start quicker than their commands. "
        "The class is graded by one command in a new process that finds nothing kept, and by the same command again; "
        "its throughput is compared with stock's on the submissions that took turns.",
        "Stock nbgrader runs the whole notebook, with the lesson's own examples; 'graded cells only' is the same "
        "notebook without them. Seconds are of the clock, the median and the range over submissions; processors, the "
        "seconds of all processes together; memory, the most that all processes held together, what they share "
        "counted once, looked at twice a second.",
        *(f"The {lessons.title} lessons: {found.agreement()}." for lessons, found in costs.items()),
    ]
    return " ".join(parts) + (f" Otter-grader is not in the table: {missing}." if missing else "")
