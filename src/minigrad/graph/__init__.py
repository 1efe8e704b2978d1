"""A small compiler: a function is traced to a graph, passes make the graph smaller, and `jit` runs it.

graph = minigrad.graph.trace(f, x)        # what f computes, for tensors of this shape and type
quick = minigrad.jit(f)                   # traced at the first call, then run from the graph

A compiled graph is one kernel and one generated function; on a GPU each loop is a kernel. `fusing` and `lowering`
decide which equations become a loop, `planning` where values lie. `writing` and `compiled` write the function that
runs the graph, `calling` the one that takes arguments apart. `backends.fused` says what a loop is, `backends.calls`
what a backend does with it: to write its source and its call. Backends know no tensors or graphs.
"""

from __future__ import annotations

from minigrad.graph.control import cond, fori_loop, scan, while_loop
from minigrad.graph.expanding import expand
from minigrad.graph.fusing import fuse, push_broadcasts
from minigrad.graph.jitting import CacheInfo, Jitted, jit
from minigrad.graph.passes import (
    bind,
    cancel_inverses,
    eliminate_common,
    fold_constants,
    optimize,
    remove_dead,
)
from minigrad.graph.planning import Plan, plan_memory
from minigrad.graph.preparing import fold_last, join_placed, permute_parts, prepare, shrink_constants, sum_repeated
from minigrad.graph.program import Equation, Graph, Var
from minigrad.graph.tracing import trace

__all__ = [
    "CacheInfo",
    "Equation",
    "Graph",
    "Jitted",
    "Plan",
    "Var",
    "bind",
    "cancel_inverses",
    "cond",
    "eliminate_common",
    "expand",
    "fold_constants",
    "fold_last",
    "fori_loop",
    "fuse",
    "jit",
    "join_placed",
    "optimize",
    "permute_parts",
    "plan_memory",
    "prepare",
    "push_broadcasts",
    "remove_dead",
    "scan",
    "shrink_constants",
    "sum_repeated",
    "trace",
    "while_loop",
]
