"""The states of a lesson's widgets, computed in the kernel that made them: the book has no kernel to ask later.

An extension of IPython, which the book alone loads. In its kernels a widget that a cell shows leaves behind its states,
as data of the type `EXPLORER`, in the place of the widget. `book.explorers` makes HTML of them. The states are those of
that very object, so they show the lesson's arguments, and the answers that are in the library at that point.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from IPython.display import display

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from minigrad.widgets.base import Widget
    from minigrad.widgets.broadcasting import BroadcastExplorer
    from minigrad.widgets.differences import DerivativeExplorer
    from minigrad.widgets.indexing import IndexExplorer
    from minigrad.widgets.playing import Playground
    from minigrad.widgets.puzzle import MemoryPuzzle
    from minigrad.widgets.stepper import Backprop

__all__ = ["EXPLORER", "Explorer", "Group", "State", "load_ipython_extension", "packed", "states_of"]

EXPLORER = "application/vnd.minigrad.explorer+json"
"""The type of a widget's states in an output."""

EXPONENTS = range(-16, 1)
"""The steps of the derivative explorer: each power of ten. All functions with the steps between are 585 states."""

SHAPES = (
    ("2, 3", "3"),
    ("2, 3", "2"),
    ("2, 3", "2, 1"),
    ("2, 2", "2"),
    ("2, 3", ""),
    ("2, 1, 3", "4, 1"),
    ("0, 2", "1, 2"),
    ("7, 2, 1, 5", "2, 3, 1"),
)
"""Shapes of the broadcasting explorer, after the lesson's own: the cases that lesson 05 tells of."""

EPOCHS = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200)
"""The epochs of the playground. The scalars of lesson 03 take some seconds for all of them."""


@dataclass(frozen=True)
class State:
    """One state of a widget.

    Attributes:
        name: What tells it from the others of its group.
        said: What the pictures show, in words.
        pictures: SVG.
        parts: The parts of the pictures that lead to it when they are pointed at.
    """

    name: str
    said: str
    pictures: Sequence[str]
    parts: Sequence[str] = ()


@dataclass(frozen=True)
class Group:
    """States in a row, through which one slider leads."""

    name: str
    states: Sequence[State]


