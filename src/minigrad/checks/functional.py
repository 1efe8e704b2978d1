"""Visible tests of functions that return derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad import batching
from minigrad.checks.expectation import Expectation, expect, expect_that
from minigrad.checks.runner import visible
from minigrad.errors import ExerciseNotDone
from minigrad.tensors import Tensor

RUN = "10 'Back through a run'"
TABLE = "10 'A table of slopes'"
BEND = "10 'How the slope bends'"
HUNT = "10b 'A hunt'"
FORGET = "10b 'Forget, and compute again'"


def of(*numbers: float) -> Tensor:
    """Return a vector of float64."""
    return Tensor(np.array(numbers))


def listed(x: Any) -> Any:
    """Return the elements of a tensor, or of tensors in a tuple or a list."""
    if isinstance(x, tuple | list):
        return [listed(each) for each in x]
    return x.tolist() if isinstance(x, Tensor) else x


@visible("functional.grad", section=RUN)
def value_and_way_back(student: SimpleNamespace) -> None:
    """x y at (3, 5): the value is 15; 10 is taken back as 50 and 30."""
    found = student.vjp(lambda x, y: x * y, of(3.0), of(5.0))
    if not isinstance(found, tuple) or len(found) != 2 or not callable(found[1]):
        raise Expectation(found, None, "vjp must return a pair: the value, and a function", "return value, back", None)
    value, back = found
    expect(listed(value), [15.0], hint="call f with the nodes")
    when = {((5.0,), (3.0,)): "the cotangent is 10: hand it to gradients()"}
    expect(listed(back(of(10.0))), [[50.0], [30.0]], hint="gradients(y, nodes, cotangent)", when=when)
    expect(listed(back(of(1.0))), [[5.0], [3.0]], hint="a second call begins anew: nothing may be added up in between")


@visible("functional.grad", section=RUN)
def value_and_gradient(student: SimpleNamespace) -> None:
    """The sum of squares at (1, 2, 3) is 14, with the gradient (2, 4, 6)."""
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return (x * x).sum()

    found = student.value_and_grad(f)(of(1.0, 2.0, 3.0))
    expect(listed(found), [14.0, [2.0, 4.0, 6.0]], hint="the value of vjp, and 1 taken back")
    expect_that(len(calls) == 1, f"f was run {len(calls)} times", "vjp gives the value as well: one run is enough")
    kept = any(each.requires_grad for each in found)
    expect_that(not kept, "a result still has its history", "hand out finished(...) results")


@visible("functional.grad", section=RUN)
def the_chosen_argument(student: SimpleNamespace) -> None:
    """argnums chooses the argument; a tuple of places gives a tuple of gradients."""

    def f(x: Any, y: Any) -> Any:
        return (x * y * y).sum()

    when = {(25.0,): "this is the gradient in argument 0; argnums is 1 here"}
    expect(listed(student.grad(f, 1)(of(3.0), of(5.0))), [30.0], hint="2 x y", when=when)
    seen = student.grad(f, (1, 0))(of(3.0), of(5.0))
    expect(listed(seen), [[30.0], [25.0]], hint="one gradient for each place, in the order of the places")


@visible("functional.grad", section=RUN)
def a_vector_is_refused(student: SimpleNamespace) -> None:
    """The gradient of a vector is a TypeError."""
    try:
        seen = listed(student.grad(lambda x: x * x)(of(1.0, 2.0)))
    except TypeError:
        return
    hint = "raise TypeError(...) unless value.shape is ()"
    raise Expectation(seen, None, f"the function returned a vector, and grad gave {seen}", hint, None)


@visible("functional.grad", section=RUN)
def inside_each_other(student: SimpleNamespace) -> None:
    """The second derivative of x^3 at 2 is 12, and d/dx [x * d/dy (x + y)] is 1."""
    second = student.grad(student.grad(lambda x: x**3))(Tensor(np.array(2.0)))
    when = {0.0: "the inner argument was cut off the outer derivative: fresh(x) keeps its history"}
    expect(listed(second), 12.0, hint="run on fresh(x), under differentiating()", when=when)
    trap = student.grad(lambda x: x * student.grad(lambda y: x + y)(1.0))(Tensor(np.array(3.0)))
    expect(listed(trap), 1.0, hint="each run has nodes of its own")
    same = student.grad(lambda x: x * student.grad(lambda y: x * y)(x))(Tensor(np.array(3.0)))
    hint = "d/dx [x * d/dy (x y)] is 2 x, also where y is x: fresh(x) for an argument with a history, too"
    expect(listed(same), 6.0, hint=hint)


@visible("functional.grad", section=RUN)
def nothing_is_left(student: SimpleNamespace) -> None:
    """The argument has no .grad afterwards, and the result is a constant."""
    x = of(1.0, 2.0)
    found = student.grad(lambda x: (x * x).sum())(x)
    expect_that(x.grad is None, f"x.grad is {x.grad}", "gradients() takes gradients back and stores none")
    expect_that(not x.requires_grad, "x wants gradients afterwards", "run on fresh(x) and leave x as it is")
    expect_that(not found.requires_grad, "the result still has its history", "hand out finished(...) results")


@visible("functional.jacfwd", section=TABLE)
def rows_and_columns(student: SimpleNamespace) -> None:
    """Two results of three numbers: two rows, three columns."""
    w = Tensor(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
    wanted = [[2.0, 0.0, 12.0], [0.0, 12.0, 0.0]]
    for name in ("jacfwd", "jacrev"):
        seen = getattr(student, name)(lambda x: w @ (x * x))(of(1.0, 2.0, 3.0))
        hint = f"{name}: J[i][j] is how fast result i moves with argument j"
        when = {((2.0, 12.0, 12.0),) * 2: f"{name}: these are sums of both rows; take one unit vector at a time"}
        expect(listed(seen), wanted, hint=hint, when=when)


@visible("functional.jacfwd", section=TABLE)
def each_in_its_own_way(student: SimpleNamespace) -> None:
    """For two numbers jacfwd runs the function twice, on Duals; jacrev runs it once."""
    hints = {
        "jacfwd": "jacfwd: a run with Duals, by dual.jvp, for each element of x",
        "jacrev": "jacrev: one run, by vjp, and then a pass for each element of y",
    }
    for name, wanted in (("jacfwd", ["Dual", "Dual"]), ("jacrev", ["Tensor"])):
        seen: list[str] = []

        def f(x: Any, seen: list[str] = seen) -> Any:
            seen.append(type(x).__name__)
            return x * x

        getattr(student, name)(f)(of(1.0, 2.0))
        expect_that(seen == wanted, f"{name} ran the function on {', '.join(seen) or 'nothing'}", hints[name])


@visible("functional.jacfwd", section=TABLE)
def any_shape(student: SimpleNamespace) -> None:
    """A number's Jacobian in a (2, 3) matrix has the shape (2, 3)."""
    x = Tensor(np.ones((2, 3)))
    for name in ("jacfwd", "jacrev"):
        seen = getattr(student, name)(lambda x: (x * x).sum())(x)
        expect(list(seen.shape), [2, 3], hint=f"{name}: view(*y.shape, *x.shape)")


