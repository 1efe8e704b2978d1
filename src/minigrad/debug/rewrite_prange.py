"""Rewrites prange loops: every iteration begins with its private variables taken away."""

from __future__ import annotations

import ast
import types

from minigrad.debug.loops import Plan, assigned, plan
from minigrad.debug.rewrite import Rewriter, hook
from minigrad.debug.source import resolve, unwrap


class PrangeRewriter(Rewriter):
    """Rewrites prange loops: every iteration begins with its private variables taken away.

    Args:
        function: The function.
        plans: Receives the plan of each loop. The rewritten loop knows its number.
    """

    def __init__(self, function: types.FunctionType, plans: list[Plan]) -> None:
        super().__init__(function)
        self.plans = plans
        self.private: set[str] = set()
        self.reduced: set[str] = set()
        self.inside = False

    def rewrite(self, node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
        """Return the new tree of a function."""
        for loop in ast.walk(node):
            if isinstance(loop, ast.For) and self._is_parallel(loop):
                self.private |= set(plan(loop).private)
        return super().rewrite(node)

    def _is_parallel(self, node: ast.For) -> bool:
        if not isinstance(node.iter, ast.Call):
            return False
        function = node.iter.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        known = resolve(function, self.function)
        return name in ("prange", "pndindex") or getattr(known, "__name__", "") in ("prange", "pndindex")

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:  # noqa: N802
        """Rewrite a prange loop. A loop inside another one is ordinary."""
        if self.inside or self.depth or not self._is_parallel(node):
            return super().visit_For(node)
        found = plan(node)
        number = ast.Constant(len(self.plans))
        self.plans.append(found)
        self.inside, self.reduced = True, found.reduced
        self._find_inlined(node, found)
        for part in (node.target, node.iter):
            self.generic_visit(part)
        node.body, node.orelse = self.statements(node.body), self.statements(node.orelse)
        self.inside, self.reduced = False, set()
        assert isinstance(node.iter, ast.Call)
        node.iter = ast.copy_location(hook("prange", number, node.iter.func, *node.iter.args), node.iter)
        begin, turn, end = (_assign(found, hook(name, number, *given)) for name, given in _moments(found))
        node.body[:0] = [turn, ast.Expr(hook("step"))]
        return [ast.copy_location(begin, node), ast.copy_location(node, node), ast.copy_location(end, node)]

    def _find_inlined(self, loop: ast.For, found: Plan) -> None:
        """Note helpers with ``inline="always"`` that assign the parameter to which the loop variable is given."""
        variables = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        for call in (node for part in loop.body for node in ast.walk(part) if isinstance(node, ast.Call)):
            helper = resolve(call.func, self.function)
            if getattr(helper, "targetoptions", {}).get("inline") != "always":
                continue
            inner = unwrap(helper)
            given = [getattr(arg, "id", "") for arg in call.args]
            for parameter, name in zip(inner.__code__.co_varnames, given, strict=False):
                if name in variables and parameter in assigned(inner):
                    found.overwritten.append((name, call.lineno))

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802
        """Let the runtime see each read of a private variable."""
        if node.id in self.private and isinstance(node.ctx, ast.Load):
            return ast.copy_location(hook("load", node), node)
        return super().visit_Name(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:  # noqa: N802
        """Let the runtime carry out an augmented assignment to a private or reduced variable."""
        if not isinstance(node.target, ast.Name) or node.target.id not in self.private | self.reduced:
            return self.generic_visit(node)
        name = node.target.id
        before = self.visit(ast.copy_location(ast.Name(name, ast.Load()), node))
        method = "reduce" if name in self.reduced else "augment"
        new = hook(method, ast.Constant(type(node.op).__name__), before, self.visit(node.value))
        return ast.copy_location(ast.Assign([node.target], ast.copy_location(new, node)), node)

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:  # noqa: N802
        """Let the runtime see the new value of a reduced variable."""
        found = super().visit_Assign(node)
        target = found.targets[0]
        if isinstance(target, ast.Name) and target.id in self.reduced:
            new = hook("reassign", ast.Constant(target.id), found.value)
            found.value = ast.copy_location(new, found.value)
        return found


def _moments(found: Plan) -> list[tuple[str, list[ast.expr]]]:
    values: ast.expr = ast.Tuple([ast.Name(name, ast.Load()) for name in found.private], ast.Load())
    return [("begin", []), ("turn", [values]), ("end", [values])]


def _assign(found: Plan, value: ast.expr) -> ast.stmt:
    if not found.private:
        return ast.Expr(value)
    return ast.Assign([ast.Tuple([ast.Name(name, ast.Store()) for name in found.private], ast.Store())], value)
