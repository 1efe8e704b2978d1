"""All derivatives of a function at once: `jacfwd`, `jacrev` and `hessian`; and `hvp`, which needs no Hessian."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from minigrad.scalar import Scalar
from minigrad.tensors import Tensor, creation
from minigrad.transforms.arguments import check_callable
from minigrad.transforms.derivatives import pushed
from minigrad.transforms.gradients import Argnums, gradient_of, run_in
from minigrad.transforms.recording import Recording, is_variable, zeros_like
from minigrad.transforms.vmapping import vmap


def jacfwd(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return the function that computes the Jacobian column by column, in forward mode.

    It is the quicker way where a function has fewer inputs than outputs.

    Args:
        fun: A function of trees that returns a tree.
        argnums: Which positional arguments to differentiate in.
        has_aux: Whether fun returns a pair, whose second part is not differentiated.

    Returns:
        A function of fun's arguments. It returns the tree of fun's results; in place of each leaf y stands a tree like
        the argument, with a tensor of shape (*y.shape, *x.shape) for each leaf x.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.jacfwd.html

    >>> minigrad.transforms.jacfwd(lambda x: x**2)(minigrad.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    return _jacobian("jacfwd", fun, argnums, has_aux, _columns)


def jacrev(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return the function that computes the Jacobian row by row, in reverse mode.

    It is the quicker way where a function has fewer outputs than inputs. Arguments and result are those of `jacfwd`.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.jacrev.html

    >>> minigrad.transforms.jacrev(lambda x: x.sum() * x)(minigrad.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])
    """
    return _jacobian("jacrev", fun, argnums, has_aux, _rows)


def hessian(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return the function that computes all second derivatives: `jacfwd` of `jacrev`.

    Args:
        fun: A function of trees that returns a tree.
        argnums: Which positional arguments to differentiate in.
        has_aux: Whether fun returns a pair, whose second part is not differentiated.

    Returns:
        A function of fun's arguments. For one tensor x and a result y it returns a tensor of shape
        (*y.shape, *x.shape, *x.shape); for trees, trees of trees.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.hessian.html

    >>> minigrad.transforms.hessian(lambda x: (x**2).sum())(minigrad.tensor([1.0, 2.0, 3.0]))
    tensor([[2., 0., 0.],
            [0., 2., 0.],
            [0., 0., 2.]])
    """
    rows = _jacobian("hessian", fun, argnums, has_aux, _rows)
    return _jacobian("hessian", rows, argnums, has_aux, _columns)


def hvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Return the Hessian of a function of one number times a vector, without the Hessian.

    It takes a small multiple of the function's time and memory, however many elements the arguments have.

    Args:
        fun: Returns one number.
        primals: Its arguments, a tuple or a list of trees.
        tangents: The vector, in the same structure.

    Returns:
        The product, like the one argument; a tuple where there are several.

    Source: https://docs.jax.dev/en/latest/notebooks/autodiff_cookbook.html#hessian-vector-products-using-both-forward-and-reverse-mode

    >>> x, v = minigrad.tensor([1.0, 2.0]), minigrad.tensor([1.0, 0.0])
    >>> minigrad.transforms.hvp(lambda x: (x**3).sum() + x.prod(), (x,), (v,))
    tensor([6., 1.])
    """
    several = isinstance(primals, tuple | list) and len(primals) != 1
    argnums = tuple(range(len(primals))) if several else 0
    return pushed("hvp", gradient_of("hvp", fun, argnums, False), primals, tangents, False)[1]


def _jacobian(
    name: str, fun: Callable[..., Any], argnums: Argnums, has_aux: bool, table: Callable[[Recording], list[list[Any]]]
) -> Callable[..., Any]:
    check_callable(name, fun)

    @functools.wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        run, put = run_in(name, fun, argnums, has_aux, args, kwargs)
        _, aux = run.returned()
        derivatives = run.tree([put(row) for row in table(run)])
        return (derivatives, aux) if has_aux else derivatives

    return jacobian


def _columns(run: Recording) -> list[list[Any]]:
    """Return, for each result, its derivatives in all inputs, by forward mode."""
    columns = []
    for place, x in enumerate(run.inputs):
        before, after = [None] * place, [None] * (len(run.inputs) - place - 1)

        def column(t: Any, before: Any = before, after: Any = after) -> list[Any]:
            changes = run.push([*before, t, *after])
            return [zeros_like(y) if d is None else d for y, d in zip(run.results, changes, strict=True)]

        columns.append(_for_all_directions(column, x, -1))
    of_results = zip(*columns, strict=True) if columns else [()] * len(run.results)
    return [
        [_shaped(d, y, x) for d, x in zip(row, run.inputs, strict=True)]
        for row, y in zip(of_results, run.results, strict=True)
    ]


def _rows(run: Recording) -> list[list[Any]]:
    """Return, for each result, its derivatives in all inputs, by reverse mode."""
    rows = []
    for place, y in enumerate(run.results):
        before, after = [None] * place, [None] * (len(run.results) - place - 1)

        def row(c: Any, before: Any = before, after: Any = after) -> list[Any]:
            return run.pull([*before, c, *after])

        found = _for_all_directions(row, y, 0)
        rows.append([_shaped(d, y, x) for d, x in zip(found, run.inputs, strict=True)])
    return rows


def _for_all_directions(derivative: Callable[[Any], list[Any]], x: Any, axis: int) -> list[Any]:
    """Return derivatives for a change of each element of x alone, along an axis; a Scalar has one element."""
    if isinstance(x, Scalar):
        return derivative(Scalar(1.0, requires_grad=False))
    n = math.prod(x.shape)
    dtype = x.dtype if is_variable(x) else None
    basis = creation.eye(n, dtype=dtype, device=x.device).reshape(n, *x.shape)

    def of_tensors(direction: Any) -> list[Any]:  # no Scalar depends on a tensor
        return [creation.tensor(0.0) if isinstance(d, Scalar) else d for d in derivative(direction)]

    return list(vmap(of_tensors, out_axes=axis)(basis))


def _shaped(d: Any, y: Any, x: Any) -> Any:
    shape = (*getattr(y, "shape", ()), *getattr(x, "shape", ()))
    return d.reshape(*shape) if isinstance(d, Tensor) else d
