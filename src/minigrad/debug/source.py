"""From a function to the syntax tree of its text, and from a name in that text to the object it stands for."""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
import textwrap
import types
from typing import Any

MISSING: Any = object()
"""The value that `resolve` returns for a name whose object is not known before the function runs."""

Function = ast.FunctionDef | ast.Lambda


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


def tree_of(function: types.FunctionType) -> Function:
    """Return the syntax tree of a function, with the line numbers of its file.

    Raises:
        ValueError: If the text is not to be had.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    found = _in_file(code, "".join(lines)) or _in_block(code, lines)
    if found is None:
        raise ValueError(
            f"cannot look for races in {code.co_name}: its source text is not known (file {code.co_filename!r}, line "
            f"{code.co_firstlineno}); write it in a file or in a notebook's cell"
        )
    return found


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


@functools.lru_cache(maxsize=8)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


@functools.lru_cache(maxsize=8)
def _functions(text: str) -> tuple[Function, ...]:
    """All functions of a file: a kernel's helpers are looked for in the same file, one after the other."""
    module = _parsed(text)
    return tuple(node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.Lambda)) if module else ()


def _in_file(code: types.CodeType, text: str) -> Function | None:
    wanted = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    found = [node for node in _functions(text) if isinstance(node, wanted) and _is(node, code)]
    if len(found) > 1:  # lambdas on one line
        start = min((line, column) for line, _, column, _ in code.co_positions() if line and column)
        found = [node for node in found if isinstance(node, ast.Lambda) and _begins(node.body) <= start]
        found.sort(key=lambda node: (node.lineno, node.col_offset))
    return found[-1] if found else None


def _is(node: Function, code: types.CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return node.lineno == code.co_firstlineno
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return node.name == code.co_name and first == code.co_firstlineno


def _begins(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _in_block(code: types.CodeType, lines: list[str]) -> Function | None:
    """Parse from the function's first line on, for a file of which another part is not Python."""
    start = code.co_firstlineno - 1
    for end in range(start + 1, min(len(lines), start + 400) + 1):
        if end < len(lines) and (not lines[end].strip() or lines[end][0].isspace()):
            continue
        module = _parsed(textwrap.dedent("".join(lines[start:end])))
        if module and module.body and isinstance(node := module.body[0], ast.FunctionDef) and node.name == code.co_name:
            ast.increment_lineno(module, start)
            _parsed.cache_clear()  # the numbers of a cached tree have just been changed
            _functions.cache_clear()
            return node
    return None
