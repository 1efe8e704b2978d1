"""Visible tests of functions that become programs: recording, keeping, simplifying."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.checks.expectation import expect, expect_that, hinting
from minigrad.checks.runner import visible
from minigrad.checks.written import written
from minigrad.program import bind
from minigrad.symbols import Var

SYMBOLS = "11 'A function on symbols'"
KINDS = "11 'A program for each kind'"
LESS = "11 'What need not be computed'"
BACKWARD = "11 'A backward pass of equations'"


def ops(program: Any) -> list[str]:
    """Return the names of a program's operations."""
    return [each.op for each in program.equations]


def outputs_of(program: Any, *arrays: Any) -> list[Any]:
    """Return what a program computes, as lists; a program that has lost an equation gets a hint."""
    hint = "where an equation goes, put what stands in its place into all operands behind it, and into the outputs"
    with hinting(hint, KeyError, message="the program reads a variable that no equation computes"):
        return [y.tolist() for y in program.run(*arrays)]


@visible("program.trace", section=SYMBOLS)
def two_equations(student: SimpleNamespace) -> None:
    """x * 2 + 1 of a float32 array is two equations, in this order, and each result is float32."""
    program = student.trace(lambda x: x * 2.0 + 1.0, np.zeros(3, np.float32))
    when = {("add", "mul"): "append each equation at the end of self.equations: they run from the first to the last"}
    expect(ops(program), ["mul", "add"], hint="append each equation to self.equations", when=when)
    types = [each.output.type for each in program.equations]
    expect(types, ["float32[3]", "float32[3]"], hint="result_of(op, *operands, **options)")
    expect(program.run(np.ones(3, np.float32))[0].tolist(), [3.0, 3.0, 3.0], hint="hand the operands on in their order")


@visible("program.trace", section=SYMBOLS)
def a_sum_along_an_axis(student: SimpleNamespace) -> None:
    """The sum of a (2, 3) array along axis 1 has shape (2,), and its equation knows the axis."""
    program = student.trace(lambda x: x.sum(axis=1), np.zeros((2, 3)))
    (equation,) = program.equations
    expect(dict(equation.options), {"axis": 1, "keepdims": False}, hint="hand the options to the equation")
    hint = "result_of(op, *operands, **options) says what comes out; hand it the options as well"
    expect(equation.output.type, "float64[2]", hint=hint)


@visible("program.trace", section=SYMBOLS)
def results_and_arguments(student: SimpleNamespace) -> None:
    """A tuple of results is several outputs, and an argument that is no array is no input."""
    program = student.trace(lambda x, n: (x * n, x), np.zeros(2), 3)
    inputs, outputs = len(program.inputs), len(program.outputs)
    expect_that(inputs == 1, f"the program has {inputs} inputs, expected 1", "symbols for arrays, all else as it is")
    expect_that(
        outputs == 2, f"the program has {outputs} outputs, expected 2", "every element of the tuple is an output"
    )


@visible("program.trace", section=SYMBOLS)
def a_captured_array(student: SimpleNamespace) -> None:
    """An array that is used twice is one constant, which keeps the values of the recording."""
    weights = np.array([1.0, 2.0])
    program = student.trace(lambda x: (x * weights + weights, weights), np.zeros(2))
    count = len(program.constants)
    hint = "self.captured says which arrays were met; compare with `is`"
    expect_that(count == 1, f"the program has {count} constants for one array", hint)
    weights[0] = 100.0
    expect(program.run(np.ones(2))[0].tolist(), [2.0, 4.0], hint="keep a copy, np.array(x)")


@visible("program.trace", section=SYMBOLS)
def an_if(student: SimpleNamespace) -> None:
    """`if x > 0` is a TypeError whose sentence names `where`."""
    try:
        student.trace(lambda x: x if x > 0.0 else -x, np.zeros(()))
    except TypeError as error:
        hint = "say in the sentence what to use instead: where"
        expect_that("where" in str(error), f"the sentence was {str(error)!r}", hint)
        return
    expect_that(False, "nothing was raised", "refuse() has to raise a TypeError")


@visible("program.jit", section=KINDS)
def recorded_once(student: SimpleNamespace) -> None:
    """Three calls with arrays of one kind record the function once."""
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x * 2.0

    quick = student.Jitted(f)
    results = [quick(np.full(2, value)) for value in (1.0, 2.0, 3.0)]
    hint = "a single output is handed out alone: outputs[0]"
    expect_that(not isinstance(results[0], tuple), "a function of one result gave a tuple", hint)
    hint = "call what is kept with the arrays of this call"
    expect([each.tolist() for each in results], [[2.0, 2.0], [4.0, 4.0], [6.0, 6.0]], hint=hint)
    expect_that(len(calls) == 1, f"f was recorded {len(calls)} times", "look into self.kept first")
    reason = f"{quick.hits} hits and {quick.misses} misses, expected 2 and 1"
    expect_that((quick.hits, quick.misses) == (2, 1), reason, "a hit is a call that found its program")


