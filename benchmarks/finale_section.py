"""The finale: the language model of lesson 12 beside the same network in PyTorch."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator

from benchmarks.notes import NOTES
from benchmarks.report import Section, duration, verdict
from benchmarks.workers import Worker

__all__ = ["NAMES", "WORDS", "section"]

NAMES = ("torch", "minigrad, eager", "minigrad")
STEPS, ROUNDS, SHORT = 400, 3, 40
WORDS = (ROUNDS + 1) * len(NAMES)
"""How many words the section says before its table."""

LIMITS = {"minigrad, eager": 1.5, "minigrad": 1.0}
CLOSE = 0.02
"""How far losses may be apart, as a part of PyTorch's."""

TEXT = (
    "A GPT of 353,629 parameters on Shakespeare's sonnets, character by character: 3 blocks of 4 heads, vectors of 96 "
    "numbers, 16 pieces of 64 characters a step, Adam, float32. All three begin with the same weights and see the same "
    "batches, so that their losses can be compared. Losses are means over 50 steps, in nats a character; 'unseen' is "
    "the tenth of the text that was kept. Seconds are the middle one of the steps, the best of turns taken one after "
    "the other. minigrad is one compiled function, loss, gradients and Adam; eager it is `backward()` and "
    "`optim.Adam`, as in PyTorch, which is used eagerly."
)


def section() -> Iterator[str | Section]:
    """Train with each, and time short trainings in turns: a word before each, and at the end the table."""
    spans: dict[str, list[float]] = {name: [] for name in NAMES}
    for _ in range(ROUNDS):
        for name in NAMES:
            yield f"finale: steps of {name}"
            with Worker(name) as worker:
                spans[name].append(worker.call("finale.train", SHORT)["seconds"])
    done = {}
    for name in NAMES:
        yield f"finale: training with {name}"
        with Worker(name) as worker:
            done[name] = worker.call("finale.train", STEPS)
    columns = ("library", "first loss", "last loss", "unseen", "of PyTorch's loss", "a step", "share", "target", "")
    table = Section(f"The finale: {STEPS} steps of a small GPT", columns)
    table.text = TEXT
    base = done["torch"]
    for name in NAMES:
        found, seconds = done[name], min(spans[name])
        share = seconds / min(spans["torch"])
        apart = abs(found["unseen"] / base["unseen"] - 1.0)
        row = [name, *(f"{found[key]:.3f}" for key in ("first", "last", "unseen"))]
        if name == "torch":
            table.rows.append([*row, "", duration(seconds), "", "", ""])
            continue
        limit = LIMITS[name]
        met = share <= limit, apart <= CLOSE
        table.rows.append(
            [
                *row,
                f"{found['unseen'] / base['unseen']:.3f}",
                duration(seconds),
                f"{share:.2f}",
                f"<= {limit:.2f}\nwithin {CLOSE:.0%}",
                "\n".join(map(verdict, met)),
            ]
        )
        if not met[0]:
            table.notes.append(f"{name}: {NOTES.get(f'finale: {name}', 'no reason is known')}")
    load = os.getloadavg()[0]
    spread = ", ".join(f"{name} {statistics.median(each) / min(each):.2f}" for name, each in spans.items())
    table.text += f"\n\nLoad of the machine at the end: {load:.1f}; the middle turn over the best: {spread}."
    yield table
    written = f"```\n{done['minigrad']['sample']}\n```"
    yield Section(f"What the compiled model writes after {STEPS} steps", (), text=written)
