"""Random programs of transforms inside transforms, written once and run by minigrad and by JAX.

A program is a small tree of functions. Each has an argument, uses values of the functions around it, and is handed to a
transform, a loop, a choice or a rule. Its text uses names that each library's namespace gives. The reference is JAX
without compilation: there ``jit`` and ``checkpoint`` return their function; ``vmap``, ``cond`` and the loops are
Python's.

PYTHONPATH=src:tests/minigrad/transforms python -m nested_programs --count 2000 --seed 0
"""

from __future__ import annotations

import argparse
import collections
import functools
import itertools
import linecache
import random
import re
import time
import traceback
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = ((), (2,), (3,), (2, 3))
WAYS = ("closure", "default", "partial", "attribute", "list", "dict", "kept")
DERIVATIVES = ("grad", "value_and_grad", "jvp", "vjp", "jacfwd", "jacrev", "hessian", "hvp", "linearize")
WRAPS = ("jit", "checkpoint")
CALLS = (*DERIVATIVES, "vmap", *WRAPS, "cond", "guard", "scan", "fori_loop", "while_loop", "functional_call")
RULES = ("custom_vjp", "custom_jvp")
SMOOTH = {
    "sin": lambda x: f"sin({x})",
    "cos": lambda x: f"cos({x})",
    "tanh": lambda x: f"tanh({x})",
    "bell": lambda x: f"exp(-{x} * {x})",
    "root": lambda x: f"sqrt({x} * {x} + 0.7)",
    "log": lambda x: f"log({x} * {x} + 0.9)",
    "square": lambda x: f"({x} * {x})",
    "inverse": lambda x: f"(1.0 / (1.3 + {x} * {x}))",
}


@dataclass(frozen=True)
class Expression:
    """A value: an operation on other values, or a function under a transform.

    Attributes:
        op: Its name.
        shape: Of the value.
        parts: The values that it is computed from.
        functions: The functions that are handed to a transform, a loop or a choice.
        data: A number, the name of a variable, or how something is called.
    """

    op: str
    shape: Shape
    parts: tuple[Expression, ...] = ()
    functions: tuple[Function, ...] = ()
    data: Any = None


@dataclass(frozen=True)
class Function:
    """A function inside of a program.

    Attributes:
        number: Its name is "f" with this number.
        parameters: Names and shapes.
        body: What it returns.
        way: How it gets the values of functions around it.
        wraps: "jit" and "checkpoint" put around it.
    """

    number: int
    parameters: tuple[tuple[str, Shape], ...]
    body: tuple[Expression, ...]
    way: str
    wraps: tuple[str, ...] = ()


def free(node: Expression | Function) -> dict[str, Shape]:
    """Return the variables that an expression or a function takes from outside."""
    if isinstance(node, Function):
        inside = {name: shape for each in node.body for name, shape in free(each).items()}
        own = {name for name, _ in node.parameters}
        return {name: shape for name, shape in inside.items() if name not in own}
    if node.op == "variable":
        return {node.data: node.shape}
    found: dict[str, Shape] = {}
    for each in (*node.parts, *node.functions):
        found |= free(each)
    return found


# Drawing programs


