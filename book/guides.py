"""The guides of docs/, and the project's own pages, at the same places as in the project: so their links hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from book.places import ROOT

__all__ = ["PROJECT", "doors", "guides"]

PROJECT = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "benchmarks/RESULTS.md",
    "benchmarks/RESULTS_GPU.md",
    "benchmarks/RESULTS_GROWTH.md",
    "benchmarks/RESULTS_SCALE.md",
    "tests/README.md",
)
"""Pages outside of docs/ that guides lead to."""

_DOOR = re.compile(r"^## (For .+)\n\n((?:.+\n|\n(?!## ))+)", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(`{3,}|~{3,})", re.MULTILINE)


def guides() -> Iterator[tuple[str, bytes]]:
    """Yield each page and picture of the guides, by its place."""
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.suffix == ".md":
            yield path.relative_to(ROOT).as_posix(), _page(path).encode()
        elif path.is_file():
            yield path.relative_to(ROOT).as_posix(), path.read_bytes()
    for name in PROJECT:
        yield name, _page(ROOT / name).encode()


def doors() -> Iterator[tuple[str, bytes]]:
    """Yield a page for each list of docs/README.md, such as docs/for-students.md, by its place.

    It is the list that people read there. In the side bar it is one line, which unfolds into the list's pages.
    """
    index = ROOT / "docs" / "README.md"
    for title, text in _DOOR.findall(index.read_text(encoding="utf-8")):
        pages = [target for _, target in _LINK.findall(text) if target.endswith(".md")]
        listed = "\n".join(["```{toctree}", ":hidden:", "", *(page.removesuffix(".md") for page in pages), "```", ""])
        page = f"# {title}\n\n{_with_links(text, index)}\n{listed}"
        yield f"docs/{'-'.join(title.lower().split())}.md", page.encode()


def _page(path: Path) -> str:
    """A guide whose links to files outside of the site are only text."""
    return _with_links(path.read_text(encoding="utf-8"), path)


def _with_links(text: str, path: Path) -> str:
    parts = _outside_of_fences(text)
    return "".join(part if is_code else _LINK.sub(lambda found: _link(path, found), part) for part, is_code in parts)


def _outside_of_fences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text, and whether each is a block of code."""
    at, opened = 0, ""
    for found in _FENCE.finditer(text):
        if not opened:
            yield text[at : found.start()], False
            at, opened = found.start(), found[1]
        elif found[1].startswith(opened):
            yield text[at : found.end()], True
            at, opened = found.end(), ""
    yield text[at:], bool(opened)


def _link(page: Path, found: re.Match[str]) -> str:
    words, target = found[1], found[2]
    if "://" in target or target.startswith("#"):
        return found[0]
    path, _, _ = target.partition("#")
    file = (page.parent / path).resolve()
    name = file.relative_to(ROOT).as_posix()
    if name == "README.md":
        return f"[{words}](/index.md)"
    if file.suffix == ".md" and (name.startswith("docs/") or name in PROJECT):
        return found[0]
    return words
