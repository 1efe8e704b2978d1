"""A small compiler: a function is traced to a graph, passes make the graph smaller, and `jit` runs it.

graph = minigrad.graph.trace(f, x)        # what f computes, for tensors of this shape and type
quick = minigrad.jit(f)                   # traced at the first call, then run from the graph
"""

from __future__ import annotations

from minigrad.graph.jitting import CacheInfo, Jitted, jit
from minigrad.graph.passes import (
    bind,
    cancel_inverses,
    eliminate_common,
    fold_constants,
    optimize,
    remove_dead,
)
from minigrad.graph.program import Equation, Graph, Var
from minigrad.graph.tracing import trace

__all__ = [
    "CacheInfo",
    "Equation",
    "Graph",
    "Jitted",
    "Var",
    "bind",
    "cancel_inverses",
    "eliminate_common",
    "fold_constants",
    "jit",
    "optimize",
    "remove_dead",
    "trace",
]
