"""The typed graph of a function: values that are computed once each, in order (static single assignment).

a: float32[3]
b: float32[3] = Mul a 2.0
c: float32[3] = Add b 1.0
return c
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from minigrad import autodiff
from minigrad.functions import Function
from minigrad.machine.pictures import html_of
from minigrad.tensor_functions import View
from minigrad.tensors import Tensor
from minigrad.transforms.trees import PyTreeDef


@dataclass(frozen=True, eq=False)
class Var:
    """A value of a graph; two are the same only if they are one object.

    Attributes:
        shape: The size of each axis.
        dtype: The type of the elements.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def type(self) -> str:
        """The type as it is printed.

        >>> minigrad.graph.Var((2, 3), minigrad.float32).type
        'float32[2,3]'
        """
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


class Several(Function):
    """A function of several results, which has graphs among its options: a fused loop, a loop, a choice."""

    @staticmethod
    def run(operands: Sequence[Any], **options: Any) -> list[Any]:
        """Compute the results from arrays and numbers."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Equation:
    """One operation.

    Attributes:
        op: The class of the function.
        operands: Its inputs: `Var` objects and numbers.
        options: Its keyword arguments; an index in them may be a `Var` too.
        outputs: The result, and then arrays that the forward rule saves and a gradient elsewhere in the graph needs.
        saved: For each of these arrays, the path to it in the context.

    >>> minigrad.graph.trace(lambda x: x.sum(0), minigrad.zeros(3)).equations[0].options
    {'dim': (0,), 'keepdim': False}
    """

    op: type[Function]
    operands: tuple[Any, ...]
    options: dict[str, Any]
    outputs: tuple[Var, ...]
    saved: tuple[tuple[Any, ...], ...] = ()

    def uses(self) -> Iterator[Var]:
        """Go through the variables that it reads.

        >>> graph = minigrad.graph.trace(lambda x: 2.0 * x, minigrad.zeros(3))
        >>> [v.type for v in graph.equations[0].uses()]
        ['float32[3]']
        """
        return iter(self._uses)

    @cached_property
    def _uses(self) -> tuple[Var, ...]:
        return tuple(variables_in((self.operands, self.options)))


@dataclass(frozen=True, eq=False)
class Graph:
    """What a function computes, for arguments of given shapes and types.

    Two graphs are equal if they differ in the names of values only.

    Attributes:
        inputs: A value for each tensor in the arguments.
        constants: Tensors that are known: the value of each and its array.
        equations: In an order in which they can run.
        outputs: For each leaf of the result a `Var`, or what the function returned beside tensors.
        structure: The tree of the result.
        captured: The inputs that are captured tensors: a result never shows their memory.

    >>> minigrad.graph.trace(lambda x: 2.0 * x + 1.0, minigrad.zeros(3))
    a: float32[3]
    b: float32[3] = Mul 2.0 a
    c: float32[3] = Add b 1.0
    return c
    """

    inputs: tuple[Var, ...]
    constants: tuple[tuple[Var, Any], ...]
    equations: tuple[Equation, ...]
    outputs: tuple[Any, ...]
    structure: PyTreeDef
    captured: frozenset[Var] = frozenset()

    def run(self, *arrays: Any) -> list[Any]:
        """Compute the outputs, one equation after the other: the specification of a compiled function.

        Args:
            *arrays: A NumPy array for each input.

        Returns:
            The leaves of the result, arrays in place of tensors. They share memory with inputs at most: not with each
            other, not with constants.

        Raises:
            ValueError: If arrays do not fit the inputs.

        >>> import numpy as np
        >>> minigrad.graph.trace(lambda x: x * x, minigrad.zeros(2)).run(np.array([3.0, 4.0], np.float32))
        [array([ 9., 16.], dtype=float32)]
        """
        given, wanted = [(x.shape, x.dtype) for x in arrays], [(v.shape, v.dtype) for v in self.inputs]
        if given != wanted:
            shown = [", ".join(Var(*each).type for each in types) for types in (wanted, given)]
            raise ValueError(
                f"run: this graph takes ({shown[0]}), not ({shown[1]}); trace the function again for these"
            )
        values: dict[Var, Any] = {**dict(self.constants), **dict(zip(self.inputs, arrays, strict=True))}
        for equation in self.equations:
            operands = [values[x] if isinstance(x, Var) else x for x in equation.operands]
            options = replaced(equation.options, values.get) if equation.options else equation.options
            results = compute(equation.op, operands, options, equation.saved)
            values.update(zip(equation.outputs, results, strict=True))
        fixed = {n: y.copy() for n, y in enumerate(self.outputs) if isinstance(y, np.ndarray)}
        results = [values[y] if isinstance(y, Var) else fixed.get(n, y) for n, y in enumerate(self.outputs)]
        held = [values[v] for v in self.captured]
        given = [x for v, x in zip(self.inputs, arrays, strict=True) if v not in self.captured]
        return _apart(results, given, [*held, *(array for _, array in self.constants)])

    def names(self, known: Mapping[Var, str] | None = None) -> dict[Var, str]:
        """Return a name for each value: letters in their order.

        Args:
            known: Names that values have already, perhaps in another graph; the others get new ones.

        >>> graph = minigrad.graph.trace(lambda x: 2.0 * x, minigrad.zeros(3))
        >>> list(graph.names().values()), list(graph.names({graph.outputs[0]: "a"}).values())
        (['a', 'b'], ['a', 'b'])
        """
        names = dict(known or {})
        taken = set(names.values())
        fresh = (name for name in map(_letters, itertools.count()) if name not in taken)
        of_equations = [v for equation in self.equations for v in equation.outputs]
        for v in (*self.inputs, *(v for v, _ in self.constants), *of_equations):
            names[v] = names.get(v) or next(fresh)
        return names

    def lines(self, names: Mapping[Var, str] | None = None) -> list[str]:
        """Return the lines of the printed graph: inputs, constants, equations, and what is returned.

        Args:
            names: The name of each value; None for letters in their order.

        >>> graph = minigrad.graph.trace(lambda x: 2.0 * x, minigrad.zeros(3))
        >>> graph.lines({graph.inputs[0]: "x", graph.outputs[0]: "y"})
        ['x: float32[3]', 'y: float32[3] = Mul 2.0 x', 'return y']
        """
        names = self.names() if names is None else names

        def shown(x: Any) -> str:
            if isinstance(x, Var):
                return names[x]
            if isinstance(x, tuple | list):
                return f"({', '.join(map(shown, x))})"
            if isinstance(x, np.ndarray):
                return f"{Var(x.shape, x.dtype).type}"
            return getattr(x, "__name__", None) or repr(x)

        lines = [f"{names[v]}: {v.type}" for v in self.inputs]
        lines += [f"{names[v]}: {v.type} constant" for v, _ in self.constants]
        for each in self.equations:
            graphs = [value for value in each.options.values() if isinstance(value, Graph)]
            inside = "".join(f"[{' '.join(e.op.__name__ for e in graph.equations)}]" for graph in graphs)
            options = "" if graphs else "".join(f" {name}={shown(value)}" for name, value in each.options.items())
            left = ", ".join(f"{names[v]}: {v.type}" for v in each.outputs)
            operands = " ".join(map(shown, each.operands))
            lines.append(f"{left} = {each.op.__name__}{inside}{options} {operands}".rstrip())
        return [*lines, f"return {', '.join(map(shown, self.outputs))}"]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str | None:
        """Show the picture in a notebook, or the text if the graph is too large for one."""
        return html_of(self)

    def _form(self) -> Any:
        """Return all that matters of the graph, comparable."""
        names = self.names()
        equations = tuple(
            (e.op, frozen(e.operands, names), frozen(e.options, names), tuple(v.type for v in e.outputs), e.saved)
            for e in self.equations
        )
        constants = tuple(frozen(array, names) for _, array in self.constants)
        inputs = tuple(v.type for v in self.inputs)
        return inputs, constants, equations, frozen(self.outputs, names), self.structure

    def __eq__(self, other: object) -> bool:
        return self._form() == other._form() if isinstance(other, Graph) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def _apart(results: Sequence[Any], inputs: Sequence[Any], constants: Sequence[Any]) -> list[Any]:
    """Return results, each of which can be changed in place: copies of those that show the memory of another one."""
    given, taken = set(map(_owner, inputs)), set(map(_owner, constants))
    found = []
    for y in results:
        owner = _owner(y)
        repeats = any(step == 0 and n > 1 for n, step in zip(y.shape, y.strides, strict=True)) if owner else False
        found.append(y.copy() if repeats or owner in taken else y)
        taken |= {owner} - given - {0}
    return found


def _owner(array: Any) -> int:
    """Return what two arrays have in common that share memory; 0 for what is no array."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return id(array) if hasattr(array, "strides") else 0


