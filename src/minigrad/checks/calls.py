"""The call that a failing check was about, as its reader would type it: ``add(2.0, 3.5)``.

A check is a line such as ``expect([student.add(2.0, 3.5), student.mul(2.0, 3.5)], [5.5, 7.0])``. Python knows which
expression of it was running when the error was raised, and `expect` knows which element differed: so the call is read
from the check's own text, and no check has to say it a second time. Where that text goes through a helper, the check
runs once more, and its calls are watched (`observed`).
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from types import FrameType, ModuleType
from typing import Any

from minigrad.checks.expectation import Expectation

_LONGEST, _LONGEST_VALUE = 300, 200  # characters of a call, and of a value that is put in the place of its name
_GIVEN = "student"  # what checks call the answer


@dataclass(frozen=True)
class Call:
    """A call as its reader would type it.

    Attributes:
        text: The call; nothing if none was found.
        place: The indices, in its result, of the element that differs.
        is_result: Whether what differs is the whole result of a call; true as well where no call was found.
        is_whole: Whether the reader has every name in it; the check's own variables are unknown to them.
    """

    text: str = ""
    place: tuple[str, ...] = ()
    is_result: bool = True
    is_whole: bool = False


def call_of(error: BaseException, test: Callable[..., Any]) -> Call:
    """Return the student's call that an error of a check came from, read from the check's text.

    Args:
        error: An error that the check has raised, `Expectation` or one of the student's code.
        test: The check.
    """
    found = _running(error, test)
    if found is None:
        return Call()
    frame, node = found
    names = {**frame.f_globals, **frame.f_locals}
    place: tuple[str, ...] = ()
    if isinstance(error, Expectation):
        if error.place is None or not (isinstance(node, ast.Call) and node.args):
            return Call()
        node, place = _assigned(node.args[0], frame), error.place
        while place and (element := _element(node, place[0], names)):
            (node, names), place = element, place[1:]
    inner, is_alone = _without_helpers(node, names)
    node = _With(frame).visit(ast.parse(ast.unparse(inner), mode="eval")).body
    if not _calls_answer(node) or _is_helper(node, names):
        return Call()
    filled = _Filled(names)
    text = ast.unparse(filled.visit(node))
    is_whole = is_alone and all(_is_known(name, frame) for name in filled.left)
    is_result = not place or (len(place) == 1 and isinstance(inner, ast.List | ast.Tuple | ast.ListComp))
    return Call(text, place, is_result, is_whole) if len(text) <= _LONGEST else Call()


def _is_known(name: str, frame: FrameType) -> bool:
    """Return whether a name in a check means the same in a notebook: what is imported, or Python's own."""
    if name in frame.f_locals or name not in frame.f_globals:
        return name not in frame.f_locals and hasattr(builtins, name)
    value = frame.f_globals[name]
    return isinstance(value, ModuleType) or not str(getattr(value, "__module__", "minigrad.checks")).startswith(
        "minigrad.checks"
    )


def _running(error: BaseException, test: Callable[..., Any]) -> tuple[FrameType, ast.expr] | None:
    """Return the frame of a check's own text that was running, and the expression that was evaluated there."""
    file = inspect.unwrap(test).__code__.co_filename
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


def _element(node: ast.expr, place: str, names: Mapping[str, Any]) -> tuple[ast.expr, dict[str, Any]] | None:
    """Return the expression of one element of a display or a comprehension, and the names that it is about."""
    if not re.fullmatch(r"\[\d+\]", place):
        return None
    index = int(place[1:-1])
    if isinstance(node, ast.List | ast.Tuple) and index < len(node.elts):
        return node.elts[index], dict(names)
    if isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs:
        target, values = node.generators[0].target, _value(node.generators[0].iter, names)
        if isinstance(target, ast.Name) and isinstance(values, list | tuple) and index < len(values):
            return node.elt, {**names, target.id: values[index]}
    return None


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return the value of a name, or of a literal; None of everything else."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def _without_helpers(node: ast.expr, names: Mapping[str, Any]) -> tuple[ast.expr, bool]:
    """Return what the checks' own functions, which no reader can type, were given, and whether that alone."""
    is_alone = True
    while _is_helper(node, names):
        if isinstance(node, ast.Subscript):
            node = node.value
            continue
        assert isinstance(node, ast.Call)
        inner = [each for each in node.args if _calls_answer(each)]
        if len(inner) != 1:
            return node, False
        is_alone = is_alone and len(node.args) == 1 and not node.keywords
        node = inner[0]
    return node, is_alone


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


class _With(ast.NodeTransformer):
    """Writes what a function was made by in the place of its name: ``student.map(abs)([1.0])`` for ``made([1.0])``."""

    def __init__(self, frame: FrameType) -> None:
        self._frame = frame

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Replace the name of a called function."""
        self.generic_visit(node)
        made = _assigned(node.func, self._frame)
        if made is not node.func and _calls_answer(made):
            node.func = ast.parse(ast.unparse(made), mode="eval").body  # a copy: the check's own text stays
        return node


class _Filled(ast.NodeTransformer):
    """Takes ``student.`` away, and writes plain values in the place of their names.

    Attributes:
        left: The names that are no plain values, and stay.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self.left: list[str] = []

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Turn ``student.add`` into ``add``."""
        if isinstance(node.value, ast.Name) and node.value.id == _GIVEN:
            return ast.Name(node.attr)
        self.generic_visit(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """Leave a function's own parameters as they are."""
        own = {each.arg for each in node.args.args}
        inner = _Filled({name: value for name, value in self._names.items() if name not in own})
        node.body = inner.visit(node.body)
        self.left += [name for name in inner.left if name not in own]
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        """Leave comprehensions as they are: their names change from element to element."""
        self.left += [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Turn ``x`` into ``2.0``."""
        value = self._names.get(node.id)
        try:
            text = repr(value) if _is_plain(value) else ""
        except (ValueError, RecursionError):  # an int of more digits than Python writes; a list that is in itself
            text = ""
        if 0 < len(text) <= _LONGEST_VALUE:
            return ast.Name(text)
        self.left.append(node.id)
        return node


def _is_plain(value: Any) -> bool:
    """Return whether a value is a number or a text, or a list or tuple of such: its repr says all of it."""
    if isinstance(value, list | tuple):
        return type(value) in (list, tuple) and all(map(_is_plain, value))
    return type(value) in (int, float, bool, str)
