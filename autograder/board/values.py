"""The values of a kernel's text: a number that all threads have, or an array with a number for each thread."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from autograder.board.memory import Lanes, Memory, Refused

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide, ast.Mod: np.remainder, ast.Pow: np.power, ast.LShift: np.left_shift,
    ast.RShift: np.right_shift, ast.BitAnd: np.bitwise_and, ast.BitOr: np.bitwise_or, ast.BitXor: np.bitwise_xor,
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal,
    ast.Eq: np.equal, ast.NotEq: np.not_equal,
}  # fmt: skip


def numeric(value: Any) -> Any:
    """Return a value that is a number in each thread; a truth counts as 0 or 1."""
    if isinstance(value, np.generic | np.ndarray):
        return value.astype(np.int64) if value.dtype == bool else value
    raise Refused("a number is needed here")


def constant(given: bool | float) -> Any:
    """Return a number as it stands in a text."""
    if isinstance(given, bool):
        return np.bool_(given)
    return np.int64(given) if isinstance(given, int) else np.float64(given)


def binary(operator: ast.operator, left: Any, right: Any) -> Any:
    """Return what an operator makes of two values."""
    return _BINARY[type(operator)](numeric(left), numeric(right)) if type(operator) in _BINARY else unknown(operator)


def unknown(node: ast.AST) -> NoReturn:
    """Refuse a part of a text."""
    raise Refused(f"`{word(node)}` is not known on the board")


def merged(old: Any, new: Any, active: Lanes) -> Any:
    """Return a variable's value after an assignment by some of the threads."""
    if old is None or old is new or active.all():
        return new
    if isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        return tuple(merged(one, other, active) for one, other in zip(old, new, strict=True))
    if isinstance(old, Memory) or isinstance(new, Memory):
        raise Refused("a name stands for one array in all threads")
    return np.where(active, numeric(new), numeric(old))


def word(node: ast.AST) -> str:
    """A student's word for a part of a text that is not known here."""
    kinds = {
        ast.FunctionDef: "def in a function", ast.For: "a for loop that is not over range", ast.Import: "import",
        ast.ImportFrom: "import", ast.Call: "a call with names of arguments", ast.Slice: "a slice", ast.Try: "try",
    }  # fmt: skip
    return kinds.get(type(node), type(node).__name__.lower())
