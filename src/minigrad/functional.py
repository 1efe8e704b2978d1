"""Functions that take a function of tensors and return another one: its derivatives, to be read.

Everything here is made of one thing: a run of the function on inputs of its own, `vjp`, from whose result a gradient
can be taken back. `minigrad.transforms` has the same functions by JAX's interface, for trees of tensors, and faster.

While a function is being differentiated, results keep their history, so that these functions may stand inside each
other. What the outermost one returns is constant.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minigrad import autodiff, autograd, dual
from minigrad.batching import Batched, axis_to_front
from minigrad.functions import Function
from minigrad.tensors import Tensor, creation

__all__ = [
    "checkpoint",
    "differentiating",
    "finished",
    "fresh",
    "grad",
    "gradients",
    "hessian",
    "hvp",
    "is_vmap",
    "jacfwd",
    "jacrev",
    "largest_bend",
    "unit_vectors",
    "value_and_grad",
    "vjp",
]

_running = 0  # functions that are being differentiated now, one inside the other


@contextmanager
def differentiating() -> Iterator[None]:
    """Run a function that is to be differentiated: operations are recorded, and results keep their history.

    >>> with minigrad.functional.differentiating():
    ...     y = minigrad.functional.finished(minigrad.functional.fresh(3.0) * 2.0)
    >>> y.requires_grad
    True
    """
    global _running
    _running += 1
    try:
        with autodiff.enable_grad():
            yield
    finally:
        _running -= 1


def fresh(x: Any) -> Any:
    """Return a tensor of the same values that is a node of its own, for one run of a function.

    The caller's tensor stays as it is, and the gradient in the node is that of this run alone. If the caller's tensor
    has a history, the node stands behind it, so that an outer derivative finds its way.

    >>> x = minigrad.functional.fresh(3.0)
    >>> x, x.requires_grad
    (tensor(3., requires_grad=True), True)
    """
    if isinstance(x, dual.Dual):
        raise TypeError("vjp: it cannot run on Duals; put jvp inside and vjp or grad around it")
    if isinstance(x, Batched):
        return Batched(fresh(x.value))
    if not isinstance(x, Tensor):
        x = creation.tensor(float(x))
    with autodiff.enable_grad():
        return x.view(*x.shape) if x.requires_grad else x.detach().requires_grad_()


def finished(x: Any) -> Any:
    """Return a result: a constant, or x itself while an outer function is being differentiated.

    >>> minigrad.functional.finished(minigrad.tensor(3.0, requires_grad=True))
    tensor(3.)
    """
    if isinstance(x, Batched):
        return Batched(finished(x.value))
    return x if _running or not isinstance(x, Tensor) else x.detach()


def gradients(y: Any, inputs: Sequence[Any], cotangent: Any) -> list[Any]:
    """Take a gradient of y back to the nodes that it was computed from, and keep the record for a further call.

    Args:
        y: A tensor.
        inputs: Nodes, as `fresh` gives them.
        cotangent: A gradient in y, of its shape.

    Returns:
        A gradient for each input, in its shape; zeros for an input that y does not depend on. They are recorded while
        an outer function is being differentiated.

    >>> x, y = minigrad.functional.fresh(3.0), minigrad.functional.fresh(5.0)
    >>> minigrad.functional.gradients(x * x, [x, y], minigrad.tensor(10.0))
    [tensor(60.), tensor(0.)]
    """
    if any(isinstance(x, Batched) for x in inputs):
        return [Batched(g) for g in _gradients_of_batch(y, inputs, cotangent)]
    if isinstance(y, Batched):
        raise TypeError(
            "vjp: under vmap all arguments belong to the batch; hand this one to vmap too, with in_axes None"
        )
    found: Sequence[Any] = [None] * len(inputs)
    if isinstance(y, Tensor) and y.requires_grad:
        found = autograd.grad(y, inputs, cotangent, retain_graph=True, create_graph=bool(_running), allow_unused=True)
    return [creation.zeros_like(x.detach()) if g is None else g for x, g in zip(inputs, found, strict=True)]


def _gradients_of_batch(y: Any, inputs: Sequence[Any], cotangent: Any) -> list[Any]:
    """Return the gradients of all examples: examples do not meet, so one pass serves them all."""
    y, cotangent = (z.value if isinstance(z, Batched) else z for z in (y, cotangent))
    if isinstance(y, Tensor):
        cotangent = cotangent.expand(*y.shape)
    return gradients(y, [x.value for x in inputs], cotangent)


def unit_vectors(x: Any) -> list[Any]:
    """Return, for each element of a tensor, a tensor like it with 1 at that element and 0 everywhere else.

    >>> minigrad.functional.unit_vectors(minigrad.tensor([5.0, 6.0]))
    [tensor([1., 0.]), tensor([0., 1.])]
    """
    return [row.view(*x.shape) for row in creation.eye(x.numel(), dtype=x.dtype)]


def vjp(
    f: Callable[..., Any],
    *primals: Any,
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Compute a function, and return the one that takes its result's gradient back.

    That is a vector times the Jacobian.

    The function f is called once, under `differentiating`, on nodes of its own: one for
    each argument, by `fresh`. Nothing is left in any ``.grad``.

    Args:
        f: A function of one or several tensors that returns a tensor.
        *primals: Its arguments: tensors, or numbers.

    Returns:
        The value, and a function. It gets a cotangent (a gradient in the value, of its
        shape) and returns a tuple with the gradient in each argument; it may be called
        again. The value is `finished`.
    """
    ### BEGIN SOLUTION
    with differentiating():
        inputs = [fresh(x) for x in primals]
        y = f(*inputs)

    def back(cotangent: Any) -> tuple[Any, ...]:
        return tuple(gradients(y, inputs, cotangent))

    return finished(y), back
    ### END SOLUTION


