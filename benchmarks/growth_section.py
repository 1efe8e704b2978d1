"""How time and memory grow with the size: `python -m benchmarks growth`, which writes and draws RESULTS_GROWTH.md.

`make bench` compares libraries at a few sizes. Here each program runs at sizes from small to large. A table names the
sizes at which minigrad's time jumps: one way of computing may take over from another there. How the steps of grading
grow is drawn from the table that `python -m benchmarks.scale` has written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.growth import BORDERS, GROWTHS, JUMP, NAMES, Growth, Point, Series, borders, drawn, jumps, panel
from benchmarks.measure import Load, available_memory, interleave
from benchmarks.report import Section, bytes_of, duration, machine, save, write
from benchmarks.workers import Failed, Worker
from minigrad.draw.plots import Picture, canvas

__all__ = ["STEPS", "class_section", "section"]

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "RESULTS_GROWTH.md"
SCALE = ROOT / "benchmarks" / "RESULTS_SCALE.md"
PICTURES = ROOT / "docs" / "pictures" / "growth"
SECONDS, ROUNDS = 0.3, (3, 15)  # for one size; `make bench` takes more of both, and fewer sizes
HELD = 128  # bytes that all processes together need for an element: 32 arrays of float32
DRAWN = 5  # of the steps of grading, those that take longest: no two lines look alike
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "kB": 1e3, "MB": 1e6, "GB": 1e9}
STEPS = sum(len(growth.sizes) * len(growth.ways) for growth in GROWTHS)
Found = Mapping[str, Mapping[bool, Series]]
"""For each program and each of its ways, what was measured."""

OF_JUMPS = (
    "A factor is the time for an element at the larger of two neighbouring sizes, divided by that at the smaller "
    f"one. A line stands here if minigrad's factor is above 1, and above {JUMP} times that of each peer. "
    "A call that costs a + b n for n elements never has a factor above 1. Systems stop a thread for "
    "milliseconds at times; so a peer's time counts as that of a larger size if that was less. "
    "Elements are those of the result, of the array that is summed, or parameters of the network. At a border "
    "minigrad begins to compute in another way. The borders, in elements of float32, are "
    + ", ".join(f"`{name}` ({elements:,})" for name, elements in BORDERS.items())
    + ". From `LARGE` on (`minigrad.backends.arrays`) compiled loops take the place of NumPy's; from "
    "`LARGE_AND_DEAR` on they do so for exp and its kin. Results of twice `GRAIN` bytes are shared by two threads "
    "(`minigrad.backends.numba.threads`), elementwise ones of `ALONE` bytes (`ufuncs` there), "
    "those of `STREAM_FROM` bytes are written past the caches "
    "(`elementwise` there). A border between two sizes is not proved to be the cause of the "
    "jump there."
)
OF_SIZES = (
    "Seconds of the clock, the median of interleaved runs, and the most bytes that the process held during one "
    "more run, with the library, inputs and results in it. float32; every library runs in a process of its own, "
    f"with {os.cpu_count()} threads; NumPy has one thread, except for products of matrices. Backward starts from a "
    "random upstream gradient. A training step is the loss of 50 points, its gradients, and an update by SGD. In "
    "the pictures a ring is a jump, and a dotted line a border. Where minigrad's memory rises by a step of some "
    "75 MB, it loads Numba."
)


def section() -> Iterator[str | Section]:
    """Measure, draw and write the page: the name of each size before it runs, and at the end the tables."""
    measured_on = machine()
    found: dict[str, dict[bool, Series]] = {growth.name: {} for growth in GROWTHS}
    loud: list[str] = []
    for growth in GROWTHS:
        for backward in growth.ways:
            found[growth.name][backward] = {}
            yield from _measured(growth, backward, found[growth.name][backward], loud)
    tables = [_jumps(found, loud), _sizes(found)]
    write([*tables, class_section()], RESULTS, "python -m benchmarks growth", measured_on)
    yield from tables


def _measured(growth: Growth, backward: bool, series: Series, loud: list[str]) -> Iterator[str]:
    """Yield what runs; add a point of each library at each size, and to `loud` what ran on a busy machine."""
    names = [name for name in NAMES if name != "numpy" or not backward]
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(name)) for name in names}
        load = Load([os.getpid(), *(worker.pid for worker in workers.values())])
        for size in growth.sizes:
            yield (what := f"{growth.name}, {growth.told(backward)}, {size:,} {growth.axis}")
            if HELD * size**growth.power > available_memory():
                break
            try:
                for worker in workers.values():
                    worker.build(growth.name, growth.argument(size), backward)
                samples = interleave({name: worker.seconds for name, worker in workers.items()}, load, SECONDS, ROUNDS)
                points = {name: Point(samples.time(name), worker.peak_of_a_run()) for name, worker in workers.items()}
            except Failed:
                if not series:
                    raise
                break  # too large for this machine: the smaller sizes are drawn
            loud += [] if samples.is_quiet else [what]
            for name, point in points.items():
                series.setdefault(name, {})[size] = point


def _jumps(found: Found, loud: Sequence[str]) -> Section:
    columns = ("program", "between", "minigrad's factor", "largest factor of a peer", "border in between")
    table = Section("Where minigrad's time for an element jumps", columns, text=OF_JUMPS)
    for growth in GROWTHS:
        for backward, series in found[growth.name].items():
            for jump in jumps(series, growth.power):
                what = f"{growth.name}, {growth.told(backward)}"
                between = f"{jump.sizes[0]:,} and {jump.sizes[1]:,} {growth.axis}"
                names = ", ".join(borders(growth, *jump.sizes).values()) or "none"
                table.rows.append([what, between, f"{jump.ours:.2f}", f"{jump.theirs:.2f}", names])
    if loud:
        table.notes.append(
            f"Other programs or the system used the machine at {len(loud)} of {STEPS} sizes, such as {loud[0]}."
        )
    return table


def _sizes(found: Found) -> Section:
    table = Section("Time and memory at the largest size", ("program", "size", *NAMES.values()), text=OF_SIZES)
    for growth in GROWTHS:
        for backward, series in found[growth.name].items():
            size = max(series["minigrad"])
            at = {name: points[size] for name, points in series.items()}
            cells = [f"{duration(at[name].seconds)}, {bytes_of(at[name].peak)}" if name in at else "" for name in NAMES]
            table.rows.append([f"{growth.name}, {growth.told(backward)}", f"{size:,} {growth.axis}", *cells])
        table.text += "\n\n" + _kept(drawn(growth, found[growth.name]), growth.file)
    return table


def class_section() -> Section:
    """Draw how the slowest steps of grading grow, from the table that `benchmarks.scale` has written."""
    head, _, *lines = (line.split("|")[1:-2] for line in SCALE.read_text().splitlines() if line.startswith("| "))
    sizes = [int(re.sub(r"\D", "", cell)) for cell in head[1:]]
    steps: dict[str, list[list[float]]] = {}
    for name, *cells in lines:
        found = [[float(n) * UNITS[unit] for n, unit in re.findall(r"([\d.]+) (\w+)", cell)] for cell in cells]
        if len(found[0]) == 2:  # seconds and bytes of a command; the sizes of files have one number
            steps[name.strip()] = found
    slowest = sorted(steps, key=lambda name: -steps[name][-1][0])[:DRAWN]
    figure, axes = canvas(2, width=11.0, height=3.6)
    for at, (title, told) in enumerate((("seconds against students", duration), ("peak bytes", bytes_of))):
        lines_of = {name: {n: cell[at] for n, cell in zip(sizes, steps[name], strict=True)} for name in slowest}
        panel(axes[at], title, lines_of, told)
        axes[at].set_xlabel("students")
    students = f"{sizes[0]:,} to {sizes[-1]:,} students"
    picture = Picture(figure, f"Seconds and peak memory of steps of grading for {students}: {', '.join(slowest)}")
    text = f"From [the measured steps of a class](RESULTS_SCALE.md), the slowest ones.\n\n{_kept(picture, 'class')}"
    return Section("Grading against the size of the class", (), text=text)


def _kept(picture: Picture, name: str) -> str:
    """Write a picture, and return how the page shows it."""
    path = PICTURES / f"{name}.png"
    save(picture, path)
    return f"![{picture.caption}.]({os.path.relpath(path, RESULTS.parent)})"
