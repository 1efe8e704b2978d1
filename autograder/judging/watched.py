"""The part of a submission that a witness can watch and believe.

`minigrad.debug` and `minigrad.checks.launches` see whether a kernel runs in parallel, waits and spares memory. They
do so inside the sandbox, in the process in which the submission's cells were run. The threat: a kernel that is right
but sequential, in a notebook that tampers with what watches. A cell replaces a piece of NumPy, a finder in
`sys.meta_path`, `sys.modules`, `builtins.__import__`; or it finds the detector through the garbage collector, a
frame, a profiler or an address in memory, as soon as a probe has imported it. To import it anew before each probe
stops few of these.

So exercises whose hidden tests ask witnesses are judged in a session of their own, in which nothing was run but plain
code (`plain_code`): the exercise's definitions and those that they need, cut out of the cells without running them.
Plots, prints and experiments around them cost nothing, whatever they do. All tests of the exercise are asked there,
so that no function can be right in one session and parallel in another. The last means of plain code are taken away
when the session begins: compiled code checks its indices, so that it reaches no memory but its arrays, and the text
of a signature, which Numba evaluates, may name types only.

Where the definitions are not plain, the tests that watch are answered with the sentence that says why; the others are
asked after all cells, as everywhere. A kernel that looks whether it is watched (fresh memory is filled then) is plain:
the hidden tests compare its results with and without a witness. They also require all writes to fall inside `prange`.
"""

from __future__ import annotations

import ast
import builtins
import functools
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from autograder.common.python_text import (
    NotPython,
    bound_by,
    children,
    free_names,
    names_bound,
    parse,
    python_of,
    same_trees,
    walk,
)
from autograder.judging.plain_code import BUILTINS, fault_of
from autograder.sandbox import SourceCell

MAX_STATEMENTS = 2_000
"""Statements that an exercise's definitions may need, all together."""

_TOO_MANY = f"more than {MAX_STATEMENTS:,} statements that need each other"
_ALLOWED = "loops, numbers, arrays, your own functions, and those of numpy, math, numba and cuda"

_FIRST = SourceCell(
    """from __future__ import annotations
def _begin():
    import re
    from numba.core import config, sigutils, types
    config.BOUNDSCHECK = 1
    evaluated = sigutils._parse_signature_string
    def parse(text):
        names = re.findall(r"[^\\W\\d]\\w*", text)
        if not re.fullmatch(r"[\\w\\s\\[\\]().,:]*", text) or not all(
            isinstance(getattr(types, name, None), types.Type) or name in ("Tuple", "UniTuple") for name in names
        ):
            raise TypeError(f"{text[:80]!r} is no signature: it may name Numba's types only")
        return evaluated(text)
    sigutils._parse_signature_string = parse
_begin()
del _begin
""",
    "setup",
    None,
    "what is run before a kernel is watched",
)

_Decorated = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Simple = _Decorated | ast.Assign | ast.AnnAssign | ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class Watched:
    """The cells for a witness, or the reason why there are none.

    Attributes:
        cells: The cells of the session in which it watches.
        refusal: Why it cannot, in a sentence for the student; the empty string if it can.
    """

    cells: tuple[SourceCell, ...] = ()
    refusal: str = ""


class _Refused(Exception):
    """A definition cannot be watched; the message says why."""


@dataclass(frozen=True, eq=False)
class _Unit:
    """Top-level statements of a cell that share lines, nearly always a single one."""

    cell: int
    label: str
    statements: tuple[ast.stmt, ...]
    text: str
    binds: frozenset[str]
    is_simple: bool
    is_import: bool

    @functools.cached_property
    def lines(self) -> range:
        """The lines that they stand on."""
        return range(min(map(_first_line, self.statements)), max(map(_last_line, self.statements)) + 1)

    @functools.cached_property
    def fault(self) -> str:
        """The first thing in it that is not plain, and its line; the empty string if all is plain."""
        found = min((each for each in map(fault_of, self.statements) if each is not None), default=None)
        if found:
            return f"`{found[1]}` in the {self.label}, line {found[0]}"
        if not _is_code_of(self.statements, self.text):
            return f"strange ends of lines in the {self.label}"
        return self._needs[1]

    @property
    def reads(self) -> set[str]:
        """Names that it needs of others."""
        return self._needs[0]

    @functools.cached_property
    def _needs(self) -> tuple[set[str], str]:
        """Names that it needs of others, and why they cannot be told; the empty string if they can."""
        try:
            return free_names(self.text), ""
        except NotPython as error:
            return set(), f"the {self.label}, line {self.lines.start}: {error}"

    def mentions(self, name: str) -> str:
        """The lines that read a name."""
        nodes = (node for each in self.statements for node in walk(each) if isinstance(node, ast.Name))
        line = min((node.lineno for node in nodes if node.id == name), default=self.lines.start)
        return f"`{name}` in the {self.label}, line {line}"


def watched_cells(cells: Sequence[SourceCell], objects: Sequence[str]) -> Watched:
    """Cut an exercise's definitions, and what they need, out of the cells of a submission.

    Args:
        cells: The submission's cells, in order.
        objects: The dotted names of the exercise's objects.
    """
    try:
        return Watched((_FIRST, *_Cut(cells).around({name.rpartition(".")[2] for name in objects})))
    except _Refused as refused:
        return Watched(
            refusal=f"it could not be watched, because of {refused}; what is watched may use {_ALLOWED}: leave the "
            "rest out, or keep it in lines that the answer does not need"
        )


