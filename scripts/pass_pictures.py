"""Draw what each pass of the compiler does to a small graph, for docs/library/passes.md.

Usage: python scripts/pass_pictures.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import minigrad as mg
from minigrad import draw, graph
from minigrad.draw.paper import Drawing
from minigrad.graph import Graph
from minigrad.graph.planning import bytes_of
from minigrad.loops import Lifetime
from minigrad.tensor_functions import IndexAdd

FOLDER = Path(__file__).parents[1] / "docs" / "pictures" / "passes"


class Example(NamedTuple):
    """A function whose graph shows what a pass does.

    Attributes:
        function: The function.
        arguments: Tensors of its arguments' shapes and types.
        known: How many of the arguments are known before.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    known: int = 0


def _unused(x: Any) -> Any:
    x.exp()
    return x * 2.0


def _row(number: int, x: Any) -> Any:
    return IndexAdd.apply(x, shape=(2, 3), key=(number, ...))


ONES = mg.ones(100)

EXAMPLES: dict[str, Example] = {
    "fold_constants": Example(lambda w, x: x * (w.exp() + 1.0), (mg.ones(3), mg.zeros(3)), known=1),
    "eliminate_common": Example(lambda x: x.exp() * (x.exp() + 1.0), (mg.zeros(3),)),
    "cancel_inverses": Example(lambda x: x.T.T.neg().neg() * 2.0, (mg.zeros(2, 3),)),
    "remove_dead": Example(_unused, (mg.zeros(3),)),
    "expand": Example(lambda x: x.softmax(1), (mg.zeros(4, 3),)),
    "shrink_constants": Example(lambda x: x + ONES, (mg.zeros(100),)),
    "push_broadcasts": Example(lambda b, x: b.expand(4, 3).exp() * x, (mg.zeros(3), mg.zeros(4, 3))),
    "sum_repeated": Example(lambda x: x.expand(4, 3).sum(dim=0), (mg.zeros(3),)),
    "join_placed": Example(lambda x, y: _row(0, x) + _row(1, y), (mg.zeros(3), mg.zeros(3))),
    "permute_parts": Example(lambda x, y: mg.stack([x, y]).T.reshape(-1), (mg.zeros(3), mg.zeros(3))),
    "fold_last": Example(lambda x: x.tanh().sum(dim=0), (mg.zeros(4, 3),)),
    "fuse": Example(lambda x, w: ((x * 2.0 + 1.0).exp() @ w).tanh().sum(dim=1), (mg.zeros(4, 3), mg.zeros(3, 3))),
}
"""A function for each pass, whose graph it changes."""


def planned() -> Drawing:
    """Draw where `plan_memory` puts the values of a chain of products."""
    chain = graph.trace(lambda x: (((((x @ x).tanh() @ x).tanh() @ x)[:32].tanh() @ x).tanh()) @ x, mg.zeros(64, 64))
    prepared = graph.prepare(chain)
    plan, names = graph.plan_memory(prepared), prepared.names()
    first, last = dict[Any, int](), dict[Any, int]()
    for n, equation in enumerate(prepared.equations):
        first.update((v, n) for v in equation.outputs)
        last.update((v, n) for v in equation.uses())
    lives = {names[v]: Lifetime(bytes_of(v), first[v], last[v]) for v in plan.places}
    return draw.memory_plan(lives, {names[v]: place for v, place in plan.places.items()})


def drawn(name: str) -> Drawing:
    """Return the picture of a pass; what nothing needs behind it is left out."""
    if name == "plan_memory":
        return planned()
    function, arguments, known = EXAMPLES[name]
    before: Graph = graph.bind(graph.trace(function, *arguments), *arguments[:known])
    return draw.rewrite(before, graph.remove_dead(getattr(graph, name)(before)))


def pictures() -> dict[str, str]:
    """Return the text of each picture's file, by the name of its pass."""
    return {name: f"{drawn(name).svg}\n" for name in (*EXAMPLES, "plan_memory")}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")
        print(f"{name}.svg: {len(text):,} bytes")
