"""Pictures of functions of functions: tangents inside tangents, costs of both modes, trees taken apart, batches.

draw.dual(Dual(Dual(4.0, 1.0, 1), 1.0, 2))         # a box for each level, one inside the other
draw.passes({(1, 4): (4, 1), (4, 1): (1, 4)})       # the cheaper mode for each number of outputs and inputs
draw.flattened({"w": [1.0, 2.0], "b": None})        # containers above, the row of leaves below
draw.batched((2, 3), examples=4)                    # the axes that one example sees, and the one that it does not
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from minigrad.draw.graph import number
from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, arrow, box, text

LARGEST = 24
"""Leaves, or elements of one example, that can be told apart in these pictures."""

_KINDS = "used", "mark", "other"
_PAD, _CELL, _HIGH = 10.0, 34.0, 26.0


# --- numbers with tangents --------------------------------------------------------------------------------------------


def dual(x: Any) -> Drawing:
    """Draw a number with a tangent as a box with two parts, the value and the tangent, either of which may be one too.

    Args:
        x: A number with a value, a tangent and a level, such as `minigrad.dual.Dual`. Each level has a colour.

    Raises:
        TypeError: If x has no tangent.

    >>> Dual = minigrad.dual.Dual
    >>> print(minigrad.draw.dual(Dual(Dual(4.0, 1.0, 1), 1.0, 2)))
    A number with tangents: level 2: value (level 1: value 4, tangent 1), tangent 1
    """
    if not hasattr(x, "tangent"):
        raise TypeError(f"draw.dual: a {type(x).__name__} has no tangent; draw a Dual")
    kinds = {level: _KINDS[place % len(_KINDS)] for place, level in enumerate(sorted(_levels(x)))}
    parts, width, height = _nested(x, MARGIN, MARGIN, kinds)
    return Drawing(width + 2 * MARGIN, height + 2 * MARGIN, "A number with tangents", _in_words(x), parts)


def _levels(x: Any) -> set[int]:
    return {x.level} | _levels(x.value) | _levels(x.tangent) if hasattr(x, "tangent") else set()


def _in_words(x: Any) -> str:
    if not hasattr(x, "tangent"):
        return number(x)
    said = [f"({_in_words(each)})" if hasattr(each, "tangent") else number(each) for each in (x.value, x.tangent)]
    return f"level {x.level}: value {said[0]}, tangent {said[1]}"


def _nested(x: Any, left: float, top: float, kinds: Mapping[int, str]) -> tuple[list[str], float, float]:
    """Return a number, or the box of one that moves, with its width and height."""
    if not hasattr(x, "tangent"):
        words = number(x)
        width = max(len(words), 2) * CHARACTER + 2 * _PAD
        return [box(left, top, width, _HIGH), text(left + width / 2, top + 17.5, words, "bold")], width, _HIGH
    parts: list[str] = []
    across, lowest = left + _PAD, 0.0
    for title, each in (("value", x.value), ("tangent", x.tangent)):
        drawn, width, height = _nested(each, across, top + 2 * LINE + 6.0, kinds)
        room = max(width, len(title) * SMALL)
        parts += [text(across + room / 2, top + 2 * LINE, title, "small"), *drawn]
        across, lowest = across + room + _PAD, max(lowest, height)
    size = across - left, 2 * LINE + 6.0 + lowest + _PAD
    title = text(left + size[0] / 2, top + 14.0, f"level {x.level}", "bold")
    return [box(left, top, *size, kinds[x.level]), title, *parts], *size


# --- what both modes cost ---------------------------------------------------------------------------------------------


def passes(counts: Mapping[tuple[int, int], tuple[int, int]]) -> Drawing:
    """Draw how many runs or passes a Jacobian takes, by the number of inputs and outputs: those of the cheaper mode.

    Args:
        counts: For numbers of outputs and inputs, (m, n), what was counted: in forward mode and in reverse mode.

    Raises:
        ValueError: If there is nothing to draw.

    >>> print(minigrad.draw.passes({(1, 1): (1, 1), (1, 4): (4, 1), (4, 1): (1, 4), (4, 4): (4, 4)}))
    What a Jacobian takes: 1 output, 1 input: 1 either way. 1 output, 4 inputs: 1 in reverse mode, 4 in
    forward mode. 4 outputs, 1 input: 1 in forward mode, 4 in reverse mode. 4 outputs, 4 inputs: 4
    either way.
    """
    if not counts:
        raise ValueError("draw.passes: there is nothing to draw; give counts for at least one function")
    rows, columns = sorted({m for m, _ in counts}), sorted({n for _, n in counts})
    cell, high = 58.0, 34.0
    left, top = MARGIN + len("outputs") * SMALL + 30.0, MARGIN + 2 * LINE
    parts = [text(left + len(columns) * cell / 2, MARGIN + 9.0, "inputs", "small")]
    parts += [text(left + (j + 0.5) * cell, top - 6.0, str(n)) for j, n in enumerate(columns)]
    parts += [text(left - 8.0, top + i * high + 21.0, str(m), "text", "end") for i, m in enumerate(rows)]
    parts.append(text(MARGIN, top + len(rows) * high / 2 + 4.0, "outputs", "small", "start"))
    frames, told = [], []
    for (m, n), (forward, reverse) in sorted(counts.items()):
        x, y = left + columns.index(n) * cell, top + rows.index(m) * high
        kind = "cell" if forward == reverse else "used" if forward < reverse else "mark"
        frames.append(box(x + 1.0, y + 1.0, cell - 3.0, high - 3.0, kind))
        sign = "=" if forward == reverse else "→" if forward < reverse else "←"
        frames.append(text(x + cell / 2, y + 21.0, f"{sign} {min(forward, reverse)}", "bold"))
        told.append(f"{_several(m, 'output')}, {_several(n, 'input')}: {_cheaper(forward, reverse)}.")
    legend = top + len(rows) * high + 8.0
    for kind, words in (("used", "→ forward"), ("mark", "← reverse"), ("cell", "= either way")):
        parts += [box(left, legend, 14.0, 14.0, kind), text(left + 22.0, legend + 11.0, words, "small", "start")]
        legend += 20.0
    width = left + max(len(columns) * cell, 22.0 + len("= either way") * SMALL) + MARGIN
    return Drawing(width, legend + MARGIN - 6.0, "What a Jacobian takes", " ".join(told), [*parts, *frames])


def _several(count: int, name: str) -> str:
    return f"{count} {name}{'s' * (count != 1)}"


def _cheaper(forward: int, reverse: int) -> str:
    if forward == reverse:
        return f"{forward} either way"
    ways = sorted([(forward, "forward"), (reverse, "reverse")])
    return ", ".join(f"{count} in {way} mode" for count, way in ways)


# --- trees ------------------------------------------------------------------------------------------------------------


def flattened(tree: Any) -> Drawing:
    """Draw a tree taken apart: its containers above, a place for each leaf, and the row of leaves below.

    Args:
        tree: Dicts, lists, tuples and None inside each other; everything else is a leaf.

    Raises:
        ValueError: If the tree has no leaves, or more than `LARGEST`.

    >>> print(minigrad.draw.flattened({"b": [1.0, 2.0], "a": (3.0, None)}))
    A tree taken apart: dict: a: tuple: 0: leaf 0, 1: None; b: list: 0: leaf 1, 1: leaf 2. Leaves: 0:
    3, 1: 1, 2: 2.
    """
    row: list[Any] = []
    nodes: list[tuple[float, int, str, str, str]] = []
    lines: list[tuple[float, int, float]] = []
    told, columns = _apart(tree, "", 0, 0, row, nodes, lines)
    if not 1 <= len(row) <= LARGEST:
        raise ValueError(f"draw.flattened: a tree with {len(row)} leaves cannot be drawn; 1 to {LARGEST} can")
    shown = [number(each) if isinstance(each, int | float) or hasattr(each, "shape") else str(each) for each in row]
    width = max(6, *map(len, shown)) * CHARACTER + 14.0
    deepest = 1 + max(depth for _, depth, *_ in nodes)

    def at(column: float, depth: float) -> tuple[float, float]:
        return MARGIN + (column + 0.5) * (width + 12.0), MARGIN + depth * 62.0

    parts = []
    for column, depth, below in lines:
        (x, y), (u, v) = at(column, depth), at(below, depth + 1)
        parts.append(f'<path class="mp-way" d="M{x:.1f},{y + 26.0:.1f}L{u:.1f},{v - 15.0:.1f}"/>')
    leaf = iter(range(len(row)))
    bottom = MARGIN + deepest * 62.0
    for column, depth, kind, key, words in nodes:
        x, y = at(column, depth)
        if key:
            parts.append(text(x, y - 3.0, key, "small"))
        parts.append(box(x - width / 2, y, width, _HIGH, kind))
        parts.append(text(x, y + 17.5, words, "ghosttext" if kind == "ghost" else "bold"))
        if words == "leaf":
            place = next(leaf)
            parts.append(arrow(x, y + _HIGH, x, bottom))
            parts.append(box(x - width / 2, bottom, width, _HIGH, "used"))
            parts.append(text(x, bottom + 17.5, shown[place], "text"))
            parts.append(text(x, bottom + _HIGH + LINE - 2.0, str(place), "small"))
    leaves = ", ".join(f"{place}: {each}" for place, each in enumerate(shown))
    size = 2 * MARGIN + columns * (width + 12.0), bottom + _HIGH + LINE + MARGIN
    return Drawing(*size, "A tree taken apart", f"{told}. Leaves: {leaves}.", parts)


def _apart(
    tree: Any, key: str, depth: int, left: float, row: list[Any], nodes: list[Any], lines: list[Any]
) -> tuple[str, float]:
    """Place a part of a tree, and return it in words, and how many columns it takes."""
    if tree is None or not isinstance(tree, dict | list | tuple):
        ghost = "ghost" if tree is not None else "cell"
        nodes.append((left, depth, ghost, key, "None" if tree is None else "leaf"))
        row += [] if tree is None else [tree]
        return ("None" if tree is None else f"leaf {len(row) - 1}"), 1.0
    keys: Sequence[Any] = sorted(tree) if isinstance(tree, dict) else range(len(tree))
    told, width, middles = [], 0.0, []
    for each in keys:
        words, wide = _apart(tree[each], str(each), depth + 1, left + width, row, nodes, lines)
        told.append(f"{each}: {words}")
        width += wide
        middles.append(nodes[-1][0])  # a container is noted behind all that it holds
    middle = (middles[0] + middles[-1]) / 2 if middles else left
    kind = type(tree).__name__
    nodes.append((middle, depth, "cell", key, kind))
    lines += [(middle, depth, below) for below in middles]
    separator = "; " if any(":" in each.partition(": ")[2] for each in told) else ", "
    return f"{kind}: {separator.join(told)}" if told else kind, max(width, 1.0)


# --- batches ----------------------------------------------------------------------------------------------------------


def batched(shape: Sequence[int], examples: int) -> Drawing:
    """Draw the tensors of several examples, stacked: what one of them sees, and the axis that it does not see.

    Args:
        shape: Of the tensor of one example: one or two axes.
        examples: How many there are.

    Raises:
        ValueError: If it has another number of axes, or too many elements or examples to be read.

    >>> print(minigrad.draw.batched((3,), examples=5))
    A batch: each of 5 examples sees the shape (3,); together they have the shape (5, 3). Axis 0 counts
    the examples. Axis 0 of one example is axis 1.
    """
    shape = tuple(shape)
    if len(shape) not in (1, 2) or not 1 <= math.prod(shape) <= LARGEST or not 1 <= examples <= 6:
        raise ValueError(f"draw.batched: {examples} examples of shape {shape} cannot be drawn; take one or two axes, "
                         f"at most {LARGEST} elements and 6 examples")  # fmt: skip
    rows, columns = (1, *shape)[-2:]
    side = MARGIN + len("axis 0, unseen") * SMALL + 28.0
    inner = len("axis 1, seen as axis 0") * SMALL + 24.0
    left, top = side + (inner if len(shape) == 2 else 0.0), MARGIN + 2 * LINE + 8.0
    step = rows * _HIGH + 20.0
    parts = [text(left, MARGIN + 9.0, f"axis {len(shape)}, seen as axis {len(shape) - 1}", "small", "start")]
    parts.append(arrow(left, MARGIN + LINE + 2.0, left + columns * _CELL, MARGIN + LINE + 2.0))
    for example in range(examples):
        y = top + example * step
        parts.append(box(left - 7.0, y - 7.0, columns * _CELL + 14.0, rows * _HIGH + 14.0, "ghost"))
        for place in range(rows * columns):
            i, j = divmod(place, columns)
            kind = "used" if example == 0 else "cell"
            parts.append(box(left + j * _CELL, y + i * _HIGH, _CELL, _HIGH, kind))
        words = "what one example sees" if example == 0 else f"example {example}"
        beside = left + columns * _CELL + 16.0
        parts.append(text(beside, y + rows * _HIGH / 2 + 4.0, words, "bold" if example == 0 else "small", "start"))
    bottom = top + (examples - 1) * step + rows * _HIGH
    parts.append(text(MARGIN, (top + bottom) / 2 + 4.0, "axis 0, unseen", "small", "start"))
    parts.append(arrow(side - 20.0, top, side - 20.0, bottom))
    if len(shape) == 2:
        parts.append(text(left - 26.0, top + _HIGH * rows / 2 + 4.0, "axis 1, seen as axis 0", "small", "end"))
        parts.append(arrow(left - 16.0, top, left - 16.0, top + rows * _HIGH))
    seen = ". ".join(f"Axis {axis} of one example is axis {axis + 1}" for axis in range(len(shape)))
    words = (
        f"each of {examples} examples sees the shape {shape}; together they have the shape {(examples, *shape)}. "
        f"Axis 0 counts the examples. {seen}."
    )
    width = left + columns * _CELL + 16.0 + len("what one example sees") * CHARACTER + MARGIN
    return Drawing(width, bottom + 8.0 + MARGIN, "A batch", words, parts)
