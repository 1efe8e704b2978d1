"""Programs in small, to be read: what a compiler works on before it writes code.

A `Program` is a list of equations, each of which computes one `Var` from others. Every Var is computed once, so that a
name means one value (static single assignment). `OPS` says of each operation how arrays are computed with it, how one
element is computed, and how a gradient goes back through it.

The functions of this module take NumPy arrays and `Symbol` objects. With an array they compute. With a symbol they ask
its recorder to write an equation down. `minigrad.graph` is the same for tensors, at full size.

Source: Ron Cytron and others, Efficiently computing static single assignment form and the control dependence graph, ACM
Transactions on Programming Languages and Systems 13, 1991
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = [
    "OPS",
    "Equation",
    "Op",
    "Program",
    "Symbol",
    "Var",
    "broadcast_to",
    "call",
    "exp",
    "letters",
    "log",
    "manual_seed",
    "maximum",
    "rand_like",
    "result_of",
    "sqrt",
    "tanh",
    "type_of_numbers",
    "where",
]

_generator = np.random.default_rng(0)


def manual_seed(seed: int) -> None:
    """Begin the random numbers of `rand_like` anew."""
    global _generator
    _generator = np.random.default_rng(seed)


@dataclass(frozen=True)
class Op:
    """An operation.

    Attributes:
        compute: The function of NumPy arrays.
        kind: ``"elementwise"`` (each element by itself, with broadcasting), ``"view"`` (the same memory, read in
            another order), ``"reduction"`` or ``"other"``.
        element: How Python writes one element, with a place for each operand; only for elementwise operations.
        pure: Whether equal operands give equal results. Random numbers are not pure.
        rules: One for each operand: ``rule(d, out, *operands, **options)`` returns the gradient in that operand. Here
            ``out`` is the operation's result, and d the gradient in it. An operand that was broadcast gets a gradient
            of the result's shape. The rule is None where no gradient goes back, as through a comparison.
    """

    compute: Callable[..., Any]
    kind: str = "elementwise"
    element: str = ""
    pure: bool = True
    rules: Sequence[Callable[..., Any] | None] = ()


def _rand_like(x: Any) -> Any:
    return _generator.random(x.shape).astype(x.dtype)


def _with_axes(reduced: Any, x: Any, axis: Any) -> Any:
    """Return the result of a reduction of x with size 1 for each axis that it lacks, so that x's shape fits it."""
    if axis is None or reduced.ndim == x.ndim:
        return reduced
    dropped = [each % x.ndim for each in np.atleast_1d(axis)]
    return reduced.reshape(*(1 if i in dropped else size for i, size in enumerate(x.shape)))


