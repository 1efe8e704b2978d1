"""Rewrites CUDA kernels for one thread of the simulator. A kernel that waits at barriers becomes a generator."""

from __future__ import annotations

import ast
import types

from minigrad.debug.rewrite import Rewriter, hook
from minigrad.debug.source import MISSING, resolve, unwrap
from minigrad.emulator.barriers import BARRIERS, waiting
from minigrad.emulator.device import Device
from minigrad.machine.simulated_cuda import is_cuda, name_in_kernel


class CudaRewriter(Rewriter):
    """Rewrites a kernel, or a device function, for one thread of the simulator.

    Args:
        function: The function.
        waits: Whether it can reach a barrier, and has to be a generator.
    """

    def __init__(self, function: types.FunctionType, waits: bool) -> None:
        super().__init__(function)
        self.waits = waits

    def called(self, node: ast.Call) -> ast.expr:
        """Return a call. Where the called function can wait at a barrier, the caller waits with it."""
        made = super().called(node)
        assert isinstance(made, ast.Call)
        if not self.waits or self.depth:
            assert isinstance(made.func, ast.Attribute)
            made.func.attr = "call_at_once"
            return made
        return waiting(made, ast.Attribute(ast.Name("__mg__", ast.Load()), "waiting", ast.Load()))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802
        """Put the simulator in the place of numba.cuda."""
        if is_cuda(resolve(node, self.function)) or self._is_numbas(node):
            return _device(node)
        return self.generic_visit(node)

    def _is_numbas(self, node: ast.Attribute) -> bool:
        """Return whether this is ``numba.cuda``, which need not have been imported where kernels run in Python."""
        return node.attr == "cuda" and getattr(resolve(node.value, self.function), "__name__", "") == "numba"

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802
        """Put the simulator in the place of numba.cuda, and of names imported from it."""
        if isinstance(node.ctx, ast.Load):
            found = resolve(node, self.function)
            if is_cuda(found) or (node.id == "cuda" and found is MISSING and self._is_global(node.id)):
                return _device(node)
            name = name_in_kernel(found) or _same_name(node.id, found)
            if name:
                return ast.copy_location(ast.Attribute(_device(node), name, ast.Load()), node)
        return super().visit_Name(node)

    def _is_global(self, name: str) -> bool:
        code = self.function.__code__
        return name not in (*code.co_varnames, *code.co_cellvars, *code.co_freevars)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:  # noqa: N802
        """Mark negative numbers in an index as meant."""
        self.generic_visit(node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        new = [_from_end(part) for part in parts]
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = new
        else:
            node.slice = new[0]
        return node


def _device(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Name("__cuda__", ast.Load()), node)


def _same_name(name: str, found: object) -> str:
    """Return the name of an object that was imported from numba.cuda under its own name."""
    module = getattr(found, "__module__", "") or ""
    return name if module.startswith("numba.cuda") and hasattr(Device, name) else ""


def _from_end(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return ast.copy_location(hook("from_end", node), node)
    return node


def waits(function: types.FunctionType, seen: set[types.CodeType]) -> bool:
    """Return whether a function, or one that it names, has a barrier."""
    code = function.__code__
    if code in seen:
        return False
    seen.add(code)
    if BARRIERS & {*code.co_names, *code.co_freevars}:
        return True
    names = [ast.Name(name, ast.Load()) for name in (*code.co_names, *code.co_freevars)]
    called = [unwrap(resolve(name, function)) for name in names]
    return any(isinstance(each, types.FunctionType) and waits(each, seen) for each in called)
