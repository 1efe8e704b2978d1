"""The memory puzzle: values as boxes in a block of memory, which are moved up and down by hand.

A box is as wide as its life is long and as high as it is large. Nothing here knows a good plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, pairwise
from typing import Any

import traitlets

from minigrad.draw.paper import LINE, MARGIN, SMALL, Drawing, box, text
from minigrad.loops import Lifetime
from minigrad.widgets.base import Widget, page

UNIT = 64
"""How many bytes a box moves at a time."""

PUZZLE: Mapping[str, Lifetime] = {
    "a": Lifetime(128, 0, 3),
    "b": Lifetime(128, 0, 3),
    "c": Lifetime(128, 3, 5),
    "d": Lifetime(128, 2, 4),
    "e": Lifetime(256, 0, 1),
    "f": Lifetime(256, 4, 5),
}
"""The puzzle that is given if there is no other: 512 bytes are enough; with the largest box first it takes 768."""

_MOST = 12
_HIGH, _WIDE = 300.0, 560.0


def fullest(values: Mapping[str, Lifetime]) -> int:
    """Return the size of all values that are there at the fullest step: no plan needs less.

    >>> from minigrad.widgets.puzzle import fullest
    >>> fullest({"a": minigrad.loops.Lifetime(64, 0, 1), "b": minigrad.loops.Lifetime(128, 1, 2)})
    192
    """
    last = max(life.last for life in values.values())
    there = [[life.size for life in values.values() if life.first <= t <= life.last] for t in range(last + 1)]
    return max(map(sum, there))


def clashes(values: Mapping[str, Lifetime], places: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the pairs of values that are there at one step, and in the same bytes.

    >>> from minigrad.widgets.puzzle import clashes
    >>> clashes({"a": minigrad.loops.Lifetime(64, 0, 1), "b": minigrad.loops.Lifetime(64, 1, 2)}, {"a": 0, "b": 0})
    [('a', 'b')]
    """
    return [
        (x, y)
        for x, y in combinations(values, 2)
        if values[x].meets(values[y])
        and places[x] < places[y] + values[y].size
        and places[y] < places[x] + values[x].size
    ]


def picture(values: Mapping[str, Lifetime], places: Mapping[str, int], chosen: str) -> Drawing:
    """Draw the boxes where they lie now. The chosen one is marked, those that clash have a thick frame.

    >>> from minigrad.widgets.puzzle import picture
    >>> print(picture({"a": minigrad.loops.Lifetime(64, 0, 1)}, {"a": 0}, "a"))
    Memory puzzle: a, chosen: bytes 0 to 63, steps 0 to 1.
    """
    steps = 1 + max(life.last for life in values.values())
    top = sum(life.size for life in values.values())
    left = MARGIN + SMALL * len(str(top)) + 10.0
    step, byte = _WIDE / steps, _HIGH / top
    clashing = {x for pair in clashes(values, places) for x in pair}
    parts, told = [], []
    least = MARGIN + (top - fullest(values)) * byte
    for x, life in sorted(values.items(), key=lambda pair: (pair[0] in clashing, pair[0] == chosen)):
        kind = "bad" if x in clashing else "mark" if x == chosen else "used"
        across, y = left + life.first * step, MARGIN + (top - places[x] - life.size) * byte
        wide, high = (life.last - life.first + 1) * step - 2.0, life.size * byte - 2.0
        style = "badtext" if x in clashing else "marked" if x == chosen else "text"
        drawn = box(across + 1.0, y + 1.0, wide, high, kind)
        name = text(across + 1.0 + wide / 2, y + high / 2 + 5.0, f"[{x}]" if x == chosen else x, style)
        parts.append(f'<g data-part="{x}">{drawn}{name}</g>')
    parts.append(f'<path class="mp-way" stroke-dasharray="5 4" d="M{left:.1f},{least:.1f}h{_WIDE:.1f}"/>')
    for x, life in values.items():
        said = ", chosen" * (x == chosen) + ", in a clash" * (x in clashing)
        span = f"bytes {places[x]} to {places[x] + life.size - 1}, steps {life.first} to {life.last}"
        told.append(f"{x}{said}: {span}.")
    for place in sorted({0, fullest(values), top}):
        parts.append(text(left - 5.0, MARGIN + (top - place) * byte + 4.0, str(place), "small", "end"))
    for number in range(steps):
        parts.append(text(left + (number + 0.5) * step, MARGIN + _HIGH + LINE, f"step {number}", "small"))
    size = left + _WIDE + MARGIN, _HIGH + 1.5 * LINE + 2 * MARGIN
    return Drawing(*size, "Memory puzzle", " ".join(told), parts)


