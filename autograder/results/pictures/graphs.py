"""The graph of an expression with what arrived at its variables, and in red what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autograder.results.pictures.paper import label
from minigrad.checks import standins
from minigrad.draw.graph import LARGEST, ExpressionGraph
from minigrad.draw.watching import Watched

__all__ = ["graph", "order", "svg", "words"]

Inputs = Mapping[str, Sequence[tuple[str, float | None]]]
"""For each result, in the order of computing, its inputs and the slopes there."""

_STYLE = """<style>.mg-wrong .mg-box{stroke:#cf222e;stroke-width:2.6}.mg-wrong .mg-back{fill:#b42318}
@media(prefers-color-scheme:dark){.mg-wrong .mg-box{stroke:#ff7b72}.mg-wrong .mg-back{fill:#ff7b72}}</style>"""


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
    notes = {name: " and ".join(map(str, found[:3])) or "nowhere" for name, found in places.items()}
    notes = {name: note for name, note in notes.items() if name not in constants or note != "nowhere"}
    return _picture(
        {name: [(x, None) for x in used] for name, used in inputs.items()}, notes, wrong, "place", constants
    )


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
        used = " and ".join(x if slope is None else f"{x} (slope {slope:g})" for x, slope in results.get(name, ()))
        line = (
            f"{name}, computed from {used}"
            if used
            else f"{name}, a {'constant' if name in picture['constants'] else 'leaf'}"
        )
        if name in picture["notes"]:
            line += f": {picture['word']} {picture['notes'][name]}"
        lines.append(line + ("   <- wrong" if name in picture["wrong"] else ""))
    return lines


def svg(picture: Mapping[str, Any]) -> str:
    """The picture."""
    nodes: dict[str, standins.Node] = {name: standins.constant(name) for name in picture["constants"]}
    results: Mapping[str, Sequence[tuple[str, float | None]]] = picture["inputs"]
    for name, used in results.items():
        for x, _ in used:
            if x not in nodes and x not in results:
                nodes[x] = standins.leaf(x)
        nodes[name] = standins.result(name, *[(nodes[x], 1.0 if slope is None else slope) for x, slope in used])
        if any(slope is None for _, slope in used):
            nodes[name].slopes = ()
    if not 0 < len(nodes) <= LARGEST:
        return ""
    watched: dict[int, Watched] = {}
    for name in [*reversed(list(results)), *nodes]:
        watched.setdefault(nodes[name].unique_id, Watched(nodes[name], watched))
    for node in watched.values():
        node.parents = [watched[parent.unique_id] for parent in node.variable.parents]
    return _Marked(watched, picture).svg


class _Marked(ExpressionGraph):
    """The library's picture of a graph, with the notes of a report in its boxes."""

    def __init__(self, graph: Mapping[int, Watched], picture: Mapping[str, Any]) -> None:
        super().__init__(graph, {}, gradients=False)
        self._picture = picture

    @property
    def description(self) -> str:
        return "; ".join(words(self._picture))

    def _lines(self, node: Watched) -> list[str]:
        name = node.variable.name
        note = self._picture["notes"].get(name)
        return [name] if note is None else [name, f"{self._picture['word']} {note}"]

    def _box(self, key: int, centre: tuple[float, float], width: float, height: float, lines: list[str]) -> str:
        box = super()._box(key, centre, width, height, lines)
        box = box.replace('"mg-text"', '"mg-back"').replace('"mg-back"', '"mg-text"', 1)  # the note, not the name
        wrong = self._graph[key].variable.name in self._picture["wrong"]
        return f'<g class="mg-wrong">{box}</g>' if wrong else box

    def _document(self, width: float, height: float, parts: Iterable[str]) -> str:
        return super()._document(width, height, [_STYLE, *parts])
