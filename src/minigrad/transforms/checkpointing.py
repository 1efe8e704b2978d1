"""`checkpoint`: compute again on the way back, instead of keeping what the way there computed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minigrad.autodiff import grad_mode
from minigrad.scalar import Scalar
from minigrad.tensors.random import default_generator
from minigrad.transforms.arguments import check_callable
from minigrad.transforms.nodes import with_rules
from minigrad.transforms.recording import Recording, is_variable
from minigrad.transforms.trees import tree_flatten

__all__ = ["checkpoint"]


def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that keeps its arguments only, and is computed again when its derivatives are asked for.

    A chain of n layers keeps n values. Cut into pieces of about sqrt(n) layers, each under `checkpoint`, it keeps about
    sqrt(n) values at the ends of pieces, and those of one piece at a time: memory for one more run.

    Args:
        fun: A function of trees that returns a tree. It must return the same when it is called again; random numbers
            are drawn again from the default generator's state of the first call. Tensors that it closes over get their
            gradients too.

    Returns:
        A function with the same values and derivatives.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint.html

    >>> layers = minigrad.transforms.checkpoint(lambda x: x.sin().exp())
    >>> minigrad.transforms.grad(layers)(0.0)
    tensor(1.)
    """
    check_callable("checkpoint", fun)

    @functools.wraps(fun)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree_flatten(args)
        places = [place for place, x in enumerate(leaves) if is_variable(x)]
        variables = [leaves[place] for place in places]
        if not grad_mode.enabled or any(isinstance(x, Scalar) for x in leaves):  # Scalars are small
            return fun(*args, **kwargs)

        def run(inputs: Sequence[Any]) -> tuple[Any, None]:
            every = list(leaves)
            for place, x in zip(places, inputs, strict=True):
                every[place] = x
            return fun(*structure.unflatten(every), **kwargs), None

        state = default_generator._random.bit_generator.state
        first = Recording(run, variables)
        if not first.is_outer:
            return first.returned()[0]
        others = first.closed_over()
        wanted, count = [place for place, y in enumerate(first.results) if is_variable(y)], len(first.results)

        def again() -> Recording:
            with _drawing_from(state):
                return Recording(run, variables)

        def pull(cotangents: list[Any]) -> list[Any]:
            second, every = again(), [None] * count
            for place, c in zip(wanted, cotangents, strict=True):
                every[place] = c
            return second.pull(every, others)

        def push(tangents: list[Any]) -> list[Any]:
            own, more = tangents[: len(variables)], zip(others, tangents[len(variables) :], strict=True)
            changes = again().push(own, [(x, t) for x, t in more if t is not None])
            return [changes[place] for place in wanted]

        return first.tree(with_rules("checkpoint", first.results, variables, pull, push, others))

    return recomputed


@contextmanager
def _drawing_from(state: Any) -> Iterator[None]:
    """Let the default generator draw again from a state of before."""
    source = default_generator._random.bit_generator
    now, source.state = source.state, state
    try:
        yield
    finally:
        source.state = now