def _through_sum(d: Any, out: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return broadcast_to(_with_axes(d, x, axis), x.shape)


def _through_max(d: Any, out: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """Return d for the largest element; equal ones share it."""
    largest = where(x < _with_axes(out, x, axis), 0.0, np.ones((), x.dtype))
    return _with_axes(d, x, axis) * (largest / largest.sum(axis=axis, keepdims=True))


def _through_larger(d: Any, x: Any, y: Any) -> Any:
    """Return d where x is larger than y; equal ones share it."""
    return where(x < y, 0.0, where(y < x, d, 0.5 * d))


def _matrices(d: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return d, x and y of a product as matrices: a vector on the left is a row, one on the right a column."""
    if x.ndim > 1 and y.ndim > 1:
        return d, x, y
    rows = x.reshape(1, *x.shape) if x.ndim == 1 else x
    columns = y.reshape(*y.shape, 1) if y.ndim == 1 else y
    batch = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    return d.reshape(*batch, rows.shape[-2], columns.shape[-1]), rows, columns


def _turned(x: Any) -> Any:
    """Return matrices with rows and columns exchanged."""
    *batch, rows, columns = range(x.ndim)
    return x.transpose(*batch, columns, rows)


def _product(x: Any, y: Any) -> Any:
    """Return the product of matrices: elementwise, so that it can be fused, if it is one of a column and a row."""
    return x * y if x.shape[-1] == 1 else x @ y


def _through_left(d: Any, out: Any, x: Any, y: Any) -> Any:
    d, _, columns = _matrices(d, x, y)
    return _product(d, _turned(columns))


def _through_right(d: Any, out: Any, x: Any, y: Any) -> Any:
    d, rows, _ = _matrices(d, x, y)
    found = _product(_turned(rows), d)
    return found.reshape(*found.shape[:-1]) if y.ndim == 1 else found


OPS: Mapping[str, Op] = {
    "neg": Op(np.negative, element="(-{0})", rules=[lambda d, out, x: -d]),
    "add": Op(np.add, element="({0} + {1})", rules=[lambda d, out, x, y: d, lambda d, out, x, y: d]),
    "sub": Op(np.subtract, element="({0} - {1})", rules=[lambda d, out, x, y: d, lambda d, out, x, y: -d]),
    "mul": Op(np.multiply, element="({0} * {1})", rules=[lambda d, out, x, y: d * y, lambda d, out, x, y: d * x]),
    "div": Op(
        np.true_divide,
        element="({0} / {1})",
        rules=[lambda d, out, x, y: d / y, lambda d, out, x, y: -d * out / y],
    ),
    "less": Op(np.less, element="({0} < {1})", rules=[None, None]),
    "maximum": Op(
        np.maximum,
        element="np.maximum({0}, {1})",
        rules=[lambda d, out, x, y: _through_larger(d, x, y), lambda d, out, x, y: _through_larger(d, y, x)],
    ),
    "exp": Op(np.exp, element="np.exp({0})", rules=[lambda d, out, x: d * out]),
    "log": Op(np.log, element="np.log({0})", rules=[lambda d, out, x: d / x]),
    "sqrt": Op(np.sqrt, element="np.sqrt({0})", rules=[lambda d, out, x: d / (2.0 * out)]),
    "tanh": Op(np.tanh, element="np.tanh({0})", rules=[lambda d, out, x: d * (1.0 - out * out)]),
    "where": Op(
        np.where,
        element="({1} if {0} else {2})",
        rules=[None, lambda d, out, c, x, y: where(c, d, 0.0), lambda d, out, c, x, y: where(c, 0.0, d)],
    ),
    "broadcast_to": Op(lambda x, shape: np.broadcast_to(x, shape), element="{0}", rules=[lambda d, out, x, shape: d]),
    "sum": Op(
        lambda x, axis, keepdims: np.sum(x, axis=axis, keepdims=keepdims), kind="reduction", rules=[_through_sum]
    ),
    "max": Op(
        lambda x, axis, keepdims: np.max(x, axis=axis, keepdims=keepdims), kind="reduction", rules=[_through_max]
    ),
    "permute": Op(
        lambda x, axes: np.transpose(x, axes),
        kind="view",
        rules=[lambda d, out, x, axes: d.transpose(*np.argsort([axis % x.ndim for axis in axes]).tolist())],
    ),
    "reshape": Op(
        lambda x, shape: np.reshape(x, shape), kind="view", rules=[lambda d, out, x, shape: d.reshape(*x.shape)]
    ),
    "matmul": Op(np.matmul, kind="other", rules=[_through_left, _through_right]),
    "rand_like": Op(_rand_like, kind="other", pure=False, rules=[None]),
}
"""The operations by name."""


@dataclass(frozen=True, eq=False)
class Var:
    """A value of a program; two are the same only if they are one object.

    Attributes:
        shape: The size of each axis.
        dtype: The type of the elements, as NumPy has it.

    >>> minigrad.symbols.Var((2, 3), np.dtype("float32")).type
    'float32[2,3]'
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def type(self) -> str:
        """The type as it is printed."""
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    @property
    def nbytes(self) -> int:
        """How many bytes an array of it takes."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


@dataclass(frozen=True, eq=False)
class Equation:
    """One operation.

    Attributes:
        op: Its name in `OPS`.
        operands: Its inputs: `Var` objects, and numbers of Python (bool, int or float).
        output: What it computes.
        options: Its keyword arguments, such as the axis of a sum.

    >>> x = minigrad.symbols.Var((3,), np.dtype("float32"))
    >>> equation = minigrad.symbols.Equation("mul", (x, 2.0), x)
    >>> equation.reads() == [x]
    True
    """

    op: str
    operands: Sequence[Any]
    output: Var
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kind of its operation."""
        return OPS[self.op].kind

    def reads(self) -> list[Var]:
        """Return the variables among the operands, in order."""
        return [each for each in self.operands if isinstance(each, Var)]


def letters() -> Iterator[str]:
    """Go through a, b, ..., z, aa, ab, ...: the names in a printed program.

    >>> import itertools
    >>> list(itertools.islice(minigrad.symbols.letters(), 25, 28))
    ['z', 'aa', 'ab']
    """
    for length in itertools.count(1):
        for word in itertools.product(string.ascii_lowercase, repeat=length):
            yield "".join(word)


@dataclass(frozen=True, eq=False)
class Program:
    """What a function computes, for arguments of given shapes and types.

    Attributes:
        inputs: A variable for each argument that is an array.
        constants: Captured arrays: the variable of each, and the array.
        equations: In an order in which they can run.
        outputs: The results: variables, or numbers of Python.

    >>> x = minigrad.symbols.Var((3,), np.dtype("float32"))
    >>> y = minigrad.symbols.Var((3,), np.dtype("float32"))
    >>> program = minigrad.symbols.Program((x,), (), (minigrad.symbols.Equation("mul", (x, 2.0), y),), (y,))
    >>> program
    { lambda a:float32[3] .
      let b:float32[3] = mul a 2.0
      in (b) }
    >>> program.run(np.ones(3, np.float32))
    (array([2., 2., 2.], dtype=float32),)
    """

    inputs: Sequence[Var]
    constants: Sequence[tuple[Var, Any]]
    equations: Sequence[Equation]
    outputs: Sequence[Any]

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """Compute the outputs, one equation after the other: what every faster way must agree with.

        Symbols in place of arrays have the equations written down by their recorder. So a function that is being
        recorded can run a program, whose equations become a part of its own.
        """
        known: dict[Any, Any] = dict(zip(self.inputs, arrays, strict=True)) | dict(self.constants)

        def value(x: Any) -> Any:
            return known[x] if isinstance(x, Var) else x

        for each in self.equations:
            known[each.output] = _either(each.op, *map(value, each.operands), **each.options)
        return tuple(map(value, self.outputs))

    def __repr__(self) -> str:
        """Return the program as text, in the manner of JAX."""
        names: dict[Var, str] = {}
        unused = letters()

        def new(x: Var) -> str:
            return f"{names.setdefault(x, next(unused))}:{x.type}"

        def old(x: Any) -> str:
            return names[x] if isinstance(x, Var) else repr(x)

        inputs = " ".join(map(new, self.inputs))
        captured = "".join(f"; {new(x)}" for x, _ in self.constants)
        lines = []
        for each in self.equations:
            words = [each.op, *map(old, each.operands), *(f"{name}={value}" for name, value in each.options.items())]
            lines.append(f"{new(each.output)} = {' '.join(words)}")
        body = "\n      ".join(lines)
        return f"{{ lambda {inputs}{captured} .\n  let {body}\n  in ({', '.join(map(old, self.outputs))}) }}"


def call(op: str, *operands: Any, **options: Any) -> Any:
    """Compute an operation with arrays and numbers.

    >>> minigrad.symbols.call("sum", np.ones((2, 3)), axis=1, keepdims=False)
    array([3., 3.])
    """
    with np.errstate(all="ignore"):
        return np.asarray(OPS[op].compute(*operands, **options))


def result_of(op: str, *operands: Any, **options: Any) -> Var:
    """Return a new variable with the shape and the type of an operation's result, without computing it.

    Args:
        op: Its name in `OPS`.
        *operands: Variables and numbers of Python.
        **options: Its keyword arguments.

    >>> x = minigrad.symbols.Var((2, 3), np.dtype("float32"))
    >>> minigrad.symbols.result_of("add", x, 1.0).type, minigrad.symbols.result_of("less", x, x).type
    ('float32[2,3]', 'bool[2,3]')
    """

    def like(x: Any, shape: tuple[int, ...]) -> Any:
        return np.ones(shape, x.dtype) if isinstance(x, Var) else x

    if OPS[op].kind == "elementwise":
        shapes = [x.shape for x in operands if isinstance(x, Var)]
        shape = np.broadcast_shapes(*shapes, options.get("shape", ()))
        return Var(shape, call(op, *(like(x, ()) for x in operands), **options).dtype)
    y = call(op, *(like(x, x.shape) for x in operands), **options)
    return Var(y.shape, y.dtype)


def type_of_numbers(equation: Equation) -> np.dtype[Any]:
    """Return the type in which an elementwise equation takes the numbers of Python among its operands.

    A number of Python takes the type of the arrays beside it, if that can hold it. The condition of `where` is not
    beside it.

    >>> x = minigrad.symbols.Var((3,), np.dtype("float32"))
    >>> minigrad.symbols.type_of_numbers(minigrad.symbols.Equation("mul", (x, 0.1), x))
    dtype('float32')
    """
    beside = equation.operands[1:] if equation.op == "where" else equation.operands
    return np.result_type(*(x.dtype.type(0) if isinstance(x, Var) else x for x in beside))


def _operator(op: str) -> tuple[Callable[..., Symbol], Callable[..., Symbol]]:
    """Return a method of symbols, and the same one for operands in the other order."""

    def straight(self: Symbol, other: Any) -> Symbol:
        return self._apply(op, self, other)

    def turned(self: Symbol, other: Any) -> Symbol:
        return self._apply(op, other, self)

    return straight, turned


class Symbol:
    """What a function gets in place of an array while it is recorded: a variable, without elements.

    Attributes:
        var: The variable.
        recorder: Who writes equations down: its ``apply(op, *operands, **options)`` returns the symbol of a result, and
            its ``refuse()`` raises the error for a program that asks for elements.
    """

    __array_ufunc__ = None  # an array of NumPy leaves `array + symbol` to the symbol

    def __init__(self, var: Var, recorder: Any) -> None:
        self.var = var
        self.recorder = recorder

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self.var.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self.var.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.var.shape)

    @property
    def T(self) -> Symbol:
        """The symbol with its axes in the opposite order."""
        return self.transpose(*range(self.ndim)[::-1])

    def transpose(self, *axes: int) -> Symbol:
        """Return the symbol with its axes in another order."""
        return self._apply("permute", self, axes=axes)

    def reshape(self, *shape: int) -> Symbol:
        """Return the symbol with another shape of as many elements."""
        return self._apply("reshape", self, shape=shape)

    def sum(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Symbol:
        """Return the sum along an axis, or of all elements."""
        return self._apply("sum", self, axis=axis, keepdims=keepdims)

    def max(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Symbol:
        """Return the largest element along an axis, or of all elements."""
        return self._apply("max", self, axis=axis, keepdims=keepdims)

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("sub")
    __mul__, __rmul__ = _operator("mul")
    __truediv__, __rtruediv__ = _operator("div")
    __matmul__, __rmatmul__ = _operator("matmul")
    __lt__, __gt__ = _operator("less")

    def __neg__(self) -> Symbol:
        return self._apply("neg", self)

    def __bool__(self) -> bool:
        return bool(self.recorder.refuse())

    def __float__(self) -> float:
        return float(self.recorder.refuse())

    def __int__(self) -> int:
        return int(self.recorder.refuse())

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.recorder.refuse()

    def __repr__(self) -> str:
        return f"Symbol({self.var.type})"

    def _apply(self, op: str, *operands: Any, **options: Any) -> Symbol:
        return self.recorder.apply(op, *operands, **options)  # type: ignore[no-any-return]


def _either(op: str, *operands: Any, **options: Any) -> Any:
    """Compute with arrays, or write down with the recorder of a symbol."""
    for each in operands:
        if isinstance(each, Symbol):
            return each.recorder.apply(op, *operands, **options)
    return call(op, *operands, **options)


def exp(x: Any) -> Any:
    """Return e to the power of each element of an array or a symbol.

    >>> minigrad.symbols.exp(np.zeros(2))
    array([1., 1.])
    """
    return _either("exp", x)


def log(x: Any) -> Any:
    """Return the natural logarithm of each element of an array or a symbol.

    >>> minigrad.symbols.log(np.ones(2))
    array([0., 0.])
    """
    return _either("log", x)


def sqrt(x: Any) -> Any:
    """Return the square root of each element of an array or a symbol.

    >>> minigrad.symbols.sqrt(np.array([4.0, 9.0]))
    array([2., 3.])
    """
    return _either("sqrt", x)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent of each element of an array or a symbol.

    >>> minigrad.symbols.tanh(np.zeros(2))
    array([0., 0.])
    """
    return _either("tanh", x)


def maximum(x: Any, y: Any) -> Any:
    """Return the larger one of each pair of elements, of arrays, symbols or numbers.

    >>> minigrad.symbols.maximum(np.array([-1.0, 2.0]), 0.0)
    array([0., 2.])
    """
    return _either("maximum", x, y)


def where(condition: Any, x: Any, y: Any) -> Any:
    """Return x where the condition holds and y elsewhere, element by element.

    >>> minigrad.symbols.where(np.array([True, False]), np.array([1.0, 2.0]), 0.0)
    array([1., 0.])
    """
    return _either("where", condition, x, y)


def rand_like(x: Any) -> Any:
    """Return random numbers from 0 to 1 in the shape and the type of x; each call gives others.

    >>> bool((minigrad.symbols.rand_like(np.zeros(3)) < 1.0).all())
    True
    """
    return _either("rand_like", x)


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Return an array or a symbol repeated along axes of size 1 and axes that it does not have.

    >>> minigrad.symbols.broadcast_to(np.array([1.0, 2.0]), (2, 2))
    array([[1., 2.],
           [1., 2.]])
    """
    return _either("broadcast_to", x, shape=shape)
