"""Small changes at one node of a syntax tree: each operator yields nodes that may stand in the node's place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TypeVar

_Node = TypeVar("_Node", bound=ast.AST)

Change = tuple[str, ast.AST]
"""The operator's name, and the node that takes the place of another."""


@dataclass(frozen=True)
class Scope:
    """A node's surroundings, as far as an operator has to know them.

    Attributes:
        families: For each local variable, another one that it may be mistaken for.
        ends: Statements after which a function ends anyway.
    """

    families: dict[str, str] = field(default_factory=dict)
    ends: frozenset[ast.stmt] = frozenset()


_ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Add, ast.Div),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div, ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv, ast.Mult),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.NotEq),
    ast.LtE: (ast.Lt, ast.GtE, ast.Eq),
    ast.Gt: (ast.GtE, ast.Lt, ast.NotEq),
    ast.GtE: (ast.Gt, ast.LtE, ast.Eq),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_NAMES = {
    "prange": ("range",),
    "min": ("max",),
    "max": ("min",),
    "any": ("all",),
    "all": ("any",),
    "amax": ("amin",),
    "argmax": ("argmin",),
    "mean": ("sum",),
    "sum": ("mean",),
    "float64": ("float32",),
    "tuple": ("list",),
}
"""Functions and methods that are mistaken for each other."""

_ATTRIBUTES = {
    **_NAMES,
    "threadIdx": ("blockIdx",),
    "blockIdx": ("threadIdx",),
    "blockDim": ("gridDim",),
    "x": ("y",),
    "y": ("x",),
    "z": ("x",),
}

_ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)


def _binary(node: ast.BinOp, scope: Scope) -> Iterator[Change]:
    for kind in _ARITHMETIC.get(type(node.op), ()):
        yield "arithmetic operator", ast.BinOp(node.left, kind(), node.right)
    yield "operand dropped", node.left
    yield "operand dropped", node.right
    if isinstance(node.op, _ORDERED) or (isinstance(node.op, ast.Add) and _is_sequence(node)):
        yield "operands swapped", ast.BinOp(node.right, node.op, node.left)


def _is_sequence(node: ast.expr) -> bool:
    """Return whether an operand is a tuple or a list, where the order of a sum matters."""
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) or _is_sequence(node.right)
    return isinstance(node, ast.Tuple | ast.List)


def _augmented(node: ast.AugAssign, scope: Scope) -> Iterator[Change]:
    for kind in _ARITHMETIC.get(type(node.op), ()):
        yield "arithmetic operator", ast.AugAssign(node.target, kind(), node.value)
    yield "assigned instead of updated", ast.Assign([node.target], node.value, lineno=node.lineno)


def _comparison(node: ast.Compare, scope: Scope) -> Iterator[Change]:
    for index, op in enumerate(node.ops):
        for kind in _COMPARISONS[type(op)]:
            yield "comparison", _with(node, ops=_put(node.ops, index, kind()))


def _boolean(node: ast.BoolOp, scope: Scope) -> Iterator[Change]:
    yield "and / or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    for index in range(len(node.values)):
        rest = _without(node.values, index)
        yield "guard dropped", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _unary(node: ast.UnaryOp, scope: Scope) -> Iterator[Change]:
    if not isinstance(node.operand, ast.Constant):
        yield "sign or negation dropped", node.operand


def _condition(node: ast.expr, field: str) -> Iterator[Change]:
    """The deciding part of an expression: the test of a branch (of a loop `_loop` says enough), a list's filter."""
    yield "condition negated", ast.UnaryOp(ast.Not(), node)
    yield "condition always true", ast.Constant(True)
    if field == "test":
        yield "condition always false", ast.Constant(False)


def _loop(node: ast.For | ast.While, scope: Scope) -> Iterator[Change]:
    yield "loop left out", ast.Pass()
    yield "loop runs once", _with(node, body=[*node.body, ast.Break()])


def _constant(node: ast.Constant, scope: Scope) -> Iterator[Change]:
    value = node.value
    others: tuple[object, ...] = ()
    if isinstance(value, bool):
        others = (not value,)
    elif isinstance(value, int):
        others = (value + 1, value - 1)
    elif isinstance(value, float):
        others = (1.0, -1.0) if value == 0.0 else (2.0 * value, 0.0, -value)
    elif isinstance(value, str):
        others = ("",)
    elif value is None:
        others = (0.0,)
    for other in others:
        yield "constant", ast.parse(repr(other), mode="eval").body


