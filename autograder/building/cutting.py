"""Answers cut out of a module's text; signatures, decorators and docstrings stay."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator, Sequence

from autograder.building.slicing import ObjectSource


def cut(text: str, cuts: Iterable[tuple[ObjectSource, str]], refusal: Sequence[str]) -> str:
    """Replace the answers in a module's text."""
    lines = text.split("\n")
    edits: dict[tuple[int, int], list[str]] = {}
    for source, exercise_id in cuts:
        edits.update(_edits(source, [line.format(exercise=exercise_id) for line in refusal]))
    for (start, stop), replacement in sorted(edits.items(), reverse=True):
        lines[start:stop] = replacement
    return "\n".join(lines)


def without_body(source: ObjectSource) -> list[str]:
    """Return the dotted names of an object's functions that lose their bodies: itself, or methods."""
    if isinstance(source.node, ast.FunctionDef):
        return [source.dotted]
    begins = [source.first + region.begin + 1 for region in source.regions]
    methods = [each for each in source.node.body if isinstance(each, ast.FunctionDef)]
    cut = [each for each in methods if not begins or any(each.lineno < b <= (each.end_lineno or 0) for b in begins)]
    return [f"{source.dotted}.{each.name}" for each in cut]


def _edits(source: ObjectSource, refusal: Sequence[str]) -> Iterator[tuple[tuple[int, int], list[str]]]:
    """Yield ranges of lines in the object's file, with what takes their place."""
    first = source.first
    if isinstance(source.node, ast.FunctionDef):
        yield _body_edit(source.node, first + len(source.lines), source, refusal)
    elif source.regions:
        # What a class gives beside the regions is the student's too, and stays.
        for region in source.regions:
            marker = source.lines[region.begin]
            indent = marker[: len(marker) - len(marker.lstrip())]
            span = (first + region.begin, first + region.end + 1)
            yield span, _indented(refusal, indent)
    else:
        for method in source.node.body:
            if isinstance(method, ast.FunctionDef):
                yield _body_edit(method, method.end_lineno or method.lineno, source, refusal)


def _body_edit(
    function: ast.FunctionDef, stop: int, source: ObjectSource, refusal: Sequence[str]
) -> tuple[tuple[int, int], list[str]]:
    """Replace a function's body; signature, decorators and docstring stay."""
    start = function.lineno - 1
    lines = list(source.lines[start - source.first : stop - source.first])
    row, column = _signature_end(lines)
    kept = [*lines[:row], lines[row][:column]]
    docstring = function.body[0]
    if ast.get_docstring(function) is not None and docstring.lineno > start + row + 1:
        span = slice(docstring.lineno - 1 - start, (docstring.end_lineno or 0) - start)
        kept += lines[span]
    indent = " " * (function.col_offset + 4)
    return (start, stop), kept + _indented(refusal, indent)


def _signature_end(lines: list[str]) -> tuple[int, int]:
    """Return row and column after the colon that ends a function's signature."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string == ":" and depth == 0:
                return token.end[0] - 1, token.end[1]
    raise AssertionError("a definition that ast has read has a colon")


def _indented(lines: Sequence[str], indent: str) -> list[str]:
    return [f"{indent}{line}" if line else "" for line in lines]
