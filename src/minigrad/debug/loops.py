"""Reads a prange loop's text: its variables are private to each iteration, reduced by Numba, or shared.

The rules are those of Numba 0.68, by experiment: a variable from before the loop is reduced if the body does nothing
with it but ``v += e`` (or -=, *=, /=), ``v = v + e``, or ``v = max(v, e)`` (or min), with one operator, and at most
once on each path through the body; an array is reduced by ``v += e`` alone. Every other variable that the body assigns
is private to the iteration: its value comes from nowhere else and goes nowhere else.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from minigrad.emulator.text import tree_of

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Plan:
    """The facts about a prange loop that its text tells before it runs.

    Attributes:
        line: Where it begins.
        private: The variables that the body assigns, with the line of the first assignment.
        reduced: The variables that Numba reduces.
        overwritten: The lines where the body assigns the loop variable, with its name.
    """

    line: int
    private: dict[str, int] = field(default_factory=dict)
    reduced: set[str] = field(default_factory=set)
    overwritten: list[tuple[str, int]] = field(default_factory=list)


def plan(loop: ast.For) -> Plan:
    """Return the plan of a prange loop: the roles of its variables, by its text."""
    result = Plan(loop.lineno)
    targets = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    nodes = list(_nodes(loop.body))  # once for all variables
    for node in _names(nodes):
        if isinstance(node.ctx, ast.Store):
            if node.id in targets:
                result.overwritten.append((node.id, node.lineno))
            else:
                result.private.setdefault(node.id, node.lineno)
    result.reduced = {name for name in result.private if _is_reduced(name, nodes, loop.body)}
    result.private = {name: line for name, line in result.private.items() if name not in result.reduced}
    return result


def assigned(function: types.FunctionType) -> set[str]:
    """Return the names that a function assigns, or none where its text is not known."""
    try:
        body = tree_of(function).body
    except ValueError:
        return set()
    return {node.id for node in names_in(body) if isinstance(node.ctx, ast.Store)} if isinstance(body, list) else set()


def names_in(body: list[ast.stmt]) -> Iterator[ast.Name]:
    """Return the names in a block, in the order of the text, without those of functions inside it.

    >>> import ast
    >>> from minigrad.debug.loops import names_in
    >>> [name.id for name in names_in(ast.parse("a = b + c").body)]
    ['a', 'b', 'c']
    """
    return _names(_nodes(body))


def _names(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    return (node for node in nodes if isinstance(node, ast.Name))


def _nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _is_reduced(name: str, nodes: list[ast.AST], body: list[ast.stmt]) -> bool:
    updates = {id(node): found for node in nodes if (found := _update(name, node))}
    used = sum(node.id == name for node in _names(nodes))
    explained = sum(uses for _, uses in updates.values())
    operators = {operator for operator, _ in updates.values()}
    return used == explained and len(operators) == 1 and _most(body, set(updates)) == 1


def _update(name: str, node: ast.AST) -> tuple[str, int] | None:
    """Return the operator of a statement that updates a variable, and how often it names the variable."""
    if isinstance(node, ast.AugAssign) and _is(node.target, name) and not _mentions(node.value, name):
        return (type(node.op).__name__, 1) if isinstance(node.op, _OPERATORS) else None
    if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and _is(node.targets[0], name)):
        return None
    value = node.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, _OPERATORS):
        fits = _is(value.left, name) and not _mentions(value.right, name)
        return (type(value.op).__name__, 2) if fits else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("max", "min"):
        own = [_is(arg, name) for arg in value.args]
        others = [arg for arg, mine in zip(value.args, own, strict=True) if not mine]
        fits = len(own) == 2 and sum(own) == 1 and not _mentions(others[0], name)
        return (value.func.id, 2) if fits else None
    return None


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _mentions(node: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def _most(body: list[ast.stmt], updates: set[int]) -> int:
    """Return the largest number of updates on a path through a block. An inner loop counts once."""
    total = 0
    for node in body:
        if id(node) in updates:
            total += 1
        elif isinstance(node, ast.If):
            total += max(_most(node.body, updates), _most(node.orelse, updates))
        else:
            for part in ("body", "orelse", "finalbody"):
                total += _most(getattr(node, part, None) or [], updates)
    return total
