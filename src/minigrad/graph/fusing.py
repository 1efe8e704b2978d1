"""Fusing: elementwise equations, and the reductions that begin or end them, become one equation each.

A group is closed: no value leaves it and comes back through an equation outside. Every value of a group is computed
once, whoever needs it. Views of a group's values and operands go into it, so that a broadcast is a stride of 0.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad import tensor_functions
from minigrad.backends import arrays
from minigrad.functions import Elementwise
from minigrad.graph.elements import is_view, looked_at
from minigrad.graph.lowering import Space, lower, space_of, stand_in
from minigrad.graph.passes import draws
from minigrad.graph.program import Equation, Graph, Several, Var, replaced
from minigrad.transforms.trees import PyTreeDef


class Fused(Several):
    """Equations that one loop computes: the graph ``body``, with the operands as its inputs."""

    @staticmethod
    def run(operands: Sequence[Any], **options: Any) -> list[Any]:
        """Compute one equation after the other."""
        body: Graph = options["body"]
        return body.run(*operands)


def _views(graph: Graph) -> list[bool]:
    """Return which equations make views without a copy, of values in row-major order."""
    seen: dict[Var, Any] = {}
    found = []
    for each in graph.equations:
        view = None
        if is_view(each) and 0 not in each.operands[0].shape:
            x = each.operands[0]
            view = looked_at(each, seen[x] if x in seen else stand_in(x.shape))
        found.append(view is not None)
        seen.update((v, view) for v in each.outputs if view is not None)
    return found


class _Groups:
    """Equations of a graph, joined step by step.

    The groups stand in an order in which they could run. It tells in which direction values go. So to join two groups,
    only those between them must be looked at.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.equations = graph.equations
        self.made = {v: i for i, each in enumerate(graph.equations) for v in each.outputs}
        self.space: dict[int, Space] = {}
        self.group: list[int] = list(range(len(self.equations)))
        self.order: list[int | None] = list(self.group)
        self.position: list[int] = list(self.group)
        self.members: dict[int, list[int]] = {i: [i] for i in self.group}
        self.views = _views(graph)
        for i, each in enumerate(self.equations):
            space = None if self.views[i] else space_of(each)
            if space is not None and lower([each], space) is not None:
                self.space[i] = space
        self.sources = [self._sources(each) for each in self.equations]
        self.users: list[set[int]] = [set() for _ in self.equations]
        for i, sources in enumerate(self.sources):
            for source in sources:
                self.users[source].add(i)

    def _sources(self, equation: Equation) -> list[int]:
        """Return the producers of an equation's operands; a view counts as the value that it looks at."""
        return sorted({i for v in equation.uses() for i in [self.made.get(self._root(v)[0])] if i is not None})

    def _root(self, v: Var) -> tuple[Var, list[int]]:
        """Return the base of a chain of views, and the views from the base on."""
        between: list[int] = []
        while (i := self.made.get(v)) is not None and self.views[i]:
            between.append(i)
            v = self.equations[i].operands[0]
        return v, between[::-1]

    def join_all(self) -> None:
        """Fuse vertically, then horizontally (siblings that read one value), then vertically again."""
        self._join_chains()
        readers: dict[Var, list[int]] = {}
        for i, each in enumerate(self.equations):
            for v in each.uses() if i in self.space or self.group[i] in self.space else ():
                readers.setdefault(self._root(v)[0], []).append(i)
        for v, found in readers.items():
            for a, b in itertools.pairwise(found):
                if self.space.get(self.group[a], ((), 0))[0] == v.shape:
                    self._join(self.group[a], self.group[b])
        self._join_chains()

    def _join_chains(self) -> None:
        """Fuse producers with their consumers."""
        changed = True
        while changed:
            changed = False
            for i, sources in enumerate(self.sources):
                if self.group[i] in self.space:
                    for source in sources:
                        changed |= self._join(self.group[source], self.group[i])

    def _join(self, first: int, second: int) -> bool:
        """Fuse two groups, if one loop can compute both and no equation outside has to run between them."""
        if first == second or first not in self.space or second not in self.space:
            return False
        members = sorted(self.members[first] + self.members[second])
        for space in sorted({self.space[first], self.space[second]}, key=lambda s: (-s[1], -math.prod(s[0]))):
            if lower(self.body(members), space) is not None:
                behind = self._behind(first, second)
                if behind is None:
                    return False
                self._put_together(first, second, behind)
                self.space[second] = space
                self.members[second] = members
                del self.space[first], self.members[first]
                for i in members:
                    self.group[i] = second
                return True
        return False

    def body(self, members: Sequence[int]) -> list[Equation]:
        """Return the equations of a group, with the views that they look through."""
        wanted = set(members)
        for i in members:
            for v in self.equations[i].uses():
                wanted.update(self._root(v)[1])
        return [self.equations[i] for i in sorted(wanted)]

    def _behind(self, first: int, second: int) -> set[int] | None:
        """Return the groups between two that need the one in front; None if a value goes through them to the other."""
        front, back = sorted((first, second), key=self.position.__getitem__)
        end = self.position[back]
        found: set[int] = set()
        stack = [front]
        while stack:
            for i in self.members[stack.pop()]:
                for group in {self.group[u] for u in self.users[i]} - found:
                    if group == back and self.group[i] != front:
                        return None
                    if group != front and self.position[group] < end:
                        found.add(group)
                        stack.append(group)
        return found

    def _put_together(self, first: int, second: int, behind: set[int]) -> None:
        """Merge the first group into the second, which moves before the groups between them that need the first."""
        start, end = sorted((self.position[first], self.position[second]))
        between = [each for each in self.order[start : end + 1] if each is not None and each not in (first, second)]
        before = [each for each in between if each not in behind]
        ordered = [*before, second, *[each for each in between if each in behind]]
        self.order[start : end + 1] = [*ordered, *[None] * (end + 1 - start - len(ordered))]
        for place, each in enumerate(ordered, start):
            self.position[each] = place

    # --- the new graph ------------------------------------------------------------------------------------------

    def result(self) -> Graph:
        """Return the graph with one equation for each group."""
        needed = self._needed_outside()
        after: dict[int, list[Equation]] = {}
        nodes = sorted({self.group[i] for i in range(len(self.equations)) if not self.views[i]})
        for node in nodes:
            after[node] = [self._fused(node, needed) if node in self.space else self.equations[node]]
        ordered = [each for node in self._in_order(nodes) for each in after[node]]
        return replace(self.graph, equations=tuple(self._with_views(ordered)))

    def _needed_outside(self) -> set[Var]:
        """Return the values that are needed outside of the group that computes them."""
        needed = {self._root(y)[0] for y in self.graph.outputs if isinstance(y, Var)}
        for i, each in enumerate(self.equations):
            for v in () if self.views[i] else each.uses():
                root = self._root(v)[0]
                if root in self.made and self.group[self.made[root]] != self.group[i]:
                    needed.add(root)
        return needed

    def _fused(self, node: int, needed: set[Var]) -> Equation:
        body = self.body(self.members[node])
        made = {v for each in body for v in each.outputs}
        inputs = dict.fromkeys(v for each in body for v in each.uses() if v not in made)
        outputs = tuple(v for i in self.members[node] for v in self.equations[i].outputs if v in needed)
        if not outputs:  # nothing needs the group; `remove_dead` takes it away
            outputs = self.equations[self.members[node][-1]].outputs
        fresh = {v: Var(v.shape, v.dtype) for v in (*inputs, *made)}
        inside = tuple(
            replace(
                each,
                operands=replaced(each.operands, fresh.__getitem__),
                options=replaced(each.options, fresh.__getitem__),
                outputs=tuple(fresh[v] for v in each.outputs),
            )
            for each in body
        )
        graph = Graph(tuple(fresh[v] for v in inputs), (), inside, tuple(fresh[v] for v in outputs), PyTreeDef())
        return Equation(Fused, tuple(inputs), {"body": graph, "space": self.space[node]}, outputs)

    def _in_order(self, nodes: Sequence[int]) -> list[int]:
        """Return groups and other equations in an order in which they can run: loops behind loops where possible."""
        waits: dict[int, set[int]] = {node: set() for node in nodes}
        random = [i for i, each in enumerate(self.equations) if draws(each)]
        for before, behind in itertools.pairwise(random):
            waits[behind].add(before)
        for i, sources in enumerate(self.sources):
            if not self.views[i]:
                waits[self.group[i]].update(self.group[source] for source in sources)
        done: list[int] = []
        ready = {node for node in nodes if not waits[node] - {node}}
        behind_of = defaultdict(set)
        for node, before_it in waits.items():
            for each in before_it - {node}:
                behind_of[each].add(node)
        left = {node: len(before_it - {node}) for node, before_it in waits.items()}
        while ready:
            last_is_loop = bool(done) and done[-1] in self.space
            node = min(ready, key=lambda n: ((n in self.space) != last_is_loop, n))
            ready.remove(node)
            done.append(node)
            for each in behind_of[node]:
                left[each] -= 1
                if not left[each]:
                    ready.add(each)
        assert len(done) == len(nodes), "two groups need each other"
        return done

    def _with_views(self, ordered: Sequence[Equation]) -> list[Equation]:
        """Return equations with the views that they and the outputs need, each before it is used."""
        found: list[Equation] = []
        known: set[int] = set()
        for each in (*ordered, None):
            uses = [y for y in self.graph.outputs if isinstance(y, Var)] if each is None else each.uses()
            for v in uses:
                for i in self._root(v)[1]:
                    if i not in known:
                        known.add(i)
                        found.append(self.equations[i])
            if each is not None:
                found.append(each)
        return found