class _Cut:
    """The statements of a submission by the names that they bind."""

    def __init__(self, cells: Sequence[SourceCell]) -> None:
        self._cells = cells
        self._parsed: dict[int, tuple[ast.Module, str]] = {}
        self._given = set[str]()  # by the lesson's setup
        self._binding: dict[str, list[_Unit]] = defaultdict(list)
        self._faults: dict[_Unit, str] = {}
        for number, cell in enumerate(cells):
            if cell.kind == "setup":
                self._given |= names_bound(parse(cell.source) or ast.Module([], []))
            elif (found := python_of(cell.source)) is not None:
                self._parsed[number] = found
                for unit in _units(*found, number, cell.label):
                    for name in unit.binds:
                        self._binding[name].append(unit)

    def around(self, names: Collection[str]) -> Iterator[SourceCell]:
        """The cells with what these names need, and nothing else.

        Raises:
            _Refused: If that is not plain.
        """
        kept: dict[int, set[int]] = defaultdict(set)
        seen, to_do, count = set(names), list(names), 0
        while to_do:
            for unit in self._kept(to_do.pop()):
                if unit.lines.start in kept[unit.cell]:
                    continue
                count += 1
                if count > MAX_STATEMENTS:
                    raise _Refused(_TOO_MANY)
                kept[unit.cell].update(unit.lines)
                new = unit.reads - seen
                seen |= new
                to_do += sorted(new)
        for number, cell in enumerate(self._cells):
            if cell.kind == "setup":
                yield cell
            else:
                yield replace(cell, source=self._text(number, kept.get(number, set())))

    def _kept(self, name: str) -> list[_Unit]:
        """The plain statements that bind a name.

        One that is not plain is left out where another takes its place later, where it is a loop or the like beside
        another, and where it imports what the lesson's setup imports as well.
        """
        units = self._binding.get(name, [])
        if len(units) > MAX_STATEMENTS:  # to look at each of them would take seconds
            raise _Refused(_TOO_MANY)
        for unit in units:
            if unit not in self._faults:
                self._faults[unit] = self._fault(unit)
        faults = [self._faults[unit] for unit in units]
        plain = [index for index, fault in enumerate(faults) if not fault and units[index].is_simple]
        last = plain[-1] if plain else -1
        for unit, fault in list(zip(units, faults, strict=True))[last + 1 :]:
            is_definition = unit.is_simple and not (unit.is_import and name in self._given)
            if fault and (is_definition or (last < 0 and name not in self._given)):
                raise _Refused(fault)
        return [unit for unit, fault in zip(units, faults, strict=True) if not fault]

    def _fault(self, unit: _Unit) -> str:
        """The first thing in a unit that is not plain, names that Python itself binds included; empty if all is plain.

        A builtin that is not listed stays one where a cell gives its name to something else: that may never be run.
        """
        if unit.fault:
            return unit.fault
        others = unit.reads - self._given - BUILTINS
        if found := sorted(name for name in others if hasattr(builtins, name)):
            return unit.mentions(found[0])
        if others - self._binding.keys() and "*" in self._binding:
            return self._binding["*"][0].fault
        return ""

    def _text(self, number: int, lines: Collection[int]) -> str:
        """The chosen lines of a cell, each at its place."""
        tree, text = self._parsed.get(number, (ast.Module([], []), ""))
        chosen = "\n".join(
            line if place in lines else "" for place, line in enumerate(text.split("\n"), start=1)
        ).rstrip()
        looked_at = [each for each in tree.body if _first_line(each) in lines]
        if not _is_code_of(looked_at, chosen):
            raise _Refused(f"strange ends of lines in the {self._cells[number].label}")
        return chosen


def _is_code_of(statements: Sequence[ast.stmt], text: str) -> bool:
    """Whether a text is these statements and no other code, however strange the ends of its lines are."""
    found = python_of(text)
    return found is not None and found[1] == text and same_trees(found[0].body, list(statements))


def _first_line(statement: ast.stmt) -> int:
    above = statement.decorator_list if isinstance(statement, _Decorated) else []
    return min([statement.lineno, *(each.lineno for each in above)])


def _last_line(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _units(tree: ast.Module, text: str, cell: int, label: str) -> Iterator[_Unit]:
    """The statements of a cell, those together that share a line."""
    together: list[ast.stmt] = []
    lines = text.split("\n")
    for statement in tree.body:
        if together and _first_line(statement) > _last_line(together[-1]):
            yield _unit(together, lines, cell, label)
            together = []
        together.append(statement)
    if together:
        yield _unit(together, lines, cell, label)


def _unit(statements: list[ast.stmt], lines: Sequence[str], cell: int, label: str) -> _Unit:
    text = "\n".join(lines[min(map(_first_line, statements)) - 1 : max(map(_last_line, statements))])
    simple = all(isinstance(each, _Simple) for each in statements)
    names = frozenset(name for each in statements for name in _bound_by(each))
    imports = all(isinstance(each, ast.Import | ast.ImportFrom) for each in statements)
    return _Unit(cell, label, tuple(statements), text, names, simple, imports)


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement gives to its module, at any depth but in functions; global ones are refused there."""
    if isinstance(statement, _Simple):
        yield from names_bound(ast.Module([statement], []))
        return
    to_do: list[ast.AST] = [statement]
    while to_do:
        node = to_do.pop()
        if (name := bound_by(node)) and not isinstance(node, ast.ExceptHandler):  # an error's name ends with its block
            yield name
        if not isinstance(node, _Decorated | ast.Lambda):
            to_do += children(node)
