"""From a function to the syntax tree of its text, and from a tree back to a function."""

from __future__ import annotations

import ast
import copy
import functools
import linecache
import textwrap
import types
from collections.abc import Callable
from typing import Any

Function = ast.FunctionDef | ast.Lambda
Rewrite = Callable[[Function], Function]


def tree_of(function: types.FunctionType, purpose: str = "look for races in") -> Function:
    """Return the syntax tree of a function, with the line numbers of its file.

    Args:
        function: The function.
        purpose: For the message of an error: what cannot be done without the text.

    Raises:
        ValueError: If the text is not to be had.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    found = _in_file(code, "".join(lines)) or _in_block(code, lines)
    if found is None:
        raise ValueError(
            f"cannot {purpose} {code.co_name}: its source text is not known (file {code.co_filename!r}, line "
            f"{code.co_firstlineno}); write it in a file or in a notebook's cell"
        )
    return found


def build(
    function: types.FunctionType, rewrite: Rewrite, extra: dict[str, Any], purpose: str = "look for races in"
) -> types.FunctionType:
    """Return the rewritten function, with the globals, defaults and enclosing variables of the original.

    Args:
        function: The original.
        rewrite: Rewrites a copy of its tree.
        extra: What further names stand for: ``__mg__`` is the runtime.
        purpose: As for `tree_of`.

    Raises:
        ValueError: If the source is not known.
    """
    code = function.__code__
    node = rewrite(copy.deepcopy(tree_of(function, purpose)))
    inner: ast.stmt = node if isinstance(node, ast.FunctionDef) else ast.Return(node)
    name = code.co_name
    if isinstance(inner, ast.FunctionDef):
        inner.name = name = "__kernel__"  # a function that calls itself finds the original by its name
    outer = ast.FunctionDef("__outer__", _parameters([*code.co_freevars, *extra]), [inner], [])
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(outer, node)], []))
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True)
    found = _code_named(_code_named(compiled, "__outer__"), name)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells.update({key: types.CellType(value) for key, value in extra.items()})
    found = found.replace(co_name=code.co_name, co_qualname=code.co_qualname)
    new = types.FunctionType(
        found, function.__globals__, code.co_name, function.__defaults__, tuple(cells[key] for key in found.co_freevars)
    )
    new.__kwdefaults__ = function.__kwdefaults__
    return new


def _parameters(names: list[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _code_named(code: types.CodeType, name: str) -> types.CodeType:
    return next(each for each in code.co_consts if isinstance(each, types.CodeType) and each.co_name == name)


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
        lambdas = (node for node in found if isinstance(node, ast.Lambda))
        found = [node for node in lambdas if (node.body.lineno, node.body.col_offset) <= start]
        found.sort(key=lambda node: (node.lineno, node.col_offset))
    return found[-1] if found else None


def _is(node: Function, code: types.CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return node.lineno == code.co_firstlineno
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return node.name == code.co_name and first == code.co_firstlineno


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
