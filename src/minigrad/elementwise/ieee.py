"""IEEE 754 where Python's arithmetic raises an error: ``1.0 / 0.0`` is an infinity."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from opcode import opmap

__all__ = ["divide_by_zero", "ieee"]

Operator = Callable[..., float]


def ieee(fallback: Callable[..., float | None]) -> Callable[[Operator], Operator]:
    """Let an operator return what IEEE 754 says where Python's arithmetic raises an error.

    Args:
        fallback: Called with the same arguments when Python refuses them. Returns the IEEE value; None where the
            standard has none of its own, so that the error is a mistake in the operator, and stays.

    A ``raise`` statement in the operator is no arithmetic: its error stays too.
    """

    def decorate(operator: Operator) -> Operator:
        @functools.wraps(operator)
        def total(*args: float) -> float:
            try:
                return operator(*args)
            except (ZeroDivisionError, OverflowError, ValueError) as error:
                value = None if _is_raised_by_hand(error) else fallback(*args)
                if value is None:
                    raise
                return value

        # `minigrad.exercises.install` wraps a student's operator in the same way.
        total.__dict__["__minigrad_wrap__"] = ieee(fallback)
        return total

    return decorate


def _is_raised_by_hand(error: BaseException) -> bool:
    """Return whether a ``raise`` statement raised an error, and no operator or function of Python's own."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]


def divide_by_zero(x: float, y: float) -> float | None:
    """The IEEE quotient x / 0: signed infinity, or nan where x is 0 or nan; None where y is not 0."""
    if y != 0.0:
        return None
    return math.nan if x == 0.0 or x != x else math.copysign(math.inf, x) * math.copysign(1.0, y)
