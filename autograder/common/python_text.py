"""A cell's text, read without being run: whether it is Python, and which names it binds."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

__all__ = [
    "defined_names",
    "definitions_only",
    "helper_names",
    "names_bound",
    "names_used",
    "parse",
    "parses",
    "python_of",
    "same_code",
]

_ESCAPE = re.compile(r"^([ \t]*)(?:[%!?].*|[\w.]+\?{1,2}[ \t]*|\w[\w., ]*=[ \t]*[%!].*)$", re.MULTILINE)


def parse(text: str) -> ast.Module | None:
    """The syntax tree, or None if there is none; lines of IPython's own language count as `pass`."""
    found = python_of(text)
    return found[0] if found else None


def python_of(text: str) -> tuple[ast.Module, str] | None:
    """The syntax tree and the text that it is of, with `pass` for lines of IPython's own language; None if none is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for attempt in (text, _ESCAPE.sub(r"\1pass", text)):
            try:
                return ast.parse(attempt), attempt
            # Hostile nesting ends in one of the last two, long before the stack does.
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    return None


def parses(text: str) -> bool:
    """Return whether the text is Python (or IPython)."""
    return parse(text) is not None


def same_code(one: str, other: str) -> bool:
    """Return whether two texts are the same Python but for comments and white space."""
    trees = parse(one), parse(other)
    try:
        return trees[0] is not None and trees[1] is not None and ast.dump(trees[0]) == ast.dump(trees[1])
    except (RecursionError, MemoryError):
        return False


def defined_names(text: str) -> set[str]:
    """Names that a text binds at its top level by def, class or assignment."""
    tree = parse(text)
    names: set[str] = set()
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        else:
            names.update(_assigned(node))
    return names


def _assigned(node: ast.stmt) -> Iterator[str]:
    """Names that a statement binds by assignment, also several at once."""
    targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    for target in targets:
        # What is read in a target, as in `table[index] = 1`, is bound elsewhere.
        yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _is_lambda(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Lambda)


def definitions_only(text: str) -> str:
    """The text with its top-level functions, classes and imports alone; what is left keeps its line numbers."""
    tree, lines = parse(text), text.split("\n")
    kept: set[int] = set()
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    for node in tree.body if tree else ():
        if isinstance(node, kinds) or _is_lambda(node):
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            kept.update(range(first, (node.end_lineno or first) + 1))
    return "\n".join(line if number in kept else "" for number, line in enumerate(lines, start=1))


def helper_names(text: str) -> set[str]:
    """Names of functions, classes, imports and what is assigned: what other cells may need from this one."""
    tree = parse(text)
    return names_bound(tree) if tree else set()


def names_bound(tree: ast.Module) -> set[str]:
    """Names that a syntax tree binds at its top level by def, class, import or assignment."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        else:
            names.update(_assigned(node))
    return names


def names_used(text: str) -> set[str]:
    """Names that a text reads anywhere."""
    tree = parse(text)
    nodes = ast.walk(tree) if tree else ()
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
