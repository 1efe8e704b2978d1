"""A small layered layout: inputs to the left, results to the right, and as few crossings as a few sweeps achieve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

SWEEPS = 6
"""How often the layers are put in order, from the left and from the right in turn; more changes nothing visible."""

Place = tuple[int, int]
"""A node's key and 0, or an edge's number and the layer that it passes on its way: (-1 - edge, layer)."""


@dataclass(frozen=True)
class Layout:
    """The positions of all nodes and edges, in units of one layer across and one node down.

    Attributes:
        places: The position of each node.
        routes: For each edge the points that it passes, from node to node.
        size: Width and height of the whole: the largest coordinates.

    >>> from minigrad.draw.layout import lay_out
    >>> lay_out([0, 1], [(0, 1)]).size
    (1.0, 0.0)
    """

    places: Mapping[int, tuple[float, float]]
    routes: Sequence[Sequence[tuple[float, float]]]
    size: tuple[float, float]


def lay_out(nodes: Sequence[int], edges: Sequence[tuple[int, int]], order: Sequence[tuple[int, int]] = ()) -> Layout:
    """Find a place for each node of an acyclic graph, and a way for each edge.

    Args:
        nodes: Keys of the nodes.
        edges: Pairs (from, to). The node from will stand to the left of the node to.
        order: Further pairs (from, to) with the same places, and without a way.

    >>> from minigrad.draw.layout import lay_out
    >>> layout = lay_out([0, 1, 2], [(0, 2), (1, 2)])
    >>> layout.places[2]
    (1.0, 0.5)
    """
    layer = _layers(nodes, [*edges, *order])
    chains = [_chain(number, start, end, layer) for number, (start, end) in enumerate(edges)]
    columns: list[list[Place]] = [[] for _ in range(max(layer.values()) + 1)]
    for node in nodes:
        columns[layer[node]].append((node, 0))
    for chain in chains:
        for place in chain[1:-1]:
            columns[place[1]].append(place)
    links = [pair for chain in chains for pair in pairwise(chain)]
    heights = _heights(columns, links)
    position = {place: (float(x), heights[place]) for x, column in enumerate(columns) for place in column}
    routes = [[position[place] for place in chain] for chain in chains]
    places = {node: position[node, 0] for node in nodes}
    return Layout(places, routes, (float(len(columns) - 1), max(heights.values())))


def _layers(nodes: Sequence[int], edges: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Put every node behind its inputs, then move nodes without inputs close to their first user."""
    layer = dict.fromkeys(nodes, 0)
    moved = True
    while moved:
        moved = False
        for start, end in edges:
            if layer[end] <= layer[start]:
                layer[end] = layer[start] + 1
                moved = True
    ends = {end for _, end in edges}
    for node in nodes:
        users = [layer[end] for start, end in edges if start == node]
        if node not in ends and users:
            layer[node] = min(users) - 1
    return layer


def _chain(number: int, start: int, end: int, layer: Mapping[int, int]) -> list[Place]:
    """Return the places that an edge passes: one in every layer between its ends, so that it runs around nodes."""
    between = [(-1 - number, x) for x in range(layer[start] + 1, layer[end])]
    return [(start, 0), *between, (end, 0)]


def _heights(columns: list[list[Place]], links: Sequence[tuple[Place, Place]]) -> dict[Place, float]:
    """Order each layer by the neighbours of its places, then give everything a height."""
    heights = {place: float(i) for column in columns for i, place in enumerate(column)}
    before: dict[Place, list[Place]] = {place: [] for place in heights}
    after: dict[Place, list[Place]] = {place: [] for place in heights}
    for start, end in links:
        before[end].append(start)
        after[start].append(end)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for column in columns if forward else reversed(columns):
            _order(column, heights, before if forward else after)
    lowest = min(heights.values())
    return {place: height - lowest for place, height in heights.items()}


def _order(column: list[Place], heights: dict[Place, float], linked: Mapping[Place, list[Place]]) -> None:
    """Sort a layer by the mean height of its places' neighbours, one unit apart at least."""
    wanted = {
        place: fmean(heights[other] for other in linked[place]) if linked[place] else heights[place] for place in column
    }
    column.sort(key=lambda place: wanted[place])
    for i, place in enumerate(column):
        heights[place] = wanted[place] if i == 0 else max(wanted[place], heights[column[i - 1]] + 1.0)
    # What was pushed down moves the whole layer up again by half as much.
    shift = fmean(heights[place] - wanted[place] for place in column)
    for place in column:
        heights[place] -= shift
