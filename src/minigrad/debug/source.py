"""From a kernel to the function inside it, and from a name in its text to the object it stands for."""

from __future__ import annotations

import ast
import builtins
import linecache
import types
from typing import Any

MISSING: Any = object()
"""The value that `resolve` returns for a name whose object is not known before the function runs."""


def unwrap(function: object) -> Any:
    """Return the Python function inside a dispatcher of Numba, a kernel of its simulator, or one inside another.

    >>> from minigrad.debug.source import unwrap
    >>> from numba import njit
    >>> def twice(x):
    ...     return 2 * x
    ...
    >>> unwrap(njit(twice)) is twice
    True
    """
    for _ in range(16):
        inner = getattr(function, "py_func", None)
        if inner is None and type(function).__name__ == "FakeCUDAKernel":
            inner = getattr(function, "fn", None)
        if inner is None:
            break
        function = inner
    return function


def line_of(filename: str, line: int) -> str:
    """Return a line of source text without its indentation, or nothing where it is not known."""
    return linecache.getline(filename, line).strip()


def resolve(node: ast.expr, function: types.FunctionType) -> Any:
    """Return the object of a name, or of a dotted name that begins with a module, or MISSING if unknown."""
    if isinstance(node, ast.Attribute):
        owner = resolve(node.value, function)
        return getattr(owner, node.attr, MISSING) if isinstance(owner, types.ModuleType) else MISSING
    if not isinstance(node, ast.Name):
        return MISSING
    code = function.__code__
    if node.id in code.co_freevars:
        cell = (function.__closure__ or ())[code.co_freevars.index(node.id)]
        return _content(cell)
    if node.id in code.co_varnames or node.id in code.co_cellvars:
        return MISSING
    return function.__globals__.get(node.id, getattr(builtins, node.id, MISSING))


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable of the enclosing function that has no value yet
        return MISSING
