"""A function becomes a program, to be read: recording, keeping for later calls, making smaller, differentiating.

A `Recorder` runs a function once, on symbols, and writes down what is done to them. `jit` keeps a program for each kind
of arguments. `simplify` removes what need not be computed. `backward` appends the equations of a gradient.
`minigrad.jit` does the same for tensors and modules.

Source: Roy Frostig, Matthew Johnson and Chris Leary, Compiling machine learning programs via high-level tracing,
SysML 2018
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from minigrad.symbols import OPS, Equation, Program, Symbol, Var, call, result_of

__all__ = [
    "Jitted",
    "Recorder",
    "backward",
    "bind",
    "fold",
    "is_array",
    "jit",
    "merge",
    "prune",
    "replaced",
    "simplify",
    "spec",
    "trace",
]


def is_array(x: Any) -> bool:
    """Tell whether something is an array of NumPy, or a number of NumPy, which is an array without axes.

    >>> [minigrad.program.is_array(x) for x in (np.ones(3), np.float32(3.0), 3.0)]
    [True, True, False]
    """
    return isinstance(x, np.ndarray | np.generic)


class Recorder:
    """Writes down what is done to symbols.

    Attributes:
        constants: Captured arrays, in the order in which they were met: pairs of a
            variable and an array.
        equations: What was done, in order.
        captured: The arrays of `constants` as the function holds them, to know them
            again.

    >>> recorder = minigrad.program.Recorder()
    >>> var = minigrad.symbols.Var((3,), np.dtype("float32"))
    >>> x = minigrad.symbols.Symbol(var, recorder)
    >>> (x * 2.0 + x).dtype, [each.op for each in recorder.equations]
    (dtype('float32'), ['mul', 'add'])
    """

    def __init__(self) -> None:
        self.constants: list[tuple[Var, Any]] = []
        self.equations: list[Equation] = []
        self.captured: list[Any] = []

    def operand(self, x: Any) -> Any:
        """Return what stands in an equation for an operand.

        Args:
            x: A symbol of this recorder: its variable. An array (`is_array`): a
                variable among the constants, the same one each time for the same array
                object; the constant is a copy, so that it stays as it was when the
                function was recorded. A number of Python: the number itself.

        Raises:
            ValueError: For a symbol of another recorder, which a function has kept
                since an earlier recording.
            TypeError: For anything else.
        """
        ### BEGIN SOLUTION
        if isinstance(x, Symbol):
            if x.recorder is not self:
                raise ValueError("trace: this symbol belongs to another recording, whose function has kept it")
            return x.var
        if not is_array(x):
            if not isinstance(x, int | float):
                raise TypeError(f"trace: programs compute with arrays and numbers, not with a {type(x).__name__}")
            return x
        for seen, (var, _) in zip(self.captured, self.constants, strict=True):
            if seen is x:
                return var
        self.captured.append(x)
        self.constants.append((Var(x.shape, x.dtype), np.array(x)))
        return self.constants[-1][0]
        ### END SOLUTION

    def apply(self, op: str, *operands: Any, **options: Any) -> Symbol:
        """Write down an equation, and return the symbol of its result.

        `result_of` knows its shape and type.
        """
        ### BEGIN SOLUTION
        given = [self.operand(x) for x in operands]
        equation = Equation(op, given, result_of(op, *given, **options), options)
        self.equations.append(equation)
        return Symbol(equation.output, self)
        ### END SOLUTION

    def refuse(self) -> NoReturn:
        """Raise a TypeError of one sentence: a symbol has no elements yet.

        Python asks for elements in ``if x > 0``, ``while``, ``float(x)``. The sentence
        names the function to use instead of an ``if``: `where`.
        """
        ### BEGIN SOLUTION
        raise TypeError(
            "trace: a symbol has no elements yet, so Python cannot choose by it; use where(condition, x, y)"
        )
        ### END SOLUTION


def trace(f: Callable[..., Any], *examples: Any) -> Program:
    """Run a function once, on symbols, and return the program of what it did.

    Args:
        f: A function that returns an array, a number, or a tuple of these.
        *examples: Its arguments. An array becomes a symbol of its shape and type, and
            an input of the program; its elements play no part. Anything else is handed
            to f as it is.

    Returns:
        The program, by a `Recorder`. Its outputs are what f returned.

    >>> minigrad.program.trace(lambda x: x * 2.0 + 1.0, np.zeros(3, np.float32))
    { lambda a:float32[3] .
      let b:float32[3] = mul a 2.0
          c:float32[3] = add b 1.0
      in (c) }
    """
    ### BEGIN SOLUTION
    recorder = Recorder()
    given = [Symbol(Var(x.shape, x.dtype), recorder) if is_array(x) else x for x in examples]
    y = f(*given)
    outputs = [recorder.operand(each) for each in (y if isinstance(y, tuple) else (y,))]
    inputs = [each.var for each in given if isinstance(each, Symbol)]
    return Program(inputs, recorder.constants, recorder.equations, outputs)
    ### END SOLUTION


def spec(x: Any) -> Any:
    """Return what a program depends on in an argument, to be the key of a dict.

    For an array these are its shape and its type. Anything else counts as it is: its
    value, and its ``repr`` too, since 1, 1.0 and True are equal, and 0.0 equals -0.0.

    >>> spec = minigrad.program.spec
    >>> spec(np.zeros(3)) == spec(np.ones(3)), spec(1) == spec(1.0)
    (True, False)
    """
    ### BEGIN SOLUTION
    if is_array(x):
        return x.shape, x.dtype
    return x, repr(x)
    ### END SOLUTION


class Jitted:
    """A function that is recorded once for each kind of its arguments.

    Args:
        f: The function, which returns an array or a tuple of arrays.
        build: What makes of a program the function that runs it; by default the
            program's own `run`.

    Attributes:
        kept: What was compiled, by the tuple of the arguments' specs.
        hits: Calls that found their program.
        misses: Calls that recorded a new one.

    >>> double = minigrad.program.Jitted(lambda x: x * 2.0)
    >>> double(np.ones(2)), double(np.zeros(2)), double.hits, double.misses
    (array([2., 2.]), array([0., 0.]), 1, 1)
    """

    def __init__(
        self,
        f: Callable[..., Any],
        build: Callable[[Program], Callable[..., tuple[Any, ...]]] | None = None,
    ) -> None:
        self.f = f
        self.build = build or (lambda program: program.run)
        self.kept: dict[Any, Callable[..., tuple[Any, ...]]] = {}
        self.hits = 0
        self.misses = 0

    def __call__(self, *args: Any) -> Any:
        """Run the program for such arguments; `trace` and compile it if need be.

        Args:
            *args: The function's arguments; the program gets the arrays among them.

        Returns:
            The output alone if the program has one, and else the tuple of all outputs.
        """
        ### BEGIN SOLUTION
        key = tuple(map(spec, args))
        if key in self.kept:
            self.hits += 1
        else:
            self.misses += 1
            self.kept[key] = self.build(trace(self.f, *args))
        outputs = self.kept[key](*filter(is_array, args))
        return outputs[0] if len(outputs) == 1 else outputs
        ### END SOLUTION


def jit(f: Callable[..., Any]) -> Jitted:
    """Return the function that keeps programs of f.

    >>> minigrad.program.jit(lambda x: -x)(np.ones(2))
    array([-1., -1.])
    """
    return Jitted(f)


def bind(program: Program, place: int, array: Any) -> Program:
    """Return the program with an input fixed: it becomes a constant, as the weights of a trained network are.

    >>> program = minigrad.program.trace(lambda x, w: x * w, np.zeros(3), np.zeros(3))
    >>> minigrad.program.bind(program, 1, np.full(3, 2.0)).run(np.ones(3))
    (array([2., 2., 2.]),)
    """
    inputs = list(program.inputs)
    constant = (inputs.pop(place), np.array(array))
    return Program(inputs, [*program.constants, constant], program.equations, program.outputs)


def replaced(x: Any, new: dict[Any, Any]) -> Any:
    """Return an equation, or a sequence of operands, with other operands in the place of some.

    Args:
        x: An equation, or variables and numbers, such as the outputs of a program.
        new: By variable what stands in its place from now on. Others stay.

    >>> x, y = (minigrad.symbols.Var((), np.dtype("float32")) for _ in range(2))
    >>> minigrad.program.replaced([x, 2.0], {x: y}) == [y, 2.0]
    True
    """
    if isinstance(x, Equation):
        return Equation(x.op, replaced(x.operands, new), x.output, x.options)
    return [new.get(each, each) if isinstance(each, Var) else each for each in x]


def fold(program: Program) -> Program:
    """Return the program without equations whose result is known before it runs.

    - An equation of constants and numbers alone, of a pure operation, is computed now,
      by `call`, and its result is a constant from now on, for the equations behind it
      too.
    - ``x * 1``, ``1 * x``, ``x / 1`` and ``x - 0`` with a number of Python are x
      itself, if the result has x's shape and type.

    For every input, nan, infinity and -0.0 included, the outputs stay the same to the
    last bit. So ``x * 0`` stays (it is nan at infinity), ``x + 0`` (it is 0.0 at -0.0),
    and ``x - (-0.0)``, which is the same.
    """
    ### BEGIN SOLUTION
    known = dict(program.constants)
    same: dict[Any, Any] = {}
    equations = []
    for each in program.equations:
        equation = replaced(each, same)
        if OPS[each.op].pure and all(x in known for x in equation.reads()):
            values = [known[x] if isinstance(x, Var) else x for x in equation.operands]
            known[each.output] = call(each.op, *values, **each.options)
            continue
        kept = None
        match equation.op, equation.operands:
            case ("mul", (x, 1)) | ("mul", (1, x)) | ("div", (x, 1)):
                kept = x
            case ("sub", (x, 0 as number)) if repr(number)[0] != "-":
                kept = x
        if isinstance(kept, Var) and (kept.shape, kept.dtype) == (each.output.shape, each.output.dtype):
            same[each.output] = kept
        else:
            equations.append(equation)
    return Program(program.inputs, [*known.items()], equations, replaced(program.outputs, same))
    ### END SOLUTION


def merge(program: Program) -> Program:
    """Return the program with each common subexpression computed once.

    Two equations are the same if they have the same pure operation, operands and
    options; their operands may have become the same by merging others. Numbers are the
    same if `spec` is. Two random draws are never the same.
    """
    ### BEGIN SOLUTION
    found: dict[Any, Var] = {}
    same: dict[Any, Any] = {}
    equations = []
    for each in program.equations:
        equation = replaced(each, same)
        key = (each.op, *map(spec, equation.operands), repr(each.options))
        if OPS[each.op].pure and key in found:
            same[each.output] = found[key]
        else:
            found[key] = each.output
            equations.append(equation)
    return Program(program.inputs, program.constants, equations, replaced(program.outputs, same))
    ### END SOLUTION


def prune(program: Program) -> Program:
    """Return the program without equations and constants that no output needs.

    All inputs stay, and so does a random draw that nobody reads: without it the next
    one would give other numbers.
    """
    ### BEGIN SOLUTION
    needed = set(program.outputs)
    equations: list[Equation] = []
    for each in reversed(program.equations):
        if each.output in needed or not OPS[each.op].pure:
            equations.insert(0, each)
            needed.update(each.reads())
    constants = [pair for pair in program.constants if pair[0] in needed]
    return Program(program.inputs, constants, equations, program.outputs)
    ### END SOLUTION


def simplify(program: Program) -> Program:
    """Return a program that computes the same with fewer equations: folded, merged, and pruned.

    >>> f = lambda x: minigrad.symbols.exp(x * 1.0) + minigrad.symbols.exp(x)
    >>> minigrad.program.simplify(minigrad.program.trace(f, np.zeros(3)))
    { lambda a:float64[3] .
      let b:float64[3] = exp a
          c:float64[3] = add b b
      in (c) }
    """
    return prune(merge(fold(program)))


def backward(program: Program, wrt: Sequence[int]) -> Program:
    """Return the program with its backward pass: gradients behind its own equations.

    The walk goes through the equations from the last to the first. A rule
    (`OPS[op].rules`) is given symbols of a new `Recorder`, which writes down the rule's
    own equations. Nothing is computed: the program is there before any number is.

    - A variable that several operands use, of one equation or of several, gets the sum
      of what comes back from all of them.
    - A variable that was broadcast gets its gradient in its own shape, summed over the
      axes along which it was repeated.
    - Gradients go to inputs of `wrt` and to what is computed from them. Nothing is
      written down for numbers, constants, other inputs, and what is computed from these
      alone. Nothing goes back where a rule is None, as through a comparison.
    - An input of `wrt` that the loss does not depend on has zeros as its gradient, of
      its shape and its type: a constant.
    - Each equation is walked through once, when all that comes back to its output has
      been added.

    Args:
        program: A program whose first output is a variable, the loss. It is not
            changed.
        wrt: The places of some inputs, in any order.

    Returns:
        A program with the same inputs. Its outputs are those of the given program, and
        then the gradient of the loss in each input of `wrt`, in that order. The
        gradient of the loss in itself is 1, in the type of the loss.

    Raises:
        ValueError: If the loss is not one number, of shape ().

    >>> f = lambda x: minigrad.symbols.exp(x * 2.0)
    >>> given = minigrad.program.trace(f, np.zeros(()))
    >>> minigrad.program.backward(given, [0])
    { lambda a:float64[]; b:float64[] .
      let c:float64[] = mul a 2.0
          d:float64[] = exp c
          e:float64[] = mul b d
          f:float64[] = mul e 2.0
      in (d, f) }
    """
    ### BEGIN SOLUTION
    loss = program.outputs[0]
    if loss.shape != ():
        raise ValueError(f"backward: the loss has shape {loss.shape}; it must be one number, of shape ()")
    recorder = Recorder()
    inputs = [program.inputs[place] for place in wrt]
    leading = set(inputs)  # the inputs, and what is computed from them
    for each in program.equations:
        if leading.intersection(each.reads()):
            leading.add(each.output)

    def summed(gradient: Symbol, shape: tuple[int, ...]) -> Symbol:
        new = gradient.ndim - len(shape)
        repeated = tuple(i for i, size in enumerate(gradient.shape) if i < new or shape[i - new] != size)
        if repeated:
            gradient = gradient.sum(axis=repeated)
        return gradient if gradient.shape == shape else gradient.reshape(*shape)

    gradients = {loss: Symbol(recorder.operand(np.ones((), loss.dtype)), recorder)}
    for each in reversed(program.equations):
        if each.output in gradients:
            out = Symbol(each.output, recorder)
            operands = [Symbol(x, recorder) if isinstance(x, Var) else x for x in each.operands]
            for x, rule in zip(each.operands, OPS[each.op].rules, strict=True):
                if x in leading and rule is not None:
                    gradient = summed(rule(gradients[each.output], out, *operands, **each.options), x.shape)
                    gradients[x] = gradients[x] + gradient if x in gradients else gradient
    found = [gradients[x].var if x in gradients else recorder.operand(np.zeros(x.shape, x.dtype)) for x in inputs]
    constants = [*program.constants, *recorder.constants]
    equations = [*program.equations, *recorder.equations]
    return Program(program.inputs, constants, equations, [*program.outputs, *found])
    ### END SOLUTION
