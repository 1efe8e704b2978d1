"""Pictures: expressions as graphs, functions and their slopes, networks while they learn.

Everything is imported when it is first used: graphs of expressions need nothing but the library, the rest matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minigrad.draw.boundary import folding as folding
    from minigrad.draw.boundary import loss_curve as loss_curve
    from minigrad.draw.boundary import snapshot as snapshot
    from minigrad.draw.graph import expression_graph as expression_graph
    from minigrad.draw.plots import curves as curves
    from minigrad.draw.plots import decision as decision
    from minigrad.draw.plots import difference_errors as difference_errors
    from minigrad.draw.plots import elementary as elementary
    from minigrad.draw.plots import film as film
    from minigrad.draw.plots import fold as fold
    from minigrad.draw.plots import partials as partials
    from minigrad.draw.plots import secants as secants
    from minigrad.draw.plots import sides as sides
    from minigrad.draw.plots import tree as tree

# fmt: off
_home = {
    "boundary": ("folding", "loss_curve", "snapshot"),
    "graph": ("expression_graph",),
    "plots": (
        "curves", "decision", "difference_errors", "elementary", "film", "fold", "partials", "secants", "sides", "tree",
    ),
}
# fmt: on
_module_of = {name: module for module, names in _home.items() for name in names}

__all__ = sorted(_module_of)


def __getattr__(name: str) -> Any:
    if name in _module_of:
        return getattr(importlib.import_module(f"minigrad.draw.{_module_of[name]}"), name)
    raise AttributeError(f"module 'minigrad.draw' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_module_of})