def fuse(graph: Graph) -> Graph:
    """Put elementwise equations together, with the reductions over trailing axes that begin or end them.

    The values stay the same: the interpreter computes a fused equation as it computed its parts.

    >>> from minigrad.graph import fuse, trace
    >>> fuse(trace(lambda x: (x * 2.0 + 1.0).exp().sum(dim=1), minigrad.zeros(4, 3)))
    a: float32[4,3]
    b: float32[4] = Fused[Mul Add Exp Sum] a
    return b
    """
    groups = _Groups(graph)
    groups.join_all()
    return groups.result()


def push_broadcasts(graph: Graph) -> Graph:
    """Compute before an expansion what was computed behind it: less often, or with a stride of 0.

    >>> from minigrad.graph import push_broadcasts, trace
    >>> push_broadcasts(trace(lambda x: x.expand(4, 3).exp(), minigrad.zeros(3)))
    a: float32[3]
    b: float32[4,3] = Expand shape=(4, 3) a
    c: float32[3] = Exp a
    d: float32[4,3] = Expand shape=(4, 3) c
    return d
    """
    made: dict[Var, Equation] = {}
    found: list[Equation] = []
    for equation in graph.equations:
        for each in _pushed(equation, made):
            found.append(each)
            made.update((v, each) for v in each.outputs)
    return replace(graph, equations=tuple(found))


def _pushed(equation: Equation, made: dict[Var, Equation]) -> list[Equation]:
    if not issubclass(equation.op, Elementwise) or len(equation.outputs) != 1 or 0 in equation.outputs[0].shape:
        return [equation]

    def before(x: Any) -> Any:
        source = made.get(x) if isinstance(x, Var) else None
        return before(source.operands[0]) if source is not None and source.op is tensor_functions.Expand else x

    operands = tuple(before(x) for x in equation.operands)
    if operands == equation.operands or _type(operands) != _type(equation.operands):
        return [equation]
    (out,) = equation.outputs
    shape = np.broadcast_shapes(*[x.shape for x in operands if isinstance(x, Var)])
    if shape == out.shape:
        return [replace(equation, operands=operands)]
    small = Var(shape, out.dtype)
    expanded = Equation(tensor_functions.Expand, (small,), {"shape": out.shape}, (out,))
    return [replace(equation, operands=operands, outputs=(small,)), expanded]


def _type(operands: Sequence[Any]) -> Any:
    """Return the type in which operands meet: one without axes counts for less."""
    return arrays.promote([np.empty((0,) * len(x.shape), x.dtype) if isinstance(x, Var) else x for x in operands])
