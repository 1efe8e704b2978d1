"""The winnings of an attack, looked for where they would show: outputs, files, processes."""

from __future__ import annotations

import ast
import hashlib
import html
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path

LINE = 20
"""A line of a hidden test that has as many characters must not show."""

_SHOWN = ("because", "hint", "misconception", "example", "title")
"""Keyword arguments of a hidden test that reports repeat."""


def flat(text: str) -> str:
    """Text as a report may have changed it: on one line, entities read."""
    return " ".join(html.unescape(text).split())


def secret_lines(hidden: Path) -> set[str]:
    """The lines of hidden tests that say more than a report does: neither titles nor sentences for the student."""
    found: set[str] = set()
    for file in sorted(hidden.glob("*.py")):
        text = file.read_text(encoding="utf-8")
        shown = {number for first, last in _sentences(ast.parse(text)) for number in range(first, last + 1)}
        lines = (line for number, line in enumerate(text.splitlines(), start=1) if number not in shown)
        found |= {flat(line) for line in lines if len(line.strip()) >= LINE}
    return found


def _sentences(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """First and last lines of docstrings, of what a report repeats, and of inputs: a counter-example may show one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            yield node.body[0].lineno, node.body[0].end_lineno or 0
        if isinstance(node, ast.Assign) and _is_literal(node.value):
            yield node.lineno, node.end_lineno or 0
        if isinstance(node, ast.keyword) and node.arg in _SHOWN:
            yield node.value.lineno, node.value.end_lineno or 0


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


class Secrets:
    """Lines that may show nowhere, found quickly in long texts.

    Args:
        lines: The lines, on one line each.
        known: Texts that everyone has: what stands in them is no secret.
    """

    def __init__(self, lines: Iterable[str], known: Iterable[str] = ()) -> None:
        self._by_start: dict[str, list[str]] = defaultdict(list)
        for line in lines:
            if len(line) >= LINE:
                self._by_start[line[:LINE]].append(line)
        for text in known:
            for line in set(self.in_text(text)):
                self._by_start[line[:LINE]].remove(line)

    def in_text(self, text: str) -> Iterator[str]:
        """The secret lines that a text holds."""
        text = flat(text)
        for start in range(len(text) - LINE + 1):
            for line in self._by_start.get(text[start : start + LINE], ()):
                if text.startswith(line, start):
                    yield line


class _Markup(HTMLParser):
    """Looks for a script's text where a browser would run it."""

    def __init__(self, script: str) -> None:
        super().__init__()
        self.script = script
        self.inside: list[str] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = [tag] if tag in ("script", "style") else []
        self.found += [f"<{tag} {name}>" for name, value in attrs if value and self.script in value]

    def handle_data(self, data: str) -> None:
        if self.inside and self.script in data:
            self.found.append(f"<{self.inside[0]}>")

    def handle_endtag(self, tag: str) -> None:
        self.inside = []


def live_markup(page: str, script: str) -> list[str]:
    """The elements of a page that would run a script."""
    parser = _Markup(script)
    parser.feed(page)
    parser.close()
    return parser.found


def state(folder: Path, but: Iterable[str] = ()) -> dict[str, str]:
    """Kind, mode and content of everything below a folder, by path; some of its first names aside."""
    return {name: _content(path) for name, path in _below(folder, set(but))}


def quick_state(folder: Path, but: Iterable[str] = ()) -> dict[str, tuple[int, ...]]:
    """The system's facts about the same files; the time of the last change of a file cannot be forged."""
    found: dict[str, tuple[int, ...]] = {}
    for name, path in _below(folder, set(but)):
        status = path.lstat()
        found[name] = (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return found


def _below(folder: Path, but: set[str]) -> Iterator[tuple[str, Path]]:
    for place, folders, files in os.walk(folder):
        if Path(place) == folder:
            folders[:] = [name for name in folders if name not in but]
            files = [name for name in files if name not in but]
        for name in sorted(files + [each for each in folders if Path(place, each).is_symlink()]):
            path = Path(place, name)
            yield str(path.relative_to(folder)), path


def _content(path: Path) -> str:
    if path.is_symlink():
        return f"link {os.readlink(path)}"
    return f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def descendants(depth: int = 0) -> dict[int, str]:
    """Processes that come from this one, by number, with their names: those that are deeper than `depth`."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = entry.read_text().partition("(")[2].rpartition(")")
            parents[int(entry.parent.name)] = int(rest.split()[1]), name
        except (OSError, ValueError, IndexError):
            continue
    found: dict[int, str] = {}
    level = {os.getpid()}
    for distance in range(1, 20):
        level = {pid for pid, (parent, _) in parents.items() if parent in level}
        if distance > depth:
            found |= {pid: parents[pid][1] for pid in level}
    return found
