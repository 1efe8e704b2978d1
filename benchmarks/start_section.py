"""What a process pays once: the import, the first operation, the first compiled kernel, the first epoch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.notes import NOTES
from benchmarks.report import Section, duration, verdict

__all__ = ["section"]

ROUNDS = 5
COLUMNS = ("in a new process", "minigrad", "torch", "range", "target", "")
TEXT = (
    "Seconds of the clock, the best of some processes; the range is minigrad's. What minigrad compiles is kept on "
    "disk: the first process that ever runs a kernel compiles it, and these are later ones."
)


@dataclass(frozen=True)
class Start:
    """Something that a process does once.

    Attributes:
        name: What it is.
        before: Code that is not timed; ``lib`` is the library.
        code: Code that is.
        target: The most seconds that it may take.
    """

    name: str
    before: str
    code: str
    target: float


STARTS = (
    Start("import", "", "import {library} as lib", 0.12),
    Start("import and make a tensor", "", "import {library} as lib; lib.ones(4)", 0.12),
    Start("the first product, of shape (4,)", "import {library} as lib; a = lib.ones(4)", "a * a", 0.01),
    Start(
        "the first kernel, sigmoid(a * b + c) of 1e6",
        "import {library} as lib; a = lib.ones(1000000)",
        "(a * a + a).sigmoid()",
        0.35,
    ),
    Start(
        "the first epoch of a network 2-100-100-1 on 50 points, with making it",
        "import {library} as lib; from benchmarks.networks import mlp_epoch",
        "mlp_epoch(lib)()",
        0.2,
    ),
)


def section() -> Iterator[str | Section]:
    """Measure every start: the name of each before it runs, and at the end the table."""
    table = Section("What a process pays once", COLUMNS, text=TEXT)
    for start in STARTS:
        yield start.name
        _seconds(start, "minigrad")  # compiles what is not yet on disk
        samples = [(_seconds(start, "minigrad"), _seconds(start, "torch")) for _ in range(ROUNDS)]
        ours, theirs = ([each[k] for each in samples] for k in (0, 1))
        table.rows.append(
            [
                start.name,
                duration(min(ours)),
                duration(min(theirs)),
                f"{duration(min(ours))}-{duration(max(ours))}",
                f"<= {start.target} s",
                verdict(min(ours) <= start.target),
            ]
        )
        if min(ours) > start.target:
            table.notes.append(f"{start.name}: {NOTES.get(start.name, 'no reason is known')}")
    yield table


def _seconds(start: Start, library: str) -> float:
    code = (
        f"import time\n{start.before}\nstart = time.perf_counter()\n{start.code}\n"
        "import sys; sys.stdout.write(str(time.perf_counter() - start))"
    ).replace("{library}", library)
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return float(done.stdout)