def value_and_grad(
    f: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
) -> Callable[..., Any]:
    """Return the function that computes the value of f and its gradient.

    Args:
        f: A function of tensors that returns one number: a tensor of shape ().
        argnums: The place of the argument to differentiate in, or a tuple of places.
            All others are constants.

    Returns:
        A function of f's arguments. It returns a pair: the value, and the gradient in
        the argument, or for a tuple of places a tuple of gradients. It raises a
        TypeError if f returns a tensor that has axes.
    """
    ### BEGIN SOLUTION
    places = (argnums,) if isinstance(argnums, int) else argnums

    def both(*args: Any) -> tuple[Any, Any]:
        def at_places(*chosen: Any) -> Any:
            given = list(args)
            for place, x in zip(places, chosen, strict=True):
                given[place] = x
            return f(*given)

        value, back = vjp(at_places, *[args[place] for place in places])
        if value.shape != ():
            raise TypeError(f"grad: the function must return one number, not {value.shape}; add up, or use jacrev")
        found = back(creation.ones(()))
        return value, found[0] if isinstance(argnums, int) else found

    return both
    ### END SOLUTION


def grad(
    f: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
) -> Callable[..., Any]:
    """Return the function that computes the gradient of f.

    It is what `value_and_grad` returns, without the value.
    """
    ### BEGIN SOLUTION
    return lambda *args: value_and_grad(f, argnums)(*args)[1]
    ### END SOLUTION