@visible("program.jit", section=KINDS)
def other_kinds(student: SimpleNamespace) -> None:
    """Another shape, another type and another number need programs of their own."""
    quick = student.Jitted(lambda x, n: (x * n, x.sum()))
    given = {
        "the first call": (np.ones(2), 1.0),
        "another shape": (np.ones(3), 1.0),
        "another type": (np.ones(2, np.float32), 1.0),
        "another number": (np.ones(2), 2.0),
        "1 in the place of 1.0": (np.ones(2), 1),
    }
    for number, (kind, args) in enumerate(given.items(), start=1):
        quick(*args)
        hint = "the spec of an array is its shape and dtype; that of all else its value and repr"
        expect_that(quick.misses == number, f"no new program for {kind}", hint)


@visible("program.jit", section=KINDS)
def what_is_built(student: SimpleNamespace) -> None:
    """What runs is what `build` has made of the program; several outputs stay a tuple."""
    quick = student.Jitted(lambda x: x * 2.0, lambda program: lambda x: (x, x, len(program.equations)))
    found = quick(np.ones(1))
    right = isinstance(found, tuple) and len(found) == 3 and found[2] == 1
    expect_that(right, f"`build` made a function of three results, and got {found}", "self.build(trace(self.f, *args))")


@visible("program.simplify", section=LESS)
def folded(student: SimpleNamespace) -> None:
    """With w known, (x * 1) * exp(w * 2) is one equation; x * 1 is none."""
    lines = "a = mul x 1.0", "b = mul w 2.0", "c = exp b", "d = mul a c", "e = mul x 1.0", "return d e"
    small = student.fold(bind(written("x:float64[2] w:float64[2]", *lines), 1, np.zeros(2)))
    expect(ops(small), ["mul"], hint="put what you compute among the known constants; put x in the place of x * 1")
    expect(outputs_of(small, np.array([2.0, 3.0])), [[2.0, 3.0]] * 2, hint="the outputs as well")


@visible("program.simplify", section=LESS)
def not_folded(student: SimpleNamespace) -> None:
    """x * 0 stays, for infinity, and integers times 1.0, which are floats."""
    x = np.array([np.inf])
    (found,) = student.fold(written("x:float64[1]", "y = mul x 0.0", "return y")).run(x)
    hint = "infinity times 0 is nan: leave the equation"
    expect_that(bool(np.isnan(np.asarray(found)).all()), f"infinity * 0 gave {found}", hint)
    n = np.array([2])
    kind = student.fold(written("n:int64[1]", "y = mul n 1.0", "return y")).run(n)[0].dtype
    hint = "x * 1.0 is x only if the result has the shape and the dtype of x"
    expect_that(kind == np.float64, f"an integer times 1.0 has become {kind}", hint)


@visible("program.simplify", section=LESS)
def merged(student: SimpleNamespace) -> None:
    """exp(exp(x)) - exp(exp(x)) needs two exponentials, not four; two random draws stay two."""
    lines = "a = exp x", "b = exp a", "c = exp x", "d = exp c", "e = sub b d", "return e"
    small = student.merge(written("x:float64[2]", *lines))
    expect(ops(small), ["exp", "exp", "sub"], hint="replace operands first, then look for an equal equation")
    twice = student.merge(written("x:float64[1]", "a = mul x 2.0", "b = mul x 2.0", "return a b"))
    expect(outputs_of(twice, np.ones(1)), [[2.0], [2.0]], hint="replace the outputs as well")
    draws = student.merge(written("x:float64[2]", "a = rand_like x", "b = rand_like x", "c = sub a b", "return c"))
    expect(ops(draws), ["rand_like", "rand_like", "sub"], hint="OPS[op].pure is False for random numbers")
    both = "a = sum x axis=0 keepdims=False", "b = sum x axis=1 keepdims=False", "return a b"
    sums = student.merge(written("x:float64[2,2]", *both))
    expect(ops(sums), ["sum", "sum"], hint="sums along two axes differ: the options belong to the key")


@visible("program.simplify", section=LESS)
def pruned(student: SimpleNamespace) -> None:
    """A chain that nobody reads goes, with its constant; the inputs and a random draw stay."""
    lines = "a = mul y w", "b = exp a", "c = rand_like x", "d = mul x 2.0", "return d"
    program = bind(written("x:float64[2] y:float64[2] w:float64[2]", *lines), 2, np.zeros(2))
    small = student.prune(program)
    when = {("mul",): "a random draw stays, also if nobody reads it: OPS[op].pure is False"}
    expect(ops(small), ["rand_like", "mul"], hint="go through the equations from the last to the first", when=when)
    count = len(small.inputs), len(small.constants)
    hint = "inputs stay, constants that nobody reads go"
    expect_that(count == (2, 0), f"{count[0]} inputs and {count[1]} constants are left, expected 2 and 0", hint)


