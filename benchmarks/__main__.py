"""Run the scalar programs beside micrograd, print the ratios, and write benchmarks/RESULTS.md: `make bench`."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from micrograd.engine import Value
from rich.console import Console
from rich.table import Table

from benchmarks import scalars
from benchmarks.measure import Comparison, compare, peak_memory
from minigrad import Scalar

RESULTS = Path(__file__).parent / "RESULTS.md"
STACK = 512 * 1024 * 1024  # bytes, for micrograd's recursion on the chain
IMPORT_SECONDS = 0.12
COLUMNS = ("program", "minigrad", "micrograd", "times quicker", "range", "target", "memory", "")


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
        "met" if times.ratio >= program.target else "missed",
    ]


def import_row(rounds: int = 7) -> list[str]:
    """Time `import minigrad`, and micrograd's, in processes of their own."""

    def seconds(module: str) -> float:
        code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)

    samples = [(seconds("minigrad"), seconds("micrograd.engine")) for _ in range(rounds)]
    ours = [a for a, _ in samples]
    met = "met" if min(ours) <= IMPORT_SECONDS else "missed"
    spread = f"{duration(min(ours))}-{duration(max(ours))}"
    peer = duration(min(b for _, b in samples))
    return ["import", duration(min(ours)), peer, "", spread, f"<= {IMPORT_SECONDS} s", "", met]


def duration(seconds: float) -> str:
    """Return a time in the unit that fits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def machine() -> str:
    """Return one line on the machine and the versions."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return (
        f"{cpu}, {os.cpu_count()} cores; {platform.system()}; {platform.python_implementation()} "
        f"{platform.python_version()}; minigrad {version('minigrad')}, micrograd {version('micrograd')}"
    )


def write(rows: list[list[str]]) -> None:
    """Write the table as Markdown."""
    table = [COLUMNS, ["---"] * len(COLUMNS), *rows]
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in table)
    RESULTS.write_text(
        "# Benchmarks\n\nWritten by `make bench` (`benchmarks/__main__.py`); a run replaces it.\n\n"
        f"Machine: {machine()}.\n\n{text}\n\n"
        "Times are processor time, the best of interleaved runs, forward and backward; the ratio is the median over "
        "the rounds, the range its smallest and largest value. Memory is the peak of Python objects, as a share of "
        "micrograd's. The garbage collector is on, as it is for users: much of micrograd's time on large graphs is "
        "spent there. micrograd runs the chain with a raised recursion limit and a stack of 512 MB, minigrad with "
        "Python's defaults.\n"
    )


def main() -> None:
    """Measure, print and write everything."""
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table(*COLUMNS, title="minigrad beside micrograd")
    rows = []
    for program in programs():
        console.print(f"[dim]{program.name} ...")
        times = compare(program.ours, program.theirs, program.rounds)
        rows.append(row(program, times, peak_memory(program.theirs) / peak_memory(program.ours)))
    rows.append(import_row())
    for cells in rows:
        table.add_row(*cells)
    console.print(table)
    console.print(f"[dim]{machine()}; written to benchmarks/{RESULTS.name}")
    write(rows)


if __name__ == "__main__":
    threading.stack_size(STACK)
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
