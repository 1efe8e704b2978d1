"""Rewrites a kernel's text: every call, loop and parallel iteration goes through a runtime, which takes notes.

The line numbers stay, so that errors and findings name the student's own lines. The runtime is reached by the name
``__mg__``, a variable of the enclosing function as far as Python is concerned: the module's globals stay untouched.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.debug.source import MISSING, resolve

RUNTIME = "__mg__"
_DIRECT = frozenset(
    getattr(builtins, name)
    for name in (
        "abs",
        "bool",
        "enumerate",
        "float",
        "int",
        "len",
        "max",
        "min",
        "pow",
        "range",
        "round",
        "tuple",
        "zip",
    )
)
_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def hook(name: str, *args: ast.expr) -> ast.Call:
    """Return the expression that calls a method of the runtime."""
    function = ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load())
    return ast.Call(function, list(args), [])


class Rewriter(ast.NodeTransformer):
    """The rewriting steps that prange and CUDA kernels share.

    Args:
        function: The function whose tree is rewritten.
    """

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.depth = 0  # of functions and comprehensions inside the function

    def rewrite(self, node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
        """Return the new tree of a function."""
        node.args = _bare(node.args)
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
            return node
        node.decorator_list, node.returns = [], None
        node.body = self.statements(node.body)
        return node

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite a block. A statement can become several."""
        result: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            result += new if isinstance(new, list) else [new]
        return result

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Rewrite the inside of a node. Functions lose their annotations."""
        inner = isinstance(node, _SCOPES)
        self.depth += inner
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            node.args = _bare(node.args, defaults=True)
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        found = super().generic_visit(node)
        self.depth -= inner
        return found

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Let the runtime make a call."""
        target = resolve(node.func, self.function)
        self.generic_visit(node)
        if _is_direct(target) and not node.keywords:  # a function that is given as key= is followed, too
            return node
        return self.called(node)

    def called(self, node: ast.Call) -> ast.expr:
        """Return a call as the runtime makes it."""
        new = hook("call", node.func, *node.args)
        new.keywords = node.keywords
        return ast.copy_location(new, node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Let the runtime know the array that a name reads."""
        if isinstance(node.ctx, ast.Load) and isinstance(resolve(node, self.function), np.ndarray):
            return ast.copy_location(hook("shared", node, ast.Constant(node.id)), node)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        """Count the turns of a loop."""
        return self.stepping(node)

    def visit_While(self, node: ast.While) -> ast.stmt | list[ast.stmt]:
        """Count the turns of a loop."""
        return self.stepping(node)

    def stepping(self, node: ast.For | ast.While) -> ast.stmt:
        """Rewrite a loop so that each turn counts as a step."""
        self.generic_visit(node)
        node.body.insert(0, ast.copy_location(ast.Expr(hook("step")), node))
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Do without an annotation."""
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """Tell a new array, or list, the name of its variable."""
        makes = isinstance(node.value, ast.Call | ast.List | ast.ListComp | ast.BinOp)
        self.generic_visit(node)
        if makes and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            node.value = ast.copy_location(hook("named", node.value, ast.Constant(node.targets[0].id)), node.value)
        return node


def _is_direct(target: object) -> bool:
    try:
        return target is not MISSING and target in _DIRECT
    except TypeError:
        return False


def _bare(arguments: ast.arguments, defaults: bool = False) -> ast.arguments:
    """Return parameters without annotations, which mean nothing where the kernel runs. Its defaults are set later."""
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None:
            extra.annotation = None
    if not defaults:
        arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    return arguments


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and those of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)