class Drawing:
    """Draws programs from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.count = itertools.count(1)

    def program(self, depth: int) -> Function:
        """Return a function of one variable, with calls of functions nested to a depth."""
        shape = self.rng.choice(SHAPES)
        result = self.rng.choice(SHAPES)
        body = self.call(result, {"x0": shape}, depth)
        return Function(0, (("x0", shape),), (body,), "closure")

    def leaf(self, shape: Shape, scope: dict[str, Shape]) -> Expression:
        """Return a variable of a shape, or one made to have it, or numbers."""
        rng = self.rng
        names = list(scope)
        weights = [1 + 2 * n for n in range(len(names))]  # variables of inner functions more often
        if rng.random() < 0.9:
            name = rng.choices(names, weights)[0]
            return self.shaped(Expression("variable", scope[name], data=name), shape)
        return self.numbers(shape)

    def numbers(self, shape: Shape) -> Expression:
        """Return constants."""
        numbers = np.round(np.random.default_rng(self.rng.randrange(10**6)).uniform(-1.2, 1.2, shape), 2)
        return Expression("numbers", shape, data=numbers.tolist())

    def shaped(self, x: Expression, shape: Shape) -> Expression:
        """Return a value of a shape that depends on all or some elements of a value."""
        rng = self.rng
        if x.shape == shape:
            return x
        if x.shape == (2, 3) and len(shape) == 1:
            axis = 0 if shape == (3,) else 1
            if rng.random() < 0.5:
                return Expression("sum_axis", shape, (x,), data=axis)
            return Expression("take", shape, (x,), data=("0", ":, 1")[axis])
        if shape == ():
            kind = rng.random()
            if kind < 0.35:
                return Expression("take", (), (x,), data="1" if len(x.shape) == 1 else "1, 2")
            if kind < 0.55 and len(x.shape) == 1:
                return Expression("dot", (), (x, self.numbers(x.shape)))
            return Expression("sum", (), (x,))
        if x.shape == () or (shape == (2, 3) and x.shape == (3,)):
            return Expression("mul", shape, (x, self.numbers(shape)))
        return self.shaped(Expression("sum", (), (x,)), shape)

    def smooth(self, shape: Shape, scope: dict[str, Shape], size: int) -> Expression:
        """Return elementwise and folded operations on variables."""
        rng = self.rng
        if size <= 0:
            return self.leaf(shape, scope)
        kind = rng.random()
        if kind < 0.35:
            return Expression(rng.choice(list(SMOOTH)), shape, (self.smooth(shape, scope, size - 1),))
        if kind < 0.75:
            a, b = (self.smooth(shape, scope, size - 1) for _ in range(2))
            return Expression(rng.choice(["add", "sub", "mul", "mul"]), shape, (a, b))
        if kind < 0.83:
            test = self.leaf((), scope)
            a, b = (self.smooth(shape, scope, size - 1) for _ in range(2))
            return Expression("where", shape, (test, a, b), data=self.bound())
        if kind < 0.9 and shape == ():
            other = rng.choice([(2,), (3,)])
            return Expression("dot", (), tuple(self.smooth(other, scope, size - 1) for _ in range(2)))
        if kind < 0.95 and shape == (2,):
            return Expression("dot", (2,), (self.leaf((2, 3), scope), self.smooth((3,), scope, size - 1)))
        return self.shaped(self.smooth(rng.choice(SHAPES), scope, size - 1), shape)

    def bound(self) -> float:
        return round(self.rng.uniform(-0.8, 0.8), 3)

    def tied(self, body: Expression, scope: dict[str, Shape], own: str) -> Expression:
        """Return a body that depends on the function's own variable, and mostly on one from outside."""
        found = free(body)
        outside = [name for name in scope if name != own]
        for name in (own, self.rng.choice(outside) if outside and self.rng.random() < 0.9 else own):
            if name not in found:
                x = self.shaped(Expression("variable", scope[name], data=name), body.shape)
                body = Expression("mul", body.shape, (body, Expression("sin", body.shape, (x,))))
        return body

    def body(self, shape: Shape, scope: dict[str, Shape], depth: int, own: str) -> Expression:
        """Return what a function computes of its variable and those around it."""
        if depth == 0:
            found = self.smooth(shape, scope, self.rng.choice([1, 2, 2, 3]))
        else:
            found = self.call(shape, scope, depth - 1)
            kind = self.rng.random()
            if kind < 0.3:
                found = Expression("mul", shape, (found, self.leaf(shape, scope)))
            elif kind < 0.5:
                found = Expression("add", shape, (self.smooth(shape, scope, 1), found))
            elif kind < 0.6:
                found = Expression("sin", shape, (found,))
        return self.tied(found, scope, own)

    def function(
        self, result: Shape, shapes: tuple[Shape, ...], scope: dict[str, Shape], depth: int, way: str = ""
    ) -> Function:
        """Return a function of variables of some shapes."""
        number = next(self.count)
        names = [f"x{number}", *(f"x{number}_{n}" for n in range(1, len(shapes)))]
        parameters = tuple(zip(names, shapes, strict=True))
        body = self.body(result, scope | dict(parameters), depth, names[0])
        wraps = tuple(self.rng.choices(WRAPS, [3, 1], k=1)) if self.rng.random() < 0.35 else ()
        return Function(number, parameters, (body,), way or self.rng.choice(WAYS), wraps)

    def call(self, shape: Shape, scope: dict[str, Shape], depth: int) -> Expression:
        """Return the value of a function under a transform, or in a loop or a choice."""
        kind = self.rng.choice([*CALLS, *RULES]) if depth == 0 else self.rng.choice(CALLS)
        return getattr(self, f"call_{kind}", functools.partial(self.derivative, kind))(shape, scope, depth)

    def argument(self, shape: Shape, scope: dict[str, Shape]) -> Expression:
        x = self.leaf(shape, scope)
        return Expression(self.rng.choice(["sin", "mul_number"]), shape, (x,)) if self.rng.random() < 0.4 else x

    def extra(self, scope: dict[str, Shape]) -> tuple[Expression, ...]:
        """Return a second argument, in some cases."""
        return (self.argument(self.rng.choice(SHAPES), scope),) if self.rng.random() < 0.2 else ()

    def derivative(self, kind: str, shape: Shape, scope: dict[str, Shape], depth: int) -> Expression:
        rng = self.rng
        given = rng.choice([(), (2,), (3,)]) if kind in ("jacfwd", "jacrev", "hessian") else rng.choice(SHAPES)
        if kind in ("grad", "value_and_grad", "vjp", "hvp") and rng.random() < 0.7:
            given = shape
        result: Shape = ()
        if kind in ("jvp", "linearize"):
            result = shape
        elif kind in ("vjp", "jacfwd", "jacrev"):
            result = rng.choice([(), (2,), (3,)])
        found = {"jvp": result, "linearize": result, "hessian": given * 2, "jacfwd": result + given}
        found["jacrev"] = found["jacfwd"]
        parts: tuple[Expression, ...] = (self.argument(given, scope),)
        if kind in ("jvp", "linearize", "hvp"):
            parts += (self.argument(given, scope),)
        elif kind == "vjp":
            parts += (self.argument(result, scope),)
        else:
            parts += self.extra(scope)
        extra = tuple(x.shape for x in parts[1:]) if kind not in ("jvp", "linearize", "hvp", "vjp") else ()
        fun = self.function(result, (given, *extra), scope, depth)
        around = rng.choice(["", "", "", *WRAPS]) if kind in ("grad", "value_and_grad", "jacfwd", "jacrev") else ""
        value = Expression(kind, found.get(kind, given), parts, (fun,), around)
        return self.made(value, shape)

    def made(self, x: Expression, shape: Shape) -> Expression:
        """Return a value of a shape made of a derivative of any shape."""
        if x.shape in SHAPES and x.shape != ():
            return self.shaped(x, shape)
        if x.shape != ():
            x = Expression("weighted", (), (x,))
        return x if shape == () else Expression("mul", shape, (x, self.numbers(shape)))

    def call_vmap(self, shape: Shape, scope: dict[str, Shape], depth: int) -> Expression:
        rng = self.rng
        batches: dict[int, list[tuple[Shape, Shape, int]]] = {
            2: [((2,), (), 0), ((2, 3), (3,), 0)],
            3: [((3,), (), 0), ((2, 3), (2,), 1)],
        }
        count = shape[0] if shape else rng.choice([2, 3])
        batch, given, axis = rng.choice(batches[count])
        result = shape[1:] if shape else rng.choice([(), (3,)] if count == 2 else [()])
        parts = (self.argument(batch, scope), *self.extra(scope))
        fun = self.function(result, (given, *(x.shape for x in parts[1:])), scope, depth)
        around = rng.choice(["", "", *WRAPS])
        value = Expression("vmap", (count, *result), parts, (fun,), (axis, around))
        return value if shape else Expression("sum", (), (value,))

    def call_jit(self, shape: Shape, scope: dict[str, Shape], depth: int, wrap: str = "jit") -> Expression:
        parts = (self.argument(self.rng.choice(SHAPES), scope), *self.extra(scope))
        fun = self.function(shape, tuple(x.shape for x in parts), scope, depth)
        return Expression("call", shape, parts, (replace(fun, wraps=(wrap,)),))

    def call_checkpoint(self, shape: Shape, scope: dict[str, Shape], depth: int) -> Expression:
        return self.call_jit(shape, scope, depth, "checkpoint")

    def call_cond(self, shape: Shape, scope: dict[str, Shape], depth: int) -> Expression:
        given = self.rng.choice(SHAPES)
        test = self.leaf((), scope)
        argument = self.argument(given, scope)
        first = self.function(shape, (given,), scope, depth)
        second = self.function(shape, (given,), scope, 0)
        functions = (first, second) if self.rng.random() < 0.5 else (second, first)
        return Expression("cond", shape, (test, argument), functions, self.bound())

    def call_guard(self, shape: Shape, scope: dict[str, Shape], depth: int) -> Expression:
        """Return a choice whose branch that is not taken has no finite derivative."""
        rng = self.rng
        kind = rng.choice(["sqrt", "log", "norm"])
        given: Shape = rng.choice([(2,), (3,)]) if kind == "norm" else ()
        argument = self.leaf(given, scope)
        number, scope = next(self.count), dict(scope)
        name = f"x{number}"
        scope[name] = given
        own = Expression("variable", given, data=name)
        body = Expression(f"bare_{kind}", given, (own,))
        outside = self.smooth(given, scope, 1)
        body = self.shaped(Expression("mul", given, (body, Expression("cos", given, (outside,)))), shape)
        first = Function(number, ((name, given),), (body,), rng.choice(WAYS))
        second = self.function(shape, (given,), {k: v for k, v in scope.items() if k != name}, depth)
        return Expression("guard", shape, (argument,), (first, second))

    def call_scan(self, shape: Shape, scope: dict[str, Shape], depth: int) -> Expression:
        row: Shape = self.rng.choice([(), (3,)])
        xs = self.argument((2, *row), scope)
        init = self.argument(shape, scope)
        number = next(self.count)
        names = (f"x{number}", f"x{number}_1")
        inside = scope | {names[0]: shape, names[1]: row}
        carry = self.body(shape, inside, depth, names[0])
        collected = self.smooth((), inside, 1)
        parameters = ((names[0], shape), (names[1], row))
        fun = Function(number, parameters, (Expression("tanh", shape, (carry,)), collected), self.rng.choice(WAYS))
        return Expression("scan", shape, (init, xs), (fun,), self.rng.choice([False, True]))

    def call_fori_loop(self, shape: Shape, scope: dict[str, Shape], depth: int) -> Expression:
        init = self.argument(shape, scope)
        fun = self.function(shape, (shape,), scope, depth)
        body = (Expression("tanh", shape, fun.body),)
        return Expression("fori_loop", shape, (init,), (replace(fun, wraps=(), body=body),))

    def call_while_loop(self, shape: Shape, scope: dict[str, Shape], depth: int) -> Expression:
        init = self.argument(shape, scope)
        fun = self.function(shape, (shape,), scope, depth)
        body = (Expression("tanh", shape, fun.body),)
        number = next(self.count)
        name = f"x{number}"
        inside = scope | {name: shape}
        number_of = self.shaped(Expression("variable", shape, data=name), ())
        test = Expression("sub", (), (number_of, self.leaf((), inside)))
        condition = Function(number, ((name, shape),), (test,), self.rng.choice(WAYS))
        return Expression("while_loop", shape, (init,), (replace(fun, wraps=(), body=body), condition), self.bound())

    def call_functional_call(self, shape: Shape, scope: dict[str, Shape], depth: int) -> Expression:
        weight: Shape = self.rng.choice([(), (3,), (2, 3)])
        given = self.rng.choice(SHAPES)
        parts = (self.argument(weight, scope), self.argument(given, scope))
        fun = self.function(shape, (weight, given), scope, depth)
        return Expression("functional_call", shape, parts, (replace(fun, wraps=()),))

    def call_custom_vjp(
        self, shape: Shape, scope: dict[str, Shape], depth: int, kind: str = "custom_vjp"
    ) -> Expression:
        """Return an elementwise function with a rule, which takes a value from outside where it may.

        The ways: the value is an "argument"; the "function" and the rule close over it; the "rule" alone does, and is
        no derivative of the function then; the rule hands it on in what it keeps, "kept".
        """
        way = self.rng.choice(["argument", "function", "rule", "kept"])
        parts = (self.argument(shape, scope), self.leaf((), scope))
        return Expression(kind, shape, parts, (), (next(self.count), way, self.rng.choice(["sine", "square"])))

    def call_custom_jvp(self, shape: Shape, scope: dict[str, Shape], depth: int) -> Expression:
        return self.call_custom_vjp(shape, scope, depth, "custom_jvp")


