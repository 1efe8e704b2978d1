"""The quick forms of operators, as text that a backend reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

__all__ = ["FORMS", "Expression", "Form", "constants_of"]


@dataclass(frozen=True)
class Form:
    """The quick forms of an operator, as text that a backend reads: an operator without them is called as it stands.

    Attributes:
        numpy: The name of a function in `minigrad.backends.numpy_forms` or in NumPy.
        line: The operator in a compiled loop, of the inputs ``{0}``, ``{1}``, ...; ``zero`` and ``one`` have its type.
        float_line: The same where it serves floats only.
        powers: Lines for floats by the value of a constant second input.
        compares: Whether the result is a truth value.
        keeps_integers: Whether integers give an integer.
        is_dear: Whether it takes several times as long as an addition.
        start: The number that a reduction starts from; folding it in changes nothing.
        fold: The function with which a compiled loop folds.
        in_pairs: The operator as an expression of operators of one or two inputs; a number is an input.
    """

    numpy: str = ""
    line: str = ""
    float_line: str = ""
    powers: Mapping[float, str] = field(default_factory=dict)
    compares: bool = False
    keeps_integers: bool = False
    is_dear: bool = False
    start: float | None = None
    fold: str = ""
    in_pairs: tuple[Any, ...] = ()


Expression = tuple[Any, ...]
"""Operators of operators: ``("in", i)``, ``("const", number)`` or ``(name, *expressions)``."""

FORMS: dict[str, Form] = {}
"""The quick forms by the operator's name; `minigrad.operators` and the entries of `table` put them here."""


@lru_cache(maxsize=4096)
def _has_constants(expression: Expression) -> bool:
    return expression[0] == "const" or (expression[0] != "in" and any(map(_has_constants, expression[1:])))


def constants_of(expression: Expression) -> str:
    """Return a text that tells expressions apart whose constants are equal: 0.0 and -0.0, or 2, 2.0 and True.

    What is kept for an expression is kept for this text as well.

    >>> from minigrad.elementwise.forms import constants_of
    >>> constants_of(("mul", ("in", 0), ("const", -0.0)))
    "('mul', ('in', 0), ('const', -0.0))"
    >>> constants_of(("mul", ("in", 0), ("in", 1)))
    ''
    """
    return repr(expression) if _has_constants(expression) else ""
