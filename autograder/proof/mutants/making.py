"""The mutants of a reference answer: its text with one change in what students write."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass

from autograder.building.slicing import BEGIN, END, find_object, slice_exercise
from autograder.common.python_text import bound_by
from autograder.course import Course
from autograder.proof.mutants.operators import Scope, changes


@dataclass(frozen=True)
class Mutant:
    """A solution cell with one mistake.

    Attributes:
        exercise: The exercise's id.
        change: The operator's name.
        line: The number of the first changed line, in the cell.
        before: The lines that were changed, without indentation.
        after: The text in their place.
        text: The whole cell.
        place: The file and line of the library that this is, for people.
        nth: Which of the exercise's mutants that change these lines to these it is, from 1.
    """

    exercise: str
    change: str
    line: int
    before: str
    after: str
    text: str
    place: str = ""
    nth: int = 1

    @property
    def diff(self) -> str:
        """The change as lines with - and +."""
        minus = [f"- {line}" for line in self.before.split("\n")]
        return "\n".join(minus + [f"+ {line}" for line in self.after.split("\n")])


def mutants_of(course: Course, exercise: str) -> list[Mutant]:
    """Every mutant of an exercise's reference, in the order of its lines; of equal syntax trees only the first."""
    source = slice_exercise(course, exercise)
    places = [""]  # the header
    for dotted in source.exercise.objects:
        each = find_object(course.source, dotted)
        places += [f"{each.file.name}:{each.first + 1 + index}" for index in range(len(each.lines))] + ["", ""]
    counts: dict[tuple[str, str], int] = {}
    found = []
    for change, text in mutate(source.reference_cell):
        line, before, after = _difference(source.reference_cell, text)
        nth = counts[before, after] = counts.get((before, after), 0) + 1
        found.append(Mutant(exercise, change, line, before, after, text, places[line - 1], nth))
    return found


def mutate(text: str) -> Iterator[tuple[str, str]]:
    """Change one node after the other between the markers of a solution cell.

    Yields:
        The operator's name, and the changed text. No two have the same syntax tree, and none has the text's.
    """
    tree = ast.parse(text)
    seen = {ast.dump(tree)}
    cell = _Cell(text, tree)
    for site in cell.sites():
        for change, other in changes(site.node, site.parent, site.name, cell.scope_of(site.node)):
            wanted, patched = cell.changed(site, other)
            if wanted not in seen:
                seen.add(wanted)
                yield change, patched


@dataclass(frozen=True)
class _Site:
    """A node and where its parent holds it."""

    node: ast.AST
    parent: ast.AST
    name: str
    index: int | None

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.name, node)
        else:
            getattr(self.parent, self.name)[self.index] = node