@dataclass(frozen=True)
class Explorer:
    """The states of a widget, or those of a sensible choice.

    Attributes:
        title: Of the widget.
        choice: What tells one group from another; empty if there is but one.
        slider: What tells the states of a group from each other; empty if there is but one.
        groups: The states.
        note: What the notebook has and the book has not.
        start: The number of the group and of the state that the widget begins with.
        filled: What the note is filled in with.

    All words but those of data and states are of `book.wording`, which has them in the languages of the book.
    """

    title: str
    choice: str
    slider: str
    groups: Sequence[Group]
    note: str
    start: tuple[int, int] = (0, 0)
    filled: Mapping[str, str] = field(default_factory=dict)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Let cells show the states of a widget in the place of the widget."""
    formatter = shell.display_formatter.ipython_display_formatter  # type: ignore[union-attr]
    formatter.for_type_by_name("minigrad.widgets.base", "Widget", _show)


def _show(widget: Widget) -> None:
    display({EXPLORER: packed(states_of(widget)), "text/plain": repr(widget)}, raw=True)  # type: ignore[no-untyped-call]


def states_of(widget: Widget) -> Explorer:
    """Return the states of a widget, which is left as it was.

    Raises:
        NotImplementedError: If nobody has said yet which states the book shows of this widget.
    """
    kind = type(widget).__name__
    if kind not in _STATES:
        raise NotImplementedError(f"book/states.py does not say which states of {kind} the book shows, or why none")
    with widget.hold_sync():  # nobody looks on: only the last state is worth sending
        return _STATES[kind](widget)


def _now(widget: Widget, name: str, parts: Sequence[str] = ()) -> State:
    return State(name, widget.said, widget.still(), parts)


def _backprop(stepper: Backprop) -> Explorer:
    before, states = stepper.step, []
    for step in range(stepper.last + 1):
        stepper.step = step
        visited = [row["key"] for row in stepper.rows if step and row["visit"] == step]
        states.append(_now(stepper, f"{step} of {stepper.last}", visited))
    stepper.step = before
    note = "In the notebook you can step through an expression of your own."
    return Explorer(stepper.title, "", "step", [Group("", states)], note, (0, before))


def _derivative(explorer: DerivativeExplorer) -> Explorer:
    before = explorer.function, explorer.exponent
    start = explorer.names.index(explorer.function), EXPONENTS.index(round(explorer.exponent))
    groups = []
    for name in explorer.names:
        explorer.function, states = name, []
        for exponent in EXPONENTS:
            explorer.exponent = exponent
            near = [part for part in _parts(explorer) if round(float(part.partition(":")[2])) == exponent]
            states.append(_now(explorer, f"1e{exponent}", near))
        groups.append(Group(name, states))
    explorer.function, explorer.exponent = before
    note = "In the notebook you can choose another place than x = {x}, and steps between these."
    return Explorer(explorer.title, "function", "epsilon", groups, note, start, {"x": f"{explorer.x:g}"})


def _index(explorer: IndexExplorer) -> Explorer:
    from minigrad.widgets.grids import indices, part

    before, states = (tuple(explorer.index), explorer.position), []
    for index in indices(explorer.view.shape):
        explorer.look_at(index)
        states.append(_now(explorer, str(index), [part("view", index)]))
    start = next((n for n, state in enumerate(states) if state.name == str(before[0])), 0)
    places = []
    for position in range(len(explorer.view.storage)):
        explorer.look_in(position)
        places.append(_now(explorer, str(position), [f"storage:{position}"]))
    explorer.look_at(before[0]) if len(before[0]) == explorer.view.dims else explorer.look_in(before[1])
    groups = [Group("an index of the view", states), Group("a position in the storage", places)]
    note = "In the notebook you can explore any array."
    return Explorer(explorer.title, "look at", "at", groups, note, (0, start))


def _broadcast(explorer: BroadcastExplorer) -> Explorer:
    own = explorer.a, explorer.b
    groups = [_of_shapes(explorer, *pair) for pair in (own, *(each for each in SHAPES if each != own))]
    explorer.a, explorer.b = own
    note = "In the notebook you can type any two shapes."
    return Explorer(explorer.title, "shapes", "element", groups, note)


def _of_shapes(explorer: BroadcastExplorer, a: str, b: str) -> Group:
    from minigrad.widgets.grids import indices, part, written

    explorer.a, explorer.b = a, b
    meeting, states = explorer.meeting, []
    if not meeting.can_be_shown:
        states.append(_now(explorer, ""))
    else:
        for name, shape in (("out", meeting.shape or ()), ("a", meeting.a), ("b", meeting.b)):
            for index in indices(shape):
                explorer.look_at(name, index)
                states.append(_now(explorer, written(name, index), [part(name, index)]))
    return Group(f"{meeting.a} and {meeting.b}", states)


def _puzzle(puzzle: MemoryPuzzle) -> Explorer:
    note = "The boxes can be moved in the notebook only: they can lie in more ways than a page has room for."
    return Explorer(puzzle.title, "", "", [Group("", [_now(puzzle, "")])], note)


def _playground(play: Playground) -> Explorer:
    play.reset()
    states = []
    for epoch in EPOCHS:
        if epoch:
            play.step(epoch - play.epoch)
        said = f"{play.score[:1].upper()}{play.score[1:]}.\n{play.said}"
        states.append(State(str(epoch), said, play.still()))
    play.reset()
    note = "In the notebook it learns while you look on, and you can change points, layers, rate, optimizer and engine."
    return Explorer(play.title, "", "epoch", [Group("", states)], note)


_STATES: dict[str, Callable[[Any], Explorer]] = {
    "Backprop": _backprop,
    "BroadcastExplorer": _broadcast,
    "DerivativeExplorer": _derivative,
    "IndexExplorer": _index,
    "MemoryPuzzle": _puzzle,
    "Playground": _playground,
}


def _parts(widget: Widget) -> list[str]:
    """The parts of a widget's pictures that can be pointed at."""
    return re.findall(r'data-part="([^"]+)"', "".join(widget.still()))


def packed(explorer: Explorer) -> dict[str, Any]:
    """Return an explorer as JSON that holds each piece of its pictures once.

    States of a widget differ in a few pieces. So a picture is a list of runs of pieces: ``[0, 7, 12, 12]`` are the
    pieces 0 to 7, then piece 12.
    """
    pieces: dict[str, int] = {}

    def runs(picture: str) -> list[int]:
        found: list[int] = []
        for number in _numbered(picture, pieces):
            if found and number == found[-1] + 1:
                found[-1] = number
            else:
                found += [number, number]
        return found

    groups = [
        {
            "name": group.name,
            "states": [
                {
                    "name": state.name,
                    "said": state.said,
                    "pictures": [runs(picture) for picture in state.pictures],
                    "parts": list(state.parts),
                }
                for state in group.states
            ],
        }
        for group in explorer.groups
    ]
    return {
        "title": explorer.title,
        "choice": explorer.choice,
        "slider": explorer.slider,
        "note": explorer.note,
        "filled": dict(explorer.filled),
        "start": list(explorer.start),
        "groups": groups,
        "pieces": list(pieces),
    }


def _numbered(picture: str, pieces: dict[str, int]) -> Iterator[int]:
    """The numbers of a picture's pieces: each begins with a tag that opens, and goes on to the next one."""
    tags: Iterable[str] = re.findall(r"<[^/][^<]*(?:</[^<]*)*", picture)
    for tag in tags:
        yield pieces.setdefault(tag, len(pieces))
