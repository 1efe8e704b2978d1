"""Reading names out of somebody's package without importing it.

A file's name is looked up in its text when something asks for it. Only the statements that define the name run, and
those that define what these mention: prints, training and other work at a file's top level stay undone. An import of
another file of the package is looked up in the same way.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import dis
import importlib.util
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from minigrad.errors import MinigradError

Definition = ast.FunctionDef | ast.ClassDef
_IMPORT = "_from_their_package"  # the global by which an import of another file of the package is looked up
_GLOBALS, _ATTRIBUTES = ("LOAD_GLOBAL", "LOAD_NAME"), ("LOAD_ATTR", "LOAD_METHOD")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True)
class Given:
    """Names that a file does not have to define.

    A name of Python's own, such as `max`, keeps Python's meaning in a file that does not define it.

    Attributes:
        instead: What stands in the place of the file's own definitions.
        otherwise: What is taken where the file defines nothing of that name.
    """

    instead: Mapping[str, Any] = field(default_factory=dict)
    otherwise: Mapping[str, Any] = field(default_factory=dict)


def tree(path: Path) -> ast.Module:
    """Return the statements of a file.

    Raises:
        MinigradError: If it is not Python.
    """
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    except Exception as error:  # bytes that are no text, deep nesting, what else a file can be
        raise MinigradError(f"check --minitorch: {path.name} is not Python: {error}") from None


def definition(path: Path, name: str, owner: str = "") -> Definition | None:
    """Return the last definition of a name in a file, or in the classes and functions that `owner` names."""
    body: Sequence[ast.stmt] = tree(path).body
    for each in filter(None, (*owner.split("."), name)):
        found = [node for node in body if isinstance(node, Definition) and node.name == each]
        if not found:
            return None
        body = found[-1].body
    return found[-1]


class Package:
    """A folder of Python files.

    Args:
        folder: The folder.
        names: Names by which its files import each other, besides the folder's own.
        given: What a file gets, by the file's name without its ending.
    """

    def __init__(self, folder: Path, names: Sequence[str], given: Callable[[str], Given]) -> None:
        self.folder = folder
        self.failures: list[str] = []
        """Sentences about definitions that were asked for and could not be run."""
        self._names = {folder.name, *names}
        self._given = given
        self._files: dict[Path, File] = {}

    def file(self, path: Path) -> File:
        """Return a file, or the `__init__.py` of a folder; it need not exist."""
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if path not in self._files:
            self._files[path] = File(self, path, self._given(path.stem))
        return self._files[path]

    def imported(self, origin: Path, level: int, module: str) -> File | None:
        """Return the file that an import in another file means, or None for another package's."""
        parts = module.split(".") if module else []
        if level:
            base = origin.parents[level - 1]
        elif parts[0] in self._names:
            base, parts = self.folder, parts[1:]
        elif self._is_beside(parts[0]) and importlib.util.find_spec(parts[0]) is None:
            base = self.folder
        else:
            return None
        return self.file(base.joinpath(*parts))

    def _is_beside(self, name: str) -> bool:
        return (self.folder / name).is_dir() or (self.folder / f"{name}.py").is_file()