@visible("program.backward", section=BACKWARD)
def gradients_by_hand(student: SimpleNamespace) -> None:
    """The loss x * y + sqrt(y) at x = 5, y = 4 is 22; its gradient in y is 5 + 1/4, and in x it is 4."""
    given = written("x:float64[] y:float64[]", "a = mul x y", "b = sqrt y", "c = add a b", "return c a")
    whole = student.backward(given, [1, 0])
    forward, back = ops(whole)[:3], ops(whole)[3:]
    expect(forward, ["mul", "sqrt", "add"], hint="the program's own equations come first: [*program.equations, ...]")
    hint = "walk from the last equation to the first; a rule gets symbols, and their recorder writes"
    expect_that(bool(back), "no equation was written down for the gradients", hint)
    expect_that(
        len(whole.outputs) == 4, f"{len(whole.outputs)} outputs, expected 2 and 2", "keep the program's outputs"
    )
    two = "y has two users: add what comes back from both"
    when = {
        (22.0, 20.0, 5.0, 4.0): two,
        (22.0, 20.0, 0.25, 4.0): two,
        (22.0, 20.0, 4.0, 5.25): "wrt is [1, 0]: the gradient in y comes first",
        (22.0, 20.0, 4.25, 4.0): "each operand has a rule of its own",
    }
    expect(_run(whole, 5.0, 4.0), [22.0, 20.0, 5.25, 4.0], hint="a rule gets d, out, and all operands", when=when)


@visible("program.backward", section=BACKWARD)
def one_operand_twice(student: SimpleNamespace) -> None:
    """The slope of x - x is 0, and that of x * 2, where x is less than 1, is 2."""
    given = written("x:float64[]", "a = sub x x", "return a")
    hint = "go through the operands by their places: x stands at both"
    expect(_run(student.backward(given, [0]), 3.0), [0.0, 0.0], hint=hint)
    given = written("x:float64[]", "c = less x 1.0", "a = mul x 2.0", "b = where c a 0.0", "return b")
    with hinting("a rule may be None, as those of `less`: nothing goes back there", TypeError):
        whole = student.backward(given, [0])
    expect(_run(whole, 0.5), [1.0, 2.0], hint="nothing goes back through the condition")


@visible("program.backward", section=BACKWARD)
def a_row_and_a_column(student: SimpleNamespace) -> None:
    """A row and a column that are multiplied by a table get a row and a column: sums along its axes."""
    total = "s = sum b axis=None keepdims=False"
    given = written("r:float64[2] k:float64[3,1] t:float64[3,2]", "a = mul r t", "b = mul a k", total, "return s")
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = _run(student.backward(given, [0, 1]), np.ones(2), np.ones((3, 1)), table)
    hint = "sum what a rule returns over the axes along which the operand was repeated"
    expect(found[1], [9.0, 12.0], hint=hint)
    expect(found[2], [[3.0], [7.0], [11.0]], hint="an axis of size 1 was repeated too, and stays with size 1")
    given = written("z:float64[4] t:float64[3,2]", "a = sum z axis=0 keepdims=False", "b = mul a t", total, "return s")
    with hinting("a gradient has the shape of its variable before its own rule is asked", ValueError, TypeError):
        whole = student.backward(given, [0])
    expect(_run(whole, np.zeros(4), table)[1], [21.0] * 4, hint="each element moves the sum, and so each product")


@visible("program.backward", section=BACKWARD)
def what_needs_no_gradient(student: SimpleNamespace) -> None:
    """An input that the loss does not need has zeros; a number, a constant and the input k cause no equation."""
    inputs = "x:float64[] k:float64[] z:float64[2] w:float64[]"
    lines = "a = mul x k", "b = mul a w", "c = mul b 2.0", "return c"
    given = bind(written(inputs, *lines), 3, np.array(3.0))
    whole = student.backward(given, [0, 2])
    hint = "an input without a gradient has zeros of its shape: a constant of the recorder"
    expect_that(isinstance(whole.outputs[-1], Var), f"its gradient was {whole.outputs[-1]!r}", hint)
    found = _run(whole, 7.0, 5.0, np.zeros(2))
    expect(found, [210.0, 30.0, [0.0, 0.0]], hint=hint)
    hint = "ask rules only for what is computed from inputs of wrt: no numbers, constants, other inputs"
    expect(ops(whole)[3:], ["mul", "mul", "mul"], hint=hint)
    hint = "leave the given program as it is: make new lists"
    expect(len(given.equations), 3, hint=hint, of="the equations of the given program")


def _run(program: Any, *arrays: Any) -> list[Any]:
    """Return what a program computes, as lists; a program without all it needs gets a hint."""
    hint = "the equations of the program stand in front of the recorder's; the constants are those of both"
    with hinting(hint, KeyError, message="the program reads a variable that is not there yet"):
        return [y.tolist() for y in program.run(*map(np.asarray, arrays))]