def _letters(n: int) -> str:
    """Return a, b, ..., z, aa, ab, ... by number."""
    return (_letters(n // 26 - 1) if n >= 26 else "") + chr(ord("a") + n % 26)


def compute(
    op: type[Function], operands: Sequence[Any], options: dict[str, Any], saved: Sequence[tuple[Any, ...]] = ()
) -> list[Any]:
    """Apply a function to arrays and numbers, as eager code would.

    Args:
        op: The function.
        operands: Arrays and numbers.
        options: Its keyword arguments.
        saved: Paths to arrays that its forward rule keeps in the context.

    Returns:
        The result and the arrays at these paths.

    >>> import numpy as np
    >>> from minigrad.graph.program import compute
    >>> compute(minigrad.functions.Mul, [np.array([2.0, 3.0]), 10.0], {})
    [array([20., 30.])]
    """
    if issubclass(op, Several):
        return op.run(operands, **options)
    if op is View:  # it copies only where it must: the order in memory decides in which order a sum adds
        return [operands[0].reshape(options["shape"])]
    tensors = [Tensor(x) if isinstance(x, np.ndarray) or hasattr(x, "to_host") else x for x in operands]
    if not saved:
        with autodiff.no_grad():
            return [Tensor._apply(op, tensors, **options)._array]
    for x in tensors:
        if isinstance(x, Tensor) and x.dtype.kind == "f":
            x._requires_grad = True  # so that the context is kept
    with autodiff.enable_grad():
        result = Tensor._apply(op, tensors, **options)
    return [result._array, *[_at(result._ctx, path) for path in saved]]


def _at(context: Any, path: tuple[Any, ...]) -> Any:
    found = context.__dict__[path[0]]
    for step in path[1:]:
        found = found[step]
    found = getattr(found, "_array", found)
    return found if hasattr(found, "to_host") else np.asarray(found)


# --- values inside options ------------------------------------------------------------------------------------


def variables_in(x: Any) -> Iterator[Var]:
    """Go through the variables in nested tuples, lists and dictionaries.

    >>> from minigrad.graph.program import variables_in
    >>> v = minigrad.graph.Var((2,), minigrad.float32)
    >>> list(variables_in({"key": (v, slice(None))})) == [v]
    True
    """
    if isinstance(x, Var):
        yield x
    elif isinstance(x, tuple | list):
        for each in x:
            yield from variables_in(each)
    elif isinstance(x, dict):
        yield from variables_in(tuple(x.values()))


def replaced(x: Any, new: Callable[[Any], Any]) -> Any:
    """Return nested tuples, lists and dictionaries with other values in place of their variables.

    >>> from minigrad.graph.program import replaced
    >>> replaced({"key": (minigrad.graph.Var((), minigrad.int64), 2)}, lambda v: v.type)
    {'key': ('int64[]', 2)}
    """
    if isinstance(x, Var):
        return new(x)
    if type(x) in (tuple, list):
        return type(x)([replaced(each, new) for each in x])
    if isinstance(x, dict):
        return {name: replaced(each, new) for name, each in x.items()}
    return x


def frozen(x: Any, names: dict[Var, Any]) -> Any:
    """Return a hashable stand-in that is equal only for equal values: 1, 1.0 and True differ, and 0.0 and -0.0.

    >>> from minigrad.graph.program import frozen
    >>> frozen((0.0, slice(1)), {}) == frozen((-0.0, slice(1)), {})
    False
    """
    if isinstance(x, Var):
        return "variable", names[x]
    if isinstance(x, tuple | list):
        return type(x).__name__, tuple(frozen(each, names) for each in x)
    if isinstance(x, dict):
        return tuple((name, frozen(each, names)) for name, each in x.items())
    if isinstance(x, slice | range):
        return type(x).__name__, *(frozen(each, names) for each in (x.start, x.stop, x.step))
    if isinstance(x, Graph):
        return "graph", x._form()
    if isinstance(x, np.ndarray):
        return "array", x.shape, x.dtype, x.tobytes()
    if isinstance(x, float | np.floating):
        return type(x), float(x).hex()
    if isinstance(x, complex | np.complexfloating):
        return type(x), float(x.real).hex(), float(x.imag).hex()
    try:
        hash(x)
    except TypeError:
        return type(x), id(x)
    return type(x), x