def draw(seed: int) -> Function:
    """Return the program of a seed; the first ones are small."""
    depth = (0, 1, 1, 2, 2, 2)[seed % 6]
    return Drawing(seed).program(depth)


# Writing programs


class Text:
    """The text of a program."""

    def __init__(self, program: Function, outermost: str = "") -> None:
        self.top: list[str] = []
        self.count = itertools.count(1)
        lines: list[str] = []
        (name, _), scope = program.parameters[0], {}
        scope[name] = name
        result = self.value(program.body[0], scope, lines)
        lines.append(f"return {result}")
        self.text = "\n".join([*self.top, f"def program({name}):", *indented(lines)])
        if outermost:
            call = f"backward(lambda x: ({wrapped('program', outermost)}(x) * 0.5).sum())"
            self.text += f"\nmain = {call}"
        else:
            self.text += "\nmain = program"

    def value(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        """Return an expression's text; what has to stand before it goes into lines."""
        write = getattr(self, f"write_{e.op}", None)
        if write is not None:
            return str(write(e, scope, lines))
        if e.op == "variable":
            return scope[e.data]
        if e.op == "numbers":
            return f"tensor({e.data})"
        parts = [self.value(x, scope, lines) for x in e.parts]
        if e.op in SMOOTH:
            inner = parts[0]
            if not re.fullmatch(r"\w+", inner) and SMOOTH[e.op]("x").count("x") > 1 and e.op in OFTEN:
                name = f"t{next(self.count)}"
                lines.append(f"{name} = {inner}")
                inner = name
            return SMOOTH[e.op](inner)
        return FORMS[e.op](parts, e.data)

    def call(self, e: Expression, scope: dict[str, str], lines: list[str]) -> tuple[list[str], list[str]]:
        """Return the texts of an expression's functions and of its arguments."""
        parts = [self.value(x, scope, lines) for x in e.parts]
        return [self.function(f, scope, lines) for f in e.functions], parts

    def function(self, f: Function, scope: dict[str, str], lines: list[str]) -> str:
        """Write a function, and return what calls it."""
        name, outside = f"f{f.number}", list(free(f))
        own = [p for p, _ in f.parameters]
        inside = dict(scope) if f.way == "closure" else {}
        inside |= {p: p for p in own}
        signature, called, place = list(own), name, lines
        if f.way == "default":
            signature += [f"{v}={scope[v]}" for v in outside]
        elif f.way == "partial" and outside:
            signature = [*outside, *own]
            called = f"partial({', '.join([name, *(scope[v] for v in outside)])})"
        elif f.way in ("attribute", "kept") and outside:
            box = f"box{f.number}"
            target = self.top if f.way == "kept" else lines
            target.append(f"{box} = Box()")
            lines += [f"{box}.{v} = {scope[v]}" for v in outside]
            inside |= {v: f"{box}.{v}" for v in outside}
            place = target
        elif f.way in ("list", "dict") and outside:
            box, several = f"box{f.number}", f.way == "list"
            values = [scope[v] if several else f"{v!r}: {scope[v]}" for v in outside]
            opening, closing = "[]" if several else "{}"
            lines.append(f"{box} = {opening}{', '.join(values)}{closing}")
            inside |= {v: f"{box}[{n if several else repr(v)}]" for n, v in enumerate(outside)}
        if f.way in ("default", "partial"):
            inside |= {v: v for v in outside}
        body: list[str] = []
        results = [self.value(e, inside, body) for e in f.body]
        body.append(f"return {', '.join(results)}")
        place += [f"def {name}({', '.join(signature)}):", *indented(body)]
        if f.wraps:
            name = f"g{f.number}"
            place.append(f"{name} = {wrapped(called, *f.wraps)}")
            return name
        return called

    def around(self, text: str, around: str) -> str:
        return wrapped(text, around) if around else text

    def write_derivative(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f,), parts = self.call(e, scope, lines)
        return f"{self.around(f'{e.op}({f})', e.data)}({', '.join(parts)})"

    write_grad = write_jacfwd = write_jacrev = write_hessian = write_derivative

    def write_value_and_grad(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        return f"product({self.write_derivative(e, scope, lines)})"

    def write_jvp(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f,), (x, change) = self.call(e, scope, lines)
        return f"jvp({f}, ({x},), ({change},))[1]"

    def write_vjp(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f,), (x, cotangent) = self.call(e, scope, lines)
        return f"vjp({f}, {x})[1]({cotangent})[0]"

    def write_hvp(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f,), (x, vector) = self.call(e, scope, lines)
        return f"hvp({f}, ({x},), ({vector},))"

    def write_linearize(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f,), (x, change) = self.call(e, scope, lines)
        return f"linearize({f}, {x})[1]({change})"

    def write_vmap(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f,), parts = self.call(e, scope, lines)
        axis, around = e.data
        in_axes = "" if (axis, len(parts)) == (0, 1) else f", ({', '.join([str(axis), *['None'] * (len(parts) - 1)])},)"
        return f"{self.around(f'vmap({f}{in_axes})', around)}({', '.join(parts)})"

    def write_call(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f,), parts = self.call(e, scope, lines)
        return f"{f}({', '.join(parts)})"

    def write_cond(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f, g), (test, x) = self.call(e, scope, lines)
        return f"cond({test} > {e.data}, {f}, {g}, {x})"

    def write_guard(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f, g), (x,) = self.call(e, scope, lines)
        test = f"({x} * {x}).sum() > 0.0" if e.parts[0].shape else f"{x} > 0.0"
        return f"cond({test}, {f}, {g}, {x})"

    def write_scan(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f,), (init, xs) = self.call(e, scope, lines)
        name = f"t{next(self.count)}"
        lines.append(f"{name} = scan({f}, {init}, {xs}{', reverse=True' if e.data else ''})")
        return f"({name}[0] + {name}[1].sum())"

    def write_fori_loop(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f,), (init,) = self.call(e, scope, lines)
        return f"fori_loop(0, 2, lambda i, v: {f}(v), {init})"

    def write_while_loop(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f, g), (init,) = self.call(e, scope, lines)
        goes_on = f"lambda v: (v[0] < 3) & ({g}(v[1]) < {e.data})"
        return f"while_loop({goes_on}, lambda v: (v[0] + 1, {f}(v[1])), (whole(0), {init}))[1]"

    def write_functional_call(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        (f,), (weight, x) = self.call(e, scope, lines)
        name = f"net{e.functions[0].number}"
        zeros = np.zeros(e.parts[0].shape).tolist()
        lines += [
            f"class Net{name[3:]}(Module):",
            "    def __init__(self):",
            "        super().__init__()",
            f"        self.weight = Parameter(tensor({zeros}))",
            "    def forward(self, x):",
            f"        return {f}(self.weight, x)",
            f"{name} = Net{name[3:]}()",
        ]
        return f"functional_call({name}, {{'weight': {weight}}}, ({x},))"

    def write_custom_vjp(self, e: Expression, scope: dict[str, str], lines: list[str]) -> str:
        x, k = (self.value(part, scope, lines) for part in e.parts)
        number, way, kind = e.data
        if not re.fullmatch(r"\w+", k):
            lines.append(f"k{number} = {k}")
            k = f"k{number}"
        named = "k" if way in ("argument", "kept") else k
        value, slope, by_k = (re.sub(r"\bk\b", named, each) for each in ELEMENTWISE[kind])
        if way in ("rule", "kept"):
            value = "sin(x)"
        x_and_k = "x, k" if way == "argument" else "x"
        h = f"h{number}"
        lines += [f"@{e.op}", f"def {h}({x_and_k}):", f"    return {value}"]
        if e.op == "custom_vjp":
            if way == "argument":
                kept, got, returned = "(x, k)", "x, k = kept", f"{slope} * c, ({by_k} * c).sum()"
            elif way == "kept":
                kept, got, returned = f"(x, {k})", "x, k = kept", f"{slope} * c,"
            else:
                kept, got, returned = "x", "x = kept", f"{slope} * c,"
            lines += [
                f"def fwd{number}({x_and_k}):",
                f"    return {h}({x_and_k}), {kept}",
                f"def bwd{number}(kept, c):",
                f"    {got}",
                f"    return ({returned})",
                f"{h}.defvjp(fwd{number}, bwd{number})",
            ]
        else:
            change = f"{slope} * dx"
            if way == "argument":
                change += f" + {by_k} * dk"
            names, changes = ("(x, k)", "(dx, dk)") if way == "argument" else ("(x,)", "(dx,)")
            lines += [
                f"@{h}.defjvp",
                f"def rule{number}(primals, tangents):",
                f"    {names}, {changes} = primals, tangents",
                f"    return {h}({x_and_k}), {change}",
            ]
        return f"{h}({x}, {k})" if way == "argument" else f"{h}({x})"

    write_custom_jvp = write_custom_vjp


OFTEN = ("bell", "root", "log", "square", "inverse")
ELEMENTWISE = {
    "sine": ("sin(k * x)", "k * cos(k * x)", "x * cos(k * x)"),
    "square": ("(k * x * x)", "2.0 * k * x", "x * x"),
}
FORMS = {
    "add": lambda p, d: f"({p[0]} + {p[1]})",
    "sub": lambda p, d: f"({p[0]} - {p[1]})",
    "mul": lambda p, d: f"({p[0]} * {p[1]})",
    "mul_number": lambda p, d: f"({p[0]} * 0.7)",
    "where": lambda p, d: f"where({p[0]} > {d}, {p[1]}, {p[2]})",
    "dot": lambda p, d: f"({p[0]} @ {p[1]})",
    "sum": lambda p, d: f"{p[0]}.sum()",
    "sum_axis": lambda p, d: f"{p[0]}.sum({d})",
    "take": lambda p, d: f"{p[0]}[{d}]",
    "weighted": lambda p, d: f"weighted({p[0]})",
    "bare_sqrt": lambda p, d: f"sqrt({p[0]})",
    "bare_log": lambda p, d: f"log({p[0]})",
    "bare_norm": lambda p, d: f"({p[0]} / sqrt(({p[0]} * {p[0]}).sum()))",
}


def wrapped(text: str, *wraps: str) -> str:
    for wrap in wraps:
        text = f"{wrap}({text})"
    return text


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


# Running programs


class Box:
    """An object with attributes."""


def common(tensor: Any) -> dict[str, Any]:
    """Return the names that both libraries share."""

    def weighted(x: Any) -> Any:
        return (x * tensor(np.cos(np.arange(int(np.prod(x.shape)))).reshape(x.shape))).sum()

    return {
        "Box": Box,
        "partial": functools.partial,
        "weighted": weighted,
        "product": lambda pair: pair[0] * pair[1],
        "tensor": tensor,
    }


def of_minigrad() -> dict[str, Any]:
    """Return minigrad's names."""
    import minigrad as mg
    from minigrad import transforms
    from minigrad.graph import cond, fori_loop, scan, while_loop
    from minigrad.nn import functional_call

    def backward(f: Any) -> Any:
        def derivative(x: Any) -> Any:
            leaf = x.detach().clone().requires_grad_()
            y = f(leaf)
            if y.requires_grad:  # else it must not depend on the leaf, which the reference tells
                y.backward()
            return mg.zeros_like(x) if leaf.grad is None else leaf.grad

        return derivative

    names = common(lambda values: mg.tensor(np.array(values, dtype=np.float64)))
    for name in ("sin", "cos", "tanh", "exp", "log", "sqrt"):
        names[name] = functools.partial(lambda name, x: getattr(x, name)(), name)
    for name in (*DERIVATIVES, "vmap", "checkpoint", *RULES):
        names[name] = getattr(transforms, name)
    names |= {"jit": mg.jit, "cond": cond, "fori_loop": fori_loop, "scan": scan, "while_loop": while_loop}
    names |= {"functional_call": functional_call, "Module": mg.nn.Module, "Parameter": mg.nn.Parameter}
    return names | {"where": mg.where, "backward": backward, "whole": lambda n: mg.tensor(n)}


class Plain:
    """A function whose rule is its derivative, without the rule."""

    def __init__(self, fun: Any) -> None:
        self.fun = fun

    def __call__(self, *args: Any) -> Any:
        return self.fun(*args)

    def defvjp(self, fwd: Any, bwd: Any) -> None:
        """Forget a rule."""

    def defjvp(self, rule: Any) -> Any:
        """Forget a rule."""
        return rule


class Net:
    """A module with one weight, for JAX."""

    def __init__(self) -> None:
        pass


def functional_call_of_jax(net: Any, parameters: dict[str, Any], args: tuple[Any, ...]) -> Any:
    before, net.weight = net.weight, parameters["weight"]
    try:
        return net.forward(*args)
    finally:
        net.weight = before


def of_jax() -> dict[str, Any]:
    """Return JAX's names, as they are."""
    import jax
    from jax import lax

    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    names = common(lambda values: jnp.asarray(np.array(values, dtype=np.float64)))
    for name in ("sin", "cos", "tanh", "exp", "log", "sqrt", "where"):
        names[name] = getattr(jnp, name)
    for name in DERIVATIVES:
        names[name] = getattr(jax, name, None)
    names["hvp"] = lambda f, x, v: jax.jvp(jax.grad(f), x, v)[1]
    for name in ("vmap", "jit", "checkpoint", *RULES):
        names[name] = getattr(jax, name)
    for name in ("cond", "fori_loop", "scan", "while_loop"):
        names[name] = getattr(lax, name)
    names |= {"functional_call": functional_call_of_jax, "Module": Net, "Parameter": lambda x: x}
    return names | {"backward": jax.grad, "whole": jnp.asarray}


def of_reference(has_own_rules: bool) -> dict[str, Any]:
    """Return JAX's names for derivatives, and Python's loops and choices.

    Args:
        has_own_rules: Whether rules differ from derivatives, so that they have to be used.
    """
    names = of_jax()
    import jax

    stack = jax.numpy.stack

    def vmap(f: Any, in_axes: Any = 0) -> Any:
        def mapped(*args: Any) -> Any:
            axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
            count = next(x.shape[a] for x, a in zip(args, axes, strict=True) if a is not None)
            return stack(
                [
                    f(*[x if a is None else x[(slice(None),) * a + (n,)] for x, a in zip(args, axes, strict=True)])
                    for n in range(count)
                ]
            )

        return mapped

    def scan(f: Any, init: Any, xs: Any, reverse: bool = False) -> Any:
        collected = []
        for x in reversed(list(xs)) if reverse else list(xs):
            init, y = f(init, x)
            collected.append(y)
        return init, stack(collected[::-1] if reverse else collected)

    def fori_loop(lower: int, upper: int, f: Any, value: Any) -> Any:
        for i in range(lower, upper):
            value = f(i, value)
        return value

    def while_loop(goes_on: Any, f: Any, value: Any) -> Any:
        while goes_on(value):
            value = f(value)
        return value

    names |= {"vmap": vmap, "scan": scan, "fori_loop": fori_loop, "while_loop": while_loop}
    names |= {"jit": lambda f: f, "checkpoint": lambda f: f}
    names["cond"] = lambda test, f, g, *xs: f(*xs) if test else g(*xs)
    if not has_own_rules:
        names |= dict.fromkeys(RULES, Plain)
    return names


@functools.cache
def namespaces() -> dict[str, dict[str, Any]]:
    """Return what the names of a program stand for."""
    return {"minigrad": of_minigrad(), "jax": of_jax(), "plain": of_reference(False), "rules": of_reference(True)}


def points(program: Function, seed: int) -> list[np.ndarray[Any, Any]]:
    """Return two arguments, the first with a zero."""
    rng = np.random.default_rng(seed)
    shape = program.parameters[0][1]
    first, second = (np.round(rng.uniform(-1.0, 1.0, shape), 3) for _ in range(2))
    if shape:
        first[(0,) * len(shape)] = 0.0
    if len(shape) == 2:
        first[1] = 0.0
    return [first, second]


def has_own_rules(e: Expression) -> bool:
    """Return whether a rule in a program is no derivative."""
    below = [*e.parts, *(each for f in e.functions for each in f.body)]
    return (e.op in RULES and e.data[1] in ("rule", "kept")) or any(map(has_own_rules, below))


def values(text: str, library: str, given: list[Any]) -> list[Any]:
    """Return what a program gives at some arguments, one call after the other."""
    names = dict(namespaces()[library])
    linecache.cache["<program>"] = (len(text), None, text.splitlines(keepends=True), "<program>")
    exec(compile(text, "<program>", "exec"), names)
    found = []
    for x in given:
        y = names["main"](names["tensor"](x))
        found.append(np.array(y.detach().numpy() if hasattr(y, "detach") else y))
    return found


@dataclass
class Outcome:
    """What became of a program.

    Attributes:
        kind: "agrees", "no number" (the reference has none), "both refuse", "refused", "wrong", "stale" (right at the
            first call alone) or "internal".
        said: The sentence, or the numbers.
    """

    kind: str
    said: str = ""
    found: list[Any] = field(default_factory=list)


def differs(found: Any, wanted: Any) -> bool:
    size = np.abs(wanted).max(initial=0.0)
    return found.shape != wanted.shape or not np.allclose(found, wanted, rtol=1e-8, atol=1e-9 * (1.0 + size))


def outcome(program: Function, seed: int, outermost: str = "", asks_jax: bool = True) -> Outcome:
    """Run a program by both libraries."""
    text = Text(program, outermost).text
    first, second = points(program, seed)
    given = [first, second, first]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = values(text, "rules" if has_own_rules(program.body[0]) else "plain", given[:2])
        except Exception as error:
            return Outcome("no number", f"{type(error).__name__}: {str(error).splitlines()[0][:100]}")
        wanted = [*wanted, wanted[0]]
        if not all(np.isfinite(y).all() for y in wanted):
            return Outcome("no number", "not finite")
        try:
            found = values(text, "minigrad", given)
        except Exception as error:
            return of_error(error, text, given, asks_jax)
    wrong = [n for n in range(3) if differs(found[n], wanted[n])]
    if not wrong:
        return Outcome("agrees")
    kind = "stale" if wrong[0] == 1 and not differs(found[1], wanted[0]) else "wrong"
    n = wrong[0]
    shown = [np.array2string(np.asarray(y[n]), precision=6, separator=", ").replace("\n", "") for y in (found, wanted)]
    return Outcome(kind, f"call {n + 1}: {shown[0]}, right: {shown[1]}", [found, wanted])


def of_error(error: Exception, text: str, given: list[Any], asks_jax: bool) -> Outcome:
    """Tell a refusal in words from an error inside of minigrad."""
    from minigrad.errors import MinigradError

    last = traceback.extract_tb(error.__traceback__)[-1]
    is_raised = (last.line or "").startswith("raise") and "minigrad" in last.filename
    said = f"{type(error).__name__}: {error}".splitlines()[0]
    if not isinstance(error, MinigradError) and not is_raised:
        place = f"{last.filename.rpartition('src/minigrad/')[2]}:{last.lineno}"
        return Outcome("internal", f"{said} at {place}")
    if asks_jax:
        try:
            values(text, "jax", given[:2])
        except Exception as other:
            return Outcome("both refuse", f"{said}  | JAX: {type(other).__name__}")
    return Outcome("refused", said)


# Making programs smaller


def sentence(said: str) -> str:
    """Return what is the same in messages of one kind."""
    said = re.sub(r" at [\w/]+\.py:\d+$", "", said)
    return re.sub(r"\b[fghx]?\d[\w.]*|\([\d, ]*\)|line \d+.*|float64\[[\d,]*\]|<[^>]*>", "_", said)[:150]


def smaller(e: Expression, scope: dict[str, Shape]) -> Any:
    """Yield expressions like one, with less in them."""
    if e.op not in ("variable", "numbers"):
        yield from (Expression("variable", s, data=v) for v, s in reversed(scope.items()) if s == e.shape)
    if e.op not in ("numbers", "variable"):
        yield from (x for x in e.parts if x.shape == e.shape)
        for f in e.functions:
            if len(f.parameters) == len(e.parts) and f.body[0].shape == e.shape:
                by_name = {p: x for (p, s), x in zip(f.parameters, e.parts, strict=True) if s == x.shape}
                if len(by_name) == len(e.parts):
                    yield substituted(f.body[0], by_name)
    if e.data in WRAPS:
        yield replace(e, data="")
    if e.op == "vmap" and e.data[1]:
        yield replace(e, data=(e.data[0], ""))
    for n, f in enumerate(e.functions):
        for g in smaller_functions(f, scope):
            yield replace(e, functions=(*e.functions[:n], g, *e.functions[n + 1 :]))
    for n, x in enumerate(e.parts):
        for y in smaller(x, scope):
            yield replace(e, parts=(*e.parts[:n], y, *e.parts[n + 1 :]))


def smaller_functions(f: Function, scope: dict[str, Shape]) -> Any:
    """Yield functions like one, with less in them."""
    if f.wraps:
        yield replace(f, wraps=())
    if f.way != "closure":
        yield replace(f, way="closure")
    inside = scope | dict(f.parameters)
    for n, e in enumerate(f.body):
        for y in smaller(e, inside):
            yield replace(f, body=(*f.body[:n], y, *f.body[n + 1 :]))


def substituted(e: Expression, by_name: dict[str, Expression]) -> Expression:
    """Return an expression with others in place of variables."""
    if e.op == "variable":
        return by_name.get(e.data, e)
    functions = tuple(replace(f, body=tuple(substituted(x, by_name) for x in f.body)) for f in e.functions)
    return replace(e, parts=tuple(substituted(x, by_name) for x in e.parts), functions=functions)


def size(node: Expression | Function) -> int:
    """Return how much there is in a program."""
    if isinstance(node, Function):
        return 3 + sum(map(size, node.body)) + 2 * len(node.wraps) + (node.way != "closure")
    own = (
        1
        + (node.op not in ("variable", "numbers"))
        + 2 * bool(node.data in WRAPS or (node.op == "vmap" and node.data[1]))
    )
    return own + sum(map(size, (*node.parts, *node.functions)))


def shrunk(program: Function, seed: int, outermost: str, seconds: float = 10.0) -> tuple[Function, str]:
    """Return a small program that fails in the same way."""
    first = outcome(program, seed, outermost, asks_jax=False)
    wanted = first.kind, sentence(first.said) if first.kind not in ("wrong", "stale") else ""
    end = time.perf_counter() + seconds

    def fails(p: Function, o: str) -> bool:
        got = outcome(p, seed, o, asks_jax=False)
        return (got.kind, sentence(got.said) if got.kind not in ("wrong", "stale") else "") == wanted

    if outermost and fails(program, ""):
        outermost = ""
    progress = True
    while progress and time.perf_counter() < end:
        progress = False
        before = size(program)
        candidates = [replace(program, body=(e,)) for e in smaller(program.body[0], dict(program.parameters))]
        for p in sorted(candidates, key=size):
            if time.perf_counter() > end:
                break
            if size(p) < before and fails(p, outermost):
                program, progress = p, True
                break
    return program, outermost


def path(e: Expression) -> str:
    """Return the transforms of a program, from outside to inside."""
    found = []
    for f in e.functions:
        inner = " + ".join(filter(None, map(path, f.body)))
        wraps = "".join(f"{wrap} " for wrap in f.wraps)
        found.append(f"{wraps}[{f.way}{': ' if inner else ''}{inner}]")
    own = "" if not e.functions and e.op not in RULES else e.op
    if e.op in RULES:
        own += f" {e.data[1]}"
    around = e.data if e.data in WRAPS else e.data[1] if e.op == "vmap" else ""
    if around:
        own = f"{around} {own}"
    return " + ".join(filter(None, [f"{own}{' '.join(found)}", *map(path, e.parts)]))


def drawn(seed: int) -> tuple[Function, str]:
    """Return the program of a seed, and what the leaf's backward goes through: nothing, where it is not called."""
    program = draw(seed)
    kind = random.Random(-1 - seed).random()
    return program, "" if kind < 0.75 else "jit" if kind < 0.88 else "checkpoint"


def main() -> None:
    """Run many programs and say what failed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shrink", type=int, default=0, help="how many failing programs of each kind are made small")
    parser.add_argument("--show", type=int, help="print the program of one seed and what became of it")
    parser.add_argument("--compiled", action="store_true", help="compile graphs; else they are interpreted")
    parser.add_argument("--of-jax", action="store_true", help="compare JAX as it is with the reference, not minigrad")
    options = parser.parse_args()
    import minigrad as mg

    print(mg.__file__)
    if not options.compiled:
        mg.backend("python")
    if options.of_jax:
        namespaces()["minigrad"] = namespaces()["jax"]
    if options.show is not None:
        program, outermost = drawn(options.show)
        print(Text(program, outermost).text)
        print("x =", points(program, options.show)[0].tolist(), "then", points(program, options.show)[1].tolist())
        result = outcome(program, options.show, outermost)
        print(result.kind, result.said)
        return
    report(range(options.seed, options.seed + options.count), options.shrink)


def report(seeds: range, most: int) -> None:
    """Run programs, and print a table and small programs of each kind of failure."""
    kinds: collections.Counter[str] = collections.Counter()
    failing: dict[tuple[str, str], list[int]] = collections.defaultdict(list)
    start = time.perf_counter()
    for seed in seeds:
        result = outcome(*((p := drawn(seed))[0], seed, p[1]))
        kinds[result.kind] += 1
        if result.kind != "agrees":
            key = "" if result.kind in ("wrong", "stale") else sentence(result.said)
            failing[result.kind, key].append(seed)
            if result.kind not in ("both refuse", "no number"):
                print(f"seed {seed}: {result.kind}: {result.said[:200]}", flush=True)
    print(f"\nseeds {seeds.start}..{seeds.stop - 1}:", flush=True)
    print(f"{len(seeds)} programs in {time.perf_counter() - start:.0f} s:", dict(kinds))
    for (kind, said), several in sorted(failing.items(), key=lambda each: (each[0][0], -len(each[1]))):
        print(f"\n=== {kind}: {len(several)} programs: {said}\n    seeds {several[:12]}")
        if kind in ("both refuse", "no number"):
            continue
        seen: dict[str, tuple[int, str]] = {}
        several.sort(key=lambda seed: size(drawn(seed)[0]))
        for seed in several[: most if kind in ("wrong", "stale") else min(most, 2)]:
            program, outermost = shrunk(drawn(seed)[0], seed, drawn(seed)[1])
            text = Text(program, outermost).text
            name = f"{f'backward {outermost} ' if outermost else ''}{path(program.body[0])}"
            if name not in seen or len(text) < len(seen[name][1]):
                result = outcome(program, seed, outermost, asks_jax=False)
                x = points(program, seed)[0].tolist()
                seen[name] = seed, f"{text}\n# x = {x}; {result.said}"
        for name, (seed, text) in sorted(seen.items(), key=lambda each: len(each[1][1])):
            print(f"--- {name} (seed {seed})\n{text}", flush=True)


if __name__ == "__main__":
    main()