@visible("functional.hvp", section=BEND)
def product(student: SimpleNamespace) -> None:
    """f = x0 x1 + x0^3 at (2, 5): the Hessian (12, 1), (1, 0) times (1, 10) is (22, 1)."""
    seen = student.hvp(lambda x: x[0] * x[1] + x[0] ** 3, of(2.0, 5.0), of(1.0, 10.0))
    when = {
        (13.0, 10.0): "this is the sum of each row times v: the vector has to go through the derivative",
        (17.0, 20.0): "this is the gradient times v: the vector has to go through the derivative of the gradient",
    }
    expect(listed(seen), [22.0, 1.0], hint="take v back through grad(f)", when=when)


@visible("functional.hvp", section=BEND)
def table(student: SimpleNamespace) -> None:
    """The Hessian of the sum of squares is 2 I, wherever you are."""
    seen = student.hessian(lambda x: (x * x).sum())(of(1.0, 2.0))
    when = {((2.0, 0.0), (0.0, 4.0)): "this is the gradient on the diagonal; the slope of 2 x is 2"}
    expect(listed(seen), [[2.0, 0.0], [0.0, 2.0]], hint="the Jacobian of the gradient", when=when)
    seen = student.hessian(lambda x: x[0] * x[1] * 3.0)(of(1.0, 2.0))
    expect(listed(seen), [[0.0, 3.0], [3.0, 0.0]], hint="a product has slopes of one element in another")


