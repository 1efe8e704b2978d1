"""Put a student's helpers before what needs them: in a notebook, cells may have been run in any order."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import nbformat

from autograder.common.python_text import children, names_bound, parse, walk

Said = Callable[[str, str], None]

_BUILTIN = frozenset(dir(builtins)) | {"display", "get_ipython", "check", "hint", "__name__"}
MAX_EFFORT = 20_000
"""Names that are looked up to put a notebook in order; a hostile one could ask for any number."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def helpers_first(cells: Sequence[nbformat.NotebookNode], say: Said) -> list[nbformat.NotebookNode]:
    """The cells in an order in which those run that would not have: added cells are moved up, and nothing else.

    Args:
        cells: The cells of a grafted notebook.
        say: Is told what was moved, and of which exercise.
    """
    order = _Order(cells)
    for index in range(len(cells)):
        for moved in order.before(index):
            exercise = cells[index].metadata.get("minigrad", {}).get("exercise", "")
            names = ", ".join(sorted(order.defined[moved] & order.needed[index]) or sorted(order.defined[moved])[:3])
            say(f"the cell that defines {names} stood below what needs it; it was moved up", exercise)
            order.place(moved)
        order.place(index)
    return [cells[index] for index in order.placed]


class _Order:
    """The names that each cell defines and needs when it is run, and the cells that stand already."""

    def __init__(self, cells: Sequence[nbformat.NotebookNode]) -> None:
        kinds = [cell.metadata.get("minigrad", {}).get("kind") for cell in cells]
        runs = [kind in ("setup", "solution", "added") for kind in kinds]
        names = [_names_of(cell.source if run else "") for cell, run in zip(cells, runs, strict=True)]
        self.defined = [each.defined for each in names]
        self.needed = [each.needed for each in names]
        self.provider: dict[str, int] = {}
        for index, kind in enumerate(kinds):
            if kind == "added":
                for name in self.defined[index]:
                    self.provider.setdefault(name, index)
        self._provided = [each.needed & self.provider.keys() for each in names]
        self._mentioned = [each.mentioned & self.provider.keys() for each in names]
        self.placed: list[int] = []
        self._stand: set[int] = set()
        self._known: set[str] = set()
        self._effort = MAX_EFFORT

    def place(self, index: int) -> None:
        """Let a cell stand next, unless it stands already."""
        if index not in self._stand:
            self._stand.add(index)
            self.placed.append(index)
            self._known |= self.defined[index]

    def before(self, index: int) -> list[int]:
        """The added cells that must stand before a cell, themselves in order; none where that does not help."""
        if index in self._stand:
            return []
        moved: list[int] = []
        wanted = sorted(self._wanted(index) - self._known - self.defined[index])
        known = set(self._known) if wanted else set[str]()
        for name in wanted:
            self._fetch(name, index, moved, known, {index})
        return moved

    def _wanted(self, index: int) -> set[str]:
        """The added cells that a cell needs, and those that its helpers need, which it may call at once."""
        wanted, to_do = set[str](), list(self._provided[index])
        while to_do and self._effort > 0:
            name = to_do.pop()
            self._effort -= 1
            if name not in wanted:
                wanted.add(name)
                to_do += self._mentioned[self.provider[name]]
        return wanted

    def _fetch(self, name: str, above: int, moved: list[int], known: set[str], waiting: set[int]) -> None:
        """Add the cell that provides a name, after those that it needs itself; add none if one of them is missing."""
        cell = self.provider.get(name)
        if name in known or cell is None or cell <= above or cell in self._stand or cell in waiting:
            return
        self._effort -= 1 + len(self.needed[cell]) + len(known) // 100  # as many as are looked at below
        if self._effort <= 0:
            return
        before, knew = len(moved), set(known)
        for other in sorted(self._wanted(cell) - known - self.defined[cell]):
            self._fetch(other, above, moved, known, waiting | {cell})
        if self.needed[cell] - known - self.defined[cell]:
            del moved[before:]
            known.clear()
            known.update(knew)
        else:
            moved.append(cell)
            known.update(self.defined[cell])


class _Names(NamedTuple):
    """The names of a text: it defines some, it needs some of other cells when it is run, it mentions all of them."""

    defined: frozenset[str]
    needed: frozenset[str]
    mentioned: frozenset[str]


def _names_of(text: str) -> _Names:
    tree = parse(text) or ast.Module([], [])
    names = [node for node in walk(tree) if isinstance(node, ast.Name)]
    defined, loaded = names_bound(tree), {node.id for node in _run_at_once(tree) if isinstance(node, ast.Name)}
    stored = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    mentioned = frozenset(node.id for node in names)
    return _Names(frozenset(defined), frozenset(loaded - stored - defined) - _BUILTIN, mentioned)


def _run_at_once(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that are evaluated when the text is run."""
    to_do: list[ast.AST] = [tree]
    while to_do:
        node = to_do.pop()
        if isinstance(node, _Function):
            to_do += [*node.decorator_list, *_defaults(node.args)]
        elif isinstance(node, ast.Lambda):
            to_do += _defaults(node.args)
        else:
            yield node
            to_do += children(node)


def _defaults(arguments: ast.arguments) -> list[ast.AST]:
    return [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]