def _call(node: ast.Call, scope: Scope) -> Iterator[Change]:
    for index in range(len(node.args) - 1):
        yield "arguments swapped", _with(node, args=_swapped(node.args, index))
    for index, keyword in enumerate(node.keywords):
        if keyword.arg != "strict":
            yield "keyword argument dropped", _with(node, keywords=_without(node.keywords, index))
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if isinstance(node.func, ast.Attribute):
        yield "call dropped", node.func.value
    if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
        yield "call dropped", node.args[0]
    if name in ("range", "prange"):
        yield from _range(node)


def _range(node: ast.Call) -> Iterator[Change]:
    for index, bound in enumerate(node.args):
        if not isinstance(bound, ast.Constant | ast.UnaryOp):
            for op in (ast.Add(), ast.Sub()):
                moved = ast.BinOp(bound, op, ast.Constant(1))
                yield "range bound", _with(node, args=_put(node.args, index, moved))
    if len(node.args) == 1:
        yield "range bound", _with(node, args=[ast.Constant(1), *node.args])


def _subscript(node: ast.Subscript, scope: Scope) -> Iterator[Change]:
    if isinstance(node.slice, ast.Slice):
        for part in ("lower", "upper", "step"):
            if getattr(node.slice, part) is not None:
                yield "slice", _with(node, slice=_with(node.slice, **{part: None}))
        return
    if isinstance(node.slice, ast.Constant | ast.Tuple | ast.UnaryOp):
        return  # changed as constants, and element by element
    for op in (ast.Add(), ast.Sub()):
        yield "index", _with(node, slice=ast.BinOp(node.slice, op, ast.Constant(1)))


def _tuple(node: ast.Tuple, scope: Scope) -> Iterator[Change]:
    for index in range(len(node.elts) - 1):
        yield "elements swapped", _with(node, elts=_swapped(node.elts, index))


def _name(node: ast.Name, scope: Scope) -> Iterator[Change]:
    if isinstance(node.ctx, ast.Load):
        for other in _NAMES.get(node.id, ()):
            if node.id not in scope.families:  # a variable may have such a name too
                yield "name", ast.Name(other, ast.Load())
        if node.id in scope.families:
            yield "variable", ast.Name(scope.families[node.id], ast.Load())


def _attribute(node: ast.Attribute, scope: Scope) -> Iterator[Change]:
    for other in _ATTRIBUTES.get(node.attr, ()):
        yield "name", _with(node, attr=other)


def _joined(node: ast.JoinedStr, scope: Scope) -> Iterator[Change]:
    yield "constant", ast.Constant("")
    for index in range(len(node.values)):
        if len(node.values) > 1:
            yield "part of a text dropped", ast.JoinedStr(_without(node.values, index))


def _statement(node: ast.stmt, scope: Scope) -> Iterator[Change]:
    if isinstance(node, ast.Return):
        if node.value is not None:
            yield "nothing returned", ast.Return(ast.Constant(None))
        if node in scope.ends:
            return
    yield "statement dropped", ast.Pass()


def _jump(node: ast.Break | ast.Continue, scope: Scope) -> Iterator[Change]:
    yield "break / continue", ast.Continue() if isinstance(node, ast.Break) else ast.Break()
    yield "statement dropped", ast.Pass()


def changes(node: ast.AST, parent: ast.AST, field: str, scope: Scope) -> Iterator[Change]:
    """Everything that may take the place of a node.

    Args:
        node: The node.
        parent: The one that holds it.
        field: The parent's name for it.
        scope: Its other surroundings.
    """
    if isinstance(node, ast.expr) and field in ("test", "ifs") and not isinstance(parent, ast.While):
        yield from _condition(node, field)
    if isinstance(parent, ast.JoinedStr) and isinstance(node, ast.Constant):
        return  # dropped by `_joined`
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return | ast.Raise):
        yield from _statement(node, scope)
    operator = _OPERATORS.get(type(node))
    if operator is not None:
        yield from operator(node, scope)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    """A shallow copy with other fields."""
    changed = copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _put(items: Sequence[ast.AST], index: int, item: ast.AST) -> list[ast.AST]:
    return [*items[:index], item, *items[index + 1 :]]


def _without(items: Sequence[_Node], index: int) -> list[_Node]:
    return [*items[:index], *items[index + 1 :]]


def _swapped(items: Sequence[ast.expr], index: int) -> list[ast.expr]:
    return [*items[:index], items[index + 1], items[index], *items[index + 2 :]]


_OPERATORS: dict[type[ast.AST], Callable[..., Iterator[Change]]] = {
    ast.BinOp: _binary,
    ast.AugAssign: _augmented,
    ast.Compare: _comparison,
    ast.BoolOp: _boolean,
    ast.UnaryOp: _unary,
    ast.While: _loop,
    ast.For: _loop,
    ast.Constant: _constant,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.JoinedStr: _joined,
    ast.Break: _jump,
    ast.Continue: _jump,
}