def jacfwd(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function that computes the Jacobian of f in forward mode.

    It takes a run with Duals for each element of x.

    Args:
        f: A function of a tensor x that returns a tensor y.

    Returns:
        A function of x. It returns a tensor of shape (*y.shape, *x.shape) and of x's
        dtype: how fast each element of y moves with each element of x. For vectors of m
        and n elements it is a matrix of m rows and n columns.
    """
    ### BEGIN SOLUTION

    def jacobian(x: Any) -> Any:
        columns = [dual.jvp(f, (x,), (direction,))[1] for direction in unit_vectors(x)]
        return creation.stack(columns, dim=-1).view(*columns[0].shape, *x.shape)

    return jacobian
    ### END SOLUTION


def jacrev(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function that computes the Jacobian of f in reverse mode.

    It takes one run, and a pass for each element of y.

    Arguments and result are those of `jacfwd`.
    """
    ### BEGIN SOLUTION

    def jacobian(x: Any) -> Any:
        y, back = vjp(f, x)
        rows = [back(direction)[0] for direction in unit_vectors(y)]
        return creation.stack(rows).view(*y.shape, *x.shape)

    return jacobian
    ### END SOLUTION


def hvp(f: Callable[[Any], Any], x: Any, v: Any) -> Any:
    """Return the Hessian of f at x times a vector, without the Hessian.

    Args:
        f: A function of a tensor that returns one number.
        x: Where.
        v: The vector, a tensor of x's shape.

    Returns:
        How fast the gradient of f moves when x moves with v: a tensor of x's shape. The
        number of runs of f does not depend on how many elements x has.
    """
    ### BEGIN SOLUTION
    _, back = vjp(grad(f), x)
    return back(v)[0]
    ### END SOLUTION


def hessian(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function that computes all second derivatives of f.

    Args:
        f: A function of a tensor x that returns one number.

    Returns:
        A function of x. It returns a tensor of shape (*x.shape, *x.shape).
    """
    ### BEGIN SOLUTION
    return jacrev(grad(f))
    ### END SOLUTION


def largest_bend(f: Callable[[Any], Any], x: Any, v: Any, steps: int = 20) -> float:
    """Find the Hessian's eigenvalue of largest size, by power iteration on `hvp`.

    Each step makes v one long and replaces it by the Hessian times v. The part of v
    along the strongest direction grows fastest, and the others fade.

    Args:
        f: A function of a tensor that returns one number.
        x: Where.
        v: A vector to start from, a tensor of x's shape: any that is not 0.
        steps: How often to multiply, at least once.

    Returns:
        The sum of v * (H v), a number, for the v of length 1 of the last step. Along a
        direction that bends downwards it is negative.
    """
    ### BEGIN SOLUTION
    for _ in range(steps):
        v = v / (v * v).sum() ** 0.5
        product = hvp(f, x, v)
        bend: float = (v * product).sum().item()
        v = product
    return bend
    ### END SOLUTION


def is_vmap(vmap: Callable[..., Any]) -> bool:
    """Decide by trying whether a function does what `batching.vmap` should.

    A function that agrees with a loop over the examples is right, even if it is a loop.

    Args:
        vmap: The function. It takes a function of one example's tensors, and `in_axes`:
            for each argument the axis that counts the examples, or None if all share
            the argument; one number, or None, serves for all arguments.

    Returns:
        True if

        - each result is that of the loop, stacked along axis 0: in its shape, in its
          numbers, and in the order of the examples. The function of one example may do
          all that a `Batched` can do, use tensors that are no arguments, return a tuple
          of results, and a result such as 7.0, the same for all examples. It may be the
          `grad` of another one, also in an argument that all examples share;
        - a call raises a ValueError if its arguments disagree about the number of
          examples, or if none of them counts any.

        An error of the function under test may pass through: it refuses as well.
    """
    ### BEGIN SOLUTION

    def agrees(f: Callable[..., Any], in_axes: Any, *args: Any) -> bool:
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        pairs = zip(args, axes, strict=True)
        columns = [itertools.repeat(x) if axis is None else axis_to_front(x, axis) for x, axis in pairs]
        rows, found = [f(*each) for each in zip(*columns, strict=False)], vmap(f, in_axes)(*args)
        if not isinstance(found, tuple):
            rows, found = [(row,) for row in rows], (found,)
        wanted = [[creation.as_tensor(y).tolist() for y in column] for column in zip(*rows, strict=True)]
        return [each.tolist() for each in found] == wanted

    def refuses(in_axes: Any, *args: Any) -> bool:
        try:
            vmap(lambda x, y: x * y, in_axes)(*args)
        except ValueError:
            return True
        return False

    x = creation.arange(24.0).view(2, 3, 4)
    return (
        agrees(lambda a: (a.sum(dim=0), a.sum(dim=-1), 7.0), -1, x)
        and agrees(lambda a, b: a * b + x.view(4, 2, 3), -1, x[0], x)
        and agrees(grad(lambda w, a: ((w * a).sum() - 1.0) ** 2), (None, 0), x[0, 0], x[0])
        and refuses(0, creation.ones(3), creation.ones(1))
        and refuses(None, x, x)
    )
    ### END SOLUTION


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes f, and keeps nothing of it for the way back.

    It keeps its arguments only, and computes f again when a gradient is asked for.

    Args:
        f: A function of one or several tensors that returns a tensor, the same one
            whenever it is called.

    Returns:
        A function with the same values and derivatives. Nothing that f computes on the
        way stays in memory.
    """
    ### BEGIN SOLUTION

    class Recomputed(Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.save_for_backward(*inputs)
            return f(*inputs)

        @staticmethod
        def backward(ctx: Any, d_output: Any) -> Any:
            _, back = vjp(f, *ctx.saved_values)
            return back(d_output)

    return Recomputed.apply
    ### END SOLUTION
