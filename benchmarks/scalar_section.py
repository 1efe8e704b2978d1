"""The scalar programs beside micrograd."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from micrograd.engine import Value

from benchmarks import scalars
from benchmarks.measure import Comparison, compare, peak_memory
from benchmarks.report import Section, duration, verdict
from minigrad import Scalar

__all__ = ["programs", "section"]

COLUMNS = ("program", "minigrad", "micrograd", "times quicker", "range", "target", "memory", "")
TEXT = (
    "Times are processor time, the best of interleaved runs, forward and backward; the ratio is the median over the "
    "rounds, the range its smallest and largest value. Memory is the peak of Python objects, as a share of "
    "micrograd's. The garbage collector is on, as it is for users: much of micrograd's time on large graphs is spent "
    "there. micrograd runs the chain with a raised recursion limit and a stack of 512 MB, minigrad with Python's "
    "defaults."
)


@dataclass(frozen=True)
class Program:
    """One line of the table.

    Attributes:
        name: What it computes.
        ours: Runs it once, or ``repeat`` times, on minigrad.
        theirs: Likewise on micrograd.
        target: How many times quicker it is to be.
        repeat: How many runs are timed as one.
        rounds: How many interleaved rounds.
    """

    name: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    target: float
    repeat: int
    rounds: int


def programs() -> list[Program]:
    """Return the programs with their targets."""

    def repeated(number: type) -> Callable[[], object]:
        return lambda: [scalars.expression(number) for _ in range(1000)]

    def deep_chain() -> object:
        with scalars.deep_recursion():
            return scalars.chain(Value)

    ours, theirs = scalars.Minigrad(), scalars.Micrograd()
    return [
        Program("micrograd's README expression", repeated(Scalar), repeated(Value), 4.0, 1000, 21),
        Program("a chain of 100,000 operations", lambda: scalars.chain(Scalar), deep_chain, 8.0, 1, 7),
        Program("network 2-16-16-1, 100 points, one step", ours.step, theirs.step, 15.0, 1, 11),
    ]


def row(program: Program, times: Comparison, memory: float) -> list[str]:
    """Return the cells of a program's line."""
    return [
        program.name,
        duration(min(times.ours) / program.repeat),
        duration(min(times.theirs) / program.repeat),
        f"{times.ratio:.1f}",
        f"{min(times.ratios):.1f}-{max(times.ratios):.1f}",
        f">= {program.target:g}",
        f"1/{memory:.1f}",
        verdict(times.ratio >= program.target),
    ]


def section(chosen: list[Program]) -> Iterator[str | Section]:
    """Measure the programs: the name of each before it runs, and at the end the table."""
    table = Section("Scalars beside micrograd", COLUMNS, text=TEXT)
    for program in chosen:
        yield program.name
        times = compare(program.ours, program.theirs, program.rounds)
        table.rows.append(row(program, times, peak_memory(program.theirs) / peak_memory(program.ours)))
    yield table
