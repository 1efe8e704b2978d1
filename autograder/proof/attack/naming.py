"""Names of the library that an attack takes: one that does not exist is an attack on nothing."""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Iterable, Iterator
from textwrap import dedent

from autograder.common.python_text import parse
from autograder.proof.attack.model import Attack, Released

_DOTTED = re.compile(r"minigrad(\.(?!py$)\w+)+")


def strange_names(attack: Attack, released: Released) -> list[str]:
    """Return the names below `minigrad` that an attack takes and that the whole library does not have."""
    texts = [attack.text] if attack.exercise else _added(attack, released)
    names = {name for text in texts for name in _names(dedent(text))}
    return sorted(name for name in names if not _exists(name))


def _added(attack: Attack, released: Released) -> Iterator[str]:
    """The code cells that are handed in and were not released."""
    known = {cell.source for cell in released[attack.lesson].cells}
    for name, content in attack.hand_in(released).items():
        if name.endswith(".ipynb") and isinstance(content, bytes):
            try:
                cells = json.loads(content)["cells"]
                sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
            except (ValueError, LookupError, TypeError, RecursionError):  # no notebook, and so no code
                continue
            yield from (source for source in sources if "minigrad" in source and source not in known)


def _names(text: str) -> Iterator[str]:
    """Dotted names that a text imports, reaches from an import, or spells out in a string."""
    tree = parse(text)
    nodes = list(ast.walk(tree)) if tree else []
    bound = dict(_imports(nodes))
    yield from bound.values()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            yield from _reached(node, bound)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _DOTTED.fullmatch(node.value):
            yield node.value


def _imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield each name that an import from the library binds, with the dotted name of its object."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "minigrad":
                    yield (alias.asname, alias.name) if alias.asname else ("minigrad", "minigrad")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "minigrad":
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _reached(node: ast.Attribute, bound: dict[str, str]) -> Iterator[str]:
    """Yield the dotted name of `minigrad.functions.Log`, where its first name was imported."""
    names = [node.attr]
    inner: ast.expr = node.value
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    if isinstance(inner, ast.Name) and inner.id in bound:
        yield ".".join([bound[inner.id], *reversed(names)])


def _exists(dotted: str) -> bool:
    """Return whether a dotted name is a module of the library, or an attribute of one."""
    found: object = importlib.import_module("minigrad")
    place = "minigrad"
    for name in dotted.split(".")[1:]:
        place += f".{name}"
        try:
            found = getattr(found, name) if hasattr(found, name) else importlib.import_module(place)
        except ImportError:
            return False
    return True
