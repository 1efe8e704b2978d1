"""Pictures of the last lesson: where a language model looks, and a library on one page.

draw.attention(weights, "Shall I")     # for each head a table: lines are queries, columns are keys
draw.library({"Autodiff": [("chain_rule", True)]}, {"Autodiff": "graphs in C++"})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from minigrad.draw.networks import _array
from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, box, text
from minigrad.draw.plots import INK, Picture, canvas

_MOST = 48
_WIDE = 900.0
_NAMES_FROM = 190.0
_SHOWN = {"\n": "⏎", " ": "␣"}


def attention(weights: object, characters: Sequence[str], title: str = "") -> Picture:
    """Draw how much each character takes of each one before it: a table for each head, dark where it is much.

    Args:
        weights: Of shape (heads, n, n), each row from 0 to 1; or (n, n) for one head.
        characters: The n characters.
        title: Above the picture.

    Raises:
        TypeError: If they do not consist of numbers.
        ValueError: If the shape does not fit the characters, or there are too many.

    >>> print(minigrad.draw.attention(np.array([[1.0, 0.0], [0.25, 0.75]]), "ab"))
    Picture: 1 head, 2 characters; the last one, 'b', looks most at 'b' (0.75)
    """
    w = _array("attention", weights)
    w = w[None] if w.ndim == 2 else w
    n = len(characters)
    if w.shape[1:] != (n, n) or not n:
        raise ValueError(f"draw.attention: weights of shape {w.shape} for {n} characters; they need (heads, {n}, {n})")
    if n > _MOST or len(w) > 4:
        raise ValueError(
            f"draw.attention: {len(w)} heads and {n} characters are too many to be read; at most 4 heads and {_MOST}"
        )
    columns = min(len(w), 2)
    rows = -(-len(w) // columns)
    side = max(2.6, 0.16 * n)
    figure, _ = canvas(width=side * columns + 0.4, height=side * rows + 0.5)
    figure.clear()
    words = [_SHOWN.get(each, each) for each in characters]
    for number, table in enumerate(w):
        ax = figure.add_subplot(rows, columns, number + 1)
        ax.imshow(table, cmap="Blues", vmin=0.0, vmax=1.0)
        ax.set_xticks(range(n), words, fontsize=9.0)
        ax.set_yticks(range(n), words, fontsize=9.0)
        ax.tick_params(length=0.0)
        ax.grid(visible=False)
        if len(w) > 1:
            ax.set_title(f"head {number}", fontsize=10.0, color=INK)
    figure.suptitle(title, fontsize=10.5, color=INK)
    said = [
        f"the last one, {characters[-1]!r}, looks most at {characters[int(row.argmax())]!r} ({row.max():.2f})"
        for row in w[:, -1]
    ]
    told = said[0] if len(w) == 1 else "; ".join(f"head {k}: {each}" for k, each in enumerate(said))
    caption = f"{len(w)} head{'s' * (len(w) > 1)}, {n} characters; {told}"
    return Picture(figure, f"{title}: {caption}" if title else caption)


def library(lessons: Mapping[str, Sequence[tuple[str, bool]]], beyond: Mapping[str, str] | None = None) -> Drawing:
    """Draw a library on one page: a row for each lesson, with what was written in it.

    Args:
        lessons: For each lesson the names of its functions, and whether they are there: a solid blue box, else a dashed
            one.
        beyond: For some lessons what PyTorch has beyond it: a line below their names.

    Raises:
        ValueError: If there is no lesson.

    >>> print(minigrad.draw.library({"Autodiff": [("chain_rule", True), ("dual", False)]}, {"Autodiff": "C++"}))
    A library on one page: 1 of 2 functions. Autodiff: chain_rule, (dual). Beyond: C++.
    """
    if not lessons:
        raise ValueError("draw.library: no lesson; give at least one, with its functions")
    beyond = beyond or {}
    parts: list[str] = []
    told: list[str] = []
    y = MARGIN
    for lesson, names in lessons.items():
        parts.append(text(MARGIN, y + LINE, lesson, "bold", "start"))
        x = MARGIN + _NAMES_FROM
        for name, is_there in names:
            width = len(name) * SMALL + 10.0
            if x + width > _WIDE - MARGIN:
                x, y = MARGIN + _NAMES_FROM, y + LINE + 8.0
            parts.append(box(x, y + 3.0, width, LINE + 2.0, "used" if is_there else "ghost"))
            parts.append(text(x + width / 2.0, y + LINE, name, "small"))
            x += width + 6.0
        said = f"{lesson}: {', '.join(name if is_there else f'({name})' for name, is_there in names)}."
        y += LINE + 9.0
        if more := beyond.get(lesson):
            parts.append(text(MARGIN + _NAMES_FROM, y + LINE - 4.0, f"beyond: {more}", "ghosttext", "start"))
            if len(more) * CHARACTER > _WIDE - _NAMES_FROM - 2.0 * MARGIN - 60.0:
                raise ValueError(f"draw.library: what lies beyond {lesson!r} is too long for a line: {more!r}")
            said += f" Beyond: {more}."
            y += LINE + 2.0
        told.append(said)
        y += 6.0
    there = int(np.sum([is_there for names in lessons.values() for _, is_there in names]))
    count = sum(len(names) for names in lessons.values())
    words = f"{there} of {count} functions. {' '.join(told)}"
    return Drawing(_WIDE, y + MARGIN, "A library on one page", words, parts)