@visible("functional.hvp", section=BEND)
def strongest_bend(student: SimpleNamespace) -> None:
    """In a bowl with the bends 2e9 and 1e10, and in one with 2e9 and -1e10, it finds 1e10 and -1e10."""
    for b in (5.0, -5.0):
        seen = student.largest_bend(lambda x, b=b: 1e9 * (x[0] ** 2 + b * x[1] ** 2), of(0.0, 0.0), of(1.0, 1.0), 40)
        when = {1e10: "the length of H v has no sign: take the sum of v * (H v)"} if b < 0.0 else {}
        number = listed(seen)
        broken = isinstance(number, float) and not math.isfinite(number)
        hint = "give v the length 1 in every step" if broken else "the sum of v * (H v), for a v of length 1"
        expect(number, 2e9 * b, hint=hint, tolerance=1e-6, when=when)


def _axis_0_always(f: Callable[..., Any], in_axes: Any = 0) -> Callable[..., Any]:
    def first(axis: int | None) -> int | None:
        return None if axis is None else 0

    axes: Any = tuple(map(first, in_axes)) if isinstance(in_axes, tuple) else first(in_axes)
    return batching.vmap(f, axes)


@visible("functional.is_vmap", section=HUNT)
def right_batches_pass(student: SimpleNamespace) -> None:
    """The library's vmap passes."""
    hint = "this is the library's vmap: compare with what a loop gives, stacked along axis 0, exactly or nearly so"
    expect(bool(student.is_vmap(batching.vmap)), True, hint=hint, of="the verdict on a vmap that agrees with a loop")


@visible("functional.is_vmap", section=HUNT)
def wrong_batches_are_refused(student: SimpleNamespace) -> None:
    """The vmap of the lesson that overlooks in_axes is refused."""
    hint = "this is the vmap of the lesson: let another axis than the first one count the examples"
    try:
        found = bool(student.is_vmap(_axis_0_always))
    except (ExerciseNotDone, NotImplementedError):
        raise
    except Exception:  # an error of the vmap that is judged is a refusal, too
        found = False
    expect(found, False, hint=hint, of="the verdict on a wrong vmap")


@visible("functional.checkpoint", section=FORGET)
def same_gradients(student: SimpleNamespace) -> None:
    """x y + x^2 at (3, 5), with the upstream gradient 10: 110 and 30."""
    x, y = of(3.0).requires_grad_(), of(5.0).requires_grad_()
    result = student.checkpoint(lambda x, y: x * y + x * x)(x, y)
    expect(listed(result), [24.0], hint="forward returns what f gives")
    result.backward(of(10.0))
    when = {((11.0,), (3.0,)): "d_output is 10: take it back, in the place of 1"}
    expect([listed(x.grad), listed(y.grad)], [[110.0], [30.0]], hint="back(d_output)", when=when)


@visible("functional.checkpoint", section=FORGET)
def run_again(student: SimpleNamespace) -> None:
    """The function runs once on the way there, unrecorded, and once more on the way back."""
    recorded: list[bool] = []

    def f(x: Any, y: Any) -> Any:
        z = x * y
        recorded.append(z.requires_grad)
        return z

    x, y = of(3.0).requires_grad_(), of(5.0).requires_grad_()
    student.checkpoint(f)(x, y).backward()
    hint = "the first run is in forward, where nothing is recorded; the second one in backward, by vjp"
    seen = ", ".join("recorded" if each else "unrecorded" for each in recorded)
    if recorded == [True]:
        hint = "the record of the first run is kept, and its memory with it: run f again in backward, by vjp"
    expect_that(recorded == [False, True], f"runs of f: {seen or 'none'}; expected unrecorded, recorded", hint)
