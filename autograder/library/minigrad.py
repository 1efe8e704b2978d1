"""The grader's only imports of minigrad: its picture of an expression, for reports about its exercises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from minigrad.checks import standins
from minigrad.draw.graph import LARGEST, ExpressionGraph
from minigrad.draw.watching import Watched
from minigrad.exercises.telling import told

_STYLE = """<style>.mg-wrong .mg-box{stroke:#cf222e;stroke-width:2.6}.mg-wrong .mg-back{fill:#b42318}
@media(prefers-color-scheme:dark){.mg-wrong .mg-box{stroke:#ff7b72}.mg-wrong .mg-back{fill:#ff7b72}}</style>"""


def graph_of(picture: Mapping[str, Any], description: str) -> str:
    """The picture of a graph as SVG; empty if it is too large.

    Args:
        picture: Its data, as `autograder.results.pictures.graphs` describes it.
        description: The same in words.
    """
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
    return _Marked(watched, picture, description).svg


class _Marked(ExpressionGraph):
    """The library's picture of a graph, with the notes of a report in its boxes."""

    def __init__(self, graph: Mapping[int, Watched], picture: Mapping[str, Any], description: str) -> None:
        super().__init__(graph, {}, gradients=False)
        self._picture = picture
        self._description = description

    @property
    def description(self) -> str:
        return self._description

    def _lines(self, node: Watched) -> list[str]:
        name = node.variable.name
        note = self._picture["notes"].get(name)
        return [name] if note is None else [name, f"{told(self._picture['word'])} {told(note)}"]

    def _box(self, key: int, centre: tuple[float, float], width: float, height: float, lines: list[str]) -> str:
        box = super()._box(key, centre, width, height, lines)
        box = box.replace('"mg-text"', '"mg-back"').replace('"mg-back"', '"mg-text"', 1)  # the note, not the name
        wrong = self._graph[key].variable.name in self._picture["wrong"]
        return f'<g class="mg-wrong">{box}</g>' if wrong else box

    def _document(self, width: float, height: float, parts: Iterable[str]) -> str:
        return super()._document(width, height, [_STYLE, *parts])
