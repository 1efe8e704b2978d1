"""The call that a failing check was about, as its reader would type it: ``add(2.0, 3.5)``.

A check is a line such as ``expect([student.add(2.0, 3.5), student.mul(2.0, 3.5)], [5.5, 7.0])``. Python knows which
expression of it was running when the error was raised, and `expect` knows which element differed: so the call is read
from the check's own text, and no check has to say it a second time.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from types import FrameType
from typing import Any

from minigrad.checks.expectation import Expectation

__all__ = ["call_of"]

_LONGEST, _LONGEST_VALUE = 100, 40  # characters of a call, and of a value that is put in the place of its name
_GIVEN = "student"  # what checks call the answer


def call_of(error: BaseException, test: Callable[..., Any]) -> str:
    """Return the student's call that an error of a check came from; nothing if there is none, or no short one.

    Args:
        error: An error that the check has raised, `Expectation` or one of the student's code.
        test: The check.
    """
    found = _running(error, test)
    if found is None:
        return ""
    frame, node = found
    names = {**frame.f_globals, **frame.f_locals}
    if isinstance(error, Expectation):
        if error.place is None or not (isinstance(node, ast.Call) and node.args):
            return ""
        node = _assigned(node.args[0], frame)
        for index in re.findall(r"\[(\d+)\]", error.place):
            node, names = _element(node, int(index), names)
    node = _without_helpers(node, names)
    if not _calls_answer(node) or _is_helper(node, names):
        return ""
    text = ast.unparse(_Filled(names).visit(ast.parse(ast.unparse(node), mode="eval")))
    return text if len(text) <= _LONGEST else ""


def _running(error: BaseException, test: Callable[..., Any]) -> tuple[FrameType, ast.expr] | None:
    """Return the frame of a check's own text that was running, and the expression that was evaluated there."""
    file = test.__code__.co_filename
    frames = [(each.tb_frame, each.tb_lasti) for each in _tracebacks(error) if each.tb_frame.f_code.co_filename == file]
    if not frames:
        return None
    frame, instruction = frames[-1]
    positions = next(islice(frame.f_code.co_positions(), instruction // 2, None), None)
    return next(
        (
            (frame, node)
            for node in ast.walk(_text_of(file))
            if isinstance(node, ast.expr)
            and (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == positions
        ),
        None,
    )


def _tracebacks(error: BaseException) -> Iterator[Any]:
    at = error.__traceback__
    while at is not None:
        yield at
        at = at.tb_next


@cache
def _text_of(file: str) -> ast.Module:
    return ast.parse("".join(linecache.getlines(file)))


def _assigned(node: ast.expr, frame: FrameType) -> ast.expr:
    """Return what a name was last set to above the running line, by a plain assignment; another expression itself."""
    if not isinstance(node, ast.Name):
        return node
    code = frame.f_code
    found: ast.expr = node
    for each in ast.walk(_text_of(code.co_filename)):
        if (
            isinstance(each, ast.Assign)
            and code.co_firstlineno <= each.lineno < frame.f_lineno
            and [target.id for target in each.targets if isinstance(target, ast.Name)] == [node.id]
        ):
            found = each.value
    return found


def _element(node: ast.expr, index: int, names: Mapping[str, Any]) -> tuple[ast.expr, dict[str, Any]]:
    """Return the expression of one element of a display or a comprehension, and the names that it is about."""
    if isinstance(node, ast.List | ast.Tuple) and index < len(node.elts):
        return node.elts[index], dict(names)
    if isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs:
        target, values = node.generators[0].target, _value(node.generators[0].iter, names)
        if isinstance(target, ast.Name) and isinstance(values, list | tuple) and index < len(values):
            return node.elt, {**names, target.id: values[index]}
    return node, dict(names)


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return the value of a name, or of a literal; None of everything else."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def _without_helpers(node: ast.expr, names: Mapping[str, Any]) -> ast.expr:
    """Return what the checks' own functions, which no reader can type, were given."""
    while _is_helper(node, names):
        if isinstance(node, ast.Subscript):
            node = node.value
            continue
        assert isinstance(node, ast.Call)
        inner = [each for each in node.args if _calls_answer(each)]
        if len(inner) != 1:
            return node
        node = inner[0]
    return node


def _is_helper(node: ast.expr, names: Mapping[str, Any]) -> bool:
    """Return whether an expression is a call of a function that the checks define, or a part of its result."""
    if isinstance(node, ast.Subscript):
        return _is_helper(node.value, names)
    called = names.get(node.func.id) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
    return str(getattr(called, "__module__", "")).startswith("minigrad.checks")


def _calls_answer(node: ast.expr) -> bool:
    """Return whether the student's code is called in an expression, and given to nobody."""
    parts = list(ast.walk(node))
    called = [each.func for each in parts if isinstance(each, ast.Call)]
    handed = [each for part in parts if isinstance(part, ast.Call) for each in (*part.args, *part.keywords)]
    return any(_is_of_answer(each) for each in called) and not any(
        isinstance(each, ast.Name) and each.id == _GIVEN for each in handed
    )


def _is_of_answer(node: ast.expr) -> bool:
    """Return whether an expression is ``student.name``, or a member of such."""
    while isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id == _GIVEN:
            return True
        node = node.value
    return False


class _Filled(ast.NodeTransformer):
    """Takes ``student.`` away, and writes plain values in the place of their names."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Turn ``student.add`` into ``add``."""
        if isinstance(node.value, ast.Name) and node.value.id == _GIVEN:
            return ast.Name(node.attr)
        self.generic_visit(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """Leave a function's own parameters as they are."""
        own = {each.arg for each in node.args.args}
        node.body = _Filled({name: value for name, value in self._names.items() if name not in own}).visit(node.body)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        """Leave comprehensions as they are: their names change from element to element."""
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Turn ``x`` into ``2.0``."""
        value = self._names.get(node.id)
        try:
            text = repr(value) if _is_plain(value) else ""
        except (ValueError, RecursionError):  # an int of more digits than Python writes; a list that is in itself
            return node
        return ast.Name(text) if 0 < len(text) <= _LONGEST_VALUE else node


def _is_plain(value: Any) -> bool:
    """Return whether a value is a number or a text, or a list or tuple of such: its repr says all of it."""
    if isinstance(value, list | tuple):
        return type(value) in (list, tuple) and all(map(_is_plain, value))
    return type(value) in (int, float, bool, str)
