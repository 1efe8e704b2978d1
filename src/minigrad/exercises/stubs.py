"""The stub that an exercise is given out with: a function or a method that raises ``NotImplementedError()``.

It tells an answer that was never begun from a wrong one. The stub stands in a student's own notebook, so that no list
of an edition can name it: its code is looked at.
"""

from __future__ import annotations

import dis
import itertools
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

KEPT = "__minigrad_stubs__"
"""The name under which a namespace keeps the stubs that `use` has put the library's functions in the place of."""


def is_stub(value: Any) -> bool:
    """Return whether a function, or its code, does nothing but say that it is not implemented."""
    code = value.__code__ if isinstance(value, FunctionType) else value
    if not isinstance(code, CodeType) or code.co_names != ("NotImplementedError",):
        return False
    return not any("JUMP" in each.opname or "FAST" in each.opname for each in dis.get_instructions(code))


def is_unfinished(value: Any) -> bool:
    """Return whether a function, or a method of a class, is a stub or still contains the line of the stub."""
    return is_stub(value) or gives_up(value)


def gives_up(value: Any) -> bool:
    """Return whether code, or that of a function or class, can reach the stub's ``raise NotImplementedError()``.

    An error that gives a reason is the student's own, and what stands behind a ``return`` is out of reach.
    """
    return any(map(_raises_the_stub, codes(value)))


def _raises_the_stub(code: CodeType) -> bool:
    if "NotImplementedError" not in code.co_names:
        return False
    # Without the steps of a call that has no arguments, the exception is raised right after its name is looked up.
    steps = [
        each
        for each in dis.get_instructions(code)
        if each.opname not in ("PRECALL", "PUSH_NULL", "EXTENDED_ARG") and (each.opname, each.arg) != ("CALL", 0)
    ]
    return any(
        name.argval == "NotImplementedError" and (then.opname, then.arg) == ("RAISE_VARARGS", 1)
        for name, then in itertools.pairwise(steps)
    )


def codes(value: Any) -> Iterator[CodeType]:
    """Yield the code of a function, compiled or not, or of a class's methods, and of all functions inside."""
    if isinstance(value, type):
        for member in vars(value).values():
            yield from codes(getattr(member, "__func__", member))
        return
    code = value if isinstance(value, CodeType) else getattr(getattr(value, "__wrapped__", value), "__code__", None)
    if isinstance(code, CodeType):
        yield code
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from codes(constant)
