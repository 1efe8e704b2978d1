"""Turns an expression of operators into the lines of a kernel.

    ("mul", ("in", 0), ("exp", ("in", 1)))     ->     t0 = exp(v1)
                                                      t1 = v0 * t0

An operator that has a line (see `operators.Form`) is written as that line. Any other is the function of
`minigrad.operators` with that name, or a function given in its place, compiled as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import operators

if TYPE_CHECKING:
    from minigrad.operators import Expression


def compute_dtype(inputs: Sequence[Any], dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which an expression is computed.

    It is the result's; for results of comparisons, what the inputs have in common (arrays without axes and Python
    numbers count only where there is nothing else).
    """
    if dtype != np.bool_:
        return dtype
    arrays = [x for x in inputs if isinstance(x, np.ndarray)]
    common = np.result_type(*[x.dtype for x in [a for a in arrays if a.ndim] or arrays])
    if common.kind == "f":
        return common
    whole = all(isinstance(x, np.ndarray | np.integer | int) for x in inputs)
    return np.dtype(np.int64 if whole else np.float64)


DEAR = ("erf", "exp", "log", "math_", "sigmoid", "softplus", "tanh")
"""Functions that take longer than arithmetic, and with erfc, expm1 and log1p those that begin with one of them."""


class Formula:
    """The body of a loop: lines that compute one element, and the names that they use.

    Attributes:
        lines: Assignments, in an order in which they can run.
        names: The name of each value that is known already; more may be added for inputs.
        result: The name of the value of the expression that it was made of.
        constants: The names given to numbers.
        functions: The names given to functions that have no line.
    """

    def __init__(self, expression: Expression | None, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}
        self.functions: dict[str, Callable[..., float]] = {}
        self.names: dict[Any, str] = {}
        self.result = "" if expression is None else self.write(expression)

    def write(self, expression: Expression) -> str:
        """Return the name of an expression's value, after writing its computation, each common part once."""
        key = repr(expression) if expression[0] == "const" else expression  # 0.0 and -0.0 are equal, but not the same
        if key not in self.names:
            self.names[key] = self._write_new(expression)
        return self.names[key]

    def _write_new(self, expression: Expression) -> str:
        kernel, *args = expression
        if kernel == "in":
            return f"v{args[0]}"
        if kernel == "const":
            return self._constant(args[0])
        form = self.form(kernel, args)
        text = form.format(*[self.write(a) for a in args])
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def _constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = self.dtype.type(value)
        return name

    def form(self, kernel: Any, args: Sequence[Any]) -> str:
        """Return the text of an operator with ``{0}``, ``{1}``, ... for its inputs."""
        form, floating = operators.FORMS.get(kernel, operators.Form()), self.dtype.kind == "f"
        if floating and form.powers and args[1][0] == "const" and float(args[1][1]) in form.powers:
            return form.powers[float(args[1][1])]
        return (form.float_line if floating else "") or form.line or self._function(kernel, len(args))

    def _function(self, kernel: Any, arity: int) -> str:
        """Call the operator itself. Its result becomes a number of the loop's dtype."""
        function = kernel if callable(kernel) else getattr(operators, kernel)
        name = f"f{len(self.functions)}"
        self.functions[name] = function
        return f"number({name}({', '.join(f'{{{i}}}' for i in range(arity))}))"

    @property
    def weight(self) -> int:
        """Return how many functions such as exp there are; arithmetic takes less time than reading and writing."""
        return max(sum(line.count(name) for line in self.lines for name in DEAR), 1)

    @property
    def complete(self) -> bool:
        """Return whether the text alone determines the computation."""
        return not self.functions

    @property
    def described(self) -> str:
        """A comment on what names stand for: numbers to the last bit, functions by identity within this process."""
        facts = [f"{name} = {self.dtype}({_exactly(value)})" for name, value in self.constants.items()]
        facts += [f"{name} = {getattr(f, '__name__', f)} {id(f)}" for name, f in self.functions.items()]
        return f"# where {', '.join(facts)}\n" if facts else ""

    def scope(self) -> dict[str, Any]:
        """Return what the lines refer to beside instructions."""
        from minigrad.backends.numba import vector
        from minigrad.backends.numba.intrinsics import Cast

        number = self.dtype.type
        names: dict[str, Any] = {"number": Cast(number), "zero": number(0), "one": number(1), **self.constants}
        if self.dtype.kind == "f":
            names |= {"half": number(0.5), "root_half": number(math.sqrt(0.5)), **vector.functions(self.dtype)}
        if self.functions:
            from minigrad.backends.numba.pipeline import called

            names |= {name: called(f, self.dtype) for name, f in self.functions.items()}
        return names


def _exactly(value: Any) -> str:
    return float(value).hex() if isinstance(value, np.floating) else str(int(value))
