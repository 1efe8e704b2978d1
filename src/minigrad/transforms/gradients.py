"""Gradients of functions that return one number: `grad` and `value_and_grad`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minigrad.scalar import Scalar
from minigrad.tensors import creation
from minigrad.transforms.arguments import check_callable, positions, recorded, with_variables
from minigrad.transforms.recording import Recording, is_variable

Argnums = int | Sequence[int]


def grad(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return the function that computes the gradient of a function of one number.

    Args:
        fun: Returns one number: a tensor without axes, or a Scalar.
        argnums: Which positional arguments to differentiate in: trees of tensors of floats, Scalars, floats.
        has_aux: Whether fun returns a pair, whose second part is not differentiated.

    Returns:
        A function of fun's arguments. It returns the gradient: a tree like the argument, or for a tuple of argnums a
        tuple of trees; with has_aux a pair of that and the second part.

    Raises:
        TypeError: When called, if the result is no single float, or an argument has no derivative.
        ValueError: When called, if there is no such argument.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.grad.html

    >>> f = minigrad.transforms.grad(lambda x: (x**3).sum())
    >>> f(minigrad.tensor([2.0, 3.0]))
    tensor([12., 27.])
    >>> minigrad.transforms.grad(lambda x: f(x).sum())(minigrad.tensor([2.0, 3.0]))
    tensor([12., 18.])
    """
    return gradient_of("grad", fun, argnums, has_aux)


def gradient_of(name: str, fun: Callable[..., Any], argnums: Argnums, has_aux: bool) -> Callable[..., Any]:
    """Return what `grad` returns, for a transform of another name."""
    check_callable(name, fun)

    @functools.wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        _, gradients, aux = _value_and_gradients(name, fun, argnums, has_aux, args, kwargs)
        return (gradients, aux) if has_aux else gradients

    return gradient


def value_and_grad(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return the function that computes both a function of one number and its gradient.

    Args:
        fun: Returns one number: a tensor without axes, or a Scalar.
        argnums: Which positional arguments to differentiate in.
        has_aux: Whether fun returns a pair, whose second part is not differentiated.

    Returns:
        A function of fun's arguments. It returns a pair of the value and what `grad` returns; with has_aux the value is
        a pair of the number and the second part.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html

    >>> minigrad.transforms.value_and_grad(lambda x: (x**2).sum())(minigrad.tensor([1.0, 2.0, 3.0]))
    (tensor(14.), tensor([2., 4., 6.]))
    """
    check_callable("value_and_grad", fun)

    @functools.wraps(fun)
    def both(*args: Any, **kwargs: Any) -> Any:
        value, gradients, aux = _value_and_gradients("value_and_grad", fun, argnums, has_aux, args, kwargs)
        return ((value, aux) if has_aux else value), gradients

    return both


def _value_and_gradients(
    name: str, fun: Callable[..., Any], argnums: Argnums, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any, Any]:
    run, put = run_in(name, fun, argnums, has_aux, args, kwargs)
    gradients = put(run.pull([_start(name, run)]))
    value, aux = run.returned()
    return value, gradients, aux


def run_in(
    name: str, fun: Callable[..., Any], argnums: Argnums, has_aux: bool, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Recording, Callable[[Sequence[Any]], Any]]:
    """Run a function, recorded in some of its arguments.

    Returns:
        The run, and a function that makes of one value for each input a tree like the argument, or a tuple of them.
    """
    places = positions(name, argnums, len(args))

    def of_chosen(*chosen: Any) -> Any:
        every = list(args)
        for place, value in zip(places, chosen, strict=True):
            every[place] = value
        return fun(*every, **kwargs)

    trees = [args[place] for place in places]
    run = recorded(name, of_chosen, trees, [f"argument {place}" for place in places], has_aux)
    put = with_variables(trees)
    return run, (lambda leaves: tuple(put(leaves))) if isinstance(argnums, tuple | list) else lambda x: put(x)[0]


def _start(name: str, run: Recording) -> Any:
    """Return the gradient to start from: 1."""
    y = run.results[0]
    if run.structure.kind is not None:
        raise TypeError(
            f"{name}: the function must return one number, not {run.structure}; return the loss alone, or the rest as "
            "aux with has_aux=True"
        )
    if isinstance(y, Scalar):
        return Scalar(1.0, requires_grad=False)
    if y.ndim:
        raise TypeError(
            f"{name}: the function must return one number, a tensor of shape (), not of shape {y.shape}; reduce it, "
            "for example with .sum(), or use jacrev"
        )
    if not is_variable(y):
        raise TypeError(f"{name}: the function returned a tensor of {y.dtype}, which has no derivative; return floats")
    return creation.ones((), dtype=y.dtype, device=y.device)
