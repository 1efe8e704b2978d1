"""Makes a generator of a kernel that waits at barriers, so that its threads can take turns."""

from __future__ import annotations

import ast
import types
from functools import lru_cache
from typing import Any

from minigrad.emulator.text import Function, build

BARRIERS = frozenset(("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or"))
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def names_a_barrier(code: types.CodeType) -> bool:
    """Return whether a function names a barrier, or a function inside it does."""
    return not BARRIERS.isdisjoint((*code.co_names, *code.co_freevars)) or any(
        isinstance(each, types.CodeType) and names_a_barrier(each) for each in code.co_consts
    )


def waiting(call: ast.Call, generator: ast.expr) -> ast.expr:
    """Return a call that waits as long as the called function does.

    Args:
        call: The call.
        generator: The expression for the type of a generator.
    """
    kept = ast.NamedExpr(ast.Name("__made__", ast.Store()), call)
    test = ast.Compare(ast.Attribute(kept, "__class__", ast.Load()), [ast.IsNot()], [generator])
    goes_on = ast.YieldFrom(ast.Name("__made__", ast.Load()))
    return ast.copy_location(ast.IfExp(test, ast.Name("__made__", ast.Load()), goes_on), call)


class _Waiting(ast.NodeTransformer):
    """Lets every call of a function wait, and those of the functions inside it that name a barrier."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        return waiting(node, ast.Name("__generator__", ast.Load()))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self.generic_visit(node) if _has_barrier(node) else node

    visit_Lambda: Any = visit_FunctionDef  # noqa: N815 (the name that NodeTransformer looks for)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, _COMPREHENSIONS):
            return super().generic_visit(node)
        if _has_barrier(node):
            raise ValueError("a barrier cannot stand in a comprehension: write a loop")
        return node


def _has_barrier(node: ast.AST) -> bool:
    return any(getattr(each, "attr", getattr(each, "id", "")) in BARRIERS for each in ast.walk(node))


def _rewrite(node: Function) -> Function:
    for each in ast.walk(node):
        if isinstance(each, ast.arg):
            each.annotation = None  # means nothing where the kernel runs
        elif isinstance(each, ast.FunctionDef):
            each.returns = None
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = []
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
    ast.NodeTransformer.generic_visit(_Waiting(), node)
    return node


@lru_cache(maxsize=256)
def _code(code: types.CodeType) -> types.CodeType:
    cells = tuple(types.CellType() for _ in code.co_freevars)
    function = types.FunctionType(code, {}, closure=cells)
    return build(function, _rewrite, {"__generator__": None}, "run").__code__


def as_generator(function: types.FunctionType) -> types.FunctionType:
    """Return a function that yields at each barrier, and is called with the same arguments.

    It shares the globals and the variables of the function around it, which may be filled in later.

    Raises:
        ValueError: If the source text is not known.
    """
    code = _code(function.__code__)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells["__generator__"] = types.CellType(types.GeneratorType)
    new = types.FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    new.__kwdefaults__ = function.__kwdefaults__
    return new
