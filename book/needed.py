"""Which cells above a cell have to run before it: those that make the names that it reads, and what these need."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["needed"]


@dataclass(frozen=True)
class Names:
    """What a cell does with the notebook's names.

    Attributes:
        made: Those that it sets whatever they were before.
        changed: Those that it may change: it stores into them, or calls a method of theirs for its effect.
        read: Those that it reads, also in functions.
        imported: Those of `made` that an import sets.
    """

    made: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()


def needed(above: Sequence[str], cell: str) -> list[int]:
    """Return the numbers of the cells that a cell needs, in order.

    Args:
        above: The texts of the cells above it.
        cell: Its own text.

    >>> needed(["import math", "x = 2.0", "y = 3.0", "x = math.sin(x)", "print(y)"], "print(x)")
    [0, 1, 3]
    """
    names = [names_of(text) for text in above]
    imported = frozenset[str]().union(*(each.imported for each in names))  # `draw.film()` changes no module
    wanted, found = set(names_of(cell).read), list[int]()
    for number in reversed(range(len(above))):
        here = names[number]
        if wanted & (here.made | here.changed - imported):
            found.insert(0, number)
            wanted = wanted - here.made | here.read
    return found


def names_of(text: str) -> Names:
    """Return what a cell does with names; nothing if it is no Python."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError):
        return Names()
    made, changed, read, imported = set[str](), set[str](), set[str](), set[str]()
    for node in statements:
        table = symtable.symtable(ast.unparse(node), "<cell>", "exec")
        read |= set(_read(table)) - made
        changed |= {each.get_name() for each in table.get_symbols() if each.is_assigned()}
        changed |= {each.id for inside in ast.walk(node) for part in _changed(inside) for each in _names_in(part)}
        made |= set(_made(node))
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= {each.asname or each.name.partition(".")[0] for each in node.names}
    return Names(frozenset(made | imported), frozenset(changed - made), frozenset(read), frozenset(imported))


def _made(node: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top sets."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (each.id for target in targets for each in _names_in(target) if isinstance(each.ctx, ast.Store))


def _changed(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose names a node changes without setting them."""
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
        yield node.value
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        yield node.value.func.value


def _names_in(node: ast.AST) -> Iterator[ast.Name]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Name))


def _read(table: symtable.SymbolTable) -> Iterator[str]:
    """The notebook's names that a scope or one inside of it reads."""
    top = table.get_type() == "module"
    yield from (each.get_name() for each in table.get_symbols() if each.is_referenced() and (top or each.is_global()))
    for inside in table.get_children():
        yield from _read(inside)
