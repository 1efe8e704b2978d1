"""Memory planning: values that are not needed at the same time share memory.

Temporary values of a run lie in one arena. Each gets the lowest place that is free as long as it lives. A result that
can be written where an input lies that is not needed any more takes that place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from minigrad import tensor_functions
from minigrad.graph.elements import shares_memory
from minigrad.graph.fusing import Fused
from minigrad.graph.lowering import lower
from minigrad.graph.program import Equation, Graph, Var

ALIGNMENT = 64


def bytes_of(v: Var) -> int:
    """Return how much memory a value takes.

    >>> from minigrad.graph.planning import bytes_of
    >>> bytes_of(minigrad.graph.Var((2, 3), minigrad.float32))
    24
    """
    return math.prod(v.shape) * v.dtype.itemsize


@dataclass
class Plan:
    """Where the values of a graph lie.

    Attributes:
        before: Bytes if every value had memory of its own until the end of the run.
        after: Bytes with this plan: the arena, and the values outside of it.
        arena: Bytes of the arena.
        places: Where temporary values start in the arena.
        donated: The input whose memory a result takes over.
    """

    before: int = 0
    after: int = 0
    arena: int = 0
    places: dict[Var, int] = field(default_factory=dict)
    donated: dict[Var, Var] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Plan(before={self.before}, after={self.after})"


class _Lives:
    """Liveness: when values are made and used last. A view lives as long as its base."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.root: dict[Var, Var] = {}
        self.made: dict[Var, int] = {}
        self.last: dict[Var, int] = {}
        self.seen_outside: set[Var] = set()
        for n, equation in enumerate(graph.equations):
            for v in equation.uses():
                self.last[self.of(v)] = n
            if shares_memory(equation):
                self.root[equation.outputs[0]] = self.of(equation.operands[0])
                continue
            self.made.update((v, n) for v in equation.outputs)
            self.last.update((v, n) for v in equation.outputs)
            if equation.op not in (Fused, tensor_functions.MatMul):  # what else it keeps or returns nobody knows
                self.seen_outside.update(map(self.of, equation.uses()))
        self.seen_outside.update(self.of(y) for y in graph.outputs if isinstance(y, Var))

    def of(self, v: Var) -> Var:
        """Return the base of a view; of another value, the value itself."""
        return self.root.get(v, v)


def plan_memory(graph: Graph, donated: Sequence[int] = ()) -> Plan:
    """Find a place for every temporary value of a graph.

    Args:
        graph: A graph; a fused one keeps most values inside of its loops.
        donated: The inputs, by number, whose memory results may take over.

    >>> from minigrad.graph import plan_memory, prepare, trace
    >>> graph = trace(lambda x: ((x @ x).exp() @ x).exp() @ x, minigrad.zeros(100, 100))
    >>> plan_memory(graph)
    Plan(before=200000, after=200000)
    >>> plan_memory(prepare(graph))
    Plan(before=200000, after=120000)
    """
    lives = _Lives(graph)
    plan = Plan(before=sum(map(bytes_of, lives.made)))
    spent = {graph.inputs[n] for n in donated} - {lives.of(y) for y in graph.outputs if isinstance(y, Var)}
    for n, equation in enumerate(graph.equations):
        if equation.op is Fused:
            _give(plan, lives, equation, n, spent)
    for n, equation in enumerate(graph.equations):
        if equation.op is Fused or _is_product(equation):
            for v in equation.outputs:
                if v not in lives.seen_outside and v not in plan.donated:
                    _place(plan, lives, v, n, equation)
    own = sum(bytes_of(v) for v in lives.made if v not in plan.places and v not in plan.donated)
    plan.after = plan.arena + own
    return plan


def plan_for(graph: Graph, donated: Sequence[int], device: str) -> Plan:
    """Return the plan for a device: on a CUDA device each value has memory of its own.

    >>> from minigrad.graph.planning import plan_for
    >>> graph = minigrad.graph.trace(lambda x: (x @ x).exp() @ x, minigrad.zeros(100, 100))
    >>> plan_for(graph, (), "cuda")
    Plan(before=120000, after=120000)
    """
    plan = plan_memory(graph, donated)
    return plan if device == "cpu" else Plan(plan.before, plan.before)


def _is_product(equation: Equation) -> bool:
    """Return whether an equation is a product of two matrices, which can be told where to put its result."""
    a, b = (*equation.operands, None, None)[:2]
    return (
        equation.op is tensor_functions.MatMul
        and isinstance(a, Var)
        and isinstance(b, Var)
        and len(a.shape) == len(b.shape) == 2
        and a.dtype == b.dtype == equation.outputs[0].dtype
    )


def _overwritten(lives: _Lives, equation: Equation) -> Iterable[tuple[Var, Var]]:
    """Go through results and inputs of a fused equation that are written and read element by element alike.

    A value that is the same for many rows is left out: each thread reads it for its own rows, after another one may
    have written the result. So is one whose memory the equation reads under another name, too.
    """
    if equation.op is not Fused:
        return
    body = equation.options["body"]
    lowered = lower(body.equations, equation.options["space"])
    if lowered is None or not lowered.walks_once(body.outputs):
        return
    loop = lowered.writing(body.outputs)
    outside = dict(zip(body.inputs, equation.operands, strict=True))
    memory = [lives.of(x) for x in equation.uses()]
    rows = loop.shape[: len(loop.shape) - loop.folded]
    for v, written in zip(equation.outputs, loop.outputs, strict=True):
        if any(n > 1 and step == 0 for n, step in zip(rows, written.strides, strict=False)):
            continue
        for root, read in zip(lowered.inputs, loop.inputs, strict=True):
            same = read.strides == written.strides and read.dtype == written.dtype and not read.offset
            x = outside[root]
            if same and lowered.inputs.count(root) == memory.count(lives.of(x)) == 1 and root.shape == v.shape:
                yield v, x


def _give(plan: Plan, lives: _Lives, equation: Equation, n: int, spent: set[Var]) -> None:
    """Let results take over the memory of donated inputs that are not needed any more."""
    for v, x in _overwritten(lives, equation):
        if x in spent and lives.last[x] == n and v not in plan.donated:
            plan.donated[v] = x
            spent.discard(x)


def _place(plan: Plan, lives: _Lives, v: Var, n: int, equation: Equation) -> None:
    """Find the lowest place in the arena that is free as long as a value lives."""
    size, end = _whole(bytes_of(v)), lives.last[v]
    others = [x for x in plan.places if lives.made[x] <= end and lives.last[x] >= n]
    spans = [(plan.places[x], plan.places[x] + _whole(bytes_of(x)), x) for x in others]

    def free(place: int, but: Var | None = None) -> bool:
        return all(place + size <= start or place >= stop for start, stop, x in spans if x is not but)

    reused = [x for out, x in _overwritten(lives, equation) if out is v and x in others and lives.last[x] == n]
    places = [plan.places[x] for x in reused if free(plan.places[x], x)]
    places += [place for place in (0, *sorted(stop for _, stop, _ in spans)) if free(place)]
    plan.places[v] = places[0]
    plan.arena = max(plan.arena, places[0] + size)


def _whole(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
