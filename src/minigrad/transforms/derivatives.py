"""Jacobian times vector, and vector times Jacobian: `jvp`, `linearize` and `vjp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minigrad.layout import type_name
from minigrad.transforms.arguments import changes_of, recorded, with_variables
from minigrad.transforms.recording import Recording, zeros_like
from minigrad.transforms.trees import tree_structure


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """Compute a function, and how its result changes for a change of its arguments: the Jacobian times a vector.

    Args:
        fun: A function of trees that returns a tree.
        primals: Its arguments, a tuple or a list of trees: tensors of floats, Scalars, floats.
        tangents: The change of each, in the same structure, shapes and types.
        has_aux: Whether fun returns a pair, whose second part is not differentiated.

    Returns:
        The result and its change, in the same structure; with has_aux also the second part.

    Raises:
        TypeError: If an argument has no derivative, or structures or types do not match.
        ValueError: If shapes do not match.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.jvp.html

    >>> x, change = minigrad.tensor([1.0, 2.0]), minigrad.tensor([1.0, 0.5])
    >>> minigrad.transforms.jvp(lambda x: x * x, (x,), (change,))
    (tensor([1., 4.]), tensor([2., 2.]))
    """
    return pushed("jvp", fun, primals, tangents, has_aux)


def pushed(name: str, fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool) -> Any:
    """Return what `jvp` returns, for a transform of another name."""
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple | list):
            raise TypeError(
                f"{name}: {what} must be a tuple or a list of arguments, not {type_name(given)}; write (x,)"
            )
    run = _run(name, fun, primals, has_aux)
    changes = _checked_tangents(name, primals, tangents, run)
    results, aux = run.returned()
    change = run.tree(_filled(run, run.push(changes)))
    return (results, change, aux) if has_aux else (results, change)


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Compute a function, and return the linear function of changes that approximates it there.

    `jvp` computes both at once; this function remembers the point, for many changes.

    Args:
        fun: A function of trees that returns a tree.
        *primals: Its arguments.
        has_aux: Whether fun returns a pair, whose second part is not differentiated.

    Returns:
        The result, and a function of changes of all arguments; with has_aux also the second part.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.linearize.html

    >>> y, change_of = minigrad.transforms.linearize(lambda x: x**2, minigrad.tensor(3.0))
    >>> y, change_of(minigrad.tensor(1.0)), change_of(minigrad.tensor(0.5))
    (tensor(9.), tensor(6.), tensor(3.))
    """
    run = _run("linearize", fun, primals, has_aux)
    results, aux = run.returned()

    def change_of(*tangents: Any) -> Any:
        changes = _checked_tangents("linearize", primals, tangents, run)
        return run.tree(_filled(run, run.push(changes)))

    return (results, change_of, aux) if has_aux else (results, change_of)


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Compute a function, and return the function that takes a gradient of its result back to its arguments.

    Args:
        fun: A function of trees that returns a tree.
        *primals: Its arguments: trees of tensors of floats, Scalars, floats.
        has_aux: Whether fun returns a pair, whose second part is not differentiated.

    Returns:
        The result, and a function: given a tree of cotangents like the result, it returns a tuple of the gradients of
        all arguments. With has_aux also the second part.

    Raises:
        TypeError: If an argument has no derivative, or structures or types do not match.
        ValueError: If shapes do not match.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.vjp.html

    >>> y, back = minigrad.transforms.vjp(lambda x, w: (x * w).sum(), minigrad.tensor([1.0, 2.0]), minigrad.tensor(3.0))
    >>> y, back(minigrad.tensor(1.0))
    (tensor(9.), (tensor([3., 3.]), tensor(3.)))
    """
    run = _run("vjp", fun, primals, has_aux)
    put = with_variables(primals)
    results, aux = run.returned()

    def back(cotangents: Any) -> tuple[Any, ...]:
        given = changes_of("vjp", "the cotangent", "the result", cotangents, run.results, run.structure)
        return tuple(put(run.pull(given)))

    return (results, back, aux) if has_aux else (results, back)


def _run(name: str, fun: Callable[..., Any], primals: Sequence[Any], has_aux: bool) -> Recording:
    return recorded(name, fun, list(primals), [f"primals[{n}]" for n in range(len(primals))], has_aux)


def _checked_tangents(name: str, primals: Sequence[Any], tangents: Sequence[Any], run: Recording) -> list[Any]:
    return changes_of(name, "tangents", "primals", tuple(tangents), run.inputs, tree_structure(tuple(primals)))


def _filled(run: Recording, changes: Sequence[Any]) -> list[Any]:
    """Return changes with zeros for results that do not change."""
    return [zeros_like(y) if d is None else d for y, d in zip(run.results, changes, strict=True)]
