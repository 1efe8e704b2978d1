"""A cell's text, read without being run: whether it is Python, and which names it binds and reads.

A student's text is parsed, compared and searched for names here and nowhere else. Python's own tools for that end in
more ways than in a SyntaxError: a number of 4,000 digits is a ValueError when a tree is written out, deep nesting a
RecursionError or a MemoryError, an escape sequence a warning, which may be an error; and the table of symbols takes
time with the square of a text. Here each of these means that the text is not Python, which costs its own cell alone.
"""

from __future__ import annotations

import ast
import io
import re
import symtable
import tokenize
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

MAX_PARSED = 250_000
"""Characters of the longest text that is parsed: a tree takes a thousand times the memory of its text."""

MAX_SCOPES = 2_000_000
"""Functions of a text times its words for which Python makes a table of symbols: a third of a second."""

S = TypeVar("S", str, ast.AST)
T = TypeVar("T")

_ESCAPE = re.compile(r"^([ \t]*)(?:[%!?].*|[\w.]+\?{1,2}[ \t]*|\w[\w., ]*=[ \t]*[%!].*)$", re.MULTILINE)
_SCOPES = ("def", "lambda", "for", "class", "type")
_UNTYPED = "from __future__ import annotations\n"  # with it, a table of symbols holds no name of an annotation


class NotPython(Exception):
    """A text that Python cannot read; the message says why, in a few words."""


def _by_python(what: Callable[[S], T], text: S) -> T:
    """Let Python's own tools read a student's text, or write the tree of one.

    Raises:
        NotPython: If they raise anything.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return what(text)
        except SyntaxError as error:
            said = " ".join((error.msg or "it is not Python").split())
        except (RecursionError, MemoryError):
            said = "it nests too deeply"
        except Exception as error:  # nobody knows all the ways in which a text can end a parser
            said = f"Python cannot read it ({type(error).__name__})"
    raise NotPython(said if len(said) <= 120 else f"{said[:117]}...")


def parse(text: str) -> ast.Module | None:
    """The syntax tree, or None if there is none; lines of IPython's own language count as `pass`."""
    found = python_of(text)
    return found[0] if found else None


def python_of(text: str) -> tuple[ast.Module, str] | None:
    """The syntax tree and the text that it is of, with `pass` for lines of IPython's own language; None if none is.

    What has a tree and cannot be compiled, such as `def f(x, x): pass`, is not Python either: no cell can run it.
    """
    if len(text) > MAX_PARSED:
        return None
    for attempt in (text, _ESCAPE.sub(r"\1pass", text)):
        try:
            tree = _by_python(ast.parse, attempt)
            if _is_soon_read(attempt):
                _by_python(_symbols, attempt)
            return tree, attempt
        except NotPython:
            continue
    return None


def _symbols(text: str) -> symtable.SymbolTable:
    return symtable.symtable(text, "<cell>", "exec")


def _is_soon_read(text: str) -> bool:
    """Return whether Python makes the table of a text's symbols soon: it goes over all names again for each scope."""
    scopes = sum(map(text.count, _SCOPES))
    return scopes * len(text) <= MAX_SCOPES or scopes * len(set(re.findall(r"\w+", text))) <= MAX_SCOPES


def parses(text: str) -> bool:
    """Return whether the text is Python (or IPython)."""
    return parse(text) is not None


def same_code(one: str, other: str) -> bool:
    """Return whether two texts are the same Python but for comments and white space."""
    first, second = parse(one), parse(other)
    return first is not None and second is not None and same_trees([first], [second])


def same_trees(some: Sequence[ast.AST], others: Sequence[ast.AST]) -> bool:
    """Return whether syntax trees are the same, wherever in their texts they stand.

    Neither `ast.dump` nor a recursion: a deep tree has no end for these, and a large number no digits.
    """
    to_do: list[tuple[object, object]] = [(list(some), list(others))]
    while to_do:
        one, other = to_do.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            to_do += [(getattr(one, name, None), getattr(other, name, None)) for name in one._fields]
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            to_do += zip(one, other, strict=True)
        elif one != other:
            return False
    return True


def free_names(text: str) -> set[str]:
    """Names that a text reads from its module, in bodies of functions too; those in annotations aside.

    Raises:
        NotPython: If it is none that Python compiles, or has too many functions and names.
    """
    if not _is_soon_read(text):
        raise NotPython("it has too many functions and names")
    found = set[str]()
    tables = [_by_python(_symbols, _UNTYPED + text)]
    while tables:
        table = tables.pop()
        is_module = table.get_type() == "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() if is_module else symbol.is_global():
                found.add(symbol.get_name())
        tables += table.get_children()
    return found


def written(node: ast.AST) -> str:
    """The text of a syntax tree.

    Raises:
        NotPython: If it has none, since it nests too deeply or holds a number of too many digits.
    """
    return _by_python(ast.unparse, node)


def without_comments(text: str) -> str:
    """The text of Python without its comments; as it is, if it is none."""
    lines = text.split("\n")
    try:
        for row, column in _by_python(_comments, text):
            lines[row - 1] = lines[row - 1][:column]
    except (NotPython, IndexError):
        return text
    return "\n".join(lines)


def _comments(text: str) -> list[tuple[int, int]]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.start for token in tokens if token.type == tokenize.COMMENT]


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


def definitions_only(text: str) -> str:
    """The text with its top-level functions, classes and imports alone; what is left keeps its line numbers."""
    tree, lines = parse(text), text.split("\n")
    kept: set[int] = set()
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    for node in tree.body if tree else ():
        is_lambda = isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Lambda)
        if isinstance(node, kinds) or is_lambda:
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