class File:
    """A file of a package, whose names are read when they are asked for.

    Attributes:
        module: The file as a module; asking it for a name reads the name.
        scope: The names that are known by now: the module's globals.
    """

    def __init__(self, package: Package, path: Path, given: Given) -> None:
        self.module = ModuleType("__main__")
        self.scope: dict[str, Any] = vars(self.module)
        self.scope.update({"__file__": str(path), "__getattr__": self._attribute, _IMPORT: self._import})
        self._package, self._path, self._given = package, path, given
        self._asked: set[str] = set()
        self._run_already: set[ast.stmt] = set()
        self._statements: dict[str, list[ast.stmt]] = {}
        self._stars: list[ast.ImportFrom] = []
        if path.is_file():
            for node in tree(path).body:
                self._note(node)

    def _note(self, node: ast.stmt) -> None:
        """Remember which names a statement defines."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*" and isinstance(node, ast.ImportFrom):
                    self._stars.append(node)
                else:
                    name = alias.asname or alias.name.partition(".")[0]
                    self._statements.setdefault(name, []).append(_with_one_name(node, alias))
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            for name in dict.fromkeys(_defined(node)):
                self._statements.setdefault(name, []).append(node)

    def _attribute(self, name: str) -> Any:
        if not name.startswith("__"):
            self.bind(name)
            if name in self.scope:
                return self.scope[name]
            if name in self._given.instead:  # another file asks: a right answer where this file has none
                return self._given.instead[name]
        raise AttributeError(f"{self._path.name} defines no {name}")

    def put(self, values: Mapping[str, Any]) -> None:
        """Give names values that stay, whatever the file or what was given says of them."""
        self.scope.update(values)
        self._asked.update(values)

    def bind(self, name: str) -> None:
        """Make a name known, if the file or what was given defines it."""
        if name in self._asked or name.startswith("__"):
            return
        self._asked.add(name)
        is_pythons = hasattr(builtins, name) and name not in self._statements
        if name in self._given.instead and not is_pythons:
            self.scope[name] = self._given.instead[name]
            return
        for node in self._statements.get(name, ()):
            if node not in self._run_already:
                self._run_already.add(node)
                self._try(node)
        if name not in self.scope:
            self._bind_elsewhere(name)

    def _bind_elsewhere(self, name: str) -> None:
        beside = self._path.parent / name
        if self._path.stem == "__init__" and (beside.is_dir() or beside.with_suffix(".py").is_file()):
            self.scope[name] = self._package.file(beside).module
            return
        for star in reversed(self._stars):
            with suppress(Exception):
                file = self._package.imported(self._path, star.level, star.module or "")
                if file is None:
                    self.run(star)
                else:
                    self.scope[name] = getattr(file.module, name)
                if name in self.scope:
                    return
        if name in self._given.otherwise and not hasattr(builtins, name):
            self.scope[name] = self._given.otherwise[name]

    def _try(self, node: ast.stmt) -> None:
        """Run what an answer asks for; where that fails, a sentence says so, and the name stays unknown."""
        try:
            self.run(node)
        except (Exception, SystemExit) as error:
            line = f"{self._path.name}, line {node.lineno}, could not be run"
            self._package.failures.append(f"{line}: {type(error).__name__}: {error}")

    def run(self, node: ast.stmt) -> None:
        """Run a statement, after all that it mentions. Types in signatures stay unread: their names are not ours."""
        module = ast.Module([_Imports(self._package, self._path).visit(node)], [])
        flags = __future__.annotations.compiler_flag
        code = compile(ast.fix_missing_locations(module), str(self._path), "exec", flags=flags, dont_inherit=True)
        attributes = _looked_up(code, _ATTRIBUTES)
        for name in _looked_up(code, _GLOBALS):
            self.bind(name)
            if (other := _file_of(self.scope.get(name))) is not None:
                for attribute in attributes:  # kernels are copied with what their modules define by then
                    other.bind(attribute)
        exec(code, self.scope)

    def _import(self, level: int, module: str) -> ModuleType:
        found = self._package.imported(self._path, level, module)
        assert found is not None
        return found.module


def _file_of(value: Any) -> File | None:
    """Return the file that a module stands for, if it is one of a package's."""
    asked = vars(value).get("__getattr__") if isinstance(value, ModuleType) else None
    owner = getattr(asked, "__self__", None)
    return owner if isinstance(owner, File) else None


def _with_one_name(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    one: ast.stmt = ast.Import([alias])
    if isinstance(node, ast.ImportFrom):
        one = ast.ImportFrom(node.module, [alias], node.level)
    return ast.copy_location(one, node)


def _defined(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement sets in its own scope, and those of objects that it fills or changes."""
    if isinstance(node, ast.If) and "__name__" in ast.dump(node.test):
        return  # what is run where the file is a program
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        yield from _root(node)  # TABLE["relu"] = relu
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from _root(node.value.func)  # TABLE.update(relu=relu)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    if not isinstance(node, _SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from _defined(child)


def _root(node: ast.expr) -> Iterator[str]:
    """Yield the name with which a dotted or indexed expression begins; none of a bare name."""
    parts = node
    while isinstance(parts, ast.Attribute | ast.Subscript):
        parts = parts.value
    if parts is not node and isinstance(parts, ast.Name):
        yield parts.id


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _looked_up(code: CodeType, by: Container[str]) -> list[str]:
    """Return the names that some instructions of code look up: globals outside of its functions, or attributes."""
    steps = (step for each in _codes(code) for step in dis.get_instructions(each))
    return list(dict.fromkeys(step.argval for step in steps if step.opname in by))


class _Imports(ast.NodeTransformer):
    """Turns imports of the package's own files, wherever they stand, into looking up."""

    def __init__(self, package: Package, path: Path) -> None:
        self._package, self._path = package, path

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if self._package.imported(self._path, node.level, node.module or "") is None:
            return node
        file = f"{_IMPORT}({node.level}, {node.module or ''!r})"
        found = [f"{each.asname or each.name} = {file}.{each.name}" for each in node.names if each.name != "*"]
        return _statements(found, node)

    def visit_Import(self, node: ast.Import) -> Any:
        found = []
        for each in node.names:
            if self._package.imported(self._path, 0, each.name) is None:
                name = each.name if each.asname is None else f"{each.name} as {each.asname}"
                found.append(f"import {name}")
            else:
                meant = each.name if each.asname else each.name.partition(".")[0]
                found.append(f"{each.asname or meant} = {_IMPORT}(0, {meant!r})")
        return _statements(found, node)


def _statements(texts: Sequence[str], node: ast.stmt) -> Any:
    """Return statements at the place of another one; `visit` takes one as well as several."""
    made = [ast.copy_location(each, node) for text in texts or ["pass"] for each in ast.parse(text).body]
    return made[0] if len(made) == 1 else made
