"""Symbols: stand-ins for arrays that write down what is computed with them.

A rule such as ``d_output * (1.0 - output * output)`` given two symbols returns a symbol whose expression is
``("mul", ("in", 0), ("sub", ("const", 1.0), ("mul", ("in", 1), ("in", 1))))``: what a backend turns into one loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from minigrad.errors import FunctionError

if TYPE_CHECKING:
    from minigrad.operators import Expression


class Symbol:
    """An expression of operators in place of an array.

    Args:
        expression: ``("in", i)``, ``("const", number)``, or ``(kernel, *expressions)``.
    """

    __slots__ = ("expression",)
    __array_ufunc__ = None  # NumPy leaves `number * symbol` to us

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    @staticmethod
    def expression_of(value: Any) -> Any:
        """Return the expression of a symbol or number; None for no derivative, and for 0.0."""
        if value is None or (isinstance(value, Real) and value == 0.0):
            return None
        return _expression(value)

    @classmethod
    def _apply(cls, function: Any, inputs: Sequence[Any], **options: Any) -> Symbol:
        """Write down an elementwise function."""
        return _operate(function.kernel, *inputs)

    def chain_rule(self, d_output: Any) -> Any:
        """A symbol has no derivative; the method marks it as no plain number."""
        raise FunctionError("a symbol cannot be differentiated")

    def __add__(self, other: Any) -> Symbol:
        return _operate("add", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return _operate("add", other, self)

    def __sub__(self, other: Any) -> Symbol:
        return _operate("sub", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return _operate("sub", other, self)

    def __mul__(self, other: Any) -> Symbol:
        return _operate("mul", self, other)

    def __rmul__(self, other: Any) -> Symbol:
        return _operate("mul", other, self)

    def __truediv__(self, other: Any) -> Symbol:
        return _operate("div", self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return _operate("div", other, self)

    def __pow__(self, other: Any) -> Symbol:
        return _operate("pow", self, other)

    def __neg__(self) -> Symbol:
        return _operate("neg", self)

    def __lt__(self, other: Any) -> Symbol:
        return _operate("lt", self, other)

    def __gt__(self, other: Any) -> Symbol:
        return _operate("gt", self, other)

    def __le__(self, other: Any) -> Symbol:
        return _operate("le", self, other)

    def __ge__(self, other: Any) -> Symbol:
        return _operate("ge", self, other)

    def __eq__(self, other: Any) -> Symbol:  # type: ignore[override]
        return _operate("eq", self, other)

    def __ne__(self, other: Any) -> Symbol:  # type: ignore[override]
        return _operate("ne", self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise FunctionError("a rule that asks `if` of a value cannot be traced")

    def __repr__(self) -> str:
        return f"Symbol({self.expression})"


def _expression(value: Any) -> Any:
    return value.expression if isinstance(value, Symbol) else ("const", float(value))


def _operate(kernel: str, *inputs: Any) -> Symbol:
    return Symbol((kernel, *map(_expression, inputs)))
