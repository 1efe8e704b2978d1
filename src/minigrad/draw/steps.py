"""Pictures of a program's steps: where its values lie from when to when, how long each takes, what it carries on.

draw.memory_plan(lifetimes, places)                 # a box for each value: steps to the right, bytes upwards
draw.timeline({"eager": [("exp", 2e-3), ...]})      # a bar for each step, as long as it took
draw.running_softmax([1.0, 3.0, 2.0], block=1)      # the largest score and the sum so far, block by block
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, arrow, box, label, text

MOST_VALUES = 24
"""Values in one picture whose names can still be read."""

MOST_SCORES = 12
"""Scores in one picture."""

_HIGH, _WIDE = 260.0, 620.0
_BAR = 26.0
_KINDS = "used", "other", "cell"


def memory_plan(values: Mapping[Any, Any], places: Mapping[Any, int]) -> Drawing:
    """Draw values in memory as boxes: as wide as their life is long, as high as they are large.

    Args:
        values: For each value its lifetime: anything with size, first and last, such as `minigrad.loops.Lifetime`.
        places: For each value its first byte.

    Raises:
        ValueError: If there are no values, or more than `MOST_VALUES`.

    >>> life = minigrad.loops.Lifetime
    >>> print(minigrad.draw.memory_plan({"a": life(64, 0, 1), "b": life(64, 1, 2)}, {"a": 0, "b": 64}))
    Values in memory: a from step 0 to 1 in bytes 0 to 63; b from step 1 to 2 in bytes 64 to 127. 128 bytes
    in all; without sharing 128.
    """
    if not 1 <= len(values) <= MOST_VALUES:
        raise ValueError(f"draw.memory_plan: {len(values)} values cannot be drawn; take 1 to {MOST_VALUES}")
    steps = 1 + max(life.last for life in values.values())
    top = max(places[x] + life.size for x, life in values.items())
    left = MARGIN + SMALL * len(str(top)) + 10.0
    step, byte = _WIDE / steps, _HIGH / top
    parts, told = [], []
    for number, (x, life) in enumerate(values.items()):
        y = MARGIN + (top - places[x] - life.size) * byte
        wide, high = (life.last - life.first + 1) * step - 2.0, life.size * byte - 2.0
        parts.append(box(left + life.first * step, y, wide, high, _KINDS[number % len(_KINDS)]))
        seen = _until_covered(x, values, places) * step - 2.0
        if len(str(x)) * SMALL < seen and high > 0.8 * LINE:
            parts.append(text(left + life.first * step + seen / 2, y + high / 2 + 4.0, str(x), "small"))
        last = places[x] + life.size - 1
        told.append(f"{x} from step {life.first} to {life.last} in bytes {places[x]} to {last}")
    for place in {0, *(places[x] + life.size for x, life in values.items())}:
        parts.append(text(left - 5.0, MARGIN + (top - place) * byte + 4.0, str(place), "small", "end"))
    for number in range(steps):
        parts.append(text(left + (number + 0.5) * step, MARGIN + _HIGH + LINE, str(number), "small"))
    words = f"{'; '.join(told)}. {top} bytes in all; without sharing {sum(life.size for life in values.values())}."
    return Drawing(left + _WIDE + MARGIN, _HIGH + 1.5 * LINE + 2 * MARGIN, "Values in memory", words, parts)


def _until_covered(name: Any, values: Mapping[Any, Any], places: Mapping[Any, int]) -> int:
    """Return for how many steps a value's box is seen: a later one may be written over it while it is read."""
    life, start = values[name], places[name]
    later = [
        other.first
        for x, other in values.items()
        if life.first < other.first <= life.last and places[x] < start + life.size and start < places[x] + other.size
    ]
    return int(min(later, default=life.last + 1) - life.first)


