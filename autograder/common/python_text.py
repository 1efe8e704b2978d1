"""A cell's text, read without being run: whether it is Python, and which names it binds."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator

__all__ = [
    "MAX_PARSED",
    "bound_by",
    "children",
    "defined_names",
    "definitions_only",
    "helper_names",
    "names_bound",
    "names_in",
    "parse",
    "parses",
    "python_of",
    "same_code",
    "walk",
]

MAX_PARSED = 250_000
"""Characters of the longest text that is parsed: a tree takes a thousand times the memory of its text."""

_ESCAPE = re.compile(r"^([ \t]*)(?:[%!?].*|[\w.]+\?{1,2}[ \t]*|\w[\w., ]*=[ \t]*[%!].*)$", re.MULTILINE)


def parse(text: str) -> ast.Module | None:
    """The syntax tree, or None if there is none; lines of IPython's own language count as `pass`."""
    found = python_of(text)
    return found[0] if found else None


def python_of(text: str) -> tuple[ast.Module, str] | None:
    """The syntax tree and the text that it is of, with `pass` for lines of IPython's own language; None if none is."""
    if len(text) > MAX_PARSED:
        return None
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


def bound_by(node: ast.AST) -> str | None:
    """The name that one node of a syntax tree binds, whatever it holds; None if it binds none.

    Every question about bound names asks this of the nodes that it means: of a cell's top level (`names_bound`), of
    all that is outside functions (`judging.watched`), of a whole text but for its imports (`telling.likeness`), of a
    function's arguments and variables (`proof.mutants.making`).
    """
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
            return name
        case ast.alias(name=name, asname=renamed):
            return (renamed or name).partition(".")[0]
        case ast.ExceptHandler(name=str() as name):
            return name
    return None


def children(node: ast.AST) -> Iterable[ast.AST]:
    """The child nodes in which names may stand: most nodes are names and constants, and hold none."""
    return () if isinstance(node, ast.Name | ast.Constant) else ast.iter_child_nodes(node)


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree as `ast.walk` has them, in no order and without what is below names, in less time."""
    to_do = [tree]
    while to_do:
        node = to_do.pop()
        yield node
        to_do += children(node)


def defined_names(text: str) -> set[str]:
    """Names that a text binds at its top level by def, class or assignment."""
    tree = parse(text)
    return names_bound(tree, imports=False) if tree else set()


def names_bound(tree: ast.Module, *, imports: bool = True) -> set[str]:
    """Names that a syntax tree binds at its top level by def, class, assignment and, unless told, import."""
    nodes = (node for statement in tree.body for node in _binding(statement, imports))
    return {name for node in nodes if (name := bound_by(node))}


def _binding(statement: ast.stmt, imports: bool) -> Iterator[ast.AST]:
    """The nodes of a statement that may bind names of its module."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement
        case ast.Import() | ast.ImportFrom():
            yield from statement.names if imports else ()
        case ast.Assign(targets=targets):
            for target in targets:
                yield from walk(target)
        case ast.AnnAssign(target=target, value=ast.expr()):
            yield from walk(target)


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


def names_in(text: str) -> tuple[set[str], set[str]]:
    """Names that a text binds at its top level, imports included, and names that it reads anywhere."""
    tree = parse(text)
    if tree is None:
        return set(), set()
    names = (node for node in walk(tree) if isinstance(node, ast.Name))
    return names_bound(tree), {name.id for name in names if isinstance(name.ctx, ast.Load)}