class _Cell:
    """A solution cell, of which single nodes are changed and the rest keeps its layout."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.text = text
        self.tree = tree
        self._sites = {site.node: site for site in _walk(tree)}
        # Columns of the syntax tree count bytes.
        self._lines = [line.encode() for line in text.split("\n")]
        self._written = _written_lines(text)
        self._scopes: dict[ast.AST | None, Scope] = {None: Scope()}

    def sites(self) -> Iterator[_Site]:
        """The nodes between the markers, but for what no test asks for.

        That is annotations, what an error says, and zip's strict, by which an answer only asserts what it knows.
        """
        for site in self._sites.values():
            line, end = getattr(site.node, "lineno", None), getattr(site.node, "end_lineno", None)
            if line in self._written and end in self._written and not self._is_untested(site):
                yield site

    def _is_untested(self, site: _Site) -> bool:
        step: _Site | None = site
        while step is not None:
            is_strict = isinstance(step.node, ast.keyword) and step.node.arg == "strict"
            if is_strict or step.name in ("annotation", "returns", "exc"):
                return True
            step = self._sites.get(step.parent)
        return False

    def scope_of(self, node: ast.AST) -> Scope:
        """The surroundings of a node: its outermost function counts, since inner ones see its variables."""
        function = None
        step = self._sites.get(node)
        while step is not None:
            if isinstance(step.node, ast.FunctionDef):
                function = step.node
            step = self._sites.get(step.parent)
        if function not in self._scopes:
            assert function is not None
            self._scopes[function] = _scope(function)
        return self._scopes[function]

    def changed(self, site: _Site, other: ast.AST) -> tuple[str, str]:
        """Put another node in the place of one: the tree that is wanted, as `ast.dump` says it, and the text.

        The least text is replaced that gives this tree: around the node, else around its parent, and so on.
        """
        other = ast.copy_location(copy(other), site.node)  # it may be a part of the tree that has a place of its own
        site.put(other)
        try:
            wanted = ast.dump(self.tree)
            target: _Site | None = site
            while target is not None:
                node = other if target is site else target.node
                for patched in self._patches(self._sites[target.node].node, node):
                    if _dump(patched) == wanted:
                        return wanted, patched
                target = self._sites.get(target.parent)
            return wanted, ast.unparse(self.tree)
        finally:
            site.put(site.node)

    def _patches(self, old: ast.AST, new: ast.AST) -> Iterator[str]:
        """The text with the new node in the place of the old one, without and with parentheses."""
        if not isinstance(old, ast.expr | ast.stmt):
            return
        first, last = old.lineno - 1, (old.end_lineno or old.lineno) - 1
        start, end = old.col_offset, old.end_col_offset
        rendered = ast.unparse(new)
        if isinstance(old, ast.stmt):
            forms = [rendered.replace("\n", "\n" + " " * start)]
        else:
            # Whether a tuple has parentheses of its own depends on Python's version.
            bare = [rendered[1:-1]] if isinstance(new, ast.Tuple) and rendered.startswith("(") else []
            forms = [*bare, rendered, f"({rendered})"]
        for each in forms:
            middle = self._lines[first][:start] + each.encode() + self._lines[last][end:]
            yield b"\n".join([*self._lines[:first], middle, *self._lines[last + 1 :]]).decode()


def _walk(tree: ast.AST) -> Iterator[_Site]:
    """Every node below another one, in the order of the text."""
    for name, value in ast.iter_fields(tree):
        if isinstance(value, ast.AST):
            yield _Site(value, tree, name, None)
            yield from _walk(value)
        elif isinstance(value, list):
            for index, node in enumerate(value):
                if isinstance(node, ast.AST):
                    yield _Site(node, tree, name, index)
                    yield from _walk(node)


def _dump(text: str) -> str:
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:
        return ""


def _written_lines(text: str) -> set[int]:
    """The numbers of the lines between the markers."""
    inside, numbers = False, set()
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() in (BEGIN, END):
            inside = line.strip() == BEGIN
        elif inside:
            numbers.add(number)
    return numbers


def _scope(function: ast.FunctionDef) -> Scope:
    inner = [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef)]
    ends = frozenset(each.body[-1] for each in inner)
    groups: dict[str, list[str]] = {}
    for name, annotation in _local_names(function).items():
        kind = name.rpartition("_")[2] if "_" in name else "letter" if len(name) == 1 else annotation
        if kind:
            groups.setdefault(kind, []).append(name)
    families = {
        name: names[(index + 1) % len(names)]
        for names in groups.values()
        if len(names) > 1
        for index, name in enumerate(names)
    }
    return Scope(families, ends)


def _local_names(function: ast.FunctionDef) -> dict[str, str]:
    """A function's parameters and variables, in order, with the annotations of the parameters."""
    names: dict[str, str] = {}
    for node in ast.walk(function):
        name = bound_by(node) if isinstance(node, ast.arg | ast.Name) else None
        if name and name not in ("self", "cls"):
            annotation = getattr(node, "annotation", None)
            names.setdefault(name, ast.unparse(annotation) if annotation else "")
    return names


def _difference(old: str, new: str) -> tuple[int, str, str]:
    """The place where two texts begin to differ, and the lines of each that do."""
    a, b = old.split("\n"), new.split("\n")
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    changed = [block for block in blocks if block[0] != "equal"]
    first, last = changed[0][1], changed[-1][2]
    other_first, other_last = changed[0][3], changed[-1][4]
    before = "\n".join(line.strip() for line in a[first:last])
    return first + 1, before, "\n".join(line.strip() for line in b[other_first:other_last])
