"""The graph of an expression with what arrived at its variables, and in red what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autograder.library.speaking import Told, told
from autograder.results.pictures.paper import label

_AND: Told = " and "
_NOWHERE: Told = "nowhere"
_WRONG: Told = "wrong"
_PLACE: Told = "place"

Inputs = Mapping[str, Sequence[tuple[str, float | None]]]
"""For each result, in the order of computing, its inputs and the slopes there."""


def graph(
    inputs: Inputs,
    came: Mapping[str, Any],
    wanted: Mapping[str, Any],
    *,
    word: str = "grad",
    constants: Iterable[str] = (),
) -> dict[str, Any] | None:
    """Describe the graph of an expression; None if nothing in it is wrong.

    Args:
        inputs: For each result its inputs, and the slopes where they say something; the last one is the whole.
        came: For some variables, what came of the student's code.
        wanted: For the same, what is right; it is compared, and not kept.
        word: The kind of the answer.
        constants: The variables that are constants.
    """
    variables = dict.fromkeys([*(x for used in inputs.values() for x, _ in used), *inputs])
    came = {name: came[name] for name in variables if name in came}
    notes = {name: label(value) for name, value in came.items()}
    wrong = [name for name in came if not _same(came[name], wanted.get(name))]
    return _picture(inputs, notes, wrong, word, constants)


def order(
    inputs: Mapping[str, Sequence[str]], came: Sequence[str], constants: Iterable[str] = ()
) -> dict[str, Any] | None:
    """Describe the graph of an expression with the place of each variable in an order that came; None if it is right.

    Red is what stands before something that was computed from it, what stands there twice or not at all, and
    constants that stand there.
    """
    constants = list(constants)
    variables = [*dict.fromkeys(x for used in inputs.values() for x in used), *inputs]
    places: dict[str, list[int]] = {name: [] for name in variables}
    for place, name in enumerate(came, start=1):
        places[name].append(place)
    early = {
        x
        for result, used in inputs.items()
        for x in used
        if places[x] and places[result] and places[x][0] < places[result][0]
    }
    wrong = [name for name in places if name in early or (len(places[name]) != 1) != (name in constants)]
    notes = {name: _AND.join(map(str, found[:3])) or _NOWHERE for name, found in places.items()}
    notes = {name: note for name, note in notes.items() if name not in constants or note != _NOWHERE}
    return _picture({name: [(x, None) for x in used] for name, used in inputs.items()}, notes, wrong, _PLACE, constants)


def _same(came: Any, wanted: Any) -> bool:
    if isinstance(came, int | float) and isinstance(wanted, int | float):
        return abs(came - wanted) <= 1e-6 * max(1.0, abs(wanted))
    return bool(came == wanted)


def _picture(
    inputs: Inputs, notes: Mapping[str, str], wrong: Sequence[str], word: str, constants: Iterable[str]
) -> dict[str, Any] | None:
    if not wrong:
        return None
    return {
        "kind": "graph",
        "inputs": {name: [list(pair) for pair in used] for name, used in inputs.items()},
        "constants": list(constants),
        "notes": dict(notes),
        "wrong": list(wrong),
        "word": word,
        "said": sum(map(len, notes.values())),
    }


def words(picture: Mapping[str, Any]) -> list[str]:
    """The picture as lines of text, the result first."""
    results = picture["inputs"]
    names = list(dict.fromkeys([*reversed(list(results)), *(x for used in results.values() for x, _ in used)]))
    lines = []
    for name in names:
        inputs = results.get(name, ())
        used = told(_AND).join(x if slope is None else told(f"{x} (slope {slope:g})") for x, slope in inputs)
        line = (
            told(f"{name}, computed from {used}")
            if used
            else told(f"{name}, a {'constant' if name in picture['constants'] else 'leaf'}")
        )
        if name in picture["notes"]:
            word, note = picture["word"], picture["notes"][name]
            line += f": {told(word)} {told(note)}"
        lines.append(line + (f"   <- {told(_WRONG)}" if name in picture["wrong"] else ""))
    return lines


def svg(picture: Mapping[str, Any]) -> str:
    """The picture, which the library draws whose expressions these are."""
    from autograder.library.minigrad import graph_of  # a course about something else has no such pictures

    return graph_of(picture, "; ".join(words(picture)))
