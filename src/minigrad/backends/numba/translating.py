"""The language of kernels, and how LLVM's text is made of it.

A kernel is a text in a small part of Python: assignments, loops over ranges, conditions, and expressions. Each
expression is evaluated by Python itself, on values that write down what is done to them (see `intrinsics`), so that a
function that an expression calls needs no translation of its own. What is left are statements, here.

A name that is assigned once stands for its value; others have a place on the stack, of which LLVM makes registers.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from minigrad.backends.numba import intrinsics
from minigrad.backends.numba.intrinsics import METADATA, Value, constant, listed, llvm_kind, page

TOOLS: dict[str, Any] = {
    **{name: each for name, each in vars(intrinsics).items() if not name.startswith("_")},
    **{name: intrinsics.Cast(name) for name in intrinsics.KINDS if name != "bool"},
    **{"min": intrinsics.minimum, "max": intrinsics.maximum},
}
"""What a kernel's text may refer to, beside its own names."""

_GIVEN = {"item": "i64**", "dimensions": "i64*", "steps": "i64*", "parameters": "i64*"}
"""The kinds of parameters. Of others an annotation says to which type they point, or else they are integers."""


def translate(text: str, names: dict[str, Any], symbol: str) -> str:
    """Return LLVM's text of a kernel.

    Args:
        text: Functions, the last of which is the kernel.
        names: What it refers to beside `TOOLS`; or by the name of a function, what that one does.
        symbol: The name under which the kernel can be found.
    """
    page.__init__()  # type: ignore[misc]
    written, known = list[str](), dict(TOOLS)
    functions = [each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    for node in functions:
        function = _Function(names.get(node.name, names) | known, symbol if node is functions[-1] else "")
        written.append(function.whole(node))
        known[node.name] = function.call
    return "\n".join([*written, *page.declared, METADATA])


def translate_function(function: Callable[[Value], Value], kind: str, symbol: str) -> str:
    """Return LLVM's text of a function of one number."""
    page.__init__()  # type: ignore[misc]
    result = function(Value(kind, "%x"))
    head = f"define {kind} @{symbol}({kind} %x) alwaysinline {{"
    return "\n".join([head, *page.first, *page.lines, f"ret {kind} {result.name}", "}", *page.declared, METADATA])


class _Names(dict[str, Any]):
    """The values of names; what has a place on the stack is read anew each time."""

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        return found.read() if isinstance(found, _Place | _Places) else found


class _Places(tuple["_Place", ...]):
    """Those of a tuple of values."""

    def read(self) -> Any:
        return tuple(place.read() for place in self)

    def write(self, values: tuple[Value, ...]) -> None:
        for place, value in zip(self, values, strict=True):
            place.write(value)


class _Place:
    """A place on the stack for the values that a name has one after the other."""

    def __init__(self, kind: str) -> None:
        self.kind, self.name = kind, page.stack(llvm_kind(kind))

    def read(self) -> Any:
        return page.put(self.kind, f"load {llvm_kind(self.kind)}, ptr {self.name}")

    def write(self, value: Value) -> None:
        if value.kind != self.kind:
            raise TypeError(f"a name of a kernel is {self.kind}, and then {value.kind}")
        page.lines.append(f"store {llvm_kind(self.kind)} {value.name}, ptr {self.name}")


class _Function(ast.NodeVisitor):
    """Writes one function."""

    def __init__(self, scope: dict[str, Any], symbol: str) -> None:
        self.scope, self.symbol, self.names = scope, symbol, _Names()

    def whole(self, node: ast.FunctionDef) -> str:
        """Return the text of the function."""
        page.lines, page.first = [], []
        given = [Value(self._kind(each), f"%{each.arg}") for each in node.args.args]
        stored = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
        counts = Counter([*stored, *[each.arg for each in node.args.args]])
        self.changing = {name for name, count in counts.items() if count > 1}
        for each, value in zip(node.args.args, given, strict=True):
            self._name(each.arg, value)
        self._block(node.body)
        self.symbol, how = self.symbol or node.name, "" if self.symbol else "internal "
        head = f"define {how}void @{self.symbol}({listed(given)}) {{"
        return "\n".join([head, *page.first, *page.lines, "br label %leave", "leave:", "ret void", "}"])

    def call(self, *args: Any) -> None:
        """Write a call of the function."""
        page.lines.append(f"call void @{self.symbol}({listed(map(constant, args))})")

    def _kind(self, parameter: ast.arg) -> str:
        if parameter.annotation is None:
            return _GIVEN.get(parameter.arg, "i64")
        return f"{self._value(parameter.annotation).kind}*"

    def generic_visit(self, node: ast.AST) -> None:
        """Refuse what is not in the language."""
        raise TypeError(f"a kernel has no {type(node).__name__}")

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for each in body:
            self.visit(each)

    def _value(self, node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "<kernel>", "eval"), self.scope, self.names)

    def _assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Tuple):
            for each, part in zip(target.elts, value, strict=True):
                self._assign(each, part)
        elif isinstance(target, ast.Subscript):
            self._value(target.value)[self._value(target.slice)] = value
        elif isinstance(target, ast.Name):
            self._name(target.id, value if isinstance(value, tuple | Iterator) else constant(value))

    def _name(self, name: str, value: Any) -> None:
        if name not in self.changing:
            self.names[name] = value
            return
        if name not in self.names:
            places = _Places(_Place(each.kind) for each in value) if isinstance(value, tuple) else _Place(value.kind)
            self.names.update({name: places})
        dict.__getitem__(self.names, name).write(value)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._assign(node.targets[0], self._value(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        target: Any = node.target
        before = ast.copy_location(ast.Name(target.id, ast.Load()), node)
        self._assign(target, self._value(ast.copy_location(ast.BinOp(before, node.op, node.value), node)))

    def visit_Expr(self, node: ast.Expr) -> None:
        self._value(node.value)

    def visit_If(self, node: ast.If) -> None:
        then, other, end = (page.name("L") for _ in range(3))
        page.branch(self._value(node.test), then, other)
        self._block(node.body)
        page.lines += [f"br label %{end}", f"{other}:"]
        self._block(node.orelse)
        page.lines += [f"br label %{end}", f"{end}:"]

    def visit_While(self, node: ast.While) -> None:
        again, body, end = (page.name("L") for _ in range(3))
        page.lines += [f"br label %{again}", f"{again}:"]
        page.branch(self._value(node.test), body, end)
        self._block(node.body)
        page.lines += [f"br label %{again}", f"{end}:"]

    def visit_For(self, node: ast.For) -> None:
        span: Any = node.iter
        given = [constant(self._value(each)) for each in span.args]
        start, stop = given[:2] if given[1:] else (constant(0), given[0])
        step = given[2] if given[2:] else constant(1)
        again, body, end = (page.name("L") for _ in range(3))
        counter = _Place("i64")
        counter.write(start)
        page.lines += [f"br label %{again}", f"{again}:"]
        now = counter.read()
        page.branch(now < stop, body, end)
        self._assign(node.target, now)
        self._block(node.body)
        counter.write(page.put("i64", f"add nsw i64 {now.name}, {step.name}"))
        page.lines += [f"br label %{again}", f"{end}:"]
