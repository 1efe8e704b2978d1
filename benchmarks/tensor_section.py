"""The programs with tensors beside PyTorch and NumPy: times, memory, and a training from end to end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack

from benchmarks.lines import COMPILED, LINES, Line
from benchmarks.measure import Load, Samples, interleave
from benchmarks.notes import NOTES
from benchmarks.report import Section, bytes_of, duration, verdict
from benchmarks.workers import COMPILERS, LIBRARIES, Failed, Worker

__all__ = ["compiled_memory_section", "compiled_section", "memory_section", "times_section", "training_section"]

COLUMNS = ("share of the peer's time", "middle half", "target", "")
TEXT = (
    "Times are those of the clock, the median of interleaved runs taken while nothing else ran on the machine; every "
    "library runs in a process of its own. float64 unless it is said. The share is minigrad's time divided by that of "
    "the peer that is named, the median over the rounds, beside its quartiles. Forward alone runs without a graph; "
    "backward starts from a random upstream gradient. PyTorch is used eagerly; where its malloc is tuned, glibc was "
    "told to keep large memory instead of giving it back to the kernel, which PyTorch does not do by itself."
)
LARGE = "sigmoid(a * b + c), 1e7, forward and backward"
WATCHED = [name for name in COMPILED if "1e7, with gradients" in name or "layer norm" in name or "transformer" in name]
CHAIN = 100_000
EPOCHS = 25


OF_COMPILERS = (
    "Here minigrad is `jit`, beside itself without it, PyTorch used eagerly and compiled by torch.compile, NumPy, "
    "jax.jit, and numexpr where it can. Gradients are those of the sum of the results, in all inputs. Calls before the "
    "clock runs have compiled everything. jax gives no result back before it is there. GB/s counts each input and each "
    "result once; the first line says what the memory can do, and a rate above it means that the arrays stay in the "
    "caches. A step of a network is its loss, the gradients and the update: one function for minigrad and jax, whose "
    "old parameters are donated; the compiled loss, `backward()` and an update in place for PyTorch."
)


def times_section(chosen: Sequence[str]) -> Iterator[str | Section]:
    """Measure lines: the name of each before it runs, and at the end the table."""
    return _times(
        Section("Tensors beside PyTorch and NumPy", ("program", *LIBRARIES, *COLUMNS), text=TEXT), LIBRARIES, chosen
    )


def compiled_section(chosen: Sequence[str]) -> Iterator[str | Section]:
    """Measure compiled programs likewise."""
    return _times(Section("Compiled programs", ("program", *COMPILERS, *COLUMNS), text=OF_COMPILERS), COMPILERS, chosen)


def _times(table: Section, libraries: Iterable[str], chosen: Sequence[str]) -> Iterator[str | Section]:
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(name)) for name in libraries}
        load = Load([os.getpid(), *(worker.pid for worker in workers.values())])
        for name in chosen:
            yield name
            line = (LINES | COMPILED)[name]
            try:
                samples = _measure(line, workers, load)
            except Failed as failure:
                table.rows.append([name, *[""] * (len(table.columns) - 2), f"failed: {failure}"])
                continue
            table.rows.append(_row(line, samples, libraries))
            if "missed" in table.rows[-1][-1]:
                table.notes.append(f"{name}: {NOTES.get(name, 'no reason is known')}")
    yield table


def _measure(line: Line, workers: dict[str, Worker], load: Load) -> Samples:
    taking_part = {name: workers[name] for name in ("minigrad", *line.peers)}
    for worker in taking_part.values():
        worker.build(line.name)
    return interleave({name: worker.seconds for name, worker in taking_part.items()}, load)


def _row(line: Line, samples: Samples, libraries: Iterable[str]) -> list[str]:
    def time(name: str) -> str:
        if name not in samples.seconds:
            return ""
        seconds = samples.time(name) / line.divide
        rates = {"GF/s": line.work, "GB/s": line.moved}
        return duration(seconds) + "".join(f"\n{n / seconds / 1e9:.3g} {unit}" for unit, n in rates.items() if n)

    ratios = {peer: samples.ratio("minigrad", peer) for peer in line.limits}
    loud = "" if samples.is_quiet else " (busy machine)"
    return [
        line.name,
        *map(time, libraries),
        "\n".join(f"{middle:.2f} of {peer}" for peer, (_, middle, _) in ratios.items()),
        "\n".join(f"{low:.2f}-{high:.2f}" for low, _, high in ratios.values()),
        "\n".join(f"<= {limit:.2f}" for limit in line.limits.values()),
        "\n".join(verdict(ratios[peer][1] <= limit) + loud for peer, limit in line.limits.items()),
    ]


def memory_section() -> Iterator[str | Section]:
    """Measure memory: peak of the process for a large expression, and what one recorded operation holds."""
    names = [name for name in LIBRARIES if name != "numpy"]
    table = Section(
        "Memory",
        ("program", *names),
        text=(
            "The peak is that of the whole process, with the library, three inputs of 80 MB and their gradients in it. "
            "A chain holds its operations until it is differentiated."
        ),
    )
    yield "memory"
    peaks, held = [], []
    for name in names:
        with Worker(name) as worker:
            worker.build(LARGE)
            worker.seconds()
            peaks.append(bytes_of(worker.memory()["peak"]))
        with Worker(name) as worker:
            held.append(bytes_of(worker.call("tensors.held_by_a_chain", CHAIN)))
    table.rows = [
        [f"peak of the process, {LARGE}", *peaks],
        ["held by one of 100,000 products of shape (4,)", *held],
    ]
    yield table


def compiled_memory_section() -> Iterator[str | Section]:
    """Measure the peak of a process that runs a compiled program."""
    peers = [name for name in COMPILERS if name not in ("numpy", "numexpr")]
    table = Section(
        "Memory of compiled programs",
        ("peak of the process", *peers),
        text=(
            "What the process holds at most while it runs the program once more, after it was compiled: the library, "
            "the inputs, the results and what lies between them."
        ),
    )
    yield "memory of compiled programs"
    for name in WATCHED:
        table.rows.append([name])
        for peer in peers:
            with Worker(peer) as worker:
                worker.build(name)
                table.rows[-1].append(bytes_of(worker.peak_of_a_run()))
    yield table


def training_section() -> Iterator[str | Section]:
    """Train LeNet on the digits with each library, from the start to the test."""
    table = Section(
        f"LeNet on scikit-learn's digits, {EPOCHS} epochs",
        ("library", "seconds", "seconds an epoch", "images recognised"),
        text=(
            "1,437 images of 8 x 8 to learn from in batches of 32, 360 to be tested with; two convolutions, average "
            "pooling, dropout, Adam; float32. Best of two trainings in turns, with what is compiled on the way."
        ),
    )
    names, best = ("minigrad", "torch"), {}
    for _ in range(2):
        for name in names:
            yield f"training with {name}"
            with Worker(name) as worker:
                done = worker.call("networks.train_on_digits", EPOCHS)
            if name not in best or done["seconds"] < best[name]["seconds"]:
                best[name] = done
    for name, done in best.items():
        seconds = done["seconds"]
        table.rows.append([name, f"{seconds:.2f}", f"{seconds / EPOCHS:.3f}", f"{done['accuracy']:.1%}"])
    yield table
