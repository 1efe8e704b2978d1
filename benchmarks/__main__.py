"""Run minigrad beside its peers, print the ratios, and write benchmarks/RESULTS.md: `make bench`.

With words, `python -m benchmarks softmax matmul`, only the lines that have one of them in their names run, and nothing
is written; `compiling`, `memory`, `finale` and `grading` are tables of their own. `growth` is not in `make bench`: it
writes benchmarks/RESULTS_GROWTH.md.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import (
    compile_section,
    finale_section,
    grading_section,
    growth_section,
    scalar_section,
    start_section,
    tensor_section,
)
from benchmarks.lines import COMPILED, LINES
from benchmarks.report import RESULTS, Section, machine, write

TABLES = ("compiling", "memory", "finale", "grading", "growth")
STACK = 512 * 1024 * 1024  # bytes, for micrograd's recursion on the chain


def everything() -> tuple[list[Iterator[str | Section]], int]:
    """Return the sections, and how many steps they announce."""
    programs, sizes = scalar_section.programs(), grading_section.Sizes()
    sections = [
        scalar_section.section(programs),
        tensor_section.times_section(list(LINES)),
        tensor_section.compiled_section(list(COMPILED)),
        compile_section.section(),
        tensor_section.training_section(),
        finale_section.section(),
        tensor_section.memory_section(),
        tensor_section.compiled_memory_section(),
        start_section.section(),
        grading_section.section(sizes),
    ]
    lines = len(programs) + len(LINES) + len(COMPILED)
    compiling = len(compile_section.NAMES) * len(compile_section.PEERS)
    return sections, lines + compiling + finale_section.WORDS + 4 + 2 + len(start_section.STARTS) + sizes.steps


def some(words: list[str]) -> tuple[list[Iterator[str | Section]], int]:
    """Return a section of the lines with one of the words in their names, and how many they are."""
    chosen = [name for name in LINES if any(word in name for word in words)]
    programs = [program for program in scalar_section.programs() if any(word in program.name for word in words)]
    sections = [scalar_section.section(programs)] if programs else []
    sections += [tensor_section.times_section(chosen)] if chosen else []
    of_jit = [name for name in COMPILED if any(word in name for word in words)]
    sections += [tensor_section.compiled_section(of_jit)] if of_jit else []
    steps = len(chosen) + len(of_jit) + len(programs)
    if "compiling" in words:
        sections.append(compile_section.section())
        steps += len(compile_section.NAMES) * len(compile_section.PEERS)
    if "memory" in words:
        sections += [tensor_section.memory_section(), tensor_section.compiled_memory_section()]
        steps += 2
    if "finale" in words:
        sections.append(finale_section.section())
        steps += finale_section.WORDS
    if "grading" in words:
        sizes = grading_section.Sizes()
        sections.append(grading_section.section(sizes))
        steps += sizes.steps
    if "growth" in words:
        sections.append(growth_section.section())
        steps += growth_section.STEPS
    return sections, steps


def main(words: list[str]) -> None:
    """Measure, print and write."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    sections, steps = some(words) if words else everything()
    if not sections:
        names = [*LINES, *COMPILED, *(program.name for program in scalar_section.programs()), *TABLES]
        sys.exit(f"benchmarks: no line has {' or '.join(words)} in its name; there are:\n  " + "\n  ".join(names))
    measured_on = machine()  # first: what it cannot say must not cost a run
    done = []
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=steps)
        for section in sections:
            for news in section:
                if isinstance(news, str):
                    progress.update(task, description=news, advance=1)
                else:
                    done.append(news)
    for section in done:
        section.show(console)
    console.print(f"[dim]{measured_on}")
    if not words:
        write(done, RESULTS, "make bench", measured_on)
        console.print(f"[dim]written to benchmarks/{RESULTS.name}")


if __name__ == "__main__":
    threading.stack_size(STACK)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(main, sys.argv[1:]).result()
