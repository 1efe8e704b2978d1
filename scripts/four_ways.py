"""Measure the four ways to differentiate, and write the table of docs/self-study/four-ways.md.

The function is the product x1 * x2 * ... * xn, whose gradient has n entries: a product of all others in each place.

Usage: python scripts/four_ways.py
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minigrad import Scalar, autodiff, derivatives, dual

PAGE = Path(__file__).parents[1] / "docs" / "self-study" / "four-ways.md"
BEGIN, END = "<!-- table: python scripts/four_ways.py -->", "<!-- end -->"
SIZES = (10, 50)


# --- symbolic: a small expression tree --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Expression:
    """A number, a variable, a sum or a product.

    Attributes:
        operation: ``"number"``, ``"variable"``, ``"+"`` or ``"*"``.
        parts: The number, the variable's place, or the two operands.
    """

    operation: str
    parts: tuple[Any, ...]

    def __add__(self, other: Expression) -> Expression:
        return Expression("+", (self, other))

    def __mul__(self, other: Expression) -> Expression:
        return Expression("*", (self, other))


def number(x: float) -> Expression:
    """Return a constant."""
    return Expression("number", (x,))


def differentiated(e: Expression, place: int) -> Expression:
    """Return the derivative in a variable, as the rules give it."""
    if e.operation == "number":
        return number(0.0)
    if e.operation == "variable":
        return number(float(e.parts[0] == place))
    a, b = e.parts
    da, db = differentiated(a, place), differentiated(b, place)
    return da + db if e.operation == "+" else da * b + a * db


def simplified(e: Expression) -> Expression:
    """Return the expression without sums with 0 and products with 0 or 1."""
    if e.operation not in "+*":
        return e
    a, b = (simplified(part) for part in e.parts)
    zero, one = number(0.0), number(1.0)
    if e.operation == "+":
        return b if a == zero else a if b == zero else a + b
    if zero in (a, b):
        return zero
    return b if a == one else a if b == one else a * b


def evaluated(e: Expression, xs: Sequence[float]) -> float:
    """Return the value of an expression."""
    if e.operation == "number":
        return float(e.parts[0])
    if e.operation == "variable":
        return xs[e.parts[0]]
    a, b = (evaluated(part, xs) for part in e.parts)
    return a + b if e.operation == "+" else a * b


def size(e: Expression) -> int:
    """Return the number of nodes of an expression, written out."""
    return 1 + sum(size(part) for part in e.parts if isinstance(part, Expression))


# --- the four ways ----------------------------------------------------------------------------------------------------


def product(xs: Sequence[Any]) -> Any:
    """Return the product of numbers, of variables or of Duals."""
    total = xs[0]
    for x in xs[1:]:
        total = total * x
    return total


def numerical(xs: list[float]) -> list[float]:
    """Measure each slope."""
    return derivatives.gradient(lambda *ys: product(ys), *xs)


def formulas(n: int) -> list[Expression]:
    """Return the derivative in each variable, simplified."""
    whole = product([Expression("variable", (i,)) for i in range(n)])
    return [simplified(differentiated(whole, i)) for i in range(n)]


def symbolic(xs: list[float]) -> list[float]:
    """Write down a formula for each slope, and evaluate it."""
    return [evaluated(e, xs) for e in formulas(len(xs))]


def forward(xs: list[float]) -> list[float]:
    """Run the function with Duals, once for each variable."""
    unit = [[float(i == j) for j in range(len(xs))] for i in range(len(xs))]
    return [dual.jvp(lambda *ys: product(ys), xs, direction)[1] for direction in unit]


def reverse(xs: list[float]) -> list[float]:
    """Run the function once, and go back once."""
    leaves = [Scalar(x) for x in xs]
    product(leaves).backward()
    return [leaf.grad for leaf in leaves]


WAYS: dict[str, Callable[[list[float]], list[float]]] = {
    "numerical": numerical,
    "symbolic": symbolic,
    "forward": forward,
    "reverse": reverse,
}
CODE: dict[str, list[Any]] = {
    "numerical": [derivatives.central_difference, derivatives.gradient],
    "symbolic": [Expression, number, differentiated, simplified, evaluated],
    "forward": [dual.Dual, dual.Arithmetic, dual.lifted, dual.same_level, dual.jvp],
    "reverse": [autodiff.History, autodiff.chain_rule, autodiff.topological_sort, autodiff.backpropagate],
}


def lines_of(objects: Sequence[Any]) -> int:
    """Return how many lines of code objects have, a statement each, without docstrings and comments."""
    total = 0
    for each in objects:
        tree = ast.parse(textwrap.dedent(inspect.getsource(each)))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
                node.body = node.body[1:] or [ast.Pass()]
        total += sum(bool(line) for line in ast.unparse(tree).splitlines())
    return total


def runs(way: str, n: int) -> str:
    """Say how often the function is computed, or how large its formulas are."""
    whole = size(product([Expression("variable", (i,)) for i in range(n)]))
    return {
        "numerical": f"{2 * n} runs",
        "symbolic": f"{sum(size(e) for e in formulas(n)):,} nodes, from {whole}",
        "forward": f"{n} runs",
        "reverse": "1 run, 1 pass",
    }[way]


def largest_error(way: str, n: int) -> float:
    """Return the largest relative error of a slope."""
    xs = points(n)
    exact = [math.prod(x for j, x in enumerate(xs) if j != i) for i in range(n)]
    return max(abs(a - b) / abs(b) for a, b in zip(WAYS[way](xs), exact, strict=True))


def points(n: int) -> list[float]:
    """Return n numbers around 1."""
    return [1.0 + 0.3 * math.sin(7.0 * i) for i in range(n)]


def milliseconds(way: str, n: int) -> float:
    """Return the shortest of several times."""
    xs, best = points(n), math.inf
    for _ in range(5):
        started = time.perf_counter()
        WAYS[way](xs)
        best = min(best, time.perf_counter() - started)
    return 1e3 * best


def kilobytes(way: str, n: int) -> float:
    """Return the peak of what is allocated."""
    xs = points(n)
    WAYS[way](xs)
    tracemalloc.start()
    WAYS[way](xs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e3


def table() -> list[str]:
    """Return the lines of the page's table."""
    rows = [
        "| way | n | work | largest error | milliseconds | peak, kB | lines of code |",
        "|---|---|---|---|---|---|---|",
    ]
    for n in SIZES:
        for way in WAYS:
            error = largest_error(way, n)
            shown = "none" if error == 0.0 else f"{error:.0e}"
            rows.append(
                f"| {way} | {n} | {runs(way, n)} | {shown} | {milliseconds(way, n):.2f} | {kilobytes(way, n):.0f} "
                f"| {lines_of(CODE[way])} |"
            )
    return rows


def main() -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text("\n".join([before + BEGIN, "", *table(), "", END + after]), encoding="utf-8")
    print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