def sentence(values: Mapping[str, Lifetime], places: Mapping[str, int], chosen: str) -> str:
    """Say where the chosen box lies, how high the block is, and what is wrong with it.

    >>> from minigrad.widgets.puzzle import sentence
    >>> print(sentence({"a": minigrad.loops.Lifetime(64, 0, 1)}, {"a": 0}, "a"))
    a lies in bytes 0 to 63, from step 0 to 1. The block has 64 bytes.
    The fullest step has 64 bytes, so no plan is lower: solved.
    """
    life = values[chosen]
    height, least = max(places[x] + each.size for x, each in values.items()), fullest(values)
    first = f"{chosen} lies in bytes {places[chosen]} to {places[chosen] + life.size - 1}, "
    first += f"from step {life.first} to {life.last}. The block has {height} bytes."
    wrong = clashes(values, places)
    if wrong:
        x, y = wrong[0]
        both = max(values[x].first, values[y].first)
        return f"{first}\n{x} and {y} are both there at step {both}, in the same bytes: move one of them."
    if height > least:
        return f"{first}\nThe fullest step, the dashed line, has {least} bytes. Can you reach it?"
    return f"{first}\nThe fullest step has {least} bytes, so no plan is lower: solved."


class MemoryPuzzle(Widget):
    """The memory puzzle.

    Args:
        values: The lifetimes by name.

    Attributes:
        chosen: The box that the arrow keys move.
        places: For each box its first byte.
    """

    _esm = page("puzzle")

    chosen = traitlets.Unicode().tag(sync=True)
    places: traitlets.Dict[str, int] = traitlets.Dict().tag(sync=True)

    def __init__(self, values: Mapping[str, Lifetime]) -> None:
        super().__init__(title="Memory puzzle")
        self.values = dict(values)
        self.on_msg(lambda _, content, __: self._hear(content))
        self.again()

    def again(self) -> None:
        """Pile the boxes up, each above the one before it: a plan that shares nothing."""
        ends = [0]
        for life in self.values.values():
            ends.append(ends[-1] + life.size)
        self._show(next(iter(self.values)), dict(zip(self.values, [start for start, _ in pairwise(ends)], strict=True)))

    def choose(self, name: str) -> None:
        """Choose the box that the keys move.

        Raises:
            KeyError: If there is no such box.
        """
        if name not in self.values:
            raise KeyError(f"choose: there is no box {name!r}; the boxes are {', '.join(self.values)}")
        self._show(name, self.places)

    def move(self, units: int) -> None:
        """Move the chosen box up by so many units of 64 bytes, or down; not out of the picture."""
        highest = sum(life.size for life in self.values.values()) - self.values[self.chosen].size
        place = max(0, min(self.places[self.chosen] + UNIT * units, highest))
        self._show(self.chosen, {**self.places, self.chosen: place})

    def _show(self, chosen: str, places: Mapping[str, int]) -> None:
        with self.hold_sync():
            self.chosen, self.places = chosen, dict(places)
            self.pictures = {"block": picture(self.values, places, chosen).svg}
            self.said = sentence(self.values, places, chosen)

    def _hear(self, content: Any) -> None:
        """Follow a key or the pointer: {"key": ...} or {"part": name}."""
        names = list(self.values)
        key = content.get("key")
        if "part" in content:
            self.choose(content["part"])
        elif key in ("ArrowUp", "ArrowDown"):
            self.move(1 if key == "ArrowUp" else -1)
        elif key in ("ArrowLeft", "ArrowRight"):
            step = 1 if key == "ArrowRight" else -1
            self.choose(names[(names.index(self.chosen) + step) % len(names)])
        elif key == "r":
            self.again()


def memory_puzzle(values: Mapping[Any, Any] = PUZZLE) -> MemoryPuzzle:
    """Lay values into a block of memory by hand, so that it is as low as possible.

    Args:
        values: For each value its lifetime: anything with size (a multiple of 64), first and last, such as
            `minigrad.loops.Lifetime`. Without it the puzzle `PUZZLE` is given.

    Raises:
        ValueError: If there are no values, more than 12, or one whose size is no multiple of 64.
    """
    if not 1 <= len(values) <= _MOST:
        raise ValueError(f"memory_puzzle: {len(values)} values cannot be shown; take 1 to {_MOST}")
    odd = [life.size for life in values.values() if life.size < UNIT or life.size % UNIT]
    if odd:
        raise ValueError(f"memory_puzzle: a size of {odd[0]} bytes is no multiple of {UNIT}; round it up")
    return MemoryPuzzle(
        {str(x): Lifetime(int(life.size), int(life.first), int(life.last)) for x, life in values.items()}
    )
