"""Measure how large and how tangled the code is: one table, with a column for each tree that is named.

    python scripts/measure_house.py                     this tree
    python scripts/measure_house.py OLD NEW             two checkouts, side by side

Each tree is measured as it stands in its folder, so a comparison before and after a change needs two checkouts
(`git worktree add`). Everything is counted by Python's own parser. The calls of a backward pass are counted in a
process of its own, which needs NumPy and Numba.
"""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

LIBRARY, GRADER = "src/minigrad", "autograder"
CONTENT = ("hidden", "wrong", "variants")
"""Folders of the grader whose files belong to a course, where they still stand in it."""
OVERRIDES = ("standing_aside", "overrides")
"""Names, then and now, of the module that knows which objects of the library a student's replace."""
QUESTIONS = ("any_of", "exercise", "is_cut", "on_change", "state", "twin")
SEAM = ("quick",)
"""The room that alone may ask them."""
LONG = 400
LONGEST_HELPER = 3

PASSES = """
import json, sys
import numpy as np
import minigrad
found = {}
for name, size, backend in (("small", 4, "numba"), ("large", 90_000, "numba"), ("readable", 4, "python")):
    with minigrad.backend(backend):
        a, b = (minigrad.tensor(np.linspace(0.1, 1.0, size), requires_grad=True) for _ in range(2))
        for _ in range(3):
            (a * b).sum().backward()
        a.grad = b.grad = None
        calls, files = 0, set()
        def note(frame, event, _):
            global calls
            if event == "call" and "minigrad" in frame.f_code.co_filename:
                calls += 1
                files.add(frame.f_code.co_filename)
        sys.setprofile(note)
        (a * b).sum().backward()
        sys.setprofile(None)
        found[name] = f"{calls} calls, {len(files)} files"
print(json.dumps(found))
"""


class Tree:
    """A checkout of the project, its modules parsed once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.library = self._modules(LIBRARY)
        grader = self._modules(GRADER)
        self.grader = {path: text for path, text in grader.items() if path.parts[0] not in CONTENT}

    def _modules(self, folder: str) -> dict[Path, str]:
        base = self.root / folder
        return {path.relative_to(base): path.read_text(encoding="utf-8") for path in sorted(base.rglob("*.py"))}

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield each measure with its value, in the table's order."""
        for name, modules in ((LIBRARY, self.library), (f"{GRADER}, its own code", self.grader)):
            yield f"{name}: modules, lines", f"{len(modules)}, {sum(map(_lines, modules.values())):,}"
            yield f"{name}: lines of code", f"{sum(map(code_lines, modules.values())):,}"
            yield f"{name}: modules over {LONG} lines", str(sum(_lines(text) > LONG for text in modules.values()))
            helpers = sum(one_caller_helpers(text) for text in modules.values())
            yield f"{name}: private helpers of {LONGEST_HELPER} lines at most, with one caller", str(helpers)
        yield "modules at the top of the library", str(sum(len(path.parts) == 1 for path in self.library))
        asked = [questions(text) for path, text in self.library.items() if not _is_seam(path)]
        yield "questions about replacement outside the seam", f"{sum(asked)} in {sum(map(bool, asked))} files"
        names = course_names(self.root / "course" / "course.toml")
        private = sum(any(part.startswith("_") for part in name.split(".")) for name in names)
        yield "names of the library under hides and gives_away", f"{len(names)}, {private} of them private"
        yield "files that define or list tanh", str(sum(names_tanh(text) for text in self.library.values()))
        for name, value in passes(self.root).items():
            yield f"(a * b).sum().backward(), {name}", value
        for folder, modules in ((LIBRARY, self.library), (GRADER, self.grader)):
            for room, texts in _rooms(modules).items():
                yield f"{folder}/{room}: modules, lines", f"{len(texts)}, {sum(map(_lines, texts)):,}"


def _lines(text: str) -> int:
    return text.count("\n")


def _is_seam(path: Path) -> bool:
    return path.parts[0] in SEAM or path.stem in OVERRIDES


def _rooms(modules: dict[Path, str]) -> dict[str, list[str]]:
    rooms: dict[str, list[str]] = {}
    for path, text in modules.items():
        rooms.setdefault(path.parts[0] if len(path.parts) > 1 else "*.py", []).append(text)
    return rooms


def code_lines(text: str) -> int:
    """Count the lines that hold code: neither blank, nor a comment, nor part of a docstring."""
    quiet = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in quiet:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found - _docstring_lines(ast.parse(text)))


def _docstring_lines(tree: ast.Module) -> set[int]:
    """Return the lines of strings that stand alone: docstrings, and those below a constant."""
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    return {line for node in strings for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def one_caller_helpers(text: str) -> int:
    """Count private functions of a module's top level that are short and are named once beside their definition."""
    tree = ast.parse(text)
    named = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    named.update(node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return sum(
        isinstance(node, ast.FunctionDef)
        and node.name.startswith("_")
        and not node.name.startswith("__")
        and not node.decorator_list
        and named[node.name] == 1
        and _body_lines(node) <= LONGEST_HELPER
        for node in tree.body
    )


def _body_lines(function: ast.FunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def questions(text: str) -> int:
    """Count where a module asks which objects are replaced or left out, or declares what stands aside for them."""
    tree = ast.parse(text)
    imported = {
        each.asname or each.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[-1] in OVERRIDES
        for each in node.names
        if each.name in QUESTIONS
    }
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    direct = sum(isinstance(each, ast.Name) and each.id in imported for each in calls)
    through = sum(
        isinstance(each, ast.Attribute)
        and each.attr in QUESTIONS
        and isinstance(each.value, ast.Name)
        and each.value.id in OVERRIDES
        for each in calls
    )
    return direct + through


def course_names(path: Path) -> set[str]:
    """Return what a course says is to be left out, beside exercises themselves: `hides` and `gives_away`."""
    found: set[str] = set()
    waiting: list[object] = [tomllib.loads(path.read_text(encoding="utf-8"))]
    while waiting:
        table = waiting.pop()
        if isinstance(table, list):
            waiting.extend(table)
        elif isinstance(table, dict):
            for name, value in table.items():
                found.update(value) if name in ("hides", "gives_away") else waiting.append(value)
    return found


def names_tanh(text: str) -> bool:
    """Return whether a module defines something called tanh, or lists it by name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name.lower().strip("_") == "tanh":
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lower() == "tanh":
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id.lower().strip("_") == "tanh":
            return True
    return False


def passes(root: Path) -> dict[str, str]:
    """Return how many calls, in how many of the library's files, one forward and backward pass takes."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    done = subprocess.run([sys.executable, "-c", PASSES], env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    """Print the table for the trees that are named, or for this one."""
    roots = [Path(word).resolve() for word in sys.argv[1:]] or [Path(__file__).resolve().parents[1]]
    if wrong := [root for root in roots if not (root / LIBRARY).is_dir()]:
        sys.exit(f"measure_house: {wrong[0]} is no checkout of minigrad: it has no folder {LIBRARY}")
    columns = [dict(Tree(root).rows()) for root in roots]
    names = list(dict.fromkeys(name for column in columns for name in column))
    print("| measure | " + " | ".join(root.name for root in roots) + " |")
    print("|---" * (len(roots) + 1) + "|")
    for name in names:
        print(f"| {name} | " + " | ".join(column.get(name, "") for column in columns) + " |")


if __name__ == "__main__":
    main()