def timeline(rows: Mapping[str, Sequence[tuple[str, float]]]) -> Drawing:
    """Draw the steps of several runs as bars on one scale, one run below the other.

    Args:
        rows: For each run its steps, in order: a name and the seconds that it took.

    Raises:
        ValueError: If there is no run, or one without time.

    >>> print(minigrad.draw.timeline({"eager": [("exp", 0.002), ("mul", 0.001)], "fused": [("loop", 0.001)]}))
    Timeline: eager: exp 2.000 ms, mul 1.000 ms, together 3.000 ms. fused: loop 1.000 ms, together 1.000 ms.
    """
    totals = {name: sum(seconds for _, seconds in steps) for name, steps in rows.items()}
    if not totals or min(totals.values()) <= 0.0:
        raise ValueError("draw.timeline: there is nothing to draw; give steps with times for at least one run")
    left = MARGIN + max(map(len, rows)) * CHARACTER + 10.0
    scale = _WIDE / max(totals.values())
    parts, told = [], []
    for row, (name, steps) in enumerate(rows.items()):
        x, y = left, MARGIN + row * (_BAR + LINE)
        parts.append(text(MARGIN, y + 0.7 * _BAR, name, "bold", "start"))
        for number, (step, seconds) in enumerate(steps):
            wide = seconds * scale
            parts.append(box(x, y, max(wide - 1.0, 0.5), _BAR, _KINDS[number % len(_KINDS)]))
            if len(step) * SMALL < wide - 4.0:
                parts.append(text(x + wide / 2, y + 0.66 * _BAR, step, "small"))
            x += wide
        listed = ", ".join(f"{step} {seconds * 1e3:.3f} ms" for step, seconds in steps)
        told.append(f"{name}: {listed}, together {totals[name] * 1e3:.3f} ms.")
    size = left + _WIDE + MARGIN, 2 * MARGIN + len(rows) * (_BAR + LINE)
    return Drawing(*size, "Timeline", " ".join(told), parts)


def running_softmax(scores: Sequence[float], block: int = 1) -> Drawing:
    """Draw what a softmax in pieces carries from block to block: the largest score so far, and the sum so far.

    Args:
        scores: The scores of one row, finite numbers.
        block: How many come together; the last block may be shorter.

    Raises:
        ValueError: If there are no scores or more than `MOST_SCORES`, or a block is empty.

    >>> print(minigrad.draw.running_softmax([1.0, 3.0, 2.0, 2.0], block=2))
    A softmax in pieces: after the scores 1, 3: largest 3, sum 1.135, all of it new. After the scores 2,
    2: largest 3, sum 1.871, the old sum times 1.
    """
    if not 1 <= len(scores) <= MOST_SCORES or block < 1:
        raise ValueError(f"draw.running_softmax: {len(scores)} scores in blocks of {block} cannot be drawn; "
                         f"take 1 to {MOST_SCORES} scores and blocks of 1 or more")  # fmt: skip
    names = ["scores", "largest so far, m", "old sum times", "sum so far, s"]
    left = MARGIN + max(map(len, names)) * SMALL + 12.0
    cell, high = 46.0, 26.0
    wide = max(min(block, len(scores)) * cell, 84.0)
    rows = [MARGIN, MARGIN + 54.0, MARGIN + 92.0, MARGIN + 130.0]
    parts = [text(MARGIN, y + 17.0, name, "small", "start") for name, y in zip(names, rows, strict=True)]
    told, before = [], -math.inf
    for place, first in enumerate(range(0, len(scores), block)):
        here, seen = scores[first : first + block], scores[: first + block]
        largest, x = max(seen), left + place * (wide + 44.0)
        total = math.fsum(math.exp(score - largest) for score in seen)
        scale = label(math.exp(before - largest))
        shown = [label(float(score)) for score in here]
        start = x + (wide - len(here) * cell) / 2
        for number, word in enumerate(shown):
            parts.append(box(start + number * cell, rows[0], cell, high, "used"))
            parts.append(text(start + (number + 0.5) * cell, rows[0] + 17.5, word))
        parts.append(arrow(x + wide / 2, rows[0] + high, x + wide / 2, rows[1]))
        for y, word in ((rows[1], label(float(largest))), (rows[3], label(total))):
            parts.append(box(x, y, wide, high, "mark" if y == rows[3] else "cell"))
            parts.append(text(x + wide / 2, y + 17.5, word, "marked" if y == rows[3] else "bold"))
            if place:
                parts.append(arrow(x - 42.0, y + high / 2, x - 2.0, y + high / 2))
        parts.append(text(x + wide / 2, rows[2] + 17.5, f"x {scale}" if place else "-", "small"))
        old = f"the old sum times {scale}" if place else "all of it new"
        begin = "After" if place else "after"
        told.append(
            f"{begin} the scores {', '.join(shown)}: largest {label(float(largest))}, sum {label(total)}, {old}."
        )
        before = largest
    width = left + len(told) * (wide + 44.0) - 44.0 + MARGIN
    return Drawing(width, rows[3] + high + MARGIN, "A softmax in pieces", " ".join(told), parts)
